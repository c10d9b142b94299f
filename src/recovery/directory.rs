//! The parts of a data directory: the log, the secret of keyed hashes, and the stores beside the
//! log, each a RocksDB. Stores are copied entry by entry from a read-only view, so that their
//! writers go on, and so that a new store is copied without a change here.

pub mod halted;

use super::{Failed, Progress, at};
use rocksdb::{DB, IteratorMode, Options, WriteBatch, WriteOptions};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wal::OpenError;

pub const LOG_DIRECTORY: &str = "log";
/// The simulated bank's books: another party's, so not in the log.
pub const SIMULATOR_DIRECTORY: &str = "simulator";
/// Prices are no money, so not in the log.
pub const RATES_DIRECTORY: &str = "rates";
/// No copy has it.
pub const REQUESTS_DIRECTORY: &str = "requests";
/// Derived, so no copy has it.
pub const RECONCILIATIONS_DIRECTORY: &str = "reconciliations";
pub const MARK_KEY_FILE: &str = "mark.key";
/// The mode of files that their owner alone reads, and of those that others may read.
const SECRET: u32 = 0o600;
pub const PLAIN: u32 = 0o644;
/// The secret's fingerprint: without it a damaged secret, or another directory's, would be accepted.
pub const MARK_CHECK_FILE: &str = "mark.check";
/// The key of cards' hashes, which the configuration may have elsewhere. No copy has it, so that a
/// copy does not help to try out card numbers.
pub const CARD_KEY_FILE: &str = "card.key";
/// Why the last run ended itself. No copy has it.
pub const ENDED_BADLY_FILE: &str = "ENDED_BADLY";
/// The last run met damage. No copy has it.
pub const DAMAGED_FILE: &str = "DAMAGED";
/// Which cluster the directory belongs to, and as which node. No copy has it.
pub const CLUSTER_FILE: &str = "CLUSTER";
/// Room for a start on a full disk. No copy has it.
pub const BALLAST_FILE: &str = "ballast";
pub const MARK_KEY_BYTES: usize = 32;

const DEFAULT_FAMILY: &str = "default";
const GROUP_BYTES: usize = 1 << 20;
/// The owner may flush the store meanwhile and delete a file: then it is opened again.
const OPEN_ATTEMPTS: u32 = 16;
const OPEN_PAUSE: Duration = Duration::from_millis(20);

pub fn make_empty(directory: &Path) -> Result<(), Failed> {
    wal::make_directory(directory).map_err(at(directory))?;
    match fs::read_dir(directory).map_err(at(directory))?.next() {
        None => Ok(()),
        Some(_) => Err(Failed::refused(directory, "is not empty; name a new directory")),
    }
}

/// The log is copied before: so the simulated bank's books are never older than the log's orders,
/// and the bank knows every order that it was sent. Returns why each damaged store was left out, if one may be.
pub fn copy_beside_log(
    from: &Path,
    to: &Path,
    leave_out: bool,
    progress: Progress<'_>,
) -> Result<Vec<Failed>, Failed> {
    if let Some(key) = read_mark_key(from)? {
        write_mark_key(to, &key)?;
    }
    let mut left_out = Vec::new();
    for store in stores(from)? {
        match copy_store(from, to, &store, progress) {
            Err(failed) if leave_out && failed.is_damage() => {
                fs::remove_dir_all(to.join(&store)).map_err(at(to))?;
                left_out.push(failed);
            }
            copied => copied?,
        }
    }
    Ok(left_out)
}

/// Reads all that lies beside the log, so that what is wrong is refused.
pub fn prove_beside_log(directory: &Path) -> Result<(), Failed> {
    read_mark_key(directory)?;
    stores(directory)?.iter().try_for_each(|store| each_entry(&directory.join(store), &mut |_, _, _| Ok(())))
}

fn copy_store(from: &Path, to: &Path, store: &str, progress: Progress<'_>) -> Result<(), Failed> {
    let mut copy = StoreCopy::new(&to.join(store))?;
    let mut copied = 0;
    each_entry(&from.join(store), &mut |family, key, value| {
        copied += 1;
        if copied % 65_536 == 0 {
            progress("stores beside the log", copied, 0);
        }
        copy.put(family, key, value)
    })?;
    copy.finish()
}

/// In a directory without a log the secret is made, so that it is on the disk before the log; a log
/// whose secret is gone is refused, because under another one webhooks would be signed with other
/// secrets, checkout links and deposit addresses would differ, and no repeated request would be
/// recognised.
pub fn mark_key(directory: &Path) -> Result<[u8; MARK_KEY_BYTES], Failed> {
    let Some(key) = read_mark_key(directory)? else {
        if has_log(directory) {
            return Err(bad_mark_key(directory, "is missing beside a log that was written with it"));
        }
        let key = make_key(&directory.join(MARK_KEY_FILE))?;
        write_mark_check(directory, &key)?;
        return Ok(key);
    };
    // The directory is older than fingerprints. On a full disk the fingerprint waits for the next start.
    if !directory.join(MARK_CHECK_FILE).exists()
        && let Err(why) = write_mark_check(directory, &key)
    {
        tracing::warn!(%why, "a damaged {MARK_KEY_FILE} would not be noticed");
    }
    Ok(key)
}

/// Made where there is none, even beside a log: then the repeat of an earlier card payment reads as
/// another payload, which is refused and charges nobody.
pub fn card_key(directory: &Path, file: Option<&Path>) -> Result<[u8; MARK_KEY_BYTES], Failed> {
    let path = card_key_path(directory, file);
    if let Some(key) = read_card_key(directory, file)? {
        return Ok(key);
    }
    let key = make_key(&path)?;
    if has_log(directory) {
        tracing::warn!(file = %path.display(), "a new key of cards' hashes was made beside an older log: \
            repeats of earlier card payments are refused as other payloads");
    }
    Ok(key)
}

pub fn card_key_path(directory: &Path, file: Option<&Path>) -> PathBuf {
    file.map_or_else(|| directory.join(CARD_KEY_FILE), Path::to_path_buf)
}

pub fn read_card_key(directory: &Path, file: Option<&Path>) -> Result<Option<[u8; MARK_KEY_BYTES]>, Failed> {
    let path = card_key_path(directory, file);
    let Some(key) = read(&path)? else { return Ok(None) };
    let why = || format!("is not {MARK_KEY_BYTES} bytes long; remove it or bring the right one");
    key.try_into().map(Some).map_err(|_| Failed::Key { path, why: why() })
}

fn make_key(path: &Path) -> Result<[u8; MARK_KEY_BYTES], Failed> {
    let mut key = [0; MARK_KEY_BYTES];
    getrandom::fill(&mut key).map_err(no_randomness)?;
    write_whole(path, SECRET, &key)?;
    Ok(key)
}

pub fn no_randomness(why: getrandom::Error) -> Failed {
    Failed::NotDone(format!("no randomness: {why}"))
}

/// Refuses a secret that is not what its fingerprint says: a copy would have a fingerprint of its own, by which a
/// wrong secret would look right.
pub fn read_mark_key(directory: &Path) -> Result<Option<[u8; MARK_KEY_BYTES]>, Failed> {
    let Some(key) = read(&directory.join(MARK_KEY_FILE))? else { return Ok(None) };
    let Ok(key) = <[u8; MARK_KEY_BYTES]>::try_from(key) else {
        return Err(bad_mark_key(directory, &format!("is not {MARK_KEY_BYTES} bytes long")));
    };
    if read(&directory.join(MARK_CHECK_FILE))?.is_some_and(|check| check != mark_check(&key)) {
        let why = format!("is not the one that this log was written with, or {MARK_CHECK_FILE} is damaged");
        return Err(bad_mark_key(directory, &why));
    }
    Ok(Some(key))
}

fn bad_mark_key(directory: &Path, why: &str) -> Failed {
    let advice = match has_log(directory) {
        true => "bring the one that belongs to this log from a backup",
        false => "there is no log yet: remove it and start again",
    };
    Failed::Key { path: directory.join(MARK_KEY_FILE), why: format!("{why}; {advice}") }
}

/// In the log's own directory.
pub(super) fn must_have_log(path: &Path) -> Result<(), Failed> {
    match path.join("CURRENT").is_file() {
        true => Ok(()),
        false => Err(OpenError::NotFound { path: path.to_owned() }.into()),
    }
}

/// Whether there is a log, also one whose list of files is gone.
fn has_log(directory: &Path) -> bool {
    let files = fs::read_dir(directory.join(LOG_DIRECTORY)).into_iter().flatten().flatten();
    files
        .map(|file| file.path())
        .any(|path| path.ends_with("CURRENT") || path.extension().is_some_and(|ending| ending == "sst"))
}

pub fn read(path: &Path) -> Result<Option<Vec<u8>>, Failed> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at(path)(error)),
    }
}

pub fn write_mark_key(directory: &Path, key: &[u8]) -> Result<(), Failed> {
    write_whole(&directory.join(MARK_KEY_FILE), SECRET, key)?;
    write_mark_check(directory, key)
}

/// The secrets of one directory for another that has none yet.
pub fn copy_keys(from: &Path, to: &Path) -> Result<(), Failed> {
    if read_mark_key(to)?.is_none()
        && let Some(key) = read_mark_key(from)?
    {
        write_mark_key(to, &key)?;
    }
    match (read_card_key(to, None)?, read_card_key(from, None)?) {
        (None, Some(key)) => write_whole(&card_key_path(to, None), SECRET, &key),
        _ => Ok(()),
    }
}

fn write_mark_check(directory: &Path, key: &[u8]) -> Result<(), Failed> {
    write_whole(&directory.join(MARK_CHECK_FILE), SECRET, &mark_check(key))
}

/// Identifies the secret and reveals nothing of it.
pub fn fingerprint(key: &[u8]) -> String {
    let digest = Sha256::new().chain_update(b"pasarela mark.check 1").chain_update(key).finalize();
    hex::encode(&digest[..16])
}

fn mark_check(key: &[u8]) -> Vec<u8> {
    format!("{}\n", fingerprint(key)).into_bytes()
}

/// Whole from its first moment: half a key would stop every later start.
pub fn write_whole(path: &Path, mode: u32, bytes: &[u8]) -> Result<(), Failed> {
    let part = path.with_added_extension("new");
    gone(&part, fs::remove_file)?;
    let mut file = File::options().write(true).create_new(true).mode(mode).open(&part).map_err(at(&part))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(at(&part))?;
    fs::rename(&part, path).map_err(at(path))?;
    sync_parent(path)
}

/// So that the name of a file survives a power cut.
pub(super) fn sync_parent(path: &Path) -> Result<(), Failed> {
    sync(path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

pub(super) fn sync(directory: &Path) -> Result<(), Failed> {
    File::open(directory).and_then(|opened| opened.sync_all()).map_err(at(directory))
}

/// Also if it was not there.
pub(super) fn gone<'p>(
    path: &'p Path,
    remove: impl FnOnce(&'p Path) -> io::Result<()>,
) -> Result<(), Failed> {
    match remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(path)(error)),
        _ => Ok(()),
    }
}

pub fn stores(directory: &Path) -> Result<Vec<String>, Failed> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(at(directory))? {
        let entry = entry.map_err(at(directory))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_store = entry.path().join("CURRENT").is_file();
        if name != LOG_DIRECTORY && name != REQUESTS_DIRECTORY && is_store {
            found.push(name);
        }
    }
    found.sort_unstable();
    Ok(found)
}

type EachEntry<'a> = &'a mut dyn FnMut(&str, &[u8], &[u8]) -> Result<(), Failed>;

/// As the store is now, while its owner may write to it.
pub fn each_entry(store: &Path, each: EachEntry<'_>) -> Result<(), Failed> {
    let failed = failed(store);
    let (db, families) = open_for_reading(store).map_err(&failed)?;
    for family in &families {
        let Some(handle) = db.cf_handle(family) else { continue };
        for entry in db.iterator_cf(handle, IteratorMode::Start) {
            let (key, value) = entry.map_err(&failed)?;
            each(family, &key, &value)?;
        }
    }
    Ok(())
}

fn open_for_reading(store: &Path) -> Result<(DB, Vec<String>), rocksdb::Error> {
    let mut attempt = 1;
    loop {
        let mut options = Options::default();
        options.set_max_open_files(-1); // what is opened cannot vanish
        let opened = DB::list_cf(&options, store).and_then(|families| {
            Ok((DB::open_cf_for_read_only(&options, store, &families, false)?, families))
        });
        match opened {
            Err(_) if attempt < OPEN_ATTEMPTS => attempt += 1,
            opened => return opened,
        }
        std::thread::sleep(OPEN_PAUSE);
    }
}

pub struct StoreCopy {
    db: DB,
    group: WriteBatch,
    unlogged: WriteOptions,
    path: PathBuf,
}

impl StoreCopy {
    pub fn new(path: &Path) -> Result<StoreCopy, Failed> {
        let mut options = Options::default();
        options.create_if_missing(true);
        // The default family is named here, so that `cf_handle` finds it like every other.
        let db = DB::open_cf(&options, path, [DEFAULT_FAMILY]).map_err(failed(path))?;
        let mut unlogged = WriteOptions::default();
        unlogged.disable_wal(true); // `finish` writes it to files
        Ok(StoreCopy { db, group: WriteBatch::default(), unlogged, path: path.to_owned() })
    }

    pub fn put(&mut self, family: &str, key: &[u8], value: &[u8]) -> Result<(), Failed> {
        if self.db.cf_handle(family).is_none() {
            self.db.create_cf(family, &Options::default()).map_err(failed(&self.path))?;
        }
        if let Some(handle) = self.db.cf_handle(family) {
            self.group.put_cf(handle, key, value);
        }
        if self.group.size_in_bytes() < GROUP_BYTES { Ok(()) } else { self.write() }
    }

    pub fn finish(mut self) -> Result<(), Failed> {
        self.write()?;
        let families = DB::list_cf(&Options::default(), &self.path).map_err(failed(&self.path))?;
        for handle in families.iter().filter_map(|family| self.db.cf_handle(family)) {
            self.db.flush_cf(handle).map_err(failed(&self.path))?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), Failed> {
        let group = std::mem::take(&mut self.group);
        self.db.write_opt(group, &self.unlogged).map_err(failed(&self.path))
    }
}

fn failed(store: &Path) -> impl Fn(rocksdb::Error) -> Failed {
    move |error| {
        let is_damage = wal::is_damage(&error);
        Failed::At { path: store.to_owned(), source: error.into(), is_damage }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_is_made_before_the_log_and_never_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let (path, log) = (directory.path().join(MARK_KEY_FILE), directory.path().join(LOG_DIRECTORY));
        let refused = || mark_key(directory.path()).expect_err("refused").to_string();
        let made = mark_key(directory.path()).expect("made");
        assert_eq!(mark_key(directory.path()).expect("readable"), made);
        fs::write(&path, [9; MARK_KEY_BYTES]).expect("written");
        assert!(refused().contains("is not the one"), "{}", refused());
        // The directory is from before there was a check file: one is made, and holds from then on.
        fs::remove_file(directory.path().join(MARK_CHECK_FILE)).expect("removed");
        assert_eq!(mark_key(directory.path()).expect("readable"), [9; MARK_KEY_BYTES]);
        fs::write(&path, made).expect("written");
        assert!(refused().contains("is not the one"), "{}", refused());
        fs::write(&path, b"half").expect("written");
        assert!(refused().contains("remove it and start again"), "{}", refused());
        fs::create_dir(&log).expect("a directory");
        fs::write(log.join("CURRENT"), b"").expect("written");
        assert!(refused().contains("is not 32 bytes long; bring the one"), "{}", refused());
        fs::remove_file(&path).expect("removed");
        assert!(refused().contains("is missing beside a log"), "{}", refused());
        assert!(!path.exists(), "none is made");
        fs::rename(log.join("CURRENT"), log.join("000012.sst")).expect("renamed");
        assert!(refused().contains("is missing beside a log"), "{}", refused());
        assert!(!path.exists(), "none is made beside tables without their list");
    }
}
