//! Interface A, as the description tells of it: rates and fees for everybody.

use super::{fees, history, latest};
use crate::chapters;
use crate::openapi::document::Chapter;
use crate::openapi::operation::{Operation, operation};
use crate::openapi::schema::{Schema, any_of, boolean, integer, list, named, number, object, one_of, text};
use crate::openapi::values::{figure, instant, uuid};
use domain::values::time::Timestamp;

const POLICIES: [&str; 3] = ["legacy_flat", "tiered_v1", "tiered_v2"];

/// The chapter.
pub fn chapter() -> Chapter {
    Chapter {
        tag: chapters::PUBLIC,
        about: "Without a key, read-only, for reference: the rate of a real operation is confirmed in the \
            operator's own app. Errors are `{statusCode, error, message}`. Browsers may call from the \
            operator's own origins only.",
        operations: operations(),
        schemas: schemas(),
        ..Chapter::default()
    }
}

fn of_tenant(operation: Operation) -> Operation {
    operation
        .header(
            "x-tenant-id",
            uuid().about("The tenant whose fee policy applies; the server's own if missing."),
        )
        .refuses(404, &["not_found"])
}

fn operations() -> Vec<Operation> {
    let described = vec![
        operation("getLatestRate", "The latest rate of a pair")
            .query(latest::asked)
            .answers(200, "Rate", "The freshest sample")
            .refuses(400, &["invalid_data"])
            .refuses(404, &["not_found"]),
        operation("getRateHistory", "The history of a pair")
            .query(|query| history::asked(query, Timestamp::from_unix_ms(0)))
            .about(
                "The window begins with `startDate`, inclusive, or so many `days` before its end, and \
                 ends before `endDate`. Buckets are UTC.",
            )
            .answers(200, "RateHistory", "The points")
            .refuses(400, &["invalid_data"])
            .refuses(404, &["not_found"]),
        of_tenant(operation("getWithdrawalFeeSchedule", "What withdrawals cost"))
            .answers(200, "FeeSchedule", "The policy in force")
            .refuses(400, &["invalid_data"]),
        of_tenant(operation("estimateWithdrawalFee", "What a withdrawal would cost"))
            .query(fees::asked_estimate)
            .answers(200, "FeeEstimate", "The estimate")
            .refuses(400, &["invalid_amount_cents", "invalid_method", "invalid_network"])
            .refuses(400, &["invalid_asset", "invalid_data"]),
        of_tenant(operation("getPagoMovilQuote", "What a withdrawal by Pago Móvil would bring"))
            .query(fees::asked_quote)
            .answers(200, "PagoMovilQuote", "The quote")
            .refuses(400, &["invalid_amount_cents", "pago_movil_min_amount", "invalid_data"])
            .refuses(503, &["rate_unavailable"]),
    ];
    described
        .into_iter()
        .map(|operation| operation.answers_nothing(304, "As `if-none-match` says: still the same"))
        .collect()
}

fn schemas() -> Vec<(&'static str, Schema)> {
    let cents = || integer().at_least("0");
    let point = object()
        .member("pair", text())
        .member("source", text())
        .member("method", text().or_null())
        .member("side", text().or_null())
        .member("price", number())
        .member("asOf", instant())
        .optional("count", integer().at_least("1").about("Samples in the bucket."))
        .optional(
            "suspect",
            boolean().about("True of a sample that was too far from the one before it, and decided nothing."),
        );
    let tier = object()
        .member("minAmountCents", cents())
        .optional("maxAmountCents", cents())
        .member("serviceFeePercent", figure())
        .member("serviceFeeFixedCents", cents())
        .member("label", text());
    vec![
        (
            "Rate",
            object()
                .member("pair", text())
                .member("source", text())
                .member("method", text().or_null())
                .member("price", number())
                .member("asOf", instant())
                .member("fetchedAt", instant().or_null())
                .member("side", text().or_null())
                .member("paymentMethod", text().or_null())
                .example(concat!(
                    r#"{"pair":"USDT/VES","source":"p2p","method":"p2p_floor","price":245,"#,
                    r#""asOf":"2026-11-21T02:13:00.000Z","fetchedAt":"2026-11-21T02:13:01.000Z","#,
                    r#""side":"FLOOR","paymentMethod":null}"#,
                )),
        ),
        (
            "RateHistory",
            object()
                .member("pair", text())
                .member("source", text().or_null())
                .member("side", text().or_null())
                .member("interval", one_of(["hour", "day"]).or_null())
                .member("aggregation", text().or_null())
                .member("data", list(named("RatePoint")))
                .member("count", integer()),
        ),
        ("RatePoint", point),
        (
            "FeeSchedule",
            object()
                .member("policy", one_of(POLICIES))
                .member("minWithdrawalCents", cents())
                .member("summary", text())
                .optional("serviceFeePercent", figure())
                .optional("serviceFeeFixedCents", cents())
                .optional("networkFeeCents", cents())
                .optional("tiers", list(tier)),
        ),
        (
            "FeeEstimate",
            object()
                .member("serviceFeeCents", cents())
                .member("blockchainFeeCents", cents())
                .member("totalFeeCents", cents())
                .member("amountToReceiveCents", cents())
                .optional(
                    "breakdown",
                    object()
                        .member("serviceFee", figure())
                        .member("blockchainFee", figure())
                        .member("totalFee", figure()),
                )
                .optional("feePercent", figure())
                .optional("feeFixedCents", cents())
                .optional("feeTier", text())
                .optional("feePolicyVersion", text())
                .optional("feeBreakdownLabel", text()),
        ),
        (
            "PagoMovilQuote",
            object()
                .member("exchange_rate_base", number())
                .member("exchange_rate_offered", number())
                .member("exchange_rate_fetched_at", instant())
                .member("margin_percent", number())
                .member(
                    "ves_estimate",
                    number().or_null().about("Null beyond all amounts that are counted."),
                ),
        ),
        (
            "PublicError",
            object()
                .member("statusCode", integer())
                .member("error", text().about("The reason text of the status."))
                .member("message", any_of([text(), list(text())]).about("A text, or one per bad parameter.")),
        ),
    ]
}
