//! A line for each debit, in streams that all callers share: as many as a key may have.

use super::pasarela::{ABOUT, Kept, Paid, Server, Way, credit};
use crate::Outcome;
use crate::loader::{Answer, Caller, Soon};
use crate::peer::About;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};

/// Streams that a key may have.
const STREAMS: usize = 16;
/// Lines that are written at once.
const LINES_MAX: usize = 1_024;

/// Debits by streams.
#[derive(Default)]
pub struct Streams(Mutex<Vec<Arc<Stream>>>);

type Told = Mutex<HashMap<u64, oneshot::Sender<Answer>>>;

struct Line {
    id: u64,
    minor: i64,
    told: oneshot::Sender<Answer>,
}

/// A stream, which is opened again when it broke.
struct Stream {
    server: Server,
    open: tokio::sync::Mutex<Option<mpsc::UnboundedSender<Line>>>,
}

struct StreamCaller {
    stream: Arc<Stream>,
    kept: Kept,
}

#[derive(Deserialize)]
struct Answered<'a> {
    #[serde(borrow, default)]
    key: Option<&'a str>,
    #[serde(borrow, default)]
    body: Option<Paid<'a>>,
}

impl Way for Streams {
    fn about(&self) -> About {
        About {
            title: "Pasarela, streams",
            how: "a line of POST /v1/stream; callers share at most 16 streams",
            reached: "HTTP/1.1 over TCP, at most 16 connections that all callers share",
            ..ABOUT
        }
    }

    fn opened(&self, server: &Server, callers: usize) {
        let stream = || Arc::new(Stream { server: server.clone(), open: tokio::sync::Mutex::new(None) });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            (0..STREAMS.min(callers)).map(|_| stream()).collect();
    }

    fn caller(&self, server: &Server, nth: usize) -> Box<dyn Caller> {
        let streams = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = Arc::clone(&streams[nth % streams.len()]);
        Box::new(StreamCaller { stream, kept: Kept::new(server) })
    }
}

impl Stream {
    async fn lines(&self) -> Outcome<mpsc::UnboundedSender<Line>> {
        let mut guard = self.open.lock().await;
        if let Some(lines) = guard.as_ref().filter(|lines| !lines.is_closed()) {
            return Ok(lines.clone());
        }
        let socket = TcpStream::connect(self.server.api).await.map_err(|error| error.to_string())?;
        socket.set_nodelay(true).map_err(|error| error.to_string())?;
        let (read, mut write) = socket.into_split();
        let head = format!(
            "POST /v1/stream HTTP/1.1\r\nhost: {}\r\nx-api-key: {}\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n",
            self.server.api, self.server.key
        );
        write.write_all(head.as_bytes()).await.map_err(|error| error.to_string())?;
        let (give, take) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let told = Told::default();
            // When one of the two ends, so does the stream; whoever waits is told by its sender's end.
            tokio::select! {
                () = write_lines(write, take, &told) => {}
                () = read_lines(read, &told) => {}
            }
        });
        Ok(guard.insert(give).clone())
    }
}

async fn write_lines(mut write: OwnedWriteHalf, mut take: mpsc::UnboundedReceiver<Line>, told: &Told) {
    let (mut lines, mut text, mut chunk) = (Vec::new(), String::new(), Vec::new());
    while take.recv_many(&mut lines, LINES_MAX).await > 0 {
        text.clear();
        for Line { id, minor, told: to } in lines.drain(..) {
            let body = credit(id, minor);
            text += &format!("{{\"key\":\"lab-{id}\",\"path\":\"/v1/payments/credit\",\"body\":{body}}}\n");
            told.lock().unwrap_or_else(PoisonError::into_inner).insert(id, to);
        }
        chunk.clear();
        chunk.extend_from_slice(format!("{:x}\r\n", text.len()).as_bytes());
        chunk.extend_from_slice(text.as_bytes());
        chunk.extend_from_slice(b"\r\n");
        if write.write_all(&chunk).await.is_err() {
            return;
        }
    }
}

async fn read_lines(mut read: OwnedReadHalf, told: &Told) {
    let mut bytes = Vec::with_capacity(64 << 10);
    let mut line = Vec::new();
    // The head, once.
    let mut at = loop {
        if !matches!(read.read_buf(&mut bytes).await, Ok(count) if count > 0) {
            return;
        }
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
    };
    if !bytes.starts_with(b"HTTP/1.1 200 ") {
        return;
    }
    loop {
        while let Some((from, to)) = chunk(&bytes[at..]) {
            for piece in bytes[at + from..at + to].split_inclusive(|byte| *byte == b'\n') {
                line.extend_from_slice(piece);
                if line.ends_with(b"\n") {
                    tell(&line, told);
                    line.clear();
                }
            }
            at += to + 2;
        }
        bytes.drain(..at);
        at = 0;
        if !matches!(read.read_buf(&mut bytes).await, Ok(count) if count > 0) {
            return;
        }
    }
}

/// Where the data of the first chunk begins and ends, if all of it is there.
fn chunk(bytes: &[u8]) -> Option<(usize, usize)> {
    let line = bytes.windows(2).position(|two| two == b"\r\n")?;
    let length = usize::from_str_radix(std::str::from_utf8(&bytes[..line]).ok()?, 16).ok()?;
    let (from, to) = (line + 2, line + 2 + length);
    (length > 0 && bytes.len() >= to + 2).then_some((from, to))
}

/// Tells whoever waits for this line.
fn tell(line: &[u8], told: &Told) {
    let Ok(answered) = serde_json::from_slice::<Answered<'_>>(line) else { return };
    let id = answered.key.and_then(|key| key.strip_prefix("lab-")?.parse().ok());
    let waiting = id.and_then(|id| told.lock().unwrap_or_else(PoisonError::into_inner).remove(&id));
    if let (Some(waiting), Some(body)) = (waiting, answered.body) {
        // A caller that does not wait any more does not need to know.
        let _ = waiting.send(body.answer());
    }
}

impl Caller for StreamCaller {
    fn debit<'a>(&'a mut self, ids: &'a [u64], minor: i64) -> Soon<'a, Vec<Answer>> {
        Box::pin(async move {
            let Ok(lines) = self.stream.lines().await else { return Vec::new() };
            let mut waiting = Vec::with_capacity(ids.len());
            for id in ids {
                let (told, answer) = oneshot::channel();
                if lines.send(Line { id: *id, minor, told }).is_err() {
                    return Vec::new();
                }
                waiting.push(answer);
            }
            let mut answers = Vec::with_capacity(ids.len());
            for answer in waiting {
                answers.push(answer.await.unwrap_or(Answer::Unknown));
            }
            answers
        })
    }

    fn balance(&mut self) -> Soon<'_, Option<i64>> {
        Box::pin(self.kept.balance())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_read_when_all_of_it_is_there() {
        let whole = b"b\r\nhello\nworld\r\n0\r\n\r\n";
        assert_eq!(chunk(whole), Some((3, 14)));
        assert_eq!(chunk(&whole[..15]), None, "its end is missing");
        assert_eq!(chunk(&whole[16..]), None, "the last is no data");
        assert_eq!(chunk(b""), None);
    }
}
