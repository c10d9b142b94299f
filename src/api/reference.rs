//! Reference data: the banks, and what became of an Idempotency-Key.

use crate::api::plan::{Call, Plan};
use crate::api::problem::Problem;
use crate::api::query::Query;
use crate::api::writer::{Object, text};
use crate::domain::banks::Bank;

/// GET /v1/banks: a bare array, sorted by code, without hidden banks (`contract.md`, section 14).
pub fn banks(call: &Call<'_>) -> Result<Plan, Problem> {
    Query::parse(call.query).finish()?;
    let mut body = vec![b'['];
    for bank in call.banks.shown() {
        if body.len() > 1 {
            body.push(b',');
        }
        body.extend_from_slice(&show_bank(bank));
    }
    body.push(b']');
    Ok(Plan::Answer(200, body))
}

fn show_bank(bank: &Bank) -> Vec<u8> {
    Object::new()
        .plain("code", bank.code)
        .text("name", &bank.name)
        .list("services", bank.services.iter().map(|service| text(service.code())))
        .maybe_text("logoUrl", bank.logo_url.as_deref())
        .end()
}

/// GET /v1/idempotency/:key
pub fn kept(call: &Call<'_>) -> Result<Plan, Problem> {
    let mut query = Query::parse(call.query);
    let path = query.optional("path", |text| text.trimmed(1..=512));
    let sound = query.finish()?;
    Ok(Plan::Kept { key: (call.path)("key"), path: path.get(&sound) })
}
