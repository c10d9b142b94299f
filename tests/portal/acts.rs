//! What a key may do on pages: once, however often it is sent.

use crate::harness::buyers;
use crate::harness::check::{list, text};
use crate::harness::flows::fresh;
use crate::harness::server::{Server, Tenant};
use crate::visitor::{Form, Visitor, page_of};
use serde_json::json;

fn visitor(server: &Server, tenant: &Tenant) -> Visitor {
    Visitor::of_portal(server.nobody(), text(&tenant.created["testKey"], "key"))
}

#[test]
fn a_payment_is_given_back_once() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.fund("5000.00");
    let payment = tenant.test.pay(10);
    let visitor = visitor(&server, &tenant);
    let path = format!("/portal/payments/{}", text(&payment, "paymentId"));
    let page = visitor.get(&path);
    let asked = visitor.press(&page, "reverse", &[]);
    assert_eq!((asked.status, page_of(&asked).as_str()), (200, "payment"), "{}", asked.text());
    for words in
        ["Reversar Bs 2.000,00", "No se puede deshacer", "Todavía no se hizo nada", "data-field=\"balances\""]
    {
        assert!(asked.text().contains(words), "{words}: {}", asked.text());
    }
    assert_eq!(tenant.test.payment(&payment)["status"], "COMPLETED", "nothing was done yet");
    for _ in 0..2 {
        let answer = visitor.press(&asked, "confirm", &[]);
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, Some(&*format!("{path}?done=reversed")))
        );
    }
    assert_eq!(tenant.test.payment(&payment)["status"], "REVERSED");
    let page = visitor.get(&path);
    assert!(page.text().contains("data-status=\"REVERSED\"") && page.text().contains("payment.reversed"));
    assert!(!page.text().contains("data-action=\"reverse\""));
}

#[test]
fn only_what_can_be_given_back_has_a_button_for_it() {
    let server = Server::shared();
    let tenant = server.tenant_with(json!({ "cop": { "enabled": true } }));
    let visitor = visitor(&server, &tenant);
    let offers = |id: &str| {
        let page = visitor.get(&format!("/portal/payments/{id}"));
        assert_eq!((page.status, page_of(&page).as_str()), (200, "payment"), "{}", page.text());
        page.text().contains("data-action=\"reverse\"")
    };
    let (bank, card, pesos) = (tenant.test.pay(10), tenant.test.vpos_pay(10), tenant.test.cop_paid(50_000));
    let session = buyers::session(&tenant, json!({}));
    let page = buyers::Page::of(&server, &session);
    tenant.test.buyer_sends(&page.usdt("TRC20").expect(201), "10.00");
    let usdt = buyers::of(&tenant, &session)["paymentId"].clone();
    let usdt = usdt.as_str().expect("a payment").to_owned();
    let (bank, card, pesos) = (text(&bank, "paymentId"), text(&card, "paymentId"), text(&pesos, "id"));
    assert_eq!([bank, card, pesos, &usdt].map(offers), [true, false, true, false]);
    // A day ends the time of a bank, four days that of pesos.
    tenant.test.advance(86_400);
    assert_eq!([bank, pesos].map(offers), [false, true]);
    tenant.test.advance(3 * 86_400);
    assert_eq!([bank, pesos].map(offers), [false, false]);
}

#[test]
fn a_payout_is_made_once_and_a_bad_one_says_why() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.fund("1100.00");
    let merchant = tenant.test.merchant();
    let visitor = visitor(&server, &tenant);
    let page = visitor.get("/portal/payouts");
    let reference = fresh("po");
    let fields = [
        ("merchantId", text(&merchant, "merchantId")),
        ("monto", "1.040,00"),
        ("concepto", "semana"),
        ("externalRef", &reference),
    ];
    let [review, second] = [(); 2].map(|()| visitor.press(&page, "create-payout", &fields));
    assert_eq!((review.status, page_of(&review).as_str()), (200, "payouts"), "{}", review.text());
    let first = visitor.press(&review, "confirm", &[]);
    let again = visitor.press(&review, "confirm", &[]);
    assert_eq!((first.status, first.header("location")), (303, again.header("location")), "{}", first.text());
    // A second window on the same form, and the form itself, pay nothing more.
    assert_eq!(visitor.press(&second, "confirm", &[]).header("location"), first.header("location"));
    let repeated = visitor.press(&page, "create-payout", &fields);
    assert_eq!((repeated.status, repeated.header("location")), (303, first.header("location")));
    assert_eq!(list(&tenant.test.get("/v1/payouts").expect(200), "items").len(), 1);
    let shown = visitor.get(first.header("location").expect("an address"));
    assert_eq!(page_of(&shown), "payout");
    assert!(shown.text().contains("data-status=\"completed\"") && shown.text().contains("1.040,00"));

    let failed = visitor.press(
        &visitor.get("/portal/payouts"),
        "create-payout",
        &[
            ("merchantId", text(&merchant, "merchantId")),
            ("monto", "1,555"),
            ("concepto", "x"),
            ("externalRef", "r"),
        ],
    );
    assert_eq!((failed.status, page_of(&failed).as_str()), (400, "payouts"));
    assert!(
        failed.text().contains("data-status=\"error\"") && failed.text().contains("value=\"1,555\""),
        "what was typed is still there"
    );
    let poor = visitor.press(
        &visitor.get("/portal/payouts"),
        "create-payout",
        &[
            ("merchantId", text(&merchant, "merchantId")),
            ("monto", "999.00"),
            ("concepto", "x"),
            ("externalRef", &fresh("po")),
        ],
    );
    assert!(
        (400..500).contains(&poor.status) && poor.text().contains("insufficient_balance"),
        "{}",
        poor.text()
    );
}

#[test]
fn a_payout_is_shown_before_it_is_paid() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.fund("1000.00");
    let merchant = tenant.test.merchant();
    let visitor = visitor(&server, &tenant);
    let reference = fresh("po");
    for (language, balances, nothing_yet, rail) in [
        ("es", ["1.000,00", "988,00"], "Todavía no se pagó nada", "Simulador"),
        ("en", ["1,000.00", "988.00"], "Nothing has been paid yet", "Simulator"),
    ] {
        let page = visitor.get(&format!("/portal/payouts?lang={language}"));
        let fields = [
            ("merchantId", text(&merchant, "merchantId")),
            ("monto", "12.00"),
            ("concepto", "la \"semana\" & más"),
            ("externalRef", &reference),
        ];
        let review = visitor.press(&page, "create-payout", &fields);
        assert_eq!(review.status, 200, "{}", review.text());
        let name = text(&merchant, "name");
        for words in [nothing_yet, balances[0], balances[1], name, "data-field=\"feeVes\"", rail] {
            assert!(review.text().contains(words), "{words}: {}", review.text());
        }
        let edited: Vec<(String, String)> = Form::with_action(&review, "back").hidden;
        let edited: Vec<(&str, &str)> = edited.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert!(review.text().contains("formaction=\"/portal/payouts/edit"));
        let form = visitor.send("/portal/payouts/edit", &edited);
        for typed in ["value=\"12.00\"", "value=\"la &#34;semana&#34; &#38; más\"", &reference] {
            assert!(form.status == 200 && form.text().contains(typed), "{typed}: {}", form.text());
        }
    }
    assert_eq!(tenant.test.balance()["availableVes"], "1000.00");
    assert!(list(&tenant.test.get("/v1/payouts").expect(200), "items").is_empty(), "nothing is paid");
}

#[test]
fn a_link_is_made_and_drawn() {
    let server = Server::shared();
    let tenant = server.tenant();
    let visitor = visitor(&server, &tenant);
    let slug = fresh("cafe");
    let page = visitor.get("/portal/links");
    let made =
        visitor.press(&page, "create-link", &[("name", "Café"), ("priceUsd", "5.00"), ("slug", &slug)]);
    assert_eq!(made.status, 303, "{}", made.text());
    let again =
        visitor.press(&page, "create-link", &[("name", "Café"), ("priceUsd", "5.00"), ("slug", &slug)]);
    assert_eq!(again.header("location"), made.header("location"));
    assert_eq!(list(&tenant.test.get("/v1/products").expect(200), "items").len(), 1);
    let shown = visitor.get(made.header("location").expect("an address"));
    assert!(
        shown.text().contains("<svg") && shown.text().contains(&format!("/pay/{slug}")),
        "{}",
        shown.text()
    );
}

#[test]
fn a_link_that_was_refused_leaves_no_second_product_behind() {
    let server = Server::shared();
    let tenant = server.tenant();
    let visitor = visitor(&server, &tenant);
    let products = || list(&tenant.test.get("/v1/products").expect(200), "items").len();
    let fields = |slug| [("name", "Camisa"), ("priceUsd", "25.00"), ("slug", slug)];
    let taken = fresh("camisa");
    let other = server.tenant();
    let product = other.test.post("/v1/products", &json!({ "name": "x", "priceUsd": "1.00" })).expect(201);
    let links = format!("/v1/products/{}/links", text(&product, "id"));
    other.test.post(&links, &json!({ "slug": taken })).expect(201);
    let page = visitor.get("/portal/links");
    let page = visitor.press(&page, "create-link", &fields("No Vale!"));
    assert_eq!((page.status, page_of(&page).as_str(), products()), (400, "links", 0), "{}", page.text());
    assert!(page.text().contains("value=\"No Vale!\""), "what was typed is still there");
    let page = visitor.press(&page, "create-link", &fields(&taken));
    assert_eq!((page.status, page_of(&page).as_str(), products()), (409, "links", 1), "{}", page.text());
    assert!(page.text().contains("El producto ya quedó creado"), "{}", page.text());
    let made = tenant.test.get("/v1/products").expect(200);
    let product = text(&list(&made, "items")[0], "id");
    assert!(page.text().contains(&format!("<option value=\"{product}\" selected>")), "{}", page.text());
    let good = fresh("camisa");
    let made = visitor.press(&page, "create-link", &[&[("productId", product)][..], &fields(&good)].concat());
    assert_eq!((made.status, products()), (303, 1), "{}", made.text());
}

#[test]
fn a_webhook_is_made_its_secret_shown_once_and_its_signature_explained() {
    let server = Server::start_with(&[("PASARELA__WEBHOOKS__ALLOW_PRIVATE_TARGETS", "true")]);
    let tenant = server.tenant();
    let visitor = visitor(&server, &tenant);
    let page = visitor.get("/portal/webhooks");
    let made = visitor.press(
        &page,
        "create-webhook",
        &[("url", "http://127.0.0.1:9/hook"), ("events", "payment.completed"), ("events", "payment.failed")],
    );
    assert_eq!(made.status, 201, "{}", made.text());
    let secret = made
        .text()
        .split("data-field=\"secret\" tabindex=\"0\">")
        .nth(1)
        .and_then(|rest| rest.split('<').next())
        .expect("a secret")
        .to_owned();
    assert!(secret.starts_with("whsec_"), "{secret}");
    let endpoints = tenant.test.get("/v1/webhooks").expect(200);
    let endpoint = &list(&endpoints, "items")[0];
    assert_eq!(endpoint["events"], json!(["payment.completed", "payment.failed"]));
    tenant.test.pay(10);
    let path = format!("/portal/webhooks/{}", text(endpoint, "id"));
    let shown = visitor.get(&path);
    assert_eq!(page_of(&shown), "webhooks");
    assert!(!shown.text().contains(&secret), "the secret is not shown again");
    let deliveries =
        tenant.test.get(&format!("/v1/webhooks/{}/deliveries", text(endpoint, "id"))).expect(200);
    let event = text(&list(&deliveries, "items")[0], "eventId").to_owned();
    let shown = visitor.get(&format!("{path}?event={event}"));
    let field = |name: &str| {
        let rest = shown.text().split(&format!("data-field=\"{name}\" tabindex=\"0\">")).nth(1);
        crate::visitor::plain(
            rest.and_then(|rest| rest.split("</code>").next()).unwrap_or_else(|| panic!("no {name}")),
        )
    };
    let body = field("body");
    let own = {
        use hmac::{Hmac, KeyInit, Mac};
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).expect("a key");
        mac.update(body.as_bytes());
        hex::encode(mac.finalize().into_bytes())
    };
    assert_eq!(field("svcSignature"), own, "over the very bytes that are shown");
    assert!(field("signed").starts_with(&format!("{event}.")) && field("signed").ends_with(&body));
    let resent = visitor.press(&shown, "resend", &[]);
    assert_eq!(resent.status, 303, "{}", resent.text());
}

#[test]
fn a_key_is_replaced_by_its_holder() {
    let server = Server::shared();
    let tenant = server.tenant();
    let visitor = visitor(&server, &tenant);
    let page = visitor.get("/portal/keys");
    let answer = visitor.press(&page, "rotate-key", &[("overlapSeconds", "0")]);
    assert_eq!(answer.status, 201, "{}", answer.text());
    let new = answer
        .text()
        .split("data-field=\"newKey\" tabindex=\"0\">")
        .nth(1)
        .and_then(|rest| rest.split('<').next())
        .expect("a key")
        .to_owned();
    server.api(&new).get("/v1/balance").expect(200);
    tenant.test.get("/v1/balance").refused(401, "unauthorized");
    assert_eq!(page_of(&visitor.get("/portal/home")), "login", "the session ended with its key");
    assert_eq!(page_of(&Visitor::of_portal(server.nobody(), &new).get("/portal/home")), "home");
}

/// The new key on the page that answers.
fn new_key(answer: &crate::harness::client::Answer) -> String {
    assert_eq!(answer.status, 201, "{}", answer.text());
    let shown = answer.text().split("data-field=\"newKey\" tabindex=\"0\">").nth(1);
    shown.and_then(|rest| rest.split('<').next()).expect("a key").to_owned()
}

#[test]
fn a_key_gets_one_successor_however_often_its_form_is_sent_and_the_audit_says_who_did_it() {
    let server = Server::shared();
    let tenant = server.tenant();
    let key_id = text(&tenant.created["testKey"], "keyId");
    let visitor = visitor(&server, &tenant);
    let page = visitor.get("/portal/keys");
    let overlap = [("overlapSeconds", "3600")];
    let new = new_key(&visitor.press(&page, "rotate-key", &overlap));
    assert_eq!(new_key(&visitor.press(&page, "rotate-key", &overlap)), new, "the same form, the same key");
    let another = visitor.press(&visitor.get("/portal/keys"), "rotate-key", &overlap);
    assert_eq!(another.status, 409, "{}", another.text());
    let keys = server.admin().get(&format!("/admin/tenants/{}/keys", tenant.id)).expect(200);
    let test: Vec<_> = list(&keys, "items").iter().filter(|key| key["mode"] == "test").collect();
    assert_eq!(test.len(), 2);
    assert_eq!((&test[0]["replaces"], &test[1]["replaces"]), (&json!(key_id), &json!(null)));
    let audit = format!("/admin/audit?tenantId={}&action=key.rotate", tenant.id);
    let entries = server.admin().get(&audit).expect(200);
    let entries = list(&entries, "items");
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0]["target"], key_id);
    // Who revokes the key that leaked is told what it became, and can end that too.
    let revoked = server.admin().delete(&format!("/admin/keys/{key_id}?successors=true")).expect(200);
    assert_eq!(list(&revoked, "successors").len(), 1);
    server.api(&new).get("/v1/balance").refused(401, "unauthorized");
}

#[test]
fn what_a_page_does_to_an_account_no_stranger_and_no_key_can_call() {
    let server = Server::shared();
    let tenant = server.tenant();
    for path in ["/v1/pages/keys/rotate", "/v1/pages/live"] {
        server.nobody().get(path).refused(404, "not_found");
        let problem = tenant.test.post(path, &json!({})).refused(404, "not_found");
        let message = text(&problem, "message");
        assert!(!message.contains("did you mean"), "a path of pages is named to nobody: {message}");
        server.nobody().post(path, &json!({})).refused(404, "not_found");
    }
    let made = server
        .admin()
        .post(&format!("/admin/tenants/{}/keys", tenant.id), &json!({ "mode": "test", "scopes": ["read"] }))
        .expect(201);
    let reader = Visitor::of_portal(server.nobody(), text(&made, "key"));
    let csrf = crate::visitor::token(&reader.get("/portal/home"));
    for path in ["/portal/keys/rotate", "/portal/live"] {
        assert_eq!(reader.send(path, &[("csrf", &csrf)]).status, 403, "{path}");
    }
}

#[test]
fn live_mode_is_asked_for() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.pay(10);
    let visitor = visitor(&server, &tenant);
    let page = visitor.get("/portal/live");
    assert!(
        page.text().contains("data-field=\"checklist\"") && page.text().contains("data-status=\"inactive\"")
    );
    assert_eq!(
        (
            page.text().matches("<tr data-status=\"done\"").count(),
            page.text().matches("<tr data-status=\"pending\"").count()
        ),
        (1, 4)
    );
    let before = server.admin().get("/admin/status").expect(200)["walSeq"].as_u64().expect("a number");
    let answer = visitor.press(&page, "request-live", &[]);
    assert_eq!(answer.header("location"), Some("/portal/live?done=asked"));
    let after = server.admin().get("/admin/status").expect(200)["walSeq"].as_u64().expect("a number");
    assert!(after > before, "a record says who asked");
    // One waits at a time, however often it is asked.
    for _ in 0..3 {
        let answer = visitor.press(&visitor.get("/portal/live"), "request-live", &[]);
        assert_eq!(answer.header("location"), Some("/portal/live?done=asked"));
    }
    let audit = format!("/admin/audit?tenantId={}&action=tenant.live-request", tenant.id);
    assert_eq!(list(&server.admin().get(&audit).expect(200), "items").len(), 1);
    let asked_at =
        || server.admin().get(&format!("/admin/tenants/{}", tenant.id)).expect(200)["liveAskedAt"].clone();
    assert!(asked_at().is_string());
    // Whatever others ask, the operator finds it among those that wait, until there is an answer.
    let waits = || server.admin().walk("/admin/tenants", &[("liveAsked", "true")], 5);
    assert!(waits().iter().any(|one| one["tenantId"] == tenant.id.as_str()));
    let answer = json!({ "status": "inactive", "reason": "send your documents first" });
    server.admin().post(&format!("/admin/tenants/{}/live-status", tenant.id), &answer).expect(200);
    assert!(asked_at().is_null() && !waits().iter().any(|one| one["tenantId"] == tenant.id.as_str()));
    visitor.press(&visitor.get("/portal/live"), "request-live", &[]);
    assert!(asked_at().is_string(), "it may be asked for again");
    assert_eq!(Form::with_action(&visitor.get("/portal/live"), "request-live").to, "/portal/live");
}

#[test]
fn a_seller_is_paid_by_name() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.fund("100.00");
    let merchant = tenant.test.merchant();
    let visitor = visitor(&server, &tenant);
    let page = visitor.get("/portal/payouts");
    let name = text(&merchant, "name");
    assert!(page.text().contains(&format!("<option value=\"{name}\">")), "{}", page.text());
    let reference = fresh("po");
    let fields =
        [("merchantId", name), ("monto", "12,5"), ("concepto", "semana"), ("externalRef", &*reference)];
    let review = visitor.press(&page, "create-payout", &fields);
    let paid = visitor.press(&review, "confirm", &[]);
    assert_eq!(paid.status, 303, "{}", paid.text());
    let payouts = tenant.test.get("/v1/payouts").expect(200);
    let payout = &list(&payouts, "items")[0];
    assert_eq!((&payout["monto"], &payout["merchantId"]), (&json!("12.50"), &merchant["merchantId"]));
    let nobody = [("merchantId", "Nadie"), ("monto", "1,00"), ("concepto", "x"), ("externalRef", "r")];
    let refused = visitor.press(&visitor.get("/portal/payouts"), "create-payout", &nobody);
    assert!((400..500).contains(&refused.status) && refused.text().contains("value=\"Nadie\""));
}

#[test]
fn an_address_is_disabled_after_a_second_look_and_its_deliveries_are_filtered() {
    let server = Server::start_with(&[("PASARELA__WEBHOOKS__ALLOW_PRIVATE_TARGETS", "true")]);
    let tenant = server.tenant();
    let body = json!({ "url": "http://127.0.0.1:9/hook", "events": ["payment.completed"] });
    let webhook = tenant.test.post("/v1/webhooks", &body).expect(201);
    tenant.test.pay(10);
    let visitor = visitor(&server, &tenant);
    let path = format!("/portal/webhooks/{}", text(&webhook, "id"));
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let failed = || visitor.get(&format!("{path}?status=failed"));
    while !failed().text().contains("<tr data-status=\"failed\"") {
        assert!(std::time::Instant::now() < deadline, "it never failed: {}", failed().text());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(failed().text().contains("rechazó la conexión"), "{}", failed().text());
    let delivered = visitor.get(&format!("{path}?status=delivered"));
    assert!(!delivered.text().contains("<tr data-status"), "{}", delivered.text());
    let status =
        || tenant.test.get(&format!("/v1/webhooks/{}", text(&webhook, "id"))).expect(200)["status"].clone();
    let asked = visitor.press(&visitor.get(&path), "switch-webhook", &[]);
    assert!(asked.text().contains("deja de enterarse") && status() == "enabled", "{}", asked.text());
    let done = visitor.press(&asked, "confirm", &[]);
    assert_eq!((done.status, status()), (303, json!("disabled")), "{}", done.text());
}

#[test]
fn what_a_reversal_takes_from_the_seller_is_said() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.fund("5000.00");
    let merchant = tenant.test.merchant();
    let share = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
    let payment = tenant.test.execute(&tenant.test.intent(10), "12345678", share).expect(200);
    let visitor = visitor(&server, &tenant);
    let page = visitor.get(&format!("/portal/payments/{}", text(&payment, "paymentId")));
    let asked = visitor.press(&page, "reverse", &[]);
    for words in ["El dinero que se movería", "Del saldo del vendedor"] {
        assert!(asked.text().contains(words), "{words}: {}", asked.text());
    }
}
