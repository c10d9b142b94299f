//! The stop of the server: what is idle ends, and what is under way is finished, within its time.

use crate::toy::{Server, answer, get, is_over, send};
use pasarela::http::listen::{Drained, Limits};
use std::net::TcpStream;
use std::time::{Duration, Instant};

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
