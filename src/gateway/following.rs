//! Tenants, keys, operators, banks and rates are decided in the first partition. Its leader sends what changed to the
//! leader of each other one, in the order of its log, where it is a record of that partition's own: so a partition
//! goes on, and starts, without the first.
//!
//! A change holds when it is answered: the answer waits until the partitions that it concerns have followed, for a
//! while.

use crate::cluster::{Inlet, Sending};
use crate::gateway::ask;
use crate::gateway::keys::Directory;
use crate::gateway::services::Services;
use crate::gateway::tenant_settings;
use crate::rates::Item;
use api::problem::Problem;
use domain::codec;
use domain::platform::PlatformChange;
use domain::platform::beside::Beside;
use domain::platform::following::Followed;
use domain::record::Record;
use domain::resources::tenants::PlatformAsk;
use domain::values::ids::PLATFORM;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Records of the log that are looked through at once, and changes that are sent together: within the bound of a body.
const LOOKED_AT: usize = 20_000;
const TOGETHER: usize = 1_000;
/// A partition that nothing concerns is told all the same after so many records where it is, as a start looks through
/// all that came since.
const TOLD_EVERY: u64 = 100_000;
/// Between two attempts.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

/// What of a message is not kept for longer than this process.
#[derive(Default)]
struct Place {
    /// Up to which the other partition's book has followed.
    followed: u64,
    /// Up to which the log has been looked through.
    looked_at: u64,
}

/// The partitions that follow this one.
pub struct Followers {
    others: Vec<(u8, watch::Sender<u64>)>,
    newest: watch::Sender<u64>,
    patience: Duration,
}

impl Followers {
    /// Of a deployment of so many partitions.
    pub fn of(partitions: u8, patience: Duration) -> Followers {
        let others = (1..partitions).map(|number| (number, watch::Sender::new(0))).collect();
        Followers { others, newest: watch::Sender::new(0), patience }
    }

    pub fn count(&self) -> u8 {
        u8::try_from(self.others.len() + 1).unwrap_or(u8::MAX)
    }

    /// After a record of the platform.
    pub async fn until_followed(&self, seq: u64, change: &PlatformChange, directory: &Directory) {
        self.newest.send_if_modified(|newest| {
            let is_newer = seq > *newest;
            *newest = seq.max(*newest);
            is_newer
        });
        let of = |number: u32| directory.tenant_numbered(number).map_or(0, |tenant| tenant.partition);
        let concerned = match change {
            PlatformChange::Tenant(tenant) | PlatformChange::Opened { tenant, .. } => Some(tenant.partition),
            PlatformChange::Key(key) => Some(of(key.tenant)),
            PlatformChange::LiveAsked(number) => Some(of(*number)),
            PlatformChange::Operator(_) | PlatformChange::Bank(..) | PlatformChange::Banks(_) => None,
            PlatformChange::Beside(entries) if entries.iter().any(|entry| entry.place().is_some()) => None,
            _ => return,
        };
        let concerned = self.others.iter().filter(|(number, _)| concerned.is_none_or(|of| of == *number));
        let all = async {
            for (_, reached) in concerned {
                let _ = reached.subscribe().wait_for(|reached| *reached >= seq).await;
            }
        };
        let _ = tokio::time::timeout(self.patience, all).await;
    }

    /// Keeps the others up to date, for as long as this process leads.
    pub fn start(services: &Arc<Services>, sending: &Sending) {
        let Some(followers) = &services.callers.followers else { return };
        for at in 0..followers.others.len() {
            let (services, sending) = (Arc::clone(services), sending.clone());
            let followers = Arc::clone(followers);
            tokio::spawn(async move { followers.keep(at, &services, &sending).await });
        }
    }

    async fn keep(&self, at: usize, services: &Arc<Services>, sending: &Sending) {
        let (partition, reached) = (self.others[at].0, &self.others[at].1);
        let (mut place, mut pause) = (None, PAUSES[0]);
        let mut newest = self.newest.subscribe();
        loop {
            newest.mark_unchanged();
            match go_on(partition, &mut place, services, sending).await {
                Ok(looked_at) => {
                    reached.send_replace(looked_at);
                    pause = PAUSES[0];
                    // Also what a start did before this began.
                    let _ = tokio::time::timeout(PAUSES[1], newest.changed()).await;
                }
                Err(why) => {
                    if pause == PAUSES[1] {
                        tracing::warn!(
                            partition,
                            why,
                            "a partition does not follow changes of accounts and keys"
                        );
                    }
                    place = None;
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSES[1]);
                }
            }
        }
    }
}

/// Sends what came since, and says up to which record of this log the partition has all.
async fn go_on(
    partition: u8,
    place: &mut Option<Place>,
    services: &Arc<Services>,
    sending: &Sending,
) -> Result<u64, String> {
    if place.is_none() {
        let followed = sending.send(partition, Vec::new()).await?;
        *place = Some(Place { followed, looked_at: followed });
    }
    let place = place.get_or_insert_default();
    loop {
        let newest = services.engine.reader().last_seq();
        let book = services.platform_book().await.map_err(|problem| problem.code.to_owned())?;
        let found = if place.followed == 0 {
            Followed { besides: rates(services)?, ..Followed::all(&book, partition, newest) }
        } else {
            let (services, after) = (Arc::clone(services), place.looked_at);
            let looked = tokio::task::spawn_blocking(move || {
                look_through(&services, (after, newest), |found, seq, change| {
                    found.add(seq, change, &book, partition)
                })
            });
            looked.await.map_err(|_| "a panic while the log was read".to_owned())??
        };
        place.looked_at = found.seq;
        if !found.is_empty() || found.seq - place.followed >= TOLD_EVERY {
            let (after, seq) = (place.followed, found.seq);
            place.followed = sending.send(partition, codec::encode_newest(&(after, found))).await?;
            if place.followed != seq {
                return Err(format!("it is at record {} of partition 0, not at {seq}", place.followed));
            }
        }
        if place.looked_at >= newest {
            return Ok(place.looked_at);
        }
    }
}

/// Those that are in force.
fn rates(services: &Services) -> Result<Vec<Beside>, String> {
    let (prices, now) = (&services.prices, services.now());
    let newest = prices.history.newest(now).map_err(|error| error.to_string())?;
    let samples = newest.into_iter().map(|sample| Beside::Sample(Arc::new(sample)));
    Ok(samples.chain(prices.board.pins(now).into_iter().map(Beside::Pinned)).collect())
}

/// The changes after a record, up to the last one that was looked at. None is later than `newest`, which the book was
/// taken after: it would not know the tenant of a newer key, nor a newer edit of a bank, and nobody would look again.
fn look_through(
    services: &Services,
    (after, newest): (u64, u64),
    mut add: impl FnMut(&mut Followed, u64, &PlatformChange),
) -> Result<Followed, String> {
    let mut found = Followed { seq: after, ..Followed::default() };
    let mut changes = 0;
    for stored in services.engine.reader().records(after + 1, Some(newest)).take(LOOKED_AT) {
        let stored = stored.map_err(|error| error.to_string())?;
        let seq = stored.seq;
        if stored.tenant == PLATFORM {
            let record: Record = codec::decode(&stored.payload).map_err(|error| error.to_string())?;
            if let Some(change) = record.platform.as_deref() {
                add(&mut found, seq, change);
                changes += 1;
            }
        }
        found.seq = seq;
        if changes == TOGETHER {
            break;
        }
    }
    Ok(found)
}

/// Takes over what the first partition's leader sent. The answer is how far this partition has followed; no bytes only
/// ask for it.
async fn take(services: &Arc<Services>, sent: &[u8]) -> Result<u64, Problem> {
    if !sent.is_empty() {
        let (after, followed) = codec::decode(sent).map_err(|error| {
            Problem::internal_error(format!("what partition 0 sent cannot be read: {error}"))
        })?;
        write(services, after, followed).await?;
    }
    Ok(services.platform_book().await?.followed)
}

/// What [`take`] does with each message of the first partition's leader.
pub fn inlet(services: &Arc<Services>) -> Inlet {
    let services = Arc::clone(services);
    Box::new(move |message| {
        let services = Arc::clone(&services);
        Box::pin(async move { take(&services, &message).await })
    })
}

async fn write(services: &Arc<Services>, after: u64, followed: Followed) -> Result<(), Problem> {
    let turn = services.banks.turn.lock().await;
    let ask = PlatformAsk::Follow { after, followed };
    let changed = ask::platform(services, ask, None, None).await?;
    let Some(PlatformChange::Followed(followed)) = changed.change() else { return Ok(()) };
    if let Some(banks) = &followed.banks {
        services.banks.learn(banks);
    }
    drop(turn);
    let prices = &services.prices;
    let _pinning = prices.pinning.lock().await;
    for beside in &followed.besides {
        let kept = match beside {
            Beside::Sample(sample) => Some(Item::Sample(Arc::clone(sample))),
            Beside::Pinned(pin) => Some(Item::Pin(Arc::clone(pin))),
            Beside::Unpinned(place) => Some(Item::Unpin(place.clone())),
            Beside::Fate { .. } => None,
        };
        if let Some(item) = kept {
            prices.history.keep(item).await.map_err(|error| Problem::internal_error(error.to_string()))?;
        }
        match beside {
            Beside::Sample(sample) => prices.board.restore((**sample).clone()),
            Beside::Pinned(pin) => prices.board.pin((**pin).clone()),
            Beside::Unpinned(place) => drop(prices.board.unpin(place)),
            Beside::Fate { .. } => {}
        }
    }
    for tenant in &followed.tenants {
        let _turn = services.callers.turns.of(tenant.number).await;
        tenant_settings::push_tenant_settings(services, tenant.number).await?;
    }
    Ok(())
}
