//! Durable appends a second, in process: this log on RocksDB beside group commit to a plain file,
//! the same records in the same run.
//!
//! A producer has one record of 200 bytes in flight, as one HTTP connection has. The plain file is
//! the least that group commit can cost: no index, no recovery, no checks. `cargo bench -p wal`;
//! with `SECONDS=5` in the environment each case runs that long; `cargo bench -p wal --
//! indexed-1024` runs one case.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use wal::{Append, Completion, Config, Durable, IndexOps, Log, Poisoned, RocksStore};

const RECORD_BYTES: usize = 200;
const PRODUCERS: [usize; 3] = [1, 64, 1_024];
const CASES: [(&str, &str); 4] = [
    ("plain", "plain file, fdatasync"),
    ("bare", "this log, no index"),
    ("indexed", "this log, 1 index entry"),
    ("payout", "this log, as of payouts"),
];

struct Reply(oneshot::Sender<u64>);

impl Completion for Reply {
    fn complete(self, outcome: Result<Durable, Poisoned>) {
        // A producer that has stopped does not wait.
        let _ = self.0.send(outcome.expect("the disk works").seq);
    }
}

/// The figures of a run.
struct Run {
    elapsed: Duration,
    waits: Vec<Duration>,
    batches: u64,
    syncs_time: Option<Duration>,
    cpu: Duration,
}

impl Run {
    fn print(mut self, what: &str, producers: usize) {
        self.waits.sort_unstable();
        let records = self.waits.len();
        let micros = |per_mille: usize| self.waits[(records - 1) * per_mille / 1_000].as_micros();
        let rate = records as u128 * 1_000 / self.elapsed.as_millis();
        let batch = records as u64 / self.batches.max(1);
        let sync = self
            .syncs_time
            .map_or("-".into(), |time| (time.as_micros() / u128::from(self.batches.max(1))).to_string());
        let cpu = self.cpu.as_nanos() / records as u128;
        println!(
            "{what:<26} {producers:>9} {rate:>10} {batch:>8} {sync:>9} {:>8} {:>8} {cpu:>8}",
            micros(500),
            micros(990)
        );
    }
}

/// Keeps `producers` records in flight for a while.
fn produce(
    producers: usize,
    time: Duration,
    append: impl Fn(u64, oneshot::Sender<u64>) + Clone + Send + Sync + 'static,
) -> Run {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime starts");
    let (began, cpu) = (Instant::now(), cpu());
    let tasks: Vec<_> = (0..producers as u64)
        .map(|producer| {
            let append = append.clone();
            runtime.spawn(async move {
                let mut waits = Vec::new();
                while began.elapsed() < time {
                    let asked = Instant::now();
                    let (sender, answer) = oneshot::channel();
                    append(producer, sender);
                    answer.await.expect("every record is answered");
                    waits.push(asked.elapsed());
                }
                waits
            })
        })
        .collect();
    let mut waits = Vec::new();
    for task in tasks {
        waits.extend(runtime.block_on(task).expect("a producer does not panic"));
    }
    Run { elapsed: began.elapsed(), waits, batches: 0, syncs_time: None, cpu: self::cpu() - cpu }
}

/// Of the whole process, producers and RocksDB's threads included.
fn cpu() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(spent.tv_sec as u64, spent.tv_nsec as u32)
}

/// Entries of the shapes and sizes that a payout has: those of its first record, or of its second.
fn of_payout(index: &mut IndexOps, tenant: u32, number: u64, is_second: bool) {
    let scattered = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    // Ids sort by time; names and hashes lie anywhere.
    let id = [number.to_be_bytes(), scattered.to_be_bytes()].concat();
    let hash = [
        scattered.to_be_bytes(),
        scattered.rotate_left(32).to_be_bytes(),
        id[..8].try_into().expect("eight bytes"),
        [7; 8],
    ]
    .concat();
    let key = |tenant: u32, parts: &[&[u8]]| [&tenant.to_be_bytes()[..], &parts.concat()].concat();
    index.put_seq(&key(tenant, &[b"e\x02", &id]));
    index.put_seq(&key(tenant, &[b"v", &(2 * number + u64::from(is_second)).to_be_bytes()]));
    index.put_seq(&key(tenant, &[b"k", &hash]));
    if is_second {
        index.delete(&key(tenant, &[b"l\x02\0", &id]));
        index.put(&key(tenant, &[b"l\x02\x01", &id]), &[]);
        index.put(&key(0, &[b"q\x01", &hash[..8], &tenant.to_be_bytes(), &id, &[2]]), &[]);
    } else {
        index.put(&key(tenant, &[b"l\x02\0", &id]), &[]);
        index.put(&key(tenant, &[b"r\x02", format!("order-{scattered:016x}").as_bytes()]), &id);
        index.put_at_seq(&key(tenant, &[b"m\0\x07", &number.to_be_bytes()]), &[]);
    }
}

fn this_log(dir: &Path, producers: usize, time: Duration, case: &'static str) -> Run {
    let store = RocksStore::open(dir).expect("it opens");
    let log: Log<Reply> = Log::open(Box::new(store), Config::default()).expect("it opens");
    let handle = log.clone();
    let next = Arc::new(AtomicU64::new(0));
    let mut run = produce(producers, time, move |producer, sender| {
        let mut index = IndexOps::new();
        if case == "payout" {
            let number = next.fetch_add(1, Ordering::Relaxed);
            // The second record of a payout comes when its first is durable.
            let (payout, is_second) = (number - number % 128 / 64 * 64, number % 128 >= 64);
            of_payout(&mut index, 1, payout, is_second);
        } else if case == "indexed" {
            // A name that the caller chose: new each time and nowhere near the last one.
            let scattered = next.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let mut key = [0; 24];
            key[..8].copy_from_slice(&(producer % 4).to_be_bytes());
            key[8..16].copy_from_slice(&scattered.to_be_bytes());
            index.put_seq(&key);
        }
        let payload = vec![producer as u8; RECORD_BYTES];
        handle.append(Append { tenant: producer, time_ms: 0, payload, index }, Reply(sender));
    });
    let stats = log.stats();
    run.batches = stats.batches;
    run.syncs_time = Some(stats.syncs_time);
    log.close();
    run
}

fn plain_file(path: &Path, producers: usize, time: Duration) -> Run {
    let mut file = File::create(path).expect("a file can be created");
    let (records, receiver) = crossbeam::channel::unbounded::<([u8; RECORD_BYTES], oneshot::Sender<u64>)>();
    let writer = std::thread::spawn(move || {
        let (mut buffer, mut waiting, mut seq, mut batches) = (Vec::new(), Vec::new(), 0, 0);
        while let Ok(first) = receiver.recv() {
            for (record, reply) in std::iter::once(first).chain(receiver.try_iter().take(8_191)) {
                buffer.extend_from_slice(&record);
                waiting.push(reply);
            }
            file.write_all(&buffer).expect("the disk works");
            file.sync_data().expect("the disk works");
            buffer.clear();
            batches += 1;
            for reply in waiting.drain(..) {
                seq += 1;
                let _ = reply.send(seq);
            }
        }
        batches
    });
    let mut run = produce(producers, time, move |producer, sender| {
        records.send(([producer as u8; RECORD_BYTES], sender)).expect("the writer is there");
    });
    run.batches = writer.join().expect("the writer does not panic");
    run
}

fn main() {
    let seconds = std::env::var("SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(3);
    let time = Duration::from_secs(seconds);
    let dir = tempfile::tempdir().expect("a directory can be created");
    println!(
        "{:<26} {:>9} {:>10} {:>8} {:>9} {:>8} {:>8} {:>8}",
        "200-byte records", "producers", "records/s", "a batch", "write us", "p50 us", "p99 us", "CPU ns"
    );
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    for producers in PRODUCERS {
        for (name, what) in CASES {
            let case = format!("{name}-{producers}");
            if only.as_ref().is_some_and(|only| *only != case) {
                continue;
            }
            let path = dir.path().join(&case);
            let run = match name {
                "plain" => plain_file(&path, producers, time),
                _ => this_log(&path, producers, time, name),
            };
            run.print(what, producers);
        }
    }
}
