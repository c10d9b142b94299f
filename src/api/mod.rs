//! What goes in and what comes out, as pure functions over bytes: no socket, no actor, no clock.
//!
//! [`routes`] is the table; a file per resource reads bodies into a [`plan`] and shows what came of
//! it ([`render`], [`refusals`]). `json.rs` reads the text, `fields.rs`, `value.rs` and `number.rs`
//! the members of a body, `query.rs` the parameters, `page.rs` and `writer.rs` write, `problem.rs`
//! is what a caller sees when something is refused.

pub mod balance;
pub mod batches;
mod canonical;
pub mod cards;
pub mod chargebacks;
pub mod checkout;
pub mod conversions;
pub mod cop_payments;
pub mod cop_payouts;
pub mod crypto;
pub mod debits;
pub mod events;
pub mod fields;
pub mod json;
pub mod links;
pub mod merchants;
pub mod methods;
pub mod number;
pub mod openapi;
pub mod operations;
pub mod own_account;
pub mod page;
pub mod payments;
pub mod payouts;
pub mod plan;
pub mod problem;
pub mod products;
pub mod public;
pub mod qr;
pub mod query;
pub mod reference;
pub mod refusals;
pub mod render;
pub mod routes;
pub mod sessions;
pub mod settings;
pub mod targets;
pub mod tenants;
pub mod testing;
pub mod transfers;
pub mod value;
pub mod web_address;
pub mod webhooks;
pub mod writer;
