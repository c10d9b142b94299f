//! The page of a payment or payout whose order is at a bank: what is said of it, and what may be done now.

use crate::harness::check::{list, text};
use crate::harness::client::Answer;
use crate::harness::flows::fresh;
use crate::harness::server::{ADMIN_TOKEN, Server, Tenant};
use crate::harness::source::{Behaviour, Source};
use crate::login::{hired, operator};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The bank's id of an operation.
const BANKS_ID: &str = "7f0d7c1e-5d0c-4a63-9c0e-3f1f1e7c9a10";
/// The words of the advice on what the server asks about, and of what it cannot.
const ASKED: &str = "El servidor le sigue preguntando";
const UNASKABLE: &str = "no hay cómo preguntarle";

struct World {
    bank: Source,
    server: Server,
    tenant: Tenant,
}

fn says(body: Value) -> Behaviour {
    Behaviour::Says(200, body.to_string())
}

impl World {
    /// A server with a bank, and a tenant that is live.
    fn start(unresolved_after: &str) -> World {
        let bank = Source::start();
        bank.set("/MBbcv", says(json!({ "code": "01", "message": "COTIZACION NO ENCONTRADA" })));
        let server = Server::start_with(&[
            ("PASARELA__RAILS__R4__BASE_URL", &bank.url("")),
            ("PASARELA__RAILS__R4__COMMERCE_TOKEN", "commerce-token-that-is-secret"),
            ("PASARELA__RAILS__R4__TIMEOUT_SECONDS", "1"),
            ("PASARELA__RAILS__POLL_SECONDS", "2"),
            ("PASARELA__RAILS__UNRESOLVED_AFTER_SECONDS", unresolved_after),
        ]);
        let tenant = server.tenant();
        let path = format!("/admin/tenants/{}/live-status", tenant.id);
        server.admin().post(&path, &json!({ "status": "active" })).expect(200);
        server.price_live();
        World { bank, server, tenant }
    }

    /// A charge by C2P that the bank answers too late to say what became of it.
    fn charge(&self) -> (Value, String) {
        self.bank.set("/MBc2p", says(json!({ "code": "68", "message": "RESPUESTA TARDIA" })));
        let payment = self.tenant.live.pay_with(1, "12345678");
        assert_eq!(payment["status"], "PENDING");
        let path = format!("/console/payments/{}", text(&payment, "paymentId"));
        (payment, path)
    }

    fn operation(&self) -> Value {
        let found = self.server.admin().get("/admin/operations").expect(200);
        list(&found, "items")[0].clone()
    }

    #[track_caller]
    fn until(&self, holds: impl Fn(&Value) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !holds(&self.operation()) {
            assert!(Instant::now() < deadline, "never: {}", self.operation());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn timeline(page: &Answer) -> &str {
    let rest = page.text().split("data-field=\"timeline\"").nth(1).expect("a timeline");
    rest.split("</ol>").next().expect("its end")
}

fn main_of(page: &Answer) -> &str {
    page.text().split("<main").nth(1).expect("a page")
}

#[test]
fn a_charge_that_nobody_can_be_asked_about_says_so_and_is_resolved_on_its_page() {
    let world = World::start("600");
    let (payment, path) = world.charge();
    let (_, treasurer) = hired(&world.server, "treasury");
    let visitor = operator(&world.server, &treasurer);
    let page = visitor.get(&path);
    let told = timeline(&page);
    assert_eq!(told.matches("68 RESPUESTA TARDIA").count(), 1, "{told}");
    assert!(told.contains("El banco respondió al cobro, pero no dijo si cobró"), "{told}");
    assert!(!told.contains("Se le preguntó al banco"), "nobody was asked: {told}");
    let main = main_of(&page);
    assert!(main.contains(UNASKABLE) && !main.contains(ASKED), "{main}");
    assert!(!main.contains("href=\"/console/queues"), "it is not there yet: {main}");
    let english = visitor.get(&format!("{path}?lang=en"));
    assert!(
        english.text().contains("The bank answered the charge, but did not say whether it was made")
            && !english.text().contains("keeps asking"),
        "{}",
        english.text()
    );
    let (_, support) = hired(&world.server, "support");
    assert!(!operator(&world.server, &support).get(&path).text().contains("data-action=\"resolve\""));
    let page = visitor.get(&path);
    let note = ("note", "según el extracto");
    let bare = visitor.press(&page, "resolve", &[("outcome", "done"), note]);
    assert_eq!(bare.status, 400, "{}", bare.text());
    assert!(bare.text().contains("data-page=\"payment\" data-status=\"error\""), "{}", bare.text());
    // The page of a refused form shows the payment's own anew, and leads to it in the other language.
    assert!(bare.text().contains(&format!("hx-get=\"{path}\"")), "{}", bare.text());
    assert!(bare.text().contains(&format!("href=\"{path}?lang=en\"")), "{}", bare.text());
    let asked = visitor.press(&page, "resolve", &[("outcome", "done"), ("reference", "90311223"), note]);
    let answer = visitor.press(&asked, "confirm", &[]);
    assert_eq!(answer.header("location"), Some(&*format!("{path}?done=done")), "{}", answer.text());
    assert_eq!(world.tenant.live.payment(&payment)["status"], "COMPLETED");
    let page = visitor.get(&path);
    assert!(!page.text().contains("data-action=\"resolve\""), "{}", page.text());
    assert_eq!(timeline(&page).matches("68 RESPUESTA TARDIA").count(), 1, "{}", timeline(&page));
}

#[test]
fn the_queues_are_named_once_the_order_is_in_them() {
    let world = World::start("1");
    let (_, path) = world.charge();
    world.until(|operation| operation["status"] == "unresolved");
    let page = operator(&world.server, ADMIN_TOKEN).get(&path);
    assert!(main_of(&page).contains("href=\"/console/queues"), "{}", main_of(&page));
}

#[test]
fn each_question_about_an_order_is_one_step() {
    let world = World::start("600");
    let going = json!({ "code": "AC00", "message": "EN PROCESO", "id": BANKS_ID, "Id": BANKS_ID });
    world.bank.set("/DebitoInmediato", says(going.clone()));
    world.bank.set("/ConsultarOperaciones", says(going));
    let body = json!({
        "banco": "0134", "cedula": "V12345678", "telefono": "04141234567", "nombre": "Ana Perez",
        "monto": 100, "otp": "12345678", "concepto": "camisa", "externalRef": fresh("debit"),
    });
    let payment = world.tenant.live.post("/v1/payments/debit", &body).expect(202);
    let path = format!("/console/payments/{}", text(&payment, "id"));
    let visitor = operator(&world.server, ADMIN_TOKEN);
    let page = visitor.get(&path);
    assert!(main_of(&page).contains(ASKED) && !main_of(&page).contains(UNASKABLE), "{}", main_of(&page));
    assert!(page.text().contains("data-action=\"resolve\""), "a pending one may be resolved too");
    world.until(|operation| operation["asks"].as_u64() >= Some(1));
    let told = timeline(&visitor.get(&path)).to_owned();
    let asks = world.operation()["asks"].as_u64();
    let questions = told.matches("Se le preguntó al banco").count() as u64;
    assert!(Some(questions) <= asks && questions >= 1, "{asks:?} questions: {told}");
    assert_eq!(told.matches("El banco respondió al cobro").count(), 1, "{told}");
    assert_eq!(told.matches("AC00").count(), 1, "{told}");
}

#[test]
fn a_payout_is_resolved_on_its_page() {
    let world = World::start("600");
    world.bank.set("/MBvuelto", says(json!({ "code": "68", "message": "RESPUESTA TARDIA" })));
    let path = format!("/admin/tenants/{}/adjustments", world.tenant.id);
    let funds = json!({
        "mode": "live", "currency": "VES", "amount": "100.00", "description": "saldo inicial",
        "externalRef": fresh("funds"),
    });
    world.server.admin().post(&path, &funds).expect(201);
    let change = json!({
        "banco": "0134", "telefono": "04141234567", "cedula": "V12345678", "monto": "10.00",
        "concepto": "vuelto", "externalRef": fresh("change"),
    });
    let payout = world.tenant.live.post("/v1/payments/change", &change).expect(202);
    let path = format!("/console/payouts/{}", text(&payout, "payoutId"));
    let visitor = operator(&world.server, ADMIN_TOKEN);
    let page = visitor.get(&path);
    assert!(
        timeline(&page).contains("El banco respondió al pago, pero no dijo si lo hizo"),
        "{}",
        page.text()
    );
    assert!(main_of(&page).contains(UNASKABLE), "{}", page.text());
    let filled = [("outcome", "refused"), ("failureCode", "AC01"), ("note", "según el extracto")];
    let asked = visitor.press(&page, "resolve", &filled);
    let answer = visitor.press(&asked, "confirm", &[]);
    assert_eq!(answer.header("location"), Some(&*format!("{path}?done=done")), "{}", answer.text());
    assert!(visitor.get(&path).text().contains("data-page=\"payout\" data-status=\"failed\""));
}

#[test]
fn a_payment_is_canceled_while_no_bank_has_it() {
    let world = World::start("600");
    let visitor = operator(&world.server, ADMIN_TOKEN);
    let (_, path) = world.charge();
    assert!(!visitor.get(&path).text().contains("data-action=\"cancel\""), "the charge is at the bank");
    let intent = world.tenant.live.intent(1);
    let path = format!("/console/payments/{}", text(&intent, "intentId"));
    let asked = visitor.press(&visitor.get(&path), "cancel", &[]);
    assert!(asked.text().contains("No se le cobró nada"), "{}", asked.text());
    let answer = visitor.press(&asked, "confirm", &[]);
    assert_eq!(answer.header("location"), Some(&*format!("{path}?done=done")), "{}", answer.text());
    let tenant = world.server.tenant_with(json!({ "cop": { "enabled": true } }));
    let payment = tenant.test.cop(50_000, "push");
    let path = format!("/console/payments/{}", text(&payment, "id"));
    let asked = visitor.press(&visitor.get(&path), "cancel", &[]);
    assert!(asked.text().contains("No se le cobró nada"), "{}", asked.text());
    let answer = visitor.press(&asked, "confirm", &[]);
    assert_eq!(answer.header("location"), Some(&*format!("{path}?done=done")), "{}", answer.text());
    assert_eq!(tenant.test.cop_now(&payment)["status"], "canceled");
}
