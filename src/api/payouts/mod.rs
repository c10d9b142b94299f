//! Payouts in bolívares of every kind: creating, reading and listing them
//! (`docs/contract.md, 7.7, 7.10`).
//!
//! The forms of calls and answers belong here; the rules are in `src/domain/resources/payouts/`.

pub mod batches;
pub mod description;
pub mod list;
pub mod own_account;
pub mod verification;

use crate::answer::{Facts, Rendered};
use crate::chapters;
use crate::endpoint::{Context, Endpoint, endpoint, run};
use crate::fields::{Fields, Got, Invalid, Kind, Sound, kind};
use crate::openapi::operation::{Operation, summary};
use crate::openapi::{kinds, schema, values};
use crate::problem::Problem;
use crate::respond::Reply;
use crate::shown::shown;
use crate::value::{Bad, Value};
use domain::entities::payout::{Destination, Payout, PayoutKind, Status};
use domain::index::Space;
use domain::resources::banks::{Catalogue, Service};
use domain::resources::payouts::{NewPayout, PhoneHolder, Receiver};
use domain::trace::shown;
use domain::values::ids::{EntityId, Id};
use domain::values::money::Ves;
use domain::values::text::ExternalRef;
use domain::values::venezuela::{AccountNumber, BankCode};
use std::borrow::Cow;

/// Characters of a description.
pub const CONCEPT_MAX: usize = 140;
/// Characters of an account holder's name.
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
    let (receiver, asked, sound): (Receiver, GotAsked<'_>, Sound);
    match form {
        Form::Merchant { alone } => {
            let merchant = fields.required("merchantId", kinds::uuid());
            let method = kinds::uuid().about("The default method if missing.");
            let method = fields.optional("payoutMethodId", method);
            asked = GotAsked::read(&mut fields);
            let from_balance = alone.then(|| {
                let whether =
                    kinds::boolean().default("false").about("Whether the seller's own balance pays.");
                fields.optional("fromMerchantBalance", whether)
            });
            sound = fields.finish()?;
            receiver = Receiver::Merchant {
                merchant: merchant.get(&sound).into(),
                method: method.get(&sound).map(Id::from),
                from_balance: from_balance.and_then(|given| given.get(&sound)).unwrap_or(false),
            };
        }
        Form::Own => {
            asked = GotAsked::read(&mut fields);
            sound = fields.finish()?;
            receiver = Receiver::Own;
        }
        Form::Credit | Form::Change => {
            let bank = fields.required("banco", credit_bank(banks));
            let phone = fields.required("telefono", kinds::phone());
            let identity = fields.required("cedula", kinds::identity());
            asked = GotAsked::read(&mut fields);
            let payment = (form == Form::Change).then(|| {
                let payment = kinds::uuid().about("The payment that it is the change of.");
                fields.optional("paymentId", payment)
            });
            sound = fields.finish()?;
            let to = PhoneHolder {
                bank: bank.get(&sound),
                phone: phone.get(&sound),
                identity: identity.get(&sound),
            };
            receiver = match payment {
                Some(payment) => Receiver::Change { to, payment: payment.get(&sound).map(Id::from) },
                None => Receiver::Credit(to),
            };
        }
        Form::Account => {
            let account = fields.required("cuenta", account(banks));
            let identity = fields.required("cedula", kinds::identity());
            let name = fields.required("nombre", kinds::trimmed(1..=HOLDER_MAX));
            asked = GotAsked::read(&mut fields);
            sound = fields.finish()?;
            receiver = Receiver::Account {
                account: account.get(&sound),
                identity: identity.get(&sound),
                name: name.get(&sound).into_owned(),
            };
        }
    }
    Ok(asked.get(&sound, id, receiver))
}

/// The members that the bodies of all payouts have, as they are read.
struct GotAsked<'a> {
    amount: Got<i64>,
    concept: Got<Cow<'a, str>>,
    external_ref: Got<ExternalRef>,
}

impl<'a> GotAsked<'a> {
    fn read(fields: &mut Fields<'a>) -> GotAsked<'a> {
        let concept = kinds::trimmed(1..=CONCEPT_MAX).about("What the receiver reads.");
        GotAsked {
            amount: fields.required("monto", kinds::positive_amount()),
            concept: fields.required("concepto", concept),
            external_ref: fields.required("externalRef", kinds::external_ref()),
        }
    }

    fn get(self, sound: &Sound, id: Id, receiver: Receiver) -> NewPayout {
        let (amount, concept) =
            (Ves::from_minor(self.amount.get(sound)), self.concept.get(sound).into_owned());
        NewPayout { id, external_ref: self.external_ref.get(sound), receiver, amount, concept }
    }
}

pub fn credit_bank<'a>(banks: &Catalogue) -> impl Kind<'a, BankCode> {
    let read = move |value: Value<'a>| {
        let bank: BankCode = value.text_as(BankCode::parse)?;
        if banks.offers(bank, Service::Credit) {
            Ok(bank)
        } else {
            Err(Bad::from("must be a bank that takes credits; see GET /v1/banks"))
        }
    };
    kind(read, values::bank_code)
}

fn account<'a>(banks: &Catalogue) -> impl Kind<'a, AccountNumber> {
    kind(
        move |value: Value<'a>| value.text_as(|text| AccountNumber::parse(text, |bank| banks.knows(bank))),
        || schema::text().pattern("^[0-9]{20}$").about("20 digits with both check digits right."),
    )
}

async fn pay(cx: &mut Context<'_>, form: Form) -> Result<Reply, Problem> {
    let new = read_new(Fields::parse(&cx.body)?, form, cx.env.new_id(), cx.banks)?;
    let name = new.external_ref.as_str().to_owned();
    if let Receiver::Change { payment: Some(payment), .. } = new.receiver {
        cx.find(|records| Ok(records.entity(EntityId::payment(payment))?.ok_or_else(Problem::not_found)?))?;
    }
    let id = EntityId::payout(new.id);
    cx.create(Space::Payout, &name, id, Box::new(new)).await
}

/// A new payout in each of its outcomes.
fn pays(operation: Operation) -> Operation {
    operation
        .answers(201, "Payout", "The new payout, completed or failed")
        .answers(200, "Payout", "The payout that is there under this reference")
        .answers(202, "Payout", "The bank has not answered yet; the money is debited")
        .refuses(409, &["external_ref_conflict"])
        .refuses(422, &["insufficient_balance"])
        .refuses(503, &["rail_not_configured"])
}

/// POST /v1/payouts
pub const CREATE: Endpoint = endpoint(chapters::PAYOUTS, run!(create), || {
    pays(summary("Pay a merchant"))
        .about(
            "To the payout method that is named, or to the default one; it must be verified and the \
             merchant active. With `fromMerchantBalance` the seller's own balance pays.",
        )
        .body("MerchantPayout")
        .example(
            "100 VES to a merchant",
            concat!(
                r#"{"merchantId":"01975a2e-7c00-7000-8000-0000000000aa","monto":"100.00","#,
                r#""concepto":"liquidacion","externalRef":"payout-1"}"#,
            ),
        )
        .refuses(400, &["payout_method_not_verified"])
        .refuses(404, &["not_found"])
        .refuses(409, &["merchant_inactive"])
})
.shows(created);

async fn create(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    pay(cx, Form::Merchant { alone: true }).await
}

/// POST /v1/payments/credit
pub const CREDIT: Endpoint = endpoint(chapters::PAYOUTS, run!(credit), || {
    pays(summary("Pay a phone")).body("PhoneCredit").example(
        "50 VES",
        concat!(
            r#"{"banco":"0134","telefono":"04141234567","cedula":"V12345678","monto":"50.00","#,
            r#""concepto":"premio","externalRef":"credit-1"}"#,
        ),
    )
})
.shows(created);

async fn credit(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    pay(cx, Form::Credit).await
}

/// POST /v1/payments/credit/account
pub const CREDIT_ACCOUNT: Endpoint = endpoint(chapters::PAYOUTS, run!(credit_account), || {
    pays(summary("Pay a bank account")).body("AccountCredit").example(
        "50 VES",
        concat!(
            r#"{"cuenta":"01340001681234567890","cedula":"V12345678","nombre":"Ana Perez","#,
            r#""monto":"50.00","concepto":"nomina","externalRef":"credit-2"}"#,
        ),
    )
})
.shows(created);

async fn credit_account(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    pay(cx, Form::Account).await
}

/// POST /v1/payments/change
pub const CHANGE: Endpoint = endpoint(chapters::PAYOUTS, run!(change), || {
    pays(summary("Give change to a customer"))
        .body("Change")
        .example(
            "3.50 VES",
            concat!(
                r#"{"banco":"0134","telefono":"04141234567","cedula":"V12345678","monto":"3.50","#,
                r#""concepto":"vuelto","externalRef":"change-1"}"#,
            ),
        )
        .refuses(404, &["not_found"])
})
.shows(created);

async fn change(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    pay(cx, Form::Change).await
}

/// POST /v1/payouts/instant
pub const INSTANT: Endpoint = endpoint(chapters::PAYOUTS, run!(instant), || {
    pays(summary("Withdraw to your own account"))
        .body("InstantPayout")
        .example("100 VES", r#"{"monto":"100.00","concepto":"retiro","externalRef":"withdrawal-1"}"#)
        .refuses(409, &["payout_account_not_verified"])
})
.shows(created);

async fn instant(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    pay(cx, Form::Own).await
}

/// GET /v1/payouts/:id
pub const READ: Endpoint =
    endpoint(chapters::PAYOUTS, run!(read), || summary("Read a payout").answers(200, "Payout", "The payout"));

async fn read(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    cx.one(EntityId::payout(id), show)
}

/// GET /v1/payouts/by-ref/:externalRef
pub const READ_BY_REF: Endpoint = endpoint(chapters::PAYOUTS, run!(read_by_ref), || {
    summary("Read a payout by your reference").answers(200, "Payout", "The payout")
});

async fn read_by_ref(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let name = ExternalRef::parse(cx.path("externalRef")).map_err(|_| Problem::not_found())?;
    cx.named(Space::Payout, name.as_str(), show)
}

/// The answer to a new payout, or to a repeat of one (`docs/contract.md, 1.10`).
pub fn created(facts: &Facts<'_>) -> Option<Rendered> {
    let payout: &Payout = facts.the()?;
    let status = match (facts.is_new(), payout.status) {
        (false, _) => 200,
        (true, Status::Pending) => 202,
        (true, Status::Completed | Status::Failed) => 201,
    };
    Some((status, show(payout)))
}

shown! {
    pub fn show(payout: &Payout), schema, 896 {
        plain "payoutId" = payout.id, values::uuid();
        constant "object" = "payout";
        plain "kind" = payout.kind.name(), schema::one_of(PayoutKind::ALL.map(PayoutKind::name));
        plain "status" = payout.status.name(), schema::one_of(Status::ALL.map(Status::name));
        // A reference that contradicts the outcome is shown on the operation alone.
        maybe_text "reference" = shown(&payout.reference).filter(|_| payout.status == Status::Completed),
            schema::text().about("The bank's reference; null while pending.");
        maybe_text "failureCode" = payout.failure_code.as_deref().filter(|_| payout.status == Status::Failed),
            schema::text().about("The bank's code, when it failed.");
        text "externalRef" = &*payout.external_ref, values::shown_ref();
        maybe_plain "batchId" = payout.batch, values::uuid();
        maybe_plain "merchantId" = payout.merchant, values::uuid();
        maybe_plain "payoutMethodId" = payout.method, values::uuid();
        maybe_text "merchantName" = payout.merchant_name.as_ref().filter(|name| !name.is_empty()), schema::text();
        maybe_plain "paymentId" = payout.payment, values::uuid().about("Of change: the payment.");
        plain "monto" = payout.amount, values::ves();
        plain "feeVes" = payout.fee, values::ves();
        text "concepto" = &payout.concept, schema::text();
        plain "bankCode" = payout.destination.bank(), values::bank_code();
        plain "destination" = destination(payout), schema::text().about("Masked: an ellipsis and the last four digits.");
        boolean "fromMerchantBalance" = payout.from_merchant_balance, schema::boolean();
        maybe_plain "operationId" = payout.operation(),
            values::uuid().about("While the bank is being asked; see `GET /v1/payments/operations/{id}`.");
        boolean "livemode" = payout.livemode, values::livemode();
        plain "createdAt" = payout.created_at, values::instant();
        maybe_plain "settledAt" = payout.settled_at, values::instant();
    }
}

/// The recipient's phone or account, masked.
fn destination(payout: &Payout) -> String {
    match &payout.destination {
        Destination::Phone { phone, .. } => format!("…{:04}", phone.last_four()),
        Destination::Account { account, .. } => account.masked().to_string(),
    }
}
