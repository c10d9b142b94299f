//! `pasarela wal explain`: everything that ever happened to one thing, in order, with its money.
//!
//! The log is searched for the bytes of the id: whatever a record says of it, as its own entity, as
//! the seller of a sale or the subject of a movement, is found, also when no index leads there.
//! Operations at a bank and the thing that they belong to share all but the last two bytes.

use super::super::{Failure, Settings};
use super::shown::{self, Place};
use crate::cli::progress::Shown;
use crate::recovery::Failed;
use crate::recovery::books::each_record;
use crate::recovery::directory::halted;
use api::writer::{Object, text};
use clap::Args;
use domain::codec;
use domain::events::Event;
use domain::ledger::{Ledger, Posting};
use domain::platform::{Mode, PlatformChange, tenant_key};
use domain::record::Record;
use domain::values::ids::Id;
use domain::values::money::Currency;
use domain::values::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Say everything that ever happened to a payment, payout, merchant, conversion, chargeback, tenant
/// or key, in order, with its money
///
/// The id of an operation at a bank, of a movement or of an event leads there too. If the book it
/// is in is halted, the last line says why.
///
/// Example: pasarela wal explain 01930a4b-5c6d-7e8f-9012-3456789a0000
#[derive(Args, Debug)]
pub struct Explain {
    #[command(flatten)]
    settings: Settings,
    /// What it is about
    #[arg(value_name = "ID")]
    id: String,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

/// The bytes that an id and the ids of its operations have in common.
const STEM_BYTES: usize = 14;

impl Explain {
    /// Searches the log once, at the speed of reading it.
    pub fn run(self) -> Result<(), Failure> {
        let id = Id::parse(self.id.trim()).ok_or_else(|| {
            Failure::Other(format!(
                "{}: is no id; ids look like 01930a4b-5c6d-7e8f-9012-3456789a0000",
                self.id
            ))
        })?;
        let (config, reader) = super::open(&self.settings)?;
        let last = reader.last_seq();
        let mut out = io::BufWriter::new(io::stdout().lock());
        let mut progress = Shown::new();
        let (mut found, mut open) = (0_u64, true);
        let mut total: BTreeMap<(String, Currency), i64> = BTreeMap::new();
        let mut newest = (0, Timestamp::EPOCH);
        let mut keys: BTreeSet<u64> = BTreeSet::new();
        each_record(&reader, 1, last, |stored| {
            if stored.seq.is_multiple_of(65_536) {
                progress.tell("search", stored.seq, last);
            }
            if !may_speak_of(&stored, id) {
                return Ok(());
            }
            let record: Record = codec::decode(&stored.payload)
                .map_err(|error| wal::Damage { seq: stored.seq, detail: error.to_string() })?;
            let time = Timestamp::from_unix_ms(stored.time_ms);
            if !speaks_of(&stored.payload, &record, time, id) {
                return Ok(());
            }
            found += 1;
            keys.extend(keys_of(&stored, &record, id));
            newest = (stored.seq, time);
            let money = money_of(&record, time, id);
            for posting in &money {
                *total.entry((shown::owner(posting.ledger), posting.currency)).or_default() += posting.minor;
            }
            let money = shown::postings(money);
            let place = Place::from(&stored);
            let line = if self.json {
                shown::json(place, &record, &money)
            } else {
                shown::line(place, &record, &money).into_bytes()
            };
            open = open && super::print(&mut out, &line).map_err(|_| Failed::Stdout)?;
            Ok(())
        })?;
        drop(progress);
        if found == 0 {
            return Err(Failure::Other(format!("nothing in this log speaks of {id}")));
        }
        let total: Vec<String> = total
            .iter()
            .map(|((owner, currency), minor)| {
                format!("{owner} {} {}", shown::amount(*minor, *currency), currency.code())
            })
            .collect();
        if open && self.json {
            let sum = Object::new()
                .number("seq", newest.0)
                .plain("time", newest.1)
                .plain("type", "total")
                .plain("entity", id)
                .number("records", found);
            super::print(&mut out, &sum.list("postings", total.iter().map(|sum| text(sum))).end())?;
        } else if open {
            let money = if total.is_empty() {
                "no money moved".to_owned()
            } else {
                format!("in all {}", total.join(", "))
            };
            super::print(&mut out, format!("{found} records; {money}").as_bytes())?;
        }
        for book in halted::read(&config.storage.path)
            .into_iter()
            .filter(|book| open && keys.contains(&book.tenant_key))
        {
            let line = if self.json {
                Object::new()
                    .plain("type", "halted")
                    .number("tenantKey", book.tenant_key)
                    .plain("since", book.since)
                    .text("why", &book.why)
                    .end()
            } else {
                format!(
                    "the book of tenant key {} is halted since {}: {}",
                    book.tenant_key, book.since, book.why
                )
                .into_bytes()
            };
            super::print(&mut out, &line)?;
        }
        super::end(out)
    }
}

/// The tenant keys that a record is about: whose it is and, of a tenant's own record, that
/// tenant's.
fn keys_of(stored: &wal::Record, record: &Record, id: Id) -> Vec<u64> {
    let tenant = match record.platform.as_deref() {
        Some(PlatformChange::Tenant(tenant) | PlatformChange::Opened { tenant, .. }) if tenant.id == id => {
            tenant
        }
        _ => return vec![stored.tenant],
    };
    Mode::ALL.map(|mode| tenant_key(tenant.number, mode)).to_vec()
}

/// Whether a record may be about the id, from its bytes alone, which passes nearly everything else
/// by.
fn may_speak_of(stored: &wal::Record, id: Id) -> bool {
    let bytes = id.as_bytes();
    contains(&stored.payload, &bytes[..STEM_BYTES]) || bytes[..6] == stored.time_ms.to_be_bytes()[2..]
}

/// Whether the record says the id itself, or gives it to one of its movements or events.
fn speaks_of(payload: &[u8], record: &Record, time: Timestamp, id: Id) -> bool {
    contains(payload, &id.as_bytes()[..STEM_BYTES])
        || movement(record, time, id).is_some()
        || event(record, time, id).is_some()
}

/// The movement of the record that has this id.
fn movement(record: &Record, time: Timestamp, id: Id) -> Option<&Posting> {
    record
        .postings
        .iter()
        .enumerate()
        .find(|(n, posting)| posting.row.is_some() && record.movement_id(time, *n) == id)
        .map(|(_, posting)| posting)
}

/// The event of the record that has this id.
fn event(record: &Record, time: Timestamp, id: Id) -> Option<&Event> {
    record.events.iter().enumerate().find(|(n, _)| record.event_id(time, *n) == id).map(|(_, event)| event)
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    let Some(first) = needle.first() else { return true };
    let mut rest = haystack;
    while let Some(at) = rest.iter().position(|byte| byte == first) {
        if rest[at..].starts_with(needle) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}

/// The id of the entity whose money is meant in this record: of a movement and of an event its
/// subject's, of an operation at a bank its entity's; else the thing's own. `None`: nobody's in
/// particular, so all of it.
fn owner_of(record: &Record, time: Timestamp, id: Id) -> Option<Id> {
    if let Some(row) = movement(record, time, id).and_then(|posting| posting.row.as_deref()) {
        return row.subject.map(|subject| subject.id);
    }
    match event(record, time, id) {
        Some(event) => event.subject.map(|subject| subject.id),
        None => Some(id.operation(0)),
    }
}

/// The postings that belong to the id: all of a record that has movements of nobody else, and of a
/// record of many only its own.
fn money_of(record: &Record, time: Timestamp, id: Id) -> Vec<&Posting> {
    let Some(owner) = owner_of(record, time, id) else { return record.postings.iter().collect() };
    let own = |posting: &Posting| {
        let row = posting.row.as_deref();
        let subject = row.and_then(|row| row.subject).map(|subject| subject.id);
        posting.ledger == Ledger::Seller(owner)
            || subject == Some(owner)
            || row.and_then(|row| row.chargeback) == Some(owner)
    };
    let of_others = record
        .postings
        .iter()
        .any(|posting| posting.row.as_ref().is_some_and(|row| row.subject.is_some()) && !own(posting));
    if of_others {
        record.postings.iter().filter(|posting| own(posting)).collect()
    } else {
        record.postings.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::contains;

    #[test]
    fn bytes_are_found_wherever_they_are() {
        assert!(contains(b"aababc", b"abc") && contains(b"abc", b"abc") && contains(b"xxabc", b"abc"));
        assert!(!contains(b"ababab", b"abc") && !contains(b"", b"abc") && !contains(b"ab", b"abc"));
    }
}
