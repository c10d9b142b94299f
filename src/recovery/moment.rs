//! A tenant as it was after a record: its balances, what was held, and what was open. Derived from its records alone,
//! each of which is checked on the way.

use super::Failed;
use super::books::{Books, each_record};
use super::rebuild::{last_until, log_ends};
use super::{Progress, now_ms};
use actors::{LONG_AGO_MS, Machine};
use api::balance;
use api::checkout::sessions;
use domain::cause::Cause;
use domain::entities::Entity;
use domain::entities::session::Session;
use domain::ledger::Release;
use domain::ledger::book::Book;
use domain::machine::{AnyBook, Domain};
use domain::record::Record;
use domain::resources::checkout::{Attempts, Status};
use domain::values::ids::{Id, Kind, Mode, PLATFORM};
use domain::values::time::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use wal::{Reader, Seq};

const PROGRESS_RECORDS: u64 = 1_024;
/// Sessions whose time is over are forgotten when there are twice as many as the last time, and not fewer than these.
const SWEEP_FROM: usize = 1_024;

/// How a moment of the log is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// After this record.
    Seq(Seq),
    /// After the last record that was written at this instant or before it, on the server's clock.
    Time(Timestamp),
}

impl When {
    pub fn parse(text: &str) -> Result<When, &'static str> {
        const EXPECTED: &str =
            "must be a sequence from 1, or a time as in RFC 3339, such as 2026-11-21T02:13:00Z";
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            let seq = text.parse().ok().filter(|seq| *seq > 0).ok_or(EXPECTED)?;
            return Ok(When::Seq(seq));
        }
        Timestamp::parse(text).map(When::Time).map_err(|_| EXPECTED)
    }

    /// The record after which the log is looked at.
    pub fn seq(self, reader: &Reader, progress: Progress<'_>) -> Result<Seq, Failed> {
        let last = reader.last_seq();
        match self {
            When::Seq(seq) if seq > last => Err(log_ends(last, seq)),
            When::Seq(seq) => Ok(seq),
            When::Time(time) if time.unix_ms() > now_ms() => {
                Err(Failed::NotDone(format!("{time} is still to come; the log ends at sequence {last}")))
            }
            When::Time(time) => last_until(reader, time, progress),
        }
    }
}

pub struct Moment {
    pub seq: Seq,
    /// That of the record, on the clock of its tenant.
    pub time: Timestamp,
    pub modes: Vec<ModeState>,
}

pub struct ModeState {
    pub mode: Mode,
    /// The tenant's clock at that instant.
    pub now: Timestamp,
    /// Settled at that instant.
    pub book: Box<Book>,
    /// What was open, as its endpoint shows it, by id.
    pub open: Vec<Vec<u8>>,
}

/// The clocks of tenants at the instant of a record.
pub struct Clocks {
    of_last: u64,
    time_ms: i64,
    wall_ms: i64,
}

impl Clocks {
    /// `books` are as the record left them; the platform's and that of whose it is are among them.
    pub fn of(books: &Books, last: &wal::Record) -> Clocks {
        let (of_last, time_ms) = (last.tenant, last.time_ms);
        // Of another tenant's record its own book knows how far its clock is ahead of the server's. One that came from
        // elsewhere has records that are older than the platform's by which it came.
        let wall_ms = books.get(of_last).map_or(time_ms, |book| books.machine.wall_ms(book, time_ms));
        let of_platform = books.get(PLATFORM).map(|book| books.machine.now_ms(book, LONG_AGO_MS));
        Clocks { of_last, time_ms, wall_ms: of_platform.map_or(wall_ms, |time_ms| wall_ms.max(time_ms)) }
    }

    /// That of the record, on the clock of its tenant.
    pub fn time(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.time_ms)
    }

    /// The clock of the book with this tenant key, as it was then.
    pub fn now_ms(&self, machine: &Domain, key: u64, book: &AnyBook) -> i64 {
        if key == self.of_last { self.time_ms } else { machine.now_ms(book, self.wall_ms) }
    }
}

/// The record with this sequence.
pub fn record(reader: &Reader, seq: Seq) -> Result<wal::Record, Failed> {
    let found = reader.records(seq, Some(seq)).next().transpose()?;
    found.ok_or_else(|| log_ends(reader.last_seq(), seq))
}

/// Each hold in force, the tenant's own first, as JSON.
pub fn holds(book: &Book) -> impl Iterator<Item = Vec<u8>> + '_ {
    let own = std::iter::once((None, &book.accounts));
    let sellers = book.sellers.iter().map(|(id, seller)| (Some(*id), &seller.accounts));
    own.chain(sellers).flat_map(|(merchant, accounts)| {
        accounts.iter().flat_map(move |(currency, account)| {
            let shown = move |((release, _), minor): (&(Release, _), &i64)| {
                balance::show_hold(merchant, *currency, *minor, release.instant())
            };
            account.holds.iter().map(shown)
        })
    })
}

/// `keys` are the tenant's, one for each mode.
pub fn tenant(reader: &Reader, keys: [u64; 2], seq: Seq, progress: Progress<'_>) -> Result<Moment, Failed> {
    let (mut books, mut open) = (Books::default(), keys.map(|_| Open::default()));
    each_record(reader, 1, seq, |stored| {
        if stored.seq.is_multiple_of(PROGRESS_RECORDS) {
            progress("replay", stored.seq, seq);
        }
        let Some(mode) = keys.iter().position(|key| *key == stored.tenant) else { return Ok(()) };
        let record = books.apply(&stored)?;
        open[mode].note(&record, Timestamp::from_unix_ms(stored.time_ms));
        Ok(())
    })?;
    let last = record(reader, seq)?;
    let clocks = Clocks::of(&Books::after(reader, &[PLATFORM, last.tenant], seq)?, &last);
    let mut modes = Vec::with_capacity(keys.len());
    for (key, open) in keys.into_iter().zip(open) {
        let book = books.get(key).cloned().unwrap_or_else(|| books.machine.empty(key));
        let now_ms = clocks.now_ms(&books.machine, key, &book);
        let AnyBook::Tenant(book) = books.at(key, now_ms) else { continue };
        let now = Timestamp::from_unix_ms(now_ms);
        modes.push(ModeState { mode: Mode::of(key), now, book, open: open.shown(now) });
    }
    Ok(Moment { seq, time: clocks.time(), modes })
}

/// What is open in one mode. Of sessions those that nobody has paid, with the attempts by which they stand.
#[derive(Default)]
struct Open {
    entities: BTreeMap<(Id, Kind), Arc<Entity>>,
    sessions: HashMap<Id, (Session, Attempts)>,
    swept: usize,
}

impl Open {
    fn note(&mut self, record: &Record, time: Timestamp) {
        if record.cause == Cause::TestReset {
            *self = Open::default();
        }
        for written in &record.entities {
            let id = written.state.id();
            if api::entity::is_open(&written.state) {
                self.entities.insert((id.id, id.kind), Arc::clone(&written.state));
            } else {
                self.entities.remove(&(id.id, id.kind));
            }
            self.note_attempt(&written.state, time);
        }
        for (id, _) in &record.removed {
            self.entities.remove(&(id.id, id.kind));
        }
        if self.sessions.len() > SWEEP_FROM.max(self.swept * 2) {
            self.sessions
                .retain(|_, (session, attempts)| attempts.standing(session, time) != Status::Expired);
            self.swept = self.sessions.len();
        }
    }

    fn note_attempt(&mut self, state: &Entity, time: Timestamp) {
        if let Entity::Session(session) = state {
            let opened = || (session.clone(), Attempts::default());
            self.sessions.entry(session.id).or_insert_with(opened).0 = session.clone();
        }
        let Some(session) = session_of(state) else { return };
        let Some((opened, attempts)) = self.sessions.get_mut(&session) else { return };
        match state {
            // An older attempt is over when a newer one begins.
            Entity::Payment(payment)
                if attempts.bolivares.as_ref().is_none_or(|newest| newest.id <= payment.id) =>
            {
                attempts.bolivares = Some(payment.clone());
            }
            Entity::CopPayment(payment)
                if attempts.cop.as_ref().is_none_or(|newest| newest.id <= payment.id) =>
            {
                attempts.cop = Some(payment.clone());
            }
            Entity::DepositAddress(address) => attempts.usdt = Some(address.clone()),
            _ => {}
        }
        if matches!(attempts.standing(opened, time), Status::Paid(_)) {
            self.sessions.remove(&session);
        }
    }

    fn shown(self, now: Timestamp) -> Vec<Vec<u8>> {
        let entities =
            self.entities.into_iter().filter_map(|((id, _), state)| Some((id, api::entity::show(&state)?)));
        let sessions = self.sessions.into_iter().filter_map(|(id, (session, attempts))| {
            let status = attempts.standing(&session, now);
            let is_open = matches!(status, Status::Open | Status::Processing);
            is_open.then(|| (id, sessions::show(&session, status)))
        });
        let mut open: Vec<(Id, Vec<u8>)> = entities.chain(sessions).collect();
        open.sort_by_key(|(id, _)| *id);
        open.into_iter().map(|(_, shown)| shown).collect()
    }
}

/// The session that something is an attempt to pay.
pub fn session_of(state: &Entity) -> Option<Id> {
    match state {
        Entity::Payment(payment) => Some(payment.checkout.as_deref()?.session),
        Entity::CopPayment(payment) => Some(payment.checkout.as_deref()?.sale.session),
        Entity::DepositAddress(address) => Some(address.till.as_deref()?.sale.session),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_sequence_or_a_time() {
        assert_eq!(When::parse("17"), Ok(When::Seq(17)));
        let time = Timestamp::parse("2026-11-21T02:13:00Z").expect("a time");
        for text in ["2026-11-21T02:13:00Z", "2026-11-20T22:13:00.000-04:00"] {
            assert_eq!(When::parse(text), Ok(When::Time(time)), "{text}");
        }
        for text in ["", "0", "-1", "+1", "1.5", "99999999999999999999999", "2026-11-21", "yesterday"] {
            assert!(When::parse(text).is_err(), "{text:?}");
        }
    }
}
