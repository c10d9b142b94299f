//! Payouts in bolívares.

use crate::bank_names::{self, Named};
use crate::codec::stored;
use crate::entities::resource::{Change, Listing, Resource};
use crate::index::{Entries, Space, Trait};
use crate::kept::KeepRef;
use crate::ledger::Ledger;
use crate::rail::{Operation, OperationKind, Order, Service, Subject};
use crate::trace::{Trace, shown};
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Currency, Ves};
use crate::values::text::ExternalRef;
use crate::values::time::Timestamp;
use crate::values::venezuela::{AccountNumber, BankCode, IdentityDocument, MobilePhone};
use std::sync::Arc;

/// The number of the operation that sends a payout's money.
pub const CREDIT: u16 = 1;

stored! {
    /// The status of a payout. The number is its list facet.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Status {
        /// The payout is debited; its outcome at the bank is open.
        0 Pending "pending",
        1 Completed "completed",
        2 Failed "failed",
    }

    /// The kind of a payout, by the request for it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PayoutKind {
        0 Merchant "merchant",
        /// A payout to the tenant's own account.
        1 Instant "instant",
        2 Credit "credit",
        3 Account "account",
        4 Change "change",
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Destination {
        0 Phone {
            0 bank: BankCode,
            1 phone: MobilePhone,
            /// The receiver; some banks check it.
            2 identity: Option<IdentityDocument>,
        },
        1 Account { 0 account: AccountNumber, 1 identity: IdentityDocument, 2 name: String },
    }
}

impl Destination {
    pub const fn bank(&self) -> BankCode {
        match self {
            Destination::Phone { bank, .. } => *bank,
            Destination::Account { account, .. } => account.bank(),
        }
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Payout {
        0 pub id: Id,
        1 pub external_ref: ExternalRef,
        2 pub kind: PayoutKind,
        3 pub status: Status,
        4 pub amount: Ves,
        5 pub fee: Ves,
        6 pub concept: String,
        7 pub merchant: Option<Id>,
        8 pub merchant_name: Option<String>,
        9 pub method: Option<Id>,
        10 pub method_named: bool,
        11 pub payment: Option<Id>,
        12 pub batch: Option<Id>,
        13 pub destination: Destination,
        14 pub from_merchant_balance: bool,
        /// The bank's reference. On a failed payout it contradicts the failure.
        15 pub reference: Option<String>,
        /// The bank's code when it failed. On a completed payout it contradicts the completion.
        16 pub failure_code: Option<String>,
        /// The number of times that it was sent: two at most, the second after the bank said that it
        /// never received it.
        17 pub sends: u32,
        /// The number of times that the bank was asked about it.
        18 pub looks: u32,
        /// The instant of the next question to the bank: about the outcome, or whether it agrees with
        /// an operator who settled the payout.
        19 pub next_look: Option<Timestamp>,
        /// The kept answer that the outcome replaces.
        20 pub kept: Option<Arc<KeepRef>>,
        /// Whether real money moves; a test payout moves none.
        21 pub livemode: bool,
        22 pub created_at: Timestamp,
        /// The instant at which the payout completed or failed.
        23 pub settled_at: Option<Timestamp>,
        /// The trace of its order at the bank.
        24 pub trace: Trace,
    }
}

impl Payout {
    /// The operation that the bank is working on, if any.
    pub fn operation(&self) -> Option<Id> {
        (self.status == Status::Pending).then(|| self.id.operation(CREDIT))
    }

    /// Whether the bank said both that the payout was paid and that it was not.
    pub fn is_contradicted(&self) -> bool {
        self.reference.is_some() && self.failure_code.is_some()
    }

    /// Whether the first order to the bank is still to be sent.
    pub fn is_unsent(&self) -> bool {
        self.status == Status::Pending && self.sends == 1 && self.looks == 0
    }

    /// The instants at which it moved money, by which its movements are found.
    pub fn moved_at(&self) -> Vec<Timestamp> {
        std::iter::once(self.created_at).chain(self.settled_at).collect()
    }

    pub fn payer(&self) -> Ledger {
        match self.merchant.filter(|_| self.from_merchant_balance) {
            Some(merchant) => Ledger::Seller(merchant),
            None => Ledger::Tenant,
        }
    }

    /// Its operation with the bank, as operators see it.
    pub(crate) fn as_operation(&self) -> Operation {
        Operation {
            id: self.id.operation(CREDIT),
            kind: OperationKind::Payout,
            service: Service::Payouts,
            subject: Subject::Payout(self.id),
            minor: self.amount.minor(),
            currency: Currency::Ves,
            sent_at: self.trace.sent_at.unwrap_or(self.created_at),
            asked_at: self.trace.asked_at,
            asks: self.trace.asks.unwrap_or(self.looks),
            is_queued: self.status == Status::Pending && self.trace.is_queued(),
            is_operators: self.trace.is_ambiguous(),
            code: self.failure_code.clone(),
            word: self.trace.said(),
            reference: self.reference.clone(),
        }
    }

    pub fn instruction(&self) -> Order {
        let (amount, concept) = (self.amount, self.concept.clone());
        match &self.destination {
            Destination::Phone { bank, phone, identity } => {
                Order::Credit { bank: *bank, phone: *phone, identity: *identity, amount, concept }
            }
            Destination::Account { account, identity, name } => Order::CreditAccount {
                account: *account,
                identity: *identity,
                name: name.clone(),
                amount,
                concept,
            },
        }
    }
}

impl Resource for Payout {
    fn entity_id(&self) -> EntityId {
        EntityId::payout(self.id)
    }

    fn facet(&self) -> u8 {
        self.status as u8
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.next_look
    }

    fn external_ref(&self) -> Option<&str> {
        Some(&self.external_ref)
    }

    fn listing(&self, _facet: u8) -> Listing {
        Listing::ById
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new() {
            entries.name(Space::Payout, &self.external_ref);
        }
        if self.livemode && change.is_of_bank(self.facet()) {
            entries.bank_names(bank_names::names(vec![self.named_order()]));
        }
        if self.status == Status::Completed && change.is_to(self.facet()) {
            entries.maybe_found_by(Trait::BankReference, shown(&self.reference));
        }
    }
}

impl Payout {
    /// Its order, as far as the bank names it.
    pub fn named_order(&self) -> Named<'_> {
        Named {
            operation: self.id.operation(CREDIT),
            kind: self.instruction().kind(),
            trace: Some(&self.trace),
            since: self.created_at,
            reference: self.reference.as_deref(),
        }
    }
}
