//! Records: everything that one command writes.

use crate::cause::Cause;
use crate::codec::stored;
use crate::entities::mandate_approval::MandateApproval;
use crate::entities::resource::IndexedState;
use crate::entities::{Entity, OfKind as _};
use crate::events::Event;
use crate::kept::{KEPT_MS, KeepRef};
use crate::ledger::days::ClosedDay;
use crate::ledger::spending::Spending;
use crate::ledger::{HoldChange, Posting};
use crate::platform::PlatformChange;
use crate::platform::audit::AuditEntry;
use crate::platform::settings::TenantSettings;
use crate::refusal::Refusal;
use crate::values::ids::{EntityId, Id};
use crate::values::time::Timestamp;
use std::sync::Arc;

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Written {
        0 pub state: Arc<Entity>,
        1 pub indexed: Option<IndexedState>,
    }

    /// A record: the changes of one command, applied together or not at all.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Record {
        0 pub cause: Cause,
        /// The random bits from which the ids of its rows and events are derived.
        1 pub seed: u64,
        2 pub postings: Vec<Posting>,
        3 pub holds: Vec<HoldChange>,
        /// New states; the first is of the entity that the command was for.
        4 pub entities: Vec<Written>,
        5 pub removed: Vec<(EntityId, IndexedState)>,
        /// Names that are free again, of the space that the cause names ([`Cause::side_effect`]).
        6 pub freed: Vec<String>,
        7 pub first_event: u64,
        8 pub events: Vec<Event>,
        9 pub tenant_settings: Option<TenantSettings>,
        10 pub clock_advance_ms: i64,
        11 pub platform: Option<Box<PlatformChange>>,
        12 pub kept: Option<Kept>,
        /// The days that are over on the accounts that it moves money on.
        13 pub closed: Vec<ClosedDay>,
        /// The entry of the audit, of what an operator asked for.
        14 pub audit: Option<Box<AuditEntry>>,
        /// What the freed names lead to again: the attempt before one that is gone.
        15 pub freed_to: Option<Id>,
        /// What it takes out of mandates, or gives back to them.
        16 pub spent: Vec<Spending> = since 8 else Vec::new(),
    }
}

impl Record {
    pub fn new(cause: Cause) -> Record {
        Record {
            cause,
            seed: 0,
            postings: Vec::new(),
            holds: Vec::new(),
            entities: Vec::new(),
            removed: Vec::new(),
            freed: Vec::new(),
            freed_to: None,
            first_event: 0,
            events: Vec::new(),
            tenant_settings: None,
            clock_advance_ms: 0,
            platform: None,
            kept: None,
            closed: Vec::new(),
            audit: None,
            spent: Vec::new(),
        }
    }

    pub fn movement_id(&self, time: Timestamp, n: usize) -> Id {
        Id::derived(time.unix_ms(), self.seed, u16::try_from(n).unwrap_or(u16::MAX))
    }

    pub fn event_number(&self, n: usize) -> u64 {
        self.first_event + n as u64
    }

    /// The id of the record's `n`-th event, which carries the event's number and so leads back to
    /// it.
    pub fn event_id(&self, time: Timestamp, n: usize) -> Id {
        Id::numbered(time.unix_ms(), self.seed, self.event_number(n))
    }

    /// The call that waited, if this decides about one.
    pub fn decided_approval(&self) -> Option<&MandateApproval> {
        for written in &self.entities {
            if let Some(approval) = MandateApproval::of(&written.state)
                && approval.decision.is_some()
            {
                return Some(approval);
            }
        }
        None
    }

    /// Whether it does a call that waited, as somebody approved it.
    pub fn approves(&self) -> bool {
        for written in &self.entities {
            if let Entity::MandateApproval(MandateApproval { decision: Some(word), .. }) = &*written.state {
                return word.is_approved;
            }
        }
        false
    }

    /// Whether it may be one record with others like it: outcomes of payouts that came together. They
    /// move no money and are kept for nobody, so each is its entity's new state and an event.
    pub fn may_join(&self) -> bool {
        if self.cause != Cause::PayoutCompleted || self.entities.len() != 1 || self.events.len() != 1 {
            return false;
        }
        let (entities, events) = (self.entities.clone(), self.events.clone());
        let (seed, first_event) = (self.seed, self.first_event);
        *self == Record { seed, first_event, entities, events, ..Record::new(Cause::PayoutCompleted) }
    }

    /// Adds the next record, which joins this one: its events have the numbers after those of this
    /// one already.
    pub fn join(&mut self, next: Record) {
        self.entities.extend(next.entities);
        self.events.extend(next.events);
    }

    pub fn entity(&self, id: EntityId) -> Option<&Arc<Entity>> {
        for written in &self.entities {
            if written.state.id() == id {
                return Some(&written.state);
            }
        }
        None
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Kept {
        0 pub of: Arc<KeepRef>,
        1 pub answer: Answer,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Answer {
        /// What the record says, as the operation of the key's path shows it.
        0 Record {
            /// Entities that the answer shows and the record does not write; the one that was asked is first,
            /// if the record writes none.
            0 shown: Vec<Arc<Entity>>,
        },
        1 Refused(Refusal),
        /// The status and the body of what no record says.
        2 Bytes(u16, Vec<u8>),
        /// It is not given again, and only replaces the answer that was kept while the outcome was open.
        3 Void,
    }
}

impl Kept {
    /// Whether the answer is still given to a repeat at this instant.
    pub fn stands_at(&self, now: Timestamp) -> bool {
        self.answer != Answer::Void && now < self.expires_at()
    }

    pub fn expires_at(&self) -> Timestamp {
        self.of.first_seen.plus_ms(KEPT_MS)
    }
}
