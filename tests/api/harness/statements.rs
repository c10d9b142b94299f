//! Statements held against movements: what a day says is the sum of the rows of that day.

use super::check::{decimal, instant, list, text};
use super::client::Api;
use super::flows::MS;
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The columns of a day, in their order.
pub const COLUMNS: [&str; 11] = [
    "payments",
    "fees",
    "platformFees",
    "sellerTransfers",
    "reversals",
    "chargebacks",
    "payouts",
    "payoutReversals",
    "conversions",
    "deposits",
    "adjustments",
];

/// The column of a type of movements.
pub fn column(kind: &str) -> &'static str {
    match kind {
        "payment" => "payments",
        "fee" | "fee_reversal" => "fees",
        "PLATFORM_FEE" => "platformFees",
        "seller_transfer" | "seller_transfer_reversal" => "sellerTransfers",
        "reversal" => "reversals",
        "chargeback" | "chargeback_fee" | "chargeback_reversal" => "chargebacks",
        "payout" | "payout_fee" => "payouts",
        "payout_reversal" => "payoutReversals",
        "conversion" | "conversion_reversal" => "conversions",
        "deposit" => "deposits",
        "adjustment" => "adjustments",
        other => panic!("no column for {other}"),
    }
}

/// An account and where its movements and statements are.
pub struct Account {
    movements: String,
    statements: String,
    currency: &'static str,
}

impl Account {
    /// The tenant's accounts, and a seller's.
    pub fn all(merchant: &Value) -> Vec<Account> {
        let seller = format!("/v1/merchants/{}", text(merchant, "merchantId"));
        let theirs = Account {
            movements: format!("{seller}/balance/transactions"),
            statements: format!("{seller}/statements"),
            currency: "VES",
        };
        Account::own().into_iter().chain([theirs]).collect()
    }

    /// The tenant's accounts.
    pub fn own() -> Vec<Account> {
        let of = |movements: &str, statements: &str, currency| Account {
            movements: movements.to_owned(),
            statements: statements.to_owned(),
            currency,
        };
        vec![
            of("/v1/balance/transactions", "/v1/statements", "VES"),
            of("/v1/cop/balance/transactions", "/v1/statements", "COP"),
            of("/v1/crypto/balance/transactions", "/v1/statements", "USDT"),
        ]
    }

    fn zone(&self) -> TimeDelta {
        TimeDelta::hours(if self.currency == "COP" { -5 } else { -4 })
    }

    /// The local day of an instant.
    fn day(&self, at: DateTime<Utc>) -> NaiveDate {
        (at + self.zone()).date_naive()
    }

    fn days(&self, api: &Api, from: NaiveDate, to: NaiveDate) -> Vec<Value> {
        let (from, to) = (from.to_string(), to.to_string());
        let query = [("currency", self.currency), ("from", &from), ("to", &to)];
        let statement = api.query(&self.statements, &query).expect(200);
        assert_eq!(text(&statement, "currency"), self.currency);
        let zone = if self.currency == "COP" { "America/Bogota" } else { "America/Caracas" };
        assert_eq!(text(&statement, "timezone"), zone);
        list(&statement, "days").to_vec()
    }

    /// Compares every day from the one before the first movement.
    #[track_caller]
    pub fn compare_all(&self, api: &Api) {
        let first = api.walk(&self.movements, &[], 100).last().map(|row| instant(&row["createdAt"]));
        self.compare(api, first.unwrap_or_else(|| api.clock()) - TimeDelta::days(1));
    }

    /// Compares every day from `from` to the present one with its movements, and with those of
    /// `GET /v1/balance?at=` its end.
    #[track_caller]
    pub fn compare(&self, api: &Api, from: DateTime<Utc>) {
        let now = api.clock();
        let (from, today) = (self.day(from), self.day(now));
        let amount = format!("amount{}{}", &self.currency[..1], self.currency[1..].to_lowercase());
        let mut rows: BTreeMap<NaiveDate, Vec<(String, Decimal)>> = BTreeMap::new();
        for row in api.walk(&self.movements, &[], 100) {
            let day = self.day(instant(&row["createdAt"]));
            rows.entry(day).or_default().push((text(&row, "type").to_owned(), decimal(&row[&amount])));
        }
        let mut opening: Decimal =
            rows.range(..from).flat_map(|(_, rows)| rows).map(|(_, minor)| *minor).sum();
        // Days to come are left out.
        let days = self.days(api, from, today + TimeDelta::days(3));
        assert_eq!(days.len() as i64, (today - from).num_days() + 1);
        for (day, shown) in from.iter_days().zip(&days) {
            assert_eq!(text(shown, "date"), day.to_string());
            assert_eq!(decimal(&shown["opening"]), opening, "{} {shown}", self.statements);
            let rows = rows.get(&day).cloned().unwrap_or_default();
            for name in COLUMNS {
                let sum: Decimal =
                    rows.iter().filter(|(kind, _)| column(kind) == name).map(|(_, minor)| *minor).sum();
                assert_eq!(decimal(&shown[name]), sum, "{} {name} of {shown}", self.statements);
                opening += sum;
            }
            assert_eq!(decimal(&shown["closing"]), opening, "{shown}");
            assert_eq!(shown["movements"], json!(rows.len()), "{shown}");
            let end = (day + TimeDelta::days(1)).and_hms_opt(0, 0, 0).expect("midnight").and_utc();
            let end = end - self.zone() - MS;
            if (&*self.statements, self.currency) == ("/v1/statements", "VES") && end < now {
                assert_eq!(shown["closing"], api.balance_at(end)["ledgerNetVes"], "{day}");
            }
        }
    }
}
