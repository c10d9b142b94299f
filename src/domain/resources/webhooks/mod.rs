//! Webhook endpoints: the events due to them, the progress of their deliveries, and the rules
//! for changing them (`docs/contract.md, 13.1`).
//!
//! Deliveries follow from the log: an event is due to an endpoint that was enabled and listed it
//! when it happened. Nothing is written for a delivery that is due; the endpoint's state says up to
//! which event all have an outcome, except for the few that were under way. Terms that are no
//! longer in force are kept as long as a delivery under them is outstanding.
//!
//! A delivery that failed is tried again where the endpoint asks for it: the endpoint's state says which
//! tries wait and until when. When one is due the agenda brings it ([`deadline`]), and it waits with those
//! that were asked for by hand. Older secrets end in the same way.
//!
//! Posting and signing do not belong here: they are in `src/webhooks/`.

use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Rules, Ruling, Turn};
use crate::entities::resource::Resource;
use crate::entities::webhook::{
    Delivered, EventRef, Exhausted, NextTry, OlderSecret, Resend, Retry, Signature, TRIES, TRIES_WAITING,
    Term, Webhook,
};
use crate::events::EventKind;
use crate::ledger::book::Book;
use crate::refusal::{Refusal, WebhookRefusal};
use crate::values::ids::{EntityId, Id};
use crate::values::time::SECOND_MS;

/// The largest number of endpoints per tenant and mode.
pub const ENDPOINTS_MAX: usize = 20;
/// The largest number of terms that an endpoint keeps for outstanding deliveries.
const TERMS_MAX: usize = 64;
/// The largest number of waiting deliveries that were asked for again.
const RESENDS_MAX: usize = 100;

/// The wait after the first try, in milliseconds; each later one is three times the last.
const FIRST_WAIT_MS: i64 = 70_000;
/// The part by which a wait may be shorter or longer, in thousandths, so that what failed together does not
/// come again together.
const JITTER: u64 = 100;
/// The largest number of older secrets that still sign; beyond it the oldest ends.
const OLDER_SECRETS_MAX: usize = 8;
/// The longest time for which an older secret goes on signing, in seconds.
pub const OVERLAP_SECONDS_MAX: u32 = 604_800;
/// The time for which an older secret goes on signing if nobody says, in seconds.
pub const OVERLAP_SECONDS: u32 = 86_400;
/// The given-up events that an endpoint remembers: the newest.
const EXHAUSTED_MAX: usize = 20;

pub struct NewWebhook {
    pub id: Id,
    pub url: String,
    pub events: Vec<EventKind>,
    pub retry: Retry,
    pub signature: Signature,
}

/// A change of an endpoint; fields that are `None` stay.
#[derive(Default)]
pub struct WebhookChange {
    pub url: Option<String>,
    pub events: Option<Vec<EventKind>>,
    pub enabled: Option<bool>,
    pub retry: Option<Retry>,
    pub signature: Option<Signature>,
}

pub struct Progress {
    pub outcomes: Vec<Delivered>,
    pub reached: u64,
    pub open: Vec<u64>,
}

/// Adds an endpoint. Events from now on are due to it.
fn register(book: &Book, new: NewWebhook, turn: &Turn<'_>) -> Ruled {
    if book.webhooks.len() >= ENDPOINTS_MAX {
        return Err(WebhookRefusal::TooMany.into());
    }
    let webhook = Webhook {
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
        retry: new.retry,
        signature: new.signature,
        older_secrets: Vec::new(),
        next_tries: Vec::new(),
        exhausted: Vec::new(),
    };
    Ok(Ruling::write(Draft::created(Cause::WebhookCreated, webhook)))
}

/// The endpoint as it goes on when its book begins anew: under its terms from the next event on, and with
/// nothing outstanding. Older secrets last as long as they would have, though the clock goes back.
pub fn begun_anew(book: &Book, webhook: &Webhook) -> Webhook {
    let term = |term: &Term| Term { from: book.events + 1, ..term.clone() };
    let older = |older: &OlderSecret| OlderSecret { until: older.until.plus_ms(-book.offset_ms), ..*older };
    Webhook {
        terms: webhook.term().map(term).into_iter().collect(),
        reached: book.events,
        open: Vec::new(),
        resends: Vec::new(),
        outcomes: Vec::new(),
        older_secrets: webhook.older_secrets.iter().map(older).collect(),
        next_tries: Vec::new(),
        exhausted: Vec::new(),
        ..webhook.clone()
    }
}

/// Changes an endpoint for events from now on. Deliveries that were due before stay due, and wait
/// while the endpoint is disabled.
fn change(book: &Book, webhook: &Webhook, change: WebhookChange) -> Ruled {
    let term = webhook.term().ok_or(Refusal::NotFound)?;
    let next = Term {
        from: book.events + 1,
        events: change.events.unwrap_or_else(|| term.events.clone()),
        enabled: change.enabled.unwrap_or(term.enabled),
    };
    let same_terms = next.events == term.events && next.enabled == term.enabled;
    let mut changed = Webhook {
        url: change.url.unwrap_or_else(|| webhook.url.clone()),
        retry: change.retry.unwrap_or(webhook.retry),
        signature: change.signature.unwrap_or(webhook.signature),
        outcomes: webhook.outcomes.clone(),
        ..webhook.clone()
    };
    if same_terms && changed == *webhook {
        return Ok(Ruling::unchanged());
    }
    changed.outcomes.clear();
    if changed.retry == Retry::None {
        changed.next_tries.clear();
    }
    if !same_terms {
        // No event happened under terms that begin where the next ones do.
        changed.terms.retain(|term| term.from < next.from);
        changed.terms.push(next);
        if changed.terms.len() > TERMS_MAX {
            return Err(WebhookRefusal::Busy.into());
        }
    }
    Ok(write(Cause::WebhookChanged, webhook, changed))
}

/// Moves to the next secret. The one before goes on signing beside it for `overlap_seconds`; for 0 no older
/// one does.
pub fn rotate_secret(webhook: &Webhook, overlap_seconds: u32, turn: &Turn<'_>) -> Ruling {
    let mut next =
        Webhook { secret_version: webhook.secret_version + 1, outcomes: Vec::new(), ..webhook.clone() };
    if overlap_seconds == 0 {
        next.older_secrets.clear();
    } else {
        let until = turn.now.plus_ms(i64::from(overlap_seconds) * SECOND_MS);
        next.older_secrets.retain(|older| older.until > turn.now);
        next.older_secrets.push(OlderSecret { version: webhook.secret_version, until });
        let beyond = next.older_secrets.len().saturating_sub(OLDER_SECRETS_MAX);
        next.older_secrets.drain(..beyond);
    }
    write(Cause::WebhookChanged, webhook, next)
}

/// Writes the outcomes of deliveries, and when those that failed are tried again. Of events from before the
/// book began anew nothing is written.
pub fn progress(book: &Book, webhook: &Webhook, progress: Progress, turn: &Turn<'_>) -> Ruling {
    let Progress { mut outcomes, reached, mut open } = progress;
    outcomes.retain(|outcome| outcome.event.number >= book.begun_at);
    open.retain(|number| *number >= book.begun_at);
    let mut next = Webhook { reached: reached.max(webhook.reached), open, ..webhook.clone() };
    next.resends.retain(|resend| outcomes.iter().all(|outcome| outcome.id != resend.delivery));
    for outcome in &outcomes {
        if outcome.error.is_none() || outcome.is_exhausted() {
            next.exhausted.retain(|exhausted| exhausted.event.id != outcome.event.id);
        }
        if outcome.is_exhausted() {
            next.exhausted.push(Exhausted { event: outcome.event, at: turn.now });
        } else if outcome.error.is_some() && webhook.retry == Retry::Backoff {
            next.next_tries.push(next_try(outcome, turn));
        }
    }
    let beyond = next.exhausted.len().saturating_sub(EXHAUSTED_MAX);
    next.exhausted.drain(..beyond);
    next.outcomes = outcomes;
    let from = next.outstanding_from();
    let needed = next.terms.iter().rposition(|term| term.from <= from).unwrap_or(0);
    next.terms.drain(..needed);
    write(Cause::WebhookProgress, webhook, next)
}

/// The try after one that failed. In live mode it waits from now: a receiver is not hurried because this
/// server was late. A test clock leaps, and what it leapt over happens at its own instant: there the try
/// waits from when the one before was due.
fn next_try(failed: &Delivered, turn: &Turn<'_>) -> NextTry {
    let since = if turn.livemode { turn.now } else { failed.created_at };
    let wait_ms = FIRST_WAIT_MS * 3_i64.pow(failed.attempt.saturating_sub(1).min(TRIES));
    let mixed = (turn.seed ^ failed.event.number).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let thousandths = 1_000 - JITTER + mixed % (2 * JITTER + 1);
    let wait_ms = wait_ms / 1_000 * i64::try_from(thousandths).unwrap_or(1_000);
    NextTry { event: failed.event, attempt: failed.attempt + 1, due: since.plus_ms(wait_ms) }
}

/// What is due by now: tries whose instant has come are to be sent, and older secrets end.
pub fn deadline(webhook: &Webhook, turn: &Turn<'_>) -> Ruling {
    if webhook.deadline().is_none_or(|at| at > turn.now) {
        return Ruling::unchanged();
    }
    let mut next = Webhook { outcomes: Vec::new(), ..webhook.clone() };
    next.older_secrets.retain(|older| older.until > turn.now);
    if webhook.is_enabled() {
        let mut due: Vec<NextTry> = next.next_tries.extract_if(.., |next| next.due <= turn.now).collect();
        due.sort_by_key(|next| next.due);
        let resend = |(n, due): (u16, NextTry)| Resend {
            delivery: Id::derived(due.due.unix_ms(), turn.seed, n),
            event: due.event,
            created_at: due.due,
            attempt: due.attempt,
        };
        next.resends.extend((0..).zip(due).map(resend));
    }
    write(Cause::WebhookDue, webhook, next)
}

/// Asks for another delivery of an event, if the endpoint is enabled and lists it now.
fn resend(webhook: &Webhook, event: EventRef, turn: &Turn<'_>) -> Ruled {
    if !webhook.term().is_some_and(|term| term.is_due(event.kind)) {
        return Ok(Ruling::unchanged());
    }
    if webhook.next_tries.len() >= TRIES_WAITING
        || webhook.resends.iter().filter(|resend| resend.attempt == 1).count() >= RESENDS_MAX
    {
        return Err(WebhookRefusal::ResendsWaiting.into());
    }
    let mut next = Webhook { outcomes: Vec::new(), ..webhook.clone() };
    next.resends.push(Resend {
        delivery: Id::derived(turn.now.unix_ms(), turn.seed, 0),
        event,
        created_at: turn.now,
        attempt: 1,
    });
    Ok(write(Cause::EventResent, webhook, next))
}

impl Rules for Webhook {
    fn on_deadline(&self, _: &Book, turn: &Turn<'_>) -> Ruling {
        deadline(self, turn)
    }

    /// A try or an older secret is due in hours.
    fn is_open(&self) -> bool {
        false
    }
}

fn write(cause: Cause, before: &Webhook, next: Webhook) -> Ruling {
    Ruling::write(Draft::changed(cause, before, next))
}

pub enum Command {
    Register(Box<NewWebhook>),
    Change(Box<WebhookChange>),
    /// A request for the next secret, beside which the last signs for so many seconds.
    RotateSecret(u32),
    Delete,
    Progress(Box<Progress>),
    Resend(EventRef),
}

pub fn decide(book: &Book, webhook: Option<&Webhook>, command: Command, turn: &Turn<'_>) -> Ruled {
    match (command, webhook) {
        (Command::Register(new), None) => register(book, *new, turn),
        (Command::Change(ask), Some(webhook)) => change(book, webhook, *ask),
        (Command::RotateSecret(overlap_seconds), Some(webhook)) => {
            Ok(rotate_secret(webhook, overlap_seconds, turn))
        }
        (Command::Delete, Some(webhook)) => {
            let mut draft = Draft::new(Cause::WebhookDeleted);
            draft.remove(EntityId::webhook(webhook.id), webhook);
            Ok(Ruling::write(draft))
        }
        (Command::Progress(made), Some(webhook)) => Ok(progress(book, webhook, *made, turn)),
        (Command::Resend(event), Some(webhook)) => resend(webhook, event, turn),
        (Command::Register(_), Some(_)) | (_, None) => Err(Refusal::NotFound),
    }
}

#[cfg(test)]
mod tests;
