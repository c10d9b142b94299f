//! Conversions of bolívares and pesos to USDT (`docs/contract.md, 9`).
//!
//! Market 245 VES and 4000 COP; spreads 1.5 % and 2 %: a USDT costs 248.6750 VES or 4080.0000 COP.

use crate::harness::check::{assert_id, assert_nulls, assert_texts, decimal, instant, list, race, sum, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{DAY, UNKNOWN, fresh, merged};
use crate::harness::server::Server;
use chrono::TimeDelta;
use rust_decimal::Decimal;
use serde_json::{Value, json};

const QUOTES: &str = "/v1/conversions/quotes";

impl Api {
    /// Test money, held or not.
    #[track_caller]
    pub fn fund_in(&self, currency: &str, amount: &str, held: bool) {
        self.post("/v1/test/fund", &json!({ "currency": currency, "amount": amount, "held": held }))
            .expect(201);
    }

    /// A quote for so many bolívares.
    #[track_caller]
    pub fn quote_ves(&self, amount: &str) -> Value {
        self.post(QUOTES, &json!({ "sourceAmountVes": amount })).expect(201)
    }

    /// A quote for so many pesos.
    #[track_caller]
    pub fn quote_cop(&self, amount: &str) -> Value {
        self.post(QUOTES, &json!({ "sourceCurrency": "COP", "sourceAmount": amount })).expect(201)
    }

    /// Accepts a quote; members of `over` are added.
    #[track_caller]
    pub fn accept_quote(&self, quote: &Value, over: Value) -> Answer {
        self.post("/v1/conversions", &merged(json!({ "quoteId": quote["id"] }), over))
    }

    /// A conversion that waits.
    #[track_caller]
    pub fn pending_conversion(&self, quote: &Value) -> Value {
        let conversion = self.accept_quote(quote, json!({ "reference": fresh("test_pending") })).expect(201);
        assert_texts(&conversion, &[("status", "PENDING")]);
        conversion
    }

    #[track_caller]
    fn end_conversion(&self, conversion: &Value, how: &str) -> Answer {
        let id = text(conversion, "id");
        let test = if how == "cancel" { "" } else { "/test" };
        self.act(&format!("/v1{test}/conversions/{id}/{how}"))
    }

    /// The balance in USDT.
    #[track_caller]
    pub fn usdt_balance(&self) -> Value {
        self.get("/v1/crypto/balance").expect(200)
    }
}

fn events(api: &Api) -> Vec<String> {
    let page = api.get("/v1/events?after=0&limit=100").expect(200);
    list(&page, "items").iter().map(|event| text(event, "event").to_owned()).collect()
}

#[test]
fn bolivares_become_usdt() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund_in("VES", "1000.00", false);
    let quote = api.quote_ves("500.00");
    assert_id(&quote["id"]);
    assert_texts(
        &quote,
        &[
            ("object", "conversion_quote"),
            ("rate", "248.6750"),
            ("marketRate", "245.0000"),
            ("spreadPercent", "1.5000"),
            ("rateSource", "market"),
            ("sourceCurrency", "VES"),
            ("sourceAmount", "500.00"),
            ("sourceAmountVes", "500.00"),
            ("targetAmountUsdt", "2.01"),
        ],
    );
    assert_eq!(instant(&quote["expiresAt"]) - instant(&quote["createdAt"]), TimeDelta::seconds(60));
    assert_eq!(api.balance()["ledgerNetVes"], "1000.00", "a price reserves nothing");
    let id = text(&quote, "id");
    api.get(&format!("/v1/conversions/{id}")).refused(404, "not_found");
    assert!(list(&api.get("/v1/conversions").expect(200), "items").is_empty());
    let accepted = api.accept_quote(&quote, json!({ "reference": "lote-7" }));
    let conversion = accepted.expect(201);
    assert!(accepted.wal_seq() > 0);
    assert_texts(
        &conversion,
        &[
            ("id", id),
            ("object", "conversion"),
            ("status", "COMPLETED"),
            ("reference", "lote-7"),
            ("rate", "248.6750"),
            ("marketRate", "245.0000"),
            ("spreadPercent", "1.5000"),
            ("rateSource", "market"),
            ("sourceCurrency", "VES"),
            ("sourceAmount", "500.00"),
            ("sourceAmountVes", "500.00"),
            ("targetAmountUsdt", "2.01"),
        ],
    );
    assert_nulls(&conversion, &["origin", "paymentId", "canceledAt", "cancelReason"]);
    assert_eq!(
        (&conversion["livemode"], &conversion["completedAt"]),
        (&json!(false), &conversion["createdAt"])
    );
    assert_eq!(api.get(&format!("/v1/conversions/{id}")).expect(200), conversion);
    assert_texts(
        &api.books(),
        &[("ledgerNetVes", "500.00"), ("availableVes", "500.00"), ("convertedVes", "500.00")],
    );
    assert_texts(
        &api.usdt_balance(),
        &[("availableUsdt", "2.01"), ("heldUsdt", "0.00"), ("held", "0.00"), ("pendingPayoutsUsdt", "0.00")],
    );
    let rows = api.query("/v1/balance/transactions", &[("type", "conversion")]).expect(200);
    assert_texts(
        &list(&rows, "items")[0],
        &[("type", "conversion"), ("amountVes", "-500.00"), ("conversionId", id)],
    );
    let rows = api.get("/v1/crypto/balance/transactions").expect(200);
    assert_texts(
        &list(&rows, "items")[0],
        &[("type", "conversion"), ("amountUsdt", "2.01"), ("currency", "USDT")],
    );
    assert_eq!(events(&api), ["conversion.created", "conversion.completed"]);
    let told = api.get("/v1/events?after=1").expect(200);
    assert_eq!(list(&told, "items")[0]["data"], conversion);
}

#[test]
fn pesos_become_usdt() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund_in("COP", "200000", false);
    let quote = api.quote_cop("100000");
    assert_texts(
        &quote,
        &[
            ("rate", "4080.0000"),
            ("marketRate", "4000.0000"),
            ("spreadPercent", "2.0000"),
            ("targetAmountUsdt", "24.50"),
        ],
    );
    assert_texts(&quote, &[("sourceCurrency", "COP"), ("sourceAmount", "100000")]);
    assert_nulls(&quote, &["sourceAmountVes"]);
    let conversion = api.accept_quote(&quote, json!({})).expect(201);
    assert_texts(
        &conversion,
        &[
            ("status", "COMPLETED"),
            ("sourceCurrency", "COP"),
            ("sourceAmount", "100000"),
            ("targetAmountUsdt", "24.50"),
        ],
    );
    assert_nulls(&conversion, &["sourceAmountVes", "reference"]);
    let quote =
        api.post(QUOTES, &json!({ "sourceCurrency": "COP", "targetAmountUsdt": "24.51" })).expect(201);
    assert_texts(&quote, &[("sourceAmount", "100001"), ("targetAmountUsdt", "24.51")]);
    let body = api.accept_quote(&quote, json!({})).refused(422, "insufficient_balance");
    assert_texts(&body, &[("availableCop", "100000"), ("spendableCop", "100000")]);
    assert_texts(&api.balance(), &[("convertedVes", "0.00")]);
}

#[test]
fn amounts_have_a_code_of_their_own() {
    let server = Server::shared();
    let api = server.tenant().test;
    for body in [
        json!({}),
        json!({ "sourceAmountVes": "1.00", "targetAmountUsdt": "1.00" }),
        json!({ "sourceAmountVes": "0.00" }),
        json!({ "sourceAmountVes": "-1.00" }),
        json!({ "sourceAmountVes": "1.001" }),
        json!({ "sourceAmountVes": "abc" }),
        json!({ "sourceAmountVes": 100 }),
        json!({ "sourceAmountVes": "1000000000000.00" }),
        json!({ "sourceAmount": "100000" }),
        json!({ "sourceCurrency": "COP", "sourceAmountVes": "100.00" }),
        json!({ "sourceCurrency": "COP", "sourceAmount": "100000.5" }),
        json!({ "sourceCurrency": "COP", "sourceAmount": "0" }),
        json!({ "sourceCurrency": "COP", "sourceAmount": "100000", "targetAmountUsdt": "1.00" }),
        json!({ "targetAmountUsdt": "999999999999.99" }),
    ] {
        let refused = api.post(QUOTES, &body);
        assert_eq!(
            (refused.status, refused.json()["error"].as_str()),
            (400, Some("invalid_amount")),
            "{body}"
        );
    }
    api.post(QUOTES, &json!({ "sourceCurrency": "USD", "targetAmountUsdt": "1.00" }))
        .names(&["sourceCurrency"]);
    api.post(QUOTES, &json!({ "targetAmountUsd": "1.00" })).names(&["targetAmountUsd"]);
    for (given, shown) in [("500", "500.00"), ("500.5", "500.50"), ("500.05", "500.05")] {
        assert_eq!(api.quote_ves(given)["sourceAmountVes"], shown);
    }
    let body = api.post(QUOTES, &json!({ "targetAmountUsdt": "0.99" })).refused(422, "amount_below_minimum");
    assert_texts(&body, &[("minimumUsdt", "1.00")]);
    let quote = api.post(QUOTES, &json!({ "targetAmountUsdt": "1.11" })).expect(201);
    assert_texts(&quote, &[("sourceAmountVes", "276.03"), ("targetAmountUsdt", "1.11")]);
    api.post("/v1/conversions", &json!({ "quoteId": "x", "reference": "r".repeat(129) }))
        .names(&["quoteId", "reference"]);
    api.post("/v1/conversions", &json!({ "quoteId": UNKNOWN })).refused(404, "not_found");
}

#[test]
fn a_quote_is_used_once_and_for_a_minute() {
    let server = Server::shared();
    let (api, other) = (server.tenant().test, server.tenant().test);
    api.fund_in("VES", "1000.00", false);
    for pesos in [json!("1000000000000"), json!(1_000_000_000_000_i64)] {
        api.post("/v1/conversions/quotes", &json!({ "sourceCurrency": "COP", "sourceAmount": pesos }))
            .refused(400, "invalid_amount");
    }
    let (first, second) = (api.quote_ves("300.00"), api.quote_ves("300.00"));
    other.accept_quote(&first, json!({})).refused(404, "not_found");
    let key = fresh("key");
    let conversion = api.keyed(&key).accept_quote(&first, json!({}));
    conversion.expect(201);
    let again = api.keyed(&key).accept_quote(&first, json!({}));
    assert_eq!(
        (again.status, again.text(), again.header("idempotent-replayed")),
        (201, conversion.text(), Some("true"))
    );
    api.accept_quote(&first, json!({})).refused(409, "quote_used");
    api.advance(59);
    let third = api.quote_ves("300.00");
    api.accept_quote(&second, json!({})).expect(201);
    api.advance(60);
    api.accept_quote(&third, json!({})).refused(410, "quote_expired");
    api.accept_quote(&first, json!({})).refused(409, "quote_used");
    assert_texts(&api.books(), &[("availableVes", "400.00"), ("convertedVes", "600.00")]);
}

#[test]
fn two_accepts_of_one_quote_never_both_win() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund_in("VES", "100000.00", false);
    for round in 0..5 {
        let quote = api.quote_ves("300.00");
        let mut statuses = race(8, |_| api.accept_quote(&quote, json!({})).status);
        statuses.sort_unstable();
        assert_eq!(statuses, [[201].as_slice(), &[409; 7]].concat(), "round {round}");
    }
    assert_texts(&api.books(), &[("ledgerNetVes", "98500.00"), ("convertedVes", "1500.00")]);
}

#[test]
fn conversions_and_payouts_never_overdraw() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund_in("VES", "3000.00", false);
    let quotes: Vec<Value> = (0..10).map(|_| api.quote_ves("300.00")).collect();
    let outcomes = race(20, |n| {
        if n % 2 == 0 {
            api.accept_quote(&quotes[n / 2], json!({}))
        } else {
            api.payout(&merchant, "300.00", json!({}))
        }
    });
    let (won, lost): (Vec<&Answer>, Vec<&Answer>) = outcomes.iter().partition(|answer| answer.status == 201);
    assert_eq!(won.len(), 10);
    for answer in lost {
        assert_eq!(answer.refused(422, "insufficient_balance")["availableVes"], "0.00");
    }
    let balance = api.books();
    assert_texts(&balance, &[("ledgerNetVes", "0.00"), ("availableVes", "0.00")]);
    let conversions = list(&api.get("/v1/conversions").expect(200), "items").len();
    assert_eq!(decimal(&balance["convertedVes"]), Decimal::from(300 * conversions));
}

#[test]
fn held_money_is_spent_and_its_hold_goes_along() {
    let server = Server::shared();
    let api = server.tenant_with(json!({ "reserveVes": "100.00" })).test;
    api.fund_in("VES", "1000.00", true);
    let released = instant(&api.balance()["nextReleaseAt"]);
    let quote = api.quote_ves("600.00");
    let body = api.accept_quote(&quote, json!({})).refused(422, "insufficient_balance");
    assert_texts(&body, &[("availableVes", "-100.00"), ("spendableVes", "0.00")]);
    api.fund_in("VES", "300.00", false);
    let conversion = api.accept_quote(&quote, json!({})).expect(201);
    assert_texts(
        &api.books(),
        &[("ledgerNetVes", "700.00"), ("heldVes", "600.00"), ("availableVes", "0.00")],
    );
    let usdt = api.usdt_balance();
    assert_texts(&usdt, &[("availableUsdt", "0.00"), ("heldUsdt", text(&conversion, "targetAmountUsdt"))]);
    assert_eq!(instant(&usdt["nextReleaseAt"]), released);
    let row = api.get("/v1/crypto/balance/transactions").expect(200);
    assert_eq!(instant(&list(&row, "items")[0]["availableAt"]), released);
    let body = api.accept_quote(&api.quote_ves("600.01"), json!({})).refused(422, "insufficient_balance");
    assert_texts(&body, &[("availableVes", "0.00"), ("spendableVes", "600.00")]);
    api.advance_to(released);
    assert_texts(
        &api.usdt_balance(),
        &[("availableUsdt", text(&conversion, "targetAmountUsdt")), ("heldUsdt", "0.00")],
    );
}

#[test]
fn what_waits_is_canceled_fulfilled_or_rejected() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund_in("VES", "1000.00", true);
    let before = api.balance();
    let waiting = api.pending_conversion(&api.quote_ves("400.00"));
    assert_nulls(&waiting, &["completedAt", "canceledAt", "cancelReason"]);
    assert_texts(&api.books(), &[("heldVes", "600.00"), ("convertedVes", "400.00")]);
    assert_texts(&api.usdt_balance(), &[("heldUsdt", "0.00"), ("availableUsdt", "0.00")]);
    let canceled = api.end_conversion(&waiting, "cancel").expect(200);
    assert_texts(&canceled, &[("status", "CANCELED"), ("cancelReason", "canceled_by_tenant")]);
    instant(&canceled["canceledAt"]);
    assert_eq!(api.books(), before, "the very holds are back");
    for how in ["cancel", "fulfil", "reject"] {
        let code = if how == "cancel" { "conversion_not_cancelable" } else { "conversion_not_pending" };
        api.end_conversion(&canceled, how).refused(409, code);
        api.end_conversion(&json!({ "id": UNKNOWN }), how).refused(404, "not_found");
        api.end_conversion(&api.quote_ves("400.00"), how).refused(404, "not_found");
    }
    let waiting = api.pending_conversion(&api.quote_ves("400.00"));
    let path = format!("/v1/test/conversions/{}/reject", text(&waiting, "id"));
    let rejected = api.post(&path, &json!({ "reason": "no_liquidity" })).expect(200);
    assert_texts(&rejected, &[("status", "CANCELED"), ("cancelReason", "no_liquidity")]);
    let waiting = api.pending_conversion(&api.quote_ves("400.00"));
    let fulfilled = api.end_conversion(&waiting, "fulfil").expect(200);
    assert_texts(&fulfilled, &[("status", "COMPLETED")]);
    assert_eq!(fulfilled["createdAt"], waiting["createdAt"]);
    assert_texts(&api.usdt_balance(), &[("heldUsdt", "1.60"), ("availableUsdt", "0.00")]);
    assert_texts(&api.books(), &[("ledgerNetVes", "600.00"), ("convertedVes", "400.00")]);
    let expected = [
        "conversion.created",
        "conversion.canceled",
        "conversion.created",
        "conversion.canceled",
        "conversion.created",
        "conversion.completed",
    ];
    assert_eq!(events(&api), expected);
    let reversals = api.walk("/v1/balance/transactions", &[("type", "conversion_reversal")], 10);
    assert_eq!(sum(&reversals, "amountVes"), Decimal::from(800));
}

#[test]
fn lists_are_by_creation_and_filtered() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund_in("VES", "10000.00", false);
    api.fund_in("COP", "1000000", false);
    let (older, newer) = (api.quote_ves("300.00"), api.quote_cop("10000"));
    let (second, first) =
        (api.accept_quote(&newer, json!({})).expect(201), { api.pending_conversion(&older) });
    let third = api.accept_quote(&api.quote_ves("301.00"), json!({})).expect(201);
    let of = |parameters: &[(&str, &str)]| api.walk("/v1/conversions", parameters, 1);
    assert_eq!(
        of(&[]),
        [third.clone(), first.clone(), second.clone()],
        "newest first, by when they were accepted"
    );
    assert_eq!(of(&[("status", "PENDING")]), std::slice::from_ref(&first));
    assert_eq!(of(&[("sourceCurrency", "COP")]), [second]);
    assert_eq!(of(&[("sourceCurrency", "VES"), ("status", "COMPLETED")]), [third]);
    assert!(of(&[("status", "CANCELED")]).is_empty());
    let canceled = api.end_conversion(&first, "cancel").expect(200);
    assert!(of(&[("status", "PENDING")]).is_empty());
    assert_eq!(of(&[("status", "CANCELED")]), [canceled]);
    api.query("/v1/conversions", &[("status", "pending")]).names(&["status"]);
    api.query("/v1/conversions", &[("sourceCurrency", "USDT")]).names(&["sourceCurrency"]);
}

#[test]
fn daily_limits_leave_the_quote_unused() {
    let server = Server::shared();
    let api = server
        .tenant_with(json!({ "conversions": { "dailyLimit": { "VES": "1000.00", "COP": "50000" } } }))
        .test;
    api.fund_in("VES", "10000.00", false);
    api.fund_in("COP", "1000000", false);
    let waiting = api.pending_conversion(&api.quote_ves("600.00"));
    api.accept_quote(&api.quote_ves("400.00"), json!({})).expect(201);
    let quote = api.quote_ves("250.00");
    let body = api.accept_quote(&quote, json!({})).refused(422, "daily_limit_exceeded");
    assert_texts(&body, &[("dailyLimit", "1000.00")]);
    api.end_conversion(&waiting, "cancel").expect(200);
    api.accept_quote(&quote, json!({})).expect(201);
    api.accept_quote(&api.quote_cop("50000"), json!({})).expect(201);
    api.accept_quote(&api.quote_cop("5000"), json!({})).refused(422, "daily_limit_exceeded");
    let settings = api.get("/v1/conversions/settings").expect(200);
    assert_eq!(settings["dailyLimit"], json!({ "VES": "1000.00", "COP": "50000" }));
    api.advance(24 * 3600);
    api.accept_quote(&api.quote_cop("50000"), json!({})).expect(201);
}

#[test]
fn settings_show_what_the_operator_set_and_take_what_the_tenant_may() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    let path = "/v1/conversions/settings";
    let defaults = json!({
        "autoConvert": { "COP": { "percent": 0 } }, "enabledCurrencies": ["VES", "COP"], "spreadPercent": { "VES": "1.5000", "COP": "2.0000" },
        "minimumUsdt": "1.00", "dailyLimit": { "VES": null, "COP": null },
    });
    assert_eq!(api.get(path).expect(200), defaults);
    let changed = api.patch(path, &json!({ "autoConvert": { "COP": { "percent": 35 } } })).expect(200);
    assert_eq!(changed, merged(defaults.clone(), json!({ "autoConvert": { "COP": { "percent": 35 } } })));
    assert_eq!(api.get(path).expect(200), changed);
    api.patch(path, &json!({ "autoConvert": { "COP": { "percent": 100 } } })).expect(200);
    api.patch(path, &json!({ "autoConvert": { "COP": { "percent": 0 } } })).expect(200);
    for percent in [json!(101), json!(-1), json!(1.5), json!("50"), json!(null)] {
        api.patch(path, &json!({ "autoConvert": { "COP": { "percent": percent } } }))
            .names(&["autoConvert.COP.percent"]);
    }
    api.patch(path, &json!({ "minimumUsdt": "5.00", "autoConvert": { "COP": { "percent": 5 } } }))
        .names(&["minimumUsdt"]);
    api.patch(path, &json!({ "autoConvert": { "VES": { "percent": 5 }, "COP": { "percent": 5 } } }))
        .names(&["autoConvert.VES"]);
    api.patch(path, &json!({})).refused(400, "invalid_data");
    // A later change by the operator keeps the tenant's choices.
    api.patch(path, &json!({ "autoConvert": { "COP": { "percent": 40 } } })).expect(200);
    let settings = json!({ "conversions": { "enabled": ["VES"], "minimumUsdt": "2.00" } });
    server.admin().patch(&format!("/admin/tenants/{}/settings", tenant.id), &settings).expect(200);
    let now = api.get(path).expect(200);
    assert_eq!(
        (&now["autoConvert"]["COP"]["percent"], &now["enabledCurrencies"], &now["minimumUsdt"]),
        (&json!(40), &json!(["VES"]), &json!("2.00"))
    );
    api.post(QUOTES, &json!({ "sourceCurrency": "COP", "sourceAmount": "100000" }))
        .refused(403, "conversions_not_enabled");
    api.post(QUOTES, &json!({ "targetAmountUsdt": "1.99" })).refused(422, "amount_below_minimum");
    server
        .admin()
        .patch(&format!("/admin/tenants/{}/settings", tenant.id), &json!({ "usdt": { "enabled": false } }))
        .expect(200);
    api.post(QUOTES, &json!({ "targetAmountUsdt": "5.00" })).refused(403, "conversions_not_enabled");
}

#[test]
fn the_rate_is_fresh_or_there_is_none() {
    let server = Server::start_with(&[("PASARELA__RATES__MAX_AGE_SECONDS", "5")]);
    let api = server.tenant().test;
    let rate = |price: &str, as_of: chrono::DateTime<chrono::Utc>| {
        let sample = json!({ "pair": "USDT/VES", "source": "p2p", "side": "FLOOR", "method": "p2p_floor", "price": price, "asOf": crate::harness::check::stamp(as_of) });
        server.admin().post("/admin/rates", &sample).expect(201);
    };
    rate("300", chrono::Utc::now());
    assert_texts(&api.quote_ves("1000.00"), &[("marketRate", "300.0000"), ("rate", "304.5000")]);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let refused = loop {
        let answer = api.post(QUOTES, &json!({ "sourceAmountVes": "1000.00" }));
        if answer.status == 503 || std::time::Instant::now() > deadline {
            break answer;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    };
    refused.refused(503, "rate_unavailable");
}

#[test]
fn a_past_balance_knows_what_was_converted() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund_in("VES", "1000.00", false);
    let start = api.clock();
    api.advance(10);
    let waiting = api.pending_conversion(&api.quote_ves("400.00"));
    let during = api.clock();
    api.advance(10);
    api.end_conversion(&waiting, "cancel").expect(200);
    api.advance(10);
    for (when, converted, available) in
        [(start, "0.00", "1000.00"), (during, "400.00", "600.00"), (api.clock(), "0.00", "1000.00")]
    {
        assert_texts(&api.balance_at(when), &[("convertedVes", converted), ("availableVes", available)]);
    }
    assert!(api.clock() - start < DAY);
}

#[test]
fn scopes_divide_reading_and_converting() {
    let server = Server::shared();
    let tenant = server.tenant();
    let path = format!("/admin/tenants/{}/keys", tenant.id);
    let key = |scopes: &[&str]| {
        let made = server.admin().post(&path, &json!({ "mode": "test", "scopes": scopes })).expect(201);
        server.api(text(&made, "key"))
    };
    tenant.test.fund_in("VES", "1000.00", false);
    let (reader, converter, manager) = (key(&["read"]), key(&["convert"]), key(&["manage"]));
    reader.post(QUOTES, &json!({ "sourceAmountVes": "500.00" })).refused(403, "scope_missing");
    manager.post(QUOTES, &json!({ "sourceAmountVes": "500.00" })).refused(403, "scope_missing");
    let quote = converter.quote_ves("500.00");
    reader.accept_quote(&quote, json!({})).refused(403, "scope_missing");
    let waiting = converter.pending_conversion(&quote);
    converter.end_conversion(&waiting, "fulfil").refused(403, "scope_missing");
    converter
        .patch("/v1/conversions/settings", &json!({ "autoConvert": { "COP": { "percent": 1 } } }))
        .refused(403, "scope_missing");
    manager
        .patch("/v1/conversions/settings", &json!({ "autoConvert": { "COP": { "percent": 1 } } }))
        .expect(200);
    reader.get("/v1/conversions/settings").expect(200);
    converter.end_conversion(&waiting, "cancel").expect(200);
}

#[test]
fn movements_in_usdt_are_all_there_once_whatever_was_converted_and_when() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund_in("VES", "2000.00", false);
    api.fund_in("COP", "200000", false);
    api.fund_in("USDT", "7.00", false);
    api.accept_quote(&api.quote_ves("500.00"), json!({})).expect(201);
    let waiting = api.pending_conversion(&api.quote_ves("300.00"));
    let canceled = api.pending_conversion(&api.quote_cop("20000"));
    api.accept_quote(&api.quote_cop("100000"), json!({})).expect(201);
    api.end_conversion(&waiting, "fulfil").expect(200);
    api.end_conversion(&canceled, "cancel").expect(200);
    api.accept_quote(&api.quote_ves("400.00"), json!({})).expect(201);

    let rows = |path: &str, kind: &[(&str, &str)], amount: &str| -> Vec<(String, String)> {
        let rows = api.walk(path, kind, 1);
        assert_eq!(rows, api.walk(path, kind, 100), "pages of one are the same rows");
        rows.iter().rev().map(|row| (text(row, "type").to_owned(), text(row, amount).to_owned())).collect()
    };
    let named = |rows: &[(&str, &str)]| -> Vec<(String, String)> {
        rows.iter().map(|(kind, amount)| ((*kind).to_owned(), (*amount).to_owned())).collect()
    };
    let (usdt, kind) = ("/v1/crypto/balance/transactions", [("type", "conversion")]);
    let converted =
        [("conversion", "2.01"), ("conversion", "24.50"), ("conversion", "1.20"), ("conversion", "1.60")];
    assert_eq!(rows(usdt, &kind, "amountUsdt"), named(&converted));
    assert_eq!(rows(usdt, &[], "amountUsdt"), named(&[&[("adjustment", "7.00")][..], &converted].concat()));
    let paid = [("conversion", "-500.00"), ("conversion", "-300.00"), ("conversion", "-400.00")];
    assert_eq!(rows("/v1/balance/transactions", &kind, "amountVes"), named(&paid));
    let pesos = rows("/v1/cop/balance/transactions", &[], "amountCop");
    assert_eq!(
        pesos,
        named(&[
            ("adjustment", "200000"),
            ("conversion", "-20000"),
            ("conversion", "-100000"),
            ("conversion_reversal", "20000")
        ])
    );
}
