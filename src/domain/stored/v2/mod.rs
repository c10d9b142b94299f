//! Version 2 of the stored format: what is new in it.

pub mod notices;
pub mod payments;
