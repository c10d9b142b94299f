//! Texts that mislead whoever reads them, and addresses that are none, are refused wherever they
//! come in.

use crate::harness::client::Api;
use crate::harness::flows::{fresh, merged, vpos_body};
use crate::harness::server::Server;
use serde_json::{Value, json};

/// Texts that look like others, or like nothing.
const MISLEADING: [&str; 6] =
    ["a\0b", "a\u{202e}b", "\u{2066}a\u{2069}", "a\u{200f}", "\u{61c}a", "a\u{1b}[2Jb"];

/// Sends a body with a bad member, which is named.
#[track_caller]
fn names(api: &Api, path: &str, body: Value, member: &str) {
    for text in MISLEADING {
        let mut body = body.clone();
        body[member] = json!(text);
        api.post(path, &body).names(&[member]);
    }
}

#[test]
fn misleading_texts_are_named_wherever_they_come_in() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    names(&server.admin(), "/admin/tenants", json!({ "name": "x" }), "name");
    let of_tenant = |verb: &str| format!("/admin/tenants/{}/{verb}", tenant.id);
    names(&server.admin(), &of_tenant("live-status"), json!({ "status": "active", "reason": "x" }), "reason");
    let adjustment = json!({ "mode": "test", "currency": "VES", "amount": "1.00", "description": "x", "externalRef": fresh("adjustment") });
    names(&server.admin(), &of_tenant("adjustments"), adjustment.clone(), "description");
    names(&server.admin(), &of_tenant("adjustments"), adjustment, "externalRef");
    names(api, "/v1/payments/vpos", vpos_body(10, json!({})), "description");
    names(api, "/v1/payments/vpos", vpos_body(10, json!({})), "externalRef");
    for text in MISLEADING {
        let body = vpos_body(10, json!({ "card": { "holderName": text } }));
        api.post("/v1/payments/vpos", &body).names(&["card.holderName"]);
    }
    names(api, "/v1/products", json!({ "name": "x", "priceUsd": "10.00" }), "name");
    names(
        api,
        "/v1/products",
        json!({ "name": "x", "priceUsd": "10.00", "description": "x" }),
        "description",
    );
    names(api, "/v1/checkout/sessions", json!({ "amountUsd": 10 }), "description");
    names(api, "/v1/checkout/sessions", json!({ "amountUsd": 10 }), "reference");
    let session = json!({ "amountUsd": 10 });
    let pesos = json!({ "amountCop": 50_000, "channel": "qr" });
    for text in MISLEADING {
        for metadata in [json!({ "a": text }), json!({ text: 1 }), json!({ "a": [{ "b": [text] }] })] {
            let with = |body: &Value| merged(body.clone(), json!({ "metadata": metadata }));
            api.post("/v1/checkout/sessions", &with(&session)).names(&["metadata"]);
            api.post("/v1/cop/payments", &with(&pesos)).names(&["metadata"]);
        }
    }
    let raw = "{\"amountUsd\":10,\"metadata\":{ \"n\": 1.5, \"t\":\"l\\u00ednea\\n\" }}";
    let made = api.post_raw("/v1/checkout/sessions", raw).expect(201);
    assert_eq!(made["metadata"], json!({ "n": 1.5, "t": "línea\n" }));
    assert!(api.movements().is_empty());
    // Texts that people write are accepted.
    for text in ["Ñandú & Cía.", "línea uno\nlínea dos", "日本語", "مرحبا"] {
        let product = api
            .post("/v1/products", &json!({ "name": "x", "priceUsd": "10.00", "description": text }))
            .expect(201);
        assert_eq!(product["description"], text);
    }
}

#[test]
fn addresses_without_their_slashes_are_refused() {
    let server = Server::shared();
    let api = server.tenant().test;
    let product = api.post("/v1/products", &json!({ "name": fresh("x"), "priceUsd": "10.00" })).expect(201);
    let links = format!("/v1/products/{}/links", product["id"].as_str().expect("an id"));
    for address in [
        "https:evil.example",
        "https:/evil.example",
        "https:///evil.example",
        "https:\\\\evil.example",
        "https:evil.example/https://shop.example",
    ] {
        for member in ["successUrl", "cancelUrl"] {
            let mut body = json!({ "amountUsd": 10 });
            body[member] = json!(address);
            api.post("/v1/checkout/sessions", &body).names(&[member]);
        }
        api.post(&links, &json!({ "redirectUrl": address })).names(&["redirectUrl"]);
        api.post("/v1/webhooks", &json!({ "url": address, "events": ["payment.completed"] })).names(&["url"]);
    }
}
