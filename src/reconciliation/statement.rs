//! The bank's statement, as it is uploaded: a CSV whose header names the columns
//! ([`api::csv::file`]). A bad line is named by the number that an editor shows (the header is 1),
//! and spoils none beside it.

use super::entries::Side;
use api::csv::file::{BadColumn, File, NoFile, Row, RowFault};
use api::problem::{BadField, Problem};
use domain::values::text::{is_blank, is_invisible};
use domain::values::time::Date;
use serde::{Deserialize, Serialize};

pub const LINES_MAX: usize = 100_000;

const REQUIRED: [&str; 4] = ["date", "reference", "amount", "kind"];
const COLUMNS: [&str; 6] = ["date", "reference", "amount", "kind", "phone", "bank"];
const REFERENCE_DIGITS_MAX: usize = 64;
const TEXT_CHARACTERS_MAX: usize = 64;
const WHOLE_DIGITS_MAX: usize = 15;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub number: u32,
    pub date: Date,
    /// Digits as they were sent.
    pub reference: String,
    pub cents: i64,
    pub side: Side,
    pub phone: Option<String>,
    pub bank: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadLine {
    pub line: u32,
    pub message: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statement {
    pub lines: Vec<Line>,
    pub bad: Vec<BadLine>,
}

/// 400 for what is no statement. The file has no member that could be named, so problems of columns
/// name these, and others the `file`. A day without a movement is a header alone.
pub fn read(bytes: &[u8]) -> Result<Statement, Problem> {
    let of_file = |message: String| Problem::invalid_field("file", message);
    let file = File::read(bytes, &COLUMNS).map_err(|no_file| {
        of_file(match no_file {
            NoFile::NoText => "must be CSV in UTF-8 or Windows-1252".to_owned(),
            NoFile::Empty => "must have a header".to_owned(),
            NoFile::OpenQuote(line) => format!("must close the quote that line {line} opens"),
        })
    })?;
    let bad = file.bad_columns(&REQUIRED).into_iter().map(|bad| match bad {
        BadColumn::Missing(name) => BadField::new(name, "is a required column"),
        BadColumn::Double(name) => BadField::new(name, "must be one column only"),
    });
    let bad: Vec<BadField> = bad.collect();
    if !bad.is_empty() {
        return Err(Problem::invalid_data(bad));
    }
    let mut statement = Statement::default();
    for row in file.rows() {
        if statement.lines.len() + statement.bad.len() == LINES_MAX {
            return Err(of_file(format!("must have at most {LINES_MAX} lines")));
        }
        // The size of a file is bounded far below so many lines.
        let number = u32::try_from(row.number).unwrap_or(u32::MAX);
        match line(number, &row, &file) {
            Ok(line) => statement.lines.push(line),
            Err(message) => statement.bad.push(BadLine { line: number, message }),
        }
    }
    Ok(statement)
}

fn line(number: u32, row: &Row, file: &File) -> Result<Line, String> {
    match row.fault {
        Some(RowFault::Width) => return Err("must have as many cells as the header".to_owned()),
        Some(RowFault::Quotes) => return Err("must have every quote inside a quoted cell twice".to_owned()),
        None => {}
    }
    let cell = |column: usize| file.cell(row, column);
    let must = |column: usize, what: &str| format!("{} must {what}", file.name(column));
    let optional = |column: usize| Some(cell(column)).filter(|text| !is_blank(text)).map(shown);
    let date = Date::parse(cell(0)).map_err(|_| must(0, "be a day as YYYY-MM-DD"))?;
    let reference = cell(1);
    if reference.is_empty()
        || reference.len() > REFERENCE_DIGITS_MAX
        || !reference.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Err(must(1, "have 1 to 64 digits and nothing else"));
    }
    let cents =
        cents(cell(2)).ok_or_else(|| must(2, "have two decimals, such as 1250.00, and be above zero"))?;
    let side = match cell(3) {
        "credit" => Side::Credit,
        "debit" => Side::Debit,
        _ => return Err(must(3, "be credit or debit")),
    };
    let reference = reference.to_owned();
    Ok(Line { number, date, reference, cents, side, phone: optional(4), bank: optional(5) })
}

fn shown(text: &str) -> String {
    let one_line = |character: char| if character.is_whitespace() { ' ' } else { character };
    let visible = text.chars().map(one_line).filter(|character| !is_invisible(*character));
    visible.take(TEXT_CHARACTERS_MAX).collect()
}

/// `0.00`, above zero.
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
    use proptest::prelude::*;
    use std::iter;

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
        assert_eq!(named("Date,DATE,reference,amount,kind\n"), ["Date"]);
        for file in ["", "\n\r\n", "date,reference,amount,kind\n\"2026-11-21,1,1.00,credit\n", "a\0b\n"] {
            assert_eq!(named(file), ["file"], "{file:?}");
        }
        let many = format!("date,reference,amount,kind\n{}", "x\n".repeat(LINES_MAX + 1));
        assert_eq!(named(&many), ["file"]);
    }

    #[test]
    fn a_day_without_a_movement_is_a_header_alone() {
        for file in ["date,reference,amount,kind", "\u{feff}date;reference;amount;kind\r\n\r\n"] {
            assert_eq!(read(file.as_bytes()).ok(), Some(Statement::default()), "{file:?}");
        }
    }

    #[test]
    fn a_bad_line_is_named_by_its_number_and_spoils_no_other() {
        let file = "date,reference,amount,kind\n\
            2026-11-31,1,1.00,credit\n2026-11-21,1a,1.00,credit\n2026-11-21,1,1.0,credit\n\
            2026-11-21,1,0.00,credit\n2026-11-21,1,01.00,credit\n2026-11-21,1,1.00,Credit\n\
            2026-11-21,1,1.00\n\n2026-11-21,,1.00,debit\n2026-11-21,1,1.00,debit\n\
            2026-11-21,1,1.00,debit\r2026-11-21,2,1.00,debit\n2026-11-21,3,1.00,\"debit\"x\n";
        let read = read(file.as_bytes()).expect("a statement");
        let bad: Vec<u32> = read.bad.iter().map(|bad| bad.line).collect();
        assert_eq!(bad, [2, 3, 4, 5, 6, 7, 8, 10, 14]);
        // A lone CR ends a line for editors, and for the reader.
        assert_eq!(read.lines.iter().map(|line| line.number).collect::<Vec<_>>(), [11, 12, 13]);
    }

    #[test]
    fn messages_have_the_columns_as_the_file_names_them() {
        let file =
            "Amount;Fecha;KIND;date;Reference\n1,00;x;credit;2026-11-21;1\n1.00;x;credit;21/11/2026;1\n";
        let read = read(file.as_bytes()).expect("a statement");
        let said: Vec<&str> = read.bad.iter().map(|bad| bad.message.as_str()).collect();
        let amount = "Amount must have two decimals, such as 1250.00, and be above zero";
        assert_eq!(said, [amount, "date must be a day as YYYY-MM-DD"]);
        let spanish = api::codes::faults::spanish(amount);
        assert!(spanish.is_some_and(|spanish| spanish.starts_with("Amount: ")), "{amount}");
    }

    proptest! {
        /// Whatever a payer writes with a payment, it is one line of the statement, and its own.
        #[test]
        fn a_payers_text_makes_no_line_and_spoils_none(
            texts in prop::collection::vec("(2026-11-26,99990001,7400\\.00,credit,x|\\PC|[\r\n\t\",; =])*", 1..20),
            windows: bool,
        ) {
            for separator in [",", ";", "\t"] {
                let rows = (0..).zip(&texts).map(|(n, text)| {
                    let cells = [format!("\"{}\"", text.replace('"', "\"\"")), "2026-11-26".to_owned(), format!("5555{n}"), "10.00".to_owned(), "credit".to_owned()];
                    cells.join(separator)
                });
                let header = ["note", "date", "reference", "amount", "kind"].join(separator);
                let end = if windows { "\r\n" } else { "\n" };
                let file: String = iter::once(header).chain(rows).map(|row| row + end).collect();
                let read = read(file.as_bytes()).expect("a statement");
                prop_assert_eq!(&read.bad, &[]);
                let references: Vec<String> = read.lines.iter().map(|line| line.reference.clone()).collect();
                let expected: Vec<String> = (0..texts.len()).map(|n| format!("5555{n}")).collect();
                prop_assert_eq!(references, expected);
                prop_assert!(read.lines.iter().all(|line| line.cents == 1_000));
            }
        }
    }
}
