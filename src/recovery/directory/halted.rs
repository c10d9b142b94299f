//! The books that are halted, one line of JSON each. The file belongs to the server that runs on
//! the directory: no copy has it.

use super::super::{Failed, at};
use api::writer::Object;
use domain::values::time::Timestamp;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

pub const HALTED_FILE: &str = "HALTED_BOOKS";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaltedBook {
    pub tenant_key: u64,
    pub since: Timestamp,
    pub why: String,
}

impl HaltedBook {
    pub fn to_json(&self) -> Vec<u8> {
        Object::new()
            .number("tenantKey", self.tenant_key)
            .plain("since", self.since)
            .text("why", &self.why)
            .end()
    }

    fn from_json(line: &str) -> Option<HaltedBook> {
        let read: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(HaltedBook {
            tenant_key: read["tenantKey"].as_u64()?,
            since: Timestamp::parse(read["since"].as_str()?).ok()?,
            why: read["why"].as_str()?.to_owned(),
        })
    }
}

/// Without a halted book there is no file.
pub fn write(data: &Path, books: &[HaltedBook]) -> Result<(), Failed> {
    let path = data.join(HALTED_FILE);
    if books.is_empty() {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(at(&path)(error)),
            _ => Ok(()),
        };
    }
    let lines: Vec<u8> = books.iter().flat_map(|book| [book.to_json(), b"\n".to_vec()].concat()).collect();
    fs::write(&path, lines).map_err(at(&path))
}

/// Lines that cannot be read are left out.
pub fn read(data: &Path) -> Vec<HaltedBook> {
    fs::read_to_string(data.join(HALTED_FILE))
        .unwrap_or_default()
        .lines()
        .filter_map(HaltedBook::from_json)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_goes_with_the_last() {
        let directory = tempfile::tempdir().expect("a directory");
        let book = |tenant_key, why: &str| HaltedBook {
            tenant_key,
            since: Timestamp::from_unix_ms(1_795_226_000_123),
            why: why.to_owned(),
        };
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
