//! USDT, as the description tells of it.

use super::CHAPTER;
use super::{read_customer, read_deposit, read_payout};
use crate::fields::body;
use crate::openapi::document::{Chapter, event, schemas};
use crate::openapi::schema::named;
use crate::openapi::values::{items, page};
use domain::values::ids::Id;
use domain::values::money::Usdt;

pub fn chapter() -> Chapter {
    let (id, fees) = (Id::from_bytes([0; 16]), [Usdt::ZERO; 4]);
    Chapter {
        tag: CHAPTER,
        about: "The balance in USDT, payouts to wallets, and addresses through which your customers deposit \
            stablecoins.",
        schemas: schemas! {
            "CryptoBalance" = super::balance_schema(),
                example r#"{"availableUsdt":"4.02","heldUsdt":"0.00","held":"0.00","pendingPayoutsUsdt":"0.00",
                "nextReleaseAt":null,"livemode":false}"#;
            "CryptoNetwork" = super::terms_schema(),
                example r#"{"network":"TRC20","networkFeeUsdt":"1.00","confirmations":null,
                "minDepositUsdt":null,"minPayoutUsdt":null}"#;
            "CryptoNetworkList" = items("CryptoNetwork");
            "NewCryptoPayout" = body(|fields| read_payout(fields, &fees, id));
            "CryptoPayout" = super::payout_schema(),
                example r#"{"id":"01975a2e-7c00-7000-8000-0000000000f0","object":"crypto_payout",
                "status":"completed","amountUsdt":"25.00","networkFeeUsdt":"1.00",
                "totalUsdt":"26.00","address":"TJRabPrwbZy45sbavfcjinPJC18kjpRTv8",
                "network":"TRC20",
                "txHash":"3f1c0e7f6a6d1c1c7c7f0a7e0f3a1b2c3d4e5f60718293a4b5c6d7e8f9012345",
                "externalRef":"wallet-1","failureCode":null,"livemode":false,
                "createdAt":"2026-11-22T02:20:00.000Z","completedAt":"2026-11-22T02:20:00.200Z"}"#;
            "CryptoPayoutPage" = page("CryptoPayout");
            "NewDepositAddress" = body(read_customer);
            "DepositAddress" = super::address_schema();
            "TestDeposit" = body(|fields| read_deposit(fields, id));
            "CryptoDeposit" = super::deposit_schema();
        },
        webhooks: vec![
            event("crypto_payout.completed", "USDT arrived at a wallet", named("CryptoPayout")),
            event(
                "crypto_payout.failed",
                "A USDT payout failed or was rejected; the money is back",
                named("CryptoPayout"),
            ),
            event("crypto_deposit.completed", "A customer's deposit was credited", named("CryptoDeposit")),
        ],
    }
}
