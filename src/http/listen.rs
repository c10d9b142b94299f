//! Accepts connections, speaks HTTP/1.1 and HTTP/2 on them, and keeps their limits.
//!
//! Promises: a head arrives within its time and size or the connection ends; an idle connection
//! ends; a connection over the limit is told so; an error that was found before the body was read
//! leaves no body in the stream; a panic in a handler is a 500; every response has an
//! `X-Request-Id`, and `Strict-Transport-Security` with TLS; a head that proxies may read in
//! another way (bare line feeds, not exactly one `Host`) is a 400; what hyper refuses by itself over
//! HTTP/1 is a problem with a body too. On stop it accepts nothing more,
//! closes what is idle, finishes what is under way, and cuts off what takes too long. It must not
//! know any path.

mod bare;
mod connection;
mod entrance;
pub mod heads;
mod peers;
mod stream;
mod watch;

use crate::http::body::{Budget, Inbound};
use crate::http::respond::{Reply, RequestId};
use crate::http::tls::Certificates;
use hyper::http::request::Parts;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto;
use peers::Peers;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpSocket;
use tokio::sync::{mpsc, watch as signal};

/// Streams under way on one HTTP/2 connection: RFC 9113 (section 6.5.2) advises against fewer.
const STREAMS_MAX: u32 = 100;
/// Bytes of the longest body.
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// The memory, in bytes, that all bodies which come in pieces may take together.
const BODIES_BYTES: usize = 64 << 20;
/// Connections that wait in the kernel to be taken, as far as the kernel allows so many. One that
/// finds no place there tries again after a second, and then after ever longer times.
const BACKLOG: u32 = 4_096;

/// The limits that hold for every connection. Names and units as in `config.toml`.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections at once.
    pub connections_max: usize,
    /// The most connections from one address; 0: as many as there may be.
    pub connections_per_peer_max: usize,
    /// Bytes of request line and headers, at least 8 KiB.
    pub head_bytes_max: usize,
    /// The time limit until the head is complete.
    pub head_timeout: Duration,
    pub body_bytes_max: usize,
    /// The time limit until the body is complete.
    pub body_timeout: Duration,
    /// The budget of memory for all bodies that come in pieces, those of other listeners included.
    pub bodies: Arc<Budget>,
    /// The time after which a connection without a request ends.
    pub idle_timeout: Duration,
    /// The time that requests under way are given on stop.
    pub shutdown_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections_max: 10_000,
            connections_per_peer_max: 5_000,
            head_bytes_max: 64 << 10,
            head_timeout: Duration::from_secs(10),
            body_bytes_max: BODY_BYTES_MAX,
            body_timeout: Duration::from_secs(30),
            bodies: Arc::new(Budget::new(BODIES_BYTES)),
            idle_timeout: Duration::from_secs(75),
            shutdown_timeout: Duration::from_secs(10),
        }
    }
}

/// The head of a request, and where it came from.
#[derive(Debug)]
pub struct Arrival {
    /// Method, address and headers.
    pub head: Parts,
    /// The request's id, from its `X-Request-Id` or made here.
    pub request_id: RequestId,
    /// The other end of the connection.
    pub peer: SocketAddr,
}

/// The part of a server that answers requests.
pub trait Answer: Send + Sync + 'static {
    /// Answers one request. The body need not be read: the listener discards what is left of it.
    fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> impl Future<Output = Reply> + Send;
}

/// The outcome of serving after a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Connections with a request under way that were cut off.
    pub cut_off: usize,
}

/// The counters of a listener's connections.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Connections that are open.
    pub connections: AtomicUsize,
    /// Connections that were taken.
    pub accepted: AtomicU64,
    /// Connections that were refused because there were too many.
    pub refused: AtomicU64,
}

/// A bound socket that nobody is served on yet.
#[derive(Debug)]
pub struct Listener {
    socket: std::net::TcpListener,
    certificates: Option<Arc<Certificates>>,
    traffic: Arc<Traffic>,
}

impl Listener {
    /// Binds the address; port 0 takes a free one.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // A restart must not wait for the connections of the run before.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        Ok(Listener {
            socket: socket.listen(BACKLOG)?.into_std()?,
            certificates: None,
            traffic: Arc::default(),
        })
    }

    /// The listener, speaking TLS with these certificates.
    pub fn secured(self, certificates: Option<Arc<Certificates>>) -> Self {
        Listener { certificates, ..self }
    }

    /// The counters of the listener's connections; they count on while it is served.
    pub fn traffic(&self) -> Arc<Traffic> {
        Arc::clone(&self.traffic)
    }

    /// The address that was bound.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Serves until `stop` completes and everything under way is answered or cut off.
    pub async fn serve<A: Answer>(
        self,
        answer: Arc<A>,
        limits: Limits,
        stop: impl Future<Output = ()>,
    ) -> Drained {
        let (phase, _) = signal::channel(Phase::Open);
        let shared = Arc::new(Shared {
            builder: builder(&limits),
            answer,
            traffic: self.traffic,
            certificates: self.certificates,
            peers: Peers::default(),
            phase,
            is_stopping: AtomicBool::new(false),
            limits,
        });
        // Every connection holds a sender, so the receiver ends when the last one is gone.
        let (alive, mut last) = mpsc::channel::<()>(1);
        // The socket is closed when this returns.
        entrance::accept_until(self.socket, Arc::clone(&shared), alive, stop).await;
        shared.is_stopping.store(true, Ordering::Relaxed);
        shared.phase.send_replace(Phase::Draining);
        if tokio::time::timeout(shared.limits.shutdown_timeout, last.recv()).await.is_ok() {
            return Drained { cut_off: 0 };
        }
        let cut_off = shared.traffic.connections.load(Ordering::Relaxed);
        shared.phase.send_replace(Phase::Cut);
        last.recv().await;
        Drained { cut_off }
    }
}

/// The state that all connections of a listener share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Connections take requests.
    Open,
    /// Connections finish the requests that they have.
    Draining,
    /// Connections end now.
    Cut,
}

struct Shared<A> {
    answer: Arc<A>,
    limits: Limits,
    builder: auto::Builder<TokioExecutor>,
    traffic: Arc<Traffic>,
    certificates: Option<Arc<Certificates>>,
    peers: Peers,
    phase: signal::Sender<Phase>,
    /// Whether `phase` is past `Open`, without its lock: every request asks.
    is_stopping: AtomicBool,
}

fn builder(limits: &Limits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        // `watch.rs` keeps the time of heads: hyper's own timer would also end idle connections,
        // and costs an allocation per request.
        .header_read_timeout(None)
        .max_buf_size(limits.head_bytes_max)
        // A caller that closes its sending side after a request still gets the answer, and its
        // handler is not dropped half-way.
        .half_close(true)
        // Gathering the answers to pipelined requests would hold an answer back while half a
        // request is in the buffer, a 431 for ever.
        .pipeline_flush(false);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(u32::try_from(limits.head_bytes_max).unwrap_or(u32::MAX))
        .keep_alive_interval(limits.idle_timeout)
        .keep_alive_timeout(limits.head_timeout);
    builder
}

/// A connection that is being served; its place is free again when this is dropped.
struct ServedConnection<A> {
    shared: Arc<Shared<A>>,
    /// The caller's address, in whose count the connection is.
    peer: IpAddr,
    _alive: mpsc::Sender<()>,
}

impl<A> Drop for ServedConnection<A> {
    fn drop(&mut self) {
        self.shared.traffic.connections.fetch_sub(1, Ordering::Relaxed);
        self.shared.peers.leave(self.peer);
    }
}
