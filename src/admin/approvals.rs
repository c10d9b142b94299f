//! Approval by a second person: calls that wait, and what somebody else says of them
//! (`docs/contract.md, 20.2`).
//!
//! A call that waits was checked as far as its request goes; its state is checked when it is done. It is
//! done once: the approval is held while somebody decides, and the record of the act names it, so that a
//! start after a crash in between writes down what became of it.

mod doing;
pub mod take_over;

pub use doing::{end_all, least_role, read_note, settle_all};

use super::call::{Call, CallResult, Done};
use crate::gateway::answer::Shows;
use crate::gateway::ask::failure;
use crate::gateway::idempotency::mode_in;
use crate::gateway::services::Services;
use crate::store::history::{self, Unreadable};
use crate::store::merge_cursor::MergeCursor;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::fields::Invalid;
use api::openapi::kinds;
use api::operators::approvals::{self as shown, show};
use api::page::{ListOf, Page, page_json};
use api::problem::Problem;
use api::query::Query;
use domain::commands::{Command, KeyedCommand};
use domain::index::{self, Space};
use domain::platform::{Mode, PLATFORM, tenant_key};
use domain::record::Entity;
use domain::resources::approvals::{self, Approval, AskedCall, Status};
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::time::Timestamp;
use std::collections::BTreeSet;

impl Call {
    /// Has the call wait for a second person, if it must: the answer to who asked. To be asked when the
    /// request is known to be sound, and before anything is done.
    pub async fn waits_for_approval(&self) -> Result<Option<Done>, Problem> {
        self.waits_about(self.id("id").filter(|_| self.path.starts_with("/admin/tenants/"))).await
    }

    /// Has the call wait like [`Call::waits_for_approval`], about this tenant.
    pub async fn waits_about(&self, tenant: Option<Id>) -> Result<Option<Done>, Problem> {
        self.waits_as(tenant, self.body.bytes().to_vec()).await
    }

    /// Has the call wait with this body, which says the same in more words: whoever decides reads it.
    pub async fn waits_as(&self, tenant: Option<Id>, body: Vec<u8>) -> Result<Option<Done>, Problem> {
        let Some((action, operation)) = self.approval else { return Ok(None) };
        let id = self.services.fresh_id(PLATFORM);
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
        let approval = Approval {
            id,
            action,
            call,
            created_at: Timestamp::EPOCH,
            expires_at: Timestamp::EPOCH,
            decision: None,
        };
        let valid_ms = self.services.callers.approvals.valid_ms;
        let ask = approvals::Command::Ask { approval: Box::new(approval), valid_ms };
        let (keep, held) = self.keep();
        let command = KeyedCommand::from(Command::from(ask)).keeping(keep);
        let engine = &self.services.engine;
        let asked = engine.ask_entity(PLATFORM, EntityId::approval(id), true, command, None, held).await;
        let settled = asked.map_err(failure)?;
        let done = self.answer_as(Shows::by(shown::asked), PLATFORM, &settled)?;
        Ok(Some(Done { waits: true, ..done }))
    }
}

/// Reads which approvals are asked for.
pub(super) fn asked(mut query: Query<'_>, list: ListOf<'_>) -> Result<(Option<Status>, Page), Invalid> {
    let status = query.optional("status", kinds::named_one(Status::ALL, Status::name));
    let page = query.page(list);
    let sound = query.finish()?;
    Ok((status.get(&sound), page.get(&sound)))
}

/// GET /admin/approvals: newest first.
pub async fn list(call: Call) -> CallResult {
    let (status, page) = call.listed("approvals", asked)?;
    let read = move |services: &Services, budget: &ReadBudget| items(services, status, &page, budget);
    Ok(Done::ok(call.services.read_pool.read(&call.services, PLATFORM, read).await?))
}

fn items(
    services: &Services,
    status: Option<Status>,
    page: &Page,
    budget: &ReadBudget,
) -> Result<Vec<u8>, Stopped> {
    let (reader, now) = (services.engine.reader(), services.now());
    let facets: BTreeSet<u8> = Status::ALL
        .into_iter()
        .filter(|one| status.is_none_or(|wanted| wanted == *one))
        .map(Status::facet)
        .collect();
    let parts = facets.into_iter().map(|facet| index::list(PLATFORM, Kind::Approval, facet)).collect();
    let moment = reader.index_moment();
    let mut newest = MergeCursor::new(&moment, parts, page.after.as_deref(), None, Some(budget))?;
    let mut items = Vec::with_capacity(page.limit);
    let mut last = Vec::new();
    while let Some(suffix) = newest.take()? {
        if items.len() == page.limit {
            return Ok(page_json(items, Some(&page.next(&last))));
        }
        budget.spend()?;
        let id = <[u8; 16]>::try_from(suffix.as_slice()).map(Id::from_bytes).ok();
        let found = id.map(|id| history::entity(reader, PLATFORM, EntityId::approval(id))).transpose()?;
        if let Some(Some(Entity::Approval(approval))) = found.as_ref().map(Option::as_deref) {
            let approval = standing(services, approval.clone())?;
            if status.is_none_or(|wanted| approval.status(now) == wanted) {
                items.push(show(&approval, now));
                last = suffix;
            }
        }
    }
    Ok(page_json(items, None))
}

/// GET /admin/approvals/:id
pub async fn read(call: Call) -> CallResult {
    let id = call.id("id").ok_or_else(Problem::not_found)?;
    let approval = find(&call.services, id)?.ok_or_else(Problem::not_found)?;
    Ok(Done::ok(show(&approval, call.services.now())))
}

fn find(services: &Services, id: Id) -> Result<Option<Approval>, Problem> {
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

/// The name under which an approval is held, and under which what was done by it is known.
const HELD: Space = Space::Approved;

/// POST /admin/approvals/:id/approve
pub async fn approve(call: Call) -> CallResult {
    doing::decide(call, true).await
}

/// POST /admin/approvals/:id/reject
pub async fn reject(call: Call) -> CallResult {
    doing::decide(call, false).await
}
