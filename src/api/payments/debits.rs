//! POST /v1/payments/debit/otp and /v1/payments/debit: immediate debit with a code of the payer's
//! bank (`docs/contract.md, 5.7`).

use super::show::CHAPTER;
use crate::answer::{Facts, Rendered};
use crate::endpoint::{Context, Handler, endpoints, run, shown};
use crate::fields::{Fields, Got, Invalid, Kind, gather, kind, read};
use crate::openapi::{kinds, schema, values};
use crate::payments::card_tokens::Mark;
use crate::payments::{offering, ves_amount};
use crate::payouts::CONCEPT_MAX;
use crate::problem::Problem;
use crate::respond::Reply;
use crate::value::Value;
use domain::entities::means::{Debtor, Means};
use domain::entities::otp::{Otp, Status};
use domain::resources::banks::{Catalogue, Service};
use domain::resources::payments::charge::{NewCharge, Price, Secret};
use domain::resources::payments::otp::NewOtp;
use domain::values::ids::{EntityId, Id};
use domain::values::money::Ves;
use domain::values::token::Token;

const NAME_MAX: usize = 100;

/// The fields that the bodies of both steps have.
fn details(fields: &mut Fields<'_>, banks: &Catalogue) -> Got<(Debtor, Ves)> {
    const NO_DEBIT: &str = "must be a bank that offers immediate debit; see GET /v1/banks";
    gather!(fields {
        required bank = "banco", offering(banks, Service::Debit, NO_DEBIT);
        required amount = "monto", ves_amount();
        required phone = "telefono", kinds::phone();
        required id = "cedula", kinds::identity();
    } => (Debtor { bank, id, phone }, amount))
}

endpoints! { CHAPTER;
    REQUEST_OTP = run!(request_otp), "Have the payer's bank send a debit code" => {
        body "DebitOtpRequest";
        example "a code for 500 VES",
            r#"{"banco":"0134","monto":500.00,"telefono":"04141234567","cedula":"V12345678"}"#;
        answers 201, "DebitOtp", "What the bank said";
        answers 202, "DebitOtp", "The bank has not answered yet";
        refuses 409, &["otp_refused"];
        refuses 503, &["rail_not_configured", "rail_unavailable"];
    } shows otp_requested;
    CHARGE = run!(charge), "Debit an account with the payer's code" => {
        about "`monto` is in bolívares; `usdAmount` of the payment is what it is at the BCV rate. After an \
            attempt that failed the same `externalRef` takes another code.";
        body "DebitCharge";
        example "500 VES",
            r#"{"banco":"0134","monto":500.00,"telefono":"04141234567","cedula":"V12345678",
            "nombre":"Ana Perez","otp":"12345678","concepto":"factura 81","externalRef":"order-3"}"#;
        answers 201, "Payment", "The new payment, completed or failed";
        answers 200, "Payment", super::REPEATED;
        answers 202, "Payment", "The bank has not answered yet";
        refuses 409, &super::CREATES[..2];
        refuses 503, &["rate_unavailable", "rail_not_configured", "rail_unavailable"];
    } shows super::charged;
}

async fn request_otp(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (debtor, amount) = read_request(Fields::parse(&cx.body)?, cx.banks)?;
    let id = cx.env.new_id();
    let mut new = NewOtp { id, debtor, amount, answer: None };
    if cx.caller.livemode() {
        cx.server()?.send_debit_code(&mut new).await?;
    }
    cx.make(EntityId::otp(id), new).await
}

/// Reads the body of a request for a code: the payer, and how much is to be paid.
pub(super) fn read_request(mut fields: Fields<'_>, banks: &Catalogue) -> Result<(Debtor, Ves), Invalid> {
    Ok(read!(fields { got details = details(&mut fields, banks); } => details))
}

async fn charge(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let new = read_charge(Fields::parse(&cx.body)?, cx.banks, cx.env.new_id(), &|parts: &[&[u8]]| {
        cx.env.mark(parts)
    })?;
    let new = NewCharge { rate: cx.env.bcv_rate(), ..new };
    cx.server()?.charge(new, None).await
}

pub(super) fn read_charge(
    mut fields: Fields<'_>,
    banks: &Catalogue,
    id: Id,
    mark: Mark<'_>,
) -> Result<NewCharge, Invalid> {
    Ok(read!(fields {
        got details = details(&mut fields, banks);
        required name = "nombre", kinds::trimmed(1..=NAME_MAX) => name.into_owned();
        required otp = "otp", code();
        required concept = "concepto", kinds::trimmed(1..=CONCEPT_MAX) => concept.into_owned();
        required external_ref = "externalRef", kinds::external_ref();
    } => {
        let (debtor, amount) = details;
        let code_mark = mark(&[b"debit code", external_ref.as_bytes(), otp.reveal().as_bytes()]);
        let means = Means::Debit { debtor, name, code_mark };
        let price = Price::Ves { amount, field: "monto" };
        NewCharge { description: Some(concept), ..NewCharge::new(id, external_ref, price, means, Secret::Token(otp)) }
    }))
}

fn code<'a>() -> impl Kind<'a, Token> {
    kind(
        |value: Value<'a>| value.text_as(Token::parse_debit),
        || {
            let digits = schema::text().pattern("^[0-9]{4,8}$");
            digits.about("The code of the payer's bank, 4 to 8 digits, as a string.")
        },
    )
}

/// The answer to a request for a code: 202 while the bank is silent.
fn otp_requested(facts: &Facts<'_>) -> Option<Rendered> {
    let otp: &Otp = facts.the()?;
    let status = if otp.status == Status::Pending { 202 } else { 201 };
    Some((status, show_otp(otp)))
}

shown! {
    fn show_otp(otp: &Otp), otp_schema, 512 {
        boolean "requested" = otp.status != Status::Failed, schema::boolean();
        plain "operationId" = otp.operation(), values::uuid();
        plain "expiresAt" = otp.expires_at, values::instant();
        maybe text "failureCode" = otp.failure_code.as_deref(), schema::text();
        boolean "livemode" = otp.livemode, values::livemode();
    }
}
