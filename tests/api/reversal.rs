//! Giving back a C2P payment (`docs/contract.md, 5.10`).

use crate::harness::check::{assert_movements, assert_nulls, assert_texts, instant, race, text};
use crate::harness::flows::{SECOND, UNKNOWN};
use crate::harness::server::Server;
use serde_json::json;

#[test]
fn amount_and_fee_go_back() {
    let server = Server::shared();
    let api = server.tenant().test;
    let paid = api.pay(10);
    let back = api.reverse(&paid).expect(200);
    assert_texts(
        &back,
        &[("status", "REVERSED"), ("reversalType", "reversal"), ("paymentId", text(&paid, "paymentId"))],
    );
    assert!(back["reversalRef"].is_string());
    assert!(instant(&back["reversedAt"]) >= instant(&back["completedAt"]));
    let rows: &[(&str, &[&str])] = &[
        ("payment", &["2000.00"]),
        ("fee", &["-30.00"]),
        ("reversal", &["-2000.00"]),
        ("fee_reversal", &["30.00"]),
    ];
    assert_movements(&api.movements(), rows);
    api.assert_books("0.00", "0.00", "0.00");
    assert!(api.balance()["nextReleaseAt"].is_null());
    assert_eq!(api.payment(&paid), back);
}

#[test]
fn it_takes_its_own_hold_and_leaves_the_others() {
    let server = Server::shared();
    let api = server.tenant().test;
    let first = api.pay(10);
    api.advance(600);
    let second = api.pay(5);
    api.reverse(&first).expect(200);
    api.assert_books("985.00", "985.00", "0.00");
    assert_eq!(api.balance()["nextReleaseAt"], second["availableAt"]);
    api.advance_to(instant(&second["availableAt"]));
    api.assert_books("985.00", "0.00", "985.00");
}

#[test]
fn it_happens_once_however_often_it_is_asked_for() {
    let server = Server::shared();
    let api = server.tenant().test;
    let paid = api.pay(10);
    let answers = race(12, |_| api.reverse(&paid));
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        let code = answer.expect(409)["error"].clone();
        assert!(code == "payment_not_completed" || code == "reversal_in_progress", "{code}");
    }
    api.reverse(&paid).refused(409, "payment_not_completed");
    assert_eq!(api.movements().len(), 4);
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn only_what_is_completed_can_go_back() {
    let server = Server::shared();
    let api = server.tenant().test;
    let intent = api.intent(1);
    let (failed, silent) = (api.pay_with(1, "99999999"), api.pay_with(1, "77777777"));
    api.act(&format!("/v1/payments/{}/reverse", text(&intent, "intentId")))
        .refused(409, "payment_not_completed");
    api.reverse(&failed).refused(409, "payment_not_completed");
    api.reverse(&silent).refused(409, "payment_not_completed");
    api.act(&format!("/v1/payments/{UNKNOWN}/reverse")).refused(404, "not_found");
    assert!(api.movements().is_empty());
}

#[test]
fn the_bank_may_refuse() {
    let server = Server::shared();
    let api = server.tenant().test;
    let paid = api.pay_with(10, "55555555");
    for _ in 0..2 {
        api.reverse(&paid).refused(409, "reversal_refused");
    }
    let payment = api.payment(&paid);
    assert_eq!(payment["status"], "COMPLETED");
    assert_nulls(&payment, &["reversedAt", "reversalRef", "reversalType"]);
    api.assert_books("1970.00", "1970.00", "0.00");
}

#[test]
fn a_refusal_that_comes_after_the_hold_has_ended_leaves_the_money_available() {
    let mut server = Server::start_with(&[("PASARELA__RAILS__SIMULATOR_DELAY_MS", "4000")]);
    let api = server.tenant().test;
    let paid = api.pay_with(10, "55555555");
    api.advance_to(instant(&paid["availableAt"]) - SECOND * 3);
    // The bank says no a second after the sale's hold is over. Nobody asks the book anything then,
    // and a stop writes it as that record left it.
    api.reverse(&paid).refused(409, "reversal_refused");
    assert!(server.terminate().success());
    let proof = server.command(&["wal", "verify", "--data-dir", server.data().to_str().expect("a path")]);
    assert!(proof.status.success(), "{}", String::from_utf8_lossy(&proof.stderr));
    server.restart();
    assert!(api.clock() > instant(&paid["availableAt"]));
    api.assert_books("1970.00", "0.00", "1970.00");
}

#[test]
fn after_24_hours_it_is_too_late() {
    let server = Server::shared();
    let api = server.tenant().test;
    let (late, early) = (api.pay(10), api.pay(5));
    api.advance_to(instant(&late["availableAt"]) - SECOND * 20);
    api.reverse(&early).expect(200);
    api.advance_to(instant(&late["availableAt"]));
    api.reverse(&late).refused(409, "reversal_window_expired");
    api.assert_books("1970.00", "0.00", "1970.00");
}

#[test]
fn the_fee_that_was_charged_comes_back_not_the_one_of_today() {
    let server = Server::shared();
    let tenant = server.tenant();
    let paid = tenant.test.pay(10);
    let settings = json!({ "fees": { "c2p": { "percent": "9.0000", "fixedVes": "1.00" } } });
    server.admin().patch(&format!("/admin/tenants/{}/settings", tenant.id), &settings).expect(200);
    tenant.test.reverse(&paid).expect(200);
    tenant.test.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn of_a_marketplace_sale_the_sellers_part_comes_from_the_seller() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    let intent = api.intent(10);
    let share = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
    let paid = api.execute(&intent, "12345678", share).expect(200);
    api.reverse(&paid).expect(200);
    let path = format!("/v1/merchants/{}/balance", text(&merchant, "merchantId"));
    assert_texts(&api.get(&path).expect(200), &[("pendingVes", "0.00"), ("availableVes", "0.00")]);
    assert_texts(&api.balance(), &[("sellerPendingVes", "0.00"), ("sellerAvailableVes", "0.00")]);
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn a_reversed_reference_stays_closed() {
    let server = Server::shared();
    let api = server.tenant().test;
    let paid = api.pay(10);
    api.reverse(&paid).expect(200);
    let conflict = api
        .request_c2p(10, json!({ "externalRef": paid["externalRef"] }))
        .refused(409, "external_ref_conflict");
    assert_eq!(conflict["existingId"], paid["paymentId"]);
}
