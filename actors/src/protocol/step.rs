//! A step of a clock advance, which commands on its way carry.

use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A step of an advance, to the instant of one deadline. Everything that is done there bears the
/// instant and carries a clone of this; the advance goes on when all clones are dropped.
#[derive(Clone)]
pub(crate) struct Step {
    pub at_ms: i64,
    /// The generation of the book whose clock advances.
    pub generation: u64,
    _under_way: Arc<oneshot::Sender<Infallible>>,
}

impl Step {
    /// The receiver ends when the last clone is dropped.
    pub fn new(at_ms: i64, generation: u64) -> (Self, oneshot::Receiver<Infallible>) {
        let (under_way, end) = oneshot::channel();
        (Step { at_ms, generation, _under_way: Arc::new(under_way) }, end)
    }
}
