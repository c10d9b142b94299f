//! A session that is paid by a Pago Móvil which the buyer made (`docs/contract.md, 12.13`), and the
//! addresses and receipts of its pages (`docs/contract.md, 12.9`).

use crate::checkout::send;
use crate::harness::buyers::{Page, of, session};
use crate::harness::check::{list, text};
use crate::harness::client::Answer;
use crate::harness::flows::{merged, payer};
use crate::harness::server::Server;
use serde_json::{Value, json};

impl Page {
    fn transfer(&self, reference: &str, over: Value) -> Answer {
        let today = (chrono::Utc::now() - chrono::Duration::hours(4)).format("%Y-%m-%d").to_string();
        let told = merged(payer(), json!({ "reference": reference, "date": today }));
        self.api.post(&format!("{}/pago-movil", self.base), &merged(told, over))
    }
}

#[test]
fn a_transfer_pays_once() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let page = Page::of(&server, &made);
    let to = &page.state()["pagoMovil"];
    assert_eq!(
        (text(to, "bankCode"), text(to, "amountVes")),
        ("0102", "2000.00"),
        "in test mode there is an account"
    );
    let missing = page.transfer("10000", json!({})).expect(200);
    assert_eq!(
        (text(&missing, "status"), text(&missing, "attemptStatus"), text(&missing, "failureCode")),
        ("open", "FAILED", "reference_not_found")
    );
    let paid = page.transfer("00123456", json!({ "quote": to["quote"] })).expect(200);
    assert_eq!((text(&paid, "status"), text(&paid, "attemptStatus")), ("paid", "COMPLETED"));
    let payment = tenant.test.get(&format!("/v1/payments/{}", text(&paid, "paymentId"))).expect(200);
    assert_eq!(text(&payment, "method"), "PAGO_MOVIL");
    assert_eq!(payment["checkoutSession"]["id"], made["id"]);
    let other = Page::of(&server, &session(&tenant, json!({})));
    other.transfer("123456", json!({})).refused(409, "reference_already_used");
    assert_eq!(text(&other.transfer("123457", json!({})).expect(200), "status"), "paid");
    tenant.test.assert_books("3940.00", "3940.00", "0.00");
    // One that is refused takes the place of nothing.
    let third = Page::of(&server, &session(&tenant, json!({})));
    let intent = third.request(json!({})).expect(201);
    third.transfer("123456", json!({})).refused(409, "reference_already_used");
    assert_eq!(text(&third.execute(&intent, "12345678").expect(200), "status"), "paid");
}

#[test]
fn the_amount_is_the_one_that_the_buyer_was_shown() {
    let server = Server::start();
    let tenant = server.tenant();
    let page = Page::of(&server, &session(&tenant, json!({})));
    let other = Page::of(&server, &session(&tenant, json!({})));
    let quote = page.state()["pagoMovil"]["quote"].clone();
    let rate = json!({ "pair": "USD/VES", "source": "bcv", "side": "OFFICIAL", "price": "250.00000000" });
    server.admin().post("/admin/rates", &rate).expect(201);
    assert_eq!(text(&page.state()["pagoMovil"], "amountVes"), "2500.00");
    other.transfer("1234", json!({ "quote": quote })).names(&["quote"]);
    let cheap = quote.as_str().expect("a text").replace("200~", "1~");
    page.transfer("1234", json!({ "quote": cheap })).names(&["quote"]);
    let paid = page.transfer("1234", json!({ "quote": quote })).expect(200);
    let payment = tenant.test.get(&format!("/v1/payments/{}", text(&paid, "paymentId"))).expect(200);
    assert_eq!(payment["vesAmount"].to_string(), "2000.00");
    let paid = other.transfer("5678", json!({})).expect(200);
    let payment = tenant.test.get(&format!("/v1/payments/{}", text(&paid, "paymentId"))).expect(200);
    assert_eq!(payment["vesAmount"].to_string(), "2500.00");
}

#[test]
fn what_is_wrong_with_a_transfer_is_named() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let page = Page::of(&server, &made);
    for (over, field) in [
        (json!({ "reference": "123" }), "reference"),
        (json!({ "reference": "12a4" }), "reference"),
        (json!({ "date": "2026-02-30" }), "date"),
        (json!({ "date": "2020-01-01" }), "date"),
        (json!({ "date": "2099-01-01" }), "date"),
        (json!({ "debtorBankCode": 9999 }), "debtorBankCode"),
        (json!({ "debtorId": "1" }), "debtorId"),
        (json!({ "token": "12345678" }), "token"),
    ] {
        page.transfer("1234", over).names(&[field]);
    }
    let form = [
        ("secret", text(&made, "clientSecret")),
        ("debtorBankCode", "0134"),
        ("debtorId", "V12345678"),
        ("debtorCellPhone", "0414-1234567"),
        ("reference", "12"),
        ("date", "01/01/2020"),
    ];
    let answer = send(&server, &format!("{}/pago-movil", page.base), &form, &[]);
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("de 4 a 20 dígitos") && answer.text().contains("Elige un día del"));
}

#[test]
fn ways_that_the_session_does_not_name_are_refused() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({ "methods": ["card"] }));
    let page = Page::of(&server, &made);
    let names: Vec<_> =
        list(&page.state(), "methods").iter().map(|one| text(one, "method").to_owned()).collect();
    assert_eq!((names, &page.state()["pagoMovil"]), (vec!["card".to_owned()], &Value::Null));
    page.transfer("1234", json!({})).refused(409, "method_not_offered");
    page.request(json!({})).refused(409, "method_not_offered");
    assert_eq!(of(&tenant, &made)["methods"], json!(["card"]));
}

#[test]
fn after_an_attempt_that_failed_the_page_says_why_and_offers_every_way_again() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({ "methods": ["c2p", "card", "pago_movil"] }));
    let page = Page::of(&server, &made);
    let card = |number: &str| json!({ "card": { "number": number, "expMonth": 12, "expYear": 2035, "cvv": "123", "holderName": "Ana", "holderId": "V12345678" } });
    let charge = |number: &str| page.api.post(&format!("{}/card", page.base), &card(number));
    let tries: [(&str, &str, &dyn Fn() -> Value); 3] = [
        ("c2p", "insufficient_funds", &|| page.pay("99999999")),
        ("card", "card_declined", &|| charge("4000000000000002").expect(200)),
        ("pago_movil", "reference_not_found", &|| page.transfer("47110000", json!({})).expect(200)),
    ];
    for (nth, (method, cause, attempt)) in tries.into_iter().enumerate() {
        assert_eq!(text(&attempt(), "attemptStatus"), "FAILED", "{method}");
        let newest = text(&page.state(), "newestAttempt").to_owned();
        let shown = tenant.test.get(&format!("/v1/payments/{newest}")).expect(200);
        assert_eq!(shown["attempt"], nth + 1);
        let path = format!("{}?method={method}&attempt={newest}", page.base);
        let html = server.nobody().get(&path).text().to_owned();
        let failed = format!("data-cause=\"{cause}\"");
        let wanted = [failed.as_str(), "data-status=\"failed\"", "role=\"alert\"", "id=\"panel\""];
        let ways = ["choose-c2p", "choose-card", "choose-pago-movil"];
        for wanted in wanted.into_iter().chain(ways) {
            assert!(html.contains(wanted), "{method}: {wanted} is missing: {html}");
        }
    }
    assert_eq!(text(&charge("4111111111111111").expect(200), "status"), "paid");
    let attempts = tenant.test.walk("/v1/payments", &[("externalRef", text(&made, "id"))], 100);
    let numbers: Vec<u64> = attempts.iter().filter_map(|one| one["attempt"].as_u64()).collect();
    assert_eq!(numbers, [4, 3, 2, 1]);
    tenant.test.assert_books("1970.00", "1970.00", "0.00");
}

#[test]
fn the_shop_is_on_its_pages() {
    let server = Server::shared();
    let logo = "data:image/png;base64,iVBORw0KGgo=";
    let tenant = server.tenant_with(json!({ "shop": {
        "name": "Café <Ávila>", "rif": "J-12345678-9", "logo": logo, "email": "ventas@avila.example", "phone": "+58 212 555-0101",
        "pagoMovil": { "bankCode": "0134", "phone": "04141112233", "identification": "J123456789" },
    } }));
    let made = session(&tenant, json!({}));
    let html =
        server.nobody().get(&format!("/checkout/{}?method=pago_movil", text(&made, "id"))).text().to_owned();
    for wanted in [
        "Café &#60;Ávila&#62;",
        "RIF J-12345678-9",
        logo,
        "mailto:ventas@avila.example",
        "tel:+582125550101",
        "04141112233",
        "J123456789",
        "fecha valor",
        "UTC−4",
    ] {
        assert!(html.contains(wanted), "{wanted} is missing: {html}");
    }
}

#[test]
fn every_address_leads_somewhere() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let id = text(&made, "id");
    for (path, to) in [
        (format!("/checkout/{id}/c2p/request"), format!("/checkout/{id}?method=c2p")),
        (format!("/checkout/{id}/c2p"), format!("/checkout/{id}?method=c2p")),
        (format!("/checkout/{id}/card?lang=en"), format!("/checkout/{id}?method=card&lang=en")),
        (format!("/checkout/{id}/pago-movil"), format!("/checkout/{id}?method=pago_movil")),
        (format!("/checkout/{id}/cop"), format!("/checkout/{id}?method=cop")),
        (format!("/checkout/{id}/cop/otp?method=cop"), format!("/checkout/{id}?method=cop")),
        (
            format!("/checkout/{id}/usdt?origin=https%3A%2F%2Fshop.example"),
            format!("/checkout/{id}/embed?method=usdt&origin=https%3A%2F%2Fshop.example"),
        ),
        (format!("/checkout/{id}/receipt"), format!("/checkout/{id}")),
        ("/pay/a-link/sessions?lang=en".to_owned(), "/pay/a-link?lang=en".to_owned()),
    ] {
        let answer = server.nobody().get(&path);
        assert_eq!((answer.status, answer.header("location")), (303, Some(to.as_str())), "{path}");
    }
    for path in ["/checkout", "/pay", "/checkout/nothing", "/checkout/nothing/c2p", "/pay/No_Link/sessions"] {
        let answer = server.nobody().get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.text().contains("<h1"), "{path} is a page: {}", answer.text());
    }
}

#[test]
fn a_buyer_has_a_receipt() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({ "reference": "P-9" }));
    let page = Page::of(&server, &made);
    page.transfer("77001234", json!({})).expect(200);
    let shown = server.nobody().get(&page.base).text().to_owned();
    for wanted in
        ["/receipt?lang=es\"", "/receipt?lang=es&#38;format=pdf\"", "mailto:?subject=", "data-share="]
    {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
    let receipt = server.nobody().get(&format!("{}/receipt", page.base));
    assert_eq!(receipt.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(
        (receipt.header("cache-control"), receipt.header("x-frame-options")),
        (Some("no-store"), Some("DENY"))
    );
    assert!(receipt.text().contains("P-9") && receipt.text().contains("V***678"));
    let pdf = server.nobody().get(&format!("{}/receipt?format=pdf&lang=en", page.base));
    assert_eq!(pdf.header("content-type"), Some("application/pdf"));
}

#[test]
fn a_shop_learns_why_a_frame_is_not_shown() {
    let server = Server::shared();
    let tenant = server.tenant_with(json!({ "checkout": { "allowedOrigins": ["https://shop.example"] } }));
    let made = session(&tenant, json!({ "methods": ["c2p"] }));
    let cause = |id: &str, query: &str| {
        let answer = server.nobody().get(&format!("/checkout/{id}/embed/check?{query}"));
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        answer.expect(200)["cause"].clone()
    };
    let id = text(&made, "id");
    assert_eq!(cause(id, "origin=https%3A%2F%2Fshop.example"), Value::Null);
    assert_eq!(cause(id, "origin=https%3A%2F%2Fevil.example"), "origin_not_allowed");
    assert_eq!(cause(id, ""), "origin_not_allowed");
    assert_eq!(cause(id, "origin=https%3A%2F%2Fshop.example&fields=card"), "session_not_found");
    assert_eq!(cause("0b2a9a3e-37a5-4a0c-9df5-2c7f3fbd0a01", "origin=x"), "session_not_found");
}
