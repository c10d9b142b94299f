//! The pool with reads that end when they are told to.

use super::*;
use std::pin::{Pin, pin};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::Poll;
use std::time::{Duration, Instant};

const LIVE: [u64; 4] = [2, 4, 6, 8];
const TEST: [u64; 4] = [3, 5, 7, 9];
const PAUSE: Duration = Duration::from_millis(30);

fn pool(waiting_max: usize, per_tenant_max: usize) -> ReadPool {
    ReadPool::start(Bounds { waiting_max, per_tenant_max, pause: PAUSE }).expect("threads")
}

/// The observations of a test about its reads.
struct Reads {
    began: Receiver<u64>,
    begin: Sender<u64>,
}

impl Reads {
    fn new() -> Reads {
        let (begin, began) = channel();
        Reads { began, begin }
    }

    /// A read that says that it began, and goes on until the sender is used or gone.
    fn held(
        &self,
        tenant: u64,
    ) -> (Sender<()>, impl FnOnce(&ReadBudget) -> Result<u64, Problem> + Send + 'static) {
        let (end, ended) = channel();
        let begin = self.begin.clone();
        let read = move |_: &ReadBudget| {
            begin.send(tenant).expect("the test listens");
            let _ = ended.recv();
            Ok(tenant)
        };
        (end, read)
    }

    #[track_caller]
    fn next(&self) -> u64 {
        self.began.recv_timeout(Duration::from_secs(30)).expect("a read begins")
    }
}

/// Asks once whether it is done.
async fn look<T>(future: &mut Pin<&mut impl Future<Output = T>>) -> Option<T> {
    std::future::poll_fn(|cx| {
        Poll::Ready(match future.as_mut().poll(cx) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        })
    })
    .await
}

fn status<T>(result: Option<Result<T, Problem>>) -> (u16, &'static str) {
    match result {
        Some(Err(problem)) => (problem.status, problem.code),
        Some(Ok(_)) => (200, ""),
        None => (0, "waits"),
    }
}

#[tokio::test]
async fn one_is_read_for_a_tenant_at_a_time_and_the_others_do_not_wait_for_it() {
    let (pool, reads) = (pool(8, 2), Reads::new());
    let (end_first, first) = reads.held(LIVE[0]);
    let (_end_second, second) = reads.held(LIVE[0]);
    let (end_other, other) = reads.held(LIVE[1]);
    let (mut first, mut second) = (pin!(pool.run(LIVE[0], first)), pin!(pool.run(LIVE[0], second)));
    assert!(look(&mut first).await.is_none() && look(&mut second).await.is_none());
    assert_eq!(reads.next(), LIVE[0]);
    // The tenant has reached its share, though a thread is idle.
    let asked = Instant::now();
    assert_eq!(status(Some(pool.run(LIVE[0], |_| Ok(())).await)), (429, "rate_limited"));
    assert!(asked.elapsed() >= PAUSE, "it is told so after a pause");
    let mut other = pin!(pool.run(LIVE[1], other));
    assert!(look(&mut other).await.is_none());
    assert_eq!(reads.next(), LIVE[1]);
    end_other.send(()).expect("it reads");
    assert_eq!(other.await, Ok(LIVE[1]));
    end_first.send(()).expect("it reads");
    assert_eq!(first.await, Ok(LIVE[0]));
    assert_eq!(reads.next(), LIVE[0], "the second begins when the first is over");
    assert_eq!(pool.counters().share_full[0].load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn test_reads_leave_a_thread_and_some_places_to_live_ones() {
    let (pool, reads) = (pool(4, 9), Reads::new());
    let mut asked: Vec<_> = TEST
        .iter()
        .map(|tenant| {
            let (end, read) = reads.held(*tenant);
            (end, Box::pin(pool.run(*tenant, read)))
        })
        .collect();
    assert!(look(&mut asked[0].1.as_mut()).await.is_none());
    assert_eq!(reads.next(), TEST[0]);
    for (_, waits) in &mut asked[1..] {
        assert!(look(&mut waits.as_mut()).await.is_none());
    }
    let one_more = pool.run(TEST[1], |_| Ok(()));
    assert_eq!(
        status(look(&mut pin!(one_more)).await),
        (503, "overloaded"),
        "the last place is for live reads"
    );
    let (_end, live) = reads.held(LIVE[0]);
    let mut live = pin!(pool.run(LIVE[0], live));
    assert!(look(&mut live).await.is_none());
    assert_eq!(reads.next(), LIVE[0], "before the test reads that wait");
    assert_eq!(pool.counters().full.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn who_goes_away_gives_its_place_back_and_ends_what_is_read_for_it() {
    let (pool, reads) = (pool(8, 2), Reads::new());
    let (began, ended) = (reads.begin.clone(), Reads::new());
    let over = ended.begin.clone();
    {
        let mut reading = pin!(pool.run(LIVE[0], move |budget| {
            began.send(LIVE[0]).expect("the test listens");
            while budget.spend().is_ok() {}
            over.send(LIVE[0]).expect("the test listens");
            Ok(())
        }));
        let (_end, waiting) = reads.held(LIVE[0]);
        let mut waiting = pin!(pool.run(LIVE[0], waiting));
        assert!(look(&mut reading).await.is_none() && look(&mut waiting).await.is_none());
        assert_eq!(reads.next(), LIVE[0]);
        assert_eq!(pool.counters().waiting.load(Ordering::Relaxed), 1);
    }
    assert_eq!(ended.next(), LIVE[0]);
    assert_eq!(pool.counters().waiting.load(Ordering::Relaxed), 0);
    assert_eq!(pool.counters().canceled.load(Ordering::Relaxed), 2);
    assert_eq!(pool.run(LIVE[0], |_| Ok(7)).await, Ok(7));
    let deadline = Instant::now() + Duration::from_secs(30);
    while !pool.shared.lock().under_way.is_empty() {
        assert!(Instant::now() < deadline, "nothing is left");
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn a_stop_answers_everybody_and_a_panic_only_its_own() {
    let (pool, reads) = (pool(8, 2), Reads::new());
    let panicking: Result<(), Problem> = pool.run(LIVE[2], |_| panic!("as told")).await;
    assert_eq!(panicking.map_err(|problem| problem.status), Err(500));
    let began = reads.begin.clone();
    let mut reading = pin!(pool.run(LIVE[0], move |budget| {
        began.send(LIVE[0]).expect("the test listens");
        while budget.spend().is_ok() {}
        Err::<(), _>(Stopped::Canceled.into())
    }));
    let (_end, waiting) = reads.held(LIVE[0]);
    let mut waiting = pin!(pool.run(LIVE[0], waiting));
    assert!(look(&mut reading).await.is_none() && look(&mut waiting).await.is_none());
    assert_eq!(reads.next(), LIVE[0]);
    pool.stop();
    let stopping = (503, "shutting_down");
    assert_eq!((status(Some(reading.await)), status(Some(waiting.await))), (stopping, stopping));
    assert_eq!(status(Some(pool.run(LIVE[1], |_| Ok(())).await)), stopping);
}
