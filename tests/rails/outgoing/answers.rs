//! Whatever surrounds a code: texts in Latin-1, byte-order marks, raw control characters, a code that is
//! there twice. And names that a bank gives twice.

use super::bank::{Act, Bank, code, done, say};
use super::{account, credit, debit, live, operations, payout_now, server, until};
use crate::harness::client::{Answer, Api};
use serde_json::{Value, json};

/// The bytes of an answer with a code, as some bank writes it.
type Written = fn(&str, &str) -> Vec<u8>;

fn latin_1(code: &str, rest: &str) -> Vec<u8> {
    [
        format!("{{\"code\":\"{code}\",\"message\":\"Llave err").as_bytes(),
        b"\xF3nea",
        format!("\"{rest}}}").as_bytes(),
    ]
    .concat()
}

fn marked(code: &str, rest: &str) -> Vec<u8> {
    format!("\u{feff}{{\"code\":\"{code}\",\"message\":\"Transacción\"{rest}}}").into_bytes()
}

fn broken_line(code: &str, rest: &str) -> Vec<u8> {
    format!("{{\"message\":\"uno\r\ndos\t\u{0}\",\"code\":\" {code}\n\"{rest}}}").into_bytes()
}

const READABLE: [Written; 3] = [latin_1, marked, broken_line];

/// A code that is there twice with two values.
fn twofold(code: &str, rest: &str) -> Vec<u8> {
    format!("{{\"code\":\"51\",\"code\":\"{code}\"{rest}}}").into_bytes()
}

fn charge(api: &Api) -> Answer {
    api.execute(&api.intent(10), "12345678", json!({}))
}

#[test]
fn the_code_decides_whatever_surrounds_it() {
    let bank = Bank::start();
    let server = server(&bank, &[]);
    let tenant = live(&server, "1000.00");
    let api = &tenant.live;
    for (n, written) in READABLE.iter().enumerate() {
        let answer = |operation: &str, code: &str, reference: &str| {
            let rest = format!(",\"reference\":\"{reference}{n}\"");
            bank.next(operation, Act::Bytes(written(code, &rest)));
        };
        answer("MBc2p", "15", "1");
        let refused = charge(api).expect(200);
        assert_eq!((&refused["status"], &refused["failureCode"]), (&json!("FAILED"), &json!("TKCM")), "{n}");
        answer("MBc2p", "00", "2");
        let paid = charge(api).expect(200);
        assert_eq!(
            (&paid["status"], &paid["bankReference"]),
            (&json!("COMPLETED"), &json!(format!("2{n}"))),
            "{n}"
        );
        answer("MBanulacionC2P", "00", "3");
        assert_eq!(api.reverse(&paid).expect(200)["status"], "REVERSED", "{n}");
        answer("MBvuelto", "00", "4");
        assert_eq!(
            api.post("/v1/payments/credit", &credit("1.00")).expect(201)["status"],
            "completed",
            "{n}"
        );
        answer("DebitoInmediato", "ACCP", "5");
        assert_eq!(api.post("/v1/payments/debit", &debit(5.0)).expect(201)["status"], "COMPLETED", "{n}");
        answer("CICuentas", "AC01", "6");
        let refused = api.post("/v1/payments/credit/account", &account("1.00")).expect(201);
        assert_eq!(refused["failureCode"], "AC01", "{n}");
        answer("GenerarOtp", "202", "7");
        let asked =
            json!({ "banco": "0134", "monto": 5.0, "telefono": "04141234567", "cedula": "V12345678" });
        assert_eq!(api.post("/v1/payments/debit/otp", &asked).expect(201)["requested"], true, "{n}");
    }
    assert!(operations(&server, "pending").is_empty() && operations(&server, "unresolved").is_empty());
    // A reference is kept as far as it can be shown.
    bank.next("MBc2p", Act::Bytes(b"{\"code\":\"00\",\"reference\":\" 0047\n11\xD1 \"}".to_vec()));
    assert_eq!(charge(api).expect(200)["bankReference"], "004711");
    bank.next("MBc2p", Act::Bytes(b"{\"code\":\"00\",\"reference\":00001234}".to_vec()));
    assert_eq!(charge(api).expect(200)["bankReference"], "00001234");
}

#[test]
fn a_code_that_is_there_twice_is_unknown() {
    let bank = Bank::start();
    let server = server(&bank, &[]);
    let tenant = live(&server, "1000.00");
    let api = &tenant.live;
    bank.next("MBc2p", Act::Bytes(twofold("00", ",\"reference\":\"1\"")));
    assert_eq!(charge(api).expect(202)["status"], "PENDING");
    bank.next("MBvuelto", Act::Bytes(twofold("00", ",\"reference\":\"1\"")));
    assert_eq!(api.post("/v1/payments/credit", &credit("1.00")).expect(202)["status"], "pending");
    // The same value twice is one.
    bank.next("MBc2p", Act::Bytes(twofold("51", "")));
    assert_eq!(charge(api).expect(200)["failureCode"], "AM04");
    let unresolved = until("both are unresolved", || {
        let found = operations(&server, "unresolved");
        (found.len() == 2).then_some(found)
    });
    assert!(unresolved.iter().all(|item| item["bankCode"].is_null()), "{unresolved:?}");
}

/// Nobody has to wait until an operator sees them.
const AT_ONCE: [(&str, &str); 1] = [("PASARELA__RAILS__UNRESOLVED_AFTER_SECONDS", "600")];

/// Whether an operation of a payment or payout is among those listed so.
fn is_listed(server: &crate::harness::server::Server, status: &str, of: &Value) -> bool {
    let id = of.get("payoutId").or(of.get("paymentId")).expect("an id");
    operations(server, status).iter().any(|item| item["entity"]["id"] == *id)
}

#[test]
fn a_reference_that_names_another_charge_of_the_day_decides_nothing() {
    let bank = Bank::start();
    bank.repeats();
    let mut server = server(&bank, &AT_ONCE);
    let (shop, other) = (live(&server, "100.00").live, live(&server, "100.00").live);
    bank.always("MBc2p", done("00", "00001234"));
    bank.always("MBvuelto", done("00", "00001234"));
    let first = charge(&shop).expect(200);
    assert_eq!(first["status"], "COMPLETED");
    let books = (shop.books(), other.books());
    // Another tenant's, and after a restart one of the same.
    let second = charge(&other).expect(202);
    assert_eq!((&second["status"], &second["bankReference"]), (&json!("PENDING"), &json!(null)));
    server.kill();
    server.restart();
    let third = charge(&shop).expect(202);
    until("both are an operator's", || {
        (is_listed(&server, "unresolved", &second) && is_listed(&server, "unresolved", &third)).then_some(())
    });
    let contradicted = operations(&server, "contradicted");
    assert_eq!(contradicted.len(), 1, "the first is listed once: {contradicted:?}");
    assert_eq!(contradicted[0]["entity"]["id"], first["paymentId"]);
    assert!(contradicted[0]["bankText"].as_str().expect("text").contains("also names"), "{contradicted:?}");
    assert_eq!(shop.payment(&first)["status"], "COMPLETED");
    assert_eq!((shop.books(), other.books()), books, "no money moved");
    // The reference of another call is another.
    assert_eq!(shop.post("/v1/payments/credit", &credit("1.00")).expect(201)["status"], "completed");
    assert_eq!(shop.post("/v1/payments/credit", &credit("2.00")).expect(202)["status"], "pending");
    assert_eq!((bank.of("MBc2p").len(), bank.of("MBvuelto").len()), (3, 2), "each was sent once");
    // An operator decides.
    let item = operations(&server, "unresolved")
        .into_iter()
        .find(|item| item["entity"]["id"] == second["paymentId"]);
    let path =
        format!("/admin/operations/{}/resolve", item.expect("it")["operationId"].as_str().expect("an id"));
    let body = json!({ "outcome": "done", "reference": "00001235", "note": "visto" });
    assert_eq!(server.admin().post(&path, &body).expect(200)["status"], "COMPLETED");
}

#[test]
fn an_id_that_names_two_debits_decides_neither() {
    let bank = Bank::start();
    let server = server(&bank, &AT_ONCE);
    let (shop, other) = (live(&server, "0.00").live, live(&server, "0.00").live);
    let id = "d3b07384-d9a7-4f3b-8c0e-3f0b6f5f7a77";
    bank.always("ConsultarOperaciones", code("AC00"));
    bank.next("DebitoInmediato", say(json!({ "code": "AC00", "id": id })));
    bank.next("DebitoInmediato", say(json!({ "code": "AC00", "Id": id.to_uppercase() })));
    bank.next("DebitoInmediato", say(json!({ "code": "ACCP", "reference": "77", "id": id })));
    bank.next("DebitoInmediato", say(json!({ "code": "AM04", "id": id })));
    let waiting: Vec<(Api, Value)> = [&shop, &other, &shop, &other]
        .map(|api| (api.clone(), api.post("/v1/payments/debit", &debit(5.0)).expect(202)))
        .into();
    bank.always("ConsultarOperaciones", done("ACCP", "4711"));
    until("all are an operator's", || {
        waiting.iter().all(|(_, payment)| is_listed(&server, "unresolved", payment)).then_some(())
    });
    let asked = bank.of("ConsultarOperaciones").len();
    std::thread::sleep(std::time::Duration::from_secs(5));
    assert_eq!(bank.of("ConsultarOperaciones").len(), asked, "nobody is asked under it");
    for (api, payment) in &waiting {
        assert_eq!(api.payment(payment)["status"], "PENDING");
    }
    // One that was done before the bank repeats its id is contradicted.
    let id = "d3b07384-d9a7-4f3b-8c0e-3f0b6f5f7a78";
    bank.next("CICuentas", say(json!({ "code": "ACCP", "reference": "1", "id": id })));
    let paid = {
        let tenant = live(&server, "100.00");
        let paid = tenant.live.post("/v1/payments/credit/account", &account("5.00")).expect(201);
        bank.next("CICuentas", say(json!({ "code": "AC00", "id": id })));
        tenant.live.post("/v1/payments/credit/account", &account("6.00")).expect(202);
        assert_eq!(payout_now(&tenant.live, &paid)["status"], "completed");
        paid
    };
    until("it is listed", || is_listed(&server, "contradicted", &paid).then_some(()));
}

#[test]
fn of_two_answers_at_once_with_one_reference_one_decides() {
    let bank = Bank::start();
    bank.repeats();
    let server = server(&bank, &[]);
    let shops: Vec<Api> = (0..2).map(|_| live(&server, "0.00").live).collect();
    bank.always("MBc2p", done("00", "5"));
    let intents: Vec<Value> = (0..8).map(|n| shops[n % 2].intent(10)).collect();
    let paid =
        crate::harness::check::race(8, |n| shops[n % 2].execute(&intents[n], "12345678", json!({})).status);
    assert_eq!(paid.iter().filter(|status| **status == 200).count(), 1, "{paid:?}");
    assert_eq!(paid.iter().filter(|status| **status == 202).count(), 7, "{paid:?}");
}

#[test]
fn a_bank_writes_one_name_in_many_ways() {
    let bank = Bank::start();
    bank.repeats();
    let server = server(&bank, &[]);
    let tenant = live(&server, "0.00");
    let say_it = |id: &str, reference: Value| {
        bank.next("DebitoInmediato", say(json!({ "code": "ACCP", "reference": reference, "id": id })));
    };
    let id = "d3b07384-d9a7-4f3b-8c0e-3f0b6f5f7a79";
    say_it(id, json!("00047110"));
    let first = tenant.live.post("/v1/payments/debit", &debit(5.0)).expect(201);
    assert_eq!(first["status"], "COMPLETED");
    for (id, reference) in [
        ("1", json!("47110")),
        ("2", json!("000000047110")),
        ("3", json!(47110)),
        ("d3b07384d9a74f3b8c0e3f0b6f5f7a79", json!("5")),
        ("{D3B07384-D9A7-4F3B-8C0E-3F0B6F5F7A79}", json!("6")),
    ] {
        say_it(id, reference);
        let payment = tenant.live.post("/v1/payments/debit", &debit(6.0)).expect(202);
        until("it is an operator's", || is_listed(&server, "unresolved", &payment).then_some(()));
    }
    until("the first is too", || is_listed(&server, "contradicted", &first).then_some(()));
    // A code may be a number, as it may be in a notice.
    bank.next("MBc2p", say(json!({ "code": 0, "reference": 8_812 })));
    assert_eq!(charge(&tenant.live).expect(200)["status"], "COMPLETED");
    bank.next("MBc2p", say(json!({ "code": 8 })));
    assert_eq!(charge(&tenant.live).expect(200)["failureCode"], "R4_08");
}

#[test]
fn an_answer_about_another_operation_decides_nothing() {
    let bank = Bank::start();
    let server = server(&bank, &[]);
    let tenant = live(&server, "0.00");
    let (id, other) = ("d3b07384-d9a7-4f3b-8c0e-3f0b6f5f7a80", "d3b07384-d9a7-4f3b-8c0e-3f0b6f5f7a81");
    bank.next("DebitoInmediato", say(json!({ "code": "AC00", "id": id })));
    for code in ["ACCP", "AM04"] {
        bank.next("ConsultarOperaciones", say(json!({ "code": code, "reference": "1", "id": other })));
    }
    bank.always("ConsultarOperaciones", code("AC00"));
    let payment = tenant.live.post("/v1/payments/debit", &debit(5.0)).expect(202);
    until("it was asked thrice", || (bank.of("ConsultarOperaciones").len() >= 3).then_some(()));
    assert_eq!(tenant.live.payment(&payment)["status"], "PENDING");
    assert!(server.log_tail().contains("speaks of another"), "{}", server.log_tail());
    bank.always(
        "ConsultarOperaciones",
        say(json!({ "code": "ACCP", "reference": "2", "Id": id.to_uppercase() })),
    );
    until("its own answer counts", || (tenant.live.payment(&payment)["status"] == "COMPLETED").then_some(()));
    // Under which of two ids would it be asked?
    let asked = bank.of("ConsultarOperaciones").len();
    bank.next("DebitoInmediato", say(json!({ "code": "AC00", "id": other, "Id": "another" })));
    let payment = tenant.live.post("/v1/payments/debit", &debit(5.0)).expect(202);
    until("it is an operator's", || is_listed(&server, "unresolved", &payment).then_some(()));
    assert_eq!(bank.of("ConsultarOperaciones").len(), asked);
}
