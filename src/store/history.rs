//! Reads of what was written: entities, lists, events.

use crate::store::merge_cursor::MergeCursor;
pub use crate::store::read_budget::Unreadable;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::records::{Each, EachEntry, Entry, Records, Unread};
use domain::codec;
use domain::entities::Entity;
use domain::entities::product::{Product, product_of};
use domain::index::{self, Space};
use domain::record::Record;
use domain::resources::checkout::Attempts;
use domain::values::ids::{EntityId, Id, PLATFORM};
use domain::values::time::Timestamp;
use std::sync::{Arc, Mutex, PoisonError};
use wal::{Reader, Seq};

pub struct Read {
    pub record: Record,
    pub time: Timestamp,
    pub tenant: u64,
}

pub fn record(reader: &Reader, seq: Seq) -> Result<Read, Unreadable> {
    let stored = reader
        .record(seq)?
        .ok_or_else(|| Unreadable(format!("the index names record {seq}, which is not there")))?;
    let record =
        codec::decode(&stored.payload).map_err(|error| Unreadable(format!("record {seq}: {error}")))?;
    Ok(Read { record, time: Timestamp::from_unix_ms(stored.time_ms), tenant: stored.tenant })
}

pub fn seq(value: &[u8]) -> Result<Seq, Unreadable> {
    value
        .try_into()
        .map(u64::from_be_bytes)
        .map_err(|_| Unreadable("an index entry that is no sequence".to_owned()))
}

pub fn entity(reader: &Reader, tenant: u64, id: EntityId) -> Result<Option<Arc<Entity>>, Unreadable> {
    let Some(value) = reader.index_get(&index::entity(tenant, id))? else { return Ok(None) };
    Ok(record(reader, seq(&value)?)?.record.entity(id).cloned())
}

/// The records in which banks contradicted themselves, as far as the index can be read.
pub fn contradictions(reader: &Reader) -> impl Iterator<Item = Seq> {
    let prefix = index::contradicted();
    let end = [prefix.as_slice(), &[0xFF; 9]].concat();
    let found = reader.index_scan(&prefix, &end, false);
    found.map_while(move |entry| seq(entry.ok()?.0.get(prefix.len()..)?).ok())
}

/// Several entities may be in one record, which is read once.
pub struct Entities<'a> {
    reader: &'a Reader,
    tenant: u64,
    last: Option<ReadRecord>,
}

pub type ReadRecord = (Seq, Arc<Record>);

impl<'a> Entities<'a> {
    pub fn new(reader: &'a Reader, tenant: u64) -> Self {
        Entities { reader, tenant, last: None }
    }

    pub fn knowing(self, last: Option<ReadRecord>) -> Self {
        Entities { last, ..self }
    }

    pub fn last(self) -> Option<ReadRecord> {
        self.last
    }

    pub fn find(&mut self, id: EntityId) -> Result<Option<Arc<Entity>>, Unreadable> {
        let Some(value) = self.reader.index_get(&index::entity(self.tenant, id))? else { return Ok(None) };
        Ok(self.record(seq(&value)?)?.entity(id).cloned())
    }

    pub fn record(&mut self, seq: Seq) -> Result<&Record, Unreadable> {
        let (_, record) = match self.last.take() {
            Some(last) if last.0 == seq => self.last.insert(last),
            _ => self.last.insert((seq, Arc::new(record(self.reader, seq)?.record))),
        };
        Ok(record)
    }
}

pub fn named(reader: &Reader, tenant: u64, space: Space, name: &str) -> Result<Option<Id>, Unreadable> {
    let Some(value) = reader.index_get(&index::name(tenant, space, name))? else { return Ok(None) };
    let bytes: [u8; 16] =
        value.as_slice().try_into().map_err(|_| Unreadable("a reference that names no id".to_owned()))?;
    Ok(Some(Id::from_bytes(bytes)))
}

/// The tenant key of something of a tenant's that the platform's index names in this space.
pub fn owner(reader: &Reader, space: Space, id: Id) -> Result<Option<u64>, Unreadable> {
    let Some(value) = reader.index_get(&index::name(PLATFORM, space, &id.to_string()))? else {
        return Ok(None);
    };
    let key = value.as_slice().try_into().map(u64::from_be_bytes);
    key.map(Some).map_err(|_| Unreadable("something that the index names is no tenant's".to_owned()))
}

/// The product of the payment link that has a slug, with its tenant key and the link. A slug of a product
/// that went with the rest of its account's test data names nothing, and is free.
pub fn on_slug(reader: &Reader, slug: &str) -> Result<Option<(u64, Id, Product)>, Unreadable> {
    let Some(value) = reader.index_get(&index::name(PLATFORM, Space::Slug, slug))? else { return Ok(None) };
    let unreadable = || Unreadable("a slug that leads nowhere".to_owned());
    let (tenant, link) = value.split_first_chunk().ok_or_else(unreadable)?;
    let (tenant, link) =
        (u64::from_be_bytes(*tenant), Id::from_bytes(link.try_into().map_err(|_| unreadable())?));
    match entity(reader, tenant, product_of(link))?.as_deref() {
        Some(Entity::Product(product)) => Ok(Some((tenant, link, product.clone()))),
        _ => Ok(None),
    }
}

/// The record with which a book of test mode began anew the last time; `None` if it never did.
pub fn begun_at(reader: &Reader, tenant: u64) -> Result<Option<Seq>, Unreadable> {
    let Some(event) = reader.index_get(&index::begun_at(tenant))? else { return Ok(None) };
    let begun = reader.index_get(&index::event(tenant, seq(&event)?))?;
    begun.map(|value| seq(&value)).transpose()
}

/// The last record whose first event has at most this number.
pub fn newest_event_key(reader: &Reader, tenant: u64, number: u64) -> Result<Option<Vec<u8>>, Unreadable> {
    let end = index::event(tenant, number.saturating_add(1));
    let newest = reader.index_scan(&index::event(tenant, 0), &end, true).next().transpose()?;
    Ok(newest.map(|(key, _)| key))
}

/// Reads the newest states of entities of any tenant key. Many may be in one record, such as the payouts of a batch,
/// which costs as much to read as hundreds of others: the record that was read last is kept.
pub struct EntityReader<'a> {
    reader: &'a Reader,
    last: Mutex<Option<ReadRecord>>,
}

impl<'a> EntityReader<'a> {
    pub fn of(reader: &'a Reader) -> EntityReader<'a> {
        EntityReader { reader, last: Mutex::default() }
    }

    pub fn entity(&self, tenant: u64, id: EntityId) -> Result<Option<Arc<Entity>>, Unreadable> {
        let Some(value) = self.reader.index_get(&index::entity(tenant, id))? else { return Ok(None) };
        let seq = seq(&value)?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match last.take() {
            Some(known) if known.0 == seq => known,
            _ => (seq, Arc::new(record(self.reader, seq)?.record)),
        };
        Ok(last.insert(known).1.entity(id).cloned())
    }
}

/// The durable records of one tenant key, as the API's reads ask for them ([`api::records`]).
pub struct Stored<'a> {
    reader: &'a Reader,
    entities: EntityReader<'a>,
    tenant: u64,
    budget: Option<&'a ReadBudget>,
}

impl<'a> Stored<'a> {
    pub fn of(reader: &'a Reader, tenant: u64) -> Stored<'a> {
        let entities = EntityReader { reader, last: Mutex::default() };
        Stored { reader, entities, tenant, budget: None }
    }

    pub fn within(self, budget: &'a ReadBudget) -> Stored<'a> {
        Stored { budget: Some(budget), ..self }
    }

    pub fn session_attempts(&self, session: Id) -> Result<Attempts, Stopped> {
        api::checkout::sessions::attempts(self, session)
    }
}

impl Records for Stored<'_> {
    fn tenant_key(&self) -> u64 {
        self.tenant
    }

    fn spend(&self) -> Result<(), Stopped> {
        self.budget.map_or(Ok(()), ReadBudget::spend)
    }

    fn entity(&self, id: EntityId) -> Result<Option<Arc<Entity>>, Stopped> {
        Ok(self.entities.entity(self.tenant, id)?)
    }

    fn named(&self, space: Space, name: &str) -> Result<Option<Id>, Stopped> {
        Ok(named(self.reader, self.tenant, space, name)?)
    }

    fn record(&self, seq: u64) -> Result<(Record, Timestamp), Stopped> {
        let read = record(self.reader, seq)?;
        Ok((read.record, read.time))
    }

    fn begun_at(&self) -> Result<u64, Stopped> {
        Ok(begun_at(self.reader, self.tenant)?.unwrap_or(0))
    }

    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Stopped> {
        Ok(self.reader.index_get(key).map_err(Unreadable::from)?)
    }

    fn last(&self, from: &[u8], to: &[u8]) -> Result<Option<Entry>, Stopped> {
        Ok(self.reader.index_scan(from, to, true).next().transpose().map_err(Unreadable::from)?)
    }

    fn scan(&self, from: &[u8], to: &[u8], each: EachEntry<'_>) -> Result<(), Unread> {
        for entry in self.reader.index_scan(from, to, false) {
            let (key, value) = entry.map_err(Unreadable::from).map_err(Stopped::from)?;
            if each(&key, &value)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn newest_entries(
        &self,
        parts: Vec<Vec<u8>>,
        before: Option<&[u8]>,
        from: Option<Vec<u8>>,
        each: Each<'_>,
    ) -> Result<(), Unread> {
        let moment = self.reader.index_moment();
        let mut newest = MergeCursor::new(&moment, parts, before, from, self.budget)?;
        while let Some((suffix, part)) = newest.take_with_part()? {
            self.budget.iter().for_each(|budget| budget.rest());
            if each(&suffix, part)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
