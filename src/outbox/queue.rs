//! The emptying of a rail's queue: one order at a time, in the order of acceptance, each after a record
//! that says that it is being sent. And its filling: by an order that is accepted, and at a start by those
//! that the last process left.

use crate::gateway::dispatch::failure;
use crate::gateway::services::Services;
use crate::rails::lane::Lane;
use crate::rails::queue::Queued;
use crate::store::history;
use actors::Failure;
use api::problem::Problem;
use domain::commands::Command;
use domain::platform::is_live;
use domain::rail::{How, RailAnswer, RailReply, Service};
use domain::record::Entity;
use domain::resources::payouts::CREDIT;
use domain::resources::{crypto, payouts};
use domain::values::ids::{EntityId, Kind};
use domain::view::{Query, View};
use std::sync::Arc;

/// The command for an order that may be sent when it is its turn: at once, if nobody is before it.
pub fn offer(lane: &Lane, queued: Queued) -> Command {
    if lane.is_free() {
        return Command::Begin;
    }
    let answer = if lane.queue.put(queued) { RailAnswer::NotSent } else { RailAnswer::NotAsked };
    lane.wake();
    Command::RailReply(RailReply::plain(queued.operation, How::Offer, answer))
}

/// Keeps the rails of live mode going: their probes and their queues. Called once, when the books are
/// there.
pub async fn start(services: &Arc<Services>) -> Result<(), Problem> {
    let lanes = services.rails.live();
    if lanes.is_empty() {
        return Ok(());
    }
    for (service, queued) in left(services).await? {
        if let Some(lane) = services.rails.serving(service) {
            lane.queue.put(queued);
        }
    }
    for lane in lanes {
        lane.restored();
        let (probing, emptying) = (Arc::clone(lane), Arc::clone(lane));
        tokio::spawn(async move { probing.keep_probing().await });
        tokio::spawn(empty(emptying, Arc::clone(services)));
    }
    Ok(())
}

/// The orders that wait in the books of live mode.
async fn left(services: &Services) -> Result<Vec<(Service, Queued)>, Problem> {
    let engine = &services.engine;
    let mut found = Vec::new();
    for tenant in engine.books_in_memory().into_iter().filter(|key| is_live(*key)) {
        let due = match engine.glance(tenant, Query::Agenda).await {
            Ok(Some(View::Agenda { due, .. })) => due,
            // A book that is halted comes back with its deadlines.
            Ok(_) | Err(Failure::Halted) => continue,
            Err(failed) => return Err(failure(failed)),
        };
        for (_, id) in due.iter().filter(|(_, id)| matches!(id.kind, Kind::Payout | Kind::CryptoPayout)) {
            let entity = history::entity(engine.reader(), tenant, *id)?;
            found.extend(entity.and_then(|entity| waiting(tenant, *id, &entity)));
        }
    }
    Ok(found)
}

fn waiting(tenant: u64, id: EntityId, entity: &Entity) -> Option<(Service, Queued)> {
    let (service, accepted, operation) = match entity {
        Entity::Payout(payout) if payout.status == payouts::Status::Pending && payout.trace.is_queued() => {
            (Service::Payouts, payout.created_at, payout.id.operation(CREDIT))
        }
        Entity::CryptoPayout(payout)
            if payout.status == crypto::payouts::Status::Processing && payout.trace.is_queued() =>
        {
            let operation = payout.id.operation(crypto::payouts::SEND);
            (Service::Usdt(payout.network), payout.created_at, operation)
        }
        _ => return None,
    };
    Some((service, Queued { accepted_ms: accepted.unix_ms(), operation, tenant, entity: id }))
}

/// Gives each order of a queue its turn, for ever.
async fn empty(lane: Arc<Lane>, services: Arc<Services>) {
    loop {
        let first = lane.next().await;
        // The order was accepted: how much its tenant asks for besides holds nobody's orders up.
        let asked = services.engine.continue_entity(first.tenant, first.entity, Command::Begin.into());
        match asked.await {
            // The record is there before the call is: the next order waits until that has ended.
            Ok(begun) if begun.record.is_some() => lane.until_called().await,
            // Somebody has decided about the order meanwhile, or its book cannot: it comes back with its
            // deadline.
            Ok(_) | Err(_) => {}
        }
        lane.queue.end_turn();
        lane.wake();
    }
}
