//! The second person's word: who may give it, the call that it lets go on, and what is written down.

use super::{HELD, find, take_over};
use crate::admin::call::{Body, Call, CallResult, Done};
use crate::admin::routes::{Route, routes};
use crate::admin::serve::perform;
use crate::admin::signature::Signature;
use crate::gateway::answer::Shows;
use crate::gateway::ask::failure;
use crate::gateway::ask::{defect, entity_patiently};
use crate::gateway::services::Services;
use crate::store::history::{self, Unreadable};
use crate::store::merge_cursor::MergeCursor;
use api::fields::{Fields, Invalid};
use api::openapi::kinds;
use api::operators::approvals::{approved, show};
use api::problem::Problem;
use domain::commands::{Command, KeyedCommand};
use domain::index;
use domain::kept::KeepRef;
use domain::platform::PLATFORM;
use domain::platform::audit::{AuditEntry, Consent};
use domain::platform::operators::{OperatorStatus, Role};
use domain::resources::approvals::{self, Approvable, Approval, Status};
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::time::DAY_MS;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

const NOTE_CHARACTERS: std::ops::RangeInclusive<usize> = 1..=500;

/// The least role that may decide about this approval: that of its call. About one that is not there, the
/// least of those that may decide about any.
pub fn least_role(services: &Services, id: Option<Id>) -> Role {
    let approval = id.and_then(|id| find(services, id).ok().flatten());
    approval.map_or(Role::Treasury, |approval| role_of(&approval))
}

fn role_of(approval: &Approval) -> Role {
    route_of(approval).map_or(Role::Admin, |route| route.role)
}

fn route_of(approval: &Approval) -> Option<Route> {
    routes().into_iter().find(|route| route.operation == approval.call.operation)
}

/// Reads the note of who decides, if there is one.
pub fn read_note(mut fields: Fields<'_>) -> Result<Option<String>, Invalid> {
    let note = fields.optional("note", kinds::prose(NOTE_CHARACTERS));
    let sound = fields.finish()?;
    Ok(note.get(&sound).map(Cow::into_owned))
}

/// Decides about the approval that the path names.
pub async fn decide(call: Call, is_approved: bool) -> CallResult {
    let note = read_note(call.body.optional_fields()?)?;
    let id = call.id("id").ok_or_else(Problem::not_found)?;
    let services = Arc::clone(&call.services);
    find(&services, id)?.ok_or_else(Problem::not_found)?;
    // Held to the end: whoever decides meanwhile waits, and finds it decided then.
    let _held = services.names.reservations.hold_name(PLATFORM, HELD, &id.to_string()).await;
    settle_one(&services, id).await?;
    end_one(&services, id).await?;
    let approval = find(&services, id)?.ok_or_else(Problem::not_found)?;
    let (asker, second) = (&approval.call.by, call.operator.who());
    if asker.is(second) {
        return Err(Problem::second_person_required());
    }
    if let Err(refusal) = approval.may_be_decided(services.now()) {
        return Err(api::refusals::problem(&refusal.into()));
    }
    if !services.callers.operators.are_two(asker, second, approval.created_at.plus_ms(-DAY_MS)) {
        return Err(Problem::second_person_required());
    }
    let consent = Consent { by: call.operator.who().clone(), note };
    if !is_approved {
        let now = services.now();
        let decision = approvals::Decision {
            approved: false,
            by: consent.by.clone(),
            note: consent.note.clone(),
            at: now,
        };
        let rejected = Approval { decision: Some(decision), ..approval.clone() };
        return write(&call, &approval, consent, (Status::Rejected, show(&rejected, now))).await;
    }
    let done = go_on(&call, &approval, consent.clone()).await?;
    if done.status >= 400 {
        return Ok(done);
    }
    let kept = approved(&approval, done.without_secret.as_ref().unwrap_or(&done.body));
    let written = write(&call, &approval, consent, (Status::Approved, kept)).await?;
    // A token is shown to who approved, now and never again: no record has it.
    Ok(Done { body: approved(&approval, &done.body), ..written })
}

/// Does what was asked, in the name of who asked.
async fn go_on(call: &Call, approval: &Approval, consent: Consent) -> CallResult {
    let route = route_of(approval);
    let asked = &approval.call;
    let action = route.as_ref().and_then(|route| route.action).unwrap_or(take_over::ACTION);
    let entry = AuditEntry {
        at: call.services.now(),
        operator: asked.by.clone(),
        peer: asked.peer.clone(),
        action: action.to_owned(),
        tenant: asked.tenant,
        target: asked.target.clone(),
        before: None,
        after: None,
        approval: Some(approval.id),
        consent: Some(consent),
        request_id: asked.request_id.clone(),
    };
    if approval.action == Approvable::TakeOver {
        return take_over::go_on(call, entry).await;
    }
    let route = route.ok_or_else(|| defect("an approval of a call that there is none of"))?;
    let parameters = route.path.split('/').zip(asked.path.split('/'));
    let parameters =
        parameters.filter_map(|(name, text)| Some((name.strip_prefix(':')?, text.to_owned()))).collect();
    let shows = Shows::of(route.show, asked.path.split('/'));
    let inner = Call {
        services: Arc::clone(&call.services),
        turns: Arc::clone(&call.turns),
        path: asked.path.clone(),
        parameters,
        query: asked.query.clone(),
        idempotency_key: None,
        pending_key: Arc::default(),
        signature: Arc::new(Signature::of(entry)),
        shows,
        operator: call.operator.clone(),
        approval: None,
        peer: call.peer,
        request_id: call.request_id.clone(),
        body: Body::new(asked.body.clone().into(), Vec::new()),
    };
    perform(&route, inner).await
}

/// Writes down what was decided, and answers.
async fn write(
    call: &Call,
    approval: &Approval,
    consent: Consent,
    (status, body): (Status, Vec<u8>),
) -> CallResult {
    let (keep, _held) = call.keep();
    let entry = call.sign_about(approval.call.tenant, Some(approval.id.to_string()));
    let entry = entry.map(|entry| Box::new(AuditEntry { approval: Some(approval.id), ..*entry }));
    let seq = written(&call.services, approval, consent, (status, body.clone()), (keep, entry)).await?;
    let mut done = Done::ok(body);
    done.trace.seq = seq;
    Ok(done)
}

async fn written(
    services: &Services,
    approval: &Approval,
    consent: Consent,
    (status, body): (Status, Vec<u8>),
    (keep, entry): (Option<KeepRef>, Option<Box<AuditEntry>>),
) -> Result<Option<u64>, Problem> {
    let command = || {
        let decide = approvals::Command::Decide {
            approved: status == Status::Approved,
            by: consent.by.clone(),
            note: consent.note.clone(),
            answer: (200, body.clone()),
        };
        let said = (entry.clone()).map(|entry| {
            let before = Some(r#"{"status":"pending"}"#.to_owned());
            let after = Some(format!(r#"{{"status":"{}"}}"#, status.name()));
            Box::new(AuditEntry { before, after, ..*entry })
        });
        KeyedCommand::from(Command::from(decide)).keeping(keep.clone()).audited(said)
    };
    let id = EntityId::approval(approval.id);
    let asked = entity_patiently(&services.engine, PLATFORM, id, Instant::now(), command).await;
    let settled = asked.map_err(failure)?;
    match &settled.refusal {
        Some(refusal) => Err(api::refusals::problem(refusal)),
        None => Ok(settled.seq),
    }
}

/// Writes down, at a start, what the last run did by an approval and did not come to say, and what ended.
pub async fn settle_all(services: &Services) -> Result<(), Problem> {
    for id in pending(services)? {
        settle_one(services, id).await?;
    }
    end_all(services).await
}

/// Ends the approvals whose askers may not ask for them any more, for good.
pub async fn end_all(services: &Services) -> Result<(), Problem> {
    for id in pending(services)? {
        end_one(services, id).await?;
    }
    Ok(())
}

async fn end_one(services: &Services, id: Id) -> Result<(), Problem> {
    let is_over = |approval: &Approval| {
        approval.status(services.now()) == Status::Pending && !may_ask(services, approval)
    };
    if find(services, id)?.as_ref().is_some_and(is_over) {
        let end = || Command::from(approvals::Command::End).into();
        let at = EntityId::approval(id);
        entity_patiently(&services.engine, PLATFORM, at, Instant::now(), end).await.map_err(failure)?;
    }
    Ok(())
}

/// The approvals that nobody decided about, newest first; those that have expired too.
pub fn pending(services: &Services) -> Result<Vec<Id>, Problem> {
    let part = index::list(PLATFORM, Kind::Approval, Status::Pending.facet());
    let moment = services.engine.reader().index_moment();
    let mut newest = MergeCursor::new(&moment, vec![part], None, None, None)?;
    let mut pending = Vec::new();
    while let Some(suffix) = newest.take()? {
        pending.extend(<[u8; 16]>::try_from(suffix.as_slice()).map(Id::from_bytes));
    }
    Ok(pending)
}

/// Whether whoever asked may make the call still.
fn may_ask(services: &Services, approval: &Approval) -> bool {
    let named = |id| services.callers.operators.named(id);
    approval.call.by.id.is_none_or(|id| {
        named(id)
            .is_some_and(|asker| asker.status == OperatorStatus::Active && asker.role >= role_of(approval))
    })
}

/// Writes down that the call of an approval was done, if a record says so and its approval does not.
async fn settle_one(services: &Services, id: Id) -> Result<(), Problem> {
    let Some(approval) = find(services, id)?.filter(|approval| approval.decision.is_none()) else {
        return Ok(());
    };
    let reader = services.engine.reader();
    let key = index::name(PLATFORM, HELD, &id.to_string());
    let Some(value) = reader.index_get(&key).map_err(Unreadable::from)? else { return Ok(()) };
    let read = history::record(reader, history::seq(&value)?)?;
    let deed = read.record.audit.as_deref();
    let Some((deed, consent)) = deed.and_then(|deed| Some((deed, deed.consent.clone()?))) else {
        return Err(defect("the index names a record that was not made by its approval"));
    };
    let entry = AuditEntry {
        operator: consent.by.clone(),
        peer: None,
        action: "approval.approve".to_owned(),
        target: Some(id.to_string()),
        consent: None,
        request_id: None,
        ..deed.clone()
    };
    let body = approved(&approval, b"null");
    written(services, &approval, consent, (Status::Approved, body), (None, Some(Box::new(entry)))).await?;
    tracing::warn!(approval = %id, "what was approved was done before the last run ended; its approval says \
        so now");
    Ok(())
}
