//! Runs beside the writer and never blocks it. Nothing is returned that is not durable or not
//! checked; a record that should be there and is not is an error that names it, never an end.

use crate::batch::Family;
use crate::cursor::{IndexCursor, IndexMoment, index_range};
use crate::memory::MemoryStore;
use crate::opening::{self, Opened};
use crate::pieces;
use crate::record::Tip;
use crate::replay::Records;
use crate::rocks::RocksStore;
use crate::salvage;
use crate::snapshot::{self, Found, SnapshotHead, StoredSnapshot};
use crate::store::{Scan, Store, StoreCursor, StoreError, Way, checked_item, leave, leave_back};
use crate::verify::{self, Verified};
use crate::{Damage, Hash, OpenError, ReadError, Record, Seq, record};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// At full speed a server deletes a file several times a second, and opening takes a part of that.
const READ_ONLY_ATTEMPTS: u32 = 32;
const READ_ONLY_PAUSE_MAX: Duration = Duration::from_millis(100);

/// Cheap to clone. While one exists, the data directory stays open and locked.
#[derive(Clone)]
pub struct Reader {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) published: Arc<Published>,
}

/// The writer publishes the end after a sync.
pub(crate) struct Published {
    seq: AtomicU64,
    floor: AtomicU64,
    tip: Mutex<Tip>,
}

impl Published {
    pub(crate) fn new(opened: Opened) -> Published {
        Published {
            seq: AtomicU64::new(opened.tip.seq),
            floor: AtomicU64::new(opened.floor),
            tip: Mutex::new(opened.tip),
        }
    }

    pub(crate) fn publish(&self, tip: Tip, floor: Seq) {
        *self.tip.lock().expect("nobody panics with it") = tip;
        self.floor.store(floor, Ordering::Release);
        self.seq.store(tip.seq, Ordering::Release);
    }

    pub(crate) fn seq(&self) -> Seq {
        self.seq.load(Ordering::Acquire)
    }

    pub(crate) fn floor(&self) -> Seq {
        self.floor.load(Ordering::Acquire)
    }

    pub(crate) fn tip(&self) -> Tip {
        *self.tip.lock().expect("nobody panics with it")
    }
}

impl Reader {
    /// Opens the log as it is now without locking it, beside a running server or after it.
    pub fn open_read_only(dir: impl AsRef<Path>) -> Result<Reader, OpenError> {
        let mut attempt = 1;
        loop {
            // The server deletes files and overwrites its witness meanwhile; what looks like damage
            // in one attempt is damage if it still does in the last.
            let opened =
                RocksStore::open_read_only(dir.as_ref()).and_then(|store| Reader::over(Arc::new(store)));
            match opened {
                Err(OpenError::Store(_) | OpenError::Damage(_)) if attempt < READ_ONLY_ATTEMPTS => {}
                result => return result.map_err(|error| salvage::named(dir.as_ref(), error)),
            }
            std::thread::sleep((Duration::from_millis(10) * attempt).min(READ_ONLY_PAUSE_MAX));
            attempt += 1;
        }
    }

    pub fn over_memory(store: MemoryStore) -> Result<Reader, OpenError> {
        Reader::over(Arc::new(store))
    }

    /// Nothing behind `tip` is seen.
    pub(crate) fn up_to(store: Arc<dyn Store>, tip: Tip) -> Reader {
        Reader { store, published: Arc::new(Published::new(Opened { tip, floor: 0 })) }
    }

    fn over(store: Arc<dyn Store>) -> Result<Reader, OpenError> {
        let opened = opening::check(&*store)?.unwrap_or(Opened { tip: Tip::default(), floor: 0 });
        Ok(Reader { store, published: Arc::new(Published::new(opened)) })
    }

    /// `None` if the log does not go so far.
    pub fn record(&self, seq: Seq) -> Result<Option<Record>, ReadError> {
        if seq == 0 {
            return Ok(None);
        }
        let last = self.last_seq();
        let mut cursor = self.store.cursor(Scan::all(Family::Log));
        cursor.seek_back(&seq.to_be_bytes());
        if let Some((key, chunk)) = checked_item(&*cursor)? {
            let first = opening::log_key(key)?;
            if let Some(raw) = record::find(chunk, first, seq)? {
                return Ok(Some(raw.to_record(raw.hash())));
            }
        }
        if seq <= last { Err(Damage::missing(seq, seq).into()) } else { Ok(None) }
    }

    /// From `from` to `to`, both included, or to the end as it is now. Checks each record and that
    /// it follows its predecessor.
    pub fn records(&self, from: Seq, to: Option<Seq>) -> Records<'_> {
        // The end is read before the cursor is made, so that the cursor sees all of it.
        let last = self.last_seq();
        let to = to.map_or(last, |to| to.min(last));
        Records::new(self.store.cursor(Scan::all(Family::Log).by(Way::Walk)), from.max(1), to)
    }

    pub fn index_get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(self.store.get(Family::Index, key)?)
    }

    /// From `from` up to and without `to`; with `reverse`, from the last to the first.
    pub fn index_scan(&self, from: &[u8], to: &[u8], reverse: bool) -> IndexCursor<'_> {
        self.index_cursor(from, to, reverse)
    }

    /// Shows the next key before it is taken, and can seek.
    pub fn index_cursor(&self, from: &[u8], to: &[u8], reverse: bool) -> IndexCursor<'_> {
        let mut cursor = IndexCursor::new(self.store.cursor(index_range(from, to)), reverse);
        cursor.start();
        cursor
    }

    /// For several cursors that must see the same.
    pub fn index_moment(&self) -> IndexMoment<'_> {
        IndexMoment::new(self.store.moment())
    }

    pub fn index_entries(&self) -> IndexCursor<'_> {
        let mut cursor = IndexCursor::new(self.store.cursor(Scan::all(Family::Index).by(Way::Walk)), false);
        cursor.start();
        cursor
    }

    /// The newest of a tenant, or the newest that contains nothing after `at_or_before`.
    pub fn snapshot(
        &self,
        tenant: u64,
        at_or_before: Option<Seq>,
    ) -> Result<Option<StoredSnapshot>, ReadError> {
        newest(&*self.store, tenant, at_or_before.unwrap_or(Seq::MAX))
    }

    pub fn snapshot_taken_by(
        &self,
        tenant: u64,
        since: Seq,
        at_ms: i64,
    ) -> Result<Option<StoredSnapshot>, ReadError> {
        loop {
            let Some(found) = self.newest_head_by(tenant, since, at_ms)? else { return Ok(None) };
            // If the snapshot is removed meanwhile, another replaces it.
            if let Some(stored) = newest(&*self.store, tenant, found.seq)?
                .filter(|stored| stored.time_ms <= at_ms && stored.seq >= since)
            {
                return Ok(Some(stored));
            }
        }
    }

    /// The head of the newest snapshot after record `since` that was taken at `at_ms` or before, by binary
    /// search: from there on the times of the tenant's snapshots never fall.
    fn newest_head_by(&self, tenant: u64, since: Seq, at_ms: i64) -> Result<Option<SnapshotHead>, ReadError> {
        let mut cursor = self.store.cursor(snapshots_of(tenant).by(Way::Leap));
        cursor.last();
        let Some(last) = head_at(&*cursor)?.filter(|last| last.seq >= since) else { return Ok(None) };
        if last.time_ms <= at_ms {
            return Ok(Some(last));
        }
        let mut found = None;
        let (mut low, mut high) = (since, last.seq);
        // The record that is looked for is at `low` or above, or already found; and below `high`.
        while low < high {
            let middle = low + (high - low) / 2;
            cursor.seek_back(&snapshot::key(tenant, middle));
            match head_at(&*cursor)? {
                Some(head) if head.seq >= since && head.time_ms > at_ms => high = head.seq,
                Some(head) if head.seq >= since => {
                    found = Some(head);
                    low = middle + 1;
                }
                Some(_) | None => low = middle + 1,
            }
        }
        Ok(found)
    }

    pub fn snapshot_heads(&self, tenant: u64) -> Result<Vec<SnapshotHead>, ReadError> {
        let mut cursor = self.store.cursor(snapshots_of(tenant).by(Way::Walk));
        let mut heads = Vec::new();
        cursor.first();
        while let Some(head) = head_at(&*cursor)? {
            heads.push(head);
            cursor.next();
        }
        Ok(heads)
    }

    /// No state is read, here and below.
    pub fn snapshot_tenants(&self) -> Result<Vec<u64>, ReadError> {
        let mut cursor = self.store.cursor(Scan::all(Family::Snapshots).by(Way::Leap));
        let mut tenants = Vec::new();
        cursor.first();
        while let Some((key, _)) = checked_item(&*cursor)? {
            let (tenant, _) = snapshot::decode_key(key)?;
            tenants.push(tenant);
            let Some(next) = tenant.checked_add(1) else { break };
            leave(&mut *cursor, &tenant.to_be_bytes(), &next.to_be_bytes());
        }
        Ok(tenants)
    }

    pub fn newest_snapshot(&self, tenant: u64) -> Result<Option<Seq>, ReadError> {
        let mut cursor = self.store.cursor(snapshots_of(tenant));
        cursor.seek_back(&snapshot::key(tenant, Seq::MAX));
        match checked_item(&*cursor)? {
            Some((key, _)) => Ok(Some(snapshot::decode_key(key)?.1)),
            None => Ok(None),
        }
    }

    pub fn newest_snapshot_head(&self, tenant: u64) -> Result<Option<SnapshotHead>, ReadError> {
        let mut cursor = self.store.cursor(snapshots_of(tenant));
        cursor.last();
        head_at(&*cursor)
    }

    pub fn snapshot_from(&self, tenant: u64, from: Seq) -> Result<Option<StoredSnapshot>, ReadError> {
        loop {
            let mut cursor = self.store.cursor(snapshots_of(tenant));
            cursor.seek(&snapshot::key(tenant, from));
            let Some((key, value)) = checked_item(&*cursor)? else { return Ok(None) };
            if let Some(stored) = stored(&*self.store, key, value)? {
                return Ok(Some(stored));
            }
        }
    }

    pub fn snapshots_of(&self, tenant: u64) -> Snapshots<'_> {
        Snapshots::new(&*self.store, snapshots_of(tenant), Walk::Every)
    }

    /// Last tenant first; older snapshots are not read.
    pub fn latest_snapshots(&self) -> Snapshots<'_> {
        Snapshots::new(&*self.store, Scan::all(Family::Snapshots), Walk::NewestOfEach)
    }

    pub fn first_seq(&self) -> Seq {
        self.last_seq().min(1)
    }

    pub fn last_seq(&self) -> Seq {
        self.published.seq()
    }

    /// Every tenant's records up to here are in snapshots; replay starts after it.
    pub fn floor(&self) -> Seq {
        self.published.floor()
    }

    pub fn head_hash(&self) -> Hash {
        self.tip().hash
    }

    pub fn tip(&self) -> Tip {
        self.published.tip()
    }

    /// Appends go on meanwhile. The copy opens as a log of its own.
    pub fn checkpoint(&self, dir: &Path) -> Result<(), StoreError> {
        // Taken before the copy is made, so that the copy has at least this.
        let tip = self.tip();
        self.store.checkpoint(dir, &tip.witness_bytes())
    }

    /// Each record from 1, the chain, each snapshot, the tip. `progress` hears how far it is, and
    /// of how much.
    pub fn verify(&self, progress: &mut dyn FnMut(Seq, Seq)) -> Result<Verified, Damage> {
        verify::verify(self, progress)
    }
}

/// `None` if it was removed meanwhile.
fn stored(store: &dyn Store, key: &[u8], value: &[u8]) -> Result<Option<StoredSnapshot>, ReadError> {
    match snapshot::decode(key, value)? {
        Found::Whole(stored) => Ok(Some(stored)),
        Found::InPieces(head) => pieces::read(store, &head, value),
    }
}

/// If the newest is removed while it is read, the one before it is returned.
fn newest(store: &dyn Store, tenant: u64, seq: Seq) -> Result<Option<StoredSnapshot>, ReadError> {
    loop {
        let mut cursor = store.cursor(snapshots_of(tenant));
        cursor.seek_back(&snapshot::key(tenant, seq));
        let Some((key, value)) = checked_item(&*cursor)? else { return Ok(None) };
        if let Some(stored) = stored(store, key, value)? {
            return Ok(Some(stored));
        }
    }
}

fn head_at(cursor: &dyn StoreCursor) -> Result<Option<SnapshotHead>, ReadError> {
    match checked_item(cursor)? {
        Some((key, value)) => Ok(Some(snapshot::decode_head(key, value)?)),
        None => Ok(None),
    }
}

fn snapshots_of(tenant: u64) -> Scan {
    let to = tenant.checked_add(1).map(|next| snapshot::key(next, 0).to_vec());
    Scan { from: Some(snapshot::key(tenant, 0).to_vec()), to, ..Scan::all(Family::Snapshots) }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Walk {
    Every,
    NewestOfEach,
}

/// Backwards. Ends after the first error.
pub struct Snapshots<'a> {
    store: &'a dyn Store,
    cursor: Box<dyn StoreCursor + 'a>,
    walk: Walk,
    done: bool,
}

impl<'a> Snapshots<'a> {
    fn new(store: &'a dyn Store, scan: Scan, walk: Walk) -> Snapshots<'a> {
        let mut cursor = store.cursor(scan.by(match walk {
            Walk::Every => Way::Walk,
            Walk::NewestOfEach => Way::Leap,
        }));
        cursor.last();
        Snapshots { store, cursor, walk, done: false }
    }

    pub(crate) fn every(store: &'a dyn Store) -> Snapshots<'a> {
        Snapshots::new(store, Scan::all(Family::Snapshots), Walk::Every)
    }

    fn step(&mut self) -> Result<Option<StoredSnapshot>, ReadError> {
        loop {
            let Some((key, value)) = checked_item(&*self.cursor)? else {
                return Ok(None);
            };
            let (tenant, _) = snapshot::decode_key(key)?;
            let found = match (stored(self.store, key, value)?, self.walk) {
                // The walk sees the snapshots as they were when it began; a newer one has replaced
                // this one.
                (None, Walk::NewestOfEach) => newest(self.store, tenant, Seq::MAX)?,
                (found, _) => found,
            };
            match self.walk {
                Walk::Every => self.cursor.prev(),
                Walk::NewestOfEach => leave_back(&mut *self.cursor, &tenant.to_be_bytes()),
            }
            if found.is_some() {
                return Ok(found);
            }
        }
    }
}

impl Iterator for Snapshots<'_> {
    type Item = Result<StoredSnapshot, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let step = self.step();
        self.done |= !matches!(step, Ok(Some(_)));
        step.transpose()
    }
}
