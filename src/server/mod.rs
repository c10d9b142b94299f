//! The way of a request from the socket to a handler and back: hyper, routing, bodies, answers.
//!
//! In reading order: `listen.rs` accepts connections and keeps their time limits, `tls.rs` the
//! certificates that they show, `dispatch.rs` is the one way of a request: `router.rs` finds the
//! row for a path, `directory.rs` knows who may call, `throttle.rs` counts requests per key,
//! `shares.rs` what each tenant has beside the others, `body.rs` reads what was sent, `strays.rs` what came beside it, `desk.rs` keeps names that are
//! in use, `history.rs` reads what was written, at most as much as `read_budget.rs` allows and the rest
//! on the threads of `read_pool.rs`, `respond.rs` writes what comes back, `meter.rs` counts. `ask.rs` asks the platform's book and tells the directory of callers what is durable,
//! `sheets.rs` takes changed settings to both books of a tenant. `public.rs` is the way of a
//! request of interface A, which needs no key; `documents.rs` serves the description of it all. No
//! rule about money is here.

pub mod ask;
pub mod bank_feed;
pub mod banks;
pub mod batches;
pub mod body;
pub mod desk;
pub mod directory;
pub mod disk;
pub mod dispatch;
pub mod documents;
pub mod history;
pub mod idempotency;
pub mod listen;
pub mod meter;
pub mod newest;
pub mod open_files;
pub mod past_balance;
pub mod public;
pub mod read_budget;
pub mod read_pool;
pub mod respond;
pub mod router;
pub mod secrets;
pub mod services;
pub mod shares;
pub mod sheets;
pub mod strays;
pub mod throttle;
pub mod tls;
pub mod webhooks;
mod wiping;
