//! The operators' API, on a listener of its own (`docs/contract.md, 3.1, 3.2`): tenants, keys,
//! corrections, rates, the state of the server.
//!
//! In reading order: [`routes`] is the table, `serve.rs` the surface of operators,
//! `call.rs` what a handler gets and gives; then a file per resource;
//! `startup.rs` is what a start needs, and `description.rs` describes all of it in OpenAPI.
//!
//! Calls that only an operator may make belong here. Rules about money do not: those are asked of
//! the engine. No tenant's or buyer's call comes this way.

mod adjustments;
pub mod approvals;
mod audit;
mod banks;
mod books;
mod call;
mod chargebacks;
mod cluster;
mod cop_payouts;
mod crypto;
mod description;
mod finding;
mod kept;
mod keys;
mod notices;
pub mod operations;
mod operators;
mod people;
mod rates;
mod reconciliations;
pub mod routes;
mod serve;
mod signature;
mod startup;
mod state;
mod statements;
mod tenants;

pub use approvals::{settle_all as settle_approvals, take_over};
pub use banks::{keep_fresh as keep_banks_fresh, load as load_banks};
pub use description::document;
pub use serve::AdminApi;
pub use startup::{BootstrapTenant, bootstrap, load_directory};

use crate::gateway::{ask, tenant_settings};
pub use tenant_settings::{push_pending, push_tenant_settings};
