//! Events in pages and one by one: `GET /v1/events`, `GET /v1/events/:id`.

use super::{TenantMode, show};
use crate::page::{Page, page_json};
use crate::problem::Problem;
use crate::records::{Answered, Records, Stopped, seq};
use domain::events::EventKind;
use domain::index;
use domain::values::ids::Id;
use domain::values::time::Timestamp;
use std::ops::ControlFlow;

pub fn after(records: &dyn Records, after: u64, page: &Page, tenant_mode: TenantMode) -> Answered {
    let tenant = records.tenant_key();
    let mut items = Vec::with_capacity(page.limit);
    let (mut last, mut next) = (after, None);
    let Some(first) = after.checked_add(1) else { return Ok(page_json(items, None)) };
    // The record that the first of them is in may begin with an earlier one.
    let from = record_key(records, first)?.unwrap_or_else(|| index::event(tenant, first));
    records.scan(&from, &index::events_end(tenant), &mut |_, value| {
        let (record, time) = records.record(seq(value)?)?;
        for n in 0..record.events.len() {
            let number = record.event_number(n);
            if number <= after {
                continue;
            }
            if items.len() == page.limit {
                next = Some(page.next(&last.to_be_bytes()));
                return Ok(ControlFlow::Break(()));
            }
            items.extend(show(&record, time, n, tenant_mode));
            last = number;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(page_json(items, next.as_deref()))
}

/// Reads one event: its id contains its number, and the index leads from the number to the record.
pub fn one(records: &dyn Records, id: Id, tenant_mode: TenantMode) -> Answered {
    let key = record_key(records, id.number())?.ok_or_else(Problem::not_found)?;
    let value = records.value(&key)?.ok_or_else(Problem::not_found)?;
    let (record, time) = records.record(seq(&value)?)?;
    let found = (0..record.events.len()).find(|n| record.event_id(time, *n) == id);
    Ok(found.and_then(|n| show(&record, time, n, tenant_mode)).ok_or_else(Problem::not_found)?)
}

/// The kind of the event with this id, and when it happened.
pub fn named(records: &dyn Records, id: Id) -> Result<Option<(EventKind, Timestamp)>, Stopped> {
    let Some(key) = record_key(records, id.number())? else { return Ok(None) };
    let Some(value) = records.value(&key)? else { return Ok(None) };
    let (record, time) = records.record(seq(&value)?)?;
    let found = (0..record.events.len()).find(|n| record.event_id(time, *n) == id);
    Ok(found.and_then(|n| record.events.get(n)).map(|event| (event.kind, time)))
}

/// The key of the last record whose first event has at most this number.
pub fn record_key(records: &dyn Records, number: u64) -> Result<Option<Vec<u8>>, Stopped> {
    let tenant = records.tenant_key();
    let end =
        number.checked_add(1).map_or_else(|| index::events_end(tenant), |next| index::event(tenant, next));
    Ok(records.last(&index::event(tenant, 0), &end)?.map(|(key, _)| key))
}
