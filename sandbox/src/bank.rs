//! A bank as the server sees it: what is asked, what it answers.

use crate::http::{Answer, Request};
use serde_json::Value;
use std::future::Future;

/// The outcome of a call at a bank.
pub struct Reaction {
    /// The answer.
    pub answer: Answer,
    /// The note for a reader: what was done or what is wrong.
    pub note: String,
    /// Whether the bank keeps its answer to itself, because a magic value says so.
    pub silent: bool,
}

impl Reaction {
    /// A reaction with this answer.
    pub fn new(answer: Answer, note: impl Into<String>) -> Reaction {
        Reaction { answer, note: note.into(), silent: false }
    }
}

/// A bank or processor.
pub trait Bank: Send + Sync + Sized + 'static {
    /// The names of the operations that a gateway may ask for.
    const OPERATIONS: &'static [&'static str];

    /// The names of the calls that the bank itself makes to the gateway.
    const SENT: &'static [&'static str];

    /// The operation that a method and a path stand for.
    fn operation(&self, request: &Request) -> Option<&'static str>;

    /// Checks a call, does what it asks, and answers. What it did is synced before.
    fn act(&self, operation: &'static str, request: &Request) -> impl Future<Output = Reaction> + Send;

    /// The answer to an operation or path that there is not.
    fn unknown(&self) -> Answer;

    /// The answer to a caller whose credentials are wrong.
    fn unauthorized(&self) -> Answer;

    /// The contrary of an answer: done for refused, refused for done. What is neither stays.
    fn contrary(&self, operation: &str, answer: &Answer) -> Answer;

    /// The books, for tests to compare money.
    fn books(&self) -> impl Future<Output = Value> + Send;

    /// A call below `/sandbox/` that only this bank has.
    fn control(
        &self,
        site: &crate::site::Site<Self>,
        request: &Request,
    ) -> impl Future<Output = Option<Answer>> + Send;
}
