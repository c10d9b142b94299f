//! The description of the calls that the page of a checkout session makes.

use super::{bolivares, read_network, read_pesos, read_quantity};
use crate::chapters;
use crate::fields::{Invalid, Kind as _, body, read};
use crate::openapi::document::Chapter;
use crate::openapi::kinds;
use crate::openapi::operation::{Operation, operation};
use crate::openapi::schema::{Schema, text};
use crate::openapi::values::page;
use crate::query::Query;
use domain::resources::banks::Catalogue;
use domain::values::ids::Id;

/// The rate limit of calls that have messages sent, in words.
const MESSAGES: &str = "At most ten in a row, and then one a minute, of a session and, on a payment link, of \
    a client to one phone; of all clients to that phone 30, and then three a minute: every one may have the \
    payer's bank send a code.";

pub fn sessions() -> Chapter {
    Chapter {
        tag: chapters::CHECKOUT_SESSIONS,
        about: "A page on which a buyer pays once, priced in US dollars: send the buyer to `url`, or embed \
            it with `clientSecret` and `/checkout.js`.",
        schemas: vec![
            ("NewCheckoutSession", body(|fields| super::sessions::read_new(fields, false))),
            (
                "CheckoutSession",
                super::sessions::schema().member(
                    "clientSecret",
                    text().about("Opens this session for a buyer's page, and nothing else."),
                ),
            ),
            ("ListedCheckoutSession", super::sessions::schema()),
            ("ListedCheckoutSessionPage", page("ListedCheckoutSession")),
        ],
        ..Chapter::default()
    }
}

pub fn chapter() -> Chapter {
    Chapter {
        tag: chapters::CHECKOUT_PAGE,
        about: "The calls of a buyer's page, for those who build their own. `Authorization: Bearer \
            <clientSecret>` opens one session and nothing else. One attempt at a time: a new one supersedes \
            what is pending. A body has at most 16 KiB.",
        operations: operations(),
        schemas: schemas(),
        ..Chapter::default()
    }
}

pub(crate) fn pays(operation: Operation) -> Operation {
    operation
        .refuses(404, &["not_found"])
        .refuses(
            409,
            &[
                "session_paid",
                "session_expired",
                "charge_in_progress",
                "method_not_offered",
                "merchant_inactive",
            ],
        )
        .refuses(503, &["rail_not_configured", "rail_unavailable", "rate_unavailable"])
}

pub fn asked_attempt(mut query: Query<'_>) -> Result<Option<Id>, Invalid> {
    let payment = kinds::id().about("A payment of this session: the answer then says how that stands too.");
    Ok(read!(query { optional attempt = "attempt", payment; } => attempt))
}

fn operations() -> Vec<Operation> {
    vec![
        operation("getCheckoutState", "Where the session stands").query(asked_attempt).answers(
            200,
            "CheckoutState",
            "Its state, and by what it can be paid now",
        ),
        pays(operation("requestCheckoutC2p", "Begin to pay by C2P"))
            .body("CheckoutDebtor")
            .example(
                "a payer at Banesco",
                r#"{"debtorId":"V12345678","debtorCellPhone":"04141234567","debtorBankCode":134}"#,
            )
            .about(MESSAGES)
            .answers(201, "C2pIntent", "The intent"),
        pays(operation("payCheckoutC2p", "Pay by C2P"))
            .body("CheckoutC2p")
            .example(
                "the payer's key",
                concat!(
                    r#"{"intentId":"01975a2e-7c00-7000-8000-000000000000","debtorId":"V12345678","#,
                    r#""debtorCellPhone":"04141234567","debtorBankCode":134,"token":"12345678"}"#,
                ),
            )
            .answers(200, "CheckoutState", "The state after the charge, with `failureCode` if it failed")
            .refuses(409, &["intent_mismatch", "intent_canceled", "intent_failed"]),
        pays(operation("payCheckoutPagoMovil", "Pay by a Pago Móvil that the buyer made"))
            .body("CheckoutPagoMovil")
            .example(
                "a transfer of today",
                concat!(
                    r#"{"debtorId":"V12345678","debtorCellPhone":"04141234567","debtorBankCode":134,"#,
                    r#""reference":"00123456","date":"2026-11-21"}"#,
                ),
            )
            .about(
                "The state's `pagoMovil` says where to and how much; its `quote` keeps that amount for \
                 this session, whatever the rate is when the transfer is looked for. A transfer pays for one \
                 thing. At most ten tries in a row, and then one a minute, of a session and of a client at \
                 one shop, together with those by card.",
            )
            .answers(
                200,
                "CheckoutState",
                "The state after it, with `failureCode` if the transfer was not \
                 found; `processing` while the bank's notice is waited for",
            )
            .refuses(409, &["reference_already_used"]),
        pays(operation("payCheckoutCard", "Pay by card, or make a token of it"))
            .body("CheckoutCard")
            .example(
                "an approved card of test mode",
                concat!(
                    r#"{"card":{"number":"4111111111111111","expMonth":12,"expYear":2030,"cvv":"123","#,
                    r#""holderName":"Ana Perez","holderId":"V12345678"}}"#,
                ),
            )
            .about(
                "With `tokenize` nothing is charged: the answer is a token, with which `chargeCard` \
                 charges the card once, within 15 minutes, for the account whose session this is. The card \
                 waits in memory alone and is zeroed after. In live mode no rail takes cards.",
            )
            .refuses(409, &["amount_changed"])
            .answers(200, "CheckoutState", "The state after the charge, with `failureCode` if it failed")
            .answers(201, "MadeCardToken", "The token, if one was asked for"),
        pays(operation("payCheckoutCop", "Pay in pesos"))
            .body("CheckoutCop")
            .example("by QR", r#"{"channel":"qr"}"#)
            .about(
                "The total is the dollars times the market's rate and 2.5 percent, rounded up to whole \
                 pesos. It is fixed by this call; a new start fixes a new one. At most ten begin in a row in \
                 a session, and then one a minute; by a client at one shop sixty, and then ten a minute; by \
                 push and SMS as many as of `requestCheckoutC2p` besides, together with those.",
            )
            .answers(201, "CopPayment", "The payment in pesos, with what the buyer does next")
            .answers(
                202,
                "CopPayment",
                "In live mode: nobody knows yet what the buyer does next, or whether \
                 the processor has the payment; it is asked",
            )
            .refuses(400, &["amount_below_minimum"])
            .refuses(403, &["cop_not_enabled"]),
        pays(operation("submitCheckoutOtp", "Submit the SMS code of a payment in pesos"))
            .body("CopOtp")
            .example("the right one of test mode", r#"{"otp":"123456"}"#)
            .answers(200, "CheckoutState", "The state after it")
            .refuses(400, &["invalid_otp"])
            .about(
                "Five codes may be tried of an attempt; when the fifth is wrong too, it fails with \
                 `otp_attempts_exhausted`, and another may begin. In live mode two may be tried.",
            )
            .refuses(409, &["payment_not_pending", "channel_mismatch", "otp_attempts_exhausted"]),
        pays(operation("payCheckoutUsdt", "Pay in USDT"))
            .body("CheckoutUsdt")
            .example("on Tron", r#"{"network":"TRC20","asset":"USDT"}"#)
            .about(
                "A USDT is a dollar. The session is paid when what came to its addresses reaches the \
                 amount, whatever the networks.",
            )
            .answers(201, "CheckoutAddress", "Where to, and how much")
            .answers(200, "CheckoutAddress", "The same, asked for again")
            .refuses(403, &["usdt_not_enabled"]),
        operation("openLinkSession", "Open a session of a payment link")
            .about(
                "What `/pay/{slug}` does for a buyer. Needs no key. A client opens at most 50 sessions of \
                 a link in a row, and then one a second; all together 500, and then 20 a second. Links that \
                 are not there are counted too: `[limits] misses_burst`.",
            )
            .body_optional("LinkQuantity")
            .example("two", r#"{"quantity":2}"#)
            .answers(201, "CheckoutSession", "The session with its clientSecret")
            .refuses(400, &["invalid_json", "invalid_data"])
            .refuses(404, &["not_found"])
            .refuses(408, &["request_timeout"])
            .refuses(413, &["payload_too_large"])
            .refuses(415, &["unsupported_media_type"])
            .refuses(429, &["rate_limited"])
            .refuses(500, &["internal_error"])
            .refuses(503, &["overloaded", "shutting_down", "storage_unavailable"]),
    ]
}

fn schemas() -> Vec<(&'static str, Schema)> {
    let banks = Catalogue::embedded();
    vec![
        ("CheckoutState", super::state_schema()),
        ("CheckoutDebtor", body(|fields| bolivares::read_request(fields, &banks))),
        ("CheckoutC2p", body(|fields| bolivares::read_execution(fields, &banks))),
        ("CheckoutPagoMovil", body(|fields| bolivares::read_transfer(fields, &banks))),
        ("CheckoutCard", body(bolivares::read_card_call)),
        ("MadeCardToken", bolivares::token_schema()),
        ("CheckoutCop", body(|fields| read_pesos(fields, false))),
        ("CheckoutUsdt", body(read_network)),
        ("CheckoutAddress", super::address_schema()),
        ("LinkQuantity", body(read_quantity)),
    ]
}
