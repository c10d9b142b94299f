//! The catalogue of banks with what tenants do not see of it.

use super::call::{Call, Done, Outcome};
use crate::api::writer::{Object, text};
use crate::domain::banks::Bank;

/// GET /admin/banks: a bare array, sorted by code, with hidden banks.
pub async fn list(call: Call) -> Outcome {
    let shown: Vec<Vec<u8>> = call.services.banks.all().iter().map(show).collect();
    Ok(Done::ok([b"[".as_slice(), &shown.join(&b','), b"]"].concat()))
}

fn show(bank: &Bank) -> Vec<u8> {
    Object::new()
        .plain("code", bank.code)
        .text("name", &bank.name)
        .list("services", bank.services.iter().map(|service| text(service.code())))
        .maybe_text("logoUrl", bank.logo_url.as_deref())
        .boolean("hidden", bank.hidden)
        .end()
}
