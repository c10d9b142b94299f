//! The API, from the bytes of a call to those of its answer: no socket, no disk, no actor, no clock.
//!
//! [`routes`] is the table. Each resource is one folder, and each endpoint one function over a
//! [`Context`](endpoint::Context): it reads its call, asks the engine, looks into what is durable ([`records`], by
//! kind), shows what came of it ([`answer`], [`refusals`], [`shown`](endpoint::shown)), and is described
//! beside it. What they share is in two folders:
//! [`wire`] has the formats of calls and answers, [`openapi`] the means to describe them; [`codes`] is
//! the table of error codes; [`entity`] is what is said of an entity of any kind. [`interface`] puts the
//! descriptions of all resources together.
//!
//! Everything that a caller can see of a call belongs here: its names, forms and words. Rules about
//! money do not (they are the domain's), and neither does what reaches the engine, the disk or the network:
//! that is behind [`Server`](endpoint::Server).

pub mod answer;
pub mod balance;
pub mod chargebacks;
pub mod checkout;
pub mod codes;
pub mod conversions;
pub mod cop_payments;
pub mod crypto;
pub mod dry_run;
pub mod endpoint;
pub mod entity;
pub mod events;
pub mod interface;
pub mod lists;
pub mod members;
pub mod merchants;
pub mod openapi;
pub mod operators;
pub mod payments;
pub mod payouts;
pub mod products;
pub mod public;
pub mod records;
pub mod reference;
pub mod refusals;
pub mod respond;
pub mod routes;
mod sale;
pub mod search;
pub mod statements;
pub mod streams;
pub mod tenants;
pub mod testing;
pub mod webhooks;
pub mod wire;

pub use wire::{absent, csv, fields, json, page, problem, query, value, web_address, writer};
