//! The machine: pure functions over a book and its entities. No I/O, clock, randomness or
//! async in here.

use std::fmt::Debug;
use std::future::Future;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::Arc;
use wal::IndexOps;

/// The inputs of a decision from the host: everything that a pure function cannot know by itself.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// The tenant key of the book.
    pub tenant: u64,
    /// The tenant's clock, milliseconds since the epoch; never less than in the turn before.
    pub now_ms: i64,
    /// Random bits from which the ids of this turn are derived.
    pub seed: u64,
    /// While the tenant's clock advances, how far `now_ms` is ahead of what its clock says by
    /// itself; else 0. A record must move the clock by as much, so that it goes on from there
    /// should the advance break off.
    pub ahead_ms: i64,
}

/// The result of `decide`.
pub struct Decision<M: Machine + ?Sized> {
    /// The record to write; `None` when nothing changes.
    pub record: Option<Arc<M::Record>>,
    /// The refusal, if a rule said no. With a record beside it, the refusal itself is what is kept.
    pub refusal: Option<M::Refusal>,
    /// The effects to ask of the outside world once the record is durable.
    pub effects: Vec<M::Effect>,
}

impl<M: Machine + ?Sized> Decision<M> {
    /// A decision that changes nothing; the reply is the entity as it is.
    pub fn unchanged() -> Self {
        Decision { record: None, refusal: None, effects: Vec::new() }
    }

    /// A decision to write this record, without effects.
    pub fn write(record: M::Record) -> Self {
        Decision { record: Some(Arc::new(record)), refusal: None, effects: Vec::new() }
    }

    /// A decision to write this record, then to perform these effects.
    pub fn write_then(record: M::Record, effects: Vec<M::Effect>) -> Self {
        Decision { record: Some(Arc::new(record)), refusal: None, effects }
    }

    /// A decision that a rule refused.
    pub fn refuse(refusal: M::Refusal) -> Self {
        Decision { record: None, refusal: Some(refusal), effects: Vec::new() }
    }
}

/// The pure rules that the engine hosts.
///
/// `decide` may refuse and changes nothing. `evolve` may not fail: replay is `evolve` over the log,
/// with the code that ran live.
pub trait Machine: Send + Sync + 'static {
    /// The name of one entity within a tenant.
    type EntityId: Copy + Eq + Hash + Debug + Send + Sync + 'static;
    /// The state of one entity.
    type Entity: Send + Sync + 'static;
    /// The state of one tenant, in memory. A clone of a large one ([`Machine::is_large`]) is made
    /// in its turn, so it must not take longer than a small one's: by sharing what does not change.
    type Book: Clone + Send + 'static;
    /// A request to a book or an entity.
    type Command: Send + 'static;
    /// Everything that is written about one decision.
    type Record: Send + Sync + 'static;
    /// The reason why a rule said no.
    type Refusal: Send + Sync + 'static;
    /// A request to the outside world.
    type Effect: Send + 'static;
    /// A question to a book.
    type Query: Send + 'static;
    /// The answer to it.
    type View: Send + 'static;

    /// Whether the others can't go on without this tenant's book: then a book in doubt ends the
    /// engine instead of being halted.
    fn is_essential(&self, _tenant: u64) -> bool {
        false
    }

    /// Whether a tenant leaves a reserve of the capacity to those who don't.
    fn yields(&self, _tenant: u64) -> bool {
        false
    }

    /// The book of a tenant that has no record yet.
    fn empty(&self, tenant: u64) -> Self::Book;

    /// The tenant's clock when the machine's clock says `wall_ms`; never less than the time of the
    /// tenant's last record.
    fn now_ms(&self, book: &Self::Book, wall_ms: i64) -> i64;

    /// The wall time at which the tenant's clock will say `tenant_ms`.
    fn wall_ms(&self, book: &Self::Book, tenant_ms: i64) -> i64;

    /// Whether a clock may be moved to this instant; if not, why.
    fn may_reach(&self, _now_ms: i64) -> Result<(), Self::Refusal> {
        Ok(())
    }

    /// Lets time pass: what is due by itself at `now_ms` (a hold that ends) takes effect.
    /// Deterministic in the book and the time, so replay needs no record of it.
    fn settle(&self, book: &mut Self::Book, now_ms: i64);

    /// Decides what `command` makes of the book and the entity. A record may create other entities
    /// beside it, but change only this one: the actors of others would not know.
    fn decide(
        &self,
        book: &Self::Book,
        entity: Option<&Self::Entity>,
        command: Self::Command,
        turn: Turn,
    ) -> Decision<Self>;

    /// Applies a record to the book.
    fn evolve(&self, book: &mut Self::Book, record: &Self::Record, time_ms: i64);

    /// The invariants that must hold after `record`; the error names the one that does not.
    fn check(&self, book: &Self::Book, record: &Self::Record) -> Result<(), String>;

    /// The bytes of a record, for the log.
    fn encode(&self, record: &Self::Record) -> Vec<u8>;

    /// A record from its bytes.
    fn decode(&self, bytes: &[u8]) -> Result<Self::Record, String>;

    /// The index entries that belong to a record.
    fn index(&self, tenant: u64, time_ms: i64, record: &Self::Record, ops: &mut IndexOps);

    /// The key under which [`Machine::index`] keeps the sequence of the record with the entity's
    /// newest state.
    fn entity_key(&self, tenant: u64, id: Self::EntityId) -> Vec<u8>;

    /// The state that a record gives to an entity; `None` when it does not speak of it or removes
    /// it.
    fn entity_in(&self, record: &Self::Record, id: Self::EntityId) -> Option<Arc<Self::Entity>>;

    /// Every state that a record gives to an entity.
    fn entities_in(&self, record: &Self::Record)
    -> impl Iterator<Item = (Self::EntityId, Arc<Self::Entity>)>;

    /// Whether a command for an entity is soon to be expected, so that its state is worth a place
    /// in the entity cache while it is not active.
    fn is_open(&self, _entity: &Self::Entity) -> bool {
        false
    }

    /// Whether a record removes an entity.
    fn is_gone(&self, record: &Self::Record, id: Self::EntityId) -> bool;

    /// The entity that the result of an effect concerns.
    fn effect_target(&self, effect: &Self::Effect) -> Self::EntityId;

    /// Whether a follow-up effect is still to be performed, by the target's newest state. It may
    /// have moved on in between.
    fn is_wanted(&self, _target: Option<&Self::Entity>, _effect: &Self::Effect) -> bool {
        true
    }

    /// Whether the outside world waits to hear of such a record, given the book after it; see
    /// [`Effects::durable`].
    fn is_awaited(&self, _book: &Self::Book, _record: &Self::Record) -> bool {
        false
    }

    /// Whether encoding the book takes so long that its turn is not the place for it: then a clone
    /// is encoded beside its turns.
    fn is_large(&self, _book: &Self::Book) -> bool {
        false
    }

    /// The book as bytes, for a snapshot.
    fn save(&self, book: &Self::Book) -> Vec<u8>;

    /// A book from a snapshot.
    fn restore(&self, tenant: u64, bytes: &[u8]) -> Result<Self::Book, String>;

    /// The earliest deadline of the book and whose it is, skipping those that `skip` names.
    fn next_due(
        &self,
        book: &Self::Book,
        skip: &dyn Fn(Self::EntityId) -> bool,
    ) -> Option<(i64, Self::EntityId)>;

    /// The command for an entity whose deadline has come.
    fn deadline(&self, id: Self::EntityId) -> Self::Command;

    /// Answers a question from the book as it is at `now_ms`.
    fn view(&self, book: &Self::Book, query: Self::Query, now_ms: i64) -> Self::View;
}

/// The outside world: performs effects. The result comes back as a command to the effect's target.
pub trait Effects<M: Machine>: Send + Sync + 'static {
    /// Performs one effect and returns the command for its target. Called only after the record
    /// that asked for it is durable.
    fn perform(&self, tenant: u64, effect: M::Effect) -> Pin<Box<dyn Future<Output = M::Command> + Send>>;

    /// Hears that a record that [`Machine::is_awaited`] is durable. Called in the order of the log
    /// and before the caller has its reply, by the log's writer or the ack task, behind which
    /// everything waits: it must not wait itself.
    fn durable(&self, _tenant: u64, _record: &M::Record) {}
}
