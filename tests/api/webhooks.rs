//! Webhooks: endpoints, what is delivered to them and how it is signed (`docs/contract.md, 13`).

use crate::harness::check::{assert_id, list, text};
use crate::harness::client::Api;
use crate::harness::flows::{UNKNOWN, fresh, merged};
use crate::harness::receiver::{Arrived, Manner, Receiver};
use crate::harness::server::Server;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

const HOOK: &str = "https://shop.example.com/hook";
/// The time that a delivery may take.
pub const PATIENCE: Duration = Duration::from_secs(90);
/// The name of every event that there is.
pub const NAMES: [&str; 21] = [
    "payment.completed",
    "payment.failed",
    "payment.canceled",
    "payment.reversed",
    "payment.chargeback",
    "payment.chargeback_closed",
    "payout.completed",
    "payout.failed",
    "merchant.verified",
    "merchant.rejected",
    "merchant.deactivated",
    "merchant.reactivated",
    "merchant.balance.updated",
    "conversion.created",
    "conversion.completed",
    "conversion.canceled",
    "tenant.live_status_changed",
    "crypto_payout.completed",
    "crypto_payout.failed",
    "crypto_deposit.completed",
    "test.reset",
];

/// An endpoint for these events.
#[track_caller]
pub fn listen(api: &Api, url: &str, events: &[&str]) -> Value {
    api.post("/v1/webhooks", &json!({ "url": url, "events": events })).expect(201)
}

/// The path of an endpoint.
pub fn path(webhook: &Value) -> String {
    format!("/v1/webhooks/{}", text(webhook, "id"))
}

/// Waits until an endpoint has so many deliveries with an outcome, and returns all, newest first.
#[track_caller]
pub fn outcomes(api: &Api, webhook: &Value, count: usize) -> Vec<Value> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let deliveries = api.walk(&format!("{}/deliveries", path(webhook)), &[], 100);
        let ended = deliveries.iter().filter(|delivery| delivery["status"] != "pending").count();
        if ended >= count {
            return deliveries;
        }
        assert!(Instant::now() < deadline, "{ended} of {count} ended: {deliveries:?}");
        sleep(Duration::from_millis(20));
    }
}

/// HMAC-SHA256 as RFC 2104 says it, so that the server's is compared with another.
pub fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0_u8; 64];
    match key.len() {
        0..=64 => block[..key.len()].copy_from_slice(key),
        _ => block[..32].copy_from_slice(&Sha256::digest(key)),
    }
    let padded = |with: u8| block.map(|byte| byte ^ with);
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(padded(0x5C)).chain_update(inner).finalize().into()
}

/// Asserts that a delivery is signed with this secret, in all the ways that are due.
#[track_caller]
pub fn assert_signed(arrived: &Arrived, secret: &str) {
    assert_signed_by(arrived, &[secret], "svc-signature", false);
}

/// Asserts that a delivery is signed with these secrets, newest first.
#[track_caller]
pub fn assert_signed_by(arrived: &Arrived, secrets: &[&str], header: &str, is_timestamped: bool) {
    let body = &arrived.body;
    let signature = hex::encode(hmac(secrets[0].as_bytes(), body));
    let seconds = arrived.header("webhook-timestamp");
    let v1 = |secret: &&str| {
        format!(",v1={}", hex::encode(hmac(secret.as_bytes(), &[seconds.as_bytes(), b".", body].concat())))
    };
    let own = if is_timestamped {
        format!("t={seconds}{}", secrets.iter().map(v1).collect::<String>())
    } else {
        signature.clone()
    };
    assert_eq!(arrived.header(header), own);
    let event = arrived.json()["event"].as_str().expect("a name").to_owned();
    let older = event.starts_with("merchant.") || event.starts_with("payout.");
    assert_eq!(arrived.header("x-webhook-signature"), if older { &signature } else { "" }, "{event}");
    let id = arrived.header("webhook-id");
    let message = [id.as_bytes(), b".", seconds.as_bytes(), b".", body].concat();
    let standard = secrets.iter().map(|secret| {
        let key = STANDARD.decode(secret.strip_prefix("whsec_").expect("whsec_")).expect("base64");
        format!("v1,{}", STANDARD.encode(hmac(&key, &message)))
    });
    assert_eq!(arrived.header("webhook-signature"), standard.collect::<Vec<_>>().join(" "));
    let age = chrono::Utc::now().timestamp() - seconds.parse::<i64>().expect("seconds");
    assert!((-1..120).contains(&age), "signed {age} seconds ago");
}

#[test]
fn an_endpoint_is_made_shown_changed_and_deleted() {
    let server = Server::shared();
    let api = server.tenant().test;
    let made = listen(&api, HOOK, &["payout.completed", "payment.completed"]);
    let members: BTreeSet<&str> = made.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(
        members,
        BTreeSet::from([
            "id",
            "object",
            "url",
            "events",
            "secret",
            "status",
            "livemode",
            "createdAt",
            "retry",
            "signature"
        ])
    );
    assert_eq!((&made["retry"], &made["signature"]), (&json!("none"), &json!("hex")));
    assert_id(&made["id"]);
    assert_eq!(
        (&made["object"], &made["url"], &made["status"], &made["livemode"]),
        (&json!("webhook"), &json!(HOOK), &json!("enabled"), &json!(false))
    );
    assert_eq!(
        made["events"],
        json!(["payout.completed", "payment.completed"]),
        "in the order in which they were said"
    );
    let key = STANDARD.decode(text(&made, "secret").strip_prefix("whsec_").expect("whsec_")).expect("base64");
    assert_eq!(key.len(), 32);

    let mut shown = made.clone();
    shown.as_object_mut().expect("an object").remove("secret");
    assert_eq!(api.get(&path(&made)).expect(200), shown, "the secret is shown once");
    let second = listen(&api, "http://shop.example.com/second?a=b", &["payment.failed"]);
    assert_ne!(second["secret"], made["secret"]);
    let all = api.get("/v1/webhooks").expect(200);
    assert_eq!(all.as_object().map(serde_json::Map::len), Some(1));
    assert_eq!(
        list(&all, "items").iter().map(|item| &item["id"]).collect::<Vec<_>>(),
        [&second["id"], &made["id"]],
        "newest first"
    );
    assert!(list(&all, "items").iter().all(|item| item.get("secret").is_none()));

    let answer = api.patch(
        &path(&made),
        &json!({ "status": "disabled", "events": ["payment.failed"], "url": "https://other.example.com/" }),
    );
    assert!(answer.wal_seq() > 0);
    let changed = answer.expect(200);
    let expected = merged(
        shown,
        json!({ "status": "disabled", "events": ["payment.failed"], "url": "https://other.example.com/" }),
    );
    assert_eq!(changed, expected);
    assert!(
        api.patch(&path(&made), &json!({ "status": "disabled" })).header("wal-seq").is_none(),
        "nothing changes"
    );
    assert_eq!(
        api.patch(&path(&made), &json!({ "status": "enabled", "url": null })).expect(200)["status"],
        "enabled"
    );

    assert_eq!(api.delete(&path(&made)).expect(200), json!({ "deleted": true, "id": made["id"] }));
    for answer in [
        api.get(&path(&made)),
        api.patch(&path(&made), &json!({ "status": "enabled" })),
        api.delete(&path(&made)),
        api.act(&format!("{}/rotate-secret", path(&made))),
        api.get(&format!("{}/deliveries", path(&made))),
        api.get("/v1/webhooks/none"),
        api.get(&format!("/v1/webhooks/{UNKNOWN}")),
        server.tenant().test.get(&path(&second)),
    ] {
        answer.refused(404, "not_found");
    }
    assert_eq!(list(&api.get("/v1/webhooks").expect(200), "items").len(), 1);
}

#[test]
fn every_bad_field_is_named() {
    let server = Server::shared();
    let api = server.tenant().test;
    let post = |body: Value| api.post("/v1/webhooks", &body);
    post(json!({})).names(&["url", "events"]);
    for url in [
        json!("shop.example.com"),
        json!("ftp://shop.example.com"),
        json!("https://u:p@shop.example.com"),
        json!(""),
        json!(7),
        json!(null),
    ] {
        post(json!({ "url": url, "events": ["payment.completed"] })).names(&["url"]);
    }
    post(json!({ "url": HOOK, "events": ["payment.completed"], "secret": "mine" })).names(&["secret"]);
    for (events, bad) in [
        (json!([]), "events"),
        (json!("payment.completed"), "events"),
        (json!(["payment.completed", "payment.unknown"]), "events[1]"),
        (json!(["notification.test"]), "events[0]"),
        (json!(["payment.completed", "payout.failed", "payment.completed"]), "events[2]"),
    ] {
        post(json!({ "url": HOOK, "events": events })).names(&[bad]);
    }
    let made = listen(&api, HOOK, &["payment.completed"]);
    let patch = |body: Value| api.patch(&path(&made), &body);
    patch(json!({})).names(&["body"]);
    patch(json!({ "status": "paused", "events": ["x"], "url": "x", "livemode": true })).names(&[
        "status",
        "events[0]",
        "url",
        "livemode",
    ]);
    for (field, value) in [("retry", "twice"), ("signature", "HEX")] {
        post(json!({ "url": HOOK, "events": ["payment.completed"], field: value })).names(&[field]);
        patch(json!({ field: value })).names(&[field]);
    }
    for overlap in [json!(-1), json!(604_801), json!("60"), json!(1.5)] {
        api.post(&format!("{}/rotate-secret", path(&made)), &json!({ "overlapSeconds": overlap }))
            .names(&["overlapSeconds"]);
    }
    api.query("/v1/webhooks", &[("limit", "1")]).names(&["limit"]);
    api.query(&path(&made), &[("x", "1")]).names(&["x"]);
    api.query(&format!("{}/deliveries", path(&made)), &[("limit", "0"), ("status", "failed")])
        .names(&["limit", "status"]);
    api.post(&format!("{}/rotate-secret", path(&made)), &json!({ "a": 1 })).names(&["a"]);
    api.post("/v1/notifications/test", &json!({ "a": 1 })).names(&["a"]);
}

#[test]
fn all_names_of_events_can_be_listed() {
    let server = Server::shared();
    let api = server.tenant().test;
    assert_eq!(listen(&api, HOOK, &NAMES)["events"], json!(NAMES));
}

#[test]
fn twenty_endpoints_per_mode_and_two_worlds() {
    let server = Server::shared();
    let tenant = server.tenant();
    server
        .admin()
        .post(&format!("/admin/tenants/{}/live-status", tenant.id), &json!({ "status": "active" }))
        .expect(200);
    let first = listen(&tenant.test, HOOK, &["payment.completed"]);
    for _ in 1..20 {
        listen(&tenant.test, HOOK, &["payment.completed"]);
    }
    let body = json!({ "url": HOOK, "events": ["payment.completed"] });
    tenant.test.post("/v1/webhooks", &body).refused(409, "too_many_webhooks");
    let live = listen(&tenant.live, HOOK, &["payment.completed"]);
    assert_eq!(live["livemode"], true);
    tenant.live.get(&path(&first)).refused(404, "not_found");
    assert_eq!(list(&tenant.live.get("/v1/webhooks").expect(200), "items").len(), 1);
    tenant
        .live
        .post("/v1/webhooks", &merged(body.clone(), json!({ "url": "http://shop.example.com/" })))
        .names(&["url"]);
    tenant.live.patch(&path(&live), &json!({ "url": "http://shop.example.com/" })).names(&["url"]);
    tenant.test.delete(&path(&first)).expect(200);
    tenant.test.post("/v1/webhooks", &body).expect(201);
    tenant.test.post("/v1/webhooks", &body).refused(409, "too_many_webhooks");
}

#[test]
fn a_key_repeats_the_secret_and_the_disk_never_sees_it() {
    let server = Server::start();
    let api = server.tenant().test;
    let body = json!({ "url": HOOK, "events": ["payment.completed"] });
    let keyed = api.keyed("make");
    let first = keyed.post("/v1/webhooks", &body);
    let again = keyed.post("/v1/webhooks", &body);
    assert_eq!(
        (again.status, again.header("idempotent-replayed"), &again.body),
        (201, Some("true"), &first.body)
    );
    let made = first.expect(201);
    assert_eq!(list(&api.get("/v1/webhooks").expect(200), "items").len(), 1);
    let rotate = format!("{}/rotate-secret", path(&made));
    let rotated = api.keyed("turn").act(&rotate);
    assert_eq!(api.keyed("turn").act(&rotate).body, rotated.body);
    let newest = api.act(&rotate).expect(200);
    let secrets = [
        text(&made, "secret").to_owned(),
        text(&rotated.expect(200), "secret").to_owned(),
        text(&newest, "secret").to_owned(),
    ];
    assert_eq!(secrets.iter().collect::<BTreeSet<_>>().len(), 3);
    assert_eq!(
        api.keyed("make").post("/v1/webhooks", &body).expect(201)["secret"],
        secrets[0].as_str(),
        "what was answered first"
    );
    let kept = api.get("/v1/idempotency/make").expect(200);
    assert_eq!(
        (&kept["status"], &kept["response"]["id"], kept["response"].get("secret")),
        (&json!(201), &made["id"], None)
    );
    drop(kept);
    for secret in &secrets {
        assert!(!server.has_on_disk(&secret.as_bytes()["whsec_".len()..][..20]));
    }
    assert!(!server.log_tail().contains("whsec_"));
}

#[test]
fn keys_need_the_right_scopes() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = listen(&tenant.test, HOOK, &["payment.completed"]);
    let key = |scope: &str| {
        let created = server
            .admin()
            .post(
                &format!("/admin/tenants/{}/keys", tenant.id),
                &json!({ "mode": "test", "scopes": [scope] }),
            )
            .expect(201);
        server.api(text(&created, "key"))
    };
    let reader = key("read");
    for path in ["/v1/webhooks".to_owned(), path(&made), format!("{}/deliveries", path(&made))] {
        reader.get(&path).expect(200);
    }
    for api in [&reader, &key("collect")] {
        api.post("/v1/webhooks", &json!({})).refused(403, "scope_missing");
        api.patch(&path(&made), &json!({})).refused(403, "scope_missing");
        api.delete(&path(&made)).refused(403, "scope_missing");
        api.act(&format!("{}/rotate-secret", path(&made))).refused(403, "scope_missing");
        api.act("/v1/notifications/test").refused(403, "scope_missing");
        api.act(&format!("/v1/events/{UNKNOWN}/resend")).refused(403, "scope_missing");
    }
}

#[test]
fn what_is_listed_arrives_signed_and_in_order() {
    let server = Server::shared();
    let api = server.tenant().test;
    let receiver = Receiver::good();
    let webhook = listen(
        &api,
        &receiver.url(),
        &["payment.completed", "payout.completed", "merchant.verified", "payment.failed"],
    );
    let secret = text(&webhook, "secret");
    let merchant = api.merchant();
    api.fund("100.00");
    for _ in 0..5 {
        api.pay(1);
    }
    api.payout(&merchant, "10.00", json!({})).expect(201);
    api.patch(&format!("/v1/merchants/{}", text(&merchant, "merchantId")), &json!({ "isActive": false }))
        .expect(200);
    api.pay_with(1, "99999999");
    let mut arrived = receiver.wait_for(8);
    // Deliveries are started in order; those started at about the same time may arrive a little out
    // of it.
    arrived.sort_by_key(Arrived::sequence);
    let events: Vec<Value> = api.walk("/v1/events", &[], 100);
    let listed: Vec<&Value> =
        events.iter().filter(|event| event["event"] != "merchant.deactivated").collect();
    assert_eq!(listed.len(), 8);
    for (arrived, event) in arrived.iter().zip(listed) {
        assert_eq!(arrived.target, "POST /hook");
        assert_eq!(
            arrived.json(),
            json!({ "event": event["event"], "data": event["data"], "timestamp": event["timestamp"] })
        );
        assert_eq!(arrived.header("svc-event-id"), text(event, "id"));
        assert_eq!(arrived.header("svc-event-id"), arrived.header("webhook-id"));
        assert_eq!(arrived.header("svc-attempt"), "1");
        assert_eq!(json!(arrived.sequence()), event["sequence"]);
        assert_eq!(
            (arrived.header("content-type"), arrived.json()["data"]["livemode"].as_bool()),
            ("application/json", Some(false))
        );
        assert!(arrived.header("user-agent").starts_with("pasarela/"));
        assert_signed(arrived, secret);
    }
    for (delivery, event) in outcomes(&api, &webhook, 8)
        .iter()
        .rev()
        .zip(events.iter().filter(|event| event["event"] != "merchant.deactivated"))
    {
        assert_id(&delivery["id"]);
        assert_eq!(
            (&delivery["webhookId"], &delivery["eventId"], &delivery["event"]),
            (&webhook["id"], &event["id"], &event["event"])
        );
        assert_eq!(
            (&delivery["sequence"], &delivery["status"], &delivery["httpStatus"]),
            (&event["sequence"], &json!("delivered"), &json!(200))
        );
        assert_eq!((&delivery["error"], &delivery["createdAt"]), (&Value::Null, &event["createdAt"]));
        assert!(
            delivery["latencyMs"].as_u64().is_some_and(|ms| ms < 10_000)
                && delivery["completedAt"].is_string(),
            "{delivery}"
        );
        assert_eq!(delivery["attempt"], 1);
        assert_eq!(delivery.as_object().map(serde_json::Map::len), Some(12));
    }
}

#[test]
fn deliveries_come_in_pages() {
    let server = Server::shared();
    let api = server.tenant().test;
    let receiver = Receiver::good();
    let webhook = listen(&api, &receiver.url(), &["payment.completed"]);
    for _ in 0..7 {
        api.pay(1);
    }
    let all = outcomes(&api, &webhook, 7);
    let sequences: Vec<u64> = all.iter().filter_map(|delivery| delivery["sequence"].as_u64()).collect();
    assert_eq!(sequences, [7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(api.walk(&format!("{}/deliveries", path(&webhook)), &[], 2), all);
    let other = listen(&api, HOOK, &["payment.completed"]);
    let page = api.query(&format!("{}/deliveries", path(&webhook)), &[("limit", "2")]).expect(200);
    api.query(&format!("{}/deliveries", path(&other)), &[("cursor", text(&page, "nextCursor"))])
        .names(&["cursor"]);
}

#[test]
fn an_event_is_due_by_what_was_listed_when_it_happened() {
    let server = Server::shared();
    let api = server.tenant().test;
    let receiver = Receiver::good();
    api.pay(1);
    let webhook = listen(&api, &receiver.url(), &["payment.failed"]);
    api.pay(1);
    api.patch(&path(&webhook), &json!({ "events": ["payment.completed"] })).expect(200);
    api.pay(2);
    api.pay_with(1, "99999999");
    api.patch(&path(&webhook), &json!({ "status": "disabled" })).expect(200);
    api.pay(3);
    api.patch(&path(&webhook), &json!({ "status": "enabled" })).expect(200);
    api.pay(4);
    let mut sequences: Vec<u64> = receiver.wait_for(2).iter().map(Arrived::sequence).collect();
    sequences.sort_unstable();
    assert_eq!(sequences, [3, 6]);
    assert_eq!(outcomes(&api, &webhook, 2).len(), 2);
    assert_eq!(receiver.count(), 2);
}

#[test]
fn a_new_secret_signs_at_once_and_a_deleted_endpoint_gets_nothing() {
    let server = Server::shared();
    let api = server.tenant().test;
    let receiver = Receiver::good();
    let webhook = listen(&api, &receiver.url(), &["payment.completed"]);
    let first = text(&webhook, "secret").to_owned();
    api.pay(1);
    assert_signed(&receiver.wait_for(1)[0], &first);
    let rotate = format!("{}/rotate-secret", path(&webhook));
    let rotated = api.post(&rotate, &json!({ "overlapSeconds": 0 })).expect(200);
    assert_eq!(rotated["id"], webhook["id"]);
    api.pay(1);
    assert_signed(&receiver.wait_for(2)[1], text(&rotated, "secret"));
    api.delete(&path(&webhook)).expect(200);
    let other = Receiver::good();
    listen(&api, &other.url(), &["payment.completed"]);
    api.pay(1);
    other.wait_for(1);
    assert_eq!(receiver.count(), 2);
}

#[test]
fn an_event_is_sent_again_on_request() {
    let server = Server::shared();
    let api = server.tenant().test;
    let receiver = Receiver::start(|arrived| Manner::Status(if arrived.sequence() == 1 { 500 } else { 204 }));
    let webhook = listen(&api, &receiver.url(), &["payment.completed"]);
    let disabled = listen(&api, &receiver.url(), &["payment.completed"]);
    api.patch(&path(&disabled), &json!({ "status": "disabled" })).expect(200);
    listen(&api, &receiver.url(), &["payout.completed"]);
    api.pay(1);
    outcomes(&api, &webhook, 1);
    let event = api.walk("/v1/events", &[], 10).remove(0);
    let resend = format!("/v1/events/{}/resend", text(&event, "id"));
    let key = fresh("again");
    let answer = api.keyed(&key).act(&resend);
    assert!(answer.wal_seq() > 0);
    let body = answer.expect(202);
    assert_eq!((&body["eventId"], list(&body, "deliveries").len()), (&event["id"], 1));
    let delivery = &list(&body, "deliveries")[0];
    assert_eq!(
        (&delivery["webhookId"], &delivery["sequence"], &delivery["status"]),
        (&webhook["id"], &json!(1), &json!("pending"))
    );
    let again = api.keyed(&key).act(&resend);
    assert_eq!(
        (again.status, again.header("idempotent-replayed"), &again.body),
        (202, Some("true"), &answer.body)
    );
    let arrived = receiver.wait_for(2);
    assert_eq!(
        (&arrived[0].body, arrived[0].header("svc-event-id")),
        (&arrived[1].body, arrived[1].header("svc-event-id"))
    );
    assert_signed(&arrived[1], text(&webhook, "secret"));
    let all = outcomes(&api, &webhook, 2);
    assert_eq!((&all[0]["id"], all.len()), (&delivery["id"], 2), "newest first");
    assert!(
        all.iter().all(|delivery| delivery["status"] == "failed"
            && delivery["httpStatus"] == 500
            && delivery["error"].is_string()),
        "{all:?}"
    );
    assert_eq!(receiver.count(), 2, "a failure is not tried again by itself");
    api.act(&format!("/v1/events/{UNKNOWN}/resend")).refused(404, "not_found");
    api.act("/v1/events/none/resend").refused(404, "not_found");
    server.tenant().test.act(&resend).refused(404, "not_found");
}

#[test]
fn a_test_notification_says_what_came_of_it() {
    let server = Server::shared();
    let api = server.tenant().test;
    assert_eq!(api.act("/v1/notifications/test").expect(202)["deliveries"], json!([]));
    let (good, bad) = (Receiver::good(), Receiver::start(|_| Manner::Status(503)));
    let first = listen(&api, &good.url(), &["payment.failed"]);
    let second = listen(&api, &bad.url(), &["payment.completed"]);
    let off = listen(&api, &good.url(), &["payment.completed"]);
    api.patch(&path(&off), &json!({ "status": "disabled" })).expect(200);
    let body = api.post("/v1/notifications/test", &json!({})).expect(202);
    assert_id(&body["eventId"]);
    let deliveries = list(&body, "deliveries");
    assert_eq!(
        deliveries[0],
        json!({ "webhookId": first["id"], "status": "delivered", "httpStatus": 200, "error": null })
    );
    assert_eq!(
        (&deliveries[1]["webhookId"], &deliveries[1]["status"], &deliveries[1]["httpStatus"]),
        (&second["id"], &json!("failed"), &json!(503))
    );
    assert!(deliveries[1]["error"].is_string() && deliveries.len() == 2);
    let arrived = good.wait_for(1).remove(0);
    assert_eq!(
        (arrived.header("svc-event-id"), arrived.header("svc-event-sequence")),
        (text(&body, "eventId"), "")
    );
    assert_eq!(
        (&arrived.json()["event"], &arrived.json()["data"]["livemode"]),
        (&json!("notification.test"), &json!(false))
    );
    assert_eq!(arrived.json().as_object().map(serde_json::Map::len), Some(3));
    assert_signed(&arrived, text(&first, "secret"));
    assert_eq!(list(&api.get("/v1/events").expect(200), "items").len(), 0, "it is no event");
    api.get(&format!("/v1/events/{}", text(&body, "eventId"))).refused(404, "not_found");
}

#[test]
fn the_live_status_is_told_in_both_worlds() {
    let server = Server::shared();
    let tenant = server.tenant();
    let status = |status: &str| {
        let body = json!({ "status": status, "reason": "a test" });
        server.admin().post(&format!("/admin/tenants/{}/live-status", tenant.id), &body).expect(200);
    };
    let receiver = Receiver::good();
    listen(&tenant.test, &receiver.url(), &["tenant.live_status_changed"]);
    status("active");
    let arrived = receiver.wait_for(1).remove(0);
    let data = json!({ "tenantId": tenant.id, "status": "active", "previousStatus": "inactive", "reason": "a test", "livemode": false });
    assert_eq!(arrived.json()["data"], data);
    // No server listens by https here: the deliveries to the live endpoint fail, and are listed so.
    let live = listen(&tenant.live, "https://127.0.0.1:1/hook", &["tenant.live_status_changed"]);
    status("suspended");
    status("active");
    let all = outcomes(&tenant.live, &live, 2);
    assert!(
        all.iter()
            .all(|delivery| delivery["status"] == "failed"
                && delivery["event"] == "tenant.live_status_changed"),
        "{all:?}"
    );
    assert_eq!(receiver.wait_for(3).len(), 3);
}
