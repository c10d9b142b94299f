//! Payouts in bolívares: creating, reading and listing them (`service.md`, "Payouts (VES)"; `contract.md`, section 7).

use crate::api::fields::Fields;
use crate::api::plan::{Call, Plan};
use crate::api::problem::Problem;
use crate::api::query::Query;
use crate::api::value::Value;
use crate::api::writer::Object;
use crate::domain::external_ref::ExternalRef;
use crate::domain::ids::{EntityId, Id, Kind};
use crate::domain::index::Space;
use crate::domain::kept::Shape;
use crate::domain::machine::{Ask, Rendered};
use crate::domain::money::Ves;
use crate::domain::payouts::{NewPayout, Payout, Status};
use crate::domain::record::Entity;

/// Characters of a description.
pub const CONCEPT_MAX: usize = 140;

/// POST /v1/payouts
pub fn create(call: &Call<'_>) -> Result<Plan, Problem> {
    let mut fields = Fields::parse(call.body)?;
    let merchant = fields.required("merchantId", Value::uuid);
    let method = fields.optional("payoutMethodId", Value::uuid);
    let amount = fields.required("monto", Value::positive_amount);
    let concept = fields.required("concepto", |value| value.trimmed(1..=CONCEPT_MAX));
    let external_ref = fields.required("externalRef", |value| value.text_as(ExternalRef::parse));
    let from_merchant_balance = fields.optional("fromMerchantBalance", Value::boolean);
    let sound = fields.finish()?;
    let id = call.new_id();
    let external_ref = external_ref.get(&sound);
    let name = external_ref.as_str().to_owned();
    let new = NewPayout {
        id,
        external_ref,
        merchant: merchant.get(&sound).into(),
        method: method.get(&sound).map(Id::from),
        amount: Ves::from_minor(amount.get(&sound)),
        concept: concept.get(&sound).into_owned(),
        from_merchant_balance: from_merchant_balance.get(&sound).unwrap_or(false),
    };
    Ok(Plan::Create { space: Space::Payout, name, id: EntityId::payout(id), ask: Ask::Pay(Box::new(new)), shape: Shape::PayoutCreated })
}

/// GET /v1/payouts/:id
pub fn read(call: &Call<'_>) -> Result<Plan, Problem> {
    let id = call.id("id")?;
    Query::parse(call.query).finish()?;
    Ok(Plan::Read(EntityId::payout(id), show_entity))
}

/// GET /v1/payouts/by-ref/:externalRef
pub fn read_by_ref(call: &Call<'_>) -> Result<Plan, Problem> {
    Query::parse(call.query).finish()?;
    let name = ExternalRef::parse(&(call.path)("externalRef")).map_err(|_| Problem::not_found())?;
    Ok(Plan::ReadNamed(Space::Payout, name.as_str().to_owned(), Kind::Payout, show_entity))
}

/// GET /v1/payouts
pub fn list(call: &Call<'_>) -> Result<Plan, Problem> {
    let mut query = Query::parse(call.query);
    let status = query.optional("status", |text| text.one_of(&Status::ALL.map(|status| (status.name(), status))));
    let page = query.page(call.caller.tenant_key, "payouts");
    let sound = query.finish()?;
    let status = status.get(&sound);
    let facets = Status::ALL.into_iter().filter(|each| status.is_none_or(|status| status == *each)).map(|status| status as u8).collect();
    Ok(Plan::List { kind: Kind::Payout, facets, page: page.get(&sound), show: show_entity })
}

/// The answer to a new payout, or to a repeat of one (`contract.md`, section 1, "Status of a create").
pub fn created(payout: &Payout, new: bool) -> Rendered {
    let status = match (new, payout.status) {
        (false, _) => 200,
        (true, Status::Pending) => 202,
        (true, Status::Completed | Status::Failed) => 201,
    };
    (status, show(payout))
}

fn show_entity(entity: &Entity) -> Vec<u8> {
    match entity {
        Entity::Payout(payout) => show(payout),
        Entity::Payment(_) | Entity::Merchant(_) | Entity::Chargeback(_) | Entity::Otp(_) => b"{}".to_vec(),
    }
}

/// A payout, as JSON.
pub fn show(payout: &Payout) -> Vec<u8> {
    Object::with_capacity(896)
        .plain("payoutId", payout.id)
        .plain("object", "payout")
        .plain("kind", payout.kind.name())
        .plain("status", payout.status.name())
        .maybe_text("reference", payout.reference.as_deref())
        .maybe_text("failureCode", payout.failure_code.as_deref())
        .text("externalRef", &*payout.external_ref)
        .null("batchId")
        .maybe_plain("merchantId", payout.merchant)
        .maybe_plain("payoutMethodId", payout.method)
        .text("merchantName", &payout.merchant_name)
        .plain("monto", payout.amount)
        .plain("feeVes", payout.fee)
        .text("concepto", &payout.concept)
        .plain("bankCode", payout.bank)
        .plain("destination", format_args!("…{:04}", payout.phone.last_four()))
        .boolean("fromMerchantBalance", payout.from_merchant_balance)
        .maybe_plain("operationId", payout.operation())
        .boolean("livemode", payout.livemode)
        .plain("createdAt", payout.created_at)
        .maybe_plain("settledAt", payout.settled_at)
        .end()
}
