//! What money may do here. Pure: no clock, no randomness, no input or output; time and ids are
//! given.
//!
//! In reading order: [`money`], [`ids`], [`ledger`], [`record`], [`book`], [`decision`], then a
//! file per resource, then [`commands`] and [`machine`], which puts them together for the engine.

pub mod account;
pub mod acts;
pub mod adjustments;
pub mod bank;
pub mod banks;
pub mod book;
pub mod buckets;
pub mod buyer;
pub mod calendar;
pub mod card;
pub mod chargebacks;
pub mod checkout;
pub mod codec;
pub mod commands;
pub mod conversions;
pub mod cop_payments;
pub mod cop_payouts;
pub mod crypto;
pub mod date;
pub mod decision;
pub mod events;
pub mod external_ref;
pub mod free_text;
pub mod identity;
pub mod ids;
pub mod index;
pub mod invariants;
pub mod kept;
pub mod ledger;
pub mod machine;
pub mod merchants;
pub mod money;
pub mod operations;
pub mod own_account;
pub mod payments;
pub mod payouts;
pub mod phone;
pub mod platform;
pub mod products;
pub mod record;
pub mod refusal;
pub mod samples;
pub mod sellers;
pub mod settings;
pub mod sorted;
pub mod time;
pub mod token;
pub mod verification;
pub mod view;
pub mod webhooks;
pub mod withdrawals;
