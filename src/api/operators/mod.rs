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
use crate::endpoint::shown;
use crate::json::{self, Member, Shape};
use crate::openapi::schema::{self, Schema};
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

shown! {
    fn begin(operator: &OperatorAccount), begin_schema, 256 {
        plain "operatorId" = operator.id, uuid();
        text "name" = &operator.name, text();
        text "email" = &operator.email, text().example(r#""ana@example.com""#);
        plain "role" = operator.role.name(), one_of(Role::ALL.map(Role::name));
        plain "status" = operator.status.name(), one_of(OperatorStatus::ALL.map(OperatorStatus::name));
    }
}

fn members(operator: &OperatorAccount, token: Option<&str>) -> Vec<u8> {
    let mut shown = Object::reopened(begin(operator));
    if let Some(token) = token {
        shown = shown.text("token", token);
    }
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

/// The id of an operator, or `root`.
pub fn operator_id() -> Schema {
    schema::text().pattern("^(root|[0-9a-f-]{36})$").example(r#""root""#)
}

shown! {
    /// A person in an entry of the audit or an approval.
    pub fn show_who(who: &Who), who_schema, 128 {
        text "operatorId" = who.shown_id(), operator_id();
        text "name" = &who.name, text();
    }
}

const CHANGED: &str = "The changed members; null where there is none.";

shown! {
    /// An entry of the audit; its id comes from its record.
    pub fn show_entry(entry: &AuditEntry, record: &Record), entry_schema, 512 {
        plain "id" = entry.id(record.seed), uuid();
        plain "at" = entry.at, instant();
        json "operator" = &show_who(&entry.operator), who_schema();
        maybe text "peer" = entry.peer.as_deref(), text().about("The address that the call came from.");
        text "action" = &entry.action,
            text().about("Noun and verb, as on the command line.").example(r#""tenant.settings""#);
        maybe plain "tenantId" = entry.tenant, uuid();
        maybe text "target" = entry.target.as_deref(), text().about("The id of what it is about.");
        json "before" = entry.before.as_deref().unwrap_or("null").as_bytes(), anything().about(CHANGED);
        json "after" = entry.after.as_deref().unwrap_or("null").as_bytes(), anything().about(CHANGED);
        maybe plain "approvalId" = entry.approval, uuid();
        maybe text "requestId" = entry.request_id.as_deref(), text();
        maybe plain "keyId" = entry.key, uuid().about("The account's own key that acted; null where an operator did.");
        maybe text "agent" = entry.agent.as_deref(), text().about("Who held that key, by its mandate of then.");
    }
}
