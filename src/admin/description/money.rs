//! The words for what operators do to tenants' money: corrections, chargebacks and payouts.

use crate::admin::crypto::asked as asked_payouts;
use crate::admin::statements::asked as asked_statement;
use crate::admin::{adjustments, cop_payouts};
use api::conversions::read_reason;
use api::kind::body;
use api::openapi::document::Chapter;
use api::openapi::operation::{Operation, operation};
use api::openapi::schema::{any_of, named};
use api::openapi::values::page;
use api::statements::description::{schemas, statement};
use api::{balance, chargebacks, cop_payments, crypto};
use domain::ledger::Ledger;

pub(super) fn money() -> Chapter {
    Chapter {
        tag: "Money",
        about: "Corrections of balances, and what banks took back of card payments.",
        operations: vec![
            operation("createAdjustment", "Correct a balance")
                .refuses(503, &["clock_stepped"])
                .body("NewAdjustment")
                .example(
                    "12.50 VES \
                     out",
                    concat!(
                        r#"{"mode":"test","currency":"VES","amount":"-12.50","#,
                        r#""description":"comision bancaria","externalRef":"fix-1"}"#,
                    ),
                )
                .answers(202, "AskedApproval", "It waits for a second person")
                .answers(201, "Movement", "The movement")
                .answers(200, "Movement", "The movement that is there under this reference")
                .refuses(409, &["external_ref_conflict"])
                .refuses(422, &["insufficient_balance"]),
            chargeback(operation("openChargeback", "Record a chargeback").refuses(503, &["clock_stepped"]))
                .about("A `feeVes` beyond the account's `chargebackFeeMax` takes an approval of `adjustments`; 400 without.")
                .answers(202, "AskedApproval", "The fee waits for a second person"),
            operation("closeChargeback", "Decide a dispute")
                .refuses(503, &["clock_stepped"])
                .body("ChargebackOutcome")
                .example("won", r#"{"outcome":"won"}"#)
                .answers(200, "Chargeback", "The chargeback, closed")
                .refuses(409, &["chargeback_closed"]),
        ],
        schemas: [
            vec![("NewAdjustment", body(adjustments::read))],
            vec![("Movement", balance::description::movement())],
            chargebacks::description::schemas(),
        ]
        .concat(),
        ..Chapter::default()
    }
}

pub(super) fn chargeback(operation: Operation) -> Operation {
    operation
        .body("NewChargeback")
        .example(
            "the whole payment",
            r#"{"paymentId":"01975a2e-7c00-7000-8000-000000000010","reason":"fraud"}"#,
        )
        .answers(201, "Chargeback", "The chargeback")
        .refuses(409, &["chargeback_not_allowed", "chargeback_exceeds_payment", "too_many_chargebacks"])
}

pub(super) fn crypto_payouts() -> Chapter {
    let review = |operation: Operation| {
        operation.answers(200, "CryptoPayout", "The payout").refuses(409, &["payout_not_pending_review"])
    };
    Chapter {
        tag: "USDT payouts",
        about: "Payouts in USDT above the limit of their account wait for a review.",
        operations: vec![
            operation("listAllCryptoPayouts", "List the USDT payouts of all accounts")
                .list(asked_payouts)
                .answers(200, "CryptoPayoutPage", "Newest first"),
            review(
                operation("approveCryptoPayout", "Approve a USDT payout").refuses(503, &["clock_stepped"]),
            )
            .answers_with(
                202,
                any_of([named("CryptoPayout"), named("AskedApproval")]),
                "The network has not answered yet, or it waits for a second person",
            ),
            review(operation("rejectCryptoPayout", "Reject a USDT payout").refuses(503, &["clock_stepped"]))
                .about("The money goes back; `crypto_payout.failed` is sent with the status `rejected`.")
                .body_optional("Rejection")
                .example("why", r#"{"reason":"unknown wallet"}"#)
                .answers(202, "AskedApproval", "It waits for a second person"),
        ],
        schemas: vec![
            ("CryptoPayout", crypto::description::payout()),
            ("AccountCryptoPayout", super::finding::owned(crypto::description::payout())),
            ("CryptoPayoutPage", page("AccountCryptoPayout")),
            ("Rejection", body(read_reason)),
        ],
        ..Chapter::default()
    }
}

pub(super) fn cop_payouts() -> Chapter {
    let settle = |operation: Operation| {
        operation
            .answers(200, "CopPayout", "The payout")
            .answers(202, "AskedApproval", "It waits for a second person")
            .refuses(409, &["payout_not_pending"])
            .refuses(503, &["clock_stepped"])
    };
    Chapter {
        tag: "Payouts in pesos",
        about: "Paid by the operator at a bank in Colombia. The account's balance is debited at once.",
        operations: vec![
            operation("createCopPayout", "Debit pesos that are to be paid out")
                .refuses(503, &["clock_stepped"])
                .body("NewCopPayout")
                .example(
                    "to a wallet",
                    concat!(
                        r#"{"mode":"test","amountCop":"40000","bank":"Nequi","accountNumber":"3001234567","#,
                        r#""accountType":"wallet","holderName":"Ana Perez","documentType":"CC","#,
                        r#""documentNumber":"1020304050","externalRef":"cop-1"}"#,
                    ),
                )
                .answers(201, "CopPayout", "The payout, pending")
                .answers(202, "AskedApproval", "It waits for a second person")
                .answers(200, "CopPayout", "The payout that is there under this reference")
                .refuses(403, &["cop_not_enabled"])
                .refuses(409, &["external_ref_conflict"])
                .refuses(422, &["insufficient_balance"]),
            settle(operation(
                "completeCopPayout",
                "Say that a payout in pesos was \
                 paid",
            ))
            .body("CopPayoutCompletion")
            .example(
                "the bank's \
                 reference",
                r#"{"reference":"BC-812"}"#,
            ),
            settle(operation("failCopPayout", "Say that a payout in pesos failed"))
                .about("The pesos go back.")
                .body("CopPayoutFailure")
                .example("why", r#"{"failureCode":"account_closed"}"#),
        ],
        schemas: vec![
            ("NewCopPayout", body(cop_payouts::read)),
            ("CopPayoutCompletion", body(cop_payouts::read_reference)),
            ("CopPayoutFailure", body(cop_payouts::read_failure)),
            ("CopPayout", cop_payments::description::payout()),
        ],
        ..Chapter::default()
    }
}

pub(super) fn statements() -> Chapter {
    let of_mode =
        |operation: Operation| statement(operation.query(|query| asked_statement(query, Ledger::Fees)));
    Chapter {
        tag: "Statements",
        about: "What moved on each day, by columns. Days are those of Caracas, of pesos those of Bogotá.",
        operations: vec![
            of_mode(operation("getTenantStatement", "An account's statement by days")),
            of_mode(operation("getPlatformStatement", "The platform's own statement by days")).about(
                "What it earned over all accounts, less what it gave back: `fees` and `platformFees` of \
                 sales, `chargebacks` the fees of those, `payouts` the fees of payouts and networks. The \
                 other columns are 0.",
            ),
        ],
        schemas: schemas(),
        ..Chapter::default()
    }
}
