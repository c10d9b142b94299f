//! The table of interface A: a row per endpoint with its policy.

use super::{Handler, fees, history, latest};
use crate::endpoint::Endpoint;

pub const PREFIX: &str = "/api/v1";

/// A public endpoint; all of them are read by GET.
pub struct PublicRoute {
    pub path: &'static str,
    pub operation: &'static str,
    /// The seconds for which an answer may be shown again without asking.
    pub fresh_seconds: u32,
    pub of_tenant: bool,
    /// Whether it takes parameters after the question mark; if not, any is unknown.
    pub takes_query: bool,
    pub endpoint: Endpoint<Handler>,
}

fn row(
    path: &'static str,
    operation: &'static str,
    fresh_seconds: u32,
    of_tenant: bool,
    endpoint: Endpoint<Handler>,
) -> PublicRoute {
    let takes_query = (endpoint.description)().has_query();
    PublicRoute { path, operation, fresh_seconds, of_tenant, takes_query, endpoint }
}

pub fn routes() -> Vec<PublicRoute> {
    vec![
        row("/api/v1/fx/latest", "getLatestRate", 5, false, latest::READ),
        row("/api/v1/fx/history", "getRateHistory", 30, false, history::READ),
        row("/api/v1/public/withdraw/fee-schedule", "getWithdrawalFeeSchedule", 60, true, fees::SCHEDULE),
        row("/api/v1/public/withdraw/estimate-fee", "estimateWithdrawalFee", 60, true, fees::ESTIMATE),
        row("/api/v1/public/withdraw/pago-movil-quote", "getPagoMovilQuote", 5, true, fees::PAGO_MOVIL),
    ]
}
