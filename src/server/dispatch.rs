//! The one way of a request of interface B (those of A go to `public.rs`), in written order: route, key, mode, scope, rate, body, Idempotency-Key, handler, and then the plan is done. This is the one function
//! that waits (`contract.md`, section 17, "Order of checks").

use crate::api::balance;
use crate::api::conversions;
use crate::api::crypto;
use crate::api::links;
use crate::api::openapi;
use crate::api::operations;
use crate::api::plan::{Call, Caller, Plan};
use crate::api::problem::{BadField, Problem};
use crate::api::refusals::problem;
use crate::api::render::render;
use crate::api::routes::{Modes, Route, routes};
use crate::api::sessions;
use crate::api::testing;
use crate::api::writer::Object;
use crate::domain::ids::{EntityId, Id};
use crate::domain::index::{self, Space};
use crate::domain::kept::{KeepRef, Kept, Shape};
use crate::domain::machine::{Ask, Command, Domain, Facts};
use crate::domain::payments::Method as PaymentMethod;
use crate::domain::platform::{PLATFORM, Scope};
use crate::domain::products::{NewLink, product_of};
use crate::domain::record::Entity;
use crate::domain::settings::LiveStatus;
use crate::domain::time::Timestamp;
use crate::domain::view::{Query, View};
use crate::rails::simulator::MICRO_DEPOSITS;
use crate::server::batches;
use crate::server::body::Inbound;
use crate::server::desk::KeyHeld;
use crate::server::documents::Documents;
use crate::server::history::{self, Unreadable};
use crate::server::listen::{Answer, Arrival};
use crate::server::meter::{Measuring, Meter};
use crate::server::public::Public;
use crate::server::respond::{Reply, RequestId, Trace};
use crate::server::router::{BadRoute, Lookup, Parameters, Router};
use crate::server::secrets;
use crate::server::services::{Services, fresh_id};
use crate::server::sheets;
use crate::server::strays::{self, stray_parameters, without_strays};
use crate::server::throttle::Throttle;
use crate::server::webhooks;
use actors::{Failure, Held, Outcome, Settled};
use bytes::Bytes;
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

/// Everything about the request that the plan's doing needs.
struct Doing<'a> {
    caller: &'a Caller,
    request_id: &'a RequestId,
    used: Option<Use>,
}

impl From<Unreadable> for Problem {
    fn from(unreadable: Unreadable) -> Problem {
        tracing::error!(%unreadable, "what is stored cannot be read");
        Problem::internal_error()
    }
}

/// What a caller is told when the engine has no answer.
pub fn failure(failure: Failure) -> Problem {
    match failure {
        Failure::Overloaded => Problem::overloaded(1),
        Failure::ShuttingDown => Problem::shutting_down(),
        Failure::Storage(why) => {
            tracing::error!(why, "the outcome of a request is unknown");
            Problem::storage_unavailable()
        }
        Failure::Defect(why) => {
            tracing::error!(why, "a request met a defect");
            Problem::internal_error()
        }
    }
}

impl Gateway {
    /// Builds the route table; it refuses to be ambiguous.
    pub fn new(services: Arc<Services>, requests_per_second: u32, burst: u32, public: Public) -> Result<Gateway, BadRoute> {
        let meters = Arc::clone(&services.meters);
        let row = |route: Route| {
            let meter = meters.of(&route.method, route.path);
            (route.method.clone(), route.path, (route, meter))
        };
        let router = Router::new(routes().into_iter().map(row))?;
        let documents = Documents::new(|| openapi::public().to_json(), &meters);
        let unrouted = Unrouted { none: meters.of_none(), health: meters.of(&Method::GET, "/healthz"), ready: meters.of(&Method::GET, "/readyz") };
        Ok(Gateway { services, router, throttle: Throttle::new(requests_per_second, burst), documents, public, unrouted })
    }

    async fn handle<'m>(&'m self, arrival: &Arrival, body: &mut Inbound, measuring: &mut Measuring<'m>) -> Result<Reply, Problem> {
        if let Some(answer) = self.unkeyed(arrival, measuring) {
            return answer;
        }
        // Each connection has room for what outlives a wait: of all this, only what the doing needs.
        let (caller, plan, used) = {
            let routed = self.route(arrival, measuring)?;
            let bytes = if routed.writes() { body.json(&arrival.head.headers).await? } else { Bytes::new() };
            let (used, strays) = self.used(&routed, arrival, &bytes)?;
            if let Some(used) = &used
                && let Some(answer) = self.kept_answer(routed.caller.tenant_key, used).await?
            {
                return Ok(answer);
            }
            let plan = without_strays(self.plan(&routed, arrival.head.uri.query(), &bytes), strays)?;
            (routed.caller, plan, used)
        };
        self.carry_out(plan, Doing { caller: &caller, request_id: &arrival.request_id, used }).await
    }

    /// What is answered without a key: the state of the server, its documents, and the public interface.
    fn unkeyed<'m>(&'m self, arrival: &Arrival, measuring: &mut Measuring<'m>) -> Option<Result<Reply, Problem>> {
        let (method, path) = (&arrival.head.method, arrival.head.uri.path());
        let answer = self.health(method, path, measuring).or_else(|| self.documents.answer(method, path, &arrival.head.headers, measuring));
        answer.or_else(|| Public::is_meant(path).then(|| Ok(self.public.answer(&self.services, arrival, measuring))))
    }

    /// Route, key, mode, scope and rate: everything that is looked at before the body.
    fn route<'m, 'a>(&'m self, arrival: &'a Arrival, measuring: &mut Measuring<'m>) -> Result<Routed<'m, 'a>, Problem> {
        let found = match self.router.lookup(&arrival.head.method, arrival.head.uri.path()) {
            Lookup::Found(found) => found,
            Lookup::WrongMethod { allow } => return Err(Problem::method_not_allowed(Arc::clone(allow))),
            Lookup::NotFound => return Err(Problem::not_found()),
        };
        let (route, meter) = found.value;
        measuring.found(meter);
        let caller = self.admit(&arrival.head.headers, route)?;
        measuring.of(caller.tenant.id);
        let routed = Routed { route, parameters: found.parameters, caller };
        // Before any work is put into it: refusing must cost next to nothing, or there is nothing left for those who are not refused.
        if routed.writes() && self.services.engine.refuses() {
            return Err(Problem::overloaded(1));
        }
        Ok(routed)
    }

    /// The Idempotency-Key that the request works under, and what does not belong into it.
    fn used(&self, routed: &Routed<'_, '_>, arrival: &Arrival, body: &[u8]) -> Result<(Option<Use>, Vec<BadField>), Problem> {
        let mut strays = if routed.writes() { stray_parameters(arrival.head.uri.query()) } else { Vec::new() };
        if routed.route.method != Method::POST {
            return Ok((None, strays));
        }
        let key = strays::idempotency_key(&arrival.head.headers).unwrap_or_else(|bad| {
            strays.push(bad);
            None
        });
        let used = key.map(|key| self.reserve(&routed.caller, key, arrival.head.uri.path(), body)).transpose()?;
        Ok((used, strays))
    }

    /// The answer that is kept for the key, if there is one for the same body.
    async fn kept_answer(&self, tenant: u64, used: &Use) -> Result<Option<Reply>, Problem> {
        let Some(value) = self.services.engine.reader().index_get(&index::kept_on(tenant, &used.key, &used.path)).map_err(Unreadable::from)? else {
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

    fn health<'m>(&'m self, method: &Method, path: &str, measuring: &mut Measuring<'m>) -> Option<Result<Reply, Problem>> {
        let (meter, reply) = match path {
            "/healthz" => (&self.unrouted.health, Reply::json(200, Object::new().plain("status", "ok").end())),
            "/readyz" => {
                let reply = match self.services.engine.ready() {
                    Ok(()) => Reply::json(200, Object::new().plain("status", "ready").end()),
                    Err(why) => Reply::json(503, Object::new().plain("status", "unavailable").text("reason", why).end()),
                };
                (&self.unrouted.ready, reply)
            }
            _ => return None,
        };
        measuring.found(meter);
        Some(if matches!(*method, Method::GET | Method::HEAD) { Ok(reply) } else { Err(Problem::method_not_allowed("GET, HEAD".into())) })
    }

    /// Key, live mode, test mode, scope, rate: in this order.
    fn admit(&self, headers: &HeaderMap, route: &Route) -> Result<Caller, Problem> {
        let key = headers.get(API_KEY).and_then(|key| key.to_str().ok()).ok_or_else(Problem::unauthorized)?;
        let caller = self.services.directory.authenticate(key, self.services.now()).ok_or_else(Problem::unauthorized)?;
        if caller.livemode() && caller.tenant.sheet.live_status != LiveStatus::Active {
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

    fn reserve(&self, caller: &Caller, key: &str, path: &str, body: &[u8]) -> Result<Use, Problem> {
        let held = self.services.desk.hold_key(caller.tenant_key, key, path, self.services.now()).ok_or_else(Problem::idempotency_in_progress)?;
        // Under a key: a body may hold a card, and a bare hash of one can be tried out.
        let body_hash = self.services.mark(&[b"body", body]);
        Ok(Use { key: key.to_owned(), path: path.to_owned(), body_hash, held })
    }

    /// What a record keeps for a key on a path, unless its 24 hours on the tenant's clock are over.
    async fn kept(&self, tenant: u64, used: &Use, seq: u64) -> Result<Option<Kept>, Problem> {
        let Some(kept) = history::record(self.services.engine.reader(), seq)?.record.kept else { return Ok(None) };
        let now = self.clock(tenant).await?;
        // The hashes in the index are short; the record has the whole names.
        let same = kept.of.key == used.key && kept.of.path == used.path;
        Ok((same && kept.stands_at(now)).then_some(kept))
    }

    async fn clock(&self, tenant: u64) -> Result<Timestamp, Problem> {
        match self.services.engine.view(tenant, Query::Clock).await.map_err(failure)? {
            View::Clock(now) => Ok(now),
            _ => Err(Problem::internal_error()),
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
            fresh_id: &fresh_id,
            micro_deposits: MICRO_DEPOSITS,
            base_url: &services.base_url,
            market_rate: &|currency| services.market.rate(currency, now),
            network_fees: &services.network_fees,
            mark: &|parts| services.mark(parts),
            private_targets: services.webhooks.allows_private_targets(),
        };
        (route.handler)(&call)
    }

    async fn carry_out(&self, plan: Plan, doing: Doing<'_>) -> Result<Reply, Problem> {
        let (tenant, request_id) = (doing.caller.tenant_key, doing.request_id);
        let engine = &self.services.engine;
        let reader = engine.reader();
        let plan = match plan {
            Plan::Knowing(id, _) if history::entity(reader, tenant, id)?.is_none() => return Err(Problem::not_found()),
            Plan::Knowing(_, plan) => *plan,
            Plan::Aimed(url, plan) => {
                Box::pin(self.services.webhooks.aim(&url)).await.map_err(|why| Problem::invalid_field("url", why))?;
                *plan
            }
            plan => plan,
        };
        match plan {
            Plan::Answer(status, body) => Ok(Reply::json(status, body)),
            Plan::Book(ask, shape) => {
                let (command, held) = doing.command(ask, shape);
                let outcome = engine.ask_book(tenant, command, held).await;
                reply(shape, outcome, request_id)
            }
            Plan::Entity(id, ask, shape) => {
                let (command, held) = doing.command(ask, shape);
                let mut outcome = engine.ask_entity(tenant, id, false, command, None, held).await;
                others_done(&mut outcome).await;
                reply(shape, outcome, request_id)
            }
            Plan::Create { space, name, id, ask, shape } => {
                let held_name = self.services.desk.hold_name(tenant, space, &name).await;
                let known = match (history::named(reader, tenant, space, &name)?, &ask) {
                    // C2P attempts may have come after it on the same reference; it is a repeat all the same.
                    (Some(newest), Ask::Charge(charge)) => Some(history::attempt_by(reader, tenant, newest, charge.means.method())?),
                    (known, _) => known,
                };
                let (command, held) = doing.command(ask, shape);
                let (id, new) = known.map_or((id, true), |known| (EntityId { kind: id.kind, id: known }, false));
                reply(shape, engine.ask_entity(tenant, id, new, command, Some(Box::new(held_name)), held).await, request_id)
            }
            Plan::New(id, ask, shape) => {
                let (command, held) = doing.command(ask, shape);
                reply(shape, engine.ask_entity(tenant, id, true, command, None, held).await, request_id)
            }
            // On the heap: each connection has room for its longest future, and most of the time of a small one goes into moving it.
            plan => Box::pin(self.carry_out_rest(plan, doing)).await,
        }
    }

    async fn carry_out_rest(&self, plan: Plan, doing: Doing<'_>) -> Result<Reply, Problem> {
        let (tenant, request_id) = (doing.caller.tenant_key, doing.request_id);
        let engine = &self.services.engine;
        let reader = engine.reader();
        match plan {
            // One condition is all that a handler sets; the others are carried out above.
            Plan::Knowing(..) | Plan::Aimed(..) | Plan::Answer(..) | Plan::Book(..) | Plan::Entity(..) | Plan::Create { .. } | Plan::New(..) => {
                Err(Problem::internal_error())
            }
            Plan::CreateOnce { name, transfer, id, ask, shape } => {
                // Always in this order, so that no two wait for each other. The transfer is held until the bank has said whether it is there: who comes second finds it taken or free.
                let held_name = self.services.desk.hold_name(tenant, Space::Payment, &name).await;
                let held_transfer = self.services.desk.hold_name(tenant, Space::Transfer, &transfer).await;
                let known = history::named(reader, tenant, Space::Payment, &name)?;
                let known = known.map(|newest| history::attempt_by(reader, tenant, newest, PaymentMethod::PagoMovil)).transpose()?;
                let used = history::named(reader, tenant, Space::Transfer, &transfer)?.is_some();
                let (command, held) = doing.command(ask(used), shape);
                let (id, new) = known.map_or((id, true), |known| (EntityId { kind: id.kind, id: known }, false));
                reply(shape, engine.ask_entity(tenant, id, new, command, Some(Box::new(held_name)), Some(Box::new((held_transfer, held)))).await, request_id)
            }
            Plan::OfChargeback(id, ask, shape) => {
                let payment = history::charged_back(reader, tenant, id)?.ok_or_else(Problem::not_found)?;
                let (command, held) = doing.command(ask, shape);
                reply(shape, engine.ask_entity(tenant, payment, false, command, None, held).await, request_id)
            }
            Plan::Advance(advance_ms) => {
                let (command, held) = doing.command(Ask::MoveClock(advance_ms), Shape::Clock);
                reply(Shape::Clock, engine.advance(tenant, advance_ms, command, held).await, request_id)
            }
            Plan::Clock => {
                let (status, body) = testing::clock(self.clock(tenant).await?);
                Ok(Reply::json(status, body))
            }
            Plan::Balance => match engine.view(tenant, Query::Balance).await.map_err(failure)? {
                View::Balance(now) => Ok(Reply::json(200, balance::show(&now))),
                _ => Err(Problem::internal_error()),
            },
            Plan::SellerBalance(merchant) => match engine.view(tenant, Query::Seller(merchant)).await.map_err(failure)? {
                View::Seller(Some(now)) => Ok(Reply::json(200, balance::show_seller(&now, doing.caller.livemode()))),
                _ => Err(Problem::not_found()),
            },
            Plan::CopBalance => match engine.view(tenant, Query::CopBalance).await.map_err(failure)? {
                View::CopBalance(now) => Ok(Reply::json(200, balance::show_cop(&now))),
                _ => Err(Problem::internal_error()),
            },
            Plan::BalanceAt(at) => {
                if at > self.clock(tenant).await? {
                    return Err(Problem::invalid_field("at", "must not be in the future"));
                }
                let then = history::balance_at(engine.machine(), reader, tenant, at)?;
                Ok(Reply::json(200, balance::show(&then)))
            }
            Plan::Read(id, show) => match history::entity(reader, tenant, id)? {
                Some(entity) => Ok(Reply::json(200, show(&entity))),
                None => Err(Problem::not_found()),
            },
            Plan::ReadPayment(id, show) => {
                let id = history::payment(reader, tenant, id)?.ok_or_else(Problem::not_found)?;
                let entity = history::entity(reader, tenant, id)?.ok_or_else(Problem::not_found)?;
                Ok(Reply::json(200, show(&entity)))
            }
            Plan::OfPayment(id, ask, shape) => {
                let id = history::payment(reader, tenant, id)?.ok_or_else(Problem::not_found)?;
                let (command, held) = doing.command(ask, shape);
                reply(shape, engine.ask_entity(tenant, id, false, command, None, held).await, request_id)
            }
            Plan::ReadNamed(space, name, kind, show) => {
                let id = history::named(reader, tenant, space, &name)?.ok_or_else(Problem::not_found)?;
                let entity = history::entity(reader, tenant, EntityId { kind, id })?.ok_or_else(Problem::not_found)?;
                Ok(Reply::json(200, show(&entity)))
            }
            Plan::List { kind, facets, page, show } => Ok(Reply::json(200, history::list(reader, tenant, kind, &facets, &page, show)?)),
            Plan::ListKinds { parts, page, show } => Ok(Reply::json(200, history::list_kinds(reader, tenant, parts, &page, show)?)),
            Plan::Attempts { name, facets, page, show } => Ok(Reply::json(200, history::attempts(reader, tenant, &name, &facets, &page, show)?)),
            Plan::Movements(ask) => {
                let now = self.clock(tenant).await?;
                Ok(Reply::json(200, history::movements(reader, tenant, &ask, now)?))
            }
            Plan::Batch(batch) => {
                let (services, request_id) = (Arc::clone(&self.services), request_id.clone());
                let (keep, held) = doing.keep(Shape::Batch);
                let paying = tokio::spawn(batches::carry_out(services, tenant, batch, keep, held, request_id));
                paying.await.unwrap_or_else(|_| Err(Problem::internal_error()))
            }
            Plan::ReadBatch(id) => batches::read(&self.services, tenant, id),
            Plan::Events { after, page, world } => Ok(Reply::json(200, history::events(reader, tenant, after, &page, world)?)),
            Plan::Event(id, world) => match history::event(reader, tenant, id, world)? {
                Some(event) => Ok(Reply::json(200, event)),
                None => Err(Problem::not_found()),
            },
            Plan::ReadPaymentNamed(name, show) => {
                let spaces = [Space::Payment, Space::Checkout];
                let found = spaces.into_iter().find_map(|space| history::named(reader, tenant, space, &name).transpose()).transpose()?;
                let payment = EntityId::payment(found.ok_or_else(Problem::not_found)?);
                let entity = history::entity(reader, tenant, payment)?.ok_or_else(Problem::not_found)?;
                Ok(Reply::json(200, show(&entity)))
            }
            Plan::AddLink { product, given, fresh, link } => {
                let found = history::entity(reader, tenant, product)?.ok_or_else(Problem::not_found)?;
                let mut free = None;
                for slug in links::slugs(&found, given, &fresh) {
                    let held = self.services.desk.hold_name(PLATFORM, Space::Slug, &slug).await;
                    if reader.index_get(&index::name(PLATFORM, Space::Slug, &slug)).map_err(Unreadable::from)?.is_none() {
                        free = Some((slug, held));
                        break;
                    }
                }
                let (slug, held_slug) = free.unzip();
                let (command, held) = doing.command(Ask::AddLink(Box::new(NewLink { slug, ..*link })), Shape::LinkCreated);
                reply(Shape::LinkCreated, engine.ask_entity(tenant, product, false, command, Some(Box::new(held_slug)), held).await, request_id)
            }
            Plan::ReadLink(id) => match history::entity(reader, tenant, product_of(id))?.as_deref() {
                Some(Entity::Product(product)) if product.link(id).is_some() => {
                    let (status, body) = links::one_of(product, id);
                    Ok(Reply::json(status, body))
                }
                _ => Err(Problem::not_found()),
            },
            Plan::Session(id, secret) => {
                let now = self.clock(tenant).await?;
                let (session, status) = history::session(reader, tenant, id, now)?.ok_or_else(Problem::not_found)?;
                Ok(Reply::json(200, sessions::with_secret(sessions::show(&session, status), id, secret)))
            }
            Plan::Operation(id) => self.operation(tenant, id),
            Plan::ReadShown(id, show) => match history::entity(reader, tenant, id)?.and_then(|entity| show(&entity)) {
                Some(body) => Ok(Reply::json(200, body)),
                None => Err(Problem::not_found()),
            },
            Plan::EntityNamed { space, name, kind, ask, shape } => {
                let id = history::named(reader, tenant, space, &name)?.ok_or_else(Problem::not_found)?;
                let (command, held) = doing.command(ask, shape);
                reply(shape, engine.ask_entity(tenant, EntityId { kind, id }, false, command, None, held).await, request_id)
            }
            Plan::CryptoBalance => match engine.view(tenant, Query::Crypto).await.map_err(failure)? {
                View::Crypto(now) => Ok(Reply::json(200, crypto::show_balance(&now, doing.caller.livemode()))),
                _ => Err(Problem::internal_error()),
            },
            Plan::SetAutoConvert(percent) => {
                let (services, number) = (Arc::clone(&self.services), doing.caller.tenant.number);
                // A task of its own: a caller who goes away must not leave a sheet that was not taken to the books.
                let changing =
                    tokio::spawn(async move { sheets::change_settings(&services, number, |settings| settings.conversions.auto_cop_percent = percent).await });
                let (tenant, trace) = changing.await.unwrap_or_else(|_| Err(Problem::internal_error()))?;
                Ok(Reply::json(200, conversions::show_settings(&tenant.sheet.settings)).trace(trace))
            }
            Plan::Signing { id, new, ask, shape } => {
                let (command, held) = doing.command(ask, shape);
                let outcome = engine.ask_entity(tenant, id, new, command, None, held).await;
                secrets::reply_with_secret(&self.services, tenant, shape, outcome, request_id)
            }
            Plan::Webhooks => Ok(Reply::json(200, webhooks::list(reader, tenant)?)),
            Plan::Deliveries(id, page) => Ok(Reply::json(200, webhooks::deliveries(&self.services, tenant, id, &page)?)),
            Plan::Resend(id) => {
                let services = Arc::clone(&self.services);
                let (keep, held) = doing.keep(Shape::Resent);
                let resending = tokio::spawn(webhooks::resend(services, tenant, id, keep, held));
                resending.await.unwrap_or_else(|_| Err(Problem::internal_error()))
            }
            Plan::TestNotification => webhooks::test(&self.services, tenant).await,
            Plan::Kept { key, path } => self.idempotency(tenant, &key, path.as_deref()).await,
        }
    }

    fn operation(&self, tenant: u64, id: Id) -> Result<Reply, Problem> {
        let reader = self.services.engine.reader();
        let (entity, n) = id.entity_and_operation();
        for whose in [EntityId::payment(entity), EntityId::payout(entity), EntityId::otp(entity), EntityId::cop_payment(entity)] {
            if let Some(found) = history::entity(reader, tenant, whose)?
                && let Some(body) = operations::show(id, n, &found)
            {
                return Ok(Reply::json(200, body));
            }
        }
        Err(Problem::not_found())
    }

    /// GET /v1/idempotency/:key: the newest use of a key, on any path unless one is named.
    async fn idempotency(&self, tenant: u64, key: &str, path: Option<&str>) -> Result<Reply, Problem> {
        let now = self.clock(tenant).await?;
        if let Some((path, since)) = self.services.desk.key_in_use(tenant, key, path) {
            let first_seen = now.minus_ms(self.services.now().since_ms(since));
            let body = Object::new().text("key", key).plain("state", "in_progress").plain("method", "POST").text("path", path);
            let body = body.plain("firstSeenAt", first_seen).plain("expiresAt", first_seen.plus_ms(crate::domain::kept::KEPT_MS));
            return Ok(Reply::json(200, body.null("status").null("response").null("walSeq").end()));
        }
        let from = index::kept(tenant, key);
        let mut to = from.clone();
        to.extend_from_slice(&[0xFF; 17]);
        let mut newest: Option<(Timestamp, Kept, u64)> = None;
        for entry in self.services.engine.reader().index_scan(&from, &to, false) {
            let (_, value) = entry.map_err(Unreadable::from)?;
            let seq = history::seq(&value)?;
            let read = history::record(self.services.engine.reader(), seq)?;
            let Some(kept) = read.record.kept else { continue };
            let matches = kept.of.key == key && path.is_none_or(|path| kept.of.path == path) && kept.stands_at(now);
            if matches && newest.as_ref().is_none_or(|(_, other, _)| other.of.first_seen <= kept.of.first_seen) {
                newest = Some((read.time, kept, seq));
            }
        }
        let (_, kept, seq) = newest.ok_or_else(Problem::not_found)?;
        let body = Object::new()
            .text("key", key)
            .plain("state", "done")
            .plain("method", "POST")
            .text("path", &kept.of.path)
            .plain("firstSeenAt", kept.of.first_seen)
            .plain("expiresAt", kept.expires_at())
            .number("status", kept.status)
            .json("response", &kept.body)
            .number("walSeq", seq)
            .end();
        Ok(Reply::json(200, body))
    }
}

impl Doing<'_> {
    /// The command, and what is held until it is answered.
    fn command(self, ask: Ask, shape: Shape) -> (Command, Option<Held>) {
        let (keep, held) = self.keep(shape);
        (Command { ask, keep }, held)
    }

    /// Which answer is kept for which key, and what is held until it is answered.
    fn keep(self, shape: Shape) -> (Option<KeepRef>, Option<Held>) {
        let Some(Use { key, path, body_hash, held }) = self.used else { return (None, None) };
        // The decision fills in when the key was first seen, on the tenant's clock.
        let first_seen = Timestamp::from_unix_ms(0);
        let keep = KeepRef { key, path, body_hash, first_seen, shape, request_id: self.request_id.as_str().to_owned() };
        (Some(keep), Some(Box::new(held)))
    }
}

/// Waits, but not for long, for what the record set going elsewhere: who completes a payment finds what became of the part of it that is converted by itself.
async fn others_done(outcome: &mut Outcome<Domain>) {
    if let Ok(settled) = outcome
        && let Some(mut performed) = settled.performed.take()
    {
        // Too late is no failure: it is durable, and goes on by itself.
        let _ = Box::pin(tokio::time::timeout(batches::PATIENCE, performed.wait())).await;
    }
}

/// What is answered to a command.
pub fn reply(shape: Shape, outcome: Outcome<Domain>, request_id: &RequestId) -> Result<Reply, Problem> {
    let settled: Box<Settled<Domain>> = outcome.map_err(failure)?;
    let first = settled.record.as_ref().and_then(|record| record.entities.first()).map(|written| &*written.state);
    let entity: Option<&Entity> = first.or(settled.entity.as_deref());
    let facts = Facts {
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
    let reply = Reply::json(status, body).trace(Trace { seq: settled.seq, timing: Some(settled.timing.into()) });
    Ok(match settled.refusal.as_ref().and_then(|refusal| problem(refusal).retry_after) {
        Some(seconds) => reply.header(RETRY_AFTER, seconds.into()),
        None => reply,
    })
}

impl Answer for Gateway {
    async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        let mut measuring = Measuring::begin(&self.unrouted.none).traced(self.services.spans.as_deref(), &arrival.head.headers);
        let reply = match self.handle(arrival, body, &mut measuring).await {
            Ok(reply) => reply,
            Err(problem) => Reply::problem(&problem, &arrival.request_id),
        };
        measuring.end(&reply, &arrival.request_id);
        reply
    }
}
