//! C2P: request, execute and reverse (`docs/contract.md, 5.4, 5.5, 5.10`).

use super::show::CHAPTER;
use super::show::{of_name, show};
use super::{bank_number, debtor_at, marketplace, price, settled};
use crate::answer::{Facts, Rendered};
use crate::endpoint::{Context, Handler, Target, endpoints, run, shown};
use crate::fields::{Fields, Got, Invalid, Kind, gather, kind, read};
use crate::openapi::{kinds, schema, values};
use crate::payments::card_tokens::Mark;
use crate::problem::Problem;
use crate::refusals::problem;
use crate::respond::Reply;
use crate::value::Value;
use crate::writer::Object;
use domain::entities::OfKind;
use domain::entities::means::{Debtor, Means};
use domain::entities::payment::{Payment, Status};
use domain::index::Space;
use domain::refusal::{PaymentRefusal, Refusal};
use domain::resources::banks::{Catalogue, Service, sends_otp};
use domain::resources::payments::charge::Price;
use domain::resources::payments::{self, c2p};
use domain::values::ids::{EntityId, Id};
use domain::values::text::ExternalRef;
use domain::values::token::Token;
use domain::values::venezuela::BankCode;

fn details(fields: &mut Fields<'_>, banks: &Catalogue) -> Got<(Price, Debtor, ExternalRef)> {
    gather!(fields {
        got price = price(fields);
        got debtor = debtor_at(fields, bank(banks));
        required external_ref = "externalRef", kinds::external_ref();
    } => (price, debtor, external_ref))
}

/// A bank that a payer may be charged at, by its number.
pub fn bank<'a>(banks: &Catalogue) -> impl Kind<'a, BankCode> {
    bank_number(banks, Service::C2p, "must be a bank that offers C2P; see GET /v1/banks")
}

endpoints! { CHAPTER;
    REQUEST = run!(request), "Request a C2P intent" => {
        about "Fixes the price in bolívares at the BCV rate for 15 minutes, and has the payer's bank send a \
            code if it does so (`otpRequested`); otherwise the payer makes the key in the app of the bank. \
            A newer request under the same `externalRef` takes the place of the pending one.";
        body "C2pRequest";
        example "10 USD from a payer at Banesco",
            r#"{"usdAmount":10,"debtorId":"V12345678","debtorCellPhone":"04141234567",
            "debtorBankCode":134,"externalRef":"order-1"}"#;
        answers 200, "C2pPayment", "The payment that is at its bank or paid under this reference";
        answers 201, "C2pIntent", "The intent";
        refuses 409, &["external_ref_conflict", "payment_in_progress"];
        refuses 503, &["rate_unavailable", "rail_not_configured", "rail_unavailable"];
    } shows intent;
    EXECUTE = run!(execute), "Charge a C2P intent" => {
        about "Repeats the details of the request and brings the payer's code. The bank is called once: what \
            it says is in `status` (`COMPLETED` or `FAILED` with `failureCode`). While the bank is silent \
            the answer is 202 and the payment `PENDING`; the server asks the bank until it knows, and \
            never charges twice.";
        body "C2pCharge";
        example "the key that the payer typed",
            r#"{"intentId":"01975a2e-7c00-7000-8000-000000000000","usdAmount":10,
                "debtorId":"V12345678","debtorCellPhone":"04141234567","debtorBankCode":134,
                "token":"12345678","externalRef":"order-1"}"#;
        example "a marketplace sale",
            r#"{"intentId":"01975a2e-7c00-7000-8000-000000000000","usdAmount":10,
                "debtorId":"V12345678","debtorCellPhone":"04141234567","debtorBankCode":134,
                "token":"12345678","externalRef":"order-1",
                "merchantId":"01975a2e-7c00-7000-8000-0000000000aa","applicationFeePercent":12.5}"#;
        answers 200, "Payment", "The payment, completed or failed";
        answers 202, "Payment", "The bank has not answered yet";
        refuses 404, &["not_found"];
        refuses 409, &[
            "intent_mismatch", "intent_canceled", "intent_failed", "intent_completed", "charge_in_progress",
            "merchant_inactive",
        ];
        refuses 503, &["rail_not_configured", "rail_unavailable"];
    } shows settled;
    REVERSE = run!(reverse), "Reverse a C2P payment" => {
        about "Within 24 hours of completion. The fee comes back. The money is taken from the hold of this \
            sale, then from what is available; of a marketplace sale the seller's part from the seller.";
        answers 200, "Payment", "The payment, reversed";
        answers 202, "Payment", "The bank is deciding; the payment stays `COMPLETED` until it has";
        refuses 409, &[
            "not_reversible", "payment_not_completed", "reversal_window_expired", "reversal_in_progress",
            "reversal_refused",
        ];
        takes_out;
        refuses 422, &["insufficient_balance"];
        refuses 503, &["rail_not_configured", "rail_unavailable"];
    } shows reversed;
}

async fn request(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (price, debtor, external_ref) = read_request(Fields::parse(&cx.body)?, cx.banks)?;
    let Some(rate) = cx.env.bcv_rate() else {
        // What no rail serves needs no price.
        let is_served = cx.env.serves(domain::rail::Service::C2p);
        return Err(problem(if is_served { &Refusal::RateUnavailable } else { &Refusal::RailNotConfigured }));
    };
    let figured = price.at(rate).map_err(|refusal| problem(&refusal))?;
    let id = cx.env.new_id();
    let name = String::from(&*external_ref);
    let bank = debtor.bank;
    let mut new = c2p::NewIntent {
        id,
        external_ref,
        price,
        figured,
        debtor,
        bank_sends_otp: sends_otp(bank),
        is_known: false,
        checkout: None,
    };
    let target = cx.reserve(Space::Payment, &name, EntityId::payment(id)).await?;
    let known = if let Target::Entity(known) = target { Some(known.id) } else { None };
    new.is_known = known.is_some();
    if cx.caller.livemode() {
        cx.server.send_c2p_code(&mut new, known).await?;
    }
    cx.server.ask(target, payments::Command::RequestC2p(Box::new(new)).into()).await
}

pub(super) fn read_request(
    mut fields: Fields<'_>,
    banks: &Catalogue,
) -> Result<(Price, Debtor, ExternalRef), Invalid> {
    Ok(read!(fields { got details = details(&mut fields, banks); } => details))
}

async fn execute(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (intent, execute) =
        read_execution(Fields::parse(&cx.body)?, cx.banks, &|parts: &[&[u8]]| cx.env.mark(parts))?;
    cx.ask(EntityId::payment(intent), payments::Command::ExecuteC2p(Box::new(execute))).await
}

pub(super) fn read_execution(
    mut fields: Fields<'_>,
    banks: &Catalogue,
    mark: Mark<'_>,
) -> Result<(Id, c2p::Execute), Invalid> {
    Ok(read!(fields {
        required intent = "intentId", kinds::id();
        got details = details(&mut fields, banks);
        required token = "token", token().about("The payer's code, 6 to 8 digits, as a string.");
        got marketplace = marketplace(&mut fields);
    } => {
        let (price, debtor, external_ref) = details;
        let token_mark = mark(&[b"c2p token", intent.as_bytes(), token.reveal().as_bytes()]);
        (intent, c2p::Execute { external_ref, price, debtor, token, token_mark, marketplace })
    }))
}

pub(crate) fn token<'a>() -> impl Kind<'a, Token> {
    kind(|value: Value<'a>| value.text_as(Token::parse_c2p), || schema::text().pattern("^[0-9]{6,8}$"))
}

async fn reverse(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    cx.no_body()?;
    let id = cx.find(|records| of_name(records, id))?;
    cx.ask(id, payments::Command::Reverse).await
}

/// The answer to a request for an intent, or to one for what is at its bank or paid already; `None` of a
/// record without an intent.
pub fn intent(facts: &Facts<'_>) -> Option<Rendered> {
    let Some(record) = facts.record else {
        let known = Payment::of(facts.entity?)?;
        let body = Object::reopened(show(known))
            .plain("intentId", known.id)
            .boolean("otpRequested", known.means.otp_requested());
        return Some((200, body.end()));
    };
    // The intent is the first entity of its record, also when it took the place of the one that was
    // asked.
    let payment = Payment::of(&record.entities.first()?.state)?;
    Some((201, show_intent(payment)))
}

/// The answer to a reversal; a refusal of a payment that is neither reversed nor about to be, as the bank
/// said no, or an operator for it while the request waited.
fn reversed(facts: &Facts<'_>) -> Option<Rendered> {
    let payment: &Payment = facts.the()?;
    if payment.status == Status::Reversed || payment.phase.is_deciding() {
        settled(facts)
    } else {
        Some(facts.refused(&PaymentRefusal::ReversalRefused.into()))
    }
}

shown! {
    fn show_intent(payment: &Payment), intent_schema, 512 {
        plain "intentId" = payment.id, values::uuid();
        boolean "otpRequested" = matches!(payment.means, Means::C2p { otp_requested: true, .. }),
            schema::boolean().about("True when the payer's bank sends a code by SMS; false when the payer makes it in the app.");
        plain "status" = payment.status.name(), schema::one_of([Status::Pending.name()]);
        number "usdAmount" = payment.usd, values::figure();
        number "vesAmount" = payment.ves, values::figure();
        number "bcvRate" = payment.bcv_rate.0.normalize(), values::figure();
        maybe plain "expiresAt" = payment.expires_at, values::instant();
        text "externalRef" = &*payment.external_ref, values::shown_ref();
        boolean "livemode" = payment.livemode, values::livemode();
    }
}
