//! Approval by a second person: calls that wait, and what somebody else says of them
//! (`docs/contract.md, 20.2`).
//!
//! A call that waits was checked as far as its request goes; its state is checked when it is done. It is
//! done once: the approval is held while somebody decides, and the record of the act names it, so that a
//! start after a crash in between writes down what became of it.

use super::call::{Body, Call, CallResult, Done, Handler, Route, Signature, listed_id, run};
use super::take_over;
use crate::gateway::ask::{accepted, defect, entity_patiently, failure};
use crate::gateway::idempotency::mode_in;
use crate::gateway::services::Services;
use crate::gateway::tenant_request::Shows;
use crate::store::history::{self, Unreadable};
use crate::store::merge_cursor::MergeCursor;
use actors::Settled;
use api::endpoint::chapter;
use api::fields::{Fields, Invalid, body, read};
use api::openapi::kinds;
use api::operators::approvals::{self as shown, approved, show};
use api::page::{ListOf, Page};
use api::problem::Problem;
use api::query::{self, Query};
use domain::entities::approval::{Approvable, Approval, AskedCall, Status};
use domain::entities::{Entity, approval};
use domain::index::{self, Space};
use domain::kept::KeepRef;
use domain::machine::Domain;
use domain::machine::{Command, KeyedCommand};
use domain::platform::audit::{AuditEntry, Consent};
use domain::platform::operators::{OperatorAccount, OperatorStatus, Role};
use domain::resources::approvals;
use domain::values::ids::{EntityId, Id, Kind, Mode, PLATFORM, tenant_key};
use domain::values::time::{DAY_MS, Timestamp};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

/// The name under which an approval is held, and under which what was done by it is known.
const HELD: Space = Space::Approved;

impl Call {
    /// Has the call wait for a second person, if it must: the answer to who asked. To be asked when the
    /// request is known to be sound, and before anything is done.
    pub async fn waits_for_approval(&self) -> Result<Option<Done>, Problem> {
        self.waits_about(self.id().ok().filter(|_| self.path.starts_with("/admin/tenants/"))).await
    }

    pub async fn waits_about(&self, tenant: Option<Id>) -> Result<Option<Done>, Problem> {
        self.waits_as(tenant, self.body.bytes.to_vec()).await
    }

    /// Has the call wait with this body, which says the same in more words: whoever decides reads it.
    pub async fn waits_as(&self, tenant: Option<Id>, body: Vec<u8>) -> Result<Option<Done>, Problem> {
        let Some((action, operation)) = self.approval else { return Ok(None) };
        let call = AskedCall {
            by: self.operator.who().clone(),
            peer: Some(self.peer.ip().to_string()),
            request_id: Some(self.request_id.clone()),
            operation: operation.to_owned(),
            path: self.path.clone(),
            query: self.query.clone(),
            body,
            tenant,
            target: self.parameters.first().map(|(_, text)| text.clone()),
        };
        let (_, settled) = ask(&self.services, action, call, self.pending_key.take()).await?;
        let done = self.answer_as(Shows::by(shown::asked), PLATFORM, &settled)?;
        Ok(Some(Done { waits: true, ..done }))
    }
}

async fn ask(
    services: &Services,
    action: Approvable,
    call: AskedCall,
    (keep, held): (Option<KeepRef>, Option<actors::Guard>),
) -> Result<(Id, Box<Settled<Domain>>), Problem> {
    let id = services.fresh_id(PLATFORM);
    let (created_at, expires_at) = (Timestamp::EPOCH, Timestamp::EPOCH);
    let approval = Box::new(Approval { id, action, call, created_at, expires_at, decision: None });
    let ask = approvals::Command::Ask { approval, valid_ms: services.callers.approvals.valid_ms };
    let command = KeyedCommand::from(Command::from(ask)).keeping(keep);
    let asked = services.engine.ask_entity(PLATFORM, EntityId::approval(id), true, command, None, held).await;
    Ok((id, asked.map_err(failure)?))
}

pub enum Begun {
    Recorded,
    Waits(Id),
}

/// Begins the take-over of a copy that `made_by` made with the records up to `seq`: it is done at once or,
/// where that is configured, when a second person approves.
pub async fn begin_take_over(services: &Services, made_by: &str, seq: u64) -> Result<Begun, Problem> {
    // The last run may have ended before the marker went.
    if take_over::recorded_after(services, seq)? {
        return Ok(Begun::Recorded);
    }
    if !services.callers.approvals.of.contains(&Approvable::TakeOver) {
        take_over::record_of_start(services, (made_by, seq)).await?;
        return Ok(Begun::Recorded);
    }
    for id in pending(services)? {
        let known = find(services, id)?.filter(|known| known.action == Approvable::TakeOver);
        if known.is_some_and(|known| known.status(services.now()) == Status::Pending) {
            return Ok(Begun::Waits(id));
        }
    }
    let asked = ask(services, Approvable::TakeOver, take_over::call(made_by, seq), (None, None)).await?;
    Ok(Begun::Waits(asked.0))
}

fn asked(query: Query<'_>, list: ListOf<'_>) -> Result<(Option<Status>, Page), Invalid> {
    query::filtered(query, list, "status", kinds::named_one(Status::ALL, Status::name))
}

chapter! { "Approvals", "Calls that `[admin] approvals` names wait for a second person: they are answered 202 \
    and do nothing yet. Whoever else may make such a call decides about it, once and in time. The request was \
    checked when it was made; what it meets is checked when it is done.", {
        "AskedApproval" = shown::begin_schema().member("expiresAt", instant());
        "ApprovedCall" = shown::begin_schema()
            .member("result", anything().about("What the call itself answers."));
        "Approval" = shown::approval_schema();
        "ApprovalPage" = page("Approval");
        "ApprovalNote" = body(read_note);
    }
    LIST = run!(list), "List calls that wait or waited for a second person" => {
        command "approval list", "List calls that wait or waited for a second person", "--status pending";
        list asked;
        answers 200, "ApprovalPage", "Newest first";
    };
    READ = run!(read), "Read an approval" => {
        command "approval get", "Show an approval", "";
        answers 200, "Approval", "The approval";
    };
    APPROVE = run!(|call| decide(call, true).await), "Let a call go on" => {
        command "approval approve", "Let a call of somebody else go on", "--note \"seen on the statement\"";
        about "It is done at once, in the name of who asked. If its state refuses it, that refusal is the \
            answer, and it goes on waiting. Whoever created, raised, rotated or enabled the other within a day \
            is no second person, nor are two for whom the same colleague did. A token that it makes is shown \
            in this answer alone.";
        body_optional "ApprovalNote";
        example "a note", r#"{"note":"seen on the statement"}"#;
        answers 200, "ApprovedCall", "What was done";
        refuses 403, &["second_person_required", "cop_not_enabled"];
        refuses 409, &["approval_decided", "approval_expired", "operation_resolved",
            "payout_not_pending_review", "external_ref_conflict", "settings_changed", "operator_exists",
            "payout_not_pending", "chargeback_not_allowed", "chargeback_exceeds_payment",
            "too_many_chargebacks"];
        refuses 422, &["insufficient_balance"];
        refuses 503, &["clock_stepped"];
    };
    REJECT = run!(|call| decide(call, false).await), "Refuse a call" => {
        command "approval reject", "Refuse a call of somebody else", "--note \"ask the bank first\"";
        body_optional "ApprovalNote";
        example "a note", r#"{"note":"ask the bank first"}"#;
        answers 200, "Approval", "The approval";
        refuses 403, &["second_person_required"];
        refuses 409, &["approval_decided", "approval_expired"];
    };
}

async fn list(call: Call) -> CallResult {
    let (status, page) = call.listed("approvals", asked)?;
    let is_meant = move |of: Status| status.is_none_or(|wanted| of == wanted);
    let facets: BTreeSet<u8> =
        Status::ALL.into_iter().filter(|one| is_meant(*one)).map(Status::facet).collect();
    let parts = facets.into_iter().map(|facet| index::list(PLATFORM, Kind::Approval, facet)).collect();
    let now = call.services.now();
    let show = move |services: &Services, position: &[u8]| {
        let found = find(services, listed_id(position)?)?;
        Ok(found.filter(|approval| is_meant(approval.status(now))).map(|approval| show(&approval, now)))
    };
    call.walk(parts, (None, None), (page, usize::MAX), show).await
}

async fn read(call: Call) -> CallResult {
    let approval = find(&call.services, call.id()?)?.ok_or_else(Problem::not_found)?;
    Ok(Done::ok(show(&approval, call.services.now())))
}

/// As its page and the API show it, if it is in this log.
pub fn show_one(services: &Services, id: Id) -> Result<Option<Vec<u8>>, Problem> {
    let now = services.now();
    Ok(find(services, id)?.map(|approval| show(&approval, now)))
}

pub(super) fn find(services: &Services, id: Id) -> Result<Option<Approval>, Unreadable> {
    let found = history::entity(services.engine.reader(), PLATFORM, EntityId::approval(id))?;
    match found.as_deref() {
        Some(Entity::Approval(approval)) => Ok(Some(standing(services, approval.clone())?)),
        _ => Ok(None),
    }
}

/// The approval as it stands: one about test data that began anew since it was asked for is over.
pub fn standing(services: &Services, approval: Approval) -> Result<Approval, Unreadable> {
    if approval.decision.is_some() {
        return Ok(approval);
    }
    let Some(test_key) = test_key_of(services, &approval.call)? else { return Ok(approval) };
    let reader = services.engine.reader();
    let Some(begun) = history::begun_at(reader, test_key)? else { return Ok(approval) };
    let at = history::record(reader, begun)?.time;
    let is_of_before = approval.created_at <= at && at < approval.expires_at;
    Ok(if is_of_before { Approval { expires_at: at, ..approval } } else { approval })
}

/// The tenant key of the test data that a call is about; `None` of a call about anything else. It says its
/// mode, or names what is not there in live mode.
fn test_key_of(services: &Services, call: &AskedCall) -> Result<Option<u64>, Unreadable> {
    let Some(tenant) = call.tenant.and_then(|id| services.callers.directory.tenant(id)) else {
        return Ok(None);
    };
    let [live, test] = Mode::ALL.map(|mode| tenant_key(tenant.number, mode));
    if let Some(mode) = mode_in(&call.body) {
        return Ok((mode == Mode::Test).then_some(test));
    }
    let target = call.target.as_deref().and_then(Id::parse).filter(|target| *target != tenant.id);
    let Some(target) = target else { return Ok(None) };
    let (of, _) = target.entity_and_operation();
    for kind in [Kind::Payment, Kind::Payout, Kind::CryptoPayout, Kind::CopPayment, Kind::CopPayout] {
        let key = index::entity(live, EntityId { kind, id: of });
        if services.engine.reader().index_get(&key)?.is_some() {
            return Ok(None);
        }
    }
    Ok(Some(test))
}

/// The least role that may decide about this approval: that of its call. About one that is not there, the
/// least of those that may decide about any.
pub fn least_role(services: &Services, rows: &[Route], id: Option<Id>) -> Role {
    let approval = id.and_then(|id| find(services, id).ok().flatten());
    approval.map_or(Role::Treasury, |approval| role_of(&approval, rows))
}

fn role_of(approval: &Approval, rows: &[Route]) -> Role {
    route_of(approval, rows).map_or(Role::Admin, |route| route.role)
}

fn route_of<'r>(approval: &Approval, rows: &'r [Route]) -> Option<&'r Route> {
    rows.iter().find(|route| route.operation == approval.call.operation)
}

fn read_note(mut fields: Fields<'_>) -> Result<Option<String>, Invalid> {
    Ok(read!(fields { optional note = "note", kinds::prose(1..=500); } => note.map(Cow::into_owned)))
}

async fn decide(call: Call, is_approved: bool) -> CallResult {
    let note = read_note(call.body.optional_fields()?)?;
    let id = call.id()?;
    let services = Arc::clone(&call.services);
    find(&services, id)?.ok_or_else(Problem::not_found)?;
    // Held to the end: whoever decides meanwhile waits, and finds it decided then.
    let _held = services.names.reservations.hold_name(PLATFORM, HELD, &id.to_string()).await;
    settle_one(&services, id).await?;
    end_one(&services, call.rows, id).await?;
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
        let decision = approval::Decision {
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

async fn go_on(call: &Call, approval: &Approval, consent: Consent) -> CallResult {
    let route = route_of(approval, call.rows);
    let asked = &approval.call;
    let action = route.and_then(Route::action);
    let action = action.as_deref().unwrap_or(take_over::ACTION);
    let entry = AuditEntry {
        peer: asked.peer.clone(),
        tenant: asked.tenant,
        target: asked.target.clone(),
        approval: Some(approval.id),
        consent: Some(consent),
        request_id: asked.request_id.clone(),
        ..AuditEntry::by(asked.by.clone(), call.services.now(), action)
    };
    if approval.action == Approvable::TakeOver {
        return take_over::go_on(&call.services, entry).await.map(Done::ok);
    }
    let route = route.ok_or_else(|| defect("an approval of a call that there is none of"))?;
    let parameters = route.path.split('/').zip(asked.path.split('/'));
    let parameters =
        parameters.filter_map(|(name, text)| Some((name.strip_prefix(':')?, text.to_owned()))).collect();
    let inner = Call {
        parameters,
        signature: Arc::new(Signature::of(entry)),
        shows: Shows { show: route.endpoint.show, about: asked.path.rsplit('/').find_map(Id::parse) },
        body: Body { bytes: asked.body.clone().into(), unexpected: Vec::new() },
        ..call.again(asked.path.clone(), asked.query.clone())
    };
    route.perform(inner).await
}

async fn write(
    call: &Call,
    approval: &Approval,
    consent: Consent,
    (status, body): (Status, Vec<u8>),
) -> CallResult {
    let (keep, _held) = call.pending_key.take();
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
    Ok(accepted(asked.map_err(failure)?)?.seq)
}

/// Writes down, at a start, what the last run did by an approval and did not come to say, and what ended.
pub async fn settle_all(services: &Services, rows: &[Route]) -> Result<(), Problem> {
    for id in pending(services)? {
        settle_one(services, id).await?;
    }
    end_all(services, rows).await
}

/// Ends the approvals whose askers may not ask for them any more, for good.
pub async fn end_all(services: &Services, rows: &[Route]) -> Result<(), Problem> {
    for id in pending(services)? {
        end_one(services, rows, id).await?;
    }
    Ok(())
}

/// Ends those of askers who in one of these states might not ask for them, whatever they may now.
pub async fn end_of(
    services: &Services,
    rows: &[Route],
    states: &[Arc<OperatorAccount>],
) -> Result<(), Problem> {
    for id in pending(services)? {
        let might_not = |approval: &Approval| {
            let mut of_asker = states.iter().filter(|state| approval.call.by.id == Some(state.id));
            of_asker.any(|state| !is_enough(state, role_of(approval, rows)))
        };
        end_if(services, id, might_not).await?;
    }
    Ok(())
}

async fn end_one(services: &Services, rows: &[Route], id: Id) -> Result<(), Problem> {
    end_if(services, id, |approval| !may_ask(services, rows, approval)).await
}

async fn end_if(services: &Services, id: Id, is_over: impl Fn(&Approval) -> bool) -> Result<(), Problem> {
    let is_over =
        |approval: &Approval| approval.status(services.now()) == Status::Pending && is_over(approval);
    if find(services, id)?.as_ref().is_some_and(is_over) {
        let end = || Command::from(approvals::Command::End).into();
        let at = EntityId::approval(id);
        entity_patiently(&services.engine, PLATFORM, at, Instant::now(), end).await.map_err(failure)?;
    }
    Ok(())
}

fn pending(services: &Services) -> Result<Vec<Id>, Problem> {
    let part = index::list(PLATFORM, Kind::Approval, Status::Pending.facet());
    let moment = services.engine.reader().index_moment();
    let mut newest = MergeCursor::new(&moment, vec![part], None, None, None)?;
    let mut pending = Vec::new();
    while let Some(suffix) = newest.take()? {
        pending.extend(<[u8; 16]>::try_from(suffix.as_slice()).map(Id::from_bytes));
    }
    Ok(pending)
}

fn may_ask(services: &Services, rows: &[Route], approval: &Approval) -> bool {
    let named = |id| services.callers.operators.named(id);
    approval
        .call
        .by
        .id
        .is_none_or(|id| named(id).is_some_and(|asker| is_enough(&asker, role_of(approval, rows))))
}

fn is_enough(asker: &OperatorAccount, role: Role) -> bool {
    asker.status == OperatorStatus::Active && asker.role >= role
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
    tracing::warn!(approval = %id, "what was approved was done before the last run ended; its approval says so now");
    Ok(())
}
