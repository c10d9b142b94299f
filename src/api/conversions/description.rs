//! Conversions to USDT, as the description tells of them.

use super::{read_acceptance, read_quote, read_settings};
use crate::chapters;
use crate::fields::body;
use crate::openapi::document::{Chapter, Webhook, event};
use crate::openapi::schema::{Schema, named};
use crate::openapi::values::page;

pub fn chapter() -> Chapter {
    Chapter {
        tag: chapters::CONVERSIONS,
        about: "From bolívares or pesos to USDT: a quote is a price for 60 seconds, usable once; accepting \
            it debits at once. Held money can be converted too, and the USDT is held as long.",
        schemas: schemas(),
        webhooks: events(),
    }
}

pub fn conversion() -> Schema {
    super::schema()
}

fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("NewConversionQuote", body(read_quote)),
        (
            "ConversionQuote",
            super::quote_schema().example(concat!(
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
            super::settings_schema().example(concat!(
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
