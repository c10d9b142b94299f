//! Calls that wait for a second person (`docs/contract.md, 20.2`).

use crate::harness::check::{list, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{UNKNOWN, fresh};
use crate::harness::pesos::cop_payout_body;
use crate::harness::server::{Server, Tenant};
use crate::named_operators::{audit, operator};
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};

const ALL: &str = "adjustments,rates,live-status,operations,crypto-payouts";

/// A server on which everything needs a second person, and two who may be the first or the second.
struct World {
    server: Server,
    tenant: Tenant,
    asker: Api,
    asker_id: String,
    second: Api,
    second_id: String,
}

impl World {
    fn start(environment: &[(&str, &str)]) -> World {
        let environment = [&[("PASARELA__ADMIN__APPROVALS", ALL)][..], environment].concat();
        let server = Server::start_with(&environment);
        let tenant = server.tenant();
        let (asked, asker) = operator(&server, "treasury");
        let (other, second) = operator(&server, "treasury");
        let id = |made: &Value| text(made, "operatorId").to_owned();
        World { asker_id: id(&asked), second_id: id(&other), server, tenant, asker, second }
    }

    fn path(&self) -> String {
        format!("/admin/tenants/{}/adjustments", self.tenant.id)
    }

    /// Asks for an adjustment; the id of the approval.
    #[track_caller]
    fn ask(&self, amount: &str) -> String {
        let asked = self.asker.post(&self.path(), &adjustment(amount)).expect(202);
        assert_eq!(
            (&asked["action"], &asked["status"]),
            (&json!("adjustments"), &json!("pending")),
            "{asked}"
        );
        assert!(asked["expiresAt"].is_string());
        text(&asked, "approvalId").to_owned()
    }

    fn movements(&self) -> usize {
        self.tenant.test.movements().len()
    }

    #[track_caller]
    fn decide(&self, by: &Api, id: &str, verb: &str) -> Answer {
        by.post(&format!("/admin/approvals/{id}/{verb}"), &json!({ "note": "seen" }))
    }

    #[track_caller]
    fn shown(&self, id: &str) -> Value {
        self.asker.get(&format!("/admin/approvals/{id}")).expect(200)
    }
}

fn adjustment(amount: &str) -> Value {
    json!({ "mode": "test", "currency": "VES", "amount": amount, "description": "d", "externalRef": fresh("adjustment") })
}

#[test]
fn a_call_waits_for_somebody_else() {
    let world = World::start(&[]);
    let id = world.ask("12.50");
    assert_eq!(world.movements(), 0, "nothing was done");
    let shown = world.shown(&id);
    assert_eq!(shown["requestedBy"]["operatorId"], world.asker_id);
    assert_eq!((&shown["tenantId"], &shown["target"]), (&json!(world.tenant.id), &json!(world.tenant.id)));
    assert_eq!((&shown["request"]["amount"], &shown["decidedBy"]), (&json!("12.50"), &Value::Null));
    let list_of = |status: &str| {
        let page = world.second.get(&format!("/admin/approvals?status={status}")).expect(200);
        list(&page, "items").iter().map(|item| text(item, "approvalId").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(list_of("pending"), std::slice::from_ref(&id));

    world.decide(&world.asker, &id, "approve").refused(403, "second_person_required");
    world.decide(&world.asker, &id, "reject").refused(403, "second_person_required");
    for role in ["viewer", "support"] {
        let refused =
            world.decide(&operator(&world.server, role).1, &id, "approve").refused(403, "role_missing");
        assert_eq!(refused["role"], "treasury");
    }
    // A new token is no new person.
    let rotated =
        world.server.admin().act(&format!("/admin/operators/{}/rotate", world.asker_id)).expect(201);
    let again = world.server.admin_with(text(&rotated, "token"));
    world.decide(&again, &id, "approve").refused(403, "second_person_required");

    let approved = world.decide(&world.second, &id, "approve").expect(200);
    assert_eq!((&approved["status"], &approved["action"]), (&json!("approved"), &json!("adjustments")));
    assert_eq!(approved["result"]["amountVes"], "12.50");
    assert_eq!(world.movements(), 1);
    for (by, verb) in
        [(&world.second, "approve"), (&world.second, "reject"), (&world.server.admin(), "approve")]
    {
        world.decide(by, &id, verb).refused(409, "approval_decided");
    }
    assert_eq!((list_of("pending"), list_of("approved")), (Vec::new(), vec![id.clone()]));
    let shown = again.get(&format!("/admin/approvals/{id}")).expect(200);
    assert_eq!(
        (&shown["decidedBy"]["operatorId"], &shown["note"]),
        (&json!(world.second_id), &json!("seen"))
    );

    // Who asked and who approved are both in the audit, under one approval.
    let done = audit(&world.server, &[("action", "adjustment.create")]);
    let said = audit(&world.server, &[("action", "approval.approve")]);
    assert_eq!((done.len(), said.len()), (1, 1));
    assert_eq!(
        (&done[0]["operator"]["operatorId"], &done[0]["approvalId"]),
        (&json!(world.asker_id), &json!(id))
    );
    assert_eq!(
        (&said[0]["operator"]["operatorId"], &said[0]["approvalId"]),
        (&json!(world.second_id), &json!(id))
    );
}

#[test]
fn what_is_not_sound_waits_for_nobody() {
    let world = World::start(&[]);
    world.asker.post(&world.path(), &json!({})).bad_fields();
    world
        .asker
        .post(&format!("/admin/tenants/{UNKNOWN}/adjustments"), &adjustment("1.00"))
        .refused(404, "not_found");
    world
        .asker
        .post(
            &format!("/admin/operations/{UNKNOWN}/resolve"),
            &json!({ "outcome": "refused", "failureCode": "AC01", "note": "n" }),
        )
        .refused(404, "not_found");
    let (_, viewer) = operator(&world.server, "viewer");
    assert_eq!(
        viewer.post(&world.path(), &adjustment("1.00")).refused(403, "role_missing")["role"],
        "treasury"
    );
    assert_eq!(list(&world.asker.get("/admin/approvals").expect(200), "items"), [] as [Value; 0]);
    for nothing in [UNKNOWN, "x"] {
        world.decide(&world.second, nothing, "approve").refused(404, "not_found");
        assert_eq!(
            world.decide(&viewer, nothing, "approve").refused(403, "role_missing")["role"],
            "treasury"
        );
    }
    world.second.get("/admin/approvals?status=maybe").names(&["status"]);
}

#[test]
fn every_kind_of_call_waits_and_goes_on() {
    let world = World::start(&[]);
    let live = format!("/admin/tenants/{}/live-status", world.tenant.id);
    let root = world.server.admin();
    let waits = |api: &Api, path: &str, body: Value, action: &str| {
        let asked = api.post(path, &body).expect(202);
        assert_eq!(asked["action"], action, "{path}");
        text(&asked, "approvalId").to_owned()
    };
    let (_, boss) = operator(&world.server, "admin");
    let activated = waits(&boss, &live, json!({ "status": "active" }), "live-status");
    let refused = world.decide(&world.second, &activated, "approve").refused(403, "role_missing");
    assert_eq!(refused["role"], "admin");
    assert_eq!(
        root.get(&format!("/admin/tenants/{}", world.tenant.id)).expect(200)["liveStatus"],
        "inactive"
    );
    let (_, other) = operator(&world.server, "admin");
    assert_eq!(world.decide(&other, &activated, "approve").expect(200)["result"]["liveStatus"], "active");

    let price = json!({ "pair": "USDT/VES", "source": "hand", "side": "BUY", "price": "250.5" });
    let priced = waits(&world.asker, "/admin/rates", price, "rates");
    assert_eq!(world.decide(&world.second, &priced, "approve").expect(200)["result"]["source"], "hand");

    world.tenant.test.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "2000.00" })).expect(201);
    for (verb, body, status) in [("approve", json!({}), "processing"), ("reject", json!({}), "rejected")] {
        let asked = json!({ "amountUsdt": "500.01", "address": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "network": "TRC20", "externalRef": fresh("usdt") });
        let payout = world.tenant.test.post("/v1/crypto/payouts", &asked).expect(201);
        let path = format!("/admin/crypto/payouts/{}/{verb}", text(&payout, "id"));
        let first = waits(&world.asker, &path, body.clone(), "crypto-payouts");
        let second = waits(&world.asker, &path, body, "crypto-payouts");
        let says_no = world.shown(&first)["request"]["reason"].is_string();
        assert_eq!(says_no, verb == "reject", "whoever decides reads which of both it is");
        let done = world.decide(&world.second, &first, "approve").expect(200);
        assert!([status, "completed"].contains(&text(&done["result"], "status")), "{done}");
        // The state changed since it was asked: the call's own refusal, and it goes on waiting.
        world.decide(&world.second, &second, "approve").refused(409, "payout_not_pending_review");
        assert_eq!(world.shown(&second)["status"], "pending");
        let rejected = world.decide(&world.second, &second, "reject").expect(200);
        assert_eq!((&rejected["status"], &rejected["note"]), (&json!("rejected"), &json!("seen")));
        world.decide(&world.second, &second, "approve").refused(409, "approval_decided");
    }
    assert_eq!(audit(&world.server, &[("action", "approval.reject")]).len(), 2);
}

#[test]
fn a_state_that_refuses_leaves_it_pending() {
    let world = World::start(&[]);
    let body = adjustment("10.00");
    let ask = |amount: &str| {
        let mut body = body.clone();
        body["amount"] = json!(amount);
        text(&world.asker.post(&world.path(), &body).expect(202), "approvalId").to_owned()
    };
    let [first, same, other] = ["10.00", "10.00", "11.00"].map(ask);
    let done = world.decide(&world.second, &first, "approve").expect(200);
    world.decide(&world.second, &other, "approve").refused(409, "external_ref_conflict");
    assert_eq!(world.shown(&other)["status"], "pending");
    // The same correction asked for twice is one.
    assert_eq!(world.decide(&world.second, &same, "approve").expect(200)["result"], done["result"]);
    assert_eq!(world.movements(), 1);
    assert_eq!(audit(&world.server, &[("action", "adjustment.create")]).len(), 1);
    assert_eq!(audit(&world.server, &[("action", "approval.approve")]).len(), 2);
}

#[test]
fn it_is_done_once_however_many_approve_at_once() {
    let world = World::start(&[]);
    let seconds: Vec<Api> = (0..4).map(|_| operator(&world.server, "treasury").1).collect();
    for round in 0..5 {
        let id = world.ask("1.00");
        let answers: Vec<u16> = thread::scope(|scope| {
            let approving: Vec<_> = seconds
                .iter()
                .map(|second| scope.spawn(|| world.decide(second, &id, "approve").status))
                .collect();
            approving.into_iter().map(|one| one.join().expect("an answer")).collect()
        });
        assert_eq!(answers.iter().filter(|status| **status == 200).count(), 1, "{answers:?}");
        assert_eq!(answers.iter().filter(|status| **status == 409).count(), 3, "{answers:?}");
        assert_eq!(world.movements(), round + 1);
    }
}

#[test]
fn it_survives_a_crash_and_keeps_its_answers() {
    let mut world = World::start(&[]);
    let (key, body) = (fresh("key"), adjustment("5.00"));
    let asked = world.asker.keyed(&key).post(&world.path(), &body).expect(202);
    let id = text(&asked, "approvalId").to_owned();
    let again = |world: &World| {
        let again = world.asker.keyed(&key).post(&world.path(), &body);
        assert_eq!((again.header("idempotent-replayed"), again.expect(202)), (Some("true"), asked.clone()));
    };
    again(&world);
    world.server.kill();
    world.server.restart();
    again(&world);
    let approving = world.second.keyed(&key);
    let first = world.decide(&approving, &id, "approve").expect(200);
    world.server.kill();
    world.server.restart();
    again(&world);
    let repeated = world.decide(&approving, &id, "approve");
    assert_eq!((repeated.header("idempotent-replayed"), repeated.expect(200)), (Some("true"), first));
    world.decide(&world.server.admin(), &id, "approve").refused(409, "approval_decided");
    assert_eq!(world.movements(), 1);
    assert_eq!(audit(&world.server, &[("action", "adjustment.create")]).len(), 1);
}

#[test]
fn it_expires_and_nobody_who_is_disabled_decides() {
    let world = World::start(&[("PASARELA__ADMIN__APPROVAL_SECONDS", "1")]);
    let id = world.ask("1.00");
    world
        .server
        .admin()
        .patch(&format!("/admin/operators/{}", world.second_id), &json!({ "status": "disabled" }))
        .expect(200);
    world.decide(&world.second, &id, "approve").refused(401, "unauthorized");
    let since = Instant::now();
    let shown = loop {
        let shown = world.shown(&id);
        if shown["status"] == "expired" {
            break shown;
        }
        assert!(since.elapsed() < Duration::from_secs(20), "{shown}");
    };
    assert_eq!(shown["decidedBy"], Value::Null);
    for verb in ["approve", "reject"] {
        world.decide(&world.server.admin(), &id, verb).refused(409, "approval_expired");
    }
    let page = world.asker.get("/admin/approvals?status=expired").expect(200);
    assert_eq!(list(&page, "items").len(), 1);
    assert_eq!(list(&world.asker.get("/admin/approvals?status=pending").expect(200), "items").len(), 0);
}

#[test]
fn a_crash_while_it_is_done_does_it_neither_twice_nor_never() {
    let mut world = World::start(&[]);
    for round in 0..6_u64 {
        let id = world.ask("1.00");
        let path = format!("/admin/approvals/{id}/approve");
        let second = world.second.clone();
        let approving = thread::spawn(move || second.try_post(&path, &json!({})).map(|answer| answer.status));
        thread::sleep(Duration::from_micros(700 * round));
        world.server.kill();
        let _ = approving.join();
        world.server.restart();
        let (status, done) = (world.shown(&id)["status"].clone(), world.movements() as u64);
        assert_eq!(done, if status == "approved" { round + 1 } else { round }, "{status}");
        if status == "pending" {
            world.decide(&world.second, &id, "approve").expect(200);
        }
        world.decide(&world.second, &id, "approve").refused(409, "approval_decided");
        assert_eq!(world.movements() as u64, round + 1);
    }
    let entries = audit(&world.server, &[("tenantId", &world.tenant.id)]);
    let of = |action: &str| entries.iter().filter(|entry| entry["action"] == action).count();
    assert_eq!((of("adjustment.create"), of("approval.approve")), (6, 6));
}

/// A server on which these calls need a second person, with two admins that root made.
fn two_admins(approvals: &str) -> (Server, [(String, Api); 2]) {
    let mut server = Server::start();
    let admins = [(); 2].map(|()| {
        let (made, api) = operator(&server, "admin");
        (text(&made, "operatorId").to_owned(), api)
    });
    server.kill();
    server.set("PASARELA__ADMIN__APPROVALS", approvals);
    server.restart();
    (server, admins)
}

#[track_caller]
fn waits(answer: &Answer, action: &str) -> String {
    let asked = answer.expect(202);
    assert_eq!((&asked["action"], &asked["status"]), (&json!(action), &json!("pending")), "{asked}");
    text(&asked, "approvalId").to_owned()
}

/// Whoever had a hand in an operator within a day holds both tokens, or may: each way, on each side.
#[test]
fn who_made_an_operator_is_no_second_person_beside_it() {
    let world = World::start(&[]);
    let root = world.server.admin();
    let (_, boss) = operator(&world.server, "admin");
    let hire = |role: &str, status: &str| {
        let name = fresh("ops");
        let body = json!({ "name": name, "email": format!("{name}@example.com"), "role": role });
        let made = root.post("/admin/operators", &body).expect(201);
        let path = format!("/admin/operators/{}", text(&made, "operatorId"));
        root.patch(&path, &json!({ "status": status })).expect(200);
        (path, world.server.admin_with(text(&made, "token")))
    };
    let rotated = |path: &str| {
        let rotated = boss.act(&format!("{path}/rotate")).expect(201);
        world.server.admin_with(text(&rotated, "token"))
    };
    let changed = |path: &str, change: Value| boss.patch(path, &change).expect(200);
    type Made<'a> = &'a dyn Fn() -> Api;
    let ways: [(&str, bool, Made<'_>); 6] = [
        ("created", false, &|| {
            let name = fresh("ops");
            let body = json!({ "name": name, "email": format!("{name}@example.com"), "role": "treasury" });
            world.server.admin_with(text(&boss.post("/admin/operators", &body).expect(201), "token"))
        }),
        ("rotated", false, &|| rotated(&hire("treasury", "active").0)),
        ("raised", false, &|| {
            let (path, api) = hire("support", "active");
            changed(&path, json!({ "role": "treasury" }));
            api
        }),
        ("enabled", false, &|| {
            let (path, api) = hire("treasury", "disabled");
            changed(&path, json!({ "status": "active" }));
            api
        }),
        ("lowered", true, &|| {
            let (path, api) = hire("admin", "active");
            changed(&path, json!({ "role": "treasury" }));
            api
        }),
        ("let be", true, &|| hire("treasury", "active").1),
    ];
    // Nor are two whom the same colleague made: that is how one admin would be two.
    let (one, other) = ((ways[0].2)(), (ways[1].2)());
    let asked = waits(&one.post(&world.path(), &adjustment("1.00")), "adjustments");
    world.decide(&other, &asked, "approve").refused(403, "second_person_required");
    world.decide(&world.second, &asked, "reject").expect(200);
    for (way, is_second, made) in ways {
        let other = made();
        for (asker, decider) in [(&boss, &other), (&other, &boss)] {
            let asked = waits(&asker.post(&world.path(), &adjustment("1.00")), "adjustments");
            for verb in ["reject", "approve"] {
                let decided = world.decide(decider, &asked, verb);
                if !is_second {
                    decided.refused(403, "second_person_required");
                    continue;
                }
                decided.expect(200);
                break;
            }
            if !is_second {
                assert_eq!(world.shown(&asked)["status"], "pending", "{way}");
                world.decide(&world.second, &asked, "reject").expect(200);
            }
        }
    }
    assert_eq!(world.movements(), 0);
}

#[test]
fn operators_are_made_raised_rotated_and_enabled_by_two() {
    let (server, [(ana_id, ana), (_, eva)]) = two_admins("operators");
    let approve = |by: &Api, id: &str| by.act(&format!("/admin/approvals/{id}/approve"));
    let name = fresh("ops");
    let body = json!({ "name": name, "email": format!("{name}@example.com"), "role": "support" });
    let key = fresh("key");
    let asked = waits(&ana.post("/admin/operators", &body), "operators");
    assert_eq!(list(&ana.get("/admin/operators").expect(200), "items").len(), 2, "nobody was made");
    approve(&ana, &asked).refused(403, "second_person_required");
    let approving = eva.keyed(&key);
    let approved = approve(&approving, &asked).expect(200);
    let token = text(&approved["result"], "token").to_owned();
    let path = format!("/admin/operators/{}", text(&approved["result"], "operatorId"));
    server.admin_with(&token).get("/admin/me").expect(200);
    // It is shown once, to who approved, and kept nowhere.
    let again = approve(&approving, &asked);
    assert_eq!((again.header("idempotent-replayed"), again.status), (Some("true"), 200));
    for shown in [again.text(), ana.get(&format!("/admin/approvals/{asked}")).text()] {
        assert!(!shown.contains(&token), "{shown}");
    }
    assert_eq!(again.json()["result"]["role"], "support");
    assert!(!server.log_tail().contains(&token));

    // Less needs nobody, more does.
    ana.patch(&path, &json!({ "role": "viewer" })).expect(200);
    ana.patch(&path, &json!({ "status": "disabled" })).expect(200);
    for (change, member) in
        [(json!({ "status": "active" }), "status"), (json!({ "role": "treasury" }), "role")]
    {
        let asked = waits(&ana.patch(&path, &change), "operators");
        assert_ne!(eva.get(&path).expect(200)[member], change[member]);
        assert_eq!(approve(&eva, &asked).expect(200)["result"][member], change[member]);
    }
    let asked = waits(&ana.act(&format!("{path}/rotate")), "operators");
    server.admin_with(&token).get("/admin/me").expect(200);
    let rotated = approve(&eva, &asked).expect(200);
    server.admin_with(&token).get("/admin/me").refused(401, "unauthorized");
    let hers = server.admin_with(text(&rotated["result"], "token"));
    hers.get("/admin/me").expect(200);
    // Both who asked and who approved had it in their hands.
    let asked = waits(&ana.patch(&path, &json!({ "role": "admin" })), "operators");
    approve(&eva, &asked).expect(200);
    let own = format!("/admin/operators/{ana_id}/rotate");
    let asked = waits(&hers.act(&own), "operators");
    for maker in [&ana, &eva] {
        approve(maker, &asked).refused(403, "second_person_required");
    }
    approve(&server.admin(), &asked).expect(200);
}

#[test]
fn a_request_ends_with_the_right_of_its_asker() {
    let mut world = World::start(&[]);
    let path = format!("/admin/operators/{}", world.asker_id);
    let root = world.server.admin();
    for (less, more) in [
        (json!({ "status": "disabled" }), json!({ "status": "active" })),
        (json!({ "role": "support" }), json!({ "role": "treasury" })),
    ] {
        let id = world.ask("1.00");
        root.patch(&path, &less).expect(200);
        let status = || root.get(&format!("/admin/approvals/{id}")).expect(200)["status"].clone();
        assert_eq!(status(), "expired");
        // It does not come back with the right.
        root.patch(&path, &more).expect(200);
        for verb in ["approve", "reject"] {
            world.decide(&world.second, &id, verb).refused(409, "approval_expired");
        }
        assert_eq!(status(), "expired");
    }
    assert_eq!(world.movements(), 0);
    world.server.kill();
    world.server.restart();
    let pending = world.second.get("/admin/approvals?status=pending").expect(200);
    assert_eq!(list(&pending, "items").len(), 0);
}

#[test]
fn an_object_is_named_once_however_its_id_is_written() {
    let world = World::start(&[]);
    let escaped = |id: &str| id.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let tenant = &world.tenant.id;
    let written =
        [escaped(tenant), tenant.to_uppercase(), format!("%{:02x}{}", tenant.as_bytes()[0], &tenant[1..])];
    for (n, id) in written.iter().enumerate() {
        let path = format!("/admin/tenants/{id}/adjustments");
        let asked = waits(&world.asker.post(&path, &adjustment("1.00")), "adjustments");
        let shown = world.shown(&asked);
        assert_eq!((&shown["target"], &shown["tenantId"]), (&json!(tenant), &json!(tenant)), "{path}");
        let approved = world.decide(&world.second, &escaped(&asked), "approve").expect(200);
        assert_eq!(approved["result"]["amountVes"], "1.00", "{path}");
        assert_eq!(world.movements(), n + 1);
    }
    let targets = audit(&world.server, &[("action", "adjustment.create")]);
    assert!(targets.iter().all(|entry| entry["tenantId"] == json!(tenant)), "{targets:?}");
    // The role of the call counts, however the approval is written.
    let (_, boss) = operator(&world.server, "admin");
    let live = format!("/admin/tenants/{tenant}/live-status");
    let asked = waits(&boss.post(&live, &json!({ "status": "active" })), "live-status");
    for id in [asked.clone(), escaped(&asked), asked.to_uppercase()] {
        let refused = world.decide(&world.second, &id, "approve").refused(403, "role_missing");
        assert_eq!(refused["role"], "admin", "{id}");
    }
    // One key, one object: it is the same call.
    let key = world.asker.keyed(&fresh("key"));
    let body = adjustment("2.00");
    let first = key.post(&world.path(), &body).expect(202);
    let again = key.post(&format!("/admin/tenants/{}/adjustments", escaped(tenant)), &body);
    assert_eq!((again.header("idempotent-replayed"), again.expect(202)), (Some("true"), first));
}

#[test]
fn payouts_of_pesos_take_two_persons() {
    let (server, [(_, ana), (_, eva)]) = two_admins("cop_payouts");
    let tenant = server.tenant();
    tenant.test.cop_fund("100000", false);
    let approve = |id: &str| eva.act(&format!("/admin/approvals/{id}/approve")).expect(200)["result"].clone();
    let pay = format!("/admin/tenants/{}/cop-payouts", tenant.id);
    let unknown = format!("/admin/cop-payouts/{UNKNOWN}/fail");
    ana.post(&unknown, &json!({ "failureCode": "AC01" })).refused(404, "not_found");
    for (verb, body, status, left) in [
        ("complete", json!({ "reference": "B-77" }), "completed", "60000"),
        ("fail", json!({ "failureCode": "AC01" }), "failed", "60000"),
    ] {
        let asked = waits(&ana.post(&pay, &cop_payout_body(40_000)), "cop_payouts");
        let before = if verb == "complete" { "100000" } else { "60000" };
        assert_eq!(tenant.test.cop_books()["ledgerNetCop"], before, "nothing was debited");
        let paid = approve(&asked);
        assert_eq!(paid["status"], "pending");
        let path = format!("/admin/cop-payouts/{}/{verb}", text(&paid, "id"));
        let asked = waits(&ana.post(&path, &body), "cop_payouts");
        assert_eq!(approve(&asked)["status"], status);
        assert_eq!(tenant.test.cop_books()["ledgerNetCop"], left);
    }
}

/// The fee of a chargeback is the platform's income: one person names no more than the setting.
#[test]
fn a_fee_beyond_the_setting_takes_two_persons() {
    for approvals in ["adjustments", "rates"] {
        let (server, [(_, ana), (_, eva)]) = two_admins(approvals);
        let tenant = server.tenant_with(json!({ "fees": { "chargebackVes": "10.00" } }));
        let settings = format!("/admin/tenants/{}/settings", tenant.id);
        let payment = tenant.test.vpos_pay(10);
        let charge_back = |fee: &str| {
            let body = json!({ "paymentId": payment["paymentId"], "amountVes": "1.00", "feeVes": fee, "reason": "fraud" });
            ana.post(&format!("/admin/tenants/{}/chargebacks", tenant.id), &body)
        };
        assert_eq!(charge_back("10.00").expect(201)["feeVes"], "10.00");
        let beyond = |fee: &str| {
            let answer = charge_back(fee);
            if approvals == "adjustments" {
                let asked = waits(&answer, "adjustments");
                let done = eva.act(&format!("/admin/approvals/{asked}/approve")).expect(200);
                assert_eq!(done["result"]["feeVes"], fee);
            } else {
                answer.names(&["feeVes"]);
            }
        };
        beyond("10.01");
        beyond("999999.00");
        server.admin().patch(&settings, &json!({ "chargebackFeeMax": "20.00" })).expect(200);
        assert_eq!(charge_back("20.00").expect(201)["feeVes"], "20.00");
        beyond("20.01");
        let changed = server.admin().patch(&settings, &json!({ "chargebackFeeMax": null })).expect(200);
        assert_eq!(changed["chargebackFeeMax"], Value::Null, "the fee itself");
        beyond("10.01");
    }
}
