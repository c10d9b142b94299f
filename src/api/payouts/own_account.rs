//! The tenant's own payout account: setting, proving and showing it, and paying to it
//! (`docs/contract.md, 7.11`). It is the tenant's own and shown in clear.

use crate::fields::Fields;
use crate::payouts::credit_bank;
use crate::plan::{Call, Plan};
use crate::problem::Problem;
use crate::query::Query;
use crate::value::Value;
use crate::writer::Object;
use domain::kept::Shape;
use domain::machine::{Facts, Rendered};
use domain::record::Entity;
use domain::resources::own_account;
use domain::resources::own_account::{OwnAccount, OwnPhone};
use domain::resources::verification::TRIES;
use domain::values::identity::IdentityDocument;
use domain::values::ids::EntityId;
use domain::values::money::Ves;
use domain::values::phone::MobilePhone;

/// PUT /v1/payouts/account
pub fn set(call: &Call<'_>) -> Result<Plan, Problem> {
    let mut fields = Fields::parse(call.body)?;
    let bank = fields.required("bankCode", |value| credit_bank(value, call.banks));
    let phone = fields.required("phone", |value| value.text_as(MobilePhone::parse));
    let identification = fields.required("identification", |value| value.text_as(IdentityDocument::parse));
    let sound = fields.finish()?;
    let held = OwnPhone {
        bank: bank.get(&sound),
        phone: phone.get(&sound),
        identification: identification.get(&sound),
    };
    Ok(Plan::Entity(EntityId::OWN_ACCOUNT, own_account::Command::Set(held).into(), Shape::OwnAccount))
}

/// GET /v1/payouts/account
pub fn read(call: &Call<'_>) -> Result<Plan, Problem> {
    Query::parse(call.query).finish()?;
    Ok(Plan::Read(EntityId::OWN_ACCOUNT, show_entity))
}

/// POST /v1/payouts/account/verify/start
pub fn start_verification(call: &Call<'_>) -> Result<Plan, Problem> {
    Fields::parse_optional(call.body)?.finish()?;
    Ok(Plan::Entity(
        EntityId::OWN_ACCOUNT,
        own_account::Command::StartVerification(call.micro_deposits).into(),
        Shape::OwnVerificationStarted,
    ))
}

/// POST /v1/payouts/account/verify
pub fn verify(call: &Call<'_>) -> Result<Plan, Problem> {
    let mut fields = Fields::parse(call.body)?;
    let first = fields.required("amount1", Value::amount);
    let second = fields.required("amount2", Value::amount);
    let sound = fields.finish()?;
    let seen = (Ves::from_minor(first.get(&sound)), Ves::from_minor(second.get(&sound)));
    Ok(Plan::Entity(EntityId::OWN_ACCOUNT, own_account::Command::Verify(seen).into(), Shape::OwnAccount))
}

/// The account after a change: 201 when it is the first.
pub fn changed(account: &OwnAccount, facts: &Facts<'_>) -> Rendered {
    let new = facts
        .record
        .and_then(|record| record.entities.first())
        .is_some_and(|written| written.indexed.is_none());
    (if new { 201 } else { 200 }, show(account))
}

/// The answer to the start of a verification; an account that the bank rejected is gone by now.
pub fn verification_started(account: &OwnAccount, facts: &Facts<'_>) -> Rendered {
    let rejected = facts.record.is_some_and(|record| !record.removed.is_empty());
    let body = if rejected {
        Object::new()
            .plain("status", "rejected")
            .plain("failureCode", "BE01")
            .plain("action", "payout_account_deleted")
    } else {
        Object::new().plain("status", account.status.name()).number("attemptsLeft", TRIES)
    };
    (202, body.end())
}

fn show_entity(entity: &Entity) -> Vec<u8> {
    if let Entity::OwnAccount(account) = entity { show(account) } else { b"{}".to_vec() }
}

/// The account, as JSON.
pub fn show(account: &OwnAccount) -> Vec<u8> {
    let verified_at = account.status.verified_at();
    Object::new()
        .plain("object", "payout_account")
        .plain("bankCode", account.held.bank)
        .plain("phone", account.held.phone.clear())
        .plain("identification", account.held.identification.clear())
        .plain("status", account.status.name())
        .boolean("livemode", account.livemode)
        .plain("createdAt", account.created_at)
        .plain("updatedAt", account.updated_at)
        .maybe_plain("verifiedAt", verified_at)
        .end()
}
