//! The journal of the simulated bank's books: records, one behind the other, in a file that is only
//! appended to. It knows bytes, not files.
//!
//! Promises: a record that was written is read as it was; a file that ends in the middle of a
//! record, or whose end never reached the disk, is read up to there; a byte that changed before a
//! place that was synced is refused, and the place is named.
//!
//! # Format, version 1
//!
//! Numbers are little endian.
//!
//! ```text
//! file    0   [8]   "PASABANK"
//!         8   u32   version = 1
//!         12  u64   number of the journal, 1 and up
//!         20  u32   CRC-32C of the 20 bytes above
//!         24  ..    records
//!
//! record  0   u32   length of the body
//!         4   u32   CRC-32C of: the journal's number u64, the record's place in the file u64,
//!                   the length, the body
//!         8   ..    body
//!
//! body    DECIDED = 1     u8 kind, [16] operation id, u8 fate, u8 refusal
//!         DUPLICATES = 2  u8 kind, u64 calls so far that should not have been
//!         SYNCED = 3      u8 kind, u64 place: all before it was on the disk when this was written
//! ```
//!
//! The place in the checksum makes a record valid nowhere else, so that behind damage the next
//! [`Record::Synced`] can be searched for byte by byte: it tells damage from an end that a power cut
//! took, where any part of what was not synced may be missing.

use super::super::fate::Fate;
use uuid::Uuid;

pub const HEADER_BYTES: usize = 24;
const MAGIC: &[u8; 8] = b"PASABANK";
const VERSION: u32 = 1;
const FRAME_BYTES: usize = 8;

const DECIDED: u8 = 1;
const DUPLICATES: u8 = 2;
const SYNCED: u8 = 3;
const DECIDED_BYTES: usize = 19;
const NUMBER_BYTES: usize = 9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// The last one counts.
    Decided(Uuid, Fate),
    Duplicates(u64),
    Synced(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Where the last whole record ends.
    pub at: usize,
    /// Up to where the journal says that it is on the disk.
    pub synced: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    pub at: usize,
    pub what: &'static str,
}

impl Record {
    pub fn from_body(body: &[u8]) -> Option<Record> {
        let (&kind, rest) = body.split_first()?;
        let number = || rest.try_into().ok().map(u64::from_le_bytes);
        match kind {
            DECIDED => {
                let (id, fate) = rest.split_first_chunk::<16>()?;
                Some(Record::Decided(Uuid::from_bytes(*id), Fate::from_bytes(fate)?))
            }
            DUPLICATES => number().map(Record::Duplicates),
            SYNCED => number().map(Record::Synced),
            _ => None,
        }
    }

    /// For the place `at` in the journal with this number.
    pub fn write_into(&self, bytes: &mut Vec<u8>, number: u64, at: u64) {
        let mut body = [0; DECIDED_BYTES];
        let length = match *self {
            Record::Decided(operation, fate) => {
                body[0] = DECIDED;
                body[1..17].copy_from_slice(operation.as_bytes());
                body[17..].copy_from_slice(&fate.bytes());
                DECIDED_BYTES
            }
            Record::Duplicates(value) | Record::Synced(value) => {
                body[0] = if matches!(self, Record::Synced(_)) { SYNCED } else { DUPLICATES };
                body[1..NUMBER_BYTES].copy_from_slice(&value.to_le_bytes());
                NUMBER_BYTES
            }
        };
        let body = &body[..length];
        // Two constants, both below 256.
        let length = [body.len() as u8, 0, 0, 0];
        bytes.extend_from_slice(&length);
        bytes.extend_from_slice(&checksum(number, at, length, body).to_le_bytes());
        bytes.extend_from_slice(body);
    }
}

fn checksum(number: u64, at: u64, length: [u8; 4], body: &[u8]) -> u32 {
    let mut head = [0; 20];
    head[..8].copy_from_slice(&number.to_le_bytes());
    head[8..16].copy_from_slice(&at.to_le_bytes());
    head[16..].copy_from_slice(&length);
    crc32c::crc32c_append(crc32c::crc32c(&head), body)
}

pub fn header(number: u64) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[12..20].copy_from_slice(&number.to_le_bytes());
    let sum = crc32c::crc32c(&header[..20]);
    header[20..].copy_from_slice(&sum.to_le_bytes());
    header
}

pub fn read(bytes: &[u8], number: u64, mut each: impl FnMut(Record)) -> Result<End, Damaged> {
    let expected = header(number);
    match bytes.first_chunk::<HEADER_BYTES>() {
        None => return Err(Damaged { at: 0, what: "is too short for its header" }),
        Some(found) if *found == expected => {}
        Some(found) if found[..8] != expected[..8] => {
            return Err(Damaged { at: 0, what: "does not begin as a journal of the simulated bank" });
        }
        Some(found) if found[8..12] != expected[8..12] => {
            return Err(Damaged { at: 8, what: "is of another version than this program knows" });
        }
        Some(_) => return Err(Damaged { at: 12, what: "bears another number or a wrong checksum" }),
    }
    let mut end = End { at: HEADER_BYTES, synced: HEADER_BYTES };
    while let Some(body) = body_at(bytes, number, end.at) {
        let record = Record::from_body(body)
            .ok_or(Damaged { at: end.at, what: "a record of a kind that this program does not know" })?;
        if let Record::Synced(place) = record {
            end.synced = end.synced.max(usize::try_from(place).unwrap_or(usize::MAX));
        }
        each(record);
        end.at += FRAME_BYTES + body.len();
    }
    if is_synced_behind(bytes, number, end.at) {
        return Err(Damaged { at: end.at, what: "damaged, although it was synced" });
    }
    Ok(end)
}

/// If there is a whole one with its checksum.
fn body_at(bytes: &[u8], number: u64, at: usize) -> Option<&[u8]> {
    let (frame, rest) = bytes.get(at..)?.split_first_chunk::<FRAME_BYTES>()?;
    let [l0, l1, l2, l3, sum @ ..] = *frame;
    let length = [l0, l1, l2, l3];
    let body = rest.get(..usize::try_from(u32::from_le_bytes(length)).ok()?)?;
    (checksum(number, at as u64, length, body) == u32::from_le_bytes(sum)).then_some(body)
}

/// Whether something behind `damage` says that the byte there was on the disk.
fn is_synced_behind(bytes: &[u8], number: u64, damage: usize) -> bool {
    let says = |at: usize| {
        let length = bytes.get(at..at + 4)?;
        if length != [NUMBER_BYTES as u8, 0, 0, 0] {
            return None;
        }
        match Record::from_body(body_at(bytes, number, at)?)? {
            Record::Synced(place) => Some(place > damage as u64),
            _ => None,
        }
    };
    (damage + 1..bytes.len()).any(|at| says(at) == Some(true))
}
