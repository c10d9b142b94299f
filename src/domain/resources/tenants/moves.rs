//! The move of a tenant to another deployment (`docs/contract.md, 22`): until it is there it is
//! nowhere else.
//!
//! A tenant that moves is closed here first, for one deployment that is named: its books decide nothing
//! more, so what is written to the file is all that there is. An operator may open it again.

use crate::decision::{Ruling, write_platform};
use crate::entities::conversion::{End, Stage};
use crate::entities::{Entity, crypto_payout, payment, payout};
use crate::platform::settings::{Deployment, TenantSettings};
use crate::platform::{ApiKey, PlatformBook, PlatformChange, Tenant};
use crate::refusal::{PlatformRefusal, Refusal};
use std::collections::HashSet;
use std::sync::Arc;

/// The ruling on the move of a tenant, or on its staying. One that moves to a deployment does not move to
/// another: it may be there already.
pub(super) fn decide(book: &PlatformBook, number: u32, base: u64, to: Option<Deployment>) -> Ruling {
    let Some(tenant) = book.tenants.get(&number) else { return Ruling::refuse(Refusal::NotFound) };
    let known = &tenant.tenant_settings;
    let moved_to = to.map(Box::new);
    if known.moved_to == moved_to {
        return Ruling::unchanged();
    }
    if tenant.moving.is_some() {
        return Ruling::refuse(Refusal::TenantMoving);
    }
    if known.moved_to.is_some() && to.is_some() {
        return Ruling::refuse(Refusal::TenantMoved);
    }
    if known.version != base {
        return Ruling::refuse(PlatformRefusal::StaleSettings);
    }
    let tenant_settings = TenantSettings { version: base + 1, moved_to, ..known.clone() };
    write_platform(PlatformChange::Tenant(Arc::new(Tenant { tenant_settings, ..(**tenant).clone() })))
}

/// A thing of a tenant that comes which a tenant of this deployment has already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    Tenant,
    /// A key, with its first characters.
    Key(Box<str>),
}

/// The first thing of a tenant that comes which is here already.
pub fn taken(book: &PlatformBook, tenant: &Tenant, keys: &[Arc<ApiKey>]) -> Option<Taken> {
    if book.tenants.values().any(|known| known.id == tenant.id) {
        return Some(Taken::Tenant);
    }
    let hashes: HashSet<[u8; 32]> = keys.iter().map(|key| key.hash).collect();
    let is_here = |known: &ApiKey| hashes.contains(&known.hash);
    book.keys.values().find(|known| is_here(known)).map(|known| Taken::Key(known.prefix.clone()))
}

/// The ruling on a tenant that comes: it goes on as it was, under a number of this deployment. Both of its
/// books get its settings in the next records.
pub(super) fn receive(book: &PlatformBook, tenant: &Tenant, keys: &[Arc<ApiKey>]) -> Ruling {
    let number = book.next_number();
    let version = tenant.tenant_settings.version + 1;
    let tenant_settings = TenantSettings { version, moved_to: None, ..tenant.tenant_settings.clone() };
    let own = |key: &Arc<ApiKey>| Arc::new(ApiKey { tenant: number, ..(**key).clone() });
    write_platform(PlatformChange::Opened {
        tenant: Arc::new(Tenant {
            number,
            tenant_settings,
            pushed: version,
            partition: 0,
            moving: None,
            moves: 0,
            ..tenant.clone()
        }),
        keys: keys.iter().map(own).collect(),
    })
}

/// The reason of what is not decided yet, or still asked about.
const WAITS: &str = "waits for its payer or for a bank";

/// The reason why a tenant with this entity cannot move yet; `None` of what moves as it is. A move is for
/// what is settled: nothing may be at a bank of this deployment, or about to be.
pub fn open(entity: &Entity) -> Option<&'static str> {
    match entity {
        Entity::CopPayout(payout) if payout.status == payout::Status::Pending => {
            Some("waits for an operator to complete it")
        }
        Entity::CryptoPayout(payout) if payout.status == crypto_payout::Status::PendingReview => {
            Some("waits for an operator's review")
        }
        Entity::DepositAddress(address) if address.livemode => {
            Some("is searched for deposits by this deployment; such a tenant cannot move yet")
        }
        Entity::Payment(payment) if payment.status == payment::Status::Pending => Some(WAITS),
        Entity::CopPayment(payment) if payment.status == payment::Status::Pending => Some(WAITS),
        Entity::Conversion(conversion) => match &conversion.stage {
            Stage::Accepted(accepted) if accepted.end == End::Open => Some("waits for its USDT"),
            Stage::Waiting(_) => Some("waits for a rate"),
            Stage::Quoted { .. } | Stage::Accepted(_) | Stage::Dropped => None,
        },
        // Its tries go on where the tenant goes.
        Entity::Webhook(_) => None,
        _ => {
            // An order that waits for its turn at a rail may have no deadline yet.
            let waits = entity.deadline().is_some() || !entity.rules().unanswered().is_empty();
            waits.then_some(WAITS)
        }
    }
}
