//! pasarela

pub mod domain;
