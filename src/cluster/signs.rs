//! How long a request to another process may go without an answer: for as long as that process shows that it is there.
//! A bank may take its time; one that is stopped, or that no packet reaches, is not waited for.

use reqwest::Client;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Of the listener for nodes. Whoever asks it has waited for `failover_ms`, and a request hangs for a second more at
/// most.
pub(super) const PATH: &str = "/peer/alive";
const ANSWER: Duration = Duration::from_millis(900);
const AGAIN: Duration = Duration::from_millis(100);
/// Who asks now takes an answer that is not older.
const FRESH: Duration = Duration::from_millis(100);
/// A process that starts anew may get another port.
const PEERS_MAX: usize = 256;

pub(super) struct Signs {
    client: Client,
    failover: Duration,
    peers: Mutex<HashMap<String, Arc<Peer>>>,
    /// Whether any of them was silent when it was asked last: a plain request looks at nothing else.
    is_any_silent: AtomicBool,
}

#[derive(Default)]
struct Peer {
    is_silent: AtomicBool,
    /// When the newest answer came, or did not, and which it is. Whoever holds it asks for all who wait.
    newest: tokio::sync::Mutex<Option<(Instant, bool)>>,
}

impl Signs {
    pub(super) fn new(client: Client, failover: Duration) -> Signs {
        Signs { client, failover, peers: Mutex::default(), is_any_silent: AtomicBool::new(false) }
    }

    /// Returns once the process at this address gives no sign of life.
    pub(super) async fn until_silent(&self, peer: &str) {
        loop {
            tokio::time::sleep(self.failover).await;
            if !self.lives(peer).await {
                return;
            }
        }
    }

    /// Whether it gave none when it was asked last, and gives none now either.
    pub(super) async fn is_silent(&self, peer: &str) -> bool {
        if !self.is_any_silent.load(Ordering::Acquire) {
            return false;
        }
        self.peer(peer).is_silent.load(Ordering::Acquire) && !self.lives(peer).await
    }

    fn peer(&self, peer: &str) -> Arc<Peer> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = peers.get(peer) {
            return Arc::clone(known);
        }
        if peers.len() >= PEERS_MAX {
            peers.clear();
        }
        Arc::clone(peers.entry(peer.to_owned()).or_default())
    }

    /// Asked now, or together with who asks already.
    async fn lives(&self, peer: &str) -> bool {
        let (began, known) = (Instant::now(), self.peer(peer));
        let mut newest = known.newest.lock().await;
        if let Some((at, lives)) = *newest
            && at + FRESH >= began
        {
            return lives;
        }
        let lives = tokio::time::timeout(ANSWER, self.answers(peer)).await.is_ok();
        *newest = Some((Instant::now(), lives));
        known.is_silent.store(!lives, Ordering::Release);
        if !lives {
            self.is_any_silent.store(true, Ordering::Release);
        } else if self.is_any_silent.load(Ordering::Acquire) {
            let peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
            let is_any_silent = peers.values().any(|peer| peer.is_silent.load(Ordering::Acquire));
            self.is_any_silent.store(is_any_silent, Ordering::Release);
        }
        lives
    }

    /// Any answer is one. What fails here at once, as for want of a port, says nothing.
    async fn answers(&self, peer: &str) {
        while self.client.get(format!("{peer}{PATH}")).send().await.is_err() {
            tokio::time::sleep(AGAIN).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::atomic::AtomicUsize;

    #[tokio::test(flavor = "multi_thread")]
    async fn who_answers_is_waited_for_and_who_does_not_is_asked_once_for_all() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let peer = format!("http://{}", listener.local_addr().expect("an address"));
        let (is_there, asked) = (Arc::new(AtomicBool::new(true)), Arc::<AtomicUsize>::default());
        let (answers, count) = (Arc::clone(&is_there), Arc::clone(&asked));
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for mut stream in listener.incoming().map_while(Result::ok) {
                count.fetch_add(1, Ordering::SeqCst);
                if answers.load(Ordering::SeqCst) {
                    let _ = stream.read(&mut [0; 1 << 10]);
                    let answer = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                    let _ = stream.write_all(answer);
                } else {
                    silent.push(stream);
                }
            }
        });
        let config = crate::config::Config::parse("", []).expect("the usual");
        let client = super::super::peers::client(&config, None).expect("a client");
        let signs = Arc::new(Signs::new(client, Duration::from_millis(200)));
        let waiting = tokio::time::timeout(Duration::from_millis(900), signs.until_silent(&peer));
        assert!(waiting.await.is_err(), "it answers");
        assert!(!signs.is_silent(&peer).await);

        is_there.store(false, Ordering::SeqCst);
        let (before, began) = (asked.load(Ordering::SeqCst), Instant::now());
        let waiting: Vec<_> = (0..20)
            .map(|_| {
                let (signs, peer) = (Arc::clone(&signs), peer.clone());
                tokio::spawn(async move { signs.until_silent(&peer).await })
            })
            .collect();
        for waiting in waiting {
            waiting.await.expect("it ends");
        }
        assert!(began.elapsed() < Duration::from_millis(2_500), "{:?}", began.elapsed());
        assert!(asked.load(Ordering::SeqCst) <= before + 2, "one asks for all");
        assert!(signs.is_silent(&peer).await);
        is_there.store(true, Ordering::SeqCst);
        tokio::time::sleep(FRESH * 2).await;
        assert!(!signs.is_silent(&peer).await, "it is back");
        assert!(!signs.is_any_silent.load(Ordering::SeqCst));
    }
}
