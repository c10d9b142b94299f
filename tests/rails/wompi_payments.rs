//! Pesos through Wompi, over HTTP from end to end: what each channel asks of its buyer, what each state
//! means for the money, and what becomes of a payment of which nobody knows whether Wompi has it.

use crate::fake_wompi::{FakeWompi, Fault, PICTURE, Transaction};
use crate::harness::check::{list, text};
use crate::harness::pesos::{cop_path, rows};
use crate::wompi_world::{World, body, next, operation};
use serde_json::{Value, json};

#[test]
fn a_push_is_paid() {
    let world = World::start();
    let created = world.ask("push").expect(201);
    assert_eq!((text(&created, "status"), next(&created)), ("pending", "approve_in_app"));
    assert_eq!((&created["next"]["phoneMasked"], &created["livemode"]), (&json!("300***4567"), &json!(true)));
    let transaction = world.wompi.only();
    assert_eq!(transaction.body["reference"], created["operationId"], "it is named by our operation");
    assert_eq!(transaction.body["payment_method"], json!({"type": "NEQUI", "phone_number": "3001234567"}));
    assert_eq!(
        (transaction.amount_in_cents, &transaction.body["customer_email"]),
        (5_000_000, &json!("ana@example.com"))
    );
    assert_eq!(world.live.cop_books()["ledgerNetCop"], "0");
    world.wompi.settle("APPROVED");
    let paid = world.until_status(&created, "completed");
    assert_eq!((&paid["next"], &paid["operationId"]), (&Value::Null, &Value::Null));
    world.live.assert_pesos("46250", "46250", "0");
    assert_eq!(world.events(), ["payment.completed"]);
    let shown = world.live.get(&format!("/v1/payments/{}", text(&created, "id"))).expect(200);
    assert_eq!((&shown["bankReference"], &shown["status"]), (&json!(transaction.id), &json!("COMPLETED")));
    assert_eq!(world.wompi.asked("create").len(), 1);
}

#[test]
fn a_qr_code_is_shown_once_it_is_there() {
    let world = World::start();
    let created = world.ask("qr").expect(201);
    let shown = json!({"type": "show_qr", "qrPngBase64": PICTURE, "transferKey": null});
    assert_eq!(created["next"], shown);
    assert_eq!(world.live.get(&cop_path(&created)).expect(200)["next"], shown, "it stays");
    assert_eq!(world.wompi.only().body["customer_email"], "pagos@tienda.example");
    world.wompi.settle("APPROVED");
    assert_eq!(world.until_status(&created, "completed")["next"], Value::Null);
    // One that takes its time.
    world.wompi.ready(false);
    let key = world.live.keyed("slow");
    let created = key.post("/v1/cop/payments", &body("qr")).expect(202);
    assert_eq!((text(&created, "status"), &created["next"]), ("pending", &Value::Null));
    world.wompi.ready(true);
    let now = world.until(&created, |now| !now["next"].is_null());
    assert_eq!(now["next"], shown);
    let again = key.post("/v1/cop/payments", &body("qr"));
    assert_eq!((again.header("idempotent-replayed"), again.expect(201)), (Some("true"), now));
    assert_eq!(world.wompi.transactions().len(), 2);
}

#[test]
fn every_end_means_something() {
    let world = World::start();
    for (state, status, code, event) in [
        ("DECLINED", "failed", json!("rejected"), "payment.failed"),
        ("VOIDED", "failed", json!("rejected"), "payment.failed"),
        ("ERROR", "failed", json!("processor_error"), "payment.failed"),
        ("APPROVED", "completed", Value::Null, "payment.completed"),
    ] {
        // In the answer to the order.
        world.wompi.next("create", Fault::State(state));
        let created = world.ask("push").expect(201);
        assert_eq!((text(&created, "status"), &created["failureCode"]), (status, &code), "{state}");
        // By the look.
        let created = world.ask("push").expect(201);
        world.wompi.settle(state);
        let ended = world.until_status(&created, status);
        assert_eq!((&ended["failureCode"], &ended["next"]), (&code, &Value::Null), "{state}");
        assert_eq!(world.events().last().map(String::as_str), Some(event));
    }
    world.live.assert_pesos("92500", "92500", "0");
}

#[test]
fn an_order_without_an_answer_is_asked_about_and_never_sent_twice() {
    let world = World::start();
    world.wompi.next("create", Fault::DropAfter);
    world.wompi.next("list", Fault::Answer(503, json!({})));
    let created = world.live.keyed("once").post("/v1/cop/payments", &body("push")).expect(202);
    assert_eq!((text(&created, "status"), &created["next"]), ("pending", &Value::Null));
    assert_eq!(world.operations("pending")[0]["operationId"], created["operationId"]);
    // The first question fails, which is no permission; the second finds it.
    let now = world.until(&created, |now| next(now) == "approve_in_app");
    assert_eq!(text(&now, "status"), "pending");
    world.wompi.settle("APPROVED");
    world.until_status(&created, "completed");
    assert_eq!((world.wompi.asked("create").len(), world.wompi.transactions().len()), (1, 1));
    world.live.assert_pesos("46250", "46250", "0");
}

#[test]
fn what_never_arrived_is_sent_again_under_the_same_reference_once_per_look() {
    let world = World::start();
    world.wompi.next("create", Fault::DropBefore);
    world.wompi.next("create", Fault::DropBefore);
    let created = world.ask("push").expect(202);
    let now = world.until(&created, |now| next(now) == "approve_in_app");
    let references: Vec<Value> =
        world.wompi.asked("create").iter().map(|asked| asked.body["reference"].clone()).collect();
    assert_eq!(references, vec![json!(operation(&now)); 3]);
    assert_eq!(world.wompi.asked("list").len(), 2, "one look for each");
    assert_eq!(world.wompi.transactions().len(), 1);
}

#[test]
fn without_a_connection_nothing_is_left_behind() {
    let nobody = FakeWompi::start().base();
    let world = World::with(&[("PASARELA__RAILS__WOMPI__BASE_URL", &nobody)]);
    let key = world.live.keyed("again");
    let refused = key.post("/v1/cop/payments", &body("push"));
    refused.refused(503, "rail_unavailable");
    assert_eq!(key.post("/v1/cop/payments", &body("push")).header("idempotent-replayed"), None, "not kept");
    assert!(world.operations("pending").is_empty());
    // After five the circuit is open: nobody is called, and it says when to come again.
    for _ in 0..4 {
        world.ask("push").refused(503, "rail_unavailable");
    }
    let open = world.ask("push");
    open.refused(503, "rail_unavailable");
    let seconds: u64 = open.header("retry-after").expect("when").parse().expect("seconds");
    assert!(seconds >= 1);
}

#[test]
fn stale_tokens_are_fetched_again_and_the_order_is_sent_once_more() {
    let world = World::start();
    world.ask("push").expect(201);
    world.wompi.renew_tokens();
    world.ask("push").expect(201);
    let creates = world.wompi.asked("create");
    assert_eq!(creates.len(), 3);
    assert_eq!(creates[1].body["reference"], creates[2].body["reference"]);
    assert_ne!(creates[1].body["acceptance_token"], creates[2].body["acceptance_token"]);
    assert_eq!(world.wompi.asked("merchant").len(), 2, "fetched, kept, and fetched once more");
}

#[test]
fn what_was_paid_otherwise_than_asked_moves_no_money() {
    let world = World::start();
    let changes: [fn(&mut Transaction); 2] =
        [|transaction| transaction.amount_in_cents = 4_999_900, |transaction| transaction.currency = "USD"];
    for change in changes {
        let created = world.ask("push").expect(201);
        world.wompi.change(change);
        world.wompi.settle("APPROVED");
        let open = world.until_operations("unresolved", 1).remove(0);
        assert_eq!((text(&open, "kind"), &open["operationId"]), ("cop_payment", &created["operationId"]));
        assert_eq!((text(&open, "bankCode"), text(&open, "rail")), ("APPROVED", "wompi"));
        assert!(text(&open, "bankText").contains("another amount"), "{open}");
        assert_eq!(world.live.get(&cop_path(&created)).expect(200)["status"], "pending");
        assert_eq!(world.live.cop_books()["ledgerNetCop"], "0");
        // The operator has the last word.
        let said = json!({ "outcome": "refused", "failureCode": "wrong_amount" });
        let resolved = world.resolve(operation(&created), said.clone()).expect(200);
        assert_eq!((text(&resolved, "status"), text(&resolved, "failureCode")), ("FAILED", "wrong_amount"));
        world.resolve(operation(&created), said).refused(409, "operation_resolved");
        let failed = world.until_status(&created, "failed");
        assert_eq!(text(&failed, "failureCode"), "wrong_amount");
    }
}

#[test]
fn what_is_paid_after_it_was_called_off_contradicts() {
    let world = World::start();
    let created = world.ask("push").expect(201);
    let canceled = world.live.cop_cancel(&created).expect(200);
    assert_eq!(text(&canceled, "status"), "canceled");
    world.wompi.settle("APPROVED");
    let found = world.until_operations("contradicted", 1).remove(0);
    assert_eq!((&found["operationId"], text(&found, "kind")), (&created["operationId"], "cop_payment"));
    assert_eq!(world.live.get(&cop_path(&created)).expect(200)["status"], "canceled");
    assert_eq!(world.live.cop_books()["ledgerNetCop"], "0");
    assert_eq!(world.events(), ["payment.canceled"]);
    // One that is paid first is not called off.
    let created = world.ask("push").expect(201);
    world.wompi.settle("APPROVED");
    world.live.cop_cancel(&created).refused(409, "payment_not_pending");
    assert_eq!(world.until_status(&created, "completed")["status"], "completed");
}

#[test]
fn a_cancellation_waits_until_wompi_can_be_asked() {
    let world = World::start();
    let created = world.ask("push").expect(201);
    world.wompi.next("get", Fault::DropBefore);
    world.wompi.next("list", Fault::DropBefore);
    assert_eq!(text(&world.live.cop_cancel(&created).expect(202), "status"), "pending");
    world.until_status(&created, "canceled");
}

#[test]
fn a_refund_is_an_operators() {
    let world = World::start();
    world.wompi.next("create", Fault::State("APPROVED"));
    let paid = world.ask("push").expect(201);
    world.live.assert_pesos("46250", "46250", "0");
    for (said, status, left) in [
        (json!({ "outcome": "refused", "failureCode": "no_funds" }), "completed", "46250"),
        (json!({ "outcome": "done", "reference": "R-81" }), "refunded", "0"),
    ] {
        // A key asks again after a refusal, as after a processor's.
        let refunding = world.live.keyed("refund").cop_refund(&paid).expect(202);
        assert_eq!(text(&refunding, "status"), "completed");
        let open = world.operations("unresolved");
        assert_eq!(open.len(), 1, "{open:?}");
        assert_eq!(
            [
                text(&open[0], "kind"),
                text(&open[0], "amount"),
                text(&open[0], "currency"),
                operation(&open[0])
            ],
            ["cop_refund", "46250", "COP", operation(&refunding)]
        );
        assert_eq!((&open[0]["askedAt"], &open[0]["asks"]), (&Value::Null, &json!(0)));
        assert!(world.operations("pending").is_empty());
        world.live.assert_pesos("46250", "46250", "0");
        world.live.cop_refund(&paid).refused(409, "refund_in_progress");
        let resolved = world.resolve(operation(&refunding), said).expect(200);
        assert_eq!(resolved["operationId"], Value::Null, "{resolved}");
        assert_eq!(text(&world.live.get(&cop_path(&paid)).expect(200), "status"), status);
        assert_eq!(world.live.cop_books()["ledgerNetCop"], left);
        world
            .resolve(operation(&refunding), json!({ "outcome": "done", "reference": "R-81" }))
            .refused(409, "operation_resolved");
    }
    assert_eq!(world.events(), ["payment.completed", "payment.reversed"]);
    let kinds = world.live.cop_rows();
    assert_eq!(rows(&kinds)[1], ("reversal", "-50000"));
    assert_eq!(world.wompi.asked("other").len(), 0, "Wompi is told nothing");
}

#[test]
fn documents_that_daviplata_does_not_know_are_refused_at_once() {
    let world = World::start();
    for document in ["CE", "TI", "NIT", "PP"] {
        let mut asked = body("sms");
        asked["buyer"]["documentType"] = json!(document);
        world.live.post("/v1/cop/payments", &asked).names(&["buyer.documentType"]);
    }
    assert!(world.wompi.asked("create").is_empty());
    // Test mode takes them as before.
    let mut asked = body("sms");
    asked["buyer"]["documentType"] = json!("CE");
    world.tenant.test.post("/v1/cop/payments", &asked).expect(201);
}

#[test]
fn an_operators_cancellation_is_in_the_audit_when_wompi_agrees_and_not_when_it_was_paid() {
    let mut world = World::with(&[("PASARELA__RAILS__POLL_SECONDS", "4")]);
    let cancel = |world: &World, payment: &Value| {
        world.server.admin().act(&format!("/admin/payments/{}/cancel", text(payment, "id")))
    };
    let rows = |world: &World| {
        let page = world.server.admin().get("/admin/audit?action=payment.cancel").expect(200);
        list(&page, "items").to_vec()
    };
    let paid = world.ask("push").expect(201);
    world.wompi.settle("APPROVED");
    cancel(&world, &paid).refused(409, "payment_not_pending");
    assert_eq!(rows(&world), [] as [Value; 0], "what was refused leaves no row");
    // Wompi is silent, and the power goes: whoever asked is remembered with the payment.
    let canceled = world.ask("push").expect(201);
    for call in ["get", "list"] {
        world.wompi.next(call, Fault::DropBefore);
    }
    assert_eq!(cancel(&world, &canceled).expect(202)["status"], "pending");
    assert_eq!(rows(&world), [] as [Value; 0], "nothing is changed yet");
    world.crash();
    world.until_status(&canceled, "canceled");
    let all = rows(&world);
    assert_eq!(all.len(), 1, "{all:?}");
    let expected = json!({ "target": canceled["id"], "tenantId": world.tenant.id, "approvalId": null });
    for (name, value) in expected.as_object().expect("members") {
        assert_eq!(&all[0][name], value, "{name} of {}", all[0]);
    }
    assert_eq!(all[0]["operator"]["operatorId"], "root", "{}", all[0]);
    let of = |side: &str| all[0][side]["status"].clone();
    assert_eq!((of("before"), of("after")), (json!("PENDING"), json!("CANCELED")), "{}", all[0]);
}
