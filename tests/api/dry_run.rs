//! Calls that are only rehearsed (`docs/contract.md, 1.17`): what they show is what the same call then does, and
//! nothing is left of them.

use crate::harness::check::{list, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{fresh, merged, payer, payout_body, vpos_body};
use crate::harness::pesos::{cop_body, cop_payout_body};
use crate::harness::receiver::Receiver;
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};

const WALLET: &str = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const MEMBERS: [&str; 8] = ["dryRun", "status", "body", "movements", "balance", "holds", "events", "orders"];

fn send(api: &Api, method: &str, path: &str, body: &Value) -> Answer {
    match method {
        "POST" => api.post(path, body),
        "PATCH" => api.patch(path, body),
        "PUT" => api.put(path, body),
        _ => api.request(method, path),
    }
}

fn dry(api: &Api) -> Api {
    api.with("dry-run", "true")
}

/// Without what differs from one time to the next: ids, instants, secrets, references of banks.
fn plain(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(members) => {
            let shown = members
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "requestId" | "age" | "ageSeconds"));
            Value::Object(shown.map(|(name, value)| (name.clone(), plain(value))).collect())
        }
        Value::String(text) => {
            let is_digits =
                |length: usize| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
            let is_instant = text.len() == 24 && text.ends_with('Z') && text.as_bytes()[10] == b'T';
            let is_secret = ["pk_", "whsec_", "op_", "cs_"].iter().any(|stem| text.starts_with(stem));
            let is_hash = text.len() >= 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            let has_id = text.split(['/', ' ', '?', '=']).any(|part| uuid::Uuid::parse_str(part).is_ok());
            let is_any = is_digits(8) || is_instant || is_secret || is_hash || has_id;
            if is_any || text.starts_with('T') && text.len() == 34 { json!("any") } else { value.clone() }
        }
        other => other.clone(),
    }
}

fn seq(server: &Server) -> Value {
    server.admin().get("/admin/status").expect(200)["walSeq"].clone()
}

#[track_caller]
fn rehearsed(server: &Server, api: &Api, method: &str, path: &str, body: &Value) -> Value {
    let before = seq(server);
    let answer = send(&dry(api), method, path, body);
    let shown = answer.expect(200);
    assert_eq!(seq(server), before, "{method} {path} wrote something: {shown}");
    let members: Vec<&str> = shown.as_object().expect("an object").keys().map(String::as_str).collect();
    assert!(
        MEMBERS.iter().all(|member| members.contains(member)) && members.len() == MEMBERS.len(),
        "{shown}"
    );
    assert_eq!(answer.header("wal-seq"), None, "{method} {path}");
    shown
}

const BALANCES: [&str; 3] = ["/v1/balance", "/v1/cop/balance", "/v1/crypto/balance"];

fn all_movements(api: &Api) -> Vec<Value> {
    BALANCES.iter().flat_map(|of| api.walk(&format!("{of}/transactions"), &[], 100)).collect()
}

fn events_after(api: &Api, sequence: u64) -> Vec<Value> {
    api.walk("/v1/events", &[("after", &sequence.to_string())], 100)
}

fn last_event(api: &Api) -> u64 {
    events_after(api, 0).last().and_then(|event| event["sequence"].as_u64()).unwrap_or(0)
}

/// Rehearses a call, makes it, and holds one against the other.
#[track_caller]
fn both(server: &Server, tenant: &Tenant, method: &str, path: &str, body: &Value) -> (Value, Value) {
    let api = &tenant.test;
    let shown = rehearsed(server, api, method, path, body);
    let (known, events) = (all_movements(api), last_event(api));
    let made = send(api, method, path, body);
    let told = format!("{method} {path}\nrehearsed: {shown}\nmade: {} {}", made.status, made.text());
    assert_eq!(shown["status"], made.status, "{told}");
    let answer = if made.body.is_empty() { Value::Null } else { made.json() };
    assert_eq!(plain(&shown["body"]), plain(&answer), "{told}");
    let moved: Vec<Value> = all_movements(api).into_iter().filter(|one| !known.contains(one)).collect();
    let of_tenant = list(&shown, "movements").iter().filter(|one| one.get("merchantId").is_none());
    let mut of_tenant: Vec<String> = of_tenant.map(|one| plain(one).to_string()).collect();
    let mut moved: Vec<String> = moved.iter().map(|one| plain(one).to_string()).collect();
    of_tenant.sort_unstable();
    moved.sort_unstable();
    assert_eq!(of_tenant, moved, "{told}");
    let happened: Vec<Value> = events_after(api, events);
    let happened: Vec<Value> = happened.iter().map(plain).collect();
    assert_eq!(list(&shown, "events").iter().map(plain).collect::<Vec<_>>(), happened, "{told}");
    let balance = BALANCES.map(|of| plain(&api.get(of).expect(200)));
    let is_sellers = shown["balance"].get("merchantId").is_some();
    assert!(is_sellers || balance.contains(&plain(&shown["balance"])), "{told}\n{balance:?}");
    (shown, answer)
}

#[test]
fn a_payout_is_shown_with_all_that_comes_of_it() {
    let server = Server::start();
    let tenant = server.tenant();
    tenant.test.fund("1000.00");
    let merchant = tenant.test.merchant();
    let body = payout_body(&merchant, "100.00");
    let (shown, made) = both(&server, &tenant, "POST", "/v1/payouts", &body);
    assert_eq!(made["status"], "completed");
    assert_eq!(
        list(&shown, "orders"),
        [json!({ "rail": "simulator", "kind": "payout", "amount": "100.00", "currency": "VES" })]
    );
    let told: Vec<&str> = list(&shown, "events").iter().map(|event| text(event, "event")).collect();
    assert_eq!(told, ["payout.completed"]);
    // What the bank says at first is known too.
    for (monto, status) in [("10.04", 201), ("10.05", 202), ("10.06", 202), ("10.07", 202)] {
        let (shown, _) = both(&server, &tenant, "POST", "/v1/payouts", &payout_body(&merchant, monto));
        assert_eq!((&shown["status"], list(&shown, "orders").len()), (&json!(status), 1), "{shown}");
    }
    // A repeat is shown as one.
    let (again, _) = both(&server, &tenant, "POST", "/v1/payouts", &body);
    assert_eq!((&again["status"], list(&again, "orders").len()), (&json!(200), 0), "{again}");
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}

#[test]
fn a_refusal_is_shown_as_the_call_would_refuse() {
    let server = Server::start();
    let tenant = server.tenant();
    let merchant = tenant.test.merchant();
    let nothing = |shown: &Value| {
        for member in ["movements", "holds", "events", "orders"] {
            assert_eq!(shown[member], json!([]), "{shown}");
        }
        assert_eq!(shown["balance"]["ledgerNetVes"], "0.00", "{shown}");
    };
    let (poor, _) = both(&server, &tenant, "POST", "/v1/payouts", &payout_body(&merchant, "1.00"));
    assert_eq!((&poor["status"], &poor["body"]["error"]), (&json!(422), &json!("insufficient_balance")));
    nothing(&poor);
    let (bad, _) = both(&server, &tenant, "POST", "/v1/payouts", &json!({}));
    assert_eq!((&bad["status"], &bad["body"]["error"]), (&json!(400), &json!("invalid_data")));
    nothing(&bad);
    let path = format!("/v1/products/{}", crate::harness::flows::UNKNOWN);
    let (absent, _) = both(&server, &tenant, "DELETE", &path, &Value::Null);
    assert_eq!((&absent["status"], &absent["body"]["error"]), (&json!(404), &json!("not_found")));
    nothing(&absent);
}

#[test]
fn what_a_row_asks_of_a_request_answers_itself() {
    let server = Server::start();
    let tenant = server.tenant();
    let api = dry(&tenant.test);
    dry(&server.nobody()).post("/v1/test/fund", &json!({})).refused(401, "unauthorized");
    dry(&server.api("pk_test_wrong")).post("/v1/test/fund", &json!({})).refused(401, "unauthorized");
    dry(&tenant.live).post("/v1/payouts", &json!({})).refused(403, "live_mode_not_activated");
    api.post("/v1/no-such-thing", &json!({})).refused(404, "not_found");
    api.delete("/v1/payouts").refused(405, "method_not_allowed");
    api.post_as("/v1/payouts", "text/plain", "{}").refused(415, "unsupported_media_type");
    api.get("/v1/balance").expect(200)["ledgerNetVes"].as_str().expect("the balance itself");
    api.get("/v1/dry-runs").refused(404, "not_found");
    // It says true or false, and neither is taken for the other.
    for bad in ["", "yes", "TRUE", "1", "true,false"] {
        let before = seq(&server);
        let bad = tenant.test.with("dry-run", bad);
        bad.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" })).names(&["Dry-Run"]);
        bad.post("/v1/test/fund", &json!({ "currency": "VES" })).names(&["Dry-Run", "amount"]);
        bad.post_as("/v1/test/fund", "application/json", "{").names(&["Dry-Run"]);
        assert_eq!(seq(&server), before);
        bad.get("/v1/balance").expect(200);
    }
    let real = tenant.test.with("dry-run", "false");
    real.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" })).expect(201);
}

#[test]
fn a_key_is_not_used_up_and_a_used_one_shows_what_was_kept() {
    let server = Server::start();
    let tenant = server.tenant();
    let (api, key) = (&tenant.test, fresh("key"));
    let fund = json!({ "currency": "VES", "amount": "5.00" });
    let first = rehearsed(&server, &api.keyed(&key), "POST", "/v1/test/fund", &fund);
    assert_eq!((&first["status"], list(&first, "movements").len()), (&json!(201), 1));
    api.get(&format!("/v1/idempotency/{key}")).refused(404, "not_found");
    let made = api.keyed(&key).post("/v1/test/fund", &fund).expect(201);
    let again = rehearsed(&server, &api.keyed(&key), "POST", "/v1/test/fund", &fund);
    assert_eq!((&again["status"], &again["body"], &again["movements"]), (&json!(201), &made, &json!([])));
    assert_eq!(again["balance"]["ledgerNetVes"], "5.00");
    let other = json!({ "currency": "VES", "amount": "6.00" });
    let reused = rehearsed(&server, &api.keyed(&key), "POST", "/v1/test/fund", &other);
    assert_eq!(
        (&reused["status"], &reused["body"]["error"]),
        (&json!(422), &json!("idempotency_key_reused"))
    );
}

#[test]
fn every_way_of_money_is_shown_as_it_goes() {
    let server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    let step = |method: &str, path: &str, body: Value| both(&server, &tenant, method, path, &body);
    step("POST", "/v1/test/fund", json!({ "currency": "VES", "amount": "100000.00" }));
    step("POST", "/v1/test/fund", json!({ "currency": "COP", "amount": "1000000" }));
    step("POST", "/v1/test/fund", json!({ "currency": "USDT", "amount": "5000.00", "held": true }));
    api.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "5000.00" })).expect(201);
    let intent = merged(payer(), json!({ "usdAmount": 10, "externalRef": fresh("pay") }));
    let (_, intent) = step("POST", "/v1/payments/c2p/request", intent);
    let execute = crate::harness::flows::execution(&intent, "12345678");
    let (paid, payment) = step("POST", "/v1/payments/c2p", execute);
    assert_eq!((list(&paid, "holds").len(), list(&paid, "orders").len()), (1, 1), "{paid}");
    step("POST", &format!("/v1/payments/{}/reverse", text(&payment, "paymentId")), json!({}));
    step("POST", "/v1/payments/vpos", vpos_body(5, json!({})));
    step("POST", "/v1/payments/vpos", vpos_body(5, json!({ "card": { "number": "4000000000000002" } })));
    let asked = json!({ "debtorId": "V12345678", "debtorCellPhone": "04141234567", "debtorBankCode": 134, "amountVes": "210.00" });
    let (asked, _) = step("POST", "/v1/payments/debit/otp", asked);
    assert_eq!(list(&asked, "orders"), [Value::Null; 0], "a code is no order of money: {asked}");
    let (_, merchant) = step("POST", "/v1/merchants", crate::harness::flows::merchant_body());
    let of = format!("/v1/merchants/{}", text(&merchant, "merchantId"));
    let method =
        format!("{of}/payout-methods/{}", text(&list(&merchant, "payoutMethods")[0], "payoutMethodId"));
    let (started, _) = step("POST", &format!("{method}/verify/start"), json!({}));
    assert_eq!(list(&started, "orders")[0]["kind"], "micro_deposit");
    step("POST", &format!("{method}/verify"), json!({ "amount1": "0.32", "amount2": "0.45" }));
    let items = json!([
        payout_body(&merchant, "2.00"),
        payout_body(&merchant, "3.04"),
        payout_body(&merchant, "4.05")
    ]);
    let (batch, _) =
        step("POST", "/v1/payouts/batch", json!({ "externalRef": fresh("batch"), "items": items }));
    assert_eq!(list(&batch, "orders").len(), 3, "{batch}");
    let (_, quote) = step("POST", "/v1/conversions/quotes", json!({ "sourceAmountVes": "1000.00" }));
    step("POST", "/v1/conversions", json!({ "quoteId": quote["id"], "reference": fresh("conv") }));
    let usdt =
        json!({ "amountUsdt": "5.00", "address": WALLET, "network": "TRC20", "externalRef": fresh("usdt") });
    let (sent, _) = step("POST", "/v1/crypto/payouts", usdt);
    assert_eq!(list(&sent, "orders")[0]["currency"], "USDT", "{sent}");
    let (_, cop) = step("POST", "/v1/cop/payments", cop_body(50_000, "sms"));
    let otp = format!("/v1/cop/payments/{}/otp", text(&cop, "id"));
    let (told, _) = step("POST", &otp, json!({ "otp": "123456" }));
    assert_eq!(list(&told, "orders"), [Value::Null; 0], "{told}");
    step("POST", &format!("/v1/cop/payments/{}/refund", text(&cop, "id")), json!({}));
    step("PATCH", &of, json!({ "isActive": false }));
    step("DELETE", &of, Value::Null);
}

#[test]
fn a_clock_shows_all_that_falls_due() {
    let server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    api.fund("1000.00");
    let merchant = api.merchant();
    api.pay_with(10, "77777777");
    api.intent(1);
    api.payout(&merchant, "10.05", json!({})).expect(202);
    api.payout(&merchant, "10.06", json!({})).expect(202);
    let body = json!({ "advanceSeconds": 3 * 86_400 });
    let (shown, _) = both(&server, &tenant, "POST", "/v1/test/clock", &body);
    let told: Vec<&str> = list(&shown, "events").iter().map(|event| text(event, "event")).collect();
    assert!(
        ["payment.completed", "payment.canceled", "payout.completed", "payout.failed"]
            .iter()
            .all(|name| told.contains(name)),
        "{told:?}"
    );
}

#[test]
fn test_data_can_be_seen_beginning_anew() {
    let server = Server::start();
    let tenant = server.tenant();
    tenant.test.fund("10.00");
    let shown = rehearsed(&server, &tenant.test, "POST", "/v1/test/reset", &json!({}));
    assert_eq!(shown["balance"]["ledgerNetVes"], "0.00", "{shown}");
    assert_eq!(tenant.test.balance()["ledgerNetVes"], "10.00");
    tenant.test.act("/v1/test/reset");
    assert_eq!(tenant.test.balance()["ledgerNetVes"], "0.00");
}

#[test]
fn nobody_outside_hears_of_a_rehearsal() {
    let server = Server::start();
    let tenant = server.tenant();
    let (api, receiver) = (&tenant.test, Receiver::good());
    let hook = json!({ "url": receiver.url(), "events": ["payout.completed"] });
    let shown = rehearsed(&server, api, "POST", "/v1/webhooks", &hook);
    assert_eq!(shown["status"], 201, "{shown}");
    assert_eq!(list(&api.get("/v1/webhooks").expect(200), "items").len(), 0);
    api.post("/v1/webhooks", &hook).expect(201);
    api.fund("100.00");
    let merchant = api.merchant();
    rehearsed(&server, api, "POST", "/v1/payouts", &payout_body(&merchant, "1.00"));
    rehearsed(&server, api, "POST", "/v1/notifications/test", &json!({}));
    assert_eq!(receiver.count(), 0);
    api.payout(&merchant, "1.00", json!({})).expect(201);
    receiver.wait_for(1);
}

#[test]
fn an_operator_sees_what_a_call_would_do_and_leaves_no_trace() {
    let server = Server::start();
    let tenant = server.tenant();
    let admin = server.admin();
    let audit = || admin.walk("/admin/audit", &[], 100).len();
    let before = audit();
    let adjustment = json!({ "mode": "test", "currency": "VES", "amount": "12.50", "description": "d", "externalRef": fresh("a") });
    let path = format!("/admin/tenants/{}/adjustments", tenant.id);
    let shown = rehearsed(&server, &admin, "POST", &path, &adjustment);
    assert_eq!((&shown["status"], list(&shown, "movements").len()), (&json!(201), 1), "{shown}");
    assert_eq!(shown["balance"]["ledgerNetVes"], "12.50");
    let opened = rehearsed(&server, &admin, "POST", "/admin/tenants", &json!({ "name": "Nadie" }));
    assert_eq!((&opened["status"], &opened["balance"]), (&json!(201), &Value::Null), "{opened}");
    server.api(text(&opened["body"]["testKey"], "key")).get("/v1/balance").refused(401, "unauthorized");
    let settings = format!("/admin/tenants/{}/settings", tenant.id);
    let changed = rehearsed(&server, &admin, "PATCH", &settings, &json!({ "reserveVes": "7.00" }));
    assert_eq!(changed["body"]["reserveVes"], "7.00", "{changed}");
    let payout = rehearsed(
        &server,
        &admin,
        "POST",
        &format!("/admin/tenants/{}/cop-payouts", tenant.id),
        &cop_payout_body(40_000),
    );
    assert_eq!(payout["body"]["error"], "insufficient_balance", "{payout}");
    assert_eq!(audit(), before);
    assert_eq!(tenant.test.balance()["reserveVes"], "0.00");
    admin.post(&path, &adjustment).expect(201);
    assert!(audit() > before);
}

#[test]
fn live_calls_end_before_the_bank_answers() {
    let server = Server::start();
    let tenant = server.tenant();
    server
        .admin()
        .post(&format!("/admin/tenants/{}/live-status", tenant.id), &json!({ "status": "active" }))
        .expect(200);
    let body = json!({ "monto": "1.00" });
    let before = seq(&server);
    let shown = dry(&tenant.live).post("/v1/payouts", &body).expect(200);
    assert_eq!(shown["status"], 400, "{shown}");
    assert_eq!(seq(&server), before);
    // Of few tries each costs one, and a rehearsed one would cost none.
    let seen = json!({ "amount1": "0.01", "amount2": "0.02" });
    let refused = dry(&tenant.live).post("/v1/payouts/account/verify", &seen).refused(400, "invalid_data");
    assert_eq!(refused["fields"][0]["field"], "Dry-Run", "{refused}");
}

#[test]
fn a_rehearsed_secret_is_never_the_one_that_is_made() {
    let server = Server::shared();
    let tenant = server.tenant();
    let body = json!({ "url": "https://example.com/hook", "events": ["payment.completed"] });
    let webhook = tenant.test.post("/v1/webhooks", &body).expect(201);
    let path = format!("/v1/webhooks/{}/rotate-secret", text(&webhook, "id"));
    let rotate = |api: &Api| api.post(&path, &json!({ "overlapSeconds": 0 })).expect(200);
    let (first, second) = (rotate(&dry(&tenant.test)), rotate(&dry(&tenant.test)));
    let made = rotate(&tenant.test);
    let secrets = [&first["body"], &second["body"], &made].map(|body| text(body, "secret").to_owned());
    assert!(secrets.iter().all(|secret| secret.starts_with("whsec_")), "{secrets:?}");
    assert_ne!(secrets[0], secrets[1]);
    assert!(!secrets[..2].contains(&secrets[2]));
}
