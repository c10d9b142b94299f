//! Colombian pesos, as the description tells of them.

use super::CHAPTER;
use super::{read_buyer, read_code, read_new};
use crate::fields::body;
use crate::openapi::document::{Chapter, schemas};
use crate::openapi::schema::{Schema, one_of, text};
use crate::openapi::values::{instant, page, uuid};
use domain::values::ids::Id;

pub fn chapter() -> Chapter {
    Chapter {
        tag: CHAPTER,
        about: "Collecting pesos by QR or transfer key, by a push notification, or by an SMS code. What is \
            collected is held for 24 hours; a refund is for the whole amount and possible for 96 hours.",
        schemas: schemas! {
            "NewCopPayment" = body(|fields| read_new(fields, false, Id::from_bytes([0; 16])));
            "CopBuyer" = body(read_buyer);
            "CopOtp" = body(read_code);
            "CopPayment" = payment(),
                example r#"{"id":"01975a2e-7c00-7000-8000-000000000100","object":"cop_payment","attempt":1,
                "status":"pending","method":"COP","channel":"sms","amountCop":50000,"feeCop":null,
                "netCop":null,"reference":"pedido-2","metadata":null,"failureCode":null,
                "next":{"type":"submit_otp","phoneMasked":"300***4567"},"livemode":false,
                "createdAt":"2026-11-21T02:13:00.000Z","expiresAt":"2026-11-21T02:18:00.000Z",
                "completedAt":null,"availableAt":null,"refundedAt":null}"#;
            "CopBalance" = crate::balance::cop_schema(),
                example r#"{"ledgerNetCop":"46250","heldCop":"46250",
                "nextReleaseAt":"2026-11-22T02:13:30.000Z","availableCop":"0","balanceHoldHours":24,
                "livemode":false}"#;
            "CopPayout" = super::payouts::schema();
            "CopPayoutPage" = page("CopPayout");
        },
        ..Chapter::default()
    }
}

/// A payment in pesos, as /v1/cop and events say it.
pub fn payment() -> Schema {
    super::schema().last(&["checkoutSession", "amountUsd", "copRate", "copMarketRate"])
}

/// The schema of a payment in pesos as events carry it.
pub(crate) fn event_data() -> Schema {
    payment()
        .member("paymentId", uuid())
        .member("currency", text().constant("COP"))
        .optional("reversalType", one_of(["refund"]))
        .optional("reversalRef", text().or_null())
        .optional("reversedAt", instant().or_null())
}
