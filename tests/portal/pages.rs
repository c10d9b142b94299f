//! Every page, with what it shows and whom it shows it to.

use crate::harness::check::text;
use crate::harness::flows::method_path;
use crate::harness::server::{Server, Tenant};
use crate::visitor::{Visitor, page_of};
use serde_json::json;

/// What somebody may have typed to break a page.
const HOSTILE: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";

fn visitor(server: &Server, tenant: &Tenant) -> Visitor {
    Visitor::of_portal(server.nobody(), text(&tenant.created["testKey"], "key"))
}

#[test]
fn every_page_has_its_name_in_both_languages() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.pay(10);
    let visitor = visitor(&server, &tenant);
    for name in ["home", "payments", "payouts", "merchants", "links", "webhooks", "requests", "keys", "live"]
    {
        for (language, mark) in [("es", "lang=\"es\""), ("en", "lang=\"en\"")] {
            let answer = visitor.get(&format!("/portal/{name}?lang={language}"));
            assert_eq!((answer.status, page_of(&answer).as_str()), (200, name), "{}", answer.text());
            assert!(answer.text().contains(mark));
            assert!(
                !answer.text().contains("style=\"") && !answer.text().contains("onclick"),
                "inline code on {name}"
            );
        }
    }
    let english = visitor.get("/portal/home?lang=en");
    assert!(english.text().contains("href=\"/portal/payouts?lang=en\""), "links keep the language");
    assert_eq!(visitor.get("/portal/nothing").status, 404);
}

#[test]
fn a_payment_in_pesos_tells_of_wrong_codes() {
    let server = Server::shared();
    let tenant = server.tenant();
    let payment = tenant.test.cop(50_000, "sms");
    tenant.test.cop_otp(&payment, "654321").refused(400, "invalid_otp");
    let path = format!("/portal/payments/{}?lang=es", text(&payment, "id"));
    let page = visitor(&server, &tenant).get(&path);
    assert!(page.text().contains("Código equivocado: 1 de 5"), "{}", page.text());
    assert!(!page.text().contains("654321"));
}

#[test]
fn what_is_held_is_said_with_its_hour() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.fund("1000.00");
    tenant.test.pay(10);
    let home = visitor(&server, &tenant).get("/portal/home");
    for (field, amount) in [("availableVes", "1.000,00"), ("heldVes", "1.970,00")] {
        assert!(
            home.text().contains(&format!("data-field=\"{field}\">{amount}")),
            "{field}: {}",
            home.text()
        );
    }
    assert!(
        home.text().contains("data-plot=") && home.text().contains("<td class=\"figure\">1.970,00</td>"),
        "{}",
        home.text()
    );
}

#[test]
fn movements_are_shown_in_each_currency() {
    let server = Server::shared();
    let tenant = server.tenant_with(json!({ "cop": { "enabled": true } }));
    tenant.test.cop_fund("123456", false);
    tenant.test.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "12.34" })).expect(201);
    let visitor = visitor(&server, &tenant);
    for (currency, amount) in [("COP", "123.456"), ("USDT", "12,34")] {
        let page = visitor.get(&format!("/portal/home?currency={currency}"));
        let table = page.text().split("<table").last().expect("movements");
        assert!(table.contains(amount), "{currency}: {table}");
    }
    let home = visitor.get("/portal/home");
    assert!(home.text().contains("/portal/home?currency=COP"), "{}", home.text());
}

#[test]
fn a_statement_without_days_ends_on_the_newest_of_its_clock() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.advance(5 * 86_400);
    tenant.test.fund("77.00");
    let page = visitor(&server, &tenant).get("/portal/statements");
    assert!(page.text().contains("77,00"), "{}", page.text());
}

#[test]
fn a_payment_shows_what_happened() {
    let server = Server::shared();
    let tenant = server.tenant();
    let payment = tenant.test.pay(10);
    let failed = tenant.test.pay_with(10, "99999999");
    let visitor = visitor(&server, &tenant);
    let page = visitor.get(&format!("/portal/payments/{}", text(&payment, "paymentId")));
    assert_eq!((page.status, page_of(&page).as_str()), (200, "payment"));
    assert!(
        page.text()
            .contains("<main id=\"main\" tabindex=\"-1\" data-page=\"payment\" data-status=\"COMPLETED\">")
    );
    let timeline = page.text().split("data-field=\"timeline\"").nth(1).expect("a timeline");
    let timeline = timeline.split("</ol>").next().expect("its end");
    assert_eq!(timeline.matches("<li ").count(), 3, "{timeline}");
    for part in [
        "payment.requested",
        "payment.charging",
        "payment.completed",
        text(&payment, "bankReference"),
        "2.000,00 VES",
    ] {
        assert!(timeline.contains(part), "{part}: {timeline}");
    }
    let page = visitor.get(&format!("/portal/payments/{}", text(&failed, "paymentId")));
    assert!(
        page.text().contains("data-status=\"FAILED\"") && page.text().contains("Fondos insuficientes (AM04)")
    );
    let headline = page.text().split("id=\"headline\"").nth(1).and_then(|rest| rest.split("</div>").next());
    let headline = headline.expect("amount and state");
    assert!(headline.contains("Bs 2.000,00") && headline.contains("Fallido"), "{headline}");
    assert!(page.text().contains("Banesco (0134)"), "{}", page.text());
    assert!(!page.text().contains("data-action=\"reverse\""), "there is nothing to give back");
    let stranger = server.tenant();
    let stranger = Visitor::of_portal(server.nobody(), text(&stranger.created["testKey"], "key"));
    assert_eq!(stranger.get(&format!("/portal/payments/{}", text(&payment, "paymentId"))).status, 404);
}

#[test]
fn hostile_names_stay_texts() {
    let server = Server::shared();
    let created = server.admin().post("/admin/tenants", &json!({ "name": HOSTILE })).expect(201);
    let key = text(&created["testKey"], "key");
    let api = server.api(key);
    api.fund("100.00");
    let merchant = api.create_merchant(json!({ "name": HOSTILE })).expect(201);
    let path = method_path(&merchant, 0);
    api.act(&format!("{path}/verify/start")).expect(202);
    api.verify(&path, "0.32", "0.45").expect(200);
    let payout = api.payout(&merchant, "10.00", json!({ "concepto": HOSTILE })).expect(201);
    let product = api.post("/v1/products", &json!({ "name": HOSTILE, "priceUsd": "5.00" })).expect(201);
    api.post(&format!("/v1/products/{}/links", text(&product, "id")), &json!({})).expect(201);
    let visitor = Visitor::of_portal(server.nobody(), key);
    let one = |page: &str, id: &str| format!("/portal/{page}/{id}");
    for path in [
        "/portal/home".to_owned(),
        "/portal/merchants".to_owned(),
        "/portal/payouts".to_owned(),
        "/portal/links".to_owned(),
        one("merchants", text(&merchant, "merchantId")),
        one("payouts", text(&payout, "payoutId")),
        format!("/portal/search?q={}", "%3Cscript%3Ealert(1)%3C/script%3E"),
        "/portal/requests?requestId=%22%3E%3Cscript%3E".to_owned(),
        "/portal/requests?route=%22%3E%3Cscript%3E".to_owned(),
        "/portal/%3Cscript%3E".to_owned(),
    ] {
        let answer = visitor.get(&path);
        let html = answer.text();
        assert!(!html.contains("<script>") && !html.contains("<img"), "{path}: {html}");
    }
    assert!(visitor.get("/portal/merchants").text().contains("&#60;script&#62;alert(1)"));
}

#[test]
fn a_key_of_scope_read_sees_and_never_acts() {
    let server = Server::shared();
    let tenant = server.tenant();
    let payment = tenant.test.pay(10);
    let path = format!("/admin/tenants/{}/keys", tenant.id);
    let made = server.admin().post(&path, &json!({ "mode": "test", "scopes": ["read"] })).expect(201);
    let reader = Visitor::of_portal(server.nobody(), text(&made, "key"));
    let whole = visitor(&server, &tenant);
    let payment = format!("/portal/payments/{}", text(&payment, "paymentId"));
    for (page, action, form) in [
        (payment.as_str(), "reverse", &[][..]),
        ("/portal/payouts", "create-payout", &[("merchantId", "x"), ("monto", "1.00")][..]),
        ("/portal/links", "create-link", &[("name", "x"), ("priceUsd", "1.00")][..]),
        (
            "/portal/webhooks",
            "create-webhook",
            &[("url", "https://shop.example/"), ("events", "payment.completed")][..],
        ),
        ("/portal/keys", "rotate-key", &[][..]),
        ("/portal/live", "request-live", &[][..]),
    ] {
        let seen = reader.get(page);
        assert_eq!(seen.status, 200, "{page}");
        assert!(!seen.text().contains(&format!("data-action=\"{action}\"")), "{action} is shown to a reader");
        let shown = whole.get(page);
        let to = crate::visitor::Form::with_action(&shown, action).to;
        let mut members = form.to_vec();
        let token = crate::visitor::token(&seen);
        members.push(("csrf", &token));
        assert_eq!(reader.send(&to, &members).status, 403, "{action} is refused");
    }
    let token = crate::visitor::token(&reader.get("/portal/home"));
    let file = b"externalRef,merchantId,monto,concepto\n";
    assert_eq!(reader.upload("/portal/payouts/preview", &[("csrf", &token)], file).status, 403);
}
