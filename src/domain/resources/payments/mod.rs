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

pub use commands::{Command, decide};

#[cfg(test)]
mod tests;
