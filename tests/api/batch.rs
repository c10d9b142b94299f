//! Batches: one record debits what fits, each item has a fate of its own, and nothing is paid twice
//! (`docs/contract.md, 7.9`).

use crate::credits::{account_body, credit_body};
use crate::harness::check::{assert_id, assert_movements, assert_nulls, assert_texts, list, race, sum, text};
use crate::harness::client::Api;
use crate::harness::flows::{UNKNOWN, fresh, merged, payout_body};
use crate::harness::server::Server;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The members of every item of a batch.
const ITEM: [&str; 15] = [
    "payoutId",
    "status",
    "reference",
    "failureCode",
    "externalRef",
    "merchantId",
    "payoutMethodId",
    "merchantName",
    "monto",
    "concepto",
    "bankCode",
    "destination",
    "operationId",
    "createdAt",
    "settledAt",
];
const BATCH: &str = "/v1/payouts/batch";

fn batch_body(items: Vec<Value>) -> Value {
    json!({ "externalRef": fresh("batch"), "items": items })
}

fn of<'a>(batch: &'a Value, member: &str) -> Vec<&'a Value> {
    list(batch, "items").iter().map(|item| &item[member]).collect()
}

fn read(api: &Api, batch: &Value) -> Value {
    api.get(&format!("{BATCH}/{}", text(batch, "batchId"))).expect(200)
}

fn payout_ids<'a>(items: impl Iterator<Item = &'a Value>) -> BTreeSet<String> {
    items.map(|item| text(item, "payoutId").to_owned()).collect()
}

#[test]
fn an_item_is_a_payout_of_its_own() {
    let server = Server::shared();
    let api = server.tenant_with(json!({ "fees": { "payoutVes": "1.00" } })).test;
    let merchant = api.merchant();
    api.fund("100.00");
    let body = batch_body(vec![
        payout_body(&merchant, "20.00"),
        payout_body(&merchant, "30.04"),
        payout_body(&merchant, "10.05"),
    ]);
    let answer = api.post(BATCH, &body);
    let batch = answer.expect(201);
    assert!(answer.wal_seq() > 0);
    assert_id(&batch["batchId"]);
    assert_eq!(batch["externalRef"], body["externalRef"]);
    assert_eq!(of(&batch, "status"), ["completed", "failed", "pending"]);
    for item in list(&batch, "items") {
        assert_texts(
            item,
            &[
                ("kind", "merchant"),
                ("batchId", text(&batch, "batchId")),
                ("feeVes", "1.00"),
                ("merchantName", "Bodega La Esquina"),
            ],
        );
        assert_eq!(&api.payout_now(item), item);
    }
    api.assert_books("67.95", "0.00", "67.95");
    api.advance(60);
    let again = api.post(BATCH, &body).expect(200);
    assert_eq!(of(&again, "status"), ["completed", "failed", "completed"]);
    assert_eq!((read(&api, &batch), &again["batchId"]), (again.clone(), &batch["batchId"]));
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
    api.get(&format!("{BATCH}/{UNKNOWN}")).refused(404, "not_found");
    api.get(&format!("{BATCH}/{}", text(&list(&batch, "items")[0], "payoutId"))).refused(404, "not_found");
}

#[test]
fn items_are_decided_in_order_and_smaller_later_ones_may_fit() {
    let server = Server::shared();
    let api = server.tenant().test;
    let (merchant, inactive) = (api.merchant(), api.merchant());
    api.patch(&format!("/v1/merchants/{}", text(&inactive, "merchantId")), &json!({ "isActive": false }))
        .expect(200);
    let unverified = api.create_merchant(json!({})).expect(201);
    api.fund("50.00");
    let items = vec![
        payout_body(&merchant, "40.00"),
        payout_body(&merchant, "20.00"),
        payout_body(&merchant, "10.00"),
        payout_body(&merchant, "0.01"),
        payout_body(&inactive, "0.01"),
        payout_body(&unverified, "0.01"),
        merged(payout_body(&merchant, "0.01"), json!({ "merchantId": UNKNOWN })),
        merged(payout_body(&merchant, "0.01"), json!({ "fromMerchantBalance": true })),
        json!({ "externalRef": "half" }),
        json!(7),
    ];
    let body = batch_body(items.clone());
    let batch = api.post(BATCH, &body).expect(201);
    let expected = [
        Value::Null,
        json!("insufficient_balance"),
        Value::Null,
        json!("insufficient_balance"),
        json!("merchant_inactive"),
        json!("payout_method_not_verified"),
        json!("not_found"),
        json!("invalid_data"),
        json!("invalid_data"),
        json!("invalid_data"),
    ];
    assert_eq!(of(&batch, "failureCode"), expected.iter().collect::<Vec<_>>());
    for (item, asked) in list(&batch, "items").iter().zip(&items) {
        assert_eq!(item["externalRef"], asked["externalRef"]);
        if !item["payoutId"].is_string() {
            assert_eq!(item["status"], "failed");
            assert!(!text(item, "error").is_empty());
            let members: Vec<&str> =
                item.as_object().expect("an object").keys().map(String::as_str).collect();
            assert_eq!(members, [&ITEM[..], &["error"]].concat());
            // What was asked for stands there if the item could be read.
            let is_valid = item["failureCode"] != "invalid_data";
            for name in ["merchantId", "monto", "concepto"] {
                assert_eq!(item[name], if is_valid { asked[name].clone() } else { Value::Null }, "{name}");
            }
            assert_nulls(
                item,
                &["payoutId", "reference", "bankCode", "destination", "operationId", "settledAt"],
            );
        } else {
            assert!(ITEM.iter().all(|name| item.get(name).is_some()), "{item}");
        }
    }
    let error = text(&list(&batch, "items")[7], "error");
    assert!(error.contains("fromMerchantBalance"), "{error}");
    api.assert_books("0.00", "0.00", "0.00");
    // A refused item left its reference free, and the same batch answers the same.
    api.fund("20.00");
    assert_eq!(api.post(BATCH, &body).expect(200), batch);
    let retried = api.post("/v1/payouts", &items[1]).expect(201);
    assert_eq!(retried["externalRef"], items[1]["externalRef"]);
    assert_eq!(api.post(BATCH, &body).expect(200), batch);
}

#[test]
fn a_batch_has_a_reference_of_its_own() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let item = payout_body(&merchant, "10.00");
    // The same text names a batch and one of its items.
    let body = json!({ "externalRef": item["externalRef"], "items": [item] });
    let batch = api.post(BATCH, &body).expect(201);
    for other in [
        json!({ "externalRef": body["externalRef"], "items": [merged(item.clone(), json!({ "monto": "10.01" }))] }),
        json!({ "externalRef": body["externalRef"], "items": [item.clone(), item.clone()] }),
    ] {
        let conflict = api.post(BATCH, &other).refused(409, "external_ref_conflict");
        assert_eq!((&conflict["existingId"], &conflict["differs"]), (&batch["batchId"], &json!(["items"])));
    }
    // A batch that is written otherwise is the same.
    let otherwise = format!(
        r#"{{"items":[{{"externalRef":" {} ","concepto":" pago ","monto":"10.00","merchantId":"{}"}}],"externalRef":" {} "}}"#,
        text(&item, "externalRef"),
        text(&merchant, "merchantId").to_uppercase(),
        text(&item, "externalRef"),
    );
    assert_eq!(api.post_raw(BATCH, otherwise).expect(200), batch);
    api.assert_books("90.00", "0.00", "90.00");
}

#[test]
fn the_list_has_bounds() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    for items in [json!([]), json!({}), json!("x"), json!(vec![payout_body(&merchant, "1.00"); 1_001])] {
        api.post(BATCH, &json!({ "externalRef": fresh("b"), "items": items })).names(&["items"]);
    }
    api.post(BATCH, &json!({})).names(&["externalRef", "items"]);
    api.post(BATCH, &json!({ "externalRef": "b", "items": [payout_body(&merchant, "1.00")], "x": 1 }))
        .names(&["x"]);
}

#[test]
fn known_references_and_twins_are_paid_once() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let (known, twin, poor) =
        (payout_body(&merchant, "10.00"), payout_body(&merchant, "5.00"), payout_body(&merchant, "1000.00"));
    let before = api.post("/v1/payouts", &known).expect(201);
    let body = batch_body(vec![
        known.clone(),
        twin.clone(),
        twin.clone(),
        merged(twin.clone(), json!({ "monto": "6.00" })),
        merged(known.clone(), json!({ "monto": "11.00" })),
        poor.clone(),
        merged(poor, json!({ "monto": "1.00" })),
    ]);
    let batch = api.post(BATCH, &body).expect(201);
    let items = list(&batch, "items");
    assert_eq!(items[0], before, "paid before, answered in its place");
    assert_eq!(items[1], items[2]);
    assert_eq!(items[1]["status"], "completed");
    assert_eq!(
        [&items[3]["failureCode"], &items[4]["failureCode"]],
        ["external_ref_conflict", "external_ref_conflict"]
    );
    assert_eq!(
        (&items[5]["failureCode"], &items[6]["status"]),
        (&json!("insufficient_balance"), &json!("completed")),
        "a refused reference is free"
    );
    assert_movements(
        &api.movements(),
        &[("adjustment", &["100.00"]), ("payout", &["-10.00", "-5.00", "-1.00"])],
    );
    assert_eq!(api.post(BATCH, &body).expect(200), batch);
    // A single payout finds what the batch paid.
    assert_eq!(api.post("/v1/payouts", &twin).expect(200), items[1]);
    api.assert_books("84.00", "0.00", "84.00");
}

#[test]
fn credits_come_in_batches_too() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund("100.00");
    let phones = batch_body(vec![
        credit_body("10.00"),
        credit_body("10.04"),
        merged(credit_body("1.00"), json!({ "banco": "9999" })),
    ]);
    let paid = api.post("/v1/payments/credit/disburse", &phones).expect(201);
    assert_eq!(of(&paid, "failureCode"), [&Value::Null, &json!("AM04"), &json!("invalid_data")]);
    assert_eq!(list(&paid, "items")[0]["kind"], "credit");
    let accounts = batch_body(vec![account_body("10.00"), credit_body("10.00")]);
    let paid_too = api.post("/v1/payments/payouts", &accounts).expect(201);
    assert_eq!(of(&paid_too, "failureCode"), [&Value::Null, &json!("invalid_data")]);
    assert_eq!(list(&paid_too, "items")[0]["kind"], "account");
    assert_eq!(api.post("/v1/payments/payouts", &accounts).expect(200), paid_too);
    // All batches share one space of references.
    api.post(BATCH, &phones).refused(409, "external_ref_conflict");
    assert_eq!(read(&api, &paid), paid);
    api.assert_books("80.00", "0.00", "80.00");
}

#[test]
fn a_key_answers_a_batch_again_as_it_was() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let keyed = api.keyed(&fresh("key"));
    let body = batch_body(vec![payout_body(&merchant, "1.00"), payout_body(&merchant, "1.05")]);
    let first = keyed.post(BATCH, &body);
    assert_eq!(of(&first.expect(201), "status"), ["completed", "pending"]);
    api.advance(60);
    let again = keyed.post(BATCH, &body);
    assert_eq!((again.status, again.text(), again.wal_seq()), (201, first.text(), first.wal_seq()));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(of(&api.post(BATCH, &body).expect(200), "status"), ["completed", "completed"]);
}

#[test]
fn a_thousand_items_are_paid_by_one_request() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("999.00");
    let body = batch_body((0..1_000).map(|_| payout_body(&merchant, "1.00")).collect());
    let batch = api.post(BATCH, &body).expect(201);
    let statuses = of(&batch, "status");
    assert_eq!(
        statuses.iter().filter(|status| **status == "completed").count(),
        999,
        "the last one does not fit"
    );
    assert_eq!(list(&batch, "items")[999]["failureCode"], "insufficient_balance");
    assert_eq!(api.post(BATCH, &body).expect(200), batch);
    assert_eq!(api.walk("/v1/payouts", &[], 100).len(), 999);
    assert_eq!(sum(&api.movements(), "amountVes"), Decimal::ZERO);
}

#[test]
fn outcomes_that_come_together_are_each_items_own() {
    const ITEMS: u64 = 150;
    let server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("1000.00");
    let told = api.events_after(0).len();
    // One is refused by its bank, and moves money, in the middle of those that are not.
    let monto = |at: u64| if at == 20 { "1.04" } else { "1.00" };
    let body = batch_body((0..ITEMS).map(|at| payout_body(&merchant, monto(at))).collect());
    let answer = api.post(BATCH, &body);
    let batch = answer.expect(201);
    let after = api.post("/v1/products", &json!({ "name": "Camisa", "priceUsd": "10.00" })).wal_seq();
    let records = after - answer.wal_seq() - 1;
    assert!(records < ITEMS / 10, "{records} records for {ITEMS} outcomes");
    for (at, item) in (0..).zip(list(&batch, "items")) {
        assert_eq!(text(item, "status"), if at == 20 { "failed" } else { "completed" });
        assert_eq!(&api.payout_now(item), item);
        let by_ref = format!("/v1/payouts/by-ref/{}", text(item, "externalRef"));
        assert_eq!(&api.get(&by_ref).expect(200), item);
    }
    let events = api.events_after(told as u64);
    let outcome = |event: &&Value| text(event, "event") != "payout.created";
    let outcomes: Vec<&Value> = events.iter().filter(outcome).collect();
    assert_eq!(outcomes.len() as u64, ITEMS);
    let told_of = payout_ids(outcomes.iter().map(|event| &event["data"]));
    assert_eq!(told_of, payout_ids(list(&batch, "items").iter()));
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["sequence"].as_u64()).collect();
    assert!(numbers.is_sorted() && numbers.len() == events.len());
    for event in outcomes.into_iter().step_by(37) {
        assert_eq!(&api.get(&format!("/v1/events/{}", text(event, "id"))).expect(200), event);
    }
    let completed = api.walk("/v1/payouts", &[("status", "completed")], 100);
    assert_eq!(completed.len() as u64, ITEMS - 1);
    api.assert_books("851.00", "0.00", "851.00");
}

#[test]
fn one_reference_in_batches_and_alone_at_once_is_one_payout() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("1000.00");
    let items: Vec<Value> = (0..20).map(|_| payout_body(&merchant, "1.00")).collect();
    let answers = race(30, |n| match n % 3 {
        // The items come forwards, backwards and alone: whoever waits, waits in one order.
        0 => api.post(BATCH, &batch_body(items.clone())),
        1 => api.post(BATCH, &batch_body(items.iter().rev().cloned().collect())),
        _ => api.post("/v1/payouts", &items[n % 20]),
    });
    let mut ids = BTreeSet::new();
    for answer in &answers {
        assert!(matches!(answer.status, 200 | 201), "{}", answer.text());
        let body = answer.json();
        match body["items"].as_array() {
            Some(items) => ids.extend(items.iter().map(|item| text(item, "payoutId").to_owned())),
            None => assert!(ids.insert(text(&body, "payoutId").to_owned()) || ids.len() <= 20),
        }
    }
    assert_eq!(ids.len(), 20, "twenty references, twenty payouts");
    assert_eq!(api.walk("/v1/payouts", &[], 100).len(), 20);
    api.assert_books("980.00", "0.00", "980.00");
}

#[test]
fn batches_on_the_same_money_never_overdraw() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let answers = race(8, |_| {
        api.post(BATCH, &batch_body((0..25).map(|_| payout_body(&merchant, "1.00")).collect())).expect(201)
    });
    let paid: usize = answers
        .iter()
        .map(|batch| of(batch, "status").iter().filter(|status| **status == "completed").count())
        .sum();
    assert_eq!(paid, 100, "money for exactly 100");
    // Within a batch it is the first items that were paid, and a batch is decided as a whole.
    let cut = answers
        .iter()
        .filter(|batch| {
            (1..25).contains(&of(batch, "status").iter().filter(|status| **status == "completed").count())
        })
        .count();
    assert_eq!(cut, 0, "100 is four whole batches");
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn one_batch_asked_for_many_times_at_once_is_one_batch() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let body = batch_body((0..10).map(|_| payout_body(&merchant, "1.00")).collect());
    let answers = race(12, |_| api.post(BATCH, &body));
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    let ids: BTreeSet<String> =
        answers.iter().map(|answer| text(&answer.json(), "batchId").to_owned()).collect();
    assert_eq!(ids.len(), 1);
    api.assert_books("90.00", "0.00", "90.00");
}

#[test]
fn a_default_that_is_spelt_out_is_the_same_batch() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let methods = format!("/v1/merchants/{}/payout-methods", text(&merchant, "merchantId"));
    let default = merchant["payoutMethods"][0]["payoutMethodId"].clone();
    let other = api.post(&methods, &json!({ "bankCode": "0102", "phone": "04141112233" })).expect(201);
    let named = |item: &Value, method: &Value| merged(item.clone(), json!({ "payoutMethodId": method }));
    // A refused payout stands beside them: the batch keeps no more of it than its hash.
    let refused = json!({ "externalRef": fresh("half"), "monto": "1.00" });
    let (bare, spelt) = (payout_body(&merchant, "1.00"), payout_body(&merchant, "2.00"));
    let body = batch_body(vec![bare.clone(), named(&spelt, &default), refused.clone()]);
    let batch = api.post(BATCH, &body).expect(201);
    let with = |items: Vec<Value>| merged(body.clone(), json!({ "items": items }));
    let same = with(vec![named(&bare, &default), spelt.clone(), refused.clone()]);
    assert_eq!(api.post(BATCH, &same).expect(200), batch);
    for items in [
        vec![named(&bare, &other["payoutMethodId"]), spelt.clone(), refused.clone()],
        vec![named(&bare, &default), spelt.clone(), merged(refused, json!({ "monto": "1.01" }))],
        vec![named(&bare, &default), merged(spelt, json!({ "monto": "2.01" })), json!(7)],
    ] {
        let conflict = api.post(BATCH, &with(items)).refused(409, "external_ref_conflict");
        assert_eq!(conflict["differs"], json!(["items"]));
    }
    assert_eq!(text(&api.books(), "ledgerNetVes"), "97.00");
}

#[test]
fn lists_find_the_few_that_wait_among_the_many_that_no_longer_do() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("10000.00");
    let waits = |at: usize| at == 3 || at == 380;
    let monto = |at: usize| if waits(at) { "1.05" } else { "1.00" };
    let body = batch_body((0..700).map(|at| payout_body(&merchant, monto(at))).collect());
    let batch = api.post(BATCH, &body).expect(201);
    let ids = |items: Vec<&Value>| -> Vec<String> {
        items.into_iter().map(|item| text(item, "payoutId").to_owned()).collect()
    };
    let items = list(&batch, "items");
    let mut all = ids(items.iter().collect());
    let mut pending =
        ids(items.iter().enumerate().filter(|(at, _)| waits(*at)).map(|(_, item)| item).collect());
    for made in [&mut all, &mut pending] {
        made.sort_unstable();
    }
    for (parameters, expected) in [(&[][..], &all), (&[("status", "pending")][..], &pending)] {
        let walked = api.walk("/v1/payouts", parameters, 100);
        let mut walked = ids(walked.iter().collect());
        walked.sort_unstable();
        assert_eq!(&walked, expected, "{parameters:?}");
    }
}
