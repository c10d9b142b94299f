//! Payouts in bolívares of every kind: to merchants, to phones, to accounts. All are debited before
//! the order goes to the bank, and credited again when the bank refuses (`docs/contract.md, 7.8`).
//!
//! Requests, batches and the life of a payout belong here; the life serves payouts in USDT too. The
//! rules of those do not (`crypto`), nor payouts in pesos (`cop_payouts`), nor banks' calls.

use crate::cause::Cause;
use crate::decision::{Draft, Rules, Ruling, Turn};
use crate::entities::payout::{CREDIT, Payout, Status};
use crate::events::EventKind;
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use crate::ledger::{Ledger, MovementKind};
use crate::rail::{Effect, How, Operation, Order, RailReply};
use crate::trace::{OrderState, Trace};
use crate::values::ids::EntityId;
use crate::values::money::Currency;
use crate::values::time::Timestamp;
use lifecycle::Amount;
pub use request::{NewPayout, PhoneHolder, Receiver, decide};
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
        self.order.of_mut(operation)
    }

    fn ask_on(&mut self, _: u16, turn: &Turn<'_>) {
        self.order.ask_on(turn);
    }
}

impl lifecycle::Payout for Payout {
    fn is_sent(&self) -> bool {
        self.status == Status::Pending
    }

    fn order(&self) -> &OrderState {
        &self.order
    }

    fn order_mut(&mut self) -> &mut OrderState {
        &mut self.order
    }

    fn words_mut(&mut self) -> (&mut Option<String>, &mut Option<String>) {
        (&mut self.reference, &mut self.failure_code)
    }

    fn end(&mut self, is_completed: bool, now: Timestamp) -> (Cause, EventKind, Option<Arc<KeepRef>>) {
        self.settled_at = Some(now);
        let (status, cause, event) = match is_completed {
            true => (Status::Completed, Cause::PayoutCompleted, EventKind::PayoutCompleted),
            false => (Status::Failed, Cause::PayoutFailed, EventKind::PayoutFailed),
        };
        self.status = status;
        (cause, event, self.kept.take())
    }

    fn give_back(&self, draft: &mut Draft) {
        self.post(draft, 1, MovementKind::PayoutReversal, MovementKind::PayoutReversal);
    }

    fn call(&self, how: How, turn: &Turn<'_>) -> Effect {
        self.order.call(EntityId::payout(self.id), CREDIT, how, turn.now, self.instruction())
    }
}
