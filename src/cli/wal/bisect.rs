//! `pasarela wal bisect`: the first record after which something holds.

use super::records::{keys_of, line_of};
use super::{LogSettings, Looked, end, look, open, print};
use crate::cli::Failure;
use crate::cli::progress::shown;
use crate::recovery::Failed;
use crate::recovery::bisect::bisect;
use crate::recovery::condition::Condition;
use clap::Args;
use std::io;

/// Find the first record after which a condition on a tenant holds, in each mode
///
/// Members are those of GET /v1/balance, /v1/cop/balance and /v1/crypto/balance and, with payment.,
/// payout. or seller. before them, of any payment, payout or seller (the same one in the whole
/// condition). Compared by < <= > >= = != with numbers and with texts in ' or "; joined by not, and,
/// or, and parentheses. A comparison with what is null is neither true nor false. Exit 1 if there is no
/// such record.
///
/// Example: pasarela wal bisect --tenant 01930a4b-5c6d-7e8f-9012-3456789a0000 "availableVes < 0"
#[derive(Args, Debug)]
pub struct Bisect {
    #[command(flatten)]
    settings: LogSettings,
    /// The condition
    #[arg(value_name = "CONDITION")]
    condition: String,
    /// The tenant's id
    #[arg(long, value_name = "TENANT_ID")]
    tenant: String,
    /// Each record after which the condition became true, or false again
    #[arg(long)]
    every: bool,
    /// One JSON object per record
    #[arg(long)]
    json: bool,
}

impl Bisect {
    pub fn run(self) -> Looked {
        look(|| {
            let condition = Condition::parse(&self.condition).map_err(Failure::Other)?;
            let (_, reader) = open(&self.settings)?;
            let keys = keys_of(&reader, &self.tenant)?;
            let mut out = io::BufWriter::new(io::stdout().lock());
            let mut found = 0_u64;
            shown(|tell| {
                bisect(&reader, keys, &condition, self.every, tell, &mut |turn| {
                    found += 1;
                    let mut line = line_of(self.json, &turn.stored, &turn.record);
                    if self.every && !self.json {
                        line.push_str(if turn.holds { "  now true" } else { "  now false" });
                    }
                    print(&mut out, &line).map_err(|failure| Failed::NotDone(failure.to_string()))
                })
            })?;
            end(out)?;
            let nothing = || {
                let last = reader.last_seq();
                match self.every {
                    true => format!(
                        "found nothing: no record up to {last} changes whether {:?} holds",
                        self.condition
                    ),
                    false => {
                        format!("found nothing: after no record up to {last} does {:?} hold", self.condition)
                    }
                }
            };
            Ok((found == 0).then(nothing))
        })
    }
}
