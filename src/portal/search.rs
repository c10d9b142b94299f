//! The search: everything of the tenant's in the key's mode that a text leads to.

use super::{Here, Made};
use crate::pages::inside::with_query;
use crate::pages::show::{self, items, str_of};
use crate::pages::view::{Page, Table};
use crate::pages::words::words;
use serde_json::Value;

const COLUMNS: [&str; 7] = ["kind", "id", "status", "amount", "currency", "createdAt", "why"];

pub async fn page(visit: &Here<'_>) -> Made {
    let language = visit.language;
    let asked = visit.query.text("q");
    let page = Page::new("search", visit.say("Búsqueda", "Search"));
    if asked.is_empty() {
        return Ok(page);
    }
    let found = visit.inside.get(&with_query("/v1/search", &[("q", asked)])).await?;
    let row = |item: &Value| {
        let mut row = show::row(language, item, &COLUMNS);
        row.cells[1].href = place(str_of(item, "kind"), str_of(item, "id"));
        row
    };
    let heads = COLUMNS.map(|name| words(language, if name == "why" { "reference" } else { name }));
    let table = show::headed(language, visit.say("Lo que se encontró", "What was found"), heads);
    let none = visit.say("No se encontró nada.", "Nothing was found.").to_owned();
    Ok(page.with(Table { none, ..table.rows(items(&found).iter().map(row)) }))
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
