//! Approvals as they are shown: calls that wait for a second person, and what came of them.

use super::show_who;
use crate::answer::{Facts, Rendered};
use crate::json::{self, Shape};
use crate::writer::{Object, text};
use domain::entities::approval::{Approval, AskedCall, Status};
use domain::values::time::Timestamp;

/// The answer to a call that waits now; `None` of one that does not.
pub fn asked(facts: &Facts<'_>) -> Option<Rendered> {
    let approval: &Approval = facts.the()?;
    Some((202, begin(approval, Status::Pending).plain("expiresAt", approval.expires_at).end()))
}

/// The answer to who approved, with what the call itself would have answered.
pub fn approved(approval: &Approval, result: &[u8]) -> Vec<u8> {
    let is_json = std::str::from_utf8(result).is_ok_and(|text| json::read(text).is_ok());
    begin(approval, Status::Approved).json_or_null("result", is_json.then_some(result)).end()
}

pub fn show(approval: &Approval, now: Timestamp) -> Vec<u8> {
    let AskedCall { by, tenant, target, .. } = &approval.call;
    let decision = approval.decision.as_ref();
    begin(approval, approval.status(now))
        .json("requestedBy", &show_who(by))
        .json_or_null("decidedBy", decision.map(|decision| show_who(&decision.by)))
        .maybe_text("note", decision.and_then(|decision| decision.note.as_deref()))
        .maybe_plain("tenantId", *tenant)
        .maybe_text("target", target.as_deref())
        .json("request", &request(&approval.call))
        .plain("createdAt", approval.created_at)
        .plain("expiresAt", approval.expires_at)
        .maybe_plain("decidedAt", decision.map(|decision| decision.at))
        .end()
}

fn begin(approval: &Approval, status: Status) -> Object {
    Object::with_capacity(512)
        .plain("approvalId", approval.id)
        .plain("action", approval.action.name())
        .plain("status", status.name())
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
