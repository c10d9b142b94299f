//! Charges without an intent: each is an attempt on its reference, or a repeat of the newest one
//! (`docs/contract.md, 5.15`).
//!
//! Who makes an attempt holds the reference until its first record is durable. So of however many
//! requests come at once one makes an attempt, and the others find it.

use crate::gateway::ask::failure;
use crate::gateway::card_vault;
use crate::gateway::names::NameOf;
use crate::gateway::tenant_request::TenantRequest;
use crate::gateway::transfers;
use crate::http::respond::Reply;
use crate::store::history::{self, Unreadable};
use actors::{CommandReply, Failure, Guard};
use api::endpoint::Target;
use api::payments::card_tokens::CardToken;
use api::problem::Problem;
use domain::entities::Entity;
use domain::entities::payment::{Payment, Phase, Status};
use domain::index::Space;
use domain::machine::Command;
use domain::machine::Domain;
use domain::refusal::Refusal;
use domain::resources::payments;
use domain::resources::payments::charge::{NewCharge, Secret};
use domain::values::ids::{EntityId, Id};
use domain::values::time::Timestamp;
use wal::Reader;

pub async fn charge(
    request: &mut TenantRequest<'_>,
    new: NewCharge,
    token: Option<CardToken>,
) -> Result<Reply, Problem> {
    let (newest, is_at_once) = newest(request, &new).await?;
    let is_about_it = match newest.as_ref().map(|newest| (newest, newest.status, &newest.phase)) {
        None | Some((_, Status::Canceled, _) | (_, Status::Pending, Phase::Idle)) => false,
        Some((newest, Status::Failed, _)) => is_at_once || repeats(request, newest, &new).await?,
        Some((_, Status::Pending | Status::Completed | Status::Reversed, _)) => true,
    };
    match newest {
        Some(newest) if is_about_it => known(request, newest, new).await,
        before => attempt(request, new, token, before).await,
    }
}

/// Reserves the reference of a charge, and reads what it names: the newest payment on it, and whether that was
/// begun, or was at its bank, when the request came that waited for the reference.
async fn newest(
    request: &mut TenantRequest<'_>,
    new: &NewCharge,
) -> Result<(Option<Payment>, bool), Problem> {
    let (tenant, name) = (request.caller.tenant_key, &*new.external_ref);
    let reader = request.services.engine.reader();
    let reservations = &request.services.names.reservations;
    if let Ok(held) = reservations.hold(tenant, NameOf::Reference(Space::Payment), name, Timestamp::EPOCH) {
        request.names.push(held);
        return Ok((payment_on(reader, tenant, name)?, false));
    }
    let before = payment_on(reader, tenant, name)?;
    request.wait_to_hold(tenant, Space::Payment, name).await;
    let payment = payment_on(reader, tenant, name)?;
    let was_over = |now: &Payment| {
        before.as_ref().is_some_and(|then| then.id == now.id && then.status != Status::Pending)
    };
    let is_at_once = payment.as_ref().is_some_and(|now| !was_over(now));
    Ok((payment, is_at_once))
}

fn payment_on(reader: &Reader, tenant: u64, name: &str) -> Result<Option<Payment>, Unreadable> {
    let Some(id) = history::named(reader, tenant, Space::Payment, name)? else { return Ok(None) };
    match history::entity(reader, tenant, EntityId::payment(id))?.as_deref() {
        Some(Entity::Payment(payment)) => Ok(Some(payment.clone())),
        _ => Err(Unreadable("a reference names a payment that is not there".to_owned())),
    }
}

async fn repeats(request: &TenantRequest<'_>, failed: &Payment, new: &NewCharge) -> Result<bool, Problem> {
    match failed.is_repeated_until(new).filter(|_| request.used.is_none()) {
        Some(until) => Ok(request.services.clock(request.caller.tenant_key).await? < until),
        None => Ok(false),
    }
}

/// The answer about the newest payment on the reference. Whoever asks for the same while it is at its
/// bank waits for its outcome, as long as who asked first.
async fn known(
    request: &mut TenantRequest<'_>,
    newest: Payment,
    mut new: NewCharge,
) -> Result<Reply, Problem> {
    request.names.clear();
    if newest.phase.is_deciding() && newest.is_asked_for_by(&new) {
        request.slot = None;
        let reservations = &request.services.names.reservations;
        reservations.wait_for(request.caller.tenant_key, Space::Payment, &outcome(newest.id)).await;
    }
    new.is_known = true;
    let command = payments::Command::Charge(Box::new(new)).into();
    let outcome = request.send(Target::Entity(EntityId::payment(newest.id)), command, None).await?;
    request.answer(outcome)
}

/// A new attempt after the one before it, which is over, or an intent that nobody has executed.
async fn attempt(
    request: &mut TenantRequest<'_>,
    mut new: NewCharge,
    token: Option<CardToken>,
    before: Option<Payment>,
) -> Result<Reply, Problem> {
    new.before = before.as_ref().map(Payment::before);
    let (tenant, services) = (request.caller.tenant_key, request.services);
    // Names are reserved in this order everywhere, so that no two requests wait for each other: the
    // reference, then the transfer or the card, for which nobody waits in a slot.
    let held_transfer = match new.means.transfer() {
        None => None,
        Some(_) => {
            request.slot = None;
            // Held until the bank has said whether it is there: who comes second finds it taken or free.
            let held = transfers::hold(services, tenant, &new.means).await;
            new.transfer = transfers::known(services, tenant, &new).await?;
            held
        }
    };
    let mut lent = None;
    if let Some(token) = token {
        request.slot = None;
        let card = services.cards.lend(&token.name).await.ok_or_else(card_vault::gone)?;
        new.secret = Secret::Card(std::sync::Arc::clone(&card.card));
        if services.is_rehearsal() {
            card.give_back();
        } else {
            lent = Some(card);
        }
    }
    if let Some(intent) = before.filter(|before| before.status == Status::Pending) {
        let way = make_way(request, intent.id, &new).await;
        if !matches!(way, Ok(Passage::Free))
            && let Some(lent) = lent.take()
        {
            lent.give_back();
        }
        match way? {
            Passage::Free => {}
            // Refused under its own id, so that its key keeps the refusal.
            Passage::Refused(refusal) => new.refused = Some(refusal),
            Passage::Taken => {
                drop(held_transfer);
                return known(request, intent, new).await;
            }
        }
    }
    let id = new.id;
    // The name of a payment that is made now is free.
    let held_outcome = services.names.reservations.hold_name(tenant, Space::Payment, &outcome(id)).await;
    let command = payments::Command::Charge(Box::new(new)).into();
    let until_answer: Guard = Box::new((held_transfer, held_outcome));
    let sent = request.send(Target::New(EntityId::payment(id)), command, Some(until_answer)).await;
    if let Some(lent) = lent.filter(|_| sent.as_ref().map_or(true, nothing_was_ordered)) {
        lent.give_back();
    }
    request.answer(sent?)
}

/// Cancels an intent for another attempt, unless it was executed meanwhile or the attempt is refused.
async fn make_way(request: &TenantRequest<'_>, intent: Id, new: &NewCharge) -> Result<Passage, Problem> {
    request.mandate_now()?;
    let (services, tenant) = (request.services, request.caller.tenant_key);
    let ask = Command::from(payments::Command::MakeWay(Box::new(new.without_code()))).into();
    let id = EntityId::payment(intent);
    let settled = services.engine.ask_entity(tenant, id, false, ask, None, None).await.map_err(failure)?;
    let is_open = matches!(settled.entity.as_deref(), Some(Entity::Payment(it)) if it.is_idle_intent());
    Ok(match settled.refusal {
        None => Passage::Free,
        Some(refusal) if is_open => Passage::Refused(refusal),
        Some(_) => Passage::Taken,
    })
}

enum Passage {
    Free,
    Refused(Refusal),
    Taken,
}

/// The name that is held until the outcome of a payment is told. It is no reference of a tenant's: those
/// have no spaces around them.
fn outcome(payment: Id) -> String {
    format!(" outcome {payment}")
}

/// Whether it is certain that no bank was asked to charge. Who stops may have written the order, and
/// a failure of the disk or of a rule says nothing.
fn nothing_was_ordered(outcome: &CommandReply<Domain>) -> bool {
    match outcome {
        Ok(settled) => {
            let is_written = settled.record.as_ref().is_some_and(|record| !record.entities.is_empty());
            settled.refusal.is_some() && !is_written
        }
        Err(
            Failure::Overloaded
            | Failure::ShareFull
            | Failure::Halted
            | Failure::TooLarge
            | Failure::Reset
            | Failure::Elsewhere,
        ) => true,
        Err(Failure::ShuttingDown | Failure::Storage(_) | Failure::Defect(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_comes_back_only_where_nothing_was_ordered() {
        for (failure, is_certain) in [
            (Failure::Overloaded, true),
            (Failure::ShareFull, true),
            (Failure::Halted, true),
            (Failure::TooLarge, true),
            (Failure::Reset, true),
            (Failure::Elsewhere, true),
            (Failure::ShuttingDown, false),
            (Failure::Storage("the disk is gone".to_owned()), false),
            (Failure::Defect("a rule broke".to_owned()), false),
        ] {
            assert_eq!(nothing_was_ordered(&Err(failure.clone())), is_certain, "{failure:?}");
        }
    }
}
