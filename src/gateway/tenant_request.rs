//! What the functions of tenants' endpoints work with (`src/api/endpoint.rs`): the engine, the durable records,
//! and the parts of the server that do more. An endpoint has one [`TenantRequest`], with its Idempotency-Key and its
//! work slot.

use crate::gateway::answer::{Shows, reply};
use crate::gateway::ask::{defect, failure};
use crate::gateway::idempotency::{self, KeyUse};
use crate::gateway::ids::random_id;
use crate::gateway::limits::WorkSlot;
use crate::gateway::reservations::NameHeld;
use crate::gateway::services::Services;
use crate::gateway::{
    batches, charges, finding, otp, own_account, receipts, statements, tenant_settings, test_reset,
    usdt_addresses, webhooks,
};
use crate::http::accept;
use crate::http::listen::Arrival;
use crate::http::respond::{Reply, RequestId};
use crate::http::router::{Found, Lookup, Router};
use crate::store::history;
use crate::store::past_balance;
use crate::store::read_budget::{ReadBudget, Stopped};
use crate::store::stored::Stored;
use actors::{CommandReply, Failure, Guard};
use api::answer::Show;
use api::conversions;
use api::endpoint::{Caller, Environment, Later, LongRead, Official, Server, Target};
use api::page::Page;
use api::payments::card_tokens::CardToken;
use api::payments::receipt::{FORMS, PAGE};
use api::problem::Problem;
use api::records::{Records, Unread};
use api::search::sought::Sought;
use api::statements::Ask;
use domain::commands::{Command, KeyedCommand};
use domain::index::Space;
use domain::kept::KeepRef;
use domain::ledger::Ledger;
use domain::ledger::days::Line;
use domain::machine::Domain;
use domain::rail::Service;
use domain::resources::crypto::deposits::NewDepositAddress;
use domain::resources::payments::c2p::NewIntent;
use domain::resources::payments::charge::NewCharge;
use domain::resources::payments::otp::NewOtp;
use domain::resources::payouts::batch::NewBatch;
use domain::values::date::Date;
use domain::values::ids::Id;
use domain::values::mode::{Mode, PLATFORM};
use domain::values::money::{Currency, Rate, Usdt, Ves};
use domain::values::time::Timestamp;
use domain::view::{self, Balance, View};
use hyper::Method;
use std::mem;
use std::sync::Arc;
use url::Url;

/// The server, at the moment of a tenant's call.
pub struct TenantEnvironment<'a> {
    pub services: &'a Services,
    pub tenant: u64,
    pub now: Timestamp,
}

impl Environment for TenantEnvironment<'_> {
    fn bcv_rate(&self) -> Option<Rate> {
        self.services.prices.bcv(Mode::of(self.tenant), self.now).map(|sample| sample.price)
    }

    fn official(&self) -> Official {
        self.services.prices.official(Mode::of(self.tenant), self.now)
    }

    fn market_rate(&self, currency: Currency) -> Option<Rate> {
        self.services.prices.market.rate(currency, Mode::of(self.tenant), self.now)
    }

    fn network_fees(&self) -> &[Usdt; 4] {
        &self.services.prices.network_fees
    }

    fn confirmations(&self) -> &[Option<u64>; 4] {
        &self.services.prices.confirmations
    }

    fn serves(&self, service: Service) -> bool {
        self.services.rails.serves(self.tenant, service)
    }

    fn new_id(&self) -> Id {
        self.services.fresh_id(self.tenant)
    }

    fn random_id(&self) -> Id {
        random_id()
    }

    fn micro_deposits(&self) -> (Ves, Ves) {
        self.services.rails.micro_deposits(self.tenant)
    }

    fn base_url(&self) -> &str {
        &self.services.site.base_url
    }

    fn mark(&self, parts: &[&[u8]]) -> [u8; 16] {
        self.services.keys.mark(parts)
    }

    fn card_mark(&self, parts: &[&[u8]]) -> [u8; 16] {
        self.services.keys.card_mark(parts)
    }

    fn private_targets(&self) -> bool {
        self.services.webhooks.allows_private_targets()
    }

    fn notice_wait_ms(&self) -> i64 {
        self.services.waits.notice_ms
    }
}

/// What shows the answer that was kept for a POST to a path.
pub type Kept = Router<Option<Show>>;

/// A request of a tenant's.
pub struct TenantRequest<'a> {
    pub services: &'a Arc<Services>,
    pub kept: &'a Kept,
    pub caller: &'a Caller,
    pub request_id: &'a RequestId,
    /// The request as it came; none for the further pages of a list.
    pub arrival: Option<&'a Arrival>,
    pub used: Option<KeyUse>,
    pub shows: Shows,
    /// The work slot, held until the first record is durable or, of a read, until the answer.
    pub slot: Option<WorkSlot>,
    /// The names that are held until the first record is durable.
    pub names: Vec<NameHeld>,
}

impl TenantRequest<'_> {
    /// The answer to be kept and its key, the guard until the first record, and the guard until the
    /// request is answered.
    pub fn keep(&mut self) -> (Option<KeepRef>, Option<Guard>, Option<Guard>) {
        let (names, slot) = (mem::take(&mut self.names), self.slot.take());
        let is_held = !names.is_empty() || slot.is_some();
        let until_record = is_held.then(|| Box::new((names, slot)) as Guard);
        match self.used.take().map(KeyUse::keep) {
            Some((keep, held)) => (Some(keep), until_record, Some(held)),
            None => (None, until_record, None),
        }
    }

    /// Sends a command, with what is held until it is answered.
    pub async fn send(
        &mut self,
        target: Target,
        command: Command,
        also: Option<Guard>,
    ) -> CommandReply<Domain> {
        let (keep, until_record, key) = self.keep();
        let command = KeyedCommand::from(command).keeping(keep);
        let until_answer = match (key, also) {
            (Some(key), Some(also)) => Some(Box::new((key, also)) as Guard),
            (key, also) => key.or(also),
        };
        let (tenant, engine) = (self.caller.tenant_key, &self.services.engine);
        match target {
            Target::Book => {
                engine.ask_book(tenant, command, Some(Box::new((until_record, until_answer)))).await
            }
            Target::Entity(id) => {
                let mut outcome =
                    engine.ask_entity(tenant, id, false, command, until_record, until_answer).await;
                if let Ok(settled) = &mut outcome
                    && let Some(mut performed) = settled.performed.take()
                {
                    // A caller who completes a payment sees the conversion that follows by itself. A timeout is no
                    // failure: the effect is durable, and goes on by itself.
                    let _ = Box::pin(tokio::time::timeout(batches::PATIENCE, performed.wait())).await;
                }
                outcome
            }
            Target::New(id) => engine.ask_entity(tenant, id, true, command, until_record, until_answer).await,
        }
    }

    pub fn answer(&self, outcome: CommandReply<Domain>) -> Result<Reply, Problem> {
        reply(self.services, self.caller.tenant_key, self.shows, outcome, self.request_id)
    }

    /// Reserves a name. Who has to wait for it gives its work slot back: a bank may be asked under the
    /// name, and repeats would keep the tenant's other requests from working. It takes none again, since
    /// who waits for a slot under a name stands in the way of those who wait for the name in a slot.
    pub async fn hold_name(&mut self, owner: u64, space: Space, name: &str) {
        let reservations = &self.services.names.reservations;
        let held = match reservations.try_hold_name(owner, space, name) {
            Some(held) => held,
            None => {
                self.slot = None;
                reservations.hold_name(owner, space, name).await
            }
        };
        self.names.push(held);
    }

    /// The tenant's clock.
    pub async fn clock(&self) -> Result<Timestamp, Problem> {
        match self.services.engine.view(self.caller.tenant_key, view::Query::Clock).await.map_err(failure)? {
            View::Clock(now) => Ok(now),
            _ => Err(defect("the clock of a book is none")),
        }
    }

    /// Reads what may be long, instead of the work in the slot that the request has. Beside others, those of a
    /// tenant that asks for many at once are all read where no request waits behind them.
    pub async fn read_any<T: Send + 'static>(
        &mut self,
        read: impl Fn(&Services, &ReadBudget) -> Result<T, Stopped> + Send + 'static,
    ) -> Result<T, Problem> {
        self.slot = None;
        let (services, tenant) = (self.services, self.caller.tenant_key);
        let share = services.shares.of(tenant);
        self.slot = services.shares.page(&share).await?;
        if self.slot.as_ref().is_some_and(WorkSlot::has_waited) {
            services.read_pool.read_long(services, tenant, read).await
        } else {
            services.read_pool.read(services, tenant, read).await
        }
    }
}

impl Server for TenantRequest<'_> {
    fn ask(&mut self, target: Target, command: Command) -> Later<'_, Reply> {
        Box::pin(async move {
            let outcome = self.send(target, command, None).await;
            self.answer(outcome)
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
            self.hold_name(owner, space, name).await;
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
            let share = self.services.shares.of(self.caller.tenant_key);
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

/// Does something in a task that goes on when the caller goes away.
pub fn in_a_task<'a, T: Send + 'static>(
    doing: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> Later<'a, T> {
    Box::pin(
        async move { tokio::spawn(doing).await.unwrap_or_else(|ended| Err(Problem::internal_error(ended))) },
    )
}
