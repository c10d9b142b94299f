//! The call for a receipt (`docs/contract.md, 20.6`). What it says is written in `src/receipts/`.

use super::show::CHAPTER;
use super::show::of_name;
use crate::endpoint::{Context, Handler, endpoints, run};
use crate::fields::{Invalid, Kind as _, read};
use crate::openapi::kinds;
use crate::problem::Problem;
use crate::query::Query;
use crate::records::{Records, Unread};
use crate::respond::Reply;
use domain::entities::Entity;
use domain::values::ids::Id;
use std::sync::Arc;

/// The media types of a receipt: a page, unless a PDF is wanted more.
pub const FORMS: [&str; 2] = [PAGE, PDF];
pub const OPERATION: &str = "getReceipt";
pub const PAGE: &str = "text/html";
pub const PDF: &str = "application/pdf";

endpoints! { CHAPTER;
    READ = run!(read), "The receipt of a payment" => {
        about "For the payer: a page to print, or a PDF by `Accept: application/pdf`. It names the shop \
            (settings `shop.name`, `shop.rif`), the payer's bank, the method, the amounts, the rate, the \
            references and the date with its zone; the payer is masked.";
        query asked;
        answers_in 200, &FORMS, "The receipt";
        refuses 409, &["payment_not_completed"];
    };
}

fn asked(mut query: Query<'_>) -> Result<Option<&'static str>, Invalid> {
    let language = kinds::named_one(["es", "en"], |lang| lang).about("`es` if missing.");
    Ok(read!(query { optional lang = "lang", language; } => lang))
}

async fn read(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    let lang = cx.asked(asked)?;
    cx.server()?.receipt(id, lang)
}

/// The payment that a receipt is for, of whatever kind.
pub fn payment(records: &dyn Records, id: Id) -> Result<Arc<Entity>, Unread> {
    let id = of_name(records, id)?;
    Ok(records.entity(id)?.ok_or_else(Problem::not_found)?)
}

/// The problem of a payment that was not made.
pub fn not_completed() -> Problem {
    Problem::conflict("payment_not_completed", "only a completed payment has a receipt")
}
