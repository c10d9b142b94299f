//! Pasarela: a payments gateway engine for Venezuela and Colombia.
//!
//! A tour in reading order:
//!
//! - [`domain`] says what money may do; [`api`] says what goes in and what comes out. Both are
//!   pure.
//! - [`http`] takes a request from the socket, [`gateway`] to a handler and back, [`store`] reads
//!   what is durable; [`admin`] does the same for the operators. All that writes asks the [`disk`].
//! - [`checkout`] is what buyers see; [`network`] says who sent a request that came through a
//!   proxy.
//! - [`guides`] has the documents for integrators, as pages, and [`receipts`] what a payer keeps of a
//!   payment; [`language`] has the two languages of what people read.
//! - [`pages`] has what people see once they have logged in: merchants the [`portal`], operators the
//!   [`console`].
//! - [`outbox`] carries out what a durable record asks of the outside world, through [`rails`]
//!   (banks); [`wallets`] follows USDT on its networks; [`webhooks`] delivers events; all of them only if
//!   [`outbound`] lets them. [`rates`] has the prices: [`fetch`] asks their sources, [`json_pointer`]
//!   finds them in the answers. [`bank_text`] reads what all of them write.
//! - [`requests`] remembers what became of each request; [`reconciliation`] compares our books with a
//!   bank's statement.
//! - [`recovery`] copies, proves and rebuilds what is on the disk; [`backups`] are the copies that a
//!   call orders; [`selfcheck`] has a running server prove its books, and [`thinning`] removes the
//!   snapshots that it no longer needs.
//! - [`cluster`] makes a node of the server, where there is more than one machine.
//! - [`config`] is what can be set, [`cli`] what can be asked of the command, [`app`] starts and
//!   stops the parts, [`telemetry`] writes the log lines, [`metrics`] the figures.
//!
//! The engine that hosts the domain and the log under it are the crates `actors` and `wal`.
//! `ARCHITECTURE.md` is the map, with the invariants.

pub mod admin;
pub mod app;
pub mod backups;
pub mod bank_text;
pub mod checkout;
pub mod cli;
pub mod cluster;
pub mod config;
pub mod console;
pub mod disk;
pub mod fetch;
pub mod gateway;
pub mod guides;
pub mod http;
pub mod json_pointer;
pub mod language;
pub mod metrics;
pub mod network;
pub mod operators;
pub mod outbound;
pub mod outbox;
pub mod pages;
pub mod portal;
pub mod rails;
pub mod rates;
pub mod receipts;
pub mod reconciliation;
pub mod recovery;
pub mod requests;
pub mod selfcheck;
pub mod server;
pub mod store;
pub mod telemetry;
pub mod thinning;
pub mod wallets;
pub mod webhooks;
