//! Keys with a mandate in the portal: how they are made, and who decides about what waits.

use crate::harness::check::{list, text};
use crate::harness::client::Answer;
use crate::harness::flows::fresh;
use crate::harness::server::Server;
use crate::visitor::{Visitor, page_of, token};
use serde_json::{Value, json};

fn credit(monto: &str) -> Value {
    json!({
        "banco": "0134", "telefono": "04147654321", "cedula": "V87654321", "monto": monto, "concepto": "vuelto",
        "externalRef": fresh("cr"),
    })
}

fn new_key(answer: &Answer) -> String {
    assert_eq!(answer.status, 201, "{}", answer.text());
    let shown = answer.text().split("data-field=\"newKey\" tabindex=\"0\">").nth(1);
    shown.and_then(|rest| rest.split('<').next()).expect("a key").to_owned()
}

#[test]
fn a_key_is_made_with_a_mandate_and_its_calls_are_decided() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.fund("100.00");
    let owner = Visitor::of_portal(server.nobody(), text(&tenant.created["testKey"], "key"));
    let page = owner.get("/portal/keys");
    let members = [
        ("name", "pagador"),
        ("agent", "Claude"),
        ("perDay.VES", "50,00"),
        ("perDay.COP", "1.000"),
        ("approvalAbove.VES", "5,00"),
        ("payees", "04147654321, 0424-765.43.21"),
        ("scopes", "read"),
        ("scopes", "payout"),
    ];
    // A key of all permissions is not made by leaving a form empty.
    let nothing = owner.press(&page, "create-key", &[("name", "todo")]);
    assert!(nothing.status == 400 && nothing.text().contains("Marca al menos uno"), "{}", nothing.text());
    let key = new_key(&owner.press(&page, "create-key", &members));
    assert_eq!(new_key(&owner.press(&page, "create-key", &members)), key, "the same form, the same key");
    let agent = server.api(&key);
    let made = list(&tenant.test.get("/v1/keys").expect(200), "items")[0].clone();
    assert_eq!(
        made["mandate"],
        json!({
            "agent": "Claude", "perDay": { "VES": "50.00", "COP": 1000 }, "payees": ["04147654321", "04247654321"],
            "approvalAbove": { "VES": "5.00" },
        })
    );
    let wrong = owner.press(
        &owner.get("/portal/keys"),
        "create-key",
        &[("perDay.VES", "mucho"), ("scopes", "payout")],
    );
    assert_eq!((wrong.status, page_of(&wrong).as_str()), (400, "keys"), "{}", wrong.text());
    assert!(wrong.text().contains("value=\"mucho\""), "what was typed stays");

    let paid = agent.post("/v1/payments/credit", &credit("5.00")).expect(201);
    let page = owner.get(&format!("/portal/payouts/{}", text(&paid, "payoutId")));
    let in_timeline = page
        .text()
        .split_once("data-field=\"timeline\"")
        .is_some_and(|(_, rest)| rest.contains("Agente: Claude"));
    assert!(page.text().contains("data-field=\"agent\"") && in_timeline, "{}", page.text());
    assert!(owner.get("/portal/payouts").text().contains("Claude"));

    let (first, second) = (credit("7.00"), credit("8.00"));
    agent.post("/v1/payments/credit", &first).expect(202);
    let home = owner.get("/portal/home");
    assert!(home.text().contains("Aprobaciones que esperan: 1"), "{}", home.text());
    let page = owner.get("/portal/approvals");
    assert_eq!((page.status, page_of(&page).as_str()), (200, "approvals"));
    for told in [
        "Claude",
        "7,00 VES",
        "Bs\u{a0}7,00",
        "V87654321",
        "Banesco (0134)",
        "04147654321",
        text(&first, "externalRef"),
    ] {
        assert!(page.text().contains(told), "{told}: {}", page.text());
    }
    for _ in 0..2 {
        let answer = owner.press(&page, "approve", &[]);
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, Some("/portal/approvals?done=approved")),
            "{}",
            answer.text()
        );
    }
    assert_eq!(tenant.test.balance()["ledgerNetVes"], "88.00", "once");
    agent.post("/v1/payments/credit", &second).expect(202);
    let page = owner.get("/portal/approvals");
    let answer = owner.press(&page, "reject", &[]);
    assert_eq!(answer.header("location"), Some("/portal/approvals?done=rejected"), "{}", answer.text());
    let late = owner.press(&page, "approve", &[]);
    assert_eq!((late.status, page_of(&late).as_str()), (409, "approvals"), "{}", late.text());
    assert!(late.text().contains("approval_decided"));
    assert!(!owner.get("/portal/approvals").text().contains("data-action=\"approve\""));
    let audit = server.admin().get(&format!("/admin/audit?tenantId={}&limit=100", tenant.id)).expect(200);
    let acts: Vec<&Value> = list(&audit, "items").iter().collect();
    for act in ["approval.approve", "approval.reject"] {
        let entry = acts.iter().find(|entry| entry["action"] == act).expect("an entry");
        assert_eq!(entry["after"]["agent"], "Claude", "{entry}");
    }
}

#[test]
fn what_a_mandate_has_wait_is_said_to_wait_and_approved_line_by_line() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.fund("5000.00");
    let payment = tenant.test.pay(10);
    let merchant = tenant.test.merchant();
    let (seller, name) = (text(&merchant, "merchantId"), text(&merchant, "name"));
    let limit =
        json!({ "agent": "Claude", "perDay": { "VES": "5000.00" }, "approvalAbove": { "VES": "5.00" } });
    let key = tenant.test.post("/v1/keys", &json!({ "mandate": limit })).expect(201);
    let agent = Visitor::of_portal(server.nobody(), text(&key, "key"));
    let owner = Visitor::of_portal(server.nobody(), text(&tenant.created["testKey"], "key"));
    let payouts = || list(&tenant.test.get("/v1/payouts").expect(200), "items").len();
    let says = |page: &Answer, words: &str| assert!(page.text().contains(words), "{words}: {}", page.text());
    let waits = |asked: &Answer, to: &str| {
        assert_eq!(asked.status, 200, "{}", asked.text());
        says(asked, "Una persona tiene que aprobarlo");
        let answer = agent.press(asked, "confirm", &[]);
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, Some(&*format!("{to}?done=waits"))),
            "{}",
            answer.text()
        );
        says(
            &agent.get(answer.header("location").expect("an address")),
            "Espera la aprobación de una persona",
        );
    };

    let (one, line) = (fresh("po"), fresh("line"));
    let members = [("merchantId", seller), ("monto", "7,00"), ("concepto", "semana"), ("externalRef", &*one)];
    let page = agent.get("/portal/payouts");
    waits(&agent.press(&page, "create-payout", &members), "/portal/payouts");
    // The form again: nothing was paid, so that it is no page of a payout.
    says(&agent.press(&page, "create-payout", &members), "Una persona tiene que aprobarlo");
    let file = format!("externalRef,merchantId,monto,concepto\n{line},{seller},8.00,lote\n");
    let csrf = token(&page);
    let preview = agent.upload("/portal/payouts/preview", &[("csrf", &csrf)], file.as_bytes());
    waits(&preview, "/portal/payouts");
    let path = format!("/portal/payments/{}", text(&payment, "paymentId"));
    waits(&agent.press(&agent.get(&path), "reverse", &[]), &path);
    assert_eq!((payouts(), &tenant.test.payment(&payment)["status"]), (0, &json!("COMPLETED")));

    let page = owner.get("/portal/approvals");
    let table =
        page.text().split("data-field=\"items\"").nth(1).and_then(|rest| rest.split("</table>").next());
    let table = table.unwrap_or_else(|| panic!("no lines: {}", page.text()));
    for told in [name, &line, "8,00", "lote", "0134 …4321"] {
        assert!(table.contains(told), "{told}: {table}");
    }
}

#[test]
fn a_batch_whose_body_the_list_leaves_out_is_shown_line_by_line() {
    let server = Server::shared();
    let tenant = server.tenant();
    let mandate = json!({ "perDay": { "VES": "5000.00" }, "approvalAbove": { "VES": "5.00" } });
    let key = tenant.test.post("/v1/keys", &json!({ "mandate": mandate })).expect(201);
    let items: Vec<Value> = (0..100).map(|_| credit("1.00")).collect();
    let batch = json!({ "externalRef": fresh("batch"), "items": items });
    server.api(text(&key, "key")).post("/v1/payments/credit/disburse", &batch).expect(202);
    let owner = Visitor::of_portal(server.nobody(), text(&tenant.created["testKey"], "key"));
    let page = owner.get("/portal/approvals");
    for item in &items {
        assert!(page.text().contains(text(item, "externalRef")), "{}", page.text());
    }
}

#[test]
fn all_lines_of_a_long_batch_are_on_its_own_page() {
    let server = Server::shared();
    let tenant = server.tenant();
    let mandate = json!({ "perDay": { "VES": "5000.00" }, "approvalAbove": { "VES": "5.00" } });
    let key = tenant.test.post("/v1/keys", &json!({ "mandate": mandate })).expect(201);
    let items: Vec<Value> = (0..130).map(|_| credit("1.00")).collect();
    let batch = json!({ "externalRef": fresh("batch"), "items": items });
    let asked = server.api(text(&key, "key")).post("/v1/payments/credit/disburse", &batch).expect(202);
    let owner = Visitor::of_portal(server.nobody(), text(&tenant.created["testKey"], "key"));
    let own = format!("/portal/approvals/{}", text(&asked, "approvalId"));
    let listed = owner.get("/portal/approvals");
    assert!(listed.text().contains(&format!("href=\"{own}\"")), "{}", listed.text());
    let page = owner.get(&own);
    assert_eq!((page.status, page_of(&page).as_str()), (200, "approvals"));
    let shown =
        |page: &Answer| items.iter().filter(|item| page.text().contains(text(item, "externalRef"))).count();
    assert_eq!((shown(&listed), shown(&page)), (100, 100));
    assert!(page.text().contains("Renglones 1 a 100 de 130"), "{}", page.text());
    assert!(page.text().contains(&format!("href=\"{own}?from=100\" rel=\"next\"")), "{}", page.text());
    let last = owner.get(&format!("{own}?from=100"));
    assert!(last.text().contains("Renglones 101 a 130 de 130") && !last.text().contains("rel=\"next\""));
    assert_eq!(shown(&last), 30);
    // The form is on each of them.
    let page = last;
    let reader = tenant.test.post("/v1/keys", &json!({ "scopes": ["read"] })).expect(201);
    let reader = Visitor::of_portal(server.nobody(), text(&reader, "key"));
    assert_eq!(reader.get(&own).status, 403);
    assert_eq!(owner.get(&own.replace('0', "1")).status, 404);
    let answer = owner.press(&page, "reject", &[]);
    assert_eq!(answer.header("location"), Some("/portal/approvals?done=rejected"), "{}", answer.text());
    let decided = owner.get(&own);
    assert!(decided.text().contains("Rechazada"), "{}", decided.text());
    assert!(!decided.text().contains("data-action=\"approve\""), "{}", decided.text());
}

#[test]
fn the_agents_of_other_keys_are_told_to_whoever_may_see_keys() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.fund("100.00");
    let make = |body: Value| text(&tenant.test.post("/v1/keys", &body).expect(201), "key").to_owned();
    let bound = make(json!({ "mandate": { "agent": "Claude", "perDay": { "VES": "50.00" } } }));
    let (reader, owner) = (make(json!({ "scopes": ["read"] })), text(&tenant.created["testKey"], "key"));
    let paid = server.api(&bound).post("/v1/payments/credit", &credit("5.00")).expect(201);
    let one = format!("/portal/payouts/{}", text(&paid, "payoutId"));
    for (key, is_told) in [(owner, true), (bound.as_str(), true), (reader.as_str(), false)] {
        let visitor = Visitor::of_portal(server.nobody(), key);
        for path in ["/portal/payouts", &one] {
            let page = visitor.get(path);
            assert_eq!(page.status, 200, "{}", page.text());
            assert_eq!(page.text().contains("Claude"), is_told, "{path}: {}", page.text());
        }
    }
}

#[test]
fn a_key_with_a_mandate_and_a_reader_get_no_forms_and_see_their_own_key() {
    let server = Server::shared();
    let tenant = server.tenant();
    let make = |body: Value| text(&tenant.test.post("/v1/keys", &body).expect(201), "key").to_owned();
    let mandate = json!({ "agent": "Claude", "perDay": { "VES": "9.00" } });
    let bound = make(json!({ "mandate": mandate }));
    let reader = make(json!({ "scopes": ["read"] }));
    let owner = text(&tenant.created["testKey"], "key");
    for key in [&bound, &reader] {
        let visitor = Visitor::of_portal(server.nobody(), key);
        let keys = visitor.get("/portal/keys");
        assert_eq!(keys.status, 200);
        assert!(keys.text().contains(&key[..12]), "{}", keys.text());
        assert!(!keys.text().contains(&owner[..12]), "{}", keys.text());
        for page in [&keys, &visitor.get("/portal/approvals")] {
            for action in ["create-key", "rotate-key", "approve", "reject"] {
                let shown = format!("data-action=\"{action}\"");
                assert!(!page.text().contains(&shown), "{action}: {}", page.text());
            }
        }
        let csrf = token(&keys);
        let unknown = "01930000-0000-7000-8000-000000000000";
        let decide = format!("/portal/approvals/{unknown}/approve");
        for path in ["/portal/keys", decide.as_str()] {
            assert_eq!(visitor.send(path, &[("csrf", &csrf)]).status, 403, "{path}");
        }
    }
    let whole = Visitor::of_portal(server.nobody(), owner);
    assert!(whole.get("/portal/keys").text().contains(&bound[..12]));
}

#[test]
fn what_is_paid_and_its_fee_are_two_amounts() {
    let server = Server::shared();
    let tenant = server.tenant_with(json!({ "fees": { "payoutVes": "1.50" } }));
    tenant.test.fund("100.00");
    let limit = json!({ "perDay": { "VES": "50.00" }, "approvalAbove": { "VES": "5.00" } });
    let key = tenant.test.post("/v1/keys", &json!({ "mandate": limit })).expect(201);
    server.api(text(&key, "key")).post("/v1/payments/credit", &credit("7.00")).expect(202);
    let owner = Visitor::of_portal(server.nobody(), text(&tenant.created["testKey"], "key"));
    let page = owner.get("/portal/approvals");
    for told in ["<h2>Bs\u{a0}7,00</h2>", "Bs\u{a0}1,50", "Sale de tu saldo", "8,50 VES"] {
        assert!(page.text().contains(told), "{told}: {}", page.text());
    }
}
