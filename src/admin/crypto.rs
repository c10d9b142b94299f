//! USDT payouts that wait for an operator, and what the operator says of them
//! (`docs/contract.md, 10.3`).

use super::call::{Call, CallResult, Handler, Whose, approved, listed_id, owned, owned_schema, run};
use super::finding::mode;
use crate::gateway::services::Services;
use crate::store::history;
use api::conversions::read_reason;
use api::crypto::{by_status, read_approval, read_rejection, show};
use api::endpoint::chapter;
use api::fields::{Invalid, Kind as _, body, read};
use api::lists::List;
use api::openapi::kinds;
use api::openapi::operation::Operation;
use api::openapi::schema;
use api::page::{ListOf, Page};
use api::problem::Problem;
use api::query::Query;
use api::writer::Object;
use domain::entities::Entity;
use domain::index::{self, Space};
use domain::resources::crypto;
use domain::resources::crypto::payouts::Verdict;
use domain::values::ids::{EntityId, PLATFORM, is_live};
use std::collections::BTreeSet;

/// The most entries that a page looks at: one of a few tenants' payouts may be short and have a next one.
const LOOKS_MAX: usize = 10_000;

fn asked(mut query: Query<'_>, list: ListOf<'_>) -> Result<(List, Whose, Page), Invalid> {
    Ok(read!(query {
        got payouts = by_status(&mut query);
        optional tenant = "tenantId", kinds::id();
        optional mode = "mode", mode().about("Both if missing.");
        got page = query.page(list);
    } => (payouts, Whose { tenant, mode }, page)))
}

fn reviews(operation: Operation) -> Operation {
    operation.answers(200, "CryptoPayout", "The payout").refuses(409, &["payout_not_pending_review"])
}

chapter! { "USDT payouts", "Payouts in USDT above the limit of their account wait for a review.", {
        "CryptoPayout" = api::crypto::payout_schema();
        "AccountCryptoPayout" = owned_schema(api::crypto::payout_schema());
        "CryptoPayoutPage" = page("AccountCryptoPayout");
        "Rejection" = body(read_reason);
    }
    LIST = run!(list), "List the USDT payouts of all accounts" => {
        command "crypto-payout list", "List payouts in USDT", "--status pending_review";
        list asked;
        answers 200, "CryptoPayoutPage", "Newest first";
    };
    APPROVE = run!(|call| review(call, read_approval).await), "Approve a USDT payout" => {
        command "crypto-payout approve", "Approve a large payout", "";
        refuses 503, &["clock_stepped"];
        with reviews;
        answers_with 202, schema::any_of([schema::named("CryptoPayout"), schema::named("AskedApproval")]),
            "The network has not answered yet, or it waits for a second person";
    } shows api::crypto::reviewed;
    REJECT = run!(|call| review(call, read_rejection).await), "Reject a USDT payout" => {
        command "crypto-payout reject", "Reject a large payout; the money returns to the balance",
            "--reason \"address on a list\"";
        asking_for "reason";
        refuses 503, &["clock_stepped"];
        with reviews;
        about "The money goes back; `crypto_payout.failed` is sent with the status `rejected`.";
        body_optional "Rejection";
        example "why", r#"{"reason":"unknown wallet"}"#;
        waits;
    } shows api::crypto::reviewed;
}

async fn list(call: Call) -> CallResult {
    let (payouts, whose, page) = call.listed("crypto payouts", asked)?;
    let keys: BTreeSet<u64> = whose.keys(&call.services).into_iter().collect();
    // Those of live mode are in one list, and those of test mode in their accounts' own.
    let owners = [PLATFORM].into_iter().chain(keys.iter().copied().filter(|key| !is_live(*key)));
    let of = |owner| payouts.listed().iter().map(move |(kind, facet)| index::list(owner, *kind, *facet));
    let parts = owners.flat_map(of).collect();
    let show = move |services: &Services, position: &[u8]| {
        let (reader, id) = (services.engine.reader(), listed_id(position)?);
        let Some(tenant_key) =
            history::owner(reader, Space::CryptoPayout, id)?.filter(|key| keys.contains(key))
        else {
            return Ok(None);
        };
        let found = history::entity(reader, tenant_key, EntityId::crypto_payout(id))?;
        Ok(match found.as_deref().filter(|payout| payouts.has(payout)) {
            Some(Entity::CryptoPayout(payout)) => Some(owned(&services.callers, tenant_key, show(payout))),
            _ => None,
        })
    };
    call.walk(parts, (None, None), (page, LOOKS_MAX), show).await
}

async fn review(call: Call, read: fn(&[u8]) -> Result<Verdict, Problem>) -> CallResult {
    let verdict = call.body.read(read)?;
    let (id, tenant_key) = call.owner(Space::CryptoPayout)?;
    // A rejection may come without a body; an approval never has one.
    let asked = match &verdict {
        Verdict::Reject(reason) => Object::new().text("reason", reason).end(),
        Verdict::Approve => Vec::new(),
    };
    approved!(call.waits_as(call.tenant_of(tenant_key), asked));
    let command = crypto::payouts::Command::Review(verdict).into();
    call.decide(tenant_key, EntityId::crypto_payout(id), command, id).await
}
