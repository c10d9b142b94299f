//! What every request may need: put together once by `app.rs`, shared by both listeners.

use crate::gateway::bank_feed::BankFeed;
use crate::gateway::banks::Banks;
use crate::gateway::directory::Directory;
use crate::gateway::disk::Disk;
use crate::gateway::meter::Meters;
use crate::gateway::reservations::Reservations;
use crate::gateway::shares::Shares;
use crate::gateway::tenant_settings::Turns;
use crate::outbound::Outbound;
use crate::rails::Outcomes;
use crate::rails::simulator::Simulator;
use crate::rates::{FeedHealth, Market, RateBoard, RateStore};
use crate::store::read_pool::ReadPool;
use crate::telemetry::spans::Spans;
use crate::webhooks::Webhooks;
use crate::webhooks::secret::Secret;
use actors::Engine;
use api::plan::{BankRate, Official};
use api::problem::Problem;
use dashmap::DashMap;
use domain::machine::Domain;
use domain::platform::is_live;
use domain::platform::settings::Settings;
use domain::resources::rates::samples::{Filter, Pair};
use domain::values::ids::Id;
use domain::values::money::Usdt;
use domain::values::time::{DAY_MS, Timestamp};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};
use uuid::Uuid;

/// A bank's word on the official rate is not repeated for longer than the rate holds: a day.
const OFFICIAL_AGE_MS_MAX: i64 = DAY_MS;

/// The parts of a running server.
pub struct Services {
    /// Money.
    pub engine: Engine<Domain>,
    /// Who may call.
    pub directory: Directory,
    /// Names in use.
    pub reservations: Arc<Reservations>,
    /// Prices.
    pub board: Arc<RateBoard>,
    /// The history of prices.
    pub rates: Arc<RateStore>,
    /// How the feeds of prices do.
    pub feeds: Arc<[FeedHealth]>,
    /// Whose word on the BCV rate stands beside the central bank's in quotes: a source of
    /// `[rates.bank]`, and no public one.
    pub bank_source: Option<String>,
    /// What of them conversions are charged by.
    pub market: Market,
    /// What the networks take for a USDT payout, in the order of
    /// [`domain::resources::crypto::address::Network`].
    pub network_fees: [Usdt; 4],
    /// The ids of new things.
    pub ids: Ids,
    /// The order in which tenants' tenant settings are changed.
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
    /// The same for cards: no backup, checkpoint or export has it.
    pub card_key: [u8; 32],
    /// Whether the outside may be spoken to.
    pub outbound: Outbound,
    /// The data directory, for copies of it.
    pub data: PathBuf,
    /// The room on its disk.
    pub disk: Arc<Disk>,
    /// What each tenant may have beside the others.
    pub shares: Shares,
    /// Threads for reads that take long.
    pub read_pool: ReadPool,
    /// Deliveries of what happened.
    pub webhooks: Arc<Webhooks>,
    /// How requests are answered.
    pub meters: Arc<Meters>,
    /// What is told of each request to a collector of traces, if there is one.
    pub spans: Option<Arc<Spans>>,
    /// How banks answer.
    pub outcomes: Vec<Arc<Outcomes>>,
    /// An order that no bank has answered for so long is put before an operator.
    pub unresolved_after_ms: i64,
    /// How many of those there were when they were counted last.
    pub unresolved: AtomicU64,
}

/// The reason why no writes are taken.
#[derive(Debug, thiserror::Error)]
pub enum NotReady {
    /// The engine takes none.
    #[error(transparent)]
    Engine(#[from] actors::NotReady),
    /// The disk has too little room left.
    #[error("the disk is nearly full")]
    DiskShort,
}

impl Services {
    /// The server's clock.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.engine.clock().wall_ms())
    }

    /// Whether the wall clock was set and nobody has confirmed that: what is decided in live mode
    /// now could bear a wrong time.
    fn clock_is_stepped(&self) -> bool {
        let clock = self.engine.clock();
        clock.wall_ms();
        clock.step_ms() != 0
    }

    /// Whether money of a tenant in a mode may be decided on now: not live money while the clock is
    /// in doubt.
    pub fn may_decide(&self, tenant: u64) -> Result<(), Problem> {
        if is_live(tenant) && self.clock_is_stepped() { Err(Problem::clock_stepped()) } else { Ok(()) }
    }

    /// The id of something new of a tenant in a mode, or of the platform.
    pub fn fresh_id(&self, tenant: u64) -> Id {
        self.ids.fresh(tenant, self.now())
    }

    /// Whether writes are taken; if not, why.
    pub fn ready(&self) -> Result<(), NotReady> {
        self.engine.ready()?;
        if self.disk.is_short() { Err(NotReady::DiskShort) } else { Ok(()) }
    }

    /// The signing secret of a webhook endpoint: it derives from the service's key, so that it need
    /// not be stored.
    pub fn webhook_secret(&self, tenant: u64, webhook: Id, version: u32) -> Secret {
        Secret::new(self.keyed_hash(&[
            b"webhook",
            &tenant.to_be_bytes(),
            webhook.as_bytes(),
            &version.to_be_bytes(),
        ]))
    }

    /// What a new API key is made from: the service's key, its id, and `salt`, so that it need not
    /// be stored to be shown again to who brings the same.
    pub fn api_key(&self, id: Id, salt: &[u8]) -> [u8; 32] {
        self.keyed_hash(&[b"api key", id.as_bytes(), salt])
    }

    /// What the central bank and, if one is configured, a bank say of the dollar.
    pub fn official(&self, now: Timestamp) -> Official {
        let bank = match &self.bank_source {
            None => BankRate::NotConfigured,
            Some(source) => {
                let latest = self.board.latest(
                    Pair::USD_VES,
                    Filter { source: Some(source), ..Filter::default() },
                    now,
                );
                latest
                    .filter(|sample| now.since_ms(sample.fetched_at) <= OFFICIAL_AGE_MS_MAX)
                    .map_or(BankRate::Unavailable, BankRate::Says)
            }
        };
        Official { bcv: self.board.bcv_in_force(now), bank }
    }

    /// The first half of a keyed hash over `parts`.
    pub fn mark(&self, parts: &[&[u8]]) -> [u8; 16] {
        half(keyed_hash(&self.mark_key, parts))
    }

    /// The same for what can be tried out by whoever has the key, because a card is in it.
    pub fn card_mark(&self, parts: &[&[u8]]) -> [u8; 16] {
        half(keyed_hash(&self.card_key, parts))
    }

    fn keyed_hash(&self, parts: &[&[u8]]) -> [u8; 32] {
        keyed_hash(&self.mark_key, parts)
    }
}

/// A keyed hash over `parts`, each with its length before it.
fn keyed_hash(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        unreachable!("HMAC takes keys of any length")
    };
    for part in parts {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn half(hash: [u8; 32]) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&hash[..16]);
    half
}

/// The machine's clock.
pub fn system_now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_unix_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// An id that says nothing, not even its time: of what is shown to whoever knows its name.
pub fn random_id() -> Id {
    Id::from(Uuid::new_v4())
}

/// The ids of new things (UUIDv7), which lists are in the order of.
///
/// Each is later than the ones before it of the same tenant, also within a millisecond. Ids begin
/// anew at random in every millisecond and go on in random steps, each tenant's apart from the
/// others': so an id tells nothing of its neighbours, nor of how many there are.
#[derive(Default)]
pub struct Ids(DashMap<u64, NewestId>);

/// The newest id of a tenant: its millisecond and its random bits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct NewestId {
    ms: i64,
    bits: u64,
}

/// The random bits of an id between its time and the 16 bits that number its operations.
const RANDOM_BITS: u32 = 58;
/// The first id of a millisecond leaves half of the room to those after it.
const START_BITS: u32 = RANDOM_BITS - 1;
/// A step is up to so many bits long: thousands fit in a millisecond, and none is guessed.
const STEP_BITS: u32 = 44;

impl Ids {
    /// The id of something new of a tenant.
    pub fn fresh(&self, tenant: u64, now: Timestamp) -> Id {
        self.next(tenant, now.unix_ms(), random_bits())
    }

    fn next(&self, tenant: u64, now_ms: i64, random: u64) -> Id {
        let mut newest = self.0.entry(tenant).or_default();
        let start = |ms| NewestId { ms, bits: random >> (64 - START_BITS) };
        *newest = match newest.bits + 1 + (random >> (64 - STEP_BITS)) {
            _ if now_ms > newest.ms => start(now_ms),
            bits if bits >> RANDOM_BITS == 0 => NewestId { bits, ..*newest },
            // The millisecond is full, or the clock stands still.
            _ => start(newest.ms + 1),
        };
        Id::random(newest.ms, newest.bits)
    }
}

/// 64 random bits, from the process's generator.
fn random_bits() -> u64 {
    // The bits in which a version and a variant stand are among the others.
    let (high, low) = Uuid::new_v4().as_u64_pair();
    high.rotate_left(32) ^ low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_ids_are_in_order_and_name_an_entity() {
        let ids = Ids::default();
        let made: Vec<Id> = (0..10_000).map(|_| ids.fresh(2, system_now())).collect();
        assert!(made.is_sorted_by(|a, b| a < b));
        assert!(
            made.iter()
                .all(|id| id.entity_and_operation() == (*id, 0) && Uuid::from(*id).get_version_num() == 7)
        );
    }

    #[test]
    fn a_full_millisecond_and_a_clock_that_goes_back_keep_the_order() {
        let ids = Ids::default();
        let largest: Vec<Id> = (0..100_000).map(|_| ids.next(2, 7, u64::MAX)).collect();
        assert!(largest.is_sorted_by(|a, b| a < b));
        assert!(ids.next(2, 1, 0) > largest[99_999]);
    }

    #[test]
    fn the_ids_of_a_tenant_say_nothing_of_the_others() {
        let ids = Ids::default();
        let (one, start) = (ids.next(2, 7, 1 << 60), 1 << 60 >> (64 - START_BITS));
        for _ in 0..1_000 {
            ids.next(3, 7, u64::MAX);
        }
        assert_eq!(ids.next(2, 7, 1 << 60), Id::random(7, start + 1 + (1 << 60 >> (64 - STEP_BITS))));
        assert_eq!(one, Id::random(7, start));
    }

    #[test]
    fn a_random_id_says_nothing() {
        let (one, other) = (Uuid::from(random_id()), Uuid::from(random_id()));
        assert!(one != other && one.get_version_num() == 4 && other.get_version_num() == 4);
    }
}
