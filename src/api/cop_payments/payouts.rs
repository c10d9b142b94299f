//! Payouts of pesos: tenants read them; the operator's calls are in `admin/cop_payouts.rs`
//! (`docs/contract.md, 11.8`).

use super::CHAPTER;
use crate::answer::{Facts, Rendered};
use crate::endpoint::{Context, Handler, endpoints, run, shown};
use crate::fields::Got;
use crate::lists::{self, List};
use crate::openapi::{schema, values};
use crate::problem::Problem;
use crate::query::Query;
use crate::respond::Reply;
use domain::entities::cop_payout::{AccountType, CopPayout};
use domain::entities::payout::Status;
use domain::entities::{Entity, OfKind};
use domain::values::colombia::DocumentType;
use domain::values::ids::{EntityId, Kind};

endpoints! { CHAPTER;
    LIST = run!(list), "List payouts in pesos" => {
        about "They are made by the operator on request.";
        filters by_status;
        answers 200, "CopPayoutPage", "Newest first";
    };
    READ = run!(|cx| cx.one(EntityId::cop_payout(cx.id("id")?), show)), "Read a payout in pesos" => {
        answers 200, "CopPayout", "The payout";
    };
}

pub fn by_status(query: &mut Query<'_>) -> Got<List> {
    lists::by_status(query, Kind::CopPayout, Status::ALL.map(|status| (status.name(), status as u8)))
}

async fn list(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (list, page) = cx.listed("cop payouts", by_status)?;
    cx.list(list, page, show_entity).await
}

pub fn show_entity(entity: &Entity) -> Option<Vec<u8>> {
    CopPayout::of(entity).map(show)
}

/// The answer to a new payout, or to a repeat of one.
pub fn created(facts: &Facts<'_>) -> Option<Rendered> {
    Some((if facts.record.is_some() { 201 } else { 200 }, show(facts.the()?)))
}

pub fn settled(facts: &Facts<'_>) -> Option<Rendered> {
    Some((200, show(facts.the()?)))
}

shown! {
    /// A payout in pesos, as JSON. Who is paid is masked.
    pub fn show(payout: &CopPayout), schema, 768 {
        plain "id" = payout.id, values::uuid();
        plain "payoutId" = payout.id, values::uuid().about("Equal to `id`.");
        constant "object" = "cop_payout";
        plain "status" = payout.status.name(), schema::one_of(Status::ALL.map(Status::name));
        maybe text "reference" = payout.reference.as_deref(), schema::text();
        maybe text "failureCode" = payout.failure_code.as_deref(), schema::text();
        text "externalRef" = &*payout.external_ref, values::shown_ref();
        plain "amountCop" = payout.amount, values::pesos();
        constant "currency" = "COP";
        text "bank" = &payout.to.bank, schema::text();
        plain "accountNumber" = payout.to.account.masked(), schema::text().about("Masked.");
        plain "accountType" = payout.to.account_type.name(), schema::one_of(AccountType::ALL.map(AccountType::name));
        text "holderName" = &payout.to.holder_name, schema::text();
        plain "documentType" = payout.to.document_type.name(), schema::one_of(DocumentType::ALL.map(DocumentType::name));
        plain "documentNumber" = payout.to.document_number.masked(), schema::text().about("Masked.");
        boolean "livemode" = payout.livemode, values::livemode();
        plain "createdAt" = payout.created_at, values::instant();
        maybe plain "settledAt" = payout.settled_at, values::instant();
    }
}

shown! {
    /// A payout in pesos as an operator sees it: the recipient unmasked for whoever pays, or only the end of the
    /// account.
    pub fn show_to_operator(payout: &CopPayout, in_clear: bool), operator_schema, 768 [
        let (masked, to) = (&payout.to, in_clear.then_some(&payout.to));
    ] {
        plain "id" = payout.id, uuid();
        plain "payoutId" = payout.id, uuid();
        constant "object" = "cop_payout";
        plain "status" = payout.status.name(), one_of(Status::ALL.map(Status::name));
        maybe text "reference" = payout.reference.as_deref(), text();
        maybe text "failureCode" = payout.failure_code.as_deref(), text();
        text "externalRef" = &*payout.external_ref, text();
        plain "amountCop" = payout.amount, pesos();
        constant "currency" = "COP";
        optional text "bank" = to.map(|to| &to.bank), text();
        optional text "accountNumber" = to.map(|to| to.account.clear()), text();
        optional plain "accountType" = to.map(|to| to.account_type.name()), text();
        optional text "holderName" = to.map(|to| &to.holder_name), text();
        optional plain "documentType" = to.map(|to| to.document_type.name()), text();
        optional text "documentNumber" = to.map(|to| to.document_number.clear()), text();
        optional text "destination" = to.is_none().then(|| masked.account.masked().to_string()),
            text().about("An ellipsis and the last four digits.");
        boolean "livemode" = payout.livemode, boolean();
        plain "createdAt" = payout.created_at, instant();
        maybe plain "settledAt" = payout.settled_at, instant();
    }
}
