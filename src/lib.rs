//! Pasarela: a payments gateway engine for Venezuela and Colombia.
//!
//! A tour in reading order: [`domain`] says what money may do, [`api`] what goes in and comes out, [`server`] carries it, [`rails`] are the banks, [`rates`] the prices.
//! The engine that hosts the domain and the log under it are the crates `actors` and `wal`. ARCHITECTURE.md is the map.

pub mod admin;
pub mod api;
pub mod domain;
pub mod rails;
pub mod rates;
pub mod server;
