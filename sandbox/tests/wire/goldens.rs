//! Bytes of one request and answer of each call, as they were recorded. `GOLDEN=write` writes them
//! anew.
//!
//! Ids, instants and what derives from them are masked with as many `x`.

use crate::program::Sandbox;
use crate::r4_client as r4;
use crate::wompi_client as wompi;
use serde_json::{Value, json};
use std::path::Path;

/// The line between a request and its answer in a golden file.
const BETWEEN: &str = "\r\n\r\n--- answer ---\r\n";

/// Letters and digits of some texts, masked wherever they stand.
fn masked(text: String, masks: &[String]) -> String {
    let hidden = |text: &str| {
        text.chars().map(|c| if c.is_ascii_alphanumeric() { 'x' } else { c }).collect::<String>()
    };
    masks
        .iter()
        .filter(|mask| !mask.is_empty())
        .fold(text, |text, mask| text.replace(mask.as_str(), &hidden(mask)))
}

/// Values of members that differ from run to run.
fn changing(value: &Value) -> Vec<String> {
    const NAMES: [&str; 8] = [
        "id",
        "Id",
        "created_at",
        "finalized_at",
        "token",
        "access_token",
        "fechaExpiracionToken",
        "idSessionToken",
    ];
    match value {
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, value)| match value.as_str().filter(|_| NAMES.contains(&name.as_str())) {
                Some(text) => vec![text.to_owned()],
                None => changing(value),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(changing).collect(),
        _ => Vec::new(),
    }
}

/// Sends a request, compares both with what was recorded, and gives the answer.
fn compare(sandbox: &Sandbox, name: &str, request: &[u8], further: &[String]) -> Value {
    let answer = sandbox.exchange(request);
    let body = crate::program::reply(answer.clone()).body;
    let masks = [changing(&body), further.to_vec()].concat();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    let seen = masked(format!("{}{BETWEEN}{}\n", text(request), text(&answer)), &masks);
    let path = Path::new("tests/golden").join(name).with_extension("http");
    if std::env::var("GOLDEN").is_ok_and(|value| value == "write") {
        std::fs::write(&path, &seen).expect("written");
    }
    let recorded =
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(seen, recorded, "{name}");
    body
}

#[test]
fn r4_as_recorded() {
    let data = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::start("r4", data.path(), &[]);
    let golden = |name: &str, call: &str, fields: Value, masks: &[String]| {
        compare(&sandbox, &format!("r4/{name}"), &r4::signed_request(call, &fields), masks)
    };
    golden("MBbcv", "MBbcv", json!({"Moneda": "USD", "Fechavalor": "2025-01-06"}), &[]);
    golden("MBc2p", "MBc2p", r4::c2p("120.50", "12345678"), &[]);
    golden("MBc2p-refused", "MBc2p", r4::c2p("120.50", "99999999"), &[]);
    golden("MBanulacionC2P", "MBanulacionC2P", r4::annulment("00000001"), &[]);
    golden("MBvuelto", "MBvuelto", r4::change("10.00"), &[]);
    golden("GenerarOtp", "GenerarOtp", r4::otp_request(), &[]);
    golden("DebitoInmediato", "DebitoInmediato", r4::debit("10.00", "12345678"), &[]);
    let pending = golden("DebitoInmediato-pending", "DebitoInmediato", r4::debit("10.00", "77777777"), &[]);
    let id = pending["id"].as_str().expect("an id").to_owned();
    let signature = r4::hmac(r4::TOKEN, &id);
    golden("ConsultarOperaciones", "ConsultarOperaciones", json!({"Id": id}), &[id.clone(), signature]);
    golden("CreditoInmediato", "CreditoInmediato", r4::credit("10.00"), &[]);
    golden("CICuentas", "CICuentas", r4::to_account("10.00"), &[]);
}

#[test]
fn wompi_as_recorded() {
    let data = tempfile::tempdir().expect("a folder");
    let options = ["--settle-ms", "0", "--public-url", "http://bank"];
    let sandbox = Sandbox::start("wompi", data.path(), &options);
    let golden = |name: &str, method: &str, path: &str, key: &str, body: &str, masks: &[String]| {
        compare(&sandbox, &format!("wompi/{name}"), &wompi::keyed_request(method, path, key, body), masks)
    };
    golden("merchants", "GET", &format!("/v1/merchants/{}", wompi::PUBLIC), wompi::PUBLIC, "", &[]);
    let methods =
        [("nequi", wompi::nequi("3991111111")), ("qr", wompi::qr()), ("daviplata", wompi::daviplata())];
    for (name, method) in methods {
        let body = wompi::transaction(&sandbox, &format!("ref-{name}"), 4_490_000, method);
        golden(&format!("create-{name}"), "POST", "/v1/transactions", wompi::PRIVATE, &body.to_string(), &[]);
    }
    let duplicate = wompi::transaction(&sandbox, "ref-qr", 4_490_000, wompi::qr()).to_string();
    golden("create-duplicate", "POST", "/v1/transactions", wompi::PRIVATE, &duplicate, &[]);
    let list = |reference: &str| format!("/v1/transactions?reference={reference}");
    golden("list", "GET", &list("ref-nequi"), wompi::PRIVATE, "", &[]);
    let found = sandbox_list(&sandbox, &list("ref-daviplata"));
    let id = found["id"].as_str().expect("an id").to_owned();
    let path = format!("/v1/transactions/{id}");
    let shown = golden("get-daviplata", "GET", &path, wompi::PRIVATE, "", std::slice::from_ref(&id));
    let token = shown["data"]["payment_method"]["extra"]["url_services"]["token"].as_str().expect("a token");
    let masks = [id.clone(), token.to_owned()];
    let sent = golden("send", "POST", &format!("/v1/daviplata/{id}/send"), token, "{}", &masks);
    let token = sent["authorization"]["access_token"].as_str().expect("a token");
    let (path, masks) = (format!("/v1/daviplata/{id}/validate"), [id.clone(), token.to_owned()]);
    golden("validate-wrong", "POST", &path, token, "{\"code\":\"000000\"}", &masks);
    golden("validate", "POST", &path, token, "{\"code\":\"123456\"}", &masks);
}

fn sandbox_list(sandbox: &Sandbox, path: &str) -> Value {
    wompi::with_key(sandbox, "GET", path, wompi::PRIVATE, "").body["data"][0].clone()
}
