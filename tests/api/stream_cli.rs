//! `pasarela stream`: the calls of a file, each with its outcome in another (`docs/contract.md, 23`).

use crate::harness::check::text;
use crate::harness::flows::fresh;
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::thread::sleep;
use std::time::{Duration, Instant};

fn key(tenant: &Tenant) -> &str {
    tenant.created["testKey"]["key"].as_str().expect("a key")
}

fn fund(amount: &str) -> Value {
    json!({ "key": fresh("k"), "path": "/v1/test/fund", "body": { "currency": "VES", "amount": amount } })
}

/// A folder with the file of these lines, as they stand.
fn file(lines: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let (calls, out) = (folder.path().join("calls.ndjson"), folder.path().join("answers.ndjson"));
    fs::write(&calls, lines).expect("written");
    (folder, calls, out)
}

fn arguments<'a>(server: &'a str, key: &'a str, calls: &'a Path, out: &'a Path) -> Vec<&'a str> {
    let (calls, out) = (calls.to_str().expect("text"), out.to_str().expect("text"));
    vec!["stream", calls, "--out", out, "--server", server, "--key", key]
}

fn run(server: &Server, tenant: &Tenant, calls: &Path, out: &Path) -> Output {
    server.command(&arguments(&server.url(), key(tenant), calls, out))
}

/// The outcomes in a file, by line.
#[track_caller]
fn outcomes(out: &Path) -> BTreeMap<u64, Value> {
    let mut found = BTreeMap::new();
    for line in fs::read_to_string(out).expect("the file").lines() {
        let outcome: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let number = outcome["line"].as_u64().expect("a number");
        assert!(found.insert(number, outcome).is_none(), "line {number} twice");
    }
    found
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn each_line_of_the_file_has_its_outcome_and_a_further_run_sends_the_rest() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (first, third) = (fund("5.00"), fund("7.00"));
    let (_folder, calls, out) = file(&format!("{first}\n\n  \n{{\"no\":1}}\r\n{third}"));
    let output = run(&server, &tenant, &calls, &out);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let all = outcomes(&out);
    assert_eq!(all.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!((&all[&1]["key"], &all[&1]["status"]), (&first["key"], &json!(201)));
    assert_eq!((&all[&2]["key"], &all[&2]["status"]), (&Value::Null, &json!(400)));
    assert_eq!((&all[&3]["key"], &all[&3]["status"]), (&third["key"], &json!(201)));
    let told = said(&output);
    assert!(told.contains("line 2: 400 invalid_data") && told.contains("2 done, 1 refused"), "{told}");

    // What stands there is not sent again; half a line is no outcome.
    let written = fs::read_to_string(&out).expect("the file");
    let (kept, _) = written.split_once('\n').expect("lines");
    fs::write(&out, format!("{kept}\n{{\"line\":3,\"st")).expect("written");
    let output = run(&server, &tenant, &calls, &out);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert_eq!(outcomes(&out).len(), 3);
    assert!(fs::read_to_string(&out).expect("the file").starts_with(kept));
    assert_eq!(tenant.test.get("/v1/balance").expect(200)["availableVes"], "12.00");
    let whole = fs::read(&out).expect("the file");
    assert_eq!(run(&server, &tenant, &calls, &out).status.code(), Some(1));
    assert_eq!(fs::read(&out).expect("the file"), whole);
}

/// A server that answers one stream with this line, and then nothing.
fn answering(line: &Value) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let line = format!("{line}\n");
    std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().expect("a connection");
        let mut piece = [0; 4_096];
        let mut hear = |connection: &mut TcpStream, end: &[u8]| {
            let mut heard = Vec::new();
            while !heard.windows(end.len()).any(|bytes| bytes == end) {
                let bytes = connection.read(&mut piece).expect("read");
                assert!(bytes > 0, "the command hung up");
                heard.extend_from_slice(&piece[..bytes]);
            }
        };
        // The command sends its lines when it has the head of the answer.
        hear(&mut connection, b"\r\n\r\n");
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n";
        connection.write_all(head.as_bytes()).expect("sent");
        hear(&mut connection, b"}\n");
        connection.write_all(format!("{:x}\r\n{line}\r\n", line.len()).as_bytes()).expect("sent");
        while connection.read(&mut piece).is_ok_and(|bytes| bytes > 0) {}
    });
    format!("http://{address}")
}

#[test]
fn a_key_that_is_revoked_meanwhile_and_an_answer_to_another_call_end_the_command() {
    let server = Server::shared();
    let body = json!({ "error": "unauthorized", "message": "no" });
    for (key, status, body, code, words) in [
        ("k1", 401, body, 2, "opens nothing on this server any more"),
        ("k2", 201, json!({}), 1, "with the key of another call"),
    ] {
        let call = json!({ "key": "k1", "path": "/v1/test/fund", "body": {} });
        let (_folder, calls, out) = file(&format!("{call}\n"));
        let answer = json!({ "line": 1, "key": key, "status": status, "replayed": false, "walSeq": null, "body": body });
        let url = answering(&answer);
        let output = server.command(&arguments(&url, "pk_test_any", &calls, &out));
        let told = said(&output);
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert_eq!(told.lines().filter(|line| line.contains(words)).count(), 1, "{told}");
        assert_eq!(fs::read_to_string(&out).expect("the file"), "", "nothing is written of it");
    }
}

#[test]
fn a_wrong_key_and_files_that_are_none_are_2_in_one_line() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (folder, calls, out) = file(&format!("{}\n", fund("1.00")));
    let (url, missing) = (server.url(), folder.path().join("missing/out"));
    let strange = folder.path().join("strange");
    fs::write(&strange, "hello\n").expect("written");
    // Of a file with other calls: nothing of this one would be made.
    let others = folder.path().join("others");
    let done = json!({ "line": 1, "key": "x", "status": 201, "replayed": false, "walSeq": 1, "body": {} });
    fs::write(&others, format!("{done}\n")).expect("written");
    for (key, calls, out) in [
        ("pk_test_no", &calls, &out),
        (key(&tenant), &folder.path().join("none"), &out),
        (key(&tenant), &folder.path().to_owned(), &out),
        (key(&tenant), &calls, &missing),
        (key(&tenant), &calls, &calls),
        (key(&tenant), &calls, &strange),
        (key(&tenant), &calls, &others),
        (key(&tenant), &calls, &PathBuf::from("/dev/full")),
    ] {
        let output = server.command(&arguments(&url, key, calls, out));
        let told = said(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
    for url in ["127.0.0.1:8080", "ftp://127.0.0.1", "http://", "no address"] {
        let output = server.command(&arguments(url, key(&tenant), &calls, &out));
        let told = said(&output);
        assert_eq!((output.status.code(), told.lines().count()), (Some(2), 1), "{url}: {told}");
    }
    assert_eq!(fs::read_to_string(&strange).expect("the file"), "hello\n");
    let output = server.command(&["stream", "x", "--out", "y", "--server", &url]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

#[test]
fn it_goes_on_over_kills_of_the_server_and_of_itself() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let lines: String = (0..4_000).map(|_| format!("{}\n", fund("1.00"))).collect();
    let (_folder, calls, out) = file(&lines);
    let url = server.url();
    let written = |out: &Path| fs::read_to_string(out).map_or(0, |text| text.lines().count());
    let until = |count: usize| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while written(&out) < count {
            assert!(Instant::now() < deadline, "{} of {count}", written(&out));
            sleep(Duration::from_millis(5));
        }
    };
    // It waits for a server that is not there yet.
    server.kill();
    let mut command = server.begin(&arguments(&url, key(&tenant), &calls, &out));
    sleep(Duration::from_millis(600));
    assert_eq!(fs::read(&out).expect("made at once"), b"");
    server.restart();
    until(300);
    server.kill();
    server.restart();
    until(1_000);
    command.kill().expect("killed");
    let first = command.wait_with_output().expect("its end");
    assert!(said(&first).contains("trying again"), "{}", said(&first));
    let mut half = fs::OpenOptions::new().append(true).open(&out).expect("the file");
    half.write_all(b"{\"line\":1,").expect("written");
    drop(half);
    let output = server.command(&arguments(&url, key(&tenant), &calls, &out));
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let all = outcomes(&out);
    assert!(all.len() == 4_000 && all.values().all(|outcome| outcome["status"] == 201));
    assert_eq!(text(&tenant.test.get("/v1/balance").expect(200), "availableVes"), "4000.00");
}

#[test]
fn what_comes_too_fast_is_sent_again_and_not_written() {
    let server = Server::start_with(&[
        ("PASARELA__LIMITS__REQUESTS_PER_SECOND", "20"),
        ("PASARELA__LIMITS__BURST", "20"),
    ]);
    let tenant = server.tenant();
    let lines: String = (0..60).map(|_| format!("{}\n", fund("1.00"))).collect();
    let (_folder, calls, out) = file(&lines);
    let output = run(&server, &tenant, &calls, &out);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(outcomes(&out).values().all(|outcome| outcome["status"] == 201));
    assert!(!said(&output).contains("; 0 sent again"), "{}", said(&output));
}
