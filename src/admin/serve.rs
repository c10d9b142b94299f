//! The surface of operators: host and origin, token, their table, and a handler that runs to its end
//! and leaves a log line (`docs/contract.md, 1.12, 3.1`). The steps of a request are in
//! `gateway/pipeline.rs`.
//!
//! The last step is a task here, Idempotency-Key included: a caller who goes away must not leave a
//! durable change half done, whoever asked first.

use super::call::{Body, Call, Done, Outcome};
use super::description;
use super::guard::Guard;
use super::kept::{self, Slot};
use super::routes::{Handler, Route, routes};
use crate::gateway::ask;
use crate::gateway::exports::{Export, Pages};
use crate::gateway::idempotency::{self, Looked, Owner, Reserved, Sent};
use crate::gateway::meter::{Measuring, Meter};
use crate::gateway::pipeline::{self, Anybody, Asked, Columns, Surface, document};
use crate::gateway::services::Services;
use crate::http::body::Inbound;
use crate::http::documents::Documents;
use crate::http::listen::{Answer, Arrival};
use crate::http::respond::Reply;
use crate::http::router::{BadRoute, Router};
use crate::http::unexpected_parameters::unexpected_parameters;
use crate::metrics::{self, Metrics};
use api::problem::Problem;
use bytes::Bytes;
use domain::kept::Shape;
use domain::platform::acts::Deed;
use hyper::Method;
use hyper::header::{AUTHORIZATION, HeaderMap};
use sha2::{Digest, Sha256};
use std::mem;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// Answers operators.
pub struct AdminApi {
    services: Arc<Services>,
    router: Router<(Route, Arc<Meter>)>,
    guard: Guard,
    token: Option<Token>,
    documents: Documents<Arc<Meter>>,
    metrics: Metrics,
    /// The meter of calls that are not in the table.
    unrouted: Arc<Meter>,
    scrapes: Arc<Meter>,
}

impl AdminApi {
    /// The operators' API with this token required; without one no token is asked for, which is for
    /// local work.
    pub fn new(
        services: Arc<Services>,
        token: Option<&str>,
        metrics: Metrics,
        guard: Guard,
    ) -> Result<AdminApi, BadRoute> {
        let meters = Arc::clone(&services.observed.meters);
        let mut tables = description::document().tables();
        let row = |mut route: Route| {
            let meter = meters.of(&route.method, route.path);
            route.table = tables.remove(route.operation).map(Arc::new);
            (route.method.clone(), route.path, (route, meter))
        };
        let router = Router::new(routes().into_iter().map(row))?;
        let documents =
            Documents::new(|| description::document().to_json(), |path| meters.of(&Method::GET, path));
        let (unrouted, scrapes) = (meters.of_none(), meters.of(&Method::GET, metrics::PATH));
        Ok(AdminApi {
            services,
            router,
            guard,
            token: token.map(Token::new),
            documents,
            metrics,
            unrouted,
            scrapes,
        })
    }

    /// Whether they bring the token, if one is asked for.
    fn admits(&self, headers: &HeaderMap) -> bool {
        self.token.as_ref().is_none_or(|token| token.is_in(headers))
    }
}

/// A call, with its row.
pub struct Work {
    route: Route,
    call: Call,
    /// The list that is wanted as CSV, whose first page the call reads.
    export: Option<Export>,
}

/// The pages of an operators' list.
#[derive(Clone)]
struct OperatorPages(Arc<(Handler, Call)>);

impl Pages for OperatorPages {
    async fn page(&self, query: String) -> Result<Bytes, Problem> {
        let (handler, call) = &*self.0;
        Ok(handler(call.again(query)).await?.body.into())
    }
}

impl Surface for AdminApi {
    type Row = Route;
    type Caller = Anybody;
    type Work = Work;

    fn services(&self) -> &Services {
        &self.services
    }

    fn router(&self) -> &Router<(Route, Arc<Meter>)> {
        &self.router
    }

    fn unrouted(&self) -> &Meter {
        &self.unrouted
    }

    fn columns(&self, route: &Route) -> Columns {
        Columns {
            needs_room: route.is_write() && !route.in_reserve,
            takes_json: route.takes_json(),
            has_card: false,
            takes_key: route.method == Method::POST,
            takes_query: route.takes_query,
        }
    }

    /// Runs before anything is answered, documents and metrics too: no other site's page may ask.
    fn guard(&self, arrival: &Arrival) -> Result<(), Problem> {
        self.guard.check(&arrival.head)
    }

    fn beside<'m>(
        &'m self,
        arrival: &Arrival,
        measuring: &mut Measuring<'m>,
    ) -> Option<Result<Reply, Problem>> {
        // The description of the API is no secret: a page must be there before a token can be typed
        // into it.
        let answer = document(&self.documents, arrival, measuring);
        if answer.is_some() || arrival.head.uri.path() != metrics::PATH {
            return answer;
        }
        measuring.found(&self.scrapes);
        Some(if self.metrics.is_open() || self.admits(&arrival.head.headers) {
            self.metrics.answer(&arrival.head.method)
        } else {
            Err(Problem::unauthorized())
        })
    }

    fn authenticate(&self, _: &Route, arrival: &Arrival) -> Result<Anybody, Problem> {
        if self.admits(&arrival.head.headers) { Ok(Anybody) } else { Err(Problem::unauthorized()) }
    }

    async fn prepare(
        &self,
        _: Anybody,
        asked: &mut Asked<'_, AdminApi>,
    ) -> Result<ControlFlow<Reply, Work>, Problem> {
        let Arrival { head, request_id, peer } = asked.arrival;
        let mut unexpected = mem::take(&mut asked.unexpected);
        let key = mem::replace(&mut asked.key, Ok(None)).unwrap_or_else(|bad| {
            unexpected.push(bad);
            None
        });
        let export =
            Export::wanted(asked.row.table.as_ref(), &head.headers, asked.row.path, head.uri.query());
        let (export, bad) = export.unzip();
        let query = match &export {
            Some(export) => Some(export.query(None)),
            None => head.uri.query().map(str::to_owned),
        };
        if let Some(bad) = bad {
            let takes_query = asked.row.takes_query;
            unexpected = if takes_query { Vec::new() } else { unexpected_parameters(query.as_deref()) };
            unexpected.extend(bad);
        }
        let call = Call {
            services: Arc::clone(&self.services),
            turns: Arc::clone(&self.services.callers.turns),
            path: head.uri.path().to_owned(),
            parameters: asked.parameters.iter().map(|(name, text)| (name, text.to_owned())).collect(),
            query,
            idempotency_key: key.map(str::to_owned),
            slot: Arc::default(),
            peer: *peer,
            request_id: request_id.as_str().to_owned(),
            body: Body::new(mem::take(&mut asked.body), unexpected),
        };
        Ok(ControlFlow::Continue(Work { route: asked.row.clone(), call, export }))
    }

    async fn perform(&self, work: Work, arrival: &Arrival) -> Result<Reply, Problem> {
        let Work { route, call, export } = work;
        if let Some(export) = export {
            let pages = OperatorPages(Arc::new((route.handler, call.again(String::new()))));
            let first = run(route, call).await?;
            return export.reply(&first.body, pages, arrival.request_id.clone());
        }
        let done = run(route, call).await?;
        let reply = Reply::json(done.status, done.body).trace(done.trace);
        Ok(if done.replayed { reply.replayed() } else { reply })
    }
}

impl Answer for AdminApi {
    async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        pipeline::answer(self, arrival, body).await
    }
}

/// Runs the handler of a write in a task of its own: a caller who goes away must not leave a durable
/// change that the directory of callers never learned, or settings that were not pushed to the books. A
/// read ends with its caller, however long it is.
async fn run(route: Route, call: Call) -> Outcome {
    if !route.is_write() {
        return once(&route, call).await;
    }
    let task = tokio::spawn(async move {
        let (path, request_id, peer) = (call.path.clone(), call.request_id.clone(), call.peer);
        let outcome = once(&route, call).await;
        note(&route, &path, &request_id, peer, &outcome);
        outcome
    });
    match task.await {
        Ok(outcome) => outcome,
        Err(ended) => match ended.try_into_panic() {
            // The listener answers for a panic, and tells the log.
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime ended under it: how far it came nobody knows.
            Err(_) => Err(Problem::storage_unavailable()),
        },
    }
}

/// Does what was asked, once per Idempotency-Key: the answer is kept by the command that decides
/// or, where there is none, in a record of its own.
async fn once(route: &Route, mut call: Call) -> Outcome {
    if let Some(key) = &call.idempotency_key {
        let (path, request_id) = (call.path.as_str(), call.request_id.as_str());
        let sent = Sent { key, path, body: call.body.bytes(), has_card: false, request_id };
        let used = match idempotency::reserve(&call.services, Owner::Operators, &sent)? {
            Reserved::New(used) => used,
            Reserved::Found(found) => match found.look(&call.services, call.body.bytes()).await? {
                Looked::New(used) => used,
                Looked::Answered(answer) => return kept::replayed(&call.services, key, *answer).await,
            },
        };
        call.slot = Arc::new(Slot::holding(used));
    }
    if !route.takes_json() {
        call.body.none()?;
    }
    let (services, slot, request_id) =
        (Arc::clone(&call.services), Arc::clone(&call.slot), call.request_id.clone());
    let noted = route
        .noted
        .then(|| call.act(Deed::Called { operation: route.operation.to_owned(), path: call.path.clone() }));
    match ((route.handler)(call).await, noted) {
        (Ok(done), Some(act)) => {
            let (keep, _held) = slot.take(Shape::Platform);
            let shown = (done.status, done.body.as_slice());
            let trace = ask::done_and_answered(&services, Some(act), keep, shown).await?;
            Ok(done.traced(trace))
        }
        (Err(problem), _) if matches!(problem.status, 409 | 410 | 422) => {
            // The key is taken already if a rule of the engine refused: the refusal is kept with
            // it.
            let (Some(keep), _held) = slot.take(Shape::Platform) else { return Err(problem) };
            let body = problem.to_json(&request_id);
            let trace = ask::answered(&services, None, Some(keep), (problem.status, &body)).await?;
            Ok(Done { status: problem.status, ..Done::ok(body) }.traced(trace))
        }
        (outcome, _) => outcome,
    }
}

/// Logs the operation, the address that it came from and its outcome. The path names the tenant or
/// the key; a body is never written down.
fn note(route: &Route, path: &str, request_id: &str, peer: SocketAddr, outcome: &Outcome) {
    let operation = route.operation;
    match outcome {
        Ok(done) => {
            tracing::info!(operation, path, request_id, %peer, status = done.status, wal_seq = done.trace.seq, replayed = done.replayed, "an operator's call")
        }
        Err(problem) => {
            tracing::info!(operation, path, request_id, %peer, status = problem.status, error = problem.code, "an operator's call was refused")
        }
    }
}

/// The digest of the operators' token: neither the token nor the time of a comparison tells
/// anything about it.
struct Token([u8; 32]);

impl Token {
    fn new(token: &str) -> Token {
        Token(Sha256::digest(token.as_bytes()).into())
    }

    fn is_in(&self, headers: &HeaderMap) -> bool {
        let sent = headers.get(AUTHORIZATION).map(|value| value.as_bytes()).unwrap_or_default();
        let bearer = sent.split_at_checked(7).filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"bearer "));
        bearer.is_some_and(|(_, token)| self.is(token))
    }

    fn is(&self, token: &[u8]) -> bool {
        let sent: [u8; 32] = Sha256::digest(token).into();
        self.0.ct_eq(&sent).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn admits(token: &str, sent: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_str(sent).expect("a header"));
        Token::new(token).is_in(&headers)
    }

    #[test]
    fn only_the_token_opens() {
        assert!(admits("t0ken", "Bearer t0ken") && admits("t0ken", "bearer t0ken"));
        for sent in
            ["", "Bearer ", "Bearer", "Bearer t0ke", "Bearer t0kenx", "Bearer  t0ken", "Basic t0ken", "t0ken"]
        {
            assert!(!admits("t0ken", sent), "{sent}");
        }
        assert!(!Token::new("t0ken").is_in(&HeaderMap::new()));
    }
}
