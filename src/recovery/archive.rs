//! The archive: one portable file with everything that a data directory holds.
//!
//! Promises: those of blocks: what was changed on the way is refused, and the place is named. The key that
//! proves it stays outside: who has the file has the secret of keyed hashes, and still cannot make another.
//!
//! # Format, version 1
//!
//! A file of blocks (`blocks.rs`) with the first bytes "PASAREXP":
//!
//! ```text
//! body   KEY      the secret of keyed hashes
//!        RECORDS  records one after the other, in the log's own bytes
//!        ENTRIES  of a store beside the log: its name, then for each entry the name of the family, key and
//!                 value, as stored values are written (`docs/formats.md`)
//!        END      u64 last sequence, [16] its hash, u64 number of entries
//! ```

use super::blocks::{self, BODY_BYTES, Block, Blocks, FileKey, Form, Parts};
use super::directory::{self, LOG_DIRECTORY, StoreCopy};
use super::rebuild::Rebuild;
use super::restored_copy::RestoredCopy;
use super::{Failed, Progress, at};
use domain::codec;
use std::io::{self, BufWriter};
use std::path::Path;
use wal::{Reader, Tip};

const FORM: Form = Form { magic: b"PASAREXP", version: 1 };

const KEY: u8 = 1;
const RECORDS: u8 = 2;
const ENTRIES: u8 = 3;
const END: u8 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Archived {
    pub tip: Tip,
    pub entries: u64,
    pub bytes: u64,
}

/// Beside a running server: the log up to the last durable record at the start, then the stores beside it.
pub fn export(
    from: &Path,
    card_key: Option<&Path>,
    file: &Path,
    progress: Progress<'_>,
) -> Result<Archived, Failed> {
    RestoredCopy::must_be_whole(from)?;
    let reader = Reader::open_read_only(from.join(LOG_DIRECTORY))?;
    let key = FileKey::read(from, card_key)?;
    let tip = reader.tip();
    let opened = blocks::create(file).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failed::refused(file, blocks::EXISTS),
        _ => at(file)(error),
    })?;
    let mut blocks = Blocks::begin(BufWriter::new(opened), FORM, key).map_err(at(file))?;
    if let Some(key) = directory::read_mark_key(from)? {
        blocks.put(KEY, 0, &key).map_err(at(file))?;
    }
    blocks.put_records((RECORDS, file), (&reader, tip.seq), |_| true, progress)?;
    progress("export", tip.seq, tip.seq);
    let mut entries = 0_u64;
    for store in directory::stores(from)? {
        let mut part = (store, Vec::<Entry>::new());
        let mut bytes = 0;
        directory::each_entry(&from.join(&part.0), &mut |family, key, value| {
            part.1.push((family.to_owned(), key.to_vec(), value.to_vec()));
            entries += 1;
            bytes += key.len() + value.len();
            if bytes >= BODY_BYTES {
                blocks.put(ENTRIES, 0, &codec::encode_newest(&part)).map_err(at(file))?;
                part.1.clear();
                bytes = 0;
            }
            Ok(())
        })?;
        // The block is written for an empty store too, so that an import makes it again.
        blocks.put(ENTRIES, 0, &codec::encode_newest(&part)).map_err(at(file))?;
    }
    let end = [&tip.seq.to_le_bytes()[..], &tip.hash, &entries.to_le_bytes()].concat();
    blocks.put(END, 0, &end).map_err(at(file))?;
    let (_, bytes) = blocks.finish().map_err(at(file))?;
    directory::sync_parent(file)?;
    Ok(Archived { tip, entries, bytes })
}

/// The name of the family, the key and the value.
type Entry = (String, Vec<u8>, Vec<u8>);

pub fn import(
    file: &Path,
    into: &Path,
    key: FileKey,
    snapshot_records: u64,
    progress: Progress<'_>,
) -> Result<Archived, Failed> {
    let mut parts = Parts::open(file, FORM, key)?;
    let length = parts.length;
    let mut import = Import {
        into,
        rebuild: Rebuild::begin(into, "import", snapshot_records)?,
        store: None,
        entries: 0,
        key_seen: false,
    };
    loop {
        let block = parts.next_block()?;
        match block.kind {
            KEY if !import.key_seen => import.secret(&block)?,
            RECORDS if import.store.is_none() => {
                import.records(&block)?;
                parts.last = import.rebuild.log.tip.seq;
                progress("import", parts.at, length);
            }
            ENTRIES => import.entries(&block)?,
            END => {
                import.compare_end(&block)?;
                parts.nothing_follows()?;
                let (tip, entries) = import.finish()?;
                return Ok(Archived { tip, entries, bytes: length });
            }
            _ => return Err(block.bad(blocks::KIND)),
        }
    }
}

struct Import<'a> {
    into: &'a Path,
    rebuild: Rebuild,
    store: Option<(String, StoreCopy)>,
    entries: u64,
    key_seen: bool,
}

impl Import<'_> {
    fn secret(&mut self, block: &Block) -> Result<(), Failed> {
        self.key_seen = true;
        // With a secret of another length the directory would be marked as whole, but no server
        // would start on it.
        if block.body.len() != directory::MARK_KEY_BYTES {
            return Err(block.bad("has a secret of another length"));
        }
        directory::write_mark_key(self.into, &block.body)?;
        self.rebuild.know(&block.body);
        Ok(())
    }

    fn records(&mut self, block: &Block) -> Result<(), Failed> {
        let mut rest = &block.body[..];
        if block.first != self.rebuild.log.tip.seq + 1 {
            return Err(block.bad(blocks::OTHER_RECORDS));
        }
        while !rest.is_empty() {
            let (record, following) = wal::Record::split_off(rest, self.rebuild.log.tip.seq + 1, None)?;
            self.rebuild.add(record)?;
            rest = following;
        }
        Ok(())
    }

    fn entries(&mut self, block: &Block) -> Result<(), Failed> {
        let read = codec::decode(&block.body);
        let (name, entries): (String, Vec<Entry>) = read.map_err(|error| block.bad(&error.to_string()))?;
        if !is_plain(&name) {
            return Err(block.bad("names no store that may be made"));
        }
        if self.store.as_ref().is_none_or(|(known, _)| *known != name) {
            let next = StoreCopy::new(&self.into.join(&name))?;
            if let Some((_, done)) = self.store.replace((name, next)) {
                done.finish()?;
            }
        }
        let Some((_, copy)) = &mut self.store else { return Ok(()) };
        for (family, key, value) in entries {
            copy.put(&family, &key, &value)?;
            self.entries += 1;
        }
        Ok(())
    }

    fn compare_end(&self, block: &Block) -> Result<(), Failed> {
        let tip = self.rebuild.log.tip;
        let expected = [&tip.seq.to_le_bytes()[..], &tip.hash, &self.entries.to_le_bytes()].concat();
        match block.body == expected {
            true => Ok(()),
            false => Err(block.bad("says of the end something else than what came before it")),
        }
    }

    fn finish(self) -> Result<(Tip, u64), Failed> {
        let tip = self.rebuild.log.tip;
        if let Some((_, done)) = self.store {
            done.finish()?;
        }
        self.rebuild.finish(|_| Ok(()))?;
        Ok((tip, self.entries))
    }
}

/// Stays inside the directory.
fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    name != LOG_DIRECTORY && !name.is_empty() && name.bytes().all(is_plain)
}
