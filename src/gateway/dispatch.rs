//! The one way of a request of interface B (those of A go to `public.rs`), in written order: route,
//! key, mode, scope, rate, body, Idempotency-Key, handler, and then the plan is done
//! (`dispatch/doing.rs`). Nothing else waits for a request (`docs/contract.md, 1.12`).

mod doing;

use crate::gateway::ask;
use crate::gateway::meter::{Measuring, Meter};
use crate::gateway::public::Public;
use crate::gateway::reservations::KeyHeld;
use crate::gateway::secrets;
use crate::gateway::services::{Services, random_id};
use crate::gateway::throttle::Throttle;
use crate::http::body::Inbound;
use crate::http::documents::Documents;
use crate::http::listen::{Answer, Arrival};
use crate::http::respond::{Reply, RequestId, Trace};
use crate::http::router::{BadRoute, Lookup, Parameters, Router};
use crate::http::unexpected_parameters::{self, unexpected_parameters, without_unexpected};
use crate::rails::simulator::MICRO_DEPOSITS;
use crate::store::history::{self, Unreadable};
use actors::{CommandReply, Failure, Settled};
use api::openapi;
use api::plan::{Call, Caller, Plan};
use api::problem::{BadField, Problem};
use api::refusals::problem;
use api::render::render;
use api::routes::{Modes, Route, routes};
use api::writer::Object;
use bytes::Bytes;
use doing::Doing;
use domain::index;
use domain::kept::{Kept, Shape};
use domain::machine::{Domain, Facts};
use domain::platform::settings::LiveStatus;
use domain::platform::{Scope, is_live};
use domain::record::Entity;
use domain::values::ids::Id;
use domain::values::time::Timestamp;
use domain::view::{Query, View};
use hyper::Method;
use hyper::header::{HeaderMap, HeaderName, RETRY_AFTER};
use std::sync::Arc;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The server of interface B.
pub struct Gateway {
    services: Arc<Services>,
    router: Router<(Route, Arc<Meter>)>,
    throttle: Throttle<Id>,
    documents: Documents,
    public: Public,
    unrouted: Unrouted,
}

/// Meters of what is not in the table.
struct Unrouted {
    none: Arc<Meter>,
    health: Arc<Meter>,
    ready: Arc<Meter>,
}

/// A key that this request works under.
struct Use {
    key: String,
    path: String,
    body_hash: [u8; 16],
    held: KeyHeld,
}

/// A request whose row and caller are known.
struct Routed<'m, 'a> {
    route: &'m Route,
    parameters: Parameters<'a>,
    caller: Caller,
}

impl Routed<'_, '_> {
    fn writes(&self) -> bool {
        self.route.method != Method::GET
    }
}

impl From<Unreadable> for Problem {
    fn from(unreadable: Unreadable) -> Problem {
        Problem::internal_error(format!("what is stored cannot be read: {unreadable}"))
    }
}

/// What a caller is told when the engine has no answer.
pub fn failure(failure: Failure) -> Problem {
    match failure {
        Failure::Overloaded => Problem::overloaded(1),
        Failure::ShareFull => Problem::share_full(),
        Failure::ShuttingDown => Problem::shutting_down(),
        Failure::Halted => Problem::account_halted(),
        Failure::TooLarge => Problem::record_too_large(),
        Failure::Storage(why) => Problem::storage_unavailable().because(why),
        Failure::Defect(why) => Problem::internal_error(why),
    }
}

impl Gateway {
    /// Builds the route table, which refuses to be ambiguous, with `home` as the page at `/`.
    pub fn new(
        services: Arc<Services>,
        requests_per_second: u32,
        burst: u32,
        public: Public,
        home: Vec<u8>,
    ) -> Result<Gateway, BadRoute> {
        let meters = Arc::clone(&services.meters);
        let row = |route: Route| {
            let meter = meters.of(&route.method, route.path);
            (route.method.clone(), route.path, (route, meter))
        };
        let router = Router::new(routes().into_iter().map(row))?;
        let documents = Documents::new(|| openapi::public().to_json(), &meters).with_home(home, &meters);
        let unrouted = Unrouted {
            none: meters.of_none(),
            health: meters.of(&Method::GET, "/healthz"),
            ready: meters.of(&Method::GET, "/readyz"),
        };
        Ok(Gateway {
            services,
            router,
            throttle: Throttle::new(requests_per_second, burst),
            documents,
            public,
            unrouted,
        })
    }

    async fn handle<'m>(
        &'m self,
        arrival: &Arrival,
        body: &mut Inbound,
        measuring: &mut Measuring<'m>,
    ) -> Result<Reply, Problem> {
        if let Some(answer) = self.unkeyed(arrival, measuring) {
            return answer;
        }
        // Each connection has room for what outlives a wait: of all this, only what the doing
        // needs.
        let (caller, plan, used, slot) = {
            let routed = self.route(arrival, measuring)?;
            if routed.route.has_card {
                body.hold_card();
            }
            let share = self.services.shares.of(routed.caller.tenant_key);
            let bytes = if routed.writes() {
                body.charge_to(&share);
                body.json(&arrival.head.headers).await?
            } else {
                Bytes::new()
            };
            let slot = self.services.shares.slot(&share).await?;
            let (used, unexpected) = self.used(&routed, arrival, &bytes)?;
            if let Some(used) = &used
                && let Some(answer) = self.kept_answer(routed.caller.tenant_key, used).await?
            {
                return Ok(answer);
            }
            let plan = without_unexpected(self.plan(&routed, arrival.head.uri.query(), &bytes), unexpected)?;
            (routed.caller, plan, used, slot)
        };
        let doing = Doing { caller: &caller, request_id: &arrival.request_id, used, slot };
        self.carry_out(plan, doing).await
    }

    /// What is answered without a key: the state of the server, its documents, and the public
    /// interface.
    fn unkeyed<'m>(
        &'m self,
        arrival: &Arrival,
        measuring: &mut Measuring<'m>,
    ) -> Option<Result<Reply, Problem>> {
        let (method, path) = (&arrival.head.method, arrival.head.uri.path());
        let answer = self
            .health(method, path, measuring)
            .or_else(|| self.documents.answer(method, path, &arrival.head.headers, measuring));
        answer.or_else(|| {
            Public::is_meant(path).then(|| Ok(self.public.answer(&self.services, arrival, measuring)))
        })
    }

    /// Route, key, mode, scope and rate: everything that is looked at before the body.
    fn route<'m, 'a>(
        &'m self,
        arrival: &'a Arrival,
        measuring: &mut Measuring<'m>,
    ) -> Result<Routed<'m, 'a>, Problem> {
        let found = match self.router.lookup(&arrival.head.method, arrival.head.uri.path()) {
            Lookup::Found(found) => found,
            Lookup::WrongMethod { allow } => return Err(Problem::method_not_allowed(Arc::clone(allow))),
            Lookup::NotFound => return Err(Problem::not_found()),
        };
        let (route, meter) = found.value;
        measuring.found(meter);
        let caller = self.admit(&arrival.head.headers, route)?;
        measuring.of(caller.tenant.id);
        // Also what is only read: a list that is right beside a balance that cannot be told would
        // be taken for all there is.
        if self.services.engine.is_halted(caller.tenant_key) {
            return Err(Problem::account_halted());
        }
        let routed = Routed { route, parameters: found.parameters, caller };
        // Before any work is put into it: refusing must cost next to nothing, or there is nothing
        // left for those who are not refused.
        if routed.writes() {
            if let Some(refused) = self.services.engine.refuses(routed.caller.tenant_key) {
                return Err(failure(refused));
            }
            self.services.disk.admit()?;
        }
        if routed.writes() {
            self.services.may_decide(routed.caller.tenant_key)?;
        }
        Ok(routed)
    }

    /// The Idempotency-Key that the request works under, and what does not belong into it.
    fn used(
        &self,
        routed: &Routed<'_, '_>,
        arrival: &Arrival,
        body: &[u8],
    ) -> Result<(Option<Use>, Vec<BadField>), Problem> {
        let mut unexpected =
            if routed.writes() { unexpected_parameters(arrival.head.uri.query()) } else { Vec::new() };
        if routed.route.method != Method::POST {
            return Ok((None, unexpected));
        }
        let key = unexpected_parameters::idempotency_key(&arrival.head.headers).unwrap_or_else(|bad| {
            unexpected.push(bad);
            None
        });
        let used = key.map(|key| self.reserve(routed, key, arrival.head.uri.path(), body)).transpose()?;
        Ok((used, unexpected))
    }

    /// The answer that is kept for the key, if there is one for the same body.
    async fn kept_answer(&self, tenant: u64, used: &Use) -> Result<Option<Reply>, Problem> {
        let Some(value) = self
            .services
            .engine
            .reader()
            .index_get(&index::kept_on(tenant, &used.key, &used.path))
            .map_err(Unreadable::from)?
        else {
            return Ok(None);
        };
        let seq = history::seq(&value)?;
        // On the heap, as it is rare.
        let Some(kept) = Box::pin(self.kept(tenant, used, seq)).await? else { return Ok(None) };
        if kept.of.body_hash != used.body_hash {
            return Err(Problem::idempotency_key_reused());
        }
        let status = kept.status;
        let body = secrets::replayed(&self.services, tenant, kept, seq)?;
        Ok(Some(Reply::json(status, body).wal_seq(seq).replayed()))
    }

    fn health<'m>(
        &'m self,
        method: &Method,
        path: &str,
        measuring: &mut Measuring<'m>,
    ) -> Option<Result<Reply, Problem>> {
        let (meter, reply) = match path {
            "/healthz" => {
                (&self.unrouted.health, Reply::json(200, Object::new().plain("status", "ok").end()))
            }
            "/readyz" => {
                let reply = match self.services.ready() {
                    Ok(()) => Reply::json(200, Object::new().plain("status", "ready").end()),
                    Err(why) => Reply::json(
                        503,
                        Object::new().plain("status", "unavailable").text("reason", why.to_string()).end(),
                    ),
                };
                (&self.unrouted.ready, reply)
            }
            _ => return None,
        };
        measuring.found(meter);
        Some(if matches!(*method, Method::GET | Method::HEAD) {
            Ok(reply)
        } else {
            Err(Problem::method_not_allowed("GET, HEAD".into()))
        })
    }

    /// Key, live mode, test mode, scope, rate: in this order.
    fn admit(&self, headers: &HeaderMap, route: &Route) -> Result<Caller, Problem> {
        let key = headers.get(API_KEY).and_then(|key| key.to_str().ok()).ok_or_else(Problem::unauthorized)?;
        let caller = self
            .services
            .directory
            .authenticate(key, self.services.now())
            .ok_or_else(Problem::unauthorized)?;
        if caller.livemode() && caller.tenant.tenant_settings.live_status != LiveStatus::Active {
            return Err(Problem::live_mode_not_activated());
        }
        if caller.livemode() && route.modes == Modes::TestOnly {
            return Err(Problem::test_mode_only());
        }
        let reads = route.method == Method::GET && caller.key.scopes.allow(Scope::Read);
        if !reads && !caller.key.scopes.allow(route.scope) {
            return Err(Problem::scope_missing(route.scope.name()));
        }
        self.throttle.check(caller.key.id).map_err(Problem::rate_limited)?;
        Ok(caller)
    }

    fn reserve(&self, routed: &Routed<'_, '_>, key: &str, path: &str, body: &[u8]) -> Result<Use, Problem> {
        let held = self
            .services
            .reservations
            .hold_key(routed.caller.tenant_key, key, path, self.services.now())
            .ok_or_else(Problem::idempotency_in_progress)?;
        // Under a key: a body may hold a code or a card, and a bare hash of one can be tried out.
        let body_hash = match routed.route.has_card {
            true => self.services.card_mark(&[b"body", body]),
            false => self.services.mark(&[b"body", body]),
        };
        Ok(Use { key: key.to_owned(), path: path.to_owned(), body_hash, held })
    }

    /// What a record keeps for a key on a path, unless its 24 hours on the tenant's clock are over.
    async fn kept(&self, tenant: u64, used: &Use, seq: u64) -> Result<Option<Kept>, Problem> {
        let Some(kept) = history::record(self.services.engine.reader(), seq)?.record.kept else {
            return Ok(None);
        };
        let now = self.clock(tenant).await?;
        // The hashes in the index are short; the record has the whole names.
        let same = kept.of.key == used.key && kept.of.path == used.path;
        Ok((same && kept.stands_at(now)).then_some(kept))
    }

    async fn clock(&self, tenant: u64) -> Result<Timestamp, Problem> {
        match self.services.engine.view(tenant, Query::Clock).await.map_err(failure)? {
            View::Clock(now) => Ok(now),
            _ => Err(ask::defect("the clock of a book is none")),
        }
    }

    fn plan(&self, routed: &Routed<'_, '_>, query: Option<&str>, body: &[u8]) -> Result<Plan, Problem> {
        let (services, Routed { route, parameters, caller }) = (&*self.services, routed);
        let (now, banks) = (services.now(), services.banks.now());
        let call = Call {
            caller,
            path: &|name| parameters.get(name).to_owned(),
            query,
            body,
            banks: &banks,
            bcv_rate: services.board.bcv_in_force(now).map(|sample| sample.price),
            official: &|| services.official(now),
            has_rail: !caller.livemode() || services.engine.machine().live_rails,
            now,
            fresh_id: &|| services.fresh_id(caller.tenant_key),
            random_id: &random_id,
            micro_deposits: MICRO_DEPOSITS,
            base_url: &services.base_url,
            market_rate: &|currency| services.market.rate(currency, now),
            network_fees: &services.network_fees,
            mark: &|parts| services.mark(parts),
            card_mark: &|parts| services.card_mark(parts),
            private_targets: services.webhooks.allows_private_targets(),
        };
        (route.handler)(&call)
    }
}

/// What is answered to a tenant's command.
pub fn reply(
    tenant: u64,
    shape: Shape,
    outcome: CommandReply<Domain>,
    request_id: &RequestId,
) -> Result<Reply, Problem> {
    let settled: Box<Settled<Domain>> = outcome.map_err(failure)?;
    let first =
        settled.record.as_ref().and_then(|record| record.entities.first()).map(|written| &*written.state);
    let entity: Option<&Entity> = first.or(settled.entity.as_deref());
    let facts = Facts {
        livemode: is_live(tenant),
        record: settled.record.as_deref(),
        time: Timestamp::from_unix_ms(settled.time_ms),
        entity,
        refusal: settled.refusal.as_ref(),
        request_id: request_id.as_str(),
        related: &[],
    };
    let (status, body) = match settled.record.as_ref().and_then(|record| record.kept.as_ref()) {
        // Rendered already: what is kept is what is sent.
        Some(kept) if kept.of.request_id == request_id.as_str() => (kept.status, kept.body.clone()),
        _ => render(shape, &facts),
    };
    let reply =
        Reply::json(status, body).trace(Trace { seq: settled.seq, timing: Some(settled.timing.into()) });
    Ok(match settled.refusal.as_ref().and_then(|refusal| problem(refusal).retry_after) {
        Some(seconds) => reply.header(RETRY_AFTER, seconds.get().into()),
        None => reply,
    })
}

impl Answer for Gateway {
    async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        let mut measuring = Measuring::begin(&self.unrouted.none)
            .traced(self.services.spans.as_deref(), &arrival.head.headers);
        let reply = match self.handle(arrival, body, &mut measuring).await {
            Ok(reply) => reply,
            Err(problem) => Reply::problem(&problem, &arrival.request_id),
        };
        measuring.end(&reply, &arrival.request_id);
        reply
    }
}
