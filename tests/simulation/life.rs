//! A life of the server, from its start to its end, as its callers see it.

use crate::acts::{Made, What};
use crate::agents::{AGENTS, Bounds, Call};
use crate::bank::Bank;
use crate::prices::{Feed, Says};
use crate::witness::Witness;
use actors::{CommandReply, Engine, Failure, Machine};
use domain::entities::Entity;
use domain::entities::payment::{Payment, REQUEST_OTP};
use domain::index::{self, Space};
use domain::machine::Command;
use domain::platform::mandate::Mandate;
use domain::values::ids::{EntityId, Id, Kind, is_live};
use domain::values::money::{Currency, Rate};
use domain::values::time::Timestamp;
use domain::values::venezuela::MobilePhone;
use pasarela::gateway::names::{Held, Reservations};
use pasarela::rates::{Market, RateBoard};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// The knowledge of the server's callers, which outlives the server.
pub struct Memory {
    ids: u64,
    phones: u32,
    settings: u64,
    pub made: Vec<Made>,
    /// The mandates of the agents' keys.
    pub mandates: [Arc<Mandate>; AGENTS],
    /// The calls that had to wait, with their approvals.
    pub waiting: Vec<(Id, Call)>,
    /// The answers: sequence, tenant, the record's bytes.
    pub answered: Vec<(u64, u64, Vec<u8>)>,
    /// The feed of the market's prices.
    pub feed: Feed,
    /// The things that must not have happened.
    pub complaints: Vec<String>,
}

impl Memory {
    pub fn new(now_ms: i64) -> Memory {
        Memory {
            ids: 0,
            phones: 0,
            settings: 0,
            made: Vec::new(),
            mandates: std::array::from_fn(|agent| Bounds::FIRST.of(agent)),
            waiting: Vec::new(),
            answered: Vec::new(),
            feed: Feed::new(now_ms),
            complaints: Vec::new(),
        }
    }

    /// What a rehearsal of somebody's call must not change: names that it gave, and what it was answered.
    pub fn mark(&self) -> impl FnOnce(&mut Memory) + use<> {
        let Memory { ids, phones, settings, .. } = *self;
        let (made, answered, complaints) = (self.made.len(), self.answered.len(), self.complaints.len());
        let (mandates, waiting) = (self.mandates.clone(), self.waiting.len());
        move |memory| {
            (memory.ids, memory.phones, memory.settings) = (ids, phones, settings);
            memory.made.truncate(made);
            memory.mandates = mandates;
            memory.waiting.truncate(waiting);
            memory.answered.truncate(answered);
            memory.complaints.truncate(complaints);
        }
    }

    /// Sees whether a price that decides is one that may.
    pub fn check_price(&mut self, currency: Currency, got: Option<Rate>, now_ms: i64) {
        self.complaints.extend(self.feed.check(currency, got, now_ms).err());
    }
}

/// A server that runs.
pub struct Life {
    pub engine: Engine<Witness>,
    pub bank: Bank,
    pub market: Market,
    pub board: Arc<RateBoard>,
    pub memory: Arc<Mutex<Memory>>,
    /// The number of test clocks that are advancing.
    pub jumps: AtomicU64,
    /// The references that requests work under.
    pub names: Arc<Reservations>,
}

impl Life {
    pub fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().expect("nobody panics with the memory")
    }

    pub fn complain(&self, what: String) {
        self.memory().complaints.push(what);
    }

    /// The machine's clock, as it is believed.
    pub fn wall_ms(&self) -> i64 {
        self.engine.clock.wall_ms()
    }

    /// A name that nothing has.
    pub fn id(&self) -> Id {
        let now_ms = self.wall_ms();
        let mut memory = self.memory();
        memory.ids += 1;
        Id::derived(now_ms, memory.ids, 7)
    }

    /// The name of something that is about to be asked for.
    pub fn fresh(&self, tenant: u64, kind: Kind, what: What) -> EntityId {
        let id = EntityId { kind, id: self.id() };
        self.memory().made.push(Made { tenant, id, what });
        id
    }

    /// A phone that nobody has.
    pub fn phone(&self) -> MobilePhone {
        let mut memory = self.memory();
        memory.phones += 1;
        MobilePhone::parse(&format!("0414{:07}", memory.phones)).expect("a phone")
    }

    /// The next version of settings.
    pub fn version(&self) -> u64 {
        let mut memory = self.memory();
        memory.settings += 1;
        memory.settings
    }

    /// Has the feed say a price.
    pub fn feed(&self, is_pesos: bool, says: Says) {
        let now_ms = self.wall_ms();
        self.memory().feed.say(&self.board, is_pesos, says, now_ms);
    }

    /// The entities that were asked for so far.
    pub fn made(&self, tenant: u64, wanted: impl Fn(&Made) -> bool) -> Vec<Made> {
        let memory = self.memory();
        memory.made.iter().filter(|made| made.tenant == tenant && wanted(made)).cloned().collect()
    }

    /// Asks an entity, and sees that what is answered can be read.
    pub async fn ask(
        &self,
        tenant: u64,
        id: EntityId,
        new: bool,
        command: impl Into<Command>,
    ) -> Option<Box<actors::Settled<Witness>>> {
        let outcome = self.engine.ask_entity(tenant, id, new, command.into().into(), None, None).await;
        self.answered(tenant, Some(id), outcome)
    }

    /// Asks an entity while a reference is reserved, until the first record is durable.
    pub async fn ask_under(
        &self,
        held: Held,
        tenant: u64,
        id: EntityId,
        new: bool,
        command: impl Into<Command>,
    ) -> Option<Box<actors::Settled<Witness>>> {
        let held = Some(Box::new(held) as actors::Guard);
        let outcome = self.engine.ask_entity(tenant, id, new, command.into().into(), held, None).await;
        self.answered(tenant, Some(id), outcome)
    }

    /// The newest durable payment on a reference.
    pub fn newest_on(&self, tenant: u64, reference: &str) -> Option<Payment> {
        let key = index::name(tenant, Space::Payment, reference);
        let id = self.engine.reader().index_get(&key).expect("the index can be read")?;
        let id = Id::from_bytes(id.as_slice().try_into().expect("an id"));
        match self.read(tenant, EntityId::payment(id)).as_deref() {
            Some(Entity::Payment(payment)) => Some(payment.clone()),
            other => panic!("{reference} names {other:?}"),
        }
    }

    /// Keeps an answer in mind.
    pub fn answered(
        &self,
        tenant: u64,
        id: Option<EntityId>,
        outcome: CommandReply<Witness>,
    ) -> Option<Box<actors::Settled<Witness>>> {
        let settled = match outcome {
            Ok(settled) => settled,
            // The process is about to end; after a storage failure it is unknown whether the
            // command was carried out.
            Err(Failure::Storage(_) | Failure::ShuttingDown) => return None,
            Err(failure) => {
                self.complain(format!("{id:?} was answered {failure:?}"));
                return None;
            }
        };
        if let (Some(seq), Some(record)) = (settled.seq, &settled.record) {
            let bytes = self.engine.machine().encode(record);
            self.memory().answered.push((seq, tenant, bytes));
            if let (Some(id), Some(shown)) = (id, record.entities.first().map(|written| written.state.id()))
                && id == shown
                && !self.shows(tenant, id, seq)
            {
                self.complain(format!(
                    "{id:?} was answered at {seq} and is read at {:?}",
                    self.newest(tenant, id)
                ));
            }
        }
        Some(settled)
    }

    /// Whether an entity is read as it was at a record, or as a later one left it. An answer that
    /// waited for a bank may come after a request that deleted the entity meanwhile.
    fn shows(&self, tenant: u64, id: EntityId, seq: u64) -> bool {
        let Some(newest) = self.newest(tenant, id) else { return self.is_removed_after(tenant, id, seq) };
        newest >= seq
    }

    fn is_removed_after(&self, tenant: u64, id: EntityId, seq: u64) -> bool {
        self.engine.reader().records(seq + 1, None).any(|stored| {
            let stored = stored.expect("the log is whole");
            let record = self.engine.machine().decode(&stored.payload).expect("a record can be decoded");
            stored.tenant == tenant && record.removed.iter().any(|(removed, _)| *removed == id)
        })
    }

    /// The sequence of the record with an entity's newest state.
    fn newest(&self, tenant: u64, id: EntityId) -> Option<u64> {
        let key = self.engine.machine().entity_key(tenant, id);
        let seq = self.engine.reader().index_get(&key).expect("the index can be read")?;
        Some(u64::from_be_bytes(seq.as_slice().try_into().expect("a sequence")))
    }

    /// The newest durable state of an entity.
    pub fn read(&self, tenant: u64, id: EntityId) -> Option<Arc<Entity>> {
        let seq = self.newest(tenant, id)?;
        let stored = self.engine.reader().record(seq).expect("a record can be read")?;
        let record = self.engine.machine().decode(&stored.payload).expect("a record can be decoded");
        self.engine.machine().entity_in(&record, id)
    }

    /// Looks at a book, and returns its clock.
    pub async fn look(&self, tenant: u64) -> Option<Timestamp> {
        match self.engine.view(tenant).await {
            Ok((_, now_ms)) => Some(Timestamp::from_unix_ms(now_ms)),
            Err(Failure::Storage(_) | Failure::ShuttingDown) => None,
            Err(failure) => {
                self.complain(format!("the book of {tenant} was asked and answered {failure:?}"));
                None
            }
        }
    }

    /// Checks that the bank was told to send the code that the payer waits for, unless the payment
    /// has gone on meanwhile.
    pub async fn promised_code(&self, tenant: u64, id: EntityId) {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        let waits = matches!(self.read(tenant, id).as_deref(), Some(Entity::Payment(payment)) if payment.awaits_otp());
        if waits && self.bank.sent(id.id.operation(REQUEST_OTP)) == 0 && self.engine.ready().is_ok() {
            self.complain(format!("the payer of {id:?} waits for a code that no bank was told to send"));
        }
    }

    /// Advances a test clock, which may be refused only for where it would get to. Live clocks do
    /// not advance.
    pub async fn jump(&self, tenant: u64, ms: i64) {
        if is_live(tenant) {
            return;
        }
        self.jumps.fetch_add(1, Ordering::Relaxed);
        let outcome = self.engine.advance(tenant, ms, Command::MoveClock.into(), None).await;
        self.jumps.fetch_sub(1, Ordering::Relaxed);
        match outcome {
            Ok(settled) => {
                let end = Timestamp::CLOCKS_END.unix_ms();
                if settled.refusal.is_some() && settled.time_ms + ms < end {
                    self.complain(format!("a clock at {} was not moved by {ms} ms", settled.time_ms));
                }
                if settled.refusal.is_none() && settled.time_ms >= end {
                    self.complain(format!("a clock was moved to {}, beyond its end", settled.time_ms));
                }
                self.answered(tenant, None, Ok(settled));
            }
            outcome => drop(self.answered(tenant, None, outcome)),
        }
    }
}
