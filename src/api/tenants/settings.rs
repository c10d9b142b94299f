//! The settings of a tenant in JSON, nested at the dots of their names (`docs/contract.md, 3.5`):
//! shown whole, changed in part.

mod shop;

use crate::fields::{Fields, Invalid, Kind, kind};
use crate::openapi::schema::Schema;
use crate::openapi::{kinds, schema, values};
use crate::value::{Bad, Value};
use crate::writer::text;
use domain::platform::settings::{ConversionSettings, Fee, Fees, PerSource, Settings};
use domain::values::money::{Currency, Rate, Usdt, Ves};
// Addresses alone: sockets are not in `core`.
use core::net::{Ipv4Addr, Ipv6Addr};
use rust_decimal::Decimal;
use std::str::FromStr;

/// The largest number of verifications that may be started in 24 hours.
const MICRO_DEPOSITS_DAILY_MAX: i64 = 10_000;
/// Business days of the longest hold of a seller's money.
const HOLD_DAYS_MAX: i64 = 365;
const ORIGINS_MAX: usize = 100;
const FEE_MAX: &str = "The largest `feeVes` of a chargeback without an approval; null: `fees.chargebackVes`.";
const FEE_MAX_CHANGED: &str = "The largest `feeVes` without an approval; null: `fees.chargebackVes`.";
const LINK_SHARE: &str = "The operator's share of sales through payment links, in percent.";
const STARTED: &str = "Verifications that may be started in 24 hours.";
const HOST_CHARACTERS_MAX: usize = 253;
const WITHDRAW_FEE_POLICIES: [&str; 3] = ["legacy_flat", "tiered_v1", "tiered_v2"];

/// `SHOW, ITS SCHEMA, MERGE(SETTINGS: TYPE), BYTES { SHOWN AS "NAME" = VALUE, SCHEMA => HOW KIND, PLACE; }` makes what
/// [`shown`] makes, and a function that merges the members of a change into settings: what is not named stays, a list
/// takes the place of the one before, and every bad member is named with its dots.
macro_rules! settings {
    ($show:ident, $schema:ident, $merge:ident($settings:ident: $type:ty), $bytes:literal {
        $($($kind:ident)+ $name:literal = $value:expr, $is:expr => $how:ident $read:expr, $place:expr;)*
    }) => {
        crate::endpoint::shown! {
            pub fn $show($settings: &$type), $schema, $bytes { $($($kind)+ $name = $value, $is;)* }
        }

        pub fn $merge($settings: &$type, mut fields: Fields<'_>) -> Result<$type, Invalid> {
            let mut $settings = $settings.clone();
            $(
                let member = fields.$how($name, $read);
                if let Some(Some(value)) = member.0 {
                    $place = value;
                }
            )*
            fields.finish()?;
            Ok($settings)
        }
    };
}

use settings;

settings! {
    show, settings_schema, read(settings: Settings), 1024 {
        plain "reserveVes" = settings.reserve, ves() => optional in_ves(), settings.reserve;
        json "fees" = show_fees(&settings.fees), fees_schema()
            => optional kinds::object(|fields| merge_fees(&settings.fees, fields)), settings.fees;
        number "sellerHoldBusinessDays" = settings.seller_hold_business_days, integer().range("0", "365")
            => optional count(HOLD_DAYS_MAX), settings.seller_hold_business_days;
        json "conversions" = show_conversions(&settings.conversions), conversions_schema()
            => optional kinds::object(|fields| merge_conversions(&settings.conversions, fields)), settings.conversions;
        json "usdt" = show_usdt(settings), usdt_schema()
            => optional kinds::object(|fields| merge_usdt(&settings, fields)), settings;
        json "cop" = show_cop(settings), cop_schema()
            => optional kinds::object(|fields| merge_cop(&settings, fields)), settings;
        text "withdrawFeePolicy" = &settings.withdraw_fee_policy, one_of(WITHDRAW_FEE_POLICIES)
            => optional kinds::one_of(WITHDRAW_FEE_POLICIES.map(|name| (name, name.to_owned()))), settings.withdraw_fee_policy;
        json "checkout" = show_checkout(settings), checkout_schema()
            => optional kinds::object(|fields| merge_checkout(&settings, fields)), settings;
        json "shop" = shop::show(&settings.shop), shop::schema()
            => optional kinds::object(|fields| shop::merge(&settings.shop, fields)), settings.shop;
        maybe plain "chargebackFeeMax" = settings.chargeback_fee_max, ves().about(FEE_MAX)
            => nullable in_ves().about(FEE_MAX_CHANGED), settings.chargeback_fee_max;
        number "microDepositsDailyMax" = settings.micro_deposits_daily_max, integer().range("0", "10000").about(STARTED)
            => optional count(MICRO_DEPOSITS_DAILY_MAX).about(STARTED), settings.micro_deposits_daily_max;
    }
}

settings! {
    show_usdt, usdt_schema, merge_usdt(settings: Settings), 64 {
        boolean "enabled" = settings.usdt_enabled, boolean() => optional kinds::boolean(), settings.usdt_enabled;
        plain "payoutAutoLimitUsdt" = settings.usdt_payout_auto_limit, ves()
            => optional in_usdt(), settings.usdt_payout_auto_limit;
    }
}

settings! {
    show_cop, cop_schema, merge_cop(settings: Settings), 64 {
        boolean "enabled" = settings.cop_enabled, boolean() => optional kinds::boolean(), settings.cop_enabled;
    }
}

settings! {
    show_checkout, checkout_schema, merge_checkout(settings: Settings), 256 {
        list "allowedOrigins" = settings.checkout_allowed_origins.iter().map(|origin| text(origin)), origins_schema()
            => optional origins_allowed(), settings.checkout_allowed_origins;
    }
}

fn percentage(rate: Rate) -> String {
    format!("{:.4}", rate.0)
}

settings! {
    show_fee, fee_schema, merge_fee(fee: Fee), 64 {
        plain "percent" = percentage(fee.percent), four_decimals() => optional percent(), fee.percent;
        plain "fixedVes" = fee.fixed, ves() => optional in_ves(), fee.fixed;
    }
}

settings! {
    show_fees, fees_schema, merge_fees(fees: Fees), 512 {
        json "c2p" = show_fee(&fees.c2p), fee_schema() => optional kinds::object(|fields| merge_fee(&fees.c2p, fields)), fees.c2p;
        json "vpos" = show_fee(&fees.vpos), fee_schema() => optional kinds::object(|fields| merge_fee(&fees.vpos, fields)), fees.vpos;
        json "debit" = show_fee(&fees.debit), fee_schema() => optional kinds::object(|fields| merge_fee(&fees.debit, fields)), fees.debit;
        json "pagoMovil" = show_fee(&fees.pago_movil), fee_schema()
            => optional kinds::object(|fields| merge_fee(&fees.pago_movil, fields)), fees.pago_movil;
        plain "linkPercent" = percentage(fees.link_percent), four_decimals().about(LINK_SHARE)
            => optional percent().about(LINK_SHARE), fees.link_percent;
        plain "chargebackVes" = fees.chargeback, ves() => optional in_ves(), fees.chargeback;
        plain "payoutVes" = fees.payout, ves() => optional in_ves(), fees.payout;
    }
}

settings! {
    show_conversions, conversions_schema, merge_conversions(conversions: ConversionSettings), 256 {
        list "enabled" = enabled(conversions), list(one_of(["VES", "COP"])).distinct()
            => optional sources(), conversions.enabled;
        json "spreadPercent" = show_spread(&conversions.spread_percent), spread_schema()
            => optional kinds::object(|fields| merge_spread(&conversions.spread_percent, fields)), conversions.spread_percent;
        plain "minimumUsdt" = conversions.minimum, ves() => optional in_usdt(), conversions.minimum;
        json "dailyLimit" = show_limit(&conversions.daily_limit), limit_schema()
            => optional kinds::object(|fields| merge_limit(&conversions.daily_limit, fields)), conversions.daily_limit;
    }
}

settings! {
    show_spread, spread_schema, merge_spread(spread: PerSource<Rate>), 64 {
        plain "VES" = percentage(spread.ves), four_decimals() => optional percent(), spread.ves;
        plain "COP" = percentage(spread.cop), four_decimals() => optional percent(), spread.cop;
    }
}

settings! {
    show_limit, limit_schema, merge_limit(limit: PerSource<Option<i64>>), 64 {
        maybe plain "VES" = limit.ves.map(Ves::from_minor), ves().about("Null: none.")
            => nullable kinds::cents().about("Null: none."), limit.ves;
        maybe plain "COP" = limit.cop, pesos().about("Null: none.")
            => nullable in_pesos().about("Null: none."), limit.cop;
    }
}

pub(crate) fn enabled(conversions: &ConversionSettings) -> impl Iterator<Item = Vec<u8>> {
    let sources = [("VES", conversions.enabled.ves), ("COP", conversions.enabled.cop)];
    sources.into_iter().filter(|(_, enabled)| *enabled).map(|(name, _)| text(name))
}

/// Reads a change of settings: something has to be in it.
pub fn change(base: &Settings, mut fields: Fields<'_>) -> Result<Settings, Invalid> {
    fields.changes();
    read(base, fields)
}

fn in_ves<'a>() -> impl Kind<'a, Ves> {
    kind(|value: Value<'a>| value.cents().map(Ves::from_minor), values::cents)
}

fn in_usdt<'a>() -> impl Kind<'a, Usdt> {
    kind(|value: Value<'a>| value.cents().map(Usdt::from_minor), values::cents)
}

fn count<'a>(max: i64) -> impl Kind<'a, u32> {
    kind(
        move |value: Value<'a>| value.integer(0..=max).map(|count| u32::try_from(count).unwrap_or(0)),
        move || schema::integer().range("0", &max.to_string()),
    )
}

/// The currencies that can be converted, each once.
fn sources<'a>() -> impl Kind<'a, PerSource<bool>> {
    const NAMES: [&str; 2] = ["VES", "COP"];
    let read = |value: Value<'a>| {
        let sources = distinct(value.list(0..=2, |value| value.one_of(&NAMES.map(|name| (name, name))))?)?;
        Ok(PerSource { ves: sources.contains(&"VES"), cop: sources.contains(&"COP") })
    };
    kind(read, || schema::list(schema::one_of(NAMES)).distinct())
}

/// The origins that may embed the checkout, each once.
fn origins_allowed<'a>() -> impl Kind<'a, Vec<String>> {
    kind(|value: Value<'a>| distinct(value.list(0..=ORIGINS_MAX, origin)?), origins_schema)
}

fn origins_schema() -> Schema {
    schema::list(schema::text().about("An https origin; http to loopback.")).count(0..=ORIGINS_MAX).distinct()
}

fn percent<'a>() -> impl Kind<'a, Rate> {
    kind(read_percent, || {
        let decimal = schema::text().pattern(r"^(100(\.0{1,4})?|(0|[1-9][0-9]?)(\.[0-9]{1,4})?)$");
        decimal.about("In percent, 0 to 100.")
    })
}

fn in_pesos<'a>() -> impl Kind<'a, i64> {
    kind(read_pesos, values::pesos)
}

/// Digits without a zero before them.
fn is_whole(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (text.len() == 1 || !text.starts_with('0'))
}

fn read_percent(value: Value<'_>) -> Result<Rate, Bad> {
    const WANTED: &str =
        "must be a string from \"0\" to \"100\" with at most four decimals, such as \"1.5000\"";
    let text = value.string().map_err(|_| WANTED)?;
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, "0"));
    let fits = is_whole(whole)
        && (1..=4).contains(&fraction.len())
        && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let read = fits
        .then(|| Decimal::from_str(&text).ok())
        .flatten()
        .filter(|percent| *percent <= Decimal::ONE_HUNDRED);
    read.map(|mut percent| {
        percent.rescale(4);
        Rate(percent)
    })
    .ok_or(Bad::from(WANTED))
}

fn read_pesos(value: Value<'_>) -> Result<i64, Bad> {
    const WANTED: &str = "must be a string with a whole amount, such as \"20000\"";
    let text = value.string().map_err(|_| WANTED)?;
    let read = is_whole(&text).then(|| text.parse().ok()).flatten();
    read.filter(|pesos| *pesos <= Currency::Cop.amount_minor_max()).ok_or(Bad::from(WANTED))
}

fn distinct<T: PartialEq>(values: Vec<T>) -> Result<Vec<T>, Bad> {
    let repeated = values.iter().enumerate().any(|(n, value)| values[..n].contains(value));
    if repeated { Err(Bad::from("must name each one once")) } else { Ok(values) }
}

/// An origin as browsers write it, so that it can be compared byte by byte.
fn origin(value: Value<'_>) -> Result<String, Bad> {
    let text = value.string()?;
    let authority = match text.split_once("://") {
        Some(("https", authority)) => host(authority, 443).map(|_| ()),
        Some(("http", authority)) => host(authority, 80).filter(|host| is_loopback(host)).map(|_| ()),
        _ => None,
    };
    authority.map(|()| text.into_owned()).ok_or(Bad::from(
        "must be an origin such as https://shop.example in lower case and without a path; \
         http is for loopback alone",
    ))
}

/// The host of `host[:port]`, if both are written as an origin writes them: the default port is
/// left out there.
fn host(authority: &str, default_port: u16) -> Option<&str> {
    let ends = authority.rfind(']').map_or(0, |end| end + 1);
    let (host, port) = match authority[ends..].find(':') {
        Some(at) => (&authority[..ends + at], Some(&authority[ends + at + 1..])),
        None => (authority, None),
    };
    let port_fits = port.is_none_or(|port| {
        is_whole(port) && port.parse::<u16>().is_ok_and(|port| port != 0 && port != default_port)
    });
    (port_fits && is_host(host)).then_some(host)
}

fn is_host(host: &str) -> bool {
    if let Some(inner) = host.strip_prefix('[') {
        let address = inner.strip_suffix(']').and_then(|text| text.parse::<Ipv6Addr>().ok());
        return address.is_some_and(|address| format!("[{address}]") == host);
    }
    let label = |label: &str| {
        let fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(fine)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    host.len() <= HOST_CHARACTERS_MAX && host.split('.').all(label)
}

fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host == "[::1]"
        || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests;
