//! Approvals as they are shown: calls that wait for a second person, and what came of them.

use super::{show_who, who_schema};
use crate::answer::{Facts, Rendered};
use crate::endpoint::shown;
use crate::json::{self, Shape};
use crate::openapi::schema::{self, Schema};
use crate::writer::{Object, text};
use domain::entities::approval::{Approvable, Approval, AskedCall, Status};
use domain::values::time::Timestamp;

/// The answer to a call that waits now; `None` of one that does not.
pub fn asked(facts: &Facts<'_>) -> Option<Rendered> {
    let approval: &Approval = facts.the()?;
    let shown = Object::reopened(begin(approval, Status::Pending));
    Some((202, shown.plain("expiresAt", approval.expires_at).end()))
}

/// The answer to who approved, with what the call itself would have answered.
pub fn approved(approval: &Approval, result: &[u8]) -> Vec<u8> {
    let is_json = std::str::from_utf8(result).is_ok_and(|text| json::read(text).is_ok());
    let shown = Object::reopened(begin(approval, Status::Approved));
    shown.json_or_null("result", is_json.then_some(result)).end()
}

shown! {
    fn begin(approval: &Approval, status: Status), begin_schema, 512 {
        plain "approvalId" = approval.id, uuid();
        plain "action" = approval.action.name(), one_of(Approvable::ALL.map(Approvable::name));
        plain "status" = status.name(), one_of(Status::ALL.map(Status::name));
    }
}

shown! {
    pub fn show(approval: &Approval, now: Timestamp), approval_schema, 1024 [
        let (call, decision) = (&approval.call, approval.decision.as_ref());
    ] {
        plain "approvalId" = approval.id, uuid();
        plain "action" = approval.action.name(), one_of(Approvable::ALL.map(Approvable::name));
        plain "status" = approval.status(now).name(), one_of(Status::ALL.map(Status::name));
        json "requestedBy" = &show_who(&call.by), who_schema();
        maybe json "decidedBy" = decision.map(|decision| show_who(&decision.by)), who_schema();
        maybe text "note" = decision.and_then(|decision| decision.note.as_deref()), text();
        maybe plain "tenantId" = call.tenant, uuid();
        maybe text "target" = call.target.as_deref(), text().about("The id that the path names.");
        json "request" = &request(call), asked_for();
        plain "createdAt" = approval.created_at, instant();
        plain "expiresAt" = approval.expires_at, instant();
        maybe plain "decidedAt" = decision.map(|decision| decision.at), instant();
    }
}

fn asked_for() -> Schema {
    use schema::{any_of, integer, object, text};
    let bodies = [
        "NewAdjustment",
        "NewRate",
        "LiveStatusChange",
        "OperationResolution",
        "Rejection",
        "ReconciliationAcceptance",
        "NewOperator",
        "OperatorChange",
        "NewChargeback",
        "NewCopPayout",
        "CopPayoutCompletion",
        "CopPayoutFailure",
    ];
    let pin = object().member("pair", text()).member("source", text()).member("side", text());
    let take_over = object().member("madeBy", text()).member("walSeq", integer().at_least("0"));
    any_of(bodies.map(schema::named).into_iter().chain([pin, take_over]))
        .about("The body, or the parameters, of the call.")
}

/// The members of the request: those of its body, or its parameters where it has none.
fn request(call: &AskedCall) -> Vec<u8> {
    if let Ok(body) = std::str::from_utf8(&call.body)
        && matches!(json::read(body), Ok(Shape::Object(_)))
    {
        return body.trim().as_bytes().to_vec();
    }
    let pairs = call.query.as_deref().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let decoded = |part: &str| {
        let spaced = part.replace('+', " ");
        percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
    };
    let members: Vec<String> = pairs
        .map(|(name, value)| {
            let quoted = |part: &str| String::from_utf8(text(&decoded(part))).unwrap_or_default();
            format!("{}:{}", quoted(name), quoted(value))
        })
        .collect();
    format!("{{{}}}", members.join(",")).into_bytes()
}
