//! Statements, as the description tells of them.

use super::{CURRENCIES, members};
use crate::openapi::document::Chapter;
use crate::openapi::operation::Operation;
use crate::openapi::schema::{Schema, list, named, object, one_of, text};
use crate::shown::Describing;
use domain::ledger::days::Column;

/// The heading of the chapter.
pub(crate) const TAG: &str = "Statements";

/// The chapter.
pub fn chapter() -> Chapter {
    Chapter {
        tag: TAG,
        about: "What moved on each day. Days are those of Caracas, and of Bogotá for pesos; midnight belongs \
            to the new day. `opening` and all columns add up to `closing`, which is the next day's \
            `opening`. Holds and the reserve are not in it.",
        schemas: schemas(),
        ..Chapter::default()
    }
}

/// The answer with a statement.
pub fn statement(operation: Operation) -> Operation {
    operation.answers(200, "Statement", "A line for every day, empty ones too, oldest first")
}

/// The schemas of a statement.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        (
            "Statement",
            object()
                .member("currency", one_of(CURRENCIES.map(|(name, _)| name)))
                .member("timezone", one_of(["America/Caracas", "America/Bogota"]))
                .member("days", list(named("StatementDay")))
                .example(concat!(
                    r#"{"currency":"VES","timezone":"America/Caracas","days":[{"date":"2026-11-21","#,
                    r#""opening":"0.00","payments":"2100.00","fees":"-31.50","platformFees":"0.00","#,
                    r#""sellerTransfers":"0.00","reversals":"0.00","chargebacks":"0.00","#,
                    r#""payouts":"-500.00","payoutReversals":"0.00","conversions":"0.00","#,
                    r#""deposits":"0.00","adjustments":"0.00","closing":"1568.50","movements":3}]}"#,
                )),
        ),
        ("StatementDay", members(Describing::object()).schema()),
    ]
}

/// The schema of an amount of any currency.
pub(super) fn sum() -> Schema {
    text().pattern(r"^-?(0|[1-9][0-9]*)(\.[0-9]{2})?$")
}

/// The schema of a column.
pub(super) fn column(column: Column) -> impl FnOnce() -> Schema {
    move || {
        sum().about(match column {
            Column::Payments => "Sales. Signed like all columns; negative is money out.",
            Column::Fees => "Fees of sales, less those that came back.",
            Column::PlatformFees => "The operator's shares of sales through links.",
            Column::SellerTransfers => "Sellers' shares of sales, less those that came back.",
            Column::Reversals => "Sales that were given back.",
            Column::Chargebacks => {
                "Card sales that banks took back, fees of that, and what won disputes returned."
            }
            Column::Payouts => "Money sent out, and its fees.",
            Column::PayoutReversals => "Payouts that failed, with their fees.",
            Column::Conversions => "Money that became USDT, less what was canceled.",
            Column::Deposits => "USDT received.",
            Column::Adjustments => "The operator's corrections, and test money.",
        })
    }
}
