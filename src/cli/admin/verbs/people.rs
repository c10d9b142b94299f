//! The verbs about people: operators, what they approve, what they did, and what support does.

use super::row::{CURSOR, ID, Is, LIMIT, Operand, Opt, Verb, may, must};

const NOTE: Opt = may("note", "note", Is::Text, "Why");
const UNMASK: Opt = may("unmask", "unmask", Is::Truth, "People unmasked; it is in the audit");

type Call = (&'static str, &'static str);

const fn row(
    (noun, verb): (&'static str, &'static str),
    (about, example): (&'static str, &'static str),
    (method, path): Call,
    operands: &'static [Operand],
    options: &'static [Opt],
) -> Verb {
    Verb { noun, verb, about, example, method, path, operands, options }
}

pub const PEOPLE: &[Verb] = &[
    row(("me", ""), ("Show who the token is", "me"), ("GET", "/admin/me"), &[], &[]),
    row(
        ("operator", "create"),
        (
            "Make an operator; the token is shown only now",
            "operator create --name Ana --email ana@example.com --role support",
        ),
        ("POST", "/admin/operators"),
        &[],
        &[
            must("name", "name", Is::Text, "The name for people"),
            must("email", "email", Is::Text, "The e-mail address, nobody else's"),
            must("role", "role", Is::Text, "viewer, support, treasury or admin"),
        ],
    ),
    row(
        ("operator", "list"),
        ("List operators, newest first", "operator list"),
        ("GET", "/admin/operators"),
        &[],
        &[LIMIT, CURSOR],
    ),
    row(
        ("operator", "get"),
        ("Show an operator", "operator get 01930a4b-5c6d-7e8f-9012-3456789a0000"),
        ("GET", "/admin/operators/:id"),
        &[ID],
        &[],
    ),
    row(
        ("operator", "update"),
        (
            "Change the role, or disable",
            "operator update 01930a4b-5c6d-7e8f-9012-3456789a0000 --status disabled",
        ),
        ("PATCH", "/admin/operators/:id"),
        &[ID],
        &[
            may("role", "role", Is::Text, "viewer, support, treasury or admin"),
            may("status", "status", Is::Text, "active or disabled"),
        ],
    ),
    row(
        ("operator", "rotate"),
        (
            "Give a new token, shown only now; the old one ends at once",
            "operator rotate 01930a4b-5c6d-7e8f-9012-3456789a0000",
        ),
        ("POST", "/admin/operators/:id/rotate"),
        &[ID],
        &[],
    ),
    row(
        ("approval", "list"),
        ("List calls that wait or waited for a second person", "approval list --status pending"),
        ("GET", "/admin/approvals"),
        &[],
        &[may("status", "status", Is::Text, "pending, approved, rejected or expired"), LIMIT, CURSOR],
    ),
    row(
        ("approval", "get"),
        ("Show an approval", "approval get 01930a4b-5c6d-7e8f-9012-3456789a0000"),
        ("GET", "/admin/approvals/:id"),
        &[ID],
        &[],
    ),
    row(
        ("approval", "approve"),
        (
            "Let a call of somebody else go on",
            "approval approve 01930a4b-5c6d-7e8f-9012-3456789a0000 --note \"seen on the statement\"",
        ),
        ("POST", "/admin/approvals/:id/approve"),
        &[ID],
        &[NOTE],
    ),
    row(
        ("approval", "reject"),
        (
            "Refuse a call of somebody else",
            "approval reject 01930a4b-5c6d-7e8f-9012-3456789a0000 --note \"ask the bank first\"",
        ),
        ("POST", "/admin/approvals/:id/reject"),
        &[ID],
        &[NOTE],
    ),
    row(
        ("audit", "list"),
        ("List who changed what, newest first", "audit list --action adjustment.create"),
        ("GET", "/admin/audit"),
        &[],
        &[
            may("operatorId", "operator-id", Is::Text, "Whose, or root"),
            may("action", "action", Is::Text, "Noun and verb, such as tenant.settings"),
            may("tenantId", "tenant-id", Is::Text, "About which tenant"),
            may("from", "from", Is::Text, "From this instant on"),
            may("to", "to", Is::Text, "Before this instant"),
            LIMIT,
            CURSOR,
        ],
    ),
    row(
        ("payment", "get"),
        ("Show a payment of any tenant", "payment get 01930a4b-5c6d-7e8f-9012-3456789a0000"),
        ("GET", "/admin/payments/:id"),
        &[ID],
        &[UNMASK],
    ),
    row(
        ("payment", "cancel"),
        ("Cancel a payment that waits for its payer", "payment cancel 01930a4b-5c6d-7e8f-9012-3456789a0000"),
        ("POST", "/admin/payments/:id/cancel"),
        &[ID],
        &[],
    ),
    row(
        ("merchant", "get"),
        ("Show a seller of any tenant", "merchant get 01930a4b-5c6d-7e8f-9012-3456789a0000"),
        ("GET", "/admin/merchants/:id"),
        &[ID],
        &[UNMASK],
    ),
    row(
        ("event", "resend"),
        ("Send an event to its endpoints again", "event resend 01930a4b-5c6d-7e8f-9012-3456789a0000"),
        ("POST", "/admin/events/:id/resend"),
        &[ID],
        &[],
    ),
];
