//! Calls of test mode alone, as the description tells of them.

use super::CHAPTER;
use super::{read_advance, read_fund};
use crate::conversions::read_reason;
use crate::fields::body;
use crate::openapi::document::Chapter;
use crate::openapi::schema::object;
use crate::openapi::values::{instant, livemode};

pub fn chapter() -> Chapter {
    Chapter {
        tag: CHAPTER,
        about: "A test key runs the same engine, ledger and log; only the banks are simulated. These calls \
            move its clock, give it money, and play the parts of buyers, banks and operators.",
        schemas: vec![
            ("TestClock", object().member("now", instant()).member("livemode", livemode())),
            ("TestReset", object().member("resetAt", instant())),
            ("ClockMove", body(read_advance)),
            ("TestFund", body(read_fund)),
            ("Rejection", body(read_reason)),
        ],
        ..Chapter::default()
    }
}
