//! Payments: money collected from a payer. C2P in three steps (an intent, the payer's code, the
//! charge) and its reversal; cards, debits and transfers in one.
//!
//! States and transitions are `docs/contract.md, 5.2`; fields and edges
//! `docs/contract.md, 5.1`.

pub mod asked_on;
pub mod c2p;
pub mod charge;
pub mod otp;
pub mod reversal;
pub mod sale;

#[cfg(test)]
mod tests;

use crate::decision::Turn;
use crate::kept::KeepRef;
use crate::resources::banks::BankCode;
use crate::resources::chargebacks::Chargeback;
use crate::resources::checkout::Sale;
use crate::values::card::Brand;
use crate::values::date::Date;
use crate::values::external_ref::ExternalRef;
use crate::values::identity::IdentityDocument;
use crate::values::ids::Id;
use crate::values::money::{Rate, Usd, Usdt, Ves};
use crate::values::phone::MobilePhone;
use crate::values::time::Timestamp;
use std::sync::Arc;

/// How the money is collected. The number is part of list facets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub const ALL: [Method; 6] =
        [Method::C2p, Method::Vpos, Method::Debit, Method::PagoMovil, Method::Cop, Method::Usdt];

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub const ALL: [Status; 5] =
        [Status::Pending, Status::Completed, Status::Failed, Status::Canceled, Status::Reversed];

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Nothing, as an operator has said what became of this operation; it is asked on whether it
    /// agrees.
    AskedOn {
        /// The operation.
        operation: u16,
        /// How often it was asked since.
        looks: u32,
        /// When it is asked next.
        next_look: Timestamp,
        /// When it is not asked any more.
        until: Timestamp,
    },
    /// Nothing: it has given the money back, and says that it refused to.
    ReversalDenied {
        /// Its code.
        code: String,
    },
}

impl Phase {
    /// Whether the bank is to decide about money.
    pub const fn is_deciding(&self) -> bool {
        matches!(self, Phase::Charging { .. } | Phase::Reversing { .. })
    }

    /// The same when nobody needs to ask about this operation any more.
    fn asked_no_more(&self, operation: u16) -> Phase {
        match self {
            Phase::AskedOn { operation: asked, .. } if *asked == operation => Phase::Idle,
            phase => phase.clone(),
        }
    }
}

/// The seller's side of a marketplace sale.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// The payer, as their bank knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Debtor {
    /// The bank.
    pub bank: BankCode,
    /// Who pays.
    pub id: IdentityDocument,
    /// The phone that the bank knows.
    pub phone: MobilePhone,
}

/// By what a payment is made, and what only payments by it have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Means {
    /// A pull from the payer's bank with a code.
    C2p {
        /// Who pays.
        debtor: Debtor,
        /// Whether the bank was told to send the payer a code.
        otp_requested: bool,
        /// A keyed hash of the code that was used: tells a repeat from another try.
        token_mark: Option<[u8; 16]>,
    },
    /// A card, of which nothing more is kept.
    Card {
        /// Whose card it is.
        brand: Brand,
        /// The last four digits.
        last_four: u16,
        /// A keyed hash of number and expiry: tells a repeat from another card.
        mark: [u8; 16],
    },
    /// An immediate debit with a code.
    Debit {
        /// Who pays.
        debtor: Debtor,
        /// The payer's name.
        name: String,
    },
    /// A transfer that the payer made, and that is looked for.
    Transfer {
        /// Who paid.
        debtor: Debtor,
        /// The day of the transfer.
        date: Date,
        /// The digits of its reference that the payer gave, without leading zeros.
        reference: String,
    },
    /// USDT that came to an address of a checkout session.
    Usdt {
        /// How much came.
        amount: Usdt,
        /// What of it the seller got, for a marketplace sale.
        seller_net: Option<Usdt>,
        /// The network's name for the transfer that completed it.
        tx_hash: String,
    },
}

impl Means {
    /// The method that it is.
    pub const fn method(&self) -> Method {
        match self {
            Means::C2p { .. } => Method::C2p,
            Means::Card { .. } => Method::Vpos,
            Means::Debit { .. } => Method::Debit,
            Means::Transfer { .. } => Method::PagoMovil,
            Means::Usdt { .. } => Method::Usdt,
        }
    }
}

/// A payment. What its sale moved is in the ledger; this is the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    /// Its name, and for C2P the intent's.
    pub id: Id,
    /// The tenant's reference.
    pub external_ref: ExternalRef,
    /// By what it is made.
    pub means: Means,
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
    /// The bank's reference of the charge. On a failed payment it contradicts the failure.
    pub bank_reference: Option<String>,
    /// The bank's code when it failed. On a completed payment it contradicts the completion.
    pub failure_code: Option<String>,
    /// Why it was canceled.
    pub cancel_reason: Option<CancelReason>,
    /// What banks took back of a card payment, oldest first.
    pub chargebacks: Vec<Chargeback>,
    /// For people.
    pub description: Option<String>,
    /// When it was reversed.
    pub reversed_at: Option<Timestamp>,
    /// The bank's reference of the newest reversal. On a payment that is not reversed it contradicts
    /// the refusal.
    pub reversal_ref: Option<String>,
    /// The attempt before it on the same reference.
    pub previous: Option<Id>,
    /// The attempt by another method with which the reference began, of an attempt by C2P after it:
    /// found without going through all those in between, of which there may be many.
    pub charge: Option<Id>,
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
    /// The hosted checkout that it is for.
    pub checkout: Option<Box<Sale>>,
    /// How many reversals were begun: each is an operation of its own.
    pub reversals: u16,
    /// A reversal before the newest, if the bank made it after it had refused it.
    pub earlier_reversal: Option<Box<EarlierReversal>>,
}

/// A reversal that the bank refused, and after which another was begun; and then the bank said that it
/// was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierReversal {
    /// Its operation.
    pub operation: u16,
    /// The bank's reference.
    pub reference: String,
}

/// The operation that charges.
pub const CHARGE: u16 = 1;
/// The operation that reverses for the first time.
pub const REVERSE: u16 = 2;
/// The operation that asks the bank to send a code.
pub const REQUEST_OTP: u16 = 3;
/// The operation that reverses for the second time; a further try is the next one.
const REVERSE_AGAIN: u16 = 16;
/// So many reversals have an operation of their own.
const REVERSALS_MAX: u16 = u16::MAX - REVERSE_AGAIN + 2;

/// Whether an operation of a payment is one of its reversals.
pub const fn is_reversal(operation: u16) -> bool {
    operation == REVERSE || operation >= REVERSE_AGAIN
}

impl Payment {
    /// A new one, which nobody has sent to a bank.
    pub fn new(
        id: Id,
        external_ref: ExternalRef,
        means: Means,
        price: charge::Figured,
        turn: &Turn,
    ) -> Payment {
        Payment {
            id,
            external_ref,
            means,
            status: Status::Pending,
            phase: Phase::Idle,
            usd: price.usd,
            ves: price.ves,
            bcv_rate: price.rate,
            fee: None,
            marketplace: None,
            bank_reference: None,
            failure_code: None,
            cancel_reason: None,
            chargebacks: Vec::new(),
            description: None,
            reversed_at: None,
            reversal_ref: None,
            previous: None,
            charge: None,
            kept: None,
            livemode: turn.livemode,
            created_at: turn.now,
            expires_at: None,
            completed_at: None,
            available_at: None,
            checkout: None,
            reversals: 0,
            earlier_reversal: None,
        }
    }

    /// The operation of the newest reversal, or of the first if there was none.
    pub const fn reversal(&self) -> u16 {
        match self.reversals {
            0 | 1 => REVERSE,
            nth => REVERSE_AGAIN.saturating_add(nth - 2),
        }
    }

    /// Whether the payer needs a code now that the bank sends at our word.
    pub fn awaits_otp(&self) -> bool {
        matches!(
            (self.status, &self.phase, &self.means),
            (Status::Pending, Phase::Idle, Means::C2p { otp_requested: true, .. })
        )
    }

    /// How it is collected.
    pub fn method(&self) -> Method {
        self.means.method()
    }

    /// The payer, when a bank knows them.
    pub fn debtor(&self) -> Option<&Debtor> {
        match &self.means {
            Means::C2p { debtor, .. } | Means::Debit { debtor, .. } | Means::Transfer { debtor, .. } => {
                Some(debtor)
            }
            Means::Card { .. } | Means::Usdt { .. } => None,
        }
    }

    /// One of its chargebacks.
    pub fn chargeback(&self, id: Id) -> Option<&Chargeback> {
        self.chargebacks.iter().find(|chargeback| chargeback.id == id)
    }

    /// Brand and last four digits of the card.
    pub fn card(&self) -> Option<(Brand, u16)> {
        match &self.means {
            Means::Card { brand, last_four, .. } => Some((*brand, *last_four)),
            Means::C2p { .. } | Means::Debit { .. } | Means::Transfer { .. } | Means::Usdt { .. } => None,
        }
    }

    /// The name under which a transfer can pay once, once it was found: with the bank's reference
    /// instead of the digits that the payer gave.
    pub fn found_transfer(&self) -> Option<String> {
        match (&self.means, &self.bank_reference) {
            (Means::Transfer { debtor, date, .. }, Some(full)) => {
                Some(transfer_name(debtor.bank, *date, without_zeros(full)))
            }
            _ => None,
        }
    }

    /// The name under which a transfer is looked for: its bank, day and reference, unless it was not
    /// found.
    pub fn transfer(&self) -> Option<String> {
        match &self.means {
            Means::Transfer { debtor, date, reference } => Some(transfer_name(debtor.bank, *date, reference)),
            Means::C2p { .. } | Means::Card { .. } | Means::Debit { .. } | Means::Usdt { .. } => None,
        }
    }

    /// What comes of it for the tenant and the seller together; set on completion.
    pub fn net(&self) -> Option<Ves> {
        self.fee.and_then(|fee| self.ves.minus(fee))
    }

    /// The operator's share of it; set on completion of a sale through a payment link.
    pub fn platform_fee(&self) -> Ves {
        self.checkout.as_ref().and_then(|checkout| checkout.platform_fee).unwrap_or_default()
    }

    /// The byte by which lists are filtered.
    pub fn facet(&self) -> u8 {
        facet(self.method(), self.status)
    }

    /// When something is due by itself.
    pub fn deadline(&self) -> Option<Timestamp> {
        match (&self.phase, self.status) {
            (
                Phase::Charging { next_look, .. }
                | Phase::Reversing { next_look, .. }
                | Phase::AskedOn { next_look, .. },
                _,
            ) => Some(*next_look),
            (Phase::Idle, Status::Pending) => self.expires_at,
            (Phase::Idle | Phase::ReversalDenied { .. }, _) => None,
        }
    }

    /// The operation that a bank is working on.
    pub fn operation(&self) -> Option<Id> {
        match self.phase {
            Phase::Idle | Phase::AskedOn { .. } | Phase::ReversalDenied { .. } => None,
            Phase::Charging { .. } => Some(self.id.operation(CHARGE)),
            Phase::Reversing { .. } => Some(self.id.operation(self.reversal())),
        }
    }

    /// The operation of which the bank said both that it was done and that it was not.
    pub fn contradicted(&self) -> Option<u16> {
        match (self.status, &self.phase) {
            (Status::Failed, _) => self.bank_reference.is_some().then_some(CHARGE),
            (Status::Reversed, Phase::ReversalDenied { .. }) => Some(self.reversal()),
            (Status::Completed, Phase::Idle | Phase::AskedOn { .. }) if self.reversal_ref.is_some() => {
                Some(self.reversal())
            }
            (Status::Completed | Status::Reversed, _) => match &self.earlier_reversal {
                Some(earlier) => Some(earlier.operation),
                None => self.failure_code.is_some().then_some(CHARGE),
            },
            (Status::Pending | Status::Canceled, _) => None,
        }
    }

    /// The instants at which it moved money: where its movements are found.
    pub fn moved_at(&self) -> Vec<Timestamp> {
        let of_chargebacks = self.chargebacks.iter().flat_map(Chargeback::moved_at);
        self.completed_at.into_iter().chain(self.reversed_at).chain(of_chargebacks).collect()
    }
}

/// A reference of a transfer without the zeros that it begins with: they tell nothing.
pub fn without_zeros(reference: &str) -> &str {
    let digits = reference.trim_start_matches('0');
    if digits.is_empty() && !reference.is_empty() { "0" } else { digits }
}

/// The name under which a transfer can pay once.
pub fn transfer_name(bank: BankCode, date: Date, reference: &str) -> String {
    format!("{bank} {} {reference}", date.days())
}

/// The facet of payments by this method in this state.
pub const fn facet(method: Method, status: Status) -> u8 {
    (method as u8) << 3 | status as u8
}
