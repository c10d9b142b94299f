//! Idempotency-Keys of operators, for what moves money: the same book, record and index as those of tenants. What makes API keys is not kept: a kept answer would be a secret on disk.

use super::ask;
use super::call::{Call, Done};
use crate::api::problem::Problem;
use crate::domain::index;
use crate::domain::kept::{KeepRef, Shape};
use crate::domain::time::Timestamp;
use crate::domain::view::{Query, View};
use crate::server::desk::KeyHeld;
use crate::server::dispatch::failure;
use crate::server::history::{self, Unreadable};

/// What an Idempotency-Key comes to.
pub enum Reservation {
    /// None was sent.
    None,
    /// It is new: the answer is to be kept, and the key is held until then.
    Fresh(KeepRef, KeyHeld),
    /// The request was answered before.
    Replay(Done),
}

/// Reserves the key of a call in a book, or finds what it was answered.
pub async fn reserve(call: &Call, tenant_key: u64, shape: Shape) -> Result<Reservation, Problem> {
    let services = &*call.services;
    let Some(key) = call.idempotency_key.clone() else { return Ok(Reservation::None) };
    let held = services.desk.hold_key(tenant_key, &key, &call.path, services.now()).ok_or_else(Problem::idempotency_in_progress)?;
    let body_hash = services.mark(&[b"body", &call.body]);
    let stored = services.engine.reader().index_get(&index::kept_on(tenant_key, &key, &call.path)).map_err(Unreadable::from)?;
    if let Some(value) = stored {
        let seq = history::seq(&value)?;
        let kept = history::record(services.engine.reader(), seq)?.record.kept;
        let View::Clock(now) = services.engine.view(tenant_key, Query::Clock).await.map_err(failure)? else {
            return Err(ask::defect("a book has no clock"));
        };
        // The hashes in the index are short; the record has the whole names.
        if let Some(kept) = kept.filter(|kept| kept.of.key == key && kept.of.path == call.path && kept.stands_at(now)) {
            if kept.of.body_hash != body_hash {
                return Err(Problem::idempotency_key_reused());
            }
            return Ok(Reservation::Replay(Done { status: kept.status, body: kept.body, wal_seq: Some(seq), replayed: true }));
        }
    }
    let keep = KeepRef { key, path: call.path.clone(), body_hash, first_seen: Timestamp::EPOCH, shape, request_id: call.request_id.clone() };
    Ok(Reservation::Fresh(keep, held))
}
