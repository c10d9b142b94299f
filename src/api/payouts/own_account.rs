//! The tenant's own payout account: setting, proving and showing it, and paying to it
//! (`docs/contract.md, 7.11`). It is the tenant's own and shown unmasked.

use super::CHAPTER;
use crate::answer::{Facts, Rendered};
use crate::endpoint::{Context, Handler, endpoints, run, shown};
use crate::fields::{Fields, Invalid, read};
use crate::openapi::{kinds, schema, values};
use crate::payouts::{credit_bank, verification};
use crate::problem::Problem;
use crate::respond::Reply;
use crate::writer::Object;
use domain::entities::own_account::{OwnAccount, OwnPhone};
use domain::resources::banks::Catalogue;
use domain::resources::own_account;
use domain::values::ids::EntityId;

endpoints! { CHAPTER;
    SET = run!(set), "Set your own payout account" => {
        about "A change undoes its verification.";
        body "NewPayoutAccount";
        example "an account by phone",
            r#"{"bankCode":"0134","phone":"04141234567","identification":"J123456789"}"#;
        answers 201, "PayoutAccount", "The first account";
        answers 200, "PayoutAccount", "The account, changed";
    } shows changed;
    READ = run!(|cx| cx.one(EntityId::OWN_ACCOUNT, show)), "Read your own payout account" => {
        answers 200, "PayoutAccount", "The account";
        refuses 404, &["not_found"];
    };
    START_VERIFICATION = run!(start_verification), "Send the two micro-deposits to your own account" => {
        answers_with 202, verification::started("payout_account_deleted"), "They are sent; or the bank said \
            that the account is not yours, and it is deleted";
        refuses 404, &["not_found"];
        refuses 409,
            &["verification_in_progress", "verification_locked", "already_verified", "settings_changed"];
        refuses 429, &["too_many_attempts"];
        refuses 503, &["rail_not_configured", "rail_unavailable"];
    } shows verification_started;
    VERIFY = run!(verify), "Verify your own account by the amounts of the micro-deposits" => {
        body "SeenAmounts";
        example "those of test mode", r#"{"amount1":"0.32","amount2":"0.45"}"#;
        answers 200, "PayoutAccount", "The account, verified";
        refuses 400, &["amounts_mismatch"];
        refuses 404, &["not_found"];
        refuses 409, &["verification_not_started", "verification_locked", "already_verified"];
    } shows changed;
}

async fn set(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let held = read_phone(Fields::parse(&cx.body)?, cx.banks)?;
    cx.ask(EntityId::OWN_ACCOUNT, own_account::Command::Set(held)).await
}

pub(super) fn read_phone(mut fields: Fields<'_>, banks: &Catalogue) -> Result<OwnPhone, Invalid> {
    Ok(read!(fields {
        required bank = "bankCode", credit_bank(banks);
        required phone = "phone", kinds::phone();
        required identification = "identification", kinds::identity();
    } => OwnPhone { bank, phone, identification }))
}

async fn start_verification(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    cx.no_body()?;
    verification::start(cx, EntityId::OWN_ACCOUNT, None).await
}

async fn verify(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let seen = verification::read_seen(Fields::parse(&cx.body)?)?;
    cx.ask(EntityId::OWN_ACCOUNT, own_account::Command::Verify(seen)).await
}

/// The account after a change: 201 when it is the first.
fn changed(facts: &Facts<'_>) -> Option<Rendered> {
    let new = facts
        .record
        .and_then(|record| record.entities.first())
        .is_some_and(|written| written.indexed.is_none());
    Some((if new { 201 } else { 200 }, show(facts.the()?)))
}

/// The answer to the start of a verification; an account that the bank rejected is gone by now.
fn verification_started(facts: &Facts<'_>) -> Option<Rendered> {
    let account: &OwnAccount = facts.the()?;
    let rejected = facts.record.is_some_and(|record| !record.removed.is_empty());
    let status = (!rejected).then_some(&account.status);
    Some((202, verification::begun(Object::new(), status, "payout_account_deleted")))
}

shown! {
    pub fn show(account: &OwnAccount), schema, 512 {
        constant "object" = "payout_account";
        plain "bankCode" = account.held.bank, values::bank_code();
        plain "phone" = account.held.phone.clear(), values::shown_phone();
        plain "identification" = account.held.identification.clear(), values::shown_identity();
        plain "status" = account.status.name(), schema::one_of(["unverified", "verifying", "verified"]);
        boolean "livemode" = account.livemode, values::livemode();
        plain "createdAt" = account.created_at, values::instant();
        plain "updatedAt" = account.updated_at, values::instant();
        maybe plain "verifiedAt" = account.status.verified_at(), values::instant();
    }
}
