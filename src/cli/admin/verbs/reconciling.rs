//! The rows about banks' statements.

use super::row::{CURSOR, FIRST_DAY, Fills, ID, Is, LAST_DAY, LIMIT, Operand, Verb, may, must};

/// A file of this machine, which is the body.
const FILE: Operand = Operand {
    name: "FILE",
    fills: Fills::File,
    about: "The statement as CSV, with the names of its columns",
};

pub const RECONCILING: &[Verb] = &[
    Verb {
        noun: "reconciliation",
        verb: "create",
        about: "Upload a bank's statement",
        example: "reconciliation create statement.csv --rail r4 --account 01690001001234567890 --from \
            2026-11-01 --to 2026-11-30",
        method: "POST",
        path: "/admin/reconciliations",
        operands: &[FILE],
        options: &[
            must("rail", "rail", Is::Text, "r4 or wompi"),
            must("account", "account", Is::Text, "The account's 20 digits"),
            FIRST_DAY,
            LAST_DAY,
        ],
    },
    Verb {
        noun: "reconciliation",
        verb: "list",
        about: "List reconciliations, newest first",
        example: "reconciliation list --status failed",
        method: "GET",
        path: "/admin/reconciliations",
        operands: &[],
        options: &[may("status", "status", Is::Text, "running, done or failed"), LIMIT, CURSOR],
    },
    Verb {
        noun: "reconciliation",
        verb: "show",
        about: "Show the progress and the figures of a reconciliation",
        example: "reconciliation show 01930a4b-5c6d-7e8f-9012-3456789a0000",
        method: "GET",
        path: "/admin/reconciliations/:id",
        operands: &[ID],
        options: &[],
    },
    Verb {
        noun: "reconciliation",
        verb: "items",
        about: "List the result of each line",
        example: "reconciliation items 01930a4b-5c6d-7e8f-9012-3456789a0000 --result missingHere",
        method: "GET",
        path: "/admin/reconciliations/:id/items",
        operands: &[ID],
        options: &[
            may(
                "result",
                "result",
                Is::Text,
                "matched, missingHere, missingThere, amountDiffers, proposal or bad",
            ),
            LIMIT,
            CURSOR,
        ],
    },
    Verb {
        noun: "reconciliation",
        verb: "accept",
        about: "Accept proposals: resolve the operations that lines answer",
        example: "reconciliation accept 01930a4b-5c6d-7e8f-9012-3456789a0000 --all true",
        method: "POST",
        path: "/admin/reconciliations/:id/accept",
        operands: &[ID],
        options: &[
            may("all", "all", Is::Truth, "true: every proposal"),
            may("items", "items", Is::List, "Ids of items, instead of all"),
        ],
    },
];
