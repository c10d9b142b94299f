//! The operators' list of orders at banks: every status in one list, in pages, and how often and when the
//! bank was asked, also of those about which it contradicted itself.

use crate::harness::check::{instant, list, text};
use crate::harness::client::Api;
use crate::harness::server::Server;
use serde_json::{Value, json};

/// Younger orders than of so many seconds are pending, older ones unresolved.
const UNRESOLVED_AFTER: &str = "30";

fn server() -> Server {
    Server::start_with(&[("PASARELA__RAILS__UNRESOLVED_AFTER_SECONDS", UNRESOLVED_AFTER)])
}

#[track_caller]
fn resolve(server: &Server, operation: &str, said: &Value) {
    server.admin().post(&format!("/admin/operations/{operation}/resolve"), said).expect(200);
}

fn operation(api: &Api, id: &str) -> Value {
    api.get(&format!("/v1/payments/operations/{id}")).expect(200)
}

#[test]
fn operations_of_every_status_are_in_one_list() {
    let server = server();
    let api = server.tenant().test;
    api.fund("200.00");
    let merchant = api.merchant();
    // The bank refuses such a payout at the first look.
    let pay = || text(&api.payout(&merchant, "20.06", json!({})).expect(202), "operationId").to_owned();
    let contradicted = pay();
    let done = json!({ "outcome": "done", "reference": "81234567", "note": "on the statement" });
    resolve(&server, &contradicted, &done);
    api.advance(61);
    let unresolved = pay();
    api.advance(40);
    let pending = pay();

    let admin = server.admin();
    let all = admin.get("/admin/operations").expect(200);
    let said: Vec<(&str, &str)> =
        list(&all, "items").iter().map(|item| (text(item, "operationId"), text(item, "status"))).collect();
    let expected = [(&pending, "pending"), (&unresolved, "unresolved"), (&contradicted, "contradicted")];
    assert_eq!(said, expected.map(|(id, status)| (id.as_str(), status)));
    let items = list(&all, "items").to_vec();
    for limit in 1..=3 {
        assert_eq!(admin.walk("/admin/operations", &[], limit), items, "pages of {limit}");
    }
    assert_eq!(admin.walk("/admin/operations", &[("rail", "simulator")], 2), items);
    for (item, (_, status)) in items.iter().zip(expected) {
        assert_eq!(admin.walk("/admin/operations", &[("status", status)], 1), vec![item.clone()]);
    }
    let refused = admin.get("/admin/operations?rail=nope");
    assert!(refused.text().contains("simulator"), "{}", refused.text());
    refused.names(&["rail"]);
}

#[test]
fn the_question_that_brought_a_contradiction_is_counted() {
    let server = server();
    let api = server.tenant().test;
    api.fund("100.00");
    let merchant = api.merchant();
    let payout = api.payout(&merchant, "20.06", json!({})).expect(202);
    // The bank made this charge, and says so at the first look.
    let charge = api.pay_with(10, "77777777");
    let ids = [text(&payout, "operationId"), text(&charge, "operationId")];
    resolve(&server, ids[0], &json!({ "outcome": "done", "reference": "81", "note": "n" }));
    resolve(&server, ids[1], &json!({ "outcome": "refused", "failureCode": "AM04", "note": "n" }));
    api.advance(61);
    let page = server.admin().get("/admin/operations?status=contradicted").expect(200);
    for id in ids {
        let item = list(&page, "items").iter().find(|item| item["operationId"] == id).expect("its item");
        assert_eq!((&item["asks"], &item["askedAt"]), (&json!(1), &item["contradictedAt"]), "{item}");
        assert!(instant(&item["askedAt"]) > instant(&item["sentAt"]), "{item}");
        assert_eq!(operation(&api, id)["updatedAt"], item["contradictedAt"]);
    }
}

#[test]
fn an_operation_was_updated_when_the_bank_decided() {
    let server = server();
    let api = server.tenant().test;
    // The bank refuses this charge at the first look.
    let id = text(&api.pay_with(10, "66666666"), "operationId").to_owned();
    let before = operation(&api, &id);
    assert_eq!(text(&before, "status"), "pending");
    api.advance(61);
    let after = operation(&api, &id);
    assert_eq!(text(&after, "status"), "failed");
    assert!(instant(&after["updatedAt"]) > instant(&before["updatedAt"]), "{after}");
}
