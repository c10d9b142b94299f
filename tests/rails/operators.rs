//! What operators see and do about live rails, through a real server whose bank is the test's own:
//! lists, resolves, figures, going live and `pasarela check` (`docs/contract.md, 18.1, 18.7`).

use crate::harness::check::{assert_texts, instant, list, text};
use crate::harness::client::Api;
use crate::harness::flows::{UNKNOWN, fresh, method_path};
use crate::harness::server::{Server, Tenant};
use crate::harness::source::{Behaviour, Source};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How long something that is bound to come may take.
const PATIENCE: Duration = Duration::from_secs(90);
const TOKEN: &str = "commerce-token-that-is-secret";
/// The bank's id of an operation.
const BANKS_ID: &str = "7f0d7c1e-5d0c-4a63-9c0e-3f1f1e7c9a10";

/// A server with a bank, and a tenant that may use live mode.
struct World {
    bank: Source,
    server: Server,
    tenant: Tenant,
}

fn says(body: Value) -> Behaviour {
    Behaviour::Says(200, body.to_string())
}

fn code(code: &str, message: &str) -> Behaviour {
    says(json!({ "code": code, "message": message }))
}

/// A server whose orders are looked at every two seconds, and are an operator's after four.
fn server_at(base: &str) -> Server {
    Server::start_with(&[
        ("PASARELA__RAILS__R4__BASE_URL", base),
        ("PASARELA__RAILS__R4__COMMERCE_TOKEN", TOKEN),
        ("PASARELA__RAILS__R4__TIMEOUT_SECONDS", "1"),
        ("PASARELA__RAILS__POLL_SECONDS", "2"),
        ("PASARELA__RAILS__PROBE_SECONDS", "1"),
        ("PASARELA__RAILS__UNRESOLVED_AFTER_SECONDS", "4"),
    ])
}

impl World {
    fn start() -> World {
        let bank = Source::start();
        bank.set("/MBbcv", code("01", "COTIZACION NO ENCONTRADA"));
        let server = server_at(&bank.url(""));
        let tenant = server.tenant();
        activate(&server, &tenant.id);
        server.price_live();
        World { bank, server, tenant }
    }

    fn live(&self) -> &Api {
        &self.tenant.live
    }

    /// A debit of 10 dollars.
    #[track_caller]
    fn debit(&self) -> Value {
        let body = json!({
            "banco": "0134", "cedula": "V12345678", "telefono": "04141234567", "nombre": "Ana Perez",
            "monto": 100, "otp": "12345678", "concepto": "camisa", "externalRef": fresh("debit"),
        });
        self.live().post("/v1/payments/debit", &body).expect(202)
    }

    #[track_caller]
    fn listed(&self, query: &str) -> Vec<Value> {
        list(&self.server.admin().get(&format!("/admin/operations?{query}")).expect(200), "items").to_vec()
    }

    /// The operation, once it has this status.
    #[track_caller]
    fn once(&self, status: &str, operation: &str) -> Value {
        let query = format!("status={status}&rail=r4&tenantId={}", self.tenant.id);
        let find = || self.listed(&query).into_iter().find(|item| item["operationId"] == operation);
        until(&format!("{operation} is {status}"), || find().is_some());
        find().expect("it was there")
    }

    #[track_caller]
    fn resolve(&self, operation: &str, said: &Value) -> Value {
        self.server.admin().post(&path(operation), said).expect(200)
    }

    /// The figure with this name and labels.
    fn figure(&self, name: &str) -> Option<u64> {
        let page = self.server.admin().get("/metrics");
        page.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
    }

    /// What the status says of the bank.
    #[track_caller]
    fn rail(&self) -> Value {
        let status = self.server.admin().get("/admin/status").expect(200);
        let live = list(&status["rails"], "live");
        assert_eq!(live.len(), 1, "{status}");
        live[0].clone()
    }

    fn calls(&self, operation: &str) -> usize {
        self.bank.seen(&format!("/{operation}")).len()
    }
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: never");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[track_caller]
fn activate(server: &Server, tenant: &str) -> Value {
    set_status(server, tenant, "active")
}

#[track_caller]
fn set_status(server: &Server, tenant: &str, status: &str) -> Value {
    let path = format!("/admin/tenants/{tenant}/live-status");
    server.admin().post(&path, &json!({ "status": status })).expect(200)
}

fn path(operation: &str) -> String {
    format!("/admin/operations/{operation}/resolve")
}

fn done(reference: &str) -> Value {
    json!({ "outcome": "done", "reference": reference, "note": "on the bank's statement" })
}

fn refused(code: &str) -> Value {
    json!({ "outcome": "refused", "failureCode": code, "note": "the bank's help desk, ticket 4711" })
}

#[test]
fn what_cannot_be_asked_about_waits_for_an_operator_who_says_it_once() {
    let world = World::start();
    world.bank.set("/MBc2p", code("68", "RESPUESTA TARDIA"));
    let payment = world.live().pay_with(10, "12345678");
    assert_texts(&payment, &[("status", "PENDING")]);
    let operation = text(&payment, "operationId");
    let pending = world.once("pending", operation);
    let expected = json!({
        "operationId": operation, "kind": "c2p", "rail": "r4", "tenantId": world.tenant.id, "mode": "live",
        "entity": { "type": "payment", "id": payment["paymentId"] }, "amount": "2000.00", "currency": "VES",
        "askedAt": null, "asks": 0, "bankCode": "68", "bankText": "RESPUESTA TARDIA", "status": "pending",
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&pending[name], value, "{name} of {pending}");
    }
    assert!(instant(&pending["sentAt"]) >= instant(&payment["createdAt"]), "{pending}");
    let unresolved = world.once("unresolved", operation);
    assert_eq!((&unresolved["asks"], &unresolved["askedAt"]), (&json!(0), &Value::Null));
    assert!(world.listed("status=pending").is_empty(), "one of both");
    assert!(world.listed("status=unresolved&rail=wompi").is_empty());
    assert!(world.listed(&format!("status=unresolved&tenantId={UNKNOWN}")).is_empty());
    until("it is counted", || world.figure("pasarela_rail_unresolved") == Some(1));
    assert_eq!(world.rail()["unresolved"], 1);

    let admin = world.server.admin();
    admin.post(&path(UNKNOWN), &done("1")).refused(404, "not_found");
    admin.post(&path(operation), &json!({ "outcome": "done" })).names(&["note", "reference"]);
    let both = json!({ "outcome": "refused", "reference": "1", "note": "n" });
    admin.post(&path(operation), &both).names(&["reference", "failureCode"]);
    let long = json!({ "outcome": "refused", "failureCode": "A".repeat(33), "note": "n".repeat(501) });
    admin.post(&path(operation), &long).names(&["failureCode", "note"]);
    let resolved = world.resolve(operation, &done("90311223"));
    assert_texts(&resolved, &[("status", "COMPLETED"), ("bankReference", "90311223")]);
    assert_eq!(resolved, world.live().payment(&payment));
    admin.post(&path(operation), &refused("AM04")).refused(409, "operation_resolved");
    until("nothing is left", || world.figure("pasarela_rail_unresolved") == Some(0));
    assert!(world.listed("status=unresolved").is_empty() && world.listed("").is_empty());
    assert_eq!((world.calls("MBc2p"), world.calls("ConsultarOperaciones")), (1, 0), "sent once, never asked");
}

#[test]
fn a_bank_that_can_be_asked_settles_what_is_unresolved_and_may_contradict_an_operator() {
    let world = World::start();
    world.bank.set("/ConsultarOperaciones", code("AC00", "EN ESPERA"));
    let [settled, told] = [BANKS_ID, "d3b07384-d9a7-4f3b-8c0e-3f0b6f5f7a12"].map(|id| {
        let waits = json!({ "code": "AC00", "message": "EN ESPERA", "id": id });
        world.bank.set("/DebitoInmediato", says(waits));
        world.debit()
    });
    let operations = [text(&settled, "operationId"), text(&told, "operationId")];
    for operation in operations {
        let unresolved = world.once("unresolved", operation);
        assert_texts(&unresolved, &[("kind", "debit"), ("bankCode", "AC00")]);
    }
    until("it is asked on", || world.once("unresolved", operations[1])["asks"].as_u64() > Some(2));
    let asked = world.once("unresolved", operations[1]);
    assert!(instant(&asked["askedAt"]) > instant(&asked["sentAt"]), "{asked}");

    // An operator refuses one; then the bank says that it did both.
    let resolved = world.resolve(operations[1], &refused("AM04"));
    assert_texts(&resolved, &[("status", "FAILED"), ("failureCode", "AM04")]);
    let accepted = json!({ "code": "ACCP", "message": "ACEPTADA", "reference": "001122#", "success": true });
    world.bank.set("/ConsultarOperaciones", Behaviour::Counts(accepted.to_string()));
    until("the bank settles one", || world.live().payment(&settled)["status"] == "COMPLETED");
    let contradicted = world.once("contradicted", operations[1]);
    assert_texts(&contradicted, &[("status", "contradicted"), ("rail", "r4")]);
    assert!(text(&contradicted, "bankReference").starts_with("001122"), "{contradicted}");
    assert_texts(&world.live().payment(&told), &[("status", "FAILED"), ("failureCode", "AM04")]);
    let shown = world.live().get(&format!("/v1/payments/operations/{}", operations[1])).expect(200);
    assert_eq!(shown["contradicted"], json!(true));
    assert_eq!(world.figure("pasarela_rail_contradicted_total"), Some(1));
    let events = world.live().walk("/v1/events", &[], 100);
    assert!(events.iter().all(|event| event["event"] != "operation.contradicted"), "{events:?}");
    assert_eq!(text(&world.live().books(), "ledgerNetVes"), "98.50", "the other sale alone");
    assert!(
        world.server.log_tail().contains("the opposite of what it had said"),
        "{}",
        world.server.log_tail()
    );
    assert!(world.listed("status=unresolved").is_empty());
    assert_eq!(world.calls("DebitoInmediato"), 2, "each sent once");
    world.server.admin().post(&path(operations[0]), &done("1")).refused(409, "operation_resolved");
}

#[test]
fn an_open_circuit_is_seen_until_the_bank_answers_a_probe() {
    let world = World::start();
    let closed = world.rail();
    let serves: Vec<&str> = list(&closed, "serves").iter().filter_map(Value::as_str).collect();
    for service in ["C2P", "DEBIT", "PAGO_MOVIL", "PAYOUTS", "MICRO_DEPOSITS"] {
        assert!(serves.contains(&service), "{serves:?}");
    }
    assert_texts(&closed, &[("name", "r4"), ("circuit", "closed")]);
    assert_eq!(world.figure("pasarela_rail_circuit_open{rail=\"r4\"}"), Some(0));
    let error = Behaviour::Says(503, "{}".to_owned());
    world.bank.set("/MBc2p", error.clone());
    world.bank.set("/MBbcv", error);
    for _ in 0..5 {
        assert_eq!(world.live().pay_with(1, "12345678")["status"], "PENDING");
    }
    let open = world.rail();
    assert_texts(&open, &[("circuit", "open")]);
    assert!(open["calls"].as_u64() >= Some(5) && open["errors"].as_u64() >= Some(5), "{open}");
    assert!(open["p50Ms"].is_u64() && open["p99Ms"].is_u64(), "{open}");
    assert_eq!(world.figure("pasarela_rail_circuit_open{rail=\"r4\"}"), Some(1));
    let intent = world.live().intent(1);
    world.live().execute(&intent, "12345678", json!({})).refused(503, "rail_unavailable");
    world.bank.set("/MBbcv", code("01", "COTIZACION NO ENCONTRADA"));
    until("a probe closes it", || world.rail()["circuit"] == "closed");
    assert_eq!(world.figure("pasarela_rail_circuit_open{rail=\"r4\"}"), Some(0));
    assert_eq!((&closed["lastOkAt"], &open["lastOkAt"]), (&Value::Null, &Value::Null));
    assert!(instant(&world.rail()["lastOkAt"]) >= instant(&world.tenant.created["createdAt"]));
    assert_eq!(world.calls("MBc2p"), 5, "no charge was a probe");
}

#[test]
fn the_money_of_a_payout_follows_the_operators_word_and_deposits_have_one_too() {
    let world = World::start();
    world.bank.set("/MBvuelto", code("68", "RESPUESTA TARDIA"));
    let funds = json!({
        "mode": "live", "currency": "VES", "amount": "100.00", "description": "funds", "externalRef": fresh("funds"),
    });
    let adjustments = format!("/admin/tenants/{}/adjustments", world.tenant.id);
    world.server.admin().post(&adjustments, &funds).expect(201);
    let pay = |amount: &str| {
        let body = json!({
            "banco": "0134", "telefono": "04141234567", "cedula": "V12345678", "monto": amount, "concepto": "pago",
            "externalRef": fresh("credit"),
        });
        world.live().post("/v1/payments/credit", &body).expect(202)
    };
    let (gone, back) = (pay("30.00"), pay("20.00"));
    let listed = world.once("pending", text(&gone, "operationId"));
    assert_eq!((text(&listed, "kind"), text(&listed, "amount")), ("payout", "30.00"));
    assert_eq!(listed["entity"], json!({ "type": "payout", "id": gone["payoutId"] }));
    // One is settled while it is pending, the other when nobody can tell any more.
    let completed = world.resolve(text(&gone, "operationId"), &done("8812"));
    assert_texts(&completed, &[("status", "completed"), ("reference", "8812")]);
    world.once("unresolved", text(&back, "operationId"));
    assert_eq!(text(&world.live().balance(), "availableVes"), "50.00");
    let failed = world.resolve(text(&back, "operationId"), &refused("AM04"));
    assert_texts(&failed, &[("status", "failed"), ("failureCode", "AM04")]);
    assert_eq!(text(&world.live().balance(), "availableVes"), "70.00");

    let merchant = world.live().create_merchant(json!({})).expect(201);
    world.live().act(&format!("{}/verify/start", method_path(&merchant, 0))).expect(202);
    let found = || world.listed("status=unresolved").into_iter().find(|item| item["kind"] == "micro_deposit");
    until("the deposits are unresolved", || found().is_some());
    let deposits = found().expect("it was there");
    assert_eq!((&deposits["asks"], &deposits["askedAt"]), (&json!(0), &Value::Null));
    assert_eq!(deposits["entity"]["id"], merchant["payoutMethods"][0]["payoutMethodId"]);
    let operation = text(&deposits, "operationId");
    assert_eq!(world.resolve(operation, &done("1"))["merchantId"], merchant["merchantId"]);
    world.server.admin().post(&path(operation), &done("1")).refused(409, "operation_resolved");
    // Where the phone is not the client's, its method goes with the word; the operation is known all the same.
    let account = json!({ "bankCode": "0134", "phone": "04147654329", "identification": "V12345678" });
    world.live().put("/v1/payouts/account", &account).expect(201);
    let merchant = world.live().create_merchant(json!({})).expect(201);
    for start in
        [format!("{}/verify/start", method_path(&merchant, 0)), "/v1/payouts/account/verify/start".to_owned()]
    {
        world.live().act(&start).expect(202);
        until("the deposits are unresolved", || found().is_some());
        let operation = text(&found().expect("it was there"), "operationId").to_owned();
        world.resolve(&operation, &refused("BE01"));
        for said in [refused("BE01"), done("1")] {
            world.server.admin().post(&path(&operation), &said).refused(409, "operation_resolved");
        }
    }
    assert!(world.listed("status=unresolved").is_empty() && world.listed("status=pending").is_empty());
    assert_eq!(text(&world.live().balance(), "availableVes"), "70.00", "they are the platform's money");
}

/// The methods that warnings are about.
fn warned(answer: &Value) -> Vec<String> {
    let texts = list(answer, "warnings").iter().filter_map(Value::as_str);
    texts.map(|text| text.split_once(':').expect("a method and a text").0.to_owned()).collect()
}

/// The methods that are disabled because no rail serves them.
fn unserved(api: &Api) -> Vec<String> {
    let methods = api.get("/v1/payment-methods").expect(200);
    let unserved = list(&methods, "items").iter().filter(|item| item["reason"] == "rail_not_configured");
    unserved.map(|item| text(item, "method").to_owned()).collect()
}

#[test]
fn going_live_names_each_method_that_no_rail_serves() {
    let bare = Server::shared();
    let tenant = bare.tenant();
    let methods = ["C2P", "VPOS", "DEBIT", "PAGO_MOVIL", "COP", "USDT"];
    let prices = ["USD/VES OFFICIAL", "USDT/VES FLOOR", "USDT/COP BUY"];
    assert_eq!(warned(&activate(&bare, &tenant.id)), [&methods[..], &prices].concat());
    assert_eq!(unserved(&tenant.live), ["C2P", "VPOS", "DEBIT", "PAGO_MOVIL", "COP"]);
    assert_eq!(set_status(&bare, &tenant.id, "suspended").get("warnings"), None);

    let world = World::start();
    let again = activate(&world.server, &world.tenant.id);
    assert_eq!(warned(&again), ["VPOS", "COP", "USDT"], "at every activation");
    assert_eq!(unserved(world.live()), ["VPOS", "COP"]);
    assert!(unserved(&world.tenant.test).is_empty());
    // A repeat is the same answer.
    let keyed = world.server.admin().keyed(&fresh("operator"));
    let path = format!("/admin/tenants/{}/live-status", world.tenant.id);
    let first = keyed.post(&path, &json!({ "status": "active", "reason": "again" }));
    let second = keyed.post(&path, &json!({ "status": "active", "reason": "again" }));
    assert_eq!((first.text(), second.header("idempotent-replayed")), (second.text(), Some("true")));
    assert_eq!(warned(&first.json()), ["VPOS", "COP", "USDT"]);
    // The command line tells them apart from the answer.
    let output = world.server.command(&["admin", "tenant", "live-status", &world.tenant.id, "active"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.contains("warning: COP: no rail is configured"), "{errors}");
    let printed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(warned(&printed), ["VPOS", "COP", "USDT"]);
}

/// What `pasarela check` says, and its exit code.
fn checked(server: &Server) -> (Option<i32>, String) {
    let output = server.command(&["check"]);
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).expect("text");
    assert!(!text.contains(TOKEN), "{text}");
    (output.status.code(), text)
}

#[test]
fn a_check_says_line_by_line_what_a_rail_answers_and_moves_nothing() {
    let world = World::start();
    // Of the last days only one has a rate.
    let rate = |date: &str| says(json!({ "code": "00", "fechavalor": date, "tipocambio": 247.3051 }));
    let today =
        chrono::Utc::now().with_timezone(&chrono::FixedOffset::west_opt(4 * 3600).expect("an offset"));
    world.bank.set("/MBbcv", rate(&today.date_naive().to_string()));
    let (exit, said) = checked(&world.server);
    assert_eq!(exit, Some(0), "{said}");
    for line in
        ["r4       ok    reach", "r4       -     clock", "r4       ok    signature", "r4       ok    MBbcv"]
    {
        assert_eq!(said.matches(line).count(), 1, "{line}: {said}");
    }
    assert!(said.contains("247.3051"), "{said}");
    world.bank.set("/MBbcv", code("01", "COTIZACION NO ENCONTRADA"));
    let (exit, said) = checked(&world.server);
    assert!(exit == Some(1) && said.contains("r4       WRONG MBbcv"), "{said}");
    world.bank.set("/MBbcv", Behaviour::Says(401, json!({ "code": "08", "message": TOKEN }).to_string()));
    let (exit, said) = checked(&world.server);
    assert!(exit == Some(1) && said.contains("r4       WRONG signature"), "{said}");
    world.bank.set("/MBbcv", Behaviour::CutsOff);
    let (exit, said) = checked(&world.server);
    assert!(exit == Some(1) && said.contains("r4       WRONG reach"), "{said}");
    assert_eq!(world.calls("MBc2p") + world.calls("DebitoInmediato") + world.calls("MBvuelto"), 0);
    let (exit, said) = checked(&Server::shared());
    assert!(exit == Some(0) && said.contains("no rail of live mode is configured"), "{said}");
}

#[test]
fn a_check_names_the_host_and_why_nothing_answers_there() {
    let plain = Source::start();
    let closed = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port").local_addr().expect("it");
    let mut server = server_at(&plain.url(""));
    let secure = plain.url("").replace("http:", "https:");
    for (base, host, why) in [
        (format!("http://{closed}"), closed.to_string(), "refused"),
        ("https://no-such-bank.invalid/api".to_owned(), "no-such-bank.invalid".to_owned(), "DNS"),
        (secure.clone(), secure.trim_start_matches("https://").to_owned(), "TLS"),
    ] {
        server.set("PASARELA__RAILS__R4__BASE_URL", &base);
        let (exit, said) = checked(&server);
        let line = said.lines().find(|line| line.starts_with("r4       WRONG reach")).unwrap_or_default();
        assert!(exit == Some(1) && line.contains(&host) && line.contains(why), "{host}, {why}: {said}");
        assert!(line.contains("look at base_url"), "{said}");
    }
}

#[test]
fn a_restored_copy_says_what_is_open_and_calls_nobody() {
    let mut world = World::start();
    world.bank.set("/MBc2p", code("68", "RESPUESTA TARDIA"));
    world
        .bank
        .set("/DebitoInmediato", says(json!({ "code": "AC00", "message": "EN ESPERA", "id": BANKS_ID })));
    world.bank.set("/ConsultarOperaciones", code("AC00", "EN ESPERA"));
    let (charge, debit) = (world.live().pay_with(10, "12345678"), world.debit());
    assert!(world.server.terminate().success());
    let scratch = tempfile::tempdir().expect("a directory");
    let (copy, made) = (scratch.path().join("copy"), scratch.path().join("made"));
    for arguments in
        [vec!["backup", shown(&copy)], vec!["restore", shown(&copy), "--into", shown(&made), "--skip-verify"]]
    {
        let output = world.server.command(&arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    std::fs::remove_dir_all(world.server.data()).expect("removed");
    std::fs::rename(&made, world.server.data()).expect("put in its place");
    let calls = |world: &World| {
        ["MBc2p", "DebitoInmediato", "ConsultarOperaciones", "MBbcv"].map(|call| world.calls(call))
    };
    let before = calls(&world);
    world.server.restart();
    let status = world.server.admin().get("/admin/status").expect(200);
    assert_texts(&status, &[("outbound", "past")]);
    assert_eq!(world.rail()["calls"], 0);
    for payment in [&charge, &debit] {
        let open = world.once("unresolved", text(payment, "operationId"));
        assert_texts(&open, &[("rail", "r4")]);
    }
    let intent = world.live().intent(1);
    let refused = world.live().execute(&intent, "12345678", json!({}));
    assert!(
        refused.header("retry-after").is_some_and(|after| after.parse::<u64>().is_ok_and(|after| after >= 1))
    );
    refused.refused(503, "rail_unavailable");
    assert_eq!(world.tenant.test.pay(1)["status"], "COMPLETED", "test mode runs on");
    assert_eq!(calls(&world), before);
}

fn shown(path: &std::path::Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}
