//! Merchants and their payout methods (`docs/contract.md, 7.2, 7.4`). Registered data is shown
//! unmasked.
//!
//! The forms of calls and answers belong here; the rules are in `src/domain/resources/merchants/`.

use crate::answer::{Facts, Rendered};
use crate::endpoint::{Context, Handler, chapter, run, shown};
use crate::fields::{Fields, Got, Invalid, Kind as _, body, gather, read};

use crate::openapi::{kinds, schema, values};
use crate::page::list_json;
use crate::payouts::credit_bank;
use crate::payouts::verification;
use crate::problem::Problem;
use crate::query::Query;
use crate::respond::Reply;
use crate::writer::Object;
use domain::entities::merchant::{Merchant, PayoutMethod, Status, facet};
use domain::index::Space;
use domain::resources::banks::Catalogue;
use domain::resources::merchants::{self, Registration};
use domain::values::ids::{EntityId, Id};
use domain::values::venezuela::{BankCode, IdentityDocument, MobilePhone};
use std::borrow::Cow;

pub(crate) const CHAPTER: &str = "Merchants";

const NAME_MAX: usize = 120;
chapter! { CHAPTER, "The sellers of a marketplace and how they are paid. A payout method is verified by two \
    micro-deposits, whose amounts the seller reads from the account.", {
        let banks = Catalogue::embedded();
        let id = Id::from_bytes([0; 16]);
        "NewMerchant" = body(|fields| read_registration(fields, &banks, id));
        "MerchantUpdate" = body(read_update);
        "Merchant" = merchant();
        "MerchantPage" = page("Merchant");
        "DeletedMerchant" = deleted_schema();
        "NewPayoutMethod" = body(|fields| read_method(fields, &banks));
        "PayoutMethod" = method_schema();
        "PayoutMethodList" = items("PayoutMethod");
        "MerchantBalance" = crate::balance::of_a_merchant();
    }
    REGISTER = run!(register), "Register a merchant" => {
        about "`bankCode` and `phone` together make its first payout method; without them it is a shell. \
            When no method is left, the same reference with new ones attaches a method (200).";
        body "NewMerchant";
        example "with a payout method",
            r#"{"externalRef":"seller-1","name":"Bodega La Esquina","identification":"V87654321",
                "contactEmail":"bodega@example.com","contactPhone":"04147654321","bankCode":"0134",
                "phone":"04147654321"}"#;
        example "a shell", r#"{"externalRef":"seller-2","name":"Panaderia Sol"}"#;
        answers 201, "Merchant", "The new merchant";
        answers 200, "Merchant", "The merchant that is there under this reference";
        refuses 409, &["external_ref_conflict"];
    } shows registered;
    LIST = run!(list), "List merchants, or read one by your reference" => {
        filters filters;
        answers_with 200, schema::any_of([schema::named("MerchantPage"), schema::named("Merchant")]),
            "Newest first; with `externalRef` the merchant itself";
        refuses 404, &["not_found"];
    };
    READ = run!(|cx| cx.one(EntityId::merchant(cx.id("id")?), show)), "Read a merchant" => {
        answers 200, "Merchant", "The merchant";
    };
    UPDATE = run!(update), "Activate or deactivate a merchant" => {
        body "MerchantUpdate";
        example "deactivate", r#"{"isActive":false}"#;
        answers 200, "Merchant", "The merchant";
    } shows updated;
    DELETE = run!(|cx| cx.ask(EntityId::merchant(cx.id("id")?), merchants::Command::Delete).await),
        "Delete a merchant that was never paid" => {
        about "Frees its reference.";
        answers 200, "DeletedMerchant", "It is gone";
        refuses 409, &["merchant_has_payouts", "merchant_has_balance"];
    } shows |facts| Some((200, show_deleted(facts.the()?)));
    ADD_METHOD = run!(add_method), "Add a payout method" => {
        body "NewPayoutMethod";
        example "a phone", r#"{"bankCode":"0102","phone":"04167654321"}"#;
        answers 201, "PayoutMethod", "The new method";
        answers 200, "PayoutMethod", "The merchant has it already";
        refuses 409, &["too_many_payout_methods"];
    } shows newest_method;
    METHODS = run!(|cx| cx.one(EntityId::merchant(cx.id("id")?), show_methods)), "List payout methods" => {
        answers 200, "PayoutMethodList", "Oldest first";
    };
    SET_DEFAULT = run!(set_default), "Make a payout method the default" => {
        answers 200, "PayoutMethod", "The method";
    } shows one_method;
    DELETE_METHOD = run!(delete_method), "Delete a payout method" => {
        about "When it was the default, the oldest verified one takes its place.";
        answers 200, "Merchant", "The merchant without it";
    } shows updated;
    START_VERIFICATION = run!(start_verification), "Send the two micro-deposits" => {
        about "They cost you nothing. When the bank says that the holder is somebody else (`BE01`), the \
            method is deleted and `merchant.rejected` is sent.";
        answers_with 202,
            schema::object().member("payoutMethodId", values::uuid()).and(verification::started("payout_method_deleted")),
            "They are sent, or the method was rejected";
        refuses 409, &["verification_in_progress", "verification_locked", "already_verified"];
        refuses 429, &["too_many_attempts"];
        refuses 503, &["rail_not_configured", "rail_unavailable"];
    } shows verification_started;
    VERIFY = run!(verify), "Verify a payout method by the amounts of the micro-deposits" => {
        about "In either order; three tries.";
        body "SeenAmounts";
        example "those of test mode", r#"{"amount1":"0.32","amount2":"0.45"}"#;
        answers 200, "PayoutMethod", "The method, verified";
        refuses 400, &["amounts_mismatch"];
        refuses 409, &["verification_not_started", "verification_locked", "already_verified"];
    } shows one_method;
}

async fn register(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.env.new_id();
    let registration = read_registration(Fields::parse(&cx.body)?, cx.banks, id)?;
    let name = String::from(&*registration.external_ref);
    let target = cx.reserve(Space::Merchant, &name, EntityId::merchant(id)).await?;
    cx.server.ask(target, merchants::Command::Register(Box::new(registration)).into()).await
}

fn read_registration(mut fields: Fields<'_>, banks: &Catalogue, id: Id) -> Result<Registration, Invalid> {
    Ok(read!(fields {
        required external_ref = "externalRef", kinds::external_ref();
        optional name = "name", kinds::trimmed(1..=NAME_MAX) => name.map(Cow::into_owned);
        optional identification = "identification", kinds::identity();
        optional contact_email = "contactEmail", kinds::email();
        optional contact_phone = "contactPhone", kinds::phone();
        optional bank = "bankCode", credit_bank(banks);
        optional phone = "phone", kinds::phone();
    } check {
        match (fields.has("bankCode"), fields.has("phone")) {
            (true, false) => fields.bad("phone", "is required with bankCode"),
            (false, true) => fields.bad("bankCode", "is required with phone"),
            _ => {}
        }
    } => Registration { id, external_ref, name, identification, contact_email, contact_phone, method: bank.zip(phone) }))
}

/// The facets that are asked for, or the one reference.
type Filters = (Vec<u8>, Option<String>);

fn filters(query: &mut Query<'_>) -> Got<Filters> {
    let name = kinds::sought(1..=64).about("Answers the one merchant with this reference, or 404.");
    gather!(query {
        optional status = "status", kinds::named_one(Status::ALL, Status::name);
        optional active = "isActive", kinds::boolean();
        optional external_ref = "externalRef", name;
    } => {
        let mut facets = Vec::new();
        for each in Status::ALL.into_iter().filter(|each| status.is_none_or(|status| status == *each)) {
            let wanted = |each: &bool| active.is_none_or(|active| active == *each);
            facets.extend([true, false].into_iter().filter(wanted).map(|active| facet(each, active)));
        }
        (facets, external_ref)
    })
}

async fn list(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let ((facets, external_ref), page) = cx.listed("merchants", filters)?;
    match external_ref {
        Some(name) => cx.named(Space::Merchant, &name, show),
        None => cx.page(facets, page, show).await,
    }
}

async fn update(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    let active = read_update(Fields::parse(&cx.body)?)?;
    cx.ask(EntityId::merchant(id), merchants::Command::SetActive(active)).await
}

fn read_update(mut fields: Fields<'_>) -> Result<bool, Invalid> {
    fields.changes();
    Ok(read!(fields { required active = "isActive", kinds::boolean(); } => active))
}

async fn add_method(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    let (bank, phone) = read_method(Fields::parse(&cx.body)?, cx.banks)?;
    cx.ask(EntityId::merchant(id), merchants::Command::AddMethod(bank, phone)).await
}

fn read_method(mut fields: Fields<'_>, banks: &Catalogue) -> Result<(BankCode, MobilePhone), Invalid> {
    Ok(read!(fields {
        required bank = "bankCode", credit_bank(banks);
        required phone = "phone", kinds::phone();
    } => (bank, phone)))
}

async fn set_default(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (id, method) = (cx.id("id")?, cx.id("methodId")?);
    cx.no_body()?;
    cx.ask(EntityId::merchant(id), merchants::Command::SetDefaultMethod(method)).await
}

async fn delete_method(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (id, method) = (cx.id("id")?, cx.id("methodId")?);
    cx.ask(EntityId::merchant(id), merchants::Command::DeleteMethod(method)).await
}

async fn start_verification(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (id, method) = (cx.id("id")?, cx.id("methodId")?);
    cx.no_body()?;
    verification::start(cx, EntityId::merchant(id), Some(method)).await
}

async fn verify(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (id, method) = (cx.id("id")?, cx.id("methodId")?);
    let seen = verification::read_seen(Fields::parse(&cx.body)?)?;
    cx.ask(EntityId::merchant(id), merchants::Command::Verify { method, seen }).await
}

/// The answer to a registration: 201 for a new merchant, 200 for one whose reference was known.
fn registered(facts: &Facts<'_>) -> Option<Rendered> {
    let written = facts.record.and_then(|record| record.entities.first());
    let is_new = written.is_some_and(|written| written.indexed.is_none());
    Some((if is_new { 201 } else { 200 }, show(facts.the()?)))
}

fn updated(facts: &Facts<'_>) -> Option<Rendered> {
    Some((200, show(facts.the()?)))
}

/// The answer to the start of a verification; a method that the bank rejected is gone by now.
fn verification_started(facts: &Facts<'_>) -> Option<Rendered> {
    let (merchant, method): (&Merchant, Id) = (facts.the()?, facts.about?);
    let body = Object::new().plain("payoutMethodId", method);
    let status = merchant.method(method).map(|found| &found.status);
    Some((202, verification::begun(body, status, "payout_method_deleted")))
}

fn one_method(facts: &Facts<'_>) -> Option<Rendered> {
    let merchant: &Merchant = facts.the()?;
    Some((
        200,
        match merchant.method(facts.about?) {
            Some(found) => show_method(merchant, found),
            None => show(merchant),
        },
    ))
}

/// The payout method that was added last: 201 when it is new.
fn newest_method(facts: &Facts<'_>) -> Option<Rendered> {
    let merchant: &Merchant = facts.the()?;
    Some(match merchant.methods.last() {
        Some(found) => (if facts.record.is_some() { 201 } else { 200 }, show_method(merchant, found)),
        None => (200, show(merchant)),
    })
}

shown! {
    fn show_deleted(merchant: &Merchant), deleted_schema, 128 {
        boolean "deleted" = true, schema::boolean();
        plain "merchantId" = merchant.id, values::uuid();
        text "externalRef" = &*merchant.external_ref, values::shown_ref();
    }
}

fn show_methods(merchant: &Merchant) -> Vec<u8> {
    list_json(merchant.methods.iter().map(|method| show_method(merchant, method)))
}

const NO_METHOD: &str = "no payout method exists; add one with POST /v1/merchants/:id/payout-methods";

shown! {
    pub fn show(merchant: &Merchant), schema, 512 {
        plain "merchantId" = merchant.id, values::uuid();
        constant "object" = "merchant";
        text "externalRef" = &*merchant.external_ref, values::shown_ref();
        maybe text "name" = Some(&merchant.name).filter(|name| !name.is_empty()), schema::text();
        maybe plain "identification" = merchant.identification.map(IdentityDocument::clear), values::shown_identity();
        maybe text "contactEmail" = merchant.contact_email.as_deref(), schema::text();
        maybe plain "contactPhone" = merchant.contact_phone.map(MobilePhone::clear), values::shown_phone();
        plain "status" = merchant.status().name(),
            schema::one_of(Status::ALL.map(Status::name)).about("`shell`: no method; `verified`: at least one verified; `rejected`: the bank rejected the last one.");
        boolean "isActive" = merchant.active, schema::boolean();
        list "payoutMethods" = merchant.methods.iter().map(|method| show_method(merchant, method)),
            schema::list(schema::named("PayoutMethod"));
        maybe text "message" = merchant.methods.is_empty().then_some(NO_METHOD),
            schema::text().about("Says so when no payout method exists.");
        boolean "livemode" = merchant.livemode, values::livemode();
        plain "createdAt" = merchant.created_at, values::instant();
        plain "updatedAt" = merchant.updated_at, values::instant();
    }
}

shown! {
    pub fn show_method(merchant: &Merchant, method: &PayoutMethod), method_schema, 512 {
        plain "payoutMethodId" = method.id, values::uuid();
        plain "identifier" = method.id, values::uuid().about("Equal to `payoutMethodId`.");
        plain "bankCode" = method.bank, values::bank_code();
        plain "phone" = method.phone.clear(), values::shown_phone();
        plain "status" = method.status.name(), schema::one_of(["unverified", "verifying", "verified"]);
        boolean "isDefault" = merchant.default_method == Some(method.id), schema::boolean();
        plain "createdAt" = method.created_at, values::instant();
        maybe plain "verifiedAt" = method.status.verified_at(), values::instant();
    }
}

pub fn merchant() -> schema::Schema {
    schema().example(
        r#"{"merchantId":"01975a2e-7c00-7000-8000-0000000000aa","object":"merchant",
        "externalRef":"seller-1","name":"Bodega La Esquina","identification":"V87654321",
        "contactEmail":"bodega@example.com","contactPhone":"04147654321","status":"verified",
        "isActive":true,"payoutMethods":[{"payoutMethodId":"01975a2e-7c00-7000-8000-0000000000ac",
        "identifier":"01975a2e-7c00-7000-8000-0000000000ac","bankCode":"0134","phone":"04147654321",
        "status":"verified","isDefault":true,"createdAt":"2026-11-21T02:13:00.000Z",
        "verifiedAt":"2026-11-21T02:15:00.000Z"}],"message":null,"livemode":false,
        "createdAt":"2026-11-21T02:13:00.000Z","updatedAt":"2026-11-21T02:15:00.000Z"}"#,
    )
}
