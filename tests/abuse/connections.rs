//! Connections that anybody can open: many that say nothing, heads and bodies that never end, long
//! heads, bodies that would grow if anything unpacked them. Others are answered meanwhile, and the
//! server's memory has a bound.

use crate::harness::check::text;
use crate::harness::flows::fresh;
use crate::harness::server::{Server, Tenant};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tokio::net::TcpSocket;

/// The most memory, in MiB, that a flood may cost over what the server had before it.
pub const GROWTH_MIB_MAX: u64 = 96;
/// Bytes of a head that one connection has to itself.
const HEAD_BYTES: usize = 60_000;

/// Checks that another tenant goes on working: money in, money out, and a look at it.
#[track_caller]
pub fn others_are_served(tenant: &Tenant) {
    let api = &tenant.test;
    let before = api.books();
    api.fund("10.00");
    api.pay(1);
    assert_ne!(api.books(), before);
}

/// Asserts that a flood cost no more memory than this, and prints what it cost.
#[track_caller]
pub fn assert_grew_little(server: &Server, before_kib: u64, mib_max: u64) {
    let grown = server.memory_peak_kib().saturating_sub(before_kib) >> 10;
    println!("{grown} MiB more at most");
    assert!(grown < mib_max, "{grown} MiB more");
}

/// Opens so many connections, each of which sends this; leaves out those that the server ends.
fn crowd(server: &Server, size: usize, opening: &[u8]) -> Vec<TcpStream> {
    (0..size)
        .filter_map(|_| {
            let mut stream = TcpStream::connect(server.address()).ok()?;
            stream.write_all(opening).ok()?;
            Some(stream)
        })
        .collect()
}

/// A request from another address of this machine, with a key.
fn from_elsewhere(server: &Server, key: &str, path: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (host, port) = server.address();
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind("127.0.0.2:0".parse().expect("an address")).expect("another address");
        socket.connect(format!("{host}:{port}").parse().expect("an address")).await.expect("a connection")
    });
    let mut stream = stream.into_std().expect("a stream");
    stream.set_nonblocking(false).expect("blocking");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn one_address_that_takes_all_its_connections_leaves_the_others_theirs() {
    let server = Server::start_with(&[
        ("PASARELA__SERVER__MAX_CONNECTIONS", "400"),
        ("PASARELA__SERVER__MAX_CONNECTIONS_PER_PEER", "300"),
    ]);
    let tenant = server.tenant();
    tenant.test.fund("10.00");
    let before = server.memory_kib();
    let held = crowd(&server, 900, b"");
    assert!(held.len() >= 300);
    let key = text(&tenant.created["testKey"], "key");
    for _ in 0..20 {
        let answer = from_elsewhere(&server, key, "/v1/balance");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    assert_grew_little(&server, before, GROWTH_MIB_MAX);
    drop(held);
    // Operators have a listener of their own.
    server.admin().get("/admin/status").expect(200);
}

#[test]
fn heads_and_bodies_that_never_end_hold_up_nobody() {
    let server = Server::start();
    let tenant = server.tenant();
    others_are_served(&tenant);
    let before = server.memory_kib();
    let key = text(&tenant.created["testKey"], "key");
    let body = format!(
        "POST /v1/merchants HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\ncontent-type: application/json\r\n\
         content-length: 1000000\r\n\r\n{{\"name\":\""
    );
    let of_nobody = "POST /v1/payouts HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n";
    let chunked = "POST /v1/payouts HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nfffff\r\n{";
    let mut held = Vec::new();
    for opening in ["G", "GET /v1/balance HTTP/1.1\r\nhost: x\r\n", &body, of_nobody, chunked] {
        held.extend(crowd(&server, 150, opening.as_bytes()));
    }
    for _ in 0..20 {
        others_are_served(&tenant);
        // A byte now and then, so that they do not look dead.
        for stream in &mut held {
            let _ = stream.write_all(b"x");
        }
    }
    assert_grew_little(&server, before, GROWTH_MIB_MAX);
    server.admin().get("/admin/status").expect(200);
}

#[test]
fn long_heads_have_an_end() {
    let server = Server::start();
    let tenant = server.tenant();
    others_are_served(&tenant);
    let before = server.memory_kib();
    let long = format!("GET /v1/balance HTTP/1.1\r\nhost: x\r\nx-long: {}", "y".repeat(HEAD_BYTES));
    let many: String = (0..20_000).map(|n| format!("x{n}: 1\r\n")).collect();
    let many = format!("GET /v1/balance HTTP/1.1\r\nhost: x\r\n{many}\r\n");
    let path = format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "a/".repeat(200_000));
    let held = crowd(&server, 400, long.as_bytes());
    for refused in [many, path] {
        drop(crowd(&server, 50, refused.as_bytes()));
    }
    others_are_served(&tenant);
    assert_grew_little(&server, before, GROWTH_MIB_MAX);
    drop(held);
    others_are_served(&tenant);
}

#[test]
fn nothing_unpacks_what_is_packed() {
    let server = Server::start();
    let tenant = server.tenant();
    others_are_served(&tenant);
    let before = server.memory_kib();
    // Half a gigabyte of blanks, in a few kilobytes.
    let packed = zstd::bulk::compress(&vec![b' '; 512 << 20], 3).expect("compressed");
    assert!(packed.len() < 1 << 20);
    for encoding in ["zstd", "gzip", "br", "deflate", "identity, zstd"] {
        let answer = tenant.test.with("content-encoding", encoding).post_raw("/v1/merchants", packed.clone());
        assert!(matches!(answer.status, 400 | 415), "{encoding}: {} {}", answer.status, answer.text());
    }
    let packed = tenant.test.with("accept-encoding", "gzip, br, zstd").get("/v1/banks");
    assert_eq!(packed.header("content-encoding"), None);
    assert_grew_little(&server, before, GROWTH_MIB_MAX);
    others_are_served(&tenant);
}

#[test]
fn a_storm_of_strangers_fills_nothing() {
    let server = Server::start();
    let tenant = server.tenant();
    others_are_served(&tenant);
    let before = (server.memory_kib(), server.admin().get("/admin/status").expect(200)["walSeq"].clone());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 0..300 {
                    let nobody = server.nobody();
                    let guessed = uuid::Uuid::now_v7();
                    nobody.get(&format!("/checkout/{guessed}"));
                    nobody.get(&format!("/pay/{}", fresh("guess")));
                    server.api(&format!("pk_test_{n:032}")).get("/v1/balance").refused(401, "unauthorized");
                    nobody.post("/v1/payments/vpos", &json!({ "card": "x" })).refused(401, "unauthorized");
                }
            });
        }
        for _ in 0..10 {
            tenant.test.get("/v1/balance").expect(200);
        }
    });
    assert_eq!(
        server.admin().get("/admin/status").expect(200)["walSeq"],
        before.1,
        "strangers had something written"
    );
    assert_grew_little(&server, before.0, GROWTH_MIB_MAX);
    others_are_served(&tenant);
}
