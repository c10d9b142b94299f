//! Does what a plan says: asks the engine, or looks into what is written.

mod card_token;

use super::{Performer, Planned, failure, reply};
use crate::gateway::ask;
use crate::gateway::batches;
use crate::gateway::finding;
use crate::gateway::idempotency::{self, KeyUse};
use crate::gateway::otp;
use crate::gateway::receipts;
use crate::gateway::secrets;
use crate::gateway::services::Services;
use crate::gateway::shares::WorkSlot;
use crate::gateway::statements;
use crate::gateway::tenant_settings;
use crate::gateway::usdt_addresses;
use crate::gateway::webhooks;
use crate::http::respond::{Reply, RequestId};
use crate::store::history::{self, Unreadable};
use crate::store::past_balance;
use crate::store::read_budget::{ReadBudget, Stopped};
use crate::store::stored::{self, Stored};
use actors::{CommandReply, Guard};
use api::balance;
use api::conversions;
use api::plan::{Caller, Condition, Plan, Work};
use api::problem::Problem;
use api::products::links;
use api::records::{Answered, Read, Unread};
use api::render::shows_secret;
use domain::commands::{Command, KeyedCommand};
use domain::index::{self, Space};
use domain::kept::{KeepRef, Shape};
use domain::machine::Domain;
use domain::platform::{PLATFORM, is_live};
use domain::record::Entity;
use domain::resources::crypto;
use domain::resources::crypto::deposits::NewDepositAddress;
use domain::resources::payments;
use domain::resources::payments::Method as PaymentMethod;
use domain::resources::products;
use domain::resources::products::NewLink;
use domain::values::ids::EntityId;
use std::sync::Arc;

/// The parts of a request that its plan needs.
struct Doing<'a> {
    caller: &'a Caller,
    request_id: &'a RequestId,
    used: Option<KeyUse>,
    /// The work slot, held until the first record is durable or, of a read, until the answer.
    slot: Option<WorkSlot>,
}

impl Performer {
    /// Does what the handler wants done.
    pub(super) async fn carry_out(&self, work: Planned, request_id: &RequestId) -> Result<Reply, Problem> {
        let Planned { plan, caller, used, slot, export: _ } = work;
        let mut doing = Doing { caller: &caller, request_id, used, slot };
        let tenant = caller.tenant_key;
        let engine = &self.services.engine;
        let reader = engine.reader();
        let plan = match plan {
            Plan::If(condition, plan) => {
                self.check(condition, &mut doing).await?;
                *plan
            }
            plan => plan,
        };
        match plan {
            Plan::Answer(status, body) => Ok(Reply::json(status, body)),
            Plan::Book(ask, shape) => {
                let (command, _slot, held) = doing.command(ask, shape);
                let outcome = engine.ask_book(tenant, command, held).await;
                self.answer(tenant, shape, outcome, request_id)
            }
            Plan::Entity(id, ask, shape) => {
                let (command, slot, held) = doing.command(ask, shape);
                let mut outcome = engine.ask_entity(tenant, id, false, command, slot, held).await;
                others_done(&mut outcome).await;
                self.answer(tenant, shape, outcome, request_id)
            }
            Plan::Create { space, name, id, mut ask, shape } => {
                let held_name = self.services.reservations.hold_name(tenant, space, &name).await;
                let known = match (history::named(reader, tenant, space, &name)?, &ask) {
                    // Later C2P attempts on the same reference may be newer; this is a repeat all
                    // the same.
                    (Some(newest), Command::Payments(payments::Command::Charge(charge))) => {
                        Some(history::attempt_by(reader, tenant, newest, charge.means.method())?)
                    }
                    (known, _) => known,
                };
                match &mut ask {
                    Command::Payments(payments::Command::Charge(charge)) => charge.is_known = known.is_some(),
                    Command::Payments(payments::Command::RequestC2p(new)) if is_live(tenant) => {
                        // It takes as long as the bank.
                        doing.slot = None;
                        let previous = known.map(|id| history::entity(reader, tenant, EntityId::payment(id)));
                        let previous = previous.transpose()?.flatten();
                        let previous = match previous.as_deref() {
                            Some(Entity::Payment(payment)) => Some(payment),
                            Some(_) | None => None,
                        };
                        Box::pin(otp::before_intent(&self.services, tenant, new, previous)).await?;
                    }
                    _ => {}
                }
                let (command, slot, held) = doing.command(ask, shape);
                let until_record: Guard = Box::new((held_name, slot));
                let (id, new) =
                    known.map_or((id, true), |known| (EntityId { kind: id.kind, id: known }, false));
                self.answer(
                    tenant,
                    shape,
                    engine.ask_entity(tenant, id, new, command, Some(until_record), held).await,
                    request_id,
                )
            }
            Plan::New(id, mut ask, shape) => {
                if let Command::Otps(payments::otp::Command::Request(new)) = &mut ask
                    && is_live(tenant)
                {
                    doing.slot = None;
                    Box::pin(otp::before_debit(&self.services, tenant, new)).await?;
                }
                let (command, slot, held) = doing.command(ask, shape);
                let outcome = engine.ask_entity(tenant, id, true, command, slot, held).await;
                self.answer(tenant, shape, outcome, request_id)
            }
            // Boxed: each connection has room for its longest future, and most of the time of a
            // small one goes into moving it.
            plan => Box::pin(self.carry_out_rest(plan, doing)).await,
        }
    }

    /// Carries out the plans that are rarer, or longer.
    async fn carry_out_rest(&self, plan: Plan, mut doing: Doing<'_>) -> Result<Reply, Problem> {
        let (tenant, request_id) = (doing.caller.tenant_key, doing.request_id);
        let engine = &self.services.engine;
        let reader = engine.reader();
        let mut is_crowd = false;
        if plan.goes_through_records() {
            doing.slot = None;
            let share = self.services.shares.of(tenant);
            doing.slot = self.services.shares.page(&share).await?;
            is_crowd = doing.slot.as_ref().is_some_and(WorkSlot::has_waited);
        }
        match plan {
            Plan::If(..)
            | Plan::Answer(..)
            | Plan::Book(..)
            | Plan::Entity(..)
            | Plan::Create { .. }
            | Plan::New(..) => Err(ask::defect("a plan came a way that is not its own")),
            Plan::Read(read) => self.look_up(tenant, is_crowd, read).await,
            Plan::View(query, show) => {
                let view = engine.view(tenant, query).await.map_err(failure)?;
                Ok(Reply::json(200, show(view, doing.caller.livemode())?))
            }
            Plan::Found(find, ask, shape) => {
                let id = find(&Stored::of(reader, tenant)).map_err(stored::problem)?;
                let (command, slot, held) = doing.command(ask, shape);
                let outcome = engine.ask_entity(tenant, id, false, command, slot, held).await;
                self.answer(tenant, shape, outcome, request_id)
            }
            Plan::Work(work) => self.work(work, is_crowd, doing).await,
        }
    }

    /// The deposit address of a customer in live mode: the one that is there, or the next that
    /// derives from the network's seed.
    async fn open_address(
        &self,
        name: String,
        new: NewDepositAddress,
        mut doing: Doing<'_>,
    ) -> Result<Reply, Problem> {
        let (tenant, request_id) = (doing.caller.tenant_key, doing.request_id);
        let services = &self.services;
        // One after the other for the next address: nobody waits for that in a slot.
        doing.slot = None;
        let held_name = services.reservations.hold_name(tenant, Space::DepositAddress, &name).await;
        let known = history::named(services.engine.reader(), tenant, Space::DepositAddress, &name)?;
        let (new, held_address) = match known {
            Some(_) => (new, None),
            None => usdt_addresses::derived_in_live(services, tenant, new).await?,
        };
        let id = EntityId::deposit_address(known.unwrap_or(new.id));
        let ask = crypto::deposits::Command::Open(Box::new(new)).into();
        let (command, _, held) = doing.command(ask, Shape::DepositAddress);
        let until_record: Guard = Box::new((held_name, held_address));
        let outcome =
            services.engine.ask_entity(tenant, id, known.is_none(), command, Some(until_record), held);
        reply(tenant, Shape::DepositAddress, outcome.await, request_id)
    }

    /// Whether a plan may be carried out.
    /// Checks a condition of a plan, such as that an entity exists; the problem if it does not
    /// hold.
    async fn check(&self, condition: Condition, doing: &mut Doing<'_>) -> Result<(), Problem> {
        let tenant = doing.caller.tenant_key;
        match condition {
            Condition::Known(id) => match history::entity(self.services.engine.reader(), tenant, id)? {
                Some(_) => Ok(()),
                None => Err(Problem::not_found()),
            },
            Condition::MayReach(url) => {
                // A name's look-up takes as long as its name server, so the work slot is given back
                // first.
                doing.slot = None;
                Box::pin(self.services.webhooks.aim(tenant, &url))
                    .await
                    .map_err(|why| Problem::invalid_field("url", why))
            }
        }
    }

    /// The answer to a command to an entity, with the secret that it shows, if it shows one.
    fn answer(
        &self,
        tenant: u64,
        shape: Shape,
        outcome: CommandReply<Domain>,
        request_id: &RequestId,
    ) -> Result<Reply, Problem> {
        if shows_secret(shape) {
            secrets::reply_with_secret(&self.services, tenant, shape, outcome, request_id)
        } else {
            reply(tenant, shape, outcome, request_id)
        }
    }

    /// Reads what is durable.
    async fn look_up(&self, tenant: u64, is_crowd: bool, read: Read) -> Result<Reply, Problem> {
        let reader = self.services.engine.reader();
        let answered = match read {
            Read::Few(read) => read(&Stored::of(reader, tenant)),
            Read::FewNow(read) => {
                let now = self.clock(tenant).await?;
                read(&Stored::of(reader, tenant).at(now))
            }
            Read::Many(read) => {
                self.read(tenant, is_crowd, move |services, budget| {
                    within_budget(read(&Stored::of(services.engine.reader(), tenant).within(budget)))
                })
                .await?
            }
            Read::ManyNow(read) => {
                let now = self.clock(tenant).await?;
                self.read(tenant, is_crowd, move |services, budget| {
                    let stored = Stored::of(services.engine.reader(), tenant).at(now);
                    within_budget(read(&stored.within(budget)))
                })
                .await?
            }
        };
        Ok(Reply::json(200, answered.map_err(stored::problem)?))
    }

    /// Does what takes more than one command.
    async fn work(&self, work: Work, is_crowd: bool, mut doing: Doing<'_>) -> Result<Reply, Problem> {
        let (tenant, request_id) = (doing.caller.tenant_key, doing.request_id);
        let engine = &self.services.engine;
        let reader = engine.reader();
        match work {
            Work::CreateOnce { name, transfer, id, ask, shape } => {
                // Names are reserved in this order everywhere, so that no two requests wait for
                // each other. The transfer is held until the bank has said whether it is there: a
                // second request finds it taken or free, and does not wait for it in a slot.
                doing.slot = None;
                let held_name = self.services.reservations.hold_name(tenant, Space::Payment, &name).await;
                let held_transfer =
                    self.services.reservations.hold_name(tenant, Space::Transfer, &transfer).await;
                let known = history::named(reader, tenant, Space::Payment, &name)?;
                let known = known
                    .map(|newest| history::attempt_by(reader, tenant, newest, PaymentMethod::PagoMovil))
                    .transpose()?;
                // A request that held the transfer before, under another reference, may have
                // decided a moment ago.
                let used =
                    ask::named_now(&self.services, tenant, Space::Transfer, &transfer).await?.is_some();
                let (command, _, held) = doing.command(ask(used), shape);
                let (id, new) =
                    known.map_or((id, true), |known| (EntityId { kind: id.kind, id: known }, false));
                self.answer(
                    tenant,
                    shape,
                    engine
                        .ask_entity(
                            tenant,
                            id,
                            new,
                            command,
                            Some(Box::new(held_name)),
                            Some(Box::new((held_transfer, held))),
                        )
                        .await,
                    request_id,
                )
            }
            Work::ChargeToken(token, new) => self.charge_token(token, *new, doing).await,
            Work::OpenAddress { name, new } => self.open_address(name, *new, doing).await,
            Work::Advance(advance_ms) => {
                // An advance takes as long as the deadlines on the way, so the work slot is given
                // back first.
                doing.slot = None;
                let (command, _, held) = doing.command(Command::MoveClock, Shape::Clock);
                self.answer(
                    tenant,
                    Shape::Clock,
                    engine.advance(tenant, advance_ms, command, held).await,
                    request_id,
                )
            }
            Work::BalanceAt(at) => {
                if at > self.clock(tenant).await? {
                    return Err(Problem::invalid_field("at", "must not be in the future"));
                }
                let then =
                    self.services.read_pool.read_long(&self.services, tenant, move |services, budget| {
                        let engine = &services.engine;
                        past_balance::balance_at(engine.machine(), engine.reader(), tenant, at, budget)
                    });
                Ok(Reply::json(200, balance::show(&then.await?, doing.caller.livemode())))
            }
            Work::Statement(ask) => {
                let lines = statements::lines(&self.services, tenant, ask).await?;
                Ok(Reply::json(200, api::statements::show(ask.currency, &lines)))
            }
            Work::Receipt { id, lang, form } => receipts::read(&self.services, doing.caller, id, lang, form),
            Work::Batch(batch) => {
                let (services, request_id) = (Arc::clone(&self.services), request_id.clone());
                let (keep, slot, held) = doing.keep(Shape::Batch);
                let paying =
                    tokio::spawn(batches::carry_out(services, tenant, batch, keep, (slot, held), request_id));
                paying.await.unwrap_or_else(|ended| Err(Problem::internal_error(ended)))
            }
            Work::ReadBatch(id) => {
                let batch = self.read(tenant, is_crowd, move |services, budget| {
                    batches::read(services, tenant, id, budget)
                });
                found(batch.await?)
            }
            Work::AddLink { product, given, fresh, link } => {
                let found = history::entity(reader, tenant, product)?.ok_or_else(Problem::not_found)?;
                let mut free = None;
                for slug in links::slugs(&found, given, &fresh) {
                    let held = self.services.reservations.hold_name(PLATFORM, Space::Slug, &slug).await;
                    if reader
                        .index_get(&index::name(PLATFORM, Space::Slug, &slug))
                        .map_err(Unreadable::from)?
                        .is_none()
                    {
                        free = Some((slug, held));
                        break;
                    }
                }
                let (slug, held_slug) = free.unzip();
                let (command, slot, held) = doing.command(
                    products::Command::AddLink(Box::new(NewLink { slug, ..*link })).into(),
                    Shape::LinkCreated,
                );
                let until_record: Guard = Box::new((held_slug, slot));
                self.answer(
                    tenant,
                    Shape::LinkCreated,
                    engine.ask_entity(tenant, product, false, command, Some(until_record), held).await,
                    request_id,
                )
            }
            Work::SetAutoConvert(percent) => {
                let (services, number) = (Arc::clone(&self.services), doing.caller.tenant.number);
                // A task of its own: a caller who goes away must not leave settings that were not taken
                // to the books.
                let changing = tokio::spawn(async move {
                    tenant_settings::change_settings(&services, number, |settings| {
                        settings.conversions.auto_cop_percent = percent
                    })
                    .await
                });
                let (tenant, trace) =
                    changing.await.unwrap_or_else(|ended| Err(Problem::internal_error(ended)))?;
                Ok(Reply::json(200, conversions::show_settings(&tenant.tenant_settings.settings))
                    .trace(trace))
            }
            Work::Deliveries(id, page) => {
                let after = webhooks::last_delivery(&page)?;
                let deliveries = self.read(tenant, is_crowd, move |services, budget| {
                    webhooks::deliveries(services, tenant, id, &page, after, budget)
                });
                found(deliveries.await?)
            }
            Work::Search(sought) => {
                let (now, whose) = (self.clock(tenant).await?, (tenant, doing.caller.tenant.id));
                let found = self.read(tenant, is_crowd, move |services, budget| {
                    finding::search(services, whose, now, &sought, budget)
                });
                Ok(Reply::json(200, found.await?))
            }
            Work::Request(id) => Ok(Reply::json(200, finding::request(&self.services, tenant, &id)?)),
            Work::Resend(id) => {
                let services = Arc::clone(&self.services);
                let (keep, _slot, held) = doing.keep(Shape::Resent);
                let resending = tokio::spawn(webhooks::resend(services, tenant, id, keep, held));
                resending.await.unwrap_or_else(|ended| Err(Problem::internal_error(ended)))
            }
            Work::TestNotification => {
                // A test takes as long as the slowest endpoint, so the work slot is given back
                // first.
                doing.slot = None;
                webhooks::test(&self.services, tenant).await
            }
            Work::Kept { key, path } => {
                let (services, now) = (&self.services, self.clock(tenant).await?);
                if let Some(body) = idempotency::under_way(services, tenant, &key, path.as_deref(), now) {
                    return Ok(Reply::json(200, body));
                }
                let done = self.read(tenant, is_crowd, move |services, budget| {
                    idempotency::done(services, tenant, &key, path.as_deref(), now, budget)
                });
                found(done.await?)
            }
        }
    }

    /// Reads what may be long. Beside others, those of a tenant that asks for many at once are all
    /// read where no request waits behind them.
    async fn read<T: Send + 'static>(
        &self,
        tenant: u64,
        is_crowd: bool,
        read: impl Fn(&Services, &ReadBudget) -> Result<T, Stopped> + Send + 'static,
    ) -> Result<T, Problem> {
        let (services, pool) = (&self.services, &self.services.read_pool);
        if is_crowd {
            pool.read_long(services, tenant, read).await
        } else {
            pool.read(services, tenant, read).await
        }
    }
}

impl Doing<'_> {
    /// The command, the guard until its first record, and the guard until it is answered.
    fn command(self, ask: Command, shape: Shape) -> (KeyedCommand, Option<Guard>, Option<Guard>) {
        let (keep, slot, held) = self.keep(shape);
        (KeyedCommand::from(ask).keeping(keep), slot, held)
    }

    /// The answer to be kept and its key, the guard until the first record, and the guard until the
    /// request is answered.
    fn keep(self, shape: Shape) -> (Option<KeepRef>, Option<Guard>, Option<Guard>) {
        let slot = self.slot.map(|slot| Box::new(slot) as Guard);
        let Some(used) = self.used else { return (None, slot, None) };
        let (keep, held) = used.keep(shape);
        (Some(keep), slot, Some(held))
    }
}

/// Separates a read that was stopped, by its budget or by the disk, from one with an answer.
fn within_budget(answered: Answered) -> Result<Answered, Stopped> {
    match answered {
        Err(Unread::Stopped(stopped)) => Err(stopped.into()),
        answered => Ok(answered),
    }
}

/// The answer to a read: 200 with the body, or 404 if there is none.
fn found(body: Option<Vec<u8>>) -> Result<Reply, Problem> {
    body.map(|body| Reply::json(200, body)).ok_or_else(Problem::not_found)
}

/// Waits for a short time for the follow-up effects of a record: a caller who completes a payment
/// sees the conversion that follows by itself.
async fn others_done(outcome: &mut CommandReply<Domain>) {
    if let Ok(settled) = outcome
        && let Some(mut performed) = settled.performed.take()
    {
        // A timeout is no failure: the effect is durable, and goes on by itself.
        let _ = Box::pin(tokio::time::timeout(batches::PATIENCE, performed.wait())).await;
    }
}
