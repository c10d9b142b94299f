//! Credits: to a phone, to an account, as change; all of them payouts, debited before the bank
//! hears of them (`docs/contract.md, 7.10`).

use crate::harness::check::{assert_movements, assert_nulls, assert_texts, race, text};
use crate::harness::client::Api;
use crate::harness::flows::{UNKNOWN, fresh, merged, payout_body};
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::sync::Arc;

const CREDIT: &str = "/v1/payments/credit";
const ACCOUNT: &str = "/v1/payments/credit/account";
const CHANGE: &str = "/v1/payments/change";

/// A credit to a phone.
pub fn credit_body(monto: &str) -> Value {
    json!({ "banco": "0134", "telefono": "04147654321", "cedula": "V87654321", "monto": monto, "concepto": "vuelto", "externalRef": fresh("cr") })
}

/// A credit to an account.
pub fn account_body(monto: &str) -> Value {
    let account = account_number("0134", "0001", "0123456789");
    json!({ "cuenta": account, "cedula": "V87654321", "nombre": "Ana Pérez", "monto": monto, "concepto": "nómina", "externalRef": fresh("ac") })
}

/// An account with both check digits right.
fn account_number(bank: &str, branch: &str, number: &str) -> String {
    let digit = |digits: String| {
        let sum: u32 = digits
            .chars()
            .zip([3, 2, 7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2])
            .map(|(digit, weight)| digit.to_digit(10).expect("a digit") * weight)
            .sum();
        ["1", "0", "9", "8", "7", "6", "5", "4", "3", "2", "1"][(sum % 11) as usize]
    };
    format!(
        "{bank}{branch}{}{}{number}",
        digit(format!("{bank}{branch}")),
        digit(format!("{branch}{number}"))
    )
}

fn funded(amount: &str) -> (Arc<Server>, Api) {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund(amount);
    (server, api)
}

#[test]
fn each_kind_shows_where_the_money_went() {
    let (_server, api) = funded("100.00");
    for (path, kind, body, destination) in [
        (CREDIT, "credit", credit_body("10.00"), "…4321"),
        (CHANGE, "change", credit_body("10.00"), "…4321"),
        (ACCOUNT, "account", account_body("10.00"), "…6789"),
    ] {
        let payout = api.post(path, &body).expect(201);
        assert_texts(
            &payout,
            &[
                ("kind", kind),
                ("status", "completed"),
                ("monto", "10.00"),
                ("concepto", text(&body, "concepto")),
                ("externalRef", text(&body, "externalRef")),
                ("bankCode", "0134"),
                ("destination", destination),
                ("feeVes", "0.00"),
            ],
        );
        assert_nulls(
            &payout,
            &["merchantId", "merchantName", "payoutMethodId", "batchId", "paymentId", "failureCode"],
        );
        assert_eq!((&payout["fromMerchantBalance"], &payout["livemode"]), (&json!(false), &json!(false)));
        assert!(
            !payout.to_string().contains("04147654321") && !payout.to_string().contains("0123456789"),
            "{payout}"
        );
        assert_eq!(api.payout_now(&payout), payout);
        assert_eq!(
            api.get(&format!("/v1/payouts/by-ref/{}", text(&body, "externalRef"))).expect(200),
            payout
        );
        assert_eq!(api.post(path, &body).expect(200), payout);
    }
    assert_eq!(api.walk("/v1/payouts", &[], 2).len(), 3);
    api.assert_books("70.00", "0.00", "70.00");
}

#[test]
fn they_fail_and_wait_like_payouts() {
    let server = Server::shared();
    let api = server.tenant_with(json!({ "fees": { "payoutVes": "1.00" } })).test;
    api.fund("100.00");
    for (path, make) in
        [(CREDIT, credit_body as fn(&str) -> Value), (ACCOUNT, account_body), (CHANGE, credit_body)]
    {
        let failed = api.post(path, &make("10.04")).expect(201);
        assert_texts(&failed, &[("status", "failed"), ("failureCode", "AM04"), ("feeVes", "1.00")]);
        let [waiting, doomed, lost] =
            ["1.05", "1.06", "1.07"].map(|monto| api.post(path, &make(monto)).expect(202));
        assert!(waiting["operationId"].is_string());
        api.advance(120);
        assert_texts(&api.payout_now(&waiting), &[("status", "completed")]);
        assert_texts(&api.payout_now(&doomed), &[("status", "failed"), ("failureCode", "AC01")]);
        assert_texts(&api.payout_now(&lost), &[("status", "completed")]);
    }
    // Of each of the three kinds of credits two arrived with their fees, and two came back with
    // theirs.
    api.assert_books("87.64", "0.00", "87.64");
    api.post(CREDIT, &credit_body("86.65")).refused(422, "insufficient_balance");
    api.post(CREDIT, &credit_body("86.64")).expect(201);
    api.assert_books("0.00", "0.00", "0.00");
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}

#[test]
fn bad_fields_are_named() {
    let (_server, api) = funded("100.00");
    for (member, value) in [
        ("banco", json!("134")),
        ("banco", json!("9999")),
        ("banco", json!(134)),
        ("telefono", json!("0212")),
        ("cedula", json!("12345678")),
        ("monto", json!("10")),
        ("monto", json!("0.00")),
        ("monto", json!(10.00)),
        ("concepto", json!("")),
        ("externalRef", json!("  ")),
        ("merchantId", json!(UNKNOWN)),
        ("paymentId", json!(UNKNOWN)),
    ] {
        api.post(CREDIT, &merged(credit_body("1.00"), json!({ member: value }))).names(&[member]);
    }
    let right = account_number("0134", "0001", "0123456789");
    let mut wrong = right.clone();
    wrong.replace_range(19..20, if right.ends_with('9') { "8" } else { "0" });
    for (member, value) in [
        ("cuenta", json!(wrong)),
        ("cuenta", json!(right[..19])),
        ("cuenta", json!(account_number("9999", "0001", "0123456789"))),
        ("nombre", json!("")),
        ("telefono", json!("04147654321")),
    ] {
        api.post(ACCOUNT, &merged(account_body("1.00"), json!({ member: value }))).names(&[member]);
    }
    api.post(ACCOUNT, &json!({})).names(&["cuenta", "cedula", "nombre", "monto", "concepto", "externalRef"]);
    api.assert_books("100.00", "0.00", "100.00");
}

#[test]
fn change_may_name_its_payment() {
    let (_server, api) = funded("1.00");
    let payment = api.pay(10);
    api.advance(86_400);
    let body = merged(credit_body("5.00"), json!({ "paymentId": payment["paymentId"] }));
    let payout = api.post(CHANGE, &body).expect(201);
    assert_eq!(payout["paymentId"], payment["paymentId"]);
    let conflict = api
        .post(CHANGE, &merged(body.clone(), json!({ "paymentId": null })))
        .refused(409, "external_ref_conflict");
    assert_eq!(conflict["differs"], json!(["paymentId"]));
    api.post(CHANGE, &merged(body, json!({ "paymentId": UNKNOWN }))).refused(404, "not_found");
    api.post(CHANGE, &merged(credit_body("5.00"), json!({ "paymentId": UNKNOWN }))).refused(404, "not_found");
}

#[test]
fn all_kinds_share_their_references() {
    let (_server, api) = funded("100.00");
    let merchant = api.merchant();
    let reference = json!({ "externalRef": fresh("shared") });
    let body = merged(credit_body("10.00"), reference.clone());
    let first = api.post(CREDIT, &body).expect(201);
    for (path, other, differs) in [
        (
            CREDIT,
            merged(body.clone(), json!({ "monto": "10.01", "telefono": "04247654321" })),
            json!(["telefono", "monto"]),
        ),
        (CHANGE, body.clone(), json!(["kind"])),
        (
            ACCOUNT,
            merged(account_body("10.00"), reference.clone()),
            json!(["kind", "cuenta", "cedula", "nombre", "concepto"]),
        ),
        (
            "/v1/payouts",
            merged(payout_body(&merchant, "10.00"), reference.clone()),
            json!(["kind", "merchantId", "concepto"]),
        ),
    ] {
        let conflict = api.post(path, &other).refused(409, "external_ref_conflict");
        assert_eq!((&conflict["existingId"], &conflict["differs"]), (&first["payoutId"], &differs), "{path}");
    }
    // The same phone, bank and identity written otherwise.
    let otherwise = merged(body, json!({ "telefono": "+584147654321", "cedula": "v-87654321" }));
    assert_eq!(api.post(CREDIT, &otherwise).expect(200), first);
    assert_movements(&api.movements(), &[("adjustment", &["100.00"]), ("payout", &["-10.00"])]);
}

#[test]
fn credits_and_payouts_at_once_never_overdraw() {
    let (_server, api) = funded("20.00");
    let merchant = api.merchant();
    let answers = race(48, |n| match n % 4 {
        0 => api.post(CREDIT, &credit_body("1.00")),
        1 => api.post(ACCOUNT, &account_body("1.00")),
        2 => api.post(CHANGE, &credit_body("1.00")),
        _ => api.payout(&merchant, "1.00", json!({})),
    });
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 20);
    assert!(answers.iter().all(|answer| matches!(answer.status, 201 | 422)));
    api.assert_books("0.00", "0.00", "0.00");
}
