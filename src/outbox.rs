//! What happens outside after a record is durable: bank calls. Results come back as commands like any other.

use crate::domain::bank::{Answer, Effect, Heard, How};
use crate::domain::machine::{Ask, Command, Domain};
use crate::domain::platform::is_live;
use crate::outbound::Outbound;
use crate::rails::simulator::Simulator;
use crate::rails::{Call, Rail};
use actors::Effects;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// The banks by mode.
pub struct Outbox {
    simulator: Arc<Simulator>,
    outbound: Outbound,
}

impl Outbox {
    /// Test mode speaks to the simulator; live mode has no bank yet, and its rules refuse what would need one.
    pub fn new(simulator: Arc<Simulator>) -> Outbox {
        Outbox { simulator, outbound: Outbound::open() }
    }

    /// The same, as long as this switch lets it.
    pub fn within(self, outbound: Outbound) -> Outbox {
        Outbox { outbound, ..self }
    }
}

impl Effects<Domain> for Outbox {
    fn perform(&self, tenant: u64, effect: Effect) -> Pin<Box<dyn Future<Output = Command> + Send>> {
        // Nobody is asked in a past world, so nobody answers: the poller comes again.
        let shut = !self.outbound.allows(tenant);
        let rail: Option<Arc<dyn Rail>> = if shut || is_live(tenant) { None } else { Some(Arc::clone(&self.simulator) as Arc<dyn Rail>) };
        Box::pin(async move {
            let Effect { entity: _, operation, at, how, order } = effect;
            let answer = match rail {
                None => Answer::Silent,
                Some(rail) => {
                    let call = Call { operation_id: operation.into(), at, tenant, order };
                    match how {
                        How::Send => rail.send(&call).await,
                        How::Ask => rail.ask(&call).await,
                    }
                }
            };
            Ask::Heard(Heard { operation, how, answer }).into()
        })
    }
}
