//! SIGKILL in a storm of events: whatever the moment, every event that is in the log arrives,
//! signed, and nothing that was delivered is sent again for ever.

use crate::harness::check::text;
use crate::harness::client::Api;
use crate::harness::receiver::{Arrived, Manner, Receiver};
use crate::harness::server::Server;
use crate::load::{PATIENCE, StopOnDrop, crashes};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

const WRITERS: usize = 4;

/// Makes events, one after the other, whatever becomes of the answers.
fn storm(api: &Api, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let reference = crate::harness::flows::fresh("storm");
        let card = json!({ "number": "4111111111111111", "expMonth": 12, "expYear": 2035, "cvv": "123", "holderName": "Ana", "holderId": "V12345678" });
        if api
            .try_post(
                "/v1/payments/vpos",
                &json!({ "usdAmount": 1, "card": card, "externalRef": reference, "description": "x" }),
            )
            .is_err()
        {
            sleep(Duration::from_millis(20));
        }
    }
}

fn by_sequence(arrived: &[Arrived]) -> BTreeMap<u64, Vec<&Arrived>> {
    let mut found: BTreeMap<u64, Vec<&Arrived>> = BTreeMap::new();
    for each in arrived {
        found.entry(each.sequence()).or_default().push(each);
    }
    found
}

/// The events of the deliveries whose outcome can be read, so it is durable.
fn delivered(api: &Api, webhook: &Value) -> BTreeSet<String> {
    let deliveries = api.walk(&format!("/v1/webhooks/{}/deliveries", text(webhook, "id")), &[], 100);
    deliveries
        .iter()
        .filter(|delivery| delivery["status"] == "delivered")
        .map(|delivery| text(delivery, "eventId").to_owned())
        .collect()
}

#[test]
fn every_event_arrives_however_often_the_server_dies() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let quick = Receiver::good();
    let slow = Receiver::start(|_| Manner::After(Duration::from_millis(15)));
    let make = |receiver: &Receiver| {
        api.post("/v1/webhooks", &json!({ "url": receiver.url(), "events": ["payment.completed"] }))
            .expect(201)
    };
    let webhooks = [make(&quick), make(&slow)];
    let stop = AtomicBool::new(false);
    let mut known = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            let (api, stop) = (&api, &stop);
            scope.spawn(move || storm(api, stop));
        }
        let stopping = StopOnDrop(&stop);
        for crash in 0..crashes() {
            let (before, deadline) = (quick.count(), Instant::now() + PATIENCE);
            while quick.count() < before + 60 {
                assert!(Instant::now() < deadline, "deliveries are stuck at {before}: {}", server.log_tail());
                sleep(Duration::from_millis(5));
            }
            sleep(Duration::from_millis(7 * (crash as u64 % 5)));
            // Every other time some outcome is durable; the other times the server may die before
            // the first.
            let mut seen = webhooks.each_ref().map(|webhook| delivered(&api, webhook));
            while crash % 2 == 0 && seen[0].is_empty() {
                assert!(Instant::now() < deadline, "no outcome is recorded: {}", server.log_tail());
                sleep(Duration::from_millis(5));
                seen = webhooks.each_ref().map(|webhook| delivered(&api, webhook));
            }
            server.kill();
            known.push((seen, [quick.count(), slow.count()]));
            server.restart();
        }
        drop(stopping);
    });
    let events = api.walk("/v1/events", &[], 100);
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["sequence"].as_u64()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "the log has a gap");
    let listed: BTreeMap<u64, &Value> = events
        .iter()
        .filter(|event| event["event"] == "payment.completed")
        .filter_map(|event| Some((event["sequence"].as_u64()?, event)))
        .collect();
    assert!(listed.len() >= 60 * crashes());
    for (nth, (receiver, webhook)) in [(&quick, &webhooks[0]), (&slow, &webhooks[1])].into_iter().enumerate()
    {
        // However many there are on a machine where they took long to be made: as long as more come.
        let (mut count, mut deadline) = (0, Instant::now() + PATIENCE);
        while count < listed.len() {
            assert!(Instant::now() < deadline, "{count} of {} arrived", listed.len());
            sleep(Duration::from_millis(20));
            let now = by_sequence(&receiver.arrived()).len();
            if now > count {
                (count, deadline) = (now, Instant::now() + PATIENCE);
            }
        }
        let arrived = receiver.arrived();
        let found = by_sequence(&arrived);
        assert_eq!(found.keys().collect::<BTreeSet<_>>(), listed.keys().collect::<BTreeSet<_>>());
        for (sequence, each) in &found {
            for arrived in each {
                assert_eq!(arrived.header("svc-event-id"), text(listed[sequence], "id"));
                assert_eq!(arrived.json()["data"], listed[sequence]["data"]);
            }
            assert!(each.len() <= crashes() + 1, "{sequence} arrived {} times", each.len());
        }
        for (delivered, came) in &known {
            let again: Vec<_> = arrived[came[nth]..]
                .iter()
                .map(|each| each.header("svc-event-id"))
                .filter(|id| delivered[nth].contains(*id))
                .collect();
            assert!(again.is_empty(), "what had an outcome was sent again: {again:?}");
        }
        // Every delivery has one outcome, which another start does not change.
        let deadline = Instant::now() + PATIENCE;
        let path = format!("/v1/webhooks/{}/deliveries", text(webhook, "id"));
        let mut deliveries = api.walk(&path, &[], 100);
        while deliveries.iter().any(|delivery| delivery["status"] == "pending") {
            assert!(Instant::now() < deadline, "some stay pending");
            sleep(Duration::from_millis(50));
            deliveries = api.walk(&path, &[], 100);
        }
        assert_eq!(deliveries.len(), listed.len());
        assert!(deliveries.iter().all(|delivery| delivery["status"] == "delivered"));
    }
    let before = (quick.count(), slow.count());
    server.kill();
    server.restart();
    api.pay(1);
    let deadline = Instant::now() + PATIENCE;
    while (quick.count(), slow.count()) < (before.0 + 1, before.1 + 1) {
        assert!(Instant::now() < deadline, "nothing more arrives");
        sleep(Duration::from_millis(5));
    }
    assert_eq!(
        (quick.count(), slow.count()),
        (before.0 + 1, before.1 + 1),
        "what has an outcome is not sent again"
    );
    assert_eq!(server.terminate().code(), Some(0));
    let verified = server.command(&["wal", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn a_try_that_waits_outlives_every_crash() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let receiver = Receiver::start(|arrived| match arrived.header("svc-attempt") {
        "1" => Manner::Status(500),
        _ => Manner::Status(200),
    });
    let body = json!({ "url": receiver.url(), "events": ["payment.completed"], "retry": "backoff" });
    let webhook = api.post("/v1/webhooks", &body).expect(201);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let stopping = StopOnDrop(&stop);
        scope.spawn(|| storm(&api, &stop));
        for _ in 0..crashes() {
            let before = receiver.count();
            let deadline = Instant::now() + PATIENCE;
            while receiver.count() < before + 20 {
                assert!(Instant::now() < deadline, "nothing arrives");
                sleep(Duration::from_millis(2));
            }
            server.kill();
            server.restart();
        }
        drop(stopping);
    });
    // A payment that was at its bank when the server died completes when it is asked about.
    let completed = || -> BTreeSet<String> {
        let events = api.walk("/v1/events", &[], 100);
        let completed = events.iter().filter(|event| event["event"] == "payment.completed");
        completed.map(|event| text(event, "id").to_owned()).collect()
    };
    let deadline = Instant::now() + PATIENCE;
    let mut ids = completed();
    while !ids.is_subset(&delivered(&api, &webhook)) {
        assert!(Instant::now() < deadline, "{} of {} arrived", delivered(&api, &webhook).len(), ids.len());
        api.advance(78);
        sleep(Duration::from_millis(200));
        ids = completed();
    }
    let mut tries: BTreeMap<(String, u64), usize> = BTreeMap::new();
    let path = format!("/v1/webhooks/{}/deliveries", text(&webhook, "id"));
    for row in api.walk(&path, &[], 100).iter().filter(|row| ids.contains(text(row, "eventId"))) {
        assert!(row["attempt"] == 1 || row["status"] == "delivered", "{row}");
        *tries
            .entry((text(row, "eventId").to_owned(), row["attempt"].as_u64().expect("a number")))
            .or_default() += 1;
    }
    assert_eq!(tries.len(), 2 * ids.len(), "one that failed, and one that arrived");
    assert!(tries.values().all(|rows| *rows == 1), "a try has one outcome");
}
