//! Payouts of pesos to a bank in Colombia: an operator asks for one, it is debited at once, and the
//! operator reports its outcome (`docs/contract.md, 11.8`).

use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Ruling, Turn, repeated};
use crate::entities::cop_payout::CopPayout;
use crate::entities::payout::Status;
use crate::events::EventKind;
use crate::ledger::book::Book;
use crate::ledger::{Ledger, MovementKind};
use crate::refusal::{CopPayoutRefusal, Refusal};
use crate::resources::payouts::lifecycle::{self, PayoutEnd};
use crate::values::ids::EntityId;
use crate::values::money::{Cop, Currency};

/// Posts the amount; `sign` −1 takes it from the tenant, 1 gives it back.
fn post(payout: &CopPayout, draft: &mut Draft, sign: i64, kind: MovementKind, words: &str) {
    let about = (EntityId::cop_payout(payout.id), &payout.external_ref, (Ledger::Tenant, Currency::Cop));
    lifecycle::post(draft, about, sign, &[(payout.amount.minor(), Ledger::Rail, kind, words)]);
}

pub enum Command {
    /// A request for a payout, pending; the entity is the payout with its reference, if there is one.
    Pay(Box<CopPayout>),
    Settle(PayoutEnd),
}

pub fn decide(book: &Book, payout: Option<&CopPayout>, command: Command, turn: &Turn<'_>) -> Ruled {
    match (command, payout) {
        (Command::Pay(new), None) => create(book, *new, turn),
        (Command::Pay(again), Some(payout)) => {
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
            repeated(payout.id, fields)
        }
        (Command::Settle(settled), Some(payout)) => settle(payout, settled, turn),
        (Command::Settle(_), None) => Err(Refusal::NotFound),
    }
}

fn create(book: &Book, new: CopPayout, turn: &Turn) -> Ruled {
    let free = book.account(Currency::Cop).free();
    if new.amount.minor() > free {
        return Err(CopPayoutRefusal::InsufficientBalance { available: Cop::from_minor(free) }.into());
    }
    let payout = CopPayout {
        status: Status::Pending,
        reference: None,
        failure_code: None,
        livemode: turn.livemode,
        created_at: turn.now,
        settled_at: None,
        ..new
    };
    let mut draft = Draft::new(Cause::CopPayoutCreated);
    post(&payout, &mut draft, -1, MovementKind::Payout, "payout");
    draft.create(payout);
    Ok(Ruling::write(draft))
}

/// Applies the outcome that the operator reports; a failed payout is credited again in the same
/// record.
fn settle(payout: &CopPayout, end: PayoutEnd, turn: &Turn) -> Ruled {
    if payout.status != Status::Pending {
        return Err(CopPayoutRefusal::NotPending.into());
    }
    let mut settled = CopPayout { settled_at: Some(turn.now), ..payout.clone() };
    let mut draft = Draft::new(Cause::CopPayoutCompleted);
    let event = match end {
        PayoutEnd::Completed(reference) => {
            (settled.status, settled.reference) = (Status::Completed, Some(reference));
            EventKind::PayoutCompleted
        }
        PayoutEnd::Failed(code) => {
            (settled.status, settled.failure_code) = (Status::Failed, Some(code));
            draft.record.cause = Cause::CopPayoutFailed;
            post(payout, &mut draft, 1, MovementKind::PayoutReversal, "payout returned");
            EventKind::PayoutFailed
        }
    };
    draft.change(payout, settled);
    draft.event(event, EntityId::cop_payout(payout.id));
    Ok(Ruling::write(draft))
}
