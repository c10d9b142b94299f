//! Copies of a whole data directory, and their restoration. A copy is a data directory itself: the
//! log by a checkpoint of its store (files that never change are linked on the same disk, copied to
//! another), then what lies beside it; then the marker, which says that the copy is whole and where
//! it ends. The log comes first: then the simulated bank's books hold at least every order that the
//! log has sent.

use super::directory::halted::HALTED_FILE;
use super::directory::{
    self, BALLAST_FILE, CARD_KEY_FILE, CLUSTER_FILE, DAMAGED_FILE, ENDED_BADLY_FILE, LOG_DIRECTORY,
    copy_beside_log,
};
use super::restored_copy::{MARKER, RestoredCopy};
use super::{Failed, Progress, at};
use crate::config::TOKEN_FILE;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use wal::{Config, Log, OWNER_FILE, OpenError, Reader, ReportTo, RocksStore, StoreError, Tip};

const BACKUP: &str = "backup";
const COPY_BYTES: usize = 1 << 20;

/// `checkpoint` copies the log to the path that it is given.
pub fn copy(
    from: &Path,
    into: &Path,
    checkpoint: impl FnOnce(&Path) -> Result<(), StoreError>,
    progress: Progress<'_>,
) -> Result<Tip, Failed> {
    directory::make_empty(into)?;
    let past = RestoredCopy::begun(BACKUP);
    past.write(into)?;
    let log = into.join(LOG_DIRECTORY);
    progress("log", 0, 0);
    checkpoint(&log).map_err(|error| Failed::checkpoint(&log, error))?;
    copy_beside_log(from, into, false, progress)?;
    // The copy is opened once, to prove that it opens.
    let tip = Reader::open_read_only(&log)?.tip();
    past.whole_up_to(tip).write(into)?;
    Ok(tip)
}

pub(super) fn must_have_log(path: &Path) -> Result<(), Failed> {
    match path.join("CURRENT").is_file() {
        true => Ok(()),
        false => Err(OpenError::NotFound { path: path.to_owned() }.into()),
    }
}

/// `None` if a server uses the directory.
pub fn copy_of_stopped(from: &Path, into: &Path, progress: Progress<'_>) -> Result<Option<Tip>, Failed> {
    RestoredCopy::must_be_whole(from)?;
    let path = from.join(LOG_DIRECTORY);
    must_have_log(&path)?;
    let store = match RocksStore::open(&path) {
        Ok(store) => store,
        Err(OpenError::InUse { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let log = Log::<ReportTo>::open(Box::new(store), Config::default())?;
    let tip = copy(from, into, |to| log.reader().checkpoint(to), progress)?;
    log.close();
    Ok(Some(tip))
}

/// File by file, so that neither depends on the other's disk. It ends where the copy says that it
/// ends, and is refused by every start until `prove` has read it.
pub fn restore(
    from: &Path,
    into: &Path,
    progress: Progress<'_>,
    prove: impl FnOnce(&Reader) -> Result<(), Failed>,
) -> Result<Tip, Failed> {
    let copied = RestoredCopy::must_be_whole(from)?;
    must_have_log(&from.join(LOG_DIRECTORY))?;
    directory::make_empty(into)?;
    let past = RestoredCopy::begun("restore");
    past.write(into)?;
    let mut files = Vec::new();
    list(from, Path::new(""), &mut files)?;
    files.retain(|(file, _)| !OWN.into_iter().any(|own| file.ends_with(own)));
    let all: u64 = files.iter().map(|(_, bytes)| bytes).sum();
    let mut done = 0;
    for (file, bytes) in &files {
        copy_file(&from.join(file), &into.join(file))?;
        done += bytes;
        progress("copy", done, all);
    }
    let folders: BTreeSet<&Path> = files.iter().filter_map(|(file, _)| file.parent()).collect();
    for folder in folders {
        directory::sync(&into.join(folder))?;
    }
    let reader = Reader::open_read_only(into.join(LOG_DIRECTORY))?;
    let tip = reader.tip();
    if let Some(expected) = copied.and_then(|past| past.tip)
        && expected != tip
    {
        let why = format!("ends with record {}, but its marker says {}", tip.seq, expected.seq);
        return Err(Failed::refused(from, why));
    }
    directory::prove_beside_log(into)?;
    prove(&reader)?;
    drop(reader);
    past.whole_up_to(tip).write(into)?;
    Ok(tip)
}

/// They belong to one server alone: a copy that kept `CLUSTER` would be taken for the node that it
/// was copied from.
const OWN: [&str; 10] = [
    MARKER,
    ENDED_BADLY_FILE,
    DAMAGED_FILE,
    HALTED_FILE,
    BALLAST_FILE,
    CARD_KEY_FILE,
    TOKEN_FILE,
    CLUSTER_FILE,
    OWNER_FILE,
    "LOCK",
];

/// The files in `root` and their lengths, by their paths in it.
pub fn list(root: &Path, inside: &Path, files: &mut Vec<(PathBuf, u64)>) -> Result<(), Failed> {
    let directory = root.join(inside);
    for entry in fs::read_dir(&directory).map_err(at(&directory))? {
        let entry = entry.map_err(at(&directory))?;
        let (path, kind) = (inside.join(entry.file_name()), entry.file_type().map_err(at(&directory))?);
        if kind.is_dir() {
            list(root, &path, files)?;
        } else if kind.is_file() {
            files.push((path, entry.metadata().map_err(at(&directory))?.len()));
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> Result<(), Failed> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(at(parent))?;
    }
    let mut input = File::open(from).map_err(at(from))?;
    // The file is readable for its owner only, whatever modes the copy got on its way.
    let mut output = File::options().write(true).create_new(true).mode(0o600).open(to).map_err(at(to))?;
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        let read = input.read(&mut buffer).map_err(at(from))?;
        if read == 0 {
            return output.sync_all().map_err(at(to));
        }
        output.write_all(&buffer[..read]).map_err(at(to))?;
    }
}

/// Among a directory itself and those in it. One that was restored or replayed does not count: it
/// may have gone on since.
pub fn newest(directory: &Path) -> Result<PathBuf, Failed> {
    let mut found = Vec::new();
    let inside = fs::read_dir(directory).map_err(at(directory))?.flatten().map(|entry| entry.path());
    for path in inside.chain([directory.to_path_buf()]) {
        if let Some(RestoredCopy { made_at, made_by, tip: Some(_) }) =
            RestoredCopy::read(&path).ok().flatten()
            && made_by == BACKUP
        {
            found.push((made_at, path));
        }
    }
    let newest = found.into_iter().max().map(|(_, path)| path);
    newest.ok_or_else(|| Failed::refused(directory, "is no finished backup, nor is there one in it"))
}
