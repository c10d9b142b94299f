//! The offer: wishes are due at instants that no answer moves, and whoever is free grants the next. A
//! wish that is due when all connections are busy waits for one, and its time counts from when it was
//! due (no coordinated omission).
//!
//! Unlike `open_loop`, whose thread never sleeps, the thread that hands out sleeps from wish to wish:
//! hours of looking at the clock would take a core from the server.

use crate::connection::Connection;
use crate::day::{Common, POLL_EVERY, Seen, Talk};
use crate::lanes::Window;
use crate::load::{histogram, microseconds};
use crate::prepare::Client;
use crate::{Outcome, cleanup};
use hdrhistogram::Histogram;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::Mutex as Queue;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

/// Threads of the generator.
const THREADS: usize = 2;
/// The time in which everything that was due must be answered after the end.
const GRACE: Duration = Duration::from_secs(60);
/// The longest sleep of the thread that hands out: so soon it sees that the run is to end.
const NAP: Duration = Duration::from_millis(100);
/// The time between two moves of the same clock: so short that the five minutes that a buyer has to type a
/// code do not pass while one does.
const CLOCK_EVERY: Duration = Duration::from_secs(1);

/// A fixed rate of wishes for some time.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// Wishes per second.
    pub rate: u64,
    /// The time in which they are due.
    pub time: Duration,
    /// The number of connections that grant them.
    pub connections: usize,
    /// The minutes by which each shop's test clock goes forward every minute.
    pub clock_minutes: u64,
}

/// The state that all parts of a run share.
pub struct Progress {
    /// Whether no more wishes are to become due.
    is_over: AtomicBool,
    /// Whether somebody asked for the end.
    is_interrupted: Arc<AtomicBool>,
    /// The microseconds from due to granted of those since the last look.
    took: Mutex<Histogram<u64>>,
    /// The first thing that went wrong, which ends the run.
    wrong: Mutex<Option<String>>,
    /// Wishes that were handed out, and those of them that were granted.
    due: AtomicU64,
    granted: AtomicU64,
}

/// A run that is under way.
pub struct Run {
    runtime: Runtime,
    tasks: JoinSet<()>,
    pace: std::thread::JoinHandle<()>,
    /// What is known of it so far.
    pub progress: Arc<Progress>,
}

/// The queue of instants at which wishes were due.
type Due = Arc<Queue<UnboundedReceiver<Instant>>>;

impl Offer {
    /// Begins; the watch for signals lasts for `limit`.
    pub fn begin(self, common: &Arc<Common>, limit: Duration) -> Outcome<Run> {
        let progress = Arc::new(Progress {
            is_over: AtomicBool::new(false),
            is_interrupted: cleanup::watch_but_for_the_first(limit),
            took: Mutex::new(histogram()),
            wrong: Mutex::new(None),
            due: AtomicU64::new(0),
            granted: AtomicU64::new(0),
        });
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime =
            runtime.worker_threads(THREADS).enable_all().build().map_err(|error| error.to_string())?;
        let (hand_out, due) = unbounded_channel();
        let due = Arc::new(Queue::new(due));
        let begin = Instant::now();
        // Every call counts, from the first to the last of those that were due.
        let window = Window { begin, end: begin + self.time + GRACE };
        let seen = Arc::new(Mutex::new(Seen::none()));
        let mut tasks = JoinSet::new();
        for each in 0..=self.connections {
            let connection = runtime.block_on(Connection::open(common.api))?;
            let talk = Talk::new(Arc::clone(common), each, connection, window, Arc::clone(&seen));
            let (due, progress) = (Arc::clone(&due), Arc::clone(&progress));
            // One connection more, which polls the rate.
            let is_poll = each == self.connections;
            let work = async move {
                let done =
                    if is_poll { poll(talk, &progress).await } else { grant(talk, &due, &progress).await };
                progress.done(done);
            };
            tasks.spawn_on(work, runtime.handle());
        }
        if self.clock_minutes > 0 {
            let (common, progress) = (Arc::clone(common), Arc::clone(&progress));
            let work = async move {
                let done = clocks(&common, self.clock_minutes, &progress).await;
                progress.done(done.map_err(|why| format!("a test clock: {why}")));
            };
            tasks.spawn_on(work, runtime.handle());
        }
        let paced = Arc::clone(&progress);
        let pace = std::thread::spawn(move || self.pace(&hand_out, &paced));
        Ok(Run { runtime, tasks, pace, progress })
    }

    /// Hands out the wishes when they are due; the queue ends with it.
    fn pace(self, hand_out: &UnboundedSender<Instant>, progress: &Progress) {
        let begin = Instant::now();
        for nth in 0_u64.. {
            let after = u128::from(nth) * 1_000_000_000 / u128::from(self.rate.max(1));
            let after = Duration::from_nanos(u64::try_from(after).unwrap_or(u64::MAX));
            let due = begin + after;
            while let Some(left) = due.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
                if progress.is_to_end() {
                    break;
                }
                std::thread::sleep(left.min(NAP));
            }
            if after >= self.time || progress.is_to_end() {
                break;
            }
            progress.due.fetch_add(1, Ordering::Relaxed);
            // Nobody listens any more if all of them failed, which is noted there.
            let _ = hand_out.send(due);
        }
        progress.is_over.store(true, Ordering::Relaxed);
    }
}

impl Run {
    /// Waits until everything that was due is granted; fails with what went wrong.
    pub fn end(mut self) -> Outcome<()> {
        self.pace.join().map_err(|_| "what hands out panicked")?;
        let all = async {
            while let Some(ended) = self.tasks.join_next().await {
                ended.map_err(|error| error.to_string())?;
            }
            Ok::<_, String>(())
        };
        let ended = self.runtime.block_on(async { tokio::time::timeout(GRACE, all).await });
        if let Some(why) = locked(&self.progress.wrong).take() {
            return Err(why);
        }
        ended.map_err(|_| format!("no answer within {GRACE:?} after the end"))?
    }
}

impl Progress {
    /// Whether no more wishes become due.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// The microseconds of the wishes that were granted since this was asked last.
    pub fn took(&self) -> Histogram<u64> {
        std::mem::replace(&mut *locked(&self.took), histogram())
    }

    /// Wishes that are due and were not granted yet.
    pub fn waiting(&self) -> u64 {
        let granted = self.granted.load(Ordering::Relaxed);
        self.due.load(Ordering::Relaxed).saturating_sub(granted)
    }

    fn is_to_end(&self) -> bool {
        self.is_interrupted.load(Ordering::Relaxed) || locked(&self.wrong).is_some()
    }

    fn done(&self, done: Outcome<()>) {
        if let Err(why) = done {
            locked(&self.wrong).get_or_insert(why);
        }
    }
}

/// Grants what is due until no more comes.
async fn grant(mut talk: Talk, due: &Due, progress: &Progress) -> Outcome<()> {
    loop {
        let next = due.lock().await.recv().await;
        let Some(due) = next.filter(|_| locked(&progress.wrong).is_none()) else { return Ok(()) };
        talk.wish().await?;
        locked(&progress.took).saturating_record(microseconds(due.elapsed()));
        progress.granted.fetch_add(1, Ordering::Relaxed);
    }
}

/// Asks for the rate again and again.
async fn poll(mut talk: Talk, progress: &Progress) -> Outcome<()> {
    let mut ticks = tokio::time::interval(POLL_EVERY);
    while !progress.is_over() {
        ticks.tick().await;
        talk.rate().await.map_err(|why| format!("the rate: {why}"))?;
    }
    Ok(())
}

/// Moves the clocks of the shops that buyers come to forward, one after the other.
async fn clocks(common: &Common, minutes: u64, progress: &Progress) -> Outcome<()> {
    let mut api = Client::open(common.api).await?;
    let count = u32::try_from(common.shops.plain.len()).unwrap_or(u32::MAX).max(1);
    let mut ticks = tokio::time::interval(CLOCK_EVERY / count);
    // After a stall no clock may make up for it in one leap.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for nth in 0.. {
        ticks.tick().await;
        if progress.is_over() {
            break;
        }
        common.shops.advance(&mut api, nth, minutes * CLOCK_EVERY.as_secs()).await?;
    }
    Ok(())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
