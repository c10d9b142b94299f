//! The disk under the log: it writes when virtual time lets it, and dies when it is told to.

use faulty::{Faults, Refusal};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use wal::Stepper;

/// The time that a write takes: what is asked in that time is written together.
const WRITE: Duration = Duration::from_millis(1);

/// The disk of one life.
pub struct Disk {
    faults: Faults,
    /// The number of writes until the process dies.
    left: Mutex<Option<u64>>,
    written: AtomicU64,
    given: Notify,
    is_dead: AtomicBool,
    /// The notice that the process has died.
    died: Notify,
}

impl Disk {
    /// The disk, and the parts that the log is to be opened with.
    pub fn new(faults: Faults) -> (Arc<Disk>, Stepper) {
        let disk = Arc::new(Disk {
            faults,
            left: Mutex::new(None),
            written: AtomicU64::new(0),
            given: Notify::new(),
            is_dead: AtomicBool::new(false),
            died: Notify::new(),
        });
        let given = Arc::clone(&disk);
        (disk, Stepper::new(move || given.given.notify_one()))
    }

    /// Writes what comes, until the process dies.
    pub async fn run(self: Arc<Disk>, log: Stepper) {
        loop {
            self.given.notified().await;
            loop {
                tokio::time::sleep(WRITE).await;
                let mut dies = false;
                if let Some(left) = &mut *self.left.lock().expect("nobody panics with it") {
                    *left -= 1;
                    dies = *left == 0;
                }
                if dies {
                    // The batch that is being written may reach the disk or not; nobody is told.
                    self.faults.refuse_write(1, Refusal::SyncFails);
                }
                let has_written = log.step();
                // A disk that is full ends the process too: nothing of the write is there.
                if dies || self.faults.has_failed() {
                    return self.die();
                }
                if !has_written {
                    break;
                }
                self.written.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Has the process die at the n-th write from now on.
    pub fn die_at(&self, writes: u64) {
        *self.left.lock().expect("nobody panics with it") = Some(writes);
    }

    /// Has the process die now.
    pub fn die(&self) {
        self.is_dead.store(true, Ordering::Relaxed);
        self.died.notify_one();
    }

    pub fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Relaxed)
    }

    /// Waits until the process dies.
    pub async fn death(&self) {
        self.died.notified().await;
    }

    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }
}
