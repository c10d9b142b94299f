//! The free space on the disk of the data directory, and what may still be written there.
//!
//! A log that meets a full disk may not go on: the first failed write is the last. So whatever is asked
//! anew is refused while a reserve is left, and everything that is written beside the log stops too; what
//! was begun goes on in that reserve: deadlines and deliveries of live mode down to its half, banks' answers to
//! its end. Reads need no room. Test mode stops first, its deadlines and deliveries at the reserve: it must not be
//! the reason why live mode does.

use domain::values::ids::is_live;
use rustix::fs::statvfs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const TEST_RESERVES: u64 = 2;

#[derive(Debug)]
pub struct Disk {
    data: PathBuf,
    reserve_bytes: u64,
    free_bytes: AtomicU64,
    is_short: AtomicBool,
}

impl Disk {
    /// Looks at once. With a reserve of 0 nothing is ever refused.
    pub fn new(data: &Path, reserve_bytes: u64) -> Disk {
        let disk = Disk {
            data: data.to_path_buf(),
            reserve_bytes,
            free_bytes: AtomicU64::new(u64::MAX),
            is_short: AtomicBool::new(false),
        };
        disk.look();
        disk
    }

    /// Checks the disk again, and returns the bytes that are free now. If the check fails, the last
    /// value stays.
    pub fn look(&self) -> u64 {
        // The directory is not there before the first start, so the first ancestor that is there is
        // asked.
        let there = self
            .data
            .ancestors()
            .find_map(|path| statvfs(if path.as_os_str().is_empty() { Path::new(".") } else { path }).ok());
        // A file system without blocks to count, as `/proc`, says nothing of the room.
        let Some(found) = there.filter(|found| found.f_blocks > 0) else { return self.free_bytes() };
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        self.free_bytes.store(free, Ordering::Relaxed);
        let is_short = free < self.reserve_bytes;
        if self.is_short.swap(is_short, Ordering::Relaxed) != is_short {
            let (free_bytes, reserve_bytes) = (free, self.reserve_bytes);
            if is_short {
                tracing::error!(
                    free_bytes,
                    reserve_bytes,
                    "the disk is nearly full: writes are refused, reads go on"
                );
            } else {
                tracing::info!(free_bytes, reserve_bytes, "the disk has room again: writes are taken");
            }
        }
        free
    }

    /// Whether something new may be written for a tenant in a mode, or for the platform.
    pub fn has_room(&self, tenant: u64) -> bool {
        let reserves = if is_live(tenant) { 1 } else { TEST_RESERVES };
        self.free_bytes.load(Ordering::Relaxed) >= self.reserve_bytes.saturating_mul(reserves)
    }

    /// Whether what falls due by itself (a deadline, a delivery) may be written for a tenant in a mode. There may be
    /// more of it than the reserve holds, so it waits before banks' answers have to.
    pub fn has_room_for_due(&self, tenant: u64) -> bool {
        let reserve = if is_live(tenant) { self.reserve_bytes / 2 } else { self.reserve_bytes };
        self.free_bytes.load(Ordering::Relaxed) >= reserve
    }

    /// [`Disk::has_room_for_due`], for who does not know the disk.
    pub fn room_for_due(self: &Arc<Disk>) -> Arc<dyn Fn(u64) -> bool + Send + Sync> {
        let disk = Arc::clone(self);
        Arc::new(move |tenant| disk.has_room_for_due(tenant))
    }

    /// Whether so many bytes more leave the reserve as it is; looks at once.
    pub fn has_room_for(&self, bytes: u64) -> bool {
        self.reserve_bytes == 0 || self.look() >= self.reserve_bytes.saturating_add(bytes)
    }

    pub fn is_short(&self) -> bool {
        self.is_short.load(Ordering::Relaxed)
    }

    pub fn free_bytes(&self) -> u64 {
        self.free_bytes.load(Ordering::Relaxed)
    }

    pub fn reserve_bytes(&self) -> u64 {
        self.reserve_bytes
    }

    pub fn data(&self) -> &Path {
        &self.data
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::values::ids::PLATFORM;

    const LIVE: u64 = 2;
    const TEST: u64 = 3;

    #[test]
    fn below_the_reserve_nothing_new_is_taken() {
        let directory = tempfile::tempdir().expect("a directory");
        for (reserve, is_short) in [(0, false), (1, false), (u64::MAX, true)] {
            let disk = Disk::new(&directory.path().join("not/yet"), reserve);
            assert_eq!((disk.is_short(), !disk.has_room(LIVE)), (is_short, is_short), "{reserve}");
            assert_eq!(disk.has_room_for(1), !is_short);
            assert!(disk.free_bytes() > 0 && disk.free_bytes() < u64::MAX);
        }
        assert!(Disk::new(Path::new("data-that-is-not-there"), 0).free_bytes() < u64::MAX);
    }

    #[test]
    fn test_mode_stops_at_twice_the_reserve() {
        let disk = Disk::new(Path::new("."), 100);
        for (free, test, live) in
            [(200, true, true), (199, false, true), (100, false, true), (99, false, false)]
        {
            disk.free_bytes.store(free, Ordering::Relaxed);
            let taken = [TEST, LIVE, PLATFORM].map(|tenant| disk.has_room(tenant));
            assert_eq!(taken, [test, live, live], "{free} bytes are free");
        }
        for (free, test, live) in
            [(100, true, true), (99, false, true), (50, false, true), (49, false, false)]
        {
            disk.free_bytes.store(free, Ordering::Relaxed);
            let goes_on = [TEST, LIVE, PLATFORM].map(|tenant| disk.has_room_for_due(tenant));
            assert_eq!(goes_on, [test, live, live], "{free} bytes are free");
        }
    }
}
