//! The signals by which an operator or systemd stops the server.

use super::StartupError;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM, and SIGINT of a terminal.
pub(super) struct StopSignals {
    terminate: Signal,
}

impl StopSignals {
    /// Catches the signals from here on.
    pub(super) fn new() -> Result<StopSignals, StartupError> {
        Ok(StopSignals { terminate: signal(SignalKind::terminate()).map_err(StartupError::Signals)? })
    }

    /// Waits for one of the signals.
    pub(super) async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    }

    /// The output of `work`, or none if a signal came first.
    pub(super) async fn unless_stopped<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            output = work => Some(output),
            () = self.received() => None,
        }
    }
}
