//! Interface A, as the description tells of it: rates and fees for everybody.

use super::CHAPTER;
use crate::openapi::document::{Chapter, schemas};
use crate::openapi::schema::{any_of, integer, list, object, text};

pub fn chapter() -> Chapter {
    Chapter {
        tag: CHAPTER,
        about: "Without a key, read-only, for reference: the rate of a real operation is confirmed in the \
            operator's own app. Errors are `{statusCode, error, message}`. Browsers may call from the \
            operator's own origins only.",
        schemas: schemas! {
            "Rate" = super::latest::schema(),
                example r#"{"pair":"USDT/VES","source":"p2p","method":"p2p_floor","price":245,
                "asOf":"2026-11-21T02:13:00.000Z","fetchedAt":"2026-11-21T02:13:01.000Z",
                "side":"FLOOR","paymentMethod":null}"#;
            "RateHistory" = super::history::schema();
            "RatePoint" = super::history::point_schema();
            "FeeSchedule" = super::fees::schedule_schema();
            "FeeEstimate" = super::fees::estimate_schema();
            "PagoMovilQuote" = super::fees::quote_schema();
            "PublicError" = object()
                .member("statusCode", integer())
                .member("error", text().about("The reason text of the status."))
                .member("message", any_of([text(), list(text())]).about("A text, or one per bad parameter."));
        },
        ..Chapter::default()
    }
}
