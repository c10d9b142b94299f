//! Tenants, their settings and their two modes (`docs/contract.md, 3.2, 3.5, 4.1`).

use crate::harness::check::{assert_id, assert_number, instant, list, text};
use crate::harness::flows::{UNKNOWN, fresh};
use crate::harness::server::Server;
use serde_json::{Value, json};

#[test]
fn a_new_tenant_gets_two_keys_and_the_defaults() {
    let server = Server::shared();
    let name = fresh("Bodega");
    let answer = server.admin().post("/admin/tenants", &json!({ "name": name }));
    let tenant = answer.expect(201);
    assert!(answer.wal_seq() > 0);
    assert_id(&tenant["tenantId"]);
    instant(&tenant["createdAt"]);
    assert_eq!((text(&tenant, "name"), text(&tenant, "liveStatus")), (name.as_str(), "inactive"));
    for (member, prefix) in [("testKey", "pk_test_"), ("liveKey", "pk_live_")] {
        let key = text(&tenant[member], "key");
        assert!(
            key.starts_with(prefix) && key.len() >= prefix.len() + 22,
            "128 random bits take 22 characters: {key}"
        );
        assert_id(&tenant[member]["keyId"]);
    }
    let settings = &tenant["settings"];
    for (path, value) in [
        ("/reserveVes", json!("0.00")),
        ("/fees/c2p/percent", json!("1.5000")),
        ("/fees/c2p/fixedVes", json!("0.00")),
        ("/fees/vpos/percent", json!("1.5000")),
        ("/fees/debit/percent", json!("1.5000")),
        ("/fees/pagoMovil/percent", json!("1.5000")),
        ("/fees/linkPercent", json!("0.5000")),
        ("/fees/chargebackVes", json!("0.00")),
        ("/fees/payoutVes", json!("0.00")),
        ("/sellerHoldBusinessDays", json!(0)),
        ("/conversions/enabled", json!(["VES", "COP"])),
        ("/conversions/spreadPercent/VES", json!("1.5000")),
        ("/conversions/spreadPercent/COP", json!("2.0000")),
        ("/conversions/minimumUsdt", json!("1.00")),
        ("/conversions/dailyLimit/VES", Value::Null),
        ("/usdt/enabled", json!(true)),
        ("/usdt/payoutAutoLimitUsdt", json!("500.00")),
        ("/cop/enabled", json!(true)),
        ("/withdrawFeePolicy", json!("tiered_v2")),
    ] {
        assert_eq!(settings.pointer(path), Some(&value), "{path} of {settings}");
    }
}

#[test]
fn keys_are_shown_once_and_tenants_are_listed_without_them() {
    let server = Server::shared();
    let tenant = server.tenant();
    let read = server.admin().get(&format!("/admin/tenants/{}", tenant.id));
    let body = read.expect(200);
    assert_eq!(body["tenantId"], tenant.created["tenantId"]);
    assert_eq!(body["settings"], tenant.created["settings"]);
    for member in ["testKey", "liveKey"] {
        assert!(!read.text().contains(text(&tenant.created[member], "key")), "a key is shown again");
    }
    let listed = server.admin().get("/admin/tenants?limit=1").expect(200);
    assert_eq!(list(&listed, "items").len(), 1);
    server.admin().get(&format!("/admin/tenants/{UNKNOWN}")).refused(404, "not_found");
}

#[test]
fn the_operators_api_wants_its_token() {
    let server = Server::shared();
    let body = json!({ "name": "x" });
    server.admin_with("wrong").post("/admin/tenants", &body).refused(401, "unauthorized");
    server.admin_with("").get("/admin/tenants").refused(401, "unauthorized");
    server.nobody().post("/admin/tenants", &body).refused(404, "not_found");
    server.admin().post("/admin/tenants", &json!({ "name": "x", "nmae": "y" })).names(&["nmae"]);
    server.admin().post("/admin/tenants", &json!({})).names(&["name"]);
}

#[test]
fn settings_given_at_the_start_are_merged_into_the_defaults() {
    let server = Server::shared();
    let tenant =
        server.tenant_with(json!({ "fees": { "c2p": { "percent": "2.0000" } }, "reserveVes": "5.00" }));
    let settings = &tenant.created["settings"];
    assert_eq!(settings["fees"]["c2p"], json!({ "percent": "2.0000", "fixedVes": "0.00" }));
    assert_eq!(
        (&settings["reserveVes"], &settings["fees"]["vpos"]["percent"]),
        (&json!("5.00"), &json!("1.5000"))
    );
}

#[test]
fn settings_are_merged_deeply_and_lists_replaced() {
    let server = Server::shared();
    let tenant = server.tenant();
    let path = format!("/admin/tenants/{}/settings", tenant.id);
    let patch = json!({ "fees": { "c2p": { "fixedVes": "1.00" } }, "conversions": { "enabled": ["COP"], "dailyLimit": { "VES": "100.00" } } });
    let settings = server.admin().patch(&path, &patch).expect(200);
    assert_eq!(settings["fees"]["c2p"], json!({ "percent": "1.5000", "fixedVes": "1.00" }));
    assert_eq!(settings["conversions"]["enabled"], json!(["COP"]));
    assert_eq!(settings["conversions"]["dailyLimit"], json!({ "VES": "100.00", "COP": null }));
    let lifted =
        server.admin().patch(&path, &json!({ "conversions": { "dailyLimit": { "VES": null } } })).expect(200);
    assert_eq!(lifted["conversions"]["dailyLimit"]["VES"], Value::Null);
    let read = server.admin().get(&format!("/admin/tenants/{}", tenant.id)).expect(200);
    assert_eq!(read["settings"], lifted);
}

#[test]
fn amounts_of_settings_may_have_fewer_decimals() {
    let server = Server::shared();
    let tenant = server.tenant();
    let path = format!("/admin/tenants/{}/settings", tenant.id);
    let patch = json!({
        "reserveVes": "5", "fees": { "payoutVes": "1", "c2p": { "fixedVes": "0.5" } },
        "conversions": { "minimumUsdt": "2", "dailyLimit": { "VES": "100" } },
    });
    let settings = server.admin().patch(&path, &patch).expect(200);
    assert_eq!((&settings["reserveVes"], &settings["fees"]["payoutVes"]), (&json!("5.00"), &json!("1.00")));
    assert_eq!(settings["fees"]["c2p"]["fixedVes"], "0.50");
    assert_eq!(settings["conversions"]["minimumUsdt"], "2.00");
    assert_eq!(settings["conversions"]["dailyLimit"]["VES"], "100.00");
    server.admin().patch(&path, &json!({ "reserveVes": "5.001" })).names(&["reserveVes"]);
}

#[test]
fn settings_that_make_no_sense_change_nothing() {
    let server = Server::shared();
    let tenant = server.tenant();
    let path = format!("/admin/tenants/{}/settings", tenant.id);
    for (patch, field) in [
        (json!({ "reserveVse": "1.00" }), "reserveVse"),
        (json!({ "fees": { "c2p": { "percentage": "1.0000" } } }), "fees.c2p.percentage"),
        (json!({ "fees": { "c2p": { "percent": 1.5 } } }), "fees.c2p.percent"),
        (json!({ "fees": { "c2p": { "percent": "100.0001" } } }), "fees.c2p.percent"),
        (json!({ "fees": { "c2p": { "percent": "-1.0000" } } }), "fees.c2p.percent"),
        (json!({ "reserveVes": "-1.00" }), "reserveVes"),
        (json!({ "reserveVes": 1 }), "reserveVes"),
        (json!({ "sellerHoldBusinessDays": -1 }), "sellerHoldBusinessDays"),
        (json!({ "sellerHoldBusinessDays": "1" }), "sellerHoldBusinessDays"),
        (json!({ "withdrawFeePolicy": "free" }), "withdrawFeePolicy"),
        (json!({ "conversions": { "enabled": ["USD"] } }), "conversions.enabled[0]"),
    ] {
        let named = server.admin().patch(&path, &patch).bad_fields();
        assert!(
            named.iter().any(|name| name.starts_with(field.split('[').next().expect("a name"))),
            "{patch}: {named:?}"
        );
    }
    server.admin().patch(&path, &json!({})).refused(400, "invalid_data");
    let read = server.admin().get(&format!("/admin/tenants/{}", tenant.id)).expect(200);
    assert_eq!(read["settings"], tenant.created["settings"]);
    server
        .admin()
        .patch(&format!("/admin/tenants/{UNKNOWN}/settings"), &json!({ "reserveVes": "1.00" }))
        .refused(404, "not_found");
}

#[test]
fn a_fee_that_is_changed_counts_from_the_next_payment() {
    let server = Server::shared();
    let tenant = server.tenant();
    let before = tenant.test.pay(10);
    let path = format!("/admin/tenants/{}/settings", tenant.id);
    server
        .admin()
        .patch(&path, &json!({ "fees": { "c2p": { "percent": "2.0000", "fixedVes": "1.00" } } }))
        .expect(200);
    let after = tenant.test.pay(10);
    assert_number(&before, "feeVes", "30");
    assert_number(&after, "feeVes", "41");
    assert_number(&tenant.test.payment(&before), "feeVes", "30");
}

#[test]
fn live_waits_for_the_operator() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.live.get("/v1/balance").refused(403, "live_mode_not_activated");
    tenant.live.post("/v1/merchants", &json!({})).refused(403, "live_mode_not_activated");
    let path = format!("/admin/tenants/{}/live-status", tenant.id);
    let status = |status: &str| {
        server.admin().post(&path, &json!({ "status": status, "reason": "checked" })).expect(200)
    };
    assert_eq!(status("active")["liveStatus"], "active");
    assert_eq!(text(&tenant.live.get("/v1/balance").expect(200), "ledgerNetVes"), "0.00");
    assert_eq!(status("suspended")["liveStatus"], "suspended");
    assert_eq!(tenant.live.get("/v1/balance").status, 403);
    tenant.test.get("/v1/balance").expect(200);
    server.admin().post(&path, &json!({ "status": "on" })).names(&["status"]);
}

#[test]
fn what_only_test_mode_has_is_403_to_a_live_key() {
    let server = Server::shared();
    let tenant = server.tenant();
    server
        .admin()
        .post(&format!("/admin/tenants/{}/live-status", tenant.id), &json!({ "status": "active" }))
        .expect(200);
    let fund = json!({ "currency": "VES", "amount": "1.00" });
    tenant.live.post("/v1/test/fund", &fund).refused(403, "test_mode_only");
    tenant.live.get("/v1/test/clock").refused(403, "test_mode_only");
    tenant.live.post("/v1/test/clock", &json!({ "advanceSeconds": 1 })).refused(403, "test_mode_only");
}

#[test]
fn live_and_test_are_two_worlds() {
    let server = Server::shared();
    let tenant = server.tenant();
    server
        .admin()
        .post(&format!("/admin/tenants/{}/live-status", tenant.id), &json!({ "status": "active" }))
        .expect(200);
    let named = json!({ "externalRef": fresh("m") });
    let of_test = tenant.test.create_merchant(named.clone()).expect(201);
    let of_live = tenant.live.create_merchant(named).expect(201);
    assert_eq!((&of_test["livemode"], &of_live["livemode"]), (&json!(false), &json!(true)));
    assert_ne!(of_test["merchantId"], of_live["merchantId"]);
    tenant.live.get(&format!("/v1/merchants/{}", text(&of_test, "merchantId"))).refused(404, "not_found");
    tenant.test.get(&format!("/v1/merchants/{}", text(&of_live, "merchantId"))).refused(404, "not_found");
    tenant.test.fund("5.00");
    let (of_test, of_live) = (tenant.test.balance(), tenant.live.balance());
    assert_eq!((&of_test["livemode"], &of_live["livemode"]), (&json!(false), &json!(true)));
    assert_eq!((text(&of_test, "ledgerNetVes"), text(&of_live, "ledgerNetVes")), ("5.00", "0.00"));
    let adjusted = json!({ "mode": "live", "currency": "VES", "amount": "12.50", "description": "correction", "externalRef": fresh("adj") });
    let movement =
        server.admin().post(&format!("/admin/tenants/{}/adjustments", tenant.id), &adjusted).expect(201);
    assert_eq!(movement["livemode"], true);
}

#[test]
fn tenants_do_not_see_each_other() {
    let server = Server::shared();
    let (one, two) = (server.tenant().test, server.tenant().test);
    let merchant = one.merchant();
    one.fund("10.00");
    let (payment, payout) = (one.pay(1), one.payout(&merchant, "1.00", json!({})).expect(201));
    for path in [
        format!("/v1/payments/{}", text(&payment, "paymentId")),
        format!("/v1/payments/by-ref/{}", text(&payment, "externalRef")),
        format!("/v1/payouts/{}", text(&payout, "payoutId")),
        format!("/v1/payouts/by-ref/{}", text(&payout, "externalRef")),
        format!("/v1/merchants/{}", text(&merchant, "merchantId")),
        format!("/v1/merchants/{}/balance", text(&merchant, "merchantId")),
    ] {
        two.get(&path).refused(404, "not_found");
    }
    two.fund("10.00");
    two.payout(&merchant, "1.00", json!({})).refused(404, "not_found");
    two.reverse(&payment).refused(404, "not_found");
    two.request_c2p(1, json!({ "externalRef": payment["externalRef"] })).expect(201);
}

#[test]
fn an_adjustment_is_a_movement_and_happens_once_per_reference() {
    let server = Server::shared();
    let tenant = server.tenant();
    let path = format!("/admin/tenants/{}/adjustments", tenant.id);
    let body = json!({ "mode": "test", "currency": "VES", "amount": "-12.50", "description": "correction", "externalRef": fresh("adj") });
    let first = server.admin().post(&path, &body).expect(201);
    assert_eq!(server.admin().post(&path, &body).expect(200)["id"], first["id"]);
    let mut other = body.clone();
    other["amount"] = json!("-12.51");
    server.admin().post(&path, &other).refused(409, "external_ref_conflict");
    let rows = tenant.test.movements();
    assert_eq!(
        (text(&rows[0], "type"), text(&rows[0], "amountVes"), rows.len()),
        ("adjustment", "-12.50", 1)
    );
    tenant.test.assert_books("-12.50", "0.00", "-12.50");
}

#[test]
fn a_tenant_is_in_the_one_partition_and_moves_nowhere_else() {
    let server = Server::shared();
    let (tenant, admin) = (server.tenant(), server.admin());
    let path = format!("/admin/tenants/{}", tenant.id);
    assert_eq!(
        (&tenant.created["partition"], &admin.get(&path).expect(200)["partition"]),
        (&json!(0), &json!(0))
    );
    let newest = admin.get("/admin/tenants?limit=1").expect(200);
    assert_eq!(list(&newest, "items")[0]["partition"], 0);

    let to = format!("{path}/move");
    let there = json!({ "tenantId": tenant.id, "partition": 0 });
    let key = fresh("key");
    for _ in 0..2 {
        assert_eq!(admin.keyed(&key).post(&to, &json!({ "to": 0 })).expect(200), there);
    }
    for wrong in [json!(1), json!(64), json!(-1), json!("0"), Value::Null] {
        admin.post(&to, &json!({ "to": wrong })).names(&["to"]);
    }
    admin.post(&to, &json!({})).names(&["to"]);
    admin.post(&format!("/admin/tenants/{UNKNOWN}/move"), &json!({ "to": 0 })).refused(404, "not_found");
    let entries = admin
        .query("/admin/audit", &[("action", "tenant.move"), ("tenantId", text(&tenant.created, "tenantId"))])
        .expect(200);
    let [entry] = list(&entries, "items") else { panic!("{entries}") };
    assert_eq!((&entry["tenantId"], &entry["after"]), (&there["tenantId"], &there));

    let moved = server.command(&["tenant", "move", &tenant.id, "--to", "0"]);
    assert_eq!(serde_json::from_slice::<Value>(&moved.stdout).expect("JSON"), there);
    let refused = server.command(&["tenant", "move", &tenant.id, "--to", "1"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(1) && said.contains("to"), "{said}");
}
