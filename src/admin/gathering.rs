//! The entries on our side of a reconciliation: money of all tenants that went over a rail in live
//! mode between two days, and orders that are open at it.
//!
//! All of it is read in parts in the pool of long reads, so that nobody's read waits for all of it,
//! and only what belongs to the rail and the days stays in memory. Of a tenant of another partition the parts are
//! asked for there. One that does not answer ends it: what it has would look like money of nobody.

use super::due::unresolved;
use crate::gateway::live_asks;
use crate::gateway::services::Services;
use crate::reconciliation::entries::{self, Entry, zone};
use crate::store::history::{self, Unreadable};
use crate::store::merge_cursor::MergeCursor;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::problem::Problem;
use domain::entities::Entity;
use domain::entities::means::{Method, Offer};
use domain::entities::payment::{Status, facet};
use domain::entities::payout;
use domain::index;
use domain::platform::live_asks::LiveAsk;
use domain::resources::payments::charge::TRANSFER_DAYS_MAX;
use domain::values::ids::{EntityId, Id, Kind, Mode, PLATFORM, is_live, tenant_key};
use domain::values::money::Currency;
use domain::values::time::{DAY_MS, Date, Timestamp};
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PART: usize = 5_000;
/// For a portion that another partition waits for.
const AT_ONCE: Duration = Duration::from_secs(2);
const ENTRIES_MAX: usize = 1_000_000;
/// The time by which an order may be sent later than its entity was made: banks that are closed, buyers that
/// take their time.
const SENT_LATER_MS: i64 = 8 * DAY_MS;
/// The time by which a bank's date may be off ours.
const SKEW_MS: i64 = 2 * DAY_MS;

#[derive(Clone, Copy)]
struct Listed {
    kind: Kind,
    facet: u8,
    /// Whether what was made long ago may have moved money between the days.
    is_late: bool,
    /// Whether what was made long after the days may have moved money between them: payers tell of their
    /// transfers when they come to it.
    is_reported_later: bool,
}

fn lists() -> Vec<Listed> {
    let of = |kind, facet, is_late| Listed { kind, facet, is_late, is_reported_later: false };
    // Every method that collects bolívares goes over a rail with statements.
    let methods = Method::ALL.into_iter().filter(|method| method.offer() != Offer::Never);
    let payments = methods.flat_map(|method| {
        [(Status::Completed, false), (Status::Reversed, true)].map(|(status, is_late)| Listed {
            is_reported_later: method == Method::PagoMovil,
            ..of(Kind::Payment, facet(method, status), is_late)
        })
    });
    let pesos = [(Status::Completed, false), (Status::Reversed, true)]
        .map(|(status, is_late)| of(Kind::CopPayment, status as u8, is_late));
    let payouts = of(Kind::Payout, payout::Status::Completed as u8, false);
    payments.chain(pesos).chain([payouts]).collect()
}

#[derive(Clone, Copy)]
struct Span {
    rail: &'static str,
    from: Date,
    to: Date,
}

impl Span {
    fn has(&self, services: &Services, entry: &Entry) -> bool {
        (self.from.plus_days(-1)..=self.to.plus_days(1)).contains(&entry.day)
            && services.rails.name_for(entry.tenant_key, entry.service) == self.rail
    }
}

fn instants((from, to): (Date, Date), is_reported_later: bool) -> (Timestamp, Timestamp) {
    let zone = zone(Currency::Ves);
    let days_after = if is_reported_later { TRANSFER_DAYS_MAX } else { 0 };
    let (from, to) = (from.start_in(zone), to.plus_days(1 + days_after).start_in(zone));
    (from.minus_ms(SKEW_MS + SENT_LATER_MS), to.plus_ms(SKEW_MS))
}

pub async fn gathered(
    services: &Arc<Services>,
    id: Id,
    rail: &'static str,
    (from, to): (Date, Date),
) -> Result<(Vec<Entry>, Vec<Entry>), Problem> {
    let span = Span { rail, from, to };
    let mut done = Vec::new();
    let tenants = services.callers.directory.tenants();
    for (n, known) in tenants.iter().enumerate() {
        let tenant = tenant_key(known.number, Mode::Live);
        let mut next = Some(Place::default());
        while let Some(place) = next {
            let (found, rest) = match services.callers.elsewhere(known) {
                None => portion(services, tenant, (from, to), place).await?,
                Some(partition) => {
                    live_asks::ask(services, partition, &LiveAsk::Moved { tenant, from, to, place }).await?
                }
            };
            for (entity, operation) in found {
                let made = entries::completed(tenant, &entity).into_iter();
                let meant = made.filter(|made| operation.is_none_or(|operation| made.id == operation));
                kept(&mut done, meant.filter(|made| span.has(services, made)))?;
            }
            next = rest;
        }
        let percent = (n + 1) * 99 / tenants.len().max(1);
        services.files.reconciliations.progress(id, u8::try_from(percent).unwrap_or(99));
    }
    let mut open = Vec::new();
    for (tenant, entity, operation) in unresolved(services).await? {
        open.extend(entries::open(tenant, &entity, &operation));
    }
    for said in live_asks::ask_others::<Vec<(u64, Arc<Entity>, Id)>>(services, &LiveAsk::Unresolved).await {
        for (tenant, entity, id) in said? {
            let order = entity.rules().unanswered().into_iter().find(|order| order.id == id);
            open.extend(order.iter().flat_map(|order| entries::open(tenant, &entity, order)));
        }
    }
    open.retain(|entry| is_live(entry.tenant_key) && span.has(services, entry));
    Ok((done, open))
}

/// A list, or after those the micro-deposits, and the last entry of it that was read; none at its beginning.
pub type Place = (u32, Vec<u8>);
/// What may have moved money between the days, of micro-deposits with the operation that made them; and where to go on.
pub type Portion = (Vec<(Arc<Entity>, Option<Id>)>, Option<Place>);

/// What a tenant of this partition has, from a place on: as much as there is time for.
pub async fn portion(
    services: &Arc<Services>,
    key: u64,
    (from, to): (Date, Date),
    (mut list, mut after): Place,
) -> Result<Portion, Problem> {
    let (lists, began, mut found) = (lists(), Instant::now(), Vec::new());
    while found.len() < PART && began.elapsed() < AT_ONCE {
        let place = Some(mem::take(&mut after)).filter(|place| !place.is_empty());
        let at = usize::try_from(list).unwrap_or(usize::MAX);
        let (some, next) = match lists.get(at).copied() {
            Some(listed) => {
                let bounds = instants((from, to), listed.is_reported_later);
                let read = move |services: &Services, budget: &ReadBudget| {
                    part(services, budget, key, (listed, bounds), place.as_deref())
                };
                services.read_pool.read_long(services, PLATFORM, read).await?
            }
            None if at == lists.len() => deposits(services, key, instants((from, to), false), place).await?,
            None => return Ok((found, None)),
        };
        found.extend(some);
        match next {
            Some(next) => after = next,
            None => list += 1,
        }
    }
    Ok((found, Some((list, after))))
}

fn kept(done: &mut Vec<Entry>, found: impl Iterator<Item = Entry>) -> Result<(), Problem> {
    done.extend(found);
    if done.len() > ENTRIES_MAX {
        return Err(Problem::internal_error("more entries than a reconciliation holds: take fewer days"));
    }
    Ok(())
}

type Part = (Vec<(Arc<Entity>, Option<Id>)>, Option<Vec<u8>>);

fn part(
    services: &Services,
    budget: &ReadBudget,
    key: u64,
    (listed, (first, last)): (Listed, (Timestamp, Timestamp)),
    after: Option<&[u8]>,
) -> Result<Part, Stopped> {
    let bound = index::time_bytes(last)[2..].to_vec();
    let reader = services.engine.reader();
    let moment = reader.index_moment();
    let parts = vec![index::list(key, listed.kind, listed.facet)];
    let before = after.unwrap_or(&bound);
    let mut newest = MergeCursor::new(&moment, parts, Some(before), None, Some(budget))?;
    let (mut found, mut looks) = (Vec::new(), 0);
    while let Some(suffix) = newest.take()? {
        budget.spend()?;
        let id = <[u8; 16]>::try_from(suffix.as_slice()).map(Id::from_bytes);
        let id = id.map_err(|_| Unreadable("a list entry without an id".to_owned()))?;
        if let Some(entity) = history::entity(reader, key, EntityId { kind: listed.kind, id })? {
            if !listed.is_late && entity.created_at() < first {
                break;
            }
            found.push((entity, None));
        }
        looks += 1;
        if looks == PART {
            return Ok((found, Some(suffix)));
        }
    }
    Ok((found, None))
}

/// The micro-deposits of a tenant's sellers and of its own account, of methods that were started again or
/// deleted since, too.
async fn deposits(
    services: &Arc<Services>,
    key: u64,
    (first, last): (Timestamp, Timestamp),
    after: Option<Vec<u8>>,
) -> Result<Part, Problem> {
    let bound = |at: Timestamp, rest: u8| {
        let mut id = [rest; 16];
        id[..6].copy_from_slice(&index::time_bytes(at)[2..]);
        index::micro_deposits(key, Id::from_bytes(id))
    };
    let (from, end) = (after.unwrap_or_else(|| bound(first, 0)), bound(last, 0xFF));
    let read = move |services: &Services, budget: &ReadBudget| {
        let reader = services.engine.reader();
        let (mut found, mut next) = (Vec::new(), None);
        for (looks, entry) in reader.index_scan(&from, &end, false).enumerate() {
            budget.spend()?;
            let (name, value) = entry.map_err(Unreadable::from)?;
            if looks == PART {
                next = Some(name);
                break;
            }
            let operation = index::micro_deposits_of(&name);
            let record = history::record(reader, history::seq(&value)?)?.record;
            let all = record.entities.iter().map(|of| (Arc::clone(&of.state), operation));
            found.extend(all.filter(|(_, operation)| operation.is_some()));
        }
        Ok((found, next))
    };
    services.read_pool.read_long(services, PLATFORM, read).await
}
