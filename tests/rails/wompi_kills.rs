//! SIGKILL around what comes after an order of pesos: a QR code that a buyer scans, an event of Wompi that
//! arrives, a refund that an operator settles. Wompi is the sandbox where events come by themselves.

use crate::fake_wompi::{EVENTS_SECRET, Fault, INTEGRITY_SECRET, PRIVATE_KEY, PUBLIC_KEY};
use crate::harness::check::{list, text};
use crate::harness::client::{Answer, Api};
use crate::harness::pesos::cop_path;
use crate::harness::server::Server;
use crate::sandbox_process::SandboxProcess;
use crate::wompi_world::{World, activate, body, environment, next};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(90);

/// The server is killed so long after a request has begun, and started again.
fn killed(server: &mut Server, moment_ms: u64, request: impl FnOnce() -> Result<Answer, String> + Send) {
    scope(|scope| {
        let asking = scope.spawn(request);
        sleep(Duration::from_millis(moment_ms));
        server.kill();
        let _ = asking.join().expect("no panic");
    });
    server.restart();
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: never");
        sleep(Duration::from_millis(50));
    }
}

fn payments(api: &Api) -> Vec<Value> {
    let page = api.query("/v1/payments", &[("method", "COP"), ("limit", "100")]).expect(200);
    list(&page, "items").to_vec()
}

#[test]
fn a_code_to_scan_is_of_one_transaction_whatever_is_killed_when() {
    let mut world = World::start();
    let faults = [
        (None, 25),
        (Some(("create", Fault::DropAfter)), 9),
        (Some(("create", Fault::DropBefore)), 9),
        (Some(("create", Fault::Answer(502, json!({})))), 9),
        (Some(("list", Fault::DropAfter)), 4),
        (Some(("get", Fault::Answer(502, json!({})))), 25),
    ];
    for (round, (fault, moment)) in faults.into_iter().enumerate() {
        if let Some((call, fault)) = fault {
            world.wompi.next(call, fault);
        }
        let api = world.live.keyed(&format!("scan-{round}"));
        killed(&mut world.server, moment, || api.try_post("/v1/cop/payments", &body("qr")));
        let asked = api.post("/v1/cop/payments", &body("qr"));
        assert!(matches!(asked.status, 201 | 202), "{}", asked.text());
    }
    let count = payments(&world.live).len();
    until("every one has its code", || {
        let shown = payments(&world.live);
        let has_code = |item: &Value| next(&world.live.get(&cop_path(item)).expect(200)) == "show_qr";
        shown.iter().all(has_code)
    });
    world.wompi.settle_all("APPROVED");
    until("all are paid", || payments(&world.live).iter().all(|item| item["status"] == "COMPLETED"));
    let made = world.wompi.transactions();
    let references: BTreeSet<&str> = made.iter().map(|one| text(&one.body, "reference")).collect();
    assert_eq!((references.len(), made.len()), (count, count), "a payment is one transaction");
    assert!(made.iter().all(|one| one.body["payment_method"]["type"] == "BANCOLOMBIA_QR"));
    let net = (46_250 * count).to_string();
    world.live.assert_pesos(&net, &net, "0");
    assert_eq!(world.events().len(), count);
}

#[test]
fn a_refund_is_given_once_whatever_is_killed_around_the_operators_word() {
    let mut world = World::start();
    let admin = world.server.admin();
    let rounds = [(2, "done"), (6, "refused"), (20, "done")];
    for (round, (moment, outcome)) in rounds.into_iter().enumerate() {
        // Of one payment Wompi's answer was lost, and it is known by a question.
        let is_lost = round == 1;
        world.wompi.next("create", if is_lost { Fault::DropAfter } else { Fault::State("APPROVED") });
        let asked = world.ask("push").json();
        world.wompi.settle("APPROVED");
        let paid = world.until_status(&asked, "completed");
        let path = format!("{}/refund", cop_path(&paid));
        let keyed = world.live.keyed(&format!("refund-{round}"));
        killed(&mut world.server, moment, || keyed.try_post(&path, &json!({})));
        let refunding = keyed.post(&path, &json!({})).expect(202);
        let operation = text(&refunding, "operationId").to_owned();
        assert_eq!(world.operations("unresolved").len(), 1, "one refund is open");
        let said = match outcome {
            "done" => json!({ "outcome": "done", "reference": format!("R-{round}"), "note": "in the panel" }),
            _ => json!({ "outcome": "refused", "failureCode": "no_funds", "note": "in the panel" }),
        };
        let path = format!("/admin/operations/{operation}/resolve");
        killed(&mut world.server, moment, || admin.try_post(&path, &said));
        let again = admin.post(&path, &said);
        assert!(again.status == 200 || again.json()["error"] == "operation_resolved", "{}", again.text());
        admin.post(&path, &said).refused(409, "operation_resolved");
        let now = world.live.get(&cop_path(&paid)).expect(200);
        if outcome == "refused" {
            assert_eq!(now["status"], "completed", "{now}");
            world.live.assert_pesos("46250", "46250", "0");
            // Nobody can be asked about it, so another may begin.
            let refunding = world.live.cop_refund(&paid).expect(202);
            let said = json!({ "outcome": "done", "reference": format!("R-{round}") });
            world.resolve(text(&refunding, "operationId"), said).expect(200);
        }
        let now = world.live.get(&cop_path(&paid)).expect(200);
        assert_eq!(now["status"], "refunded", "{now}");
        world.live.assert_pesos("0", "0", "0");
    }
    let reversed = world.events().iter().filter(|event| *event == "payment.reversed").count();
    assert_eq!(reversed, rounds.len(), "each was given back once");
    assert_eq!(world.wompi.transactions().len(), rounds.len());
    assert!(world.operations("unresolved").is_empty() && world.operations("contradicted").is_empty());
    assert_eq!(world.wompi.asked("other").len(), 0, "Wompi is told nothing");
}

/// The sandbox as Wompi, whose events come at once and again until one is taken.
fn sandbox(gateway: &Server, data: &std::path::Path) -> SandboxProcess {
    let url = gateway.url();
    let secrets = ["--events-secret", EVENTS_SECRET, "--integrity-secret", INTEGRITY_SECRET];
    let keys = ["--public-key", PUBLIC_KEY, "--private-key", PRIVATE_KEY, "--gateway", &url];
    let pace = ["--settle-ms", "1", "--event-retry-seconds", "1,1,1,1,1,1,1,1,1,1"];
    SandboxProcess::start("wompi", &[&secrets[..], &keys[..], &pace[..]].concat(), data)
}

#[test]
fn an_event_moves_money_once_whatever_is_killed_when_it_comes() {
    let mut server = Server::start();
    let data = tempfile::tempdir().expect("a folder");
    let wompi = sandbox(&server, data.path());
    server.kill();
    for (name, value) in environment(&format!("{}/v1", wompi.url)) {
        server.set(&name, &value);
    }
    server.restart();
    let tenant = server.tenant();
    activate(&server, &tenant);
    let api = &tenant.live;
    // An event that comes twice, one that never comes, and one that nobody signed.
    wompi.faults(&json!([
        { "fault": "twice", "operation": "event", "every": 3 },
        { "fault": "silent_before", "operation": "event", "skip": 1, "first": 1 },
        { "fault": "unauthorized", "operation": "event", "skip": 3, "first": 1 },
    ]));
    let rounds = [(0, "APPROVED"), (2, "DECLINED"), (5, "APPROVED"), (25, "APPROVED")];
    let mut asked = Vec::new();
    for (moment, status) in rounds {
        // A code is typed or not: of the channels this one alone waits until somebody settles it.
        let payment = api.post("/v1/cop/payments", &body("sms"));
        assert!(matches!(payment.status, 201 | 202), "{}", payment.text());
        let payment = payment.json();
        let settle = json!({ "reference": payment["operationId"], "status": status });
        let developers = wompi.developers();
        killed(&mut server, moment, || {
            let settled = developers.try_post("/sandbox/settle", &settle)?;
            assert_eq!(settled.status, 200, "{}", settled.text());
            Ok(settled)
        });
        asked.push((payment, status));
    }
    for (payment, status) in &asked {
        let wanted = if *status == "APPROVED" { "completed" } else { "failed" };
        until(wanted, || api.get(&cop_path(payment)).expect(200)["status"] == wanted);
    }
    let paid = rounds.iter().filter(|(_, status)| *status == "APPROVED").count();
    let net = (46_250 * paid).to_string();
    api.assert_pesos(&net, &net, "0");
    let told: Vec<String> = api.told().into_iter().map(|(name, _)| name).collect();
    let of = |wanted: &str| told.iter().filter(|name| *name == wanted).count();
    assert_eq!((of("payment.completed"), of("payment.failed")), (paid, rounds.len() - paid), "{told:?}");
    let books = wompi.developers().get("/sandbox/books").expect(200);
    assert_eq!(list(&books, "transactions").len(), rounds.len(), "{books}");
    // Every event is taken in the end, and the late ones change nothing.
    let is_taken = |one: &Value| list(one, "events_taken").contains(&one["status"]);
    until("every event is taken", || {
        list(&wompi.developers().get("/sandbox/books").expect(200), "transactions").iter().all(is_taken)
    });
    api.assert_pesos(&net, &net, "0");
    let contradicted = server.admin().get("/admin/operations?status=contradicted").expect(200);
    assert!(list(&contradicted, "items").is_empty(), "{contradicted}");
}
