//! What a key without a permission is told: that it may not, and never that there is nothing.

use crate::harness::check::text;
use crate::harness::server::{Server, Tenant};
use crate::visitor::Visitor;
use serde_json::json;

/// A visitor with a key of these scopes alone.
fn with_scopes(server: &Server, tenant: &Tenant, scopes: &[&str]) -> Visitor {
    let path = format!("/admin/tenants/{}/keys", tenant.id);
    let made = server.admin().post(&path, &json!({ "mode": "test", "scopes": scopes })).expect(201);
    Visitor::of_portal(server.nobody(), text(&made, "key"))
}

#[test]
fn a_key_that_may_not_read_is_told_so_on_every_page() {
    let server = Server::shared();
    let tenant = server.tenant();
    let payment = tenant.test.pay(10);
    let visitor = with_scopes(&server, &tenant, &["collect", "manage"]);
    let search = format!("search?q={}", text(&payment, "externalRef"));
    for page in [
        "home",
        "payments",
        "payouts",
        "merchants",
        "links",
        "sessions",
        "statements",
        "live",
        "keys",
        &search,
    ] {
        let answer = visitor.get(&format!("/portal/{page}"));
        assert!(answer.text().contains("Tu llave no tiene permiso"), "{page}: {}", answer.text());
        assert_eq!(answer.status, 403, "{page}");
    }
    let file = visitor.get("/portal/statements?format=csv");
    assert!(file.text().contains("Tu llave no tiene permiso"), "{}", file.text());
    assert_eq!(file.status, 403);
    let keys = visitor.get("/portal/keys");
    assert!(!keys.text().contains("pk_test_…") && !keys.text().contains("<td>"), "{}", keys.text());
}

#[test]
fn the_steps_before_real_money_are_those_of_test_mode() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.pay(10);
    let visitor = Visitor::of_portal(server.nobody(), text(&tenant.created["liveKey"], "key"));
    let page = visitor.get("/portal/live");
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(!page.text().contains("data-field=\"checklist\""), "{}", page.text());
    assert!(page.text().contains("Entra con tu llave de prueba"), "{}", page.text());
}
