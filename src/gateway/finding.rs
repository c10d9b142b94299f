//! Searches, and what became of a request: reads that need more than a tenant's records.

use crate::gateway::services::Services;
use crate::requests;
use crate::store::history;
use crate::store::read_budget::{ReadBudget, Stopped};
use crate::store::stored::Stored;
use api::page::list_json;
use api::problem::Problem;
use api::records::Unread;
use api::search::{Hit, Sought, Why, item, newest, within};
use api::writer::Object;
use domain::events::Extra;
use domain::record::{Cause, Entity, Record};
use domain::values::ids::{Id, Kind};
use domain::values::time::Timestamp;

/// The items that a text finds within a tenant key, at the instant `now` of its clock; `request` is the
/// one that it names.
pub fn search(
    services: &Services,
    (tenant, tenant_id): (u64, Id),
    now: Timestamp,
    (sought, request): (&Sought, Option<&requests::Found>),
    budget: &ReadBudget,
) -> Result<Vec<u8>, Stopped> {
    let stored = Stored::of(services.engine.reader(), tenant).within(budget);
    let mut hits = Vec::new();
    within(&stored, sought, services.keys.person_marks(), &mut hits).map_err(stopped)?;
    hits.extend(made_by(services, request)?);
    let items = newest(hits)
        .iter()
        .map(|hit| item(&stored, now, Some(tenant_id), hit))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(list_json(items))
}

/// The hit of the thing that a request made.
pub fn made_by(services: &Services, request: Option<&requests::Found>) -> Result<Option<Hit>, Stopped> {
    let Some((request, seq)) = request.and_then(|request| Some((request, request.seq?))) else {
        return Ok(None);
    };
    let read = history::record(services.engine.reader(), seq)?;
    let made = made(&read.record).filter(|_| read.tenant == request.tenant);
    let entity = made.and_then(|id| read.record.entities.iter().find(|written| written.state.id().id == id));
    let Some(written) = entity else { return Ok(None) };
    let newest = history::entity(services.engine.reader(), request.tenant, written.state.id())?;
    Ok(newest.map(|entity| Hit::of_entity(request.tenant, entity, Why::RequestId)))
}

/// GET /v1/requests/:requestId
pub async fn request(services: &Services, tenant: u64, request_id: &str) -> Result<Vec<u8>, Problem> {
    let found = services.requests.find(tenant, request_id, services.now()).await;
    let found = found.map_err(Problem::internal_error)?.ok_or_else(Problem::not_found)?;
    let made = match found.seq {
        Some(seq) => {
            let read = history::record(services.engine.reader(), seq)?;
            made(&read.record).filter(|_| read.tenant == tenant)
        }
        None => None,
    };
    Ok(Object::reopened(found.body).maybe_plain("entityId", made).end())
}

/// The id of the entity that a record made or changed, as the call that asked for it names it.
fn made(record: &Record) -> Option<Id> {
    let of = |kind| record.entities.iter().find(|written| written.state.id().kind == kind);
    let first = record.entities.first();
    match (record.cause, first.map(|written| &*written.state)) {
        (Cause::LinkCreated, Some(Entity::Product(product))) => product.links.last().map(|link| link.id),
        (Cause::ChargebackOpened, _) => of(Kind::Chargeback).or(first).map(|written| written.state.id().id),
        _ => {
            let deposit = record.events.iter().find_map(|event| match &event.extra {
                Extra::Deposit(deposit) => Some(deposit.id),
                _ => None,
            });
            let removed = || record.removed.first().map(|(id, _)| id.id);
            deposit.or(first.map(|written| written.state.id().id)).or_else(removed)
        }
    }
}

/// A search has no problems of its own.
fn stopped(unread: Unread) -> Stopped {
    match unread {
        Unread::Stopped(stopped) => stopped.into(),
        Unread::Problem(problem) => Stopped::Unreadable(history::Unreadable(problem.message.to_string())),
    }
}
