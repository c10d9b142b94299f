//! Rates: what a dollar and a tether are worth, where that comes from, and the latest of each.
//!
//! A sample is kept with its source's time and with ours; who uses it decides how old it may be. Nothing here knows a payment.

pub mod board;
pub mod feeds;
pub mod market;
pub mod sample;

pub use board::{Filter, RateBoard};
pub use feeds::{FeedKind, FeedSpec, Feeds, embedded_feeds, start};
pub use market::Market;
pub use sample::{Pair, Sample, Series};
