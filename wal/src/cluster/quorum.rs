//! The few verbs that the protocol needs of a store that a majority of machines keeps.

use std::time::Duration;

/// A key with its value.
pub type Pair = (Vec<u8>, Vec<u8>);

/// The store: linearizable, and all or nothing in each transaction.
///
/// Calls wait for their answer, for a bounded time. Clones of one store by several threads are the
/// implementation's matter.
pub trait Quorum: Send + Sync {
    /// Makes the changes if every comparison holds; otherwise makes none and reads. Both are one
    /// instant.
    fn transact(&self, transaction: &Transaction) -> Result<TransactionOutcome, Unanswered>;

    /// Reads in one instant, which is after the call.
    fn read(&self, reads: &[Read]) -> Result<Vec<Vec<Pair>>, Unanswered>;

    /// Gives back the room of what was deleted or overwritten. Nothing depends on it.
    fn compact(&self);

    /// The time by which waiting is measured; it never goes back.
    fn now(&self) -> Duration;

    /// Waits.
    fn rest(&self, time: Duration);
}

/// A change under conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transaction {
    /// The conditions, all of which have to hold.
    pub compare: Vec<Compare>,
    /// The changes if they do.
    pub then: Vec<Change>,
    /// The reads if they do not.
    pub otherwise: Vec<Read>,
}

/// A condition of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compare {
    /// The key has this value.
    Is(Vec<u8>, Vec<u8>),
    /// The key is not there.
    Absent(Vec<u8>),
}

/// A change of a transaction. No two of one transaction concern the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Stores a value under a key.
    Put(Vec<u8>, Vec<u8>),
    /// Removes a key.
    Delete(Vec<u8>),
    /// Removes all keys from the first up to and without the second.
    DeleteRange(Vec<u8>, Vec<u8>),
}

/// Something to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// A key; its pair, if it is there.
    Key(Vec<u8>),
    /// The keys from the first up to and without the second.
    Range {
        /// The first key.
        from: Vec<u8>,
        /// The key after the last.
        to: Vec<u8>,
        /// The most pairs that are returned, the first ones; 0 for all.
        limit: usize,
        /// Whether values are left out.
        keys_only: bool,
    },
}

/// The outcome of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransactionOutcome {
    /// The changes were made.
    Done,
    /// A condition did not hold; this is what was read instead.
    Refused(Vec<Vec<Pair>>),
}

/// No answer: what was asked may have been done, or may be done yet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unanswered {
    /// The reason, for an operator.
    pub why: String,
}
