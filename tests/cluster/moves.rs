//! Tenants that move between partitions while they are served, by callers who know nothing of it; and whatever process
//! dies on the way.

use crate::gaps::most;
use crate::load::{PAYOUT, hundredths};
use crate::machines::{Machines, exchange_as, page_as};
use crate::partitions::{self, kill, process, said, until_led};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The longest time for which a tenant that moves is not served.
const STOPPED: Duration = Duration::from_secs(1);
const WRITERS: usize = 4;
const ROUNDS: usize = 3;

const HOUR_MS: u64 = 3_600_000;
/// Whatever happens to an account in these tests.
const EVENTS: [&str; 11] = [
    "payment.completed",
    "payment.reversed",
    "payment.chargeback",
    "payout.completed",
    "payout.failed",
    "merchant.verified",
    "merchant.balance.updated",
    "conversion.completed",
    "tenant.live_status_changed",
    "payment.canceled",
    "test.reset",
];

type Answer = Option<(u16, Value)>;

pub fn machines() -> Option<Machines> {
    let machines = Machines::new()?;
    let more = "[webhooks]\nallow_private_targets = true\n[test]\nopen_accounts = true";
    (0..3).for_each(|node| machines.configure(node, &format!("{}\n{more}", partitions::PREVIEW)));
    Some(machines)
}

/// Takes what is delivered; the id of the event of each number, as often as it came with another.
struct Receiver {
    port: u16,
    seen: Arc<Mutex<BTreeMap<u64, BTreeSet<String>>>>,
}

impl Receiver {
    fn start() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen = Arc::<Mutex<BTreeMap<u64, BTreeSet<String>>>>::default();
        let events = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let events = Arc::clone(&events);
                std::thread::spawn(move || take_all(stream, &events));
            }
        });
        Receiver { port, seen }
    }
}

fn take_all(stream: TcpStream, events: &Mutex<BTreeMap<u64, BTreeSet<String>>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut length, mut number, mut id, mut line) = (0, None, String::new(), String::new());
        while reader.read_line(&mut line).ok()? > 2 {
            let (name, value) = line.trim().split_once(": ").unwrap_or_default();
            match &*name.to_ascii_lowercase() {
                "content-length" => length = value.parse().ok()?,
                "svc-event-sequence" => number = value.parse().ok(),
                "svc-event-id" => id = value.to_owned(),
                _ => {}
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        if let Some(number) = number {
            locked(events).entry(number).or_default().insert(id);
        }
        reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").ok()?;
    }
}

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

    fn post(&self, path: &str, body: &Value, idempotency: &str) -> Value {
        self.insist("POST", path, Some(body), idempotency)
    }

    /// What is in a list of fewer than a hundred.
    fn items(&self, path: &str) -> Vec<Value> {
        let page = self.get(&format!("{path}{}limit=100", if path.contains('?') { '&' } else { '?' }));
        assert_eq!(page["nextCursor"], Value::Null, "{path}");
        page["items"].as_array().expect("a list").clone()
    }

    fn pay(&self, merchant: &str, monto: &str, reference: &str) -> Value {
        let body =
            json!({ "merchantId": merchant, "monto": monto, "concepto": "moves", "externalRef": reference });
        self.post("/v1/payouts", &body, reference)
    }

    fn advance(&self, seconds: u64, idempotency: &str) -> Value {
        self.post("/v1/test/clock", &json!({ "advanceSeconds": seconds }), idempotency)
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
    /// balance that was there without what was spent on other payouts, whose references begin with `other`.
    pub fn judge(&self, before: u64) {
        assert_eq!(*locked(&self.odd), Vec::<String>::new());
        let (mut found, mut path) = (BTreeMap::new(), "/v1/payouts?limit=100".to_owned());
        loop {
            let page = self.shop.get(&path);
            for item in page["items"].as_array().expect("a list") {
                let reference = item["externalRef"].as_str().expect("a reference").to_owned();
                if reference.starts_with("other") {
                    continue;
                }
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
    let hook = json!({ "url": format!("http://127.0.0.1:{hook}/"), "events": EVENTS });
    shop.post("/v1/webhooks", &hook, "hook");
    (tenant, shop, merchant)
}

/// The events of the account after a number.
fn events(shop: &Shop, mut after: u64) -> BTreeMap<u64, BTreeSet<String>> {
    let mut events = BTreeMap::new();
    loop {
        let page = shop.get(&format!("/v1/events?after={after}&limit=100"));
        let items = page["items"].as_array().expect("a list");
        for event in items {
            let (number, id) = (event["sequence"].as_u64().expect("a number"), event["id"].as_str());
            assert_eq!(number, after + 1, "an event is missing");
            events.insert(number, BTreeSet::from([id.expect("an id").to_owned()]));
            after = number;
        }
        if items.is_empty() {
            return events;
        }
    }
}

/// Each event of the account after a number arrived, and no number was given twice.
fn delivered(machines: &Machines, shop: &Shop, receiver: &Receiver, after: u64) {
    let events = events(shop, after);
    machines.until(|_| events.keys().all(|number| locked(&receiver.seen).contains_key(number)));
    let seen = locked(&receiver.seen).clone();
    let seen: BTreeMap<_, _> = seen.into_iter().filter(|(number, _)| events.contains_key(number)).collect();
    assert_eq!(seen, events, "each number is one event's");
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
    let demo = machines.operator(0, "GET", "/admin/tenants", None).expect("an answer").1;
    let demo =
        demo["items"].as_array().expect("a list").iter().find(|tenant| tenant["name"] == "demo").cloned();
    let demo = demo.expect("it is listed")["tenantId"].as_str().expect("an id").to_owned();
    for to in [1, 0, 2, 1, 0] {
        let since = Instant::now();
        // Another account goes the other way at the same time.
        std::thread::scope(|scope| {
            let other = (to + 2) % 3;
            let moving = scope.spawn(|| moved(&machines, &demo, (to + 2) % 3));
            assert_eq!(moved(&machines, &tenant, to), to);
            assert_eq!(moving.join().expect("it is moved"), other);
        });
        assert_eq!(machines.get(1, "/v1/balance").map(|(status, _)| status), Some(200), "the other one's");
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
    let receiver = Receiver::start();
    let (tenant, shop, merchant) = prepared(&machines, receiver.port);
    let first = events(&shop, 0).len() as u64;
    let before = hundredths(&shop.get("/v1/balance")["ledgerNetVes"]);
    let before_moves = kept(&shop);
    let (load, callers) = Load::begin(&shop, &merchant);
    let rounds = std::env::var("ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS);
    for round in 0..rounds {
        let from = place(&machines, &tenant);
        // To and from the first partition too, whose leader judges all the while.
        let to = [0, 2, 1, 0, 1, 2][round % 6];
        let to = if to == from { (to + 1) % 3 } else { to };
        let (victim, what) = match round % 3 {
            0 => (0, "the judge"),
            1 => (from, "the source"),
            _ => (to, "the target"),
        };
        // Orders whose outcome is open when the account closes: the bank got one, and never got the other.
        let open =
            ["1.05", "1.07"].map(|monto| shop.pay(&merchant, monto, &format!("other-{round}-{monto}")));
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
        completed(&machines, &shop, &open);
    }
    load.is_over.store(true, Ordering::SeqCst);
    callers.into_iter().for_each(|caller| caller.join().expect("a caller"));
    load.judge(before - (105 + 107) * rounds as u64);
    delivered(&machines, &shop, &receiver, first);
    machines.stop_all();
    verified(&machines);
}

/// Payouts whose outcome is open are completed when the bank is asked, which the test clock brings about.
fn completed(machines: &Machines, shop: &Shop, payouts: &[Value]) {
    let mut nth = 0;
    for payout in payouts {
        let path = format!("/v1/payouts/{}", payout["payoutId"].as_str().expect("an id"));
        machines.until(|_| {
            nth += 1;
            shop.advance(600, &format!("{path}-{nth}"));
            shop.get(&path)["status"] == "completed"
        });
    }
}

/// Given an account whose move the judge ended, and died before anybody asked its new partition for more; when it
/// leaves and comes back; then what it did there meanwhile is there once.
#[test]
#[ignore = "takes minutes: make cluster-test"]
fn an_account_comes_back_to_where_a_move_was_not_followed_up() {
    let Some(mut machines) = machines() else { return };
    let step = machines.path("step");
    std::fs::write(&step, "0").expect("written");
    machines.with_environment("PASARELA_TEST_CLOCK_STEP", step.to_str().expect("text"));
    machines.found();
    until_led(&machines);
    let open = opened_by_anybody(&machines);
    let receiver = Receiver::start();
    let (tenant, shop, merchant) = prepared(&machines, receiver.port);
    let first = events(&shop, 0).len() as u64;
    let before = hundredths(&shop.get("/v1/balance")["ledgerNetVes"]);
    assert_eq!(place(&machines, &tenant), 1);
    let judge = leader(&machines, 0).and_then(|node| process(&machines, node, 0)).expect("it runs");
    let port = machines.admin_port(leader(&machines, 0).expect("it leads"));
    std::thread::scope(|scope| {
        let moving = scope.spawn(|| moved(&machines, &tenant, 2));
        let shown = || crate::machines::exchange(port, "GET", &format!("/admin/tenants/{tenant}"), None, "");
        let began = Instant::now();
        while shown().is_none_or(|(.., shown)| shown["partition"] != 2) {
            assert!(began.elapsed() < Duration::from_secs(30), "{}", machines.logs());
        }
        kill(judge);
        assert_eq!(moving.join().expect("it is moved"), 2);
    });
    until_led(&machines);
    for (n, to) in [1, 2, 0, 2].into_iter().enumerate() {
        shop.pay(&merchant, "10.00", &format!("there-{n}"));
        assert_eq!(moved(&machines, &tenant, to), to);
        assert_eq!(shop.items("/v1/payouts").len(), n + 1);
        let balance = hundredths(&shop.get("/v1/balance")["ledgerNetVes"]);
        assert_eq!(balance, before - (n as u64 + 1) * PAYOUT, "in {to}");
    }
    delivered(&machines, &shop, &receiver, first);
    comes_home(&machines, &open, &step);
    machines.stop_all();
    verified(&machines);
}

/// An account that anybody opens, and its id.
fn opened_by_anybody(machines: &Machines) -> (String, Shop) {
    let head = "host: localhost\r\n";
    let opened = exchange_as(machines.ports()[1], "POST", "/v1/test/accounts", None, head);
    let (status, _, opened) = opened.expect("an answer");
    assert_eq!(status, 201, "{opened}");
    let shop =
        Shop { ports: machines.ports(), key: opened["testKey"]["key"].as_str().expect("a key").to_owned() };
    let (_, tenants) = machines.operator(0, "GET", "/admin/tenants", None).expect("an answer");
    let tenants = tenants["items"].as_array().expect("a list").clone();
    let tenant = tenants.iter().find(|tenant| tenant["name"] == "open test account").expect("it is listed");
    (tenant["tenantId"].as_str().expect("an id").to_owned(), shop)
}

/// An account that was opened without an operator moves as others do. When nobody has used it for a day it comes back to
/// the first partition, which deletes it a day later.
fn comes_home(machines: &Machines, (tenant, shop): &(String, Shop), step: &std::path::Path) {
    assert_eq!(moved(machines, tenant, 1), 1);
    shop.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "7.00" }), "open");
    // A clock is believed at a start: that of the first partition alone.
    let later = |hours: u64| {
        std::fs::write(step, (hours * HOUR_MS).to_string()).expect("written");
        (0..3).filter_map(|node| process(machines, node, 0)).for_each(kill);
        until_led(machines);
    };
    later(20);
    std::thread::sleep(Duration::from_secs(12));
    assert_eq!(place(machines, tenant), 1, "it is looked at every ten seconds");
    later(50);
    machines.until(|machines| place(machines, tenant) == 0);
    assert_eq!(shop.get("/v1/balance")["availableVes"], "7.00", "it has another day");
    later(76);
    machines.until(|machines| {
        let shown = machines.operator(0, "GET", &format!("/admin/tenants/{tenant}"), None);
        shown.is_some_and(|(status, _)| status == 404)
    });
    machines.until(|_| shop.ask(1, "GET", "/v1/balance", None, "").is_some_and(|(status, _)| status == 401));
}

/// Given an account with everything under way; when it moves about; then each is there where it is, works, and is shown
/// to operators once, whatever its former partitions still have.
#[test]
#[ignore = "takes minutes: make cluster-test"]
fn what_an_account_has_under_way_moves_along_and_is_counted_once() {
    let Some(mut machines) = machines() else { return };
    machines.found();
    until_led(&machines);
    let receiver = Receiver::start();
    let (tenant, shop, merchant) = prepared(&machines, receiver.port);
    let first = events(&shop, 0).len() as u64;
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned();
    let operator = |method: &str, path: &str, body: &Value| {
        let (status, shown) = machines.operator(2, method, path, Some(body)).expect("an answer");
        assert!(status < 300, "{path}: {status} {shown}");
        shown
    };
    shop.advance(3_600, "ahead");
    let ahead = text(&shop.get("/v1/test/clock")["now"]);
    let open = ["1.05", "1.07"].map(|monto| shop.pay(&merchant, monto, &format!("open-{monto}")));
    let done = shop.pay(&merchant, "10.00", "done");
    let session = shop.post("/v1/checkout/sessions", &json!({ "amountUsd": 10 }), "session");
    let paid = shop.post("/v1/checkout/sessions", &json!({ "amountUsd": 5 }), "paid");
    let card = json!({ "card": { "number": "4111111111111111", "expMonth": 12, "expYear": 2030, "cvv": "123",
        "holderName": "Ana Perez", "holderId": "V12345678" } });
    let by_buyer = |session: &Value| {
        let head = format!("host: localhost\r\nauthorization: Bearer {}\r\n", text(&session["clientSecret"]));
        let path = format!("/checkout/{}/card", text(&session["id"]));
        let (status, _, shown) =
            exchange_as(machines.ports()[1], "POST", &path, Some(&card), &head).expect("an answer");
        assert_eq!((status, &shown["status"]), (200, &json!("paid")), "{shown}");
    };
    by_buyer(&paid);
    let payment = shop.items("/v1/payments")[0].clone();
    let product = shop.post("/v1/products", &json!({ "name": "Camisa", "priceUsd": "25.50" }), "product");
    let links = format!("/v1/products/{}/links", text(&product["id"]));
    let slug = text(&shop.post(&links, &json!({}), "link")["slug"]);
    operator("PATCH", &format!("/admin/tenants/{tenant}/settings"), &json!({ "cop": { "enabled": true } }));
    shop.post("/v1/test/fund", &json!({ "currency": "COP", "amount": "100000" }), "pesos");
    let qr = json!({ "amountCop": 50_000, "channel": "qr", "reference": "qr" });
    let in_pesos = shop.post("/v1/cop/payments", &qr, "in-pesos");
    let paid_in_pesos = format!("/v1/test/cop/payments/{}/pay", text(&in_pesos["id"]));
    assert_eq!(shop.post(&paid_in_pesos, &json!({}), "pay-pesos")["status"], "completed");
    let pesos = json!({ "mode": "test", "amountCop": 40_000, "bank": "Bancolombia", "accountNumber": "12345678901",
        "accountType": "savings", "holderName": "Ana Paz", "documentType": "CC", "documentNumber": "1020304050",
        "externalRef": "pesos" });
    operator("POST", &format!("/admin/tenants/{tenant}/cop-payouts"), &pesos);
    let chargeback = json!({ "paymentId": text(&payment["paymentId"]), "reason": "fraud" });
    operator("POST", &format!("/admin/tenants/{tenant}/chargebacks"), &chargeback);
    let correction = json!({ "mode": "test", "currency": "VES", "amount": "1.00", "description": "x",
        "externalRef": "corrected" });
    operator("POST", &format!("/admin/tenants/{tenant}/adjustments"), &correction);
    let more = operator("POST", &format!("/admin/tenants/{tenant}/keys"), &json!({ "mode": "test" }));
    let balance = shop.get("/v1/balance");

    // What operators see of it over all partitions.
    let seen = || -> Vec<(String, usize)> {
        let lists = [
            "cop-payouts?limit=100",
            "chargebacks?limit=100",
            "payments?limit=100",
            "payouts?limit=100",
            "operations?limit=100&status=pending",
            "audit?limit=100&action=adjustment.create",
            "search?q=seller",
            "search?q=V87654321",
        ];
        let by_account = ["cop-payouts", "chargebacks", "payments", "payouts"];
        let by_account = by_account.map(|name| format!("{name}?limit=100&tenantId={tenant}"));
        let lists = lists.into_iter().map(str::to_owned).chain(by_account);
        lists
            .map(|list| {
                let path = format!("/admin/{list}");
                let (status, shown) = machines.operator(1, "GET", &path, None).expect("an answer");
                assert_eq!(status, 200, "{path}: {shown}");
                let items = shown["items"].as_array().expect("a list");
                let own = items.iter().filter(|item| item["tenantId"] == *tenant).count();
                (list, own)
            })
            .collect()
    };
    let before = seen();
    assert!(before.iter().all(|(_, count)| *count > 0), "{before:?}");
    for (n, to) in [0, 2, 0, 1].into_iter().enumerate() {
        let revoking = std::thread::scope(|scope| {
            let moving = scope.spawn(|| moved(&machines, &tenant, to));
            // Its keys change meanwhile.
            let revoked = (n == 1).then(|| {
                let path = format!("/admin/keys/{}", text(&more["keyId"]));
                machines.operator(0, "DELETE", &path, None).expect("an answer").0
            });
            assert_eq!(moving.join().expect("it is moved"), to);
            revoked
        });
        assert!(revoking.is_none_or(|status| status < 300), "{revoking:?}");
        assert_eq!(seen(), before, "in {to}");
        assert_eq!(shop.get("/v1/balance"), balance, "in {to}");
        assert!(text(&shop.get("/v1/test/clock")["now"]) > ahead, "the clock stays ahead, in {to}");
        assert_eq!(shop.pay(&merchant, "10.00", "done"), done, "a kept answer, in {to}");
        let buyers = |path: &str| {
            let shown =
                page_as(machines.ports()[n % 3], "GET", path, ("text/plain", ""), "host: localhost\r\n");
            shown.expect("an answer").0
        };
        // Also at a front that remembers who had them.
        for path in [format!("/checkout/{}", text(&session["id"])), format!("/pay/{slug}")] {
            assert_eq!([buyers(&path), buyers(&path)], [200; 2], "{path} in {to}");
        }
        let other = Shop { key: text(&more["key"]), ..shop.clone() };
        let expected = if n == 0 { 200 } else { 401 };
        machines.until(|_| {
            other.ask(n, "GET", "/v1/balance", None, "").map(|(status, _)| status) == Some(expected)
        });
    }
    by_buyer(&session);
    // What the bank has of a payment in pesos came along.
    let refunded =
        shop.post(&format!("/v1/cop/payments/{}/refund", text(&in_pesos["id"])), &json!({}), "refund");
    assert_eq!(refunded["status"], "refunded", "{refunded}");
    completed(&machines, &shop, &open);
    delivered(&machines, &shop, &receiver, first);

    // Its test data begin anew while it moves.
    let reset = std::thread::scope(|scope| {
        let moving = scope.spawn(|| moved(&machines, &tenant, 2));
        std::thread::sleep(Duration::from_millis(20));
        let reset = shop.post("/v1/test/reset", &json!({}), "anew");
        assert_eq!(moving.join().expect("it is moved"), 2);
        reset
    });
    assert_eq!(shop.items("/v1/payouts"), Vec::<Value>::new(), "{reset}");
    for to in [1, 2] {
        let fund = json!({ "currency": "VES", "amount": "3.00" });
        shop.post("/v1/test/fund", &fund, &format!("anew-{to}"));
        assert_eq!(moved(&machines, &tenant, to), to);
        assert_eq!(shop.items("/v1/payouts").len(), 0, "in {to}");
    }
    assert_eq!(shop.get("/v1/balance")["availableVes"], "6.00");
    machines.stop_all();
    verified(&machines);
}
