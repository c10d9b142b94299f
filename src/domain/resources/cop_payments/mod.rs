//! Payments in Colombian pesos: by QR code or transfer key, by a push to the buyer's app, or by an
//! SMS code (`docs/contract.md, 11`).
//!
//! The processor is told to collect once the record that says so is durable. Whatever it is told
//! about a collection afterwards (a code, a cancellation), it answers how the collection stands, and
//! the same when it is asked; so pay, decline, cancel and expire are decided in one place, by the
//! processor, and none of them can be lost. What is other in live mode is in `live.rs`. The meaning
//! of a certain processor's words does not belong here: that is in `src/rails/`.

pub mod codes;
pub mod collect;
mod commands;
mod instructions;
pub mod live;
pub mod refund;
pub mod sale;

use crate::cause::Cause;
use crate::decision::{Draft, Ruling, Turn};
use crate::entities::cop_payment::CopPayment;
use crate::rail::RailReply;
use crate::values::money::{Cop, Currency};
pub use commands::{Command, decide, refuse_chargeback, refuse_payments_command};

/// The smallest amount that can be collected (`docs/contract.md, 11.2`).
pub const AMOUNT_MIN: Cop = Cop::from_minor(20_000);
/// The largest amount (`docs/contract.md, 1.3`).
pub const AMOUNT_MAX: Cop = Cop::from_minor(Currency::Cop.amount_minor_max());

impl CopPayment {
    /// The processor's words about an operation that an operator has settled, if they are not the
    /// opposite.
    fn agreed(&self, operation: u16, reply: &RailReply, turn: &Turn) -> Ruling {
        let Some(order) = self.order.agreed(operation, reply, turn) else { return Ruling::unchanged() };
        Ruling::write(Draft::changed(Cause::BankAsked, self, CopPayment { order, ..self.clone() }))
    }
}

#[cfg(test)]
mod tests;
