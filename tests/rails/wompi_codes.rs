//! Daviplata's codes: sent once, tried twice, and never validated again.

use crate::fake_wompi::{CODE, Fault};
use crate::harness::check::text;
use crate::harness::pesos::cop_path;
use crate::wompi_world::{World, next};
use serde_json::{Value, json};

#[test]
fn a_code_is_sent_with_the_payment_and_typed() {
    let world = World::start();
    let created = world.ask("sms").expect(201);
    assert_eq!((next(&created), &created["next"]["phoneMasked"]), ("submit_otp", &json!("300***4567")));
    let method = &world.wompi.only().body["payment_method"];
    assert_eq!((&method["type"], &method["user_legal_id_type"]), (&json!("DAVIPLATA"), &json!("CC")));
    assert_eq!(method["user_legal_id"], "1020304050");
    assert!(text(method, "payment_description").len() <= 30);
    world.live.cop_otp(&created, "111111").refused(400, "invalid_otp");
    let paid = world.live.cop_otp(&created, CODE).expect(200);
    assert_eq!(text(&paid, "status"), "completed");
    world.live.assert_pesos("46250", "46250", "0");
    assert_eq!((world.wompi.asked("send").len(), world.wompi.asked("validate").len()), (1, 2));
}

#[test]
fn two_codes_may_be_tried_and_no_third_also_after_a_restart() {
    let mut world = World::start();
    let created = world.ask("sms").expect(201);
    for code in ["111111", "222222"] {
        world.live.cop_otp(&created, code).refused(400, "invalid_otp");
    }
    world.live.cop_otp(&created, CODE).refused(409, "otp_attempts_exhausted");
    world.crash();
    world.live.cop_otp(&created, CODE).refused(409, "otp_attempts_exhausted");
    assert_eq!(world.live.get(&cop_path(&created)).expect(200)["next"], Value::Null);
    world.wompi.settle("DECLINED");
    assert_eq!(world.until_status(&created, "failed")["failureCode"], "rejected");
    world.live.cop_otp(&created, CODE).refused(409, "otp_attempts_exhausted");
    assert_eq!(world.wompi.asked("validate").len(), 2);
}

#[test]
fn a_code_whose_answer_was_lost_is_never_validated_again() {
    for (fault, is_paid) in [(Fault::DropAfter, true), (Fault::Answer(500, json!({})), false)] {
        let world = World::start();
        let created = world.ask("sms").expect(201);
        world.wompi.next("validate", fault);
        let told = world.live.cop_otp(&created, CODE).expect(202);
        assert_eq!((text(&told, "status"), &told["next"]), ("pending", &Value::Null));
        world.live.cop_otp(&created, CODE).refused(409, "charge_in_progress");
        if !is_paid {
            world.until_looks(world.looks() + 2);
            world.live.cop_otp(&created, CODE).refused(409, "charge_in_progress");
            world.wompi.settle("DECLINED");
        }
        world.until_status(&created, if is_paid { "completed" } else { "failed" });
        assert_eq!(world.wompi.asked("validate").len(), 1);
    }
}

#[test]
fn a_code_that_comes_late_is_sent_by_a_look_and_once() {
    let mut world = World::start();
    world.wompi.ready(false);
    let created = world.ask("sms").expect(202);
    assert_eq!(created["next"], Value::Null);
    // Nothing of it was sent, and a process that starts anew knows that.
    world.crash();
    world.wompi.ready(true);
    let now = world.until(&created, |now| next(now) == "submit_otp");
    assert_eq!(text(&now, "status"), "pending");
    assert_eq!(world.wompi.asked("send").len(), 1);
    assert_eq!(text(&world.live.cop_otp(&created, CODE).expect(200), "status"), "completed");
}

#[test]
fn a_code_that_comes_at_the_end_of_the_time_is_sent_by_the_call_itself() {
    // A call may take a second.
    let world = World::start();
    world.wompi.ready(false);
    let created = std::thread::scope(|threads| {
        threads.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(650));
            world.wompi.ready(true);
        });
        world.ask("sms").expect(201)
    });
    assert_eq!(next(&created), "submit_otp", "{created}");
    assert_eq!(world.wompi.asked("send").len(), 1);
}

#[test]
fn a_code_that_may_have_been_sent_is_not_sent_again() {
    let mut world = World::start();
    world.wompi.next("send", Fault::DropAfter);
    let created = world.ask("sms").expect(201);
    world.wompi.change(|transaction| transaction.shows_newest = true);
    assert_eq!(next(&created), "submit_otp", "the buyer may have it");
    world.crash();
    world.until_looks(world.looks() + 2);
    assert_eq!(world.wompi.asked("send").len(), 1);
    // The token of now is asked for: the one in memory is gone.
    assert_eq!(text(&world.live.cop_otp(&created, CODE).expect(200), "status"), "completed");
}

#[test]
fn the_token_that_a_code_gave_outlives_the_process_and_is_shown_nowhere() {
    let mut world = World::start();
    let created = world.ask("sms").expect(201);
    let id = world.wompi.only().id;
    // The transaction is shown with the first token for ever: what sending the code gave is in the log alone.
    world.crash();
    world.live.cop_otp(&created, "111111").refused(400, "invalid_otp");
    world.crash();
    assert_eq!(text(&world.live.cop_otp(&created, CODE).expect(200), "status"), "completed");
    assert_eq!((world.wompi.asked("send").len(), world.wompi.asked("validate").len()), (1, 2));
    let token = format!("token-{id}-1");
    assert!(!world.server.log_tail().contains(&token));
    world.server.kill();
    let printed = world.server.command(&["wal", "inspect"]);
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    let printed = String::from_utf8_lossy(&printed.stdout);
    assert!(printed.contains("cop_payment") && !printed.contains(&token), "{printed}");
}

#[test]
fn a_code_that_is_taken_and_then_declined_ends_the_payment() {
    let world = World::start();
    let created = world.ask("sms").expect(201);
    // Daviplata takes the code; the transaction is declined all the same.
    world.wompi.next("validate", Fault::Answer(200, json!({ "steps": {} })));
    world.wompi.settle("DECLINED");
    let key = world.live.keyed("code");
    let failed = key.cop_otp(&created, CODE).expect(200);
    assert_eq!((text(&failed, "status"), &failed["failureCode"]), ("failed", &json!("rejected")));
    let again = key.cop_otp(&created, CODE);
    assert_eq!((again.header("idempotent-replayed"), again.expect(200)), (Some("true"), failed.clone()));
    assert_eq!(world.live.get(&cop_path(&created)).expect(200)["failureCode"], "rejected");
    world.live.cop_otp(&created, CODE).refused(409, "payment_not_pending");
    assert_eq!(world.events(), ["payment.failed"]);
    // The answer comes late, and so does the end: whoever typed the code is answered that.
    let created = world.ask("sms").expect(201);
    world.wompi.next("validate", Fault::Answer(200, json!({ "steps": {} })));
    let key = world.live.keyed("late");
    assert_eq!(text(&key.cop_otp(&created, CODE).expect(202), "status"), "pending");
    world.wompi.settle("DECLINED");
    world.until_status(&created, "failed");
    assert_eq!(text(&key.cop_otp(&created, CODE).expect(200), "status"), "failed");
}

#[test]
fn what_daviplata_did_nothing_about_does_not_count() {
    let world = World::start();
    for status in [400, 401, 403, 404, 409, 429] {
        let created = world.ask("sms").expect(201);
        let fault = || Fault::Answer(status, json!({ "error": { "type": "NO", "reason": "no" } }));
        // More often than codes may be tried.
        for _ in 0..3 {
            world.wompi.next("validate", fault());
            world.live.cop_otp(&created, CODE).refused(503, "rail_unavailable");
        }
        assert_eq!(next(&world.live.get(&cop_path(&created)).expect(200)), "submit_otp", "{status}");
        assert_eq!(text(&world.live.cop_otp(&created, CODE).expect(200), "status"), "completed", "{status}");
        // No code was sent, so the buyer types none yet; the next look has it sent.
        world.wompi.next("send", fault());
        let created = world.ask("sms").expect(202);
        assert_eq!(created["next"], Value::Null, "{status}");
        world.live.cop_otp(&created, CODE).refused(409, "charge_in_progress");
        world.until(&created, |now| next(now) == "submit_otp");
        assert_eq!(text(&world.live.cop_otp(&created, CODE).expect(200), "status"), "completed", "{status}");
    }
    // They are answers: the circuit stays closed.
    world.ask("push").expect(201);
}
