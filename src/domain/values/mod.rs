//! Values: types without a state, each right or impossible to make. Money, instants, names of
//! things, and the details by which people and banks are known.
//!
//! Resources are unknown here. What is personal data or a secret has no Display, and says so in its
//! file.

pub mod account;
pub mod address;
pub mod bank;
pub mod buyer;
pub mod calendar;
pub mod card;
pub mod channel;
pub mod date;
pub mod external_ref;
pub mod free_text;
pub mod identity;
pub mod ids;
pub mod mode;
pub mod money;
pub mod phone;
pub mod time;
pub mod token;
