//! Events: numbered without gaps, read from any point, each with the data of its moment
//! (`docs/contract.md, 13.5, 13.7`).

use crate::harness::check::{
    assert_id, assert_nulls, assert_number, assert_texts, instant, list, race, text,
};
use crate::harness::client::Api;
use crate::harness::flows::{UNKNOWN, method_path};
use crate::harness::server::Server;
use serde_json::{Value, json};

impl Api {
    /// Every event after a number, page by page.
    #[track_caller]
    pub fn events_after(&self, after: u64) -> Vec<Value> {
        self.walk("/v1/events", &[("after", &after.to_string())], 2)
    }

    /// The newest event, after its name was seen to be this one.
    #[track_caller]
    fn newest(&self, event: &str) -> Value {
        let events = self.events_after(0);
        let newest = events.last().expect("an event").clone();
        assert_eq!(newest["event"], event, "{newest}");
        newest
    }
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| text(event, "event")).collect()
}

#[test]
fn they_are_numbered_without_gaps_and_read_from_any_point() {
    let server = Server::shared();
    let api = server.tenant().test;
    assert_eq!(api.get("/v1/events").expect(200), json!({ "items": [], "nextCursor": null }));
    let paid = api.pay(10);
    api.pay_with(1, "99999999");
    race(4, |_| api.pay(1));
    api.reverse(&paid).expect(200);
    let events = api.events_after(0);
    assert_eq!(
        events.iter().map(|event| event["sequence"].as_u64()).collect::<Vec<_>>(),
        (1..=7).map(Some).collect::<Vec<_>>()
    );
    assert_eq!(names(&events)[..2], ["payment.completed", "payment.failed"]);
    assert_eq!(names(&events)[6], "payment.reversed");
    for event in &events {
        assert_id(&event["id"]);
        assert_eq!((&event["livemode"], &event["data"]["livemode"]), (&json!(false), &json!(false)));
        assert_eq!(instant(&event["timestamp"]), instant(&event["createdAt"]));
        assert_eq!(api.get(&format!("/v1/events/{}", text(event, "id"))).expect(200), *event);
    }
    assert_eq!(api.events_after(3), events[3..]);
    let page = api.query("/v1/events", &[("after", "7")]).expect(200);
    assert_eq!(page, json!({ "items": [], "nextCursor": null }));
    let page = api.query("/v1/events", &[("limit", "7")]).expect(200);
    assert!(page["nextCursor"].is_null());
    let page = api.query("/v1/events", &[("after", "5"), ("limit", "1")]).expect(200);
    assert_eq!((list(&page, "items"), page["nextCursor"].is_string()), (&events[5..6], true));
    api.query("/v1/events", &[("after", "-1")]).names(&["after"]);
    api.query("/v1/events", &[("limit", "101"), ("from", "1")]).names(&["limit", "from"]);
    for id in [UNKNOWN, "no-id", text(&paid, "paymentId")] {
        api.get(&format!("/v1/events/{id}")).refused(404, "not_found");
    }
    server.tenant().test.get(&format!("/v1/events/{}", text(&events[0], "id"))).refused(404, "not_found");
}

#[test]
fn a_payment_is_told_as_it_was_then() {
    let server = Server::shared();
    let api = server.tenant().test;
    let paid = api.pay(10);
    let completed = api.newest("payment.completed");
    assert_eq!(completed["data"], paid);
    assert_eq!(completed["timestamp"], paid["completedAt"]);
    api.reverse(&paid).expect(200);
    let reversed = api.newest("payment.reversed");
    assert_texts(
        &reversed["data"],
        &[("status", "REVERSED"), ("reversalType", "reversal"), ("paymentId", text(&paid, "paymentId"))],
    );
    assert_eq!(api.events_after(0)[0], completed, "what is told does not change");
    api.pay_with(1, "88888888");
    assert_texts(&api.newest("payment.failed")["data"], &[("status", "FAILED"), ("failureCode", "TKCM")]);
    api.intent(1);
    api.advance(900);
    assert_texts(
        &api.newest("payment.canceled")["data"],
        &[("status", "CANCELED"), ("cancelReason", "expired")],
    );
}

#[test]
fn a_chargeback_is_told_field_by_field() {
    let server = Server::shared();
    let api = server.tenant().test;
    let payment = api.vpos_pay(10);
    let body = json!({ "paymentId": payment["paymentId"], "reason": "fraud", "feeVes": "25.00" });
    let chargeback = api.post("/v1/test/chargebacks", &body).expect(201);
    let events = api.events_after(1);
    assert_eq!(names(&events), ["payment.chargeback", "payment.reversed"]);
    let (opened, reversed) = (&events[0]["data"], &events[1]["data"]);
    assert_texts(
        opened,
        &[
            ("chargebackId", text(&chargeback, "chargebackId")),
            ("paymentId", text(&payment, "paymentId")),
            ("externalRef", text(&payment, "externalRef")),
            ("method", "VPOS"),
            ("status", "open"),
            ("amountVes", "2000.00"),
            ("feeVes", "25.00"),
            ("reason", "fraud"),
            ("paymentStatus", "REVERSED"),
            ("vesAmount", "2000.00"),
            ("usdAmount", "10.00"),
            ("bankDebitedAt", text(&chargeback, "bankDebitedAt")),
            ("createdAt", text(&chargeback, "createdAt")),
        ],
    );
    assert!(opened.get("outcome").is_none() && opened.get("closedAt").is_none(), "{opened}");
    let rows = |of: &Value| {
        let mut ids: Vec<String> =
            list(of, "ledgerEntryIds").iter().map(|id| id.as_str().expect("an id").to_owned()).collect();
        ids.sort();
        ids
    };
    let moved = |kinds: &[&str]| {
        let mut ids: Vec<String> = api
            .movements()
            .iter()
            .filter(|row| kinds.contains(&text(row, "type")))
            .map(|row| text(row, "id").to_owned())
            .collect();
        ids.sort();
        ids
    };
    assert_eq!(rows(opened), moved(&["chargeback", "chargeback_fee"]));
    assert_texts(
        reversed,
        &[
            ("paymentId", text(&payment, "paymentId")),
            ("status", "REVERSED"),
            ("method", "VPOS"),
            ("cardLast4", "1111"),
            ("reversalType", "chargeback"),
            ("chargebackId", text(&chargeback, "chargebackId")),
            ("reversedAt", text(&chargeback, "createdAt")),
            ("createdAt", text(&payment, "createdAt")),
        ],
    );
    for (member, value) in
        [("usdAmount", "10"), ("vesAmount", "2000"), ("bcvRate", "200"), ("feeVes", "30"), ("netVes", "1970")]
    {
        assert_number(reversed, member, value);
    }
    assert_nulls(reversed, &["reversalRef"]);
    assert_texts(
        &list(reversed, "chargebacks")[0],
        &[("status", "open"), ("amountVes", "2000.00"), ("feeVes", "25.00"), ("reason", "fraud")],
    );

    let close = |of: &Value, outcome: &str| {
        api.post(
            &format!("/v1/test/chargebacks/{}/close", text(of, "chargebackId")),
            &json!({ "outcome": outcome }),
        )
        .expect(200)
    };
    let closed = close(&chargeback, "won");
    let told = api.newest("payment.chargeback_closed");
    assert_texts(
        &told["data"],
        &[
            ("status", "won"),
            ("outcome", "won"),
            ("paymentStatus", "COMPLETED"),
            ("closedAt", text(&closed, "closedAt")),
        ],
    );
    assert_eq!(rows(&told["data"]), moved(&["chargeback_reversal"]));

    let part = api
        .post(
            "/v1/test/chargebacks",
            &json!({ "paymentId": payment["paymentId"], "reason": "other", "amountVes": "1.00" }),
        )
        .expect(201);
    let told = api.newest("payment.chargeback");
    assert_texts(&told["data"], &[("paymentStatus", "COMPLETED"), ("amountVes", "1.00"), ("feeVes", "0.00")]);
    assert_eq!(list(&told["data"], "ledgerEntryIds").len(), 1);
    close(&part, "lost");
    let told = api.newest("payment.chargeback_closed");
    assert_texts(&told["data"], &[("outcome", "lost"), ("paymentStatus", "COMPLETED")]);
    assert_eq!(told["data"]["ledgerEntryIds"], json!([]));
}

#[test]
fn payouts_merchants_and_the_account() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = tenant.test;
    api.fund("100.00");
    let merchant = api.merchant();
    let verified = api.newest("merchant.verified");
    let method = &list(&merchant, "payoutMethods")[0];
    assert_texts(
        &verified["data"],
        &[("merchantId", text(&merchant, "merchantId")), ("payoutMethodId", text(method, "payoutMethodId"))],
    );
    let payout = api.payout(&merchant, "10.00", json!({})).expect(201);
    let told = api.newest("payout.completed");
    assert_texts(
        &told["data"],
        &[
            ("payoutId", text(&payout, "payoutId")),
            ("status", "completed"),
            ("monto", "10.00"),
            ("currency", "VES"),
        ],
    );
    api.payout(&merchant, "10.04", json!({})).expect(201);
    assert_texts(
        &api.newest("payout.failed")["data"],
        &[("status", "failed"), ("failureCode", "AM04"), ("currency", "VES")],
    );
    let path = format!("/v1/merchants/{}", text(&merchant, "merchantId"));
    for (active, name) in [(false, "merchant.deactivated"), (true, "merchant.reactivated")] {
        api.patch(&path, &json!({ "isActive": active })).expect(200);
        assert_eq!(api.newest(name)["data"]["isActive"], active);
    }
    let unlucky = api.create_merchant(json!({ "phone": "04140000001" })).expect(201);
    api.act(&format!("{}/verify/start", method_path(&unlucky, 0))).expect(202);
    let told = api.newest("merchant.rejected");
    assert_texts(
        &told["data"],
        &[
            ("merchantId", text(&unlucky, "merchantId")),
            ("externalRef", text(&unlucky, "externalRef")),
            ("failureCode", "BE01"),
            ("action", "payout_method_deleted"),
        ],
    );
    assert_texts(
        &told["data"],
        &[("payoutMethodId", text(&list(&unlucky, "payoutMethods")[0], "payoutMethodId"))],
    );
    assert!(!text(&told["data"], "reason").is_empty());
    server
        .admin()
        .post(
            &format!("/admin/tenants/{}/live-status", tenant.id),
            &json!({ "status": "active", "reason": "approved" }),
        )
        .expect(200);
    for (api, livemode) in [(api, false), (tenant.live, true)] {
        let told = api.newest("tenant.live_status_changed");
        let expected = json!({ "tenantId": tenant.id, "status": "active", "previousStatus": "inactive", "reason": "approved", "livemode": livemode });
        assert_eq!((&told["data"], &told["livemode"]), (&expected, &json!(livemode)));
    }
}

#[test]
fn what_can_be_offered_now() {
    let server = Server::shared();
    let tenant = server.tenant();
    let offered = tenant.test.get("/v1/payment-methods").expect(200);
    let items: Vec<Value> = ["C2P", "VPOS", "DEBIT", "PAGO_MOVIL"]
        .iter()
        .map(|method| json!({ "method": method, "enabled": true, "currency": "VES", "reason": null }))
        .collect();
    assert_eq!(offered, json!({ "items": items }));
    server
        .admin()
        .post(&format!("/admin/tenants/{}/live-status", tenant.id), &json!({ "status": "active" }))
        .expect(200);
    let offered = tenant.live.get("/v1/payment-methods").expect(200);
    for item in list(&offered, "items") {
        assert_eq!((&item["enabled"], &item["reason"]), (&json!(false), &json!("rail_not_configured")));
    }
    tenant.live.vpos(1, json!({})).refused(503, "rail_not_configured");
    tenant.test.query("/v1/payment-methods", &[("x", "1")]).names(&["x"]);
}
