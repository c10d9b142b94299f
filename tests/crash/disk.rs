//! A disk that fails under a running server: a write or a sync that the kernel refuses, or a disk
//! without room. The first one ends the process; whoever was not answered asks again after the
//! restart, and everything happened once.

use crate::harness::client::Api;
use crate::harness::faults::strace;
use crate::harness::server::Server;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The exit code of a process that may not go on.
const FATAL: i32 = 70;
/// Calls of a thread after which its next one fails: a start has fewer.
const SOUND: usize = 60;
/// The number of tries, more than enough to come to it.
const TRIES: usize = 400;

/// RocksDB's own logs, those that are there and those to come: what the writer of the log writes.
fn logs(server: &Server) -> Vec<PathBuf> {
    (0..400).map(|number| server.data().join("log").join(format!("{number:06}.log"))).collect()
}

fn path(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Adds a bolívar under a key, and returns whether that was acknowledged.
fn put_in(api: &Api, n: usize) -> bool {
    let body = json!({ "currency": "VES", "amount": "1.00" });
    match api.keyed(&format!("put-{n}")).try_post("/v1/test/fund", &body) {
        Ok(answer) if answer.status == 201 => true,
        Ok(answer) => {
            answer.refused(503, "storage_unavailable");
            false
        }
        Err(_) => false,
    }
}

/// Has a server's log meet this fault, and checks what it acknowledged.
#[track_caller]
fn ends_and_comes_back(calls: &str, fault: &str) {
    let mut server = Server::start_with(&[("PASARELA__STORAGE__RESERVE_BYTES", "0")]);
    let api = server.tenant().test;
    api.fund("1.00");
    server.kill();
    let Some(wrapper) = strace(calls, fault, SOUND) else { return };
    let logs = logs(&server);
    let watched = logs.iter().flat_map(|log| ["-P", path(log)]);
    server.wrap(&wrapper.iter().map(String::as_str).chain(watched).collect::<Vec<_>>());
    server.restart();
    let acknowledged = (0..TRIES).take_while(|n| put_in(&api, *n)).count();
    assert!(acknowledged < TRIES, "the fault never came");
    assert_eq!(server.wait().code(), Some(FATAL), "{}", server.log_tail());
    assert!(server.data().join("ENDED_BADLY").is_file());
    server.wrap(&[]);
    server.restart();
    // The write in the middle may or may not be there; asked again, it is there once.
    for n in 0..=acknowledged {
        assert!(put_in(&api, n), "{n} of {acknowledged}");
    }
    let all = format!("{}.00", acknowledged + 2);
    api.assert_books(&all, "0.00", &all);
    let verified = server.command(&["wal", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn a_write_that_fails_ends_the_process_and_loses_nothing() {
    ends_and_comes_back("write", "error=EIO+");
}

#[test]
fn a_sync_that_fails_ends_the_process_and_loses_nothing() {
    // The sync fails once: a second try of the same sync would be answered well, and mean nothing.
    ends_and_comes_back("fdatasync,fsync", "error=EIO");
}

#[test]
fn a_disk_without_room_ends_the_process_and_loses_nothing() {
    ends_and_comes_back("write", "error=ENOSPC+");
}

#[test]
fn a_start_whose_disk_fails_says_so_and_the_next_one_serves() {
    let mut server = Server::start();
    let api = server.tenant().test;
    api.fund("12.00");
    server.kill();
    for (calls, nth) in [("fsync,fdatasync", 1), ("fsync,fdatasync", 3), ("pwrite64", 1), ("mkdir", 1)] {
        let Some(wrapper) = strace(calls, "error=EIO", nth) else { return };
        server.wrap(&wrapper.iter().map(String::as_str).collect::<Vec<_>>());
        match server.try_restart() {
            // The failed operation was nothing that the start needs.
            Ok(()) => api.assert_books("12.00", "0.00", "12.00"),
            Err(why) => {
                let why = why.to_lowercase();
                assert!(why.contains("input/output error") || why.contains("io error"), "{calls}: {why}");
            }
        }
        server.kill();
        server.wrap(&[]);
        server.restart();
        api.assert_books("12.00", "0.00", "12.00");
        server.kill();
    }
}

/// The faults are real: a call that strace does not know how to fail would pass for one that was
/// survived.
#[test]
fn faults_are_injected() {
    let Some(wrapper) = strace("mkdir,mkdirat", "error=ENOSPC", 1) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let made = directory.path().join("made");
    let output =
        Command::new(&wrapper[0]).args(&wrapper[1..]).arg("mkdir").arg(&made).output().expect("it runs");
    assert!(!output.status.success() && !made.exists());
    assert!(String::from_utf8_lossy(&output.stderr).contains("No space left on device"));
}
