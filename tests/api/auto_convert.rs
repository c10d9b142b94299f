//! Auto-convert: a part of what a peso payment brings becomes USDT by itself
//! (`docs/contract.md, 9.9`).

use crate::harness::check::{assert_texts, decimal, list, text};
use crate::harness::client::Api;
use crate::harness::flows::merged;
use crate::harness::pesos::cop_body;
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[track_caller]
fn turn_on(api: &Api, percent: i64) {
    api.patch("/v1/conversions/settings", &json!({ "autoConvert": { "COP": { "percent": percent } } }))
        .expect(200);
}

/// The conversions, once there are so many: the answer to a payment does not wait for them.
#[track_caller]
fn conversions(api: &Api, count: usize) -> Vec<Value> {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let found = list(&api.get("/v1/conversions").expect(200), "items").to_vec();
        if found.len() >= count || Instant::now() > until {
            assert_eq!(found.len(), count);
            return found;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_share_of_the_net_is_converted_from_the_payments_own_hold() {
    let server = Server::shared();
    let api = server.tenant().test;
    let before = api.cop_paid(50_000);
    turn_on(&api, 50);
    let paid = api.cop_paid(50_000);
    let made = conversions(&api, 1).remove(0);
    // 46,250 net, half of it 23,125; the market asks 4,000 and the spread is 2 percent: 23,125 /
    // 4,080 is 5.667.
    assert_texts(
        &made,
        &[
            ("status", "COMPLETED"),
            ("origin", "auto"),
            ("paymentId", text(&paid, "id")),
            ("reference", text(&paid, "reference")),
            ("sourceCurrency", "COP"),
            ("sourceAmount", "23125"),
            ("rate", "4080.0000"),
            ("targetAmountUsdt", "5.66"),
        ],
    );
    api.assert_pesos("69375", "69375", "0");
    let told = api.told();
    let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["payment.completed", "payment.completed", "conversion.created", "conversion.completed"]
    );
    assert_eq!((&told[2].1["origin"], &told[2].1["paymentId"]), (&json!("auto"), &paid["id"]));
    // Pesos that were converted are not there for a refund of their payment, but those that are
    // held otherwise are.
    api.cop_refund(&paid).expect(200);
    api.assert_pesos("23125", "23125", "0");
    let refused = api.cop_refund(&before).refused(409, "insufficient_balance");
    assert_texts(&refused, &[("availableCop", "0"), ("spendableCop", "23125")]);
}

#[test]
fn half_a_peso_goes_up_and_what_is_too_little_stays() {
    let server = Server::shared();
    let api = server.tenant().test;
    turn_on(&api, 5);
    // 17,600 net: 880 pesos are worth less than the minimum.
    api.cop_paid(20_000);
    // 92,005 net: 4,600.25 pesos; 92,010: 4,600.5.
    for (amount, share) in [(97_911, "4600"), (97_916, "4601")] {
        let paid = api.cop_paid(amount);
        let wanted = decimal(&paid["netCop"]);
        let newest = conversions(&api, if share == "4600" { 1 } else { 2 }).remove(0);
        assert_eq!(
            (text(&newest, "sourceAmount"), text(&newest, "paymentId")),
            (share, text(&paid, "id")),
            "{wanted} net"
        );
    }
    turn_on(&api, 0);
    api.cop_paid(500_000);
    api.advance(600);
    assert_eq!(conversions(&api, 2).len(), 2);
}

#[test]
fn one_that_is_pending_can_be_called_off() {
    let server = Server::shared();
    let api = server.tenant().test;
    turn_on(&api, 100);
    let pending = api
        .post("/v1/cop/payments", &merged(cop_body(50_000, "push"), json!({ "reference": "test_pending_1" })))
        .expect(201);
    api.cop_buyer(&pending, "pay").expect(200);
    let made = conversions(&api, 1).remove(0);
    assert_eq!(made["status"], "PENDING");
    api.assert_pesos("0", "0", "0");
    api.cop_refund(&pending).refused(409, "insufficient_balance");
    let canceled = api.act(&format!("/v1/conversions/{}/cancel", text(&made, "id"))).expect(200);
    assert_texts(&canceled, &[("status", "CANCELED"), ("cancelReason", "canceled_by_tenant")]);
    api.assert_pesos("46250", "46250", "0");
    api.cop_refund(&pending).expect(200);
    api.assert_pesos("0", "0", "0");
}

/// A server that knows no peso rate until an operator says one.
fn without_a_rate() -> Server {
    let mut server = Server::start();
    server.kill();
    // Rates are kept: what the feed said before is forgotten with its store.
    std::fs::remove_dir_all(server.data().join("rates")).expect("the rates are there");
    server.configure(|config| {
        config.replace(
            "pair = \"USDT/COP\"\nsource = \"p2p\"\nside = \"BUY\"\nkind = \"fixed\"\nprice = \"4000.00000000\"",
            "pair = \"USDT/COP\"\nsource = \"p2p\"\nside = \"BUY\"\nkind = \"manual\"",
        )
    });
    server.restart();
    server
}

#[test]
fn without_a_rate_it_waits_across_a_restart_and_a_refund_ends_it() {
    let mut server = without_a_rate();
    let tenant = server.tenant();
    let api = &tenant.test;
    turn_on(api, 100);
    let (kept, refunded) = (api.cop_paid(50_000), api.cop_paid(100_000));
    api.advance(300);
    conversions(api, 0);
    api.cop_refund(&refunded).expect(200);
    server.kill();
    server.restart();
    let rate = json!({ "pair": "USDT/COP", "source": "p2p", "side": "BUY", "price": "4000.00000000" });
    server.admin().post("/admin/rates", &rate).expect(201);
    api.advance(60);
    let made = conversions(api, 1).remove(0);
    assert_texts(
        &made,
        &[("paymentId", text(&kept, "id")), ("status", "COMPLETED"), ("sourceAmount", "46250")],
    );
    api.advance(86_400);
    assert_eq!(conversions(api, 1).len(), 1);
    api.assert_pesos("0", "0", "0");
}

#[test]
fn after_a_day_without_a_rate_the_pesos_stay() {
    let server = without_a_rate();
    let api = server.tenant().test;
    turn_on(&api, 100);
    api.cop_paid(50_000);
    api.advance(86_400);
    let rate = json!({ "pair": "USDT/COP", "source": "p2p", "side": "BUY", "price": "4000.00000000" });
    server.admin().post("/admin/rates", &rate).expect(201);
    api.advance(3_600);
    conversions(&api, 0);
    api.assert_pesos("46250", "0", "46250");
}

#[test]
fn what_is_below_the_minimum_or_over_the_limit_of_the_day_stays_in_pesos() {
    let server = Server::shared();
    let api = server
        .tenant_with(json!({ "conversions": { "dailyLimit": { "COP": "50000" }, "minimumUsdt": "3.00" } }))
        .test;
    turn_on(&api, 50);
    // 20000 less 2400 are 17600; half of it is 2.15 USDT.
    api.cop_paid(20_000);
    let fits = api.cop_paid(100_000);
    // Half of 94,000 is 47,000, and twice that is over 50,000.
    api.cop_paid(100_000);
    api.advance(24 * 3600);
    let made = conversions(&api, 1).remove(0);
    assert_eq!(text(&made, "paymentId"), text(&fits, "id"), "neither of the others is tried again");
    assert_eq!(api.told().iter().filter(|(name, _)| name == "conversion.created").count(), 1);
}

#[test]
fn the_usdt_is_held_as_long_as_the_pesos_were() {
    let server = Server::shared();
    let api = server.tenant().test;
    turn_on(&api, 50);
    api.cop_paid(100_000);
    conversions(&api, 1);
    let usdt = api.get("/v1/crypto/balance").expect(200);
    assert_texts(&usdt, &[("heldUsdt", "11.51"), ("availableUsdt", "0.00")]);
    let row = list(&api.get("/v1/crypto/balance/transactions").expect(200), "items")[0].clone();
    assert_eq!((&row["type"], &row["availableAt"]), (&json!("conversion"), &usdt["nextReleaseAt"]));
}
