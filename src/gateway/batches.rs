//! Carrying out a batch: the names of its items are reserved, its record debits them, and its
//! answer waits until the bank has spoken about each of them, but not for long.

use crate::gateway::ask::{failure, timing};
use crate::gateway::idempotency;
use crate::gateway::services::Services;
use crate::gateway::tenant_request::{Call, PATIENCE, Shows, reply};
use crate::http::respond::{Reply, Trace};
use crate::store::history::{self, Entities, Unreadable};
use crate::store::read_budget::{ReadBudget, Stopped};
use actors::Guard;
use api::answer::{self, NoSecrets};
use api::payouts::batches::{created, mark_as_first_written, show};
use api::problem::Problem;
use api::tenants::approvals::show_approved;
use bytes::Bytes;
use domain::cause::Cause;
use domain::entities::Entity;
use domain::entities::batch::{Batch, ItemEnd};
use domain::index::Space;
use domain::kept::KeepRef;
use domain::machine::KeyedCommand;
use domain::resources::mandate_approvals::{Consent, KnownAnswer};
use domain::resources::payouts::batch;
use domain::resources::payouts::batch::NewBatch;
use domain::values::ids::{EntityId, Id, is_live};
use domain::values::time::Timestamp;
use std::collections::HashMap;
use std::sync::Arc;

/// Carries out a batch. It runs as a task of its own, so that a caller who goes away leaves no key
/// half answered.
pub async fn carry_out(
    services: Arc<Services>,
    (call, path, body): (Call, Option<String>, Bytes),
    mut batch: Box<NewBatch>,
    (keep, mut consent): (Option<KeepRef>, Option<Consent>),
    (slot, key_held): (Option<Guard>, Option<Guard>),
) -> Result<Reply, Problem> {
    let (engine, reservations) = (&services.engine, &services.names.reservations);
    let tenant = call.caller.tenant_key;
    // First the batch's own name, then those of its items in their order: no two batches can wait
    // for each other.
    let mut names = vec![reservations.hold_name(tenant, Space::Batch, &batch.external_ref).await];
    let known = history::named(engine.reader(), tenant, Space::Batch, &batch.external_ref)?;
    if let Some(first) = known {
        batch.mark = as_first_written(&services, tenant, first, &batch)?;
    } else {
        for name in batch.references() {
            names.push(reservations.hold_name(tenant, Space::Payout, &name).await);
            if let Some(id) = history::named(engine.reader(), tenant, Space::Payout, &name)? {
                let payout = history::entity(engine.reader(), tenant, EntityId::payout(id))?;
                batch.known.extend(payout.map(|payout| (name, payout)));
            }
        }
    }
    let id = EntityId::batch(known.unwrap_or(batch.id));
    // No record says what a batch that is known was answered: its payouts are read, and the bytes are kept.
    let (is_given, (keep, repeated)) = match (&mut consent, known) {
        (Some(Consent::Given(given)), first) => {
            if let (Some(first), Some(_)) = (first, &keep) {
                let body = read(&services, tenant, first, &ReadBudget::unbounded())?;
                given.known = body.map(|body| KnownAnswer { body, show: show_approved });
            }
            (true, (keep, None))
        }
        (_, Some(_)) => (false, (None, keep)),
        (_, None) => (false, (keep, None)),
    };
    let mandate = call.mandate_now(&services, consent.as_ref())?;
    let consent = match (consent, &mandate, &path) {
        (None, Some(mandate), Some(path)) => call.consent(&services, mandate, (path, &body)),
        (given, ..) => given,
    };
    let command =
        KeyedCommand { command: batch::Command::Pay(batch).into(), keep, audit: None, mandate, consent };
    let until_record: Guard = Box::new((names, slot));
    let outcome = engine.ask_entity(tenant, id, known.is_none(), command, Some(until_record), None).await;
    let mut settled = outcome.map_err(failure)?;
    let performed = settled.performed.take();
    let entity = settled.entity.clone();
    let (Some(Entity::Batch(decided)), None) = (entity.as_deref(), &settled.refusal) else {
        let refused = reply(&services, tenant, Shows::by(created), Ok(settled), &call.request_id)?;
        if matches!(refused.status, 409 | 422) {
            idempotency::keep_answer(&services, tenant, repeated, (refused.status, &refused.body)).await?;
        }
        return Ok(refused);
    };
    let mut ended = HashMap::new();
    if let Some(mut performed) = performed {
        // A timeout is no failure: the items are debited, and the poller looks after them.
        let _ = tokio::time::timeout(PATIENCE, performed.wait()).await;
        ended.extend(performed.ended());
    }
    let body = now(&services, tenant, decided, ended, &ReadBudget::unbounded())?;
    let record = settled.record.as_ref().filter(|record| record.cause != Cause::ApprovalDecided);
    let Some(record) = record else {
        let seq = idempotency::keep_answer(&services, tenant, repeated, (200, &body)).await?;
        return Ok(Reply::json(200, body).trace(Trace { seq, timing: None }));
    };
    let trace = Trace { seq: settled.seq, timing: Some(timing(settled.timing)) };
    let kept = record.kept.as_ref().filter(|_| !is_given);
    let Some(kept) = kept else { return Ok(Reply::json(201, body).trace(trace)) };
    let time = Timestamp::from_unix_ms(settled.time_ms);
    let (_, first) = answer::kept(Some(created), kept, record, time, is_live(tenant), None, &NoSecrets)?;
    if first == body {
        return Ok(Reply::json(201, body).trace(trace));
    }
    let command = batch::Command::Answered { kept: Arc::clone(&kept.of), status: 201, body: body.clone() };
    let kept_now = engine.ask_entity(tenant, id, false, command.into(), None, key_held).await;
    Ok(match kept_now.map(|settled| settled.seq) {
        Ok(Some(seq)) => Reply::json(201, body).trace(Trace { seq: Some(seq), ..trace }),
        // If the newer body could not be kept, the body that was kept with the debits is the
        // answer.
        _ => Reply::json(201, first).trace(trace),
    })
}

/// The mark by which a batch on a known reference is compared with the first one. It is that of the
/// first if the two differ only in whether a default is spelt out.
fn as_first_written(
    services: &Services,
    tenant: u64,
    first: Id,
    again: &NewBatch,
) -> Result<[u8; 16], Unreadable> {
    let reader = services.engine.reader();
    let found = history::entity(reader, tenant, EntityId::batch(first))?;
    let Some(Entity::Batch(first)) = found.as_deref() else { return Ok(again.mark) };
    if first.mark == again.mark || first.items.len() != again.items.len() {
        return Ok(again.mark);
    }
    let mut entities = Entities::new(reader, tenant);
    let mut unreadable = None;
    let mut find = |id| {
        entities.find(id).unwrap_or_else(|error| {
            unreadable = Some(error);
            None
        })
    };
    let mut defaults = HashMap::new();
    let payouts: HashMap<Id, Option<Arc<Entity>>> = first
        .items
        .iter()
        .filter_map(|place| if let ItemEnd::Payout(id) = place { Some(*id) } else { None })
        .map(|id| (id, find(EntityId::payout(id))))
        .collect();
    let default_method = |merchant| {
        *defaults.entry(merchant).or_insert_with(|| match find(EntityId::merchant(merchant)).as_deref() {
            Some(Entity::Merchant(merchant)) => merchant.default_method,
            _ => None,
        })
    };
    let keyed_hash = |parts: &[&[u8]]| services.keys.mark(parts);
    let mark = mark_as_first_written(
        again,
        first,
        &keyed_hash,
        |id| payouts.get(&id).cloned().flatten(),
        default_method,
    );
    unreadable.map_or(Ok(mark), Err)
}

pub fn read(
    services: &Services,
    tenant: u64,
    id: Id,
    budget: &ReadBudget,
) -> Result<Option<Vec<u8>>, Stopped> {
    match history::entity(services.engine.reader(), tenant, EntityId::batch(id))?.as_deref() {
        Some(Entity::Batch(batch)) => now(services, tenant, batch, HashMap::new(), budget).map(Some),
        _ => Ok(None),
    }
}

/// The batch with its items as they are now; `known` are newest states that need not be read.
fn now(
    services: &Services,
    tenant: u64,
    batch: &Batch,
    mut known: HashMap<EntityId, Arc<Entity>>,
    budget: &ReadBudget,
) -> Result<Vec<u8>, Stopped> {
    let mut entities = Entities::new(services.engine.reader(), tenant);
    let mut stopped = None;
    let mut find = |id| {
        // A look-up that was stopped stops all that follow.
        if stopped.is_some() {
            return None;
        }
        let found = budget.spend().and_then(|()| Ok(entities.find(EntityId::payout(id))?));
        found.unwrap_or_else(|error| {
            stopped = Some(error);
            None
        })
    };
    let body = show(batch, is_live(tenant), |id| known.remove(&EntityId::payout(id)).or_else(|| find(id)));
    stopped.map_or(Ok(body), Err)
}
