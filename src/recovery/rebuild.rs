//! A data directory made from records alone: the same bytes with the same hashes, the index that
//! they write, snapshots of the books that they lead to. A wrong record is refused before it is
//! written; an unfinished directory is marked as such from its first moment.

use super::books::Books;
use super::directory::{self, LOG_DIRECTORY};
use super::restored_copy::RestoredCopy;
use super::writing::Writing;
use super::{Failed, Progress};
use actors::Schedule;
use domain::index::PersonMarks;
use domain::values::ids::PLATFORM;
use domain::values::time::Timestamp;
use std::path::{Path, PathBuf};
use wal::{Reader, Seq, Tip};

const PROGRESS_RECORDS: u64 = 4096;

pub struct Rebuild {
    directory: PathBuf,
    past: RestoredCopy,
    log: Writing,
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
    pub fn know(&mut self, key: Option<&[u8]>) {
        if let Some(key) = key {
            self.log.books.machine.person_marks = PersonMarks::under(key);
        }
    }

    pub fn tip(&self) -> Tip {
        self.log.tip()
    }

    pub fn add(&mut self, stored: wal::Record) -> Result<(), Failed> {
        let seq = stored.seq;
        self.log.add(stored)?;
        if seq.is_multiple_of(self.snapshot_records) {
            self.snapshot()?;
        }
        Ok(())
    }

    /// As the engine does.
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
    let key = directory::read_mark_key(from)?;
    let scratch = Scratch::beside(into);
    let wal::Salvage { reader, damage, acknowledged } =
        wal::salvage(&from.join(LOG_DIRECTORY), &scratch.0, until, &mut |seq, of| {
            progress("check", seq, of)
        })?;
    let last = reader.last_seq();
    if last == 0 {
        return Err(damage.map_or(Failed::LogEnds { last: 0, wanted: 1 }, Failed::Damaged));
    }
    let mut rebuild = Rebuild::begin(into, "salvage", snapshot_records)?;
    rebuild.know(key.as_deref());
    let mut time = None;
    super::books::each_record(&reader, 1, last, |stored| {
        if stored.seq.is_multiple_of(PROGRESS_RECORDS) {
            progress("salvage", stored.seq, last);
        }
        time = Some(Timestamp::from_unix_ms(stored.time_ms));
        rebuild.add(stored)
    })?;
    let (tip, left_out) = rebuild.finish(|into| directory::copy_whole_beside_log(from, into, progress))?;
    Ok(Salvaged { tip, time, damage, acknowledged, left_out })
}

/// What lies behind `until` may be damaged.
fn open_up_to(
    from: &Path,
    until: Until,
    scratch: &Scratch,
    progress: Progress<'_>,
) -> Result<Reader, Failed> {
    match (Reader::open_read_only(from.join(LOG_DIRECTORY)), until) {
        (Err(error), Until::Seq(seq)) => {
            let salvage = wal::salvage(&from.join(LOG_DIRECTORY), &scratch.0, Some(seq), &mut |seq, of| {
                progress("check", seq, of)
            })?;
            if salvage.reader.last_seq() < seq { Err(error.into()) } else { Ok(salvage.reader) }
        }
        (opened, _) => Ok(opened?),
    }
}

/// Beside a directory in the making, for what is needed meanwhile and removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn beside(directory: &Path) -> Scratch {
        let mut name = directory.as_os_str().to_owned();
        name.push(format!(".scratch-{}", std::process::id()));
        Scratch(PathBuf::from(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The stores beside the log are copied as they are now, but for the damaged ones, which are returned.
pub fn replay(
    from: &Path,
    into: &Path,
    until: Until,
    snapshot_records: u64,
    progress: Progress<'_>,
) -> Result<(Tip, Vec<Failed>), Failed> {
    RestoredCopy::must_be_whole(from)?;
    let scratch = Scratch::beside(into);
    let reader = open_up_to(from, until, &scratch, progress)?;
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
        if stored.seq.is_multiple_of(PROGRESS_RECORDS) {
            progress("replay", stored.seq, last);
        }
        rebuild.add(stored)
    })?;
    let made = rebuild.finish(|into| directory::copy_whole_beside_log(from, into, progress))?;
    progress("replay", last, last);
    Ok(made)
}

/// The last record that was written at `time` or before it. Records bear the time of their tenant's
/// clock; the server's time is derived from it by the lead of the test clock, and while a test
/// clock advances, records bear instants that the server's clock has not reached: so the derived
/// time is never too early. Only a tenant that came from elsewhere has records that are older than
/// their place: they are no older than the platform's record before them, by which it came.
fn last_until(reader: &Reader, time: Timestamp, progress: Progress<'_>) -> Result<Seq, Failed> {
    let (mut books, mut found, last) = (Books::default(), 0, reader.last_seq());
    let mut platform_ms = i64::MIN;
    super::books::each_record(reader, 1, last, |stored| {
        books.apply(&stored)?;
        if stored.tenant == PLATFORM {
            platform_ms = platform_ms.max(stored.time_ms);
        }
        let book = books.get(stored.tenant).map(|book| books.machine.wall_ms(book, stored.time_ms));
        if book.is_some_and(|wall_ms| wall_ms.max(platform_ms) <= time.unix_ms()) {
            found = stored.seq;
        }
        if stored.seq.is_multiple_of(PROGRESS_RECORDS) {
            progress("looking for the moment", stored.seq, last);
        }
        Ok(())
    })?;
    if found == 0 { Err(Failed::NothingAsEarly { time }) } else { Ok(found) }
}
