//! The fees of withdrawals, and what a withdrawal by Pago Móvil would bring.

use super::{Handler, PublicCall, fresh, of_tenant};
use crate::chapters;
use crate::endpoint::{Endpoint, endpoint};
use crate::fields::{Invalid, Kind, kind};
use crate::openapi::operation::summary;
use crate::openapi::{kinds, schema, values};
use crate::problem::Problem;
use crate::query::Query;
use crate::shown::shown;
use crate::value::Value;
use crate::writer::{Object, text};
use domain::resources::rates::samples::Sample;
use domain::resources::rates::withdrawals::{
    CENTS_MAX, NETWORK_DEFAULT, PagoMovil, PaidBy, Range, Withdrawals, dollars,
};
use rust_decimal::Decimal;
use std::borrow::Cow;

/// Tokens that a wallet is paid in; each counts as a dollar.
const ASSETS: [&str; 2] = ["USDT", "USDC"];
/// Seconds after which a market rate may be back.
const RETRY_SECONDS: u32 = 30;

/// A 400 with the code as its message, as the interface has it.
fn refused(code: &'static str) -> Problem {
    Problem::refused(400, code, code)
}

/// A whole number from 1 on, described from `least` on; `None` for any other text.
fn cents<'a>(least: &'static str) -> impl Kind<'a, Option<i64>> {
    kind(|value: Value<'a>| Ok(value.integer(1..=CENTS_MAX).ok()), move || schema::integer().at_least(least))
}

/// A withdrawal whose fee is asked for. A value that is not known is there and `None`.
pub(super) struct Withdrawal {
    amount: Option<i64>,
    method: Option<Option<PaidBy>>,
    network: Option<String>,
    asset: Option<Option<&'static str>>,
}

pub(super) fn asked_estimate(mut query: Query<'_>) -> Result<Withdrawal, Invalid> {
    let network = kind(
        |value: Value<'_>| value.string().map(Cow::into_owned),
        || schema::text().about("Of a wallet: TRC20, ERC20, BEP20 or POLYGON; TRC20 if missing."),
    );
    let amount = query.wanted("amount_cents", cents("1"));
    let method = query.optional("method", known(PaidBy::ALL, PaidBy::name));
    let network = query.optional("network", network);
    let asset = query.optional("asset", known(ASSETS, |asset| asset).default("\"USDT\""));
    let sound = query.finish()?;
    Ok(Withdrawal {
        amount: amount.get(&sound).flatten(),
        method: method.get(&sound),
        network: network.get(&sound),
        asset: asset.get(&sound),
    })
}

/// One of these by its name; `None` for any other text.
fn known<'a, T: Copy, const N: usize>(
    all: [T; N],
    name: impl Fn(T) -> &'static str,
) -> impl Kind<'a, Option<T>> {
    let named = all.map(|each| (name(each), each));
    kind(
        move |value: Value<'a>| Ok(value.one_of(&named).ok()),
        move || schema::one_of(named.map(|(name, _)| name)),
    )
}

pub(super) fn asked_quote(mut query: Query<'_>) -> Result<(Option<i64>, Option<bool>), Invalid> {
    let whole_fee = kinds::one_of([("1", true), ("true", true), ("0", false), ("false", false)])
        .about("With `1` or `true` the full fee of the policy is counted, without waivers.");
    let amount = query.wanted("amountCents", cents("1000"));
    let whole_fee = query.optional("calculator", whole_fee);
    let sound = query.finish()?;
    Ok((amount.get(&sound).flatten(), whole_fee.get(&sound)))
}

/// The problem of an amount that is too large to be counted.
fn too_large() -> Problem {
    refused("invalid_amount_cents")
}

/// GET /api/v1/public/withdraw/fee-schedule
pub const SCHEDULE: Endpoint<Handler> = endpoint(chapters::PUBLIC, schedule, || {
    fresh(
        of_tenant(summary("What withdrawals cost"))
            .answers(200, "FeeSchedule", "The policy in force")
            .refuses(400, &["invalid_data"]),
    )
});

fn schedule(call: &PublicCall<'_>) -> Result<Vec<u8>, Problem> {
    let ranges: Vec<Range<'_>> = call.policy.ranges().collect();
    let summary: Vec<String> = ranges.iter().map(|range| format!("{range}: {}", range.tier)).collect();
    let mut body = Object::new()
        .text("policy", &call.policy.name)
        .number("minWithdrawalCents", call.withdrawals.minimum)
        .text("summary", summary.join("; "));
    // The single fee is shown only if one tier holds for all amounts.
    if let [only] = ranges.as_slice() {
        body = body
            .number("serviceFeePercent", only.tier.percent.0.normalize())
            .number("serviceFeeFixedCents", only.tier.fixed);
    }
    body = body.number("networkFeeCents", call.withdrawals.network_fee(NETWORK_DEFAULT).unwrap_or(0));
    Ok(body.list("tiers", ranges.iter().map(show_range)).end())
}

fn show_range(range: &Range<'_>) -> Vec<u8> {
    let mut shown = Object::new().number("minAmountCents", range.min);
    if let Some(max) = range.max {
        shown = shown.number("maxAmountCents", max);
    }
    shown
        .number("serviceFeePercent", range.tier.percent.0.normalize())
        .number("serviceFeeFixedCents", range.tier.fixed)
        .json("label", &text(&range.to_string()))
        .end()
}

/// GET /api/v1/public/withdraw/estimate-fee
pub const ESTIMATE: Endpoint<Handler> = endpoint(chapters::PUBLIC, estimate, || {
    fresh(
        of_tenant(summary("What a withdrawal would cost"))
            .query(asked_estimate)
            .answers(200, "FeeEstimate", "The estimate")
            .refuses(400, &["invalid_amount_cents", "invalid_method", "invalid_network"])
            .refuses(400, &["invalid_asset", "invalid_data"]),
    )
});

fn estimate(call: &PublicCall<'_>) -> Result<Vec<u8>, Problem> {
    let Withdrawal { amount, method, network, asset } = call.asked(asked_estimate)?;
    let amount = amount.ok_or_else(|| refused("invalid_amount_cents"))?;
    // A parameter that was sent must have a known value; one that was not sent may be missing.
    let method = method.map(|method| method.ok_or_else(|| refused("invalid_method"))).transpose()?;
    if network.as_deref().is_some_and(|network| call.withdrawals.network_fee(network).is_none()) {
        return Err(refused("invalid_network"));
    }
    if asset == Some(None) {
        return Err(refused("invalid_asset"));
    }
    let range = call.policy.range_of(amount).ok_or_else(too_large)?;
    let estimate =
        call.withdrawals.estimate(range.tier, amount, method, network.as_deref()).ok_or_else(too_large)?;
    let in_dollars = |cents: i64| -> Decimal { dollars(cents).normalize() };
    let breakdown = Object::new()
        .number("serviceFee", in_dollars(estimate.service_fee))
        .number("blockchainFee", in_dollars(estimate.blockchain_fee))
        .number("totalFee", in_dollars(estimate.total_fee));
    Ok(Object::new()
        .number("serviceFeeCents", estimate.service_fee)
        .number("blockchainFeeCents", estimate.blockchain_fee)
        .number("totalFeeCents", estimate.total_fee)
        .number("amountToReceiveCents", estimate.to_receive)
        .json("breakdown", &breakdown.end())
        .number("feePercent", range.tier.percent.0.normalize())
        .number("feeFixedCents", range.tier.fixed)
        .text("feeTier", range.to_string())
        .text("feePolicyVersion", &call.policy.name)
        .text("feeBreakdownLabel", range.tier.to_string())
        .end())
}

/// GET /api/v1/public/withdraw/pago-movil-quote
pub const PAGO_MOVIL: Endpoint<Handler> = endpoint(chapters::PUBLIC, pago_movil, || {
    fresh(
        of_tenant(summary("What a withdrawal by Pago Móvil would bring"))
            .query(asked_quote)
            .answers(200, "PagoMovilQuote", "The quote")
            .refuses(400, &["invalid_amount_cents", "pago_movil_min_amount", "invalid_data"])
            .refuses(503, &["rate_unavailable"]),
    )
});

fn pago_movil(call: &PublicCall<'_>) -> Result<Vec<u8>, Problem> {
    let (amount, whole_fee) = call.asked(asked_quote)?;
    let amount = amount.ok_or_else(|| refused("invalid_amount_cents"))?;
    if amount < call.withdrawals.minimum {
        return Err(refused("pago_movil_min_amount"));
    }
    let floor = (call.floor)().ok_or_else(|| {
        Problem::refused(503, "rate_unavailable", "exchange rate service unavailable").after(RETRY_SECONDS)
    })?;
    let range = call.policy.range_of(amount).ok_or_else(too_large)?;
    let quote = call.withdrawals.pago_movil(range.tier, amount, floor.price, whole_fee.unwrap_or(false));
    let quote = quote.ok_or_else(too_large)?;
    Ok(show_quote(&floor, &quote, call.withdrawals))
}

shown! {
    fn show_quote(floor: &Sample, quote: &PagoMovil, withdrawals: &Withdrawals), quote_schema, 256 {
        number "exchange_rate_base" = floor.price.0.normalize(), schema::number();
        number "exchange_rate_offered" = quote.offered.0, schema::number();
        plain "exchange_rate_fetched_at" = floor.fetched_at, values::instant();
        number "margin_percent" = withdrawals.pago_movil_margin_percent.0.normalize(), schema::number();
        maybe_number "ves_estimate" = quote.estimate,
            schema::number().about("Null beyond all amounts that are counted.");
    }
}
