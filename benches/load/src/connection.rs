//! A connection that speaks just enough HTTP/1.1 to be fast: one request at a time, answers with a
//! content-length. It shares its processor with the server that it measures, so every look at a
//! byte is one too many.

use crate::Outcome;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The largest answer that is read: a batch of a thousand is answered with some 600 bytes an item.
const ANSWER_BYTES_MAX: usize = 2 << 20;

/// A kept connection.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer; its buffer is used again by the next request.
pub struct Answer<'a> {
    /// The status code.
    pub status: u16,
    /// The bytes of the body.
    pub body: &'a [u8],
    head: &'a [u8],
}

impl Answer<'_> {
    /// Whether it says when to come again.
    pub fn has_retry_after(&self) -> bool {
        self.header("retry-after").is_some()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.split(|byte| *byte == b'\n').find_map(|line| {
            let (before, value) = line.split_at_checked(name.len())?;
            let value = before.eq_ignore_ascii_case(name.as_bytes()).then_some(value)?.strip_prefix(b":")?;
            std::str::from_utf8(value.trim_ascii()).ok()
        })
    }
}

impl Connection {
    /// Connects.
    pub async fn open(address: SocketAddr) -> Outcome<Connection> {
        let fail = |error| format!("{address}: {error}");
        let stream = TcpStream::connect(address).await.map_err(fail)?;
        stream.set_nodelay(true).map_err(fail)?;
        Ok(Connection { stream, buffer: vec![0; 4 << 10] })
    }

    /// Sends the bytes of a request and reads the answer.
    pub async fn exchange(&mut self, request: &[u8]) -> Outcome<Answer<'_>> {
        self.send(request).await?;
        let mut filled = self.receive(0).await?;
        let (status, head, body) = loop {
            if let Some(found) = head(&self.buffer[..filled])? {
                break found;
            }
            filled = self.receive(filled).await?;
        };
        while filled < head + body {
            filled = self.receive(filled).await?;
        }
        if filled > head + body {
            return Err("the server says more than it was asked".to_owned());
        }
        Ok(Answer { status, body: &self.buffer[head..filled], head: &self.buffer[..head] })
    }

    async fn send(&mut self, mut bytes: &[u8]) -> Outcome<()> {
        while !bytes.is_empty() {
            let sent = poll_fn(|cx| Pin::new(&mut self.stream).poll_write(cx, bytes))
                .await
                .map_err(|error| format!("sending: {error}"))?;
            bytes = &bytes[sent..];
        }
        Ok(())
    }

    /// Reads the bytes that are there behind `filled`; returns the new end.
    async fn receive(&mut self, filled: usize) -> Outcome<usize> {
        if filled == self.buffer.len() {
            if filled >= ANSWER_BYTES_MAX {
                return Err(format!("an answer of more than {ANSWER_BYTES_MAX} bytes"));
            }
            self.buffer.resize(filled * 2, 0);
        }
        let (stream, buffer) = (&mut self.stream, &mut self.buffer);
        // The read goes through `poll_read`, which knows that a read that did not fill its buffer
        // took everything: the next one waits without asking the kernel first.
        let read = poll_fn(|cx| {
            let mut into = ReadBuf::new(&mut buffer[filled..]);
            match Pin::new(&mut *stream).poll_read(cx, &mut into) {
                Poll::Ready(Ok(())) => Poll::Ready(Ok(into.filled().len())),
                Poll::Ready(Err(error)) => Poll::Ready(Err(format!("receiving: {error}"))),
                Poll::Pending => Poll::Pending,
            }
        })
        .await?;
        if read == 0 { Err("the server closed the connection".to_owned()) } else { Ok(filled + read) }
    }
}

/// Status, length of the head and length of the body, when the head is complete.
fn head(bytes: &[u8]) -> Outcome<Option<(u16, usize, usize)>> {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let status = match bytes.get(9..12).map(|digits| (bytes.starts_with(b"HTTP/1.1 "), number(digits))) {
        Some((true, Some(status))) => u16::try_from(status).unwrap_or(0),
        _ => return Err("that is no HTTP/1.1".to_owned()),
    };
    let mut length = None;
    for line in bytes[..end].split(|byte| *byte == b'\n') {
        if let Some((name, value)) = line.split_at_checked(15)
            && name.eq_ignore_ascii_case(b"content-length:")
        {
            length = number(value.trim_ascii());
        }
    }
    let length = length.ok_or("an answer without content-length")?;
    Ok(Some((status, end + 4, length)))
}

fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_tells_status_and_lengths() {
        let answer =
            b"HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\ncontent-length: 12\r\n\r\nhello, world";
        assert_eq!(head(answer), Ok(Some((201, answer.len() - 12, 12))));
        assert_eq!(head(&answer[..60]), Ok(None));
        assert!(head(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").is_err());
        assert!(head(b"SSH-2.0-OpenSSH\r\n\r\n").is_err());
    }
}
