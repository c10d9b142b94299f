//! Version 3 of the stored format: what is new in it.

pub mod cop_payments;
pub mod crypto;
pub mod payments;
pub mod payouts;
pub mod trace;
