//! Does what a plan says: asks the engine, or looks into what is written.

use super::{Gateway, Use, failure, reply};
use crate::gateway::ask;
use crate::gateway::batches;
use crate::gateway::idempotency;
use crate::gateway::secrets;
use crate::gateway::services::Services;
use crate::gateway::shares::WorkSlot;
use crate::gateway::tenant_settings;
use crate::gateway::webhooks;
use crate::http::respond::{Reply, RequestId};
use crate::store::history::{self, Position, Unreadable};
use crate::store::past_balance;
use crate::store::read_budget::{ReadBudget, Stopped};
use actors::{CommandReply, Guard};
use api::balance;
use api::checkout::sessions;
use api::conversions;
use api::crypto;
use api::page::bad_cursor;
use api::payments::operations;
use api::plan::{Caller, Plan};
use api::problem::Problem;
use api::products::links;
use api::testing;
use domain::commands::{Ask, Command};
use domain::index::{self, Space};
use domain::kept::{KeepRef, Shape};
use domain::machine::Domain;
use domain::platform::PLATFORM;
use domain::record::Entity;
use domain::resources::payments::Method as PaymentMethod;
use domain::resources::products::{NewLink, product_of};
use domain::values::ids::{EntityId, Id};
use domain::values::time::Timestamp;
use domain::view::{Query, View};
use std::sync::Arc;

/// Everything about the request that the plan's doing needs.
pub(super) struct Doing<'a> {
    pub caller: &'a Caller,
    pub request_id: &'a RequestId,
    pub used: Option<Use>,
    /// Until the first record is durable or, of a read, until the answer.
    pub slot: Option<WorkSlot>,
}

impl Gateway {
    /// Does what the handler wants done.
    pub(super) async fn carry_out(&self, plan: Plan, mut doing: Doing<'_>) -> Result<Reply, Problem> {
        let (tenant, request_id) = (doing.caller.tenant_key, doing.request_id);
        let engine = &self.services.engine;
        let reader = engine.reader();
        let plan = match plan {
            Plan::Knowing(id, _) if history::entity(reader, tenant, id)?.is_none() => {
                return Err(Problem::not_found());
            }
            Plan::Knowing(_, plan) => *plan,
            Plan::Aimed(url, plan) => {
                // It takes as long as whoever knows the name.
                doing.slot = None;
                Box::pin(self.services.webhooks.aim(tenant, &url))
                    .await
                    .map_err(|why| Problem::invalid_field("url", why))?;
                *plan
            }
            plan => plan,
        };
        match plan {
            Plan::Answer(status, body) => Ok(Reply::json(status, body)),
            Plan::Book(ask, shape) => {
                let (command, _slot, held) = doing.command(ask, shape);
                let outcome = engine.ask_book(tenant, command, held).await;
                reply(tenant, shape, outcome, request_id)
            }
            Plan::Entity(id, ask, shape) => {
                let (command, slot, held) = doing.command(ask, shape);
                let mut outcome = engine.ask_entity(tenant, id, false, command, slot, held).await;
                others_done(&mut outcome).await;
                reply(tenant, shape, outcome, request_id)
            }
            Plan::Create { space, name, id, ask, shape } => {
                let held_name = self.services.reservations.hold_name(tenant, space, &name).await;
                let known = match (history::named(reader, tenant, space, &name)?, &ask) {
                    // C2P attempts may have come after it on the same reference; it is a repeat all
                    // the same.
                    (Some(newest), Ask::Charge(charge)) => {
                        Some(history::attempt_by(reader, tenant, newest, charge.means.method())?)
                    }
                    (known, _) => known,
                };
                let (command, slot, held) = doing.command(ask, shape);
                let until_record: Guard = Box::new((held_name, slot));
                let (id, new) =
                    known.map_or((id, true), |known| (EntityId { kind: id.kind, id: known }, false));
                reply(
                    tenant,
                    shape,
                    engine.ask_entity(tenant, id, new, command, Some(until_record), held).await,
                    request_id,
                )
            }
            Plan::New(id, ask, shape) => {
                let (command, slot, held) = doing.command(ask, shape);
                reply(
                    tenant,
                    shape,
                    engine.ask_entity(tenant, id, true, command, slot, held).await,
                    request_id,
                )
            }
            // On the heap: each connection has room for its longest future, and most of the time of
            // a small one goes into moving it.
            plan => Box::pin(self.carry_out_rest(plan, doing)).await,
        }
    }

    /// The same for what is rarer, or longer.
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
            // One condition is all that a handler sets; the others are carried out above.
            Plan::Knowing(..)
            | Plan::Aimed(..)
            | Plan::Answer(..)
            | Plan::Book(..)
            | Plan::Entity(..)
            | Plan::Create { .. }
            | Plan::New(..) => Err(ask::defect("a plan came a way that is not its own")),
            Plan::CreateOnce { name, transfer, id, ask, shape } => {
                // Always in this order, so that no two wait for each other. The transfer is held
                // until the bank has said whether it is there: who comes second finds it taken or
                // free, and does not wait for it in a slot.
                doing.slot = None;
                let held_name = self.services.reservations.hold_name(tenant, Space::Payment, &name).await;
                let held_transfer =
                    self.services.reservations.hold_name(tenant, Space::Transfer, &transfer).await;
                let known = history::named(reader, tenant, Space::Payment, &name)?;
                let known = known
                    .map(|newest| history::attempt_by(reader, tenant, newest, PaymentMethod::PagoMovil))
                    .transpose()?;
                // Whoever held it before, and found it under another reference, may have decided a
                // moment ago.
                let used =
                    ask::named_now(&self.services, tenant, Space::Transfer, &transfer).await?.is_some();
                let (command, _, held) = doing.command(ask(used), shape);
                let (id, new) =
                    known.map_or((id, true), |known| (EntityId { kind: id.kind, id: known }, false));
                reply(
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
            Plan::OfChargeback(id, ask, shape) => {
                let payment = history::charged_back(reader, tenant, id)?.ok_or_else(Problem::not_found)?;
                let (command, slot, held) = doing.command(ask, shape);
                reply(
                    tenant,
                    shape,
                    engine.ask_entity(tenant, payment, false, command, slot, held).await,
                    request_id,
                )
            }
            Plan::Advance(advance_ms) => {
                // It takes as long as what falls due on the way.
                doing.slot = None;
                let (command, _, held) = doing.command(Ask::MoveClock, Shape::Clock);
                reply(
                    tenant,
                    Shape::Clock,
                    engine.advance(tenant, advance_ms, command, held).await,
                    request_id,
                )
            }
            Plan::Clock => {
                let (status, body) = testing::clock(self.clock(tenant).await?);
                Ok(Reply::json(status, body))
            }
            Plan::Balance => match engine.view(tenant, Query::Balance).await.map_err(failure)? {
                View::Balance(now) => Ok(Reply::json(200, balance::show(&now, doing.caller.livemode()))),
                _ => Err(ask::defect("the balance of a book is none")),
            },
            Plan::SellerBalance(merchant) => {
                match engine.view(tenant, Query::Seller(merchant)).await.map_err(failure)? {
                    View::Seller(Some(now)) => {
                        Ok(Reply::json(200, balance::show_seller(&now, doing.caller.livemode())))
                    }
                    _ => Err(Problem::not_found()),
                }
            }
            Plan::CopBalance => match engine.view(tenant, Query::CopBalance).await.map_err(failure)? {
                View::CopBalance(now) => {
                    Ok(Reply::json(200, balance::show_cop(&now, doing.caller.livemode())))
                }
                _ => Err(ask::defect("the balance of a book is none")),
            },
            Plan::BalanceAt(at) => {
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
                let (command, slot, held) = doing.command(ask, shape);
                reply(
                    tenant,
                    shape,
                    engine.ask_entity(tenant, id, false, command, slot, held).await,
                    request_id,
                )
            }
            Plan::ReadNamed(space, name, kind, show) => {
                let id = history::named(reader, tenant, space, &name)?.ok_or_else(Problem::not_found)?;
                let entity =
                    history::entity(reader, tenant, EntityId { kind, id })?.ok_or_else(Problem::not_found)?;
                Ok(Reply::json(200, show(&entity)))
            }
            Plan::List { kind, facets, page, show } => {
                let list = self.read(tenant, is_crowd, move |services, _| {
                    Ok(history::list(services.engine.reader(), tenant, kind, &facets, &page, show)?)
                });
                Ok(Reply::json(200, list.await?))
            }
            Plan::ListKinds { parts, page, show } => {
                let list = self.read(tenant, is_crowd, move |services, _| {
                    Ok(history::list_kinds(services.engine.reader(), tenant, parts.clone(), &page, show)?)
                });
                Ok(Reply::json(200, list.await?))
            }
            Plan::Attempts { name, facets, page, show } => {
                let attempts = self.read(tenant, is_crowd, move |services, budget| {
                    let reader = services.engine.reader();
                    history::attempts(reader, tenant, &name, &facets, &page, show, budget)
                });
                Ok(Reply::json(200, attempts.await?))
            }
            Plan::Movements(ask) => {
                let after = ask
                    .page
                    .after
                    .as_deref()
                    .map(|bytes| Position::read(bytes).ok_or_else(bad_cursor))
                    .transpose()?;
                let now = self.clock(tenant).await?;
                let movements = self.read(tenant, is_crowd, move |services, budget| {
                    history::movements(services.engine.reader(), tenant, &ask, after, now, budget)
                });
                Ok(Reply::json(200, movements.await?))
            }
            Plan::Batch(batch) => {
                let (services, request_id) = (Arc::clone(&self.services), request_id.clone());
                let (keep, slot, held) = doing.keep(Shape::Batch);
                let paying =
                    tokio::spawn(batches::carry_out(services, tenant, batch, keep, (slot, held), request_id));
                paying.await.unwrap_or_else(|ended| Err(Problem::internal_error(ended)))
            }
            Plan::ReadBatch(id) => {
                let batch = self.read(tenant, is_crowd, move |services, budget| {
                    batches::read(services, tenant, id, budget)
                });
                found(batch.await?)
            }
            Plan::Events { after, page, world } => {
                let events = self.read(tenant, is_crowd, move |services, _| {
                    Ok(history::events(services.engine.reader(), tenant, after, &page, world)?)
                });
                Ok(Reply::json(200, events.await?))
            }
            Plan::Event(id, world) => match history::event(reader, tenant, id, world)? {
                Some(event) => Ok(Reply::json(200, event)),
                None => Err(Problem::not_found()),
            },
            Plan::ReadPaymentNamed(name, show) => {
                let spaces = [Space::Payment, Space::Checkout];
                let found = spaces
                    .into_iter()
                    .find_map(|space| history::named(reader, tenant, space, &name).transpose())
                    .transpose()?;
                let payment = EntityId::payment(found.ok_or_else(Problem::not_found)?);
                let entity = history::entity(reader, tenant, payment)?.ok_or_else(Problem::not_found)?;
                Ok(Reply::json(200, show(&entity)))
            }
            Plan::AddLink { product, given, fresh, link } => {
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
                let (command, slot, held) =
                    doing.command(Ask::AddLink(Box::new(NewLink { slug, ..*link })), Shape::LinkCreated);
                let until_record: Guard = Box::new((held_slug, slot));
                reply(
                    tenant,
                    Shape::LinkCreated,
                    engine.ask_entity(tenant, product, false, command, Some(until_record), held).await,
                    request_id,
                )
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
                let (session, status) =
                    history::session(reader, tenant, id, now)?.ok_or_else(Problem::not_found)?;
                Ok(Reply::json(200, sessions::with_secret(sessions::show(&session, status), id, secret)))
            }
            Plan::Operation(id) => self.operation(tenant, id),
            Plan::ReadShown(id, show) => {
                match history::entity(reader, tenant, id)?.and_then(|entity| show(&entity)) {
                    Some(body) => Ok(Reply::json(200, body)),
                    None => Err(Problem::not_found()),
                }
            }
            Plan::EntityNamed { space, name, kind, ask, shape } => {
                let id = history::named(reader, tenant, space, &name)?.ok_or_else(Problem::not_found)?;
                let (command, slot, held) = doing.command(ask, shape);
                reply(
                    tenant,
                    shape,
                    engine.ask_entity(tenant, EntityId { kind, id }, false, command, slot, held).await,
                    request_id,
                )
            }
            Plan::CryptoBalance => match engine.view(tenant, Query::Crypto).await.map_err(failure)? {
                View::Crypto(now) => {
                    Ok(Reply::json(200, crypto::show_balance(&now, doing.caller.livemode())))
                }
                _ => Err(ask::defect("the balance of a book is none")),
            },
            Plan::SetAutoConvert(percent) => {
                let (services, number) = (Arc::clone(&self.services), doing.caller.tenant.number);
                // A task of its own: a caller who goes away must not leave a tenant's settings that was not
                // taken to the books.
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
            Plan::Signing { id, new, ask, shape } => {
                let (command, slot, held) = doing.command(ask, shape);
                let outcome = engine.ask_entity(tenant, id, new, command, slot, held).await;
                secrets::reply_with_secret(&self.services, tenant, shape, outcome, request_id)
            }
            Plan::Webhooks => Ok(Reply::json(200, webhooks::list(reader, tenant)?)),
            Plan::Deliveries(id, page) => {
                let after = webhooks::last_delivery(&page)?;
                let deliveries = self.read(tenant, is_crowd, move |services, budget| {
                    webhooks::deliveries(services, tenant, id, &page, after, budget)
                });
                found(deliveries.await?)
            }
            Plan::Resend(id) => {
                let services = Arc::clone(&self.services);
                let (keep, _slot, held) = doing.keep(Shape::Resent);
                let resending = tokio::spawn(webhooks::resend(services, tenant, id, keep, held));
                resending.await.unwrap_or_else(|ended| Err(Problem::internal_error(ended)))
            }
            Plan::TestNotification => {
                // It takes as long as the slowest endpoint.
                doing.slot = None;
                webhooks::test(&self.services, tenant).await
            }
            Plan::Kept { key, path } => {
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

    fn operation(&self, tenant: u64, id: Id) -> Result<Reply, Problem> {
        let reader = self.services.engine.reader();
        let (entity, n) = id.entity_and_operation();
        for whose in [
            EntityId::payment(entity),
            EntityId::payout(entity),
            EntityId::otp(entity),
            EntityId::cop_payment(entity),
        ] {
            if let Some(found) = history::entity(reader, tenant, whose)?
                && let Some(body) = operations::show(id, n, &found)
            {
                return Ok(Reply::json(200, body));
            }
        }
        Err(Problem::not_found())
    }
}

impl Doing<'_> {
    /// The command, what is held until its first record, and until it is answered.
    fn command(self, ask: Ask, shape: Shape) -> (Command, Option<Guard>, Option<Guard>) {
        let (keep, slot, held) = self.keep(shape);
        (Command { ask, keep }, slot, held)
    }

    /// Which answer is kept for which key, what is held until the first record, and until it is
    /// answered.
    fn keep(self, shape: Shape) -> (Option<KeepRef>, Option<Guard>, Option<Guard>) {
        let slot = self.slot.map(|slot| Box::new(slot) as Guard);
        let Some(Use { key, path, body_hash, held }) = self.used else { return (None, slot, None) };
        // The decision fills in when the key was first seen, on the tenant's clock.
        let first_seen = Timestamp::from_unix_ms(0);
        let keep = KeepRef {
            key,
            path,
            body_hash,
            first_seen,
            shape,
            request_id: self.request_id.as_str().to_owned(),
        };
        (Some(keep), slot, Some(Box::new(held)))
    }
}

/// What was looked for, if it is there.
fn found(body: Option<Vec<u8>>) -> Result<Reply, Problem> {
    body.map(|body| Reply::json(200, body)).ok_or_else(Problem::not_found)
}

/// Waits, but not for long, for what the record set going elsewhere: who completes a payment finds
/// what became of the part of it that is converted by itself.
async fn others_done(outcome: &mut CommandReply<Domain>) {
    if let Ok(settled) = outcome
        && let Some(mut performed) = settled.performed.take()
    {
        // Too late is no failure: it is durable, and goes on by itself.
        let _ = Box::pin(tokio::time::timeout(batches::PATIENCE, performed.wait())).await;
    }
}
