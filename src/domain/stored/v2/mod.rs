//! Version 2 of the stored format: what is new in it.

pub mod cop_payments;
pub mod notices;
pub mod payments;
