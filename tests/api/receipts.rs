//! Receipts of payments: what they say, in which form, and of which payments there are any
//! (`docs/contract.md, 20.6`).

use crate::harness::check::{instant, text};
use crate::harness::client::{Answer, Api};
use crate::harness::server::{Server, Tenant};
use chrono::TimeDelta;
use serde_json::{Value, json};

fn receipt(api: &Api, payment: &Value, query: &str, accept: &str) -> Answer {
    let path = format!("/v1/payments/{}/receipt{query}", text(payment, "id"));
    if accept.is_empty() { api.get(&path) } else { api.with("accept", accept).get(&path) }
}

#[track_caller]
fn page(api: &Api, payment: &Value, query: &str) -> String {
    let answer = receipt(api, payment, query, "");
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/html; charset=utf-8")));
    answer.text().to_owned()
}

#[track_caller]
fn assert_has(html: &str, parts: &[&str]) {
    for part in parts {
        assert!(html.contains(part), "{part} is not in {html}");
    }
}

fn shop(server: &Server, tenant: &Tenant, settings: Value) {
    server.admin().patch(&format!("/admin/tenants/{}/settings", tenant.id), &settings).expect(200);
}

#[test]
fn a_payer_gets_a_page_with_everything_on_it() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    shop(
        &server,
        &tenant,
        json!({ "shop": { "name": "Panadería <b>Ñandú</b> & Hijos", "rif": "J-12345678-9" } }),
    );
    let paid = api.pay(10);
    let html = page(api, &paid, "");
    let at = (instant(&paid["completedAt"]) - TimeDelta::hours(4)).format("%d/%m/%Y %H:%M:%S").to_string();
    assert_has(
        &html,
        &[
            "<html lang=\"es\">",
            "Comprobante de pago",
            "Panadería &#60;b&#62;Ñandú&#60;/b&#62; &#38; Hijos",
            "J-12345678-9",
            "value=\"2000.00\">Bs 2.000,00<",
            "value=\"10.00\">US$ 10,00<",
            "value=\"200\">US$ 1 = Bs 200<",
            "value=\"C2P\">Pago móvil C2P<",
            "Banesco",
            "0134",
            "V***678",
            "0414***4567",
            text(&paid, "bankReference"),
            text(&paid, "id"),
            &format!("{at} (Caracas, UTC-04:00)"),
            "data-status=\"COMPLETED\"",
            "Modo de prueba",
        ],
    );
    assert!(!html.contains("<script") && !html.contains("12345678\"") && !html.contains("04141234567"));
    let english = page(api, &paid, "?lang=en");
    assert_has(&english, &["<html lang=\"en\">", "Payment receipt", "Bs 2,000.00", "Test mode"]);
    for lang in ["fr", "ES", ""] {
        receipt(api, &paid, &format!("?lang={lang}"), "").names(&["lang"]);
    }
    receipt(api, &paid, "?size=a4", "").names(&["size"]);
    shop(&server, &tenant, json!({ "shop": { "name": null, "rif": null } }));
    let plain = page(api, &paid, "");
    assert!(!plain.contains("RIF") && plain.contains(text(&tenant.created, "name")), "{plain}");
}

#[test]
fn the_form_is_the_one_that_is_accepted_most() {
    let server = Server::shared();
    let api = server.tenant().test;
    let paid = api.vpos_pay(20);
    let is_pdf = |accept: &str| {
        let answer = receipt(&api, &paid, "", accept);
        assert_eq!(answer.status, 200, "{accept}");
        let kind = answer.header("content-type").unwrap_or_default().to_owned();
        assert_eq!(kind == "application/pdf", answer.body.starts_with(b"%PDF-"), "{kind}");
        assert!(answer.header("vary").is_some_and(|vary| vary.contains("accept")));
        kind == "application/pdf"
    };
    for (accept, pdf) in [
        ("*/*", false),
        ("text/html", false),
        ("application/pdf", true),
        ("text/html;q=0.5, application/pdf", true),
        ("application/pdf;q=0.5, text/html", false),
        ("application/*", true),
        ("application/json", false),
    ] {
        assert_eq!(is_pdf(accept), pdf, "{accept}");
    }
    let pdf = receipt(&api, &paid, "?lang=en", "application/pdf").body;
    assert!(pdf.ends_with(b"%%EOF"));
    let has = |part: &str| pdf.windows(part.len()).any(|bytes| bytes == part.as_bytes());
    for part in [
        "(Payment receipt)",
        "(Bs 4,000.00)",
        "(US$ 20.00)",
        "(US$ 1 = Bs 200)",
        text(&paid, "bankReference"),
    ] {
        assert!(has(part), "{part} is not in the PDF");
    }
}

#[test]
fn only_what_was_paid_has_a_receipt() {
    let server = Server::shared();
    let api = server.tenant().test;
    let other = server.tenant().test;
    let intent = api.intent(1);
    let path = |payment: &Value| format!("/v1/payments/{}/receipt", text(payment, "intentId"));
    api.get(&path(&intent)).refused(409, "payment_not_completed");
    api.with("accept", "application/pdf").get(&path(&intent)).refused(409, "payment_not_completed");
    let failed = api.pay_with(1, "88888888");
    receipt(&api, &failed, "", "").refused(409, "payment_not_completed");
    let paid = api.pay(3);
    receipt(&other, &paid, "", "").refused(404, "not_found");
    api.get("/v1/payments/x/receipt").refused(404, "not_found");
    api.reverse(&paid).expect(200);
    assert_has(&page(&api, &paid, ""), &["data-status=\"REVERSED\"", "Pago devuelto", "reversedAt"]);
}

#[test]
fn pesos_and_usdt_have_theirs() {
    let server = Server::shared();
    let api = server.tenant().test;
    let buyer = json!({ "email": "ana@example.com", "phone": "3001234567", "documentType": "CC", "documentNumber": "1020304050" });
    let body = json!({ "amountCop": 50_000, "channel": "push", "reference": "pedido-9", "buyer": buyer });
    let made = api.post("/v1/cop/payments", &body).expect(201);
    api.post(&format!("/v1/test/cop/payments/{}/pay", text(&made, "id")), &json!({})).expect(200);
    let paid = api.get(&format!("/v1/cop/payments/{}", text(&made, "id"))).expect(200);
    let at = (instant(&paid["completedAt"]) - TimeDelta::hours(5)).format("%d/%m/%Y %H:%M:%S").to_string();
    let html = page(&api, &paid, "");
    assert_has(&html, &["value=\"50000\">COP 50.000<", "pedido-9", &format!("{at} (Bogotá, UTC-05:00)")]);
    assert!(!html.contains("1020304050") && !html.contains("3001234567") && !html.contains("ana@"), "{html}");
}

#[test]
fn a_pdf_shows_every_letter_of_the_latin_script() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    let paid = api.pay(10);
    for (name, shown) in [
        ("Cafe\u{301} Sen\u{303}orial", &b"(Caf\xe9 Se\xf1orial)"[..]),
        ("Łukasz Žižek ﬁn", b"(Lukasz \x8ei\x9eek fin)"),
        ("Đặng Əliyev Şişli", b"(Dang Eliyev Sisli)"),
        ("Œuvre Šťastný", b"(\x8cuvre \x8atastn\xfd)"),
    ] {
        shop(&server, &tenant, json!({ "shop": { "name": name } }));
        let pdf = receipt(api, &paid, "", "application/pdf").body;
        // A writer may spell a byte beyond ASCII as an escape.
        let has = |wanted: &[u8]| pdf.windows(wanted.len()).any(|bytes| bytes == wanted);
        let hex: String = shown[1..shown.len() - 1].iter().map(|byte| format!("{byte:02X}")).collect();
        let octal: String = shown
            .iter()
            .map(|byte| if byte.is_ascii() { char::from(*byte).to_string() } else { format!("\\{byte:03o}") })
            .collect();
        assert!(has(shown) || has(format!("<{hex}>").as_bytes()) || has(octal.as_bytes()), "{name}");
    }
}
