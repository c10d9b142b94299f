//! Finding things among all tenants, as the description tells of it.

use crate::admin::finding::{
    asked_chargebacks, asked_conversions, asked_cop_payouts, asked_deliveries, asked_payments, asked_payouts,
};
use api::openapi::document::Chapter;
use api::openapi::operation::{Operation, operation};
use api::openapi::schema::{Schema, boolean, object, one_of, text};
use api::openapi::values::{instant, page, pesos, uuid};
use api::search::description as search;
use api::{chargebacks, conversions, cop_payments, payments, payouts, webhooks};
use domain::platform::Mode;

pub(super) fn finding() -> Chapter {
    let whose = |operation: Operation| {
        operation.about(
            "Newest first whichever the tenant; both modes unless `mode` is given. What is personal \
             is masked.",
        )
    };
    Chapter {
        tag: "Finding things",
        about: "One text leads to everything that it names, among all tenants in both modes; and the lists \
            of tenants, over all of them.",
        operations: vec![
            search::search(operation("searchAll", "Search among all tenants"))
                .about(
                    "By an id of anything, a reference of a tenant's or of a bank, a transaction's hash, the id \
                     of a request, the beginning of a tenant's name, a document or a phone of a payer or seller. \
                     A document or a phone takes the role `support`, and is in the audit, masked.",
                )
                .refuses(503, &["storage_unavailable"]),
            whose(operation("listAllPayments", "List the payments of all tenants").list(asked_payments))
                .answers(200, "OwnedPaymentPage", "Newest first"),
            whose(operation("listAllPayouts", "List the payouts of all tenants").list(asked_payouts))
                .answers(200, "OwnedPayoutPage", "Newest first"),
            whose(
                operation("listAllConversions", "List the conversions of all tenants")
                    .list(asked_conversions),
            )
            .answers(200, "OwnedConversionPage", "Newest first"),
            whose(
                operation("listAllCopPayouts", "List the payouts in pesos of all tenants")
                    .list(asked_cop_payouts),
            )
            .answers(200, "OwnedCopPayoutPage", "Newest first"),
            operation("getAnyCopPayout", "Read a payout in pesos")
                .about(
                    "Treasury, who pays it, sees to whom, and each look is in the audit; others see \
                     `destination` instead: the end of the account.",
                )
                .answers(200, "SeenCopPayout", "The payout")
                .refuses(503, &["storage_unavailable"]),
            whose(
                operation("listAllChargebacks", "List the chargebacks of all tenants")
                    .list(asked_chargebacks),
            )
            .answers(200, "OwnedChargebackPage", "Newest first"),
            whose(
                operation("listAllDeliveries", "List the webhook deliveries of all tenants")
                    .list(asked_deliveries),
            )
            .answers(200, "OwnedDeliveryPage", "Newest first"),
        ],
        schemas: [
            search::found(),
            vec![
                ("PaymentChargeback", payments::description::payment_chargeback()),
                ("OwnedPayment", owned(payments::description::payment())),
                ("OwnedPaymentPage", page("OwnedPayment")),
                ("OwnedPayout", owned(payouts::description::payout())),
                ("OwnedPayoutPage", page("OwnedPayout")),
                ("OwnedConversion", owned(conversions::description::conversion())),
                ("OwnedConversionPage", page("OwnedConversion")),
                ("OwnedCopPayout", owned(cop_payments::description::payout())),
                ("OwnedCopPayoutPage", page("OwnedCopPayout")),
                ("SeenCopPayout", seen_cop_payout()),
                ("OwnedChargeback", owned(chargebacks::description::chargeback())),
                ("OwnedChargebackPage", page("OwnedChargeback")),
                ("OwnedDelivery", owned(webhooks::description::delivery())),
                ("OwnedDeliveryPage", page("OwnedDelivery")),
            ],
        ]
        .concat(),
        ..Chapter::default()
    }
}

/// The schema with the tenant and the mode that it belongs to.
pub(super) fn owned(schema: Schema) -> Schema {
    schema.member("tenantId", uuid().or_null()).member("mode", one_of(Mode::ALL.map(Mode::name)))
}

/// A payout in pesos, with the person or the end of the account.
fn seen_cop_payout() -> Schema {
    let payout = object()
        .member("id", uuid())
        .member("payoutId", uuid())
        .member("object", text().constant("cop_payout"))
        .member("status", one_of(["pending", "completed", "failed"]))
        .member("reference", text().or_null())
        .member("failureCode", text().or_null())
        .member("externalRef", text())
        .member("amountCop", pesos())
        .member("currency", text().constant("COP"))
        .optional("bank", text())
        .optional("accountNumber", text())
        .optional("accountType", text())
        .optional("holderName", text())
        .optional("documentType", text())
        .optional("documentNumber", text())
        .optional("destination", text().about("An ellipsis and the last four digits."))
        .member("livemode", boolean())
        .member("createdAt", instant())
        .member("settledAt", instant().or_null());
    owned(payout)
}
