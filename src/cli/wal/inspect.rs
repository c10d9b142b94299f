//! `pasarela wal inspect`: the records, one line each.

use super::super::{Failure, Settings};
use super::shown::{self, RecordPlace};
use crate::recovery::Failed;
use crate::recovery::books::Books;
use clap::Args;
use domain::codec;
use domain::machine::AnyBook;
use domain::record::Record;
use domain::values::ids::Id;
use domain::values::mode::{Mode, PLATFORM, tenant_key};
use std::io;
use wal::Reader;

/// Print records, one line each
///
/// Example: pasarela wal inspect --from 1000 --to 1100 --json
#[derive(Args, Debug)]
pub struct Inspect {
    #[command(flatten)]
    settings: Settings,
    /// From this sequence on
    #[arg(long, value_name = "SEQ", default_value_t = 1)]
    from: u64,
    /// Up to this sequence, included
    #[arg(long, value_name = "SEQ")]
    to: Option<u64>,
    /// Only of this tenant, in both modes
    #[arg(long, value_name = "TENANT_ID")]
    tenant: Option<String>,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub fn run(self) -> Result<(), Failure> {
        let (_, reader) = super::open(&self.settings)?;
        let only = self.tenant.as_deref().map(|id| keys_of(&reader, id)).transpose()?;
        let mut out = io::BufWriter::new(io::stdout().lock());
        for stored in reader.records(self.from, self.to) {
            let stored = stored.map_err(Failed::from)?;
            if only.is_some_and(|keys| !keys.contains(&stored.tenant)) {
                continue;
            }
            let record: Record = codec::decode(&stored.payload)
                .map_err(|error| Failure::Other(format!("record {}: {error}", stored.seq)))?;
            let money = shown::postings(&record.postings);
            let place = RecordPlace::from(&stored);
            let line = if self.json {
                shown::json(place, &record, &money)
            } else {
                shown::line(place, &record, &money).into_bytes()
            };
            if !super::print(&mut out, &line)? {
                return Ok(());
            }
        }
        super::end(out)
    }
}

/// In both modes. Tenants are in the log themselves.
fn keys_of(reader: &Reader, id: &str) -> Result<[u64; 2], Failure> {
    let unknown = || Failure::Other(format!("there is no tenant {id} in this log"));
    let id = Id::parse(id).ok_or_else(unknown)?;
    let books = Books::after(reader, &[PLATFORM], reader.last_seq())?;
    let Some(AnyBook::Platform(platform)) = books.get(PLATFORM) else { return Err(unknown()) };
    let tenant = platform.tenants.values().find(|tenant| tenant.id == id).ok_or_else(unknown)?;
    Ok(Mode::ALL.map(|mode| tenant_key(tenant.number, mode)))
}
