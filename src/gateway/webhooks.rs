//! The calls about webhooks that need more than one command: the log of deliveries, sending again,
//! and test notifications (`docs/contract.md, 13.3, 13.6`).

use crate::gateway::ask::{entity_patiently, failure};
use crate::gateway::idempotency;
use crate::gateway::services::Services;
use crate::http::respond::{Reply, Trace};
use crate::store::history::{self, Read, Stored, Unreadable};
use crate::store::read_budget::{ReadBudget, Stopped};
use crate::webhooks::Tenants as _;
use crate::webhooks::backlog;
use crate::webhooks::post::Message;
use actors::{Failure, Guard};
use api::events::test_envelope;
use api::page::{Page, page_json};
use api::problem::Problem;
use api::refusals;
use api::webhooks::{endpoints, show_delivered, show_deliveries, show_pending, status};
use api::writer::Object;
use domain::entities::Entity;
use domain::entities::webhook::{Resend, Webhook, first_delivery, is_first_delivery};
use domain::index;
use domain::kept::KeepRef;
use domain::refusal::{Refusal, WebhookRefusal};
use domain::resources::webhooks;
use domain::values::ids::{EntityId, Id};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use wal::{Reader, Seq};

/// GET /v1/webhooks/:id/deliveries: those that wait and those with an outcome, newest first.
pub fn deliveries(
    services: &Services,
    tenant: u64,
    id: Id,
    page: &Page,
    after: Option<Id>,
    budget: &ReadBudget,
) -> Result<Option<Vec<u8>>, Stopped> {
    let entity = history::entity(services.engine.reader(), tenant, EntityId::webhook(id))?;
    if !matches!(entity.as_deref(), Some(Entity::Webhook(_))) {
        return Ok(None);
    }
    let shown = newest_deliveries(services, tenant, id, page.limit + 1, after, budget)?;
    let more = shown.len() > page.limit;
    let items: Vec<(Id, Vec<u8>)> = shown.into_iter().rev().take(page.limit).collect();
    let next = items.last().filter(|_| more).map(|(last, _)| page.next(last.as_bytes()));
    Ok(Some(page_json(items.into_iter().map(|(_, item)| item), next.as_deref())))
}

pub fn newest_deliveries(
    services: &Services,
    tenant: u64,
    id: Id,
    count: usize,
    after: Option<Id>,
    budget: &ReadBudget,
) -> Result<BTreeMap<Id, Vec<u8>>, Stopped> {
    let reader = services.engine.reader();
    // First what waits, then what has an outcome: what ends in between is seen as ended.
    let quiet = services.webhooks.quiet_up_to(tenant, id);
    let entity = history::entity(reader, tenant, EntityId::webhook(id))?;
    let Some(Entity::Webhook(webhook)) = entity.as_deref() else { return Ok(BTreeMap::new()) };
    let mut shown = pending(reader, tenant, webhook, (after, quiet), count, budget)?;
    shown.extend(ended(reader, tenant, webhook.id, after, count)?);
    Ok(shown)
}

/// The newest `count` deliveries before `after` that have no outcome. Up to the event `quiet` none
/// is due; after it there may be any number of events that the endpoint does not list.
fn pending(
    reader: &Reader,
    tenant: u64,
    webhook: &Webhook,
    (after, quiet): (Option<Id>, u64),
    count: usize,
    budget: &ReadBudget,
) -> Result<BTreeMap<Id, Vec<u8>>, Stopped> {
    let is_before = |id: Id| after.is_none_or(|after| id < after);
    let mut found = BTreeMap::new();
    for resend in webhook.resends.iter().filter(|resend| is_before(resend.delivery)) {
        found.insert(resend.delivery, show_pending(webhook.id, resend));
    }
    let mut events = 0;
    let mut take = |happened: backlog::Happened| {
        budget.spend()?;
        let (number, time) = (happened.number(), happened.read.time);
        let id = first_delivery(webhook.id, number, time);
        if is_before(id) && (number <= webhook.reached || webhook.is_due(number, happened.kind())) {
            let first = Resend { delivery: id, event: happened.event(), created_at: time, attempt: 1 };
            found.insert(id, show_pending(webhook.id, &first));
            events += 1;
        }
        Ok::<_, Stopped>(events < count)
    };
    // Only the records are read in which an event could be due, which the terms say.
    let first = webhook.reached.max(quiet) + 1;
    let mut last = after.filter(|after| is_first_delivery(webhook.id, *after)).map_or(u64::MAX, Id::number);
    for term in webhook.terms.iter().rev() {
        if term.enabled && last >= term.from.max(first) {
            backlog::back_from(reader, tenant, last, term.from.max(first), &mut take)?;
        }
        last = last.min(term.from.saturating_sub(1));
    }
    for number in webhook.open.iter().rev() {
        if let Some(happened) = backlog::numbered(reader, tenant, *number)? {
            take(happened)?;
        }
    }
    Ok(found)
}

fn ended(
    reader: &Reader,
    tenant: u64,
    webhook: Id,
    after: Option<Id>,
    count: usize,
) -> Result<BTreeMap<Id, Vec<u8>>, Unreadable> {
    let from = index::deliveries(tenant, webhook);
    let mut to = from.clone();
    match after {
        Some(after) => to.extend_from_slice(after.as_bytes()),
        None => to.extend_from_slice(&[0xFF; 17]),
    }
    let mut found = BTreeMap::new();
    // Outcomes are written many in a record.
    let mut last: Option<(Seq, Read)> = None;
    for entry in reader.index_scan(&from, &to, true).take(count) {
        let (key, value) = entry?;
        let id: [u8; 16] = key[from.len()..]
            .try_into()
            .map_err(|_| Unreadable("a delivery entry that is no id".to_owned()))?;
        let (id, seq) = (Id::from_bytes(id), history::seq(&value)?);
        let (_, read) = match last.take() {
            Some(read) if read.0 == seq => last.insert(read),
            _ => last.insert((seq, history::record(reader, seq)?)),
        };
        let outcomes = match read.record.entity(EntityId::webhook(webhook)).map(|entity| &**entity) {
            Some(Entity::Webhook(webhook)) => &webhook.outcomes[..],
            _ => &[],
        };
        let outcome = outcomes.iter().find(|outcome| outcome.id == id);
        let outcome = outcome.ok_or_else(|| {
            Unreadable(format!("the index names a delivery in record {seq}, which has none"))
        })?;
        found.insert(id, show_delivered(webhook, outcome, read.time));
    }
    Ok(found)
}

/// POST /v1/events/:id/resend: a new delivery to every endpoint that is enabled, lists the event
/// now and has room for one more that waits; when none has, that is the answer. Run as a task of
/// its own, so that a caller who goes away leaves no key half answered; `_key_held` ends with it.
pub async fn resend(
    services: Arc<Services>,
    tenant: u64,
    id: Id,
    keep: Option<KeepRef>,
    _key_held: Option<Guard>,
) -> Result<Reply, Problem> {
    let (body, seq) = resend_to_all(&services, tenant, id, keep).await?;
    Ok(Reply::json(202, body).trace(Trace { seq, timing: None }))
}

/// Makes the deliveries of [`resend`]: the answer, and the sequence of the record that has the last of
/// them.
pub async fn resend_to_all(
    services: &Services,
    tenant: u64,
    id: Id,
    keep: Option<KeepRef>,
) -> Result<(Vec<u8>, Option<Seq>), Problem> {
    let engine = &services.engine;
    let happened =
        backlog::numbered(engine.reader(), tenant, id.number())?.filter(|happened| happened.event().id == id);
    let event = happened.ok_or_else(Problem::not_found)?.event();
    // All endpoints together share one time limit, however many there are.
    let since = Instant::now();
    let (mut items, mut last, mut full) = (Vec::new(), None, None);
    let all = endpoints(&Stored::of(engine.reader(), tenant))?;
    for webhook in all {
        let target = EntityId::webhook(webhook.id);
        let ask = || webhooks::Command::Resend(event).into();
        let outcome = match last {
            None => engine.ask_entity(tenant, target, false, ask(), None, None).await,
            // Giving up now would have the caller ask again, and the endpoints before this one
            // would be sent it twice.
            Some(_) => entity_patiently(engine, tenant, target, since, ask).await,
        };
        let settled = match outcome {
            Err(Failure::Overloaded | Failure::ShareFull) if last.is_some() => continue,
            outcome => outcome.map_err(failure)?,
        };
        match (&settled.refusal, settled.record.as_ref().and(settled.entity.as_deref())) {
            (Some(Refusal::NotFound), _) => {}
            // An endpoint with no room for another resend does not keep the others from theirs.
            (Some(Refusal::Webhooks(WebhookRefusal::ResendsWaiting)), _) => full = settled.refusal,
            (Some(refusal), _) => return Err(refusals::problem(refusal)),
            (None, Some(Entity::Webhook(webhook))) => {
                items.extend(webhook.resends.last().map(|resend| show_pending(webhook.id, resend)));
                last = settled.seq;
            }
            (None, _) => {}
        }
    }
    if let (None, Some(refusal)) = (last, &full) {
        return Err(refusals::problem(refusal));
    }
    let body = show_deliveries(id, &items);
    let kept = idempotency::keep_answer(services, tenant, keep, (202, &body)).await?;
    Ok((body, kept.or(last)))
}

/// POST /v1/notifications/test: sends to every enabled endpoint, all at once, and answers with what
/// came of it. It is no event; of it only the answer is written, for its Idempotency-Key, which
/// `_key_held` holds until then.
pub async fn test(
    services: Arc<Services>,
    tenant: u64,
    keep: Option<KeepRef>,
    _key_held: Option<Guard>,
) -> Result<Reply, Problem> {
    let now = services.clock(tenant).await?;
    let tenant_mode = services.mode_of(tenant).ok_or_else(Problem::tenant_moving)?;
    let (event, body) = (services.fresh_id(tenant), test_envelope(now, tenant_mode));
    let (mut sending, mut items) = (Vec::new(), Vec::new());
    let all = endpoints(&Stored::of(services.engine.reader(), tenant))?;
    for webhook in all.into_iter().filter(Webhook::is_enabled) {
        let message = Message {
            signing: services.signing(tenant, &webhook),
            url: webhook.url,
            livemode: tenant_mode.livemode,
            event,
            sequence: None,
            attempt: 1,
            older_signature: false,
            body: body.clone(),
        };
        if services.is_rehearsal() {
            let item = Object::new().plain("webhookId", webhook.id).plain("status", "pending");
            items.push(item.null("httpStatus").null("error").end());
            continue;
        }
        let webhooks = Arc::clone(&services.webhooks);
        sending.push((webhook.id, tokio::spawn(async move { webhooks.try_out(tenant, message).await })));
    }
    for (id, sent) in sending {
        let sent = sent.await.map_err(Problem::internal_error)?;
        let item = Object::new()
            .plain("webhookId", id)
            .plain("status", status(sent.error.as_deref()))
            .maybe_number("httpStatus", sent.http_status)
            .maybe_text("error", sent.error.as_deref());
        items.push(item.end());
    }
    let body = show_deliveries(event, &items);
    let seq = idempotency::keep_answer(&services, tenant, keep, (202, &body)).await?;
    Ok(Reply::json(202, body).trace(Trace { seq, timing: None }))
}
