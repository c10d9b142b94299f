//! GET /v1/quote: what payments are priced by, and the median with a bank's word
//! (`docs/contract.md, 14.4`).

use crate::harness::check::{assert_number, assert_texts, instant};
use crate::harness::server::Server;
use serde_json::{Value, json};

#[track_caller]
fn bank(server: &Server, price: &str, as_of: &str) {
    let body =
        json!({ "pair": "USD/VES", "source": "bank", "side": "OFFICIAL", "price": price, "asOf": as_of });
    server.admin().post("/admin/rates", &body).expect(201);
}

#[test]
fn without_a_bank_the_median_is_the_rate_itself() {
    let server = Server::start();
    let tenant = server.tenant();
    for api in [&tenant.test] {
        let quote = api.get("/v1/quote?usdAmount=10.5").expect(200);
        for (member, value) in [
            ("usdAmount", "10.5"),
            ("bcvRate", "200"),
            ("vesAmount", "2100"),
            ("medianRate", "200"),
            ("medianVesAmount", "2100"),
        ] {
            assert_number(&quote, member, value);
        }
        assert_texts(&quote, &[("source", "bcv")]);
        assert_number(&quote["sources"]["vexFx"], "bcvRate", "200");
        assert_eq!(quote["sources"]["vexFx"]["fetchedAt"], quote["fetchedAt"]);
        assert_eq!(quote["sources"]["bank"], json!({ "error": "BANK_NOT_CONFIGURED" }));
        instant(&quote["fetchedAt"]);
    }
    for (query, named) in [
        ("", "usdAmount"),
        ("?usdAmount=0", "usdAmount"),
        ("?usdAmount=0.001", "usdAmount"),
        ("?usdAmount=100000.01", "usdAmount"),
        ("?usdAmount=-1", "usdAmount"),
        ("?usdAmount=ten", "usdAmount"),
        ("?usdAmount=", "usdAmount"),
        ("?usdAmount=1&currency=USD", "currency"),
    ] {
        tenant.test.get(&format!("/v1/quote{query}")).names(&[named]);
    }
    assert_number(&tenant.test.get("/v1/quote?usdAmount=100000").expect(200), "vesAmount", "20000000");
    server.nobody().get("/v1/quote?usdAmount=1").refused(401, "unauthorized");
}

#[test]
fn with_a_bank_the_median_is_the_average_of_both() {
    let server = Server::start_with(&[
        ("PASARELA__RATES__BANK__KIND", "fixed"),
        ("PASARELA__RATES__BANK__PRICE", "203.00000001"),
    ]);
    let quote = server.tenant().test.get("/v1/quote?usdAmount=10").expect(200);
    for (member, value) in [
        ("bcvRate", "200"),
        ("vesAmount", "2000"),
        ("medianRate", "201.50000001"),
        ("medianVesAmount", "2015"),
    ] {
        assert_number(&quote, member, value);
    }
    let said = &quote["sources"]["bank"];
    assert_number(said, "bcvRate", "203.00000001");
    let today = (instant(&said["fetchedAt"]) - chrono::TimeDelta::hours(4)).format("%Y-%m-%d").to_string();
    assert_eq!(said["fechavalor"], Value::from(today));
    // A bank's rate is not shown to everybody, and prices no payment.
    assert_number(&server.nobody().get("/api/v1/fx/latest?pair=USD/VES").expect(200), "price", "200");
    assert_eq!(server.nobody().get("/api/v1/fx/latest?pair=USD/VES&source=bank").status, 404);
    assert_eq!(server.nobody().get("/api/v1/fx/history?pair=USD/VES&source=bank").status, 404);
    assert_number(&server.tenant().test.intent(10), "bcvRate", "200");
}

#[test]
fn a_bank_that_says_nothing_counts_for_nothing() {
    let server = Server::start_with(&[("PASARELA__RATES__BANK__KIND", "manual")]);
    let api = server.tenant().test;
    let quote = || api.get("/v1/quote?usdAmount=10").expect(200);
    assert_eq!(quote()["sources"]["bank"], json!({ "error": "BANK_UNAVAILABLE" }));
    assert_number(&quote(), "medianRate", "200");
    // A rate ahead is not in force yet: its day begins in Caracas.
    let caracas = chrono::Utc::now() - chrono::TimeDelta::hours(4);
    let day = |days: i64| (caracas + chrono::TimeDelta::days(days)).format("%Y-%m-%d").to_string();
    bank(&server, "230.00", &format!("{}T00:00:00-04:00", day(1)));
    assert_eq!(quote()["sources"]["bank"], json!({ "error": "BANK_UNAVAILABLE" }));
    bank(&server, "202.00", &format!("{}T00:00:00-04:00", day(0)));
    assert_number(&quote(), "medianRate", "201");
    assert_eq!(quote()["sources"]["bank"]["fechavalor"], Value::from(day(0)));
}

#[test]
fn without_a_rate_there_is_no_quote() {
    let server = Server::start_with(&[(
        "PASARELA__RATES__FEEDS",
        r#"[{ pair = "USD/VES", source = "bcv", side = "OFFICIAL", kind = "manual" }]"#,
    )]);
    let api = server.tenant().test;
    api.get("/v1/quote?usdAmount=10").refused(503, "rate_unavailable");
    api.get("/v1/quote?usdAmount=x").names(&["usdAmount"]);
    let tomorrow = (chrono::Utc::now() - chrono::TimeDelta::hours(4) + chrono::TimeDelta::days(1))
        .format("%Y-%m-%dT00:00:00-04:00")
        .to_string();
    let record = |price: &str, as_of: &str| {
        let body =
            json!({ "pair": "USD/VES", "source": "bcv", "side": "OFFICIAL", "price": price, "asOf": as_of });
        server.admin().post("/admin/rates", &body).expect(201)
    };
    record("250.00", &tomorrow);
    api.get("/v1/quote?usdAmount=10").refused(503, "rate_unavailable");
    assert_eq!(
        server.nobody().get("/api/v1/fx/latest?pair=USD/VES").status,
        404,
        "what is not in force is not the latest"
    );
    record("199.00", "2026-01-05T12:00:00Z");
    assert_number(&api.get("/v1/quote?usdAmount=10").expect(200), "vesAmount", "1990");
    let latest = server.nobody().get("/api/v1/fx/latest?pair=USD/VES").expect(200);
    assert_texts(&latest, &[("asOf", "2026-01-05T12:00:00.000Z"), ("side", "OFFICIAL")]);
}
