//! Decisions about calls of keys with a mandate that wait for an approval (`docs/contract.md, 3.12`). One that is approved
//! is made again as it came, by the key that asked, and goes the way of every call; its record says that it was approved.

use crate::gateway::idempotency;
use crate::gateway::own_account::signed;
use crate::gateway::services::Services;
use crate::gateway::tenant_request::TenantRequest;
use crate::http::respond::Reply;
use crate::http::router::Parameters;
use crate::store::history;
use api::answer::{Facts, Rendered};
use api::endpoint::{Caller, Target};
use api::problem::Problem;
use api::query::percent_decode;
use api::refusals::problem;
use api::routes::{Route, routes};
use api::tenants::approvals::show_approved;
use domain::entities::Entity;
use domain::entities::mandate_approval::{MandateApproval, Status};
use domain::kept::KeepRef;
use domain::machine::Command;
use domain::platform::mandate::Mandate;
use domain::refusal::ApprovalRefusal;
use domain::resources::mandate_approvals::{Consent, Given, Rejection};
use domain::values::ids::{EntityId, Id};
use std::sync::Arc;

/// A call that waited, to be made again.
pub struct Again {
    pub route: Route,
    pub caller: Caller,
    pub parameters: Parameters,
    pub body: Vec<u8>,
    pub consent: Consent,
}

/// The refusal to decide what has this status.
pub fn undecided(status: Status) -> Result<(), Problem> {
    match status {
        Status::Awaiting => Ok(()),
        Status::Expired => Err(problem(&ApprovalRefusal::Expired.into())),
        Status::Approved | Status::Rejected => Err(problem(&ApprovalRefusal::Decided.into())),
    }
}

pub async fn reject(request: &mut TenantRequest<'_>, approval: MandateApproval) -> Result<Reply, Problem> {
    let by = request.caller.key.id;
    let audit = signed("approval.reject", approval.id.to_string(), request.services.now(), request);
    let rejection = Rejection { approval: Box::new(approval), by, audit };
    let outcome = request.send(Target::Book, Command::RejectWaiting(rejection), None).await?;
    request.answer(outcome)
}

pub async fn again(request: &TenantRequest<'_>, approval: MandateApproval) -> Result<Again, Problem> {
    let caller =
        asking(request, &approval).await?.ok_or_else(|| problem(&ApprovalRefusal::Expired.into()))?;
    let route = route_of(&approval).ok_or_else(|| Problem::internal_error("a call of no route waits"))?;
    let (parameters, body) = (parameters(&route, &approval.call.path), approval.call.body.clone());
    let audit = signed("approval.approve", approval.id.to_string(), request.services.now(), request);
    let given = Given { approval, by: request.caller.key.id, audit, known: None };
    Ok(Again { route, caller, parameters, body, consent: Consent::Given(Box::new(given)) })
}

/// The key that asked, or the newest that came in its place; none where all of them were revoked.
async fn asking(request: &TenantRequest<'_>, approval: &MandateApproval) -> Result<Option<Caller>, Problem> {
    let (services, by) = (request.services, request.caller);
    let keys = services.keys_of(by.tenant.number).await?;
    let of_mandate = |mandate: &Mandate| mandate.id == approval.mandate;
    let working = keys.into_iter().map(|(key, _)| key).filter(|key| {
        let is_meant = key.details.mandate.as_deref().is_some_and(of_mandate);
        is_meant && key.mode == by.key.mode && key.works_at(services.now())
    });
    let working: Vec<_> = working.collect();
    let key = working.iter().find(|key| key.id == approval.key).or(working.first());
    let (tenant, tenant_key, version) = (&by.tenant, by.tenant_key, by.version);
    Ok(key.map(|key| Caller { tenant: Arc::clone(tenant), key: Arc::clone(key), tenant_key, version }))
}

fn route_of(approval: &MandateApproval) -> Option<Route> {
    routes().into_iter().find(|route| route.operation == &*approval.call.operation)
}

/// The parameters in the path of a call of this route.
fn parameters(route: &Route, path: &str) -> Parameters {
    let parts = route.path.split('/').zip(path.split('/'));
    parts
        .filter_map(|(known, sent)| Some((known.strip_prefix(':')?, percent_decode(sent)?.into_owned())))
        .collect()
}

/// The answer to who approved, of what the call answered; of a refusal the call's own.
pub async fn answer(
    services: &Arc<Services>,
    tenant: u64,
    id: Id,
    keep: Option<KeepRef>,
    reply: Reply,
) -> Result<Reply, Problem> {
    let found = history::entity(services.engine.reader(), tenant, EntityId::mandate_approval(id))?;
    let Some(Entity::MandateApproval(approval)) = found.as_deref() else {
        return Err(Problem::internal_error("a call was approved, and its approval is gone"));
    };
    if reply.status >= 300 {
        // The bank's refusal, which came after the approval was given, is what its Idempotency-Key is answered.
        if reply.status < 500 && approval.decision.is_some() {
            idempotency::keep_answer(services, tenant, keep, (reply.status, &reply.body)).await?;
        }
        return Ok(reply);
    }
    let shown = show_approved(approval, &reply.body);
    // The record of the call keeps what it answers before a bank has: it is told again as it was told. Of what was known
    // it keeps these bytes.
    if let Some(keep) = keep
        && !idempotency::keeps(services, tenant, &keep, (200, &shown))?
    {
        idempotency::keep_answer(services, tenant, Some(keep), (200, &shown)).await?;
    }
    Ok(Reply::json(200, shown).trace(reply.trace))
}

/// The answer to who approved, of the record alone.
pub fn approved(facts: &Facts<'_>) -> Option<Rendered> {
    let approval = facts.record?.decided_approval()?;
    let route = route_of(approval)?;
    let about = parameters(&route, &approval.call.path).iter().rev().find_map(|(_, text)| Id::parse(text));
    let of_call = Facts { about, ..facts.of_call() };
    let (_, result) = of_call.shown_by(route.endpoint.show).ok()?;
    Some((200, show_approved(approval, &result)))
}
