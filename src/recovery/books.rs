//! Books derived from records: the fold that a start makes, with every check that can be made on
//! the way. Memory holds the books, not the history.

use super::{Failed, Progress};
use actors::{LONG_AGO_MS, Machine};
use api::operators::changes;
use domain::cause::Cause;
use domain::index::PersonMarks;
use domain::indexing;
use domain::machine::{AnyBook, Domain};
use domain::record::Record;
use domain::values::time::Timestamp;
use std::collections::HashMap;
use std::path::Path;
use wal::{Damage, IndexOps, ReadError, Reader, Seq, StoredSnapshot};

/// Handed at once from the thread that reads and checks to the one that applies.
const GROUP_RECORDS: usize = 256;
const GROUPS_WAITING: usize = 8;
pub(super) const PROGRESS_RECORDS: u64 = 16_384;

/// Nothing is decided, only applied, so the configuration of the rules does not matter.
pub fn machine() -> Domain {
    Domain {
        rails: std::sync::Arc::new(domain::rail::TestModeAlone),
        holidays: Vec::new(),
        changes,
        person_marks: PersonMarks::default(),
    }
}

/// The index that it writes knows documents and phones under the directory's secret.
pub fn machine_of(directory: &Path) -> Result<Domain, Failed> {
    let key = super::directory::read_mark_key(directory)?;
    let person_marks = key.map(|key| PersonMarks::under(&key)).unwrap_or_default();
    Ok(Domain { person_marks, ..machine() })
}

pub struct Books {
    pub machine: Domain,
    pub books: HashMap<u64, AnyBook>,
}

impl Default for Books {
    fn default() -> Books {
        Books { machine: machine(), books: HashMap::new() }
    }
}

impl Books {
    /// Derived from the newest snapshot of each up to `seq` and the records since.
    pub fn after(reader: &Reader, tenants: &[u64], seq: Seq) -> Result<Books, Failed> {
        Books::after_with_progress(reader, tenants, seq, &mut |_, _, _| ())
    }

    pub fn after_with_progress(
        reader: &Reader,
        tenants: &[u64],
        seq: Seq,
        progress: Progress<'_>,
    ) -> Result<Books, Failed> {
        let (mut books, since) = Books::from_snapshots(reader, tenants, seq)?;
        let from = since.values().min().copied().unwrap_or(seq);
        for stored in reader.records(from + 1, Some(seq)) {
            let stored = stored?;
            if stored.seq.is_multiple_of(PROGRESS_RECORDS) {
                progress("books", stored.seq - from, seq - from);
            }
            if since.get(&stored.tenant).is_some_and(|since| stored.seq > *since) {
                books.apply(&stored)?;
            }
        }
        Ok(books)
    }

    /// The newest snapshot of each up to `seq`, and the sequence after which its records are not in it.
    pub fn from_snapshots(
        reader: &Reader,
        tenants: &[u64],
        seq: Seq,
    ) -> Result<(Books, HashMap<u64, Seq>), Failed> {
        let (mut books, mut since) = (Books::default(), HashMap::new());
        // Records up to the floor are in snapshots. Of a running log it rises with newer ones, so it is read first.
        let floor = reader.floor().min(seq);
        for tenant in tenants {
            let stored = reader.snapshot(*tenant, Some(seq))?;
            let from = stored.as_ref().map_or(0, |stored| stored.seq);
            if let Some(stored) = &stored {
                books.books.insert(*tenant, restored(&books.machine, stored)?);
            }
            let is_newest = stored.is_some() && reader.newest_snapshot_seq(*tenant)? == Some(from);
            since.insert(*tenant, if is_newest { from.max(floor) } else { from });
        }
        Ok((books, since))
    }

    /// Checks everything about a record before it is applied.
    pub fn apply(&mut self, stored: &wal::Record) -> Result<Record, Damage> {
        let seq = stored.seq;
        let damage = |detail: String| Damage { seq, detail };
        let machine = &self.machine;
        let record = machine.decode(&stored.payload);
        let record: Record =
            record.map_err(|error| damage(format!("record {seq} cannot be decoded: {error}")))?;
        let book = self.books.entry(stored.tenant).or_insert_with(|| machine.empty(stored.tenant));
        // A book that begins anew does so at the server's clock, which its own may be ahead of.
        let begins = record.cause == Cause::TestReset;
        if !begins && stored.time_ms < machine.now_ms(book, LONG_AGO_MS) {
            return Err(damage(format!("record {seq} is older than the record of its tenant before it")));
        }
        if let AnyBook::Tenant(book) = &*book {
            let (first, next) = (record.first_event, book.events + 1);
            if first != next {
                return Err(damage(format!("record {seq} numbers its events from {first}, not from {next}")));
            }
            let time = Timestamp::from_unix_ms(stored.time_ms);
            if record.closed != book.days_closed_by(&record.postings, time) {
                return Err(damage(format!(
                    "record {seq} says other days than its tenant's records lead to"
                )));
            }
        }
        machine.settle(book, stored.time_ms);
        machine.evolve(book, &record, stored.time_ms);
        machine.check(book, &record).map_err(|breach| damage(format!("record {seq}: {breach}")))?;
        Ok(record)
    }

    /// What the record writes to the index.
    pub fn entries(&self, stored: &wal::Record, record: &Record) -> IndexOps {
        let mut ops = IndexOps::new();
        let time = Timestamp::from_unix_ms(stored.time_ms);
        indexing::entries(stored.tenant, time, record, &self.machine.person_marks, &mut ops);
        ops
    }

    pub fn get(&self, tenant: u64) -> Option<&AnyBook> {
        self.books.get(&tenant)
    }

    /// Settled at `time_ms` of its tenant's clock; the empty book for a tenant key without records.
    pub fn at(&self, tenant: u64, time_ms: i64) -> AnyBook {
        let mut book = self.get(tenant).cloned().unwrap_or_else(|| self.machine.empty(tenant));
        self.machine.settle(&mut book, time_ms);
        book
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, &AnyBook)> {
        self.books.iter().map(|(tenant, book)| (*tenant, book))
    }
}

/// Settled at the snapshot's time, as a book is saved as its last record left it.
pub fn restored(machine: &Domain, stored: &StoredSnapshot) -> Result<AnyBook, Damage> {
    let (tenant, seq) = (stored.tenant, stored.seq);
    let mut book = machine.restore(tenant, &stored.state).map_err(|error| Damage {
        seq,
        detail: format!("the snapshot of book {tenant} at {seq} cannot be decoded: {error}"),
    })?;
    machine.settle(&mut book, stored.time_ms);
    Ok(book)
}

/// Totals must be the sums of their parts.
pub fn balances(book: &AnyBook) -> Result<(), String> {
    let AnyBook::Tenant(book) = book else { return Ok(()) };
    let mut sums: HashMap<_, i128> = HashMap::new();
    for (currency, account) in
        book.accounts.iter().chain(book.sellers.values().flat_map(|seller| &seller.accounts))
    {
        let held = account.holds.values().copied().map(i128::from).sum::<i128>();
        if held != i128::from(account.held) || account.holds.values().any(|held| *held < 0) {
            return Err("what is held is not the sum of its holds".to_owned());
        }
        *sums.entry(*currency).or_default() += i128::from(account.net);
    }
    for ((_, currency), net) in &book.counter {
        *sums.entry(*currency).or_default() += i128::from(*net);
    }
    match sums.into_iter().find(|(_, sum)| *sum != 0) {
        Some((currency, sum)) => {
            Err(format!("the ledger does not sum to zero: {sum} {} too much", currency.code()))
        }
        None => Ok(()),
    }
}

pub fn replay_records(
    reader: &Reader,
    last: Seq,
    (part, progress): (&'static str, Progress<'_>),
    mut each: impl FnMut(wal::Record) -> Result<(), Failed>,
) -> Result<(), Failed> {
    each_record(reader, 1, last, |stored| {
        if stored.seq.is_multiple_of(PROGRESS_RECORDS) {
            progress(part, stored.seq, last);
        }
        each(stored)
    })
}

/// From `from` to `to`, both included. Reading and checking go ahead a little in a thread of their
/// own; an error names the record that could not be read.
pub fn each_record(
    reader: &Reader,
    from: Seq,
    to: Seq,
    mut each: impl FnMut(wal::Record) -> Result<(), Failed>,
) -> Result<(), Failed> {
    std::thread::scope(|scope| {
        let (give, take) = std::sync::mpsc::sync_channel::<Vec<wal::Record>>(GROUPS_WAITING);
        let reading = scope.spawn(move || read(reader, from, to, &give));
        let mut applied = Ok(());
        'groups: for group in take.iter() {
            for record in group {
                applied = each(record);
                if applied.is_err() {
                    break 'groups;
                }
            }
        }
        // The reading thread ends when it finds that nobody takes its groups any more.
        drop(take);
        let read = reading
            .join()
            .unwrap_or_else(|_| Err(Failed::NotDone("a panic while records were read".to_owned())));
        applied.and(read)
    })
}

fn read(
    reader: &Reader,
    from: Seq,
    to: Seq,
    give: &std::sync::mpsc::SyncSender<Vec<wal::Record>>,
) -> Result<(), Failed> {
    let mut group = Vec::with_capacity(GROUP_RECORDS);
    let mut next = from;
    for record in reader.records(from, Some(to)) {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                // The records that were read before are right, and applying them may find an
                // earlier fault.
                let _ = give.send(group);
                return Err(match error {
                    ReadError::Damage(damage) => damage.into(),
                    ReadError::Store(error) => {
                        Damage { seq: next, detail: format!("record {next} cannot be read: {error}") }.into()
                    }
                });
            }
        };
        next = record.seq + 1;
        group.push(record);
        if group.len() == GROUP_RECORDS
            && give.send(std::mem::replace(&mut group, Vec::with_capacity(GROUP_RECORDS))).is_err()
        {
            return Ok(());
        }
    }
    let _ = give.send(group);
    Ok(())
}
