//! The search: everything of the tenant's in the key's mode that a text leads to.

use super::{Here, Made};
use crate::pages::find::{self, Finds};
use crate::pages::inside::{Refused, with_query};
use crate::pages::show::{items, str_of};
use serde_json::{Value, json};

const LISTS: [(&str, &str, &str); 4] = [
    ("payment", "/v1/payments", "paymentId"),
    ("payout", "/v1/payouts", "payoutId"),
    ("cop_payout", "/v1/cop/payouts", "id"),
    ("crypto_payout", "/v1/crypto/payouts", "id"),
];
/// Sellers whose names are looked at, the newest, and those that are shown.
const SELLER_PAGES: usize = 5;
const SELLERS: usize = 10;

pub async fn page(visit: &Here<'_>) -> Made {
    let named = sellers(visit, visit.query.text("q")).await?;
    let finds = Finds { search: "/v1/search", lists: &LISTS, place, named, more: &[] };
    find::page(visit, finds).await
}

/// The sellers who have the text in their names.
async fn sellers(visit: &Here<'_>, asked: &str) -> Result<Vec<Value>, Refused> {
    let (wanted, mut found, mut cursor) = (asked.to_lowercase(), Vec::new(), String::new());
    if !wanted.chars().any(char::is_alphabetic) {
        return Ok(found);
    }
    for _ in 0..SELLER_PAGES {
        let page = with_query("/v1/merchants", &[("limit", "100"), ("cursor", &cursor)]);
        let page = visit.inside.get(&page).await?;
        let is_named = |seller: &&Value| str_of(seller, "name").to_lowercase().contains(&wanted);
        let hit = |seller: &Value| {
            json!({
                "kind": "merchant", "id": seller["merchantId"], "name": seller["name"], "status": seller["status"],
                "createdAt": seller["createdAt"], "why": "name",
            })
        };
        found.extend(items(&page).iter().filter(is_named).map(hit));
        match page["nextCursor"].as_str().filter(|_| found.len() < SELLERS) {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    found.truncate(SELLERS);
    Ok(found)
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
