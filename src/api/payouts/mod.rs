//! Payouts in bolívares of every kind: creating, reading and listing them
//! (`docs/contract.md, 7.7, 7.10`).
//!
//! The forms of calls and answers belong here; the rules are in `src/domain/resources/payouts/`.

pub mod batches;
pub mod list;
pub mod own_account;
pub mod verification;

use crate::answer::{Facts, Rendered};
use crate::endpoint::{Context, Handler, chapter, run, shown};
use crate::fields::{Fields, Got, Invalid, Kind, body, gather, kind, read};
use crate::openapi::operation::Operation;
use crate::openapi::{kinds, schema, values};
use crate::payments::offering;
use crate::problem::Problem;
use crate::respond::Reply;
use crate::value::Value;
use domain::entities::payout::{Destination, Payout, PayoutKind, Status};
use domain::index::Space;
use domain::resources::banks::{Catalogue, Service};
use domain::resources::payouts::{NewPayout, PhoneHolder, Receiver};
use domain::trace::shown;
use domain::values::ids::{EntityId, Id};
use domain::values::money::Ves;
use domain::values::venezuela::{AccountNumber, BankCode};

pub(crate) const CHAPTER: &str = "Payouts";

pub const CONCEPT_MAX: usize = 140;
const HOLDER_MAX: usize = 120;

/// The form in which the body of a payout names its recipient.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A merchant; in a batch it cannot be paid from its own balance.
    Merchant {
        alone: bool,
    },
    Credit,
    Change,
    Account,
    Own,
}

impl Form {
    pub(crate) const fn schema(self) -> &'static str {
        match self {
            Form::Merchant { alone: true } => "MerchantPayout",
            Form::Merchant { alone: false } => "MerchantPayoutItem",
            Form::Credit => "PhoneCredit",
            Form::Change => "Change",
            Form::Account => "AccountCredit",
            Form::Own => "InstantPayout",
        }
    }
}

pub fn read_new(mut fields: Fields<'_>, form: Form, id: Id, banks: &Catalogue) -> Result<NewPayout, Invalid> {
    // The members that say who is paid come before those that every body has, and what a form adds after them.
    let to = match form {
        Form::Merchant { .. } => gather!(fields {
            required merchant = "merchantId", kinds::id();
            optional method = "payoutMethodId", kinds::id().about("The default method if missing.");
        } => Receiver::Merchant { merchant, method, from_balance: false }),
        Form::Own => Got::of(Receiver::Own),
        Form::Credit | Form::Change => gather!(fields {
            required bank = "banco", credit_bank(banks);
            required phone = "telefono", kinds::phone();
            required identity = "cedula", kinds::identity();
        } => Receiver::Credit(PhoneHolder { bank, phone, identity })),
        Form::Account => gather!(fields {
            required account = "cuenta", account(banks);
            required identity = "cedula", kinds::identity();
            required name = "nombre", kinds::trimmed(1..=HOLDER_MAX) => name.into_owned();
        } => Receiver::Account { account, identity, name }),
    };
    let new = gather!(fields {
        got receiver = to;
        required amount = "monto", kinds::positive_amount() => Ves::from_minor(amount);
        required concept = "concepto", kinds::trimmed(1..=CONCEPT_MAX).about("What the receiver reads.") => concept.into_owned();
        required external_ref = "externalRef", kinds::external_ref();
    } => NewPayout { id, external_ref, receiver, amount, concept });
    Ok(match form {
        Form::Merchant { alone: true } => read!(fields {
            got payout = new;
            optional from_own = "fromMerchantBalance",
                kinds::boolean().default("false").about("Whether the seller's own balance pays.") => from_own.unwrap_or(false);
        } => match payout.receiver {
            Receiver::Merchant { merchant, method, .. } => {
                NewPayout { receiver: Receiver::Merchant { merchant, method, from_balance: from_own }, ..payout }
            }
            _ => payout,
        }),
        Form::Change => read!(fields {
            got payout = new;
            optional payment = "paymentId", kinds::id().about("The payment that it is the change of.");
        } => match payout.receiver {
            Receiver::Credit(to) => NewPayout { receiver: Receiver::Change { to, payment }, ..payout },
            _ => payout,
        }),
        _ => read!(fields { got payout = new; } => payout),
    })
}

pub fn credit_bank<'a>(banks: &Catalogue) -> impl Kind<'a, BankCode> {
    offering(banks, Service::Credit, "must be a bank that takes credits; see GET /v1/banks")
}

fn account<'a>(banks: &Catalogue) -> impl Kind<'a, AccountNumber> {
    kind(
        move |value: Value<'a>| value.text_as(|text| AccountNumber::parse(text, |bank| banks.knows(bank))),
        || schema::text().pattern("^[0-9]{20}$").about("20 digits with both check digits right."),
    )
}

async fn pay(cx: &mut Context<'_>, form: Form) -> Result<Reply, Problem> {
    let new = read_new(Fields::parse(&cx.body)?, form, cx.env.new_id(), cx.banks)?;
    let name = String::from(&*new.external_ref);
    if let Receiver::Change { payment: Some(payment), .. } = new.receiver {
        cx.find(|records| Ok(records.entity(EntityId::payment(payment))?.ok_or_else(Problem::not_found)?))?;
    }
    let target = cx.reserve(Space::Payout, &name, EntityId::payout(new.id)).await?;
    cx.server.ask(target, Box::new(new).into()).await
}

/// A new payout in each of its outcomes.
fn pays(operation: Operation) -> Operation {
    operation
        .answers(201, "Payout", "The new payout, completed or failed")
        .answers(200, "Payout", "The payout that is there under this reference")
        .answers(202, "Payout", "The bank has not answered yet; the money is debited")
        .refuses(409, &["external_ref_conflict"])
        .draws()
        .refuses(422, &["insufficient_balance"])
        .refuses(503, &["rail_not_configured"])
}

chapter! { CHAPTER, "Money out of the balance in bolívares, to merchants, phones, accounts and yourself, \
    single or up to 1,000 at once. The debit is durable before the bank is called; if a payout fails, the \
    money returns to the balance. The same `externalRef` with the same payload never pays twice.", {
        let banks = Catalogue::embedded();
        let of = |form: Form| body(|fields| read_new(fields, form, Id::from_bytes([0; 16]), &banks));
        let batch_of = |form: Form| body(|fields| batches::read(fields, form, drop));
        let (merchant, item) = (Form::Merchant { alone: true }, Form::Merchant { alone: false });
        "MerchantPayout" = of(merchant);
        "MerchantPayoutItem" = of(item);
        "MerchantPayoutBatch" = batch_of(item);
        "InstantPayout" = of(Form::Own);
        "PhoneCredit" = of(Form::Credit);
        "PhoneCreditBatch" = batch_of(Form::Credit);
        "AccountCredit" = of(Form::Account);
        "AccountCreditBatch" = batch_of(Form::Account);
        "Change" = of(Form::Change);
        "Payout" = payout();
        "RefusedItem" = batches::refused_schema()
            .example(r#"{"payoutId":null,"status":"failed","reference":null,"failureCode":"insufficient_balance",
                "externalRef":"batch-1-b","merchantId":"01975a2e-7c00-7000-8000-0000000000ab",
                "payoutMethodId":null,"merchantName":null,"monto":"55.10","concepto":"liquidacion",
                "bankCode":null,"destination":null,"operationId":null,"createdAt":null,"settledAt":null,
                "error":"the available balance does not cover the amount, so nothing was debited; pay at most availableVes or wait for what is held: GET /v1/balance says when"}"#);
        "PayoutBatch" = object()
            .member("batchId", uuid())
            .member("externalRef", shown_ref())
            .member("items", list(any_of([named("Payout"), named("RefusedItem")])))
            .member("livemode", livemode());
        "PayoutPage" = page("Payout");
        "NewPayoutAccount" = body(|fields| own_account::read_phone(fields, &banks));
        "PayoutAccount" = own_account::schema()
            .example(r#"{"object":"payout_account","bankCode":"0134","phone":"04141234567",
                "identification":"J123456789","status":"verified","livemode":false,
                "createdAt":"2026-11-21T02:13:00.000Z","updatedAt":"2026-11-21T02:15:00.000Z",
                "verifiedAt":"2026-11-21T02:15:00.000Z"}"#);
        "SeenAmounts" = body(verification::read_seen);
    }
    CREATE = run!(pay, Form::Merchant { alone: true }), "Pay a merchant" => {
        with pays;
        about "To the payout method that is named, or to the default one; it must be verified and the \
            merchant active. With `fromMerchantBalance` the seller's own balance pays.";
        body "MerchantPayout";
        example "100 VES to a merchant",
            r#"{"merchantId":"01975a2e-7c00-7000-8000-0000000000aa","monto":"100.00",
                "concepto":"liquidacion","externalRef":"payout-1"}"#;
        refuses 400, &["payout_method_not_verified"];
        refuses 404, &["not_found"];
        refuses 409, &["merchant_inactive"];
    } shows created;
    CREDIT = run!(pay, Form::Credit), "Pay a phone" => {
        with pays;
        body "PhoneCredit";
        example "50 VES",
            r#"{"banco":"0134","telefono":"04141234567","cedula":"V12345678","monto":"50.00",
            "concepto":"premio","externalRef":"credit-1"}"#;
    } shows created;
    CREDIT_ACCOUNT = run!(pay, Form::Account), "Pay a bank account" => {
        with pays;
        body "AccountCredit";
        example "50 VES",
            r#"{"cuenta":"01340001681234567890","cedula":"V12345678","nombre":"Ana Perez",
            "monto":"50.00","concepto":"nomina","externalRef":"credit-2"}"#;
    } shows created;
    CHANGE = run!(pay, Form::Change), "Give change to a customer" => {
        with pays;
        body "Change";
        example "3.50 VES",
            r#"{"banco":"0134","telefono":"04141234567","cedula":"V12345678","monto":"3.50",
                "concepto":"vuelto","externalRef":"change-1"}"#;
        refuses 404, &["not_found"];
    } shows created;
    INSTANT = run!(pay, Form::Own), "Withdraw to your own account" => {
        with pays;
        body "InstantPayout";
        example "100 VES", r#"{"monto":"100.00","concepto":"retiro","externalRef":"withdrawal-1"}"#;
        refuses 409, &["payout_account_not_verified"];
    } shows created;
    READ = run!(|cx| cx.one(EntityId::payout(cx.id("id")?), show)), "Read a payout" => {
        answers 200, "Payout", "The payout";
    };
    READ_BY_REF = run!(|cx| cx.named(Space::Payout, &cx.external_ref()?, show)),
        "Read a payout by your reference" => {
        answers 200, "Payout", "The payout";
    };
}

/// The answer to a new payout, or to a repeat of one (`docs/contract.md, 1.10`).
pub fn created(facts: &Facts<'_>) -> Option<Rendered> {
    let payout: &Payout = facts.the()?;
    let status = match (facts.record.is_some(), payout.status) {
        (false, _) => 200,
        (true, Status::Pending) => 202,
        (true, Status::Completed | Status::Failed) => 201,
    };
    Some((status, show(payout)))
}

pub fn masked(destination: &Destination) -> String {
    match destination {
        Destination::Phone { phone, .. } => format!("…{:04}", phone.last_four()),
        Destination::Account { account, .. } => account.masked().to_string(),
    }
}

shown! {
    pub fn show(payout: &Payout), schema, 896 [
        let destination = masked(&payout.destination);
    ] {
        plain "payoutId" = payout.id, values::uuid();
        constant "object" = "payout";
        plain "kind" = payout.kind.name(), schema::one_of(PayoutKind::ALL.map(PayoutKind::name));
        plain "status" = payout.status.name(), schema::one_of(Status::ALL.map(Status::name));
        // A reference that contradicts the outcome is shown on the operation alone.
        maybe text "reference" = if payout.status == Status::Completed { shown(&payout.reference) } else { None },
            schema::text().about("The bank's reference; null while pending.");
        maybe text "failureCode" = if payout.status == Status::Failed { payout.failure_code.as_deref() } else { None },
            schema::text().about("The bank's code, when it failed.");
        text "externalRef" = &*payout.external_ref, values::shown_ref();
        maybe plain "batchId" = payout.batch, values::uuid();
        maybe plain "merchantId" = payout.merchant, values::uuid();
        maybe plain "payoutMethodId" = payout.method, values::uuid();
        maybe text "merchantName" = match &payout.merchant_name {
                Some(name) if !name.is_empty() => Some(name),
                _ => None,
            }, schema::text();
        maybe plain "paymentId" = payout.payment, values::uuid().about("Of change: the payment.");
        plain "monto" = payout.amount, values::ves();
        plain "feeVes" = payout.fee, values::ves();
        text "concepto" = &payout.concept, schema::text();
        plain "bankCode" = payout.destination.bank(), values::bank_code();
        plain "destination" = destination, schema::text().about("Masked: an ellipsis and the last four digits.");
        boolean "fromMerchantBalance" = payout.from_merchant_balance, schema::boolean();
        maybe plain "operationId" = payout.operation(),
            values::uuid().about("While the bank is being asked; see `GET /v1/payments/operations/{id}`.");
        boolean "livemode" = payout.livemode, values::livemode();
        plain "createdAt" = payout.created_at, values::instant();
        maybe plain "settledAt" = payout.settled_at, values::instant();
    }
}

pub fn payout() -> schema::Schema {
    schema().example(
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
