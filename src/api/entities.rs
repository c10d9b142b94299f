//! The kinds of entities as types, so that what shows one kind is never given another.

use domain::record::Entity;
use domain::resources::approvals::Approval;
use domain::resources::chargebacks::Chargeback;
use domain::resources::checkout::Session;
use domain::resources::conversions::Conversion;
use domain::resources::cop_payments::CopPayment;
use domain::resources::cop_payouts::CopPayout;
use domain::resources::crypto::deposits::DepositAddress;
use domain::resources::crypto::payouts::CryptoPayout;
use domain::resources::merchants::Merchant;
use domain::resources::own_account::OwnAccount;
use domain::resources::payments::Payment;
use domain::resources::payments::otp::Otp;
use domain::resources::payouts::Payout;
use domain::resources::payouts::batch::Batch;
use domain::resources::products::Product;
use domain::resources::webhooks::Webhook;
use domain::values::ids::Kind;

/// The state of an entity of one kind.
pub trait OfKind: Sized + 'static {
    /// The kind, as lists and ids name it.
    const KIND: Kind;

    /// The state, if the entity is of this kind.
    fn of(entity: &Entity) -> Option<&Self>;
}

macro_rules! kinds {
    ($($kind:ident),* $(,)?) => {
        $(impl OfKind for $kind {
            const KIND: Kind = Kind::$kind;

            fn of(entity: &Entity) -> Option<&Self> {
                if let Entity::$kind(state) = entity { Some(state) } else { None }
            }
        })*
    };
}

kinds!(
    Payment,
    Payout,
    Merchant,
    Batch,
    Chargeback,
    Otp,
    OwnAccount,
    Product,
    Session,
    Conversion,
    CryptoPayout,
    DepositAddress,
    CopPayment,
    CopPayout,
    Webhook,
    Approval,
);
