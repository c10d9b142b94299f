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

#[derive(Clone)]
pub struct Config {
    /// Requests that may be under way; one more is `Overloaded`.
    pub permits_max: usize,
    pub shares: Shares,
    /// A round of snapshots is written after so many records.
    pub snapshot_records: u64,
    /// A round of snapshots is written after so many seconds, if there were records.
    pub snapshot_seconds: u64,
    /// A book without a deadline leaves memory after so many seconds without a request.
    pub idle_seconds: u64,
    /// Books that a start may leave in memory. Where there are more, those without a deadline are
    /// saved before it is ready, and leave.
    pub awake_max: usize,
    /// Whether there is room for what only saves work later: rounds of snapshots, and books that
    /// leave memory.
    pub has_room: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Whether there is room for what falls due in a tenant's book; while there is none, it waits.
    pub has_room_for_due: HasRoomForDue,
    /// A caller waits so long for an effect, then gets a reply with what is durable. The effect
    /// goes on, and its result is taken when it comes.
    pub patience: Duration,
    /// Called for a failed log, or a doubt about an essential book. It must end the process; a test
    /// may only note it.
    pub on_fatal: Arc<dyn Fn(&str) + Send + Sync>,
    /// These tenants' books are not recovered and stay halted until they are resumed; with the reason.
    pub set_aside: BTreeMap<u64, String>,
    /// Called for each change of the set of halted books.
    pub on_halt: OnHalt,
    pub clock: Clock,
    /// New for each turn. Ids are made of these bits, so they must not reveal the number of turns.
    pub seeds: Seeds,
    pub stepper: Option<Stepper>,
}

/// A keyed hash of a counter.
pub fn unforeseeable() -> Seeds {
    let (key, count) = (std::hash::RandomState::new(), AtomicU64::new(0));
    Arc::new(move || key.hash_one(count.fetch_add(1, Ordering::Relaxed)))
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// A write failed, or the platform's book is in doubt: the process is about to end.
    #[error("{0}")]
    Failed(String),
    #[error("shutting down")]
    Stopping,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Log(#[from] OpenError),
    #[error("{0}")]
    Recovery(String),
    /// Without this book the others could start.
    #[error("the book of tenant key {tenant}: {why}")]
    Book { tenant: u64, why: String },
}
