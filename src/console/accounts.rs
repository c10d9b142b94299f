//! Tenants: the list, and one with its settings, keys, live status and corrections.

use super::{Here, Made, after, earlier, may, path};
use crate::pages::inside::{ApiResult, with_query};
use crate::pages::show::{self, items, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{self, Block, Button, Cell, Input, Kind, Link, Page, Row};
use crate::pages::words::{overlaps, words};
use api::problem::Problem;
use api::wire::json;
use domain::platform::Scope;
use domain::platform::operators::Role;
use hyper::Method;
use serde_json::{Value, json};

const COLUMNS: [&str; 4] = ["name", "liveStatus", "tenantId", "createdAt"];
const KEYS: [&str; 6] = ["prefix", "mode", "scopes", "createdAt", "lastUsedAt", "revokedAt"];

pub async fn list(visit: &Here<'_>) -> Made {
    let language = visit.language;
    // Those that wait for live mode alone, or all.
    let (found, next) = visit.list("/admin/tenants", "/console/tenants", &["liveAsked"], "50").await?;
    let row = |item: &Value| {
        let mut cells = COLUMNS.map(|name| show::cell(language, name, &item[name]));
        if let Some(at) = item["liveAskedAt"].as_str() {
            cells[1].sub = format!("{} {}", visit.say("lo pidió el", "asked for it"), show::instant(at));
        }
        let row = Row::new(cells).status(str_of(item, "liveStatus"));
        row.link(0, format!("/console/tenants/{}", str_of(item, "tenantId")))
    };
    let table = visit.table(
        ["Comercios, primero los más recientes", "Tenants, newest first"],
        "Nombre, Modo real, Id, Creado",
        "Name, Live mode, Id, Created",
    );
    let table = table.rows(items(&found).iter().map(row)).next(next);
    Ok(Page::new("tenants", visit.say("Comercios", "Tenants")).with(table))
}

pub async fn one(visit: &Here<'_>) -> Made {
    of(visit, visit.id()).await
}

async fn of(visit: &Here<'_>, id: &str) -> Made {
    let language = visit.language;
    let tenant = visit.inside.get(&path("/admin/tenants", id, "")).await?;
    let keys = visit.inside.get(&path("/admin/tenants", id, "keys")).await?;
    let status = str_of(&tenant, "liveStatus");
    let mut facts = show::facts(language, &tenant, &["name", "tenantId", "createdAt"]);
    let state = Cell::state(status, words(language, status)).with_sub(str_of(&tenant, "liveStatusReason"));
    facts.insert(0, view::Fact::new("liveStatus", visit.say("Modo real", "Live mode"), state));
    let row = |item: &Value| {
        let mut row = Row::new(KEYS.map(|name| show::cell(language, name, &item[name])));
        if may(visit, Role::Admin) && item["revokedAt"].is_null() {
            row.forms.push(key_form(visit, id, str_of(item, "keyId")));
        }
        row
    };
    let table = visit.table(
        ["Llaves", "Keys"],
        "Llave, Modo, Permisos, Creada, Último uso, Revocada",
        "Key, Mode, Scopes, Created, Last use, Revoked",
    );
    let table = table.rows(items(&keys).iter().map(row));
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
        .with(links)
        .with(earlier::form(visit, id))
        .heading(visit.say("Llaves", "Keys"))
        .with(table);
    page.blocks.extend(forms(visit, id, &settings));
    if !may(visit, Role::Admin) {
        page = page.with(visit.code("settings", ["Ajustes", "Settings"], settings));
    }
    Ok(page)
}

fn key_form(visit: &Here<'_>, tenant: &str, key: &str) -> view::Form {
    let to = |act: &str| path("/console/keys", key, act);
    let successors = visit
        .say("Al revocar, también las que la reemplazaron", "When revoking, also those that replaced it");
    let overlap = visit.say("La actual deja de servir", "The current one stops working");
    let revoke = visit.say("Revocar de inmediato", "Revoke at once");
    view::Form::new(to("rotate"), "rotate-key", visit.say("Cambiar", "Replace"))
        .id(format!("key-{key}"))
        .input(Input::choice("overlapSeconds", overlap, overlaps(visit.language), ""))
        .input(Input::boxes("successors", "", [("true", successors)]).optional())
        .button(Button::bad("revoke-key", revoke, to("revoke")))
        .hidden("tenant", tenant)
}

pub async fn act_on_key(visit: &Here<'_>) -> Result<Shown, Problem> {
    let (form, key) = (&visit.form, visit.id());
    let outcome = if visit.part(2) == "revoke" {
        let successors = form.filled("successors").map_or("", |_| "true");
        let to = with_query(&path("/admin/keys", key, ""), &[("successors", successors)]);
        visit.inside.change(Method::DELETE, &to, None).await
    } else {
        let overlap: i64 = form.text("overlapSeconds").parse().unwrap_or(0);
        visit.post(&path("/admin/keys", key, "rotate"), &json!({ "overlapSeconds": overlap })).await
    };
    shown(visit, form.text("tenant"), outcome).await
}

fn forms(visit: &Here<'_>, id: &str, settings: &str) -> Vec<Block> {
    let say = |spanish, english| visit.say(spanish, english);
    let to = |act: &str| path("/console/tenants", id, act);
    let input = |act: &str, name, label: &str| Input::new(name, label).value(visit.typed(&to(act), name));
    let modes = [("test", say("Prueba", "Test")), ("live", say("Real", "Live"))];
    let modes = || Input::choice("mode", say("Modo", "Mode"), modes, "");
    let mut forms = Vec::new();
    if may(visit, Role::Treasury) {
        let of = |name, label| input("adjustments", name, label);
        let currencies = ["VES", "COP", "USDT"].map(|code| (code, code));
        forms.push(
            view::Form::new(to("adjustments"), "create-adjustment", say("Ajustar", "Adjust"))
                .title(say("Corregir un saldo", "Correct a balance"))
                .input(modes())
                .input(Input::choice("currency", say("Moneda", "Currency"), currencies, ""))
                .input(of("amount", say("Monto, con signo", "Amount, with its sign")).hint("-12.50"))
                .input(of("description", say("Motivo", "Reason")))
                .input(of("externalRef", say("Referencia", "Reference"))),
        );
    }
    if may(visit, Role::Admin) {
        let states = ["active", "suspended", "inactive"].map(|state| (state, words(visit.language, state)));
        let scopes = Scope::ALL.map(Scope::name).map(|scope| (scope, scope));
        forms.extend([
            view::Form::new(to("live-status"), "set-live-status", say("Cambiar", "Change"))
                .title(say("Modo real", "Live mode"))
                .input(Input::choice("status", say("Estado", "State"), states, ""))
                .input(input("live-status", "note", say("Motivo", "Reason"))),
            view::Form::new(to("keys"), "create-key", say("Crear la llave", "Create the key"))
                .title(say("Nueva llave", "New key"))
                .input(modes())
                .input(Input::boxes("scopes", say("Permisos", "Scopes"), scopes).value("read")),
            view::Form::new(to("settings"), "set-settings", say("Guardar", "Save"))
                .title(say("Ajustes", "Settings"))
                .input(Input::new("settings", "JSON").kind(Kind::Lines).value(settings)),
        ]);
    }
    forms.into_iter().map(Block::Form).collect()
}

pub async fn act(visit: &Here<'_>) -> Result<Shown, Problem> {
    let (form, id) = (&visit.form, visit.id());
    let body = match visit.part(2) {
        "live-status" => json!({ "status": form.text("status"), "reason": form.text("note") }),
        "adjustments" => form.members(&["mode", "currency", "amount", "description", "externalRef"]),
        "keys" => json!({ "mode": form.text("mode"), "scopes": form.all("scopes").collect::<Vec<_>>() }),
        _ => json::value(form.text("settings")).unwrap_or_default(),
    };
    let to = path("/admin/tenants", id, visit.part(2));
    let outcome = match visit.part(2) {
        "settings" if body.is_null() => Err(Problem::invalid_json("the settings are no JSON").into()),
        "settings" => visit.inside.change(Method::PATCH, &to, Some(&body)).await,
        _ => visit.post(&to, &body).await,
    };
    shown(visit, id, outcome).await
}

async fn shown(visit: &Here<'_>, id: &str, outcome: ApiResult) -> Result<Shown, Problem> {
    let to = path("/console/tenants", id, "");
    let then = |made: &Value| {
        if made.get("key").is_none() {
            return after(&to, made);
        }
        let note = visit.say(
            "La llave está lista. Guárdala: no se vuelve a mostrar.",
            "The key is ready. Keep it: it is not shown again.",
        );
        let code = visit.code("newKey", ["Llave nueva", "New key"], str_of(made, "key"));
        let links = vec![Link::new(visit.say("Volver al comercio", "Back to the tenant"), &*to)];
        let page = Page::new("tenant", visit.say("Nueva llave", "New key"));
        Shown::Page(visit.secret(page, note, code).with(links))
    };
    visit.acted(outcome, then, of(visit, id)).await
}
