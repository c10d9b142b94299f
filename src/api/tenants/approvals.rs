//! Calls of keys with a mandate that wait for somebody of the account, and what becomes of them
//! (`docs/contract.md, 3.12`).

use super::mandates::{self, show_amounts};
use crate::endpoint::{Context, Handler, chapter, run, shown};
use crate::fields::Got;
use crate::json;
use crate::lists::{List, Span};
use crate::openapi::operation::Operation;
use crate::openapi::schema::Schema;
use crate::openapi::{kinds, schema, values};
use crate::payouts;
use crate::problem::Problem;
use crate::query::Query;
use crate::respond::Reply;
use crate::writer::{self, Object};
use domain::entities::Entity;
use domain::entities::mandate_approval::{MandateApproval, Status};
use domain::entities::payout::Destination;
use domain::platform::Scope;
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::time::Timestamp;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// The operation whose answer shows what another answers.
pub const APPROVE_OPERATION: &str = "approveCall";

chapter! { "Approvals", "Calls of a key whose mandate has `approvalAbove`: above it they are answered 202 with \
    `awaiting_approval`, and nothing is spent or debited. Somebody of the account decides, in the portal or with a key \
    that has the scope `keys`; after 24 hours of the account's clock, or when its key is revoked, the call has expired. \
    What is approved is decided then, by the balance and the limits of then.", {
        "AwaitingApproval" = awaiting_schema();
        "MandateApproval" = approval_schema();
        "MandateApprovalPage" = page("MandateApproval");
        "ApprovedCall" = approval_schema().member("result", schema::anything().about("What the call itself answers."));
    }
    LIST = run!(list), "List calls that wait or waited for an approval" => {
        filters asked;
        answers 200, "MandateApprovalPage", "Newest first";
    };
    READ = run!(read), "Read a call that waits or waited for an approval" => {
        about "The key that asked reads its own; another needs the scope `keys`.";
        answers 200, "MandateApproval", "The call, and what became of it";
    };
    APPROVE = run!(|cx| decide(cx, true).await), "Approve a call, which is done now" => {
        about "What the call is refused for is answered as to the call itself; it waits on then.";
        answers 200, "ApprovedCall", "It was done; `result` is what it answers";
        with as_the_call;
        refuses 409, &["approval_decided", "approval_expired"];
    };
    REJECT = run!(|cx| decide(cx, false).await), "Reject a call" => {
        answers 200, "MandateApproval", "It will not be done";
        refuses 409, &["approval_decided", "approval_expired"];
    } shows |facts| Some((200, show(facts.the()?, Status::Rejected, WHOLE)));
}

/// What a call that can wait is refused for by what it meets when it is done.
fn as_the_call(operation: Operation) -> Operation {
    operation
        .refuses(400, &["payout_method_not_verified"])
        .refuses(403, &["mandate_exceeded", "mandate_payee"])
        .refuses(403, &["conversions_not_enabled", "usdt_not_enabled", "cop_not_enabled"])
        .refuses(404, &["not_found"])
        .refuses(409, &["external_ref_conflict", "merchant_inactive", "payout_account_not_verified"])
        .refuses(409, &["quote_used", "not_reversible", "payment_not_completed", "insufficient_balance"])
        .refuses(409, &["reversal_window_expired", "reversal_in_progress", "reversal_refused"])
        .refuses(409, &["refund_window_expired", "refund_in_progress"])
        .refuses(410, &["quote_expired"])
        .refuses(422, &["insufficient_balance", "amount_below_minimum", "daily_limit_exceeded"])
        .refuses(
            503,
            &["rail_not_configured", "rail_unavailable", "processor_unavailable", "rate_unavailable"],
        )
}

fn asked(query: &mut Query<'_>) -> Got<Option<Status>> {
    query.optional("status", kinds::named_one(Status::ALL, Status::name))
}

/// What `Facts::refused` answers to a call that waits.
fn awaiting_schema() -> Schema {
    schema::object()
        .member("status", schema::text().constant("awaiting_approval"))
        .member("approvalId", values::uuid())
}

shown! {
    /// A body that is longer than `most` is null.
    pub fn show(approval: &MandateApproval, status: Status, most: usize), approval_schema, 1024 [
        let (call, decision) = (&approval.call, approval.decision.as_ref());
    ] {
        plain "approvalId" = approval.id, uuid();
        plain "status" = status.name(), one_of(Status::ALL.map(Status::name));
        plain "keyId" = approval.key, uuid().about("The key that asked.");
        maybe text "agent" = approval.agent.as_deref(), text().about("Who held the key.");
        json "amount" = &show_amounts([(approval.currency, approval.minor)]),
            mandates::amounts().about("What goes out, with fees.");
        plain "operation" = &call.operation, text().about("The `operationId` of the call.");
        text "path" = &call.path, text();
        json "body" = &body_of(&call.body, most), anything().about("The body of the call, as it was sent; in the list \
            null where it is longer than 8 KiB.");
        json "destinations" = &destinations(&approval.leads_to), list(text().or_null())
            .about("Where the account's own data led each payout when it was asked for, of a batch in the order of its \
            items; null where the call says so. It goes there or, when that has changed, nowhere.");
        text "requestId" = &call.request_id, text();
        plain "createdAt" = approval.created_at, instant();
        plain "expiresAt" = approval.expires_at, instant();
        maybe plain "decidedAt" = decision.map(|decision| decision.at), instant();
        maybe plain "decidedBy" = decision.map(|decision| decision.by), uuid().about("The key that decided.");
    }
}

/// Masked as payouts show them, with the bank.
fn destinations(leads_to: &[Option<Destination>]) -> Vec<u8> {
    let shown = |to: &Option<Destination>| match to {
        Some(to) => writer::text(&format!("{} {}", to.bank(), payouts::masked(to))),
        None => b"null".to_vec(),
    };
    [b"[", &*leads_to.iter().map(shown).collect::<Vec<_>>().join(&b","[..]), b"]"].concat()
}

/// The bytes of a body that a list shows: a hundred calls of a mebibyte each would be an answer that nobody can read.
const LISTED_BYTES: usize = 8 * 1024;
pub const WHOLE: usize = usize::MAX;

fn body_of(body: &[u8], most: usize) -> Vec<u8> {
    match std::str::from_utf8(body) {
        _ if body.len() > most => b"null".to_vec(),
        Ok(text) if json::read(text).is_ok() => text.trim().as_bytes().to_vec(),
        _ => b"{}".to_vec(),
    }
}

/// What the audit says of a decision.
pub fn show_decided(approval: &MandateApproval) -> Vec<u8> {
    Object::new()
        .plain("status", approval.status(approval.created_at).name())
        .maybe_text("agent", approval.agent.as_deref())
        .plain("keyId", approval.key)
        .json("amount", show_amounts([(approval.currency, approval.minor)]))
        .plain("operation", &approval.call.operation)
        .end()
}

/// An approved call with what it answered.
pub fn show_approved(approval: &MandateApproval, result: &[u8]) -> Vec<u8> {
    Object::reopened(show(approval, Status::Approved, WHOLE)).json("result", result).end()
}

/// Tells the status of approvals at an instant of the account's clock: those of a key that works no more are over.
pub struct Statuses {
    now: Timestamp,
    mandates: HashSet<Id>,
}

impl Statuses {
    pub fn of(&self, approval: &MandateApproval) -> Status {
        match approval.status(self.now) {
            Status::Awaiting if !self.mandates.contains(&approval.mandate) => Status::Expired,
            status => status,
        }
    }
}

async fn statuses(cx: &mut Context<'_>) -> Result<Statuses, Problem> {
    let (wall, mode) = (cx.env.now(), cx.caller.key.mode);
    let now = cx.clock().await?;
    let keys = cx.server()?.keys().await?;
    let working = keys.iter().filter(|(key, _)| key.mode == mode && key.works_at(wall));
    let mandates = working.filter_map(|(key, _)| Some(key.details.mandate.as_ref()?.id)).collect();
    Ok(Statuses { now, mandates })
}

async fn list(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (wanted, page) = cx.listed("approvals", asked)?;
    let statuses = Arc::new(statuses(cx).await?);
    let facets = Status::ALL.map(Status::facet).into_iter().collect::<BTreeSet<u8>>();
    let meant = facets.into_iter().filter(|facet| wanted.is_none_or(|wanted| wanted.facet() == *facet));
    let listed = meant.map(|facet| (Kind::MandateApproval, facet)).collect();
    let known = Arc::clone(&statuses);
    let keep = move |entity: &Entity| match entity {
        Entity::MandateApproval(approval) => wanted.is_none_or(|wanted| known.of(approval) == wanted),
        _ => false,
    };
    let list = List::of(listed, Span::default(), Box::new(keep));
    cx.read_long(move |records| {
        list.page(records, &page, &|entity| match entity {
            Entity::MandateApproval(approval) => Some(show(approval, statuses.of(approval), LISTED_BYTES)),
            _ => None,
        })
    })
    .await
}

async fn read(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let own = Arc::clone(&cx.caller.key);
    let approval = find(cx).await;
    let may = own.scopes.allow(Scope::Keys)
        || approval.as_ref().is_ok_and(|approval| {
            own.details.mandate.as_ref().is_some_and(|mandate| mandate.id == approval.mandate)
        });
    if !may {
        return Err(Problem::scope_missing(Scope::Keys.name()));
    }
    let approval = approval?;
    let status = statuses(cx).await?.of(&approval);
    Ok(Reply::json(200, show(&approval, status, WHOLE)))
}

async fn find(cx: &mut Context<'_>) -> Result<MandateApproval, Problem> {
    let id = EntityId::mandate_approval(cx.id("id")?);
    cx.find(|records| match records.entity(id)?.as_deref() {
        Some(Entity::MandateApproval(approval)) => Ok(approval.clone()),
        _ => Err(Problem::not_found().into()),
    })
}

async fn decide(cx: &mut Context<'_>, is_approved: bool) -> Result<Reply, Problem> {
    cx.no_body()?;
    let approval = find(cx).await?;
    let status = statuses(cx).await?.of(&approval);
    cx.server()?.decide_waiting(approval, status, is_approved).await
}
