//! Checkout sessions: the list, and one.

use super::{Here, Made};
use crate::pages::inside::{segment, with_query};
use crate::pages::show::{self, items, str_of};
use crate::pages::view::{Code, Form, Input, Kind, Page, Row, Table};
use crate::pages::words::words;
use serde_json::Value;

const COLUMNS: [&str; 5] = ["createdAt", "reference", "amountUsd", "status", "expiresAt"];
const STATES: [&str; 4] = ["open", "processing", "paid", "expired"];
const FACTS: [&str; 11] = [
    "status",
    "amountUsd",
    "description",
    "reference",
    "methods",
    "paymentId",
    "successUrl",
    "cancelUrl",
    "createdAt",
    "expiresAt",
    "id",
];

/// GET /portal/sessions
pub async fn list(visit: &Here<'_>) -> Made {
    let language = visit.language;
    let filters: Vec<(&str, &str)> = ["reference", "status", "from", "to"]
        .into_iter()
        .map(|name| (name, visit.query.text(name)))
        .filter(|(_, value)| !value.is_empty())
        .collect();
    let mut parameters = filters.clone();
    parameters.extend([("limit", "25"), ("cursor", visit.query.text("cursor"))]);
    let found = visit.inside.get(&with_query("/v1/checkout/sessions", &parameters)).await?;
    let mut states = vec![(String::new(), visit.say("Todas", "All").to_owned())];
    states.extend(STATES.map(|state| (state.to_owned(), words(language, state).to_owned())));
    let filter = Form::query("/portal/sessions", "filter", visit.say("Filtrar", "Filter"))
        .input(
            Input::new("reference", visit.say("Tu referencia", "Your reference"))
                .value(visit.query.text("reference"))
                .optional(),
        )
        .input(
            Input::new("status", visit.say("Estado", "State"))
                .kind(Kind::Choice)
                .options(states)
                .value(visit.query.text("status"))
                .optional(),
        );
    let row = |item: &Value| {
        let mut cells = COLUMNS.map(|name| show::cell(language, name, &item[name]));
        cells[0].href = Some(format!("/portal/sessions/{}", id_of(item)));
        Row::new(cells.into()).status(str_of(item, "status"))
    };
    let next = found["nextCursor"].as_str().map(|cursor| {
        let mut parameters = filters;
        parameters.push(("cursor", cursor));
        with_query("/portal/sessions", &parameters)
    });
    let caption =
        visit.say("Sesiones de cobro, primero las más recientes", "Checkout sessions, newest first");
    let table = Table {
        rows: items(&found).iter().map(row).collect(),
        next,
        ..show::table(language, caption, &COLUMNS)
    };
    Ok(Page::new("sessions", visit.say("Sesiones de cobro", "Checkout sessions")).with(filter).with(table))
}

fn id_of(session: &Value) -> &str {
    session["sessionId"].as_str().or(session["id"].as_str()).unwrap_or_default()
}

/// GET /portal/sessions/:id
pub async fn one(visit: &Here<'_>, id: &str) -> Made {
    let session = visit.inside.get(&format!("/v1/checkout/sessions/{}", segment(id))).await?;
    let mut facts = show::facts(visit.language, &session, &FACTS);
    for fact in facts.iter_mut().filter(|fact| fact.field == "paymentId") {
        fact.cell.href = Some(format!("/portal/payments/{}", fact.cell.text));
    }
    let url = str_of(&session, "url").to_owned();
    let code = Code {
        label: visit.say("Página del comprador", "The buyer's page").to_owned(),
        field: "url",
        text: url.clone(),
        copy: visit.say("Copiar", "Copy"),
    };
    let title = format!("{} {}", visit.say("Sesión", "Session"), str_of(&session, "reference"));
    Ok(Page::new("sessions", title.trim().to_owned())
        .status(str_of(&session, "status"))
        .with(facts)
        .maybe((!url.is_empty()).then_some(code)))
}
