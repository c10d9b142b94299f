//! A data directory made from records alone: the same bytes with the same hashes, the index that
//! they write, snapshots of the books that they lead to.
//!
//! Promises: a wrong record is refused before it is written; a finished directory has the hash
//! chain of its source to the last record; an unfinished one is marked as such from its first
//! moment.

use super::books::Books;
use super::directory::{self, LOG_DIRECTORY};
use super::restored_copy::RestoredCopy;
use super::{Failed, Fault, Progress};
use actors::{Schedule, Storage, wake_key};
use domain::index::{self, PersonMarks};
use domain::machine::AnyBook;
use domain::values::time::Timestamp;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use wal::{
    Append, Completion, Config, Damage, Durable, IndexOps, Log, Poisoned, Reader, RocksStore, Seq, Snapshot,
    Tip,
};

/// The number of records between two fences; at most about twice as many are not durable.
const FENCE_RECORDS: u64 = 4096;

/// A completion that reports to a channel, if a caller waits for it.
struct Told(Option<SyncSender<Result<Durable, Poisoned>>>);

impl Completion for Told {
    fn complete(self, outcome: Result<Durable, Poisoned>) {
        if let Some(to) = self.0 {
            // A caller that has given up does not receive.
            let _ = to.try_send(outcome);
        }
    }
}

/// A directory that is being made.
pub struct Rebuild {
    directory: PathBuf,
    past: RestoredCopy,
    log: Log<Told>,
    books: Books,
    tip: Tip,
    /// The books that changed since their last snapshot.
    changed: HashSet<u64>,
    snapshot_records: u64,
    /// The last fence, which was not waited for yet.
    fence: Option<Receiver<Result<Durable, Poisoned>>>,
}

impl Rebuild {
    /// Begins in an empty directory, whose marker names the command `made_by`. A round of snapshots
    /// is written every `snapshot_records` records.
    pub fn begin(directory: &Path, made_by: &str, snapshot_records: u64) -> Result<Rebuild, Failed> {
        directory::make_empty(directory)?;
        let past = RestoredCopy::begun(made_by);
        past.write(directory)?;
        let log = Log::open(Box::new(RocksStore::open(directory.join(LOG_DIRECTORY))?), Config::default())?;
        Ok(Rebuild {
            directory: directory.to_owned(),
            past,
            log,
            books: Books::default(),
            tip: Tip::default(),
            changed: HashSet::new(),
            snapshot_records,
            fence: None,
        })
    }

    /// Takes the secret under which the index knows documents and phones.
    pub fn know(&mut self, key: Option<&[u8]>) {
        if let Some(key) = key {
            self.books.machine.person_marks = PersonMarks::under(key);
        }
    }

    /// The last record so far.
    pub fn tip(&self) -> Tip {
        self.tip
    }

    /// Writes the next record.
    pub fn add(&mut self, stored: wal::Record) -> Result<(), Failed> {
        let seq = self.tip.seq + 1;
        if stored.seq != seq || stored.prev != self.tip.hash {
            return Err(Damage {
                seq,
                detail: format!("record {} does not follow record {}", stored.seq, self.tip.seq),
            }
            .into());
        }
        let record = self.books.apply(&stored)?;
        let mut ops = IndexOps::new();
        let time = Timestamp::from_unix_ms(stored.time_ms);
        index::entries(stored.tenant, time, &record, &self.books.machine.person_marks, &mut ops);
        self.tip = Tip { seq, hash: stored.hash };
        self.changed.insert(stored.tenant);
        self.log.append(
            Append { tenant: stored.tenant, time_ms: stored.time_ms, payload: stored.payload, index: ops },
            Told(None),
        );
        if seq.is_multiple_of(FENCE_RECORDS) || !self.log.has_room() {
            self.wait_for_the_fence_before()?;
        }
        if seq.is_multiple_of(self.snapshot_records) {
            self.snapshot()?;
        }
        Ok(())
    }

    /// Sets a fence and waits for the one before it, so that the writer has something to do
    /// meanwhile; without room in the log it waits for its own fence too.
    fn wait_for_the_fence_before(&mut self) -> Result<(), Failed> {
        let (to, from) = sync_channel(1);
        self.log.fence(Told(Some(to)));
        if let Some(before) = self.fence.replace(from) {
            self.acknowledged(&before)?;
        }
        if !self.log.has_room()
            && let Some(own) = self.fence.take()
        {
            self.acknowledged(&own)?;
        }
        Ok(())
    }

    fn acknowledged(&self, from: &Receiver<Result<Durable, Poisoned>>) -> Result<(), Failed> {
        match from.recv() {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(poisoned)) => Err(Failed::refused(&self.directory, Fault::Poisoned(poisoned))),
            Err(_) => Err(Failed::refused(&self.directory, Fault::WriterEnded)),
        }
    }

    /// Writes a snapshot of every book that changed, then raises the floor, as the engine does.
    fn snapshot(&mut self) -> Result<(), Failed> {
        for tenant in std::mem::take(&mut self.changed) {
            let Some(last_ms) = self.books.get(tenant).map(last_ms) else { continue };
            // The book is settled at its last record, as when the engine saves it.
            let book = &self.books.at(tenant, last_ms);
            let machine = &self.books.machine;
            let mut ops = IndexOps::new();
            match machine.next_due(book, &|_| false) {
                Some(_) => ops.put(&wake_key(tenant), &[]),
                None => ops.delete(&wake_key(tenant)),
            }
            let snapshot = Snapshot { tenant, time_ms: last_ms, state: machine.save(book), index: ops };
            self.log.snapshot(snapshot, Told(None));
            if !self.log.has_room() {
                self.wait_for_the_fence_before()?;
            }
        }
        self.log.raise_floor(self.tip.seq, Told(None));
        self.wait_for_the_fence_before()
    }

    /// Writes the last snapshots and closes the log. The stores beside it are copied by `beside`,
    /// then the directory is marked as finished.
    pub fn finish(mut self, beside: impl FnOnce(&Path) -> Result<(), Failed>) -> Result<Tip, Failed> {
        self.snapshot()?;
        let (to, from) = sync_channel(1);
        self.log.fence(Told(Some(to)));
        self.acknowledged(&from)?;
        self.log.close();
        let written = self.log.reader().tip();
        let Rebuild { directory, past, log, tip, .. } = self;
        drop(log);
        if written != tip {
            return Err(Damage {
                seq: tip.seq,
                detail: format!("record {} came out as another one; the copy is useless", tip.seq),
            }
            .into());
        }
        beside(&directory)?;
        past.finished(tip).write(&directory)?;
        Ok(tip)
    }
}

/// The time of a book's last record, in milliseconds since 1970.
fn last_ms(book: &AnyBook) -> i64 {
    match book {
        AnyBook::Platform(book) => book.last.unix_ms(),
        AnyBook::Tenant(book) => book.last.unix_ms(),
    }
}

/// The end of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The end of the log.
    End,
    /// The record with this sequence.
    Seq(Seq),
    /// The last record that was written at this instant or before it, on the server's clock.
    Time(Timestamp),
}

/// Makes a data directory in `into` from the log of the one in `from`, up to a past record; the
/// stores beside the log are copied as they are now.
pub fn replay(
    from: &Path,
    into: &Path,
    until: Until,
    snapshot_records: u64,
    progress: Progress<'_>,
) -> Result<Tip, Failed> {
    RestoredCopy::must_be_whole(from)?;
    let reader = Reader::open_read_only(from.join(LOG_DIRECTORY))?;
    let last = match until {
        Until::End => reader.last_seq(),
        Until::Seq(seq) if seq > reader.last_seq() => {
            return Err(Failed::LogEnds { last: reader.last_seq(), wanted: seq });
        }
        Until::Seq(seq) => seq,
        Until::Time(time) => last_until(&reader, time, progress)?,
    };
    let mut rebuild = Rebuild::begin(into, "replay", snapshot_records)?;
    rebuild.know(directory::read_mark_key(from)?.as_deref());
    super::books::each_record(&reader, 1, last, |stored| {
        if stored.seq.is_multiple_of(FENCE_RECORDS) {
            progress("replay", stored.seq, last);
        }
        rebuild.add(stored)
    })?;
    let tip = rebuild.finish(|into| directory::copy_beside_log(from, into, progress))?;
    progress("replay", last, last);
    Ok(tip)
}

/// The last record that was written at `time` or before it.
///
/// Records bear the time of their tenant's clock. The server's time is derived from it by the lead
/// of the test clock, and while a test clock advances, records bear instants that the server's
/// clock has not reached: so the derived time is never too early. The last record that is not after
/// `time` was therefore not written after it, and neither was any before it.
fn last_until(reader: &Reader, time: Timestamp, progress: Progress<'_>) -> Result<Seq, Failed> {
    let (mut books, mut found, last) = (Books::default(), 0, reader.last_seq());
    super::books::each_record(reader, 1, last, |stored| {
        books.apply(&stored)?;
        let book = books.get(stored.tenant).map(|book| books.machine.wall_ms(book, stored.time_ms));
        if book.is_some_and(|wall_ms| wall_ms <= time.unix_ms()) {
            found = stored.seq;
        }
        if stored.seq.is_multiple_of(FENCE_RECORDS) {
            progress("looking for the moment", stored.seq, last);
        }
        Ok(())
    })?;
    if found == 0 { Err(Failed::NothingAsEarly { time }) } else { Ok(found) }
}
