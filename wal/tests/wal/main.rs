//! Tests of the log through its public face, one file for each promise.

mod agreement;
mod basics;
mod beside;
mod cluster;
mod crash;
mod damage;
mod format;
mod kill;
mod opening;
mod order;
mod pieces;
mod poison;
mod reading;
mod rehearsal;
mod stepper;
mod thinning;

use faulty::MemoryStore;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use wal::{
    Append, Completion, Config, Durable, IndexOps, Log, Poisoned, Retention, Snapshot, Store, Superfluous,
};

type Outcome = Result<Durable, Poisoned>;

/// A completion that passes the outcome on.
struct Reply(Sender<Outcome>);

impl Completion for Reply {
    fn complete(self, outcome: Outcome) {
        // A test that does not care has dropped the receiver.
        let _ = self.0.send(outcome);
    }
}

/// An outcome that will come.
struct Pending(Receiver<Outcome>);

impl Pending {
    fn wait(&self) -> Outcome {
        self.0.recv_timeout(Duration::from_secs(60)).expect("every completion is called")
    }

    fn seq(&self) -> u64 {
        self.wait().expect("it is durable").seq
    }

    /// The outcome, if it is known.
    fn outcome(&self) -> Option<Outcome> {
        self.0.try_recv().ok()
    }

    fn is_open(&self) -> bool {
        self.0.try_recv().is_err()
    }
}

fn reply() -> (Reply, Pending) {
    let (sender, receiver) = channel();
    (Reply(sender), Pending(receiver))
}

fn record(tenant: u64, payload: &[u8]) -> Append {
    Append { tenant, time_ms: 1_700_000_000_000, payload: payload.to_vec(), index: IndexOps::new() }
}

fn append(log: &Log<Reply>, record: Append) -> Pending {
    let (completion, pending) = reply();
    log.append(record, completion);
    pending
}

fn fence(log: &Log<Reply>) -> Pending {
    let (completion, pending) = reply();
    log.fence(completion);
    pending
}

fn snapshot(log: &Log<Reply>, tenant: u64, state: &[u8]) -> Pending {
    let (completion, pending) = reply();
    let snapshot =
        Snapshot { tenant, time_ms: 1_700_000_000_001, state: state.to_vec(), index: IndexOps::new() };
    log.snapshot(snapshot, completion);
    pending
}

fn remove(log: &Log<Reply>, superfluous: Superfluous) -> Pending {
    let (completion, pending) = reply();
    log.remove_snapshots(superfluous, completion);
    pending
}

/// Keeps the first snapshot of each 30 days and the two newest.
fn everything_old() -> Retention {
    Retention { all_ms: -1, hourly_ms: -1, daily_ms: -1 }
}

fn raise_floor(log: &Log<Reply>, floor: u64) -> Pending {
    let (completion, pending) = reply();
    log.raise_floor(floor, completion);
    pending
}

fn open(store: impl Store + 'static) -> Log<Reply> {
    Log::open(Box::new(store), Config::default()).expect("the log opens")
}

fn refusal(store: impl Store + 'static) -> String {
    match Log::<Reply>::open(Box::new(store), Config::default()) {
        Ok(_) => panic!("the log opened"),
        Err(error) => error.to_string(),
    }
}

/// A store of memory with this many records of 40 bytes, and the log over it closed.
fn filled(records: u64) -> MemoryStore {
    let store = MemoryStore::new();
    let log = open(store.clone());
    for n in 1..=records {
        append(&log, record(n % 3, &[n as u8; 40])).seq();
    }
    log.close();
    store
}
