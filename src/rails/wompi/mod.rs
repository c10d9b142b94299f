//! The connector to Wompi (`docs/contract.md, 18.4, 21.10`): pesos by a push to Nequi, by an SMS
//! code of Daviplata, by a QR code of Bancolombia. An order bears our operation id as `reference`,
//! so it can be asked about for ever, and Wompi refuses it the second time. An event of Wompi's is
//! a hint; what counts is what it says when it is asked. What follows for a payment is decided in
//! `src/domain/resources/cop_payments/`, which knows no processor by its name.

pub mod acceptance;
mod check;
pub mod client;
pub mod config;
pub mod mapping;
pub mod signature;
pub mod wire;

pub const NAME: &str = "wompi";

pub use client::Wompi;
pub use config::Settings;
