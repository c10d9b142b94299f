//! The signals by which an operator or systemd stops the server.

use super::StartupError;
use crate::cluster;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

pub(super) struct StopSignals {
    stopped: watch::Receiver<bool>,
}

impl StopSignals {
    /// From here on, whatever the start is busy with: a process that is to stop does not start anew.
    pub(super) fn new() -> Result<StopSignals, StartupError> {
        let mut terminate = signal(SignalKind::terminate()).map_err(StartupError::of("no signals"))?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(StartupError::of("no signals"))?;
        let (stop, stopped) = watch::channel(false);
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            cluster::stop();
            stop.send_replace(true);
        });
        Ok(StopSignals { stopped })
    }

    pub(super) async fn received(&mut self) {
        // The sender goes after it has said so.
        let _ = self.stopped.wait_for(|stopped| *stopped).await;
    }

    pub(super) async fn unless_stopped<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            output = work => Some(output),
            () = self.received() => None,
        }
    }
}
