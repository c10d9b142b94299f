//! Statements: every day adds up, to the movements of the day and to the balance at its end
//! (`docs/contract.md, 20.5`).

use crate::harness::check::{decimal, list, text};
use crate::harness::client::Api;
use crate::harness::flows::fresh;
use crate::harness::server::Server;
use crate::harness::statements::{Account, COLUMNS};
use chrono::{DateTime, TimeDelta, Utc};
use rust_decimal::Decimal;
use serde_json::{Value, json};

/// Moves the test clock to just before or just past the next local midnight.
fn to_midnight(api: &Api, hours: i64, past: TimeDelta) {
    let local = api.clock() - TimeDelta::hours(hours);
    let midnight = (local.date_naive() + TimeDelta::days(1)).and_hms_opt(0, 0, 0).expect("midnight");
    api.advance_to(midnight.and_utc() + TimeDelta::hours(hours) + past);
}

/// Money of every kind, some of which goes back on a later day.
fn some_days(server: &Server, tenant: &str, api: &Api) -> Value {
    // From midday the next local midnights are within the day in which a sale may be reversed.
    to_midnight(api, 4, TimeDelta::hours(12));
    let merchant = api.merchant();
    let share = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
    api.fund("1000.00");
    let sale = api.execute(&api.intent(10), "12345678", share).expect(200);
    let card = api.vpos_pay(20);
    api.post("/v1/test/fund", &json!({ "currency": "COP", "amount": "100000" })).expect(201);
    api.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "700.00" })).expect(201);
    to_midnight(api, 4, TimeDelta::seconds(-2));
    let back = json!({ "banco": "0134", "telefono": "04141234567", "cedula": "V12345678", "monto": "10.04", "concepto": "x", "externalRef": fresh("p") });
    api.post("/v1/payments/credit", &back).expect(201);
    let late = json!({ "banco": "0134", "telefono": "04141234567", "cedula": "V12345678", "monto": "20.06", "concepto": "x", "externalRef": fresh("p") });
    api.post("/v1/payments/credit", &late).expect(202);
    // The bank's word on the last one is 60 seconds later, on the next day.
    to_midnight(api, 5, TimeDelta::seconds(1));
    api.reverse(&sale).expect(200);
    let taken =
        json!({ "paymentId": card["paymentId"], "reason": "fraud", "amountVes": "500.00", "feeVes": "3.00" });
    let settings = format!("/admin/tenants/{tenant}/settings");
    server.admin().patch(&settings, &json!({ "chargebackFeeMax": "3.00" })).expect(200);
    let taken = server.admin().post(&format!("/admin/tenants/{tenant}/chargebacks"), &taken).expect(201);
    let usdt = json!({ "amountUsdt": "5.00", "address": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "network": "TRC20", "externalRef": fresh("usdt") });
    api.post("/v1/crypto/payouts", &usdt).expect(201);
    // Three days of which nothing happens.
    api.advance(3 * 86_400);
    let closed = format!("/admin/chargebacks/{}/close", text(&taken, "chargebackId"));
    server.admin().post(&closed, &json!({ "outcome": "won" })).expect(200);
    let quote =
        api.post("/v1/conversions/quotes", &json!({ "sourceCurrency": "COP", "sourceAmount": "50000" }));
    api.post("/v1/conversions", &json!({ "quoteId": quote.expect(201)["id"] })).expect(201);
    merchant
}

#[test]
fn every_day_is_the_sum_of_its_movements() {
    let mut server = Server::start();
    let tenant = server.tenant_with(json!({ "fees": { "payoutVes": "0.50" } }));
    let api = &tenant.test;
    let began = api.clock();
    let merchant = some_days(&server, &tenant.id, api);
    let compare = |from: DateTime<Utc>| {
        Account::all(&merchant).iter().for_each(|account| account.compare(api, from));
    };
    compare(began - TimeDelta::days(3));
    compare(began + TimeDelta::days(1));
    compare(began + TimeDelta::days(2));
    server.kill();
    server.restart();
    compare(began - TimeDelta::days(3));
    api.fund("1.00");
    server.admin().post("/admin/snapshot", &json!({})).expect(200);
    server.kill();
    server.restart();
    api.advance(86_400);
    compare(began - TimeDelta::days(3));
    api.fund("1.00");
    compare(began - TimeDelta::days(3));
    server.terminate();
    let proved = server.command(&["wal", "verify"]);
    assert!(proved.status.success(), "{}", String::from_utf8_lossy(&proved.stderr));
}

#[test]
fn operators_see_the_same_and_the_platforms_side_of_it() {
    let server = Server::start();
    let tenants: Vec<_> =
        (0..2).map(|_| server.tenant_with(json!({ "fees": { "payoutVes": "0.50" } }))).collect();
    let began = tenants[0].test.clock().date_naive() - TimeDelta::days(2);
    for tenant in &tenants {
        some_days(&server, &tenant.id, &tenant.test);
    }
    let to = began + TimeDelta::days(10);
    let query = |currency: &str, mode: &str| format!("?currency={currency}&from={began}&to={to}{mode}");
    let admin = server.admin();
    for currency in ["VES", "COP", "USDT"] {
        let mut fees = Decimal::ZERO;
        for tenant in &tenants {
            let theirs = admin.get(&format!(
                "/admin/tenants/{}/statements{}",
                tenant.id,
                query(currency, "&mode=test")
            ));
            let own = tenant.test.get(&format!("/v1/statements{}", query(currency, "")));
            assert_eq!(theirs.expect(200), own.expect(200));
            let transactions = match currency {
                "VES" => "/v1/balance/transactions",
                "COP" => "/v1/cop/balance/transactions",
                _ => "/v1/crypto/balance/transactions",
            };
            for row in tenant.test.walk(transactions, &[], 100) {
                if ["fee", "fee_reversal"].contains(&text(&row, "type")) {
                    fees -=
                        decimal(&row[format!("amount{}{}", &currency[..1], currency[1..].to_lowercase())]);
                }
            }
        }
        let platform = admin.get(&format!("/admin/statements{}", query(currency, "&mode=test"))).expect(200);
        let days = list(&platform, "days");
        let sum = |name: &str| days.iter().map(|day| decimal(&day[name])).sum::<Decimal>();
        assert_eq!(sum("fees"), fees, "{platform}");
        for pair in days.windows(2) {
            assert_eq!(pair[0]["closing"], pair[1]["opening"]);
        }
        for day in days {
            let moved: Decimal = COLUMNS.iter().map(|name| decimal(&day[*name])).sum();
            assert_eq!(decimal(&day["opening"]) + moved, decimal(&day["closing"]), "{day}");
            for name in COLUMNS {
                let may = ["fees", "platformFees", "chargebacks", "payouts"].contains(&name);
                assert!(may || decimal(&day[name]) == Decimal::ZERO, "{name} of {day}");
            }
        }
        let (payouts, chargebacks) = (sum("payouts").to_string(), sum("chargebacks").to_string());
        // A payout of each tenant arrived and one failed; the dispute of each was won in the end.
        // The two micro-deposits to the merchant of each cost the platform.
        let expected = match currency {
            "VES" => ("-1.54", "0.00"),
            "COP" => ("0", "0"),
            _ => ("2.00", "0.00"),
        };
        assert_eq!((&*payouts, &*chargebacks), expected, "{platform}");
        let live = admin.get(&format!("/admin/statements{}", query(currency, ""))).expect(200);
        assert!(list(&live, "days").iter().all(|day| decimal(&day["closing"]) == Decimal::ZERO));
    }
    let unknown = "/admin/tenants/00000000-0000-7000-8000-000000000000/statements";
    admin.get(&format!("{unknown}{}", query("VES", ""))).refused(404, "not_found");
    admin.get(&format!("/admin/statements{}", query("VES", "&mode=both"))).names(&["mode"]);
    admin.get("/admin/statements").names(&["currency", "from", "to"]);
}

#[test]
fn what_is_asked_for_is_bounded() {
    let server = Server::shared();
    let api = server.tenant().test;
    let other = server.tenant().test;
    let merchant = text(&other.merchant(), "merchantId").to_owned();
    let own = text(&api.merchant(), "merchantId").to_owned();
    let days = |query: &str| list(&api.get(&format!("/v1/statements?{query}")).expect(200), "days").len();
    assert_eq!(days("currency=VES&from=2024-01-01&to=2025-02-03"), 400);
    api.get("/v1/statements?currency=VES&from=2024-01-01&to=2025-02-04").names(&["from"]);
    assert_eq!(days("currency=VES&from=2024-01-02&to=2024-01-01"), 0);
    assert_eq!(days("currency=VES&from=9999-12-01&to=9999-12-31"), 0);
    assert_eq!(days("currency=USDT&from=2024-02-29&to=2024-02-29"), 1);
    api.get("/v1/statements?currency=EUR&from=2024-02-30&to=x&limit=1")
        .names(&["currency", "from", "limit", "to"]);
    api.get("/v1/statements").names(&["currency", "from", "to"]);
    let today = api.clock().date_naive();
    let of = |id: &str, currency: &str| {
        format!("/v1/merchants/{id}/statements?currency={currency}&from={today}&to={today}")
    };
    api.get(&of(&own, "USDT")).names(&["currency"]);
    assert!(list(&api.get(&of(&own, "COP")).expect(200), "days").len() <= 1);
    api.get(&of(&merchant, "VES")).refused(404, "not_found");
    api.get(&of("x", "VES")).refused(404, "not_found");
}

#[test]
fn a_statement_as_csv_is_a_row_for_each_day() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund("10.00");
    api.pay(1);
    let today = (api.clock() - TimeDelta::hours(4)).date_naive();
    let yesterday = today - TimeDelta::days(1);
    let path = format!("/v1/statements?currency=VES&from={yesterday}&to={today}&separator=semicolon");
    let answer = api.with("accept", "text/csv").get(&path);
    assert_eq!(answer.header("content-type"), Some("text/csv; charset=utf-8"));
    let heading = format!("date;opening;{};closing;movements", COLUMNS.join(";"));
    let empty = format!("{yesterday};0.00{};0.00;0", ";0.00".repeat(COLUMNS.len()));
    let full = format!("{today};0.00;200.00;-3.00;0.00;0.00;0.00;0.00;0.00;0.00;0.00;0.00;10.00;207.00;3");
    assert_eq!(answer.text(), [heading, empty, full, String::new()].join("\r\n"));
    let long = "/v1/statements?currency=VES&from=2024-01-01&to=2025-02-04";
    api.with("accept", "text/csv").get(long).names(&["from"]);
    api.with("accept", "text/csv").get(&format!("{path}&limit=5")).names(&["limit"]);
}
