//! USDT: payouts to wallets, reviews, deposit addresses and deposits (`docs/contract.md, 10`).
//!
//! Network fees: TRC20 1.00, ERC20 5.00, BEP20 0.50, POLYGON 0.20. Payouts above 500.00 are
//! reviewed.

use crate::harness::check::{assert_id, assert_nulls, assert_texts, instant, list, race, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{DAY, SECOND, UNKNOWN, fresh, merged};
use crate::harness::server::Server;
use serde_json::{Value, json};

const PAYOUTS: &str = "/v1/crypto/payouts";
const TRON: &str = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const EVM: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
/// The address that the network refuses: it ends in 0.
const REFUSED: &str = "0x27b1fdb04752bbc536007a920d24acb045561c20";

impl Api {
    /// Sends USDT; members of `over` are added or replaced.
    #[track_caller]
    fn send_usdt(&self, amount: &str, over: Value) -> Answer {
        let body = json!({ "amountUsdt": amount, "address": TRON, "network": "TRC20", "externalRef": fresh("usdt") });
        self.post(PAYOUTS, &merged(body, over))
    }

    #[track_caller]
    fn usdt_now(&self, payout: &Value) -> Value {
        self.get(&format!("{PAYOUTS}/{}", text(payout, "id"))).expect(200)
    }

    #[track_caller]
    fn usdt_rows(&self) -> Vec<(String, String)> {
        let rows = self.walk("/v1/crypto/balance/transactions", &[], 100);
        rows.iter()
            .rev()
            .map(|row| (text(row, "type").to_owned(), text(row, "amountUsdt").to_owned()))
            .collect()
    }
}

fn rows(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(kind, amount)| ((*kind).to_owned(), (*amount).to_owned())).collect()
}

#[test]
fn a_payout_within_the_limit_goes_out_by_itself() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund_in("USDT", "100.00", false);
    let external_ref = fresh("usdt");
    let payout = api.send_usdt("40.00", json!({ "externalRef": external_ref })).expect(201);
    assert_id(&payout["id"]);
    assert_texts(
        &payout,
        &[
            ("object", "crypto_payout"),
            ("status", "completed"),
            ("amountUsdt", "40.00"),
            ("networkFeeUsdt", "1.00"),
            ("totalUsdt", "41.00"),
            ("address", TRON),
            ("network", "TRC20"),
            ("externalRef", &external_ref),
        ],
    );
    assert_nulls(&payout, &["failureCode"]);
    assert_eq!((payout["livemode"].as_bool(), text(&payout, "txHash").len()), (Some(false), 64));
    instant(&payout["completedAt"]);
    assert_eq!(api.usdt_now(&payout), payout);
    assert_eq!(api.get(&format!("{PAYOUTS}/by-ref/{external_ref}")).expect(200), payout);
    assert_texts(&api.usdt_balance(), &[("availableUsdt", "59.00"), ("pendingPayoutsUsdt", "0.00")]);
    assert_eq!(
        api.usdt_rows(),
        rows(&[("adjustment", "100.00"), ("payout", "-40.00"), ("payout_fee", "-1.00")])
    );
    let of_payout =
        api.query("/v1/crypto/balance/transactions", &[("payoutId", text(&payout, "id"))]).expect(200);
    assert_eq!(list(&of_payout, "items").len(), 2);
    let told = api.get("/v1/events").expect(200);
    let event = &list(&told, "items")[0];
    assert_eq!((&event["event"], &event["data"]), (&json!("crypto_payout.completed"), &payout));
    // It is a payout like others too, and told of as such in an event of its own.
    let event = &list(&told, "items")[1];
    let told_of = merged(payout.clone(), json!({ "payoutId": payout["id"], "currency": "USDT" }));
    assert_eq!((&event["event"], &event["data"]), (&json!("payout.completed"), &told_of));
    assert_eq!(list(&told, "items").len(), 2);
    // A repeat is the same payout; another body on the reference is not.
    assert_eq!(api.send_usdt("40.00", json!({ "externalRef": external_ref })).expect(200), payout);
    let body = api
        .send_usdt("41.00", json!({ "externalRef": external_ref, "address": EVM, "network": "BEP20" }))
        .refused(409, "external_ref_conflict");
    assert_eq!(
        (&body["existingId"], &body["differs"]),
        (&payout["id"], &json!(["amountUsdt", "address", "network"]))
    );
    let body = api.send_usdt("58.01", json!({})).refused(422, "insufficient_balance");
    assert_texts(&body, &[("availableUsdt", "59.00")]);
    api.send_usdt("58.00", json!({})).expect(201);
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}

#[test]
fn every_network_has_its_addresses_and_its_fee() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund_in("USDT", "100.00", false);
    for (network, address, fee) in [
        ("TRC20", TRON, "1.00"),
        ("ERC20", EVM, "5.00"),
        ("BEP20", EVM, "0.50"),
        ("POLYGON", &EVM.to_ascii_lowercase().replace("0X", "0x"), "0.20"),
    ] {
        let payout = api.send_usdt("1.00", json!({ "network": network, "address": address })).expect(201);
        assert_texts(&payout, &[("status", "completed"), ("networkFeeUsdt", fee), ("address", address)]);
        assert_eq!(text(&payout, "txHash").starts_with("0x"), network != "TRC20");
    }
    for (network, address) in [
        ("TRC20", EVM),
        ("ERC20", TRON),
        ("TRC20", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6T"),
        ("ERC20", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed"),
        ("BEP20", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe"),
        ("POLYGON", ""),
    ] {
        api.send_usdt("1.00", json!({ "network": network, "address": address })).names(&["address"]);
    }
    api.send_usdt("1.001", json!({ "network": "SOLANA", "externalRef": " " })).names(&[
        "amountUsdt",
        "network",
        "externalRef",
    ]);
    api.send_usdt("0.00", json!({ "memo": "x" })).names(&["amountUsdt", "memo"]);
}

#[test]
fn what_the_network_refuses_comes_back() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund_in("USDT", "100.00", false);
    let key = fresh("key");
    let body = json!({ "amountUsdt": "40.00", "address": REFUSED, "network": "POLYGON", "externalRef": fresh("usdt") });
    let payout = api.keyed(&key).post(PAYOUTS, &body).expect(201);
    assert_texts(&payout, &[("status", "failed"), ("failureCode", "network_refused")]);
    assert_nulls(&payout, &["txHash", "completedAt"]);
    assert_eq!(api.keyed(&key).post(PAYOUTS, &body).expect(201), payout);
    assert_texts(&api.usdt_balance(), &[("availableUsdt", "100.00"), ("pendingPayoutsUsdt", "0.00")]);
    let expected = [
        ("adjustment", "100.00"),
        ("payout", "-40.00"),
        ("payout_fee", "-0.20"),
        ("payout_reversal", "40.00"),
        ("payout_reversal", "0.20"),
    ];
    assert_eq!(api.usdt_rows(), rows(&expected));
    assert_eq!(list(&api.get("/v1/events").expect(200), "items")[0]["event"], "crypto_payout.failed");
}

#[test]
fn large_payouts_are_reviewed() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (api, admin) = (&tenant.test, server.admin());
    api.fund_in("USDT", "5000.00", false);
    assert_texts(&api.send_usdt("500.00", json!({})).expect(201), &[("status", "completed")]);
    let waiting: Vec<Value> = (0..4).map(|_| api.send_usdt("500.01", json!({})).expect(201)).collect();
    assert_texts(&waiting[0], &[("status", "pending_review"), ("totalUsdt", "501.01")]);
    assert_nulls(&waiting[0], &["txHash", "completedAt", "failureCode"]);
    assert_texts(&api.usdt_balance(), &[("availableUsdt", "2494.96"), ("pendingPayoutsUsdt", "2004.04")]);
    let path = |base: &str, n: usize, verb: &str| {
        format!("{base}/crypto/payouts/{}/{verb}", text(&waiting[n], "id"))
    };
    // The operator approves and rejects.
    let mine = |status: &str| -> Vec<Value> {
        let of_tenant = [("status", status), ("tenantId", tenant.id.as_str()), ("mode", "test")];
        admin.walk("/admin/crypto/payouts", &of_tenant, 2)
    };
    let other = server.tenant();
    other.test.fund_in("USDT", "1000.00", false);
    other.test.send_usdt("500.01", json!({})).expect(201);
    assert_texts(&mine("pending_review")[0], &[("tenantId", &tenant.id), ("mode", "test")]);
    let none =
        admin.query("/admin/crypto/payouts", &[("tenantId", &tenant.id), ("mode", "live")]).expect(200);
    assert_eq!(none["items"], json!([]));
    admin.get("/admin/crypto/payouts?mode=both&tenantId=x").names(&["tenantId", "mode"]);
    let ids: Vec<Value> = mine("pending_review").iter().map(|payout| payout["id"].clone()).collect();
    assert_eq!(ids, waiting.iter().rev().map(|payout| payout["id"].clone()).collect::<Vec<_>>());
    let approved = admin.act(&path("/admin", 0, "approve")).expect(200);
    assert_texts(&approved, &[("status", "completed")]);
    assert_eq!(api.usdt_now(&waiting[0]), approved);
    let rejected =
        admin.post(&path("/admin", 1, "reject"), &json!({ "reason": "unknown beneficiary" })).expect(200);
    assert_texts(&rejected, &[("status", "rejected"), ("failureCode", "unknown beneficiary")]);
    // The test endpoints approve and reject.
    assert_texts(&api.act(&path("/v1/test", 2, "approve")).expect(200), &[("status", "completed")]);
    assert_texts(
        &api.act(&path("/v1/test", 3, "reject")).expect(200),
        &[("status", "rejected"), ("failureCode", "rejected")],
    );
    assert!(mine("pending_review").is_empty());
    assert_eq!((mine("rejected").len(), mine("completed").len()), (2, 3));
    assert_texts(&api.usdt_balance(), &[("availableUsdt", "3496.98"), ("pendingPayoutsUsdt", "0.00")]);
    for n in 0..4 {
        api.act(&path("/v1/test", n, "approve")).refused(409, "payout_not_pending_review");
        admin.act(&path("/admin", n, "reject")).refused(409, "payout_not_pending_review");
    }
    admin.act(&format!("/admin/crypto/payouts/{UNKNOWN}/approve")).refused(404, "not_found");
    api.act(&format!("/v1/test/crypto/payouts/{UNKNOWN}/reject")).refused(404, "not_found");
    admin.query("/admin/crypto/payouts", &[("status", "lost")]).names(&["status"]);
    let events = api.get("/v1/events?after=0&limit=100").expect(200);
    let rejected: Vec<&Value> =
        list(&events, "items").iter().filter(|event| event["event"] == "crypto_payout.failed").collect();
    assert!(rejected.len() == 2 && rejected.iter().all(|event| event["data"]["status"] == "rejected"));
    let of_all: Vec<&Value> =
        list(&events, "items").iter().filter(|event| event["event"] == "payout.failed").collect();
    for (event, own) in of_all.iter().zip(&rejected) {
        assert_eq!(
            (&event["data"]["payoutId"], &event["data"]["status"]),
            (&own["data"]["id"], &json!("rejected"))
        );
    }
    assert_eq!(of_all.len(), 2);
    assert_eq!(api.walk(PAYOUTS, &[("status", "completed")], 2).len(), 3);
}

#[test]
fn payouts_at_once_never_overdraw() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund_in("USDT", "33.00", false);
    let mut statuses = race(12, |_| api.send_usdt("10.00", json!({})).status);
    statuses.sort_unstable();
    assert_eq!(statuses, [[201; 3].as_slice(), &[422; 9]].concat());
    assert_texts(&api.usdt_balance(), &[("availableUsdt", "0.00")]);
    let external_ref = fresh("usdt");
    api.fund_in("USDT", "33.00", false);
    let twins = race(6, |_| api.send_usdt("10.00", json!({ "externalRef": external_ref })));
    assert_eq!(twins.iter().filter(|answer| answer.status == 201).count(), 1);
    assert!(twins.iter().all(|answer| matches!(answer.status, 200 | 201)));
    assert_texts(&api.usdt_balance(), &[("availableUsdt", "22.00")]);
}

#[test]
fn deposits_are_held_and_told() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = json!({ "customerRef": "cliente-1", "network": "TRC20", "asset": "USDT" });
    let path = "/v1/crypto/deposit-addresses";
    let address = api.post(path, &body).expect(201);
    assert_texts(&address, &[("network", "TRC20"), ("asset", "USDT"), ("customerRef", "cliente-1")]);
    assert_id(&address["id"]);
    assert_eq!(api.post(path, &body).expect(200), address);
    let evm =
        api.post(path, &merged(body.clone(), json!({ "network": "ERC20", "asset": "USDC" }))).expect(201);
    assert_ne!(
        api.post(path, &merged(body.clone(), json!({ "customerRef": "cliente-2" }))).expect(201)["address"],
        address["address"]
    );
    assert!(text(&address, "address").starts_with('T') && text(&evm, "address").starts_with("0x"));
    // An address that we give out is one that we would also send to.
    api.fund_in("USDT", "10.00", false);
    api.send_usdt("1.00", json!({ "address": address["address"] })).expect(201);
    let deposits = "/v1/test/crypto/deposits";
    let of = |address: &Value, amount: &str| json!({ "address": address["address"], "amount": amount, "network": address["network"], "asset": address["asset"] });
    let request = fresh("req");
    let deposit = api.with("x-request-id", &request).post(deposits, &of(&address, "25.00")).expect(201);
    let made = api.query("/v1/search", &[("q", &request)]).expect(200);
    let made = &list(&made, "items")[0];
    assert_texts(
        made,
        &[
            ("kind", "crypto_deposit"),
            ("id", text(&deposit, "id")),
            ("why", "requestId"),
            ("amount", "25.00"),
        ],
    );
    assert_texts(
        &deposit,
        &[("amountUsdt", "25.00"), ("customerRef", "cliente-1"), ("address", text(&address, "address"))],
    );
    assert_eq!(instant(&deposit["availableAt"]) - instant(&deposit["createdAt"]), DAY);
    let found = api.get(&format!("/v1/search?q={}", text(&deposit, "id"))).expect(200);
    assert_eq!(list(&found, "items")[0]["status"], deposit["status"], "{found}");
    let lower = json!({ "address": text(&evm, "address").to_ascii_lowercase(), "amount": "5.00", "network": "ERC20", "asset": "USDC" });
    api.post(deposits, &lower).expect(201);
    assert_texts(&api.usdt_balance(), &[("availableUsdt", "8.00"), ("heldUsdt", "30.00"), ("held", "30.00")]);
    assert_eq!(api.usdt_balance()["nextReleaseAt"], deposit["availableAt"]);
    let events = api.get("/v1/events?after=0&limit=100").expect(200);
    let told = list(&events, "items")
        .iter()
        .find(|event| event["event"] == "crypto_deposit.completed")
        .expect("an event");
    assert_eq!(told["data"], deposit);
    let row = api.query("/v1/crypto/balance/transactions", &[("type", "deposit")]).expect(200);
    assert_eq!(list(&row, "items").len(), 2);
    api.send_usdt("20.00", json!({})).refused(422, "insufficient_balance");
    api.advance_to(instant(&deposit["availableAt"]) + SECOND);
    api.send_usdt("20.00", json!({})).expect(201);
    api.post(deposits, &merged(of(&address, "1.00"), json!({ "asset": "USDC" }))).names(&["asset"]);
    api.post(deposits, &merged(of(&address, "1.00"), json!({ "address": TRON }))).refused(404, "not_found");
    server.tenant().test.post(deposits, &of(&address, "1.00")).refused(404, "not_found");
    api.post(deposits, &merged(of(&address, "0.00"), json!({ "network": "SOLANA" })))
        .names(&["amount", "network"]);
    api.post(path, &json!({ "customerRef": "x", "network": "TRC20" })).names(&["asset"]);
}

#[test]
fn switched_off_and_live() {
    let server = Server::shared();
    let tenant = server.tenant_with(json!({ "usdt": { "enabled": false } }));
    let api = &tenant.test;
    api.fund_in("USDT", "10.00", false);
    api.send_usdt("1.00", json!({})).refused(403, "usdt_not_enabled");
    let address = json!({ "customerRef": "c", "network": "TRC20", "asset": "USDT" });
    api.post("/v1/crypto/deposit-addresses", &address).refused(403, "usdt_not_enabled");
    assert_texts(&api.usdt_balance(), &[("availableUsdt", "10.00")]);
    api.get(PAYOUTS).expect(200);
    let tenant = server.tenant();
    let path = format!("/admin/tenants/{}/live-status", tenant.id);
    server.admin().post(&path, &json!({ "status": "active", "reason": "approved" })).expect(200);
    tenant.live.send_usdt("1.00", json!({})).refused(503, "rail_not_configured");
    tenant.live.post("/v1/crypto/deposit-addresses", &address).refused(503, "rail_not_configured");
    tenant.live.act(&format!("/v1/test/crypto/payouts/{UNKNOWN}/approve")).refused(403, "test_mode_only");
    assert_eq!(tenant.live.usdt_balance()["livemode"], true);
}

#[test]
fn the_networks_are_listed_with_the_fees_in_force() {
    let server = Server::start_with(&[
        ("PASARELA__CRYPTO__NETWORK_FEE_USDT__TRC20", "2.5"),
        ("PASARELA__CRYPTO__NETWORK_FEE_USDT__POLYGON", "0.1"),
    ]);
    let api = server.tenant().test;
    let listed = api.get("/v1/crypto/networks").expect(200);
    let network = |name: &str, fee: &str| json!({ "network": name, "networkFeeUsdt": fee, "confirmations": null, "minDepositUsdt": null, "minPayoutUsdt": null });
    let networks: Vec<&Value> = list(&listed, "items").iter().collect();
    assert_eq!(networks.len(), 4);
    assert_eq!((networks[0], networks[3]), (&network("TRC20", "2.50"), &network("POLYGON", "0.10")));
    api.fund_in("USDT", "100.00", false);
    assert_texts(&api.send_usdt("40.00", json!({})).expect(201), &[("networkFeeUsdt", "2.50")]);
    api.query("/v1/crypto/networks", &[("limit", "1")]).names(&["limit"]);
}
