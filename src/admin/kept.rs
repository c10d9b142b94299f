//! Idempotency-Keys of operators (`docs/contract.md, 1.13`): what a call was answered is in
//! the record of what it did, and in one of its own where no rule decided.
//!
//! Operators' keys have a place of their own in the index, which is looked into before a body is
//! read. What is kept names the key by a keyed hash only, and leaves API keys out: those are made
//! again, from the server's secret and the Idempotency-Key that is sent with the repeat.

use super::ask;
use super::call::Done;
use super::secret::Secret;
use super::tenant_settings::push_tenant_settings;
use crate::gateway::dispatch::failure;
use crate::gateway::reservations::KeyHeld;
use crate::gateway::services::Services;
use crate::http::respond::Trace;
use crate::store::history::{self, Read, Unreadable};
use api::fields::Fields;
use api::problem::Problem;
use api::tenants;
use domain::index;
use domain::kept::{KeepRef, Kept, Shape};
use domain::platform::{ApiKey, Mode, PLATFORM, PlatformChange, is_live};
use domain::record::Record;
use domain::values::time::Timestamp;
use domain::view::{Query, View};
use std::sync::{Mutex, PoisonError};

/// A key that a call works under.
struct Use {
    keep: KeepRef,
    held: KeyHeld,
}

/// The key of a call, until it goes into a command.
#[derive(Default)]
pub struct Slot(Mutex<Option<Use>>);

impl Slot {
    /// Takes it: which answer is to be kept, and what is held until it is.
    pub fn take(&self, shape: Shape) -> (Option<KeepRef>, Option<actors::Guard>) {
        let used = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        used.map(|Use { keep, held }| (KeepRef { shape, ..keep }, Box::new(held) as actors::Guard)).unzip()
    }
}

/// What a call comes with.
pub struct Sent<'a> {
    /// Its Idempotency-Key.
    pub key: &'a str,
    /// Its path.
    pub path: &'a str,
    /// Its body.
    pub body: &'a [u8],
    /// Its id.
    pub request_id: &'a str,
}

/// What an Idempotency-Key comes to.
pub enum Reservation {
    /// It is new: the answer is to be kept, and the key is held until then.
    Fresh(Slot),
    /// The request was answered before.
    Replay(Done),
}

/// Reserves the key of a call, or finds what it was answered. A key is bound to the path and, where
/// the body names one, to the mode.
pub async fn reserve(services: &Services, sent: &Sent<'_>) -> Result<Reservation, Problem> {
    let key = hex::encode(services.mark(&[b"operators' idempotency key", sent.key.as_bytes()]));
    let held = services
        .reservations
        .hold_key(PLATFORM, &key, sent.path, services.now())
        .ok_or_else(Problem::idempotency_in_progress)?;
    let body_hash = services.mark(&[b"body", sent.body]);
    let mut others = Vec::new();
    for (seq, tenant, kept, record) in uses(services, &key, sent.path).await? {
        if kept.of.body_hash == body_hash {
            return replayed(services, sent.key, seq, kept, &record).await.map(Reservation::Replay);
        }
        others.push((tenant != PLATFORM).then(|| if is_live(tenant) { Mode::Live } else { Mode::Test }));
    }
    let is_apart = |mode: Mode| !others.iter().any(|other| other.is_none_or(|other| other == mode));
    if !others.is_empty() && !mode_in(sent.body).is_some_and(is_apart) {
        return Err(Problem::idempotency_key_reused());
    }
    let (path, request_id) = (sent.path.to_owned(), sent.request_id.to_owned());
    let keep =
        KeepRef { key, path, body_hash, first_seen: Timestamp::EPOCH, shape: Shape::Platform, request_id };
    Ok(Reservation::Fresh(Slot(Mutex::new(Some(Use { keep, held })))))
}

/// What is kept for a key on a path, of each mode the newest, with the records and whose they are.
async fn uses(services: &Services, key: &str, path: &str) -> Result<Vec<(u64, u64, Kept, Record)>, Problem> {
    let reader = services.engine.reader();
    let from = index::kept_on(PLATFORM, key, path);
    let to = [from.as_slice(), &[0xFF; 2]].concat();
    let mut found = Vec::new();
    for entry in reader.index_scan(&from, &to, false) {
        let (_, value) = entry.map_err(Unreadable::from)?;
        let seq = history::seq(&value)?;
        let Read { record, tenant, .. } = history::record(reader, seq)?;
        // The hashes in the index are short; the record has the whole names.
        if let Some(kept) = record.kept.clone().filter(|kept| kept.of.key == key && kept.of.path == path) {
            found.push((seq, tenant, kept, record));
        }
    }
    let mut standing = Vec::with_capacity(found.len());
    for (seq, tenant, kept, record) in found {
        let View::Clock(now) = services.engine.view(tenant, Query::Clock).await.map_err(failure)? else {
            return Err(ask::defect("a book has no clock"));
        };
        if kept.stands_at(now) {
            standing.push((seq, tenant, kept, record));
        }
    }
    Ok(standing)
}

/// The mode that a body names, if it is one that can be read.
fn mode_in(body: &[u8]) -> Option<Mode> {
    let mut fields = Fields::parse(body).ok()?;
    fields.required("mode", |value| value.text_known("live or test", Mode::from_name)).peek().copied()
}

/// The kept answer, with the API keys that are not in what is kept, once what it speaks of is in
/// force.
async fn replayed(
    services: &Services,
    idempotency_key: &str,
    seq: u64,
    kept: Kept,
    record: &Record,
) -> Result<Done, Problem> {
    // The first answer may have been that a tenant's settings is not in force yet.
    if let Some(PlatformChange::Tenant(tenant) | PlatformChange::Opened { tenant, .. }) =
        record.platform.as_deref()
    {
        let _turn = services.turns.of(tenant.number).await;
        push_tenant_settings(services, tenant.number).await?;
    }
    let reveal =
        |key: &ApiKey| Secret::again(services, key, idempotency_key).map(|secret| secret.reveal().to_owned());
    let body = match kept.of.shape {
        Shape::TenantOpened => tenants::opened(record, &reveal),
        Shape::KeyMade(id) => tenants::made(record, id, &reveal),
        _ => None,
    };
    Ok(Done {
        status: kept.status,
        body: body.unwrap_or(kept.body),
        trace: Trace { seq: Some(seq), timing: None },
        replayed: true,
    })
}
