//! The ends of RocksDB's own log and of its manifest that are zeros: those that were written ahead (`zeros_ahead.rs`),
//! and what a kill or a power cut left of a record, as a file system may have made a new length durable and not yet the
//! bytes. RocksDB forgives a last record that is too short, and takes one whose end is zeros for damage. Neither was
//! synced, so neither was acknowledged; and RocksDB relies on no change of its files before the manifest is synced.
//!
//! The end is cut off before the first record that is not whole, and only if its last byte and all behind it, to the end
//! of the newest file, are zeros: a kill may come between two writes of one record, a power cut leaves sectors. Whatever
//! else is wrong stays for RocksDB to refuse. If zeros have taken the place of acknowledged records, the log is then
//! shorter than its witness, and is refused for that.

use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A record lies in one block; a longer one is in pieces.
const BLOCK_BYTES: usize = 32 << 10;
/// u32 masked crc32c of the type and the content, u16 length, u8 type.
const HEAD_BYTES: usize = 7;
/// Types of records with such a head. Files that are written anew from their beginning have others;
/// RocksDB is told to recycle none.
const TYPES: [u8; 5] = [1, 2, 3, 4, 9];
/// The first piece of a record, and those between it and the last.
const GOES_ON: [u8; 2] = [2, 3];

/// Cuts zeros off the newest log and the manifest, only if they are what a kill or a power cut left.
pub(crate) fn cut_off(dir: &Path) -> io::Result<()> {
    // Whole records of the log, and zeros ahead of the next: RocksDB steps over those.
    let log = newest(dir)?.map(|path| (path, true));
    let manifest = manifest(dir)?.map(|path| (path, false));
    for (path, has_zeros_ahead) in [log, manifest].into_iter().flatten() {
        cut_off_of(&path, has_zeros_ahead)?;
    }
    Ok(())
}

fn cut_off_of(path: &Path, has_zeros_ahead: bool) -> io::Result<()> {
    let file = File::options().read(true).write(true).open(path)?;
    let written = end_of_written(&file)?;
    let Some((whole, is_torn)) = end_of_whole(&file, written)? else { return Ok(()) };
    if has_zeros_ahead && !is_torn {
        return Ok(());
    }
    let bytes = file.metadata()?.len() - whole;
    file.set_len(whole)?;
    file.sync_all()?;
    tracing::warn!(
        file = %path.display(),
        bytes,
        "the end of a file of RocksDB's was never synced and reads as zeros, as a power cut leaves it; it \
         was cut off, and nothing acknowledged is in it"
    );
    Ok(())
}

pub(crate) fn newest(dir: &Path) -> io::Result<Option<PathBuf>> {
    let mut newest = None;
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let is_log = path.extension().is_some_and(|extension| extension == "log");
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        if let (true, Some(number)) = (is_log, number) {
            newest = newest.max(Some((number, path)));
        }
    }
    Ok(newest.map(|(_, path)| path))
}

/// The manifest that counts, if the file CURRENT names one that is there.
fn manifest(dir: &Path) -> io::Result<Option<PathBuf>> {
    let named = match fs::read_to_string(dir.join("CURRENT")) {
        Ok(named) => named,
        // RocksDB refuses all other files.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let name = named.trim_end();
    let path = dir.join(name);
    Ok((name.starts_with("MANIFEST-") && !name.contains('/') && path.is_file()).then_some(path))
}

/// And whether a record was begun and not ended: within a piece of it, or between two.
fn end_of_whole(file: &File, written: u64) -> io::Result<Option<(u64, bool)>> {
    if written == file.metadata()?.len() {
        return Ok(None);
    }
    let mut reader = BufReader::with_capacity(BLOCK_BYTES, file);
    let mut block = Vec::with_capacity(BLOCK_BYTES);
    // A block begins with a record, or a piece of one. What is wrong before is for RocksDB to refuse.
    let first = written.saturating_sub(1) / BLOCK_BYTES as u64 * BLOCK_BYTES as u64;
    reader.seek(SeekFrom::Start(first))?;
    let mut goes_on = false;
    for start in (first..).step_by(BLOCK_BYTES) {
        block.clear();
        reader.by_ref().take(BLOCK_BYTES as u64).read_to_end(&mut block)?;
        let mut at = 0;
        while block.len() - at >= HEAD_BYTES {
            match read(&block[at..]) {
                Piece::Whole(length) => {
                    goes_on = GOES_ON.contains(&block[at + HEAD_BYTES - 1]);
                    at += length;
                }
                // RocksDB forgives a record that is too short by itself.
                Piece::Other => return Ok(None),
                Piece::Broken(length) => {
                    let place = start + at as u64;
                    let is_torn = goes_on || written > place;
                    return Ok((written < place + length as u64).then_some((place, is_torn)));
                }
            }
        }
        if block.len() < BLOCK_BYTES {
            break;
        }
    }
    Ok(None)
}

fn end_of_written(mut file: &File) -> io::Result<u64> {
    let mut end = file.metadata()?.len();
    let mut block = vec![0; BLOCK_BYTES];
    while end > 0 {
        let start = (end - 1) / BLOCK_BYTES as u64 * BLOCK_BYTES as u64;
        let part = &mut block[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(part)?;
        if let Some(last) = part.iter().rposition(|byte| *byte != 0) {
            return Ok(start + last as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

enum Piece {
    Whole(usize),
    Broken(usize),
    /// Of an unknown type, or too short.
    Other,
}

fn read(bytes: &[u8]) -> Piece {
    let (head, content) = bytes.split_at(HEAD_BYTES);
    let checksum = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    let length = usize::from(u16::from_le_bytes([head[4], head[5]]));
    // A head that is cut within may have lost its length and its type.
    if head[6] == 0 {
        return Piece::Broken(HEAD_BYTES);
    }
    if !TYPES.contains(&head[6]) {
        return Piece::Other;
    }
    let Some(content) = content.get(..length) else { return Piece::Other };
    let found = crc32c::crc32c_append(crc32c::crc32c(&head[6..]), content);
    match masked(found) == checksum {
        true => Piece::Whole(HEAD_BYTES + length),
        false => Piece::Broken(HEAD_BYTES + length),
    }
}

fn masked(checksum: u32) -> u32 {
    checksum.rotate_right(15).wrapping_add(0xa282_ead8)
}
