//! What operators do on pages: by their role, with a second person where one is asked for.

use crate::harness::check::{list, text};
use crate::harness::client::Answer;
use crate::harness::flows::{fresh, method_path};
use crate::harness::pesos::cop_payout_body;
use crate::harness::server::{ADMIN_TOKEN, Server};
use crate::harness::source::{Behaviour, Source};
use crate::login::{hired, operator};
use crate::visitor::{page_of, token};
use serde_json::json;
use std::time::{Duration, Instant};

/// The first address on a page that begins so.
#[track_caller]
fn linked(page: &Answer, to: &str) -> String {
    let link = page.text().split("href=\"").find(|link| link.starts_with(to));
    let link =
        link.and_then(|link| link.split('"').next()).unwrap_or_else(|| panic!("no {to}: {}", page.text()));
    crate::visitor::plain(link)
}

/// Waits until something holds.
#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: never");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_rate_is_held_by_hand_and_let_go() {
    let server = Server::start();
    let visitor = operator(&server, ADMIN_TOKEN);
    let page = visitor.get("/console/rates");
    assert!(
        page.text().contains("type=\"datetime-local\"") && page.text().contains("Hora de Caracas (UTC−4)")
    );
    let instant = chrono::Utc::now() + chrono::TimeDelta::hours(1);
    let until = (instant - chrono::TimeDelta::hours(4)).format("%Y-%m-%dT%H:%M").to_string();
    let fields = [
        ("pair", "USDT/COP"),
        ("source", "p2p"),
        ("side", "BUY"),
        ("price", "4100.00"),
        ("pinnedUntil", &until),
        ("reason", "feriado"),
    ];
    let asked = visitor.press(&page, "pin", &fields);
    for words in ["Precio en vigor", "Precio nuevo", "4.100", "Todavía no se hizo nada"] {
        assert!(asked.text().contains(words), "{words}: {}", asked.text());
    }
    let pins = || server.admin().get("/admin/status").expect(200)["rates"]["pins"].clone();
    assert_eq!(pins(), json!([]));
    let answer = visitor.press(&asked, "confirm", &[]);
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, Some("/console/rates?done=done")),
        "{}",
        answer.text()
    );
    let pins = pins();
    let in_utc = instant.format("%Y-%m-%dT%H:%M:00.000Z").to_string();
    assert_eq!(text(&pins[0], "pinnedUntil"), in_utc, "{pins}");
    let page = visitor.get("/console/rates");
    assert!(
        page.text().contains("<tr data-status=\"pinned\">") && page.text().contains("feriado"),
        "{}",
        page.text()
    );
    let asked = visitor.press(&page, "unpin", &[]);
    for words in ["Precio fijado", "4.100", "El que rige después", "Todavía no se hizo nada"] {
        assert!(asked.text().contains(words), "{words}: {}", asked.text());
    }
    assert!(visitor.get("/console/rates").text().contains("<tr data-status=\"pinned\">"), "nothing was done");
    let answer = visitor.press(&asked, "confirm", &[]);
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert!(!visitor.get("/console/rates").text().contains("<tr data-status=\"pinned\">"));
    // An address brings the place of a price, and never the price.
    let page = visitor.get("/console/rates?pair=USDT/COP&source=p2p&price=4.1&reason=otro");
    assert!(page.text().contains("value=\"USDT/COP\"") && !page.text().contains("value=\"4.1\""));
    assert!(!page.text().contains("value=\"otro\""), "{}", page.text());
    let (_, viewer) = hired(&server, "viewer");
    let viewer = operator(&server, &viewer);
    let page = viewer.get("/console/rates");
    assert!(!page.text().contains("data-action=\"pin\""));
    let token = token(&page);
    let mut members = fields.to_vec();
    members.push(("csrf", &token));
    assert_eq!(viewer.send("/console/rates", &members).status, 403);
}

#[test]
fn what_comes_after_a_pin_is_a_price_of_live_mode() {
    let server = Server::start();
    let visitor = operator(&server, ADMIN_TOKEN);
    let at = |minutes| (chrono::Utc::now() + chrono::TimeDelta::minutes(minutes)).to_rfc3339();
    // A feed that prices test mode alone has said 4000 since.
    let pin = json!({ "pair": "USDT/COP", "source": "p2p", "side": "BUY", "price": "4100.00", "asOf": at(-10),
        "pinnedUntil": at(60), "reason": "feriado" });
    server.admin().post("/admin/rates", &pin).expect(201);
    let asked = visitor.press(&visitor.get("/console/rates"), "unpin", &[]);
    let after = asked.text().split("data-field=\"after\"").nth(1).expect("what comes after");
    let after = after.split("</dd>").next().expect("its end");
    assert!(after.contains("4.100") && !after.contains("4.000"), "{after}");
}

#[test]
fn a_price_is_typed_as_it_is_shown() {
    let server = Server::start();
    let visitor = operator(&server, ADMIN_TOKEN);
    let price = || server.nobody().get("/api/v1/fx/latest?pair=USDT/COP&source=mesa&side=BUY");
    for (language, typed, read) in [
        ("", "4.100", Some(4100)),
        ("?lang=en", "4,200", Some(4200)),
        ("", "4,100", None),
        ("?lang=en", "4.100", None),
    ] {
        let page = visitor.get(&format!("/console/rates{language}"));
        let fields = [("pair", "USDT/COP"), ("source", "mesa"), ("side", "BUY"), ("price", typed)];
        let asked = visitor.press(&page, "pin", &fields);
        let Some(read) = read else {
            assert_eq!(asked.status, 400, "{typed}{language}: {}", asked.text());
            assert!(asked.text().contains(&format!("value=\"{typed}\"")), "what was typed is still there");
            continue;
        };
        assert_eq!(asked.status, 200, "{typed}{language}: {}", asked.text());
        let answer = visitor.press(&asked, "confirm", &[]);
        assert_eq!(answer.status, 303, "{typed}{language}: {}", answer.text());
        assert_eq!(price().expect(200)["price"], read, "{typed}{language}");
    }
    assert_eq!(price().expect(200)["price"], 4200, "what was not clear changed nothing");
}

#[test]
fn what_moves_money_waits_for_a_second_person() {
    let server = Server::start_with(&[("PASARELA__ADMIN__APPROVALS", "adjustments")]);
    let tenant = server.tenant();
    let (_, treasurer) = hired(&server, "treasury");
    let asker = operator(&server, &treasurer);
    let path = format!("/console/tenants/{}", tenant.id);
    let page = asker.get(&path);
    let fields = [
        ("mode", "test"),
        ("currency", "VES"),
        ("amount", "25.00"),
        ("description", "redondeo"),
        ("externalRef", &fresh("adj")),
    ];
    let asked = asker.press(&page, "create-adjustment", &fields);
    for words in ["Ajustar 25,00 VES", "redondeo", text(&tenant.created, "name"), "Todavía no se hizo nada"]
    {
        assert!(asked.text().contains(words), "{words}: {}", asked.text());
    }
    let answer = asker.press(&asked, "confirm", &[]);
    assert_eq!(answer.header("location"), Some(&*format!("{path}?done=waits")), "{}", answer.text());
    assert_eq!(tenant.test.balance()["availableVes"], "0.00");
    let waiting = asker.get("/console/approvals");
    assert!(
        waiting.text().contains("Lo pediste tú: lo decide otra persona con el rol Tesorería o uno mayor")
    );
    for act in ["approve", "reject"] {
        assert!(!waiting.text().contains(&format!("data-action=\"{act}\"")), "{act} of one's own request");
    }
    let approvals = server.admin().get("/admin/approvals").expect(200);
    let id = text(&list(&approvals, "items")[0], "approvalId").to_owned();
    let csrf = token(&waiting);
    let own = asker.send(&format!("/console/approvals/{id}/approve"), &[("csrf", &csrf), ("note", "yo")]);
    assert_eq!(own.status, 403);
    assert!(
        own.text().contains("second_person_required") && own.text().contains("data-status=\"error\""),
        "{}",
        own.text()
    );
    // Whoever made the asker is no second person beside it.
    let waiting = operator(&server, ADMIN_TOKEN).get("/console/approvals");
    assert!(waiting.text().contains("Lo decide otra persona con el rol Tesorería o uno mayor"));
    assert!(!waiting.text().contains("data-action=\"approve\""));
    let second = operator(&server, &hired(&server, "treasury").1);
    let waiting = second.get("/console/approvals");
    let answer = second.press(&waiting, "approve", &[("note", "visto")]);
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert_eq!(tenant.test.balance()["availableVes"], "25.00");
    let approvals = server.admin().get("/admin/approvals").expect(200);
    let approval = &list(&approvals, "items")[0];
    assert_eq!((text(approval, "status"), text(approval, "note")), ("approved", "visto"));
}

#[test]
fn an_operation_without_an_outcome_is_resolved_both_ways() {
    let server = Server::start_with(&[("PASARELA__RAILS__UNRESOLVED_AFTER_SECONDS", "1")]);
    let tenant = server.tenant();
    let (_, treasurer) = hired(&server, "treasury");
    let visitor = operator(&server, &treasurer);
    for (outcome, name, value, status) in
        [("done", "reference", "90311223", "COMPLETED"), ("refused", "failureCode", "AC01", "FAILED")]
    {
        let payment = tenant.test.pay_with(10, "77777777");
        let listed = || server.admin().get("/admin/operations?status=unresolved").expect(200);
        until("it is unresolved", || list(&listed(), "items").len() == 1);
        let queue = visitor.get("/console/queues?mode=test");
        assert!(
            !visitor.get("/console/queues").text().contains("/console/operations/"),
            "none is of live mode"
        );
        let page = visitor.get(&linked(&queue, "/console/operations/"));
        for words in ["2.000,00 VES", "Es de prueba", "No se puede deshacer"] {
            assert!(page.text().contains(words), "{words}: {}", page.text());
        }
        let note = ("note", "según el extracto");
        assert!(page.text().contains("<option value=\"\" selected>"), "nothing is chosen: {}", page.text());
        let bare = visitor.press(&page, "resolve", &[("outcome", outcome), note]);
        assert_eq!(bare.status, 400, "{}", bare.text());
        // What was typed and chosen stays, and the field that is wrong says so.
        for kept in [
            "data-status=\"error\"",
            &format!("<option value=\"{outcome}\" selected>"),
            "value=\"según el extracto\"",
            "aria-invalid=\"true\"",
        ] {
            assert!(bare.text().contains(kept), "{kept}: {}", bare.text());
        }
        assert_eq!(text(&tenant.test.payment(&payment), "status"), "PENDING");
        let asked = visitor.press(&page, "resolve", &[("outcome", outcome), (name, value), note]);
        assert!(asked.text().contains("2.000,00 VES") && asked.text().contains(value), "{}", asked.text());
        assert_eq!(text(&tenant.test.payment(&payment), "status"), "PENDING", "nothing was done yet");
        let answer = visitor.press(&asked, "confirm", &[]);
        assert_eq!(
            answer.header("location"),
            Some("/console/queues?mode=test&done=done"),
            "{}",
            answer.text()
        );
        let now = tenant.test.payment(&payment);
        assert_eq!(text(&now, "status"), status, "{now}");
        assert!([&now["bankReference"], &now["failureCode"]].contains(&&json!(value)), "{now}");
    }
}

#[test]
fn the_second_person_reads_what_is_asked_in_words() {
    let server = Server::start_with(&[
        ("PASARELA__RAILS__UNRESOLVED_AFTER_SECONDS", "1"),
        ("PASARELA__ADMIN__APPROVALS", "operations,live-status"),
    ]);
    let tenant = server.tenant();
    let (_, treasurer) = hired(&server, "treasury");
    let asker = operator(&server, &treasurer);
    let payment = tenant.test.pay_with(10, "77777777");
    let page = format!("/console/payments/{}", text(&payment, "paymentId"));
    let filled = [("outcome", "done"), ("reference", "90311223"), ("note", "extracto")];
    let confirm = asker.press(&asker.get(&page), "resolve", &filled);
    let asked = asker.press(&confirm, "confirm", &[]);
    assert_eq!(asked.header("location"), Some(&*format!("{page}?done=waits")), "{}", asked.text());
    let (_, second) = hired(&server, "treasury");
    let second = operator(&server, &second);
    let seen = second.get("/console/approvals");
    let main = seen.text().split("<main").nth(1).expect("a page");
    let name = text(&tenant.created, "name");
    for part in [
        name,
        "data-status=\"test\"",
        "2.000,00 VES",
        "Cobro por C2P",
        "Se hizo",
        "90311223",
        "extracto",
        &page,
    ] {
        assert!(main.contains(part), "{part}: {main}");
    }
    assert!(!main.contains("{&#34;") && !main.contains("&quot;outcome"), "{main}");
    let answer = second.press(&seen, "approve", &[("note", "visto")]);
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert_eq!(tenant.test.payment(&payment)["status"], "COMPLETED");
    // An admin's call is decided by admins.
    let path = format!("/admin/tenants/{}/live-status", tenant.id);
    server.admin().post(&path, &json!({ "status": "active" })).expect(202);
    let seen = second.get("/console/approvals");
    assert!(seen.text().contains("Lo decide quien tenga el rol Administración"), "{}", seen.text());
    assert!(!seen.text().contains("data-action=\"approve\""), "{}", seen.text());
}

#[test]
fn the_line_of_one_micro_deposit_is_accepted_without_the_other() {
    let bank = Source::start();
    let late = json!({ "code": "68", "message": "RESPUESTA TARDIA" }).to_string();
    bank.set("/MBvuelto", Behaviour::Says(200, late));
    let server = Server::start_with(&[
        ("PASARELA__RAILS__R4__BASE_URL", &bank.url("")),
        ("PASARELA__RAILS__R4__COMMERCE_TOKEN", "commerce-token-that-is-secret"),
        ("PASARELA__RAILS__R4__TIMEOUT_SECONDS", "1"),
        ("PASARELA__RAILS__UNRESOLVED_AFTER_SECONDS", "1"),
    ]);
    let tenant = server.tenant();
    let path = format!("/admin/tenants/{}/live-status", tenant.id);
    server.admin().post(&path, &json!({ "status": "active" })).expect(200);
    let merchant = tenant.live.create_merchant(json!({})).expect(201);
    tenant.live.act(&format!("{}/verify/start", method_path(&merchant, 0))).expect(202);
    let open = || list(&server.admin().get("/admin/operations?status=unresolved").expect(200), "items").len();
    until("the deposits are unresolved", || open() == 1);
    let sent = bank.seen("/MBvuelto");
    let amounts =
        sent.iter().map(|seen| serde_json::from_str::<serde_json::Value>(&seen.body).expect("a body"));
    let day = chrono::Utc::now().with_timezone(&chrono::FixedOffset::west_opt(4 * 3600).expect("an offset"));
    let day = day.date_naive();
    let line = |(n, body): (usize, serde_json::Value)| {
        format!("{day},5550000{n},{},debit,,\n", text(&body, "Monto"))
    };
    let lines: String = amounts.enumerate().map(line).collect();
    let file = format!("date,reference,amount,kind,phone,bank\n{lines}");
    let path = format!("/admin/reconciliations?rail=r4&account=01690001001234567890&from={day}&to={day}");
    let begun = server.admin().post_as(&path, "text/csv", file).expect(202);
    let id = text(&begun, "id");
    let read = || server.admin().get(&format!("/admin/reconciliations/{id}")).expect(200);
    until("it ends", || read()["proposals"] == 2);

    let (_, treasurer) = hired(&server, "treasury");
    let visitor = operator(&server, &treasurer);
    let here = format!("/console/reconciliations/{id}?result=proposal");
    let asked = visitor.press(&visitor.get(&here), "accept-one", &[]);
    assert!(asked.text().contains("Aceptar 1") && open() == 1, "{}", asked.text());
    let answer = visitor.press(&asked, "confirm", &[]);
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert_eq!(open(), 1, "the other deposit is open");
    let asked = visitor.press(&visitor.get(&here), "accept", &[]);
    let answer = visitor.press(&asked, "confirm", &[]);
    assert!(answer.text().contains("deposit_booked"), "{}", answer.text());
    assert_eq!(open(), 0, "both are booked");
}

#[test]
fn a_chargeback_is_recorded_and_decided() {
    let server = Server::start();
    let tenant = server.tenant();
    let payment = tenant.test.vpos_pay(10);
    let (_, treasurer) = hired(&server, "treasury");
    let visitor = operator(&server, &treasurer);
    let here = format!("/console/payments/{}", text(&payment, "paymentId"));
    let page = visitor.get(&here);
    let fields = [("reason", "fraud"), ("amountVes", "500.00")];
    let asked = visitor.press(&page, "open-chargeback", &fields);
    assert!(asked.text().contains("-500,00 VES"), "what leaves the balance: {}", asked.text());
    let answer = visitor.press(&asked, "confirm", &[]);
    assert_eq!(answer.header("location"), Some(&*format!("{here}?done=done")), "{}", answer.text());
    let queue = visitor.get("/console/queues?mode=test");
    let decision = visitor.get(&linked(&queue, "/console/chargebacks/"));
    let asked = visitor.press(&decision, "won", &[]);
    for words in ["Se ganó: Bs 500,00", "No se puede deshacer", "Prueba"] {
        assert!(asked.text().contains(words), "{words}: {}", asked.text());
    }
    let open = || list(&server.admin().get("/admin/chargebacks?status=open").expect(200), "items").len();
    assert_eq!(open(), 1, "nothing was done yet");
    let answer = visitor.press(&asked, "confirm", &[]);
    assert_eq!(answer.header("location"), Some("/console/queues?mode=test&done=done"), "{}", answer.text());
    let closed = server.admin().get("/admin/chargebacks").expect(200);
    let closed = &list(&closed, "items")[0];
    assert_eq!((text(closed, "status"), text(closed, "amountVes")), ("won", "500.00"));
}

#[test]
fn a_key_is_replaced_and_revoked() {
    let server = Server::start();
    let tenant = server.tenant();
    let path = format!("/console/tenants/{}", tenant.id);
    let visitor = operator(&server, ADMIN_TOKEN);
    let key = || visitor.get(&linked(&visitor.get(&path), "/console/keys/"));
    let page = key();
    for words in ["se rechaza con 401", "Consultar", text(&tenant.created, "name")] {
        assert!(page.text().contains(words), "{words}: {}", page.text());
    }
    let answer = visitor.press(&page, "rotate-key", &[("overlapSeconds", "0")]);
    assert_eq!(answer.status, 201, "{}", answer.text());
    assert!(answer.text().contains("data-field=\"newKey\""), "{}", answer.text());
    let keys = || {
        let keys = server.admin().get(&format!("/admin/tenants/{}/keys", tenant.id)).expect(200);
        list(&keys, "items").iter().filter(|key| key["revokedAt"].is_null()).count()
    };
    let before = keys();
    let answer = visitor.press(&key(), "revoke-key", &[]);
    assert_eq!(answer.header("location"), Some(&*format!("{path}?done=done")), "{}", answer.text());
    assert_eq!(keys(), before - 1);
}

#[test]
fn treasury_sees_whom_it_pays_pesos_to_and_that_is_in_the_audit() {
    let server = Server::start();
    let tenant = server.tenant_with(json!({ "cop": { "enabled": true } }));
    tenant.test.cop_fund("100000", false);
    let made = server
        .admin()
        .post(&format!("/admin/tenants/{}/cop-payouts", tenant.id), &cop_payout_body(1000))
        .expect(201);
    let id = text(&made, "id");
    let here = format!("/console/payouts/{id}");
    let (_, support) = hired(&server, "support");
    let support = operator(&server, &support);
    let page = support.get(&here);
    assert!(page.text().contains("Bancolombia") && !page.text().contains("Ana Pérez"), "{}", page.text());
    assert!(!page.text().contains("data-action=\"unmask\""));
    let csrf = token(&page);
    assert_eq!(support.send(&format!("{here}/unmask"), &[("csrf", &csrf)]).status, 403);
    let (_, treasurer) = hired(&server, "treasury");
    let treasurer = operator(&server, &treasurer);
    let looks = || {
        let audit = server.admin().get("/admin/audit?action=cop-payout.unmask").expect(200);
        list(&audit, "items").len()
    };
    let queue = treasurer.get("/console/queues?mode=test");
    let row = queue.text();
    assert!(row.contains("Bancolombia") && !row.contains("Ana Pérez") && !row.contains("12345678901"));
    assert!(treasurer.get(&here).text().contains("data-action=\"unmask\""));
    assert_eq!(looks(), 0, "reading a page is no look at a person");
    let decision = treasurer.get(&linked(&queue, "/console/cop-payouts/"));
    assert!(!decision.text().contains("Ana Pérez") && looks() == 0, "{}", decision.text());
    let shown = treasurer.press(&decision, "unmask", &[]);
    assert_eq!((shown.status, page_of(&shown).as_str()), (200, "payout"));
    for part in ["Ana Pérez", "12345678901", "1020304050", "Bancolombia"] {
        assert!(shown.text().contains(part), "{part}: {}", shown.text());
    }
    assert_eq!(looks(), 1);
}

#[test]
fn the_hundred_and_first_of_a_queue_is_on_its_next_page() {
    let server = Server::start();
    let tenant = server.tenant_with(json!({ "cop": { "enabled": true } }));
    tenant.test.cop_fund("101000", false);
    let path = format!("/admin/tenants/{}/cop-payouts", tenant.id);
    let first = server.admin().post(&path, &cop_payout_body(1000)).expect(201);
    for _ in 0..100 {
        server.admin().post(&path, &cop_payout_body(1000)).expect(201);
    }
    let oldest = format!("/console/cop-payouts/{}", text(&first, "id"));
    let visitor = operator(&server, ADMIN_TOKEN);
    let page = visitor.get("/console/queues?mode=test");
    let count = |page: &Answer| {
        let rest = page.text().split("data-field=\"copPayouts\">").nth(1).expect("a count");
        let text = rest.split('>').nth(1).and_then(|rest| rest.split('<').next()).expect("its text");
        text.to_owned()
    };
    assert!(!page.text().contains(&oldest), "{}", page.text());
    assert_eq!(count(&page), "101");
    assert_eq!(count(&visitor.get("/console/home?mode=test")), "101");
    assert_eq!(count(&visitor.get("/console/home")), "0", "none is of live mode");
    let next = page
        .text()
        .split("href=\"")
        .find(|link| link.starts_with("/console/queues?mode=test&#38;copPayouts="));
    let next = next.and_then(|link| link.split('"').next()).expect("a link to the next page");
    let page = visitor.get(&crate::visitor::plain(next));
    assert!(page.text().contains(&oldest), "{}", page.text());
    assert_eq!(count(&page), "101");
}

#[test]
fn a_tenant_goes_live_by_an_admin() {
    let server = Server::shared();
    let tenant = server.tenant();
    let visitor = operator(&server, ADMIN_TOKEN);
    let path = format!("/console/tenants/{}", tenant.id);
    let page = visitor.get(&path);
    assert_eq!(page_of(&page), "tenant");
    assert!(page.text().contains("data-status=\"inactive\""));
    let asked =
        visitor.press(&page, "set-live-status", &[("status", "active"), ("note", "contrato firmado")]);
    assert!(asked.text().contains("cobra y paga dinero real"), "{}", asked.text());
    let answer = visitor.press(&asked, "confirm", &[]);
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert!(visitor.get(&path).text().contains("data-page=\"tenant\" data-status=\"active\""));
    let (_, treasurer) = hired(&server, "treasury");
    let treasurer = operator(&server, &treasurer);
    let page = treasurer.get(&path);
    assert!(!page.text().contains("data-action=\"set-live-status\""));
    let token = token(&page);
    let answer = treasurer
        .send(&format!("{path}/live-status"), &[("csrf", &token), ("status", "suspended"), ("note", "x")]);
    assert_eq!(answer.status, 403);
    let key = visitor.press(&visitor.get(&path), "create-key", &[("mode", "test"), ("scopes", "read")]);
    assert_eq!(key.status, 201, "{}", key.text());
    assert!(key.text().contains("pk_test_"));
}

#[test]
fn settings_are_changed_by_their_fields() {
    let server = Server::shared();
    let tenant = server.tenant();
    let visitor = operator(&server, ADMIN_TOKEN);
    let path = format!("/console/tenants/{}", tenant.id);
    let read =
        || server.admin().get(&format!("/admin/tenants/{}", tenant.id)).expect(200)["settings"].clone();
    let before = read();
    let page = visitor.get(&path);
    assert!(page.text().contains("Comisión de C2P (%)") && !page.text().contains("data-field=\"settings\""));
    // Somebody else's change of another setting is not taken back.
    let other = json!({ "usdt": { "enabled": true } });
    server.admin().patch(&format!("/admin/tenants/{}/settings", tenant.id), &other).expect(200);
    let fields = [
        ("settings.reserveVes", "1.250,00"),
        ("settings.fees.c2p.percent", "1,25"),
        ("settings.conversions.enabled", "VES"),
        ("settings.conversions.dailyLimit.COP", "50.000"),
        ("settings.microDepositsDailyMax", "7"),
    ];
    let answer = visitor.press(&page, "set-settings", &fields);
    assert_eq!(answer.header("location"), Some(&*format!("{path}?done=done")), "{}", answer.text());
    let mut wanted = before;
    wanted["reserveVes"] = "1250.00".into();
    wanted["fees"]["c2p"]["percent"] = "1.2500".into();
    wanted["conversions"]["enabled"] = json!(["VES"]);
    wanted["conversions"]["dailyLimit"]["COP"] = "50000".into();
    wanted["microDepositsDailyMax"] = 7.into();
    wanted["usdt"]["enabled"] = true.into();
    assert_eq!(read(), wanted);
    let bad = visitor.press(&visitor.get(&path), "set-settings", &[("settings.reserveVes", "mucho")]);
    assert_eq!(bad.status, 400, "{}", bad.text());
    assert!(bad.text().contains("value=\"mucho\"") && read() == wanted, "what was typed is still there");
    let same = visitor.press(&visitor.get(&path), "set-settings", &[("settings.reserveVes", "1.250,00")]);
    assert_eq!(same.status, 303, "nothing is changed: {}", same.text());
}

#[test]
fn a_page_of_settings_that_was_left_open_takes_nothing_back() {
    let server = Server::shared();
    let tenant = server.tenant();
    let visitor = operator(&server, ADMIN_TOKEN);
    let path = format!("/console/tenants/{}", tenant.id);
    let of_api = format!("/admin/tenants/{}", tenant.id);
    let read = || server.admin().get(&of_api).expect(200)["settings"].clone();
    let before = read();
    // A browser sends every field, as the page showed it or as it was typed over.
    let fee = text(&before["fees"]["c2p"], "percent").replace('.', ",");
    let deposits = before["microDepositsDailyMax"].to_string();
    let (was, enabled) = (before["usdt"]["enabled"] == true, before["usdt"]["enabled"].to_string());
    let fields = [
        ("settings.fees.c2p.percent", fee.as_str()),
        ("settings.usdt.enabled", enabled.as_str()),
        ("settings.microDepositsDailyMax", deposits.as_str()),
    ];
    let typed = |reserve| [&fields[..], &[("settings.reserveVes", reserve)]].concat();
    let page = visitor.get(&path);
    let others = json!({ "fees": { "c2p": { "percent": "3.7500" } }, "usdt": { "enabled": !was } });
    server.admin().patch(&format!("{of_api}/settings"), &others).expect(200);
    let bad = visitor.press(&page, "set-settings", &typed("mucho"));
    assert_eq!(bad.status, 400, "{}", bad.text());
    // The page of the refusal is still of what was shown first.
    let answer = visitor.press(&bad, "set-settings", &typed("1.250,00"));
    assert_eq!(answer.header("location"), Some(&*format!("{path}?done=done")), "{}", answer.text());
    let mut wanted = before;
    wanted["reserveVes"] = "1250.00".into();
    wanted["fees"]["c2p"]["percent"] = "3.7500".into();
    wanted["usdt"]["enabled"] = (!was).into();
    assert_eq!(read(), wanted);
    let csrf = token(&page);
    let bare = [&[("csrf", csrf.as_str())][..], &typed("2,00")[..]].concat();
    assert_eq!(visitor.send(&format!("{path}/settings"), &bare).status, 400, "without what was shown");
    assert_eq!(read(), wanted);
}

#[test]
fn a_tenant_is_opened_with_the_operator_who_looks_after_it() {
    let server = Server::start();
    let visitor = operator(&server, ADMIN_TOKEN);
    let page = visitor.get("/console/tenants");
    let fields = [
        ("name", "Tienda Ana"),
        ("operatorName", "Luis"),
        ("email", "luis@example.com"),
        ("role", "support"),
    ];
    for _ in 0..2 {
        let made = visitor.press(&page, "create-tenant", &fields);
        assert_eq!(made.status, 201, "{}", made.text());
        for part in ["pk_test_", "pk_live_", "op_", "/console/tenants/"] {
            assert!(made.text().contains(part), "{part}: {}", made.text());
        }
    }
    let tenants = server.admin().get("/admin/tenants").expect(200);
    let named = list(&tenants, "items").iter().filter(|tenant| tenant["name"] == "Tienda Ana").count();
    let operators = server.admin().get("/admin/operators").expect(200);
    let hired = list(&operators, "items").iter().filter(|one| one["email"] == "luis@example.com").count();
    assert_eq!((named, hired), (1, 1), "once, however often the form is sent");
    let viewer = operator(&server, &crate::login::hired(&server, "viewer").1);
    let page = viewer.get("/console/tenants");
    assert!(!page.text().contains("data-action=\"create-tenant\""));
    let csrf = token(&page);
    assert_eq!(viewer.send("/console/tenants", &[("csrf", &csrf), ("name", "x")]).status, 403);
}

#[test]
fn a_copy_is_made_and_its_age_shown() {
    let server = Server::start();
    let visitor = operator(&server, ADMIN_TOKEN);
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy");
    let page = visitor.get("/console/health");
    let made = visitor.press(&page, "backup", &[("path", &copy.display().to_string())]);
    assert_eq!(made.header("location"), Some("/console/health?done=done"), "{}", made.text());
    assert!(copy.is_dir());
    let page = visitor.get("/console/health");
    assert!(page.text().contains("data-field=\"backup.age\">0 min"), "{}", page.text());
    let refused = visitor.press(&page, "backup", &[("path", &copy.display().to_string())]);
    assert_eq!(refused.status, 409, "{}", refused.text());
}

#[test]
fn who_holds_a_key_stands_in_the_list_of_keys_and_on_its_page() {
    let server = Server::shared();
    let tenant = server.tenant();
    let body = json!({ "name": "pagador", "mandate": { "agent": "Claude", "perDay": { "VES": "1.00" } } });
    let made = tenant.test.post("/v1/keys", &body).expect(201);
    let visitor = operator(&server, ADMIN_TOKEN);
    let list = visitor.get(&format!("/console/tenants/{}", tenant.id));
    assert!(list.text().contains("pagador · Claude"), "{}", list.text());
    let page = format!("/console/keys/{}?tenantId={}", text(&made, "keyId"), tenant.id);
    let page = visitor.get(&page);
    assert!(page.text().contains("data-field=\"agent\""), "{}", page.text());
}

#[test]
fn a_usdt_payout_waits_for_one_approval_and_the_audit_names_both() {
    let server = Server::start_with(&[("PASARELA__ADMIN__APPROVALS", "crypto-payouts")]);
    let tenant = server.tenant_with(json!({ "usdt": { "payoutAutoLimitUsdt": "1.00" } }));
    tenant.test.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "100.00" })).expect(201);
    let body = json!({ "amountUsdt": "10.00", "address": "0x52908400098527886E0F7030069857D2E4169EE7", "network": "POLYGON", "externalRef": fresh("cx") });
    let payout = tenant.test.post("/v1/crypto/payouts", &body).expect(201);
    let page = format!("/console/crypto/{}", text(&payout, "id"));
    let asker = operator(&server, &hired(&server, "treasury").1);
    let (before, open) = (asker.get(&page), asker.get(&page));
    let asked = asker.press(&before, "approve", &[]);
    assert_eq!(asked.status, 303, "{}", asked.text());
    let after = asker.get(&page);
    assert!(after.text().contains("Ya espera a otra persona"), "{}", after.text());
    assert!(!after.text().contains("data-action=\"approve\""), "{}", after.text());
    // A window that is still open asks for no second one.
    let again = asker.press(&open, "approve", &[]);
    assert_eq!(again.status, 409, "{}", again.text());
    let waiting = list(&server.admin().get("/admin/approvals?status=pending").expect(200), "items").len();
    assert_eq!(waiting, 1);
    let counted = |address: &str| {
        let home = asker.get(address);
        let count = home.text().split("data-field=\"approvals\">").nth(1).expect("the queue").to_owned();
        count.split("</dd>").next().expect("its end").contains(">1<")
    };
    assert!(counted("/console/home?mode=test") && !counted("/console/home"), "of test mode alone");
    let (_, second) = hired(&server, "treasury");
    let second = operator(&server, &second);
    let seen = second.get("/console/approvals");
    assert!(seen.text().contains("data-status=\"test\""), "its mode: {}", seen.text());
    let done = second.press(&seen, "approve", &[("note", "visto")]);
    assert_eq!(done.status, 303, "{}", done.text());
    let audit = second.get("/console/audit?action=crypto-payout.approve");
    assert!(audit.text().contains("pidió ") && audit.text().contains(", aprobó "), "{}", audit.text());
}

#[test]
fn a_price_that_waits_for_a_second_person_says_so_before() {
    let server = Server::start_with(&[("PASARELA__ADMIN__APPROVALS", "rates")]);
    let visitor = operator(&server, &hired(&server, "treasury").1);
    let fields = [("pair", "USDT/COP"), ("source", "mesa"), ("side", "BUY"), ("price", "4.100")];
    let asked = visitor.press(&visitor.get("/console/rates"), "pin", &fields);
    assert!(asked.text().contains("Otra persona tiene que aprobarlo"), "{}", asked.text());
}

#[test]
fn a_price_far_from_the_one_in_force_is_typed_twice() {
    let server = Server::start();
    let visitor = operator(&server, ADMIN_TOKEN);
    let price = || {
        server.nobody().get("/api/v1/fx/latest?pair=USDT/COP&source=mesa&side=BUY").expect(200)["price"]
            .clone()
    };
    // Without a pin, a feed's own price so far away would be suspect.
    let until = chrono::Utc::now() - chrono::TimeDelta::hours(3);
    let until = until.format("%Y-%m-%dT%H:%M").to_string();
    let enter = |typed: &str, method: &str| {
        let fields = [
            ("pair", "USDT/COP"),
            ("source", "mesa"),
            ("side", "BUY"),
            ("method", method),
            ("price", typed),
            ("pinnedUntil", &until),
            ("reason", "feriado"),
        ];
        visitor.press(&visitor.get("/console/rates"), "pin", &fields)
    };
    let first = enter("4.100", "");
    assert!(first.text().contains("Dinero real y de prueba"), "{}", first.text());
    assert_eq!(visitor.press(&first, "confirm", &[]).status, 303);
    let near = enter("4.300", "");
    assert!(near.text().contains("+4,9 %") && !near.text().contains("name=\"again\""), "{}", near.text());
    let other = enter("41.000", "manual");
    assert!(
        other.text().contains("name=\"again\""),
        "of another method, in the same place: {}",
        other.text()
    );
    let far = enter("41.000", "");
    assert!(far.text().contains("+900 %") && far.text().contains("name=\"again\""), "{}", far.text());
    for wrong in ["", "4.100"] {
        let refused = visitor.press(&far, "confirm", &[("again", wrong)]);
        assert!(
            refused.status == 200 && refused.text().contains("No es el mismo precio"),
            "{}",
            refused.text()
        );
    }
    assert_eq!(price(), 4100, "nothing was done");
    assert_eq!(visitor.press(&far, "confirm", &[("again", "41000")]).status, 303);
    assert_eq!(price(), 41_000);
    // What was pinned is not shown as what its feed said.
    let page = visitor.get("/console/rates");
    let said = page.text().split("data-field=\"samples\"").nth(1).expect("the table");
    assert!(said.contains("fijada a mano"), "{said}");
}

#[test]
fn a_tenant_is_chosen_by_its_name() {
    let server = Server::start();
    let tenant = server.tenant();
    tenant.test.pay(10);
    server.tenant().test.pay(20);
    let visitor = operator(&server, ADMIN_TOKEN);
    let name = text(&tenant.created, "name");
    let query = crate::visitor::encoded(&[("mode", "test"), ("tenantId", name)]);
    let page = visitor.get(&format!("/console/payments?{query}"));
    assert_eq!(page.status, 200, "{}", page.text());
    let rows = page.text().split("data-list>").nth(1).unwrap_or_default().matches("<tr data-status=").count();
    assert_eq!(rows, 1, "{}", page.text());
    let shop = visitor.get(&format!("/console/tenants/{}", tenant.id));
    let to = linked(&shop, "/console/payments?tenantId=");
    let page = visitor.get(&to);
    assert!(page.text().contains(&format!("value=\"{name}\"")), "by its name: {}", page.text());
}
