//! Blocks: the form of the files that an archive and a tenant that moves are written to.
//!
//! Promises: a file that was cut, flipped or put together differently is refused, and the place is named, also
//! if who did it knows this format: each block is proved under a key that is in no file (HMAC-SHA-256) before
//! anything in it is read. Reading and writing take the same memory whatever the length.
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
//!        17  [16]  the block's proof: first half of the HMAC of the proof of the block before (of the
//!                  file's first 12 bytes in the first block), of the 17 bytes above, and of the body
//!        33  ..    body, compressed by zstd
//! ```

use super::books::replay_records;
use super::{Failed, Progress, at, directory};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use wal::{Reader, Seq};

/// A block is written at this size; one record may be larger.
pub const BODY_BYTES: usize = 1 << 20;
/// A record has at most 16 MiB, an entry of another store is small.
const BODY_BYTES_MAX: usize = 64 << 20;
pub const EXISTS: &str = "exists already; name a new file";
pub const KIND: &str = "is of a kind that does not belong there";
pub const OTHER_RECORDS: &str = "has other records than those that should follow";
const HEADER_BYTES: usize = 17;
const PROOF_BYTES: usize = 16;
/// A higher level takes twice the time for a tenth of the size.
const COMPRESSION_LEVEL: i32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
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

/// Made of the `card.key` that both deployments have: no file has that one in it, as an archive has
/// `mark.key`.
#[derive(Clone)]
pub struct FileKey(Hmac<Sha256>);

impl FileKey {
    pub fn of(card_key: &[u8; directory::MARK_KEY_BYTES]) -> FileKey {
        let own = keyed(card_key).chain_update(b"pasarela file 1").finalize();
        FileKey(keyed(&own.into_bytes().into()))
    }

    pub fn read(data: &Path, card_key: Option<&Path>) -> Result<FileKey, Failed> {
        let key = directory::read_card_key(data, card_key)?;
        let missing = || {
            let path = directory::card_key_path(data, card_key);
            Failed::refused(
                &path,
                "is not here: a file of pasarela is proved by the card.key of the deployment that wrote it; \
                 bring a copy of it by another way than the file, or name it with --card-key",
            )
        };
        key.map(|key| FileKey::of(&key)).ok_or_else(missing)
    }

    /// Covers the proof of the block before.
    pub fn proof(&self, before: &[u8], header: &[u8], body: &[u8]) -> [u8; PROOF_BYTES] {
        let mut proof = [0; PROOF_BYTES];
        proof.copy_from_slice(&self.over(before, header, body).finalize().into_bytes()[..PROOF_BYTES]);
        proof
    }

    fn over(&self, before: &[u8], header: &[u8], body: &[u8]) -> Hmac<Sha256> {
        self.0.clone().chain_update(before).chain_update(header).chain_update(body)
    }
}

fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    // As long as a block of the hash, which HMAC fills with zeros itself.
    let mut filled = [0; 64];
    filled[..32].copy_from_slice(key);
    Hmac::new(&filled.into())
}

/// A new file, readable for its owner alone: secrets and personal data are in it.
pub fn create(file: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).mode(0o600).open(file)
}

pub struct Blocks<W> {
    pub out: W,
    pub bytes: u64,
    key: FileKey,
    before: Vec<u8>,
}

impl<W: Write> Blocks<W> {
    pub fn begin(mut out: W, form: Form, key: FileKey) -> io::Result<Blocks<W>> {
        out.write_all(&form.opening())?;
        Ok(Blocks { out, key, before: form.opening().to_vec(), bytes: 12 })
    }

    /// `first` is the first sequence in a block with records.
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
        let proof = self.key.proof(&self.before, &header, &packed);
        for part in [&header[..], &proof, &packed] {
            self.out.write_all(part)?;
            self.bytes += part.len() as u64;
        }
        self.before = proof.to_vec();
        Ok(())
    }

    /// Those up to `last` that are meant, in the log's own bytes; returns how many.
    pub fn put_records(
        &mut self,
        (kind, file): (u8, &Path),
        (reader, last): (&Reader, Seq),
        is_meant: impl Fn(&wal::Record) -> bool,
        progress: Progress<'_>,
    ) -> Result<u64, Failed> {
        let (mut body, mut first, mut records) = (Vec::with_capacity(BODY_BYTES + 4096), 0, 0);
        replay_records(reader, last, ("export", progress), |stored| {
            if !is_meant(&stored) {
                return Ok(());
            }
            if body.is_empty() {
                first = stored.seq;
            }
            stored.encode_into(&mut body);
            records += 1;
            if body.len() >= BODY_BYTES {
                self.put(kind, first, &body).map_err(at(file))?;
                body.clear();
            }
            Ok(())
        })?;
        if !body.is_empty() {
            self.put(kind, first, &body).map_err(at(file))?;
        }
        Ok(records)
    }
}

impl Blocks<BufWriter<File>> {
    /// On the disk when this returns; its proof and its length.
    pub fn finish(self) -> io::Result<(String, u64)> {
        let (digest, bytes) = (hex::encode(&self.before), self.bytes);
        self.out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        Ok((digest, bytes))
    }
}

pub struct Block {
    pub kind: u8,
    pub first: Seq,
    pub body: Vec<u8>,
    place: String,
}

impl Block {
    pub fn bad(&self, why: &str) -> Failed {
        bad(&self.place, why)
    }
}

fn bad(place: &str, why: &str) -> Failed {
    Failed::NotDone(format!("{place}, {why}"))
}

pub struct Parts<'a> {
    input: BufReader<File>,
    file: &'a Path,
    pub length: u64,
    /// Read up to here.
    pub at: u64,
    pub block: u64,
    key: FileKey,
    before: Vec<u8>,
    pub last: Seq,
}

impl<'a> Parts<'a> {
    pub fn open(file: &'a Path, form: Form, key: FileKey) -> Result<Parts<'a>, Failed> {
        let opened = File::open(file).map_err(at(file))?;
        let length = opened.metadata().map_err(at(file))?.len();
        let input = BufReader::with_capacity(BODY_BYTES, opened);
        let mut parts = Parts { input, file, length, at: 0, block: 0, key, before: Vec::new(), last: 0 };
        parts.opening(form)?;
        Ok(parts)
    }

    /// Of the last block that was read, which covers all before it.
    pub fn digest(&self) -> String {
        hex::encode(&self.before)
    }

    fn opening(&mut self, form: Form) -> Result<(), Failed> {
        let mut bytes = [0; 12];
        let bad = |why: &str| Failed::refused(self.file, why);
        let short = |_| bad("is too short for an export of pasarela");
        self.input.read_exact(&mut bytes).map_err(short)?;
        if &bytes[..8] != form.magic {
            return Err(bad("is no export of pasarela: its first bytes are others"));
        }
        if bytes != form.opening() {
            let known = form.version;
            return Err(bad(&format!(
                "is an export of another version than {known}, which this program knows"
            )));
        }
        (self.before, self.at) = (bytes.to_vec(), 12);
        Ok(())
    }

    fn place(&self) -> String {
        let Parts { file, block, at, last, .. } = self;
        format!("{}: block {block} at byte {at}, after record {last}", file.display())
    }

    /// Only a block that is proved.
    pub fn next_block(&mut self) -> Result<Block, Failed> {
        let packed = self.next_packed()?;
        let Packed { header, proof, body, place } = &packed;
        // Takes as long whatever the proof.
        if self.key.over(&self.before, header, body).verify_truncated_left(proof).is_err() {
            return Err(Failed::Unproved(place.clone()));
        }
        self.before = proof.to_vec();
        packed.unpacked()
    }

    /// Whoever wrote it: for words about a file that is refused, and nothing else.
    pub fn next_unproved(&mut self) -> Result<Block, Failed> {
        self.next_packed()?.unpacked()
    }

    fn next_packed(&mut self) -> Result<Packed, Failed> {
        self.block += 1;
        let place = self.place();
        let cut = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => bad(&place, "is cut off: the file ends there"),
            _ => bad(&place, &format!("cannot be read: {error}")),
        };
        let (mut header, mut proof) = ([0; HEADER_BYTES], [0; PROOF_BYTES]);
        self.input.read_exact(&mut header).map_err(cut)?;
        self.input.read_exact(&mut proof).map_err(cut)?;
        let (packed, unpacked) = (number(&header, 1), number(&header, 5));
        // The lengths are checked first, so that a flipped one neither fills the memory nor waits
        // for bytes that are not there.
        if packed > BODY_BYTES_MAX || unpacked > BODY_BYTES_MAX {
            return Err(bad(&place, "has an impossible length"));
        }
        let mut body = vec![0; packed];
        self.input.read_exact(&mut body).map_err(cut)?;
        self.at += (HEADER_BYTES + PROOF_BYTES + packed) as u64;
        Ok(Packed { header, proof, body, place })
    }

    pub fn nothing_follows(&mut self) -> Result<(), Failed> {
        match self.at == self.length {
            true => Ok(()),
            false => Err(bad(&self.place(), "is the last one, and yet the file goes on")),
        }
    }
}

struct Packed {
    header: [u8; HEADER_BYTES],
    proof: [u8; PROOF_BYTES],
    body: Vec<u8>,
    place: String,
}

impl Packed {
    fn unpacked(self) -> Result<Block, Failed> {
        let Packed { header, body, place, .. } = self;
        let first = header.last_chunk::<8>().map_or(0, |first| Seq::from_le_bytes(*first));
        let length = number(&header, 5);
        let body = zstd::bulk::decompress(&body, length).ok().filter(|body| body.len() == length);
        let body = body.ok_or_else(|| bad(&place, "cannot be decompressed"))?;
        Ok(Block { kind: header[0], first, body, place })
    }
}

fn number(header: &[u8; HEADER_BYTES], at: usize) -> usize {
    u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]) as usize
}
