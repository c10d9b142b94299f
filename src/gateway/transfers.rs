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
use domain::resources::payments::charge::{NewCharge, Transfer};
use domain::resources::payments::{Means, Status};
use domain::values::ids::EntityId;

/// Reserves the transfer that a payer named, until the bank has said whether it is there; `None` for
/// means that are no transfer.
pub async fn hold(services: &Services, tenant: u64, means: &Means) -> Option<NameHeld> {
    let name = means.transfer()?;
    Some(services.reservations.hold_name(tenant, Space::Transfer, &name).await)
}

/// The state of the transfer of a charge. To be called while the transfer is held.
pub async fn known(services: &Services, tenant: u64, new: &NewCharge) -> Result<Transfer, Problem> {
    let Some(name) = new.means.transfer() else { return Ok(Transfer::Free) };
    // A request that held the transfer before, under another reference, may have decided a moment ago.
    if let Some(payment) = ask::named_now(services, tenant, Space::Transfer, &name).await? {
        // One that waits for a notice, for another payer or amount, cannot be paid by the same transfer as this.
        let payment = history::entity(services.engine.reader(), tenant, EntityId::payment(payment))?;
        let is_awaited = matches!(payment.as_deref(), Some(Entity::Payment(payment))
            if payment.status == Status::Pending && payment.notice_traits() != new.notice_traits());
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
