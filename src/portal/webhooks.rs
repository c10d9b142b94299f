//! Webhooks: the endpoints, making one, and one with its deliveries, sending again, and its signature
//! explained on the bytes that were sent.

use super::{Here, Made, may};
use crate::language::Language;
use crate::pages::confirm::Confirm;
use crate::pages::form::Form;
use crate::pages::inside::{Refused, segment, with_query};
use crate::pages::show::{self, Gender, items, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{self, Block, Cell, Input, Page, Row, Tone};
use crate::store::history;
use crate::webhooks::Tenants as _;
use api::events::{TenantMode, envelope};
use api::problem::Problem;
use domain::entities::Entity;
use domain::entities::webhook::{EVENT_NAMES, Signature};
use domain::platform::Scope;
use domain::values::ids::{EntityId, Id};
use domain::values::time::SECOND_MS;
use hyper::Method;
use serde_json::{Value, json};

const HERE: &str = "/portal/webhooks";
const COLUMNS: [&str; 4] = ["url", "events", "status", "createdAt"];
const FACTS: [&str; 6] = ["url", "events", "status", "retry", "signature", "createdAt"];
/// Read for one page of deliveries in a state.
const PAGES_MAX: usize = 20;
const DELIVERIES: [&str; 7] = ["createdAt", "event", "attempt", "status", "httpStatus", "latencyMs", "error"];

pub async fn list(visit: &Here<'_>) -> Made {
    let language = visit.language;
    let found = visit.inside.get("/v1/webhooks").await?;
    let row = |item: &Value| {
        agreed(language, show::row(language, item, &COLUMNS))
            .link(0, format!("{HERE}/{}", str_of(item, "id")))
    };
    let caption = visit.say("Adónde se envían los eventos", "Where events go");
    let table = show::table(language, caption, &COLUMNS).rows(items(&found).iter().map(row));
    let page = Page::new("webhooks", "Webhooks").maybe(visit.done()).with(table);
    if !may(visit, Scope::Manage) {
        return Ok(page);
    }
    let label = visit.say("Enviar una prueba", "Send a test");
    let test = view::Form::new("/portal/webhooks/test", "test-webhook", label).about(visit.say(
        "Manda notification.test a cada dirección activa.",
        "Sends notification.test to every enabled address.",
    ));
    Ok(page.with(form(visit)).with(test))
}

fn agreed(language: Language, row: Row) -> Row {
    show::agreed(language, Gender::Feminine, row)
}

fn form(visit: &Here<'_>) -> view::Form {
    let typed = |name| visit.typed(HERE, name);
    let ticked = match visit.form.get("url") {
        Some(_) => visit.form.all("events").collect::<Vec<_>>().join(","),
        None => "payment.completed,payment.failed,payout.completed,payout.failed".to_owned(),
    };
    let events = Input::boxes("events", visit.say("Eventos", "Events"), EVENT_NAMES.map(|name| (name, name)));
    let url = Input::new("url", visit.say("Dirección (https)", "Address (https)"));
    view::Form::new(HERE, "create-webhook", visit.say("Crear", "Create"))
        .title(visit.say("Nueva dirección", "New address"))
        .input(url.value(typed("url")))
        .input(events.value(ticked))
        .input(retry(visit, typed("retry")))
        .input(signature_form(visit, typed("signature")))
}

fn retry(visit: &Here<'_>, value: &str) -> Input {
    let choices = [("none", "No"), ("backoff", visit.say("8 veces en un día", "8 times over a day"))];
    let label = visit.say("Reintentar lo que no se reciba", "Try again what was not received");
    Input::choice("retry", label, choices, value)
}

fn signature_form(visit: &Here<'_>, value: &str) -> Input {
    let choices = [
        ("hex", visit.say("El cuerpo solo", "The body alone")),
        ("timestamped", visit.say("Con el segundo del envío", "With the second of sending")),
    ];
    Input::choice("signature", visit.say("Firma", "Signature"), choices, value)
}

/// POST /portal/webhooks: the secret is shown on the page that answers, and never again.
pub async fn create(visit: &Here<'_>) -> Result<Shown, Problem> {
    // A test may name its events in one field.
    let events = visit.form.all("events").flat_map(|names| names.split([',', ' ']));
    let events: Vec<&str> = events.filter(|name| !name.is_empty()).collect();
    let mut body = json!({ "url": visit.form.text("url"), "events": events });
    add_settings(&mut body, &visit.form);
    let outcome = visit.post("/v1/webhooks", &body).await;
    let shown = |made: &Value| {
        let note = visit.say(
            "La dirección está lista. Guarda su secreto: no se vuelve a mostrar.",
            "The address is ready. Keep its secret: it is not shown again.",
        );
        let label = ["Secreto para verificar firmas", "Secret for verifying signatures"];
        let code = visit.code("secret", label, str_of(made, "secret"));
        let to = format!("{HERE}/{}", str_of(made, "id"));
        let links = vec![view::Link::new(visit.say("Sus entregas", "Its deliveries"), to)];
        let page = visit.secret(Page::new("webhooks", "Webhooks"), note, code);
        Shown::Page(page.with(show::facts(visit.language, made, &FACTS)).with(links))
    };
    visit.acted(outcome, shown, list(visit)).await
}

fn add_settings(body: &mut Value, form: &Form) {
    for name in ["retry", "signature", "status"] {
        if let Some(value) = form.filled(name) {
            body[name] = value.into();
        }
    }
}

pub async fn one(visit: &Here<'_>) -> Made {
    let (language, id) = (visit.language, segment(visit.id()));
    let endpoint = visit.inside.get(&format!("/v1/webhooks/{id}")).await?;
    let here = format!("{HERE}/{id}");
    let (found, next) = deliveries(visit, &here, &format!("/v1/webhooks/{id}/deliveries")).await?;
    let table = visit.table(
        ["Entregas, primero las más recientes", "Deliveries, newest first"],
        "Cuándo, Evento, Intento, Estado, HTTP, ms, Error",
        "When, Event, Try, State, HTTP, ms, Error",
    );
    let table = table.rows(items(&found).iter().map(|item| delivery(visit, &here, item))).next(next);
    let mut page = Page::new("webhooks", visit.say("Dirección de webhooks", "Webhook address"))
        .status(str_of(&endpoint, "status"))
        .maybe(visit.done())
        .with(show::agreed_facts(language, Gender::Feminine, show::facts(language, &endpoint, &FACTS)));
    if may(visit, Scope::Manage) {
        let (state, label) = if str_of(&endpoint, "status") == "enabled" {
            ("disabled", visit.say("Desactivar", "Disable"))
        } else {
            ("enabled", visit.say("Activar", "Enable"))
        };
        let to = format!("{here}/status");
        let change = view::Form::new(&to, "change-webhook", visit.say("Guardar", "Save"))
            .title(visit.say("Ajustes", "Settings"))
            .input(retry(visit, str_of(&endpoint, "retry")))
            .input(signature_form(visit, str_of(&endpoint, "signature")));
        let tone = if state == "disabled" { Tone::Bad } else { Tone::Plain };
        let switch = view::Form::new(to, "switch-webhook", label).hidden("status", state).inline().tone(tone);
        page = page.with(switch).with(change);
    }
    let filter = visit.filter(&here, [visit.states(Gender::Feminine, &["delivered", "failed"])]);
    page = page.heading(visit.say("Entregas", "Deliveries")).with(filter).with(table);
    let newest = items(&found).first().map(|item| str_of(item, "eventId")).unwrap_or_default();
    let event = visit.query.filled("event").unwrap_or(newest);
    page.blocks.extend(explained(visit, visit.id(), event)?);
    Ok(page)
}

/// A page of deliveries, in the state that the address names. Their list does not tell states apart, so that pages are
/// read until one is full, or for as long as a reader waits.
async fn deliveries(visit: &Here<'_>, here: &str, api: &str) -> Result<(Value, Option<String>), Refused> {
    let state = visit.query.text("status");
    if state.is_empty() {
        return visit.list(api, here, &[], "25").await;
    }
    let (mut kept, mut cursor) = (Vec::new(), visit.query.text("cursor").to_owned());
    for _ in 0..PAGES_MAX {
        let page = visit.inside.get(&with_query(api, &[("limit", "100"), ("cursor", &cursor)])).await?;
        kept.extend(items(&page).iter().filter(|item| str_of(item, "status") == state).cloned());
        cursor = str_of(&page, "nextCursor").to_owned();
        if cursor.is_empty() || kept.len() >= 25 {
            break;
        }
    }
    let next = (!cursor.is_empty()).then(|| with_query(here, &[("status", state), ("cursor", &cursor)]));
    Ok((json!({ "items": kept }), next))
}

fn delivery(visit: &Here<'_>, here: &str, item: &Value) -> Row {
    let mut row = agreed(visit.language, show::row(visit.language, item, &DELIVERIES));
    let event = str_of(item, "eventId");
    if let Some(why) = item["error"].as_str() {
        row.cells[6] = Cell::text(show::undelivered(visit.language, why));
    }
    row.cells[1] =
        Cell::text(str_of(item, "event")).with_sub(event).to(with_query(here, &[("event", event)]));
    if may(visit, Scope::Manage) {
        let form = view::Form::new(format!("{here}/resend"), "resend", visit.say("Reenviar", "Resend"));
        let id = format!("resend-{}", str_of(item, "id"));
        row.forms.push(form.id(id).hidden("eventId", event).inline());
    }
    row
}

pub async fn resend(visit: &Here<'_>) -> Result<Shown, Problem> {
    let path = format!("/v1/events/{}/resend", segment(visit.form.text("eventId")));
    let outcome = visit.post(&path, &json!({})).await;
    visit.acted(outcome, |_| see(visit, "resent"), one(visit)).await
}

fn see(visit: &Here<'_>, done: &str) -> Shown {
    Shown::See(format!("{HERE}/{}?done={done}", segment(visit.id())))
}

pub async fn switch(visit: &Here<'_>) -> Result<Shown, Problem> {
    let mut body = json!({});
    add_settings(&mut body, &visit.form);
    let path = format!("/v1/webhooks/{}", segment(visit.id()));
    if visit.form.text("status") == "disabled" && !visit.is_confirmed() {
        return match visit.rehearsed(Method::PATCH, &path, Some(&body)).await {
            Ok(shown) => Ok(visit.confirmation(Confirm {
                page: ("webhooks", visit.say("Desactivar la dirección", "Disable the address").to_owned()),
                facts: show::facts(visit.language, &shown["body"], &["url", "events"]),
                consequence: visit
                    .say(
                        "Tu programa deja de enterarse: a esta dirección no se envía ningún evento hasta que la \
                         actives. Los de mientras tanto no se envían después.",
                        "Your program hears nothing: no event is sent to this address until you enable it. Those of \
                         the meantime are not sent later.",
                    )
                    .to_owned(),
                figures: Vec::new(),
                label: visit.say("Desactivar", "Disable").to_owned(),
                back: format!("{HERE}/{}", segment(visit.id())),
            })),
            Err(refused) => visit.failed(one(visit).await, &refused),
        };
    }
    let outcome = visit.inside.change(Method::PATCH, &path, Some(&body)).await;
    visit.acted(outcome, |_| see(visit, "changed"), one(visit)).await
}

pub async fn test(visit: &Here<'_>) -> Result<Shown, Problem> {
    let outcome = visit.post("/v1/notifications/test", &json!({})).await;
    visit.acted(outcome, |_| Shown::See(format!("{HERE}?done=tested")), list(visit)).await
}

pub fn explained(visit: &Here<'_>, webhook: &str, event: &str) -> Result<Vec<Block>, Problem> {
    let (services, tenant) = (visit.services, visit.who.tenant_key);
    let reader = services.engine.reader();
    let (Some(webhook), Some(id)) = (Id::parse(webhook), Id::parse(event)) else { return Ok(Vec::new()) };
    let endpoint = history::entity(reader, tenant, EntityId::webhook(webhook))?;
    let Some(Entity::Webhook(endpoint)) = endpoint.as_deref() else { return Ok(Vec::new()) };
    let Some(key) = history::newest_event_key(reader, tenant, id.number())? else { return Ok(Vec::new()) };
    let value = reader.index_get(&key).map_err(history::Unreadable::from)?.unwrap_or_default();
    let read = history::record(reader, history::seq(&value)?)?;
    let mode = TenantMode { tenant: visit.who.tenant.id, livemode: visit.who.livemode() };
    let place = (0..read.record.events.len()).find(|n| read.record.event_id(read.time, *n) == id);
    let Some(body) = place.and_then(|n| envelope(&read.record, read.time, n, mode)) else {
        return Ok(Vec::new());
    };
    let signing = services.signing(tenant, endpoint);
    let seconds = (read.time.unix_ms() / SECOND_MS).to_string();
    let text = String::from_utf8_lossy(&body).into_owned();
    let (own, standard) = (signing.sign(&seconds, &body), signing.sign_standard(event, &seconds, &body));
    let own_form = match endpoint.signature {
        Signature::Hex => visit.say(
            "HMAC-SHA256 del cuerpo solo, en hexadecimal; la llave es el secreto entero como texto",
            "HMAC-SHA256 of the body alone, in hex; the key is the whole secret as text",
        ),
        Signature::Timestamped => visit.say(
            "t es el segundo del envío, y cada v1 es el HMAC-SHA256, en hexadecimal, de «segundo.cuerpo» con \
             un secreto que firma; la llave es el secreto entero como texto",
            "t is the second of sending, and each v1 is the HMAC-SHA256, in hex, of \"second.body\" by a \
             secret that signs; the key is the whole secret as text",
        ),
    };
    let code =
        |spanish, english, field, text: String| Block::Code(visit.code(field, [spanish, english], text));
    Ok(vec![
        Block::Heading(visit.say("La firma, sobre los bytes que se enviaron", "The signature, on the bytes that were sent").to_owned()),
        Block::Text(
            visit.say(
                "Verifica antes de leer: toma el cuerpo tal como llegó, sin volver a escribirlo; fírmalo con \
                 tu secreto y compara. Rechaza lo que tenga más de cinco minutos, y procesa cada \
                 webhook-id una sola vez.",
                "Verify before you read: take the body as it came, without writing it anew; sign it with \
                 your secret and compare. Refuse what is older than five minutes, and process each \
                 webhook-id once.",
            ).to_owned(),
        ),
        code("1. El cuerpo, byte por byte", "1. The body, byte by byte", "body", text.clone()),
        code("2. Lo que se firma: webhook-id . webhook-timestamp . cuerpo", "2. What is signed: webhook-id . webhook-timestamp . body", "signed", format!("{event}.{seconds}.{text}")),
        code("3. webhook-signature: HMAC-SHA256 en base64; la llave son los bytes de la base64 que sigue a \
            whsec_", "3. webhook-signature: HMAC-SHA256 in base64; the key is the bytes of the base64 after \
                whsec_", "signature", standard),
        Block::Code(visit.code("svcSignature", [&format!("{}: {own_form}", services.webhooks.signature_header()); 2], own)),
        Block::Text(visit.say("webhook-timestamp es aquí el segundo del evento; en cada envío es el segundo \
            en que \
            sale.", "webhook-timestamp is the second of the event here; in each delivery it is the second of \
                sending.").to_owned()),
    ])
}
