//! pasarela

pub mod domain;
pub mod rails;
pub mod rates;
