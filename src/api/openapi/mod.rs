//! The means to describe interfaces A and B in OpenAPI 3.1. The document is made from the route
//! tables and from the description in each resource's folder. What a table says (path, scope, mode)
//! is said there alone, and lists of names (statuses, kinds of movements and events, scopes) are
//! the domain's own, so that they cannot drift apart.
//!
//! In reading order: `schema.rs` and `operation.rs` are the words to describe with, `values.rs`
//! single values, `kinds.rs` those that bodies have, each with how it is read, `../codes.rs` the
//! refusals; `document.rs` puts a document together, `spanish.rs` says it in Spanish. What describes only one resource does not belong
//! here, and no resource is known: `../interface.rs` has the list of them. A row without a description
//! does not pass the tests, nor does an example that does not fit its schema.

mod columns;
pub mod compact;
pub mod document;
pub mod kinds;
pub mod operation;
pub mod schema;
pub mod spanish;
pub mod tools;
pub mod values;
