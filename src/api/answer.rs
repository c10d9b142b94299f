//! The answer of an operation to what was decided. It is made of the record, by the function that stands
//! with the operation: for who asked, and again for a repeat under the same Idempotency-Key.

use crate::problem::Problem;
use crate::refusals;
use crate::writer::Object;
use domain::cause::Cause;
use domain::entities::webhook::Webhook;
use domain::entities::{Entity, OfKind};
use domain::platform::ApiKey;
use domain::platform::operators::OperatorAccount;
use domain::record::{Answer, Kept, Record};
use domain::refusal::{MandateRefusal, Refusal};
use domain::values::ids::Id;
use domain::values::time::Timestamp;
use std::sync::Arc;

pub type Rendered = (u16, Vec<u8>);

/// Shows what was decided and not refused; `None`, a defect, of something that the operation does not
/// decide.
pub type Show = fn(&Facts<'_>) -> Option<Rendered>;

pub struct Facts<'a> {
    pub livemode: bool,
    /// The record; none where nothing changed.
    pub record: Option<&'a Record>,
    pub time: Timestamp,
    pub entity: Option<&'a Entity>,
    pub refusal: Option<&'a Refusal>,
    pub request_id: &'a str,
    /// Entities that the answer shows and the record does not write.
    pub related: &'a [Arc<Entity>],
    /// The last id in the request's path.
    pub about: Option<Id>,
    pub secrets: &'a dyn Secrets,
}

/// Secrets that answers show and no record has: each is derived anew for whoever may see it.
pub trait Secrets {
    fn webhook(&self, _: &Webhook) -> Option<String> {
        None
    }

    /// The part of a checkout session's client secret that is secret.
    fn session(&self, _: Id) -> Option<[u8; 16]> {
        None
    }

    fn key(&self, _: &ApiKey) -> Option<String> {
        None
    }

    fn token(&self, _: &OperatorAccount) -> Option<String> {
        None
    }
}

pub struct NoSecrets;

impl Secrets for NoSecrets {}

impl<'a> Facts<'a> {
    /// The facts that a record keeps for the Idempotency-Key of the request that it answers.
    pub fn of_kept(
        kept: &'a Kept,
        record: &'a Record,
        time: Timestamp,
        livemode: bool,
        about: Option<Id>,
        secrets: &'a dyn Secrets,
    ) -> Facts<'a> {
        let (shown, refusal): (&[Arc<Entity>], _) = match &kept.answer {
            Answer::Record { shown } => (shown, None),
            Answer::Refused(refusal) => (&[], Some(refusal)),
            Answer::Bytes(..) | Answer::Void => (&[], None),
        };
        let written = record.entities.first().map(|written| &written.state);
        Facts {
            livemode,
            record: (record.cause != Cause::AnswerKept).then_some(record),
            time,
            entity: written.or(shown.first()).map(|state| &**state),
            refusal,
            request_id: &kept.of.request_id,
            related: shown,
            about,
            secrets,
        }
    }

    /// The facts of the call that an approval let be done, as if it had been done at once.
    pub fn of_call(&self) -> Facts<'a> {
        let of_call = |entity: &&Entity| !matches!(entity, Entity::MandateApproval(_));
        let written =
            self.record.into_iter().flat_map(|record| &record.entities).map(|written| &*written.state);
        let mut written = written.filter(of_call);
        let first = written.next();
        let known = self.related.first().map(|entity| &**entity);
        Facts {
            // What was known already was written before.
            record: self.record.filter(|_| first.is_some()),
            entity: self.entity.filter(of_call).or(first).or(known),
            ..*self
        }
    }

    /// The entity that was decided on, if it is of the kind that is shown.
    pub fn the<T: OfKind>(&self) -> Option<&'a T> {
        self.entity.and_then(T::of)
    }

    /// The answer: what is shown, or the refusal.
    pub fn shown_by(&self, show: Option<Show>) -> Result<Rendered, Problem> {
        if let Some(refusal) = self.refusal {
            return Ok(self.refused(refusal));
        }
        if let Some(show) = show
            && let Some(shown) = show(self)
        {
            return Ok(shown);
        }
        Err(Problem::internal_error("a defect: what was decided is not what its operation shows"))
    }

    pub fn refused(&self, refusal: &Refusal) -> Rendered {
        // It was not done, and nothing is wrong with it.
        if let Refusal::Mandate(MandateRefusal::Awaits { approval }) = refusal {
            let shown = Object::new().plain("status", "awaiting_approval").plain("approvalId", approval);
            return (202, shown.end());
        }
        let problem = refusals::problem(refusal);
        (problem.status, problem.to_json(self.request_id))
    }
}

/// The answer that a record keeps for an Idempotency-Key; the secrets that were in it are those that
/// `secrets` has.
pub fn kept(
    show: Option<Show>,
    kept: &Kept,
    record: &Record,
    time: Timestamp,
    livemode: bool,
    about: Option<Id>,
    secrets: &dyn Secrets,
) -> Result<Rendered, Problem> {
    match &kept.answer {
        Answer::Bytes(status, body) => Ok((*status, body.clone())),
        _ => Facts::of_kept(kept, record, time, livemode, about, secrets).shown_by(show),
    }
}
