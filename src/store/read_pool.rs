//! The pool of threads for long reads: those of more records than a request may read
//! (`read_budget.rs`), and past balances.
//!
//! The threads have a low priority and rest now and then, and at most one of them reads for a
//! tenant key, so that neither requests nor other tenants wait for one that asks a lot. The number
//! of waiting reads is bounded: a tenant key at its share gets 429, and after a pause, as callers
//! who ask again at once would keep processors busy with refusals; a read beyond the bound of all
//! gets 503. Live reads come first, and test reads leave a thread and a quarter of the places to
//! them. A caller that goes away cancels its read; so does a stop of the server.

use crate::store::read_budget::{ReadBudget, Stopped};
use api::problem::Problem;
use domain::values::ids::{PLATFORM, is_live};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// One always stays free of test reads.
const THREADS: usize = 2;
const NICENESS: i32 = 10;

#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub waiting_max: usize,
    pub per_tenant_max: usize,
    /// A tenant key at its share is told so after this time.
    pub pause: Duration,
}

#[derive(Debug, Default)]
pub struct Counters {
    pub ended: AtomicU64,
    pub canceled: AtomicU64,
    /// Of live mode, then of test mode.
    pub share_full: [AtomicU64; 2],
    pub full: AtomicU64,
    pub waiting: AtomicUsize,
}

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
    under_way: HashMap<u64, UnderWay>,
    test_jobs_at_work: usize,
    is_over: bool,
}

#[derive(Default)]
struct UnderWay {
    jobs: usize,
    at_work: Option<Arc<AtomicBool>>,
}

type Deliver = Box<dyn FnOnce() + Send>;

struct Job {
    tenant: u64,
    canceled: Arc<AtomicBool>,
    read: Box<dyn FnOnce(&ReadBudget) -> Deliver + Send>,
}

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
                // The niceness of this thread alone. Where it cannot be set, reads compete with
                // payments.
                let _ = rustix::process::nice(NICENESS);
                shared.work();
            })?;
        }
        Ok(pool)
    }

    /// On this thread if the budget suffices, otherwise on a thread of the pool. `from` is shared,
    /// as another thread may need to hold it.
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

    /// For reads that are known to be long. The pool has bounds of its own, so the caller gives its
    /// work slot back, which the tenant's other requests would lack through the wait and the pause.
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
        if let Err(refused) =
            self.shared.add(Job { tenant, canceled: Arc::clone(&canceled), read: Box::new(read) })
        {
            if refused.status == 429 {
                tokio::time::sleep(self.shared.bounds.pause).await;
            }
            return Err(refused);
        }
        let asked = Asked { shared: &self.shared, canceled };
        let result = from.await;
        // The read has ended: the guard must not cancel it.
        asked.canceled.store(true, Ordering::Relaxed);
        result.unwrap_or_else(|_| {
            Err(if self.shared.lock().is_over {
                Problem::shutting_down()
            } else {
                Problem::internal_error("a long read ended without an answer")
            })
        })
    }

    pub fn stop(&self) {
        self.shared.stop();
    }

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

    fn add(&self, job: Job) -> Result<(), Problem> {
        let mut queue = self.lock();
        if queue.is_over {
            return Err(Problem::shutting_down());
        }
        let own = queue.under_way.get(&job.tenant).map_or(0, |own| own.jobs);
        // Operators are not one tenant among others, so they have no share.
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

    fn forget(&self, canceled: &Arc<AtomicBool>) {
        self.counters.canceled.fetch_add(1, Ordering::Relaxed);
        let mut queue = self.lock();
        let at = queue.waiting.iter().position(|job| Arc::ptr_eq(&job.canceled, canceled));
        let job = at.and_then(|at| queue.waiting.remove(at));
        if let Some(job) = &job {
            queue.left(job.tenant);
            self.note_waiting(&queue);
        }
        // The values that the job holds are dropped without the lock.
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
            let budget = ReadBudget::until(canceled);
            let deliver = catch_unwind(AssertUnwindSafe(|| read(&budget)));
            queue = self.lock();
            queue.rests(tenant);
            queue.left(tenant);
            drop(queue);
            self.counters.ended.fetch_add(1, Ordering::Relaxed);
            // The place is free before the caller can ask again, and the tenant's next job may
            // begin.
            match deliver {
                Ok(deliver) => deliver(),
                Err(_) => tracing::error!(tenant, "a long read panicked"),
            }
            budget.end();
            queue = self.lock();
        }
    }

    fn stop(&self) {
        let mut queue = self.lock();
        queue.is_over = true;
        for own in queue.under_way.values() {
            own.at_work.iter().for_each(|canceled| canceled.store(true, Ordering::Relaxed));
        }
        // Callers of the waiting jobs notice that these are dropped.
        let waiting = std::mem::take(&mut queue.waiting);
        self.note_waiting(&queue);
        drop(queue);
        drop(waiting);
        self.work.notify_all();
    }
}

impl Queue {
    /// The oldest whose tenant key has none at work, live ones first.
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

    fn rests(&mut self, tenant: u64) {
        self.test_jobs_at_work -= usize::from(!is_live(tenant));
        if let Some(own) = self.under_way.get_mut(&tenant) {
            own.at_work = None;
        }
    }

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
