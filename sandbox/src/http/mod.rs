//! HTTP of the sandbox: connections that it accepts and calls that it makes.
//!
//! Promises: a request is whole before anybody looks at it; what is done for it is done to the end
//! when its caller has hung up; an answer can be written by hand, byte by byte, where a fault asks
//! for it. It must not know banks.

mod client;
mod server;

pub use client::post;
pub use server::{Delivery, Step, serve};

use bytes::Bytes;
use hyper::{HeaderMap, Method};
use serde_json::{Value, json};

/// A request that has arrived.
pub struct Request {
    /// The request's method.
    pub method: Method,
    /// The request's path, without the query.
    pub path: String,
    /// The request's query, empty if there is none.
    pub query: String,
    /// The request's headers.
    pub headers: HeaderMap,
    /// The request's body.
    pub body: Bytes,
}

impl Request {
    /// A header as text; none if it is missing or no text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The token of `Authorization: Bearer`.
    pub fn bearer(&self) -> Option<&str> {
        self.header("authorization").and_then(|value| value.strip_prefix("Bearer "))
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn json(&self) -> Result<Value, String> {
        serde_json::from_slice(&self.body).map_err(|error| format!("the body is no JSON: {error}"))
    }

    /// Whether the body says that it is JSON.
    pub fn says_json(&self) -> bool {
        let media = self.header("content-type").unwrap_or_default();
        media.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
    }

    /// The path with its query.
    pub fn target(&self) -> String {
        if self.query.is_empty() { self.path.clone() } else { format!("{}?{}", self.path, self.query) }
    }
}

/// An answer: a status and JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The status of HTTP.
    pub status: u16,
    /// The body.
    pub body: Value,
}

impl Answer {
    /// An answer of a status.
    pub fn new(status: u16, body: Value) -> Answer {
        Answer { status, body }
    }

    /// The answer to a wrong call below `/sandbox/`, with the reason in words.
    pub fn problem(status: u16, text: impl Into<String>) -> Answer {
        Answer::new(status, json!({"problem": text.into()}))
    }

    /// The answer as it goes over the wire.
    pub fn bytes(&self) -> Vec<u8> {
        let body = self.body.to_string();
        let reason =
            hyper::StatusCode::from_u16(self.status).ok().and_then(|status| status.canonical_reason());
        let head = format!(
            "HTTP/1.1 {} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.status,
            reason.unwrap_or_default(),
            body.len()
        );
        [head.into_bytes(), body.into_bytes()].concat()
    }
}
