//! A data directory made from records alone: the same bytes with the same hashes, the index that
//! they write, snapshots of the books that they lead to. A wrong record is refused before it is
//! written; an unfinished directory is marked as such from its first moment.

use super::books::{Books, replay_records};
use super::directory::{self, LOG_DIRECTORY};
use super::restored_copy::RestoredCopy;
use super::writing::Writing;
use super::{Failed, Progress, at};
use actors::Machine;
use domain::index::PersonMarks;
use domain::values::ids::PLATFORM;
use domain::values::time::Timestamp;
use std::path::{Path, PathBuf};
use wal::{Reader, Seq, Tip};

pub struct Rebuild {
    directory: PathBuf,
    past: RestoredCopy,
    pub(super) log: Writing,
    snapshot_records: u64,
}

impl Rebuild {
    /// The directory is empty; its marker names the command `made_by`. A round of snapshots is
    /// written every `snapshot_records` records.
    pub fn begin(directory: &Path, made_by: &str, snapshot_records: u64) -> Result<Rebuild, Failed> {
        directory::make_empty(directory)?;
        let past = RestoredCopy::begun(made_by);
        past.write(directory)?;
        let log = Writing::open(&directory.join(LOG_DIRECTORY))?;
        Ok(Rebuild { directory: directory.to_owned(), past, log, snapshot_records })
    }

    /// Under it the index knows documents and phones.
    pub fn know(&mut self, key: &[u8]) {
        self.log.books.machine.person_marks = PersonMarks::under(key);
    }

    pub fn add(&mut self, stored: wal::Record) -> Result<(), Failed> {
        let seq = stored.seq;
        self.log.add(stored)?;
        if seq.is_multiple_of(self.snapshot_records) {
            self.snapshot()?;
        }
        Ok(())
    }

    fn snapshot(&mut self) -> Result<(), Failed> {
        self.log.snapshot()?;
        self.log.raise_floor()
    }

    /// The stores beside the log are copied by `beside`, then the directory is marked as finished.
    pub fn finish<T>(mut self, beside: impl FnOnce(&Path) -> Result<T, Failed>) -> Result<(Tip, T), Failed> {
        self.snapshot()?;
        let Rebuild { directory, past, log, .. } = self;
        let tip = log.close()?;
        let copied = beside(&directory)?;
        past.whole_up_to(tip).write(&directory)?;
        Ok((tip, copied))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    End,
    Seq(Seq),
    /// Written at this instant or before it, on the server's clock.
    Time(Timestamp),
}

pub struct Salvaged {
    pub tip: Tip,
    pub time: Option<Timestamp>,
    /// What ended the salvage.
    pub damage: Option<wal::Damage>,
    /// As far as witness, tip and log tell.
    pub acknowledged: Seq,
    /// They could not be read, and so are not in the copy.
    pub left_out: Vec<Failed>,
}

/// From the records before the damage, or before `until`. Nothing in `from` is believed but records
/// whose checksum and chain are right; index and snapshots are made anew.
pub fn salvage(
    from: &Path,
    into: &Path,
    until: Option<Seq>,
    snapshot_records: u64,
    progress: Progress<'_>,
) -> Result<Salvaged, Failed> {
    directory::read_mark_key(from)?;
    let scratch = Scratch::beside(into)?;
    let wal::Salvage { reader, damage, acknowledged } = scratch.salvage(from, until, progress)?;
    let last = reader.last_seq();
    if last == 0 {
        return Err(damage.map_or_else(|| log_ends(0, 1), Failed::Damaged));
    }
    let (tip, time, left_out) = rebuilt(from, into, "salvage", (&reader, last), snapshot_records, progress)?;
    Ok(Salvaged { tip, time, damage, acknowledged, left_out })
}

pub fn log_ends(last: Seq, wanted: Seq) -> Failed {
    Failed::NotDone(format!("the log ends at sequence {last}, before {wanted}"))
}

/// The stores beside the log are copied as they are now, but for the damaged ones, which are returned; so is the
/// instant of the newest record. Records are read forwards alone: to seek the last one opens the block behind it,
/// which may be the damaged one.
fn rebuilt(
    from: &Path,
    into: &Path,
    made_by: &'static str,
    (reader, last): (&Reader, Seq),
    snapshot_records: u64,
    progress: Progress<'_>,
) -> Result<(Tip, Option<Timestamp>, Vec<Failed>), Failed> {
    let key = directory::read_mark_key(from)?;
    let mut rebuild = Rebuild::begin(into, made_by, snapshot_records)?;
    key.iter().for_each(|key| rebuild.know(key));
    let mut time = None;
    replay_records(reader, last, (made_by, progress), |stored| {
        time = Some(Timestamp::from_unix_ms(stored.time_ms));
        rebuild.add(stored)
    })?;
    let (tip, left_out) = rebuild.finish(|into| directory::copy_beside_log(from, into, true, progress))?;
    Ok((tip, time, left_out))
}

/// Beside a directory in the making, for what is needed meanwhile and removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    /// Of a directory that is named by where one stands, such as `..`, there is no other name beside it.
    fn beside(directory: &Path) -> Result<Scratch, Failed> {
        let whole = std::path::absolute(directory).map_err(at(directory))?;
        if whole.file_name().is_none() {
            return Err(Failed::refused(directory, "has no name of its own; name a new directory"));
        }
        Ok(Scratch(whole.with_added_extension(format!("scratch-{}", std::process::id()))))
    }

    fn salvage(
        &self,
        from: &Path,
        until: Option<Seq>,
        progress: Progress<'_>,
    ) -> Result<wal::Salvage, Failed> {
        let mut check = |seq, of| progress("check", seq, of);
        Ok(wal::salvage(&from.join(LOG_DIRECTORY), &self.0, until, &mut check)?)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn replay(
    from: &Path,
    into: &Path,
    until: Until,
    snapshot_records: u64,
    progress: Progress<'_>,
) -> Result<(Tip, Vec<Failed>), Failed> {
    RestoredCopy::must_be_whole(from)?;
    let scratch = Scratch::beside(into)?;
    let reader = match (Reader::open_read_only(from.join(LOG_DIRECTORY)), until) {
        // What lies behind it may be damaged.
        (Err(error), Until::Seq(seq)) => {
            let reader = scratch.salvage(from, Some(seq), progress)?.reader;
            if reader.last_seq() < seq {
                return Err(error.into());
            }
            reader
        }
        (opened, _) => opened?,
    };
    let last = match until {
        Until::End => reader.last_seq(),
        Until::Seq(seq) if seq > reader.last_seq() => return Err(log_ends(reader.last_seq(), seq)),
        Until::Seq(seq) => seq,
        Until::Time(time) => last_until(&reader, time, progress)?,
    };
    let (tip, _, left_out) = rebuilt(from, into, "replay", (&reader, last), snapshot_records, progress)?;
    progress("replay", last, last);
    Ok((tip, left_out))
}

/// The last record that was written at `time` or before it. Records bear the time of their tenant's
/// clock; the server's time is derived from it by the lead of the test clock, and while a test
/// clock advances, records bear instants that the server's clock has not reached: so the derived
/// time is never too early. Only a tenant that came from elsewhere has records that are older than
/// their place: they are no older than the platform's record before them, by which it came.
pub fn last_until(reader: &Reader, time: Timestamp, progress: Progress<'_>) -> Result<Seq, Failed> {
    let (mut books, mut found) = (Books::default(), 0);
    let mut platform_ms = i64::MIN;
    replay_records(reader, reader.last_seq(), ("looking for the moment", progress), |stored| {
        books.apply(&stored)?;
        if stored.tenant == PLATFORM {
            platform_ms = platform_ms.max(stored.time_ms);
        }
        let book = books.get(stored.tenant).map(|book| books.machine.wall_ms(book, stored.time_ms));
        if book.is_some_and(|wall_ms| wall_ms.max(platform_ms) <= time.unix_ms()) {
            found = stored.seq;
        }
        Ok(())
    })?;
    match found {
        0 => Err(Failed::NotDone(format!("the log has no record as early as {time}"))),
        found => Ok(found),
    }
}
