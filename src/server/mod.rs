//! The way of a request from the socket to a handler and back: hyper, routing, bodies, answers.
//!
//! In reading order: `listen.rs` accepts connections and keeps their time limits, `router.rs` finds the row for a path, `throttle.rs` counts
//! requests per key, `body.rs` reads what was sent, `respond.rs` writes what comes back; `dispatch.rs` is the one way of a request, with `directory.rs` (who may
//! call), `desk.rs` (names in use) and `history.rs` (reading what was written). No rule about money is here.

pub mod body;
pub mod desk;
pub mod directory;
pub mod dispatch;
pub mod history;
pub mod listen;
pub mod newest;
pub mod respond;
pub mod router;
pub mod services;
pub mod throttle;
