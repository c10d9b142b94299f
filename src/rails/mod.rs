//! Rails: the ways money moves outside, through a bank. A bank is called only after the record that
//! says so is durable, and under an operation id of our own, so that after any crash the bank can
//! be asked what became of it. Nothing here knows the ledger, payments or payouts. The simulator is
//! a [`Rail`]: it can always be asked, by the operation's id. A live rail is a `LiveRail`, which a
//! `Lane` puts into service with its circuit and its queue.

pub mod checking;
pub mod circuit;
pub mod evm;
pub mod http;
pub mod lane;
pub mod live;
pub mod queue;
pub mod r4;
pub mod registry;
pub mod secret;
pub mod simulator;
pub mod wompi;

use domain::rail::How;
pub use domain::rail::{Order, RailAnswer};
use domain::values::money::Ves;
use domain::values::time::Timestamp;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use uuid::Uuid;
use wal::{Counted, Histogram};

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub trait Rail: Send + Sync {
    fn name(&self) -> &'static str;

    /// Called only after the record that says so is durable; at most once per operation, except
    /// after [`RailAnswer::NeverReceived`] from [`Rail::ask`].
    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, RailAnswer>;

    fn ask<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, RailAnswer>;

    fn micro_deposits(&self) -> (Ves, Ves);

    /// The same bank for calls that are only rehearsed: what it decides is in no books.
    fn rehearsing(&self) -> Arc<dyn Rail>;

    /// Sends for an operation that the rail had already; 0 where it cannot tell.
    fn duplicate_calls(&self) -> u64 {
        0
    }
}

/// The id is one that the order can be asked about under for ever.
#[derive(Debug)]
pub struct Call {
    pub operation_id: Uuid,
    /// On the tenant's clock.
    pub at: Timestamp,
    pub tenant: u64,
    pub order: Order,
}

// Counters of banks' answers, where they are called.

/// Some take long, and are waited for no longer than half a minute.
const ANSWER_US: [u64; 12] = [
    1_000, 5_000, 25_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 20_000_000,
    30_000_000,
];

const ANSWERS: [&str; 8] =
    ["done", "refused", "waiting", "silent", "never_received", "unaskable", "not_sent", "not_asked"];

#[derive(Debug)]
pub struct Tally {
    answers: [AtomicU64; ANSWERS.len()],
    answer_us: Histogram,
}

impl Tally {
    fn new() -> Tally {
        Tally { answers: Default::default(), answer_us: Histogram::new(&ANSWER_US) }
    }

    pub fn answers(&self) -> impl Iterator<Item = (&'static str, u64)> {
        ANSWERS.into_iter().zip(self.answers.iter().map(|count| count.load(Ordering::Relaxed)))
    }

    pub fn answer_us(&self) -> Counted {
        self.answer_us.counted()
    }
}

#[derive(Debug)]
pub struct Outcomes {
    pub rail: &'static str,
    sent: Tally,
    asked: Tally,
}

impl Outcomes {
    pub fn of(rail: &'static str) -> Outcomes {
        Outcomes { rail, sent: Tally::new(), asked: Tally::new() }
    }

    pub fn note(&self, how: How, answer: &RailAnswer, took: Duration) {
        let tally = match how {
            How::Send | How::Offer => &self.sent,
            How::Ask => &self.asked,
        };
        let place = match answer {
            RailAnswer::Done { .. } => 0,
            RailAnswer::Refused { .. } => 1,
            RailAnswer::Waiting => 2,
            RailAnswer::Silent => 3,
            RailAnswer::NeverReceived => 4,
            RailAnswer::Unaskable => 5,
            RailAnswer::NotSent => 6,
            RailAnswer::NotAsked => 7,
        };
        tally.answers[place].fetch_add(1, Ordering::Relaxed);
        tally.answer_us.note(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    pub fn tallies(&self) -> [(&'static str, &Tally); 2] {
        [("send", &self.sent), ("ask", &self.asked)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_call_and_kind() {
        let outcomes = Outcomes::of("simulator");
        let took = Duration::from_millis(3);
        outcomes.note(How::Send, &RailAnswer::Waiting, took);
        outcomes.note(How::Send, &RailAnswer::Silent, took);
        outcomes.note(How::Ask, &RailAnswer::Silent, took);
        let [(_, sent), (_, asked)] = outcomes.tallies();
        let counts = |tally: &Tally| tally.answers().filter(|(_, count)| *count > 0).collect::<Vec<_>>();
        assert_eq!((counts(sent), counts(asked)), (vec![("waiting", 1), ("silent", 1)], vec![("silent", 1)]));
        assert_eq!((sent.answer_us().total(), sent.answer_us().sum), (2, 6_000));
    }
}
