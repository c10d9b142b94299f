//! The outcome of each request with a key, in a RocksDB of its own (`requests/` in the data
//! directory): it is no money, so it is not in the log of money, and it may be lost.
//!
//! Promises: a request costs a push onto a queue, and nobody waits: what does not fit is dropped
//! and counted, and so are most refusals of a storm, and everything while the disk has no room for it. A thread takes the queue to the disk many times a
//! second, and whoever asks for a request takes there first what is in it. Files go oldest first, when
//! they are together larger than the bound or older than 30 days. A clean end writes everything; a
//! crash of the machine loses the last moments. A body is never kept, and nobody who answers requests
//! waits for the disk.
//!
//! Keys are the request's id, a zero byte and the tenant key (8 bytes, big endian), so that a later
//! request with the same id takes the place of the earlier one. A value is the format (1 byte), the
//! instant (8 bytes, ms since 1970), the sequence of the record that was written (8 bytes, or 0),
//! then, in format 2, the id of the key (16 bytes), the duration in ms (8 bytes), the status (2 bytes), and
//! method, route and the code of a refusal, or nothing, with a zero byte between them: few lines are ever read,
//! and JSON is made of those. Releases up to 0.2.0 wrote format 1, which has the JSON instead.
//!
//! So that the newest can be listed, each write also has a block per tenant key that was in it: under a zero byte,
//! which begins no id, the tenant key, the newest instant in the block and a number (8 bytes each, big endian) stand the
//! format and, for each line in its order, its instant (8 bytes), the length of its id (1 byte) and the id.

use crate::disk::Disk;
use crate::http::respond::RequestId;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::writer::Object;
use crossbeam::queue::ArrayQueue;
use domain::values::ids::{Id, PLATFORM};
use domain::values::time::{DAY_MS, MINUTE_MS, Timestamp};
use rocksdb::{
    BlockBasedOptions, Cache, DB, DBCompactionStyle, DBCompressionType, Direction, FifoCompactOptions,
    IteratorMode, Options, WriteBatch,
};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

const WAITING_MAX: usize = 32_768;
const PAUSE: Duration = Duration::from_millis(50);
/// The requests that are noted between two writes though they were refused for want of capacity. To
/// note one costs as much as to refuse it.
const REFUSED_MAX: usize = 64;
const KEPT_DAYS: i64 = 30;
const FORMAT: u8 = 2;
const FORMAT_OF_JSON: u8 = 1;
const CODE_LEN_MAX: usize = 64;
const FOUND_MAX: usize = 50;
const FORMAT_OF_BLOCKS: u8 = 1;
/// A block that is larger is followed by another.
const BLOCK_BYTES: usize = 8 << 10;
/// A request that is listed under an instant began at most this long before it, or is passed over: a stream.
const LONGEST_MS: i64 = 10 * MINUTE_MS;
/// Bytes of a file, unless the bound is small.
const FILE_BYTES_MAX: u64 = 8 << 20;
const CACHE_BYTES: usize = 4 << 20;

pub struct Answered {
    pub request_id: RequestId,
    pub tenant: u64,
    pub key: Id,
    pub at: Timestamp,
    pub ms: u64,
    pub method: &'static str,
    /// The path as the route table writes it, with `:names`.
    pub route: &'static str,
    pub status: u16,
    pub error: Option<Code>,
    pub seq: Option<u64>,
    /// Whether it is found without its id too.
    pub is_listed: bool,
}

/// Which of the newest requests are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    pub before: Option<Place>,
    pub most: usize,
    /// How many are looked at.
    pub looks: usize,
}

/// A line in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    at: u64,
    block: u64,
    line: usize,
}

impl Place {
    pub fn parse(text: &str) -> Option<Place> {
        let mut parts = text.splitn(3, '-');
        let (at, block) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(Place { at, block, line: parts.next()?.parse().ok()? })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}-{}", self.at, self.block, self.line)
    }
}

/// The code of a refusal, cut out of the answer when that is made: an answer may be a hundred thousand
/// times as long, and tens of thousands of lines wait for the disk.
#[derive(Debug, PartialEq, Eq)]
pub struct Code(Box<str>);

impl Code {
    /// The code in the body of a refusal, where it is the first member, `error`.
    pub fn of(body: &[u8]) -> Option<Code> {
        let rest = body.strip_prefix(br#"{"error":""#)?;
        let end = rest.iter().take(CODE_LEN_MAX + 1).position(|byte| *byte == b'"')?;
        std::str::from_utf8(&rest[..end]).ok().map(|code| Code(code.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

pub struct Found {
    pub tenant: u64,
    /// The members of the answer, but for what was made.
    pub body: Vec<u8>,
    pub seq: Option<u64>,
}

#[derive(Debug, thiserror::Error)]
pub enum RequestsError {
    #[error("the log of requests: {0}")]
    Disk(#[from] rocksdb::Error),
    #[error("the log of requests: {0}")]
    Ended(tokio::task::JoinError),
}

#[derive(Debug, Default)]
pub struct Counters {
    pub written: AtomicU64,
    /// Requests that were not, because the disk could not keep up, failed or had no room.
    pub dropped: AtomicU64,
}

/// The log of requests. It is closed, with everything written, when it is dropped.
pub struct RequestLog {
    shelf: Arc<Shelf>,
    writer: Option<JoinHandle<()>>,
}

struct Shelf {
    db: DB,
    disk: Arc<Disk>,
    queue: ArrayQueue<Answered>,
    refused: AtomicUsize,
    /// How many blocks were written since the start.
    turn: Mutex<u64>,
    is_over: AtomicBool,
    counters: Counters,
}

impl RequestLog {
    pub fn open(directory: &Path, bytes_max: u64, disk: &Arc<Disk>) -> Result<RequestLog, RequestsError> {
        let options = wal::fitting(directory, options(bytes_max))?;
        let db = DB::open(&options, directory).or_else(|error| {
            if !disk.has_room(PLATFORM, false) {
                return Err(error);
            }
            tracing::warn!(%error, "the log of requests does not open and begins anew");
            DB::destroy(&Options::default(), directory)?;
            DB::open(&options, directory)
        })?;
        let shelf = Arc::new(Shelf {
            db,
            disk: Arc::clone(disk),
            queue: ArrayQueue::new(WAITING_MAX),
            refused: AtomicUsize::new(0),
            turn: Mutex::default(),
            is_over: AtomicBool::new(false),
            counters: Counters::default(),
        });
        let own = Arc::clone(&shelf);
        let writer = std::thread::Builder::new().name("requests".to_owned()).spawn(move || own.work()).ok();
        Ok(RequestLog { shelf, writer })
    }

    /// Notes a request, if the disk has room for what its caller's mode writes. Of answers that only say that there is
    /// too much to do, no more than some hundreds a second are noted: the others count as dropped.
    pub fn note(&self, tenant: u64, status: u16, answered: impl FnOnce() -> Answered) {
        let Shelf { refused, disk, queue, counters, .. } = &*self.shelf;
        let is_taken = !matches!(status, 429 | 503) || refused.fetch_add(1, Ordering::Relaxed) < REFUSED_MAX;
        if !is_taken || !disk.has_room(tenant, false) || queue.push(answered()).is_err() {
            counters.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn counters(&self) -> &Counters {
        &self.shelf.counters
    }

    /// The newest request of a tenant key with this id, if it is not older than 30 days at `now`.
    pub async fn find(
        &self,
        tenant: u64,
        request_id: &str,
        now: Timestamp,
    ) -> Result<Option<Found>, RequestsError> {
        let key = key(request_id, tenant);
        let find = move |shelf: &Shelf| Ok(shelf.db.get(&key)?.and_then(|value| read(&key, &value, now)));
        self.look(find).await
    }

    pub async fn find_all(&self, request_id: &str, now: Timestamp) -> Result<Vec<Found>, RequestsError> {
        let prefix = key(request_id, 0);
        self.look(move |shelf| {
            let (prefix, mut found) = (&prefix[..prefix.len() - 8], Vec::new());
            for entry in shelf.db.iterator(IteratorMode::From(prefix, Direction::Forward)).take(FOUND_MAX) {
                let (key, value) = entry?;
                if key.strip_prefix(prefix).is_none_or(|rest| rest.len() != 8) {
                    break;
                }
                found.extend(read(&key, &value, now));
            }
            Ok(found)
        })
        .await
    }

    /// Gives `take` the newest requests of a tenant key, newest first; it says which it wants. Returns the last that was
    /// looked at if there are more. Waits for the disk.
    pub fn newest(
        &self,
        tenant: u64,
        span: Span,
        (now, budget): (Timestamp, &ReadBudget),
        take: &mut dyn FnMut(Found) -> bool,
    ) -> Result<Option<Place>, Stopped> {
        self.shelf.write_down();
        let db = &self.shelf.db;
        let unread = |error: rocksdb::Error| Stopped::Unreadable(format!("the log of requests: {error}"));
        let last = span.to.map_or(u64::MAX, |to| in_order(to.plus_ms(LONGEST_MS)));
        let start = span.before.map_or((last, u64::MAX), |before| (before.at, before.block));
        let (mut taken, mut reached, mut looks) = (0, None, 0);
        let start = block_key(tenant, start.0, start.1);
        for entry in db.iterator(IteratorMode::From(&start, Direction::Reverse)) {
            let (name, lines) = entry.map_err(unread)?;
            let Some((at, block)) = block_of(&name, tenant) else { break };
            if span.from.is_some_and(|from| at < in_order(from)) {
                break;
            }
            for (line, (began, id)) in lines_of(&lines).into_iter().enumerate().rev() {
                let place = Place { at, block, line };
                if span
                    .before
                    .is_some_and(|before| (at, block) == (before.at, before.block) && line >= before.line)
                {
                    continue;
                }
                if looks == span.looks || taken == span.most {
                    return Ok(reached);
                }
                looks += 1;
                reached = Some(place);
                budget.spend()?;
                if span.from.is_some_and(|from| began < from) || span.to.is_some_and(|to| began >= to) {
                    continue;
                }
                let named = key(id, tenant);
                let value = db.get(&named).map_err(unread)?.unwrap_or_default();
                // A later request with the same id took its place, and is listed itself.
                if began_at(&value) == Some(began)
                    && let Some(found) = read(&named, &value, now)
                {
                    taken += usize::from(take(found));
                }
            }
        }
        Ok(None)
    }

    /// Looks into the log with everything in it that was noted before, on a thread that may wait for
    /// the disk: what waits is much at times, and the disk is slow at times, and other requests must
    /// not wait for either.
    async fn look<T: Send + 'static>(
        &self,
        find: impl FnOnce(&Shelf) -> Result<T, RequestsError> + Send + 'static,
    ) -> Result<T, RequestsError> {
        let shelf = Arc::clone(&self.shelf);
        let looking = tokio::task::spawn_blocking(move || {
            shelf.write_down();
            find(&shelf)
        });
        looking.await.map_err(RequestsError::Ended)?
    }
}

impl Drop for RequestLog {
    fn drop(&mut self) {
        self.shelf.is_over.store(true, Ordering::Relaxed);
        if let Some(writer) = self.writer.take() {
            writer.thread().unpark();
            // A writer that panicked has said so.
            let _ = writer.join();
        }
    }
}

impl Shelf {
    fn work(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            std::thread::park_timeout(PAUSE);
            self.write_down();
        }
        self.write_down();
        if let Err(error) = self.db.flush() {
            tracing::warn!(%error, "the log of requests was not written");
        }
    }

    fn write_down(&self) {
        self.refused.store(0, Ordering::Relaxed);
        if self.queue.is_empty() {
            // The lines that another thread has taken are written when its turn is over.
            drop(self.turn.lock().unwrap_or_else(PoisonError::into_inner));
            return;
        }
        let mut blocks = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut batch, mut count, mut value) = (WriteBatch::default(), 0, Vec::new());
        let mut open: HashMap<u64, Block> = HashMap::new();
        while let Some(answered) = self.queue.pop() {
            value.clear();
            answered.write_to(&mut value);
            batch.put(key(answered.request_id.as_str(), answered.tenant), &value);
            if answered.is_listed {
                let block = open.entry(answered.tenant).or_default();
                block.add(&answered);
                if block.lines.len() >= BLOCK_BYTES {
                    std::mem::take(block).put(answered.tenant, &mut blocks, &mut batch);
                }
            }
            count += 1;
            if count == WAITING_MAX {
                break;
            }
        }
        for (tenant, block) in open.into_iter().filter(|(_, block)| !block.lines.is_empty()) {
            block.put(tenant, &mut blocks, &mut batch);
        }
        // The batch is not synced: it may be lost, and must not take the disk from what may not.
        let counter = match self.db.write(batch) {
            Ok(()) => &self.counters.written,
            Err(error) => {
                tracing::warn!(%error, "requests were not noted");
                &self.counters.dropped
            }
        };
        counter.fetch_add(count as u64, Ordering::Relaxed);
    }
}

/// The lines of one tenant key in one write, or as many as fit.
#[derive(Default)]
struct Block {
    newest: u64,
    lines: Vec<u8>,
}

impl Block {
    fn add(&mut self, answered: &Answered) {
        let id = answered.request_id.as_str().as_bytes();
        let Ok(length) = u8::try_from(id.len()) else { return };
        self.newest = self.newest.max(in_order(answered.at));
        self.lines.extend(answered.at.unix_ms().to_be_bytes());
        self.lines.push(length);
        self.lines.extend(id);
    }

    fn put(self, tenant: u64, blocks: &mut u64, batch: &mut WriteBatch) {
        *blocks += 1;
        batch.put(block_key(tenant, self.newest, *blocks), [&[FORMAT_OF_BLOCKS], &*self.lines].concat());
    }
}

/// As a number whose bytes are in the order of time.
fn in_order(at: Timestamp) -> u64 {
    u64::try_from(at.unix_ms()).unwrap_or(0)
}

fn block_key(tenant: u64, at: u64, block: u64) -> Vec<u8> {
    [&[0][..], &tenant.to_be_bytes(), &at.to_be_bytes(), &block.to_be_bytes()].concat()
}

fn block_of(name: &[u8], tenant: u64) -> Option<(u64, u64)> {
    let rest = name.strip_prefix(&[0])?.strip_prefix(&tenant.to_be_bytes())?;
    let (at, block) = rest.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*at), u64::from_be_bytes(block.try_into().ok()?)))
}

/// The instants and ids of a block; what no release writes has none.
fn lines_of(block: &[u8]) -> Vec<(Timestamp, &str)> {
    let mut lines = Vec::new();
    let Some((&FORMAT_OF_BLOCKS, mut rest)) = block.split_first() else { return lines };
    while let Some((at, after)) = rest.split_first_chunk::<8>()
        && let Some((length, after)) = after.split_first()
        && let Some((id, after)) = after.split_at_checked(usize::from(*length))
        && let Ok(id) = std::str::from_utf8(id)
    {
        lines.push((Timestamp::from_unix_ms(i64::from_be_bytes(*at)), id));
        rest = after;
    }
    lines
}

fn began_at(value: &[u8]) -> Option<Timestamp> {
    let at = value.get(1..9)?.try_into().ok()?;
    Some(Timestamp::from_unix_ms(i64::from_be_bytes(at)))
}

fn key(request_id: &str, tenant: u64) -> Vec<u8> {
    [request_id.as_bytes(), &[0], &tenant.to_be_bytes()].concat()
}

impl Answered {
    fn write_to(&self, value: &mut Vec<u8>) {
        value.push(FORMAT);
        value.extend_from_slice(&self.at.unix_ms().to_be_bytes());
        value.extend_from_slice(&self.seq.unwrap_or(0).to_be_bytes());
        value.extend_from_slice(self.key.as_bytes());
        value.extend_from_slice(&self.ms.to_be_bytes());
        value.extend_from_slice(&self.status.to_be_bytes());
        value.extend_from_slice(self.method.as_bytes());
        value.push(0);
        value.extend_from_slice(self.route.as_bytes());
        value.push(0);
        value.extend_from_slice(self.error.as_ref().map_or("", Code::as_str).as_bytes());
    }
}

fn read(key: &[u8], value: &[u8], now: Timestamp) -> Option<Found> {
    let (request_id, tenant) = key.split_last_chunk::<8>()?;
    let (format, rest) = value.split_first()?;
    let (at, rest) = rest.split_first_chunk::<8>()?;
    let (seq, rest) = rest.split_first_chunk::<8>()?;
    let at = Timestamp::from_unix_ms(i64::from_be_bytes(*at));
    if at.unix_ms() <= now.unix_ms().saturating_sub(KEPT_DAYS * DAY_MS) {
        return None;
    }
    let body = match *format {
        FORMAT => shown(std::str::from_utf8(request_id.strip_suffix(&[0])?).ok()?, at, rest)?,
        FORMAT_OF_JSON => rest.to_vec(),
        _ => return None,
    };
    let seq = Some(u64::from_be_bytes(*seq)).filter(|seq| *seq > 0);
    Some(Found { tenant: u64::from_be_bytes(*tenant), body, seq })
}

fn shown(request_id: &str, at: Timestamp, rest: &[u8]) -> Option<Vec<u8>> {
    let (key, rest) = rest.split_first_chunk::<16>()?;
    let (ms, rest) = rest.split_first_chunk::<8>()?;
    let (status, rest) = rest.split_first_chunk::<2>()?;
    let mut texts = std::str::from_utf8(rest).ok()?.splitn(3, '\0');
    let (method, declared, code) = (texts.next()?, texts.next()?, texts.next()?);
    // As the metrics write it: `/v1/payments/{id}`.
    let mut route = String::with_capacity(declared.len() + 2);
    for (n, segment) in declared.split('/').enumerate() {
        route.push_str(if n == 0 { "" } else { "/" });
        match segment.strip_prefix(':') {
            Some(name) => route.extend(["{", name, "}"]),
            None => route.push_str(segment),
        }
    }
    let object = Object::with_capacity(256)
        .text("requestId", request_id)
        .plain("at", at)
        .text("method", method)
        .text("route", route)
        .number("status", u16::from_be_bytes(*status))
        .maybe_text("error", Some(code).filter(|code| !code.is_empty()))
        .plain("keyId", Id::from_bytes(*key))
        .number("ms", u64::from_be_bytes(*ms));
    Some(object.end())
}

/// Files of which the oldest is dropped when they are too large together, or too old.
fn options(bytes_max: u64) -> Options {
    let file_bytes = (bytes_max / 8).clamp(64 << 10, FILE_BYTES_MAX);
    let mut fifo = FifoCompactOptions::default();
    // The lines that are not in a file yet take as much as two of them.
    fifo.set_max_table_files_size(bytes_max.saturating_sub(3 * file_bytes).max(file_bytes));
    let mut table = BlockBasedOptions::default();
    table.set_bloom_filter(10.0, false);
    table.set_block_cache(&Cache::new_lru_cache(CACHE_BYTES));
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_compaction_style(DBCompactionStyle::Fifo);
    options.set_fifo_compaction_options(&fifo);
    options.set_ttl(u64::try_from(KEPT_DAYS * DAY_MS / 1000).unwrap_or(u64::MAX));
    options.set_write_buffer_size(usize::try_from(file_bytes).unwrap_or(usize::MAX));
    options.set_max_write_buffer_number(2);
    // One writes at a time, and gains nothing from what lets several insert at once.
    options.set_allow_concurrent_memtable_write(false);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_block_based_table_factory(&table);
    options.set_keep_log_file_num(2);
    options.set_max_log_file_size(1 << 20);
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::problem::{BadField, Problem};
    use hyper::header::{HeaderMap, HeaderValue};
    use std::pin::pin;
    use std::sync::mpsc;

    fn id(text: &str) -> RequestId {
        let mut headers = HeaderMap::new();
        headers.insert("x-request-id", HeaderValue::from_str(text).expect("a header value"));
        RequestId::of(&headers)
    }

    fn answered(request_id: &str, tenant: u64, status: u16) -> Answered {
        Answered {
            request_id: id(request_id),
            tenant,
            key: Id::random(1, 1),
            at: Timestamp::from_unix_ms(1_000),
            ms: 3,
            method: "GET",
            route: "/v1/payments/:id",
            status,
            error: if status >= 400 {
                Code::of(br#"{"error":"not_found","message":"secret"}"#)
            } else {
                None
            },
            seq: Some(7).filter(|_| status < 400),
            is_listed: true,
        }
    }

    fn opened(directory: &Path, bytes_max: u64, reserve_bytes: u64) -> Result<RequestLog, RequestsError> {
        RequestLog::open(directory, bytes_max, &Arc::new(Disk::new(directory, reserve_bytes)))
    }

    fn note(log: &RequestLog, answered: Answered) {
        log.note(answered.tenant, answered.status, || answered);
    }

    #[tokio::test]
    async fn nothing_is_noted_while_the_disk_has_no_room() {
        let directory = tempfile::tempdir().expect("a directory");
        let log = opened(directory.path(), 1 << 20, u64::MAX).expect("a log");
        note(&log, answered("a", 2, 200));
        assert!(log.find(2, "a", at(2_000)).await.expect("readable").is_none());
        assert_eq!(log.counters().dropped.load(Ordering::Relaxed), 1);
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_unix_ms(ms)
    }

    #[tokio::test]
    async fn the_newest_request_with_an_id_is_found_also_after_an_end() {
        let directory = tempfile::tempdir().expect("a directory");
        let log = opened(directory.path(), 1 << 20, 0).expect("a log");
        note(&log, answered("a", 2, 200));
        note(&log, answered("a", 2, 404));
        note(&log, answered("a", 4, 200));
        note(&log, answered("ab", 2, 200));
        drop(log);
        let log = opened(directory.path(), 1 << 20, 0).expect("a log");
        let found = log.find(2, "a", at(2_000)).await.expect("readable").expect("it is there");
        let text = String::from_utf8(found.body).expect("text");
        let shown = r#"{"requestId":"a","at":"1970-01-01T00:00:01.000Z","method":"GET","route":"/v1/payments/{id}","status":404,"error":"not_found","keyId":""#;
        assert!(text.starts_with(shown) && text.ends_with(r#"","ms":3}"#), "{text}");
        assert!(!text.contains("secret") && found.seq.is_none());
        let tenants: Vec<u64> =
            log.find_all("a", at(2_000)).await.expect("readable").iter().map(|found| found.tenant).collect();
        assert_eq!(tenants, [2, 4]);
        assert!(log.find(6, "a", at(2_000)).await.expect("readable").is_none());
        assert!(log.find(2, "a", at(1_000 + 30 * DAY_MS)).await.expect("readable").is_none());
    }

    #[tokio::test]
    async fn what_an_earlier_release_noted_is_found_and_what_no_release_writes_is_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let log = opened(directory.path(), 1 << 20, 0).expect("a log");
        let noted = |format: u8, rest: &[u8]| {
            [&[format][..], &1_000_i64.to_be_bytes(), &7_u64.to_be_bytes(), rest].concat()
        };
        let cases: [(&str, Vec<u8>, Option<&str>); 6] = [
            ("json", noted(1, br#"{"requestId":"json"}"#), Some(r#"{"requestId":"json"}"#)),
            ("unknown", noted(3, b"{}"), None),
            ("cut", noted(2, &[1; 25]), None),
            ("no-route", noted(2, &[&[0; 26][..], b"GET"].concat()), None),
            ("no-text", noted(2, &[&[0; 26][..], &[0xFF, 0, b'/', 0]].concat()), None),
            ("empty", Vec::new(), None),
        ];
        for (request_id, value, expected) in cases {
            log.shelf.db.put(key(request_id, 2), value).expect("written");
            let found = log.find(2, request_id, at(2_000)).await.expect("readable");
            assert_eq!(found.as_ref().and_then(|found| found.seq), expected.map(|_| 7), "{request_id}");
            let body = found.map(|found| String::from_utf8(found.body).expect("text"));
            assert_eq!(body.as_deref(), expected, "{request_id}");
        }
    }

    /// The ids of the newest requests of tenant key 2, by pages of 7.
    fn listed(log: &RequestLog, span: Span, wanted: &str) -> Vec<String> {
        let (mut ids, mut before) = (Vec::<String>::new(), None);
        loop {
            let (budget, listed) = (ReadBudget::unbounded(), ids.len());
            let next = log
                .newest(2, Span { before, ..span }, (at(9_000_000), &budget), &mut |found| {
                    let text = String::from_utf8(found.body).expect("text");
                    let is_wanted = text.contains(wanted);
                    ids.extend(text.split('"').nth(3).filter(|_| is_wanted).map(str::to_owned));
                    is_wanted
                })
                .expect("readable");
            assert!(ids.len() - listed <= span.most);
            match next {
                Some(next) => before = Some(Place::parse(&next.to_string()).expect("a place")),
                None => return ids,
            }
        }
    }

    #[test]
    fn the_newest_requests_are_listed_page_by_page() {
        let directory = tempfile::tempdir().expect("a directory");
        let log = opened(directory.path(), 1 << 20, 0).expect("a log");
        let all = Span { most: 7, looks: 1_000, ..Span::default() };
        assert!(listed(&log, all, "").is_empty());
        for n in 0..40_i64 {
            let status = if n % 4 == 0 { 404 } else { 200 };
            let answered = Answered { at: at(n * 100_000), ..answered(&format!("r-{n}"), 2, status) };
            note(&log, Answered { tenant: 4, ..answered_again(&answered) });
            note(&log, Answered { is_listed: n != 5, ..answered });
            // Some stand in one block, some in blocks of their own.
            if n % 3 == 0 {
                log.shelf.write_down();
            }
        }
        let ids =
            |numbers: &mut dyn Iterator<Item = i64>| numbers.map(|n| format!("r-{n}")).collect::<Vec<_>>();
        assert_eq!(listed(&log, all, ""), ids(&mut (0..40).rev().filter(|n| *n != 5)));
        let refused = ids(&mut (0..40).rev().filter(|n| n % 4 == 0));
        assert_eq!(listed(&log, all, "\"status\":404"), refused);
        assert_eq!(listed(&log, Span { looks: 3, ..all }, "\"status\":404"), refused, "few at a time");
        let days = Span { from: Some(at(1_000_000)), to: Some(at(2_000_000)), ..all };
        assert_eq!(listed(&log, days, ""), ids(&mut (10..20).rev()));
        // What has its id now is listed, and what had it before is not.
        note(&log, Answered { at: at(4_000_000), ..answered("r-7", 2, 200) });
        let again = listed(&log, all, "");
        assert_eq!((again[0].as_str(), again.iter().filter(|id| *id == "r-7").count()), ("r-7", 1));
    }

    fn answered_again(answered: &Answered) -> Answered {
        Answered { request_id: answered.request_id.clone(), error: None, ..*answered }
    }

    #[test]
    fn a_block_that_no_release_writes_has_no_lines() {
        for block in [&b""[..], &[2, 0, 0], &[1, 0, 0, 0], &[1, 0, 0, 0, 0, 0, 0, 0, 9, 5, b'x']] {
            assert!(lines_of(block).is_empty(), "{block:?}");
        }
    }

    #[test]
    fn the_code_of_a_refusal_is_its_first_member() {
        let fields = vec![BadField::new("x", "must be y"); 10];
        let problem = Problem::invalid_data(fields).to_json("r");
        assert_eq!(Code::of(&problem), Some(Code("invalid_data".into())));
        let long = format!(r#"{{"error":"{}"}}"#, "x".repeat(CODE_LEN_MAX + 1));
        for body in ["", "{}", r#"{"error":7}"#, r#"{"error":"cut"#, r#"{"statusCode":400}"#, &long] {
            assert_eq!(Code::of(body.as_bytes()), None, "{body}");
        }
    }

    #[tokio::test]
    async fn a_disk_that_is_slow_keeps_no_thread_that_answers() {
        let directory = tempfile::tempdir().expect("a directory");
        let log = opened(directory.path(), 1 << 20, 0).expect("a log");
        let (release, released) = mpsc::channel::<()>();
        let (holds, held) = mpsc::channel();
        let shelf = Arc::clone(&log.shelf);
        let writer = std::thread::spawn(move || {
            let _turn = shelf.turn.lock();
            let _ = holds.send(());
            let _ = released.recv();
        });
        held.recv().expect("the writer is held");
        (0..10_000).for_each(|n| note(&log, answered(&format!("r-{n}"), 2, 404)));
        // This thread answers requests, and there is no other: it has to be free for a timer.
        let mut finding = pin!(log.find(2, "r-9999", at(2_000)));
        let soon = tokio::time::sleep(Duration::from_millis(20));
        tokio::select! {
            biased;
            _ = &mut finding => panic!("found, though nothing can be written"),
            () = soon => {}
        }
        drop(release);
        writer.join().expect("no panic");
        let found = finding.await.expect("readable").expect("it is there");
        assert!(String::from_utf8(found.body).expect("text").contains(r#""error":"not_found""#));
    }

    #[test]
    fn of_refusals_for_want_of_capacity_some_are_noted_and_others_are_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let log = opened(directory.path(), 1 << 20, 0).expect("a log");
        // The writer may come in between, and then as many are noted again.
        (0..20_000).for_each(|_| note(&log, answered("a", 2, 503)));
        let dropped = log.counters().dropped.load(Ordering::Relaxed);
        assert!((10_000..=20_000 - REFUSED_MAX as u64).contains(&dropped), "{dropped}");
        (0..1_000).for_each(|_| note(&log, answered("b", 2, 422)));
        assert_eq!(log.counters().dropped.load(Ordering::Relaxed), dropped, "what was done is");
    }

    #[tokio::test]
    async fn the_files_stay_within_their_bound() {
        let directory = tempfile::tempdir().expect("a directory");
        let bytes_max = 2 << 20;
        let log = opened(directory.path(), bytes_max, 0).expect("a log");
        for round in 0..60 {
            for n in 0..2_000 {
                note(&log, answered(&format!("{round}-{n}-{}", "x".repeat(40)), 2, 200));
            }
            log.shelf.write_down();
        }
        log.shelf.db.flush().expect("written");
        drop(log);
        let log = opened(directory.path(), bytes_max, 0).expect("a log");
        let last = format!("59-1999-{}", "x".repeat(40));
        assert!(log.find(2, &last, at(2_000)).await.expect("readable").is_some());
        drop(log);
        let size: u64 = std::fs::read_dir(directory.path())
            .expect("a directory")
            .filter_map(|entry| entry.ok()?.metadata().ok())
            .map(|file| file.len())
            .sum();
        assert!(size < bytes_max + (2 << 20), "{size} bytes");
    }
}
