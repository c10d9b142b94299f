//! Mandates: what a key takes out of its account at most, and whom it pays (`docs/contract.md, 3.11`).

use crate::credits::{account_body, credit_body};
use crate::harness::check::{instant, list, race, stamp, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{fresh, merged, method_path, payout_body};
use crate::harness::pesos::cop_path;
use crate::harness::server::Server;
use chrono::{NaiveTime, TimeDelta, Utc};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::{scope, sleep};
use std::time::Duration;

const CREDIT: &str = "/v1/payments/credit";
const WALLET: &str = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";

/// An account's first key, and one of its own with this mandate.
struct Bound {
    server: Arc<Server>,
    owner: Api,
    agent: Api,
    key: String,
    path: String,
}

impl Bound {
    fn by(mandate: Value) -> Bound {
        Bound::on(Server::shared(), mandate)
    }

    fn on(server: Arc<Server>, mandate: Value) -> Bound {
        let owner = server.tenant().test;
        early(&owner);
        owner.fund("1000.00");
        let made = owner.post("/v1/keys", &json!({ "mandate": mandate })).expect(201);
        let (key, path) = (text(&made, "key").to_owned(), format!("/v1/keys/{}", text(&made, "keyId")));
        Bound { agent: server.api(&key), server, owner, key, path }
    }

    #[track_caller]
    fn remaining(&self) -> Value {
        self.agent.get(&self.path).expect(200)["remaining"].clone()
    }
}

/// Takes the account over a midnight of Caracas that would come while a test runs.
fn early(owner: &Api) {
    let now = owner.clock();
    let midnight = (now - TimeDelta::hours(4)).date_naive().and_time(NaiveTime::MIN).and_utc();
    let next = midnight + TimeDelta::hours(28);
    if next - now < TimeDelta::minutes(10) {
        owner.advance_to(next);
    }
}

#[track_caller]
fn exceeded(answer: &Answer, limit: &str, remaining: Value) -> Value {
    let refused = answer.refused(403, "mandate_exceeded");
    assert_eq!((&refused["limit"], &refused["remaining"]), (&json!(limit), &remaining), "{refused}");
    refused
}

#[test]
fn a_mandate_is_shown_as_it_was_written_and_changed_whole() {
    let server = Server::shared();
    let owner = server.tenant().test;
    let mandate = json!({
        "agent": "Claude", "perCall": { "VES": "10.00" }, "perDay": { "VES": "40.00", "COP": 100_000, "USDT": "2.50" },
        "perMonth": { "VES": "100.00" }, "payees": ["04141234567", WALLET],
    });
    let made = owner.post("/v1/keys", &json!({ "name": "payer", "mandate": mandate })).expect(201);
    assert_eq!(made["mandate"], mandate);
    let path = format!("/v1/keys/{}", text(&made, "keyId"));
    let read = owner.get(&path).expect(200);
    assert_eq!(read["mandate"], mandate);
    assert_eq!(
        read["remaining"],
        json!({ "perDay": { "VES": "40.00", "COP": 100_000, "USDT": "2.50" }, "perMonth": { "VES": "100.00" } })
    );
    let smaller = json!({ "perCall": { "VES": "5.00" } });
    assert_eq!(owner.patch(&path, &json!({ "mandate": smaller })).expect(200)["mandate"], smaller);
    owner.patch(&path, &json!({ "mandate": null })).names(&["body"]);
    assert_eq!(owner.patch(&path, &json!({ "mandate": null, "name": "p" })).expect(200)["mandate"], smaller);

    let with_keys = json!({ "scopes": ["keys", "payout"], "mandate": smaller });
    owner.post("/v1/keys", &with_keys).names(&["mandate"]);
    owner.patch(&path, &json!({ "scopes": ["keys"] })).names(&["mandate"]);
    let own = text(list(&owner.get("/v1/keys").expect(200), "items").last().expect("the first"), "keyId")
        .to_owned();
    owner.patch(&format!("/v1/keys/{own}"), &json!({ "mandate": smaller })).names(&["mandate"]);
    for (bad, field) in [
        (json!({ "perDay": { "EUR": "1.00" } }), "mandate.perDay.EUR"),
        (json!({ "perDay": { "VES": -1 } }), "mandate.perDay.VES"),
        (json!({ "perDay": { "COP": "1.00" } }), "mandate.perDay.COP"),
        (json!({ "payees": ["nobody"] }), "mandate.payees[0]"),
        (json!({ "agent": "" }), "mandate.agent"),
        (json!({ "approvals": true }), "mandate.approvals"),
    ] {
        owner.post("/v1/keys", &json!({ "mandate": bad })).names(&[field]);
    }
    let admin = server.admin();
    let tenant = server.tenant();
    let path = format!("/admin/tenants/{}/keys", tenant.id);
    let made = admin.post(&path, &json!({ "mode": "test", "mandate": mandate })).expect(201);
    assert_eq!(made["mandate"], mandate, "operators give the same");
}

#[test]
fn what_fails_is_given_back_to_its_day() {
    let bound = Bound::by(json!({ "perCall": { "VES": "30.00" }, "perDay": { "VES": "40.00" } }));
    let pays = |monto: &str| bound.agent.post(CREDIT, &credit_body(monto));
    let refused = exceeded(&pays("30.01"), "perCall", json!({ "VES": "30.00" }));
    assert_eq!(refused["resetsAt"], Value::Null);
    pays("10.04").expect(201);
    assert_eq!(bound.remaining(), json!({ "perDay": { "VES": "40.00" } }), "the bank refused it");
    pays("30.00").expect(201);
    let waiting = pays("5.06").expect(202);
    assert_eq!(bound.remaining(), json!({ "perDay": { "VES": "4.94" } }));
    let refused = exceeded(&pays("4.95"), "perDay", json!({ "VES": "4.94" }));
    let known = bound
        .agent
        .post(CREDIT, &merged(credit_body("5.06"), json!({ "externalRef": waiting["externalRef"] })));
    assert_eq!(known.expect(200)["payoutId"], waiting["payoutId"], "a repeat is free");
    bound.owner.advance(61);
    assert_eq!(bound.owner.payout_now(&waiting)["status"], "failed");
    assert_eq!(bound.remaining(), json!({ "perDay": { "VES": "10.00" } }), "once");
    let late = pays("9.06").expect(202);
    bound.owner.advance_to(instant(&refused["resetsAt"]));
    assert_eq!(bound.remaining(), json!({ "perDay": { "VES": "40.00" } }), "another day in Caracas");
    assert_eq!(bound.owner.payout_now(&late)["status"], "failed");
    pays("30.00").expect(201);
    pays("10.00").expect(201);
    exceeded(&pays("0.01"), "perDay", json!({ "VES": "0.00" }));
    bound.owner.post(CREDIT, &credit_body("50.00")).expect(201);
}

#[test]
fn a_month_is_one_of_caracas_and_a_change_keeps_what_was_spent() {
    let bound = Bound::by(json!({ "perMonth": { "VES": "50.00" } }));
    let pays = |monto: &str| bound.agent.post(CREDIT, &credit_body(monto));
    pays("45.00").expect(201);
    let refused = exceeded(&pays("6.00"), "perMonth", json!({ "VES": "5.00" }));
    bound.owner.patch(&bound.path, &json!({ "mandate": { "perMonth": { "VES": "46.00" } } })).expect(200);
    assert_eq!(bound.remaining(), json!({ "perMonth": { "VES": "1.00" } }));
    bound.owner.patch(&bound.path, &json!({ "mandate": { "perMonth": { "VES": "20.00" } } })).expect(200);
    assert_eq!(bound.remaining(), json!({ "perMonth": { "VES": "0.00" } }), "never below zero");
    bound.owner.advance_to(instant(&refused["resetsAt"]));
    assert_eq!(bound.remaining(), json!({ "perMonth": { "VES": "20.00" } }));
}

#[test]
fn a_rotated_key_keeps_its_mandate_and_what_it_spent() {
    let bound = Bound::by(json!({ "perDay": { "VES": "10.00" } }));
    bound.agent.post(CREDIT, &credit_body("8.00")).expect(201);
    let id = bound.path.rsplit('/').next().expect("an id");
    let path = format!("/admin/keys/{id}/rotate");
    let rotated = bound.server.admin().post(&path, &json!({ "overlapSeconds": 600 })).expect(201);
    let next = bound.server.api(text(&rotated, "key"));
    exceeded(&next.post(CREDIT, &credit_body("3.00")), "perDay", json!({ "VES": "2.00" }));
    next.post(CREDIT, &credit_body("2.00")).expect(201);
    exceeded(&bound.agent.post(CREDIT, &credit_body("0.01")), "perDay", json!({ "VES": "0.00" }));
}

#[test]
fn only_its_payees_are_paid() {
    let server = Server::shared();
    let tenant = server.tenant();
    let owner = &tenant.test;
    owner.fund("1000.00");
    let (one, other) = (owner.merchant(), owner.merchant());
    let account = account_body("1.00");
    let mandate = json!({
        "perDay": { "VES": "900.00", "USDT": "10.00" },
        "payees": [one["merchantId"], "+58 414-765.43.21", account["cuenta"]],
    });
    let made = owner.post("/v1/keys", &json!({ "mandate": mandate })).expect(201);
    let agent = server.api(text(&made, "key"));
    agent.payout(&one, "1.00", json!({})).expect(201);
    agent.payout(&other, "1.00", json!({})).refused(403, "mandate_payee");
    agent.post(CREDIT, &credit_body("1.00")).expect(201);
    agent.post("/v1/payments/change", &credit_body("1.00")).expect(201);
    let stranger = json!({ "telefono": "04241234567" });
    agent.post(CREDIT, &merged(credit_body("1.00"), stranger)).refused(403, "mandate_payee");
    agent.post("/v1/payments/credit/account", &account).expect(201);
    let usdt =
        json!({ "amountUsdt": "1.00", "address": WALLET, "network": "TRC20", "externalRef": fresh("usdt") });
    agent.post("/v1/crypto/payouts", &usdt).refused(403, "mandate_payee");
    let batch = json!({ "externalRef": fresh("batch"), "items": [
        payout_body(&other, "1.00"), payout_body(&one, "2.00"), payout_body(&one, "895.00"), payout_body(&one, "893.00"),
    ] });
    let answered = agent.post("/v1/payouts/batch", &batch).expect(201);
    let codes: Vec<&Value> = list(&answered, "items").iter().map(|item| &item["failureCode"]).collect();
    assert_eq!(
        codes,
        [&json!("mandate_payee"), &Value::Null, &json!("mandate_exceeded"), &Value::Null],
        "{answered}"
    );
}

#[test]
fn every_way_out_is_counted_and_what_comes_back_is_not() {
    let bound = Bound::by(json!({ "perDay": { "VES": "5000.00", "USDT": "20.00", "COP": 60_000 } }));
    let (owner, agent) = (&bound.owner, &bound.agent);
    let left = |currency: &str| bound.remaining()["perDay"][currency].clone();
    let quote = agent.quote_ves("400.00");
    let waiting = agent.accept_quote(&quote, json!({ "reference": "test_pending-1" })).expect(201);
    assert_eq!(left("VES"), "4600.00");
    agent.act(&format!("/v1/conversions/{}/cancel", text(&waiting, "id"))).expect(200);
    assert_eq!(left("VES"), "5000.00");
    agent.accept_quote(&agent.quote_ves("500.00"), json!({})).expect(201);
    assert_eq!(left("VES"), "4500.00");

    let payment = owner.pay(1);
    let gross = owner.payment(&payment)["vesAmount"].as_f64().expect("an amount");
    agent.reverse(&payment).expect(200);
    assert_eq!(left("VES"), format!("{:.2}", 4500.0 - gross), "the gross of the reversal");

    let paid = owner.cop_paid(50_000);
    agent.act(&format!("{}/refund", cop_path(&paid))).expect(200);
    assert_eq!(left("COP"), 10_000);
    let paid = owner.cop_paid(50_000);
    let refused = agent.act(&format!("{}/refund", cop_path(&paid)));
    exceeded(&refused, "perDay", json!({ "COP": 10_000 }));

    owner.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "100.00" })).expect(201);
    let usdt = |amount: &str, address: &str| {
        let body = json!({
            "amountUsdt": amount, "address": address, "network": "POLYGON", "externalRef": fresh("usdt"),
        });
        agent.post("/v1/crypto/payouts", &body)
    };
    let sent = usdt("5.00", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed").expect(201);
    let fee: f64 = text(&sent, "networkFeeUsdt").parse().expect("a fee");
    let after = format!("{:.2}", 15.0 - fee);
    assert_eq!(left("USDT"), after, "with the network's fee");
    usdt("5.00", "0x52908400098527886e0f7030069857d2e4169ee0").expect(201);
    assert_eq!(left("USDT"), after, "the network refused it");
}

#[test]
fn who_may_pay_only_some_does_not_say_where_their_money_goes() {
    let bound = Bound::by(json!({ "perDay": { "VES": "40.00" }, "payees": ["04141234567"] }));
    let merchant = bound.owner.merchant();
    let path = format!("/v1/merchants/{}", text(&merchant, "merchantId"));
    let (methods, method) = (format!("{path}/payout-methods"), method_path(&merchant, 0));
    for (what, answer) in [
        ("register", bound.agent.post("/v1/merchants", &json!({}))),
        ("rename", bound.agent.patch(&path, &json!({}))),
        ("add", bound.agent.post(&methods, &json!({}))),
        ("take away", bound.agent.delete(&method)),
        ("choose", bound.agent.post(&format!("{method}/default"), &json!({}))),
        ("own account", bound.agent.put("/v1/payouts/account", &json!({}))),
    ] {
        assert_eq!(answer.status, 403, "{what}");
        answer.refused(403, "mandate_payee");
    }
    bound.agent.get(&methods).expect(200);
    let convert = json!({ "autoConvert": { "COP": { "percent": 100 } } });
    let refused = bound.agent.patch("/v1/conversions/settings", &convert);
    exceeded(&refused, "perCall", json!({ "COP": 0 }));
    bound.owner.patch("/v1/conversions/settings", &convert).expect(200);
}

/// The answer to a call whose key changes after its head was taken and before its body is there.
fn meanwhile(bound: &Bound, key: &str, body: &Value, change: impl FnOnce()) -> (u16, Value) {
    let body = body.to_string();
    let head = format!(
        "POST {CREDIT} HTTP/1.1\r\nhost: here\r\nx-api-key: {key}\r\ncontent-type: application/json\r\n\
        content-length: {}\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let mut stream = BufReader::new(TcpStream::connect(bound.server.address()).expect("a connection"));
    stream.get_ref().set_read_timeout(Some(Duration::from_secs(30))).expect("a socket");
    stream.get_mut().write_all(head.as_bytes()).expect("sent");
    let mut line = String::new();
    stream.read_line(&mut line).expect("a status");
    assert!(line.starts_with("HTTP/1.1 100"), "the body is waited for: {line}");
    change();
    stream.get_mut().write_all(body.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.trim_start().split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, serde_json::from_str(body).expect("JSON"))
}

#[test]
fn what_a_key_may_do_is_what_it_may_when_its_body_is_there() {
    let soon = || stamp(Utc::now() + TimeDelta::milliseconds(1_500));
    let revoke = |bound: &Bound| drop(bound.owner.delete(&bound.path).expect(200));
    let lower = |bound: &Bound| {
        bound.owner.patch(&bound.path, &json!({ "mandate": { "perDay": { "VES": "1.00" } } })).expect(200);
    };
    let narrow =
        |bound: &Bound| drop(bound.owner.patch(&bound.path, &json!({ "scopes": ["read"] })).expect(200));
    let wait = |_: &Bound| sleep(Duration::from_millis(1_600));
    type Change<'a> = &'a dyn Fn(&Bound);
    let cases: [(&str, Option<String>, Change<'_>, u16, &str); 5] = [
        ("nothing", None, &|_| {}, 201, ""),
        ("its mandate is lowered", None, &lower, 403, "mandate_exceeded"),
        ("it loses a scope", None, &narrow, 403, "scope_missing"),
        ("it is revoked", None, &revoke, 401, "unauthorized"),
        ("it expires", Some(soon()), &wait, 401, "unauthorized"),
    ];
    for (what, expires, change, status, code) in cases {
        let bound = Bound::by(json!({ "perDay": { "VES": "50.00" } }));
        let key = match expires {
            None => bound.key.clone(),
            Some(_) => {
                let body = json!({ "mandate": { "perDay": { "VES": "50.00" } }, "expiresAt": soon() });
                text(&bound.owner.post("/v1/keys", &body).expect(201), "key").to_owned()
            }
        };
        let (answered, body) = meanwhile(&bound, &key, &credit_body("10.00"), || change(&bound));
        assert_eq!(answered, status, "{what}: {body}");
        assert!(code.is_empty() || body["error"] == code, "{what}: {body}");
    }
}

/// The answers to so many calls at once, all for one name, while the key's mandate becomes this after the first answer;
/// and what the account had when the change was answered.
fn while_it_changes(
    bound: &Bound,
    mandate: &Value,
    call: impl Fn(usize) -> Answer + Sync,
) -> (Vec<Answer>, f64) {
    const CALLS: usize = 40;
    let (first, answered) = channel();
    let mut left = 0.0;
    let answers = scope(|scope| {
        let calls: Vec<_> = (0..CALLS)
            .map(|n| {
                let (first, call) = (first.clone(), &call);
                scope.spawn(move || {
                    let answer = call(n);
                    first.send(()).expect("somebody waits");
                    answer
                })
            })
            .collect();
        answered.recv().expect("an answer");
        bound.owner.patch(&bound.path, &json!({ "mandate": mandate })).expect(200);
        left = ledger(bound);
        calls.into_iter().map(|call| call.join().expect("no panic")).collect()
    });
    (answers, left)
}

fn ledger(bound: &Bound) -> f64 {
    text(&bound.owner.balance(), "ledgerNetVes").parse().expect("an amount")
}

/// Batches that wait for each other, as all of them name one payout, which is known and free.
fn batches(bound: &Bound, mandate: &Value) -> (Vec<Answer>, f64) {
    let shared = credit_body("0.01");
    while_it_changes(bound, mandate, |_| {
        let items = json!([shared, credit_body("1.00")]);
        let batch = json!({ "externalRef": fresh("batch"), "items": items });
        bound.agent.post("/v1/payments/credit/disburse", &batch)
    })
}

#[test]
fn a_mandate_that_is_lowered_binds_the_batches_that_wait() {
    // One of its own, as so many calls at once are what others may leave it.
    let (server, mut refused) = (Arc::new(Server::start()), 0);
    for _ in 0..10 {
        let bound = Bound::on(Arc::clone(&server), json!({ "perDay": { "VES": "1000.00" } }));
        let (answers, left) = batches(&bound, &json!({ "perDay": { "VES": "1.00" } }));
        for answer in answers {
            let batch = answer.expect(201);
            let second = &list(&batch, "items")[1];
            assert!([&Value::Null, &json!("mandate_exceeded")].contains(&&second["failureCode"]), "{second}");
            refused += i32::from(second["failureCode"] == "mandate_exceeded");
        }
        // One of them holds the name, and its command may have been sent.
        let paid = left - ledger(&bound);
        assert!(paid < 1.02, "{paid} went out after the mandate was lowered");
        if refused > 0 {
            return;
        }
    }
    panic!("no batch waited");
}

#[test]
fn what_waits_while_its_mandate_comes_to_ask_for_approvals_waits_for_one() {
    let asks = json!({ "perDay": { "VES": "9000.00" }, "approvalAbove": { "VES": "0.50" } });
    let (server, mut waiting) = (Arc::new(Server::start()), [0, 0]);
    for _ in 0..10 {
        let bound = Bound::on(Arc::clone(&server), json!({ "perDay": { "VES": "9000.00" } }));
        // Nobody can pay so much, so the name is free for the next.
        let poor = credit_body("5000.00");
        let calls = while_it_changes(&bound, &asks, |_| bound.agent.post(CREDIT, &poor)).0;
        let asks_nothing = json!({ "mandate": { "perDay": { "VES": "9000.00" } } });
        bound.owner.patch(&bound.path, &asks_nothing).expect(200);
        for (n, answers) in [calls, batches(&bound, &asks).0].into_iter().enumerate() {
            for answer in answers {
                assert!([201, 202, 422].contains(&answer.status), "{n}: {}", answer.text());
                waiting[n] += i32::from(answer.status == 202);
            }
        }
        if waiting[0] > 0 && waiting[1] > 0 {
            return;
        }
    }
    panic!("nothing waited: {waiting:?}");
}

#[test]
fn a_batch_that_is_under_way_is_given_back_to_a_lowered_mandate() {
    let bound = Bound::by(json!({ "perDay": { "VES": "50.00" } }));
    let items = json!([credit_body("20.00"), credit_body("5.06")]);
    let batch = json!({ "externalRef": fresh("batch"), "items": items });
    let paid = bound.agent.post("/v1/payments/credit/disburse", &batch).expect(201);
    assert_eq!(list(&paid, "items")[1]["status"], "pending", "{paid}");
    bound.owner.patch(&bound.path, &json!({ "mandate": { "perDay": { "VES": "24.00" } } })).expect(200);
    assert_eq!(bound.remaining(), json!({ "perDay": { "VES": "0.00" } }));
    bound.owner.advance(61);
    assert_eq!(bound.remaining(), json!({ "perDay": { "VES": "4.00" } }), "the bank refused 5.06");
    exceeded(&bound.agent.post(CREDIT, &credit_body("4.01")), "perDay", json!({ "VES": "4.00" }));
}

#[test]
fn a_rotated_key_and_its_successor_have_one_mandate() {
    let server = Server::shared();
    let tenant = server.tenant();
    let owner = &tenant.test;
    owner.fund("1000.00");
    let made = owner.post("/v1/keys", &json!({ "scopes": ["payout", "read"] })).expect(201);
    let rotated = |id: &str| {
        let path = format!("/admin/keys/{id}/rotate");
        server.admin().post(&path, &json!({ "overlapSeconds": 600 })).expect(201)
    };
    let next = rotated(text(&made, "keyId"));
    let last = rotated(text(&next, "keyId"));
    let agents = [&made, &next, &last].map(|key| server.api(text(key, "key")));
    let pays = |at: usize, monto: &str| agents[at].post(CREDIT, &credit_body(monto));
    pays(0, "1.00").expect(201);
    let path = |key: &Value| format!("/v1/keys/{}", text(key, "keyId"));
    let mandate = json!({ "agent": "Claude", "perDay": { "VES": "10.00" } });
    owner.patch(&path(&next), &json!({ "mandate": mandate })).expect(200);
    for (key, agent) in [&made, &next, &last].into_iter().zip(&agents) {
        assert_eq!(agent.get(&path(key)).expect(200)["mandate"], mandate);
    }
    pays(0, "4.00").expect(201);
    pays(1, "3.00").expect(201);
    exceeded(&pays(2, "3.01"), "perDay", json!({ "VES": "3.00" }));
    owner.patch(&path(&made), &json!({ "mandate": { "perDay": { "VES": "8.00" } } })).expect(200);
    exceeded(&pays(2, "1.01"), "perDay", json!({ "VES": "1.00" }));
    pays(2, "1.00").expect(201);
    owner.delete(&path(&made)).expect(200);
    owner.patch(&path(&last), &json!({ "mandate": { "perDay": { "VES": "9.00" } } })).expect(200);
    exceeded(&pays(1, "1.01"), "perDay", json!({ "VES": "1.00" }));
}

#[test]
fn a_thousand_calls_at_once_never_pass_it_by_a_cent() {
    let bound = Bound::by(json!({ "perDay": { "VES": "20.00" } }));
    let statuses = race(100, |_| bound.agent.post(CREDIT, &credit_body("0.70")).status);
    let paid = statuses.iter().filter(|status| **status == 201).count();
    assert_eq!(paid, 28, "{statuses:?}");
    assert_eq!(bound.remaining(), json!({ "perDay": { "VES": "0.40" } }));
}

#[test]
fn a_line_of_a_stream_and_a_dry_run_are_bound_too() {
    let bound = Bound::by(json!({ "perDay": { "VES": "10.00" } }));
    let dry = bound.agent.with("dry-run", "true").post(CREDIT, &credit_body("11.00")).expect(200);
    assert_eq!((&dry["status"], &dry["body"]["error"]), (&json!(403), &json!("mandate_exceeded")));
    let dry = bound.agent.with("dry-run", "true").post(CREDIT, &credit_body("9.00")).expect(200);
    assert_eq!(dry["status"], 201);
    assert_eq!(bound.remaining(), json!({ "perDay": { "VES": "10.00" } }), "a dry run spends nothing");
    let refused = bound.agent.with("idempotency-key", &fresh("key")).post(CREDIT, &credit_body("11.00"));
    exceeded(&refused, "perDay", json!({ "VES": "10.00" }));
    let poor = Bound::by(json!({ "perDay": { "VES": "5000.00" } }));
    poor.agent.post(CREDIT, &credit_body("4000.00")).refused(422, "insufficient_balance");
    assert_eq!(poor.remaining(), json!({ "perDay": { "VES": "5000.00" } }));
}

#[test]
fn what_was_spent_survives_a_crash() {
    let mut server = Server::start();
    let owner = server.tenant().test;
    early(&owner);
    owner.fund("1000.00");
    let mandate = json!({ "agent": "Claude", "perDay": { "VES": "40.00" } });
    let made = owner.post("/v1/keys", &json!({ "mandate": mandate })).expect(201);
    let (agent, path) = (server.api(text(&made, "key")), format!("/v1/keys/{}", text(&made, "keyId")));
    agent.post(CREDIT, &credit_body("10.00")).expect(201);
    let waiting = agent.post(CREDIT, &credit_body("5.06")).expect(202);
    let left = || agent.get(&path).expect(200)["remaining"].clone();
    for snapshot in [false, true] {
        if snapshot {
            server.admin().post("/admin/snapshot", &json!({})).expect(200);
        }
        server.kill();
        server.restart();
        assert_eq!(left(), json!({ "perDay": { "VES": "24.94" } }), "snapshot: {snapshot}");
    }
    owner.advance(61);
    assert_eq!(owner.payout_now(&waiting)["status"], "failed");
    assert_eq!(left(), json!({ "perDay": { "VES": "30.00" } }));
    server.kill();
    server.restart();
    assert_eq!(left(), json!({ "perDay": { "VES": "30.00" } }));
    exceeded(&agent.post(CREDIT, &credit_body("30.01")), "perDay", json!({ "VES": "30.00" }));
}
