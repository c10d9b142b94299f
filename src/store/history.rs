//! Reading what was written: entities, lists, movements, events.
//! Everything is found by seeking in the index; nothing here asks an actor, and nothing is seen
//! before it is durable.

use crate::store::merge_cursor::MergeCursor;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::balance::show_movement;
use api::events::{self, World};
use api::page::{Page, page_json};
use api::plan::{Movements, Show};
use domain::codec;
use domain::index::{self, LedgerKey, Space};
use domain::ledger::Ledger;
use domain::platform::is_live;
use domain::record::{Entity, Record};
use domain::resources::checkout::{Attempts, Session, Status};
use domain::resources::payments::Method;
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::time::Timestamp;
use std::fmt;
use std::sync::Arc;
use wal::{ReadError, Reader, Seq};

/// What is stored cannot be read: a defect or damage, told to the log and never in detail to a
/// caller.
#[derive(Debug)]
pub struct Unreadable(pub String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

impl From<ReadError> for Unreadable {
    fn from(error: ReadError) -> Self {
        Unreadable(error.to_string())
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
fn payout(reader: &Reader, tenant: u64, id: Id) -> Result<Option<EntityId>, Unreadable> {
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

/// A page of movements, those after a position.
pub fn movements(
    reader: &Reader,
    tenant: u64,
    ask: &Movements,
    after: Option<Position>,
    now: Timestamp,
    budget: &ReadBudget,
) -> Result<Vec<u8>, Stopped> {
    let mut items = Vec::with_capacity(ask.page.limit);
    let mut last = Vec::new();
    let subjects = subjects(reader, tenant, &ask.subjects)?;
    for (from, to) in spans(reader, tenant, ask, &subjects)? {
        let before = after
            .as_ref()
            .map(|after| after.just_after())
            .into_iter()
            .chain([index::time_bytes(to).to_vec()])
            .min();
        let parts =
            ask.kinds.iter().flat_map(|kind| index::movement_lists(tenant, ask.ledger, *kind)).collect();
        let mut newest =
            MergeCursor::new(reader, parts, before.as_deref(), Some(index::time_bytes(from).to_vec()))?;
        while let Some(suffix) = newest.take()? {
            let at = Position::of_record(&suffix)?;
            budget.spend()?;
            let read = record(reader, at.seq)?;
            for n in (0..read.record.postings.len()).rev() {
                let position = Position { row: u16::try_from(n).unwrap_or(u16::MAX), ..at };
                if after.as_ref().is_some_and(|after| position >= *after)
                    || !wanted(&read.record, n, ask, &subjects)
                {
                    continue;
                }
                if items.len() == ask.page.limit {
                    return Ok(page_json(items, Some(&ask.page.next(&last))));
                }
                items.extend(show_movement(is_live(tenant), &read.record, read.time, n, now));
                last = position.bytes();
            }
        }
    }
    Ok(page_json(items, None))
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

/// The payments and payouts that are asked for, each as what it is; one that is not there stays as
/// it was named.
fn subjects(reader: &Reader, tenant: u64, asked: &[EntityId]) -> Result<Vec<EntityId>, Unreadable> {
    let known = |subject: &EntityId| match subject.kind {
        Kind::Payment => payment(reader, tenant, subject.id),
        Kind::Payout => payout(reader, tenant, subject.id),
        _ => Ok(None),
    };
    asked.iter().map(|subject| Ok(known(subject)?.unwrap_or(*subject))).collect()
}

/// The stretches of time to look at, newest first, each with its start and the instant after its
/// end.
fn spans(
    reader: &Reader,
    tenant: u64,
    ask: &Movements,
    subjects: &[EntityId],
) -> Result<Vec<(Timestamp, Timestamp)>, Unreadable> {
    let from = ask.from.unwrap_or(Timestamp::from_unix_ms(0));
    let to = ask.to.unwrap_or(Timestamp::from_unix_ms(i64::MAX));
    let mut spans = match subjects {
        [] => vec![(from, to)],
        // A payment or payout knows when it moved money.
        [subject] => match entity(reader, tenant, *subject)?.as_deref() {
            Some(Entity::Payment(payment)) => payment.moved_at(),
            Some(Entity::Payout(payout)) => payout.moved_at(),
            Some(Entity::CryptoPayout(payout)) => payout.moved_at(),
            Some(Entity::CopPayment(payment)) => payment.moved_at(),
            Some(Entity::CopPayout(payout)) => payout.moved_at(),
            Some(_) | None => Vec::new(),
        }
        .into_iter()
        .map(|at| (at, at.plus_ms(1)))
        .collect(),
        // No movement belongs to a payment and a payout.
        _ => Vec::new(),
    };
    spans.retain_mut(|(start, end)| {
        *start = (*start).max(from);
        *end = (*end).min(to);
        *start < *end
    });
    spans.sort_unstable_by(|a, b| b.cmp(a));
    spans.dedup();
    Ok(spans)
}

fn wanted(record: &Record, n: usize, ask: &Movements, subjects: &[EntityId]) -> bool {
    let posting = &record.postings[n];
    let Some(row) = &posting.row else { return false };
    let ledger = match posting.ledger {
        Ledger::Tenant => LedgerKey::Tenant(posting.currency),
        Ledger::Seller(merchant) => LedgerKey::Seller(merchant),
        Ledger::Fees | Ledger::Rail | Ledger::Operator | Ledger::Exchange => return false,
    };
    ledger == ask.ledger
        && ask.kinds.contains(&(row.kind as u8))
        && subjects.iter().all(|subject| row.subject == Some(*subject))
}

/// Where a movement is in the order of all of them: time, sequence and row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    time: u64,
    /// The record.
    pub seq: Seq,
    row: u16,
}

impl Position {
    /// From an entry of the index, as the first row of its record.
    pub fn of_record(suffix: &[u8]) -> Result<Position, Unreadable> {
        let (time, seq) = suffix.split_first_chunk().ok_or_else(Position::unreadable)?;
        let seq: [u8; 8] = seq.try_into().map_err(|_| Position::unreadable())?;
        Ok(Position { time: u64::from_be_bytes(*time), seq: u64::from_be_bytes(seq), row: 0 })
    }

    /// From a cursor; `None` for what cannot be the position of a movement.
    pub fn read(bytes: &[u8]) -> Option<Position> {
        let (record, row) = bytes.split_last_chunk()?;
        let record = Position::of_record(record).ok()?;
        (record.seq < Seq::MAX).then_some(Position { row: u16::from_be_bytes(*row), ..record })
    }

    fn bytes(self) -> Vec<u8> {
        let mut bytes = self.time.to_be_bytes().to_vec();
        bytes.extend_from_slice(&self.seq.to_be_bytes());
        bytes.extend_from_slice(&self.row.to_be_bytes());
        bytes
    }

    /// A suffix just after this record's, so that its other rows are seen again.
    fn just_after(&self) -> Vec<u8> {
        let mut bytes = self.time.to_be_bytes().to_vec();
        bytes.extend_from_slice(&self.seq.saturating_add(1).to_be_bytes());
        bytes
    }

    fn unreadable() -> Unreadable {
        Unreadable("a movement entry of another length".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_back_and_no_other_bytes_are_one() {
        let at = Position { time: 7, seq: u64::MAX - 1, row: 3 };
        assert!(Position::read(&at.bytes()) == Some(at));
        assert_eq!(at.just_after()[8..], u64::MAX.to_be_bytes());
        for bad in [vec![0xFF; 18], vec![0; 17], vec![0; 19], Vec::new()] {
            assert!(Position::read(&bad).is_none(), "{bad:?}");
        }
    }
}
