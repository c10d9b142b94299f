//! What happens outside after a record is durable: bank calls, and webhooks that hear of it.
//! Results come back as commands like any other.

use crate::outbound::Outbound;
use crate::rails::{Call, Outcomes, Rail};
use crate::rates::Market;
use crate::webhooks::Webhooks;
use actors::{Clock, Effects};
use domain::bank::{Answer, Effect, Heard, How, Order, POLL_MS};
use domain::commands::{Ask, Command};
use domain::machine::Domain;
use domain::platform::is_live;
use domain::record::Record;
use domain::time::Timestamp;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest that a bank is listened to: well below the first look, so that no bank is asked
/// about an order that is still on its way to it.
const CALL: Duration = Duration::from_millis(POLL_MS.unsigned_abs() / 2);

/// The banks by mode, and the market.
pub struct Outbox {
    test_bank: Arc<dyn Rail>,
    outbound: Outbound,
    market: Market,
    webhooks: Arc<Webhooks>,
    outcomes: Arc<Outcomes>,
    clock: Clock,
}

impl Outbox {
    /// Test mode speaks to this bank; live mode has none yet, and its rules refuse what would need
    /// one. Rates are looked up by `clock`, the engine's.
    pub fn new(test_bank: Arc<dyn Rail>, market: Market, webhooks: Arc<Webhooks>, clock: Clock) -> Outbox {
        let outcomes = Outcomes::of(test_bank.name());
        Outbox {
            test_bank,
            outbound: Outbound::open(),
            market,
            webhooks,
            outcomes: Arc::new(outcomes),
            clock,
        }
    }

    /// How the bank answers.
    pub fn outcomes(&self) -> Arc<Outcomes> {
        Arc::clone(&self.outcomes)
    }

    /// The same, as long as this switch lets it.
    pub fn within(self, outbound: Outbound) -> Outbox {
        Outbox { outbound, ..self }
    }
}

impl Effects<Domain> for Outbox {
    fn perform(&self, tenant: u64, effect: Effect) -> Pin<Box<dyn Future<Output = Command> + Send>> {
        if let Order::PriceUsdt { currency } = effect.order {
            // Rates are the server's, whatever a tenant's clock says.
            return Box::pin(std::future::ready(
                Ask::Market(self.market.rate(currency, Timestamp::from_unix_ms(self.clock.wall_ms()))).into(),
            ));
        }
        // Nobody is asked in a past world, so nobody answers: the poller comes again.
        let shut = !self.outbound.allows(tenant);
        let rail: Option<Arc<dyn Rail>> =
            if shut || is_live(tenant) { None } else { Some(Arc::clone(&self.test_bank)) };
        let outcomes = Arc::clone(&self.outcomes);
        Box::pin(async move {
            let Effect { entity: _, operation, at, how, order } = effect;
            let answer = match rail {
                None => Answer::Silent,
                Some(rail) => {
                    let began = Instant::now();
                    let call = Call { operation_id: operation.into(), at, tenant, order };
                    let answering = match how {
                        How::Send => rail.send(&call),
                        How::Ask => rail.ask(&call),
                    };
                    let answer = tokio::time::timeout(CALL, answering).await.unwrap_or(Answer::Silent);
                    outcomes.note(how, &answer, began.elapsed());
                    answer
                }
            };
            Ask::Heard(Heard { operation, how, answer }).into()
        })
    }

    fn durable(&self, tenant: u64, record: &Record) {
        self.webhooks.durable(tenant, record);
    }
}
