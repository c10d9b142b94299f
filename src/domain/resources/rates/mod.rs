//! Prices: samples of a series, their buckets by hour and day, pins of operators, and the cost of a
//! withdrawal.
//!
//! Computations from prices belong here. Where they come from and how they are stored does not
//! (`src/rates/`), and neither does the price of a conversion, which is with conversions.

pub mod buckets;
pub mod pins;
pub mod samples;
pub mod withdrawals;
