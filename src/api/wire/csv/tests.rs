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
    let of = |text: &str| cell(Some(&serde_json::to_string(text).expect("JSON")), false).into_owned();
    for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\u{ff1d}1"] {
        assert_eq!(of(formula), format!("'{formula}"));
    }
    for (text, defused) in [
        ("x;=cmd|' /C calc'!A0", "x;'=cmd|' /C calc'!A0"),
        ("x,@SUM(A1)", "x,'@SUM(A1)"),
        ("\t=1", "\t'=1"),
        ("\r=1", "\r'=1"),
        ("x\r\n=1;-2", "x\r\n'=1;'-2"),
        ("\"=1", "\"'=1"),
        ("x;\"\"=1", "x;\"\"'=1"),
    ] {
        assert_eq!(of(text), defused, "{text:?}");
    }
    for harmless in ["", "a=1", " =1", "'=1", "\u{202e}=1", "a;b,c", "2026-11-26", "a, -1"] {
        assert_eq!(of(harmless), harmless);
    }
    assert_eq!(cell(Some("\"-2.25\""), true), "-2.25");
    assert_eq!(cell(Some("-2.25"), false), "-2.25");
    assert_eq!(
        cell(Some(r#"{"a":[-1,-2],"b":"x;=1","c":["\"","=2",-3]}"#), false),
        r#"{"a":[-1,-2],"b":"x;'=1","c":["\"","'=2",-3]}"#
    );
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

/// The cells of each line, as a lenient reader of this separator takes them.
fn parsed(text: &str, separator: u8) -> Vec<Vec<String>> {
    let mut reader = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .from_reader(text.as_bytes());
    let cells = |record: ::csv::StringRecord| record.iter().map(str::to_owned).collect();
    reader.records().map(|record| cells(record.expect("text"))).collect()
}

proptest! {
    #[test]
    fn a_reader_finds_every_cell_again(cells in proptest::collection::vec("[ -~\r\n\t\"',;ñ\u{202e}]{0,12}", 2..6), semicolon: bool) {
        let separator = if semicolon { Separator::Semicolon } else { Separator::Comma };
        let mut out = String::new();
        line(&mut out, cells.iter().map(|cell| Cow::Borrowed(cell.as_str())), separator);
        prop_assert_eq!(parsed(&out, separator as u8), vec![cells]);
    }

    /// Whatever separator a spreadsheet expects, and whether or not it heeds quotes.
    #[test]
    fn no_reader_finds_a_formula(texts in proptest::collection::vec("[=+@\\-\"',;\t\r\nx ]{0,12}", 2..6), semicolon: bool) {
        let separator = if semicolon { Separator::Semicolon } else { Separator::Comma };
        let json: Vec<String> = texts.iter().map(|text| serde_json::to_string(text).expect("JSON")).collect();
        let mut out = String::new();
        line(&mut out, json.iter().map(|json| cell(Some(json), false)), separator);
        for other in [b',', b';', b'\t'] {
            for found in parsed(&out, other).into_iter().flatten() {
                prop_assert!(!found.starts_with(['=', '+', '-', '@']), "{} has {}", &out, &found);
            }
        }
        for found in out.split([',', ';', '\t', '\r', '\n']) {
            prop_assert!(!found.trim_start_matches('"').starts_with(['=', '+', '-', '@']), "{} has {}", &out, found);
        }
    }
}
