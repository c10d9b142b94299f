//! Runs beside the writer and never blocks it. Nothing is returned that is not durable or not
//! checked; a record that should be there and is not is an error that names it, never an end.

use crate::opening::{self, End};
use crate::record::{self, Tip};
use crate::replay::{self, until_error};
use crate::rocks::RocksStore;
use crate::salvage;
use crate::snapshot::{self, SnapshotHead, StoredSnapshot};
use crate::store::{
    Family, Item, Scan, Store, StoreCursor, StoreError, StoreMoment, Way, checked_item, leave,
};
use crate::{Damage, Hash, OpenError, ReadError, Record, Seq};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// At full speed a server deletes a file several times a second, and opening takes a part of that.
const READ_ONLY_ATTEMPTS: u32 = 32;
const READ_ONLY_PAUSE_MAX: Duration = Duration::from_millis(100);

const PROGRESS_RECORDS: u64 = 65_536;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    pub records: u64,
    pub bytes: u64,
    pub snapshots: u64,
    pub head_hash: Hash,
}

/// Cheap to clone. While one exists, the data directory stays open and locked.
#[derive(Clone)]
pub struct Reader {
    pub(crate) store: Arc<dyn Store>,
    /// The writer sets it after a sync.
    pub(crate) end: Arc<Mutex<End>>,
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

    pub(crate) fn up_to(store: Arc<dyn Store>, tip: Tip) -> Reader {
        Reader { store, end: Arc::new(Mutex::new(End { tip, floor: 0 })) }
    }

    pub fn over(store: Arc<dyn Store>) -> Result<Reader, OpenError> {
        let end = opening::check(&*store)?.unwrap_or_default();
        Ok(Reader { store, end: Arc::new(Mutex::new(end)) })
    }

    fn end(&self) -> End {
        *self.end.lock().expect("nobody panics with it")
    }

    /// `None` if the log does not go so far.
    pub fn record(&self, seq: Seq) -> Result<Option<Record>, ReadError> {
        if seq == 0 {
            return Ok(None);
        }
        let last = self.end().tip.seq;
        let mut cursor = self.store.cursor(Scan::all(Family::Log));
        cursor.seek_back(&seq.to_be_bytes());
        if let Some((key, chunk)) = checked_item(&*cursor)? {
            let first = record::decode_key(key)?;
            if let Some(record) = record::find(chunk, first, seq)? {
                return Ok(Some(record));
            }
        }
        if seq <= last { Err(Damage::missing(seq, seq).into()) } else { Ok(None) }
    }

    /// From `from` to `to`, both included, or to the end as it is now. Checks each record and that
    /// it follows its predecessor.
    pub fn records(
        &self,
        from: Seq,
        to: Option<Seq>,
    ) -> impl Iterator<Item = Result<Record, ReadError>> + '_ {
        // The end is read before the cursor is made, so that the cursor sees all of it.
        let last = self.last_seq();
        let to = to.map_or(last, |to| to.min(last));
        replay::records(self.store.cursor(Scan::all(Family::Log).by(Way::Walk)), from.max(1), to)
    }

    pub fn index_get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(self.store.get(Family::Index, key)?)
    }

    /// From `from` up to and without `to`; with `reverse`, from the last to the first.
    pub fn index_scan(&self, from: &[u8], to: &[u8], reverse: bool) -> IndexCursor<'_> {
        IndexCursor::new(self.store.cursor(index_range(from, to)), reverse)
    }

    pub fn index_moment(&self) -> IndexMoment<'_> {
        IndexMoment(self.store.moment())
    }

    pub fn index_entries(&self) -> IndexCursor<'_> {
        IndexCursor::new(self.store.cursor(Scan::all(Family::Index).by(Way::Walk)), false)
    }

    /// The newest of a tenant, or the newest that contains nothing after `at_or_before`. If that is removed while it
    /// is read, the one before it.
    pub fn snapshot(
        &self,
        tenant: u64,
        at_or_before: Option<Seq>,
    ) -> Result<Option<StoredSnapshot>, ReadError> {
        let key = snapshot::key(tenant, at_or_before.unwrap_or(Seq::MAX));
        self.snapshot_at(tenant, |cursor| cursor.seek_back(&key))
    }

    fn snapshot_at(
        &self,
        tenant: u64,
        place: impl Fn(&mut dyn StoreCursor),
    ) -> Result<Option<StoredSnapshot>, ReadError> {
        loop {
            let mut cursor = self.store.cursor(snapshots_of(tenant));
            place(&mut *cursor);
            let Some((key, value)) = checked_item(&*cursor)? else { return Ok(None) };
            if let Some(stored) = snapshot::read(&*self.store, key, value)? {
                return Ok(Some(stored));
            }
        }
    }

    /// The newest at record `since` or after that was taken at `at_ms` or before.
    pub fn snapshot_taken_by(
        &self,
        tenant: u64,
        since: Seq,
        at_ms: i64,
    ) -> Result<Option<StoredSnapshot>, ReadError> {
        let from = Some(snapshot::key(tenant, since).to_vec());
        let mut cursor = self.store.cursor(Scan { from, ..snapshots_of(tenant) }.by(Way::Walk));
        cursor.last();
        while let Some((key, value)) = checked_item(&*cursor)? {
            // One that was removed meanwhile is replaced by the one before it.
            if snapshot::decode(key, value)?.0.time_ms <= at_ms
                && let Some(stored) = snapshot::read(&*self.store, key, value)?
            {
                return Ok(Some(stored));
            }
            cursor.prev();
        }
        Ok(None)
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

    pub fn newest_snapshot(&self, tenant: u64) -> Result<Option<SnapshotHead>, ReadError> {
        let mut cursor = self.store.cursor(snapshots_of(tenant));
        cursor.last();
        head_at(&*cursor)
    }

    /// By its key alone: also of one that is damaged.
    pub fn newest_snapshot_seq(&self, tenant: u64) -> Result<Option<Seq>, ReadError> {
        let mut cursor = self.store.cursor(snapshots_of(tenant));
        cursor.last();
        checked_item(&*cursor)?.map(|(key, _)| Ok(snapshot::decode_key(key)?.1)).transpose()
    }

    pub fn snapshot_from(&self, tenant: u64, from: Seq) -> Result<Option<StoredSnapshot>, ReadError> {
        let key = snapshot::key(tenant, from);
        self.snapshot_at(tenant, |cursor| cursor.seek(&key))
    }

    /// Newest first.
    pub fn snapshots_of(&self, tenant: u64) -> impl Iterator<Item = Result<StoredSnapshot, ReadError>> + '_ {
        self.snapshots(snapshots_of(tenant))
    }

    fn snapshots(&self, scan: Scan) -> impl Iterator<Item = Result<StoredSnapshot, ReadError>> + '_ {
        let mut cursor = self.store.cursor(scan.by(Way::Walk));
        cursor.last();
        until_error(move || {
            while let Some((key, value)) = checked_item(&*cursor)? {
                let found = snapshot::read(&*self.store, key, value)?;
                cursor.prev();
                if found.is_some() {
                    return Ok(found);
                }
            }
            Ok(None)
        })
    }

    /// Last tenant first; older snapshots are not read.
    pub fn latest_snapshots(&self) -> impl Iterator<Item = Result<StoredSnapshot, ReadError>> + '_ {
        let (tenants, failed) = match self.snapshot_tenants() {
            Ok(tenants) => (tenants, None),
            Err(error) => (Vec::new(), Some(Err(error))),
        };
        let newest = tenants.into_iter().rev().filter_map(|tenant| self.snapshot(tenant, None).transpose());
        newest.chain(failed)
    }

    pub fn last_seq(&self) -> Seq {
        self.end().tip.seq
    }

    /// Every tenant's records up to here are in snapshots; replay starts after it.
    pub fn floor(&self) -> Seq {
        self.end().floor
    }

    pub fn tip(&self) -> Tip {
        self.end().tip
    }

    /// Appends go on meanwhile. The copy opens as a log of its own.
    pub fn checkpoint(&self, dir: &Path) -> Result<(), StoreError> {
        // Taken before the copy is made, so that the copy has at least this.
        let tip = self.tip();
        self.store.checkpoint(dir, &tip.sealed(record::WITNESS_KEY))
    }

    /// Each record from 1, the chain, each snapshot, the tip. `progress` hears how far it is, and
    /// of how much.
    pub fn verify(&self, progress: &mut dyn FnMut(Seq, Seq)) -> Result<Verified, Damage> {
        let tip = self.tip();
        let mut verified = Verified::default();
        for record in self.records(1, Some(tip.seq)) {
            let record = record.map_err(|error| error.at(verified.records + 1))?;
            verified.records += 1;
            verified.bytes += record.bytes as u64;
            verified.head_hash = record.hash;
            if verified.records.is_multiple_of(PROGRESS_RECORDS) {
                progress(verified.records, tip.seq);
            }
        }
        if verified.head_hash != tip.hash {
            return Err(Damage::new(
                tip.seq,
                format!("record {} is not the one that the tip names", tip.seq),
            ));
        }
        for snapshot in self.snapshots(Scan::all(Family::Snapshots)) {
            match snapshot {
                // A snapshot that was written meanwhile, beside a running server, cannot be judged by
                // an earlier tip.
                Ok(_) => verified.snapshots += 1,
                Err(ReadError::Damage(damage)) => return Err(damage),
                Err(error) => {
                    return Err(Damage::new(tip.seq, format!("a snapshot cannot be read: {error}")));
                }
            }
        }
        progress(verified.records, tip.seq);
        Ok(verified)
    }
}

fn head_at(cursor: &dyn StoreCursor) -> Result<Option<SnapshotHead>, ReadError> {
    match checked_item(cursor)? {
        Some((key, value)) => Ok(Some(snapshot::decode(key, value)?.0)),
        None => Ok(None),
    }
}

fn snapshots_of(tenant: u64) -> Scan {
    let to = tenant.checked_add(1).map(|next| snapshot::key(next, 0).to_vec());
    Scan { from: Some(snapshot::key(tenant, 0).to_vec()), to, ..Scan::all(Family::Snapshots) }
}

/// Sees the entries of the index as they were when it was made, and shows the next key before it is
/// taken, so that several can be merged.
pub struct IndexCursor<'a> {
    cursor: Box<dyn StoreCursor + 'a>,
    reverse: bool,
    failed: bool,
}

impl<'a> IndexCursor<'a> {
    /// At the first entry, or the last of a walk backwards.
    fn new(cursor: Box<dyn StoreCursor + 'a>, reverse: bool) -> IndexCursor<'a> {
        let mut cursor = IndexCursor { cursor, reverse, failed: false };
        if reverse {
            cursor.cursor.last()
        } else {
            cursor.cursor.first()
        }
        cursor
    }

    /// `None` at the end, and after a failure, which `next` then returns.
    pub fn peek_key(&self) -> Option<&[u8]> {
        self.cursor.item().map(|(key, _)| key)
    }

    pub fn peek(&self) -> Result<Option<Item<'_>>, ReadError> {
        Ok(checked_item(&*self.cursor)?)
    }

    /// To `key`, or the nearest entry after it in the direction of the walk.
    pub fn seek(&mut self, key: &[u8]) {
        if self.reverse {
            self.cursor.seek_back(key);
        } else {
            self.cursor.seek(key);
        }
    }

    pub fn advance(&mut self) {
        if self.cursor.item().is_some() {
            if self.reverse {
                self.cursor.prev();
            } else {
                self.cursor.next();
            }
        }
    }

    pub fn status(&self) -> Result<(), ReadError> {
        Ok(self.cursor.status()?)
    }
}

pub struct IndexMoment<'a>(Box<dyn StoreMoment + 'a>);

impl IndexMoment<'_> {
    /// From the last key below `to` down to `from`; stands nowhere until it is placed. Where one
    /// move would pass more than `passes_max` removed entries it fails with
    /// [`StoreError::PassedTooMany`], and can be placed elsewhere.
    pub fn cursor_back(&self, from: &[u8], to: &[u8], passes_max: Option<u64>) -> IndexCursor<'_> {
        let scan = Scan { passes_max, ..index_range(from, to) };
        IndexCursor { cursor: self.0.cursor(scan), reverse: true, failed: false }
    }
}

fn index_range(from: &[u8], to: &[u8]) -> Scan {
    Scan { from: Some(from.to_vec()), to: Some(to.to_vec()), ..Scan::all(Family::Index) }
}

impl Iterator for IndexCursor<'_> {
    type Item = Result<(Vec<u8>, Vec<u8>), ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        match self.peek() {
            Ok(None) => None,
            Ok(Some((key, value))) => {
                let entry = (key.to_vec(), value.to_vec());
                self.advance();
                Some(Ok(entry))
            }
            Err(error) => {
                self.failed = true;
                Some(Err(error))
            }
        }
    }
}
