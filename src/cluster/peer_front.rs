//! The listener for other nodes: requests that a standby passes on, and data for a new node.

use super::front;
use super::lifeline;
use super::passing::{self, CALLER};
use super::peers::{PROOF, PeerKey, Surface, TARGET};
use super::questions::Question;
use super::renewal;
use super::seed::Seed;
use super::sending;
use super::signs;
use super::spreading;
use super::view::now_ms;
use super::{Cluster, MoveInlet};
use crate::http::body::Inbound;
use crate::http::listen::{Answer, Arrival, OnBehalf};
use crate::http::origin_check::OriginCheck;
use crate::http::respond::{Reply, TEXT};
use api::problem::Problem;
use bytes::Bytes;
use hyper::Method;
use hyper::header::{AUTHORIZATION, HeaderName};
use std::sync::{Arc, OnceLock};

const BINARY: &str = "application/octet-stream";

/// What the proof of a message is about.
type Target = fn(&[u8]) -> String;

pub struct PeerFront<A, B> {
    cluster: Cluster,
    key: PeerKey,
    /// Keeps pages of other sites away from a listener that gives away keys.
    guard: OriginCheck,
    api: Arc<A>,
    admin: Arc<B>,
}

impl<A: Answer, B: Answer> PeerFront<A, B> {
    pub fn new(cluster: Cluster, key: PeerKey, guard: OriginCheck, api: Arc<A>, admin: Arc<B>) -> Self {
        PeerFront { cluster, key, guard, api, admin }
    }

    /// If this node leads, where it is the leader that is asked: nothing is passed on twice.
    async fn passed(&self, arrival: &Arrival, body: &mut Inbound, must_lead: bool) -> Result<Reply, Problem> {
        let (surface, arrival) = passing::restored(&self.key, arrival)?;
        if must_lead && !self.cluster.leads() {
            return Err(Problem::no_leader());
        }
        Ok(match surface {
            Surface::Api => self.api.answer(&arrival, body).await,
            Surface::Admin => self.admin.answer(&arrival, body).await,
        })
    }

    async fn own(&self, arrival: &Arrival) -> Result<Reply, Problem> {
        self.guard.check(&arrival.head)?;
        match arrival.head.uri.path() {
            "/peer/cluster" => {
                self.must_have_token(arrival)?;
                Ok(Reply::json(200, front::show(&self.cluster.view(), &[])))
            }
            "/peer/checkpoint" => self.checkpoint(arrival).await,
            lifeline::PATH => self.lifeline(arrival),
            _ => Err(Problem::not_found()),
        }
    }

    /// For nodes alone, of the one that leads and goes on.
    fn lifeline(&self, arrival: &Arrival) -> Result<Reply, Problem> {
        if !self.is_node(arrival, lifeline::TARGET) {
            return Err(Problem::unauthorized("only nodes of this cluster are answered here"));
        }
        if !self.cluster.shared.goes_on_leading() {
            return Err(Problem::no_leader());
        }
        Ok(Reply::pieces(BINARY, Bytes::from_static(b"\n"), lifeline::held(self.cluster.clone())))
    }

    fn is_node(&self, arrival: &Arrival, target: &str) -> bool {
        let proof = arrival.head.headers.get(&PROOF).and_then(|proof| proof.to_str().ok());
        proof.is_some_and(|proof| self.key.check(&arrival.head.method, target, proof, now_ms()).is_some())
    }

    /// Of the first partition's leader.
    async fn followed(&self, arrival: &Arrival, body: &mut Inbound) -> Result<Reply, Problem> {
        let message = body.bytes().await?;
        if arrival.head.method != Method::POST || !self.is_node(arrival, &sending::target(&message)) {
            return Err(Problem::unauthorized("only nodes of this cluster are answered here"));
        }
        let inlet = self.cluster.shared.inlet.get().filter(|_| self.cluster.leads());
        let followed = inlet.ok_or_else(Problem::no_leader)?(message).await?;
        Ok(Reply::new(200, TEXT, followed.to_string()))
    }

    /// Whether this partition has something, while it leads.
    async fn holds(&self, arrival: &Arrival) -> Result<Reply, Problem> {
        let headers = &arrival.head.headers;
        let text =
            |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let (target, caller) = (text(&TARGET), headers.contains_key(&CALLER).then(|| text(&CALLER)));
        if arrival.head.method != Method::GET || !self.is_node(arrival, &passing::proved(target, caller)) {
            return Err(Problem::unauthorized("only nodes of this cluster are answered here"));
        }
        let question = target.strip_prefix(passing::HOLDS_TARGET).and_then(Question::parse);
        let question = question.ok_or_else(Problem::not_found)?;
        let mut head = arrival.head.clone();
        if let Some(caller) = caller {
            head.extensions.insert(OnBehalf(passing::hash_of(caller)?));
        }
        let holds = self.cluster.shared.holds.get().filter(|_| self.cluster.leads());
        let holds = holds.ok_or_else(Problem::no_leader)?;
        let confirming = self.cluster.begin_to_confirm().asked();
        let said = if holds(question, &head).await? { "yes" } else { "no" };
        confirming.await.map_err(|_| Problem::no_leader())?;
        Ok(Reply::new(200, TEXT, said))
    }

    /// So that leaders are spread.
    async fn handed_on(&self, arrival: &Arrival, body: &mut Inbound) -> Result<Reply, Problem> {
        let message = String::from_utf8_lossy(&body.bytes().await?).into_owned();
        if arrival.head.method != Method::POST || !self.is_node(arrival, &spreading::target(&message)) {
            return Err(Problem::unauthorized("only nodes of this cluster are answered here"));
        }
        let (epoch, to) = spreading::read(&message).ok_or_else(Problem::not_found)?;
        let handed = self.cluster.hand_on(epoch, to).await?;
        Ok(Reply::new(200, TEXT, handed.epoch.to_string()))
    }

    /// Of the leader of another partition, or of this one, while a tenant moves or about live money.
    async fn asked(
        &self,
        arrival: &Arrival,
        body: &mut Inbound,
        (target, inlet): (Target, &OnceLock<MoveInlet>),
    ) -> Result<Reply, Problem> {
        let message = body.bytes().await?;
        if arrival.head.method != Method::POST || !self.is_node(arrival, &target(&message)) {
            return Err(Problem::unauthorized("only nodes of this cluster are answered here"));
        }
        let inlet = inlet.get().filter(|_| self.cluster.leads());
        Ok(Reply::new(200, BINARY, inlet.ok_or_else(Problem::no_leader)?(message).await?))
    }

    fn must_have_token(&self, arrival: &Arrival) -> Result<(), Problem> {
        let headers = &arrival.head.headers;
        if self.cluster.shared.operators.has_token(headers) {
            return Ok(());
        }
        Err(Problem::without_token(headers.contains_key(AUTHORIZATION)))
    }

    /// Secrets too, so only to who has the configuration's token, or is a node.
    async fn checkpoint(&self, arrival: &Arrival) -> Result<Reply, Problem> {
        if !self.is_node(arrival, renewal::TARGET) {
            self.must_have_token(arrival)?;
        }
        let cluster = self.cluster.clone();
        let made = tokio::task::spawn_blocking(move || cluster.seed()).await;
        let seed: Seed = made
            .map_err(|_| Problem::shutting_down())?
            .map_err(|error| Problem::internal_error(error.to_string()))?;
        Ok(Reply::pieces(BINARY, Bytes::new(), seed.stream()))
    }
}

impl<A: Answer, B: Answer> Answer for PeerFront<A, B> {
    async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        let shared = &self.cluster.shared;
        let answered = match arrival.head.uri.path() {
            // It bears the Host of who asked the other node, and a proof that no page can make.
            passing::PASS => self.passed(arrival, body, true).await,
            passing::ASK => self.passed(arrival, body, false).await,
            sending::PATH => self.followed(arrival, body).await,
            passing::HOLDS => self.holds(arrival).await,
            // For anybody: it says nothing but that there is somebody.
            signs::PATH => Ok(Reply::new(200, TEXT, String::new())),
            spreading::PATH => self.handed_on(arrival, body).await,
            sending::MOVE => self.asked(arrival, body, (sending::move_target, &shared.move_inlet)).await,
            sending::LIVE => self.asked(arrival, body, (sending::live_target, &shared.live_inlet)).await,
            _ => self.own(arrival).await,
        };
        answered.unwrap_or_else(|problem| Reply::problem(&problem, &arrival.request_id))
    }
}
