//! Live accounts outside of the first partition: their orders at a bank, what banks tell of their payments, and what
//! becomes of both while leaders die.

use crate::chain::{CHAIN_ID, CONTRACT, Chain};
use crate::fake_wompi::{EVENTS_SECRET, FakeWompi, INTEGRITY_SECRET, PRIVATE_KEY, PUBLIC_KEY};
use crate::machines::{Machines, exchange_within, page_as};
use crate::partitions::{call, epochs, kill, leader_of, process, until_followed, until_led};
use crate::r4_bank::{Act, Bank, code, done};
use domain::codec::{self, Decode, encode_newest};
use domain::entities::notice::{Claim, Traits};
use domain::platform::hash_key;
use domain::platform::live_asks::{LiveAsk, TransferSearch};
use domain::values::ids::{Id, Mode, tenant_key};
use domain::values::money::Ves;
use domain::values::time::Date;
use domain::values::venezuela::{BankCode, MobilePhone};
use hyper::Method;
use pasarela::cluster::peers::PeerKey;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What the bank was given to prove itself with.
const UUID: &str = "4f1c2a9e-7b3d-4e8a-9c55-0d6f1b2a3c4d";
const OURS: &str = "04240000001";
const PHONE: &str = "04141234567";
const STATEMENT_OF: &str = "01690001001234567890";
const PATIENCE: Duration = Duration::from_secs(60);

fn fresh(name: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("{name}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Three partitions on three nodes, with these rails, and prices of live mode.
fn machines(rails: &str) -> Option<Machines> {
    let mut machines = Machines::new()?;
    let all = format!(
        "partitions = 3\npartitions_preview = true\nspread_seconds = 3600\n[rails]\nprobe_seconds = 1\n{rails}"
    );
    (0..3).for_each(|node| machines.configure(node, &all));
    machines.found();
    until_led(&machines);
    for (pair, source, side, price) in [
        ("USD/VES", "bcv", "OFFICIAL", "200"),
        ("USDT/VES", "p2p", "FLOOR", "245"),
        ("USDT/COP", "p2p", "BUY", "4000"),
    ] {
        let rate = json!({ "pair": pair, "source": source, "side": side, "method": "hand", "price": price });
        operate(&machines, "POST", "/admin/rates", &rate, 201);
    }
    Some(machines)
}

fn r4(bank: &str, poll_seconds: u32, wait_seconds: u32) -> String {
    format!(
        "poll_seconds = {poll_seconds}\nunresolved_after_seconds = 3\n[rails.r4]\nbase_url = \"{bank}\"\n\
         commerce_token = \"token\"\ntimeout_seconds = 1\ncallback_uuid = \"{UUID}\"\ncommerce_phone = \"{OURS}\"\n\
         notice_wait_seconds = {wait_seconds}\n"
    )
}

#[track_caller]
fn operate(machines: &Machines, method: &str, path: &str, body: &Value, status: u16) -> Value {
    let (answered, shown) = machines.operator(1, method, path, Some(body)).expect("an answer");
    assert_eq!(answered, status, "{method} {path}: {shown}");
    shown
}

fn read(machines: &Machines, path: &str) -> Value {
    crate::machines::ok(machines.operator(2, "GET", path, None))
}

fn items(machines: &Machines, path: &str) -> Vec<Value> {
    read(machines, path)["items"].as_array().expect("items").clone()
}

#[track_caller]
fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "{what}: never");
        std::thread::sleep(Duration::from_millis(50));
    }
}

struct Account {
    id: String,
    live: String,
    warnings: Value,
}

/// A new account of a partition, whose live mode is open.
fn account(machines: &Machines, partition: u64) -> Account {
    let opened = until("an account of that partition", || {
        let shown = operate(machines, "POST", "/admin/tenants", &json!({ "name": fresh("tienda") }), 201);
        (shown["partition"] == partition).then_some(shown)
    });
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let (id, live) = (text(&opened["tenantId"]), text(&opened["liveKey"]["key"]));
    let path = format!("/admin/tenants/{id}/live-status");
    let shown = operate(machines, "POST", &path, &json!({ "status": "active" }), 200);
    until_followed("its live mode is open", || call(machines, 0, &live, "GET", "/v1/balance", None).0 == 200);
    Account { id, live, warnings: shown["warnings"].clone() }
}

impl Account {
    fn fund(&self, machines: &Machines, currency: &str, amount: &str) {
        let body = json!({ "mode": "live", "currency": currency, "amount": amount, "description": "para probar",
            "externalRef": fresh("ajuste") });
        operate(machines, "POST", &format!("/admin/tenants/{}/adjustments", self.id), &body, 201);
    }

    fn get(&self, machines: &Machines, path: &str) -> Value {
        let (status, shown) = call(machines, 2, &self.live, "GET", path, None);
        assert_eq!(status, 200, "{path}: {shown}");
        shown
    }

    /// Charges ten dollars.
    fn c2p(&self, machines: &Machines, node: usize) -> (u16, Value) {
        let mut body = json!({ "usdAmount": 10, "debtorId": "V12345678", "debtorCellPhone": "04141234567",
            "debtorBankCode": 134, "externalRef": fresh("c2p") });
        let path = "/v1/payments/c2p/request";
        let (status, intent) = call(machines, node, &self.live, "POST", path, Some(&body));
        assert_eq!(status, 201, "{intent}");
        (body["intentId"], body["token"]) = (intent["intentId"].clone(), json!("12345678"));
        call(machines, node, &self.live, "POST", "/v1/payments/c2p", Some(&body))
    }

    /// Pays, at all nodes in turn until one has answered.
    fn credit(&self, ports: &[u16], amount: &str) -> Value {
        let body = json!({ "banco": "0134", "telefono": "04141234567", "cedula": "V12345678", "monto": amount,
            "concepto": "pago", "externalRef": format!("cred-{amount}") });
        let head = format!("host: localhost\r\nx-api-key: {}\r\nidempotency-key: {amount}\r\n", self.live);
        let (path, mut nodes) = ("/v1/payments/credit", ports.iter().cycle());
        until("the payout is taken", || {
            let port = *nodes.next().expect("a port");
            let answer = exchange_within(Duration::from_secs(3), port, "POST", path, Some(&body), &head);
            answer.filter(|(status, ..)| matches!(status, 200..=202)).map(|(.., shown)| shown)
        })
    }

    fn cents(&self, machines: &Machines) -> usize {
        let shown = self.get(machines, "/v1/balance");
        let net = shown["ledgerNetVes"].as_str().expect("an amount").replace('.', "");
        net.parse().expect("a number")
    }

    fn payouts(&self, machines: &Machines) -> Vec<Value> {
        self.get(machines, "/v1/payouts?limit=100")["items"].as_array().expect("items").clone()
    }
}

/// Kills the process that leads a partition, and waits until another does.
fn replace_leader(machines: &Machines, partition: usize) {
    let before = epochs(machines)[partition];
    kill(process(machines, leader_of(machines, partition), partition).expect("it runs"));
    machines.until(|machines| {
        let shown = machines.operator(0, "GET", "/admin/cluster", None);
        shown.is_some_and(|(_, shown)| shown["partitions"][partition]["epoch"].as_u64() > Some(before))
    });
    until_led(machines);
}

/// Stops all processes of a partition, and lets them go on when this is dropped.
struct Stopped(Vec<u32>);

impl Stopped {
    fn all(machines: &Machines, partition: usize) -> Stopped {
        let stopped = Stopped((0..3).filter_map(|node| process(machines, node, partition)).collect());
        stopped.signal("-STOP");
        stopped
    }

    fn signal(&self, name: &str) {
        let pids = self.0.iter().map(u32::to_string);
        let sent = std::process::Command::new("kill").arg(name).args(pids).status();
        assert!(sent.expect("kill runs").success());
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        self.signal("-CONT");
    }
}

#[test]
#[ignore = "takes minutes: make cluster-test"]
fn orders_of_an_account_elsewhere_reach_the_bank_once_and_its_statement_is_of_all() {
    let bank = Bank::start();
    let Some(machines) = machines(&r4(&bank.base(), 2, 0)) else { return };
    let (here, there) = (account(&machines, 0), account(&machines, 1));
    let warned = there.warnings.to_string();
    assert!(!warned.contains("C2P") && warned.contains("USDT"), "{warned}");
    bank.always("MBc2p", done("00", "00471100"));
    for (node, account) in [(0, &here), (0, &there), (1, &there), (2, &there)] {
        let (status, paid) = account.c2p(&machines, node);
        assert_eq!((status, &paid["status"]), (200, &json!("COMPLETED")), "n{node}: {paid}");
    }
    bank.next("MBc2p", code("51"));
    let (status, refused) = there.c2p(&machines, 1);
    assert_eq!((status, &refused["failureCode"]), (200, &json!("AM04")), "{refused}");
    let [one, three] = [&here, &there].map(|account| account.cents(&machines));
    assert!(one > 0 && three == 3 * one, "{one} {three}");

    // At the bank when its leader dies: it is before an operator, and never sent again.
    there.fund(&machines, "VES", "100000.00");
    bank.next("MBvuelto", Act::Silence);
    let ports = machines.ports();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| there.credit(&ports, "9.00"));
        until("it is at the bank", || (bank.of("MBvuelto").len() == 1).then_some(()));
        replace_leader(&machines, 1);
        assert_eq!(asking.join().expect("no panic")["status"], "pending");
    });
    let unresolved = until("it is unresolved", || {
        items(&machines, "/admin/operations?status=unresolved")
            .into_iter()
            .find(|one| one["amount"] == "9.00")
    });
    assert_eq!((&unresolved["asks"], &unresolved["tenantId"]), (&json!(0), &json!(there.id)), "{unresolved}");

    // Many, while their leader and the first partition's die.
    bank.always("MBvuelto", done("00", "51"));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (there, ports) = (&there, &ports);
            scope.spawn(move || {
                for n in 0..10 {
                    there.credit(ports, &format!("{}.{n:02}", 100 + thread));
                }
            });
        }
        for partition in [1, 0] {
            std::thread::sleep(Duration::from_millis(200));
            replace_leader(&machines, partition);
        }
    });
    let pending = |one: &&Value| one["status"] == "pending";
    until("what the bank answered is decided", || {
        let open = there.payouts(&machines).iter().filter(pending).count();
        let unresolved = items(&machines, "/admin/operations?status=unresolved&rail=r4").len();
        (open == unresolved).then_some(())
    });
    let payouts = there.payouts(&machines);
    assert_eq!(payouts.len(), 41);
    let at_bank = |amount: &Value| bank.of("MBvuelto").iter().filter(|call| call["Monto"] == *amount).count();
    for payout in &payouts {
        let calls = at_bank(&payout["monto"]);
        match payout["status"].as_str() {
            Some("completed") => assert_eq!(calls, 1, "{payout}"),
            Some("pending") => assert!(calls <= 1, "{payout}"),
            _ => panic!("{payout}"),
        }
    }
    assert!(payouts.iter().filter(pending).count() < 10, "{payouts:?}");

    // The bank's statement has the charges of both accounts.
    let today =
        chrono::Utc::now().with_timezone(&chrono::FixedOffset::west_opt(4 * 3600).expect("an offset"));
    let (from, to) = (today.date_naive() - chrono::Days::new(1), today.date_naive());
    let mut file = "date,reference,amount,kind,phone,bank\n".to_owned();
    for account in [&here, &there] {
        let page = account.get(&machines, "/v1/payments?limit=100");
        for payment in
            page["items"].as_array().expect("items").iter().filter(|one| one["status"] == "COMPLETED")
        {
            let reference = payment["bankReference"].as_str().expect("a reference");
            file.push_str(&format!("{to},{reference},2000.00,credit,04141234567,0134\n"));
        }
    }
    file.push_str(&format!("{to},77,9.00,debit,04141234567,0134\n"));
    let path = format!("/admin/reconciliations?rail=r4&account={STATEMENT_OF}&from={from}&to={to}");
    let head = format!("host: localhost\r\nauthorization: Bearer {}\r\n", Machines::TOKEN);
    let upload = || {
        let (status, _, shown) =
            page_as(machines.admin_port(1), "POST", &path, ("text/csv", &file), &head).expect("an answer");
        (status, serde_json::from_str::<Value>(&shown).unwrap_or_default())
    };
    let stopped = Stopped::all(&machines, 2);
    let refused = until("the front has noticed", || Some(upload()).filter(|(status, _)| *status == 503));
    assert_eq!(refused.1["error"], "no_leader", "{refused:?}");
    drop(stopped);
    let begun = until("all answer", || Some(upload()).filter(|(status, _)| *status == 202));
    let path = format!("/admin/reconciliations/{}", begun.1["id"].as_str().expect("an id"));
    let ended = until("it ends", || Some(read(&machines, &path)).filter(|one| one["status"] != "running"));
    let counts = ["status", "matched", "missingHere", "proposals"].map(|name| ended[name].clone());
    assert_eq!(counts, [json!("done"), json!(4), json!(0), json!(1)], "{ended}");
    let proposed = items(&machines, &format!("{path}/items?result=proposal"));
    assert_eq!(proposed[0]["ours"]["id"], unresolved["operationId"], "{proposed:?}");
    assert_eq!(proposed[0]["ours"]["tenantId"], json!(there.id));
    let item = proposed[0]["id"].clone();
    for (accepted, refused) in [(1, json!([])), (0, json!([{ "id": item, "error": "operation_resolved" }]))] {
        let said = operate(&machines, "POST", &format!("{path}/accept"), &json!({ "all": true }), 200);
        assert_eq!(said, json!({ "accepted": accepted, "refused": refused }));
    }
    let resolved =
        there.payouts(&machines).into_iter().find(|one| one["monto"] == "9.00").expect("it is there");
    assert_eq!(
        (&resolved["status"], &resolved["reference"]),
        (&json!("completed"), &json!("77")),
        "{resolved}"
    );
    let audited = items(&machines, "/admin/audit?limit=100");
    let of_it =
        |one: &&Value| one["target"] == unresolved["operationId"] && one["action"] == "operation.resolve";
    assert_eq!(audited.iter().filter(of_it).count(), 1, "{audited:?}");
}

#[test]
#[ignore = "takes minutes: make cluster-test"]
fn an_event_of_a_processor_reaches_the_partition_of_its_payment() {
    let wompi = FakeWompi::start();
    let rails = format!(
        "poll_seconds = 3600\n[rails.wompi]\nbase_url = \"{}\"\npublic_key = \"{PUBLIC_KEY}\"\n\
         private_key = \"{PRIVATE_KEY}\"\nevents_secret = \"{EVENTS_SECRET}\"\n\
         integrity_secret = \"{INTEGRITY_SECRET}\"\ntimeout_seconds = 5\n",
        wompi.base()
    );
    let Some(machines) = machines(&rails) else { return };
    let there = account(&machines, 1);
    let buyer = json!({ "email": "ana@example.com", "phone": "+573001234567", "documentType": "CC",
        "documentNumber": "1020304050" });
    let ask = |node: usize| {
        let body =
            json!({ "amountCop": 50_000, "channel": "push", "reference": fresh("pedido"), "buyer": buyer });
        let (status, shown) = call(&machines, node, &there.live, "POST", "/v1/cop/payments", Some(&body));
        assert_eq!(status, 201, "{shown}");
        shown
    };
    let notify = |node: usize, event: &Value| {
        let answer = crate::machines::exchange_as(
            machines.ports()[node],
            "POST",
            "/rails/wompi/events",
            Some(event),
            "host: localhost\r\n",
        );
        answer.expect("an answer").0
    };
    let status = |payment: &Value| {
        let path = format!("/v1/cop/payments/{}", payment["id"].as_str().expect("an id"));
        there.get(&machines, &path)["status"].clone()
    };
    for node in 0..3 {
        let payment = ask(node);
        wompi.settle("APPROVED");
        let event = wompi.event("APPROVED");
        assert_eq!([notify(node, &event), notify((node + 1) % 3, &event)], [200, 200]);
        until("it is completed", || (status(&payment) == "completed").then_some(()));
    }
    let books = there.get(&machines, "/v1/cop/balance");
    // A leader that is new knows it too.
    let payment = ask(0);
    replace_leader(&machines, 1);
    wompi.settle("DECLINED");
    assert_eq!(notify(1, &wompi.event("DECLINED")), 200);
    until("it has failed", || (status(&payment) == "failed").then_some(()));
    assert_eq!(there.get(&machines, "/v1/cop/balance"), books);
    assert_eq!(unmatched(&machines), Vec::<Value>::new());
    // While nobody can tell whether there is such a payment, it is to be told again.
    let payment = ask(2);
    wompi.settle("APPROVED");
    let event = wompi.event("APPROVED");
    let stopped = Stopped::all(&machines, 1);
    let answered = exchange_within(
        Duration::from_secs(15),
        machines.ports()[0],
        "POST",
        "/rails/wompi/events",
        Some(&event),
        "host: localhost\r\n",
    );
    assert_eq!(answered.map(|(status, ..)| status), Some(503));
    drop(stopped);
    until("it is taken", || (notify(0, &event) == 200).then_some(()));
    until("it is completed", || (status(&payment) == "completed").then_some(()));
    // What is of no payment is listed, once.
    wompi.change(|newest| newest.body["reference"] = json!("somebody's"));
    wompi.change(|newest| newest.id = "other".to_owned());
    assert_eq!([0, 1].map(|node| notify(node, &wompi.event("APPROVED"))), [200, 200]);
    assert_eq!(unmatched(&machines).len(), 1);
}

fn day() -> String {
    let caracas = chrono::FixedOffset::west_opt(4 * 3600).expect("an offset");
    chrono::Utc::now().with_timezone(&caracas).date_naive().to_string()
}

/// The bank tells of a transfer of 2000 bolívares.
fn notify(port: u16, phone: &str, reference: &str) -> Option<Value> {
    let notice = json!({
        "IdComercio": "12345678", "TelefonoComercio": OURS, "TelefonoEmisor": phone,
        "Concepto": "pago", "BancoEmisor": "134", "Monto": "2000.00",
        "FechaHora": format!("{}T12:00:00", day()), "Referencia": reference, "CodigoRed": "00",
    });
    let head = format!("host: localhost\r\nauthorization: {UUID}\r\n");
    let answer =
        exchange_within(Duration::from_secs(3), port, "POST", "/rails/r4/R4notifica", Some(&notice), &head);
    answer.filter(|(status, ..)| *status == 200).map(|(.., shown)| shown)
}

fn insist_on(ports: &[u16], phone: &str, reference: &str) {
    let mut nodes = ports.iter().cycle();
    until("the notice is taken", || {
        notify(*nodes.next().expect("a port"), phone, reference).filter(|shown| shown["abono"] == true)
    });
}

fn verification(phone: &str, reference: &str) -> Value {
    json!({
        "usdAmount": 10, "reference": reference, "phone": phone, "bankCode": "0134", "date": day(),
        "debtorId": "V12345678", "externalRef": fresh("pm"),
    })
}

fn unmatched(machines: &Machines) -> Vec<Value> {
    items(machines, "/admin/notices?unmatched=true")
}

/// The number of an account: they count up in the order in which they were made.
fn number(machines: &Machines, account: &Account) -> u32 {
    let all = items(machines, "/admin/tenants?limit=100");
    let newer = all.iter().position(|tenant| tenant["tenantId"] == account.id.as_str()).expect("it is there");
    u32::try_from(all.len() - newer).expect("a few")
}

/// What the first partition's leader answers another one.
fn ask_first<T: Decode<u8>>(machines: &Machines, ask: &LiveAsk) -> T {
    let message = encode_newest(ask);
    let mark = fs::read(machines.data(0).join("mark.key")).expect("a key");
    let key = PeerKey::derived(&mark.try_into().expect("32 bytes"));
    let target = format!("peer live {}", hex::encode(hash_key(&message)));
    let head = format!(
        "POST /peer/live HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\npasarela-peer: {}\r\n\
         content-length: {}\r\n\r\n",
        key.prove_node(&Method::POST, &target),
        message.len()
    );
    let port = machines.peer_port(leader_of(machines, 0));
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    stream.write_all(&[head.as_bytes(), &message].concat()).expect("it takes it");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    let body = answer.windows(4).position(|end| end == b"\r\n\r\n").expect("a head") + 4;
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    codec::decode(&answer[body..]).expect("what was asked for")
}

const VERIFY: &str = "/v1/payments/pago-movil/verify";

fn verify(machines: &Machines, account: &Account, body: &Value) -> (u16, Value) {
    call(machines, 1, &account.live, "POST", VERIFY, Some(body))
}

#[test]
#[ignore = "takes minutes: make cluster-test"]
fn a_transfer_pays_one_payment_of_whatever_partition() {
    let Some(machines) = machines(&r4("http://127.0.0.1:9", 2, 0)) else { return };
    let accounts = [account(&machines, 0), account(&machines, 1), account(&machines, 2)];
    let not_found = (201, json!("reference_not_found"));
    let refused = |account: &Account, reference: &str| {
        let (status, shown) = verify(&machines, account, &verification(PHONE, reference));
        (status, shown["failureCode"].clone())
    };
    for account in &accounts {
        assert_eq!(refused(account, "990001"), not_found);
    }
    // Each of three has its own, and nobody's is another's.
    for (n, account) in accounts.iter().enumerate() {
        let full = format!("00{n}45{n}99");
        insist_on(&machines.ports(), PHONE, &full);
        let (status, paid) = verify(&machines, account, &verification(PHONE, &full[2..]));
        assert_eq!(
            (status, &paid["status"], &paid["bankReference"]),
            (201, &json!("COMPLETED"), &json!(full))
        );
        let (status, again) = verify(&machines, account, &verification(PHONE, &full[3..]));
        assert_eq!((status, &again["error"]), (409, &json!("reference_already_used")), "{again}");
        let other = &accounts[(n + 1) % 3];
        assert_eq!(refused(other, &full[2..]), not_found);
        assert_eq!(account.get(&machines, "/v1/balance")["ledgerNetVes"], "1970.00");
    }
    // The bank asks whether it knows a payer of theirs; nobody has paid with the other document.
    let head = format!("host: localhost\r\nauthorization: {UUID}\r\n");
    for (document, is_known) in [("12345678", true), ("87654321", false)] {
        let body = json!({ "IdCliente": document, "Monto": "1.00", "TelefonoComercio": "04240000009" });
        let port = machines.ports()[2];
        let answer = crate::machines::exchange_as(port, "POST", "/rails/r4/R4consulta", Some(&body), &head);
        assert_eq!(answer.map(|(_, _, shown)| shown), Some(json!({ "status": is_known })), "{document}");
    }
    // A claim that comes after its payment was refused takes nothing, and a payment claims one transfer.
    let there = &accounts[1];
    let tenant = tenant_key(number(&machines, there), Mode::Live);
    let id = |value: &Value| Id::parse(value.as_str().expect("text")).expect("an id");
    let late = |payment: &Value, notice: &Value, typed: &str| {
        let traits = Traits {
            bank: BankCode::parse("0134").expect("a bank"),
            day: Date::parse(&day()).expect("a day"),
            phone: MobilePhone::parse(PHONE).expect("a phone"),
            amount: Ves::from_minor(200_000),
        };
        let (payment, typed) = (id(&payment["paymentId"]), typed.to_owned());
        let search = TransferSearch { tenant, payment, traits, typed };
        ask_first::<Option<Claim>>(&machines, &LiveAsk::Claim { search, notice: id(&notice["noticeId"]) })
    };
    let (status, failed) = verify(&machines, there, &verification(PHONE, "667788"));
    assert_eq!((status, &failed["failureCode"]), (201, &json!("reference_not_found")));
    insist_on(&machines.ports(), PHONE, "00667788");
    assert_eq!(late(&failed, &unmatched(&machines)[0], "667788"), None);
    let (status, paid) = verify(&machines, there, &verification(PHONE, "667788"));
    assert_eq!((status, &paid["status"]), (201, &json!("COMPLETED")), "{paid}");
    insist_on(&machines.ports(), PHONE, "55667788");
    assert_eq!(late(&paid, &unmatched(&machines)[0], "667788"), None);
    assert_eq!(unmatched(&machines).len(), 1);
    // The first partition is silent: that is no "not found".
    insist_on(&machines.ports(), PHONE, "00778811");
    let stopped = Stopped::all(&machines, 0);
    let head = format!("host: localhost\r\nx-api-key: {}\r\n", accounts[1].live);
    let body = verification(PHONE, "778811");
    let port = machines.ports()[0];
    let answer = exchange_within(Duration::from_secs(25), port, "POST", VERIFY, Some(&body), &head);
    let (status, _, waiting) = answer.expect("an answer");
    assert_eq!((status, &waiting["status"]), (202, &json!("PENDING")), "{waiting}");
    drop(stopped);
    let path = format!("/v1/payments/{}", waiting["paymentId"].as_str().expect("an id"));
    until("it is paid", || (accounts[1].get(&machines, &path)["status"] == "COMPLETED").then_some(()));
}

/// Payments and their notices at once, while leaders die somewhere in the middle: whatever was claimed is paid for,
/// once, and nothing else is.
#[test]
#[ignore = "takes minutes: make cluster-test"]
fn whatever_leader_dies_what_was_claimed_is_paid() {
    let Some(machines) = machines(&r4("http://127.0.0.1:9", 2, 25)) else { return };
    let accounts = [account(&machines, 0), account(&machines, 1)];
    let ports = machines.ports();
    let mut payments: Vec<(usize, String)> = Vec::new();
    for round in 0..6_u64 {
        let reference = |n: usize| format!("4{round}00{n:03}");
        // After many wrong references for one phone an operator alone says whose a transfer is.
        let phone = format!("0414123456{round}");
        for n in 0..8 {
            let (status, waiting) = verify(&machines, &accounts[n % 2], &verification(&phone, &reference(n)));
            assert_eq!(status, 202, "{waiting}");
            payments.push((n % 2, waiting["paymentId"].as_str().expect("an id").to_owned()));
        }
        std::thread::scope(|scope| {
            scope.spawn(|| (0..8).for_each(|n| drop(notify(ports[n % 3], &phone, &reference(n)))));
            std::thread::sleep(Duration::from_millis(3 + 9 * round));
            replace_leader(&machines, usize::from(round % 2 == 0));
        });
        // The bank does not know what was taken, and tells of some again.
        for n in 0..4 {
            insist_on(&ports, &phone, &reference(n));
        }
    }
    let mut paid = BTreeMap::new();
    for (account, id) in &payments {
        let payment = until("it is decided", || {
            Some(accounts[*account].get(&machines, &format!("/v1/payments/{id}")))
                .filter(|payment| payment["status"] != "PENDING")
        });
        if payment["status"] == "COMPLETED" {
            paid.insert(id.clone(), (payment["bankReference"].clone(), json!(accounts[*account].id)));
        } else {
            assert_eq!(payment["failureCode"], "reference_not_found", "{payment}");
        }
    }
    assert!(paid.len() >= 24, "what was told again is paid: {}", paid.len());
    let kept = items(&machines, "/admin/notices?limit=100");
    let claimed = kept.iter().filter(|notice| !notice["paymentId"].is_null()).map(|notice| {
        let id = notice["paymentId"].as_str().expect("an id").to_owned();
        (id, (notice["reference"].clone(), notice["tenantId"].clone()))
    });
    assert_eq!(claimed.collect::<BTreeMap<_, _>>(), paid);
    let cents = accounts.iter().map(|account| account.cents(&machines));
    assert_eq!(cents.sum::<usize>(), paid.len() * 197_000);
}

/// The first key of the words that developers use, encrypted; with another IV it is another key.
const KEYSTORE: &str = r#"{"version":3,"crypto":{"cipher":"aes-128-ctr","cipherparams":{"iv":"09090909090909090909090909090909"},"ciphertext":"44628fe32f4625004bf073758e18a57406480c0f06241f88b968e63c243f8984","kdf":"pbkdf2","kdfparams":{"c":16,"dklen":32,"prf":"hmac-sha256","salt":"0707070707070707070707070707070707070707070707070707070707070707"},"mac":"adcc677d0b8b178e2c9c57b629c3300af70b8805099c47fdf385927bd7a87b95"}}"#;

#[test]
#[ignore = "takes minutes: make cluster-test"]
fn usdt_is_paid_by_the_partitions_own_wallet_and_comes_to_its_accounts() {
    let chain = Chain::start();
    let secrets = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = secrets.path().join(name);
        fs::write(&path, format!("{text}\n")).expect("written");
        fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("its mode");
        path.to_str().expect("UTF-8").to_owned()
    };
    let first = file("first", &KEYSTORE.replace("09090909", "0a0a0a0a"));
    let (second, password) = (file("second", KEYSTORE), file("password", "local chain"));
    let seed = file("seed", "test test test test test test test test test test test junk");
    let rails = |second: &str| {
        format!(
            "poll_seconds = 3\n[rails.evm.POLYGON]\nrpc_url = \"{}\"\nchain_id = {CHAIN_ID}\n\
             usdt_contract = \"{CONTRACT}\"\nusdt_decimals = 6\nkeystore_file = \"{first}\"\n\
             keystore_password_file = \"{password}\"\nconfirmations = 3\nmax_fee_gwei = 100\n\
             deposit_seed_file = \"{seed}\"\n[rails.evm.POLYGON.wallet_of.1]\nkeystore_file = \"{second}\"\n\
             keystore_password_file = \"{password}\"\n[rails.r4]\ntimeout_seconds = 2\n[rails.wompi]\ntimeout_seconds = 2\n",
            chain.url()
        )
    };
    let Some(machines) = machines(&rails(&second)) else { return };
    let (there, without) = (account(&machines, 1), account(&machines, 2));
    assert!(!there.warnings.to_string().contains("USDT") && without.warnings.to_string().contains("USDT"));
    let pay = |account: &Account, amount: &str| {
        let body = json!({ "amountUsdt": amount, "address": "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
            "network": "POLYGON", "externalRef": fresh("usdt") });
        call(&machines, 0, &account.live, "POST", "/v1/crypto/payouts", Some(&body))
    };
    for account in [&there, &without] {
        account.fund(&machines, "USDT", "100.00");
    }
    let (status, refused) = pay(&without, "10.00");
    assert_eq!((status, &refused["error"]), (503, &json!("rail_not_configured")), "{refused}");

    let (status, payout) = pay(&there, "10.00");
    assert_eq!(status, 202, "{payout}");
    until("it is broadcast", || (!chain.node().received.is_empty()).then_some(()));
    replace_leader(&machines, 1);
    chain.take();
    chain.mine(3);
    let path = format!("/v1/crypto/payouts/{}", payout["id"].as_str().expect("an id"));
    until("it is final", || (there.get(&machines, &path)["status"] == "completed").then_some(()));
    assert!(chain.node().received.iter().all(|sent| sent.nonce == 0), "one nonce, however often it was sent");

    let address = until("addresses are given out", || {
        let body = json!({ "customerRef": "ana", "network": "POLYGON", "asset": "USDT" });
        let (status, shown) =
            call(&machines, 2, &there.live, "POST", "/v1/crypto/deposit-addresses", Some(&body));
        matches!(status, 200 | 201).then_some(shown)
    });
    chain.deposit(&[(address["address"].as_str().expect("text"), 25_000_000)]);
    replace_leader(&machines, 1);
    chain.mine(4);
    let held = || there.get(&machines, "/v1/crypto/balance")["heldUsdt"].clone();
    until("it is credited", || (held() == "25.00").then_some(()));
    replace_leader(&machines, 1);
    chain.mine(3);
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(held(), "25.00", "once");

    machines.configure(0, &format!("partitions = 3\npartitions_preview = true\n[rails]\n{}", rails(&first)));
    let refused = machines.command(0, &["serve"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && said.contains("wallet_of"), "{said}");
}
