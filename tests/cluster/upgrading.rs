//! Nodes of two releases: records are written in the stored version that every known node reads. The release before is
//! played by words in etcd, as it would leave them; and by its own program under load, node by node, there and back and
//! there again, where that is there (`tests/cluster/last-release`, which `make cluster-test` runs).

use crate::insist;
use crate::load::Load;
use crate::machines::{Machines, ok};
use crate::rounds::{CALLERS, judge, prepare};
use domain::codec::{BEFORE, NEWEST, READABLE};
use etcd_client::{Client, KvClient};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};
use tokio::runtime::Runtime;

/// The longest that it takes to raise the version once every node reads it.
const RAISED: Duration = Duration::from_secs(30);
/// Several looks of a leader at what its nodes read.
const LOOKS: Duration = Duration::from_secs(4);
/// The silence after which a standby of these tests takes over, several times.
const SILENCE: Duration = Duration::from_millis(3 * 1_500);
/// Load on a cluster of two releases, before the next node is changed.
const MIXED: Duration = Duration::from_secs(2);
const FOUNDED: &str = "/pasarela/main/founded";

/// What the nodes have agreed on, as anybody could write it.
pub struct Words {
    runtime: Runtime,
    client: KvClient,
}

impl Words {
    pub fn of(machines: &Machines) -> Words {
        let runtime = Runtime::new().expect("a runtime");
        let client = runtime.block_on(Client::connect([machines.etcd_endpoint()], None)).expect("it answers");
        Words { client: client.kv_client(), runtime }
    }

    pub fn read(&self, key: &str) -> String {
        let answer = self.runtime.block_on(self.client.clone().get(key, None)).expect("it answers");
        answer.kvs().first().expect("it is there").value_str().expect("a text").to_owned()
    }

    pub fn write(&self, key: &str, value: &str) {
        self.runtime.block_on(self.client.clone().put(key, value, None)).expect("it answers");
    }

    pub fn remove(&self, key: &str) {
        self.runtime.block_on(self.client.clone().delete(key, None)).expect("it answers");
    }

    /// Has the cluster store this version, in the words of whoever raised it; `None`: as the first release founded it.
    fn store(&self, version: Option<u8>) {
        let founded = self.read(FOUNDED);
        let words: Vec<&str> = founded.split(' ').collect();
        let (fingerprint, id) = (words[1], words[2]);
        self.write(
            FOUNDED,
            &match version {
                None => format!("1 {fingerprint} {id}"),
                Some(version) => format!("2 {fingerprint} {id} {version}"),
            },
        );
    }
}

fn shown(machines: &Machines, node: usize) -> Value {
    ok(machines.operator(node, "GET", "/admin/cluster", None))
}

fn stored(machines: &Machines, node: usize) -> Option<u64> {
    machines.operator(node, "GET", "/admin/cluster", None)?.1["storedVersion"].as_u64()
}

fn until_stored(machines: &Machines, version: u8) {
    let began = Instant::now();
    machines.until(|machines| (0..3).all(|node| stored(machines, node) == Some(version.into())));
    assert!(began.elapsed() < RAISED, "{:?}", began.elapsed());
}

/// The versions of a node's records, from the first after `after` on.
fn versions(machines: &Machines, node: usize, after: u64) -> Vec<u8> {
    let log = wal::Reader::open_read_only(machines.data(node).join("log")).expect("a log");
    let records = log.records(after + 1, None).map(|record| record.expect("it can be read").payload[0]);
    records.collect()
}

/// Every file of a directory, with its size and when it was changed.
fn files(directory: &Path) -> BTreeMap<PathBuf, (u64, SystemTime)> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("an entry");
        let about = entry.metadata().expect("it is there");
        match about.is_dir() {
            true => found.extend(files(&entry.path())),
            false => drop(found.insert(entry.path(), (about.len(), about.modified().expect("a time")))),
        }
    }
    found
}

fn verify(machines: &Machines) {
    for node in 0..3 {
        let verified = machines.command(node, &["wal", "verify"]);
        assert!(verified.status.success(), "n{node}: {}", String::from_utf8_lossy(&verified.stderr));
    }
}

#[test]
fn the_stored_version_is_what_every_known_node_reads() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found_without_serving();
    let words = Words::of(&machines);
    assert!(words.read(FOUNDED).ends_with(&format!(" {NEWEST}")), "a new cluster stores the newest");
    // As the release before founded it, with a node of its own that is away.
    words.store(None);
    let at = "http://127.0.0.1:1";
    let before = json!({ "node": "n9", "id": "i", "place": "p", "role": "standby", "walSeq": 0, "seenAtMs": 1,
        "version": "0.2.0", "format": BEFORE, "advertise": at, "peerAdvertise": at });
    words.write("/pasarela/main/nodes/n9", &before.to_string());
    machines.start(0);
    machines.until(|machines| machines.is_ready(0));
    for node in 1..3 {
        let joined = machines.command(node, &["cluster", "join", "--from", &machines.peer(0)]);
        assert!(joined.status.success(), "{}", String::from_utf8_lossy(&joined.stderr));
        machines.start(node);
    }
    machines.until_ready();
    machines.until(|machines| shown(machines, 1)["nodes"].as_array().map(Vec::len) == Some(4));
    insist(&machines, "before");
    let made = machines.post(1, "/v1/keys", &json!({ "scopes": ["read"] })).expect("an answer");
    assert_eq!(made.0, 201, "what the release before knows is done: {made:?}");
    let named = |machines: &Machines| {
        machines.post(2, "/v1/keys", &json!({ "scopes": ["read"], "name": "till" })).expect("an answer")
    };
    let (status, refused) = named(&machines);
    assert_eq!((status, &refused["error"]), (503, &json!("storage_unavailable")), "{refused}");
    assert!(refused["message"].to_string().contains("earlier version"), "{refused}");
    std::thread::sleep(LOOKS);
    // Nor does the next leader.
    let leader = machines.leader();
    machines.kill(leader);
    insist(&machines, "after-a-takeover");
    machines.start(leader);
    machines.until_ready();
    std::thread::sleep(LOOKS);
    until_stored(&machines, BEFORE);
    let read: BTreeMap<String, u64> = shown(&machines, 0)["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .map(|node| {
            (node["node"].as_str().expect("a name").to_owned(), node["reads"].as_u64().expect("a number"))
        })
        .collect();
    let newest = ["n0", "n1", "n2"].map(|node| (node.to_owned(), u64::from(NEWEST)));
    assert_eq!(read, newest.into_iter().chain([("n9".to_owned(), u64::from(BEFORE))]).collect());
    let table = machines.command(1, &["cluster", "status"]);
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(table.contains("reads") && table.contains(&format!("stored version {BEFORE}")), "{table}");
    machines.until_caught_up();
    let last = shown(&machines, 0)["walSeq"].as_u64().expect("a sequence");
    let written = versions(&machines, 0, 0);
    assert!(written.iter().all(|version| *version == BEFORE), "{written:?}");

    // One whose words nobody here can read goes too, and is named meanwhile.
    words.write("/pasarela/main/nodes/n8", "of a later program");
    let refused = machines.command(1, &["cluster", "forget", "n7"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(1) && said.contains("n2, n8, n9"), "{said}");
    let forgotten = machines.command(1, &["cluster", "forget", "n8"]);
    assert!(forgotten.status.success(), "{}", String::from_utf8_lossy(&forgotten.stderr));
    // The last that reads less is gone for good.
    let forgotten = machines.command(1, &["cluster", "forget", "n9"]);
    assert!(forgotten.status.success(), "{}", String::from_utf8_lossy(&forgotten.stderr));
    until_stored(&machines, NEWEST);
    assert_eq!(named(&machines).0, 201, "what is new is done from here on");
    machines.until_caught_up();
    for node in 0..3 {
        let written = versions(&machines, node, last);
        assert!(written.is_sorted() && written.last() == Some(&NEWEST), "n{node}: {written:?}");
    }
    machines.stop_all();
    machines.tips_are_equal();
    verify(&machines);
}

#[test]
fn an_earlier_program_is_refused_untouched_and_leads_nobody() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    insist(&machines, "known-to-all");
    let leader = machines.leader();
    let [away, through] = [(leader + 1) % 3, (leader + 2) % 3];
    machines.stop(away);
    // Others have raised it while one was down, and one was forgotten and runs.
    let words = Words::of(&machines);
    words.store(Some(NEWEST + 1));
    let before = files(&machines.data(away));
    let refused = machines.command(away, &["serve"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.lines().count() == 1 && said.contains("upgrade this node"), "{said}");
    assert!(said.contains(&format!("version {}", NEWEST + 1)), "{said}");
    assert!(!said.contains("was seen") && !said.contains("in use"), "{said}");
    assert_eq!(files(&machines.data(away)), before, "a refused start changes nothing");
    std::fs::rename(machines.data(away), machines.path("kept")).expect("it moves");
    let refused = machines.command(away, &["cluster", "join", "--from", &machines.peer(leader)]);
    assert_eq!(refused.status.code(), Some(1), "{}", String::from_utf8_lossy(&refused.stderr));
    assert!(!machines.data(away).exists(), "nothing was copied");
    let is_refused = |machines: &Machines| {
        let says = machines.get(through, "/readyz");
        matches!(says, Some((503, shown)) if shown["reason"].to_string().contains("upgrade this node"))
    };
    machines.until(is_refused);
    let epoch = shown(&machines, through)["epoch"].clone();
    let to = json!({ "to": format!("n{through}") });
    let handed = machines.operator(leader, "POST", "/admin/cluster/hand-over", Some(&to)).expect("an answer");
    assert_eq!((handed.0, &handed.1["error"]), (409, &json!("not_a_candidate")), "{handed:?}");
    machines.kill(leader);
    std::thread::sleep(SILENCE);
    assert!(is_refused(&machines), "{:?}", machines.get(through, "/readyz"));
    assert_eq!(shown(&machines, through)["epoch"], epoch);
    let version = Command::new(env!("CARGO_BIN_EXE_pasarela")).arg("--version").output().expect("it runs");
    let expected = format!("pasarela {} stores {NEWEST}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(String::from_utf8_lossy(&version.stdout), expected);
}

#[test]
fn an_upgrade_under_load_node_by_node_and_back_loses_nothing_and_doubles_nothing() {
    let Some(earlier) = std::env::var_os("PASARELA_BEFORE").map(PathBuf::from) else {
        eprintln!("the last release's program is not there (tests/cluster/last-release): nothing was tried");
        return;
    };
    let Some(mut machines) = Machines::new() else { return };
    let mixed = stores(&earlier);
    (0..3).for_each(|node| machines.run_by(node, &earlier));
    machines.found();
    let (merchant, balance) = prepare(&machines);
    let (load, callers) = Load::begin(machines.ports(), &merchant, CALLERS.0, CALLERS.1);
    let newer = PathBuf::from(env!("CARGO_BIN_EXE_pasarela"));
    std::thread::sleep(MIXED);
    // The leader goes first; then both kinds of program lead each other; then all the way back.
    let first = machines.leader();
    let second = (first + 1) % 3;
    for (node, program) in [(first, &newer), (second, &newer), (first, &earlier), (second, &earlier)] {
        change(&mut machines, &load, node, program);
        for to in [first, (first + 2) % 3] {
            let body = json!({ "to": format!("n{to}") });
            let handed = machines.operator(node, "POST", "/admin/cluster/hand-over", Some(&body));
            assert_eq!(handed.as_ref().map(|(status, _)| *status), Some(200), "{handed:?}");
            std::thread::sleep(MIXED);
        }
        let is_newer = |node: &usize| machines.runs(*node, &newer);
        for node in (0..3).filter(is_newer) {
            assert_eq!(stored(&machines, node), Some(mixed.into()), "n{node}");
        }
    }
    // What the newer program left is good to the earlier one.
    machines.stop(second);
    let verified = machines.command(second, &["wal", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    machines.start(second);
    machines.until_ready();
    for node in 0..3 {
        change(&mut machines, &load, node, &newer);
    }
    until_stored(&machines, NEWEST);
    std::thread::sleep(MIXED);
    load.end();
    callers.into_iter().for_each(|caller| caller.join().expect("a caller"));
    load.with(|history| judge(&machines, history, balance));
    machines.until_caught_up();
    let written = versions(&machines, 0, 0);
    assert!(written.is_sorted() && written[0] == mixed && written.last() == Some(&NEWEST));
    if mixed < NEWEST {
        refuse(&mut machines, &earlier);
    }
    machines.stop_all();
    machines.tips_are_equal();
    verify(&machines);
}

/// Stops a node in good order, and starts it as another program.
fn change(machines: &mut Machines, load: &Load, node: usize, program: &Path) {
    let began = Instant::now();
    machines.stop(node);
    machines.run_by(node, program);
    machines.start(node);
    machines.until_ready();
    std::thread::sleep(MIXED);
    eprintln!("n{node} is {}: longest gap {} ms", program.display(), load.longest_gap(began).as_millis());
}

/// The newest stored version that a program writes; the first release does not say it.
fn stores(program: &Path) -> u8 {
    let said = Command::new(program).arg("--version").output().expect("it runs").stdout;
    let said = String::from_utf8_lossy(&said).into_owned();
    said.trim().split_once(" stores ").map_or(READABLE[0], |(_, version)| version.parse().expect("a version"))
}

/// A standby is the earlier program once more, which is too late.
fn refuse(machines: &mut Machines, earlier: &Path) {
    let back = (machines.leader() + 1) % 3;
    machines.stop(back);
    machines.run_by(back, earlier);
    let refused = machines.command(back, &["serve"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    // Beside its log lines: a program that was released reads its own log first.
    let said: Vec<&str> = said.lines().filter(|line| line.starts_with("pasarela: ")).collect();
    assert!(!refused.status.success() && said.len() == 1, "{said:?}");
    eprintln!("the earlier program, once the version is raised: {:?}, {}", refused.status.code(), said[0]);
    machines.run_by(back, Path::new(env!("CARGO_BIN_EXE_pasarela")));
    machines.start(back);
    machines.until_ready();
}
