//! The kinds of entities as types, so that what shows one kind is never given another.

use domain::entities::Entity;
use domain::entities::approval::Approval;
use domain::entities::batch::Batch;
use domain::entities::chargeback::Chargeback;
use domain::entities::conversion::Conversion;
use domain::entities::cop_payment::CopPayment;
use domain::entities::cop_payout::CopPayout;
use domain::entities::crypto_payout::CryptoPayout;
use domain::entities::deposit_address::DepositAddress;
use domain::entities::merchant::Merchant;
use domain::entities::otp::Otp;
use domain::entities::own_account::OwnAccount;
use domain::entities::payment::Payment;
use domain::entities::payout::Payout;
use domain::entities::product::Product;
use domain::entities::session::Session;
use domain::entities::webhook::Webhook;
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
