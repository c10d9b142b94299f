//! The judge of statements: what moved on each day, added up from the records as they were written, by
//! the words of the contract and not by the program's own table.

use domain::ledger::Ledger;
use domain::ledger::book::Book;
use domain::ledger::days::Column;
use domain::record::Record;
use domain::values::money::Currency;
use domain::values::time::{DAY_MS, Date, HOUR_MS};
use pasarela::store::statements::{self, Account};
use std::collections::BTreeMap;
use wal::Reader;

/// What moved on a day: the sum of each column, and the number of movements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Judged {
    sums: BTreeMap<&'static str, i128>,
    movements: u64,
}

/// The days of every account of a tenant.
#[derive(Default)]
pub struct Days(BTreeMap<(Ledger, Currency), BTreeMap<i64, Judged>>);

/// The column of a movement, by the contract.
fn column(kind: &str, is_platform: bool) -> &'static str {
    match kind {
        "payment" => "payments",
        "fee" | "fee_reversal" => "fees",
        "PLATFORM_FEE" => "platformFees",
        "seller_transfer" | "seller_transfer_reversal" => "sellerTransfers",
        "reversal" => "reversals",
        "chargeback" | "chargeback_fee" | "chargeback_reversal" => "chargebacks",
        "payout" | "payout_fee" => "payouts",
        "payout_reversal" if is_platform => "payouts",
        "payout_reversal" => "payoutReversals",
        "conversion" | "conversion_reversal" => "conversions",
        "deposit" => "deposits",
        "adjustment" => "adjustments",
        other => panic!("no column for {other}"),
    }
}

/// The day of an instant where the currency's days begin, as days since 1970.
fn day(currency: Currency, ms: i64) -> i64 {
    let behind_ms = if currency == Currency::Cop { 5 * HOUR_MS } else { 4 * HOUR_MS };
    (ms - behind_ms).div_euclid(DAY_MS)
}

impl Days {
    /// Adds what a record moved.
    pub fn add(&mut self, record: &Record, ms: i64) {
        for (at, posting) in record.postings.iter().enumerate() {
            let kind = match (posting.ledger, &posting.row) {
                (Ledger::Tenant | Ledger::Seller(_), Some(row)) => row.kind.name(),
                // The other side of a fee stands behind it; the platform pays micro-deposits by itself.
                (Ledger::Fees, None) => {
                    let before = at.checked_sub(1).and_then(|at| record.postings[at].row.as_ref());
                    before.map_or("payout", |row| row.kind.name())
                }
                _ => continue,
            };
            let days = self.0.entry((posting.ledger, posting.currency)).or_default();
            let judged = days.entry(day(posting.currency, ms)).or_default();
            let name = column(kind, posting.ledger == Ledger::Fees);
            *judged.sums.entry(name).or_default() += i128::from(posting.minor);
            judged.movements += 1;
        }
    }

    /// Compares the statements of every account of a book with what is known: around every day on which
    /// anything moved, and of the last days.
    pub fn compare(&self, reader: &Reader, tenant: u64, book: &Book, now_ms: i64) {
        for ((ledger, currency), days) in &self.0 {
            let now = domain::values::time::Timestamp::from_unix_ms(now_ms);
            // A seller who is gone has no statements.
            let Some(present) = book.present(*ledger, *currency, now) else { continue };
            let account = Account { tenant, ledger: *ledger, currency: *currency };
            let today = day(*currency, now_ms);
            let windows = days.keys().map(|day| (day - 2, day + 2)).chain([(today - 399, today)]);
            for (from, to) in windows {
                let date = |day: i64| Date::from_days(i32::try_from(day).expect("a day"));
                let span = (date(from), date(to));
                let lines = statements::read(reader, account, &present, span)
                    .unwrap_or_else(|stopped| panic!("a statement: {stopped:?}"));
                assert_eq!(lines.len() as i64, to - from + 1, "a line for every day");
                let before = days.range(..from).flat_map(|(_, judged)| judged.sums.values());
                let mut opening: i128 = before.sum();
                for (day, line) in (from..).zip(lines) {
                    let sums = Column::ALL.map(|column| (column.name(), line.day.sum(column)));
                    let sums = sums.into_iter().filter(|(_, sum)| *sum != 0).collect();
                    let got = Judged { sums, movements: line.day.movements };
                    let mut expected = days.get(&day).cloned().unwrap_or_default();
                    expected.sums.retain(|_, sum| *sum != 0);
                    assert_eq!(
                        (i64::from(line.day.date.days()), line.opening, &got),
                        (day, opening, &expected),
                        "the day of {ledger:?} in {currency:?}"
                    );
                    opening += got.sums.values().sum::<i128>();
                    assert_eq!(line.closing(), opening, "opening and all is closing");
                }
            }
        }
    }
}
