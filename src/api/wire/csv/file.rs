//! A CSV file that somebody brings: the one reader for statements of banks, payouts by file and whatever comes
//! (RFC 4180).
//!
//! What the file is written in is told by the file: its characters by a byte-order mark, or else UTF-8 if it
//! is that and Windows-1252 if not, which is what spreadsheets write; the separator by the names that its header
//! has. A line end in quotes is part of its cell, so that a text never becomes a row. A row has the number of
//! the line in which it begins, as an editor shows it.

use csv::{Reader, ReaderBuilder, StringRecord, Trim};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use std::borrow::Cow;

const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

pub struct File {
    text: String,
    separator: u8,
    /// The names of all its columns, as the file writes them.
    header: Vec<String>,
    /// The place of each column that is known.
    places: Vec<Option<usize>>,
}

pub struct Row {
    /// The number of its first line; the first line of the file is 1.
    pub number: u64,
    /// The cells, without the white space around them.
    pub cells: StringRecord,
    /// What keeps it from being a row of its table.
    pub fault: Option<RowFault>,
}

/// The reason why a row is none of its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFault {
    Width,
    /// A quoted cell has a quote inside that is not doubled.
    Quotes,
}

/// The reason why bytes are no CSV file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFile {
    /// Its characters cannot be told.
    NoText,
    Empty,
    /// A cell is opened by a quote, in this line, and goes on to the end of the file.
    OpenQuote(u64),
}

/// The columns that a file has to have, or may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadColumn {
    Missing(&'static str),
    /// It is there again, as the file writes it first.
    Double(String),
}

impl File {
    pub fn read(bytes: &[u8], columns: &[&str]) -> Result<File, NoFile> {
        let text = decoded(bytes).ok_or(NoFile::NoText)?.into_owned();
        let header = |separator: u8| Rows::of(&text, separator).next().map(|row| row.cells);
        let fit = |separator: &u8| {
            let cells = header(*separator).unwrap_or_default();
            let known =
                cells.iter().filter(|cell| columns.iter().any(|name| name.eq_ignore_ascii_case(cell)));
            (known.count(), cells.len())
        };
        // Of equals the first is meant.
        let separator = SEPARATORS.into_iter().rev().max_by_key(fit).unwrap_or(b',');
        let header = header(separator).ok_or(NoFile::Empty)?;
        if let Some(at) = quotes(text.as_bytes(), separator).open {
            return Err(NoFile::OpenQuote(Rows::of(&text, separator).line_at(at)));
        }
        let place = |name: &&str| header.iter().position(|cell| name.eq_ignore_ascii_case(cell));
        let places = columns.iter().map(place).collect();
        let header = header.iter().map(str::to_owned).collect();
        Ok(File { text, separator, header, places })
    }

    /// What is wrong with the columns: those that are required and missing, and those that are there twice.
    pub fn bad_columns(&self, required: &[&'static str]) -> Vec<BadColumn> {
        let count = |name: &str| self.header.iter().filter(|cell| name.eq_ignore_ascii_case(cell)).count();
        let missing = required.iter().filter(|name| count(name) == 0).map(|name| BadColumn::Missing(name));
        let double = self.places.iter().flatten().map(|place| &self.header[*place]);
        let double = double.filter(|name| count(name) > 1).map(|name| BadColumn::Double(name.clone()));
        double.chain(missing).collect()
    }

    /// The name of a column as the file writes it; of one that it lacks, nothing.
    pub fn name(&self, column: usize) -> &str {
        self.places[column].map_or("", |place| &self.header[place])
    }

    /// The cell of a column in a row; of a column or a cell that is not there, nothing.
    pub fn cell<'r>(&self, row: &'r Row, column: usize) -> &'r str {
        self.places[column].and_then(|place| row.cells.get(place)).unwrap_or_default()
    }

    pub fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let width = self.header.len();
        Rows::of(&self.text, self.separator).skip(1).map(move |mut row| {
            if row.fault.is_none() && row.cells.len() != width {
                row.fault = Some(RowFault::Width);
            }
            row
        })
    }
}

/// The text of a file; none of bytes that cannot be one, such as a workbook's.
fn decoded(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let (encoding, rest) = match Encoding::for_bom(bytes) {
        Some((encoding, mark)) => (encoding, &bytes[mark..]),
        None if std::str::from_utf8(bytes).is_ok() => (UTF_8, bytes),
        None => (WINDOWS_1252, bytes),
    };
    let (text, is_malformed) = encoding.decode_without_bom_handling(rest);
    (!is_malformed && !text.contains('\0')).then_some(text)
}

/// The rows of a text that are not empty, the header's too.
struct Rows<'a> {
    reader: Reader<&'a [u8]>,
    text: &'a [u8],
    separator: u8,
    /// The bytes whose line ends are counted in `number`: the reader's own count stands still between the two
    /// characters of a line end of Windows, and before empty lines.
    counted: usize,
    number: u64,
}

impl Rows<'_> {
    fn of(text: &str, separator: u8) -> Rows<'_> {
        let reader = ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .from_reader(text.as_bytes());
        Rows { reader, text: text.as_bytes(), separator, counted: 0, number: 1 }
    }

    /// The byte at which a row begins that the reader found from `from` on.
    fn start(&self, from: usize) -> usize {
        from + self.text[from..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
    }

    /// The number of the line that begins at a byte.
    fn line_at(&mut self, start: usize) -> u64 {
        for at in self.counted..start {
            let is_end = match self.text[at] {
                b'\n' => true,
                // Together with a line feed it is one end.
                b'\r' => self.text.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            self.number += u64::from(is_end);
        }
        self.counted = start;
        self.number
    }
}

impl Iterator for Rows<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let place = |position: &csv::Position| usize::try_from(position.byte()).ok();
        loop {
            let mut cells = StringRecord::new();
            // A text in UTF-8 with rows of any length has nothing that the reader could refuse.
            if !self.reader.read_record(&mut cells).unwrap_or(false) {
                return None;
            }
            // A line of white space is an empty one.
            if cells.len() == 1 && cells.get(0) == Some("") {
                continue;
            }
            let start = self.start(cells.position().and_then(place)?);
            let raw = &self.text[start..place(self.reader.position())?.max(start)];
            let fault = quotes(raw, self.separator).is_torn.then_some(RowFault::Quotes);
            return Some(Row { number: self.line_at(start), cells, fault });
        }
    }
}

struct Quotes {
    /// Something stands between the quote that closes a cell and the separator: where the cell ends is a guess
    /// then, and a text that nobody quoted may have opened it.
    is_torn: bool,
    /// The byte of a quote that opens a cell which is never closed.
    open: Option<usize>,
}

/// Looks at the quotes of a text as the reader does.
fn quotes(text: &[u8], separator: u8) -> Quotes {
    enum Place {
        Start,
        Plain,
        Quoted(usize),
        Closed(usize),
    }
    let (mut place, mut is_torn) = (Place::Start, false);
    for (at, byte) in text.iter().enumerate() {
        place = match (place, *byte) {
            (Place::Quoted(from), b'"') => Place::Closed(from),
            (Place::Quoted(from), _) | (Place::Closed(from), b'"') => Place::Quoted(from),
            (_, byte) if byte == separator || matches!(byte, b'\r' | b'\n') => Place::Start,
            (Place::Start, b'"') => Place::Quoted(at),
            (Place::Closed(from), b' ' | b'\t') => Place::Closed(from),
            (Place::Closed(_), _) => {
                is_torn = true;
                Place::Plain
            }
            (Place::Start | Place::Plain, _) => Place::Plain,
        };
    }
    let open = if let Place::Quoted(from) = place { Some(from) } else { None };
    Quotes { is_torn, open }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(text: &str) -> File {
        File::read(text.as_bytes(), &["a", "b", "c"]).expect("a file")
    }

    /// The rows of a text, the header's too, as its numbers and cells.
    fn seen(text: &str) -> Vec<(u64, String)> {
        let shown = |row: Row| (row.number, row.cells.iter().collect::<Vec<_>>().join("|"));
        let separator = file(text).separator;
        Rows::of(text, separator).map(shown).collect()
    }

    #[test]
    fn numbers_are_those_of_an_editor_whatever_ends_a_line() {
        for end in ["\n", "\r\n", "\r"] {
            let lines = ["a,b", "1,2", "", "\"x", "", "y\",\"\"\"z\"", "3,4", "", " ", "5,6", ""];
            let two = format!("x{end}{end}y|\"z");
            let expected = [(1, "a|b"), (2, "1|2"), (4, two.as_str()), (7, "3|4"), (10, "5|6")];
            let expected = expected.map(|(number, cells)| (number, cells.to_owned()));
            assert_eq!(seen(&lines.join(end)), expected, "{end:?}");
        }
    }

    #[test]
    fn a_file_may_mix_line_ends_begin_with_empty_ones_and_have_no_last_one() {
        let expected = [(3, "a|b"), (4, "1|2"), (6, "3|4"), (7, "5|6")];
        let expected = expected.map(|(number, cells)| (number, cells.to_owned()));
        assert_eq!(seen("\r\n\na;b\r\n1;2\n\r3;4\r5;6"), expected);
    }

    #[test]
    fn the_file_tells_its_characters_and_its_separator() {
        let utf_16: Vec<u8> = "\u{feff}a\tb\nñ\t2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (name, bytes) in [
            ("UTF-8", "a,b\nñ,2".as_bytes()),
            ("a mark", "\u{feff}\"a\";b\nñ;2".as_bytes()),
            ("Windows-1252", b"a;b\n\xf1;2"),
            ("tabs", "B\tA\n2\tñ".as_bytes()),
            ("another column with every separator", "a;b;\"x,y,z\tw\"\nñ;2;".as_bytes()),
            ("no known column beside", "a,b,x;y\nñ,2,".as_bytes()),
            ("UTF-16", &utf_16),
        ] {
            let file = File::read(bytes, &["a", "b"]).expect(name);
            let row = file.rows().next().expect(name);
            assert_eq!((file.cell(&row, 0), file.cell(&row, 1), row.fault), ("ñ", "2", None), "{name}");
        }
    }

    #[test]
    fn what_is_no_file_says_why() {
        for (bytes, why) in [
            (&b""[..], NoFile::Empty),
            (b"\r\n \n\r", NoFile::Empty),
            (b"PK\x03\x04\0\0", NoFile::NoText),
            (b"\xef\xbb\xbfa,b\n\xff", NoFile::NoText),
            (b"a,b\n1,2\n3,\"4\n5,6\n", NoFile::OpenQuote(3)),
            (b"a,b\r\n\"1\r\n\",\"4\"\"\r\n", NoFile::OpenQuote(3)),
        ] {
            assert_eq!(
                File::read(bytes, &["a", "b"]).err(),
                Some(why),
                "{:?}",
                String::from_utf8_lossy(bytes)
            );
        }
    }

    #[test]
    fn rows_that_are_none_are_told_and_spoil_no_other() {
        let file = file("a,b\n1\n1,2,3\n\"x\"y,2\n\"x\" ,2\nx\"y,2\n\"x,\ny\"z,2\n1,2\n");
        let faults: Vec<_> = file.rows().map(|row| (row.number, row.fault)).collect();
        let (torn, width) = (Some(RowFault::Quotes), Some(RowFault::Width));
        assert_eq!(faults, [(2, width), (3, width), (4, torn), (5, None), (6, None), (7, torn), (9, None)]);
    }

    #[test]
    fn columns_are_named_as_the_file_does() {
        let file = file("B,x,b,a,A\n");
        assert_eq!((file.name(0), file.name(1), file.name(2)), ("a", "B", ""));
        let double = |name: &str| BadColumn::Double(name.to_owned());
        assert_eq!(file.bad_columns(&["a", "c"]), [double("a"), double("B"), BadColumn::Missing("c")]);
    }

    proptest! {
        /// Whatever a payer writes, in quotes it is one cell.
        #[test]
        fn a_text_in_quotes_is_a_cell_of_its_row(texts in prop::collection::vec(any::<String>(), 1..9), at in 0..3_usize) {
            let separator = [",", ";", "\t"][at];
            let texts: Vec<String> = texts.into_iter().map(|text| text.replace('\0', "")).collect();
            let quoted = |text: &String| format!("1{separator}\"{}\"{separator}2\r\n", text.replace('"', "\"\""));
            let rows: String = texts.iter().map(quoted).collect();
            let file = File::read(format!("a{separator}b{separator}c\r\n{rows}").as_bytes(), &["a", "b", "c"]).expect("a file");
            let read: Vec<Row> = file.rows().collect();
            prop_assert_eq!(read.len(), texts.len());
            for (row, text) in read.iter().zip(&texts) {
                prop_assert_eq!((file.cell(row, 0), file.cell(row, 1), file.cell(row, 2)), ("1", text.trim(), "2"));
                prop_assert_eq!(row.fault, None);
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(file) = File::read(&bytes, &["a", "b"]) {
                for row in file.rows() {
                    let _ = file.cell(&row, 1);
                }
            }
        }
    }
}
