//! Payments and payouts in Colombian pesos (`docs/contract.md, 11`). Under /v1/cop statuses are in
//! lower case; among all payments, in upper case.
//!
//! The forms of calls and answers belong here; the rules are in
//! `src/domain/resources/cop_payments/` and `src/domain/resources/cop_payouts.rs`.

pub mod payouts;
pub mod qr;

use crate::answer::{Facts, Rendered};
use crate::cop_payments::qr::{picture_base64, png_base64};
use crate::endpoint::{Context, Handler, chapter, run, shown};
use crate::fields::{Fields, Got, Invalid, Kind, body, gather, kind, read};
use crate::openapi::operation::Operation;
use crate::openapi::{kinds, schema, values};
use crate::problem::{BadField, Problem};
use crate::respond::Reply;
use crate::sale;
use crate::value::{Bad, Value};
use crate::writer::Object;
use domain::entities::cop_payment::CopPayment;
use domain::entities::means::Method;
use domain::entities::payment::Status;
use domain::events::EventKind;
use domain::resources::conversions::price::with_four_decimals;
use domain::resources::cop_payments::collect::NewCopPayment;
use domain::resources::cop_payments::live::NextStep;
use domain::resources::cop_payments::{self, AMOUNT_MAX, AMOUNT_MIN};
use domain::trace::shown;
use domain::values::colombia::{Buyer, Channel, ColombianPhone, DocumentNumber, DocumentType};
use domain::values::ids::{EntityId, Id};
use domain::values::money::Cop;
use domain::values::token::Token;
use std::borrow::Cow;

pub(crate) const CHAPTER: &str = "Colombian pesos";

const REFERENCE_MAX: usize = 128;
/// Bytes of metadata, as JSON.
const METADATA_BYTES_MAX: usize = 8 * 1024;

chapter! { CHAPTER, "Collecting pesos by QR or transfer key, by a push notification, or by an SMS code. \
    What is collected is held for 24 hours; a refund is for the whole amount and possible for 96 hours.", {
        "NewCopPayment" = body(|fields| read_new(fields, false, Id::from_bytes([0; 16])));
        "CopBuyer" = body(read_buyer);
        "CopOtp" = body(read_code);
        "CopPayment" = payment()
            .example(r#"{"id":"01975a2e-7c00-7000-8000-000000000100","object":"cop_payment","attempt":1,
                "status":"pending","method":"COP","channel":"sms","amountCop":50000,"feeCop":null,
                "netCop":null,"reference":"pedido-2","metadata":null,"failureCode":null,
                "next":{"type":"submit_otp","phoneMasked":"300***4567"},"livemode":false,
                "createdAt":"2026-11-21T02:13:00.000Z","expiresAt":"2026-11-21T02:18:00.000Z",
                "completedAt":null,"availableAt":null,"refundedAt":null}"#);
        "CopBalance" = crate::balance::cop_schema().example(r#"{"ledgerNetCop":"46250","heldCop":"46250",
                "nextReleaseAt":"2026-11-22T02:13:30.000Z","availableCop":"0","balanceHoldHours":24,
                "livemode":false}"#);
        "CopPayout" = payouts::schema();
        "CopPayoutPage" = page("CopPayout");
    }
    CREATE = run!(create), "Collect pesos" => {
        about "`next` says what the buyer does. The QR code is in this answer alone, in live mode also in \
            those to GET. Always send an Idempotency-Key: there is no externalRef here.";
        body "NewCopPayment";
        example "by QR",
            r#"{"amountCop":50000,"channel":"qr","reference":"pedido-1","metadata":{"cart":"81"}}"#;
        example "by SMS",
            r#"{"amountCop":50000,"channel":"sms","reference":"pedido-2","buyer":{"email":"ana@example.com","phone":"3001234567","documentType":"CC","documentNumber":"1020304050"}}"#;
        answers 201, "CopPayment", "The payment, with what the buyer does next";
        answers 202, "CopPayment", "In live mode: nobody knows yet what the buyer does next, or whether the \
            processor has the payment; it is asked";
        refuses 400, &["amount_below_minimum"];
        refuses 403, &["cop_not_enabled"];
        refuses 503, &["rail_not_configured", "rail_unavailable"];
    } shows created;
    READ = run!(|cx| cx.one(EntityId::cop_payment(cx.id("id")?), show)), "Read a payment in pesos" => {
        answers 200, "CopPayment", "The payment";
    };
    SUBMIT_OTP = run!(submit_otp), "Submit the buyer's SMS code" => {
        with settles;
        body "CopOtp";
        example "the right one of test mode", r#"{"otp":"123456"}"#;
        about "Five codes may be tried; when the fifth is wrong too, the payment fails with \
            `otp_attempts_exhausted`. In live mode two may be tried, and the processor says what becomes \
            of the payment.";
        refuses 400, &["invalid_otp"];
        refuses 409,
            &["payment_not_pending", "channel_mismatch", "charge_in_progress", "otp_attempts_exhausted"];
        refuses 503, &["rail_unavailable"];
    } shows settled;
    CANCEL = run!(act, cop_payments::Command::Cancel(None)), "Cancel an unpaid payment in pesos" => {
        with settles;
        refuses 409, &["payment_not_pending", "charge_in_progress"];
    } shows settled;
    REFUND = run!(act, cop_payments::Command::Refund), "Refund a payment in pesos" => {
        with settles;
        about "The whole amount, within 96 hours. The fee comes back. The money is taken from the hold of \
            this sale, then from what is available, then from at most 20,000 other holds. In live mode an \
            operator has it refunded: 202, and `payment.reversed` when that is done.";
        takes_out;
        refuses 409,
            &["payment_not_completed", "refund_window_expired", "refund_in_progress", "insufficient_balance"];
        refuses 503, &["processor_unavailable", "rail_not_configured"];
    } shows settled;
    PLAY_PAYING = run!(act, cop_payments::Command::PlayBuyer { pays: true }),
        "Pay in pesos, as the buyer would" => {
        with settles;
        refuses 409, &["payment_not_pending", "charge_in_progress"];
    } shows settled;
    PLAY_DECLINING = run!(act, cop_payments::Command::PlayBuyer { pays: false }),
        "Decline to pay, as the buyer would" => {
        with settles;
        refuses 409, &["payment_not_pending", "charge_in_progress"];
    } shows settled;
}

async fn create(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.env.new_id();
    let new = read_new(Fields::parse(&cx.body)?, cx.caller.livemode(), id)?;
    cx.make(EntityId::cop_payment(id), cop_payments::Command::Collect(Box::new(new))).await
}

fn read_new(mut fields: Fields<'_>, livemode: bool, id: Id) -> Result<NewCopPayment, Problem> {
    let is_small;
    let new = gather!(fields {
        required amount = "amountCop", amount();
        required channel = "channel", channel();
        optional reference = "reference", kinds::trimmed(1..=REFERENCE_MAX);
        optional metadata = "metadata", kinds::metadata(METADATA_BYTES_MAX)
            .about("Yours, at most 8 KiB, without control characters; it comes back as it was written.");
        got buyer = buyer_for(
            &mut fields,
            buyer().about("Everything of it is required for `push` and `sms`; for `sms` the document is CC, CE or TI, in live mode CC."),
            channel.peek().copied(),
            livemode,
        );
    } check {
        is_small = amount.peek().is_some_and(|amount| *amount < AMOUNT_MIN.minor());
    } => NewCopPayment {
        id,
        amount: Cop::from_minor(amount),
        channel,
        buyer,
        reference: reference.map(Cow::into_owned),
        metadata,
        marketplace: None,
        checkout: None,
    });
    match fields.finish() {
        Ok(_) if is_small => Err(below_minimum()),
        Ok(sound) => Ok(new.get(&sound)),
        Err(invalid) => {
            let mut bad = invalid.fields().to_vec();
            if is_small {
                bad.push(BadField::new("amountCop", format!("must be at least {AMOUNT_MIN}")));
            }
            Err(Problem::invalid_data(bad))
        }
    }
}

/// Whole pesos. Too few of them have a code of their own, which comes after all other bad fields.
fn amount<'a>() -> impl Kind<'a, i64> {
    let expected =
        |_| Bad::from(format!("must be a whole number of pesos from {AMOUNT_MIN} to {AMOUNT_MAX}"));
    kind(
        move |value: Value<'a>| value.integer(i64::MIN..=AMOUNT_MAX.minor()).map_err(expected),
        || schema::integer().about("Whole pesos, at least 20000."),
    )
}

pub(crate) fn channel<'a>() -> impl Kind<'a, Channel> {
    kinds::one_of(Channel::ALL.map(|channel| (channel.name(), channel)))
}

/// The problem of an amount that is too small to be collected.
pub fn below_minimum() -> Problem {
    Problem::refused(400, "amount_below_minimum", format!("amountCop must be at least {AMOUNT_MIN}"))
        .with("minimumCop", AMOUNT_MIN.minor())
}

/// Reads the member `buyer` of a payment in pesos: a QR code needs no data of the buyer, the other channels all.
/// What it needs depends on the channel, if that was readable. Described is `buyer`, which needs nothing.
pub fn buyer_for<'a>(
    fields: &mut Fields<'a>,
    buyer: impl Kind<'a, Buyer>,
    channel: Option<Channel>,
    livemode: bool,
) -> Got<Option<Buyer>> {
    match channel {
        Some(channel @ (Channel::Push | Channel::Sms)) => {
            let documents = channel.documents(livemode);
            let whole = |fields: Fields<'_>| read_whole_buyer(fields, documents).map(Some);
            fields.required("buyer", kinds::named("CopBuyer", whole))
        }
        Some(Channel::Qr) | None => fields.optional("buyer", buyer),
    }
}

/// A buyer of whom anything may be missing.
pub fn buyer<'a>() -> impl Kind<'a, Buyer> {
    kinds::named("CopBuyer", read_buyer)
}

fn phone<'a>() -> impl Kind<'a, ColombianPhone> {
    kind(
        |value: Value<'a>| value.text_as(ColombianPhone::parse),
        || {
            let mobile = schema::text().pattern(r"^(\+?57)?3[0-9]{9}$");
            mobile.about("A Colombian mobile phone, with +57 in front or not.")
        },
    )
}

fn document_type<'a>(documents: &[DocumentType]) -> impl Kind<'a, DocumentType> {
    kinds::one_of(documents.iter().map(|document| (document.name(), *document)).collect::<Vec<_>>())
}

pub fn document_number<'a>() -> impl Kind<'a, DocumentNumber> {
    kind(
        |value: Value<'a>| value.text_as(DocumentNumber::parse),
        || schema::text().pattern("^[A-Za-z0-9-]{3,20}$"),
    )
}

fn read_buyer(mut fields: Fields<'_>) -> Result<Buyer, Invalid> {
    Ok(read!(fields {
        optional email = "email", kinds::email();
        optional phone = "phone", phone();
        optional document_type = "documentType", document_type(&DocumentType::ALL);
        optional document_number = "documentNumber", document_number();
    } => Buyer { email, phone, document_type, document_number }))
}

fn read_whole_buyer(mut fields: Fields<'_>, documents: &[DocumentType]) -> Result<Buyer, Invalid> {
    Ok(read!(fields {
        required email = "email", kinds::email() => Some(email);
        required phone = "phone", phone() => Some(phone);
        required document_type = "documentType", document_type(documents) => Some(document_type);
        required document_number = "documentNumber", document_number() => Some(document_number);
    } => Buyer { email, phone, document_type, document_number }))
}

fn settles(operation: Operation) -> Operation {
    operation.answers(200, "CopPayment", "The payment").answers(
        202,
        "CopPayment",
        "The processor has not answered yet",
    )
}

async fn submit_otp(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    let code = read_code(Fields::parse(&cx.body)?)?;
    cx.ask(EntityId::cop_payment(id), cop_payments::Command::SubmitCode(code)).await
}

/// Reads an SMS code. A text that cannot be one is answered as a wrong code, not as a bad field.
pub fn read_code(mut fields: Fields<'_>) -> Result<Option<Token>, Invalid> {
    let code = |value: Value<'_>| value.string().map(|text| Token::parse_debit(&text).ok());
    Ok(read!(fields { required code = "otp", kind(code, schema::text); } => code))
}

/// Plans a command that takes no body.
async fn act(cx: &mut Context<'_>, ask: cop_payments::Command) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    cx.no_body()?;
    cx.ask(EntityId::cop_payment(id), ask).await
}

/// The number of every payment in pesos among those under its reference: it has none that a second one
/// could be made under.
const ATTEMPT: u32 = 1;

/// The answer to a new payment: with what the buyer does next. While a live processor has not said what
/// that is, nobody knows whether it has the payment at all (`docs/contract.md, 18.4`).
pub fn created(facts: &Facts<'_>) -> Option<Rendered> {
    let payment: &CopPayment = facts.the()?;
    Some(match payment.next_step() {
        Some(NextStep::Scan(None)) => {
            let key = payment.transfer_key();
            let next = show_next("show_qr", Some(&png_base64(&key)), Some(Some(&key)), None);
            (201, show_with(payment, Some(next)))
        }
        None if payment.status == Status::Pending => (202, show(payment)),
        _ => (201, show(payment)),
    })
}

/// The answer to whatever is done to a payment: 202 while the processor has not done it.
pub fn settled(facts: &Facts<'_>) -> Option<Rendered> {
    let payment: &CopPayment = facts.the()?;
    let status = if payment.phase.is_deciding() { 202 } else { 200 };
    Some((status, show(payment)))
}

/// The status as /v1/cop writes it.
pub const fn status(payment: &CopPayment) -> &'static str {
    match payment.status {
        Status::Pending => "pending",
        Status::Completed => "completed",
        Status::Failed => "failed",
        Status::Canceled => "canceled",
        Status::Reversed => "refunded",
    }
}

/// The buyer's next step, while there is one. The QR code of a transfer key is shown once, in the answer
/// to the request; a live processor's stays, as it may come after that answer.
fn next(payment: &CopPayment) -> Option<Vec<u8>> {
    let kind = match payment.next_step()? {
        NextStep::Scan(picture) => {
            return picture
                .map(|picture| show_next("show_qr", Some(picture_base64(picture)), Some(None), None));
        }
        NextStep::Approve => "approve_in_app",
        NextStep::TypeCode => "submit_otp",
    };
    let phone = payment.buyer.as_ref().and_then(|buyer| buyer.phone);
    Some(show_next(kind, None, None, Some(phone)))
}

shown! {
    fn show_next(kind: &str, picture: Option<&str>, key: Option<Option<&str>>, phone: Option<Option<ColombianPhone>>), next_schema, 512 {
        plain "type" = kind, schema::one_of(["show_qr", "approve_in_app", "submit_otp"]);
        optional text "qrPngBase64" = picture,
            schema::text().about("A PNG of the QR code, in base64; in test mode in the answer that creates the payment alone.");
        optional maybe plain "transferKey" = key,
            schema::text().about("The key to paste in a bank's app; as the QR code. Null in live mode, whose QR code has none.");
        optional maybe plain "phoneMasked" = phone.map(|phone| phone.map(ColombianPhone::masked)), schema::text();
    }
}

/// Whether the pesos came, as the processor said first.
const fn came(payment: &CopPayment) -> bool {
    matches!(payment.status, Status::Completed | Status::Reversed)
}

/// The reason of a failure, if it failed: what contradicts a completion is shown on the operation
/// alone.
fn failure(payment: &CopPayment) -> Option<&str> {
    payment.failure_code().filter(|_| !came(payment))
}

/// The tenant's reference of a payment in pesos: its own, or that of the checkout session.
pub fn reference(payment: &CopPayment) -> Option<&str> {
    let of_session = || payment.checkout.as_deref().and_then(|checkout| checkout.sale.reference.as_deref());
    payment.reference.as_deref().or_else(of_session)
}

/// The processor's reference, once the money came.
pub fn bank_reference(payment: &CopPayment) -> Option<&str> {
    shown(&payment.processor_reference).filter(|_| came(payment))
}

/// A payment in pesos, as JSON (`docs/contract.md, 11.1`).
pub fn show(payment: &CopPayment) -> Vec<u8> {
    show_with(payment, next(payment))
}

shown! {
    fn show_with(payment: &CopPayment, next: Option<Vec<u8>>), schema, 1024 {
        plain "id" = payment.id, values::uuid();
        constant "object" = "cop_payment";
        number "attempt" = ATTEMPT, values::attempt().about("Always 1.");
        plain "status" = status(payment), schema::one_of(["pending", "completed", "failed", "canceled", "refunded"]);
        constant "method" = "COP";
        plain "channel" = payment.channel.name(), schema::one_of(Channel::ALL.map(Channel::name));
        number "amountCop" = payment.amount, schema::integer().at_least("0");
        maybe number "feeCop" = payment.fee,
            schema::integer().about("4.5 % and 1,500 pesos, never more than the amount; null until completed.");
        maybe number "netCop" = payment.net(), schema::integer();
        maybe text "reference" = reference(payment), schema::text();
        maybe json "metadata" = payment.metadata.as_deref(), schema::object();
        // For a hosted checkout: its price, and how that became pesos (`docs/contract.md, 12.7`).
        optional plain "amountUsd" = payment.checkout.as_deref().map(|checkout| checkout.usd), values::ves();
        optional plain "copRate" = payment.checkout.as_deref().map(|checkout| with_four_decimals(checkout.rate.0)),
            values::four_decimals().about("What the buyer pays for a dollar.");
        optional plain "copMarketRate" = payment.checkout.as_deref().map(|checkout| with_four_decimals(checkout.market_rate.0)),
            values::four_decimals().about("What the market asked for one.");
        optional json "checkoutSession" = payment.checkout.as_deref().map(|checkout| sale::show_in_payment(&checkout.sale)),
            sale::in_payment();
        maybe text "failureCode" = failure(payment),
            schema::text().about("`expired`, `rejected`, `otp_attempts_exhausted` or `processor_error`; after an operator's word, the operator's code.");
        maybe json "next" = next, next_schema().about("What the buyer does next, while there is something.");
        // Operators are asked about the operations of live mode by their ids.
        optional maybe plain "operationId" = payment.livemode.then(|| payment.operation()),
            values::uuid().about("In live mode alone: what the processor or an operator is to decide, while that is open.");
        boolean "livemode" = payment.livemode, values::livemode();
        plain "createdAt" = payment.created_at, values::instant();
        plain "expiresAt" = payment.expires_at, values::instant();
        maybe plain "completedAt" = payment.completed_at, values::instant();
        maybe plain "availableAt" = payment.available_at, values::instant();
        maybe plain "refundedAt" = payment.refunded_at, values::instant();
    }
}

/// A payment in pesos among all payments: the members of every payment, and those of pesos
/// (`docs/contract.md, 5.1`).
pub fn show_as_payment(payment: &CopPayment) -> Vec<u8> {
    let (sale, checkout) = (payment.marketplace.as_deref(), payment.checkout.as_deref());
    let body = Object::with_capacity(1536)
        .plain("id", payment.id)
        .plain("paymentId", payment.id)
        .plain("object", "payment")
        .null("externalRef")
        .number("attempt", ATTEMPT)
        .plain("status", payment.status.name())
        .plain("method", Method::Cop.name())
        .maybe_text("failureCode", failure(payment))
        .null("cancelReason")
        .maybe_number("usdAmount", checkout.map(|checkout| checkout.usd));
    let body = ["vesAmount", "bcvRate", "feeVes", "netVes"].into_iter().fold(body, Object::null);
    let body = body
        .plain("currency", "COP")
        .plain("channel", payment.channel.name())
        .number("amountCop", payment.amount)
        .maybe_number("feeCop", payment.fee)
        .maybe_number("netCop", payment.net())
        .maybe_text("reference", reference(payment))
        .json("metadata", payment.metadata.as_deref().unwrap_or("null"));
    let body = match checkout {
        Some(checkout) => body
            .plain("amountUsd", checkout.usd)
            .plain("copRate", with_four_decimals(checkout.rate.0))
            .plain("copMarketRate", with_four_decimals(checkout.market_rate.0)),
        None => body,
    };
    let body = body
        .maybe_plain("merchantId", sale.map(|sale| sale.merchant))
        .maybe_number("applicationFeePercent", sale.map(|sale| sale.commission_percent.0.normalize()))
        .null("applicationFeeVes")
        .null("sellerNetVes")
        .maybe_number("applicationFeeCop", sale.and_then(|sale| sale.commission))
        .maybe_number("sellerNetCop", sale.and_then(|sale| sale.seller_net));
    let payer = ["debtorBankCode", "debtorId", "debtorCellPhone", "cardLast4", "cardBrand"];
    payer
        .into_iter()
        .fold(body, Object::null)
        .maybe_text("bankReference", bank_reference(payment))
        .maybe_plain("operationId", payment.operation())
        .null("description")
        .maybe_plain("checkoutSessionId", checkout.map(|checkout| checkout.sale.session))
        .json_or_null("checkoutSession", checkout.map(|checkout| sale::show_in_payment(&checkout.sale)))
        .maybe_plain("reversedAt", payment.refunded_at)
        .maybe_text("reversalRef", shown(&payment.refund_reference).filter(|_| payment.refunded_at.is_some()))
        .maybe_plain("reversalType", payment.refunded_at.map(|_| "refund"))
        .json("chargebacks", "[]")
        .boolean("livemode", payment.livemode)
        .plain("createdAt", payment.created_at)
        .plain("expiresAt", payment.expires_at)
        .maybe_plain("completedAt", payment.completed_at)
        .maybe_plain("availableAt", payment.available_at)
        .end()
}

/// The data of an event about a payment in pesos: the payment, its name among all payments, and
/// what a refund is among reversals (`docs/contract.md, 13.8`).
pub fn event_data(payment: &CopPayment, kind: EventKind) -> Vec<u8> {
    let body = Object::reopened(show(payment)).plain("paymentId", payment.id).plain("currency", "COP");
    match kind {
        EventKind::PaymentReversed => body
            .plain("reversalType", "refund")
            .maybe_text("reversalRef", shown(&payment.refund_reference))
            .maybe_plain("reversedAt", payment.refunded_at),
        _ => body,
    }
    .end()
}

/// A payment in pesos, as /v1/cop and events say it.
pub fn payment() -> schema::Schema {
    schema().last(&["checkoutSession", "amountUsd", "copRate", "copMarketRate"])
}

/// The schema of a payment in pesos as events carry it.
pub(crate) fn event_schema() -> schema::Schema {
    payment()
        .member("paymentId", values::uuid())
        .member("currency", schema::text().constant("COP"))
        .optional("reversalType", schema::one_of(["refund"]))
        .optional("reversalRef", schema::text().or_null())
        .optional("reversedAt", values::instant().or_null())
}
