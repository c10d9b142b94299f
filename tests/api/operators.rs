//! Idempotency-Keys on operators' calls: every POST once, whatever happens in between
//! (`docs/contract.md, 1.13, 3.1`).

use crate::harness::check::{list, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{UNKNOWN, fresh};
use crate::harness::pesos::cop_payout_body;
use crate::harness::server::{Server, Tenant};
use crate::harness::source::{Behaviour, Source};
use serde_json::{Value, json};

/// A call that is sent again.
struct Sent {
    key: String,
    path: String,
    body: Value,
    first: Answer,
}

impl Sent {
    /// Sends a call, and again at once.
    #[track_caller]
    fn twice(server: &Server, path: impl Into<String>, body: Value) -> Sent {
        let (key, path) = (fresh("operator"), path.into());
        let first = server.admin().keyed(&key).post(&path, &body);
        assert!(matches!(first.status, 200 | 201), "{path}: {}", first.text());
        assert_eq!(first.header("idempotent-replayed"), None, "{path}");
        assert!(first.wal_seq() > 0 && first.header("server-timing").is_some(), "{path}");
        let sent = Sent { key, path, body, first };
        sent.again(server);
        sent
    }

    /// Sends the call once more: the first answer comes, and nothing is done; with another body it
    /// is refused, even if that is none.
    #[track_caller]
    fn again(&self, server: &Server) {
        let api = server.admin().keyed(&self.key);
        let again = api.post(&self.path, &self.body);
        assert_eq!((again.status, again.text()), (self.first.status, self.first.text()), "{}", self.path);
        assert_eq!(
            (again.header("idempotent-replayed"), again.wal_seq()),
            (Some("true"), self.first.wal_seq()),
            "{}",
            self.path
        );
        for other in [r#"{"zz":1}"#, "{"] {
            api.post_raw(&self.path, other).refused(422, "idempotency_key_reused");
        }
    }

    fn answer(&self) -> Value {
        self.first.json()
    }
}

/// The numbers of things that calls could have made twice.
fn counts(server: &Server, tenant: &Tenant) -> Vec<usize> {
    let items = |api: &Api, path: &str| list(&api.get(path).expect(200), "items").len();
    vec![
        items(&server.admin(), "/admin/tenants?limit=100"),
        items(&server.admin(), &format!("/admin/tenants/{}/keys", tenant.id)),
        tenant.test.movements().len(),
        items(&tenant.test, "/v1/events?limit=100"),
        items(&tenant.test, "/v1/cop/payouts"),
        items(&tenant.test, "/v1/chargebacks"),
    ]
}

#[test]
fn every_post_is_done_once_also_after_a_crash() {
    let source = Source::start();
    source.set(
        "/banks",
        Behaviour::Says(
            200,
            json!([{ "code": "0199", "name": "Banco Nuevo", "services": ["C2P"], "logoUrl": null }])
                .to_string(),
        ),
    );
    let mut server = Server::start_with(&[("PASARELA__BANKS__FEED_URL", &source.url("/banks"))]);
    let tenant = server.tenant();
    let of_tenant = |verb: &str| format!("/admin/tenants/{}/{verb}", tenant.id);
    let payments = [tenant.test.vpos_pay(10), tenant.test.vpos_pay(10)];
    for (currency, amount) in [("COP", "100000"), ("USDT", "2000.00")] {
        tenant.test.post("/v1/test/fund", &json!({ "currency": currency, "amount": amount })).expect(201);
    }
    let waiting = || {
        let body = json!({ "amountUsdt": "500.01", "address": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "network": "TRC20", "externalRef": fresh("usdt") });
        text(&tenant.test.post("/v1/crypto/payouts", &body).expect(201), "id").to_owned()
    };
    let mut sent = vec![
        Sent::twice(&server, "/admin/tenants", json!({ "name": fresh("tenant") })),
        Sent::twice(&server, of_tenant("live-status"), json!({ "status": "active" })),
        Sent::twice(&server, of_tenant("keys"), json!({ "mode": "test", "scopes": ["read"] })),
        Sent::twice(&server, of_tenant("adjustments"), adjustment("test")),
        Sent::twice(
            &server,
            "/admin/rates",
            json!({ "pair": "USDT/VES", "source": "p2p", "side": "BUY", "price": "250.5" }),
        ),
        Sent::twice(&server, "/admin/snapshot", json!({})),
        Sent::twice(&server, "/admin/backup", json!({ "path": server.data().with_file_name("copy") })),
        Sent::twice(&server, "/admin/banks/refresh", json!({})),
        Sent::twice(&server, format!("/admin/crypto/payouts/{}/approve", waiting()), json!({})),
        Sent::twice(
            &server,
            format!("/admin/crypto/payouts/{}/reject", waiting()),
            json!({ "reason": "unknown" }),
        ),
    ];
    let rotated = sent[2].answer();
    sent.push(Sent::twice(
        &server,
        format!("/admin/keys/{}/rotate", text(&rotated, "keyId")),
        json!({ "overlapSeconds": 0 }),
    ));
    for payment in &payments {
        sent.push(Sent::twice(
            &server,
            of_tenant("chargebacks"),
            json!({ "paymentId": payment["paymentId"], "reason": "fraud" }),
        ));
        let chargeback = text(&sent[sent.len() - 1].answer(), "chargebackId").to_owned();
        sent.push(Sent::twice(
            &server,
            format!("/admin/chargebacks/{chargeback}/close"),
            json!({ "outcome": "won" }),
        ));
    }
    for (verb, body) in
        [("complete", json!({ "reference": "B-1" })), ("fail", json!({ "failureCode": "closed" }))]
    {
        sent.push(Sent::twice(&server, of_tenant("cop-payouts"), cop_payout_body(30_000)));
        let payout = text(&sent[sent.len() - 1].answer(), "id").to_owned();
        sent.push(Sent::twice(&server, format!("/admin/cop-payouts/{payout}/{verb}"), body));
    }
    let before = counts(&server, &tenant);
    let new = server.api(text(&sent[10].answer(), "key"));
    for _ in 0..2 {
        server.kill();
        server.restart();
        sent.iter().for_each(|sent| sent.again(&server));
        assert_eq!(counts(&server, &tenant), before);
        new.get("/v1/balance").expect(200);
        server.api(text(&rotated, "key")).get("/v1/balance").refused(401, "unauthorized");
        server.api(text(&sent[0].answer()["testKey"], "key")).get("/v1/balance").expect(200);
    }
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}

fn adjustment(mode: &str) -> Value {
    json!({ "mode": mode, "currency": "VES", "amount": "12.50", "description": "correction", "externalRef": fresh("adj") })
}

#[test]
fn an_operators_key_is_bound_to_path_and_mode_and_is_no_tenants() {
    let server = Server::shared();
    let (tenant, other) = (server.tenant(), server.tenant());
    let key = fresh("operator");
    let admin = server.admin().keyed(&key);
    let path = |tenant: &Tenant| format!("/admin/tenants/{}/adjustments", tenant.id);
    let mine = tenant
        .test
        .keyed(&key)
        .post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" }))
        .expect(201);
    admin.post(&path(&tenant), &adjustment("test")).expect(201);
    admin.post(&path(&tenant), &adjustment("test")).refused(422, "idempotency_key_reused");
    admin.post(&path(&tenant), &adjustment("live")).expect(201);
    admin.post(&path(&tenant), &adjustment("live")).refused(422, "idempotency_key_reused");
    admin.post(&path(&other), &adjustment("test")).expect(201);
    assert_eq!(tenant.test.movements().len(), 2);
    // The tenant sees its own use, and nothing of the operator's.
    let found = tenant.test.get(&format!("/v1/idempotency/{key}")).expect(200);
    assert_eq!((text(&found, "path"), &found["response"]), ("/v1/test/fund", &mine));
    other.test.get(&format!("/v1/idempotency/{key}")).refused(404, "not_found");
}

#[test]
fn a_no_is_kept_and_what_was_not_decided_is_not() {
    let server = Server::shared();
    let tenant = server.tenant();
    let path = format!("/admin/tenants/{}/adjustments", tenant.id);
    let body = adjustment("test");
    server.admin().post(&path, &body).expect(201);
    let mut other = body.clone();
    other["amount"] = json!("12.51");
    let key = fresh("operator");
    let admin = server.admin().keyed(&key);
    for undecided in ["{", "{}"] {
        assert_eq!(admin.post_raw(&path, undecided).status, 400);
    }
    admin.post(&format!("/admin/tenants/{UNKNOWN}/adjustments"), &other).refused(404, "not_found");
    let refused = admin.post(&path, &other);
    refused.refused(409, "external_ref_conflict");
    assert!(refused.wal_seq() > 0);
    let again = admin.post(&path, &other);
    assert_eq!(
        (again.status, again.text(), again.header("idempotent-replayed")),
        (409, refused.text(), Some("true"))
    );
    // A chargeback is closed by its entity's rule.
    let payment = tenant.test.vpos_pay(10);
    let opened = server.admin().post(
        &format!("/admin/tenants/{}/chargebacks", tenant.id),
        &json!({ "paymentId": payment["paymentId"], "reason": "fraud" }),
    );
    let close = format!("/admin/chargebacks/{}/close", text(&opened.expect(201), "chargebackId"));
    server.admin().post(&close, &json!({ "outcome": "won" })).expect(200);
    let admin = server.admin().keyed(&fresh("operator"));
    let refused = admin.post(&close, &json!({ "outcome": "lost" }));
    refused.refused(409, "chargeback_closed");
    assert!(refused.wal_seq() > 0);
    assert_eq!(admin.post(&close, &json!({ "outcome": "lost" })).header("idempotent-replayed"), Some("true"));
}

#[test]
fn writes_say_where_their_time_went() {
    let server = Server::shared();
    let tenant = server.tenant();
    let settings = server
        .admin()
        .patch(&format!("/admin/tenants/{}/settings", tenant.id), &json!({ "sellerHoldBusinessDays": 1 }));
    let own = tenant
        .test
        .patch("/v1/conversions/settings", &json!({ "autoConvert": { "COP": { "percent": 10 } } }));
    for answer in [settings, own] {
        assert!(answer.status == 200 && answer.wal_seq() > 0, "{}", answer.text());
        let timing = answer.header("server-timing").expect("Server-Timing");
        assert!(
            ["queue;dur=", "apply;dur=", "wal;dur="].iter().all(|part| timing.contains(part)),
            "{timing}"
        );
    }
}

/// The copy has a name that is too long for every file system.
#[test]
fn a_failure_of_the_servers_own_is_in_the_log_with_the_request_and_not_in_the_answer() {
    let server = Server::start();
    let copy = server.data().with_file_name("long".repeat(75));
    let admin = server.admin().with("x-request-id", "too-long");
    let answer = admin.post("/admin/backup", &json!({ "path": copy }));
    answer.refused(500, "backup_failed");
    assert!(!answer.text().contains("longlong"), "{}", answer.text());
    let log = server.log_tail();
    let told: Vec<&str> = log.lines().filter(|line| line.contains("a request failed")).collect();
    assert_eq!(told.len(), 1, "{log}");
    for part in ["\"request_id\":\"too-long\"", "\"status\":500", "backup_failed", "longlong"] {
        assert!(told[0].contains(part), "{part}: {log}");
    }
}

#[test]
fn everything_that_is_bad_about_a_call_is_named_at_once() {
    let server = Server::shared();
    let with_bad_key = server.admin().keyed(&"k".repeat(300));
    let all = ["x", "Idempotency-Key", "name", "zzz"];
    with_bad_key.post("/admin/tenants?x=1", &json!({ "zzz": 1 })).names(&all);
    // Where no body is needed, and where the body is no object.
    with_bad_key.act("/admin/snapshot?x=1").names(&["x", "Idempotency-Key"]);
    with_bad_key.post_raw("/admin/tenants?x=1", "[]").names(&["x", "Idempotency-Key", "body"]);
    with_bad_key.post_raw("/admin/tenants?x=1", "{").refused(400, "invalid_json");
    // Nothing was done, and a good key is free.
    let key = fresh("operator");
    let name = fresh("tenant");
    let admin = server.admin().keyed(&key);
    admin.post("/admin/tenants?x=1", &json!({ "name": name })).names(&["x"]);
    let tenants = server.admin().walk("/admin/tenants", &[], 100);
    assert!(tenants.iter().all(|tenant| tenant["name"] != name));
    admin.post("/admin/tenants", &json!({ "name": name })).expect(201);
}

/// Where a bank did what an operator had said it refused, the operator's code is not the bank's word.
#[test]
fn a_contradiction_shows_the_banks_words_alone() {
    let server = Server::start_with(&[("PASARELA__RAILS__UNRESOLVED_AFTER_SECONDS", "1")]);
    let tenant = server.tenant();
    let payment = tenant.test.pay_with(10, "77777777");
    let path = format!("/admin/operations/{}/resolve", text(&payment, "operationId"));
    let said = json!({ "outcome": "refused", "failureCode": "OURS_1", "note": "by phone" });
    assert_eq!(server.admin().post(&path, &said).expect(200)["failureCode"], "OURS_1");
    tenant.test.advance(3_600);
    let found = server.admin().get("/admin/operations?status=contradicted").expect(200);
    let found = &list(&found, "items")[0];
    assert_eq!((&found["operationId"], &found["bankCode"]), (&payment["operationId"], &Value::Null));
    assert!(found["bankReference"].is_string(), "{found}");
}
