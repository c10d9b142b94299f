//! The days of accounts.

use crate::ledger::days;
use crate::stored::layout::layout;
use crate::stored::ledger::Ledger;
use crate::stored::values::Currency;
use crate::stored::values::Date;

layout! {
    enum Column of days::Column {
        0 Payments,
        1 Fees,
        2 PlatformFees,
        3 SellerTransfers,
        4 Reversals,
        5 Chargebacks,
        6 Payouts,
        7 PayoutReversals,
        8 Conversions,
        9 Deposits,
        10 Adjustments,
    }
}

layout! {
    struct Day of days::Day {
        date: Date,
        sums: Vec<(Column, i128)>,
        movements: u64,
    }
}

layout! {
    struct ClosedDay of days::ClosedDay {
        ledger: Ledger,
        currency: Currency,
        day: Day,
        net: i64,
    }
}
