//! What the process of one partition tells the front that started it, a line each on its standard output: nobody else
//! writes or reads that pipe, so that nothing has to be proved.

use super::view::{ABSENT_AFTER_MS, View};
use super::{Cluster, Shared};
use domain::platform::{PlatformBook, Tenant};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Of what changes all the time. Who leads is told at once.
const EVERY: Duration = Duration::from_millis(250);
const SILENT: &str = "the process of this partition does not answer";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// The address of its listener for nodes.
    Listens(String),
    View(Box<View>),
    Routes(Routes),
}

/// The keys (SHA-256, in hexadecimal) and tenants that are not the first partition's, or were not once, each with its
/// own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Routes {
    pub keys: Vec<(String, u8)>,
    pub tenants: Vec<(String, u8)>,
}

impl Routes {
    /// As the platform's book of a partition has them. Another than the first speaks of its own tenants alone: it does
    /// not hear where one is that left.
    pub fn of(book: &PlatformBook, own: u8) -> Routes {
        let mut routes = Routes::default();
        let is_known = |tenant: &&Arc<Tenant>| match own {
            0 => tenant.partition != 0 || tenant.moves > 0,
            own => tenant.partition == own,
        };
        for tenant in book.tenants.values().filter(is_known) {
            routes.tenants.push((tenant.id.to_string(), tenant.partition));
            let keys = book.keys.of(tenant.number).map(|key| (hex::encode(key.hash), tenant.partition));
            routes.keys.extend(keys);
        }
        routes
    }
}

impl Cluster {
    /// What this process leads by has changed.
    pub fn learn_routes(&self, book: &PlatformBook) {
        self.shared.learn_routes(book);
    }

    /// Tells the front, until that is gone.
    pub fn tell(&self, listens: String) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let cluster = self.clone();
        let reporting = move || {
            // Without a front the process is told to stop (`app/children.rs`).
            let _ = runtime.block_on(tell(&cluster, listens));
        };
        std::thread::Builder::new().name("reporting".to_owned()).spawn(reporting).map(drop)
    }
}

impl Shared {
    pub(super) fn learn_routes(&self, book: &PlatformBook) {
        let Some(own) = self.settings.partition else { return };
        let routes = Routes::of(book, own);
        self.routes.send_if_modified(|known| {
            let is_new = *known != routes;
            *known = routes;
            is_new
        });
    }
}

async fn tell(cluster: &Cluster, listens: String) -> io::Result<()> {
    let mut views = cluster.changes();
    let mut routes = cluster.shared.routes.subscribe();
    say(&Report::Listens(listens))?;
    say(&Report::Routes(routes.borrow_and_update().clone()))?;
    loop {
        let view = cluster.view();
        say(&Report::View(Box::new((*view).clone())))?;
        tokio::select! {
            _ = views.wait_for(|now| now.leader != view.leader || now.epoch != view.epoch) => {}
            () = tokio::time::sleep(EVERY) => {}
            _ = routes.changed() => {
                let routes = routes.borrow_and_update().clone();
                say(&Report::Routes(routes))?;
            }
        }
    }
}

fn say(report: &Report) -> io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    let mut front = io::stdout().lock();
    front.write_all(&line)?;
    front.flush()
}

/// What a front knows of one of its processes.
pub struct Partition {
    views: watch::Sender<Arc<View>>,
    listens: RwLock<String>,
    keys: RwLock<HashMap<[u8; 32], u8>>,
    tenants: RwLock<HashMap<String, u8>>,
    pub failover: Duration,
}

impl Partition {
    pub fn nothing(node: &str, failover: Duration) -> Partition {
        let view = View { node: node.to_owned(), waits_for: SILENT.into(), ..View::default() };
        Partition {
            views: watch::Sender::new(Arc::new(view)),
            listens: RwLock::default(),
            keys: RwLock::default(),
            tenants: RwLock::default(),
            failover,
        }
    }

    pub fn views(&self) -> watch::Receiver<Arc<View>> {
        self.views.subscribe()
    }

    pub fn view(&self) -> Arc<View> {
        self.views.borrow().clone()
    }

    /// Empty while that is not known.
    pub fn listens(&self) -> String {
        self.listens.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn of_key(&self, hash: &[u8; 32]) -> Option<u8> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).get(hash).copied()
    }

    pub fn of_tenant(&self, id: &str) -> Option<u8> {
        self.tenants.read().unwrap_or_else(PoisonError::into_inner).get(id).copied()
    }

    pub fn hear(&self, told: Report) {
        match told {
            Report::Listens(url) => *self.listens.write().unwrap_or_else(PoisonError::into_inner) = url,
            Report::View(mut view) => {
                view.read_at = Some(Instant::now());
                let own = view.node.clone();
                // The nearest way, also while others do not reach this node.
                for member in view.members.iter_mut().filter(|member| member.node == own) {
                    member.peer_advertise = self.listens();
                }
                self.views.send_replace(Arc::from(view));
            }
            Report::Routes(routes) => {
                let hash = |(key, partition): (String, u8)| {
                    Some((hex::decode(key).ok()?.try_into().ok()?, partition))
                };
                *self.keys.write().unwrap_or_else(PoisonError::into_inner) =
                    routes.keys.into_iter().filter_map(hash).collect();
                *self.tenants.write().unwrap_or_else(PoisonError::into_inner) =
                    routes.tenants.into_iter().collect();
            }
        }
    }

    /// Whoever leads on another node is asked for some time without this node's process: it knows by itself whether it
    /// still leads.
    pub fn look_for_silence(&self) {
        let silent = |view: &View| view.read_at.map_or(Duration::MAX, |at| at.elapsed());
        let elsewhere = Duration::from_millis(ABSENT_AFTER_MS.unsigned_abs());
        self.leads_no_more(|view| {
            silent(view) > if leads(view) { self.failover } else { elsewhere.max(self.failover) }
        });
    }

    pub fn has_ended(&self) {
        self.leads_no_more(leads);
    }

    fn leads_no_more(&self, is_so: impl FnOnce(&View) -> bool) {
        self.views.send_if_modified(|view| {
            let is_over = view.leader.is_some() && is_so(view);
            if is_over {
                let view = Arc::make_mut(view);
                (view.leader, view.waits_for) = (None, SILENT.into());
            }
            is_over
        });
    }
}

fn leads(view: &View) -> bool {
    view.leader.as_ref() == Some(&view.node)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(told: &Report) -> Report {
        let line = serde_json::to_string(told).expect("it is written");
        assert!(!line.contains('\n'));
        serde_json::from_str(&line).expect("it is read")
    }

    #[test]
    fn a_front_forgets_the_leader_that_died_and_asks_another_nodes_for_some_time() {
        let heard = Partition::nothing("a", Duration::ZERO);
        assert_eq!(heard.view().ready(Duration::from_secs(1)), Err(SILENT));
        heard.hear(told(&Report::Listens("http://127.0.0.1:9".to_owned())));
        for (leader, after_silence, after_end) in [("a", None, None), ("b", Some("b"), Some("b"))] {
            let view = View { node: "a".into(), leader: Some(leader.into()), epoch: 7, ..View::default() };
            let say = || heard.hear(told(&Report::View(Box::new(view.clone()))));
            say();
            assert_eq!(heard.view().leader.as_deref(), Some(leader));
            assert_eq!(heard.view().epoch, 7);
            std::thread::sleep(Duration::from_millis(2));
            heard.look_for_silence();
            assert_eq!(heard.view().leader.as_deref(), after_silence, "{leader}, silent");
            say();
            heard.has_ended();
            assert_eq!(heard.view().leader.as_deref(), after_end, "{leader}, ended");
        }
    }

    #[test]
    fn keys_and_tenants_lead_to_their_partition() {
        let heard = Partition::nothing("a", Duration::ZERO);
        let keys = vec![(hex::encode([7; 32]), 2), ("no hash".to_owned(), 1)];
        heard.hear(told(&Report::Routes(Routes { keys, tenants: vec![("t".to_owned(), 1)] })));
        assert_eq!((heard.of_key(&[7; 32]), heard.of_key(&[8; 32])), (Some(2), None));
        assert_eq!((heard.of_tenant("t"), heard.of_tenant("u")), (Some(1), None));
        heard.hear(told(&Report::Routes(Routes::default())));
        assert_eq!(heard.of_key(&[7; 32]), None);
    }
}
