//! What goes in and what comes out, as pure functions over bytes: no socket, no actor, no clock.
//!
//! `json.rs` reads the text, `fields.rs`, `value.rs` and `number.rs` the members of a body, `query.rs` the parameters, `page.rs` writes lists,
//! `problem.rs` is what a caller sees when something is refused.

pub mod fields;
pub mod json;
pub mod number;
pub mod page;
pub mod problem;
pub mod query;
pub mod value;
