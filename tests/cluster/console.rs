//! The console over three partitions, at nodes that lead nothing: its lists, sums, queues and files are of all of them,
//! what is about one thing is shown and done where that is, and what is missing is said.

use crate::machines::{Machines, page_as};
use crate::operators::{Shop, rated, root, signal};
use crate::partitions::{machines, until_led};
use regex::Regex;
use serde_json::json;
use std::collections::HashMap;

const FORM: &str = "application/x-www-form-urlencoded";

type Seen = (u16, HashMap<String, String>, String);

struct Browser<'a> {
    machines: &'a Machines,
    cookie: String,
}

impl Browser<'_> {
    fn log_in(machines: &Machines) -> Browser<'_> {
        let nobody = Browser { machines, cookie: String::new() };
        let csrf = csrf(&nobody.page(1, "/console/login"));
        let entered = nobody.send(2, "/console/login", &[("csrf", &csrf), ("token", Machines::TOKEN)]);
        assert_eq!(entered.0, 303, "{}", entered.2);
        let cookie = entered.1["set-cookie"].split(';').next().expect("a cookie").to_owned();
        Browser { machines, cookie }
    }

    fn head(&self) -> String {
        format!("host: localhost\r\naccept: text/html\r\ncookie: {}\r\n", self.cookie)
    }

    fn page(&self, node: usize, path: &str) -> Seen {
        let port = self.machines.admin_port(node);
        page_as(port, "GET", path, (FORM, ""), &self.head()).expect("an answer")
    }

    fn send(&self, node: usize, path: &str, members: &[(&str, &str)]) -> Seen {
        let form =
            members.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&");
        let port = self.machines.admin_port(node);
        page_as(port, "POST", path, (FORM, &form), &self.head()).expect("an answer")
    }

    /// A page of this name, which is whole.
    fn whole(&self, node: usize, path: &str, name: &str) -> String {
        let (status, _, text) = self.page(node, path);
        assert!(status == 200 && text.contains(&format!("data-page=\"{name}\"")), "{path}: {status} {text}");
        assert!(!text.contains("Falta lo de las particiones"), "{path}: {text}");
        text
    }
}

fn found(pattern: &str, text: &str) -> String {
    let found = Regex::new(pattern).expect("a pattern").captures(text);
    found.unwrap_or_else(|| panic!("no {pattern}: {text}"))[1].to_owned()
}

fn csrf(page: &Seen) -> String {
    found(r#"name="csrf" value="([^"]*)""#, &page.2)
}

/// Each account's, in a list.
const PAYMENTS: usize = 4;

#[test]
#[ignore = "takes minutes: make cluster-test"]
fn pages_are_of_all_partitions_and_say_which_are_missing() {
    let Some(mut machines) = machines() else { return };
    (0..3).for_each(|node| machines.approvals(node, "adjustments"));
    machines.found();
    until_led(&machines);
    rated(&machines);
    let shops = ["one", "two", "three"].map(|name| Shop::open(&machines, name));
    assert_eq!(shops.each_ref().map(|shop| shop.partition), [1, 2, 0]);
    let root = root(&machines);
    for (node, shop) in shops.iter().enumerate() {
        let correction = json!({ "mode": "test", "currency": "VES", "amount": "9.00", "description": "d",
            "externalRef": "a" });
        assert_eq!(root.post(node, &format!("/admin/tenants/{}/adjustments", shop.id), correction).0, 202);
    }
    let browser = Browser::log_in(&machines);

    let list = browser.whole(2, "/console/payments?mode=test", "payments");
    let totals = found(r#"(?s)data-field="totals">(.*?)</p>"#, &list);
    assert!(totals.contains(&format!("{} en total", 3 * PAYMENTS)), "{totals}");
    let queues = browser.whole(1, "/console/queues?mode=test", "queues");
    let approvals = browser.whole(2, "/console/approvals", "approvals");
    let sought = browser.whole(1, "/console/search?q=intent-1", "search");
    for shop in &shops {
        assert!(list.contains(&format!("/console/payments/{}", shop.card)), "{list}");
        for review in &shop.reviews {
            assert!(queues.contains(&format!("/console/crypto/{review}")), "{queues}");
        }
        assert!(approvals.contains(&format!("/console/tenants/{}", shop.id)), "{approvals}");
        assert!(sought.contains(&shop.intents[0]), "{sought}");
    }
    assert_eq!(approvals.matches("id=\"form-decide-").count(), 0, "root asked for them");
    let (status, _, file) = browser.page(2, "/console/payments?mode=test&format=csv");
    let rows = file.lines().filter(|line| line.contains(",Prueba,")).count();
    assert_eq!((status, rows), (200, 3 * PAYMENTS), "{file}");
    let home = browser.whole(1, "/console/home", "home");
    assert!(home.contains("Dinero real de hoy") && home.contains("Todo funciona"), "{home}");
    browser.whole(2, "/console/health", "health");
    browser.whole(1, "/console/audit", "audit");

    for (nth, shop) in shops.iter().enumerate() {
        let (node, what) = (1 + nth % 2, shop.partition);
        let payment = browser.whole(node, &format!("/console/payments/{}", shop.card), "payment");
        let record = found(r#"href="(/console/records/[0-9]+[^"]*)""#, &payment);
        let of = if what == 0 { String::new() } else { format!("?partition={what}") };
        assert!(record.ends_with(&of) && record.contains('?') == (what != 0), "{record}");
        assert!(browser.whole(node, &record, "record").contains(&shop.id), "{record}");
        let seq = found("records/([0-9]+)", &record);
        let past = format!("/console/tenants/{}/past?mode=test&when={seq}", shop.id);
        browser.whole(node, &past, "past");
        let requests = format!("/console/requests?mode=test&tenantId={}", shop.id);
        assert!(browser.whole(node, &requests, "requests").contains("/v1/payments/vpos"), "{what}");
        let (status, headers, _) =
            browser.page(node, &format!("/console/requests?mode=test&tenantId={}", shop.name));
        let is_led_on = status == 303 && headers["location"].contains(&shop.id);
        assert!(is_led_on || what == 0 && status == 200, "{what}: {status} {headers:?}");

        // Acts are done where the thing is, once confirmed, and by forms of this session alone.
        let path = format!("/console/payments/{}", shop.intents[0]);
        let token = csrf(&browser.page(node, &path));
        let cancel = format!("{path}/cancel");
        assert_eq!(browser.send(node, &cancel, &[("csrf", "0"), ("confirmed", "yes")]).0, 403, "{what}");
        let (status, _, confirm) = browser.send(node, &cancel, &[("csrf", &token)]);
        assert!(status == 200 && confirm.contains("name=\"confirmed\""), "{what}: {status} {confirm}");
        let once = format!("once-{what}");
        let (status, headers, shown) =
            browser.send(node, &cancel, &[("csrf", &token), ("confirmed", "yes"), ("once", &once)]);
        assert!(status == 303 && headers["location"].contains("done=done"), "{what}: {status} {shown}");
        let payment = root.get(0, &format!("/admin/payments/{}", shop.intents[0])).1;
        assert_eq!(payment["status"], "CANCELED", "{what}");
        let review = format!("/console/crypto/{}", shop.reviews[0]);
        browser.whole(node, &review, "decision");
        let (status, _, shown) =
            browser.send(node, &format!("{review}/approve"), &[("csrf", &token), ("once", &once)]);
        assert_eq!(status, 303, "{what}: {shown}");
        browser.whole(node, &format!("/console/operations/{}", shop.operation), "operation");
        let event = format!("/console/events/{}/resend", shop.event);
        let members = [("csrf", &*token), ("page", "payments"), ("id", &shop.card), ("once", &event)];
        let (status, _, shown) = browser.send(node, &event, &members);
        assert_eq!(status, 303, "{what}: {shown}");
    }
    let unknown = "/console/payments/01930a4b-5c6d-7e8f-9012-3456789b9999";
    assert_eq!(browser.page(1, unknown).0, 404);
    let stranger = Browser { machines: &machines, cookie: String::new() };
    let (_, _, shown) = stranger.page(1, &format!("/console/payments/{}", shops[0].card));
    assert!(shown.contains("data-page=\"login\""), "{shown}");

    signal(&machines, "-STOP", 2);
    let (status, _, list) = browser.page(1, "/console/payments?mode=test");
    assert!(status == 200 && list.contains("Falta lo de las particiones 2"), "{status} {list}");
    let (_, _, home) = browser.page(2, "/console/home");
    assert!(home.contains("No responden las particiones 2"), "{home}");
    for shop in &shops {
        let is_there = shop.partition != 2;
        let path = format!("/console/payments/{}", shop.card);
        assert_eq!(list.contains(&path), is_there, "{list}");
        let (status, _, shown) = browser.page(1, &path);
        assert_eq!(status, if is_there { 200 } else { 503 }, "{shown}");
    }
    assert_eq!(browser.page(1, unknown).0, 503);
    signal(&machines, "-CONT", 2);
    until_led(&machines);
    machines.stop_all();
}
