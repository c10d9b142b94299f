//! Conversions that the gateway makes by itself of a part of a peso payment (`service.md`, "Auto-convert"; `contract.md`, sections 9 and 18).
//!
//! 100000 pesos cost 4500 + 1500: 94000 net. A USDT costs 4080.0000 pesos.

use crate::harness::check::{assert_nulls, assert_texts, list, text};
use crate::harness::client::Api;
use crate::harness::flows::fresh;
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};

const SETTINGS: &str = "/v1/conversions/settings";

fn share(api: &Api, percent: u8) {
    api.patch(SETTINGS, &json!({ "autoConvert": { "COP": { "percent": percent } } })).expect(200);
}

/// A completed payment of so many pesos under a reference.
fn paid(api: &Api, amount: i64, reference: &str) -> Value {
    let pending = api.post("/v1/cop/payments", &json!({ "amountCop": amount, "channel": "qr", "reference": reference })).expect(201);
    let paid = api.act(&format!("/v1/test/cop/payments/{}/pay", text(&pending, "id"))).expect(200);
    assert_texts(&paid, &[("status", "completed")]);
    paid
}

fn conversions(api: &Api) -> Vec<Value> {
    api.walk("/v1/conversions", &[], 100)
}

fn events(api: &Api) -> Vec<String> {
    list(&api.get("/v1/events?after=0&limit=100").expect(200), "items").iter().map(|event| text(event, "event").to_owned()).collect()
}

fn pesos(api: &Api) -> Value {
    api.get("/v1/cop/balance").expect(200)
}

fn sharing(settings: Value) -> (std::sync::Arc<Server>, Tenant) {
    let server = Server::shared();
    let tenant = server.tenant_with(settings);
    share(&tenant.test, 50);
    (server, tenant)
}

#[test]
fn a_part_of_a_payment_is_converted_by_itself() {
    let server = Server::shared();
    let api = server.tenant().test;
    paid(&api, 100_000, "before");
    assert!(conversions(&api).is_empty(), "only payments after it was turned on");
    share(&api, 50);
    let payment = paid(&api, 100_000, "order-7");
    let [conversion] = conversions(&api).try_into().expect("one conversion");
    assert_texts(
        &conversion,
        &[
            ("status", "COMPLETED"),
            ("origin", "auto"),
            ("paymentId", text(&payment, "id")),
            ("reference", "order-7"),
            ("sourceCurrency", "COP"),
            ("sourceAmount", "47000"),
            ("rate", "4080.0000"),
            ("targetAmountUsdt", "11.51"),
        ],
    );
    assert_nulls(&conversion, &["sourceAmountVes", "canceledAt", "cancelReason"]);
    assert_eq!(api.get(&format!("/v1/conversions/{}", text(&conversion, "id"))).expect(200), conversion);
    api.post("/v1/conversions", &json!({ "quoteId": conversion["id"] })).refused(404, "not_found");
    assert_eq!(events(&api), ["payment.completed", "payment.completed", "conversion.created", "conversion.completed"]);
    // The pesos came out of the payment's own hold, and the USDT is held as long.
    assert_texts(&pesos(&api), &[("heldCop", "141000"), ("availableCop", "0")]);
    let usdt = api.get("/v1/crypto/balance").expect(200);
    assert_texts(&usdt, &[("heldUsdt", "11.51"), ("availableUsdt", "0.00")]);
    let row = &list(&api.get("/v1/crypto/balance/transactions").expect(200), "items")[0].clone();
    assert_eq!((&row["type"], &row["availableAt"]), (&json!("conversion"), &usdt["nextReleaseAt"]));
    // What was converted cannot be given back out of this sale; the other one pays for it.
    api.act(&format!("/v1/cop/payments/{}/refund", text(&payment, "id"))).expect(200);
    assert_texts(&pesos(&api), &[("heldCop", "47000")]);
}

#[test]
fn what_is_too_little_or_too_much_stays_in_pesos() {
    let (_server, tenant) = sharing(json!({ "conversions": { "dailyLimit": { "COP": "50000" }, "minimumUsdt": "3.00" } }));
    let api = &tenant.test;
    // 20000 less 2400 are 17600; half of it is 2.15 USDT.
    paid(api, 20_000, "small");
    assert!(conversions(api).is_empty());
    paid(api, 100_000, "fits");
    paid(api, 100_000, "over the limit of the day");
    let references: Vec<Value> = conversions(api).iter().map(|conversion| conversion["reference"].clone()).collect();
    assert_eq!(references, ["fits"]);
    api.advance(24 * 3600);
    assert_eq!(conversions(api).len(), 1, "it is not tried again");
    assert_eq!(events(api).iter().filter(|event| *event == "conversion.created").count(), 1);
}

#[test]
fn one_that_waits_can_be_canceled() {
    let (_server, tenant) = sharing(json!({}));
    let api = &tenant.test;
    let reference = fresh("test_pending");
    let payment = paid(api, 100_000, &reference);
    let [waiting] = conversions(api).try_into().expect("one conversion");
    assert_texts(&waiting, &[("status", "PENDING"), ("origin", "auto"), ("reference", &reference)]);
    assert_texts(&pesos(api), &[("heldCop", "47000")]);
    let canceled = api.act(&format!("/v1/conversions/{}/cancel", text(&waiting, "id"))).expect(200);
    assert_texts(&canceled, &[("status", "CANCELED"), ("cancelReason", "canceled_by_tenant"), ("paymentId", text(&payment, "id"))]);
    assert_texts(&pesos(api), &[("heldCop", "94000"), ("availableCop", "0")]);
    api.act(&format!("/v1/cop/payments/{}/refund", text(&payment, "id"))).expect(200);
    assert_texts(&pesos(api), &[("heldCop", "0"), ("availableCop", "0")]);
    assert_eq!(events(api), ["payment.completed", "conversion.created", "conversion.canceled", "payment.reversed"]);
}
