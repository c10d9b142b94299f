//! A toy service behind the HTTP front, and a client that speaks to it byte by byte.

use api::problem::Problem;
use bytes::Bytes;
use pasarela::http::body::Inbound;
use pasarela::http::listen::{Answer, Arrival, Drained, Limits, Listener};
use pasarela::http::respond::Reply;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, LazyLock};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

pub const MIB: usize = 1 << 20;

/// The bytes that answers are cut from; made once, so that only a copy takes memory.
pub static LONG: LazyLock<Bytes> = LazyLock::new(|| (0..MIB).map(|n| b'a' + (n % 26) as u8).collect());

/// A toy service: `GET /ok`, `POST /length` (reads JSON), `GET /slow/<ms>`, `GET /bytes/<n>`, `GET
/// /panic`; anything else is 404 without a look at the body, in which a card may be at `/card`.
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
            "/card" => {
                body.has_card = true;
                Reply::problem(&Problem::not_found(), request_id)
            }
            "/length" => match body.json(&head.headers).await {
                Ok(bytes) => Reply::json(200, bytes.len().to_string()),
                Err(problem) => Reply::problem(&problem, request_id),
            },
            _ => Reply::problem(&Problem::not_found(), request_id),
        }
    }
}

pub struct Server {
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Drained>>,
}

impl Server {
    pub fn start(limits: Limits) -> Self {
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

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("a connection");
        let timeout = Some(Duration::from_secs(10));
        stream.set_read_timeout(timeout).expect("a timeout");
        stream
    }

    /// Asks it to stop, without waiting.
    pub fn ask_to_stop(&mut self) {
        self.stop.take().expect("not stopped yet").send(()).expect("it runs");
    }

    pub fn join(&mut self) -> Drained {
        self.thread.take().expect("not joined yet").join().expect("no panic")
    }
}

pub struct Answered {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answered {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(": ")?;
            known.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// Reads one response with a Content-Length.
pub fn answer(stream: &mut TcpStream) -> Answered {
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

pub fn send(stream: &mut TcpStream, text: impl AsRef<[u8]>) {
    stream.write_all(text.as_ref()).expect("sent");
}

pub fn get(stream: &mut TcpStream, path: &str) -> Answered {
    send(stream, format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n"));
    answer(stream)
}

pub fn post_head(path: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
}

/// True if the server ended the connection.
pub fn is_over(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0]) {
        Ok(0) => true,
        Ok(_) => false,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

pub fn assert_problem(answered: &Answered, status: u16, code: &str) {
    let body: serde_json::Value = serde_json::from_str(&answered.body).expect("an error body");
    assert_eq!((answered.status, body["error"].as_str()), (status, Some(code)), "{}", answered.body);
    assert_eq!(body["requestId"].as_str(), answered.header("x-request-id"));
}
