//! Idempotency-Keys of operators, for what moves money: the same book, record and index as those of tenants. What makes API keys is not kept: a kept answer would be a secret on disk.

use super::ask;
use super::call::{Call, Done};
use super::tenants::unexpected;
use crate::api::problem::Problem;
use crate::domain::index;
use crate::domain::kept::{KeepRef, Shape};
use crate::domain::record::Record;
use crate::domain::time::Timestamp;
use crate::domain::view::{Query, View};
use crate::server::desk::KeyHeld;
use crate::server::services::Services;
use actors::Machine as _;

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
    let stored = services.engine.reader().index_get(&index::kept_on(tenant_key, &key, &call.path)).map_err(|error| ask::unreadable(&error))?;
    if let Some(seq) = stored {
        let (record, _) = record_at(services, &seq)?;
        let kept = record.kept.ok_or_else(|| unexpected("the index names a record without a kept answer"))?;
        let View::Clock(now) = services.engine.view(tenant_key, Query::Clock).await.map_err(ask::problem)? else {
            return Err(unexpected("a book has no clock"));
        };
        if now < kept.expires_at() {
            if kept.of.body_hash != body_hash {
                return Err(Problem::idempotency_key_reused());
            }
            return Ok(Reservation::Replay(Done { status: kept.status, body: kept.body, wal_seq: Some(sequence(&seq)?), replayed: true }));
        }
    }
    let keep = KeepRef { key, path: call.path.clone(), body_hash, first_seen: Timestamp::EPOCH, shape, request_id: call.request_id.clone() };
    Ok(Reservation::Fresh(keep, held))
}

/// The record whose sequence is the value of an index entry, and when it happened.
pub fn record_at(services: &Services, value: &[u8]) -> Result<(Record, Timestamp), Problem> {
    let stored = services.engine.reader().record(sequence(value)?).map_err(|error| ask::unreadable(&error))?;
    let stored = stored.ok_or_else(|| unexpected("the index names a record that is not there"))?;
    let record = services.engine.machine().decode(&stored.payload).map_err(|error| {
        tracing::error!(seq = stored.seq, error, "a record cannot be decoded");
        Problem::storage_unavailable()
    })?;
    Ok((record, Timestamp::from_unix_ms(stored.time_ms)))
}

fn sequence(value: &[u8]) -> Result<u64, Problem> {
    <[u8; 8]>::try_from(value).map(u64::from_be_bytes).map_err(|_| unexpected("an index entry is no sequence"))
}
