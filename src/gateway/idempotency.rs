//! Idempotency-Keys (`docs/contract.md, 1.13`): which request works under one, what it was answered
//! before, and what became of it (GET /v1/idempotency/:key).
//!
//! Tenants' keys are per tenant and mode. Operators' keys have a place of their own in the index,
//! since neither tenant nor mode is known before a body is read; what is kept names them by a keyed
//! hash only, as it stands in records of tenants.

use crate::gateway::ask;
use crate::gateway::keys::keyed_hash;
use crate::gateway::names::{Held, NameOf};
use crate::gateway::services::Services;
use crate::store::history::{self, Read, Unreadable};
use crate::store::read_budget::{ReadBudget, Stopped};
use actors::Guard;
use api::answer::{self, NoSecrets, Rendered, Secrets, Show};
use api::fields::Fields;
use api::openapi::kinds;
use api::problem::Problem;
use api::writer::Object;
use domain::index;
use domain::kept::{KEPT_MS, KeepRef};
use domain::machine::{Command, KeyedCommand};
use domain::record::{self, Kept, Record};
use domain::values::ids::{Id, Mode, PLATFORM, is_live};
use domain::values::time::Timestamp;
use wal::{Reader, Seq};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Tenant(u64),
    /// A tenant in a mode, for what the platform's book decides.
    AtPlatform(u64),
    Operators,
}

impl Owner {
    /// The book that keeps what was answered under a key of this owner, and the key's name there.
    fn kept_as(self, services: &Services, key: &str) -> (u64, String) {
        let marked = |parts: &[&[u8]]| (PLATFORM, hex::encode(services.keys.mark(parts)));
        match self {
            Owner::Tenant(tenant) => (tenant, key.to_owned()),
            Owner::AtPlatform(tenant) => {
                marked(&[b"tenant's idempotency key", &tenant.to_be_bytes(), key.as_bytes()])
            }
            Owner::Operators => marked(&[b"operators' idempotency key", key.as_bytes()]),
        }
    }
}

pub struct Sent<'a> {
    pub key: &'a str,
    pub path: &'a str,
    pub body: &'a [u8],
    pub has_card: bool,
    /// The account's key whose call it is, where a repeat by another is none: it would be shown what only the first may
    /// see, such as a new key.
    pub by: Option<Id>,
    pub request_id: &'a str,
}

pub struct KeyUse {
    pub(super) keep: KeepRef,
    pub(super) held: Held,
    /// The key as it was sent: secrets that it makes are made again for whoever sends it again.
    pub(super) sent: String,
}

impl KeyUse {
    /// The reference under which the command that decides keeps its answer, and the guard that
    /// holds the key until then.
    pub fn keep(self) -> (KeepRef, Guard) {
        (self.keep, Box::new(self.held))
    }
}

pub struct KeptAnswer {
    pub seq: Seq,
    tenant: u64,
    pub kept: Kept,
    pub record: Record,
    pub time: Timestamp,
}

impl KeptAnswer {
    /// The answer, as it was; the secrets that were in it are those that are given.
    pub fn show(
        &self,
        show: Option<Show>,
        about: Option<Id>,
        secrets: &dyn Secrets,
    ) -> Result<Rendered, Problem> {
        answer::kept(show, &self.kept, &self.record, self.time, is_live(self.tenant), about, secrets)
    }
}

pub enum Reserved {
    /// No answer stands: one is to be kept, and the key is held until then.
    New(KeyUse),
    Answered(Box<KeptAnswer>),
}

/// Reserves the key of a request, and looks for the answer that stands: 409 while another request works under it, 422
/// if it was used for another body. It waits only if there are answers, as most keys are new.
pub async fn reserve(services: &Services, owner: Owner, sent: &Sent<'_>) -> Result<Reserved, Problem> {
    let (tenant, key) = owner.kept_as(services, sent.key);
    let on = NameOf::Key(sent.path.to_owned());
    let Ok(held) = services.names.reservations.hold(tenant, on, &key, services.now()) else {
        return Err(Problem::idempotency_in_progress());
    };
    // The hash is keyed by the server: a body may hold a code or a card, and a bare hash of one can
    // be tried out.
    let under = if sent.has_card { &services.keys.card } else { &services.keys.mark };
    let body_hash = match &sent.by {
        Some(by) => keyed_hash(under, &[b"body", sent.body, by.as_bytes()]),
        None => keyed_hash(under, &[b"body", sent.body]),
    };
    let answers = find(services, owner, &key, sent.path)?;
    if !answers.is_empty() {
        // Boxed: each connection has room for its longest future.
        let standing = Box::pin(standing(services, owner, answers, body_hash, sent.body)).await?;
        if let Some(answer) = standing {
            return Ok(Reserved::Answered(Box::new(answer)));
        }
    }
    let keep = KeepRef {
        key,
        path: sent.path.to_owned(),
        body_hash,
        // The decision fills in when the key was first seen, on the tenant's clock.
        first_seen: Timestamp::EPOCH,
        request_id: sent.request_id.to_owned(),
    };
    Ok(Reserved::New(KeyUse { keep, held, sent: sent.key.to_owned() }))
}

/// Keeps an answer that no decision keeps: to what was done beside the book, or to what was known
/// already. The sequence of its record; `None` where there is no key.
pub async fn keep_answer(
    services: &Services,
    tenant: u64,
    keep: Option<KeepRef>,
    (status, body): (u16, &[u8]),
) -> Result<Option<Seq>, Problem> {
    if keep.is_none() {
        return Ok(None);
    }
    let keeping = || KeyedCommand::from(Command::KeepAnswer(status, body.to_vec())).keeping(keep.clone());
    match ask::book_patiently(&services.engine, tenant, keeping).await {
        Ok(settled) => Ok(settled.seq),
        // An account that moves leaves without this answer, but with what was done.
        Err(problem) if problem.code == Problem::tenant_moving().code => Err(ask::done_not_written(problem)),
        Err(problem) => Err(problem),
    }
}

fn find(services: &Services, owner: Owner, key: &str, path: &str) -> Result<Vec<KeptAnswer>, Unreadable> {
    let reader = services.engine.reader();
    let values: Vec<Vec<u8>> = match owner {
        Owner::Tenant(tenant) => reader.index_get(&index::kept_on(tenant, key, path))?.into_iter().collect(),
        Owner::Operators | Owner::AtPlatform(_) => {
            let from = index::kept_on(PLATFORM, key, path);
            let to = [from.as_slice(), &[0xFF; 2]].concat();
            let entries = reader.index_scan(&from, &to, false);
            entries.map(|entry| entry.map(|(_, value)| value)).collect::<Result<_, _>>()?
        }
    };
    let mut found = Vec::with_capacity(values.len());
    for value in values {
        found.extend(kept(reader, history::seq(&value)?, key, Some(path))?);
    }
    Ok(found)
}

/// The answer that a record keeps for a key. The hashes in the index are short; the record has the whole names.
fn kept(reader: &Reader, seq: Seq, key: &str, path: Option<&str>) -> Result<Option<KeptAnswer>, Unreadable> {
    let Read { record, tenant, time, .. } = history::record(reader, seq)?;
    let is_meant = |kept: &Kept| kept.of.key == key && path.is_none_or(|path| kept.of.path == path);
    let kept = record.kept.clone().filter(is_meant);
    Ok(kept.map(|kept| KeptAnswer { seq, tenant, kept, record, time }))
}

/// The answer to the same body, unless its 24 hours on the tenant's clock are over.
async fn standing(
    services: &Services,
    owner: Owner,
    found: Vec<KeptAnswer>,
    body_hash: [u8; 16],
    body: &[u8],
) -> Result<Option<KeptAnswer>, Problem> {
    let (mut others, mut first) = (Vec::new(), None);
    for answer in found {
        if !answer.kept.stands_at(services.clock(answer.tenant).await?) {
            continue;
        }
        if answer.kept.of.body_hash == body_hash {
            return Ok(Some(answer));
        }
        let of = &answer.kept.of;
        first.get_or_insert_with(|| format!("at {} by the request {}", of.first_seen, of.request_id));
        others.push(answer.tenant);
    }
    let is_apart = match owner {
        Owner::Tenant(_) | Owner::AtPlatform(_) => false,
        Owner::Operators => mode_in(body).is_some_and(|mode| others.iter().all(|of| is_other(*of, mode))),
    };
    match first {
        Some(first) if !is_apart => Err(Problem::idempotency_key_reused(&first)),
        _ => Ok(None),
    }
}

/// Whether a tenant key is of the other mode. A key of operators is bound to the mode that its body
/// names; one that was used without a mode, by the platform's own book, stands for both.
fn is_other(tenant: u64, mode: Mode) -> bool {
    tenant != PLATFORM && is_live(tenant) != (mode == Mode::Live)
}

pub fn mode_in(body: &[u8]) -> Option<Mode> {
    let mut fields = Fields::parse(body).ok()?;
    fields.required("mode", kinds::mode()).peek().copied()
}

/// Whether an answer stands under a tenant's key.
pub fn is_kept(
    services: &Services,
    tenant: u64,
    key: &str,
    path: &str,
    now: Timestamp,
) -> Result<bool, Unreadable> {
    let answers = find(services, Owner::Tenant(tenant), key, path)?;
    Ok(answers.iter().any(|answer| answer.kept.stands_at(now)))
}

/// Whether these bytes are what a tenant's key is answered.
pub fn keeps(
    services: &Services,
    tenant: u64,
    of: &KeepRef,
    (status, body): (u16, &[u8]),
) -> Result<bool, Unreadable> {
    let answers = find(services, Owner::Tenant(tenant), &of.key, &of.path)?;
    let is_same = |kept: &Kept| match &kept.answer {
        record::Answer::Bytes(kept_status, bytes) => (*kept_status, &bytes[..]) == (status, body),
        _ => false,
    };
    Ok(answers.iter().any(|answer| answer.kept.of.request_id == of.request_id && is_same(&answer.kept)))
}

pub fn under_way(
    services: &Services,
    owner: Owner,
    key: &str,
    path: Option<&str>,
    now: Timestamp,
) -> Option<Vec<u8>> {
    let (tenant, kept_as) = owner.kept_as(services, key);
    let (path, since) = services.names.reservations.key_in_use(tenant, &kept_as, path)?;
    let first_seen = now.minus_ms(services.now().since_ms(since));
    let body = begin(key, "in_progress", &path, first_seen, first_seen.plus_ms(KEPT_MS));
    Some(body.null("status").null("response").null("walSeq").end())
}

pub fn done(
    services: &Services,
    owner: Owner,
    key: &str,
    path: Option<&str>,
    now: Timestamp,
    budget: &ReadBudget,
) -> Result<Option<KeptAnswer>, Stopped> {
    let reader = services.engine.reader();
    let (tenant, key) = owner.kept_as(services, key);
    let key = key.as_str();
    let mut seqs = Vec::new();
    match path {
        Some(path) if tenant != PLATFORM => {
            let kept = reader.index_get(&index::kept_on(tenant, key, path)).map_err(Unreadable::from)?;
            if let Some(value) = kept {
                seqs.push(history::seq(&value)?);
            }
        }
        _ => {
            let from = index::kept(tenant, key);
            let to = [from.as_slice(), &[0xFF; 17]].concat();
            for entry in reader.index_scan(&from, &to, false) {
                budget.spend()?;
                seqs.push(history::seq(&entry.map_err(Unreadable::from)?.1)?);
            }
        }
    }
    seqs.sort_unstable_by(|one, other| other.cmp(one));
    let mut newest: Option<KeptAnswer> = None;
    for seq in seqs {
        budget.spend()?;
        let Some(answer) = kept(reader, seq, key, path)? else { continue };
        // A use is older than the record that keeps it, and so are those of all records before.
        if newest.as_ref().is_some_and(|newest| answer.time < newest.kept.of.first_seen) {
            break;
        }
        let first_seen = answer.kept.of.first_seen;
        let is_newer = newest.as_ref().is_none_or(|newest| newest.kept.of.first_seen < first_seen);
        if is_newer && answer.kept.stands_at(now) {
            newest = Some(answer);
        }
    }
    Ok(newest)
}

/// The use of a key that is done, as JSON, without the secrets that its answer showed.
pub fn show_done(
    answer: &KeptAnswer,
    key: &str,
    show: Option<Show>,
    about: Option<Id>,
) -> Result<Vec<u8>, Problem> {
    let (status, body) = answer.show(show, about, &NoSecrets)?;
    let KeptAnswer { kept, seq, .. } = answer;
    let shown = begin(key, "done", &kept.of.path, kept.of.first_seen, kept.expires_at());
    Ok(shown.number("status", status).json("response", &body).number("walSeq", *seq).end())
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
