//! The durability of each operation through one crash: what was answered is there, and asking again
//! answers the same.

use crate::harness::check::{assert_movements, assert_texts, race, sum, text};
use crate::harness::flows::{execution, fresh, payout_body};
use crate::harness::server::Server;
use rust_decimal::Decimal;
use serde_json::json;

#[test]
fn what_was_answered_is_there() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let (payment, payout, intent) =
        (api.pay(10), api.payout(&merchant, "30.00", json!({})).expect(201), api.intent(5));
    let (balance, rows) = (api.balance(), api.movements());
    for _ in 0..2 {
        server.kill();
        server.restart();
        assert_eq!((api.balance(), api.movements()), (balance.clone(), rows.clone()));
        assert_eq!((api.payment(&payment), api.payout_now(&payout)), (payment.clone(), payout.clone()));
        assert_eq!(api.merchant_now(&merchant), merchant);
        assert_eq!(text(&api.payment(&intent), "status"), "PENDING");
    }
    assert_eq!(text(&api.execute(&intent, "12345678", json!({})).expect(200), "status"), "COMPLETED");
}

#[test]
fn a_reference_is_remembered() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let body = payout_body(&merchant, "30.00");
    let payout = api.post("/v1/payouts", &body).expect(201);
    let intent = api.intent(1);
    let payment = api.execute(&intent, "12345678", json!({})).expect(200);
    server.kill();
    server.restart();
    assert_eq!(api.post("/v1/payouts", &body).expect(200), payout);
    let mut other = body.clone();
    other["monto"] = json!("30.01");
    api.post("/v1/payouts", &other).refused(409, "external_ref_conflict");
    assert_eq!(api.post("/v1/payments/c2p", &execution(&intent, "12345678")).expect(200), payment);
    let again = |usd: i64| api.request_c2p(usd, json!({ "externalRef": payment["externalRef"] }));
    assert_eq!(again(1).expect(200)["paymentId"], payment["paymentId"]);
    again(2).refused(409, "external_ref_conflict");
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}

#[test]
fn what_was_at_the_bank_is_found_out() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let (paid, refused) = (api.pay_with(10, "77777777"), api.pay_with(10, "66666666"));
    let payouts =
        ["10.05", "10.06", "10.07"].map(|monto| api.payout(&merchant, monto, json!({})).expect(202));
    server.kill();
    server.restart();
    api.advance(180);
    assert_texts(&api.payment(&paid), &[("status", "COMPLETED")]);
    assert_texts(&api.payment(&refused), &[("status", "FAILED"), ("failureCode", "AB01")]);
    let statuses: Vec<String> =
        payouts.iter().map(|payout| text(&api.payout_now(payout), "status").to_owned()).collect();
    assert_eq!(statuses, ["completed", "failed", "completed"]);
    assert_movements(
        &api.movements(),
        &[
            ("adjustment", &["100.00"]),
            ("payment", &["2000.00"]),
            ("fee", &["-30.00"]),
            ("payout", &["-10.07", "-10.06", "-10.05"]),
            ("payout_reversal", &["10.06"]),
        ],
    );
    assert_eq!(text(&api.books(), "ledgerNetVes"), "2049.88");
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}

#[test]
fn money_for_a_hundred_pays_a_hundred_across_a_crash() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let refs: Vec<String> = (0..200).map(|_| fresh("po")).collect();
    let pay = |reference: &str| {
        api.try_post(
            "/v1/payouts",
            &crate::harness::flows::merged(
                payout_body(&merchant, "1.00"),
                json!({ "externalRef": reference }),
            ),
        )
    };
    // Half of them are done, then the power goes in the middle of the other half.
    let first = race(100, |at| pay(&refs[at]).map(|answer| answer.status));
    assert!(first.iter().all(|status| *status == Ok(201)), "{first:?}");
    api.fund("50.00");
    let second = std::thread::scope(|scope| {
        let running = scope.spawn(|| race(100, |at| pay(&refs[100 + at]).map(|answer| answer.status)));
        std::thread::sleep(std::time::Duration::from_millis(3));
        server.kill();
        running.join().expect("the writers end well")
    });
    server.restart();
    let again: Vec<u16> = refs.iter().map(|reference| pay(reference).expect("an answer").status).collect();
    for (at, before) in second.iter().enumerate() {
        if *before == Ok(201) {
            assert_eq!(again[100 + at], 200, "acknowledged and lost");
        }
    }
    assert!(again[..100].iter().all(|status| *status == 200), "acknowledged and lost");
    assert_eq!(again.iter().filter(|status| **status != 422).count(), 150, "money for exactly 150");
    assert_eq!(
        sum(&api.walk("/v1/balance/transactions", &[("type", "payout")], 100), "amountVes"),
        Decimal::from(-150)
    );
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn the_log_goes_on_where_it_ended() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let mut last = 0;
    for _ in 0..3 {
        for _ in 0..3 {
            let answer = api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" }));
            assert!(answer.wal_seq() > last);
            last = answer.wal_seq();
        }
        server.kill();
        server.restart();
    }
    assert_eq!(text(&api.books(), "ledgerNetVes"), "9.00");
}
