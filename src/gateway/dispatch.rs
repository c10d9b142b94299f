//! The surface of tenants (interface B): keys, modes, scopes and rates, their table, and what is done
//! with a plan (`dispatch/doing.rs`). The steps of a request are in `pipeline.rs`. Nothing else waits
//! for a request of a tenant (`docs/contract.md, 1.12`).
//!
//! The ways to do a plan belong here and in this folder. What a call means does not: it is read and
//! shown in `src/api/`, and decided by the domain.

mod doing;
mod export;

use crate::gateway::answer::Shows;
use crate::gateway::ask::{defect, failure};
use crate::gateway::health;
use crate::gateway::idempotency::{self, KeyUse, Looked, Owner, Reserved, Sent};
use crate::gateway::ids::random_id;
use crate::gateway::meter::{Measuring, Meter};
use crate::gateway::on_behalf::OnBehalf;
use crate::gateway::pipeline::{self, Asked, Columns, Proof, Surface, document};
use crate::gateway::public::Public;
use crate::gateway::rail_calls::RailCalls;
use crate::gateway::secrets::TenantSecrets;
use crate::gateway::services::Services;
use crate::gateway::shares::{Share, WorkSlot};
use crate::gateway::test_reset::Pass;
use crate::gateway::throttle::Throttle;
use crate::guides::Guides;
use crate::http::accept;
use crate::http::body::Inbound;
use crate::http::body::without_unexpected;
use crate::http::documents::Documents;
use crate::http::listen::{Answer, Arrival};
use crate::http::respond::Reply;
use crate::http::router::{BadRoute, Router};
use crate::store::read_budget::ReadBudget;
use api::payments::receipt::FORMS;
use api::plan::{Call, Caller, Plan, RatesInForce, Work};
use api::problem::Problem;
use api::routes::{Handler, Modes, Route, page_routes, routes};
use api::testing::RESET_OPERATION;
use api::{absent, interface};
use domain::platform::settings::LiveStatus;
use domain::platform::{Mode, PLATFORM, Scope};
use domain::values::ids::Id;
use domain::values::time::Timestamp;
use domain::view::{Query, View};
use export::Export;
use hyper::Method;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName};
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The tenant key of what anybody may ask for: no tenant has it.
const ANYBODY: u64 = PLATFORM + 1;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The server of interface B.
pub struct Gateway {
    services: Arc<Services>,
    performer: Performer,
    /// By account, each mode by itself: more keys are no more requests.
    throttle: Throttle<u64>,
    requests_per_second: u32,
    documents: Documents<Arc<Meter>>,
    guides: Arc<Guides<Arc<Meter>>>,
    public: Public,
    rail_calls: RailCalls,
    unrouted: Unrouted,
}

/// The meters of calls that are not in the table.
struct Unrouted {
    none: Arc<Meter>,
    health: Arc<Meter>,
    ready: Arc<Meter>,
}

/// The part of the gateway that makes plans and carries them out. An answer that comes in pieces
/// keeps it beyond the request.
#[derive(Clone)]
struct Performer {
    services: Arc<Services>,
    router: Arc<Router<(Route, Arc<Meter>)>>,
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
    /// Builds the route table, which refuses to be ambiguous, with `home` as the page at `/`.
    /// `test_key` is a test key that may be shown to whoever asks.
    pub fn new(
        services: Arc<Services>,
        requests_per_second: u32,
        burst: u32,
        public: Public,
        rail_calls: RailCalls,
        home: Vec<u8>,
        test_key: Option<&str>,
    ) -> Result<Gateway, BadRoute> {
        let meters = Arc::clone(&services.observed.meters);
        let description = interface::public();
        let (mut tables, with_query) = (description.tables(), description.with_query());
        let row = |mut route: Route| {
            let meter = meters.of(&route.method, route.path);
            route.table = tables.remove(route.operation).map(Arc::new);
            route.takes_query = with_query.contains(route.operation);
            (route.method.clone(), route.path, (route, meter))
        };
        let router = Router::new(routes().into_iter().chain(page_routes()).map(row))?;
        let documents =
            Documents::new(|| interface::public().to_json(), |path| meters.of(&Method::GET, path))
                .with_home(home, |path| meters.of(&Method::GET, path));
        let guides = Arc::new(Guides::new(test_key, |route| meters.of(&Method::GET, route)));
        let unrouted = Unrouted {
            none: meters.of_none(),
            health: meters.of(&Method::GET, "/healthz"),
            ready: meters.of(&Method::GET, "/readyz"),
        };
        Ok(Gateway {
            performer: Performer { services: Arc::clone(&services), router: Arc::new(router) },
            services,
            throttle: Throttle::new(requests_per_second, burst),
            requests_per_second,
            documents,
            guides,
            public,
            rail_calls,
            unrouted,
        })
    }

    /// The answer to a request for a guide, which is counted.
    async fn guide<'m>(
        &'m self,
        arrival: &Arrival,
        measuring: &mut Measuring<'m>,
    ) -> Option<Result<Reply, Problem>> {
        let head = &arrival.head;
        let answer = if self.guides.takes_long(head.uri.path()) {
            Box::pin(self.guide_off_the_workers(arrival)).await?
        } else {
            self.guides.answer(&head.method, &head.uri, &head.headers)?
        };
        Some(answer.map(|(route, reply)| {
            measuring.found(self.guides.value(route));
            reply
        }))
    }

    /// The answer to a request for a guide that takes long: one at a time for everybody together, as nobody
    /// says who asks.
    async fn guide_off_the_workers(&self, arrival: &Arrival) -> Option<Result<(usize, Reply), Problem>> {
        let (method, uri) = (arrival.head.method.clone(), arrival.head.uri.clone());
        let headers = arrival.head.headers.clone();
        let made =
            move |guides: &Guides<Arc<Meter>>, _: &ReadBudget| Ok(guides.answer(&method, &uri, &headers));
        match self.services.read_pool.read_long(&self.guides, ANYBODY, made).await {
            Ok(answer) => answer,
            Err(problem) if problem.status == 429 => {
                Some(Err(Problem::too_often("too many people search the guides at once", 1)))
            }
            Err(problem) => Some(Err(problem)),
        }
    }

    fn health<'m>(
        &'m self,
        method: &Method,
        path: &str,
        measuring: &mut Measuring<'m>,
    ) -> Option<Result<Reply, Problem>> {
        let answer = health::answer(&self.services, method, path)?;
        measuring.found(if path == health::READY { &self.unrouted.ready } else { &self.unrouted.health });
        Some(answer)
    }

    /// Authenticates the caller: key, live mode, test mode, scope, rate, in this order.
    fn caller(&self, arrival: &Arrival, route: &Route) -> Result<Caller, Problem> {
        let (directory, now) = (&self.services.callers.directory, self.services.now());
        let on_behalf = OnBehalf::in_arrival(arrival);
        if route.is_for_pages && on_behalf.is_none() {
            return Err(self.not_found(arrival));
        }
        let caller = match on_behalf {
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
        let too_fast = |seconds| Problem::rate_limited(self.requests_per_second, seconds);
        self.throttle.check(caller.tenant_key).map_err(too_fast)?;
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
fn sent_key(headers: &HeaderMap) -> Option<&str> {
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

impl Proof for Caller {
    fn tenant(&self) -> Option<(Id, u64)> {
        Some((self.tenant.id, self.tenant_key))
    }

    fn key(&self) -> Option<(u64, Id)> {
        Some((self.tenant_key, self.key.id))
    }
}

impl Surface for Gateway {
    type Row = Route;
    type Caller = Caller;
    type Work = Planned;

    fn services(&self) -> &Services {
        &self.services
    }

    fn router(&self) -> &Router<(Route, Arc<Meter>)> {
        &self.performer.router
    }

    fn unrouted(&self) -> &Meter {
        &self.unrouted.none
    }

    fn columns(&self, route: &Route) -> Columns {
        let writes = route.method != Method::GET;
        Columns {
            needs_room: writes,
            takes_json: writes,
            has_card: route.has_card,
            takes_key: route.method == Method::POST,
            takes_query: route.takes_query,
        }
    }

    async fn beside<'m>(
        &'m self,
        arrival: &Arrival,
        measuring: &mut Measuring<'m>,
    ) -> Option<Result<Reply, Problem>> {
        // Nothing beside the table is below the paths of the API.
        if is_api(arrival) {
            return None;
        }
        if let Some(answer) = self.health(&arrival.head.method, arrival.head.uri.path(), measuring) {
            return Some(answer);
        }
        match self.guide(arrival, measuring).await {
            None => document(&self.documents, arrival, measuring),
            answer => answer,
        }
    }

    fn authenticate(&self, route: &Route, arrival: &Arrival) -> Result<Caller, Problem> {
        self.caller(arrival, route)
    }

    /// What only pages can call is named to nobody.
    fn not_found(&self, arrival: &Arrival) -> Problem {
        let head = &arrival.head;
        let known = self.router().paths().filter(|path| page_routes().iter().all(|page| page.path != *path));
        absent::path(head.method.as_str(), head.uri.path(), known)
    }

    /// What the API says is the caller's alone, refusals too.
    fn finish(&self, reply: Reply, arrival: &Arrival) -> Reply {
        if is_api(arrival) { reply.no_store() } else { reply }
    }

    fn looked_for(&self, arrival: &Arrival) -> Option<&'static str> {
        let key = sent_key(&arrival.head.headers).unwrap_or_default();
        Some(if key.starts_with("pk_live_") {
            "under this key; a live key sees live mode alone"
        } else if key.starts_with("pk_test_") {
            "under this key; a test key sees test mode alone"
        } else {
            "in this account's mode"
        })
    }

    fn key_of(&self, arrival: &Arrival) -> Option<(u64, Id)> {
        let key = arrival.head.headers.get(API_KEY)?.to_str().ok()?;
        self.services.callers.directory.authenticate(key, self.services.now())?.key()
    }

    fn share(&self, _: &Route, caller: &Caller, _: &Arrival) -> Option<Arc<Share>> {
        Some(self.services.shares.of(caller.tenant_key))
    }

    async fn prepare(
        &self,
        caller: Caller,
        asked: &mut Asked<'_, Gateway>,
    ) -> Result<ControlFlow<Reply, Planned>, Problem> {
        let key = mem::replace(&mut asked.key, Ok(None)).unwrap_or_else(|bad| {
            asked.unexpected.push(bad);
            None
        });
        let mut used = None;
        let pass = match asked.row.operation {
            RESET_OPERATION => None,
            _ => self.services.names.test_gates.pass(caller.tenant_key).await,
        };
        let shows = Shows::of(asked.row.show, asked.parameters.iter().map(|(_, text)| text));
        if let Some(key) = key {
            let path = asked.arrival.head.uri.path();
            let request_id = asked.arrival.request_id.as_str();
            let sent = Sent { key, path, body: &asked.body, has_card: asked.row.has_card, request_id };
            let owner = match asked.row.is_for_pages {
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
        let mut export = Export::wanted(asked);
        if let Some(export) = &mut export {
            asked.unexpected = mem::take(&mut export.unexpected);
        }
        let first = export.as_ref().map(|export| export.query());
        let query = first.as_deref().or_else(|| asked.arrival.head.uri.query());
        let path = |name: &str| asked.parameters.get(name).to_owned();
        let plan = self.performer.plan(asked.row.handler, &caller, &path, query, &asked.body);
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

    async fn perform(&self, mut work: Planned, arrival: &Arrival) -> Result<Reply, Problem> {
        let _pass = work.pass.take();
        match work.export.take() {
            None => self.performer.carry_out(work, &arrival.request_id).await,
            Some(export) => Box::pin(export.begin(&self.performer, work, arrival.request_id.clone())).await,
        }
    }
}

/// Whether a path is below those of the API, known or not.
fn is_api(arrival: &Arrival) -> bool {
    arrival.head.uri.path().starts_with("/v1/")
}

impl Answer for Gateway {
    async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        if Public::is_meant(arrival.head.uri.path()) {
            return pipeline::answer(&self.public, arrival, body).await;
        }
        if RailCalls::is_meant(arrival.head.uri.path()) {
            return Box::pin(pipeline::answer(&self.rail_calls, arrival, body)).await;
        }
        pipeline::answer(self, arrival, body).await
    }
}
