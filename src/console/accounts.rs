//! Tenants: the list, and one with its settings, keys, live status and corrections.

use super::{Here, Made, after, may, path};
use crate::pages::form::Form;
use crate::pages::inside::{ApiResult, with_query};
use crate::pages::show::{self, items, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{self, Block, Button, Cell, Code, Input, Kind, Link, Note, Page, Row, Table, Tone};
use crate::pages::words::words;
use api::problem::Problem;
use domain::platform::operators::Role;
use hyper::Method;
use serde_json::{Value, json};

const COLUMNS: [&str; 4] = ["name", "liveStatus", "tenantId", "createdAt"];
const KEYS: [&str; 6] = ["prefix", "mode", "scopes", "createdAt", "lastUsedAt", "revokedAt"];

/// GET /console/tenants
pub async fn list(visit: &Here<'_>) -> Made {
    let language = visit.language;
    // Those that wait for live mode alone, or all.
    let asked = visit.query.text("liveAsked");
    let filters = [("liveAsked", asked), ("limit", "50"), ("cursor", visit.query.text("cursor"))];
    let found = visit.inside.get(&with_query("/admin/tenants", &filters)).await?;
    let row = |item: &Value| {
        let mut cells = COLUMNS.map(|name| show::cell(language, name, &item[name]));
        let id = str_of(item, "tenantId");
        cells[0].href = Some(format!("/console/tenants/{id}"));
        if let Some(at) = item["liveAskedAt"].as_str() {
            cells[1].sub = format!("{} {}", visit.say("lo pidió el", "asked for it"), show::instant(at));
        }
        Row::new(cells.into()).status(str_of(item, "liveStatus"))
    };
    let next = found["nextCursor"]
        .as_str()
        .map(|cursor| with_query("/console/tenants", &[("liveAsked", asked), ("cursor", cursor)]));
    let heads = [
        visit.say("Nombre", "Name"),
        visit.say("Modo real", "Live mode"),
        "Id",
        visit.say("Creado", "Created"),
    ];
    let table = Table {
        rows: items(&found).iter().map(row).collect(),
        next,
        heads: heads.map(str::to_owned).into(),
        ..show::table(
            language,
            visit.say("Comercios, primero los más recientes", "Tenants, newest first"),
            &COLUMNS,
        )
    };
    Ok(Page::new("tenants", visit.say("Comercios", "Tenants")).with(table))
}

/// GET /console/tenants/:id
pub async fn one(visit: &Here<'_>, id: &str, failed: Option<(&str, &Form)>) -> Made {
    let language = visit.language;
    let tenant = visit.inside.get(&path("/admin/tenants", id, "")).await?;
    let keys = visit.inside.get(&path("/admin/tenants", id, "keys")).await?;
    let status = str_of(&tenant, "liveStatus");
    let mut facts = show::facts(language, &tenant, &["name", "tenantId", "createdAt"]);
    let state =
        Cell::state(status, words(language, status).to_owned()).with_sub(str_of(&tenant, "liveStatusReason"));
    facts.insert(0, view::Fact::new("liveStatus", visit.say("Modo real", "Live mode"), state));
    let row = |item: &Value| {
        let mut row = Row::new(KEYS.map(|name| show::cell(language, name, &item[name])).into());
        if may(visit, Role::Admin) && item["revokedAt"].is_null() {
            row.forms.push(key_form(visit, id, str_of(item, "keyId")));
        }
        row
    };
    let heads = [
        visit.say("Llave", "Key"),
        visit.say("Modo", "Mode"),
        visit.say("Permisos", "Scopes"),
        visit.say("Creada", "Created"),
        visit.say("Último uso", "Last use"),
        visit.say("Revocada", "Revoked"),
    ];
    let caption = visit.say("Llaves", "Keys");
    let table = Table {
        rows: items(&keys).iter().map(row).collect(),
        heads: heads.map(str::to_owned).into(),
        ..show::table(language, caption, &KEYS)
    };
    let links = vec![
        Link::new(
            visit.say("Estado de cuenta", "Statement"),
            with_query("/console/statements", &[("tenantId", id)]),
        ),
        Link::new(visit.say("Auditoría", "Audit"), with_query("/console/audit", &[("tenantId", id)])),
    ];
    let settings = serde_json::to_string_pretty(&tenant["settings"]).unwrap_or_default();
    let mut page = Page::new("tenant", str_of(&tenant, "name"))
        .status(status)
        .maybe(visit.done())
        .with(facts)
        .with(links);
    page.blocks.push(Block::Heading(caption.to_owned()));
    page.blocks.push(table.into());
    page.blocks.extend(forms(visit, id, &settings, failed));
    if !may(visit, Role::Admin) {
        page = page.with(Code {
            label: visit.say("Ajustes", "Settings").to_owned(),
            field: "settings",
            text: settings,
            copy: visit.say("Copiar", "Copy"),
        });
    }
    Ok(page)
}

fn key_form(visit: &Here<'_>, tenant: &str, key: &str) -> view::Form {
    let to = |act: &str| path("/console/keys", key, act);
    let overlaps = [
        ("0", visit.say("De inmediato", "At once")),
        ("3600", visit.say("En una hora", "In an hour")),
        ("86400", visit.say("En un día", "In a day")),
    ];
    let overlaps = overlaps.map(|(seconds, words)| (seconds.to_owned(), words.to_owned())).into();
    let revoke = visit.say("Revocar de inmediato", "Revoke at once");
    view::Form::new(to("rotate"), "rotate-key", visit.say("Cambiar", "Replace"))
        .id(format!("key-{key}"))
        .input(
            Input::new(
                "overlapSeconds",
                visit.say("La actual deja de servir", "The current one stops working"),
            )
            .kind(Kind::Choice)
            .options(overlaps),
        )
        .input(
            Input::new("successors", "")
                .kind(Kind::Boxes)
                .options(vec![(
                    "true".to_owned(),
                    visit
                        .say(
                            "Al revocar, también las que la reemplazaron",
                            "When revoking, also those that replaced it",
                        )
                        .to_owned(),
                )])
                .optional(),
        )
        .button(Button {
            action: "revoke-key",
            label: revoke.to_owned(),
            tone: Tone::Bad,
            to: Some(to("revoke")),
        })
        .hidden("tenant", tenant)
}

/// POST /console/keys/:keyId/revoke | rotate
pub async fn act_on_key(visit: &Here<'_>, key: &str, act: &str, form: &Form) -> Result<Shown, Problem> {
    let outcome = if act == "revoke" {
        let successors = form.filled("successors").map_or("", |_| "true");
        let to = with_query(&path("/admin/keys", key, ""), &[("successors", successors)]);
        visit.inside.change(Method::DELETE, &to, None).await
    } else {
        let overlap: i64 = form.text("overlapSeconds").parse().unwrap_or(0);
        let body = json!({ "overlapSeconds": overlap });
        visit.inside.post(&path("/admin/keys", key, "rotate"), &body, form.text("once")).await
    };
    shown(visit, (form.text("tenant"), act), form, outcome).await
}

fn forms(visit: &Here<'_>, id: &str, settings: &str, failed: Option<(&str, &Form)>) -> Vec<Block> {
    let to = |act: &str| path("/console/tenants", id, act);
    let typed = |act: &str, name: &str| {
        failed
            .filter(|(failed, _)| *failed == act)
            .map(|(_, form)| form.text(name).to_owned())
            .unwrap_or_default()
    };
    let modes = vec![
        ("test".to_owned(), visit.say("Prueba", "Test").to_owned()),
        ("live".to_owned(), visit.say("Real", "Live").to_owned()),
    ];
    let mut blocks = Vec::new();
    if may(visit, Role::Treasury) {
        blocks.push(adjustment(visit, to("adjustments"), modes.clone(), typed).into());
    }
    if may(visit, Role::Admin) {
        let states = ["active", "suspended", "inactive"]
            .map(|state| (state.to_owned(), words(visit.language, state).to_owned()))
            .into();
        let form = view::Form::new(to("live-status"), "set-live-status", visit.say("Cambiar", "Change"))
            .title(visit.say("Modo real", "Live mode"))
            .input(Input::new("status", visit.say("Estado", "State")).kind(Kind::Choice).options(states))
            .input(Input::new("note", visit.say("Motivo", "Reason")).value(typed("live-status", "note")));
        blocks.push(form.into());
        let form = view::Form::new(to("keys"), "create-key", visit.say("Crear la llave", "Create the key"))
            .title(visit.say("Nueva llave", "New key"))
            .input(Input::new("mode", visit.say("Modo", "Mode")).kind(Kind::Choice).options(modes))
            .input(
                Input::new("scopes", visit.say("Permisos", "Scopes"))
                    .kind(Kind::Boxes)
                    .options(scopes())
                    .value("read"),
            );
        blocks.push(form.into());
        let form = view::Form::new(to("settings"), "set-settings", visit.say("Guardar", "Save"))
            .title(visit.say("Ajustes", "Settings"))
            .input(Input::new("settings", "JSON").kind(Kind::Lines).value(settings))
            .tone(Tone::Plain);
        blocks.push(form.into());
    }
    blocks
}

fn adjustment(
    visit: &Here<'_>,
    to: String,
    modes: Vec<(String, String)>,
    typed: impl Fn(&str, &str) -> String,
) -> view::Form {
    let currencies = ["VES", "COP", "USDT"].map(|code| (code.to_owned(), code.to_owned())).into();
    view::Form::new(to, "create-adjustment", visit.say("Ajustar", "Adjust"))
        .title(visit.say("Corregir un saldo", "Correct a balance"))
        .input(Input::new("mode", visit.say("Modo", "Mode")).kind(Kind::Choice).options(modes))
        .input(Input::new("currency", visit.say("Moneda", "Currency")).kind(Kind::Choice).options(currencies))
        .input(
            Input::new("amount", visit.say("Monto, con signo", "Amount, with its sign"))
                .hint("-12.50")
                .value(typed("adjustments", "amount")),
        )
        .input(
            Input::new("description", visit.say("Motivo", "Reason"))
                .value(typed("adjustments", "description")),
        )
        .input(
            Input::new("externalRef", visit.say("Referencia", "Reference"))
                .value(typed("adjustments", "externalRef")),
        )
}

fn scopes() -> Vec<(String, String)> {
    ["read", "collect", "payout", "convert", "manage"]
        .map(|scope| (scope.to_owned(), scope.to_owned()))
        .into()
}

/// POST /console/tenants/:id/…
pub async fn act(visit: &Here<'_>, id: &str, act: &str, form: &Form) -> Result<Shown, Problem> {
    let to = path("/admin/tenants", id, act);
    let once = form.text("once");
    let outcome = match act {
        "live-status" => {
            visit
                .inside
                .post(&to, &json!({ "status": form.text("status"), "reason": form.text("note") }), once)
                .await
        }
        "adjustments" => {
            let members = ["mode", "currency", "amount", "description", "externalRef"]
                .map(|name| (name.to_owned(), Value::from(form.text(name))));
            visit.inside.post(&to, &Value::Object(members.into_iter().collect()), once).await
        }
        "keys" => {
            let scopes: Vec<&str> = form.all("scopes").collect();
            visit.inside.post(&to, &json!({ "mode": form.text("mode"), "scopes": scopes }), once).await
        }
        _ => match serde_json::from_str::<Value>(form.text("settings")) {
            Ok(settings) => visit.inside.change(Method::PATCH, &to, Some(&settings)).await,
            Err(_) => Err(Problem::invalid_json("the settings are no JSON").into()),
        },
    };
    shown(visit, (id, act), form, outcome).await
}

/// The only page that shows a new key.
async fn shown(
    visit: &Here<'_>,
    (id, act): (&str, &str),
    form: &Form,
    outcome: ApiResult,
) -> Result<Shown, Problem> {
    match outcome {
        Ok(made) if made.get("key").is_some() => {
            let note = Note::new(
                Tone::Good,
                visit.say(
                    "La llave está lista. Guárdala: no se vuelve a mostrar.",
                    "The key is ready. Keep it: it is not shown again.",
                ),
            );
            let code = Code {
                label: visit.say("Llave nueva", "New key").to_owned(),
                field: "newKey",
                text: str_of(&made, "key").to_owned(),
                copy: visit.say("Copiar", "Copy"),
            };
            let links = vec![Link::new(
                visit.say("Volver al comercio", "Back to the tenant"),
                path("/console/tenants", id, ""),
            )];
            let mut page =
                Page::new("tenant", visit.say("Nueva llave", "New key")).with(note).with(code).with(links);
            page.code = 201;
            Ok(Shown::Page(page))
        }
        Ok(answer) => Ok(after(&path("/console/tenants", id, ""), &answer)),
        Err(refused) => visit.failed(one(visit, id, Some((act, form))).await, &refused),
    }
}
