//! SIGKILL while buyers pay at the hosted checkout, by every way and from two tabs: each session is
//! paid once, by the payment that its page named, and its tenant is told once.

use crate::harness::buyers::Page;
use crate::harness::check::{decimal, text};
use crate::harness::client::Api;
use crate::harness::flows::{merged, payer};
use crate::harness::pesos::buyer;
use crate::harness::server::Server;
use crate::load::{PATIENCE, StopOnDrop, crashes, insist};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

const BUYERS: usize = 6;
/// Sessions that are paid between two crashes.
const BETWEEN: usize = 20;

/// The last state that a buyer's page showed.
struct Told {
    session: String,
    payment: String,
}

/// Posts once. Whether the request arrived is not known: the page's state tells.
fn try_once(page: &Page, path: &str, body: &Value) -> Option<Value> {
    let answer = page.api.try_post(&format!("{}/{path}", page.base), body).ok()?;
    (answer.status < 300).then(|| answer.json())
}

/// Makes an attempt to pay, by this way.
fn attempt(api: &Api, page: &Page, way: usize) {
    let request = || try_once(page, "c2p/request", &payer());
    let pesos = || try_once(page, "cop", &json!({ "channel": "sms", "buyer": buyer() }));
    let key = |intent: &Value| {
        try_once(
            page,
            "c2p",
            &merged(payer(), json!({ "intentId": intent["intentId"], "token": "12345678" })),
        )
    };
    let code = || try_once(page, "cop/otp", &json!({ "otp": "123456" }));
    match way {
        0 => drop(request().and_then(|intent| key(&intent))),
        1 => drop(pesos().and_then(|_| code())),
        2 => {
            let Some(to) = try_once(page, "usdt", &json!({ "network": "TRC20", "asset": "USDT" })) else {
                return;
            };
            let deposit =
                json!({ "address": to["address"], "amount": "10.00", "network": "TRC20", "asset": "USDT" });
            insist(&api.keyed(&page.base), "/v1/test/crypto/deposits", &deposit);
        }
        // Two tabs: each takes over from the other, and both try to finish.
        _ => {
            let intent = request();
            std::thread::scope(|scope| {
                scope.spawn(|| pesos().and_then(|_| code()));
                scope.spawn(|| intent.or_else(request).and_then(|intent| key(&intent)));
            });
        }
    }
}

/// Tries until the page says that it is paid, and returns by which payment.
fn pay(api: &Api, page: &Page, way: usize) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let Some(state) = page
            .api
            .try_get(&format!("{}/state", page.base))
            .ok()
            .filter(|answer| answer.status == 200)
            .map(|answer| answer.json())
        else {
            assert!(Instant::now() < deadline, "no state of {}", page.base);
            sleep(Duration::from_millis(5));
            continue;
        };
        assert!(Instant::now() < deadline, "{} is never paid by way {way}: {state}", page.base);
        match text(&state, "status") {
            "paid" => return text(&state, "paymentId").to_owned(),
            "open" => attempt(api, page, way),
            // The bank may have the charge: the poller asks it after a minute.
            "processing" => drop(insist(api, "/v1/test/clock", &json!({ "advanceSeconds": 61 }))),
            other => panic!("{other}: {state}"),
        }
    }
}

#[test]
fn each_session_is_paid_once_and_its_payment_agrees() {
    let mut server = Server::start();
    // The bank takes its time: a crash often finds a charge there.
    server.kill();
    server.configure(|config| format!("{config}\n[rails]\nanswer_seconds = 5\nsimulator_delay_ms = 15\n"));
    server.restart();
    let api = server.tenant().test;
    let nobody = server.nobody();
    let (stop, paid, told) = (AtomicBool::new(false), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for who in 0..BUYERS {
            let (api, nobody, stop, paid, told) = (&api, &nobody, &stop, &paid, &told);
            scope.spawn(move || {
                for round in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let (_, session, _) = insist(
                        &api.keyed(&format!("{who}-{round}")),
                        "/v1/checkout/sessions",
                        &json!({ "amountUsd": 10 }),
                    );
                    let page = Page {
                        api: nobody
                            .with("authorization", &format!("Bearer {}", text(&session, "clientSecret"))),
                        base: format!("/checkout/{}", text(&session, "id")),
                    };
                    let payment = pay(api, &page, (who + round) % 4);
                    told.lock()
                        .expect("no buyer panicked")
                        .push(Told { session: text(&session, "id").to_owned(), payment });
                    paid.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let stopping = StopOnDrop(&stop);
        for crash in 0..crashes() {
            let (before, deadline) = (paid.load(Ordering::Relaxed), Instant::now() + PATIENCE);
            while paid.load(Ordering::Relaxed) < before + BETWEEN {
                assert!(Instant::now() < deadline, "the buyers are stuck");
                sleep(Duration::from_millis(5));
            }
            // The kill comes at different points of an attempt.
            sleep(Duration::from_millis(6 * (crash as u64 % 5)));
            server.kill();
            server.restart();
        }
        drop(stopping);
    });
    let told = told.into_inner().expect("no buyer panicked");
    assert!(told.len() >= BETWEEN * crashes());
    api.advance(600);
    check(&server, &api, &told);
    server.kill();
    server.restart();
    check(&server, &api, &told);
}

fn check(server: &Server, api: &Api, told: &[Told]) {
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
    let mut completed: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for payment in api.walk("/v1/payments", &[("status", "COMPLETED")], 100) {
        completed.entry(text(&payment["checkoutSession"], "id").to_owned()).or_default().push(payment);
    }
    let (mut bolivares, mut pesos, mut usdt) = (Decimal::ZERO, Decimal::ZERO, Decimal::ZERO);
    for told in told {
        let session = api.get(&format!("/v1/checkout/sessions/{}", told.session)).expect(200);
        assert_eq!((text(&session, "status"), text(&session, "paymentId")), ("paid", told.payment.as_str()));
        let payments =
            completed.get(&told.session).unwrap_or_else(|| panic!("{} is paid by nothing", told.session));
        assert_eq!(payments.len(), 1, "one session, two payments: {payments:?}");
        let payment = &payments[0];
        assert_eq!(text(payment, "paymentId"), told.payment);
        match text(payment, "method") {
            "C2P" => bolivares += decimal(&payment["netVes"]),
            "COP" => pesos += decimal(&payment["netCop"]),
            _ => usdt += decimal(&payment["amountUsdt"]),
        }
    }
    assert_eq!(completed.len(), told.len(), "money for a session that nobody paid");
    assert!(bolivares > Decimal::ZERO && pesos > Decimal::ZERO && usdt > Decimal::ZERO);
    assert_eq!(decimal(&api.books()["ledgerNetVes"]), bolivares);
    assert_eq!(decimal(&api.cop_books()["ledgerNetCop"]), pesos);
    let balance = api.get("/v1/crypto/balance").expect(200);
    assert_eq!(decimal(&balance["heldUsdt"]) + decimal(&balance["availableUsdt"]), usdt);
    let events = api.walk("/v1/events", &[], 100);
    let mut announced: Vec<&str> = events
        .iter()
        .filter(|event| event["event"] == "payment.completed")
        .map(|event| text(&event["data"], "paymentId"))
        .collect();
    announced.sort_unstable();
    let mut payments: Vec<&str> = told.iter().map(|told| told.payment.as_str()).collect();
    payments.sort_unstable();
    assert_eq!(announced, payments, "each was told once");
}
