//! SIGKILL while pesos are on their way to Wompi, with every fault that leaves an order in doubt: each
//! payment is one transaction, and each transaction that is paid is credited once.

use crate::fake_wompi::{CODE, Fault};
use crate::harness::check::{list, text};
use crate::wompi_world::{World, body, next};
use serde_json::json;
use std::collections::BTreeSet;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(90);

/// How long after a request has begun the server is killed.
const MOMENTS_MS: [u64; 4] = [0, 4, 9, 25];

#[test]
fn every_payment_is_one_transaction_whatever_is_killed_when() {
    let mut world = World::start();
    let faults = [None, Some(Fault::DropAfter), Some(Fault::DropBefore), Some(Fault::Answer(502, json!({})))];
    let rounds = faults.iter().flat_map(|fault| MOMENTS_MS.map(|moment| (fault.clone(), moment)));
    for (round, (fault, moment)) in rounds.enumerate() {
        if let Some(fault) = fault {
            world.wompi.next("create", fault);
        }
        let api = world.live.keyed(&format!("round-{round}"));
        scope(|scope| {
            let asking = scope.spawn(|| api.try_post("/v1/cop/payments", &body("push")));
            sleep(Duration::from_millis(moment));
            world.server.kill();
            let _ = asking.join().expect("no panic");
        });
        world.server.restart();
        // Whoever asks again under the same key asks for the same payment.
        let asked = api.post("/v1/cop/payments", &body("push"));
        assert!(matches!(asked.status, 201 | 202), "{}", asked.text());
    }
    let payments = || {
        let page = world.live.query("/v1/payments", &[("method", "COP"), ("limit", "100")]).expect(200);
        list(&page, "items").to_vec()
    };
    let count = payments().len();
    let deadline = Instant::now() + PATIENCE;
    while world.wompi.transactions().len() < count {
        assert!(Instant::now() < deadline, "{} of {count} arrived", world.wompi.transactions().len());
        sleep(Duration::from_millis(50));
    }
    world.wompi.settle_all("APPROVED");
    while payments().iter().any(|payment| payment["status"] != "COMPLETED") {
        assert!(Instant::now() < deadline, "{:?}", payments());
        sleep(Duration::from_millis(50));
    }
    let references: BTreeSet<String> =
        world.wompi.transactions().iter().map(|one| text(&one.body, "reference").to_owned()).collect();
    assert_eq!((references.len(), world.wompi.transactions().len()), (count, count));
    let net = (46_250 * count).to_string();
    world.live.assert_pesos(&net, &net, "0");
    assert_eq!(world.events().len(), count);
}

#[test]
fn a_code_is_sent_and_validated_once_whatever_is_killed_when() {
    let mut world = World::start();
    for moment in MOMENTS_MS {
        let api = world.live.keyed(&format!("code-{moment}"));
        scope(|scope| {
            let asking = scope.spawn(|| api.try_post("/v1/cop/payments", &body("sms")));
            sleep(Duration::from_millis(moment));
            world.server.kill();
            let _ = asking.join().expect("no panic");
        });
        world.server.restart();
        let asked = api.post("/v1/cop/payments", &body("sms")).json();
        let reference = text(&asked, "operationId");
        // Payments of the rounds before may be looked at too, and their codes sent only now.
        let looks = world.looks_at(reference);
        let deadline = Instant::now() + PATIENCE;
        while world.looks_at(reference) < looks + 2 {
            assert!(Instant::now() < deadline, "{} looks at {asked}", world.looks_at(reference));
            sleep(Duration::from_millis(20));
        }
        let now = world.live.get(&format!("/v1/cop/payments/{}", text(&asked, "id"))).expect(200);
        if next(&now) != "submit_otp" {
            continue;
        }
        scope(|scope| {
            let path = format!("/v1/cop/payments/{}/otp", text(&asked, "id"));
            let live = world.live.clone();
            let typing = scope.spawn(move || live.try_post(&path, &json!({ "otp": CODE })));
            sleep(Duration::from_millis(moment));
            world.server.kill();
            let _ = typing.join().expect("no panic");
        });
        world.server.restart();
        let again = world.live.cop_otp(&now, CODE);
        assert!(matches!(again.status, 200 | 202 | 409), "{}", again.text());
    }
    for step in ["send", "validate"] {
        // The path names the transaction.
        let paths: Vec<String> = world.wompi.asked(step).into_iter().map(|asked| asked.path).collect();
        let once: BTreeSet<&String> = paths.iter().collect();
        assert_eq!(once.len(), paths.len(), "{step} once or not at all: {paths:?}");
    }
    let approved = world.wompi.transactions().iter().filter(|paid| paid.status == "APPROVED").count();
    let deadline = Instant::now() + PATIENCE;
    let collected = (46_250 * approved).to_string();
    while world.live.cop_books()["ledgerNetCop"] != *collected {
        assert!(Instant::now() < deadline, "{approved} were paid: {}", world.live.cop_books());
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_refund_that_an_operator_refused_is_no_success_under_its_key() {
    let world = World::start();
    world.wompi.next("create", Fault::State("APPROVED"));
    let paid = world.ask("push").expect(201);
    let keyed = world.live.keyed("refund-1");
    let refunding = keyed.cop_refund(&paid).expect(202);
    let said = json!({ "outcome": "refused", "failureCode": "rejected" });
    world.resolve(text(&refunding, "operationId"), said).expect(200);
    // As after a processor's refusal, the key may ask again: another refund begins.
    let again = keyed.cop_refund(&paid).expect(202);
    assert_ne!(again["operationId"], refunding["operationId"]);
    let said = json!({ "outcome": "done", "reference": "R-1" });
    world.resolve(text(&again, "operationId"), said).expect(200);
    assert_eq!(keyed.cop_refund(&paid).expect(200)["status"], "refunded");
    world.live.assert_pesos("0", "0", "0");
}

#[test]
fn what_is_set_aside_for_a_refund_outlives_a_crash() {
    let mut world = World::start();
    world.wompi.next("create", Fault::State("APPROVED"));
    let paid = world.ask("push").expect(201);
    let refunding = world.live.cop_refund(&paid).expect(202);
    world.crash();
    let open = world.operations("unresolved");
    assert_eq!((open.len(), &open[0]["operationId"]), (1, &refunding["operationId"]));
    world.live.assert_pesos("46250", "46250", "0");
    let said = json!({ "outcome": "done", "reference": "R-1" });
    world.resolve(text(&refunding, "operationId"), said.clone()).expect(200);
    world.crash();
    world.resolve(text(&refunding, "operationId"), said).refused(409, "operation_resolved");
    world.live.assert_pesos("0", "0", "0");
}
