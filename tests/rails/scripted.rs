//! A bank that does what a script says, one step per request, and keeps the bytes that it was sent.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The bank's reaction to a request.
#[derive(Clone, Debug)]
pub enum Step {
    /// Answers with a status and a body.
    Answer(u16, String),
    /// Answers with this body, and closes the connection afterwards without having said so.
    Farewell(&'static str),
    /// Writes these pieces, each by itself, and keeps the connection.
    Pieces(&'static [&'static str]),
    /// Answers 302 to an address of the bank's own.
    Redirect,
    /// Says nothing and keeps the connection.
    Silence,
    /// Closes the connection without a word.
    Close,
    /// Promises a longer body than it sends, and closes.
    Cut,
    /// Writes what is no HTTP.
    Garbage,
    /// Promises this many bytes, and sends them.
    Long(usize),
    /// Sends head and body a byte at a time, with a pause that never lets the connection be idle.
    Drip,
}

/// An answer of JSON with status 200.
pub fn json(body: &str) -> Step {
    Step::Answer(200, body.to_owned())
}

/// A bank on loopback.
pub struct Scripted {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<Mutex<usize>>,
    /// The number of connections that the bank has closed.
    closed: watch::Receiver<usize>,
    serving: JoinHandle<()>,
}

impl Scripted {
    /// Starts a bank that follows the script; requests after its end are answered 599.
    pub async fn start(steps: Vec<Step>) -> Scripted {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let steps = Arc::new(Mutex::new(VecDeque::from(steps)));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(Mutex::new(0));
        let (kept, counted) = (Arc::clone(&requests), Arc::clone(&connections));
        let (close, closed) = watch::channel(0);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                *counted.lock().expect("no panic") += 1;
                let serving = serve(stream, Arc::clone(&steps), Arc::clone(&kept));
                let close = close.clone();
                tokio::spawn(async move {
                    serving.await;
                    close.send_modify(|closed| *closed += 1);
                });
            }
        });
        Scripted { address, requests, connections, closed, serving }
    }

    pub fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests that the bank was sent.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no panic").clone()
    }

    /// Waits until the bank has closed so many connections.
    pub async fn until_closed(&self, count: usize) {
        self.closed.clone().wait_for(|closed| *closed >= count).await.expect("the bank is there");
    }

    /// The number of connections.
    pub fn connections(&self) -> usize {
        *self.connections.lock().expect("no panic")
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// An address at which nobody listens.
pub async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    format!("http://{}", listener.local_addr().expect("an address"))
}

async fn serve(
    mut stream: TcpStream,
    steps: Arc<Mutex<VecDeque<Step>>>,
    requests: Arc<Mutex<Vec<String>>>,
) -> Option<()> {
    loop {
        let request = read_request(&mut stream).await?;
        requests.lock().expect("no panic").push(request);
        let step = steps.lock().expect("no panic").pop_front();
        let step = step.unwrap_or_else(|| Step::Answer(599, "{}".to_owned()));
        if !perform(&mut stream, step).await {
            return None;
        }
    }
}

/// Reads a request, head and body; `None` at the end of the connection.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let read = stream.read(&mut chunk).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .map_or(0, |(_, value)| value.trim().parse().expect("a length"));
        if body.len() >= length {
            return Some(text.into_owned());
        }
    }
}

/// Performs a step; true if the connection goes on.
async fn perform(stream: &mut TcpStream, step: Step) -> bool {
    let head = |status: u16, length: usize| {
        format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n")
    };
    let text = match step {
        Step::Answer(status, body) => format!("{}{body}", head(status, body.len())),
        Step::Farewell(body) => {
            let _ = stream.write_all(format!("{}{body}", head(200, body.len())).as_bytes()).await;
            return false;
        }
        Step::Pieces(pieces) => {
            for piece in pieces {
                if stream.write_all(piece.as_bytes()).await.is_err() {
                    return false;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            return true;
        }
        Step::Redirect => "HTTP/1.1 302 X\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n".to_owned(),
        Step::Silence => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            return false;
        }
        Step::Close => return false,
        Step::Cut => {
            let _ = stream.write_all(format!("{}{{\"code\":\"00\"", head(200, 999)).as_bytes()).await;
            return false;
        }
        Step::Garbage => {
            let _ = stream.write_all(b"\x16\x03\x01 this is no answer\r\n\r\n").await;
            return false;
        }
        Step::Long(length) => format!("{}{}", head(200, length), " ".repeat(length)),
        Step::Drip => {
            for byte in format!("{}{}", head(200, 600), " ".repeat(600)).bytes() {
                if stream.write_all(&[byte]).await.is_err() {
                    return false;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            return false;
        }
    };
    stream.write_all(text.as_bytes()).await.is_ok()
}
