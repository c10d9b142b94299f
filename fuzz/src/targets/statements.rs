//! Statements of banks: the first two bytes of an input choose the separator and the end of lines, the rest are
//! texts that payers wrote, which the bank puts in quotes.
//!
//! Whatever they wrote, the statement has the bank's lines and no other, each with its own amount; and no bytes
//! at all make the reader panic, or find more rows than there are ends of lines.

use crate::bytes::Bytes;
use pasarela::reconciliation::statement;

pub fn run(input: &[u8]) {
    let mut bytes = Bytes::new(input);
    let separator = [",", ";", "\t"][usize::from(bytes.byte() % 3)];
    let end = ["\n", "\r\n", "\r"][usize::from(bytes.byte() % 3)];
    let written = bytes.rest();
    if let Ok(read) = statement::read(written) {
        let ends = written.iter().filter(|byte| matches!(byte, b'\r' | b'\n')).count();
        assert!(read.lines.len() + read.bad.len() <= ends, "rows without ends of lines");
    }
    // A file with a NUL is none.
    let texts =
        written.split(|byte| *byte == 0xff).map(|text| String::from_utf8_lossy(text).replace('\0', "0"));
    let mut file = ["note", "date", "reference", "amount", "kind"].join(separator) + end;
    let mut count = 0;
    for text in texts {
        let quoted = format!("\"{}\"", text.replace('"', "\"\""));
        file += &[&*quoted, "2026-11-26", &format!("5555{count}"), "10.00", "credit"].join(separator);
        file += end;
        count += 1;
    }
    let read = statement::read(file.as_bytes()).expect("a statement");
    assert_eq!((read.lines.len(), read.bad.len()), (count, 0), "{file:?}");
    for (n, line) in read.lines.iter().enumerate() {
        assert_eq!((&*line.reference, line.cents), (&*format!("5555{n}"), 1_000), "{file:?}");
    }
}
