//! Entities: whatever the log keeps a state of, each kind in a file of its own with its stored form, what
//! follows from its state alone, and the keys by which the index finds it.
//!
//! What is decided about them does not belong here (`resources/`).

pub mod approval;
pub mod batch;
pub mod chargeback;
pub mod conversion;
pub mod cop_payment;
pub mod cop_payout;
pub mod crypto_payout;
pub mod deposit_address;
pub mod mandate_approval;
pub mod means;
pub mod merchant;
pub mod notice;
pub mod otp;
pub mod own_account;
pub mod payment;
pub mod payout;
pub mod product;
pub mod resource;
pub mod sale;
pub mod session;
pub mod verification;
pub mod webhook;

use crate::bank_names::Named;
use crate::codec::stored;
use crate::entities::resource::Resource;
use crate::trace::OrderState;
use crate::values::ids::{EntityId, Kind, each_kind};
use crate::values::time::Timestamp;

/// The state of one kind.
pub trait OfKind: Sized + 'static {
    const KIND: Kind;

    fn of(entity: &Entity) -> Option<&Self>;
}

/// The id of an entity with this state. Of a tenant's own account there is one.
macro_rules! id_of {
    (OwnAccount $state:ident) => {{
        let _ = $state;
        EntityId::OWN_ACCOUNT
    }};
    ($Kind:ident $state:ident) => {
        EntityId { kind: Kind::$Kind, id: $state.id }
    };
}

macro_rules! entity {
    ($($number:literal $Kind:ident $file:ident::$State:ident = $byte:literal $name:literal $(Rules $rules:tt)?
        $(since $since:literal)?,)+) => {
        stored! {
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub enum Entity {
                $($number $Kind($file::$State) $(since $since)?),+
            }
        }

        $(impl From<$file::$State> for Entity {
            fn from(state: $file::$State) -> Entity {
                Entity::$Kind(state)
            }
        })+

        $(impl OfKind for $file::$State {
            const KIND: Kind = Kind::$Kind;

            fn of(entity: &Entity) -> Option<&Self> {
                if let Entity::$Kind(state) = entity { Some(state) } else { None }
            }
        })+

        impl Entity {
            pub fn resource(&self) -> &dyn Resource {
                match self {
                    $(Entity::$Kind(state) => state),+
                }
            }

            pub fn id(&self) -> EntityId {
                match self {
                    $(Entity::$Kind(state) => id_of!($Kind state)),+
                }
            }

            pub fn created_at(&self) -> Timestamp {
                match self {
                    $(Entity::$Kind(state) => state.created_at),+
                }
            }
        }
    };
}

each_kind!(entity);

/// The newest order at its rail, of the kinds whose orders are remembered.
macro_rules! order {
    ($entity:ident $($mut:tt)?) => {
        match $entity {
            Entity::Payment(payment) => Some(&$($mut)? payment.order),
            Entity::Payout(payout) => Some(&$($mut)? payout.order),
            Entity::CopPayment(payment) => Some(&$($mut)? payment.order),
            Entity::CryptoPayout(payout) => Some(&$($mut)? payout.order),
            // Operators make these payouts; of micro-deposits `count_question` keeps the marks.
            Entity::CopPayout(_) | Entity::Merchant(_) | Entity::OwnAccount(_) | Entity::Otp(_) => None,
            Entity::Batch(_) | Entity::Chargeback(_) | Entity::Conversion(_) | Entity::DepositAddress(_) => None,
            Entity::Product(_) | Entity::Session(_) | Entity::Webhook(_) => None,
            Entity::Notice(_) | Entity::Approval(_) | Entity::MandateApproval(_) => None,
        }
    };
}

impl Entity {
    pub fn facet(&self) -> u8 {
        self.resource().facet()
    }

    pub fn deadline(&self) -> Option<Timestamp> {
        self.resource().deadline()
    }

    pub fn order(&self) -> Option<&OrderState> {
        order!(self)
    }

    pub fn order_mut(&mut self) -> Option<&mut OrderState> {
        order!(self mut)
    }

    pub fn named_orders(&self) -> Vec<Named<'_>> {
        match self {
            Entity::Payment(payment) => payment.named_orders(),
            Entity::Payout(payout) => vec![payout.named_order()],
            _ => Vec::new(),
        }
    }
}

/// The minor units of an amount, and its currency by its code.
pub type Minor = (i64, &'static str);

impl Entity {
    /// The amount that it is about, if it is about one.
    pub fn amount(&self) -> Option<Minor> {
        Some(match self {
            Entity::Payment(payment) => {
                let (currency, minor) = payment.amount();
                (minor, currency.code())
            }
            Entity::CopPayment(payment) => (payment.amount.minor(), "COP"),
            Entity::Payout(payout) => (payout.amount.minor(), "VES"),
            Entity::CopPayout(payout) => (payout.amount.minor(), "COP"),
            Entity::CryptoPayout(payout) => (payout.amount.minor(), "USDT"),
            Entity::Conversion(conversion) => {
                (conversion.accepted()?.price.source_minor, conversion.source.currency().code())
            }
            Entity::Chargeback(one) => (one.amount.minor(), "VES"),
            Entity::Product(product) => (product.price.minor(), "USD"),
            Entity::Session(session) => (session.amount.minor(), "USD"),
            Entity::Merchant(_) | Entity::Batch(_) | Entity::DepositAddress(_) | Entity::Webhook(_) => {
                return None;
            }
            Entity::MandateApproval(one) => (one.minor, one.currency.code()),
            Entity::OwnAccount(_) | Entity::Otp(_) | Entity::Notice(_) | Entity::Approval(_) => return None,
        })
    }
}
