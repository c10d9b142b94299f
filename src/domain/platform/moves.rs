//! The move of a tenant to another deployment (`docs/contract.md, 22`): until it is there it is
//! nowhere else.
//!
//! A tenant that moves is closed here first, for one deployment that is named: its books decide nothing
//! more, so what is written to the file is all that there is. An operator may open it again.

use super::{ApiKey, PlatformBook, PlatformChange, Tenant, next_number, write};
use crate::codec::stored;
use crate::decision::Ruling;
use crate::platform::settings::TenantSettings;
use crate::record::Entity;
use crate::refusal::{PlatformRefusal, Refusal};
use crate::resources::conversions::{End, Stage};
use crate::resources::{crypto, payments, payouts};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

stored! {
    /// A deployment: the hash of the first record of its log, which no other log has.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Deployment(pub [u8; 16]);
}

impl fmt::Display for Deployment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Deployment {
    /// The deployment with this name, 32 digits of hexadecimal.
    pub fn parse(name: &str) -> Option<Deployment> {
        let mut bytes = [0; 16];
        if name.len() != 2 * bytes.len() || !name.is_ascii() {
            return None;
        }
        for (byte, digits) in bytes.iter_mut().zip(name.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.contains('+'))?;
            *byte = u8::from_str_radix(digits, 16).ok()?;
        }
        Some(Deployment(bytes))
    }
}

pub(super) fn is_moved(book: &PlatformBook, number: u32) -> bool {
    book.tenants.get(&number).is_some_and(|tenant| tenant.tenant_settings.moved_to.is_some())
}

/// The ruling on the move of a tenant, or on its staying. One that moves to a deployment does not move to
/// another: it may be there already.
pub(super) fn decide(book: &PlatformBook, number: u32, base: u64, to: Option<Deployment>) -> Ruling {
    let Some(tenant) = book.tenants.get(&number) else { return Ruling::refuse(Refusal::NotFound) };
    let known = &tenant.tenant_settings;
    let moved_to = to.map(Box::new);
    if known.moved_to == moved_to {
        return Ruling::unchanged();
    }
    if known.moved_to.is_some() && to.is_some() {
        return Ruling::refuse(Refusal::TenantMoved);
    }
    if known.version != base {
        return Ruling::refuse(PlatformRefusal::StaleSettings);
    }
    let tenant_settings = TenantSettings { version: base + 1, moved_to, ..known.clone() };
    write(PlatformChange::Tenant(Arc::new(Tenant { tenant_settings, ..(**tenant).clone() })))
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
    let number = next_number(book);
    let version = tenant.tenant_settings.version + 1;
    let tenant_settings = TenantSettings { version, moved_to: None, ..tenant.tenant_settings.clone() };
    let own = |key: &Arc<ApiKey>| Arc::new(ApiKey { tenant: number, ..(**key).clone() });
    write(PlatformChange::Opened {
        tenant: Arc::new(Tenant { number, tenant_settings, pushed: version, ..tenant.clone() }),
        keys: keys.iter().map(own).collect(),
    })
}

/// The reason of what is not decided yet, or still asked about.
const WAITS: &str = "waits for its payer or for a bank";

/// The reason why a tenant with this entity cannot move yet; `None` of what moves as it is. A move is for
/// what is settled: nothing may be at a bank of this deployment, or about to be.
pub fn open(entity: &Entity) -> Option<&'static str> {
    match entity {
        Entity::CopPayout(payout) if payout.status == payouts::Status::Pending => {
            Some("waits for an operator to complete it")
        }
        Entity::CryptoPayout(payout) if payout.status == crypto::payouts::Status::PendingReview => {
            Some("waits for an operator's review")
        }
        Entity::DepositAddress(address) if address.livemode => {
            Some("is searched for deposits by this deployment; such a tenant cannot move yet")
        }
        Entity::Payment(payment) if payment.status == payments::Status::Pending => Some(WAITS),
        Entity::CopPayment(payment) if payment.status == payments::Status::Pending => Some(WAITS),
        Entity::Conversion(conversion) => match &conversion.stage {
            Stage::Accepted(accepted) if accepted.end == End::Open => Some("waits for its USDT"),
            Stage::Waiting(_) => Some("waits for a rate"),
            Stage::Quoted { .. } | Stage::Accepted(_) | Stage::Dropped => None,
        },
        // Its tries go on where the tenant goes.
        Entity::Webhook(_) => None,
        Entity::Payment(_)
        | Entity::Payout(_)
        | Entity::Merchant(_)
        | Entity::Batch(_)
        | Entity::Chargeback(_)
        | Entity::Otp(_)
        | Entity::OwnAccount(_)
        | Entity::Product(_)
        | Entity::Session(_)
        | Entity::CryptoPayout(_)
        | Entity::DepositAddress(_)
        | Entity::CopPayment(_)
        | Entity::CopPayout(_)
        | Entity::Notice(_)
        | Entity::Approval(_) => {
            // An order that waits for its turn at a rail may have no deadline yet.
            let waits = entity.deadline().is_some() || !entity.rules().unanswered().is_empty();
            waits.then_some(WAITS)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_deployment_comes_back_and_nothing_else_does() {
        let deployment = Deployment([0x0A; 16]);
        assert_eq!(Deployment::parse(&deployment.to_string()), Some(deployment));
        for wrong in ["", "0a", &"0".repeat(31), &"0".repeat(33), &"g".repeat(32), &"+1".repeat(16)] {
            assert_eq!(Deployment::parse(wrong), None, "{wrong}");
        }
    }
}
