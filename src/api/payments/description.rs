//! Collections in bolívares, as the description tells of them.

use crate::openapi::document::Chapter;
use crate::openapi::operation::{Operation, operation};
use crate::openapi::schema::{Schema, boolean, integer, list, named, number, object, one_of, text};
use crate::openapi::values::{
    bank_code, bank_number, day, external_ref, figure, identity, instant, items, livemode, page, phone,
    shown_ref, usd_price, uuid, ves,
};
use domain::resources::payments::{CancelReason, Method, Status};
use domain::values::card::Brand;

const BRANDS: [Brand; 9] = [
    Brand::Visa,
    Brand::Mastercard,
    Brand::Amex,
    Brand::Diners,
    Brand::Discover,
    Brand::Jcb,
    Brand::UnionPay,
    Brand::Maestro,
    Brand::Unknown,
];

/// Refusals of what creates a payment under a reference.
const CREATES: [&str; 3] = ["external_ref_conflict", "charge_in_progress", "merchant_inactive"];

/// The chapter.
pub fn chapter() -> Chapter {
    Chapter {
        tag: "Payments",
        about: "Collecting from a payer in Venezuela: C2P (a key of the payer's bank), card, immediate debit, and transfers that the payer made by Pago Móvil. What is collected is held for 24 hours, then available.",
        operations: operations(),
        schemas: schemas(),
        ..Chapter::default()
    }
}

fn operations() -> Vec<Operation> {
    vec![
        operation("requestC2p", "Request a C2P intent")
            .about("Fixes the price in bolívares at the BCV rate for 15 minutes, and has the payer's bank send a code if it does so (`otpRequested`); otherwise the payer makes the key in the app of the bank. A newer request under the same `externalRef` takes the place of the pending one.")
            .body("C2pRequest")
            .example("10 USD from a payer at Banesco", r#"{"usdAmount":10,"debtorId":"V12345678","debtorCellPhone":"04141234567","debtorBankCode":134,"externalRef":"order-1"}"#)
            .answers(201, "C2pIntent", "The intent")
            .refuses(409, &["external_ref_conflict", "charge_in_progress"])
            .refuses(503, &["rate_unavailable", "rail_not_configured"]),
        operation("executeC2p", "Charge a C2P intent")
            .about("Repeats the details of the request and brings the payer's key. The bank is called once: what it says is in `status` (`COMPLETED` or `FAILED` with `failureCode`). While the bank is silent the answer is 202 and the payment `PENDING`; the server asks the bank until it knows, and never charges twice.")
            .body("C2pCharge")
            .example("the key that the payer typed", r#"{"intentId":"01975a2e-7c00-7000-8000-000000000000","usdAmount":10,"debtorId":"V12345678","debtorCellPhone":"04141234567","debtorBankCode":134,"token":"12345678","externalRef":"order-1"}"#)
            .example("a marketplace sale", r#"{"intentId":"01975a2e-7c00-7000-8000-000000000000","usdAmount":10,"debtorId":"V12345678","debtorCellPhone":"04141234567","debtorBankCode":134,"token":"12345678","externalRef":"order-1","merchantId":"01975a2e-7c00-7000-8000-0000000000aa","applicationFeePercent":12.5}"#)
            .answers(200, "Payment", "The payment, completed or failed")
            .answers(202, "Payment", "The bank has not answered yet")
            .refuses(404, &["not_found"])
            .refuses(409, &["intent_mismatch", "intent_canceled", "intent_failed", "intent_completed", "charge_in_progress", "merchant_inactive"])
            .refuses(503, &["rail_not_configured"]),
        operation("chargeCard", "Charge a card")
            .about("Of the card only brand and last four digits are ever stored or logged. The same `externalRef` with the same payload answers the payment that is there.")
            .body("CardCharge")
            .example("an approved card of test mode", r#"{"usdAmount":25.5,"card":{"number":"4111111111111111","expMonth":12,"expYear":2030,"cvv":"123","holderName":"Ana Perez","holderId":"V12345678"},"externalRef":"order-2","description":"camisa"}"#)
            .answers(201, "Payment", "The new payment, completed or failed")
            .answers(200, "Payment", "The payment that is there under this reference")
            .answers(202, "Payment", "The bank has not answered yet")
            .refuses(404, &["not_found"])
            .refuses(409, &CREATES)
            .refuses(503, &["rate_unavailable", "rail_not_configured"]),
        operation("requestDebitOtp", "Have the payer's bank send a debit code")
            .body("DebitOtpRequest")
            .example("a code for 500 VES", r#"{"banco":"0134","monto":500.00,"telefono":"04141234567","cedula":"V12345678"}"#)
            .answers(201, "DebitOtp", "What the bank said")
            .answers(202, "DebitOtp", "The bank has not answered yet")
            .refuses(503, &["rail_not_configured"]),
        operation("chargeDebit", "Debit an account with the payer's code")
            .about("`monto` is in bolívares; `usdAmount` of the payment is what it is at the BCV rate.")
            .body("DebitCharge")
            .example("500 VES", r#"{"banco":"0134","monto":500.00,"telefono":"04141234567","cedula":"V12345678","nombre":"Ana Perez","otp":"12345678","concepto":"factura 81","externalRef":"order-3"}"#)
            .answers(201, "Payment", "The new payment, completed or failed")
            .answers(200, "Payment", "The payment that is there under this reference")
            .answers(202, "Payment", "The bank has not answered yet")
            .refuses(409, &CREATES[..2])
            .refuses(503, &["rate_unavailable", "rail_not_configured"]),
        operation("verifyPagoMovil", "Verify a Pago Móvil transfer")
            .about("Looks for a transfer that the payer made to you. A transfer (bank, day, full reference) pays for one thing.")
            .body("PagoMovilVerification")
            .example("a transfer of today", r#"{"usdAmount":10,"reference":"00123456","phone":"04141234567","bankCode":"0134","date":"2026-11-21","debtorId":"V12345678","externalRef":"order-4"}"#)
            .answers(201, "Payment", "The new payment: completed, or failed with `reference_not_found`")
            .answers(200, "Payment", "The payment that is there under this reference")
            .answers(202, "Payment", "The bank has not answered yet")
            .refuses(409, &["external_ref_conflict", "charge_in_progress", "reference_already_used"])
            .refuses(503, &["rate_unavailable", "rail_not_configured"]),
        operation("listPayments", "List payments")
            .query("status", one_of(Status::ALL.map(Status::name)))
            .query("method", one_of(Method::ALL.map(Method::name)))
            .query("externalRef", text().chars(1..=64).about("All attempts under this reference."))
            .pages()
            .answers(200, "PaymentPage", "Newest first"),
        operation("getPayment", "Read a payment").answers(200, "Payment", "The payment"),
        operation("getPaymentByRef", "Read the newest payment under a reference").answers(200, "Payment", "The newest attempt"),
        operation("reversePayment", "Reverse a C2P payment")
            .about("Within 24 hours of completion. The fee comes back. The money is taken from the hold of this sale, then from what is available; of a marketplace sale the seller's part from the seller.")
            .answers(200, "Payment", "The payment, reversed")
            .answers(202, "Payment", "The bank is deciding; the payment stays `COMPLETED` until it has")
            .refuses(409, &["not_reversible", "payment_not_completed", "reversal_window_expired", "reversal_in_progress", "reversal_refused"])
            .refuses(422, &["insufficient_balance"])
            .refuses(503, &["rail_not_configured"]),
        operation("getOperation", "Read an operation with a bank")
            .about("What became of a call to a bank: the `operationId` of a payment, a payout or a debit code leads here.")
            .answers(200, "Operation", "The operation"),
        operation("listPaymentMethods", "List what the account can collect by now").answers(200, "CollectionMethodList", "Disabled ones say why"),
    ]
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
                .member("card", named("Card"))
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
        (
            "PaymentChargeback",
            object()
                .member("chargebackId", uuid())
                .member("status", crate::chargebacks::description::status())
                .member("amountVes", ves())
                .member("feeVes", ves())
                .member("reason", crate::chargebacks::description::reason())
                .member("bankDebitedAt", instant()),
        ),
        ("PaymentPage", page("Payment")),
        (
            "Operation",
            object()
                .member("operationId", uuid())
                .member("kind", one_of(["charge", "debit", "verification", "reversal", "otp", "credit", "collection", "refund"]))
                .member("status", one_of(["pending", "completed", "failed"]))
                .member("code", text().or_null().about("The bank's code, when it failed."))
                .member("reference", text().or_null().about("The bank's reference."))
                .member("contradicted", boolean().about("The bank said both that it was done and that it was not. No money moved by the second word; the operator clears it up with the bank."))
                .member("paymentId", uuid().or_null())
                .member("payoutId", uuid().or_null())
                .member("createdAt", instant())
                .member("updatedAt", instant())
                .example(r#"{"operationId":"01975a2e-7c00-7000-8000-000000000001","kind":"charge","status":"completed","code":null,"reference":"903144721","contradicted":false,"paymentId":"01975a2e-7c00-7000-8000-000000000000","payoutId":null,"createdAt":"2026-11-21T02:13:00.000Z","updatedAt":"2026-11-21T02:13:04.120Z"}"#),
        ),
        (
            "CollectionMethod",
            object()
                .member("method", one_of(Method::ALL.map(Method::name)))
                .member("enabled", boolean())
                .member("currency", one_of(["VES", "COP", "USDT"]))
                .member("reason", text().or_null().about("Why it is not enabled: `rail_not_configured`, `no_bank_offers_it`, `rate_unavailable`."))
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

fn payment() -> Schema {
    object()
        .member("id", uuid())
        .member("paymentId", uuid().about("Equal to `id`; of C2P the `intentId` too."))
        .member("object", text().constant("payment"))
        .member("externalRef", shown_ref().or_null().about("Null of payments in pesos and in USDT; of one through a checkout session, the session's id."))
        .member("status", one_of(Status::ALL.map(Status::name)))
        .member("method", one_of(Method::ALL.map(Method::name)))
        .member("failureCode", text().or_null().about("The bank's code, when it failed, such as `AM04` (insufficient funds) or `TKCM` (wrong key)."))
        .member("cancelReason", one_of([CancelReason::Superseded.name(), CancelReason::Expired.name()]).or_null())
        .member("usdAmount", figure().or_null())
        .member("vesAmount", figure().or_null())
        .member("bcvRate", figure().or_null())
        .member("feeVes", figure().or_null().about("Null until completed."))
        .member("netVes", figure().or_null().about("`vesAmount` less `feeVes`; null until completed."))
        .member("merchantId", uuid().or_null())
        .member("applicationFeePercent", figure().or_null())
        .member("applicationFeeVes", figure().or_null())
        .member("sellerNetVes", figure().or_null())
        .member("debtorBankCode", bank_code().or_null())
        .member("debtorId", text().or_null().about("Masked: `V***678`."))
        .member("debtorCellPhone", text().or_null().about("Masked: `0414***4567`."))
        .member("cardLast4", text().pattern("^[0-9]{4}$").or_null())
        .member("cardBrand", one_of(BRANDS.map(Brand::name)).or_null())
        .member("bankReference", text().or_null())
        .member("operationId", uuid().or_null().about("While a bank is being asked; see `GET /v1/payments/operations/{id}`."))
        .member("description", text().or_null())
        .member("checkoutSession", object().or_null().about("The session through which it was paid: `id`, `reference`, `metadata`."))
        .member("reversedAt", instant().or_null())
        .member("reversalRef", text().or_null())
        .member("reversalType", one_of(["reversal", "chargeback", "refund"]).or_null())
        .member("chargebacks", list(named("PaymentChargeback")))
        .member("livemode", livemode())
        .member("createdAt", instant())
        .member("expiresAt", instant().or_null())
        .member("completedAt", instant().or_null())
        .member("availableAt", instant().or_null().about("The end of the hold."))
        .optional("currency", one_of(["COP", "USDT"]).about("With members of their own, of payments in pesos and in USDT."))
        .optional("amountUsdt", ves().about("What came."))
        .optional("txHash", text().about("Of the transfer that completed it."))
        .optional("sellerNetUsdt", ves().or_null())
        .optional("channel", text())
        .optional("amountCop", integer())
        .optional("feeCop", integer().or_null())
        .optional("netCop", integer().or_null())
        .optional("applicationFeeCop", integer().or_null())
        .optional("sellerNetCop", integer().or_null())
        .optional("reference", text().or_null())
        .optional("metadata", object().or_null())
        .optional("amountUsd", ves().about("With `copRate`, of what was paid through a checkout session."))
        .optional("copRate", text().or_null())
        .optional("copMarketRate", text().or_null())
        .example(r#"{"id":"01975a2e-7c00-7000-8000-000000000000","paymentId":"01975a2e-7c00-7000-8000-000000000000","object":"payment","externalRef":"order-1","status":"COMPLETED","method":"C2P","failureCode":null,"cancelReason":null,"usdAmount":10.00,"vesAmount":2100.00,"bcvRate":210,"feeVes":31.50,"netVes":2068.50,"merchantId":null,"applicationFeePercent":null,"applicationFeeVes":null,"sellerNetVes":null,"debtorBankCode":"0134","debtorId":"V***678","debtorCellPhone":"0414***4567","cardLast4":null,"cardBrand":null,"bankReference":"903144721","operationId":null,"description":null,"checkoutSession":null,"reversedAt":null,"reversalRef":null,"reversalType":null,"chargebacks":[],"livemode":false,"createdAt":"2026-11-21T02:13:00.000Z","expiresAt":"2026-11-21T02:28:00.000Z","completedAt":"2026-11-21T02:13:04.120Z","availableAt":"2026-11-22T02:13:04.120Z"}"#)
}
