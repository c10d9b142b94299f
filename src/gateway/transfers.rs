//! Transfers that payers name, before there is a payment: each pays for one thing
//! (`docs/contract.md, 5.8, 18.6`).

use crate::gateway::ask;
use crate::gateway::notices;
use crate::gateway::reservations::NameHeld;
use crate::gateway::services::Services;
use api::problem::Problem;
use domain::index::Space;
use domain::platform::is_live;
use domain::resources::payments::Means;
use domain::resources::payments::charge::NewCharge;

/// Reserves the transfer that a payer named, until the bank has said whether it is there; `None` for
/// means that are no transfer.
pub async fn hold(services: &Services, tenant: u64, means: &Means) -> Option<NameHeld> {
    let name = means.transfer()?;
    Some(services.reservations.hold_name(tenant, Space::Transfer, &name).await)
}

/// Whether the transfer of a charge has paid for something of the tenant's already. To be called while
/// the transfer is held.
pub async fn is_used(services: &Services, tenant: u64, new: &NewCharge) -> Result<bool, Problem> {
    let Some(name) = new.means.transfer() else { return Ok(false) };
    // A request that held the transfer before, under another reference, may have decided a moment ago.
    if ask::named_now(services, tenant, Space::Transfer, &name).await?.is_some() {
        return Ok(true);
    }
    match (new.notice_traits(), &new.means) {
        (Some(traits), Means::Transfer { reference, .. }) if is_live(tenant) => {
            notices::is_used_up(services, tenant, &traits, reference)
        }
        _ => Ok(false),
    }
}
