//! `[tenant_defaults]`, `[withdraw]`, `[crypto]` and `[bootstrap]`: what money costs, and who is there first.

use super::Secret;
use super::error::ValueError;
use super::keys::{Keys, choice, exact};
use super::values::origin;
use domain::platform::settings::{ConversionSettings, Fee, Fees, PerSource, Settings};
use domain::resources::rates::withdrawals::{Policy, Tier, Withdrawals};
use domain::values::address::Network;
use domain::values::money::{Cop, Rate, Usdt, Ves};
use rust_decimal::Decimal;
use std::ops::RangeInclusive;

const POLICIES: [&str; 3] = ["legacy_flat", "tiered_v1", "tiered_v2"];
const PERCENT: RangeInclusive<Decimal> = Decimal::ZERO..=Decimal::ONE_HUNDRED;
const PERCENT_DECIMALS: u32 = 4;
/// 999999999999.99
const AMOUNT: RangeInclusive<Decimal> = Decimal::ZERO..=Decimal::from_parts(276_447_231, 23_283, 0, false, 2);

pub(super) fn tenant_defaults(mut keys: Keys<'_>) -> Settings {
    let [mut fees, mut usdt, mut cop, mut checkout] =
        ["fees", "usdt", "cop", "checkout"].map(|name| keys.section(name));
    let default = Settings::default();
    let of_method = |mut keys: Keys<'_>, default: Fee| {
        let percent = percent(&mut keys, "percent", default.percent);
        let fee = Fee { percent, fixed: amount(&mut keys, "fixed_ves", default.fixed, Ves::exact) };
        keys.done();
        fee
    };
    let policy = |text: &str| choice(text, &POLICIES.map(|name| (name, name.to_owned())));
    let settings = Settings {
        reserve: amount(&mut keys, "reserve_ves", default.reserve, Ves::exact),
        fees: Fees {
            c2p: of_method(fees.section("c2p"), default.fees.c2p),
            vpos: of_method(fees.section("vpos"), default.fees.vpos),
            debit: of_method(fees.section("debit"), default.fees.debit),
            pago_movil: of_method(fees.section("pago_movil"), default.fees.pago_movil),
            link_percent: percent(&mut fees, "link_percent", default.fees.link_percent),
            chargeback: amount(&mut fees, "chargeback_ves", default.fees.chargeback, Ves::exact),
            payout: amount(&mut fees, "payout_ves", default.fees.payout, Ves::exact),
        },
        seller_hold_business_days: keys.integer("seller_hold_business_days", 0, 0..=365),
        micro_deposits_daily_max: keys.integer("micro_deposits_daily_max", 50, 0..=10_000),
        conversions: conversions(keys.section("conversions"), default.conversions),
        usdt_enabled: usdt.boolean("enabled", default.usdt_enabled),
        usdt_payout_auto_limit: amount(
            &mut usdt,
            "payout_auto_limit_usdt",
            default.usdt_payout_auto_limit,
            Usdt::exact,
        ),
        cop_enabled: cop.boolean("enabled", default.cop_enabled),
        withdraw_fee_policy: keys.parsed("withdraw_fee_policy", default.withdraw_fee_policy, policy),
        checkout_allowed_origins: checkout.list("allowed_origins", Vec::new(), origin),
        shop: default.shop,
        chargeback_fee_max: default.chargeback_fee_max,
    };
    [fees, usdt, cop, checkout, keys].into_iter().for_each(Keys::done);
    settings
}

fn conversions(mut keys: Keys<'_>, default: ConversionSettings) -> ConversionSettings {
    let [mut spread, mut limit] = ["spread_percent", "daily_limit"].map(|name| keys.section(name));
    let currencies = [("VES", "VES"), ("COP", "COP")];
    let enabled = keys.list("enabled", vec!["VES", "COP"], |text| choice(text, &currencies));
    let conversions = ConversionSettings {
        enabled: PerSource { ves: enabled.contains(&"VES"), cop: enabled.contains(&"COP") },
        spread_percent: PerSource {
            ves: percent(&mut spread, "ves", default.spread_percent.ves),
            cop: percent(&mut spread, "cop", default.spread_percent.cop),
        },
        minimum: amount(&mut keys, "minimum_usdt", default.minimum, Usdt::exact),
        daily_limit: PerSource {
            ves: limit.optional("ves", |text| money(text, 2, Ves::exact)).map(Ves::minor),
            cop: limit.optional("cop", |text| money(text, 0, Cop::exact)).map(Cop::minor),
        },
        ..default
    };
    [spread, limit, keys].into_iter().for_each(Keys::done);
    conversions
}

pub(super) fn withdrawals(mut keys: Keys<'_>) -> Withdrawals {
    let [mut fees, mut policies] = ["network_fee_cents", "policies"].map(|name| keys.section(name));
    let tier = |below, tenths, fixed| Tier { below, percent: Rate(Decimal::new(tenths, 1)), fixed };
    let tiered = |[low, middle, high]: [i64; 3], fixed| {
        vec![tier(Some(10_000), low, fixed), tier(Some(50_000), middle, fixed), tier(None, high, 0)]
    };
    let defaults = [vec![tier(None, 0, 100)], tiered([30, 25, 20], 50), tiered([25, 20, 15], 30)];
    let policy = |(name, default): (&str, Vec<Tier>)| Policy {
        name: name.to_owned(),
        tiers: tiers(policies.section(name), default),
    };
    let policies_read = POLICIES.into_iter().zip(defaults).map(policy).collect();
    let networks = Network::NAMES.into_iter().zip([100, 500, 50, 20]);
    let withdrawals = Withdrawals {
        minimum: keys.integer("min_withdrawal_cents", 1_000, 1..=100_000_000),
        policies: policies_read,
        network_fees: networks
            .map(|((name, _), default)| (name.to_owned(), fees.integer(name, default, 0..=1_000_000)))
            .collect(),
        pago_movil_margin_percent: percent(&mut keys, "pago_movil_margin_percent", Rate(Decimal::new(15, 1))),
        pago_movil_fee_waiver_percent: percent(
            &mut keys,
            "pago_movil_fee_waiver_percent",
            Rate(Decimal::ZERO),
        ),
    };
    [fees, policies, keys].into_iter().for_each(Keys::done);
    withdrawals
}

fn tiers(mut keys: Keys<'_>, default: Vec<Tier>) -> Vec<Tier> {
    let tier = |mut keys: Keys<'_>| {
        let tier = Tier {
            below: Some(keys.integer("below_cents", 0, 0..=1_000_000_000_000)).filter(|below| *below > 0),
            percent: percent(&mut keys, "percent", Rate(Decimal::ZERO)),
            fixed: keys.integer("fixed_cents", 0, 0..=1_000_000),
        };
        keys.done();
        tier
    };
    let tiers = match keys.sections("tiers") {
        None => default,
        Some(sections) => sections.into_iter().map(tier).collect(),
    };
    let rises = tiers
        .windows(2)
        .all(|pair| pair[0].below.is_some_and(|low| pair[1].below.is_none_or(|high| high > low)));
    if !rises || tiers.last().is_none_or(|last| last.below.is_some()) {
        keys.bad("tiers", "below_cents must rise, and only the last tier goes without");
    }
    keys.done();
    tiers
}

/// The fee of a USDT payout on each network, in the order of [`Network::NAMES`].
pub(super) fn network_fees(mut keys: Keys<'_>) -> [Usdt; 4] {
    let mut fees = keys.section("network_fee_usdt");
    let defaults = [100, 500, 50, 20].map(Usdt::from_minor);
    let read = std::array::from_fn(|n| amount(&mut fees, Network::NAMES[n].0, defaults[n], Usdt::exact));
    [fees, keys].into_iter().for_each(Keys::done);
    read
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BootstrapTenant {
    pub name: String,
    /// A random key if empty.
    pub test_key: Option<Secret>,
    pub live_key: Option<Secret>,
}

impl BootstrapTenant {
    pub(super) fn read_all(mut keys: Keys<'_>) -> Vec<Self> {
        let mut tenants: Vec<Self> = Vec::new();
        for (index, mut keys_of_one) in keys.sections("tenants").unwrap_or_default().into_iter().enumerate() {
            let tenant = BootstrapTenant {
                name: keys_of_one.required("name", |text| match text.trim() {
                    name if (1..=128).contains(&name.chars().count()) => Ok(name.to_owned()),
                    _ => Err("must have 1 to 128 characters".into()),
                }),
                test_key: keys_of_one.optional("test_key", |text| key(text, "pk_test_")),
                live_key: keys_of_one.optional("live_key", |text| key(text, "pk_live_")),
            };
            keys_of_one.done();
            let is_twin = |other: &Self| {
                let same = |one: &Option<Secret>, other: &Option<Secret>| one.is_some() && one == other;
                other.name == tenant.name
                    || same(&other.test_key, &tenant.test_key)
                    || same(&other.live_key, &tenant.live_key)
            };
            if tenants.iter().any(is_twin) {
                keys.bad(&format!("tenants[{index}]"), "its name or a key of it is there twice");
            }
            tenants.push(tenant);
        }
        keys.done();
        tenants
    }
}

fn key(text: &str, prefix: &str) -> Result<Secret, ValueError> {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    match text.strip_prefix(prefix) {
        Some(rest) if !rest.is_empty() && text.len() <= 128 && rest.bytes().all(is_fine) => {
            Ok(Secret::new(text))
        }
        _ => Err(format!("must be {prefix} and letters, digits or underscores").into()),
    }
}

fn percent(keys: &mut Keys<'_>, name: &str, default: Rate) -> Rate {
    Rate(keys.percentage(name, default.0, PERCENT, PERCENT_DECIMALS))
}

fn amount<T>(keys: &mut Keys<'_>, name: &str, default: T, of: fn(Decimal) -> Option<T>) -> T {
    keys.parsed(name, default, |text| money(text, 2, of))
}

fn money<T>(text: &str, decimals: u32, of: fn(Decimal) -> Option<T>) -> Result<T, ValueError> {
    of(exact(text, &AMOUNT, decimals)?).ok_or_else(|| "is out of range".into())
}
