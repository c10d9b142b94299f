//! Events read from the log, in the order of their numbers.

use crate::store::history::{self, Read, Unreadable};
use domain::entities::webhook::EventRef;
use domain::events::EventKind;
use domain::index;
use std::sync::Arc;
use wal::Reader;

#[derive(Clone)]
pub struct Happened {
    pub read: Arc<Read>,
    pub n: usize,
}

impl Happened {
    pub fn number(&self) -> u64 {
        self.read.record.event_number(self.n)
    }

    pub fn kind(&self) -> EventKind {
        self.read.record.events[self.n].kind
    }

    pub fn event(&self) -> EventRef {
        EventRef {
            number: self.number(),
            id: self.read.record.event_id(self.read.time, self.n),
            kind: self.kind(),
        }
    }
}

pub fn after(reader: &Reader, tenant: u64, number: u64, limit: usize) -> Result<Vec<Happened>, Unreadable> {
    let mut found = Vec::new();
    let first = number + 1;
    // The record that the first of them is in may begin with an earlier one.
    let from =
        history::newest_event_key(reader, tenant, first)?.unwrap_or_else(|| index::event(tenant, first));
    for entry in reader.index_scan(&from, &index::events_end(tenant), false) {
        let (_, value) = entry?;
        let read = Arc::new(history::record(reader, history::seq(&value)?)?);
        for n in 0..read.record.events.len() {
            let happened = Happened { read: Arc::clone(&read), n };
            if happened.number() > number {
                found.push(happened);
            }
            if found.len() == limit {
                return Ok(found);
            }
        }
    }
    Ok(found)
}

/// Both numbers included, newest first, until `take` says that it has enough.
pub fn back_from<E: From<Unreadable>>(
    reader: &Reader,
    tenant: u64,
    last: u64,
    first: u64,
    mut take: impl FnMut(Happened) -> Result<bool, E>,
) -> Result<(), E> {
    let from =
        history::newest_event_key(reader, tenant, first)?.unwrap_or_else(|| index::event(tenant, first));
    let to = last.checked_add(1).map_or_else(|| index::events_end(tenant), |end| index::event(tenant, end));
    for entry in reader.index_scan(&from, &to, true) {
        let (_, value) = entry.map_err(Unreadable::from)?;
        let read = Arc::new(history::record(reader, history::seq(&value)?)?);
        for n in (0..read.record.events.len()).rev() {
            let happened = Happened { read: Arc::clone(&read), n };
            if (first..=last).contains(&happened.number()) && !take(happened)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

pub fn numbered(reader: &Reader, tenant: u64, number: u64) -> Result<Option<Happened>, Unreadable> {
    let mut found = None;
    back_from(reader, tenant, number, number, |happened| {
        found = Some(happened);
        Ok::<_, Unreadable>(false)
    })?;
    Ok(found)
}
