//! Tells systemd how the server is (sd_notify(3)), if systemd started it.

use crate::cluster;
use sd_notify::NotifyState;
use std::time::Duration;

pub fn starting(why: &str, longer: Duration) {
    let micros = u32::try_from(longer.as_micros()).unwrap_or(u32::MAX);
    tell(&[NotifyState::ExtendTimeoutUsec(micros), NotifyState::Status(why)]);
}

pub fn ready() {
    tell(&[NotifyState::Ready]);
}

/// A process that starts anew goes on.
pub fn stopping() {
    if cluster::starts_anew() {
        return;
    }
    tell(&[NotifyState::Stopping]);
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, ?states, "systemd could not be notified");
    }
}
