//! The entity actor: one payment, payout, merchant … while it is active. It serialises what is
//! asked of its entity, waits for its own records, performs their effects, and leaves memory when
//! nothing is left to do; its state is in the log.
//!
//! An entity has a mailbox, but no task of its own: it runs in the task of the caller that sends it
//! a message while it rests, and messages that come meanwhile wait for that task. Most entities get
//! one message in their life (a payout, a conversion), and a spawned actor for each would cost more
//! than all that it does.
//!
//! An entity's handling of messages belongs here. Rules do not, and neither do calls to banks,
//! which are behind [`Effects`](crate::machine::Effects). It must not know how a book works.
//!
//! The life of an entity:
//!
//! ```text
//!                      message                    command
//!   NOT IN MEMORY ─────────────────▶  WORKING  ─────────────▶  DECIDING
//!         ▲                           │  ▲  ▲                     │
//!         │   no message left,        │  │  └─────────────────────┘
//!         │   no effect under way     │  │       the book's reply
//!         └───────────────────────────┤  │
//!                                     │  │ message: a command,
//!                   no message left,  │  │ the result of an effect
//!               an effect under way   ▼  │
//!                                   RESTING
//! ```
//!
//! - *Not in memory*: no handle is in the map. The state is in the log, and may be in the cache.
//! - *Working*: a [`run::EntityRun`] has the state. It takes one message, and performs effects until
//!   one leads to a command ([`run::Phase::Working`]).
//! - *Deciding*: the run waits for the book, which is the only thing that it ever waits for
//!   ([`run::Phase::Deciding`]).
//! - *Resting*: the handle has the state, and effects that take their time go on in tasks of their
//!   own. Their results come back as messages.
//!
//! A run that is over ([`run::Phase::Over`]) has given its state to the handle, or to nobody.
//!
//! Layout: `handle` the mailbox of an entity · `delivery` the way to it, and a run in the task of its
//! caller · `run` one message, from beginning to end · `effects` performing · `reply` the reply in the
//! making · `records` loading a state · `follow_ups` effects of other entities' records.

mod delivery;
mod effects;
pub(crate) mod follow_ups;
mod handle;
mod records;
mod reply;
mod run;

pub(crate) use delivery::{Attended, deliver, send};
pub(crate) use handle::EntityHandle;

use crate::host::Context;
use crate::machine::Machine;
use dashmap::DashMap;
use foldhash::fast::RandomState;
use records::Records;
use std::time::Duration;

pub(crate) struct Entities<M: Machine> {
    pub handles: DashMap<(u64, M::EntityId), EntityHandle<M>, RandomState>,
    records: Records<M>,
    patience: Duration,
}

impl<M: Machine> Entities<M> {
    pub fn new(patience: Duration) -> Self {
        Entities { handles: DashMap::default(), records: Records::new(), patience }
    }
}

pub(crate) trait EntityContext<M: Machine>: Context<M> {
    fn entities(&self) -> &Entities<M>;
}
