//! The days of accounts: what moved on each, by the columns of a statement
//! (`docs/contract.md, 20.5`).
//!
//! The book counts the present day of each account, and no other. The first record that moves money on a
//! later day carries the day that is over, and with it goes an entry of the index: so a statement reads a
//! row per day, and the book stays as small as its accounts are many.
//!
//! The columns of rows, and the end of a day, belong here. Reading the rows of a statement does not
//! (`src/store/statements.rs`).

use crate::codec::stored;
use crate::ledger::{Ledger, MovementKind, Posting};
use crate::values::money::Currency;
use crate::values::time::{Date, Timestamp, Zone};
use std::collections::BTreeMap;

stored! {
    /// The columns of a statement, in its order. New ones are added at the end.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[repr(u8)]
    pub enum Column {
        0 Payments "payments",
        1 Fees "fees",
        2 PlatformFees "platformFees",
        3 SellerTransfers "sellerTransfers",
        4 Reversals "reversals",
        /// Card sales that banks took back, their fees, and what disputes returned.
        5 Chargebacks "chargebacks",
        /// Money sent out, and its fees.
        6 Payouts "payouts",
        7 PayoutReversals "payoutReversals",
        8 Conversions "conversions",
        9 Deposits "deposits",
        10 Adjustments "adjustments",
    }
}

impl Column {
    /// The column of a movement on the account of a tenant or a seller.
    pub const fn of(kind: MovementKind) -> Column {
        match kind {
            MovementKind::Payment => Column::Payments,
            MovementKind::Fee | MovementKind::FeeReversal => Column::Fees,
            MovementKind::PlatformFee => Column::PlatformFees,
            MovementKind::SellerTransfer | MovementKind::SellerTransferReversal => Column::SellerTransfers,
            MovementKind::Reversal => Column::Reversals,
            MovementKind::Chargeback | MovementKind::ChargebackFee | MovementKind::ChargebackReversal => {
                Column::Chargebacks
            }
            MovementKind::Payout | MovementKind::PayoutFee => Column::Payouts,
            MovementKind::PayoutReversal => Column::PayoutReversals,
            MovementKind::Conversion | MovementKind::ConversionReversal => Column::Conversions,
            MovementKind::Deposit => Column::Deposits,
            MovementKind::Adjustment => Column::Adjustments,
        }
    }
}

/// The zone by whose midnight the days of a currency begin.
pub const fn zone(currency: Currency) -> Zone {
    match currency {
        Currency::Ves | Currency::Usdt => Zone::Caracas,
        Currency::Cop => Zone::Bogota,
    }
}

stored! {
    /// The movements of a day on one account.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Day {
        0 pub date: Date,
        /// The sums in minor units, of the columns in which anything moved, in their order.
        1 pub sums: Vec<(Column, i128)>,
        2 pub movements: u64,
    }
}

impl Day {
    /// A day without movements.
    pub const fn new(date: Date) -> Day {
        Day { date, sums: Vec::new(), movements: 0 }
    }

    pub fn add(&mut self, column: Column, minor: i128) {
        match self.sums.binary_search_by_key(&column, |(known, _)| *known) {
            Ok(at) => self.sums[at].1 += minor,
            Err(at) => self.sums.insert(at, (column, minor)),
        }
    }

    /// Adds the movements of another account on the day.
    pub fn join(&mut self, other: &Day) {
        for (column, minor) in &other.sums {
            self.add(*column, *minor);
        }
        self.movements += other.movements;
    }

    pub fn sum(&self, column: Column) -> i128 {
        self.sums.iter().find(|(known, _)| *known == column).map_or(0, |(_, minor)| *minor)
    }

    /// The sum of all columns: what the day changed.
    pub fn total(&self) -> i128 {
        self.sums.iter().map(|(_, minor)| minor).sum()
    }
}

stored! {
    /// A day of an account that is over.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ClosedDay {
        /// The owner of the account: the tenant, a seller or, with its fees, the platform.
        0 pub ledger: Ledger,
        1 pub currency: Currency,
        2 pub day: Day,
        /// The account's balance at the end of the day, in minor units.
        3 pub net: i64,
    }
}

/// An account at present, with its newest day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Present {
    pub now: Timestamp,
    /// The newest day on which anything moved.
    pub day: Option<Day>,
    /// The balance, in minor units.
    pub net: i64,
}

/// A line of a statement: a day, and the balances at its ends in minor units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub day: Day,
    pub opening: i128,
}

impl Line {
    /// The balance when the day ended.
    pub fn closing(&self) -> i128 {
        self.opening + self.day.total()
    }
}

/// The lines of the days from `from` to `to`, both included, of an account that had `opening` before
/// them; `days` has those on which anything moved.
pub fn lines(from: Date, to: Date, opening: i128, mut days: BTreeMap<Date, Day>) -> Vec<Line> {
    let mut opening = opening;
    let dates = (from.days()..=to.days()).map(Date::from_days);
    dates
        .map(|date| {
            let day = days.remove(&date).unwrap_or(Day::new(date));
            let line = Line { day, opening };
            opening = line.closing();
            line
        })
        .collect()
}

/// A movement that counts in a statement: an account, the column and the amount in minor units.
pub struct Counted {
    pub ledger: Ledger,
    pub currency: Currency,
    pub column: Column,
    /// The amount, in minor units.
    pub minor: i64,
}

/// The movements of a record that count. The platform's side of a movement is posted right after the
/// movement, which says what it is.
pub fn counted(postings: &[Posting]) -> Vec<Counted> {
    let (mut counted, mut before) = (Vec::with_capacity(postings.len()), None);
    for &Posting { ledger, currency, minor, ref row } in postings {
        if let Some(row) = row {
            before = Some(row.kind);
        }
        let column = match (ledger, row, before) {
            (Ledger::Tenant | Ledger::Seller(_), Some(row), _) => Column::of(row.kind),
            // A payout that failed gives its fee back to where it was taken. Micro-deposits, which the platform
            // pays by itself, have no movement of a tenant's before them.
            (Ledger::Fees, _, Some(MovementKind::PayoutReversal) | None) => Column::Payouts,
            // What the platform earned by the movement, less what it gave back.
            (Ledger::Fees, _, Some(kind)) => Column::of(kind),
            _ => continue,
        };
        counted.push(Counted { ledger, currency, column, minor });
    }
    counted
}
