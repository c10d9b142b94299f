//! Statements of tenants and of the platform, for operators (`docs/contract.md, 20.5`).

use super::call::{Call, CallResult, Done};
use crate::admin::finding::mode;
use crate::gateway::statements;
use api::fields::Invalid;
use api::kind::Kind as _;
use api::problem::Problem;
use api::query::Query;
use api::statements::{Ask, Asked, CURRENCIES, show};
use domain::ledger::Ledger;
use domain::platform::{Mode, tenant_key};

/// GET /admin/tenants/:id/statements
pub async fn of_tenant(call: Call) -> CallResult {
    let (mode, ask) = call.asked(|query| asked(query, Ledger::Tenant))?;
    let tenant = call.tenant().ok_or_else(Problem::not_found)?;
    let lines = statements::lines(&call.services, tenant_key(tenant.number, mode), ask).await?;
    Ok(Done::ok(show(ask.currency, &lines)))
}

/// GET /admin/statements
pub async fn of_platform(call: Call) -> CallResult {
    let (mode, ask) = call.asked(|query| asked(query, Ledger::Fees))?;
    let lines = statements::of_platform(&call.services, mode, ask).await?;
    Ok(Done::ok(show(ask.currency, &lines)))
}

/// Reads which statement is asked for, of an account of this owner.
pub(super) fn asked(mut query: Query<'_>, ledger: Ledger) -> Result<(Mode, Ask), Invalid> {
    let asked = Asked::read(&mut query, &CURRENCIES);
    let mode = query.optional("mode", mode().about("`live` if missing."));
    let sound = query.finish()?;
    Ok((mode.get(&sound).unwrap_or(Mode::Live), asked.of(ledger, &sound)))
}
