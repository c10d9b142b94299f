//! A large book through its snapshot: debits go on meanwhile, and copies, proofs and the next start
//! find it as it was.

use actors::{Clock, Config, Effects, Engine, Failure, Shares};
use api::operators::changes;
use domain::cause::Cause;
use domain::machine::{AnyBook, Domain};
use domain::machine::{Command, KeyedCommand};
use domain::rail::Effect;
use domain::resources::adjustments::Adjustment;
use domain::values::money::Currency;
use pasarela::recovery::verify::verify;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use wal::{Reader, RocksStore};

/// A key of test mode.
pub(crate) const TENANT: u64 = 3;
/// The number of holds that makes a state of several pieces.
const HOLDS: i64 = 30_000;
const LANES: i64 = 500;

struct Nobody;

impl Effects<Domain> for Nobody {
    fn perform(&self, _tenant: u64, _effect: Effect) -> Pin<Box<dyn Future<Output = KeyedCommand> + Send>> {
        unreachable!("nothing here asks for the outside world")
    }
}

pub(crate) async fn engine(data: &Path) -> Engine<Domain> {
    let config = Config {
        permits_max: 10_000,
        shares: Shares::UNBOUNDED,
        snapshot_records: u64::MAX,
        snapshot_seconds: u64::MAX,
        idle_seconds: u64::MAX,
        awake_max: usize::MAX,
        has_room: Arc::new(|| true),
        has_room_for_due: Arc::new(|_| true),
        is_elsewhere: None,
        patience: Duration::from_secs(60),
        on_fatal: Arc::new(|why| panic!("{why}")),
        set_aside: Default::default(),
        on_halt: Arc::new(|_| {}),
        clock: Clock::system(),
        seeds: actors::unforeseeable(),
        stepper: None,
    };
    let domain = Domain {
        rails: Arc::new(domain::rail::TestModeAlone),
        holidays: Vec::new(),
        changes,
        person_marks: Default::default(),
    };
    let store = Box::new(RocksStore::open(data).expect("a store"));
    Engine::start(domain, Arc::new(Nobody), store, wal::Config::default(), config).await.expect("an engine")
}

pub(crate) async fn adjust(engine: &Engine<Domain>, minor: i64, held: bool) {
    let ask = || Adjustment {
        cause: Cause::Funded,
        currency: Currency::Ves,
        minor,
        merchant: None,
        held,
        description: String::new(),
        external_ref: None,
    };
    let settled = loop {
        match engine.ask_book(TENANT, Command::Adjust(Box::new(ask())).into(), None).await {
            // Nothing was done: the log of a busy machine is slow.
            Err(Failure::Overloaded) => tokio::time::sleep(Duration::from_millis(10)).await,
            answer => break answer.expect("an answer"),
        }
    };
    assert!(settled.record.is_some());
}

/// The available and the pending balance, in cents.
async fn balance(engine: &Engine<Domain>) -> (i64, i64) {
    let (AnyBook::Tenant(book), _) = engine.view(TENANT).await.expect("a view") else {
        panic!("not a tenant's book")
    };
    let balance = domain::ledger::balance::balance(&book);
    (balance.available.minor(), balance.held.minor())
}

fn proved(data: &Path) -> u64 {
    let reader = Reader::open_read_only(data).expect("a log");
    let scratch = data.with_extension("scratch");
    verify(&reader, &scratch, &mut |_, _, _| ()).expect("everything is right").snapshots
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_book_is_saved_beside_its_debits_and_comes_back_whole() {
    let dir = tempfile::tempdir().expect("a directory");
    let (data, copy) = (dir.path().join("data"), dir.path().join("copy"));
    let first = engine(&data).await;
    adjust(&first, 1_000_000, false).await;
    let mut lanes = tokio::task::JoinSet::new();
    for _ in 0..LANES {
        let engine = first.clone();
        lanes.spawn(async move {
            for _ in 0..HOLDS / LANES {
                adjust(&engine, 1, true).await;
            }
        });
    }
    lanes.join_all().await;
    // Two rounds of snapshots, each with debits after it.
    let mut debits = 0;
    for _ in 0..2 {
        let round = tokio::spawn({
            let engine = first.clone();
            async move { engine.snapshot().await }
        });
        while !round.is_finished() {
            adjust(&first, -1, false).await;
            debits += 1;
        }
        round.await.expect("no panic").expect("a snapshot");
    }
    adjust(&first, -1, false).await;
    let expected = (1_000_000 - debits - 1, HOLDS);
    assert_eq!(balance(&first).await, expected);
    first.reader().checkpoint(&copy).expect("a copy");
    assert_eq!(proved(&data), 2, "beside the server");
    let stored = first.reader().snapshot(TENANT, None).expect("readable").expect("a snapshot");
    assert!(
        stored.state.len() > 2 * wal::Config::default().piece_bytes_max,
        "{} bytes are not in pieces",
        stored.state.len()
    );
    first.stop(Duration::from_secs(10)).await;
    drop(first);
    assert_eq!((proved(&data), proved(&copy)), (3, 2));
    // The copy replays what came after its last snapshot; the other has nothing to replay.
    for data in [&copy, &data] {
        let next = engine(data).await;
        assert_eq!(balance(&next).await, expected);
        adjust(&next, -1, false).await;
        assert_eq!(balance(&next).await, (expected.0 - 1, HOLDS));
        next.stop(Duration::from_secs(10)).await;
    }
    assert_eq!((proved(&data), proved(&copy)), (4, 3));
}
