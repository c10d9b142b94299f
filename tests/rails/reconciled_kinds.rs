//! What of ours a bank's statement is compared with: transfers that the bank told of, reversals, payouts,
//! micro-deposits and pesos, done and without an outcome (`docs/contract.md, 20.7`).

use crate::fake_wompi::Fault;
use crate::harness::check::{list, text};
use crate::harness::flows::{fresh, method_path};
use crate::harness::source::Behaviour;
use crate::reconciliation::{ACCOUNT, CALLBACK_UUID, HEADER, World, assert_counts, says, today, until};
use crate::wompi_world;
use chrono::{Days, NaiveDate};
use serde_json::{Value, json};

/// The bank's answers to its calls for a path, each under a reference of its own.
const NUMBERED: &str = r##"{"code":"00","message":"TRANSACCION EXITOSA","reference":"7001#"}"##;

impl World {
    /// A transfer of a day that the bank told of, and its payer too.
    fn transferred(&self, day: NaiveDate) {
        let notice = json!({
            "IdComercio": "12345678", "TelefonoComercio": "04240000001", "TelefonoEmisor": "04141234567",
            "Concepto": "pago", "BancoEmisor": "134", "Monto": "2000.00",
            "FechaHora": format!("{day}T12:00:00"), "Referencia": "000987654321", "CodigoRed": "00",
        });
        let bank = self.server.nobody().with("authorization", CALLBACK_UUID);
        assert_eq!(bank.post("/rails/r4/R4notifica", &notice).expect(200), json!({ "abono": true }));
        let told = json!({
            "usdAmount": 10, "reference": "7654321", "phone": "04141234567", "bankCode": "0134",
            "date": day.to_string(), "debtorId": "V12345678", "externalRef": fresh("pm"),
        });
        let payment = self.tenant.live.post("/v1/payments/pago-movil/verify", &told).expect(201);
        assert_eq!(payment["status"], "COMPLETED", "{payment}");
    }

    /// The amounts that the bank was told to send to phones, oldest first.
    fn sent(&self) -> Vec<String> {
        let calls = self.bank.seen("/MBvuelto");
        let body = |body: &str| serde_json::from_str::<Value>(body).expect("a body");
        calls.iter().map(|seen| text(&body(&seen.body), "Monto").to_owned()).collect()
    }

    /// Begins to prove the phone of a new seller.
    fn proving(&self) -> Value {
        let merchant = self.tenant.live.create_merchant(json!({})).expect(201);
        self.tenant.live.act(&format!("{}/verify/start", method_path(&merchant, 0))).expect(202);
        merchant
    }

    fn funded(&self, amount: &str) {
        let path = format!("/admin/tenants/{}/adjustments", self.tenant.id);
        let body = json!({ "mode": "live", "currency": "VES", "amount": amount, "description": "capital", "externalRef": fresh("capital") });
        self.server.admin().post(&path, &body).expect(201);
    }
}

#[test]
fn transfers_reversals_payouts_and_both_deposits_are_compared() {
    let world = World::start();
    world.funded("1000.00");
    world.transferred(today());
    let paid = world.charged(1, "81230001");
    world.bank.set("/MBanulacionC2P", says(&json!({ "code": "00", "reference": "66667777" })));
    world.tenant.live.reverse(&paid).expect(200);
    world.bank.set("/MBvuelto", Behaviour::Counts(NUMBERED.to_owned()));
    let merchant = world.proving();
    let [first, second] = world.sent().try_into().expect("two deposits");
    let named = world.tenant.live.verify(&method_path(&merchant, 0), &first, &second).expect(200);
    assert_eq!(named["status"], "verified");
    let day = today();
    let references = ["70011", "70012"];
    let file = format!(
        "{HEADER}\n{day},987654321,2000.00,credit,04141234567,0134\n{day},81230001,200.00,credit,,\n\
         {day},66667777,200.00,debit,,\n{day},{},{first},debit,04147654321,0134\n{day},{},{second},debit,,\n",
        references[0], references[1]
    );
    let found = world.ended(&file, (day, day));
    assert_counts(&found, &[("matched", 5), ("missingHere", 0), ("missingThere", 0)]);
    let items = world.items(text(&found, "id"), "limit=100");
    let kinds: Vec<&str> = items.iter().map(|item| text(&item["ours"], "kind")).collect();
    assert_eq!(kinds, ["payment", "payment", "reversal", "micro_deposit", "micro_deposit"]);
    assert_eq!(items[4]["ours"]["reference"], references[1], "each deposit has the reference of its call");
}

#[test]
fn a_transfer_that_its_payer_told_of_days_later_is_on_the_day_it_was_made() {
    let world = World::start();
    let day = today() - Days::new(6);
    world.transferred(day);
    let file = format!("{HEADER}\n{day},987654321,2000.00,credit,04141234567,0134\n");
    let found = world.ended(&file, (day, day));
    assert_counts(&found, &[("matched", 1), ("missingHere", 0), ("missingThere", 0)]);
}

#[test]
fn lines_answer_reversals_payouts_and_deposits_without_an_outcome() {
    let world = World::start();
    world.funded("1000.00");
    let paid = world.charged(1, "81230001");
    let unknown = says(&json!({ "code": "68", "message": "RESPUESTA TARDIA" }));
    world.bank.set("/MBanulacionC2P", unknown.clone());
    world.bank.set("/MBvuelto", unknown);
    world.tenant.live.reverse(&paid).expect(202);
    let merchant = world.proving();
    let amounts = world.sent();
    assert_eq!(amounts.len(), 2, "the second is sent after a first that may have been made");
    let open =
        || list(&world.server.admin().get("/admin/operations?status=unresolved").expect(200), "items").len();
    until("both are unresolved", || open() == 2);
    let day = today();
    let file = format!(
        "{HEADER}\n{day},81230001,200.00,credit,,\n{day},55500001,200.00,debit,,\n\
         {day},55500003,{},debit,04147654321,0134\n{day},55500002,{},debit,,\n",
        amounts[1], amounts[0]
    );
    let found = world.ended(&file, (day, day));
    let id = text(&found, "id");
    assert_counts(&found, &[("matched", 1), ("proposals", 3), ("missingThere", 0)]);
    let proposals = world.items(id, "result=proposal");
    assert_eq!(proposals[1]["ours"]["id"], proposals[2]["ours"]["id"], "both are of one operation");
    let accepted = world.accept(id, &json!({ "all": true })).expect(200);
    assert_eq!(accepted, json!({ "accepted": 3, "refused": [] }));
    assert_eq!(open(), 0);
    let reversed = world.tenant.live.payment(&paid);
    assert_eq!(
        (&reversed["status"], &reversed["reversalRef"]),
        (&json!("REVERSED"), &json!("55500001")),
        "{reversed}"
    );
    let named = world.tenant.live.verify(&method_path(&merchant, 0), &amounts[0], &amounts[1]).expect(200);
    assert_eq!(named["status"], "verified");
    let again = world.ended(&format!("{file}\n"), (day, day));
    assert_counts(&again, &[("matched", 4), ("proposals", 0), ("missingThere", 0)]);
}

#[test]
fn deposits_stay_when_their_method_is_gone() {
    let world = World::start();
    world.funded("1000.00");
    world.bank.set("/MBvuelto", Behaviour::Counts(NUMBERED.to_owned()));
    let merchant = world.proving();
    let kept = world.proving();
    let account = json!({ "bankCode": "0134", "phone": "04147654321", "identification": "V12345678" });
    world.tenant.live.put("/v1/payouts/account", &account).expect(201);
    world.tenant.live.act("/v1/payouts/account/verify/start").expect(202);
    let amounts = world.sent();
    assert_eq!(amounts.len(), 6);
    assert_eq!(world.tenant.live.delete(&method_path(&merchant, 0)).status, 200);
    world.tenant.live.delete(&format!("/v1/merchants/{}", text(&kept, "merchantId")));
    let other = json!({ "bankCode": "0102", "phone": "04147654321", "identification": "V12345678" });
    world.tenant.live.put("/v1/payouts/account", &other).expect(200);
    let day = today();
    let lines: Vec<String> =
        (1..).zip(&amounts).map(|(n, amount)| format!("{day},7001{n},{amount},debit,,\n")).collect();
    let found = world.ended(&format!("{HEADER}\n{}", lines.concat()), (day, day));
    assert_counts(&found, &[("matched", 6), ("missingHere", 0), ("missingThere", 0)]);
}

#[test]
fn each_of_two_deposits_is_accepted_by_its_own_line() {
    let mut world = World::start();
    world.funded("1000.00");
    world.bank.set("/MBvuelto", says(&json!({ "code": "68", "message": "RESPUESTA TARDIA" })));
    let merchant = world.proving();
    let [first, second] = world.sent().try_into().expect("two deposits");
    let open = |world: &World| {
        list(&world.server.admin().get("/admin/operations?status=unresolved").expect(200), "items").len()
    };
    until("it is unresolved", || open(&world) == 1);
    let day = today();
    let line = |reference: &str, amount: &str| format!("{day},{reference},{amount},debit,04147654321,0134\n");
    let booked = |item: &Value| json!({ "id": item["id"], "error": "deposit_booked" });
    // The bank booked the second alone so far.
    let file = format!("{HEADER}\n{}", line("55500002", &second));
    let found = world.ended(&file, (day, day));
    let id = text(&found, "id");
    let proposal = world.items(id, "result=proposal")[0].clone();
    for (accepted, refused) in [(1, json!([])), (0, json!([booked(&proposal)]))] {
        let answer = world.accept(id, &json!({ "items": [proposal["id"]] })).expect(200);
        assert_eq!(answer, json!({ "accepted": accepted, "refused": refused }));
        assert_eq!(open(&world), 1, "one alone is no outcome");
    }
    let rows = world.server.admin().get("/admin/audit?action=operation.book").expect(200);
    let row = &list(&rows, "items")[0];
    let (target, after) = (&proposal["ours"]["id"], &row["after"]["reference"]);
    assert_eq!((&row["target"], after), (target, &json!("55500002")), "{row}");
    world.server.kill();
    world.server.restart();
    // What is booked is known by its reference, and is proposed by no other file.
    let again = world.ended(&format!("{file}\n"), (day, day));
    assert_counts(&again, &[("matched", 1), ("proposals", 0), ("missingThere", 0)]);
    let matched = world.items(text(&again, "id"), "limit=1").remove(0);
    let known = [&matched["ours"]["kind"], &matched["ours"]["id"], &matched["ours"]["amount"]];
    assert_eq!(known, [&json!("micro_deposit"), target, &json!(second)], "{matched}");
    // A line of the same amount under another reference is another payment of the bank's.
    let double = format!("{file}{}", line("55500009", &second));
    let found = world.ended(&double, (day, day));
    assert_counts(&found, &[("matched", 1), ("missingHere", 1), ("proposals", 0)]);
    // The other one comes: together they are the outcome.
    let both = format!("{file}{}", line("55500003", &first));
    let found = world.ended(&both, (day, day));
    let id = text(&found, "id");
    assert_counts(&found, &[("matched", 1), ("proposals", 1)]);
    assert_eq!(
        world.accept(id, &json!({ "all": true })).expect(200),
        json!({ "accepted": 1, "refused": [] })
    );
    assert_eq!(open(&world), 0);
    let again = world.accept(id, &json!({ "all": true })).expect(200);
    assert_eq!(list(&again, "refused")[0]["error"], "operation_resolved", "{again}");
    let named = world.tenant.live.verify(&method_path(&merchant, 0), &first, &second).expect(200);
    assert_eq!(named["status"], "verified");
    let found = world.ended(&format!("{both}\n"), (day, day));
    assert_counts(&found, &[("matched", 2), ("missingThere", 0)]);
    let ours: Vec<Value> = world
        .items(text(&found, "id"), "limit=2")
        .iter()
        .map(|item| item["ours"]["reference"].clone())
        .collect();
    assert_eq!(ours, ["55500002", "55500003"], "each with the reference of its line");
}

#[test]
fn a_booked_deposit_stays_whatever_becomes_of_its_operation() {
    let world = World::start();
    world.funded("1000.00");
    world.bank.set("/MBvuelto", says(&json!({ "code": "68", "message": "RESPUESTA TARDIA" })));
    let open =
        || list(&world.server.admin().get("/admin/operations?status=unresolved").expect(200), "items").len();
    let resolve = |operation: &Value, said: Value| {
        let path = format!("/admin/operations/{}/resolve", operation.as_str().expect("an id"));
        world.server.admin().post(&path, &said).expect(200)
    };
    let day = today();
    let mut file = format!("{HEADER}\n");
    for (n, fate) in ["done", "refused", "deleted"].into_iter().enumerate() {
        let merchant = world.proving();
        let [first, second] = [0, 1].map(|of| world.sent()[2 * n + of].clone());
        until("it is unresolved", || open() == 1);
        file.push_str(&format!("{day},5550000{n},{first},debit,,\n"));
        let found = world.ended(&file, (day, day));
        let proposal = world.items(text(&found, "id"), "result=proposal").remove(0);
        let accepted = world.accept(text(&found, "id"), &json!({ "all": true })).expect(200);
        assert_eq!((accepted, open()), (json!({ "accepted": 1, "refused": [] }), 1));
        let (method, operation) = (method_path(&merchant, 0), &proposal["ours"]["id"]);
        let status =
            |merchant: &Value| world.tenant.live.merchant_now(merchant)["payoutMethods"][0]["status"].clone();
        match fate {
            "done" => {
                resolve(operation, json!({ "outcome": "done", "reference": "60000000", "note": "n" }));
                file.push_str(&format!("{day},60000000,{second},debit,,\n"));
                let named = world.tenant.live.verify(&method, &first, &second).expect(200);
                assert_eq!(named["status"], "verified");
            }
            "refused" => {
                resolve(operation, json!({ "outcome": "refused", "failureCode": "AM04", "note": "n" }));
                assert_eq!(status(&merchant), "unverified");
            }
            _ => assert_eq!(world.tenant.live.delete(&method).status, 200),
        }
        assert_eq!(open(), 0, "{fate}");
    }
    let found = world.ended(&format!("{file}\n"), (day, day));
    assert_counts(&found, &[("matched", 4), ("proposals", 0), ("missingHere", 0), ("missingThere", 0)]);
}

#[test]
fn pesos_and_what_an_operator_gave_back_are_compared() {
    let world = wompi_world::World::start();
    world.wompi.next("create", Fault::State("APPROVED"));
    let paid = world.ask("push").expect(201);
    let refunding = world.live.cop_refund(&paid).expect(202);
    let said = json!({ "outcome": "done", "reference": "R-20311" });
    world.resolve(text(&refunding, "operationId"), said).expect(200);
    let id = world.wompi.only().id;
    let digits: String = id.chars().filter(char::is_ascii_digit).collect();
    let day = today();
    let file = format!(
        "{HEADER}\n{day},{digits},50000.00,credit,,\n{day},0020311,46250.00,debit,,\n{day},{digits},1.00,debit,,\n"
    );
    let path = format!("/admin/reconciliations?rail=wompi&account={ACCOUNT}&from={day}&to={day}");
    let admin = world.server.admin();
    let begun = admin.post_as(&path, "text/csv", file).expect(202);
    let read = || admin.get(&format!("/admin/reconciliations/{}", text(&begun, "id"))).expect(200);
    until("it ends", || read()["status"] != "running");
    assert_counts(&read(), &[("matched", 2), ("missingHere", 1), ("missingThere", 0)]);
    let items = admin.get(&format!("/admin/reconciliations/{}/items", text(&begun, "id"))).expect(200);
    assert_eq!(list(&items, "items")[0]["ours"]["amount"], "50000", "{items}");
}
