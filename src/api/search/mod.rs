//! Searching: one text, and everything that it names, whatever its kind (`docs/contract.md, 20.4`).
//!
//! A text is tried as an id, as a name of the tenant's, and as what the index knows of banks'
//! references, transactions and people. Each trial is a seek, so a search costs the same whatever
//! the length of the history; what an entry leads to is compared with the text before it is shown.

mod items;
mod people;
pub mod sought;
mod traits;

use domain::entities::Entity;
pub use items::{FoundDeposit, Hit, Subject, Why, item};

use crate::endpoint::{Context, Handler, chapter, run};
use crate::entity::{BY_NAME, is_found_by_id};
use crate::openapi::operation::Operation;
use crate::openapi::{schema, values};
use crate::payments::{list, operations};
use crate::problem::Problem;
use crate::products::links;
use crate::records::{Records, Unread};
use crate::respond::Reply;
use domain::index::{self, Found, PersonMarks, Trait};
use domain::values::ids::{EntityId, Kind};
use sought::Sought;
use std::ops::ControlFlow;

pub const HITS_MAX: usize = 50;

pub fn searches(operation: Operation) -> Operation {
    operation
        .query(Sought::read)
        .about(
            "By an id of anything, a reference of your own or of a bank, a transaction's hash, the id of \
             a request, a document or a phone of a payer or seller: always the whole text. An account whose \
             searches for documents and phones found nobody 30 times in 10 minutes has to wait: 429.",
        )
        .answers(200, "FoundList", "Newest first, at most 50")
}

chapter! { "Finding things", "One text leads to everything that it names, and a request's id to what became \
    of the request.", {
        with found();
        "LoggedRequest" = logged();
    }
    SEARCH = run!(search), "Search by one text" => {
        with searches;
        refuses 429, &["too_many_attempts"];
    };
    REQUEST = run!(request), "Read what became of a request" => {
        about "Of 30 days, as far as `[requests] bytes_max` allows; of several requests with one id the \
            newest. Bodies are not kept.";
        answers 200, "LoggedRequest", "The request";
        refuses 404, &["not_found"];
    };
}

async fn search(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let sought = cx.asked(Sought::read)?;
    cx.server()?.search(sought).await
}

async fn request(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.path("requestId").to_owned();
    cx.server()?.request(id).await
}

/// Adds what a text names within a tenant key, but for what is known by more than the tenant's
/// records: requests, and tenants' names.
pub fn within(
    records: &dyn Records,
    sought: &Sought,
    marks: &PersonMarks,
    hits: &mut Vec<Hit>,
) -> Result<(), Unread> {
    by_id(records, sought, hits)?;
    by_name(records, sought, hits)?;
    for (by, text, prefix) in sought.prefixes(marks) {
        by_trait(records, by, &text, &prefix, hits)?;
    }
    Ok(())
}

pub fn by_id(records: &dyn Records, sought: &Sought, hits: &mut Vec<Hit>) -> Result<(), Unread> {
    let Some(id) = sought.id else { return Ok(()) };
    let tenant = records.tenant_key();
    for kind in Kind::ALL.into_iter().filter(|kind| is_found_by_id(*kind)) {
        // A quote is no conversion yet.
        let is_shown = |entity: &Entity| match entity {
            Entity::Conversion(conversion) => conversion.accepted().is_some(),
            _ => true,
        };
        if let Some(entity) = records.entity(EntityId { kind, id })?.filter(|entity| is_shown(entity)) {
            hits.push(Hit::of_entity(tenant, entity, Why::Id));
        }
    }
    let (whole, part) = id.entity_and_operation();
    if part > 0 {
        // A link of a product, or an operation with a bank.
        if let Some(product) = records.entity(domain::entities::product::product_of(id))?
            && links::has(&product, id)
        {
            hits.push(Hit { tenant, subject: Subject::Link(product, id), why: Why::Id });
        }
        for kind in operations::KINDS.into_iter().filter(|kind| is_found_by_id(*kind)) {
            if let Some(entity) = records.entity(EntityId { kind, id: whole })?
                && operations::show(id, part, &entity).is_some()
            {
                hits.push(Hit::of_entity(tenant, entity, Why::Id));
            }
        }
    }
    if let Some((kind, at)) = crate::events::pages::named(records, id)? {
        hits.push(Hit { tenant, subject: Subject::Event { id, kind, at }, why: Why::Id });
    }
    let text = id.to_string();
    if let Some(prefix) = index::found_by(&PersonMarks::default(), Trait::PartId, &text) {
        by_trait(records, Trait::PartId, &text, &prefix, hits)?;
    }
    Ok(())
}

/// Adds what has the text as the tenant's own reference.
pub fn by_name(records: &dyn Records, sought: &Sought, hits: &mut Vec<Hit>) -> Result<(), Unread> {
    let tenant = records.tenant_key();
    let mut named = Vec::new();
    for text in &sought.spellings {
        named.extend(list::named(records, text)?);
        for (space, kind) in BY_NAME {
            named.extend(records.named(space, text)?.map(|id| EntityId { kind, id }));
        }
    }
    for id in named {
        hits.extend(records.entity(id)?.map(|entity| Hit::of_entity(tenant, entity, Why::ExternalRef)));
    }
    Ok(())
}

/// Adds what the index knows by a text, newest first.
pub fn by_trait(
    records: &dyn Records,
    by: Trait,
    text: &str,
    prefix: &[u8],
    hits: &mut Vec<Hit>,
) -> Result<(), Unread> {
    let tenant = records.tenant_key();
    let (mut found, mut looks) = (0, 0);
    records.newest_entries(vec![index::found_within(prefix, tenant)], None, None, &mut |suffix, _| {
        looks += 1;
        let hit = match index::found(suffix) {
            Some(Found::Entity(id)) => {
                let entity = records.entity(id)?.filter(|entity| traits::has(entity, by, text));
                entity.map(|entity| Hit::of_entity(tenant, entity, Why::of(by)))
            }
            Some(Found::Deposit(id)) => {
                let key = [&index::found_within(prefix, tenant), suffix].concat();
                let deposit = traits::deposit(records, &key, id)?;
                deposit.filter(|deposit| deposit.has(by, text)).map(|deposit| Hit {
                    tenant,
                    subject: Subject::Deposit(Box::new(deposit)),
                    why: Why::of(by),
                })
            }
            None => None,
        };
        found += usize::from(hit.is_some());
        hits.extend(hit);
        // Entities that have gone or changed since are passed over, but not for ever.
        let enough = found == HITS_MAX || looks == 10 * HITS_MAX;
        Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })
}

/// The hits that are shown: each once, by the first reason for which it was found, newest first.
pub fn newest(mut hits: Vec<Hit>) -> Vec<Hit> {
    let mut known = std::collections::BTreeSet::new();
    hits.retain(|hit| known.insert((hit.tenant, hit.subject.kind(), hit.subject.id())));
    hits.sort_by_key(|hit| std::cmp::Reverse((hit.subject.made_at(), hit.subject.id())));
    hits.truncate(HITS_MAX);
    hits
}

pub fn found() -> Vec<(&'static str, schema::Schema)> {
    vec![("Found", items::schema()), ("FoundList", values::items("Found"))]
}

fn logged() -> schema::Schema {
    schema::object()
        .member("requestId", values::request_id())
        .member("at", values::instant())
        .member("method", schema::text())
        .member("route", schema::text().about("The template of the path, such as `/v1/payments/{id}`."))
        .member("status", schema::integer())
        .member("error", schema::text().or_null().about("The code of the error."))
        .member("keyId", values::uuid().about("The key that called."))
        .member("ms", schema::integer().at_least("0"))
        .member("entityId", values::uuid().or_null().about("What was made or changed."))
        .example(
            r#"{"requestId":"848xfrzmchatd","at":"2026-11-21T02:13:00.000Z","method":"POST",
            "route":"/v1/payouts","status":201,"error":null,
            "keyId":"01975a2e-7c00-7000-8000-000000000000","ms":3,
            "entityId":"01975a2e-7c00-7000-8000-0000000000aa"}"#,
        )
}
