//! What banks and processors say by themselves (`docs/contract.md, 18.6`), through a server that is
//! configured for them and never calls them here.

mod bank_rate;
mod claims;
mod crashes;
mod events;
mod sandbox;
mod wire;

use crate::harness::client::{Answer, Api};
use crate::harness::flows::{fresh, merged};
use crate::harness::server::{Server, Tenant};
use chrono::{FixedOffset, NaiveDate, Utc};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// What the bank was given to prove itself with.
const UUID: &str = "4f1c2a9e-7b3d-4e8a-9c55-0d6f1b2a3c4d";
const EVENTS_SECRET: &str = "test_events_secret";
const OURS: &str = "04240000001";

/// A server that R4 and Wompi may call.
fn server(more: &[(&str, &str)]) -> Server {
    let mut environment = vec![
        ("PASARELA__RAILS__R4__BASE_URL", "http://127.0.0.1:9"),
        ("PASARELA__RAILS__R4__COMMERCE_TOKEN", "token"),
        ("PASARELA__RAILS__R4__CALLBACK_UUID", UUID),
        ("PASARELA__RAILS__R4__COMMERCE_PHONE", OURS),
        ("PASARELA__RAILS__WOMPI__BASE_URL", "http://127.0.0.1:9/v1"),
        ("PASARELA__RAILS__WOMPI__PUBLIC_KEY", "pub_test_1"),
        ("PASARELA__RAILS__WOMPI__PRIVATE_KEY", "prv_test_1"),
        ("PASARELA__RAILS__WOMPI__EVENTS_SECRET", EVENTS_SECRET),
        ("PASARELA__RAILS__WOMPI__INTEGRITY_SECRET", "integrity"),
    ];
    environment.extend(more);
    Server::start_with(&environment)
}

/// A tenant whose live mode is open.
fn live(server: &Server) -> Tenant {
    let tenant = server.tenant();
    let path = format!("/admin/tenants/{}/live-status", tenant.id);
    server.admin().post(&path, &json!({ "status": "active" })).expect(200);
    server.price_live();
    tenant
}

/// R4, as it calls.
fn r4(server: &Server) -> Api {
    server.nobody().with("authorization", UUID)
}

/// The day in Caracas, so many days ago.
fn day(days_ago: i64) -> NaiveDate {
    let caracas = FixedOffset::west_opt(4 * 3600).expect("an offset");
    Utc::now().with_timezone(&caracas).date_naive() - chrono::TimeDelta::days(days_ago)
}

/// A transfer of today, as its bank tells of it.
fn notice(reference: &str) -> Value {
    json!({
        "IdComercio": "12345678", "TelefonoComercio": OURS, "TelefonoEmisor": "04141234567",
        "Concepto": "pago", "BancoEmisor": "134", "Monto": "2000.00",
        "FechaHora": format!("{}T12:00:00", day(0)), "Referencia": reference, "CodigoRed": "00",
    })
}

/// The same transfer, as its payer tells of it.
fn verification(reference: &str) -> Value {
    json!({
        "usdAmount": 10, "reference": reference, "phone": "04141234567", "bankCode": "0134",
        "date": day(0).to_string(), "debtorId": "V12345678", "externalRef": fresh("pm"),
    })
}

#[track_caller]
fn notify(server: &Server, notice: &Value) {
    assert_eq!(r4(server).post("/rails/r4/R4notifica", notice).expect(200), json!({ "abono": true }));
}

#[track_caller]
fn verify(api: &Api, body: &Value) -> Answer {
    api.post("/v1/payments/pago-movil/verify", body)
}

/// The notices, all or those that nobody claimed.
fn notices(server: &Server, query: &str) -> Vec<Value> {
    let page = server.admin().get(&format!("/admin/notices{query}")).expect(200);
    page["items"].as_array().expect("items").clone()
}

/// The payment when it is decided.
#[track_caller]
fn settled(api: &Api, payment: &Value) -> Value {
    let path = format!("/v1/payments/{}", payment["paymentId"].as_str().expect("an id"));
    let deadline = Instant::now() + Duration::from_secs(90);
    loop {
        let now = api.get(&path).expect(200);
        if now["status"] != "PENDING" {
            return now;
        }
        assert!(Instant::now() < deadline, "it is still {now}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn again(body: &Value, over: Value) -> Value {
    merged(merged(body.clone(), json!({ "externalRef": fresh("pm") })), over)
}
