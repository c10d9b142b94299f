//! Notices of money that came (`docs/contract.md, 18.6`), and which of them nobody has claimed.

use super::call::{Call, CallResult, Done};
use crate::gateway::ask::{defect, failure};
use crate::gateway::notices::collected;
use crate::gateway::services::{Callers, Services};
use crate::http::respond::Trace;
use crate::store::history::{self, Unreadable};
use crate::store::merge_cursor::MergeCursor;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::fields::{Fields, Invalid};
use api::openapi::kinds;
use api::page::{ListOf, Page, page_json};
use api::problem::Problem;
use api::query::Query;
use api::refusals;
use api::writer::Object;
use domain::commands::{Command, KeyedCommand};
use domain::index;
use domain::platform::audit::AuditEntry;
use domain::platform::{Mode, PLATFORM, tenant_key};
use domain::record::Entity;
use domain::resources::notices::{self, About, CLAIMED, Notice, Transfer, UNMATCHED};
use domain::values::ids::{EntityId, Id, Kind};
use wal::Reader;

/// Characters of the evidence for whose a transfer is.
const NOTE_CHARACTERS: std::ops::RangeInclusive<usize> = 1..=500;

/// The rails that notices are of.
pub const RAILS: [&str; 2] = ["r4", "wompi"];

/// Reads which notices are asked for.
pub(super) fn asked(mut query: Query<'_>, list: ListOf<'_>) -> Result<(Option<bool>, Page), Invalid> {
    let (unmatched, page) = (query.optional("unmatched", kinds::boolean()), query.page(list));
    let sound = query.finish()?;
    Ok((unmatched.get(&sound), page.get(&sound)))
}

/// GET /admin/notices: newest first.
pub async fn list(call: Call) -> CallResult {
    let (unmatched, page) = call.listed("notices", asked)?;
    let is_unmatched = unmatched == Some(true);
    let services = &call.services;
    let read = move |services: &Services, budget: &ReadBudget| items(services, is_unmatched, &page, budget);
    Ok(Done::ok(services.read_pool.read(services, PLATFORM, read).await??))
}

/// Reads to which tenant a transfer is given, and why.
pub(super) fn read_gift(mut fields: Fields<'_>) -> Result<(Id, String), Invalid> {
    let tenant = fields.required("tenantId", kinds::uuid());
    let note = fields.required("note", kinds::prose(NOTE_CHARACTERS));
    let sound = fields.finish()?;
    Ok((Id::from(tenant.get(&sound)), note.get(&sound).into_owned()))
}

/// POST /admin/notices/:id/give: the transfer is the tenant's, whatever was guessed at; its next payment with
/// the whole reference claims it.
pub async fn give(call: Call) -> CallResult {
    let (tenant, note) = read_gift(call.body.fields()?)?;
    let id = call.id("id").ok_or_else(Problem::not_found)?;
    let owner = call.services.callers.directory.tenant(tenant);
    let owner = owner.ok_or_else(|| Problem::invalid_field("tenantId", "is no tenant's"))?;
    // What is not there is refused at once.
    match history::entity(call.services.engine.reader(), PLATFORM, EntityId::notice(id))?.as_deref() {
        Some(Entity::Notice(_)) => {}
        _ => return Err(Problem::not_found()),
    }
    if let Some(waiting) = call.waits_about(Some(owner.id)).await? {
        return Ok(waiting);
    }
    let after = Object::new().plain("tenantId", owner.id).text("note", &note).end();
    let audit = call
        .sign_about(Some(owner.id), Some(id.to_string()))
        .map(|entry| Box::new(AuditEntry { after: String::from_utf8(after).ok(), ..*entry }));
    let give = notices::Command::Give { tenant: tenant_key(owner.number, Mode::Live) };
    let command = KeyedCommand::from(Command::from(give)).audited(audit);
    let (engine, entity) = (&call.services.engine, EntityId::notice(id));
    let settled = engine.ask_entity(PLATFORM, entity, false, command, None, None).await.map_err(failure)?;
    if let Some(refusal) = &settled.refusal {
        return Err(refusals::problem(refusal));
    }
    match settled.entity.as_deref() {
        Some(Entity::Notice(notice)) => {
            let payment = payment_of(engine.reader(), notice)?;
            Ok(Done::ok(show(notice, payment, &call.services.callers))
                .traced(Trace { seq: settled.seq, timing: Some(settled.timing.into()) }))
        }
        _ => Err(Problem::not_found()),
    }
}

fn items(
    services: &Services,
    is_unmatched: bool,
    page: &Page,
    budget: &ReadBudget,
) -> Result<Result<Vec<u8>, Problem>, Stopped> {
    let reader = services.engine.reader();
    let facets: &[u8] = if is_unmatched { &[UNMATCHED] } else { &[UNMATCHED, CLAIMED] };
    let parts = facets.iter().map(|facet| index::list(PLATFORM, Kind::Notice, *facet)).collect();
    let moment = reader.index_moment();
    let mut newest = MergeCursor::new(&moment, parts, page.after.as_deref(), None, Some(budget))?;
    let mut items = Vec::with_capacity(page.limit);
    let mut last = Vec::new();
    while let Some(suffix) = newest.take()? {
        if items.len() == page.limit {
            return Ok(Ok(page_json(items, Some(&page.next(&last)))));
        }
        let Ok(id) = <[u8; 16]>::try_from(suffix.as_slice()) else {
            return Ok(Err(defect("an entry of the list of notices that is no id")));
        };
        budget.spend()?;
        let found = history::entity(reader, PLATFORM, EntityId::notice(Id::from_bytes(id)))?;
        if let Some(Entity::Notice(notice)) = found.as_deref() {
            let payment = payment_of(reader, notice)?;
            if !(is_unmatched && payment.is_some()) {
                items.push(show(notice, payment, &services.callers));
            }
        }
        last = suffix;
    }
    Ok(Ok(page_json(items, None)))
}

/// The payment that a notice is matched with, and its tenant in its mode: the one that claimed it, or that
/// is known by its transaction by now.
fn payment_of(reader: &Reader, notice: &Notice) -> Result<Option<(u64, Id)>, Unreadable> {
    Ok(match &notice.about {
        About::Transfer(_) => notice.claim.map(|claim| (claim.tenant, claim.payment)),
        About::Transaction { id, reference } => collected(reader, reference.as_deref())?
            .filter(|(_, payment)| payment.is_transaction(id))
            .map(|(tenant, payment)| (tenant, payment.id)),
    })
}

fn show(notice: &Notice, payment: Option<(u64, Id)>, callers: &Callers) -> Vec<u8> {
    let shown = Object::with_capacity(384).plain("noticeId", notice.id);
    let shown = match &notice.about {
        About::Transfer(Transfer { reference, bank, phone, amount, paid_at, document: _ }) => shown
            .plain("rail", RAILS[0])
            .text("reference", reference)
            .null("transactionId")
            .plain("bankCode", bank)
            .plain("phone", phone.masked())
            .plain("amountVes", amount)
            .plain("paidAt", paid_at),
        About::Transaction { id, reference } => shown
            .plain("rail", RAILS[1])
            .maybe_text("reference", reference.as_deref())
            .text("transactionId", id)
            .null("bankCode")
            .null("phone")
            .null("amountVes")
            .null("paidAt"),
    };
    let tenant = |of: u64| {
        let number = u32::try_from(of / 2).ok()?;
        callers.directory.tenant_numbered(number).map(|tenant| tenant.id)
    };
    shown
        .plain("receivedAt", notice.received_at)
        .maybe_plain("paymentId", payment.map(|(_, payment)| payment))
        .maybe_plain("tenantId", payment.and_then(|(of, _)| tenant(of)))
        .maybe_plain("givenTo", notice.given_to.and_then(tenant))
        .end()
}
