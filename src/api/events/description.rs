//! Events and what is sent to webhooks, as the description tells of them.

use super::CHAPTER;
use crate::openapi::document::{Chapter, event};
use crate::openapi::schema::{Schema, any_of, named, object, one_of, text};
use crate::openapi::values::{livemode, uuid};

pub fn chapter() -> Chapter {
    let payment = || any_of([named("Payment"), named("CopPaymentEvent")]);
    Chapter {
        tag: CHAPTER,
        about: "What happened, numbered per account and mode without gaps, so that a receiver that was down \
            can catch up with certainty: `GET /v1/events?after=SEQUENCE`.",
        schemas: vec![
            ("Event", super::schema()),
            ("EventPage", crate::openapi::values::page("Event")),
            ("CopPaymentEvent", crate::cop_payments::description::event_data()),
            ("ChargebackEvent", super::of_chargeback_schema()),
            (
                "MerchantEvent",
                crate::merchants::description::merchant()
                    .optional("payoutMethodId", uuid().about("The method that it is about.")),
            ),
        ],
        webhooks: vec![
            event("payment.completed", "A payment completed", payment()),
            event("payment.failed", "A payment failed; failureCode says why", payment()),
            event(
                "payment.canceled",
                "An intent was superseded or expired, or a payment in pesos was canceled",
                payment(),
            ),
            event(
                "payment.reversed",
                "A payment went back",
                any_of([named("Payment"), named("CopPaymentEvent"), super::reversed_schema()]),
            ),
            event("payment.chargeback", "The bank of a cardholder took money back", named("ChargebackEvent")),
            event("payment.chargeback_closed", "A dispute is decided", named("ChargebackEvent")),
            event("payout.completed", "A payout is paid", payout()),
            event("payout.failed", "A payout failed; the money is back", payout()),
            event("merchant.verified", "A payout method is verified", named("MerchantEvent")),
            event(
                "merchant.rejected",
                "The bank says that a payout method is somebody else's; it is deleted",
                rejected(),
            ),
            event("merchant.deactivated", "A merchant was deactivated", named("MerchantEvent")),
            event("merchant.reactivated", "A merchant was activated again", named("MerchantEvent")),
            event(
                "merchant.balance.updated",
                "A seller's sale was credited, released or reversed",
                super::balance_schema(),
            ),
            event(
                "tenant.live_status_changed",
                "The operator changed what the live key may do",
                super::live_status_schema(),
            ),
            event(
                "test.reset",
                "The data of test mode began anew; no event of before is listed",
                object().member("livemode", livemode()),
            ),
        ],
    }
}

fn payout() -> Schema {
    any_of([
        crate::payouts::description::payout().member("currency", one_of(["VES"])),
        crate::cop_payments::payouts::schema(),
        crate::crypto::payout_schema().member("payoutId", uuid()).member("currency", one_of(["USDT"])),
    ])
}

fn rejected() -> Schema {
    crate::merchants::description::merchant()
        .member("payoutMethodId", uuid())
        .member("failureCode", text().or_null())
        .member("reason", text())
        .member("action", text().constant("payout_method_deleted"))
}
