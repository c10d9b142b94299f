//! The end of leading: the process starts anew in its place, with the same arguments and the same
//! process id, and stands by. A deposed leader has books with decisions that were never agreed on,
//! calls to banks under way, timers and queues; a new start has none of it. What was synced is a
//! beginning of the agreed log, so nothing has to be cut off.

use super::Shared;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

const LAST_WORDS: Duration = Duration::from_millis(200);
/// For a hand-over under way, so that its caller hears of it.
const HAND_OVER: Duration = Duration::from_secs(11);
/// `EX_SOFTWARE`: the process could not start anew.
const EXIT_FATAL: i32 = 70;

/// Whether the process is about to end, also that of a leader that was deposed, and what comes after.
static ENDING: AtomicU8 = AtomicU8::new(RUNS);
const RUNS: u8 = 0;
const STARTS_ANEW: u8 = 1;
const ENDS: u8 = 2;

pub(super) fn stop() {
    let _ = ENDING.compare_exchange(RUNS, ENDS, Ordering::AcqRel, Ordering::Acquire);
}

/// As an operator says.
pub fn stop_for_good() {
    ENDING.store(ENDS, Ordering::Release);
}

/// False if the process is about to end.
pub fn stop_to_start_anew() -> bool {
    ENDING.compare_exchange(RUNS, STARTS_ANEW, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

pub fn starts_anew() -> bool {
    ENDING.load(Ordering::Acquire) == STARTS_ANEW
}

/// At the end of a process that stopped in good order.
pub fn start_anew_if_due() {
    if starts_anew() {
        replace();
    }
}

/// In a moment. Only the first call counts.
pub(super) fn step_down(shared: &Arc<Shared>, why: &str) {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    shared.barrier.close();
    shared.is_open.store(false, Ordering::Release);
    if BEGUN.swap(true, Ordering::AcqRel) {
        return;
    }
    shared.see(|view| {
        view.leader = None;
        view.waits_for = "there is no leader".into();
    });
    if ENDING.load(Ordering::Acquire) != RUNS {
        return;
    }
    tracing::warn!(why, "this node leads no more: it starts anew and stands by");
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        let began = Instant::now();
        while shared.is_handing_over.load(Ordering::Acquire) && began.elapsed() < HAND_OVER {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(LAST_WORDS);
        start_anew();
    });
}

/// The program may have been deleted or replaced on the disk meanwhile. Does nothing if the process
/// is about to end.
pub(super) fn start_anew() -> ! {
    while ENDING.load(Ordering::Acquire) != RUNS {
        std::thread::park();
    }
    replace()
}

fn replace() -> ! {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_else(|| "pasarela".into());
    let error = Command::new("/proc/self/exe").arg0(name).args(arguments).exec();
    tracing::error!(%error, "the process could not start anew; it ends, and is to be started");
    std::process::exit(EXIT_FATAL);
}
