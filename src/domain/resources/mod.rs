//! Resources: what tenants ask for by name. Each has a file or a folder here with its commands and the rules
//! that answer them; its state, names, list keys and deadline are in `entities/`.
//!
//! A resource may read another's state where the contract says so (a chargeback is decided by its
//! payment); it may not change it other than through the record that it drafts. Rules that several
//! share have a folder of their own ([`collections`]). Values are in `values/` and the double entry
//! in `ledger/`; how anything looks in JSON or on disk does not belong here at all.

pub mod adjustments;
pub mod approvals;
pub mod banks;
pub mod begin_anew;
pub mod chargebacks;
pub mod checkout;
pub mod collections;
pub mod conversions;
pub mod cop_payments;
pub mod cop_payouts;
pub mod crypto;
pub mod mandate_approvals;
pub mod merchants;
pub mod notices;
pub mod operations;
pub mod own_account;
pub mod payments;
pub mod payouts;
pub mod polling;
pub mod products;
pub mod rates;
pub mod tenants;
pub mod verification;
pub mod webhooks;
