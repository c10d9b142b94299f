//! The tools that operators rely on when things went wrong: restored copies, backups, proofs, and
//! the command line, each over the real command and a real server.
//!
//! What a server does by itself after a crash does not belong here: it is tested in `crash/`.

#[path = "../api/harness/mod.rs"]
mod harness;

mod clock;
mod contradictions;
mod copies;
mod corruption;
mod damaged;
mod files;
mod hundred;
mod interrupted;
mod large;
mod listed;
mod looking;
mod moving;
mod operations;
mod operators;
mod past;
mod planted;
mod selfcheck;
mod sql;
mod test_accounts;
mod thinning;
mod three_faults;
mod time_machine;

use harness::server::Server;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// Runs a command beside a server, on its directory and its admin API, which must succeed.
#[track_caller]
fn succeeds(server: &Server, arguments: &[&str]) -> String {
    let output = server.command(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", errors(&output));
    String::from_utf8(output.stdout).expect("text")
}

/// Runs a command that must not do what it is asked: exit 1, why on stderr, nothing on stdout.
#[track_caller]
fn fails(server: &Server, arguments: &[&str]) -> String {
    let output = server.command(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    errors(&output)
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// The objects in a text with a line of JSON per record.
fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Proves a directory right.
#[track_caller]
fn verified(server: &Server, data: &Path) -> Value {
    serde_json::from_str(&succeeds(server, &["wal", "verify", "--json", "--data-dir", shown(data)]))
        .expect("JSON")
}
