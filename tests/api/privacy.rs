//! Privacy on a shared machine: other users see nothing on the disk, no core, no card in memory
//! (`config.toml`, `[storage]`, `[server] traceable`).

use crate::harness::flows::{fresh, vpos_body};
use crate::harness::server::Server;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Lists a directory with the permissions of others than the owner.
fn open_to_others(root: &Path) -> Vec<(PathBuf, u32)> {
    let (mut found, mut folders) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(path) = folders.pop() {
        let metadata = fs::metadata(&path).expect("it is there");
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            found.push((path.clone(), mode));
        }
        if metadata.is_dir() {
            folders.extend(
                fs::read_dir(&path).expect("a directory").map(|entry| entry.expect("an entry").path()),
            );
        }
    }
    found
}

#[test]
fn nothing_that_it_makes_is_for_others() {
    let mut server = Server::start();
    let tenant = server.tenant();
    tenant.test.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "10.00" })).expect(201);
    let beside = |name: &str| server.data().with_file_name(name);
    let shown = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let (copy, file, imported, restored) =
        (beside("copy"), beside("all.export"), beside("imported"), beside("restored"));
    for arguments in [
        vec!["backup".to_owned(), shown(&copy)],
        vec!["wal".to_owned(), "export".to_owned(), shown(&file)],
        vec!["wal".to_owned(), "import".to_owned(), shown(&file), "--into".to_owned(), shown(&imported)],
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = server.command(&arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // A copy that was carried by hand may have any permissions.
    for (path, mode) in [(copy.join("mark.key"), 0o644), (copy.join("log/CURRENT"), 0o666)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("changed");
    }
    let output = server.command(&["restore", &shown(&copy), "--into", &shown(&restored)]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for root in [server.data(), file, imported, restored] {
        assert_eq!(open_to_others(&root), [], "{}", root.display());
    }
    // A directory that others may read already is reported at the start.
    fs::set_permissions(server.data(), fs::Permissions::from_mode(0o755)).expect("changed");
    assert_eq!(server.terminate().code(), Some(0));
    server.restart();
    assert!(server.log_tail().contains("others on this machine may read it"), "{}", server.log_tail());
}

#[test]
fn no_core_is_written() {
    let server = Server::shared();
    let limits = fs::read_to_string(format!("/proc/{}/limits", server.pid())).expect("its limits");
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).expect("a limit of cores");
    let words: Vec<&str> = core.split_whitespace().collect();
    assert_eq!(words[4..6], ["0", "0"], "{core}");
}

/// Waits until a card is nowhere in the server's memory.
fn leaves_memory(server: &Server, number: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        match server.times_in_memory(number.as_bytes()) {
            // A test that may not read the server's memory shows that nobody else may.
            None | Some(0) => return,
            Some(times) => assert!(Instant::now() < deadline, "the card is in memory {times} times"),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_card_of_a_refused_charge_leaves_memory_too() {
    let server = Server::start_with(&[("PASARELA__SERVER__IDLE_TIMEOUT_SECONDS", "1")]);
    let tenant = server.tenant();
    let number = "4539578763621494";
    let body = vpos_body(10, json!({ "card": { "number": number, "cvv": "830" } }));
    for _ in 0..5 {
        server.api("nope").post("/v1/payments/vpos", &body).refused(401, "unauthorized");
        let inactive = server.api(tenant.created["liveKey"]["key"].as_str().expect("a key"));
        inactive.post("/v1/payments/vpos", &body).refused(403, "live_mode_not_activated");
        tenant.test.post("/v1/payment/vpos", &body).refused(404, "not_found");
        tenant.test.post("/v1/payments", &body).refused(405, "method_not_allowed");
    }
    leaves_memory(&server, number);
}

#[test]
fn a_card_leaves_memory_after_its_answer() {
    // The client keeps its connections; the server ends them soon, and zeroes then what came by
    // them.
    let server = Server::start_with(&[("PASARELA__SERVER__IDLE_TIMEOUT_SECONDS", "1")]);
    let api = server.tenant().test;
    // The number is not one that is in the program itself.
    let number = "4539578763621486";
    let body = |reference: &str| {
        vpos_body(10, json!({ "externalRef": reference, "card": { "number": number, "cvv": "830" } }))
    };
    for number in 0..20 {
        let paid =
            api.keyed(&fresh("key")).post("/v1/payments/vpos", &body(&format!("card-{number}"))).expect(201);
        assert_eq!(paid["status"], "COMPLETED");
    }
    leaves_memory(&server, number);
}

#[test]
fn the_key_of_cards_is_in_no_copy_and_without_it_a_repeat_is_refused_and_charges_nobody() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let body = vpos_body(10, json!({ "externalRef": "sale-1" }));
    let keyed = tenant.test.keyed("a-key");
    let first = keyed.post("/v1/payments/vpos", &body).expect(201);
    let copy = server.data().with_file_name("copy");
    assert!(server.command(&["backup", copy.to_str().expect("UTF-8")]).status.success());
    let key = fs::read(server.data().join("card.key")).expect("the key");
    assert!(copy.join("mark.key").exists() && !copy.join("card.key").exists());
    let export = server.data().with_file_name("all.export");
    assert!(server.command(&["wal", "export", export.to_str().expect("UTF-8")]).status.success());
    assert!(!fs::read(&export).expect("the export").windows(key.len()).any(|part| part == key));
    assert_eq!(server.terminate().code(), Some(0));
    server.restart();
    assert_eq!(
        tenant.test.post("/v1/payments/vpos", &body).expect(200),
        first,
        "a repeat is known after a restart"
    );
    assert_eq!(keyed.post("/v1/payments/vpos", &body).header("idempotent-replayed"), Some("true"));
    // The directory is as after a restore: without its key.
    assert_eq!(server.terminate().code(), Some(0));
    fs::remove_file(server.data().join("card.key")).expect("removed");
    server.restart();
    assert!(server.log_tail().contains("a new key of cards"), "{}", server.log_tail());
    let refused = tenant.test.post("/v1/payments/vpos", &body).refused(409, "external_ref_conflict");
    assert_eq!((&refused["differs"], &refused["existingId"]), (&json!(["card"]), &first["id"]));
    keyed.post("/v1/payments/vpos", &body).refused(422, "idempotency_key_reused");
    tenant.test.assert_books("1970.00", "1970.00", "0.00");
    // All is as it was with the key brought back.
    assert_eq!(server.terminate().code(), Some(0));
    fs::write(server.data().join("card.key"), key).expect("written");
    server.restart();
    assert_eq!(tenant.test.post("/v1/payments/vpos", &body).expect(200), first);
}

#[test]
fn the_key_of_cards_may_lie_elsewhere() {
    let elsewhere = tempfile::tempdir().expect("a directory");
    let file = elsewhere.path().join("cards.key");
    let server = Server::start_with(&[("PASARELA__STORAGE__CARD_KEY_FILE", file.to_str().expect("UTF-8"))]);
    assert_eq!(fs::metadata(&file).expect("made").len(), 32);
    assert!(!server.data().join("card.key").exists());
    assert_eq!(fs::read_dir(elsewhere.path()).expect("a directory").count(), 1);
}
