//! Backups that a call orders: what the call says, the copy, and what is answered. Who may order one, and
//! where it is written down, is for whoever takes the call.

use crate::recovery::backup;
use api::fields::{Fields, Got, Invalid, kind};
use api::openapi::schema;
use api::problem::Problem;
use api::value::{Bad, Value};
use api::writer::Object;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use wal::{Seq, StoreError};

const PATH_CHARACTERS_MAX: usize = 4096;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub directory: String,
    pub seq: Seq,
}

impl Made {
    pub fn show(&self) -> Vec<u8> {
        Object::new().text("path", &self.directory).number("walSeq", self.seq).end()
    }
}

pub fn wanted(mut fields: Fields<'_>) -> Result<PathBuf, Invalid> {
    let directory = kind(
        |value: Value<'_>| value.text_as(read_path),
        || {
            let path = schema::text().chars(1..=PATH_CHARACTERS_MAX);
            path.about("A new directory inside one that exists on the server.")
        },
    );
    let path: Got<PathBuf> = fields.required("path", directory);
    let sound = fields.finish()?;
    Ok(path.get(&sound))
}

/// The bytes that a copy of `data` takes of its own disk: none if the copy lies on another, else all that
/// is not linked.
pub fn bytes_taken(data: &Path, path: &Path) -> u64 {
    let parent = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or_else(|| Path::new("."));
    let device = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
    // Tables of the log never change, so they are linked.
    let is_copied = |path: &Path| path.extension().is_none_or(|name| name != "sst");
    if device(data) == device(parent) { bytes_in(data, is_copied) } else { 0 }
}

/// Of the files that count.
pub fn bytes_in(directory: &Path, counts: fn(&Path) -> bool) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_in(&entry.path(), counts),
        Ok(found) if counts(&entry.path()) => found.len(),
        _ => 0,
    });
    bytes.sum()
}

/// Copies the data directory `data` to the new directory `path`; `checkpoint` copies the log to the path that
/// it is given. Waits for the disk on a thread of its own. Of the first of several partitions it lacks the others until
/// whoever had those copied puts them together.
pub async fn make(
    data: PathBuf,
    path: PathBuf,
    partitions: u8,
    checkpoint: impl FnOnce(&Path) -> Result<(), StoreError> + Send + 'static,
) -> Result<Made, Problem> {
    let copying = tokio::task::spawn_blocking(move || {
        is_new(&path)?;
        let copied = backup::copy_of_several(partitions, &data, &path, checkpoint, &mut |_, _, _| {});
        let tip =
            copied.map_err(|error| failed(format!("a backup to {} failed: {error}", path.display())))?;
        Ok(made(path, tip.seq))
    });
    copying.await.map_err(Problem::internal_error)?
}

/// What a copy would say that is made now.
pub fn rehearsed(path: PathBuf, seq: Seq) -> Result<Made, Problem> {
    is_new(&path)?;
    Ok(made(path, seq))
}

fn is_new(path: &Path) -> Result<(), Problem> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    Err(Problem::conflict("directory_exists", "the path exists already; name a new directory"))
}

fn made(path: PathBuf, seq: Seq) -> Made {
    let directory = std::path::absolute(&path).unwrap_or(path).to_string_lossy().into_owned();
    Made { directory, seq }
}

pub fn failed(why: String) -> Problem {
    Problem::refused(500, "backup_failed", "no usable copy was made; the server's log says why").because(why)
}

fn read_path(text: &str) -> Result<PathBuf, Bad> {
    if text.is_empty() || text.chars().count() > PATH_CHARACTERS_MAX || text.contains('\0') {
        return Err(Bad::from("must be a path of 1 to 4096 characters"));
    }
    let path = Path::new(text);
    let parent = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or_else(|| Path::new("."));
    if path.file_name().is_none() || !parent.is_dir() {
        return Err(Bad::from("must be a new directory inside one that exists on the server"));
    }
    Ok(path.to_path_buf())
}
