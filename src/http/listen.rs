//! Accepts connections, speaks HTTP/1.1 and HTTP/2 on them, and keeps their limits. A head arrives
//! within its time and size or the connection ends; an idle connection ends; a connection over the
//! limit is told so; an error that was found before the body was read leaves no body in the stream;
//! a panic in a handler is a 500; every response has an `X-Request-Id`, and
//! `Strict-Transport-Security` with TLS; a head that proxies may read in another way (bare line
//! feeds, not exactly one `Host`) is a 400; what hyper refuses by itself over HTTP/1 is a problem
//! with a body too. On stop it accepts nothing more, closes what is idle, finishes what is under
//! way, and cuts off what takes too long.

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

/// On one HTTP/2 connection: RFC 9113 (section 6.5.2) advises against fewer.
const STREAMS_MAX: u32 = 100;
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// For all bodies together which come in pieces.
const BODIES_BYTES: usize = 64 << 20;
/// Wait in the kernel to be taken, as far as the kernel allows so many. One that finds no place
/// there tries again after a second, and then after ever longer times.
const BACKLOG: u32 = 4_096;

/// Names and units as in `config.toml`.
#[derive(Clone, Debug)]
pub struct Limits {
    pub connections_max: usize,
    /// From one address; 0: as many as there may be.
    pub connections_per_peer_max: usize,
    /// Request line and headers, at least 8 KiB.
    pub head_bytes_max: usize,
    pub head_timeout: Duration,
    pub body_bytes_max: usize,
    pub body_timeout: Duration,
    /// For all bodies that come in pieces, those of other listeners included.
    pub bodies: Arc<Budget>,
    pub idle_timeout: Duration,
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

#[derive(Debug)]
pub struct Arrival {
    pub head: Parts,
    pub request_id: RequestId,
    pub peer: SocketAddr,
}

pub trait Answer: Send + Sync + 'static {
    /// The body need not be read: the listener discards what is left of it.
    fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> impl Future<Output = Reply> + Send;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// With a request under way.
    pub cut_off: usize,
}

#[derive(Debug, Default)]
pub struct Traffic {
    pub connections: AtomicUsize,
    pub accepted: AtomicU64,
    pub refused: AtomicU64,
}

/// Nobody is served yet.
#[derive(Debug)]
pub struct Listener {
    socket: std::net::TcpListener,
    certificates: Option<Arc<Certificates>>,
    traffic: Arc<Traffic>,
}

impl Listener {
    /// Port 0 takes a free one.
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

    pub fn secured(self, certificates: Option<Arc<Certificates>>) -> Self {
        Listener { certificates, ..self }
    }

    /// They count on while the listener is served.
    pub fn traffic(&self) -> Arc<Traffic> {
        Arc::clone(&self.traffic)
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// And everything under way is answered or cut off.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    Draining,
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
    /// Past `Open`, without the lock: every request asks.
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

/// Its place is free again when this is dropped.
struct ServedConnection<A> {
    shared: Arc<Shared<A>>,
    /// In whose count the connection is.
    peer: IpAddr,
    _alive: mpsc::Sender<()>,
}

impl<A> Drop for ServedConnection<A> {
    fn drop(&mut self) {
        self.shared.traffic.connections.fetch_sub(1, Ordering::Relaxed);
        self.shared.peers.leave(self.peer);
    }
}
