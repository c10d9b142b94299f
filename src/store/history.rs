//! Reading what was written: entities, lists, events.
//! Everything is found by seeking in the index; nothing here asks an actor, and nothing is seen
//! before it is durable.

use crate::store::merge_cursor::MergeCursor;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::events::{self, World};
use api::page::{Page, page_json};
use api::plan::Show;
use api::problem::Problem;
use domain::codec;
use domain::entity::Resource;
use domain::index::{self, Space};
use domain::record::{Entity, Record};
use domain::resources::checkout::{Attempts, Session, Status};
use domain::resources::payments::Method;
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::time::Timestamp;
use std::fmt;
use std::sync::Arc;
use wal::{ReadError, Reader, Seq};

pub use crate::store::movements::{Position, movements};

/// What is stored cannot be read: a defect or damage, told to the log and never in detail to a
/// caller.
#[derive(Debug)]
pub struct Unreadable(pub String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<ReadError> for Unreadable {
    fn from(error: ReadError) -> Self {
        Unreadable(error.to_string())
    }
}

impl From<Unreadable> for Problem {
    fn from(unreadable: Unreadable) -> Problem {
        tracing::error!(%unreadable, "what is stored cannot be read");
        Problem::internal_error()
    }
}

/// A record and when it was written.
pub struct Read {
    /// The record.
    pub record: Record,
    /// Its time, on its tenant's clock.
    pub time: Timestamp,
    /// Whose it is.
    pub tenant: u64,
}

/// The record with a sequence that an index names.
pub fn record(reader: &Reader, seq: Seq) -> Result<Read, Unreadable> {
    let stored = reader
        .record(seq)?
        .ok_or_else(|| Unreadable(format!("the index names record {seq}, which is not there")))?;
    let record =
        codec::decode(&stored.payload).map_err(|error| Unreadable(format!("record {seq}: {error}")))?;
    Ok(Read { record, time: Timestamp::from_unix_ms(stored.time_ms), tenant: stored.tenant })
}

/// The sequence that is the value of an index entry.
pub fn seq(value: &[u8]) -> Result<Seq, Unreadable> {
    value
        .try_into()
        .map(u64::from_be_bytes)
        .map_err(|_| Unreadable("an index entry that is no sequence".to_owned()))
}

/// The newest state of an entity.
pub fn entity(reader: &Reader, tenant: u64, id: EntityId) -> Result<Option<Arc<Entity>>, Unreadable> {
    let Some(value) = reader.index_get(&index::entity(tenant, id))? else { return Ok(None) };
    Ok(record(reader, seq(&value)?)?.record.entity(id).cloned())
}

/// The number of operations about which a bank contradicted itself.
pub fn contradictions(reader: &Reader) -> u64 {
    let prefix = index::contradicted();
    let end = [prefix.as_slice(), &[0xFF; 9]].concat();
    reader.index_scan(&prefix, &end, false).take_while(Result::is_ok).count() as u64
}

/// The newest states of many entities, some of which may be in one record: it is read once.
pub struct Entities<'a> {
    reader: &'a Reader,
    tenant: u64,
    last: Option<(Seq, Record)>,
}

impl<'a> Entities<'a> {
    /// Of a tenant.
    pub fn new(reader: &'a Reader, tenant: u64) -> Self {
        Entities { reader, tenant, last: None }
    }

    /// The newest state of one of them.
    pub fn find(&mut self, id: EntityId) -> Result<Option<Arc<Entity>>, Unreadable> {
        let Some(value) = self.reader.index_get(&index::entity(self.tenant, id))? else { return Ok(None) };
        let seq = seq(&value)?;
        let (_, record) = match self.last.take() {
            Some(last) if last.0 == seq => self.last.insert(last),
            _ => self.last.insert((seq, record(self.reader, seq)?.record)),
        };
        Ok(record.entity(id).cloned())
    }
}

/// The id that a reference names.
pub fn named(reader: &Reader, tenant: u64, space: Space, name: &str) -> Result<Option<Id>, Unreadable> {
    let Some(value) = reader.index_get(&index::name(tenant, space, name))? else { return Ok(None) };
    let bytes: [u8; 16] =
        value.as_slice().try_into().map_err(|_| Unreadable("a reference that names no id".to_owned()))?;
    Ok(Some(Id::from_bytes(bytes)))
}

/// A checkout session, and where it stands.
pub fn session(
    reader: &Reader,
    tenant: u64,
    id: Id,
    now: Timestamp,
) -> Result<Option<(Session, Status)>, Unreadable> {
    let Some(found) = entity(reader, tenant, EntityId::session(id))? else { return Ok(None) };
    let Entity::Session(session) = &*found else { return Ok(None) };
    let status = session_attempts(reader, tenant, id)?.standing(session, now);
    Ok(Some((session.clone(), status)))
}

/// What was done to pay a checkout session.
pub fn session_attempts(reader: &Reader, tenant: u64, session: Id) -> Result<Attempts, Unreadable> {
    let name = session.to_string();
    let mut attempts = Attempts::default();
    for (space, whose) in [
        (Space::Checkout, EntityId::payment as fn(Id) -> EntityId),
        (Space::CheckoutCop, EntityId::cop_payment),
        (Space::CheckoutUsdt, EntityId::deposit_address),
    ] {
        let Some(id) = named(reader, tenant, space, &name)? else { continue };
        match entity(reader, tenant, whose(id))?.as_deref() {
            Some(Entity::Payment(payment)) => attempts.c2p = Some(payment.clone()),
            Some(Entity::CopPayment(payment)) => attempts.cop = Some(payment.clone()),
            Some(Entity::DepositAddress(address)) => attempts.usdt = Some(address.clone()),
            Some(_) | None => {
                return Err(Unreadable(format!("the session {session} names an attempt that is not there")));
            }
        }
    }
    Ok(attempts)
}

/// The payment that a chargeback belongs to.
pub fn charged_back(reader: &Reader, tenant: u64, chargeback: Id) -> Result<Option<EntityId>, Unreadable> {
    Ok(match entity(reader, tenant, EntityId::chargeback(chargeback))?.as_deref() {
        Some(Entity::Chargeback(chargeback)) => Some(EntityId::payment(chargeback.payment)),
        _ => None,
    })
}

/// The payment of this name, in whatever it was collected.
pub fn payment(reader: &Reader, tenant: u64, id: Id) -> Result<Option<EntityId>, Unreadable> {
    first_known(reader, tenant, [EntityId::payment(id), EntityId::cop_payment(id)])
}

/// The payout of this name, in whatever it was paid.
pub(super) fn payout(reader: &Reader, tenant: u64, id: Id) -> Result<Option<EntityId>, Unreadable> {
    first_known(reader, tenant, [EntityId::payout(id), EntityId::cop_payout(id), EntityId::crypto_payout(id)])
}

fn first_known(
    reader: &Reader,
    tenant: u64,
    candidates: impl IntoIterator<Item = EntityId>,
) -> Result<Option<EntityId>, Unreadable> {
    for candidate in candidates {
        if reader.index_get(&index::entity(tenant, candidate))?.is_some() {
            return Ok(Some(candidate));
        }
    }
    Ok(None)
}

/// A page of entities.
pub fn list(
    reader: &Reader,
    tenant: u64,
    kind: Kind,
    facets: &[u8],
    page: &Page,
    show: Show,
) -> Result<Vec<u8>, Unreadable> {
    list_kinds(reader, tenant, facets.iter().map(|facet| (kind, *facet)).collect(), page, show)
}

/// A page of entities of several kinds, newest first whatever they are.
pub fn list_kinds(
    reader: &Reader,
    tenant: u64,
    mut listed: Vec<(Kind, u8)>,
    page: &Page,
    show: Show,
) -> Result<Vec<u8>, Unreadable> {
    // In the order of the index, so that a part's place says its kind.
    listed.sort_unstable_by_key(|(kind, facet)| (*kind as u8, *facet));
    let parts = listed.iter().map(|(kind, facet)| index::list(tenant, *kind, *facet)).collect();
    let mut newest = MergeCursor::new(reader, parts, page.after.as_deref(), None)?;
    let mut items = Vec::with_capacity(page.limit);
    let mut last = Vec::new();
    while let Some((suffix, part)) = newest.take_with_part()? {
        if items.len() == page.limit {
            return Ok(page_json(items, Some(&page.next(&last))));
        }
        let bytes =
            suffix.last_chunk::<16>().ok_or_else(|| Unreadable("a list entry without an id".to_owned()))?;
        let id = EntityId { kind: listed[part].0, id: Id::from_bytes(*bytes) };
        // Gone since the cursor was made: a merchant that was deleted.
        if let Some(entity) = entity(reader, tenant, id)? {
            items.push(show(&entity));
        }
        last = suffix;
    }
    Ok(page_json(items, None))
}

/// The attempt that a charge by `method` may repeat: the one by it on the reference whose newest
/// attempt is `newest`, or that one when there is none. Only the first attempt on a reference can
/// be by another method than C2P, and those after it know it.
pub fn attempt_by(reader: &Reader, tenant: u64, newest: Id, method: Method) -> Result<Id, Unreadable> {
    let charge = match entity(reader, tenant, EntityId::payment(newest))?.as_deref() {
        Some(Entity::Payment(payment)) if payment.method() != method => payment.charge,
        _ => None,
    };
    let Some(charge) = charge else { return Ok(newest) };
    let is_by_it = matches!(entity(reader, tenant, EntityId::payment(charge))?.as_deref(), Some(Entity::Payment(payment)) if payment.method() == method);
    Ok(if is_by_it { charge } else { newest })
}

/// A page of the payments on a reference: the newest attempt, and those before it. Each attempt
/// names the one before, so a page begins where the last one ended.
pub fn attempts(
    reader: &Reader,
    tenant: u64,
    name: &str,
    facets: &[u8],
    page: &Page,
    show: Show,
    budget: &ReadBudget,
) -> Result<Vec<u8>, Stopped> {
    let mut items = Vec::new();
    let mut last = Vec::new();
    let mut next = match &page.after {
        Some(after) => before(reader, tenant, after)?,
        None => match named(reader, tenant, Space::Payment, name)? {
            Some(newest) => Some(newest),
            None => named(reader, tenant, Space::Checkout, name)?,
        },
    };
    while let Some(id) = next {
        budget.spend()?;
        let Some(found) = entity(reader, tenant, EntityId::payment(id))? else { break };
        let Entity::Payment(payment) = &*found else { break };
        next = payment.previous;
        if !facets.contains(&payment.facet()) {
            continue;
        }
        if items.len() == page.limit {
            return Ok(page_json(items, Some(&page.next(&last))));
        }
        items.push(show(&found));
        last = id.as_bytes().to_vec();
    }
    Ok(page_json(items, None))
}

/// The attempt before the one that a cursor names.
fn before(reader: &Reader, tenant: u64, attempt: &[u8]) -> Result<Option<Id>, Unreadable> {
    let id = attempt.try_into().map_err(|_| Unreadable("a cursor that names no payment".to_owned()))?;
    Ok(match entity(reader, tenant, EntityId::payment(Id::from_bytes(id)))?.as_deref() {
        Some(Entity::Payment(payment)) => payment.previous,
        _ => None,
    })
}

/// A page of events after a number, oldest first.
pub fn events(
    reader: &Reader,
    tenant: u64,
    after: u64,
    page: &Page,
    world: World,
) -> Result<Vec<u8>, Unreadable> {
    let mut items = Vec::with_capacity(page.limit);
    let mut last = after;
    let Some(first) = after.checked_add(1) else { return Ok(page_json(items, None)) };
    // The record that the first of them is in may begin with an earlier one.
    let from = newest_event_key(reader, tenant, first)?.unwrap_or_else(|| index::event(tenant, first));
    for entry in reader.index_scan(&from, &index::events_end(tenant), false) {
        let (_, value) = entry?;
        let read = record(reader, seq(&value)?)?;
        for n in 0..read.record.events.len() {
            let number = read.record.event_number(n);
            if number <= after {
                continue;
            }
            if items.len() == page.limit {
                return Ok(page_json(items, Some(&page.next(&last.to_be_bytes()))));
            }
            items.extend(events::show(&read.record, read.time, n, world));
            last = number;
        }
    }
    Ok(page_json(items, None))
}

/// One event: its id says its number, and the number where its record is.
pub fn event(reader: &Reader, tenant: u64, id: Id, world: World) -> Result<Option<Vec<u8>>, Unreadable> {
    let Some(key) = newest_event_key(reader, tenant, id.number())? else { return Ok(None) };
    let Some(value) = reader.index_get(&key)? else { return Ok(None) };
    let read = record(reader, seq(&value)?)?;
    let found = (0..read.record.events.len()).find(|n| read.record.event_id(read.time, *n) == id);
    Ok(found.and_then(|n| events::show(&read.record, read.time, n, world)))
}

/// The key of the last record whose first event has at most this number.
pub fn newest_event_key(reader: &Reader, tenant: u64, number: u64) -> Result<Option<Vec<u8>>, Unreadable> {
    let end =
        number.checked_add(1).map_or_else(|| index::events_end(tenant), |next| index::event(tenant, next));
    let newest = reader.index_scan(&index::event(tenant, 0), &end, true).next().transpose()?;
    Ok(newest.map(|(key, _)| key))
}
