//! Reads of the durable records of one tenant key: the few questions that the store answers, and
//! the reads that many endpoints are made of. A read that one endpoint alone needs stands beside
//! its handler.

use crate::problem::Problem;
use domain::entities::Entity;
use domain::index::{self, Space};
use domain::record::Record;
use domain::values::ids::{EntityId, Id};
use domain::values::time::Timestamp;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The reason why a read came to no result.
#[derive(Debug)]
pub enum Stopped {
    /// The stored data cannot be read: a defect or damage.
    Unreadable(String),
    /// The read needs more records than may be read where requests are answered.
    OverBudget,
    /// The caller does not wait for the result any more.
    Canceled,
}

/// The reason why a read has no answer.
#[derive(Debug)]
pub enum Unread {
    Stopped(Stopped),
    Problem(Box<Problem>),
}

impl From<Stopped> for Unread {
    fn from(stopped: Stopped) -> Unread {
        Unread::Stopped(stopped)
    }
}

impl From<Unread> for Problem {
    fn from(unread: Unread) -> Problem {
        match unread {
            Unread::Problem(problem) => *problem,
            Unread::Stopped(stopped) => stopped.into(),
        }
    }
}

impl From<Stopped> for Problem {
    fn from(stopped: Stopped) -> Problem {
        match stopped {
            Stopped::Unreadable(why) => {
                Problem::internal_error(format!("what is stored cannot be read: {why}"))
            }
            // A read over its budget is repeated on another thread, and the only callers of a canceled
            // one that still wait are told that the server stops.
            Stopped::OverBudget | Stopped::Canceled => Problem::shutting_down(),
        }
    }
}

impl From<Problem> for Unread {
    fn from(problem: Problem) -> Unread {
        Unread::Problem(Box::new(problem))
    }
}

/// The body of an answer, or why there is none.
pub type Answered = Result<Vec<u8>, Unread>;

/// The callback for each entry of a walk: its key, without the prefix that all keys of its part
/// have, and the number of its part.
pub type Each<'a> = &'a mut dyn FnMut(&[u8], usize) -> Result<ControlFlow<()>, Unread>;

pub type Entry = (Vec<u8>, Vec<u8>);

/// The callback for each entry of a scan: its key and its value.
pub type EachEntry<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>, Unread>;

/// The durable records of one tenant key. Everything is found by seeking in the index; nothing here
/// asks an actor, and nothing is seen before it is durable.
pub trait Records {
    fn tenant_key(&self) -> u64;

    /// Takes one record from what the read may look at; to be called before it is read.
    fn spend(&self) -> Result<(), Stopped>;

    fn entity(&self, id: EntityId) -> Result<Option<Arc<Entity>>, Stopped>;

    fn named(&self, space: Space, name: &str) -> Result<Option<Id>, Stopped>;

    /// The record with a sequence that the index names, and its time.
    fn record(&self, seq: u64) -> Result<(Record, Timestamp), Stopped>;

    /// The record with which the tenant's test data began anew the last time; 0 if it never did.
    fn begun_at(&self) -> Result<u64, Stopped>;

    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Stopped>;

    /// The last index entry from a key on and before another.
    fn last(&self, from: &[u8], to: &[u8]) -> Result<Option<Entry>, Stopped>;

    /// Walks over the values of the index from a key on and before another.
    fn scan(&self, from: &[u8], to: &[u8], each: EachEntry<'_>) -> Result<(), Unread>;

    /// Walks over parts of the index as one list, newest first: only what follows the parts'
    /// prefixes, below `before` and not below `from`. What several parts share comes once.
    fn newest_entries(
        &self,
        parts: Vec<Vec<u8>>,
        before: Option<&[u8]>,
        from: Option<Vec<u8>>,
        each: Each<'_>,
    ) -> Result<(), Unread>;
}

/// The sequence that is the value of an index entry.
pub fn seq(value: &[u8]) -> Result<u64, Stopped> {
    value
        .try_into()
        .map(u64::from_be_bytes)
        .map_err(|_| Stopped::Unreadable("an index entry that is no sequence".to_owned()))
}

pub fn first_known(
    records: &dyn Records,
    candidates: impl IntoIterator<Item = EntityId>,
) -> Result<Option<EntityId>, Stopped> {
    for candidate in candidates {
        if records.value(&index::entity(records.tenant_key(), candidate))?.is_some() {
            return Ok(Some(candidate));
        }
    }
    Ok(None)
}

/// The error for an entity that is of another kind than its name.
pub(crate) fn another_kind(id: EntityId) -> Stopped {
    Stopped::Unreadable(format!("{} is of another kind than its name says", id.id))
}
