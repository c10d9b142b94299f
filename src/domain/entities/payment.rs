//! Payments in bolívares and USDT.

use crate::bank_names::{self, Named, without_zeros};
use crate::codec::stored;
use crate::entities::chargeback::Chargeback;
use crate::entities::means::{Debtor, Means, Method, transfer_name};
use crate::entities::notice::{Guess, Traits};
use crate::entities::resource::{Change, Resource};
use crate::entities::sale::{Aside, Sale};
use crate::index::{Entries, Space, Trait, searched_hash};
use crate::kept::KeepRef;
use crate::ledger::spending::Drawn;
use crate::trace::{OrderState, Said, shown};
use crate::values::card::Brand;
use crate::values::ids::Id;
use crate::values::money::{Currency, Rate, Usd, Ves};
use crate::values::text::ExternalRef;
use crate::values::time::{DAY_MS, Timestamp};
use std::sync::Arc;

stored! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Status {
        /// The payment waits for the payer or the bank.
        0 Pending "PENDING",
        1 Completed "COMPLETED",
        2 Failed "FAILED",
        /// The payment was given up before it was charged.
        3 Canceled "CANCELED",
        4 Reversed "REVERSED",
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CancelReason {
        0 Superseded "superseded",
        1 Expired "expired",
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Phase {
        0 Idle,
        1 Charging,
        /// A reversal is on its way, and the money for it is set aside.
        2 Reversing { 0 aside: Aside },
        /// No bank works on it: the bank made the reversal, and then said that it refused it.
        3 ReversalDenied { 0 code: String },
    }
}

impl Phase {
    pub const fn is_deciding(&self) -> bool {
        matches!(self, Phase::Charging | Phase::Reversing { .. })
    }
}

pub type Marketplace = crate::entities::sale::Marketplace<Ves>;

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
        27 pub order: OrderState,
        /// The number of this attempt among those on its reference, from 1.
        28 pub attempt: u32,
        29 pub failed_at: Option<Timestamp>,
        /// Whether the holder of its card disputes it a day after it completed: a card of test mode.
        30 pub is_disputed: bool,
        /// What its newest reversal was drawn from.
        31 pub drawn: Drawn = since 8 else Drawn::NONE,
    }
}

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
pub(crate) const REVERSE_AGAIN: u16 = 16;
/// The largest number of reversals, as each has an operation of its own.
pub(crate) const REVERSALS_MAX: u16 = u16::MAX - REVERSE_AGAIN + 2;

pub const fn is_reversal(operation: u16) -> bool {
    operation == REVERSE || operation >= REVERSE_AGAIN
}

impl Payment {
    /// The payment as the attempt after this one on its reference.
    pub fn after(self, before: Option<Before>) -> Payment {
        Payment {
            attempt: before.map_or(1, |before| before.attempt.saturating_add(1)),
            previous: before.map(|before| before.id),
            ..self
        }
    }

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

    /// With what the rail said besides its answer, about its `n`-th operation.
    pub(crate) fn noting(&self, n: u16, said: &Said) -> Payment {
        Payment { order: self.order.noting(n, said), ..self.clone() }
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

    pub fn debtor(&self) -> Option<&Debtor> {
        self.means.debtor()
    }

    pub fn chargeback(&self, id: Id) -> Option<&Chargeback> {
        self.chargebacks.iter().find(|chargeback| chargeback.id == id)
    }

    pub fn card(&self) -> Option<(Brand, u16)> {
        if let Means::Card { brand, last_four, .. } = self.means { Some((brand, last_four)) } else { None }
    }

    /// What is paid, in minor units of its currency.
    pub const fn amount(&self) -> (Currency, i64) {
        let minor =
            if let Means::Usdt { amount, .. } = &self.means { amount.minor() } else { self.ves.minor() };
        (self.means.method().currency(), minor)
    }

    /// The part of the tenant and the seller together; set on completion.
    pub fn net(&self) -> Option<Ves> {
        self.fee.and_then(|fee| self.ves.minus(fee))
    }

    /// The operator's share of the sale; set on completion of a sale through a payment link.
    pub fn platform_fee(&self) -> Ves {
        self.checkout.as_ref().and_then(|checkout| checkout.platform_fee).unwrap_or_default()
    }

    pub fn operation(&self) -> Option<Id> {
        self.phase.is_deciding().then(|| self.id.operation(self.order.operation))
    }

    /// The number of the operation about which the bank contradicted itself, if any.
    pub fn contradicted(&self) -> Option<u16> {
        match (self.status, &self.phase) {
            (Status::Failed, _) => self.bank_reference.is_some().then_some(CHARGE),
            (Status::Reversed, Phase::ReversalDenied { .. }) => Some(self.reversal()),
            (Status::Completed, Phase::Idle) if self.reversal_ref.is_some() => Some(self.reversal()),
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
    fn facet(&self) -> u8 {
        facet(self.method(), self.status)
    }

    fn deadline(&self) -> Option<Timestamp> {
        let unpaid = self.expires_at.filter(|_| self.is_idle_intent());
        self.order.next_look.or(unpaid).into_iter().chain(self.disputed_at()).min()
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        // USDT are a payment once they have come, and no request named it.
        if change.is_new && !matches!(self.means, Means::Usdt { .. }) {
            entries.name(self.named_in(), &self.external_ref);
        }
        self.transfer_entries(change, entries);
        if self.livemode && change.is_of_bank() {
            entries.bank_names(bank_names::names(self.named_orders()));
        }
        if let (true, true, Some(debtor)) = (change.is_new, self.livemode, self.debtor()) {
            entries.payer(debtor.id);
        }
        // The texts by which it is searched for, each from the record that brings it.
        if change.is_new {
            let debtor = self.debtor();
            entries.found_by_person(debtor.map(|debtor| debtor.id), debtor.map(|debtor| debtor.phone));
            let sale = self.checkout.as_deref();
            entries.found_by(Trait::Reference, sale.and_then(|sale| sale.reference.as_deref()));
        }
        if change.is_moved && matches!(self.status, Status::Pending | Status::Completed) {
            entries.found_by(Trait::BankReference, shown(&self.bank_reference));
            if let (Status::Completed, Means::Usdt { tx_hash, .. }) = (self.status, &self.means) {
                entries.found_by(Trait::TxHash, Some(&searched_hash(tx_hash)));
            }
        }
        if change.is_moved && self.status == Status::Reversed {
            entries.found_by(Trait::BankReference, shown(&self.reversal_ref));
        }
    }
}

pub const fn facet(method: Method, status: Status) -> u8 {
    (method as u8) << 3 | status as u8
}

impl Payment {
    /// The name under which a found transfer can pay once: with the bank's reference instead of the
    /// digits that the payer gave.
    pub fn found_transfer(&self) -> Option<String> {
        let Means::Transfer { debtor, date, .. } = &self.means else { return None };
        Some(transfer_name(debtor.bank, *date, without_zeros(self.bank_reference.as_deref()?)))
    }

    /// The data that a notice of the payment's transfer must share with the payment.
    pub fn notice_traits(&self) -> Option<Traits> {
        self.means.notice_traits(self.ves)
    }

    /// Whether the payment waits for the notice of a transfer with other data than these, and so is not what
    /// such a transfer pays, though it has the name.
    pub fn awaits_another(&self, traits: Option<&Traits>) -> bool {
        self.status == Status::Pending && self.notice_traits().as_ref() != traits
    }

    /// Writes the names of a transfer. It is taken when it is first searched for, and free again
    /// when it was not found. Once found, its name has the bank's reference: the digits that the
    /// payer gave may be those of another transfer too.
    ///
    /// A payment that was found may have taken the name of one that waited for another payer or amount;
    /// when that one fails, the name is free although its transfer has paid. The claim of the notice
    /// tells then that it has (`docs/contract.md, 18.6`).
    pub(crate) fn transfer_entries(&self, change: Change, entries: &mut Entries<'_>) {
        let Some(transfer) = self.means.transfer() else { return };
        let is_decided = change.is_moved && !change.is_new;
        if let (true, Means::Transfer { reference, .. }, Some(traits)) =
            (self.livemode, &self.means, self.notice_traits())
        {
            let reference = without_zeros(reference);
            match self.status {
                Status::Pending if change.is_new => {
                    entries.await_notice(&traits.prefix());
                    // Before it is looked for, so that many who guess at once know of each other.
                    guessed(entries, &traits, reference, Some(Guess::Waiting));
                }
                Status::Completed if is_decided => {
                    entries.await_no_notice(&traits.prefix());
                    guessed(entries, &traits, reference, None);
                }
                Status::Failed if is_decided => {
                    entries.await_no_notice(&traits.prefix());
                    guessed(entries, &traits, reference, Some(Guess::Wrong));
                }
                _ => {}
            }
        }
        match self.status {
            _ if change.is_new => entries.name(Space::Transfer, &transfer),
            // Once: a later record of it must not take the name from the attempt that has it now.
            Status::Failed if is_decided => entries.free(Space::Transfer, &transfer),
            Status::Completed if is_decided => {
                if let Some(found) = self.found_transfer().filter(|found| *found != transfer) {
                    entries.free(Space::Transfer, &transfer);
                    entries.name(Space::Transfer, &found);
                }
            }
            _ => {}
        }
    }

    pub fn named_orders(&self) -> Vec<Named<'_>> {
        let order = |n: u16, kind, reference| Named {
            operation: self.id.operation(n),
            kind,
            trace: self.order.of(n),
            since: self.created_at,
            reference,
        };
        let (charge, reversal) = self.means.named_orders();
        let charge = charge.map(|kind| order(CHARGE, kind, self.bank_reference.as_deref()));
        let reversal = reversal.map(|kind| order(self.reversal(), kind, self.reversal_ref.as_deref()));
        charge.into_iter().chain(reversal).collect()
    }
}

/// Writes what is known of the reference of a transfer that a payment looks for; nothing more once it was
/// found.
fn guessed(entries: &mut Entries<'_>, traits: &Traits, reference: &str, guess: Option<Guess>) {
    for known in [Guess::Waiting, Guess::Wrong] {
        let text = format!("{}{reference}", traits.guesses(known));
        if guess == Some(known) {
            entries.name_among_all(Space::TransferGuess, &text);
        } else if guess != Some(Guess::Waiting) {
            entries.free_among_all(Space::TransferGuess, &text);
        }
    }
}
