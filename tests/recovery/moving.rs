//! A tenant that moves from one deployment to another: what it had is there, once, and nowhere else,
//! whenever a command dies (`docs/contract.md, 22`).

use crate::harness::buyers::{Page, session};
use crate::harness::check::{list, text};
use crate::harness::client::Api;
use crate::harness::faults::{KILLED, STEPS, steps, strace};
use crate::harness::flows::{fresh, merged, payer, payout_body};
use crate::harness::receiver::{Arrived, Manner, Receiver};
use crate::harness::server::{Server, Tenant};
use crate::{errors, fails, shown, succeeds, verified};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::platform::ApiKey;
use domain::values::ids::Mode;
use hmac::{Hmac, KeyInit, Mac};
use pasarela::recovery::blocks::{Blocks, FileKey, Parts};
use pasarela::recovery::moving::file::{END, FORM, TENANT, tenant_block, tenant_in};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const SIGKILL: i32 = 9;

/// A deployment beside another, founded with its keys, which has run.
fn second(first: &Server, parent: &Path) -> Server {
    let data = parent.join("second");
    fs::create_dir(&data).expect("made");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).expect("set");
    for key in ["mark.key", "mark.check", "card.key"] {
        fs::copy(first.data().join(key), data.join(key)).expect("copied");
    }
    let named = succeeds(first, &["tenant", "id", "--data-dir", shown(&data)]);
    assert_eq!(named, succeeds(first, &["tenant", "id", "--data-dir", shown(&data)]), "it keeps its name");
    Server::on(&data)
}

/// The tenant, as another server has it.
fn there(server: &Server, tenant: &Tenant) -> Api {
    server.api(tenant.created["testKey"]["key"].as_str().expect("a key"))
}

fn name_of(server: &Server) -> String {
    succeeds(server, &["tenant", "id"]).trim().to_owned()
}

/// The command that exports a tenant.
fn export<'a>(tenant: &'a Tenant, to: &'a str, file: &'a Path) -> [&'a str; 7] {
    ["tenant", "export", &tenant.id, "--to-deployment", to, "--to", shown(file)]
}

/// Everything that a life in test mode leaves settled.
fn live(server: &Server, tenant: &Tenant) {
    let api = &tenant.test;
    api.fund("5000.00");
    api.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "50.00", "held": false })).expect(201);
    api.pay(10);
    let back = api.pay(10);
    api.reverse(&back).expect(200);
    api.pay_with(10, "99999999");
    let card = api.vpos_pay(30);
    let body = json!({ "paymentId": card["paymentId"], "reason": "fraud", "amountVes": "100.00" });
    api.post("/v1/test/chargebacks", &body).expect(201);
    let merchant = api.merchant();
    let share = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
    api.execute(&api.intent(10), "12345678", share).expect(200);
    api.payout(&merchant, "20.00", json!({})).expect(201);
    let items = ["21.00", "22.00"].map(|monto| payout_body(&merchant, monto));
    api.post("/v1/payouts/batch", &json!({ "externalRef": fresh("batch"), "items": items })).expect(201);
    api.cop_paid(80_000);
    let back = api.cop_paid(90_000);
    api.cop_refund(&back);
    api.patch("/v1/conversions/settings", &json!({ "autoConvert": { "COP": { "percent": 0 } } })).expect(200);
    let quote = api.post("/v1/conversions/quotes", &json!({ "sourceAmountVes": "400.00" })).expect(201);
    api.post("/v1/conversions", &json!({ "quoteId": quote["id"] })).expect(201);
    let usdt = json!({ "amountUsdt": "1.00", "address": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "network": "TRC20", "externalRef": fresh("usdt") });
    api.post("/v1/crypto/payouts", &usdt).expect(201);
    let product =
        api.post("/v1/products", &json!({ "name": fresh("Café"), "priceUsd": "10.00" })).expect(201);
    let link = api.post(&format!("/v1/products/{}/links", text(&product, "id")), &json!({})).expect(201);
    assert!(server.nobody().get(&format!("/pay/{}", text(&link, "slug"))).status == 200);
    Page::of(server, &session(tenant, json!({ "reference": "orden 7" }))).pay("12345678");
    // What waits for banks is answered, and a day is over.
    api.advance(100_000);
    api.pay(5);
}

/// What the tenant reads of itself.
fn read(api: &Api) -> Vec<(String, Value)> {
    let mut said = Vec::new();
    for path in ["/v1/balance", "/v1/conversions/settings", "/v1/webhooks", "/v1/payment-methods"] {
        let mut body = api.get(path).expect(200);
        // The clock goes on.
        for moving in ["asOf", "now"] {
            body.as_object_mut().map(|body| body.remove(moving));
        }
        said.push((path.to_owned(), body));
    }
    let lists = [
        ("/v1/payments", "paymentId"),
        ("/v1/payouts", "payoutId"),
        ("/v1/merchants", "merchantId"),
        ("/v1/chargebacks", "chargebackId"),
        ("/v1/conversions", "id"),
        ("/v1/products", "id"),
        ("/v1/checkout/sessions", "id"),
        ("/v1/crypto/payouts", "id"),
        ("/v1/balance/transactions", ""),
    ];
    for (path, id) in lists {
        let items = api.walk(path, &[], 3);
        assert!(!items.is_empty(), "{path} is empty");
        for item in items.iter().filter(|_| !id.is_empty()) {
            let path = format!("{path}/{}", text(item, id));
            let one = api.get(&path);
            if one.status == 200 {
                said.push((path, one.json()));
            }
        }
        for reference in items.iter().filter_map(|item| item["externalRef"].as_str()) {
            let found = api.query(path, &[("externalRef", reference)]);
            if found.status == 200 {
                said.push((format!("{path}?externalRef={reference}"), found.json()));
            }
        }
        said.push((path.to_owned(), json!(items)));
    }
    let mut events = Vec::new();
    let mut after = 0;
    loop {
        let page = api.get(&format!("/v1/events?after={after}&limit=20")).expect(200);
        let items = list(&page, "items").to_vec();
        let Some(last) = items.last() else { break };
        after = last["sequence"].as_u64().expect("a number");
        events.extend(items);
    }
    assert!(events.len() > 20, "{}", events.len());
    said.push(("/v1/events".to_owned(), json!(events)));
    let today = api.clock().date_naive();
    let from = today - chrono::TimeDelta::days(3);
    for currency in ["VES", "COP", "USDT"] {
        let path = format!("/v1/statements?currency={currency}&from={from}&to={today}");
        said.push((path.clone(), api.get(&path).expect(200)));
    }
    said
}

#[track_caller]
fn assert_same(now: &[(String, Value)], then: &[(String, Value)]) {
    assert_eq!(now.len(), then.len());
    for ((path, now), (_, then)) in now.iter().zip(then) {
        assert_eq!(now, then, "{path}");
    }
}

#[test]
fn a_tenant_moves_with_all_that_it_has() {
    let parent = tempfile::tempdir().expect("a directory");
    let file = parent.path().join("shop.tenant");
    let mut first = Server::start();
    let stays = first.tenant();
    stays.test.fund("10.00");
    let tenant = first.tenant_with(json!({ "reserveVes": "7.00" }));
    // What test mode had before it began anew goes along in the log, and waits for nothing.
    live(&first, &tenant);
    tenant.test.pay_with(10, "77777777");
    tenant.test.advance(40 * 86_400);
    tenant.test.pay_with(10, "77777777");
    tenant.test.act("/v1/test/reset").expect(200);
    live(&first, &tenant);
    let kept = merged(payer(), json!({ "usdAmount": 3, "externalRef": fresh("kept") }));
    let asked = tenant.test.keyed("kept-1").post("/v1/payments/c2p/request", &kept);
    asked.expect(201);
    let hook = json!({ "url": "https://shop.example.com/hook", "events": ["payout.failed"] });
    tenant.test.post("/v1/webhooks", &hook).expect(201);
    tenant.test.advance(1_000);
    let before = read(&tenant.test);
    let others = stays.test.books();
    let mut other = second(&first, parent.path());
    let neighbours: Vec<Tenant> = (0..3).map(|_| other.tenant()).collect();
    neighbours[2].test.fund("1.00");
    let to = name_of(&other);
    assert_ne!(to, name_of(&first));

    // Beside a server nothing is moved.
    assert!(fails(&first, &export(&tenant, &to, &file)).contains("a server is running here"));
    first.kill();
    let exported = succeeds(&first, &export(&tenant, &to, &file));
    assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o600);
    assert!(fails(&other, &["tenant", "import", shown(&file)]).contains("a server is running here"));
    there(&other, &tenant).get("/v1/balance").refused(401, "unauthorized");
    other.terminate();
    let imported = succeeds(&other, &["tenant", "import", shown(&file)]);
    let digest = |line: &str| line.trim().rsplit(' ').next().unwrap_or_default().to_owned();
    assert_eq!(digest(&exported), digest(&imported));
    for server in [&mut first, &mut other] {
        verified(server, &server.data());
        server.restart();
    }

    // Here it is refused, whatever it asks, and the others go on.
    tenant.test.get("/v1/balance").refused(503, "tenant_moved");
    tenant.test.request_c2p(1, json!({})).refused(503, "tenant_moved");
    assert_eq!(stays.test.books(), others);
    let reopened = fails(&first, &["tenant", "reopen", &tenant.id, "--not-imported"]);
    assert!(reopened.contains("a server is running here"), "{reopened}");
    assert_eq!(first.admin().get(&format!("/admin/tenants/{}", tenant.id)).expect(200)["movedTo"], json!(to));
    let path = format!("/admin/tenants/{}", tenant.id);
    first
        .admin()
        .patch(&format!("{path}/settings"), &json!({ "reserveVes": "1.00" }))
        .refused(503, "tenant_moved");
    first.admin().post(&format!("{path}/keys"), &json!({ "mode": "test" })).refused(503, "tenant_moved");

    // There it is what it was.
    let api = there(&other, &tenant);
    assert_same(&read(&api), &before);
    assert_eq!(other.admin().get(&path).expect(200)["settings"]["reserveVes"], "7.00");
    let again = api.keyed("kept-1").post("/v1/payments/c2p/request", &kept);
    assert_eq!((again.header("idempotent-replayed"), again.json()), (Some("true"), asked.json()));
    for (server, action) in [(&first, "tenant.export"), (&other, "tenant.import")] {
        let rows = server.admin().get(&format!("/admin/audit?action={action}")).expect(200);
        assert_eq!((&rows["items"][0]["target"], list(&rows, "items").len()), (&json!(tenant.id), 1));
    }

    // It goes on, and survives a crash; so do its new neighbours.
    api.pay(2);
    let books = api.books();
    other.kill();
    other.restart();
    assert_eq!(api.books(), books);
    assert_eq!(neighbours[2].test.books()["ledgerNetVes"], "1.00");
    other.tenant().test.fund("2.00");
    other.terminate();
    verified(&other, &other.data());
    let says = fails(&other, &["tenant", "import", shown(&file)]);
    assert!(says.contains("is here already; nothing was done"), "{says}");
}

/// Checks that an event was signed with an endpoint's secret.
#[track_caller]
fn assert_signed(arrived: &Arrived, endpoint: &Value) {
    let secret = text(endpoint, "secret").strip_prefix("whsec_").expect("a secret");
    let mut mac = Hmac::<Sha256>::new_from_slice(&STANDARD.decode(secret).expect("base64")).expect("a key");
    for part in [arrived.header("webhook-id"), ".", arrived.header("webhook-timestamp"), "."] {
        mac.update(part.as_bytes());
    }
    mac.update(&arrived.body);
    let signature = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    assert_eq!(arrived.header("webhook-signature"), signature);
}

#[test]
fn an_event_that_was_on_its_way_is_sent_again_under_its_id_and_secret() {
    let parent = tempfile::tempdir().expect("a directory");
    let (mut first, mut other, tenant, file) = about_to_move(parent.path());
    first.restart();
    let hears = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&hears);
    let receiver = Receiver::start(move |_| match heard.load(Ordering::SeqCst) {
        true => Manner::Status(200),
        false => Manner::Never,
    });
    let hook = json!({ "url": receiver.url(), "events": ["payment.completed"] });
    let hook = tenant.test.post("/v1/webhooks", &hook).expect(201);
    tenant.test.pay(4);
    let sent = receiver.wait_for(1);
    first.kill();
    let to = name_of(&other);
    succeeds(&first, &export(&tenant, &to, &file));
    hears.store(true, Ordering::SeqCst);
    first.restart();
    succeeds(&other, &["tenant", "import", shown(&file)]);
    other.restart();
    let again = receiver.wait_for(2);
    assert_eq!(again[1].header("webhook-id"), sent[0].header("webhook-id"), "the same event");
    there(&other, &tenant).pay(5);
    let next = receiver.wait_for(3);
    for arrived in &next {
        assert_signed(arrived, &hook);
    }
    let numbers: Vec<u64> = next.iter().map(Arrived::sequence).collect();
    assert!(numbers[0] == numbers[1] && numbers[1] < numbers[2], "{numbers:?}");
    assert_eq!(next.len(), 3, "the first deployment sends nothing more");
}

#[test]
fn a_tenant_with_something_under_way_stays() {
    let parent = tempfile::tempdir().expect("a directory");
    let file = parent.path().join("shop.tenant");
    let mut first = Server::start();
    let tenant = first.tenant();
    tenant.test.fund("100.00");
    let merchant = tenant.test.merchant();
    let payout = tenant.test.payout(&merchant, "30.05", json!({})).expect(202);
    let intent = tenant.test.intent(1);
    let mut other = second(&first, parent.path());
    let to = name_of(&other);
    first.kill();
    other.kill();
    let before = verified(&first, &first.data());
    let says = fails(&first, &export(&tenant, &to, &file));
    for id in [text(&payout, "payoutId"), text(&intent, "intentId")] {
        assert!(says.contains(id), "{id}: {says}");
    }
    assert_eq!(says.trim().lines().count(), 1, "{says}");
    assert!(!file.exists());
    assert_eq!(verified(&first, &first.data())["headHash"], before["headHash"], "nothing was written");
    first.restart();
    tenant.test.advance(100_000);
    let unknown = "01930a4b-5c6d-7e8f-9012-3456789a0000";
    first.kill();
    // A file that cannot be written is refused before the tenant is closed, and nobody else's is deleted.
    let before = verified(&first, &first.data());
    let nowhere = parent.path().join("nowhere/shop.tenant");
    assert!(fails(&first, &export(&tenant, &to, &nowhere)).contains("nowhere"));
    let theirs = parent.path().join("shop.tenant.new");
    fs::write(&theirs, "notes of somebody").expect("written");
    assert!(fails(&first, &export(&tenant, &to, &file)).contains("shop.tenant.new"));
    assert_eq!(fs::read_to_string(&theirs).expect("it is there"), "notes of somebody");
    assert_eq!(verified(&first, &first.data())["headHash"], before["headHash"], "nothing was written");
    fs::remove_file(&theirs).expect("removed");
    succeeds(&first, &export(&tenant, &to, &file));
    let arguments = ["tenant", "export", unknown, "--to-deployment", &to, "--to", "x"];
    assert!(fails(&first, &arguments).contains("there is no tenant"));
}

/// Two deployments at rest, and a tenant that is about to move between them.
fn about_to_move(parent: &Path) -> (Server, Server, Tenant, PathBuf) {
    let mut first = Server::start();
    let tenant = first.tenant();
    tenant.test.fund("100.00");
    tenant.test.pay(3);
    let mut other = second(&first, parent);
    other.tenant().test.fund("1.00");
    first.kill();
    other.terminate();
    (first, other, tenant, parent.join("shop.tenant"))
}

#[test]
fn a_file_opens_where_it_is_meant_for_alone_and_unchanged() {
    let parent = tempfile::tempdir().expect("a directory");
    let (mut first, mut other, tenant, file) = about_to_move(parent.path());
    let (here, to) = (name_of(&first), name_of(&other));
    assert!(fails(&first, &export(&tenant, &here, &file)).contains("is this deployment itself"));
    succeeds(&first, &export(&tenant, &to, &file));
    assert!(fails(&first, &export(&tenant, &to, &file)).contains("exists already"));
    let elsewhere = "0".repeat(32);
    let again = parent.path().join("again");
    assert!(fails(&first, &export(&tenant, &elsewhere, &again)).contains(&format!("moves to {to} already")));
    succeeds(&first, &export(&tenant, &to, &again));
    let whole = fs::read(&file).expect("readable");
    assert!(fs::read(&again).expect("readable") == whole, "a repeat writes the same");

    let before = verified(&other, &other.data());
    let damaged = parent.path().join("damaged");
    let import = ["tenant", "import", shown(&damaged)];
    for at in (0..whole.len()).step_by(97) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(&damaged, &bytes).expect("written");
        fails(&other, &import);
    }
    for length in [0, 11, 12, 50, whole.len() / 2, whole.len() - 1] {
        fs::write(&damaged, &whole[..length]).expect("written");
        fails(&other, &import);
    }
    fs::write(&damaged, [&whole[..], b"x"].concat()).expect("written");
    fails(&other, &import);
    let mut strangers = Server::start();
    strangers.tenant();
    strangers.kill();
    assert!(fails(&strangers, &["tenant", "import", shown(&file)]).contains("is for the deployment"));
    for (key, word) in
        [("mark.key", "is not the one that this log was written with"), ("card.key", "here is not the one")]
    {
        let path = other.data().join(key);
        let own = fs::read(&path).expect("readable");
        fs::write(&path, [7; 32]).expect("written");
        let says = fails(&other, &["tenant", "import", shown(&file)]);
        assert!(says.contains(key) && says.contains(word), "{says}");
        fs::write(&path, own).expect("written");
    }
    assert_eq!(verified(&other, &other.data())["headHash"], before["headHash"], "nothing was done");

    // An operator takes it back: that it is nowhere else is the operator's word.
    assert_eq!(first.command(&["tenant", "reopen", &tenant.id]).status.code(), Some(2));
    succeeds(&first, &["tenant", "reopen", &tenant.id, "--not-imported"]);
    assert!(fails(&first, &["tenant", "reopen", &tenant.id, "--not-imported"]).contains("is open here"));
    verified(&first, &first.data());
    first.restart();
    tenant.test.pay(1);
    assert_eq!(
        first.admin().get(&format!("/admin/tenants/{}", tenant.id)).expect(200)["movedTo"],
        Value::Null
    );
    other.restart();
    there(&other, &tenant).get("/v1/balance").refused(401, "unauthorized");
}

/// A file with the records of another, in which the tenant's keys open to whoever has `theirs`.
fn forged(file: &Path, theirs: &str, right: &FileKey, under: FileKey) -> Vec<u8> {
    let mut parts = Parts::open(file, FORM, right.clone()).expect("a file");
    let mut blocks = Blocks::begin(Vec::new(), FORM, under).expect("memory");
    loop {
        let block = parts.next_block().expect("a block");
        let body = match block.kind {
            TENANT => {
                let (tenant, keys) = tenant_in(&block.body).expect("a tenant");
                let hash = Sha256::digest(theirs.as_bytes()).into();
                let keys = keys.iter().map(|key| match key.mode {
                    Mode::Test => Arc::new(ApiKey { hash, prefix: theirs[..12].into(), ..(**key).clone() }),
                    Mode::Live => Arc::clone(key),
                });
                tenant_block(tenant, keys.collect())
            }
            _ => block.body,
        };
        blocks.put(block.kind, block.first, &body).expect("memory");
        if block.kind == END {
            return blocks.out;
        }
    }
}

#[test]
fn nobody_on_the_way_writes_a_key_of_theirs_into_a_tenant() {
    let parent = tempfile::tempdir().expect("a directory");
    let (first, mut other, tenant, file) = about_to_move(parent.path());
    let to = name_of(&other);
    succeeds(&first, &export(&tenant, &to, &file));
    let before = verified(&other, &other.data());
    let theirs = "pk_test_0123456789abcdefghijklmnop";
    let card_key: [u8; 32] =
        fs::read(first.data().join("card.key")).expect("readable").try_into().expect("32");
    let (right, strangers) = (FileKey::of(&card_key), FileKey::of(&[7; 32]));
    let changed = parent.path().join("changed");
    let import = ["tenant", "import", shown(&changed)];
    fs::write(&changed, forged(&file, theirs, &right, strangers)).expect("written");
    let says = fails(&other, &import);
    assert!(says.contains("is not what was written under the card.key here"), "{says}");
    // Without a key that proves it no file is taken at all.
    let (key, away) = (other.data().join("card.key"), parent.path().join("card.key"));
    fs::rename(&key, &away).expect("moved");
    let says = fails(&other, &["tenant", "import", shown(&file)]);
    assert!(says.contains("card.key: is not here"), "{says}");
    fs::rename(&away, &key).expect("moved back");
    assert_eq!(verified(&other, &other.data())["headHash"], before["headHash"], "nothing was done");
    // Under the right key it would have been sound: the proof alone stands in the way.
    fs::write(&changed, forged(&file, theirs, &right, right.clone())).expect("written");
    succeeds(&other, &import);
    other.restart();
    other.api(theirs).get("/v1/balance").expect(200);
}

/// Runs a command that is killed at its `nth` step; true if it came to its end before.
#[track_caller]
fn ends_before(server: &Server, arguments: &[&str], nth: usize) -> Option<bool> {
    let wrapper = strace(STEPS, KILLED, nth)?;
    let program = server.program();
    let mut command = Command::new(&wrapper[0]);
    command.args(&wrapper[1..]).arg(program.get_program()).args(arguments);
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().expect("it runs");
    if output.status.signal() == Some(SIGKILL) {
        return Some(false);
    }
    Some(output.status.success() || panic!("{arguments:?}, step {nth}: {}", errors(&output)))
}

#[test]
fn an_export_that_is_killed_leaves_the_tenant_open_or_closed_and_no_half_file() {
    let parent = tempfile::tempdir().expect("a directory");
    let (first, other, tenant, file) = about_to_move(parent.path());
    let to = name_of(&other);
    let arguments = export(&tenant, &to, &file);
    for step in steps() {
        let Some(ended) = ends_before(&first, &arguments, step) else { return };
        verified(&first, &first.data());
        if file.exists() {
            break;
        }
        assert!(!ended, "it says that it is done, and there is no file");
    }
    succeeds(&other, &["tenant", "import", shown(&file)]);
    verified(&other, &other.data());
}

#[test]
fn an_import_that_is_killed_leaves_all_of_it_or_nothing() {
    let parent = tempfile::tempdir().expect("a directory");
    let (mut first, mut other, tenant, file) = about_to_move(parent.path());
    first.restart();
    let before = tenant.test.books();
    first.kill();
    let to = name_of(&other);
    succeeds(&first, &export(&tenant, &to, &file));
    let was = verified(&other, &other.data())["headHash"].clone();
    let mut killed = 0;
    for step in steps() {
        let Some(ended) = ends_before(&other, &["tenant", "import", shown(&file)], step) else { return };
        let is = verified(&other, &other.data())["headHash"].clone();
        let is_there = is != was;
        assert!(is_there || !ended, "it says that it is done, and nothing is there");
        other.restart();
        let api = there(&other, &tenant);
        if is_there {
            assert_eq!(api.books(), before, "killed at step {step}");
            break;
        }
        api.get("/v1/balance").refused(401, "unauthorized");
        other.terminate();
        // Of a start and a stop nothing is in the log.
        assert_eq!(verified(&other, &other.data())["headHash"], was);
        killed += 1;
    }
    assert!(killed > 3, "it was hardly ever killed half-way: {killed}");
    other.kill();
    assert!(fails(&other, &["tenant", "import", shown(&file)]).contains("is here already"));
    other.restart();
    assert_eq!(there(&other, &tenant).books(), before);
}
