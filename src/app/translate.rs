//! The translation from the configuration's words to those of the parts.

use crate::config;
use crate::json_pointer::Pointer;
use crate::rates::{FeedKind, FeedSpec, HttpCall, Pair, Series, Steps};
use domain::values::address::Network;
use domain::values::money::Rate;
use domain::values::time::SECOND_MS;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
#[error("{pair} {name}: {why}")]
pub struct FeedSpecError {
    pub pair: String,
    pub name: String,
    pub why: &'static str,
}

/// The bounds of the log: what a batch may hold follows from what may wait.
pub fn log_bounds(storage: &config::Storage) -> wal::Config {
    let defaults = wal::Config::default();
    wal::Config {
        pending_bytes_max: storage.pending_bytes_max,
        pending_records_max: storage.pending_records_max,
        batch_records_max: storage.batch_records_max,
        batch_bytes_max: defaults.batch_bytes_max.min(storage.pending_bytes_max),
        piece_bytes_max: defaults.piece_bytes_max.min(storage.pending_bytes_max),
        ..defaults
    }
}

pub fn feeds(rates: &config::Rates) -> Result<Vec<FeedSpec>, FeedSpecError> {
    rates.feeds.iter().chain(&rates.bank).map(feed).collect()
}

fn feed(feed: &config::Feed) -> Result<FeedSpec, FeedSpecError> {
    let failed = |why| FeedSpecError { pair: feed.pair.clone(), name: feed.source.clone(), why };
    let kind = match &feed.kind {
        config::FeedKind::Simulated { price, step_percent, seed } => {
            FeedKind::Simulated { price: Rate(*price), step_percent: Rate(*step_percent), seed: *seed }
        }
        config::FeedKind::Fixed { price } => FeedKind::Fixed { price: Rate(*price) },
        config::FeedKind::Manual => FeedKind::Manual,
        config::FeedKind::Http(call) => FeedKind::Http(http_call(call).map_err(failed)?),
    };
    Ok(FeedSpec { series: series(feed)?, kind, every: Duration::from_secs(feed.every_seconds) })
}

fn series(feed: &config::Feed) -> Result<Series, FeedSpecError> {
    let failed = |why| FeedSpecError { pair: feed.pair.clone(), name: feed.source.clone(), why };
    let mut series = Series::of(Pair::parse(&feed.pair).map_err(failed)?, &feed.source);
    if let Some(side) = &feed.side {
        series = series.side(side);
    }
    if let Some(method) = &feed.method {
        series = series.method(method);
    }
    Ok(series)
}

pub fn real_series(rates: &config::Rates) -> Result<Vec<Series>, FeedSpecError> {
    rates.feeds.iter().filter(|feed| !feed.kind.is_made_up()).map(series).collect()
}

pub fn steps(rates: &config::Rates) -> Result<Steps, FeedSpecError> {
    let feeds = rates.feeds.iter().chain(&rates.bank);
    let own = feeds.filter_map(|feed| feed.max_step_percent.map(|percent| Ok((series(feed)?, percent))));
    Ok(Steps { default: rates.max_step_percent, own: own.collect::<Result<_, _>>()? })
}

fn http_call(call: &config::HttpFeed) -> Result<HttpCall, &'static str> {
    let exposed = |secret: &config::Secret| secret.expose().to_owned();
    Ok(HttpCall {
        url: call.url.clone(),
        is_post: call.http_method == "POST",
        headers: call.headers.iter().map(|(name, value)| (name.clone(), exposed(value))).collect(),
        body: call.body.clone(),
        price: Pointer::parse(&call.pointer)?,
        as_of: call.as_of_pointer.as_deref().map(Pointer::parse).transpose()?,
        timeout: Duration::from_secs(call.timeout_seconds),
        signature: call.hmac_key.as_ref().map(|key| (exposed(key), call.hmac_message.clone())),
    })
}

pub fn notice_wait_ms(rails: &config::Rails) -> i64 {
    let seconds = rails.r4.as_ref().map_or(0, |r4| r4.notice_wait_seconds);
    i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(SECOND_MS)
}

pub fn max_age_ms(rates: &config::Rates) -> i64 {
    i64::try_from(rates.max_age_seconds.saturating_mul(1000)).unwrap_or(i64::MAX)
}

/// The blocks after which a transfer is final on each network that has a node, in the order of [`Network::NAMES`].
pub fn confirmations(rails: &config::Rails) -> [Option<u64>; 4] {
    Network::NAMES.map(|(name, _)| {
        let evm = rails.evm.iter().find(|evm| evm.network == name);
        evm.map(|evm| evm.confirmations)
    })
}
