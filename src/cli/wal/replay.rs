//! `pasarela wal replay --into`: a complete data directory as it was at a moment of the past.

use super::super::{Failure, Settings};
use crate::cli::progress::Shown;
use crate::recovery::rebuild::{Until, replay};
use clap::Args;
use domain::values::time::Timestamp;
use std::path::PathBuf;
use std::time::Instant;

/// Rebuild a complete data directory from the log, as it was at a moment of the past
///
/// The directory is marked as a restored copy: `pasarela serve` keeps live banks and webhooks shut in
/// it until `--take-over`.
///
/// Example: pasarela wal replay --into /srv/pasarela/noon --until-time 2026-11-21T12:00:00Z
#[derive(Args, Debug)]
pub struct Replay {
    #[command(flatten)]
    settings: Settings,
    /// The directory to make; it must not exist, or be empty
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// Up to this sequence, included
    #[arg(long, value_name = "SEQ", conflicts_with = "until_time", value_parser = clap::value_parser!(u64).range(1..))]
    until_seq: Option<u64>,
    /// Up to the last record written at this instant or before it, on the server's clock:
    /// 2026-11-21T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = Timestamp::parse)]
    until_time: Option<Timestamp>,
}

impl Replay {
    pub fn run(self) -> Result<(), Failure> {
        let config = self.settings.load()?;
        let until = match (self.until_seq, self.until_time) {
            (Some(seq), _) => Until::Seq(seq),
            (None, Some(time)) => Until::Time(time),
            (None, None) => Until::End,
        };
        let (began, mut progress) = (Instant::now(), Shown::new());
        let (tip, left_out) = replay(
            &config.storage.path,
            &self.into,
            until,
            config.storage.snapshot_records,
            &mut |part, done, of| progress.tell(part, done, of),
        )?;
        drop(progress);
        println!("ok: {} is rebuilt {}", self.into.display(), super::ends_with(tip));
        for failed in left_out {
            println!("not in the copy: {failed}");
        }
        eprintln!(
            "took {} ms, {} records per second",
            began.elapsed().as_millis(),
            u128::from(tip.seq) * 1000 / began.elapsed().as_millis().max(1)
        );
        Ok(())
    }
}
