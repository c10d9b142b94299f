//! Rulings: the outcome of one resource's rule, which is a draft of a record, a refusal, effects.
//! The machine completes it.

use crate::events::{Event, EventKind, Extra};
use crate::kept::KeepRef;
use crate::ledger::{HoldChange, Posting};
use crate::platform::PlatformChange;
use crate::platform::audit::AuditEntry;
use crate::platform::settings::TenantSettings;
use crate::rail::{Availability, BankCall, Effect, Rails, Service};
use crate::record::{Cause, Entity, IndexedState, Written};
use crate::refusal::Refusal;
use crate::values::date::Date;
use crate::values::ids::{EntityId, Id};
use crate::values::money::Ves;
use crate::values::time::Timestamp;
use std::sync::Arc;

/// The turn of a command: the inputs of a rule besides the state.
pub struct Turn<'a> {
    pub now: Timestamp,
    /// Random bits from which ids are derived.
    pub seed: u64,
    /// Whether real money moves: true in live mode.
    pub livemode: bool,
    pub rails: &'a dyn Rails,
    pub holidays: &'a [Date],
}

impl Turn<'_> {
    /// The refusal of something that a rail would have to be called for at once, while that must
    /// not be called.
    pub fn may_order(&self, service: Service) -> Result<(), Refusal> {
        self.may(service, None)
    }

    /// The refusal of such a call to a bank, while that must not be made.
    pub fn may_call(&self, service: Service, call: BankCall) -> Result<(), Refusal> {
        self.may(service, Some(call))
    }

    fn may(&self, service: Service, call: Option<BankCall>) -> Result<(), Refusal> {
        match self.rails.availability(self.livemode, service, call) {
            Availability::Served => Ok(()),
            Availability::Unavailable { retry_after_seconds } => {
                Err(Refusal::RailUnavailable { retry_after_seconds })
            }
            Availability::NotConfigured => Err(Refusal::RailNotConfigured),
        }
    }

    /// The refusal of something that could wait for its rail.
    pub fn may_queue(&self, service: Service) -> Result<(), Refusal> {
        match self.rails.availability(self.livemode, service, None) {
            Availability::Served | Availability::Unavailable { .. } => Ok(()),
            Availability::NotConfigured => Err(Refusal::RailNotConfigured),
        }
    }

    /// The refusal of an amount that no rail can carry, which stands in `field`.
    pub fn carries(&self, service: Service, amount: Ves, field: &'static str) -> Result<(), Refusal> {
        match self.rails.amount_max(self.livemode, service) {
            Some(max) if amount > max => {
                Err(Refusal::Invalid { field, message: "is more than the bank can carry at once" })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The instant of the first look at an order that is sent now.
    pub fn first_look(&self) -> Timestamp {
        self.now.plus_ms(self.rails.polling(self.livemode).first_ms())
    }

    /// The instant of the look after the `looks`-th, which is now, at an order of then.
    pub fn next_look(&self, looks: u32, sent_at: Timestamp) -> Timestamp {
        let age_ms = self.now.since_ms(sent_at);
        self.now.plus_ms(self.rails.polling(self.livemode).pause_ms(looks, age_ms))
    }

    /// The beginning of an order that can wait: in live mode it waits for its turn, and in test
    /// mode it is sent.
    pub fn begins_queued(&self) -> bool {
        self.livemode
    }
}

pub struct Draft {
    /// The cause of the record, for people who read the log.
    pub cause: Cause,
    /// Postings of the double entry ([`crate::record::Record::postings`]).
    pub postings: Vec<Posting>,
    pub holds: Vec<HoldChange>,
    pub entities: Vec<Written>,
    /// Entities that are gone.
    pub removed: Vec<(EntityId, IndexedState)>,
    /// Names that are free again ([`crate::record::Record::freed`]).
    pub freed: Vec<String>,
    /// What the freed names lead to again ([`crate::record::Record::freed_to`]).
    pub freed_to: Option<Id>,
    pub events: Vec<Event>,
    /// A new version of what the book knows of its tenant.
    pub tenant_settings: Option<TenantSettings>,
    pub platform: Option<PlatformChange>,
    /// The answer that is kept, when it is not rendered from the record.
    pub answer: Option<(u16, Vec<u8>)>,
    /// Entities that the answer shows besides those written; the record does not write them.
    pub related: Vec<Arc<Entity>>,
    /// The kept answer that this record replaces.
    pub replaces_kept: Option<Arc<KeepRef>>,
    /// The refusal that the replaced answer shows, where what is decided on is not refused: an operator's
    /// word that a bank refused.
    pub refuses_kept: Option<Refusal>,
    /// The entry of the audit for an operator's earlier call, which this record carries out.
    pub audit: Option<Box<AuditEntry>>,
}

impl Draft {
    /// A draft without content.
    pub fn new(cause: Cause) -> Draft {
        Draft {
            cause,
            postings: Vec::new(),
            holds: Vec::new(),
            entities: Vec::new(),
            removed: Vec::new(),
            freed: Vec::new(),
            freed_to: None,
            events: Vec::new(),
            tenant_settings: None,
            platform: None,
            answer: None,
            related: Vec::new(),
            replaces_kept: None,
            refuses_kept: None,
            audit: None,
        }
    }

    /// Adds one side of the double entry; a posting of zero is left out (`docs/contract.md, 6.2`:
    /// no movement of 0.00).
    pub fn post(&mut self, posting: Posting) {
        if posting.minor != 0 {
            self.postings.push(posting);
        }
    }

    /// Changes a hold; a change of zero is left out.
    pub fn hold(&mut self, change: HoldChange) {
        if change.minor != 0 {
            self.holds.push(change);
        }
    }

    pub fn create(&mut self, entity: Entity) {
        self.entities.push(Written { state: Arc::new(entity), indexed: None });
    }

    /// Writes a new entity before those that came with it: the first is the one that the command
    /// was for.
    pub fn create_first(&mut self, entity: Entity) {
        self.entities.insert(0, Written { state: Arc::new(entity), indexed: None });
    }

    /// Writes a new state of an entity that is indexed as `indexed`.
    pub fn change(&mut self, indexed: impl Into<IndexedState>, entity: Entity) {
        self.entities.push(Written { state: Arc::new(entity), indexed: Some(indexed.into()) });
    }

    /// Removes an entity that is indexed as `indexed`.
    pub fn remove(&mut self, id: EntityId, indexed: impl Into<IndexedState>) {
        self.removed.push((id, indexed.into()));
    }

    /// Adds an event about `subject`.
    pub fn event(&mut self, kind: EventKind, subject: EntityId) {
        self.events.push(Event { kind, subject: Some(subject), extra: Extra::None });
    }

    /// Adds an event with data that the subject's state does not have.
    pub fn event_with(&mut self, kind: EventKind, subject: Option<EntityId>, extra: Extra) {
        self.events.push(Event { kind, subject, extra });
    }

    /// Lets this record's answer replace the one kept for the request that began the operation.
    pub fn replace_kept(&mut self, kept: Option<Arc<KeepRef>>) {
        self.replaces_kept = kept;
    }
}

/// The names of the fields in which a repeat differs.
pub fn differing(fields: impl IntoIterator<Item = (&'static str, bool)>) -> Vec<&'static str> {
    fields.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect()
}

pub struct Ruling {
    pub draft: Option<Draft>,
    /// The refusal, if a rule said no.
    pub refusal: Option<Refusal>,
    pub effects: Vec<Effect>,
}

impl Ruling {
    pub fn unchanged() -> Ruling {
        Ruling { draft: None, refusal: None, effects: Vec::new() }
    }

    /// A ruling that changes nothing but has effects: the record that they rest on was written
    /// before.
    pub fn effects(effects: Vec<Effect>) -> Ruling {
        Ruling { draft: None, refusal: None, effects }
    }

    pub fn refuse(refusal: impl Into<Refusal>) -> Ruling {
        Ruling { draft: None, refusal: Some(refusal.into()), effects: Vec::new() }
    }

    /// The ruling on a repeat of a reference: unchanged if no field differs, so that the same is
    /// answered again; a conflict otherwise.
    pub fn repeated(existing: Id, differs: Vec<&'static str>) -> Ruling {
        if differs.is_empty() {
            return Ruling::unchanged();
        }
        Ruling::refuse(Refusal::ExternalRefConflict { existing, differs })
    }

    pub fn write(draft: Draft) -> Ruling {
        Ruling { draft: Some(draft), refusal: None, effects: Vec::new() }
    }

    /// A ruling that writes a record and still refuses the command.
    pub fn write_and_refuse(draft: Draft, refusal: impl Into<Refusal>) -> Ruling {
        Ruling { draft: Some(draft), refusal: Some(refusal.into()), effects: Vec::new() }
    }

    /// A ruling that writes a record and has effects once it is durable.
    pub fn write_then(draft: Draft, effects: Vec<Effect>) -> Ruling {
        Ruling { draft: Some(draft), refusal: None, effects }
    }
}
