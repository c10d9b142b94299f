//! The past on the console's pages: an account as it was at a moment, and records with what happened to what they are
//! about.

use crate::harness::check::{instant, text};
use crate::harness::client::Answer;
use crate::harness::server::{ADMIN_TOKEN, Server};
use crate::login::{hired, operator};
use crate::visitor::{page_of, plain};
use serde_json::{Value, json};

/// What stands in a field of a page.
#[track_caller]
fn field(page: &Answer, name: &str) -> String {
    let mark = format!("data-field=\"{name}\">");
    let after = page.text().split(&mark).nth(1).unwrap_or_else(|| panic!("no {name}: {}", page.text()));
    plain(after.split("</dd>").next().expect("its end")).trim().to_owned()
}

fn last(server: &Server) -> u64 {
    server.admin().get("/admin/status").expect(200)["walSeq"].as_u64().expect("a sequence")
}

const SHOWN: [&str; 4] = ["ledgerNetVes", "heldVes", "availableVes", "sellerPendingVes"];

#[test]
fn an_account_is_shown_as_it_was_at_a_record_and_at_a_moment() {
    let server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    let settings = format!("/admin/tenants/{}/settings", tenant.id);
    let mut seen: Vec<(u64, String, Value)> = Vec::new();
    let mut look = || {
        std::thread::sleep(std::time::Duration::from_millis(5));
        let at = crate::harness::check::stamp(api.clock());
        seen.push((last(&server), at, api.balance()));
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    api.fund("500.00");
    look();
    server.admin().act("/admin/snapshot").expect(200);
    let merchant = api.create_merchant(json!({})).expect(201);
    api.vpos(30, json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 2.5 })).expect(201);
    api.pay(5);
    look();
    server.admin().patch(&settings, &json!({ "reserveVes": "7.00" })).expect(200);
    look();
    server.admin().act("/admin/snapshot").expect(200);
    // Another account's record, and what time alone releases.
    server.tenant().test.fund("1.00");
    api.advance(25 * 3_600);
    look();
    let visitor = operator(&server, &hired(&server, "viewer").1);
    let place = format!("/console/tenants/{}/past", tenant.id);
    let page = visitor.get(&format!("/console/tenants/{}", tenant.id));
    assert!(page.text().contains(&format!("action=\"{place}\"")), "{}", page.text());
    for (n, (seq, at, balance)) in seen.iter().enumerate() {
        for when in [&seq.to_string(), at] {
            let page = visitor.get(&format!("{place}?mode=test&lang=en&when={when}"));
            assert_eq!((page.status, page_of(&page).as_str()), (200, "past"), "{when}: {}", page.text());
            for name in SHOWN {
                let shown = text(balance, name).replace(',', "");
                assert_eq!(field(&page, name).replace(',', ""), shown, "{name} at {when}");
            }
            let reserve = "\"reserveVes\": \"7.00\"";
            assert_eq!(plain(page.text()).contains(reserve), n >= 2, "{when}: {}", page.text());
            assert_eq!(page.text().contains(text(&merchant, "externalRef")), n >= 1, "{when}");
            assert!(field(&page, "mode").contains("data-status=\"test\""));
        }
        let spanish = visitor.get(&format!("{place}?mode=test&when={seq}"));
        assert!(spanish.text().contains("Cómo estaba") && spanish.text().contains("lang=\"es\""));
    }
    // As a page writes moments: of Caracas.
    let local = instant(&json!(seen[1].1)) - chrono::TimeDelta::hours(4) + chrono::TimeDelta::seconds(1);
    let typed = local.format("%d/%m/%Y+%H:%M:%S").to_string().replace('/', "%2F").replace(':', "%3A");
    assert_eq!(visitor.get(&format!("{place}?mode=test&when={typed}")).status, 200);
    let live = visitor.get(&format!("{place}?mode=live&lang=en&when={}", seen[3].0));
    assert_eq!((live.status, field(&live, "ledgerNetVes").as_str()), (200, "0.00"), "the other mode");
    let end = last(&server);
    for (when, status, words) in [
        ("yesterday".to_owned(), 400, "Type the number of a record"),
        ("0".to_owned(), 400, "Type the number of a record"),
        ((end + 1).to_string(), 400, &*format!("The log ends at record {end}")),
        ("2999-01-01T00:00:00Z".to_owned(), 400, "still to come"),
        ("2001-01-01T00:00:00Z".to_owned(), 404, "nothing yet"),
        ("1".to_owned(), 404, "nothing yet"),
    ] {
        let page = visitor.get(&format!("{place}?mode=test&lang=en&when={when}"));
        assert_eq!((page.status, page.text().contains(words)), (status, true), "{when}: {}", page.text());
    }
    assert_eq!(visitor.get("/console/tenants/01930000-0000-7000-8000-000000000000/past?when=1").status, 404);
    assert_eq!(last(&server), end, "a look at the past writes nothing");
}

#[test]
fn a_moment_before_test_data_began_anew_has_a_record_alone() {
    let server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    api.fund("3.00");
    let (seq, at) = (last(&server), crate::harness::check::stamp(api.clock()));
    api.advance(3_600);
    api.act("/v1/test/reset").expect(200);
    api.fund("5.00");
    let visitor = operator(&server, ADMIN_TOKEN);
    let see = |when: &str| {
        visitor.get(&format!("/console/tenants/{}/past?mode=test&lang=en&when={when}", tenant.id))
    };
    assert_eq!(see(&at).status, 404);
    assert_eq!(field(&see(&seq.to_string()), "ledgerNetVes"), "3.00");
    assert_eq!(field(&see(&last(&server).to_string()), "ledgerNetVes"), "5.00");
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!(field(&see(&crate::harness::check::stamp(api.clock())), "ledgerNetVes"), "5.00");
}

#[test]
fn a_record_leads_to_all_that_happened_to_what_it_is_about() {
    let server = Server::start();
    let tenant = server.tenant();
    let payment = tenant.test.pay(10);
    tenant.test.reverse(&payment).expect(200);
    let id = text(&payment, "paymentId");
    let merchant = tenant.test.create_merchant(json!({})).expect(201);
    let made = last(&server);
    let body = json!({ "mode": "test", "currency": "VES", "amount": "12.34", "description": "ñ", "externalRef": "adj-1" });
    server.admin().post(&format!("/admin/tenants/{}/adjustments", tenant.id), &body).expect(201);
    let adjusted = last(&server);
    let explained = |id: &str| -> Vec<u64> {
        let output = server.command(&["wal", "explain", id, "--json"]);
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        lines
            .filter(|line| line["type"] != "total")
            .map(|line| line["seq"].as_u64().expect("a number"))
            .collect()
    };
    let visitor = operator(&server, &hired(&server, "viewer").1);
    let links = |page: &Answer| -> Vec<u64> {
        let rows = page.text().split("href=\"/console/records/").skip(1);
        rows.filter_map(|rest| rest.split(['"', '?']).next()?.parse().ok()).collect()
    };
    let story = visitor.get(&format!("/console/payments/{id}"));
    let steps = links(&story);
    assert!(steps.len() >= 3, "{}", story.text());
    for seq in steps {
        let page = visitor.get(&format!("/console/records/{seq}?lang=en"));
        assert_eq!((page.status, page_of(&page).as_str()), (200, "record"), "{}", page.text());
        let all = links(&page);
        assert!(explained(id).iter().all(|seq| all.contains(seq)), "{seq}: {}", page.text());
        assert!(page.text().contains(id) && page.text().contains("payment.completed"), "{}", page.text());
        assert!(!page.text().contains("V12345678"), "no payer");
    }
    let page = visitor.get(&format!("/console/records/{made}"));
    assert!(page.text().contains(text(&merchant, "merchantId")) && page.text().contains("merchant.created"));
    let page = visitor.get(&format!("/console/records/{adjusted}"));
    assert!(
        page.text().contains("tenant 12.34 VES adjustment") && page.text().contains("root"),
        "{}",
        page.text()
    );
    let after = format!("/console/tenants/{}/past?when={adjusted}&amp;mode=test", tenant.id);
    let as_it_was = format!("/console/tenants/{}/past?when={adjusted}&#38;mode=test", tenant.id);
    assert!(page.text().contains(&after) || page.text().contains(&as_it_was), "{}", page.text());
    // One of the platform's, which no account has.
    assert_eq!(visitor.get("/console/records/1").status, 200);
    for nothing in ["0", "999999", "x", "-1"] {
        assert_eq!(visitor.get(&format!("/console/records/{nothing}")).status, 404, "{nothing}");
    }
}
