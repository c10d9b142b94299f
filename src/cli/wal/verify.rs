//! `pasarela wal verify`: reads everything and believes nothing.

use super::super::{Failure, Settings};
use super::replay;
use crate::api::render::render;
use crate::domain::machine::Domain;
use clap::Args;
use std::io::{IsTerminal, Write};
use std::time::Instant;
use wal::{Damage, Seq};

/// Check every checksum and the hash chain, replay everything, compare with snapshots and indexes; exit 1 and the first bad sequence when something is wrong
#[derive(Args, Debug)]
pub struct Verify {
    #[command(flatten)]
    settings: Settings,
}

impl Verify {
    /// Verifies; the error names the first bad sequence.
    pub fn run(self) -> Result<(), Failure> {
        let (_, reader) = super::open(&self.settings)?;
        let began = Instant::now();
        let bad = |damage: Damage| Failure::Other(format!("bad sequence {}: {}", damage.seq, damage.detail));
        let verified = reader.verify(&mut progress("checksums and chain")).map_err(bad)?;
        // What rules may refuse does not matter here: nothing is decided, only applied.
        let machine = Domain { live_rails: false, holidays: Vec::new(), render };
        let replayed = replay::replay(&machine, &reader, &mut progress("replay")).map_err(bad)?;
        println!(
            "ok: {} records ({} bytes), {} books, {} snapshots, {} index entries; head {}",
            verified.records,
            verified.bytes,
            replayed.books,
            replayed.snapshots,
            replayed.index_entries,
            hex::encode(verified.head_hash)
        );
        eprintln!("took {} ms", began.elapsed().as_millis());
        Ok(())
    }
}

/// A line that is written over on a terminal, plain lines elsewhere.
fn progress(what: &'static str) -> impl FnMut(Seq, Seq) {
    let terminal = std::io::stderr().is_terminal();
    move |done, of| {
        let percent = done.saturating_mul(100).checked_div(of).unwrap_or(100);
        let mut err = std::io::stderr().lock();
        let _ = if terminal {
            write!(err, "\r{what}: {done} of {of} ({percent} %){}", if done == of { "\n" } else { "" })
        } else {
            writeln!(err, "{what}: {done} of {of} ({percent} %)")
        };
    }
}
