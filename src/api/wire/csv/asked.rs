//! The parameters of a list that is asked for as CSV: `separator` is its own, `limit` and `cursor`
//! are those of pages, and the rest are the filters of the list.

use super::Separator;
use crate::page::LIMIT_MAX;
use crate::problem::BadField;
use crate::query::sent_parameters;

/// The media type that a caller names in `Accept`.
pub const MEDIA_TYPE: &str = "text/csv";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvQuery {
    pub separator: Separator,
    filters: String,
}

impl CsvQuery {
    /// Without filters.
    pub const fn of(separator: Separator) -> CsvQuery {
        CsvQuery { separator, filters: String::new() }
    }

    /// Reads a query string, and names what does not belong there.
    pub fn read(query: Option<&str>) -> (CsvQuery, Vec<BadField>) {
        let (mut filters, mut separators, mut bad) = (Vec::new(), Vec::new(), Vec::new());
        for (sent, name, text) in sent_parameters(query) {
            match &*name {
                "separator" => separators.push(text),
                name @ ("limit" | "cursor") => {
                    let message = "is not taken with text/csv, which is the whole list";
                    if bad.iter().all(|known: &BadField| known.field != name) {
                        bad.push(BadField::new(name.to_owned(), message));
                    }
                }
                _ => filters.push(sent),
            }
        }
        let separator = match separators.as_slice() {
            [] => Some(Separator::Comma),
            [one] if one == "comma" => Some(Separator::Comma),
            [one] if one == "semicolon" => Some(Separator::Semicolon),
            _ => None,
        };
        if separator.is_none() {
            bad.push(BadField::new("separator", "must be comma or semicolon, once"));
        }
        (CsvQuery { separator: separator.unwrap_or(Separator::Comma), filters: filters.join("&") }, bad)
    }

    /// The query string of a page of the list, the first or the one at a cursor; of a list without
    /// pages, of the list.
    pub fn query(&self, pages: bool, cursor: Option<&str>) -> String {
        let limit = pages.then(|| format!("limit={LIMIT_MAX}"));
        let cursor = cursor.map(|cursor| format!("cursor={cursor}"));
        let filters = Some(self.filters.clone()).filter(|filters| !filters.is_empty());
        [filters, limit, cursor].into_iter().flatten().collect::<Vec<_>>().join("&")
    }
}
