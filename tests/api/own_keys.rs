//! Keys that an account makes and rules over by itself (`docs/contract.md, 3.3`).

use crate::harness::check::{list, stamp, text};
use crate::harness::client::Api;
use crate::harness::flows::{UNKNOWN, fresh, merchant_body};
use crate::harness::server::{Server, Tenant};
use chrono::{TimeDelta, Utc};
use serde_json::{Value, json};

const KEYS: &str = "/v1/keys";

fn path(key: &Value) -> String {
    format!("{KEYS}/{}", text(key, "keyId"))
}

fn made(server: &Server, by: &Api, body: Value) -> (Value, Api) {
    let made = by.post(KEYS, &body).expect(201);
    let api = server.api(text(&made, "key"));
    (made, api)
}

fn of_operator(server: &Server, tenant: &Tenant, body: Value) -> Api {
    let made = server.admin().post(&format!("/admin/tenants/{}/keys", tenant.id), &body).expect(201);
    server.api(text(&made, "key"))
}

#[test]
fn a_key_makes_keys_of_what_it_has() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    let expires = stamp(Utc::now() + TimeDelta::hours(1));
    let (key, reader) =
        made(&server, api, json!({ "name": " Reports ", "scopes": ["read"], "expiresAt": expires }));
    assert_eq!(
        (&key["name"], &key["mode"], &key["scopes"], &key["expiresAt"], &key["mandate"]),
        (&json!("Reports"), &json!("test"), &json!(["read"]), &json!(expires), &Value::Null)
    );
    assert!(text(&key, "key").starts_with("pk_test_"), "{key}");
    reader.get("/v1/balance").expect(200);
    reader.post("/v1/merchants", &merchant_body()).refused(403, "scope_missing");
    let (usual, _) = made(&server, api, json!({}));
    assert_eq!(usual["scopes"], json!(["read", "collect", "payout", "convert", "manage"]), "all but keys");
    let (_, maker) = made(&server, api, json!({ "scopes": ["keys", "payout"] }));
    let (of_maker, _) = made(&server, &maker, json!({}));
    assert_eq!(of_maker["scopes"], json!(["payout"]), "the maker's without keys");
    let refused = maker.post(KEYS, &json!({ "scopes": ["payout", "collect"] })).refused(403, "scope_missing");
    assert_eq!(refused["scope"], "collect");
    let (_, bare) = made(&server, api, json!({ "scopes": ["keys"] }));
    bare.post(KEYS, &json!({})).names(&["scopes"]);
    let bad = json!({ "name": "", "scopes": ["all"], "expiresAt": "2020-01-01T00:00:00Z", "mode": "live" });
    api.post(KEYS, &bad).names(&["name", "scopes[0]", "expiresAt", "mode"]);
    for none in [of_operator(&server, &tenant, json!({ "mode": "test" })), reader] {
        none.post(KEYS, &json!({})).refused(403, "scope_missing");
        none.get(KEYS).refused(403, "scope_missing");
    }
}

#[test]
fn every_key_reads_itself_and_those_with_the_scope_all_of_their_mode() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    let (key, reader) = made(&server, api, json!({ "name": "till", "scopes": ["read"] }));
    let (other, _) = made(&server, api, json!({}));
    let own = reader.get(&path(&key)).expect(200);
    assert_eq!((&own["keyId"], &own["name"], own.get("key")), (&key["keyId"], &json!("till"), None));
    assert!(own["lastUsedAt"].is_string() && own["revokedAt"].is_null() && own["replaces"].is_null());
    reader.get(&path(&other)).refused(403, "scope_missing");
    reader.get(&format!("{KEYS}/{UNKNOWN}")).refused(403, "scope_missing");
    let listed = api.get(KEYS).expect(200);
    let names: Vec<&str> = list(&listed, "items").iter().map(|key| text(key, "keyId")).collect();
    let first = text(&tenant.created["testKey"], "keyId");
    assert_eq!(names, [text(&other, "keyId"), text(&key, "keyId"), first], "newest first, no live one");
    let of_operator = server.admin().get(&format!("/admin/tenants/{}/keys", tenant.id)).expect(200);
    let same = list(&of_operator, "items").iter().find(|one| one["keyId"] == key["keyId"]).expect("listed");
    assert_eq!(same, &api.get(&path(&key)).expect(200), "operators see the same");
    let live = text(&tenant.created["liveKey"], "keyId");
    api.get(&format!("{KEYS}/{live}")).refused(404, "not_found");
    let strangers = server.tenant();
    for (method, body) in [("GET", Value::Null), ("PATCH", json!({ "name": "x" })), ("DELETE", Value::Null)] {
        let answer = match method {
            "PATCH" => strangers.test.patch(&path(&key), &body),
            _ => strangers.test.request(method, &path(&key)),
        };
        answer.refused(404, "not_found");
    }
}

#[test]
fn a_key_is_changed_and_revoked_by_its_account() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    let (key, other) = made(&server, api, json!({ "name": "till", "scopes": ["read", "manage"] }));
    let changed = api.patch(&path(&key), &json!({ "name": "shop", "scopes": ["read"] })).expect(200);
    assert_eq!((&changed["name"], &changed["scopes"]), (&json!("shop"), &json!(["read"])));
    other.post("/v1/merchants", &merchant_body()).refused(403, "scope_missing");
    let soon = stamp(Utc::now() + TimeDelta::hours(1));
    let changed = api.patch(&path(&key), &json!({ "name": null, "expiresAt": soon })).expect(200);
    assert_eq!((&changed["name"], &changed["expiresAt"]), (&Value::Null, &json!(soon)));
    assert_eq!(api.patch(&path(&key), &json!({ "expiresAt": null })).expect(200)["expiresAt"], Value::Null);
    api.patch(&path(&key), &json!({})).names(&["body"]);
    api.patch(&path(&key), &json!({ "mode": "live" })).names(&["mode"]);
    other.patch(&path(&key), &json!({ "name": "mine" })).refused(403, "scope_missing");
    other.delete(&path(&key)).refused(403, "scope_missing");
    let (keeper, maker) = made(&server, api, json!({ "scopes": ["keys", "read"] }));
    let gains = maker.patch(&path(&keeper), &json!({ "scopes": ["keys", "payout"] }));
    assert_eq!(gains.refused(403, "scope_missing")["scope"], "payout");

    let revoked = maker.delete(&path(&key)).expect(200);
    assert!(revoked["revokedAt"].is_string() && list(&revoked, "successors").is_empty(), "{revoked}");
    other.get("/v1/balance").refused(401, "unauthorized");
    assert_eq!(api.delete(&path(&key)).expect(200)["revokedAt"], revoked["revokedAt"], "once");
    api.patch(&path(&key), &json!({ "name": "again" })).refused(404, "not_found");
    maker.delete(&path(&keeper)).expect(200);
    maker.get(KEYS).refused(401, "unauthorized");

    let audit = server.admin().get(&format!("/admin/audit?tenantId={}&limit=100", tenant.id)).expect(200);
    let acts: Vec<&str> = list(&audit, "items").iter().map(|entry| text(entry, "action")).collect();
    for act in ["key.create", "key.update", "key.revoke"] {
        assert!(acts.contains(&act), "{acts:?}");
    }
    let update = list(&audit, "items").iter().rfind(|entry| entry["action"] == "key.update").expect("one");
    assert_eq!(
        (&update["before"], &update["after"]),
        (
            &json!({ "name": "till", "scopes": ["read", "manage"] }),
            &json!({ "name": "shop", "scopes": ["read"] })
        )
    );
    assert_eq!((&update["target"], &update["tenantId"]), (&key["keyId"], &json!(tenant.id)));
}

#[test]
fn a_key_lets_none_live_longer_than_itself() {
    let server = Server::shared();
    let tenant = server.tenant();
    let owner = &tenant.test;
    let hours = |hours: i64| stamp(Utc::now() + TimeDelta::hours(hours));
    let (end, sooner, later) = (hours(2), hours(1), hours(3));
    let (own, maker) =
        made(&server, owner, json!({ "expiresAt": end, "scopes": ["keys", "read", "payout"] }));
    let (usual, _) = made(&server, &maker, json!({}));
    assert_eq!(usual["expiresAt"], json!(end), "with its maker, if nobody says when");
    let (short, _) = made(&server, &maker, json!({ "expiresAt": sooner }));
    assert_eq!(short["expiresAt"], json!(sooner));
    maker.post(KEYS, &json!({ "expiresAt": later })).names(&["expiresAt"]);
    let (lasting, _) = made(&server, owner, json!({ "scopes": ["payout"] }));
    let mandate = json!({ "perDay": { "VES": "1.00" } });
    for (what, key, change) in [
        ("a later end", &short, json!({ "expiresAt": later })),
        ("none", &short, json!({ "expiresAt": null })),
        ("its own", &own, json!({ "expiresAt": later })),
        ("limits of one that lasts", &lasting, json!({ "mandate": mandate })),
        ("scopes of one that lasts", &lasting, json!({ "scopes": ["read"] })),
    ] {
        let answer = maker.patch(&path(key), &change);
        assert_eq!(answer.status, 400, "{what}: {}", answer.text());
        answer.names(&["expiresAt"]);
    }
    maker.patch(&path(&short), &json!({ "expiresAt": end, "mandate": mandate })).expect(200);
    maker.patch(&path(&lasting), &json!({ "name": "till" })).expect(200);
    maker.patch(&path(&lasting), &json!({ "mandate": mandate, "expiresAt": sooner })).expect(200);
    let (unbound, _) = made(&server, owner, json!({ "expiresAt": later }));
    assert_eq!(unbound["expiresAt"], json!(later), "who has no end gives any");
    maker.delete(&path(&unbound)).expect(200);
}

#[test]
fn the_audit_names_the_key_that_acted() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (own, maker) = made(&server, &tenant.test, json!({ "scopes": ["keys", "read"] }));
    let (key, _) = made(&server, &maker, json!({ "name": "till" }));
    maker.patch(&path(&key), &json!({ "name": "shop" })).expect(200);
    maker.delete(&path(&key)).expect(200);
    let of_operator = format!("/admin/keys/{}", text(&own, "keyId"));
    server.admin().patch(&of_operator, &json!({ "name": "office" })).expect(200);
    let audit = server.admin().get(&format!("/admin/audit?tenantId={}&limit=100", tenant.id)).expect(200);
    let first = &tenant.created["testKey"]["keyId"];
    let by = |target: &Value, action: &str| {
        let is_meant = |entry: &&Value| entry["target"] == *target && entry["action"] == action;
        let found: Vec<Value> =
            list(&audit, "items").iter().filter(is_meant).map(|entry| entry["keyId"].clone()).collect();
        assert_eq!(found.len(), 1, "{action}: {audit}");
        found[0].clone()
    };
    for action in ["key.create", "key.update", "key.revoke"] {
        assert_eq!(by(&key["keyId"], action), own["keyId"], "{action}");
    }
    assert_eq!(by(&own["keyId"], "key.create"), *first);
    assert_eq!(by(&own["keyId"], "key.update"), Value::Null, "an operator did it");
}

#[test]
fn a_repeat_is_that_of_the_key_that_made_the_call() {
    let server = Server::shared();
    let owner = server.tenant().test;
    let (_, other) = made(&server, &owner, json!({ "scopes": ["keys", "read"] }));
    let (sent, body) = (fresh("keys"), json!({ "name": "till", "scopes": ["read"] }));
    let first = owner.keyed(&sent).post(KEYS, &body).expect(201);
    let answer = other.keyed(&sent).post(KEYS, &body);
    let refused = answer.refused(422, "idempotency_key_reused");
    assert!(!refused.to_string().contains(text(&first, "key")), "{refused}");
    assert_eq!(owner.keyed(&sent).post(KEYS, &body).expect(201), first);
    let done = other.get(&format!("/v1/idempotency/{sent}")).expect(200);
    assert!(done["response"].get("key").is_none(), "{done}");
}

#[test]
fn operators_name_and_change_keys() {
    let server = Server::shared();
    let tenant = server.tenant();
    let admin = server.admin();
    let path = format!("/admin/tenants/{}/keys", tenant.id);
    let key = admin.post(&path, &json!({ "mode": "live", "name": "till" })).expect(201);
    assert_eq!(key["scopes"], json!(["read", "collect", "payout", "convert", "manage"]));
    let path = format!("/admin/keys/{}", text(&key, "keyId"));
    let changed = admin.patch(&path, &json!({ "name": "shop", "scopes": ["keys"] })).expect(200);
    assert_eq!((&changed["name"], &changed["scopes"]), (&json!("shop"), &json!(["keys"])));
    assert_eq!(
        admin.with("dry-run", "true").patch(&path, &json!({ "name": "x" })).expect(200)["status"],
        200
    );
    let listed = admin.get(&format!("/admin/tenants/{}/keys", tenant.id)).expect(200);
    assert_eq!(list(&listed, "items")[0]["name"], "shop");
    admin.patch(&format!("/admin/keys/{UNKNOWN}"), &json!({ "name": "x" })).refused(404, "not_found");
}

#[test]
fn a_repeat_under_an_idempotency_key_shows_the_key_again_and_a_dry_run_makes_none() {
    let server = Server::shared();
    let api = server.tenant().test;
    let (sent, body) = (fresh("keys"), json!({ "name": "till" }));
    let once = api.with("idempotency-key", &sent);
    let first = once.post(KEYS, &body).expect(201);
    let again = once.post(KEYS, &body);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(201), first);
    once.post(KEYS, &json!({ "name": "other" })).refused(422, "idempotency_key_reused");
    let done = api.get(&format!("/v1/idempotency/{sent}")).expect(200);
    assert_eq!((&done["state"], &done["key"], &done["path"]), (&json!("done"), &json!(sent), &json!(KEYS)));
    assert!(done["response"].get("key").is_none(), "who has the header alone does not get the key: {done}");

    let before = api.get(KEYS).expect(200);
    let dry = api.with("dry-run", "true");
    let rehearsed = dry.post(KEYS, &json!({ "name": "never" })).expect(200);
    assert_eq!((&rehearsed["status"], &rehearsed["body"]["name"]), (&json!(201), &json!("never")));
    server.api(text(&rehearsed["body"], "key")).get("/v1/balance").refused(401, "unauthorized");
    assert_eq!(dry.patch(&path(&first), &json!({ "name": "never" })).expect(200)["body"]["name"], "never");
    assert!(dry.delete(&path(&first)).expect(200)["body"]["revokedAt"].is_string());
    let ids = |keys: &Value| -> Vec<(Value, Value, Value)> {
        let of = |key: &Value| (key["keyId"].clone(), key["name"].clone(), key["revokedAt"].clone());
        list(keys, "items").iter().map(of).collect()
    };
    assert_eq!(ids(&api.get(KEYS).expect(200)), ids(&before), "nothing is left of it");
}

#[test]
fn keys_of_ones_own_survive_a_crash() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let (gone, dead) = made(&server, &tenant.test, json!({ "name": "gone" }));
    let (key, kept) = made(&server, &tenant.test, json!({ "name": "till", "scopes": ["read"] }));
    tenant.test.delete(&path(&gone)).expect(200);
    tenant.test.patch(&path(&key), &json!({ "name": "shop" })).expect(200);
    server.kill();
    server.restart();
    assert_eq!(kept.get(&path(&key)).expect(200)["name"], "shop");
    dead.get("/v1/balance").refused(401, "unauthorized");
    let listed = tenant.test.get(KEYS).expect(200);
    let names: Vec<&Value> = list(&listed, "items").iter().map(|key| &key["name"]).collect();
    assert_eq!(names, [&json!("shop"), &json!("gone"), &Value::Null]);
}
