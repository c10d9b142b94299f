//! The guides at `/docs/es` and `/docs/en`: the documents of `docs/es` and `docs/en`, compiled in, as
//! pages that need no script and no other host, and a search over them that the server answers.
//!
//! `contents.rs` says which pages there are, `render.rs` makes a page of a document, `search.rs`
//! finds sections by words, `words.rs` has those that mean the same, `serve.rs` answers. This room
//! does not know what the gateway does: that is in the documents, whose calls `tests/guides/run`
//! makes.

mod contents;
mod render;
mod search;
mod serve;
mod words;

pub use contents::LANGUAGES;
pub use serve::{Guides, ROUTES};
