//! The BCV rate as R4 says it, as a feed of rates (`docs/contract.md, 18.3`): where R4 is configured
//! and no other bank is named for it. Live mode is priced by it where nothing else is said.

use crate::config::Config;
use crate::outbound::Outbound;
use crate::rails::http::NoClient;
use crate::rails::r4::R4;
use crate::rates::feeds::Quoting;
use crate::rates::market::{NEEDS, Need};
use crate::rates::{FeedKind, FeedSpec, Pair, Series};
use std::sync::Arc;
use std::time::Duration;

const SOURCE: &str = "bank";
const CURRENCY: &str = "USD";
const EVERY: Duration = Duration::from_secs(900);

pub fn source(config: &Config) -> Option<String> {
    let named = config.rates.bank.as_ref().map(|bank| bank.series.source.to_string());
    named.or_else(|| config.rails.r4.as_ref().map(|_| SOURCE.to_owned()))
}

fn real_series(config: &Config) -> impl Iterator<Item = &Series> {
    config.rates.feeds.iter().filter(|feed| !feed.kind.is_made_up()).map(|feed| &feed.series)
}

/// Whether R4 is where live mode has the BCV's rate from: it is configured, and nothing else is said.
pub fn is_bcv(config: &Config) -> bool {
    config.rates.bank.is_none() && config.rails.r4.is_some() && !real_series(config).any(Series::is_bcv)
}

pub fn missing(config: &Config) -> Vec<Need> {
    let is_met = |need: &Need| {
        real_series(config).any(|series| need.is_met_by(series))
            || is_bcv(config) && need.pair == Pair::USD_VES
    };
    NEEDS.into_iter().filter(|need| !is_met(need)).collect()
}

pub fn feed(config: &Config, outbound: &Outbound) -> Result<Option<FeedSpec>, NoClient> {
    let (None, Some(r4)) = (&config.rates.bank, &config.rails.r4) else { return Ok(None) };
    let (r4, outbound) = (Arc::new(R4::new(r4.settings.clone())?), outbound.clone());
    let newest: Quoting = Arc::new(move || {
        let (r4, is_open) = (Arc::clone(&r4), outbound.is_open());
        Box::pin(async move {
            if !is_open {
                return None;
            }
            let quotation = r4.newest_quotation(CURRENCY).await?;
            Some((quotation.rate, quotation.value_date))
        })
    });
    let series = Series::of(Pair::USD_VES, SOURCE).side("OFFICIAL");
    Ok(Some(FeedSpec { series, kind: FeedKind::Asked(newest), every: EVERY }))
}
