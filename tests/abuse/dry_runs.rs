//! Every row of both tables that writes, asked with `Dry-Run: true`: whatever it would answer, nothing is left
//! of it.

use crate::estate::{Estate, body, execution, of_nothing};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{fresh, merchant_body, merged, payer, payout_body, vpos_body};
use crate::harness::pesos::{cop_body, cop_payout_body};
use crate::harness::server::Server;
use api::routes::routes;
use hyper::Method;
use pasarela::admin;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const WALLET: &str = crate::estate::WALLET;

fn ask(api: &Api, method: &Method, path: &str, body: &Value) -> Answer {
    let api = api.with("dry-run", "true");
    match *method {
        Method::DELETE => api.delete(path),
        Method::PATCH => api.patch(path, body),
        Method::PUT => api.put(path, body),
        _ => api.post(path, body),
    }
}

/// A body with which the call would be made, where its row has no name in it.
fn whole(estate: &Estate, operation: &str) -> Value {
    let merchant = &estate.merchant;
    let credit = json!({ "monto": "1.00", "concepto": "pago", "externalRef": fresh("credit"),
        "bankCode": "0134", "phone": "04141234567", "identification": "V12345678" });
    match operation {
        "requestC2p" => merged(payer(), json!({ "usdAmount": 1, "externalRef": fresh("pay") })),
        "executeC2p" => execution(&estate.intent),
        "registerMerchant" => merchant_body(),
        "createPayout" | "createInstantPayout" => payout_body(merchant, "1.00"),
        "creditPhone" | "creditAccount" | "giveChange" => credit,
        "createPayoutBatch" => {
            json!({ "externalRef": fresh("batch"), "items": [payout_body(merchant, "1.00")] })
        }
        "moveTestClock" => json!({ "advanceSeconds": 86_400 }),
        "fundTestBalance" => json!({ "currency": "VES", "amount": "1.00" }),
        "chargeCard" => vpos_body(1, json!({})),
        "createProduct" => json!({ "name": fresh("p"), "priceUsd": "1.00" }),
        "createConversionQuote" => json!({ "sourceAmountVes": "100.00" }),
        "createConversion" => json!({ "quoteId": estate.quote["id"], "reference": fresh("conv") }),
        "createCryptoPayout" => json!({
            "amountUsdt": "1.00", "address": WALLET, "network": "TRC20", "externalRef": fresh("usdt")
        }),
        "createDepositAddress" => {
            json!({ "network": "TRC20", "asset": "USDT", "customerRef": fresh("buyer") })
        }
        "createCopPayment" => cop_body(50_000, "sms"),
        "createWebhook" => json!({ "url": "https://shop.example.com/other", "events": ["payout.failed"] }),
        "updateConversionSettings" => json!({ "autoCopPercent": 50 }),
        _ => body(operation),
    }
}

fn seq(server: &Server) -> Value {
    server.admin().get("/admin/status").expect(200)["walSeq"].clone()
}

/// All that anybody can read of an account, and of the server.
fn seen(server: &Server, estate: &Estate) -> BTreeMap<String, Value> {
    let api = &estate.tenant.test;
    let plain = |path: &str| !path.contains(':') && !path.contains("statements");
    let rows = routes().into_iter().filter(|row| row.method == Method::GET && plain(row.path));
    // These tell of rates, of the clock, and what they are asked for.
    let rows = rows.filter(|row| {
        !matches!(row.path, "/v1/quote" | "/v1/test/clock" | "/v1/search" | "/v1/payments/pago-movil/account")
    });
    let mut seen: BTreeMap<String, Value> =
        rows.map(|row| (row.path.to_owned(), api.get(row.path).json())).collect();
    let admin = server.admin();
    for path in
        ["/admin/audit", "/admin/tenants", "/admin/operators", "/admin/reconciliations", "/admin/operations"]
    {
        seen.insert(path.to_owned(), admin.get(path).json());
    }
    let keys = format!("/admin/tenants/{}/keys", estate.tenant.id);
    seen.insert(keys.clone(), admin.get(&keys).json());
    for path in [keys.as_str(), "/v1/keys"] {
        let items = seen.get_mut(path).and_then(|keys| keys["items"].as_array_mut());
        items.into_iter().flatten().for_each(|key| key["lastUsedAt"] = Value::Null);
    }
    // Each request has a name of its own.
    seen.values_mut().filter_map(Value::as_object_mut).for_each(|one| _ = one.remove("requestId"));
    // Its deliveries go on meanwhile.
    let hooks = seen.remove("/v1/webhooks").expect("the endpoints");
    let ids = hooks["items"].as_array().expect("a list").iter().map(|hook| hook["id"].clone()).collect();
    seen.insert("/v1/webhooks".to_owned(), ids);
    seen
}

#[test]
fn nothing_is_left_of_any_row_that_was_only_rehearsed() {
    let server = Server::start();
    let estate = Estate::furnished(&server);
    let api = &estate.tenant.test;
    let (before, first) = (seen(&server, &estate), seq(&server));
    let mut statuses = BTreeMap::new();
    for row in routes().into_iter().filter(|row| row.method != Method::GET) {
        let path = if row.path.contains(':') { estate.address(row.path) } else { row.path.to_owned() };
        let (request, key) = (fresh("request"), fresh("key"));
        let api = api.with("x-request-id", &request);
        let keyed = if row.method == Method::POST { api.keyed(&key) } else { api.clone() };
        let answer = ask(&keyed, &row.method, &path, &whole(&estate, row.operation));
        let shown = answer.expect(200);
        assert_eq!(shown["dryRun"], true, "{}: {shown}", row.operation);
        assert!(shown["status"].as_u64().is_some_and(|status| status < 500), "{}: {shown}", row.operation);
        assert_eq!(seq(&server), first, "{} wrote something: {shown}", row.operation);
        api.get(&format!("/v1/idempotency/{key}")).refused(404, "not_found");
        api.get(&format!("/v1/requests/{request}"));
        statuses.insert(row.operation, shown["status"].clone());
    }
    let made = statuses.values().filter(|status| status.as_u64().is_some_and(|status| status < 300)).count();
    assert!(made * 2 > statuses.len(), "most rows are refused, which shows little: {statuses:?}");
    for (path, now) in seen(&server, &estate) {
        assert_eq!(now, before[&path], "{path}");
    }
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}

#[test]
fn nothing_is_left_of_any_call_of_operators_that_was_only_rehearsed() {
    let server = Server::start();
    let estate = Estate::furnished(&server);
    let admin = server.admin();
    let (before, first) = (seen(&server, &estate), seq(&server));
    let tenant = &estate.tenant.id;
    let backup = server.data().with_file_name("rehearsed-backup");
    for row in admin::routes::routes().into_iter().filter(|row| row.method != Method::GET) {
        let path = row.path.replacen("/admin/tenants/:id", &format!("/admin/tenants/{tenant}"), 1);
        let path = of_nothing(&path.replace(":code", "0134"));
        let body = match row.operation {
            "createTenant" => json!({ "name": "Nadie" }),
            "updateSettings" => json!({ "reserveVes": "9.00" }),
            "setLiveStatus" => json!({ "status": "suspended", "reason": "x" }),
            "moveTenant" => json!({ "to": 0 }),
            "createKey" => json!({ "mode": "test", "scopes": ["read"] }),
            "createAdjustment" => json!({
                "mode": "test", "currency": "VES", "amount": "1.00", "description": "d", "externalRef": fresh("a")
            }),
            "recordRate" => {
                json!({ "pair": "USDT/VES", "source": "p2p", "side": "FLOOR", "price": "200.00" })
            }
            "makeBackup" => json!({ "path": backup }),
            "createCopPayout" => cop_payout_body(1_000),
            "createOperator" => json!({ "name": "Ana", "email": "ana@example.com", "role": "viewer" }),
            "updateBank" => json!({ "hidden": true }),
            _ => json!({}),
        };
        if row.takes_csv {
            continue;
        }
        let shown = ask(&admin, &row.method, &path, &body).expect(200);
        assert_eq!(shown["dryRun"], true, "{}: {shown}", row.operation);
        assert_eq!(seq(&server), first, "{} wrote something: {shown}", row.operation);
    }
    assert!(!backup.exists());
    for (path, now) in seen(&server, &estate) {
        assert_eq!(now, before[&path], "{path}");
    }
}
