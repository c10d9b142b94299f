//! The translation from the configuration's words to those of the parts.

use crate::admin::BootstrapTenant;
use crate::config::{self, Config};
use crate::json_pointer::Pointer;
use crate::rails::simulator::Fault;
use crate::rates::{FeedKind, FeedSpec, HttpCall, Pair, Series, Steps};
use domain::platform::settings::{ConversionSettings, Fee, Fees, PerSource, Settings, Shop};
use domain::resources::rates::withdrawals::{Policy, Tier, Withdrawals};
use domain::values::address::Network;
use domain::values::date::Date;
use domain::values::money::{Cop, Rate, Usdt, Ves};
use domain::values::time::SECOND_MS;
use rust_decimal::Decimal;
use std::time::Duration;

/// A feed as it is configured, and why it is none.
#[derive(Debug, thiserror::Error)]
#[error("{pair} {name}: {why}")]
pub struct FeedSpecError {
    pub pair: String,
    pub name: String,
    pub why: &'static str,
}

/// A value of the configuration that is larger than the type that counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: an amount is out of range")]
pub struct OutOfRange {
    /// The key, or the section that it is in.
    pub key: &'static str,
}

pub fn holidays(config: &Config) -> Vec<Date> {
    config.holidays.iter().filter_map(|day| Date::parse(&day.format("%Y-%m-%d").to_string()).ok()).collect()
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

/// The feeds of exchange rates, the bank's among them.
pub fn feeds(rates: &config::Rates) -> Result<Vec<FeedSpec>, FeedSpecError> {
    rates.feeds.iter().chain(&rates.bank).map(feed).collect()
}

fn feed(feed: &config::Feed) -> Result<FeedSpec, FeedSpecError> {
    let failed = |why| FeedSpecError { pair: feed.pair.clone(), name: feed.source.clone(), why };
    let series = series(feed)?;
    let kind = match &feed.kind {
        config::FeedKind::Simulated { price, step_percent, seed } => {
            FeedKind::Simulated { price: Rate(*price), step_percent: Rate(*step_percent), seed: *seed }
        }
        config::FeedKind::Fixed { price } => FeedKind::Fixed { price: Rate(*price) },
        config::FeedKind::Manual => FeedKind::Manual,
        config::FeedKind::Http(call) => FeedKind::Http(http_call(call).map_err(failed)?),
    };
    Ok(FeedSpec { series, kind, every: Duration::from_secs(feed.every_seconds) })
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

/// How far prices may be from the ones before them.
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

/// The fees of withdrawals, as the domain takes them.
pub fn withdrawals(withdraw: &config::Withdraw) -> Result<Withdrawals, OutOfRange> {
    let failed = || OutOfRange { key: "withdraw" };
    let cents = |cents: u64| i64::try_from(cents).map_err(|_| failed());
    let tier = |tier: &config::Tier| {
        Ok::<_, OutOfRange>(Tier {
            below: tier.below_cents.map(cents).transpose()?,
            percent: Rate(tier.percent),
            fixed: cents(tier.fixed_cents)?,
        })
    };
    let policies = config::WITHDRAW_POLICIES.iter().zip(&withdraw.policies).map(|(name, tiers)| {
        let tiers = tiers.iter().map(tier).collect::<Result<Vec<Tier>, OutOfRange>>()?;
        Ok::<_, OutOfRange>(Policy { name: (*name).to_owned(), tiers })
    });
    let fees = config::NETWORKS
        .iter()
        .zip(withdraw.network_fee_cents)
        .map(|(name, fee)| Ok::<_, OutOfRange>(((*name).to_owned(), cents(fee)?)));
    Ok(Withdrawals {
        minimum: cents(withdraw.min_withdrawal_cents)?,
        policies: policies.collect::<Result<_, _>>()?,
        network_fees: fees.collect::<Result<_, _>>()?,
        pago_movil_margin_percent: Rate(withdraw.pago_movil_margin_percent),
        pago_movil_fee_waiver_percent: Rate(withdraw.pago_movil_fee_waiver_percent),
    })
}

/// The fault of the simulated bank, as the simulator takes it.
pub fn fault(fault: config::SimulatorFault) -> Fault {
    match fault {
        config::SimulatorFault::None => Fault::None,
        config::SimulatorFault::Contradicts => Fault::Contradicts,
        config::SimulatorFault::Loses => Fault::Loses,
        config::SimulatorFault::OneTransfer => Fault::OneTransfer,
    }
}

/// The time, in ms, for which the notice of a live transfer is waited for.
pub fn notice_wait_ms(rails: &config::Rails) -> i64 {
    let seconds = rails.r4.as_ref().map_or(0, |r4| r4.notice_wait_seconds);
    i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(SECOND_MS)
}

/// The greatest age, in ms, of a rate that is used for money.
pub fn max_age_ms(rates: &config::Rates) -> i64 {
    i64::try_from(rates.max_age_seconds.saturating_mul(1000)).unwrap_or(i64::MAX)
}

/// The network fee of a USDT payout on each network, in the order of the configuration, which is
/// that of [`domain::resources::crypto::address::Network`].
pub fn network_fees(crypto: &config::Crypto) -> Result<[Usdt; 4], OutOfRange> {
    let mut fees = [Usdt::ZERO; 4];
    for (fee, given) in fees.iter_mut().zip(crypto.network_fee_usdt) {
        *fee = Usdt::exact(given).ok_or(OutOfRange { key: "crypto.network_fee_usdt" })?;
    }
    Ok(fees)
}

/// The blocks after which a transfer is final on each network that has a node, in the same order.
pub fn confirmations(rails: &config::Rails) -> [Option<u64>; 4] {
    Network::NAMES.map(|(name, _)| {
        let evm = rails.evm.iter().find(|evm| evm.network == name);
        evm.map(|evm| evm.confirmations)
    })
}

pub fn settings(defaults: &config::TenantDefaults) -> Result<Settings, OutOfRange> {
    let failed = || OutOfRange { key: "tenant_defaults" };
    let ves = |amount: Decimal| Ves::exact(amount).ok_or_else(failed);
    let fee = |fee: &config::Fee| {
        Ok::<_, OutOfRange>(Fee { percent: Rate(fee.percent), fixed: ves(fee.fixed_ves)? })
    };
    let usdt = |amount: Decimal| Usdt::exact(amount).ok_or_else(failed);
    let conversions = &defaults.conversions;
    let limit_ves = conversions.daily_limit_ves.map(ves).transpose()?.map(Ves::minor);
    let limit_cop = conversions
        .daily_limit_cop
        .map(|limit| Cop::exact(limit).ok_or_else(failed))
        .transpose()?
        .map(Cop::minor);
    Ok(Settings {
        reserve: ves(defaults.reserve_ves)?,
        fees: Fees {
            c2p: fee(&defaults.c2p)?,
            vpos: fee(&defaults.vpos)?,
            debit: fee(&defaults.debit)?,
            pago_movil: fee(&defaults.pago_movil)?,
            link_percent: Rate(defaults.link_percent),
            chargeback: ves(defaults.chargeback_ves)?,
            payout: ves(defaults.payout_ves)?,
        },
        seller_hold_business_days: defaults.seller_hold_business_days,
        conversions: ConversionSettings {
            enabled: PerSource {
                ves: conversions.enabled.contains(&"VES"),
                cop: conversions.enabled.contains(&"COP"),
            },
            spread_percent: PerSource {
                ves: Rate(conversions.spread_percent_ves),
                cop: Rate(conversions.spread_percent_cop),
            },
            minimum: usdt(conversions.minimum_usdt)?,
            daily_limit: PerSource { ves: limit_ves, cop: limit_cop },
            auto_cop_percent: 0,
        },
        usdt_enabled: defaults.usdt_enabled,
        usdt_payout_auto_limit: usdt(defaults.usdt_payout_auto_limit)?,
        cop_enabled: defaults.cop_enabled,
        withdraw_fee_policy: defaults.withdraw_fee_policy.to_owned(),
        checkout_allowed_origins: defaults.checkout_allowed_origins.clone(),
        shop: Shop::default(),
        chargeback_fee_max: None,
        micro_deposits_daily_max: defaults.micro_deposits_daily_max,
    })
}

pub fn bootstrap(config: &Config) -> Vec<BootstrapTenant> {
    let key = |secret: &Option<config::Secret>| secret.as_ref().map(|secret| secret.expose().to_owned());
    config
        .bootstrap_tenants
        .iter()
        .map(|tenant| BootstrapTenant {
            name: tenant.name.clone(),
            test_key: key(&tenant.test_key),
            live_key: key(&tenant.live_key),
        })
        .collect()
}
