//! Statements, as the description tells of them.

use super::CHAPTER;
use super::{CURRENCIES, day_schema};
use crate::openapi::document::{Chapter, schemas};
use crate::openapi::schema::{Schema, list, named, object, one_of};

pub fn chapter() -> Chapter {
    Chapter {
        tag: CHAPTER,
        about: "What moved on each day. Days are those of Caracas, and of Bogotá for pesos; midnight belongs \
            to the new day. `opening` and all columns add up to `closing`, which is the next day's \
            `opening`. Holds and the reserve are not in it.",
        schemas: schemas(),
        ..Chapter::default()
    }
}

pub fn schemas() -> Vec<(&'static str, Schema)> {
    schemas! {
        "Statement" = object()
            .member("currency", one_of(CURRENCIES.map(|(name, _)| name)))
            .member("timezone", one_of(["America/Caracas", "America/Bogota"]))
            .member("days", list(named("StatementDay"))),
            example r#"{"currency":"VES","timezone":"America/Caracas","days":[{"date":"2026-11-21",
            "opening":"0.00","payments":"2100.00","fees":"-31.50","platformFees":"0.00",
            "sellerTransfers":"0.00","reversals":"0.00","chargebacks":"0.00",
            "payouts":"-500.00","payoutReversals":"0.00","conversions":"0.00",
            "deposits":"0.00","adjustments":"0.00","closing":"1568.50","movements":3}]}"#;
        "StatementDay" = day_schema();
    }
}
