//! The room that a server beside the command needs on the disk of its data directory: what is loaded leaves it.

use super::keep::directory_of;
use crate::config::Storage;
use crate::disk::Disk;
use crate::recovery::Failed;
use std::fs::metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

/// The disk, if anything is written to it.
#[derive(Clone)]
pub struct Room(Option<Arc<Disk>>);

impl Room {
    /// `written` are the places of what is written, or will be.
    pub fn beside<'p>(storage: &Storage, written: impl IntoIterator<Item = &'p Path>) -> Room {
        let device = |path: &Path| metadata(path).ok().map(|found| found.dev());
        let data = device(&storage.path);
        let is_shared = written.into_iter().any(|path| device(path).or(device(directory_of(path))) == data);
        Room(is_shared.then(|| Arc::new(Disk::new(&storage.path, storage.reserve_bytes))))
    }

    pub fn check(&self) -> Result<(), Failed> {
        match &self.0 {
            Some(disk) if disk.look() < disk.reserve_bytes => Err(Failed::NotDone(
                "the disk of the data directory is nearly full; name a directory on another one as TMPDIR"
                    .to_owned(),
            )),
            _ => Ok(()),
        }
    }
}
