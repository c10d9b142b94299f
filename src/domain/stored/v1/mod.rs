//! Version 1 of the stored format, a file per resource. Only layouts belong here, and none of them
//! changes any more: a new field or variant is a layout of a later version (`docs/formats.md`).

pub mod banks;
pub mod book;
pub mod chargebacks;
pub mod checkout;
pub mod conversions;
pub mod cop_payments;
pub mod cop_payouts;
pub mod crypto;
pub mod events;
pub mod kept;
pub mod ledger;
pub mod merchants;
pub mod otp;
pub mod own_account;
pub mod payments;
pub mod payouts;
pub mod platform;
pub mod products;
pub mod rates;
pub mod record;
pub mod settings;
pub mod values;
pub mod verification;
pub mod webhooks;
