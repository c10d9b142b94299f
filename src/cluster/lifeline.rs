//! A connection of each standby to the leader, for the sake of its end: the kernel closes it when the leader's process
//! dies, long before its silence is heard. An end proves nothing, as a wire breaks too. It makes the standby listen:
//! whoever leads and lives gives its next sign of life, and keeps the log.

use super::peers::{PROOF, PeerKey};
use super::{Cluster, Shared};
use crate::http::respond::Rest;
use bytes::Bytes;
use hyper::Method;
use reqwest::{Client, Response};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wal::cluster::{Seen, Silence};

pub const PATH: &str = "/peer/lifeline";
/// Proved by a node that holds on to it: no request could have this target.
pub const TARGET: &str = "peer lifeline";
/// A connection whose other side is gone is noticed when something is sent.
const SAY_EVERY: Duration = Duration::from_secs(1);
const ASK: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(200);
/// Without a connection for so long somebody is told, once.
const UNREACHED: Duration = Duration::from_secs(5);
/// A leader that lives is heard of within this, again and again.
const DOUBT: Duration = Duration::from_millis(250);
/// A dead leader's last words may arrive after the end of its connections: a batch, and a sign of life. Whoever is
/// heard of once more lives.
const SIGNS: u32 = 3;

/// That the leader of an epoch has died, since the connection to it has ended.
pub(super) struct Doubt {
    epoch: u64,
    silence: Silence,
    signs: u32,
}

impl Doubt {
    pub(super) fn new(epoch: u64) -> Doubt {
        Doubt { epoch, silence: Silence::default(), signs: 0 }
    }

    /// Whether there is still doubt after another look.
    pub(super) fn looked(&mut self, now: Duration, seen: &Seen) -> bool {
        self.signs += u32::from(self.silence.looked(now, seen, DOUBT));
        self.epoch == seen.epoch.number && self.signs < SIGNS
    }

    pub(super) fn unanswered(&mut self) {
        self.silence.failed();
    }

    /// Whether nothing was heard for long enough.
    pub(super) fn is_borne_out(&self, now: Duration) -> bool {
        self.silence.lasts(now) >= DOUBT
    }
}

/// Ends with the lead, and when the process is told to stop.
pub(super) fn held(cluster: Cluster) -> Rest {
    Rest::new(async move {
        let mut views = cluster.changes();
        let over = async { while cluster.shared.goes_on_leading() && views.changed().await.is_ok() {} };
        tokio::select! {
            () = over => Ok(None),
            () = tokio::time::sleep(SAY_EVERY) => Ok(Some((Bytes::from_static(b"\n"), held(cluster)))),
        }
    })
}

/// Holds on to whoever leads, for as long as this node stands by.
pub(super) fn hold(shared: Arc<Shared>, client: Client, key: PeerKey) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let thread = std::thread::Builder::new().name("lifeline".to_owned());
    thread.spawn(move || runtime.block_on(hold_on(&shared, &client, &key))).map(drop)
}

async fn hold_on(shared: &Shared, client: &Client, key: &PeerKey) {
    let mut views = shared.views.subscribe();
    let (mut lost_at, mut is_told) = (None, false);
    loop {
        let led = views.wait_for(|view| view.leader_member().is_some_and(|leader| leader.node != view.node));
        let Ok(view) = led.await.map(|view| Arc::clone(&view)) else { return };
        let Some(leader) = view.leader_member() else { continue };
        let held = async {
            let mut lifeline = grasp(client, key, &leader.peer_advertise).await?;
            while let Ok(Some(_)) = lifeline.chunk().await {}
            Some(())
        };
        tokio::select! {
            ended = held => match ended {
                Some(()) => {
                    (lost_at, is_told) = (None, false);
                    shared.doubt(view.epoch);
                }
                None if !is_told && lost_at.get_or_insert_with(Instant::now).elapsed() >= UNREACHED => {
                    is_told = true;
                    let peer = &leader.peer_advertise;
                    tracing::warn!(peer, "no connection to the leader: only its silence shows its death");
                }
                None => {}
            },
            // Another leads.
            _ = views.wait_for(|now| now.epoch != view.epoch) => (lost_at, is_told) = (None, false),
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn grasp(client: &Client, key: &PeerKey, peer: &str) -> Option<Response> {
    let asked =
        client.get(format!("{peer}{PATH}")).header(PROOF, key.prove_node(&Method::GET, TARGET)).send();
    let answer = tokio::time::timeout(ASK, asked).await.ok()?.ok()?;
    (answer.status() == 200).then_some(answer)
}

impl Shared {
    /// Not one that was deposed, has handed the log over, or is about to stop.
    pub(super) fn goes_on_leading(&self) -> bool {
        let leads = self.leader.get().is_some_and(|leader| leader.lost().is_none());
        leads && self.is_open.load(Ordering::Acquire) && !self.is_leaving.load(Ordering::Acquire)
    }

    /// The leader of this epoch may have died.
    fn doubt(&self, epoch: u64) {
        tracing::warn!(epoch, "the connection to the leader has ended");
        self.doubted.store(epoch, Ordering::Release);
        if let Some(thread) = self.standing_by.get() {
            thread.unpark();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wal::cluster::{AgreedTip, Epoch};

    #[test]
    fn what_a_leader_said_before_its_death_does_not_end_the_doubt() {
        let seen = |number, beat: &str| Seen {
            epoch: Epoch { number, node: "a".to_owned(), token: "t".to_owned() },
            tip: AgreedTip::default(),
            beat: beat.as_bytes().to_vec(),
            is_open: true,
            window_bytes: 0,
            batches: Vec::new(),
            nodes: Vec::new(),
            stores: None,
        };
        // What is seen, when, whether the doubt goes on, and whether it was right.
        let looks = [
            (0, seen(7, "1"), true, false),
            (200, seen(7, "2"), true, false),
            (400, seen(7, "3"), true, false),
            (600, seen(7, "3"), true, false),
            (640, seen(7, "3"), true, false),
            (660, seen(7, "3"), true, true),
            (670, seen(7, "4"), false, false),
        ];
        let mut doubt = Doubt::new(7);
        for (ms, seen, goes_on, is_borne_out) in looks {
            let now = Duration::from_millis(ms);
            assert_eq!((doubt.looked(now, &seen), doubt.is_borne_out(now)), (goes_on, is_borne_out), "{ms}");
        }
        let mut doubt = Doubt::new(7);
        assert!(!doubt.looked(Duration::ZERO, &seen(8, "1")), "another leads");
    }
}
