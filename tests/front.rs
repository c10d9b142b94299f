//! The HTTP front over real sockets, with a toy service behind it: what a caller sees when it
//! misbehaves, and when the server stops.

use api::problem::Problem;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request};
use hyper_util::rt::{TokioExecutor, TokioIo};
use pasarela::http::body::Inbound;
use pasarela::http::listen::{Answer, Arrival, Drained, Limits, Listener};
use pasarela::http::respond::Reply;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::sync::{Arc, LazyLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

const MIB: usize = 1 << 20;

/// The variable that is set in a process that runs one test and nothing beside it.
const ALONE: &str = "FRONT_TEST_ALONE";

/// The bytes that answers are cut from; made once, so that only a copy takes memory.
static LONG: LazyLock<Bytes> = LazyLock::new(|| (0..MIB).map(|n| b'a' + (n % 26) as u8).collect());

/// A toy service: `GET /ok`, `POST /length` (reads JSON), `GET /slow/<ms>`, `GET /bytes/<n>`, `GET
/// /panic`; anything else is 404 without a look at the body.
struct Toy;

impl Answer for Toy {
    async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        let Arrival { head, request_id, .. } = arrival;
        let path = head.uri.path();
        if let Some(ms) = path.strip_prefix("/slow/") {
            tokio::time::sleep(Duration::from_millis(ms.parse().expect("a number"))).await;
            return Reply::json(200, "\"slow\"");
        }
        if let Some(len) = path.strip_prefix("/bytes/") {
            return Reply::new(200, "text/plain", LONG.slice(..len.parse::<usize>().expect("a number")));
        }
        match path {
            "/ok" => Reply::json(200, "\"ok\""),
            "/panic" => panic!("on purpose"),
            "/length" => match body.json(&head.headers).await {
                Ok(bytes) => Reply::json(200, bytes.len().to_string()),
                Err(problem) => Reply::problem(&problem, request_id),
            },
            _ => Reply::problem(&Problem::not_found(), request_id),
        }
    }
}

struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Drained>>,
}

impl Server {
    fn start(limits: Limits) -> Self {
        let (stop, stopped) = oneshot::channel();
        let (ready, bound) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async move {
                let listener = Listener::bind(([127, 0, 0, 1], 0).into()).await.expect("a free port");
                ready.send(listener.local_addr().expect("an address")).expect("somebody waits");
                listener
                    .serve(Arc::new(Toy), limits, async {
                        stopped.await.expect("the order to stop");
                    })
                    .await
            })
        });
        Server { address: bound.recv().expect("bound"), stop: Some(stop), thread: Some(thread) }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("a connection");
        let timeout = Some(Duration::from_secs(10));
        stream.set_read_timeout(timeout).expect("a timeout");
        stream
    }

    /// Asks it to stop, without waiting.
    fn ask_to_stop(&mut self) {
        self.stop.take().expect("not stopped yet").send(()).expect("it runs");
    }

    fn join(&mut self) -> Drained {
        self.thread.take().expect("not joined yet").join().expect("no panic")
    }
}

struct Answered {
    status: u16,
    head: String,
    body: String,
}

impl Answered {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(": ")?;
            known.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// Reads one response with a Content-Length.
fn answer(stream: &mut TcpStream) -> Answered {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        let read = stream.read(&mut byte).expect("a head");
        assert!(read == 1, "the connection ended after {:?}", String::from_utf8_lossy(&head));
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).expect("ASCII");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let mut answered = Answered { status, head, body: String::new() };
    let length = answered.header("content-length").map_or(0, |length| length.parse().expect("a length"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body).expect("a body");
    answered.body = String::from_utf8(body).expect("UTF-8");
    answered
}

fn send(stream: &mut TcpStream, text: impl AsRef<[u8]>) {
    stream.write_all(text.as_ref()).expect("sent");
}

fn get(stream: &mut TcpStream, path: &str) -> Answered {
    send(stream, format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n"));
    answer(stream)
}

fn post_head(path: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
}

/// True if the server ended the connection.
fn is_over(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0]) {
        Ok(0) => true,
        Ok(_) => false,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

fn assert_problem(answered: &Answered, status: u16, code: &str) {
    let body: serde_json::Value = serde_json::from_str(&answered.body).expect("an error body");
    assert_eq!((answered.status, body["error"].as_str()), (status, Some(code)), "{}", answered.body);
    assert_eq!(body["requestId"].as_str(), answered.header("x-request-id"));
}

#[test]
fn a_connection_is_reused_also_after_errors_before_the_body() {
    let server = Server::start(Limits::default());
    let mut stream = server.connect();
    for _ in 0..3 {
        send(&mut stream, post_head("/no-such", 1_000));
        send(&mut stream, "x".repeat(1_000));
        assert_problem(&answer(&mut stream), 404, "not_found");
        send(&mut stream, post_head("/length", 1_000).replace("application/json", "text/plain"));
        send(&mut stream, "x".repeat(1_000));
        assert_problem(&answer(&mut stream), 415, "unsupported_media_type");
        send(&mut stream, "POST /no-such HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
        std::thread::sleep(Duration::from_millis(20));
        send(&mut stream, "3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n");
        assert_problem(&answer(&mut stream), 404, "not_found");
        assert_eq!(get(&mut stream, "/ok").status, 200);
    }
}

#[test]
fn a_body_of_exactly_one_mebibyte_is_read_and_one_byte_more_is_413() {
    let server = Server::start(Limits::default());
    let mut stream = server.connect();
    send(&mut stream, post_head("/length", MIB));
    send(&mut stream, vec![b' '; MIB]);
    assert_eq!(answer(&mut stream).body, MIB.to_string());
    send(&mut stream, post_head("/length", MIB + 1));
    send(&mut stream, vec![b' '; MIB + 1]);
    assert_problem(&answer(&mut stream), 413, "payload_too_large");
    assert_eq!(get(&mut stream, "/ok").status, 200, "the connection lives on");
}

#[test]
fn a_chunked_body_is_bounded_by_what_arrives() {
    let server = Server::start(Limits::default());
    let mut stream = server.connect();
    send(
        &mut stream,
        "POST /length HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
    );
    for _ in 0..33 {
        send(&mut stream, "8000\r\n");
        send(&mut stream, vec![b' '; 0x8000]);
        send(&mut stream, "\r\n");
    }
    send(&mut stream, "0\r\n\r\n");
    assert_problem(&answer(&mut stream), 413, "payload_too_large");
    assert_eq!(get(&mut stream, "/ok").status, 200, "the connection lives on");
}

#[test]
fn a_huge_body_gets_its_answer_before_the_end() {
    let server = Server::start(Limits::default());
    let mut stream = server.connect();
    send(&mut stream, post_head("/length", 8 * MIB));
    // The whole body is sent before anything is read, as many clients do.
    send(&mut stream, vec![b' '; 8 * MIB]);
    let answered = answer(&mut stream);
    assert_problem(&answered, 413, "payload_too_large");
    assert_eq!(answered.header("connection"), Some("close"));
    assert!(is_over(&mut stream));
}

#[test]
fn who_expects_a_continue_gets_it_only_if_the_body_is_wanted() {
    let server = Server::start(Limits::default());
    let mut stream = server.connect();
    send(&mut stream, post_head("/length", 2).replace("host: x", "host: x\r\nexpect: 100-continue"));
    assert_eq!(answer(&mut stream).status, 100);
    send(&mut stream, "{}");
    assert_eq!(answer(&mut stream).body, "2");
    send(&mut stream, post_head("/no-such", 2).replace("host: x", "host: x\r\nexpect: 100-continue"));
    let answered = answer(&mut stream);
    assert_eq!((answered.status, answered.header("connection")), (404, Some("close")));
}

#[test]
fn answers_of_every_length_arrive_whole() {
    let server = Server::start(Limits::default());
    let mut stream = server.connect();
    // Head and body go out together up to two kilobytes, of which heads take some hundred bytes.
    for len in [0, 1].into_iter().chain(1_700..2_100).chain([4_095, 65_537, MIB]) {
        let answered = get(&mut stream, &format!("/bytes/{len}"));
        assert_eq!(answered.status, 200);
        assert!(answered.body.as_bytes() == &LONG[..len], "{len} bytes");
    }
}

#[test]
fn a_connection_keeps_nothing_of_a_long_answer() {
    // The test runs in a process of its own: what others allocate meanwhile would count too.
    if std::env::var_os(ALONE).is_none() {
        let mut alone = Command::new(std::env::current_exe().expect("this is a program"));
        let ended = alone
            .args(["--exact", "a_connection_keeps_nothing_of_a_long_answer"])
            .env(ALONE, "")
            .output()
            .expect("it can be started again");
        let told = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && told.contains("1 passed"), "{told}");
        return;
    }
    let connections = 64;
    let server = Server::start(Limits::default());
    // The bytes are made before the look at the memory.
    assert_eq!(get(&mut server.connect(), "/bytes/1048576").body.len(), LONG.len());
    let before = own_memory();
    let kept: Vec<TcpStream> = (0..connections)
        .map(|_| {
            let mut stream = server.connect();
            assert_eq!(get(&mut stream, "/bytes/1048576").body.len(), MIB);
            stream
        })
        .collect();
    let grown = own_memory().saturating_sub(before);
    // The growth is some kilobytes of buffers each, and nothing near what was sent.
    assert!(grown < connections * MIB / 2, "{grown} bytes more for {} connections", kept.len());
}

/// The memory of this process that is its own, in bytes.
fn own_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("it says so");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = Server::start(Limits::default());
    let mut stream = server.connect();
    let mut text = String::new();
    for n in 0..50 {
        text += &format!(
            "POST /length HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {n}\r\n\r\n{}",
            "x".repeat(n)
        );
    }
    send(&mut stream, text);
    for n in 0..50 {
        assert_eq!(answer(&mut stream).body, n.to_string());
    }
}

#[test]
fn heads_are_bounded_in_size_and_number() {
    let server = Server::start(Limits::default());
    for extra in
        [format!("x: {}\r\n", "y".repeat(200_000)), (0..101).map(|n| format!("x-{n}: y\r\n")).collect()]
    {
        let mut stream = server.connect();
        let head = format!("GET /ok HTTP/1.1\r\nhost: x\r\n{extra}\r\n");
        send(&mut stream, head);
        assert_problem(&answer(&mut stream), 431, "head_too_large");
        assert!(is_over(&mut stream));
    }
    let mut stream = server.connect();
    let fitting = format!("GET /ok HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n", "y".repeat(60_000));
    send(&mut stream, fitting);
    assert_eq!(answer(&mut stream).status, 200);
}

#[test]
fn slow_heads_slow_bodies_and_idle_connections_end() {
    let server = Server::start(Limits {
        head_timeout: Duration::from_millis(300),
        body_timeout: Duration::from_millis(300),
        idle_timeout: Duration::from_millis(900),
        ..Limits::default()
    });
    let silent = server.connect();
    let mut slow_first = server.connect();
    send(&mut slow_first, "GET /ok HT");
    let mut slow_second = server.connect();
    assert_eq!(get(&mut slow_second, "/ok").status, 200);
    let mut idle = server.connect();
    assert_eq!(get(&mut idle, "/ok").status, 200);
    let start = Instant::now();
    send(&mut slow_second, "GET /ok HT");
    for (mut stream, least, most) in
        [(silent, 200, 5_000), (slow_first, 200, 5_000), (slow_second, 200, 5_000), (idle, 800, 5_000)]
    {
        assert!(is_over(&mut stream));
        let took = start.elapsed().as_millis();
        assert!((least..most).contains(&took), "{took} ms");
    }
    let mut stream = server.connect();
    send(&mut stream, post_head("/length", 10));
    send(&mut stream, "{");
    let answered = answer(&mut stream);
    assert_problem(&answered, 408, "request_timeout");
    assert_eq!(answered.header("connection"), Some("close"));
    let mut busy = server.connect();
    assert_eq!(
        get(&mut busy, "/slow/1500").body,
        "\"slow\"",
        "time limits do not hold for what is being answered"
    );
}

#[test]
fn one_connection_too_many_is_told_so() {
    let server = Server::start(Limits { connections_max: 2, ..Limits::default() });
    let mut first = server.connect();
    let mut second = server.connect();
    assert_eq!((get(&mut first, "/ok").status, get(&mut second, "/ok").status), (200, 200));
    let mut third = server.connect();
    let answered = get(&mut third, "/ok");
    assert_problem(&answered, 503, "overloaded");
    assert_eq!(answered.header("retry-after"), Some("1"));
    assert!(is_over(&mut third));
    drop(first);
    let start = Instant::now();
    while get(&mut server.connect(), "/ok").status != 200 {
        assert!(start.elapsed() < Duration::from_secs(5), "the place of the first is never free");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn one_address_has_so_many_connections_and_no_more() {
    let server = Server::start(Limits { connections_per_peer_max: 2, ..Limits::default() });
    let mut held = [server.connect(), server.connect()];
    held.iter_mut().for_each(|stream| assert_eq!(get(stream, "/ok").status, 200));
    let mut third = server.connect();
    assert_problem(&get(&mut third, "/ok"), 503, "overloaded");
    drop(held);
    let start = Instant::now();
    while get(&mut server.connect(), "/ok").status != 200 {
        assert!(start.elapsed() < Duration::from_secs(5), "the place of the first is never free");
        std::thread::sleep(Duration::from_millis(10));
    }
    let unlimited = Server::start(Limits { connections_per_peer_max: 0, ..Limits::default() });
    let mut many: Vec<TcpStream> = (0..20).map(|_| unlimited.connect()).collect();
    many.iter_mut().for_each(|stream| assert_eq!(get(stream, "/ok").status, 200));
}

#[test]
fn a_request_says_exactly_once_whom_it_is_for() {
    let server = Server::start(Limits::default());
    for head in [
        "GET /ok HTTP/1.1\r\n\r\n",
        "GET /ok HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        "GET /ok HTTP/1.0\r\nhost: a\r\nhost: a\r\n\r\n",
    ] {
        let mut stream = server.connect();
        send(&mut stream, head);
        let answered = answer(&mut stream);
        assert_problem(&answered, 400, "invalid_data");
        assert!(answered.body.contains("\"field\":\"Host\""), "{}", answered.body);
        assert!(is_over(&mut stream), "nothing behind it is read");
    }
    let mut old = server.connect();
    send(&mut old, "GET /ok HTTP/1.0\r\n\r\n");
    assert_eq!(answer(&mut old).status, 200);
}

#[test]
fn a_bare_line_feed_in_a_head_is_a_400_and_the_end() {
    let server = Server::start(Limits::default());
    for head in [
        "GET /ok HTTP/1.1\nhost: x\n\n",
        "GET /ok HTTP/1.1\r\nhost: x\n\r\n",
        "GET /ok HTTP/1.1\r\nhost: x\r\n\n",
        "GET /ok HTTP/1.1\r\nhost: x\r\nx: y\nz: w\r\n\r\n",
    ] {
        let mut stream = server.connect();
        send(&mut stream, head);
        assert_problem(&answer(&mut stream), 400, "invalid_data");
        assert!(is_over(&mut stream));
    }
    // The head may stand behind another request, whose body may have any bytes.
    let mut stream = server.connect();
    let first = "POST /length HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\n\n\n1\n\n";
    send(&mut stream, format!("{first}{first}GET /ok HTTP/1.1\nhost: x\r\n\r\n"));
    assert_eq!(
        [answer(&mut stream).status, answer(&mut stream).status, answer(&mut stream).status],
        [200, 200, 400]
    );
    let chunked = "POST /length HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n3\r\n\n1\n\r\n0\r\n\r\n";
    let mut stream = server.connect();
    for _ in 0..2 {
        send(&mut stream, chunked);
        assert_eq!(answer(&mut stream).body, "3");
    }
    send(&mut stream, "GET /ok HTTP/1.1\n\n");
    assert_eq!(answer(&mut stream).status, 400);
}

#[test]
fn what_cannot_be_parsed_is_answered_like_any_other_bad_request() {
    let server = Server::start(Limits::default());
    for head in [
        "garbage\r\n\r\n",
        "GET /ok HTTP/9.9\r\nhost: x\r\n\r\n",
        "GET /o k HTTP/1.1\r\nhost: x\r\n\r\n",
        "G\0T /ok HTTP/1.1\r\nhost: x\r\n\r\n",
        "GET /ok HTTP/1.1\r\nhost x\r\n\r\n",
        "GET /ok HTTP/1.1\r\nhost: x\r\nbad header: y\r\n\r\n",
        "POST /length HTTP/1.1\r\nhost: x\r\ncontent-length: two\r\n\r\n",
        "POST /length HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        "POST /length HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\n\r\n",
    ] {
        let mut stream = server.connect();
        let first = "GET /ok HTTP/1.1\r\nhost: x\r\n\r\n";
        for before in ["", first, "HEAD /ok HTTP/1.1\r\nhost: x\r\n\r\n"] {
            let mut stream = server.connect();
            send(&mut stream, format!("{before}{head}GET /ok HTTP/1.1\r\nhost: x\r\n\r\n"));
            if before == first {
                assert_eq!(answer(&mut stream).status, 200);
            } else if !before.is_empty() {
                let mut empty = Vec::new();
                while !empty.ends_with(b"\r\n\r\n") {
                    empty.push(0);
                    stream
                        .read_exact(empty.last_mut().map(std::slice::from_mut).expect("a byte"))
                        .expect("a head");
                }
            }
            let answered = answer(&mut stream);
            assert_problem(&answered, 400, "invalid_data");
            assert!(answered.body.contains("\"field\":\"head\""), "{head:?}: {}", answered.body);
            assert_eq!(answered.header("content-type"), Some("application/json"));
            assert_eq!(answered.header("connection"), Some("close"));
            assert!(answered.header("date").is_some_and(|date| date.ends_with(" GMT")), "{}", answered.head);
            assert!(is_over(&mut stream), "nothing behind it is read");
        }
        send(&mut stream, "GET /ok HTTP/1.0\r\nconnection: keep-alive\r\n\r\n");
        assert_eq!(answer(&mut stream).status, 200);
        send(&mut stream, head);
        assert_problem(&answer(&mut stream), 400, "invalid_data");
    }
}

#[test]
fn what_cannot_be_parsed_is_answered_behind_the_whole_of_an_earlier_answer() {
    let server = Server::start(Limits::default());
    let mut stream = server.connect();
    let many = 12;
    let asked = format!("GET /bytes/{MIB} HTTP/1.1\r\nhost: x\r\n\r\n").repeat(many);
    send(&mut stream, format!("{asked}garbage\r\n\r\n"));
    // Long enough that the answers fill what the kernel keeps for a reader.
    std::thread::sleep(Duration::from_millis(300));
    for _ in 0..many {
        let answered = answer(&mut stream);
        assert!(answered.status == 200 && answered.body.as_bytes() == &LONG[..], "{}", answered.head);
    }
    assert_problem(&answer(&mut stream), 400, "invalid_data");
    assert!(is_over(&mut stream));
}

#[test]
fn a_panic_is_a_500_and_the_connection_lives_on() {
    let server = Server::start(Limits::default());
    let mut stream = server.connect();
    assert_problem(&get(&mut stream, "/panic"), 500, "internal_error");
    assert_eq!(get(&mut stream, "/ok").status, 200);
}

#[test]
fn every_answer_has_a_request_id_and_keeps_the_callers() {
    let server = Server::start(Limits::default());
    let mut stream = server.connect();
    let ids: Vec<String> = ["/ok", "/no", "/panic"]
        .iter()
        .map(|path| get(&mut stream, path).header("x-request-id").expect("an id").to_owned())
        .collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2]);
    send(&mut stream, "GET /no HTTP/1.1\r\nhost: x\r\nX-Request-Id: req-2026/11:21_~!\r\n\r\n");
    let answered = answer(&mut stream);
    assert_eq!(answered.header("x-request-id"), Some("req-2026/11:21_~!"));
    assert_problem(&answered, 404, "not_found");
}

#[test]
fn a_closed_sending_side_still_gets_its_answer() {
    let server = Server::start(Limits::default());
    let mut stream = server.connect();
    send(&mut stream, "GET /slow/200 HTTP/1.1\r\nhost: x\r\n\r\n");
    stream.shutdown(std::net::Shutdown::Write).expect("half closed");
    assert_eq!(answer(&mut stream).body, "\"slow\"");
    assert!(is_over(&mut stream));
}

#[test]
fn on_stop_idle_connections_close_and_work_under_way_is_finished() {
    let mut server = Server::start(Limits::default());
    let mut idle = server.connect();
    assert_eq!(get(&mut idle, "/ok").status, 200);
    let mut silent = server.connect();
    let mut busy = server.connect();
    send(&mut busy, "GET /slow/3000 HTTP/1.1\r\nhost: x\r\n\r\n");
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    server.ask_to_stop();
    assert!(is_over(&mut idle) && is_over(&mut silent));
    assert!(start.elapsed() < Duration::from_millis(2_000), "{:?}", start.elapsed());
    assert!(TcpStream::connect(server.address).is_err(), "nothing more is accepted");
    let answered = answer(&mut busy);
    assert_eq!((answered.body.as_str(), answered.header("connection")), ("\"slow\"", Some("close")));
    assert!(is_over(&mut busy));
    assert_eq!(server.join(), Drained { cut_off: 0 });
}

#[test]
fn what_takes_too_long_on_stop_is_cut_off() {
    let mut server =
        Server::start(Limits { shutdown_timeout: Duration::from_millis(200), ..Limits::default() });
    let mut busy = server.connect();
    send(&mut busy, "GET /slow/60000 HTTP/1.1\r\nhost: x\r\n\r\n");
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    server.ask_to_stop();
    assert_eq!(server.join(), Drained { cut_off: 1 });
    assert!(start.elapsed() < Duration::from_secs(2));
    assert!(is_over(&mut busy));
}

#[test]
fn a_request_that_comes_after_the_stop_is_told_so() {
    let mut server = Server::start(Limits::default());
    let mut busy = server.connect();
    send(&mut busy, "GET /slow/300 HTTP/1.1\r\nhost: x\r\n\r\n");
    std::thread::sleep(Duration::from_millis(100));
    server.ask_to_stop();
    std::thread::sleep(Duration::from_millis(50));
    // The second request was not read before the stop; nothing may happen because of it.
    send(&mut busy, "GET /ok HTTP/1.1\r\nhost: x\r\n\r\n");
    assert_eq!(answer(&mut busy).body, "\"slow\"");
    assert!(is_over(&mut busy));
    server.join();
}

#[test]
fn http_2_with_prior_knowledge() {
    let mut server = Server::start(Limits::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(server.address).await.expect("a connection");
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
                .await
                .expect("a handshake");
        let connection = tokio::spawn(connection);
        let mut ask = |method: Method, path: &str, body: Vec<u8>| {
            let request = Request::builder()
                .method(method)
                .uri(format!("http://x{path}"))
                .header("content-type", "application/json")
                .body(Full::new(Bytes::from(body)))
                .expect("a request");
            let sent = sender.send_request(request);
            async move {
                let response = sent.await.expect("a response");
                assert!(response.headers().contains_key("x-request-id"));
                let status = response.status().as_u16();
                let body = response.into_body().collect().await.expect("a body");
                (status, String::from_utf8_lossy(&body.to_bytes()).into_owned())
            }
        };
        // The requests go out at once: the slow one must not hold up the others.
        let slow = ask(Method::GET, "/slow/300", Vec::new());
        let length = ask(Method::POST, "/length", vec![b' '; 70_000]);
        let unknown = ask(Method::POST, "/no-such", vec![b' '; 1_000]);
        let panic = ask(Method::GET, "/panic", Vec::new());
        assert_eq!(length.await, (200, "70000".to_owned()));
        assert_eq!(unknown.await.0, 404);
        assert_eq!(panic.await.0, 500);
        server.ask_to_stop();
        assert_eq!(slow.await, (200, "\"slow\"".to_owned()));
        tokio::time::timeout(Duration::from_secs(2), connection)
            .await
            .expect("the connection ends")
            .expect("no panic")
            .expect("a clean end");
    });
    assert_eq!(server.join(), Drained { cut_off: 0 });
}

#[test]
fn over_http_2_a_head_beyond_the_bound_is_a_431_and_the_connection_lives_on() {
    let server = Server::start(Limits { head_bytes_max: 8 << 10, ..Limits::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(server.address).await.expect("a connection");
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
                .await
                .expect("a handshake");
        tokio::spawn(connection);
        for (length, status) in [(1_000, 200), (9_000, 431), (1_000, 200)] {
            let request = Request::get("http://x/ok").header("x", "y".repeat(length));
            let request = request.body(Full::new(Bytes::new())).expect("a request");
            let response = sender.send_request(request).await.expect("a response");
            assert_eq!(response.status().as_u16(), status);
        }
    });
}
