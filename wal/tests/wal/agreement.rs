//! The writer asks for an agreement before its sync, and acknowledges after both.

use crate::{Reply, append, record};
use faulty::{MemoryQuorum, MemoryStore, Refusal};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use wal::cluster::{
    Agreed, AgreedTip, Agreement, Appender, Change, Following, Founded, Keys, LookError, Patience, Proposal,
    Quorum, Standing, Transaction, found, grow, partitions, place,
};
use wal::{Config, Log, Stepper, Tip};

const PATIENCE: Patience = Patience { total: Duration::from_millis(2_500), pause: Duration::from_millis(50) };

fn founding() -> Founded {
    Founded { fingerprint: "f".to_owned(), id: "i".to_owned(), stores: None }
}

fn following(quorum: &MemoryQuorum, node: &str) -> Following {
    Following::new(Arc::new(quorum.clone()), Keys::new("main"), node)
}

/// A founded cluster and an appender of the node `a`.
fn appender(quorum: &MemoryQuorum) -> Appender {
    found(quorum, &Keys::new("main"), (&founding(), 1), "a", 1, Tip::default()).expect("there is none yet");
    let a = following(quorum, "a");
    let seen = a.look(Tip::default()).expect("it answers");
    a.take(&seen, "t1").expect("it answers").expect("nobody else tries").appender(seen.tip, PATIENCE)
}

fn agreed_log(store: MemoryStore, agreement: impl Agreement + 'static) -> (Log<Reply>, Stepper) {
    let stepper = Stepper::new(|| {});
    let log = Log::open_with(
        Arc::new(store),
        Config::default(),
        None,
        Some(stepper.clone()),
        Some(Box::new(agreement)),
    );
    (log.expect("an empty store opens"), stepper)
}

#[test]
fn a_batch_is_one_transaction_and_a_follower_reads_it() {
    let quorum = MemoryQuorum::new();
    let (log, stepper) = agreed_log(MemoryStore::new(), appender(&quorum));
    let asked: Vec<_> = (0..3).map(|n| append(&log, record(1, &[n; 30]))).collect();
    assert!(stepper.step());
    assert_eq!(asked.iter().map(|pending| pending.seq()).collect::<Vec<_>>(), [1, 2, 3]);
    let seen = following(&quorum, "b").look(Tip::default()).expect("it answers");
    assert_eq!((seen.tip.tip, seen.batches.len()), (log.reader().tip(), 1));
    assert_eq!(seen.batches[0].records[2].payload, [2; 30]);
    assert!(seen.window_bytes > 0 && seen.window_bytes == seen.tip.bytes);
    let middle = Tip { seq: 2, hash: seen.batches[0].records[1].hash };
    let rest = following(&quorum, "b").look(middle).expect("it answers");
    assert_eq!(rest.batches[0].records.len(), 1, "a log that ends inside a batch goes on inside it");
    let other = Tip { seq: 2, hash: [7; 16] };
    assert_eq!(following(&quorum, "b").look(other).expect_err("other"), LookError::Diverged { seq: 2 });
    let ahead = Tip { seq: 4, hash: [7; 16] };
    assert_eq!(
        following(&quorum, "b").look(ahead).expect_err("ahead"),
        LookError::Ahead { local: 4, agreed: 3 }
    );
}

#[test]
fn nothing_is_acknowledged_and_nothing_synced_without_an_answer() {
    let quorum = MemoryQuorum::new();
    let store = MemoryStore::new();
    let (log, stepper) = agreed_log(store.clone(), appender(&quorum));
    let writes = store.faults().writes();
    quorum.faults().cut(0, true);
    let asked = append(&log, record(1, b"r"));
    assert!(!stepper.step());
    assert!(asked.wait().expect_err("nobody answered").outcome_unknown);
    assert_eq!(store.faults().writes(), writes, "the local log is never ahead");
    assert!(!append(&log, record(1, b"r")).wait().expect_err("poisoned").outcome_unknown);
}

#[test]
fn an_answer_that_was_lost_is_asked_for_again() {
    let quorum = MemoryQuorum::new();
    let appender = appender(&quorum);
    // Nine of ten answers are lost: the same transaction is refused then, and its batch is there.
    quorum.faults().begin(7, 0, 900, 0, 0);
    let patient = Duration::from_secs(3_600);
    let (log, stepper) = agreed_log(MemoryStore::new(), patiently(appender, &quorum, patient));
    for n in 0..20 {
        let asked = append(&log, record(1, &[n]));
        assert!(stepper.step());
        assert_eq!(asked.seq(), u64::from(n) + 1);
    }
    quorum.faults().end();
    let seen = following(&quorum, "b").look(Tip::default()).expect("it answers");
    assert_eq!(seen.tip.tip, log.reader().tip(), "each is there once");
}

/// The same appender with another patience.
fn patiently(appender: Appender, quorum: &MemoryQuorum, total: Duration) -> Appender {
    drop(appender);
    quorum.faults().end();
    let a = following(quorum, "a");
    let seen = a.look(Tip::default()).expect("it answers");
    let leader = a.take(&seen, "t2").expect("it answers").expect("nobody else tries");
    quorum.faults().begin(7, 0, 900, 0, 0);
    leader.appender(seen.tip, Patience { total, ..PATIENCE })
}

#[test]
fn a_deposed_writer_is_fenced_and_says_that_nothing_was_written() {
    let quorum = MemoryQuorum::new();
    let (log, stepper) = agreed_log(MemoryStore::new(), appender(&quorum));
    let b = following(&quorum.client(1), "b");
    let seen = b.look(Tip::default()).expect("it answers");
    let leader = b.take(&seen, "t3").expect("it answers").expect("nobody else tries");
    assert_eq!(leader.confirm(), Ok(Standing::Ours));
    let late = following(&quorum, "c").take(&seen, "t4").expect("it answers");
    assert!(late.is_none(), "one epoch is taken once");
    let asked = append(&log, record(1, b"r"));
    assert!(!stepper.step());
    assert!(!asked.wait().expect_err("fenced").outcome_unknown);
    assert_eq!(b.look(Tip::default()).expect("it answers").tip, AgreedTip::default());
}

#[test]
fn a_leader_that_speaks_after_it_was_seen_keeps_the_log() {
    let quorum = MemoryQuorum::new();
    found(&quorum, &Keys::new("main"), (&founding(), 1), "a", 1, Tip::default()).expect("there is none yet");
    let [a, b] = ["a", "b"].map(|node| following(&quorum, node));
    let leader =
        a.take(&a.glance().expect("it answers"), "t6").expect("it answers").expect("nobody else tries");
    leader.beat(1, true, Vec::new()).expect("it answers");
    let seen = b.glance().expect("it answers");
    leader.beat(2, true, Vec::new()).expect("it answers");
    assert!(b.take(&seen, "t7").expect("it answers").is_none(), "it has spoken");
    let seen = b.glance().expect("it answers");
    let (log, stepper) = agreed_log(MemoryStore::new(), leader.appender(seen.tip, PATIENCE));
    let written = append(&log, record(1, b"r"));
    assert!(stepper.step());
    written.wait().expect("it leads");
    assert!(b.take(&seen, "t8").expect("it answers").is_none(), "it has written");
    let seen = b.glance().expect("it answers");
    assert!(b.take(&seen, "t9").expect("it answers").is_some(), "it was silent");
    assert_eq!(leader.confirm(), Ok(Standing::Lost));
}

/// Bytes that do not pack.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

#[test]
fn a_record_above_a_megabyte_travels_in_pieces_and_pruning_takes_them_along() {
    let quorum = MemoryQuorum::new();
    let (log, stepper) = agreed_log(MemoryStore::new(), appender(&quorum));
    let noise = noise(3 << 20);
    let large = append(&log, record(1, &noise));
    let small = append(&log, record(1, b"r"));
    while stepper.step() {}
    assert_eq!((large.seq(), small.seq()), (1, 2));
    let b = following(&quorum, "b");
    let seen = b.look(Tip::default()).expect("it answers");
    assert_eq!(seen.batches[0].records[0].payload, noise);
    let keys = quorum.faults().len();
    let leader = b.take(&seen, "t5").expect("it answers").expect("nobody else tries");
    let pruned = leader.prune(1).expect("it answers");
    let after = b.glance().expect("it answers");
    let left = after.tip.bytes - pruned.before.expect("there was something");
    assert!(left == after.window_bytes && left < 1_000, "{left} bytes are left");
    assert!(quorum.faults().len() < keys - 2, "the batch and its pieces are gone");
    let seen = b.look(Tip { seq: 1, hash: seen.batches[0].records[0].hash }).expect("it answers");
    assert_eq!(seen.batches.len(), 1);
    assert_eq!(b.look(Tip::default()).expect_err("pruned"), LookError::Pruned { after: 0 });
}

#[test]
fn a_store_that_refuses_after_the_agreement_leaves_a_log_that_catches_up() {
    let quorum = MemoryQuorum::new();
    let store = MemoryStore::new();
    let (log, stepper) = agreed_log(store.clone(), appender(&quorum));
    store.faults().refuse_write(1, Refusal::NotStored);
    let asked = append(&log, record(1, b"r"));
    assert!(!stepper.step());
    assert!(asked.wait().expect_err("not stored here").outcome_unknown);
    let seen = following(&quorum, "a").look(Tip::default()).expect("it answers");
    assert_eq!(seen.batches[0].records.len(), 1, "but agreed on");
}

#[test]
fn snapshots_and_floors_need_no_agreement() {
    struct Counts(Arc<AtomicU64>);
    impl Agreement for Counts {
        fn agree(&mut self, _: &Proposal<'_>) -> Agreed {
            self.0.fetch_add(1, Ordering::Relaxed);
            Agreed::Committed
        }
    }
    let count = Arc::new(AtomicU64::new(0));
    let (log, stepper) = agreed_log(MemoryStore::new(), Counts(Arc::clone(&count)));
    let asked = append(&log, record(1, b"r"));
    while stepper.step() {}
    let snapped = crate::snapshot(&log, 1, b"state");
    let floor = crate::raise_floor(&log, 1);
    while stepper.step() {}
    assert_eq!((asked.seq(), snapped.seq(), floor.seq()), (1, 1, 1));
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

/// An agreement that takes a while, and says with how many records it begins.
struct Slow(Sender<u64>);

impl Agreement for Slow {
    fn agree(&mut self, proposal: &Proposal<'_>) -> Agreed {
        self.0.send(proposal.tip.seq - proposal.base.seq).expect("the test listens");
        std::thread::sleep(Duration::from_millis(60));
        Agreed::Committed
    }
}

#[test]
fn callers_who_ask_again_soon_come_to_share_their_agreements() {
    let (to, batches) = channel();
    let agreement: Option<Box<dyn Agreement>> = Some(Box::new(Slow(to)));
    let log = Log::open_with(Arc::new(MemoryStore::new()), Config::default(), None, None, agreement);
    let log = log.expect("an empty store opens");
    std::thread::scope(|scope| {
        let ask = || {
            (0..16).for_each(|n| {
                assert!(append(&log, record(1, &[n])).seq() > 0);
                std::thread::sleep(Duration::from_millis(1)); // the way of an answer and of a question
            })
        };
        scope.spawn(ask);
        // The other comes while the first is being agreed on: from here on they might take turns.
        assert_eq!(batches.recv(), Ok(1));
        scope.spawn(ask);
    });
    let sizes: Vec<u64> = batches.try_iter().collect();
    assert_eq!(sizes.iter().sum::<u64>(), 31);
    let shared = sizes.iter().filter(|size| **size == 2).count();
    assert!(shared >= 4, "two who take turns share none: {sizes:?}");
}

/// An agreement on two records, which is held up; on one it takes no time.
struct HeldUp;

impl HeldUp {
    const TIME: Duration = Duration::from_millis(400);
}

impl Agreement for HeldUp {
    fn agree(&mut self, proposal: &Proposal<'_>) -> Agreed {
        if proposal.tip.seq - proposal.base.seq == 2 {
            std::thread::sleep(HeldUp::TIME);
        }
        Agreed::Committed
    }
}

#[test]
fn after_an_agreement_that_was_held_up_nobody_is_waited_for_longer_than_a_moment() {
    let (log, stepper) = agreed_log(MemoryStore::new(), HeldUp);
    let both_batches = move || {
        let began = Instant::now();
        let two = [append(&log, record(1, b"a")), append(&log, record(1, b"b"))];
        assert!(stepper.step());
        let alone = append(&log, record(1, b"c"));
        assert!(stepper.step());
        two.into_iter().chain([alone]).for_each(|asked| assert!(asked.seq() > 0));
        began.elapsed()
    };
    // Half of the agreement's time is a bound from below, which no try is under. A busy machine holds up a
    // try or two; that is no reason to fail.
    let (done, outcome) = channel();
    std::thread::spawn(move || done.send((0..20).any(|_| both_batches() < HeldUp::TIME * 5 / 4)));
    assert_eq!(
        outcome.recv_timeout(Duration::from_secs(60)),
        Ok(true),
        "the one that is missing is waited for"
    );
}

#[test]
fn the_number_of_partitions_is_the_founders_and_one_where_none_was_written() {
    let quorum = MemoryQuorum::new();
    let (keys, earlier) = (Keys::new("main"), Keys::new("earlier"));
    found(&quorum, &keys, (&founding(), 64), "a", 1, Tip::default()).expect("there is none yet");
    assert_eq!([&keys, &earlier].map(|keys| partitions(&quorum, keys)), [Ok(64), Ok(1)]);
    for (keys, to, has) in [(&earlier, 3, 3), (&earlier, 2, 3), (&earlier, 3, 3), (&keys, 5, 64)] {
        assert_eq!((grow(&quorum, keys, to), partitions(&quorum, keys)), (Ok(()), Ok(has)));
    }
    let write = |words: &[u8]| {
        let then = vec![Change::Put(b"/pasarela/main/partitions".to_vec(), words.to_vec())];
        quorum.transact(&Transaction { then, ..Transaction::default() }).expect("it answers");
    };
    for words in [&b"two"[..], b"", b"256", b"\xff"] {
        write(words);
        assert_eq!(partitions(&quorum, &keys), Err(LookError::Unknown));
    }
}

#[test]
fn a_further_partition_is_in_one_etcd_until_that_is_said_to_be_lost() {
    let [first, own, other] = [(); 3].map(|()| MemoryQuorum::new());
    let (keys, own_keys) = (Keys::new("main"), Keys::new("main~1"));
    let placed = |etcd: &MemoryQuorum, random: &str, is_lost| {
        place((&first, &keys), (etcd, &own_keys), 1, random, is_lost)
    };
    assert_eq!(placed(&own, "a", false), Ok(()));
    // A call after a death in between names it otherwise.
    assert_eq!(placed(&own, "b", false), Ok(()));
    assert_eq!(placed(&other, "c", false), Err(LookError::Elsewhere { partition: 1 }));
    assert_eq!(placed(&first, "d", false), Err(LookError::Elsewhere { partition: 1 }));
    assert_eq!(placed(&other, "e", true), Ok(()));
    assert_eq!(placed(&own, "f", false), Err(LookError::Elsewhere { partition: 1 }));
    // The first one's keys were lost, and it was founded nowhere else.
    let lost = MemoryQuorum::new();
    assert_eq!(place((&lost, &keys), (&other, &own_keys), 1, "g", false), Ok(()));
}

#[test]
fn the_version_of_records_is_raised_by_the_leader_alone_and_while_no_node_says_otherwise() {
    let quorum = MemoryQuorum::new();
    let keys = Keys::new("main");
    found(&quorum, &keys, (&founding(), 1), "a", 1, Tip::default()).expect("there is none yet");
    let (a, b) = (following(&quorum, "a"), following(&quorum, "b"));
    let stores = || a.glance().expect("it answers").stores;
    let first =
        a.take(&a.glance().expect("it answers"), "t1").expect("it answers").expect("nobody else tries");
    b.note(b"reads 8".to_vec()).expect("it answers");
    let seen = a.glance().expect("it answers");
    // It is an earlier program again before the leader has said so.
    b.note(b"reads 7".to_vec()).expect("it answers");
    assert_eq!((first.raise(&seen, 8), stores()), (Ok(Standing::Ours), None));
    b.note(b"reads 8".to_vec()).expect("it answers");
    let second =
        b.take(&b.glance().expect("it answers"), "t2").expect("it answers").expect("nobody else tries");
    let seen = a.glance().expect("it answers");
    assert_eq!((first.raise(&seen, 8), stores()), (Ok(Standing::Lost), None));
    for version in [8, 8, 7] {
        assert_eq!((second.raise(&seen, version), stores()), (Ok(Standing::Ours), Some(8)));
    }
    let founded = wal::cluster::founded(&quorum, &keys).expect("it answers").expect("it is there");
    assert_eq!(founded, Founded { stores: Some(8), ..founding() });
}
