//! Values: what has no state, and is right or cannot be made. Money, instants, names of things, and
//! what people and banks are known by.
//!
//! They know no resource. What is personal data or a secret has no Display, and says so in its file.

pub mod account;
pub mod buyer;
pub mod calendar;
pub mod card;
pub mod date;
pub mod external_ref;
pub mod free_text;
pub mod identity;
pub mod ids;
pub mod money;
pub mod phone;
pub mod time;
pub mod token;
