//! Abuse: somebody without a key, with a test key, with a key that may only read, or a page in an
//! operator's browser, each trying to slow, fill or stop the server, or to read what others have.
//! The server lives, its memory has a bound, others are answered, and nobody reads anybody else.

#[path = "../api/harness/mod.rs"]
mod harness;

mod connections;
mod dry_runs;
mod estate;
mod figures;
mod isolation;
mod numbers;
mod pages;
mod permissions;
mod streams;
mod volume;
