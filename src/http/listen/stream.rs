//! The socket under a connection: it reports what comes in, and is handed back when hyper is done,
//! so that it can be closed without losing the answer. A socket that is closed while bytes are
//! unread makes the kernel send a reset, which may overtake the answer. So after an early answer
//! the sending side is closed first, and what the caller still sends is thrown away for a moment.

use super::bare::Own;
use super::heads::Heads;
use super::watch::Watch;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// After an answer that ends the connection.
const LINGER_BYTES_MAX: usize = 16 << 20;
const LINGER_TIMEOUT: Duration = Duration::from_secs(2);

/// A short answer goes out from one buffer by `send`: to copy it costs less than `writev`, which
/// goes through the file layer.
const TOGETHER_BYTES_MAX: usize = 2 << 10;

/// Where a stream is left when hyper drops it.
pub(super) type LeftSocket = Arc<Mutex<Option<Socket>>>;

pub(super) enum Socket {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

impl Socket {
    fn bare(&self) -> &TcpStream {
        match self {
            Socket::Plain(stream) => stream,
            Socket::Secure(stream) => stream.get_ref().0,
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Socket::Secure(stream) => Pin::new(&mut **stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Socket::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Socket::Secure(stream) => Pin::new(&mut **stream).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Socket::Plain(stream) => {
                let mut room = [0; TOGETHER_BYTES_MAX];
                match together(bufs, &mut room) {
                    Some(bytes) => Pin::new(stream).poll_write(cx, bytes),
                    None => Pin::new(stream).poll_write_vectored(cx, bufs),
                }
            }
            Socket::Secure(stream) => Pin::new(&mut **stream).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Socket::Secure(stream) => Pin::new(&mut **stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Socket::Secure(stream) => Pin::new(&mut **stream).poll_shutdown(cx),
        }
    }
}

/// If `room` is large enough.
fn together<'a>(bufs: &[io::IoSlice<'_>], room: &'a mut [u8]) -> Option<&'a [u8]> {
    let mut filled = 0;
    for buf in bufs {
        room.get_mut(filled..)?.get_mut(..buf.len())?.copy_from_slice(buf);
        filled += buf.len();
    }
    room.get(..filled)
}

pub(super) struct Watched {
    stream: Option<Socket>,
    watch: Arc<Watch>,
    left: LeftSocket,
    heads: Heads,
    /// In the place of hyper's own.
    answer: Option<Vec<u8>>,
}

impl Watched {
    pub(super) fn new(stream: Socket, watch: Arc<Watch>, left: LeftSocket) -> Self {
        Watched { stream: Some(stream), watch, left, heads: Heads::new(), answer: None }
    }

    fn stream(&mut self) -> Pin<&mut Socket> {
        Pin::new(self.stream.as_mut().expect("the stream is there until the drop"))
    }

    /// What takes the place of hyper's answer is written by the flush, because hyper puts its own
    /// before what is left of an earlier body.
    fn poll_without(&mut self, own: Own<'_>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if own.at > 0 {
            return self.stream().poll_write(cx, &buf[..own.at]);
        }
        self.answer = Some(own.replaced(matches!(self.stream, Some(Socket::Secure(_)))));
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(mut rest) = self.answer.take_if(|rest| !rest.is_empty()) {
            match self.stream().poll_write(cx, &rest) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(len)) => self.answer = Some(rest.split_off(len)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    self.answer = Some(rest);
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Ok(mut left) = self.left.lock() {
            *left = self.stream.take();
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = self.stream().poll_read(cx, buf);
        if buf.filled().len() > before {
            self.watch.received();
            self.heads.look(&mut buf.filled_mut()[before..]);
        }
        polled
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match Own::at_end_of(buf) {
            Some(own) => self.poll_without(own, cx, buf),
            None => self.stream().poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // Heads are in the first one.
        let first = bufs.iter().find(|buf| !buf.is_empty());
        match first.and_then(|first| Some((Own::at_end_of(first)?, first))) {
            Some((own, first)) => self.poll_without(own, cx, first),
            None => self.stream().poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_answer(cx))?;
        self.stream().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_answer(cx))?;
        self.stream().poll_shutdown(cx)
    }
}

pub(super) async fn linger(mut stream: Socket) {
    let end = async {
        poll_fn(|cx| Pin::new(&mut stream).poll_shutdown(cx)).await?;
        let mut scrap = vec![0; 64 << 10];
        let mut thrown_away = 0;
        while thrown_away < LINGER_BYTES_MAX {
            // Below TLS, because what still comes is of no interest.
            stream.bare().readable().await?;
            match stream.bare().try_read(&mut scrap) {
                Ok(0) => break,
                Ok(len) => thrown_away += len,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        io::Result::Ok(())
    };
    // A timeout makes no difference: the connection is over.
    let _ = tokio::time::timeout(LINGER_TIMEOUT, end).await;
}

/// Without having read anything.
pub(super) async fn say_and_close(stream: TcpStream, bytes: Vec<u8>) {
    let said = async {
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            stream.writable().await?;
            match stream.try_write(rest) {
                Ok(len) => rest = &rest[len..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        io::Result::Ok(())
    };
    if let Ok(Ok(())) = tokio::time::timeout(LINGER_TIMEOUT, said).await {
        linger(Socket::Plain(stream)).await;
    }
}
