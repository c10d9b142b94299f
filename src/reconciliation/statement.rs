//! The bank's statement, as it is uploaded: a CSV whose header names the columns. Pure.
//!
//! Each line of the file is a row of its own, so that a bad one is named by the number that an editor shows
//! (the header is 1), and spoils none beside it.

use super::entries::Side;
use api::problem::{BadField, Problem};
use csv::{ReaderBuilder, StringRecord};
use domain::values::date::Date;

/// The most lines of a statement, its header aside.
pub const LINES_MAX: usize = 100_000;

/// The columns that must be there.
const REQUIRED: [&str; 4] = ["date", "reference", "amount", "kind"];
/// All columns, in the order of [`Columns`].
const COLUMNS: [&str; 6] = ["date", "reference", "amount", "kind", "phone", "bank"];
/// Digits of the longest reference.
const REFERENCE_DIGITS_MAX: usize = 64;
/// Characters that are kept of a phone or a bank.
const TEXT_CHARACTERS_MAX: usize = 64;
/// Digits before the point of the largest amount, so that it is a number of cents.
const WHOLE_DIGITS_MAX: usize = 15;

/// A sound line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The number of the line in the file.
    pub number: u32,
    /// The bank's day.
    pub date: Date,
    /// The bank's reference, digits as they were sent.
    pub reference: String,
    /// The amount in hundredths.
    pub cents: i64,
    /// The direction of the money: it came or went.
    pub side: Side,
    /// The phone on the other side, as it was sent.
    pub phone: Option<String>,
    /// The bank on the other side, as it was sent.
    pub bank: Option<String>,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The number of the line in the file.
    pub number: u32,
    /// The fault of the line.
    pub message: &'static str,
}

/// A statement that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statement {
    /// The sound lines, in the order of the file.
    pub lines: Vec<Line>,
    /// The others.
    pub bad: Vec<BadLine>,
}

/// The places of the columns.
struct Columns {
    places: [Option<usize>; 6],
    count: usize,
    separator: u8,
}

/// Reads a statement: 400 for what is none. The file has no member that could be named, so problems of
/// columns name these, and others the `file`.
pub fn read(bytes: &[u8]) -> Result<Statement, Problem> {
    let of_file = |message: &'static str| Problem::invalid_field("file", message);
    let text = std::str::from_utf8(bytes).map_err(|_| of_file("must be UTF-8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rows = text.split('\n').map(|row| row.strip_suffix('\r').unwrap_or(row));
    let mut rows = (1u32..).zip(rows).filter(|(_, row)| !row.trim().is_empty());
    let Some((_, header)) = rows.next() else {
        return Err(of_file("must have a header and lines"));
    };
    let columns = columns(header)?;
    let mut statement = Statement::default();
    for (number, row) in rows {
        if statement.lines.len() + statement.bad.len() == LINES_MAX {
            return Err(of_file("must have at most 100000 lines"));
        }
        match line(number, row, &columns) {
            Ok(line) => statement.lines.push(line),
            Err(message) => statement.bad.push(BadLine { number, message }),
        }
    }
    if statement.lines.is_empty() && statement.bad.is_empty() {
        return Err(of_file("must have a header and lines"));
    }
    Ok(statement)
}

fn columns(header: &str) -> Result<Columns, Problem> {
    let separator = if header.contains(';') { b';' } else { b',' };
    let cells = cells(header, separator)
        .ok_or_else(|| Problem::invalid_field("file", "must begin with the names of its columns"))?;
    let (mut places, mut bad) = ([None; 6], Vec::new());
    for (place, name) in cells.iter().enumerate() {
        let known = COLUMNS.iter().position(|column| column.eq_ignore_ascii_case(name.trim()));
        let Some(column) = known else { continue };
        if places[column].replace(place).is_some() {
            bad.push(BadField::new(COLUMNS[column], "must be one column only"));
        }
    }
    for (column, place) in REQUIRED.iter().zip(places) {
        if place.is_none() {
            bad.push(BadField::new(*column, "is a required column"));
        }
    }
    if bad.is_empty() {
        Ok(Columns { places, count: cells.len(), separator })
    } else {
        Err(Problem::invalid_data(bad))
    }
}

/// The cells of a row; `None` of what is no row of CSV.
fn cells(row: &str, separator: u8) -> Option<StringRecord> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .buffer_capacity(row.len().max(1))
        .from_reader(row.as_bytes());
    let (mut record, mut next) = (StringRecord::new(), StringRecord::new());
    let is_row = matches!(reader.read_record(&mut record), Ok(true));
    // A lone CR divides rows for the reader, and would hide the second one.
    let is_one = matches!(reader.read_record(&mut next), Ok(false));
    (is_row && is_one).then_some(record)
}

fn line(number: u32, row: &str, columns: &Columns) -> Result<Line, &'static str> {
    let cells = cells(row, columns.separator)
        .filter(|cells| cells.len() == columns.count)
        .ok_or("must have as many cells as the header")?;
    let cell = |column: usize| columns.places[column].and_then(|place| cells.get(place)).unwrap_or("").trim();
    let optional = |column: usize| Some(cell(column)).filter(|text| !text.is_empty()).map(shortened);
    let date = Date::parse(cell(0)).map_err(|_| "date must be a day as YYYY-MM-DD")?;
    let reference = cell(1);
    if reference.is_empty()
        || reference.len() > REFERENCE_DIGITS_MAX
        || !reference.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Err("reference must have 1 to 64 digits and nothing else");
    }
    let cents = cents(cell(2)).ok_or("amount must have two decimals, such as 1250.00, and be above zero")?;
    let side = match cell(3) {
        "credit" => Side::Credit,
        "debit" => Side::Debit,
        _ => return Err("kind must be credit or debit"),
    };
    let reference = reference.to_owned();
    Ok(Line { number, date, reference, cents, side, phone: optional(4), bank: optional(5) })
}

/// The part that is kept of a text that is only compared and shown.
fn shortened(text: &str) -> String {
    text.chars().take(TEXT_CHARACTERS_MAX).collect()
}

/// The hundredths of `0.00`, above zero.
fn cents(text: &str) -> Option<i64> {
    let (whole, decimals) = text.split_once('.')?;
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = (1..=WHOLE_DIGITS_MAX).contains(&whole.len()) && decimals.len() == 2;
    if !fits || !is_digits(whole) || !is_digits(decimals) || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    let cents = whole.parse::<i64>().ok()?.checked_mul(100)?.checked_add(decimals.parse().ok()?)?;
    Some(cents).filter(|cents| *cents > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(file: &str) -> Vec<String> {
        let fields = read(file.as_bytes()).err().map(|problem| problem.fields).unwrap_or_default();
        fields.into_iter().map(|bad| bad.field).collect()
    }

    #[test]
    fn columns_come_in_any_order_and_case_with_either_separator() {
        let one =
            read(b"\xef\xbb\xbfKIND;Amount;reference;DATE;note\r\ncredit;10.00;0012;2026-11-21;\"a;b\"\r\n");
        let other = read(b"date,reference,amount,kind,phone,bank\n2026-11-21,0012,10.00,credit,,\n\n");
        let line = Line {
            number: 2,
            date: Date::parse("2026-11-21").expect("a day"),
            reference: "0012".to_owned(),
            cents: 1_000,
            side: Side::Credit,
            phone: None,
            bank: None,
        };
        let expected = Statement { lines: vec![line], bad: Vec::new() };
        assert_eq!((one.ok(), other.ok()), (Some(expected.clone()), Some(expected)));
    }

    #[test]
    fn what_is_no_statement_is_refused_whole() {
        assert_eq!(named("date,amount,kind\n"), ["reference"]);
        assert_eq!(named("date,DATE,reference,amount,kind\n"), ["date"]);
        for file in ["", "\n\r\n", "date,reference,amount,kind\n"] {
            assert_eq!(named(file), ["file"], "{file:?}");
        }
        assert!(read(b"date,reference,amount,kind\n\xff").is_err());
        let many = format!("date,reference,amount,kind\n{}", "x\n".repeat(LINES_MAX + 1));
        assert_eq!(named(&many), ["file"]);
    }

    #[test]
    fn a_bad_line_is_named_by_its_number_and_spoils_no_other() {
        let file = "date,reference,amount,kind\n\
            2026-11-31,1,1.00,credit\n2026-11-21,1a,1.00,credit\n2026-11-21,1,1.0,credit\n\
            2026-11-21,1,0.00,credit\n2026-11-21,1,01.00,credit\n2026-11-21,1,1.00,Credit\n\
            2026-11-21,1,1.00\n\n2026-11-21,,1.00,debit\n2026-11-21,1,1.00,debit\n\
            2026-11-21,1,1.00,debit\r2026-11-21,2,1.00,debit\n";
        let read = read(file.as_bytes()).expect("a statement");
        let bad: Vec<u32> = read.bad.iter().map(|bad| bad.number).collect();
        assert_eq!(bad, [2, 3, 4, 5, 6, 7, 8, 10, 12]);
        assert_eq!(read.lines.iter().map(|line| line.number).collect::<Vec<_>>(), [11]);
    }
}
