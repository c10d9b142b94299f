//! The connector to Wompi (`docs/contract.md, 18.4, 21.10`): pesos by a push to Nequi, by an SMS
//! code of Daviplata, by a QR code of Bancolombia.
//!
//! The orders that are sent bear our operation id as `reference`, so one can be asked about for
//! ever, and Wompi refuses it the second time. An event of Wompi's is a hint; what counts is what
//! it says when it is asked.
//!
//! In reading order: `config.rs` what can be set · `signature.rs` what is signed, and what an event
//! has to bear · `wire.rs` transactions as bytes · `mapping.rs` what states mean · `acceptance.rs`
//! the tokens of the terms · `client.rs` the rail · `daviplata.rs` SMS codes.
//!
//! Bytes, states and words of Wompi belong here. What follows for a payment does not: that is decided
//! in `src/domain/resources/cop_payments/`, which knows no processor by its name.

pub mod acceptance;
mod check;
pub mod client;
pub mod config;
mod daviplata;
pub mod mapping;
pub mod signature;
pub mod wire;

/// The rail's name.
pub const NAME: &str = "wompi";

pub use client::Wompi;
pub use config::Settings;
