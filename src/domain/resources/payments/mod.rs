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
pub mod otp;
pub mod reasons;
mod repeat;
pub mod reversal;
pub mod sale;

use crate::decision::Turn;
use crate::entities::means::Means;
use crate::entities::payment::{Payment, Phase, Status};
use crate::resources::polling::{self, AskedOn};
use crate::trace::Trace;
use crate::values::external_ref::ExternalRef;
use crate::values::ids::Id;
pub use commands::{Command, decide};

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
}

#[cfg(test)]
mod tests;
