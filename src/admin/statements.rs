//! Statements of tenants and of the platform, for operators (`docs/contract.md, 20.5`).

use super::call::{Call, CallResult, Done, Handler, run};
use super::finding::mode;
use crate::gateway::statements;
use api::endpoint::chapter;
use api::fields::{Invalid, Kind as _, read};
use api::openapi::operation::Operation;
use api::query::Query;
use api::statements::schemas;
use api::statements::{Ask, CURRENCIES, answers_statement, ask, show};
use domain::ledger::Ledger;
use domain::values::ids::{Mode, tenant_key};

fn of_mode(operation: Operation) -> Operation {
    answers_statement(operation.query(|query| asked(query, Ledger::Fees)))
}

chapter! { "Statements", "What moved on each day, by columns. Days are those of Caracas, of pesos those of \
    Bogotá.", {
        with schemas();
    }
    OF_TENANT = run!(of_tenant), "An account's statement by days" => {
        command "statement tenant", "Show a tenant's statement, day by day",
            "--currency VES --from 2026-11-01 --to 2026-11-30";
        with of_mode;
    };
    OF_PLATFORM = run!(of_platform), "The platform's own statement by days" => {
        command "statement platform", "Show what the platform earned, day by day",
            "--currency VES --from 2026-11-01 --to 2026-11-30";
        with of_mode;
        about "What it earned over all accounts, less what it gave back: `fees` and `platformFees` of sales, \
            `chargebacks` the fees of those, `payouts` the fees of payouts and networks. The other columns are \
            0.";
    };
}

async fn of_tenant(call: Call) -> CallResult {
    let (mode, ask) = call.asked(|query| asked(query, Ledger::Tenant))?;
    let tenant = call.tenant()?;
    let lines = statements::lines(&call.services, tenant_key(tenant.number, mode), ask).await?;
    Ok(Done::ok(show(ask.currency, &lines)))
}

async fn of_platform(call: Call) -> CallResult {
    let (mode, ask) = call.asked(|query| asked(query, Ledger::Fees))?;
    let lines = statements::of_platform(&call.services, mode, ask).await?;
    Ok(Done::ok(show(ask.currency, &lines)))
}

fn asked(mut query: Query<'_>, ledger: Ledger) -> Result<(Mode, Ask), Invalid> {
    Ok(read!(query {
        got asked = ask(&mut query, ledger, &CURRENCIES);
        optional mode = "mode", mode().about("`live` if missing.");
    } => (mode.unwrap_or(Mode::Live), asked)))
}
