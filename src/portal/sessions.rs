//! Checkout sessions: the list, and one.

use super::links::id_of;
use super::{Here, Made};
use crate::pages::inside::segment;
use crate::pages::show::{self, Gender, items, str_of};
use crate::pages::view::{Cell, Page};
use serde_json::Value;

const COLUMNS: [&str; 5] = ["createdAt", "reference", "amountUsd", "status", "expiresAt"];
const STATES: [&str; 4] = ["open", "processing", "paid", "expired"];
#[rustfmt::skip]
const FACTS: [&str; 11] = [
    "status", "amountUsd", "description", "reference", "methods", "paymentId", "successUrl", "cancelUrl", "createdAt",
    "expiresAt", "id",
];

pub async fn list(visit: &Here<'_>) -> Made {
    let (language, here) = (visit.language, "/portal/sessions");
    let filters = ["reference", "status", "from", "to"];
    let (found, next) = visit.list("/v1/checkout/sessions", here, &filters, "25").await?;
    let reference = visit.sought("reference", visit.say("Tu referencia", "Your reference"));
    let filter = visit.filter(here, [reference, visit.states(Gender::Feminine, &STATES)]);
    let row = |item: &Value| {
        let mut row = show::agreed(language, Gender::Feminine, show::row(language, item, &COLUMNS));
        waits(row.cells.iter_mut());
        row.link(0, format!("{here}/{}", id_of(item, "sessionId")))
    };
    let caption =
        visit.say("Sesiones de cobro, primero las más recientes", "Checkout sessions, newest first");
    let table = show::table(language, caption, &COLUMNS).rows(items(&found).iter().map(row)).next(next);
    Ok(Page::new("sessions", visit.say("Sesiones de cobro", "Checkout sessions")).with(filter).with(table))
}

/// A session that is open waits for its buyer; nothing is wrong with it.
fn waits<'c>(cells: impl Iterator<Item = &'c mut Cell>) {
    for cell in cells.filter(|cell| cell.status.as_deref() == Some("open")) {
        cell.status = Some("pending".to_owned());
    }
}

pub async fn one(visit: &Here<'_>) -> Made {
    let session = visit.inside.get(&format!("/v1/checkout/sessions/{}", segment(visit.id()))).await?;
    let facts = show::facts(visit.language, &session, &FACTS);
    let mut facts = show::agreed_facts(visit.language, Gender::Feminine, facts);
    waits(facts.iter_mut().map(|fact| &mut fact.cell));
    for fact in facts.iter_mut().filter(|fact| fact.field == "paymentId") {
        fact.cell.href = Some(format!("/portal/payments/{}", fact.cell.text));
    }
    let url = str_of(&session, "url");
    let code = visit.code("url", ["Página del comprador", "The buyer's page"], url);
    let title = format!("{} {}", visit.say("Sesión", "Session"), str_of(&session, "reference"));
    Ok(Page::new("sessions", title.trim().to_owned())
        .status(str_of(&session, "status"))
        .with(facts)
        .maybe((!url.is_empty()).then_some(code)))
}
