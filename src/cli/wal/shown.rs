//! A record for people and for scripts: one line each.

use api::writer::{Object, text};
use domain::ledger::{Ledger, Posting};
use domain::platform::PlatformChange;
use domain::record::Answer;
use domain::record::Record;
use domain::values::mode::{PLATFORM, is_live};
use domain::values::money::{Currency, write_minor};
use domain::values::time::Timestamp;

pub fn mode(tenant: u64) -> &'static str {
    match tenant {
        PLATFORM => "platform",
        tenant if is_live(tenant) => "live",
        _ => "test",
    }
}

pub fn entity(record: &Record) -> Option<String> {
    let written = record.entities.first().map(|written| written.state.id());
    written
        .or(record.removed.first().map(|(id, _)| *id))
        .map(|id| format!("{id:?}"))
        .or_else(|| record.platform.as_deref().map(changed))
}

fn changed(change: &PlatformChange) -> String {
    match change {
        PlatformChange::Tenant(tenant) | PlatformChange::Opened { tenant, .. } => {
            format!("tenant {}", tenant.id)
        }
        PlatformChange::Key(key) => format!("key {}", key.id),
        PlatformChange::Bank(code, _) => format!("bank {code}"),
        PlatformChange::Banks(_) => "catalogue of banks".to_owned(),
        PlatformChange::Searched(searched) => format!("blocks of {} to {}", searched.name(), searched.last),
        PlatformChange::Beside(entries) => format!("{} entries beside the log", entries.len()),
        PlatformChange::LiveAsked(number) => format!("live mode, asked for by tenant number {number}"),
        PlatformChange::Acted(act) => act.to_string(),
        PlatformChange::Operator(operator) => format!("operator {}", operator.id),
    }
}

/// An operator's act: its entry of the audit or, in records from before there was one, the act itself.
fn act(record: &Record) -> Option<String> {
    match (record.audit.as_deref(), record.platform.as_deref()) {
        (Some(entry), _) => Some(entry.to_string()),
        (None, Some(PlatformChange::Acted(act))) if !record.entities.is_empty() => Some(act.to_string()),
        (None, _) => None,
    }
}

pub fn amount(minor: i64, currency: Currency) -> String {
    let mut amount = String::new();
    let _ = write_minor(&mut amount, minor, currency.decimals());
    amount
}

pub fn owner(ledger: Ledger) -> String {
    match ledger {
        Ledger::Tenant => "tenant".to_owned(),
        Ledger::Seller(id) => format!("seller {id}"),
        Ledger::Fees => "fees".to_owned(),
        Ledger::Rail => "rail".to_owned(),
        Ledger::Operator => "operator".to_owned(),
        Ledger::Exchange => "exchange".to_owned(),
    }
}

/// Whose, how much, and of what kind where it is a movement.
pub fn postings<'a>(postings: impl IntoIterator<Item = &'a Posting>) -> Vec<String> {
    let shown = postings.into_iter().map(|posting| {
        let kind = posting.row.as_ref().map(|row| format!(" {}", row.kind.name())).unwrap_or_default();
        format!(
            "{} {} {}{kind}",
            owner(posting.ledger),
            amount(posting.minor, posting.currency),
            posting.currency.code()
        )
    });
    shown.collect()
}

#[derive(Clone, Copy)]
pub struct RecordPlace {
    pub seq: u64,
    /// On its tenant's clock.
    pub time: Timestamp,
    pub tenant: u64,
}

impl From<&wal::Record> for RecordPlace {
    fn from(stored: &wal::Record) -> RecordPlace {
        RecordPlace { seq: stored.seq, time: Timestamp::from_unix_ms(stored.time_ms), tenant: stored.tenant }
    }
}

/// `money` are those of the record's postings that are to be shown.
pub fn line(place: RecordPlace, record: &Record, money: &[String]) -> String {
    let RecordPlace { seq, time, tenant } = place;
    let events: Vec<&str> = record.events.iter().map(|event| event.kind.name()).collect();
    let mut line = format!(
        "{seq:>10}  {time}  {:>6} {:<8}  {:<24}  {}",
        tenant / 2,
        mode(tenant),
        record.cause.name(),
        entity(record).unwrap_or_default()
    );
    if !money.is_empty() {
        line.push_str(&format!("  [{}]", money.join(", ")));
    }
    if !events.is_empty() {
        line.push_str(&format!("  events {} {}", record.first_event, events.join(" ")));
    }
    if let Some(kept) = kept(record) {
        line.push_str(&format!("  kept {kept}"));
    }
    if let Some(act) = act(record) {
        line.push_str(&format!("  by {act}"));
    }
    line
}

/// What a record keeps for an Idempotency-Key, in words.
fn kept(record: &Record) -> Option<String> {
    Some(match &record.kept.as_ref()?.answer {
        Answer::Record { .. } => "answer".to_owned(),
        Answer::Refused(refusal) => api::refusals::problem(refusal).code.to_owned(),
        Answer::Bytes(status, _) => status.to_string(),
        Answer::Void => "nothing".to_owned(),
    })
}

pub fn json(place: RecordPlace, record: &Record, money: &[String]) -> Vec<u8> {
    let RecordPlace { seq, time, tenant } = place;
    Object::new()
        .number("seq", seq)
        .plain("time", time)
        .number("tenant", tenant / 2)
        .plain("mode", mode(tenant))
        .plain("type", record.cause.name())
        .maybe_text("entity", entity(record))
        .list("postings", money.iter().map(|posting| text(posting)))
        .list("events", record.events.iter().map(|event| text(event.kind.name())))
        .maybe_text("kept", kept(record))
        .maybe_text("operator", act(record))
        .end()
}
