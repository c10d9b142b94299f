//! What operators do on pages: by their role, with a second person where one is asked for.

use crate::harness::check::{list, text};
use crate::harness::flows::fresh;
use crate::harness::server::{ADMIN_TOKEN, Server};
use crate::login::{hired, operator};
use crate::visitor::{page_of, token};

#[test]
fn a_rate_is_held_by_hand_and_let_go() {
    let server = Server::start();
    let visitor = operator(&server, ADMIN_TOKEN);
    let page = visitor.get("/console/rates");
    let until = (chrono::Utc::now() + chrono::TimeDelta::hours(1)).format("%Y-%m-%dT%H:%M:%SZ").to_string();
    let fields = [
        ("pair", "USDT/COP"),
        ("source", "p2p"),
        ("side", "BUY"),
        ("price", "4100.00"),
        ("pinnedUntil", &until),
        ("reason", "feriado"),
    ];
    let answer = visitor.press(&page, "pin", &fields);
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, Some("/console/rates?done=done")),
        "{}",
        answer.text()
    );
    let page = visitor.get("/console/rates");
    assert!(
        page.text().contains("<tr data-status=\"pinned\">") && page.text().contains("feriado"),
        "{}",
        page.text()
    );
    let answer = visitor.press(&page, "unpin", &[]);
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert!(!visitor.get("/console/rates").text().contains("<tr data-status=\"pinned\">"));
    let (_, viewer) = hired(&server, "viewer");
    let viewer = operator(&server, &viewer);
    let page = viewer.get("/console/rates");
    assert!(!page.text().contains("data-action=\"pin\""));
    let token = token(&page);
    let mut members = fields.to_vec();
    members.push(("csrf", &token));
    assert_eq!(viewer.send("/console/rates", &members).status, 403);
}

#[test]
fn what_moves_money_waits_for_a_second_person() {
    let server = Server::start_with(&[("PASARELA__ADMIN__APPROVALS", "adjustments")]);
    let tenant = server.tenant();
    let (_, treasurer) = hired(&server, "treasury");
    let asker = operator(&server, &treasurer);
    let path = format!("/console/tenants/{}", tenant.id);
    let page = asker.get(&path);
    let fields = [
        ("mode", "test"),
        ("currency", "VES"),
        ("amount", "25.00"),
        ("description", "redondeo"),
        ("externalRef", &fresh("adj")),
    ];
    let answer = asker.press(&page, "create-adjustment", &fields);
    assert_eq!(answer.header("location"), Some(&*format!("{path}?done=waits")), "{}", answer.text());
    assert_eq!(tenant.test.balance()["availableVes"], "0.00");
    let waiting = asker.get("/console/approvals");
    assert!(
        waiting.text().contains("data-action=\"approve\"") && waiting.text().contains("data-field=\"note\"")
    );
    let own = asker.press(&waiting, "approve", &[("note", "yo")]);
    assert_eq!(own.status, 403);
    assert!(
        own.text().contains("second_person_required") && own.text().contains("data-status=\"error\""),
        "{}",
        own.text()
    );
    let root = operator(&server, ADMIN_TOKEN);
    let waiting = root.get("/console/approvals");
    let answer = root.press(&waiting, "approve", &[("note", "visto")]);
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert_eq!(tenant.test.balance()["availableVes"], "25.00");
    let approvals = server.admin().get("/admin/approvals").expect(200);
    let approval = &list(&approvals, "items")[0];
    assert_eq!((text(approval, "status"), text(approval, "note")), ("approved", "visto"));
}

#[test]
fn a_tenant_goes_live_by_an_admin() {
    let server = Server::shared();
    let tenant = server.tenant();
    let visitor = operator(&server, ADMIN_TOKEN);
    let path = format!("/console/tenants/{}", tenant.id);
    let page = visitor.get(&path);
    assert_eq!(page_of(&page), "tenant");
    assert!(page.text().contains("data-status=\"inactive\""));
    let answer =
        visitor.press(&page, "set-live-status", &[("status", "active"), ("note", "contrato firmado")]);
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert!(visitor.get(&path).text().contains("data-page=\"tenant\" data-status=\"active\""));
    let (_, treasurer) = hired(&server, "treasury");
    let treasurer = operator(&server, &treasurer);
    let page = treasurer.get(&path);
    assert!(!page.text().contains("data-action=\"set-live-status\""));
    let token = token(&page);
    let answer = treasurer
        .send(&format!("{path}/live-status"), &[("csrf", &token), ("status", "suspended"), ("note", "x")]);
    assert_eq!(answer.status, 403);
    let key = visitor.press(&visitor.get(&path), "create-key", &[("mode", "test"), ("scopes", "read")]);
    assert_eq!(key.status, 201, "{}", key.text());
    assert!(key.text().contains("pk_test_"));
}
