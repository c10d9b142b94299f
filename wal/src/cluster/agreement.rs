//! The seam between the writer's batch and its local sync: others have to agree first.

use crate::batch::Batch;
use crate::record::Tip;
use crate::store::Family;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreed {
    /// The batch is in the agreed log, for ever.
    Committed,
    /// The batch is not in the agreed log and never will be: somebody else may append now.
    Fenced(String),
    /// The batch may be in the agreed log: nobody answered in time. Nothing may follow it.
    Unknown(String),
}

/// Called for each batch on the writer's thread, one at a time; not again after anything but `Committed`.
pub trait Agreement: Send {
    fn agree(&mut self, proposal: &Proposal<'_>) -> Agreed;
}

#[derive(Clone, Copy)]
pub struct Proposal<'a> {
    pub base: Tip,
    pub tip: Tip,
    batch: &'a Batch,
}

impl<'a> Proposal<'a> {
    pub(crate) fn new(base: Tip, tip: Tip, batch: &'a Batch) -> Proposal<'a> {
        assert!(tip.seq > base.seq, "a proposal has records");
        Proposal { base, tip, batch }
    }

    pub fn records(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.batch.bytes.len());
        for op in self.batch.ops().filter(|op| op.family == Family::Log) {
            bytes.extend_from_slice(op.value.unwrap_or_default());
        }
        bytes
    }
}
