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
use crate::values::ids::EntityId;
use crate::values::time::Timestamp;

/// The kinds of entities: the stored number, the name and the state. `$with` is a macro that takes them.
macro_rules! each_kind {
    ($with:ident) => {
        $with! {
            0 Payment payment::Payment,
            1 Payout payout::Payout,
            2 Merchant merchant::Merchant,
            3 Batch batch::Batch,
            4 Chargeback chargeback::Chargeback,
            5 Otp otp::Otp,
            6 OwnAccount own_account::OwnAccount,
            7 Product product::Product,
            8 Session session::Session,
            9 Conversion conversion::Conversion,
            10 CryptoPayout crypto_payout::CryptoPayout,
            11 DepositAddress deposit_address::DepositAddress,
            12 CopPayment cop_payment::CopPayment,
            13 CopPayout cop_payout::CopPayout,
            14 Webhook webhook::Webhook,
            15 Notice notice::Notice,
            16 Approval approval::Approval,
        }
    };
}

pub(crate) use each_kind;

macro_rules! entity {
    ($($number:literal $Kind:ident $file:ident::$State:ident,)+) => {
        stored! {
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub enum Entity {
                $($number $Kind($file::$State)),+
            }
        }

        $(impl From<$file::$State> for Entity {
            fn from(state: $file::$State) -> Entity {
                Entity::$Kind(state)
            }
        })+

        impl Entity {
            pub fn resource(&self) -> &dyn Resource {
                match self {
                    $(Entity::$Kind(state) => state),+
                }
            }
        }
    };
}

each_kind!(entity);

impl Entity {
    pub fn id(&self) -> EntityId {
        self.resource().entity_id()
    }

    /// The byte by which lists are filtered.
    pub fn facet(&self) -> u8 {
        self.resource().facet()
    }

    pub fn deadline(&self) -> Option<Timestamp> {
        self.resource().deadline()
    }

    pub fn external_ref(&self) -> Option<&str> {
        self.resource().external_ref()
    }

    /// Its orders, as far as banks name them.
    pub fn named_orders(&self) -> Vec<Named<'_>> {
        match self {
            Entity::Payment(payment) => payment.named_orders(),
            Entity::Payout(payout) => vec![payout.named_order()],
            _ => Vec::new(),
        }
    }
}
