//! The emptying of a rail's queue: one order at a time, in the order of acceptance, each after a
//! record that says that it is being sent. And its filling: by an order that is accepted, and at a
//! start by those that the last process left.

use crate::gateway::ask::failure;
use crate::gateway::services::Services;
use crate::rails::lane::Lane;
use crate::rails::queue::{OrderStanding, Queued, SoughtPlace};
use crate::store::history::{self, Entities, ReadRecord, Unreadable};
use actors::Failure;
use api::problem::Problem;
use domain::entities::Entity;
use domain::entities::payout::{CREDIT, Payout, Status};
use domain::index::{self, LedgerKey};
use domain::ledger::{Ledger, MovementKind};
use domain::machine::{AnyBook, Command};
use domain::rail::{Effect, How, RailAnswer, RailReply, Service};
use domain::values::ids::{EntityId, Kind, is_live};
use domain::values::money::Currency;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wal::{Reader, Seq};

/// Kept, as a batch of a thousand payouts is one record, and they come one after the other.
#[derive(Clone, Default)]
pub struct LastRead(Arc<Mutex<Option<ReadRecord>>>);

impl LastRead {
    fn kept(&self) -> MutexGuard<'_, Option<ReadRecord>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// At once, if nobody is before the order. One whose place cannot be told comes back with its deadline.
pub fn offer(
    services: Option<&Services>,
    lane: &Lane,
    tenant: u64,
    effect: &Effect,
    last_read: &LastRead,
) -> Command {
    let answer = match lane.offer(effect.operation, effect.order.bank_call()) {
        OrderStanding::First => return Command::Begin,
        OrderStanding::Waits => RailAnswer::NotAsked,
        OrderStanding::Returns => RailAnswer::NotSent,
        OrderStanding::Arrives(arrival) => arrive(services, tenant, effect.entity, arrival, last_read),
    };
    lane.wake();
    Command::RailReply(RailReply::plain(effect.operation, How::Offer, answer))
}

fn arrive(
    services: Option<&Services>,
    tenant: u64,
    id: EntityId,
    arrival: SoughtPlace<'_>,
    last_read: &LastRead,
) -> RailAnswer {
    let Some(reader) = services.map(|services| services.engine.reader()) else { return RailAnswer::NotAsked };
    let mut states = Entities::new(reader, tenant).knowing(last_read.kept().clone());
    let place = waiting(reader, tenant, id, &mut states, &mut Entities::new(reader, tenant));
    *last_read.kept() = states.last();
    match place {
        Ok(Some(queued)) => {
            arrival.put(queued);
            RailAnswer::NotSent
        }
        Ok(None) => RailAnswer::NotAsked,
        Err(unreadable) => {
            tracing::error!(error = %unreadable, "an order does not wait for its turn, as its place is not known");
            RailAnswer::NotAsked
        }
    }
}

/// Probes and queues of live mode. Called once, when the books are there.
pub async fn start(services: &Arc<Services>) -> Result<(), Problem> {
    let lanes = &services.rails.live;
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

async fn left(services: &Services) -> Result<Vec<Queued>, Problem> {
    let engine = &services.engine;
    let mut found = Vec::new();
    for tenant in engine.books_in_memory().into_iter().filter(|key| is_live(*key)) {
        let due = match engine.glance(tenant).await {
            Ok(Some((AnyBook::Tenant(book), _))) => book.agenda,
            // A book that is halted comes back with its deadlines; one that is elsewhere has none here.
            Ok(_) | Err(Failure::Halted | Failure::Elsewhere) => continue,
            Err(failed) => return Err(failure(failed)),
        };
        let reader = engine.reader();
        let (mut states, mut debits) = (Entities::new(reader, tenant), Entities::new(reader, tenant));
        for (_, id) in due.iter().filter(|(_, id)| id.kind == Kind::Payout) {
            found.extend(waiting(reader, tenant, *id, &mut states, &mut debits)?);
        }
    }
    Ok(found)
}

/// `None` if the payout does not wait for its turn. States and debits are read apart, as those of
/// many payouts are in a few records each.
fn waiting(
    reader: &Reader,
    tenant: u64,
    id: EntityId,
    states: &mut Entities<'_>,
    debits: &mut Entities<'_>,
) -> Result<Option<Queued>, Unreadable> {
    match states.find(id)?.as_deref() {
        Some(Entity::Payout(payout))
            if payout.status == Status::Pending && payout.order.trace.is_queued() =>
        {
            let accepted = accepted(reader, tenant, payout, debits)?;
            let (operation, call) = (payout.id.operation(CREDIT), payout.instruction().bank_call());
            Ok(Some(Queued { accepted, operation, tenant, entity: id, call }))
        }
        _ => Ok(None),
    }
}

/// The record that debited a payout: the payer's of that instant, and if there are several the one
/// that has it. One whose debit is not found, a defect, goes last: its place is no reason to keep a
/// server from starting.
fn accepted(
    reader: &Reader,
    tenant: u64,
    payout: &Payout,
    debits: &mut Entities<'_>,
) -> Result<Seq, Unreadable> {
    let payer = match payout.payer() {
        Ledger::Seller(merchant) => LedgerKey::Seller(merchant),
        _ => LedgerKey::Tenant(Currency::Ves),
    };
    let mut from = index::movements(tenant, payer, MovementKind::Payout as u8);
    from.extend_from_slice(&index::time_bytes(payout.created_at));
    let end = [from.as_slice(), &[0xFF; 9]].concat();
    let of_instant = reader.index_scan(&from, &end, false);
    let seqs =
        of_instant.map(|entry| history::seq(&entry?.0[from.len()..])).collect::<Result<Vec<_>, _>>()?;
    // A batch of a thousand is one record: it is not read for each of them.
    if let [only] = seqs[..] {
        return Ok(only);
    }
    for seq in seqs {
        if debits.record(seq)?.entity(EntityId::payout(payout.id)).is_some() {
            return Ok(seq);
        }
    }
    tracing::error!(payout = %payout.id, "the record that debits a payout is not found: it is sent last");
    Ok(Seq::MAX)
}

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
