//! The way of a request from the socket to a handler and back: hyper, routing, bodies, answers.
//!
//! In reading order: `listen.rs` accepts connections and keeps their time limits, `router.rs` finds the row for a path, `throttle.rs` counts
//! requests per key, `body.rs` reads what was sent, `respond.rs` writes what comes back. No rule about money is here.

pub mod body;
pub mod listen;
pub mod open_files;
pub mod respond;
pub mod router;
pub mod throttle;
