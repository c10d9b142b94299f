//! A standby, or a front, passes a request on to the leader as it is, and its answer back. It is never sent twice.

use super::peers::{PROOF, Passed, PeerKey, Surface, TARGET};
use super::questions;
use super::signs::Signs;
use super::view::now_ms;
use super::view::{Member, View};
use crate::http::body::Inbound;
use crate::http::listen::Arrival;
use crate::http::respond::{Broken, Hold, Reply, RequestId, Rest, X_REQUEST_ID};
use api::problem::Problem;
use api::streams;
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use hyper::Method;
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, DATE, EXPECT, HOST, HeaderName, HeaderValue, STRICT_TRANSPORT_SECURITY, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use reqwest::{Body, Client, RequestBuilder, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Who answered in the place of the node that was asked.
const SERVED_BY: HeaderName = HeaderName::from_static("pasarela-served-by");
/// Which partition has the books that a request is about, from the one that was asked and has not: for fronts alone.
const ELSEWHERE: HeaderName = HeaderName::from_static("pasarela-elsewhere");
/// To the leader, and to a front's own process, whoever leads.
pub(super) const PASS: &str = "/peer/pass";
pub(super) const ASK: &str = "/peer/ask";
/// The caller whom another partition asks for: the hash of a key that it knows.
pub(super) const CALLER: HeaderName = HeaderName::from_static("pasarela-peer-caller");
pub(super) const HOLDS: &str = "/peer/holds";
/// Before a question, as what a proof is about.
pub(super) const HOLDS_TARGET: &str = "peer holds ";
pub const HAND_OVER: &str = "/admin/cluster/hand-over";
const OF_CONNECTION: [HeaderName; 8] = [
    CONNECTION,
    CONTENT_LENGTH,
    EXPECT,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
];
/// For an answer once the leader is silent or replaced.
const GRACE: Duration = Duration::from_millis(900);
/// For the answer to a hand-over, which replaces the leader.
const HAND_OVER_GRACE: Duration = Duration::from_secs(10);
/// The bytes that a head grows by on the way: proof, target, request id.
pub const HEAD_BYTES_ADDED_MAX: usize = 1 << 10;
const WHOLE_BYTES_MAX: u64 = 1 << 20;

/// The answer to what another partition decides. It is given before anything is carried out.
pub fn elsewhere(partition: u8, request_id: &RequestId) -> Reply {
    Reply::problem(&Problem::no_leader(), request_id).header(ELSEWHERE, u16::from(partition).into())
}

/// The partition that an answer names in the place of its own.
pub(super) fn take_elsewhere(reply: &mut Reply) -> Option<usize> {
    reply.take_header(&ELSEWHERE)?.to_str().ok()?.parse().ok()
}

/// What the proof of a passed request is about: no request could have a target with a space.
pub(super) fn proved(target: &str, caller: Option<&str>) -> String {
    caller.map_or_else(|| target.to_owned(), |caller| format!("{target} by {caller}"))
}

/// Whether the lines of a request are passed on as they come.
pub(super) fn is_stream(surface: Surface, arrival: &Arrival) -> bool {
    surface == Surface::Api && arrival.head.uri.path() == streams::PATH
}

#[derive(Clone)]
pub struct Passing {
    pub(super) client: Client,
    pub(super) key: PeerKey,
    signs: Arc<Signs>,
    /// What comes to a front comes never from the process that it is passed to.
    is_front: bool,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unanswered {
    /// The request did not arrive.
    NotSent,
    /// Nobody knows what came of it.
    Unknown,
}

impl Passing {
    pub fn new(client: Client, key: PeerKey, failover: Duration) -> Passing {
        let signs = Arc::new(Signs::new(client.clone(), failover));
        Passing { client, key, signs, is_front: false }
    }

    pub fn of_front(client: Client, key: PeerKey, failover: Duration) -> Passing {
        Passing { is_front: true, ..Passing::new(client, key, failover) }
    }

    /// Every request of somebody else goes out here. Its answer is waited for until `is_over`, and as long as the
    /// process shows that it lives: without that no longer than `failover_ms` and a second.
    async fn sent(
        &self,
        peer: &str,
        request: RequestBuilder,
        is_over: impl Future<Output = ()>,
    ) -> Result<Response, Unanswered> {
        if self.signs.is_silent(peer).await {
            return Err(Unanswered::NotSent);
        }
        tokio::select! {
            biased;
            answered = request.send() => answered.map_err(|error| match error.is_connect() {
                true => Unanswered::NotSent,
                false => Unanswered::Unknown,
            }),
            () = self.signs.until_silent(peer) => Err(Unanswered::Unknown),
            () = is_over => Err(Unanswered::Unknown),
        }
    }

    /// To the leader that the newest of these views names.
    pub async fn pass(
        &self,
        views: watch::Receiver<Arc<View>>,
        surface: Surface,
        arrival: &Arrival,
        body: &mut Inbound,
    ) -> Result<Reply, Problem> {
        let view = views.borrow().clone();
        let may_be = |leader: &&Member| self.is_front || leader.node != view.node;
        let Some(leader) = view.leader_member().filter(may_be) else {
            return Err(Problem::no_leader());
        };
        let head = &arrival.head;
        let hold = is_stream(surface, arrival).then(Hold::default);
        let body = match &hold {
            Some(hold) => Body::wrap_stream(as_it_comes(body.take(), hold.clone())),
            None => Body::from(body.bytes().await?),
        };
        let peer = leader.peer_advertise.as_str();
        let request = self.request(peer, PASS, surface, arrival, None)?.body(body);
        // The call to hand over is answered by the old leader, once another serves.
        let grace = if head.uri.path() == HAND_OVER { HAND_OVER_GRACE } else { GRACE };
        let answered = self.sent(peer, request, replaced(views, &view, grace)).await;
        let answer = answered.map_err(|why| why.problem(&head.method))?;
        let served_by = Some(&leader.node).filter(|leader| **leader != view.node);
        let reply = self.back(peer, answer, served_by).await?;
        Ok(match hold {
            Some(hold) => reply.reading_on(hold),
            None => reply,
        })
    }

    /// Whether this process answered nothing when it was waited for last, and does not now.
    pub(super) async fn is_silent(&self, peer: &str) -> bool {
        self.signs.is_silent(peer).await
    }

    /// For what a front itself gives to callers and takes back.
    pub(super) fn mark(&self, parts: &[&[u8]]) -> [u8; 16] {
        self.key.mark(parts)
    }

    /// What operators ask of a node itself, of the process that answers for it.
    pub async fn ask(&self, peer: &str, arrival: &Arrival, body: &mut Inbound) -> Result<Reply, Problem> {
        let body = body.bytes().await?;
        let request = self.request(peer, ASK, Surface::Admin, arrival, None)?.body(body);
        let answer = self.sent(peer, request, std::future::pending()).await;
        self.back(peer, answer.map_err(|_| Problem::no_leader())?, None).await
    }

    /// A call of an account of this partition, for the one that decides about it, which has `patience` to answer.
    pub(super) async fn pass_for(
        &self,
        peer: &str,
        caller: &[u8; 32],
        arrival: &Arrival,
        body: Bytes,
        patience: Duration,
    ) -> Result<Reply, Problem> {
        let request = self.request(peer, PASS, Surface::Api, arrival, Some(hex::encode(caller)))?.body(body);
        let answered = self.sent(peer, request, tokio::time::sleep(patience + GRACE)).await;
        let answer = answered.map_err(|why| why.problem(&arrival.head.method))?;
        self.back(peer, answer, None).await
    }

    /// Whether the partition whose leader this is has it.
    pub(super) async fn holds(&self, peer: &str, question: &str) -> Result<bool, String> {
        let target = format!("{HOLDS_TARGET}{question}");
        let asked = self.client.get(format!("{peer}{HOLDS}")).header(TARGET, &target);
        let asked =
            asked.header(PROOF, self.key.prove_node(&Method::GET, &target)).timeout(questions::PATIENCE);
        let answer = asked.send().await.map_err(|error| error.to_string())?;
        let (status, said) = (answer.status(), answer.text().await.map_err(|error| error.to_string())?);
        match said.as_str() {
            "yes" if status == 200 => Ok(true),
            "no" if status == 200 => Ok(false),
            _ => Err(format!("{peer} answered {status}")),
        }
    }

    /// A front's own process answers in the node's name.
    async fn back(&self, peer: &str, answer: Response, served_by: Option<&String>) -> Result<Reply, Problem> {
        let status = answer.status().as_u16();
        let is_ours = |name: &HeaderName| {
            OF_CONNECTION.contains(name) || [X_REQUEST_ID, DATE, STRICT_TRANSPORT_SECURITY].contains(name)
        };
        let headers: Vec<_> = answer
            .headers()
            .iter()
            .filter(|(name, _)| !is_ours(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let is_short = answer.content_length().is_some_and(|bytes| bytes <= WHOLE_BYTES_MAX);
        let reply = if is_short {
            let body = tokio::select! {
                biased;
                body = answer.bytes() => body.ok(),
                () = self.signs.until_silent(peer) => None,
            };
            Reply::passed(status, body.ok_or_else(Problem::storage_unavailable)?)
        } else {
            Reply::passed_in_pieces(status, rest(answer, Arc::clone(&self.signs), peer.to_owned()))
        };
        let reply = headers.into_iter().fold(reply, |reply, (name, value)| reply.header(name, value));
        let Some(leader) = served_by else { return Ok(reply) };
        Ok(reply.header(SERVED_BY, HeaderValue::from_str(leader).unwrap_or(HeaderValue::from_static(""))))
    }

    fn request(
        &self,
        peer: &str,
        path: &str,
        surface: Surface,
        arrival: &Arrival,
        caller: Option<String>,
    ) -> Result<RequestBuilder, Problem> {
        let head = &arrival.head;
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        let proved = proved(target, caller.as_deref());
        let passed = Passed { method: &head.method, target: &proved, surface, peer: arrival.peer };
        let mut headers = head.headers.clone();
        for name in OF_CONNECTION {
            headers.remove(name);
        }
        headers.remove(CALLER);
        if let Some(caller) = caller {
            headers.insert(CALLER, HeaderValue::from_str(&caller).map_err(Problem::internal_error)?);
        }
        if let Some(authority) = head.uri.authority()
            && let Ok(host) = HeaderValue::from_str(authority.as_str())
        {
            headers.insert(HOST, host);
        }
        let proof = self.key.prove(&passed, now_ms());
        for (name, value) in
            [(PROOF, proof.as_str()), (TARGET, target), (X_REQUEST_ID, arrival.request_id.as_str())]
        {
            headers.insert(name, HeaderValue::from_str(value).map_err(Problem::internal_error)?);
        }
        Ok(self.client.request(head.method.clone(), format!("{peer}{path}")).headers(headers))
    }
}

/// The pieces of a body, and with them what the connection keeps until it is over.
fn as_it_comes(body: Inbound, hold: Hold) -> impl Stream<Item = Result<Bytes, Broken>> {
    stream::try_unfold((body, hold), |(mut body, hold)| async move {
        let piece = body.data().await.map_err(|_| Broken)?;
        Ok(piece.map(|piece| (piece, (body, hold))))
    })
}

impl Unanswered {
    fn problem(self, method: &Method) -> Problem {
        match self {
            Unanswered::NotSent => Problem::no_leader(),
            // A read changes nothing, so nothing was carried out.
            Unanswered::Unknown if matches!(*method, Method::GET | Method::HEAD) => Problem::no_leader(),
            Unanswered::Unknown => Problem::storage_unavailable(),
        }
    }
}

/// When the leader that was asked has led no more for a while: it will not answer.
async fn replaced(mut views: watch::Receiver<Arc<View>>, asked: &View, grace: Duration) {
    let is_other = |view: &View| view.leader != asked.leader || view.epoch != asked.epoch;
    loop {
        if views.wait_for(|view| is_other(view)).await.is_err() {
            return std::future::pending().await;
        }
        tokio::time::sleep(grace).await;
        if is_other(&views.borrow()) {
            return;
        }
    }
}

fn rest(mut answer: Response, signs: Arc<Signs>, peer: String) -> Rest {
    Rest::new(async move {
        let piece = tokio::select! {
            biased;
            piece = answer.chunk() => piece.map_err(|_| Broken)?,
            () = signs.until_silent(&peer) => return Err(Broken),
        };
        Ok(piece.map(|piece| (piece, rest(answer, signs, peer))))
    })
}
