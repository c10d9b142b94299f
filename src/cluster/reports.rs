//! What the process of one partition tells the front that started it, a line each on its standard output: nobody else
//! writes or reads that pipe, so that nothing has to be proved.

use super::standing_by::NEXT_SIGN;
use super::view::{ABSENT_AFTER_MS, View};
use super::{Cluster, Shared};
use domain::platform::{PlatformBook, Tenant};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Of what changes all the time. Who leads is told at once.
const EVERY: Duration = Duration::from_millis(250);
pub(super) const SILENT: &str = "the process of this partition does not answer";

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
    /// When this node's own process spoke last.
    spoke_at: RwLock<Option<Instant>>,
    keys: RwLock<HashMap<[u8; 32], u8>>,
    tenants: RwLock<HashMap<String, u8>>,
    successors: Mutex<Successors>,
    pub failover: Duration,
}

/// The other nodes that may lead when this one stops, the best first.
#[derive(Default)]
struct Successors {
    order: Vec<String>,
    /// Whether the process has it.
    is_known: bool,
}

impl Partition {
    pub fn nothing(node: &str, failover: Duration) -> Partition {
        let view = View { node: node.to_owned(), waits_for: SILENT.into(), ..View::default() };
        Partition {
            views: watch::Sender::new(Arc::new(view)),
            listens: RwLock::default(),
            spoke_at: RwLock::default(),
            keys: RwLock::default(),
            tenants: RwLock::default(),
            successors: Mutex::default(),
            failover,
        }
    }

    pub fn views(&self) -> watch::Receiver<Arc<View>> {
        self.views.subscribe()
    }

    pub fn view(&self) -> Arc<View> {
        self.views.borrow().clone()
    }

    pub fn spoke_at(&self) -> Option<Instant> {
        *self.spoke_at.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether that is longer ago.
    pub fn is_silent_for(&self, time: Duration) -> bool {
        self.spoke_at().is_none_or(|at| at.elapsed() > time)
    }

    /// What is known without this node's own process.
    pub fn learn(&self, view: View) {
        self.views.send_replace(Arc::new(View { read_at: Some(Instant::now()), ..view }));
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

    pub fn name_successors(&self, order: Vec<String>) {
        let mut successors = self.successors.lock().unwrap_or_else(PoisonError::into_inner);
        if successors.order != order {
            *successors = Successors { order, is_known: false };
        }
    }

    /// Those that its process is to be told of; once it is, `tell` says so.
    pub fn tell_successors(&self, tell: impl FnOnce(&[String]) -> bool) {
        let mut successors = self.successors.lock().unwrap_or_else(PoisonError::into_inner);
        if !successors.is_known {
            successors.is_known = tell(&successors.order);
        }
    }

    /// Whether its process has something to hand over, and to whom.
    pub fn hands_over(&self) -> bool {
        let successors = self.successors.lock().unwrap_or_else(PoisonError::into_inner);
        leads(&self.view()) && !successors.order.is_empty()
    }

    pub fn is_led_elsewhere(&self) -> bool {
        let view = self.view();
        view.leader.is_some() && !leads(&view)
    }

    pub fn hear(&self, told: Report) {
        *self.spoke_at.write().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        match told {
            Report::Listens(url) => {
                *self.listens.write().unwrap_or_else(PoisonError::into_inner) = url;
                // The process has started anew.
                self.successors.lock().unwrap_or_else(PoisonError::into_inner).is_known = false;
            }
            Report::View(view) if knows_less(&view, &self.view()) => {}
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

/// A process that has just started does not know yet who leads: for some time what the one before it said holds.
fn knows_less(view: &View, known: &View) -> bool {
    let is_starting = view.members.is_empty() || view.waits_for == NEXT_SIGN && view.epoch <= known.epoch;
    view.leader.is_none() && is_starting && known.leader.is_some() && !leads(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

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
    fn a_process_that_starts_anew_is_believed_once_it_knows_who_leads() {
        let heard = Partition::nothing("a", Duration::from_secs(1));
        let say = |leader: Option<&str>, epoch, waits_for: &'static str| {
            let view = View {
                node: "a".into(),
                leader: leader.map(str::to_owned),
                epoch,
                waits_for: waits_for.into(),
                ..View::default()
            };
            heard.hear(told(&Report::View(Box::new(view))));
            heard.view().leader.clone()
        };
        let b = Some("b".to_owned());
        assert_eq!(say(Some("b"), 7, ""), b);
        assert_eq!((say(None, 0, "catching up"), say(None, 7, NEXT_SIGN)), (b.clone(), b));
        assert_eq!(heard.view().epoch, 7);
        assert_eq!(say(Some("a"), 8, ""), Some("a".to_owned()));
        assert_eq!(say(None, 0, "catching up"), None, "the leader itself has ended");
    }

    #[test]
    fn a_process_is_told_once_of_its_successors_and_again_when_it_starts_anew() {
        let heard = Partition::nothing("a", Duration::ZERO);
        let all = RefCell::new(Vec::new());
        let tell = |takes: bool| {
            heard.tell_successors(|order| {
                all.borrow_mut().push(order.join(" "));
                takes
            });
            all.take()
        };
        tell(true);
        heard.name_successors(vec!["b".to_owned(), "c".to_owned()]);
        assert_eq!(
            (tell(false), tell(true), tell(true)),
            (vec!["b c".to_owned()], vec!["b c".to_owned()], vec![])
        );
        heard.name_successors(vec!["b".to_owned(), "c".to_owned()]);
        assert_eq!(tell(true), Vec::<String>::new());
        heard.hear(told(&Report::Listens("http://127.0.0.1:9".to_owned())));
        assert_eq!(tell(true), ["b c"]);
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
