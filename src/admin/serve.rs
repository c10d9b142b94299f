//! The surface of operators: host and origin, token, their table, and a handler that runs to its end
//! and leaves a log line (`docs/contract.md, 1.12, 3.1`). The steps of a request are in
//! `gateway/pipeline.rs`.
//!
//! The last step is a task here, Idempotency-Key included: a caller who goes away must not leave a
//! durable change half done, whoever asked first.

use super::call::{Body, Call, CallResult, Done, Handler, PendingKey, Route, Signature};
use super::kept;
use super::routes::{self, least_role, rows};
use crate::cluster::front;
use crate::gateway::answer::Shows;
use crate::gateway::exports::{Export, Pages};
use crate::gateway::idempotency::{self, Looked, Owner, Reserved, Sent};
use crate::gateway::meter::{Measuring, Meter};
use crate::gateway::on_behalf::OnBehalf;
use crate::gateway::operators::{Operator, TokenDigest};
use crate::gateway::pipeline::{self, Asked, Columns, Surface, document};
use crate::gateway::services::Services;
use crate::gateway::{ask, health};
use crate::http::body::Inbound;
use crate::http::documents::Documents;
use crate::http::listen::{Answer, Arrival};
use crate::http::origin_check::OriginCheck;
use crate::http::respond::Reply;
use crate::http::router::{BadRoute, Lookup, Router};
use crate::metrics::{self, Metrics};
use api::problem::Problem;
use bytes::Bytes;
use domain::resources::approvals::Approvable;
use domain::values::ids::Id;
use hyper::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::mem;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The most bytes of a bank's statement.
const CSV_BYTES_MAX: usize = 32 << 20;

/// Answers operators.
pub struct AdminApi {
    services: Arc<Services>,
    router: Router<(Route, Arc<Meter>)>,
    guard: OriginCheck,
    documents: Documents<Arc<Meter>>,
    metrics: Metrics,
    /// The meter of calls that are not in the table.
    unrouted: Arc<Meter>,
    scrapes: Arc<Meter>,
    health: Arc<Meter>,
    ready: Arc<Meter>,
}

impl AdminApi {
    /// The operators' API. Who its callers are, the directory of operators says.
    pub fn new(services: Arc<Services>, metrics: Metrics, guard: OriginCheck) -> Result<AdminApi, BadRoute> {
        let meters = Arc::clone(&services.observed.meters);
        let description = routes::document();
        let (mut tables, with_query) = (description.tables(), description.with_query());
        let row = |mut route: Route| {
            let meter = meters.of(&route.method, route.path);
            route.table = tables.remove(route.operation).map(Arc::new);
            route.takes_query = with_query.contains(route.operation);
            (route.method.clone(), route.path, (route, meter))
        };
        let router = Router::new(rows().iter().cloned().map(row))?;
        let documents = Documents::new(|| routes::document().to_json(), |path| meters.of(&Method::GET, path));
        let (unrouted, scrapes) = (meters.of_none(), meters.of(&Method::GET, metrics::PATH));
        let [health, ready] = [health::HEALTH, health::READY].map(|path| meters.of(&Method::GET, path));
        Ok(AdminApi { services, router, guard, documents, metrics, unrouted, scrapes, health, ready })
    }
}

impl AdminApi {
    /// The parameter of a request's path with this name, decoded as its handler reads it.
    fn named(&self, arrival: &Arrival, name: &str) -> Option<String> {
        match self.router.lookup(&arrival.head.method, arrival.head.uri.path()) {
            Lookup::Found(found) => Some(found.parameters.get(name).to_owned()),
            Lookup::WrongMethod { .. } | Lookup::NotFound => None,
        }
    }

    /// The approval that a row needs, as it is configured.
    fn waiting(&self, route: &Route) -> Option<(Approvable, &'static str)> {
        let needed = route.approval.filter(|kind| self.services.callers.approvals.of.contains(kind))?;
        Some((needed, route.operation))
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
        Ok(handler(call.again(call.path.clone(), Some(query))).await?.body.into())
    }
}

impl Surface for AdminApi {
    type Row = Route;
    type Caller = Operator;
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

    fn is_own(&self, arrival: &Arrival) -> bool {
        [front::CLUSTER, health::HEALTH, health::READY].contains(&arrival.head.uri.path())
    }

    async fn beside<'m>(
        &'m self,
        arrival: &Arrival,
        measuring: &mut Measuring<'m>,
    ) -> Option<Result<Reply, Problem>> {
        // The description of the API is no secret: a page must be there before a token can be typed
        // into it.
        let (method, path) = (&arrival.head.method, arrival.head.uri.path());
        if let Some(answer) = health::answer(&self.services, method, path) {
            measuring.found(if path == health::READY { &self.ready } else { &self.health });
            return Some(answer);
        }
        let answer = document(&self.documents, arrival, measuring);
        if answer.is_some() || path != metrics::PATH {
            return answer;
        }
        measuring.found(&self.scrapes);
        if !self.metrics.is_open()
            && let Err(refused) = self.services.callers.operators.authenticate(&arrival.head.headers)
        {
            return Some(Err(refused));
        }
        Some(self.metrics.answer(&arrival.head.method))
    }

    /// What operators read is nobody else's, refusals too.
    fn finish(&self, reply: Reply, _: &Arrival) -> Reply {
        reply.no_store()
    }

    fn looked_for(&self, _: &Arrival) -> Option<&'static str> {
        Some("on this server")
    }

    fn authenticate(&self, route: &Route, arrival: &Arrival) -> Result<Operator, Problem> {
        let operators = &self.services.callers.operators;
        let operator = match OnBehalf::in_arrival(arrival) {
            Some(of) => operators.of_session(TokenDigest::from_bytes(*of.hash())),
            None => Some(operators.authenticate(&arrival.head.headers)?),
        };
        let operator = operator.ok_or_else(|| Problem::without_token(true))?;
        let least = if route.decides_approval {
            least_role(&self.services, self.named(arrival, "id").as_deref().and_then(Id::parse))
        } else {
            route.role
        };
        operator.must_be(least)?;
        Ok(operator)
    }

    async fn prepare(
        &self,
        operator: Operator,
        asked: &mut Asked<'_, AdminApi>,
    ) -> Result<ControlFlow<Reply, Work>, Problem> {
        let Arrival { head, request_id, peer } = asked.arrival;
        if asked.row.takes_csv {
            asked.inbound.cap_at(CSV_BYTES_MAX);
            asked.body = asked.inbound.csv(&head.headers).await?;
        }
        let mut unexpected = mem::take(&mut asked.unexpected);
        let key = mem::replace(&mut asked.key, Ok(None)).unwrap_or_else(|bad| {
            unexpected.push(bad);
            None
        });
        let parameters: Vec<(&'static str, String)> =
            asked.parameters.iter().map(|(name, text)| (name, canonical(text))).collect();
        let path = path_of(asked.row.path, &parameters);
        let shows = Shows::of(asked.row.show, parameters.iter().map(|(_, text)| text.as_str()));
        let Route { table, takes_query, path: named, .. } = asked.row;
        let export = Export::wanted(table.as_ref(), *takes_query, &head.headers, named, head.uri.query());
        let (export, bad) = export.unzip();
        let query = match &export {
            Some(export) => Some(export.query(None)),
            None => head.uri.query().map(str::to_owned),
        };
        if let Some(bad) = bad {
            unexpected = bad;
        }
        let mut call = Call {
            services: Arc::clone(&self.services),
            rows: rows(),
            turns: Arc::clone(&self.services.callers.turns),
            path,
            parameters,
            query,
            idempotency_key: key.map(str::to_owned),
            pending_key: Arc::default(),
            signature: Arc::default(),
            shows,
            operator,
            approval: self.waiting(asked.row),
            peer: *peer,
            request_id: request_id.as_str().to_owned(),
            body: Body::new(mem::take(&mut asked.body), unexpected),
        };
        if let Some(action) = asked.row.action() {
            call.signature = Arc::new(Signature::of(call.entry(&action)));
        }
        Ok(ControlFlow::Continue(Work { route: asked.row.clone(), call, export }))
    }

    async fn perform(&self, work: Work, arrival: &Arrival) -> Result<Reply, Problem> {
        let Work { route, call, export } = work;
        if let Some(export) = export {
            let pages = OperatorPages(Arc::new((route.handler, call.again(call.path.clone(), None))));
            let first = run(route, call).await?;
            return export.reply(&first.body, pages, arrival.request_id.clone());
        }
        let done = run(route, call).await?;
        let reply = Reply::json(done.status, done.body).trace(done.trace);
        Ok(if done.replayed { reply.replayed() } else { reply })
    }
}

/// A parameter of a path in the one form that it has: an id as we write it.
fn canonical(text: &str) -> String {
    Id::parse(text).map_or_else(|| text.to_owned(), |id| id.to_string())
}

/// The path of a row with these parameters. What is bound to a path (an approval, an Idempotency-Key) is
/// bound to the object, however a caller wrote that.
fn path_of(row: &str, parameters: &[(&'static str, String)]) -> String {
    let part = |part: &str| {
        let value =
            part.strip_prefix(':').and_then(|name| parameters.iter().find(|(known, _)| *known == name));
        match value {
            // An id needs no escapes, and nothing else than an id goes without.
            Some((_, text)) if Id::parse(text).is_some() => text.clone(),
            Some((_, text)) => utf8_percent_encode(text, NON_ALPHANUMERIC).to_string(),
            None => part.to_owned(),
        }
    };
    row.split('/').map(part).collect::<Vec<_>>().join("/")
}

impl Answer for AdminApi {
    async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        pipeline::answer(self, arrival, body).await
    }
}

/// Runs the handler of a write in a task of its own: a caller who goes away must not leave a durable
/// change that the directory of callers never learned, or settings that were not pushed to the books. A
/// read ends with its caller, however long it is.
async fn run(route: Route, call: Call) -> CallResult {
    if !route.is_write() {
        return once(&route, call).await;
    }
    let task = tokio::spawn(async move {
        let asked = (call.path.clone(), call.request_id.clone(), call.peer);
        let operator = call.operator.who().shown_id();
        let outcome = once(&route, call).await;
        note(&route, &operator, asked, &outcome);
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
async fn once(route: &Route, mut call: Call) -> CallResult {
    if let Some(key) = &call.idempotency_key {
        let (path, request_id) = (call.path.as_str(), call.request_id.as_str());
        let sent = Sent { key, path, body: call.body.bytes(), has_card: false, request_id };
        let used = match idempotency::reserve(&call.services, Owner::Operators, &sent)? {
            Reserved::New(used) => used,
            Reserved::Found(found) => match found.look(&call.services, call.body.bytes()).await? {
                Looked::New(used) => used,
                Looked::Answered(answer) => {
                    return kept::replayed(&call.services, call.shows, key, *answer).await;
                }
            },
        };
        call.pending_key = Arc::new(PendingKey::holding(used));
    }
    if !route.takes_json() && !route.takes_csv {
        call.body.none()?;
    }
    let (services, pending_key, request_id) =
        (Arc::clone(&call.services), Arc::clone(&call.pending_key), call.request_id.clone());
    match route.perform(call).await {
        Err(problem) if matches!(problem.status, 409 | 410 | 422) => {
            // The key is taken already if a rule of the engine refused: the refusal is kept with
            // it.
            let (Some(keep), _held) = pending_key.take() else { return Err(problem) };
            let body = problem.to_json(&request_id);
            let trace =
                ask::answered(&services, ask::Done::default(), Some(keep), (problem.status, &body)).await?;
            Ok(Done { status: problem.status, ..Done::ok(body) }.traced(trace))
        }
        Ok(done) => {
            // No decision took the key of a call that repeats what is known.
            let (Some(keep), _held) = pending_key.take() else { return Ok(done) };
            let shown = (done.status, done.body.as_slice());
            let trace = ask::done_and_answered(&services, ask::Done::default(), Some(keep), shown).await?;
            Ok(done.traced(trace))
        }
        failed => failed,
    }
}

/// Logs the operation, who asked for it from where, and its outcome. The path names the tenant or
/// the key; a body is never written down.
fn note(
    route: &Route,
    operator: &str,
    (path, request_id, peer): (String, String, SocketAddr),
    outcome: &CallResult,
) {
    let operation = route.operation;
    match outcome {
        Ok(done) => {
            tracing::info!(operation, operator, path, request_id, %peer, status = done.status, wal_seq = done.trace.seq, replayed = done.replayed, "an operator's call")
        }
        Err(problem) => {
            tracing::info!(operation, operator, path, request_id, %peer, status = problem.status, error = problem.code, "an operator's call was refused")
        }
    }
}
