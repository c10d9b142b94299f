//! The endpoints of operators: token, role, and a handler that runs to its end and leaves a log line
//! (`docs/contract.md, 1.12, 3.1`). The steps of a request before them are in `src/server/mod.rs`.
//!
//! API keys and tokens are in no record: a repeat of a call makes them again, from the server's secret and the
//! Idempotency-Key that is sent with it.
//!
//! The last step is a task here, Idempotency-Key included: a caller who goes away must not leave a
//! durable change half done, whoever asked first.

use super::call::{Body, Call, CallResult, Done, PendingKey, Route, Signature, token_salt};
use super::routes::{least_role, rows};
use crate::gateway::ask;
use crate::gateway::dispatch::Request;
use crate::gateway::exports::{Export, Pages};
use crate::gateway::idempotency::{self, KeptAnswer, Owner, Reserved, Sent};
use crate::gateway::keys::Secret;
use crate::gateway::services::Services;
use crate::gateway::tenant_request::Shows;
use crate::gateway::tenant_settings::push_tenant_settings;
use crate::http::listen::{Arrival, OnBehalf};
use crate::http::respond::{Reply, Trace};
use crate::http::router::named;
use crate::operators::{Operator, STEM};
use api::answer::Secrets;
use api::operators::approvals;
use api::problem::Problem;
use domain::entities::Entity;
use domain::entities::approval::Approvable;
use domain::platform::operators::OperatorAccount;
use domain::platform::{ApiKey, PlatformChange};
use domain::values::ids::Id;
use hyper::http::request::Parts;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::mem;
use std::net::SocketAddr;
use std::sync::Arc;

const CSV_BYTES_MAX: usize = 32 << 20;

pub struct AdminApi {
    services: Arc<Services>,
}

impl AdminApi {
    pub fn new(services: Arc<Services>) -> AdminApi {
        AdminApi { services }
    }

    fn waiting(&self, route: &Route) -> Option<(Approvable, &'static str)> {
        let needed = route.approval.filter(|kind| self.services.callers.approvals.of.contains(kind))?;
        Some((needed, route.operation))
    }

    /// The operator who calls, if they may call this row; 401 or 403 if not.
    pub fn authenticate(
        &self,
        route: &Route,
        parameters: &[(&'static str, String)],
        arrival: &Arrival,
    ) -> Result<Operator, Problem> {
        let operator = operator_of(&self.services, &arrival.head)?;
        let least = if route.decides_approval {
            least_role(&self.services, Id::parse(named(parameters, "id")))
        } else {
            route.role
        };
        operator.must_be(least)?;
        Ok(operator)
    }

    pub async fn answer(
        &self,
        row: &Route,
        operator: Operator,
        mut asked: Request<'_>,
    ) -> Result<Reply, Problem> {
        let Arrival { head, request_id, peer } = asked.arrival;
        if row.takes_csv {
            // Whatever the listener takes otherwise: it is known to be large.
            asked.inbound.bytes_max = CSV_BYTES_MAX;
            asked.body = asked.inbound.csv(&head.headers).await?;
        }
        let mut unexpected = mem::take(&mut asked.unexpected);
        let key = mem::replace(&mut asked.key, Ok(None)).unwrap_or_else(|bad| {
            unexpected.push(bad);
            None
        });
        let parameters: Vec<(&'static str, String)> =
            asked.parameters.iter().map(|(name, text)| (*name, canonical(text))).collect();
        let path = path_of(row.path, &parameters);
        let shows = Shows::of(row.endpoint.show, &parameters);
        let Route { table, takes_query, path: route_path, .. } = row;
        let export =
            Export::wanted(table.as_ref(), *takes_query, &head.headers, route_path, head.uri.query());
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
            approval: self.waiting(row),
            peer: *peer,
            request_id: request_id.as_str().to_owned(),
            body: Body { bytes: mem::take(&mut asked.body), unexpected },
        };
        if let Some(action) = row.action() {
            call.signature = Arc::new(Signature::of(call.entry(&action)));
        }
        let route = row.clone();
        if let Some(export) = export {
            let (handler, again) = (route.endpoint.handler, call.again(call.path.clone(), None));
            let pages: Pages = Arc::new(move |query| {
                let page = handler(again.again(again.path.clone(), Some(query)));
                Box::pin(async move { Ok(page.await?.body.into()) })
            });
            let first = run(route, call).await?;
            return export.reply(&first.body, pages, request_id.clone());
        }
        let done = run(route, call).await?;
        let reply = Reply::json(done.status, done.body).trace(done.trace);
        Ok(if done.replayed { reply.replayed() } else { reply })
    }
}

/// Whoever asks, by a token or the session of a page.
pub(super) fn operator_of(services: &Services, head: &Parts) -> Result<Operator, Problem> {
    let operators = &services.callers.operators;
    match head.extensions.get::<OnBehalf>() {
        Some(OnBehalf(hash)) => operators.of_session(*hash).ok_or_else(|| Problem::without_token(true)),
        None => operators.authenticate(&head.headers),
    }
}

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
        let sent = Sent { key, path, body: &call.body.bytes, has_card: false, by: None, request_id };
        let used = match idempotency::reserve(&call.services, Owner::Operators, &sent).await? {
            Reserved::New(used) => used,
            Reserved::Answered(answer) => {
                return replayed(&call.services, call.shows, key, *answer).await;
            }
        };
        call.pending_key = Arc::new(PendingKey::holding(used));
    }
    if !route.takes_json() && !route.takes_csv {
        call.body.read(|_| Ok(()))?;
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

struct MadeAgain<'a> {
    services: &'a Services,
    path: &'a str,
    sent: &'a str,
}

impl Secrets for MadeAgain<'_> {
    fn key(&self, key: &ApiKey) -> Option<String> {
        Secret::again(&self.services.keys, key, self.sent).map(|secret| secret.reveal().to_owned())
    }

    fn token(&self, operator: &OperatorAccount) -> Option<String> {
        let salt = token_salt(self.path, self.sent);
        let keys = &self.services.keys;
        let token = Secret::with_hash(keys, operator.id, STEM, &salt, operator.token_hash)?;
        Some(token.reveal().to_owned())
    }
}

/// The kept answer, with the secrets that are in no record, once what it speaks of is in force.
async fn replayed(services: &Services, shows: Shows, sent: &str, answer: KeptAnswer) -> CallResult {
    let record = &answer.record;
    // The first answer may have been that the settings are not in force yet.
    if let Some(PlatformChange::Tenant(tenant) | PlatformChange::Opened { tenant, .. }) =
        record.platform.as_deref()
    {
        let _turn = services.callers.turns.of(tenant.number).await;
        push_tenant_settings(services, tenant.number).await?;
    }
    let written = record.entities.first().map(|written| &*written.state);
    let show = match written {
        // Whatever the call was, it waits for a second person.
        Some(Entity::Approval(_)) => Some(approvals::asked as _),
        _ => shows.show,
    };
    let secrets = MadeAgain { services, path: &answer.kept.of.path, sent };
    let (status, body) = answer.show(show, shows.about, &secrets)?;
    Ok(Done {
        status,
        trace: Trace { seq: Some(answer.seq), timing: None },
        replayed: true,
        ..Done::ok(body)
    })
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
