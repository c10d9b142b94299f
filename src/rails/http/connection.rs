//! A connection to a bank, which carries one exchange at a time and is driven by whoever exchanges.
//! There may be thousands of calls that wait for their bank: meanwhile each holds the stream and
//! half a kilobyte to read into. hyper's connection, which reads the answer, has 25 kilobytes of
//! buffers and queues, so it is made when the answer begins.

use super::connector::Wire;
use bytes::Bytes;
use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper::http::response::Parts;
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use std::future::poll_fn;
use std::io::{Result as IoResult, Write};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use zeroize::Zeroizing;

const BEGINNING: usize = 512;
const HEAD_BYTES_MAX: usize = 64 << 10;

pub struct Connection(Wire);

pub enum Unanswered {
    /// The connection took none of the request, which is given back: nothing was sent.
    NotBegun(Zeroizing<Vec<u8>>),
    Cut,
    TooLong,
}

pub struct Answered {
    pub head: Parts,
    pub body: Vec<u8>,
    pub connection: Option<Connection>,
}

impl Connection {
    pub fn over(wire: Wire) -> Connection {
        Connection(wire)
    }

    /// Whether the other side has neither closed it nor said anything: the kernel is asked too, as
    /// it knows before the runtime does. Nobody is woken by what happens afterwards.
    pub fn is_silent(&mut self) -> bool {
        if self.0.has_ended() {
            return false;
        }
        let mut byte = [0];
        let mut nobody = Context::from_waker(Waker::noop());
        Pin::new(&mut self.0).poll_read(&mut nobody, &mut ReadBuf::new(&mut byte)).is_pending()
    }

    /// The request is zeroed once sent; the answer's body has so many bytes at most.
    pub async fn exchange(
        mut self,
        method: Method,
        request: Zeroizing<Vec<u8>>,
        bytes_max: usize,
    ) -> Result<Answered, Unanswered> {
        let mut sent = 0;
        while sent < request.len() {
            match self.0.write(&request[sent..]).await {
                Ok(more @ 1..) => sent += more,
                Ok(0) | Err(_) if sent == 0 => return Err(Unanswered::NotBegun(request)),
                Ok(0) | Err(_) => return Err(Unanswered::Cut),
            }
        }
        self.0.flush().await.map_err(|_| Unanswered::Cut)?;
        drop(request);
        let mut beginning = Vec::with_capacity(BEGINNING);
        let read = self.0.read_buf(&mut beginning).await.map_err(|_| Unanswered::Cut)?;
        if read == 0 {
            return Err(Unanswered::Cut);
        }
        Box::pin(receive(Receiving::new(beginning, self.0), method, bytes_max)).await
    }
}

async fn receive(stream: Receiving, method: Method, bytes_max: usize) -> Result<Answered, Unanswered> {
    let mut builder = http1::Builder::new();
    let shaken = builder.max_buf_size(HEAD_BYTES_MAX).handshake(TokioIo::new(stream)).await;
    let (mut sender, mut driver) = shaken.map_err(|_| Unanswered::Cut)?;
    // The bytes that hyper writes of this go nowhere; the method says whether the answer has a body.
    let mut sent = Request::new(Empty::<Bytes>::new());
    *sent.method_mut() = method;
    let mut answering = pin!(async move {
        let answer = sender.send_request(sent).await.map_err(|_| Unanswered::Cut)?;
        let (head, incoming) = answer.into_parts();
        let body = Limited::new(incoming, bytes_max).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() { Unanswered::TooLong } else { Unanswered::Cut }
        })?;
        Ok((head, Vec::from(body.to_bytes()), sender))
    });
    let mut has_ended = false;
    let mut drive = |cx: &mut Context<'_>| {
        has_ended = has_ended || Pin::new(&mut driver).poll(cx).is_ready();
        has_ended
    };
    let (head, body, sender) = poll_fn(|cx| {
        drive(cx);
        answering.as_mut().poll(cx)
    })
    .await?;
    // If HTTP lets the stream carry another exchange and nothing came behind the answer.
    let connection = if drive(&mut Context::from_waker(Waker::noop())) || !sender.is_ready() {
        None
    } else {
        let parts = driver.into_parts();
        parts.io.into_inner().rest().filter(|_| parts.read_buf.is_empty()).map(Connection)
    };
    Ok(Answered { head, body, connection })
}

/// hyper reads an answer once it has written a request. Here what it writes goes nowhere, and what
/// it reads is the beginning that was read before, and then the bank's stream.
struct Receiving {
    beginning: Vec<u8>,
    taken: usize,
    wire: Wire,
    /// hyper has written its request: an answer before it would be a fault to it.
    is_asked: bool,
}

impl Receiving {
    fn new(beginning: Vec<u8>, wire: Wire) -> Receiving {
        Receiving { beginning, taken: 0, wire, is_asked: false }
    }

    fn rest(self) -> Option<Wire> {
        (self.taken == self.beginning.len()).then_some(self.wire)
    }
}

impl AsyncRead for Receiving {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<IoResult<()>> {
        if !self.is_asked {
            return Poll::Pending;
        }
        let left = &self.beginning[self.taken..];
        if left.is_empty() {
            return Pin::new(&mut self.wire).poll_read(cx, buf);
        }
        let count = left.len().min(buf.remaining());
        buf.put_slice(&left[..count]);
        self.taken += count;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Receiving {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<IoResult<usize>> {
        if !self.is_asked {
            self.is_asked = true;
            cx.waker().wake_by_ref();
        }
        Poll::Ready(std::io::sink().write(buf))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<IoResult<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<IoResult<()>> {
        Pin::new(&mut self.wire).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::super::connector::Stream;
    use super::*;
    use std::io;

    struct Breaks(usize);

    impl Stream for Breaks {
        fn has_ended(&self) -> bool {
            false
        }
    }

    impl AsyncRead for Breaks {
        fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    impl AsyncWrite for Breaks {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
            let taken = self.0.min(buf.len());
            self.0 -= taken;
            Poll::Ready(if taken == 0 { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(taken) })
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn a_request_of_which_no_byte_was_taken_was_not_sent() {
        for (taken, is_unsent) in [(0, true), (1, false), (3, false)] {
            let request = Zeroizing::new(b"POST".to_vec());
            let outcome = Connection::over(Box::new(Breaks(taken))).exchange(Method::POST, request, 9).await;
            match outcome {
                Err(Unanswered::NotBegun(request)) => assert!(is_unsent && *request == b"POST", "{taken}"),
                Err(Unanswered::Cut) => assert!(!is_unsent, "{taken}"),
                _ => panic!("{taken}: an answer"),
            }
        }
    }
}
