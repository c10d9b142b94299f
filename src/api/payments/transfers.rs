//! POST /v1/payments/pago-movil/verify: looks for a transfer that the payer made, and lets it pay
//! once (`docs/contract.md, 5.8`).

use crate::fields::{Bad, Fields};
use crate::openapi::operation::summary;
use crate::payments::debits::offering;
use crate::payments::usd_amount;
use crate::plan::{Call, Plan, Work};
use crate::problem::Problem;
use crate::routes::{Endpoint, endpoint};
use crate::value::Value;
use domain::resources::banks::Service;
use domain::resources::payments::charge::{NewCharge, Price, Secret, Transfer};
use domain::resources::payments::{Debtor, Means};
use domain::values::date::Date;
use domain::values::external_ref::ExternalRef;
use domain::values::identity::IdentityDocument;
use domain::values::phone::MobilePhone;

/// POST /v1/payments/pago-movil/verify
pub const VERIFY: Endpoint = endpoint(crate::payments::description::TAG, verify, || {
    summary("Verify a Pago Móvil transfer")
        .about("Looks for a transfer that the payer made to you. A transfer (bank, day, full reference) pays for one thing.")
        .body("PagoMovilVerification")
        .example("a transfer of today", r#"{"usdAmount":10,"reference":"00123456","phone":"04141234567","bankCode":"0134","date":"2026-11-21","debtorId":"V12345678","externalRef":"order-4"}"#)
        .answers(201, "Payment", "The new payment: completed, or failed with `reference_not_found`")
        .answers(200, "Payment", "The payment that is there under this reference")
        .answers(202, "Payment", "The bank has not answered yet")
        .refuses(409, &["external_ref_conflict", "charge_in_progress", "reference_already_used"])
        .refuses(503, &["rate_unavailable", "rail_not_configured", "rail_unavailable"])
});

fn verify(call: &Call<'_>) -> Result<Plan, Problem> {
    let mut fields = Fields::parse(call.body)?;
    let usd = fields.required("usdAmount", usd_amount);
    let reference = fields.required("reference", read_reference);
    let phone = fields.required("phone", |value| value.text_as(MobilePhone::parse));
    let bank = fields.required("bankCode", |value| {
        offering(
            value,
            call.banks,
            Service::PagoMovil,
            "must be a bank that offers Pago Móvil; see GET /v1/banks",
        )
    });
    let date = fields.required("date", |value| value.text_as(Date::parse));
    let id = fields.required("debtorId", |value| value.text_as(IdentityDocument::parse));
    let external_ref = fields.required("externalRef", |value| value.text_as(ExternalRef::parse));
    let sound = fields.finish()?;
    let debtor = Debtor { bank: bank.get(&sound), id: id.get(&sound), phone: phone.get(&sound) };
    let (date, reference) = (date.get(&sound), reference.get(&sound));
    let external_ref = external_ref.get(&sound);
    let (id, price, rate) = (call.new_id(), Price::Usd(usd.get(&sound)), (call.bcv_rate)());
    let notice_wait_ms = if call.caller.livemode() { call.notice_wait_ms } else { 0 };
    Ok(Plan::Work(Work::ChargeTransfer(Box::new(NewCharge {
        id,
        external_ref,
        price,
        rate,
        means: Means::Transfer { debtor, date, reference },
        description: None,
        marketplace: None,
        secret: Secret::None,
        transfer: Transfer::Free,
        is_known: false,
        notice_wait_ms,
        checkout: None,
    }))))
}

/// The last digits of a reference, as the payer typed them: 4 to 20. Zeros at their beginning may stand in
/// the middle of the bank's reference, so they are kept.
fn read_reference(value: Value<'_>) -> Result<String, Bad> {
    Ok(value.digits(4..=20)?.into_owned())
}
