//! What a node with several partitions answers: whose a request is, and the way to that partition's leader. Of the
//! node itself the first partition's process speaks.

mod copies;

use super::front::{self, CLUSTER};
use super::merged::{self, Exports, Merged};
use super::passing::{self, Passing};
use super::peers::Surface;
use super::questions::ShownBy;
use super::questions::{self, Question, Recent};
use super::reports::Partition;
use super::view::View;
use super::ways::{Way, way};
use crate::http::body::Inbound;
use crate::http::listen::{Arrival, OnBehalf};
use crate::http::origin_check::OriginCheck;
use crate::http::respond::Reply;
use api::problem::Problem;
use bytes::Bytes;
use domain::platform::hash_key;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use hyper::Method;
use hyper::header::{HeaderName, HeaderValue};
use hyper::http::request::Parts;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Who leads the partition of a caller's account: a caller may go there directly.
const LEADER: HeaderName = HeaderName::from_static("pasarela-leader");
const METRICS: &str = "/metrics";

/// What a request on the public listener says of whose it is.
pub enum Whose<'a> {
    Key(&'a str),
    /// Of whom has this.
    Of(Question),
    Partition(usize),
    Anybody,
}

#[derive(Clone)]
pub enum Place {
    Api(fn(&Parts) -> Whose<'_>),
    /// The rule that keeps other sites' pages away.
    Admin(OriginCheck),
}

pub struct NodeFront {
    partitions: Arc<[Partition]>,
    place: Place,
    passing: Passing,
    merged: Merged,
    recent: Recent,
    /// Of each partition: those that ask one without an answer do not keep the others waiting.
    asking: Vec<Semaphore>,
}

impl NodeFront {
    pub fn new(partitions: Arc<[Partition]>, place: Place, passing: Passing, exports: Exports) -> NodeFront {
        let merged = Merged::new(Arc::clone(&partitions), passing.clone(), exports);
        let recent = Recent::default();
        let asking = partitions.iter().map(|_| Semaphore::new(questions::ASKING_MAX)).collect();
        NodeFront { partitions, place, passing, merged, recent, asking }
    }

    pub async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        let answered = self.answered(arrival, body).await;
        answered.unwrap_or_else(|problem| Reply::problem(&problem, &arrival.request_id))
    }

    async fn answered(&self, arrival: &Arrival, body: &mut Inbound) -> Result<Reply, Problem> {
        let (head, first) = (&arrival.head, &self.partitions[0]);
        if let Place::Admin(guard) = &self.place {
            guard.check(head)?;
        }
        match (head.uri.path(), &self.place) {
            ("/healthz", _) => front::read_only(&head.method, front::alive()),
            ("/readyz", _) => front::read_only(&head.method, self.readiness()),
            (METRICS, Place::Admin(_)) if matches!(head.method, Method::GET | Method::HEAD) => {
                self.merged.metrics(arrival).await
            }
            (front::SNAPSHOT, Place::Admin(_)) => self.snapshot(arrival, body).await,
            (front::BACKUP, Place::Admin(_)) => self.back_up(arrival, body).await,
            (path, Place::Admin(_)) if path.starts_with(merged::PARTS) && is_of_page(arrival) => {
                self.merged.parts(arrival).await
            }
            (path, Place::Admin(_)) => {
                let to = match way(&head.method, path) {
                    Way::Node => {
                        // Every process knows the operators, and the one that spoke last is there.
                        let newest = self.partitions.iter().max_by_key(|partition| partition.spoke_at());
                        let asked = if path == CLUSTER { newest.unwrap_or(first) } else { first };
                        let reply = self.passing.ask(&asked.listens(), arrival, body).await?;
                        // Its answer says that whoever asks may; what it shows is of its own partition alone.
                        let shows_all = path == CLUSTER && reply.status == 200;
                        return Ok(if shows_all { self.show() } else { reply });
                    }
                    Way::All => return self.merged.answer(arrival, body).await,
                    Way::Each => return self.merged.each(arrival, body).await,
                    Way::Named => self.named_in(body).await?,
                    Way::Tenant(id) => self.of_tenant(id),
                    Way::Holder(question) => self.holder(question, Some(arrival)).await?,
                    Way::First => 0,
                };
                self.pass(to, Surface::Admin, arrival, body).await.1
            }
            (_, Place::Api(whose)) => {
                let whose = whose(head);
                let is_stream = passing::is_stream(Surface::Api, arrival);
                let to = match &whose {
                    Whose::Key(key) => match self.of_key(key) {
                        // What comes as it is read can be passed on once.
                        None if is_stream => self.holder(Question::Key(hash_key(key)), None).await?,
                        known => known.unwrap_or(0),
                    },
                    Whose::Of(question) => return self.of_buyer(question, arrival, body).await,
                    Whose::Partition(partition) => Some(*partition).filter(|n| self.has(*n)).unwrap_or(0),
                    Whose::Anybody => self.for_anybody(&head.method).await,
                };
                let (partition, passed) = self.pass(to, Surface::Api, arrival, body).await;
                if !matches!(whose, Whose::Key(_)) {
                    return passed;
                }
                let reply = passed.unwrap_or_else(|problem| Reply::problem(&problem, &arrival.request_id));
                Ok(name_leader(reply, &self.partitions[partition].view()))
            }
        }
    }

    /// Of an account that may have moved since its session or link was asked for: then all are asked anew.
    async fn of_buyer(
        &self,
        question: &Question,
        arrival: &Arrival,
        body: &mut Inbound,
    ) -> Result<Reply, Problem> {
        let bytes = body.bytes().await?;
        let again = || Inbound::made(bytes.clone());
        let name = question.to_string();
        let recent = self.recent.find(&name);
        let to = self.holder(question.clone(), None).await?;
        let passed = self.pass(to, Surface::Api, arrival, &mut again()).await.1;
        if passed.as_ref().is_ok_and(|reply| reply.status != 404 && reply.status < 500) {
            return passed;
        }
        self.recent.forget(&name);
        let may_go_again = recent.is_some()
            && (matches!(arrival.head.method, Method::GET | Method::HEAD) || is_undone(&passed));
        match may_go_again {
            true => match self.holder(question.clone(), None).await {
                Ok(other) if other != to => self.pass(other, Surface::Api, arrival, &mut again()).await.1,
                _ => passed,
            },
            false => passed,
        }
    }

    /// A page of a visitor whom this node's own process let in.
    pub(super) async fn page(
        &self,
        by: ShownBy,
        arrival: &Arrival,
        body: &mut Inbound,
    ) -> Result<Reply, Problem> {
        let to = match by {
            ShownBy::Holder(thing, id) => self.holder(Question::Thing(thing, id), Some(arrival)).await?,
            ShownBy::Partition(partition) if self.has(usize::from(partition)) => usize::from(partition),
            ShownBy::Partition(_) => return Err(Problem::not_found()),
        };
        self.pass(to, Surface::Admin, arrival, body).await.1
    }

    /// Passes a request on; and again where it is said whose it is: the first partition knows of new keys and accounts
    /// before this front does, and one that an account has left, or is about to come to, of that. What answered, and
    /// its partition.
    async fn pass(
        &self,
        to: usize,
        surface: Surface,
        arrival: &Arrival,
        body: &mut Inbound,
    ) -> (usize, Result<Reply, Problem>) {
        let views = |partition: usize| self.partitions[partition].views();
        if passing::is_stream(surface, arrival) {
            let mut passed = self.passing.pass(views(to), surface, arrival, body).await;
            // Its lines are gone with the first attempt.
            let _ = passed.as_mut().map(passing::take_elsewhere);
            return (to, passed);
        }
        let bytes = match body.bytes().await {
            Ok(bytes) => bytes,
            Err(problem) => return (to, Err(problem)),
        };
        let again = || Inbound::made(bytes.clone());
        let mut passed = self.passing.pass(views(to), surface, arrival, &mut again()).await;
        let elsewhere = passed.as_mut().ok().and_then(passing::take_elsewhere);
        match elsewhere.filter(|other| *other != to && self.has(*other)) {
            Some(other) => {
                let mut passed = self.passing.pass(views(other), surface, arrival, &mut again()).await;
                // Whoever that one names has been asked, or has not heard of it yet.
                let _ = passed.as_mut().map(passing::take_elsewhere);
                (other, passed)
            }
            None => (to, passed),
        }
    }

    /// Pages and rates are the same in every partition; what changes something for nobody's account is the first one's.
    async fn for_anybody(&self, method: &Method) -> usize {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return 0;
        }
        for (n, partition) in self.partitions.iter().enumerate() {
            let view = partition.view();
            if let Some(leader) = view.leader_member()
                && !self.passing.is_silent(&leader.peer_advertise).await
            {
                return n;
            }
        }
        0
    }

    /// Not of the first partition's keys, and of others once this front has heard of them.
    fn of_key(&self, key: &str) -> Option<usize> {
        let hash = hash_key(key);
        self.partitions.iter().find_map(|heard| heard.of_key(&hash)).map(usize::from).filter(|n| self.has(*n))
    }

    fn of_tenant(&self, id: &str) -> usize {
        let known = self.partitions.iter().find_map(|heard| heard.of_tenant(id));
        known.map(usize::from).filter(|n| self.has(*n)).unwrap_or(0)
    }

    fn has(&self, partition: usize) -> bool {
        partition < self.partitions.len()
    }

    /// Which partition has it; the first one says that nobody has. Operators are given no answer of before: an account
    /// may have moved, and nothing of it is to be absent for that.
    async fn holder(&self, question: Question, arrival: Option<&Arrival>) -> Result<usize, Problem> {
        let name = question.to_string();
        let is_good = !question.is_of_operators();
        if let Some(partition) = self.recent.find(&name).filter(|_| is_good) {
            return Ok(partition);
        }
        let asked = self.partitions.iter().zip(&self.asking).enumerate().map(|(n, (partition, places))| {
            let (view, question) = (partition.view(), &question);
            async move {
                let leader = view.leader_member().ok_or_else(|| "nobody leads it".to_owned());
                let held = async {
                    let place = tokio::time::timeout(questions::PATIENCE, places.acquire()).await;
                    let _place = place.map_err(|_| "too many ask".to_owned())?;
                    self.passing.holds(&leader?.peer_advertise, question, arrival).await
                };
                (n, held.await)
            }
        });
        let (mut asked, mut all) = (asked.collect::<FuturesUnordered<_>>(), true);
        while let Some((n, held)) = asked.next().await {
            match held {
                Ok(true) => {
                    drop(asked);
                    if is_good {
                        self.recent.note(name, n);
                    }
                    return Ok(n);
                }
                Ok(false) => {}
                Err(_) => all = false,
            }
        }
        if all { Ok(0) } else { Err(Problem::no_leader()) }
    }

    /// What is no partition here is the first one's to refuse.
    async fn named_in(&self, body: &mut Inbound) -> Result<usize, Problem> {
        #[derive(Default, Deserialize)]
        struct Named {
            partition: Option<usize>,
        }
        let read: Bytes = body.bytes().await?;
        let named: Named = serde_json::from_slice(&read).unwrap_or_default();
        *body = Inbound::made(read);
        Ok(named.partition.filter(|n| self.has(*n)).unwrap_or(0))
    }

    /// While nobody leads the first partition, who has a leader is served all the same.
    fn readiness(&self) -> Reply {
        let [first, others @ ..] = &*self.partitions else { return front::alive() };
        let (view, failover) = (first.view(), first.failover);
        let is_followed = view.epoch > 0 && view.follows(failover).is_ok();
        if is_followed && others.iter().any(|other| other.view().leader.is_some()) {
            return front::is_ready(&view);
        }
        front::readiness(&view, failover)
    }

    fn show(&self) -> Reply {
        let views: Vec<Arc<View>> = self.partitions.iter().map(Partition::view).collect();
        let [first, others @ ..] = views.as_slice() else { return front::alive() };
        Reply::json(200, front::show(first, others))
    }
}

/// Nobody else says so of themselves: it is in no header.
fn is_of_page(arrival: &Arrival) -> bool {
    arrival.head.extensions.get::<OnBehalf>().is_some()
}

fn name_leader(reply: Reply, view: &View) -> Reply {
    match view.leader_member().map(|leader| HeaderValue::from_str(&leader.advertise)) {
        Some(Ok(leader)) => reply.header(LEADER, leader),
        _ => reply,
    }
}

/// Certainly nothing was carried out.
fn is_undone(passed: &Result<Reply, Problem>) -> bool {
    let no_leader = Problem::no_leader().code;
    match passed {
        Ok(reply) => {
            let shown = || serde_json::from_slice::<Value>(&reply.body).unwrap_or_default();
            reply.status == 404 || reply.status == 503 && shown()["error"] == *no_leader
        }
        Err(problem) => problem.code == no_leader,
    }
}

#[cfg(test)]
mod tests {
    use super::super::peers::PeerKey;
    use super::super::reports::{Report, Routes};
    use super::*;
    use crate::config::Config;
    use std::time::Duration;

    #[tokio::test]
    async fn a_call_goes_to_the_partition_whose_books_it_is_about() {
        let partitions: Vec<Partition> =
            (0..3).map(|partition| Partition::nothing(&partition.to_string(), Duration::ZERO)).collect();
        let tenants = vec![("t2".to_owned(), 2), ("t9".to_owned(), 9)];
        let keys = vec![(hex::encode(hash_key("pk_2")), 2)];
        partitions[0].hear(Report::Routes(Routes { keys, tenants }));
        let client =
            super::super::peers::client(&Config::parse("", []).expect("the usual"), None).expect("a client");
        let passing = Passing::of_front(client, PeerKey::derived(&[7; 32]), Duration::ZERO);
        let front =
            NodeFront::new(partitions.into(), Place::Api(|_| Whose::Anybody), passing, |_, _, _| None);
        for (sent, node) in [("pk_2", Some(2)), ("pk_0", None)] {
            assert_eq!(front.of_key(sent), node, "{sent:?}");
        }
        for (id, node) in [("t2", 2), ("t0", 0), ("t9", 0)] {
            assert_eq!(front.of_tenant(id), node, "{id}");
        }
        for (sent, node) in [
            (r#"{"to":"a","partition":2}"#, 2),
            (r#"{"to":"a"}"#, 0),
            (r#"{"to":"a","partition":9}"#, 0),
            (r#"{"to":"a","partition":1.5}"#, 0),
            ("", 0),
        ] {
            let mut body = Inbound::made(sent.into());
            assert_eq!(front.named_in(&mut body).await.expect("it is there"), node, "{sent}");
            assert_eq!(body.bytes().await.expect("it is there"), sent, "it is passed on whole");
        }
    }
}
