//! The lines of a table, and what hostile cells become.

use super::*;
use proptest::prelude::*;

fn table() -> Table {
    let column = |name: &str, is_number| Column { name: name.to_owned(), is_number };
    Table::new(
        vec![
            column("id", false),
            column("amount", true),
            column("note", false),
            column("to.name", false),
            column("to.bank.code", false),
            column("tags", false),
        ],
        RowsAt::Member(ITEMS),
        true,
    )
}

#[test]
fn members_become_cells_by_their_names() {
    let page = br#"{"items":[{"id":"a","note":null,"amount":"-2.25","to":{"bank":{"code":"0134"},"name":"Ana"},"tags":["x",1],"unknown":1},{"amount":-3,"to":null}],"nextCursor":"abc"}"#;
    let rows = table().rows(page, Separator::Comma).expect("a page");
    assert_eq!(rows.text, "a,-2.25,,Ana,0134,\"[\"\"x\"\",1]\"\r\n,-3,,,,\r\n");
    assert_eq!(rows.next.as_deref(), Some("abc"));
    assert_eq!(table().header(Separator::Semicolon), "id;amount;note;to.name;to.bank.code;tags\r\n");
    assert_eq!(
        table().rows(br#"{"items":[],"nextCursor":null}"#, Separator::Comma),
        Ok(Rows { text: String::new(), next: None })
    );
    for other in [&b"[]"[..], b"{}", br#"{"items":{}}"#, br#"{"items":[1]}"#, b"\xff"] {
        assert_eq!(table().rows(other, Separator::Comma), Err(NoPage));
    }
}

#[test]
fn what_a_spreadsheet_would_run_is_a_text() {
    for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"] {
        assert_eq!(cell(Some(&serde_json::to_string(formula).expect("JSON")), false), format!("'{formula}"));
    }
    for harmless in ["", "a=1", " =1", "'=1", "\u{202e}=1"] {
        assert_eq!(cell(Some(&serde_json::to_string(harmless).expect("JSON")), false), harmless);
    }
    assert_eq!(cell(Some("\"-2.25\""), true), "-2.25");
    assert_eq!(cell(Some("-2.25"), false), "-2.25");
}

#[test]
fn parameters_of_pages_are_refused_and_filters_stay_as_they_were_sent() {
    let (asked, bad) = CsvQuery::read(Some("status=A%2CB&separator=semicolon&q=%ff"));
    assert_eq!((asked.separator, bad.len()), (Separator::Semicolon, 0));
    assert_eq!(asked.query(true, Some("abc")), "status=A%2CB&q=%ff&limit=100&cursor=abc");
    assert_eq!(CsvQuery::read(None).0.query(false, None), "");
    for (query, fields) in [
        ("limit=1&limit=2", &["limit"][..]),
        ("cursor=x&l%69mit=1", &["cursor", "limit"]),
        ("separator=tab", &["separator"]),
        ("separator=comma&separator=comma", &["separator"]),
    ] {
        let named: Vec<String> = CsvQuery::read(Some(query)).1.into_iter().map(|bad| bad.field).collect();
        assert_eq!(named, fields, "{query}");
    }
}

/// The cells of each line, by the grammar of RFC 4180.
fn parsed(text: &str, separator: char) -> Vec<Vec<String>> {
    let (mut lines, mut line, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            '\r' if !quoted && letters.peek() == Some(&'\n') => {
                letters.next();
                line.push(std::mem::take(&mut cell));
                lines.push(std::mem::take(&mut line));
            }
            letter if letter == separator && !quoted => line.push(std::mem::take(&mut cell)),
            letter => cell.push(letter),
        }
    }
    lines
}

proptest! {
    #[test]
    fn a_reader_finds_every_cell_again(cells in proptest::collection::vec("[ -~\r\n\t\"',;ñ\u{202e}]{0,12}", 2..6), semicolon: bool) {
        let separator = if semicolon { Separator::Semicolon } else { Separator::Comma };
        let mut out = String::new();
        line(&mut out, cells.iter().map(|cell| Cow::Borrowed(cell.as_str())), separator);
        prop_assert_eq!(parsed(&out, separator.character()), vec![cells]);
    }
}
