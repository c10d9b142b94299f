//! Accounts outside of the first partition, whole, through whichever node is asked: their new keys at once, what they
//! change of themselves, their buyers and the portal.

use crate::machines::{Answer, Machines, exchange_as, page_as};
use crate::partitions::{
    call, epochs, leader_of, machines, opened, process, until_followed, until_led, until_revoked,
};
use regex::Regex;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::process::Command;
use std::time::{Duration, Instant};

const ROUNDS: usize = 4;

/// The partition, id and test key.
type Account = (u64, String, String);

/// A cluster with an account in each of the further partitions.
fn accounts() -> Option<(Machines, [Account; 2])> {
    let mut machines = machines()?;
    machines.found();
    until_led(&machines);
    let rate = json!({ "pair": "USD/VES", "source": "bcv", "side": "OFFICIAL", "price": "200.00" });
    assert_eq!(machines.operator(1, "POST", "/admin/rates", Some(&rate)).expect("an answer").0, 201);
    let accounts = ["one", "two"].map(|name| opened(&machines, name));
    assert_eq!(accounts.each_ref().map(|(partition, ..)| *partition), [1, 2]);
    Some((machines, accounts))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

fn keyed(machines: &Machines, node: usize, key: &str, (path, body): (&str, &Value), once: &str) -> Answer {
    let head = format!("host: localhost\r\nx-api-key: {key}\r\nidempotency-key: {once}\r\n");
    exchange_as(machines.ports()[node], "POST", path, Some(body), &head)
}

/// An answer that is no 503, unless nobody led for a moment, as happens on a busy machine.
fn steady(machines: &Machines, ask: impl Fn() -> (u16, Value)) -> (u16, Value) {
    for _ in 0..5 {
        let before = epochs(machines);
        let (status, body) = ask();
        if status != 503 {
            return (status, body);
        }
        let began = Instant::now();
        while epochs(machines) == before {
            assert!(began.elapsed() < Duration::from_secs(5), "{body}: {}", machines.logs());
            std::thread::sleep(Duration::from_millis(50));
        }
        until_led(machines);
    }
    panic!("nobody leads for long: {}", machines.logs());
}

fn works(machines: &Machines, node: usize, key: &str) -> u16 {
    steady(machines, || call(machines, node, key, "GET", "/v1/balance", None)).0
}

fn signal(name: &str, pids: &[u32]) {
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    assert!(Command::new("kill").arg(name).args(pids).status().expect("it runs").success());
}

#[test]
fn a_new_key_opens_every_node_at_once() {
    let Some((mut machines, accounts)) = accounts() else { return };
    for (partition, id, key) in &accounts {
        for round in 0..ROUNDS {
            let made = machines.operator(
                round % 3,
                "POST",
                &format!("/admin/tenants/{id}/keys"),
                Some(&json!({ "mode": "test" })),
            );
            let (status, made) = made.expect("an answer");
            assert_eq!(status, 201, "{made}");
            let (other, more) = ((round + 1) % 3, text(&made["key"]));
            assert_eq!(works(&machines, other, &more), 200, "{partition}, operators', round {round}");
            let (status, own) = call(&machines, other, key, "POST", "/v1/keys", Some(&json!({})));
            assert_eq!(status, 201, "{partition}, round {round}: {own}");
            let (third, own) = ((round + 2) % 3, text(&own["key"]));
            assert_eq!(works(&machines, third, &own), 200, "{partition}, own, round {round}");
            let fund = json!({ "currency": "VES", "amount": "1.00" });
            let (status, funded) = call(&machines, round % 3, &own, "POST", "/v1/test/fund", Some(&fund));
            assert_eq!(status, 201, "{partition}, round {round}: {funded}");
            let path = format!("/admin/keys/{}", text(&made["keyId"]));
            let (status, revoked) = machines.operator(third, "DELETE", &path, None).expect("an answer");
            assert!(status < 300, "{revoked}");
            until_revoked(&machines, other, &more);
        }
        let shown = call(&machines, 0, key, "GET", "/v1/balance", None).1;
        assert_eq!(shown["availableVes"], format!("{ROUNDS}.00"), "each once: {shown}");
    }

    // A front that hears of nothing.
    let leader = leader_of(&machines, 0);
    let deaf = (0..3).find(|node| *node != leader).expect("one stands by");
    let stopped = process(&machines, deaf, 0).expect("it runs");
    let (fresh, other) = {
        signal("-STOP", &[stopped]);
        let name = |name: &str| {
            let made = machines.operator(leader, "POST", "/admin/tenants", Some(&json!({ "name": name })));
            made.expect("an answer").1
        };
        let made = [name("three"), name("four"), name("five")];
        let [fresh, other] = [1, 2].map(|partition| {
            made.iter().find(|made| made["partition"] == partition).expect("they are spread").clone()
        });
        (fresh, other)
    };
    for account in [&fresh, &other] {
        let key = text(&account["testKey"]["key"]);
        let fund = json!({ "currency": "VES", "amount": "7.00" });
        let once = |node| keyed(&machines, node, &key, ("/v1/test/fund", &fund), "once").expect("an answer");
        let (first, again) = (once(deaf), once(leader));
        assert_eq!((first.0, again.0), (201, 201), "{} {}", first.2, again.2);
        assert_eq!(first.2, again.2, "it is done once");
        assert!(!first.1.contains_key("pasarela-elsewhere"), "{:?}", first.1);
        let line = json!({ "key": "line", "path": "/v1/test/fund", "body": fund });
        let head = format!("host: localhost\r\nx-api-key: {key}\r\n");
        let streamed =
            page_as(machines.ports()[deaf], "POST", "/v1/stream", (NDJSON, &format!("{line}\n")), &head);
        let (status, _, streamed) = streamed.expect("an answer");
        assert!(status == 200 && streamed.contains("\"status\":201"), "{status} {streamed}");
        let adjust = json!({ "mode": "test", "currency": "VES", "amount": "1.00",
            "description": "x", "externalRef": "adjusted" });
        let path = format!("/admin/tenants/{}/adjustments", text(&account["tenantId"]));
        let (status, adjusted) = machines.operator(deaf, "POST", &path, Some(&adjust)).expect("an answer");
        assert!(status < 300, "{status} {adjusted}");
        let shown = call(&machines, leader, &key, "GET", "/v1/balance", None).1;
        assert_eq!(shown["availableVes"], "15.00", "in its own books: {shown}");
    }
    signal("-CONT", &[stopped]);
    machines.stop_all();
}

const NDJSON: &str = "application/x-ndjson";
const FORM: &str = "application/x-www-form-urlencoded";

#[test]
fn an_account_changes_itself_through_every_node() {
    let Some((mut machines, accounts)) = accounts() else { return };
    for (node, (partition, id, key)) in (0..).zip(&accounts) {
        let [a, b, c] = [0, 1, 2].map(|n| (node + n) % 3);
        let make =
            |node, body: &Value| keyed(&machines, node, key, ("/v1/keys", body), "first").expect("an answer");
        let named = json!({ "name": "reports", "scopes": ["read"] });
        let (first, again) = (make(a, &named), make(b, &named));
        assert_eq!((first.0, again.0), (201, 201), "{partition}: {} {}", first.2, again.2);
        assert_eq!(first.2, again.2, "{partition}: one key");
        assert_eq!(again.1.get("idempotent-replayed").map(String::as_str), Some("true"), "{:?}", again.1);
        assert_eq!(make(c, &json!({ "name": "others" })).0, 422, "{partition}");
        let (status, used) =
            steady(&machines, || call(&machines, c, key, "GET", "/v1/idempotency/first", None));
        assert_eq!(
            (status, &used["state"], &used["response"]["keyId"]),
            (200, &json!("done"), &first.2["keyId"])
        );
        assert_eq!(used["response"].get("key").filter(|key| !key.is_null()), None, "{used}");
        assert_eq!(call(&machines, c, key, "GET", "/v1/idempotency/nothing", None).0, 404);
        let rehearsed = {
            let head = format!("host: localhost\r\nx-api-key: {key}\r\ndry-run: true\r\n");
            exchange_as(machines.ports()[a], "POST", "/v1/keys", Some(&named), &head).expect("an answer")
        };
        assert_eq!((rehearsed.0, &rehearsed.2["status"]), (200, &json!(201)), "{}", rehearsed.2);

        let path = format!("/v1/keys/{}", text(&first.2["keyId"]));
        let (status, changed) = call(&machines, b, key, "PATCH", &path, Some(&json!({ "name": "renamed" })));
        assert_eq!((status, &changed["name"]), (200, &json!("renamed")), "{partition}: {changed}");
        let reader = text(&first.2["key"]);
        assert_eq!(works(&machines, c, &reader), 200);
        let (status, listed) = call(&machines, c, key, "GET", "/v1/keys", None);
        let names: Vec<&Value> =
            listed["items"].as_array().expect("a list").iter().map(|key| &key["name"]).collect();
        assert!(status == 200 && names.contains(&&json!("renamed")), "{partition}: {listed}");
        assert_eq!(names.len(), 2, "a rehearsal makes none: {listed}");
        // Who may not is refused as anywhere.
        assert_eq!(call(&machines, a, &reader, "POST", "/v1/keys", Some(&json!({}))).0, 403);
        let (status, revoked) = call(&machines, a, key, "DELETE", &path, None);
        assert!(status == 200, "{partition}: {revoked}");
        (0..3).for_each(|node| until_revoked(&machines, node, &reader));
        let foreign = format!("/v1/keys/{}", text(&first.2["keyId"]));
        let (_, _, of_other) = &accounts[1 - node % 2];
        assert_eq!(call(&machines, a, of_other, "DELETE", &foreign, None).0, 404, "somebody else's");

        let convert = json!({ "autoConvert": { "COP": { "percent": 30 } } });
        let (status, set) = call(&machines, b, key, "PATCH", "/v1/conversions/settings", Some(&convert));
        assert_eq!((status, &set["autoConvert"]["COP"]["percent"]), (200, &json!(30)), "{partition}: {set}");
        let is_set = || {
            let (_, shown) = call(&machines, c, key, "GET", "/v1/conversions/settings", None);
            shown["autoConvert"]["COP"]["percent"] == 30
        };
        until_followed("settings are in force when they are answered", is_set);

        let (_, audit) = machines.operator(a, "GET", "/admin/audit?limit=50", None).expect("an answer");
        let of_tenant: BTreeSet<&str> = audit["items"]
            .as_array()
            .expect("a list")
            .iter()
            .filter(|entry| entry.to_string().contains(id.as_str()))
            .filter_map(|entry| entry["action"].as_str())
            .collect();
        for action in ["key.create", "key.update", "key.revoke"] {
            assert!(of_tenant.contains(action), "{action}: {audit}");
        }
    }
    machines.stop_all();
}

type Seen = (u16, HashMap<String, String>, String);

fn page(machines: &Machines, node: usize, path: &str, cookie: &str) -> Seen {
    let head = format!("host: localhost\r\naccept: text/html\r\ncookie: {cookie}\r\n");
    page_as(machines.ports()[node], "GET", path, (FORM, ""), &head).expect("an answer")
}

fn send(machines: &Machines, node: usize, path: &str, cookie: &str, members: &[(&str, &str)]) -> Seen {
    let head = format!("host: localhost\r\naccept: text/html\r\ncookie: {cookie}\r\n");
    let form = members.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&");
    page_as(machines.ports()[node], "POST", path, (FORM, &form), &head).expect("an answer")
}

fn found(pattern: &str, text: &str) -> String {
    let found = Regex::new(pattern).expect("a pattern").captures(text);
    found.unwrap_or_else(|| panic!("no {pattern}: {text}"))[1].to_owned()
}

fn csrf(page: &Seen) -> String {
    found(r#"name="csrf" value="([^"]*)""#, &page.2)
}

#[test]
fn buyers_and_the_portal_reach_an_account_through_every_node() {
    let Some((mut machines, accounts)) = accounts() else { return };
    let nobody = "host: localhost\r\n";
    let mut slugs = BTreeSet::new();
    for (node, (partition, _, key)) in (0..).zip(&accounts) {
        let [a, b, c] = [0, 1, 2].map(|n| (node + n) % 3);
        // A session, paid by card.
        let sell = json!({ "amountUsd": 10 });
        let (status, session) = call(&machines, a, key, "POST", "/v1/checkout/sessions", Some(&sell));
        assert_eq!(status, 201, "{session}");
        let (id, secret) = (text(&session["id"]), text(&session["clientSecret"]));
        let (status, _, shown) = page(&machines, b, &format!("/checkout/{id}"), "");
        assert!(status == 200 && shown.contains(&id), "{partition}: {status} {shown}");
        let card = json!({ "card": { "number": "4111111111111111", "expMonth": 12, "expYear": 2030,
            "cvv": "123", "holderName": "Ana Perez", "holderId": "V12345678" } });
        let head = format!("{nobody}authorization: Bearer {secret}\r\n");
        let paid =
            exchange_as(machines.ports()[c], "POST", &format!("/checkout/{id}/card"), Some(&card), &head);
        let (status, _, paid) = paid.expect("an answer");
        assert_eq!((status, &paid["status"]), (200, &json!("paid")), "{partition}: {paid}");
        let (_, shown) = call(&machines, b, key, "GET", &format!("/v1/checkout/sessions/{id}"), None);
        assert_eq!(shown["status"], "paid", "{partition}: {shown}");
        let (status, _, receipt) = page(&machines, a, &format!("/checkout/{id}/receipt"), "");
        assert!(status == 200, "{partition}: {status} {receipt}");

        // A link, whose name the other partition's account would like too.
        let product = json!({ "name": "Camisa de lino", "priceUsd": "25.50" });
        let (status, product) = call(&machines, b, key, "POST", "/v1/products", Some(&product));
        assert_eq!(status, 201, "{product}");
        let links = format!("/v1/products/{}/links", text(&product["id"]));
        let (status, made) = call(&machines, c, key, "POST", &links, Some(&json!({})));
        assert_eq!(status, 201, "{partition}: {made}");
        let slug = text(&made["slug"]);
        assert!(slugs.insert(slug.clone()), "{slug} leads to two accounts");
        let (status, _, shown) = page(&machines, a, &format!("/pay/{slug}"), "");
        assert!(status == 200 && shown.contains("Camisa de lino"), "{partition}: {status} {shown}");
        let path = format!("/pay/{slug}/sessions");
        let opened = exchange_as(machines.ports()[b], "POST", &path, Some(&json!({})), nobody);
        let (status, _, opened) = opened.expect("an answer");
        assert_eq!(status, 201, "{partition}: {opened}");
        let (status, listed) = call(&machines, c, key, "GET", "/v1/checkout/sessions", None);
        assert!(status == 200 && listed.to_string().contains(&text(&opened["id"])), "{partition}: {listed}");

        // The portal.
        let login = page(&machines, a, "/portal/login", "");
        let csrf_of_login = csrf(&login);
        let wrong =
            send(&machines, b, "/portal/login", "", &[("csrf", &csrf_of_login), ("key", "pk_test_no")]);
        assert_eq!(wrong.0, 401);
        let entered = send(&machines, b, "/portal/login", "", &[("csrf", &csrf_of_login), ("key", key)]);
        assert_eq!(entered.0, 303, "{partition}: {}", entered.2);
        let cookie = entered.1["set-cookie"].split(';').next().expect("a cookie").to_owned();
        for node in 0..3 {
            let home = page(&machines, node, "/portal/home", &cookie);
            assert!(
                home.0 == 200 && home.2.contains(r#"data-page="home""#),
                "{partition} at n{node}: {}",
                home.2
            );
            let payments = page(&machines, node, "/portal/payments", &cookie);
            assert!(payments.2.contains(r#"data-page="payments""#), "{partition} at n{node}: {}", payments.2);
        }
        let token = csrf(&page(&machines, c, "/portal/keys", &cookie));
        let members = [("csrf", token.as_str()), ("name", "counter"), ("scopes", "read")];
        let made = send(&machines, a, "/portal/keys", &cookie, &members);
        assert_eq!(made.0, 201, "{partition}: {}", made.2);
        let more = found("(pk_test_[0-9A-Za-z]{27})", &made.2);
        assert_eq!(works(&machines, b, &more), 200, "{partition}");
        let asked = send(&machines, b, "/portal/live", &cookie, &[("csrf", &token)]);
        assert_eq!(asked.0, 303, "{partition}: {}", asked.2);
        let members = [("csrf", token.as_str()), ("overlapSeconds", "0")];
        let rotated = send(&machines, c, "/portal/keys/rotate", &cookie, &members);
        assert_eq!(rotated.0, 201, "{partition}: {}", rotated.2);
        let next = found("(pk_test_[0-9A-Za-z]{27})", &rotated.2);
        assert_eq!((works(&machines, a, &next), works(&machines, b, key)), (200, 401), "{partition}");
        // The session ends with its key.
        let over = page(&machines, a, "/portal/home", &cookie);
        assert!(over.2.contains(r#"data-page="login""#), "{partition}: {}", over.2);
    }
    let nothing = "/checkout/01975a2e-7c00-7000-8000-000000000000";
    assert_eq!(page(&machines, 0, nothing, "").0, 404);
    assert_eq!(page(&machines, 0, "/pay/nobodys", "").0, 404);

    // Two partitions' accounts that want one address at once: one gets it at most.
    let accounts = ["six", "seven"].map(|name| opened(&machines, name));
    let links = accounts.each_ref().map(|(_, _, key)| {
        let product = json!({ "name": "Gorra", "priceUsd": "5" });
        let (_, product) = call(&machines, 0, key, "POST", "/v1/products", Some(&product));
        format!("/v1/products/{}/links", text(&product["id"]))
    });
    assert_ne!(accounts[0].0, accounts[1].0);
    for round in 0..ROUNDS {
        let wish = json!({ "slug": format!("gorra-{round}") });
        let ask = |n: usize| {
            let (_, _, key) = &accounts[n];
            call(&machines, (round + n) % 3, key, "POST", &links[n], Some(&wish)).0
        };
        let got = std::thread::scope(|scope| {
            let [one, other] = [0, 1].map(|n| scope.spawn(move || ask(n)));
            [one.join().expect("an answer"), other.join().expect("an answer")]
        });
        assert!(got.iter().all(|status| [201, 409].contains(status)), "{got:?}");
        assert!(got != [201, 201], "gorra-{round} leads to two accounts");
        let settled = ask(0);
        assert!(
            got.contains(&201) && settled == 409 || !got.contains(&201) && settled == 201,
            "{got:?} {settled}"
        );
    }

    // Without one partition the others' buyers go on, and nobody is told that something is not there.
    let (_, _, key) = accounts.iter().find(|(partition, ..)| *partition != 2).expect("one is elsewhere");
    let (_, session) =
        call(&machines, 0, key, "POST", "/v1/checkout/sessions", Some(&json!({ "amountUsd": 1 })));
    let stopped: Vec<u32> = (0..3).filter_map(|node| process(&machines, node, 2)).collect();
    signal("-STOP", &stopped);
    let seen = page(&machines, 1, &format!("/checkout/{}", text(&session["id"])), "").0;
    let unknown = page(&machines, 1, nothing, "").0;
    signal("-CONT", &stopped);
    assert_eq!((seen, unknown), (200, 503));
    until_led(&machines);
    machines.stop_all();
}
