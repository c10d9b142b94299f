//! A live rail in service: its circuits, how many calls it has at once, its queue, and how it
//! answers. A call begins only while its circuit is closed and this process may call; what was not
//! begun is "not sent". Times are those of a clock that only goes forward.

use super::circuit::Circuits;
use super::live::{LiveRail, Look, NotSent, Profile, Report, after_asking, after_sending};
use super::queue::{OrderStanding, Queue};
use super::{BoxFuture, Call, Outcomes, RailAnswer};
use crate::outbound::Outbound;
use domain::rail::{BankCall, How, Service};
use domain::trace::{RailId, Said};
use domain::values::ids::Id;
use std::collections::VecDeque;
use std::future::ready;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

/// The longest wait for a call to end, and for the confirmation that this machine leads.
const TURN: Duration = Duration::from_secs(4);
const TIMED: usize = 512;
const QUESTION: BankCall = BankCall { kind: "question", bank: None };
const CLOSED_PAUSE: Duration = Duration::from_secs(1);

pub struct Lane {
    rail: Arc<dyn LiveRail>,
    pub profile: Profile,
    outbound: Outbound,
    pub outcomes: Arc<Outcomes>,
    pub queue: Queue,
    began: Instant,
    pause: Duration,
    circuits: Mutex<Circuits>,
    changed: Notify,
    permits: Semaphore,
    figures: Mutex<Figures>,
}

#[derive(Default)]
struct Figures {
    calls: u64,
    errors: u64,
    last_ok_ms: Option<i64>,
    /// Of the newest calls.
    took_us: VecDeque<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneFigures {
    pub name: &'static str,
    pub serves: Vec<Service>,
    pub is_open: bool,
    pub is_silent: bool,
    pub open_calls: Vec<BankCall>,
    pub calls: u64,
    pub errors: u64,
    pub p50_ms: Option<u64>,
    pub p99_ms: Option<u64>,
    pub last_ok_ms: Option<i64>,
    pub queued: usize,
}

impl Lane {
    /// Called while `outbound` lets it be, `calls_max` times at once; what is more waits, within
    /// the time of a call. `pause` is between probes.
    pub fn new(rail: Arc<dyn LiveRail>, outbound: Outbound, pause: Duration, calls_max: usize) -> Lane {
        let profile = rail.profile();
        Lane {
            rail,
            outbound,
            outcomes: Arc::new(Outcomes::of(profile.name)),
            profile,
            queue: Queue::default(),
            began: Instant::now(),
            pause,
            circuits: Mutex::new(Circuits::closed(pause)),
            changed: Notify::new(),
            permits: Semaphore::new(calls_max),
            figures: Mutex::default(),
        }
    }

    /// The seconds after which a call may be made, if it is not now.
    pub fn retry_after_seconds(&self, call: Option<BankCall>) -> Option<u32> {
        match self.outbound.is_open() {
            true => self.circuits().open_seconds(call, self.now()),
            false => Some(CLOSED_PAUSE.as_secs() as u32),
        }
    }

    fn may_call(&self, call: BankCall) -> bool {
        self.retry_after_seconds(Some(call)).is_none()
    }

    /// Once, or not at all.
    pub async fn send(&self, call: &Call) -> (RailAnswer, Said) {
        let _calling = Calling { lane: self, operation: Id::from(call.operation_id) };
        let (to, began) = (call.order.bank_call(), Instant::now());
        let late = Ok(Report::unanswered(None));
        let recall = self.rail.recall(&call.order);
        let execute = || match recall {
            Some(_) => self.rail.execute(call),
            // Nobody could learn afterwards what became of it.
            None => Box::pin(ready(Err(NotSent::Unfit("the rail does not serve it")))),
        };
        let Some(sent) = self.bounded(to, late, execute).await else {
            return (RailAnswer::NotSent, Said::default());
        };
        match &sent {
            Ok(report) => self.count(to, report.is_answered, began.elapsed()),
            Err(NotSent::NoConnection) => self.count(to, false, began.elapsed()),
            Err(NotSent::NothingDone) => self.count(to, true, began.elapsed()),
            Err(NotSent::Unfit(_)) => {}
        }
        let (answer, said) = after_sending(recall, sent);
        if answer == RailAnswer::NotSent {
            self.queue.hold_until(self.now() + self.pause);
        }
        self.outcomes.note(How::Send, &answer, began.elapsed());
        (answer, said)
    }

    /// Or does not: probes alone find out whether a rail answers again.
    pub async fn ask(&self, call: &Call, id: Option<&RailId>) -> (RailAnswer, Said) {
        let began = Instant::now();
        let late = Look::Report(Report::unanswered(id.cloned()));
        let Some(look) = self.bounded(QUESTION, late, || self.rail.look(call, id)).await else {
            return (RailAnswer::NotAsked, Said::default());
        };
        match &look {
            Look::Report(report) => self.count(QUESTION, report.is_answered, began.elapsed()),
            Look::NeverReceived => self.count(QUESTION, true, began.elapsed()),
            Look::NotAsked => {}
        }
        let (answer, said) = after_asking(self.rail.recall(&call.order), look);
        self.outcomes.note(How::Ask, &answer, began.elapsed());
        (answer, said)
    }

    /// Within the time of a call, which the wait for its turn is part of; `None` if it was not begun. It begins
    /// right after this machine was sure that it leads: whatever was sure before a wait is not after it.
    async fn bounded<'a, T>(
        &'a self,
        to: BankCall,
        late: T,
        call: impl FnOnce() -> BoxFuture<'a, T>,
    ) -> Option<T> {
        if !self.may_call(to) {
            return None;
        }
        let deadline = tokio::time::Instant::now() + self.profile.timeout;
        let turn = deadline.min(tokio::time::Instant::now() + TURN);
        let permit = tokio::time::timeout_at(turn, self.turn()).await.ok()??;
        if !self.may_call(to) {
            return None;
        }
        let ended = tokio::time::timeout_at(deadline, call()).await;
        drop(permit);
        Some(ended.unwrap_or(late))
    }

    async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        let permit = self.permits.acquire().await.ok()?;
        self.outbound.until_it_leads().await;
        Some(permit)
    }

    fn count(&self, call: BankCall, is_answered: bool, took: Duration) {
        {
            let mut figures = self.lock_figures();
            figures.calls += 1;
            figures.errors += u64::from(!is_answered);
            if figures.took_us.len() == TIMED {
                figures.took_us.pop_front();
            }
            figures.took_us.push_back(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        }
        if is_answered {
            self.note_ok();
        }
        let opened = self.circuits().count(call, is_answered, self.now());
        if opened {
            tracing::warn!(
                rail = self.profile.name,
                %call,
                "the circuit of a call has opened: it is not made until a probe is answered"
            );
            self.changed.notify_waiters();
        }
    }

    fn note_ok(&self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.lock_figures().last_ok_ms = i64::try_from(now.as_millis()).ok();
    }

    /// The queue of the last process is whole again; if there is anything in it, a probe comes before it.
    pub fn restored(&self) {
        if !self.queue.is_empty() {
            *self.circuits() = Circuits::awaiting_probe(self.pause, self.now());
        }
        self.queue.restored();
        self.changed.notify_waiters();
    }

    pub fn offer(&self, operation: Id, call: BankCall) -> OrderStanding<'_> {
        self.queue.offer(operation, self.may_call(call), self.now())
    }

    pub fn wake(&self) {
        self.changed.notify_waiters();
    }

    pub async fn next(&self) -> super::queue::Queued {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(first) = self.queue.take_first(self.now(), |call| self.may_call(call)) {
                return first;
            }
            // A hold that ends and a copy that is taken over wake nobody.
            let _ = tokio::time::timeout(self.pause.min(CLOSED_PAUSE), changed).await;
        }
    }

    /// Or longer than any call takes: the book that was to make it may have been halted.
    pub async fn until_called(&self) {
        let called = async {
            loop {
                let mut changed = pin!(self.changed.notified());
                changed.as_mut().enable();
                if self.queue.is_called() {
                    return;
                }
                changed.await;
            }
        };
        let _ = tokio::time::timeout(self.profile.timeout + TURN, called).await;
    }

    pub async fn keep_probing(&self) {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            let Some(until_probe) = self.circuits().until_probe(self.now()) else {
                changed.await;
                continue;
            };
            let wait = if self.outbound.is_open() { until_probe } else { CLOSED_PAUSE };
            if !wait.is_zero() {
                // One that opens meanwhile is looked at at once.
                let _ = tokio::time::timeout(wait, changed).await;
                continue;
            }
            let answers =
                tokio::time::timeout(self.profile.timeout, self.rail.probe()).await.unwrap_or(false);
            let closed = self.circuits().probed(answers, self.now());
            let rail = self.profile.name;
            if !answers {
                tracing::warn!(
                    rail,
                    "the rail does not answer: nothing is sent to it until it answers a probe"
                );
                continue;
            }
            self.note_ok();
            self.queue.hold_until(Duration::ZERO);
            self.changed.notify_waiters();
            if closed {
                tracing::info!(rail, "the rail answers: a circuit is closed");
            }
        }
    }

    pub fn figures(&self) -> LaneFigures {
        let (calls, errors, last_ok_ms, mut took) = {
            let figures = self.lock_figures();
            let took: Vec<u64> = figures.took_us.iter().copied().collect();
            (figures.calls, figures.errors, figures.last_ok_ms, took)
        };
        took.sort_unstable();
        let percentile = |percent: usize| {
            let last = took.len().checked_sub(1)?;
            Some(took[last * percent / 100].div_ceil(1_000))
        };
        let (is_open, is_silent, open_calls) = {
            let circuits = self.circuits();
            (circuits.is_open(), circuits.open_seconds(None, self.now()).is_some(), circuits.open_calls())
        };
        LaneFigures {
            name: self.profile.name,
            serves: self.profile.services.to_vec(),
            is_open,
            is_silent,
            open_calls,
            calls,
            errors,
            p50_ms: percentile(50),
            p99_ms: percentile(99),
            last_ok_ms,
            queued: self.queue.len(),
        }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn lock_figures(&self) -> MutexGuard<'_, Figures> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn circuits(&self) -> MutexGuard<'_, Circuits> {
        self.circuits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Calling<'a> {
    lane: &'a Lane,
    operation: Id,
}

impl Drop for Calling<'_> {
    fn drop(&mut self) {
        self.lane.queue.call_ended(self.operation);
        self.lane.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Order;
    use super::super::checking::Finding;
    use super::super::live::{Recall, UNFIT};
    use super::*;
    use domain::values::money::{Currency, Ves};
    use domain::values::time::Timestamp;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use uuid::Uuid;

    #[derive(Default)]
    struct Held {
        executed: AtomicUsize,
        let_go: Notify,
    }

    impl LiveRail for Held {
        fn profile(&self) -> Profile {
            Profile { name: "held", services: &[], amount_max: None, timeout: Duration::from_secs(20) }
        }

        fn recall(&self, order: &Order) -> Option<Recall> {
            matches!(order, Order::PriceUsdt { .. }).then_some(Recall::Unaskable)
        }

        fn execute<'a>(&'a self, _: &'a Call) -> BoxFuture<'a, Result<Report, NotSent>> {
            self.executed.fetch_add(1, Ordering::SeqCst);
            Box::pin(async {
                self.let_go.notified().await;
                Err(NotSent::NoConnection)
            })
        }

        fn look<'a>(&'a self, _: &'a Call, _: Option<&'a RailId>) -> BoxFuture<'a, Look> {
            Box::pin(async { Look::NotAsked })
        }

        fn probe(&self) -> BoxFuture<'_, bool> {
            Box::pin(async { true })
        }

        fn check(&self) -> BoxFuture<'_, Vec<Finding>> {
            Box::pin(async { Vec::new() })
        }
    }

    fn call() -> Call {
        Call {
            operation_id: Uuid::nil(),
            at: Timestamp::EPOCH,
            tenant: 1,
            order: Order::PriceUsdt { currency: Currency::Ves },
        }
    }

    fn lane(rail: &Arc<Held>) -> (Lane, Arc<AtomicBool>) {
        let leads = Arc::new(AtomicBool::new(true));
        let asked = Arc::clone(&leads);
        let confirm: crate::outbound::Leads = Arc::new(move || {
            let leads = asked.load(Ordering::SeqCst);
            Box::pin(async move {
                if !leads {
                    std::future::pending::<()>().await;
                }
            })
        });
        let outbound = Outbound::open().led_by(Some(confirm));
        let rail: Arc<dyn LiveRail> = Arc::<Held>::clone(rail);
        (Lane::new(rail, outbound, Duration::from_secs(60), 1), leads)
    }

    #[tokio::test(start_paused = true)]
    async fn an_order_that_waited_for_its_turn_is_not_sent_by_a_machine_that_leads_no_more() {
        let rail = Arc::<Held>::default();
        let (lane, leads) = lane(&rail);
        let (first, second) = (call(), call());
        let replaced = async {
            tokio::task::yield_now().await;
            assert_eq!(rail.executed.load(Ordering::SeqCst), 1, "the second waits");
            leads.store(false, Ordering::SeqCst);
            rail.let_go.notify_one();
        };
        let (_, (answer, _), ()) = tokio::join!(lane.send(&first), lane.send(&second), replaced);
        assert_eq!(answer, RailAnswer::NotSent);
        assert_eq!(rail.executed.load(Ordering::SeqCst), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn an_order_that_the_rail_does_not_say_how_to_learn_of_is_refused_without_a_call() {
        let rail = Arc::<Held>::default();
        let (lane, _) = lane(&rail);
        let card = Call { order: Order::ChargeCard { amount: Ves::ZERO, card: None }, ..call() };
        assert_eq!(lane.send(&card).await.0, RailAnswer::refused(UNFIT));
        assert_eq!((rail.executed.load(Ordering::SeqCst), lane.figures().calls), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn an_order_that_waited_while_the_circuit_opened_is_not_sent() {
        let rail = Arc::<Held>::default();
        let (lane, _) = lane(&rail);
        let lane = Arc::new(lane);
        let sent: Vec<_> = (0..6)
            .map(|_| {
                let lane = Arc::clone(&lane);
                tokio::spawn(async move { lane.send(&call()).await.0 })
            })
            .collect();
        for _ in 0..5 {
            rail.let_go.notify_one();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        for sent in sent {
            assert_eq!(sent.await.expect("it ends"), RailAnswer::NotSent);
        }
        assert_eq!(rail.executed.load(Ordering::SeqCst), 5, "five failures open it");
    }
}
