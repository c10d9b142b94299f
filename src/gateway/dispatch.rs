//! The endpoints of tenants (interface B): keys, modes and scopes, and what is done with a plan
//! (`dispatch/doing.rs`). The steps of a request are in `src/server/mod.rs`. Nothing else waits for a request of
//! a tenant (`docs/contract.md, 1.12`).
//!
//! The ways to do a plan belong here and in this folder. What a call means does not: it is read and
//! shown in `src/api/`, and decided by the domain.

mod doing;
mod export;

use crate::gateway::answer::Shows;
use crate::gateway::ask::{defect, failure};
use crate::gateway::idempotency::{self, KeyUse, Looked, Owner, Reserved, Sent};
use crate::gateway::ids::random_id;
use crate::gateway::limits::{Pass, WorkSlot};
use crate::gateway::request::{OnBehalf, Request};
use crate::gateway::secrets::TenantSecrets;
use crate::gateway::services::Services;
use crate::http::accept;
use crate::http::body::without_unexpected;
use crate::http::listen::Arrival;
use crate::http::respond::Reply;
use crate::http::router::{BadRoute, Router};
use api::answer::Show;
use api::payments::receipt::FORMS;
use api::plan::{Call, Caller, Plan, RatesInForce, Work};
use api::problem::Problem;
use api::routes::{Handler, Modes, Route, page_routes, routes};
use api::testing::RESET_OPERATION;
use domain::platform::settings::LiveStatus;
use domain::platform::{Mode, Scope};
use domain::values::ids::Id;
use domain::values::time::Timestamp;
use domain::view::{Query, View};
use export::Export;
use hyper::Method;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName};
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The server of interface B.
pub struct Gateway {
    services: Arc<Services>,
    performer: Performer,
}

/// The part of the gateway that makes plans and carries them out. An answer that comes in pieces
/// keeps it beyond the request.
#[derive(Clone)]
struct Performer {
    services: Arc<Services>,
    /// What shows the answer that was kept for a POST to a path.
    shows: Arc<Router<Option<Show>>>,
}

/// A plan with what it needs to be carried out: the caller, the Idempotency-Key and the work slot.
pub struct Planned {
    plan: Plan,
    caller: Caller,
    used: Option<KeyUse>,
    shows: Shows,
    slot: Option<WorkSlot>,
    /// The list that is wanted as CSV, whose first page the plan reads.
    export: Option<Box<Export>>,
    /// While the request lasts, the test data of its caller does not begin anew.
    pass: Option<Pass>,
}

impl Gateway {
    pub fn new(services: Arc<Services>) -> Result<Gateway, BadRoute> {
        let shows = routes().into_iter().chain(page_routes()).map(|row| (row.method, row.path, row.show));
        Ok(Gateway {
            performer: Performer { services: Arc::clone(&services), shows: Arc::new(Router::new(shows)?) },
            services,
        })
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

impl Performer {
    async fn clock(&self, tenant: u64) -> Result<Timestamp, Problem> {
        match self.services.engine.view(tenant, Query::Clock).await.map_err(failure)? {
            View::Clock(now) => Ok(now),
            _ => Err(defect("the clock of a book is none")),
        }
    }

    /// The plan that a handler makes of a call with these parameters and this body.
    fn plan(
        &self,
        handler: Handler,
        caller: &Caller,
        path: &dyn Fn(&str) -> String,
        query: Option<&str>,
        body: &[u8],
    ) -> Result<Plan, Problem> {
        let services = &*self.services;
        let (now, banks) = (services.now(), services.banks.now());
        let mode = Mode::of(caller.tenant_key);
        let call = Call {
            caller,
            path,
            query,
            body,
            banks: &banks,
            prices: RatesInForce {
                bcv_rate: &|| services.prices.bcv(mode, now).map(|sample| sample.price),
                official: &|| services.prices.official(mode, now),
                market_rate: &|currency| services.prices.market.rate(currency, mode, now),
                network_fees: &services.prices.network_fees,
                confirmations: &services.prices.confirmations,
            },
            serves: &|service| services.rails.serves(caller.tenant_key, service),
            now,
            fresh_id: &|| services.fresh_id(caller.tenant_key),
            random_id: &random_id,
            micro_deposits: &|| services.rails.micro_deposits(caller.tenant_key),
            base_url: &services.site.base_url,
            mark: &|parts| services.keys.mark(parts),
            card_mark: &|parts| services.keys.card_mark(parts),
            private_targets: services.webhooks.allows_private_targets(),
            notice_wait_ms: services.waits.notice_ms,
        };
        handler(&call)
    }
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
    ) -> Result<ControlFlow<Reply, Planned>, Problem> {
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
        let mut export = Export::wanted(route, asked);
        if let Some(export) = &mut export {
            asked.unexpected = mem::take(&mut export.unexpected);
        }
        let first = export.as_ref().map(|export| export.query());
        let query = first.as_deref().or_else(|| asked.arrival.head.uri.query());
        let path = |name: &str| asked.parameters.get(name).to_owned();
        let plan = self.performer.plan(route.handler, &caller, &path, query, &asked.body);
        let mut plan = without_unexpected(plan, mem::take(&mut asked.unexpected))?;
        match &mut plan {
            Plan::Work(Work::Receipt { form, .. }) => {
                *form = accept::wanted(&asked.arrival.head.headers, &FORMS).unwrap_or(form);
            }
            Plan::Work(Work::RotateOwnKey { peer, .. } | Work::AskLive { peer }) => {
                *peer = Some(asked.arrival.peer.ip());
            }
            _ => {}
        }
        Ok(ControlFlow::Continue(Planned {
            plan,
            caller,
            used,
            shows,
            slot: asked.slot.take(),
            export,
            pass,
        }))
    }

    /// Does the work that is left, and returns the answer.
    pub async fn perform(&self, mut work: Planned, arrival: &Arrival) -> Result<Reply, Problem> {
        let _pass = work.pass.take();
        match work.export.take() {
            None => self.performer.carry_out(work, &arrival.request_id).await,
            Some(export) => Box::pin(export.begin(&self.performer, work, arrival.request_id.clone())).await,
        }
    }
}
