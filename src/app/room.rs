//! Room on the disk when it is full: a file that takes some while there is plenty and gives it back
//! to a start that finds none, so that a server on a full disk starts, reads and refuses writes
//! instead of ending again and again.

use super::{StartupError, notify};
use crate::disk::Disk;
use crate::recovery::directory::BALLAST_FILE;
use rustix::fs::{FallocateFlags, fallocate};
use std::error::Error;
use std::fs::{self, File};
use std::io;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// More than a start writes, whatever is in the logs (`wal/src/options.rs`), and some of what was begun.
const BALLAST_BYTES: RangeInclusive<u64> = 4 << 20..=32 << 20;
/// The free bytes below which a failed start is taken for the full disk's doing.
const ROOM_MIN: u64 = 1 << 20;
const LOOK_EVERY: Duration = Duration::from_secs(1);
pub const TRY_EVERY: Duration = Duration::from_secs(5);

/// The size of the file, in bytes: a small part of the reserve, which is there anyway; none without one.
fn ballast_bytes(disk: &Disk) -> u64 {
    match disk.reserve_bytes {
        0 => 0,
        reserve => (reserve / 8).clamp(*BALLAST_BYTES.start(), *BALLAST_BYTES.end()),
    }
}

fn ballast(disk: &Disk) -> PathBuf {
    disk.data.join(BALLAST_FILE)
}

pub fn make_room(disk: &Disk) {
    if disk.look() >= ballast_bytes(disk) {
        return;
    }
    match fs::remove_file(ballast(disk)) {
        Ok(()) => tracing::warn!(
            free_bytes = disk.look(),
            "the disk is full: the room that was kept for this start is used"
        ),
        Err(error) => {
            tracing::warn!(%error, free_bytes = disk.free_bytes(), "the disk is full, and there is no room kept for this start")
        }
    }
}

/// Whether a start failed because it found no room: the disk has none, and that is what the system said.
/// A filesystem that has no room to count, such as `/proc`, is not full.
pub fn is_lacking(disk: &Disk, why: &StartupError) -> bool {
    disk.look() < ROOM_MIN && says_full(why)
}

fn says_full(why: &(dyn Error + 'static)) -> bool {
    let mut next = Some(why);
    while let Some(error) = next {
        let is_full = error.downcast_ref::<io::Error>().is_some_and(|error| {
            matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
        });
        if is_full || error.to_string().contains("No space left on device") {
            return true;
        }
        next = error.source();
    }
    false
}

pub fn wait_for_room() -> impl Future<Output = ()> {
    notify::starting("the disk is full", 3 * TRY_EVERY);
    tokio::time::sleep(TRY_EVERY)
}

pub async fn watch(disk: Arc<Disk>) {
    let mut is_kept = true;
    loop {
        let looked = Arc::clone(&disk);
        // A disk that does not answer must not hold a worker.
        let kept = tokio::task::spawn_blocking(move || {
            looked.look();
            !is_kept || keep(&looked)
        });
        if !kept.await.unwrap_or(true) && is_kept {
            is_kept = false;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Keeps some of the little room that a start has found for the next one: what was begun goes on in the
/// rest of it, and may use that up.
pub fn keep_some(disk: &Disk) {
    let bytes = ballast_bytes(disk).min(disk.look() / 2);
    if bytes >= ROOM_MIN && !ballast(disk).exists() {
        make(disk, bytes);
    }
}

/// False if the disk can't do that.
fn keep(disk: &Disk) -> bool {
    let bytes = ballast_bytes(disk);
    let kept = fs::metadata(ballast(disk)).map_or(0, |found| found.len());
    if kept >= bytes || disk.free_bytes() < disk.reserve_bytes.saturating_add(bytes) {
        return true;
    }
    let _ = fs::remove_file(ballast(disk));
    make(disk, bytes)
}

fn make(disk: &Disk, bytes: u64) -> bool {
    let path = ballast(disk);
    let made =
        File::create_new(&path).and_then(|file| Ok(fallocate(&file, FallocateFlags::empty(), 0, bytes)?));
    if let Err(error) = made {
        let _ = fs::remove_file(&path);
        tracing::warn!(%error, path = %path.display(), "no room can be kept for a start on a full disk");
        return false;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_kept_while_there_is_plenty_and_given_back() {
        let directory = tempfile::tempdir().expect("a directory");
        let disk = Disk::new(directory.path(), 8 << 20);
        if disk.free_bytes() < 64 << 20 {
            return;
        }
        assert!(keep(&disk) && keep(&disk));
        assert_eq!(fs::metadata(ballast(&disk)).expect("it is there").len(), 4 << 20);
        make_room(&disk);
        assert!(ballast(&disk).exists(), "there is room besides it");
        fs::write(ballast(&disk), "some").expect("written");
        assert!(keep(&disk));
        assert_eq!(
            fs::metadata(ballast(&disk)).expect("it is there").len(),
            4 << 20,
            "of its whole size again"
        );
        let none = Disk::new(directory.path(), 0);
        fs::remove_file(ballast(&disk)).expect("removed");
        assert!(keep(&none) && !ballast(&none).exists(), "without a reserve nothing is kept");
        let all = Disk::new(directory.path(), u64::MAX);
        assert!(keep(&all) && !ballast(&all).exists(), "nothing is kept of what is missing");
    }
}
