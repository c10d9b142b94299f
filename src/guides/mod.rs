//! The guides at `/docs/es` and `/docs/en`: the documents of `docs/es` and `docs/en`, compiled in,
//! as pages that need neither a script nor another host, and a search over them that the server answers.
//! What the gateway does is in the documents, whose calls `tests/guides/run` makes.

mod contents;
mod markdown;
mod render;
mod search;
mod serve;
mod words;

pub use contents::{LANGUAGES, documents};
pub use serve::{Guides, ROUTES, addressed};
