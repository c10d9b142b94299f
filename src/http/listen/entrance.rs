//! A thread of its own accepts connections: however much the others have to do, a connection over
//! the limit is refused at once, and the kernel's queue does not overflow.

use super::{Answer, Phase, ServedConnection, Shared, bare, connection, stream};
use api::problem::Problem;
use std::io;
use std::net::TcpListener as StdListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Handle};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

/// That are being told that there are too many; further ones are closed without a word.
const REJECTIONS_MAX: usize = 256;
/// After a failed accept, most often because there are no more file descriptors.
const ACCEPT_REST: Duration = Duration::from_millis(50);

/// Connections are served by the runtime that this is called in. The socket is closed when it
/// returns; some connections may still be receiving their rejection then.
pub(super) async fn accept_until<A: Answer>(
    socket: StdListener,
    shared: Arc<Shared<A>>,
    alive: mpsc::Sender<()>,
    stop: impl Future<Output = ()>,
) {
    let workers = Handle::current();
    let (end, ended) = oneshot::channel::<()>();
    let (closing, closed) = oneshot::channel::<()>();
    let accept = move || {
        let entrance = Entrance { shared, alive, workers, rejected: JoinSet::new() };
        if let Err(error) = entrance.run(socket, ended, closing) {
            tracing::error!(%error, "a listener takes no connections");
        }
    };
    if let Err(error) = std::thread::Builder::new().name("entrance".to_owned()).spawn(accept) {
        tracing::error!(%error, "a listener takes no connections");
    }
    stop.await;
    drop(end);
    // Fails when the thread is gone already, and the socket with it.
    let _ = closed.await;
}

struct Entrance<A> {
    shared: Arc<Shared<A>>,
    alive: mpsc::Sender<()>,
    workers: Handle,
    rejected: JoinSet<()>,
}

impl<A: Answer> Entrance<A> {
    fn run(
        mut self,
        socket: StdListener,
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

    fn take(&mut self, stream: TcpStream, peer: std::net::SocketAddr) {
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
            self.rejected.spawn(reject(stream));
        }
    }
}

async fn reject(stream: TcpStream) {
    stream::say_and_close(stream, bare::answer(&Problem::overloaded(1), None, false)).await;
}
