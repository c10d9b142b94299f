//! `pasarela wal salvage`: what is whole before the damage of a log, in a directory of its own.

use super::super::{Failure, Settings};
use crate::cli::progress::Shown;
use crate::recovery::rebuild::{Salvaged, salvage};
use api::writer::Object;
use clap::Args;
use std::path::PathBuf;

/// Copy everything before the damage that verifies into a new data directory
///
/// Each record's checksum and the hash chain are checked; index and snapshots are made anew. Says how many records
/// there are, until which sequence and instant, and which acknowledged records are lost. The directory is marked as
/// a restored copy: `pasarela serve` keeps live banks and webhooks shut in it until `--take-over`.
///
/// Example: pasarela wal salvage --to /srv/pasarela/salvaged
#[derive(Args, Debug)]
pub struct Salvage {
    #[command(flatten)]
    settings: Settings,
    /// The directory to make; it must not exist, or be empty
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Up to this sequence, included, though more could be read
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
    until_seq: Option<u64>,
    /// One JSON object instead of lines
    #[arg(long)]
    json: bool,
}

impl Salvage {
    pub fn run(self) -> Result<(), Failure> {
        let config = self.settings.load()?;
        let mut progress = Shown::new();
        let salvaged = salvage(
            &config.storage.path,
            &self.to,
            self.until_seq,
            config.storage.snapshot_records,
            &mut |part, done, of| progress.tell(part, done, of),
        );
        drop(progress);
        let salvaged = salvaged?;
        if self.json {
            println!("{}", String::from_utf8_lossy(&json(&salvaged)));
        } else {
            self.print(&salvaged);
        }
        Ok(())
    }

    fn print(&self, salvaged: &Salvaged) {
        let Salvaged { tip, time, damage, left_out, .. } = salvaged;
        let at = time.map(|time| format!(" of {time}")).unwrap_or_default();
        println!("ok: {} has {} records, {}{at}", self.to.display(), tip.seq, super::ends_with(*tip));
        match damage {
            Some(damage) => println!("damaged at sequence {}: {}", damage.seq, damage.detail),
            None => println!("no damage was met before that"),
        }
        match lost(salvaged) {
            Some((first, last)) => println!("lost: the acknowledged records {first} to {last}"),
            None => println!("lost: no acknowledged record"),
        }
        for failed in left_out {
            println!("not in the copy: {failed}");
        }
    }
}

fn lost(salvaged: &Salvaged) -> Option<(u64, u64)> {
    (salvaged.acknowledged > salvaged.tip.seq).then_some((salvaged.tip.seq + 1, salvaged.acknowledged))
}

fn json(salvaged: &Salvaged) -> Vec<u8> {
    let Salvaged { tip, time, damage, left_out, .. } = salvaged;
    let lost = lost(salvaged);
    Object::new()
        .boolean("ok", true)
        .number("records", tip.seq)
        .number("seq", tip.seq)
        .maybe_plain("time", *time)
        .plain("headHash", hex::encode(tip.hash))
        .maybe_number("damagedSeq", damage.as_ref().map(|damage| damage.seq))
        .maybe_text("damage", damage.as_ref().map(|damage| damage.detail.as_str()))
        .maybe_number("lostFrom", lost.map(|(first, _)| first))
        .maybe_number("lostTo", lost.map(|(_, last)| last))
        .list("leftOut", left_out.iter().map(|failed| api::writer::text(&failed.to_string())))
        .end()
}
