//! Statements of tenants and of the platform, for operators (`docs/contract.md, 20.5`).

use super::call::{Call, Done, Outcome};
use crate::gateway::statements;
use api::problem::Problem;
use api::query::Query;
use api::statements::{Ask, Asked, CURRENCIES, show};
use domain::ledger::Ledger;
use domain::platform::{Mode, tenant_key};

/// GET /admin/tenants/:id/statements
pub async fn of_tenant(call: Call) -> Outcome {
    let (mode, ask) = asked(&call, Ledger::Tenant)?;
    let tenant = call.tenant().ok_or_else(Problem::not_found)?;
    let lines = statements::lines(&call.services, tenant_key(tenant.number, mode), ask).await?;
    Ok(Done::ok(show(ask.currency, &lines)))
}

/// GET /admin/statements
pub async fn of_platform(call: Call) -> Outcome {
    let (mode, ask) = asked(&call, Ledger::Fees)?;
    let lines = statements::of_platform(&call.services, mode, ask).await?;
    Ok(Done::ok(show(ask.currency, &lines)))
}

fn asked(call: &Call, ledger: Ledger) -> Result<(Mode, Ask), Problem> {
    let mut query = Query::parse(call.query.as_deref());
    let mode = query.optional("mode", |text| text.one_of(&Mode::ALL.map(|mode| (mode.name(), mode))));
    let asked = Asked::read(&mut query, &CURRENCIES);
    let sound = query.finish()?;
    Ok((mode.get(&sound).unwrap_or(Mode::Live), asked.of(ledger, &sound)))
}
