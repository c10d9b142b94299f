//! Test mode begun anew (POST /v1/test/reset): the calls of the account that are under way are let through
//! first, and those that come meanwhile are let in after it. So each is decided wholly before it or wholly
//! after it.
//!
//! Who is not through in time is not waited for: nothing is decided any more on what was read before
//! (`actors::Failure::Reset`).

use crate::gateway::services::Services;
use crate::store::history;
use actors::{CommandReply, Failure, Guard};
use api::problem::Problem;
use domain::kept::KeepRef;
use domain::machine::Domain;
use domain::machine::{Command, KeyedCommand};
use domain::refusal::Refusal;
use domain::resources::begin_anew::BeginAnew;
use domain::values::ids::EntityId;
use std::sync::Arc;
use std::time::Duration;

/// The time for which calls that are under way are waited for: they wait for a simulated bank at most.
const PATIENCE: Duration = Duration::from_millis(300);
const TRIES: usize = 100;

pub async fn begin_anew(
    services: Arc<Services>,
    tenant: u64,
    keep: Option<KeepRef>,
    _held: Option<Guard>,
    is_end: bool,
) -> Result<CommandReply<Domain>, Problem> {
    let gate = Arc::clone(&services.names.test_gates.entry(tenant).or_default());
    let _alone = tokio::time::timeout(PATIENCE, gate.write_owned()).await;
    let engine = &services.engine;
    for _ in 0..TRIES {
        let (book, _) = services.book(tenant).await?;
        let (changes, own) = (book.kept_changes, book.own.is_some().then_some(EntityId::OWN_ACCOUNT));
        let mut entities = Vec::new();
        for id in book.webhooks.iter().copied().map(EntityId::webhook).chain(own) {
            entities.extend(history::entity(engine.reader(), tenant, id)?);
        }
        let ask = Command::BeginAnew(Box::new(BeginAnew { changes, entities, is_end }));
        let outcome = engine.begin_anew(tenant, KeyedCommand::from(ask).keeping(keep.clone()), None).await;
        if !matches!(&outcome, Ok(settled) if settled.refusal == Some(Refusal::ChangedMeanwhile)) {
            return Ok(outcome);
        }
    }
    Ok(Err(Failure::Overloaded))
}
