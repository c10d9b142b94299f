//! The sorted file of the simulated bank's books: what was decided up to some journal, by operation
//! id, so that memory does not grow with history. It is written once, whole, and never changed.
//!
//! Promises: a file that was cut or changed is refused when it is opened, and the byte is named; a
//! lookup reads one block at most; memory takes 16 bytes for 227 operations.
//!
//! # Format, version 1
//!
//! Numbers are little endian.
//!
//! ```text
//! file   0   [8]   "PASASORT"
//!        8   u32   version = 1
//!        12  u64   the last journal that is in it
//!        20  u64   calls so far that should not have been
//!        28  u64   number of entries
//!        36  u32   CRC-32C of the 36 bytes above
//!        40  ..    blocks; nothing follows the last one
//!
//! block  0   u32   CRC-32C of the block's number u64 (0 and up) and its entries
//!        4   ..    227 entries; in the last block those that are left
//!
//! entry  0   [16]  operation id, greater than the one before
//!        16  u8    fate
//!        17  u8    refusal
//! ```

use super::super::fate::Fate;
use super::{BooksError, files};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use uuid::Uuid;

const MAGIC: &[u8; 8] = b"PASASORT";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 40;
const ENTRY_BYTES: usize = 18;
const BLOCK_ENTRIES: usize = 227;
const SUM_BYTES: usize = 4;
const BLOCK_BYTES: usize = SUM_BYTES + BLOCK_ENTRIES * ENTRY_BYTES;
const BUFFER_BYTES: usize = 256 << 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    /// Journals up to it are of no use any more.
    pub through: u64,
    pub duplicates: u64,
}

fn header(summary: Summary, entries: u64) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[12..20].copy_from_slice(&summary.through.to_le_bytes());
    header[20..28].copy_from_slice(&summary.duplicates.to_le_bytes());
    header[28..36].copy_from_slice(&entries.to_le_bytes());
    let sum = crc32c::crc32c(&header[..36]);
    header[36..].copy_from_slice(&sum.to_le_bytes());
    header
}

fn checksum(block: u64, entries: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&block.to_le_bytes()), entries)
}

fn entry(bytes: &[u8]) -> Option<(Uuid, Fate)> {
    let (id, fate) = bytes.split_first_chunk::<16>()?;
    Some((Uuid::from_bytes(*id), Fate::from_bytes(fate)?))
}

#[derive(Debug)]
pub(super) struct Sorted {
    path: PathBuf,
    file: File,
    summary: Summary,
    entries: u64,
    firsts: Vec<Uuid>,
    last: Uuid,
}

impl Sorted {
    pub fn open(path: &Path) -> Result<Sorted, BooksError> {
        let file = File::open(path).map_err(files::at(path))?;
        let bad = |at: u64, what: &str| BooksError::damaged(format!("{}: byte {at}: {what}", path.display()));
        let mut found = [0; HEADER_BYTES];
        file.read_exact_at(&mut found, 0).map_err(|_| bad(0, "is too short for its header"))?;
        let number = |at: usize| found[at..].first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let (summary, entries) = (Summary { through: number(12), duplicates: number(20) }, number(28));
        if found[..8] != MAGIC[..] {
            return Err(bad(0, "does not begin as a sorted file of the simulated bank"));
        }
        if found[8..12] != VERSION.to_le_bytes() {
            return Err(bad(8, "is of another version than this program knows"));
        }
        if found != header(summary, entries) {
            return Err(bad(12, "has a wrong checksum"));
        }
        let length = file.metadata().map_err(files::at(path))?.len();
        let blocks = entries.div_ceil(BLOCK_ENTRIES as u64);
        let expected = entries
            .checked_mul(ENTRY_BYTES as u64)
            .and_then(|bytes| bytes.checked_add(blocks * SUM_BYTES as u64 + HEADER_BYTES as u64));
        if expected != Some(length) {
            return Err(bad(length.min(expected.unwrap_or(u64::MAX)), "is not as long as it should be"));
        }
        let mut sorted =
            Sorted { path: path.to_owned(), file, summary, entries, firsts: Vec::new(), last: Uuid::nil() };
        let (mut firsts, mut last) = (Vec::new(), None);
        let mut at = 0;
        sorted.walk(|id, _| {
            if last.is_some_and(|last| last >= id) {
                return Err(bad(HEADER_BYTES as u64, "its entries are not in order"));
            }
            if at % BLOCK_ENTRIES == 0 {
                firsts.push(id);
            }
            at += 1;
            last = Some(id);
            Ok(())
        })?;
        (sorted.firsts, sorted.last) = (firsts, last.unwrap_or_default());
        Ok(sorted)
    }

    pub fn summary(&self) -> Summary {
        self.summary
    }

    pub fn bytes(&self) -> u64 {
        self.entries * ENTRY_BYTES as u64
    }

    pub fn get(&self, operation: Uuid) -> Result<Option<Fate>, BooksError> {
        let after = self.firsts.partition_point(|first| *first <= operation);
        let Some(block) = after.checked_sub(1).filter(|_| operation <= self.last) else { return Ok(None) };
        let entries = self.entries_in(block as u64);
        let mut bytes = [0; BLOCK_BYTES];
        let bytes = &mut bytes[..SUM_BYTES + entries * ENTRY_BYTES];
        let at = HEADER_BYTES as u64 + block as u64 * BLOCK_BYTES as u64;
        self.file.read_exact_at(bytes, at).map_err(files::at(&self.path))?;
        let entries = self.checked(block as u64, bytes)?;
        let (mut low, mut high) = (0, entries.len() / ENTRY_BYTES);
        while low < high {
            let middle = low.midpoint(high);
            let found = &entries[middle * ENTRY_BYTES..(middle + 1) * ENTRY_BYTES];
            match found[..16].cmp(operation.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    return entry(found).map(|(_, fate)| Some(fate)).ok_or_else(|| self.bad(block as u64));
                }
            }
        }
        Ok(None)
    }

    pub fn walk(&self, mut each: impl FnMut(Uuid, Fate) -> Result<(), BooksError>) -> Result<(), BooksError> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(HEADER_BYTES as u64)).map_err(files::at(&self.path))?;
        let mut input = BufReader::with_capacity(BUFFER_BYTES, file);
        let mut bytes = [0; BLOCK_BYTES];
        for block in 0..self.entries.div_ceil(BLOCK_ENTRIES as u64) {
            let bytes = &mut bytes[..SUM_BYTES + self.entries_in(block) * ENTRY_BYTES];
            input.read_exact(bytes).map_err(files::at(&self.path))?;
            for found in self.checked(block, bytes)?.chunks_exact(ENTRY_BYTES) {
                let (id, fate) = entry(found).ok_or_else(|| self.bad(block))?;
                each(id, fate)?;
            }
        }
        Ok(())
    }

    fn entries_in(&self, block: u64) -> usize {
        let left = self.entries - block * BLOCK_ENTRIES as u64;
        usize::try_from(left).map_or(BLOCK_ENTRIES, |left| left.min(BLOCK_ENTRIES))
    }

    fn checked<'a>(&self, block: u64, bytes: &'a [u8]) -> Result<&'a [u8], BooksError> {
        let (sum, entries) = bytes.split_first_chunk::<SUM_BYTES>().ok_or_else(|| self.bad(block))?;
        if checksum(block, entries) == u32::from_le_bytes(*sum) { Ok(entries) } else { Err(self.bad(block)) }
    }

    fn bad(&self, block: u64) -> BooksError {
        let at = HEADER_BYTES as u64 + block * BLOCK_BYTES as u64;
        BooksError::damaged(format!("{}: the block at byte {at} is damaged", self.path.display()))
    }
}

/// Under a name of its own until it is whole.
pub(super) struct Writer {
    path: PathBuf,
    part: PathBuf,
    out: BufWriter<File>,
    block: Vec<u8>,
    blocks: u64,
    entries: u64,
    firsts: Vec<Uuid>,
    last: Option<Uuid>,
}

impl Writer {
    pub fn new(path: &Path) -> Result<Writer, BooksError> {
        let part = files::part_of(path);
        let file = files::made(&part)?;
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
        out.write_all(&[0; HEADER_BYTES]).map_err(files::at(&part))?;
        let block = Vec::with_capacity(BLOCK_BYTES);
        Ok(Writer {
            path: path.to_owned(),
            part,
            out,
            block,
            blocks: 0,
            entries: 0,
            firsts: Vec::new(),
            last: None,
        })
    }

    pub fn last(&self) -> Option<Uuid> {
        self.last
    }

    /// Greater than the one before.
    pub fn put(&mut self, operation: Uuid, fate: Fate) -> Result<(), BooksError> {
        assert!(self.last.is_none_or(|last| last < operation), "entries of a sorted file out of order");
        if self.block.is_empty() {
            self.firsts.push(operation);
        }
        self.block.extend_from_slice(operation.as_bytes());
        self.block.extend_from_slice(&fate.bytes());
        (self.entries, self.last) = (self.entries + 1, Some(operation));
        if self.block.len() < BLOCK_ENTRIES * ENTRY_BYTES { Ok(()) } else { self.write() }
    }

    pub fn finish(mut self, summary: Summary) -> Result<Sorted, BooksError> {
        if !self.block.is_empty() {
            self.write()?;
        }
        let file = self.out.into_inner().map_err(|error| files::at(&self.part)(error.into_error()))?;
        file.write_all_at(&header(summary, self.entries), 0)
            .and_then(|()| file.sync_all())
            .map_err(files::at(&self.part))?;
        files::rename(&self.part, &self.path)?;
        Ok(Sorted {
            path: self.path,
            file,
            summary,
            entries: self.entries,
            firsts: self.firsts,
            last: self.last.unwrap_or_default(),
        })
    }

    fn write(&mut self) -> Result<(), BooksError> {
        let sum = checksum(self.blocks, &self.block).to_le_bytes();
        self.out
            .write_all(&sum)
            .and_then(|()| self.out.write_all(&self.block))
            .map_err(files::at(&self.part))?;
        self.blocks += 1;
        self.block.clear();
        Ok(())
    }
}
