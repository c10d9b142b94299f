//! Texts that mislead whoever reads them, and addresses that are none, are refused wherever they
//! come in.

use crate::harness::check::list;
use crate::harness::client::Api;
use crate::harness::flows::{fresh, merged, vpos_body};
use crate::harness::server::Server;
use serde_json::{Value, json};

/// Texts that look like others, or like nothing.
const MISLEADING: [&str; 6] =
    ["a\0b", "a\u{202e}b", "\u{2066}a\u{2069}", "a\u{200f}", "\u{61c}a", "a\u{1b}[2Jb"];

/// Texts of which a reader sees only the first line, or takes the second for somebody else's.
const BROKEN: [&str; 5] = ["a\nb", "a\r\nb", "a\tb", "a\u{2028}b", "a\u{2029}b"];

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

/// Sends a body with a text of two lines where there is one, which is named.
#[track_caller]
fn is_one_line(api: &Api, path: &str, body: Value, member: &str) {
    for text in BROKEN {
        let broken = merged(body.clone(), json!({ member: text }));
        let refused = api.post(path, &broken).refused(400, "invalid_data");
        let of_member =
            refused["fields"].as_array().expect("fields").iter().find(|bad| bad["field"] == member);
        let message = of_member.unwrap_or_else(|| panic!("{member} of {path} is taken: {refused}"));
        assert_eq!(message["message"], "must be one line, without tabs", "{path}");
    }
}

#[test]
fn texts_of_one_line_have_no_tabs_and_no_second_line() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (api, admin) = (&tenant.test, server.admin());
    is_one_line(api, "/v1/payments/credit", json!({}), "concepto");
    is_one_line(api, "/v1/payments/debit", json!({}), "concepto");
    is_one_line(api, "/v1/payments/debit", json!({}), "nombre");
    is_one_line(api, "/v1/merchants", json!({}), "name");
    is_one_line(api, "/v1/products", json!({}), "name");
    is_one_line(api, "/v1/checkout/sessions", json!({ "amountUsd": 10 }), "reference");
    is_one_line(api, "/v1/cop/payments", json!({ "amountCop": 50_000, "channel": "qr" }), "reference");
    is_one_line(&admin, "/admin/tenants", json!({}), "name");
    is_one_line(&admin, "/admin/operators", json!({}), "name");
    is_one_line(&admin, &format!("/admin/tenants/{}/cop-payouts", tenant.id), json!({}), "bank");
    is_one_line(&admin, &format!("/admin/tenants/{}/cop-payouts", tenant.id), json!({}), "holderName");
    let id = "01975a2e-7c00-7000-8000-000000000000";
    is_one_line(
        &admin,
        &format!("/admin/operations/{id}/resolve"),
        json!({ "outcome": "done" }),
        "reference",
    );
    is_one_line(&admin, &format!("/admin/cop-payouts/{id}/complete"), json!({}), "reference");
    for (path, member) in [("/v1/merchants", "externalRef"), ("/v1/crypto/deposit-addresses", "customerRef")]
    {
        for text in BROKEN {
            let refused = api.post(path, &json!({ member: text })).refused(400, "invalid_data");
            assert!(list(&refused, "fields").iter().any(|bad| bad["field"] == member), "{text:?} of {path}");
        }
    }
    // What people explain to each other may have lines.
    let session = json!({ "amountUsd": 10, "description": "line one\n\tline two" });
    assert_eq!(
        api.post("/v1/checkout/sessions", &session).expect(201)["description"],
        "line one\n\tline two"
    );
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

/// Texts of which nothing is visible.
const INVISIBLE: [&str; 8] =
    ["", " \u{a0}", "\u{200b}", "\u{2060}\u{2060}", "\u{3164}", "\u{e0041}", "\u{2800}", "\u{feff} \u{ad}"];

#[test]
fn a_name_of_which_nothing_is_visible_is_none() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (api, admin) = (&tenant.test, server.admin());
    let names = |api: &Api, path: &str, body: Value, member: &str| {
        for text in INVISIBLE {
            let refused =
                api.post(path, &merged(body.clone(), json!({ member: text }))).refused(400, "invalid_data");
            assert!(list(&refused, "fields").iter().any(|bad| bad["field"] == member), "{text:?} of {path}");
        }
    };
    names(&admin, "/admin/tenants", json!({}), "name");
    names(&admin, "/admin/operators", json!({}), "name");
    names(api, "/v1/products", json!({ "priceUsd": "10.00" }), "name");
    names(api, "/v1/merchants", json!({}), "name");
    names(api, "/v1/merchants", json!({}), "externalRef");
    names(api, "/v1/payments/credit", json!({}), "concepto");
    names(api, "/v1/payments/debit", json!({}), "nombre");
    names(api, "/v1/checkout/sessions", json!({ "amountUsd": 10 }), "reference");
    names(api, "/v1/crypto/deposit-addresses", json!({}), "customerRef");
    for text in INVISIBLE {
        let body = vpos_body(10, json!({ "card": { "holderName": text } }));
        api.post("/v1/payments/vpos", &body).names(&["card.holderName"]);
        let settings = json!({ "shop": { "name": text } });
        admin.patch(&format!("/admin/tenants/{}/settings", tenant.id), &settings).names(&["shop.name"]);
    }
    let seen = api.post("/v1/products", &json!({ "name": "👩\u{200d}💻", "priceUsd": "10.00" })).expect(201);
    assert_eq!(seen["name"], "👩\u{200d}💻");
}

#[test]
fn addresses_that_read_as_others_are_refused() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    let product = api.post("/v1/products", &json!({ "name": fresh("x"), "priceUsd": "10.00" })).expect(201);
    let links = format!("/v1/products/{}/links", product["id"].as_str().expect("an id"));
    for address in [
        "https://a.example\\@b.example",
        "https://a.example/x\\y",
        "https://a.example/?q=\\",
        "https://a.example/\u{202e}gpj.exe",
        "https://a.example/\u{200f}x",
        "https://a\u{200b}.example/",
        "https://a.example/\u{2066}x\u{2069}",
    ] {
        for member in ["successUrl", "cancelUrl"] {
            api.post("/v1/checkout/sessions", &json!({ "amountUsd": 10, member: address })).names(&[member]);
        }
        let product = json!({ "name": "x", "priceUsd": "10.00", "imageUrl": address });
        api.post("/v1/products", &product).names(&["imageUrl"]);
        api.post(&links, &json!({ "redirectUrl": address })).names(&["redirectUrl"]);
        api.post("/v1/webhooks", &json!({ "url": address, "events": ["payment.completed"] })).names(&["url"]);
        server.admin().patch("/admin/banks/0134", &json!({ "logoUrl": address })).names(&["logoUrl"]);
    }
}
