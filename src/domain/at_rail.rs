//! The entities that ask something of the outside world, and so wait: for a reply, and for the
//! instant at which they ask again or give up. Whether a kind does so is said here once; whoever
//! treats replies, deadlines, effects or operations names these kinds only, each of them.

use crate::record::Entity;
use crate::resources::conversions::Conversion;
use crate::resources::cop_payments::CopPayment;
use crate::resources::crypto::payouts::CryptoPayout;
use crate::resources::merchants::Merchant;
use crate::resources::own_account::OwnAccount;
use crate::resources::payments::Payment;
use crate::resources::payments::otp::Otp;
use crate::resources::payouts::Payout;

/// The enum of these entities and the function that gives it, for reading and for changing.
macro_rules! at_rail {
    ($(#[$about:meta])* $AtRail:ident, $(#[$gives:meta])* $at_rail:ident, $($mutable:tt)?) => {
        $(#[$about])*
        pub enum $AtRail<'a> {
            /// A payment, whose bank is asked to collect or to give back.
            Payment(&'a $($mutable)? Payment),
            Otp(&'a $($mutable)? Otp),
            Payout(&'a $($mutable)? Payout),
            /// A merchant, whose payout methods are proved by micro-deposits.
            Merchant(&'a $($mutable)? Merchant),
            /// The tenant's own payout account, which is proved by them too.
            OwnAccount(&'a $($mutable)? OwnAccount),
            /// A conversion, which may ask for the market's rate.
            Conversion(&'a $($mutable)? Conversion),
            CryptoPayout(&'a $($mutable)? CryptoPayout),
            /// A payment in pesos, which its processor collects or refunds.
            CopPayment(&'a $($mutable)? CopPayment),
        }

        impl Entity {
            $(#[$gives])*
            pub const fn $at_rail(&$($mutable)? self) -> Option<$AtRail<'_>> {
                match self {
                    Entity::Payment(payment) => Some($AtRail::Payment(payment)),
                    Entity::Otp(request) => Some($AtRail::Otp(request)),
                    Entity::Payout(payout) => Some($AtRail::Payout(payout)),
                    Entity::Merchant(merchant) => Some($AtRail::Merchant(merchant)),
                    Entity::OwnAccount(account) => Some($AtRail::OwnAccount(account)),
                    Entity::Conversion(conversion) => Some($AtRail::Conversion(conversion)),
                    Entity::CryptoPayout(payout) => Some($AtRail::CryptoPayout(payout)),
                    Entity::CopPayment(payment) => Some($AtRail::CopPayment(payment)),
                    // No rail is asked for these: payouts in pesos are made by an operator,
                    // chargebacks and notices come by themselves, a batch's payouts wait one by
                    // one, webhooks have their delivery workers. Of them only webhooks have deadlines, of
                    // their own kind.
                    Entity::Batch(_)
                    | Entity::Chargeback(_)
                    | Entity::Product(_)
                    | Entity::Session(_)
                    | Entity::DepositAddress(_)
                    | Entity::CopPayout(_)
                    | Entity::Webhook(_)
                    | Entity::Notice(_)
                    | Entity::Approval(_) => None,
                }
            }
        }
    };
}

at_rail! {
    /// An entity that asks something of the outside world.
    #[derive(Clone, Copy)]
    AtRail,
    /// The entity, if it is of a kind that asks something of the outside world.
    at_rail,
}

at_rail! {
    /// An entity that asks something of the outside world, to be changed.
    AtRailMut,
    /// The entity to be changed, if it is of a kind that asks something of the outside world.
    at_rail_mut, mut
}
