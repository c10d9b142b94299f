//! The words for operators and the audit.

use api::openapi::document::Chapter;
use api::openapi::operation::operation;
use api::openapi::schema::{Schema, anything, object, one_of, text};
use api::openapi::values::{instant, page, uuid};
use domain::platform::audit::Who;
use domain::platform::operators::{OperatorStatus, Role};

fn role() -> Schema {
    one_of(Role::ALL.map(Role::name))
}

fn status() -> Schema {
    one_of(OperatorStatus::ALL.map(OperatorStatus::name))
}

/// The id of an operator, or of the token of the configuration.
fn operator_id() -> Schema {
    text().pattern("^(root|[0-9a-f-]{36})$").example(r#""root""#)
}

/// A person, in an entry or an approval.
pub(super) fn who() -> Schema {
    object().member("operatorId", operator_id()).member("name", text())
}

pub(super) fn operators() -> Chapter {
    let begin = || {
        object()
            .member("operatorId", uuid())
            .member("name", text())
            .member("email", text().example(r#""ana@example.com""#))
            .member("role", role())
            .member("status", status())
    };
    Chapter {
        tag: "Operators",
        about: "People with a token and a role of their own. `viewer` reads everything, with personal data masked; `support` also sees payers one at a time, sends events again and cancels payments; `treasury` also does everything that moves or prices money; `admin` does everything. The token of the configuration is the operator `root`.",
        operations: vec![
            operation("getMe", "Read who you are").answers(200, "Me", "The operator whose token was sent"),
            operation("createOperator", "Make an operator")
                .body("NewOperator")
                .example("for the help desk", r#"{"name":"Ana","email":"ana@example.com","role":"support"}"#)
                .answers(201, "OperatorWithToken", "The operator with the token: the only time it is shown")
                .refuses(409, &["operator_exists"]),
            operation("listOperators", "List operators").pages().answers(200, "OperatorPage", "Newest first"),
            operation("getOperator", "Read an operator").answers(200, "Operator", "The operator"),
            operation("updateOperator", "Change an operator's role, or whether the token is taken")
                .about("Who is disabled is refused at once.")
                .body("OperatorChange")
                .example("disable", r#"{"status":"disabled"}"#)
                .answers(200, "Operator", "The operator"),
            operation("rotateOperator", "Give an operator a new token")
                .about("The old one ends at once.")
                .answers(201, "OperatorWithToken", "The operator with the new token: the only time it is shown"),
        ],
        schemas: vec![
            ("Me", object().member("operatorId", operator_id()).member("name", text()).member("email", text().or_null()).member("role", role()).member("status", status()).optional("createdAt", instant())),
            ("Operator", begin().member("createdAt", instant())),
            ("OperatorPage", page("Operator")),
            (
                "OperatorWithToken",
                begin()
                    .member("token", text().about("Begins with `op_`. Shown here, and again only to a repeat with the same Idempotency-Key.").example(r#""op_3f1Zk0""#))
                    .member("createdAt", instant()),
            ),
            (
                "NewOperator",
                object()
                    .member("name", text().chars(1..=120).pattern(r"\S").about("Several operators may have the same."))
                    .member("email", text().about("Nobody else's, however its letters are written.").example(r#""ana@example.com""#))
                    .member("role", role())
                    .closed(),
            ),
            ("OperatorChange", object().optional("role", role().or_null()).optional("status", status().or_null()).members_min(1).closed()),
        ],
        ..Chapter::default()
    }
}

pub(super) fn audit() -> Chapter {
    let members = || anything().about("The changed members; null where there is none.");
    Chapter {
        tag: "Audit",
        about: "One entry for every call that changed something, and for every look at personal data in clear, in the record of the change itself. Refused calls and repeats leave none, and secrets are never in one.",
        operations: vec![
            operation("listAudit", "List who changed what")
                .query(
                    "operatorId",
                    text().about("An operator's id, or `root`.").example(&format!("\"{}\"", Who::ROOT)),
                )
                .query("action", text().example(r#""adjustment.create""#))
                .query("tenantId", uuid())
                .query("from", instant())
                .query("to", instant().about("Exclusive."))
                .pages()
                .answers(200, "AuditPage", "Newest first"),
        ],
        schemas: vec![
            (
                "AuditEntry",
                object()
                    .member("id", uuid())
                    .member("at", instant())
                    .member("operator", who())
                    .member("peer", text().or_null().about("The address that the call came from."))
                    .member(
                        "action",
                        text()
                            .about("Noun and verb, as on the command line.")
                            .example(r#""tenant.settings""#),
                    )
                    .member("tenantId", uuid().or_null())
                    .member("target", text().or_null().about("The id of what it is about."))
                    .member("before", members())
                    .member("after", members())
                    .member("approvalId", uuid().or_null())
                    .member("requestId", text().or_null()),
            ),
            ("AuditPage", page("AuditEntry")),
        ],
        ..Chapter::default()
    }
}
