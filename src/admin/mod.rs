//! The operators' API, on a listener of its own (`docs/contract.md, 3.1, 3.2`): tenants, keys,
//! corrections, rates, the state of the server.
//!
//! In reading order: [`routes`] is the table, `serve.rs` how they are let in and answered, `call.rs` what a row is,
//! and what a handler gets and gives; then a file per resource, with its handlers and their description in
//! OpenAPI. `startup.rs` is what a start needs.
//!
//! Calls that only an operator may make belong here. Rules about money do not: those are asked of
//! the engine. No tenant's or buyer's call comes this way.

mod adjustments;
mod approvals;
mod audit;
mod banks;
mod call;
mod chargebacks;
mod cluster;
mod cop_payouts;
mod crypto;
pub mod due;
mod finding;
mod gathering;
mod holding;
mod keys;
pub mod live_asks;
mod notices;
mod operations;
mod operators;
mod people;
mod rates;
mod reconciliations;
pub mod routes;
mod serve;
mod startup;
mod state;
mod statements;
mod take_over;
mod tenants;

pub use approvals::{Begun, begin_take_over, show_one as show_approval};
pub use banks::{keep_fresh as keep_banks_fresh, load as load_banks};
pub use call::{Route, owned, tenant_of};
pub use finding::endpoints as webhook_endpoints;
pub use holding::has as has_thing;
pub use people::among_all;
pub use routes::{document, end_approvals, least_role, settle_approvals};
pub use serve::AdminApi;
pub use startup::{bootstrap, load_directory};
