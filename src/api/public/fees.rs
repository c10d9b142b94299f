//! The fees of withdrawals, and what a withdrawal by Pago Móvil would bring.

use super::{PublicCall, PublicPlan};
use crate::problem::Problem;
use crate::query::{Query, Text};
use crate::writer::{Object, text};
use domain::resources::rates::withdrawals::{CENTS_MAX, NETWORK_DEFAULT, PaidBy, Range, dollars};
use rust_decimal::Decimal;

/// Tokens that a wallet is paid in; each counts as a dollar.
const ASSETS: [&str; 2] = ["USDT", "USDC"];
/// Seconds after which a market rate may be back.
const RETRY_SECONDS: u32 = 30;

/// A 400 with the code as its message, as the interface has it.
fn refused(code: &'static str) -> Problem {
    Problem::refused(400, code, code)
}

/// A whole number from 1 on; `None` for any other text.
fn cents(text: Text<'_>) -> Option<i64> {
    text.integer(1..=CENTS_MAX).ok()
}

/// The problem of an amount that is too large to be counted.
fn too_large() -> Problem {
    refused("invalid_amount_cents")
}

/// GET /api/v1/public/withdraw/fee-schedule
pub fn schedule(call: &PublicCall<'_>) -> Result<PublicPlan, Problem> {
    Query::parse(call.query).finish()?;
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
    Ok(PublicPlan::Answer(body.list("tiers", ranges.iter().map(show_range)).end()))
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
pub fn estimate(call: &PublicCall<'_>) -> Result<PublicPlan, Problem> {
    let mut query = Query::parse(call.query);
    let amount = query.optional("amount_cents", |text| Ok(cents(text)));
    let method = query
        .optional("method", |text| Ok(PaidBy::ALL.into_iter().find(|method| method.code() == text.as_str())));
    let network = query.optional("network", |text| {
        Ok(call.withdrawals.network_fee(text.as_str()).map(|_| text.as_str().to_owned()))
    });
    let asset = query.optional("asset", |text| Ok(ASSETS.contains(&text.as_str())));
    let sound = query.finish()?;
    let amount = amount.get(&sound).flatten().ok_or_else(|| refused("invalid_amount_cents"))?;
    // A parameter that was sent must have a known value; one that was not sent may be missing.
    let method =
        method.get(&sound).map(|method| method.ok_or_else(|| refused("invalid_method"))).transpose()?;
    let network =
        network.get(&sound).map(|network| network.ok_or_else(|| refused("invalid_network"))).transpose()?;
    if asset.get(&sound) == Some(false) {
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
    Ok(PublicPlan::Answer(
        Object::new()
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
            .end(),
    ))
}

/// GET /api/v1/public/withdraw/pago-movil-quote
pub fn pago_movil(call: &PublicCall<'_>) -> Result<PublicPlan, Problem> {
    let mut query = Query::parse(call.query);
    let amount = query.optional("amountCents", |text| Ok(cents(text)));
    let whole_fee = query.optional("calculator", |text| {
        text.one_of(&[("1", true), ("true", true), ("0", false), ("false", false)])
    });
    let sound = query.finish()?;
    let amount = amount.get(&sound).flatten().ok_or_else(|| refused("invalid_amount_cents"))?;
    if amount < call.withdrawals.minimum {
        return Err(refused("pago_movil_min_amount"));
    }
    let floor = (call.floor)().ok_or_else(|| {
        Problem::refused(503, "rate_unavailable", "exchange rate service unavailable").after(RETRY_SECONDS)
    })?;
    let range = call.policy.range_of(amount).ok_or_else(too_large)?;
    let quote =
        call.withdrawals.pago_movil(range.tier, amount, floor.price, whole_fee.get(&sound).unwrap_or(false));
    Ok(PublicPlan::Answer(
        Object::new()
            .number("exchange_rate_base", floor.price.0.normalize())
            .maybe_number("exchange_rate_offered", quote.map(|quote| quote.offered.0))
            .plain("exchange_rate_fetched_at", floor.fetched_at)
            .number("margin_percent", call.withdrawals.pago_movil_margin_percent.0.normalize())
            .maybe_number("ves_estimate", quote.map(|quote| quote.estimate))
            .end(),
    ))
}
