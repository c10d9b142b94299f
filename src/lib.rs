//! Pasarela: a payments gateway engine for Venezuela and Colombia.

pub mod api;
pub mod server;
