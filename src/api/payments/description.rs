//! Collections in bolívares, as the description tells of them.

use super::show::CHAPTER;
use super::{c2p, cards, debits, methods, show, transfers};
use crate::fields::body;
use crate::openapi::document::{Chapter, schemas};
use crate::openapi::schema::{Schema, boolean, integer, object, text};
use crate::openapi::values::{items, page, uuid, ves};
use domain::resources::banks::Catalogue;
use domain::values::ids::Id;

pub fn chapter() -> Chapter {
    let banks = Catalogue::embedded();
    let id = Id::from_bytes([0; 16]);
    Chapter {
        tag: CHAPTER,
        about: "Collecting from a payer in Venezuela: C2P (a one-time code of the payer's bank), card, \
            immediate debit, and transfers that the payer made by Pago Móvil. What is collected is held for \
            24 hours, then available.",
        schemas: schemas! {
            "C2pRequest" = body(|fields| c2p::read_request(fields, &banks));
            "C2pCharge" = body(|fields| c2p::read_execution(fields, &banks, &|_| [0; 16]));
            "C2pIntent" = c2p::intent_schema(),
                example r#"{"intentId":"01975a2e-7c00-7000-8000-000000000000","otpRequested":false,
                "status":"PENDING","usdAmount":10.00,"vesAmount":2100.00,"bcvRate":210,
                "expiresAt":"2026-11-21T02:28:00.000Z","externalRef":"order-1","livemode":false}"#;
            "C2pPayment" = c2p_payment();
            "CardCharge" = body(|fields| cards::read_charge(fields, &|_| None));
            "Card" = body(cards::read_card);
            "CardToken" = body(|fields| cards::read_token(fields, &|_| None));
            "DebitOtpRequest" = body(|fields| debits::read_request(fields, &banks));
            "DebitOtp" = debits::otp_schema(),
                example r#"{"requested":true,"operationId":"01975a2e-7c00-7000-8000-000000000001",
                "expiresAt":"2026-11-21T02:18:00.000Z","failureCode":null,"livemode":false}"#;
            "DebitCharge" = body(|fields| debits::read_charge(fields, &banks, id, &|_| [0; 16]));
            "PagoMovilAccount" = transfers::account_schema(), example r#"{"bankCode":"0134","phone":"04141234567","identification":"J123456789"}"#;
            "PagoMovilVerification" = body(|fields| transfers::read(fields, &banks));
            "Payment" = payment();
            "PaymentChargeback" = show::chargeback_schema();
            "PaymentPage" = page("Payment");
            "Operation" = super::operations::schema(),
                example r#"{"operationId":"01975a2e-7c00-7000-8000-000000000001","kind":"charge",
                "status":"completed","code":null,"reference":"903144721","contradicted":false,
                "paymentId":"01975a2e-7c00-7000-8000-000000000000","payoutId":null,
                "createdAt":"2026-11-21T02:13:00.000Z","updatedAt":"2026-11-21T02:13:04.120Z"}"#;
            "CollectionMethod" = methods::schema(), example r#"{"method":"C2P","enabled":true,"currency":"VES","reason":null}"#;
            "CollectionMethodList" = items("CollectionMethod");
        },
        ..Chapter::default()
    }
}

const PAYMENT: &str = r#"{"id":"01975a2e-7c00-7000-8000-000000000000",
    "paymentId":"01975a2e-7c00-7000-8000-000000000000","object":"payment",
    "externalRef":"order-1","attempt":1,"status":"COMPLETED","method":"C2P","failureCode":null,
    "cancelReason":null,"usdAmount":10.00,"vesAmount":2100.00,"bcvRate":210,"feeVes":31.50,
    "netVes":2068.50,"merchantId":null,"applicationFeePercent":null,"applicationFeeVes":null,
    "sellerNetVes":null,"debtorBankCode":"0134","debtorId":"V***678",
    "debtorCellPhone":"0414***4567","cardLast4":null,"cardBrand":null,
    "bankReference":"903144721","operationId":null,"description":null,"checkoutSessionId":null,
    "reference":null,"checkoutSession":null,"reversedAt":null,"reversalRef":null,
    "reversalType":null,"chargebacks":[],"livemode":false,
    "createdAt":"2026-11-21T02:13:00.000Z","expiresAt":"2026-11-21T02:28:00.000Z",
    "completedAt":"2026-11-21T02:13:04.120Z","availableAt":"2026-11-22T02:13:04.120Z"}"#;

/// A payment of any kind.
pub fn payment() -> Schema {
    payment_members().example(PAYMENT)
}

/// A payment by C2P, with the members by which whoever asked for an intent goes on.
fn c2p_payment() -> Schema {
    let example = PAYMENT.replacen(
        '{',
        r#"{"intentId":"01975a2e-7c00-7000-8000-000000000000","otpRequested":false,"#,
        1,
    );
    payment_members()
        .member("intentId", uuid().about("Equal to `id`."))
        .member("otpRequested", boolean())
        .example(&example)
}

fn payment_members() -> Schema {
    show::schema()
        .optional("channel", text())
        .optional("amountCop", integer())
        .optional("feeCop", integer().or_null())
        .optional("netCop", integer().or_null())
        .optional("applicationFeeCop", integer().or_null())
        .optional("sellerNetCop", integer().or_null())
        .optional("metadata", object().or_null())
        .optional("amountUsd", ves().about("With `copRate`, of what was paid through a checkout session."))
        .optional("copRate", text().or_null())
        .optional("copMarketRate", text().or_null())
}
