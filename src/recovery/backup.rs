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
use super::{Failed, Progress, at, sets};
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
    copy_of_several(1, from, into, checkpoint, progress)
}

/// Of the first of so many partitions. Until [`sets::complete`] brings the others, the copy is one that lacks them.
pub fn copy_of_several(
    partitions: u8,
    from: &Path,
    into: &Path,
    checkpoint: impl FnOnce(&Path) -> Result<(), StoreError>,
    progress: Progress<'_>,
) -> Result<Tip, Failed> {
    directory::make_empty(into)?;
    let past = RestoredCopy { partitions, ..RestoredCopy::begun(BACKUP) };
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

/// `None` if a server uses the directory. `others` are those of its further partitions, by their numbers.
pub fn copy_of_stopped(
    from: &Path,
    others: &[(u8, PathBuf)],
    into: &Path,
    progress: Progress<'_>,
) -> Result<Option<Tip>, Failed> {
    RestoredCopy::must_be_whole(from)?;
    let path = from.join(LOG_DIRECTORY);
    directory::must_have_log(&path)?;
    let store = match RocksStore::open(&path) {
        Ok(store) => store,
        Err(OpenError::InUse { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let log = Log::<ReportTo>::open(Box::new(store), Config::default())?;
    for (partition, other) in others {
        if copy_of_stopped(other, &[], &sets::beside(into, *partition), progress)?.is_none() {
            return Err(Failed::refused(other, "a process still uses it"));
        }
    }
    let partitions = u8::try_from(others.len() + 1).unwrap_or(u8::MAX);
    let tip = copy_of_several(partitions, from, into, |to| log.reader().checkpoint(to), progress)?;
    log.close();
    if partitions > 1 {
        sets::complete(into)?;
    }
    Ok(Some(tip))
}

/// File by file, so that neither depends on the other's disk. It ends where the copy says that it
/// ends, and is refused by every start until `prove` has read it.
pub fn restore(
    from: &Path,
    into: &Path,
    progress: Progress<'_>,
    mut prove: impl FnMut(&Reader) -> Result<(), Failed>,
) -> Result<Tip, Failed> {
    let number = sets::number_of_whole(from)?;
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
    let mut ends = Vec::new();
    for partition in 0..number {
        let (from, into) = (sets::inside(from, partition), sets::inside(into, partition));
        let reader = Reader::open_read_only(into.join(LOG_DIRECTORY))?;
        let tip = reader.tip();
        if let Some(expected) = RestoredCopy::read(&from)?.and_then(|past| past.tip)
            && expected != tip
        {
            let why = format!("ends with record {}, but its marker says {}", tip.seq, expected.seq);
            return Err(Failed::refused(&from, why));
        }
        directory::prove_beside_log(&into)?;
        prove(&reader)?;
        ends.push(tip);
    }
    sets::must_agree(into, number)?;
    // The first partition's last: without it nothing of it is used.
    for (partition, tip) in ends.iter().enumerate().skip(1) {
        past.clone().whole_up_to(*tip).write(&sets::inside(into, partition))?;
    }
    let partitions = u8::try_from(number).unwrap_or(u8::MAX);
    RestoredCopy { partitions, ..past }.whole_up_to(ends[0]).write(into)?;
    Ok(ends[0])
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
        if let Some(RestoredCopy { made_at, made_by, tip: Some(_), .. }) =
            RestoredCopy::read(&path).ok().flatten()
            && made_by == BACKUP
        {
            found.push((made_at, path));
        }
    }
    let newest = found.into_iter().max().map(|(_, path)| path);
    newest.ok_or_else(|| Failed::refused(directory, "is no finished backup, nor is there one in it"))
}
