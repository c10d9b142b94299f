//! USDT payouts that wait for an operator, and what the operator says of them
//! (`docs/contract.md, 10.3`).

use super::call::{Call, CallResult, Done};
use super::chargebacks::tell;
use super::finding::{GotWhose, Whose, mode, owned};
use crate::gateway::services::Services;
use crate::store::history::{self, Unreadable};
use crate::store::merge_cursor::MergeCursor;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::crypto::{facets, read_approval, read_rejection, read_status, show};
use api::fields::Invalid;
use api::kind::Kind as _;
use api::page::{ListOf, Page, page_json};
use api::problem::Problem;
use api::query::Query;
use api::writer::Object;
use domain::index::{self, Space};
use domain::platform::{PLATFORM, is_live};
use domain::record::Entity;
use domain::resources::crypto;
use domain::resources::crypto::payouts::Verdict;
use domain::values::ids::{EntityId, Id, Kind};
use std::collections::BTreeSet;
use wal::Reader;

/// The most entries that a page looks at: one of a few tenants' payouts may be short and have a next one.
const LOOKS_MAX: usize = 10_000;

/// Reads which payouts are asked for: their facets, and whose they are.
pub(super) fn asked(mut query: Query<'_>, list: ListOf<'_>) -> Result<(Vec<u8>, Whose, Page), Invalid> {
    let status = read_status(&mut query);
    let whose = GotWhose::read_by(&mut query, mode().about("Both if missing."));
    let page = query.page(list);
    let sound = query.finish()?;
    Ok((facets(status.get(&sound)), whose.get(&sound), page.get(&sound)))
}

/// GET /admin/crypto/payouts: those of all tenants in both modes, newest first.
pub async fn list(call: Call) -> CallResult {
    let (facets, whose, page) = call.listed("crypto payouts", asked)?;
    let keys = whose.keys(&call.services).into_iter().collect();
    let services = &call.services;
    let read = move |services: &Services, budget: &ReadBudget| items(services, &facets, &keys, &page, budget);
    Ok(Done::ok(services.read_pool.read(services, PLATFORM, read).await?))
}

/// A page of the payouts of these tenant keys.
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
    let moment = reader.index_moment();
    let mut newest = MergeCursor::new(&moment, parts, page.after.as_deref(), None, Some(budget))?;
    let (mut items, mut last) = (Vec::with_capacity(page.limit), Vec::new());
    for looks in 0.. {
        let Some(suffix) = newest.take()? else { break };
        if items.len() == page.limit || looks == LOOKS_MAX {
            return Ok(page_json(items, Some(&page.next(&last))));
        }
        budget.spend()?;
        let id = <[u8; 16]>::try_from(suffix.as_slice()).map(Id::from_bytes);
        let id = id.map_err(|_| Unreadable("a list entry of the operators that is no id".to_owned()))?;
        let whose = tenant_of(reader, id)?.filter(|tenant_key| keys.contains(tenant_key));
        if let Some(tenant_key) = whose
            && let Some(found) = history::entity(reader, tenant_key, EntityId::crypto_payout(id))?
            && let Entity::CryptoPayout(payout) = &*found
        {
            items.push(owned(services, tenant_key, show(payout)));
        }
        last = suffix;
    }
    Ok(page_json(items, None))
}

/// The tenant key of a payout.
fn tenant_of(reader: &Reader, id: Id) -> Result<Option<u64>, Unreadable> {
    let key = index::name(PLATFORM, Space::CryptoPayout, &id.to_string());
    let Some(value) = reader.index_get(&key)? else { return Ok(None) };
    <[u8; 8]>::try_from(value.as_slice())
        .map(|bytes| Some(u64::from_be_bytes(bytes)))
        .map_err(|_| Unreadable("a USDT payout of no tenant".to_owned()))
}

/// POST /admin/crypto/payouts/:id/approve
pub async fn approve(call: Call) -> CallResult {
    let verdict = call.body.read(read_approval)?;
    review(&call, verdict).await
}

/// POST /admin/crypto/payouts/:id/reject
pub async fn reject(call: Call) -> CallResult {
    let verdict = call.body.read(read_rejection)?;
    review(&call, verdict).await
}

async fn review(call: &Call, verdict: Verdict) -> CallResult {
    let id = call.id("id").ok_or_else(Problem::not_found)?;
    let tenant_key = tenant_of(call.services.engine.reader(), id)?.ok_or_else(Problem::not_found)?;
    // A rejection may come without a body; an approval never has one.
    let asked = match &verdict {
        Verdict::Reject(reason) => Object::new().text("reason", reason).end(),
        Verdict::Approve => Vec::new(),
    };
    if let Some(waiting) = call.waits_as(call.tenant_of(tenant_key), asked).await? {
        return Ok(waiting);
    }
    tell(call, tenant_key, EntityId::crypto_payout(id), crypto::payouts::Command::Review(verdict).into(), id)
        .await
}
