//! Prices: samples of a series, what is kept of them by hour and day, and what a withdrawal costs.

pub mod buckets;
pub mod samples;
pub mod withdrawals;
