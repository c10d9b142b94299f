//! A row of the operators' table, and what its handler gets and gives.

use crate::gateway::ask::{self, failure};
use crate::gateway::idempotency::KeyUse;
use crate::gateway::services::{Callers, Services, Turns};
use crate::gateway::tenant_request::Shows;
use crate::http::body::without_unexpected;
use crate::http::respond::Trace;
use crate::operators::Operator;
use crate::store::history::{self, Unreadable};
use crate::store::merge_cursor::MergeCursor;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::answer::{Facts, NoSecrets};
use api::csv::Table;
use api::endpoint::Endpoint;
use api::fields::Fields;
use api::openapi::operation::Verb;
use api::openapi::{schema, values};
use api::page::{ListOf, Page, page_json};
use api::problem::{BadField, Problem};
use api::query::{self, Query};
use api::refusals;
use api::writer::Object;
use bytes::Bytes;
use domain::cause::Cause;
use domain::entities::approval::Approvable;
use domain::index::Space;
use domain::kept::KeepRef;
use domain::machine::Domain;
use domain::machine::{Command, KeyedCommand};
use domain::platform::Tenant;
use domain::platform::audit::{AuditEntry, Who};
use domain::platform::operators::{By, Role};
use domain::values::ids::{EntityId, Id, Mode, PLATFORM, is_live, tenant_key};
use domain::values::time::Timestamp;
use hyper::Method;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

pub type Working = Pin<Box<dyn Future<Output = CallResult> + Send>>;
pub type Handler = fn(Call) -> Working;

macro_rules! run {
    (|$call:ident| $does:expr) => {
        (|$call| Box::pin(async move { $does })) as crate::admin::call::Handler
    };
    ($handler:path) => {
        (|call| Box::pin($handler(call))) as crate::admin::call::Handler
    };
}

/// Ends the call here where it has to wait for a second person.
macro_rules! approved {
    ($waits:expr) => {
        if let Some(waiting) = $waits.await? {
            return Ok(waiting);
        }
    };
}
pub(super) use {approved, run};

#[derive(Clone)]
pub struct Route {
    pub method: Method,
    pub path: &'static str,
    pub operation: &'static str,
    pub endpoint: Endpoint<Handler>,
    pub role: Role,
    pub approval: Option<Approvable>,
    /// Whether it is the second person's word: the least role is then that of what waits.
    pub decides_approval: bool,
    pub takes_query: bool,
    pub takes_csv: bool,
    /// Whether what it does is no record by itself, so that one is written which says who did what.
    pub noted: bool,
    /// Whether it is taken also while the disk is nearly full: it is small, and the way out of
    /// something worse.
    pub in_reserve: bool,
    pub table: Option<Arc<Table>>,
    pub verbs: Vec<Verb>,
}

impl Route {
    pub fn is_write(&self) -> bool {
        self.method != Method::GET
    }

    pub fn takes_json(&self) -> bool {
        matches!(self.method, Method::POST | Method::PATCH) && !self.takes_csv
    }

    /// The name of what it changes in the audit: noun and verb, as on the command line.
    pub fn action(&self) -> Option<String> {
        self.verbs.first().filter(|_| self.is_write()).map(|verb| verb.name.replace(' ', "."))
    }

    /// Runs the handler. What makes no record by itself is written down after it, with its answer.
    pub async fn perform(&self, call: Call) -> CallResult {
        let (services, pending_key, signature) =
            (Arc::clone(&call.services), Arc::clone(&call.pending_key), Arc::clone(&call.signature));
        let done = (self.endpoint.handler)(call).await?;
        // A call that waits for a second person did nothing yet.
        if !self.noted || done.waits {
            return Ok(done);
        }
        let (keep, _held) = pending_key.take();
        let noted = ask::Done { act: None, audit: said(signature.take(), &done.body) };
        if keep.is_none() && noted.audit.is_none() {
            return Ok(done);
        }
        let shown = (done.status, done.body.as_slice());
        let trace = ask::done_and_answered(&services, noted, keep, shown).await?;
        Ok(done.traced(trace))
    }
}

#[derive(Clone)]
pub struct Call {
    pub services: Arc<Services>,
    pub rows: &'static [Route],
    pub turns: Arc<Turns>,
    pub path: String,
    pub parameters: Vec<(&'static str, String)>,
    pub query: Option<String>,
    pub idempotency_key: Option<String>,
    pub pending_key: Arc<PendingKey>,
    pub signature: Arc<Signature>,
    pub operator: Operator,
    pub shows: Shows,
    pub approval: Option<(Approvable, &'static str)>,
    pub peer: SocketAddr,
    pub request_id: String,
    pub body: Body,
}

/// The body of a call, with what is bad outside of it: an Idempotency-Key, parameters where there are
/// none. Whoever reads it is refused for that too, so that one problem names everything
/// (`docs/contract.md, 1.2`).
#[derive(Clone, Default)]
pub struct Body {
    pub bytes: Bytes,
    pub unexpected: Vec<BadField>,
}

impl Body {
    pub fn fields(&self) -> Result<Fields<'_>, Problem> {
        self.with_unexpected(Fields::parse(&self.bytes))
    }

    pub fn optional_fields(&self) -> Result<Fields<'_>, Problem> {
        self.with_unexpected(Fields::parse_optional(&self.bytes))
    }

    pub fn read<'b, T>(&'b self, read: impl FnOnce(&'b [u8]) -> Result<T, Problem>) -> Result<T, Problem> {
        without_unexpected(read(&self.bytes), self.unexpected.clone())
    }

    pub fn nothing(&self) -> Result<(), Problem> {
        Ok(self.optional_fields()?.finish().map(drop)?)
    }

    fn with_unexpected<'a>(&self, parsed: Result<Fields<'a>, Problem>) -> Result<Fields<'a>, Problem> {
        let Ok(mut fields) = parsed else { return without_unexpected(parsed, self.unexpected.clone()) };
        for bad in &self.unexpected {
            fields.bad(&bad.field, bad.message.clone());
        }
        Ok(fields)
    }
}

#[derive(Default)]
pub struct PendingKey(Mutex<Option<KeyUse>>);

impl PendingKey {
    pub fn holding(used: KeyUse) -> PendingKey {
        PendingKey(Mutex::new(Some(used)))
    }

    /// To be taken once, for the command that decides.
    pub fn take(&self) -> (Option<KeepRef>, Option<actors::Guard>) {
        let used = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        used.map(KeyUse::keep).unzip()
    }
}

/// The entry of the audit that a call is to leave, until it goes into the record of the change. It is taken
/// once: one call leaves one entry, however many records it makes.
#[derive(Default)]
pub struct Signature(Mutex<Option<Box<AuditEntry>>>);

impl Signature {
    pub fn of(entry: AuditEntry) -> Signature {
        Signature(Mutex::new(Some(Box::new(entry))))
    }

    /// Says what the path does not: about what the entry is, or what was in the place of what the call makes.
    pub fn amend(&self, amend: impl FnOnce(&mut AuditEntry)) {
        if let Some(entry) = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            amend(entry);
        }
    }

    pub fn copy(&self) -> Option<AuditEntry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_deref().cloned()
    }

    /// Whether a second person approved the call, so that its entry also settles what waited.
    pub fn has_consent(&self) -> bool {
        self.copy().is_some_and(|entry| entry.consent.is_some())
    }

    pub fn take(&self) -> Option<Box<AuditEntry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// An entry with what was done, of which nothing else is in its record.
pub fn said(entry: Option<Box<AuditEntry>>, done: &[u8]) -> Option<Box<AuditEntry>> {
    entry.map(|entry| {
        let after = entry.after.clone().or_else(|| String::from_utf8(done.to_vec()).ok());
        Box::new(AuditEntry { after, ..*entry })
    })
}

/// The words that the token of a call under an Idempotency-Key derives from: with the path, as an operator's
/// tokens all have one id.
pub fn token_salt(path: &str, idempotency_key: &str) -> String {
    format!("{path} {idempotency_key}")
}

impl Call {
    pub fn asked<T, E>(&self, reader: impl FnOnce(Query<'_>) -> Result<T, E>) -> Result<T, E> {
        query::read(self.query.as_deref(), reader)
    }

    pub fn listed<T, E>(
        &self,
        kind: &str,
        reader: impl FnOnce(Query<'_>, ListOf<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mark = |parts: &[&[u8]]| self.services.keys.mark(parts);
        let list = ListOf { mark: &mark, tenant_key: PLATFORM, kind };
        self.asked(|query| reader(query, list))
    }

    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| *known == name).map(|(_, text)| text.as_str())
    }

    pub fn id(&self) -> Result<Id, Problem> {
        self.parameter("id").and_then(Id::parse).ok_or_else(Problem::not_found)
    }

    pub fn tenant(&self) -> Result<Arc<Tenant>, Problem> {
        self.services.callers.directory.tenant(self.id()?).ok_or_else(Problem::not_found)
    }

    pub fn again(&self, path: String, query: Option<String>) -> Call {
        Call {
            path,
            query,
            idempotency_key: None,
            pending_key: Arc::default(),
            signature: Arc::default(),
            approval: None,
            body: Body::default(),
            ..self.clone()
        }
    }

    /// Reads what is durable: here if that is little, otherwise on a thread of its own.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl Fn(&Services, &ReadBudget) -> Result<T, Stopped> + Send + 'static,
    ) -> Result<T, Problem> {
        self.services.read_pool.read(&self.services, PLATFORM, read).await
    }

    /// A page of what lists of the index name, newest first and within bounds from above and below, after at most
    /// so many looks; `show` says nothing of what is not meant.
    pub async fn walk(
        &self,
        parts: Vec<Vec<u8>>,
        (to, from): (Option<Vec<u8>>, Option<Vec<u8>>),
        (page, looks_max): (Page, usize),
        show: impl Fn(&Services, &[u8]) -> Result<Option<Vec<u8>>, Stopped> + Send + 'static,
    ) -> CallResult {
        let read = move |services: &Services, budget: &ReadBudget| {
            let moment = services.engine.reader().index_moment();
            // Both are bounds from above: the lower one counts.
            let before = [page.after.as_deref(), to.as_deref()].into_iter().flatten().min();
            let mut newest = MergeCursor::new(&moment, parts.clone(), before, from.clone(), Some(budget))?;
            let (mut items, mut last, mut looks) = (Vec::with_capacity(page.limit), Vec::new(), 0);
            while let Some(position) = newest.take()? {
                if items.len() == page.limit || looks == looks_max {
                    return Ok(page_json(items, Some(&page.next(&last))));
                }
                looks += 1;
                budget.spend()?;
                items.extend(show(services, &position)?);
                last = position;
            }
            Ok(page_json(items, None))
        };
        Ok(Done::ok(self.read(read).await?))
    }

    /// Reads what is durable where nobody's request waits for it.
    pub async fn read_long<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Services, &ReadBudget) -> Result<T, Stopped> + Send + 'static,
    ) -> Result<T, Problem> {
        self.services.read_pool.read_long(&self.services, PLATFORM, read).await
    }

    pub fn sign_about(&self, tenant: Option<Id>, target: Option<String>) -> Option<Box<AuditEntry>> {
        self.signature.take().map(|entry| Box::new(AuditEntry { tenant, target, ..*entry }))
    }

    /// The person in whose name the call is made: who asked, where somebody else approves.
    pub fn who(&self) -> Who {
        self.signature.copy().map_or_else(|| self.operator.who().clone(), |entry| entry.operator)
    }

    pub fn people(&self) -> By {
        let (asker, second) = (self.who().id, self.operator.who().id);
        if asker == second { vec![asker] } else { vec![asker, second] }
    }

    pub fn entry(&self, action: &str) -> AuditEntry {
        let first = self.parameters.first().map(|(_, text)| text.clone());
        let is_of_tenant = self.path.starts_with("/admin/tenants/");
        AuditEntry {
            peer: Some(self.peer.ip().to_string()),
            tenant: first.as_deref().filter(|_| is_of_tenant).and_then(Id::parse),
            target: first,
            request_id: Some(self.request_id.clone()),
            ..AuditEntry::by(self.operator.who().clone(), self.services.now(), action)
        }
    }

    pub fn tenant_of(&self, tenant_key: u64) -> Option<Id> {
        tenant_of(&self.services.callers, tenant_key)
    }

    /// The tenant key of what the path names, which the index has in this space.
    pub fn owner(&self, space: Space) -> Result<(Id, u64), Problem> {
        let id = self.id()?;
        let owner = history::owner(self.services.engine.reader(), space, id)?;
        Ok((id, owner.ok_or_else(Problem::not_found)?))
    }

    pub async fn decide(&self, tenant_key: u64, entity: EntityId, command: Command, about: Id) -> CallResult {
        self.decide_named(tenant_key, entity, (false, None), command, about).await
    }

    /// Asks an entity, which may be new and whose name may be held until the record is durable.
    pub async fn decide_named(
        &self,
        tenant_key: u64,
        entity: EntityId,
        (is_new, name_held): (bool, Option<actors::Guard>),
        command: Command,
        about: Id,
    ) -> CallResult {
        self.services.may_decide(tenant_key)?;
        let (keep, held) = self.pending_key.take();
        let audit = self.sign_about(self.tenant_of(tenant_key), Some(about.to_string()));
        let command = KeyedCommand::from(command).keeping(keep).audited(audit);
        let engine = &self.services.engine;
        let asked = engine.ask_entity(tenant_key, entity, is_new, command, name_held, held).await;
        let settled = asked.map_err(failure)?;
        self.answer(tenant_key, &settled)
    }

    pub fn answer(&self, tenant: u64, settled: &actors::Settled<Domain>) -> CallResult {
        self.answer_as(self.shows, tenant, settled)
    }

    /// The answer to a decision that is not the one of the call's own operation.
    pub fn answer_as(&self, shows: Shows, tenant: u64, settled: &actors::Settled<Domain>) -> CallResult {
        if let (Some(refusal), None) = (&settled.refusal, settled.seq) {
            return Err(refusals::problem(refusal));
        }
        let facts = Facts {
            livemode: is_live(tenant),
            record: settled.record.as_deref().filter(|record| record.cause != Cause::AnswerKept),
            time: Timestamp::from_unix_ms(settled.time_ms),
            entity: settled.entity.as_deref(),
            refusal: settled.refusal.as_ref(),
            request_id: &self.request_id,
            related: &[],
            about: shows.about,
            secrets: &NoSecrets,
        };
        let (status, body) = facts.shown_by(shows.show)?;
        Ok(Done { status, ..Done::ok(body) }
            .traced(Trace { seq: settled.seq, timing: Some(ask::timing(settled.timing)) }))
    }
}

pub struct Done {
    pub status: u16,
    pub body: Vec<u8>,
    pub trace: Trace,
    pub replayed: bool,
    pub waits: bool,
    pub without_secret: Option<Vec<u8>>,
}

impl Done {
    pub fn ok(body: Vec<u8>) -> Done {
        let trace = Trace::default();
        Done { status: 200, body, trace, replayed: false, waits: false, without_secret: None }
    }

    pub fn created(body: Vec<u8>) -> Done {
        Done { status: 201, ..Done::ok(body) }
    }

    pub fn traced(self, trace: Trace) -> Done {
        Done { trace, ..self }
    }
}

pub type CallResult = Result<Done, Problem>;

/// Whose things are meant: everybody's in both modes, unless it says more.
#[derive(Default)]
pub struct Whose {
    pub tenant: Option<Id>,
    pub mode: Option<Mode>,
}

impl Whose {
    pub fn keys(&self, services: &Services) -> Vec<u64> {
        let directory = &services.callers.directory;
        let tenants = match self.tenant {
            Some(id) => {
                directory.tenant(id).into_iter().filter(|tenant| services.callers.has(tenant)).collect()
            }
            None => services.callers.own_tenants(),
        };
        let modes =
            [Mode::Live, Mode::Test].into_iter().filter(|each| self.mode.is_none_or(|mode| mode == *each));
        let of = |tenant: &Arc<Tenant>| {
            modes.clone().map(|mode| tenant_key(tenant.number, mode)).collect::<Vec<_>>()
        };
        tenants.iter().flat_map(of).collect()
    }
}

pub fn tenant_of(callers: &Callers, tenant_key: u64) -> Option<Id> {
    let number = u32::try_from(tenant_key / 2).ok()?;
    callers.directory.tenant_numbered(number).map(|tenant| tenant.id)
}

pub fn owned(callers: &Callers, tenant_key: u64, item: Vec<u8>) -> Vec<u8> {
    let mode = if is_live(tenant_key) { Mode::Live } else { Mode::Test };
    let item = Object::reopened(item).maybe_plain("tenantId", tenant_of(callers, tenant_key));
    item.plain("mode", mode.name()).end()
}

pub fn owned_schema(item: schema::Schema) -> schema::Schema {
    let mode = schema::one_of(Mode::ALL.map(Mode::name));
    item.member("tenantId", values::uuid().or_null()).member("mode", mode)
}

/// A page of what is in memory, newest first, after the position that the page follows.
pub fn page_of<T>(
    page: &Page,
    mut after_position: impl Iterator<Item = T>,
    position: impl Fn(&T) -> Vec<u8>,
    show: impl Fn(&T) -> Option<Vec<u8>>,
) -> Vec<u8> {
    let shown: Vec<T> = after_position.by_ref().take(page.limit).collect();
    let more = after_position.next().is_some();
    let next = shown.last().filter(|_| more).map(|last| page.next(&position(last)));
    page_json(shown.iter().filter_map(show), next.as_deref())
}

pub fn listed_id(position: &[u8]) -> Result<Id, Unreadable> {
    <[u8; 16]>::try_from(position)
        .map(Id::from_bytes)
        .map_err(|_| Unreadable("a list entry of the operators that is no id".to_owned()))
}
