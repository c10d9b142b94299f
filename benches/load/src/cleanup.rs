//! The child processes and data that must be gone when the benchmark ends, however it ends.
//! Dropping them does it; on a signal, or when the time is up, a thread of its own does.

use crate::Outcome;
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};

/// The children, and whether each is asked before it is killed.
static CHILDREN: Mutex<Vec<(Arc<Mutex<Child>>, bool)>> = Mutex::new(Vec::new());
static DIRECTORIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// The time that a process which was asked to end may take.
const LAST_WORDS: Duration = Duration::from_secs(8);

/// The most attempts to remove a directory in which another thread may still write.
const REMOVALS_MAX: usize = 5;

static WATCH: Once = Once::new();

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Watches from now on: a signal, or the end of `limit`, ends the children, removes the data and
/// ends this process.
pub fn watch(limit: Duration) {
    watch_after(limit, None);
}

/// Watches from now on, as [`watch`] does, but for the first signal: it is what sets the flag, so that
/// what was measured can be shown.
pub fn watch_but_for_the_first(limit: Duration) -> Arc<AtomicBool> {
    let is_asked_to_end = Arc::new(AtomicBool::new(false));
    watch_after(limit, Some(Arc::clone(&is_asked_to_end)));
    is_asked_to_end
}

fn watch_after(limit: Duration, first: Option<Arc<AtomicBool>>) {
    WATCH.call_once(|| {
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let why = runtime
                .map_or("there is no runtime to watch with", |runtime| runtime.block_on(ended(limit, first)));
            eprintln!("{}: {why}", env!("CARGO_BIN_NAME"));
            for (child, is_asked) in locked(&CHILDREN).drain(..) {
                if is_asked { ask_to_end(&child) } else { end(&child) }
            }
            for directory in locked(&DIRECTORIES).drain(..) {
                // Tried again when a file came meanwhile from a part that does not know yet.
                let _ = (0..REMOVALS_MAX).find(|_| std::fs::remove_dir_all(&directory).is_ok());
            }
            std::process::exit(1);
        });
    });
}

async fn ended(limit: Duration, mut first: Option<Arc<AtomicBool>>) -> &'static str {
    let (Ok(mut interrupted), Ok(mut terminated)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return "signals cannot be heard";
    };
    let over = tokio::time::sleep(limit);
    tokio::pin!(over);
    loop {
        let why = tokio::select! {
            _ = interrupted.recv() => "interrupted",
            _ = terminated.recv() => "terminated",
            () = &mut over => return "it takes too long",
        };
        match first.take() {
            Some(first) => first.store(true, Ordering::Relaxed),
            None => return why,
        }
    }
}

fn end(child: &Mutex<Child>) {
    let mut child = locked(child);
    // An error means that it has ended already.
    let _ = child.kill();
    let _ = child.wait();
}

/// Sends SIGQUIT, which asks PostgreSQL to end at once and to clean up behind itself; a process
/// that does not listen is killed.
fn ask_to_end(child: &Mutex<Child>) {
    let is_over = || !matches!(locked(child).try_wait(), Ok(None));
    let pid = i32::try_from(locked(child).id()).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid.filter(|_| !is_over()) {
        let _ = kill_process(pid, Signal::QUIT);
        let deadline = Instant::now() + LAST_WORDS;
        while Instant::now() < deadline && !is_over() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    end(child);
}

/// A child process that ends with us.
pub struct Ward {
    child: Arc<Mutex<Child>>,
    /// Whether it is asked before it is killed.
    is_asked: bool,
}

impl Ward {
    /// Takes care of a child process.
    pub fn new(child: Child) -> Ward {
        Ward::of(child, false)
    }

    /// Takes care of a child that has children of its own: it is asked to end before it is killed.
    pub fn of_parent(child: Child) -> Ward {
        Ward::of(child, true)
    }

    fn of(child: Child, is_asked: bool) -> Ward {
        let child = Arc::new(Mutex::new(child));
        locked(&CHILDREN).push((Arc::clone(&child), is_asked));
        Ward { child, is_asked }
    }

    /// The process itself.
    pub fn child(&self) -> MutexGuard<'_, Child> {
        locked(&self.child)
    }

    /// Sends SIGKILL, as a crash would; returns when the process is gone.
    pub fn kill(&self) {
        end(&self.child);
    }
}

impl Drop for Ward {
    fn drop(&mut self) {
        if self.is_asked {
            ask_to_end(&self.child)
        } else {
            end(&self.child)
        }
        locked(&CHILDREN).retain(|(child, _)| !Arc::ptr_eq(child, &self.child));
    }
}

/// A directory of our own, with everything in it gone at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new directory in `parent`, which is made if it is not there.
    pub fn new(parent: &Path, name: &str) -> Outcome<Scratch> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let nth = COUNT.fetch_add(1, Ordering::Relaxed);
        let fail = |error| format!("{}: {error}", parent.display());
        std::fs::create_dir_all(parent).map_err(fail)?;
        let path = parent.canonicalize().map_err(fail)?.join(format!("{name}-{}-{nth}", std::process::id()));
        std::fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        locked(&DIRECTORIES).push(path.clone());
        Ok(Scratch(path))
    }

    /// The directory's path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("{} could not be removed: {error}", self.0.display());
        }
        locked(&DIRECTORIES).retain(|path| *path != self.0);
    }
}
