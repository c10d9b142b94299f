//! The socket under a connection: it reports what comes in, and is handed back when hyper is done,
//! so that it can be closed without losing the answer. A socket that is closed while bytes are
//! unread makes the kernel send a reset, which may overtake the answer. So after an early answer
//! the sending side is closed first, and what the caller still sends is thrown away for a moment.
//!
//! [`Watch`] has what a connection does, and since when, for its time limits. Nothing here costs a
//! timer per request: the connection looks at its watch every now and then, and at least as often as
//! heads may take.

use super::heads::{Heads, Own};
use crate::http::body::Secrets;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

const LINGER_BYTES_MAX: usize = 16 << 20;
const LINGER_TIMEOUT: Duration = Duration::from_secs(2);

/// A short answer goes out from one buffer by `send`: to copy it costs less than `writev`, which
/// goes through the file layer.
const TOGETHER_BYTES_MAX: usize = 2 << 10;

pub(super) type LeftSocket = Arc<Mutex<Option<Socket>>>;

pub(super) enum Socket {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

trait Io: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

impl Socket {
    fn io(&mut self) -> Pin<&mut dyn Io> {
        match self {
            Socket::Plain(stream) => Pin::new(stream),
            Socket::Secure(stream) => Pin::new(&mut **stream),
        }
    }

    fn below_tls(&self) -> &TcpStream {
        match self {
            Socket::Plain(stream) => stream,
            Socket::Secure(stream) => stream.get_ref().0,
        }
    }
}

pub(super) struct Watched {
    stream: Option<Socket>,
    watch: Arc<Watch>,
    left: LeftSocket,
    heads: Heads,
    answer: Option<Vec<u8>>,
}

impl Watched {
    pub(super) fn new(stream: Socket, watch: Arc<Watch>, left: LeftSocket) -> Self {
        Watched { stream: Some(stream), watch, left, heads: Heads::new(), answer: None }
    }

    fn stream(&mut self) -> Pin<&mut dyn Io> {
        self.stream.as_mut().expect("the stream is there until the drop").io()
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
        // Heads are in the first one; hyper puts no empty one before it.
        if let Some(first) = bufs.first()
            && let Some(own) = Own::at_end_of(first)
        {
            return self.poll_without(own, cx, first);
        }
        let mut room = [0; TOGETHER_BYTES_MAX];
        let mut filled = 0;
        for buf in bufs {
            let Some(to) = room.get_mut(filled..filled + buf.len()) else {
                return self.stream().poll_write_vectored(cx, bufs);
            };
            to.copy_from_slice(buf);
            filled += buf.len();
        }
        self.stream().poll_write(cx, &room[..filled])
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.answer.is_some() {
            ready!(self.poll_answer(cx))?;
        }
        self.stream().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_answer(cx))?;
        self.stream().poll_shutdown(cx)
    }
}

pub(super) async fn linger(mut stream: Socket) {
    let end = async {
        poll_fn(|cx| stream.io().poll_shutdown(cx)).await?;
        let mut scrap = vec![0; 64 << 10];
        let mut thrown_away = 0;
        while thrown_away < LINGER_BYTES_MAX {
            // Below TLS, because what still comes is of no interest.
            stream.below_tls().readable().await?;
            match stream.below_tls().try_read(&mut scrap) {
                Ok(0) => break,
                Ok(len) => thrown_away += len,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        io::Result::Ok(())
    };
    let _ = tokio::time::timeout(LINGER_TIMEOUT, end).await;
}

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

#[derive(Debug)]
pub(super) struct Watch {
    opened: Instant,
    under_way: AtomicU32,
    in_head: AtomicBool,
    /// Bytes may be pings there and say nothing about a head.
    is_http2: AtomicBool,
    /// Bytes may be left that nobody will read, so the connection has to linger before it closes.
    unread: AtomicBool,
    since_ms: AtomicU64,
    /// With card data, to be zeroed when the connection is over.
    pub(super) secrets: Arc<Secrets>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Later(Duration),
    Head,
    Idle,
}

impl Watch {
    pub(super) fn new() -> Self {
        Watch {
            opened: Instant::now(),
            under_way: AtomicU32::new(0),
            in_head: AtomicBool::new(true),
            is_http2: AtomicBool::new(false),
            unread: AtomicBool::new(false),
            since_ms: AtomicU64::new(0),
            secrets: Arc::default(),
        }
    }

    /// Bytes begin a head after a rest.
    pub(super) fn received(&self) {
        let idle = self.under_way.load(Ordering::Relaxed) == 0 && !self.in_head.load(Ordering::Relaxed);
        if idle && !self.is_http2.load(Ordering::Relaxed) {
            self.in_head.store(true, Ordering::Relaxed);
            self.mark();
        }
    }

    /// A head is complete and its request is being answered until the guard is dropped.
    pub(super) fn begin(self: &Arc<Self>, is_http2: bool) -> UnderWay {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        self.in_head.store(false, Ordering::Relaxed);
        if is_http2 {
            self.is_http2.store(true, Ordering::Relaxed);
        }
        UnderWay(Arc::clone(self))
    }

    pub(super) fn leave_unread(&self) {
        self.unread.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_unread(&self) -> bool {
        self.unread.load(Ordering::Relaxed)
    }

    pub(super) fn due(&self, head_timeout: Duration, idle_timeout: Duration) -> Due {
        if self.under_way.load(Ordering::Relaxed) > 0 {
            return Due::Later(head_timeout);
        }
        let in_head = self.in_head.load(Ordering::Relaxed);
        let allowed = if in_head { head_timeout } else { idle_timeout };
        let since = Duration::from_millis(self.since_ms.load(Ordering::Relaxed));
        let left = (since + allowed).saturating_sub(self.opened.elapsed());
        match (left.is_zero(), in_head) {
            (true, true) => Due::Head,
            (true, false) => Due::Idle,
            // A head may begin at any time, so no look is further away than a head may take.
            (false, _) => Due::Later(left.min(head_timeout)),
        }
    }

    /// The present state begins now: also that a piece of an answer was taken.
    pub(super) fn mark(&self) {
        let ms = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.since_ms.store(ms, Ordering::Relaxed);
    }
}

pub(super) struct UnderWay(Arc<Watch>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.mark();
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(5);
    const LONG: Duration = Duration::from_secs(9);
    const ZERO: Duration = Duration::ZERO;

    #[test]
    fn the_first_head_is_due_from_the_start() {
        let watch = Watch::new();
        assert!(
            matches!(watch.due(Duration::from_secs(1), LONG), Due::Later(left) if left <= Duration::from_secs(1))
        );
        assert_eq!(watch.due(ZERO, LONG), Due::Head);
    }

    #[test]
    fn between_requests_it_idles_and_the_first_byte_starts_a_head() {
        let watch = Arc::new(Watch::new());
        let request = watch.begin(false);
        assert_eq!(watch.due(SHORT, ZERO), Due::Later(SHORT));
        watch.received();
        drop(request);
        assert_eq!(watch.due(SHORT, ZERO), Due::Idle);
        assert_eq!(watch.due(SHORT, LONG), Due::Later(SHORT));
        watch.received();
        assert_eq!(watch.due(ZERO, LONG), Due::Head);
    }

    #[test]
    fn pings_are_no_heads() {
        let watch = Arc::new(Watch::new());
        drop(watch.begin(true));
        watch.received();
        assert!(matches!(watch.due(ZERO, LONG), Due::Later(_)));
        assert_eq!(watch.due(ZERO, ZERO), Due::Idle);
    }
}
