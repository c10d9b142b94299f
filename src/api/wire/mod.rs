//! The formats in which a call and its answer travel. What one resource alone needs does not belong
//! here: nothing in this folder knows payments.
//!
//! In: `json` reads the text of a body, `fields` and `value` its members, `query` the
//! parameters, `web_address` an address, `csv::file` a file that somebody brings, and `canonical` tells
//! whether two bodies mean the same.
//! Out: `writer` writes objects, `page` lists, `csv` whole lists, `problem` is what a caller sees
//! when something is refused, and `absent` words for what is not there.

pub mod absent;
pub mod canonical;
pub mod csv;
pub mod fields;
pub mod json;
pub mod page;
pub mod problem;
pub mod query;
pub mod value;
pub mod web_address;
pub mod writer;
