//! The operators' view of operators (`docs/contract.md, 20.1, 20.3`), and what the audit says of changes.
//! Their calls are in `admin/operators.rs` and `admin/audit.rs`.
//!
//! A token in plain text comes from outside, and only for the answer that makes it: what is kept of that
//! answer leaves it out.

pub mod approvals;
mod changes;
mod difference;

pub use changes::changes;
pub use difference::masked;
use domain::entities::payment::Payment;

use crate::answer::{Facts, Rendered};
use crate::json::{self, Member, Shape};
use crate::writer::Object;
use domain::platform::PlatformChange;
use domain::platform::audit::{AuditEntry, Who};
use domain::platform::operators::{OperatorAccount, OperatorStatus, Role};
use domain::record::Record;

/// An operator as JSON, without a token.
pub fn show(operator: &OperatorAccount) -> Vec<u8> {
    members(operator, None)
}

/// The operator that a record made or gave a new token, with the token if it may be shown; `None` if it
/// is not about one.
pub fn made(record: &Record, token: Option<&str>) -> Option<Vec<u8>> {
    of(record).map(|operator| members(operator, token))
}

/// The answer to who made an operator or gave it a new token.
pub fn show_made(facts: &Facts<'_>) -> Option<Rendered> {
    let operator = of(facts.record?)?;
    Some((201, members(operator, facts.secrets.token(operator).as_deref())))
}

pub fn of(record: &Record) -> Option<&OperatorAccount> {
    match record.platform.as_deref()? {
        PlatformChange::Operator(operator) => Some(operator),
        _ => None,
    }
}

fn members(operator: &OperatorAccount, token: Option<&str>) -> Vec<u8> {
    let shown = Object::new()
        .plain("operatorId", operator.id)
        .text("name", &operator.name)
        .text("email", &operator.email)
        .plain("role", operator.role.name())
        .plain("status", operator.status.name());
    let shown = match token {
        Some(token) => shown.text("token", token),
        None => shown,
    };
    shown.plain("createdAt", operator.created_at).end()
}

/// The operator `root`: whoever has the token of the configuration.
pub fn show_root() -> Vec<u8> {
    Object::new()
        .text("operatorId", Who::ROOT)
        .text("name", Who::ROOT)
        .null("email")
        .plain("role", Role::Admin.name())
        .plain("status", OperatorStatus::Active.name())
        .end()
}

/// A payment as it was shown, with its payer unmasked.
pub fn unmasked_payment(shown: Vec<u8>, payment: &Payment) -> Vec<u8> {
    let Some(debtor) = payment.debtor() else { return shown };
    let text = String::from_utf8(shown).unwrap_or_default();
    let Ok(Shape::Object(members)) = json::read(&text) else { return text.into_bytes() };
    let clear = |object: Object, member: &Member<'_>| match &*member.name {
        "debtorId" => object.plain("debtorId", debtor.id.clear()),
        "debtorCellPhone" => object.plain("debtorCellPhone", debtor.phone.clear()),
        name => object.json(name, member.value.as_bytes()),
    };
    members.iter().fold(Object::with_capacity(1280), clear).end()
}

/// A person in an entry of the audit or an approval.
pub fn show_who(who: &Who) -> Vec<u8> {
    Object::new().text("operatorId", who.shown_id()).text("name", &who.name).end()
}

/// An entry of the audit; its id comes from its record.
pub fn show_entry(entry: &AuditEntry, record: &Record) -> Vec<u8> {
    Object::with_capacity(512)
        .plain("id", entry.id(record.seed))
        .plain("at", entry.at)
        .json("operator", &show_who(&entry.operator))
        .maybe_text("peer", entry.peer.as_deref())
        .text("action", &entry.action)
        .maybe_plain("tenantId", entry.tenant)
        .maybe_text("target", entry.target.as_deref())
        .json_or_null("before", entry.before.as_deref())
        .json_or_null("after", entry.after.as_deref())
        .maybe_plain("approvalId", entry.approval)
        .maybe_text("requestId", entry.request_id.as_deref())
        .end()
}
