//! How the portal writes what the API answers: days in one form, times with their zone, names and counts
//! as people say them.

use crate::harness::buyers;
use crate::harness::check::text;
use crate::harness::server::{Server, Tenant};
use crate::visitor::Visitor;
use serde_json::{Value, json};

fn visitor(server: &Server, tenant: &Tenant) -> Visitor {
    Visitor::of_portal(server.nobody(), text(&tenant.created["testKey"], "key"))
}

fn with_pesos(server: &Server) -> Tenant {
    server.tenant_with(json!({ "cop": { "enabled": true } }))
}

/// The text of a fact on a page.
#[track_caller]
fn fact<'a>(page: &'a str, field: &str) -> &'a str {
    let rest = page.split(&format!("data-field=\"{field}\">")).nth(1);
    let rest = rest.unwrap_or_else(|| panic!("no {field}: {page}")).split("</dd>").next().expect("its end");
    rest.trim_start_matches(|character| character != '>')
        .trim_start_matches('>')
        .split('<')
        .next()
        .map_or(rest, |inner| if inner.is_empty() { rest } else { inner })
}

#[test]
fn days_have_one_form_and_times_their_zone() {
    let server = Server::shared();
    let tenant = with_pesos(&server);
    tenant.test.fund("10.00");
    let payment = tenant.test.cop_paid(50_000);
    let visitor = visitor(&server, &tenant);
    let today = tenant.test.clock() - chrono::Duration::hours(4);
    let bolivares = visitor.get("/portal/statements").text().to_owned();
    let table =
        bolivares.split("<table").last().and_then(|rest| rest.split("</table>").next()).expect("days");
    assert!(table.contains(&today.format("%d/%m/%Y").to_string()), "{table}");
    assert!(!table.contains(&today.format("%Y-%m-").to_string()), "{table}");
    assert!(bolivares.contains("en Caracas (UTC−4)"), "{bolivares}");
    let pesos = visitor.get("/portal/statements?currency=COP").text().to_owned();
    assert!(pesos.contains("en Bogotá (UTC−5)"), "{pesos}");
    for (page, zone) in [
        ("payments", "Las horas son de Caracas (UTC−4)"),
        ("keys", "Las horas son de Caracas (UTC−4)"),
        ("home?currency=COP", "(Bogotá)"),
        ("payments", "(Bogotá)"),
    ] {
        let page = visitor.get(&format!("/portal/{page}"));
        assert!(page.text().contains(zone), "{zone}: {}", page.text());
    }
    let completed = crate::harness::check::instant(&payment["completedAt"]) - chrono::Duration::hours(5);
    let page = visitor.get(&format!("/portal/payments/{}", text(&payment, "id"))).text().to_owned();
    let written = format!("{} (Bogotá)", completed.format("%d/%m/%Y %H:%M:%S"));
    assert!(page.matches(written.as_str()).count() > 1, "the fact and its step, {written}: {page}");
}

#[test]
fn days_in_the_wrong_order_are_named() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.fund("10.00");
    let page = visitor(&server, &tenant).get("/portal/statements?from=2026-12-02&to=2026-12-01");
    assert_eq!(page.status, 400, "{}", page.text());
    assert!(page.text().contains("«Desde» es posterior a «Hasta»"), "{}", page.text());
}

#[test]
fn a_payment_in_usdt_says_how_much_and_by_which_transaction() {
    let server = Server::shared();
    let tenant = server.tenant();
    let session = buyers::session(&tenant, json!({ "reference": "pedido-77" }));
    let page = buyers::Page::of(&server, &session);
    let sent = tenant.test.buyer_sends(&page.usdt("TRC20").expect(201), "10.00");
    let payment = buyers::of(&tenant, &session)["paymentId"].as_str().expect("a payment").to_owned();
    let visitor = visitor(&server, &tenant);
    for (language, step, never) in [("es", "Llegaron USDT", "Cambió"), ("en", "USDT arrived", "It changed")]
    {
        let page = visitor.get(&format!("/portal/payments/{payment}?lang={language}")).text().to_owned();
        assert!(
            page.contains("data-field=\"amountUsdt\">10") && page.contains(text(&sent, "txHash")),
            "{page}"
        );
        assert!(page.contains(step) && !page.contains(never), "{step}: {page}");
    }
    let list = visitor.get("/portal/payments").text().to_owned();
    assert!(list.contains("pedido-77"), "the shop's own reference: {list}");
}

#[test]
fn a_refund_in_pesos_is_called_so() {
    let server = Server::shared();
    let tenant = with_pesos(&server);
    let payment = tenant.test.cop_paid(50_000);
    let visitor = visitor(&server, &tenant);
    let path = format!("/portal/payments/{}", text(&payment, "id"));
    let page = visitor.get(&path);
    assert!(page.text().contains(">Reintegrar</button>"), "{}", page.text());
    let asked = visitor.press(&page, "reverse", &[]);
    assert!(asked.text().contains("Reintegrar COP 50.000"), "{}", asked.text());
    let done = visitor.press(&asked, "confirm", &[]);
    assert_eq!(done.header("location"), Some(&*format!("{path}?done=refunded")), "{}", done.text());
    let page = visitor.get(&format!("{path}?done=refunded")).text().to_owned();
    for words in ["Se pidió el reintegro", "Se reintegró al comprador"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert_eq!(fact(&page, "reversalType"), "Reintegro");
    assert_eq!(fact(&page, "status"), "Reintegrado");
    for words in ["Reversa", "Reverso", "recibe instrucciones", "Se pide "] {
        assert!(!page.contains(words), "{words}: {page}");
    }
    assert!(page.contains("<dt>Id del cobro</dt>"), "{page}");
}

#[test]
fn a_link_says_what_a_new_product_needs() {
    let server = Server::shared();
    let tenant = server.tenant();
    let visitor = visitor(&server, &tenant);
    let page = visitor.get("/portal/links");
    let label = |name: &str| {
        let rest = page.text().split(&format!("<label for=\"create-link-{name}\">")).nth(1);
        rest.and_then(|rest| rest.split("</label>").next()).expect("a label").to_owned()
    };
    for (name, is_optional) in [("productId", true), ("name", false), ("priceUsd", false), ("slug", true)] {
        assert_eq!(label(name).contains("(opcional)"), is_optional, "{}", label(name));
    }
    assert!(label("priceUsd").contains("(de un producto nuevo)"), "{}", label("priceUsd"));
    for (fields, words) in [
        ([("name", "Camisa"), ("priceUsd", "x"), ("slug", "camisa")], "id=\"create-link-priceUsd-error\""),
        ([("name", "Camisa"), ("priceUsd", "1.00"), ("slug", "X")], "id=\"create-link-slug-error\""),
    ] {
        let refused = visitor.press(&page, "create-link", &fields);
        assert!(refused.status == 400 && refused.text().contains(words), "{words}: {}", refused.text());
    }
}

#[test]
fn one_line_of_a_file_is_one() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.fund("10.00");
    let merchant: Value = tenant.test.merchant();
    let visitor = visitor(&server, &tenant);
    let csrf = crate::visitor::token(&visitor.get("/portal/payouts"));
    let file =
        format!("externalRef,merchantId,monto,concepto\nuno-solo,{},1.00,x\n", text(&merchant, "merchantId"));
    for (language, words) in [("es", "1 renglón bueno por Bs 1,00"), ("en", "1 good line, Bs 1.00")] {
        let path = format!("/portal/payouts/preview?lang={language}");
        let page = visitor.upload(&path, &[("csrf", &csrf)], file.as_bytes());
        assert!(page.text().contains(words), "{words}: {}", page.text());
    }
}

#[test]
fn what_is_refused_is_said_in_the_language_of_the_page() {
    let server = Server::shared();
    let tenant = server.tenant();
    let merchant = tenant.test.merchant();
    let id = text(&merchant, "merchantId");
    let visitor = visitor(&server, &tenant);
    let page = visitor.get("/portal/payouts");
    let typed =
        |reference| [("merchantId", id), ("monto", "1,555"), ("concepto", "x"), ("externalRef", reference)];
    let refused = visitor.press(&page, "create-payout", &typed("ref-1"));
    assert_eq!(refused.status, 400, "{}", refused.text());
    let said = "Tiene que ser un monto mayor que cero, con dos decimales: 1.250,00";
    assert!(refused.text().contains(said) && !refused.text().contains("must "), "{}", refused.text());
    let csrf = crate::visitor::token(&page);
    let file = format!("externalRef,merchantId,monto,concepto\nuno,{id},1.555,x\n");
    for (language, said, never) in [
        ("es", "monto: tiene que ser un monto mayor que cero", "must be"),
        ("en", "monto: must be a string with exactly two", "tiene que ser"),
    ] {
        let path = format!("/portal/payouts/preview?lang={language}");
        let page = visitor.upload(&path, &[("csrf", &csrf)], file.as_bytes());
        assert!(page.text().contains(said) && !page.text().contains(never), "{said}: {}", page.text());
    }
    let missing = visitor.get("/portal/payments/01930000-0000-7000-8000-000000000000");
    assert!(!missing.text().contains("under this key"), "{}", missing.text());
}

#[test]
fn nothing_is_a_dash_or_a_code_that_has_a_figure_or_words() {
    let server = Server::shared();
    let tenant =
        server.tenant_with(json!({ "cop": { "enabled": true }, "usdt": { "payoutAutoLimitUsdt": "1.00" } }));
    let pesos = tenant.test.cop_paid(50_000);
    let returned = tenant.test.pay(10);
    tenant.test.reverse(&returned).expect(200);
    tenant.test.pay(20);
    tenant.test.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "100.00" })).expect(201);
    let address = "0x52908400098527886E0F7030069857D2E4169EE7";
    let body =
        json!({ "amountUsdt": "10.00", "address": address, "network": "POLYGON", "externalRef": "retiro-1" });
    let payout = tenant.test.post("/v1/crypto/payouts", &body).expect(201);
    buyers::session(&tenant, json!({ "reference": "carrito-1" }));
    let visitor = visitor(&server, &tenant);
    let page = |path: &str| visitor.get(&format!("/portal/{path}")).text().replace('\u{a0}', " ");
    let has = |path: &str, parts: &[&str], never: &[&str]| {
        let page = page(path);
        let main = page.split("<main").nth(1).expect("a page");
        for part in parts {
            assert!(main.contains(part), "{path}: {part}: {main}");
        }
        for part in never {
            assert!(!main.contains(part), "{path}: {part}: {main}");
        }
    };
    let link =
        format!("/portal/payments/{}\" class=\"mono\">{}</a>", text(&pesos, "id"), text(&pesos, "reference"));
    has("payments", &["COP 50.000", &link], &[]);
    let of_pesos = format!("payments/{}", text(&pesos, "id"));
    has(
        &of_pesos,
        &[&format!("<h1>Cobro {}</h1>", text(&pesos, "reference")), "(tu saldo)"],
        &["(comercio)"],
    );
    has(&format!("payouts/{}", text(&payout, "id")), &["POLYGON", address, "Comisión de red (USDT)"], &[]);
    has("sessions", &[">Abierta</span>", ">Pagada</option>"], &[">Abierto<", "(opcional)"]);
    has("keys", &[">Activa</span>", "Consultar, Cobrar, Pagar, Convertir, Configurar"], &["read, collect"]);
    // 2.000,00 were given back and are held no more; of 4.000,00 the fee is taken.
    has(
        "home",
        &["Reversos y contracargos", "Bs 2.000,00", "<td class=\"figure\">3.940,00</td>"],
        &["5.910,00"],
    );
    let found = page(&format!("search?q={}", text(&returned, "externalRef")));
    assert!(found.contains(&format!(">{}</a>", text(&returned, "externalRef"))), "{found}");
}
