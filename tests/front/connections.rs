//! Connections: how many there may be, of one address and of all, and how long a slow one is waited for.

use crate::toy::{Server, answer, assert_problem, get, is_over, post_head, send};
use pasarela::http::listen::Limits;
use std::net::TcpStream;
use std::time::{Duration, Instant};

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
