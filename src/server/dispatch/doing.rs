//! Does what a plan says: asks the engine, or looks into what is written.

use super::{Gateway, Use, failure, reply};
use crate::server::ask;
use crate::server::batches;
use crate::server::history::{self, Position, Unreadable};
use crate::server::respond::{Reply, RequestId};
use crate::server::secrets;
use crate::server::sheets;
use crate::server::webhooks;
use actors::{Held, Outcome};
use api::balance;
use api::conversions;
use api::crypto;
use api::links;
use api::operations;
use api::page::bad_cursor;
use api::plan::{Caller, Plan};
use api::problem::Problem;
use api::sessions;
use api::testing;
use api::writer::Object;
use domain::commands::{Ask, Command};
use domain::ids::{EntityId, Id};
use domain::index::{self, Space};
use domain::kept::{KeepRef, Kept, Shape};
use domain::machine::Domain;
use domain::payments::Method as PaymentMethod;
use domain::platform::PLATFORM;
use domain::products::{NewLink, product_of};
use domain::record::Entity;
use domain::time::Timestamp;
use domain::view::{Query, View};
use std::sync::Arc;

/// Everything about the request that the plan's doing needs.
pub(super) struct Doing<'a> {
    pub caller: &'a Caller,
    pub request_id: &'a RequestId,
    pub used: Option<Use>,
}

impl Gateway {
    /// Does what the handler wants done.
    pub(super) async fn carry_out(&self, plan: Plan, doing: Doing<'_>) -> Result<Reply, Problem> {
        let (tenant, request_id) = (doing.caller.tenant_key, doing.request_id);
        let engine = &self.services.engine;
        let reader = engine.reader();
        let plan = match plan {
            Plan::Knowing(id, _) if history::entity(reader, tenant, id)?.is_none() => {
                return Err(Problem::not_found());
            }
            Plan::Knowing(_, plan) => *plan,
            Plan::Aimed(url, plan) => {
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
                let (command, held) = doing.command(ask, shape);
                let outcome = engine.ask_book(tenant, command, held).await;
                reply(tenant, shape, outcome, request_id)
            }
            Plan::Entity(id, ask, shape) => {
                let (command, held) = doing.command(ask, shape);
                let mut outcome = engine.ask_entity(tenant, id, false, command, None, held).await;
                others_done(&mut outcome).await;
                reply(tenant, shape, outcome, request_id)
            }
            Plan::Create { space, name, id, ask, shape } => {
                let held_name = self.services.desk.hold_name(tenant, space, &name).await;
                let known = match (history::named(reader, tenant, space, &name)?, &ask) {
                    // C2P attempts may have come after it on the same reference; it is a repeat all
                    // the same.
                    (Some(newest), Ask::Charge(charge)) => {
                        Some(history::attempt_by(reader, tenant, newest, charge.means.method())?)
                    }
                    (known, _) => known,
                };
                let (command, held) = doing.command(ask, shape);
                let (id, new) =
                    known.map_or((id, true), |known| (EntityId { kind: id.kind, id: known }, false));
                reply(
                    tenant,
                    shape,
                    engine.ask_entity(tenant, id, new, command, Some(Box::new(held_name)), held).await,
                    request_id,
                )
            }
            Plan::New(id, ask, shape) => {
                let (command, held) = doing.command(ask, shape);
                reply(
                    tenant,
                    shape,
                    engine.ask_entity(tenant, id, true, command, None, held).await,
                    request_id,
                )
            }
            // On the heap: each connection has room for its longest future, and most of the time of
            // a small one goes into moving it.
            plan => Box::pin(self.carry_out_rest(plan, doing)).await,
        }
    }

    /// The same for what is rarer, or longer.
    async fn carry_out_rest(&self, plan: Plan, doing: Doing<'_>) -> Result<Reply, Problem> {
        let (tenant, request_id) = (doing.caller.tenant_key, doing.request_id);
        let engine = &self.services.engine;
        let reader = engine.reader();
        match plan {
            // One condition is all that a handler sets; the others are carried out above.
            Plan::Knowing(..)
            | Plan::Aimed(..)
            | Plan::Answer(..)
            | Plan::Book(..)
            | Plan::Entity(..)
            | Plan::Create { .. }
            | Plan::New(..) => Err(Problem::internal_error()),
            Plan::CreateOnce { name, transfer, id, ask, shape } => {
                // Always in this order, so that no two wait for each other. The transfer is held
                // until the bank has said whether it is there: who comes second finds it taken or
                // free.
                let held_name = self.services.desk.hold_name(tenant, Space::Payment, &name).await;
                let held_transfer = self.services.desk.hold_name(tenant, Space::Transfer, &transfer).await;
                let known = history::named(reader, tenant, Space::Payment, &name)?;
                let known = known
                    .map(|newest| history::attempt_by(reader, tenant, newest, PaymentMethod::PagoMovil))
                    .transpose()?;
                // Whoever held it before, and found it under another reference, may have decided a
                // moment ago.
                let used =
                    ask::named_now(&self.services, tenant, Space::Transfer, &transfer).await?.is_some();
                let (command, held) = doing.command(ask(used), shape);
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
                let (command, held) = doing.command(ask, shape);
                reply(
                    tenant,
                    shape,
                    engine.ask_entity(tenant, payment, false, command, None, held).await,
                    request_id,
                )
            }
            Plan::Advance(advance_ms) => {
                let (command, held) = doing.command(Ask::MoveClock, Shape::Clock);
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
                _ => Err(Problem::internal_error()),
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
                _ => Err(Problem::internal_error()),
            },
            Plan::BalanceAt(at) => {
                if at > self.clock(tenant).await? {
                    return Err(Problem::invalid_field("at", "must not be in the future"));
                }
                let then = history::balance_at(engine.machine(), reader, tenant, at)?;
                Ok(Reply::json(200, balance::show(&then, doing.caller.livemode())))
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
                reply(
                    tenant,
                    shape,
                    engine.ask_entity(tenant, id, false, command, None, held).await,
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
                Ok(Reply::json(200, history::list(reader, tenant, kind, &facets, &page, show)?))
            }
            Plan::ListKinds { parts, page, show } => {
                Ok(Reply::json(200, history::list_kinds(reader, tenant, parts, &page, show)?))
            }
            Plan::Attempts { name, facets, page, show } => {
                Ok(Reply::json(200, history::attempts(reader, tenant, &name, &facets, &page, show)?))
            }
            Plan::Movements(ask) => {
                let after = ask
                    .page
                    .after
                    .as_deref()
                    .map(|bytes| Position::read(bytes).ok_or_else(bad_cursor))
                    .transpose()?;
                let now = self.clock(tenant).await?;
                Ok(Reply::json(200, history::movements(reader, tenant, &ask, after, now)?))
            }
            Plan::Batch(batch) => {
                let (services, request_id) = (Arc::clone(&self.services), request_id.clone());
                let (keep, held) = doing.keep(Shape::Batch);
                let paying =
                    tokio::spawn(batches::carry_out(services, tenant, batch, keep, held, request_id));
                paying.await.unwrap_or_else(|_| Err(Problem::internal_error()))
            }
            Plan::ReadBatch(id) => batches::read(&self.services, tenant, id),
            Plan::Events { after, page, world } => {
                Ok(Reply::json(200, history::events(reader, tenant, after, &page, world)?))
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
                    let held = self.services.desk.hold_name(PLATFORM, Space::Slug, &slug).await;
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
                let (command, held) =
                    doing.command(Ask::AddLink(Box::new(NewLink { slug, ..*link })), Shape::LinkCreated);
                reply(
                    tenant,
                    Shape::LinkCreated,
                    engine.ask_entity(tenant, product, false, command, Some(Box::new(held_slug)), held).await,
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
                let (command, held) = doing.command(ask, shape);
                reply(
                    tenant,
                    shape,
                    engine.ask_entity(tenant, EntityId { kind, id }, false, command, None, held).await,
                    request_id,
                )
            }
            Plan::CryptoBalance => match engine.view(tenant, Query::Crypto).await.map_err(failure)? {
                View::Crypto(now) => {
                    Ok(Reply::json(200, crypto::show_balance(&now, doing.caller.livemode())))
                }
                _ => Err(Problem::internal_error()),
            },
            Plan::SetAutoConvert(percent) => {
                let (services, number) = (Arc::clone(&self.services), doing.caller.tenant.number);
                // A task of its own: a caller who goes away must not leave a sheet that was not
                // taken to the books.
                let changing = tokio::spawn(async move {
                    sheets::change_settings(&services, number, |settings| {
                        settings.conversions.auto_cop_percent = percent
                    })
                    .await
                });
                let (tenant, trace) = changing.await.unwrap_or_else(|_| Err(Problem::internal_error()))?;
                Ok(Reply::json(200, conversions::show_settings(&tenant.sheet.settings)).trace(trace))
            }
            Plan::Signing { id, new, ask, shape } => {
                let (command, held) = doing.command(ask, shape);
                let outcome = engine.ask_entity(tenant, id, new, command, None, held).await;
                secrets::reply_with_secret(&self.services, tenant, shape, outcome, request_id)
            }
            Plan::Webhooks => Ok(Reply::json(200, webhooks::list(reader, tenant)?)),
            Plan::Deliveries(id, page) => {
                Ok(Reply::json(200, webhooks::deliveries(&self.services, tenant, id, &page)?))
            }
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

    /// GET /v1/idempotency/:key: the newest use of a key, on any path unless one is named.
    async fn idempotency(&self, tenant: u64, key: &str, path: Option<&str>) -> Result<Reply, Problem> {
        let now = self.clock(tenant).await?;
        if let Some((path, since)) = self.services.desk.key_in_use(tenant, key, path) {
            let first_seen = now.minus_ms(self.services.now().since_ms(since));
            let body = Object::new()
                .text("key", key)
                .plain("state", "in_progress")
                .plain("method", "POST")
                .text("path", path);
            let body = body
                .plain("firstSeenAt", first_seen)
                .plain("expiresAt", first_seen.plus_ms(domain::kept::KEPT_MS));
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
            let matches =
                kept.of.key == key && path.is_none_or(|path| kept.of.path == path) && kept.stands_at(now);
            if matches
                && newest.as_ref().is_none_or(|(_, other, _)| other.of.first_seen <= kept.of.first_seen)
            {
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
        let keep = KeepRef {
            key,
            path,
            body_hash,
            first_seen,
            shape,
            request_id: self.request_id.as_str().to_owned(),
        };
        (Some(keep), Some(Box::new(held)))
    }
}

/// Waits, but not for long, for what the record set going elsewhere: who completes a payment finds
/// what became of the part of it that is converted by itself.
async fn others_done(outcome: &mut Outcome<Domain>) {
    if let Ok(settled) = outcome
        && let Some(mut performed) = settled.performed.take()
    {
        // Too late is no failure: it is durable, and goes on by itself.
        let _ = Box::pin(tokio::time::timeout(batches::PATIENCE, performed.wait())).await;
    }
}
