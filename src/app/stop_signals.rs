//! The signals by which an operator or systemd stops the server.

use super::StartupError;
use crate::cluster;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

pub(super) struct StopSignals {
    stop: watch::Sender<bool>,
    stopped: watch::Receiver<bool>,
}

impl StopSignals {
    /// From here on, whatever the start is busy with: a process that is to stop does not start anew.
    pub(super) fn new() -> Result<StopSignals, StartupError> {
        let mut terminate = signal(SignalKind::terminate()).map_err(StartupError::of("no signals"))?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(StartupError::of("no signals"))?;
        let (stop, stopped) = watch::channel(false);
        let by_signal = stop.clone();
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            cluster::stop_for_good();
            by_signal.send_replace(true);
        });
        Ok(StopSignals { stop, stopped })
    }

    /// Has the process stop in good order when that is due, and start anew in its place.
    pub(super) fn start_anew_when(&self, is_due: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        tokio::spawn(async move {
            is_due.await;
            if cluster::stop_to_start_anew() {
                stop.send_replace(true);
            }
        });
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
