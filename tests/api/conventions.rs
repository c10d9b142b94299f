//! The conventions of all calls: headers, lists, numbers, times (`docs/contract.md, 1`).

use crate::harness::check::{assert_id, assert_money, assert_number, instant, list, text};
use crate::harness::conformance::documents;
use crate::harness::flows::{fresh, number};
use crate::harness::schema::Schemas;
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::Duration;

/// An id that may be one of anything, also of a payment link, whose ids end otherwise than those of products.
const NOBODYS: &str = "01930000-0000-7000-8000-000000000001";
const LISTS: [&str; 4] = ["/v1/payments", "/v1/payouts", "/v1/merchants", "/v1/balance/transactions"];

#[test]
fn every_answer_has_a_request_id() {
    let server = Server::shared();
    let api = server.tenant().test;
    let answers = [
        api.get("/v1/balance"),
        api.get("/v1/balance"),
        api.get("/v1/no-such-thing"),
        api.post("/v1/merchants", &json!({})),
        api.delete("/v1/balance"),
        server.nobody().get("/v1/balance"),
    ];
    let ids: BTreeSet<&str> =
        answers.iter().map(|answer| answer.header("x-request-id").expect("X-Request-Id")).collect();
    assert_eq!(ids.len(), answers.len());
}

#[test]
fn the_callers_request_id_is_kept_if_it_is_fit() {
    let server = Server::shared();
    let api = server.tenant().test;
    let longest = "x".repeat(64);
    for sent in ["a", "req-2026/11:21_~!", longest.as_str()] {
        let api = api.with("x-request-id", sent);
        assert_eq!(api.get("/v1/balance").header("x-request-id"), Some(sent));
        assert_eq!(api.get("/v1/no-such-thing").refused(404, "not_found")["requestId"], sent);
    }
    let overlong = "x".repeat(65);
    for sent in ["", "two words", "ñ", overlong.as_str()] {
        let answer = api.with("x-request-id", sent).get("/v1/balance");
        let got = answer.header("x-request-id").expect("X-Request-Id");
        assert!(got != sent && !got.is_empty() && got.len() <= 64, "{got}");
    }
}

#[test]
fn what_wrote_says_which_record_holds_it() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = json!({
        "externalRef": fresh("m"), "name": "Bodega", "identification": "V87654321", "contactEmail": "b@example.com", "contactPhone": "04147654321",
    });
    let answers = [
        api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" })),
        api.post("/v1/merchants", &merchant),
        api.request_c2p(1, json!({})),
        api.post("/v1/test/clock", &json!({ "advanceSeconds": 1 })),
        api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" })),
    ];
    let sequences: Vec<u64> = answers.iter().map(|answer| answer.wal_seq()).collect();
    assert!(sequences[0] > 0 && sequences.windows(2).all(|pair| pair[0] < pair[1]), "{sequences:?}");
    for answer in [
        api.get("/v1/balance"),
        api.get("/v1/payments"),
        api.post("/v1/payouts", &json!({})),
        api.get("/v1/no-such-thing"),
    ] {
        assert_eq!(answer.header("wal-seq"), None, "nothing was written");
    }
}

#[test]
fn a_write_says_how_long_it_took() {
    let server = Server::shared();
    let api = server.tenant().test;
    let answer = api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" }));
    let header = answer.header("server-timing").expect("Server-Timing");
    let names: BTreeSet<&str> = header
        .split(',')
        .filter_map(|entry| {
            let (name, parameters) = entry.trim().split_once(';')?;
            let ms = parameters.split(';').find_map(|parameter| parameter.trim().strip_prefix("dur="))?;
            ms.parse::<rust_decimal::Decimal>().is_ok_and(|ms| ms.is_sign_positive()).then_some(name)
        })
        .collect();
    assert!(["queue", "apply", "wal"].iter().all(|name| names.contains(name)), "{header}");
}

#[test]
fn an_empty_list_is_empty() {
    let server = Server::shared();
    let api = server.tenant().test;
    for path in LISTS {
        assert_eq!(api.get(path).expect(200), json!({ "items": [], "nextCursor": null }), "{path}");
    }
}

#[test]
fn limit_and_cursor_are_checked() {
    let server = Server::shared();
    let api = server.tenant().test;
    for path in LISTS {
        for limit in ["0", "-1", "101", "ten", "1.5", ""] {
            api.query(path, &[("limit", limit)]).names(&["limit"]);
        }
        for cursor in ["not-a-cursor", "@@@", "AAAA", "0"] {
            api.query(path, &[("cursor", cursor)]).names(&["cursor"]);
        }
    }
}

#[test]
fn a_page_has_25_items_and_the_last_one_no_cursor() {
    let server = Server::shared();
    let api = server.tenant().test;
    for _ in 0..27 {
        api.fund("1.00");
    }
    let first = api.get("/v1/balance/transactions").expect(200);
    assert_eq!(list(&first, "items").len(), 25);
    let second = api.query("/v1/balance/transactions", &[("cursor", text(&first, "nextCursor"))]).expect(200);
    assert_eq!((list(&second, "items").len(), &second["nextCursor"]), (2, &Value::Null));
    let exact = api.query("/v1/balance/transactions", &[("limit", "27")]).expect(200);
    assert_eq!((list(&exact, "items").len(), &exact["nextCursor"]), (27, &Value::Null), "nothing follows");
}

#[test]
fn lists_are_whole_disjoint_and_newest_first() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund("100.00");
    let mut refs = Vec::new();
    for _ in 0..5 {
        let merchant = api.merchant();
        refs.insert(0, text(&merchant, "externalRef").to_owned());
        let named = json!({ "externalRef": refs[0] });
        let intent = api.request_c2p(1, named.clone()).expect(201);
        api.execute(&intent, "12345678", json!({})).expect(200);
        api.payout(&merchant, "1.00", named).expect(201);
        api.advance(1);
    }
    for path in ["/v1/payments", "/v1/payouts", "/v1/merchants"] {
        for limit in [1, 2, 5, 100] {
            let items = api.walk(path, &[], limit);
            let listed: Vec<&str> = items.iter().map(|item| text(item, "externalRef")).collect();
            assert_eq!(listed, refs, "{path} in pages of {limit}");
        }
    }
}

#[test]
fn a_cursor_belongs_to_its_list_and_filter() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (api, other) = (tenant.test, server.tenant().test);
    for _ in 0..3 {
        api.fund("1.00");
        other.fund("7.00");
    }
    let path = "/v1/balance/transactions";
    let page = api.query(path, &[("limit", "1"), ("type", "adjustment")]).expect(200);
    let cursor = text(&page, "nextCursor");
    api.query(path, &[("limit", "2"), ("type", "adjustment"), ("cursor", cursor)]).expect(200);
    api.query(path, &[("limit", "1"), ("type", "payment"), ("cursor", cursor)]).names(&["cursor"]);
    api.query("/v1/payments", &[("cursor", cursor)]).names(&["cursor"]);
    let both = api.query(path, &[("limit", "2"), ("type", "adjustment,payment")]).expect(200);
    let same = api
        .query(path, &[("type", "payment"), ("type", "adjustment"), ("cursor", text(&both, "nextCursor"))]);
    same.expect(200);
    let foreign = other.query(path, &[("type", "adjustment"), ("cursor", cursor)]);
    if foreign.status == 200 {
        assert!(
            list(&foreign.json(), "items").iter().all(|row| row["amountVes"] == "7.00"),
            "a cursor shows another tenant's rows"
        );
    } else {
        foreign.names(&["cursor"]);
    }
}

#[test]
fn ids_times_and_amounts_have_their_forms() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("10.00");
    let payment = api.pay(1);
    let payout = api.payout(&merchant, "1.00", json!({})).expect(201);
    let row = &api.movements()[0];
    for id in [
        &payment["paymentId"],
        &payout["payoutId"],
        &merchant["merchantId"],
        &merchant["payoutMethods"][0]["payoutMethodId"],
        &row["id"],
    ] {
        assert_id(id);
    }
    for moment in [
        &payment["createdAt"],
        &payment["completedAt"],
        &payment["availableAt"],
        &payout["createdAt"],
        &payout["settledAt"],
    ] {
        instant(moment);
    }
    for moment in
        [&merchant["createdAt"], &merchant["updatedAt"], &row["createdAt"], &api.balance()["nextReleaseAt"]]
    {
        instant(moment);
    }
    for member in ["usdAmount", "vesAmount", "bcvRate", "feeVes", "netVes"] {
        assert!(payment[member].is_number(), "{member} of {payment}");
    }
    for amount in [&payout["monto"], &payout["feeVes"], &row["amountVes"], &api.balance()["heldVes"]] {
        assert_money(amount);
    }
    for object in [&payment, &payout, &merchant] {
        assert_eq!(object["livemode"], false);
    }
}

#[test]
fn a_number_is_the_decimal_that_was_written() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (written, usd, ves) in [
        ("4.35", "4.35", "870"),
        ("10.000", "10", "2000"),
        ("1e1", "10", "2000"),
        ("0.29", "0.29", "58"),
        ("1.15E0", "1.15", "230"),
    ] {
        let intent = api.intent(number(written));
        assert_number(&intent, "usdAmount", usd);
        assert_number(&intent, "vesAmount", ves);
    }
    for written in ["4.351", "1e-3", "100000.01", "1e400", "-0.00", "0"] {
        api.request_c2p(number(written), json!({})).names(&["usdAmount"]);
    }
}

#[test]
fn each_kind_has_a_space_of_references_of_its_own() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund("10.00");
    let named = json!({ "externalRef": fresh("same") });
    let merchant = api.merchant();
    api.create_merchant(named.clone()).expect(201);
    let intent = api.request_c2p(1, named.clone()).expect(201);
    api.execute(&intent, "12345678", json!({})).expect(200);
    api.payout(&merchant, "1.00", named).expect(201);
}

#[test]
fn health_needs_no_key() {
    let server = Server::shared();
    for path in ["/healthz", "/readyz"] {
        assert_eq!(server.nobody().get(path).status, 200, "{path}");
        server.nobody().request("DELETE", path).refused(405, "method_not_allowed");
    }
}

#[test]
fn banks_are_a_bare_array_by_code() {
    let server = Server::shared();
    let banks = server.tenant().test.get("/v1/banks").expect(200);
    let banks = banks.as_array().expect("an array");
    let codes: Vec<&str> = banks.iter().map(|bank| text(bank, "code")).collect();
    assert!(
        codes.len() > 20 && codes.is_sorted() && codes.contains(&"0134") && !codes.contains(&"0116"),
        "{codes:?}"
    );
    for bank in banks {
        assert!(
            !text(bank, "name").is_empty() && bank["services"].is_array() && bank["logoUrl"].is_null(),
            "{bank}"
        );
    }
}

#[test]
fn too_many_requests_are_told_when_to_come_back() {
    let server = Server::start_with(&[
        ("PASARELA__LIMITS__REQUESTS_PER_SECOND", "2"),
        ("PASARELA__LIMITS__BURST", "5"),
    ]);
    let (tenant, calm) = (server.tenant(), server.tenant().test);
    let path = format!("/admin/tenants/{}/keys", tenant.id);
    let made = server.admin().post(&path, &json!({ "mode": "test", "scopes": ["read"] })).expect(201);
    let (busy, other_key) = (tenant.test, server.api(text(&made, "key")));
    let body = json!({ "currency": "VES", "amount": "1.00" });
    let answers: Vec<_> = (0..20)
        .map(|_| {
            let api = busy.keyed(&fresh("key"));
            (api.post("/v1/test/fund", &body), api)
        })
        .collect();
    assert!(answers[..5].iter().all(|(answer, _)| answer.status == 201), "the burst is allowed");
    let (refused, api) = answers.iter().rfind(|(answer, _)| answer.status != 201).expect("some are refused");
    refused.refused(429, "rate_limited");
    calm.get("/v1/balance").expect(200);
    other_key.get("/v1/balance").refused(429, "rate_limited");
    let seconds: u64 =
        refused.header("retry-after").and_then(|text| text.parse().ok()).expect("Retry-After in seconds");
    assert!((1..=5).contains(&seconds), "{seconds}");
    sleep(Duration::from_secs(seconds));
    let again = api.post("/v1/test/fund", &body);
    again.expect(201);
    assert_eq!(again.header("idempotent-replayed"), None, "a 429 is not kept");
}

/// The paths to all objects of a schema, itself first, each with the names of its members.
fn objects(schema: &Value, at: &[String], found: &mut Vec<(Vec<String>, Vec<String>)>) {
    let Some(members) = schema["properties"].as_object() else { return };
    found.push((at.to_vec(), members.keys().cloned().collect()));
    for (name, member) in members {
        objects(member, &[at, std::slice::from_ref(name)].concat(), found);
    }
}

/// `inner` as the member of a member ... of an object.
fn within(path: &[String], inner: Value) -> Value {
    path.iter().rfold(inner, |inner, name| json!({ name.as_str(): inner }))
}

#[test]
fn a_patch_names_an_unknown_member_alone_and_the_body_if_nothing_is_in_it() {
    let server = Server::shared();
    let (tenant, admin) = (server.tenant().test, server.admin());
    let mut patches = 0;
    for (document, api) in documents().into_iter().zip([&tenant, &admin]) {
        for (path, item) in document["paths"].as_object().expect("paths") {
            let Some(patch) = item.get("patch") else { continue };
            patches += 1;
            let path = path.replace("{id}", NOBODYS).replace("{code}", "0134");
            let body = &patch["requestBody"]["content"]["application/json"]["schema"];
            let mut known = Vec::new();
            objects(Schemas(document).resolve(body), &[], &mut known);
            assert!(!known.is_empty(), "{path} has no body");
            api.patch(&path, &json!({})).names(&["body"]);
            for (at, members) in known {
                let unknown = [at.as_slice(), &["noSuchMember".to_owned()]].concat().join(".");
                api.patch(&path, &within(&at, json!({ "noSuchMember": "5" }))).names(&[&unknown]);
                for member in members {
                    let nothing = json!({ member.as_str(): null, "noSuchMember": 5 });
                    api.patch(&path, &within(&at, nothing)).names(&[&unknown]);
                }
            }
        }
    }
    assert!(patches >= 8, "{patches} PATCHes are described");
}

#[test]
fn no_cache_keeps_an_answer() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    let paid = api.pay(1);
    let receipt = format!("/v1/payments/{}/receipt", paid["id"].as_str().expect("an id"));
    let answers = [
        api.get("/v1/balance"),
        api.with("accept", "text/csv").get("/v1/payments"),
        api.get(&receipt),
        api.post("/v1/products", &json!({})),
        api.get("/v1/nothing"),
        api.get("/v1/payments/x"),
        api.request("PUT", "/v1/balance"),
        server.nobody().get("/v1/balance"),
        server.admin().get("/admin/tenants"),
        server.admin().get("/admin/tenants/x"),
    ];
    for answer in answers {
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{} {}", answer.status, answer.text());
    }
}
