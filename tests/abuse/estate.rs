//! A tenant with one thing of every kind, and the addresses of all of them, for whoever tries to
//! reach them with another key.

use crate::harness::buyers::session;
use crate::harness::check::{list, text};
use crate::harness::client::Api;
use crate::harness::flows::{UNKNOWN, fresh, merged, payer, payout_body};
use crate::harness::pesos::cop_payout_body;
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};

/// The wallet that USDT goes to.
pub const WALLET: &str = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";

/// The tenant and what it has.
pub struct Estate {
    pub tenant: Tenant,
    /// Addresses as the route table writes their beginnings, and the same with real ids.
    addresses: Vec<(&'static str, String)>,
    pub merchant: Value,
    pub payment: Value,
    pub intent: Value,
    pub quote: Value,
    pub session: Value,
    pub deposit_address: Value,
}

impl Estate {
    /// A tenant that may also use live mode, with everything in test mode.
    #[track_caller]
    pub fn furnished(server: &Server) -> Estate {
        let tenant = active(server);
        let api = &tenant.test;
        let made = |path: &str, body: Value| api.post(path, &body).expect(201);
        let fund = |currency: &str, amount: &str| {
            made("/v1/test/fund", json!({ "currency": currency, "amount": amount }));
        };
        for (currency, amount) in [("VES", "100000.00"), ("USDT", "5000.00"), ("COP", "1000000")] {
            fund(currency, amount);
        }
        let request = fresh("request");
        api.with("x-request-id", &request).get("/v1/balance").expect(200);
        let key = fresh("kept");
        api.keyed(&key).post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" })).expect(201);
        let merchant = api.merchant();
        let method = &list(&merchant, "payoutMethods")[0];
        let (payment, intent) = (api.pay(5), api.intent(1));
        let asked = api.pay_with(1, "77777777");
        let charged_back = made(
            "/v1/test/chargebacks",
            json!({ "paymentId": api.vpos_pay(5)["paymentId"], "reason": "fraud" }),
        );
        let payout = api.payout(&merchant, "1.00", json!({})).expect(201);
        let items = json!([payout_body(&merchant, "2.00"), payout_body(&merchant, "3.00")]);
        let batch = made("/v1/payouts/batch", json!({ "externalRef": fresh("batch"), "items": items }));
        let product = made("/v1/products", json!({ "name": fresh("Camisa"), "priceUsd": "10.00" }));
        let link = made(&format!("/v1/products/{}/links", text(&product, "id")), json!({}));
        let quote = || made("/v1/conversions/quotes", json!({ "sourceAmountVes": "1000.00" }));
        let conversion =
            made("/v1/conversions", json!({ "quoteId": quote()["id"], "reference": fresh("test_pending") }));
        // The amount is above the limit, so it waits for an operator.
        let sent = json!({
            "amountUsdt": "600.00", "address": WALLET, "network": "TRC20", "externalRef": fresh("usdt")
        });
        let sent = made("/v1/crypto/payouts", sent);
        let cop = api.cop(50_000, "sms");
        let cop_payouts = format!("/admin/tenants/{}/cop-payouts", tenant.id);
        let cop_payout = server.admin().post(&cop_payouts, &cop_payout_body(40_000)).expect(201);
        let hook = json!({ "url": "https://shop.example.com/hook", "events": ["merchant.verified"] });
        let hook = made("/v1/webhooks", hook);
        let own_key = made("/v1/keys", json!({ "scopes": ["read"] }));
        let mandate = json!({ "perCall": { "VES": "1.00" }, "approvalAbove": { "VES": "0.00" } });
        let bound = server.api(text(&made("/v1/keys", json!({ "mandate": mandate })), "key"));
        let waiting = bound.payout(&merchant, "1.00", json!({})).expect(202);
        let event = list(&api.get("/v1/events").expect(200), "items")[0].clone();
        let asked_for = json!({ "network": "TRC20", "asset": "USDT", "customerRef": fresh("buyer") });
        let deposit_address = made("/v1/crypto/deposit-addresses", asked_for);
        let id = |object: &Value, member: &str| text(object, member).to_owned();
        let of_merchant = format!("/v1/merchants/{}", id(&merchant, "merchantId"));
        let of_method = format!("{of_merchant}/payout-methods/{}", id(method, "payoutMethodId"));
        let at = |pattern: &'static str, name: String| {
            let (before, _) = pattern.split_once(':').expect("a name in the pattern");
            (pattern, format!("{before}{name}"))
        };
        let addresses = vec![
            at("/v1/idempotency/:key", key),
            at("/v1/payments/:id", id(&payment, "paymentId")),
            at("/v1/payments/by-ref/:externalRef", id(&payment, "externalRef")),
            at("/v1/payments/operations/:id", id(&asked, "operationId")),
            ("/v1/merchants/:id", of_merchant),
            ("/v1/merchants/:id/payout-methods/:methodId", of_method),
            at("/v1/payouts/:id", id(&payout, "payoutId")),
            at("/v1/payouts/by-ref/:externalRef", id(&payout, "externalRef")),
            at("/v1/payouts/batch/:batchId", id(&batch, "batchId")),
            at("/v1/chargebacks/:id", id(&charged_back, "chargebackId")),
            at("/v1/test/chargebacks/:id", id(&charged_back, "chargebackId")),
            at("/v1/events/:id", id(&event, "id")),
            at("/v1/products/:id", id(&product, "id")),
            at("/v1/payment-links/:id", id(&link, "id")),
            at("/v1/checkout/sessions/:id", id(&session(&tenant, json!({})), "id")),
            at("/v1/conversions/:id", id(&conversion, "id")),
            at("/v1/test/conversions/:id", id(&conversion, "id")),
            at("/v1/crypto/payouts/:id", id(&sent, "id")),
            at("/v1/crypto/payouts/by-ref/:externalRef", id(&sent, "externalRef")),
            at("/v1/test/crypto/payouts/:id", id(&sent, "id")),
            at("/v1/cop/payments/:id", id(&cop, "id")),
            at("/v1/test/cop/payments/:id", id(&cop, "id")),
            at("/v1/cop/payouts/:id", id(&cop_payout, "id")),
            at("/v1/webhooks/:id", id(&hook, "id")),
            at("/v1/keys/:id", id(&own_key, "keyId")),
            at("/v1/approvals/:id", id(&waiting, "approvalId")),
            at("/v1/requests/:requestId", request),
        ];
        let (quote, session) = (quote(), session(&tenant, json!({})));
        Estate { tenant, addresses, merchant, payment, intent, quote, session, deposit_address }
    }

    /// The address of what this tenant has at a row of the route table that names something.
    #[track_caller]
    pub fn address(&self, path: &str) -> String {
        let (pattern, own) = self
            .addresses
            .iter()
            .filter(|(pattern, _)| {
                path.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
            .max_by_key(|(pattern, _)| pattern.len())
            .unwrap_or_else(|| panic!("{path}: say in tests/abuse/estate.rs what a tenant has there"));
        let of_days =
            if path.ends_with("/statements") { "?currency=VES&from=2026-01-01&to=2026-01-02" } else { "" };
        let address = format!("{own}{}{of_days}", &path[pattern.len()..]);
        assert!(!address.contains(':'), "{address}: say in tests/abuse/estate.rs what a tenant has there");
        address
    }

    /// Every id and reference of what it has.
    pub fn names(&self) -> Vec<&str> {
        self.addresses.iter().filter_map(|(_, own)| own.rsplit('/').next()).collect()
    }
}

/// A tenant that may also use live mode.
#[track_caller]
pub fn active(server: &Server) -> Tenant {
    let tenant = server.tenant();
    let path = format!("/admin/tenants/{}/live-status", tenant.id);
    server.admin().post(&path, &json!({ "status": "active" })).expect(200);
    tenant
}

/// A key of a tenant with these scopes.
#[track_caller]
pub fn key(server: &Server, tenant: &Tenant, mode: &str, scopes: &[&str]) -> Api {
    let body = json!({ "mode": mode, "scopes": scopes });
    let created = server.admin().post(&format!("/admin/tenants/{}/keys", tenant.id), &body).expect(201);
    server.api(text(&created, "key"))
}

/// A row's path with an id that nothing has in the place of each name.
pub fn of_nothing(path: &str) -> String {
    path.split('/')
        .map(|segment| if segment.starts_with([':', '{']) { UNKNOWN } else { segment })
        .collect::<Vec<_>>()
        .join("/")
}

/// A body that a row with a name in its path takes, so that what is asked for is looked up.
pub fn body(operation: &str) -> Value {
    match operation {
        "updateMerchant" => json!({ "isActive": false }),
        "addPayoutMethod" => json!({ "bankCode": "0134", "phone": "04147654322" }),
        "verifyPayoutMethod" => json!({ "amount1": "0.32", "amount2": "0.45" }),
        "closeTestChargeback" => json!({ "outcome": "won" }),
        "submitCopOtp" => json!({ "otp": "123456" }),
        "updateProduct" => json!({ "name": "Otra" }),
        "updatePaymentLink" => json!({ "allowQuantity": true }),
        "updateWebhook" => json!({ "url": "https://evil.example/hook" }),
        "updateKey" => json!({ "name": "evil" }),
        _ => json!({}),
    }
}

/// The body that executes an intent of another tenant.
pub fn execution(intent: &Value) -> Value {
    let of = |member: &str| intent[member].clone();
    merged(
        payer(),
        json!({
            "intentId": of("intentId"), "usdAmount": of("usdAmount"), "externalRef": of("externalRef"),
            "token": "12345678",
        }),
    )
}
