//! Operations at banks that need an operator: those of which a bank said both that they were done
//! and that they were not (`docs/contract.md, 5.13`).

use super::call::{Call, Done, Outcome};
use crate::server::history::{self, Read};
use crate::server::newest::Newest;
use crate::server::read_budget::{ReadBudget, Stopped};
use crate::server::services::Services;
use api::page::{Page, page_json};
use api::query::Query;
use api::writer::Object;
use domain::crypto;
use domain::ids::Id;
use domain::index;
use domain::payments::{self, Means};
use domain::payouts;
use domain::platform::{PLATFORM, is_live};
use domain::record::Entity;
use domain::time::Timestamp;

/// The only rail that there is.
const RAIL: &str = "simulator";
/// The statuses that can be asked for.
pub const STATUSES: [&str; 1] = ["contradicted"];
/// What kinds of orders can be contradicted.
pub const KINDS: [&str; 6] = ["c2p", "c2p_reversal", "debit", "card", "payout", "crypto_payout"];
/// What they belong to.
pub const ENTITIES: [&str; 3] = ["payment", "payout", "crypto_payout"];

/// An order as operators see it.
struct Operation<'a> {
    id: Id,
    kind: &'static str,
    entity: (&'static str, Id),
    amount: String,
    currency: &'static str,
    sent_at: Timestamp,
    asks: u32,
    code: Option<&'a str>,
    reference: Option<&'a str>,
}

/// GET /admin/operations: newest first, of all tenants in both modes.
pub async fn list(call: Call) -> Outcome {
    let mut query = Query::parse(call.query.as_deref());
    let status = query.optional("status", |text| text.one_of(&STATUSES.map(|status| (status, ()))));
    let rail = query.optional("rail", |text| text.trimmed(1..=64));
    let tenant = query.optional("tenantId", |text| text.uuid().map(Id::from));
    let page = query.page(&|parts| call.services.mark(parts), PLATFORM, "operations");
    let sound = query.finish()?;
    let (_, rail, tenant, page) =
        (status.get(&sound), rail.get(&sound), tenant.get(&sound), page.get(&sound));
    let services = &call.services;
    let listed = services.read_pool.read(services, PLATFORM, move |services, budget| {
        page_of(services, rail.as_deref(), tenant, &page, budget)
    });
    Ok(Done::ok(listed.await?))
}

/// A page of those on a rail and of a tenant.
fn page_of(
    services: &Services,
    rail: Option<&str>,
    tenant: Option<Id>,
    page: &Page,
    budget: &ReadBudget,
) -> Result<Vec<u8>, Stopped> {
    let reader = services.engine.reader();
    let mut newest = Newest::new(reader, vec![index::contradicted()], page.after.as_deref(), None)?;
    let mut items = Vec::with_capacity(page.limit);
    let mut last = Vec::new();
    while let Some(suffix) = newest.take()? {
        if items.len() == page.limit {
            return Ok(page_json(items, Some(&page.next(&last))));
        }
        budget.spend()?;
        let Read { record, tenant: tenant_key, time, .. } = history::record(reader, history::seq(&suffix)?)?;
        let number = u32::try_from(tenant_key / 2).unwrap_or(0);
        let whose = services.directory.tenant_numbered(number).map(|tenant| tenant.id);
        let is_meant =
            rail.is_none_or(|rail| rail == RAIL) && tenant.is_none_or(|tenant| whose == Some(tenant));
        if let Some(operation) =
            record.entities.first().and_then(|written| of(&written.state)).filter(|_| is_meant)
        {
            items.push(show(&operation, tenant_key, whose, time));
        }
        last = suffix;
    }
    Ok(page_json(items, None))
}

/// How many there are.
pub fn contradicted(services: &Services) -> u64 {
    let prefix = index::contradicted();
    let end = [prefix.as_slice(), &[0xFF; 9]].concat();
    services.engine.reader().index_scan(&prefix, &end, false).take_while(Result::is_ok).count() as u64
}

fn of(entity: &Entity) -> Option<Operation<'_>> {
    match entity {
        Entity::Payment(payment) => {
            let n = payment.contradicted()?;
            let kind = match (&payment.means, n) {
                (_, payments::REVERSE) => "c2p_reversal",
                (Means::C2p { .. }, _) => "c2p",
                (Means::Debit { .. }, _) => "debit",
                (Means::Card { .. }, _) => "card",
                (Means::Transfer { .. } | Means::Usdt { .. }, _) => return None,
            };
            Some(Operation {
                id: payment.id.operation(n),
                kind,
                entity: ("payment", payment.id),
                amount: payment.ves.to_string(),
                currency: "VES",
                sent_at: payment.created_at,
                asks: 0,
                code: payment.failure_code.as_deref(),
                reference: if n == payments::REVERSE {
                    payment.reversal_ref.as_deref()
                } else {
                    payment.bank_reference.as_deref()
                },
            })
        }
        Entity::Payout(payout) => Some(Operation {
            id: payout.id.operation(payouts::CREDIT),
            kind: "payout",
            entity: ("payout", payout.id),
            amount: payout.amount.to_string(),
            currency: "VES",
            sent_at: payout.created_at,
            asks: payout.looks,
            code: payout.failure_code.as_deref(),
            reference: payout.reference.as_deref(),
        }),
        Entity::CryptoPayout(payout) => Some(Operation {
            id: payout.id.operation(crypto::payouts::SEND),
            kind: "crypto_payout",
            entity: ("crypto_payout", payout.id),
            amount: payout.amount.to_string(),
            currency: "USDT",
            sent_at: payout.created_at,
            asks: payout.looks,
            code: payout.failure_code.as_deref(),
            reference: payout.tx_hash.as_deref(),
        }),
        _ => None,
    }
}

fn show(operation: &Operation<'_>, tenant_key: u64, tenant: Option<Id>, at: Timestamp) -> Vec<u8> {
    let (kind, id) = operation.entity;
    Object::with_capacity(512)
        .plain("operationId", operation.id)
        .plain("kind", operation.kind)
        .plain("rail", RAIL)
        .maybe_plain("tenantId", tenant)
        .plain("mode", if is_live(tenant_key) { "live" } else { "test" })
        .json("entity", &Object::new().plain("type", kind).plain("id", id).end())
        .plain("amount", &operation.amount)
        .plain("currency", operation.currency)
        .plain("sentAt", operation.sent_at)
        .maybe_plain("askedAt", (operation.asks > 0).then_some(at))
        .number("asks", operation.asks)
        .maybe_text("bankCode", operation.code)
        .null("bankText")
        .maybe_text("bankReference", operation.reference)
        .plain("contradictedAt", at)
        .plain("status", STATUSES[0])
        .end()
}
