//! The room that a server beside the command needs on the disk of its data directory: what is loaded leaves it.

use super::keep::directory_of;
use crate::config::Storage;
use crate::disk::Disk;
use crate::recovery::Failed;
use std::fs::metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

#[derive(Clone)]
pub struct Room(Option<Shared>);

/// The disk, if anything is written to it.
#[derive(Clone)]
struct Shared {
    disk: Arc<Disk>,
    /// What is kept too, and not only what is temporary.
    keeps: bool,
}

impl Room {
    pub fn beside(storage: &Storage, temporary: Option<&Path>, out: Option<&Path>) -> Room {
        let device = |path: &Path| metadata(path).ok().map(|found| found.dev());
        let data = device(&storage.path);
        let is_shared = |path: &Path| device(path).or(device(directory_of(path))) == data;
        let keeps = out.is_some_and(is_shared);
        let disk = || Arc::new(Disk::new(&storage.path, storage.reserve_bytes));
        Room((keeps || temporary.is_some_and(is_shared)).then(|| Shared { disk: disk(), keeps }))
    }

    pub fn check(&self) -> Result<(), Failed> {
        self.0.as_ref().map_or(Ok(()), |shared| shared.check_for(0))
    }

    /// For so many bytes more of what is kept.
    pub fn check_for(&self, bytes: u64) -> Result<(), Failed> {
        self.0.as_ref().filter(|shared| shared.keeps).map_or(Ok(()), |shared| shared.check_for(bytes))
    }
}

impl Shared {
    fn check_for(&self, bytes: u64) -> Result<(), Failed> {
        if self.disk.has_room_for(bytes) {
            return Ok(());
        }
        let other = match self.keeps {
            true => "a file on another one, and a directory there",
            false => "a directory on another one",
        };
        let line = format!("the disk of the data directory is nearly full; name {other} as TMPDIR");
        Err(Failed::NotDone(line))
    }
}
