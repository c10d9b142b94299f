//! `pasarela wal states`: digests of what changed, by which two programs are compared.

use super::{LogSettings, Looked, end, look, open, print};
use crate::cli::progress::shown;
use crate::recovery::Failed;
use crate::recovery::states::{Stretch, states};
use clap::Args;
use std::io;

/// Print digests of every book and object that changed, after each so many records
///
/// One JSON object per line: seq, tenantId, mode, kind, id, digest; tenantId and mode are null of
/// what is the platform's. A digest is of the state alone: two programs that print the same lines of
/// a log came to the same states. pasarela wal shadow compares them.
///
/// Example: pasarela wal states --from 1000 --every 100
#[derive(Args, Debug)]
pub struct States {
    #[command(flatten)]
    settings: LogSettings,
    /// The first record; what did not change since has no line
    #[arg(long, value_name = "SEQ", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    from: u64,
    /// After how many records what changed is printed, and at the end of the log
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// Also of what follows from the states: the index entries of each book (kind index) and what the API shows (kind
    /// answers), since the line before; with --every 1 also of each entry and each member (parts)
    #[arg(long)]
    derived: bool,
    /// One JSON object per line, as without it
    #[arg(long)]
    json: bool,
}

impl States {
    pub fn run(self) -> Looked {
        look(|| {
            let (_, reader) = open(&self.settings)?;
            let stretch = Stretch::to_end(&reader, self.from, self.every, self.derived)?;
            let mut out = io::BufWriter::new(io::stdout().lock());
            shown(|tell| {
                states(&reader, stretch, tell, &mut |_, states| {
                    for state in states {
                        let line = serde_json::to_string(&state)
                            .map_err(|error| Failed::NotDone(error.to_string()))?;
                        if !print(&mut out, &line).map_err(|failure| Failed::NotDone(failure.to_string()))? {
                            return Ok(false);
                        }
                    }
                    Ok(true)
                })
            })?;
            end(out)?;
            Ok(None)
        })
    }
}
