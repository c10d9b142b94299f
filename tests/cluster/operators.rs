//! What operators do through any node about things of any partition: calls by the id of a thing, the state of the
//! server, and approvals by a second person.

use crate::machines::{Machines, exchange_as};
use crate::partitions::{call, machines, opened, process, until_led};
use crate::seller;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::process::Command;
use std::time::{Duration, Instant};

const MISSING: &str = "pasarela-partitions-missing";
const UNKNOWN: &str = "01930a4b-5c6d-7e8f-9012-3456789b9999";
const TRON: &str = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";

type Answered = (u16, HashMap<String, String>, Value);

/// An operator, by its token.
pub struct Operator<'a> {
    machines: &'a Machines,
    token: String,
}

impl Operator<'_> {
    /// Once more where nobody led for a moment, which happens on a busy machine, and the call was not carried out.
    fn answer(
        &self,
        node: usize,
        method: &str,
        path: &str,
        body: Option<&Value>,
        once: Option<&str>,
    ) -> Answered {
        let began = Instant::now();
        loop {
            let answered = self.first_answer(node, method, path, body, once);
            if answered.2["error"] != "no_leader" || began.elapsed() > Duration::from_secs(10) {
                return answered;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn first_answer(
        &self,
        node: usize,
        method: &str,
        path: &str,
        body: Option<&Value>,
        once: Option<&str>,
    ) -> Answered {
        let once = once.map(|key| format!("idempotency-key: {key}\r\n")).unwrap_or_default();
        let head = format!("host: localhost\r\nauthorization: Bearer {}\r\n{once}", self.token);
        exchange_as(self.machines.admin_port(node), method, path, body, &head).expect("an answer")
    }

    pub fn get(&self, node: usize, path: &str) -> (u16, Value) {
        let (status, _, shown) = self.answer(node, "GET", path, None, None);
        (status, shown)
    }

    pub fn post(&self, node: usize, path: &str, body: Value) -> (u16, Value) {
        let (status, _, shown) = self.answer(node, "POST", path, Some(&body), None);
        (status, shown)
    }
}

pub fn root(machines: &Machines) -> Operator<'_> {
    Operator { machines, token: Machines::TOKEN.to_owned() }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

pub fn signal(machines: &Machines, name: &str, partition: usize) {
    let pids: Vec<String> =
        (0..3).map(|node| process(machines, node, partition).expect("it runs").to_string()).collect();
    assert!(Command::new("kill").arg(name).args(&pids).status().expect("it runs").success());
}

/// An account with what operators decide about.
pub struct Shop {
    pub name: &'static str,
    pub partition: u64,
    pub id: String,
    pub intents: Vec<String>,
    pub operation: String,
    pub card: String,
    pub reviews: Vec<String>,
    merchant: String,
    pub event: String,
}

impl Shop {
    pub fn open(machines: &Machines, name: &'static str) -> Shop {
        let (partition, id, key) = opened(machines, name);
        let made = |path: &str, body: Value| {
            let mut shown = Value::Null;
            // A front hears of a new key in a moment.
            machines.until(|machines| {
                let (status, answer) = call(machines, 1, &key, "POST", path, Some(&body));
                shown = answer;
                (200..=202).contains(&status)
            });
            shown
        };
        made("/v1/test/fund", json!({ "currency": "USDT", "amount": "5000.00" }));
        made("/v1/test/fund", json!({ "currency": "COP", "amount": "100000" }));
        let intent = |reference: &str| {
            let charge = json!({ "usdAmount": 10, "debtorId": "V12345678", "debtorCellPhone": "04141234567",
                "debtorBankCode": 134, "externalRef": reference });
            (text(&made("/v1/payments/c2p/request", charge.clone())["intentId"]), charge)
        };
        let intents = ["intent-1", "intent-2"].map(|reference| intent(reference).0).into();
        // The bank is silent.
        let (waiting, mut charge) = intent("silent");
        (charge["intentId"], charge["token"]) = (json!(waiting), json!("77777777"));
        let silent = made("/v1/payments/c2p", charge);
        let card = json!({ "number": "4111111111111111", "expMonth": 12, "expYear": 2035, "cvv": "123",
            "holderName": "Ana Perez", "holderId": "V12345678" });
        let card = json!({ "usdAmount": 10, "card": card, "externalRef": "card", "description": "compra" });
        let card = made("/v1/payments/vpos", card);
        let review = |reference: &str| {
            let sent = json!({ "amountUsdt": "700.00", "address": TRON, "network": "TRC20", "externalRef": reference });
            text(&made("/v1/crypto/payouts", sent)["id"])
        };
        let reviews = ["review-1", "review-2"].map(review).into();
        let merchant = text(&made("/v1/merchants", seller("seller"))["merchantId"]);
        let mut event = Value::Null;
        machines.until(|machines| {
            event = call(machines, 2, &key, "GET", "/v1/events", None).1["items"][0]["id"].clone();
            event.is_string()
        });
        let event = text(&event);
        let (operation, card) = (text(&silent["operationId"]), text(&card["paymentId"]));
        Shop { name, partition, id, intents, operation, card, reviews, merchant, event }
    }

    fn pay_pesos(&self, root: &Operator<'_>, node: usize, reference: &str) -> String {
        let body = json!({ "mode": "test", "amountCop": 40_000, "bank": "Bancolombia",
            "accountNumber": "12345678901", "accountType": "savings", "holderName": "Ana Perez",
            "documentType": "CC", "documentNumber": "1020304050", "externalRef": reference });
        let (status, shown) = root.post(node, &format!("/admin/tenants/{}/cop-payouts", self.id), body);
        assert_eq!(status, 201, "{shown}");
        text(&shown["id"])
    }
}

pub fn rated(machines: &Machines) {
    let rate = json!({ "pair": "USD/VES", "source": "bcv", "side": "OFFICIAL", "price": "200.00" });
    assert_eq!(root(machines).post(1, "/admin/rates", rate).0, 201);
}

/// Nodes that lead nothing: the first has all partitions from the founding on.
const FRONTS: [usize; 2] = [1, 2];

#[test]
#[ignore = "takes minutes: make cluster-test"]
fn things_of_any_partition_are_read_and_decided_by_their_id_through_any_node() {
    let Some(mut machines) = machines() else { return };
    machines.found();
    until_led(&machines);
    rated(&machines);
    let shops = ["one", "two", "three"].map(|name| Shop::open(&machines, name));
    assert_eq!(shops.each_ref().map(|shop| shop.partition), [1, 2, 0]);
    let root = root(&machines);
    for shop in &shops {
        let what = shop.partition;
        for node in 0..3 {
            for (path, id) in [("payments", &shop.card), ("merchants", &shop.merchant)] {
                let (status, shown) = root.get(node, &format!("/admin/{path}/{id}"));
                assert_eq!(
                    (status, &shown["tenantId"]),
                    (200, &json!(shop.id)),
                    "{what} at n{node}: {shown}"
                );
            }
        }
        let [one, other] = FRONTS;
        // Once, however often and wherever it is sent.
        let cancel = format!("/admin/payments/{}/cancel", shop.intents[0]);
        let once = format!("cancel-{what}");
        let nothing = json!({});
        let canceled = root.answer(one, "POST", &cancel, Some(&nothing), Some(&once));
        assert_eq!((canceled.0, &canceled.2["status"]), (200, &json!("CANCELED")), "{what}: {}", canceled.2);
        let again = root.answer(other, "POST", &cancel, Some(&nothing), Some(&once));
        assert_eq!((again.0, &again.2), (200, &canceled.2), "{what}");
        assert!(again.1.contains_key("idempotent-replayed"), "{what}: {:?}", again.1);
        let (status, shown) = root.post(other, &cancel, json!({}));
        assert_eq!((status, &shown["error"]), (409, &json!("payment_not_pending")), "{what}: {shown}");

        let resolve = format!("/admin/operations/{}/resolve", shop.operation);
        let said = json!({ "outcome": "refused", "failureCode": "AC01", "note": "by phone" });
        let (status, shown) = root.post(one, &resolve, said.clone());
        assert_eq!((status, &shown["status"]), (200, &json!("FAILED")), "{what}: {shown}");
        assert_eq!(root.post(other, &resolve, said).1["error"], "operation_resolved", "{what}");

        let taken_back = json!({ "paymentId": shop.card, "reason": "fraud" });
        let (status, opened) =
            root.post(other, &format!("/admin/tenants/{}/chargebacks", shop.id), taken_back);
        assert_eq!(status, 201, "{what}: {opened}");
        let close = format!("/admin/chargebacks/{}/close", text(&opened["chargebackId"]));
        let (status, shown) = root.post(one, &close, json!({ "outcome": "won" }));
        assert_eq!((status, &shown["status"]), (200, &json!("won")), "{what}: {shown}");

        for (node, review, verb, is) in
            [(one, &shop.reviews[0], "approve", "completed"), (other, &shop.reviews[1], "reject", "rejected")]
        {
            let (status, shown) =
                root.post(node, &format!("/admin/crypto/payouts/{review}/{verb}"), json!({}));
            assert_eq!((status, &shown["status"]), (200, &json!(is)), "{what}: {shown}");
        }

        for (node, verb, word, is) in [
            (other, "complete", json!({ "reference": "B-77" }), "completed"),
            (one, "fail", json!({ "failureCode": "AC01" }), "failed"),
        ] {
            let path = format!("/admin/cop-payouts/{}", shop.pay_pesos(&root, node, verb));
            let (status, shown) = root.post(node, &format!("{path}/{verb}"), word);
            assert_eq!((status, &shown["status"]), (200, &json!(is)), "{what}: {shown}");
            assert_eq!(root.get(0, &path).1["status"], is, "{what}");
        }
        let (status, shown) = root.post(one, &format!("/admin/events/{}/resend", shop.event), json!({}));
        assert_eq!((status, &shown["eventId"]), (202, &json!(shop.event)), "{what}: {shown}");
    }
    let by_id = |id: &str| {
        [
            ("GET", format!("/admin/payments/{id}")),
            ("GET", format!("/admin/merchants/{id}")),
            ("GET", format!("/admin/approvals/{id}")),
            ("GET", format!("/admin/cop-payouts/{id}")),
            ("POST", format!("/admin/payments/{id}/cancel")),
            ("POST", format!("/admin/events/{id}/resend")),
            ("POST", format!("/admin/crypto/payouts/{id}/approve")),
            ("POST", format!("/admin/approvals/{id}/reject")),
        ]
    };
    for (method, path) in by_id(UNKNOWN) {
        let body = (method == "POST").then(|| json!({}));
        let (status, _, shown) = root.answer(1, method, &path, body.as_ref(), None);
        assert_eq!((status, &shown["error"]), (404, &json!("not_found")), "{path}: {shown}");
        let nobody = Operator { machines: &machines, token: "nobody".to_owned() };
        assert_eq!(nobody.answer(1, method, &path, body.as_ref(), None).0, 401, "{path}");
    }

    // Of a partition that is not there nothing is known; of the others all is, and everything is decided.
    let (_, whole) = root.get(1, "/admin/status");
    for gone in [2, 0] {
        signal(&machines, "-STOP", gone);
        for (node, shop) in FRONTS.into_iter().cycle().zip(&shops) {
            let path = format!("/admin/payments/{}", shop.card);
            let (status, _, shown) = root.first_answer(node, "GET", &path, None, None);
            if shop.partition == gone as u64 {
                assert_eq!((status, &shown["error"]), (503, &json!("no_leader")), "{shown}");
                continue;
            }
            assert_eq!((status, &shown["tenantId"]), (200, &json!(shop.id)), "without {gone}: {shown}");
            let said = format!("/admin/events/{}/resend", shop.event);
            let (status, shown) = root.post(node, &said, json!({}));
            assert_eq!(status, 202, "without {gone}: {shown}");
        }
        let (status, _, shown) =
            root.first_answer(1, "GET", &format!("/admin/payments/{UNKNOWN}"), None, None);
        assert_eq!((status, &shown["error"]), (503, &json!("no_leader")), "without {gone}: {shown}");
        let (status, headers, part) = root.first_answer(2, "GET", "/admin/status", None, None);
        assert_eq!((status, headers.get(MISSING)), (200, Some(&gone.to_string())), "{part}");
        let records = |of: &Value| of["walSeq"].as_u64().expect("a number");
        assert!(records(&part) < records(&whole), "without {gone}: {part} of {whole}");
        signal(&machines, "-CONT", gone);
        until_led(&machines);
        machines.until(|_| {
            let (status, headers, _) = root.first_answer(1, "GET", "/admin/status", None, None);
            status == 200 && !headers.contains_key(MISSING)
        });
    }
    for shop in &shops {
        let cancel = format!("/admin/payments/{}/cancel", shop.intents[1]);
        let (status, shown) = root.post(2, &cancel, json!({}));
        assert_eq!((status, &shown["status"]), (200, &json!("CANCELED")), "{shown}");
    }
    // What the status counts is of all: each partition has the platform's book and both of its account's.
    let (status, _, shown) = root.first_answer(0, "GET", "/admin/status", None, None);
    assert_eq!((status, &shown["rails"]["duplicateCalls"]), (200, &json!(0)), "{shown}");
    assert!(shown["actors"]["books"].as_u64() >= Some(6), "{shown}");
    assert_eq!(root.get(1, "/admin/status?x=1").0, 400);
    // Nothing was set.
    let (status, shown) = root.post(1, "/admin/clock/confirm", json!({}));
    assert_eq!((status, &shown["stepMs"]), (200, &json!(0)), "{shown}");
    assert_eq!(root.post(1, "/admin/clock/confirm", json!({ "x": 1 })).0, 400);
    machines.stop_all();
    machines.logs_agree();
}

#[test]
#[ignore = "takes minutes: make cluster-test"]
fn calls_of_any_partition_wait_for_a_second_person_at_any_node() {
    let Some(mut machines) = machines() else { return };
    (0..3).for_each(|node| machines.approvals(node, "adjustments"));
    machines.found();
    until_led(&machines);
    let accounts = ["one", "two", "three"].map(|name| opened(&machines, name));
    assert_eq!(accounts.each_ref().map(|(partition, ..)| *partition), [1, 2, 0]);
    let root = root(&machines);
    let [ana, ben, cyd] = ["ana", "ben", "cyd"].map(|name| {
        let email = format!("{name}@example.com");
        let (status, made) =
            root.post(1, "/admin/operators", json!({ "name": name, "email": email, "role": "treasury" }));
        assert_eq!(status, 201, "{made}");
        (text(&made["operatorId"]), Operator { machines: &machines, token: text(&made["token"]) })
    });
    let ask = |node: usize, id: &str, reference: &str| {
        let body = json!({ "mode": "test", "currency": "VES", "amount": "9.00", "description": "d",
            "externalRef": reference });
        let (status, shown) = ana.1.post(node, &format!("/admin/tenants/{id}/adjustments"), body);
        assert_eq!(status, 202, "{shown}");
        text(&shown["approvalId"])
    };
    let balance = |key: &str| call(&machines, 2, key, "GET", "/v1/balance", None).1["availableVes"].clone();
    let [one, other] = FRONTS;
    let asked = accounts.each_ref().map(|(_, id, _)| [ask(one, id, "a"), ask(other, id, "b")]);
    let (_, listed) = ben.1.get(other, "/admin/approvals?status=pending");
    let mut listed: Vec<String> =
        listed["items"].as_array().expect("a list").iter().map(|item| text(&item["approvalId"])).collect();
    listed.sort_unstable();
    let mut expected: Vec<String> = asked.iter().flatten().cloned().collect();
    expected.sort_unstable();
    assert_eq!(listed, expected);
    for ((partition, _, key), [first, second]) in accounts.iter().zip(&asked) {
        let (status, shown) = cyd.1.get(0, &format!("/admin/approvals/{first}"));
        assert_eq!((status, &shown["status"]), (200, &json!("pending")), "{partition}: {shown}");
        let approve = |by: &Operator<'_>, node, id: &str| {
            by.post(node, &format!("/admin/approvals/{id}/approve"), json!({ "note": "seen" }))
        };
        let (status, shown) = approve(&ana.1, other, first);
        assert_eq!(
            (status, &shown["error"]),
            (403, &json!("second_person_required")),
            "{partition}: {shown}"
        );
        // Two at once, at two nodes: one of them does it, once.
        let [of_ben, of_cyd] = std::thread::scope(|scope| {
            let asked = [(&ben.1, one), (&cyd.1, other)]
                .map(|(by, node)| scope.spawn(move || approve(by, node, first)));
            asked.map(|asked| asked.join().expect("it asks"))
        });
        let mut outcomes = [&of_ben, &of_cyd].map(|(status, _)| *status);
        outcomes.sort_unstable();
        assert_eq!(outcomes, [200, 409], "{partition}: {} {}", of_ben.1, of_cyd.1);
        let lost = if of_ben.0 == 409 { &of_ben.1 } else { &of_cyd.1 };
        assert_eq!(lost["error"], "approval_decided", "{partition}");
        assert_eq!(balance(key), "9.00", "{partition}");
        let (status, shown) =
            cyd.1.post(one, &format!("/admin/approvals/{second}/reject"), json!({ "note": "ask first" }));
        assert_eq!((status, &shown["status"]), (200, &json!("rejected")), "{partition}: {shown}");
        assert_eq!(balance(key), "9.00", "{partition}");
    }
    let audit = root.get(other, "/admin/audit?action=adjustment.create").1;
    assert_eq!(audit["items"].as_array().map(Vec::len), Some(3), "{audit}");

    // What an asker asked for ends with the right to ask for it, also where that comes back at once.
    let waiting = accounts.each_ref().map(|(_, id, _)| ask(one, id, "c"));
    for state in ["disabled", "active"] {
        let change = json!({ "status": state });
        let path = format!("/admin/operators/{}", ana.0);
        let (status, _, shown) = root.answer(one, "PATCH", &path, Some(&change), None);
        assert_eq!(status, 200, "{shown}");
    }
    for (id, (partition, _, key)) in waiting.iter().zip(&accounts) {
        machines.until(|_| ben.1.get(other, &format!("/admin/approvals/{id}")).1["status"] == "expired");
        let (_, shown) = ben.1.post(other, &format!("/admin/approvals/{id}/approve"), json!({}));
        assert_eq!(shown["error"], "approval_expired", "{partition}: {shown}");
        assert_eq!(balance(key), "9.00", "{partition}");
    }
    machines.stop_all();
}
