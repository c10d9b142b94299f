//! The balance: its figures, the hold to the millisecond, the reserve, the past
//! (`docs/contract.md, 6.1, 6.4, 6.8`).

use crate::harness::check::{assert_money, assert_texts, instant, text};
use crate::harness::flows::{DAY, MS, SECOND, figures};
use crate::harness::server::Server;
use chrono::TimeDelta;
use serde_json::{Value, json};

#[test]
fn a_new_tenant_has_nothing() {
    let server = Server::shared();
    let balance = server.tenant().test.balance();
    for member in [
        "ledgerNetVes",
        "reserveVes",
        "heldVes",
        "availableVes",
        "convertedVes",
        "platformAvailableVes",
        "sellerPendingVes",
        "sellerAvailableVes",
    ] {
        assert_eq!(text(&balance, member), "0.00", "{member}");
    }
    assert_eq!((&balance["balanceHoldHours"], &balance["nextReleaseAt"]), (&json!(24), &Value::Null));
}

#[test]
fn every_amount_has_two_decimals_and_cents_do_not_drift() {
    let server = Server::shared();
    let api = server.tenant().test;
    for _ in 0..30 {
        api.fund("0.10");
    }
    api.fund("1234567.80");
    let balance = api.books();
    for (name, value) in balance.as_object().expect("an object") {
        if name.ends_with("Ves") {
            assert_money(value);
        }
    }
    assert_eq!(figures(&balance), ["1234570.80", "0.00", "1234570.80"]);
    assert_eq!(text(&balance, "platformAvailableVes"), "1234570.80");
}

#[test]
fn a_hold_ends_at_its_very_instant() {
    let server = Server::shared();
    let api = server.tenant().test;
    let paid = api.pay(10);
    let release = instant(&paid["availableAt"]);
    assert_eq!(release - instant(&paid["completedAt"]), DAY);
    api.assert_books("1970.00", "1970.00", "0.00");
    api.advance_to(release - SECOND * 15);
    api.assert_books("1970.00", "1970.00", "0.00");
    api.advance_to(release + SECOND);
    api.assert_books("1970.00", "0.00", "1970.00");
    assert_eq!(figures(&api.balance_at(release - MS)), ["1970.00", "1970.00", "0.00"]);
    assert_eq!(api.balance_at(release - MS)["nextReleaseAt"], paid["availableAt"]);
    assert_eq!(figures(&api.balance_at(release)), ["1970.00", "0.00", "1970.00"]);
    assert!(api.balance_at(release)["nextReleaseAt"].is_null());
}

#[test]
fn every_sale_has_a_hold_of_its_own() {
    let server = Server::shared();
    let api = server.tenant().test;
    let mut sales = Vec::new();
    for usd in [10, 5, 1] {
        sales.push(api.pay(usd));
        api.advance(3600);
    }
    let next = |at: usize| sales.get(at).map_or(Value::Null, |sale: &Value| sale["availableAt"].clone());
    assert_eq!(api.balance()["nextReleaseAt"], next(0));
    for (at, held, available) in [(0, "1182.00", "1970.00"), (1, "197.00", "2955.00"), (2, "0.00", "3152.00")]
    {
        api.advance_to(instant(&next(at)));
        let balance = api.books();
        assert_eq!(figures(&balance), ["3152.00", held, available]);
        assert_eq!(balance["nextReleaseAt"], next(at + 1));
    }
}

#[test]
fn held_money_can_not_be_paid_out() {
    let server = Server::shared();
    let api = server.tenant().test;
    let (merchant, paid) = (api.merchant(), api.pay(10));
    assert_eq!(
        text(&api.payout(&merchant, "0.01", json!({})).refused(422, "insufficient_balance"), "availableVes"),
        "0.00"
    );
    api.advance_to(instant(&paid["availableAt"]));
    api.payout(&merchant, "1970.00", json!({})).expect(201);
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn the_hold_counts_from_completion() {
    let server = Server::shared();
    let api = server.tenant().test;
    let pending = api.pay_with(10, "77777777");
    api.advance(60);
    let payment = api.payment(&pending);
    let completed = instant(&payment["completedAt"]);
    let waited = completed - instant(&payment["createdAt"]);
    assert!(
        waited >= TimeDelta::seconds(60) && waited < TimeDelta::seconds(75),
        "it bears the instant of the poll: {waited}"
    );
    assert_eq!(instant(&api.balance()["nextReleaseAt"]), completed + DAY);
}

#[test]
fn funding_may_be_held() {
    let server = Server::shared();
    let api = server.tenant().test;
    let row =
        api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "40.00", "held": true })).expect(201);
    assert_texts(&row, &[("type", "adjustment"), ("amountVes", "40.00")]);
    api.fund("2.00");
    api.assert_books("42.00", "40.00", "2.00");
    let release = instant(&api.balance()["nextReleaseAt"]);
    assert_eq!(release - instant(&row["createdAt"]), DAY);
    api.advance_to(release);
    api.assert_books("42.00", "0.00", "42.00");
    for (amount, after) in [("1", "43.00"), ("1.5", "44.50"), ("0.5", "45.00")] {
        api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": amount })).expect(201);
        api.assert_books(after, "0.00", after);
    }
    for amount in ["0.00", "-1.00", "1.", "1.000", "ten", ""] {
        api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": amount })).names(&["amount"]);
    }
    api.post("/v1/test/fund", &json!({ "currency": "USD", "amount": "1.00" })).names(&["currency"]);
}

#[test]
fn the_last_cent_can_be_spent_and_no_more() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("10.00");
    let refused = api.payout(&merchant, "10.01", json!({})).refused(422, "insufficient_balance");
    assert_eq!(text(&refused, "availableVes"), "10.00");
    api.payout(&merchant, "10.00", json!({})).expect(201);
    assert_eq!(
        text(&api.payout(&merchant, "0.01", json!({})).refused(422, "insufficient_balance"), "availableVes"),
        "0.00"
    );
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn the_reserve_stays() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (api, path) = (&tenant.test, format!("/admin/tenants/{}/settings", tenant.id));
    let reserve = |amount: &str| server.admin().patch(&path, &json!({ "reserveVes": amount })).expect(200);
    let merchant = api.merchant();
    api.fund("600.00");
    reserve("500.00");
    assert_texts(
        &api.books(),
        &[("ledgerNetVes", "600.00"), ("reserveVes", "500.00"), ("availableVes", "100.00")],
    );
    assert_eq!(
        text(
            &api.payout(&merchant, "100.01", json!({})).refused(422, "insufficient_balance"),
            "availableVes"
        ),
        "100.00"
    );
    api.payout(&merchant, "100.00", json!({})).expect(201);
    reserve("600.00");
    assert_eq!(text(&api.books(), "availableVes"), "-100.00");
    assert_eq!(
        text(&api.payout(&merchant, "0.01", json!({})).refused(422, "insufficient_balance"), "availableVes"),
        "-100.00"
    );
    reserve("0.00");
    api.payout(&merchant, "500.00", json!({})).expect(201);
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn the_balance_as_it_was() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.advance(10);
    let funded = instant(&api.fund("100.00")["createdAt"]);
    api.advance(10);
    let paid_out = instant(&api.payout(&merchant, "30.00", json!({})).expect(201)["createdAt"]);
    api.advance(10);
    let sale = api.pay(10);
    let sold = instant(&sale["completedAt"]);
    api.advance(600);
    api.reverse(&sale).expect(200);
    for (when, expected) in [
        (funded - TimeDelta::days(400), ["0.00", "0.00", "0.00"]),
        (funded - MS, ["0.00", "0.00", "0.00"]),
        (funded, ["100.00", "0.00", "100.00"]),
        (paid_out - MS, ["100.00", "0.00", "100.00"]),
        (paid_out + SECOND * 5, ["70.00", "0.00", "70.00"]),
        (sold - MS, ["70.00", "0.00", "70.00"]),
        (sold, ["2040.00", "1970.00", "70.00"]),
        (sold + SECOND * 300, ["2040.00", "1970.00", "70.00"]),
    ] {
        assert_eq!(figures(&api.balance_at(when)), expected, "{when}");
    }
    api.assert_books("70.00", "0.00", "70.00");
}

#[test]
fn a_moment_that_is_none_or_to_come_is_refused() {
    let server = Server::shared();
    let api = server.tenant().test;
    for when in ["yesterday", "2026-13-01T00:00:00.000Z", "1700000000", "", "2026-01-01"] {
        api.query("/v1/balance", &[("at", when)]).names(&["at"]);
    }
    let future = crate::harness::check::stamp(api.clock() + SECOND * 60);
    api.query("/v1/balance", &[("at", &future)]).names(&["at"]);
    let offset = "2026-01-01T00:00:00-04:00";
    api.query("/v1/balance", &[("at", offset)]).expect(200);
}

#[test]
fn a_seller_may_be_held_for_business_days() {
    let server = Server::shared();
    let api = server.tenant_with(json!({ "sellerHoldBusinessDays": 3 })).test;
    let merchant = api.merchant();
    let share = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
    let paid = api.execute(&api.intent(10), "12345678", share).expect(200);
    let path = format!("/v1/merchants/{}/balance", text(&merchant, "merchantId"));
    // Caracas is four hours behind; three business days are three to five days of the calendar.
    let mut release = instant(&paid["completedAt"]);
    let mut left = 3;
    while left > 0 {
        release += DAY;
        let weekday = (release - TimeDelta::hours(4)).format("%u").to_string();
        if !["6", "7"].contains(&weekday.as_str()) {
            left -= 1;
        }
    }
    api.advance_to(release - SECOND * 20);
    assert_texts(&api.get(&path).expect(200), &[("pendingVes", "1770.00"), ("availableVes", "0.00")]);
    api.assert_books("200.00", "0.00", "200.00");
    api.advance_to(release);
    assert_texts(&api.get(&path).expect(200), &[("pendingVes", "0.00"), ("availableVes", "1770.00")]);
    assert_texts(&api.balance(), &[("sellerPendingVes", "0.00"), ("sellerAvailableVes", "1770.00")]);
}
