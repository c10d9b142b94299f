//! Payouts of pesos to a bank in Colombia: an operator asks for one, it is debited at once, and the
//! operator reports its outcome (`docs/contract.md, 11.8`).

use crate::cause::Cause;
use crate::decision::{Draft, Ruling, Turn, differing, repeated};
use crate::entities::cop_payout::{Beneficiary, CopPayout};
use crate::entities::payout::Status;
use crate::events::EventKind;
use crate::ledger::book::Book;
use crate::ledger::{Ledger, MovementKind};
use crate::refusal::{CopPayoutRefusal, Refusal};
use crate::resources::payouts::lifecycle::{self, Amount, PayoutEnd};
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Cop, Currency};
use crate::values::text::ExternalRef;

impl CopPayout {
    /// Posts the amount; `sign` −1 takes it from the tenant, 1 gives it back.
    fn post(&self, draft: &mut Draft, sign: i64, kind: MovementKind, description: &str) {
        let amount = Amount { minor: self.amount.minor(), against: Ledger::Rail, kind, description };
        let about = (EntityId::cop_payout(self.id), &self.external_ref);
        lifecycle::post(draft, about, (Ledger::Tenant, Currency::Cop), sign, &[amount]);
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
    draft.create(payout);
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
    if payout.status != Status::Pending {
        return Ruling::refuse(CopPayoutRefusal::NotPending);
    }
    let mut settled = CopPayout { settled_at: Some(turn.now), ..payout.clone() };
    let draft = match end {
        PayoutEnd::Completed(reference) => {
            (settled.status, settled.reference) = (Status::Completed, Some(reference));
            let mut draft = Draft::changed(Cause::CopPayoutCompleted, payout, settled);
            draft.event(EventKind::PayoutCompleted, EntityId::cop_payout(payout.id));
            draft
        }
        PayoutEnd::Failed(code) => {
            (settled.status, settled.failure_code) = (Status::Failed, Some(code));
            let mut draft = Draft::changed(Cause::CopPayoutFailed, payout, settled);
            payout.post(&mut draft, 1, MovementKind::PayoutReversal, "payout returned");
            draft.event(EventKind::PayoutFailed, EntityId::cop_payout(payout.id));
            draft
        }
    };
    Ruling::write(draft)
}
