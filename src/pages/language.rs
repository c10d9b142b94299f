//! The languages of pages, which are those of all that people read.

pub use crate::language::Language;
