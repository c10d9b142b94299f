//! HTTP/2 as an attacker speaks it, frame by frame: streams that are reset as soon as they began,
//! heads that never end, settings and pings without pause, bodies that stay unfinished on every
//! stream.

use crate::connections::{GROWTH_MIB_MAX, assert_grew_little, others_are_served};
use crate::harness::check::text;
use crate::harness::server::Server;
use bytes::Bytes;
use hyper::Request;
use hyper::body::{Body, Frame};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::pin::Pin;
use std::sync::mpsc::channel;
use std::task::{Context, Poll};
use std::time::Duration;

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// The most memory, in MiB, that unfinished bodies may cost: twice the budget, as a buffer grows by
/// doubling, and what the windows of the connections let in before it is counted.
const BODIES_MIB_MAX: u64 = 2 * 64 + 80;

/// A frame of this kind on a stream.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a frame is short").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A header whose name is in HPACK's table, written out.
fn literal(index: u8, value: &str) -> Vec<u8> {
    let length = u8::try_from(value.len()).expect("short").min(126);
    [&[index, length], &value.as_bytes()[..usize::from(length)]].concat()
}

/// The head of a GET.
fn head(path: &str) -> Vec<u8> {
    [vec![0x82, 0x86], literal(0x04, path), literal(0x01, "x")].concat()
}

/// A connection that has said hello.
fn hello(server: &Server) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
    stream.set_write_timeout(Some(Duration::from_secs(5))).expect("a timeout");
    let hello = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(SETTINGS, 0, 0, &[])].concat();
    stream.write_all(&hello).expect("sent");
    stream
}

/// Sends frames until all are sent or the server has had enough; true if it ended the connection.
fn flood(stream: &mut TcpStream, frames: impl Iterator<Item = Vec<u8>>) -> bool {
    let mut heard = [0; 16 << 10];
    let mut group = Vec::new();
    for (n, next) in frames.enumerate() {
        group.extend(next);
        if n % 64 == 63 {
            if stream.write_all(&std::mem::take(&mut group)).is_err() {
                return true;
            }
            stream.set_nonblocking(true).expect("not blocking");
            let ended = matches!(stream.read(&mut heard), Ok(0));
            stream.set_nonblocking(false).expect("blocking");
            if ended {
                return true;
            }
        }
    }
    stream.write_all(&group).is_err()
}

/// The ids of a client's streams, which are odd.
fn streams(count: u32) -> impl Iterator<Item = u32> {
    (0..count).map(|n| n * 2 + 1)
}

#[test]
fn streams_that_are_reset_at_once_do_no_harm() {
    let server = Server::start();
    let tenant = server.tenant();
    others_are_served(&tenant);
    let before = server.memory_kib();
    let mut ended = 0;
    for _ in 0..20 {
        let mut stream = hello(&server);
        let frames = streams(5_000).map(|stream| {
            let begun = frame(HEADERS, END_STREAM | END_HEADERS, stream, &head("/v1/banks"));
            [begun, frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes())].concat()
        });
        ended += usize::from(flood(&mut stream, frames));
        others_are_served(&tenant);
    }
    assert!(ended > 0, "nobody who resets a hundred thousand streams is sent away");
    assert_grew_little(&server, before, GROWTH_MIB_MAX);
}

#[test]
fn heads_in_pieces_without_end_are_cut_off() {
    let server = Server::start();
    let tenant = server.tenant();
    others_are_served(&tenant);
    let before = server.memory_kib();
    let mut ended = 0;
    for _ in 0..10 {
        let mut stream = hello(&server);
        let begun = frame(HEADERS, END_STREAM, 1, &head("/v1/banks"));
        let more = [0x00, 1, b'x', 1, b'y'].repeat(100);
        let frames = std::iter::once(begun).chain((0..20_000).map(|_| frame(CONTINUATION, 0, 1, &more)));
        ended += usize::from(flood(&mut stream, frames));
    }
    assert_eq!(ended, 10, "a head without end was read on");
    assert_grew_little(&server, before, GROWTH_MIB_MAX);
    others_are_served(&tenant);
}

#[test]
fn pings_and_settings_without_pause_fill_nothing() {
    let server = Server::start();
    let tenant = server.tenant();
    others_are_served(&tenant);
    let before = server.memory_kib();
    for kind in [PING, SETTINGS] {
        for _ in 0..5 {
            let mut stream = hello(&server);
            let payload = if kind == PING { vec![7; 8] } else { vec![0, 4, 0, 0, 255, 255] };
            // The client hardly reads the answers: they must not pile up.
            let frames = (0..50_000).map(|_| frame(kind, 0, 0, &payload));
            flood(&mut stream, frames);
            others_are_served(&tenant);
        }
    }
    assert_grew_little(&server, before, GROWTH_MIB_MAX);
}

/// A body that has begun, goes on for a while, and does not end.
struct Unfinished {
    pieces: usize,
}

impl Body for Unfinished {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.pieces == 0 {
            return Poll::Pending;
        }
        self.pieces -= 1;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b' '; 12 << 10])))))
    }
}

/// Holds unfinished bodies on every stream of many connections until the server refuses one of
/// them, and then until `meanwhile` is done; returns the status of the refusal.
fn held_open(server: &Server, key: &str, meanwhile: impl FnOnce()) -> Option<u16> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let (told, refused) = channel();
    for _ in 0..40 {
        let (told, key, address) = (told.clone(), key.to_owned(), server.address());
        runtime.spawn(async move {
            let stream = tokio::net::TcpStream::connect(address).await.expect("a connection");
            let (mut sender, connection) =
                http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.expect("a handshake");
            tokio::spawn(connection);
            for _ in 0..100 {
                let request = Request::post("http://x/v1/merchants")
                    .header("x-api-key", &key)
                    .header("content-type", "application/json")
                    .body(Unfinished { pieces: 5 })
                    .expect("a request");
                let (told, sent) = (told.clone(), sender.send_request(request));
                tokio::spawn(async move {
                    if let Ok(answer) = sent.await {
                        let _ = told.send(answer.status().as_u16());
                    }
                });
            }
            // The connection lives as long as its sender.
            std::future::pending::<()>().await;
            drop(sender);
        });
    }
    let refused = refused.recv_timeout(Duration::from_secs(60)).ok();
    meanwhile();
    runtime.shutdown_background();
    refused
}

#[test]
fn bodies_on_every_stream_stay_within_one_budget() {
    let server = Server::start();
    let tenant = server.tenant();
    others_are_served(&tenant);
    let before = server.memory_kib();
    let key = text(&tenant.created["testKey"], "key").to_owned();
    // Two hundred and forty megabytes, of which sixty-four are taken.
    let refused = held_open(&server, &key, || others_are_served(&tenant));
    assert_eq!(refused, Some(429), "no body was one too many for one tenant");
    assert_grew_little(&server, before, BODIES_MIB_MAX);
    others_are_served(&tenant);
}
