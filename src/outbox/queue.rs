//! The emptying of a rail's queue: one order at a time, in the order of acceptance, each after a record
//! that says that it is being sent. And its filling: by an order that is accepted, and at a start by those
//! that the last process left.

use crate::gateway::dispatch::failure;
use crate::gateway::services::Services;
use crate::rails::lane::Lane;
use crate::rails::queue::Queued;
use crate::store::history::{self, Entities, Unreadable};
use actors::Failure;
use api::problem::Problem;
use domain::commands::Command;
use domain::index::{self, LedgerKey};
use domain::ledger::{Ledger, MovementKind};
use domain::platform::is_live;
use domain::rail::{Effect, How, RailAnswer, RailReply, Service};
use domain::record::Entity;
use domain::resources::payouts::{CREDIT, Payout, Status};
use domain::values::ids::{EntityId, Kind};
use domain::values::money::Currency;
use domain::view::{Query, View};
use std::sync::Arc;
use wal::{Reader, Seq};

/// The command for an order that may be sent when it is its turn: at once, if nobody is before it. One
/// whose place cannot be told comes back with its deadline.
pub fn offer(services: Option<&Services>, lane: &Lane, tenant: u64, effect: &Effect) -> Command {
    if lane.is_free() {
        return Command::Begin;
    }
    let place = services.map(|services| {
        let reader = services.engine.reader();
        waiting(reader, tenant, effect.entity, &mut Entities::new(reader, tenant))
    });
    let answer = match place {
        Some(Ok(Some(queued))) if lane.queue.put(queued) => RailAnswer::NotSent,
        Some(Ok(_)) | None => RailAnswer::NotAsked,
        Some(Err(unreadable)) => {
            tracing::error!(error = %unreadable, "an order does not wait for its turn, as its place is not \
                known");
            RailAnswer::NotAsked
        }
    };
    lane.wake();
    Command::RailReply(RailReply::plain(effect.operation, How::Offer, answer))
}

/// Keeps the rails of live mode going: their probes and their queues. Called once, when the books are
/// there.
pub async fn start(services: &Arc<Services>) -> Result<(), Problem> {
    let lanes = services.rails.live();
    if lanes.is_empty() {
        return Ok(());
    }
    if let Some(lane) = services.rails.serving(Service::Payouts) {
        for queued in left(services).await? {
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
async fn left(services: &Services) -> Result<Vec<Queued>, Problem> {
    let engine = &services.engine;
    let mut found = Vec::new();
    for tenant in engine.books_in_memory().into_iter().filter(|key| is_live(*key)) {
        let due = match engine.glance(tenant, Query::Agenda).await {
            Ok(Some(View::Agenda { due, .. })) => due,
            // A book that is halted comes back with its deadlines.
            Ok(_) | Err(Failure::Halted) => continue,
            Err(failed) => return Err(failure(failed)),
        };
        let mut entities = Entities::new(engine.reader(), tenant);
        for (_, id) in due.iter().filter(|(_, id)| id.kind == Kind::Payout) {
            found.extend(waiting(engine.reader(), tenant, *id, &mut entities)?);
        }
    }
    Ok(found)
}

/// The place of a payout, if it waits for its turn.
fn waiting(
    reader: &Reader,
    tenant: u64,
    id: EntityId,
    entities: &mut Entities<'_>,
) -> Result<Option<Queued>, Unreadable> {
    match entities.find(id)?.as_deref() {
        Some(Entity::Payout(payout)) if payout.status == Status::Pending && payout.trace.is_queued() => {
            let accepted = accepted(reader, tenant, payout, entities)?;
            Ok(Some(Queued { accepted, operation: payout.id.operation(CREDIT), tenant, entity: id }))
        }
        _ => Ok(None),
    }
}

/// The sequence of the record that debited a payout. One whose debit is not found, a defect, goes last:
/// its place is no reason to keep a server from starting.
fn accepted(
    reader: &Reader,
    tenant: u64,
    payout: &Payout,
    entities: &mut Entities<'_>,
) -> Result<Seq, Unreadable> {
    let payer = match payout.payer() {
        Ledger::Seller(merchant) => LedgerKey::Seller(merchant),
        _ => LedgerKey::Tenant(Currency::Ves),
    };
    let mut from = index::movements(tenant, payer, MovementKind::Payout as u8);
    from.extend_from_slice(&index::time_bytes(payout.created_at));
    let end = [from.as_slice(), &[0xFF; 9]].concat();
    for entry in reader.index_scan(&from, &end, false) {
        let (key, _) = entry?;
        let seq = history::seq(&key[from.len()..])?;
        if entities.record(seq)?.entity(EntityId::payout(payout.id)).is_some() {
            return Ok(seq);
        }
    }
    tracing::error!(payout = %payout.id, "the record that debits a payout is not found: it is sent last");
    Ok(Seq::MAX)
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
