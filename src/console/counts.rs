//! What waits, as far as the queues count it themselves: a queue that is longer than a page, by the keys of its list (what
//! is in it is not read, and a count ends at a bound); webhook endpoints that take nothing: enabled, and none of the
//! newest deliveries arrived; and the events that were given up after their last try.

use crate::admin;
use crate::gateway::services::Services;
use crate::pages::counts;
use crate::reconciliation::shelf::Status;
use crate::store::history::{self, Unreadable};
use crate::store::read_budget::{ReadBudget, Stopped};
use domain::entities::webhook::Exhausted;
use domain::entities::{Entity, approval, chargeback, crypto_payout, payout};
use domain::index;
use domain::values::ids::{EntityId, Id, Kind, Mode, PLATFORM, tenant_key};
use serde::{Deserialize, Serialize};

pub const COUNT_MAX: usize = 10_000;
/// A queue of the first partition alone.
pub const RECONCILIATIONS: &str = "failedReconciliations";

/// More than [`COUNT_MAX`] is one more.
pub fn of(services: &Services, queue: &str, mode: Mode, budget: &ReadBudget) -> Result<usize, Stopped> {
    let lists = |kind, facet| lists_of_tenants(services, kind, facet, mode);
    match queue {
        // Counted in the background, as each has to be read.
        "unresolved" => {
            Ok(usize::try_from(services.waits.counted().unresolved.values().sum::<u64>())
                .unwrap_or(usize::MAX))
        }
        "contradicted" => Ok(services.contradictions(COUNT_MAX + 1)),
        "cryptoReviews" => {
            let facet = crypto_payout::Status::PendingReview as u8;
            let owners = admin::due::reviewed(services, mode);
            let lists: Vec<_> =
                owners.into_iter().map(|owner| index::list(owner, Kind::CryptoPayout, facet)).collect();
            keys(services, &lists, budget)
        }
        "copPayouts" => keys(services, &lists(Kind::CopPayout, payout::Status::Pending as u8), budget),
        "openChargebacks" => keys(services, &lists(Kind::Chargeback, chargeback::Status::Open as u8), budget),
        "approvals" => pending_approvals(services, budget),
        // Each is a file, and all are in memory.
        RECONCILIATIONS => Ok(services.files.reconciliations.list(Some(Status::Failed)).len()),
        _ => Ok(0),
    }
}

fn lists_of_tenants(services: &Services, kind: Kind, facet: u8, mode: Mode) -> Vec<Vec<u8>> {
    let tenants = services.callers.own_tenants();
    tenants.iter().map(|tenant| index::list(tenant_key(tenant.number, mode), kind, facet)).collect()
}

fn keys(services: &Services, lists: &[Vec<u8>], budget: &ReadBudget) -> Result<usize, Stopped> {
    let mut count = 0;
    for list in lists {
        budget.spend()?;
        let end = [list.as_slice(), &[0xFF; 40]].concat();
        for entry in services.engine.reader().index_scan(list, &end, false) {
            entry.map_err(Unreadable::from)?;
            count += 1;
            if count > COUNT_MAX {
                return Ok(count);
            }
        }
    }
    Ok(count)
}

/// Those that nobody decided on in time are in the same list.
fn pending_approvals(services: &Services, budget: &ReadBudget) -> Result<usize, Stopped> {
    let list = index::list(PLATFORM, Kind::Approval, approval::Status::Pending.facet());
    let end = [list.as_slice(), &[0xFF; 40]].concat();
    let (reader, now) = (services.engine.reader(), services.now());
    let mut count = 0;
    for entry in reader.index_scan(&list, &end, false).take(COUNT_MAX) {
        budget.spend()?;
        let (key, _) = entry.map_err(Unreadable::from)?;
        let Some(id) = key.last_chunk().map(|id| Id::from_bytes(*id)) else { continue };
        let found = history::entity(reader, PLATFORM, EntityId::approval(id))?;
        let is_pending = matches!(found.as_deref(), Some(Entity::Approval(approval))
            if approval.status(now) == approval::Status::Pending);
        count += usize::from(is_pending);
    }
    Ok(count)
}

const ENDPOINTS_MAX: usize = 2_000;

#[derive(Serialize, Deserialize)]
pub struct Dead {
    pub tenant: u64,
    pub url: String,
    pub error: String,
}

#[derive(Serialize, Deserialize)]
pub struct GivenUp {
    pub tenant: u64,
    pub url: String,
    pub event: String,
    pub kind: String,
    /// Of the last try, as the API writes instants.
    pub at: String,
}

#[derive(Default, Serialize, Deserialize)]
pub struct Untaken {
    pub dead: Vec<Dead>,
    /// Newest first.
    pub given_up: Vec<GivenUp>,
}

pub fn find(services: &Services, budget: &ReadBudget) -> Result<Untaken, Stopped> {
    let reader = services.engine.reader();
    let mut untaken = Untaken::default();
    let is_here = |(tenant, _): &(u64, Id)| !services.callers.is_elsewhere(*tenant);
    for (tenant, id) in admin::webhook_endpoints(services, budget, ENDPOINTS_MAX)?.into_iter().filter(is_here)
    {
        let found = history::entity(reader, tenant, EntityId::webhook(id))?;
        let Some(Entity::Webhook(webhook)) = found.as_deref() else { continue };
        let url = || webhook.url.clone();
        let given_up = |Exhausted { event, at, .. }: &Exhausted| GivenUp {
            tenant,
            url: url(),
            event: event.id.to_string(),
            kind: event.kind.name().to_owned(),
            at: at.to_string(),
        };
        untaken.given_up.extend(webhook.exhausted.iter().map(given_up));
        if !webhook.is_enabled() {
            continue;
        }
        if let Some(error) = counts::undelivered(services, tenant, id, budget)? {
            untaken.dead.push(Dead { tenant, url: url(), error });
        }
    }
    untaken.given_up.sort_by(|one, other| other.at.cmp(&one.at));
    Ok(untaken)
}
