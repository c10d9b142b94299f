//! Tells systemd how the server is (sd_notify(3)), if systemd started it.

use sd_notify::NotifyState;
use std::time::Duration;

pub fn starting(why: &str, longer: Duration) {
    let micros = u32::try_from(longer.as_micros()).unwrap_or(u32::MAX);
    tell(&[NotifyState::ExtendTimeoutUsec(micros), NotifyState::Status(why)]);
}

pub fn ready() {
    tell(&[NotifyState::Ready]);
}

pub fn stopping() {
    tell(&[NotifyState::Stopping]);
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, ?states, "systemd could not be notified");
    }
}
