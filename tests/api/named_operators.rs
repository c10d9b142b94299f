//! Operators with names and roles, and the audit of what they did (`docs/contract.md, 20.1, 20.3`).

use crate::harness::check::{list, text};
use crate::harness::client::Api;
use crate::harness::flows::{UNKNOWN, fresh};
use crate::harness::server::{ADMIN_TOKEN, Server};
use pasarela::admin::routes::routes;
use serde_json::{Value, json};

/// The least role first.
const ROLES: [&str; 4] = ["viewer", "support", "treasury", "admin"];

/// A new operator, and a client with the token.
#[track_caller]
pub fn operator(server: &Server, role: &str) -> (Value, Api) {
    let name = fresh(role);
    let body = json!({ "name": name, "email": format!("{name}@example.com"), "role": role });
    let made = server.admin().post("/admin/operators", &body).expect(201);
    let api = server.admin_with(text(&made, "token"));
    (made, api)
}

/// The entries of the audit with these filters, newest first.
#[track_caller]
pub fn audit(server: &Server, filters: &[(&str, &str)]) -> Vec<Value> {
    list(&server.admin().query("/admin/audit", filters).expect(200), "items").to_vec()
}

#[test]
fn operators_come_change_and_go() {
    let server = Server::start();
    let admin = server.admin();
    let (made, ana) = operator(&server, "support");
    let (id, token) = (text(&made, "operatorId"), text(&made, "token"));
    assert!(token.starts_with("op_") && token.len() >= 30, "{token}");
    let path = format!("/admin/operators/{id}");
    let shown = admin.get(&path).expect(200);
    assert_eq!(
        (shown.get("token"), &shown["role"], &shown["status"]),
        (None, &json!("support"), &json!("active"))
    );
    assert_eq!(ana.get("/admin/me").expect(200), shown);
    assert_eq!(
        admin.get("/admin/me").expect(200),
        json!({ "operatorId": "root", "name": "root", "email": null, "role": "admin", "status": "active" })
    );
    assert_eq!(list(&ana.get("/admin/operators").expect(200), "items"), std::slice::from_ref(&shown));

    let again = json!({ "name": "x", "email": text(&made, "email").to_uppercase(), "role": "admin" });
    admin.post("/admin/operators", &again).refused(409, "operator_exists");
    admin
        .post("/admin/operators", &json!({ "name": " ", "email": "a", "role": "root", "x": 1 }))
        .names(&["name", "email", "role", "x"]);
    admin.patch(&path, &json!({ "role": "boss", "status": "gone" })).names(&["role", "status"]);
    for nobody in ["root", UNKNOWN, "x"] {
        admin
            .patch(&format!("/admin/operators/{nobody}"), &json!({ "role": "viewer" }))
            .refused(404, "not_found");
        admin.get(&format!("/admin/operators/{nobody}")).refused(404, "not_found");
    }

    let rotated = admin.act(&format!("{path}/rotate")).expect(201);
    ana.get("/admin/me").refused(401, "unauthorized");
    let ana = server.admin_with(text(&rotated, "token"));
    ana.get("/admin/me").expect(200);
    admin.patch(&path, &json!({ "status": "disabled", "role": "viewer" })).expect(200);
    ana.get("/admin/me").refused(401, "unauthorized");
    let back = admin.patch(&path, &json!({ "status": "active" })).expect(200);
    assert_eq!(
        (&back["role"], &ana.get("/admin/me").expect(200)["role"]),
        (&json!("viewer"), &json!("viewer"))
    );
}

#[test]
fn a_token_is_shown_again_only_to_a_repeat_and_survives_a_crash() {
    let mut server = Server::start();
    let key = fresh("key");
    let body = json!({ "name": "Ana", "email": "ana@example.com", "role": "viewer" });
    let first = server.admin().keyed(&key).post("/admin/operators", &body).expect(201);
    let path = format!("/admin/operators/{}/rotate", text(&first, "operatorId"));
    let second = server.admin().keyed(&key).act(&path).expect(201);
    assert_ne!(first["token"], second["token"], "the same Idempotency-Key on another path");
    server.kill();
    server.restart();
    let again = server.admin().keyed(&key).post("/admin/operators", &body);
    assert_eq!((again.header("idempotent-replayed"), again.json()), (Some("true"), first.clone()));
    assert_eq!(server.admin().keyed(&key).act(&path).expect(201), second);
    server.admin_with(text(&first, "token")).get("/admin/me").refused(401, "unauthorized");
    server.admin_with(text(&second, "token")).get("/admin/me").expect(200);
}

/// Every row of the table against every role: the least role that may is named, before anything of the
/// body or the path is looked at.
#[test]
fn every_route_takes_its_least_role() {
    let server = Server::start();
    let apis: Vec<Api> = ROLES.iter().map(|role| operator(&server, role).1).collect();
    for route in routes() {
        let path: Vec<&str> =
            route.path.split('/').map(|part| if part.starts_with(':') { "nothing" } else { part }).collect();
        let (path, method) = (path.join("/"), route.method.as_str());
        let least = ROLES.iter().position(|role| *role == route.role.name()).expect("a role");
        for (n, api) in apis.iter().enumerate() {
            if n < least {
                let refused = api.request(method, &path).refused(403, "role_missing");
                assert_eq!(refused["role"], route.role.name(), "{method} {path} as {}", ROLES[n]);
            } else if method == "GET" || route.path.contains(':') {
                assert_ne!(api.request(method, &path).status, 403, "{method} {path} as {}", ROLES[n]);
            }
        }
    }
    let nobody = Api::new(&format!("http://127.0.0.1:{}", server.admin_address().1), &[]);
    nobody.post("/admin/tenants", &json!({})).refused(401, "unauthorized");
}

#[test]
fn every_change_leaves_one_entry() {
    let server = Server::start();
    let (boss, api) = operator(&server, "admin");
    let who = json!({ "operatorId": boss["operatorId"], "name": boss["name"] });
    let key = fresh("key");
    let created = api.keyed(&key).post("/admin/tenants", &json!({ "name": "mi tienda" })).expect(201);
    let tenant = text(&created, "tenantId");
    assert_eq!(api.keyed(&key).post("/admin/tenants", &json!({ "name": "mi tienda" })).expect(201), created);
    api.post("/admin/tenants", &json!({})).names(&["name"]);
    let at = |verb: &str| format!("/admin/tenants/{tenant}/{verb}");
    api.patch(&at("settings"), &json!({ "reserveVes": "100.00", "cop": { "enabled": false } })).expect(200);
    api.post(&at("live-status"), &json!({ "status": "active", "reason": "ok" })).expect(200);
    let made = api.post(&at("keys"), &json!({ "mode": "test" })).expect(201);
    let adjustment = json!({ "mode": "test", "currency": "VES", "amount": "12.50", "description": "d", "externalRef": "r-1" });
    let movement = api.post(&at("adjustments"), &adjustment).expect(201);
    api.post(&at("adjustments"), &adjustment).expect(200);
    api.post(&at("adjustments"), &json!({ "mode": "test", "currency": "VES", "amount": "13.00", "description": "d", "externalRef": "r-1" })).refused(409, "external_ref_conflict");
    api.delete(&format!("/admin/keys/{}", text(&made, "keyId"))).expect(200);
    api.post(
        "/admin/rates",
        &json!({ "pair": "USDT/VES", "source": "p2p", "side": "BUY", "price": "250.5" }),
    )
    .expect(201);
    api.patch("/admin/banks/0102", &json!({ "hidden": true })).expect(200);

    let entries = audit(&server, &[("operatorId", text(&boss, "operatorId"))]);
    let actions: Vec<&str> = entries.iter().rev().map(|entry| text(entry, "action")).collect();
    assert_eq!(
        actions,
        [
            "tenant.create",
            "tenant.settings",
            "tenant.live-status",
            "key.create",
            "adjustment.create",
            "key.revoke",
            "rate.add",
            "bank.update"
        ]
    );
    for entry in &entries {
        assert_eq!(
            (&entry["operator"], &entry["peer"], &entry["approvalId"]),
            (&who, &json!("127.0.0.1"), &Value::Null),
            "{entry}"
        );
        assert!(entry["requestId"].is_string() && entry["at"].is_string(), "{entry}");
    }
    let of = |action: &str| entries.iter().find(|entry| entry["action"] == action).expect(action);
    assert_eq!(
        (&of("tenant.create")["target"], &of("tenant.create")["before"]),
        (&created["tenantId"], &Value::Null)
    );
    assert_eq!(of("tenant.create")["after"]["name"], "mi tienda");
    let settings = of("tenant.settings");
    assert_eq!(settings["before"], json!({ "reserveVes": "0.00", "cop": { "enabled": true } }));
    assert_eq!(settings["after"], json!({ "reserveVes": "100.00", "cop": { "enabled": false } }));
    assert_eq!((&settings["tenantId"], &settings["target"]), (&created["tenantId"], &created["tenantId"]));
    assert_eq!(
        of("tenant.live-status")["after"],
        json!({ "liveStatus": "active", "liveStatusReason": "ok" })
    );
    assert_eq!(of("key.create")["target"], made["keyId"]);
    assert_eq!(
        (&of("adjustment.create")["target"], &of("adjustment.create")["after"]["amountVes"]),
        (&movement["id"], &json!("12.50"))
    );
    assert_eq!(of("key.revoke")["before"], json!({ "revokedAt": null }));
    assert_eq!(
        (&of("key.revoke")["tenantId"], &of("rate.add")["tenantId"]),
        (&created["tenantId"], &Value::Null)
    );
    assert_eq!(
        (&of("bank.update")["target"], &of("bank.update")["after"]),
        (&json!("0102"), &json!({ "hidden": true }))
    );

    // No secret is in the audit, and none in the log of the server.
    let all = server.admin().get("/admin/audit?limit=100").text().to_owned();
    let secrets = [
        &created["testKey"]["key"],
        &created["liveKey"]["key"],
        &made["key"],
        &boss["token"],
        &json!(ADMIN_TOKEN),
    ];
    for secret in secrets {
        let secret = secret.as_str().expect("a secret");
        assert!(!all.contains(secret) && !all.contains(&secret[8..]), "{secret}");
        assert!(!server.log_tail().contains(secret), "{secret}");
    }
}

#[test]
fn the_audit_is_filtered_paged_and_durable() {
    let mut server = Server::start();
    let (boss, api) = operator(&server, "admin");
    let tenants: Vec<String> = (0..5)
        .map(|n| {
            text(&api.post("/admin/tenants", &json!({ "name": format!("t{n}") })).expect(201), "tenantId")
                .to_owned()
        })
        .collect();
    server.kill();
    server.restart();
    let id = text(&boss, "operatorId");
    let of = |filters: &[(&str, &str)]| {
        audit(&server, filters).iter().map(|entry| text(entry, "target").to_owned()).collect::<Vec<_>>()
    };
    let newest_first: Vec<String> = tenants.iter().rev().cloned().collect();
    assert_eq!(of(&[("operatorId", id)]), newest_first);
    assert_eq!(of(&[("tenantId", &tenants[2])]), [tenants[2].clone()]);
    assert_eq!(of(&[("tenantId", &tenants[2]), ("operatorId", "root")]), [] as [String; 0]);
    assert_eq!(of(&[("operatorId", "root"), ("action", "operator.create")]), [id]);
    assert_eq!(of(&[("action", "tenant.create")]), newest_first);
    let all = audit(&server, &[("operatorId", id)]);
    let (third, second) = (text(&all[2], "at"), text(&all[1], "at"));
    assert!(third <= second, "newest first");
    assert_eq!(
        of(&[("operatorId", id), ("from", second)]).len(),
        all.iter().filter(|entry| text(entry, "at") >= second).count()
    );
    assert_eq!(
        of(&[("operatorId", id), ("to", second)]).len(),
        all.iter().filter(|entry| text(entry, "at") < second).count()
    );
    let first = server.admin().get(&format!("/admin/audit?operatorId={id}&limit=2")).expect(200);
    let next = format!("/admin/audit?operatorId={id}&limit=2&cursor={}", text(&first, "nextCursor"));
    let page = server.admin().get(&next).expect(200);
    assert_eq!(list(&page, "items"), &all[2..4]);
    server.admin().get("/admin/audit?operatorId=x&tenantId=x&from=x&zz=1").names(&[
        "operatorId",
        "tenantId",
        "from",
        "zz",
    ]);
}

#[test]
fn people_are_masked_but_for_who_asks_for_one() {
    let server = Server::start();
    let tenant = server.tenant();
    let (paid, merchant) = (tenant.test.pay(10), tenant.test.merchant());
    let apis: Vec<Api> = ROLES.iter().map(|role| operator(&server, role).1).collect();
    let payment = format!("/admin/payments/{}", text(&paid, "paymentId"));
    let seller = format!("/admin/merchants/{}", text(&merchant, "merchantId"));
    for api in &apis {
        let shown = api.get(&payment).expect(200);
        assert_eq!(
            (&shown["debtorId"], &shown["debtorCellPhone"]),
            (&paid["debtorId"], &paid["debtorCellPhone"])
        );
        assert_eq!((&shown["tenantId"], &shown["mode"]), (&json!(tenant.id), &json!("test")));
        let shown = api.get(&seller).expect(200);
        for member in ["identification", "contactPhone", "contactEmail"] {
            let (masked, clear) = (text(&shown, member), text(&merchant, member));
            assert!(masked.contains("***") && masked != clear, "{member}: {masked}");
        }
        assert!(text(&shown["payoutMethods"][0], "phone").contains("***"));
    }
    assert!(
        audit(&server, &[("tenantId", &tenant.id)]).iter().all(|entry| entry["action"] != "payment.unmask")
    );
    for path in [&payment, &seller] {
        let refused = apis[0].get(&format!("{path}?unmask=true")).refused(403, "role_missing");
        assert_eq!(refused["role"], "support");
    }
    apis[0].get("/admin/payments/x?unmask=true").refused(403, "role_missing");
    apis[1].get(&format!("{payment}?unmask=perhaps&x=1")).names(&["unmask", "x"]);
    apis[1].get(&format!("/admin/payments/{UNKNOWN}?unmask=true")).refused(404, "not_found");
    let clear = apis[1].get(&format!("{payment}?unmask=true")).expect(200);
    assert_eq!((&clear["debtorId"], &clear["debtorCellPhone"]), (&json!("V12345678"), &json!("04141234567")));
    let clear = apis[1].get(&format!("{seller}?unmask=true")).expect(200);
    assert_eq!(clear["identification"], merchant["identification"]);
    let looks = audit(&server, &[("tenantId", &tenant.id)]);
    let of = |action: &str| looks.iter().filter(|entry| entry["action"] == action).collect::<Vec<_>>();
    assert_eq!((of("payment.unmask").len(), of("merchant.unmask").len()), (1, 1), "{looks:?}");
    let look = of("payment.unmask")[0];
    assert_eq!(
        (&look["target"], &look["before"], &look["after"]),
        (&paid["paymentId"], &Value::Null, &Value::Null)
    );
    assert!(!server.admin().get("/admin/audit?limit=100").text().contains("12345678"));
}

#[test]
fn support_cancels_payments_and_sends_events_again() {
    let server = Server::start();
    let tenant = server.tenant();
    let (made, support) = operator(&server, "support");
    let intent = tenant.test.intent(10);
    let path = format!("/admin/payments/{}/cancel", text(&intent, "intentId"));
    let canceled = support.post(&path, &json!({})).expect(200);
    assert_eq!(canceled["status"], "CANCELED");
    support.post(&path, &json!({})).refused(409, "payment_not_pending");
    let paid = tenant.test.pay(10);
    support
        .act(&format!("/admin/payments/{}/cancel", text(&paid, "paymentId")))
        .refused(409, "payment_not_pending");
    support.act(&format!("/admin/payments/{UNKNOWN}/cancel")).refused(404, "not_found");

    // In pesos the processor has a say.
    let pesos = tenant.test.cop(50_000, "qr");
    let path = format!("/admin/payments/{}/cancel", text(&pesos, "id"));
    assert_eq!(support.act(&path).expect(200)["status"], "canceled");
    support.act(&path).refused(409, "payment_not_pending");

    let events = tenant.test.get("/v1/events").expect(200);
    let event = text(&list(&events, "items")[0], "id").to_owned();
    let path = format!("/admin/events/{event}/resend");
    assert_eq!(
        support.post(&path, &json!({})).expect(202),
        tenant.test.act(&format!("/v1/events/{event}/resend")).expect(202)
    );
    support.act(&format!("/admin/events/{UNKNOWN}/resend")).refused(404, "not_found");
    let entries = audit(&server, &[("tenantId", &tenant.id)]);
    let actions: Vec<&str> = entries.iter().rev().map(|entry| text(entry, "action")).collect();
    assert_eq!(actions, ["tenant.create", "payment.cancel", "payment.cancel", "event.resend"]);
    for (cancel, target) in [(&entries[2], &intent["intentId"]), (&entries[1], &pesos["id"])] {
        assert_eq!((&cancel["target"], &cancel["operator"]["operatorId"]), (target, &made["operatorId"]));
        assert_eq!(
            (&cancel["before"]["status"], &cancel["after"]["status"]),
            (&json!("PENDING"), &json!("CANCELED")),
            "{cancel}"
        );
    }
}
