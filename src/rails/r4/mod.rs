//! The connector to R4 Conecta (`docs/contract.md, 18.2, 18.3, 21.3`): C2P, immediate debit and
//! credit, and the bank's BCV rate. Every call is one POST with JSON, signed. C2P and its reversal
//! can't be asked about afterwards; what the clearing house decides (debits, credits to accounts)
//! can, under the bank's id. R4 never says that it did not receive an order, so nothing here can
//! say so, and nothing is sent twice.

mod check;
pub mod client;
pub mod config;
pub mod formats;
pub mod mapping;
pub mod notice;
pub mod quotation;
pub mod signature;
pub mod wire;

pub const NAME: &str = "r4";

pub use client::R4;
pub use config::{CreditBy, PathFamily, Settings, SignatureCase};
