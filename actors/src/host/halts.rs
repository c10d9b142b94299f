//! The books that are halted: those whose state is in doubt, and those that an operator set aside
//! at the start. A halted book decides nothing, is asked nothing and saves nothing, while all
//! others go on. A breach of the log itself ends the engine ([`End::fail`](super::End::fail)).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub type OnHalt = Arc<dyn Fn(&[Halted]) + Send + Sync>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halted {
    pub tenant: u64,
    pub why: String,
    /// Milliseconds since 1970.
    pub since_ms: i64,
}

pub(crate) struct Halts {
    books: Mutex<BTreeMap<u64, Halted>>,
    /// Every request asks for it, and there are nearly always none.
    count: AtomicUsize,
    /// Of each book since the start, of those that had any.
    resumptions: Mutex<BTreeMap<u64, u64>>,
    on_halt: OnHalt,
}

impl Halts {
    pub fn new(halted: Vec<Halted>, on_halt: OnHalt) -> Halts {
        on_halt(&halted);
        let books: BTreeMap<u64, Halted> = halted.into_iter().map(|halted| (halted.tenant, halted)).collect();
        Halts {
            count: AtomicUsize::new(books.len()),
            books: Mutex::new(books),
            resumptions: Mutex::default(),
            on_halt,
        }
    }

    /// The first reason counts.
    pub fn halt(&self, halted: Halted) {
        let (tenant, why) = (halted.tenant, halted.why.clone());
        let is_new = self.change(|books| match books.entry(tenant) {
            Entry::Vacant(vacant) => {
                vacant.insert(halted);
                true
            }
            Entry::Occupied(_) => false,
        });
        if is_new {
            tracing::error!(tenant, why, "a book is halted; the others go on");
            (self.on_halt)(&self.all());
        }
    }

    pub fn resume(&self, tenant: u64) {
        self.of_resumptions(|resumptions| *resumptions.entry(tenant).or_default() += 1);
        if self.change(|books| books.remove(&tenant)).is_some() {
            tracing::info!(tenant, "a halted book was resumed and decides again");
            (self.on_halt)(&self.all());
        }
    }

    pub fn resumptions(&self, tenant: u64) -> u64 {
        self.of_resumptions(|resumptions| resumptions.get(&tenant).copied().unwrap_or(0))
    }

    pub fn is_halted(&self, tenant: u64) -> bool {
        self.count.load(Ordering::SeqCst) > 0 && self.change(|books| books.contains_key(&tenant))
    }

    pub fn all(&self) -> Vec<Halted> {
        self.change(|books| books.values().cloned().collect())
    }

    fn of_resumptions<R>(&self, with: impl FnOnce(&mut BTreeMap<u64, u64>) -> R) -> R {
        with(&mut self.resumptions.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<R>(&self, change: impl FnOnce(&mut BTreeMap<u64, Halted>) -> R) -> R {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut books);
        self.count.store(books.len(), Ordering::SeqCst);
        changed
    }
}
