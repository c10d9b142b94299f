//! The rows of a CSV file, each with the number of its first line as an editor shows it. Pure.
//!
//! Lines are counted here, in the text itself: the reader's own count stands still between the two
//! characters of a line end of Windows, and before empty lines.

use csv::{Reader, ReaderBuilder, StringRecord, Trim};

/// A row that is not empty.
pub struct Row {
    /// The number of its first line; the first line of the file is 1.
    pub number: u64,
    /// The cells of the row, trimmed.
    pub cells: StringRecord,
}

/// The rows of a file, one after the other.
pub struct Rows<'a> {
    reader: Reader<&'a [u8]>,
    text: &'a [u8],
    /// The bytes whose line ends are counted in `number`.
    counted: usize,
    number: u64,
}

impl Rows<'_> {
    /// The rows of a text whose cells have a semicolon between them if its first row has one, and else
    /// a comma.
    pub fn of(text: &str) -> Rows<'_> {
        let first = text.split(['\r', '\n']).find(|line| !line.is_empty()).unwrap_or_default();
        let separator = if first.contains(';') { b';' } else { b',' };
        let reader = ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .from_reader(text.as_bytes());
        Rows { reader, text: text.as_bytes(), counted: 0, number: 1 }
    }

    /// The number of the line in which a row begins that the reader found from byte `from` on.
    fn line_at(&mut self, from: usize) -> u64 {
        let ends = self.text[from..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let start = from + ends;
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
        let mut cells = StringRecord::new();
        // A text in UTF-8 with rows of any length has nothing that the reader could refuse.
        if !self.reader.read_record(&mut cells).unwrap_or(false) {
            return None;
        }
        let from = cells.position().and_then(|position| usize::try_from(position.byte()).ok())?;
        Some(Row { number: self.line_at(from), cells })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Vec<(u64, String)> {
        Rows::of(text).map(|row| (row.number, row.cells.iter().collect::<Vec<_>>().join("|"))).collect()
    }

    #[test]
    fn numbers_are_those_of_an_editor_whatever_ends_a_line() {
        for end in ["\n", "\r\n", "\r"] {
            let lines = ["a,b", "1,2", "", "\"x", "", "y\",\"\"\"z\"", "3,4", "", "", "5,6", ""];
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
    fn nothing_has_no_rows() {
        assert!(seen("").is_empty());
        assert!(seen("\r\n\n\r").is_empty());
    }
}
