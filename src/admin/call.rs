//! What a handler of the operators' API gets, and what it gives back.

use crate::api::problem::Problem;
use crate::domain::acts::{Act, Deed};
use crate::domain::ids::Id;
use crate::domain::platform::Tenant;
use crate::server::services::Services;
use crate::server::sheets::Turns;
use bytes::Bytes;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

/// One request, read and with its right proved.
pub struct Call {
    /// The running server.
    pub services: Arc<Services>,
    /// Whose turn it is.
    pub turns: Arc<Turns>,
    /// The path as it was called.
    pub path: String,
    /// What stood in the place of its parameters.
    pub parameters: Vec<(&'static str, String)>,
    /// After the question mark.
    pub query: Option<String>,
    /// The Idempotency-Key, if one was sent.
    pub idempotency_key: Option<String>,
    /// Who sent it.
    pub peer: SocketAddr,
    /// The request's id.
    pub request_id: String,
    /// The body.
    pub body: Bytes,
}

impl Call {
    /// The parameter that the path calls `name`, as an id; what is no UUID names nothing.
    pub fn id(&self, name: &str) -> Option<Id> {
        self.parameters.iter().find(|(known, _)| *known == name).and_then(|(_, text)| Id::parse(text))
    }

    /// An act of the operator who called, for the log.
    pub fn act(&self, deed: Deed) -> Act {
        Act::of_operator(self.peer.ip().to_string(), self.request_id.clone(), deed)
    }

    /// The tenant that the path names.
    pub fn tenant(&self) -> Option<Arc<Tenant>> {
        self.services.directory.tenant(self.id("id")?)
    }
}

/// A success.
pub struct Done {
    /// HTTP status.
    pub status: u16,
    /// JSON.
    pub body: Vec<u8>,
    /// The record that was written.
    pub wal_seq: Option<u64>,
    /// Whether it is the kept answer of an earlier request.
    pub replayed: bool,
}

impl Done {
    /// 200.
    pub fn ok(body: Vec<u8>) -> Done {
        Done { status: 200, body, wal_seq: None, replayed: false }
    }

    /// 201.
    pub fn created(body: Vec<u8>) -> Done {
        Done { status: 201, ..Done::ok(body) }
    }

    /// The same, naming the record if there is one.
    pub fn wrote(self, wal_seq: Option<u64>) -> Done {
        Done { wal_seq, ..self }
    }
}

/// What comes of a call.
pub type Outcome = Result<Done, Problem>;

/// A handler at work. It runs to its end, also when the caller goes away.
pub type Working = Pin<Box<dyn Future<Output = Outcome> + Send>>;
