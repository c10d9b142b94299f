//! `pasarela wal inspect`, `explain` and `diff`: the records of the log, one line each, for people and for scripts.

use super::{LogSettings, end, open, print};
use crate::cli::Failure;
use crate::cli::progress::Shown;
use crate::recovery::Failed;
use crate::recovery::books::{Books, each_record};
use crate::recovery::directory::halted;
use crate::store::described::{amount, entity, kept, mode, owner, postings};
use crate::store::story::{may_speak_of, money_of, speaks_of};
use actors::Halted;
use clap::Args;
use domain::codec;
use domain::entities::Entity;
use domain::ledger::Ledger;
use domain::machine::AnyBook;
use domain::platform::PlatformChange;
use domain::record::Record;
use domain::resources::cop_payments::codes::{WrongCode, WrongCodes};
use domain::values::ids::{EntityId, Id, Mode, PLATFORM, tenant_key};
use domain::values::money::Currency;
use domain::values::time::Timestamp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use wal::Reader;

/// `money` are those of the record's postings that are to be shown.
fn line(stored: &wal::Record, record: &Record, money: &[String]) -> String {
    let (seq, time, tenant) = (stored.seq, Timestamp::from_unix_ms(stored.time_ms), stored.tenant);
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
    if let Some(act) = &record.audit {
        line.push_str(&format!("  by {act}"));
    }
    line
}

fn shown(as_json: bool, stored: &wal::Record, record: &Record, money: &[String]) -> String {
    if as_json { json(stored, record, money).to_string() } else { line(stored, record, money) }
}

pub(super) fn line_of(as_json: bool, stored: &wal::Record, record: &Record) -> String {
    shown(as_json, stored, record, &postings(&record.postings))
}

fn json(stored: &wal::Record, record: &Record, money: &[String]) -> Value {
    let (seq, time, tenant) = (stored.seq, Timestamp::from_unix_ms(stored.time_ms), stored.tenant);
    let events: Vec<&str> = record.events.iter().map(|event| event.kind.name()).collect();
    json!({
        "seq": seq, "time": time.to_string(), "tenant": tenant / 2, "mode": mode(tenant),
        "type": record.cause.name(), "entity": entity(record), "postings": money, "events": events,
        "kept": kept(record), "operator": record.audit.as_ref().map(ToString::to_string),
    })
}

/// Print records, one line each
///
/// Example: pasarela wal inspect --from 1000 --to 1100 --json
#[derive(Args, Debug)]
pub struct Inspect {
    #[command(flatten)]
    settings: LogSettings,
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
        let (_, reader) = open(&self.settings)?;
        let only = self.tenant.as_deref().map(|id| keys_of(&reader, id)).transpose()?;
        let mut out = io::BufWriter::new(io::stdout().lock());
        for stored in reader.records(self.from, self.to) {
            let stored = stored.map_err(Failed::from)?;
            if only.is_some_and(|keys| !keys.contains(&stored.tenant)) {
                continue;
            }
            let record: Record = codec::decode(&stored.payload)
                .map_err(|error| Failure::Other(format!("record {}: {error}", stored.seq)))?;
            let line = line_of(self.json, &stored, &record);
            if !print(&mut out, &line)? {
                return Ok(());
            }
        }
        end(out)
    }
}

pub(super) fn keys_of(reader: &Reader, id: &str) -> Result<[u64; 2], Failure> {
    let unknown = || Failure::Other(format!("there is no tenant {id} in this log"));
    let id = Id::parse(id).ok_or_else(unknown)?;
    let books = Books::after(reader, &[PLATFORM], reader.last_seq())?;
    let Some(AnyBook::Platform(platform)) = books.get(PLATFORM) else { return Err(unknown()) };
    let tenant = platform.tenants.values().find(|tenant| tenant.id == id).ok_or_else(unknown)?;
    Ok(Mode::ALL.map(|mode| tenant_key(tenant.number, mode)))
}

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
    settings: LogSettings,
    /// The id of the payment, payout or other object
    #[arg(value_name = "ID")]
    id: String,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub fn run(self) -> Result<(), Failure> {
        let id = Id::parse(self.id.trim()).ok_or_else(|| {
            Failure::Other(format!(
                "{}: is no id; ids look like 01930a4b-5c6d-7e8f-9012-3456789a0000",
                self.id
            ))
        })?;
        let (config, reader) = open(&self.settings)?;
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
            keys.extend(whose(&stored, &record, id));
            newest = (stored.seq, time);
            let money = money_of(&record, time, id);
            for posting in &money {
                *total.entry((owner(posting.ledger), posting.currency)).or_default() += posting.minor;
            }
            let wrong_code = match record.entity(EntityId::cop_payment(id)).map(|state| &**state) {
                Some(Entity::CopPayment(payment)) => codes.next(record.cause, payment),
                _ => None,
            };
            let line = self.line(&stored, &record, &postings(money), wrong_code);
            open = open && print(&mut out, &line).map_err(unwritten)?;
            Ok(())
        })?;
        drop(progress);
        if found == 0 {
            return Err(Failure::Other(format!("nothing in this log speaks of {id}")));
        }
        if open {
            print(&mut out, &self.sum(id, found, newest, &total))?;
        }
        for book in
            halted::read(&config.storage.path).into_iter().filter(|book| open && keys.contains(&book.tenant))
        {
            print(&mut out, &self.halted(&book))?;
        }
        end(out)
    }

    fn line(
        &self,
        stored: &wal::Record,
        record: &Record,
        money: &[String],
        wrong_code: Option<WrongCode>,
    ) -> String {
        let wrong_code = wrong_code.map(|wrong_code| wrong_code.to_string());
        if self.json {
            let mut shown = json(stored, record, money);
            shown["wrongCode"] = wrong_code.into();
            return shown.to_string();
        }
        let mut line = line(stored, record, money);
        line.extend(wrong_code.iter().flat_map(|wrong_code| ["  ", wrong_code]));
        line
    }

    fn sum(
        &self,
        id: Id,
        found: u64,
        newest: (wal::Seq, Timestamp),
        total: &BTreeMap<(String, Currency), i64>,
    ) -> String {
        let one = |((owner, currency), minor): (&(String, Currency), &i64)| {
            format!("{owner} {} {}", amount(*minor, *currency), currency.code())
        };
        let total: Vec<String> = total.iter().map(one).collect();
        if self.json {
            let (seq, time) = (newest.0, newest.1.to_string());
            let sum = json!({
                "seq": seq, "time": time, "type": "total", "entity": id.to_string(), "records": found, "postings": total,
            });
            return sum.to_string();
        }
        let money = if total.is_empty() {
            "no money moved".to_owned()
        } else {
            format!("in all {}", total.join(", "))
        };
        format!("{found} records; {money}")
    }

    fn halted(&self, Halted { tenant: tenant_key, since_ms, why }: &Halted) -> String {
        let since = Timestamp::from_unix_ms(*since_ms);
        if self.json {
            let halted =
                json!({ "type": "halted", "tenantKey": tenant_key, "since": since.to_string(), "why": why });
            return halted.to_string();
        }
        format!("the book of tenant key {tenant_key} is halted since {since}: {why}")
    }
}

/// Whose the record is and, of a tenant's own record, that tenant's.
fn whose(stored: &wal::Record, record: &Record, id: Id) -> Vec<u64> {
    let tenant = match record.platform.as_deref() {
        Some(
            PlatformChange::Tenant(tenant)
            | PlatformChange::Opened { tenant, .. }
            | PlatformChange::Moved { tenant, .. }
            | PlatformChange::TestAccountOpened { tenant, .. },
        ) if tenant.id == id => tenant,
        _ => return vec![stored.tenant],
    };
    Mode::ALL.map(|mode| tenant_key(tenant.number, mode)).to_vec()
}

/// Show which balances changed between two sequences, by how much, and which records changed them
///
/// The records after the first sequence up to the second, then each balance that is another one:
/// what it was, what it is, and the difference. What is held may also change by time passing.
///
/// Example: pasarela wal diff 1000 1100
#[derive(Args, Debug)]
pub struct Diff {
    #[command(flatten)]
    settings: LogSettings,
    /// The first sequence: the state after its record counts; 0 is the state before all records
    #[arg(value_name = "SEQ")]
    from: u64,
    /// The second sequence: the state after its record counts
    #[arg(value_name = "SEQ")]
    to: u64,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

/// In minor units.
type Balances = BTreeMap<(u64, Ledger, Currency), (i64, i64)>;

impl Diff {
    pub fn run(self) -> Result<(), Failure> {
        let (_, reader) = open(&self.settings)?;
        let (from, to) = (self.from, self.to);
        if from > to {
            return Err(Failure::Other(format!("{from} comes after {to}: name the earlier sequence first")));
        }
        if to > reader.last_seq() {
            return Err(Failure::Other(format!(
                "the log ends at sequence {}, before {to}",
                reader.last_seq()
            )));
        }
        let mut touched = BTreeSet::new();
        each_record(&reader, from + 1, to, |stored| {
            touched.insert(stored.tenant);
            Ok(())
        })?;
        let tenants: Vec<u64> = touched.into_iter().collect();
        let mut books = Books::after(&reader, &tenants, from)?;
        let before = balances(&books);
        let mut out = io::BufWriter::new(io::stdout().lock());
        let (mut records, mut open, mut newest) = (BTreeMap::<u64, u64>::new(), true, Timestamp::EPOCH);
        each_record(&reader, from + 1, to, |stored| {
            let record = books.apply(&stored)?;
            newest = Timestamp::from_unix_ms(stored.time_ms);
            if record.postings.is_empty() && record.holds.is_empty() {
                return Ok(());
            }
            *records.entry(stored.tenant).or_default() += 1;
            let line = line_of(self.json, &stored, &record);
            open = open && print(&mut out, &line).map_err(unwritten)?;
            Ok(())
        })?;
        let after = balances(&books);
        let mut changed = 0;
        for (account, is) in &after {
            let was = before.get(account).copied().unwrap_or_default();
            if was == *is {
                continue;
            }
            changed += 1;
            let line = self.balance(to, newest, *account, was, *is);
            open = open && print(&mut out, &line)?;
        }
        eprintln!("{changed} balances changed by {} records", records.values().sum::<u64>());
        end(out)
    }

    fn balance(
        &self,
        seq: u64,
        time: Timestamp,
        account: (u64, Ledger, Currency),
        was: (i64, i64),
        is: (i64, i64),
    ) -> String {
        let (tenant, ledger, currency) = account;
        let amount = |minor| amount(minor, currency);
        let parts = [("net", was.0, is.0), ("held", was.1, is.1)]
            .map(|(name, was, is)| (name, amount(was), amount(is), amount(is - was)));
        if self.json {
            let mut line = json!({
                "seq": seq, "time": time.to_string(), "type": "balance", "entity": owner(ledger),
                "tenant": tenant / 2, "mode": mode(tenant), "currency": currency.code(),
            });
            for (name, was, is, by) in parts {
                line[name] = json!({ "before": was, "after": is, "change": by });
            }
            return line.to_string();
        }
        let shown = parts
            .iter()
            .filter(|(_, was, is, _)| was != is)
            .map(|(name, was, is, by)| format!("{name} {was} -> {is} ({by})"));
        let shown: Vec<String> = shown.collect();
        format!(
            "balance  {:>6} {:<8}  {} {}  {}",
            tenant / 2,
            mode(tenant),
            owner(ledger),
            currency.code(),
            shown.join("  ")
        )
    }
}

fn unwritten(_: Failure) -> Failed {
    Failed::NotDone("stdout cannot be written".to_owned())
}

fn balances(books: &Books) -> Balances {
    let mut all = Balances::new();
    for (tenant, book) in books.iter() {
        let AnyBook::Tenant(book) = book else { continue };
        let mut note = |ledger, currency: &Currency, net, held| {
            all.insert((tenant, ledger, *currency), (net, held));
        };
        for (currency, account) in &book.accounts {
            note(Ledger::Tenant, currency, account.net, account.held);
        }
        for (id, seller) in &book.sellers {
            for (currency, account) in &seller.accounts {
                note(Ledger::Seller(*id), currency, account.net, account.held);
            }
        }
        for ((ledger, currency), net) in &book.counter {
            note(*ledger, currency, *net, 0);
        }
    }
    all
}
