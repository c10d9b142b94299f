//! The end of an engine: orderly, or because the log is not what it should be.

use super::{Engine, housekeeping};
use crate::machine::Machine;
use crate::protocol::follow_ups::FollowUpMessage;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::oneshot;

impl<M: Machine> Engine<M> {
    /// The log was found not to be what it should be: nothing more is written.
    pub fn declare_broken(&self, why: &str) {
        let host = &self.shared.host;
        host.counters.breached.fetch_add(1, Ordering::Relaxed);
        host.end.fail(why);
    }

    /// No new requests, those under way are finished (for at most `patience`), snapshots are
    /// written, the log is closed. The data directory is free when every handle is gone and every
    /// effect under way has ended. A handle that is dropped without this leaves the engine running.
    pub async fn stop(&self, patience: Duration) {
        let (host, gate) = (&self.shared.host, &self.shared.gate);
        host.end.stopping.store(true, Ordering::SeqCst);
        let _ = tokio::time::timeout(patience, gate.until_empty()).await;
        if !host.end.is_failed()
            && (self.shared.config.has_room)()
            && let Err(failure) = housekeeping::snapshot_round(self).await
        {
            tracing::warn!(?failure, "no snapshot at the end; the next start replays the tail");
        }
        let log = host.log.clone();
        let _ = tokio::task::spawn_blocking(move || log.close()).await;
        // Every record is acknowledged. Its follow-up effects are begun before the books leave, so
        // that the engine is kept until they have ended.
        let (to, from) = oneshot::channel();
        if self.shared.books.follow_ups.send(FollowUpMessage::Flush(to)).is_ok() {
            let _ = from.await;
        }
        host.end.closed.store(true, Ordering::Release);
        for handle in &self.shared.books.handles {
            handle.wake();
        }
    }
}
