//! The effects of a durable record, carried out in the outside world: calls of banks, and deliveries
//! that are woken. Results come back as commands like any other.
//!
//! The way of an effect to its rail and back belongs here. What a result means does not (the domain
//! decides), nor how a bank is called (`src/rails/`), nor who may call (`src/outbound.rs`).

mod claims;
pub mod rehearsed;
pub mod turns;

use crate::gateway::ask;
use crate::gateway::business::Business;
use crate::gateway::notices::Sought;
use crate::gateway::services::Services;
use crate::rails::Call;
use crate::rails::registry::Registry;
use crate::rates::Market;
use crate::webhooks::Webhooks;
use actors::{Clock, Effects};
use dashmap::DashMap;
use domain::bank_names::without_zeros;
use domain::cause::Cause;
use domain::entities::means::transfer_name;
use domain::index::Space;
use domain::machine::Domain;
use domain::machine::{Command, KeyedCommand};
use domain::rail::{Effect, How, Order, RailAnswer, RailReply};
use domain::record::Record;
use domain::trace::POLL_MS;
use domain::values::ids::{Id, Mode, is_live};
use domain::values::time::{Date, Timestamp};
use domain::values::venezuela::BankCode;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use turns::LastRead;

/// The longest that a call to the bank of test mode takes, with the wait before it: well below the first
/// look, so that no bank is asked about an order that is still on its way to it.
const CALL: Duration = Duration::from_millis(POLL_MS.unsigned_abs() / 2);

const USED: &str = "reference_already_used";

type Outcome = Pin<Box<dyn Future<Output = KeyedCommand> + Send>>;

fn at_once(command: Command) -> Outcome {
    Box::pin(std::future::ready(command.into()))
}

pub struct Outbox {
    rails: Arc<Registry>,
    market: Market,
    webhooks: Arc<Webhooks>,
    business: Arc<Business>,
    clock: Clock,
    /// The orders on their way to the bank of test mode, where a call is not made at once: on a machine
    /// that has to make sure that it leads.
    under_way: Option<UnderWay>,
    last_read: LastRead,
    services: Arc<OnceLock<Weak<Services>>>,
}

impl Outbox {
    pub fn new(
        rails: Arc<Registry>,
        market: Market,
        webhooks: Arc<Webhooks>,
        business: Arc<Business>,
        clock: Clock,
    ) -> Outbox {
        let under_way = rails.outbound.leads.is_some().then(UnderWay::default);
        let (last_read, services) = (LastRead::default(), Arc::default());
        Outbox { rails, market, webhooks, business, clock, under_way, last_read, services }
    }

    /// Lets it look up which transfers have paid. What finds one before is told nothing, and looks
    /// again.
    pub fn attach(&self, services: &Arc<Services>) {
        let _ = self.services.set(Arc::downgrade(services));
    }

    fn live(&self, tenant: u64, effect: Effect) -> Outcome {
        let (operation, how) = (effect.operation, effect.how);
        if let Order::SendUsdt { network, .. } = &effect.order
            && let Some(evm) = self.rails.network(*network)
        {
            // The worker of the network reads in the log what is owed, and says what became of it.
            evm.hear(tenant, operation.into(), how == How::Ask);
            let answer = if how == How::Offer { RailAnswer::NotAsked } else { RailAnswer::Waiting };
            return at_once(Command::RailReply(RailReply::plain(operation, how, answer)));
        }
        let Some(lane) = self.rails.lane(&effect.order).map(Arc::clone) else {
            let answer = if how == How::Ask { RailAnswer::NotAsked } else { RailAnswer::NotSent };
            return at_once(Command::RailReply(RailReply::plain(operation, how, answer)));
        };
        let services = self.services.get().and_then(Weak::upgrade);
        if how == How::Offer {
            let last_read = self.last_read.clone();
            return Box::pin(async move {
                turns::offer(services.as_deref(), &lane, tenant, &effect, &last_read).into()
            });
        }
        let Effect { entity, rail_id, at, order, .. } = effect;
        let call = Call { operation_id: operation.into(), at, tenant, order };
        Box::pin(async move {
            let (answer, said) = match how {
                How::Send | How::Offer => lane.send(&call).await,
                How::Ask => lane.ask(&call, rail_id.as_ref()).await,
            };
            let reply = RailReply { operation, how, answer, said };
            match services {
                Some(services) => claims::claimed(services, (tenant, entity), rail_id, reply).await.into(),
                None => Command::RailReply(reply).into(),
            }
        })
    }
}

impl Effects<Domain> for Outbox {
    fn perform(&self, tenant: u64, effect: Effect) -> Outcome {
        if let Order::PriceUsdt { currency } = effect.order {
            // Rates are the server's, whatever a tenant's clock says.
            let now = Timestamp::from_unix_ms(self.clock.wall_ms());
            let rate = self.market.rate(currency, Mode::of(tenant), now);
            return at_once(Command::Market(rate));
        }
        if is_live(tenant) {
            if matches!(effect.order, Order::FindTransfer { .. }) {
                let is_open = self.rails.outbound.is_open();
                let services = self.services.get().and_then(Weak::upgrade).filter(|_| is_open);
                let Effect { entity, operation, at, how, .. } = effect;
                let Some(services) = services else {
                    // Nobody is asked in a restored copy, so nobody answers: the poller comes again.
                    return at_once(Command::RailReply(RailReply::plain(
                        operation,
                        how,
                        RailAnswer::NotAsked,
                    )));
                };
                let sought = Sought { tenant, payment: entity.id, operation, how, at };
                return Box::pin(async move { sought.find(&services).await.into() });
            }
            return self.live(tenant, effect);
        }
        let (rail, outcomes) = (Arc::clone(&self.rails.test), Arc::clone(&self.rails.test_outcomes));
        let services = Arc::clone(&self.services);
        // Only where others may lead is it asked whether this machine does.
        let outbound = self.rails.outbound.leads.is_some().then(|| self.rails.outbound.clone());
        let Effect { entity, operation, rail_id: _, at, how, order } = effect;
        // Known before anything waits: what is asked next waits for it.
        let is_question = how == How::Ask;
        let sending = self.under_way.as_ref().filter(|_| !is_question).map(|orders| orders.begin(operation));
        let sent = self.under_way.as_ref().filter(|_| is_question).map(|orders| orders.ended(operation));
        Box::pin(async move {
            let began = Instant::now();
            let call = Call { operation_id: operation.into(), at, tenant, order };
            let calling = async {
                if let Some(sent) = sent {
                    sent.await;
                }
                if let Some(outbound) = &outbound {
                    outbound.until_it_leads().await;
                }
                match how {
                    How::Send | How::Offer => rail.send(&call).await,
                    How::Ask => rail.ask(&call).await,
                }
            };
            // An order that waited for too long is unknown until the bank is asked: it may be sent
            // again.
            let answer = tokio::time::timeout(CALL, calling).await.unwrap_or(RailAnswer::Silent);
            drop(sending);
            outcomes.note(how, &answer, began.elapsed());
            let reply = RailReply::plain(operation, how, answer);
            match &call.order {
                Order::FindTransfer { bank, date, reference, .. } => {
                    found(&services, (tenant, entity.id), (*bank, *date, reference), reply).await.into()
                }
                _ => Command::RailReply(reply).into(),
            }
        })
    }

    fn durable(&self, tenant: u64, record: &Record) {
        // A contradiction has no event of its tenant's.
        if record.cause == Cause::OperationContradicted {
            let entity = record.entities.first().map(|written| written.state.id().id);
            tracing::error!(
                tenant,
                entity = entity.map(tracing::field::display),
                "a bank says the opposite of what it had said of an operation; no money moved, and GET \
                 /admin/operations lists it"
            );
            return;
        }
        self.webhooks.durable(tenant, record);
        self.business.note(is_live(tenant), record);
    }
}

/// Takes the name of the transfer that was found, by the bank's reference, for this payment; or
/// refuses it, if it has paid for something else (`docs/contract.md, 5.8`).
///
/// The name is held until the payment is decided. Whoever holds it next waits for the records of
/// the turns until then before the index is read, so nobody finds it free in between.
async fn found(
    services: &OnceLock<Weak<Services>>,
    (tenant, payment): (u64, Id),
    (bank, date, given): (BankCode, Date, &str),
    reply: RailReply,
) -> Command {
    let RailAnswer::Done { reference: Some(reference) } = &reply.answer else {
        return Command::RailReply(reply);
    };
    let full = without_zeros(reference);
    if full == given {
        // The transfer has its name from the beginning.
        return Command::RailReply(reply);
    }
    let name = transfer_name(bank, date, full);
    let instead = |answer| Command::RailReply(RailReply::plain(reply.operation, reply.how, answer));
    let Some(services) = services.get().and_then(Weak::upgrade) else { return instead(RailAnswer::Silent) };
    let held = services.names.reservations.hold_name(tenant, Space::Transfer, &name).await;
    match ask::named_now(&services, tenant, Space::Transfer, &name, true).await {
        Ok(Some(other)) if other != payment => instead(RailAnswer::Refused { code: USED.to_owned() }),
        Ok(_) => Command::Found(reply, Box::new(held)),
        Err(problem) => {
            let operation = reply.operation;
            tracing::error!(%problem, error = problem.private_message(), %operation, "the index does not \
                say whether a transfer has paid for something already");
            instead(RailAnswer::Silent)
        }
    }
}

/// The orders on their way to the bank of test mode. A machine of a cluster makes sure that it leads
/// before each call, and test clocks move over a minute at once: a question could reach the bank
/// before the order that it is about, and have that sent again. So a question waits until the order
/// that was begun before it has been answered or given up. Clones are the same orders.
#[derive(Clone, Default)]
struct UnderWay {
    orders: Arc<DashMap<Id, watch::Receiver<()>>>,
}

impl UnderWay {
    fn begin(&self, operation: Id) -> Sending {
        let (ended, until) = watch::channel(());
        self.orders.insert(operation, until);
        Sending { under_way: self.clone(), operation, ended }
    }

    fn ended(&self, operation: Id) -> impl Future<Output = ()> + Send + use<> {
        let until = self.orders.get(&operation).map(|until| until.value().clone());
        async move {
            if let Some(mut until) = until {
                // The sender says nothing; it goes when the order has ended.
                let _ = until.changed().await;
            }
        }
    }
}

struct Sending {
    under_way: UnderWay,
    operation: Id,
    ended: watch::Sender<()>,
}

impl Drop for Sending {
    fn drop(&mut self) {
        let is_own = |_: &Id, until: &watch::Receiver<()>| until.same_channel(&self.ended.subscribe());
        self.under_way.orders.remove_if(&self.operation, is_own);
    }
}

#[cfg(test)]
mod tests;
