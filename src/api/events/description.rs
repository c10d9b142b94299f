//! Events and what is sent to webhooks, as the description tells of them.

use crate::chapters;
use crate::openapi::document::{Chapter, Webhook, event};
use crate::openapi::schema::{Schema, any_of, list, named, object, one_of, text};
use crate::openapi::values::{attempt, figure, instant, livemode, pesos, shown_ref, uuid, ves};
use domain::entities::payment::Status;
use domain::events::BalanceReason;
use domain::platform::settings::LiveStatus;

pub fn chapter() -> Chapter {
    Chapter {
        tag: chapters::EVENTS,
        about: "What happened, numbered per account and mode without gaps, so that a receiver that was down \
            can catch up with certainty: `GET /v1/events?after=SEQUENCE`.",
        schemas: vec![
            ("Event", super::schema()),
            ("EventPage", crate::openapi::values::page("Event")),
            ("CopPaymentEvent", crate::cop_payments::description::event_data()),
            ("ChargebackEvent", chargeback()),
            (
                "MerchantEvent",
                crate::merchants::description::merchant()
                    .optional("payoutMethodId", uuid().about("The method that it is about.")),
            ),
        ],
        webhooks: sent(),
        ..Chapter::default()
    }
}

fn sent() -> Vec<Webhook> {
    let payment = || any_of([named("Payment"), named("CopPaymentEvent")]);
    vec![
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
            any_of([named("Payment"), named("CopPaymentEvent"), reversed()]),
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
            seller_balance(),
        ),
        event("tenant.live_status_changed", "The operator changed what the live key may do", live_status()),
        event(
            "test.reset",
            "The data of test mode began anew; no event of before is listed",
            object().member("livemode", livemode()),
        ),
    ]
}

fn payout() -> Schema {
    any_of([
        crate::payouts::description::payout().member("currency", one_of(["VES"])),
        crate::cop_payments::description::payout(),
        crate::crypto::description::payout().member("payoutId", uuid()).member("currency", one_of(["USDT"])),
    ])
}

fn rejected() -> Schema {
    crate::merchants::description::merchant()
        .member("payoutMethodId", uuid())
        .member("failureCode", text().or_null())
        .member("reason", text())
        .member("action", text().constant("payout_method_deleted"))
}

fn seller_balance() -> Schema {
    let reasons = [BalanceReason::Sale, BalanceReason::Release, BalanceReason::Reversal];
    object()
        .member("merchantId", uuid())
        .member("externalRef", shown_ref())
        .member("pendingVes", ves())
        .member("availableVes", ves())
        .optional("pendingCop", pesos())
        .optional("availableCop", pesos())
        .optional("pendingUsdt", ves())
        .optional("availableUsdt", ves())
        .member("reason", one_of(reasons.map(BalanceReason::name)))
        .member("livemode", livemode())
}

fn live_status() -> Schema {
    let status =
        || one_of([LiveStatus::Inactive, LiveStatus::Active, LiveStatus::Suspended].map(LiveStatus::name));
    object()
        .member("tenantId", uuid())
        .member("status", status())
        .member("previousStatus", status())
        .member("reason", text().or_null())
        .member("livemode", livemode())
}

fn chargeback() -> Schema {
    object()
        .member("chargebackId", uuid().about("The same in both events."))
        .member("paymentId", uuid())
        .member("externalRef", shown_ref())
        .member("attempt", attempt())
        .member("method", text().constant("VPOS"))
        .member("status", crate::payments::show::chargeback_status())
        .member("amountVes", ves())
        .member("feeVes", ves())
        .member("reason", crate::payments::show::chargeback_reason())
        .member("bankDebitedAt", instant())
        .member("paymentStatus", one_of([Status::Completed.name(), Status::Reversed.name()]))
        .member("vesAmount", ves())
        .member("usdAmount", ves())
        .member(
            "ledgerEntryIds",
            list(uuid()).about("The movements that it made; none when the dispute is lost."),
        )
        .member("createdAt", instant())
        .optional("outcome", one_of(["won", "lost"]))
        .optional("closedAt", instant())
        .member("livemode", livemode())
}

/// A reversal says the whole payment; one by chargebacks the members that `docs/contract.md, 13.8`
/// names.
fn reversed() -> Schema {
    object()
        .member("paymentId", uuid())
        .member("externalRef", shown_ref())
        .member("attempt", attempt())
        .member("status", text().constant("REVERSED"))
        .member("method", text())
        .member("usdAmount", figure())
        .member("vesAmount", figure())
        .member("bcvRate", figure())
        .member("feeVes", figure().or_null())
        .member("netVes", figure().or_null())
        .member("cardLast4", text().or_null())
        .member("reversedAt", instant())
        .member("reversalRef", text().or_null())
        .member("reversalType", one_of(["reversal", "chargeback"]))
        .optional("chargebackId", uuid())
        .member("chargebacks", list(named("PaymentChargeback")))
        .member("createdAt", instant())
        .member("livemode", livemode())
}
