//! Attempts under one reference (`docs/contract.md, 5.15`), and prices in bolívares (5.3).
//!
//! 200 VES a dollar: 10 USD are 2000.00 VES; fee 1.5 %.

use crate::harness::check::{assert_number, assert_texts, list, race, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{execution, fresh, merged, number, payer, vpos_body};
use crate::harness::server::Server;
use chrono::{FixedOffset, TimeDelta};
use serde_json::{Value, json};

/// The methods that collect.
const METHODS: [&str; 4] = ["C2P", "VPOS", "DEBIT", "PAGO_MOVIL"];

fn good_card(reference: &str) -> Value {
    vpos_body(10, json!({ "externalRef": reference }))
}

fn bad_card(reference: &str) -> Value {
    vpos_body(10, json!({ "externalRef": reference, "card": { "number": "4000000000000002" } }))
}

fn debit_of(reference: &str, otp: &str) -> Value {
    json!({
        "banco": "0134", "monto": 2000, "telefono": "04141234567", "cedula": "V12345678", "nombre": "Ana Pérez", "otp": otp, "concepto": "cobro",
        "externalRef": reference,
    })
}

impl Api {
    /// The body of a transfer of today; one whose digits end in 0000 is not found.
    fn transfer_of(&self, reference: &str, digits: &str) -> Value {
        let today =
            self.clock().with_timezone(&FixedOffset::west_opt(4 * 3600).expect("an offset")).date_naive();
        json!({
            "usdAmount": 10, "reference": digits, "phone": "04141234567", "bankCode": "0134", "date": today.to_string(),
            "debtorId": "V12345678", "externalRef": reference,
        })
    }

    fn card(&self, body: &Value) -> Answer {
        self.post("/v1/payments/vpos", body)
    }

    fn debited(&self, body: &Value) -> Answer {
        self.post("/v1/payments/debit", body)
    }

    fn found(&self, body: &Value) -> Answer {
        self.post("/v1/payments/pago-movil/verify", body)
    }

    /// An attempt to collect ten dollars by a method; its payer or bank says no, or it completes.
    #[track_caller]
    fn attempt(&self, method: &str, reference: &str, well: bool, nth: usize) -> Value {
        let code = if well { "12345678" } else { "99999999" };
        match method {
            "C2P" => {
                let intent = self.request_c2p(10, json!({ "externalRef": reference })).expect(201);
                self.execute(&intent, code, json!({})).expect(200)
            }
            "VPOS" => self.card(&if well { good_card(reference) } else { bad_card(reference) }).expect(201),
            "DEBIT" => self.debited(&debit_of(reference, code)).expect(201),
            _ => {
                let digits = format!("{}{nth:04}{}", 4711, if well { "1111" } else { "0000" });
                self.found(&self.transfer_of(reference, &digits)).expect(201)
            }
        }
    }

    /// The attempts on a reference, newest first.
    fn attempts(&self, reference: &str) -> Vec<Value> {
        self.walk("/v1/payments", &[("externalRef", reference)], 2)
    }

    /// A conflict with what is under a reference, which names it.
    #[track_caller]
    fn conflicts(&self, answer: &Answer, code: &str, with: &Value) -> Value {
        let conflict = answer.refused(409, code);
        assert_eq!(conflict["existingId"], with["paymentId"], "{conflict}");
        if code == "payment_in_progress" {
            assert_waits(answer);
        }
        conflict
    }
}

/// The answer says in whole seconds when to ask again.
#[track_caller]
fn assert_waits(answer: &Answer) {
    let seconds: u64 = answer.header("retry-after").expect("Retry-After").parse().expect("whole seconds");
    assert!(seconds >= 1, "{seconds}");
}

#[test]
fn after_an_attempt_that_failed_every_method_may_try_again() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (nth, (first, second)) in
        METHODS.iter().flat_map(|first| METHODS.map(|second| (*first, second))).enumerate()
    {
        let reference = fresh("order");
        let failed = api.attempt(first, &reference, false, nth);
        assert_texts(&failed, &[("status", "FAILED"), ("method", first)]);
        let paid = api.attempt(second, &reference, true, nth);
        assert_texts(&paid, &[("status", "COMPLETED"), ("method", second)]);
        assert_eq!((&failed["attempt"], &paid["attempt"]), (&json!(1), &json!(2)), "{first}, {second}");
        assert_ne!(failed["paymentId"], paid["paymentId"]);
        assert_eq!(api.get(&format!("/v1/payments/by-ref/{reference}")).expect(200), paid);
        assert_eq!(api.attempts(&reference), [paid.clone(), failed]);
        // What is paid is not collected again, by no method.
        for method in METHODS {
            let more = json!({ "externalRef": reference });
            let answer = match method {
                "C2P" => api.request_c2p(11, more),
                "VPOS" => api.card(&vpos_body(11, more)),
                "DEBIT" => api.debited(&merged(debit_of(&reference, "12345678"), json!({ "monto": 2200 }))),
                _ => api.found(&merged(api.transfer_of(&reference, "99881111"), json!({ "usdAmount": 11 }))),
            };
            let conflict = api.conflicts(&answer, "external_ref_conflict", &paid);
            assert!(conflict["differs"].as_array().is_some_and(|names| !names.is_empty()), "{conflict}");
        }
    }
    let sales = i32::try_from(METHODS.len() * METHODS.len()).expect("few");
    assert_eq!(text(&api.books(), "ledgerNetVes"), format!("{}.00", 1970 * sales));
    let events = api.walk("/v1/events", &[], 100);
    let attempts = |name: &str| {
        let of = events.iter().filter(|event| event["event"] == name);
        of.map(|event| event["data"]["attempt"].as_u64().expect("a number")).collect::<Vec<_>>()
    };
    assert_eq!(attempts("payment.failed"), [1; 16]);
    assert_eq!(attempts("payment.completed"), [2; 16]);
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}

#[test]
fn a_repeat_is_no_attempt() {
    let server = Server::shared();
    let api = server.tenant().test;
    let reference = fresh("order");
    let body = bad_card(&reference);
    let keyed = api.keyed(&fresh("key"));
    let declined = keyed.card(&body).expect(201);
    assert_texts(&declined, &[("status", "FAILED"), ("failureCode", "card_declined")]);
    let replayed = keyed.card(&body);
    assert_eq!(
        (replayed.expect(201), replayed.header("idempotent-replayed")),
        (declined.clone(), Some("true"))
    );
    // The same card, without a key and within ten minutes.
    assert_eq!(api.card(&body).expect(200), declined);
    api.advance(595);
    assert_eq!(api.card(&body).expect(200), declined);
    // A new key is a new attempt, at once; and so is the same card after ten minutes.
    let second = api.keyed(&fresh("key")).card(&body).expect(201);
    assert_eq!((&second["attempt"], &second["status"]), (&json!(2), &json!("FAILED")));
    api.advance(600);
    let third = api.card(&body).expect(201);
    assert_eq!(third["attempt"], 3);
    // Another amount or card is another try.
    assert_eq!(api.card(&merged(body.clone(), json!({ "usdAmount": 11 }))).expect(201)["attempt"], 4);
    let paid = api.card(&good_card(&reference)).expect(201);
    assert_eq!((&paid["attempt"], &paid["status"]), (&json!(5), &json!("COMPLETED")));
    assert_eq!(api.card(&good_card(&reference)).expect(200), paid);
    api.conflicts(&api.card(&body), "external_ref_conflict", &paid);
    assert_eq!(api.attempts(&reference).len(), 5);
    // The keys still have what they were answered.
    assert_eq!(keyed.card(&body).expect(201), declined);

    let reference = fresh("order");
    let wrong = api.debited(&debit_of(&reference, "88888888")).expect(201);
    assert_texts(&wrong, &[("status", "FAILED"), ("failureCode", "TKCM")]);
    assert_eq!(api.debited(&debit_of(&reference, "88888888")).expect(200), wrong, "the same code");
    let right = api.debited(&debit_of(&reference, "12345678")).expect(201);
    assert_eq!((&right["attempt"], &right["status"]), (&json!(2), &json!("COMPLETED")));
    assert_eq!(
        api.debited(&debit_of(&reference, "88888888")).expect(200),
        right,
        "a code is no part of what is paid"
    );
    api.assert_books("3940.00", "3940.00", "0.00");
}

#[test]
fn a_transfer_that_was_not_found_is_looked_for_at_each_call() {
    let server = Server::shared();
    let api = server.tenant().test;
    let (reference, other) = (fresh("order"), fresh("order"));
    for attempt in 1..=3 {
        let sought = api.found(&api.transfer_of(&reference, "47110000")).expect(201);
        assert_texts(&sought, &[("status", "FAILED"), ("failureCode", "reference_not_found")]);
        assert_eq!(sought["attempt"], attempt);
    }
    // The name of the transfer is nobody's, whoever has looked for it.
    assert_eq!(api.found(&api.transfer_of(&other, "47110000")).expect(201)["attempt"], 1);
    let paid = api.found(&api.transfer_of(&reference, "47110001")).expect(201);
    assert_eq!((&paid["attempt"], &paid["status"]), (&json!(4), &json!("COMPLETED")));
    api.found(&api.transfer_of(&other, "47110001")).refused(409, "reference_already_used");
    assert_eq!(api.attempts(&other).len(), 1, "a refusal is no attempt");
}

#[test]
fn what_is_at_its_bank_is_answered_or_stands_in_the_way() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (otp, status) in [("77777777", "COMPLETED"), ("66666666", "FAILED")] {
        let reference = fresh("order");
        let open = api.debited(&debit_of(&reference, otp)).expect(202);
        // Whatever the code: the same payer, amount and method.
        for code in [otp, "12345678"] {
            assert_eq!(api.debited(&debit_of(&reference, code)).expect(200)["paymentId"], open["paymentId"]);
        }
        let more = json!({ "externalRef": reference });
        let keyed = api.keyed(&fresh("key"));
        for answer in [
            api.debited(&merged(debit_of(&reference, otp), json!({ "monto": 1999 }))),
            api.debited(&merged(debit_of(&reference, otp), json!({ "cedula": "V7654321" }))),
            keyed.card(&good_card(&reference)),
            api.request_c2p(10, more.clone()),
            api.found(&api.transfer_of(&reference, "55550001")),
        ] {
            api.conflicts(&answer, "payment_in_progress", &open);
        }
        api.advance(60);
        assert_texts(&api.payment(&open), &[("status", status)]);
        // The key was told to ask again, and is not bound to that.
        let again = keyed.card(&good_card(&reference));
        match status {
            "COMPLETED" => drop(api.conflicts(&again, "external_ref_conflict", &open)),
            _ => assert_eq!(again.expect(201)["attempt"], 2),
        }
    }
    let intent = api.intent(10);
    let open = api.execute(&intent, "77777777", json!({})).expect(202);
    let same = json!({ "externalRef": intent["externalRef"] });
    assert_eq!(api.request_c2p(10, same.clone()).expect(200)["paymentId"], open["paymentId"]);
    api.conflicts(&api.request_c2p(11, same.clone()), "payment_in_progress", &open);
    api.advance(60);
    let paid = api.request_c2p(10, same).expect(200);
    assert_texts(&paid, &[("status", "COMPLETED"), ("object", "payment")]);
    assert_eq!((&paid["paymentId"], &paid["intentId"]), (&open["paymentId"], &open["paymentId"]));
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}

#[test]
fn an_intent_that_nobody_executed_makes_room_for_any_method() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (nth, method) in METHODS.into_iter().enumerate() {
        let intent = api.intent(10);
        let paid = api.attempt(method, text(&intent, "externalRef"), true, nth);
        assert_eq!((&paid["attempt"], &paid["status"]), (&json!(2), &json!("COMPLETED")), "{method}");
        assert_texts(&api.payment(&intent), &[("status", "CANCELED"), ("cancelReason", "superseded")]);
        api.execute(&intent, "12345678", json!({})).refused(409, "intent_canceled");
    }
    api.assert_books("7880.00", "7880.00", "0.00");
}

#[test]
fn a_charge_that_is_refused_leaves_the_intent_as_it_was() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.found(&api.transfer_of(&fresh("order"), "88880001")).expect(201);
    let seller = api.merchant();
    api.patch(&format!("/v1/merchants/{}", text(&seller, "merchantId")), &json!({ "isActive": false }))
        .expect(200);
    let of_seller = json!({ "merchantId": seller["merchantId"], "applicationFeePercent": 5 });
    type Call<'a> = &'a dyn Fn(&Api, &str) -> Answer;
    let calls: [(u16, &str, Call); 6] = [
        (409, "reference_already_used", &|api, of| api.found(&api.transfer_of(of, "88880001"))),
        (409, "merchant_inactive", &|api, of| api.card(&merged(good_card(of), of_seller.clone()))),
        (400, "invalid_data", &|api, of| {
            api.found(&merged(api.transfer_of(of, "88880002"), json!({ "date": "2020-01-01" })))
        }),
        (400, "invalid_data", &|api, of| {
            api.card(&merged(good_card(of), json!({ "card": { "expMonth": 1, "expYear": 2026 } })))
        }),
        (400, "invalid_data", &|api, of| {
            api.debited(&merged(debit_of(of, "12345678"), json!({ "monto": number("0.01") })))
        }),
        (404, "not_found", &|api, of| {
            let nobody = json!({ "merchantId": "01930000-0000-7000-8000-000000000000" });
            api.card(&merged(good_card(of), merged(of_seller.clone(), nobody)))
        }),
    ];
    for (status, code, call) in calls {
        let intent = api.intent(10);
        let reference = text(&intent, "externalRef");
        let keyed = api.keyed(&fresh("key"));
        let refused = call(&keyed, reference);
        refused.refused(status, code);
        if status == 409 {
            let again = call(&keyed, reference);
            assert_eq!((again.text(), again.header("idempotent-replayed")), (refused.text(), Some("true")));
        }
        assert_texts(&api.payment(&intent), &[("status", "PENDING")]);
        assert_texts(&api.execute(&intent, "12345678", json!({})).expect(200), &[("status", "COMPLETED")]);
        assert_eq!(api.attempts(reference).len(), 1, "{code}");
    }
    assert!(api.walk("/v1/events", &[], 100).iter().all(|event| event["event"] != "payment.canceled"));
}

#[test]
fn what_went_back_is_not_collected_again() {
    let server = Server::shared();
    let api = server.tenant().test;
    let paid = api.pay(10);
    let reference = text(&paid, "externalRef");
    let back = api.reverse(&paid).expect(200);
    let same = api.request_c2p(10, json!({ "externalRef": reference }));
    assert!(api.conflicts(&same, "external_ref_conflict", &back).get("differs").is_none());
    api.conflicts(&api.card(&good_card(reference)), "external_ref_conflict", &back);
    assert_eq!(api.attempts(reference).len(), 1);
}

#[test]
fn of_any_number_at_once_one_is_an_attempt_and_the_others_hear_its_outcome() {
    let server = Server::start_with(&[("PASARELA__RAILS__SIMULATOR_DELAY_MS", "700")]);
    let api = server.tenant().test;
    for round in 0..2 {
        for (kind, status) in
            [("card", "FAILED"), ("card", "COMPLETED"), ("debit", "FAILED"), ("transfer", "FAILED")]
        {
            let reference = fresh("order");
            let answers = race(8, |n| {
                // Some with a key of their own, which is no reason for an attempt of their own.
                let keyed = api.keyed(&fresh("key"));
                let api = if n % 2 == 0 { &keyed } else { &api };
                match (kind, status) {
                    ("card", "FAILED") => api.card(&bad_card(&reference)),
                    ("card", _) => api.card(&good_card(&reference)),
                    ("debit", _) => api.debited(&debit_of(&reference, "99999999")),
                    _ => api.found(&api.transfer_of(&reference, "12340000")),
                }
            });
            let attempts = api.attempts(&reference);
            assert_eq!(attempts.len(), 1, "round {round}, {kind} {status}");
            for answer in &answers {
                assert!(matches!(answer.status, 200 | 201), "{}", answer.text());
                assert_eq!(answer.json(), attempts[0], "round {round}, {kind} {status}");
            }
            assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
            assert_texts(&attempts[0], &[("status", status)]);
        }
    }
    // One key for many: the others are told when to ask again.
    let (keyed, reference) = (api.keyed(&fresh("key")), fresh("order"));
    let answers = race(4, |_| keyed.card(&good_card(&reference)));
    for answer in answers.iter().filter(|answer| answer.status == 409) {
        answer.refused(409, "idempotency_in_progress");
        assert_waits(answer);
    }
    assert!(answers.iter().any(|answer| answer.status == 409));
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}

#[test]
fn different_charges_at_once_never_both_pay() {
    let server = Server::shared();
    let api = server.tenant().test;
    for nth in 0..10 {
        let intent = api.intent(10);
        let reference = text(&intent, "externalRef");
        let answers = race(4, |n| match n {
            0 => api.execute(&intent, "12345678", json!({})),
            1 => api.card(&good_card(reference)),
            2 => api.debited(&debit_of(reference, "12345678")),
            _ => api.found(&api.transfer_of(reference, &format!("77{nth:04}1111"))),
        });
        for answer in &answers {
            assert!(matches!(answer.status, 200 | 201 | 409), "{}", answer.text());
        }
        let attempts = api.attempts(reference);
        let paid = attempts.iter().filter(|attempt| attempt["status"] == "COMPLETED").count();
        assert_eq!(paid, 1, "{attempts:?}");
        assert_texts(&attempts[0], &[("status", "COMPLETED")]);
    }
    assert_eq!(text(&api.books(), "ledgerNetVes"), "19700.00");
}

#[test]
fn a_price_may_be_in_bolivares() {
    let server = Server::shared();
    let api = server.tenant().test;
    let in_ves = |body: Value, ves: &str| {
        let mut body = merged(body, json!({ "vesAmount": number(ves) }));
        body.as_object_mut().expect("an object").remove("usdAmount");
        body
    };
    let c2p = merged(payer(), json!({ "usdAmount": 10, "externalRef": fresh("order") }));
    let bodies = [
        ("/v1/payments/c2p/request", c2p),
        ("/v1/payments/vpos", good_card(&fresh("order"))),
        ("/v1/payments/pago-movil/verify", api.transfer_of(&fresh("order"), "31410001")),
    ];
    for (path, body) in &bodies {
        // 2005.01 / 200 is 10.02505: half up to the cent, and the bolívares as they were given.
        let asked = in_ves(body.clone(), "2005.01");
        let made = api.post(path, &asked).expect(201);
        assert_number(&made, "usdAmount", "10.03");
        assert_number(&made, "vesAmount", "2005.01");
        assert_number(&made, "bcvRate", "200");
        for (over, named) in [
            (json!({ "usdAmount": 10, "vesAmount": 2000 }), &["usdAmount", "vesAmount"][..]),
            (json!({ "usdAmount": null, "vesAmount": null }), &["usdAmount", "vesAmount"][..]),
            (json!({ "usdAmount": null, "vesAmount": "2000" }), &["vesAmount"][..]),
            (json!({ "usdAmount": null, "vesAmount": 0.99 }), &["vesAmount"][..]),
            (json!({ "usdAmount": null, "vesAmount": number("1.005") }), &["vesAmount"][..]),
            (json!({ "usdAmount": null, "vesAmount": 20000002 }), &["vesAmount"][..]),
        ] {
            api.post(path, &merged(body.clone(), merged(over, json!({ "externalRef": fresh("bad") }))))
                .names(named);
        }
        if made.get("intentId").is_none() {
            assert_eq!(api.post(path, &asked).expect(200), made);
            let other =
                api.post(path, &in_ves(body.clone(), "2005.02")).refused(409, "external_ref_conflict");
            assert_eq!(other["differs"], json!(["vesAmount"]));
            assert_number(&made, "feeVes", "30.08");
            continue;
        }
        let execute = |over: Value| api.post("/v1/payments/c2p", &merged(execution(&made, "12345678"), over));
        execute(json!({ "vesAmount": number("2005.01") })).names(&["usdAmount", "vesAmount"]);
        execute(json!({ "usdAmount": null, "vesAmount": 2005 })).refused(409, "intent_mismatch");
        let paid = execute(json!({ "usdAmount": null, "vesAmount": number("2005.01") })).expect(200);
        assert_texts(&paid, &[("status", "COMPLETED")]);
        assert_eq!(execute(json!({})).expect(200), paid, "or in dollars");
        assert_eq!(api.post(path, &asked).expect(200)["paymentId"], paid["paymentId"]);
    }
    let books = api.books();
    assert_eq!(text(&books, "ledgerNetVes"), "5924.79", "three sales of 2005.01 less 30.08 each");
}

#[test]
fn a_clock_that_is_moved_makes_no_attempt_of_what_is_paid() {
    let server = Server::shared();
    let api = server.tenant().test;
    let reference = fresh("order");
    let paid = api.card(&good_card(&reference)).expect(201);
    api.advance(TimeDelta::days(40).num_seconds());
    assert_eq!(api.card(&good_card(&reference)).expect(200)["paymentId"], paid["paymentId"]);
    assert_eq!(list(&api.get("/v1/payments").expect(200), "items").len(), 1);
}
