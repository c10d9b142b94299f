//! Merchants: registration, the rules of their reference, activity, deletion
//! (`docs/contract.md, 7.2, 7.3`).

use crate::harness::check::{assert_id, assert_texts, instant, list, race, text};
use crate::harness::flows::{UNKNOWN, fresh, merchant_body, merged};
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A merchant's body without a payout method.
fn shell_body() -> Value {
    let mut body = merchant_body();
    let members = body.as_object_mut().expect("an object");
    members.remove("bankCode");
    members.remove("phone");
    body
}

#[test]
fn a_merchant_shows_what_was_registered() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = merged(
        merchant_body(),
        json!({ "identification": "v-87654321", "contactPhone": "+584147654321", "phone": "584147654321" }),
    );
    let merchant = api.post("/v1/merchants", &body).expect(201);
    assert_id(&merchant["merchantId"]);
    assert_texts(
        &merchant,
        &[
            ("object", "merchant"),
            ("status", "unverified"),
            ("externalRef", text(&body, "externalRef")),
            ("name", "Bodega La Esquina"),
            ("identification", "V87654321"),
            ("contactEmail", "bodega@example.com"),
            ("contactPhone", "04147654321"),
        ],
    );
    assert_eq!((&merchant["isActive"], &merchant["livemode"]), (&json!(true), &json!(false)));
    assert_eq!(instant(&merchant["createdAt"]), instant(&merchant["updatedAt"]));
    let methods = list(&merchant, "payoutMethods");
    assert_eq!(methods.len(), 1);
    assert_texts(&methods[0], &[("bankCode", "0134"), ("phone", "04147654321"), ("status", "unverified")]);
    assert_eq!(
        (&methods[0]["payoutMethodId"], &methods[0]["isDefault"]),
        (&methods[0]["identifier"], &json!(true))
    );
    assert!(methods[0]["verifiedAt"].is_null());
    assert_eq!(api.merchant_now(&merchant)["payoutMethods"], merchant["payoutMethods"]);
    let by_ref = api.query("/v1/merchants", &[("externalRef", text(&body, "externalRef"))]).expect(200);
    assert_eq!(by_ref["merchantId"], merchant["merchantId"]);
}

#[test]
fn a_shell_has_no_method_and_says_so() {
    let server = Server::shared();
    let api = server.tenant().test;
    let shell = api.post("/v1/merchants", &shell_body()).expect(201);
    assert_eq!((text(&shell, "status"), &shell["payoutMethods"]), ("shell", &json!([])));
    assert!(!text(&shell, "message").is_empty());
    api.fund("10.00");
    api.payout(&shell, "1.00", json!({})).refused(400, "payout_method_not_verified");
}

#[test]
fn bad_fields_are_named() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (member, value) in [
        ("externalRef", json!("")),
        ("identification", json!("X1")),
        ("contactPhone", json!("123")),
        ("contactEmail", json!("nobody")),
        ("phone", json!("02121234567")),
        ("bankCode", json!("9999")),
        ("bankCode", json!("134")),
        ("bankCode", json!(134)),
        ("bankCode", json!("0116")),
        ("name", json!("")),
        ("name", json!(7)),
    ] {
        api.create_merchant(json!({ member: value })).names(&[member]);
    }
    let mut half = merchant_body();
    half.as_object_mut().expect("an object").remove("phone");
    api.post("/v1/merchants", &half).names(&["phone"]);
    half.as_object_mut().expect("an object").remove("bankCode");
    api.post("/v1/merchants", &merged(half, json!({ "phone": "04147654321" }))).names(&["bankCode"]);
    api.post("/v1/merchants", &json!({})).refused(400, "invalid_data");
}

#[test]
fn the_same_again_is_the_same_merchant() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = merchant_body();
    let first = api.post("/v1/merchants", &body).expect(201);
    let otherwise = merged(
        body.clone(),
        json!({ "externalRef": format!("  {} ", text(&body, "externalRef")), "identification": "v-87654321" }),
    );
    for again in [body.clone(), otherwise] {
        assert_eq!(api.post("/v1/merchants", &again).expect(200)["merchantId"], first["merchantId"]);
    }
    for (member, value) in
        [("name", "Otra"), ("identification", "V1234567"), ("phone", "04241234567"), ("bankCode", "0102")]
    {
        let conflict = api
            .post("/v1/merchants", &merged(body.clone(), json!({ member: value })))
            .refused(409, "external_ref_conflict");
        assert_eq!((&conflict["existingId"], &conflict["differs"]), (&first["merchantId"], &json!([member])));
    }
    assert_eq!(api.walk("/v1/merchants", &[], 100).len(), 1);
}

#[test]
fn of_many_registrations_at_once_there_is_one_merchant() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = merchant_body();
    let answers = race(12, |_| api.post("/v1/merchants", &body));
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    let ids: BTreeSet<String> = answers
        .iter()
        .map(|answer| {
            assert!(matches!(answer.status, 200 | 201), "{}", answer.text());
            text(&answer.json(), "merchantId").to_owned()
        })
        .collect();
    assert_eq!(ids.len(), 1);
}

#[test]
fn a_shell_can_be_changed_and_given_a_method() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = shell_body();
    let shell = api.post("/v1/merchants", &body).expect(201);
    let renamed = api
        .post(
            "/v1/merchants",
            &merged(body.clone(), json!({ "name": "Nueva", "identification": "J301234567" })),
        )
        .expect(200);
    assert_eq!(renamed["merchantId"], shell["merchantId"]);
    assert_texts(&renamed, &[("name", "Nueva"), ("identification", "J301234567"), ("status", "shell")]);
    let given = api
        .post("/v1/merchants", &merged(body.clone(), json!({ "bankCode": "0105", "phone": "04161234567" })))
        .expect(200);
    assert_texts(&given, &[("name", "Bodega La Esquina"), ("status", "unverified")]);
    assert_texts(&given["payoutMethods"][0], &[("bankCode", "0105"), ("phone", "04161234567")]);
    assert_eq!(given["payoutMethods"][0]["isDefault"], true);
    // The reference is closed again once there is a method; a method that is not mentioned is no
    // difference.
    assert_eq!(api.post("/v1/merchants", &body).expect(200)["payoutMethods"], given["payoutMethods"]);
    api.post("/v1/merchants", &merged(body, json!({ "name": "Otra" }))).refused(409, "external_ref_conflict");
}

#[test]
fn who_gives_a_seller_a_method_need_not_say_again_who_it_is() {
    let server = Server::shared();
    let api = server.tenant().test;
    let known = json!({ "identification": "V12345678", "contactEmail": "ana@example.com", "contactPhone": "04141112233" });
    let body = merged(shell_body(), known);
    let shell = api.post("/v1/merchants", &body).expect(201);
    let reference = json!({ "externalRef": body["externalRef"] });
    assert_eq!(api.post("/v1/merchants", &reference).expect(200), shell, "nothing was said");
    let short = merged(reference.clone(), json!({ "bankCode": "0105", "phone": "04161234567" }));
    let given = api.post("/v1/merchants", &short).expect(200);
    for member in ["name", "identification", "contactEmail", "contactPhone"] {
        assert_eq!((member, &given[member]), (member, &shell[member]));
    }
    // Sent again, as after an answer that was lost.
    assert_eq!(api.post("/v1/merchants", &short).expect(200)["payoutMethods"], given["payoutMethods"]);
    let other = merged(short, json!({ "contactEmail": "otra@example.com" }));
    let conflict = api.post("/v1/merchants", &other).refused(409, "external_ref_conflict");
    assert_eq!(conflict["differs"], json!(["contactEmail"]));
}

#[test]
fn a_merchant_can_be_switched_off_and_on() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("10.00");
    let path = format!("/v1/merchants/{}", text(&merchant, "merchantId"));
    assert_eq!(api.patch(&path, &json!({ "isActive": false })).expect(200)["isActive"], false);
    api.payout(&merchant, "1.00", json!({})).refused(409, "merchant_inactive");
    let share = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
    api.execute(&api.intent(1), "12345678", share).refused(409, "merchant_inactive");
    assert_eq!(api.patch(&path, &json!({ "isActive": true })).expect(200)["isActive"], true);
    api.payout(&merchant, "1.00", json!({})).expect(201);
    for body in [
        json!({}),
        json!({ "isActive": null }),
        json!({ "isActive": "false" }),
        json!({ "isActive": true, "name": "x" }),
    ] {
        api.patch(&path, &body).refused(400, "invalid_data");
    }
    api.patch(&format!("/v1/merchants/{UNKNOWN}"), &json!({ "isActive": true })).refused(404, "not_found");
}

#[test]
fn a_merchant_without_history_can_be_deleted() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = merchant_body();
    let merchant = api.post("/v1/merchants", &body).expect(201);
    let path = format!("/v1/merchants/{}", text(&merchant, "merchantId"));
    let deleted = api.delete(&path).expect(200);
    assert_eq!(
        deleted,
        json!({ "deleted": true, "merchantId": merchant["merchantId"], "externalRef": merchant["externalRef"] })
    );
    api.get(&path).refused(404, "not_found");
    api.delete(&path).refused(404, "not_found");
    let again = api.post("/v1/merchants", &body).expect(201);
    assert_ne!(again["merchantId"], merchant["merchantId"]);
}

#[test]
fn a_merchant_with_payouts_or_money_stays() {
    let server = Server::shared();
    let api = server.tenant().test;
    let (paid, selling) = (api.merchant(), api.merchant());
    api.fund("10.00");
    api.payout(&paid, "1.00", json!({})).expect(201);
    api.payout(&paid, "1.04", json!({})).expect(201);
    let refused = api
        .delete(&format!("/v1/merchants/{}", text(&paid, "merchantId")))
        .refused(409, "merchant_has_payouts");
    assert_eq!(refused["payoutCount"], 2, "failed ones count");
    let share = json!({ "merchantId": selling["merchantId"], "applicationFeePercent": 10 });
    api.execute(&api.intent(1), "12345678", share).expect(200);
    api.delete(&format!("/v1/merchants/{}", text(&selling, "merchantId")))
        .refused(409, "merchant_has_balance");
}

#[test]
fn merchants_are_filtered() {
    let server = Server::shared();
    let api = server.tenant().test;
    let (verified, unverified, shell) = (
        api.merchant(),
        api.create_merchant(json!({})).expect(201),
        api.post("/v1/merchants", &shell_body()).expect(201),
    );
    api.patch(&format!("/v1/merchants/{}", text(&shell, "merchantId")), &json!({ "isActive": false }))
        .expect(200);
    let ids = |parameters: &[(&str, &str)]| -> Vec<Value> {
        api.walk("/v1/merchants", parameters, 1)
            .iter()
            .map(|merchant| merchant["merchantId"].clone())
            .collect()
    };
    let id = |merchant: &Value| merchant["merchantId"].clone();
    assert_eq!(ids(&[]), [id(&shell), id(&unverified), id(&verified)]);
    assert_eq!(ids(&[("status", "verified")]), [id(&verified)]);
    assert_eq!(ids(&[("status", "unverified")]), [id(&unverified)]);
    assert_eq!(ids(&[("status", "shell")]), [id(&shell)]);
    assert_eq!(ids(&[("isActive", "false")]), [id(&shell)]);
    assert_eq!(ids(&[("isActive", "true"), ("status", "shell")]), [] as [Value; 0]);
    api.query("/v1/merchants", &[("externalRef", &fresh("none"))]).refused(404, "not_found");
}

#[test]
fn the_methods_of_a_merchant_are_listed_with_it() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    let listed =
        api.get(&format!("/v1/merchants/{}/payout-methods", text(&merchant, "merchantId"))).expect(200);
    assert_eq!(listed["items"], merchant["payoutMethods"]);
    assert_eq!(text(&merchant, "status"), "verified");
    assert!(instant(&merchant["payoutMethods"][0]["verifiedAt"]) >= instant(&merchant["createdAt"]));
}
