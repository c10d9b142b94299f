//! The seam between the writer's batch and its local sync: others have to agree first.

use crate::batch::{Batch, Family};
use crate::meta::Tip;

/// The outcome of asking for an agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreed {
    /// The batch is in the agreed log, for ever.
    Committed,
    /// The batch is not in the agreed log and never will be: somebody else may append now.
    Fenced(String),
    /// The batch may be in the agreed log: nobody answered in time. Nothing may follow it.
    Unknown(String),
}

/// The agreement that the writer of a log needs for each batch, called on its thread and one at a
/// time. After anything but `Committed` it is not asked again.
pub trait Agreement: Send {
    /// Asks for a batch of records.
    fn agree(&mut self, proposal: &Proposal<'_>) -> Agreed;
}

/// A batch that the writer wants to append.
#[derive(Clone, Copy)]
pub struct Proposal<'a> {
    /// The end of the log before it.
    pub base: Tip,
    /// The end of the log with it.
    pub tip: Tip,
    batch: &'a Batch,
}

impl<'a> Proposal<'a> {
    pub(crate) fn new(base: Tip, tip: Tip, batch: &'a Batch) -> Proposal<'a> {
        assert!(tip.seq > base.seq, "a proposal has records");
        Proposal { base, tip, batch }
    }

    /// The bytes of the records, one after the other, as they are stored.
    pub fn records(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.batch.len_bytes());
        for op in self.batch.ops().filter(|op| op.family == Family::Log) {
            bytes.extend_from_slice(op.value.unwrap_or_default());
        }
        bytes
    }
}
