//! The server checks itself while it runs: the books that decide are derived again from what is
//! written down (`recovery/recheck.rs`). One that is not what the records lead to is halted: it
//! decides nothing more, and the others go on. A log that is not right ends the process.
//!
//! A thread of its own with the lowest priority does it, after each round of snapshots, and rests
//! so often, and so much longer than it works, that it costs a small share of one core and keeps nobody
//! waiting (`store/read_budget.rs`). On a server that writes faster than that share can follow, each round
//! takes other books, and every book its newest state.

use crate::recovery::Failed;
use crate::recovery::recheck::{Rechecked, recheck};
use crate::store::read_budget::STRETCH;
use crate::thinning::{IdleThread, Rests};
use actors::Engine;
use domain::machine::Domain;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wal::Seq;

const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The rest after work, in multiples of the time worked: a twentieth of a core at most.
const REST: u32 = 19;
/// Books in one round: they are in memory twice.
const BOOKS_MAX: usize = 64;
/// Between two snapshots of a book that are further apart only totals are checked.
const RECORDS_MAX: u64 = 1_000_000;

#[derive(Debug)]
pub struct Counters {
    began: Instant,
    pub books: AtomicU64,
    pub derived: AtomicU64,
    pub records: AtomicU64,
    pub breaches: AtomicU64,
    /// The time of the last check, in ms since `began`; that too when none was new.
    last_ms: AtomicU64,
}

impl Default for Counters {
    fn default() -> Counters {
        let [books, derived, records, breaches, last_ms] = [0; 5].map(AtomicU64::new);
        Counters { began: Instant::now(), books, derived, records, breaches, last_ms }
    }
}

impl Counters {
    /// The time since everything that was to be checked had been, or since the start.
    pub fn age(&self) -> Duration {
        self.began.elapsed().saturating_sub(Duration::from_millis(self.last_ms.load(Ordering::Relaxed)))
    }

    fn add(&self, done: &Rechecked) {
        self.books.fetch_add(done.books, Ordering::Relaxed);
        self.derived.fetch_add(done.derived, Ordering::Relaxed);
        self.records.fetch_add(done.records, Ordering::Relaxed);
        let now_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_ms.store(now_ms, Ordering::Relaxed);
    }
}

pub fn start(engine: Engine<Domain>, counters: Arc<Counters>) -> io::Result<IdleThread> {
    IdleThread::start("selfcheck", move |rests| {
        Checker { engine, counters, rests, checked: HashMap::new(), last: 0, seen: 0 }.run();
    })
}

struct Checker {
    engine: Engine<Domain>,
    counters: Arc<Counters>,
    rests: Rests,
    checked: HashMap<u64, Seq>,
    /// The next round begins behind it.
    last: u64,
    seen: Seq,
}

impl Checker {
    fn run(mut self) {
        while self.rests.rest(LOOK_EVERY) {
            match self.round() {
                Ok(()) => {}
                Err(Failed::Damaged(damage)) => {
                    self.counters.breaches.fetch_add(1, Ordering::Relaxed);
                    self.engine.declare_broken(&format!(
                        "the self-check found the log damaged at record {}: {}",
                        damage.seq, damage.detail
                    ));
                    return;
                }
                Err(error) => tracing::warn!(%error, "a round of the self-check was not finished"),
            }
        }
    }

    fn round(&mut self) -> Result<(), Failed> {
        let snapshots = self.engine.saved_seq();
        if snapshots == self.seen {
            return Ok(());
        }
        let mut tenants = self.engine.books_in_memory();
        // A halted book saves nothing, and what it was halted for is known.
        tenants.retain(|tenant| !self.engine.is_halted(*tenant));
        tenants.sort_unstable();
        self.checked.retain(|tenant, _| tenants.binary_search(tenant).is_ok());
        let first = tenants.partition_point(|tenant| *tenant <= self.last);
        tenants.rotate_left(first);
        let reader = self.engine.reader().clone();
        let mut group: Vec<(u64, Seq)> = Vec::new();
        for tenant in tenants {
            // The key is all that is read here, not the state under it.
            let newest = reader.newest_snapshot_seq(tenant)?;
            let is_new = |newest: &Seq| self.checked.get(&tenant).is_none_or(|checked| newest > checked);
            group.extend(newest.filter(is_new).map(|newest| (tenant, newest)));
            if group.len() == BOOKS_MAX {
                break;
            }
        }
        if group.len() < BOOKS_MAX {
            self.seen = snapshots;
        }
        let tenants: Vec<u64> = group.iter().map(|(tenant, _)| *tenant).collect();
        // Taken before anything is read: a breach may be of a book from before it was resumed.
        let resumptions: HashMap<u64, u64> =
            tenants.iter().map(|tenant| (*tenant, self.engine.resumptions(*tenant))).collect();
        let mut worked = Instant::now();
        let mut is_ending = false;
        let done = recheck(&reader, &tenants, RECORDS_MAX, &mut || {
            if worked.elapsed() < STRETCH {
                return true;
            }
            is_ending = !self.rests.rest(worked.elapsed() * REST);
            worked = Instant::now();
            !is_ending
        })?;
        for (tenant, breach) in &done.breaches {
            self.counters.breaches.fetch_add(1, Ordering::Relaxed);
            self.engine.halt(
                *tenant,
                resumptions.get(tenant).copied().unwrap_or(0),
                &format!("the self-check found a breach at record {}: {}", breach.seq, breach.detail),
            );
        }
        if is_ending {
            return Ok(());
        }
        self.last = tenants.last().copied().unwrap_or(self.last);
        self.checked.extend(group);
        self.counters.add(&done);
        Ok(())
    }
}
