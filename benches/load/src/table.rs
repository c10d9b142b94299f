//! The text that is printed: Markdown tables, and numbers for people. All of it is made from
//! integers, so that what is shown is what was counted.

use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// A table with a title and remarks.
pub struct Table {
    title: String,
    remarks: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(title: &str, columns: &[&str]) -> Table {
        Table {
            title: title.to_owned(),
            remarks: Vec::new(),
            rows: vec![columns.iter().map(|column| (*column).to_owned()).collect()],
        }
    }

    /// A sentence below the title: what was measured, and on what.
    pub fn remark(&mut self, remark: impl Into<String>) {
        self.remarks.push(remark.into());
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let row: Vec<String> = cells.into_iter().collect();
        assert_eq!(row.len(), self.rows[0].len(), "a row has a cell for every column");
        self.rows.push(row);
    }

    /// The table as JSON, for programs: rows are objects, cells are as they are printed.
    pub fn to_json(&self) -> Value {
        let object = |row: &Vec<String>| {
            Value::Object(self.rows[0].iter().cloned().zip(row.iter().cloned().map(Value::String)).collect())
        };
        json!({ "title": self.title, "remarks": self.remarks, "rows": self.rows[1..].iter().map(object).collect::<Vec<_>>() })
    }
}

/// Aligns the first column to the left, all others to the right.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n## {}\n", self.title)?;
        for remark in &self.remarks {
            writeln!(f, "{remark}")?;
        }
        if !self.remarks.is_empty() {
            writeln!(f)?;
        }
        let widths: Vec<usize> = (0..self.rows[0].len())
            .map(|column| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(2))
            .collect();
        for (n, row) in self.rows.iter().enumerate() {
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let fill = " ".repeat(width - cell.chars().count());
                if column == 0 { write!(f, "| {cell}{fill} ")? } else { write!(f, "| {fill}{cell} ")? }
            }
            writeln!(f, "|")?;
            if n == 0 {
                for (column, width) in widths.iter().enumerate() {
                    let dashes = "-".repeat(*width);
                    if column == 0 { write!(f, "| {dashes} ")? } else { write!(f, "| {}: ", &dashes[1..])? }
                }
                writeln!(f, "|")?;
            }
        }
        Ok(())
    }
}

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `number / 10^decimals`, with all its decimals.
pub fn decimal(number: u64, decimals: u32) -> String {
    let unit = 10_u64.pow(decimals);
    format!("{}.{:0width$}", number / unit, number % unit, width = decimals as usize)
}

/// Microseconds as milliseconds.
pub fn milliseconds(us: u64) -> String {
    decimal((us + 5) / 10, 2)
}

/// Nanoseconds as microseconds.
pub fn microseconds(ns: u64) -> String {
    decimal((ns + 50) / 100, 1)
}

/// A time in seconds.
pub fn seconds(time: Duration) -> String {
    decimal(u64::try_from((time.as_millis() + 5) / 10).unwrap_or(u64::MAX), 2)
}

/// A time in milliseconds.
pub fn milliseconds_of(time: Duration) -> String {
    milliseconds(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}

/// Bytes in MiB.
pub fn mebibytes(bytes: u64) -> String {
    decimal(bytes * 10 / (1 << 20), 1)
}

/// The difference between `before` and `after`, shared by so many, in bytes; below zero when it
/// became less.
pub fn bytes_each(before: u64, after: u64, count: u64) -> String {
    let sign = if after < before { "−" } else { "" };
    format!("{sign}{}", grouped(after.abs_diff(before) / count.max(1)))
}

/// `part` of `whole`, as in `0.35`.
pub fn ratio(part: u64, whole: u64) -> String {
    (part * 100 + whole / 2)
        .checked_div(whole)
        .map_or_else(|| "–".to_owned(), |hundredths| decimal(hundredths, 2))
}

/// The rate of so many in that time, per second.
pub fn per_second(count: u64, time: Duration) -> u64 {
    let rate = u128::from(count) * 1_000_000_000 / time.as_nanos().max(1);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// The time of each, in nanoseconds, if so many took `time`.
pub fn nanoseconds_each(time: Duration, count: u64) -> u64 {
    u64::try_from(time.as_nanos() / u128::from(count.max(1))).unwrap_or(u64::MAX)
}

/// The median; of an even number of values the lower of the two in the middle, of none 0.
pub fn median(values: impl IntoIterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.into_iter().collect();
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_and_grouped() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([4, 5, 1_994, 1_995].map(milliseconds), ["0.00", "0.01", "1.99", "2.00"]);
        assert_eq!(
            (ratio(1, 3), ratio(2, 3), ratio(5, 0)),
            ("0.33".to_owned(), "0.67".to_owned(), "–".to_owned())
        );
        assert_eq!(seconds(Duration::from_millis(1_295)), "1.30");
        assert_eq!(per_second(300, Duration::from_millis(1_500)), 200);
        assert_eq!((median([3, 1, 2]), median([4, 1]), median([])), (2, 1, 0));
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::new("Title", &["case", "n"]);
        table.row(["…".to_owned(), "1,000".to_owned()]);
        assert_eq!(table.to_string(), "\n## Title\n\n| case |     n |\n| ---- | ----: |\n| …    | 1,000 |\n");
    }
}
