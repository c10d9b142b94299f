//! A client of Wompi, from docs/contract.md, 21.10.

use crate::program::{Reply, Sandbox, request};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

pub const PUBLIC: &str = "pub_test_sandbox0123456789";
pub const PRIVATE: &str = "prv_test_sandbox0123456789";
pub const EVENTS: &str = "test_events_sandbox0123456789";
const INTEGRITY: &str = "test_integrity_sandbox0123456789";

pub fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

/// The acceptance tokens in force: of the terms, and of personal data.
pub fn acceptance(sandbox: &Sandbox) -> (String, String) {
    let merchant = sandbox.get(&format!("/v1/merchants/{PUBLIC}"));
    let token = |name: &str| merchant["data"][name]["acceptance_token"].as_str().expect("a token").to_owned();
    (token("presigned_acceptance"), token("presigned_personal_data_auth"))
}

/// A signed transaction.
pub fn transaction(sandbox: &Sandbox, reference: &str, cents: u64, method: Value) -> Value {
    let (terms, personal) = acceptance(sandbox);
    json!({
        "acceptance_token": terms,
        "accept_personal_auth": personal,
        "amount_in_cents": cents,
        "currency": "COP",
        "signature": sha256(&format!("{reference}{cents}COP{INTEGRITY}")),
        "customer_email": "ana@example.com",
        "reference": reference,
        "payment_method": method,
    })
}

/// Signs a transaction anew, under another secret where one is given.
pub fn sign(body: &mut Value, secret: Option<&str>) {
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let secret = secret.unwrap_or(INTEGRITY);
    let signed = format!(
        "{}{}{}{}{secret}",
        text("reference"),
        body["amount_in_cents"],
        text("currency"),
        text("expiration_time")
    );
    body["signature"] = json!(sha256(&signed));
}

pub fn with_key(sandbox: &Sandbox, method: &str, path: &str, key: &str, body: &str) -> Reply {
    crate::program::reply(sandbox.exchange(&keyed_request(method, path, key, body)))
}

pub fn keyed_request(method: &str, path: &str, key: &str, body: &str) -> Vec<u8> {
    let authorization = format!("Bearer {key}");
    let headers = [("authorization", authorization.as_str()), ("content-type", "application/json")];
    request(method, path, &headers, body)
}

pub fn create(sandbox: &Sandbox, body: &Value) -> Reply {
    with_key(sandbox, "POST", "/v1/transactions", PRIVATE, &body.to_string())
}

/// Creates a transaction and gives its id.
pub fn created(sandbox: &Sandbox, reference: &str, method: Value) -> String {
    let reply = create(sandbox, &transaction(sandbox, reference, 4_490_000, method));
    assert_eq!(reply.status, 201, "{reply:?}");
    assert_eq!(reply.body["data"]["status"], "PENDING", "{reply:?}");
    reply.body["data"]["id"].as_str().expect("an id").to_owned()
}

pub fn read(sandbox: &Sandbox, id: &str) -> Value {
    let reply = with_key(sandbox, "GET", &format!("/v1/transactions/{id}"), PRIVATE, "");
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.body["data"].clone()
}

pub fn nequi(phone: &str) -> Value {
    json!({"type": "NEQUI", "phone_number": phone})
}

pub fn daviplata() -> Value {
    json!({
        "type": "DAVIPLATA", "user_legal_id": "1099888777", "user_legal_id_type": "CC",
        "payment_description": "Pedido 17",
    })
}

pub fn qr() -> Value {
    json!({"type": "BANCOLOMBIA_QR", "payment_description": "Pedido 17"})
}
