//! Nodes of different versions on one log: a node of a later version leads and writes what the
//! others cannot read. Its part is played here, with the log of a node that was stopped.

use crate::insist;
use crate::machines::{Machines, ok};
use crate::proxy::Ways;
use etcd_client::{
    Client, Compare as EtcdCompare, CompareOp, GetOptions, KvClient, Txn, TxnOp, TxnOpResponse,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use wal::cluster::{
    Change, Compare, Following, Keys, Leader, Pair, Patience, Quorum, Read, Transaction, TransactionOutcome,
    Unanswered,
};
use wal::{Append, Completion, Durable, Log, Poisoned, RocksStore};

/// The version of a record that no release reads yet.
const LATER: u8 = 200;
/// The silence after which a standby of these tests takes over, several times.
const SILENCE: Duration = Duration::from_millis(4 * 1_500);
const PATIENCE: Patience = Patience { total: Duration::from_secs(10), pause: Duration::from_millis(50) };

/// The quorum, as another program than the server sees it.
struct Outside {
    runtime: Runtime,
    client: KvClient,
    began: Instant,
}

impl Outside {
    fn of(machines: &Machines) -> Outside {
        let runtime = Runtime::new().expect("a runtime");
        let endpoint = machines.etcd_endpoint();
        let client = runtime.block_on(Client::connect([endpoint], None)).expect("it answers");
        Outside { client: client.kv_client(), runtime, began: Instant::now() }
    }

    fn ask(&self, txn: Txn) -> Result<(bool, Vec<Vec<Pair>>), Unanswered> {
        let answer = self.runtime.block_on(self.client.clone().txn(txn));
        let answer = answer.map_err(|error| Unanswered { why: error.to_string() })?;
        let pairs = |response: TxnOpResponse| match response {
            TxnOpResponse::Get(mut get) => {
                get.take_kvs().into_iter().map(etcd_client::KeyValue::into_key_value).collect()
            }
            _ => Vec::new(),
        };
        Ok((answer.succeeded(), answer.op_responses().into_iter().map(pairs).collect()))
    }
}

fn read(read: &Read) -> TxnOp {
    match read {
        Read::Key(key) => TxnOp::get(key.clone(), None),
        Read::Range { from, to, limit, keys_only } => {
            let options = GetOptions::new().with_range(to.clone()).with_limit(*limit as i64);
            TxnOp::get(from.clone(), Some(if *keys_only { options.with_keys_only() } else { options }))
        }
    }
}

impl Quorum for Outside {
    fn transact(&self, transaction: &Transaction) -> Result<TransactionOutcome, Unanswered> {
        let compare = |compare: &Compare| match compare {
            Compare::Is(key, value) => EtcdCompare::value(key.clone(), CompareOp::Equal, value.clone()),
            Compare::Absent(key) => EtcdCompare::version(key.clone(), CompareOp::Equal, 0),
        };
        let change = |change: &Change| match change {
            Change::Put(key, value) => TxnOp::put(key.clone(), value.clone(), None),
            Change::Delete(key) => TxnOp::delete(key.clone(), None),
            Change::DeleteRange(..) => panic!("nothing is pruned here"),
        };
        let txn = Txn::new()
            .when(transaction.compare.iter().map(compare).collect::<Vec<_>>())
            .and_then(transaction.then.iter().map(change).collect::<Vec<_>>())
            .or_else(transaction.otherwise.iter().map(read).collect::<Vec<_>>());
        let (is_done, read) = self.ask(txn)?;
        Ok(if is_done { TransactionOutcome::Done } else { TransactionOutcome::Refused(read) })
    }

    fn read(&self, reads: &[Read]) -> Result<Vec<Vec<Pair>>, Unanswered> {
        Ok(self.ask(Txn::new().and_then(reads.iter().map(read).collect::<Vec<_>>()))?.1)
    }

    fn compact(&self) {}

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn rest(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

struct Told(Sender<bool>);

impl Completion for Told {
    fn complete(self, outcome: Result<Durable, Poisoned>) {
        self.0.send(outcome.is_ok()).expect("somebody waits");
    }
}

/// A node of a later version under the name `n2`: it says that it leads, until this goes.
struct Later {
    leader: Leader,
    following: Following,
    beats: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
}

impl Later {
    /// Takes the log from whoever leads.
    fn begin(machines: &Machines) -> Later {
        let following = Following::new(Arc::new(Outside::of(machines)), Keys::new("main"), "n2");
        let mut taken = None;
        machines.until(|_| {
            // Between two signs of life of that one.
            let seen = following.glance().expect("it answers");
            taken = following.take(&seen, "a-later-version").expect("it answers");
            taken.is_some()
        });
        let leader = taken.expect("it was taken");
        let (is_over, beating) = (Arc::<AtomicBool>::default(), leader.clone());
        let until = Arc::clone(&is_over);
        let beats = std::thread::spawn(move || {
            for count in 1.. {
                if until.load(Ordering::SeqCst) {
                    return;
                }
                // Its silence is what others notice.
                let _ = beating.beat(count, true, Vec::new());
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        Later { leader, following, beats: Some((is_over, beats)) }
    }

    /// Writes a record of its own, with the log of the node whose name it has; its sequence.
    fn write(&self, log: &Path) -> u64 {
        let agreed = self.following.glance().expect("it answers").tip;
        let store = Arc::new(RocksStore::open(log).expect("nobody has it"));
        let agreement = Box::new(self.leader.appender(agreed, PATIENCE));
        let log = Log::<Told>::open_with(store, wal::Config::default(), None, None, Some(agreement));
        let log = log.expect("it opens");
        assert_eq!(log.reader().tip(), agreed.tip);
        let (told, outcome) = channel();
        let payload = vec![LATER, 1, 2, 3];
        log.append(Append { tenant: 1, time_ms: 1, payload, ..Append::default() }, Told(told));
        assert!(outcome.recv().expect("it is told"), "it was not agreed on");
        log.close();
        agreed.tip.seq + 1
    }

    fn fall_silent(&mut self) {
        if let Some((is_over, beats)) = self.beats.take() {
            is_over.store(true, Ordering::SeqCst);
            beats.join().expect("it ends");
        }
    }
}

#[test]
fn nodes_that_cannot_read_a_later_record_follow_no_further_and_never_lead() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    insist(&machines, "known to all");
    let mut later = Later::begin(&machines);
    // From here on nobody else appends, so that all come to the same end.
    machines.until(|machines| {
        let shown = |node| machines.operator(node, "GET", "/admin/cluster", None);
        (0..3).all(|node| {
            shown(node).is_some_and(|(_, shown)| {
                // The one of the same name takes what leads for its own earlier process, which
                // nobody can ask.
                let leads = node == 2 || shown["leader"] == "n2";
                shown["walSeq"] == shown["agreedSeq"] && shown["role"] == "standby" && leads
            })
        })
    });
    machines.stop(2);
    let written = later.write(&machines.data(2).join("log"));
    let tip = |machines: &Machines, node| {
        machines.operator(node, "GET", "/admin/cluster", None).map(|(_, shown)| shown["walSeq"].clone())
    };
    machines.until(|machines| {
        (0..2).all(|node| {
            let says = machines.get(node, "/readyz");
            matches!(says, Some((503, shown)) if shown["reason"].to_string().contains("upgrade this node"))
        })
    });
    let shown = ok(machines.operator(0, "GET", "/admin/cluster", None));
    let epoch = shown["epoch"].clone();
    assert_eq!((shown["walSeq"].as_u64(), shown["agreedSeq"].as_u64()), (Some(written - 1), Some(written)));
    // Whatever is sent to it from now on is taken, and never answered.
    machines.cut_peer(2, Ways::Both, true);
    later.fall_silent();
    // It is silent from now on, and nobody who would lose its record takes its place.
    let began = Instant::now();
    while began.elapsed() < SILENCE {
        for node in 0..2 {
            let answer = machines.post(node, "/v1/merchants", &crate::seller("lost"));
            assert!(matches!(answer, Some((503, _))), "n{node}: {answer:?}, {}", machines.logs());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let shown = ok(machines.operator(1, "GET", "/admin/cluster", None));
    assert_eq!((&shown["epoch"], shown["agreedSeq"].as_u64()), (&epoch, Some(written)));
    // So does the node whose log has it, when it is of the old version again.
    let refused = machines.command(2, &["serve"]);
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains(&format!("version {LATER}")), "{said}");
    // What they had is whole, and waits for their upgrade.
    assert_eq!(tip(&machines, 0), tip(&machines, 1));
    for node in 0..2 {
        machines.stop(node);
        let verified = machines.command(node, &["wal", "verify"]);
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    }
}
