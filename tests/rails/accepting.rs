//! The accepting of what lines answer, a few at a time or twice at once; reversals that the bank made twice;
//! and a reconciliation while it runs (`docs/contract.md, 20.7`).

use crate::harness::check::{list, text};
use crate::harness::client::Answer;
use crate::harness::flows::{UNKNOWN, fresh};
use crate::reconciliation::{HEADER, World, assert_counts, says, today, until};
use chrono::NaiveDate;
use serde_json::{Value, json};
use std::thread::scope;

/// Lines of the file that is long enough to be seen at work.
const MANY: usize = 60_000;
/// Tenants whose entries are gathered for it, one after the other.
const TENANTS: usize = 24;

/// Charges of so many dollars each that nobody can tell the outcome of.
#[track_caller]
fn opened(world: &World, dollars: std::ops::Range<i64>) -> Vec<Value> {
    world.bank.set("/MBc2p", says(&json!({ "code": "68", "message": "RESPUESTA TARDIA" })));
    let charges: Vec<Value> = dollars.map(|usd| world.tenant.live.pay_with(usd, "12345678")).collect();
    until("all are unresolved", || unresolved(world) == charges.len());
    charges
}

fn unresolved(world: &World) -> usize {
    let page = world.server.admin().get("/admin/operations?status=unresolved&limit=100").expect(200);
    list(&page, "items").len()
}

/// A line for each of these charges.
fn lines(day: NaiveDate, charges: &[Value]) -> String {
    let line = |(n, charge): (usize, &Value)| format!("{day},9031{n:04},{},credit,,\n", charge["vesAmount"]);
    format!("{HEADER}\n{}", charges.iter().enumerate().map(line).collect::<String>())
}

fn statuses(world: &World, charges: &[Value]) -> Vec<String> {
    charges.iter().map(|charge| text(&world.tenant.live.payment(charge), "status").to_owned()).collect()
}

/// How many rows of the audit have an action.
fn rows(world: &World, action: &str) -> usize {
    let page = world.server.admin().get(&format!("/admin/audit?limit=100&action={action}")).expect(200);
    list(&page, "items").len()
}

#[test]
fn some_proposals_are_accepted_now_and_the_others_later() {
    let world = World::start();
    let charges = opened(&world, 10..13);
    let day = today();
    let file = lines(day, &charges);
    let found = world.ended(&file, (day, day));
    let id = text(&found, "id");
    assert_counts(&found, &[("proposals", 3), ("missingHere", 0), ("missingThere", 0)]);
    let proposals = world.items(id, "result=proposal");
    let [first, second, third] = [0, 1, 2].map(|n| proposals[n]["id"].clone());
    let resolved = |item: &Value| json!({ "id": item, "error": "operation_resolved" });

    let accepted = world.accept(id, &json!({ "items": [second] })).expect(200);
    assert_eq!(accepted, json!({ "accepted": 1, "refused": [] }));
    assert_eq!(statuses(&world, &charges), ["PENDING", "COMPLETED", "PENDING"]);
    let shown = world.tenant.live.payment(&charges[1]);
    assert_eq!(shown["bankReference"], "90310001", "{shown}");
    // One that is known and one that is new: each has its own answer.
    let accepted = world.accept(id, &json!({ "items": [second, first, first] })).expect(200);
    assert_eq!(accepted, json!({ "accepted": 1, "refused": [resolved(&second)] }));
    assert_eq!(statuses(&world, &charges), ["COMPLETED", "COMPLETED", "PENDING"]);
    // Another file proposes what is left, and may be what it is accepted by.
    let other = world.ended(&format!("{file}\n"), (day, day));
    assert_counts(&other, &[("matched", 2), ("proposals", 1)]);
    let accepted = world.accept(text(&other, "id"), &json!({ "all": true })).expect(200);
    assert_eq!(accepted, json!({ "accepted": 1, "refused": [] }));
    let late = world.accept(id, &json!({ "items": [third, UNKNOWN] })).expect(200);
    let unknown = json!({ "id": UNKNOWN, "error": "not_found" });
    assert_eq!(late, json!({ "accepted": 0, "refused": [unknown, resolved(&third)] }));
    assert_eq!(statuses(&world, &charges), ["COMPLETED"; 3]);
    assert_eq!((rows(&world, "reconciliation.accept"), rows(&world, "operation.resolve")), (3, 3));
    assert_eq!(completed(&world), 3);
    world.tenant.live.books();
}

/// How many payments the tenant was told to be completed.
fn completed(world: &World) -> usize {
    let events = world.tenant.live.walk("/v1/events", &[], 100);
    events.iter().filter(|event| event["event"] == "payment.completed").count()
}

#[test]
fn a_double_click_accepts_once() {
    let world = World::start();
    let charges = opened(&world, 20..26);
    let day = today();
    let found = world.ended(&lines(day, &charges), (day, day));
    let id = text(&found, "id");
    assert_counts(&found, &[("proposals", 6)]);
    let answers: Vec<Value> = scope(|scope| {
        let clicks = [(); 4].map(|()| scope.spawn(|| world.accept(id, &json!({ "all": true })).expect(200)));
        clicks.into_iter().map(|click| click.join().expect("no panic")).collect()
    });
    let accepted: u64 = answers.iter().map(|answer| answer["accepted"].as_u64().expect("a number")).sum();
    assert_eq!(accepted, 6, "{answers:?}");
    for answer in &answers {
        let refused = list(answer, "refused");
        assert_eq!(answer["accepted"].as_u64(), Some(6 - refused.len() as u64), "{answer}");
        assert!(refused.iter().all(|item| item["error"] == "operation_resolved"), "{answer}");
    }
    assert_eq!(statuses(&world, &charges), ["COMPLETED"; 6]);
    assert_eq!((rows(&world, "operation.resolve"), completed(&world)), (6, 6));
    world.tenant.live.books();
    // A click that is sent again under its key is the same click.
    let keyed = world.server.admin().keyed(&fresh("accept"));
    let path = format!("/admin/reconciliations/{id}/accept");
    let [first, again]: [Answer; 2] = [(); 2].map(|()| keyed.post(&path, &json!({ "all": true })));
    assert_eq!((first.text(), again.header("idempotent-replayed")), (again.text(), Some("true")));
}

#[test]
fn a_second_reversal_of_a_payment_in_the_file_is_missing_here() {
    let world = World::start();
    let (twice, again) = (world.charged(1, "81230001"), world.charged(2, "81230002"));
    world.bank.set("/MBanulacionC2P", says(&json!({ "code": "00", "reference": "66667777" })));
    world.tenant.live.reverse(&twice).expect(200);
    // Of this one an operator was told that the bank had not made it, and then another was made.
    world.bank.set("/MBanulacionC2P", says(&json!({ "code": "68", "message": "RESPUESTA TARDIA" })));
    let waiting = world.tenant.live.reverse(&again).expect(202);
    let path = format!("/admin/operations/{}/resolve", text(&waiting, "operationId"));
    let said = json!({ "outcome": "refused", "failureCode": "AM04", "note": "the help desk says so" });
    world.server.admin().post(&path, &said).expect(200);
    world.bank.set("/MBanulacionC2P", says(&json!({ "code": "00", "reference": "77770002" })));
    world.tenant.live.reverse(&again).expect(200);
    let books = world.tenant.live.books();
    let day = today();
    let file = format!(
        "{HEADER}\n{day},81230001,200.00,credit,,\n{day},81230002,400.00,credit,,\n\
         {day},66667777,200.00,debit,,\n{day},66668888,200.00,debit,,\n\
         {day},77770001,400.00,debit,,\n{day},77770002,400.00,debit,,\n"
    );
    let found = world.ended(&file, (day, day));
    assert_counts(&found, &[("matched", 4), ("missingHere", 2), ("proposals", 0), ("missingThere", 0)]);
    let items = world.items(text(&found, "id"), "result=missingHere");
    let missing: Vec<&str> = items.iter().map(|item| text(&item["line"], "reference")).collect();
    assert_eq!(missing, ["66668888", "77770001"], "the bank gave each back once more than we know");
    assert_eq!(world.tenant.live.books(), books, "looking moves no money");
}

#[test]
fn a_line_answers_the_second_reversal_of_a_payment() {
    let world = World::start();
    let paid = world.charged(1, "81230001");
    world.bank.set("/MBanulacionC2P", says(&json!({ "code": "41", "message": "NEGADA" })));
    world.tenant.live.reverse(&paid).refused(409, "reversal_refused");
    world.bank.set("/MBanulacionC2P", says(&json!({ "code": "68", "message": "RESPUESTA TARDIA" })));
    let waiting = world.tenant.live.reverse(&paid).expect(202);
    until("it is unresolved", || unresolved(&world) == 1);
    let day = today();
    let file = format!("{HEADER}\n{day},81230001,200.00,credit,,\n{day},55500001,200.00,debit,,\n");
    let found = world.ended(&file, (day, day));
    assert_counts(&found, &[("matched", 1), ("proposals", 1)]);
    let proposal = world.items(text(&found, "id"), "result=proposal").remove(0);
    assert_eq!(proposal["ours"]["id"], waiting["operationId"], "{proposal}");
    world.accept(text(&found, "id"), &json!({ "items": [proposal["id"]] })).expect(200);
    let reversed = world.tenant.live.payment(&paid);
    let known = (&reversed["status"], &reversed["reversalRef"]);
    assert_eq!(known, (&json!("REVERSED"), &json!("55500001")), "{reversed}");
    assert_counts(&world.ended(&format!("{file}\n"), (day, day)), &[("matched", 2), ("missingThere", 0)]);
}

#[test]
fn a_reconciliation_says_how_far_it_is_while_it_runs() {
    let world = World::start();
    for _ in 1..TENANTS {
        world.server.tenant();
    }
    world.charged(1, "81230001");
    let day = today();
    let long: String = (0..MANY).map(|n| format!("{day},7{n:07},3.00,credit,,\n")).collect();
    let file = format!("{HEADER}\n{day},81230001,200.00,credit,,\nno,1,1.00,credit,,\n{long}");
    let begun = world.upload(&file, (day, day)).expect(202);
    let id = text(&begun, "id");
    let mut seen = Vec::new();
    until("it ends", || {
        let now = world.read(id);
        let is_running = now["status"] == "running";
        seen.push(now);
        if is_running {
            // The file is long, so this is still so, or it has just ended.
            let page = world.items(id, "limit=1");
            assert!(page.is_empty() || world.read(id)["status"] == "done", "{page:?}");
        }
        !is_running
    });
    let ended = seen.pop().expect("the end was seen");
    assert_counts(&ended, &[("lines", MANY as u64 + 2), ("matched", 1), ("bad", 1), ("progress", 100)]);
    assert_eq!(ended["missingHere"], MANY, "{}", ended["missingHere"]);
    assert!(!seen.is_empty(), "a file of {MANY} lines was never seen at work");
    let mut before = 0;
    for now in &seen {
        let progress = now["progress"].as_u64().expect("a number");
        assert!((before..100).contains(&progress), "{progress} after {before}");
        before = progress;
        // What is known from the beginning is shown from the beginning; what came of it at the end.
        for (name, value) in [("lines", MANY + 2), ("bad", 1), ("matched", 0), ("missingHere", 0)] {
            assert_eq!(now[name], value, "{name} of {now}");
        }
        assert_eq!((&now["badLines"][0]["line"], &now["endedAt"]), (&json!(3), &Value::Null), "{now}");
    }
    let again = world.upload(&file, (day, day)).expect(200);
    assert_eq!((&again["id"], &again["status"]), (&json!(id), &json!("done")));
}
