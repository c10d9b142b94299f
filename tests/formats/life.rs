//! Fills a directory with every kind of entity, in many of its states: what test mode can make, and what a
//! live bank tells.

use crate::harness::buyers::{Page, session};
use crate::harness::check::{list, text};
use crate::harness::client::Api;
use crate::harness::flows::{fresh, merged, method_path, payer, payout_body};
use crate::harness::pesos::cop_path;
use crate::harness::receiver::Receiver;
use crate::harness::server::{Server, Tenant};
use chrono::{TimeDelta, Utc};
use serde_json::{Value, json};

const TRON: &str = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";

fn fund(api: &Api, currency: &str, amount: &str, held: bool) {
    api.post("/v1/test/fund", &json!({ "currency": currency, "amount": amount, "held": held })).expect(201);
}

/// Fills the directory.
pub fn all_of_it(server: &Server, tenant: &Tenant) {
    let api = &tenant.test;
    for (currency, amount) in [("VES", "50000.00"), ("COP", "9000000"), ("USDT", "5000.00")] {
        fund(api, currency, amount, false);
        fund(api, currency, if currency == "COP" { "100" } else { "100.00" }, true);
    }
    operators(server, tenant);
    webhooks(api);
    payments(api);
    // Holds end, banks are asked, and what nobody paid expires.
    api.advance(90_000);
    other_means(api);
    payouts(api);
    shop(server, tenant);
    conversions(api);
    crypto(api);
    pesos(server, tenant);
    notices(server, tenant);
    api.advance(3_600);
}

fn operators(server: &Server, tenant: &Tenant) {
    let admin = server.admin();
    let of_tenant = |what: &str| format!("/admin/tenants/{}/{what}", tenant.id);
    let body = json!({ "mode": "test", "currency": "VES", "amount": "12.34", "description": "apertura ñ", "externalRef": fresh("adj") });
    admin.post(&of_tenant("adjustments"), &body).expect(201);
    admin.post(&of_tenant("live-status"), &json!({ "status": "active", "reason": "approved" })).expect(200);
    server.price_live();
    let key = admin.post(&of_tenant("keys"), &json!({ "mode": "test", "scopes": ["read"] })).expect(201);
    let key = text(&key, "keyId").to_owned();
    let next = admin.post(&format!("/admin/keys/{key}/rotate"), &json!({ "overlapSeconds": 2 })).expect(201);
    admin.act(&format!("/admin/keys/{}/revoke", text(&next, "keyId")));
    admin.patch("/admin/banks/0105", &json!({ "name": "Mercantil Ñ", "logoUrl": null })).expect(200);
}

/// What the bank proves itself with.
pub const CALLBACK_UUID: &str = "4f1c2a9e-7b3d-4e8a-9c55-0d6f1b2a3c4d";

/// Two transfers that the bank tells of; one of them pays.
fn notices(server: &Server, tenant: &Tenant) {
    let day = (Utc::now() - TimeDelta::hours(4)).date_naive();
    let bank = server.nobody().with("authorization", CALLBACK_UUID);
    for reference in ["00556677", "00556688"] {
        let notice = json!({
            "IdComercio": "12345678", "TelefonoComercio": "04240000001", "TelefonoEmisor": "04141234567",
            "BancoEmisor": "134", "Monto": "2000.00", "FechaHora": format!("{day}T12:00:00"), "Referencia": reference,
            "CodigoRed": "00",
        });
        assert_eq!(bank.post("/rails/r4/R4notifica", &notice).expect(200)["abono"], true);
    }
    let transfer = json!({
        "usdAmount": 10, "reference": "556677", "phone": "04141234567", "bankCode": "0134", "date": day.to_string(),
        "debtorId": "V12345678", "externalRef": fresh("pm"),
    });
    let paid = tenant.live.post("/v1/payments/pago-movil/verify", &transfer).expect(201);
    assert_eq!(paid["status"], "COMPLETED");
}

fn webhooks(api: &Api) {
    let receiver = Receiver::good();
    let made = api
        .post(
            "/v1/webhooks",
            &json!({ "url": receiver.url(), "events": ["payment.completed", "payout.failed"] }),
        )
        .expect(201);
    api.pay(1);
    receiver.wait_for(1);
    let path = format!("/v1/webhooks/{}", text(&made, "id"));
    api.act(&format!("{path}/rotate-secret")).expect(200);
    let events = api.get("/v1/events?after=0&limit=100").expect(200);
    let event = list(&events, "items").iter().find(|event| event["event"] == "payment.completed");
    let event = event.expect("the event that arrived");
    api.act(&format!("/v1/events/{}/resend", text(event, "id"))).expect(202);
    receiver.wait_for(2);
    api.patch(&path, &json!({ "status": "disabled" })).expect(200);
    let gone = json!({ "url": receiver.url(), "events": ["payout.failed"] });
    let gone = api.post("/v1/webhooks", &gone).expect(201);
    api.delete(&format!("/v1/webhooks/{}", text(&gone, "id"))).expect(200);
}

fn payments(api: &Api) {
    api.keyed("kept-1")
        .post(
            "/v1/payments/c2p/request",
            &merged(payer(), json!({ "usdAmount": 3, "externalRef": fresh("kept") })),
        )
        .expect(201);
    api.pay(10);
    let back = api.pay(10);
    api.reverse(&back).expect(200);
    let refused = api.pay_with(10, "55555555");
    api.reverse(&refused);
    api.pay_with(10, "99999999");
    api.pay_with(10, "77777777");
    let intent = api.intent(5);
    api.request_c2p(6, json!({ "externalRef": intent["externalRef"] }));
    let merchant = api.merchant();
    let share = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
    api.execute(&api.intent(10), "12345678", share).expect(200);
}

fn other_means(api: &Api) {
    let card = api.vpos_pay(10);
    let body = json!({ "paymentId": card["paymentId"], "reason": "not_received", "feeVes": "25.00" });
    let chargeback = api.post("/v1/test/chargebacks", &body).expect(201);
    let close = format!("/v1/test/chargebacks/{}/close", text(&chargeback, "chargebackId"));
    api.post(&close, &json!({ "outcome": "won" })).expect(200);
    let other = api.vpos_pay(20);
    let part = json!({ "paymentId": other["paymentId"], "reason": "fraud", "amountVes": "100.00" });
    api.post("/v1/test/chargebacks", &part).expect(201);
    let payer = json!({ "banco": "0134", "monto": 100, "telefono": "04141234567", "cedula": "V12345678" });
    api.post("/v1/payments/debit/otp", &payer).expect(201);
    let debit =
        json!({ "nombre": "Ana Pérez", "otp": "12345678", "concepto": "cobro", "externalRef": fresh("deb") });
    api.post("/v1/payments/debit", &merged(payer, debit)).expect(201);
    let day = (api.clock() - TimeDelta::hours(4)).date_naive().to_string();
    let transfer = json!({
        "usdAmount": 10, "reference": "00123456", "phone": "04141234567", "bankCode": "0134", "date": day,
        "debtorId": "V12345678", "externalRef": fresh("pm"),
    });
    api.post("/v1/payments/pago-movil/verify", &transfer).expect(201);
}

fn payouts(api: &Api) {
    let merchant = api.merchant();
    api.payout(&merchant, "20.00", json!({})).expect(201);
    api.payout(&merchant, "30.04", json!({}));
    api.payout(&merchant, "10.05", json!({}));
    api.payout(&merchant, "10.07", json!({}));
    let items = ["20.00", "30.04", "10.06"].map(|monto| payout_body(&merchant, monto));
    api.post("/v1/payouts/batch", &json!({ "externalRef": fresh("batch"), "items": items })).expect(201);
    let credit = |monto: &str| json!({ "banco": "0134", "telefono": "04147654321", "cedula": "V87654321", "monto": monto, "concepto": "vuelto", "externalRef": fresh("cr") });
    api.post("/v1/payments/credit", &credit("10.00")).expect(201);
    api.post("/v1/payments/change", &credit("11.00")).expect(201);
    let account = json!({ "cuenta": "01340001610123456789", "cedula": "V87654321", "nombre": "Ana Pérez", "monto": "12.00", "concepto": "nómina", "externalRef": fresh("ac") });
    api.post("/v1/payments/credit/account", &account);
    let own = json!({ "bankCode": "0134", "phone": "04147654321", "identification": "J-301234567" });
    api.put("/v1/payouts/account", &own).expect(201);
    api.act("/v1/payouts/account/verify/start").expect(202);
    api.verify("/v1/payouts/account", "0.45", "0.32").expect(200);
    let instant = json!({ "monto": "13.00", "concepto": "retiro", "externalRef": fresh("in") });
    api.post("/v1/payouts/instant", &instant).expect(201);
    let unproved = api.create_merchant(json!({})).expect(201);
    api.act(&format!("{}/verify/start", method_path(&unproved, 0))).expect(202);
    let path = format!("/v1/merchants/{}", text(&unproved, "merchantId"));
    api.patch(&path, &json!({ "isActive": false })).expect(200);
    let gone = api.create_merchant(json!({})).expect(201);
    api.delete(&format!("/v1/merchants/{}", text(&gone, "merchantId")));
}

fn shop(server: &Server, tenant: &Tenant) {
    let api = &tenant.test;
    let product =
        api.post("/v1/products", &json!({ "name": fresh("Café Ñandú"), "priceUsd": "10.00" })).expect(201);
    api.patch(&format!("/v1/products/{}", text(&product, "id")), &json!({ "description": "molido" }))
        .expect(200);
    let unsold = api.post("/v1/products", &json!({ "name": "Té", "priceUsd": "2.00" })).expect(201);
    api.delete(&format!("/v1/products/{}", text(&unsold, "id"))).expect(200);
    let links = format!("/v1/products/{}/links", text(&product, "id"));
    api.post(&links, &json!({ "allowQuantity": true, "maxQuantity": 5 })).expect(201);
    let gone = api.post(&links, &json!({})).expect(201);
    api.delete(&format!("/v1/payment-links/{}", text(&gone, "id")));
    let by_bank = session(tenant, json!({ "reference": "orden 7", "metadata": { "a": 1 } }));
    Page::of(server, &by_bank).pay("12345678");
    let by_usdt = Page::of(server, &session(tenant, json!({})));
    let address = by_usdt.usdt("TRC20");
    assert!(address.status < 300, "{}", address.text());
    api.buyer_sends(&address.json(), "10.00");
    let open = Page::of(server, &session(tenant, json!({})));
    open.usdt("BEP20");
    open.pesos("qr");
}

fn conversions(api: &Api) {
    let quote = |body: Value| api.post("/v1/conversions/quotes", &body).expect(201);
    let accept = |quote: &Value, over: Value| {
        api.post("/v1/conversions", &merged(json!({ "quoteId": quote["id"] }), over)).expect(201)
    };
    let pending = || json!({ "reference": fresh("test_pending") });
    accept(&quote(json!({ "sourceAmountVes": "400.00" })), json!({}));
    let canceled = accept(&quote(json!({ "sourceAmountVes": "400.00" })), pending());
    api.act(&format!("/v1/conversions/{}/cancel", text(&canceled, "id"))).expect(200);
    accept(&quote(json!({ "sourceCurrency": "COP", "sourceAmount": "100000" })), pending());
    let fulfilled = accept(&quote(json!({ "sourceAmountVes": "300.00" })), pending());
    api.act(&format!("/v1/test/conversions/{}/fulfil", text(&fulfilled, "id"))).expect(200);
    quote(json!({ "targetAmountUsdt": "5.00" }));
    api.patch("/v1/conversions/settings", &json!({ "autoConvert": { "COP": { "percent": 50 } } }))
        .expect(200);
}

fn crypto(api: &Api) {
    let send = |amount: &str, over: Value| {
        let body = json!({ "amountUsdt": amount, "address": TRON, "network": "TRC20", "externalRef": fresh("usdt") });
        api.post("/v1/crypto/payouts", &merged(body, over)).expect(201)
    };
    send("10.00", json!({}));
    send("600.00", json!({}));
    let approved = send("600.02", json!({}));
    api.act(&format!("/v1/test/crypto/payouts/{}/approve", text(&approved, "id"))).expect(200);
    let rejected = send("600.01", json!({}));
    api.act(&format!("/v1/test/crypto/payouts/{}/reject", text(&rejected, "id"))).expect(200);
    let body = json!({ "customerRef": "cliente-1", "network": "TRC20", "asset": "USDT" });
    let address = api.post("/v1/crypto/deposit-addresses", &body).expect(201);
    api.buyer_sends(&address, "25.00");
}

fn pesos(server: &Server, tenant: &Tenant) {
    let api = &tenant.test;
    api.cop_paid(80_000);
    let back = api.cop_paid(90_000);
    api.cop_refund(&back);
    let refused = api.cop_paid(70_503);
    api.cop_refund(&refused);
    api.cop(50_000, "push");
    let code = api.cop(60_000, "sms");
    api.cop_otp(&code, "000000");
    let canceled = api.cop(40_000, "qr");
    api.cop_cancel(&canceled);
    let settle = |payout: &Value| format!("/admin/cop-payouts/{}", text(payout, "id"));
    let paid = server.cop_payout(tenant, 10_000, json!({})).expect(201);
    server.admin().post(&format!("{}/complete", settle(&paid)), &json!({ "reference": "B-77" })).expect(200);
    let failed = server.cop_payout(tenant, 11_000, json!({})).expect(201);
    server.admin().post(&format!("{}/fail", settle(&failed)), &json!({ "failureCode": "AC01" })).expect(200);
    server.cop_payout(tenant, 12_000, json!({})).expect(201);
}

/// Adds records that no snapshot holds, and returns what is answered about everything: what does not change
/// any more as it is, and of the rest that it is there.
pub fn some_more(server: &Server, tenant: &Tenant) -> Value {
    let api = &tenant.test;
    let paid = api.pay(10);
    let refused = api.pay_with(10, "55555555");
    api.reverse(&refused);
    let mut reads = Vec::new();
    let mut read = |path: String, settled: bool| {
        let body = api.get(&path).expect(200);
        reads.push(json!({ "path": path, "body": if settled { body } else { json!({}) } }));
    };
    for (list_path, base, id, settled) in [
        ("/v1/payments", "/v1/payments", "paymentId", &["COMPLETED", "FAILED", "REVERSED"][..]),
        ("/v1/payouts", "/v1/payouts", "payoutId", &["completed", "failed"]),
        ("/v1/conversions", "/v1/conversions", "id", &["COMPLETED", "CANCELED"]),
        ("/v1/crypto/payouts", "/v1/crypto/payouts", "id", &["completed", "rejected"]),
        ("/v1/merchants", "/v1/merchants", "merchantId", &[]),
        ("/v1/products", "/v1/products", "id", &[]),
        ("/v1/chargebacks", "/v1/chargebacks", "chargebackId", &["won"]),
    ] {
        for item in api.walk(list_path, &[], 50) {
            let is_settled = item["status"].as_str().is_none_or(|status| settled.contains(&status));
            read(format!("{base}/{}", text(&item, id)), is_settled);
        }
    }
    for event in api.walk("/v1/events", &[("after", "0")], 100) {
        read(format!("/v1/events/{}", text(&event, "id")), true);
    }
    for hook in list(&api.get("/v1/webhooks").expect(200), "items") {
        read(format!("/v1/webhooks/{}", text(hook, "id")), true);
    }
    let now = crate::harness::check::stamp(api.clock());
    read(format!("/v1/balance?at={now}"), true);
    read("/v1/payouts/account".to_owned(), true);
    for path in ["/v1/balance", "/v1/crypto/balance", "/v1/cop/balance", "/v1/balance/transactions?limit=100"]
    {
        read(path.to_owned(), false);
    }
    assert!(server.admin().get("/admin/tenants").status == 200);
    json!({
        "key": tenant.created["testKey"]["key"],
        "paid": paid["paymentId"],
        "refused": refused["paymentId"],
        "reads": reads,
    })
}

/// Works with what was there: money comes in and goes back, and a merchant of then is paid.
pub fn go_on(api: &Api, said: &Value) {
    assert_eq!(api.get(&format!("/v1/payments/{}", text(said, "paid"))).expect(200)["status"], "COMPLETED");
    let refused = api.get(&format!("/v1/payments/{}", text(said, "refused"))).expect(200);
    assert_eq!(api.reverse(&refused).status, 409, "the bank refuses again, or it is too late");
    fund(api, "VES", "5000.00", false);
    let merchant = api
        .walk("/v1/merchants", &[], 50)
        .into_iter()
        .find(|merchant| merchant["payoutMethods"][0]["status"] == "verified")
        .expect("a merchant that can be paid");
    api.payout(&merchant, "20.00", json!({})).expect(201);
    let back = api.pay(10);
    api.reverse(&back).expect(200);
    let pesos = api.cop_paid(20_000);
    api.get(&cop_path(&pesos)).expect(200);
}
