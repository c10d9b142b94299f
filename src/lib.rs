//! pasarela
