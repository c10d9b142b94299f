//! What a connection carries: bodies in, answers out, in order, and the next request behind them.

use crate::toy::{LONG, MIB, Server, answer, assert_problem, get, is_over, post_head, send};
use pasarela::http::listen::Limits;
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

/// The variable that is set in a process that runs one test and nothing beside it.
const ALONE: &str = "FRONT_TEST_ALONE";

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
    assert_eq!(get(&mut stream, "/ok").status, 200, "what was left of it is little: the connection lives on");
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
fn a_body_that_nobody_read_is_discarded_only_if_it_is_little_and_no_card_is_waited_for() {
    let server = Server::start(Limits::default());
    // None of them sends its body: what is to come counts, and whether it is waited for.
    for (path, length, is_kept) in [
        ("/no-such", 1_000, true),
        ("/no-such", 2 * MIB, true),
        ("/no-such", 2 * MIB + 1, false),
        ("/card", 1_000, false),
        ("/card", 65_537, false),
    ] {
        let mut stream = server.connect();
        send(&mut stream, post_head(path, length));
        let answered = answer(&mut stream);
        assert_problem(&answered, 404, "not_found");
        assert_eq!(answered.header("connection").is_none(), is_kept, "{path} {length}");
    }
    // A card that came with its head is read, and its connection is used again, but not for ever.
    let mut stream = server.connect();
    let mut kept = 0;
    loop {
        send(&mut stream, post_head("/card", 8_000) + &"x".repeat(8_000));
        if answer(&mut stream).header("connection").is_some() {
            break;
        }
        kept += 1;
    }
    assert!((1..10).contains(&kept), "{kept} bodies with cards are held at once");
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
            .args(["--exact", "answers::a_connection_keeps_nothing_of_a_long_answer"])
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
