//! The settings of an engine, and the reasons why one does not start.

use crate::admission::Shares;
use crate::clock::Clock;
use crate::host::{HasRoomForDue, OnHalt, Seeds};
use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wal::{OpenError, Stepper};

/// The settings of an engine. Times are in milliseconds or seconds as their names say.
#[derive(Clone)]
pub struct Config {
    /// The number of requests that may be under way; one more is `Overloaded`.
    pub permits_max: usize,
    /// The share of the capacity that one tenant may have.
    pub shares: Shares,
    /// The number of records after which a round of snapshots is written.
    pub snapshot_records: u64,
    /// The seconds after which a round of snapshots is written, if there were records.
    pub snapshot_seconds: u64,
    /// The seconds without a request after which a book without a deadline leaves memory.
    pub idle_seconds: u64,
    /// The number of books that a start may leave in memory as it finds them. Where there are more,
    /// those without a deadline are saved before it is ready, and leave.
    pub awake_max: usize,
    /// Whether there is room for what only saves work later: rounds of snapshots, and books that leave
    /// memory.
    pub has_room: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Whether there is room for what falls due in a tenant's book; while there is none, it waits.
    pub has_room_for_due: HasRoomForDue,
    /// The time that a caller waits for an effect; then it gets a reply with what is durable. The
    /// effect goes on, and its result is taken when it comes.
    pub patience: Duration,
    /// The callback for a failed log, or a doubt about an essential book. It must end the process;
    /// a test may only note it.
    pub on_fatal: Arc<dyn Fn(&str) + Send + Sync>,
    /// Tenants whose books are not recovered and stay halted until they are resumed, with the
    /// reason.
    pub set_aside: BTreeMap<u64, String>,
    /// The callback for each change of the set of halted books.
    pub on_halt: OnHalt,
    /// The source of "now".
    pub clock: Clock,
    /// The source of random bits, new for each turn. Ids are made of them, so they must not reveal
    /// the number of turns.
    pub seeds: Seeds,
    /// A stepper that runs the log's writer instead of a thread of its own.
    pub stepper: Option<Stepper>,
}

/// Random bits that cannot be foreseen: a keyed hash of a counter.
pub fn unforeseeable() -> Seeds {
    let (key, count) = (std::hash::RandomState::new(), AtomicU64::new(0));
    Arc::new(move || key.hash_one(count.fetch_add(1, Ordering::Relaxed)))
}

/// The reason why an engine takes no writes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// A write failed, or the platform's book is in doubt: the process is about to end.
    #[error("{0}")]
    Failed(String),
    /// The engine is stopping.
    #[error("shutting down")]
    Stopping,
}

/// The reason why an engine did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The log could not be opened.
    #[error(transparent)]
    Log(#[from] OpenError),
    /// A record or a snapshot cannot be read.
    #[error("{0}")]
    Recovery(String),
    /// The stored data of one book is wrong; without it the others could start.
    #[error("the book of tenant key {tenant}: {why}")]
    Book {
        /// The tenant key of the book.
        tenant: u64,
        /// The damage in words.
        why: String,
    },
}
