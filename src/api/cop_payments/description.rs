//! Colombian pesos, as the description tells of them.

use super::{read_buyer, read_code, read_new};
use crate::chapters;
use crate::fields::body;
use crate::openapi::document::Chapter;
use crate::openapi::schema::{Schema, integer, object, one_of, text};
use crate::openapi::values::{attempt, four_decimals, instant, livemode, page, uuid, ves};
use crate::sale;
use domain::values::colombia::Channel;
use domain::values::ids::Id;

const STATUSES: [&str; 5] = ["pending", "completed", "failed", "canceled", "refunded"];

pub fn chapter() -> Chapter {
    Chapter {
        tag: chapters::PESOS,
        about: "Collecting pesos by QR or transfer key, by a push notification, or by an SMS code. What is \
            collected is held for 24 hours; a refund is for the whole amount and possible for 96 hours.",
        schemas: schemas(),
        ..Chapter::default()
    }
}

/// A payment in pesos, as /v1/cop and events say it.
pub fn payment() -> Schema {
    let next = object()
        .member("type", one_of(["show_qr", "approve_in_app", "submit_otp"]))
        .optional(
            "qrPngBase64",
            text().about(
                "A PNG of the QR code, in base64; in test mode in the answer that creates the \
                 payment alone.",
            ),
        )
        .optional(
            "transferKey",
            text().or_null().about(
                "The key to paste in a bank's app; as the QR code. \
                 Null in live mode, whose QR code has none.",
            ),
        )
        .optional("phoneMasked", text().or_null());
    object()
        .member("id", uuid())
        .member("object", text().constant("cop_payment"))
        .member("attempt", attempt().about("Always 1."))
        .member("status", one_of(STATUSES))
        .member("method", text().constant("COP"))
        .member("channel", one_of(Channel::ALL.map(Channel::name)))
        .member("amountCop", integer().at_least("0"))
        .member(
            "feeCop",
            integer()
                .or_null()
                .about("4.5 % and 1,500 pesos, never more than the amount; null until completed."),
        )
        .member("netCop", integer().or_null())
        .member("reference", text().or_null())
        .member("metadata", object().or_null())
        .member(
            "failureCode",
            text().or_null().about(
                "`expired`, `rejected`, `otp_attempts_exhausted` or \
                 `processor_error`; after an operator's word, the operator's code.",
            ),
        )
        .member("next", next.or_null().about("What the buyer does next, while there is something."))
        .optional(
            "operationId",
            uuid().or_null().about(
                "In live mode alone: what the processor or an operator is to decide, while that is open.",
            ),
        )
        .member("livemode", livemode())
        .member("createdAt", instant())
        .member("expiresAt", instant())
        .member("completedAt", instant().or_null())
        .member("availableAt", instant().or_null())
        .member("refundedAt", instant().or_null())
        .optional("checkoutSession", sale::in_payment())
        .optional("amountUsd", ves())
        .optional("copRate", four_decimals().about("What the buyer pays for a dollar."))
        .optional("copMarketRate", four_decimals().about("What the market asked for one."))
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

pub fn payout() -> Schema {
    super::payouts::schema()
}

fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("NewCopPayment", body(|fields| read_new(fields, false, Id::from_bytes([0; 16])))),
        ("CopBuyer", body(read_buyer)),
        ("CopOtp", body(read_code)),
        (
            "CopPayment",
            payment().example(concat!(
                r#"{"id":"01975a2e-7c00-7000-8000-000000000100","object":"cop_payment","attempt":1,"#,
                r#""status":"pending","method":"COP","channel":"sms","amountCop":50000,"feeCop":null,"#,
                r#""netCop":null,"reference":"pedido-2","metadata":null,"failureCode":null,"#,
                r#""next":{"type":"submit_otp","phoneMasked":"300***4567"},"livemode":false,"#,
                r#""createdAt":"2026-11-21T02:13:00.000Z","expiresAt":"2026-11-21T02:18:00.000Z","#,
                r#""completedAt":null,"availableAt":null,"refundedAt":null}"#,
            )),
        ),
        (
            "CopBalance",
            crate::balance::cop_schema().example(concat!(
                r#"{"ledgerNetCop":"46250","heldCop":"46250","#,
                r#""nextReleaseAt":"2026-11-22T02:13:30.000Z","availableCop":"0","balanceHoldHours":24,"#,
                r#""livemode":false}"#,
            )),
        ),
        ("CopPayout", payout()),
        ("CopPayoutPage", page("CopPayout")),
    ]
}
