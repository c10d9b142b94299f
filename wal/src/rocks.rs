//! The store of production, on RocksDB. `write` returns after the data and all it needs are synced,
//! and nothing is visible before; a damaged RocksDB log refuses to open, one with an incomplete
//! last record opens without it. A log file that is gone, or cut at a place that looks like a torn
//! tail, is noticed by the witness: a file of 36 bytes, overwritten after every synced write and
//! before it is acknowledged, which `log.rs` compares with the tip.

use crate::batch::{self, Batch};
use crate::directory::make_directory;
use crate::options::{self, MIB, WAL_BYTES_MAX, db_options, is_scarce};
use crate::salvage;
use crate::store::{Family, Item, Scan, Store, StoreCursor, StoreError, StoreMoment, Way};
use crate::zeroed_end;
use crate::zeros_ahead::ZerosAhead;
use crate::{Damage, OpenError, Seq};
use rocksdb::checkpoint::Checkpoint;
use rocksdb::properties::CUR_SIZE_ACTIVE_MEM_TABLE;
use rocksdb::{
    ColumnFamily, DB, DBRawIterator, DBRecoveryMode, ErrorKind, FlushOptions, Options, ReadOptions, Snapshot,
    WriteBatch, WriteOptions,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Locked while a log is open; holds the pid of who locked it.
pub const OWNER_FILE: &str = "OWNER";
/// Blocks that a compaction has replaced leave the block cache, unless less than a twentieth of
/// them is there (RocksDB's own scale). By default they stay until the cache is full of them.
const UNCACHE_AGGRESSIVENESS: (&str, &str) = ("uncache_aggressiveness", "300");
/// The removed ranges in a memtable of the index after which it is flushed: a read looks through all of
/// them anew whenever one has joined them, and of those with the same bounds a file keeps one.
const RANGES_MAX: (&str, &str) = ("memtable_max_range_deletions", "64");
const RANGES_FLUSH_BYTES: u64 = MIB as u64;
const LOOK_EVERY: Duration = Duration::from_secs(1);
const TENANTS_SHOWN: usize = 20;
const NUMBERED_ANEW: u64 = 100_000;
const WITNESS_FILE: &str = "WITNESS";

const UNNAMED_FILE: &str = "WITNESS.new";

const SYNC_EVERY: Duration = Duration::from_secs(1);

/// What an opening on a disk without room kept in memory and in RocksDB's own log.
struct Kept {
    looked: Instant,
    is_usual: bool,
}

/// The directory is locked while it is open; the lock goes with the last handle.
pub struct RocksStore {
    // The order of the fields is the order of closing: the directory is released last.
    db: DB,
    on_damage: Mutex<Option<Tell>>,
    /// `None` if it is open for reading only.
    witness: Option<Mutex<Witness>>,
    witnessed: Option<Vec<u8>>,
    kept: Option<Mutex<Kept>>,
    zeros_ahead: Mutex<ZerosAhead>,
    _owner: Option<File>,
}

type Tell = Box<dyn Fn(&str) + Send + Sync>;

fn tenant(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(*key.first_chunk()?))
}

impl RocksStore {
    /// The name of a new directory is durable then.
    pub fn open(dir: impl AsRef<Path>) -> Result<RocksStore, OpenError> {
        let dir = dir.as_ref();
        make_directory(dir).map_err(|error| failed_at(dir, &error))?;
        let owner = lock(dir)?;
        let witnessed = read_witness(dir).map_err(|error| failed_at(dir, &error))?;
        must_not_be_lost(dir)?;
        zeroed_end::cut_off(dir).map_err(|error| failed_at(dir, &error))?;
        let is_scarce = is_scarce(dir);
        let (options, families) = options::of_opening(is_scarce).map_err(|error| open_error(dir, &error))?;
        let db = DB::open_cf_with_opts(&options, dir, families)
            .map_err(|error| salvage::named(dir, open_error(dir, &error)))?;
        let witness = open_witness(dir, witnessed.is_none()).map_err(|error| failed_at(dir, &error))?;
        let kept = is_scarce.then(|| Mutex::new(Kept { looked: Instant::now(), is_usual: false }));
        let store = RocksStore::for_reading(db, witnessed);
        store
            .db
            .set_options_cf(store.family(Family::Index), &[UNCACHE_AGGRESSIVENESS, RANGES_MAX])
            .map_err(|error| open_error(dir, &error))?;
        Ok(RocksStore { witness: Some(Mutex::new(witness)), kept, _owner: Some(owner), ..store })
    }

    /// Called once, when RocksDB finds stored data wrong, with the file and the records in it as
    /// far as it names one. What is read after that may be refused or not.
    pub fn on_damage(&self, tell: impl Fn(&str) + Send + Sync + 'static) {
        *self.on_damage.lock().expect("nobody panics with it") = Some(Box::new(tell));
    }

    fn error(&self, error: rocksdb::Error) -> StoreError {
        let StoreError::Corrupt(why) = store_error(&error) else { return store_error(&error) };
        let why = format!("{why}{}", self.held_by(&why));
        let tell = self.on_damage.lock().expect("nobody panics with it").take();
        if let Some(tell) = tell {
            tell(&why);
        }
        StoreError::Corrupt(why)
    }

    /// What is in the table file that a text of RocksDB names, and whose it may be.
    pub(crate) fn held_by(&self, why: &str) -> String {
        let files = self.db.live_files().unwrap_or_default();
        let Some(file) = files.iter().find(|file| why.contains(file.name.trim_start_matches('/'))) else {
            return String::new();
        };
        let seq = |key: &Option<Vec<u8>>| Some(Seq::from_be_bytes(key.as_deref()?.try_into().ok()?));
        match (file.column_family_name.as_str(), seq(&file.start_key), seq(&file.end_key)) {
            ("log", Some(first), Some(last)) => {
                let next = files
                    .iter()
                    .filter(|other| other.column_family_name == "log")
                    .filter_map(|other| seq(&other.start_key).filter(|start| *start > last))
                    .min();
                let end = next.map_or(format!("at least {last}"), |next| (next - 1).to_string());
                format!("; the file holds the records {first} to {end}, of {}", self.concerned(first))
            }
            ("index", ..) => {
                "; the file holds a part of the index of all tenants, which is made anew from the records"
                    .to_owned()
            }
            (family, ..) => match [&file.start_key, &file.end_key].map(|key| tenant(key.as_deref()?)) {
                [Some(first), Some(last)] if family != "meta" => {
                    format!("; the file holds {family} of the tenant keys {first} to {last}")
                }
                _ => format!("; the file holds a part of the family {family}"),
            },
        }
    }

    /// The tenants that may have a record at `first` or later: a book that changed since its last snapshot gets
    /// another, so that one whose newest snapshot is older has none, but for the newest records, which no
    /// snapshot holds yet.
    fn concerned(&self, first: Seq) -> String {
        let mut newest = BTreeMap::<u64, Seq>::new();
        let mut cursor = self.db.raw_iterator_cf(self.family(Family::Snapshots));
        cursor.seek_to_first();
        while let Some(key) = cursor.key() {
            if let (Some(tenant), Some(seq)) = (tenant(key), key.get(8..).and_then(tenant)) {
                newest.insert(tenant, seq);
            }
            cursor.next();
        }
        newest.retain(|_, seq| *seq >= first);
        if newest.is_empty() || cursor.status().is_err() {
            return "any tenant".to_owned();
        }
        let shown: Vec<String> = newest.keys().take(TENANTS_SHOWN).map(u64::to_string).collect();
        let more = newest.len().saturating_sub(TENANTS_SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("the tenant keys {}{more} or of those without a snapshot since", shown.join(", "))
    }

    /// Reads everything, so that all checksums are checked.
    pub fn read_through(&self, mut progress: impl FnMut(u64)) -> Result<(), StoreError> {
        let mut entries = 0;
        for family in Family::ALL {
            let mut cursor = self.cursor(Scan::all(family).by(Way::Walk));
            cursor.first();
            while cursor.item().is_some() {
                entries += 1;
                if entries % 65_536 == 0 {
                    progress(entries);
                }
                cursor.next();
            }
            cursor.status()?;
        }
        Ok(())
    }

    /// Opens the database as it is now, beside a process that writes to it. That process may delete
    /// a file before this has opened it: then opening fails, and is to be tried again. Files that
    /// are open cannot vanish.
    pub fn open_read_only(dir: impl AsRef<Path>) -> Result<RocksStore, OpenError> {
        let dir = dir.as_ref();
        look_for_log(dir)?;
        // The witness is read first: the record that it names is then certainly in what is opened
        // next.
        let witnessed = read_witness(dir).map_err(|error| failed_at(dir, &error))?;
        let before = files_called(dir, "log")?;
        let db = open_for_reading(dir, &db_options())?;
        // RocksDB replays the log files that it finds. A log file that was flushed and deleted
        // after RocksDB looked for tables and before it looked for log files would be in neither.
        if !before.is_subset(&files_called(dir, "log")?) {
            return Err(OpenError::Store(StoreError::Failed(
                "a log file of RocksDB was deleted while it was opened for reading".into(),
            )));
        }
        Ok(RocksStore::for_reading(db, witnessed))
    }

    /// Only to find the place of the damage: whatever is wrong is left out.
    pub(crate) fn open_damaged(dir: &Path) -> Result<RocksStore, OpenError> {
        let witnessed = read_witness(dir).map_err(|error| failed_at(dir, &error))?;
        let mut options = db_options();
        // Records of RocksDB's own log after a bad one are read too: the first gap in the sequence
        // says where it is, also when a family was flushed later.
        options.set_wal_recovery_mode(DBRecoveryMode::SkipAnyCorruptedRecord);
        // The manifest's word on log files stays checked: with that off, RocksDB 11 dereferences
        // a null pointer here (`RecoveryContext` is missing when it opens for reading).
        options.set_paranoid_checks(false);
        Ok(RocksStore::for_reading(open_for_reading(dir, &options)?, witnessed))
    }

    /// Opens the database in `dir` whose list of files is damaged, by a new list in `scratch`, of what is there:
    /// tables are linked, the rest is copied, and nothing is changed in `dir`.
    pub(crate) fn open_listed_anew(dir: &Path, scratch: &Path) -> Result<RocksStore, OpenError> {
        let failed = |error: io::Error| failed_at(scratch, &error);
        let tables = files_called(dir, "sst")?;
        if tables.is_empty() {
            // RocksDB knows families by the tables that name them. An empty database has them under the same numbers.
            drop(RocksStore::open(scratch)?);
        } else {
            make_directory(scratch).map_err(failed)?;
        }
        let dir = fs::canonicalize(dir).map_err(|error| failed_at(dir, &error))?;
        for table in &tables {
            symlink(dir.join(table), scratch.join(table)).map_err(failed)?;
        }
        for log in &files_called(&dir, "log")? {
            let number: u64 =
                Path::new(log).file_stem().and_then(|stem| stem.to_str()?.parse().ok()).unwrap_or(0);
            // Later than what the empty database has logged itself.
            let number = if tables.is_empty() { number + NUMBERED_ANEW } else { number };
            fs::copy(dir.join(log), scratch.join(format!("{number:06}.log"))).map_err(failed)?;
        }
        let witnessed = read_witness(&dir).map_err(failed)?;
        let mut options = db_options();
        options.set_wal_recovery_mode(DBRecoveryMode::SkipAnyCorruptedRecord);
        options.set_track_and_verify_wals_in_manifest(false);
        if !tables.is_empty() {
            DB::repair(&options, scratch).map_err(|error| open_error(scratch, &error))?;
        }
        let db = options::of_opening(false)
            .and_then(|(_, families)| DB::open_cf_with_opts(&options, scratch, families))
            .map_err(|error| open_error(scratch, &error))?;
        Ok(RocksStore::for_reading(db, witnessed))
    }

    fn for_reading(db: DB, witnessed: Option<Vec<u8>>) -> RocksStore {
        RocksStore {
            db,
            on_damage: Mutex::default(),
            witness: None,
            witnessed,
            kept: None,
            zeros_ahead: Mutex::default(),
            _owner: None,
        }
    }

    /// Once the disk has room, writes what a start on a full disk kept in memory, and again
    /// whenever RocksDB's own log is long, as it was told to have no bound. A failure is no
    /// write's: everything is in the log.
    fn let_go(&self, kept: &Mutex<Kept>) {
        let Ok(mut kept) = kept.try_lock() else { return };
        if kept.looked.elapsed() < LOOK_EVERY {
            return;
        }
        kept.looked = Instant::now();
        if is_scarce(self.db.path()) {
            return;
        }
        if let Err(error) = self.make_usual(&mut kept) {
            tracing::warn!(%error, "what a start on a full disk kept in memory does not go to files yet");
        }
    }

    fn make_usual(&self, kept: &mut Kept) -> Result<(), rocksdb::Error> {
        if !kept.is_usual {
            for family in Family::ALL {
                let bytes = options::write_buffer_bytes(family).to_string();
                self.db.set_options_cf(self.family(family), &[("write_buffer_size", &bytes)])?;
            }
            kept.is_usual = true;
            tracing::info!(
                "the disk has room again: what a start on a full disk kept in memory goes to files"
            );
        }
        if options::log_bytes(self.db.path()) > WAL_BYTES_MAX {
            for family in Family::ALL {
                self.db.flush_cf_opt(self.family(family), &begun())?;
            }
        }
        Ok(())
    }

    /// Begins to flush the index, if there is much in memory: what a removed range covers there would be stepped
    /// over one by one by whoever reads, and is left out of a file. A failure is no write's.
    fn flush_removed(&self) {
        let index = self.family(Family::Index);
        let in_memory = self.db.property_int_value_cf(index, CUR_SIZE_ACTIVE_MEM_TABLE).ok().flatten();
        if in_memory.is_none_or(|bytes| bytes < RANGES_FLUSH_BYTES) {
            return;
        }
        if let Err(error) = self.db.flush_cf_opt(index, &begun()) {
            tracing::warn!(%error, "what was removed from the index stays in memory for now");
        }
    }

    fn family(&self, family: Family) -> &ColumnFamily {
        self.db.cf_handle(Family::NAMES[family as usize]).expect("every family was opened")
    }
}

impl Store for RocksStore {
    fn write(&self, batch: &Batch) -> Result<(), StoreError> {
        match &self.kept {
            Some(kept) => self.let_go(kept),
            None => {
                let mut zeros = self.zeros_ahead.lock().expect("nobody panics with it");
                zeros.make_room(self.db.path(), batch.bytes.len());
            }
        }
        let mut write = WriteBatch::with_capacity_bytes(batch.bytes.len() + 64);
        let mut removes_ranges = false;
        let (ops, places) = batch::sorted(batch);
        let mut of = (Family::Log, self.family(Family::Log));
        for (_, at) in places {
            let op = &ops[at];
            if op.family != of.0 {
                of = (op.family, self.family(op.family));
            }
            let family = of.1;
            match (op.value, op.until) {
                (Some(value), _) => write.put_cf(family, op.key, value),
                (None, None) => write.delete_cf(family, op.key),
                (None, Some(until)) => {
                    write.delete_range_cf(family, op.key, until);
                    removes_ranges = true;
                }
            }
        }
        let mut synced = WriteOptions::default();
        synced.set_sync(true); // every write, the point of it all
        self.db.write_opt(write, &synced).map_err(|error| self.error(error))?;
        if removes_ranges && self.kept.is_none() {
            self.flush_removed();
        }
        Ok(())
    }

    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.db.get_cf(self.family(family), key).map_err(|error| self.error(error))
    }

    fn cursor(&self, scan: Scan) -> Box<dyn StoreCursor + '_> {
        let family = self.family(scan.family);
        Box::new(RocksCursor { store: self, inner: self.db.raw_iterator_cf_opt(family, read_options(scan)) })
    }

    fn moment(&self) -> Box<dyn StoreMoment + '_> {
        Box::new(RocksMoment { store: self, snapshot: self.db.snapshot() })
    }

    fn witness(&self, note: &[u8]) -> Result<(), StoreError> {
        let Some(witness) = &self.witness else {
            return Err(StoreError::Failed("the store is open for reading only".into()));
        };
        let mut witness = witness.lock().expect("nobody panics with it");
        let noted = match &mut *witness {
            None => name_witness(self.db.path(), note).map(|file| *witness = Some((file, Instant::now()))),
            Some((file, synced_at)) => match file.write_all_at(note, 0) {
                Ok(()) if synced_at.elapsed() >= SYNC_EVERY => {
                    *synced_at = Instant::now();
                    file.sync_data()
                }
                noted => noted,
            },
        };
        noted.map_err(|error| StoreError::Failed(format!("the witness cannot be written: {error}")))
    }

    fn witnessed(&self) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.witnessed.clone())
    }

    fn checkpoint(&self, dir: &Path, note: &[u8]) -> Result<(), StoreError> {
        let checkpoint = Checkpoint::new(&self.db).map_err(|error| self.error(error))?;
        checkpoint.create_checkpoint(dir).map_err(|error| self.error(error))?;
        name_witness(dir, note).map(drop).map_err(|error| {
            StoreError::Failed(format!("the witness of the checkpoint cannot be written: {error}"))
        })
    }

    fn close(&self) -> Result<(), StoreError> {
        // Everything is durable already; with the memtables on disk the next opening has nothing to
        // replay.
        if !is_scarce(self.db.path()) {
            for family in Family::ALL {
                self.db.flush_cf(self.family(family)).map_err(|error| self.error(error))?;
            }
        }
        let Some(witness) = &self.witness else { return Ok(()) };
        match &*witness.lock().expect("nobody panics with it") {
            Some((file, _)) => file
                .sync_data()
                .map_err(|error| StoreError::Failed(format!("the witness cannot be synced: {error}"))),
            None => Ok(()),
        }
    }
}

fn open_for_reading(dir: &Path, options: &Options) -> Result<DB, OpenError> {
    options::of_opening(false)
        .and_then(|(_, families)| DB::open_cf_with_opts_for_read_only(options, dir, families, false))
        .map_err(|error| open_error(dir, &error))
}

fn begun() -> FlushOptions {
    let mut options = FlushOptions::default();
    options.set_wait(false);
    options
}

fn read_options(scan: Scan) -> ReadOptions {
    let mut options = ReadOptions::default();
    if let Some(from) = scan.from {
        options.set_iterate_lower_bound(from);
    }
    if let Some(to) = scan.to {
        options.set_iterate_upper_bound(to);
    }
    options.fill_cache(scan.way == Way::Look);
    if scan.way == Way::Walk {
        options.set_readahead_size(2 * MIB);
    }
    // For RocksDB none is no bound.
    options.set_max_skippable_internal_keys(scan.passes_max.map_or(0, |most| most.max(1)));
    options
}

struct RocksMoment<'a> {
    store: &'a RocksStore,
    snapshot: Snapshot<'a>,
}

impl StoreMoment for RocksMoment<'_> {
    fn cursor(&self, scan: Scan) -> Box<dyn StoreCursor + '_> {
        let family = self.store.family(scan.family);
        let inner = self.snapshot.raw_iterator_cf_opt(family, read_options(scan));
        Box::new(RocksCursor { store: self.store, inner })
    }
}

struct RocksCursor<'a> {
    store: &'a RocksStore,
    inner: DBRawIterator<'a>,
}

impl StoreCursor for RocksCursor<'_> {
    fn first(&mut self) {
        self.inner.seek_to_first();
    }
    fn last(&mut self) {
        self.inner.seek_to_last();
    }
    fn seek(&mut self, key: &[u8]) {
        self.inner.seek(key);
    }
    fn seek_back(&mut self, key: &[u8]) {
        self.inner.seek_for_prev(key);
    }
    fn next(&mut self) {
        self.inner.next();
    }
    fn prev(&mut self) {
        self.inner.prev();
    }
    fn item(&self) -> Option<Item<'_>> {
        self.inner.item()
    }
    fn status(&self) -> Result<(), StoreError> {
        self.inner.status().map_err(|error| self.store.error(error))
    }
}

pub(crate) fn files_called(dir: &Path, ending: &str) -> Result<BTreeSet<OsString>, OpenError> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(dir).map_err(|error| failed_at(dir, &error))? {
        let name = entry.map_err(|error| failed_at(dir, &error))?.file_name();
        if Path::new(&name).extension().is_some_and(|extension| extension == ending) {
            files.insert(name);
        }
    }
    Ok(files)
}

/// Tells a directory without a log apart from one that may not be read, and from a log whose list of files is gone.
fn look_for_log(dir: &Path) -> Result<(), OpenError> {
    let current = dir.join("CURRENT");
    match fs::metadata(&current) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed_at(&current, &error)),
        Err(_) if dir.is_dir() => {
            must_not_be_lost(dir)?;
            Err(OpenError::NotFound { path: dir.to_owned() })
        }
        Err(_) => Err(OpenError::NotFound { path: dir.to_owned() }),
    }
}

/// Without `CURRENT` RocksDB makes a new database, and then removes the tables of the old one.
fn must_not_be_lost(dir: &Path) -> Result<(), OpenError> {
    let is_there = !files_called(dir, "sst")?.is_empty() || !files_called(dir, "log")?.is_empty();
    match dir.join("CURRENT").exists() || !is_there {
        true => Ok(()),
        false => {
            let why = "the file CURRENT is gone, and with it the list of RocksDB's files, which a salvage makes anew";
            Err(Damage::new(1, why).into())
        }
    }
}

fn lock(dir: &Path) -> Result<File, OpenError> {
    let path = dir.join(OWNER_FILE);
    let fail = |error| failed_at(&path, &error);
    let mut file =
        File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(fail)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            let pid = file.read_to_string(&mut pid).ok().and_then(|_| pid.trim().parse().ok());
            return Err(OpenError::InUse { path: dir.to_owned(), pid });
        }
        Err(TryLockError::Error(error)) => return Err(fail(error)),
    }
    file.set_len(0).map_err(fail)?;
    writeln!(file, "{}", std::process::id()).map_err(fail)?;
    Ok(file)
}

fn failed_at(path: &Path, error: &io::Error) -> OpenError {
    let text = format!("{}: {error}", path.display());
    OpenError::Store(match error.kind() {
        io::ErrorKind::StorageFull => StoreError::Full(text),
        _ => StoreError::Failed(text),
    })
}

fn open_error(dir: &Path, error: &rocksdb::Error) -> OpenError {
    let text: &str = error.as_ref();
    // A tool that does not know our own lock holds RocksDB's.
    if error.kind() == ErrorKind::IOError && text.contains("lock") && text.contains("LOCK") {
        return OpenError::InUse { path: PathBuf::from(dir), pid: None };
    }
    OpenError::Store(if is_damage(error) {
        StoreError::Corrupt(error.to_string())
    } else {
        store_error(error)
    })
}

/// Whether an error of an opening says that what is stored is not what was written: a wrong byte, or a file that
/// another names and that is not there.
pub fn is_damage(error: &rocksdb::Error) -> bool {
    match error.kind() {
        ErrorKind::Corruption => true,
        ErrorKind::IOError => AsRef::<str>::as_ref(error).contains("No such file or directory"),
        _ => false,
    }
}

fn store_error(error: &rocksdb::Error) -> StoreError {
    let text = error.to_string();
    match error.kind() {
        ErrorKind::Incomplete => StoreError::PassedTooMany,
        ErrorKind::Corruption => StoreError::Corrupt(text),
        ErrorKind::IOError if text.contains("No space left") => StoreError::Full(text),
        _ => StoreError::Failed(text),
    }
}

/// The witness file beside the database: the last tip that may have been acknowledged, overwritten
/// in place after every synced write, and synced itself once a second and at the end. It is never
/// ahead of the log; so a log that ends before it has lost records. It survives a killed process,
/// and a power cut up to the last second: its name comes when its first note is durable, and all of
/// it lies in one sector of the disk. Its bytes are drawn in the header of the crate. `None` until it has its name.
type Witness = Option<(File, Instant)>;

/// `None` if the file is absent or was only just created.
fn read_witness(dir: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(dir.join(WITNESS_FILE)) {
        Ok(note) if note.is_empty() => Ok(None),
        Ok(note) => Ok(Some(note)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A file that is absent or empty is made anew by the first note.
fn open_witness(dir: &Path, is_new: bool) -> io::Result<Witness> {
    if is_new {
        return Ok(None);
    }
    let file = File::options().write(true).open(dir.join(WITNESS_FILE))?;
    file.sync_all()?;
    File::open(dir)?.sync_all()?;
    Ok(Some((file, Instant::now())))
}

fn name_witness(dir: &Path, note: &[u8]) -> io::Result<File> {
    let file = File::create(dir.join(UNNAMED_FILE))?;
    file.write_all_at(note, 0)?;
    file.sync_all()?;
    fs::rename(dir.join(UNNAMED_FILE), dir.join(WITNESS_FILE))?;
    File::open(dir)?.sync_all()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_has_its_name_when_its_first_note_is_whole() {
        let dir = tempfile::tempdir().expect("a directory");
        // An empty file is what an earlier program left when its first start lost power.
        fs::write(dir.path().join(WITNESS_FILE), b"").expect("written");
        let note = |store: &RocksStore, note: &[u8]| {
            store.witness(note).expect("noted");
            assert_eq!(read_witness(dir.path()).expect("read").as_deref(), Some(note));
            assert!(!dir.path().join(UNNAMED_FILE).exists());
        };
        let store = RocksStore::open(dir.path()).expect("opened");
        assert_eq!(read_witness(dir.path()).expect("read"), None, "nothing that is less than a note");
        note(&store, b"first");
        note(&store, b"other");
        drop(store);
        note(&RocksStore::open(dir.path()).expect("opened"), b"third");
    }
}
