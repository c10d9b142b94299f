//! Files for people: the rows of a list's file with the cells that a page writes, and a name that says whose
//! and of when they are.

use super::{Separator, line};
use csv::{ReaderBuilder, StringRecord};
use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;

/// The whole rows of a file in commas, each with the cells that `written` makes of it.
pub fn rewritten(
    rows: &[u8],
    has_header: bool,
    separator: Separator,
    written: impl Fn(&StringRecord) -> Vec<String>,
) -> String {
    let mut out = String::with_capacity(rows.len());
    let read = ReaderBuilder::new().has_headers(has_header).flexible(true).from_reader(rows);
    for row in read.into_records().flatten() {
        line(&mut out, written(&row).into_iter().map(Cow::Owned), separator);
    }
    out
}

pub fn header(names: impl IntoIterator<Item = String>, separator: Separator) -> String {
    let mut out = String::new();
    line(&mut out, names.into_iter().map(Cow::Owned), separator);
    out
}

/// `cobros-ferreteria-el-avila-2026-11.csv`: letters and digits of ASCII, with dashes between words.
pub fn file_name(words: &[&str]) -> String {
    let plain = words.join(" ");
    let plain: String = plain.nfd().filter(|sign| !matches!(sign, '\u{300}'..='\u{36f}')).collect();
    let words = plain.split(|sign: char| !sign.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    format!("{}.csv", words.collect::<Vec<_>>().join("-").to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_name_that_every_disk_takes() {
        assert_eq!(
            file_name(&["Cobros", "Ferretería El Ávila, C.A.", "2026-11"]),
            "cobros-ferreteria-el-avila-c-a-2026-11.csv"
        );
        assert_eq!(file_name(&["Pagos", "", ""]), "pagos.csv");
    }

    #[test]
    fn rows_are_written_anew() {
        let rows = b"a,b\r\n1.50,\"x, y\"\r\n2,z\r\n";
        let turned = |row: &StringRecord| vec![row[1].to_owned(), row[0].replace('.', ",")];
        let written = rewritten(rows, true, Separator::Semicolon, turned);
        assert_eq!(written.lines().collect::<Vec<_>>(), ["\"x, y\";\"1,50\"", "z;2"]);
    }
}
