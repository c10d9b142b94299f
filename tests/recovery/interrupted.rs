//! Commands that make a directory or a file, killed at each of their steps: the source stays as it
//! was, what was being made is nothing, refused as half, or whole, and the next try succeeds.

use crate::harness::faults::{KILLED, STEPS, steps, strace};
use crate::harness::server::Server;
use crate::{errors, shown, succeeds, verified};
use pasarela::recovery::restored_copy::{MARKER, RestoredCopy};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

const SIGKILL: i32 = 9;

/// A stopped server with records, snapshots and orders of its bank.
fn stopped() -> Server {
    let mut server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    api.pay(5);
    api.payout(&merchant, "1.00", json!({})).expect(201);
    server.admin().act("/admin/snapshot").expect(200);
    api.fund("1.00");
    server.kill();
    server
}

/// The bytes of everything in a directory, but for what belongs to a process that looks at it.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![directory.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("readable").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if !name.starts_with("LOG") && !["LOCK", "OWNER"].contains(&name.as_str()) {
                found.insert(shown(&entry.path()).to_owned(), fs::read(entry.path()).expect("readable"));
            }
        }
    }
    found
}

/// Runs a command of the server's, killed at its `nth` step; true if it came to its end before.
#[track_caller]
fn ends_before(server: &Server, arguments: &[&str], nth: usize) -> Option<bool> {
    let wrapper = strace(STEPS, KILLED, nth)?;
    let program = server.program();
    let mut command = Command::new(&wrapper[0]);
    command.args(&wrapper[1..]).arg(program.get_program()).args(arguments);
    for (name, value) in program.get_envs() {
        command.env(name, value.expect("a value"));
    }
    let output = command.output().expect("it runs");
    if output.status.signal() == Some(SIGKILL) {
        return Some(false);
    }
    assert!(output.status.success(), "{arguments:?}, step {nth}: {}", errors(&output));
    Some(true)
}

/// The state of the directory that was being made: nothing, half, or whole.
#[track_caller]
fn judged(server: &Server, made: &Path, source: &Value, what: &str) -> &'static str {
    let inside: Vec<String> = fs::read_dir(made)
        .map(|all| all.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
        .unwrap_or_default();
    if inside.is_empty() {
        return "nothing";
    }
    match RestoredCopy::must_be_whole(made) {
        Err(why) => {
            assert!(why.to_string().contains("remove it and make it again"), "{what}: {why}");
            "half"
        }
        Ok(Some(_)) => {
            assert_eq!(verified(server, made)["headHash"], source["headHash"], "{what}");
            "whole"
        }
        Ok(None) => panic!("{what}: {inside:?} would be served"),
    }
}

/// Kills a command at each step and looks at what is there afterwards; `made` is what it makes, in
/// a parent of its own.
#[track_caller]
fn at_every_step(server: &Server, arguments: &[&str], made: &Path, source: &Path, is_read_only: bool) {
    let was = verified(server, &server.data());
    let before = is_read_only.then(|| contents(source));
    let mut seen = BTreeMap::new();
    for step in steps() {
        let Some(ended) = ends_before(server, arguments, step) else { return };
        let what = format!("{arguments:?}, killed at step {step}");
        if let Some(before) = &before {
            assert!(contents(source) == *before, "{what}: the source changed");
        } else {
            assert_eq!(verified(server, &server.data())["headHash"], was["headHash"], "{what}");
        }
        let how = judged(server, made, &was, &what);
        assert_eq!(ended, how == "whole" && ended, "{what}: {how}, and it says that it is done");
        *seen.entry(how).or_insert(0) += 1;
        if ended {
            println!("{}: {seen:?}", arguments[0]);
            assert!(seen["half"] > 0, "{arguments:?} was hardly ever killed half-way: {seen:?}");
            return;
        }
        // The directory is removed and made again, as the message says.
        fs::remove_dir_all(made)
            .or_else(|error| if made.exists() { Err(error) } else { Ok(()) })
            .expect("removed");
    }
}

#[test]
fn a_backup_that_is_killed_leaves_its_source_alone_and_no_whole_looking_half() {
    let server = stopped();
    let parent = tempfile::tempdir().expect("a directory");
    let copy = parent.path().join("copy");
    at_every_step(&server, &["backup", shown(&copy)], &copy, &server.data(), false);
}

#[test]
fn a_restore_that_is_killed_leaves_its_copy_alone_and_no_whole_looking_half() {
    let server = stopped();
    let parent = tempfile::tempdir().expect("a directory");
    let (copy, into) = (parent.path().join("copy"), parent.path().join("into"));
    succeeds(&server, &["backup", shown(&copy)]);
    let arguments = ["restore", shown(&copy), "--into", shown(&into), "--skip-verify"];
    at_every_step(&server, &arguments, &into, &copy, true);
}

#[test]
fn a_replay_that_is_killed_leaves_its_log_alone_and_no_whole_looking_half() {
    let server = stopped();
    let parent = tempfile::tempdir().expect("a directory");
    let into = parent.path().join("into");
    at_every_step(&server, &["wal", "replay", "--into", shown(&into)], &into, &server.data(), true);
}

#[test]
fn an_import_that_is_killed_leaves_its_file_alone_and_no_whole_looking_half() {
    let server = stopped();
    let parent = tempfile::tempdir().expect("a directory");
    let (file, into) = (parent.path().join("export"), parent.path().join("into"));
    succeeds(&server, &["wal", "export", shown(&file)]);
    let before = fs::read(&file).expect("readable");
    at_every_step(&server, &["import", shown(&file), "--into", shown(&into)], &into, &server.data(), true);
    assert!(fs::read(&file).expect("readable") == before);
}

#[test]
fn an_export_that_is_killed_is_refused_by_who_would_read_it() {
    let server = stopped();
    let parent = tempfile::tempdir().expect("a directory");
    let (file, into) = (parent.path().join("export"), parent.path().join("into"));
    let arguments = ["wal", "export", shown(&file)];
    for nth in 1.. {
        // A file is written piece by piece: each write is a step.
        let Some(wrapper) = strace(&format!("{STEPS},write"), KILLED, nth) else { return };
        let program = server.program();
        let mut command = Command::new(&wrapper[0]);
        command.args(&wrapper[1..]).arg(program.get_program()).args(arguments);
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = command.output().expect("it runs");
        if output.status.signal() != Some(SIGKILL) {
            assert!(output.status.success(), "step {nth}: {}", errors(&output));
            break;
        }
        if file.exists() {
            let refused = server.command(&["wal", "import", shown(&file), "--into", shown(&into)]);
            // The last steps come after the last byte: then the file is whole.
            if refused.status.success() {
                assert_eq!(
                    verified(&server, &into)["headHash"],
                    verified(&server, &server.data())["headHash"]
                );
            }
            let _ = fs::remove_dir_all(&into);
            fs::remove_file(&file).expect("removed");
        }
    }
    succeeds(&server, &["wal", "import", shown(&file), "--into", shown(&into)]);
    assert_eq!(verified(&server, &into)["headHash"], verified(&server, &server.data())["headHash"]);
}

#[test]
fn a_server_that_is_killed_while_it_makes_a_copy_goes_on_and_copies_again() {
    let mut server = stopped();
    let tenant = {
        server.restart();
        let tenant = server.tenant();
        tenant.test.fund("5.00");
        server.kill();
        tenant
    };
    let parent = tempfile::tempdir().expect("a directory");
    for (n, step) in steps().take(6).enumerate() {
        // Copies are the only ones that link files.
        let Some(wrapper) = strace("link,linkat", KILLED, step) else { return };
        server.wrap(&wrapper.iter().map(String::as_str).collect::<Vec<_>>());
        server.restart();
        let copy = parent.path().join(format!("copy-{n}"));
        let asked = server.admin().try_post("/admin/backup", &json!({ "path": shown(&copy) }));
        let done = asked.as_ref().is_ok_and(|answer| answer.status < 300);
        if !done {
            assert!(asked.is_err(), "{asked:?}");
            assert_eq!(server.wait().signal(), Some(SIGKILL), "{asked:?}");
        }
        server.kill();
        server.wrap(&[]);
        server.restart();
        tenant.test.assert_books("5.00", "0.00", "5.00");
        if done {
            return;
        }
        let why = RestoredCopy::must_be_whole(&copy).expect_err("half").to_string();
        assert!(why.contains("backup broke off"), "{why}");
        let again = parent.path().join(format!("again-{n}"));
        succeeds(&server, &["backup", shown(&again)]);
        verified(&server, &again);
        server.kill();
    }
}

#[test]
fn a_directory_with_nothing_but_a_begun_marker_is_no_world() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join(format!("{MARKER}.new")), "made_by").expect("written");
    let why = Server::try_on(directory.path()).err().expect("it is not served");
    assert!(why.contains("remove it and make it again"), "{why}");
    assert!(!directory.path().join("log").exists(), "a log was begun");
}

/// The directories whose entries a command has made durable.
fn synced(server: &Server, arguments: &[&str]) -> Option<Vec<String>> {
    strace(STEPS, KILLED, usize::MAX >> 33)?;
    let told = tempfile::NamedTempFile::new().expect("a file");
    let program = server.program();
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-qqq", "-e", "trace=fsync,fdatasync", "-o", shown(told.path())]);
    command.arg(program.get_program()).args(arguments);
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", errors(&output));
    let told = fs::read_to_string(told.path()).expect("readable");
    let place = |line: &str| Some(line.split_once('<')?.1.split_once('>')?.0.to_owned());
    Some(told.lines().filter_map(place).collect())
}

#[test]
fn a_restored_directory_is_durable_to_its_last_name() {
    let server = stopped();
    let parent = tempfile::tempdir().expect("a directory");
    let (copy, into) = (parent.path().join("copy"), parent.path().join("into"));
    succeeds(&server, &["backup", shown(&copy)]);
    let arguments = ["restore", shown(&copy), "--into", shown(&into), "--skip-verify"];
    let Some(synced) = synced(&server, &arguments) else { return };
    for place in contents(&into).into_keys().chain([shown(&into).to_owned()]) {
        let folder = Path::new(&place).parent().expect("a folder");
        assert!(
            synced.iter().any(|done| done == shown(folder)),
            "the names in {} may be lost",
            folder.display()
        );
    }
}
