//! What the API says of an entity of any kind, besides its own endpoints: in events, in the audit, to operators and in
//! hits of a search. A new kind says it here.

use crate::payouts::own_account;
use crate::{chargebacks, conversions, cop_payments, crypto, merchants, payments, payouts, products};
use domain::entities::{Entity, Minor, chargeback, conversion, payment, payout};
use domain::index::Space;
use domain::values::ids::Kind;
use domain::values::money::{decimals, write_minor};
use std::borrow::Cow;
use std::fmt::Display;

/// An entity as its own endpoint shows it; `None` of what no endpoint shows by its state alone.
pub fn show(entity: &Entity) -> Option<Vec<u8>> {
    Some(match entity {
        Entity::Payment(_) | Entity::CopPayment(_) => return payments::show_entity(entity),
        Entity::Payout(payout) => payouts::show(payout),
        Entity::CryptoPayout(payout) => crypto::show(payout),
        Entity::CopPayout(payout) => cop_payments::payouts::show(payout),
        Entity::Merchant(merchant) => merchants::show(merchant),
        Entity::OwnAccount(account) => own_account::show(account),
        Entity::Chargeback(chargeback) => chargebacks::show(chargeback),
        Entity::Conversion(conversion) => return conversions::show(conversion),
        Entity::Product(product) => products::show(product),
        Entity::Batch(_) | Entity::Session(_) | Entity::DepositAddress(_) => return None,
        // Of an approval the entry of the audit itself says who decided, and how.
        Entity::Webhook(_) | Entity::Otp(_) | Entity::Notice(_) | Entity::Approval(_) => return None,
        // Whether one still waits the clock says, and its key.
        Entity::MandateApproval(_) => return None,
    })
}

/// Whether something is still to come of it: a payer's act, a bank's answer, an operator's word. Of a session that
/// follows from its attempts. What stands until somebody changes it, such as a link, is not open.
pub fn is_open(entity: &Entity) -> bool {
    match entity {
        Entity::Payment(payment) => payment.status == payment::Status::Pending || payment.phase.is_deciding(),
        Entity::CopPayment(payment) => {
            payment.status == payment::Status::Pending || payment.phase.is_deciding()
        }
        Entity::Payout(payout) => payout.status == payout::Status::Pending,
        Entity::CopPayout(payout) => payout.status == payout::Status::Pending,
        Entity::CryptoPayout(payout) => payout.status.is_pending(),
        Entity::Conversion(conversion) => {
            conversion.accepted().is_some_and(|accepted| accepted.status() == conversion::Status::Pending)
        }
        Entity::Chargeback(chargeback) => chargeback.status == chargeback::Status::Open,
        Entity::Merchant(merchant) => merchant.methods.iter().any(|method| method.status.is_verifying()),
        Entity::OwnAccount(account) => account.status.is_verifying(),
        Entity::Batch(_) | Entity::Session(_) | Entity::DepositAddress(_) | Entity::Product(_) => false,
        Entity::Webhook(_) | Entity::Otp(_) | Entity::Notice(_) | Entity::Approval(_) => false,
        Entity::MandateApproval(_) => false,
    }
}

/// Whether something of a kind is found by its id: nobody is told that of a few.
pub const fn is_found_by_id(kind: Kind) -> bool {
    use Kind::{Approval, DepositAddress, MandateApproval, Notice, Otp, OwnAccount, Webhook};
    !matches!(kind, Otp | OwnAccount | DepositAddress | Webhook | Notice | Approval | MandateApproval)
}

/// The kinds that are found by a reference of the tenant's that is unique.
pub const BY_NAME: [(Space, Kind); 5] = [
    (Space::Payout, Kind::Payout),
    (Space::Merchant, Kind::Merchant),
    (Space::Batch, Kind::Batch),
    (Space::CryptoPayout, Kind::CryptoPayout),
    (Space::CopPayout, Kind::CopPayout),
];

/// The name of a kind in hits: its own, but for those that are known by another.
pub fn name_of(kind: Kind) -> Cow<'static, str> {
    match kind {
        Kind::CopPayment => Cow::Borrowed("payment"),
        Kind::OwnAccount => Cow::Borrowed("payout_account"),
        // Entities of the platform: no tenant's request makes them.
        Kind::Notice | Kind::Approval => Cow::Borrowed("other"),
        kind => Cow::Owned(kind.name().replace(' ', "_")),
    }
}

/// An amount as it is written, and its currency.
pub type Amount = (String, &'static str);

pub fn of(amount: impl Display, currency: &'static str) -> Option<Amount> {
    Some((amount.to_string(), currency))
}

fn written((minor, currency): Minor) -> Amount {
    let mut text = String::with_capacity(16);
    // Writing to memory does not fail.
    let _ = write_minor(&mut text, minor, decimals(currency));
    (text, currency)
}

/// The status and the amount, of what has them in its state.
pub fn standing(entity: &Entity) -> (Option<&'static str>, Option<Amount>) {
    (status(entity), entity.amount().map(written))
}

pub fn status(entity: &Entity) -> Option<&'static str> {
    match entity {
        Entity::Payment(payment) => Some(payment.status.name()),
        Entity::CopPayment(payment) => Some(payment.status.name()),
        Entity::Payout(payout) => Some(payout.status.name()),
        Entity::CopPayout(payout) => Some(payout.status.name()),
        Entity::CryptoPayout(payout) => Some(payout.status.name()),
        Entity::Conversion(conversion) => conversion.accepted().map(|accepted| accepted.status().name()),
        Entity::Chargeback(one) => Some(one.status.name()),
        Entity::Merchant(merchant) => Some(merchant.status().name()),
        Entity::MandateApproval(one) => Some(one.status(one.created_at).name()),
        // Of a session the status follows from its attempts, of a batch from its payouts.
        Entity::Session(_) | Entity::Batch(_) | Entity::DepositAddress(_) | Entity::Webhook(_) => None,
        Entity::Product(_) | Entity::OwnAccount(_) | Entity::Otp(_) => None,
        Entity::Notice(_) | Entity::Approval(_) => None,
    }
}
