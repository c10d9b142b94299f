//! Threads for reads that take long: what goes through more records than a request may
//! (`read_budget.rs`), and past balances.
//!
//! They have a low priority, and at most one of them reads for a tenant in a mode, so that neither
//! requests nor other tenants' reads wait for one who asks a lot. What waits is bounded: a tenant in
//! a mode that is at its share is told 429, one more than all may have 503. Live reads come first,
//! and test reads leave a thread and a quarter of the places to them. A caller who goes away gives
//! its place back, and ends what is read for it; so does a stop of the server.

use crate::store::read_budget::{ReadBudget, Stopped};
use api::problem::Problem;
use domain::platform::{PLATFORM, is_live};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Threads: one reads for live mode whatever test mode asks.
const THREADS: usize = 2;
/// How much lower than others they stand with the scheduler.
const NICENESS: i32 = 10;

/// The number of reads that may be there.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Reads of all tenants that wait.
    pub waiting_max: usize,
    /// Reads of a tenant in a mode that wait or are at work.
    pub per_tenant_max: usize,
}

/// The reads since the start.
#[derive(Debug, Default)]
pub struct Counters {
    /// Reads that came to their end, whatever it was.
    pub ended: AtomicU64,
    /// Reads whose caller went away.
    pub canceled: AtomicU64,
    /// Reads that were refused because their tenant was at its share, in live mode and in test mode.
    pub share_full: [AtomicU64; 2],
    /// Reads that were refused because too many waited.
    pub full: AtomicU64,
    /// Reads that wait.
    pub waiting: AtomicUsize,
}

/// The threads, and what waits for them.
pub struct ReadPool {
    shared: Arc<Shared>,
}

struct Shared {
    bounds: Bounds,
    queue: Mutex<Queue>,
    work: Condvar,
    counters: Counters,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Job>,
    /// The jobs of each tenant in a mode that has any.
    under_way: HashMap<u64, UnderWay>,
    test_jobs_at_work: usize,
    is_over: bool,
}

#[derive(Default)]
struct UnderWay {
    jobs: usize,
    /// The flag that cancels the one at work.
    at_work: Option<Arc<AtomicBool>>,
}

/// The last step of a job: sends its result to who waits for it.
type Deliver = Box<dyn FnOnce() + Send>;

struct Job {
    tenant: u64,
    canceled: Arc<AtomicBool>,
    read: Box<dyn FnOnce(&ReadBudget) -> Deliver + Send>,
}

/// A read that somebody waits for; dropped, it is canceled.
struct Asked<'p> {
    shared: &'p Shared,
    canceled: Arc<AtomicBool>,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if !self.canceled.swap(true, Ordering::Relaxed) {
            self.shared.forget(&self.canceled);
        }
    }
}

impl ReadPool {
    /// Starts the threads.
    pub fn start(bounds: Bounds) -> std::io::Result<ReadPool> {
        let pool = ReadPool {
            shared: Arc::new(Shared {
                bounds,
                queue: Mutex::default(),
                work: Condvar::new(),
                counters: Counters::default(),
            }),
        };
        for _ in 0..THREADS {
            let shared = Arc::clone(&pool.shared);
            std::thread::Builder::new().name("reads".to_owned()).spawn(move || {
                // Of this thread alone. Where it is not allowed, reads compete with payments.
                let _ = rustix::process::nice(NICENESS);
                shared.work();
            })?;
        }
        Ok(pool)
    }

    /// Reads for a tenant in a mode: here if it is soon done, otherwise on a thread of the pool.
    /// `from` is what is read from, which another thread may need to hold.
    pub async fn read<F: Send + Sync + 'static, T: Send + 'static>(
        &self,
        from: &Arc<F>,
        tenant: u64,
        read: impl Fn(&F, &ReadBudget) -> Result<T, Stopped> + Send + 'static,
    ) -> Result<T, Problem> {
        match read(from, &ReadBudget::of_request()) {
            Err(Stopped::OverBudget) => self.read_long(from, tenant, read).await,
            read => read.map_err(Problem::from),
        }
    }

    /// Reads on a thread of the pool.
    pub async fn read_long<F: Send + Sync + 'static, T: Send + 'static>(
        &self,
        from: &Arc<F>,
        tenant: u64,
        read: impl FnOnce(&F, &ReadBudget) -> Result<T, Stopped> + Send + 'static,
    ) -> Result<T, Problem> {
        let from = Arc::clone(from);
        self.run(tenant, move |budget| read(&from, budget).map_err(Problem::from)).await
    }

    async fn run<T: Send + 'static>(
        &self,
        tenant: u64,
        read: impl FnOnce(&ReadBudget) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let canceled = Arc::new(AtomicBool::new(false));
        let (to, from) = oneshot::channel();
        let read = move |budget: &ReadBudget| -> Deliver {
            let result = read(budget);
            Box::new(move || drop(to.send(result)))
        };
        self.shared.add(Job { tenant, canceled: Arc::clone(&canceled), read: Box::new(read) })?;
        let asked = Asked { shared: &self.shared, canceled };
        let result = from.await;
        // Nothing is left to be forgotten.
        asked.canceled.store(true, Ordering::Relaxed);
        result.unwrap_or_else(|_| {
            Err(if self.shared.lock().is_over {
                Problem::shutting_down()
            } else {
                Problem::internal_error("a long read ended without an answer")
            })
        })
    }

    /// Ends the pool: what waits or is being read is answered 503, as the server stops.
    pub fn stop(&self) {
        self.shared.stop();
    }

    /// The reads since the start.
    pub fn counters(&self) -> &Counters {
        &self.shared.counters
    }
}

impl Drop for ReadPool {
    fn drop(&mut self) {
        self.shared.stop();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_waiting(&self, queue: &Queue) {
        self.counters.waiting.store(queue.waiting.len(), Ordering::Relaxed);
    }

    /// Lets one more wait, or says why not.
    fn add(&self, job: Job) -> Result<(), Problem> {
        let mut queue = self.lock();
        if queue.is_over {
            return Err(Problem::shutting_down());
        }
        let own = queue.under_way.get(&job.tenant).map_or(0, |own| own.jobs);
        // Operators are no tenant beside others.
        if job.tenant != PLATFORM && own >= self.bounds.per_tenant_max {
            self.counters.share_full[usize::from(!is_live(job.tenant))].fetch_add(1, Ordering::Relaxed);
            return Err(Problem::share_full());
        }
        let reserved = if is_live(job.tenant) { 0 } else { self.bounds.waiting_max / 4 };
        if queue.waiting.len() >= self.bounds.waiting_max - reserved {
            self.counters.full.fetch_add(1, Ordering::Relaxed);
            return Err(Problem::overloaded(1));
        }
        queue.under_way.entry(job.tenant).or_default().jobs += 1;
        queue.waiting.push_back(job);
        self.note_waiting(&queue);
        drop(queue);
        self.work.notify_one();
        Ok(())
    }

    /// Gives the place of one that waits and was canceled back; one at work sees it by itself.
    fn forget(&self, canceled: &Arc<AtomicBool>) {
        self.counters.canceled.fetch_add(1, Ordering::Relaxed);
        let mut queue = self.lock();
        let at = queue.waiting.iter().position(|job| Arc::ptr_eq(&job.canceled, canceled));
        let job = at.and_then(|at| queue.waiting.remove(at));
        if let Some(job) = &job {
            queue.left(job.tenant);
            self.note_waiting(&queue);
        }
        // What the job holds is let go without the lock.
        drop(queue);
        drop(job);
    }

    fn work(&self) {
        let mut queue = self.lock();
        while !queue.is_over {
            let Some(job) = queue.next() else {
                queue = self.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            self.note_waiting(&queue);
            drop(queue);
            let Job { tenant, canceled, read } = job;
            let deliver = catch_unwind(AssertUnwindSafe(|| read(&ReadBudget::until(canceled))));
            queue = self.lock();
            queue.rests(tenant);
            queue.left(tenant);
            drop(queue);
            self.counters.ended.fetch_add(1, Ordering::Relaxed);
            // The place is free before who waits asks again; the next of its tenant may begin.
            match deliver {
                Ok(deliver) => deliver(),
                Err(_) => tracing::error!(tenant, "a long read panicked"),
            }
            queue = self.lock();
        }
    }

    fn stop(&self) {
        let mut queue = self.lock();
        queue.is_over = true;
        for own in queue.under_way.values() {
            own.at_work.iter().for_each(|canceled| canceled.store(true, Ordering::Relaxed));
        }
        // Whoever waits for one hears that it is gone.
        let waiting = std::mem::take(&mut queue.waiting);
        self.note_waiting(&queue);
        drop(queue);
        drop(waiting);
        self.work.notify_all();
    }
}

impl Queue {
    /// The next to be read: the oldest of those whose tenant is not being read for, live ones first.
    fn next(&mut self) -> Option<Job> {
        let is_free = |job: &Job| self.under_way.get(&job.tenant).is_none_or(|own| own.at_work.is_none());
        let live = self.waiting.iter().position(|job| is_live(job.tenant) && is_free(job));
        let test = || {
            let has_thread = self.test_jobs_at_work + 1 < THREADS;
            self.waiting.iter().position(|job| has_thread && is_free(job))
        };
        let job = self.waiting.remove(live.or_else(test)?)?;
        self.test_jobs_at_work += usize::from(!is_live(job.tenant));
        self.under_way.entry(job.tenant).or_default().at_work = Some(Arc::clone(&job.canceled));
        Some(job)
    }

    /// Nothing is read for a tenant any more.
    fn rests(&mut self, tenant: u64) {
        self.test_jobs_at_work -= usize::from(!is_live(tenant));
        if let Some(own) = self.under_way.get_mut(&tenant) {
            own.at_work = None;
        }
    }

    /// One of a tenant's is over.
    fn left(&mut self, tenant: u64) {
        if let Some(own) = self.under_way.get_mut(&tenant) {
            own.jobs -= 1;
            if own.jobs == 0 {
                self.under_way.remove(&tenant);
            }
        }
    }
}

#[cfg(test)]
mod tests;
