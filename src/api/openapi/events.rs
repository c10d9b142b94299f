//! Events and what is sent to webhooks, as the description tells of them.

use super::document::{Chapter, Webhook};
use super::operation::operation;
use super::schema::{Schema, integer, list, named, object, one_of, text};
use super::values::{figure, instant, livemode, shown_ref, uuid, ves};
use crate::domain::events::{BalanceReason, EventKind};
use crate::domain::payments::Status;
use crate::domain::settings::LiveStatus;

/// Every event, in the order in which they are told of.
pub(super) const EVENTS: [EventKind; 14] = [
    EventKind::PaymentCompleted,
    EventKind::PaymentFailed,
    EventKind::PaymentCanceled,
    EventKind::PaymentReversed,
    EventKind::PaymentChargeback,
    EventKind::PaymentChargebackClosed,
    EventKind::PayoutCompleted,
    EventKind::PayoutFailed,
    EventKind::MerchantVerified,
    EventKind::MerchantRejected,
    EventKind::MerchantDeactivated,
    EventKind::MerchantReactivated,
    EventKind::MerchantBalanceUpdated,
    EventKind::TenantLiveStatusChanged,
];

/// The chapter.
pub fn chapter() -> Chapter {
    let kinds = || one_of(EVENTS.map(EventKind::name));
    Chapter {
        tag: "Events",
        about: "What happened, numbered per account and mode without gaps, so that a receiver that was down can catch up with certainty: `GET /v1/events?after=SEQUENCE`.",
        operations: vec![
            operation("listEvents", "List events from a number on")
                .query("after", integer().at_least("0").about("The last sequence that you know; 0 is the beginning."))
                .pages()
                .answers(200, "EventPage", "Oldest first"),
            operation("getEvent", "Read an event").answers(200, "Event", "The event"),
        ],
        schemas: vec![
            (
                "Event",
                object()
                    .member("id", uuid().about("`Svc-Event-Id` of its deliveries."))
                    .member("sequence", integer().at_least("1"))
                    .member("event", kinds())
                    .member("data", object().about("What the event says; its members are under `webhooks`."))
                    .member("timestamp", instant())
                    .member("livemode", livemode())
                    .member("createdAt", instant()),
            ),
            ("EventPage", super::values::page("Event")),
            ("ChargebackEvent", chargeback()),
            ("MerchantEvent", super::merchants::merchant().optional("payoutMethodId", uuid().about("The method that it is about."))),
        ],
    }
}

/// What is sent to webhooks.
pub fn webhooks() -> Vec<Webhook> {
    EVENTS
        .into_iter()
        .map(|kind| {
            let (about, data) = said(kind);
            Webhook { name: kind.name(), about, data }
        })
        .collect()
}

/// When an event is sent, and what its data is.
fn said(kind: EventKind) -> (&'static str, Schema) {
    match kind {
        EventKind::PaymentCompleted => ("A payment completed", named("Payment")),
        EventKind::PaymentFailed => ("A payment failed; failureCode says why", named("Payment")),
        EventKind::PaymentCanceled => ("An intent was superseded or expired", named("Payment")),
        EventKind::PaymentReversed => ("A payment went back", reversed()),
        EventKind::PaymentChargeback => ("The bank of a cardholder took money back", named("ChargebackEvent")),
        EventKind::PaymentChargebackClosed => ("A dispute is decided", named("ChargebackEvent")),
        EventKind::PayoutCompleted => ("A payout is paid", payout()),
        EventKind::PayoutFailed => ("A payout failed; the money is back", payout()),
        EventKind::MerchantVerified => ("A payout method is verified", named("MerchantEvent")),
        EventKind::MerchantRejected => ("The bank says that a payout method is somebody else's; it is deleted", rejected()),
        EventKind::MerchantDeactivated => ("A merchant was deactivated", named("MerchantEvent")),
        EventKind::MerchantReactivated => ("A merchant was activated again", named("MerchantEvent")),
        EventKind::MerchantBalanceUpdated => ("A seller's sale landed, was released or went back", seller_balance()),
        EventKind::TenantLiveStatusChanged => ("The operator changed what the live key may do", live_status()),
    }
}

fn payout() -> Schema {
    super::payouts::payout().member("currency", one_of(["VES", "COP"]))
}

fn rejected() -> Schema {
    super::merchants::merchant()
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
        .member("reason", one_of(reasons.map(BalanceReason::name)))
        .member("livemode", livemode())
}

fn live_status() -> Schema {
    let status = || one_of([LiveStatus::Inactive, LiveStatus::Active, LiveStatus::Suspended].map(LiveStatus::name));
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
        .member("method", text().constant("VPOS"))
        .member("status", super::chargebacks::status())
        .member("amountVes", ves())
        .member("feeVes", ves())
        .member("reason", super::chargebacks::reason())
        .member("bankDebitedAt", instant())
        .member("paymentStatus", one_of([Status::Completed.name(), Status::Reversed.name()]))
        .member("vesAmount", ves())
        .member("usdAmount", ves())
        .member("ledgerEntryIds", list(uuid()).about("The movements that it made; none when the dispute is lost."))
        .member("createdAt", instant())
        .optional("outcome", one_of(["won", "lost"]))
        .optional("closedAt", instant())
        .member("livemode", livemode())
}

/// A reversal says the whole payment; one by chargebacks the members that `service.md` names.
fn reversed() -> Schema {
    object()
        .member("paymentId", uuid())
        .member("externalRef", shown_ref())
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
