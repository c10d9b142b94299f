//! The way through the log of a cluster of the entries that one machine keeps beside its log
//! (`docs/contract.md, 19.5`): the simulated bank's decisions, samples of rates, pins. And back:
//! what a machine that begins to lead finds there of others.
//!
//! One machine alone keeps all of it in its own stores, and nothing comes this way.

use crate::gateway::ask;
use crate::gateway::services::Services;
use crate::rails::BoxFuture;
use crate::rails::simulator::{AgreedBooks, BooksError, Decided};
use crate::rates::{Item, Pin, PinPlace, RateBoard, RateStore, RateStoreError, Sample};
use crate::store::history::{self, Unreadable};
use api::problem::Problem;
use domain::index::{self, Space};
use domain::platform::PlatformChange;
use domain::platform::beside::{Beside, pin_name};
use domain::resources::tenants::PlatformAsk;
use domain::values::ids::{Id, Mode, PLATFORM};
use domain::values::time::Timestamp;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::SetOnce;
use uuid::Uuid;
use wal::Reader;

const EVERY: Duration = Duration::from_secs(1);
const SAMPLES_MAX: usize = 1_000;

/// Has all machines agree, if there are others, before a store here has it.
pub async fn agree(services: &Services, entry: Beside) -> Result<(), Problem> {
    if services.cluster.is_none() {
        return Ok(());
    }
    ask::platform_patiently(services, || PlatformAsk::Beside(vec![entry.clone()])).await.map(drop)
}

#[derive(Clone, Default)]
pub struct Handed(Arc<Mutex<Vec<Arc<Sample>>>>);

impl Handed {
    pub fn take(&self, sample: &Arc<Sample>) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody takes them while the engine is full for minutes; the newest ones count.
        if waiting.len() >= SAMPLES_MAX {
            waiting.remove(0);
        }
        waiting.push(Arc::clone(sample));
    }

    pub async fn run(self, services: Arc<Services>) {
        loop {
            tokio::time::sleep(EVERY).await;
            let samples = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
            if samples.is_empty() {
                continue;
            }
            let ask = || PlatformAsk::Beside(samples.iter().cloned().map(Beside::Sample).collect());
            if let Err(problem) = ask::platform_patiently(&services, ask).await {
                tracing::warn!(
                    error = problem.code,
                    "samples of rates were not handed to the other machines"
                );
            }
        }
    }
}

/// The simulated bank's decisions in the log. They are read from the moment at which this machine leads,
/// because an engine that starts asks about what is overdue; what is decided before the server is whole is
/// written once it is.
pub struct Agreed {
    services: SetOnce<Weak<Services>>,
    reader: Reader,
}

impl Agreed {
    pub fn of(reader: Reader) -> Agreed {
        Agreed { services: SetOnce::new(), reader }
    }

    pub fn attach(&self, services: &Arc<Services>) {
        let _ = self.services.set(Arc::downgrade(services));
    }
}

impl AgreedBooks for Agreed {
    fn read(&self, operation: Uuid) -> Result<Option<Decided>, BooksError> {
        let key = index::name(PLATFORM, Space::Fate, &operation.simple().to_string());
        let found = self.reader.index_get(&key).map_err(|error| BooksError::because(error.to_string()))?;
        let unknown = |_| BooksError::because("an entry that is no decision");
        found.map(|bytes| bytes.try_into().map_err(unknown)).transpose()
    }

    fn write(&self, operation: Uuid, [kind, refusal]: Decided) -> BoxFuture<'_, Result<(), BooksError>> {
        let fate = Beside::Fate { operation: Id::from(operation), kind, refusal };
        Box::pin(async move {
            let stopped = || BooksError::because("the server has stopped");
            let services = self.services.wait().await.upgrade().ok_or_else(stopped)?;
            agree(&services, fate).await.map_err(|problem| BooksError::because(problem.code))
        })
    }
}

#[derive(Debug, thiserror::Error)]
pub enum NotFound {
    #[error(transparent)]
    Log(#[from] Unreadable),
    #[error(transparent)]
    Store(#[from] RateStoreError),
}

/// Puts on the board what other machines learned of rates since this one led last. Their samples
/// come back, to be kept when there is time.
pub async fn restore(
    reader: &Reader,
    board: &RateBoard,
    history: &RateStore,
    now: Timestamp,
) -> Result<Vec<Arc<Sample>>, NotFound> {
    let known = history.newest(now)?.iter().map(|sample| sample.fetched_at).max();
    let samples = samples_after(reader, known)?;
    let mut newest = HashMap::new();
    for sample in samples.iter().filter(|sample| sample.prices(Mode::Live)) {
        newest.insert((&sample.series, sample.value_date), sample);
    }
    newest.into_values().for_each(|sample| board.restore(Sample::clone(sample)));
    for (place, pin) in pins(reader)? {
        match pin.filter(|pin| pin.lasts(now)) {
            Some(pin) if board.pin_of(&place, now).is_none_or(|known| *known != *pin) => {
                history.keep(Item::Pin(Arc::clone(&pin))).await?;
                board.pin(Pin::clone(&pin));
            }
            Some(_) => {}
            None if board.pin_of(&place, now).is_some() => {
                history.keep(Item::Unpin(place.clone())).await?;
                board.unpin(&place);
            }
            None => {}
        }
    }
    Ok(samples)
}

fn samples_after(reader: &Reader, known: Option<Timestamp>) -> Result<Vec<Arc<Sample>>, Unreadable> {
    let after = known.map_or(0, |at| at.unix_ms().saturating_add(1).max(0));
    let from = index::name(PLATFORM, Space::Sampled, &index::sampled_at(after));
    let to = index::name(PLATFORM, Space::Sampled, "\u{7F}");
    let mut samples = Vec::new();
    for entry in reader.index_scan(&from, &to, false) {
        let (key, _) = entry?;
        let seq = key.last_chunk::<8>().map(|seq| u64::from_be_bytes(*seq)).unwrap_or_default();
        samples.extend(besides(reader, seq)?.into_iter().filter_map(|beside| match beside {
            Beside::Sample(sample) if known.is_none_or(|known| sample.fetched_at > known) => Some(sample),
            _ => None,
        }));
    }
    Ok(samples)
}

type LastWord = (PinPlace, Option<Arc<Pin>>);

fn pins(reader: &Reader) -> Result<Vec<LastWord>, Unreadable> {
    let from = index::name(PLATFORM, Space::Pinned, "");
    let to = index::name(PLATFORM, Space::Pinned, "\u{7F}");
    let mut pins = Vec::new();
    for entry in reader.index_scan(&from, &to, false) {
        let (key, seq) = entry?;
        for beside in besides(reader, history::seq(&seq)?)? {
            let place =
                beside.place().filter(|place| key == index::name(PLATFORM, Space::Pinned, &pin_name(place)));
            match (place, beside) {
                (Some(place), Beside::Pinned(pin)) => pins.push((place, Some(pin))),
                (Some(place), _) => pins.push((place, None)),
                (None, _) => {}
            }
        }
    }
    Ok(pins)
}

fn besides(reader: &Reader, seq: u64) -> Result<Vec<Beside>, Unreadable> {
    match history::record(reader, seq)?.record.platform.map(|change| *change) {
        Some(PlatformChange::Beside(entries)) => Ok(entries),
        Some(PlatformChange::Followed(followed)) => Ok(followed.besides),
        _ => Err(Unreadable(format!("record {seq} has nothing of a store beside the log"))),
    }
}
