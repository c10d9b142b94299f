//! USDT payouts that wait for an operator, and what the operator says of them
//! (`docs/contract.md, 10.3`).

use super::call::{Call, CallResult, Done, Handler, listed_id, owned, owned_schema, owner, run, walk};
use super::finding::{GotWhose, Whose, mode};
use crate::gateway::services::Services;
use crate::store::history;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::conversions::read_reason;
use api::crypto::{facets, read_approval, read_rejection, read_status, show};
use api::endpoint::{Endpoint, endpoint};
use api::fields::{Invalid, Kind as _, body};
use api::openapi::document::Chapter;
use api::openapi::operation::{Operation, summary};
use api::openapi::schema;
use api::page::{ListOf, Page};
use api::query::Query;
use api::writer::Object;
use domain::entities::Entity;
use domain::index::{self, Space};
use domain::resources::crypto;
use domain::resources::crypto::payouts::Verdict;
use domain::values::ids::{EntityId, Kind, PLATFORM, is_live};
use std::collections::BTreeSet;

const CHAPTER: &str = "USDT payouts";

/// The most entries that a page looks at: one of a few tenants' payouts may be short and have a next one.
const LOOKS_MAX: usize = 10_000;

fn asked(mut query: Query<'_>, list: ListOf<'_>) -> Result<(Vec<u8>, Whose, Page), Invalid> {
    let status = read_status(&mut query);
    let whose = GotWhose::read_by(&mut query, mode().about("Both if missing."));
    let page = query.page(list);
    let sound = query.finish()?;
    Ok((facets(status.get(&sound)), whose.get(&sound), page.get(&sound)))
}

fn reviews(operation: Operation) -> Operation {
    operation.answers(200, "CryptoPayout", "The payout").refuses(409, &["payout_not_pending_review"])
}

pub const LIST: Endpoint<Handler> = endpoint(CHAPTER, run!(list), || {
    summary("List the USDT payouts of all accounts")
        .command("crypto-payout list", "List payouts in USDT", "--status pending_review")
        .list(asked)
        .answers(200, "CryptoPayoutPage", "Newest first")
});

async fn list(call: Call) -> CallResult {
    let (facets, whose, page) = call.listed("crypto payouts", asked)?;
    let keys = whose.keys(&call.services).into_iter().collect();
    let read = move |services: &Services, budget: &ReadBudget| items(services, &facets, &keys, &page, budget);
    Ok(Done::ok(call.read(read).await?))
}

fn items(
    services: &Services,
    facets: &[u8],
    keys: &BTreeSet<u64>,
    page: &Page,
    budget: &ReadBudget,
) -> Result<Vec<u8>, Stopped> {
    let reader = services.engine.reader();
    // Those of live mode are in one list, and those of test mode in their accounts' own.
    let owners = [PLATFORM].into_iter().chain(keys.iter().copied().filter(|key| !is_live(*key)));
    let lists = owners.flat_map(|owner| facets.iter().map(move |facet| (owner, *facet)));
    let parts = lists.map(|(owner, facet)| index::list(owner, Kind::CryptoPayout, facet)).collect();
    walk(reader, parts, (page.after.as_deref(), None), (page, LOOKS_MAX), budget, |position| {
        let id = listed_id(position)?;
        let Some(tenant_key) = owner(reader, Space::CryptoPayout, id)?.filter(|key| keys.contains(key))
        else {
            return Ok(None);
        };
        let found = history::entity(reader, tenant_key, EntityId::crypto_payout(id))?;
        Ok(match found.as_deref() {
            Some(Entity::CryptoPayout(payout)) => Some(owned(&services.callers, tenant_key, show(payout))),
            _ => None,
        })
    })
}

pub const APPROVE: Endpoint<Handler> = endpoint(CHAPTER, run!(approve), || {
    reviews(
        summary("Approve a USDT payout")
            .command("crypto-payout approve", "Approve a large payout", "")
            .refuses(503, &["clock_stepped"]),
    )
    .answers_with(
        202,
        schema::any_of([schema::named("CryptoPayout"), schema::named("AskedApproval")]),
        "The network has not answered yet, or it waits for a \
                     second person",
    )
})
.shows(api::crypto::reviewed);

async fn approve(call: Call) -> CallResult {
    let verdict = call.body.read(read_approval)?;
    review(&call, verdict).await
}

pub const REJECT: Endpoint<Handler> = endpoint(CHAPTER, run!(reject), || {
    reviews(
        summary("Reject a USDT payout")
            .command(
                "crypto-payout reject",
                "Reject a large payout; the money returns to the balance",
                "--reason \"address on a list\"",
            )
            .asking_for("reason")
            .refuses(503, &["clock_stepped"]),
    )
    .about("The money goes back; `crypto_payout.failed` is sent with the status `rejected`.")
    .body_optional("Rejection")
    .example("why", r#"{"reason":"unknown wallet"}"#)
    .answers(202, "AskedApproval", "It waits for a second person")
})
.shows(api::crypto::reviewed);

async fn reject(call: Call) -> CallResult {
    let verdict = call.body.read(read_rejection)?;
    review(&call, verdict).await
}

async fn review(call: &Call, verdict: Verdict) -> CallResult {
    let (id, tenant_key) = call.owner(Space::CryptoPayout)?;
    // A rejection may come without a body; an approval never has one.
    let asked = match &verdict {
        Verdict::Reject(reason) => Object::new().text("reason", reason).end(),
        Verdict::Approve => Vec::new(),
    };
    if let Some(waiting) = call.waits_as(call.tenant_of(tenant_key), asked).await? {
        return Ok(waiting);
    }
    let command = crypto::payouts::Command::Review(verdict).into();
    call.decide(tenant_key, EntityId::crypto_payout(id), command, id).await
}

pub fn chapter() -> Chapter {
    use api::openapi::values::page;
    Chapter {
        tag: CHAPTER,
        about: "Payouts in USDT above the limit of their account wait for a review.",
        schemas: vec![
            ("CryptoPayout", api::crypto::payout_schema()),
            ("AccountCryptoPayout", owned_schema(api::crypto::payout_schema())),
            ("CryptoPayoutPage", page("AccountCryptoPayout")),
            ("Rejection", body(read_reason)),
        ],
        ..Chapter::default()
    }
}
