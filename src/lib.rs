//! Pasarela: a payments gateway engine for Venezuela and Colombia.
//!
//! A tour in reading order:
//!
//! - [`config`] is what can be set, [`cli`] what can be asked of the command, [`app`] starts and stops the parts.
//! - [`server`] takes a request from the socket to a handler and back; [`api`] says what goes in and what comes out.
//! - [`telemetry`] writes the log lines.
//!
//! `ARCHITECTURE.md` is the map, with the invariants.

pub mod api;
pub mod app;
pub mod cli;
pub mod config;
pub mod server;
pub mod telemetry;
