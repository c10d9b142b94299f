//! The search: everything of the tenant's in the key's mode that a text leads to.

use super::{Here, Made};
use crate::pages::inside::with_query;
use crate::pages::show::{self, items, str_of};
use crate::pages::view::{Page, Row, Table};
use crate::pages::words::words;
use serde_json::Value;

const COLUMNS: [&str; 7] = ["kind", "id", "status", "amount", "currency", "createdAt", "why"];

/// GET /portal/search?q=
pub async fn page(visit: &Here<'_>) -> Made {
    let language = visit.language;
    let asked = visit.query.text("q");
    let page = Page::new("search", visit.say("Búsqueda", "Search"));
    if asked.is_empty() {
        return Ok(page);
    }
    let found = visit.inside.get(&with_query("/v1/search", &[("q", asked)])).await?;
    let row = |item: &Value| {
        let mut cells = COLUMNS.map(|name| show::cell(language, name, &item[name]));
        cells[1].href = place(str_of(item, "kind"), str_of(item, "id"));
        Row::new(cells.into()).status(str_of(item, "status"))
    };
    let table = Table {
        rows: items(&found).iter().map(row).collect(),
        none: visit.say("No se encontró nada.", "Nothing was found.").to_owned(),
        heads: COLUMNS
            .map(|name| words(language, if name == "why" { "reference" } else { name }).to_owned())
            .into(),
        ..show::table(language, visit.say("Lo que se encontró", "What was found"), &COLUMNS)
    };
    Ok(page.with(table))
}

fn place(kind: &str, id: &str) -> Option<String> {
    let page = match kind {
        "payment" => "payments",
        "payout" | "cop_payout" | "crypto_payout" => "payouts",
        "merchant" => "merchants",
        "checkout_session" => "sessions",
        "payment_link" => "links",
        "batch" => return Some(with_query("/portal/payouts/batch", &[("id", id)])),
        _ => return None,
    };
    Some(format!("/portal/{page}/{id}"))
}
