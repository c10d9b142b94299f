//! Searches, and what became of a request: reads that need more than a tenant's records.

use crate::gateway::services::Services;
use crate::gateway::tenant_request::TenantRequest;
use crate::http::respond::Reply;
use crate::requests;
use crate::store::history::{self, Stored};
use crate::store::read_budget::{ReadBudget, Stopped};
use api::page::list_json;
use api::problem::Problem;
use api::products::links;
use api::records::Unread;
use api::search::sought::Sought;
use api::search::{FoundDeposit, Hit, Subject, Why, item, newest, within};
use api::writer::Object;
use domain::cause::Cause;
use domain::entities::Entity;
use domain::entities::deposit_address::Deposit;
use domain::entities::product::product_of;
use domain::events::Extra;
use domain::record::Record;
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::time::Timestamp;

const OF_ANOTHER_MACHINE: &str = "the machine that leads now has answered no request with this id; each machine keeps \
     its own, and another one led before: look for what the request made by its externalRef, or repeat it with its \
     Idempotency-Key";

pub struct Searched {
    pub body: Vec<u8>,
    pub is_empty: bool,
    pub has_person: bool,
}

pub async fn of_tenant(request: &mut TenantRequest<'_>, sought: Sought) -> Result<Reply, Problem> {
    let (services, tenant) = (request.services, request.caller.tenant_key);
    let (now, whose) = (services.clock(tenant).await?, (tenant, request.caller.tenant.id));
    let (sought, wait) = looks_for_people(services, tenant, sought)?;
    let logged = services.files.requests.find(tenant, &sought.text, services.now()).await;
    let logged = logged.map_err(Problem::internal_error)?;
    let may_be_person = sought.may_be_person();
    let found = request
        .read_any(move |services, budget| search(services, whose, now, (&sought, logged.as_ref()), budget))
        .await?;
    match wait {
        // What else the text may be was not found either.
        Some(seconds) if found.is_empty => return Err(too_many_misses(seconds)),
        None if may_be_person && found.has_person => services.misses.succeeded(tenant),
        _ => {}
    }
    Ok(Reply::json(200, found.body))
}

/// What a search of a tenant's may look for. After too many misses a document or a phone is not looked
/// for, and what may be a reference as well is looked for as that, with the seconds to wait.
fn looks_for_people(
    services: &Services,
    tenant: u64,
    sought: Sought,
) -> Result<(Sought, Option<u32>), Problem> {
    if !sought.may_be_person() {
        return Ok((sought, None));
    }
    match services.misses.begin(tenant) {
        Ok(()) => Ok((sought, None)),
        Err(seconds) if sought.is_person() => Err(too_many_misses(seconds)),
        Err(seconds) => Ok((sought.without_people(), Some(seconds))),
    }
}

fn too_many_misses(seconds: u32) -> Problem {
    let message = "30 searches for a document or a phone found nobody in 10 minutes, so nothing was searched \
                   for; ask again after Retry-After";
    Problem::too_many_attempts(message, seconds)
}

pub fn search(
    services: &Services,
    (tenant, tenant_id): (u64, Id),
    now: Timestamp,
    (sought, request): (&Sought, Option<&requests::Found>),
    budget: &ReadBudget,
) -> Result<Searched, Stopped> {
    let stored = Stored::of(services.engine.reader(), tenant).within(budget);
    let mut hits = Vec::new();
    within(&stored, sought, &services.keys.person_marks, &mut hits).map_err(stopped)?;
    hits.extend(made_by(services, request)?);
    let hits = newest(hits);
    let items =
        hits.iter().map(|hit| item(&stored, now, Some(tenant_id), hit)).collect::<Result<Vec<_>, _>>()?;
    let has_person = hits.iter().any(|hit| matches!(hit.why, Why::Document | Why::Phone));
    Ok(Searched { body: list_json(items), is_empty: hits.is_empty(), has_person })
}

pub fn made_by(services: &Services, request: Option<&requests::Found>) -> Result<Option<Hit>, Stopped> {
    let Some((request, seq)) = request.and_then(|request| Some((request, request.seq?))) else {
        return Ok(None);
    };
    let (reader, tenant) = (services.engine.reader(), request.tenant);
    let read = history::record(reader, seq)?;
    let subject = match made(&read.record).filter(|_| read.tenant == tenant) {
        None => None,
        Some(Made::Entity(id)) => history::entity(reader, tenant, id)?.map(Subject::Entity),
        Some(Made::Link(id)) => {
            let product = history::entity(reader, tenant, product_of(id))?;
            product.filter(|product| links::has(product, id)).map(|product| Subject::Link(product, id))
        }
        Some(Made::Deposit(_)) if history::begun_at(reader, tenant)?.is_some_and(|begun| seq < begun) => None,
        Some(Made::Deposit(deposit)) => {
            let deposit = FoundDeposit { deposit: deposit.clone(), at: read.time };
            Some(Subject::Deposit(Box::new(deposit)))
        }
    };
    Ok(subject.map(|subject| Hit { tenant, subject, why: Why::RequestId }))
}

pub async fn request(services: &Services, tenant: u64, request_id: String) -> Result<Reply, Problem> {
    let found = services.files.requests.find(tenant, &request_id, services.now()).await;
    let found = found.map_err(Problem::internal_error)?.ok_or_else(|| match &services.cluster {
        Some(_) => Problem::refused(404, "not_found", OF_ANOTHER_MACHINE),
        None => Problem::not_found(),
    })?;
    let made = match found.seq {
        Some(seq) => {
            let read = history::record(services.engine.reader(), seq)?;
            made(&read.record).filter(|_| read.tenant == tenant).map(|made| made.id())
        }
        None => None,
    };
    Ok(Reply::json(200, Object::reopened(found.body).maybe_plain("entityId", made).end()))
}

enum Made<'a> {
    Entity(EntityId),
    Link(Id),
    /// A deposit in USDT, which is in no entity, but in its event.
    Deposit(&'a Deposit),
}

impl Made<'_> {
    fn id(&self) -> Id {
        match self {
            Made::Entity(id) => id.id,
            Made::Link(id) => *id,
            Made::Deposit(deposit) => deposit.id,
        }
    }
}

fn made(record: &Record) -> Option<Made<'_>> {
    let of = |kind| record.entities.iter().map(|written| written.state.id()).find(|id| id.kind == kind);
    let first = record.entities.first();
    let entity = || first.map(|written| written.state.id()).map(Made::Entity);
    match (record.cause, first.map(|written| &*written.state)) {
        (Cause::LinkCreated, Some(Entity::Product(product))) => {
            product.links.last().map(|link| Made::Link(link.id))
        }
        (Cause::ChargebackOpened, _) => of(Kind::Chargeback).map(Made::Entity).or_else(entity),
        _ => {
            let deposit = record.events.iter().find_map(|event| match &event.extra {
                Extra::Deposit(deposit) => Some(Made::Deposit(deposit)),
                _ => None,
            });
            let removed = || record.removed.first().map(|(id, _)| Made::Entity(*id));
            deposit.or_else(entity).or_else(removed)
        }
    }
}

/// A search has no problems of its own.
fn stopped(unread: Unread) -> Stopped {
    match unread {
        Unread::Stopped(stopped) => stopped,
        Unread::Problem(problem) => Stopped::Unreadable(problem.message.to_string()),
    }
}
