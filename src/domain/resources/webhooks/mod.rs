//! Webhook endpoints: which events they are due, how far their deliveries are, and the rules of
//! changing them (`docs/contract.md, 13.1`).
//!
//! A delivery is due by the log: an event is due to an endpoint that was enabled and listed it when
//! it happened. Nothing is written for what is due; the endpoint's state says up to which event
//! everything has an outcome, except for the few that are on their way. The terms that were in
//! force before are kept for as long as a delivery under them is outstanding.

use crate::decision::{Draft, Ruling, Turn};
use crate::entity::{Change, Listing, Resource};
use crate::events::EventKind;
use crate::index::Entries;
use crate::ledger::book::Book;
use crate::record::{Cause, Entity};
use crate::refusal::Refusal;
use crate::values::ids::{EntityId, Id};
use crate::values::time::Timestamp;
pub use commands::{Command, decide};
pub use refusals::WebhookRefusal;

mod commands;
mod refusals;

/// Endpoints per tenant and mode.
pub const ENDPOINTS_MAX: usize = 20;
/// Changes of an endpoint while deliveries from before the first of them are outstanding.
const TERMS_MAX: usize = 64;
/// Deliveries that were asked for again and wait.
const RESENDS_MAX: usize = 100;

/// The events that an endpoint can list, as webhooks name them. The log stores positions in this
/// list: new names are added at the end.
pub const EVENT_NAMES: [&str; 20] = [
    "payment.completed",
    "payment.failed",
    "payment.canceled",
    "payment.reversed",
    "payment.chargeback",
    "payment.chargeback_closed",
    "payout.completed",
    "payout.failed",
    "merchant.verified",
    "merchant.rejected",
    "merchant.deactivated",
    "merchant.reactivated",
    "merchant.balance.updated",
    "conversion.created",
    "conversion.completed",
    "conversion.canceled",
    "tenant.live_status_changed",
    "crypto_payout.completed",
    "crypto_payout.failed",
    "crypto_deposit.completed",
];

/// One of [`EVENT_NAMES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventName(pub(crate) u8);

impl EventName {
    /// From what the API reads.
    pub fn parse(text: &str) -> Option<EventName> {
        EVENT_NAMES.iter().position(|name| *name == text).and_then(|at| u8::try_from(at).ok()).map(EventName)
    }

    /// As webhooks say it.
    pub fn name(self) -> &'static str {
        EVENT_NAMES.get(usize::from(self.0)).copied().unwrap_or_default()
    }
}

/// From when on an endpoint was due what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The number of the first event under it.
    pub from: u64,
    /// What it lists, in the order in which it was said.
    pub events: Vec<EventName>,
    /// Whether anything is due at all.
    pub enabled: bool,
}

impl Term {
    /// Whether an event under it is due.
    pub fn is_due(&self, kind: EventKind) -> bool {
        self.enabled && self.events.iter().any(|event| event.name() == kind.name())
    }
}

/// Which event, in a few bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRef {
    /// The number.
    pub number: u64,
    /// The id.
    pub id: Id,
    /// What it was.
    pub kind: EventKind,
}

/// A delivery that was asked for again and has no outcome yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resend {
    /// The name of the new delivery.
    pub delivery: Id,
    /// Of what.
    pub event: EventRef,
    /// When it was asked for, on the tenant's clock.
    pub created_at: Timestamp,
}

/// What became of a delivery. It is complete at the time of the record that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The delivery.
    pub id: Id,
    /// Of what.
    pub event: EventRef,
    /// When it became due, on the tenant's clock.
    pub created_at: Timestamp,
    /// What the endpoint answered, if it did.
    pub http_status: Option<u16>,
    /// From the start to the answer or its failure.
    pub latency_ms: u32,
    /// Why it failed; `None` for one that arrived.
    pub error: Option<String>,
}

/// An endpoint. Its secret is not here: it derives from the server's key, the id and the version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// The id.
    pub id: Id,
    /// Where it is, as it was given.
    pub url: String,
    /// Which secret signs.
    pub secret_version: u32,
    /// What it was due, oldest first; the last is in force. Never empty.
    pub terms: Vec<Term>,
    /// Up to this event everything that was due has an outcome, apart from `open`.
    pub reached: u64,
    /// Events up to `reached` that were on their way when this was written, in order.
    pub open: Vec<u64>,
    /// What was asked for again.
    pub resends: Vec<Resend>,
    /// The outcomes that this very record wrote; those before are in the records before.
    pub outcomes: Vec<Delivered>,
    /// The mode.
    pub livemode: bool,
    /// The instant at which it was made.
    pub created_at: Timestamp,
}

impl Webhook {
    /// The terms in force.
    pub fn term(&self) -> Option<&Term> {
        self.terms.last()
    }

    /// Whether deliveries are sent.
    pub fn is_enabled(&self) -> bool {
        self.term().is_some_and(|term| term.enabled)
    }

    /// Whether the event with this number is due; ask only about those after `reached` or in
    /// `open`.
    pub fn is_due(&self, number: u64, kind: EventKind) -> bool {
        self.terms.iter().rev().find(|term| term.from <= number).is_some_and(|term| term.is_due(kind))
    }

    /// The name of the delivery of an event that happened at `time`: nothing needs to be written
    /// for it, and names sort as deliveries became due.
    pub fn delivery_id(&self, number: u64, time: Timestamp) -> Id {
        let [.., a, b, c, d, e, f, g, h] = *self.id.as_bytes();
        Id::numbered(time.unix_ms(), u64::from_be_bytes([a, b, c, d, e, f, g, h]), number)
    }

    /// The number of the event that this is the first delivery of, if it is one.
    pub fn number_of(&self, delivery: Id) -> Option<u64> {
        let own = |id: Id| id.as_bytes().get(6..10).map(<[u8]>::to_vec);
        (own(delivery) == own(self.delivery_id(0, Timestamp::EPOCH))).then(|| delivery.number())
    }

    /// The first event whose delivery may be outstanding.
    fn outstanding_from(&self) -> u64 {
        self.open.first().copied().unwrap_or(self.reached + 1).min(self.reached + 1)
    }
}

impl Resource for Webhook {
    fn entity_id(&self) -> EntityId {
        EntityId::webhook(self.id)
    }

    fn facet(&self) -> u8 {
        u8::from(self.is_enabled())
    }

    fn deadline(&self) -> Option<Timestamp> {
        None
    }

    fn external_ref(&self) -> Option<&str> {
        None
    }

    fn listing(&self, _facet: u8) -> Listing {
        Listing::ById
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new() {
            entries.endpoint();
        }
        for outcome in &self.outcomes {
            entries.delivery(outcome.id);
        }
    }
}

/// A new endpoint.
pub struct NewWebhook {
    /// The id.
    pub id: Id,
    /// Where it is.
    pub url: String,
    /// What it lists.
    pub events: Vec<EventName>,
}

/// A change; what is `None` stays.
#[derive(Default)]
pub struct WebhookChange {
    /// Another address.
    pub url: Option<String>,
    /// Another list.
    pub events: Option<Vec<EventName>>,
    /// Whether deliveries are sent.
    pub enabled: Option<bool>,
}

/// How far deliveries are.
pub struct Progress {
    /// What became of those that ended.
    pub outcomes: Vec<Delivered>,
    /// See [`Webhook::reached`].
    pub reached: u64,
    /// See [`Webhook::open`].
    pub open: Vec<u64>,
}

/// Adds an endpoint. It is due what happens from now on.
pub fn register(book: &Book, new: NewWebhook, turn: &Turn<'_>) -> Ruling {
    if book.webhooks.len() >= ENDPOINTS_MAX {
        return Ruling::refuse(WebhookRefusal::TooMany);
    }
    let mut draft = Draft::new(Cause::WebhookCreated);
    draft.create(Entity::Webhook(Webhook {
        id: new.id,
        url: new.url,
        secret_version: 1,
        terms: vec![Term { from: book.events + 1, events: new.events, enabled: true }],
        reached: book.events,
        open: Vec::new(),
        resends: Vec::new(),
        outcomes: Vec::new(),
        livemode: turn.livemode,
        created_at: turn.now,
    }));
    Ruling::write(draft)
}

/// Changes an endpoint, for what happens from now on. What was due before stays due, and waits
/// while the endpoint is disabled.
pub fn change(book: &Book, webhook: &Webhook, change: WebhookChange) -> Ruling {
    let Some(term) = webhook.term() else { return Ruling::refuse(Refusal::NotFound) };
    let next = Term {
        from: book.events + 1,
        events: change.events.unwrap_or_else(|| term.events.clone()),
        enabled: change.enabled.unwrap_or(term.enabled),
    };
    let url = change.url.unwrap_or_else(|| webhook.url.clone());
    let same_terms = next.events == term.events && next.enabled == term.enabled;
    if same_terms && url == webhook.url {
        return Ruling::unchanged();
    }
    let mut changed = Webhook { url, outcomes: Vec::new(), ..webhook.clone() };
    if !same_terms {
        // Nothing happened under terms that begin where the next ones do.
        changed.terms.retain(|term| term.from < next.from);
        changed.terms.push(next);
        if changed.terms.len() > TERMS_MAX {
            return Ruling::refuse(WebhookRefusal::Busy);
        }
    }
    write(Cause::WebhookChanged, webhook, changed)
}

/// The next secret; the one before signs nothing any more.
pub fn rotate_secret(webhook: &Webhook) -> Ruling {
    write(
        Cause::WebhookChanged,
        webhook,
        Webhook { secret_version: webhook.secret_version + 1, outcomes: Vec::new(), ..webhook.clone() },
    )
}

/// Takes an endpoint away, with what was due to it.
pub fn delete(webhook: &Webhook) -> Ruling {
    let mut draft = Draft::new(Cause::WebhookDeleted);
    draft.remove(EntityId::webhook(webhook.id), webhook);
    Ruling::write(draft)
}

/// Notes what became of deliveries.
pub fn progress(webhook: &Webhook, progress: Progress) -> Ruling {
    let Progress { outcomes, reached, open } = progress;
    let mut next = Webhook { reached: reached.max(webhook.reached), open, ..webhook.clone() };
    next.resends.retain(|resend| outcomes.iter().all(|outcome| outcome.id != resend.delivery));
    next.outcomes = outcomes;
    let from = next.outstanding_from();
    let needed = next.terms.iter().rposition(|term| term.from <= from).unwrap_or(0);
    next.terms.drain(..needed);
    write(Cause::WebhookProgress, webhook, next)
}

/// Another delivery of an event, if the endpoint is enabled and lists it now.
pub fn resend(webhook: &Webhook, event: EventRef, turn: &Turn<'_>) -> Ruling {
    if !webhook.term().is_some_and(|term| term.is_due(event.kind)) {
        return Ruling::unchanged();
    }
    if webhook.resends.len() >= RESENDS_MAX {
        return Ruling::refuse(WebhookRefusal::ResendsWaiting);
    }
    let mut next = Webhook { outcomes: Vec::new(), ..webhook.clone() };
    next.resends.push(Resend {
        delivery: Id::derived(turn.now.unix_ms(), turn.seed, 0),
        event,
        created_at: turn.now,
    });
    write(Cause::EventResent, webhook, next)
}

/// Keeps what a request to send again was answered, for its Idempotency-Key.
pub fn keep_resent(status: u16, body: Vec<u8>) -> Ruling {
    let mut draft = Draft::new(Cause::EventResent);
    draft.answer = Some((status, body));
    Ruling::write(draft)
}

fn write(cause: Cause, before: &Webhook, next: Webhook) -> Ruling {
    let mut draft = Draft::new(cause);
    draft.change(before, Entity::Webhook(next));
    Ruling::write(draft)
}

#[cfg(test)]
mod tests;
