//! Power cuts under load, at instants that a seed chooses: buyers, sellers and operators keep asking,
//! each under an Idempotency-Key, until they are answered.
//!
//! What is judged after each cut: the server starts; whatever was acknowledged is answered again, to
//! the byte; a backup that was said to be made is whole; keys open what they were made for; the log
//! verifies. In the end: nothing happened twice, the movements are those of the operations, every
//! event arrived.

use super::disk::{Chance, Disk, Kept};
use crate::harness::check::{decimal, instant, sum, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{execution, fresh, merchant_body, merged, payer, payout_body, vpos_body};
use crate::harness::receiver::Receiver;
use crate::harness::server::{Server, Tenant};
use crate::load::{PATIENCE, StopOnDrop, by_ref};
use chrono::{DateTime, Utc};
use pasarela::recovery::restored_copy::RestoredCopy;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The number of cuts: more in a long run (`make soak`, `POWER_CUTS=50`), few in an ordinary one.
const CUTS: usize = 4;
const WRITERS: usize = 4;
/// The most acknowledged requests of earlier rounds that are asked for again after a cut.
const OLDER: usize = 40;
/// Answers to wait for before a cut, so that there is something to lose.
const ANSWERS: usize = 25;

/// A request that was acknowledged, under a key of its own.
struct Acknowledged {
    api: Api,
    path: String,
    body: Value,
    status: u16,
    answer: Vec<u8>,
}

/// What callers were told, until the next cut may show that it was not so.
#[derive(Default)]
struct Told {
    requests: Mutex<Vec<Acknowledged>>,
    backups: Mutex<Vec<PathBuf>>,
    clock: Mutex<Option<DateTime<Utc>>>,
    pinned: Mutex<Option<String>>,
    /// Answers that no caller should get.
    unexpected: Mutex<Vec<String>>,
    count: AtomicUsize,
}

fn locked<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A tenant that is written to, another whose clock is moved, and who asks.
struct World {
    tenant: Tenant,
    jumper: Api,
    merchant: Value,
    receiver: Receiver,
    operators: Api,
    copies: PathBuf,
    told: Told,
    stop: AtomicBool,
}

impl World {
    fn new(server: &Server, copies: PathBuf) -> World {
        let tenant = server.tenant();
        let merchant = tenant.test.merchant();
        tenant.test.fund("10000.00");
        let receiver = Receiver::good();
        let endpoint = json!({ "url": receiver.url(), "events": ["payment.completed", "payout.completed"] });
        tenant.test.post("/v1/webhooks", &endpoint).expect(201);
        let (jumper, operators) = (server.tenant().test, server.admin());
        let (told, stop) = (Told::default(), AtomicBool::new(false));
        World { tenant, jumper, merchant, receiver, operators, copies, told, stop }
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Asks until there is an answer that decides, and notes it; nothing if the test is over before.
    fn ask(&self, api: &Api, path: &str, body: Value) -> Option<Value> {
        let api = api.keyed(&fresh("key"));
        let deadline = Instant::now() + PATIENCE;
        while !self.is_over() {
            if let Ok(answer) = api.try_post(path, &body) {
                let in_progress = answer.status == 409 && answer.json()["error"] == "idempotency_in_progress";
                if answer.status != 503 && !in_progress {
                    return self.noted(api, path, body, &answer);
                }
            }
            assert!(Instant::now() < deadline, "{path} was not answered within {PATIENCE:?}");
            sleep(Duration::from_millis(5));
        }
        None
    }

    fn noted(&self, api: Api, path: &str, body: Value, answer: &Answer) -> Option<Value> {
        let told = answer.json();
        // A charge that was at the bank when the power went has no outcome yet.
        if answer.status == 409 && told["error"] == "charge_in_progress" {
            return None;
        }
        if !matches!(answer.status, 200..=202) {
            locked(&self.told.unexpected).push(format!("{path} {}: {told}", answer.status));
            sleep(Duration::from_millis(50));
            return None;
        }
        let (status, bytes) = (answer.status, answer.body.to_vec());
        locked(&self.told.requests).push(Acknowledged {
            api,
            path: path.to_owned(),
            body,
            status,
            answer: bytes,
        });
        self.told.count.fetch_add(1, Ordering::Relaxed);
        Some(told)
    }

    /// Collects, pays out, sells: what a tenant does.
    fn trade(&self, writer: usize) {
        let api = &self.tenant.test;
        for round in writer.. {
            if self.is_over() {
                return;
            }
            match round % 6 {
                0 | 3 => drop(self.ask(api, "/v1/payouts", payout_body(&self.merchant, "0.10"))),
                1 => {
                    let request = merged(payer(), json!({ "usdAmount": 1, "externalRef": fresh("pay") }));
                    let intent = self.ask(api, "/v1/payments/c2p/request", request);
                    intent.map(|intent| self.ask(api, "/v1/payments/c2p", execution(&intent, "12345678")));
                }
                2 => drop(self.ask(api, "/v1/payments/vpos", vpos_body(1, json!({})))),
                4 => drop(self.ask(api, "/v1/checkout/sessions", json!({ "amountUsd": 10 }))),
                _ => drop(self.ask(api, "/v1/merchants", merchant_body())),
            }
        }
    }

    /// Makes tenants, snapshots, pins and copies, and moves a clock: what is done now and then.
    fn operate(&self) {
        for round in 0.. {
            if self.is_over() {
                return;
            }
            match round % 5 {
                0 => drop(self.ask(&self.operators, "/admin/tenants", json!({ "name": fresh("tenant") }))),
                1 => {
                    if let Some(moved) =
                        self.ask(&self.jumper, "/v1/test/clock", json!({ "advanceSeconds": 7_200 }))
                    {
                        *locked(&self.told.clock) = Some(instant(&moved["now"]));
                    }
                }
                2 => drop(self.operators.try_post("/admin/snapshot", &json!({}))),
                3 => self.pin(round),
                _ => self.back_up(),
            }
        }
    }

    fn pin(&self, round: usize) {
        let price = format!("{}.5", 200 + round % 7);
        let until = Utc::now() + chrono::TimeDelta::hours(1);
        let body = json!({ "pair": "USDT/COP", "source": "p2p", "side": "BUY", "price": price, "reason": "a test",
            "pinnedUntil": crate::harness::check::stamp(until) });
        // Whether one that was not answered is there is not known.
        *locked(&self.told.pinned) = None;
        if self.operators.try_post("/admin/rates", &body).is_ok_and(|answer| answer.status == 201) {
            *locked(&self.told.pinned) = Some(price);
        }
    }

    fn back_up(&self) {
        let copy = self.copies.join(fresh("copy"));
        let body = json!({ "path": copy.to_str().expect("UTF-8") });
        if self.operators.try_post("/admin/backup", &body).is_ok_and(|answer| answer.status < 300) {
            locked(&self.told.backups).push(copy);
        }
        sleep(Duration::from_millis(100));
    }

    /// What was said and is not so: nothing, if all is well. Requests after the first `from` are
    /// asked for again, and some of those before.
    fn judge(&self, server: &Server, from: usize, chance: &mut Chance) -> Vec<String> {
        let mut wrong = std::mem::take(&mut *locked(&self.told.unexpected));
        let requests = locked(&self.told.requests);
        let older: Vec<usize> = (0..if from == 0 { 0 } else { OLDER }).map(|_| chance.below(from)).collect();
        for at in (from..requests.len()).chain(older) {
            let Acknowledged { api, path, body, status, answer } = &requests[at];
            match api.try_post(path, body) {
                Ok(now) if (now.status, &now.body[..]) == (*status, &answer[..]) => {}
                Ok(now) => wrong.push(format!(
                    "{path} was {status} {} and is {} {}",
                    String::from_utf8_lossy(answer),
                    now.status,
                    String::from_utf8_lossy(&now.body)
                )),
                Err(why) => wrong.push(why),
            }
            if path == "/admin/tenants" {
                let made: Value = serde_json::from_slice(answer).expect("JSON");
                let opened = server.api(text(&made["testKey"], "key")).get("/v1/balance").status;
                if opened != 200 {
                    wrong.push(format!("the key of a tenant that was made is {opened}"));
                }
            }
        }
        if let Some(clock) = *locked(&self.told.clock) {
            let now = self.jumper.get("/v1/test/clock");
            if now.status != 200 || instant(&now.json()["now"]) < clock {
                wrong.push(format!("a clock was moved to {clock} and is {}", now.text()));
            }
        }
        if let Some(pinned) = &*locked(&self.told.pinned) {
            let pins = server.admin().get("/admin/status").expect(200)["rates"]["pins"].to_string();
            if !pins.contains(pinned.as_str()) {
                wrong.push(format!("{pinned} was pinned, and pins are {pins}"));
            }
        }
        wrong.extend(
            std::mem::take(&mut *locked(&self.told.backups)).iter().filter_map(|copy| broken(server, copy)),
        );
        wrong.extend(unverified(server, &server.data()));
        wrong
    }
}

/// What is wrong with a copy of which it was said that it is made.
fn broken(server: &Server, copy: &Path) -> Option<String> {
    match RestoredCopy::must_be_whole(copy) {
        Ok(Some(RestoredCopy { tip: Some(_), .. })) => unverified(server, copy),
        other => Some(format!("the copy {} is {other:?}", copy.display())),
    }
}

/// What `wal verify` says against a data directory.
pub fn unverified(server: &Server, data: &Path) -> Option<String> {
    let verified = server.command(&["wal", "verify", "--data-dir", data.to_str().expect("UTF-8")]);
    let why = String::from_utf8_lossy(&verified.stderr).into_owned();
    (!verified.status.success()).then(|| format!("{}: {why}", data.display()))
}

/// Starts a server on a disk with a shadow.
pub fn started_on(disk: &Disk, more: &[(&str, &str)]) -> Result<Server, String> {
    let own = disk.environment();
    let own = own.iter().map(|(name, value)| (*name, value.as_str()));
    // The file that keeps room would be copied by every cut.
    let environment: Vec<(&str, &str)> =
        own.chain([("PASARELA__STORAGE__RESERVE_BYTES", "0")]).chain(more.iter().copied()).collect();
    Server::try_start_on(Some(disk.root().join("data")), &environment)
}

/// Cuts the power so many times under load, and says what was wrong at the first cut after which
/// something was.
pub fn wrong_after_cuts(seed: u64, cuts: usize, more: &[(&str, &str)]) -> Vec<String> {
    let (disk, mut chance) = (Disk::new(), Chance(seed));
    // The folder of the copies is there before: what this process syncs is not seen by the shadow.
    let copies = disk.root().join("copies");
    std::fs::create_dir(&copies).expect("made");
    disk.keep_all();
    let mut server = started_on(&disk, more).expect("it starts");
    let world = World::new(&server, copies);
    let mut wrong = Vec::new();
    std::thread::scope(|scope| {
        let world = &world;
        for writer in 0..WRITERS {
            scope.spawn(move || world.trade(writer));
        }
        scope.spawn(move || world.operate());
        let stopping = StopOnDrop(&world.stop);
        let mut checked = 0;
        for cut in 0..cuts {
            let (before, deadline) = (world.told.count.load(Ordering::Relaxed), Instant::now() + PATIENCE);
            while world.told.count.load(Ordering::Relaxed) < before + ANSWERS {
                assert!(Instant::now() < deadline, "the writers are stuck: {}", server.log_tail());
                sleep(Duration::from_millis(2));
            }
            sleep(Duration::from_micros(chance.below(400_000) as u64));
            server.kill();
            let known = locked(&world.told.requests).len();
            // Half of the cuts leave nothing that was not synced.
            disk.cut(if cut % 2 == 0 { Kept::Nothing } else { Kept::Some(&mut chance) });
            if let Err(why) = server.try_restart() {
                wrong.push(format!("it does not start: {why}"));
            } else {
                wrong = world.judge(&server, checked, &mut chance);
            }
            if !wrong.is_empty() {
                wrong.insert(0, format!("after cut {cut} of seed {seed}"));
                break;
            }
            checked = known;
        }
        drop(stopping);
    });
    wrong.append(&mut locked(&world.told.unexpected));
    if wrong.is_empty() {
        settled(&server, &world);
    }
    wrong
}

/// Everything comes to its end, once.
fn settled(server: &Server, world: &World) {
    let api = &world.tenant.test;
    api.advance(600);
    let mut expected = Decimal::from(10_000);
    let (payouts, payments) =
        (by_ref(&api.walk("/v1/payouts", &[], 100)), by_ref(&api.walk("/v1/payments", &[], 100)));
    for (reference, found) in payouts.iter().chain(&payments) {
        assert_eq!(found.len(), 1, "{reference} happened {} times: {found:?}", found.len());
    }
    for payout in payouts.values().flatten() {
        assert_eq!(text(payout, "status"), "completed", "{payout}");
        expected -= decimal(&payout["monto"]);
    }
    let completed = payments.values().flatten().filter(|payment| payment["status"] == "COMPLETED");
    expected += completed.map(|payment| decimal(&payment["netVes"])).sum::<Decimal>();
    assert_eq!(sum(&api.movements(), "amountVes"), expected, "the movements are not those of the operations");
    api.books();
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
    let events = api.walk("/v1/events", &[], 100);
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["sequence"].as_u64()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "the log has a gap");
    let wanted: BTreeSet<u64> = events
        .iter()
        .filter(|event| ["payment.completed", "payout.completed"].contains(&text(event, "event")))
        .filter_map(|event| event["sequence"].as_u64())
        .collect();
    let deadline = Instant::now() + PATIENCE;
    loop {
        let arrived: BTreeSet<u64> = world.receiver.arrived().iter().map(|each| each.sequence()).collect();
        if arrived == wanted {
            break;
        }
        assert!(arrived.is_subset(&wanted), "an event arrived that is not there");
        assert!(Instant::now() < deadline, "{} of {} events arrived", arrived.len(), wanted.len());
        sleep(Duration::from_millis(20));
    }
    println!("{} requests and {} events after power cuts", locked(&world.told.requests).len(), events.len());
}

#[test]
fn what_was_acknowledged_survives_power_cuts_under_load() {
    let cuts = std::env::var("POWER_CUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(CUTS);
    let seed = std::env::var("POWER_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or_else(|| {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time").as_secs()
    });
    println!("POWER_SEED={seed}");
    // Snapshots are thinned while this goes on.
    let thinning =
        ["ALL_HOURS", "HOURLY_DAYS", "DAILY_DAYS"].map(|of| format!("PASARELA__STORAGE__SNAPSHOT_{of}"));
    let thinning: Vec<(&str, &str)> = thinning.iter().map(|name| (name.as_str(), "1")).collect();
    // A disk of its own every few cuts, so that first days are cut too.
    for (nth, part) in (0..cuts).step_by(CUTS).enumerate() {
        let wrong = wrong_after_cuts(seed + nth as u64, CUTS.min(cuts - part), &thinning);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
