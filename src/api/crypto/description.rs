//! USDT, as the description tells of it.

use crate::openapi::document::{Chapter, Webhook, event};
use crate::openapi::operation::{Operation, operation};
use crate::openapi::schema::{Schema, named, object, one_of, text};
use crate::openapi::values::{external_ref, instant, livemode, page, positive_amount, shown_ref, uuid, ves};
use domain::resources::crypto::address::Network;
use domain::resources::crypto::deposits::Asset;
use domain::resources::crypto::payouts::Status;

/// The chapter.
pub fn chapter() -> Chapter {
    Chapter {
        tag: "USDT",
        about: "The balance in USDT, payouts to wallets, and addresses through which your customers deposit stablecoins.",
        operations: operations(),
        schemas: schemas(),
        webhooks: events(),
    }
}

fn operations() -> Vec<Operation> {
    vec![
        operation("getCryptoBalance", "Read the balance in USDT").answers(200, "CryptoBalance", "The balance"),
        crate::balance::description::movements(operation("listCryptoMovements", "List the movements in USDT")),
        operation("createCryptoPayout", "Send USDT to a wallet")
            .about("Amount and network fee are debited at once; a payout that fails or is rejected gives both back. Above the account's limit an operator reviews it first. The address is checked for its network.")
            .body("NewCryptoPayout")
            .example("on Tron", r#"{"amountUsdt":"25.00","address":"TJRabPrwbZy45sbavfcjinPJC18kjpRTv8","network":"TRC20","externalRef":"wallet-1"}"#)
            .answers(201, "CryptoPayout", "The new payout: completed, failed, or waiting for a review")
            .answers(200, "CryptoPayout", "The payout that is there under this reference")
            .answers(202, "CryptoPayout", "The network has not answered yet")
            .refuses(403, &["usdt_not_enabled"])
            .refuses(409, &["external_ref_conflict"])
            .refuses(422, &["insufficient_balance"])
            .refuses(503, &["rail_not_configured"]),
        operation("listCryptoPayouts", "List USDT payouts").query("status", one_of(Status::ALL.map(Status::name))).pages().answers(200, "CryptoPayoutPage", "Newest first"),
        operation("getCryptoPayout", "Read a USDT payout").answers(200, "CryptoPayout", "The payout"),
        operation("getCryptoPayoutByRef", "Read a USDT payout by your reference").answers(200, "CryptoPayout", "The payout"),
        operation("createDepositAddress", "Get a customer's deposit address")
            .about("The same customer, network and asset always has the same address. A deposit is credited 1:1 under the 24-hour hold.")
            .body("NewDepositAddress")
            .example("USDT on Tron", r#"{"customerRef":"customer-9","network":"TRC20","asset":"USDT"}"#)
            .answers(201, "DepositAddress", "The new address")
            .answers(200, "DepositAddress", "The address that is there")
            .refuses(403, &["usdt_not_enabled"])
            .refuses(503, &["rail_not_configured"]),
    ]
}

/// The calls by which test mode plays network and operator.
pub fn test_calls() -> Chapter {
    let review = |id, summary| {
        operation(id, summary)
            .answers(200, "CryptoPayout", "The payout")
            .refuses(409, &["payout_not_pending_review"])
    };
    Chapter {
        tag: crate::testing::description::TAG,
        operations: vec![
            operation("makeTestDeposit", "Deposit to an address, as a customer would")
                .body("TestDeposit")
                .example("40 USDT", r#"{"address":"TJRabPrwbZy45sbavfcjinPJC18kjpRTv8","amount":"40.00","network":"TRC20","asset":"USDT"}"#)
                .answers(201, "CryptoDeposit", "The deposit")
                .refuses(403, &["usdt_not_enabled"])
                .refuses(404, &["not_found"]),
            review("approveTestCryptoPayout", "Approve a USDT payout, as an operator would").answers(202, "CryptoPayout", "The network has not answered yet"),
            review("rejectTestCryptoPayout", "Reject a USDT payout, as an operator would")
                .body_optional("Rejection")
                .example("why", r#"{"reason":"unknown wallet"}"#),
        ],
        ..Chapter::default()
    }
}

/// A payout to a wallet, which operators see too.
pub fn payout() -> Schema {
    object()
        .member("id", uuid())
        .member("object", text().constant("crypto_payout"))
        .member("status", one_of(Status::ALL.map(Status::name)))
        .member("amountUsdt", ves())
        .member("networkFeeUsdt", ves())
        .member("totalUsdt", ves())
        .member("address", text())
        .member("network", one_of(Network::NAMES.map(|(name, _)| name)))
        .member("txHash", text().or_null())
        .member("externalRef", shown_ref())
        .member("failureCode", text().or_null())
        .member("livemode", livemode())
        .member("createdAt", instant())
        .member("completedAt", instant().or_null())
}

/// Where a payout can stand.
pub fn payout_status() -> Schema {
    one_of(Status::ALL.map(Status::name))
}

fn schemas() -> Vec<(&'static str, Schema)> {
    let network = || one_of(Network::NAMES.map(|(name, _)| name));
    let asset = || one_of(Asset::NAMES.map(|(name, _)| name));
    vec![
        (
            "CryptoBalance",
            object()
                .member("availableUsdt", ves())
                .member("heldUsdt", ves())
                .member("held", ves().about("Equal to `heldUsdt`."))
                .member("pendingPayoutsUsdt", ves())
                .member("nextReleaseAt", instant().or_null())
                .member("livemode", livemode())
                .example(r#"{"availableUsdt":"4.02","heldUsdt":"0.00","held":"0.00","pendingPayoutsUsdt":"0.00","nextReleaseAt":null,"livemode":false}"#),
        ),
        (
            "NewCryptoPayout",
            object()
                .member("amountUsdt", positive_amount())
                .member("address", text().chars(1..=64))
                .member("network", network())
                .member("externalRef", external_ref())
                .closed(),
        ),
        (
            "CryptoPayout",
            payout().example(r#"{"id":"01975a2e-7c00-7000-8000-0000000000f0","object":"crypto_payout","status":"completed","amountUsdt":"25.00","networkFeeUsdt":"1.00","totalUsdt":"26.00","address":"TJRabPrwbZy45sbavfcjinPJC18kjpRTv8","network":"TRC20","txHash":"3f1c0e7f6a6d1c1c7c7f0a7e0f3a1b2c3d4e5f60718293a4b5c6d7e8f9012345","externalRef":"wallet-1","failureCode":null,"livemode":false,"createdAt":"2026-11-22T02:20:00.000Z","completedAt":"2026-11-22T02:20:00.200Z"}"#),
        ),
        ("CryptoPayoutPage", page("CryptoPayout")),
        ("NewDepositAddress", object().member("customerRef", text().chars(1..=64).pattern(r"\S")).member("network", network()).member("asset", asset()).closed()),
        (
            "DepositAddress",
            object()
                .member("id", uuid())
                .member("object", text().constant("deposit_address"))
                .member("address", text())
                .member("network", network())
                .member("asset", asset())
                .member("customerRef", shown_ref())
                .member("livemode", livemode())
                .member("createdAt", instant()),
        ),
        (
            "TestDeposit",
            object().member("address", text().chars(1..=64)).member("amount", positive_amount()).member("network", network()).member("asset", asset()).closed(),
        ),
        (
            "CryptoDeposit",
            object()
                .member("id", uuid())
                .member("object", text().constant("crypto_deposit"))
                .member("status", one_of(["completed"]))
                .member("amountUsdt", ves())
                .member("address", text())
                .member("depositAddressId", uuid())
                .member("network", network())
                .member("asset", asset())
                .member("customerRef", shown_ref())
                .member("txHash", text())
                .member("availableAt", instant())
                .member("livemode", livemode())
                .member("createdAt", instant()),
        ),
    ]
}

fn events() -> Vec<Webhook> {
    vec![
        event("crypto_payout.completed", "USDT arrived at a wallet", named("CryptoPayout")),
        event(
            "crypto_payout.failed",
            "A USDT payout failed or was rejected; the money is back",
            named("CryptoPayout"),
        ),
        event("crypto_deposit.completed", "A customer's deposit was credited", named("CryptoDeposit")),
    ]
}
