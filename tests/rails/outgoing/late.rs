//! What a bank says after it was settled, and copies that may not call it.

use super::bank::{Bank, code, done, say};
use super::{credit, debit, live, operations, payout_now, server, settings, unavailable, until, with};
use crate::harness::server::Server;
use serde_json::{Value, json};

/// What the bank was given to prove itself with.
const UUID: &str = "4f1c2a9e-7b3d-4e8a-9c55-0d6f1b2a3c4d";

#[test]
fn the_opposite_of_an_operators_word_moves_no_money_and_is_listed() {
    let bank = Bank::start();
    let server = server(&bank, &[]);
    let tenant = live(&server, "0.00");
    let api = &tenant.live;
    let id = "d3b07384-d9a7-4f3b-8c0e-3f0b6f5f7a12";
    bank.next("DebitoInmediato", say(json!({ "code": "AC00", "message": "espera", "id": id })));
    bank.always("ConsultarOperaciones", code("AC00"));
    let waiting = api.post("/v1/payments/debit", &debit(5.0)).expect(202);
    let item = until("it is listed with its looks", || {
        operations(&server, "unresolved").pop().filter(|item| item["asks"].as_u64() > Some(0))
    });
    assert_eq!((&item["bankCode"], &item["kind"]), (&json!("AC00"), &json!("debit")));
    assert!(item["askedAt"].is_string());
    let path = format!("/admin/operations/{}/resolve", item["operationId"].as_str().expect("an id"));
    let body = json!({ "outcome": "refused", "failureCode": "AB01", "note": "no llegó" });
    assert_eq!(server.admin().post(&path, &body).expect(200)["status"], "FAILED");
    // The shop's next attempt is paid.
    bank.next("DebitoInmediato", done("ACCP", "4711"));
    let other = json!({ "externalRef": waiting["externalRef"], "otp": "87654321" });
    let paid = api.post("/v1/payments/debit", &with(debit(5.0), other)).expect(201);
    assert_eq!((&paid["status"], &paid["attempt"]), (&json!("COMPLETED"), &json!(2)));
    let books = api.balance();
    bank.always("ConsultarOperaciones", done("ACCP", "4712"));
    let item = until("it is contradicted", || operations(&server, "contradicted").pop());
    assert_eq!(
        (&item["bankReference"], &item["bankCode"], &item["rail"]),
        (&json!("4712"), &json!("ACCP"), &json!("r4"))
    );
    assert_eq!((&item["entity"]["id"], &item["otherAttemptId"]), (&waiting["paymentId"], &paid["paymentId"]));
    assert_eq!(api.payment(&waiting)["status"], "FAILED");
    assert_eq!(api.balance(), books);
    let asked = bank.of("ConsultarOperaciones").len();
    std::thread::sleep(std::time::Duration::from_secs(5));
    assert_eq!(bank.of("ConsultarOperaciones").len(), asked, "it is final");
    let events = api.get("/v1/events?after=0").expect(200).to_string();
    assert!(!events.contains("contradicted"), "{events}");
}

#[test]
fn a_restored_copy_calls_nobody_until_it_takes_over() {
    let bank = Bank::start();
    let mut original = server(&bank, &[]);
    let tenant = live(&original, "100.00");
    let intent = tenant.live.intent(10);
    original.kill();
    let parent = tempfile::tempdir().expect("a directory");
    let into = parent.path().join("copy");
    let output = original.command(&["wal", "replay", "--into", into.to_str().expect("a path")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut copy = Server::on(&into);
    for (name, value) in settings(&bank.base()) {
        copy.set(&name, &value);
    }
    copy.set("PASARELA__RAILS__R4__CALLBACK_UUID", UUID);
    copy.kill();
    copy.restart();
    let key = |member: &str| tenant.created[member]["key"].as_str().expect("a key").to_owned();
    let (api, test) = (copy.api(&key("liveKey")), copy.api(&key("testKey")));
    unavailable(&api.execute(&intent, "12345678", json!({})));
    unavailable(&api.post("/v1/payments/debit", &debit(5.0)));
    let payout: Value = api.post("/v1/payments/credit", &credit("7.00")).expect(202);
    test.pay(1);
    std::thread::sleep(std::time::Duration::from_secs(5));
    assert_eq!(payout_now(&api, &payout)["status"], "pending");
    assert_eq!(bank.calls().len(), 0);
    // What it is told the server that took over would never hear: the bank has to tell it again.
    let told = |copy: &Server, status: u16| {
        let now = chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
        let notice = json!({
            "IdComercio": "12345678", "TelefonoComercio": "04240000001", "TelefonoEmisor": "04141234567",
            "BancoEmisor": "134", "Monto": "7.00", "FechaHora": now, "Referencia": "1", "CodigoRed": "00",
        });
        let r4 = copy.nobody().with("authorization", UUID);
        let abono = r4.post("/rails/r4/R4notifica", &notice).expect(status);
        assert_eq!(abono, json!({ "abono": status == 200 }));
        let known = r4.post("/rails/r4/R4consulta", &json!({ "IdCliente": "12345678" })).expect(status);
        assert_eq!(known, json!({ "status": status == 200 }));
    };
    told(&copy, 503);
    bank.always("MBvuelto", done("00", "1"));
    bank.always("MBc2p", done("00", "2"));
    copy.kill();
    copy.arguments = vec!["--take-over"];
    copy.restart();
    let api = copy.api(&key("liveKey"));
    told(&copy, 200);
    until("it is paid", || (payout_now(&api, &payout)["status"] == "completed").then_some(()));
    assert_eq!(api.execute(&intent, "12345678", json!({})).expect(200)["status"], "COMPLETED");
    assert_eq!(bank.of("MBvuelto").len(), 1);
}
