//! Everything that happened to one thing: the records that speak of it, in their order, with its
//! money; and the deliveries of its events. A record speaks of a thing when its bytes hold the id,
//! also where no index leads. Operations at a bank and the thing that they belong to share all but
//! the last two bytes of their ids.

use crate::store::history::{self, Unreadable};
use crate::store::read_budget::{ReadBudget, Stopped};
use domain::codec;
use domain::entities::Entity;
use domain::entities::webhook::{Delivered, first_delivery, is_first_delivery};
use domain::events::{Event, EventKind};
use domain::index;
use domain::ledger::{Ledger, Posting};
use domain::record::Record;
use domain::values::ids::{EntityId, Id};
use domain::values::time::Timestamp;
use wal::{Reader, Seq};

/// What an id and the ids of its operations have in common.
const STEM_BYTES: usize = 14;

/// The records of a thing are near each other, but for what happens to it weeks later; `pasarela
/// wal explain` looks at all.
const LOOKED_AT_MAX: u64 = 200_000;
const STRETCH: u64 = 2_000;
/// Names of an endpoint's deliveries that are looked at for those of an event that were asked for
/// again; as many of them cost what a record does.
const NAMES_MAX: usize = 50_000;
const NAMES_PER_RECORD: usize = 64;
/// Deliveries that were asked for again, of whatever event, that are read for those of one.
const AGAIN_MAX: usize = 2_000;

pub struct Moment {
    pub seq: Seq,
    pub time: Timestamp,
    pub record: Record,
}

pub struct Story {
    pub moments: Vec<Moment>,
    pub deliveries: Vec<(String, Timestamp, Delivered)>,
    pub is_whole: bool,
    pub has_all_deliveries: bool,
}

pub fn read(reader: &Reader, tenant: u64, id: EntityId, budget: &ReadBudget) -> Result<Story, Stopped> {
    let mut story =
        Story { moments: Vec::new(), deliveries: Vec::new(), is_whole: false, has_all_deliveries: true };
    let Some(value) = reader.index_get(&index::entity(tenant, id)).map_err(Unreadable::from)? else {
        return Ok(story);
    };
    let newest = history::seq(&value)?;
    let (mut last, first) = (newest, newest.saturating_sub(LOOKED_AT_MAX).max(1));
    while last >= first && !story.is_whole {
        let from = last.saturating_sub(STRETCH - 1).max(first);
        let mut found = Vec::new();
        for stored in reader.records(from, Some(last)) {
            budget.spend()?;
            let stored = stored.map_err(Unreadable::from)?;
            if stored.tenant != tenant || !contains(&stored.payload, &id.id.as_bytes()[..STEM_BYTES]) {
                continue;
            }
            let record: Record = codec::decode(&stored.payload)
                .map_err(|error| Unreadable(format!("record {}: {error}", stored.seq)))?;
            let made =
                record.entities.iter().any(|written| written.state.id() == id && written.indexed.is_none());
            story.is_whole |= made;
            found.push(Moment { seq: stored.seq, time: Timestamp::from_unix_ms(stored.time_ms), record });
        }
        found.append(&mut story.moments);
        story.moments = found;
        if from == first {
            break;
        }
        last = from - 1;
    }
    let webhooks = endpoints(reader, tenant, budget)?;
    for (event, time, _) in story.events(id.id) {
        for webhook in &webhooks {
            story.add_deliveries(reader, (tenant, *webhook), (event, time), budget)?;
        }
    }
    story.deliveries.sort_by_key(|(_, at, delivered)| (*at, delivered.id));
    Ok(story)
}

impl Story {
    pub fn events(&self, id: Id) -> Vec<(Id, Timestamp, EventKind)> {
        let of_moment = |moment: &Moment| {
            let own = |(_, event): &(usize, &Event)| event.subject.is_some_and(|subject| subject.id == id);
            let events = moment.record.events.iter().enumerate().filter(own);
            let named = |(n, event): (usize, &Event)| {
                (moment.record.event_id(moment.time, n), moment.time, event.kind)
            };
            events.map(named).collect::<Vec<_>>()
        };
        self.moments.iter().flat_map(of_moment).collect()
    }
}

fn endpoints(reader: &Reader, tenant: u64, budget: &ReadBudget) -> Result<Vec<Id>, Stopped> {
    let mut from = index::deliveries(tenant, Id::from_bytes([0; 16]));
    let end = index::deliveries(tenant, Id::from_bytes([0xFF; 16]));
    let mut found = Vec::new();
    while let Some(entry) = reader.index_scan(&from, &end, false).next() {
        budget.spend()?;
        let Some((webhook, _)) = index::delivery(&entry.map_err(Unreadable::from)?.0) else {
            return Err(Unreadable("a delivery of no endpoint".to_owned()).into());
        };
        found.push(webhook);
        from = [index::deliveries(tenant, webhook).as_slice(), &[0xFF; 17]].concat();
    }
    Ok(found)
}

impl Story {
    /// The name of the first delivery follows from the event; those that were asked for again are
    /// among all that became due since, by names alone.
    fn add_deliveries(
        &mut self,
        reader: &Reader,
        (tenant, webhook): (u64, Id),
        (event, time): (Id, Timestamp),
        budget: &ReadBudget,
    ) -> Result<(), Stopped> {
        let prefix = index::deliveries(tenant, webhook);
        let first = first_delivery(webhook, event.number(), time);
        let first = [prefix.as_slice(), first.as_bytes()].concat();
        if let Some(value) = reader.index_get(&first).map_err(Unreadable::from)? {
            self.add_outcome(reader, (tenant, webhook), &first, &value, event)?;
        }
        let from = [prefix.as_slice(), &time.unix_ms().to_be_bytes()[2..]].concat();
        let end = [prefix.as_slice(), &[0xFF; 17]].concat();
        let mut again = 0;
        for (names, entry) in reader.index_scan(&from, &end, false).enumerate() {
            if names == NAMES_MAX || again == AGAIN_MAX {
                self.has_all_deliveries = false;
                break;
            }
            if names % NAMES_PER_RECORD == 0 {
                budget.spend()?;
            }
            let (key, value) = entry.map_err(Unreadable::from)?;
            let is_again = index::delivery(&key).is_some_and(|(_, id)| !is_first_delivery(webhook, id));
            if is_again {
                again += 1;
                budget.spend()?;
                self.add_outcome(reader, (tenant, webhook), &key, &value, event)?;
            }
        }
        Ok(())
    }

    /// A record may hold several outcomes, each with an entry of its own.
    fn add_outcome(
        &mut self,
        reader: &Reader,
        (tenant, webhook): (u64, Id),
        key: &[u8],
        value: &[u8],
        event: Id,
    ) -> Result<(), Stopped> {
        let read = history::record(reader, history::seq(value)?)?;
        if read.tenant == tenant
            && let Some(state) = read.record.entity(EntityId::webhook(webhook))
            && let Entity::Webhook(state) = &**state
        {
            let own =
                |outcome: &&Delivered| outcome.event.id == event && key.ends_with(outcome.id.as_bytes());
            let own = state.outcomes.iter().filter(own);
            self.deliveries.extend(own.map(|outcome| (state.url.clone(), read.time, outcome.clone())));
        }
        Ok(())
    }
}

/// From the bytes alone, which passes nearly everything else by.
pub fn may_speak_of(stored: &wal::Record, id: Id) -> bool {
    let bytes = id.as_bytes();
    contains(&stored.payload, &bytes[..STEM_BYTES]) || bytes[..6] == stored.time_ms.to_be_bytes()[2..]
}

/// Whether the record says the id itself, or gives it to one of its movements or events.
pub fn speaks_of(payload: &[u8], record: &Record, time: Timestamp, id: Id) -> bool {
    contains(payload, &id.as_bytes()[..STEM_BYTES])
        || movement(record, time, id).is_some()
        || event(record, time, id).is_some()
}

fn movement(record: &Record, time: Timestamp, id: Id) -> Option<&Posting> {
    record
        .postings
        .iter()
        .enumerate()
        .find(|(n, posting)| posting.row.is_some() && record.movement_id(time, *n) == id)
        .map(|(_, posting)| posting)
}

fn event(record: &Record, time: Timestamp, id: Id) -> Option<&Event> {
    record.events.iter().enumerate().find(|(n, _)| record.event_id(time, *n) == id).map(|(_, event)| event)
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    let Some(first) = needle.first() else { return true };
    let mut rest = haystack;
    while let Some(at) = rest.iter().position(|byte| byte == first) {
        if rest[at..].starts_with(needle) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}

/// The id of the entity whose money is meant in this record: of a movement and of an event its
/// subject's, of an operation at a bank its entity's; else the thing's own. `None`: nobody's in
/// particular, so all of it.
fn owner_of(record: &Record, time: Timestamp, id: Id) -> Option<Id> {
    if let Some(row) = movement(record, time, id).and_then(|posting| posting.row.as_deref()) {
        return row.subject.map(|subject| subject.id);
    }
    match event(record, time, id) {
        Some(event) => event.subject.map(|subject| subject.id),
        None => Some(id.operation(0)),
    }
}

/// The postings that belong to the id: all of a record that has movements of nobody else, and of a
/// record of many only its own.
pub fn money_of(record: &Record, time: Timestamp, id: Id) -> Vec<&Posting> {
    let Some(owner) = owner_of(record, time, id) else { return record.postings.iter().collect() };
    let own = |posting: &Posting| {
        let row = posting.row.as_deref();
        let subject = row.and_then(|row| row.subject).map(|subject| subject.id);
        posting.ledger == Ledger::Seller(owner)
            || subject == Some(owner)
            || row.and_then(|row| row.chargeback) == Some(owner)
    };
    let of_others = record
        .postings
        .iter()
        .any(|posting| posting.row.as_ref().is_some_and(|row| row.subject.is_some()) && !own(posting));
    if of_others {
        record.postings.iter().filter(|posting| own(posting)).collect()
    } else {
        record.postings.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::contains;

    #[test]
    fn bytes_are_found_wherever_they_are() {
        assert!(contains(b"aababc", b"abc") && contains(b"abc", b"abc") && contains(b"xxabc", b"abc"));
        assert!(!contains(b"ababab", b"abc") && !contains(b"", b"abc") && !contains(b"ab", b"abc"));
    }
}
