//! POST /v1/test/reset: the account's test data begins anew (amendment A11 of the contract;
//! `docs/contract.md, 4.2`).

use crate::harness::buyers::{Page, session};
use crate::harness::check::{assert_texts, instant, list, race, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{DAY, SECOND, fresh, method_path, payer};
use crate::harness::receiver::{Manner, Receiver};
use crate::harness::server::{Server, Tenant};
use crate::named_operators::operator;
use crate::webhooks::{listen, outcomes, path};
use chrono::Utc;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

const RESET: &str = "/v1/test/reset";
/// The time in which something would arrive if it were sent.
const SOON: Duration = Duration::from_millis(400);
/// An address of a buyer's wallet.
const TRON: &str = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";

/// Every list of test mode.
const LISTS: [&str; 14] = [
    "/v1/payments",
    "/v1/payouts",
    "/v1/merchants",
    "/v1/balance/transactions",
    "/v1/crypto/balance/transactions",
    "/v1/cop/balance/transactions",
    "/v1/chargebacks",
    "/v1/products",
    "/v1/checkout/sessions",
    "/v1/conversions",
    "/v1/crypto/payouts",
    "/v1/cop/payouts",
    "/v1/payments?status=PENDING",
    "/v1/chargebacks?status=open",
];

impl Api {
    #[track_caller]
    fn begin_anew(&self) -> Value {
        self.act(RESET).expect(200)
    }

    #[track_caller]
    fn events(&self) -> Vec<Value> {
        self.walk("/v1/events", &[], 100)
    }

    #[track_caller]
    fn assert_empty(&self) {
        for path in LISTS {
            assert_eq!(self.get(path).expect(200)["items"], json!([]), "{path}");
        }
        self.assert_books("0.00", "0.00", "0.00");
        self.assert_pesos("0", "0", "0");
        let usdt = self.get("/v1/crypto/balance").expect(200);
        assert_texts(&usdt, &[("availableUsdt", "0.00"), ("pendingPayoutsUsdt", "0.00")]);
    }
}

/// A deposit of 25 USDT to an address.
fn deposit(api: &Api, address: &Value) -> Answer {
    let body = json!({ "address": address, "amount": "25.00", "network": "TRC20", "asset": "USDT" });
    api.post("/v1/test/crypto/deposits", &body)
}

fn address_body(customer: &str) -> Value {
    json!({ "customerRef": customer, "network": "TRC20", "asset": "USDT" })
}

/// Fills every kind of thing; the paths of what was made.
fn fill(tenant: &Tenant) -> Vec<String> {
    let api = &tenant.test;
    api.fund("5000.00");
    api.fund_in("USDT", "2000.00", false);
    api.cop_fund("100000", false);
    let merchant = api.merchant();
    let (paid, intent, silent) = (api.pay(5), api.intent(3), api.pay_with(10, "77777777"));
    let card = api.vpos_pay(10);
    let body = json!({ "paymentId": card["paymentId"], "reason": "fraud" });
    let chargeback = api.post("/v1/test/chargebacks", &body).expect(201);
    let payout = api.payout(&merchant, "10.05", json!({})).expect(202);
    let product = api.post("/v1/products", &json!({ "name": "Café", "priceUsd": "10.00" })).expect(201);
    let link = api.post(&format!("/v1/products/{}/links", text(&product, "id")), &json!({})).expect(201);
    let (session, cop) = (session(tenant, json!({})), api.cop_paid(20_000));
    let quote = api.quote_ves("1000.00");
    let conversion = api.pending_conversion(&quote);
    let body = json!({ "amountUsdt": "700.00", "address": TRON, "network": "TRC20", "externalRef": "u" });
    let reviewed = api.post("/v1/crypto/payouts", &body).expect(201);
    assert_eq!(reviewed["status"], "pending_review");
    let event = api.events().remove(0);
    let payments =
        [&paid, &card, &silent].map(|payment| format!("/v1/payments/{}", text(payment, "paymentId")));
    let mut paths = payments.to_vec();
    paths.extend([
        format!("/v1/payments/{}", text(&intent, "intentId")),
        format!("/v1/payments/by-ref/{}", text(&paid, "externalRef")),
        format!("/v1/payments/{}/receipt", text(&paid, "paymentId")),
        format!("/v1/chargebacks/{}", text(&chargeback, "chargebackId")),
        format!("/v1/payouts/{}", text(&payout, "payoutId")),
        format!("/v1/merchants/{}", text(&merchant, "merchantId")),
        format!("/v1/merchants/{}/balance", text(&merchant, "merchantId")),
        format!("/v1/products/{}", text(&product, "id")),
        format!("/v1/payment-links/{}", text(&link, "id")),
        format!("/v1/checkout/sessions/{}", text(&session, "id")),
        format!("/v1/conversions/{}", text(&conversion, "id")),
        format!("/v1/crypto/payouts/{}", text(&reviewed, "id")),
        format!("/v1/cop/payments/{}", text(&cop, "id")),
        format!("/v1/events/{}", text(&event, "id")),
    ]);
    paths
}

#[test]
fn everything_of_the_mode_is_gone_and_the_rest_stays() {
    let server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    let paths = fill(&tenant);
    for path in &paths {
        assert_eq!(api.get(path).status, 200, "{path}");
    }
    let hits =
        |q: &str| api.query("/v1/search", &[("q", q)]).expect(200)["items"].as_array().map_or(0, Vec::len);
    assert!(hits("V12345678") > 0);
    let other = server.tenant().test;
    other.fund("7.00");
    let last = api.events().pop().expect("an event")["sequence"].as_u64().expect("a number");
    let answer = api.act(RESET);
    assert!(answer.wal_seq() > 0);
    let answer = answer.expect(200);
    assert_eq!(answer.as_object().expect("an object").len(), 1, "{answer}");
    assert!((instant(&answer["resetAt"]) - Utc::now()).abs() < SECOND * 30);
    api.assert_empty();
    for path in &paths {
        api.get(path).refused(404, "not_found");
    }
    assert_eq!(hits("V12345678"), 0);
    let events = api.events();
    let [begun] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((&begun["event"], &begun["sequence"]), (&json!("test.reset"), &json!(last + 1)));
    assert_eq!(begun["data"], json!({ "livemode": false }));
    assert!((instant(&begun["createdAt"]) - Utc::now()).abs() < SECOND * 30);
    other.assert_books("7.00", "0.00", "7.00");
    // Everything can be made again, and the numbers go on.
    let again = fill(&tenant);
    for path in again {
        assert_eq!(api.get(&path).status, 200, "{path}");
    }
    assert_eq!(api.events()[1]["sequence"], json!(last + 2));
    api.begin_anew();
    assert_eq!(api.events().len(), 1, "the second delists the first");
    let verified = server.command(&["wal", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn who_may_and_with_what() {
    let server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    server.api("pk_test_nobody").act(RESET).refused(401, "unauthorized");
    let admin = server.admin();
    let key = |mode: &str, scopes: &[&str]| {
        let body = json!({ "mode": mode, "scopes": scopes });
        server.api(text(&admin.post(&format!("/admin/tenants/{}/keys", tenant.id), &body).expect(201), "key"))
    };
    let status = format!("/admin/tenants/{}/live-status", tenant.id);
    admin.post(&status, &json!({ "status": "active" })).expect(200);
    for scopes in [&["read"][..], &["read", "collect", "payout", "convert"], &["manage"]] {
        key("live", scopes).act(RESET).refused(403, "test_mode_only");
    }
    for (scopes, may) in [(&["read", "collect", "payout", "convert"][..], false), (&["manage"], true)] {
        let answer = key("test", scopes).act(RESET);
        if may { _ = answer.expect(200) } else { _ = answer.refused(403, "scope_missing") }
    }
    api.post(RESET, &json!({})).expect(200);
    api.post_raw(RESET, "").expect(200);
    api.post(RESET, &json!({ "all": true })).names(&["all"]);
    api.post(RESET, &json!([])).names(&["body"]);
    api.get(RESET).refused(405, "method_not_allowed");
}

#[test]
fn references_and_keys_are_unused_again_and_its_own_replays() {
    let server = Server::shared();
    let api = server.tenant().test;
    let fund = json!({ "currency": "VES", "amount": "5.00" });
    let first = api.keyed("k").post("/v1/test/fund", &fund).expect(201);
    let charge = || api.vpos(10, json!({ "externalRef": "order-1" })).expect(201);
    let paid = charge();
    let reset = api.keyed("again").act(RESET);
    let (seq, reset) = (reset.wal_seq(), reset.expect(200));
    // The same key for another body is no conflict any more.
    let other = json!({ "currency": "VES", "amount": "6.00" });
    let second = api.keyed("k").post("/v1/test/fund", &other).expect(201);
    assert_ne!(first["id"], second["id"]);
    let anew = charge();
    assert_eq!((&anew["attempt"], &anew["externalRef"]), (&json!(1), &paid["externalRef"]));
    assert_ne!(anew["paymentId"], paid["paymentId"]);
    let replayed = api.keyed("again").act(RESET);
    assert_eq!((replayed.wal_seq(), replayed.expect(200)), (seq, reset));
    assert_eq!(list(&api.get("/v1/payments").expect(200), "items").len(), 1, "it was not done again");
    assert_eq!(api.get("/v1/idempotency/again").expect(200)["state"], "done");
}

#[test]
fn the_clock_is_the_real_time_again_also_after_a_crash() {
    let mut server = Server::start();
    let api = server.tenant().test;
    api.advance(400 * 86_400 / 2);
    server.admin().act("/admin/snapshot").expect(200);
    let far = api.clock();
    let old = stamp_of(&api.fund("3.00"));
    let reset = instant(&api.begin_anew()["resetAt"]);
    let near = |at: chrono::DateTime<Utc>| (at - Utc::now()).abs() < SECOND * 30;
    assert!(near(reset) && near(api.clock()) && far - reset > DAY * 100);
    assert!(near(instant(&api.fund("1.00")["createdAt"])));
    let between = api.clock();
    sleep(Duration::from_millis(5));
    api.fund("1.00");
    assert_eq!(api.balance_at(between)["ledgerNetVes"], "1.00");
    api.query("/v1/balance", &[("at", &old)]).names(&["at"]);
    let before = crate::harness::check::stamp(reset - SECOND);
    let gone = api.query("/v1/balance", &[("at", &before)]).refused(404, "not_found");
    assert!(text(&gone, "message").contains("began anew at 20"), "{gone}");
    server.kill();
    server.restart();
    assert!(near(api.clock()), "{}", api.clock());
    api.assert_books("2.00", "0.00", "2.00");
    api.advance(86_400);
    assert!(api.clock() - Utc::now() > DAY - SECOND * 30);
    assert_eq!(api.events().len(), 1);
}

fn stamp_of(made: &Value) -> String {
    text(made, "createdAt").to_owned()
}

#[test]
fn what_was_under_way_never_comes_back() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let (silent, intent) = (api.pay_with(10, "77777777"), api.intent(1));
    let waiting = api.payout(&merchant, "10.05", json!({})).expect(202);
    api.fund_in("VES", "20.00", true);
    api.begin_anew();
    for restarts in [false, true] {
        if restarts {
            server.kill();
            server.restart();
        }
        api.advance(30 * 86_400);
        api.assert_empty();
        assert_eq!(api.events().len(), 1, "{:?}", api.events());
        for id in [&silent["paymentId"], &intent["intentId"]] {
            api.get(&format!("/v1/payments/{}", id.as_str().expect("an id"))).refused(404, "not_found");
        }
        api.get(&format!("/v1/payouts/{}", text(&waiting, "payoutId"))).refused(404, "not_found");
        api.execute(&intent, "12345678", payer()).refused(404, "not_found");
    }
}

#[test]
fn settings_endpoints_and_the_own_account_stay() {
    let server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    let receiver = Receiver::good();
    let endpoint = listen(api, &receiver.url(), &["payment.completed", "test.reset"]);
    let quiet = listen(api, &receiver.url(), &["payout.completed"]);
    api.patch("/v1/conversions/settings", &json!({ "autoConvert": { "COP": { "percent": 25 } } }))
        .expect(200);
    let own = json!({ "bankCode": "0134", "phone": "04147654321", "identification": "J-301234567" });
    api.put("/v1/payouts/account", &own).expect(201);
    api.act("/v1/payouts/account/verify/start").expect(202);
    let shown = |path: &str| api.get(path).expect(200);
    api.begin_anew();
    api.get("/v1/payouts/account").refused(404, "not_found");
    api.put("/v1/payouts/account", &own).expect(201);
    api.act("/v1/payouts/account/verify/start").expect(202);
    api.verify("/v1/payouts/account", "0.45", "0.32").expect(200);
    api.pay(1);
    let paths = [
        path(&endpoint),
        path(&quiet),
        "/v1/conversions/settings".to_owned(),
        "/v1/payouts/account".to_owned(),
        "/v1/webhooks".to_owned(),
    ];
    outcomes(api, &endpoint, 2);
    let kept: Vec<Value> = paths.iter().map(|path| shown(path)).collect();
    let request = fresh("request");
    api.with("x-request-id", &request).fund("2.00");
    api.begin_anew();
    assert_eq!(paths.iter().map(|path| shown(path)).collect::<Vec<_>>(), kept);
    assert_eq!(api.get(&format!("/v1/requests/{request}")).expect(200)["status"], 201);
    let arrived = receiver.wait_for(3);
    let mut names: Vec<String> = arrived.iter().map(|each| each.json()["event"].to_string()).collect();
    // Deliveries of an endpoint are under way together, so the first two may arrive in either order.
    names[..2].sort();
    assert_eq!(names, [r#""payment.completed""#, r#""test.reset""#, r#""test.reset""#]);
    let rows = outcomes(api, &endpoint, 1);
    assert_eq!(rows.len(), 1, "deliveries of old events are gone: {rows:?}");
    assert_eq!(rows[0]["event"], "test.reset");
    api.pay(1);
    let paid = receiver.wait_for(4).remove(3);
    assert_eq!(paid.sequence(), api.events()[1]["sequence"].as_u64().expect("a number"));
    crate::webhooks::assert_signed(&paid, text(&endpoint, "secret"));
}

#[test]
fn deliveries_of_before_are_never_sent_again() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let receiver = Receiver::start(|_| Manner::Status(503));
    let body = json!({ "url": receiver.url(), "events": ["payment.completed"], "retry": "backoff" });
    let endpoint = api.post("/v1/webhooks", &body).expect(201);
    let disabled = listen(&api, &receiver.url(), &["payment.completed"]);
    api.patch(&path(&disabled), &json!({ "status": "disabled" })).expect(200);
    api.pay(1);
    outcomes(&api, &endpoint, 1);
    let old = api.events().pop().expect("an event");
    api.begin_anew();
    api.act(&format!("/v1/events/{}/resend", text(&old, "id"))).refused(404, "not_found");
    for restarts in [false, true] {
        if restarts {
            server.kill();
            server.restart();
        }
        api.patch(&path(&disabled), &json!({ "status": "enabled" })).expect(200);
        api.advance(30 * 86_400);
        sleep(SOON);
        assert_eq!(receiver.count(), 1);
        for webhook in [&endpoint, &disabled] {
            let deliveries = api.get(&format!("{}/deliveries", path(webhook))).expect(200);
            assert_eq!(deliveries["items"], json!([]));
        }
    }
    api.pay(1);
    let arrived = receiver.wait_for(3);
    let new = api.events().pop().expect("an event");
    assert!(arrived[1..].iter().all(|each| each.header("svc-event-id") == text(&new, "id")));
}

#[test]
fn buyers_learn_that_a_session_does_not_exist() {
    let server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    let old = session(&tenant, json!({}));
    let page = Page::of(&server, &old);
    let address = page.usdt("TRC20").expect(201)["address"].clone();
    page.request(json!({})).expect(201);
    let product = api.post("/v1/products", &json!({ "name": "Café", "priceUsd": "10.00" })).expect(201);
    let links = format!("/v1/products/{}/links", text(&product, "id"));
    let link = api.post(&links, &json!({ "slug": fresh("torta") })).expect(201);
    let slug = text(&link, "slug");
    let nobody = server.nobody();
    let paths = [format!("/checkout/{}", text(&old, "id")), format!("/pay/{slug}")];
    for path in &paths {
        assert_eq!(nobody.get(path).status, 200);
    }
    api.begin_anew();
    let unknown = "01930000-0000-7000-8000-000000000000";
    for (path, like) in paths.iter().zip([format!("/checkout/{unknown}"), "/pay/nothing-here".to_owned()]) {
        let (gone, never) = (nobody.get(path), nobody.get(&like));
        assert_eq!((gone.status, never.status), (404, 404), "{path}");
        let plain = |answer: &Answer| answer.text().replace(path.as_str(), "").replace(&like, "");
        assert_eq!(plain(&gone).len(), plain(&never).len(), "{path}");
    }
    let state = format!("/checkout/{}/state", text(&old, "id"));
    page.api.get(&state).refused(404, "not_found");
    page.request(json!({})).refused(404, "not_found");
    deposit(api, &address).refused(404, "not_found");
    // The slug is free again, for anybody.
    let other = server.tenant().test;
    let product = other.post("/v1/products", &json!({ "name": "Café", "priceUsd": "10.00" })).expect(201);
    let links = format!("/v1/products/{}/links", text(&product, "id"));
    assert_eq!(text(&other.post(&links, &json!({ "slug": slug })).expect(201), "slug"), slug);
    assert_eq!(nobody.get(&paths[1]).status, 200);
}

#[test]
fn deposit_addresses_stay_with_their_customer_and_start_empty() {
    let server = Server::shared();
    let api = server.tenant().test;
    let opened = api.post("/v1/crypto/deposit-addresses", &address_body("ana")).expect(201);
    let sent = deposit(&api, &opened["address"]).expect(201);
    api.begin_anew();
    api.assert_empty();
    let found = api.query("/v1/search", &[("q", text(&sent, "txHash"))]).expect(200);
    assert_eq!(found["items"], json!([]));
    deposit(&api, &opened["address"]).expect(201);
    let rows = api.get("/v1/crypto/balance/transactions").expect(200);
    assert_eq!(rows["items"][0]["amountUsdt"], "25.00");
    assert_eq!(api.post("/v1/crypto/deposit-addresses", &address_body("ana")).expect(200), opened);
}

#[test]
fn approvals_that_wait_are_gone() {
    let approvals = ("PASARELA__ADMIN__APPROVALS", "adjustments,crypto-payouts");
    let server = Server::start_with(&[approvals]);
    let tenant = server.tenant();
    let (_, asker) = operator(&server, "treasury");
    let (_, second) = operator(&server, "treasury");
    let adjustments = format!("/admin/tenants/{}/adjustments", tenant.id);
    let ask = |mode: &str| {
        let body = json!({ "mode": mode, "currency": "VES", "amount": "9.00", "description": "d", "externalRef": fresh("a") });
        text(&asker.post(&adjustments, &body).expect(202), "approvalId").to_owned()
    };
    tenant.test.fund_in("USDT", "2000.00", false);
    let body = json!({ "amountUsdt": "700.00", "address": TRON, "network": "TRC20", "externalRef": "u" });
    let payout = tenant.test.post("/v1/crypto/payouts", &body).expect(201);
    let review = format!("/admin/crypto/payouts/{}/approve", text(&payout, "id"));
    let reviewing = text(&asker.act(&review).expect(202), "approvalId").to_owned();
    let (test, live) = (ask("test"), ask("live"));
    tenant.test.begin_anew();
    let waiting = asker.get("/admin/approvals?status=pending").expect(200);
    let ids: Vec<&str> = list(&waiting, "items").iter().map(|item| text(item, "approvalId")).collect();
    assert_eq!(ids, [live.as_str()]);
    for id in [&test, &reviewing] {
        assert_eq!(asker.get(&format!("/admin/approvals/{id}")).expect(200)["status"], "expired");
        second.act(&format!("/admin/approvals/{id}/approve")).refused(409, "approval_expired");
    }
    tenant.test.assert_empty();
    let reviews = server.admin().get("/admin/crypto/payouts?status=pending_review").expect(200);
    assert_eq!(reviews["items"], json!([]));
    // One that is asked for afterwards is given.
    let anew = ask("test");
    second.act(&format!("/admin/approvals/{anew}/approve")).expect(200);
    tenant.test.assert_books("9.00", "0.00", "9.00");
}

#[test]
fn many_at_once_all_answer_and_count_on() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund("1.00");
    let answers = race(16, |_| api.act(RESET).expect(200));
    assert_eq!(answers.len(), 16);
    let events = api.events();
    let [begun] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(begun["sequence"], 16);
    let keyed = race(8, |_| api.keyed("one").act(RESET));
    let done: Vec<&Answer> = keyed.iter().filter(|answer| answer.status == 200).collect();
    assert!(!done.is_empty() && done.iter().all(|answer| answer.json() == done[0].json()));
    assert_eq!(api.events()[0]["sequence"], 17);
}

/// What a connection does that writes while the data begins anew.
fn write(api: &Api, merchant: &Value, n: usize) -> Answer {
    match n % 5 {
        0 => api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" })),
        1 => api.vpos(1, json!({})),
        2 => api.create_merchant(json!({})),
        3 => api.payout(merchant, "1.00", json!({})),
        _ => api.request_c2p(1, json!({})),
    }
}

#[test]
fn each_call_is_wholly_before_or_wholly_after() {
    let server = Server::start();
    let api = server.tenant().test;
    let other = server.tenant().test;
    let (over, slowest) = (AtomicBool::new(false), AtomicUsize::new(0));
    let resets = 20;
    std::thread::scope(|scope| {
        for n in 0..32 {
            let (api, over) = (&api, &over);
            scope.spawn(move || {
                let nobody = json!({ "merchantId": "01930000-0000-7000-8000-000000000000" });
                let mut merchant = nobody.clone();
                let mut round = n;
                while !over.load(Ordering::Relaxed) {
                    if n == 3 {
                        merchant = api.create_merchant(json!({})).expect(201);
                    }
                    let answer = write(api, &merchant, round);
                    let is_known =
                        matches!((answer.status, round % 5), (200..=202, _) | (400 | 404 | 409 | 422, 3));
                    assert!(is_known, "{}: {}", answer.status, answer.text());
                    round += 5;
                }
            });
        }
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let began = Instant::now();
                other.fund("1.00");
                slowest.fetch_max(began.elapsed().as_millis() as usize, Ordering::Relaxed);
            }
        });
        for _ in 0..resets {
            sleep(Duration::from_millis(50));
            let began = Instant::now();
            api.begin_anew();
            assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        }
        sleep(Duration::from_millis(100));
        over.store(true, Ordering::Relaxed);
    });
    // Every sale that is listed moved its money once, and nothing else did.
    api.books();
    let events = api.events();
    assert_eq!(events[0]["event"], "test.reset");
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["sequence"].as_u64()).collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
    for payment in api.walk("/v1/payments", &[], 100) {
        assert_eq!(api.payment(&payment), payment);
    }
    api.begin_anew();
    api.assert_empty();
    assert!(slowest.load(Ordering::Relaxed) < 2_000, "another account waited {slowest:?} ms");
    let verified = server.command(&["wal", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn a_clock_on_its_way_does_not_move_the_new_one() {
    let server = Server::start();
    let api = server.tenant().test;
    for _ in 0..20 {
        api.pay(1);
        api.intent(1);
    }
    std::thread::scope(|scope| {
        let advancing = scope.spawn(|| api.post("/v1/test/clock", &json!({ "advanceSeconds": 90 * 86_400 })));
        sleep(Duration::from_millis(2));
        api.begin_anew();
        let advanced = advancing.join().expect("an answer");
        let (moved, now) = (instant(&advanced.expect(200)["now"]), api.clock());
        // Before the reset it moved the old clock, after it the new one.
        assert!((now - Utc::now()).abs() < SECOND * 30 || (now - moved).abs() < SECOND * 30, "{now} {moved}");
    });
    assert_eq!(api.events().len(), 1);
}

#[test]
fn the_log_keeps_what_was() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    let old = api.pay(10);
    let seq = api.act(RESET).wal_seq();
    let begun = api.events().remove(0);
    api.pay(5);
    let (data, id) = (server.data(), text(&old, "paymentId").to_owned());
    let run = |server: &Server, arguments: &[&str]| {
        let output = server.command(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    server.terminate();
    assert!(run(&server, &["wal", "explain", &id]).contains("payment.completed"));
    assert!(run(&server, &["wal", "explain", text(&begun, "id")]).contains("test.reset"));
    let into = data.with_file_name(fresh("before"));
    let replayed = into.to_str().expect("UTF-8");
    run(&server, &["wal", "replay", "--into", replayed, "--until-seq", &(seq - 1).to_string()]);
    let before = Server::on(&into);
    let found = before.api(text(&tenant.created["testKey"], "key"));
    assert_eq!(text(&found.payment(&old), "status"), "COMPLETED");
    drop(before);
    let into = data.with_file_name(fresh("after"));
    run(&server, &["wal", "replay", "--into", into.to_str().expect("UTF-8")]);
    let after = Server::on(&into);
    let found = after.api(text(&tenant.created["testKey"], "key"));
    found.get(&format!("/v1/payments/{id}")).refused(404, "not_found");
    assert_eq!(list(&found.get("/v1/payments").expect(200), "items").len(), 1);
    assert_eq!(found.events().len(), 2);
    let verified = after.command(&["wal", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn a_payout_method_is_verified_anew() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = json!({ "externalRef": "shop-1" });
    let first = api.create_merchant(body.clone()).expect(201);
    let path = method_path(&first, 0);
    for _ in 0..3 {
        api.act(&format!("{path}/verify/start"));
    }
    api.begin_anew();
    let second = api.create_merchant(body).expect(201);
    assert_ne!(first["merchantId"], second["merchantId"]);
    api.act(&format!("{}/verify/start", method_path(&second, 0))).expect(202);
}
