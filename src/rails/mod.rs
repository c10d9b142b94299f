//! Rails: the ways money moves outside, through a bank.
//!
//! A bank is called only after the record that says so is durable, and under an operation id of our
//! own, so that after any crash the bank can be asked what became of it. Nothing here knows the
//! ledger, payments or payouts; an actor cannot tell one rail from another.

pub mod circuit;
pub mod http;
pub mod live;
mod outcomes;
pub mod r4;
pub mod secret;
pub mod simulator;
pub mod wompi;

pub use domain::bank::{Answer, Order};
use domain::values::time::Timestamp;
pub use outcomes::{Outcomes, Tally};
use std::pin::Pin;
use uuid::Uuid;

/// A future that can be sent to another thread, behind a pointer.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A bank.
pub trait Rail: Send + Sync {
    /// Its name, for the operators.
    fn name(&self) -> &'static str;

    /// Sends an order. Called only after the record that says so is durable; at most once per
    /// operation, except after [`Answer::NeverReceived`] from [`Rail::ask`].
    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Answer>;

    /// Asks what became of an operation that was sent or may have been.
    fn ask<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Answer>;
}

/// An order to a bank, under the id by which it can be asked about for ever.
#[derive(Debug)]
pub struct Call {
    /// Our id of the operation.
    pub operation_id: Uuid,
    /// When, on the tenant's clock.
    pub at: Timestamp,
    /// The tenant in its mode.
    pub tenant: u64,
    /// What is to be done.
    pub order: Order,
}
