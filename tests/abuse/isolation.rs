//! The isolation of tenants: nobody reads or changes what another tenant has, nor what the same
//! tenant has in the other mode. Every row of the route table is tried with the ids of somebody
//! else.

use crate::estate::{Estate, WALLET, active, body, execution};
use crate::harness::buyers::Page;
use crate::harness::check::text;
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{fresh, merged, payer, payout_body};
use crate::harness::server::Server;
use api::routes::{Modes, Route, routes};
use hyper::Method;
use serde_json::json;

/// Asks for what a row says, at this address.
#[track_caller]
fn ask(api: &Api, route: &Route, address: &str) -> Answer {
    match route.method {
        Method::GET => api.get(address),
        Method::DELETE => api.delete(address),
        Method::PATCH => api.patch(address, &body(route.operation)),
        Method::PUT => api.put(address, &body(route.operation)),
        _ if body(route.operation) == json!({}) => api.act(address),
        _ => api.post(address, &body(route.operation)),
    }
}

fn names_something(route: &Route) -> bool {
    route.path.contains(':')
}

/// Reads everything that the owner can read of what it has, by address.
#[track_caller]
fn inventory(estate: &Estate) -> Vec<(String, String)> {
    routes()
        .iter()
        .filter(|route| route.method == Method::GET && names_something(route))
        .map(|route| {
            let address = estate.address(route.path);
            let answer = estate.tenant.test.get(&address);
            assert_eq!(answer.status, 200, "{address} of its owner: {}", answer.text());
            (address, answer.text().to_owned())
        })
        .collect()
}

#[test]
fn what_a_tenant_has_is_there_for_nobody_else() {
    let server = Server::start();
    let estate = Estate::furnished(&server);
    let stranger = active(&server);
    let before = inventory(&estate);
    assert!(before.len() > 20, "{} rows name something", before.len());
    for (who, api, is_live) in [
        ("another tenant's test key", &stranger.test, false),
        ("another tenant's live key", &stranger.live, true),
        ("the same tenant's live key", &estate.tenant.live, true),
    ] {
        for route in routes().iter().filter(|route| names_something(route)) {
            let answer = ask(api, route, &estate.address(route.path));
            if is_live && route.needs.modes == Modes::TestOnly {
                answer.refused(403, "test_mode_only");
            } else {
                let missing = answer.status == 404;
                assert!(missing, "{who}, {}: {} {}", route.operation, answer.status, answer.text());
                answer.refused(404, "not_found");
            }
        }
    }
    assert_eq!(inventory(&estate), before, "somebody else changed it");
}

#[test]
fn no_list_shows_anything_of_others() {
    let server = Server::start();
    let estate = Estate::furnished(&server);
    let stranger = active(&server);
    let mut cursors = 0;
    for route in routes().iter().filter(|route| route.method == Method::GET && !names_something(route)) {
        let path = route.path;
        for api in [&stranger.test, &stranger.live, &estate.tenant.live] {
            let answer = api.get(path);
            for name in estate.names() {
                assert!(!answer.text().contains(name), "{path} shows {name}: {}", answer.text());
            }
        }
        // A list's cursor is good for its owner alone.
        let page = estate.tenant.test.query(path, &[("limit", "1")]);
        let Some(cursor) = (page.status == 200).then(|| page.json()["nextCursor"].clone()) else { continue };
        let Some(cursor) = cursor.as_str() else { continue };
        cursors += 1;
        for api in [&stranger.test, &stranger.live, &estate.tenant.live] {
            api.query(path, &[("limit", "1"), ("cursor", cursor)]).names(&["cursor"]);
        }
        estate.tenant.test.query(path, &[("limit", "1"), ("cursor", cursor)]).expect(200);
    }
    assert!(cursors >= 5, "only {cursors} lists went on");
}

#[test]
fn filters_that_name_what_others_have_find_nothing() {
    let server = Server::start();
    let estate = Estate::furnished(&server);
    let stranger = active(&server).test;
    let merchant = text(&estate.merchant, "merchantId");
    let payment = text(&estate.payment, "paymentId");
    for (path, filter, value) in [
        ("/v1/balance/transactions", "merchantId", merchant),
        ("/v1/balance/transactions", "paymentId", payment),
        ("/v1/payments", "merchantId", merchant),
        ("/v1/payments", "externalRef", text(&estate.payment, "externalRef")),
        ("/v1/payouts", "merchantId", merchant),
        ("/v1/chargebacks", "paymentId", payment),
    ] {
        let answer = stranger.query(path, &[(filter, value)]);
        match answer.status {
            200 => assert_eq!(answer.json()["items"], json!([]), "{path} by {filter}"),
            // A list that has no such filter, or finds nobody of that name.
            400 | 404 => {}
            other => panic!("{path} by {filter}: {other} {}", answer.text()),
        }
    }
}

#[test]
fn nothing_can_be_done_with_what_others_have() {
    let server = Server::start();
    let estate = Estate::furnished(&server);
    let stranger = active(&server).test;
    for (currency, amount) in [("VES", "1000.00"), ("USDT", "100.00")] {
        stranger.post("/v1/test/fund", &json!({ "currency": currency, "amount": amount })).expect(201);
    }
    let before = (inventory(&estate), estate.tenant.test.books());
    let merchant = estate.merchant["merchantId"].clone();
    let pay = payout_body(&estate.merchant, "1.00");
    let shared = json!({
        "usdAmount": 1, "externalRef": fresh("pay"), "merchantId": merchant.clone(),
    });
    for (path, body) in [
        ("/v1/payouts", pay.clone()),
        ("/v1/payouts/instant", pay.clone()),
        ("/v1/payments/c2p", execution(&estate.intent)),
        ("/v1/payments/c2p/request", merged(payer(), shared)),
        ("/v1/conversions", json!({ "quoteId": estate.quote["id"] })),
        ("/v1/test/chargebacks", json!({ "paymentId": estate.payment["paymentId"], "reason": "fraud" })),
        (
            "/v1/test/crypto/deposits",
            json!({
                "address": estate.deposit_address["address"], "amount": "1.00", "network": "TRC20",
                "asset": "USDT",
            }),
        ),
    ] {
        let answer = stranger.post(path, &body);
        assert!(
            (400..500).contains(&answer.status),
            "{path} with what another tenant has: {} {}",
            answer.status,
            answer.text()
        );
    }
    let batch = json!({ "externalRef": fresh("batch"), "items": [pay] });
    let answer = stranger.post("/v1/payouts/batch", &batch);
    assert!(
        (400..500).contains(&answer.status) || answer.json()["items"][0]["status"] == "failed",
        "{}",
        answer.text()
    );
    // References are each tenant's own: the same one is free, and nobody's answer comes back.
    let reference = json!({ "externalRef": estate.payment["externalRef"] });
    let own = stranger.request_c2p(1, reference).expect(201);
    assert_ne!(own["intentId"], estate.payment["paymentId"]);
    let wallet = json!({
        "amountUsdt": "1.00", "address": WALLET, "network": "TRC20", "externalRef": fresh("usdt")
    });
    stranger.post("/v1/crypto/payouts", &wallet).expect(201);
    assert_eq!((inventory(&estate), estate.tenant.test.books()), before);
}

#[test]
fn the_secret_of_one_session_opens_no_other() {
    let server = Server::start();
    let estate = Estate::furnished(&server);
    let stranger = active(&server);
    let own = Page::of(&server, &crate::harness::buyers::session(&stranger, json!({})));
    let theirs = Page::of(&server, &estate.session);
    let before = theirs.state();
    for (method, place, body) in [
        ("GET", "state", json!({})),
        ("POST", "c2p/request", payer()),
        ("POST", "c2p", merged(payer(), json!({ "intentId": estate.intent["intentId"], "token": "1" }))),
        ("POST", "cop", json!({ "channel": "qr" })),
        ("POST", "cop/otp", json!({ "otp": "123456" })),
        ("POST", "usdt", json!({ "network": "TRC20", "asset": "USDT" })),
    ] {
        let path = format!("{}/{place}", theirs.base);
        for api in [&own.api, &server.nobody(), &estate.tenant.test, &stranger.live] {
            let answer = if method == "GET" { api.get(&path) } else { api.post(&path, &body) };
            assert!(matches!(answer.status, 401 | 404), "{path}: {} {}", answer.status, answer.text());
        }
    }
    // A session does not take another one's intent either.
    let intent = theirs.request(json!({})).expect(201);
    let answer = own.execute(&intent, "12345678");
    assert!((400..500).contains(&answer.status), "{} {}", answer.status, answer.text());
    assert_eq!(theirs.state()["status"], before["status"]);
}
