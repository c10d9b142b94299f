//! `[tenant_defaults]`, `[withdraw]`, `[crypto]` and `[bootstrap]`: what money costs, and who is there first.

use super::Secret;
use super::error::ValueError;
use super::keys::{Keys, choice, exact};
use super::values::origin;
use rust_decimal::Decimal;
use std::ops::RangeInclusive;

pub const NETWORKS: [&str; 4] = ["TRC20", "ERC20", "BEP20", "POLYGON"];
pub const WITHDRAW_POLICIES: [&str; 3] = ["legacy_flat", "tiered_v1", "tiered_v2"];

const PERCENT: RangeInclusive<Decimal> = Decimal::ZERO..=Decimal::ONE_HUNDRED;
const PERCENT_DECIMALS: u32 = 4;
/// 999999999999.99
const AMOUNT: RangeInclusive<Decimal> = Decimal::ZERO..=Decimal::from_parts(276_447_231, 23_283, 0, false, 2);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fee {
    pub percent: Decimal,
    /// In bolívares, on top of the percentage.
    pub fixed_ves: Decimal,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantDefaults {
    /// A balance must keep so much, in bolívares.
    pub reserve_ves: Decimal,
    pub c2p: Fee,
    pub vpos: Fee,
    pub debit: Fee,
    pub pago_movil: Fee,
    /// The operator's share on payment links.
    pub link_percent: Decimal,
    pub chargeback_ves: Decimal,
    pub payout_ves: Decimal,
    /// A seller's share is held so long.
    pub seller_hold_business_days: u32,
    pub micro_deposits_daily_max: u32,
    pub conversions: Conversions,
    pub usdt_enabled: bool,
    /// Larger payouts wait for an operator.
    pub usdt_payout_auto_limit: Decimal,
    pub cop_enabled: bool,
    /// One of [`WITHDRAW_POLICIES`].
    pub withdraw_fee_policy: &'static str,
    pub checkout_allowed_origins: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversions {
    pub enabled: Vec<&'static str>,
    pub spread_percent_ves: Decimal,
    pub spread_percent_cop: Decimal,
    /// A conversion yields at least this.
    pub minimum_usdt: Decimal,
    pub daily_limit_ves: Option<Decimal>,
    pub daily_limit_cop: Option<Decimal>,
}

impl TenantDefaults {
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let [mut fees, mut usdt, mut cop, mut checkout] =
            ["fees", "usdt", "cop", "checkout"].map(|name| keys.section(name));
        let policies = WITHDRAW_POLICIES.map(|name| (name, name));
        let defaults = TenantDefaults {
            reserve_ves: amount(&mut keys, "reserve_ves", Decimal::new(0, 2)),
            c2p: fees.nested("c2p", fee),
            vpos: fees.nested("vpos", fee),
            debit: fees.nested("debit", fee),
            pago_movil: fees.nested("pago_movil", fee),
            link_percent: percent(&mut fees, "link_percent", Decimal::new(5_000, 4)),
            chargeback_ves: amount(&mut fees, "chargeback_ves", Decimal::new(0, 2)),
            payout_ves: amount(&mut fees, "payout_ves", Decimal::new(0, 2)),
            seller_hold_business_days: keys.integer("seller_hold_business_days", 0, 0..=365),
            micro_deposits_daily_max: keys.integer("micro_deposits_daily_max", 50, 0..=10_000),
            conversions: keys.nested("conversions", Conversions::read),
            usdt_enabled: usdt.boolean("enabled", true),
            usdt_payout_auto_limit: amount(&mut usdt, "payout_auto_limit_usdt", Decimal::new(50_000, 2)),
            cop_enabled: cop.boolean("enabled", true),
            withdraw_fee_policy: keys.one_of("withdraw_fee_policy", "tiered_v2", &policies),
            checkout_allowed_origins: checkout.list("allowed_origins", Vec::new(), origin),
        };
        [fees, usdt, cop, checkout, keys].into_iter().for_each(Keys::done);
        defaults
    }
}

fn fee(mut keys: Keys<'_>) -> Fee {
    let fee = Fee {
        percent: percent(&mut keys, "percent", Decimal::new(15_000, 4)),
        fixed_ves: amount(&mut keys, "fixed_ves", Decimal::new(0, 2)),
    };
    keys.done();
    fee
}

impl Conversions {
    fn read(mut keys: Keys<'_>) -> Self {
        let [mut spread, mut limit] = ["spread_percent", "daily_limit"].map(|name| keys.section(name));
        let currencies = [("VES", "VES"), ("COP", "COP")];
        let conversions = Conversions {
            enabled: keys.list("enabled", vec!["VES", "COP"], |text| choice(text, &currencies)),
            spread_percent_ves: percent(&mut spread, "ves", Decimal::new(15_000, 4)),
            spread_percent_cop: percent(&mut spread, "cop", Decimal::new(20_000, 4)),
            minimum_usdt: amount(&mut keys, "minimum_usdt", Decimal::new(100, 2)),
            daily_limit_ves: limit.optional("ves", |text| exact(text, &AMOUNT, 2)),
            daily_limit_cop: limit.optional("cop", |text| exact(text, &AMOUNT, 0)),
        };
        [spread, limit, keys].into_iter().for_each(Keys::done);
        conversions
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withdraw {
    pub min_withdrawal_cents: u64,
    /// Pago Móvil withdrawals pay less than the market by so much.
    pub pago_movil_margin_percent: Decimal,
    /// Off the fee of Pago Móvil withdrawals, unless the full policy is asked for.
    pub pago_movil_fee_waiver_percent: Decimal,
    pub policies: [Vec<Tier>; 3],
    pub network_fee_cents: [u64; 4],
}

/// A step of a policy for withdrawal fees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tier {
    /// In US cents; none for the last step.
    pub below_cents: Option<u64>,
    pub percent: Decimal,
    /// In US cents, on top of the percentage.
    pub fixed_cents: u64,
}

impl Withdraw {
    pub fn policy(&self, name: &str) -> Option<&[Tier]> {
        let index = WITHDRAW_POLICIES.iter().position(|known| *known == name)?;
        Some(&self.policies[index])
    }

    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let [mut fees, mut policies] = ["network_fee_cents", "policies"].map(|name| keys.section(name));
        let tiered = |percents: [i64; 3], fixed: u64| {
            let bounds = [(Some(10_000), fixed), (Some(50_000), fixed), (None, 0)];
            let tier = |((below_cents, fixed_cents), percent)| Tier {
                below_cents,
                percent: Decimal::new(percent, 1),
                fixed_cents,
            };
            bounds.into_iter().zip(percents).map(tier).collect()
        };
        let flat = Tier { below_cents: None, percent: Decimal::ZERO, fixed_cents: 100 };
        let defaults = [vec![flat], tiered([30, 25, 20], 50), tiered([25, 20, 15], 30)];
        let withdraw = Withdraw {
            min_withdrawal_cents: keys.integer("min_withdrawal_cents", 1_000, 1..=100_000_000),
            pago_movil_margin_percent: percent(&mut keys, "pago_movil_margin_percent", Decimal::new(15, 1)),
            pago_movil_fee_waiver_percent: percent(&mut keys, "pago_movil_fee_waiver_percent", Decimal::ZERO),
            network_fee_cents: std::array::from_fn(|index| {
                fees.integer(NETWORKS[index], [100, 500, 50, 20][index], 0..=1_000_000)
            }),
            policies: std::array::from_fn(|index| {
                read_policy(policies.section(WITHDRAW_POLICIES[index]), &defaults[index])
            }),
        };
        [fees, policies, keys].into_iter().for_each(Keys::done);
        withdraw
    }
}

fn read_policy(mut keys: Keys<'_>, default: &[Tier]) -> Vec<Tier> {
    let tiers = match keys.sections("tiers") {
        None => default.to_vec(),
        Some(sections) => {
            let mut tiers = Vec::with_capacity(sections.len());
            for mut keys in sections {
                let below_cents = keys.integer("below_cents", 0, 0..=1_000_000_000_000_u64);
                tiers.push(Tier {
                    below_cents: (below_cents > 0).then_some(below_cents),
                    percent: percent(&mut keys, "percent", Decimal::ZERO),
                    fixed_cents: keys.integer("fixed_cents", 0, 0..=1_000_000),
                });
                keys.done();
            }
            tiers
        }
    };
    let bounds: Vec<Option<u64>> = tiers.iter().map(|tier| tier.below_cents).collect();
    let rises = bounds
        .windows(2)
        .all(|pair| matches!(pair, [Some(low), high] if high.is_none_or(|high| high > *low)));
    if !rises || bounds.last() != Some(&None) {
        keys.bad("tiers", "below_cents must rise, and only the last tier goes without");
    }
    keys.done();
    tiers
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crypto {
    pub network_fee_usdt: [Decimal; 4],
}

impl Crypto {
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let mut fees = keys.section("network_fee_usdt");
        let defaults = [100, 500, 50, 20].map(|cents| Decimal::new(cents, 2));
        let network_fee_usdt =
            std::array::from_fn(|index| amount(&mut fees, NETWORKS[index], defaults[index]));
        fees.done();
        keys.done();
        Crypto { network_fee_usdt }
    }
}

/// Created once, on a first start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootstrapTenant {
    pub name: String,
    /// A random key if empty.
    pub test_key: Option<Secret>,
    /// A random key if empty.
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
    let fine = |rest: &str| {
        !rest.is_empty()
            && text.len() <= 128
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    match text.strip_prefix(prefix) {
        Some(rest) if fine(rest) => Ok(Secret::new(text)),
        _ => Err(format!("must be {prefix} and letters, digits or underscores").into()),
    }
}

fn percent(keys: &mut Keys<'_>, name: &str, default: Decimal) -> Decimal {
    keys.percentage(name, default, PERCENT, PERCENT_DECIMALS)
}

fn amount(keys: &mut Keys<'_>, name: &str, default: Decimal) -> Decimal {
    keys.decimal(name, default, AMOUNT, 2)
}
