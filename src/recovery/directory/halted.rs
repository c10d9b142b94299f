//! The books that are halted, one line of JSON each. The file belongs to the server that runs on
//! the directory: no copy has it.

use super::super::{Failed, at};
use super::gone;
use actors::Halted;
use api::writer::Object;
use domain::values::time::Timestamp;
use std::fs;
use std::path::Path;

pub const HALTED_FILE: &str = "HALTED_BOOKS";

fn line(book: &Halted) -> Vec<u8> {
    let since = Timestamp::from_unix_ms(book.since_ms);
    let object = Object::new().number("tenantKey", book.tenant).plain("since", since);
    [object.text("why", &book.why).end(), b"\n".to_vec()].concat()
}

fn book(line: &str) -> Option<Halted> {
    let read: serde_json::Value = serde_json::from_str(line).ok()?;
    Some(Halted {
        tenant: read["tenantKey"].as_u64()?,
        since_ms: Timestamp::parse(read["since"].as_str()?).ok()?.unix_ms(),
        why: read["why"].as_str()?.to_owned(),
    })
}

/// Without a halted book there is no file.
pub fn write(data: &Path, books: &[Halted]) -> Result<(), Failed> {
    let path = data.join(HALTED_FILE);
    if books.is_empty() {
        return gone(&path, fs::remove_file);
    }
    fs::write(&path, books.iter().flat_map(line).collect::<Vec<u8>>()).map_err(at(&path))
}

/// Lines that cannot be read are left out.
pub fn read(data: &Path) -> Vec<Halted> {
    let lines = fs::read_to_string(data.join(HALTED_FILE)).unwrap_or_default();
    lines.lines().filter_map(book).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_goes_with_the_last() {
        let directory = tempfile::tempdir().expect("a directory");
        let book = |tenant, why: &str| Halted { tenant, since_ms: 1_795_226_000_123, why: why.to_owned() };
        let books = [book(3, "less than nothing is held: -1"), book(8, "a \"quote\",\nand a line")];
        write(directory.path(), &books).expect("written");
        assert_eq!(read(directory.path()), books);
        for _ in 0..2 {
            write(directory.path(), &[]).expect("written");
            assert_eq!(
                (read(directory.path()), directory.path().join(HALTED_FILE).exists()),
                (Vec::new(), false)
            );
        }
    }
}
