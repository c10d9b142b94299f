//! The rows of the ledger: what they say, how they are filtered, and pages that do not shift
//! (`docs/contract.md, 6.2`).

use crate::harness::check::{assert_id, assert_movements, instant, list, stamp, sum, text};
use crate::harness::flows::{MS, UNKNOWN, fresh};
use crate::harness::server::Server;
use chrono::TimeDelta;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const PATH: &str = "/v1/balance/transactions";

fn amounts(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| text(row, "amountVes")).collect()
}

#[test]
fn the_rows_of_a_sale() {
    let server = Server::shared();
    let api = server.tenant().test;
    let paid = api.pay(10);
    let rows = api.movements();
    assert_movements(&rows, &[("payment", &["2000.00"]), ("fee", &["-30.00"])]);
    for row in &rows {
        assert_id(&row["id"]);
        assert_eq!(
            (&row["paymentId"], &row["createdAt"], &row["availableAt"]),
            (&paid["paymentId"], &paid["completedAt"], &paid["availableAt"])
        );
        assert!(row["description"].is_string());
        assert!(row["payoutId"].is_null() && row["chargebackId"].is_null());
    }
    let payment = rows.iter().find(|row| row["type"] == "payment").expect("a row");
    assert_eq!(payment["externalRef"], paid["externalRef"]);
    api.advance_to(instant(&paid["availableAt"]));
    let later = api.movements();
    assert!(later.iter().all(|row| row["availableAt"].is_null()), "the hold is over");
    for (before, after) in rows.iter().zip(&later) {
        for member in ["id", "type", "amountVes", "createdAt", "description"] {
            assert_eq!(before[member], after[member]);
        }
    }
}

#[test]
fn the_row_of_a_payout() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("10.00");
    let payout = api.payout(&merchant, "4.00", json!({})).expect(201);
    let rows = api.walk(PATH, &[("type", "payout")], 100);
    assert_eq!(rows.len(), 1);
    assert_eq!((text(&rows[0], "amountVes"), &rows[0]["payoutId"]), ("-4.00", &payout["payoutId"]));
    assert_eq!((&rows[0]["externalRef"], rows[0]["paymentId"].is_null()), (&payout["externalRef"], true));
}

#[test]
fn types_may_be_repeated_or_joined() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.pay(10);
    api.fund("10.00");
    api.payout(&merchant, "4.00", json!({})).expect(201);
    let repeated = api.query(PATH, &[("type", "payment"), ("type", "payout")]).expect(200);
    let joined = api.query(PATH, &[("type", "payment,payout")]).expect(200);
    assert_eq!(repeated, joined);
    assert_eq!(amounts(list(&joined, "items")), ["-4.00", "2000.00"]);
    assert_eq!(amounts(&api.walk(PATH, &[("type", "fee")], 1)), ["-30.00"]);
    assert!(api.walk(PATH, &[("type", "conversion")], 100).is_empty());
    assert!(api.walk(PATH, &[("type", "PLATFORM_FEE")], 100).is_empty());
}

#[test]
fn of_one_payment_or_payout() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    let (_, second) = (api.pay(10), api.pay(5));
    api.fund("10.00");
    let failed = api.payout(&merchant, "4.04", json!({})).expect(201);
    let payment_id = text(&second, "paymentId");
    assert_movements(
        &api.walk(PATH, &[("paymentId", payment_id)], 1),
        &[("payment", &["1000.00"]), ("fee", &["-15.00"])],
    );
    assert_movements(
        &api.walk(PATH, &[("paymentId", payment_id), ("type", "fee")], 1),
        &[("fee", &["-15.00"])],
    );
    let of_payout = api.walk(PATH, &[("payoutId", text(&failed, "payoutId"))], 1);
    assert_movements(&of_payout, &[("payout", &["-4.04"]), ("payout_reversal", &["4.04"])]);
    assert!(api.walk(PATH, &[("paymentId", UNKNOWN)], 100).is_empty());
    api.query(PATH, &[("paymentId", "7")]).names(&["paymentId"]);
}

#[test]
fn from_is_inclusive_and_to_is_not() {
    let server = Server::shared();
    let api = server.tenant().test;
    let mut times = Vec::new();
    for amount in ["1.00", "2.00", "3.00"] {
        times.push(instant(&api.fund(amount)["createdAt"]));
        api.advance(10);
    }
    let within = |from: Option<usize>, to: Option<usize>, shift| {
        let (from, to) = (from.map(|at| stamp(times[at] + shift)), to.map(|at| stamp(times[at] + shift)));
        let mut parameters = Vec::new();
        parameters.extend(from.as_deref().map(|from| ("from", from)));
        parameters.extend(to.as_deref().map(|to| ("to", to)));
        amounts(&api.walk(PATH, &parameters, 1)).iter().map(|amount| (*amount).to_owned()).collect::<Vec<_>>()
    };
    let exactly = TimeDelta::zero();
    assert_eq!(within(Some(1), None, exactly), ["3.00", "2.00"]);
    assert_eq!(within(None, Some(1), exactly), ["1.00"]);
    assert_eq!(within(Some(0), Some(2), exactly), ["2.00", "1.00"]);
    assert_eq!(within(Some(1), Some(2), MS), ["3.00"]);
    assert_eq!(within(Some(1), Some(1), exactly), [] as [&str; 0]);
    assert_eq!(within(Some(2), Some(0), exactly), [] as [&str; 0]);
}

#[test]
fn what_comes_in_meanwhile_shifts_no_page() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("1000.00");
    for amount in 1..=7 {
        api.payout(&merchant, &format!("{amount}.00"), json!({})).expect(201);
    }
    for parameters in [vec![], vec![("type", "payout")]] {
        let before = api.walk(PATH, &parameters, 100);
        let (mut seen, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut query = parameters.clone();
            query.push(("limit", "2"));
            query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let page = api.query(PATH, &query).expect(200);
            assert_eq!(api.query(PATH, &query).expect(200), page, "a cursor can be used again");
            seen.extend_from_slice(list(&page, "items"));
            match page["nextCursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
            api.fund("9.00");
            api.payout(&merchant, "0.50", json!({})).expect(201);
        }
        let ids =
            |rows: &[Value]| -> Vec<String> { rows.iter().map(|row| text(row, "id").to_owned()).collect() };
        assert_eq!(ids(&seen), ids(&before), "{parameters:?}");
    }
}

#[test]
fn rows_of_one_instant_are_not_lost_between_pages() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let items: Vec<Value> = (1..=5)
        .map(|amount| json!({ "merchantId": merchant["merchantId"], "monto": format!("{amount}.00"), "concepto": "pago", "externalRef": fresh("it") }))
        .collect();
    api.post("/v1/payouts/batch", &json!({ "externalRef": fresh("batch"), "items": items })).expect(201);
    for limit in 1..=7 {
        let rows = api.walk(PATH, &[], limit);
        let ids: BTreeSet<&str> = rows.iter().map(|row| text(row, "id")).collect();
        assert_eq!((rows.len(), ids.len()), (6, 6), "in pages of {limit}");
        assert_eq!(sum(&rows, "amountVes"), Decimal::from(85));
    }
}

#[test]
fn a_seller_has_rows_of_their_own() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    let share = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
    let paid = api.execute(&api.intent(10), "12345678", share).expect(200);
    let path = format!("/v1/merchants/{}/balance/transactions", text(&merchant, "merchantId"));
    let rows = api.walk(&path, &[], 100);
    assert_eq!((rows.len(), sum(&rows, "amountVes")), (1, Decimal::from(1770)));
    assert_eq!((&rows[0]["paymentId"], &rows[0]["availableAt"]), (&paid["paymentId"], &paid["availableAt"]));
    api.advance_to(instant(&paid["availableAt"]));
    api.payout(&merchant, "70.00", json!({ "fromMerchantBalance": true })).expect(201);
    let rows = api.walk(&path, &[], 1);
    assert_eq!((amounts(&rows)[0], rows.len()), ("-70.00", 2));
    api.assert_books("200.00", "0.00", "200.00");
}

#[test]
fn cursors_survive_a_restart() {
    let mut server = Server::start();
    let api = server.tenant().test;
    for amount in 1..=4 {
        api.fund(&format!("{amount}.00"));
    }
    let page = api.query(PATH, &[("limit", "2")]).expect(200);
    let all = api.movements();
    server.kill();
    server.restart();
    let rest = api.query(PATH, &[("limit", "2"), ("cursor", text(&page, "nextCursor"))]).expect(200);
    assert_eq!(amounts(list(&rest, "items")), ["2.00", "1.00"]);
    assert_eq!(api.movements(), all);
}
