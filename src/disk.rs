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
    pub(crate) data: PathBuf,
    pub(crate) reserve_bytes: u64,
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

    /// The bytes that are free now; those of the last look if it fails.
    pub fn look(&self) -> u64 {
        // Before the first start the directory is not there yet.
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

    /// Whether something may be written for a tenant in a mode, or for the platform: something new, or what falls due
    /// by itself (a deadline, a delivery). There may be more of that than the reserve holds, so it waits before banks'
    /// answers have to.
    pub fn has_room(&self, tenant: u64, is_due: bool) -> bool {
        let least = match (is_live(tenant), is_due) {
            (true, true) => self.reserve_bytes / 2,
            (true, false) | (false, true) => self.reserve_bytes,
            (false, false) => self.reserve_bytes.saturating_mul(TEST_RESERVES),
        };
        self.free_bytes.load(Ordering::Relaxed) >= least
    }

    /// Whether what falls due may be written, for who does not know the disk.
    pub fn room_for_due(self: &Arc<Disk>) -> Arc<dyn Fn(u64) -> bool + Send + Sync> {
        let disk = Arc::clone(self);
        Arc::new(move |tenant| disk.has_room(tenant, true))
    }

    /// Whether so many bytes more leave the reserve as it is; looks at once.
    pub fn has_room_for(&self, bytes: u64) -> bool {
        self.reserve_bytes == 0 || self.look() >= self.reserve_bytes.saturating_add(bytes)
    }

    pub fn free_bytes(&self) -> u64 {
        self.free_bytes.load(Ordering::Relaxed)
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
            assert_eq!(
                [LIVE, PLATFORM].map(|tenant| disk.has_room(tenant, false)),
                [!is_short; 2],
                "{reserve}"
            );
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
            let taken = [TEST, LIVE, PLATFORM].map(|tenant| disk.has_room(tenant, false));
            assert_eq!(taken, [test, live, live], "{free} bytes are free");
        }
        for (free, test, live) in
            [(100, true, true), (99, false, true), (50, false, true), (49, false, false)]
        {
            disk.free_bytes.store(free, Ordering::Relaxed);
            let goes_on = [TEST, LIVE, PLATFORM].map(|tenant| disk.has_room(tenant, true));
            assert_eq!(goes_on, [test, live, live], "{free} bytes are free");
        }
    }
}
