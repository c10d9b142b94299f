//! Every sample that was ever taken, with its hours and days, in a RocksDB of its own (`rates/` in
//! the data directory): prices are no money, so they are not in the log.
//!
//! Promises: a sample that [`RateStore::keep`] has answered for survives a crash; a sample and its
//! two buckets are written together or not at all, so no crash counts one twice; the cost of a page
//! of history follows the page, not the history. One thread writes; nobody else waits for the disk.
//!
//! Keys are big endian, so that they sort by line and time:
//!
//! ```text
//! f                          the format of all this, 1
//! n                          the number of the next sample
//! l line                     the line's pair, source, side and method
//! s line, time, number       a sample: price, when it was learned, how one pays
//! h line, start              the bucket of an hour
//! d line, start              the bucket of a day
//! a line, day                the key of the sample that a board begins with: the newest that may price
//!                            live mode, of lines with value dates one of each day
//! p pair, 0, source, 0, side a pin of an operator
//! ```
//!
//! A pin is written with its sample. One that has ended stays until the next of its place, or until
//! somebody ends it.
//!
//! The storing of samples belongs here; the choice of the one that counts does not.

mod read;
mod write;

use crate::disk::Disk;
use domain::codec;
use domain::resources::rates::buckets::Step;
use domain::resources::rates::pins::{Pin, PinPlace};
use domain::resources::rates::samples::{Sample, Series};
use domain::values::ids::PLATFORM;
use domain::values::time::{Date, Timestamp, Zone};
use rocksdb::DB;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, RwLock};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

const WAITING_MAX: usize = 16_384;
const FORMAT: u8 = 1;
const WRITE_BUFFER_BYTES: usize = 8 << 20;
/// The buckets of a year of a hundred lines are about 100 MiB, those that are looked at are far fewer.
const CACHE_BYTES: usize = 32 << 20;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RateStoreError {
    #[error("too many rates wait for the disk")]
    Busy,
    #[error("the store of rates: {0}")]
    Failed(String),
    /// The stored bytes are not what was written.
    #[error("the store of rates is damaged: {0}")]
    Damaged(String),
}

impl From<rocksdb::Error> for RateStoreError {
    fn from(error: rocksdb::Error) -> RateStoreError {
        if wal::is_damage(&error) {
            RateStoreError::Damaged(error.into_string())
        } else {
            RateStoreError::Failed(error.into_string())
        }
    }
}

#[derive(Debug)]
pub struct Line {
    number: u32,
    pub series: Arc<Series>,
}

struct Shelf {
    db: DB,
    lines: RwLock<Vec<Arc<Line>>>,
    written: AtomicU64,
    lost: AtomicU64,
}

pub enum Item {
    Sample(Arc<Sample>),
    Pin(Arc<Pin>),
    Unpin(PinPlace),
}

impl Item {
    fn sample(&self) -> Option<&Arc<Sample>> {
        match self {
            Item::Sample(sample) => Some(sample),
            Item::Pin(pin) => Some(&pin.sample),
            Item::Unpin(_) => None,
        }
    }
}

struct Job {
    item: Item,
    done: Option<oneshot::Sender<Result<(), RateStoreError>>>,
}

pub struct RateStore {
    shelf: Arc<Shelf>,
    disk: Arc<Disk>,
    queue: Option<SyncSender<Job>>,
    writer: Option<JoinHandle<()>>,
}

impl RateStore {
    pub fn open(directory: &Path, disk: &Arc<Disk>) -> Result<RateStore, RateStoreError> {
        // RocksDB makes the names inside durable, and not its own.
        wal::make_directory(directory)
            .map_err(|error| RateStoreError::Failed(format!("{}: {error}", directory.display())))?;
        let db = DB::open(&wal::beside(directory, WRITE_BUFFER_BYTES, CACHE_BYTES)?, directory)?;
        match db.get(FORMAT_KEY)?.as_deref() {
            None => db.put(FORMAT_KEY, [FORMAT])?,
            Some([FORMAT]) => {}
            Some(other) => {
                return Err(RateStoreError::Damaged(format!(
                    "its format is {other:?}; this program writes {FORMAT}"
                )));
            }
        }
        let lines = RwLock::new(read::lines(&db)?);
        let shelf = Arc::new(Shelf { db, lines, written: AtomicU64::new(0), lost: AtomicU64::new(0) });
        let (queue, jobs) = sync_channel(WAITING_MAX);
        let writer = write::Writer::new(Arc::clone(&shelf))?;
        let thread = std::thread::Builder::new().name("rates".to_owned()).spawn(move || writer.run(&jobs));
        let thread =
            thread.map_err(|error| RateStoreError::Failed(format!("its thread did not start: {error}")))?;
        Ok(RateStore { shelf, disk: Arc::clone(disk), queue: Some(queue), writer: Some(thread) })
    }

    /// Does not wait. What the disk cannot keep up with is counted, and told to the log; while the
    /// disk has no room it is only counted, as the disk's own line says why.
    pub fn note(&self, sample: &Arc<Sample>) {
        if !self.disk.has_room(PLATFORM, false) {
            self.shelf.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        if let Err(why) = self.send(Job { item: Item::Sample(Arc::clone(sample)), done: None }) {
            let lost = self.shelf.lost.fetch_add(1, Ordering::Relaxed) + 1;
            tracing::error!(%why, pair = %sample.series.pair, lost, "a rate is in use and missing in the \
                history");
        }
    }

    /// Durable when this returns.
    pub async fn keep(&self, item: Item) -> Result<(), RateStoreError> {
        let (done, kept) = oneshot::channel();
        self.send(Job { item, done: Some(done) })?;
        kept.await.unwrap_or_else(|_| Err(RateStoreError::Failed("the writer ended".to_owned())))
    }

    /// Samples that were written, and that were lost.
    pub fn stats(&self) -> [u64; 2] {
        [&self.shelf.written, &self.shelf.lost].map(|count| count.load(Ordering::Relaxed))
    }

    pub fn checkpoint(&self, directory: &Path) -> Result<(), RateStoreError> {
        Ok(rocksdb::checkpoint::Checkpoint::new(&self.shelf.db)?.create_checkpoint(directory)?)
    }

    fn send(&self, job: Job) -> Result<(), RateStoreError> {
        let Some(queue) = &self.queue else { return Err(RateStoreError::Failed("it is closed".to_owned())) };
        queue.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => RateStoreError::Busy,
            TrySendError::Disconnected(_) => RateStoreError::Failed("the writer ended".to_owned()),
        })
    }
}

impl Drop for RateStore {
    fn drop(&mut self) {
        self.queue = None;
        if self.writer.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread that writes rates panicked");
        }
    }
}

const FORMAT_KEY: &[u8] = b"f";
const NEXT_KEY: &[u8] = b"n";
const LINE: u8 = b'l';
const SAMPLE: u8 = b's';
const ACCEPTED: u8 = b'a';
const PIN: u8 = b'p';

const fn letter(step: Step) -> u8 {
    match step {
        Step::Hour => b'h',
        Step::Day => b'd',
    }
}

fn begin(letter: u8, line: u32) -> Vec<u8> {
    [&[letter][..], &line.to_be_bytes()].concat()
}

fn key_at(letter: u8, line: u32, at: Timestamp) -> Vec<u8> {
    // The sign bit is turned over, so that instants before 1970 sort before those after it.
    let ms = (at.unix_ms() ^ i64::MIN) as u64;
    [begin(letter, line).as_slice(), &ms.to_be_bytes()].concat()
}

fn accepted_key(line: u32, value_date: Option<Date>) -> Vec<u8> {
    key_at(ACCEPTED, line, value_date.map_or(Timestamp::EPOCH, |date| date.start_in(Zone::Caracas)))
}

/// No name has a zero byte in it.
fn pin_key(place: &PinPlace) -> Vec<u8> {
    let side = place.side.as_deref().unwrap_or_default();
    [&[PIN], place.pair.as_str().as_bytes(), &[0], place.source.as_bytes(), &[0], side.as_bytes()].concat()
}

fn sample_key(line: u32, at: Timestamp, number: u64) -> Vec<u8> {
    [key_at(SAMPLE, line, at).as_slice(), &number.to_be_bytes()].concat()
}

fn decoded<T: codec::Decode<u8>>(bytes: &[u8], what: &str) -> Result<T, RateStoreError> {
    codec::decode(bytes).map_err(|why| RateStoreError::Damaged(format!("{what}: {why}")))
}

#[cfg(test)]
mod tests;
