//! The entries on our side of a reconciliation: money of all tenants that went over a rail in live
//! mode between two days, and orders that are open at it.
//!
//! All of it is read in parts in the pool of long reads, so that nobody's read waits for all of it,
//! and only what belongs to the rail and the days stays in memory.

use super::due::unresolved;
use crate::gateway::services::Services;
use crate::reconciliation::entries::{self, Entry, zone};
use crate::store::history::{self, Unreadable};
use crate::store::merge_cursor::MergeCursor;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::problem::Problem;
use domain::entities::means::{Method, Offer};
use domain::entities::payment::{Status, facet};
use domain::entities::payout;
use domain::index;
use domain::resources::payments::charge::TRANSFER_DAYS_MAX;
use domain::values::ids::{EntityId, Id, Kind, Mode, PLATFORM, is_live, tenant_key};
use domain::values::money::Currency;
use domain::values::time::{DAY_MS, Date, Timestamp};
use std::sync::Arc;

const PART: usize = 5_000;
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

    fn instants(&self, is_reported_later: bool) -> (Timestamp, Timestamp) {
        let zone = zone(Currency::Ves);
        let days_after = if is_reported_later { TRANSFER_DAYS_MAX } else { 0 };
        let (from, to) = (self.from.start_in(zone), self.to.plus_days(1 + days_after).start_in(zone));
        (from.minus_ms(SKEW_MS + SENT_LATER_MS), to.plus_ms(SKEW_MS))
    }
}

pub async fn gathered(
    services: &Arc<Services>,
    id: Id,
    rail: &'static str,
    (from, to): (Date, Date),
) -> Result<(Vec<Entry>, Vec<Entry>), Problem> {
    let span = Span { rail, from, to };
    let mut done = Vec::new();
    let tenants = services.callers.own_tenants();
    for (n, tenant) in tenants.iter().enumerate() {
        let key = tenant_key(tenant.number, Mode::Live);
        for listed in lists() {
            let mut after: Option<Vec<u8>> = None;
            loop {
                let place = after.take();
                let read = move |services: &Services, budget: &ReadBudget| {
                    part(services, budget, key, (listed, span), place.as_deref())
                };
                let (found, next) = services.read_pool.read_long(services, PLATFORM, read).await?;
                kept(&mut done, found)?;
                after = next;
                if after.is_none() {
                    break;
                }
            }
        }
        deposits(services, key, span, &mut done).await?;
        let percent = (n + 1) * 99 / tenants.len().max(1);
        services.files.reconciliations.progress(id, u8::try_from(percent).unwrap_or(99));
    }
    let open = unresolved(services).await?;
    let open = open.into_iter().filter(|(key, ..)| is_live(*key));
    let open = open.flat_map(|(key, entity, operation)| entries::open(key, &entity, &operation));
    Ok((done, open.filter(|entry| span.has(services, entry)).collect()))
}

fn kept(done: &mut Vec<Entry>, found: Vec<Entry>) -> Result<(), Problem> {
    done.extend(found);
    if done.len() > ENTRIES_MAX {
        return Err(Problem::internal_error("more entries than a reconciliation holds: take fewer days"));
    }
    Ok(())
}

type Part = (Vec<Entry>, Option<Vec<u8>>);

fn part(
    services: &Services,
    budget: &ReadBudget,
    key: u64,
    (listed, span): (Listed, Span),
    after: Option<&[u8]>,
) -> Result<Part, Stopped> {
    let (first, last) = span.instants(listed.is_reported_later);
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
            found.extend(
                entries::completed(key, &entity).into_iter().filter(|entry| span.has(services, entry)),
            );
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
    span: Span,
    done: &mut Vec<Entry>,
) -> Result<(), Problem> {
    let (first, last) = span.instants(false);
    let bound = |at: Timestamp, rest: u8| {
        let mut id = [rest; 16];
        id[..6].copy_from_slice(&index::time_bytes(at)[2..]);
        index::micro_deposits(key, Id::from_bytes(id))
    };
    let (mut begin, end) = (Some(bound(first, 0)), bound(last, 0xFF));
    while let Some(from) = begin.take() {
        let end = end.clone();
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
                let all = record.entities.iter().flat_map(|of| entries::completed(key, &of.state));
                found.extend(all.filter(|made| Some(made.id) == operation && span.has(services, made)));
            }
            Ok((found, next))
        };
        let (found, next) = services.read_pool.read_long(services, PLATFORM, read).await?;
        kept(done, found)?;
        begin = next;
    }
    Ok(())
}
