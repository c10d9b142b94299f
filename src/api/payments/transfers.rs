//! POST /v1/payments/pago-movil/verify: looks for a transfer that the payer made, and lets it pay
//! once (`docs/contract.md, 5.8`).

use crate::chapters;
use crate::endpoint::{Context, Endpoint, endpoint, run};
use crate::fields::{Fields, Invalid, Kind, kind};
use crate::openapi::operation::summary;
use crate::openapi::{kinds, schema, values};
use crate::payments::debits::offering;
use crate::payments::price;
use crate::problem::Problem;
use crate::respond::Reply;
use crate::shown::shown;
use crate::value::Value;
use domain::entities::means::{Debtor, Means};
use domain::platform::settings::Receiver;
use domain::resources::banks::{Catalogue, Service};
use domain::resources::payments::charge::{NewCharge, Price, Secret};
use domain::values::text::ExternalRef;

/// POST /v1/payments/pago-movil/verify
pub const VERIFY: Endpoint = endpoint(chapters::PAYMENTS, run!(verify), || {
    summary("Verify a Pago Móvil transfer")
        .about(
            "Looks for a transfer that the payer made to you. A transfer (bank, day, full reference) pays \
            for one thing. One that was not found is looked for again at each call, as a new attempt.",
        )
        .body("PagoMovilVerification")
        .example(
            "a transfer of today",
            concat!(
                r#"{"usdAmount":10,"reference":"00123456","phone":"04141234567","bankCode":"0134","#,
                r#""date":"2026-11-21","debtorId":"V12345678","externalRef":"order-4"}"#,
            ),
        )
        .answers(201, "Payment", "The new payment: completed, or failed with `reference_not_found`")
        .answers(200, "Payment", super::REPEATED)
        .answers(202, "Payment", "The bank has not answered yet")
        .refuses(
            409,
            &["external_ref_conflict", "payment_in_progress", "charge_in_progress", "reference_already_used"],
        )
        .refuses(503, &["rate_unavailable", "rail_not_configured", "rail_unavailable"])
})
.shows(super::charged);

/// GET /v1/payments/pago-movil/account
pub const ACCOUNT: Endpoint = endpoint(chapters::PAYMENTS, run!(account), || {
    summary("Read the account that buyers send a Pago Móvil to")
        .about("The setting `shop.pagoMovil`, which an operator makes.")
        .answers(200, "PagoMovilAccount", "The account; all members are null where none is set")
});

async fn account(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let shop = &cx.caller.tenant.tenant_settings.settings.shop;
    Ok(Reply::json(200, show_account(shop.pago_movil)))
}

shown! {
    /// The account to which buyers send a Pago Móvil, as JSON.
    fn show_account(account: Option<Receiver>), account_schema, 128 {
        maybe_plain "bankCode" = account.map(|account| account.bank), values::bank_code();
        maybe_plain "phone" = account.map(|account| account.phone.clear()), schema::text();
        maybe_plain "identification" = account.map(|account| account.id.clear()), schema::text();
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
    let price = price(&mut fields);
    let reference = fields.required("reference", reference());
    let phone = fields.required("phone", kinds::phone());
    let bank = fields.required("bankCode", offering(banks, Service::PagoMovil, NO_PAGO_MOVIL));
    let day = kinds::day().about("The transfer's day in Caracas: not in the future, at most 30 days ago.");
    let date = fields.required("date", day);
    let id = fields.required("debtorId", kinds::identity());
    let external_ref = fields.required("externalRef", kinds::external_ref());
    let sound = fields.finish()?;
    let debtor = Debtor { bank: bank.get(&sound), id: id.get(&sound), phone: phone.get(&sound) };
    Ok(Asked {
        price: price.get(&sound),
        means: Means::Transfer { debtor, date: date.get(&sound), reference: reference.get(&sound) },
        external_ref: external_ref.get(&sound),
    })
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
