//! What every request may need: put together once by `app.rs`, shared by both listeners.

use crate::api::plan::{BankRate, Official};
use crate::domain::ids::Id;
use crate::domain::machine::Domain;
use crate::domain::money::Usdt;
use crate::domain::samples::{Filter, Pair};
use crate::domain::settings::Settings;
use crate::domain::time::{DAY_MS, Timestamp};
use crate::outbound::Outbound;
use crate::rails::Outcomes;
use crate::rails::simulator::Simulator;
use crate::rates::{FeedHealth, Market, RateBoard, RateStore};
use crate::server::bank_feed::BankFeed;
use crate::server::banks::Banks;
use crate::server::desk::Desk;
use crate::server::directory::Directory;
use crate::server::meter::Meters;
use crate::server::sheets::Turns;
use crate::telemetry::spans::Spans;
use crate::webhooks::Webhooks;
use crate::webhooks::secret::Secret;
use actors::Engine;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A bank's word on the official rate is not repeated for longer than the rate holds: a day.
const OFFICIAL_AGE_MS_MAX: i64 = DAY_MS;

/// The parts of a running server.
pub struct Services {
    /// Money.
    pub engine: Engine<Domain>,
    /// Who may call.
    pub directory: Directory,
    /// Names in use.
    pub desk: Arc<Desk>,
    /// Prices.
    pub board: Arc<RateBoard>,
    /// The history of prices.
    pub rates: Arc<RateStore>,
    /// How the feeds of prices do.
    pub feeds: Arc<[FeedHealth]>,
    /// Whose word on the BCV rate stands beside the central bank's in quotes: a source of `[rates.bank]`, and no public one.
    pub bank_source: Option<String>,
    /// What of them conversions are charged by.
    pub market: Market,
    /// What the networks take for a USDT payout, in the order of [`crate::domain::crypto::address::Network`].
    pub network_fees: [Usdt; 4],
    /// The order in which tenants' sheets are changed.
    pub turns: Arc<Turns>,
    /// Banks.
    pub banks: Banks,
    /// Where they are refreshed from.
    pub bank_feed: Option<BankFeed>,
    /// The bank of test mode.
    pub simulator: Arc<Simulator>,
    /// How the outside reaches this server, without a slash at the end.
    pub base_url: String,
    /// The settings of a new tenant.
    pub tenant_defaults: Settings,
    /// The secret under which things are hashed that may be recognised but not known.
    pub mark_key: [u8; 32],
    /// Whether the outside may be spoken to.
    pub outbound: Outbound,
    /// The data directory, for copies of it.
    pub data: PathBuf,
    /// Deliveries of what happened.
    pub webhooks: Arc<Webhooks>,
    /// How requests are answered.
    pub meters: Arc<Meters>,
    /// What is told of each request to a collector of traces, if there is one.
    pub spans: Option<Arc<Spans>>,
    /// How banks answer.
    pub outcomes: Vec<Arc<Outcomes>>,
}

impl Services {
    /// The server's clock.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.engine.clock().wall_ms())
    }

    /// Whether the wall clock was set and nobody has confirmed that: what is decided in live mode now could bear a wrong time.
    pub fn clock_is_stepped(&self) -> bool {
        let clock = self.engine.clock();
        clock.wall_ms();
        clock.step_ms() != 0
    }

    /// The signing secret of a webhook endpoint: it derives from the service's key, so that it need not be stored.
    pub fn webhook_secret(&self, tenant: u64, webhook: Id, version: u32) -> Secret {
        Secret::new(self.keyed_hash(&[b"webhook", &tenant.to_be_bytes(), webhook.as_bytes(), &version.to_be_bytes()]))
    }

    /// What a new API key is made from: the service's key, its id, and `salt`, so that it need not be stored to be shown again to who brings the same.
    pub fn api_key(&self, id: Id, salt: &[u8]) -> [u8; 32] {
        self.keyed_hash(&[b"api key", id.as_bytes(), salt])
    }

    /// What the central bank and, if one is configured, a bank say of the dollar.
    pub fn official(&self, now: Timestamp) -> Official {
        let bank = match &self.bank_source {
            None => BankRate::NotConfigured,
            Some(source) => {
                let latest = self.board.latest(Pair::USD_VES, Filter { source: Some(source), ..Filter::default() }, now);
                latest.filter(|sample| now.since_ms(sample.fetched_at) <= OFFICIAL_AGE_MS_MAX).map_or(BankRate::Unavailable, BankRate::Says)
            }
        };
        Official { bcv: self.board.bcv_in_force(now), bank }
    }

    /// The first half of a keyed hash over `parts`.
    pub fn mark(&self, parts: &[&[u8]]) -> [u8; 16] {
        let hash = self.keyed_hash(parts);
        let mut half = [0; 16];
        half.copy_from_slice(&hash[..16]);
        half
    }

    /// A keyed hash over `parts`, each with its length before it.
    fn keyed_hash(&self, parts: &[&[u8]]) -> [u8; 32] {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.mark_key) else { unreachable!("HMAC takes keys of any length") };
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

/// The machine's clock.
pub fn system_now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_unix_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// The id of something new: later than every id before it in this process, also within a millisecond, because lists are in the order of ids.
pub fn fresh_id() -> Id {
    // The counter that makes UUIDv7 monotonic stands before the 16 bits that number an entity's operations.
    Id::from(uuid::Uuid::now_v7()).operation(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_ids_are_in_order_and_name_an_entity() {
        let ids: Vec<Id> = (0..10_000).map(|_| fresh_id()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
        assert!(ids.iter().all(|id| id.entity_and_operation() == (*id, 0)));
    }
}
