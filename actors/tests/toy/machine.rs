//! The pure rules of purses.

use actors::{Decision, Machine, Turn};
use bincode::{Decode, Encode};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wal::IndexOps;

/// The way in which the outside world answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum How {
    /// An answer before the first wait.
    AtOnce(bool),
    /// An answer once the test opens the gate.
    Late(bool),
    /// An answer after a moment.
    Slow,
    /// No answer at all.
    Never,
    /// A panic before it has begun.
    Panics,
    /// A panic after a wait.
    PanicsLate,
    /// An answer at once, with a command that panics in `decide`.
    Explodes,
    /// An answer at once, with a command whose record breaks an invariant.
    Breaks,
}

/// A command of a purse or a transfer.
#[derive(Clone, Debug)]
pub enum Command {
    /// A deposit to a book, with a memo that makes the record as large as a test needs.
    Deposit { amount: i64, memo: Vec<u8> },
    /// A hold of a book's money, which comes back by itself after `for_ms`.
    Reserve { amount: i64, for_ms: i64 },
    /// A new transfer that takes the money, then asks the outside world. Without an answer the
    /// money falls back after `due_in_ms`.
    Withdraw { amount: i64, how: How, due_in_ms: i64 },
    /// A new transfer that ticks `times` times, every `every_ms`; each tick asks the outside world
    /// `how`.
    Tick { every_ms: i64, times: u32, how: Option<How> },
    /// A new transfer with a deadline that has the outside world tell another one.
    PokeLater { in_ms: i64, other: u32, how: How },
    /// A new transfer with a deadline that changes nothing when it comes, and asks the outside world
    /// `how`.
    Stubborn { in_ms: i64, how: Option<How> },
    /// Writes a record that does not speak of the transfer.
    Remark,
    /// Removes the transfer.
    Remove,
    /// Has the outside world tell another transfer.
    Poke { other: u32, how: How },
    /// Has the outside world tell other transfers.
    PokeAll { others: Vec<(u32, How)> },
    /// The outside world's answer to the withdrawal.
    Heard(bool),
    /// The outside world's answer to a poke.
    Poked,
    /// An answer to a poke after which the invariants do not hold.
    PokedBadly,
    /// The deadline has come.
    Deadline,
    /// The clock has moved.
    MoveClock,
    /// A defect in `decide`.
    PanicInDecide,
    /// A defect in `evolve`.
    PanicInEvolve,
    /// A record after which the invariants do not hold.
    Breach,
    /// A record after which the host's next question about deadlines meets a defect.
    Mine,
}

/// The reason why a rule said no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The balance does not suffice.
    Insufficient,
    /// The transfer is there, or is not, as it should be.
    WrongState,
}

/// The phase of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Phase {
    Pending,
    Done,
    Failed,
}

/// An entity.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Transfer {
    pub phase: Phase,
    pub amount: i64,
    pub due_ms: Option<i64>,
    pub every_ms: i64,
    pub times: u32,
    pub how: Option<How>,
    /// The transfer that its ticks are about, if not itself.
    pub other: Option<u32>,
    pub stubborn: bool,
    /// The instants of its records.
    pub stamps: Vec<i64>,
}

/// A record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Entry {
    pub id: Option<u32>,
    pub balance: i64,
    pub pending: i64,
    pub paid: i64,
    /// Amount and the instant at which it comes back.
    pub reserve: Option<(i64, i64)>,
    pub transfer: Option<Transfer>,
    pub removed: bool,
    pub advance_ms: i64,
    pub panics: bool,
    pub breach: bool,
    pub mined: bool,
    pub memo: Vec<u8>,
    /// What records say that joined this one.
    pub joined: Vec<(u32, Transfer)>,
}

/// A tenant's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Purse {
    pub balance: i64,
    pub pending: i64,
    pub paid: i64,
    pub records: u64,
    pub last_ms: i64,
    pub offset_ms: i64,
    pub reserves: BTreeSet<(i64, i64, u64)>,
    pub agenda: BTreeSet<(i64, u32)>,
    pub due: BTreeMap<u32, i64>,
    pub mined: bool,
}

/// A request to the outside world.
#[derive(Clone, Debug)]
pub struct Effect {
    pub id: u32,
    pub how: How,
    pub poke: bool,
}

/// A purse with so many reserves is saved beside its turns.
pub const LARGE_FROM: usize = 4;

/// The machine.
pub struct Purses;

const FORMAT: bincode::config::Configuration = bincode::config::standard();

fn to_bytes(value: impl Encode) -> Vec<u8> {
    bincode::encode_to_vec(value, FORMAT).expect("a toy has no state that cannot be written")
}

fn from_bytes<T: Decode<()>>(bytes: &[u8]) -> Result<T, String> {
    bincode::decode_from_slice(bytes, FORMAT).map(|(value, _)| value).map_err(|error| error.to_string())
}

/// What is wrong with bytes, or with a book.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Wrong(String);

impl Machine for Purses {
    type Breach = Wrong;
    type Undecodable = Wrong;
    type EntityId = u32;
    type Entity = Transfer;
    type Book = Purse;
    type Command = (u32, Command);
    type Record = Entry;
    type Refusal = Refusal;
    type Effect = Effect;

    fn is_essential(&self, tenant: u64) -> bool {
        tenant == 0
    }

    fn empty(&self, _tenant: u64) -> Purse {
        Purse::default()
    }

    fn settle(&self, book: &mut Purse, now_ms: i64) {
        while let Some(&(at_ms, amount, _)) = book.reserves.first()
            && at_ms <= now_ms
        {
            book.reserves.pop_first();
            book.balance += amount;
        }
    }

    fn decide(
        &self,
        book: &Purse,
        transfer: Option<&Transfer>,
        (id, command): (u32, Command),
        turn: Turn,
    ) -> Decision<Entry, Refusal, Effect> {
        let mut decision = rule(book, transfer, id, command, turn.now_ms);
        if let Some(entry) = &mut decision.record {
            entry.advance_ms = turn.ahead_ms;
        }
        decision
    }

    fn evolve(&self, book: &mut Purse, entry: &Entry, time_ms: i64) {
        assert!(!entry.panics, "a defect, on purpose");
        book.records += 1 + entry.joined.len() as u64;
        book.mined |= entry.mined;
        book.last_ms = time_ms;
        book.offset_ms += entry.advance_ms;
        book.balance += entry.balance;
        book.pending += entry.pending;
        book.paid += entry.paid;
        if let Some((amount, until_ms)) = entry.reserve {
            book.reserves.insert((until_ms, amount, book.records));
        }
        if let Some(id) = entry.id
            && (entry.transfer.is_some() || entry.removed)
        {
            schedule(book, id, entry.transfer.as_ref());
        }
        for (id, transfer) in &entry.joined {
            schedule(book, *id, Some(transfer));
        }
    }

    fn check(&self, book: &Purse, entry: &Entry) -> Result<(), Wrong> {
        if entry.breach || book.balance < 0 || book.pending < 0 {
            return Err(Wrong(format!("the balance is {}, {} pending", book.balance, book.pending)));
        }
        Ok(())
    }

    fn entity_in(&self, entry: &Entry, id: u32) -> Option<Arc<Transfer>> {
        self.entities_in(entry).find(|(other, _)| *other == id).map(|(_, transfer)| transfer)
    }

    fn entities_in(&self, entry: &Entry) -> impl Iterator<Item = (u32, Arc<Transfer>)> {
        let own = entry.id.zip(entry.transfer.clone());
        own.into_iter().chain(entry.joined.clone()).map(|(id, transfer)| (id, Arc::new(transfer)))
    }

    fn may_join(&self, entry: &Entry) -> bool {
        let own = Entry {
            id: entry.id,
            transfer: entry.transfer.clone(),
            breach: entry.breach,
            ..Entry::default()
        };
        entry.transfer.is_some() && *entry == own
    }

    fn join(&self, entry: &mut Entry, next: Entry) {
        entry.joined.extend(next.id.zip(next.transfer));
    }

    fn effect_target(&self, effect: &Effect) -> u32 {
        effect.id
    }

    fn is_gone(&self, entry: &Entry, id: u32) -> bool {
        entry.removed && entry.id == Some(id)
    }

    fn encode(&self, entry: &Entry) -> Vec<u8> {
        to_bytes(entry)
    }

    fn decode(&self, bytes: &[u8]) -> Result<Entry, Wrong> {
        from_bytes(bytes).map_err(Wrong)
    }

    fn index(&self, tenant: u64, _time_ms: i64, entry: &Entry, ops: &mut IndexOps) {
        let Some(id) = entry.id else { return };
        if entry.removed {
            ops.delete(&self.entity_key(tenant, id));
        } else if entry.transfer.is_some() {
            ops.put_seq(&self.entity_key(tenant, id));
        }
        for (id, _) in &entry.joined {
            ops.put_seq(&self.entity_key(tenant, *id));
        }
    }

    fn entity_key(&self, tenant: u64, id: u32) -> Vec<u8> {
        [&tenant.to_be_bytes()[..], &id.to_be_bytes()].concat()
    }

    fn is_large(&self, book: &Purse) -> bool {
        book.reserves.len() >= LARGE_FROM
    }

    fn save(&self, book: &Purse) -> Vec<u8> {
        to_bytes(book)
    }

    fn restore(&self, _tenant: u64, bytes: &[u8]) -> Result<Purse, Wrong> {
        from_bytes(bytes).map_err(Wrong)
    }

    fn is_open(&self, transfer: &Transfer) -> bool {
        // Some transfers are in the entity cache, others are read from the log again.
        transfer.amount % 3 == 1
    }

    fn now_ms(&self, book: &Purse, wall_ms: i64) -> i64 {
        book.last_ms.max(wall_ms.saturating_add(book.offset_ms))
    }

    fn wall_ms(&self, book: &Purse, tenant_ms: i64) -> i64 {
        tenant_ms.saturating_sub(book.offset_ms)
    }

    fn next_due(&self, book: &Purse, skip: &dyn Fn(u32) -> bool) -> Option<(i64, u32)> {
        assert!(!book.mined, "a defect, on purpose");
        book.agenda.iter().find(|(_, id)| !skip(*id)).copied()
    }

    fn deadline(&self, id: u32) -> (u32, Command) {
        (id, Command::Deadline)
    }
}

/// The rule that decides on each command.
fn rule(
    book: &Purse,
    transfer: Option<&Transfer>,
    id: u32,
    command: Command,
    now_ms: i64,
) -> Decision<Entry, Refusal, Effect> {
    let entry = Entry { id: Some(id), ..Entry::default() };
    match (command, transfer) {
        (Command::Deposit { amount, memo }, _) => {
            Decision::write(Entry { balance: amount, memo, ..Entry::default() })
        }
        (Command::Reserve { amount, .. } | Command::Withdraw { amount, .. }, None)
            if amount > book.balance =>
        {
            Decision::refuse(Refusal::Insufficient)
        }
        (Command::Reserve { amount, for_ms }, None) => Decision::write(Entry {
            balance: -amount,
            reserve: Some((amount, now_ms + for_ms)),
            ..Entry::default()
        }),
        (Command::Withdraw { amount, how, due_in_ms }, None) => {
            let transfer =
                Transfer { amount, due_ms: Some(now_ms + due_in_ms), how: Some(how), ..begun(now_ms) };
            let entry = Entry { balance: -amount, pending: amount, transfer: Some(transfer), ..entry };
            Decision::write_then(entry, vec![Effect { id, how, poke: false }])
        }
        (Command::Tick { every_ms, times, how }, None) => {
            let transfer =
                Transfer { due_ms: Some(now_ms + every_ms), every_ms, times, how, ..begun(now_ms) };
            Decision::write(Entry { transfer: Some(transfer), ..entry })
        }
        (Command::PokeLater { in_ms, other, how }, None) => {
            let transfer = Transfer {
                due_ms: Some(now_ms + in_ms),
                times: 1,
                how: Some(how),
                other: Some(other),
                ..begun(now_ms)
            };
            Decision::write(Entry { transfer: Some(transfer), ..entry })
        }
        (Command::Stubborn { in_ms, how }, None) => {
            let transfer = Transfer { due_ms: Some(now_ms + in_ms), stubborn: true, how, ..begun(now_ms) };
            Decision::write(Entry { transfer: Some(transfer), ..entry })
        }
        (Command::Remark, _) => Decision::write(entry),
        (Command::Remove, Some(_)) => Decision::write(Entry { removed: true, ..entry }),
        (Command::Poke { other, how }, _) => {
            Decision::write_then(entry, vec![Effect { id: other, how, poke: true }])
        }
        (Command::PokeAll { others }, _) => {
            let effect = |(id, how)| Effect { id, how, poke: true };
            Decision::write_then(entry, others.into_iter().map(effect).collect())
        }
        (Command::PokedBadly, _) => {
            Decision::write(Entry { transfer: Some(begun(now_ms)), breach: true, ..entry })
        }
        (Command::Poked, transfer) => {
            let transfer =
                transfer.cloned().map_or_else(|| begun(now_ms), |transfer| stamped(transfer, now_ms));
            Decision::write(Entry { transfer: Some(transfer), ..entry })
        }
        (Command::Heard(good), Some(transfer)) if transfer.phase == Phase::Pending => {
            Decision::write(heard(entry, transfer, good, now_ms))
        }
        (Command::Deadline, Some(transfer)) if transfer.phase == Phase::Pending => {
            deadline(entry, id, transfer, now_ms)
        }
        (Command::MoveClock, _) => Decision::write(Entry::default()),
        (Command::PanicInDecide, _) => panic!("a defect, on purpose"),
        (Command::PanicInEvolve, _) => Decision::write(Entry { panics: true, ..entry }),
        (Command::Breach, _) => Decision::write(Entry { breach: true, ..entry }),
        (Command::Mine, _) => Decision::write(Entry { mined: true, ..entry }),
        (Command::Deadline | Command::Heard(_), _) => Decision::unchanged(),
        _ => Decision::refuse(Refusal::WrongState),
    }
}

/// Puts the deadline of a transfer in the place of the one before.
fn schedule(book: &mut Purse, id: u32, transfer: Option<&Transfer>) {
    if let Some(before_ms) = book.due.remove(&id) {
        book.agenda.remove(&(before_ms, id));
    }
    if let Some(due_ms) = transfer.and_then(|transfer| transfer.due_ms) {
        book.due.insert(id, due_ms);
        book.agenda.insert((due_ms, id));
    }
}

fn begun(now_ms: i64) -> Transfer {
    Transfer {
        phase: Phase::Pending,
        amount: 0,
        due_ms: None,
        every_ms: 0,
        times: 0,
        how: None,
        other: None,
        stubborn: false,
        stamps: vec![now_ms],
    }
}

fn stamped(mut transfer: Transfer, now_ms: i64) -> Transfer {
    transfer.stamps.push(now_ms);
    transfer
}

/// A withdrawal is paid or falls back; a stubborn transfer gives in; a tick only leaves its stamp.
fn heard(entry: Entry, transfer: &Transfer, good: bool, now_ms: i64) -> Entry {
    let mut after = stamped(transfer.clone(), now_ms);
    if transfer.amount == 0 {
        after.due_ms = after.due_ms.filter(|_| !transfer.stubborn);
        return Entry { transfer: Some(after), ..entry };
    }
    after.phase = if good { Phase::Done } else { Phase::Failed };
    after.due_ms = None;
    let (balance, paid) = if good { (0, transfer.amount) } else { (transfer.amount, 0) };
    Entry { balance, paid, pending: -transfer.amount, transfer: Some(after), ..entry }
}

fn deadline(entry: Entry, id: u32, transfer: &Transfer, now_ms: i64) -> Decision<Entry, Refusal, Effect> {
    if transfer.due_ms.is_none_or(|due_ms| due_ms > now_ms) {
        return Decision::unchanged();
    }
    if transfer.stubborn {
        let effects = transfer.how.map(|how| Effect { id, how, poke: false });
        return Decision { effects: effects.into_iter().collect(), ..Decision::unchanged() };
    }
    if transfer.amount > 0 {
        return Decision::write(heard(entry, transfer, false, now_ms));
    }
    let mut after = stamped(transfer.clone(), now_ms);
    after.times -= 1;
    after.due_ms = (after.times > 0).then_some(now_ms + transfer.every_ms);
    let effects = transfer
        .how
        .map(|how| Effect { id: transfer.other.unwrap_or(id), how, poke: transfer.other.is_some() })
        .into_iter()
        .collect();
    if after.due_ms.is_none() && transfer.how.is_none() {
        after.phase = Phase::Done;
    }
    Decision::write_then(Entry { transfer: Some(after), ..entry }, effects)
}
