//! Lists as CSV (RFC 4180): the whole list instead of a page, for spreadsheets and ledgers.
//!
//! A table is derived from the description of an operation ([`crate::openapi::columns`]), and its
//! rows from the JSON of the pages, so a list has both forms without a line of its own: columns are
//! the members of an item, those of nested objects with dots between the names, and a list inside
//! an item is its JSON. This file must not know any particular list.
//!
//! A spreadsheet takes a cell that starts with `=`, `+`, `-` or `@` for a formula, and runs it; and one
//! that expects another separator begins cells where this file has none: at every `,`, `;`, tab and line
//! end of a text, quoted or not. What others typed is in these cells, so each such sign gets an apostrophe
//! in front, wherever a cell may begin. A cell that can only be a number (by its type, or by the pattern
//! of its text) stays as it is: `-2.25` is an amount.
//!
//! Files that others bring are read by [`file`].

mod asked;
pub mod file;
pub mod people;
#[cfg(test)]
mod tests;

pub use asked::{CsvQuery, MEDIA_TYPE};

use crate::json::{self, Shape};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The member that has the rows of a list.
pub const ITEMS: &str = "items";
/// The member that has the rows of a statement.
pub const DAYS: &str = "days";

/// The place of the rows in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsAt {
    Member(&'static str),
    /// The elements of this member; without it the answer is the only row.
    MemberOrAnswer(&'static str),
    Answer,
}
const NEXT_CURSOR: &str = "nextCursor";

/// The character between two cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// The separator of RFC 4180.
    Comma = b',' as isize,
    /// The separator that spreadsheets expect where a comma divides decimals.
    Semicolon = b';' as isize,
}

/// A column: the members that lead to its cells, with dots in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    /// Whether its cells can only be numbers, which no spreadsheet takes for formulas.
    pub is_number: bool,
}

/// A list that can be read as CSV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    columns: Vec<Column>,
    places: BTreeMap<String, usize>,
    rows: RowsAt,
    pub pages: bool,
}

/// An answer that is no page of the list: a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an answer that is no page of its list")]
pub struct NoPage;

/// The rows of a page, and where the list goes on.
#[derive(Debug, PartialEq, Eq)]
pub struct Rows {
    pub text: String,
    pub next: Option<String>,
}

impl Table {
    /// A table with these columns, whose rows are at this place of the answer.
    pub fn new(columns: Vec<Column>, rows: RowsAt, pages: bool) -> Table {
        let places = columns.iter().enumerate().map(|(place, column)| (column.name.clone(), place)).collect();
        Table { columns, places, rows, pages }
    }

    pub fn headings(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    pub fn header(&self, separator: Separator) -> String {
        let mut out = String::with_capacity(24 * self.columns.len());
        line(&mut out, self.headings().map(Cow::Borrowed), separator);
        out
    }

    /// The rows of a page, which is an answer of the list in JSON.
    pub fn rows(&self, page: &[u8], separator: Separator) -> Result<Rows, NoPage> {
        let page = std::str::from_utf8(page).map_err(|_| NoPage)?;
        let members = match json::read(page) {
            Ok(Shape::Object(members)) => members,
            Ok(Shape::List(_)) => Vec::new(),
            Ok(Shape::Scalar) | Err(_) => return Err(NoPage),
        };
        let member = |name: &str| {
            let found = members.iter().find(|member| member.name == name);
            found.map(|member| member.value)
        };
        let items = match self.rows {
            RowsAt::Member(name) => elements(member(name).ok_or(NoPage)?)?,
            RowsAt::MemberOrAnswer(name) => member(name).map_or_else(|| Ok(vec![page]), elements)?,
            RowsAt::Answer => elements(page)?,
        };
        let mut text = String::with_capacity(page.len());
        for item in items {
            let mut cells = vec![None; self.columns.len()];
            self.fill(&mut String::new(), item, &mut cells)?;
            let cells = cells.iter().zip(&self.columns).map(|(value, column)| cell(*value, column.is_number));
            line(&mut text, cells, separator);
        }
        let next = member(NEXT_CURSOR)
            .filter(|value| value.starts_with('"'))
            .map(|value| json::decode_string(value).into_owned());
        Ok(Rows { text, next })
    }

    /// Puts the members of an object into their cells. What has no column is not described, so it
    /// is not shown.
    fn fill<'a>(
        &self,
        prefix: &mut String,
        object: &'a str,
        cells: &mut [Option<&'a str>],
    ) -> Result<(), NoPage> {
        let Ok(Shape::Object(members)) = json::read(object) else { return Err(NoPage) };
        for member in members {
            let outer = prefix.len();
            prefix.push_str(&member.name);
            match self.places.get(prefix.as_str()) {
                Some(place) => cells[*place] = Some(member.value),
                None if member.value.starts_with('{') => {
                    prefix.push('.');
                    self.fill(prefix, member.value, cells)?;
                }
                None => {}
            }
            prefix.truncate(outer);
        }
        Ok(())
    }
}

fn elements(json: &str) -> Result<Vec<&str>, NoPage> {
    match json::read(json) {
        Ok(Shape::List(elements)) => Ok(elements),
        _ => Err(NoPage),
    }
}

/// The text of a cell, from the JSON of a member.
fn cell(value: Option<&str>, is_number: bool) -> Cow<'_, str> {
    match value {
        None | Some("null") => Cow::Borrowed(""),
        Some(literal) if literal.starts_with('"') => {
            let text = json::decode_string(literal);
            if is_number { text } else { defused(text, false) }
        }
        Some(json) => defused(Cow::Borrowed(json), true),
    }
}

/// A cell of a text of which nothing else is known: a number or JSON stays one.
pub fn text_cell(text: &str) -> Cow<'_, str> {
    let digits = text.strip_prefix('-').unwrap_or(text).split('.').map(str::as_bytes);
    let is_number = text.matches('.').count() < 2
        && digits.clone().all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    if is_number {
        return Cow::Borrowed(text);
    }
    let is_json = matches!(json::read(text), Ok(Shape::Object(_) | Shape::List(_)));
    defused(Cow::Borrowed(text), is_json)
}

/// Whether a spreadsheet takes a cell that begins so for a formula; the wide forms are those of East Asia.
const fn begins_formula(character: char) -> bool {
    matches!(character, '=' | '+' | '-' | '@' | '\u{ff1d}' | '\u{ff0b}' | '\u{ff0d}' | '\u{ff20}')
}

/// Whether a reader may begin a cell behind this character: a separator of any reader, and the end of a line.
const fn begins_cell(character: char) -> bool {
    matches!(character, ',' | ';' | '\t' | '\r' | '\n')
}

/// The text with an apostrophe before each sign that a spreadsheet may take for the beginning of a formula: at
/// its start, behind every separator, and behind quotes that stand there. In JSON only what stands in strings
/// is a text; the numbers beside them stay numbers.
fn defused(text: Cow<'_, str>, is_json: bool) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut taken, mut is_start, mut in_string, mut is_escaped) = (0, true, !is_json, false);
    for (at, character) in text.char_indices() {
        if is_start && in_string && begins_formula(character) {
            out.push_str(&text[taken..at]);
            out.push('\'');
            taken = at;
        }
        is_start = begins_cell(character) || is_start && character == '"';
        if is_json {
            in_string ^= character == '"' && !is_escaped;
            is_escaped = character == '\\' && !is_escaped;
        }
    }
    if taken == 0 && out.is_empty() {
        return text;
    }
    out.push_str(&text[taken..]);
    Cow::Owned(out)
}

pub fn line<'a>(out: &mut String, cells: impl Iterator<Item = Cow<'a, str>>, separator: Separator) {
    let separator = char::from(separator as u8);
    for (place, cell) in cells.enumerate() {
        if place > 0 {
            out.push(separator);
        }
        if cell.contains(|character| character == '"' || begins_cell(character)) {
            out.push('"');
            out.push_str(&cell.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(&cell);
        }
    }
    out.push_str("\r\n");
}
