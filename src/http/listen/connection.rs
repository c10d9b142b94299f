//! The life of one connection, from its first byte to its end.

use super::heads::HSTS;
use super::stream::{Due, LeftSocket, Socket, Watch, Watched, linger};
use super::{Answer, Arrival, Phase, ServedConnection, Shared};
use crate::http::body::{Inbound, Leftover};
use crate::http::respond::{Body, Reply, RequestId};
use api::problem::Problem;
use handoff::Gated;
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderMap, STRICT_TRANSPORT_SECURITY};
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

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
    let io = TokioIo::new(Watched::new(stream, Arc::clone(&watch), Arc::clone(&left)));
    let service = service_fn(|request| exchange(Arc::clone(shared), Arc::clone(&watch), peer, request));
    let mut phase = shared.phase.subscribe();
    let drive = async {
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
                    return;
                }
                News::Phase(Phase::Open) => {}
                News::Phase(Phase::Draining) => connection.as_mut().graceful_shutdown(),
                News::Phase(Phase::Cut) => return,
                News::Look => match watch.due(limits.head_timeout, limits.idle_timeout) {
                    Due::Later(after) => look.as_mut().reset(Instant::now() + after),
                    Due::Idle if !is_ending => {
                        is_ending = true;
                        connection.as_mut().graceful_shutdown();
                        look.as_mut().reset(Instant::now() + FAREWELL);
                    }
                    Due::Idle | Due::Head => return,
                },
            }
        }
    };
    drive.await;
    let stream = left.lock().ok().and_then(|mut left| left.take());
    if let Some(stream) = stream
        && watch.has_unread()
    {
        tokio::select! {
            () = linger(stream) => {}
            _ = phase.wait_for(|phase| *phase == Phase::Cut) => {}
        }
    }
}

/// Nothing if the other side cannot speak TLS, or takes as long for it as for a head.
async fn secure<A: Answer>(shared: &Shared<A>, stream: TcpStream) -> Option<Socket> {
    let Some(certificates) = &shared.certificates else { return Some(Socket::Plain(stream)) };
    let mut phase = shared.phase.subscribe();
    tokio::select! {
        biased;
        _ = phase.wait_for(|phase| *phase != Phase::Open) => None,
        shaken = tokio::time::timeout(shared.limits.head_timeout, certificates.acceptor().accept(stream)) => match shaken {
            Ok(Ok(stream)) => Some(Socket::Secure(Box::new(stream))),
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
    let arrival = Arrival { head, request_id, peer };
    async move {
        let _under_way = under_way;
        let mut reply = if !has_its_host(version, &arrival.head.headers) {
            Reply::problem(&Problem::invalid_field("Host", "must be there exactly once"), &arrival.request_id)
                .close()
        } else if !shared.is_stopping.load(Ordering::Relaxed) {
            answer(&*shared.answer, &arrival, &mut body).await
        } else {
            Reply::problem(&Problem::shutting_down(), &arrival.request_id).close()
        };
        match body.leftover() {
            Leftover::Nothing => {}
            Leftover::Spent => reply = reply.close(),
            Leftover::Discard(body) => {
                let watch = Arc::clone(&watch);
                let mut discarding = Box::pin(async move {
                    if !body.discard().await {
                        watch.leave_unread();
                    }
                });
                // Most bodies are there whole, and a task of its own would be the dearest part of a
                // refusal.
                if poll_fn(|cx| Poll::Ready(discarding.as_mut().poll(cx).is_pending())).await {
                    tokio::spawn(discarding);
                }
            }
            Leftover::TooMuch => {
                watch.leave_unread();
                reply = reply.close();
            }
        }
        if shared.certificates.is_some() {
            reply = reply.header(STRICT_TRANSPORT_SECURITY, HSTS);
        }
        let mut response = reply.into_response(&arrival.request_id, version);
        // A connection rests while nobody takes the next piece: who does not read is cut off as one
        // that does not ask.
        if let Body::Right(pieces) = response.body_mut() {
            pieces.noting(move || watch.mark());
        }
        Ok(response)
    }
}

/// As HTTP/1.1 demands; a proxy may heed the other of two.
fn has_its_host(version: Version, headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(_), None) => true,
        (None, _) => version != Version::HTTP_11,
        (Some(_), Some(_)) => false,
    }
}

async fn answer<A: Answer>(service: &A, arrival: &Arrival, body: &mut Inbound) -> Reply {
    let mut answer = pin!(service.answer(arrival, body));
    let outcome = poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(cx))) {
        Ok(Poll::Ready(reply)) => Poll::Ready(Some(reply)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(_) => Poll::Ready(None),
    });
    if let Some(reply) = outcome.await {
        return reply;
    }
    Reply::problem(&Problem::internal_error("a handler panicked"), &arrival.request_id)
}
