//! The pure rules that the engine hosts, over a book and its entities: no I/O, clock, randomness or
//! async. [`Effects`] is the outside world, which is not pure.

use std::error::Error;
use std::fmt::Debug;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::Arc;
use wal::IndexOps;

/// Before any record, in milliseconds since 1970.
pub const LONG_AGO_MS: i64 = i64::MIN / 4;

/// `decide` may refuse and changes nothing. `evolve` may not fail: replay is `evolve` over the log,
/// with the code that ran live.
pub trait Machine: Send + Sync + 'static {
    type EntityId: Copy + Eq + Hash + Debug + Send + Sync + 'static;
    type Entity: Send + Sync + 'static;
    /// The state of one tenant, in memory. Clones are made in its turn, for whoever asks and for a snapshot: one
    /// of a large book must not take longer than a small one's, by sharing what does not change.
    type Book: Clone + Send + 'static;
    type Command: Send + 'static;
    type Record: Send + Sync + 'static;
    type Refusal: Send + Sync + 'static;
    type Effect: Send + 'static;
    type Breach: Error + Send + Sync + 'static;
    type Undecodable: Error + Send + Sync + 'static;

    /// A doubt about the book ends the engine instead of halting it: the others can't go on without it.
    fn is_essential(&self, _tenant: u64) -> bool {
        false
    }

    /// Whether a tenant leaves a reserve of the capacity to tenants that do not yield.
    fn yields(&self, _tenant: u64) -> bool {
        false
    }

    fn empty(&self, tenant: u64) -> Self::Book;

    /// Deadlines of the book itself up to `now_ms`, such as the end of a hold, take effect.
    /// Deterministic in the book and the time, so replay needs no record of it.
    fn settle(&self, book: &mut Self::Book, now_ms: i64);

    /// A record may create further entities, but of those that are ever asked change only this one: the actors of others
    /// would not know.
    fn decide(
        &self,
        book: &Self::Book,
        entity: Option<&Self::Entity>,
        command: Self::Command,
        turn: Turn,
    ) -> Decision<Self::Record, Self::Refusal, Self::Effect>;

    fn evolve(&self, book: &mut Self::Book, record: &Self::Record, time_ms: i64);

    /// The error names the invariant that does not hold after `record`.
    fn check(&self, book: &Self::Book, record: &Self::Record) -> Result<(), Self::Breach>;

    /// `None` if the record has no state for the entity or removes it.
    fn entity_in(&self, record: &Self::Record, id: Self::EntityId) -> Option<Arc<Self::Entity>>;

    fn entities_in(&self, record: &Self::Record)
    -> impl Iterator<Item = (Self::EntityId, Arc<Self::Entity>)>;

    fn is_gone(&self, record: &Self::Record, id: Self::EntityId) -> bool;

    fn effect_target(&self, effect: &Self::Effect) -> Self::EntityId;

    /// By the target's newest state, which may have changed since the record.
    fn is_wanted(&self, _target: Option<&Self::Entity>, _effect: &Self::Effect) -> bool {
        true
    }

    /// A number that changes whenever the book begins anew, so that nothing is decided on the state of an
    /// entity of before.
    fn generation(&self, _book: &Self::Book) -> u64 {
        0
    }

    /// Whether a command asks that the book begins anew: that is decided at the server's clock, however far
    /// the tenant's is ahead.
    fn begins_anew(&self, _command: &Self::Command) -> bool {
        false
    }

    /// Given the book after the record; see [`Effects::durable`].
    fn is_awaited(&self, _book: &Self::Book, _record: &Self::Record) -> bool {
        false
    }

    /// With others that follow in the same turn, each about another entity ([`Machine::join`]).
    fn may_join(&self, _record: &Self::Record) -> bool {
        false
    }

    /// Adds what the next record says, which was decided and applied after it at the same instant;
    /// both may join. To apply the whole is the same as to apply one after the other.
    fn join(&self, record: &mut Self::Record, next: Self::Record);

    /// What who asks gets to see: the book as it is at `now_ms`, settled. A panic in it halts the book.
    fn view(&self, _tenant: u64, book: &Self::Book, _now_ms: i64) -> Self::Book {
        book.clone()
    }

    // The stored form of records and books, and the keys under which they are found again.

    fn encode(&self, record: &Self::Record) -> Vec<u8>;

    fn decode(&self, bytes: &[u8]) -> Result<Self::Record, Self::Undecodable>;

    fn index(&self, tenant: u64, time_ms: i64, record: &Self::Record, ops: &mut IndexOps);

    /// Where [`Machine::index`] keeps the sequence of the record with the entity's newest state.
    fn entity_key(&self, tenant: u64, id: Self::EntityId) -> Vec<u8>;

    /// The key under which [`Machine::index`] keeps the generation of a book that began anew, 8 bytes big
    /// endian; `None` for a tenant whose book never does.
    fn generation_key(&self, _tenant: u64) -> Option<Vec<u8>> {
        None
    }

    /// More commands are expected soon, so that the state is worth a place in the entity cache.
    fn is_open(&self, _entity: &Self::Entity) -> bool {
        false
    }

    /// Encoding the book takes too long for its turn: a clone is encoded beside its turns.
    fn is_large(&self, _book: &Self::Book) -> bool {
        false
    }

    fn save(&self, book: &Self::Book) -> Vec<u8>;

    fn restore(&self, tenant: u64, bytes: &[u8]) -> Result<Self::Book, Self::Undecodable>;

    /// Never less than the time of the tenant's last record.
    fn now_ms(&self, book: &Self::Book, wall_ms: i64) -> i64;

    /// When the tenant's clock will say `tenant_ms`.
    fn wall_ms(&self, book: &Self::Book, tenant_ms: i64) -> i64;

    fn may_reach(&self, _now_ms: i64) -> Result<(), Self::Refusal> {
        Ok(())
    }

    /// Of the book and its entity, without entities for which `skip` is true.
    fn next_due(
        &self,
        book: &Self::Book,
        skip: &dyn Fn(Self::EntityId) -> bool,
    ) -> Option<(i64, Self::EntityId)>;

    fn deadline(&self, id: Self::EntityId) -> Self::Command;
}

/// What a pure function cannot know by itself.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    pub tenant: u64,
    /// The tenant's clock, in milliseconds since the Unix epoch; never less than in the turn before.
    pub now_ms: i64,
    /// Random bits from which the ids of this turn are derived.
    pub seed: u64,
    /// The milliseconds by which `now_ms` is ahead of the tenant's clock while that advances; else
    /// 0. A record must move the clock by as much, so that it goes on from there should the advance
    /// break off.
    pub ahead_ms: i64,
}

/// What a rule says, from the rule itself to whoever asked.
pub struct Decision<Record, Refusal, Effect> {
    pub record: Option<Record>,
    /// With a record beside it, the refusal itself is what is kept.
    pub refusal: Option<Refusal>,
    pub effects: Vec<Effect>,
}

impl<Record, Refusal, Effect> Decision<Record, Refusal, Effect> {
    pub fn unchanged() -> Self {
        Self::effects(Vec::new())
    }

    /// Nothing changes: the record that the effects rest on was written before.
    pub fn effects(effects: Vec<Effect>) -> Self {
        Decision { record: None, refusal: None, effects }
    }

    pub fn write(record: Record) -> Self {
        Self::write_then(record, Vec::new())
    }

    pub fn write_then(record: Record, effects: Vec<Effect>) -> Self {
        Decision { record: Some(record), refusal: None, effects }
    }

    pub fn write_and_refuse(record: Record, refusal: impl Into<Refusal>) -> Self {
        Decision { record: Some(record), refusal: Some(refusal.into()), effects: Vec::new() }
    }

    pub fn refuse(refusal: impl Into<Refusal>) -> Self {
        Decision { record: None, refusal: Some(refusal.into()), effects: Vec::new() }
    }
}

/// The outside world. Results come back as commands to the effect's target.
pub trait Effects<M: Machine>: Send + Sync + 'static {
    /// Called only after the record that asked for the effect is durable.
    fn perform(&self, tenant: u64, effect: M::Effect) -> Pin<Box<dyn Future<Output = M::Command> + Send>>;

    /// A record that [`Machine::is_awaited`] is durable. Called in the order of the log and before
    /// the caller has its reply, by the log's writer or the ack task, behind which everything
    /// waits: it must not wait itself.
    fn durable(&self, _tenant: u64, _record: &M::Record) {}
}
