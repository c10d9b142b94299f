//! Calls of test mode alone, as the description tells of them.

use crate::openapi::document::Chapter;
use crate::openapi::operation::operation;
use crate::openapi::schema::{boolean, integer, object, text};
use crate::openapi::values::{currency, instant, livemode, uuid};

/// The heading of what exists in test mode alone.
pub(crate) const TAG: &str = "Test mode";

/// The chapter.
pub fn chapter() -> Chapter {
    Chapter {
        tag: TAG,
        about: "A test key runs the same engine, ledger and log; only the banks are simulated. These calls move its clock, give it money, and play the parts of buyers, banks and operators.",
        operations: vec![
            operation("getTestClock", "Read the test clock").answers(200, "TestClock", "Now, in this account's test mode"),
            operation("moveTestClock", "Move the test clock forward")
                .about("Everything that falls due meanwhile (holds, expiries, polls, retries) has happened, in its order and each at its own instant, when it answers.")
                .body("ClockMove")
                .example("a day", r#"{"advanceSeconds":86400}"#)
                .answers(200, "TestClock", "Now"),
            operation("fundTestBalance", "Add test money to a balance")
                .body("TestFund")
                .example("1000 VES", r#"{"currency":"VES","amount":"1000.00"}"#)
                .example("20000 COP, held", r#"{"currency":"COP","amount":"20000","held":true}"#)
                .answers(201, "Movement", "The movement, of type `adjustment`")
                .refuses(404, &["not_found"]),
            operation("openTestChargeback", "Charge a card payment back, as the bank would")
                .body("NewChargeback")
                .example("the whole payment", r#"{"paymentId":"01975a2e-7c00-7000-8000-000000000010","reason":"fraud"}"#)
                .answers(201, "Chargeback", "The chargeback")
                .refuses(404, &["not_found"])
                .refuses(409, &["chargeback_not_allowed", "chargeback_exceeds_payment", "too_many_chargebacks"]),
            operation("closeTestChargeback", "Decide a dispute, as the bank would")
                .body("ChargebackOutcome")
                .example("won", r#"{"outcome":"won"}"#)
                .answers(200, "Chargeback", "The chargeback, closed")
                .refuses(409, &["chargeback_closed"]),
        ],
        schemas: vec![
            ("TestClock", object().member("now", instant()).member("livemode", livemode())),
            ("ClockMove", object().member("advanceSeconds", integer().range("1", "31536000").about("The clock stays before the year 9000.")).closed()),
            (
                "TestFund",
                object()
                    .member("currency", currency())
                    .member("amount", text().pattern(r"^(0|[1-9][0-9]{0,11})(\.[0-9]{2})?$").about("Positive, with exactly the decimals of its currency: two of VES and USDT, none of COP."))
                    .optional("held", boolean().or_null().default("false").about("Whether it is held for 24 hours."))
                    .optional("merchantId", uuid().or_null().about("A seller whose balance gets it; VES alone."))
                    .closed(),
            ),
        ],
        ..Chapter::default()
    }
}
