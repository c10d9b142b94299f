//! Verbs that touch the same money, at once: every answer is one that some order of them explains,
//! and money is conserved. Each race is run many times, on fresh money.
//!
//! 200 VES a dollar, fee 1.5 %: 10 USD are 2000.00 VES, fee 30.00, net 1970.00.

use crate::harness::check::{assert_texts, decimal, list, race, sum, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{DAY, fresh, method_path, payout_body, vpos_body};
use crate::harness::server::Server;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The number of times that each race is run.
const ROUNDS: usize = 24;

/// The answers with this status, after all others were seen to be refusals with one of these codes.
#[track_caller]
fn done<'a>(answers: impl IntoIterator<Item = &'a Answer>, status: u16, refusals: &[(u16, &str)]) -> usize {
    let mut done = 0;
    for answer in answers {
        if answer.status == status {
            done += 1;
            continue;
        }
        let body = answer.json();
        let known = refusals.iter().any(|(status, code)| answer.status == *status && body["error"] == *code);
        assert!(known, "{}: {body}", answer.status);
    }
    done
}

/// Replays the movements in the order in which the log has them: no payout left less than nothing
/// of what `held` leaves. The books agree with them, and the events have no gap.
#[track_caller]
fn assert_an_order_explains(api: &Api, held: Decimal) {
    let mut rows = api.movements();
    rows.reverse();
    let mut net = Decimal::ZERO;
    for row in &rows {
        net += decimal(&row["amountVes"]);
        assert!(
            text(row, "type") != "payout" || net - held >= Decimal::ZERO,
            "{row} overdrew: {net} were left and {held} held"
        );
    }
    assert_eq!(decimal(&api.books()["ledgerNetVes"]), net);
    let events = api.query("/v1/events", &[("after", "0"), ("limit", "100")]).expect(200);
    let numbers: Vec<u64> =
        list(&events, "items").iter().filter_map(|event| event["sequence"].as_u64()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<u64>>(), "events are numbered without gaps");
}

fn charge_back(api: &Api, payment: &Value, amount: &str) -> Answer {
    api.post(
        "/v1/test/chargebacks",
        &json!({ "paymentId": payment["paymentId"], "amountVes": amount, "reason": "fraud" }),
    )
}

#[test]
fn reversals_of_one_payment() {
    let server = Server::shared();
    let api = server.tenant().test;
    for _ in 0..ROUNDS {
        let payment = api.pay(10);
        let answers = race(4, |_| api.reverse(&payment));
        assert_eq!(done(&answers, 200, &[(409, "reversal_in_progress"), (409, "payment_not_completed")]), 1);
        assert_texts(&api.payment(&payment), &[("status", "REVERSED"), ("reversalType", "reversal")]);
    }
    assert_eq!(api.walk("/v1/balance/transactions", &[("type", "reversal")], 100).len(), ROUNDS);
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn a_reversal_and_payouts() {
    let server = Server::shared();
    for round in 0..ROUNDS {
        let api = server.tenant().test;
        let merchant = api.merchant();
        api.fund("50.00");
        // Every other bank refuses the reversal: then the money goes back into its hold, and no
        // payout was paid from it.
        let refused = round % 2 == 1;
        let payment = api.pay_with(10, if refused { "55555555" } else { "12345678" });
        let answers =
            race(
                5,
                |n| if n == 2 { api.reverse(&payment) } else { api.payout(&merchant, "20.00", json!({})) },
            );
        if refused {
            answers[2].refused(409, "reversal_refused");
        } else {
            answers[2].expect(200);
        }
        let payouts = answers.iter().enumerate().filter(|(n, _)| *n != 2).map(|(_, answer)| answer);
        assert_eq!(
            done(payouts, 201, &[(422, "insufficient_balance")]),
            2,
            "fifty pay twenty twice, whatever is held"
        );
        let left = if refused { ["1980.00", "1970.00", "10.00"] } else { ["10.00", "0.00", "10.00"] };
        api.assert_books(left[0], left[1], left[2]);
    }
}

#[test]
fn a_chargeback_a_reversal_and_payouts() {
    let server = Server::shared();
    for _ in 0..ROUNDS {
        let api = server.tenant().test;
        let merchant = api.merchant();
        api.fund("60.00");
        let (c2p, card) = (api.pay(10), api.vpos_pay(10));
        let answers = race(5, |n| match n {
            1 => charge_back(&api, &card, "35.00"),
            2 => api.reverse(&c2p),
            _ => api.payout(&merchant, "20.00", json!({})),
        });
        answers[1].expect(201);
        answers[2].expect(200);
        let paid = done([&answers[0], &answers[3], &answers[4]], 201, &[(422, "insufficient_balance")]);
        assert!((1..=3).contains(&paid), "one fits after the chargeback, three before it: {paid}");
        let available = Decimal::from(60 - 35) - Decimal::from(20 * paid);
        let balance = api.books();
        assert_eq!((decimal(&balance["availableVes"]), text(&balance, "heldVes")), (available, "1970.00"));
    }
}

#[test]
fn a_chargeback_and_payouts_on_released_money() {
    let server = Server::shared();
    for _ in 0..ROUNDS {
        let api = server.tenant().test;
        let merchant = api.merchant();
        let payment = api.vpos_pay(10);
        api.advance(86_400);
        let answers = race(6, |n| {
            if n == 3 {
                charge_back(&api, &payment, "2000.00")
            } else {
                api.payout(&merchant, "197.00", json!({}))
            }
        });
        answers[3].expect(201);
        let payouts: Vec<&Answer> =
            answers.iter().enumerate().filter(|(n, _)| *n != 3).map(|(_, answer)| answer).collect();
        let paid = done(payouts.iter().copied(), 201, &[(422, "insufficient_balance")]);
        for refused in payouts.iter().filter(|answer| answer.status == 422) {
            let told = decimal(&refused.json()["availableVes"]);
            assert_eq!(
                told,
                Decimal::from(-30 - 197 * i64::try_from(paid).expect("few")),
                "refused after the chargeback, when all that were paid were paid"
            );
        }
        assert_an_order_explains(&api, Decimal::ZERO);
        api.payout(&merchant, "0.01", json!({})).refused(422, "insufficient_balance");
    }
}

#[test]
fn parts_of_one_payment_charged_back_and_disputes_decided() {
    let server = Server::shared();
    let api = server.tenant().test;
    let close = |of: &Value, outcome: &str| {
        api.post(
            &format!("/v1/test/chargebacks/{}/close", text(of, "chargebackId")),
            &json!({ "outcome": outcome }),
        )
    };
    let (mut taken, mut sold) = (Decimal::ZERO, Decimal::ZERO);
    for _ in 0..ROUNDS {
        let payment = api.vpos_pay(10);
        sold += decimal(&payment["netVes"]);
        let open = charge_back(&api, &payment, "600.00").expect(201);
        // The other 1400 have room for two of 600; a third one fits when the first dispute is won
        // before it comes.
        let answers =
            race(4, |n| if n == 1 { close(&open, "won") } else { charge_back(&api, &payment, "600.00") });
        answers[1].expect(200);
        let opened =
            done([&answers[0], &answers[2], &answers[3]], 201, &[(409, "chargeback_exceeds_payment")]);
        assert!(matches!(opened, 2 | 3), "{opened}");
        let now = api.payment(&payment);
        let standing =
            list(&now, "chargebacks").iter().filter(|chargeback| chargeback["status"] != "won").count();
        assert_eq!((standing, now["status"].as_str()), (opened, Some("COMPLETED")));
        taken += Decimal::from(600 * opened);
    }
    assert_eq!(decimal(&api.books()["ledgerNetVes"]), sold - taken);
}

#[test]
fn one_reference_in_batches_and_alone() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("1000.00");
    for _ in 0..ROUNDS {
        let items: Vec<Value> = (0..3).map(|_| payout_body(&merchant, "1.00")).collect();
        let batch = |items: Vec<Value>| {
            api.post("/v1/payouts/batch", &json!({ "externalRef": fresh("batch"), "items": items }))
        };
        let answers = race(5, |n| match n {
            0 => batch(items.clone()),
            1 => batch(items.iter().rev().cloned().collect()),
            n => api.post("/v1/payouts", &items[n - 2]),
        });
        let mut ids = BTreeSet::new();
        for answer in &answers {
            assert!(matches!(answer.status, 200 | 201), "{}", answer.text());
            let body = answer.json();
            let payouts = body["items"].as_array().cloned().unwrap_or_else(|| vec![body.clone()]);
            ids.extend(payouts.iter().map(|payout| text(payout, "payoutId").to_owned()));
        }
        assert_eq!(ids.len(), 3, "three references, three payouts");
    }
    let left = Decimal::from(1_000 - 3 * ROUNDS);
    assert_eq!(decimal(&api.books()["availableVes"]), left);
}

#[test]
fn one_reference_with_two_payloads() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let (mut paid, mut sold) = (Decimal::ZERO, Decimal::ZERO);
    for _ in 0..ROUNDS {
        let (reference, card) = (fresh("po"), fresh("card"));
        // The number decides which of the two payloads it is; payouts first, then cards.
        let answers = race(8, |n| {
            let one = n % 2 == 0;
            if n < 4 {
                api.payout(&merchant, if one { "1.00" } else { "2.00" }, json!({ "externalRef": reference }))
            } else {
                api.post(
                    "/v1/payments/vpos",
                    &vpos_body(if one { 1 } else { 2 }, json!({ "externalRef": card })),
                )
            }
        });
        for (answers, id, path, amount, total) in [
            (&answers[..4], "payoutId", format!("/v1/payouts/by-ref/{reference}"), "monto", &mut paid),
            (&answers[4..], "paymentId", format!("/v1/payments/by-ref/{card}"), "netVes", &mut sold),
        ] {
            let winner = api.get(&path).expect(200);
            assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1, "{answers:?}");
            for answer in answers {
                let body = answer.json();
                let named = if answer.status == 409 { &body["existingId"] } else { &body[id] };
                assert_eq!(named, &winner[id], "{body}");
            }
            assert_eq!(
                answers.iter().filter(|answer| answer.status == 409).count(),
                2,
                "the two of the other payload"
            );
            *total += decimal(&winner[amount]);
        }
    }
    assert_eq!(decimal(&api.books()["ledgerNetVes"]), Decimal::from(100) - paid + sold);
}

#[test]
fn one_key_for_many() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    for _ in 0..ROUNDS {
        let keyed = api.keyed(&fresh("key"));
        let body = payout_body(&merchant, "1.00");
        let answers = race(4, |_| keyed.post("/v1/payouts", &body));
        let first = answers
            .iter()
            .find(|answer| answer.status == 201 && answer.header("idempotent-replayed").is_none())
            .expect("one of them paid");
        for answer in answers.iter().filter(|answer| answer.status != 201) {
            answer.refused(409, "idempotency_in_progress");
        }
        for replay in answers.iter().filter(|answer| answer.header("idempotent-replayed").is_some()) {
            assert_eq!((replay.text(), replay.wal_seq()), (first.text(), first.wal_seq()));
        }
    }
    assert_eq!(sum(&api.movements(), "amountVes"), Decimal::from(100 - ROUNDS));
}

#[test]
fn a_proof_and_the_deletion_of_its_method() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund("100.00");
    for round in 0..ROUNDS {
        // A phone gets five verifications a day.
        let phone = format!("0414555{:04}", 1000 + round);
        let merchant = api.create_merchant(json!({ "phone": phone })).expect(201);
        let method = method_path(&merchant, 0);
        api.act(&format!("{method}/verify/start")).expect(202);
        let answers = race(3, |n| match n {
            0 => api.verify(&method, "0.32", "0.45"),
            1 => api.delete(&method),
            _ => api.payout(&merchant, "1.00", json!({})),
        });
        answers[1].expect(200);
        done([&answers[0]], 200, &[(404, "not_found")]);
        let paid = done([&answers[2]], 201, &[(400, "payout_method_not_verified")]);
        assert!(paid == 0 || answers[0].status == 200, "paid to a method that nobody proved");
        assert_texts(&api.merchant_now(&merchant), &[("status", "shell")]);
        api.payout(&merchant, "1.00", json!({})).refused(400, "payout_method_not_verified");
    }
    api.books();
}

#[test]
fn a_switch_a_payout_a_batch_and_a_sale() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    let own = format!("/v1/merchants/{}", text(&merchant, "merchantId"));
    api.fund("100.00");
    let (mut paid, mut sold) = (0, 0);
    for _ in 0..ROUNDS {
        let item = payout_body(&merchant, "1.00");
        let answers = race(4, |n| match n {
            0 => api.patch(&own, &json!({ "isActive": false })),
            1 => api.payout(&merchant, "1.00", json!({})),
            2 => api.post("/v1/payouts/batch", &json!({ "externalRef": fresh("batch"), "items": [item] })),
            _ => api.vpos(10, json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 })),
        });
        answers[0].expect(200);
        paid += done([&answers[1]], 201, &[(409, "merchant_inactive")]);
        let item = list(&answers[2].expect(201), "items")[0].clone();
        match text(&item, "status") {
            "completed" => paid += 1,
            _ => assert_texts(&item, &[("status", "failed"), ("failureCode", "merchant_inactive")]),
        }
        sold += done([&answers[3]], 201, &[(409, "merchant_inactive")]);
        api.payout(&merchant, "1.00", json!({})).refused(409, "merchant_inactive");
        api.patch(&own, &json!({ "isActive": true })).expect(200);
    }
    let balance = api.books();
    assert_eq!(decimal(&balance["availableVes"]), Decimal::from(100 - paid));
    assert_eq!(decimal(&balance["sellerPendingVes"]), Decimal::from(1_770 * sold));
}

#[test]
fn a_sale_and_the_deletion_of_its_seller() {
    let server = Server::shared();
    let api = server.tenant().test;
    let mut kept = Decimal::ZERO;
    for _ in 0..ROUNDS {
        let merchant = api.create_merchant(json!({})).expect(201);
        let own = format!("/v1/merchants/{}", text(&merchant, "merchantId"));
        let answers = race(2, |n| match n {
            0 => api.delete(&own),
            _ => api.vpos(10, json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 })),
        });
        let deleted = done([&answers[0]], 200, &[(409, "merchant_has_balance")]) == 1;
        match (deleted, answers[1].status) {
            (true, 404) => {}
            // The merchant was deleted while the charge was at the bank: nobody is owed the share.
            (true, _) => kept += decimal(&answers[1].expect(201)["netVes"]),
            (false, _) => {
                answers[1].expect(201);
                kept += Decimal::from(200);
                assert_eq!(api.get(&format!("{own}/balance")).expect(200)["pendingVes"], "1770.00");
            }
        }
    }
    assert_eq!(decimal(&api.books()["ledgerNetVes"]), kept);
}

#[test]
fn a_reversal_and_the_end_of_its_time() {
    let server = Server::shared();
    for _ in 0..ROUNDS {
        let api = server.tenant().test;
        let merchant = api.merchant();
        let sale = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
        let payment = api.execute(&api.intent(10), "12345678", sale).expect(200);
        let answers = race(3, |n| match n {
            0 => api.reverse(&payment),
            1 => api.post("/v1/test/clock", &json!({ "advanceSeconds": DAY.num_seconds() })),
            _ => api.payout(&merchant, "1770.00", json!({ "fromMerchantBalance": true })),
        });
        answers[1].expect(200);
        let reversed =
            done([&answers[0]], 200, &[(409, "reversal_window_expired"), (422, "insufficient_balance")]);
        let paid = done([&answers[2]], 201, &[(422, "insufficient_balance")]);
        assert!(reversed + paid <= 1, "the seller's share went back and was paid out");
        let balance = api.books();
        let (tenant, seller) = if reversed == 1 {
            ("0.00", "0.00")
        } else {
            ("200.00", if paid == 1 { "0.00" } else { "1770.00" })
        };
        assert_texts(
            &balance,
            &[
                ("ledgerNetVes", tenant),
                ("heldVes", "0.00"),
                ("sellerPendingVes", "0.00"),
                ("sellerAvailableVes", seller),
            ],
        );
    }
}

#[test]
fn an_execution_and_the_end_of_its_intent() {
    let server = Server::shared();
    let api = server.tenant().test;
    let mut sold = Decimal::ZERO;
    for _ in 0..ROUNDS {
        let intent = api.intent(10);
        let answers = race(3, |n| match n {
            0 => api.execute(&intent, "12345678", json!({})),
            1 => api.post("/v1/test/clock", &json!({ "advanceSeconds": 900 })),
            // A newer request takes its place, unless it is at the bank or paid.
            _ => api.request_c2p(10, json!({ "externalRef": intent["externalRef"] })),
        });
        answers[1].expect(200);
        let completed = done([&answers[0]], 200, &[(409, "intent_canceled")]);
        // About what is at its bank or paid, the same request is answered with that.
        let superseded = usize::from(answers[2].status == 201);
        if superseded == 0 {
            assert_eq!(answers[2].expect(200)["paymentId"], intent["intentId"]);
        }
        assert!(completed + superseded <= 1, "canceled and charged");
        let now = api.payment(&intent);
        match completed {
            1 => {
                assert_texts(&now, &[("status", "COMPLETED")]);
                sold += decimal(&now["netVes"]);
            }
            _ => assert_eq!(now["status"], "CANCELED", "{now}"),
        }
    }
    assert_eq!(decimal(&api.books()["ledgerNetVes"]), sold);
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}
