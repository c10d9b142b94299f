//! The life of one connection, from its first byte to its end, and the socket under it: that reports what comes in, and
//! is handed back when hyper is done, so that it can be closed without losing the answer. A socket that is closed while
//! bytes are unread makes the kernel send a reset, which may overtake the answer. So after an early answer the sending
//! side is closed first, and what the caller still sends is thrown away for a moment.
//!
//! [`Watch`] has what a connection does, and since when, for its time limits. Nothing here costs a timer per request:
//! the connection looks at its watch every now and then, and at least as often as heads may take.

use super::heads::{HSTS, Heads, Own};
use super::{Answer, Arrival, Phase, ServedConnection, Shared};
use crate::http::body::{Inbound, Secrets};
use crate::http::respond::{Body, Reply, RequestId};
use api::problem::Problem;
use handoff::Gated;
use hyper::body::Incoming;
use hyper::header::{HOST, STRICT_TRANSPORT_SECURITY};
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::sleep;
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;

const FAREWELL: Duration = Duration::from_secs(1);

enum News {
    Ended(bool),
    Phase(Phase),
    Look,
}

pub(super) async fn serve<A: Answer>(held: ServedConnection<A>, stream: TcpStream, peer: SocketAddr) {
    let shared = &held.shared;
    let limits = &shared.limits;
    let watch = Arc::new(Watch::new());
    let Some(stream) = secure(shared, stream).await else { return };
    // The time that the TLS handshake took is subtracted from the time allowed for the first head.
    let Due::Later(first_look) = watch.due(limits.head_timeout, limits.idle_timeout) else { return };
    let left = LeftSocket::default();
    let io = TokioIo::new(Watched {
        stream: Some(stream),
        watch: Arc::clone(&watch),
        left: Arc::clone(&left),
        heads: Heads::default(),
        answer: None,
    });
    let service = service_fn(|request| exchange(Arc::clone(shared), Arc::clone(&watch), peer, request));
    let mut phase = shared.phase.subscribe();
    {
        let mut connection = pin!(shared.builder.serve_connection(io, service));
        let mut look = pin!(sleep(first_look));
        // Connections that came in just before the stop have missed the change of phase.
        phase.mark_changed();
        let mut is_ending = false;
        loop {
            let news = {
                let mut aside = pin!(async {
                    tokio::select! {
                        biased;
                        _ = phase.changed() => News::Phase(*phase.borrow_and_update()),
                        () = look.as_mut() => News::Look,
                    }
                });
                let mut gated = Gated::default();
                poll_fn(|cx| match connection.as_mut().poll(cx) {
                    Poll::Ready(ended) => Poll::Ready(News::Ended(ended.is_ok())),
                    Poll::Pending => gated.poll(aside.as_mut(), cx),
                })
                .await
            };
            match news {
                News::Ended(in_order) => {
                    if !in_order {
                        watch.leave_unread();
                    }
                    break;
                }
                News::Phase(Phase::Open) => {}
                News::Phase(Phase::Draining) => connection.as_mut().graceful_shutdown(),
                News::Phase(Phase::Cut) => break,
                News::Look => {
                    let due = watch.due(limits.head_timeout, limits.idle_timeout);
                    // Over HTTP/2 no answer can end the connection.
                    let is_over = due == Due::Idle || due != Due::Head && watch.secrets.are_many();
                    let after = match due {
                        _ if is_over && !is_ending => {
                            is_ending = true;
                            connection.as_mut().graceful_shutdown();
                            FAREWELL
                        }
                        Due::Later(after) => after,
                        Due::Idle | Due::Head => break,
                    };
                    look.as_mut().reset(tokio::time::Instant::now() + after);
                }
            }
        }
    }
    let stream = left.lock().ok().and_then(|mut left| left.take());
    if let Some(stream) = stream
        && watch.unread.load(Ordering::Relaxed)
    {
        tokio::select! {
            () = linger(stream) => {}
            _ = phase.wait_for(|phase| *phase == Phase::Cut) => {}
        }
    }
}

/// Nothing if the other side cannot speak TLS, or takes as long for it as for a head.
async fn secure<A: Answer>(shared: &Shared<A>, stream: TcpStream) -> Option<Socket> {
    let Some(certificates) = &shared.certificates else { return Some(Either::Left(stream)) };
    let mut phase = shared.phase.subscribe();
    tokio::select! {
        biased;
        _ = phase.wait_for(|phase| *phase != Phase::Open) => None,
        shaken = tokio::time::timeout(shared.limits.head_timeout, certificates.acceptor().accept(stream)) => match shaken {
            Ok(Ok(stream)) => Some(Either::Right(Box::new(stream))),
            Ok(Err(error)) => {
                tracing::debug!(%error, "a TLS handshake failed");
                None
            }
            Err(_) => None,
        },
    }
}

/// Each connection has room for this future, and moves it: what it begins with is made here, where
/// it is not also kept as it was given.
fn exchange<A: Answer>(
    shared: Arc<Shared<A>>,
    watch: Arc<Watch>,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> impl Future<Output = Result<Response<Body>, Infallible>> {
    let version = request.version();
    let under_way = watch.begin(version == Version::HTTP_2);
    let (head, incoming) = request.into_parts();
    let request_id = RequestId::of(&head.headers);
    let limits = &shared.limits;
    let (most, timeout) = (limits.body_bytes_max, limits.body_timeout);
    let mut body = Inbound::new(incoming, &head.headers, most, timeout, &limits.bodies, &watch.secrets);
    // As HTTP/1.1 demands; a proxy may heed the other of two.
    let mut hosts = head.headers.get_all(HOST).iter();
    let has_its_host = match (hosts.next(), hosts.next()) {
        (Some(_), None) => true,
        (None, _) => version != Version::HTTP_11,
        (Some(_), Some(_)) => false,
    };
    let arrival = Arrival { head, request_id, peer };
    async move {
        let mut reply = if !has_its_host {
            Reply::problem(&Problem::invalid_field("Host", "must be there exactly once"), &arrival.request_id)
                .close()
        } else if shared.is_stopping.load(Ordering::Relaxed) {
            Reply::problem(&Problem::shutting_down(), &arrival.request_id).close()
        } else {
            let mut answer = pin!(shared.answer.answer(&arrival, &mut body));
            let answered = poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(cx))) {
                Ok(polled) => polled.map(Some),
                Err(_) => Poll::Ready(None),
            });
            match answered.await {
                Some(reply) => reply,
                None => Reply::problem(&Problem::internal_error("a handler panicked"), &arrival.request_id),
            }
        };
        let has_card = body.has_card;
        if !body.ended {
            // The body is let go of after `leave_unread`, or the socket could be closed before somebody reads on.
            let mut discarding = Box::pin(async move { (body.discard().await, body) });
            // Most bodies are there whole, and a task of its own would be the dearest part of a refusal.
            match poll_fn(|cx| Poll::Ready(discarding.as_mut().poll(cx))).await {
                Poll::Ready((true, _)) => {}
                Poll::Pending if !has_card => {
                    let watch = Arc::clone(&watch);
                    tokio::spawn(async move {
                        let (is_whole, _body) = discarding.await;
                        if !is_whole {
                            watch.leave_unread();
                        }
                    });
                }
                Poll::Pending | Poll::Ready((false, _)) => {
                    watch.leave_unread();
                    reply = reply.close();
                }
            }
        }
        if has_card && watch.secrets.are_many() {
            reply = reply.close();
        }
        if shared.certificates.is_some() {
            reply = reply.header(STRICT_TRANSPORT_SECURITY, HSTS);
        }
        let reads_on = reply.reads_on();
        let mut response = reply.into_response(&arrival.request_id, version);
        if let Body::Right(pieces) = response.body_mut() {
            if let Some(hold) = reads_on {
                // It may end before its request does. Until then it is under way.
                watch.leave_unread();
                hold.keep(under_way);
            }
            // A connection rests while nobody takes the next piece: who does not read is cut off as one
            // that does not ask.
            pieces.noting(move || watch.mark());
        }
        Ok(response)
    }
}

const LINGER_BYTES_MAX: usize = 16 << 20;
const LINGER_TIMEOUT: Duration = Duration::from_secs(2);

/// A short answer goes out from one buffer by `send`: to copy it costs less than `writev`, which
/// goes through the file layer.
const TOGETHER_BYTES_MAX: usize = 2 << 10;

type LeftSocket = Arc<Mutex<Option<Socket>>>;

type Socket = Either<TcpStream, Box<TlsStream<TcpStream>>>;

fn below_tls(socket: &Socket) -> &TcpStream {
    match socket {
        Either::Left(stream) => stream,
        Either::Right(stream) => stream.get_ref().0,
    }
}

struct Watched {
    stream: Option<Socket>,
    watch: Arc<Watch>,
    left: LeftSocket,
    heads: Heads,
    answer: Option<Vec<u8>>,
}

impl Watched {
    fn stream(&mut self) -> Pin<&mut Socket> {
        Pin::new(self.stream.as_mut().expect("the stream is there until the drop"))
    }

    /// What takes the place of hyper's answer is written by the flush, because hyper puts its own
    /// before what is left of an earlier body.
    fn poll_without(&mut self, own: Own<'_>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if own.at > 0 {
            return self.stream().poll_write(cx, &buf[..own.at]);
        }
        self.answer = Some(own.replaced(matches!(self.stream, Some(Either::Right(_)))));
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

async fn linger(mut stream: Socket) {
    let end = async {
        poll_fn(|cx| Pin::new(&mut stream).poll_shutdown(cx)).await?;
        let mut scrap = vec![0; 64 << 10];
        let mut thrown_away = 0;
        while thrown_away < LINGER_BYTES_MAX {
            // Below TLS, because what still comes is of no interest.
            below_tls(&stream).readable().await?;
            match below_tls(&stream).try_read(&mut scrap) {
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
        linger(Either::Left(stream)).await;
    }
}

#[derive(Debug)]
struct Watch {
    opened: Instant,
    under_way: AtomicU32,
    in_head: AtomicBool,
    is_http2: AtomicBool,
    /// Bytes may be left that nobody will read, so the connection has to linger before it closes.
    unread: AtomicBool,
    since_ms: AtomicU64,
    secrets: Arc<Secrets>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Later(Duration),
    Head,
    Idle,
}

impl Watch {
    fn new() -> Self {
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
    fn received(&self) {
        let idle = self.under_way.load(Ordering::Relaxed) == 0 && !self.in_head.load(Ordering::Relaxed);
        if idle && !self.is_http2.load(Ordering::Relaxed) {
            self.in_head.store(true, Ordering::Relaxed);
            self.mark();
        }
    }

    /// A head is complete and its request is being answered until the guard is dropped.
    fn begin(self: &Arc<Self>, is_http2: bool) -> UnderWay {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        self.in_head.store(false, Ordering::Relaxed);
        if is_http2 {
            self.is_http2.store(true, Ordering::Relaxed);
        }
        UnderWay(Arc::clone(self))
    }

    fn leave_unread(&self) {
        self.unread.store(true, Ordering::Relaxed);
    }

    fn due(&self, head_timeout: Duration, idle_timeout: Duration) -> Due {
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
    fn mark(&self) {
        let ms = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.since_ms.store(ms, Ordering::Relaxed);
    }
}

struct UnderWay(Arc<Watch>);

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
