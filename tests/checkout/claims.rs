//! What the pages say became of the buyer's money: never that nothing was charged when it may have been
//! sent, never that it is there when it went back. The pages as they are sent, and a look at them.

use crate::access::assert_open_to_all;
use crate::browser::{Browser, Setup};
use crate::harness::buyers::{Page, of, session};
use crate::harness::check::text;
use crate::harness::client::Answer;
use crate::harness::flows::{merged, payer};
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};

/// A session's page, opened by its own address with these parameters.
fn shown(server: &Server, session: &Value, query: &str) -> String {
    let answer = server.nobody().get(&format!("/checkout/{}?{query}", text(session, "id")));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text().to_owned()
}

/// A Pago Móvil of today, looked for by its reference.
fn transfer(page: &Page, reference: &str) -> Answer {
    let today = (chrono::Utc::now() - chrono::Duration::hours(4)).format("%Y-%m-%d").to_string();
    let body = merged(payer(), json!({ "reference": reference, "date": today }));
    page.api.post(&format!("{}/pago-movil", page.base), &body)
}

/// A session into which so many USDT came.
fn with_usdt(server: &Server, tenant: &Tenant, amount: &str) -> (Value, Page) {
    let made = session(tenant, json!({}));
    let page = Page::of(server, &made);
    tenant.test.buyer_sends(&page.usdt("TRC20").expect(201), amount);
    (made, page)
}

#[test]
fn a_transfer_that_was_not_found_may_have_been_sent() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let missing = transfer(&Page::of(&server, &made), "10000").expect(200);
    assert_eq!(text(&missing, "failureCode"), "reference_not_found");
    let attempt = text(&missing, "newestAttempt");
    for (language, wanted, never) in [
        (
            "es",
            ["No lo envíes otra vez", "busca la misma referencia"],
            ["No se te cobró", "Envía el Pago Móvil"],
        ),
        (
            "en",
            ["Do not send it again", "look for the same reference"],
            ["You were not charged", "Send the Pago Móvil"],
        ),
    ] {
        let query = format!("method=pago_movil&attempt={attempt}&lang={language}");
        let page = shown(&server, &made, &query);
        for words in wanted {
            assert!(page.contains(words), "{words}: {page}");
        }
        for words in never {
            assert!(!page.contains(words), "{words}: {page}");
        }
        assert!(page.contains("data-field=\"receiverAmount\"") && page.contains("name=\"reference\""));
    }
    let fresh = shown(&server, &made, "method=pago_movil");
    assert!(fresh.contains("Envía el Pago Móvil") && !fresh.contains("No lo envíes otra vez"), "{fresh}");
}

#[test]
fn a_transfer_of_another_purchase_is_not_sent_again() {
    let server = Server::shared();
    let tenant = server.tenant();
    transfer(&Page::of(&server, &session(&tenant, json!({}))), "00717171").expect(200);
    let made = session(&tenant, json!({}));
    let today = (chrono::Utc::now() - chrono::Duration::hours(4)).format("%Y-%m-%d").to_string();
    let form = [
        ("secret", text(&made, "clientSecret")),
        ("debtorBankCode", "0134"),
        ("debtorId", "V12345678"),
        ("debtorCellPhone", "04141234567"),
        ("reference", "00717171"),
        ("date", &today),
    ];
    let mut body = url::form_urlencoded::Serializer::new(String::new());
    let path = format!("/checkout/{}/pago-movil", text(&made, "id"));
    let form = body.extend_pairs(form).finish();
    let used = server.nobody().post_as(&path, "application/x-www-form-urlencoded", form);
    assert_eq!(used.status, 409, "{}", used.text());
    assert!(used.text().contains("ya pagó otra compra"), "{}", used.text());
    for words in ["No se te cobró", "Envía el Pago Móvil"] {
        assert!(!used.text().contains(words), "{words}: {}", used.text());
    }
}

#[test]
fn usdt_that_came_are_not_hidden_by_another_way() {
    let server = Server::shared();
    let tenant = server.tenant_with(json!({ "cop": { "enabled": true } }));
    let (made, page) = with_usdt(&server, &tenant, "4.00");
    for query in ["", "method=c2p", "method=pago_movil", "method=card", "method=cop"] {
        let html = shown(&server, &made, query);
        assert!(html.contains("Llegaron 4,00 USDT"), "{query}: {html}");
        assert!(html.contains("escríbele a la tienda"), "{query}: what to do with them");
    }
    let intent = page.request(json!({})).expect(201);
    let key = shown(&server, &made, &format!("method=c2p&intent={}", text(&intent, "intentId")));
    assert!(key.contains("name=\"token\"") && key.contains("Llegaron 4,00 USDT"), "{key}");
    page.pesos("qr").expect(201);
    let pesos = shown(&server, &made, "method=cop");
    assert!(pesos.contains("data-field=\"transferKey\"") && pesos.contains("Llegaron 4,00 USDT"), "{pesos}");
    page.pay("12345678");
    let paid = shown(&server, &made, "");
    assert!(paid.contains("data-status=\"paid\"") && paid.contains("También llegaron 4,00 USDT"), "{paid}");
    let receipt = server.nobody().get(&format!("{}/receipt?lang=en", page.base)).text().to_owned();
    assert!(receipt.contains("4.00 USDT"), "{receipt}");
    // What was paid in USDT alone has no more to tell.
    let (made, page) = with_usdt(&server, &tenant, "10.00");
    let paid = shown(&server, &made, "");
    assert!(paid.contains("data-status=\"paid\"") && !paid.contains("También llegaron"), "{paid}");
    let receipt = server.nobody().get(&format!("{}/receipt", page.base)).text().to_owned();
    assert!(!receipt.contains("alsoUsdt"), "{receipt}");
}

#[test]
fn a_payment_that_went_back_is_not_shown_as_received() {
    let server = Server::shared();
    let tenant = server.tenant_with(json!({ "cop": { "enabled": true } }));
    let made = session(&tenant, json!({}));
    let paid = Page::of(&server, &made).pay("12345678");
    let before = shown(&server, &made, "");
    assert!(before.contains("Pago recibido") && before.contains("mark good"), "{before}");
    tenant.test.reverse(&paid).expect(200);
    let in_pesos = session(&tenant, json!({}));
    let payment = Page::of(&server, &in_pesos).pesos("qr").expect(201);
    tenant.test.cop_buyer(&payment, "pay").expect(200);
    tenant.test.cop_refund(&payment).expect(200);
    for made in [&made, &in_pesos] {
        let after = shown(&server, made, "");
        assert!(after.contains("data-status=\"paid\""), "the session was paid all the same");
        assert!(after.contains("Pago devuelto"), "{after}");
        assert!(!after.contains("Pago recibido") && !after.contains("mark good"), "{after}");
        assert!(after.contains("Devuelto el"), "when: {after}");
        assert!(shown(&server, made, "lang=en").contains("Payment returned"));
    }
}

#[test]
fn a_payment_in_pesos_has_the_time_of_bogota_and_its_rate() {
    let server = Server::shared();
    let tenant = server.tenant_with(json!({ "cop": { "enabled": true } }));
    let made = session(&tenant, json!({}));
    let page = Page::of(&server, &made);
    for channel in ["qr", "sms", "push"] {
        page.pesos(channel).expect(201);
        let html = shown(&server, &made, "method=cop");
        assert!(html.contains("A la tasa del mercado") && html.contains("US$ 1 = COP "), "{channel}: {html}");
    }
    let payment = page.pesos("qr").expect(201);
    let paid = tenant.test.cop_buyer(&payment, "pay").expect(200);
    let at = crate::harness::check::instant(&paid["completedAt"]);
    let in_bogota = (at - chrono::Duration::hours(5)).format("%d/%m/%Y %H:%M").to_string();
    let html = shown(&server, &made, "");
    assert!(html.contains("Fecha (hora de Bogotá, UTC−5)") && html.contains(&in_bogota), "{html}");
    assert!(!html.contains("hora de Caracas"), "{html}");
    let mail = html.split("mailto:?").nth(1).and_then(|rest| rest.split('"').next()).expect("a mail");
    assert!(mail.contains("Bogot%C3%A1") && !mail.contains("Caracas"), "{mail}");
}

#[test]
fn the_rate_of_a_key_has_its_value_date() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let intent = Page::of(&server, &made).request(json!({})).expect(201);
    let key = shown(&server, &made, &format!("method=c2p&intent={}", text(&intent, "intentId")));
    let rate = key.split("data-field=\"rate\">").nth(1).and_then(|rest| rest.split('<').next());
    assert!(rate.is_some_and(|rate| rate.contains("fecha valor")), "{key}");
    assert_eq!(of(&tenant, &made)["status"], "open");
}

#[test]
fn what_became_of_the_money_is_open_to_all() {
    let server = Server::start();
    let tenant = server.tenant();
    let (missing, came, returned) =
        (session(&tenant, json!({})), with_usdt(&server, &tenant, "4.00").0, session(&tenant, json!({})));
    let attempt = transfer(&Page::of(&server, &missing), "10000").expect(200)["newestAttempt"].clone();
    let paid = Page::of(&server, &returned).pay("12345678");
    tenant.test.reverse(&paid).expect(200);
    let attempt = attempt.as_str().expect("an attempt");
    for dark in [false, true] {
        let browser = Browser::open(Setup { phone: Some(320), dark, scripts: true });
        for (name, made, query) in [
            ("not-found", &missing, format!("?method=pago_movil&attempt={attempt}")),
            ("came", &came, String::new()),
            ("returned", &returned, String::new()),
        ] {
            browser.goto(&format!("{}{query}", text(made, "url")));
            browser.find("main");
            assert_open_to_all(&browser);
            browser.picture(&format!("claims-{name}-{}", if dark { "dark" } else { "light" }));
        }
    }
}
