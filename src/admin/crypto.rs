//! USDT payouts that wait for an operator, and what the operator says of them
//! (`docs/contract.md, 10.3`).

use super::call::{Call, Done, Outcome};
use super::chargebacks::tell;
use crate::gateway::ask::defect;
use crate::store::history::{self, Unreadable};
use crate::store::merge_cursor::MergeCursor;
use api::crypto::{facets, read_approval, read_facets, read_rejection, show};
use api::page::page_json;
use api::problem::Problem;
use api::query::Query;
use api::writer::Object;
use domain::index::{self, Space};
use domain::kept::Shape;
use domain::platform::PLATFORM;
use domain::record::Entity;
use domain::resources::crypto;
use domain::resources::crypto::payouts::Verdict;
use domain::values::ids::{EntityId, Id, Kind};

/// GET /admin/crypto/payouts: those of all tenants in both modes, newest first.
pub async fn list(call: Call) -> Outcome {
    let mut query = Query::parse(call.query.as_deref());
    let status = read_facets(&mut query);
    let page = query.page(&|parts| call.services.keys.mark(parts), PLATFORM, "crypto payouts");
    let sound = query.finish()?;
    let (status, page) = (status.get(&sound), page.get(&sound));
    let parts =
        facets(status).into_iter().map(|facet| index::list(PLATFORM, Kind::CryptoPayout, facet)).collect();
    let moment = call.services.engine.reader().index_moment();
    let mut newest = MergeCursor::new(&moment, parts, page.after.as_deref(), None, None)?;
    let mut items = Vec::with_capacity(page.limit);
    let mut last = Vec::new();
    while let Some(suffix) = newest.take()? {
        if items.len() == page.limit {
            return Ok(Done::ok(page_json(items, Some(&page.next(&last)))));
        }
        let bytes: [u8; 16] = suffix
            .as_slice()
            .try_into()
            .map_err(|_| defect("a list entry of the operators that is no id"))?;
        items.extend(of_tenant(&call, Id::from_bytes(bytes))?);
        last = suffix;
    }
    Ok(Done::ok(page_json(items, None)))
}

/// A payout as operators see it: with its tenant.
fn of_tenant(call: &Call, id: Id) -> Result<Option<Vec<u8>>, Problem> {
    let Some(tenant_key) = tenant_of(call, id)? else { return Ok(None) };
    let found = history::entity(call.services.engine.reader(), tenant_key, EntityId::crypto_payout(id))?;
    let Some(Entity::CryptoPayout(payout)) = found.as_deref() else { return Ok(None) };
    let number = u32::try_from(tenant_key / 2).unwrap_or(0);
    let tenant = call.services.callers.directory.tenant_numbered(number).map(|tenant| tenant.id);
    Ok(Some(Object::reopened(show(payout)).maybe_plain("tenantId", tenant).end()))
}

/// The tenant key of a payout.
fn tenant_of(call: &Call, id: Id) -> Result<Option<u64>, Problem> {
    let key = index::name(PLATFORM, Space::CryptoPayout, &id.to_string());
    let Some(value) = call.services.engine.reader().index_get(&key).map_err(Unreadable::from)? else {
        return Ok(None);
    };
    <[u8; 8]>::try_from(value.as_slice())
        .map(|bytes| Some(u64::from_be_bytes(bytes)))
        .map_err(|_| defect("a USDT payout of no tenant"))
}

/// POST /admin/crypto/payouts/:id/approve
pub async fn approve(call: Call) -> Outcome {
    let verdict = call.body.read(read_approval)?;
    review(&call, verdict).await
}

/// POST /admin/crypto/payouts/:id/reject
pub async fn reject(call: Call) -> Outcome {
    let verdict = call.body.read(read_rejection)?;
    review(&call, verdict).await
}

async fn review(call: &Call, verdict: Verdict) -> Outcome {
    let id = call.id("id").ok_or_else(Problem::not_found)?;
    let tenant_key = tenant_of(call, id)?.ok_or_else(Problem::not_found)?;
    // A rejection may come without a body; an approval never has one.
    let asked = match &verdict {
        Verdict::Reject(reason) => Object::new().text("reason", reason).end(),
        Verdict::Approve => Vec::new(),
    };
    if let Some(waiting) = call.waits_as(call.tenant_of(tenant_key), asked).await? {
        return Ok(waiting);
    }
    tell(
        call,
        tenant_key,
        EntityId::crypto_payout(id),
        crypto::payouts::Command::Review(verdict).into(),
        (Shape::CryptoPayout, id),
    )
    .await
}
