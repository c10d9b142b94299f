//! A standby, or a front, passes a request on to the leader as it is, and its answer back. It is never sent twice.

use super::peers::{PROOF, Passed, PeerKey, Surface, TARGET};
use super::questions::Question;
use super::signs::Signs;
use super::view::now_ms;
use super::view::{Member, View};
use crate::http::body::Inbound;
use crate::http::listen::{Arrival, OnBehalf};
use crate::http::respond::{Broken, Hold, Reply, RequestId, Rest, X_REQUEST_ID};
use api::problem::Problem;
use api::streams;
use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, Stream};
use hyper::Method;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, DATE, EXPECT, HOST, HeaderName, HeaderValue,
    STRICT_TRANSPORT_SECURITY, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
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
/// The caller for whom another partition, or a page, asks: the hash of a key or a token that it knows.
pub(super) const CALLER: HeaderName = HeaderName::from_static("pasarela-peer-caller");
pub(super) const HOLDS: &str = "/peer/holds";
/// By whom a page is to be shown, from a process to its front.
pub(super) const SHOWN_BY: HeaderName = HeaderName::from_static("pasarela-peer-shown-by");
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

/// A request that was passed on, as it came, if it was a node that passed it.
pub(super) fn restored(key: &PeerKey, arrival: &Arrival) -> Result<(Surface, Arrival), Problem> {
    let headers = &arrival.head.headers;
    let text =
        |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (proof, target) = (text(&PROOF), text(&TARGET));
    let caller = headers.contains_key(&CALLER).then(|| text(&CALLER));
    let Some((surface, peer)) = key.check(&arrival.head.method, &proved(target, caller), proof, now_ms())
    else {
        return Err(Problem::unauthorized("only nodes of this cluster are answered here"));
    };
    let mut head = arrival.head.clone();
    head.uri = target.parse().map_err(|_| Problem::not_found())?;
    for name in [PROOF, TARGET, CALLER, SHOWN_BY] {
        head.headers.remove(name);
    }
    if let Some(caller) = caller {
        head.extensions.insert(OnBehalf(hash_of(caller)?));
    }
    Ok((surface, Arrival { head, request_id: arrival.request_id.clone(), peer }))
}

/// That [`CALLER`] names.
pub(super) fn hash_of(caller: &str) -> Result<[u8; 32], Problem> {
    let hash = hex::decode(caller).ok().and_then(|hash| hash.try_into().ok());
    hash.ok_or_else(Problem::not_found)
}

fn caller(arrival: &Arrival) -> Option<String> {
    arrival.head.extensions.get::<OnBehalf>().map(|OnBehalf(hash)| hex::encode(hash))
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
        let request = self.request(peer, PASS, surface, arrival, caller(arrival))?.body(body);
        // The call to hand over is answered by the old leader, once another serves.
        let grace = if head.uri.path() == HAND_OVER { HAND_OVER_GRACE } else { GRACE };
        let answered = self.sent(peer, request, replaced(views, &view, grace)).await;
        let answer = answered.map_err(|why| why.problem(&head.method))?;
        let served_by = Some(&leader.node).filter(|leader| **leader != view.node);
        let reply = self.back(peer, answer, served_by, Taken::AsItComes).await?;
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
        let request = self.request(peer, ASK, Surface::Admin, arrival, caller(arrival))?.body(body);
        let answer = self.sent(peer, request, std::future::pending()).await;
        self.back(peer, answer.map_err(|_| Problem::no_leader())?, None, Taken::AsItComes).await
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
        self.back(peer, answer, None, Taken::AsItComes).await
    }

    /// What a page asks, or a page itself and by whom it is to be shown, for the front of this node.
    pub(super) async fn pass_to_front(
        &self,
        front: &str,
        arrival: &Arrival,
        body: Bytes,
        shown_by: Option<String>,
    ) -> Result<Reply, Problem> {
        let mut asked = self.request(front, PASS, Surface::Admin, arrival, caller(arrival))?.body(body);
        let taken = match arrival.head.headers.get(ACCEPT).map(HeaderValue::as_bytes) {
            _ if shown_by.is_some() => Taken::AsItComes,
            Some(b"text/csv") => Taken::InLines,
            _ => Taken::Whole,
        };
        if let Some(shown_by) = shown_by {
            asked = asked.header(SHOWN_BY, shown_by);
        }
        let answer = self.sent(front, asked, std::future::pending()).await;
        let answer = answer.map_err(|why| why.problem(&arrival.head.method))?;
        let mut reply = self.back(front, answer, None, taken).await?;
        // This node says it of the page.
        let _ = reply.take_header(&SERVED_BY);
        Ok(reply)
    }

    /// Whether the partition whose leader this is has it. One that does not let in whoever asks, says so to them.
    pub(super) async fn holds(
        &self,
        peer: &str,
        question: &Question,
        arrival: Option<&Arrival>,
    ) -> Result<bool, String> {
        let (target, caller) = (format!("{HOLDS_TARGET}{question}"), arrival.and_then(caller));
        let proof = self.key.prove_node(&Method::GET, &proved(&target, caller.as_deref()));
        let mut asked =
            self.client.get(format!("{peer}{HOLDS}")).header(TARGET, &target).header(PROOF, proof);
        if let Some(caller) = caller {
            asked = asked.header(CALLER, caller);
        }
        for token in arrival.iter().flat_map(|arrival| arrival.head.headers.get_all(AUTHORIZATION)) {
            asked = asked.header(AUTHORIZATION, token);
        }
        let answer = asked.timeout(question.patience()).send().await.map_err(|error| error.to_string())?;
        let (status, said) = (answer.status(), answer.text().await.map_err(|error| error.to_string())?);
        match said.as_str() {
            "yes" if status == 200 => Ok(true),
            "no" if status == 200 => Ok(false),
            _ if status == 401 => Ok(true),
            _ => Err(format!("{peer} answered {status}")),
        }
    }

    /// A front's own process answers in the node's name.
    async fn back(
        &self,
        peer: &str,
        mut answer: Response,
        served_by: Option<&String>,
        taken: Taken,
    ) -> Result<Reply, Problem> {
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
        let reply = match taken {
            Taken::AsItComes if !is_short => {
                let rest = rest(answer, Arc::clone(&self.signs), peer.to_owned());
                Reply::passed_in_pieces(status, Bytes::new(), rest)
            }
            Taken::InLines if status == 200 => {
                let mut begun = BytesMut::new();
                let first = tokio::select! {
                    biased;
                    first = next_lines(&mut answer, &mut begun) => first.map_err(|_| Problem::no_leader())?,
                    () = self.signs.until_silent(peer) => return Err(Problem::no_leader()),
                };
                let rest = lines(answer, begun, Arc::clone(&self.signs), peer.to_owned());
                Reply::passed_in_pieces(status, first.unwrap_or_default(), rest)
            }
            _ => {
                let body = tokio::select! {
                    biased;
                    body = answer.bytes() => body.ok(),
                    () = self.signs.until_silent(peer) => None,
                };
                Reply::passed(status, body.ok_or_else(Problem::storage_unavailable)?)
            }
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

/// How the body of an answer is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    AsItComes,
    Whole,
    /// In pieces that end where a line of CSV does.
    InLines,
}

fn lines(mut answer: Response, mut begun: BytesMut, signs: Arc<Signs>, peer: String) -> Rest {
    Rest::new(async move {
        let next = tokio::select! {
            biased;
            next = next_lines(&mut answer, &mut begun) => next.map_err(|_| Broken)?,
            () = signs.until_silent(&peer) => return Err(Broken),
        };
        Ok(next.map(|piece| (piece, lines(answer, begun, signs, peer))))
    })
}

/// The next whole lines; what follows them stays in `begun`.
async fn next_lines(answer: &mut Response, begun: &mut BytesMut) -> Result<Option<Bytes>, reqwest::Error> {
    while let Some(piece) = answer.chunk().await? {
        begun.extend_from_slice(&piece);
        if let Some(end) = end_of_lines(begun) {
            return Ok(Some(begun.split_to(end).freeze()));
        }
    }
    Ok(Some(begun.split().freeze()).filter(|last| !last.is_empty()))
}

/// A line break within quotes is of its cell.
fn end_of_lines(text: &[u8]) -> Option<usize> {
    let (mut is_quoted, mut end) = (false, None);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => end = Some(at + 1),
            _ => {}
        }
    }
    end
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_ends_with_a_line_and_not_within_a_cell() {
        for (text, end) in
            [("a,b\nc", Some(4)), ("a,\"b\nc", None), ("a\n\"b\n\"\"c\"\nd", Some(10)), ("", None)]
        {
            assert_eq!(end_of_lines(text.as_bytes()), end, "{text:?}");
        }
    }
}
