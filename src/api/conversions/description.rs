//! Conversions to USDT, as the description tells of them.

use super::CHAPTER;
use super::{read_acceptance, read_quote, read_settings};
use crate::fields::body;
use crate::openapi::document::{Chapter, event, schemas};
use crate::openapi::schema::named;
use crate::openapi::values::page;

pub fn chapter() -> Chapter {
    Chapter {
        tag: CHAPTER,
        about: "From bolívares or pesos to USDT: a quote is a price for 60 seconds, usable once; accepting \
            it debits at once. Held money can be converted too, and the USDT is held as long.",
        schemas: schemas! {
            "NewConversionQuote" = body(read_quote);
            "ConversionQuote" = super::quote_schema(),
                example r#"{"id":"01975a2e-7c00-7000-8000-0000000000e0","object":"conversion_quote",
                "rate":"248.6750","marketRate":"245.0000","spreadPercent":"1.5000",
                "rateSource":"market","sourceCurrency":"VES","sourceAmount":"1000.00",
                "sourceAmountVes":"1000.00","targetAmountUsdt":"4.02","livemode":false,
                "expiresAt":"2026-11-21T02:14:00.000Z","createdAt":"2026-11-21T02:13:00.000Z"}"#;
            "NewConversion" = body(read_acceptance);
            "Conversion" = super::schema(),
                example r#"{"id":"01975a2e-7c00-7000-8000-0000000000e0","object":"conversion",
                "status":"COMPLETED","reference":"treasury-7","rate":"248.6750",
                "marketRate":"245.0000","spreadPercent":"1.5000","rateSource":"market",
                "sourceCurrency":"VES","sourceAmount":"1000.00","sourceAmountVes":"1000.00",
                "targetAmountUsdt":"4.02","origin":null,"paymentId":null,"livemode":false,
                "createdAt":"2026-11-21T02:13:20.000Z","completedAt":"2026-11-21T02:13:20.000Z",
                "canceledAt":null,"cancelReason":null}"#;
            "ConversionPage" = page("Conversion");
            "ConversionSettings" = super::settings_schema(),
                example r#"{"autoConvert":{"COP":{"percent":0}},"enabledCurrencies":["VES","COP"],
                "spreadPercent":{"VES":"1.5000","COP":"2.0000"},"minimumUsdt":"1.00",
                "dailyLimit":{"VES":null,"COP":null}}"#;
            "ConversionSettingsChange" = body(read_settings);
        },
        webhooks: vec![
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
        ],
    }
}
