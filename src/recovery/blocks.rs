//! Blocks: the form of the files that an archive and a tenant that moves are written to.
//!
//! Promises: a file that was cut, flipped or put together differently is refused, and the place is named;
//! reading and writing take the same memory whatever the length.
//!
//! Numbers are little endian.
//!
//! ```text
//! file   0   [8]   the form, such as "PASAREXP"
//!        8   u32   its version
//!        12  ..    blocks, the last one of kind END; nothing follows it
//!
//! block  0   u8    kind
//!        1   u32   length of the body as it is in the file
//!        5   u32   length of the body before compression
//!        9   u64   RECORDS: the first sequence in it; else 0
//!        17  [16]  first half of the SHA-256 of the checksum of the block before (of the file's
//!                  first 12 bytes in the first block), of the 17 bytes above, and of the body
//!        33  ..    body, compressed by zstd
//! ```

use super::{BlockFault, Failed, Fault, at};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use wal::Seq;

/// The size of a body at which its block is written, in bytes; one record may be larger.
pub const BODY_BYTES: usize = 1 << 20;
/// The largest size of a body, in bytes, that is accepted: a record has at most 16 MiB, an entry of
/// another store is small.
const BODY_BYTES_MAX: usize = 64 << 20;
const HEADER_BYTES: usize = 17;
const SUM_BYTES: usize = 16;
/// The level of compression. A higher one takes twice the time for a tenth of the size.
const COMPRESSION_LEVEL: i32 = 3;

/// The form of a file: its first bytes, and the version that is written and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The first eight bytes.
    pub magic: &'static [u8; 8],
    pub version: u32,
}

impl Form {
    fn opening(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(self.magic);
        bytes[8..].copy_from_slice(&self.version.to_le_bytes());
        bytes
    }
}

/// The checksum of a block, which covers that of the block before.
fn sum(before: &[u8], header: &[u8], body: &[u8]) -> [u8; SUM_BYTES] {
    let digest = Sha256::new().chain_update(before).chain_update(header).chain_update(body).finalize();
    let mut sum = [0; SUM_BYTES];
    sum.copy_from_slice(&digest[..SUM_BYTES]);
    sum
}

/// A file that is being written.
pub struct Blocks<W> {
    /// The file.
    pub out: W,
    /// The number of bytes so far.
    pub bytes: u64,
    before: Vec<u8>,
}

impl<W: Write> Blocks<W> {
    /// Begins a file of this form.
    pub fn begin(mut out: W, form: Form) -> io::Result<Blocks<W>> {
        out.write_all(&form.opening())?;
        Ok(Blocks { out, before: form.opening().to_vec(), bytes: 12 })
    }

    /// Writes a block; `first` is the first sequence in one with records.
    pub fn put(&mut self, kind: u8, first: Seq, body: &[u8]) -> io::Result<()> {
        let packed = zstd::bulk::compress(body, COMPRESSION_LEVEL)?;
        let length = |bytes: &[u8]| {
            u32::try_from(bytes.len()).map_err(|_| io::Error::other("a block is larger than 4 GiB"))
        };
        let header = [
            &[kind][..],
            &length(&packed)?.to_le_bytes(),
            &length(body)?.to_le_bytes(),
            &first.to_le_bytes(),
        ]
        .concat();
        let sum = sum(&self.before, &header, &packed);
        for part in [&header[..], &sum, &packed] {
            self.out.write_all(part)?;
            self.bytes += part.len() as u64;
        }
        self.before = sum.to_vec();
        Ok(())
    }

    /// The checksum of the last block, which covers all before it.
    pub fn digest(&self) -> String {
        hex::encode(&self.before)
    }
}

/// A block that was read and is right.
pub struct Block {
    pub kind: u8,
    /// The first sequence in it, if it has records.
    pub first: Seq,
    pub body: Vec<u8>,
    /// The place in the file.
    pub place: BlockPlace,
}

/// The place of a fault in the file.
pub struct BlockPlace {
    file: String,
    block: u64,
    at: u64,
    last: Seq,
}

impl BlockPlace {
    /// The failure for a fault at this place.
    pub fn bad(&self, fault: BlockFault) -> Failed {
        let BlockPlace { file, block, at, last } = self;
        Failed::Block { file: file.clone(), block: *block, at: *at, last: *last, fault }
    }
}

/// A reader of the blocks of a file, which checks each.
pub struct Parts<'a> {
    input: BufReader<File>,
    file: &'a Path,
    /// The length of the file, in bytes.
    pub length: u64,
    /// The byte up to which it was read.
    pub at: u64,
    block: u64,
    before: Vec<u8>,
    /// The last record that was taken.
    pub last: Seq,
}

impl<'a> Parts<'a> {
    /// Opens a file of this form.
    pub fn open(file: &'a Path, form: Form) -> Result<Parts<'a>, Failed> {
        let opened = File::open(file).map_err(at(file))?;
        let length = opened.metadata().map_err(at(file))?.len();
        let input = BufReader::with_capacity(BODY_BYTES, opened);
        let mut parts = Parts { input, file, length, at: 0, block: 0, before: Vec::new(), last: 0 };
        parts.opening(form)?;
        Ok(parts)
    }

    /// The checksum of the last block that was read, which covers all before it.
    pub fn digest(&self) -> String {
        hex::encode(&self.before)
    }

    fn opening(&mut self, form: Form) -> Result<(), Failed> {
        let mut bytes = [0; 12];
        let bad = |fault| Failed::refused(self.file, fault);
        self.input.read_exact(&mut bytes).map_err(|_| bad(Fault::ShortExport))?;
        if &bytes[..8] != form.magic {
            return Err(bad(Fault::NoExport));
        }
        if bytes != form.opening() {
            return Err(bad(Fault::ExportVersion { known: form.version }));
        }
        (self.before, self.at) = (bytes.to_vec(), 12);
        Ok(())
    }

    fn place(&self) -> BlockPlace {
        BlockPlace { file: self.file.display().to_string(), block: self.block, at: self.at, last: self.last }
    }

    /// Reads the next block.
    pub fn next_block(&mut self) -> Result<Block, Failed> {
        self.block += 1;
        let place = self.place();
        let cut = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => place.bad(BlockFault::CutOff),
            _ => place.bad(BlockFault::Unreadable(error)),
        };
        let mut head = [0; HEADER_BYTES + SUM_BYTES];
        self.input.read_exact(&mut head).map_err(cut)?;
        let (header, expected) = head.split_at(HEADER_BYTES);
        let number = |at: usize| {
            u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]) as usize
        };
        let (packed, unpacked) = (number(1), number(5));
        // The lengths are checked first, so that a flipped one neither fills the memory nor waits
        // for bytes that are not there.
        if packed > BODY_BYTES_MAX || unpacked > BODY_BYTES_MAX {
            return Err(place.bad(BlockFault::Length));
        }
        let mut body = vec![0; packed];
        self.input.read_exact(&mut body).map_err(cut)?;
        if sum(&self.before, header, &body) != expected {
            return Err(place.bad(BlockFault::Checksum));
        }
        self.before = expected.to_vec();
        self.at += (HEADER_BYTES + SUM_BYTES + packed) as u64;
        let first = header.last_chunk::<8>().map_or(0, |first| Seq::from_le_bytes(*first));
        let body = zstd::bulk::decompress(&body, unpacked).ok().filter(|body| body.len() == unpacked);
        let body = body.ok_or_else(|| place.bad(BlockFault::Compression))?;
        Ok(Block { kind: header[0], first, body, place })
    }

    /// Checks that the block before was the last.
    pub fn nothing_follows(&mut self) -> Result<(), Failed> {
        if self.at == self.length { Ok(()) } else { Err(self.place().bad(BlockFault::NotLast)) }
    }
}
