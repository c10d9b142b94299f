//! Accepts connections, speaks HTTP/1.1 and HTTP/2 on them, and keeps their limits. A head arrives
//! within its time and size or the connection ends; an idle connection ends; a connection over the
//! limit is told so; an error that was found before the body was read leaves no body in the stream;
//! a panic in a handler is a 500; every response has an `X-Request-Id`, and
//! `Strict-Transport-Security` with TLS; a head that proxies may read in another way (bare line
//! feeds, not exactly one `Host`) is a 400; what hyper refuses by itself over HTTP/1 is a problem
//! with a body too. On stop it accepts nothing more, closes what is idle, finishes what is under
//! way, and cuts off what takes too long.

mod connection;
pub mod heads;

use crate::http::body::{Budget, Inbound};
use crate::http::respond::{Reply, RequestId};
use crate::http::tls::Certificates;
use api::problem::Problem;
use hyper::http::request::Parts;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::{Builder, Handle};
use tokio::sync::{mpsc, oneshot, watch as signal};
use tokio::task::JoinSet;

/// On one HTTP/2 connection: RFC 9113 (section 6.5.2) advises against fewer.
const STREAMS_MAX: u32 = 100;
pub const BODY_BYTES_MAX: usize = 1 << 20;
const BODIES_BYTES: usize = 64 << 20;
/// Wait in the kernel to be taken, as far as the kernel allows so many. One that finds no place
/// there tries again after a second, and then after ever longer times.
const BACKLOG: u32 = 4_096;
/// That are being told that there are too many; further ones are closed without a word.
const REJECTIONS_MAX: usize = 256;
/// After a failed accept, most often because there are no more file descriptors.
const ACCEPT_REST: Duration = Duration::from_millis(50);

#[derive(Clone, Debug)]
pub struct Limits {
    pub connections_max: usize,
    /// From one address; 0: as many as there may be.
    pub connections_per_peer_max: usize,
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

/// Calls that a page makes for somebody who is logged in, or another partition for one of its accounts, go the way of
/// every other call, with the hash of the caller's key or token in the place of the key itself: so scopes, roles, limits,
/// records and answers are those of the API, and a key that is revoked opens nothing more. The mark travels beside the
/// head of a request, among what no network writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OnBehalf(pub [u8; 32]);

pub trait Answer: Send + Sync + 'static {
    /// The body need not be read: the listener discards what is left of it.
    fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> impl Future<Output = Reply> + Send;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    pub cut_off: usize,
}

#[derive(Debug, Default)]
pub struct Traffic {
    pub connections: AtomicUsize,
    pub accepted: AtomicU64,
    pub refused: AtomicU64,
}

pub struct Listener {
    socket: std::net::TcpListener,
    certificates: Option<Arc<Certificates>>,
    traffic: Arc<Traffic>,
}

impl Listener {
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
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

    pub fn traffic(&self) -> Arc<Traffic> {
        Arc::clone(&self.traffic)
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

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
        let (end, ended) = oneshot::channel::<()>();
        let (closing, closed) = oneshot::channel::<()>();
        let rejected = JoinSet::new();
        let entrance = Entrance { shared: Arc::clone(&shared), alive, workers: Handle::current(), rejected };
        let accept = move || {
            if let Err(error) = entrance.run(self.socket, ended, closing) {
                tracing::error!(%error, "a listener takes no connections");
            }
        };
        if let Err(error) = std::thread::Builder::new().name("entrance".to_owned()).spawn(accept) {
            tracing::error!(%error, "a listener takes no connections");
        }
        stop.await;
        drop(end);
        // The socket is closed then.
        let _ = closed.await;
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
        // `Watch` keeps the time of heads: hyper's own timer would also end idle connections,
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

struct ServedConnection<A> {
    shared: Arc<Shared<A>>,
    peer: IpAddr,
    _alive: mpsc::Sender<()>,
}

impl<A> Drop for ServedConnection<A> {
    fn drop(&mut self) {
        self.shared.traffic.connections.fetch_sub(1, Ordering::Relaxed);
        self.shared.peers.leave(self.peer);
    }
}

/// A thread of its own accepts connections: however much the others have to do, a connection over
/// the limit is refused at once, and the kernel's queue does not overflow. Connections are served
/// by the runtime of its listener. Some may still be receiving their rejection when the socket is closed.
struct Entrance<A> {
    shared: Arc<Shared<A>>,
    alive: mpsc::Sender<()>,
    workers: Handle,
    rejected: JoinSet<()>,
}

impl<A: Answer> Entrance<A> {
    fn run(
        mut self,
        socket: std::net::TcpListener,
        mut ended: oneshot::Receiver<()>,
        closing: oneshot::Sender<()>,
    ) -> io::Result<()> {
        Builder::new_current_thread().enable_all().build()?.block_on(async {
            let socket = TcpListener::from_std(socket)?;
            loop {
                tokio::select! {
                    biased;
                    _ = &mut ended => break,
                    Some(_) = self.rejected.join_next() => {}
                    accepted = socket.accept() => match accepted {
                        Ok((stream, peer)) => {
                            // Small answers must not wait for the acknowledgement of the one
                            // before.
                            if stream.set_nodelay(true).is_ok() {
                                self.take(stream, peer);
                            }
                        }
                        Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                        Err(error) => {
                            tracing::warn!(%error, "accepting a connection failed");
                            tokio::time::sleep(ACCEPT_REST).await;
                        }
                    },
                }
            }
            drop(socket);
            let _ = closing.send(());
            let mut phase = self.shared.phase.subscribe();
            tokio::select! {
                _ = phase.wait_for(|phase| *phase == Phase::Cut) => {}
                () = async { while self.rejected.join_next().await.is_some() {} } => {}
            }
            Ok(())
        })
    }

    fn take(&mut self, stream: TcpStream, peer: SocketAddr) {
        let traffic = &self.shared.traffic;
        let taken = traffic.connections.fetch_add(1, Ordering::Relaxed);
        let of_peer = self.shared.peers.enter(peer.ip());
        let held = ServedConnection {
            shared: Arc::clone(&self.shared),
            peer: peer.ip(),
            _alive: self.alive.clone(),
        };
        let limits = &self.shared.limits;
        if taken < limits.connections_max
            && (limits.connections_per_peer_max == 0 || of_peer <= limits.connections_per_peer_max)
        {
            traffic.accepted.fetch_add(1, Ordering::Relaxed);
            // The stream moves from this thread's reactor to that of the workers.
            let Ok(stream) = stream.into_std() else { return };
            self.workers.spawn(async move {
                if let Ok(stream) = TcpStream::from_std(stream) {
                    connection::serve(held, stream, peer).await;
                }
            });
            return;
        }
        drop(held);
        traffic.refused.fetch_add(1, Ordering::Relaxed);
        // TLS cannot say anything before a handshake, which is what there is no room for.
        if self.rejected.len() < REJECTIONS_MAX && self.shared.certificates.is_none() {
            self.rejected.spawn(async move {
                connection::say_and_close(stream, heads::answer(&Problem::overloaded(1), None, false)).await;
            });
        }
    }
}

/// Open connections of each address, looked up once per connection, never per request.
/// An address without any has no entry.
#[derive(Debug, Default)]
struct Peers(Mutex<HashMap<IpAddr, usize>>);

impl Peers {
    fn enter(&self, peer: IpAddr) -> usize {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(network(peer)).or_default();
        *count += 1;
        *count
    }

    fn leave(&self, peer: IpAddr) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut entry) = counts.entry(network(peer)) {
            *entry.get_mut() -= 1;
            if *entry.get() == 0 {
                entry.remove();
            }
        }
    }
}

/// Of IPv6, the network of the first 64 bits, because one peer commands all of it.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted_by_address_and_forgotten_with_the_last() {
        let peers = Peers::default();
        let of = |text: &str| text.parse::<IpAddr>().expect("an address");
        assert_eq!(
            [peers.enter(of("10.0.0.1")), peers.enter(of("::ffff:10.0.0.1")), peers.enter(of("10.0.0.2"))],
            [1, 2, 1]
        );
        assert_eq!(
            [
                peers.enter(of("2001:db8::1")),
                peers.enter(of("2001:db8::2")),
                peers.enter(of("2001:db8:0:1::1"))
            ],
            [1, 2, 1]
        );
        peers.leave(of("10.0.0.1"));
        assert_eq!(peers.enter(of("10.0.0.1")), 2);
        for peer in
            ["10.0.0.1", "10.0.0.1", "10.0.0.2", "2001:db8::1", "2001:db8::1", "2001:db8:0:1::1", "192.0.2.1"]
        {
            peers.leave(of(peer));
        }
        assert!(peers.0.lock().expect("not poisoned").is_empty());
    }
}
