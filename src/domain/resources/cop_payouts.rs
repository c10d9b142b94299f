//! Payouts of pesos to a bank in Colombia: an operator asks for one, it is debited at once, and the
//! operator reports its outcome (`docs/contract.md, 11.8`).

use crate::codec::stored;
use crate::decision::{Draft, Ruling, Turn, differing, repeated};
use crate::entity::{Change, Listing, Resource};
use crate::events::EventKind;
use crate::index::{Entries, Space, Trait};
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use crate::ledger::{Ledger, MovementKind};
use crate::record::{Cause, Entity};
use crate::refusal::{CopPayoutRefusal, Refusal};
use crate::resources::payouts::Status;
use crate::resources::payouts::lifecycle::{self, Amount, PayoutEnd};
use crate::values::buyer::{DocumentNumber, DocumentType};
use crate::values::external_ref::ExternalRef;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Cop, Currency};
use crate::values::time::Timestamp;
use std::fmt;
use std::sync::Arc;

stored! {
    /// The type of the account that is paid.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AccountType {
        0 Savings,
        1 Checking,
        /// A wallet, such as one that a phone number names.
        2 Wallet,
    }
}

impl AccountType {
    pub const ALL: [AccountType; 3] = [AccountType::Savings, AccountType::Checking, AccountType::Wallet];

    pub const fn name(self) -> &'static str {
        match self {
            AccountType::Savings => "savings",
            AccountType::Checking => "checking",
            AccountType::Wallet => "wallet",
        }
    }
}

stored! {
    /// The number of an account in Colombia, which no check digit guards. Personal data: shown masked.
    #[derive(Clone, PartialEq, Eq)]
    pub struct ColombianAccount(pub(crate) Box<str>);
}

impl ColombianAccount {
    /// Reads a number of 5 to 20 digits; the error is a message for the caller.
    pub fn parse(text: &str) -> Result<ColombianAccount, &'static str> {
        let fits = (5..=20).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        if fits {
            Ok(ColombianAccount(Box::from(text)))
        } else {
            Err("must be an account number of 5 to 20 digits")
        }
    }

    /// The account unmasked. Only for whoever pays to it.
    pub fn clear(&self) -> &str {
        &self.0
    }

    /// The account masked to its last four digits: `…1234`.
    pub fn masked(&self) -> impl fmt::Display {
        fmt::from_fn(move |f| write!(f, "…{}", &self.0[self.0.len().saturating_sub(4)..]))
    }
}

/// The masked account.
impl fmt::Debug for ColombianAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.masked(), f)
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Beneficiary {
        0 pub bank: String,
        1 pub account: ColombianAccount,
        2 pub account_type: AccountType,
        3 pub holder_name: String,
        4 pub document_type: DocumentType,
        5 pub document_number: DocumentNumber,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CopPayout {
        0 pub id: Id,
        1 pub external_ref: ExternalRef,
        2 pub status: Status,
        3 pub amount: Cop,
        4 pub to: Beneficiary,
        5 pub reference: Option<String>,
        6 pub failure_code: Option<String>,
        /// Whether real money moves; a test payout moves none.
        7 pub livemode: bool,
        8 pub created_at: Timestamp,
        /// The instant at which the operator reported the outcome.
        9 pub settled_at: Option<Timestamp>,
    }
}

impl CopPayout {
    /// The instants at which it moved money, by which its movements are found.
    pub fn moved_at(&self) -> Vec<Timestamp> {
        std::iter::once(self.created_at).chain(self.settled_at).collect()
    }

    /// Posts the amount; `sign` −1 takes it from the tenant, 1 gives it back.
    fn post(&self, draft: &mut Draft, sign: i64, kind: MovementKind, description: &str) {
        let amount = Amount { minor: self.amount.minor(), against: Ledger::Rail, kind, description };
        let about = (EntityId::cop_payout(self.id), &self.external_ref);
        lifecycle::post(draft, about, (Ledger::Tenant, Currency::Cop), sign, &[amount]);
    }
}

impl Resource for CopPayout {
    fn entity_id(&self) -> EntityId {
        EntityId::cop_payout(self.id)
    }

    fn facet(&self) -> u8 {
        self.status as u8
    }

    fn deadline(&self) -> Option<Timestamp> {
        None
    }

    fn external_ref(&self) -> Option<&str> {
        Some(&self.external_ref)
    }

    fn listing(&self, _facet: u8) -> Listing {
        Listing::ById
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new() {
            entries.name(Space::CopPayout, &self.external_ref);
            entries.id_among_all(Space::CopPayout);
        }
        if self.status == Status::Completed && change.is_to(self.facet()) {
            entries.maybe_found_by(Trait::BankReference, self.reference.as_deref());
        }
    }
}

impl lifecycle::Payout for CopPayout {
    fn into_entity(self) -> Entity {
        Entity::CopPayout(self)
    }

    fn end(&self, end: &PayoutEnd) -> (Cause, EventKind) {
        match end {
            PayoutEnd::Completed(_) => (Cause::CopPayoutCompleted, EventKind::PayoutCompleted),
            PayoutEnd::Failed(_) => (Cause::CopPayoutFailed, EventKind::PayoutFailed),
        }
    }

    fn give_back(&self, draft: &mut Draft) {
        self.post(draft, 1, MovementKind::PayoutReversal, "payout returned");
    }

    /// No kept answer is replaced: the operator's request was answered with the debit.
    fn kept(&self) -> Option<Arc<KeepRef>> {
        None
    }

    fn settled(&self, end: PayoutEnd, now: Timestamp) -> CopPayout {
        let (status, reference, failure_code) = match end {
            PayoutEnd::Completed(reference) => {
                (Status::Completed, Some(reference), self.failure_code.clone())
            }
            PayoutEnd::Failed(code) => (Status::Failed, self.reference.clone(), Some(code)),
        };
        CopPayout { status, reference, failure_code, settled_at: Some(now), ..self.clone() }
    }
}

pub struct NewCopPayout {
    pub id: Id,
    pub external_ref: ExternalRef,
    pub amount: Cop,
    pub to: Beneficiary,
}

pub enum Command {
    /// A request for a payout; the entity is the payout with its reference, if there is one.
    Pay(Box<NewCopPayout>),
    Settle(PayoutEnd),
}

pub fn decide(book: &Book, payout: Option<&CopPayout>, command: Command, turn: &Turn<'_>) -> Ruling {
    match (command, payout) {
        (Command::Pay(new), None) => create(book, *new, turn),
        (Command::Pay(new), Some(payout)) => repeat(payout, &new),
        (Command::Settle(settled), Some(payout)) => settle(payout, settled, turn),
        (Command::Settle(_), None) => Ruling::refuse(Refusal::NotFound),
    }
}

pub fn create(book: &Book, new: NewCopPayout, turn: &Turn) -> Ruling {
    let free = book.account(Currency::Cop).free();
    if new.amount.minor() > free {
        return Ruling::refuse(CopPayoutRefusal::InsufficientBalance { available: Cop::from_minor(free) });
    }
    let NewCopPayout { id, external_ref, amount, to } = new;
    let payout = CopPayout {
        id,
        external_ref,
        status: Status::Pending,
        amount,
        to,
        reference: None,
        failure_code: None,
        livemode: turn.livemode,
        created_at: turn.now,
        settled_at: None,
    };
    let mut draft = Draft::new(Cause::CopPayoutCreated);
    payout.post(&mut draft, -1, MovementKind::Payout, "payout");
    draft.create(Entity::CopPayout(payout));
    Ruling::write(draft)
}

/// The ruling on a known reference: a repeat of the same payout gets the same answer, another one
/// is a conflict.
pub fn repeat(payout: &CopPayout, again: &NewCopPayout) -> Ruling {
    let (before, is) = (&payout.to, &again.to);
    let fields = [
        ("amountCop", payout.amount != again.amount),
        ("bank", before.bank != is.bank),
        ("accountNumber", before.account != is.account),
        ("accountType", before.account_type != is.account_type),
        ("holderName", before.holder_name != is.holder_name),
        ("documentType", before.document_type != is.document_type),
        ("documentNumber", before.document_number != is.document_number),
    ];
    repeated(payout.id, differing(fields))
}

/// Applies the outcome that the operator reports; a failed payout is credited again in the same
/// record.
pub fn settle(payout: &CopPayout, end: PayoutEnd, turn: &Turn) -> Ruling {
    match payout.status {
        Status::Pending => lifecycle::settle(payout, end, turn),
        Status::Completed | Status::Failed => Ruling::refuse(CopPayoutRefusal::NotPending),
    }
}
