//! Heads: how long they may be, and what is refused in them before anything behind it is read.

use crate::toy::{LONG, MIB, Server, answer, assert_problem, is_over, send};
use pasarela::http::listen::Limits;
use std::io::Read;
use std::time::Duration;

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
    // Also right behind a chunked body, before that is answered.
    for head in ["GET /ok HTTP/1.1\nhost: x\r\n\r\n", "GET /ok HTTP/1.1\r\nhost: x\n\r\n"] {
        let mut stream = server.connect();
        send(&mut stream, format!("{chunked}{chunked}{head}"));
        assert_eq!([answer(&mut stream).status, answer(&mut stream).status], [200, 200]);
        assert_problem(&answer(&mut stream), 400, "invalid_data");
        assert!(is_over(&mut stream));
    }
}

#[test]
fn a_body_is_what_was_sent_however_its_length_is_padded() {
    let server = Server::start(Limits::default());
    let spaces = " ".repeat(300);
    for length in ["5".to_owned(), format!("{spaces}5"), format!("{}5{spaces}", "0".repeat(300))] {
        let mut stream = server.connect();
        let head = "POST /length HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
        let request = format!("{head}content-length: {length}\r\n\r\n[\n1\n]");
        send(&mut stream, format!("{request}{request}GET /ok HTTP/1.1\nhost: x\r\n\r\n"));
        for _ in 0..2 {
            let answered = answer(&mut stream);
            assert_eq!((answered.status, &*answered.body), (200, "5"), "{length:?}");
        }
        assert_problem(&answer(&mut stream), 400, "invalid_data");
    }
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
