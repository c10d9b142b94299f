//! One mode of a tenant as it was, from a running server's log, where somebody waits for the page: from the snapshot
//! before that moment and the records since, within bounds of time. What lies further back `moment.rs` derives from the
//! whole log.

use super::books::Books;
use super::moment::{Clocks, When};
use super::now_ms;
use crate::store::history;
use crate::store::read_budget::{ReadBudget, Stopped, Unreadable};
use actors::{LONG_AGO_MS, Machine};
use domain::ledger::book::Book;
use domain::machine::AnyBook;
use domain::values::ids::PLATFORM;
use domain::values::time::Timestamp;
use std::fmt::Display;
use std::time::{Duration, Instant};
use wal::{Reader, Seq};

/// As long as somebody waits for a page.
pub const TAKES_MAX: Duration = Duration::from_secs(10);

pub struct EarlierState {
    /// The last record that is in the book; of a time, the last that concerns it.
    pub seq: Seq,
    /// On the tenant's clock.
    pub now: Timestamp,
    /// Settled at that instant.
    pub book: Box<Book>,
}

pub enum NotShown {
    Stopped(Stopped),
    /// The log ends before it, with this record.
    Ends(Seq),
    IsToCome,
    /// Before its first record, or before test data began anew.
    NothingYet,
    TooFar,
}

impl From<Stopped> for NotShown {
    fn from(stopped: Stopped) -> NotShown {
        NotShown::Stopped(stopped)
    }
}

fn unreadable(why: impl Display) -> NotShown {
    Stopped::from(Unreadable(why.to_string())).into()
}

/// Times are on the tenant's clock in this mode, as are those that its pages show. At `ends` it gives up.
pub fn mode(
    reader: &Reader,
    key: u64,
    when: When,
    budget: &ReadBudget,
    ends: Instant,
) -> Result<EarlierState, NotShown> {
    let reading = Reading { reader, budget, ends };
    match when {
        When::Seq(seq) => reading.after(key, seq),
        When::Time(time) => reading.at(key, time),
    }
}

struct Reading<'r> {
    reader: &'r Reader,
    budget: &'r ReadBudget,
    ends: Instant,
}

impl Reading<'_> {
    fn after(&self, key: u64, seq: Seq) -> Result<EarlierState, NotShown> {
        let end = self.reader.last_seq();
        if seq > end {
            return Err(NotShown::Ends(end));
        }
        let last = self.reader.record(seq).map_err(unreadable)?.ok_or(NotShown::Ends(end))?;
        let books = self.books(&[PLATFORM, last.tenant, key], seq)?;
        let clocks = Clocks::of(&books, &last);
        let Some(book) = books.get(key) else { return Err(NotShown::NothingYet) };
        let now_ms = clocks.now_ms(&books.machine, key, book);
        settled(&books, key, seq, now_ms)
    }

    fn books(&self, keys: &[u64], seq: Seq) -> Result<Books, NotShown> {
        let (mut books, since) = Books::from_snapshots(self.reader, keys, seq).map_err(unreadable)?;
        let from = since.values().min().copied().unwrap_or(seq);
        self.records(from, seq, |stored| {
            if since.get(&stored.tenant).is_some_and(|since| stored.seq > *since) {
                books.apply(stored).map_err(unreadable)?;
            }
            Ok(true)
        })?;
        Ok(books)
    }

    /// Those after `from` up to `to`, until `each` has enough.
    fn records(
        &self,
        from: Seq,
        to: Seq,
        mut each: impl FnMut(&wal::Record) -> Result<bool, NotShown>,
    ) -> Result<(), NotShown> {
        for stored in self.reader.records(from + 1, Some(to)) {
            self.budget.spend()?;
            let stored = stored.map_err(unreadable)?;
            if stored.seq.is_multiple_of(256) && Instant::now() > self.ends {
                return Err(NotShown::TooFar);
            }
            if !each(&stored)? {
                break;
            }
        }
        Ok(())
    }

    fn at(&self, key: u64, time: Timestamp) -> Result<EarlierState, NotShown> {
        let floor = self.reader.floor();
        let begun = history::begun_at(self.reader, key).map_err(unreadable)?.unwrap_or(0);
        let heads = self.reader.snapshot_heads(key).map_err(unreadable)?;
        let before = heads.iter().rposition(|head| head.seq >= begun && head.time_ms <= time.unix_ms());
        let base = before.map_or(begun, |at| heads[at].seq);
        // Whatever a later snapshot was taken after is older than it.
        let next = heads.iter().map(|head| head.seq).find(|seq| *seq > base);
        let (mut books, since) = match base {
            0 => (Books::default(), 0),
            base => (self.books(&[key], base)?, base),
        };
        let mut seq = since;
        if books.get(key).is_some_and(|book| books.machine.now_ms(book, LONG_AGO_MS) > time.unix_ms()) {
            return Err(NotShown::NothingYet);
        }
        let mut is_passed = next.is_some();
        // Records up to the floor are in snapshots.
        let from = if base > begun && next.is_none() { since.max(floor) } else { since };
        self.records(from, next.unwrap_or_else(|| self.reader.last_seq()), |stored| {
            if stored.tenant != key {
                return Ok(true);
            }
            if stored.time_ms > time.unix_ms() {
                is_passed = true;
                return Ok(false);
            }
            books.apply(stored).map_err(unreadable)?;
            seq = stored.seq;
            Ok(true)
        })?;
        let Some(book) = books.get(key) else { return Err(NotShown::NothingYet) };
        if !is_passed && time.unix_ms() > books.machine.now_ms(book, now_ms()) {
            return Err(NotShown::IsToCome);
        }
        settled(&books, key, seq, time.unix_ms())
    }
}

fn settled(books: &Books, key: u64, seq: Seq, now_ms: i64) -> Result<EarlierState, NotShown> {
    match books.at(key, now_ms) {
        AnyBook::Tenant(book) => Ok(EarlierState { seq, now: Timestamp::from_unix_ms(now_ms), book }),
        AnyBook::Platform(_) => Err(unreadable("the platform is no tenant")),
    }
}
