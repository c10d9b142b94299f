//! Webhook endpoints and their deliveries.

use crate::codec::stored;
use crate::entities::resource::{Change, Resource};
use crate::events::EventKind;
use crate::index::Entries;
use crate::values::ids::Id;
use crate::values::time::Timestamp;

/// Deliveries that wait to be tried again, from which on an endpoint that takes nothing gets new ones rarely, and
/// none that is asked for by hand: each that fails waits with them, and all of them are in the endpoint's state,
/// which each outcome writes anew.
pub const TRIES_WAITING: usize = 500;
/// And from which on no endpoint gets new ones otherwise, not one that takes every second delivery either.
pub(crate) const TRIES_WAITING_MAX: usize = 2_000;
/// The tries of a delivery, the first included, at an endpoint that asks for more than one.
pub const TRIES: u32 = 8;

/// The names of the events that an endpoint can list.
pub const EVENT_NAMES: [&str; EventKind::ALL.len()] = {
    let mut names = [""; EventKind::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = EventKind::ALL[at].name();
        at += 1;
    }
    names
};

stored! {
    /// The terms of an endpoint from some event on.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Term {
        /// The number of the first event under these terms.
        0 pub from: u64,
        /// The events that the endpoint lists, in the order of the request.
        1 pub events: Vec<EventKind>,
        /// Whether the endpoint is enabled; nothing is due to one that is not.
        2 pub enabled: bool,
    }
}

impl Term {
    /// Whether an event of this kind is due under these terms.
    pub fn is_due(&self, kind: EventKind) -> bool {
        self.enabled && self.events.contains(&kind)
    }
}

stored! {
    /// A reference to an event, in a few bytes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct EventRef {
        0 pub number: u64,
        1 pub id: Id,
        2 pub kind: EventKind,
    }

    /// What becomes of a delivery that failed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Retry {
        /// It is not tried again.
        0 None "none",
        /// It is tried again, after longer and longer waits.
        1 Backoff "backoff",
    }

    /// The form of a delivery's signature.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Signature {
        0 Hex "hex",
        /// The second of sending and the body, by every secret that signs.
        1 Timestamped "timestamped",
    }

    /// An older secret that still signs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct OlderSecret {
        0 pub version: u32,
        /// The instant at which it ends, on the tenant's clock.
        1 pub until: Timestamp,
    }

    /// A further try of a delivery that waits for its instant.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct NextTry {
        0 pub event: EventRef,
        1 pub attempt: u32,
        /// The instant from which it is due, on the tenant's clock.
        2 pub due: Timestamp,
    }

    /// An event that was given up after the last try.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Exhausted {
        0 pub event: EventRef,
        1 pub at: Timestamp,
    }

    /// A delivery that was asked for again, or is tried again, and has no outcome yet.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Resend {
        0 pub delivery: Id,
        1 pub event: EventRef,
        /// The instant at which it became due, on the tenant's clock.
        2 pub created_at: Timestamp,
        /// The number of the try: 1 for what was asked for by hand.
        3 pub attempt: u32,
    }

    /// The outcome of a delivery. It is complete at the time of the record that has it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Delivered {
        0 pub id: Id,
        1 pub event: EventRef,
        /// The instant at which the delivery became due, on the tenant's clock.
        2 pub created_at: Timestamp,
        /// The status of the endpoint's answer, if it answered.
        3 pub http_status: Option<u16>,
        /// The time from the start of the request to the answer or the failure, in milliseconds.
        4 pub latency_ms: u32,
        /// The reason of a failure; `None` for a delivery that arrived.
        5 pub error: Option<String>,
        /// The number of the try, from 1.
        6 pub attempt: u32,
    }
}

impl Delivered {
    /// Whether this was the last of its event's tries, and failed.
    pub fn is_exhausted(&self) -> bool {
        self.error.is_some() && self.attempt >= TRIES
    }
}

stored! {
    /// An endpoint. The secret is not in it: it derives from the server's key, the id and the version.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Webhook {
        0 pub id: Id,
        1 pub url: String,
        2 pub secret_version: u32,
        /// The terms, oldest first; the last are in force. Never empty.
        3 pub terms: Vec<Term>,
        /// The number of the last event up to which all due deliveries have an outcome, apart from
        /// `open`.
        4 pub reached: u64,
        /// The numbers of events up to `reached` whose deliveries were under way when this was written,
        /// in order.
        5 pub open: Vec<u64>,
        /// The deliveries that were asked for again and have no outcome.
        6 pub resends: Vec<Resend>,
        /// The outcomes that this record wrote; earlier ones are in earlier records.
        7 pub outcomes: Vec<Delivered>,
        8 pub livemode: bool,
        9 pub created_at: Timestamp,
        10 pub retry: Retry,
        11 pub signature: Signature,
        /// The older secrets that still sign, oldest first.
        12 pub older_secrets: Vec<OlderSecret>,
        13 pub next_tries: Vec<NextTry>,
        /// The newest events that were given up and have not arrived since, oldest first.
        14 pub exhausted: Vec<Exhausted>,
    }
}

impl Webhook {
    /// Whether so much waits to be tried again that another failure is only worth a probe. `is_failing` says
    /// whether the last delivery failed.
    pub fn is_flooded(&self, is_failing: bool) -> bool {
        let waiting = self.next_tries.len();
        self.retry == Retry::Backoff
            && (waiting >= TRIES_WAITING_MAX || is_failing && waiting >= TRIES_WAITING)
    }

    pub fn term(&self) -> Option<&Term> {
        self.terms.last()
    }

    pub fn is_enabled(&self) -> bool {
        self.term().is_some_and(|term| term.enabled)
    }

    /// Whether the event with this number is due. Only valid for events after `reached` or in
    /// `open`.
    pub fn is_due(&self, number: u64, kind: EventKind) -> bool {
        self.terms.iter().rev().find(|term| term.from <= number).is_some_and(|term| term.is_due(kind))
    }

    /// The number of the first event whose delivery may be outstanding.
    pub(crate) fn outstanding_from(&self) -> u64 {
        self.open.first().copied().unwrap_or(self.reached + 1).min(self.reached + 1)
    }
}

/// The id of the first delivery, at an endpoint, of an event that happened at `time`. Nothing needs to be
/// written for it, and ids sort as deliveries became due.
pub fn first_delivery(webhook: Id, number: u64, time: Timestamp) -> Id {
    let [.., a, b, c, d, e, f, g, h] = *webhook.as_bytes();
    Id::numbered(time.unix_ms(), u64::from_be_bytes([a, b, c, d, e, f, g, h]), number)
}

/// Whether a delivery at an endpoint is an event's first one there, and none that was asked for again.
pub fn is_first_delivery(webhook: Id, delivery: Id) -> bool {
    delivery.as_bytes()[6..10] == first_delivery(webhook, 0, Timestamp::EPOCH).as_bytes()[6..10]
}

impl Resource for Webhook {
    fn facet(&self) -> u8 {
        u8::from(self.is_enabled())
    }

    fn deadline(&self) -> Option<Timestamp> {
        // A disabled endpoint gets no try; those that wait come when it is enabled again.
        let tries = self.next_tries.iter().filter(|_| self.is_enabled()).map(|next| next.due);
        tries.chain(self.older_secrets.iter().map(|older| older.until)).min()
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new {
            entries.endpoint();
        }
        for outcome in &self.outcomes {
            entries.delivery(outcome.id);
        }
    }
}
