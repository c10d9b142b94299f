//! Interface A: rates and fees for everybody, read-only, without a key (`docs/contract.md, 15`).
//! Pure, like the rest of the API.
//!
//! In reading order: [`routes`] is the table, then a file per resource: [`latest`], [`history`],
//! [`fees`]. A failure is a [`Problem`] that `gateway/public.rs` writes in the public shape.

pub mod description;

pub mod fees;
pub mod history;
pub mod latest;
pub mod routes;

use crate::fields::Invalid;
use crate::problem::Problem;
use crate::query::{self, Query};
use domain::resources::rates::samples::{Filter, Pair, Sample};
use domain::resources::rates::withdrawals::{Policy, Withdrawals};
use domain::values::time::Timestamp;
use std::sync::Arc;

/// The input of a handler.
pub struct PublicCall<'a> {
    /// The query string, without its question mark.
    pub query: Option<&'a str>,
    /// The server's clock.
    pub now: Timestamp,
    /// The freshest price of a pair that a filter admits, of those that everybody may see.
    pub latest: &'a dyn Fn(Pair, Filter<'_>) -> Option<Arc<Sample>>,
    /// The floor of the market, if it is fresh enough to be offered.
    pub floor: &'a dyn Fn() -> Option<Arc<Sample>>,
    /// The fees of withdrawals.
    pub withdrawals: &'a Withdrawals,
    /// The policy of the tenant that is asked for, or of all that have none of their own.
    pub policy: &'a Policy,
}

impl PublicCall<'_> {
    /// Reads the query.
    pub fn asked<T>(&self, reader: impl FnOnce(Query<'_>) -> Result<T, Invalid>) -> Result<T, Problem> {
        Ok(query::read(self.query, reader)?)
    }
}

/// The work that a handler of the public API asks for.
#[derive(Debug)]
pub enum PublicPlan {
    /// The answer is known.
    Answer(Vec<u8>),
    /// A history is read.
    History(Box<history::Ask>),
}

/// Reads and checks a request.
pub type PublicHandler = fn(&PublicCall<'_>) -> Result<PublicPlan, Problem>;
