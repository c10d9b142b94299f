//! The catalogue of banks: what tenants see, what operators change, and the refresh from a feed
//! (`docs/contract.md, 14.5`).

use crate::harness::check::list;
use crate::harness::client::Api;
use crate::harness::server::Server;
use crate::harness::source::{Behaviour, Source};
use serde_json::{Value, json};

#[track_caller]
fn find(banks: &Value, code: &str) -> Option<Value> {
    banks.as_array().expect("a bare array").iter().find(|bank| bank["code"] == code).cloned()
}

#[track_caller]
fn shown(api: &Api, code: &str) -> Option<Value> {
    find(&api.get("/v1/banks").expect(200), code)
}

#[test]
fn the_catalogue_is_sorted_and_hides_what_is_hidden() {
    let server = Server::start();
    let api = server.tenant().test;
    let banks = api.get("/v1/banks").expect(200);
    let codes: Vec<&str> = banks
        .as_array()
        .expect("a bare array")
        .iter()
        .map(|bank| bank["code"].as_str().expect("a code"))
        .collect();
    assert!(codes.is_sorted() && codes.len() > 20 && codes.first() == Some(&"0102"), "{codes:?}");
    for bank in banks.as_array().expect("a bare array") {
        assert!(!list(bank, "services").is_empty(), "a bank that serves nothing is of no use: {bank}");
    }
    assert_eq!(
        find(&banks, "0134"),
        Some(
            json!({ "code": "0134", "name": "Banesco", "services": ["C2P", "PAGO_MOVIL", "DEBIT", "CREDIT"], "logoUrl": null })
        )
    );
    let all = server.admin().get("/admin/banks").expect(200);
    for code in ["0001", "0116"] {
        assert_eq!(find(&all, code).expect("a bank that serves nothing")["hidden"], true);
    }
    assert_eq!(all.as_array().map(Vec::len), Some(codes.len() + 2));
    api.get("/v1/banks?limit=1").names(&["limit"]);
}

#[test]
fn an_operators_change_counts_at_once_and_survives_a_crash() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let admin = server.admin();
    let hidden = admin.patch("/admin/banks/0134", &json!({ "hidden": true }));
    assert_eq!(
        hidden.expect(200),
        json!({ "code": "0134", "name": "Banesco", "services": ["C2P", "PAGO_MOVIL", "DEBIT", "CREDIT"], "logoUrl": null, "hidden": true })
    );
    assert!(hidden.wal_seq() > 0, "every act of an operator is a record");
    admin
        .patch("/admin/banks/0105", &json!({ "services": ["CREDIT"], "name": " Mercantil Banco ", "logoUrl": "https://logo.example.com/0105.svg" }))
        .expect(200);
    let check = |server: &Server| {
        assert_eq!(shown(&tenant.test, "0134"), None);
        let changed = json!({ "code": "0105", "name": "Mercantil Banco", "services": ["CREDIT"], "logoUrl": "https://logo.example.com/0105.svg" });
        assert_eq!(shown(&tenant.test, "0105"), Some(changed));
        assert_eq!(
            find(&server.admin().get("/admin/banks").expect(200), "0134").expect("hidden, not gone")["hidden"],
            true
        );
        for bank in [134, 105] {
            tenant.test.request_c2p(1, json!({ "debtorBankCode": bank })).names(&["debtorBankCode"]);
        }
    };
    check(&server);
    server.kill();
    server.restart();
    check(&server);
    server.admin().act("/admin/snapshot").expect(200);
    assert!(server.terminate().success());
    server.restart();
    check(&server);
    let admin = server.admin();
    admin.patch("/admin/banks/0134", &json!({ "hidden": false })).expect(200);
    admin.patch("/admin/banks/0105", &json!({ "logoUrl": null })).expect(200);
    assert!(shown(&tenant.test, "0134").is_some());
    assert_eq!(shown(&tenant.test, "0105").expect("it is there")["logoUrl"], Value::Null);
    tenant.test.request_c2p(1, json!({ "debtorBankCode": 134 })).expect(201);
}

#[test]
fn a_change_that_cannot_be_is_refused() {
    let server = Server::start();
    let admin = server.admin();
    for (body, named) in [
        (json!({}), "body"),
        (json!({ "hidden": "yes" }), "hidden"),
        (json!({ "name": "" }), "name"),
        (json!({ "services": ["C2P", "SWIFT"] }), "services[1]"),
        (json!({ "services": "C2P" }), "services"),
        (json!({ "logoUrl": "logo.png" }), "logoUrl"),
        (json!({ "code": "0999" }), "code"),
    ] {
        admin.patch("/admin/banks/0134", &body).names(&[named]);
    }
    for code in ["9999", "134", "x", "01345"] {
        admin.patch(&format!("/admin/banks/{code}"), &json!({ "hidden": true })).refused(404, "not_found");
    }
    server
        .admin_with("wrong")
        .patch("/admin/banks/0134", &json!({ "hidden": true }))
        .refused(401, "unauthorized");
    server.admin_with("wrong").act("/admin/banks/refresh").refused(401, "unauthorized");
    admin.act("/admin/banks/refresh").refused(503, "bank_feed_unavailable");
}

#[test]
fn a_refresh_keeps_what_operators_changed_and_what_history_speaks_of() {
    let source = Source::start();
    let bank = |code: &str, name: &str, services: &[&str]| json!({ "code": code, "name": name, "services": services, "logoUrl": null, "rif": "J000000000" });
    let feed = |banks: &[Value]| Behaviour::Says(200, Value::from(banks.to_vec()).to_string());
    source.set(
        "/banks",
        feed(&[
            bank("0102", "BDV", &["C2P", "DEBIT"]),
            bank("0134", "Banesco Banco Universal", &["C2P"]),
            bank("0199", "Banco Nuevo", &["CREDIT", "NEW"]),
        ]),
    );
    let mut server = Server::start_with(&[("PASARELA__BANKS__FEED_URL", &source.url("/banks"))]);
    let api = server.tenant().test;
    server.admin().patch("/admin/banks/0134", &json!({ "name": "Banesco", "hidden": true })).expect(200);
    let refreshed = server.admin().act("/admin/banks/refresh");
    assert_eq!(
        find(&refreshed.expect(200), "0199").map(|bank| bank["services"].clone()),
        Some(json!(["CREDIT"]))
    );
    assert_eq!(
        shown(&api, "0102"),
        Some(json!({ "code": "0102", "name": "BDV", "services": ["C2P", "DEBIT"], "logoUrl": null }))
    );
    assert_eq!(
        shown(&api, "0105").expect("it stays")["services"],
        json!([]),
        "what is not listed stays, without services"
    );
    assert_eq!(shown(&api, "0134"), None);
    assert_eq!(
        find(&server.admin().get("/admin/banks").expect(200), "0134").expect("it stays")["name"],
        "Banesco"
    );
    // A feed that fails changes nothing.
    let before = server.admin().get("/admin/banks").expect(200);
    for behaviour in [
        Behaviour::Says(500, String::new()),
        Behaviour::Says(200, "<html>".to_owned()),
        Behaviour::Says(200, "[]".to_owned()),
        Behaviour::Says(200, r#"[{"code":"0102","name":"x"}]"#.to_owned()),
        Behaviour::SendsTo("/banks".to_owned()),
        Behaviour::Endless,
    ] {
        source.set("/banks", behaviour.clone());
        server.admin().act("/admin/banks/refresh").refused(503, "bank_feed_unavailable");
        assert_eq!(server.admin().get("/admin/banks").expect(200), before, "{behaviour:?}");
    }
    // The catalogue is as it was after a restart, and the feed is not asked again before its week
    // is over.
    server.kill();
    let asked = source.seen("/banks").len();
    server.restart();
    assert_eq!(server.admin().get("/admin/banks").expect(200), before);
    assert_eq!(source.seen("/banks").len(), asked);
    source.set("/banks", feed(&[bank("0105", "Mercantil", &["C2P"])]));
    server.admin().act("/admin/banks/refresh").expect(200);
    assert_eq!(shown(&api, "0199").expect("it stays")["services"], json!([]));
    assert_eq!(shown(&api, "0105").expect("it is back")["services"], json!(["C2P"]));
    api.request_c2p(1, json!({ "debtorBankCode": 102 })).names(&["debtorBankCode"]);
}
