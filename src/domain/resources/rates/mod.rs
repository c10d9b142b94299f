//! Prices: samples of a series, their buckets by hour and day, and the cost of a withdrawal.

pub mod buckets;
pub mod samples;
pub mod withdrawals;
