//! Transfers that payers name, before there is a payment: each pays for one thing
//! (`docs/contract.md, 5.8, 18.6`).

use crate::gateway::ask;
use crate::gateway::names::Held;
use crate::gateway::notices::{self, payment};
use crate::gateway::services::Services;
use api::problem::Problem;
use domain::entities::means::Means;
use domain::entities::payment::{Payment, Status};
use domain::index::Space;
use domain::resources::payments::charge::{NewCharge, Transfer};
use domain::values::ids::is_live;

/// Reserves the transfer that a payer named, until the bank has said whether it is there; `None` for
/// means that are no transfer.
pub async fn hold(services: &Services, tenant: u64, means: &Means) -> Option<Held> {
    let name = means.transfer()?;
    Some(services.names.reservations.hold_name(tenant, Space::Transfer, &name).await)
}

/// The payment that a transfer belongs to; none of means that are no transfer. A request that held the
/// transfer before, under another reference, may have decided a moment ago, so that is waited for.
async fn payment_of(services: &Services, tenant: u64, means: &Means) -> Result<Option<Payment>, Problem> {
    let Some(name) = means.transfer() else { return Ok(None) };
    let Some(id) = ask::named_now(services, tenant, Space::Transfer, &name, false).await? else {
        return Ok(None);
    };
    payment(services, tenant, id).map(Some)
}

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
            if is_live(tenant) && notices::is_used_up(services, tenant, &traits, reference).await? =>
        {
            Ok(Transfer::Used)
        }
        _ => Ok(Transfer::Free),
    }
}
