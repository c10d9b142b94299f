//! API keys: who may do what, until when (`docs/contract.md, 3.3, 3.4`).

use crate::harness::check::{list, text};
use crate::harness::client::Api;
use crate::harness::flows::{UNKNOWN, merchant_body};
use crate::harness::server::{Server, Tenant};
use chrono::{TimeDelta, Utc};
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::Duration;

fn create(server: &Server, tenant: &Tenant, body: Value) -> (String, Api) {
    let created = server.admin().post(&format!("/admin/tenants/{}/keys", tenant.id), &body).expect(201);
    (text(&created, "keyId").to_owned(), server.api(text(&created, "key")))
}

#[test]
fn without_a_right_key_nothing_goes() {
    let server = Server::shared();
    let tenant = server.tenant();
    let key = text(&tenant.created["testKey"], "key");
    server.nobody().get("/v1/balance").refused(401, "unauthorized");
    let swapped = key.replace("pk_test_", "pk_live_");
    for wrong in ["", "pk_test_", "wrong", &key[..key.len() - 1], swapped.as_str(), &format!("{key}x")] {
        server.api(wrong).get("/v1/balance").refused(401, "unauthorized");
    }
    server
        .nobody()
        .with("authorization", &format!("Bearer {key}"))
        .get("/v1/balance")
        .refused(401, "unauthorized");
}

#[test]
fn a_key_may_do_what_its_scopes_say() {
    let server = Server::shared();
    let tenant = server.tenant();
    let calls: [(&str, &str, &str, Value); 8] = [
        ("read", "GET", "/v1/balance", Value::Null),
        ("read", "GET", "/v1/payments", Value::Null),
        ("collect", "POST", "/v1/payments/c2p/request", json!({})),
        ("collect", "POST", "/v1/payments/c2p", json!({})),
        ("payout", "POST", "/v1/payouts", json!({})),
        ("payout", "POST", "/v1/payouts/batch", json!({})),
        ("manage", "POST", "/v1/merchants", json!({})),
        ("manage", "POST", "/v1/test/fund", json!({})),
    ];
    for scope in ["read", "collect", "payout", "convert", "manage", "keys"] {
        let (_, api) = create(&server, &tenant, json!({ "mode": "test", "scopes": [scope] }));
        for (needed, method, path, body) in &calls {
            let answer = if *method == "GET" { api.get(path) } else { api.post(path, body) };
            if *needed == scope {
                assert!(matches!(answer.status, 200 | 400), "{scope} {path}: {}", answer.text());
            } else {
                answer.refused(403, "scope_missing");
            }
        }
    }
    let path = format!("/admin/tenants/{}/keys", tenant.id);
    server
        .admin()
        .post(&path, &json!({ "mode": "test", "scopes": ["everything"] }))
        .refused(400, "invalid_data");
    server.admin().post(&path, &json!({ "mode": "both" })).names(&["mode"]);
}

#[test]
fn a_key_ends_at_its_time() {
    let server = Server::shared();
    let tenant = server.tenant();
    let soon = crate::harness::check::stamp(Utc::now() + TimeDelta::milliseconds(1500));
    let (_, api) = create(&server, &tenant, json!({ "mode": "test", "expiresAt": soon }));
    api.get("/v1/balance").expect(200);
    sleep(Duration::from_millis(1800));
    api.get("/v1/balance").refused(401, "unauthorized");
    tenant.test.get("/v1/balance").expect(200);
}

#[test]
fn a_revoked_key_is_dead_at_once() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (id, api) = create(&server, &tenant, json!({ "mode": "test" }));
    api.get("/v1/balance").expect(200);
    server.admin().delete(&format!("/admin/keys/{id}")).expect(200);
    api.get("/v1/balance").refused(401, "unauthorized");
    server.admin().delete(&format!("/admin/keys/{UNKNOWN}")).refused(404, "not_found");
}

#[test]
fn a_rotated_key_works_on_during_the_overlap() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (id, old) = create(&server, &tenant, json!({ "mode": "test", "scopes": ["read"] }));
    let rotated =
        server.admin().post(&format!("/admin/keys/{id}/rotate"), &json!({ "overlapSeconds": 2 })).expect(201);
    let new = server.api(text(&rotated, "key"));
    old.get("/v1/balance").expect(200);
    new.get("/v1/balance").expect(200);
    new.post("/v1/merchants", &merchant_body()).refused(403, "scope_missing");
    sleep(Duration::from_millis(2300));
    old.get("/v1/balance").refused(401, "unauthorized");
    new.get("/v1/balance").expect(200);
    let id = text(&rotated, "keyId");
    let last = server.admin().post(&format!("/admin/keys/{id}/rotate"), &json!({})).expect(201);
    new.get("/v1/balance").refused(401, "unauthorized");
    server.api(text(&last, "key")).get("/v1/balance").expect(200);
}

#[test]
fn a_key_that_has_a_successor_is_not_rotated_again() {
    let server = Server::shared();
    let tenant = server.tenant();
    let expires = crate::harness::check::stamp(Utc::now() + TimeDelta::hours(1));
    let (id, old) = create(&server, &tenant, json!({ "mode": "test", "expiresAt": expires }));
    let path = format!("/admin/keys/{id}/rotate");
    let first = server.admin().post(&path, &json!({ "overlapSeconds": 1 })).expect(201);
    assert_eq!(first["expiresAt"], expires.as_str(), "the old key's own end, not its overlap's: {first}");
    server.admin().post(&path, &json!({ "overlapSeconds": 600 })).refused(409, "key_retiring");
    sleep(Duration::from_millis(1300));
    old.get("/v1/balance").refused(401, "unauthorized");
    server.admin().post(&path, &json!({})).refused(404, "not_found");
    server.api(text(&first, "key")).get("/v1/balance").expect(200);
}

#[test]
fn an_account_has_twenty_keys_of_a_mode_that_work() {
    let server = Server::shared();
    let tenant = server.tenant();
    let path = format!("/admin/tenants/{}/keys", tenant.id);
    let made: Vec<String> =
        (1..20).map(|_| create(&server, &tenant, json!({ "mode": "test", "scopes": ["read"] })).0).collect();
    server.admin().post(&path, &json!({ "mode": "test" })).refused(409, "too_many_keys");
    server.admin().post(&path, &json!({ "mode": "live" })).expect(201);
    let rotate = |id: &str, overlap: u32| {
        server.admin().post(&format!("/admin/keys/{id}/rotate"), &json!({ "overlapSeconds": overlap }))
    };
    rotate(&made[0], 60).refused(409, "too_many_keys");
    rotate(&made[0], 0).expect(201);
    server.admin().delete(&format!("/admin/keys/{}", made[1])).expect(200);
    server.admin().post(&path, &json!({ "mode": "test" })).expect(201);
    server.admin().post(&path, &json!({ "mode": "test" })).refused(409, "too_many_keys");
}

#[test]
fn who_revokes_a_key_sees_what_came_in_its_place_and_can_end_it_too() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (first, _) = create(&server, &tenant, json!({ "mode": "test", "scopes": ["read"] }));
    let rotate = |id: &str| {
        let made =
            server.admin().post(&format!("/admin/keys/{id}/rotate"), &json!({ "overlapSeconds": 600 }));
        let made = made.expect(201);
        (text(&made, "keyId").to_owned(), server.api(text(&made, "key")))
    };
    let (second, second_api) = rotate(&first);
    let (third, third_api) = rotate(&second);
    let path = format!("/admin/keys/{first}");
    let revoked = server.admin().delete(&path).expect(200);
    let names: Vec<&str> = list(&revoked, "successors").iter().map(|key| text(key, "keyId")).collect();
    assert_eq!(names, [second.as_str(), third.as_str()]);
    assert!(revoked["revokedAt"].is_string());
    third_api.get("/v1/balance").expect(200);
    let all = server.admin().delete(&format!("{path}?successors=true")).expect(200);
    assert!(list(&all, "successors").iter().all(|key| key["revokedAt"].is_string()), "{all}");
    for api in [second_api, third_api] {
        api.get("/v1/balance").refused(401, "unauthorized");
    }
    server.admin().delete(&format!("{path}?successors=maybe")).names(&["successors"]);
}

#[test]
fn keys_are_listed_without_their_secret() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (id, _) = create(&server, &tenant, json!({ "mode": "test", "scopes": ["read", "collect"] }));
    let answer = server.admin().get(&format!("/admin/tenants/{}/keys", tenant.id));
    let listed = answer.expect(200);
    let mine = list(&listed, "items").iter().find(|key| key["keyId"] == id.as_str()).expect("it is listed");
    assert_eq!(mine["scopes"], json!(["read", "collect"]));
    assert_eq!(list(&listed, "items").len(), 3);
    for member in ["testKey", "liveKey"] {
        assert!(!answer.text().contains(text(&tenant.created[member], "key")), "a key is shown again");
    }
}

#[test]
fn keys_survive_a_crash() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let (revoked_id, revoked) = create(&server, &tenant, json!({ "mode": "test" }));
    let (_, kept) = create(&server, &tenant, json!({ "mode": "test", "scopes": ["read"] }));
    server.admin().delete(&format!("/admin/keys/{revoked_id}")).expect(200);
    server.kill();
    server.restart();
    tenant.test.get("/v1/balance").expect(200);
    revoked.get("/v1/balance").refused(401, "unauthorized");
    kept.post("/v1/merchants", &merchant_body()).refused(403, "scope_missing");
    for key in ["testKey", "liveKey"] {
        let secret = text(&tenant.created[key], "key").to_owned();
        assert!(!contains(&server, &secret), "a key is on disk in clear");
    }
}

/// True when any file of the data directory contains the text.
fn contains(server: &Server, secret: &str) -> bool {
    let mut folders = vec![server.data()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else if std::fs::read(entry.path())
                .is_ok_and(|bytes| bytes.windows(secret.len()).any(|window| window == secret.as_bytes()))
            {
                return true;
            }
        }
    }
    false
}
