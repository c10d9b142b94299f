//! Faults of the system below a process: strace has one of its system calls fail, or kills it right
//! there. So a disk that fails and a process that dies at a certain step are what the kernel would
//! say and do, without a line for it in the program.

use std::process::Command;
use std::sync::LazyLock;

/// The system calls by which files come to be, are made durable, named, linked and removed: the
/// steps of whatever makes a directory.
pub const STEPS: &str = "mkdir,mkdirat,link,linkat,rename,renameat,renameat2,unlink,unlinkat,fsync,\
    fdatasync,ftruncate";

/// Whether strace is here and may do that.
static IS_HERE: LazyLock<bool> = LazyLock::new(|| {
    let tried = Command::new("strace").args(options("fsync", "error=EIO", 1)).arg("true").output();
    tried.is_ok_and(|output| output.status.success())
});

/// Says that a test is left out, as this machine lacks something. Where the variable is set the
/// test fails instead: `.ci/run` sets it where the thing is there, so that no test passes unseen.
pub fn left_out(variable: &str, lack: &str) {
    assert!(std::env::var_os(variable).is_none(), "{lack}, and {variable} says that it has to be");
    eprintln!("skipped: {lack}");
}

/// The fault of strace that kills the process instead of a call.
pub const KILLED: &str = "signal=SIGKILL";

/// The command in front of a program that has the `nth` of these calls in each of its threads fail
/// (`error=EIO`) or be the last one ([`KILLED`]), and with `+` behind it all from there on; nothing
/// where that can't be done. The program keeps its process id.
pub fn strace(calls: &str, fault: &str, nth: usize) -> Option<Vec<String>> {
    if !*IS_HERE {
        left_out("PASARELA_STRACE", "no strace that may trace is here");
        return None;
    }
    Some([vec!["strace".to_owned()], options(calls, fault, nth)].concat())
}

fn options(calls: &str, fault: &str, nth: usize) -> Vec<String> {
    let (fault, on) = match fault.strip_suffix('+') {
        Some(fault) => (fault, "+"),
        None => (fault, ""),
    };
    [
        "-D",
        "-f",
        "-qqq",
        "-o",
        "/dev/null",
        "-e",
        &format!("trace={calls}"),
        "-e",
        &format!("inject={calls}:{fault}:when={nth}{on}"),
    ]
    .map(str::to_owned)
    .to_vec()
}

/// The steps at which something is killed: the first ones, then ever fewer; each of them with
/// `CRASH_STEPS=all`, in a long run.
pub fn steps() -> impl Iterator<Item = usize> {
    let all = std::env::var("CRASH_STEPS").is_ok_and(|steps| steps == "all");
    std::iter::successors(Some(1), move |step| Some(if all { step + 1 } else { step + 1 + step / 3 }))
}
