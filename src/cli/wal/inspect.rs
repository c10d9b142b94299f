//! `pasarela wal inspect`: the records, one line each.

use super::super::{Failure, Settings};
use crate::api::writer::{Object, text};
use crate::domain::codec;
use crate::domain::ids::Id;
use crate::domain::ledger::Ledger;
use crate::domain::money::write_minor;
use crate::domain::platform::{Mode, PLATFORM, PlatformChange, is_live, tenant_key};
use crate::domain::record::Record;
use crate::domain::time::Timestamp;
use clap::Args;
use std::io::{self, Write};
use wal::Reader;

/// Print records, one line each
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
    /// Prints them.
    pub fn run(self) -> Result<(), Failure> {
        let (_, reader) = super::open(&self.settings)?;
        let only = self.tenant.as_deref().map(|id| keys_of(&reader, id)).transpose()?;
        let mut out = io::stdout().lock();
        for stored in reader.records(self.from, self.to) {
            let stored = stored.map_err(|error| Failure::Other(error.to_string()))?;
            if only.is_some_and(|keys| !keys.contains(&stored.tenant)) {
                continue;
            }
            let record: Record = codec::decode(&stored.payload).map_err(|error| Failure::Other(format!("record {}: {error}", stored.seq)))?;
            let time = Timestamp::from_unix_ms(stored.time_ms);
            let written = if self.json { json(stored.seq, time, stored.tenant, &record) } else { line(stored.seq, time, stored.tenant, &record).into_bytes() };
            let closed = out.write_all(&written).and_then(|()| out.write_all(b"\n"));
            if let Err(error) = closed {
                // Whoever reads, such as `head`, has seen enough.
                return if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(Failure::Other(error.to_string())) };
            }
        }
        Ok(())
    }
}

/// The tenant keys of a tenant in both modes. Tenants are in the log themselves.
fn keys_of(reader: &Reader, id: &str) -> Result<[u64; 2], Failure> {
    let unknown = || Failure::Other(format!("there is no tenant {id} in this log"));
    let id = Id::parse(id).ok_or_else(unknown)?;
    for stored in reader.records(1, None) {
        let stored = stored.map_err(|error| Failure::Other(error.to_string()))?;
        if stored.tenant != PLATFORM {
            continue;
        }
        let record: Record = codec::decode(&stored.payload).map_err(|error| Failure::Other(format!("record {}: {error}", stored.seq)))?;
        if let Some(PlatformChange::Opened { tenant, .. }) = record.platform.as_deref()
            && tenant.id == id
        {
            return Ok(Mode::ALL.map(|mode| tenant_key(tenant.number, mode)));
        }
    }
    Err(unknown())
}

fn mode(tenant: u64) -> &'static str {
    match tenant {
        PLATFORM => "platform",
        tenant if is_live(tenant) => "live",
        _ => "test",
    }
}

fn entity(record: &Record) -> Option<String> {
    let written = record.entities.first().map(|written| written.state.id());
    written.or(record.removed.first().map(|(id, _)| *id)).map(|id| format!("{id:?}"))
}

/// The postings of a record, readable: whose, what, how much.
fn postings(record: &Record) -> Vec<String> {
    let owner = |ledger| match ledger {
        Ledger::Tenant => "tenant".to_owned(),
        Ledger::Seller(id) => format!("seller {id}"),
        Ledger::Fees => "fees".to_owned(),
        Ledger::Rail => "rail".to_owned(),
        Ledger::Operator => "operator".to_owned(),
        Ledger::Exchange => "exchange".to_owned(),
    };
    let shown = record.postings.iter().map(|posting| {
        let mut amount = String::new();
        let _ = write_minor(&mut amount, posting.minor, posting.currency.decimals());
        format!("{} {amount} {}", owner(posting.ledger), posting.currency.code())
    });
    shown.collect()
}

fn line(seq: u64, time: Timestamp, tenant: u64, record: &Record) -> String {
    let events: Vec<&str> = record.events.iter().map(|event| event.kind.name()).collect();
    let mut line = format!("{seq:>10}  {time}  {:>6} {:<8}  {:<24}  {}", tenant / 2, mode(tenant), record.cause.name(), entity(record).unwrap_or_default());
    if !record.postings.is_empty() {
        line.push_str(&format!("  [{}]", postings(record).join(", ")));
    }
    if !events.is_empty() {
        line.push_str(&format!("  events {} {}", record.first_event, events.join(" ")));
    }
    if let Some(kept) = &record.kept {
        line.push_str(&format!("  kept {}", kept.status));
    }
    line
}

fn json(seq: u64, time: Timestamp, tenant: u64, record: &Record) -> Vec<u8> {
    Object::new()
        .number("seq", seq)
        .plain("time", time)
        .number("tenant", tenant / 2)
        .plain("mode", mode(tenant))
        .plain("type", record.cause.name())
        .maybe_text("entity", entity(record))
        .list("postings", postings(record).iter().map(|posting| text(posting)))
        .list("events", record.events.iter().map(|event| text(event.kind.name())))
        .maybe_number("keptStatus", record.kept.as_ref().map(|kept| kept.status))
        .end()
}
