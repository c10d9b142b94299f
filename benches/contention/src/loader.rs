//! The callers and what they do: a closed loop (each asks again when it was answered), an open one
//! (debits are due at a fixed rate, whoever is late), and a storm, whose every call is noted for the
//! judge while somebody else kills the server.
//!
//! `benches/load` includes this file for the callers in the engine's own process: nothing of a peer
//! belongs here.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// The longest latency that is told apart, in microseconds.
const LATENCY_US_MAX: u64 = 60_000_000;
/// Histograms that the callers share, so that few meet at one.
const SHARDS: usize = 8;
/// The time after which nobody waits for an answer any more.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time between two tries after an outcome that is not known.
const RETRY: Duration = Duration::from_millis(20);
/// The time between two turns of whoever makes debits due.
const TURN: Duration = Duration::from_micros(100);
/// Refusals that a caller of a storm asks for before it ends: the balance is used up.
const REFUSALS: usize = 4;

/// A future as objects return it.
pub type Soon<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What became of a debit, as far as its caller knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// It is durable.
    Done,
    /// There was too little money, and nothing happened.
    Refused,
    /// Nobody knows: the connection broke, or the answer made no sense.
    Unknown,
}

/// Somebody who debits the balance, one call at a time.
pub trait Caller: Send {
    /// Debits so many minor units under each of the ids; the answers are in their order. An id that
    /// was debited before is `Done` again and not debited twice.
    fn debit<'a>(&'a mut self, ids: &'a [u64], minor: i64) -> Soon<'a, Vec<Answer>>;

    /// Reads the balance; nothing where it could not be read.
    fn balance(&mut self) -> Soon<'_, Option<i64>>;
}

/// Callers.
pub type Callers = Vec<Box<dyn Caller>>;

/// A load whose speed is measured.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Load {
    /// Debits that a caller asks for at once.
    pub per_call: usize,
    /// The minor units of a debit.
    pub minor: i64,
    /// The id of the first debit; those after it count on.
    pub first_id: u64,
    /// The milliseconds before what counts.
    pub warm_up_ms: u64,
    /// The milliseconds that count.
    pub time_ms: u64,
    /// Debits that become due in a second; without it the loop is closed.
    pub rate: Option<u64>,
}

/// What a load has seen.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Seen {
    /// Debits that were answered `Done` in the time that counts.
    pub done: u64,
    /// The milliseconds that counted.
    pub time_ms: u64,
    /// Debits that were answered `Done` at all.
    pub done_in_all: u64,
    /// Debits that were not: in this load there is money enough.
    pub failed: u64,
    /// Microseconds from when a call was made, in an open loop from when it was due: the median, and
    /// what one of a hundred and of a thousand was above.
    pub us: [u64; 3],
}

/// One call of a history. Instants are nanoseconds of the machine's monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// When it was made.
    pub start: u64,
    /// When its answer came; `u64::MAX` if none did.
    pub end: u64,
    /// What it was, and what it was answered.
    pub what: What,
}

/// What a call was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// A debit under this id.
    Debit(u64, Answer),
    /// A read of the balance, in minor units.
    Read(i64),
}

/// Whoever notes the calls of a storm.
pub trait Notes: Send + Sync {
    /// A debit is about to be asked for.
    fn asked(&self, id: u64, at: u64);
    /// A call has its answer.
    fn answered(&self, call: Call);
}

/// A load whose every call is noted, until the balance is used up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Storm {
    /// Debits that a caller asks for at once.
    pub per_call: usize,
    /// The minor units of a debit.
    pub minor: i64,
    /// The id of the first debit; those after it count on.
    pub first_id: u64,
    /// Debits that are asked for at most.
    pub asks: u64,
    /// Debits that all callers together ask for in a second at most.
    pub pace: u64,
    /// The milliseconds after which it ends whatever happens.
    pub time_ms: u64,
    /// Callers, of all, that read the balance instead.
    pub readers: usize,
    /// Debits of an earlier storm whose outcome is not known, and when they were first asked for.
    pub again: Vec<(u64, u64)>,
}

/// Nanoseconds of a clock that all processes of the machine share and that nobody sets.
pub fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the callers of a load have in common.
struct Shared {
    load: Load,
    begin: Instant,
    end: Instant,
    next: AtomicU64,
    due: Semaphore,
    done: AtomicU64,
    done_in_all: AtomicU64,
    failed: AtomicU64,
    latency: Vec<Mutex<Histogram<u64>>>,
}

/// Runs a load.
pub async fn run(callers: Callers, load: Load) -> Result<Seen, String> {
    let begin = Instant::now() + Duration::from_millis(load.warm_up_ms);
    let end = begin + Duration::from_millis(load.time_ms);
    let histogram = || Histogram::new_with_bounds(1, LATENCY_US_MAX, 3).map(Mutex::new);
    let latency =
        (0..SHARDS).map(|_| histogram()).collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let zero = || AtomicU64::new(0);
    let shared = Arc::new(Shared {
        load,
        begin,
        end,
        next: zero(),
        due: Semaphore::new(0),
        done: zero(),
        done_in_all: zero(),
        failed: zero(),
        latency,
    });
    let clock = load.rate.map(|rate| {
        let shared = Arc::clone(&shared);
        std::thread::spawn(move || make_due(&shared, rate))
    });
    let running: Vec<_> = callers
        .into_iter()
        .enumerate()
        .map(|(nth, caller)| tokio::spawn(calls(caller, nth, Arc::clone(&shared))))
        .collect();
    for caller in running {
        caller.await.map_err(|error| error.to_string())?;
    }
    if let Some(clock) = clock {
        clock.join().map_err(|_| "the clock of the load panicked")?;
    }
    let mut all = locked(&shared.latency[0]).clone();
    for shard in &shared.latency[1..] {
        all.add(&*locked(shard)).map_err(|error| error.to_string())?;
    }
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    Ok(Seen {
        done: count(&shared.done),
        time_ms: load.time_ms,
        done_in_all: count(&shared.done_in_all),
        failed: count(&shared.failed),
        us: [0.5, 0.99, 0.999].map(|quantile| all.value_at_quantile(quantile)),
    })
}

/// The instant at which the `nth` call of an open loop is due.
fn due(shared: &Shared, rate: u64, nth: u64) -> Instant {
    let start = shared.begin - Duration::from_millis(shared.load.warm_up_ms);
    let ns = u128::from(nth) * shared.load.per_call as u128 * 1_000_000_000 / u128::from(rate.max(1));
    start + Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
}

/// Gives out a permit for every call when it is due; closes the gate at the end.
fn make_due(shared: &Shared, rate: u64) {
    let mut given: u64 = 0;
    while Instant::now() < shared.end {
        while due(shared, rate, given) <= Instant::now() {
            shared.due.add_permits(1);
            given += 1;
        }
        std::thread::sleep(TURN);
    }
    shared.due.close();
}

async fn calls(mut caller: Box<dyn Caller>, nth: usize, shared: Arc<Shared>) {
    let Load { per_call, minor, first_id, rate, .. } = shared.load;
    let mut ids = Vec::with_capacity(per_call);
    loop {
        let permit = match rate {
            Some(_) => match shared.due.acquire().await {
                Ok(permit) => Some(permit),
                Err(_) => return,
            },
            None => None,
        };
        let call = shared.next.fetch_add(1, Ordering::Relaxed);
        let asked = match (rate, permit) {
            (Some(rate), Some(permit)) => {
                permit.forget();
                due(&shared, rate, call)
            }
            _ => Instant::now(),
        };
        if Instant::now() >= shared.end {
            return;
        }
        ids.clear();
        ids.extend((0..per_call as u64).map(|each| first_id + call * per_call as u64 + each));
        let answers = tokio::time::timeout(PATIENCE, caller.debit(&ids, minor)).await.unwrap_or_default();
        let now = Instant::now();
        let done = answers.iter().filter(|answer| **answer == Answer::Done).count() as u64;
        shared.done_in_all.fetch_add(done, Ordering::Relaxed);
        shared.failed.fetch_add(per_call as u64 - done, Ordering::Relaxed);
        if (shared.begin..shared.end).contains(&now) {
            shared.done.fetch_add(done, Ordering::Relaxed);
        }
        // What was due in time counts, also where its answer came after the end.
        let counts = if rate.is_some() { asked } else { now };
        if (shared.begin..shared.end).contains(&counts) {
            let us = u64::try_from((now - asked).as_micros()).unwrap_or(u64::MAX).clamp(1, LATENCY_US_MAX);
            locked(&shared.latency[nth % SHARDS]).saturating_record(us);
        }
        if done == 0 && rate.is_none() {
            tokio::time::sleep(RETRY).await;
        }
    }
}

/// Runs a storm; returns when the balance is used up, all was asked for, or its time is over.
/// `done` counts the debits that were acknowledged, for whoever kills the server meanwhile.
pub async fn storm(
    callers: Callers,
    storm: Storm,
    notes: Arc<dyn Notes>,
    done: Arc<AtomicU64>,
) -> Result<(), String> {
    let end = Instant::now() + Duration::from_millis(storm.time_ms);
    let debitors = callers.len().saturating_sub(storm.readers).max(1);
    let pause = Duration::from_nanos(1_000_000_000 * (debitors * storm.per_call) as u64 / storm.pace.max(1));
    let shared = Arc::new((storm, AtomicU64::new(0), AtomicUsize::new(debitors)));
    let running: Vec<_> = callers
        .into_iter()
        .enumerate()
        .map(|(nth, mut caller)| {
            let (shared, notes, done) = (Arc::clone(&shared), Arc::clone(&notes), Arc::clone(&done));
            tokio::spawn(async move {
                if nth < debitors {
                    let again: Vec<(u64, u64)> =
                        shared.0.again.iter().skip(nth).step_by(debitors).copied().collect();
                    debits(&mut *caller, &shared.0, &shared.1, again, pause, end, &*notes, &done).await;
                    shared.2.fetch_sub(1, Ordering::Relaxed);
                } else {
                    while shared.2.load(Ordering::Relaxed) > 0 && Instant::now() < end {
                        let start = now();
                        let read = tokio::time::timeout(PATIENCE, caller.balance()).await;
                        if let Ok(Some(minor)) = read {
                            notes.answered(Call { start, end: now(), what: What::Read(minor) });
                        }
                        tokio::time::sleep(RETRY / 4).await;
                    }
                }
            })
        })
        .collect();
    for caller in running {
        caller.await.map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "one caller of a storm and all that it shares with the others")]
async fn debits(
    caller: &mut dyn Caller,
    storm: &Storm,
    next: &AtomicU64,
    again: Vec<(u64, u64)>,
    pause: Duration,
    end: Instant,
    notes: &dyn Notes,
    done: &AtomicU64,
) {
    let (mut refused, mut again) = (0, again.into_iter());
    while refused < REFUSALS {
        let began = Instant::now();
        let mut open: Vec<(u64, u64)> = match again.next() {
            Some(left) => vec![left],
            None => {
                let first = next.fetch_add(storm.per_call as u64, Ordering::Relaxed);
                if first >= storm.asks {
                    return;
                }
                (0..storm.per_call as u64).map(|each| (storm.first_id + first + each, now())).collect()
            }
        };
        open.iter().for_each(|(id, at)| notes.asked(*id, *at));
        // Asked again under the same ids until the outcome of all is known, as a careful client does.
        loop {
            let ids: Vec<u64> = open.iter().map(|(id, _)| *id).collect();
            let answers =
                tokio::time::timeout(PATIENCE, caller.debit(&ids, storm.minor)).await.unwrap_or_default();
            let at = now();
            let mut left = Vec::new();
            for (nth, (id, start)) in open.into_iter().enumerate() {
                match answers.get(nth).copied().unwrap_or(Answer::Unknown) {
                    Answer::Unknown => left.push((id, start)),
                    answer => {
                        notes.answered(Call { start, end: at, what: What::Debit(id, answer) });
                        match answer {
                            Answer::Done => _ = done.fetch_add(1, Ordering::Relaxed),
                            _ => refused += 1,
                        }
                    }
                }
            }
            open = left;
            if open.is_empty() {
                break;
            }
            if Instant::now() > end {
                for (id, start) in open {
                    notes.answered(Call { start, end: u64::MAX, what: What::Debit(id, Answer::Unknown) });
                }
                return;
            }
            tokio::time::sleep(RETRY).await;
        }
        tokio::time::sleep(pause.saturating_sub(began.elapsed())).await;
    }
}
