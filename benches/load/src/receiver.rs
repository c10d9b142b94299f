//! A receiver of webhooks that does nothing but count: it answers 200 as fast as it can, on a
//! thread of its own.

use crate::Outcome;
use pasarela::webhooks::NICENESS;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// The receiver; it ends when it is dropped.
pub struct Receiver {
    address: SocketAddr,
    arrived: Arc<AtomicU64>,
    _runtime: Runtime,
}

impl Receiver {
    /// Listens on a free port.
    pub fn start() -> Outcome<Receiver> {
        let fail = |error: std::io::Error| format!("the receiver did not start: {error}");
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        // The receiver stands for other machines, which would take nothing from the payouts: so it
        // has the priority of the deliveries, not that of the payouts.
        runtime.worker_threads(1).thread_name("receiver").on_thread_start(|| {
            let _ = rustix::process::nice(NICENESS);
        });
        let runtime = runtime.enable_all().build().map_err(fail)?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let arrived = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&arrived);
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(count(stream, Arc::clone(&counter)));
            }
        });
        Ok(Receiver { address, arrived, _runtime: runtime })
    }

    /// The receiver's URL.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// The number of deliveries that arrived so far.
    pub fn arrived(&self) -> u64 {
        self.arrived.load(Ordering::Relaxed)
    }
}

/// Requests on one connection, each with a content-length.
async fn count(mut stream: TcpStream, arrived: Arc<AtomicU64>) {
    let _ = stream.set_nodelay(true);
    let mut read = Vec::with_capacity(8 << 10);
    loop {
        let whole = loop {
            if let Some(end) = length(&read).filter(|end| *end <= read.len()) {
                break end;
            }
            match stream.read_buf(&mut read).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        };
        read.drain(..whole);
        arrived.fetch_add(1, Ordering::Relaxed);
        if stream.write_all(ANSWER).await.is_err() {
            return;
        }
    }
}

/// Bytes of the first request, once its head is there.
fn length(read: &[u8]) -> Option<usize> {
    let head = read.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&read[..head]).ok()?;
    let body = text.lines().find_map(|line| {
        line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
    });
    Some(head + body.and_then(|(_, value)| value.trim().parse::<usize>().ok()).unwrap_or(0))
}
