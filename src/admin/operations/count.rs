//! The number of orders that nobody can tell the outcome of, counted now and then in the background: what
//! the metrics and the status show walks no books when it is asked for.

use super::{Due, READS_MAX, due, queues, unanswered};
use crate::gateway::services::Services;
use crate::gateway::waiting::Seen;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::problem::Problem;
use domain::platform::PLATFORM;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The time between two counts of unresolved operations, at most and at least.
const COUNT_EVERY_MS_MAX: u64 = 15_000;
const COUNT_EVERY_MS_MIN: u64 = 1_000;
/// Counts by rail.
type Counts = BTreeMap<&'static str, u64>;

async fn counted(services: &Arc<Services>) -> Result<(Counts, Seen), Problem> {
    let due = due(services).await?;
    let read = move |services: &Services, budget: &ReadBudget| {
        Ok((count(services, &due, budget)?, queues::seen(services, &due, budget)?))
    };
    services.read_pool.read(services, PLATFORM, read).await
}

/// Counts what is unresolved and what waits now and then, for the metrics and the status: a scrape walks
/// no books.
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
