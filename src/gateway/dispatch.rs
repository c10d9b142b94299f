//! The endpoints of tenants (interface B): keys, modes and scopes, and the call of an
//! endpoint with what it works with (`tenant_request.rs`). The steps of a request are in `src/server/mod.rs`.
//!
//! What a call means does not belong here: it is read and shown in `src/api/`, and decided by the domain.

use crate::gateway::answer::Shows;
use crate::gateway::ask::failure;
use crate::gateway::exports::{Export, Pages};
use crate::gateway::idempotency::{self, KeyUse, Looked, Owner, Reserved, Sent};
use crate::gateway::limits::{Pass, WorkSlot};
use crate::gateway::request::{OnBehalf, Request};
use crate::gateway::secrets::TenantSecrets;
use crate::gateway::services::Services;
use crate::gateway::tenant_request::{Kept, TenantEnvironment, TenantRequest};
use crate::http::body::without_unexpected;
use crate::http::listen::Arrival;
use crate::http::respond::{Reply, RequestId};
use crate::http::router::{BadRoute, Router};
use actors::Failure;
use api::endpoint::{Caller, Context, Handler};
use api::problem::{BadField, Problem};
use api::routes::{Modes, Route, page_routes, routes};
use api::testing::RESET_OPERATION;
use bytes::Bytes;
use domain::platform::Scope;
use domain::platform::settings::LiveStatus;
use domain::values::ids::Id;
use hyper::Method;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName};
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The server of interface B.
pub struct Gateway {
    services: Arc<Services>,
    /// What shows the answer that was kept for a POST to a path.
    kept: Arc<Kept>,
}

/// A request that was read as far as its row says, and what is held for it.
pub struct Prepared {
    caller: Caller,
    handler: Handler,
    parameters: Vec<(&'static str, String)>,
    body: Bytes,
    unexpected: Vec<BadField>,
    used: Option<KeyUse>,
    shows: Shows,
    slot: Option<WorkSlot>,
    /// The list, if it is wanted as CSV.
    export: Option<Box<Export>>,
    /// While the request lasts, the test data of its caller does not begin anew.
    pass: Option<Pass>,
}

impl Gateway {
    pub fn new(services: Arc<Services>) -> Result<Gateway, BadRoute> {
        let shows = routes().into_iter().chain(page_routes()).map(|row| (row.method, row.path, row.show));
        Ok(Gateway { kept: Arc::new(Router::new(shows)?), services })
    }

    /// Authenticates the caller: key, live mode, test mode, scope, in this order.
    pub fn caller(&self, arrival: &Arrival, route: &Route) -> Result<Caller, Problem> {
        let (directory, now) = (&self.services.callers.directory, self.services.now());
        let caller = match OnBehalf::in_arrival(arrival) {
            Some(of) => directory.recognise(of.hash(), now),
            None => sent_key(&arrival.head.headers).and_then(|key| directory.authenticate(key, now)),
        };
        let caller = caller.ok_or_else(|| without_key(&arrival.head.headers))?;
        // Reads are refused too: whoever reads here what went on elsewhere acts on what is over.
        if caller.tenant.tenant_settings.moved_to.is_some() {
            return Err(Problem::tenant_moved());
        }
        // Who waits for live mode may ask for it, and replace the key that it will be used with.
        let is_active = caller.tenant.tenant_settings.live_status == LiveStatus::Active;
        if caller.livemode() && !is_active && !route.is_for_pages {
            return Err(Problem::live_mode_not_activated());
        }
        if caller.livemode() && route.modes == Modes::TestOnly {
            return Err(Problem::test_mode_only());
        }
        let reads = route.method == Method::GET && caller.key.scopes.allow(Scope::Read);
        if !reads && !caller.key.scopes.allow(route.scope) {
            return Err(Problem::scope_missing(route.scope.name()));
        }
        Ok(caller)
    }
}

/// Has an endpoint answer a call, whose parts outside of its body may be bad.
pub(super) async fn call(
    mut request: TenantRequest<'_>,
    handler: Handler,
    parameters: &[(&'static str, String)],
    query: Option<&str>,
    body: Bytes,
    unexpected: Vec<BadField>,
) -> Result<Reply, Problem> {
    let (services, caller) = (request.services, request.caller);
    let env = TenantEnvironment { services, tenant: caller.tenant_key, now: services.now() };
    let banks = services.banks.now();
    let mut context = Context {
        caller,
        env: &env,
        banks: &banks,
        body,
        parameters,
        query,
        unexpected,
        server: &mut request,
    };
    let reply = handler(&mut context).await;
    without_unexpected(reply, context.unexpected)
}

/// The key that a request brings; none where it brings two: one may be a proxy's, and another account's.
pub fn sent_key(headers: &HeaderMap) -> Option<&str> {
    let mut sent = headers.get_all(API_KEY).iter();
    let key = sent.next()?;
    if sent.all(|again| again == key) { key.to_str().ok() } else { None }
}

/// The problem of a caller whose key opens nothing, or who sent none. Whether a key was ever one is not
/// said.
fn without_key(headers: &HeaderMap) -> Problem {
    Problem::unauthorized(if headers.get_all(API_KEY).iter().count() > 1 {
        "the header x-api-key is there more than once: send one key"
    } else if headers.contains_key(API_KEY) {
        "the key in the header x-api-key opens nothing: it is mistyped, revoked or expired, or another server's"
    } else if headers.contains_key(AUTHORIZATION) {
        "the header x-api-key is missing: the account's key belongs into it, not into authorization"
    } else {
        "the header x-api-key is missing: send the account's key in it"
    })
}

impl Gateway {
    /// The tenant key and the key of a caller who was refused, or asked for what is not there.
    pub fn key_of(&self, arrival: &Arrival) -> Option<(u64, Id)> {
        let key = arrival.head.headers.get(API_KEY)?.to_str().ok()?;
        let caller = self.services.callers.directory.authenticate(key, self.services.now())?;
        Some((caller.tenant_key, caller.key.id))
    }

    /// Reads what is asked: the answer, if it was given before or needs no more than that, or the work that is
    /// left.
    pub async fn prepare(
        &self,
        route: &Route,
        caller: Caller,
        asked: &mut Request<'_>,
    ) -> Result<ControlFlow<Reply, Prepared>, Problem> {
        let key = mem::replace(&mut asked.key, Ok(None)).unwrap_or_else(|bad| {
            asked.unexpected.push(bad);
            None
        });
        let mut used = None;
        let pass = match route.operation {
            RESET_OPERATION => None,
            _ => self.services.names.test_gates.pass(caller.tenant_key).await,
        };
        let shows = Shows::of(route.show, asked.parameters.iter().map(|(_, text)| text));
        if let Some(key) = key {
            let path = asked.arrival.head.uri.path();
            let request_id = asked.arrival.request_id.as_str();
            let sent = Sent { key, path, body: &asked.body, has_card: route.has_card, request_id };
            let owner = match route.is_for_pages {
                true => Owner::AtPlatform(caller.tenant_key),
                false => Owner::Tenant(caller.tenant_key),
            };
            used = Some(match idempotency::reserve(&self.services, owner, &sent)? {
                Reserved::New(used) => used,
                // Boxed, as it is rare: each connection has room for its longest future.
                Reserved::Found(found) => match Box::pin(found.look(&self.services, &asked.body)).await? {
                    Looked::New(used) => used,
                    Looked::Answered(answer) => {
                        let tenant = caller.tenant_key;
                        let secrets = TenantSecrets { services: &self.services, tenant, sent: Some(key) };
                        let (status, body) = answer.show(shows.show, shows.about, &secrets)?;
                        let reply = Reply::json(status, body).wal_seq(answer.seq).replayed();
                        return Ok(ControlFlow::Break(reply));
                    }
                },
            });
        }
        let head = &asked.arrival.head;
        let mut unexpected = mem::take(&mut asked.unexpected);
        let mut export = None;
        if let Some(table) = &route.table
            && let Some((wanted, bad)) =
                Export::wanted(Some(table), route.takes_query, &head.headers, route.path, head.uri.query())
        {
            (export, unexpected) = (Some(Box::new(wanted)), bad);
        }
        Ok(ControlFlow::Continue(Prepared {
            caller,
            handler: route.handler,
            parameters: asked.parameters.iter().map(|(name, text)| (name, text.to_owned())).collect(),
            body: mem::take(&mut asked.body),
            unexpected,
            used,
            shows,
            slot: asked.slot.take(),
            export,
            pass,
        }))
    }

    /// Has the endpoint do what is asked.
    pub async fn perform(&self, prepared: Prepared, arrival: &Arrival) -> Result<Reply, Problem> {
        let Prepared { caller, handler, parameters, body, unexpected, used, shows, slot, export, pass } =
            prepared;
        let _pass = pass;
        let request = TenantRequest {
            services: &self.services,
            kept: &self.kept,
            caller: &caller,
            request_id: &arrival.request_id,
            arrival: Some(arrival),
            used,
            shows,
            slot,
            names: Vec::new(),
        };
        let Some(export) = export else {
            return call(request, handler, &parameters, arrival.head.uri.query(), body, unexpected).await;
        };
        let query = export.query(None);
        let first = call(request, handler, &parameters, Some(&query), body, unexpected);
        let first = Box::pin(first).await?;
        let pages = TenantPages(Arc::new(Source {
            services: Arc::clone(&self.services),
            kept: Arc::clone(&self.kept),
            caller,
            handler,
            parameters,
            request_id: arrival.request_id.clone(),
        }));
        export.reply(first.body(), pages, arrival.request_id.clone())
    }
}

/// The pages of a tenant's list as CSV, which are read by the list's own endpoint.
#[derive(Clone)]
struct TenantPages(Arc<Source>);

struct Source {
    services: Arc<Services>,
    kept: Arc<Kept>,
    caller: Caller,
    handler: Handler,
    parameters: Vec<(&'static str, String)>,
    request_id: RequestId,
}

impl Pages for TenantPages {
    async fn page(&self, query: String) -> Result<Bytes, Problem> {
        let Source { services, kept, caller, handler, parameters, request_id } = &*self.0;
        // Every page is like the first: a book in doubt is not shown.
        if services.engine.is_halted(caller.tenant_key) {
            return Err(failure(Failure::Halted));
        }
        let request = TenantRequest {
            services,
            kept,
            caller,
            request_id,
            arrival: None,
            used: None,
            shows: Shows::default(),
            slot: None,
            names: Vec::new(),
        };
        let page = call(request, *handler, parameters, Some(&query), Bytes::new(), Vec::new()).await?;
        Ok(page.body().clone())
    }
}
