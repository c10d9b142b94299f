//! Charges: C2P with its intent and reversal, immediate debit, and the codes that banks send for both.

use super::bank::{Act, Bank, code, done, say};
use super::{debit, live, operations, server, unavailable, until, with};
use crate::harness::flows::fresh;
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn each_answer_to_c2p_is_what_the_table_says() {
    let bank = Bank::start();
    let server = server(&bank, &[]);
    let tenant = live(&server, "0.00");
    let api = &tenant.live;
    bank.next("MBc2p", done("00", "00471100"));
    let intent = api.intent(10);
    let paid = api.execute(&intent, "12345678", json!({})).expect(200);
    assert_eq!(
        (paid["status"].as_str(), paid["bankReference"].as_str()),
        (Some("COMPLETED"), Some("00471100"))
    );
    let call = &bank.of("MBc2p")[0];
    assert_eq!(
        (&call["Monto"], &call["Cedula"], &call["Banco"]),
        (&json!("2000.00"), &json!("V12345678"), &json!("0134"))
    );
    // The same token again is answered, and not sent.
    assert_eq!(api.execute(&intent, "12345678", json!({})).expect(200)["status"], "COMPLETED");
    for (said, failure) in [
        ("51", "AM04"),
        ("15", "TKCM"),
        ("55", "TKCM"),
        ("56", "BE01"),
        ("13", "AM02"),
        ("62", "AG01"),
        ("91", "AB07"),
        ("30", "R4_30"),
    ] {
        bank.next("MBc2p", code(said));
        let failed = api.execute(&api.intent(10), "12345678", json!({})).expect(200);
        assert_eq!(
            (failed["status"].as_str(), failed["failureCode"].as_str()),
            (Some("FAILED"), Some(failure)),
            "{said}"
        );
    }
    // Done without a reference.
    bank.next("MBc2p", say(json!({ "code": "00", "message": "ok" })));
    let nameless = api.execute(&api.intent(10), "12345678", json!({})).expect(200);
    assert_eq!((nameless["status"].as_str(), &nameless["bankReference"]), (Some("COMPLETED"), &json!(null)));
    assert_eq!(bank.of("MBc2p").len(), 10);
}

#[test]
fn what_nobody_can_tell_of_c2p_is_asked_of_an_operator_and_never_sent_again() {
    let bank = Bank::start();
    let server = server(&bank, &[]);
    let tenant = live(&server, "0.00");
    let api = &tenant.live;
    let acts = [
        code("68"),
        code("05"),
        code("ZZ99"),
        Act::Say(503, "x".into()),
        Act::Silence,
        Act::Cut,
        Act::Say(200, "<html>".into()),
        Act::Say(302, String::new()),
    ];
    // One success between them keeps the circuit closed.
    for act in &acts {
        bank.next("MBc2p", act.clone());
        let intent = api.intent(10);
        let answer = api.execute(&intent, "12345678", json!({}));
        let pending = answer.expect(202);
        assert!(pending["operationId"].is_string() && pending["status"] == "PENDING", "{act:?}: {pending}");
        api.execute(&intent, "12345678", json!({})).refused(409, "charge_in_progress");
        api.execute(&intent, "87654321", json!({})).refused(409, "charge_in_progress");
        bank.next("MBc2p", done("00", "1"));
        api.execute(&api.intent(10), "12345678", json!({})).expect(200);
    }
    let unresolved = until("they are unresolved", || {
        let found = operations(&server, "unresolved");
        (found.len() == acts.len()).then_some(found)
    });
    assert_eq!(operations(&server, "pending").len(), 0);
    for item in &unresolved {
        assert_eq!(
            (&item["askedAt"], &item["asks"], &item["rail"]),
            (&json!(null), &json!(0), &json!("r4")),
            "{item}"
        );
        assert_eq!(
            (&item["kind"], &item["amount"], &item["mode"]),
            (&json!("c2p"), &json!("2000.00"), &json!("live"))
        );
    }
    let said: Vec<_> = unresolved.iter().map(|item| item["bankCode"].clone()).collect();
    for known in ["68", "05", "ZZ99"] {
        assert!(said.contains(&json!(known)), "{said:?}");
    }
    assert_eq!(bank.of("MBc2p").len(), 2 * acts.len());
    assert_eq!(bank.of("ConsultarOperaciones").len(), 0);
    // An operator says what became of two of them.
    let resolve = |item: &Value, body| {
        let path = format!("/admin/operations/{}/resolve", item["operationId"].as_str().expect("an id"));
        server.admin().post(&path, &body)
    };
    let yes = resolve(&unresolved[0], json!({ "outcome": "done", "reference": "777", "note": "visto" }));
    assert_eq!(yes.expect(200)["status"], "COMPLETED");
    let no = json!({ "outcome": "refused", "failureCode": "AB01", "note": "visto" });
    assert_eq!(resolve(&unresolved[1], no.clone()).expect(200)["status"], "FAILED");
    resolve(&unresolved[1], no).refused(409, "operation_resolved");
}

#[test]
fn a_charge_that_found_no_connection_leaves_the_intent_and_nothing_else() {
    let bank = Bank::start();
    let port = bank.port();
    let server = server(&bank, &[]);
    let tenant = live(&server, "0.00");
    let api = &tenant.live;
    let intent = api.intent(10);
    bank.next("DebitoInmediato", code("TKCM"));
    let failed = api.post("/v1/payments/debit", &debit(500.0)).expect(201);
    assert_eq!(failed["failureCode"], "TKCM");
    drop(bank);
    let keyed = api.keyed(&fresh("key"));
    // The attempt before is the newest again.
    let second = with(debit(500.0), json!({ "externalRef": failed["externalRef"], "otp": "87654321" }));
    unavailable(&api.post("/v1/payments/debit", &second));
    let name = failed["externalRef"].as_str().expect("text");
    assert_eq!(api.get(&format!("/v1/payments/by-ref/{name}")).expect(200), failed);
    assert_eq!(api.walk("/v1/payments", &[("externalRef", name)], 100), std::slice::from_ref(&failed));
    unavailable(&keyed.execute(&intent, "12345678", json!({})));
    let body = debit(500.0);
    let debits = api.keyed(&fresh("key"));
    unavailable(&debits.post("/v1/payments/debit", &body));
    api.get(&format!("/v1/payments/by-ref/{}", body["externalRef"].as_str().expect("text")))
        .refused(404, "not_found");
    assert_eq!((operations(&server, "pending").len(), operations(&server, "unresolved").len()), (0, 0));
    let bank = Bank::on(port);
    bank.always("MBc2p", done("00", "81"));
    bank.always("DebitoInmediato", done("ACCP", "82"));
    // The same requests under the same keys: nothing was kept of the first answers.
    assert_eq!(keyed.execute(&intent, "12345678", json!({})).expect(200)["status"], "COMPLETED");
    assert_eq!(debits.post("/v1/payments/debit", &body).expect(201)["status"], "COMPLETED");
    assert_eq!((bank.of("MBc2p").len(), bank.of("DebitoInmediato").len()), (1, 1));
    bank.next("DebitoInmediato", done("ACCP", "83"));
    let paid = api.post("/v1/payments/debit", &second).expect(201);
    assert_eq!((&paid["status"], &paid["attempt"]), (&json!("COMPLETED"), &json!(2)));
    let both = api.walk("/v1/payments", &[("externalRef", name)], 100);
    assert_eq!(both, [paid, failed]);
}

#[test]
fn a_reversal_is_done_refused_or_left_to_an_operator() {
    let bank = Bank::start();
    let server = server(&bank, &[]);
    let tenant = live(&server, "0.00");
    let api = &tenant.live;
    bank.always("MBc2p", done("00", "471"));
    let pay = || api.execute(&api.intent(10), "12345678", json!({})).expect(200);
    bank.next("MBanulacionC2P", done("00", "9"));
    let reversed = api.reverse(&pay()).expect(200);
    assert_eq!(
        (reversed["status"].as_str(), reversed["reversalRef"].as_str()),
        (Some("REVERSED"), Some("9"))
    );
    assert_eq!(bank.of("MBanulacionC2P")[0]["Referencia"], "471");
    bank.next("MBanulacionC2P", code("41"));
    api.reverse(&pay()).refused(409, "reversal_refused");
    bank.next("MBanulacionC2P", Act::Silence);
    let waiting = api.reverse(&pay()).expect(202);
    assert_eq!(waiting["status"], "COMPLETED");
    api.reverse(&waiting).refused(409, "reversal_in_progress");
    let item = until("it is unresolved", || operations(&server, "unresolved").pop());
    assert_eq!((&item["kind"], &item["asks"]), (&json!("c2p_reversal"), &json!(0)));
    let path = format!("/admin/operations/{}/resolve", item["operationId"].as_str().expect("an id"));
    let body = json!({ "outcome": "done", "reference": "10", "note": "visto" });
    assert_eq!(server.admin().post(&path, &body).expect(200)["status"], "REVERSED");
    assert_eq!(bank.of("MBanulacionC2P").len(), 3);
}

/// Resolves an operation as refused, as an operator whom the bank's help desk said so.
#[track_caller]
fn refused_by_operator(server: &Server, operation: &Value) -> Value {
    let path = format!("/admin/operations/{}/resolve", operation.as_str().expect("an id"));
    let body = json!({ "outcome": "refused", "failureCode": "AM04", "note": "the bank never made it" });
    server.admin().post(&path, &body).expect(200)
}

#[test]
fn a_reversal_begins_after_an_operators_refusal_of_one_that_nobody_can_be_asked_about() {
    let bank = Bank::start();
    // No look comes while the test runs: nothing but the operator's word makes room for another.
    let mut server = server(&bank, &[("PASARELA__RAILS__POLL_SECONDS", "3600")]);
    let tenant = live(&server, "0.00");
    let api = &tenant.live;
    bank.always("MBc2p", done("00", "471"));
    let paid = api.execute(&api.intent(10), "12345678", json!({})).expect(200);
    let books = api.books();
    bank.next("MBanulacionC2P", code("68"));
    let waiting = api.reverse(&paid).expect(202);
    api.reverse(&paid).refused(409, "reversal_in_progress");
    let told = refused_by_operator(&server, &waiting["operationId"]);
    assert_eq!((&told["status"], &told["operationId"]), (&json!("COMPLETED"), &Value::Null), "{told}");
    assert_eq!(api.books(), books, "what was set aside is back");
    server.kill();
    server.restart();
    // An operation of its own, about which the bank decides.
    bank.next("MBanulacionC2P", code("41"));
    api.reverse(&paid).refused(409, "reversal_refused");
    bank.next("MBanulacionC2P", done("00", "9"));
    let reversed = api.reverse(&paid).expect(200);
    assert_eq!((&reversed["status"], &reversed["reversalRef"]), (&json!("REVERSED"), &json!("9")));
    assert_eq!(bank.of("MBanulacionC2P").len(), 3, "each sent once");
    assert!(operations(&server, "contradicted").is_empty());
    api.reverse(&paid).refused(409, "payment_not_completed");
}

#[test]
fn none_begins_while_the_banks_own_answer_to_one_that_an_operator_refused_may_come() {
    let bank = Bank::start();
    let late = [
        ("PASARELA__RAILS__POLL_SECONDS", "3600"),
        ("PASARELA__RAILS__ANSWER_SECONDS", "1"),
        ("PASARELA__RAILS__R4__TIMEOUT_SECONDS", "30"),
    ];
    let server = server(&bank, &late);
    let tenant = live(&server, "0.00");
    let api = &tenant.live;
    bank.always("MBc2p", done("00", "471"));
    let paid = api.execute(&api.intent(10), "12345678", json!({})).expect(200);
    let books = api.books();
    let answer = json!({ "code": "00", "message": "TRANSACCION EXITOSA", "reference": "9" });
    bank.next("MBanulacionC2P", Act::Held(answer.to_string()));
    let waiting = api.reverse(&paid).expect(202);
    refused_by_operator(&server, &waiting["operationId"]);
    api.reverse(&paid).refused(409, "reversal_in_progress");
    bank.let_go();
    let told = until("the bank's answer comes", || operations(&server, "contradicted").pop());
    assert_eq!((&told["operationId"], &told["bankReference"]), (&waiting["operationId"], &json!("9")));
    assert_eq!(api.books(), books, "no money moved");
    assert_eq!(bank.of("MBanulacionC2P").len(), 1);
}

#[test]
fn whoever_asked_for_a_reversal_hears_that_an_operator_refused_it() {
    let bank = Bank::start();
    let still = [("PASARELA__RAILS__POLL_SECONDS", "3600"), ("PASARELA__RAILS__R4__TIMEOUT_SECONDS", "30")];
    let mut server = server(&bank, &still);
    let tenant = live(&server, "0.00");
    let api = &tenant.live;
    bank.always("MBc2p", done("00", "471"));
    let pay = || api.execute(&api.intent(10), "12345678", json!({})).expect(200);
    // It has been answered already: a repeat under the key hears it.
    let (paid, keyed) = (pay(), api.keyed("reverse-1"));
    bank.next("MBanulacionC2P", code("68"));
    let waiting = keyed.reverse(&paid).expect(202);
    refused_by_operator(&server, &waiting["operationId"]);
    assert_eq!(keyed.reverse(&paid).expect(409)["error"], "reversal_refused");
    // It still waits for the bank, which agrees with the operator, or does not.
    for said in [json!({ "code": "41" }), json!({ "code": "00", "reference": "9" })] {
        let (paid, keyed) = (pay(), api.keyed(&fresh("reverse")));
        bank.next("MBanulacionC2P", Act::Late(Duration::from_secs(2), said.to_string()));
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| keyed.reverse(&paid));
            let open = until("the order is at the bank", || operations(&server, "pending").pop());
            refused_by_operator(&server, &open["operationId"]);
            asked.join().expect("an answer").refused(409, "reversal_refused");
        });
        assert_eq!(keyed.reverse(&paid).expect(409)["error"], "reversal_refused");
        assert_eq!(api.payment(&paid)["status"], "COMPLETED");
    }
    server.kill();
    server.restart();
    assert_eq!(keyed.reverse(&paid).expect(409)["error"], "reversal_refused");
    assert_eq!(bank.of("MBanulacionC2P").len(), 3, "each was sent once");
}

#[test]
fn a_debit_that_waits_is_asked_about_under_the_banks_id() {
    let bank = Bank::start();
    let server = server(&bank, &[]);
    let tenant = live(&server, "0.00");
    let api = &tenant.live;
    bank.next("DebitoInmediato", done("ACCP", "1"));
    assert_eq!(api.post("/v1/payments/debit", &debit(5.0)).expect(201)["status"], "COMPLETED");
    bank.next("DebitoInmediato", code("AM04"));
    assert_eq!(api.post("/v1/payments/debit", &debit(5.0)).expect(201)["failureCode"], "AM04");
    let id = "d3b07384-d9a7-4f3b-8c0e-3f0b6f5f7a11";
    bank.next("DebitoInmediato", say(json!({ "code": "AC00", "message": "espera", "Id": id })));
    bank.next("ConsultarOperaciones", say(json!({ "code": "AC00" })));
    bank.always("ConsultarOperaciones", done("ACCP", "4711"));
    let waiting = api.post("/v1/payments/debit", &debit(5.0)).expect(202);
    let paid = until("the bank decides", || {
        let now = api.payment(&waiting);
        (now["status"] != "PENDING").then_some(now)
    });
    assert_eq!((paid["status"].as_str(), paid["bankReference"].as_str()), (Some("COMPLETED"), Some("4711")));
    assert!(bank.of("ConsultarOperaciones").iter().all(|call| *call == json!({ "Id": id })));
    assert_eq!(bank.of("DebitoInmediato").len(), 3);
}

#[test]
fn amounts_of_nine_digits_are_refused_and_nothing_is_written() {
    let bank = Bank::start();
    let server = server(&bank, &[]);
    let tenant = live(&server, "0.00");
    let body = debit(100_000_000.00);
    tenant.live.post("/v1/payments/debit", &body).names(&["monto"]);
    let path = format!("/v1/payments/by-ref/{}", body["externalRef"].as_str().expect("text"));
    tenant.live.get(&path).refused(404, "not_found");
    assert_eq!(bank.calls().len(), 0);
}

#[test]
fn codes_are_asked_for_before_anything_is_written() {
    let bank = Bank::start();
    let server = server(&bank, &[]);
    let tenant = live(&server, "0.00");
    let api = &tenant.live;
    let venezuela = |external_ref: &str| json!({ "debtorBankCode": 102, "externalRef": external_ref });
    // A bank that needs no call.
    assert_eq!(api.request_c2p(10, json!({})).expect(201)["otpRequested"], false);
    assert_eq!(bank.calls().len(), 0);
    bank.next("GenerarOtp", code("202"));
    assert_eq!(api.request_c2p(10, venezuela(&fresh("a"))).expect(201)["otpRequested"], true);
    bank.next("GenerarOtp", code("56"));
    assert_eq!(api.request_c2p(10, venezuela(&fresh("b"))).expect(201)["otpRequested"], false);
    bank.next("GenerarOtp", Act::Silence);
    let name = fresh("c");
    unavailable(&api.request_c2p(10, venezuela(&name)));
    api.get(&format!("/v1/payments/by-ref/{name}")).refused(404, "not_found");
    let code_for = with(debit(5.0), json!({}));
    let asked =
        json!({ "banco": code_for["banco"], "monto": 5.0, "telefono": "04141234567", "cedula": "V12345678" });
    bank.next("GenerarOtp", code("202"));
    assert_eq!(api.post("/v1/payments/debit/otp", &asked).expect(201)["requested"], true);
    bank.next("GenerarOtp", code("80"));
    let refused = api.post("/v1/payments/debit/otp", &asked).refused(409, "otp_refused");
    assert_eq!(refused["failureCode"], "BE01");
    bank.next("GenerarOtp", Act::Late(Duration::from_secs(3), r#"{"code":"202"}"#.to_owned()));
    unavailable(&api.post("/v1/payments/debit/otp", &asked));
    assert_eq!(bank.of("GenerarOtp").len(), 6);
}
