//! How many entities are in lists of the index: by their keys, what is in them is not read, and every count ends at a
//! bound.

use crate::gateway::services::Services;
use crate::store::history;
use crate::store::read_budget::{ReadBudget, Stopped, Unreadable};
use domain::entities::Entity;
use domain::index;
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::time::Timestamp;

/// The most keys of a list that a count looks at.
pub const COUNT_MAX: usize = 5_000;
/// Keys between two rests of a thread that counts.
const STRETCH: usize = 64;
/// The first bytes of an id are its instant.
const INSTANT: usize = 6;

/// Deliveries in a row that fail at an endpoint that counts as dead.
const FAILURES: usize = 3;

/// Why nothing arrives at an endpoint: the error of its newest delivery, if all of the newest failed.
pub fn undelivered(
    services: &Services,
    tenant: u64,
    id: Id,
    budget: &ReadBudget,
) -> Result<Option<String>, Stopped> {
    let reader = services.engine.reader();
    let prefix = index::deliveries(tenant, id);
    let end = [prefix.as_slice(), &[0xFF; 17]].concat();
    let mut errors = Vec::new();
    for entry in reader.index_scan(&prefix, &end, true).take(FAILURES) {
        budget.spend()?;
        let (key, value) = entry.map_err(Unreadable::from)?;
        let read = history::record(reader, history::seq(&value)?)?;
        if let Some(Entity::Webhook(state)) = read.record.entity(EntityId::webhook(id)).map(|state| &**state)
        {
            let own = state.outcomes.iter().find(|outcome| key.ends_with(outcome.id.as_bytes()));
            errors.extend(own.map(|outcome| outcome.error.clone()));
        }
    }
    let is_dead = errors.len() == FAILURES && errors.iter().all(Option::is_some);
    Ok(errors.into_iter().next().flatten().filter(|_| is_dead))
}

/// When the newest entities of a list were made, newest first, from an instant on; one more than [`COUNT_MAX`] if
/// there are more.
pub fn made(
    services: &Services,
    (tenant, kind, facet): (u64, Kind, u8),
    from: Timestamp,
    budget: &ReadBudget,
) -> Result<Vec<i64>, Stopped> {
    let list = index::list(tenant, kind, facet);
    let start = [&list[..], &index::time_bytes(from)[2..]].concat();
    let end = [&list[..], &[0xFF; 24]].concat();
    let mut found = Vec::new();
    for entry in services.engine.reader().index_scan(&start, &end, true).take(COUNT_MAX + 1) {
        let (key, _) = entry.map_err(Unreadable::from)?;
        if found.len() % STRETCH == 0 {
            budget.spend()?;
        }
        let at = key.get(list.len()..list.len() + INSTANT).unwrap_or_default();
        found.push(at.iter().fold(0, |ms, byte| ms << 8 | i64::from(*byte)));
    }
    Ok(found)
}
