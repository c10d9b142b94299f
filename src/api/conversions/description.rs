//! Conversions to USDT, as the description tells of them.

use crate::openapi::document::{Chapter, Webhook, event};
use crate::openapi::operation::{Operation, operation};
use crate::openapi::schema::{Schema, any_of, integer, list, named, object, one_of, text};
use crate::openapi::values::{four_decimals, instant, livemode, page, pesos, uuid, ves};
use domain::resources::conversions::Status;

const SOURCES: [&str; 2] = ["VES", "COP"];

/// The chapter.
pub fn chapter() -> Chapter {
    Chapter {
        tag: "Conversions",
        about: "From bolívares or pesos to USDT: a quote is a price for 60 seconds, usable once; accepting it debits at once. Held money can be converted too, and the USDT is held as long.",
        operations: operations(),
        schemas: schemas(),
        webhooks: events(),
    }
}

fn operations() -> Vec<Operation> {
    vec![
        operation("createConversionQuote", "Ask for a price")
            .about(
                "Exactly one amount: what is spent, or the USDT to receive. USDT is rounded down to the cent, bolívares up to the cent, pesos up to the peso.",
            )
            .body("NewConversionQuote")
            .example("1000 VES", r#"{"sourceAmountVes":"1000.00"}"#)
            .example("10 USDT for bolívares", r#"{"targetAmountUsdt":"10.00"}"#)
            .example("100000 pesos", r#"{"sourceCurrency":"COP","sourceAmount":"100000"}"#)
            .answers(201, "ConversionQuote", "The price")
            .refuses(400, &["invalid_amount"])
            .refuses(403, &["conversions_not_enabled"])
            .refuses(422, &["amount_below_minimum"])
            .refuses(503, &["rate_unavailable"]),
        operation("createConversion", "Accept a quote")
            .about("Always send an Idempotency-Key: the same key answers the same conversion. One conversion takes from at most 20,000 holds; `spendableVes` and `spendableCop` say what that comes to.")
            .body("NewConversion")
            .example("with a reference", r#"{"quoteId":"01975a2e-7c00-7000-8000-0000000000e0","reference":"treasury-7"}"#)
            .answers(201, "Conversion", "The conversion, completed or pending")
            .refuses(403, &["conversions_not_enabled"])
            .refuses(404, &["not_found"])
            .refuses(409, &["quote_used"])
            .refuses(410, &["quote_expired"])
            .refuses(422, &["insufficient_balance", "amount_below_minimum", "daily_limit_exceeded"]),
        operation("listConversions", "List conversions")
            .query("status", one_of(Status::ALL.map(Status::name)))
            .query("sourceCurrency", one_of(SOURCES))
            .pages()
            .answers(200, "ConversionPage", "Newest first"),
        operation("getConversion", "Read a conversion").answers(200, "Conversion", "The conversion"),
        operation("cancelConversion", "Cancel a pending conversion")
            .about("What it took is back at once, and held where it was held.")
            .answers(200, "Conversion", "The conversion, canceled")
            .refuses(409, &["conversion_not_cancelable"]),
        operation("getConversionSettings", "Read the settings of conversions").answers(200, "ConversionSettings", "The settings"),
        operation("updateConversionSettings", "Convert pesos by themselves")
            .about("The percentage of the net of each COP payment that is converted on completion. The other settings are the operator's.")
            .body("ConversionSettingsChange")
            .example("half", r#"{"autoConvert":{"COP":{"percent":50}}}"#)
            .answers(200, "ConversionSettings", "The settings as they are now"),
    ]
}

/// The calls by which test mode fulfils.
pub fn test_calls() -> Chapter {
    Chapter {
        tag: crate::testing::description::TAG,
        operations: vec![
            operation("fulfilTestConversion", "Fulfil a pending conversion")
                .answers(200, "Conversion", "The conversion, completed")
                .refuses(409, &["conversion_not_pending", "conversion_not_cancelable"]),
            operation("rejectTestConversion", "Let a pending conversion fail")
                .body_optional("Rejection")
                .example("why", r#"{"reason":"no_liquidity"}"#)
                .answers(200, "Conversion", "The conversion, canceled")
                .refuses(409, &["conversion_not_pending", "conversion_not_cancelable"]),
        ],
        schemas: vec![(
            "Rejection",
            object().optional("reason", text().chars(1..=200).pattern(r"\S").or_null()).closed(),
        )],
        ..Chapter::default()
    }
}

fn price(at: Schema) -> Schema {
    at.member("rate", four_decimals().about("What one USDT costs you, the spread included."))
        .member("marketRate", four_decimals())
        .member("spreadPercent", four_decimals())
        .member("rateSource", one_of(["market"]))
        .member("sourceCurrency", one_of(SOURCES))
        .member("sourceAmount", any_of([ves(), pesos()]).about("In the decimals of its currency."))
        .member("sourceAmountVes", ves().or_null().about("Null of pesos."))
        .member("targetAmountUsdt", ves())
}

fn conversion() -> Schema {
    let begin = object()
        .member("id", uuid())
        .member("object", text().constant("conversion"))
        .member("status", one_of(Status::ALL.map(Status::name)))
        .member("reference", text().chars(1..=128).or_null());
    price(begin)
        .member(
            "origin",
            one_of(["auto"]).or_null().about("`auto` when a COP payment was converted by itself."),
        )
        .member("paymentId", uuid().or_null().about("That payment."))
        .member("livemode", livemode())
        .member("createdAt", instant())
        .member("completedAt", instant().or_null())
        .member("canceledAt", instant().or_null())
        .member(
            "cancelReason",
            text().or_null().about("`canceled_by_tenant`, or why it could not be fulfilled."),
        )
}

fn schemas() -> Vec<(&'static str, Schema)> {
    let decimal = || text().pattern(r"^(0|[1-9][0-9]{0,11})(\.[0-9]{1,2})?$");
    let percent = || object().member("percent", integer().range("0", "100")).closed();
    let per_source = |of: Schema, cop: Schema| object().member("VES", of).member("COP", cop);
    vec![
        (
            "NewConversionQuote",
            object()
                .optional("sourceCurrency", one_of(SOURCES).or_null().default("\"VES\""))
                .optional("sourceAmountVes", decimal().or_null().about("Bolívares to spend."))
                .optional("sourceAmount", any_of([pesos(), integer().at_least("1")]).or_null().about("Whole pesos to spend."))
                .optional("targetAmountUsdt", decimal().or_null().about("USDT to receive."))
                .closed(),
        ),
        (
            "ConversionQuote",
            price(object().member("id", uuid()).member("object", text().constant("conversion_quote")))
                .member("livemode", livemode())
                .member("expiresAt", instant())
                .member("createdAt", instant())
                .example(r#"{"id":"01975a2e-7c00-7000-8000-0000000000e0","object":"conversion_quote","rate":"248.6750","marketRate":"245.0000","spreadPercent":"1.5000","rateSource":"market","sourceCurrency":"VES","sourceAmount":"1000.00","sourceAmountVes":"1000.00","targetAmountUsdt":"4.02","livemode":false,"expiresAt":"2026-11-21T02:14:00.000Z","createdAt":"2026-11-21T02:13:00.000Z"}"#),
        ),
        ("NewConversion", object().member("quoteId", uuid()).optional("reference", text().chars(0..=128).or_null()).closed()),
        (
            "Conversion",
            conversion().example(r#"{"id":"01975a2e-7c00-7000-8000-0000000000e0","object":"conversion","status":"COMPLETED","reference":"treasury-7","rate":"248.6750","marketRate":"245.0000","spreadPercent":"1.5000","rateSource":"market","sourceCurrency":"VES","sourceAmount":"1000.00","sourceAmountVes":"1000.00","targetAmountUsdt":"4.02","origin":null,"paymentId":null,"livemode":false,"createdAt":"2026-11-21T02:13:20.000Z","completedAt":"2026-11-21T02:13:20.000Z","canceledAt":null,"cancelReason":null}"#),
        ),
        ("ConversionPage", page("Conversion")),
        (
            "ConversionSettings",
            object()
                .member("autoConvert", object().member("COP", object().member("percent", integer().range("0", "100"))))
                .member("enabledCurrencies", list(one_of(SOURCES)))
                .member("spreadPercent", per_source(four_decimals(), four_decimals()))
                .member("minimumUsdt", ves())
                .member("dailyLimit", per_source(ves().or_null(), pesos().or_null()))
                .example(r#"{"autoConvert":{"COP":{"percent":0}},"enabledCurrencies":["VES","COP"],"spreadPercent":{"VES":"1.5000","COP":"2.0000"},"minimumUsdt":"1.00","dailyLimit":{"VES":null,"COP":null}}"#),
        ),
        ("ConversionSettingsChange", object().member("autoConvert", object().member("COP", percent()).closed()).closed()),
    ]
}

fn events() -> Vec<Webhook> {
    vec![
        event(
            "conversion.created",
            "A quote was accepted, or a conversion began by itself",
            named("Conversion"),
        ),
        event("conversion.completed", "The USDT is there", named("Conversion")),
        event(
            "conversion.canceled",
            "A conversion was canceled, or could not be fulfilled",
            named("Conversion"),
        ),
    ]
}
