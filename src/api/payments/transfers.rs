//! POST /v1/payments/pago-movil/verify: looks for a transfer that the payer made, and lets it pay
//! once (`docs/contract.md, 5.8`).

use super::show::CHAPTER;
use crate::endpoint::{Context, Handler, endpoints, run, shown};
use crate::fields::{Fields, Invalid, Kind, kind, read};
use crate::openapi::{kinds, schema, values};
use crate::payments::offering;
use crate::payments::price;
use crate::problem::Problem;
use crate::respond::Reply;
use crate::value::Value;
use domain::entities::means::{Debtor, Means};
use domain::platform::settings::Receiver;
use domain::resources::banks::{Catalogue, Service};
use domain::resources::payments::charge::{NewCharge, Price, Secret};
use domain::values::text::ExternalRef;

endpoints! { CHAPTER;
    VERIFY = run!(verify), "Verify a Pago Móvil transfer" => {
        about "Looks for a transfer that the payer made to you. A transfer (bank, day, full reference) pays \
            for one thing. One that was not found is looked for again at each call, as a new attempt.";
        body "PagoMovilVerification";
        example "a transfer of today",
            r#"{"usdAmount":10,"reference":"00123456","phone":"04141234567","bankCode":"0134",
                "date":"2026-11-21","debtorId":"V12345678","externalRef":"order-4"}"#;
        answers 201, "Payment", "The new payment: completed, or failed with `reference_not_found`";
        answers 200, "Payment", super::REPEATED;
        answers 202, "Payment", "The bank has not answered yet";
        refuses 409,
            &["external_ref_conflict", "payment_in_progress", "charge_in_progress", "reference_already_used"];
        refuses 503, &["rate_unavailable", "rail_not_configured", "rail_unavailable"];
    } shows super::charged;
    ACCOUNT = run!(account), "Read the account that buyers send a Pago Móvil to" => {
        about "The setting `shop.pagoMovil`, which an operator makes.";
        answers 200, "PagoMovilAccount", "The account; all members are null where none is set";
    };
}

async fn account(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let shop = &cx.caller.tenant.tenant_settings.settings.shop;
    Ok(Reply::json(200, show_account(shop.pago_movil)))
}

shown! {
    fn show_account(account: Option<Receiver>), account_schema, 128 {
        maybe plain "bankCode" = account.map(|account| account.bank), values::bank_code();
        maybe plain "phone" = account.map(|account| account.phone.clear()), schema::text();
        maybe plain "identification" = account.map(|account| account.id.clear()), schema::text();
    }
}

async fn verify(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let Asked { price, means, external_ref } = read(Fields::parse(&cx.body)?, cx.banks)?;
    let new = NewCharge {
        rate: cx.env.bcv_rate(),
        notice_wait_ms: if cx.caller.livemode() { cx.env.notice_wait_ms() } else { 0 },
        ..NewCharge::new(cx.env.new_id(), external_ref, price, means, Secret::None)
    };
    cx.server()?.charge(new, None).await
}

pub(super) struct Asked {
    price: Price,
    means: Means,
    external_ref: ExternalRef,
}

pub(super) fn read(mut fields: Fields<'_>, banks: &Catalogue) -> Result<Asked, Invalid> {
    const NO_PAGO_MOVIL: &str = "must be a bank that offers Pago Móvil; see GET /v1/banks";
    let day = kinds::day().about("The transfer's day in Caracas: not in the future, at most 30 days ago.");
    Ok(read!(fields {
        got price = price(&mut fields);
        required reference = "reference", reference();
        required phone = "phone", kinds::phone();
        required bank = "bankCode", offering(banks, Service::PagoMovil, NO_PAGO_MOVIL);
        required date = "date", day;
        required id = "debtorId", kinds::identity();
        required external_ref = "externalRef", kinds::external_ref();
    } => Asked { price, means: Means::Transfer { debtor: Debtor { bank, id, phone }, date, reference }, external_ref }))
}

/// The last digits of a reference, as the payer typed them: 4 to 20. Zeros at their beginning may stand in
/// the middle of the bank's reference, so they are kept.
fn reference<'a>() -> impl Kind<'a, String> {
    kind(
        |value: Value<'a>| Ok(value.digits(4..=20)?.into_owned()),
        || {
            let digits = schema::text().pattern("^[0-9]{4,20}$");
            digits.about("The digits of the reference that the payer knows; leading zeros tell nothing.")
        },
    )
}
