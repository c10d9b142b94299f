//! `pasarela wal verify`: reads everything and believes nothing.

use super::super::{Failure, Settings};
use crate::cli::progress::Shown;
use crate::recovery::Failed;
use crate::recovery::verify::{Verified, verify};
use api::writer::Object;
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Instant;
use wal::Reader;

/// Check every checksum and the hash chain, replay everything, compare with snapshots and indexes;
/// exit 1 and the first bad sequence when something is wrong
///
/// The check needs room for the index a second time in a scratch directory, which is gone
/// afterwards.
///
/// Example: pasarela wal verify --data-dir /srv/pasarela/data
#[derive(Args, Debug)]
pub struct Verify {
    #[command(flatten)]
    settings: Settings,
    /// The directory in which to make the scratch directory [default: the system's directory for
    /// temporary files]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// One JSON object instead of a line
    #[arg(long)]
    json: bool,
}

impl Verify {
    /// The error names the first bad sequence.
    pub fn run(self) -> Result<(), Failure> {
        let began = Instant::now();
        let verified =
            super::open(&self.settings).and_then(|(_, reader)| Ok(proved(&reader, self.scratch.as_deref())?));
        if self.json {
            println!("{}", String::from_utf8_lossy(&json(&verified, began)));
        }
        let verified = verified?;
        if !self.json {
            println!(
                "ok: {} records ({} bytes), {} books, {} snapshots, {} index entries, {} states; head {}",
                verified.records,
                verified.bytes,
                verified.books,
                verified.snapshots,
                verified.index_entries,
                verified.states,
                hex::encode(verified.head)
            );
        }
        let took = began.elapsed();
        let rate = u128::from(verified.records) * 1000 / took.as_millis().max(1);
        eprintln!("took {} ms, {rate} records per second", took.as_millis());
        Ok(())
    }
}

pub fn proved(reader: &Reader, scratch_parent: Option<&Path>) -> Result<Verified, Failed> {
    let mut progress = Shown::new();
    verify(reader, &scratch("verify", scratch_parent), &mut |part, done, of| progress.tell(part, done, of))
}

/// Nobody else uses it.
pub fn scratch(what: &str, parent: Option<&Path>) -> PathBuf {
    parent.map_or_else(std::env::temp_dir, Path::to_path_buf).join(format!(
        "pasarela-{what}-{}-{}",
        std::process::id(),
        uuid::Uuid::now_v7().simple()
    ))
}

fn json(verified: &Result<Verified, Failure>, began: Instant) -> Vec<u8> {
    let took = began.elapsed().as_millis();
    match verified {
        Ok(verified) => Object::new()
            .boolean("ok", true)
            .number("records", verified.records)
            .number("bytes", verified.bytes)
            .number("books", verified.books)
            .number("snapshots", verified.snapshots)
            .number("indexEntries", verified.index_entries)
            .number("states", verified.states)
            .plain("headHash", hex::encode(verified.head))
            .number("tookMs", took)
            .end(),
        Err(failure) => Object::new()
            .boolean("ok", false)
            .maybe_number("seq", failure.bad_sequence())
            .text("message", failure.to_string())
            .number("tookMs", took)
            .end(),
    }
}
