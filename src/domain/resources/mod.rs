//! Resources: what tenants ask for by name. Each has a file or a folder here with its state, the
//! rules that change it, its names and list keys, its deadlines and its events.
//!
//! A resource may use another's state where the contract says so (a chargeback is decided by its
//! payment); it may not change it other than through the record that it drafts.

pub mod adjustments;
pub mod banks;
pub mod chargebacks;
pub mod checkout;
pub mod collections;
pub mod conversions;
pub mod cop_payments;
pub mod cop_payouts;
pub mod crypto;
pub mod merchants;
pub mod notices;
pub mod operations;
pub mod own_account;
pub mod payments;
pub mod payouts;
pub mod products;
pub mod rates;
pub mod verification;
pub mod webhooks;
