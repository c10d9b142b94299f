//! Transfers that payers name, before there is a payment: each pays for one thing
//! (`docs/contract.md, 5.8, 18.6`).

use crate::gateway::ask;
use crate::gateway::notices;
use crate::gateway::reservations::NameHeld;
use crate::gateway::services::Services;
use crate::store::history;
use api::problem::Problem;
use domain::index::Space;
use domain::platform::is_live;
use domain::record::Entity;
use domain::resources::notices::Traits;
use domain::resources::payments::charge::{NewCharge, Transfer};
use domain::resources::payments::{Means, Payment, Status};
use domain::values::ids::{EntityId, Id};

/// Reserves the transfer that a payer named, until the bank has said whether it is there; `None` for
/// means that are no transfer.
pub async fn hold(services: &Services, tenant: u64, means: &Means) -> Option<NameHeld> {
    let name = means.transfer()?;
    Some(services.names.reservations.hold_name(tenant, Space::Transfer, &name).await)
}

/// The payment that a transfer belongs to; none of means that are no transfer. A request that held the
/// transfer before, under another reference, may have decided a moment ago, so that is waited for.
async fn payment_of(services: &Services, tenant: u64, means: &Means) -> Result<Option<Payment>, Problem> {
    let Some(name) = means.transfer() else { return Ok(None) };
    let Some(id) = ask::named_now(services, tenant, Space::Transfer, &name).await? else { return Ok(None) };
    payment(services, tenant, id).map(Some)
}

fn payment(services: &Services, tenant: u64, id: Id) -> Result<Payment, Problem> {
    let found = history::entity(services.engine.reader(), tenant, EntityId::payment(id))?;
    match found.as_deref() {
        Some(Entity::Payment(payment)) => Ok(payment.clone()),
        _ => Err(ask::defect("a transfer belongs to a payment that is not there")),
    }
}

/// Whether the payment that has a transfer's name waits for another transfer than one with these data.
pub fn is_for_another(services: &Services, tenant: u64, named: Id, traits: &Traits) -> Result<bool, Problem> {
    Ok(payment(services, tenant, named)?.awaits_another(Some(traits)))
}

/// Whether the payment that a transfer belongs to still waits for the bank's word about it.
pub async fn is_sought(services: &Services, tenant: u64, means: &Means) -> Result<bool, Problem> {
    let payment = payment_of(services, tenant, means).await?;
    Ok(payment.is_some_and(|payment| payment.status == Status::Pending))
}

/// The state of the transfer of a charge. To be called while the transfer is held.
pub async fn known(services: &Services, tenant: u64, new: &NewCharge) -> Result<Transfer, Problem> {
    if let Some(payment) = payment_of(services, tenant, &new.means).await? {
        let is_awaited = payment.awaits_another(new.notice_traits().as_ref());
        return Ok(if is_live(tenant) && is_awaited { Transfer::Awaited } else { Transfer::Used });
    }
    match (new.notice_traits(), &new.means) {
        (Some(traits), Means::Transfer { reference, .. })
            if is_live(tenant) && notices::is_used_up(services, tenant, &traits, reference)? =>
        {
            Ok(Transfer::Used)
        }
        _ => Ok(Transfer::Free),
    }
}
