//! Archives that are imported: the first byte of an input says whether the rest is the file as it
//! is, or blocks that are put together with right proofs.
//!
//! An archive is imported whole or refused, and a refusal leaves no directory that a server would
//! start on; nothing leaves the directory; and a server takes the secret of what was imported.

use crate::bytes::Bytes;
use pasarela::recovery::archive;
use pasarela::recovery::blocks::FileKey;
use pasarela::recovery::directory;
use pasarela::recovery::restored_copy::RestoredCopy;
use sha2::{Digest, Sha256};
use std::fs;
use wal::Record;

const RECORDS: u8 = 2;
const END: u8 = 4;

pub fn run(input: &[u8]) {
    let mut bytes = Bytes::new(input);
    let is_raw = bytes.byte() % 4 == 3;
    let file = if is_raw { bytes.rest().to_vec() } else { put_together(bytes) };
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (from, into) = (folder.path().join("archive"), folder.path().join("data"));
    fs::write(&from, &file).expect("a file is written");
    let imported = archive::import(&from, &into, FileKey::of(&[7; 32]), 2, &mut |_, _, _| ());
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .expect("the directory")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names.retain(|name| name != "archive" && name != "data");
    assert!(names.is_empty(), "an archive makes {names:?} beside its directory");
    let is_whole = into.exists() && RestoredCopy::must_be_whole(&into).is_ok();
    match imported {
        Ok(archived) => {
            assert!(is_whole, "what was imported is not whole");
            assert_eq!(archived.bytes, file.len() as u64);
            if directory::read_mark_key(&into).expect("a readable secret").is_some() {
                directory::mark_key(&into).expect("a secret that a server takes");
            }
        }
        Err(_) => assert!(!is_whole || !into.join("log").exists(), "what was refused is taken for whole"),
    }
}

/// Blocks as the format of version 1 has them: a kind, what it bears, and its body. Records are
/// chained, and an end that is asked for says what came before it.
fn put_together(mut bytes: Bytes<'_>) -> Vec<u8> {
    let mut file = [&b"PASAREXP"[..], &1_u32.to_le_bytes()].concat();
    let mut before = file.clone();
    let (mut seq, mut hash, mut first) = (0, [0; 16], 1);
    while !bytes.is_empty() {
        let kind = bytes.byte() % 6;
        let body = match kind {
            RECORDS => {
                let (tenant, time_ms) = (bytes.byte(), i64::from(bytes.byte()));
                let payload = bytes.sized().to_vec();
                seq += 1;
                let record = Record {
                    seq,
                    time_ms: 1_795_226_000_000 + time_ms,
                    tenant: u64::from(tenant),
                    bytes: 0,
                    hash,
                    prev: hash,
                    payload,
                };
                let mut body = Vec::new();
                record.encode_into(&mut body);
                hash = half(&[&body[4..]]);
                body
            }
            END => [&u64::to_le_bytes(seq)[..], &hash, &u64::from(bytes.byte()).to_le_bytes()].concat(),
            _ => bytes.sized().to_vec(),
        };
        let packed = zstd::bulk::compress(&body, 1).expect("memory takes every byte");
        let header = [
            &[kind][..],
            &(packed.len() as u32).to_le_bytes(),
            &(body.len() as u32).to_le_bytes(),
            &u64::to_le_bytes(if kind == RECORDS { first } else { 0 }),
        ]
        .concat();
        let proof = FileKey::of(&[7; 32]).proof(&before, &header, &packed);
        file.extend([&header[..], &proof, &packed].concat());
        before = proof.to_vec();
        first = seq + 1;
    }
    file
}

fn half(parts: &[&[u8]]) -> [u8; 16] {
    let digest = parts.iter().fold(Sha256::new(), |hash, part| hash.chain_update(part)).finalize();
    std::array::from_fn(|at| digest[at])
}
