//! Rails: the ways money moves outside, through a bank.
//!
//! A bank is called only after the record that says so is durable, and under an operation id of our
//! own, so that after any crash the bank can be asked what became of it. Nothing here knows the
//! ledger, payments or payouts; an actor cannot tell one rail from another. `registry.rs` says which
//! rail serves which order. The simulator is a [`Rail`]: it can always be asked, by the operation's id. A
//! live rail is a `LiveRail` (`live.rs`), which a `Lane` (`lane.rs`) puts into service with its circuit and
//! its queue.

pub mod checking;
pub mod circuit;
pub mod evm;
pub mod http;
pub mod lane;
pub mod live;
mod outcomes;
pub mod queue;
pub mod r4;
pub mod registry;
pub mod secret;
pub mod simulator;
pub mod wompi;

pub use domain::rail::{Order, RailAnswer};
use domain::values::money::Ves;
use domain::values::time::Timestamp;
pub use outcomes::{Outcomes, Tally};
use std::pin::Pin;
use uuid::Uuid;

/// A future that can be sent to another thread, behind a pointer.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The bank of test mode.
pub trait Rail: Send + Sync {
    /// The name, for the operators.
    fn name(&self) -> &'static str;

    /// Sends an order. Called only after the record that says so is durable; at most once per
    /// operation, except after [`RailAnswer::NeverReceived`] from [`Rail::ask`].
    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, RailAnswer>;

    /// Asks what became of an operation that was sent or may have been.
    fn ask<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, RailAnswer>;

    /// The two small amounts that it sends next to prove a phone.
    fn micro_deposits(&self) -> (Ves, Ves);

    /// The number of sends that came to it for an operation that it had already; 0 where a rail
    /// cannot tell.
    fn duplicate_calls(&self) -> u64 {
        0
    }
}

/// An order to a bank, under the id by which it can be asked about for ever.
#[derive(Debug)]
pub struct Call {
    /// The id of the operation, which is ours.
    pub operation_id: Uuid,
    /// The instant of the call, on the tenant's clock.
    pub at: Timestamp,
    /// The tenant in its mode.
    pub tenant: u64,
    /// The order that is to be done.
    pub order: Order,
}
