//! The endpoints of tenants (interface B): keys, modes and scopes, the call of an endpoint, and what the server does
//! for it (`Server` of `src/api/endpoint.rs`). The steps of a request before are in `src/server/mod.rs`.
//!
//! What a call means does not belong here: it is read and shown in `src/api/`, and decided by the domain.

use crate::gateway::ask::failure;
use crate::gateway::exports::{Export, Pages};
use crate::gateway::idempotency::{self, KeyUse, Looked, Owner, Reserved, Sent};
use crate::gateway::keys::hash_key;
use crate::gateway::limits::{self, WorkSlot};
use crate::gateway::names::Pass;
use crate::gateway::request::{OnBehalf, Request};
use crate::gateway::secrets::TenantSecrets;
use crate::gateway::services::Services;
use crate::gateway::tenant_request::{Kept, Shows, TenantEnvironment, TenantRequest, in_a_task, reply};
use crate::gateway::{
    batches, charges, finding, otp, own_account, receipts, statements, tenant_settings, test_reset,
    usdt_addresses, webhooks,
};
use crate::http::accept;
use crate::http::body::without_unexpected;
use crate::http::listen::Arrival;
use crate::http::respond::{Reply, RequestId};
use crate::http::router::{BadRoute, Found, Lookup, Router};
use crate::store::history;
use crate::store::past_balance;
use crate::store::stored::Stored;
use actors::Failure;
use api::conversions;
use api::endpoint::{Caller, Context, Handler, Later, LongRead, Server, Target};
use api::page::Page;
use api::payments::card_tokens::CardToken;
use api::payments::receipt::{FORMS, PAGE};
use api::problem::{BadField, Problem};
use api::records::{Records, Unread};
use api::routes::{Modes, Route, page_routes, routes};
use api::search::sought::Sought;
use api::statements::Ask;
use api::testing::RESET_OPERATION;
use bytes::Bytes;
use domain::commands::{Command, KeyedCommand};
use domain::index::Space;
use domain::ledger::Ledger;
use domain::ledger::days::Line;
use domain::platform::Scope;
use domain::platform::settings::LiveStatus;
use domain::resources::crypto::deposits::NewDepositAddress;
use domain::resources::payments::c2p::NewIntent;
use domain::resources::payments::charge::NewCharge;
use domain::resources::payments::otp::NewOtp;
use domain::resources::payouts::batch::NewBatch;
use domain::values::ids::{Id, PLATFORM};
use domain::values::money::Currency;
use domain::values::time::{Date, Timestamp};
use domain::view::{self, Balance, View};
use hyper::Method;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName};
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;
use url::Url;

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

/// The answer to a request, or the work that is left.
type Step = ControlFlow<Reply, Prepared>;

impl Gateway {
    pub fn new(services: Arc<Services>) -> Result<Gateway, BadRoute> {
        let shows =
            routes().into_iter().chain(page_routes()).map(|row| (row.method, row.path, row.endpoint.show));
        Ok(Gateway { kept: Arc::new(Router::new(shows)?), services })
    }

    /// Authenticates the caller: key, live mode, test mode, scope, in this order.
    pub fn caller(&self, arrival: &Arrival, route: &Route) -> Result<Caller, Problem> {
        let (directory, now) = (&self.services.callers.directory, self.services.now());
        let caller = match (arrival.head.extensions.get::<OnBehalf>(), sent_key(&arrival.head.headers)) {
            (Some(of), _) => directory.recognise(of.hash(), now),
            (None, Some(key)) => directory.recognise(&hash_key(key), now),
            (None, None) => None,
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

/// A call of an endpoint, whose parts outside of its body may be bad.
struct Call<'a> {
    handler: Handler,
    parameters: &'a [(&'static str, String)],
    query: Option<&'a str>,
    body: Bytes,
    unexpected: Vec<BadField>,
}

async fn call(mut request: TenantRequest<'_>, call: Call<'_>) -> Result<Reply, Problem> {
    let (services, caller) = (request.services, request.caller);
    let env = TenantEnvironment { services, tenant: caller.tenant_key, now: services.now() };
    let banks = services.banks.now();
    let Call { handler, parameters, query, body, unexpected } = call;
    let server = &mut request;
    let mut context =
        Context { caller, env: &env, banks: &banks, body, parameters, query, unexpected, server };
    let reply = handler(&mut context).await;
    if context.unexpected.is_empty() { reply } else { without_unexpected(reply, context.unexpected) }
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
        let caller = self.services.callers.directory.recognise(&hash_key(key), self.services.now())?;
        Some((caller.tenant_key, caller.key.id))
    }

    /// Reads what is asked: the answer, if it was given before or needs no more than that, or the work that is
    /// left.
    pub async fn prepare(
        &self,
        route: &Route,
        caller: Caller,
        asked: &mut Request<'_>,
    ) -> Result<Step, Problem> {
        let key = mem::replace(&mut asked.key, Ok(None)).unwrap_or_else(|bad| {
            asked.unexpected.push(bad);
            None
        });
        let mut used = None;
        let pass = match route.operation {
            RESET_OPERATION => None,
            _ => self.services.names.test_gates.pass(caller.tenant_key).await,
        };
        let shows = Shows::of(route.endpoint.show, asked.parameters.iter().map(|(_, text)| text));
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
            handler: route.endpoint.handler,
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
            let query = arrival.head.uri.query();
            return call(request, Call { handler, parameters: &parameters, query, body, unexpected }).await;
        };
        let query = export.query(None);
        let first = Call { handler, parameters: &parameters, query: Some(&query), body, unexpected };
        let first = Box::pin(call(request, first)).await?;
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
        let query = Some(&*query);
        let page = Call { handler: *handler, parameters, query, body: Bytes::new(), unexpected: Vec::new() };
        let page = call(request, page).await?;
        Ok(page.body().clone())
    }
}

impl Server for TenantRequest<'_> {
    fn ask(&mut self, target: Target, command: Command) -> Later<'_, Reply> {
        Box::pin(async move {
            let outcome = self.send(target, command, None).await;
            reply(self.services, self.caller.tenant_key, self.shows, outcome, self.request_id)
        })
    }

    fn view(&mut self, query: view::Query) -> Later<'_, View> {
        Box::pin(
            async move { self.services.engine.view(self.caller.tenant_key, query).await.map_err(failure) },
        )
    }

    fn records(&self) -> Box<dyn Records + '_> {
        Box::new(Stored::of(self.services.engine.reader(), self.caller.tenant_key))
    }

    fn read_long(&mut self, read: LongRead) -> Later<'_, Vec<u8>> {
        let tenant = self.caller.tenant_key;
        Box::pin(async move {
            let answered = self.read_any(move |services, budget| {
                match read(&Stored::of(services.engine.reader(), tenant).within(budget)) {
                    Err(Unread::Stopped(stopped)) => Err(stopped.into()),
                    Err(Unread::Problem(problem)) => Ok(Err(*problem)),
                    Ok(body) => Ok(Ok(body)),
                }
            });
            answered.await?
        })
    }

    fn release_slot(&mut self) {
        self.slot = None;
    }

    fn hold<'s>(&'s mut self, owner: u64, space: Space, name: &'s str) -> Later<'s, ()> {
        Box::pin(async move {
            let reservations = &self.services.names.reservations;
            if let Some(held) = reservations.try_hold_name(owner, space, name) {
                self.names.push(held);
                return Ok(());
            }
            // Who has to wait gives its work slot back: a bank may be asked under the name, and repeats would keep the
            // tenant's other requests from working. It takes none again, since who waits for a slot under a name
            // stands in the way of those who wait for the name in a slot.
            self.slot = None;
            self.names.push(reservations.hold_name(owner, space, name).await);
            Ok(())
        })
    }

    fn free_slug(&mut self, slugs: Vec<String>) -> Later<'_, Option<String>> {
        Box::pin(async move {
            for slug in slugs {
                let held = self.services.names.reservations.hold_name(PLATFORM, Space::Slug, &slug).await;
                if history::on_slug(self.services.engine.reader(), &slug)?.is_none() {
                    self.names.push(held);
                    return Ok(Some(slug));
                }
            }
            Ok(None)
        })
    }

    fn may_reach<'s>(&'s mut self, url: &'s Url) -> Later<'s, ()> {
        // A name's look-up takes as long as its name server.
        self.slot = None;
        Box::pin(async move {
            let aimed = self.services.webhooks.aim(self.caller.tenant_key, url).await;
            aimed.map(drop).map_err(|why| Problem::invalid_field("url", why))
        })
    }

    fn send_c2p_code<'s>(&'s mut self, new: &'s mut NewIntent, known: Option<Id>) -> Later<'s, ()> {
        // A bank takes its time.
        self.slot = None;
        Box::pin(otp::before_next_intent(self.services, self.caller.tenant_key, new, known))
    }

    fn send_debit_code<'s>(&'s mut self, new: &'s mut NewOtp) -> Later<'s, ()> {
        self.slot = None;
        Box::pin(otp::before_debit(self.services, self.caller.tenant_key, new))
    }

    fn charge(&mut self, new: NewCharge, token: Option<CardToken>) -> Later<'_, Reply> {
        Box::pin(charges::charge(self, new, token))
    }

    fn derive_address<'s>(&'s mut self, new: &'s mut NewDepositAddress) -> Later<'s, ()> {
        let (services, tenant) = (self.services, self.caller.tenant_key);
        Box::pin(async move {
            self.names.extend(usdt_addresses::derive_in_live(services, tenant, new).await?);
            Ok(())
        })
    }

    fn pay_batch(&mut self, batch: Box<NewBatch>) -> Later<'_, Reply> {
        let (services, request_id) = (Arc::clone(self.services), self.request_id.clone());
        let (keep, slot, held) = self.keep();
        let tenant = self.caller.tenant_key;
        in_a_task(batches::carry_out(services, tenant, batch, keep, (slot, held), request_id))
    }

    fn batch(&mut self, id: Id) -> Later<'_, Reply> {
        let tenant = self.caller.tenant_key;
        Box::pin(async move {
            let read = self.read_any(move |services, budget| batches::read(services, tenant, id, budget));
            found(read.await?)
        })
    }

    fn advance(&mut self, ms: i64) -> Later<'_, Reply> {
        // An advance takes as long as the deadlines on the way.
        self.slot = None;
        let (tenant, engine) = (self.caller.tenant_key, self.services.engine.clone());
        let (keep, _, held) = self.keep();
        Box::pin(async move {
            let advancing = tokio::spawn(async move {
                let _held = held;
                loop {
                    let command = KeyedCommand::from(Command::MoveClock).keeping(keep.clone());
                    match engine.advance(tenant, ms, command, None).await {
                        // It is the clock of after that moves.
                        Err(Failure::Reset) => {}
                        outcome => return outcome,
                    }
                }
            });
            let outcome = advancing.await.map_err(Problem::internal_error)?;
            self.answer(outcome)
        })
    }

    fn begin_anew(&mut self) -> Later<'_, Reply> {
        self.slot = None;
        let (services, tenant) = (Arc::clone(self.services), self.caller.tenant_key);
        let (keep, _, held) = self.keep();
        let beginning = async move { test_reset::begin_anew(&services, tenant, keep, held).await };
        let beginning = in_a_task(beginning);
        Box::pin(async move {
            let outcome = beginning.await?;
            self.answer(outcome)
        })
    }

    fn balance_at(&mut self, at: Timestamp) -> Later<'_, Balance> {
        self.slot = None;
        Box::pin(async move {
            let tenant = self.caller.tenant_key;
            if at > self.clock().await? {
                return Err(Problem::invalid_field("at", "must not be in the future"));
            }
            let reader = self.services.engine.reader();
            if let Some(begun) = history::begun_at(reader, tenant)?
                && at < history::record(reader, begun)?.time
            {
                return Err(Problem::not_found());
            }
            let then = self.services.read_pool.read_long(self.services, tenant, move |services, budget| {
                let engine = &services.engine;
                past_balance::balance_at(engine.machine(), engine.reader(), tenant, at, budget)
            });
            then.await
        })
    }

    fn statement(
        &mut self,
        ledger: Ledger,
        currency: Currency,
        (from, to): (Date, Date),
    ) -> Later<'_, Vec<Line>> {
        self.slot = None;
        Box::pin(async move {
            let share = self.services.shares.of(limits::Owner::Tenant(self.caller.tenant_key));
            self.slot = self.services.shares.page(&share).await?;
            let ask = Ask { ledger, currency, from, to };
            statements::lines(self.services, self.caller.tenant_key, ask).await
        })
    }

    fn receipt(&mut self, id: Id, lang: Option<&'static str>) -> Result<Reply, Problem> {
        let headers = self.arrival.map(|arrival| &arrival.head.headers);
        let form = headers.and_then(|headers| accept::wanted(headers, &FORMS)).unwrap_or(PAGE);
        receipts::read(self.services, self.caller, id, lang, form)
    }

    fn set_auto_convert(&mut self, percent: u8) -> Later<'_, Reply> {
        let (services, number) = (Arc::clone(self.services), self.caller.tenant.number);
        // A caller who goes away must not leave settings that were not taken to the books.
        in_a_task(async move {
            let changing = tenant_settings::change_settings(&services, number, |settings| {
                settings.conversions.auto_cop_percent = percent;
            });
            let (tenant, trace) = changing.await?;
            Ok(Reply::json(200, conversions::show_settings(&tenant.tenant_settings.settings)).trace(trace))
        })
    }

    fn key_use(&mut self, key: String, path: Option<String>) -> Later<'_, Reply> {
        Box::pin(async move {
            let (services, tenant) = (self.services, self.caller.tenant_key);
            let now = self.clock().await?;
            if let Some(body) = idempotency::under_way(services, tenant, &key, path.as_deref(), now) {
                return Ok(Reply::json(200, body));
            }
            let done = self.read_any(move |services, budget| {
                idempotency::done(services, tenant, &key, path.as_deref(), now, budget)
            });
            let done = done.await?.ok_or_else(Problem::not_found)?;
            let shows = match self.kept.lookup(&Method::POST, &done.kept.of.path) {
                Lookup::Found(Found { value: show, parameters, .. }) => {
                    Shows::of(*show, parameters.iter().map(|(_, text)| text))
                }
                Lookup::NotFound | Lookup::WrongMethod { .. } => Shows::default(),
            };
            Ok(Reply::json(200, idempotency::show_done(&done, shows.show, shows.about)?))
        })
    }

    fn search(&mut self, sought: Sought) -> Later<'_, Reply> {
        Box::pin(finding::of_tenant(self, sought))
    }

    fn request(&mut self, id: String) -> Later<'_, Reply> {
        Box::pin(async move {
            Ok(Reply::json(200, finding::request(self.services, self.caller.tenant_key, &id).await?))
        })
    }

    fn deliveries(&mut self, webhook: Id, page: Page) -> Later<'_, Reply> {
        let tenant = self.caller.tenant_key;
        Box::pin(async move {
            let after = webhooks::last_delivery(&page)?;
            let read = self.read_any(move |services, budget| {
                webhooks::deliveries(services, tenant, webhook, &page, after, budget)
            });
            found(read.await?)
        })
    }

    fn resend(&mut self, event: Id) -> Later<'_, Reply> {
        let (services, tenant) = (Arc::clone(self.services), self.caller.tenant_key);
        let (keep, slot, held) = self.keep();
        in_a_task(async move {
            let _slot = slot;
            webhooks::resend(services, tenant, event, keep, held).await
        })
    }

    fn test_notification(&mut self) -> Later<'_, Reply> {
        // A test takes as long as the slowest endpoint.
        self.slot = None;
        let (keep, _, held) = self.keep();
        in_a_task(webhooks::test(Arc::clone(self.services), self.caller.tenant_key, keep, held))
    }

    fn rotate_own_key(&mut self, overlap: i64) -> Later<'_, Reply> {
        Box::pin(own_account::rotate_key(self, overlap))
    }

    fn ask_live(&mut self) -> Later<'_, Reply> {
        Box::pin(own_account::ask_live(self))
    }
}

/// The answer to a read: 200 with the body, or 404 if there is none.
fn found(body: Option<Vec<u8>>) -> Result<Reply, Problem> {
    body.map(|body| Reply::json(200, body)).ok_or_else(Problem::not_found)
}
