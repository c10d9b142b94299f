//! `pasarela wal explain`: everything that ever happened to one thing, in order, with its money.
//!
//! The log is searched for the bytes of the id: whatever a record says of it, as its own entity, as
//! the seller of a sale or the subject of a movement, is found, also when no index leads there.
//! Operations at a bank and the thing that they belong to share all but the last two bytes.

use super::super::{Failure, Settings};
use super::shown::{self, RecordPlace};
use crate::cli::progress::Shown;
use crate::recovery::Failed;
use crate::recovery::books::each_record;
use crate::recovery::directory::halted;
use crate::store::story::{may_speak_of, money_of, speaks_of};
use api::writer::{Object, text};
use clap::Args;
use domain::codec;
use domain::entities::Entity;
use domain::platform::PlatformChange;
use domain::record::Record;
use domain::resources::cop_payments::codes::{WrongCode, WrongCodes};
use domain::values::ids::{EntityId, Id};
use domain::values::mode::{Mode, tenant_key};
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
    /// The id of the payment, payout or other object
    #[arg(value_name = "ID")]
    id: String,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

impl Explain {
    /// Once, at the speed of reading the log.
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
        let mut codes = WrongCodes::default();
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
            let wrong_code = match record.entity(EntityId::cop_payment(id)).map(|state| &**state) {
                Some(Entity::CopPayment(payment)) => codes.next(record.cause, payment),
                _ => None,
            };
            let line = self.line(RecordPlace::from(&stored), &record, &shown::postings(money), wrong_code);
            open = open && super::print(&mut out, &line).map_err(|_| Failed::Stdout)?;
            Ok(())
        })?;
        drop(progress);
        if found == 0 {
            return Err(Failure::Other(format!("nothing in this log speaks of {id}")));
        }
        if open {
            super::print(&mut out, &self.sum(id, found, newest, &total))?;
        }
        for book in halted::read(&config.storage.path)
            .into_iter()
            .filter(|book| open && keys.contains(&book.tenant_key))
        {
            super::print(&mut out, &self.halted(&book))?;
        }
        super::end(out)
    }

    /// It may tell of a wrong code.
    fn line(
        &self,
        place: RecordPlace,
        record: &Record,
        money: &[String],
        wrong_code: Option<WrongCode>,
    ) -> Vec<u8> {
        let wrong_code = wrong_code.map(|wrong_code| wrong_code.to_string());
        if self.json {
            let shown = Object::reopened(shown::json(place, record, money));
            return shown.maybe_text("wrongCode", wrong_code).end();
        }
        let mut line = shown::line(place, record, money);
        line.extend(wrong_code.iter().flat_map(|wrong_code| ["  ", wrong_code]));
        line.into_bytes()
    }

    fn sum(
        &self,
        id: Id,
        found: u64,
        newest: (wal::Seq, Timestamp),
        total: &BTreeMap<(String, Currency), i64>,
    ) -> Vec<u8> {
        let one = |((owner, currency), minor): (&(String, Currency), &i64)| {
            format!("{owner} {} {}", shown::amount(*minor, *currency), currency.code())
        };
        let total: Vec<String> = total.iter().map(one).collect();
        if self.json {
            let sum = Object::new()
                .number("seq", newest.0)
                .plain("time", newest.1)
                .plain("type", "total")
                .plain("entity", id)
                .number("records", found);
            return sum.list("postings", total.iter().map(|sum| text(sum))).end();
        }
        let money = if total.is_empty() {
            "no money moved".to_owned()
        } else {
            format!("in all {}", total.join(", "))
        };
        format!("{found} records; {money}").into_bytes()
    }

    fn halted(&self, book: &halted::HaltedBook) -> Vec<u8> {
        if self.json {
            return Object::new()
                .plain("type", "halted")
                .number("tenantKey", book.tenant_key)
                .plain("since", book.since)
                .text("why", &book.why)
                .end();
        }
        let line = format!(
            "the book of tenant key {} is halted since {}: {}",
            book.tenant_key, book.since, book.why
        );
        line.into_bytes()
    }
}

/// Whose the record is and, of a tenant's own record, that tenant's.
fn keys_of(stored: &wal::Record, record: &Record, id: Id) -> Vec<u64> {
    let tenant = match record.platform.as_deref() {
        Some(PlatformChange::Tenant(tenant) | PlatformChange::Opened { tenant, .. }) if tenant.id == id => {
            tenant
        }
        _ => return vec![stored.tenant],
    };
    Mode::ALL.map(|mode| tenant_key(tenant.number, mode)).to_vec()
}
