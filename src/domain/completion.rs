//! The completion of a draft: the numbers of its events, the days that are over, the answer that is
//! kept, and with them the record.

use crate::decision::{Draft, Ruling, Turn};
use crate::kept::{KEPT_MS, KeepRef, Kept};
use crate::machine::{AnyBook, Domain, Facts};
use crate::platform::audit::{AuditEntry, Decided};
use crate::record::{Cause, Entity, Record};
use crate::refusal::Refusal;
use actors::Decision;
use std::sync::Arc;

impl Domain {
    /// Numbers the events, renders the answer that is to be kept, says what an operator changed, and makes
    /// the record.
    pub(crate) fn complete(
        &self,
        book: &AnyBook,
        entity: Option<&Entity>,
        ruling: Ruling,
        (keep, audit): (Option<Arc<KeepRef>>, Option<Box<AuditEntry>>),
        turn: &Turn<'_>,
        ahead_ms: i64,
    ) -> Decision<Self> {
        let Ruling { draft, refusal, effects } = ruling;
        let draft = match (draft, &refusal, &keep) {
            (Some(draft), _, _) => draft,
            (None, Some(refusal), Some(_)) if refusal.is_kept() => Draft::new(Cause::RefusalKept),
            (None, _, _) => return Decision { record: None, refusal, effects },
        };
        let first_event = match book {
            AnyBook::Tenant(book) => book.events + 1,
            AnyBook::Platform(_) => 0,
        };
        // After 24 hours nothing is kept for that use of the key any more, and there may be a newer
        // one.
        let keep = keep.or(draft.replaces_kept.filter(|kept| turn.now < kept.first_seen.plus_ms(KEPT_MS)));
        let freed = match entity {
            Some(Entity::Merchant(merchant)) if !draft.removed.is_empty() => {
                vec![merchant.external_ref.as_str().to_owned()]
            }
            _ => draft.freed,
        };
        let closed = match book {
            AnyBook::Tenant(book) => book.days_closed_by(&draft.postings, turn.now),
            AnyBook::Platform(_) => Vec::new(),
        };
        let mut record = Record {
            cause: draft.cause,
            seed: turn.seed,
            postings: draft.postings,
            holds: draft.holds,
            entities: draft.entities,
            removed: draft.removed,
            freed,
            first_event,
            events: draft.events,
            tenant_settings: draft.tenant_settings,
            clock_advance_ms: ahead_ms,
            platform: draft.platform.map(Box::new),
            kept: None,
            closed: Some(closed),
            audit: None,
        };
        // A call that was refused changed nothing.
        if let (Some(mut entry), None) = (audit, &refusal) {
            let platform = match book {
                AnyBook::Platform(book) => Some(book),
                AnyBook::Tenant(_) => None,
            };
            let decided =
                Decided { platform, entity, record: &record, time: turn.now, livemode: turn.livemode };
            entry.complete((self.changes)(&decided));
            record.audit = Some(entry);
        }
        if let Some(of) = keep {
            let from_record = || {
                let facts = Facts {
                    livemode: turn.livemode,
                    record: Some(&record),
                    time: turn.now,
                    entity: record.entities.first().map(|written| &*written.state).or(entity),
                    refusal: refusal.as_ref(),
                    request_id: &of.request_id,
                    related: &draft.related,
                };
                (self.render)(of.shape, &facts)
            };
            let rendered = draft.answer.map_or_else(from_record, Ok);
            let void = refusal.as_ref().is_some_and(Refusal::is_void);
            // An answer that is none is not kept: whoever answers finds the same, and tells the log.
            record.kept = rendered.ok().map(|(status, body)| Kept { of, status, body, void });
        }
        Decision { record: Some(Arc::new(record)), refusal, effects }
    }
}
