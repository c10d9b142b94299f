//! What the page of a checkout session calls, as the description tells of it.

use super::document::Chapter;
use super::operation::{Operation, operation};
use super::schema::{Schema, boolean, integer, list, named, object, one_of, text};
use super::values::{bank_number, identity, phone, uuid, ves};

const WAYS: [&str; 3] = ["c2p", "usdt", "cop"];

/// The chapter.
pub fn chapter() -> Chapter {
    Chapter {
        tag: "Checkout page",
        about: "The calls of a buyer's page, for those who build their own. `Authorization: Bearer <clientSecret>` opens one session and nothing else. One attempt at a time: a new one supersedes what is pending.",
        operations: operations(),
        schemas: schemas(),
        ..Chapter::default()
    }
}

fn pays(operation: Operation) -> Operation {
    operation.refuses(409, &["session_paid", "session_expired", "charge_in_progress"]).refuses(503, &["rail_not_configured", "rate_unavailable"])
}

fn operations() -> Vec<Operation> {
    vec![
        operation("getCheckoutState", "Where the session stands").answers(200, "CheckoutState", "Its state, and by what it can be paid now"),
        pays(operation("requestCheckoutC2p", "Begin to pay by C2P"))
            .body("CheckoutDebtor")
            .example("a payer at Banesco", r#"{"debtorId":"V12345678","debtorCellPhone":"04141234567","debtorBankCode":134}"#)
            .answers(201, "C2pIntent", "The intent")
            .refuses(409, &["external_ref_conflict"]),
        pays(operation("payCheckoutC2p", "Pay by C2P"))
            .body("CheckoutC2p")
            .example("the payer's key", r#"{"intentId":"01975a2e-7c00-7000-8000-000000000000","debtorId":"V12345678","debtorCellPhone":"04141234567","debtorBankCode":134,"token":"12345678"}"#)
            .answers_with(200, named("CheckoutCharge"), "The state after the charge, with `failureCode` if it failed")
            .refuses(409, &["intent_mismatch", "intent_canceled", "intent_failed", "intent_completed"]),
        pays(operation("payCheckoutCop", "Pay in pesos"))
            .body("CheckoutCop")
            .example("by QR", r#"{"channel":"qr"}"#)
            .answers(201, "CopPayment", "The payment in pesos, with what the buyer does next"),
        pays(operation("payCheckoutUsdt", "Pay in USDT"))
            .body("CheckoutUsdt")
            .example("on Tron", r#"{"network":"TRC20","asset":"USDT"}"#)
            .answers(201, "CheckoutAddress", "Where to, and how much"),
        operation("openLinkSession", "Open a session of a payment link")
            .about("What `/pay/{slug}` does for a buyer. Needs no key.")
            .body_optional("LinkQuantity")
            .example("two", r#"{"quantity":2}"#)
            .answers(201, "CheckoutSession", "The session with its clientSecret")
            .refuses(400, &["invalid_json", "invalid_data"])
            .refuses(404, &["not_found"])
            .refuses(408, &["request_timeout"])
            .refuses(413, &["payload_too_large"])
            .refuses(415, &["unsupported_media_type"])
            .refuses(500, &["internal_error"])
            .refuses(503, &["overloaded", "shutting_down", "storage_unavailable"]),
    ]
}

fn state() -> Schema {
    let offer = object()
        .member("method", one_of(WAYS))
        .member("enabled", boolean())
        .member("reason", text().or_null())
        .member("amountCop", integer().or_null().about("The total in pesos that a start now would fix."));
    object()
        .member("status", one_of(["open", "processing", "paid", "expired"]))
        .member("amountUsd", ves())
        .member("methods", list(offer))
        .member("paymentId", uuid().or_null())
        .member("receivedUsdt", ves().or_null())
}

fn schemas() -> Vec<(&'static str, Schema)> {
    let debtor = || object().member("debtorId", identity()).member("debtorCellPhone", phone()).member("debtorBankCode", bank_number());
    vec![
        ("CheckoutState", state()),
        ("CheckoutCharge", state().member("failureCode", text().or_null())),
        ("CheckoutDebtor", debtor().closed()),
        ("CheckoutC2p", object().member("intentId", uuid()).and(debtor()).member("token", text().pattern("^[0-9]{6,8}$")).closed()),
        ("CheckoutCop", object().member("channel", one_of(["qr", "push", "sms"])).optional("buyer", named("CopBuyer").or_null()).closed()),
        ("CheckoutUsdt", object().member("network", one_of(["TRC20", "ERC20", "BEP20", "POLYGON"])).member("asset", one_of(["USDT", "USDC"])).closed()),
        ("CheckoutAddress", object().member("address", text()).member("amountUsdt", ves()).member("network", text()).member("asset", text())),
        ("LinkQuantity", object().optional("quantity", integer().range("1", "999").or_null()).closed()),
    ]
}
