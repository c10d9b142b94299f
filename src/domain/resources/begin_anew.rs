//! Test mode begun anew: one record after which the account's test data is as if there had been none.
//!
//! The record does not name what goes: the book forgets it, and the index removes it by ranges of keys, so
//! that it costs the same however much there was. It names what stays: the settings, the webhook endpoints
//! and a verified own account. Those are entities, whose states the book does not have, so the command
//! brings them, with the number of their changes up to which they were read.

use crate::cause::Cause;
use crate::decision::{Draft, Ruling, Turn};
use crate::entities::Entity;
use crate::events::{EventKind, Extra};
use crate::ledger::book::Book;
use crate::refusal::Refusal;
use crate::resources::webhooks;
use crate::values::ids::EntityId;
use std::sync::Arc;

pub struct BeginAnew {
    /// The changes of the entities that may stay, up to which they were read.
    pub changes: u64,
    pub entities: Vec<Arc<Entity>>,
    /// The account ends: nothing stays but what the log keeps.
    pub is_end: bool,
}

/// The ruling on a request to begin anew.
pub fn begin_anew(book: &Book, ask: BeginAnew, turn: &Turn<'_>) -> Ruling {
    if turn.livemode {
        return Ruling::refuse(Refusal::NotFound);
    }
    if ask.changes != book.kept_changes {
        return Ruling::refuse(Refusal::ChangedMeanwhile);
    }
    let mut draft = Draft::new(Cause::TestReset);
    for entity in ask.entities {
        match &*entity {
            Entity::Webhook(webhook) if ask.is_end => draft.remove(EntityId::webhook(webhook.id), webhook),
            Entity::Webhook(webhook) => {
                draft.change(webhook, webhooks::begun_anew(book, webhook));
            }
            Entity::OwnAccount(account) if account.status.is_verified() && !ask.is_end => {
                draft.change(account, account.clone());
            }
            Entity::OwnAccount(account) => draft.remove(EntityId::OWN_ACCOUNT, account),
            _ => {}
        }
    }
    draft.record.tenant_settings = Some(book.tenant_settings.clone());
    draft.event_with(EventKind::TestReset, None, Extra::None);
    Ruling::write(draft)
}
