//! Durable commands per second on one book, with the real store: the cost of the host itself, as
//! the toy's rules cost next to nothing.
//!
//! Each caller asks, waits for the durable answer, and asks again; a record is about 200 bytes.
//! `cargo bench -p actors --bench book -- [callers …]`

#[allow(dead_code)]
#[path = "../tests/toy/mod.rs"]
mod toy;

use actors::{Clock, Config, Engine, Shares};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use toy::{Command, Purses, World};
use wal::RocksStore;

const BOOK: u64 = 2;
/// The length of a memo: with the frame of a record, its balance and lengths about 200 bytes in the
/// log.
const MEMO_BYTES: usize = 130;
const WARM_UP: Duration = Duration::from_millis(500);
const MEASURED: Duration = Duration::from_secs(4);

fn main() {
    // cargo adds a flag of its own.
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let rows = if asked.is_empty() { vec![1, 64, 1_024] } else { asked };
    println!(
        "{:>8} {:>12} {:>12} {:>9} {:>13} {:>12}",
        "callers", "commands/s", "wait µs", "syncs/s", "records/sync", "µs/sync"
    );
    for callers in rows {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        runtime.block_on(row(callers));
    }
}

async fn row(callers: usize) {
    let dir = tempfile::tempdir().expect("a directory");
    let store = Box::new(RocksStore::open(dir.path()).expect("a store"));
    let config = Config {
        permits_max: 65_536,
        shares: Shares::UNBOUNDED,
        snapshot_records: u64::MAX,
        snapshot_seconds: 3600,
        idle_seconds: 3600,
        awake_max: usize::MAX,
        has_room: Arc::new(|| true),
        has_room_for_due: Arc::new(|_| true),
        is_elsewhere: None,
        patience: Duration::from_secs(3600),
        on_fatal: Arc::new(|why| panic!("{why}")),
        set_aside: BTreeMap::new(),
        on_halt: Arc::new(|_| {}),
        clock: Clock::system(),
        seeds: actors::unforeseeable(),
        stepper: None,
    };
    let engine = Engine::start(Purses, Arc::new(World::new()), store, wal::Config::default(), config)
        .await
        .expect("an engine");
    let over = Arc::new(AtomicBool::new(false));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..callers {
        let (engine, over) = (engine.clone(), Arc::clone(&over));
        tasks.spawn(async move {
            while !over.load(Ordering::Relaxed) {
                let command = Command::Deposit { amount: 1, memo: vec![7; MEMO_BYTES] };
                assert!(engine.ask_book(BOOK, (0, command), None).await.is_ok());
            }
        });
    }
    tokio::time::sleep(WARM_UP).await;
    let (before, began) = (engine.status().log, Instant::now());
    tokio::time::sleep(MEASURED).await;
    let (after, took) = (engine.status().log, began.elapsed());
    over.store(true, Ordering::Relaxed);
    tasks.join_all().await;
    let (records, syncs) =
        (u128::from(after.records - before.records), u128::from(after.batches - before.batches));
    let (micros, syncing) = (took.as_micros(), (after.syncs_time - before.syncs_time).as_micros());
    let wait = micros * callers as u128 / records.max(1);
    println!(
        "{callers:>8} {:>12} {wait:>12} {:>9} {:>13} {:>12}",
        records * 1_000_000 / micros,
        syncs * 1_000_000 / micros,
        records / syncs.max(1),
        syncing / syncs.max(1)
    );
    engine.stop(Duration::from_secs(5)).await;
}
