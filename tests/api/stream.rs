//! Many calls over one connection (`docs/contract.md, 23`).

use crate::harness::check::text;
use crate::harness::client::Api;
use crate::harness::flows::{fresh, payout_body};
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// A stream over raw HTTP/1.1, whose lines are sent in chunks and whose answers are read meanwhile.
struct Stream {
    sending: TcpStream,
    reading: BufReader<TcpStream>,
    status: u16,
    headers: BTreeMap<String, String>,
    /// What was read and makes no line yet.
    rest: Vec<u8>,
}

impl Stream {
    #[track_caller]
    fn open(server: &Server, tenant: &Tenant) -> Stream {
        let stream =
            Stream::with(server, &[("x-api-key", key(tenant)), ("content-type", "application/x-ndjson")]);
        assert_eq!(stream.status, 200);
        stream
    }

    fn with(server: &Server, headers: &[(&str, &str)]) -> Stream {
        let mut sending = TcpStream::connect(server.address()).expect("a connection");
        sending.set_nodelay(true).expect("a socket");
        let mut head = "POST /v1/stream HTTP/1.1\r\nhost: here\r\ntransfer-encoding: chunked\r\n".to_owned();
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        sending.write_all(format!("{head}\r\n").as_bytes()).expect("sent");
        sending.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let mut reading = BufReader::new(sending.try_clone().expect("a socket"));
        let mut line = String::new();
        reading.read_line(&mut line).expect("a status");
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reading.read_line(&mut line).expect("a header");
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.insert(name.to_lowercase(), value.to_owned());
        }
        Stream { sending, reading, status, headers, rest: Vec::new() }
    }

    fn raw(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.sending.write_all(&chunk).expect("sent");
    }

    fn send(&mut self, line: &Value) {
        self.raw(format!("{line}\n"));
    }

    fn finish(&mut self) {
        self.sending.write_all(b"0\r\n\r\n").expect("sent");
    }

    /// The next line of the answer; none once it has ended in order.
    fn next(&mut self) -> Result<Option<Value>, String> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return serde_json::from_slice(&line).map(Some).map_err(|error| error.to_string());
            }
            let mut size = String::new();
            self.reading.read_line(&mut size).map_err(|error| error.to_string())?;
            let bytes = usize::from_str_radix(size.trim_end(), 16).map_err(|_| "it broke off".to_owned())?;
            let mut chunk = vec![0; bytes + 2];
            self.reading.read_exact(&mut chunk).map_err(|error| error.to_string())?;
            if bytes == 0 {
                assert!(self.rest.is_empty(), "half a line");
                return Ok(None);
            }
            self.rest.extend_from_slice(&chunk[..bytes]);
        }
    }

    #[track_caller]
    fn line(&mut self) -> Value {
        self.next().expect("an answer").expect("a line")
    }

    /// All that is left of the answer: the outcomes by line, and the end.
    #[track_caller]
    fn all(mut self) -> (BTreeMap<u64, Value>, Value) {
        let mut outcomes = BTreeMap::new();
        loop {
            let line = self.line();
            if line.get("end").is_some() {
                assert_eq!(self.next(), Ok(None));
                return (outcomes, line);
            }
            let members: Vec<&String> = line.as_object().expect("an object").keys().collect();
            assert_eq!(members, ["line", "key", "status", "replayed", "walSeq", "body"]);
            let number = line["line"].as_u64().expect("a number");
            assert!(outcomes.insert(number, line).is_none(), "line {number} twice");
        }
    }
}

fn key(tenant: &Tenant) -> &str {
    tenant.created["testKey"]["key"].as_str().expect("a key")
}

fn fund(key: &str, amount: &str) -> Value {
    json!({ "key": key, "path": "/v1/test/fund", "body": { "currency": "VES", "amount": amount } })
}

fn credit(key: &str, amount: &str) -> Value {
    let body = json!({ "banco": "0134", "telefono": "04141234567", "cedula": "V12345678", "monto": amount,
        "concepto": "premio", "externalRef": key });
    json!({ "key": key, "method": "POST", "path": "/v1/payments/credit", "body": body })
}

#[track_caller]
fn ended(end: &Value, lines: u64) {
    assert_eq!(*end, json!({ "end": true, "lines": lines }));
}

/// Sends these lines at once and waits for all of it.
#[track_caller]
fn run(server: &Server, tenant: &Tenant, lines: &[Value]) -> (BTreeMap<u64, Value>, Value) {
    let mut stream = Stream::open(server, tenant);
    stream.raw(lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    stream.finish();
    stream.all()
}

#[test]
fn a_line_waits_for_an_approval_as_any_call() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.fund("100.00");
    let mandate = json!({ "perDay": { "VES": "50.00" }, "approvalAbove": { "VES": "5.00" } });
    let made = tenant.test.post("/v1/keys", &json!({ "mandate": mandate })).expect(201);
    let headers = [("x-api-key", text(&made, "key")), ("content-type", "application/x-ndjson")];
    let mut stream = Stream::with(&server, &headers);
    let waits = credit(&fresh("c"), "9.00");
    for line in [&waits, &credit(&fresh("c"), "4.00"), &waits] {
        stream.send(line);
    }
    stream.finish();
    let (lines, end) = stream.all();
    ended(&end, 3);
    assert_eq!((&lines[&1]["status"], &lines[&2]["status"]), (&json!(202), &json!(201)), "{lines:?}");
    assert_eq!(lines[&3]["body"], lines[&1]["body"]);
    let path = format!("/v1/approvals/{}", text(&lines[&1]["body"], "approvalId"));
    let shown = tenant.test.get(&path).expect(200);
    assert_eq!((&shown["path"], &shown["body"]), (&waits["path"], &waits["body"]));
    tenant.test.act(&format!("{path}/approve")).expect(200);
    assert_eq!(tenant.test.balance()["ledgerNetVes"], "87.00");
}

#[test]
fn lines_are_decided_in_their_order() {
    let server = Server::shared();
    let tenant = server.tenant();
    let mut lines = vec![fund(&fresh("k"), "100.00")];
    for n in 0..300 {
        lines.push(credit(&fresh("c"), if n % 3 == 2 { "20.00" } else { "10.00" }));
        if n % 2 == 1 {
            lines.push(fund(&fresh("k"), "20.00"));
        }
        if n % 10 == 9 {
            lines.push(json!({ "method": "GET", "path": "/v1/balance" }));
        }
    }
    let (outcomes, end) = run(&server, &tenant, &lines);
    ended(&end, lines.len() as u64);
    assert_eq!(outcomes.len(), lines.len());
    let mut cents = 0;
    for (line, (number, outcome)) in lines.iter().zip(&outcomes) {
        assert_eq!(
            (outcome["key"].as_str(), outcome["replayed"].as_bool()),
            (line["key"].as_str(), Some(false))
        );
        let amount = |name: &str| {
            let text = line["body"][name].as_str().expect("an amount").replace('.', "");
            text.parse::<i64>().expect("an amount")
        };
        match line["path"].as_str().expect("a path") {
            "/v1/test/fund" => cents += amount("amount"),
            "/v1/balance" => {
                let available = text(&outcome["body"], "availableVes").replace('.', "");
                assert_eq!(available.parse(), Ok(cents), "line {number}");
                assert_eq!(outcome["walSeq"], Value::Null);
            }
            _ if cents >= amount("monto") => {
                cents -= amount("monto");
                assert_eq!(outcome["status"], 201, "line {number}: {outcome}");
            }
            _ => assert_eq!(outcome["body"]["error"], "insufficient_balance", "line {number}"),
        }
    }
}

#[test]
fn the_sequences_of_records_rise() {
    let server = Server::shared();
    let tenant = server.tenant();
    run(&server, &tenant, &[fund(&fresh("k"), "100000.00")]);
    let lines: Vec<Value> = (0..500).map(|_| credit(&fresh("c"), "1.00")).collect();
    let (outcomes, _) = run(&server, &tenant, &lines);
    let sequences: Vec<u64> =
        outcomes.values().map(|line| line["walSeq"].as_u64().expect("written")).collect();
    assert!(sequences.is_sorted_by(|one, next| one < next), "{sequences:?}");
}

#[test]
fn answers_overtake_a_slow_bank_and_reads_keep_their_place() {
    let server = Server::start_with(&[
        ("PASARELA__RAILS__ANSWER_SECONDS", "10"),
        ("PASARELA__RAILS__SIMULATOR_DELAY_MS", "2000"),
    ]);
    let tenant = server.tenant();
    let mut stream = Stream::open(&server, &tenant);
    let paid = fresh("c");
    stream.send(&fund(&fresh("k"), "100.00"));
    assert_eq!(stream.line()["line"], 1);
    let began = Instant::now();
    stream.send(&credit(&paid, "30.00"));
    stream.send(&json!({ "method": "GET", "path": "/v1/balance" }));
    stream.send(&json!({ "method": "GET", "path": format!("/v1/payouts/by-ref/{paid}") }));
    stream.send(&fund(&fresh("k"), "1.00"));
    stream.send(&json!({ "method": "GET", "path": "/v1/balance" }));
    let (balance, read) = (stream.line(), stream.line());
    assert_eq!((&balance["line"], &balance["body"]["availableVes"]), (&json!(3), &json!("70.00")));
    assert_eq!((&read["line"], &read["body"]["status"]), (&json!(4), &json!("pending")));
    let (funded, again) = (stream.line(), stream.line());
    assert_eq!((&funded["line"], &again["line"]), (&json!(5), &json!(6)));
    assert_eq!(again["body"]["availableVes"], "71.00");
    assert!(began.elapsed() < Duration::from_millis(1_800), "{:?}", began.elapsed());
    stream.finish();
    let (outcomes, end) = stream.all();
    assert_eq!(
        (&outcomes[&2]["status"], &outcomes[&2]["body"]["status"]),
        (&json!(201), &json!("completed"))
    );
    ended(&end, 6);
}

#[test]
fn a_refused_line_is_told_and_the_stream_goes_on() {
    let server = Server::shared();
    let tenant = server.tenant();
    let mut stream = Stream::open(&server, &tenant);
    let long = format!("{{\"key\":\"k\",\"path\":\"/v1/test/fund\",\"body\":\"{}\"}}\n", "x".repeat(70_000));
    for (line, status, code, field) in [
        ("{\n", 400, "invalid_json", None),
        ("{} {}\n", 400, "invalid_json", None),
        ("{\"key\":\"a\",\"key\":\"a\",\"path\":\"/v1/test/fund\"}\r\n", 400, "invalid_json", None),
        (
            "{\"key\":\"a\",\"path\":\"/v1/test/fund\",\"body\":{\"a\":{\"b\":1,\"b\":2}}}\n",
            400,
            "invalid_json",
            None,
        ),
        ("[]\n", 400, "invalid_data", Some("body")),
        ("{\"path\":\"/v1/test/fund\"}\n", 400, "invalid_data", Some("key")),
        ("{\"key\":\"a\"}\n", 400, "invalid_data", Some("path")),
        ("{\"key\":\"a\",\"path\":\"/v1/test/fund\",\"more\":1}\n", 400, "invalid_data", Some("more")),
        ("{\"method\":\"HEAD\",\"path\":\"/v1/balance\"}\n", 400, "invalid_data", Some("method")),
        ("{\"method\":\"GET\",\"path\":\"/v1/balance\",\"key\":\"a\"}\n", 400, "invalid_data", Some("key")),
        ("{\"method\":\"GET\",\"path\":\"/v1/balance?no=1\"}\n", 400, "invalid_data", Some("no")),
        ("{\"key\":\"a\",\"path\":\"/v1/stream\"}\n", 400, "invalid_data", Some("path")),
        ("{\"method\":\"GET\",\"path\":\"/v1/stream\"}\n", 400, "invalid_data", Some("path")),
        ("{\"method\":\"GET\",\"path\":\"/v1/payments/x/receipt\"}\n", 400, "invalid_data", Some("path")),
        ("{\"key\":\"a\",\"path\":\"/v1/test/fund\",\"body\":null}\n", 400, "invalid_data", Some("body")),
        ("{\"key\":\"a\",\"path\":\"/v1/test/fund\"}\n", 400, "invalid_json", None),
        ("{\"method\":\"GET\",\"path\":\"/v1/nothing\"}\n", 404, "not_found", None),
        ("{\"method\":\"GET\",\"path\":\"/healthz\"}\n", 404, "not_found", None),
        ("{\"method\":\"GET\",\"path\":\"/v1//balance\"}\n", 404, "not_found", None),
        ("{\"key\":\"a\",\"method\":\"POST\",\"path\":\"/v1/balance\"}\n", 405, "method_not_allowed", None),
        ("{\"key\":\" \\t\",\"path\":\"/v1/test/fund\"}\n", 400, "invalid_data", Some("key")),
        (&*long, 413, "payload_too_large", None),
    ] {
        stream.raw(line);
        let outcome = stream.line();
        let told = (outcome["status"].as_u64(), outcome["body"]["error"].as_str());
        assert_eq!(told, (Some(status), Some(code)), "{line}: {outcome}");
        let fields = outcome["body"]["fields"].as_array();
        let named =
            fields.map(|fields| fields.iter().filter_map(|bad| bad["field"].as_str()).collect::<Vec<_>>());
        assert_eq!(named, field.map(|field| vec![field]), "{line}: {outcome}");
        assert_eq!(outcome["walSeq"], Value::Null, "{line}");
    }
    // A byte that is not UTF-8, and lines that have no number, however long.
    stream.raw(b"\xff\n\n  \r\n\t\n");
    stream.raw(format!("{}\r\n", " ".repeat(70 << 10)));
    assert_eq!(stream.line()["body"]["error"], "invalid_json");
    // The last line needs no end.
    stream.raw(fund("last", "3.00").to_string());
    stream.finish();
    let (outcomes, end) = stream.all();
    assert_eq!(outcomes[&24]["status"], 201);
    ended(&end, 24);
    assert_eq!(tenant.test.get("/v1/balance").expect(200)["availableVes"], "3.00");
}

#[test]
fn what_was_done_is_answered_again() {
    let server = Server::shared();
    let tenant = server.tenant();
    let lines = [fund(&fresh("k"), "50.00"), credit(&fresh("c"), "20.00"), credit(&fresh("c"), "90.00")];
    let (first, _) = run(&server, &tenant, &lines);
    let (again, _) = run(&server, &tenant, &lines);
    for (first, again) in first.values().zip(again.values()) {
        assert_eq!((first["replayed"].as_bool(), again["replayed"].as_bool()), (Some(false), Some(true)));
        for member in ["status", "walSeq", "body", "key"] {
            assert_eq!(first[member], again[member]);
        }
    }
    // The header's key is the line's, and a stream's own line is waited for.
    let body = credit("x", "1.00")["body"].clone();
    let alone = tenant.test.keyed("both").post("/v1/payments/credit", &body);
    alone.expect(201);
    let (outcomes, _) = run(
        &server,
        &tenant,
        &[
            json!({ "key": "both", "path": "/v1/payments/credit", "body": body }),
            fund("twice", "1.00"),
            fund("twice", "1.00"),
            fund("twice", "2.00"),
        ],
    );
    assert_eq!((&outcomes[&1]["replayed"], &outcomes[&1]["body"]), (&json!(true), &alone.json()));
    assert_eq!(outcomes[&1]["walSeq"].as_u64(), Some(alone.wal_seq()));
    assert_eq!((&outcomes[&2]["replayed"], &outcomes[&3]["replayed"]), (&json!(false), &json!(true)));
    assert_eq!(outcomes[&2]["body"], outcomes[&3]["body"]);
    assert_eq!(outcomes[&4]["body"]["error"], "idempotency_key_reused");
}

#[test]
fn only_a_few_things_refuse_a_stream() {
    let server = Server::shared();
    let tenant = server.tenant();
    let refused = |headers: &[(&str, &str)]| {
        let stream = Stream::with(&server, headers);
        (stream.status, stream.headers.contains_key("retry-after"))
    };
    let ndjson = ("content-type", "application/x-ndjson");
    assert_eq!(refused(&[ndjson]), (401, false));
    assert_eq!(refused(&[ndjson, ("x-api-key", "pk_test_no")]), (401, false));
    assert_eq!(refused(&[("x-api-key", key(&tenant))]), (415, false));
    assert_eq!(refused(&[("content-type", "application/json"), ("x-api-key", key(&tenant))]), (415, false));
    let typed = ("content-type", "Application/X-NDJSON; charset=utf-8");
    assert_eq!(refused(&[typed, ("x-api-key", key(&tenant))]), (200, false));
    assert_eq!(refused(&[ndjson, ("x-api-key", key(&tenant)), ("dry-run", "perhaps")]), (400, false));
    tenant.test.get("/v1/stream").refused(405, "method_not_allowed");
}

#[test]
fn each_line_of_a_rehearsed_stream_is_rehearsed_for_itself() {
    let server = Server::shared();
    let tenant = server.tenant();
    let headers =
        [("content-type", "application/x-ndjson"), ("x-api-key", key(&tenant)), ("dry-run", "true")];
    let mut stream = Stream::with(&server, &headers);
    stream.send(&fund("k-1", "5.00"));
    stream.send(&credit("k-2", "1.00"));
    stream.finish();
    let (outcomes, end) = stream.all();
    ended(&end, 2);
    for (line, status, available) in [(1, 201, "5.00"), (2, 422, "0.00")] {
        let (outcome, body) = (&outcomes[&line], &outcomes[&line]["body"]);
        assert_eq!((&outcome["status"], &outcome["walSeq"]), (&json!(200), &Value::Null), "{outcome}");
        assert_eq!((&body["dryRun"], &body["status"]), (&json!(true), &json!(status)), "{outcome}");
        assert_eq!(body["balance"]["availableVes"], available, "{outcome}");
    }
    assert_eq!(tenant.test.get("/v1/balance").expect(200)["availableVes"], "0.00");
}

#[test]
fn the_seventeenth_stream_is_refused_until_one_ends() {
    let server = Server::shared();
    let tenant = server.tenant();
    let mut open: Vec<Stream> = (0..16).map(|_| Stream::open(&server, &tenant)).collect();
    let headers = [("x-api-key", key(&tenant)), ("content-type", "application/x-ndjson")];
    let refused = Stream::with(&server, &headers);
    assert_eq!((refused.status, refused.headers.contains_key("retry-after")), (429, true));
    let other = server.tenant();
    Stream::open(&server, &other);
    // One that ends makes room, and so does one that is cut.
    for is_cut in [false, true] {
        let mut stream = open.pop().expect("a stream");
        if is_cut {
            drop(stream);
        } else {
            stream.finish();
            ended(&stream.line(), 0);
        }
        let deadline = Instant::now() + Duration::from_secs(5);
        loop {
            let stream = Stream::with(&server, &headers);
            if stream.status == 200 {
                open.push(stream);
                break;
            }
            assert!(Instant::now() < deadline, "no place is free");
            sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn half_a_line_never_happens() {
    let server = Server::shared();
    let tenant = server.tenant();
    let mut stream = Stream::open(&server, &tenant);
    stream.send(&fund(&fresh("k"), "1.00"));
    assert_eq!(stream.line()["status"], 201);
    stream.raw(fund(&fresh("k"), "5.00").to_string());
    sleep(Duration::from_millis(100));
    drop(stream);
    sleep(Duration::from_millis(300));
    assert_eq!(tenant.test.get("/v1/balance").expect(200)["availableVes"], "1.00");
}

#[test]
fn a_thousand_and_twenty_four_lines_are_under_way_and_no_more() {
    let server = Server::start_with(&[
        ("PASARELA__RAILS__ANSWER_SECONDS", "30"),
        ("PASARELA__RAILS__SIMULATOR_DELAY_MS", "12000"),
    ]);
    let tenant = server.tenant();
    run(&server, &tenant, &[fund(&fresh("k"), "100000.00")]);
    let mut stream = Stream::open(&server, &tenant);
    let lines: String = (0..1_030).map(|_| format!("{}\n", credit(&fresh("c"), "1.00"))).collect();
    stream.raw(lines);
    stream.finish();
    let left = |api: &Api| text(&api.get("/v1/balance").expect(200), "availableVes").to_owned();
    let deadline = Instant::now() + Duration::from_secs(11);
    while left(&tenant.test) != "98976.00" {
        assert!(Instant::now() < deadline, "{} is left", left(&tenant.test));
        sleep(Duration::from_millis(50));
    }
    sleep(Duration::from_millis(200));
    assert_eq!(left(&tenant.test), "98976.00");
    let (outcomes, end) = stream.all();
    assert!(outcomes.len() == 1_030 && outcomes.values().all(|line| line["status"] == 201));
    ended(&end, 1_030);
}

#[test]
fn each_line_counts_for_the_rate() {
    let server = Server::start_with(&[
        ("PASARELA__LIMITS__REQUESTS_PER_SECOND", "1"),
        ("PASARELA__LIMITS__BURST", "5"),
    ]);
    let tenant = server.tenant();
    let lines: Vec<Value> = (0..8).map(|_| fund(&fresh("k"), "1.00")).collect();
    let (outcomes, end) = run(&server, &tenant, &lines);
    let statuses: Vec<u64> = outcomes.values().filter_map(|line| line["status"].as_u64()).collect();
    assert_eq!(statuses[..5], [201; 5]);
    assert!(statuses[6..].iter().all(|status| *status == 429), "{statuses:?}");
    ended(&end, 8);
}

#[test]
fn lines_are_counted_and_logged_as_calls() {
    let server = Server::start();
    let tenant = server.tenant();
    let (outcomes, _) = run(
        &server,
        &tenant,
        &[
            fund(&fresh("k"), "1.00"),
            fund(&fresh("k"), "1.00"),
            json!({ "method": "GET", "path": "/v1/balance" }),
            json!({ "method": "GET", "path": "/v1/nothing" }),
        ],
    );
    let figures = server.admin().get("/metrics").text().to_owned();
    let count = |method: &str, route: &str, status: u16| {
        let sample = format!(
            "pasarela_http_requests_total{{method=\"{method}\",route=\"{route}\",status=\"{status}\"}} "
        );
        figures.lines().find_map(|line| line.strip_prefix(&sample)).map(str::to_owned)
    };
    assert_eq!(count("POST", "/v1/test/fund", 201).as_deref(), Some("2"));
    assert_eq!(count("GET", "/v1/balance", 200).as_deref(), Some("1"));
    assert_eq!(count("POST", "/v1/stream", 200).as_deref(), Some("1"));
    let id = text(&outcomes[&4]["body"], "requestId");
    let logged = tenant.test.get(&format!("/v1/requests/{id}")).expect(200);
    assert_eq!((&logged["method"], &logged["status"]), (&json!("GET"), &json!(404)));
}

#[test]
fn a_server_that_stops_says_so() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let mut stream = Stream::open(&server, &tenant);
    stream.send(&fund(&fresh("k"), "1.00"));
    stream.send(&fund(&fresh("k"), "1.00"));
    stream.line();
    stream.line();
    server.ask_to_end();
    let (outcomes, end) = stream.all();
    assert!(outcomes.is_empty());
    assert_eq!(end, json!({ "end": false, "code": "server_stopping", "answered": 2 }));
    assert!(server.wait().success());
}

#[test]
fn every_line_is_done_once_over_kills_of_the_server() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let lines: Vec<Value> = (0..3_000)
        .map(|n| if n % 2 == 0 { fund(&fresh("k"), "2.00") } else { credit(&fresh("c"), "1.00") })
        .collect();
    let mut answers: BTreeMap<String, Value> = BTreeMap::new();
    for n in 0.. {
        let left: Vec<&Value> =
            lines.iter().filter(|line| !answers.contains_key(text(line, "key"))).collect();
        if left.is_empty() {
            break;
        }
        let mut stream = Stream::open(&server, &tenant);
        let all: String = left.iter().map(|line| format!("{line}\n")).collect();
        let mut sending = stream.sending.try_clone().expect("a socket");
        let sender = std::thread::spawn(move || {
            let _ = sending.write_all(format!("{:x}\r\n{all}\r\n0\r\n\r\n", all.len()).as_bytes());
        });
        let mut seen = 0;
        while let Ok(Some(line)) = stream.next() {
            if line.get("end").is_some() {
                break;
            }
            // A kill between a payout and its bank leaves it pending.
            assert!(line["status"] == 201 || line["status"] == 202 && line["replayed"] == true, "{line}");
            answers.insert(text(&line, "key").to_owned(), line);
            seen += 1;
            if n < 4 && seen == 400 {
                server.kill();
            }
        }
        sender.join().expect("sent");
        if n < 4 {
            server.restart();
        }
    }
    assert_eq!(answers.len(), lines.len());
    assert_eq!(tenant.test.get("/v1/balance").expect(200)["availableVes"], "1500.00");
    // Each answer is the one that stands.
    let (again, _) = run(&server, &tenant, &lines[..200]);
    for line in again.values() {
        let first = &answers[text(line, "key")];
        if first["status"] == 202 {
            continue;
        }
        assert_eq!((&line["replayed"], &line["body"]), (&json!(true), &first["body"]));
        assert_eq!(line["walSeq"], first["walSeq"]);
    }
}

#[test]
fn a_batch_and_a_merchant_may_stand_in_a_stream() {
    let server = Server::shared();
    let tenant = server.tenant();
    let merchant = tenant.test.merchant();
    let payout = payout_body(&merchant, "10.00");
    let batch = json!({ "externalRef": fresh("b"), "items": [payout_body(&merchant, "5.00")] });
    let path = format!("/v1/merchants/{}", text(&merchant, "merchantId"));
    let (outcomes, end) = run(
        &server,
        &tenant,
        &[
            fund(&fresh("k"), "100.00"),
            json!({ "key": fresh("k"), "path": "/v1/payouts", "body": payout }),
            json!({ "key": fresh("k"), "path": "/v1/payouts/batch", "body": batch }),
            json!({ "method": "PATCH", "path": path, "body": { "isActive": false } }),
            json!({ "key": fresh("k"), "path": "/v1/payouts", "body": payout_body(&merchant, "1.00") }),
            json!({ "method": "GET", "path": "/v1/balance" }),
        ],
    );
    ended(&end, 6);
    let statuses: Vec<u64> = outcomes.values().filter_map(|line| line["status"].as_u64()).collect();
    assert_eq!(statuses, [201, 201, 201, 200, 409, 200], "{outcomes:?}");
    assert_eq!(outcomes[&6]["body"]["availableVes"], "85.00");
}

/// The only test that waits for so long: the bound is the contract's.
#[test]
fn a_silent_connection_ends() {
    let server = Server::shared();
    let tenant = server.tenant();
    let mut stream = Stream::open(&server, &tenant);
    stream.sending.set_read_timeout(Some(Duration::from_secs(90))).expect("a socket");
    stream.send(&fund(&fresh("k"), "1.00"));
    assert_eq!(stream.line()["status"], 201);
    sleep(Duration::from_secs(5));
    stream.raw("\n");
    let began = Instant::now();
    assert_eq!(stream.line(), json!({ "end": false, "code": "idle", "answered": 1 }));
    let took = began.elapsed();
    assert!((Duration::from_secs(59)..Duration::from_secs(63)).contains(&took), "{took:?}");
}
