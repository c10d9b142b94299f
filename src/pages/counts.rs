//! How many entities are in lists of the index: by their keys, what is in them is not read, and every count ends at a
//! bound.

use crate::gateway::services::Services;
use crate::store::read_budget::{ReadBudget, Stopped, Unreadable};
use domain::index;
use domain::values::ids::Kind;
use domain::values::time::Timestamp;

/// The most keys of a list that a count looks at.
pub const COUNT_MAX: usize = 5_000;
/// Keys between two rests of a thread that counts.
const STRETCH: usize = 64;
/// The first bytes of an id are its instant.
const INSTANT: usize = 6;

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
