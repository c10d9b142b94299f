//! Tenants that move between partitions while they are served, by callers who know nothing of it; and whatever process
//! dies on the way.

use crate::gaps::most;
use crate::load::{PAYOUT, hundredths};
use crate::machines::{Machines, exchange_as};
use crate::partitions::{kill, machines, process, said, until_led};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The longest time for which a tenant that moves is not served.
const STOPPED: Duration = Duration::from_secs(1);
const WRITERS: usize = 4;
const ROUNDS: usize = 3;

type Answer = Option<(u16, Value)>;

/// An account, at every node.
#[derive(Clone)]
pub struct Shop {
    ports: Vec<u16>,
    pub key: String,
}

impl Shop {
    fn ask(&self, node: usize, method: &str, path: &str, body: Option<&Value>, idempotency: &str) -> Answer {
        let mut head = format!("host: localhost\r\nx-api-key: {}\r\n", self.key);
        if !idempotency.is_empty() {
            head += &format!("idempotency-key: {idempotency}\r\n");
        }
        exchange_as(self.ports[node % 3], method, path, body, &head).map(|(status, _, shown)| (status, shown))
    }

    /// Repeated with its Idempotency-Key until it is done.
    fn insist(&self, method: &str, path: &str, body: Option<&Value>, idempotency: &str) -> Value {
        let began = Instant::now();
        for node in 0.. {
            match self.ask(node, method, path, body, idempotency) {
                Some((200..=202, shown)) => return shown,
                answer => assert!(began.elapsed() < Duration::from_secs(30), "{path}: {answer:?}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        unreachable!("there is always another node")
    }

    pub fn get(&self, path: &str) -> Value {
        self.insist("GET", path, None, "")
    }
}

/// Payouts that callers make until they are told to stop, with what was acknowledged and when.
pub struct Load {
    shop: Shop,
    is_over: AtomicBool,
    paid: Mutex<BTreeMap<String, Value>>,
    /// When an attempt began, and when it was answered.
    times: Mutex<Vec<[Instant; 2]>>,
    odd: Mutex<Vec<String>>,
}

impl Load {
    pub fn begin(shop: &Shop, merchant: &str) -> (Arc<Load>, Vec<JoinHandle<()>>) {
        let load = Arc::new(Load {
            shop: shop.clone(),
            is_over: AtomicBool::new(false),
            paid: Mutex::default(),
            times: Mutex::default(),
            odd: Mutex::default(),
        });
        let callers = (0..WRITERS).map(|writer| {
            let (load, merchant) = (Arc::clone(&load), merchant.to_owned());
            std::thread::spawn(move || load.pay(writer, &merchant))
        });
        let callers = callers.collect();
        (load, callers)
    }

    fn pay(&self, writer: usize, merchant: &str) {
        for number in 0.. {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let reference = format!("pay-{writer}-{number}");
            let body = json!({ "merchantId": merchant, "monto": "10.00", "concepto": "moves", "externalRef": reference });
            for node in writer.. {
                let asked = Instant::now();
                match self.shop.ask(node, "POST", "/v1/payouts", Some(&body), &reference) {
                    Some((200..=202, shown)) => {
                        locked(&self.times).push([asked, Instant::now()]);
                        locked(&self.paid).insert(reference, shown["payoutId"].clone());
                        break;
                    }
                    None => {}
                    Some((503, _)) => {}
                    Some((409, shown)) if shown["error"] == "idempotency_in_progress" => {}
                    odd => locked(&self.odd).push(format!("{odd:?}")),
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    pub fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// What those took that were answered then, the quickest first.
    pub fn latencies(&self, from: Instant, to: Instant) -> Vec<Duration> {
        let times = locked(&self.times);
        let then = times.iter().filter(|[_, answered]| (from..to).contains(answered));
        let mut took: Vec<Duration> = then.map(|[asked, answered]| *answered - *asked).collect();
        took.sort_unstable();
        took
    }

    pub fn longest_gap(&self, since: Instant) -> Duration {
        let mut times: Vec<Instant> = locked(&self.times).iter().map(|[_, answered]| *answered).collect();
        times.sort_unstable();
        let gaps = times.windows(2).filter(|pair| pair[1] > since).map(|pair| pair[1] - pair[0]);
        gaps.max().unwrap_or_default()
    }

    /// Every acknowledged payout is there once, and no other is; each Idempotency-Key has its answer. `before` is the
    /// balance that was there.
    pub fn judge(&self, before: u64) {
        assert_eq!(*locked(&self.odd), Vec::<String>::new());
        let (mut found, mut path) = (BTreeMap::new(), "/v1/payouts?limit=100".to_owned());
        loop {
            let page = self.shop.get(&path);
            for item in page["items"].as_array().expect("a list") {
                let reference = item["externalRef"].as_str().expect("a reference").to_owned();
                let known = found.insert(reference.clone(), item["payoutId"].clone());
                assert_eq!(known, None, "{reference} is there twice");
            }
            match page["nextCursor"].as_str() {
                Some(cursor) => path = format!("/v1/payouts?limit=100&cursor={cursor}"),
                None => break,
            }
        }
        let paid = locked(&self.paid);
        assert!(paid.len() > 20, "only {} payouts", paid.len());
        let known: BTreeMap<_, _> = found.iter().filter(|(name, _)| paid.contains_key(*name)).collect();
        assert_eq!(known, paid.iter().collect(), "acknowledged payouts");
        assert!(found.len() - paid.len() <= WRITERS, "more payouts than were asked for");
        let balance = self.shop.get("/v1/balance");
        let spent = PAYOUT * found.len() as u64;
        assert_eq!(hundredths(&balance["ledgerNetVes"]), before - spent, "{balance}");
    }
}

fn locked<T>(held: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An account with money, a verified seller, a payment under way, one that will expire, a webhook; its id.
pub fn prepared(machines: &Machines, hook: u16) -> (String, Shop, String) {
    let rate = json!({ "pair": "USD/VES", "source": "bcv", "side": "OFFICIAL", "price": "200.00" });
    assert_eq!(
        machines.operator(1, "POST", "/admin/rates", Some(&rate)).map(|(status, _)| status),
        Some(201)
    );
    let (status, made) = machines
        .operator(1, "POST", "/admin/tenants", Some(&json!({ "name": "tienda" })))
        .expect("an answer");
    assert_eq!(status, 201, "{made}");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let (tenant, key) = (text(&made["tenantId"]), text(&made["testKey"]["key"]));
    let shop = Shop { ports: machines.ports(), key };
    shop.get("/v1/balance");
    shop.insist("POST", "/v1/test/fund", Some(&json!({ "currency": "VES", "amount": "1000000.00" })), "fund");
    let seller = json!({ "externalRef": "seller", "name": "Bodega", "identification": "V87654321",
        "contactEmail": "b@example.com", "contactPhone": "04147654321", "bankCode": "0134", "phone": "04147654321" });
    let seller = shop.insist("POST", "/v1/merchants", Some(&seller), "seller");
    let (merchant, method) =
        (text(&seller["merchantId"]), text(&seller["payoutMethods"][0]["payoutMethodId"]));
    let verify = format!("/v1/merchants/{merchant}/payout-methods/{method}/verify");
    shop.insist("POST", &format!("{verify}/start"), Some(&json!({})), "start");
    shop.insist("POST", &verify, Some(&json!({ "amount1": "0.32", "amount2": "0.45" })), "verify");
    let hook = json!({ "url": format!("http://127.0.0.1:{hook}/"), "events": ["*"] });
    let _ = shop.ask(0, "POST", "/v1/webhooks", Some(&hook), "hook");
    (tenant, shop, merchant)
}

/// Moves a tenant, and repeats it at other nodes where somebody died; where it is then.
fn moved(machines: &Machines, tenant: &str, to: u64) -> u64 {
    let began = Instant::now();
    for node in 0.. {
        let path = format!("/admin/tenants/{tenant}/move");
        match machines.operator(node % 3, "POST", &path, Some(&json!({ "to": to }))) {
            Some((200, shown)) => {
                assert_eq!(shown, json!({ "tenantId": tenant, "partition": to }));
                break;
            }
            Some((409, shown)) => assert_eq!(shown["error"], "move_under_way", "{shown}"),
            answer => assert!(began.elapsed() < Duration::from_secs(90), "{answer:?}: {}", machines.logs()),
        }
        assert!(began.elapsed() < Duration::from_secs(120), "{}", machines.logs());
        std::thread::sleep(Duration::from_millis(100));
    }
    place(machines, tenant)
}

fn place(machines: &Machines, tenant: &str) -> u64 {
    let mut partition = None;
    machines.until(|machines| {
        let shown = machines.operator(0, "GET", &format!("/admin/tenants/{tenant}"), None);
        partition =
            shown.filter(|(status, _)| *status == 200).and_then(|(_, shown)| shown["partition"].as_u64());
        partition.is_some()
    });
    partition.expect("a number")
}

/// The node that is shown to lead a partition.
fn leader(machines: &Machines, partition: usize) -> Option<usize> {
    let (_, shown) = machines.operator(0, "GET", "/admin/cluster", None)?;
    shown["partitions"][partition]["leader"].as_str()?.trim_start_matches('n').parse().ok()
}

/// What an account has that no load changes.
fn kept(shop: &Shop) -> [Value; 2] {
    [
        shop.get("/v1/merchants?limit=100"),
        shop.insist(
            "POST",
            "/v1/test/fund",
            Some(&json!({ "currency": "VES", "amount": "1000000.00" })),
            "fund",
        ),
    ]
}

fn verified(machines: &Machines) {
    for node in 0..3 {
        for data in ["", "partitions/1", "partitions/2"] {
            let data = machines.data(node).join(data);
            let verified =
                machines.command(node, &["wal", "verify", "--data-dir", data.to_str().expect("text")]);
            assert!(verified.status.success(), "{}", said(&verified));
        }
    }
}

#[test]
fn a_tenant_moves_while_it_is_served() {
    let Some(mut machines) = machines() else { return };
    machines.found();
    until_led(&machines);
    // Nobody takes them: what is sent is sent again.
    let hook = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (tenant, shop, merchant) = prepared(&machines, hook.local_addr().expect("an address").port());
    let refused = |to: Value, id: &str| {
        let path = format!("/admin/tenants/{id}/move");
        machines.operator(2, "POST", &path, Some(&json!({ "to": to }))).expect("an answer").0
    };
    assert_eq!(refused(json!(3), &tenant), 400);
    assert_eq!(refused(json!(1), "01890000-0000-7000-8000-000000000000"), 404);
    assert_eq!(place(&machines, &tenant), 1);
    let before = hundredths(&shop.get("/v1/balance")["ledgerNetVes"]);
    let before_moves = kept(&shop);
    let (load, callers) = Load::begin(&shop, &merchant);
    std::thread::sleep(Duration::from_secs(1));
    for to in [1, 0, 2, 1, 0] {
        let since = Instant::now();
        assert_eq!(moved(&machines, &tenant, to), to);
        let took = since.elapsed();
        std::thread::sleep(Duration::from_secs(1));
        let gap = load.longest_gap(since);
        eprintln!("to {to} in {} ms: not served for {} ms", took.as_millis(), gap.as_millis());
        assert!(gap < most(STOPPED), "{gap:?}");
        assert_eq!(kept(&shop), before_moves, "what was kept, in {to}");
    }
    load.is_over.store(true, Ordering::SeqCst);
    callers.into_iter().for_each(|caller| caller.join().expect("a caller"));
    load.judge(before);
    machines.stop_all();
    verified(&machines);
}

#[test]
fn a_move_goes_on_or_is_undone_whatever_process_dies() {
    let Some(mut machines) = machines() else { return };
    machines.found();
    until_led(&machines);
    let hook = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (tenant, shop, merchant) = prepared(&machines, hook.local_addr().expect("an address").port());
    let before = hundredths(&shop.get("/v1/balance")["ledgerNetVes"]);
    let before_moves = kept(&shop);
    let (load, callers) = Load::begin(&shop, &merchant);
    let rounds = std::env::var("ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS);
    for round in 0..rounds {
        let from = place(&machines, &tenant);
        let to = (from + 1 + round as u64 % 2) % 3;
        let (victim, what) = match round % 3 {
            0 => (0, "the judge"),
            1 => (from, "the source"),
            _ => (to, "the target"),
        };
        let victim = usize::try_from(victim).expect("small");
        let mut pid = None;
        machines.until(|machines| {
            // One that was killed before is started again, and may be shown as the leader for a moment.
            pid = leader(machines, victim).and_then(|node| process(machines, node, victim));
            pid.is_some()
        });
        let pid = pid.expect("it runs");
        let began = Instant::now();
        let arrived = std::thread::scope(|scope| {
            let moving = scope.spawn(|| moved(&machines, &tenant, to));
            // Earlier and later instants of a move, from round to round.
            std::thread::sleep(Duration::from_millis(7 + (round as u64 * 61) % 400));
            kill(pid);
            moving.join().expect("it is moved")
        });
        eprintln!(
            "round {round}: {what} killed, {from} to {to}: in {arrived} after {} ms",
            began.elapsed().as_millis()
        );
        assert_eq!(arrived, to);
        assert_eq!(kept(&shop), before_moves, "round {round}");
        until_led(&machines);
    }
    load.is_over.store(true, Ordering::SeqCst);
    callers.into_iter().for_each(|caller| caller.join().expect("a caller"));
    load.judge(before);
    machines.stop_all();
    verified(&machines);
}
