//! The endpoints of tenants (interface B): keys, modes and scopes, the call of an endpoint, and what the server does
//! for it (`Server` of `src/api/endpoint.rs`). The steps of a request before are in `src/server/mod.rs`.
//!
//! What a call means does not belong here: it is read and shown in `src/api/`, and decided by the domain.

use crate::cluster::questions::Question;
use crate::gateway::ask::failure;
use crate::gateway::exports::{Export, Pages};
use crate::gateway::idempotency::{self, KeyUse, Owner, Reserved, Sent};
use crate::gateway::limits::{self, WorkSlot};
use crate::gateway::names::NameOf;
use crate::gateway::services::{Pass, Services};
use crate::gateway::streams::Turn;
use crate::gateway::tenant_request::{
    self, Call, Kept, Shows, TenantEnvironment, TenantRequest, TenantSecrets, in_a_task,
};
use crate::gateway::waiting::Again;
use crate::gateway::{
    batches, charges, finding, otp, own_account, receipts, statements, tenant_settings, test_reset,
    usdt_addresses, waiting, webhooks,
};
use crate::http::accept;
use crate::http::body::{Inbound, without_unexpected};
use crate::http::listen::{Arrival, OnBehalf};
use crate::http::respond::{Reply, Trace};
use crate::http::router::{Found, Lookup, Parameters, Router};
use crate::store::history::{self, Stored};
use crate::store::past_balance;
use actors::Failure;
use api::answer::Show;
use api::conversions;
use api::endpoint::{Caller, Context, Handler, KnownKey, Later, LongRead, Server, Target};
use api::page::Page;
use api::payments::card_tokens::CardToken;
use api::payments::receipt::{FORMS, PAGE};
use api::problem::{BadField, Problem};
use api::records::{Records, Unread};
use api::refusals;
use api::routes::{Route, page_routes, routes};
use api::search::sought::Sought;
use api::statements::Ask;
use api::tenants::approvals::APPROVE_OPERATION;
use api::testing::RESET_OPERATION;
use bytes::Bytes;
use domain::entities::deposit_address::DepositAddress;
use domain::entities::mandate_approval::{self, MandateApproval};
use domain::index::Space;
use domain::ledger::Ledger;
use domain::ledger::balance::Balance;
use domain::ledger::book::Book;
use domain::ledger::days::Line;
use domain::machine::{Command, KeyedCommand};
use domain::platform::hash_key;
use domain::refusal::MandateRefusal;
use domain::resources::mandate_approvals::Consent;
use domain::resources::payments::c2p::NewIntent;
use domain::resources::payments::charge::NewCharge;
use domain::resources::payments::otp::NewOtp;
use domain::resources::payouts::batch::NewBatch;
use domain::resources::tenants::keys::{KeyChange, NewKey};
use domain::values::ids::{Id, PLATFORM};
use domain::values::money::Currency;
use domain::values::time::{Date, Timestamp};
use hyper::Method;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName};
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;
use url::Url;

/// A request as its endpoint gets it. The steps before, in their order, are in `src/server/mod.rs`.
pub struct Request<'a> {
    pub parameters: Parameters,
    pub arrival: &'a Arrival,
    pub body: Bytes,
    /// The body as it arrives, for endpoints that read another form than JSON.
    pub inbound: &'a mut Inbound,
    /// The Idempotency-Key, if one was sent and counts; or what is bad about it.
    pub key: Result<Option<&'a str>, BadField>,
    pub unexpected: Vec<BadField>,
    pub slot: Option<WorkSlot>,
}

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

#[derive(Clone)]
pub struct Gateway {
    services: Arc<Services>,
    /// What shows the answer that was kept for a POST to a path.
    kept: Arc<Kept>,
}

/// A request that was read as far as its row says, and what is held for it.
pub struct Prepared {
    source: Source,
    body: Bytes,
    unexpected: Vec<BadField>,
    used: Option<KeyUse>,
    slot: Option<WorkSlot>,
    /// Of a call that waited for an approval and has it.
    given: Option<Consent>,
    /// While the request lasts, the test data of its caller does not begin anew.
    pass: Option<Pass>,
}

#[derive(Clone)]
struct Source {
    call: Call,
    handler: Handler,
    parameters: Parameters,
    shows: Shows,
    has_card: bool,
}

impl Prepared {
    /// A call that is made again: its Idempotency-Key and its slot are those of who has it made.
    fn again(again: Again, by: &mut TenantRequest<'_>) -> Prepared {
        let Again { route, caller, parameters, body, consent } = again;
        let Route { needs, operation, .. } = route;
        let source = Source {
            call: Call { caller, needs, operation, request_id: by.request_id.clone() },
            handler: route.endpoint.handler,
            shows: Shows::of(route.endpoint.show, &parameters),
            parameters,
            has_card: route.has_card,
        };
        let (used, slot) = (by.used.take(), by.slot.take());
        let (body, unexpected) = (Bytes::from(body), Vec::new());
        Prepared { source, body, unexpected, used, slot, given: Some(consent), pass: None }
    }
}

/// What shows the answer of a row; that of an approval is the answer of the call that was approved.
fn show_of(route: &Route) -> Option<Show> {
    if route.operation == APPROVE_OPERATION { Some(waiting::approved) } else { route.endpoint.show }
}

impl Gateway {
    pub fn new(services: Arc<Services>) -> Gateway {
        let shows = routes()
            .into_iter()
            .chain(page_routes())
            .map(|row| (row.method.clone(), row.path, show_of(&row)));
        Gateway { kept: Arc::new(Router::new(shows)), services }
    }

    /// The same over other services.
    pub fn over(&self, services: Arc<Services>) -> Gateway {
        Gateway { services, kept: Arc::clone(&self.kept) }
    }

    /// Authenticates the caller: key, live mode, test mode, scope, in this order.
    pub fn caller(&self, arrival: &Arrival, route: &Route) -> Result<Caller, Problem> {
        let caller = self.recognise(arrival)?;
        tenant_request::check(&route.needs, &caller)?;
        Ok(caller)
    }

    /// The caller as it is now: while its body came and it waited, its key may have ended, or may do less.
    fn still(&self, caller: Caller, arrival: &Arrival, route: &Route) -> Result<Caller, Problem> {
        match self.services.callers.directory.is_current(&caller, || self.services.now()) {
            true => Ok(caller),
            false => self.caller(arrival, route),
        }
    }

    /// Whose key it is; 401 if nobody's.
    pub fn recognise(&self, arrival: &Arrival) -> Result<Caller, Problem> {
        let hash = match (arrival.head.extensions.get::<OnBehalf>(), sent_key(&arrival.head.headers)) {
            (Some(OnBehalf(hash)), _) => *hash,
            (None, Some(key)) => hash_key(key),
            (None, None) => return Err(without_key(&arrival.head.headers)),
        };
        match self.services.callers.directory.recognise(&hash, self.services.now()) {
            Some(caller) => Ok(caller),
            None => Err(without_key(&arrival.head.headers)),
        }
    }

    pub fn recognise_key(&self, key: &str) -> Option<Caller> {
        self.services.callers.directory.recognise(&hash_key(key), self.services.now())
    }
}

/// The key that a request brings; none where it brings two: one may be a proxy's, and another account's.
pub fn sent_key(headers: &HeaderMap) -> Option<&str> {
    let mut sent = headers.get_all(API_KEY).iter();
    let key = sent.next()?;
    if sent.all(|again| again == key) { key.to_str().ok() } else { None }
}

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
    pub fn key_of(&self, arrival: &Arrival) -> Option<(u64, Id)> {
        let caller = self.recognise_key(arrival.head.headers.get(API_KEY)?.to_str().ok()?)?;
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
            _ => self.services.names.pass(caller.tenant_key).await,
        };
        let caller = self.still(caller, asked.arrival, route)?;
        let shows = Shows::of(show_of(route), &asked.parameters);
        if let Some(key) = key {
            let path = asked.arrival.head.uri.path();
            let request_id = asked.arrival.request_id.as_str();
            let (owner, by) = match route.is_of_platform {
                true => (Owner::AtPlatform(caller.tenant_key), Some(caller.key.id)),
                false => (Owner::Tenant(caller.tenant_key), None),
            };
            let sent = Sent { key, path, body: &asked.body, has_card: route.has_card, by, request_id };
            used = match idempotency::reserve(&self.services, owner, &sent).await? {
                Reserved::New(used) => Some(used),
                Reserved::Answered(answer) => {
                    let tenant = caller.tenant_key;
                    let secrets = TenantSecrets { services: &self.services, tenant, sent: Some(key) };
                    let (status, body) = answer.show(shows.show, shows.about, &secrets)?;
                    let reply = Reply::json(status, body)
                        .trace(Trace { seq: Some(answer.seq), timing: None })
                        .replayed();
                    return Ok(ControlFlow::Break(reply));
                }
            };
        }
        let Route { needs, operation, .. } = *route;
        let source = Source {
            call: Call { caller, needs, operation, request_id: asked.arrival.request_id.clone() },
            handler: route.endpoint.handler,
            parameters: mem::take(&mut asked.parameters),
            shows,
            has_card: route.has_card,
        };
        let (body, unexpected) = (mem::take(&mut asked.body), mem::take(&mut asked.unexpected));
        let slot = asked.slot.take();
        let mut prepared = Prepared { source, body, unexpected, used, slot, given: None, pass };
        let head = &asked.arrival.head;
        if let Some(table) = &route.table
            && let Some((export, bad)) =
                Export::wanted(Some(table), route.takes_query, &head.headers, route.path, head.uri.query())
        {
            prepared.unexpected = bad;
            // Boxed: every request has room for this future, and few lists are exported.
            let reply = Box::pin(self.export(export, prepared, asked.arrival)).await?;
            return Ok(ControlFlow::Break(reply));
        }
        Ok(ControlFlow::Continue(prepared))
    }

    async fn export(&self, export: Export, first: Prepared, arrival: &Arrival) -> Result<Reply, Problem> {
        // The further pages are read by the list's own endpoint.
        let (gateway, source) = (self.clone(), first.source.clone());
        let further: Pages = Arc::new(move |query| {
            let (gateway, source) = (gateway.clone(), source.clone());
            Box::pin(async move {
                // Every page is like the first: a book in doubt is not shown.
                if gateway.services.engine.is_halted(source.call.caller.tenant_key) {
                    return Err(failure(Failure::Halted));
                }
                let (body, unexpected) = (Bytes::new(), Vec::new());
                let work =
                    Prepared { source, body, unexpected, used: None, slot: None, given: None, pass: None };
                Ok(gateway.perform(work, None, Some(&query)).await?.body.clone())
            })
        });
        let first = self.perform(first, Some(arrival), Some(&export.query(None))).await?;
        export.reply(&first.body, further, arrival.request_id.clone())
    }

    /// Calls the endpoint; without an arrival for the further pages of a list.
    pub async fn perform(
        &self,
        work: Prepared,
        arrival: Option<&Arrival>,
        query: Option<&str>,
    ) -> Result<Reply, Problem> {
        let Prepared { source, body, unexpected, used, slot, given, pass: _pass } = work;
        let Source { call, handler, parameters, shows, has_card } = &source;
        let Call { caller, request_id, .. } = call;
        let Gateway { services, kept } = self;
        let env = TenantEnvironment { services, tenant: caller.tenant_key, now: services.now() };
        let (banks, shows, names) = (services.banks.now(), *shows, Vec::new());
        let turn = match arrival {
            Some(arrival) => arrival.head.extensions.get::<Turn>().cloned(),
            None => None,
        };
        let server = &mut TenantRequest {
            services,
            kept,
            call,
            caller,
            request_id,
            arrival,
            // Of a card nothing stays.
            body: if *has_card { Bytes::new() } else { body.clone() },
            used,
            shows,
            slot,
            names,
            turn,
            consent: given,
        };
        let mut context =
            Context { caller, env: &env, banks: &banks, body, parameters, query, unexpected, server };
        let reply = handler(&mut context).await;
        if context.unexpected.is_empty() { reply } else { without_unexpected(reply, context.unexpected) }
    }
}

impl Server for TenantRequest<'_> {
    fn ask(&mut self, target: Target, command: Command) -> Later<'_, Reply> {
        Box::pin(async move {
            let outcome = self.send(target, command, None).await?;
            self.answer(outcome)
        })
    }

    fn book(&mut self) -> Later<'_, (Box<Book>, Timestamp)> {
        Box::pin(self.services.book(self.caller.tenant_key))
    }

    fn records(&self) -> Box<dyn Records + '_> {
        Box::new(Stored::of(self.services.engine.reader(), self.caller.tenant_key))
    }

    fn read_long(&mut self, read: LongRead) -> Later<'_, Vec<u8>> {
        let tenant = self.caller.tenant_key;
        Box::pin(async move {
            let answered = self.read_any(move |services, budget| {
                match read(&Stored::of(services.engine.reader(), tenant).within(budget)) {
                    Err(Unread::Stopped(stopped)) => Err(stopped),
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
            let reference = NameOf::Reference(space);
            match self.services.names.reservations.hold(owner, reference, name, Timestamp::EPOCH) {
                Ok(held) => self.names.push(held),
                Err(_) => self.wait_to_hold(owner, space, name).await,
            }
            Ok(())
        })
    }

    fn free_slug(&mut self, slugs: Vec<String>) -> Later<'_, Option<String>> {
        let sending = self.services.callers.sending.as_ref();
        if sending.is_some() {
            self.slot = None;
        }
        Box::pin(async move {
            for slug in slugs {
                let held = self.services.names.reservations.hold_name(PLATFORM, Space::Slug, &slug).await;
                // Of an account that has left, where it is now is asked below.
                let owner = history::on_slug(self.services.engine.reader(), &slug)?.map(|(owner, ..)| owner);
                if owner.is_some_and(|owner| !self.services.callers.is_elsewhere(owner)) {
                    continue;
                }
                // Asked while it is held here: of two partitions that claim it at once none gets it, or one.
                if let Some(sending) = sending
                    && sending.others_hold(Question::Claim(slug.clone())).await?
                {
                    continue;
                }
                self.names.push(held);
                return Ok(Some(slug));
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
        Box::pin(async move {
            self.mandate_now()?;
            otp::before_next_intent(self.services, self.caller.tenant_key, new, known).await
        })
    }

    fn send_debit_code<'s>(&'s mut self, new: &'s mut NewOtp) -> Later<'s, ()> {
        self.slot = None;
        Box::pin(async move {
            self.mandate_now()?;
            otp::before_debit(self.services, self.caller.tenant_key, new).await
        })
    }

    fn charge(&mut self, new: NewCharge, token: Option<CardToken>) -> Later<'_, Reply> {
        Box::pin(charges::charge(self, new, token))
    }

    fn derive_address<'s>(&'s mut self, new: &'s mut DepositAddress) -> Later<'s, bool> {
        let (services, tenant) = (self.services, self.caller.tenant_key);
        Box::pin(async move {
            let held = usdt_addresses::derive_in_live(services, tenant, new).await?;
            let is_derived = held.is_some();
            self.names.extend(held);
            Ok(is_derived)
        })
    }

    fn pay_batch(&mut self, batch: Box<NewBatch>) -> Later<'_, Reply> {
        let services = Arc::clone(self.services);
        let (keep, slot, held) = self.keep();
        let slot = self.telling(slot);
        let path = self.arrival.map(|arrival| arrival.head.uri.path().to_owned());
        let call = (self.call.clone(), path, mem::take(&mut self.body));
        let asked = (keep, self.consent.take());
        in_a_task(batches::carry_out(services, call, batch, asked, (slot, held)))
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
        let (keep, _, held) = self.keep();
        let (services, tenant) = (Arc::clone(self.services), self.caller.tenant_key);
        let beginning = in_a_task(test_reset::begin_anew(services, tenant, keep, held, false));
        Box::pin(async move {
            let outcome = beginning.await?;
            self.answer(outcome)
        })
    }

    fn balance_at(&mut self, at: Timestamp) -> Later<'_, Balance> {
        self.slot = None;
        Box::pin(async move {
            let tenant = self.caller.tenant_key;
            if at > self.services.clock(tenant).await? {
                return Err(Problem::invalid_field("at", "must not be in the future"));
            }
            let reader = self.services.engine.reader();
            if let Some(begun) = history::begun_at(reader, tenant)? {
                let begun = history::record(reader, begun)?.time;
                if at < begun {
                    let why = format!(
                        "the test data of this account began anew at {begun} (POST /v1/test/reset), and nothing \
                         of before is shown; ask for a moment since then"
                    );
                    return Err(Problem::refused(404, "not_found", why));
                }
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
        // No mandate would count what is converted then.
        if self.caller.key.details.mandate.is_some() {
            let nothing = MandateRefusal::nothing(Currency::Cop).into();
            return Box::pin(async move { Err(refusals::problem(&nothing)) });
        }
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
            let mut places = vec![(services.now(), Owner::AtPlatform(tenant))];
            // Of an account that is elsewhere the first partition has no more than that.
            if services.callers.elsewhere(&self.caller.tenant).is_none() {
                places.insert(0, (services.clock(tenant).await?, Owner::Tenant(tenant)));
            }
            for (now, owner) in &places {
                if let Some(body) = idempotency::under_way(services, *owner, &key, path.as_deref(), *now) {
                    return Ok(Reply::json(200, body));
                }
            }
            let done = self.read_any(move |services, budget| {
                for (now, owner) in &places {
                    let done = idempotency::done(services, *owner, &key, path.as_deref(), *now, budget)?;
                    if done.is_some() {
                        return Ok(done.map(|done| (done, key.clone())));
                    }
                }
                Ok(None)
            });
            let Some((done, key)) = done.await? else {
                return match (self.services.callers.first(), self.arrival) {
                    (Some(first), Some(arrival)) => {
                        first.ask_first(&self.caller.key.hash, arrival, Bytes::new()).await
                    }
                    _ => Err(Problem::not_found()),
                };
            };
            let shows = match self.kept.lookup(&Method::POST, &done.kept.of.path) {
                Lookup::Found(Found { value: show, parameters, .. }) => Shows::of(*show, &parameters),
                Lookup::NotFound | Lookup::WrongMethod { .. } => Shows::default(),
            };
            Ok(Reply::json(200, idempotency::show_done(&done, &key, shows.show, shows.about)?))
        })
    }

    fn search(&mut self, sought: Sought) -> Later<'_, Reply> {
        Box::pin(finding::of_tenant(self, sought))
    }

    fn request(&mut self, id: String) -> Later<'_, Reply> {
        Box::pin(finding::request(self.services, self.caller.tenant_key, id))
    }

    fn deliveries(&mut self, webhook: Id, page: Page) -> Later<'_, Reply> {
        let tenant = self.caller.tenant_key;
        Box::pin(async move {
            let after = page.position()?.map(Id::from_bytes);
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

    fn key(&mut self, id: Id) -> Later<'_, Option<KnownKey>> {
        Box::pin(async move {
            let key = match &self.caller.key {
                own if own.id == id => Some(Arc::clone(own)),
                own => {
                    let book = self.services.platform_book().await?;
                    book.keys.get(&id).filter(|key| key.tenant == own.tenant).cloned()
                }
            };
            Ok(key.map(|key| self.services.callers.directory.known(key)))
        })
    }

    fn keys(&mut self) -> Later<'_, Vec<KnownKey>> {
        Box::pin(self.services.keys_of(self.caller.tenant.number))
    }

    fn make_key(&mut self, new: NewKey) -> Later<'_, Reply> {
        Box::pin(own_account::make_key(self, new))
    }

    fn change_key(&mut self, id: Id, change: KeyChange) -> Later<'_, Reply> {
        Box::pin(own_account::change_key(self, id, change))
    }

    fn revoke_key(&mut self, id: Id, with_successors: bool) -> Later<'_, Reply> {
        Box::pin(own_account::revoke_key(self, id, with_successors))
    }

    fn rotate_own_key(&mut self, overlap: i64) -> Later<'_, Reply> {
        Box::pin(own_account::rotate_key(self, overlap))
    }

    fn ask_live(&mut self) -> Later<'_, Reply> {
        Box::pin(own_account::ask_live(self))
    }

    fn decide_waiting(
        &mut self,
        approval: MandateApproval,
        status: mandate_approval::Status,
        is_approved: bool,
    ) -> Later<'_, Reply> {
        Box::pin(async move {
            waiting::undecided(status)?;
            if !is_approved {
                return waiting::reject(self, approval).await;
            }
            let (services, tenant, id) = (Arc::clone(self.services), self.caller.tenant_key, approval.id);
            let again = waiting::again(self, approval).await?;
            tenant_request::check(&again.route.needs, &again.caller)?;
            // Of whoever approves: the key may have ended while the call was read again.
            self.mandate_now()?;
            let keep = self.used.as_ref().map(|used| used.keep.clone());
            let gateway = Gateway { services: Arc::clone(&services), kept: Arc::clone(self.kept) };
            let work = Prepared::again(again, self);
            // Whoever approves and goes away leaves nothing half done.
            in_a_task(async move {
                let reply = gateway.perform(work, None, None).await?;
                waiting::answer(&services, tenant, id, keep, reply).await
            })
            .await
        })
    }
}

fn found(body: Option<Vec<u8>>) -> Result<Reply, Problem> {
    body.map(|body| Reply::json(200, body)).ok_or_else(Problem::not_found)
}
