//! Payouts in bolívares of every kind: to merchants, to phones, to accounts. All are debited before
//! the order goes to the bank, and credited again when the bank refuses (`docs/contract.md, 7.8`).
//!
//! Requests, batches and the life of a payout belong here; the life serves payouts in USDT too. The
//! rules of those do not (`crypto`), nor payouts in pesos (`cop_payouts`), nor banks' calls.

use crate::cause::Cause;
use crate::decision::{Draft, Rules, Ruling, Turn};
use crate::entities::Entity;
use crate::entities::payout::{CREDIT, Payout, Status};
use crate::events::EventKind;
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use crate::ledger::{Ledger, MovementKind};
use crate::rail::{Effect, How, Operation, Order, RailReply};
use crate::trace::Trace;
use crate::values::ids::EntityId;
use crate::values::money::Currency;
use crate::values::time::Timestamp;
use lifecycle::{Amount, PayoutEnd, RailPayout, Stage, Tries};
pub use request::{Command, NewPayout, PhoneHolder, Receiver, decide};
use std::sync::Arc;

pub mod batch;
pub mod lifecycle;
mod request;

impl Payout {
    /// Posts the amount and the fee; `sign` −1 takes them from the payer, 1 gives them back.
    fn post(&self, draft: &mut Draft, sign: i64, amount_kind: MovementKind, fee_kind: MovementKind) {
        let description = self.concept.as_str();
        let amounts = [
            Amount { minor: self.amount.minor(), against: Ledger::Rail, kind: amount_kind, description },
            Amount { minor: self.fee.minor(), against: Ledger::Fees, kind: fee_kind, description },
        ];
        let about = (EntityId::payout(self.id), &self.external_ref);
        lifecycle::post(draft, about, (self.payer(), Currency::Ves), sign, &amounts);
    }
}

impl Rules for Payout {
    fn on_rail_reply(&self, _: &Book, reply: RailReply, turn: &Turn<'_>) -> Ruling {
        lifecycle::on_rail_reply(self, reply, turn)
    }

    fn on_deadline(&self, _: &Book, turn: &Turn<'_>) -> Ruling {
        lifecycle::deadline(self, turn)
    }

    fn on_begin(&self, turn: &Turn<'_>) -> Ruling {
        lifecycle::begin(self, turn)
    }

    /// Payouts of a batch are sent by the batch's record.
    fn wants(&self, _: &Order) -> bool {
        self.is_unsent()
    }

    fn unanswered(&self) -> Vec<Operation> {
        (self.status == Status::Pending).then(|| self.as_operation()).into_iter().collect()
    }

    fn contradiction(&self, _: Timestamp) -> Option<Operation> {
        self.is_contradicted().then(|| self.as_operation())
    }

    fn trace_mut(&mut self, operation: u16) -> Option<&mut Trace> {
        (operation == CREDIT).then_some(&mut self.trace)
    }

    fn ask_on(&mut self, _: u16, turn: &Turn<'_>) {
        self.next_look = Some(turn.first_look());
    }
}

impl lifecycle::Payout for Payout {
    fn into_entity(self) -> Entity {
        Entity::Payout(self)
    }

    fn end(&self, end: &PayoutEnd) -> (Cause, EventKind) {
        match end {
            PayoutEnd::Completed(_) => (Cause::PayoutCompleted, EventKind::PayoutCompleted),
            PayoutEnd::Failed(_) => (Cause::PayoutFailed, EventKind::PayoutFailed),
        }
    }

    fn give_back(&self, draft: &mut Draft) {
        self.post(draft, 1, MovementKind::PayoutReversal, MovementKind::PayoutReversal);
    }

    fn kept(&self) -> Option<Arc<KeepRef>> {
        self.kept.clone()
    }

    fn settled(&self, end: PayoutEnd, now: Timestamp) -> Payout {
        let (status, reference, failure_code) = match end {
            PayoutEnd::Completed(reference) => {
                (Status::Completed, Some(reference), self.failure_code.clone())
            }
            PayoutEnd::Failed(code) => (Status::Failed, self.reference.clone(), Some(code)),
        };
        let (next_look, kept, settled_at) = (None, None, Some(now));
        Payout { status, reference, failure_code, next_look, kept, settled_at, ..self.clone() }
    }
}

impl RailPayout for Payout {
    fn stage(&self) -> Stage {
        match self.status {
            Status::Pending => Stage::Sent,
            Status::Completed => Stage::Completed,
            Status::Failed => Stage::Failed,
        }
    }

    fn tries(&self) -> Tries {
        Tries { sends: self.sends, looks: self.looks, next_look: self.next_look, trace: self.trace.clone() }
    }

    fn tried(&self, Tries { sends, looks, next_look, trace }: Tries) -> Payout {
        Payout { sends, looks, next_look, trace, ..self.clone() }
    }

    fn since(&self) -> Timestamp {
        self.settled_at.unwrap_or(self.created_at)
    }

    fn order(&self, how: How, turn: &Turn<'_>) -> Effect {
        Effect {
            entity: EntityId::payout(self.id),
            operation: self.id.operation(CREDIT),
            rail_id: self.trace.id.clone(),
            at: turn.now,
            how,
            order: self.instruction(),
        }
    }

    fn contradicted(&self, word: PayoutEnd) -> Option<Payout> {
        match word {
            PayoutEnd::Completed(reference) if self.reference.is_none() => {
                Some(Payout { reference: Some(reference), next_look: None, ..self.clone() })
            }
            PayoutEnd::Failed(code) if self.failure_code.is_none() => {
                Some(Payout { failure_code: Some(code), next_look: None, ..self.clone() })
            }
            PayoutEnd::Completed(_) | PayoutEnd::Failed(_) => None,
        }
    }
}
