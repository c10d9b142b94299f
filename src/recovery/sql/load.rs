//! The rows of the tables: what happened from the records, one by one; what there is from the last state of each thing,
//! which is kept in the database meanwhile; what is held from the books.

use super::tables::{Cell, Table, show_record};
use super::{Database, Wanted, failed};
use crate::recovery::books::{Books, each_record};
use crate::recovery::moment::{self, Clocks};
use crate::recovery::{Failed, Progress};
use actors::Machine;
use api::checkout::sessions;
use api::events::TenantMode;
use api::products::links;
use api::tenants::approvals;
use api::writer::Object;
use api::{balance, cop_payments, crypto, events, merchants, tenants, webhooks};
use domain::codec;
use domain::entities::Entity;
use domain::entities::session::Session;
use domain::events::Extra;
use domain::machine::AnyBook;
use domain::platform::PlatformBook;
use domain::record::Record;
use domain::resources::checkout::Attempts;
use domain::values::ids::{Id, Kind, Mode, PLATFORM, is_live, tenant_key};
use domain::values::time::Timestamp;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Statement, ToSql, params, params_from_iter};
use std::collections::HashMap;
use wal::{Damage, Reader, Seq};

const PROGRESS_RECORDS: u64 = 4_096;

/// Until everything is read. Tables of SQLite's own file for what is temporary.
const STATES: &str = "
    CREATE TEMP TABLE states (tenant INTEGER, kind INTEGER, id BLOB, state BLOB, PRIMARY KEY (tenant, kind, id))
        WITHOUT ROWID;
    CREATE TEMP TABLE attempts (tenant INTEGER, session BLOB, kind INTEGER, id BLOB, state BLOB,
        PRIMARY KEY (tenant, session, kind)) WITHOUT ROWID;
";
const WRITE: &str = "INSERT INTO states VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET state = excluded.state";
const REMOVE: &str = "DELETE FROM states WHERE tenant = ? AND kind = ? AND id = ?";
/// An older attempt is over when a newer one begins.
const ATTEMPT: &str = "INSERT INTO attempts VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET id = excluded.id, state = excluded.state WHERE excluded.id >= id";

/// Tables of what happened, which have a row for good.
const OF_RECORDS: [&str; 4] = ["records", "movements", "events", "deposits"];

/// The tables in which things of a kind are.
const fn tables_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Payment => &["payments"],
        Kind::CopPayment => &["payments", "cop_payments"],
        Kind::Payout | Kind::CopPayout => &["payouts"],
        Kind::CryptoPayout => &["crypto_payouts"],
        Kind::Merchant => &["merchants", "payout_methods"],
        Kind::Conversion => &["conversions"],
        Kind::Chargeback => &["chargebacks"],
        Kind::Product => &["products", "links"],
        Kind::Session => &["sessions"],
        Kind::Webhook => &["webhooks"],
        Kind::MandateApproval => &["approvals"],
        // Batches are their payouts; the others are steps of something.
        Kind::Batch | Kind::DepositAddress | Kind::Otp | Kind::OwnAccount | Kind::Notice | Kind::Approval => {
            &[]
        }
    }
}

/// A book's tenant, as rows say it, and its moment.
struct Owner {
    id: String,
    tenant: Id,
    mode: &'static str,
    now: Timestamp,
    /// The number of the first event since test data began anew: what was before is gone.
    begun_at: u64,
}

impl Owner {
    fn whose(&self) -> [&str; 2] {
        [&self.id, self.mode]
    }
}

impl Database {
    /// Loads the wanted tables with the state after the record `seq`, of one tenant or of all. `only` are the keys of
    /// that tenant, one for each mode.
    pub fn load(
        &self,
        reader: &Reader,
        only: Option<[u64; 2]>,
        seq: Seq,
        wanted: &Wanted,
        progress: Progress<'_>,
    ) -> Result<(), Failed> {
        let connection = &self.connection;
        self.room.check()?;
        let mut rows = Rows::new(connection, &self.tables, wanted)?;
        if rows.inserts.is_empty() || seq == 0 {
            return Ok(());
        }
        connection.execute_batch("BEGIN").map_err(failed)?;
        let mut owners = rows.load_books(reader, only, seq, progress)?;
        let is_of_records = OF_RECORDS.iter().any(|name| rows.wants(name));
        let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| rows.wants_kind(*kind)).collect();
        if is_of_records || !kinds.is_empty() {
            connection.execute_batch(STATES).map_err(failed)?;
            let mut states = States::new(connection, kinds, rows.wants("sessions"))?;
            each_record(reader, 1, seq, |stored| {
                if stored.seq.is_multiple_of(PROGRESS_RECORDS) {
                    self.room.check()?;
                    progress("load", stored.seq, seq);
                }
                if only.is_some_and(|keys| !keys.contains(&stored.tenant)) {
                    return Ok(());
                }
                let record: Record = codec::decode(&stored.payload)
                    .map_err(|error| Damage { seq: stored.seq, detail: error.to_string() })?;
                let owner = owners.entry(stored.tenant).or_insert_with(|| unknown(stored.tenant));
                rows.load_record(owner, &stored, &record)?;
                match record.first_event >= owner.begun_at {
                    true => states.note(stored.tenant, &record),
                    false => Ok(()),
                }
            })?;
            let of = states.count;
            drop(states);
            rows.load_states(connection, &owners, &mut |done| {
                progress("tables", done, of.max(done));
                self.room.check()
            })?;
            connection.execute_batch("DROP TABLE temp.states; DROP TABLE temp.attempts").map_err(failed)?;
        }
        drop(rows);
        connection.execute_batch("COMMIT").map_err(failed)
    }
}

/// Of a log that says nothing of its tenants, only their numbers.
fn unknown(key: u64) -> Owner {
    let is_platform = key == PLATFORM;
    let id = if is_platform { String::new() } else { (key / 2).to_string() };
    let mode = if is_platform { "" } else { Mode::of(key).name() };
    Owner { id, tenant: Id::from_bytes([0; 16]), mode, now: Timestamp::EPOCH, begun_at: 0 }
}

/// The statements that write rows of the wanted tables.
struct Rows<'d> {
    inserts: HashMap<&'static str, (&'d Table, Statement<'d>)>,
}

impl<'d> Rows<'d> {
    fn new(connection: &'d Connection, tables: &'d [Table], wanted: &Wanted) -> Result<Rows<'d>, Failed> {
        let wanted = tables.iter().filter(|table| wanted.0.contains(table.name));
        let insert = |table: &'d Table| Ok((table.name, (table, connection.prepare(&table.insert())?)));
        let inserts = wanted.map(insert).collect::<Result<_, rusqlite::Error>>().map_err(failed)?;
        Ok(Rows { inserts })
    }

    fn wants(&self, table: &str) -> bool {
        self.inserts.contains_key(table)
    }

    fn wants_kind(&self, kind: Kind) -> bool {
        tables_of(kind).iter().any(|table| self.wants(table))
    }

    fn add(&mut self, table: &str, whose: [&str; 2], shown: &[u8]) -> Result<(), Failed> {
        let Some((table, insert)) = self.inserts.get_mut(table) else { return Ok(()) };
        let cells = table.row(shown, whose).map_err(Failed::NotDone)?;
        insert.execute(params_from_iter(cells)).map_err(failed)?;
        Ok(())
    }

    /// What stands in books, and whose they are, by tenant key.
    fn load_books(
        &mut self,
        reader: &Reader,
        only: Option<[u64; 2]>,
        seq: Seq,
        progress: Progress<'_>,
    ) -> Result<HashMap<u64, Owner>, Failed> {
        let newest = Books::after(reader, &[PLATFORM], reader.last_seq())?;
        let last = moment::record(reader, seq)?;
        let mut keys = match only {
            Some(keys) => keys.to_vec(),
            None => keys_in(&newest).collect(),
        };
        keys.extend([PLATFORM, last.tenant]);
        keys.sort_unstable();
        keys.dedup();
        let mut books = Books::after_with_progress(reader, &keys, seq, progress)?;
        let clocks = Clocks::of(&books, &last);
        let platform = match books.books.remove(&PLATFORM) {
            Some(AnyBook::Platform(platform)) => platform,
            _ => PlatformBook::default(),
        };
        let mut owners = HashMap::new();
        for tenant in platform.tenants.values() {
            let id = tenant.id.to_string();
            let keys = Mode::ALL.map(|mode| tenant_key(tenant.number, mode));
            if only.is_some_and(|only| only != keys) {
                continue;
            }
            let asked_at = platform.live_asked.get(&tenant.number).copied();
            self.add("tenants", [&id, ""], &tenants::show_asking(tenant, asked_at))?;
            for key in keys {
                let book = books.books.remove(&key).unwrap_or_else(|| books.machine.empty(key));
                let now = Timestamp::from_unix_ms(clocks.now_ms(&books.machine, key, &book));
                let AnyBook::Tenant(mut book) = book else { continue };
                let (begun_at, mode) = (book.begun_at, Mode::of(key).name());
                if self.wants("holds") {
                    book.settle(now);
                    moment::holds(&book).try_for_each(|hold| self.add("holds", [&id, mode], &hold))?;
                }
                let owner = Owner { id: id.clone(), tenant: tenant.id, mode, now, begun_at };
                owners.insert(key, owner);
            }
        }
        for key in platform.keys.values() {
            if let Some(owner) = owners.get(&tenant_key(key.tenant, key.mode)) {
                self.add("keys", owner.whose(), &tenants::show_key(key, None))?;
            }
        }
        Ok(owners)
    }

    fn load_record(&mut self, owner: &Owner, stored: &wal::Record, record: &Record) -> Result<(), Failed> {
        let (time, whose, livemode) =
            (Timestamp::from_unix_ms(stored.time_ms), owner.whose(), is_live(stored.tenant));
        if self.wants("records") {
            self.add("records", whose, &show_record(stored.seq, time, record))?;
        }
        if record.first_event < owner.begun_at {
            return Ok(());
        }
        if self.wants("movements") {
            for n in 0..record.postings.len() {
                let shown = balance::movements::show_movement(livemode, record, time, n, owner.now);
                shown.map_or(Ok(()), |shown| self.add("movements", whose, &shown))?;
            }
        }
        for (n, event) in record.events.iter().enumerate() {
            if let Extra::Deposit(deposit) = &event.extra {
                self.add("deposits", whose, &crypto::show_deposit(deposit, time))?;
            }
            if self.wants("events") {
                let of = TenantMode { tenant: owner.tenant, livemode };
                let shown = events::show(record, time, n, of);
                shown.map_or(Ok(()), |shown| self.add("events", whose, &shown))?;
            }
        }
        Ok(())
    }

    fn load_states(
        &mut self,
        connection: &Connection,
        owners: &HashMap<u64, Owner>,
        look: &mut dyn FnMut(u64) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let mut states = connection.prepare("SELECT tenant, state FROM states").map_err(failed)?;
        let mut attempts = connection
            .prepare("SELECT state FROM attempts WHERE tenant = ? AND session = ? AND kind = ?")
            .map_err(failed)?;
        let mut found = states.query([]).map_err(failed)?;
        let mut done = 0;
        while let Some(row) = found.next().map_err(failed)? {
            done += 1;
            if u64::is_multiple_of(done, PROGRESS_RECORDS) {
                look(done)?;
            }
            let key = row.get::<_, i64>(0).map_err(failed)?.unsigned_abs();
            let Some(owner) = owners.get(&key) else { continue };
            let entity: Entity = codec::decode(row.get_ref(1).and_then(bytes).map_err(failed)?)?;
            if let Entity::Session(session) = &entity {
                let status = attempts_at(&mut attempts, key, session)?.standing(session, owner.now);
                self.add("sessions", owner.whose(), &sessions::show(session, status))?;
            }
            if let Entity::MandateApproval(approval) = &entity {
                let shown = approvals::show(approval, approval.status(owner.now), approvals::WHOLE);
                self.add("approvals", owner.whose(), &shown)?;
            }
            self.add_entity(owner.whose(), &entity)?;
        }
        Ok(())
    }

    fn add_entity(&mut self, whose: [&str; 2], entity: &Entity) -> Result<(), Failed> {
        match entity {
            Entity::Webhook(webhook) => return self.add("webhooks", whose, &webhooks::show(webhook)),
            Entity::CopPayment(payment) => self.add("cop_payments", whose, &cop_payments::show(payment))?,
            Entity::Merchant(merchant) if self.wants("payout_methods") => {
                for method in &merchant.methods {
                    let shown = Object::reopened(merchants::show_method(merchant, method));
                    self.add("payout_methods", whose, &shown.plain("merchantId", merchant.id).end())?;
                }
            }
            Entity::Product(product) if self.wants("links") => {
                for link in &product.links {
                    self.add("links", whose, &links::show(product, link))?;
                }
            }
            _ => {}
        }
        match (tables_of(entity.id().kind).first(), api::entity::show(entity)) {
            (Some(table), Some(shown)) => self.add(table, whose, &shown),
            // A quote that was not accepted is no conversion.
            _ => Ok(()),
        }
    }
}

fn keys_in(books: &Books) -> impl Iterator<Item = u64> + '_ {
    let platform = match books.get(PLATFORM) {
        Some(AnyBook::Platform(platform)) => Some(platform),
        _ => None,
    };
    let tenants = platform.into_iter().flat_map(|platform| platform.tenants.values());
    tenants.flat_map(|tenant| Mode::ALL.map(|mode| tenant_key(tenant.number, mode)))
}

fn bytes(value: ValueRef<'_>) -> Result<&[u8], rusqlite::Error> {
    Ok(value.as_blob()?)
}

/// The attempts to pay a session.
fn attempts_at(statement: &mut Statement<'_>, key: u64, session: &Session) -> Result<Attempts, Failed> {
    let mut attempts = Attempts::default();
    for kind in [Kind::Payment, Kind::CopPayment, Kind::DepositAddress] {
        let named = params![key.cast_signed(), session.id.as_bytes(), kind as u8];
        let state: Option<Vec<u8>> =
            statement.query_row(named, |row| row.get(0)).optional().map_err(failed)?;
        match state.map(|state| codec::decode::<Entity>(&state)).transpose()? {
            Some(Entity::Payment(payment)) => attempts.bolivares = Some(payment),
            Some(Entity::CopPayment(payment)) => attempts.cop = Some(payment),
            Some(Entity::DepositAddress(address)) => attempts.usdt = Some(address),
            _ => {}
        }
    }
    Ok(attempts)
}

/// The last state of each thing of the kinds that are wanted, and of the attempts to pay sessions.
struct States<'d> {
    kinds: Vec<Kind>,
    sessions: bool,
    write: Statement<'d>,
    remove: Statement<'d>,
    attempt: Statement<'d>,
    /// How many there are, at least.
    count: u64,
}

impl<'d> States<'d> {
    fn new(connection: &'d Connection, kinds: Vec<Kind>, sessions: bool) -> Result<States<'d>, Failed> {
        let prepared = |sql: &str| connection.prepare(sql).map_err(failed);
        let (write, remove, attempt) = (prepared(WRITE)?, prepared(REMOVE)?, prepared(ATTEMPT)?);
        Ok(States { kinds, sessions, write, remove, attempt, count: 0 })
    }

    fn note(&mut self, tenant: u64, record: &Record) -> Result<(), Failed> {
        let tenant = tenant.cast_signed();
        for written in &record.entities {
            let (state, id) = (&*written.state, written.state.id());
            let session = self.sessions.then(|| moment::session_of(state)).flatten();
            let is_wanted = self.kinds.contains(&id.kind);
            if !is_wanted && session.is_none() {
                continue;
            }
            let encoded = codec::encode_newest(state);
            if is_wanted {
                let row = params![tenant, id.kind as u8, id.id.as_bytes(), encoded];
                self.write.execute(row).map_err(failed)?;
                self.count += u64::from(written.indexed.is_none());
            }
            if let Some(session) = session {
                let row = params![tenant, session.as_bytes(), id.kind as u8, id.id.as_bytes(), encoded];
                self.attempt.execute(row).map_err(failed)?;
            }
        }
        for (id, _) in record.removed.iter().filter(|(id, _)| self.kinds.contains(&id.kind)) {
            let removed = self.remove.execute(params![tenant, id.kind as u8, id.id.as_bytes()]);
            self.count = self.count.saturating_sub(removed.map_err(failed)? as u64);
        }
        Ok(())
    }
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Cell::Null => ValueRef::Null,
            Cell::Integer(number) => ValueRef::Integer(*number),
            Cell::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}
