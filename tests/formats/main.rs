//! Data directories of every release and one written now, which are opened, verified and served
//! (`docs/formats.md`). Those of releases are archives in `tests/directories/`: the directory, and what the
//! server of that release answered; beside them is what its `wal states` printed.

#[path = "../api/harness/mod.rs"]
mod harness;

mod life;

use harness::check::text;
use harness::server::Server;
use harness::statements::Account;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn directories() -> PathBuf {
    PathBuf::from("tests/directories")
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn tar(arguments: &[&str]) {
    let status = Command::new("tar").args(arguments).status().expect("tar runs");
    assert!(status.success(), "tar {arguments:?}: {status}");
}

/// The releases of which there is a directory.
fn releases() -> Vec<String> {
    let files = fs::read_dir(directories()).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut releases: Vec<String> =
        files.filter_map(|name| name.to_string_lossy().strip_suffix(".tar.gz").map(str::to_owned)).collect();
    releases.sort();
    releases
}

/// A copy of a release's directory, and what its server answered.
fn copy(release: &str) -> (tempfile::TempDir, PathBuf, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = directories().join(format!("{release}.tar.gz"));
    tar(&["-xzf", shown(&archive), "-C", shown(folder.path())]);
    let said = fs::read_to_string(folder.path().join("said.json")).expect("what it answered");
    let data = folder.path().join("data");
    (folder, data, serde_json::from_str(&said).expect("JSON"))
}

/// What `wal states` of that release printed of its directory.
fn digests(release: &str) -> PathBuf {
    directories().join(format!("{release}.states.gz"))
}

fn states(server: &Server, data: &Path) -> String {
    let output = server.command(&["wal", "states", "--data-dir", shown(data)]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The whole log, read again record by record, books, index and snapshots included.
#[track_caller]
fn verify(server: &Server, data: &Path) -> Value {
    let output = server.command(&["wal", "verify", "--json", "--data-dir", shown(data)]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Checks that everything that was said then is said now; more may be said.
#[track_caller]
fn assert_says(now: &Value, then: &Value, what: &str) {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            for (name, then) in then {
                assert_says(now.get(name).unwrap_or(&Value::Null), then, &format!("{what} {name}"));
            }
        }
        (Value::Array(now), Value::Array(then)) if now.len() == then.len() => {
            for (at, (now, then)) in now.iter().zip(then).enumerate() {
                assert_says(now, then, &format!("{what} {at}"));
            }
        }
        (now, then) => assert_eq!(now, then, "{what}"),
    }
}

#[test]
fn archives_are_small() {
    for release in releases() {
        let archive = directories().join(format!("{release}.tar.gz"));
        let bytes = fs::metadata(archive).expect("the archive").len();
        assert!(bytes < 100 << 10, "{release}: {bytes} bytes are not small");
    }
}

#[test]
fn directories_of_releases_are_verified_opened_and_served() {
    for release in releases() {
        let (_folder, data, said) = copy(&release);
        serves(&release, &data, &said);
    }
}

#[test]
fn what_a_release_derived_is_derived_with_the_same_digests_before_and_after_the_upgrade() {
    for release in releases() {
        let (_folder, data, said) = copy(&release);
        let unpacked = Command::new("gzip").arg("-dc").arg(digests(&release)).output().expect("gzip runs");
        assert!(unpacked.status.success(), "{release}");
        let then = String::from_utf8(unpacked.stdout).expect("UTF-8");
        let idle = Server::start();
        let assert_same = |when: &str| {
            let now = states(&idle, &data);
            for (line, (now, then)) in now.lines().zip(then.lines()).enumerate() {
                assert_eq!(now, then, "{release}, {when}, line {}", line + 1);
            }
            assert!(now.lines().count() >= then.lines().count(), "{release}, {when}");
            now
        };
        assert_eq!(assert_same("before"), then, "{release}");
        let same = ["wal", "shadow", "--with", env!("CARGO_BIN_EXE_pasarela"), "--data-dir", shown(&data)];
        assert_eq!(idle.command(&same).status.code(), Some(0), "{release}");
        let mut server = Server::on(&data);
        server.api(text(&said, "key")).fund("1.00");
        server.terminate();
        assert!(assert_same("after").len() > then.len(), "{release}");
        assert_eq!(idle.command(&same).status.code(), Some(0), "{release}");
        // What only this version says is in its digest.
        let mandate =
            json!({ "mode": "test", "name": "agente", "mandate": { "perDay": { "VES": "10.00" } } });
        let mut server = Server::on(&data);
        let tenants = server.admin().get("/admin/tenants").expect(200);
        let path = format!("/admin/tenants/{}/keys", text(&tenants["items"][0], "tenantId"));
        server.admin().post(&path, &mandate).expect(201);
        server.terminate();
        assert_same("with what is new");
    }
}

#[test]
fn a_directory_written_now_is_verified_opened_and_served() {
    let (server, said) = written();
    serves("now", &server.data(), &said);
}

#[track_caller]
fn serves(release: &str, data: &Path, said: &Value) {
    let mut server = Server::start();
    let before = verify(&server, data);
    assert!(before["records"].as_u64().is_some_and(|records| records > 100), "{before}");
    server.terminate();
    let mut server = Server::on(data);
    let api = server.api(text(said, "key"));
    for read in said["reads"].as_array().expect("reads") {
        let path = text(read, "path");
        assert_says(&api.get(path).expect(200), &read["body"], &format!("{release} {path}"));
    }
    // Days of which nobody counted the movements then, and days on which some are counted.
    let accounts = || Account::own().iter().for_each(|account| account.compare_all(&api));
    accounts();
    // The stored things are worked with, and stay right.
    life::go_on(&api, said);
    accounts();
    api.advance(86_400);
    api.fund("1.00");
    accounts();
    let status = server.terminate();
    assert!(status.success(), "{status}");
    server.restart();
    for read in said["reads"].as_array().expect("reads") {
        api.get(text(read, "path")).expect(200);
    }
    accounts();
    server.terminate();
    let after = verify(&server, data);
    assert!(after["records"].as_u64() > before["records"].as_u64(), "{after}");
}

/// A server that died with a directory in which everything is, and what it answered.
fn written() -> (Server, Value) {
    // The bank is not called: it tells of a transfer by itself.
    let mut server = Server::start_with(&[
        ("PASARELA__RAILS__R4__BASE_URL", "http://127.0.0.1:9"),
        ("PASARELA__RAILS__R4__COMMERCE_TOKEN", "token"),
        ("PASARELA__RAILS__R4__CALLBACK_UUID", life::CALLBACK_UUID),
    ]);
    let tenant = server.tenant_with(json!({ "fees": { "payoutVes": "1.00" } }));
    life::all_of_it(&server, &tenant);
    // Snapshots of all books, and then records that only the log has.
    server.terminate();
    server.restart();
    let said = life::some_more(&server, &tenant);
    server.kill();
    (server, said)
}

/// Makes the directory of a release, unless it is there, and the digests of its states: once, with the program of that
/// release in `PASARELA_BIN`, under the name in `RELEASE`.
#[test]
#[ignore = "makes what the others read"]
fn make() {
    let release = std::env::var("RELEASE").expect("RELEASE names the release");
    if !releases().contains(&release) {
        make_directory(&release);
    }
    let (_folder, data, _) = copy(&release);
    let lines = data.with_file_name("states");
    fs::write(&lines, states(&Server::start(), &data)).expect("written");
    let packed = Command::new("gzip").args(["-9nc", shown(&lines)]).output().expect("gzip runs");
    assert!(packed.status.success());
    fs::write(digests(&release), packed.stdout).expect("written");
}

fn make_directory(release: &str) {
    let (server, said) = written();
    let parent = server.data().parent().expect("a folder").to_path_buf();
    fs::write(parent.join("said.json"), said.to_string()).expect("written");
    fs::create_dir_all(directories()).expect("the folder");
    let archive = directories().join(format!("{release}.tar.gz"));
    // Room that is kept on the disk, and what the store below says about itself, are not part of it.
    tar(&[
        "--exclude=ballast",
        "--exclude=LOG*",
        "--sort=name",
        "--owner=0",
        "--group=0",
        "-C",
        shown(&parent),
        "-czf",
        shown(&archive),
        "data",
        "said.json",
    ]);
}
