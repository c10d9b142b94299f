//! The settings of a tenant in JSON, nested at the dots of their names (`docs/contract.md, 3.5`):
//! shown whole, changed in part.

mod shop;

use crate::endpoint::shown;
use crate::fields::{Fields, Got, Invalid, Kind, kind};
use crate::openapi::schema::Schema;
use crate::openapi::{kinds, schema, values};
use crate::value::{Bad, Value};
use crate::writer::{Object, text};
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
const HOST_CHARACTERS_MAX: usize = 253;
const WITHDRAW_FEE_POLICIES: [(&str, &str); 3] =
    [("legacy_flat", "legacy_flat"), ("tiered_v1", "tiered_v1"), ("tiered_v2", "tiered_v2")];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Ves,
    Cop,
}

shown! {
    pub fn show(settings: &Settings), settings_schema, 1024 {
        plain "reserveVes" = settings.reserve, ves();
        json "fees" = &show_fees(&settings.fees), fees_schema();
        number "sellerHoldBusinessDays" = settings.seller_hold_business_days, integer().range("0", "365");
        json "conversions" = &show_conversions(&settings.conversions), conversions_schema();
        json "usdt" = &show_usdt(settings), usdt_schema();
        json "cop" = &Object::new().boolean("enabled", settings.cop_enabled).end(), object().member("enabled", boolean());
        text "withdrawFeePolicy" = &settings.withdraw_fee_policy,
            one_of(WITHDRAW_FEE_POLICIES.map(|(name, _)| name));
        json "checkout" = &show_checkout(settings), checkout_schema();
        json "shop" = &shop::show(&settings.shop), shop::schema();
        maybe plain "chargebackFeeMax" = settings.chargeback_fee_max,
            ves().about("The largest `feeVes` of a chargeback without an approval; null: `fees.chargebackVes`.");
        number "microDepositsDailyMax" = settings.micro_deposits_daily_max,
            integer().range("0", "10000").about("Verifications that may be started in 24 hours.");
    }
}

shown! {
    fn show_usdt(settings: &Settings), usdt_schema, 64 {
        boolean "enabled" = settings.usdt_enabled, boolean();
        plain "payoutAutoLimitUsdt" = settings.usdt_payout_auto_limit, ves();
    }
}

shown! {
    fn show_checkout(settings: &Settings), checkout_schema, 256 {
        list "allowedOrigins" = settings.checkout_allowed_origins.iter().map(|origin| text(origin)), origins_schema();
    }
}

fn percentage(rate: Rate) -> String {
    format!("{:.4}", rate.0)
}

shown! {
    fn show_fee(fee: &Fee), fee_schema, 64 {
        plain "percent" = percentage(fee.percent), four_decimals();
        plain "fixedVes" = fee.fixed, ves();
    }
}

shown! {
    fn show_fees(fees: &Fees), fees_schema, 512 {
        json "c2p" = &show_fee(&fees.c2p), fee_schema();
        json "vpos" = &show_fee(&fees.vpos), fee_schema();
        json "debit" = &show_fee(&fees.debit), fee_schema();
        json "pagoMovil" = &show_fee(&fees.pago_movil), fee_schema();
        plain "linkPercent" = percentage(fees.link_percent),
            four_decimals().about("The operator's share of sales through payment links, in percent.");
        plain "chargebackVes" = fees.chargeback, ves();
        plain "payoutVes" = fees.payout, ves();
    }
}

shown! {
    fn show_conversions(conversions: &ConversionSettings), conversions_schema, 256 {
        list "enabled" = enabled(conversions), list(one_of(["VES", "COP"])).distinct();
        json "spreadPercent" = &show_spread(&conversions.spread_percent), spread_schema();
        plain "minimumUsdt" = conversions.minimum, ves();
        json "dailyLimit" = &show_limit(&conversions.daily_limit), limit_schema();
    }
}

shown! {
    pub(crate) fn show_spread(spread: &PerSource<Rate>), spread_schema, 64 {
        plain "VES" = percentage(spread.ves), four_decimals();
        plain "COP" = percentage(spread.cop), four_decimals();
    }
}

shown! {
    pub(crate) fn show_limit(limit: &PerSource<Option<i64>>), limit_schema, 64 {
        maybe plain "VES" = limit.ves.map(Ves::from_minor), ves().about("Null: none.");
        maybe plain "COP" = limit.cop, pesos().about("Null: none.");
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

/// Reads settings: `base` with what the members say. What is not named stays, a list takes the place of the
/// one before, and every bad member is named with its dots.
pub fn read(base: &Settings, mut fields: Fields<'_>) -> Result<Settings, Invalid> {
    let mut merged = base.clone();
    put(&mut merged.reserve, &fields.optional("reserveVes", ves()));
    let fees = kinds::object(|fields| merge_fees(&base.fees, fields));
    put(&mut merged.fees, &fields.optional("fees", fees));
    put(
        &mut merged.seller_hold_business_days,
        &fields.optional("sellerHoldBusinessDays", count(HOLD_DAYS_MAX)),
    );
    let conversions = kinds::object(|fields| merge_conversions(&base.conversions, fields));
    put(&mut merged.conversions, &fields.optional("conversions", conversions));
    let usdt: Got<Option<(bool, Usdt)>> =
        fields.optional("usdt", kinds::object(|fields| merge_usdt(base, fields)));
    if let Some((enabled, limit)) = usdt.peek_some() {
        (merged.usdt_enabled, merged.usdt_payout_auto_limit) = (*enabled, *limit);
    }
    let cop = kinds::object(|mut fields: Fields<'_>| {
        let mut enabled = base.cop_enabled;
        put(&mut enabled, &fields.optional("enabled", kinds::boolean()));
        fields.finish()?;
        Ok(enabled)
    });
    put(&mut merged.cop_enabled, &fields.optional("cop", cop));
    let policy: Got<Option<&str>> =
        fields.optional("withdrawFeePolicy", kinds::one_of(WITHDRAW_FEE_POLICIES));
    if let Some(policy) = policy.peek_some() {
        merged.withdraw_fee_policy = (*policy).to_owned();
    }
    let checkout = kinds::object(|mut fields: Fields<'_>| {
        let mut origins = base.checkout_allowed_origins.clone();
        put(&mut origins, &fields.optional("allowedOrigins", origins_allowed()));
        fields.finish()?;
        Ok(origins)
    });
    put(&mut merged.checkout_allowed_origins, &fields.optional("checkout", checkout));
    let shop = kinds::object(|fields| shop::merge(&base.shop, fields));
    put(&mut merged.shop, &fields.optional("shop", shop));
    let fee_max = ves().about("The largest `feeVes` without an approval; null: `fees.chargebackVes`.");
    put(&mut merged.chargeback_fee_max, &fields.nullable("chargebackFeeMax", fee_max));
    let daily_max = count(MICRO_DEPOSITS_DAILY_MAX).about("Verifications that may be started in 24 hours.");
    put(&mut merged.micro_deposits_daily_max, &fields.optional("microDepositsDailyMax", daily_max));
    fields.finish()?;
    Ok(merged)
}

fn put<T: Clone>(place: &mut T, read: &Got<Option<T>>) {
    if let Some(value) = read.peek_some() {
        *place = value.clone();
    }
}

fn merge_fees(base: &Fees, mut fields: Fields<'_>) -> Result<Fees, Invalid> {
    let mut merged = base.clone();
    let mut fee = |name: &'static str, place: &mut Fee| {
        let base = *place;
        put(place, &fields.optional(name, kinds::object(|fields| merge_fee(&base, fields))));
    };
    fee("c2p", &mut merged.c2p);
    fee("vpos", &mut merged.vpos);
    fee("debit", &mut merged.debit);
    fee("pagoMovil", &mut merged.pago_movil);
    let share = percent().about("The operator's share of sales through payment links, in percent.");
    put(&mut merged.link_percent, &fields.optional("linkPercent", share));
    put(&mut merged.chargeback, &fields.optional("chargebackVes", ves()));
    put(&mut merged.payout, &fields.optional("payoutVes", ves()));
    fields.finish()?;
    Ok(merged)
}

fn merge_fee(base: &Fee, mut fields: Fields<'_>) -> Result<Fee, Invalid> {
    let mut merged = *base;
    put(&mut merged.percent, &fields.optional("percent", percent()));
    put(&mut merged.fixed, &fields.optional("fixedVes", ves()));
    fields.finish()?;
    Ok(merged)
}

fn merge_usdt(base: &Settings, mut fields: Fields<'_>) -> Result<(bool, Usdt), Invalid> {
    let (mut enabled, mut limit) = (base.usdt_enabled, base.usdt_payout_auto_limit);
    put(&mut enabled, &fields.optional("enabled", kinds::boolean()));
    put(&mut limit, &fields.optional("payoutAutoLimitUsdt", usdt()));
    fields.finish()?;
    Ok((enabled, limit))
}

fn merge_conversions(
    base: &ConversionSettings,
    mut fields: Fields<'_>,
) -> Result<ConversionSettings, Invalid> {
    let mut merged = base.clone();
    let sources: Got<Option<Vec<Source>>> = fields.optional("enabled", sources());
    if let Some(sources) = sources.peek_some() {
        merged.enabled =
            PerSource { ves: sources.contains(&Source::Ves), cop: sources.contains(&Source::Cop) };
    }
    let spread = kinds::object(|mut fields: Fields<'_>| {
        let mut merged = base.spread_percent.clone();
        put(&mut merged.ves, &fields.optional("VES", percent()));
        put(&mut merged.cop, &fields.optional("COP", percent()));
        fields.finish()?;
        Ok(merged)
    });
    put(&mut merged.spread_percent, &fields.optional("spreadPercent", spread));
    put(&mut merged.minimum, &fields.optional("minimumUsdt", usdt()));
    let limit = kinds::object(|mut fields: Fields<'_>| {
        let mut merged = base.daily_limit.clone();
        // Null is a value here: no limit.
        put(&mut merged.ves, &fields.nullable("VES", kinds::cents().about("Null: none.")));
        put(&mut merged.cop, &fields.nullable("COP", pesos().about("Null: none.")));
        fields.finish()?;
        Ok(merged)
    });
    put(&mut merged.daily_limit, &fields.optional("dailyLimit", limit));
    fields.finish()?;
    Ok(merged)
}

fn ves<'a>() -> impl Kind<'a, Ves> {
    kind(|value: Value<'a>| value.cents().map(Ves::from_minor), values::cents)
}

fn usdt<'a>() -> impl Kind<'a, Usdt> {
    kind(|value: Value<'a>| value.cents().map(Usdt::from_minor), values::cents)
}

fn count<'a>(max: i64) -> impl Kind<'a, u32> {
    kind(
        move |value: Value<'a>| value.integer(0..=max).map(|count| u32::try_from(count).unwrap_or(0)),
        move || schema::integer().range("0", &max.to_string()),
    )
}

/// The currencies that can be converted, each once.
fn sources<'a>() -> impl Kind<'a, Vec<Source>> {
    const NAMES: [(&str, Source); 2] = [("VES", Source::Ves), ("COP", Source::Cop)];
    kind(
        |value: Value<'a>| distinct(value.list(0..=NAMES.len(), |value| value.one_of(&NAMES))?),
        || schema::list(schema::one_of(NAMES.map(|(name, _)| name))).distinct(),
    )
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

fn pesos<'a>() -> impl Kind<'a, i64> {
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
