//! Everything replayed from the start and compared with what is stored beside the log: snapshots and index entries. Memory holds the books, not the history.

use crate::domain::codec;
use crate::domain::index;
use crate::domain::ledger::Account;
use crate::domain::machine::{AnyBook, Domain};
use crate::domain::record::Record;
use crate::domain::time::Timestamp;
use actors::Machine;
use std::collections::HashMap;
use wal::{Damage, IndexOps, Reader, Seq};

/// Records between two reports.
const PROGRESS_RECORDS: u64 = 50_000;

/// What was found right.
pub struct Replayed {
    /// Books that the records lead to.
    pub books: u64,
    /// Snapshots that equal what the records before them lead to.
    pub snapshots: u64,
    /// Index entries that were derived and found.
    pub index_entries: u64,
}

/// Replays everything. The error names the first sequence at which something is not as the records say.
pub fn replay(machine: &Domain, reader: &Reader, progress: &mut dyn FnMut(Seq, Seq)) -> Result<Replayed, Damage> {
    let damage = |seq: Seq, detail: String| Damage { seq, detail };
    let last = reader.last_seq();
    let mut books: HashMap<u64, AnyBook> = HashMap::new();
    let mut replayed = Replayed { books: 0, snapshots: 0, index_entries: 0 };
    let mut snapshots = snapshots_by_seq(reader)?;
    for stored in reader.records(1, Some(last)) {
        let stored = stored.map_err(|error| match error {
            wal::ReadError::Damage(damage) => damage,
            error => damage(0, error.to_string()),
        })?;
        let seq = stored.seq;
        let record: Record = codec::decode(&stored.payload).map_err(|error| damage(seq, format!("record {seq} cannot be decoded: {error}")))?;
        let book = books.entry(stored.tenant).or_insert_with(|| machine.empty(stored.tenant));
        let now = machine.now_ms(book, i64::MIN / 4);
        if stored.time_ms < now {
            return Err(damage(seq, format!("record {seq} is older than the record of its tenant before it")));
        }
        machine.settle(book, stored.time_ms);
        machine.evolve(book, &record, stored.time_ms);
        machine.check(book, &record).map_err(|breach| damage(seq, format!("record {seq}: {breach}")))?;
        replayed.index_entries += index_entries(reader, stored.tenant, seq, stored.time_ms, &record)?;
        while let Some(snapshot) = snapshots.last()
            && snapshot.0 <= seq
        {
            let (at, tenant) = (snapshot.0, snapshot.1);
            compare(machine, reader, &mut books, tenant, at)?;
            replayed.snapshots += 1;
            snapshots.pop();
        }
        if seq.is_multiple_of(PROGRESS_RECORDS) {
            progress(seq, last);
        }
    }
    for (tenant, book) in &books {
        balances(book).map_err(|breach| damage(last, format!("book {tenant}: {breach}")))?;
    }
    replayed.books = books.len() as u64;
    progress(last, last);
    Ok(replayed)
}

/// Sequence and tenant of every snapshot, the first one last.
fn snapshots_by_seq(reader: &Reader) -> Result<Vec<(Seq, u64)>, Damage> {
    let unreadable = |error: wal::ReadError| Damage { seq: 0, detail: format!("a snapshot cannot be read: {error}") };
    let mut found = Vec::new();
    for newest in reader.latest_snapshots() {
        for snapshot in reader.snapshots_of(newest.map_err(unreadable)?.tenant) {
            let snapshot = snapshot.map_err(unreadable)?;
            found.push((snapshot.seq, snapshot.tenant));
        }
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    Ok(found)
}

/// A snapshot must be the book that the records lead to, each hold included. It may have been taken some time after its last record, so the replayed book is brought to that time: just
/// before the earliest hold that the snapshot still has.
fn compare(machine: &Domain, reader: &Reader, books: &mut HashMap<u64, AnyBook>, tenant: u64, seq: Seq) -> Result<(), Damage> {
    let damage = |detail: String| Damage { seq, detail };
    let stored = reader.snapshot(tenant, Some(seq)).map_err(|error| damage(error.to_string()))?;
    let stored = stored.filter(|stored| stored.seq == seq).ok_or_else(|| damage(format!("the snapshot of book {tenant} at {seq} is gone")))?;
    let mut saved = machine.restore(tenant, &stored.state).map_err(|error| damage(format!("the snapshot of book {tenant} at {seq}: {error}")))?;
    let book = books.entry(tenant).or_insert_with(|| machine.empty(tenant));
    let mut replayed = machine.restore(tenant, &machine.save(book)).map_err(damage)?;
    let taken = before_the_earliest_hold(&saved);
    machine.settle(&mut saved, taken);
    machine.settle(&mut replayed, taken);
    let same = match (&saved, &replayed) {
        (AnyBook::Platform(saved), AnyBook::Platform(replayed)) => saved == replayed,
        (AnyBook::Tenant(saved), AnyBook::Tenant(replayed)) => saved == replayed,
        _ => false,
    };
    if same { Ok(()) } else { Err(damage(format!("the snapshot of book {tenant} at {seq} is not what the records lead to"))) }
}

/// A time at which all holds of the book still run, and those that are gone from it have ended.
fn before_the_earliest_hold(book: &AnyBook) -> i64 {
    let AnyBook::Tenant(book) = book else { return 0 };
    let accounts = book.accounts.values().chain(book.sellers.values().flat_map(|seller| seller.accounts.values()));
    let earliest = accounts.filter_map(|account| account.holds.first_key_value()).map(|((release_at, _), _)| release_at.unix_ms()).min();
    // Holds without an end run for ever.
    earliest.unwrap_or(i64::MAX).min(i64::MAX / 2) - 1
}

/// The entries of a record must be there; those that a later record may have replaced must name a record at least as new.
fn index_entries(reader: &Reader, tenant: u64, seq: Seq, time_ms: i64, record: &Record) -> Result<u64, Damage> {
    let mut ops = IndexOps::new();
    index::entries(tenant, Timestamp::from_unix_ms(time_ms), record, &mut ops);
    let mut found = 0;
    for (key, value) in ops.iter(seq) {
        let Some(value) = value else { continue };
        let missing = |what: &str| Damage { seq, detail: format!("an index entry of record {seq} {what}") };
        let stored = reader.index_get(&key).map_err(|error| missing(&format!("cannot be read: {error}")))?;
        let lasting = matches!(key.get(4), Some(b'm' | b'v'));
        match stored {
            None if lasting => return Err(missing("is missing")),
            Some(stored) if lasting && stored != *value => return Err(missing("says something else")),
            Some(stored) if matches!(key.get(4), Some(b'e' | b'k')) && stored.as_slice() < &*value => return Err(missing("names an older record")),
            // Lists change as entities do, and names are freed.
            _ => found += 1,
        }
    }
    Ok(found)
}

/// The totals of a book must be what its parts add up to.
fn balances(book: &AnyBook) -> Result<(), String> {
    let AnyBook::Tenant(book) = book else { return Ok(()) };
    let holds = |account: &Account| {
        account.holds.values().copied().map(i128::from).sum::<i128>() == i128::from(account.held) && account.holds.values().all(|held| *held >= 0)
    };
    if !book.accounts.values().chain(book.sellers.values().flat_map(|seller| seller.accounts.values())).all(holds) {
        return Err("what is held is not the sum of its holds".to_owned());
    }
    let mut sums: HashMap<_, i128> = HashMap::new();
    for (currency, account) in book.accounts.iter().chain(book.sellers.values().flat_map(|seller| &seller.accounts)) {
        *sums.entry(*currency).or_default() += i128::from(account.net);
    }
    for ((_, currency), net) in &book.counter {
        *sums.entry(*currency).or_default() += i128::from(*net);
    }
    match sums.into_iter().find(|(_, sum)| *sum != 0) {
        Some((currency, sum)) => Err(format!("the ledger does not sum to zero: {sum} {} too much", currency.code())),
        None => Ok(()),
    }
}
