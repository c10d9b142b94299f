//! Tells systemd how the server is (sd_notify(3)), if systemd started it.

use sd_notify::NotifyState;

/// The server accepts writes.
pub fn ready() {
    tell(NotifyState::Ready);
}

/// The server was told to end.
pub fn stopping() {
    tell(NotifyState::Stopping);
}

fn tell(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(std::slice::from_ref(&state)) {
        tracing::warn!(%error, %state, "systemd could not be told");
    }
}
