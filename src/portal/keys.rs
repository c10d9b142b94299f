//! API keys of the tenant in the mode of the visitor's own: which there are, and a new one in the place
//! of the visitor's.

use super::{Here, Made, may};
use crate::pages::show::{self, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{self, Cell, Input, Page, Row, Tone};
use crate::pages::words::{overlaps, words};
use api::problem::Problem;
use domain::platform::{ApiKey, Scope};
use domain::values::time::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;

pub async fn page(visit: &Here<'_>) -> Made {
    if !may(visit, Scope::Read) {
        return Err(Problem::scope_missing(Scope::Read.name()).into());
    }
    let (own, now) = (&visit.who.key, visit.services.now());
    let keys = visit.services.keys_of(visit.who.tenant.number).await?;
    let row = |(key, used): &(Arc<ApiKey>, Option<Timestamp>)| {
        let state = if key.works_at(now) { "active" } else { "revoked" };
        let said = words(visit.language, state);
        let instant = |at: Option<Timestamp>| {
            Cell::text(at.map_or("—".to_owned(), |at| show::in_caracas(at.unix_ms())))
        };
        let scopes: Vec<&str> = key.scopes.iter().map(Scope::name).collect();
        let own = visit.say("con la que entraste", "the one you logged in with");
        let mine = if key.id == visit.who.key.id { own } else { "" };
        let agent = key.details.mandate.as_ref().and_then(|mandate| mandate.agent.as_deref());
        let words = [key.details.name.as_deref(), agent, Some(mine)].into_iter().flatten();
        let words: Vec<&str> = words.filter(|words| !words.is_empty()).collect();
        Row::new([
            Cell::code(format!("{}…", key.prefix)).with_sub(words.join(" · ")),
            Cell::text(scopes.join(", ")),
            Cell::state(state, said),
            instant(Some(key.created_at)),
            instant(*used),
            instant(key.ends_at()),
        ])
        .status(state)
    };
    let table = visit.table(
        ["Llaves de API", "API keys"],
        "Llave, Permisos, Estado, Creada, Último uso, Termina",
        "Key, Scopes, State, Created, Last use, Ends",
    );
    let table = table.rows(keys.iter().filter(|(key, _)| key.mode == own.mode).map(row));
    let page = Page::new("keys", visit.say("Llaves de API", "API keys")).maybe(visit.done()).with(table);
    Ok(if may(visit, Scope::Manage) { page.with(rotation(visit)) } else { page })
}

fn rotation(visit: &Here<'_>) -> view::Form {
    let say = |spanish, english| visit.language.say(spanish, english);
    view::Form::new("/portal/keys/rotate", "rotate-key", say("Cambiar mi llave", "Replace my key"))
        .title(say("Cambiar la llave con la que entraste", "Replace the key that you logged in with"))
        .about(say(
            "Recibes una llave nueva con los mismos permisos. La actual deja de servir cuando elijas, y con \
             ella esta sesión.",
            "You get a new key with the same scopes. The current one stops working when you choose, and with \
             it this session.",
        ))
        .input(Input::choice(
            "overlapSeconds",
            say("La llave actual deja de servir", "The current key stops working"),
            overlaps(visit.language),
            "3600",
        ))
        .tone(Tone::Bad)
        .says_why()
}

/// POST /portal/keys/rotate: the new key is on the page that answers, and nowhere else.
pub async fn rotate(visit: &Here<'_>) -> Result<Shown, Problem> {
    let overlap: i64 = visit.form.text("overlapSeconds").parse().unwrap_or(0);
    let outcome = visit.post("/v1/pages/keys/rotate", &json!({ "overlapSeconds": overlap })).await;
    let shown = |made: &Value| {
        let note = visit.say(
            "Esta es tu llave nueva. Guárdala ahora: no se vuelve a mostrar.",
            "This is your new key. Keep it now: it is not shown again.",
        );
        let code = visit.code("newKey", ["Llave nueva", "New key"], str_of(made, "key"));
        Shown::Page(visit.secret(Page::new("keys", visit.say("Llaves de API", "API keys")), note, code))
    };
    visit.acted(outcome, shown, page(visit)).await
}
