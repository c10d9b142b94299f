//! Conversions to USDT, as the description tells of them.

use super::{read_acceptance, read_quote, read_settings};
use crate::chapters;
use crate::kind::body;
use crate::openapi::document::{Chapter, Webhook, event};
use crate::openapi::schema::{Schema, any_of, integer, list, named, object, one_of, text};
use crate::openapi::values::{four_decimals, instant, livemode, page, pesos, uuid, ves};
use domain::entities::conversion::Status;

pub(crate) const SOURCES: [&str; 2] = ["VES", "COP"];

/// The chapter.
pub fn chapter() -> Chapter {
    Chapter {
        tag: chapters::CONVERSIONS,
        about: "From bolívares or pesos to USDT: a quote is a price for 60 seconds, usable once; accepting \
            it debits at once. Held money can be converted too, and the USDT is held as long.",
        schemas: schemas(),
        webhooks: events(),
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

/// A conversion.
pub fn conversion() -> Schema {
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
    let per_source = |of: Schema, cop: Schema| object().member("VES", of).member("COP", cop);
    vec![
        ("NewConversionQuote", body(read_quote)),
        (
            "ConversionQuote",
            price(object().member("id", uuid()).member("object", text().constant("conversion_quote")))
                .member("livemode", livemode())
                .member("expiresAt", instant())
                .member("createdAt", instant())
                .example(concat!(
                    r#"{"id":"01975a2e-7c00-7000-8000-0000000000e0","object":"conversion_quote","#,
                    r#""rate":"248.6750","marketRate":"245.0000","spreadPercent":"1.5000","#,
                    r#""rateSource":"market","sourceCurrency":"VES","sourceAmount":"1000.00","#,
                    r#""sourceAmountVes":"1000.00","targetAmountUsdt":"4.02","livemode":false,"#,
                    r#""expiresAt":"2026-11-21T02:14:00.000Z","createdAt":"2026-11-21T02:13:00.000Z"}"#,
                )),
        ),
        ("NewConversion", body(read_acceptance)),
        (
            "Conversion",
            conversion().example(concat!(
                r#"{"id":"01975a2e-7c00-7000-8000-0000000000e0","object":"conversion","#,
                r#""status":"COMPLETED","reference":"treasury-7","rate":"248.6750","#,
                r#""marketRate":"245.0000","spreadPercent":"1.5000","rateSource":"market","#,
                r#""sourceCurrency":"VES","sourceAmount":"1000.00","sourceAmountVes":"1000.00","#,
                r#""targetAmountUsdt":"4.02","origin":null,"paymentId":null,"livemode":false,"#,
                r#""createdAt":"2026-11-21T02:13:20.000Z","completedAt":"2026-11-21T02:13:20.000Z","#,
                r#""canceledAt":null,"cancelReason":null}"#,
            )),
        ),
        ("ConversionPage", page("Conversion")),
        (
            "ConversionSettings",
            object()
                .member(
                    "autoConvert",
                    object().member("COP", object().member("percent", integer().range("0", "100"))),
                )
                .member("enabledCurrencies", list(one_of(SOURCES)))
                .member("spreadPercent", per_source(four_decimals(), four_decimals()))
                .member("minimumUsdt", ves())
                .member("dailyLimit", per_source(ves().or_null(), pesos().or_null()))
                .example(concat!(
                    r#"{"autoConvert":{"COP":{"percent":0}},"enabledCurrencies":["VES","COP"],"#,
                    r#""spreadPercent":{"VES":"1.5000","COP":"2.0000"},"minimumUsdt":"1.00","#,
                    r#""dailyLimit":{"VES":null,"COP":null}}"#,
                )),
        ),
        ("ConversionSettingsChange", body(read_settings)),
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
