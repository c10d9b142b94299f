//! A connection of each standby to the leader, for the sake of its end: the kernel closes it when the leader's process
//! dies, long before its silence is heard. An end proves nothing, as a wire breaks too. It makes the standby listen:
//! whoever leads and lives gives its next sign of life, and keeps the log.

use super::peers::{PROOF, Passed, PeerKey, Surface};
use super::view::now_ms;
use super::{Cluster, Shared};
use crate::http::respond::Rest;
use bytes::Bytes;
use hyper::Method;
use reqwest::{Client, Response};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub const PATH: &str = "/peer/lifeline";
/// Proved by a node that holds on to it: no request could have this target.
pub const TARGET: &str = "peer lifeline";
/// A connection whose other side is gone is noticed when something is sent.
const SAY_EVERY: Duration = Duration::from_secs(1);
const ASK: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(200);

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
            ended = held => if ended.is_some() {
                shared.doubt(view.epoch);
            },
            // Another leads.
            _ = views.wait_for(|now| now.epoch != view.epoch) => {}
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn grasp(client: &Client, key: &PeerKey, peer: &str) -> Option<Response> {
    let nobody = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let asked = Passed { method: &Method::GET, target: TARGET, surface: Surface::Admin, peer: nobody };
    let asked = client.get(format!("{peer}{PATH}")).header(PROOF, key.prove(&asked, now_ms())).send();
    let answer = tokio::time::timeout(ASK, asked).await.ok()?.ok()?;
    (answer.status() == 200).then_some(answer)
}

impl Shared {
    fn goes_on_leading(&self) -> bool {
        let leads = self.leader.get().is_some_and(|leader| leader.lost().is_none());
        leads && !self.is_leaving.load(Ordering::Acquire)
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
