//! The orders that nobody can tell the outcome of, and what waits, counted now and then in the background:
//! what the metrics and the status show walks no books when it is asked for. Each count is bounded; what is
//! beyond it is as bad as what it says.

use super::{Due, READS_MAX, due, unanswered};
use crate::gateway::business::{Line, Seen};
use crate::gateway::services::Services;
use crate::store::history::Unreadable;
use crate::store::read_budget::{ReadBudget, Stopped};
use crate::webhooks::backlog;
use api::problem::Problem;
use domain::index;
use domain::platform::{Mode, PLATFORM, is_live, tenant_key};
use domain::resources::crypto::payouts;
use domain::resources::notices::UNMATCHED;
use domain::values::ids::{Id, Kind};
use domain::values::time::{SECOND_MS, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The time between two counts of unresolved operations, at most and at least.
const COUNT_EVERY_MS_MAX: u64 = 15_000;
const COUNT_EVERY_MS_MIN: u64 = 1_000;
type Counts = BTreeMap<&'static str, u64>;

async fn counted(services: &Arc<Services>) -> Result<(Counts, Seen), Problem> {
    let due = due(services).await?;
    let read = move |services: &Services, budget: &ReadBudget| {
        Ok((count(services, &due, budget)?, seen(services, &due, budget)?))
    };
    services.read_pool.read(services, PLATFORM, read).await
}

pub async fn keep_counted(services: Arc<Services>) {
    // A count is at most a quarter of unresolved_after_seconds old, within these bounds.
    let quarter_ms = u64::try_from(services.waits.unresolved.after_ms / 4).unwrap_or(0);
    let pause = Duration::from_millis(quarter_ms.clamp(COUNT_EVERY_MS_MIN, COUNT_EVERY_MS_MAX));
    loop {
        match counted(&services).await {
            Ok((counts, seen)) => {
                services.waits.unresolved.counted(counts);
                services.waits.counted.counted(seen);
            }
            Err(problem) => {
                if let Some(error) = problem.private_message() {
                    tracing::warn!(error, "the operations without an outcome were not counted");
                }
            }
        }
        tokio::time::sleep(pause).await;
    }
}

fn count(services: &Services, due: &[Due], budget: &ReadBudget) -> Result<Counts, Stopped> {
    let old = due.iter().filter(|due| due.may_be_older_than(services.waits.unresolved.after_ms));
    let mut counts = Counts::new();
    for due in old.take(READS_MAX) {
        budget.spend()?;
        for operation in unanswered(services.engine.reader(), due)? {
            if services.waits.unresolved.has(&operation, due.now) {
                let rail = services.rails.name_for(due.tenant_key, operation.service);
                *counts.entry(rail).or_default() += 1;
            }
        }
    }
    Ok(counts)
}

/// Entries of a list that are counted.
const LINE_MAX: usize = 10_000;
/// Endpoints that are behind and of which the oldest event is looked up.
const ENDPOINTS_MAX: usize = 256;

fn seen(services: &Services, due: &[Due], budget: &ReadBudget) -> Result<Seen, Stopped> {
    let mut seen = Seen::default();
    for due in due {
        let Some(kind) = kind(due.id.kind) else { continue };
        let waited = due.now.since_ms(Timestamp::from_unix_ms(due.id.id.unix_ms()));
        seen.add(is_live(due.tenant_key), kind, waited / SECOND_MS);
    }
    let pending = payouts::Status::PendingReview as u8;
    let tenants = services.callers.directory.tenants();
    let tests = tenants.iter().map(|tenant| tenant_key(tenant.number, Mode::Test));
    for owner in [PLATFORM].into_iter().chain(tests) {
        for id in listed(services, owner, Kind::CryptoPayout, pending, budget)? {
            seen.reviews[usize::from(!is_live(owner))].add(age_seconds(services, id));
        }
    }
    let mut notices = Line::default();
    for id in listed(services, PLATFORM, Kind::Notice, UNMATCHED, budget)? {
        notices.add(age_seconds(services, id));
    }
    seen.notices = notices;
    seen.webhook_lag_seconds = webhook_lag(services, budget)?;
    Ok(seen)
}

/// The place of a kind among those that are told apart.
const fn kind(kind: Kind) -> Option<usize> {
    match kind {
        Kind::Payment => Some(0),
        Kind::CopPayment => Some(1),
        Kind::Payout => Some(2),
        Kind::CryptoPayout => Some(3),
        _ => None,
    }
}

fn age_seconds(services: &Services, id: Id) -> i64 {
    services.now().since_ms(Timestamp::from_unix_ms(id.unix_ms())) / SECOND_MS
}

/// The ids in a list of the platform's or a tenant's, oldest first.
fn listed(
    services: &Services,
    owner: u64,
    kind: Kind,
    facet: u8,
    budget: &ReadBudget,
) -> Result<Vec<Id>, Stopped> {
    let from = index::list(owner, kind, facet);
    let to = [from.as_slice(), &[0xFF; 17]].concat();
    let mut ids = Vec::new();
    for entry in services.engine.reader().index_scan(&from, &to, false).take(LINE_MAX) {
        budget.spend()?;
        let (key, _) = entry.map_err(Unreadable::from)?;
        let id = key.get(from.len()..).and_then(|suffix| <[u8; 16]>::try_from(suffix).ok());
        ids.extend(id.map(Id::from_bytes));
    }
    Ok(ids)
}

/// The age of the oldest pending event of live mode, whose clock is the server's.
fn webhook_lag(services: &Services, budget: &ReadBudget) -> Result<u64, Stopped> {
    let mut most = 0;
    for (tenant, position) in services.webhooks.behind_live(ENDPOINTS_MAX) {
        budget.spend()?;
        for next in backlog::after(services.engine.reader(), tenant, position, 1)? {
            most = most.max(services.now().since_ms(next.read.time) / SECOND_MS);
        }
    }
    Ok(u64::try_from(most).unwrap_or(0))
}
