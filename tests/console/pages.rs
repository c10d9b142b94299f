//! Every page of the console, and what it shows.

use crate::harness::check::text;
use crate::harness::client::Answer;
use crate::harness::receiver::Receiver;
use crate::harness::server::{ADMIN_TOKEN, Server};
use crate::login::{hired, operator};
use crate::visitor::page_of;
use serde_json::json;
use std::thread::sleep;
use std::time::{Duration, Instant};

const HOSTILE: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";

#[test]
fn every_page_has_its_name_in_both_languages() {
    let server = Server::shared();
    let visitor = operator(&server, ADMIN_TOKEN);
    for name in [
        "home",
        "search",
        "tenants",
        "queues",
        "approvals",
        "rates",
        "rails",
        "health",
        "audit",
        "statements",
        "reconciliations",
    ] {
        for (language, mark) in [("es", "lang=\"es\""), ("en", "lang=\"en\"")] {
            let answer = visitor.get(&format!("/console/{name}?lang={language}"));
            assert_eq!((answer.status, page_of(&answer).as_str()), (200, name), "{}", answer.text());
            assert!(answer.text().contains(mark));
            assert!(
                !answer.text().contains("style=\"") && !answer.text().contains("onclick"),
                "inline code on {name}"
            );
        }
    }
    let queues = visitor.get("/console/queues");
    for field in [
        "unresolved",
        "contradicted",
        "cryptoReviews",
        "copPayouts",
        "openChargebacks",
        "approvals",
        "deadWebhooks",
        "exhaustedWebhooks",
        "failedReconciliations",
    ] {
        assert!(queues.text().contains(&format!("data-field=\"{field}\">")), "{field}");
    }
    assert_eq!(visitor.get("/console/nothing").status, 404);
}

#[test]
fn an_event_that_was_given_up_waits_in_the_queues() {
    let server = Server::start();
    let api = server.tenant().test;
    let body =
        json!({ "url": "http://127.0.0.1:9/hook", "events": ["payment.completed"], "retry": "backoff" });
    let webhook = api.post("/v1/webhooks", &body).expect(201);
    api.pay(1);
    let deliveries = format!("/v1/webhooks/{}/deliveries", text(&webhook, "id"));
    let failed = || {
        let rows = api.walk(&deliveries, &[], 100);
        rows.iter().filter(|row| row["status"] == "failed").count()
    };
    let visitor = operator(&server, &hired(&server, "viewer").1);
    let is_told = || visitor.get("/console/queues?mode=test&lang=en").text().contains("webhook.exhausted");
    let deadline = Instant::now() + Duration::from_secs(60);
    while failed() < 8 {
        assert!(!is_told() || failed() == 8, "tries are left");
        // Each try is due at its own instant, so that the first leap is enough for all.
        api.advance(86_400);
        assert!(Instant::now() < deadline, "{} of 8 tries failed", failed());
        sleep(Duration::from_millis(200));
    }
    assert!(is_told());
    api.delete(&format!("/v1/webhooks/{}", text(&webhook, "id"))).expect(200);
    assert!(!is_told(), "an endpoint that is gone waits for nothing");
}

#[test]
fn a_payment_is_told_in_words_and_its_payer_masked_until_asked() {
    let server = Server::shared();
    let tenant = server.tenant();
    let payment = tenant.test.pay(10);
    let id = text(&payment, "paymentId");
    let (_, viewer) = hired(&server, "viewer");
    let (_, support) = hired(&server, "support");
    let viewer = operator(&server, &viewer);
    let page = viewer.get(&format!("/console/payments/{id}"));
    assert_eq!((page.status, page_of(&page).as_str()), (200, "payment"));
    assert!(page.text().contains("data-page=\"payment\" data-status=\"COMPLETED\""));
    let timeline = page
        .text()
        .split("data-field=\"timeline\"")
        .nth(1)
        .and_then(|rest| rest.split("</ol>").next())
        .expect("a timeline");
    for part in
        ["payment.requested", "payment.charging", "payment.completed", text(&payment, "bankReference")]
    {
        assert!(timeline.contains(part), "{part}: {timeline}");
    }
    assert!(!page.text().contains("data-action=\"unmask\"") && !page.text().contains("V12345678"));
    let token = crate::visitor::token(&page);
    assert_eq!(viewer.send(&format!("/console/payments/{id}/unmask"), &[("csrf", &token)]).status, 403);
    let support = operator(&server, &support);
    let page = support.get(&format!("/console/payments/{id}"));
    assert!(!page.text().contains("V12345678"), "masked for support too, until it is asked for");
    let shown = support.press(&page, "unmask", &[]);
    assert!(shown.text().contains("V12345678"), "{}", shown.text());
    let audit = support.get("/console/audit?action=payment.unmask");
    assert!(audit.text().contains(id), "{}", audit.text());
    assert_eq!(support.get("/console/payments/01930000-0000-7000-8000-000000000000").status, 404);
    let found = support.get(&format!("/console/search?q={id}"));
    assert!(found.text().contains(&format!("href=\"/console/payments/{id}\"")), "{}", found.text());
}

/// The steps of a page's timeline.
fn steps(page: &Answer) -> Vec<String> {
    let timeline = page.text().split("data-field=\"timeline\"").nth(1).expect("a timeline");
    let timeline = timeline.split("</ol>").next().expect("its end");
    timeline.split("<li ").skip(1).map(str::to_owned).collect()
}

#[test]
fn wrong_codes_are_counted_and_never_shown() {
    let server = Server::shared();
    let api = server.tenant().test;
    let counted = |payment: &serde_json::Value| {
        server.admin().get(&format!("/admin/payments/{}", text(payment, "id"))).expect(200)["wrongCodes"]
            .clone()
    };
    let type_code = |payment: &serde_json::Value, code: &str| {
        api.post(&format!("/v1/cop/payments/{}/otp", text(payment, "id")), &json!({ "otp": code }))
    };
    let paid = api.cop(50_000, "sms");
    assert_eq!(counted(&paid), 0);
    for code in ["654321", "765432", "abc"] {
        type_code(&paid, code).refused(400, "invalid_otp");
    }
    assert_eq!(counted(&paid), 2, "what cannot be a code is not sent");
    type_code(&paid, "123456").expect(200);
    assert_eq!(counted(&paid), 2);
    let failed = api.cop(50_000, "sms");
    for _ in 0..5 {
        type_code(&failed, "654321").refused(400, "invalid_otp");
    }
    type_code(&failed, "123456").refused(409, "otp_attempts_exhausted");
    assert_eq!(counted(&failed), 5);
    assert_eq!(counted(&api.cop(50_000, "push")), serde_json::Value::Null);

    let visitor = operator(&server, ADMIN_TOKEN);
    let page = |payment: &serde_json::Value, language: &str| {
        visitor.get(&format!("/console/payments/{}?lang={language}", text(payment, "id")))
    };
    let seen = page(&failed, "es");
    let steps = steps(&seen);
    let wrong: Vec<&String> = steps.iter().filter(|step| step.contains("Código equivocado")).collect();
    assert_eq!(wrong.len(), 5, "{}", seen.text());
    for (n, step) in wrong.iter().enumerate() {
        assert!(step.contains(&format!("Código equivocado: {} de 5", n + 1)), "{step}");
        assert_eq!(step.contains("El intento queda anulado"), n == 4, "{step}");
    }
    assert!(seen.text().contains("data-field=\"wrongCodes\">5"), "{}", seen.text());
    let english = page(&failed, "en");
    assert!(english.text().contains("Wrong code: 5 of 5. The attempt is void"), "{}", english.text());
    let of_paid = page(&paid, "en");
    assert!(of_paid.text().contains("Wrong code: 2 of 5") && !of_paid.text().contains("of 5. The attempt"));
    for code in ["654321", "765432"] {
        assert!(!seen.text().contains(code) && !of_paid.text().contains(code), "{code}");
    }
}

#[test]
fn each_step_has_the_reference_of_its_own_call() {
    let server = Server::shared();
    let tenant = server.tenant();
    let payment = tenant.test.pay(10);
    let reversed = tenant.test.reverse(&payment).expect(200);
    let visitor = operator(&server, ADMIN_TOKEN);
    let page = visitor.get(&format!("/console/payments/{}", text(&payment, "paymentId")));
    let steps = steps(&page);
    let of = |part: &str| steps.iter().find(|step| step.contains(part)).expect("a step");
    let (charge, back) = (text(&reversed, "bankReference"), text(&reversed, "reversalRef"));
    assert!(of("payment.completed").contains(charge));
    let step = of("payment.reversed");
    assert!(step.contains(back) && !step.contains(charge), "{step}");
    tenant.test.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "10.00" })).expect(201);
    let body = json!({ "amountUsdt": "1.00", "address": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "network": "TRC20", "externalRef": crate::harness::flows::fresh("cx") });
    let payout = tenant.test.post("/v1/crypto/payouts", &body).expect(201);
    let page = visitor.get(&format!("/console/payouts/{}", text(&payout, "id")));
    let told = self::steps(&page).concat();
    assert!(told.contains(text(&payout, "txHash")), "{told}");
}

#[test]
fn deliveries_are_told_of_busy_and_of_deleted_endpoints() {
    let server = Server::start();
    let tenant = server.tenant();
    let receiver = Receiver::good();
    let body = json!({ "url": receiver.url(), "events": ["payment.completed"] });
    let webhook = tenant.test.post("/v1/webhooks", &body).expect(201);
    let payment = tenant.test.pay(10);
    for _ in 0..220 {
        tenant.test.pay(1);
    }
    receiver.wait_for(221);
    let path = format!("/console/payments/{}", text(&payment, "paymentId"));
    let visitor = operator(&server, ADMIN_TOKEN);
    let answer = visitor.press(&visitor.get(&path), "resend", &[]);
    assert_eq!(answer.header("location"), Some(&*format!("{path}?done=done")), "{}", answer.text());
    receiver.wait_for(222);
    let told = || {
        let steps = steps(&visitor.get(&path));
        steps.iter().filter(|step| step.contains(&receiver.url())).count()
    };
    let deadline = Instant::now() + Duration::from_secs(30);
    while told() < 2 {
        assert!(Instant::now() < deadline, "the second delivery is not told of");
        sleep(Duration::from_millis(50));
    }
    assert_eq!(tenant.test.delete(&format!("/v1/webhooks/{}", text(&webhook, "id"))).status, 200);
    assert_eq!(told(), 2, "of an endpoint that is deleted since, too");
}

#[test]
fn rates_have_their_present_prices() {
    let server = Server::start();
    let body = json!({ "pair": "USDT/COP", "source": "mesa", "side": "SELL", "price": "4321.50" });
    server.admin().post("/admin/rates", &body).expect(201);
    let page = operator(&server, ADMIN_TOKEN).get("/console/rates");
    let prices = page.text().split("data-field=\"prices\"").nth(1).expect("present prices");
    let prices = prices.split("</table>").next().expect("its end");
    assert!(prices.contains("4.321,5") && prices.contains("mesa"), "{prices}");
    // A pin hides what its feed says: the first table is what money is moved by.
    let until = (chrono::Utc::now() + chrono::TimeDelta::hours(1)).format("%Y-%m-%dT%H:%M:%SZ").to_string();
    let pin = json!({ "pair": "USDT/COP", "source": "mesa", "side": "SELL", "price": "4000.00", "pinnedUntil": until, "reason": "feriado" });
    server.admin().post("/admin/rates", &pin).expect(201);
    let page = operator(&server, ADMIN_TOKEN).get("/console/rates");
    let table = |field: &str| {
        let rest = page.text().split(&format!("data-field=\"{field}\"")).nth(1).expect("a table");
        rest.split("</table>").next().expect("its end").to_owned()
    };
    let prices = table("prices");
    let first = prices.split("<tr").nth(2).expect("a first row");
    assert!(first.contains("4.000") && first.contains("feriado") && first.contains("Venta"), "{first}");
    assert!(!prices.contains("4.321,5"), "it decides nothing now: {prices}");
    for part in ["mesa · Venta", "&#34;bands&#34;:[[", "Fijada hasta el"] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
}

#[test]
fn a_statement_without_days_ends_on_the_newest_of_its_clock() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.advance(5 * 86_400);
    tenant.test.fund("77.00");
    let visitor = operator(&server, ADMIN_TOKEN);
    let page = visitor.get(&format!("/console/statements?mode=test&tenantId={}", tenant.id));
    assert!(page.text().contains("77,00"), "{}", page.text());
}

#[test]
fn a_payout_is_told_in_words() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.fund("100.00");
    let merchant = tenant.test.merchant();
    let payout = tenant.test.payout(&merchant, "10.00", json!({ "concepto": HOSTILE })).expect(201);
    let visitor = operator(&server, ADMIN_TOKEN);
    let page = visitor.get(&format!("/console/payouts/{}", text(&payout, "payoutId")));
    assert_eq!((page.status, page_of(&page).as_str()), (200, "payout"));
    assert!(page.text().contains("data-field=\"timeline\"") && page.text().contains("payout.created"));
    assert!(!page.text().contains("<script>") && !page.text().contains("<img"));
}

#[test]
fn hostile_names_stay_texts() {
    let server = Server::shared();
    let created = server.admin().post("/admin/tenants", &json!({ "name": HOSTILE })).expect(201);
    let visitor = operator(&server, ADMIN_TOKEN);
    let tenant = format!("/console/tenants/{}", text(&created, "tenantId"));
    for path in [
        "/console/tenants",
        &tenant,
        "/console/audit",
        "/console/search?q=%3Cscript%3E",
        "/console/%3Cscript%3E",
    ] {
        let answer = visitor.get(path);
        assert!(
            !answer.text().contains("<script>") && !answer.text().contains("<img"),
            "{path}: {}",
            answer.text()
        );
    }
    assert_eq!(page_of(&visitor.get(&tenant)), "tenant");
}

#[test]
fn what_is_refused_is_said_in_the_language_of_the_page() {
    let server = Server::shared();
    let tenant = server.tenant();
    let payment = tenant.test.pay(10);
    let path = format!("/console/payments/{}", text(&payment, "paymentId"));
    let visitor = operator(&server, ADMIN_TOKEN);
    let csrf = crate::visitor::token(&visitor.get(&path));
    let cancel = |language: &str| {
        let members = [("csrf", &*csrf), ("once", language), ("confirmed", "yes")];
        visitor.send(&format!("{path}/cancel?lang={language}"), &members)
    };
    let (spanish, english) = (cancel("es"), cancel("en"));
    assert_eq!((spanish.status, english.status), (409, 409), "{}", spanish.text());
    assert!(!spanish.text().contains("waits for its payer"), "{}", spanish.text());
    assert!(spanish.text().contains("No se pudo hacer: el cobro"), "{}", spanish.text());
    assert!(english.text().contains("waits for its payer"), "{}", english.text());
    let csrf = crate::visitor::token(&visitor.get("/console/reconciliations"));
    let members = [
        ("csrf", csrf.as_str()),
        ("rail", "r4"),
        ("account", "1"),
        ("from", "2026-11-01"),
        ("to", "2026-11-02"),
    ];
    let refused = visitor.upload("/console/reconciliations", &members, b"date,reference,amount,kind\n");
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(refused.text().contains("Lleva 20 números, sin espacios ni guiones"), "{}", refused.text());
    assert!(!refused.text().contains("must "), "{}", refused.text());
}
