//! What became of an Idempotency-Key (GET /v1/idempotency/:key): the newest use of it, on any path
//! unless one is named.

use crate::gateway::services::Services;
use crate::store::history;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::writer::Object;
use domain::index;
use domain::kept::{KEPT_MS, Kept};
use domain::values::time::Timestamp;
use wal::Seq;

/// A use of a key whose answer is kept, and the record that keeps it.
type Use = (Kept, Seq);

/// The use that is under way; `None` when there is none.
pub fn under_way(
    services: &Services,
    tenant: u64,
    key: &str,
    path: Option<&str>,
    now: Timestamp,
) -> Option<Vec<u8>> {
    let (path, since) = services.reservations.key_in_use(tenant, key, path)?;
    let first_seen = now.minus_ms(services.now().since_ms(since));
    let body = begin(key, "in_progress", &path, first_seen, first_seen.plus_ms(KEPT_MS));
    Some(body.null("status").null("response").null("walSeq").end())
}

/// The newest use whose answer is kept at `now`; `None` when there is none.
pub fn done(
    services: &Services,
    tenant: u64,
    key: &str,
    path: Option<&str>,
    now: Timestamp,
    budget: &ReadBudget,
) -> Result<Option<Vec<u8>>, Stopped> {
    let reader = services.engine.reader();
    let mut seqs = Vec::new();
    match path {
        Some(path) => {
            if let Some(value) = reader.index_get(&index::kept_on(tenant, key, path))? {
                seqs.push(history::seq(&value)?);
            }
        }
        None => {
            let from = index::kept(tenant, key);
            let to = [from.as_slice(), &[0xFF; 17]].concat();
            for entry in reader.index_scan(&from, &to, false) {
                budget.spend()?;
                seqs.push(history::seq(&entry?.1)?);
            }
        }
    }
    seqs.sort_unstable_by(|one, other| other.cmp(one));
    let mut newest: Option<Use> = None;
    for seq in seqs {
        budget.spend()?;
        let read = history::record(reader, seq)?;
        // A use is older than the record that keeps it, and so are those of all records before.
        if newest.as_ref().is_some_and(|(newest, _)| read.time < newest.of.first_seen) {
            break;
        }
        let Some(kept) = read.record.kept else { continue };
        // The hashes in the index are short; the record has the whole names.
        let is_meant = kept.of.key == key && path.is_none_or(|path| kept.of.path == path);
        let is_newer = newest.as_ref().is_none_or(|(newest, _)| newest.of.first_seen < kept.of.first_seen);
        if is_meant && is_newer && kept.stands_at(now) {
            newest = Some((kept, seq));
        }
    }
    Ok(newest.map(|(kept, seq)| {
        begin(key, "done", &kept.of.path, kept.of.first_seen, kept.expires_at())
            .number("status", kept.status)
            .json("response", &kept.body)
            .number("walSeq", seq)
            .end()
    }))
}

fn begin(key: &str, state: &'static str, path: &str, first_seen: Timestamp, expires_at: Timestamp) -> Object {
    Object::new()
        .text("key", key)
        .plain("state", state)
        .plain("method", "POST")
        .text("path", path)
        .plain("firstSeenAt", first_seen)
        .plain("expiresAt", expires_at)
}
