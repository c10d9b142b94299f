//! The words for operators and the audit.

use super::finding::owned;
use crate::admin::approvals::read_note;
use crate::admin::operators::{read_change, read_new};
use crate::admin::{approvals, audit, people};
use api::kind::body;
use api::openapi::document::Chapter;
use api::openapi::operation::{Operation, operation};
use api::openapi::schema::{Schema, any_of, anything, integer, list, named, object, one_of, text};
use api::openapi::values::{instant, page, uuid};
use api::{cop_payments, merchants, payments, query, webhooks};
use domain::platform::operators::{OperatorStatus, Role};
use domain::resources::approvals::{Approvable, Status};

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

/// What a call that waits asks for: its body, or its parameters.
fn asked_for() -> Schema {
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
    any_of(bodies.map(named).into_iter().chain([pin, take_over]))
        .about("The body, or the parameters, of the call.")
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
        about: "People with a token and a role of their own. `viewer` reads everything, with personal data \
            masked; `support` also sees payers one at a time, sends events again and cancels payments; \
            `treasury` also does everything that moves or prices money; `admin` does everything. The token \
            of the configuration is the operator `root`.",
        operations: vec![
            operation("getMe", "Read who you are").answers(200, "Me", "The operator whose token was sent"),
            operation("createOperator", "Make an operator")
                .body("NewOperator")
                .example("for the help desk", r#"{"name":"Ana","email":"ana@example.com","role":"support"}"#)
                .answers(201, "OperatorWithToken", "The operator with the token: the only time it is shown")
                .answers(202, "AskedApproval", "It waits for a second person")
                .refuses(409, &["operator_exists"]),
            operation("listOperators", "List operators").list(query::page).answers(
                200,
                "OperatorPage",
                "Newest first",
            ),
            operation("getOperator", "Read an operator").answers(200, "Operator", "The operator"),
            operation("updateOperator", "Change an operator's role, or whether the token is taken")
                .about(
                    "Who is disabled is refused at once, and what that one asked for and nobody approved yet \
                     has ended.",
                )
                .body("OperatorChange")
                .example("disable", r#"{"status":"disabled"}"#)
                .answers(200, "Operator", "The operator")
                .answers(
                    202,
                    "AskedApproval",
                    "A higher role, or an end of being disabled, waits for a second person",
                ),
            operation("rotateOperator", "Give an operator a new token")
                .about("The old one ends at once.")
                .answers(202, "AskedApproval", "It waits for a second person")
                .answers(
                    201,
                    "OperatorWithToken",
                    "The operator with the new token: the only time it is \
                     shown",
                ),
        ],
        schemas: vec![
            (
                "Me",
                object()
                    .member("operatorId", operator_id())
                    .member("name", text())
                    .member("email", text().or_null())
                    .member("role", role())
                    .member("status", status())
                    .optional("createdAt", instant()),
            ),
            ("Operator", begin().member("createdAt", instant())),
            ("OperatorPage", page("Operator")),
            (
                "OperatorWithToken",
                begin()
                    .member(
                        "token",
                        text()
                            .about(
                                "Begins with `op_`. Shown here, and again only to a repeat \
                                 with the same Idempotency-Key.",
                            )
                            .example(r#""op_3f1Zk0""#),
                    )
                    .member("createdAt", instant()),
            ),
            ("NewOperator", body(read_new)),
            ("OperatorChange", body(read_change)),
        ],
        ..Chapter::default()
    }
}

pub(super) fn audit() -> Chapter {
    let members = || anything().about("The changed members; null where there is none.");
    Chapter {
        tag: "Audit",
        about: "One entry for every call that changed something, and for every look at unmasked personal \
            data, in the record of the change itself. Refused calls and repeats leave none, and secrets are \
            never in one.",
        operations: vec![operation("listAudit", "List who changed what").list(audit::asked).answers(
            200,
            "AuditPage",
            "Newest first",
        )],
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

pub(super) fn approvals() -> Chapter {
    let begin = || {
        object()
            .member("approvalId", uuid())
            .member("action", one_of(Approvable::ALL.map(Approvable::name)))
            .member("status", one_of(Status::ALL.map(Status::name)))
    };
    Chapter {
        tag: "Approvals",
        about: "Calls that `[admin] approvals` names wait for a second person: they are answered 202 and do \
            nothing yet. Whoever else may make such a call decides about it, once and in time. The request \
            was checked when it was made; what it meets is checked when it is done.",
        operations: vec![
            operation("listApprovals", "List calls that wait or waited for a second person")
                .list(approvals::asked)
                .answers(200, "ApprovalPage", "Newest first"),
            operation("getApproval", "Read an approval").answers(200, "Approval", "The approval"),
            operation("approveCall", "Let a call go on")
                .about(
                    "It is done at once, in the name of who asked. If its state refuses it, that refusal \
                     is the answer, and it goes on waiting. Whoever created, raised, rotated or enabled the \
                     other within a day is no second person, nor are two for whom the same colleague did. A token \
                     that it makes is shown in this answer \
                     alone.",
                )
                .body_optional("ApprovalNote")
                .example("a note", r#"{"note":"seen on the statement"}"#)
                .answers(200, "ApprovedCall", "What was done")
                .refuses(403, &["second_person_required", "cop_not_enabled"])
                .refuses(
                    409,
                    &[
                        "approval_decided",
                        "approval_expired",
                        "operation_resolved",
                        "payout_not_pending_review",
                        "external_ref_conflict",
                        "settings_changed",
                        "operator_exists",
                        "payout_not_pending",
                        "chargeback_not_allowed",
                        "chargeback_exceeds_payment",
                        "too_many_chargebacks",
                    ],
                )
                .refuses(422, &["insufficient_balance"])
                .refuses(503, &["clock_stepped"]),
            operation("rejectCall", "Refuse a call")
                .body_optional("ApprovalNote")
                .example("a note", r#"{"note":"ask the bank first"}"#)
                .answers(200, "Approval", "The approval")
                .refuses(403, &["second_person_required"])
                .refuses(409, &["approval_decided", "approval_expired"]),
        ],
        schemas: vec![
            ("AskedApproval", begin().member("expiresAt", instant())),
            ("ApprovedCall", begin().member("result", anything().about("What the call itself answers."))),
            (
                "Approval",
                begin()
                    .member("requestedBy", who())
                    .member("decidedBy", who().or_null())
                    .member("note", text().or_null())
                    .member("tenantId", uuid().or_null())
                    .member("target", text().or_null().about("The id that the path names."))
                    .member("request", asked_for())
                    .member("createdAt", instant())
                    .member("expiresAt", instant())
                    .member("decidedAt", instant().or_null()),
            ),
            ("ApprovalPage", page("Approval")),
            ("ApprovalNote", body(read_note)),
        ],
        ..Chapter::default()
    }
}

pub(super) fn people() -> Chapter {
    // A look at a person is written down first.
    let read = |operation: Operation| {
        let asked = operation.query(|query| people::asked(query, || Ok(())));
        asked.refuses(503, &["storage_unavailable"])
    };
    Chapter {
        tag: "People",
        about: "Payments and sellers one at a time, across accounts, with the people in them masked unless \
            they are asked for unmasked.",
        operations: vec![
            read(operation("getAnyPayment", "Read a payment of any account")).answers(
                200,
                "AnyPayment",
                "As its account reads it, with `tenantId` and `mode`; of one by SMS code also `wrongCodes`",
            ),
            read(operation("getAnyMerchant", "Read a seller of any account")).answers(
                200,
                "AnyMerchant",
                "As its account reads it, with `tenantId` and `mode`",
            ),
            operation("cancelAnyPayment", "Cancel a payment that waits for its payer")
                .about("An intent by C2P, or a payment in pesos.")
                .answers_with(200, named("CanceledPayment"), "The payment")
                .answers_with(202, named("CanceledPayment"), "The processor is asked")
                .refuses(409, &["payment_not_pending", "charge_in_progress", "session_paid"])
                .refuses(503, &["clock_stepped"]),
            operation("resendAnyEvent", "Send an event again")
                .about("To every endpoint that is enabled and lists it now.")
                .answers(202, "AnyDeliveries", "The deliveries that wait"),
        ],
        schemas: vec![
            (
                "AnyPayment",
                owned(payments::description::payment())
                    .optional(
                        "wrongCodes",
                        integer().at_least("0").or_null().about(
                            "Of a payment in pesos by SMS code: the wrong codes that were typed, or null where \
                             its first records are too old to be looked at.",
                        ),
                    )
                    .about("A payment in bolívares, pesos or USDT, with `tenantId` and `mode`."),
            ),
            ("PayoutMethod", merchants::description::method()),
            ("Payment", payments::description::payment()),
            ("CopPayment", cop_payments::description::payment()),
            ("SeenPayoutMethod", merchants::description::method().instead("phone", text())),
            (
                "AnyMerchant",
                owned(merchants::description::merchant())
                    .instead("identification", text())
                    .instead("contactEmail", text())
                    .instead("contactPhone", text())
                    .instead("payoutMethods", list(named("SeenPayoutMethod")))
                    .about("A seller, with `tenantId` and `mode`; masked unless it is asked for unmasked."),
            ),
            (
                "CanceledPayment",
                any_of([named("Payment"), named("CopPayment")]).about("The payment, as its account reads it."),
            ),
            (
                "AnyDeliveries",
                object()
                    .member("eventId", uuid())
                    .member("deliveries", list(webhooks::description::delivery()))
                    .about("As the account's own call answers."),
            ),
        ],
        ..Chapter::default()
    }
}
