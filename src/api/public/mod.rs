//! Interface A: rates and fees for everybody, read-only, without a key (`docs/contract.md, 15`).
//! Pure, like the rest of the API.
//!
//! In reading order: [`routes`] is the table, then a file per resource: [`latest`], [`history`],
//! [`fees`]. A failure is a [`Problem`] that `gateway/public.rs` writes in the public shape.

pub mod fees;
pub mod history;
pub mod latest;
pub mod routes;

use crate::endpoint::chapter;
use crate::fields::Invalid;
use crate::openapi::operation::Operation;
use crate::openapi::values::uuid;
use crate::problem::Problem;
use crate::query::{self, Query};
use domain::resources::rates::samples::{Filter, Pair, Sample};
use domain::resources::rates::withdrawals::{Policy, Withdrawals};
use domain::values::time::Timestamp;
use std::sync::Arc;

pub(crate) const CHAPTER: &str = "Public rates and fees";

chapter! { CHAPTER, "Without a key, read-only, for reference: the rate of a real operation is confirmed in \
    the operator's own app. Errors are `{statusCode, error, message}`. Browsers may call from the \
    operator's own origins only.", {
        "Rate" = latest::schema()
            .example(r#"{"pair":"USDT/VES","source":"p2p","method":"p2p_floor","price":245,
                "asOf":"2026-11-21T02:13:00.000Z","fetchedAt":"2026-11-21T02:13:01.000Z",
                "side":"FLOOR","paymentMethod":null}"#);
        "RateHistory" = history::schema();
        "RatePoint" = history::point_schema();
        "FeeSchedule" = fees::schedule_schema();
        "FeeEstimate" = fees::estimate_schema();
        "PagoMovilQuote" = fees::quote_schema();
        "PublicError" = object()
            .member("statusCode", integer())
            .member("error", text().about("The reason text of the status."))
            .member("message", any_of([text(), list(text())]).about("A text, or one per bad parameter."));
    }
}

pub struct PublicCall<'a> {
    pub query: Option<&'a str>,
    pub now: Timestamp,
    /// The freshest price of a pair that a filter admits, of those that everybody may see.
    pub latest: &'a dyn Fn(Pair, Filter<'_>) -> Option<Arc<Sample>>,
    /// The floor of the market, if it is fresh enough to be offered.
    pub floor: &'a dyn Fn() -> Option<Arc<Sample>>,
    pub history: &'a dyn Fn(&history::Ask) -> Result<Vec<u8>, Problem>,
    pub withdrawals: &'a Withdrawals,
    /// The policy of the tenant that is asked for, or of all that have none of their own.
    pub policy: &'a Policy,
}

impl PublicCall<'_> {
    pub fn asked<T>(&self, reader: impl FnOnce(Query<'_>) -> Result<T, Invalid>) -> Result<T, Problem> {
        Ok(query::read(self.query, reader)?)
    }
}

pub type Handler = fn(&PublicCall<'_>) -> Result<Vec<u8>, Problem>;

/// An answer that caches may ask about again.
fn fresh(operation: Operation) -> Operation {
    operation.answers_nothing(304, "As `if-none-match` says: still the same")
}

/// An answer that depends on a tenant's policy of fees.
fn of_tenant(operation: Operation) -> Operation {
    let tenant = uuid().about("The tenant whose fee policy applies; the server's own if missing.");
    operation.header("x-tenant-id", tenant).refuses(404, &["not_found"])
}
