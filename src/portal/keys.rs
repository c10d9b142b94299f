//! API keys of the tenant in the mode of the visitor's own: which there are, and a new one in the place
//! of the visitor's.

use super::{Here, Made, may};
use crate::pages::form::Form;
use crate::pages::inside::Refused;
use crate::pages::show;
use crate::pages::site::Shown;
use crate::pages::view::{self, Cell, Code, Input, Kind, Note, Page, Row, Table, Tone};
use api::problem::Problem;
use domain::platform::Scope;
use serde_json::json;

/// GET /portal/keys
pub async fn page(visit: &Here<'_>, failed: Option<&Refused>) -> Made {
    if !may(visit, Scope::Read) {
        return Err(Problem::scope_missing(Scope::Read.name()).into());
    }
    let (own, now) = (&visit.who.key, visit.services.now());
    let keys = visit.services.callers.directory.keys_of(visit.who.tenant.number);
    let say = |spanish, english| visit.language.say(spanish, english);
    let row = |(key, used): &(
        std::sync::Arc<domain::platform::ApiKey>,
        Option<domain::values::time::Timestamp>,
    )| {
        let state = if key.works_at(now) { "active" } else { "revoked" };
        let instant = |at: Option<domain::values::time::Timestamp>| {
            at.map_or("—".to_owned(), |at| show::in_caracas(at.unix_ms()))
        };
        let scopes: Vec<&str> = key.scopes.iter().map(Scope::name).collect();
        let mine =
            if key.id == own.id { say("con la que entraste", "the one you logged in with") } else { "" };
        Row::new(vec![
            Cell::code(format!("{}…", key.prefix)).with_sub(mine),
            Cell::text(scopes.join(", ")),
            Cell::state(state, crate::pages::words::words(visit.language, state).to_owned()),
            Cell::text(show::in_caracas(key.created_at.unix_ms())),
            Cell::text(instant(*used)),
            Cell::text(instant(key.ends_at())),
        ])
        .status(state)
    };
    let heads = [
        say("Llave", "Key"),
        say("Permisos", "Scopes"),
        say("Estado", "State"),
        say("Creada", "Created"),
        say("Último uso", "Last use"),
        say("Termina", "Ends"),
    ];
    let table = Table {
        caption: say("Llaves de API", "API keys").to_owned(),
        heads: heads.map(str::to_owned).into(),
        rows: keys.iter().filter(|(key, _)| key.mode == own.mode).map(row).collect(),
        ..Table::default()
    };
    let mut page = Page::new("keys", say("Llaves de API", "API keys")).maybe(visit.done()).with(table);
    if may(visit, Scope::Manage) {
        let form = rotation(visit);
        page =
            page.with(view::Form { error: failed.map(|refused| show::why(visit.language, refused)), ..form });
    }
    Ok(page)
}

fn rotation(visit: &Here<'_>) -> view::Form {
    let say = |spanish, english| visit.language.say(spanish, english);
    let overlaps = [
        ("0", say("De inmediato", "At once")),
        ("3600", say("En una hora", "In an hour")),
        ("86400", say("En un día", "In a day")),
    ];
    let overlaps = overlaps.map(|(seconds, words)| (seconds.to_owned(), words.to_owned())).into();
    view::Form::new("/portal/keys/rotate", "rotate-key", say("Cambiar mi llave", "Replace my key"))
        .title(say("Cambiar la llave con la que entraste", "Replace the key that you logged in with"))
        .about(say(
            "Recibes una llave nueva con los mismos permisos. La actual deja de servir cuando elijas, y con \
             ella esta sesión.",
            "You get a new key with the same scopes. The current one stops working when you choose, and with \
             it this session.",
        ))
        .input(
            Input::new(
                "overlapSeconds",
                say("La llave actual deja de servir", "The current key stops working"),
            )
            .kind(Kind::Choice)
            .options(overlaps)
            .value("3600"),
        )
        .tone(Tone::Bad)
}

/// POST /portal/keys/rotate: the new key is on the page that answers, and nowhere else.
pub async fn rotate(visit: &Here<'_>, form: &Form) -> Result<Shown, Problem> {
    let overlap: i64 = form.text("overlapSeconds").parse().unwrap_or(0);
    let body = json!({ "overlapSeconds": overlap });
    match visit.inside.post("/v1/pages/keys/rotate", &body, form.text("once")).await {
        Ok(made) => {
            let say = |spanish, english| visit.language.say(spanish, english);
            let note = Note::new(
                Tone::Good,
                say(
                    "Esta es tu llave nueva. Guárdala ahora: no se vuelve a mostrar.",
                    "This is your new key. Keep it now: it is not shown again.",
                ),
            );
            let code = Code {
                label: say("Llave nueva", "New key").to_owned(),
                field: "newKey",
                text: show::str_of(&made, "key").to_owned(),
                copy: say("Copiar", "Copy"),
            };
            let mut page = Page::new("keys", say("Llaves de API", "API keys")).with(note).with(code);
            page.code = 201;
            Ok(Shown::Page(page))
        }
        Err(refused) => visit.failed(page(visit, Some(&refused)).await, &refused),
    }
}
