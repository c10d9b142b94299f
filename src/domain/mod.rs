//! What money may do here. Pure: no clock, no randomness, no input or output; time and ids are given.

pub mod account;
pub mod banks;
pub mod calendar;
pub mod date;
pub mod external_ref;
pub mod identity;
pub mod money;
pub mod phone;
pub mod time;
pub mod token;
