//! The list of orders at banks that may need an operator, in pages (`docs/contract.md, 5.13`).
//!
//! Two sources make it, each in an order of its own: contradictions in that of their records, and what
//! waits for a bank in that of its entities. A page takes from both whatever is newer, and its cursor
//! has the place in each.

use super::{Due, READS_MAX, due, unanswered};
use crate::admin::call::{Call, CallResult, Done, tenant_of};
use crate::gateway::services::Services;
use crate::store::history::{self, Read};
use crate::store::merge_cursor::MergeCursor;
use crate::store::read_budget::{ReadBudget, Stopped};
use crate::store::stored::Stored;
use api::fields::{Invalid, Kind as _};
use api::openapi::{kinds, schema};
use api::page::{ListOf, Page, bad_cursor, page_json};
use api::payments::attempts::paid_beside;
use api::query::Query;
use api::writer::Object;
use domain::entities::Entity;
use domain::entities::payment::Status;
use domain::index;
use domain::record::Record;
use domain::resources::operations::Operation;
use domain::trace::shown;
use domain::values::ids::Id;
use domain::values::mode::{Mode, PLATFORM, is_live};
use domain::values::time::Timestamp;
use std::collections::VecDeque;

pub(super) const STATUSES: [&str; 3] = ["contradicted", "pending", "unresolved"];
const CONTRADICTED: &str = STATUSES[0];
const PENDING: &str = STATUSES[1];
const UNRESOLVED: &str = STATUSES[2];

pub struct Wanted {
    status: Option<&'static str>,
    rail: Option<&'static str>,
    tenant: Option<Id>,
}

impl Wanted {
    fn is_in(&self, status: &str) -> bool {
        self.status.is_none_or(|wanted| wanted == status)
    }

    fn is_at(&self, rail: &str) -> bool {
        self.rail.is_none_or(|wanted| wanted == rail)
    }

    fn is_of(&self, tenant: Option<Id>) -> bool {
        self.tenant.is_none_or(|wanted| tenant == Some(wanted))
    }
}

/// The places in both sources that a page follows: `None` before the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Places {
    contradicted: Option<Vec<u8>>,
    waiting: Option<Vec<u8>>,
}

impl Places {
    /// The length of the first in a byte, the first and the second; an empty one is none.
    fn to_bytes(&self) -> Vec<u8> {
        let (one, other) =
            (self.contradicted.as_deref().unwrap_or(&[]), self.waiting.as_deref().unwrap_or(&[]));
        let length = u8::try_from(one.len()).unwrap_or(u8::MAX);
        [&[length], one, other].concat()
    }

    fn of_bytes(bytes: &[u8]) -> Option<Places> {
        let (length, rest) = bytes.split_first()?;
        let (one, other) = rest.split_at_checked(usize::from(*length))?;
        let some = |place: &[u8]| Some(place.to_vec()).filter(|place| !place.is_empty());
        Some(Places { contradicted: some(one), waiting: some(other) })
    }
}

pub(super) fn asked(
    mut query: Query<'_>,
    list: ListOf<'_>,
    rails: &[&'static str],
) -> Result<(Wanted, Page), Invalid> {
    let rails = rails.iter().map(|name| (*name, *name)).collect::<Vec<_>>();
    let rail = kinds::one_of(rails).described(|_| schema::text());
    let status = query.optional("status", kinds::named_one(STATUSES, |status| status));
    let rail = query.optional("rail", rail);
    let tenant = query.optional("tenantId", kinds::uuid());
    let page = query.page(list);
    let sound = query.finish()?;
    let wanted = Wanted {
        status: status.get(&sound),
        rail: rail.get(&sound),
        tenant: tenant.get(&sound).map(Id::from),
    };
    Ok((wanted, page.get(&sound)))
}

/// newest first, of all tenants in both modes.
pub async fn list(call: Call) -> CallResult {
    let services = &call.services;
    let rails = services.rails.names();
    let (wanted, page) = call.listed("operations", |query, list| asked(query, list, &rails))?;
    let places = match &page.after {
        Some(after) => Places::of_bytes(after).ok_or_else(bad_cursor)?,
        None => Places::default(),
    };
    let limit = page.limit;
    let due = if wanted.status == Some(CONTRADICTED) { Vec::new() } else { due(services).await? };
    let read = move |services: &Services, budget: &ReadBudget| {
        let mut one = Source::default();
        if wanted.is_in(CONTRADICTED) {
            one = contradictions(services, &wanted, places.contradicted.as_deref(), limit, budget)?;
        }
        let other = waiting(services, &due, &wanted, places.waiting.as_deref(), limit, budget)?;
        Ok(merged(one, other, places.clone(), limit))
    };
    let (items, next) = services.read_pool.read(services, PLATFORM, read).await?;
    let next = next.map(|places| page.next(&places.to_bytes()));
    Ok(Done::ok(page_json(items, next.as_deref())))
}

/// The operations of one record or entity, which stay on one page.
struct Group {
    place: Vec<u8>,
    at: Timestamp,
    items: Vec<Vec<u8>>,
}

#[derive(Default)]
struct Source {
    groups: VecDeque<Group>,
    /// The place up to which it was read, if there may be more after it.
    read_to: Option<Vec<u8>>,
}

/// A page of both sources: the newer group of both each time, and where the next page begins, if there
/// may be one. Where a source was not read on, the page ends, as its next group may be the newer.
fn merged(mut one: Source, mut other: Source, from: Places, limit: usize) -> (Vec<Vec<u8>>, Option<Places>) {
    let mut places = from;
    let mut items = Vec::with_capacity(limit);
    while items.len() < limit {
        let is_one = match (one.groups.front(), other.groups.front()) {
            (Some(first), Some(second)) => first.at >= second.at,
            (Some(_), None) if other.read_to.is_none() => true,
            (None, Some(_)) if one.read_to.is_none() => false,
            _ => break,
        };
        let (source, place) = match is_one {
            true => (&mut one, &mut places.contradicted),
            false => (&mut other, &mut places.waiting),
        };
        let Some(group) = source.groups.pop_front() else { break };
        *place = Some(group.place);
        items.extend(group.items);
    }
    // Places that were read in vain are not read again.
    for (source, place) in [(&mut one, &mut places.contradicted), (&mut other, &mut places.waiting)] {
        if source.groups.is_empty()
            && let Some(read_to) = &source.read_to
        {
            *place = Some(read_to.clone());
        }
    }
    let is_more = [&one, &other].iter().any(|source| !source.groups.is_empty() || source.read_to.is_some());
    (items, is_more.then_some(places))
}

fn contradictions(
    services: &Services,
    wanted: &Wanted,
    after: Option<&[u8]>,
    limit: usize,
    budget: &ReadBudget,
) -> Result<Source, Stopped> {
    let reader = services.engine.reader();
    let moment = reader.index_moment();
    let mut newest = MergeCursor::new(&moment, vec![index::contradicted()], after, None, Some(budget))?;
    let mut source = Source::default();
    let mut last = None;
    while let Some(place) = newest.take()? {
        if source.groups.len() == limit {
            source.read_to = last;
            break;
        }
        budget.spend()?;
        let Read { record, tenant: tenant_key, time, .. } = history::record(reader, history::seq(&place)?)?;
        let whose = tenant_of(&services.callers, tenant_key);
        let contradicted =
            record.entities.first().and_then(|written| written.state.rules().contradiction(time));
        if let Some(operation) = contradicted {
            let rail = services.rails.name_for(tenant_key, operation.service);
            if wanted.is_at(rail) && wanted.is_of(whose) {
                let other = other_attempt(services, tenant_key, &record, budget)?;
                let contradicted = Some((time, other));
                let item = show(&operation, (rail, tenant_key, whose), contradicted, CONTRADICTED);
                source.groups.push_back(Group { place: place.clone(), at: time, items: vec![item] });
            }
        }
        last = Some(place);
    }
    Ok(source)
}

/// The other attempt that was paid too, where a bank says so of one that had failed.
fn other_attempt(
    services: &Services,
    tenant_key: u64,
    record: &Record,
    budget: &ReadBudget,
) -> Result<Option<Id>, Stopped> {
    match record.entities.first().map(|written| &*written.state) {
        Some(Entity::Payment(payment)) if payment.status == Status::Failed => {
            let records = Stored::of(services.engine.reader(), tenant_key).within(budget);
            Ok(paid_beside(&records, payment)?)
        }
        _ => Ok(None),
    }
}

fn waiting(
    services: &Services,
    due: &[Due],
    wanted: &Wanted,
    after: Option<&[u8]>,
    limit: usize,
    budget: &ReadBudget,
) -> Result<Source, Stopped> {
    let older_ms = if wanted.is_in(PENDING) { 0 } else { services.waits.unresolved.after_ms };
    let is_meant = |due: &&Due| {
        due.may_be_older_than(older_ms)
            && after.is_none_or(|after| due.position().as_slice() < after)
            && wanted.is_of(tenant_of(&services.callers, due.tenant_key))
    };
    let mut due: Vec<&Due> = due.iter().filter(is_meant).collect();
    due.sort_unstable_by_key(|due| std::cmp::Reverse(due.position()));
    let mut source = Source::default();
    let mut last = None;
    for (read, one) in due.iter().enumerate() {
        if read == READS_MAX || source.groups.len() == limit {
            source.read_to = last;
            break;
        }
        budget.spend()?;
        last = Some(one.position());
        let whose = tenant_of(&services.callers, one.tenant_key);
        let of_it = unanswered(services.engine.reader(), one)?;
        let items = of_it.iter().filter_map(|operation| {
            let rail = services.rails.name_for(one.tenant_key, operation.service);
            let status = if services.waits.unresolved.has(operation, one.now) { UNRESOLVED } else { PENDING };
            let is_meant = wanted.is_at(rail) && wanted.is_in(status);
            is_meant.then(|| show(operation, (rail, one.tenant_key, whose), None, status))
        });
        let items: Vec<Vec<u8>> = items.collect();
        if !items.is_empty() {
            // The instant is one of the tenant's clock, as the records of contradictions are.
            let sent_at = of_it.iter().map(|operation| operation.sent_at).max();
            let at = sent_at.unwrap_or(one.now);
            source.groups.push_back(Group { place: one.position(), at, items });
        }
    }
    Ok(source)
}

fn show(
    operation: &Operation,
    (rail, tenant_key, tenant): (&str, u64, Option<Id>),
    contradicted: Option<(Timestamp, Option<Id>)>,
    status: &str,
) -> Vec<u8> {
    let id = operation.subject.id().or(tenant);
    let subject = Object::new().plain("type", operation.subject.name()).maybe_plain("id", id).end();
    // The bank's own words, where it has any; the simulator's codes are ours.
    let word = operation.word.as_ref();
    let not_empty = |text: &&str| !text.is_empty();
    let text = word.map(|word| word.text.as_str()).filter(not_empty);
    let code = word.map(|word| word.code.as_str()).filter(not_empty).or(operation.code.as_deref());
    Object::with_capacity(512)
        .plain("operationId", operation.id)
        .plain("kind", operation.kind.name())
        .plain("rail", rail)
        .maybe_plain("tenantId", tenant)
        .plain("mode", if is_live(tenant_key) { Mode::Live.name() } else { Mode::Test.name() })
        .json("entity", &subject)
        .plain("amount", operation.amount())
        .plain("currency", operation.currency.code())
        .maybe_plain("sentAt", Some(operation.sent_at).filter(|_| !operation.is_queued))
        .maybe_plain("askedAt", operation.asked_at)
        .number("asks", operation.asks)
        .maybe_text("bankCode", code)
        .maybe_text("bankText", text)
        .maybe_text("bankReference", shown(&operation.reference))
        .maybe_plain("contradictedAt", contradicted.map(|(at, _)| at))
        .maybe_plain("otherAttemptId", contradicted.and_then(|(_, other)| other))
        .plain("status", status)
        .end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(groups: &[(u8, i64)], read_to: Option<u8>) -> Source {
        let group = |(place, at): &(u8, i64)| Group {
            place: vec![*place],
            at: Timestamp::from_unix_ms(*at),
            items: vec![vec![*place]],
        };
        Source { groups: groups.iter().map(group).collect(), read_to: read_to.map(|place| vec![place]) }
    }

    fn page(one: Source, other: Source, limit: usize) -> (Vec<u8>, Option<(u8, u8)>) {
        let (items, next) = merged(one, other, Places::default(), limit);
        let number = |place: Option<Vec<u8>>| place.map_or(0, |place| place[0]);
        let next = next.map(|places| (number(places.contradicted), number(places.waiting)));
        (items.concat(), next)
    }

    #[test]
    fn a_page_takes_the_newer_of_both_and_goes_on_from_where_it_was_in_each() {
        let one = || source(&[(9, 90), (5, 50)], None);
        let other = || source(&[(7, 70), (6, 60), (1, 10)], None);
        assert_eq!(page(one(), other(), 9), (vec![9, 7, 6, 5, 1], None));
        assert_eq!(page(one(), other(), 3), (vec![9, 7, 6], Some((9, 6))));
        assert_eq!(page(one(), other(), 1), (vec![9], Some((9, 0))));
        // A source of which not all was read may have something newer than what the other has left.
        assert_eq!(page(one(), source(&[(7, 70)], Some(3)), 9), (vec![9, 7], Some((9, 3))));
        assert_eq!(page(source(&[], Some(4)), other(), 9), (vec![], Some((4, 0))));
    }

    #[test]
    fn places_come_back_from_a_cursor() {
        for (one, other) in [
            (None, None),
            (Some(vec![1; 8]), None),
            (None, Some(vec![2; 25])),
            (Some(vec![3]), Some(vec![4])),
        ] {
            let places = Places { contradicted: one, waiting: other };
            assert_eq!(Places::of_bytes(&places.to_bytes()), Some(places));
        }
        assert_eq!((Places::of_bytes(&[]), Places::of_bytes(&[9, 1])), (None, None));
    }
}
