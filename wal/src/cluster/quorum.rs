//! What the protocol needs of a store that a majority of machines keeps.

use std::time::Duration;

pub type Pair = (Vec<u8>, Vec<u8>);

/// Linearizable, and all or nothing in each transaction. Calls wait for their answer for a bounded time.
pub trait Quorum: Send + Sync {
    /// Makes the changes if every comparison holds; otherwise makes none and reads. Both are one instant.
    fn transact(&self, transaction: &Transaction) -> Result<TransactionOutcome, Unanswered>;

    /// Reads in one instant, which is after the call.
    fn read(&self, reads: &[Read]) -> Result<Vec<Vec<Pair>>, Unanswered>;

    /// Gives back the room of what was deleted or overwritten. Nothing depends on it.
    fn compact(&self);

    fn now(&self) -> Duration;

    fn rest(&self, time: Duration);
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transaction {
    pub compare: Vec<Compare>,
    pub then: Vec<Change>,
    pub otherwise: Vec<Read>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compare {
    Is(Vec<u8>, Vec<u8>),
    Absent(Vec<u8>),
}

/// No two changes of one transaction concern the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
    /// Up to and without the second; so too `Range`.
    DeleteRange(Vec<u8>, Vec<u8>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    Key(Vec<u8>),
    /// The first `limit` of them; 0 for all.
    Range {
        from: Vec<u8>,
        to: Vec<u8>,
        limit: usize,
        keys_only: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransactionOutcome {
    Done,
    /// A condition did not hold: what was read instead.
    Refused(Vec<Vec<Pair>>),
}

/// What was asked may have been done, or may be done yet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unanswered {
    pub why: String,
}
