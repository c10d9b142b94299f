//! Refunds in pesos: whole, with the fee, within 96 hours, of money that is there
//! (`docs/contract.md, 11.6`).

use crate::harness::check::{assert_nulls, assert_texts, instant, race, text};
use crate::harness::client::Api;
use crate::harness::flows::{DAY, SECOND, UNKNOWN};
use crate::harness::pesos::rows;
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The time that a processor which is slow on purpose may take.
const PATIENCE: Duration = Duration::from_secs(90);

#[test]
fn amount_and_fee_go_back() {
    let server = Server::shared();
    let api = server.tenant().test;
    let paid = api.cop_paid(50_000);
    let refunded = api.cop_refund(&paid).expect(200);
    assert_texts(
        &refunded,
        &[("id", text(&paid, "id")), ("status", "refunded"), ("completedAt", text(&paid, "completedAt"))],
    );
    assert!(instant(&refunded["refundedAt"]) >= instant(&refunded["completedAt"]));
    assert_eq!((&refunded["feeCop"], &refunded["netCop"]), (&paid["feeCop"], &paid["netCop"]));
    assert_eq!(api.cop_now(&paid), refunded);
    let movements = api.cop_rows();
    assert_eq!(
        rows(&movements),
        [("fee_reversal", "3750"), ("reversal", "-50000"), ("fee", "-3750"), ("payment", "50000")]
    );
    assert_eq!(api.walk("/v1/cop/balance/transactions", &[("paymentId", text(&paid, "id"))], 3), movements);
    api.assert_pesos("0", "0", "0");
    assert_nulls(&api.cop_books(), &["nextReleaseAt"]);
    let told = api.told();
    assert_eq!(told.last().map(|(name, _)| name.as_str()), Some("payment.reversed"));
    let data = &told[1].1;
    assert_texts(
        data,
        &[
            ("paymentId", text(&paid, "id")),
            ("currency", "COP"),
            ("reversalType", "refund"),
            ("status", "refunded"),
        ],
    );
    assert_eq!((&data["reversedAt"], &data["amountCop"]), (&refunded["refundedAt"], &json!(50_000)));
    api.cop_refund(&paid).refused(409, "payment_not_completed");
    assert_eq!(api.told().len(), 2);
}

#[test]
fn only_what_is_completed_can_go_back() {
    let server = Server::shared();
    let api = server.tenant().test;
    let pending = api.cop(20_000, "qr");
    api.cop_refund(&pending).refused(409, "payment_not_completed");
    let canceled = api.cop_cancel(&pending).expect(200);
    let failed = api.cop_buyer(&api.cop(20_000, "push"), "decline").expect(200);
    for over in [&canceled, &failed] {
        api.cop_refund(over).refused(409, "payment_not_completed");
    }
    api.act(&format!("/v1/cop/payments/{UNKNOWN}/refund")).refused(404, "not_found");
}

#[test]
fn it_takes_its_own_hold_and_leaves_the_others() {
    let server = Server::shared();
    let api = server.tenant().test;
    let first = api.cop_paid(50_000);
    api.advance(600);
    let second = api.cop_paid(30_000);
    api.cop_fund("1000", false);
    api.cop_refund(&first).expect(200);
    api.assert_pesos("28150", "27150", "1000");
    assert_eq!(api.cop_books()["nextReleaseAt"], second["availableAt"]);
}

#[test]
fn when_its_own_hold_is_over_it_takes_what_is_available_and_then_what_is_held() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    let old = api.cop_paid(50_000);
    api.advance_to(instant(&old["completedAt"]) + DAY);
    api.assert_pesos("46250", "0", "46250");
    // A payout takes most of it; 6,250 are left.
    server.cop_payout(&tenant, 40_000, json!({})).expect(201);
    let refused = api.cop_refund(&old).refused(409, "insufficient_balance");
    assert_texts(&refused, &[("availableCop", "6250"), ("spendableCop", "6250")]);
    api.cop_fund("39999", true);
    let refused = api.cop_refund(&old).refused(409, "insufficient_balance");
    assert_texts(&refused, &[("availableCop", "6250"), ("spendableCop", "46249")]);
    api.assert_pesos("46249", "39999", "6250");
    api.cop_fund("1", false);
    api.cop_refund(&old).expect(200);
    api.assert_pesos("0", "0", "0");
}

#[test]
fn the_window_is_96_hours() {
    let server = Server::shared();
    let api = server.tenant().test;
    let (late, early) = (api.cop_paid(20_000), api.cop_paid(30_000));
    api.advance_to(instant(&late["completedAt"]) + DAY * 4 - SECOND * 20);
    api.cop_refund(&early).expect(200);
    api.advance_to(instant(&late["completedAt"]) + DAY * 4);
    api.cop_refund(&late).refused(409, "refund_window_expired");
    api.assert_pesos("17600", "0", "17600");
}

#[test]
fn in_its_first_minute_a_payment_that_ends_in_503_cannot_be_refunded() {
    let server = Server::shared();
    let api = server.tenant().test;
    let paid = api.cop_paid(50_503);
    let keyed = api.keyed("refund");
    let balance = api.cop_books();
    for _ in 0..3 {
        let answer = keyed.cop_refund(&paid);
        answer.refused(503, "processor_unavailable");
        assert!(answer.header("retry-after").is_some() && answer.header("idempotent-replayed").is_none());
        assert_eq!(
            (api.cop_books(), api.cop_now(&paid)),
            (balance.clone(), paid.clone()),
            "nothing was debited"
        );
    }
    api.get("/v1/idempotency/refund").refused(404, "not_found");
    api.advance_to(instant(&paid["completedAt"]) + SECOND * 60);
    let refunded = keyed.cop_refund(&paid);
    assert_eq!(refunded.expect(200)["status"], "refunded");
    let again = keyed.cop_refund(&paid);
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &refunded.body));
    api.assert_pesos("0", "0", "0");
    assert_eq!(api.told().len(), 2);
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}

#[test]
fn it_happens_once_however_often_it_is_asked_for() {
    let server = Server::shared();
    let api = server.tenant().test;
    for _ in 0..5 {
        let paid = api.cop_paid(50_000);
        let answers = race(8, |_| api.cop_refund(&paid));
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
        for answer in answers.iter().filter(|answer| answer.status != 200) {
            let code = answer.expect(409)["error"].clone();
            assert!(code == "payment_not_completed" || code == "refund_in_progress", "{code}");
        }
        api.assert_pesos("0", "0", "0");
    }
}

#[test]
fn a_refund_and_a_payout_of_the_same_pesos() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    for _ in 0..8 {
        let paid = api.cop_paid(50_000);
        api.advance_to(instant(&paid["completedAt"]) + DAY);
        let answers = race(2, |n| {
            if n == 0 { api.cop_refund(&paid) } else { server.cop_payout(&tenant, 46_250, json!({})) }
        });
        match (answers[0].status, answers[1].status) {
            (200, 422) => {
                assert_texts(&answers[1].refused(422, "insufficient_balance"), &[("availableCop", "0")])
            }
            (409, 201) => drop(answers[0].refused(409, "insufficient_balance")),
            other => panic!("{other:?}"),
        }
        api.assert_pesos("0", "0", "0");
    }
}

/// The payment, once it has another status than this one.
#[track_caller]
fn until_not(api: &Api, payment: &Value, status: &str) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let now = api.cop_now(payment);
        if now["status"] != status {
            return now;
        }
        assert!(Instant::now() < deadline, "still {status} after {PATIENCE:?}: {now}");
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn while_the_processor_decides_the_pesos_are_held_and_a_second_refund_waits() {
    let server = Server::start_with(&[
        ("PASARELA__RAILS__SIMULATOR_DELAY_MS", "1500"),
        ("PASARELA__RAILS__ANSWER_SECONDS", "1"),
    ]);
    let api = server.tenant().test;
    let pending = api.cop(50_000, "qr");
    api.cop_buyer(&pending, "pay").expect(202);
    let paid = until_not(&api, &pending, "pending");
    assert_eq!(api.keyed("slow").cop_refund(&paid).expect(202)["status"], "completed");
    api.cop_refund(&paid).refused(409, "refund_in_progress");
    api.assert_pesos("46250", "46250", "0");
    assert_eq!(api.get("/v1/idempotency/slow").expect(200)["status"], 202);
    assert_eq!(until_not(&api, &paid, "completed")["status"], "refunded");
    assert_eq!(api.get("/v1/idempotency/slow").expect(200)["response"]["status"], "refunded");
    api.assert_pesos("0", "0", "0");
}
