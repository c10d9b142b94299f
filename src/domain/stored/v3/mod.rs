//! Version 3 of the stored format: what is new in it.

pub mod crypto;
