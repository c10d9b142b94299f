//! Calls above what a mandate lets out without asking (`docs/contract.md, 3.12`). A rule that meets one says so where it
//! looks at the mandate; the machine keeps the call, and has it decided anew once somebody approved it: in the book's
//! turn, on its balance and by the limits of then. The record of what it does says that it was approved.
//!
//! Which calls wait is in the book, and approvals have no actors: records about other entities may change them.

use crate::cause::Cause;
use crate::codec;
use crate::decision::{Draft, Ruled, Ruling, Turn};
use crate::entities::Entity;
use crate::entities::mandate_approval::{MandateApproval, MandateDecision, Member, Subject, WaitingCall};
use crate::entities::payout::Destination;
use crate::entities::resource::{IndexedState, Resource};
use crate::ledger::book::Book;
use crate::ledger::waiting::of_mandate;
use crate::platform::audit::AuditEntry;
use crate::platform::mandate::Mandate;
use crate::record::Written;
use crate::refusal::{ApprovalRefusal, MandateRefusal, Refusal};
use crate::values::ids::Id;
use crate::values::money::Currency;
use crate::values::time::{DAY_MS, Timestamp};
use std::sync::Arc;

/// The most calls of a mandate that wait at the same time.
pub const WAITING_MAX: usize = 100;

/// The time in which an approval can be given, in ms.
const VALID_MS: i64 = DAY_MS;

/// How the call of a key with a mandate stands to approval.
pub enum Consent {
    /// It may have to wait: what is kept of it then.
    Ask(Box<AskedBy>),
    /// It waited, and was approved.
    Given(Box<Given>),
}

pub struct AskedBy {
    /// The id of the approval, if it waits.
    pub id: Id,
    pub key: Id,
    pub call: WaitingCall,
}

pub struct Given {
    pub approval: MandateApproval,
    /// The key of whoever approved.
    pub by: Id,
    pub audit: Box<AuditEntry>,
    /// Of a call that was done before, where its record does not say what it is answered.
    pub known: Option<KnownAnswer>,
}

pub struct KnownAnswer {
    pub body: Vec<u8>,
    /// The function of the API that shows an approval with what its call answered.
    pub show: fn(&MandateApproval, &[u8]) -> Vec<u8>,
}

impl Subject {
    pub fn named(kind: &str, name: &str, members: Vec<Member>) -> Subject {
        Subject { name: format!("{kind} {name}").into(), members }
    }

    /// The names of the members in which another call about the same differs.
    fn differs(&self, again: &Subject) -> Vec<&'static str> {
        let value = |of: &Subject, name| {
            of.members.iter().find(|member| member.name == name).map(|member| member.value.clone())
        };
        let mut names: Vec<&'static str> = Vec::new();
        for name in self.members.iter().chain(&again.members).map(|member| member.name) {
            if !names.contains(&name) && value(self, name) != value(again, name) {
                names.push(name);
            }
        }
        names
    }
}

impl Member {
    pub fn of(name: &'static str, value: &impl codec::Encode) -> Member {
        Member { name, value: codec::encode_newest(value) }
    }
}

/// The answer to a repeat of a call that waits: the same approval, or a conflict.
pub fn repeated(book: &Book, mandate: Id, subject: &Subject, now: Timestamp) -> Option<Refusal> {
    let mut waiting = of_mandate(&book.waiting, mandate).filter(|(_, waiting)| now < waiting.expires_at);
    let (id, first) = waiting.find(|(_, waiting)| waiting.subject.name == subject.name)?;
    let differs = first.subject.differs(subject);
    Some(match differs.is_empty() {
        true => MandateRefusal::Awaits { approval: id }.into(),
        false => Refusal::ExternalRefConflict { existing: id, differs },
    })
}

/// Has a call wait.
pub fn wait(
    book: &Book,
    mandate: &Mandate,
    asked: AskedBy,
    (subject, leads_to): (Subject, Vec<Option<Destination>>),
    (currency, minor): (Currency, i64),
    turn: &Turn<'_>,
) -> Ruling {
    let standing = of_mandate(&book.waiting, mandate.id).filter(|(_, waiting)| turn.now < waiting.expires_at);
    let ends: Vec<Timestamp> = standing.map(|(_, waiting)| waiting.expires_at).collect();
    if ends.len() >= WAITING_MAX {
        let first = ends.iter().min().map_or(0, |end| end.since_ms(turn.now));
        let retry_after_seconds = u32::try_from(first.div_euclid(1000) + 1).unwrap_or(u32::MAX);
        return Ruling::refuse(MandateRefusal::TooManyWaiting { retry_after_seconds });
    }
    let AskedBy { id, key, call } = asked;
    let approval = MandateApproval {
        id,
        key,
        mandate: mandate.id,
        agent: mandate.agent.clone(),
        call,
        currency,
        minor,
        subject,
        created_at: turn.now,
        expires_at: turn.now.plus_ms(VALID_MS),
        decision: None,
        leads_to,
    };
    let draft = Draft::created(Cause::ApprovalAsked, approval);
    Ruling::write_and_refuse(draft, MandateRefusal::Awaits { approval: id })
}

/// Refuses what is decided already, or too late.
fn undecided(book: &Book, approval: &MandateApproval, now: Timestamp) -> Result<(), Refusal> {
    if now >= approval.expires_at && approval.decision.is_none() {
        return Err(ApprovalRefusal::Expired.into());
    }
    match book.waiting.contains_key(&(approval.mandate, approval.id)) {
        true => Ok(()),
        false => Err(ApprovalRefusal::Decided.into()),
    }
}

fn decided(approval: &MandateApproval, is_approved: bool, by: Id, now: Timestamp) -> MandateApproval {
    let decision = Some(MandateDecision { is_approved, by, at: now });
    MandateApproval { decision, ..approval.clone() }
}

/// The ruling on a call that was approved, if its approval could still be given, and it goes where it went when it was
/// asked for. A refusal is the call's own: it waits on.
pub fn given(
    book: &Book,
    entity: Option<&Entity>,
    (given, leads_to): (&Given, &[Option<Destination>]),
    turn: &Turn<'_>,
    decide: impl FnOnce() -> Ruling,
) -> Ruling {
    let Given { approval, by, audit, known } = given;
    if let Err(refusal) = undecided(book, approval, turn.now) {
        return Ruling::refuse(refusal);
    }
    if approval.leads_to != leads_to {
        return Ruling::refuse(MandateRefusal::Payee);
    }
    let ruling = decide();
    if ruling.refusal.is_some() {
        return ruling;
    }
    let approved = decided(approval, true, *by, turn.now);
    // What is known already was done without it.
    let mut draft = ruling.record.unwrap_or_else(|| Draft {
        related: entity.map(|entity| Arc::new(entity.clone())).into_iter().collect(),
        answer: known.as_ref().map(|known| (200, (known.show)(&approved, &known.body))),
        ..Draft::new(Cause::ApprovalDecided)
    });
    let indexed = Some(IndexedState { facet: approval.facet(), deadline: approval.deadline() });
    draft.record.entities.push(Written { state: Arc::new(approved.into()), indexed });
    draft.record.audit = Some(audit.clone());
    Ruling::write_then(draft, ruling.effects)
}

pub struct Rejection {
    pub approval: Box<MandateApproval>,
    pub by: Id,
    pub audit: Box<AuditEntry>,
}

pub fn reject(book: &Book, Rejection { approval, by, audit }: Rejection, turn: &Turn<'_>) -> Ruled {
    undecided(book, &approval, turn.now)?;
    let rejected = decided(&approval, false, by, turn.now);
    let mut draft = Draft::changed(Cause::ApprovalDecided, &*approval, rejected);
    draft.record.audit = Some(audit);
    Ok(Ruling::write(draft))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tests::Sampled as _;
    use crate::entities::mandate_approval::Waiting;
    use crate::platform::audit::Who;

    #[test]
    fn what_was_known_and_is_approved_has_its_answer_in_its_record() {
        let sample = MandateApproval::sample(false, &mut 0);
        let approval = MandateApproval { decision: None, leads_to: Vec::new(), ..sample };
        let expires_at = approval.expires_at;
        let now = expires_at.plus_ms(-1);
        let mut book = Book::default();
        let waiting = Waiting { expires_at, subject: approval.subject.clone() };
        book.waiting.insert((approval.mandate, approval.id), Arc::new(waiting));
        let show: fn(&MandateApproval, &[u8]) -> Vec<u8> = |approval, body| {
            [body, if approval.decision.is_some() { b" approved" } else { b" waits" }].concat()
        };
        let given = |known| Given {
            approval: approval.clone(),
            by: Id::derived(1, 1, 1),
            audit: Box::new(AuditEntry::by(Who { id: None, name: "shop".into() }, now, "approval.approve")),
            known,
        };
        let answer = |known: Option<KnownAnswer>| {
            let ruling = super::given(&book, None, (&given(known), &[]), &Turn::at(now), Ruling::unchanged);
            ruling.record.expect("a record").answer
        };
        let known = KnownAnswer { body: b"a batch".to_vec(), show };
        assert_eq!(answer(Some(known)), Some((200, b"a batch approved".to_vec())));
        assert_eq!(answer(None), None, "it is shown from its record");
    }
}
