//! Rails: the ways money moves outside, through a bank. A bank is called only after the record that
//! says so is durable, and under an operation id of our own, so that after any crash the bank can
//! be asked what became of it. Nothing here knows the ledger, payments or payouts. The simulator is
//! a [`Rail`]: it can always be asked, by the operation's id. A live rail is a `LiveRail`, which a
//! `Lane` puts into service with its circuit and its queue.

pub mod checking;
pub mod circuit;
pub mod evm;
pub mod http;
pub mod lane;
pub mod live;
pub mod queue;
pub mod r4;
pub mod registry;
pub mod secret;
pub mod simulator;
pub mod wompi;

pub use domain::rail::{Order, RailAnswer};
use domain::values::money::Ves;
use domain::values::time::Timestamp;
use std::pin::Pin;
use uuid::Uuid;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub trait Rail: Send + Sync {
    fn name(&self) -> &'static str;

    /// Called only after the record that says so is durable; at most once per operation, except
    /// after [`RailAnswer::NeverReceived`] from [`Rail::ask`].
    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, RailAnswer>;

    fn ask<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, RailAnswer>;

    fn micro_deposits(&self) -> (Ves, Ves);

    /// Sends for an operation that the rail had already; 0 where it cannot tell.
    fn duplicate_calls(&self) -> u64 {
        0
    }
}

/// The id is one that the order can be asked about under for ever.
#[derive(Debug)]
pub struct Call {
    pub operation_id: Uuid,
    /// On the tenant's clock.
    pub at: Timestamp,
    pub tenant: u64,
    pub order: Order,
}
