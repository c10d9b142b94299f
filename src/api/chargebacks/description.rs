//! Chargebacks, as the description tells of them.

use super::CHAPTER;
use super::{read_new, read_verdict};
use crate::fields::body;
use crate::openapi::document::{Chapter, schemas};
use crate::openapi::schema::Schema;
use crate::openapi::values::page;
use domain::values::ids::Id;

pub fn chapter() -> Chapter {
    Chapter {
        tag: CHAPTER,
        about: "What a cardholder's bank took back of a card payment. The amount and the fee come out of the \
            available balance, which may go below zero; a dispute that is won returns both.",
        schemas: [schemas(), vec![("ChargebackPage", page("Chargeback"))]].concat(),
        ..Chapter::default()
    }
}

pub fn schemas() -> Vec<(&'static str, Schema)> {
    schemas! {
        "Chargeback" = super::schema(),
            example r#"{"chargebackId":"01975a2e-7c00-7000-8000-0000000000d0","object":"chargeback",
            "paymentId":"01975a2e-7c00-7000-8000-000000000010","externalRef":"order-2",
            "status":"open","outcome":null,"amountVes":"1000.00","feeVes":"0.00",
            "reason":"fraud","bankDebitedAt":"2026-11-23T14:00:00.000Z","livemode":false,
            "createdAt":"2026-11-23T15:10:00.000Z","closedAt":null}"#;
        "NewChargeback" = body(|fields| read_new(fields, Id::from_bytes([0; 16])));
        "ChargebackOutcome" = body(read_verdict);
    }
}
