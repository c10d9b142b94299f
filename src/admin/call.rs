//! The input and the outcome of a handler of the operators' API.

use super::kept::PendingKey;
use super::signature::Signature;
use crate::gateway::answer::Shows;
use crate::gateway::operators::Operator;
use crate::gateway::services::Services;
use crate::gateway::tenant_settings::Turns;
use crate::http::body::without_unexpected;
use crate::http::respond::Trace;
use api::answer::{Facts, NoSecrets};
use api::fields::Fields;
use api::page::ListOf;
use api::problem::{BadField, Problem};
use api::query::{self, Query};
use api::refusals;
use bytes::Bytes;
use domain::kept::KeepRef;
use domain::machine::Domain;
use domain::platform::acts::{Act, Deed};
use domain::platform::{PLATFORM, Tenant, is_live};
use domain::resources::approvals::Approvable;
use domain::values::ids::Id;
use domain::values::time::Timestamp;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

/// A request that is authenticated and read.
pub struct Call {
    /// The running server.
    pub services: Arc<Services>,
    /// The locks that put changes of tenants in order.
    pub turns: Arc<Turns>,
    /// The path, in the one form that it has: ids as we write them, however they were written.
    pub path: String,
    /// The values of the path's parameters.
    pub parameters: Vec<(&'static str, String)>,
    /// The query string, without its question mark.
    pub query: Option<String>,
    /// The Idempotency-Key, if one was sent.
    pub idempotency_key: Option<String>,
    /// The reserved Idempotency-Key, until it goes into a command.
    pub pending_key: Arc<PendingKey>,
    /// The entry of the audit, until it goes into a command.
    pub signature: Arc<Signature>,
    /// The operator who calls.
    pub operator: Operator,
    /// How the call's operation answers.
    pub shows: Shows,
    /// The approval that the call needs before anything is done, and the operation's name.
    pub approval: Option<(Approvable, &'static str)>,
    /// The address that the request came from.
    pub peer: SocketAddr,
    /// The request's id.
    pub request_id: String,
    /// The body, and what is bad beside it.
    pub body: Body,
}

/// The body of a call, with what is bad outside of it: an Idempotency-Key, parameters where there are
/// none. Whoever reads it is refused for that too, so that one problem names everything
/// (`docs/contract.md, 1.2`).
pub struct Body {
    bytes: Bytes,
    unexpected: Vec<BadField>,
}

impl Body {
    /// A body, and what is bad outside of it.
    pub fn new(bytes: Bytes, unexpected: Vec<BadField>) -> Body {
        Body { bytes, unexpected }
    }

    /// The bytes, as they were sent.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The members of a body that has to be there.
    pub fn fields(&self) -> Result<Fields<'_>, Problem> {
        self.with_unexpected(Fields::parse(&self.bytes))
    }

    /// The members of a body that may be left out.
    pub fn optional_fields(&self) -> Result<Fields<'_>, Problem> {
        self.with_unexpected(Fields::parse_optional(&self.bytes))
    }

    /// The value that a function makes of the bytes, which does nothing else.
    pub fn read<'b, T>(&'b self, read: impl FnOnce(&'b [u8]) -> Result<T, Problem>) -> Result<T, Problem> {
        without_unexpected(read(&self.bytes), self.unexpected.clone())
    }

    /// No body is taken here.
    pub fn none(&self) -> Result<(), Problem> {
        self.read(|_| Ok(()))
    }

    fn with_unexpected<'a>(&self, parsed: Result<Fields<'a>, Problem>) -> Result<Fields<'a>, Problem> {
        let Ok(mut fields) = parsed else { return without_unexpected(parsed, self.unexpected.clone()) };
        for bad in &self.unexpected {
            fields.bad(&bad.field, bad.message.clone());
        }
        Ok(fields)
    }
}

impl Call {
    /// Reads the query.
    pub fn asked<T, E>(&self, reader: impl FnOnce(Query<'_>) -> Result<T, E>) -> Result<T, E> {
        query::read(self.query.as_deref(), reader)
    }

    /// Reads the query of a list of the platform's, of this kind.
    pub fn listed<T, E>(
        &self,
        kind: &str,
        reader: impl FnOnce(Query<'_>, ListOf<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mark = |parts: &[&[u8]]| self.services.keys.mark(parts);
        let list = ListOf { mark: &mark, tenant_key: PLATFORM, kind };
        self.asked(|query| reader(query, list))
    }

    /// The parameter that the path calls `name`, as an id; what is no UUID names nothing.
    pub fn id(&self, name: &str) -> Option<Id> {
        self.parameters.iter().find(|(known, _)| *known == name).and_then(|(_, text)| Id::parse(text))
    }

    /// The same call with another query: another page of a list.
    pub fn again(&self, query: String) -> Call {
        Call {
            services: Arc::clone(&self.services),
            turns: Arc::clone(&self.turns),
            path: self.path.clone(),
            parameters: self.parameters.clone(),
            query: Some(query),
            idempotency_key: None,
            pending_key: Arc::default(),
            signature: Arc::default(),
            shows: self.shows,
            operator: self.operator.clone(),
            approval: None,
            peer: self.peer,
            request_id: self.request_id.clone(),
            body: Body::new(Bytes::new(), Vec::new()),
        }
    }

    /// An act of the operator who called, for the log.
    pub fn act(&self, deed: Deed) -> Act {
        Act::of_operator(
            self.operator.who().name.to_string(),
            self.peer.ip().to_string(),
            self.request_id.clone(),
            deed,
        )
    }

    /// The reference under which the answer is kept for the call's key, and the guard that holds
    /// the key until then; to be taken once, for the command that decides.
    pub fn keep(&self) -> (Option<KeepRef>, Option<actors::Guard>) {
        self.pending_key.take()
    }

    /// The answer to a decision of an entity or a book.
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
            record: settled.record.as_deref().filter(|record| !record.only_keeps()),
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
            .traced(Trace { seq: settled.seq, timing: Some(settled.timing.into()) }))
    }

    /// The tenant that the path names.
    pub fn tenant(&self) -> Option<Arc<Tenant>> {
        self.services.callers.directory.tenant(self.id("id")?)
    }
}

/// A success, or a refusal that was written down.
pub struct Done {
    /// HTTP status.
    pub status: u16,
    /// The body, as JSON.
    pub body: Vec<u8>,
    /// The sequence and the times of the record that was written.
    pub trace: Trace,
    /// Whether it is the kept answer of an earlier request.
    pub replayed: bool,
    /// Whether nothing was done yet: the call waits for a second person.
    pub waits: bool,
    /// What may be kept of the body, where that shows a secret.
    pub without_secret: Option<Vec<u8>>,
}

impl Done {
    /// A 200 with this body.
    pub fn ok(body: Vec<u8>) -> Done {
        Done {
            status: 200,
            body,
            trace: Trace::default(),
            replayed: false,
            waits: false,
            without_secret: None,
        }
    }

    /// A 201 with this body.
    pub fn created(body: Vec<u8>) -> Done {
        Done { status: 201, ..Done::ok(body) }
    }

    /// Adds the sequence and the times of the record.
    pub fn traced(self, trace: Trace) -> Done {
        Done { trace, ..self }
    }
}

/// The outcome of a call.
pub type CallResult = Result<Done, Problem>;

/// A handler at work. It runs to its end, also when the caller goes away.
pub type Working = Pin<Box<dyn Future<Output = CallResult> + Send>>;
