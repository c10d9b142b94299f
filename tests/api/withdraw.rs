//! Interface A: what a withdrawal costs and what one by Pago Móvil brings
//! (`docs/contract.md, 15.4, 15.6, 15.7`). All figures are worked out by hand.

use crate::harness::check::{assert_number, assert_texts, instant, list};
use crate::harness::client::Api;
use crate::harness::flows::UNKNOWN;
use crate::harness::server::Server;
use serde_json::{Value, json};

const BASE: &str = "/api/v1/public/withdraw";

#[track_caller]
fn estimate(api: &Api, query: &str) -> Value {
    api.get(&format!("{BASE}/estimate-fee?{query}")).expect(200)
}

/// Asserts a refusal by its one message.
#[track_caller]
fn assert_refused(api: &Api, path: &str, status: u16, message: &str) {
    let body = api.get(&format!("{BASE}{path}")).expect(status);
    assert_eq!(
        (body["statusCode"].as_u64(), body["message"].as_str()),
        (Some(u64::from(status)), Some(message)),
        "{path}: {body}"
    );
}

/// The policies of the tenants, each with its own.
fn policies(server: &Server) -> [(&'static str, Api); 3] {
    ["legacy_flat", "tiered_v1", "tiered_v2"].map(|policy| {
        let tenant = server.tenant_with(json!({ "withdrawFeePolicy": policy }));
        (policy, server.nobody().with("x-tenant-id", &tenant.id))
    })
}

#[test]
fn the_fee_of_every_policy_at_every_bound() {
    let server = Server::start();
    for (policy, api) in policies(&server) {
        let table: &[(i64, i64)] = match policy {
            "legacy_flat" => &[(1, 100), (1_000, 100), (9_999, 100), (50_000, 100), (1_000_000, 100)],
            "tiered_v1" => &[
                (1, 50),
                (1_000, 80),
                (9_999, 350),
                (10_000, 300),
                (49_999, 1_300),
                (50_000, 1_000),
                (1_000_000, 20_000),
            ],
            _ => &[
                (1, 30),
                (1_000, 55),
                (9_999, 280),
                (10_000, 230),
                (49_999, 1_030),
                (50_000, 750),
                (1_000_000, 15_000),
            ],
        };
        for (cents, fee) in table {
            let shown = estimate(&api, &format!("amount_cents={cents}"));
            assert_eq!(
                (
                    shown["serviceFeeCents"].as_i64(),
                    shown["blockchainFeeCents"].as_i64(),
                    shown["totalFeeCents"].as_i64(),
                    shown["amountToReceiveCents"].as_i64()
                ),
                (Some(*fee), Some(0), Some(*fee), Some((cents - fee).max(0))),
                "{policy} {cents}: {shown}"
            );
            assert_texts(&shown, &[("feePolicyVersion", policy)]);
        }
    }
    // The policy of new tenants holds without a tenant.
    assert_texts(&estimate(&server.nobody(), "amount_cents=1000"), &[("feePolicyVersion", "tiered_v2")]);
}

#[test]
fn the_fee_of_every_network() {
    let server = Server::start();
    let api = server.nobody();
    for (query, fee) in [
        ("method=CRYPTO_WALLET", 100),
        ("method=CRYPTO_WALLET&network=TRC20&asset=USDT", 100),
        ("method=CRYPTO_WALLET&network=ERC20&asset=USDC", 500),
        ("method=CRYPTO_WALLET&network=BEP20", 50),
        ("method=CRYPTO_WALLET&network=POLYGON", 20),
        ("method=PAGO_MOVIL&network=ERC20", 0),
        ("method=ACH", 0),
        ("method=PAYPAL", 0),
        ("network=ERC20", 0),
    ] {
        let shown = estimate(&api, &format!("amount_cents=2000&{query}"));
        // 2.5 % of 2,000 and 30.
        assert_eq!(
            (shown["serviceFeeCents"].as_i64(), shown["blockchainFeeCents"].as_i64()),
            (Some(80), Some(fee)),
            "{query}"
        );
        assert_eq!(shown["amountToReceiveCents"].as_i64(), Some(1_920 - fee), "{query}");
    }
    let shown = estimate(&api, "amount_cents=2000&method=CRYPTO_WALLET&network=ERC20");
    for (member, dollars) in [("serviceFee", "0.8"), ("blockchainFee", "5"), ("totalFee", "5.8")] {
        assert_number(&shown["breakdown"], member, dollars);
    }
    assert_number(&shown, "feePercent", "2.5");
    assert_eq!(shown["feeFixedCents"].as_i64(), Some(30));
    assert_texts(&shown, &[("feeTier", "up to 99.99 USD"), ("feeBreakdownLabel", "2.5 % + 0.30 USD")]);
    assert_eq!(
        estimate(&api, "amount_cents=400&method=CRYPTO_WALLET&network=ERC20")["amountToReceiveCents"]
            .as_i64(),
        Some(0),
        "never below nothing"
    );
}

#[test]
fn what_cannot_be_estimated_says_why() {
    let server = Server::start();
    let api = server.nobody();
    for amount in [
        "",
        "?amount_cents=",
        "?amount_cents=0",
        "?amount_cents=-5",
        "?amount_cents=1.5",
        "?amount_cents=x",
        "?amount_cents=99999999999999999999",
    ] {
        assert_refused(&api, &format!("/estimate-fee{amount}"), 400, "invalid_amount_cents");
    }
    assert_refused(&api, "/estimate-fee?amount_cents=1000&method=CASH", 400, "invalid_method");
    assert_refused(&api, "/estimate-fee?amount_cents=1000&network=SOLANA", 400, "invalid_network");
    assert_refused(&api, "/estimate-fee?amount_cents=1000&asset=DOGE", 400, "invalid_asset");
    for amount in ["", "?amountCents=", "?amountCents=0", "?amountCents=-1", "?amountCents=1e3"] {
        assert_refused(&api, &format!("/pago-movil-quote{amount}"), 400, "invalid_amount_cents");
    }
    for amount in ["1", "999"] {
        assert_refused(
            &api,
            &format!("/pago-movil-quote?amountCents={amount}"),
            400,
            "pago_movil_min_amount",
        );
    }
    for path in [
        "/fee-schedule?x=1",
        "/estimate-fee?amount_cents=1000&amountCents=1",
        "/pago-movil-quote?amountCents=1000&calculator=yes",
    ] {
        assert!(api.get(&format!("{BASE}{path}")).expect(400)["message"].is_array(), "{path}");
    }
    for tenant in [UNKNOWN, "demo", ""] {
        for path in ["/fee-schedule", "/estimate-fee?amount_cents=1000", "/pago-movil-quote?amountCents=1000"]
        {
            assert_refused(&api.with("x-tenant-id", tenant), path, 404, "x-tenant-id names no tenant");
        }
    }
}

#[test]
fn the_schedule_of_every_policy() {
    let server = Server::start();
    for (policy, api) in policies(&server) {
        let shown = api.get(&format!("{BASE}/fee-schedule")).expect(200);
        assert_texts(&shown, &[("policy", policy)]);
        assert_eq!(
            (shown["minWithdrawalCents"].as_i64(), shown["networkFeeCents"].as_i64()),
            (Some(1_000), Some(100))
        );
        assert!(shown["summary"].as_str().is_some_and(|summary| !summary.is_empty()));
        let tiers = list(&shown, "tiers");
        if policy == "legacy_flat" {
            assert_number(&shown, "serviceFeePercent", "0");
            assert_eq!((shown["serviceFeeFixedCents"].as_i64(), tiers.len()), (Some(100), 1));
            continue;
        }
        let bounds: Vec<_> = tiers
            .iter()
            .map(|tier| (tier["minAmountCents"].as_i64(), tier["maxAmountCents"].as_i64()))
            .collect();
        assert_eq!(bounds, [(Some(0), Some(9_999)), (Some(10_000), Some(49_999)), (Some(50_000), None)]);
        let (percents, fixed) = if policy == "tiered_v1" {
            (["3", "2.5", "2"], [50, 50, 0])
        } else {
            (["2.5", "2", "1.5"], [30, 30, 0])
        };
        for ((tier, percent), fixed) in tiers.iter().zip(percents).zip(fixed) {
            assert_number(tier, "serviceFeePercent", percent);
            assert_eq!(tier["serviceFeeFixedCents"].as_i64(), Some(fixed));
            assert!(tier["label"].as_str().is_some_and(|label| !label.is_empty()));
        }
    }
}

#[test]
fn what_pago_movil_brings() {
    let server = Server::start();
    let api = server.nobody();
    for (query, estimate) in [
        // 245 less 1.5 % is 241.325; (10.00 − 0.55) × 241.325 = 2280.52125.
        ("amountCents=1000", "2280.52"),
        ("amountCents=1000&calculator=1", "2280.52"),
        ("amountCents=1000&calculator=true", "2280.52"),
        // (500.00 − 7.50) × 241.325 = 118852.5625.
        ("amountCents=50000", "118852.56"),
    ] {
        let quote = api.get(&format!("{BASE}/pago-movil-quote?{query}")).expect(200);
        assert_number(&quote, "exchange_rate_base", "245");
        assert_number(&quote, "exchange_rate_offered", "241.325");
        assert_number(&quote, "margin_percent", "1.5");
        assert_number(&quote, "ves_estimate", estimate);
        instant(&quote["exchange_rate_fetched_at"]);
    }
}

#[test]
fn the_offer_is_the_same_for_every_amount() {
    let server = Server::start();
    let api = server.nobody();
    for amount in ["1000", "99999999999999"] {
        let quote = api.get(&format!("{BASE}/pago-movil-quote?amountCents={amount}")).expect(200);
        assert_number(&quote, "exchange_rate_offered", "241.325");
        assert_eq!(quote["ves_estimate"].is_null(), amount != "1000", "{quote}");
    }
}

#[test]
fn a_waiver_counts_unless_the_whole_policy_is_asked_for() {
    let server = Server::start_with(&[
        ("PASARELA__WITHDRAW__PAGO_MOVIL_FEE_WAIVER_PERCENT", "50"),
        ("PASARELA__WITHDRAW__PAGO_MOVIL_MARGIN_PERCENT", "0"),
    ]);
    let api = server.nobody();
    // Half of 55 cents is 27.5, which is 28: 9.72 × 245; and 9.45 × 245.
    for (query, estimate) in [("", "2381.4"), ("&calculator=0", "2381.4"), ("&calculator=1", "2315.25")] {
        let quote = api.get(&format!("{BASE}/pago-movil-quote?amountCents=1000{query}")).expect(200);
        assert_number(&quote, "ves_estimate", estimate);
        assert_number(&quote, "exchange_rate_offered", "245");
    }
}

#[test]
fn an_old_rate_is_not_offered() {
    let feeds =
        r#"[{ pair = "USDT/VES", source = "p2p", side = "FLOOR", method = "p2p_floor", kind = "manual" }]"#;
    let server = Server::start_with(&[("PASARELA__RATES__FEEDS", feeds)]);
    let api = server.nobody();
    assert_refused(&api, "/pago-movil-quote?amountCents=1000", 503, "exchange rate service unavailable");
    assert_eq!(api.get("/api/v1/fx/latest").status, 404);
    let record = |price: &str, seconds: i64| {
        let as_of = crate::harness::check::stamp(chrono::Utc::now() - chrono::TimeDelta::seconds(seconds));
        let body = json!({ "pair": "USDT/VES", "source": "p2p", "side": "FLOOR", "method": "p2p_floor", "price": price, "asOf": as_of });
        server.admin().post("/admin/rates", &body).expect(201);
    };
    record("240", 960);
    let refused = api.get(&format!("{BASE}/pago-movil-quote?amountCents=1000"));
    assert_eq!(refused.status, 503);
    assert!(refused.header("retry-after").is_some());
    record("250", 840);
    assert_number(
        &api.get(&format!("{BASE}/pago-movil-quote?amountCents=1000")).expect(200),
        "exchange_rate_base",
        "250",
    );
}
