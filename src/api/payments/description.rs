//! Collections in bolívares, as the description tells of them.

use crate::openapi::document::Chapter;
use crate::openapi::schema::{Schema, any_of, boolean, integer, named, number, object, one_of, text};
use crate::openapi::values::{
    bank_code, bank_number, day, external_ref, figure, identity, instant, items, livemode, page, phone,
    shown_ref, usd_price, uuid, ves,
};
use crate::shown::Describing;
use domain::resources::payments::{Method, Status};

/// Refusals of what creates a payment under a reference.
pub(crate) const CREATES: [&str; 3] = ["external_ref_conflict", "charge_in_progress", "merchant_inactive"];

/// The heading of the chapter.
pub(crate) const TAG: &str = "Payments";

/// The chapter.
pub fn chapter() -> Chapter {
    Chapter {
        tag: TAG,
        about: "Collecting from a payer in Venezuela: C2P (a one-time code of the payer's bank), card, immediate debit, and transfers that the payer made by Pago Móvil. What is collected is held for 24 hours, then available.",
        schemas: schemas(),
        ..Chapter::default()
    }
}

fn schemas() -> Vec<(&'static str, Schema)> {
    let debit = || {
        object()
            .member("banco", bank_code())
            .member(
                "monto",
                number().range("0.01", "999999999999.99").about("Bolívares, at most 2 decimals."),
            )
            .member("telefono", phone())
            .member("cedula", identity())
    };
    let percent = || {
        number()
            .range("0", "100")
            .about("What you keep of the sale, in percent, at most 4 decimals; needs `merchantId`.")
    };
    vec![
        ("C2pRequest", c2p_details().closed()),
        (
            "C2pCharge",
            object()
                .member("intentId", uuid())
                .and(c2p_details())
                .member("token", text().pattern("^[0-9]{6,8}$").about("The payer's key, 6 to 8 digits, as a string."))
                .optional("merchantId", uuid().or_null().about("The seller of a marketplace sale."))
                .optional("applicationFeePercent", percent().or_null())
                .closed(),
        ),
        (
            "C2pIntent",
            object()
                .member("intentId", uuid())
                .member("otpRequested", boolean().about("True when the payer's bank sends a code by SMS; false when the payer makes it in the app."))
                .member("status", one_of([Status::Pending.name()]))
                .member("usdAmount", figure())
                .member("vesAmount", figure())
                .member("bcvRate", figure())
                .member("expiresAt", instant().or_null())
                .member("externalRef", shown_ref())
                .member("livemode", livemode())
                .example(r#"{"intentId":"01975a2e-7c00-7000-8000-000000000000","otpRequested":false,"status":"PENDING","usdAmount":10.00,"vesAmount":2100.00,"bcvRate":210,"expiresAt":"2026-11-21T02:28:00.000Z","externalRef":"order-1","livemode":false}"#),
        ),
        (
            "CardCharge",
            object()
                .member("usdAmount", usd_price())
                .member("card", any_of([named("Card"), named("CardToken")]))
                .member("externalRef", external_ref())
                .optional("description", text().chars(1..=255).pattern(r"\S").or_null())
                .optional("merchantId", uuid().or_null().about("The seller of a marketplace sale."))
                .optional("applicationFeePercent", percent().or_null())
                .closed(),
        ),
        (
            "Card",
            object()
                .member("number", text().pattern("^[0-9]{13,19}$").about("13 to 19 digits that pass the Luhn check."))
                .member("expMonth", integer().range("1", "12"))
                .member("expYear", integer().range("1970", "9999"))
                .member("cvv", text().pattern("^[0-9]{3,4}$"))
                .member("holderName", text().chars(1..=100).pattern(r"\S"))
                .member("holderId", identity())
                .closed(),
        ),
        (
            "CardToken",
            object().member("token", text().about("Of a card that a checkout page took from its holder.")).closed(),
        ),
        ("DebitOtpRequest", debit().closed()),
        (
            "DebitOtp",
            object()
                .member("requested", boolean())
                .member("operationId", uuid())
                .member("expiresAt", instant())
                .member("failureCode", text().or_null())
                .member("livemode", livemode())
                .example(r#"{"requested":true,"operationId":"01975a2e-7c00-7000-8000-000000000001","expiresAt":"2026-11-21T02:18:00.000Z","failureCode":null,"livemode":false}"#),
        ),
        (
            "DebitCharge",
            debit()
                .member("nombre", text().chars(1..=100).pattern(r"\S"))
                .member("otp", text().pattern("^[0-9]{4,8}$").about("The code of the payer's bank, 4 to 8 digits, as a string."))
                .member("concepto", text().chars(1..=140).pattern(r"\S"))
                .member("externalRef", external_ref())
                .closed(),
        ),
        (
            "PagoMovilVerification",
            object()
                .member("usdAmount", usd_price())
                .member("reference", text().pattern("^[0-9]{4,20}$").about("The digits of the reference that the payer knows; leading zeros tell nothing."))
                .member("phone", phone())
                .member("bankCode", bank_code())
                .member("date", day().about("The transfer's day in Caracas: not in the future, at most 30 days ago."))
                .member("debtorId", identity())
                .member("externalRef", external_ref())
                .closed(),
        ),
        ("Payment", payment()),
        ("PaymentChargeback", payment_chargeback()),
        ("PaymentPage", page("Payment")),
        (
            "Operation",
            super::operations::members(Describing::object()).schema().example(r#"{"operationId":"01975a2e-7c00-7000-8000-000000000001","kind":"charge","status":"completed","code":null,"reference":"903144721","contradicted":false,"paymentId":"01975a2e-7c00-7000-8000-000000000000","payoutId":null,"createdAt":"2026-11-21T02:13:00.000Z","updatedAt":"2026-11-21T02:13:04.120Z"}"#),
        ),
        (
            "CollectionMethod",
            object()
                .member("method", one_of(Method::ALL.map(Method::name)))
                .member("enabled", boolean())
                .member("currency", one_of(["VES", "COP", "USDT"]))
                .member("reason", text().or_null().about("Why it is not enabled: `rail_not_configured`, `no_bank_offers_it`, `rate_unavailable`, `cop_not_enabled`."))
                .example(r#"{"method":"C2P","enabled":true,"currency":"VES","reason":null}"#),
        ),
        ("CollectionMethodList", items("CollectionMethod")),
    ]
}

fn c2p_details() -> Schema {
    object()
        .member("usdAmount", usd_price())
        .member("debtorId", identity())
        .member("debtorCellPhone", phone())
        .member("debtorBankCode", bank_number())
        .member("externalRef", external_ref())
}

/// A chargeback, as its payment shows it.
pub fn payment_chargeback() -> Schema {
    crate::chargebacks::members_in_payment(Describing::object()).schema()
}

/// A payment of any kind.
pub fn payment() -> Schema {
    super::show::members(Describing::object()).schema().optional("channel", text()).optional("amountCop", integer()).optional("feeCop", integer().or_null()).optional("netCop", integer().or_null()).optional("applicationFeeCop", integer().or_null()).optional("sellerNetCop", integer().or_null()).optional("metadata", object().or_null()).optional("amountUsd", ves().about("With `copRate`, of what was paid through a checkout session.")).optional("copRate", text().or_null()).optional("copMarketRate", text().or_null()).example(r#"{"id":"01975a2e-7c00-7000-8000-000000000000","paymentId":"01975a2e-7c00-7000-8000-000000000000","object":"payment","externalRef":"order-1","status":"COMPLETED","method":"C2P","failureCode":null,"cancelReason":null,"usdAmount":10.00,"vesAmount":2100.00,"bcvRate":210,"feeVes":31.50,"netVes":2068.50,"merchantId":null,"applicationFeePercent":null,"applicationFeeVes":null,"sellerNetVes":null,"debtorBankCode":"0134","debtorId":"V***678","debtorCellPhone":"0414***4567","cardLast4":null,"cardBrand":null,"bankReference":"903144721","operationId":null,"description":null,"checkoutSessionId":null,"reference":null,"checkoutSession":null,"reversedAt":null,"reversalRef":null,"reversalType":null,"chargebacks":[],"livemode":false,"createdAt":"2026-11-21T02:13:00.000Z","expiresAt":"2026-11-21T02:28:00.000Z","completedAt":"2026-11-21T02:13:04.120Z","availableAt":"2026-11-22T02:13:04.120Z"}"#)
}
