//! Calls of test mode alone, as the description tells of them.

use crate::openapi::document::Chapter;
use crate::openapi::schema::{boolean, integer, object, text};
use crate::openapi::values::{currency, instant, livemode, uuid};

/// The heading of what exists in test mode alone.
pub(crate) const TAG: &str = "Test mode";

/// The chapter.
pub fn chapter() -> Chapter {
    Chapter {
        tag: TAG,
        about: "A test key runs the same engine, ledger and log; only the banks are simulated. These calls move its clock, give it money, and play the parts of buyers, banks and operators.",
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
            (
            "Rejection",
            object().optional("reason", text().chars(1..=200).pattern(r"\S").or_null()).closed(),
        ),
        ],
        ..Chapter::default()
    }
}
