//! Statements of tenants, of sellers and of the platform: the present day from the book, the others from
//! what is written down.

use super::ask::failure;
use super::services::Services;
use crate::store::history::Unreadable;
use crate::store::read_budget::{ReadBudget, Stopped};
use crate::store::statements::{self, Account};
use actors::Machine;
use api::problem::Problem;
use api::statements::Ask;
use domain::ledger::days::{Day, Line, Present, zone};
use domain::machine::AnyBook;
use domain::values::ids::{Mode, PLATFORM, tenant_key};
use domain::values::time::{Date, Timestamp};
use std::sync::Arc;

/// The lines of an account of a tenant key, up to its clock's present day; 404 for a seller that it does
/// not have.
pub async fn lines(services: &Arc<Services>, tenant: u64, ask: Ask) -> Result<Vec<Line>, Problem> {
    let Ask { ledger, currency, from, to } = ask;
    let present = {
        // The copy of the book is given back before the wait.
        let (book, now) = services.book(tenant).await?;
        book.present(ledger, currency, now).ok_or_else(Problem::not_found)?
    };
    let to = to.min(present.now.date_in(zone(currency)));
    let account = Account { tenant, ledger, currency };
    let read = services.read_pool.read(services, tenant, move |services, _| {
        statements::read(services.engine.reader(), account, &present, (from, to))
    });
    read.await
}

/// The lines of the platform's own accounts over all tenants in a mode, which are what the tenants'
/// accounts say of its fees. `ask` names the platform's ledger.
pub async fn of_platform(services: &Arc<Services>, mode: Mode, ask: Ask) -> Result<Vec<Line>, Problem> {
    let mut presents = Vec::new();
    for tenant in services.callers.own_tenants() {
        let tenant = tenant_key(tenant.number, mode);
        // A book that is not in memory is not brought there: it stands in its snapshot.
        let present = match services.engine.glance(tenant).await.map_err(failure)? {
            Some((AnyBook::Tenant(book), now_ms)) => {
                book.present(ask.ledger, ask.currency, Timestamp::from_unix_ms(now_ms))
            }
            _ => None,
        };
        presents.push((tenant, present));
    }
    let read = services
        .read_pool
        .read_long(services, PLATFORM, move |services, budget| added_up(services, presents, ask, budget));
    read.await
}

fn added_up(
    services: &Services,
    presents: Vec<(u64, Option<Present>)>,
    ask: Ask,
    budget: &ReadBudget,
) -> Result<Vec<Line>, Stopped> {
    let Ask { ledger, currency, from, to } = ask;
    let mut accounts = Vec::with_capacity(presents.len());
    for (tenant, present) in presents {
        budget.spend()?;
        let present = match present {
            Some(present) => Some(present),
            None => saved(services, tenant, ask)?,
        };
        accounts.extend(present.map(|present| (Account { tenant, ledger, currency }, present)));
    }
    // A test clock may be ahead of the server's.
    let newest = accounts.iter().filter_map(|(_, present)| Some(present.day.as_ref()?.date)).max();
    let today = services.now().date_in(zone(currency));
    let to = to.min(newest.map_or(today, |newest| newest.max(today)));
    let dates = (from.days()..=to.days()).map(Date::from_days);
    let mut sums: Vec<Line> = dates.map(|date| Line { day: Day::new(date), opening: 0 }).collect();
    for (account, present) in accounts {
        budget.spend()?;
        let lines = statements::read(services.engine.reader(), account, &present, (from, to))?;
        for (sum, line) in sums.iter_mut().zip(lines) {
            sum.opening += line.opening;
            sum.day.join(&line.day);
        }
    }
    Ok(sums)
}

fn saved(services: &Services, tenant: u64, ask: Ask) -> Result<Option<Present>, Stopped> {
    let newest = services.engine.reader().snapshot(tenant, None).map_err(Unreadable::from)?;
    let Some(stored) = newest else { return Ok(None) };
    let book = services.engine.machine().restore(tenant, &stored.state);
    match book.map_err(|error| Unreadable(error.to_string()))? {
        AnyBook::Tenant(book) => Ok(book.present(ask.ledger, ask.currency, book.last.max(services.now()))),
        AnyBook::Platform(_) => Ok(None),
    }
}
