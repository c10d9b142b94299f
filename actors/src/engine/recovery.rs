//! A start rebuilds the books of all tenants that have records after the floor, or a deadline:
//! snapshots plus tail, tenants in parallel. The cost follows the tail, not the history.

use super::StartError;
use crate::alarm::{self, wake_key};
use crate::host::Host;
use crate::machine::{LONG_AGO_MS, Machine};
use crate::protocol::{Failure, PendingReply, Recovered, reply_to};
use std::collections::{BTreeMap, HashMap, btree_map, hash_map};
use std::error::Error;
use std::time::Instant;
use tokio::sync::oneshot;
use wal::{Reader, Record, Snapshot};

const BATCH: usize = 1024;

const RESTING_MAX: usize = 1_024;

/// In the order of their tenants, so that they wake in the same order each time.
pub(super) type Books<M> = BTreeMap<u64, Recovered<M>>;

pub(super) fn unreadable(error: impl std::fmt::Display) -> StartError {
    StartError::Recovery(error.to_string())
}

pub(super) fn recover<M: Machine>(
    machine: &M,
    reader: &Reader,
    set_aside: &BTreeMap<u64, String>,
) -> Result<Books<M>, StartError> {
    let began = Instant::now();
    let width = std::thread::available_parallelism().map_or(1, usize::from);
    let (mut books, records) = std::thread::scope(|scope| {
        let mut lanes = Vec::with_capacity(width);
        let mut threads = Vec::with_capacity(width);
        for _ in 0..width {
            let (give, take) = crossbeam::channel::bounded::<Vec<Record>>(4);
            lanes.push((give, Vec::with_capacity(BATCH)));
            threads.push(scope.spawn(move || replay(machine, reader, &take)));
        }
        let read = distribute(reader, set_aside, &mut lanes);
        drop(lanes);
        // All threads are joined before the first error is looked at: a scope panics when it finds
        // a panic that nobody has taken.
        let joined: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(unreadable("a panic while replaying"))))
            .collect();
        let mut books = BTreeMap::new();
        for replayed in joined {
            books.extend(replayed?);
        }
        Ok::<_, StartError>((books, read?))
    })?;
    let (from, to) = (wake_key(0), wake_key(u64::MAX));
    for marked in reader.index_scan(&from, &to, false) {
        let (key, _) = marked.map_err(unreadable)?;
        let tenant = key
            .last_chunk::<8>()
            .map(|bytes| u64::from_be_bytes(*bytes))
            .ok_or_else(|| unreadable("a wake mark without a tenant"))?;
        if set_aside.contains_key(&tenant) {
            continue;
        }
        if let btree_map::Entry::Vacant(vacant) = books.entry(tenant) {
            vacant.insert(load(machine, reader, tenant)?.1);
        }
    }
    let took = began.elapsed();
    tracing::info!(
        records,
        books = books.len(),
        took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "replayed the tail of the log"
    );
    Ok(books)
}

fn distribute(
    reader: &Reader,
    set_aside: &BTreeMap<u64, String>,
    lanes: &mut [(crossbeam::channel::Sender<Vec<Record>>, Vec<Record>)],
) -> Result<u64, StartError> {
    let mut read = 0;
    for record in reader.records(reader.floor() + 1, None) {
        let record = record.map_err(unreadable)?;
        read += 1;
        if set_aside.contains_key(&record.tenant) {
            continue;
        }
        // Spread by the high bits of a product: the numbers of tenants may have a pattern in the
        // low ones, such as a mode.
        let lane = (record.tenant.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % lanes.len();
        let (give, batch) = &mut lanes[lane];
        batch.push(record);
        // A lane that broke off says why when it is joined.
        if batch.len() == BATCH && give.send(std::mem::replace(batch, Vec::with_capacity(BATCH))).is_err() {
            break;
        }
    }
    for (give, batch) in lanes {
        let _ = give.send(std::mem::take(batch));
    }
    Ok(read)
}

fn replay<M: Machine>(
    machine: &M,
    reader: &Reader,
    take: &crossbeam::channel::Receiver<Vec<Record>>,
) -> Result<Books<M>, StartError> {
    let mut books: HashMap<u64, (u64, Recovered<M>)> = HashMap::new();
    for batch in take {
        for stored in batch {
            let (snapshot_seq, recovered) = match books.entry(stored.tenant) {
                hash_map::Entry::Occupied(book) => book.into_mut(),
                hash_map::Entry::Vacant(vacant) => vacant.insert(load(machine, reader, stored.tenant)?),
            };
            // The snapshot may have been written after the floor was taken.
            if stored.seq <= *snapshot_seq {
                continue;
            }
            apply(machine, recovered, &stored)?;
        }
    }
    Ok(books.into_iter().map(|(tenant, (_, recovered))| (tenant, recovered)).collect())
}

pub(super) fn apply<M: Machine>(
    machine: &M,
    recovered: &mut Recovered<M>,
    stored: &Record,
) -> Result<M::Record, StartError> {
    recovered.ahead = true;
    let book = &mut recovered.book;
    let wrong = |why: &dyn Error| StartError::Book {
        tenant: stored.tenant,
        why: format!("record {}: {why}", stored.seq),
    };
    let record = machine.decode(&stored.payload).map_err(|error| wrong(&error))?;
    let generation = machine.generation(book);
    machine.settle(book, stored.time_ms);
    machine.evolve(book, &record, stored.time_ms);
    machine.check(book, &record).map_err(|breach| wrong(&breach))?;
    if machine.generation(book) != generation {
        // Its clock may have been ahead.
        recovered.settled_ms = stored.time_ms;
    }
    Ok(record)
}

pub(super) fn load<M: Machine>(
    machine: &M,
    reader: &Reader,
    tenant: u64,
) -> Result<(u64, Recovered<M>), StartError> {
    let loaded = Recovered::load(machine, reader, tenant).map_err(unreadable)?;
    loaded.map_err(|why| StartError::Book { tenant, why })
}

/// A start would keep every book in memory that has a record behind its snapshot, until it has been
/// idle for a while. So those with nothing due are written as snapshots, under the last sequence of
/// the log, and leave at a time when nobody can ask for them yet. A crash on the way leaves
/// snapshots that contain all of their tenants' records, and the floor where it was. When this
/// returns well the snapshots are durable.
pub(super) async fn rest<M: Machine>(host: &Host<M>, books: &mut Books<M>) -> Result<(), Failure> {
    let machine = &*host.machine;
    let resting: Vec<_> = books
        .extract_if(.., |tenant, recovered| {
            // A large book is encoded beside its turns, and there are few.
            !machine.is_essential(*tenant)
                && !machine.is_large(&recovered.book)
                && machine.next_due(&recovered.book, &|_| false).is_none()
        })
        .collect();
    let mut resting = resting.into_iter();
    while resting.len() > 0 {
        for (tenant, mut recovered) in resting.by_ref().take(RESTING_MAX).filter(|(_, book)| book.ahead) {
            // Settled at its last record, as when it left memory by itself.
            let time_ms = machine.now_ms(&recovered.book, LONG_AGO_MS).max(recovered.settled_ms);
            machine.settle(&mut recovered.book, time_ms);
            let index = alarm::mark(machine, tenant, &recovered.book);
            let state = machine.save(&recovered.book);
            let (written, _) = oneshot::channel();
            host.log.snapshot(Snapshot { tenant, time_ms, state, index }, PendingReply::Done(written));
        }
        reply_to(|to| host.log.fence(PendingReply::Done(to))).await?;
    }
    Ok(())
}
