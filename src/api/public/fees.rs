//! The fees of withdrawals, and what a withdrawal by Pago Móvil would bring.

use super::CHAPTER;
use super::{Handler, PublicCall, fresh, of_tenant};
use crate::endpoint::{endpoints, shown};
use crate::fields::{Invalid, Kind, kind, read};
use crate::openapi::{kinds, schema, values};
use crate::problem::Problem;
use crate::query::Query;
use crate::value::Value;
use domain::resources::rates::samples::Sample;
use domain::resources::rates::withdrawals::{
    CENTS_MAX, Estimate, NETWORK_DEFAULT, PagoMovil, PaidBy, Range, Tier, Withdrawals, dollars,
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
    let wallet = kind(
        |value: Value<'_>| value.string().map(Cow::into_owned),
        || schema::text().about("Of a wallet: TRC20, ERC20, BEP20 or POLYGON; TRC20 if missing."),
    );
    Ok(read!(query {
        wanted amount = "amount_cents", cents("1") => amount.flatten();
        optional method = "method", known(PaidBy::ALL, PaidBy::name);
        optional network = "network", wallet;
        optional asset = "asset", known(ASSETS, |asset| asset).default("\"USDT\"");
    } => Withdrawal { amount, method, network, asset }))
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
    Ok(read!(query {
        wanted amount = "amountCents", cents("1000") => amount.flatten();
        optional whole_fee = "calculator", whole_fee;
    } => (amount, whole_fee)))
}

/// The problem of an amount that is too large to be counted.
fn too_large() -> Problem {
    refused("invalid_amount_cents")
}

endpoints! { CHAPTER;
    SCHEDULE = schedule, "What withdrawals cost" => {
        with of_tenant;
        answers 200, "FeeSchedule", "The policy in force";
        refuses 400, &["invalid_data"];
        with fresh;
    };
    ESTIMATE = estimate, "What a withdrawal would cost" => {
        with of_tenant;
        query asked_estimate;
        answers 200, "FeeEstimate", "The estimate";
        refuses 400, &["invalid_amount_cents", "invalid_method", "invalid_network"];
        refuses 400, &["invalid_asset", "invalid_data"];
        with fresh;
    };
    PAGO_MOVIL = pago_movil, "What a withdrawal by Pago Móvil would bring" => {
        with of_tenant;
        query asked_quote;
        answers 200, "PagoMovilQuote", "The quote";
        refuses 400, &["invalid_amount_cents", "pago_movil_min_amount", "invalid_data"];
        refuses 503, &["rate_unavailable"];
        with fresh;
    };
}

fn schedule(call: &PublicCall<'_>) -> Result<Vec<u8>, Problem> {
    Ok(show_schedule(&call.policy.name, call.withdrawals, &call.policy.ranges().collect::<Vec<_>>()))
}

/// The tier that holds for all amounts, if one does.
fn only<'r>(ranges: &'r [Range<'_>]) -> Option<&'r Tier> {
    if let [only] = ranges { Some(only.tier) } else { None }
}

fn summary_of(ranges: &[Range<'_>]) -> String {
    ranges.iter().map(|range| format!("{range}: {}", range.tier)).collect::<Vec<_>>().join("; ")
}

shown! {
    fn show_schedule(policy: &str, withdrawals: &Withdrawals, ranges: &[Range<'_>]), schedule_schema, 1024 {
        text "policy" = policy, schema::one_of(["legacy_flat", "tiered_v1", "tiered_v2"]);
        number "minWithdrawalCents" = withdrawals.minimum, values::count();
        text "summary" = summary_of(ranges), schema::text();
        // The single fee is shown only if one tier holds for all amounts.
        optional number "serviceFeePercent" = only(ranges).map(|tier| tier.percent.0.normalize()), values::figure();
        optional number "serviceFeeFixedCents" = only(ranges).map(|tier| tier.fixed), values::count();
        optional number "networkFeeCents" = Some(withdrawals.network_fee(NETWORK_DEFAULT).unwrap_or(0)), values::count();
        optional list "tiers" = Some(ranges.iter().map(show_range)), schema::list(range_schema());
    }
}

shown! {
    fn show_range(range: &Range<'_>), range_schema, 256 {
        number "minAmountCents" = range.min, values::count();
        optional number "maxAmountCents" = range.max, values::count();
        number "serviceFeePercent" = range.tier.percent.0.normalize(), values::figure();
        number "serviceFeeFixedCents" = range.tier.fixed, values::count();
        text "label" = range.to_string(), schema::text();
    }
}

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
    Ok(show_estimate(&estimate, &range, &call.policy.name))
}

fn in_dollars(cents: i64) -> Decimal {
    dollars(cents).normalize()
}

shown! {
    fn show_estimate(estimate: &Estimate, range: &Range<'_>, policy: &str), estimate_schema, 512 {
        number "serviceFeeCents" = estimate.service_fee, values::count();
        number "blockchainFeeCents" = estimate.blockchain_fee, values::count();
        number "totalFeeCents" = estimate.total_fee, values::count();
        number "amountToReceiveCents" = estimate.to_receive, values::count();
        optional json "breakdown" = Some(show_breakdown(estimate)), breakdown_schema();
        optional number "feePercent" = Some(range.tier.percent.0.normalize()), values::figure();
        optional number "feeFixedCents" = Some(range.tier.fixed), values::count();
        optional text "feeTier" = Some(range.to_string()), schema::text();
        optional text "feePolicyVersion" = Some(policy), schema::text();
        optional text "feeBreakdownLabel" = Some(range.tier.to_string()), schema::text();
    }
}

shown! {
    fn show_breakdown(estimate: &Estimate), breakdown_schema, 128 {
        number "serviceFee" = in_dollars(estimate.service_fee), values::figure();
        number "blockchainFee" = in_dollars(estimate.blockchain_fee), values::figure();
        number "totalFee" = in_dollars(estimate.total_fee), values::figure();
    }
}

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
        maybe number "ves_estimate" = quote.estimate,
            schema::number().about("Null beyond all amounts that are counted.");
    }
}
