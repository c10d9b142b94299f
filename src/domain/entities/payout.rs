//! Payouts in bolívares.

use crate::bank_names::{self, Named};
use crate::codec::stored;
use crate::entities::resource::{Change, Resource};
use crate::index::{Entries, Space, Trait};
use crate::kept::KeepRef;
use crate::ledger::Ledger;
use crate::ledger::spending::Drawn;
use crate::rail::{Operation, OperationKind, Order, Service, Subject};
use crate::trace::{OrderState, shown};
use crate::values::ids::Id;
use crate::values::money::{Currency, Ves};
use crate::values::text::ExternalRef;
use crate::values::time::Timestamp;
use crate::values::venezuela::{AccountNumber, BankCode, IdentityDocument, MobilePhone};
use std::sync::Arc;

pub const CREDIT: u16 = 1;

stored! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Status {
        /// The payout is debited; its outcome at the bank is open.
        0 Pending "pending",
        1 Completed "completed",
        2 Failed "failed",
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PayoutKind {
        0 Merchant "merchant",
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
        /// The kept answer that the outcome replaces.
        17 pub kept: Option<Arc<KeepRef>>,
        /// Whether real money moves; a test payout moves none.
        18 pub livemode: bool,
        19 pub created_at: Timestamp,
        20 pub settled_at: Option<Timestamp>,
        21 pub order: OrderState,
        22 pub drawn: Drawn = since 8 else Drawn::NONE,
    }
}

impl Payout {
    pub fn operation(&self) -> Option<Id> {
        (self.status == Status::Pending).then(|| self.id.operation(CREDIT))
    }

    /// Whether the bank said both that the payout was paid and that it was not.
    pub fn is_contradicted(&self) -> bool {
        self.reference.is_some() && self.failure_code.is_some()
    }

    /// Whether the first order to the bank is still to be sent.
    pub fn is_unsent(&self) -> bool {
        self.status == Status::Pending && self.order.sends == 1 && self.order.looks == 0
    }

    /// The instants at which it moved money, by which its movements are found.
    pub fn moved_at(&self) -> Vec<Timestamp> {
        std::iter::once(self.created_at).chain(self.settled_at).collect()
    }

    /// The amount with the fee; `None` if it overflows.
    pub fn total(&self) -> Option<Ves> {
        self.amount.plus(self.fee)
    }

    pub fn payer(&self) -> Ledger {
        match self.merchant {
            Some(merchant) if self.from_merchant_balance => Ledger::Seller(merchant),
            _ => Ledger::Tenant,
        }
    }

    pub(crate) fn as_operation(&self) -> Operation {
        let what = (OperationKind::Payout, Service::Payouts, Subject::Payout(self.id));
        let (sum, trace) = ((self.amount.minor(), Currency::Ves), &self.order.trace);
        Operation {
            is_queued: self.status == Status::Pending && trace.is_queued(),
            code: self.failure_code.clone(),
            reference: self.reference.clone(),
            ..Operation::of(self.id.operation(CREDIT), what, sum, Some(trace), self.created_at)
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
    fn facet(&self) -> u8 {
        self.status as u8
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.order.next_look
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new {
            entries.name(Space::Payout, &self.external_ref);
        }
        if self.livemode && change.is_of_bank() {
            entries.bank_names(bank_names::names(vec![self.named_order()]));
        }
        if self.status == Status::Completed && change.is_moved {
            entries.found_by(Trait::BankReference, shown(&self.reference));
        }
    }
}

impl Payout {
    pub fn named_order(&self) -> Named<'_> {
        Named {
            operation: self.id.operation(CREDIT),
            kind: self.instruction().kind(),
            trace: Some(&self.order.trace),
            since: self.created_at,
            reference: self.reference.as_deref(),
        }
    }
}
