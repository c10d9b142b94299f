//! The completion of a draft: the numbers of its events, the days that are over, the answer that is
//! kept, and with them the record.

use crate::decision::{Draft, Ruling, Turn};
use crate::kept::{Answer, KEPT_MS, KeepRef, Kept};
use crate::machine::{AnyBook, Domain};
use crate::platform::audit::{AuditEntry, Decided};
use crate::record::{Cause, Entity, Record};
use actors::Decision;
use std::sync::Arc;

impl Domain {
    /// Numbers the events, says what answer is kept, says what an operator changed, and makes
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
        let mut draft = match (draft, &refusal, &keep) {
            (Some(draft), _, _) => draft,
            (None, Some(refusal), Some(_)) if refusal.is_kept() => Draft::new(Cause::RefusalKept),
            // A key that was answered must not serve for another body.
            (None, None, Some(_)) => Draft::new(Cause::AnswerKept),
            (None, _, _) => return Decision { record: None, refusal, effects },
        };
        let (first_event, closed) = match book {
            AnyBook::Tenant(book) => (book.events + 1, book.days_closed_by(&draft.postings, turn.now)),
            AnyBook::Platform(_) => (0, Vec::new()),
        };
        free_name(entity, &mut draft);
        // After 24 hours nothing is kept for that use of the key any more, and there may be a newer one.
        let keep = keep.or(draft.replaces_kept.filter(|kept| turn.now < kept.first_seen.plus_ms(KEPT_MS)));
        let mut record = Record {
            cause: draft.cause,
            seed: turn.seed,
            postings: draft.postings,
            holds: draft.holds,
            entities: draft.entities,
            removed: draft.removed,
            freed: draft.freed,
            freed_to: draft.freed_to,
            first_event,
            events: draft.events,
            tenant_settings: draft.tenant_settings,
            clock_advance_ms: ahead_ms,
            platform: draft.platform.map(Box::new),
            kept: None,
            closed: Some(closed),
            audit: None,
        };
        let changes_nothing = record.only_keeps();
        if let (Some(entry), None, false) = (audit.or(draft.audit), &refusal, changes_nothing) {
            record.audit = Some(self.audited(entry, book, entity, &record, turn));
        }
        if let Some(of) = keep {
            let refused = refusal.as_ref().or(draft.refuses_kept.as_ref());
            let answer = match (refused, draft.answer) {
                (Some(refusal), _) if refusal.is_void() => Answer::Void,
                (_, Some((status, body))) => Answer::Bytes(status, body),
                (Some(refusal), None) => Answer::Refused(refusal.clone()),
                (None, None) => {
                    let asked = entity.filter(|_| record.entities.is_empty());
                    let asked = asked.map(|entity| Arc::new(entity.clone()));
                    Answer::Record { shown: asked.into_iter().chain(draft.related).collect() }
                }
            };
            record.kept = Some(Kept { of, answer });
        }
        Decision { record: Some(Arc::new(record)), refusal, effects }
    }

    /// The entry of an operator's call with what the record changes.
    fn audited(
        &self,
        mut entry: Box<AuditEntry>,
        book: &AnyBook,
        entity: Option<&Entity>,
        record: &Record,
        turn: &Turn<'_>,
    ) -> Box<AuditEntry> {
        let platform = match book {
            AnyBook::Platform(book) => Some(book),
            AnyBook::Tenant(_) => None,
        };
        let decided = Decided { platform, entity, record, time: turn.now, livemode: turn.livemode };
        entry.complete((self.changes)(&decided));
        entry
    }
}

/// Frees the name of a merchant who is removed.
fn free_name(entity: Option<&Entity>, draft: &mut Draft) {
    if let Some(Entity::Merchant(merchant)) = entity
        && !draft.removed.is_empty()
    {
        draft.freed = vec![merchant.external_ref.as_str().to_owned()];
    }
}
