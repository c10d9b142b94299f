//! Looks before their time: something has come that says that a bank may have an answer.

use crate::gateway::ask;
use crate::gateway::services::Services;
use domain::commands::Command;
use domain::values::ids::EntityId;
use std::sync::Arc;
use std::time::Instant;

/// Has the bank asked now about an entity's pending operation, in a task of its own. Nothing happens
/// when it is not at a bank; if nobody can ask now, its next look comes all the same.
pub fn look_now(services: &Arc<Services>, tenant_key: u64, id: EntityId) {
    let services = Arc::clone(services);
    tokio::spawn(async move {
        let ask = || Command::Look.into();
        let looked = ask::entity_patiently(&services.engine, tenant_key, id, Instant::now(), ask).await;
        if let Err(failure) = looked {
            tracing::warn!(?id, ?failure, "the bank could not be asked about an operation before its time");
        }
    });
}
