//! Live orders to R4 through a real server (`docs/contract.md, 18.2, 18.3, 18.5`), against a bank of the
//! test's own: what each answer comes to, what silence leaves, and what is never sent twice.

mod answers;
mod bank;
mod charges;
mod connections;
mod crashes;
mod ended;
mod late;
mod overload;
mod payouts;
mod queue;
mod sandbox;

use crate::harness::client::{Answer, Api};
use crate::harness::flows::{fresh, merged};
use crate::harness::server::{Server, Tenant};
use bank::Bank;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// What a server is told of a live bank whose calls are over after a second.
fn settings(base: &str) -> Vec<(String, String)> {
    [
        ("R4__BASE_URL", base),
        ("R4__COMMERCE_TOKEN", "token"),
        ("R4__TIMEOUT_SECONDS", "1"),
        ("POLL_SECONDS", "2"),
        ("PROBE_SECONDS", "1"),
        ("UNRESOLVED_AFTER_SECONDS", "3"),
    ]
    .map(|(name, value)| (format!("PASARELA__RAILS__{name}"), value.to_owned()))
    .to_vec()
}

/// A server whose live bank this is.
fn server(bank: &Bank, more: &[(&str, &str)]) -> Server {
    server_of(&bank.base(), more)
}

/// A server whose live bank is there.
fn server_of(base: &str, more: &[(&str, &str)]) -> Server {
    let settings = settings(base);
    let mut environment: Vec<(&str, &str)> =
        settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    environment.extend(more);
    Server::start_with(&environment)
}

/// A tenant whose live mode is open, with so many bolívares.
fn live(server: &Server, funds: &str) -> Tenant {
    let tenant = server.tenant();
    let path = format!("/admin/tenants/{}", tenant.id);
    server.price_live();
    server.admin().post(&format!("{path}/live-status"), &json!({ "status": "active" })).expect(200);
    if funds != "0.00" {
        let body = json!({
            "mode": "live", "currency": "VES", "amount": funds, "description": "para probar",
            "externalRef": fresh("ajuste"),
        });
        server.admin().post(&format!("{path}/adjustments"), &body).expect(201);
    }
    tenant
}

fn debit(amount: f64) -> Value {
    json!({
        "banco": "0134", "monto": amount, "telefono": "04141234567", "cedula": "V12345678",
        "nombre": "Ana Pérez", "otp": "12345678", "concepto": "factura 81", "externalRef": fresh("deb"),
    })
}

fn credit(amount: &str) -> Value {
    json!({
        "banco": "0134", "telefono": "04141234567", "cedula": "V12345678", "monto": amount,
        "concepto": "pago", "externalRef": fresh("cred"),
    })
}

fn account(amount: &str) -> Value {
    json!({
        "cuenta": "01340001670123456789", "cedula": "V12345678", "nombre": "Ana Perez", "monto": amount,
        "concepto": "retiro", "externalRef": fresh("cta"),
    })
}

fn operations(server: &Server, status: &str) -> Vec<Value> {
    let page = server.admin().get(&format!("/admin/operations?status={status}")).expect(200);
    page["items"].as_array().expect("items").clone()
}

#[track_caller]
fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what} within 30 s");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[track_caller]
fn unavailable(answer: &Answer) {
    answer.refused(503, "rail_unavailable");
    let seconds: u64 = answer.header("retry-after").expect("Retry-After").parse().expect("seconds");
    assert!(seconds >= 1);
}

fn payout_now(api: &Api, payout: &Value) -> Value {
    api.get(&format!("/v1/payouts/{}", payout["payoutId"].as_str().expect("an id"))).expect(200)
}

fn with(base: Value, over: Value) -> Value {
    merged(base, over)
}
