//! Payments: money collected from a payer. C2P in three steps: an intent, the payer's code, the charge; and its reversal.
//!
//! States and transitions are `service.md`, "States and transitions"; fields and edges `contract.md`, sections 5 and 17.

pub mod c2p;
pub mod reversal;
pub mod sale;

use crate::domain::banks::BankCode;
use crate::domain::external_ref::ExternalRef;
use crate::domain::identity::IdentityDocument;
use crate::domain::ids::Id;
use crate::domain::kept::KeepRef;
use crate::domain::money::{Rate, Usd, Ves};
use crate::domain::phone::MobilePhone;
use crate::domain::time::Timestamp;
use bincode::{Decode, Encode};
use std::sync::Arc;

/// How the money is collected. The number is part of list facets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[repr(u8)]
pub enum Method {
    /// Pull from the payer's bank with a one-time code.
    C2p = 0,
    /// Card.
    Vpos = 1,
    /// Immediate debit.
    Debit = 2,
    /// A transfer that the payer made.
    PagoMovil = 3,
    /// Pesos.
    Cop = 4,
    /// USDT.
    Usdt = 5,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 6] = [Method::C2p, Method::Vpos, Method::Debit, Method::PagoMovil, Method::Cop, Method::Usdt];

    /// As the API writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Method::C2p => "C2P",
            Method::Vpos => "VPOS",
            Method::Debit => "DEBIT",
            Method::PagoMovil => "PAGO_MOVIL",
            Method::Cop => "COP",
            Method::Usdt => "USDT",
        }
    }
}

/// Where a payment stands. The number is part of list facets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[repr(u8)]
pub enum Status {
    /// Waits for the payer or the bank.
    Pending = 0,
    /// The money came.
    Completed = 1,
    /// It will not come.
    Failed = 2,
    /// Given up before it was tried.
    Canceled = 3,
    /// The money went back.
    Reversed = 4,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 5] = [Status::Pending, Status::Completed, Status::Failed, Status::Canceled, Status::Reversed];

    /// As the API writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Pending => "PENDING",
            Status::Completed => "COMPLETED",
            Status::Failed => "FAILED",
            Status::Canceled => "CANCELED",
            Status::Reversed => "REVERSED",
        }
    }
}

/// Why a payment was canceled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum CancelReason {
    /// A newer attempt took its place.
    Superseded,
    /// Nobody executed it in time.
    Expired,
}

impl CancelReason {
    /// As the API writes it.
    pub const fn name(self) -> &'static str {
        match self {
            CancelReason::Superseded => "superseded",
            CancelReason::Expired => "expired",
        }
    }
}

/// What a bank is doing about a payment.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Phase {
    /// Nothing.
    Idle,
    /// A charge is on its way.
    Charging {
        /// How often the bank was asked about it.
        looks: u32,
        /// When it is asked next.
        next_look: Timestamp,
    },
    /// A reversal is on its way, and the money for it is set aside.
    Reversing {
        /// How often the bank was asked about it.
        looks: u32,
        /// When it is asked next.
        next_look: Timestamp,
        /// Whether it was sent a second time.
        resent: bool,
        /// Where the money came from.
        aside: reversal::Aside,
    },
}

/// The seller's side of a marketplace sale.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Marketplace {
    /// The seller.
    pub merchant: Id,
    /// What the tenant keeps, in percent.
    pub commission_percent: Rate,
    /// What the tenant kept; set on completion.
    pub commission: Option<Ves>,
    /// What the seller got; set on completion.
    pub seller_net: Option<Ves>,
    /// When the seller may have it; set on completion.
    pub seller_available_at: Option<Timestamp>,
}

/// A payment. What its sale moved is in the ledger; this is the rest.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Payment {
    /// Its name, and for C2P the intent's.
    pub id: Id,
    /// The tenant's reference.
    pub external_ref: ExternalRef,
    /// How it is collected.
    pub method: Method,
    /// Where it stands.
    pub status: Status,
    /// What a bank is doing about it.
    pub phase: Phase,
    /// The price.
    pub usd: Usd,
    /// What the payer pays.
    pub ves: Ves,
    /// The BCV rate that made it so.
    pub bcv_rate: Rate,
    /// The fee; set on completion.
    pub fee: Option<Ves>,
    /// The seller, for a marketplace sale.
    pub marketplace: Option<Box<Marketplace>>,
    /// The payer's bank.
    pub debtor_bank: BankCode,
    /// Who pays.
    pub debtor_id: IdentityDocument,
    /// The payer's phone.
    pub debtor_phone: MobilePhone,
    /// Whether the bank was told to send the payer a code.
    pub otp_requested: bool,
    /// A keyed hash of the code that was used: tells a repeat from another try.
    pub token_mark: Option<[u8; 16]>,
    /// The bank's reference of the charge.
    pub bank_reference: Option<String>,
    /// The bank's code when it failed.
    pub failure_code: Option<String>,
    /// Why it was canceled.
    pub cancel_reason: Option<CancelReason>,
    /// For people.
    pub description: Option<String>,
    /// When it was reversed.
    pub reversed_at: Option<Timestamp>,
    /// The bank's reference of the reversal.
    pub reversal_ref: Option<String>,
    /// The attempt before it on the same reference.
    pub previous: Option<Id>,
    /// Which kept answer the outcome replaces.
    pub kept: Option<Arc<KeepRef>>,
    /// Test payments move no real money.
    pub livemode: bool,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When the intent ends.
    pub expires_at: Option<Timestamp>,
    /// When the money came.
    pub completed_at: Option<Timestamp>,
    /// When the hold ends.
    pub available_at: Option<Timestamp>,
}

/// The operation that charges.
pub const CHARGE: u16 = 1;
/// The operation that reverses.
pub const REVERSE: u16 = 2;
/// The operation that asks the bank to send a code.
pub const REQUEST_OTP: u16 = 3;

impl Payment {
    /// What comes of it for the tenant and the seller together; set on completion.
    pub fn net(&self) -> Option<Ves> {
        self.fee.and_then(|fee| self.ves.minus(fee))
    }

    /// The byte by which lists are filtered.
    pub fn facet(&self) -> u8 {
        facet(self.method, self.status)
    }

    /// When something is due by itself.
    pub fn deadline(&self) -> Option<Timestamp> {
        match (&self.phase, self.status) {
            (Phase::Charging { next_look, .. } | Phase::Reversing { next_look, .. }, _) => Some(*next_look),
            (Phase::Idle, Status::Pending) => self.expires_at,
            (Phase::Idle, _) => None,
        }
    }

    /// The operation that a bank is working on.
    pub fn operation(&self) -> Option<Id> {
        match self.phase {
            Phase::Idle => None,
            Phase::Charging { .. } => Some(self.id.operation(CHARGE)),
            Phase::Reversing { .. } => Some(self.id.operation(REVERSE)),
        }
    }

    /// The instants at which it moved money: where its movements are found.
    pub fn moved_at(&self) -> Vec<Timestamp> {
        self.completed_at.into_iter().chain(self.reversed_at).collect()
    }
}

/// The facet of payments by this method in this state.
pub const fn facet(method: Method, status: Status) -> u8 {
    (method as u8) << 3 | status as u8
}
