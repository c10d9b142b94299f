//! Webhooks: the endpoints, making one, and one with its deliveries, sending again, and its signature
//! explained on the bytes that were sent.

use super::{Failed, Here, Made, may, signature, typed};
use crate::pages::form::Form;
use crate::pages::inside::{segment, with_query};
use crate::pages::show::{self, items, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{self, Block, Cell, Code, Input, Kind, Note, Page, Row, Table, Tone};
use api::problem::Problem;
use domain::entities::webhook::EVENT_NAMES;
use domain::platform::Scope;
use hyper::Method;
use serde_json::{Value, json};

const COLUMNS: [&str; 4] = ["url", "events", "status", "createdAt"];
const FACTS: [&str; 6] = ["url", "events", "status", "retry", "signature", "createdAt"];
const DELIVERIES: [&str; 7] = ["createdAt", "event", "attempt", "status", "httpStatus", "latencyMs", "error"];

/// GET /portal/webhooks
pub async fn list(visit: &Here<'_>, failed: Option<&Failed<'_>>) -> Made {
    let language = visit.language;
    let found = visit.inside.get("/v1/webhooks").await?;
    let row = |item: &Value| {
        let mut cells = COLUMNS.map(|name| show::cell(language, name, &item[name]));
        cells[0].href = Some(format!("/portal/webhooks/{}", str_of(item, "id")));
        Row::new(cells.into()).status(str_of(item, "status"))
    };
    let caption = visit.say("Adónde se envían los eventos", "Where events go");
    let table =
        Table { rows: items(&found).iter().map(row).collect(), ..show::table(language, caption, &COLUMNS) };
    let mut page = Page::new("webhooks", "Webhooks").maybe(visit.done()).with(table);
    if may(visit, Scope::Manage) {
        page = page.with(form(visit, failed)).with(
            view::Form::new(
                "/portal/webhooks/test",
                "test-webhook",
                visit.say("Enviar una prueba", "Send a test"),
            )
            .about(visit.say(
                "Manda notification.test a cada dirección activa.",
                "Sends notification.test to every enabled address.",
            )),
        );
    }
    Ok(page)
}

fn form(visit: &Here<'_>, failed: Option<&Failed<'_>>) -> view::Form {
    let events = EVENT_NAMES.iter().map(|name| ((*name).to_owned(), (*name).to_owned())).collect();
    let ticked = failed.map_or_else(
        || "payment.completed,payment.failed,payout.completed,payout.failed".to_owned(),
        |failed| failed.form.all("events").collect::<Vec<_>>().join(","),
    );
    let form = view::Form::new("/portal/webhooks", "create-webhook", visit.say("Crear", "Create"))
        .title(visit.say("Nueva dirección", "New address"))
        .input(
            Input::new("url", visit.say("Dirección (https)", "Address (https)")).value(typed(failed, "url")),
        )
        .input(
            Input::new("events", visit.say("Eventos", "Events"))
                .kind(Kind::Boxes)
                .options(events)
                .value(ticked),
        )
        .input(retry(visit, &typed(failed, "retry")))
        .input(signature_form(visit, &typed(failed, "signature")));
    view::Form { error: failed.map(|failed| show::why(visit.language, failed.refused)), ..form }
}

fn retry(visit: &Here<'_>, value: &str) -> Input {
    let choices = vec![
        ("none".to_owned(), visit.say("No", "No").to_owned()),
        ("backoff".to_owned(), visit.say("8 veces en un día", "8 times over a day").to_owned()),
    ];
    let label = visit.say("Reintentar lo que no se reciba", "Try again what was not received");
    Input::new("retry", label).kind(Kind::Choice).options(choices).value(value)
}

fn signature_form(visit: &Here<'_>, value: &str) -> Input {
    let choices = vec![
        ("hex".to_owned(), visit.say("El cuerpo solo", "The body alone").to_owned()),
        (
            "timestamped".to_owned(),
            visit.say("Con el segundo del envío", "With the second of sending").to_owned(),
        ),
    ];
    Input::new("signature", visit.say("Firma", "Signature")).kind(Kind::Choice).options(choices).value(value)
}

/// POST /portal/webhooks: the secret is shown on the page that answers, and never again.
pub async fn create(visit: &Here<'_>, form: &Form) -> Result<Shown, Problem> {
    // A test may name its events in one field.
    let events: Vec<&str> = form
        .all("events")
        .flat_map(|names| names.split([',', ' ']))
        .filter(|name| !name.is_empty())
        .collect();
    let mut body = json!({ "url": form.text("url"), "events": events });
    add_settings(&mut body, form);
    match visit.inside.post("/v1/webhooks", &body, form.text("once")).await {
        Ok(made) => {
            let note = Note::new(
                Tone::Good,
                visit.say(
                    "La dirección está lista. Guarda su secreto: no se vuelve a mostrar.",
                    "The address is ready. Keep its secret: it is not shown again.",
                ),
            );
            let code = Code {
                label: visit
                    .say("Secreto para verificar firmas", "Secret for verifying signatures")
                    .to_owned(),
                field: "secret",
                text: str_of(&made, "secret").to_owned(),
                copy: visit.say("Copiar", "Copy"),
            };
            let links = vec![view::Link::new(
                visit.say("Sus entregas", "Its deliveries"),
                format!("/portal/webhooks/{}", str_of(&made, "id")),
            )];
            let mut page = Page::new("webhooks", "Webhooks")
                .with(note)
                .with(code)
                .with(show::facts(visit.language, &made, &FACTS))
                .with(links);
            page.code = 201;
            Ok(Shown::Page(page))
        }
        Err(refused) => {
            let failed = Failed { form, refused: &refused };
            visit.failed(list(visit, Some(&failed)).await, &refused)
        }
    }
}

fn add_settings(body: &mut Value, form: &Form) {
    for name in ["retry", "signature", "status"] {
        if let Some(value) = form.filled(name) {
            body[name] = value.into();
        }
    }
}

/// GET /portal/webhooks/:id
pub async fn one(visit: &Here<'_>, id: &str) -> Made {
    let language = visit.language;
    let endpoint = visit.inside.get(&format!("/v1/webhooks/{}", segment(id))).await?;
    let path = with_query(
        &format!("/v1/webhooks/{}/deliveries", segment(id)),
        &[("limit", "25"), ("cursor", visit.query.text("cursor"))],
    );
    let found = visit.inside.get(&path).await?;
    let here = format!("/portal/webhooks/{}", segment(id));
    let manages = may(visit, Scope::Manage);
    let next = found["nextCursor"].as_str().map(|cursor| with_query(&here, &[("cursor", cursor)]));
    let heads = [
        visit.say("Cuándo", "When"),
        visit.say("Evento", "Event"),
        visit.say("Intento", "Try"),
        visit.say("Estado", "State"),
        "HTTP",
        "ms",
        visit.say("Error", "Error"),
    ];
    let table = Table {
        rows: items(&found).iter().map(|item| delivery(visit, &here, item)).collect(),
        next,
        heads: heads.map(str::to_owned).into(),
        ..show::table(
            language,
            visit.say("Entregas, primero las más recientes", "Deliveries, newest first"),
            &DELIVERIES,
        )
    };
    let mut page = Page::new("webhooks", visit.say("Dirección de webhooks", "Webhook address"))
        .status(str_of(&endpoint, "status"))
        .maybe(visit.done())
        .with(show::facts(language, &endpoint, &FACTS));
    if manages {
        let (state, label) = if str_of(&endpoint, "status") == "enabled" {
            ("disabled", visit.say("Desactivar", "Disable"))
        } else {
            ("enabled", visit.say("Activar", "Enable"))
        };
        page = page.with(
            view::Form::new(format!("{here}/status"), "switch-webhook", label)
                .hidden("status", state)
                .inline(),
        );
        page = page.with(
            view::Form::new(format!("{here}/status"), "change-webhook", visit.say("Guardar", "Save"))
                .title(visit.say("Ajustes", "Settings"))
                .input(retry(visit, str_of(&endpoint, "retry")))
                .input(signature_form(visit, str_of(&endpoint, "signature"))),
        );
    }
    page = page.with(Block::Heading(visit.say("Entregas", "Deliveries").to_owned())).with(table);
    let newest = items(&found).first().map(|item| str_of(item, "eventId")).unwrap_or_default();
    let event = visit.query.filled("event").unwrap_or(newest);
    page.blocks.extend(signature::explained(visit, id, event)?);
    Ok(page)
}

fn delivery(visit: &Here<'_>, here: &str, item: &Value) -> Row {
    let mut cells = DELIVERIES.map(|name| show::cell(visit.language, name, &item[name]));
    let event = str_of(item, "eventId");
    cells[1] = Cell::text(str_of(item, "event")).with_sub(event).to(with_query(here, &[("event", event)]));
    let mut row = Row::new(cells.into()).status(str_of(item, "status"));
    if may(visit, Scope::Manage) {
        row.forms.push(
            view::Form::new(format!("{here}/resend"), "resend", visit.say("Reenviar", "Resend"))
                .id(format!("resend-{}", str_of(item, "id")))
                .hidden("eventId", event)
                .inline(),
        );
    }
    row
}

/// POST /portal/webhooks/:id/resend
pub async fn resend(visit: &Here<'_>, id: &str, form: &Form) -> Result<Shown, Problem> {
    let path = format!("/v1/events/{}/resend", segment(form.text("eventId")));
    match visit.inside.post(&path, &json!({}), form.text("once")).await {
        Ok(_) => Ok(Shown::See(format!("/portal/webhooks/{}?done=resent", segment(id)))),
        Err(refused) => visit.failed(one(visit, id).await, &refused),
    }
}

/// POST /portal/webhooks/:id/status
pub async fn switch(visit: &Here<'_>, id: &str, form: &Form) -> Result<Shown, Problem> {
    let path = format!("/v1/webhooks/{}", segment(id));
    let mut body = json!({});
    add_settings(&mut body, form);
    match visit.inside.change(Method::PATCH, &path, Some(&body)).await {
        Ok(_) => Ok(Shown::See(format!("/portal/webhooks/{}?done=changed", segment(id)))),
        Err(refused) => visit.failed(one(visit, id).await, &refused),
    }
}

/// POST /portal/webhooks/test
pub async fn test(visit: &Here<'_>, form: &Form) -> Result<Shown, Problem> {
    match visit.inside.post("/v1/notifications/test", &json!({}), form.text("once")).await {
        Ok(_) => Ok(Shown::See("/portal/webhooks?done=tested".to_owned())),
        Err(refused) => visit.failed(list(visit, None).await, &refused),
    }
}
