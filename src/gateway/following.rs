//! Tenants, keys, operators, banks and rates are decided in the first partition. Its leader sends what changed to the
//! leader of each other one, in the order of its log, where it is a record of that partition's own: so a partition
//! goes on, and starts, without the first.

use crate::cluster::{Inlet, Sending};
use crate::gateway::ask;
use crate::gateway::followers::Followers;
use crate::gateway::moving;
use crate::gateway::services::Services;
use crate::gateway::tenant_settings;
use crate::rates::Item;
use api::problem::Problem;
use domain::codec;
use domain::platform::beside::Beside;
use domain::platform::operators::OperatorAccount;
use domain::platform::{Followed, PlatformBook, PlatformChange};
use domain::record::Record;
use domain::resources::tenants::PlatformAsk;
use domain::values::ids::PLATFORM;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use wal::Reader;

/// Records of the log that are looked through at once, and changes that are sent together: a message is a body, and
/// those are bounded.
const LOOKED_AT: usize = 20_000;
const TOGETHER: usize = 200;
/// A partition that nothing concerns is told all the same after so many records where it is, as a start looks through
/// all that came since.
const MARKED_EVERY: u64 = 100_000;
/// Between two attempts.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

/// How far another partition is, as this process knows it.
#[derive(Clone, Copy, Default)]
pub struct Place {
    /// Up to which its book has followed.
    pub followed: u64,
    /// Up to which the log has been looked through for it.
    pub looked_at: u64,
}

/// Keeps the others up to date, for as long as this process leads.
pub fn start(services: &Arc<Services>) {
    let (Some(followers), Some(sending)) = (&services.callers.followers, &services.callers.sending) else {
        return;
    };
    for (partition, _) in &followers.others {
        let (partition, services, sending) = (*partition, Arc::clone(services), sending.clone());
        let followers = Arc::clone(followers);
        tokio::spawn(async move { keep(partition, &followers, &services, &sending).await });
    }
}

async fn keep(partition: u8, followers: &Followers, services: &Arc<Services>, sending: &Sending) {
    let (mut place, mut pause) = (None, PAUSES[0]);
    let mut newest = followers.newest.subscribe();
    loop {
        newest.mark_unchanged();
        match go_on(partition, &mut place, services, sending).await {
            Ok(looked_at) => {
                followers.reached(partition, looked_at);
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
        if place.followed > newest {
            let (at, end) = (place.followed, newest);
            return Err(format!(
                "it has followed up to record {at}, and this log ends at {end}: it is a shorter one"
            ));
        }
        let book = services.platform_book().await.map_err(|problem| problem.code.to_owned())?;
        let (of_log, at) = (Arc::clone(services), *place);
        let looked = tokio::task::spawn_blocking(move || {
            due(of_log.engine.reader(), at, (&book, newest), partition, || rates(&of_log))
        });
        let found = looked.await.map_err(|_| "a panic while the log was read".to_owned())??;
        place.looked_at = found.seq;
        if place.is_worth(&found) {
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

impl Place {
    /// Whether what was found is sent: not that there is nothing, or seldom.
    pub fn is_worth(&self, found: &Followed) -> bool {
        !found.is_empty() || found.seq - self.followed >= MARKED_EVERY
    }
}

/// What a partition is to follow next of this log, which ends at `newest`, and of the book, which is that of then or a
/// later one. Who has followed nothing yet gets all at once, as far as that is within a message; else record by record.
pub fn due(
    reader: &Reader,
    place: Place,
    (book, newest): (&PlatformBook, u64),
    partition: u8,
    rates: impl FnOnce() -> Result<Vec<Beside>, String>,
) -> Result<Followed, String> {
    let own = book.tenants.values().filter(|tenant| tenant.partition == partition);
    if place.followed == 0 && own.take(TOGETHER).count() < TOGETHER {
        return Ok(Followed { besides: rates()?, ..Followed::all(book, partition, newest) });
    }
    look_through(reader, (place.looked_at, newest), |found, seq, change| {
        found.add(seq, change, book, partition)
    })
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
    reader: &Reader,
    (after, newest): (u64, u64),
    mut add: impl FnMut(&mut Followed, u64, &PlatformChange),
) -> Result<Followed, String> {
    let mut found = Followed { seq: after, ..Followed::default() };
    let mut changes = 0;
    for stored in reader.records(after + 1, Some(newest)).take(LOOKED_AT) {
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

/// Takes over what the first partition's leader sent. The answer is how far this partition has followed; no bytes ask
/// for it, as at the beginning and after a failure: what is durable by then holds here too when it is answered.
async fn take(services: &Arc<Services>, sent: &[u8], end_approvals: EndApprovals) -> Result<u64, Problem> {
    if sent.is_empty() {
        let _turn = services.banks.turn.lock().await;
        services.banks.learn(&services.platform_book().await?.banks);
        tenant_settings::push_pending(services).await?;
    } else {
        let (after, followed) = codec::decode(sent).map_err(|error| {
            Problem::internal_error(format!("what partition 0 sent cannot be read: {error}"))
        })?;
        write(services, after, followed, end_approvals).await?;
    }
    Ok(services.platform_book().await?.followed)
}

/// Ends the calls that wait for a second person of who may ask for them no more, or might not in one of these states.
pub type EndApprovals =
    fn(Arc<Services>, Vec<Arc<OperatorAccount>>) -> Pin<Box<dyn Future<Output = Result<(), Problem>> + Send>>;

/// What [`take`] does with each message of the first partition's leader.
pub fn inlet(services: &Arc<Services>, end_approvals: EndApprovals) -> Inlet {
    let services = Arc::clone(services);
    Box::new(move |message| {
        let services = Arc::clone(&services);
        // It goes on when nobody waits any more.
        let taken = tokio::spawn(async move { take(&services, &message, end_approvals).await });
        Box::pin(async move { taken.await.map_err(|_| Problem::shutting_down())? })
    })
}

async fn write(
    services: &Arc<Services>,
    after: u64,
    followed: Followed,
    end_approvals: EndApprovals,
) -> Result<(), Problem> {
    if !followed.operators.is_empty() {
        // What an asker asked for ends with the right to ask for it: before that comes back, too.
        end_approvals(Arc::clone(services), Vec::new()).await?;
    }
    let turn = services.banks.turn.lock().await;
    let ask = PlatformAsk::Follow { after, followed };
    let changed = ask::platform(services, ask, None, None).await?;
    let Some(PlatformChange::Followed(followed)) = changed.change() else { return Ok(()) };
    if let Some(banks) = &followed.banks {
        services.banks.learn(banks);
    }
    drop(turn);
    if !followed.operators.is_empty() {
        end_approvals(Arc::clone(services), followed.operators.clone()).await?;
    }
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
            Beside::Unpinned(place) => prices.board.unpin(place),
            Beside::Fate { .. } => {}
        }
    }
    for tenant in &followed.tenants {
        let _turn = services.callers.turns.of(tenant.number).await;
        moving::settle(services, tenant.number).await?;
    }
    Ok(())
}
