//! Webhook endpoints that take nothing: enabled, and none of the newest deliveries arrived. And the
//! events that were given up after their last try.

use crate::gateway::services::Services;
use crate::store::history;
use crate::store::read_budget::{ReadBudget, Stopped};
use domain::entities::Entity;
use domain::entities::webhook::Exhausted;
use domain::index;
use domain::values::ids::{EntityId, Id};

const ENDPOINTS_MAX: usize = 2_000;
/// In a row, at an endpoint that counts as dead.
const FAILURES: usize = 3;

pub struct Dead {
    pub tenant: u64,
    pub url: String,
    pub error: String,
}

/// Not taken in all its tries.
pub struct GivenUp {
    pub tenant: u64,
    pub url: String,
    /// And when its last try failed.
    pub exhausted: Exhausted,
}

#[derive(Default)]
pub struct Untaken {
    pub dead: Vec<Dead>,
    /// Newest first.
    pub given_up: Vec<GivenUp>,
}

pub fn find(services: &Services, budget: &ReadBudget) -> Result<Untaken, Stopped> {
    let reader = services.engine.reader();
    let prefix = index::webhooks();
    let end = [prefix.as_slice(), &[0xFF; 25]].concat();
    let mut untaken = Untaken::default();
    for entry in reader.index_scan(&prefix, &end, false).take(ENDPOINTS_MAX) {
        budget.spend()?;
        let (key, _) = entry?;
        let rest = &key[prefix.len()..];
        let (Some(tenant), Some(id)) = (
            rest.get(..8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_be_bytes),
            rest.get(8..).and_then(|bytes| bytes.try_into().ok()).map(Id::from_bytes),
        ) else {
            continue;
        };
        let found = history::entity(reader, tenant, EntityId::webhook(id))?;
        let Some(Entity::Webhook(webhook)) = found.as_deref() else { continue };
        let url = || webhook.url.clone();
        let given_up =
            webhook.exhausted.iter().map(|exhausted| GivenUp { tenant, url: url(), exhausted: *exhausted });
        untaken.given_up.extend(given_up);
        if !webhook.is_enabled() {
            continue;
        }
        let errors = newest_errors(services, tenant, id, budget)?;
        if errors.len() == FAILURES && errors.iter().all(Option::is_some) {
            let error = errors.into_iter().next().flatten().unwrap_or_default();
            untaken.dead.push(Dead { tenant, url: url(), error });
        }
    }
    untaken.given_up.sort_by_key(|given_up| std::cmp::Reverse(given_up.exhausted.at));
    Ok(untaken)
}

/// `None` for a delivery that arrived.
fn newest_errors(
    services: &Services,
    tenant: u64,
    id: Id,
    budget: &ReadBudget,
) -> Result<Vec<Option<String>>, Stopped> {
    let reader = services.engine.reader();
    let prefix = index::deliveries(tenant, id);
    let end = [prefix.as_slice(), &[0xFF; 17]].concat();
    let mut errors = Vec::new();
    for entry in reader.index_scan(&prefix, &end, true).take(FAILURES) {
        budget.spend()?;
        let (key, value) = entry?;
        let read = history::record(reader, history::seq(&value)?)?;
        if let Some(Entity::Webhook(state)) = read.record.entity(EntityId::webhook(id)).map(|state| &**state)
        {
            let own = state.outcomes.iter().find(|outcome| key.ends_with(outcome.id.as_bytes()));
            errors.extend(own.map(|outcome| outcome.error.clone()));
        }
    }
    Ok(errors)
}
