//! The harness of the black-box tests: a real server with a data directory of its own, spoken to
//! over HTTP and nothing else.
//!
//! It knows the contract, not the implementation: no type of the crate under test is used here or
//! in the tests.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod buyers;
pub mod check;
pub mod client;
pub mod conformance;
pub mod faults;
pub mod flows;
pub mod pesos;
pub mod receiver;
pub mod schema;
pub mod server;
pub mod source;
pub mod statements;
