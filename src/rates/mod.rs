//! The prices of a dollar and a tether, their sources, the latest of each, and their whole history:
//! all about prices that needs a clock, a disk or a network. A sample is kept with its source's
//! time and with ours; its user decides how old it may be. What follows from prices alone is in
//! `src/domain/resources/rates/`.

pub mod board;
mod error;
pub mod feeds;
mod http;
mod judge;
pub mod market;
pub mod reading;
pub mod store;
pub use domain::resources::rates::samples as sample;

pub use board::{InForce, RateBoard};
pub use domain::resources::rates::pins::{PINNED_MS_MAX, Pin, PinPlace};
pub use domain::resources::rates::samples::{Filter, Pair, Sample, Series};
pub use error::{FeedError, SourceError};
pub use feeds::{FeedHealth, FeedKind, FeedSpec, FeedState, Feeds, start};
pub use http::HttpCall;
pub use judge::Steps;
pub use market::Market;
pub use store::{Item, RateStore, RateStoreError};
