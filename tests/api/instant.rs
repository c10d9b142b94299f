//! The tenant's own payout account, and paying to it (`docs/contract.md, 7.11`).

use crate::harness::check::{assert_nulls, assert_texts, instant, race, text};
use crate::harness::client::Api;
use crate::harness::flows::{fresh, merged};
use crate::harness::server::Server;
use serde_json::{Value, json};

const ACCOUNT: &str = "/v1/payouts/account";
const INSTANT: &str = "/v1/payouts/instant";

fn account_body() -> Value {
    json!({ "bankCode": "0134", "phone": "04147654321", "identification": "J-301234567" })
}

fn instant_body(monto: &str) -> Value {
    json!({ "monto": monto, "concepto": "retiro", "externalRef": fresh("in") })
}

fn start(api: &Api) -> Value {
    api.act(&format!("{ACCOUNT}/verify/start")).expect(202)
}

fn prove(api: &Api) -> Value {
    start(api);
    api.verify(ACCOUNT, "0.45", "0.32").expect(200)
}

#[test]
fn money_goes_to_a_proved_account_of_ones_own() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund("100.00");
    api.get(ACCOUNT).refused(404, "not_found");
    api.act(&format!("{ACCOUNT}/verify/start")).refused(404, "not_found");
    api.post(INSTANT, &instant_body("1.00")).refused(409, "payout_account_not_verified");
    let account = api.put(ACCOUNT, &account_body()).expect(201);
    assert_texts(
        &account,
        &[
            ("bankCode", "0134"),
            ("phone", "04147654321"),
            ("identification", "J301234567"),
            ("status", "unverified"),
        ],
    );
    assert_nulls(&account, &["verifiedAt"]);
    assert_eq!(account["livemode"], false);
    assert_eq!(api.get(ACCOUNT).expect(200), account);
    api.verify(ACCOUNT, "0.32", "0.45").refused(409, "verification_not_started");
    assert_eq!(start(&api), json!({ "status": "verifying", "attemptsLeft": 3 }));
    api.act(&format!("{ACCOUNT}/verify/start")).refused(409, "verification_in_progress");
    api.post(INSTANT, &instant_body("1.00")).refused(409, "payout_account_not_verified");
    assert_eq!(api.verify(ACCOUNT, "0.01", "0.02").refused(400, "amounts_mismatch")["attemptsLeft"], 2);
    let proved = api.verify(ACCOUNT, "0.32", "0.45").expect(200);
    assert_eq!(text(&proved, "status"), "verified");
    assert!(instant(&proved["verifiedAt"]) >= instant(&account["createdAt"]));
    api.act(&format!("{ACCOUNT}/verify/start")).refused(409, "already_verified");
    let body = instant_body("30.00");
    let payout = api.post(INSTANT, &body).expect(201);
    assert_texts(
        &payout,
        &[
            ("kind", "instant"),
            ("status", "completed"),
            ("monto", "30.00"),
            ("destination", "…4321"),
            ("bankCode", "0134"),
        ],
    );
    assert_nulls(&payout, &["merchantId", "merchantName", "payoutMethodId", "batchId"]);
    assert_eq!(api.post(INSTANT, &body).expect(200), payout);
    let conflict =
        api.post(INSTANT, &merged(body, json!({ "monto": "31.00" }))).refused(409, "external_ref_conflict");
    assert_eq!(conflict["differs"], json!(["monto"]));
    assert_eq!(api.payout_now(&payout), payout);
    api.post(INSTANT, &instant_body("70.01")).refused(422, "insufficient_balance");
    assert_texts(
        &api.post(INSTANT, &instant_body("1.04")).expect(201),
        &[("status", "failed"), ("failureCode", "AM04")],
    );
    api.assert_books("70.00", "0.00", "70.00");
}

#[test]
fn another_account_has_to_be_proved_anew() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund("100.00");
    api.put(ACCOUNT, &account_body()).expect(201);
    prove(&api);
    let body = instant_body("1.00");
    let paid = api.post(INSTANT, &body).expect(201);
    // A repeat changes nothing, however it is written.
    let same = api.put(ACCOUNT, &merged(account_body(), json!({ "phone": "+584147654321" }))).expect(200);
    assert_eq!(text(&same, "status"), "verified");
    for (member, value) in [("phone", "04247654321"), ("bankCode", "0105"), ("identification", "J301234568")]
    {
        let changed = api.put(ACCOUNT, &merged(account_body(), json!({ member: value }))).expect(200);
        assert_eq!(text(&changed, "status"), "unverified", "{member}");
        api.post(INSTANT, &instant_body("1.00")).refused(409, "payout_account_not_verified");
        // A payment that was made is answered all the same.
        assert_eq!(api.post(INSTANT, &body).expect(200), paid);
        api.put(ACCOUNT, &account_body()).expect(200);
        prove(&api);
    }
}

#[test]
fn somebody_elses_account_is_taken_away() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.put(ACCOUNT, &merged(account_body(), json!({ "phone": "04147650001" }))).expect(201);
    let keyed = api.keyed(&fresh("key"));
    let first = keyed.act(&format!("{ACCOUNT}/verify/start"));
    assert_eq!(
        first.expect(202),
        json!({ "status": "rejected", "failureCode": "BE01", "action": "payout_account_deleted" })
    );
    assert_eq!(keyed.act(&format!("{ACCOUNT}/verify/start")).text(), first.text());
    api.get(ACCOUNT).refused(404, "not_found");
    api.put(ACCOUNT, &account_body()).expect(201);
}

#[test]
fn bad_accounts_and_bodies_are_named() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = tenant.test;
    api.put(ACCOUNT, &json!({})).names(&["bankCode", "phone", "identification"]);
    api.put(ACCOUNT, &merged(account_body(), json!({ "bankCode": "9999", "phone": "1", "x": 1 })))
        .names(&["bankCode", "phone", "x"]);
    api.post(INSTANT, &json!({})).names(&["monto", "concepto", "externalRef"]);
    api.post(INSTANT, &merged(instant_body("1.00"), json!({ "merchantId": "x" }))).names(&["merchantId"]);
    for body in [json!({ "amount1": "0.3", "amount2": "0.45" }), json!({ "amount2": "0.45" })] {
        api.post(&format!("{ACCOUNT}/verify"), &body).names(&["amount1"]);
    }
}

#[test]
fn it_survives_a_crash_and_three_wrong_tries_void_it() {
    let mut server = Server::start();
    let api = server.tenant().test;
    api.fund("10.00");
    api.put(ACCOUNT, &account_body()).expect(201);
    start(&api);
    api.verify(ACCOUNT, "0.01", "0.02").refused(400, "amounts_mismatch");
    server.kill();
    server.restart();
    assert_eq!(api.verify(ACCOUNT, "0.01", "0.02").refused(400, "amounts_mismatch")["attemptsLeft"], 1);
    api.verify(ACCOUNT, "0.01", "0.02").refused(409, "verification_locked");
    api.verify(ACCOUNT, "0.32", "0.45").refused(409, "verification_locked");
    api.act(&format!("{ACCOUNT}/verify/start")).refused(409, "verification_locked");
    api.advance(86_400);
    prove(&api);
    server.kill();
    server.restart();
    api.post(INSTANT, &instant_body("10.00")).expect(201);
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn a_change_and_withdrawals_at_once_have_an_order() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund("100.00");
    api.put(ACCOUNT, &account_body()).expect(201);
    prove(&api);
    let other = merged(account_body(), json!({ "phone": "04247650009" }));
    let answers =
        race(
            16,
            |n| if n == 8 { api.put(ACCOUNT, &other) } else { api.post(INSTANT, &instant_body("1.00")) },
        );
    for (n, answer) in answers.iter().enumerate().filter(|(n, _)| *n != 8) {
        match answer.status {
            201 => assert_eq!(
                text(&answer.json(), "destination"),
                "…4321",
                "{n}: only the proved account is paid"
            ),
            _ => drop(answer.refused(409, "payout_account_not_verified")),
        }
    }
}
