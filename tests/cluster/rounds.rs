//! Rounds of faults under load, with an oracle: every acknowledged payout is there once and no other
//! is, the balances that were read make a history that one account could have, the logs of all nodes
//! end alike and verify, and after each fault somebody is served within five seconds, and no later than that fault allows
//! (`gaps.rs`).
//!
//! `ROUNDS=50 cargo test --test cluster rounds -- --nocapture` prints the figures; `FAULT=LeaderStopped,HandedOver`
//! makes all rounds of these kinds, in turn. The gap is that of six callers who ask all nodes in turn, give an attempt
//! 300 ms and wait 20 ms before the next: the longest time between two successes of any of them.

use crate::gaps::{FAILOVER_MS, is_strict, most};
use crate::load::{History, Load, PAYOUT, hundredths, verified_seller};
use crate::machines::{Machines, ok};
use crate::proxy::Ways;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// The rounds when nobody says how many: one for each fault that is told apart most.
const ROUNDS: usize = 4;
/// The callers that pay, and those that read.
pub const CALLERS: (usize, usize) = (6, 2);
/// The time for which something is stopped or cut.
const LASTS: Duration = Duration::from_secs(4);
/// The time of undisturbed load before each fault.
const QUIET: Duration = Duration::from_millis(1_500);
/// The longest time until somebody is served again.
const FIRST_SUCCESS: Duration = Duration::from_secs(5);

/// What goes wrong in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    LeaderKilled,
    LeaderStopped,
    EtcdLeaderKilled,
    LeaderCutOff,
    EtcdLeaderStopped,
    BothKilled,
    BothStopped,
    /// With the etcd of its machine, which does not lead the others.
    MachineStopped,
    HandedOver,
    LeaderTerminated,
    /// A moment after a standby has died.
    TerminatedBesideDead,
    PeersCutOff,
    /// Their connections end, and no new ones come about.
    PeersBroken,
    LeaderToEtcdLost,
    EtcdToLeaderLost,
    StandbysToLeaderLost,
    LeaderToStandbysLost,
}

const FAULTS: [Fault; 17] = [
    Fault::LeaderKilled,
    Fault::LeaderStopped,
    Fault::EtcdLeaderKilled,
    Fault::LeaderCutOff,
    Fault::EtcdLeaderStopped,
    Fault::BothKilled,
    Fault::BothStopped,
    Fault::MachineStopped,
    Fault::HandedOver,
    Fault::LeaderTerminated,
    Fault::TerminatedBesideDead,
    Fault::PeersCutOff,
    Fault::PeersBroken,
    Fault::LeaderToEtcdLost,
    Fault::EtcdToLeaderLost,
    Fault::StandbysToLeaderLost,
    Fault::LeaderToStandbysLost,
];

impl Fault {
    /// The longest time without a success at the median, and at the 95th percentile, on machines that do nothing else:
    /// docs/operating.md, "What a takeover takes".
    fn allows(self) -> [Duration; 2] {
        let ms = match self {
            Fault::LeaderKilled
            | Fault::EtcdLeaderKilled
            | Fault::EtcdLeaderStopped
            | Fault::TerminatedBesideDead => [500, 1_000],
            // One after the other.
            Fault::BothKilled => [1_000, 2_000],
            Fault::HandedOver | Fault::LeaderTerminated => [100, 100],
            Fault::LeaderStopped
            | Fault::LeaderCutOff
            | Fault::MachineStopped
            | Fault::LeaderToEtcdLost
            | Fault::EtcdToLeaderLost => [FAILOVER_MS + 500, FAILOVER_MS + 1_000],
            Fault::BothStopped => [FAILOVER_MS + 1_000, FAILOVER_MS + 2_000],
            // The leader serves who asks it.
            Fault::PeersCutOff
            | Fault::PeersBroken
            | Fault::StandbysToLeaderLost
            | Fault::LeaderToStandbysLost => [500, 1_000],
        };
        ms.map(Duration::from_millis)
    }
}

/// A round: what went wrong where, and what it did.
struct Round {
    fault: Fault,
    first_success: Duration,
    gap: Duration,
    has_failed_over: bool,
}

#[test]
fn rounds_of_faults_lose_nothing_and_double_nothing() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    let (merchant, before) = prepare(&machines);
    let (load, callers) = Load::begin(machines.ports(), &merchant, CALLERS.0, CALLERS.1);
    let wanted = std::env::var("ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS);
    let mut rounds = Vec::new();
    let kinds = std::env::var("FAULT").ok();
    let is_wanted = |fault: &Fault| {
        kinds.as_ref().is_none_or(|kinds| kinds.split(',').any(|kind| kind == format!("{fault:?}")))
    };
    assert!(FAULTS.iter().any(is_wanted), "FAULT names none of {FAULTS:?}");
    for fault in FAULTS.into_iter().cycle().filter(is_wanted).take(wanted) {
        let round = run(&mut machines, &load, fault);
        eprintln!(
            "round {}: {fault:?}, first success after {} ms, longest gap {} ms, another leads: {}",
            rounds.len() + 1,
            round.first_success.as_millis(),
            round.gap.as_millis(),
            round.has_failed_over
        );
        account(&machines);
        rounds.push(round);
    }
    load.end();
    callers.into_iter().for_each(|caller| caller.join().expect("a caller"));
    load.with(|history| judge(&machines, history, before));
    let late = figures(&rounds);
    machines.stop_all();
    machines.tips_are_equal();
    for node in 0..3 {
        let verified = machines.command(node, &["wal", "verify"]);
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    }
    for round in &rounds {
        assert!(round.first_success <= FIRST_SUCCESS, "{:?}: {:?}", round.fault, round.first_success);
    }
    assert!(late.is_empty(), "longer than it may be: {late:#?}");
}

/// Money, and a seller whom it can be paid to; the balance is what it is before any payout.
pub fn prepare(machines: &Machines) -> (String, u64) {
    let rate = json!({ "pair": "USD/VES", "source": "bcv", "side": "OFFICIAL", "price": "200.00" });
    let recorded = machines.operator(1, "POST", "/admin/rates", Some(&rate));
    assert_eq!(recorded.map(|(status, _)| status), Some(201));
    let post = |path: &str, body: &Value| machines.post(1, path, body).expect("an answer").1;
    let mut charge = json!({ "usdAmount": 5000, "debtorId": "V12345678", "debtorCellPhone": "04141234567",
        "debtorBankCode": 134, "externalRef": "order" });
    let intent = post("/v1/payments/c2p/request", &charge)["intentId"].clone();
    charge["intentId"] = intent;
    charge["token"] = json!("12345678");
    assert_eq!(post("/v1/payments/c2p", &charge)["status"], "COMPLETED");
    post("/v1/test/clock", &json!({ "advanceSeconds": 86_400 }));
    let merchant = verified_seller(machines, 1);
    (merchant, balance(machines))
}

fn balance(machines: &Machines) -> u64 {
    hundredths(&ok(machines.get(2, "/v1/balance"))["ledgerNetVes"])
}

fn run(machines: &mut Machines, load: &Load, fault: Fault) -> Round {
    std::thread::sleep(QUIET);
    let (leader, epoch) = (machines.leader(), epoch(machines));
    let (etcd, other) = (machines.etcd_leader(), (leader + 1) % 3);
    let began = Instant::now();
    match fault {
        Fault::LeaderKilled => machines.kill(leader),
        Fault::LeaderStopped => machines.signal(leader, "STOP"),
        Fault::EtcdLeaderKilled => machines.kill_etcd(etcd),
        Fault::EtcdLeaderStopped => machines.signal_etcd(etcd, "STOP"),
        Fault::LeaderCutOff => machines.cut_off(leader, true),
        Fault::MachineStopped => {
            machines.signal(leader, "STOP");
            machines.signal_etcd((etcd + 1) % 3, "STOP");
        }
        Fault::LeaderTerminated => machines.signal(leader, "TERM"),
        Fault::TerminatedBesideDead => {
            machines.kill(other);
            machines.signal(leader, "TERM");
        }
        Fault::PeersCutOff => machines.cut_peer(leader, Ways::Both, true),
        Fault::PeersBroken => machines.break_peer(leader, true),
        Fault::LeaderToEtcdLost => machines.cut_etcd(leader, Ways::There, true),
        Fault::EtcdToLeaderLost => machines.cut_etcd(leader, Ways::Back, true),
        Fault::StandbysToLeaderLost => machines.cut_peer(leader, Ways::There, true),
        Fault::LeaderToStandbysLost => machines.cut_peer(leader, Ways::Back, true),
        Fault::BothKilled => {
            machines.kill(leader);
            machines.kill_etcd(etcd);
        }
        Fault::BothStopped => {
            machines.signal(leader, "STOP");
            machines.signal_etcd(etcd, "STOP");
        }
        Fault::HandedOver => {
            let to = json!({ "to": format!("n{other}") });
            ok(machines.operator((leader + 2) % 3, "POST", "/admin/cluster/hand-over", Some(&to)));
        }
    }
    let mut first_success = None;
    machines.until(|_| {
        first_success = load.first_success(began);
        first_success.is_some()
    });
    std::thread::sleep(LASTS.saturating_sub(began.elapsed()));
    let gap = load.longest_gap(began);
    match fault {
        Fault::LeaderKilled => machines.start(leader),
        Fault::LeaderStopped => machines.signal(leader, "CONT"),
        Fault::EtcdLeaderKilled => machines.start_etcd(etcd),
        Fault::EtcdLeaderStopped => machines.signal_etcd(etcd, "CONT"),
        Fault::LeaderCutOff => machines.cut_off(leader, false),
        Fault::MachineStopped => {
            machines.signal_etcd((etcd + 1) % 3, "CONT");
            machines.signal(leader, "CONT");
        }
        Fault::LeaderTerminated => {
            machines.until_stopped(leader);
            machines.start(leader);
        }
        Fault::TerminatedBesideDead => {
            machines.until_stopped(leader);
            machines.start(leader);
            machines.start(other);
        }
        Fault::PeersBroken => machines.break_peer(leader, false),
        Fault::LeaderToEtcdLost | Fault::EtcdToLeaderLost => machines.cut_etcd(leader, Ways::Both, false),
        Fault::PeersCutOff | Fault::StandbysToLeaderLost | Fault::LeaderToStandbysLost => {
            machines.cut_peer(leader, Ways::Both, false)
        }
        Fault::BothKilled => {
            machines.start_etcd(etcd);
            machines.start(leader);
        }
        Fault::BothStopped => {
            machines.signal_etcd(etcd, "CONT");
            machines.signal(leader, "CONT");
        }
        Fault::HandedOver => {}
    }
    machines.until_ready();
    let first_success = first_success.expect("somebody was served");
    Round { fault, first_success, gap, has_failed_over: self::epoch(machines) != epoch }
}

/// What the newest takeover of the node that leads has spent its time on.
fn account(machines: &Machines) {
    let log = machines.log(machines.leader());
    for word in ["took the log", "caught up", "serves in the place"] {
        let line = log.lines().rev().find(|line| line.contains(word)).unwrap_or_default();
        let line: Value = serde_json::from_str(line).unwrap_or_default();
        let ms = line.as_object().into_iter().flatten().filter(|(name, _)| name.ends_with("_ms"));
        let ms: Vec<String> = ms.map(|(name, value)| format!("{name} {value}")).collect();
        eprintln!("  {word}: {}", ms.join(", "));
    }
}

fn epoch(machines: &Machines) -> Value {
    ok(machines.operator(machines.leader(), "GET", "/admin/cluster", None))["epoch"].clone()
}

/// The oracle.
pub fn judge(machines: &Machines, history: &mut History, before: u64) {
    assert!(history.odd.is_empty(), "{:#?}", history.odd);
    let acknowledged: HashMap<&str, &str> =
        history.paid.iter().map(|paid| (paid.reference.as_str(), paid.id.as_str())).collect();
    assert_eq!(acknowledged.len(), history.paid.len(), "a reference was acknowledged twice");
    // What the bank was not heard about is asked about, sooner or later.
    machines.until(|machines| payouts(machines).iter().all(|payout| payout["status"] == "completed"));
    let mut listed = HashMap::new();
    for payout in payouts(machines) {
        let text = |name: &str| payout[name].as_str().expect("a text").to_owned();
        let was = listed.insert(text("externalRef"), text("payoutId"));
        assert_eq!(was, None, "a payout is there twice: {payout}");
    }
    for (reference, id) in &acknowledged {
        assert_eq!(listed.get(*reference).map(String::as_str), Some(*id), "{reference} was acknowledged");
    }
    assert_eq!(listed.len(), acknowledged.len(), "payouts that nobody was told of");
    assert_eq!(balance(machines), before - PAYOUT * listed.len() as u64);
    let status = ok(machines.operator(machines.leader(), "GET", "/admin/status", None));
    assert_eq!(status["rails"]["duplicateCalls"], 0, "an order came to the bank twice");
    is_linearizable(history, before);
    eprintln!(
        "{} payouts acknowledged, each there once; {} balances read; refused on the way: {:?}",
        listed.len(),
        history.seen.len(),
        history.refused
    );
}

fn payouts(machines: &Machines) -> Vec<Value> {
    let (mut listed, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = ok(machines.get(0, &format!("/v1/payouts?limit=100{cursor}")));
        listed.extend(page["items"].as_array().expect("items").iter().cloned());
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return listed,
        }
    }
}

/// Checks that each balance has every payout that was acknowledged before it was asked for, none that
/// was asked for after it was answered, and no fewer than a balance that was read before.
fn is_linearizable(history: &mut History, before: u64) {
    let mut acknowledged: Vec<Instant> = history.paid.iter().map(|paid| paid.acknowledged).collect();
    acknowledged.sort();
    history.asked.sort();
    let mut seen: Vec<(Instant, Instant, usize)> = Vec::new();
    for read in &history.seen {
        let paid = before - read.hundredths;
        assert_eq!(paid % PAYOUT, 0, "half of a payout");
        let paid = usize::try_from(paid / PAYOUT).expect("a count");
        let least = acknowledged.partition_point(|at| *at < read.asked);
        let most = history.asked.partition_point(|at| *at < read.answered);
        assert!((least..=most).contains(&paid), "{paid} payouts in a balance, not {least} to {most}");
        seen.push((read.asked, read.answered, paid));
    }
    seen.sort_by_key(|(asked, _, _)| *asked);
    let mut by_answer = seen.clone();
    by_answer.sort_by_key(|(_, answered, _)| *answered);
    let (mut answered, mut most) = (by_answer.into_iter().peekable(), 0);
    for (asked, _, paid) in seen {
        while let Some((_, _, earlier)) = answered.next_if(|(_, at, _)| *at < asked) {
            most = most.max(earlier);
        }
        assert!(paid >= most, "a balance with {paid} payouts after one with {most}");
    }
}

/// Prints the longest gaps by fault, and how many were how long. Those that were longer than they may be; a median of
/// few rounds on a crowded machine says nothing.
fn figures(rounds: &[Round]) -> Vec<String> {
    let mut late = Vec::new();
    let mut by_fault: BTreeMap<Fault, Vec<&Round>> = BTreeMap::new();
    for round in rounds {
        by_fault.entry(round.fault).or_default().push(round);
    }
    for (fault, rounds) in &by_fault {
        let mut gaps: Vec<u128> = rounds.iter().map(|round| round.gap.as_millis()).collect();
        gaps.sort_unstable();
        let at = |percent: usize| gaps[(gaps.len() - 1) * percent / 100];
        let failovers = rounds.iter().filter(|round| round.has_failed_over).count();
        eprintln!(
            "{:<22} {:>3} rounds  median {:>5} ms  p95 {:>5} ms  longest {:>5} ms  another led in {failovers}",
            format!("{fault:?}"),
            gaps.len(),
            at(50),
            at(95),
            at(100),
        );
        let mut histogram: BTreeMap<u128, usize> = BTreeMap::new();
        gaps.iter().for_each(|gap| *histogram.entry(gap / 100).or_default() += 1);
        for (tenth, count) in histogram {
            eprintln!("  from {:>5} ms {}", tenth * 100, "#".repeat(count));
        }
        let [median, p95] = fault.allows().map(|allowed| most(allowed).as_millis());
        if at(95) > p95 || is_strict() && at(50) > median {
            late.push(format!("{fault:?}: median {} of {median} ms, p95 {} of {p95} ms", at(50), at(95)));
        }
    }
    late
}
