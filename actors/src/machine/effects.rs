//! The outside world, as the engine sees it.

use super::rules::Rules;
use std::future::Future;
use std::pin::Pin;

/// The outside world. Results come back as commands to the effect's target.
pub trait Effects<R: Rules>: Send + Sync + 'static {
    /// Called only after the record that asked for the effect is durable.
    fn perform(&self, tenant: u64, effect: R::Effect) -> Pin<Box<dyn Future<Output = R::Command> + Send>>;

    /// A record that [`Rules::is_awaited`] is durable. Called in the order of the log and before
    /// the caller has its reply, by the log's writer or the ack task, behind which everything
    /// waits: it must not wait itself.
    fn durable(&self, _tenant: u64, _record: &R::Record) {}
}
