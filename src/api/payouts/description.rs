//! Payouts in bolívares, as the description tells of them.

use super::CHAPTER;
use super::{Form, batches, own_account, read_new, verification};
use crate::fields::body;
use crate::openapi::document::Chapter;
use crate::openapi::schema::{Schema, any_of, list, named, object};
use crate::openapi::values::{livemode, page, shown_ref, uuid};
use domain::resources::banks::Catalogue;
use domain::values::ids::Id;

pub fn chapter() -> Chapter {
    let banks = Catalogue::embedded();
    let of = |form: Form| {
        let id = Id::from_bytes([0; 16]);
        (form.schema(), body(|fields| read_new(fields, form, id, &banks)))
    };
    let batch_of = |form: Form| body(|fields| batches::read(fields, form, drop));
    let (merchant, item) = (Form::Merchant { alone: true }, Form::Merchant { alone: false });
    Chapter {
        tag: CHAPTER,
        about: "Money out of the balance in bolívares, to merchants, phones, accounts and yourself, single \
            or up to 1,000 at once. The debit is durable before the bank is called; if a payout fails, the \
            money returns to the balance. The same `externalRef` with the same payload never pays twice.",
        schemas: vec![
        of(merchant),
        of(item),
        ("MerchantPayoutBatch", batch_of(item)),
        of(Form::Own),
        of(Form::Credit),
        ("PhoneCreditBatch", batch_of(Form::Credit)),
        of(Form::Account),
        ("AccountCreditBatch", batch_of(Form::Account)),
        of(Form::Change),
        ("Payout", payout()),
        (
            "RefusedItem",
            batches::refused_schema().example(r#"{"payoutId":null,"status":"failed","reference":null,"failureCode":"insufficient_balance",
                "externalRef":"batch-1-b","merchantId":"01975a2e-7c00-7000-8000-0000000000ab",
                "payoutMethodId":null,"merchantName":null,"monto":"55.10","concepto":"liquidacion",
                "bankCode":null,"destination":null,"operationId":null,"createdAt":null,"settledAt":null,
                "error":"the available balance does not cover the amount, so nothing was debited; pay at most availableVes or wait for what is held: GET /v1/balance says when"}"#),
        ),
        (
            "PayoutBatch",
            object().member("batchId", uuid()).member("externalRef", shown_ref()).member("items", list(any_of([named("Payout"), named("RefusedItem")]))).member("livemode", livemode()),
        ),
        ("PayoutPage", page("Payout")),
        ("NewPayoutAccount", body(|fields| own_account::read_phone(fields, &banks))),
        (
            "PayoutAccount",
            own_account::schema().example(r#"{"object":"payout_account","bankCode":"0134","phone":"04141234567",
                "identification":"J123456789","status":"verified","livemode":false,
                "createdAt":"2026-11-21T02:13:00.000Z","updatedAt":"2026-11-21T02:15:00.000Z",
                "verifiedAt":"2026-11-21T02:15:00.000Z"}"#),
        ),
        ("SeenAmounts", body(verification::read_seen)),
    ],
        ..Chapter::default()
    }
}

pub fn payout() -> Schema {
    super::schema().example(
        r#"{"payoutId":"01975a2e-7c00-7000-8000-0000000000b0","object":"payout","kind":"merchant",
        "status":"completed","reference":"903144722","failureCode":null,"externalRef":"payout-1",
        "batchId":null,"merchantId":"01975a2e-7c00-7000-8000-0000000000aa",
        "payoutMethodId":"01975a2e-7c00-7000-8000-0000000000ac","merchantName":"Bodega La Esquina",
        "paymentId":null,"monto":"100.00","feeVes":"0.00","concepto":"liquidacion",
        "bankCode":"0134","destination":"…4321","fromMerchantBalance":false,"operationId":null,
        "livemode":false,"createdAt":"2026-11-22T02:14:00.000Z",
        "settledAt":"2026-11-22T02:14:00.310Z"}"#,
    )
}
