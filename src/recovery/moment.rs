//! A tenant as it was after a record: its balances, what was held, and what was open. Derived from its records alone,
//! each of which is checked on the way.

use super::Failed;
use super::books::{Books, each_record};
use super::rebuild::{last_until, log_ends};
use super::{Progress, now_ms};
use actors::Machine;
use api::checkout::sessions;
use domain::cause::Cause;
use domain::entities::Entity;
use domain::entities::session::Session;
use domain::ledger::book::Book;
use domain::machine::AnyBook;
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

/// `keys` are the tenant's, one for each mode.
pub fn tenant(reader: &Reader, keys: [u64; 2], seq: Seq, progress: Progress<'_>) -> Result<Moment, Failed> {
    let (mut books, mut open) = (Books::default(), keys.map(|_| Open::default()));
    let (mut time_ms, mut wall_ms, mut platform_ms) = (0, None, i64::MIN);
    let mut of_last = PLATFORM;
    each_record(reader, 1, seq, |stored| {
        if stored.seq.is_multiple_of(PROGRESS_RECORDS) {
            progress("replay", stored.seq, seq);
        }
        (time_ms, of_last) = (stored.time_ms, stored.tenant);
        if stored.tenant == PLATFORM {
            platform_ms = platform_ms.max(stored.time_ms);
        }
        let Some(mode) = keys.iter().position(|key| *key == stored.tenant) else { return Ok(()) };
        let record = books.apply(&stored)?;
        open[mode].note(&record, Timestamp::from_unix_ms(stored.time_ms));
        if stored.seq == seq {
            wall_ms = books.get(stored.tenant).map(|book| books.machine.wall_ms(book, stored.time_ms));
        }
        Ok(())
    })?;
    // Of another tenant's record its own book knows how far its clock is ahead of the server's.
    let wall_ms = match wall_ms {
        Some(wall_ms) => wall_ms,
        None => {
            let others = Books::after(reader, &[of_last], seq)?;
            let book = others.get(of_last);
            book.map_or(time_ms, |book| others.machine.wall_ms(book, time_ms)).max(platform_ms)
        }
    };
    let mut modes = Vec::with_capacity(keys.len());
    for (key, open) in keys.into_iter().zip(open) {
        let book = books.get(key).cloned().unwrap_or_else(|| books.machine.empty(key));
        let now_ms = if key == of_last { time_ms } else { books.machine.now_ms(&book, wall_ms) };
        let AnyBook::Tenant(book) = books.at(key, now_ms) else { continue };
        let now = Timestamp::from_unix_ms(now_ms);
        modes.push(ModeState { mode: Mode::of(key), now, book, open: open.shown(now) });
    }
    Ok(Moment { seq, time: Timestamp::from_unix_ms(time_ms), modes })
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
        let session = match state {
            Entity::Session(session) => {
                let opened = || (session.clone(), Attempts::default());
                self.sessions.entry(session.id).or_insert_with(opened).0 = session.clone();
                return;
            }
            Entity::Payment(payment) => payment.checkout.as_deref().map(|sale| sale.session),
            Entity::CopPayment(payment) => payment.checkout.as_deref().map(|checkout| checkout.sale.session),
            Entity::DepositAddress(address) => address.till.as_deref().map(|till| till.sale.session),
            _ => None,
        };
        let Some(session) = session else { return };
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
