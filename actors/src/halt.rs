//! Books that are halted: those whose state is in doubt, and those that an operator set aside at
//! the start. A halted book decides nothing, is asked nothing and saves nothing, while all others
//! go on; its records are in the log, and what it is resumed with is derived from them.
//!
//! A breach of the log itself is no matter of one book: that ends the engine ([`Shared::fail`]).

use crate::book::mark;
use crate::book_handle::{BookMessage, Resumption};
use crate::engine::{Engine, Shared, outcome_unknown};
use crate::machine::Machine;
use crate::pending_reply::{Failure, PendingReply};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot;
use wal::{IndexOps, Seq, Snapshot};

/// A book that is halted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halted {
    /// The tenant key of the book.
    pub tenant: u64,
    /// The reason.
    pub why: String,
    /// The time since when, in milliseconds since 1970.
    pub since_ms: i64,
}

/// The books that are halted.
pub(crate) struct Halts {
    books: Mutex<BTreeMap<u64, Halted>>,
    /// The number of them: asked on the way of every request, when there is nearly always none.
    count: AtomicUsize,
    /// The resumptions of each book since the start, of those that had any.
    resumptions: Mutex<BTreeMap<u64, u64>>,
}

impl Halts {
    pub fn new(halted: impl Iterator<Item = Halted>) -> Halts {
        let books: BTreeMap<u64, Halted> = halted.map(|halted| (halted.tenant, halted)).collect();
        Halts {
            count: AtomicUsize::new(books.len()),
            books: Mutex::new(books),
            resumptions: Mutex::default(),
        }
    }

    fn of_resumptions<R>(&self, with: impl FnOnce(&mut BTreeMap<u64, u64>) -> R) -> R {
        with(&mut self.resumptions.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn resumptions(&self, tenant: u64) -> u64 {
        self.of_resumptions(|resumptions| resumptions.get(&tenant).copied().unwrap_or(0))
    }

    fn change<R>(&self, change: impl FnOnce(&mut BTreeMap<u64, Halted>) -> R) -> R {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut books);
        self.count.store(books.len(), Ordering::SeqCst);
        changed
    }

    pub fn why(&self, tenant: u64) -> Option<String> {
        if self.count.load(Ordering::SeqCst) == 0 {
            return None;
        }
        self.change(|books| books.get(&tenant).map(|halted| halted.why.clone()))
    }

    pub fn all(&self) -> Vec<Halted> {
        self.change(|books| books.values().cloned().collect())
    }
}

impl<M: Machine> Shared<M> {
    /// Notes that a book is in doubt. False if it is one that the engine can't go on without: then
    /// the engine ends.
    pub(crate) fn halt(&self, tenant: u64, why: &str) -> bool {
        if self.machine.is_essential(tenant) {
            self.fail(&format!("book {tenant}: {why}"));
            return false;
        }
        let halted = Halted { tenant, why: why.to_owned(), since_ms: self.config.clock.wall_ms() };
        // The first reason counts.
        let is_new = self.halts.change(|books| match books.entry(tenant) {
            Entry::Vacant(vacant) => {
                vacant.insert(halted);
                true
            }
            Entry::Occupied(_) => false,
        });
        if is_new {
            tracing::error!(tenant, why, "a book is halted; the others go on");
            (self.config.on_halt)(&self.halts.all());
        }
        true
    }

    /// Notes that a book goes on.
    pub(crate) fn resumed(&self, tenant: u64) {
        self.halts.of_resumptions(|resumptions| *resumptions.entry(tenant).or_default() += 1);
        if self.halts.change(|books| books.remove(&tenant)).is_some() {
            tracing::info!(tenant, "a book goes on");
            (self.config.on_halt)(&self.halts.all());
        }
    }

    /// The last record up to which every halted book is in a snapshot: the floor of the log must
    /// not rise above it. `None` if no book is halted.
    pub(crate) fn halted_floor(&self) -> Result<Option<Seq>, Failure> {
        let mut floor = None;
        for halted in self.halts.all() {
            let newest = self
                .reader
                .newest_snapshot(halted.tenant)
                .map_err(|error| Failure::Storage(error.to_string()))?
                .unwrap_or(0);
            floor = Some(floor.map_or(newest, |floor: Seq| floor.min(newest)));
        }
        Ok(floor)
    }
}

impl<M: Machine> Engine<M> {
    /// Whether a tenant's book is halted.
    pub fn is_halted(&self, tenant: u64) -> bool {
        self.shared.halts.why(tenant).is_some()
    }

    /// The books that are halted.
    pub fn halted(&self) -> Vec<Halted> {
        self.shared.halts.all()
    }

    /// How often a book was resumed since the start.
    pub fn resumptions(&self, tenant: u64) -> u64 {
        self.shared.halts.resumptions(tenant)
    }

    /// Halts a book that was found to be in doubt: it decides nothing more. Unless it was resumed
    /// after it had been looked at, when [`Engine::resumptions`] was this: then the finding is of a
    /// book that is no more.
    pub fn halt(&self, tenant: u64, resumptions: u64, why: &str) {
        let why = why.to_owned();
        self.book(tenant, |handle| handle.send(BookMessage::Halt { why, resumptions }));
    }

    /// Waits until everything that a halted book has appended is durable and nothing of it is being
    /// saved, so that what is derived from the log is all of it.
    pub async fn halted_fence(&self, tenant: u64) -> Result<Seq, Failure> {
        let (to, from) = oneshot::channel();
        self.book(tenant, |handle| handle.send(BookMessage::Fence(to)));
        from.await.map_err(|_| outcome_unknown())?
    }

    /// Has a halted book go on as `book`, which was derived from all of its records up to `seq` and
    /// has lived until `settled_ms`. First it is saved, then those snapshots go that are not what
    /// the records lead to: a crash in between leaves the right one as the newest.
    pub async fn resume(
        &self,
        tenant: u64,
        seq: Seq,
        book: M::Book,
        settled_ms: i64,
        wrong: &[Seq],
    ) -> Result<(), Failure> {
        let (shared, machine) = (&self.shared, &self.shared.machine);
        let mut index = IndexOps::new();
        mark(machine.as_ref(), tenant, &book, &mut index);
        let (to, from) = oneshot::channel();
        shared.log.snapshot_at(
            seq,
            Snapshot { tenant, time_ms: settled_ms, state: machine.save(&book), index },
            PendingReply::Done(to),
        );
        from.await.map_err(|_| outcome_unknown())??;
        let wrong: Vec<Seq> = wrong.iter().copied().filter(|wrong| *wrong != seq).collect();
        let (to, from) = oneshot::channel();
        shared
            .log
            .forget_snapshots(tenant, &wrong, PendingReply::Done(to))
            .map_err(|error| Failure::Storage(error.to_string()))?;
        from.await.map_err(|_| outcome_unknown())??;
        let (to, from) = oneshot::channel();
        self.book(tenant, |handle| {
            handle.send(BookMessage::Resume(Box::new(Resumption { book, settled_ms, to })))
        });
        from.await.map_err(|_| outcome_unknown())
    }
}
