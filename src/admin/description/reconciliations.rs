//! The words for reconciliation with a bank's statement.

use crate::admin::reconciliations::{
    RAILS, RESULTS, asked, asked_all, asked_items, described_account, read_chosen,
};
use crate::reconciliation::shelf::Status;
use api::kind::body;
use api::openapi::document::Chapter;
use api::openapi::operation::operation;
use api::openapi::schema::{Schema, integer, list, object, one_of, text};
use api::openapi::values::{amount, day, instant, page, uuid};

pub(super) fn reconciliations() -> Chapter {
    Chapter {
        tag: "Reconciliation",
        about: "A bank's statement beside what went over its rail in live mode, of all tenants: what is on \
            both sides, on one alone, and what answers an operation without an outcome.",
        operations: vec![
            operation("createReconciliation", "Upload a bank's statement")
                .about(
                    "At most 100,000 lines and 32 MiB. The header names the columns `date` (YYYY-MM-DD), \
                     `reference` (digits), `amount` (`0.00`), `kind` (`credit` or `debit`), and may name \
                     `phone` and `bank`, in any order, divided by commas or semicolons. The same statement \
                     of \
                     the same rail, account and days again is the first one, with 200, unless that failed.",
                )
                .query(asked)
                .body_in("text/csv", text())
                .answers(202, "ReconciliationBegun", "It runs")
                .answers(200, "ReconciliationBegun", "The same statement was uploaded before"),
            operation("listReconciliations", "List reconciliations").list(asked_all).answers(
                200,
                "ReconciliationPage",
                "Newest first",
            ),
            operation("getReconciliation", "Read how far a reconciliation is").answers(
                200,
                "Reconciliation",
                "The reconciliation",
            ),
            operation("listReconciliationItems", "List what came of each line")
                .about("In the order of the statement, then what is missing there. None before it is done.")
                .list(asked_items)
                .answers(200, "ReconciliationItemPage", "Items"),
            operation("acceptReconciliation", "Resolve the operations that lines answer")
                .about(
                    "Each in a record of its own, as an operator's own word would: done, with the line's \
                     reference. The line of one of two micro-deposits books that one alone: their operation \
                     is resolved when both are. What is resolved already is not accepted again.",
                )
                .body("ReconciliationAcceptance")
                .example("all proposals", r#"{"all":true}"#)
                .answers(200, "ReconciliationAccepted", "How many, and which not")
                .answers(202, "AskedApproval", "It waits for a second person"),
        ],
        schemas: vec![
            (
                "ReconciliationBegun",
                object().member("id", uuid()).member("status", one_of(Status::ALL.map(Status::name))),
            ),
            ("Reconciliation", reconciliation()),
            ("ReconciliationPage", page("Reconciliation")),
            ("ReconciliationItem", item()),
            ("ReconciliationItemPage", page("ReconciliationItem")),
            ("ReconciliationAcceptance", body(read_chosen).members_min(1)),
            (
                "ReconciliationAccepted",
                object().member("accepted", integer().at_least("0")).member("refused", list(refused())),
            ),
        ],
        ..Chapter::default()
    }
}

/// An item that was not accepted.
fn refused() -> Schema {
    object().member("id", uuid()).member(
        "error",
        text().about(
            "A code: `operation_resolved`, `not_found`, or `deposit_booked`, where a line has \
             booked this one of two micro-deposits before.",
        ),
    )
}

fn reconciliation() -> Schema {
    let count = || integer().at_least("0");
    object()
        .member("id", uuid())
        .member("status", one_of(Status::ALL.map(Status::name)))
        .member("rail", one_of(RAILS))
        .member("account", described_account())
        .member("from", day())
        .member("to", day())
        .member("progress", integer().range("0", "100").about("Percent."))
        .member("lines", count())
        .member("matched", count())
        .member("missingHere", count())
        .member("missingThere", count().about("Ours between the days, of which no line is."))
        .member("amountDiffers", count())
        .member("proposals", count())
        .member("bad", count())
        .member(
            "badLines",
            list(object().member("line", integer().about("The header is 1.")).member("message", text()))
                .about("The first 100."),
        )
        .member("message", text().or_null().about("Why it failed."))
        .member("createdAt", instant())
        .member("endedAt", instant().or_null())
}

fn item() -> Schema {
    let line = object()
        .member("number", integer())
        .member("date", day().or_null())
        .member("reference", text().or_null())
        .member("amount", amount().or_null())
        .member("kind", one_of(["credit", "debit"]).or_null())
        .member("phone", text().or_null().about("Masked."))
        .member("bank", text().or_null());
    let ours = object()
        .member("kind", one_of(["payment", "payout", "reversal", "micro_deposit", "operation"]))
        .member("id", uuid().about("Of the payment or payout; of an operation its own."))
        .member("tenantId", uuid().or_null())
        .member("amount", text().pattern(r"^(0|[1-9][0-9]*)(\.[0-9]{2})?$").example(r#""10.00""#))
        .member("reference", text().or_null())
        .member("createdAt", instant());
    object()
        .member("id", uuid())
        .member("result", one_of(RESULTS))
        .member("line", line.or_null())
        .member("ours", ours.or_null())
        .member("message", text().or_null())
}
