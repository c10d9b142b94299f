//! Payments: money collected from a payer. C2P in three steps (an intent, the payer's code, the
//! charge) and its reversal; cards, debits and transfers in one.
//!
//! The states and transitions are in `docs/contract.md, 5.2`, the fields and limits in
//! `docs/contract.md, 5.1`.
//!
//! Payments in bolívares of every method belong here, and the flow that they share. Those in pesos do
//! not (`cop_payments`), nor what all collections share (`collections`), nor what a bank is sent.

pub mod c2p;
pub mod charge;
mod commands;
mod means;
pub mod otp;
pub mod reasons;
mod repeat;
pub mod reversal;
pub mod sale;
mod transfers;

#[cfg(test)]
mod tests;

use crate::bank_names;
use crate::codec::stored;
use crate::decision::Turn;
use crate::entity::{Change, Listing, Resource};
use crate::index::{Entries, Space, Trait, searched_hash};
use crate::kept::KeepRef;
use crate::resources::chargebacks::Chargeback;
use crate::resources::checkout::Sale;
use crate::resources::polling::{self, AskedOn};
use crate::trace::{Trace, shown};
use crate::values::card::Brand;
use crate::values::external_ref::ExternalRef;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Rate, Usd, Ves};
use crate::values::time::{DAY_MS, Timestamp};
pub use commands::{Command, decide};
pub use means::{Debtor, Means, Method, Offer};
use std::sync::Arc;
pub use transfers::{transfer_name, without_zeros};

stored! {
    /// The status of a payment. The number is part of list facets.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Status {
        /// The payment waits for the payer or the bank.
        0 Pending,
        1 Completed,
        2 Failed,
        /// The payment was given up before it was charged.
        3 Canceled,
        4 Reversed,
    }
}

impl Status {
    pub const ALL: [Status; 5] =
        [Status::Pending, Status::Completed, Status::Failed, Status::Canceled, Status::Reversed];

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

stored! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CancelReason {
        0 Superseded,
        /// The intent was not charged in time.
        1 Expired,
    }
}

impl CancelReason {
    pub const fn name(self) -> &'static str {
        match self {
            CancelReason::Superseded => "superseded",
            CancelReason::Expired => "expired",
        }
    }
}

stored! {
    /// The phase of a payment: the bank's work on it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Phase {
        0 Idle,
        1 Charging {
            /// The number of times that the bank was asked about it.
            0 looks: u32,
            /// The instant at which it is asked next.
            1 next_look: Timestamp,
        },
        /// A reversal is on its way, and the money for it is set aside.
        2 Reversing {
            /// The number of times that the bank was asked about it.
            0 looks: u32,
            /// The instant at which it is asked next.
            1 next_look: Timestamp,
            2 resent: bool,
            3 aside: reversal::Aside,
        },
        /// An operator has settled this operation; the bank is still asked whether it agrees.
        3 AskedOn {
            0 operation: u16,
            /// The number of times that the bank was asked since.
            1 looks: u32,
            2 next_look: Timestamp,
            /// The instant from which it is not asked any more.
            3 until: Timestamp,
        },
        /// No bank works on it: the bank made the reversal, and then said that it refused it.
        4 ReversalDenied { 0 code: String },
    }
}

impl Phase {
    /// Whether the bank is to decide about money.
    pub const fn is_deciding(&self) -> bool {
        matches!(self, Phase::Charging { .. } | Phase::Reversing { .. })
    }
}

impl From<AskedOn> for Phase {
    fn from(AskedOn { operation, looks, next_look, until }: AskedOn) -> Phase {
        Phase::AskedOn { operation, looks, next_look, until }
    }
}

impl polling::Phase for Phase {
    const IDLE: Phase = Phase::Idle;

    fn asked_on(&self) -> Option<AskedOn> {
        match *self {
            Phase::AskedOn { operation, looks, next_look, until } => {
                Some(AskedOn { operation, looks, next_look, until })
            }
            Phase::Idle | Phase::Charging { .. } | Phase::Reversing { .. } | Phase::ReversalDenied { .. } => {
                None
            }
        }
    }
}

/// The seller's side of a marketplace sale.
pub type Marketplace = crate::resources::collections::sale::Marketplace<Ves>;

stored! {
    /// A payment. The amounts that its sale moved are in the ledger.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Payment {
        /// The id, and for C2P the intent's.
        0 pub id: Id,
        1 pub external_ref: ExternalRef,
        2 pub means: Means,
        3 pub status: Status,
        4 pub phase: Phase,
        5 pub usd: Usd,
        6 pub ves: Ves,
        7 pub bcv_rate: Rate,
        8 pub fee: Option<Ves>,
        9 pub marketplace: Option<Box<Marketplace>>,
        /// The bank's reference of the charge. On a failed payment it contradicts the failure.
        10 pub bank_reference: Option<String>,
        /// The bank's code when it failed. On a completed payment it contradicts the completion.
        11 pub failure_code: Option<String>,
        12 pub cancel_reason: Option<CancelReason>,
        /// The chargebacks of a card payment, oldest first.
        13 pub chargebacks: Vec<Chargeback>,
        14 pub description: Option<String>,
        15 pub reversed_at: Option<Timestamp>,
        /// The bank's reference of the newest reversal. On a payment that is not reversed it contradicts
        /// the refusal.
        16 pub reversal_ref: Option<String>,
        17 pub previous: Option<Id>,
        /// The kept answer that the outcome replaces.
        18 pub kept: Option<Arc<KeepRef>>,
        /// Whether real money moves; a test payment moves none.
        19 pub livemode: bool,
        20 pub created_at: Timestamp,
        21 pub expires_at: Option<Timestamp>,
        22 pub completed_at: Option<Timestamp>,
        23 pub available_at: Option<Timestamp>,
        24 pub checkout: Option<Box<Sale>>,
        /// The number of reversals that were begun: each is an operation of its own.
        25 pub reversals: u16,
        /// A reversal before the newest, if the bank made it after it had refused it.
        26 pub earlier_reversal: Option<Box<EarlierReversal>>,
        /// The trace of the newest order at its rail.
        27 pub trace: Trace,
        /// The number of this attempt among those on its reference, from 1.
        28 pub attempt: u32,
        29 pub failed_at: Option<Timestamp>,
        /// Whether the holder of its card disputes it a day after it completed: a card of test mode.
        30 pub is_disputed: bool,
    }
}

/// The attempt before a new one on its reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before {
    pub id: Id,
    pub attempt: u32,
}

stored! {
    /// A reversal that the bank refused, after which another was begun, and of which the bank then said
    /// that it was made.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct EarlierReversal {
        0 pub operation: u16,
        1 pub reference: String,
    }
}

pub const CHARGE: u16 = 1;
/// The number of the operation of the first reversal.
pub const REVERSE: u16 = 2;
/// The number of the operation that asks the bank to send a code.
pub const REQUEST_OTP: u16 = 3;
/// The number of the operation of the second reversal; each further one is the next number.
const REVERSE_AGAIN: u16 = 16;
/// The largest number of reversals, as each has an operation of its own.
const REVERSALS_MAX: u16 = u16::MAX - REVERSE_AGAIN + 2;

pub const fn is_reversal(operation: u16) -> bool {
    operation == REVERSE || operation >= REVERSE_AGAIN
}

impl Payment {
    /// A pending payment, which no bank has been called about.
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
            attempt: 1,
            previous: None,
            kept: None,
            livemode: turn.livemode,
            created_at: turn.now,
            expires_at: None,
            completed_at: None,
            failed_at: None,
            available_at: None,
            checkout: None,
            reversals: 0,
            earlier_reversal: None,
            trace: Trace::default(),
            is_disputed: false,
        }
    }

    /// The payment as the attempt after this one on its reference.
    pub fn after(self, before: Option<Before>) -> Payment {
        Payment {
            attempt: before.map_or(1, |before| before.attempt.saturating_add(1)),
            previous: before.map(|before| before.id),
            ..self
        }
    }

    /// Itself as the attempt before a new one on its reference.
    pub const fn before(&self) -> Before {
        Before { id: self.id, attempt: self.attempt }
    }

    /// The operation of the newest reversal, or of the first if there was none.
    pub const fn reversal(&self) -> u16 {
        match self.reversals {
            0 | 1 => REVERSE,
            nth => REVERSE_AGAIN.saturating_add(nth - 2),
        }
    }

    /// The number of the newest operation that was ordered, whose trace it has.
    pub const fn newest_order(&self) -> u16 {
        if self.reversals > 0 { self.reversal() } else { CHARGE }
    }

    /// The trace of its `n`-th operation.
    pub fn order(&self, n: u16) -> Option<&Trace> {
        self.trace.of(n, self.newest_order())
    }

    /// Whether its `n`-th operation is a reversal before the newest.
    pub const fn is_earlier_reversal(&self, n: u16) -> bool {
        self.reversals > 1 && is_reversal(n) && n < self.reversal()
    }

    /// The space in which its reference names it. The attempts of a session are in one of their own, so
    /// that no reference of the tenant's can collide with them.
    pub const fn named_in(&self) -> Space {
        if self.checkout.is_some() { Space::Checkout } else { Space::Payment }
    }

    /// Whether it is an intent that nobody has executed.
    pub fn is_idle_intent(&self) -> bool {
        self.status == Status::Pending && self.phase == Phase::Idle
    }

    /// Whether the payer now needs a code that the bank sends on our request.
    pub fn awaits_otp(&self) -> bool {
        self.is_idle_intent() && self.means.otp_requested()
    }

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

    pub fn chargeback(&self, id: Id) -> Option<&Chargeback> {
        self.chargebacks.iter().find(|chargeback| chargeback.id == id)
    }

    /// The brand and the last four digits of the card.
    pub fn card(&self) -> Option<(Brand, u16)> {
        match &self.means {
            Means::Card { brand, last_four, .. } => Some((*brand, *last_four)),
            Means::C2p { .. } | Means::Debit { .. } | Means::Transfer { .. } | Means::Usdt { .. } => None,
        }
    }

    /// The part of the tenant and the seller together; set on completion.
    pub fn net(&self) -> Option<Ves> {
        self.fee.and_then(|fee| self.ves.minus(fee))
    }

    /// The operator's share of the sale; set on completion of a sale through a payment link.
    pub fn platform_fee(&self) -> Ves {
        self.checkout.as_ref().and_then(|checkout| checkout.platform_fee).unwrap_or_default()
    }

    /// The operation that a bank is working on, if any.
    pub fn operation(&self) -> Option<Id> {
        match self.phase {
            Phase::Idle | Phase::AskedOn { .. } | Phase::ReversalDenied { .. } => None,
            Phase::Charging { .. } => Some(self.id.operation(CHARGE)),
            Phase::Reversing { .. } => Some(self.id.operation(self.reversal())),
        }
    }

    /// The number of the operation about which the bank contradicted itself, if any.
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

    /// The instant at which the holder of its card disputes it. A payment is disputed once: a chargeback
    /// that was opened before takes the place of this one.
    pub fn disputed_at(&self) -> Option<Timestamp> {
        let is_due = self.is_disputed && self.status == Status::Completed && self.chargebacks.is_empty();
        self.completed_at.filter(|_| is_due).map(|at| at.plus_ms(DAY_MS))
    }

    /// The instants at which it moved money, by which its movements are found.
    pub fn moved_at(&self) -> Vec<Timestamp> {
        let of_chargebacks = self.chargebacks.iter().flat_map(Chargeback::moved_at);
        self.completed_at.into_iter().chain(self.reversed_at).chain(of_chargebacks).collect()
    }
}

impl Resource for Payment {
    fn entity_id(&self) -> EntityId {
        EntityId::payment(self.id)
    }

    fn facet(&self) -> u8 {
        facet(self.method(), self.status)
    }

    fn deadline(&self) -> Option<Timestamp> {
        let of_phase = match (&self.phase, self.status) {
            (
                Phase::Charging { next_look, .. }
                | Phase::Reversing { next_look, .. }
                | Phase::AskedOn { next_look, .. },
                _,
            ) => Some(*next_look),
            (Phase::Idle, Status::Pending) => self.expires_at,
            (Phase::Idle | Phase::ReversalDenied { .. }, _) => None,
        };
        of_phase.into_iter().chain(self.disputed_at()).min()
    }

    fn external_ref(&self) -> Option<&str> {
        Some(&self.external_ref)
    }

    fn listing(&self, _facet: u8) -> Listing {
        Listing::ById
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new() && self.means.is_named() {
            entries.name(self.named_in(), &self.external_ref);
        }
        self.transfer_entries(change, entries);
        if self.livemode && change.is_of_bank(self.facet()) {
            entries.bank_names(bank_names::of_payment(self));
        }
        if let (true, true, Some(debtor)) = (change.is_new(), self.livemode, self.debtor()) {
            entries.payer(debtor.id);
        }
        self.searched_by(change, entries);
    }
}

impl Payment {
    /// The texts by which it is searched for, each from the record that brings it.
    fn searched_by(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new() {
            let debtor = self.debtor();
            entries.found_by_person(debtor.map(|debtor| debtor.id), debtor.map(|debtor| debtor.phone));
            let sale = self.checkout.as_deref();
            entries.maybe_found_by(Trait::Reference, sale.and_then(|sale| sale.reference.as_deref()));
        }
        if !change.is_to(self.facet()) {
            return;
        }
        if matches!(self.status, Status::Pending | Status::Completed) {
            entries.maybe_found_by(Trait::BankReference, shown(&self.bank_reference));
            if let (Status::Completed, Means::Usdt { tx_hash, .. }) = (self.status, &self.means) {
                entries.found_by(Trait::TxHash, &searched_hash(tx_hash));
            }
        }
        if self.status == Status::Reversed {
            entries.maybe_found_by(Trait::BankReference, shown(&self.reversal_ref));
        }
    }
}

/// The facet of payments by this method in this state.
pub const fn facet(method: Method, status: Status) -> u8 {
    (method as u8) << 3 | status as u8
}
