//! Tenants: the list, and one with its settings, keys, live status and corrections.

use super::{Here, Made, after, earlier, may, path, post_by};
use crate::pages::confirm::Confirm;
use crate::pages::inside::{ApiResult, with_query};
use crate::pages::show::{self, items, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{self, Block, Cell, Input, Link, Note, Page, Row, Tone};
use crate::pages::words::{overlaps, scope, words};
use api::problem::Problem;
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
    let page = Page::new("tenants", visit.say("Comercios", "Tenants")).maybe(visit.done()).with(table);
    Ok(if may(visit, Role::Admin) { page.with(new_tenant(visit)) } else { page })
}

fn new_tenant(visit: &Here<'_>) -> view::Form {
    let say = |spanish, english| visit.say(spanish, english);
    let input = |name, label: &str| Input::new(name, label).value(visit.typed("/console/tenants", name));
    let roles = Role::ALL.map(|role| (role.name(), words(visit.language, role.name())));
    view::Form::new("/console/tenants", "create-tenant", say("Abrir el comercio", "Open the tenant"))
        .title(say("Abrir un comercio", "Open a tenant"))
        .about(say(
            "Recibe una llave de prueba y una real, que se muestran una sola vez. El modo real sigue inactivo hasta que \
             lo actives. Si nombras a un operador que lo atienda, también se crea, con su token.",
            "It gets a test key and a live one, which are shown once. Live mode stays inactive until you activate it. If \
             you name an operator who looks after it, that account is made too, with its token.",
        ))
        .input(input("name", say("Nombre del comercio", "Tenant's name")))
        .input(input("operatorName", say("Nombre del operador", "Operator's name")).optional())
        .input(input("email", say("Correo del operador", "Operator's e-mail")).optional())
        .input(Input::choice("role", say("Rol del operador", "Operator's role"), roles, "support"))
}

/// POST /console/tenants: the keys and the token are on the page that answers, and nowhere else.
pub async fn create(visit: &Here<'_>) -> Result<Shown, Problem> {
    let form = &visit.form;
    let made = match visit.post("/admin/tenants", &json!({ "name": form.text("name") })).await {
        Ok(made) => made,
        Err(refused) => return visit.failed(list(visit).await, &refused),
    };
    let to = path("/console/tenants", str_of(&made, "tenantId"), "");
    let note = visit.say(
        "El comercio está abierto. Guarda sus llaves: no se vuelven a mostrar.",
        "The tenant is open. Keep its keys: they are not shown again.",
    );
    let key = |field, label, of: &str| visit.code(field, label, str_of(&made[of], "key"));
    let page = Page::new("tenant", str_of(&made, "name"));
    let page = visit.secret(page, note, key("testKey", ["Llave de prueba", "Test key"], "testKey"));
    let mut page = page.with(key("liveKey", ["Llave real", "Live key"], "liveKey"));
    if let Some(name) = form.filled("operatorName") {
        let body = json!({ "name": name, "email": form.text("email"), "role": form.text("role") });
        page = match post_by(visit, "/admin/operators", &body, "operator").await {
            Ok(made) if made["token"].is_string() => page.with(visit.code(
                "token",
                ["Token del operador", "Operator's token"],
                str_of(&made, "token"),
            )),
            Ok(_) => page.with(Note::new(
                Tone::Plain,
                visit.say("El operador espera una aprobación.", "The operator waits for an approval."),
            )),
            Err(refused) => {
                let mut note = show::refusal(visit.language, &refused);
                let said = visit.say("El operador no se creó.", "The operator was not made.");
                note.more.insert(0, said.to_owned());
                page.with(note)
            }
        };
    }
    Ok(Shown::Page(page.with(vec![Link::new(visit.say("Ir al comercio", "Go to the tenant"), to)])))
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
        let mut cells: Vec<Cell> = KEYS.map(|name| show::cell(language, name, &item[name])).into();
        let words = [str_of(item, "name"), str_of(&item["mandate"], "agent")];
        cells[0].sub = words.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" · ");
        if may(visit, Role::Admin) {
            let to = with_query(&path("/console/keys", str_of(item, "keyId"), ""), &[("tenantId", id)]);
            let label = visit.say("Cambiar o revocar", "Replace or revoke");
            let is_open = item["revokedAt"].is_null();
            cells.push(if is_open { Cell::text(label).to(to) } else { Cell::text("") });
        }
        Row::new(cells)
    };
    let table = visit.table(
        ["Llaves", "Keys"],
        "Llave, Modo, Permisos, Creada, Último uso, Revocada, ",
        "Key, Mode, Scopes, Created, Last use, Revoked, ",
    );
    let table = table.rows(items(&keys).iter().map(row));
    let of_tenant = |list: &str| with_query(&format!("/console/{list}"), &[("tenantId", id)]);
    let links = vec![
        Link::new(visit.say("Cobros", "Payments"), of_tenant("payments")),
        Link::new(visit.say("Pagos", "Payouts"), of_tenant("payouts")),
        Link::new(
            visit.say("Estado de cuenta", "Statement"),
            with_query("/console/statements", &[("tenantId", id)]),
        ),
        Link::new(visit.say("Auditoría", "Audit"), with_query("/console/audit", &[("tenantId", id)])),
    ];
    let mut page = Page::new("tenant", str_of(&tenant, "name"))
        .status(status)
        .maybe(visit.done())
        .with(facts)
        .with(links)
        .with(earlier::form(visit, id))
        .heading(visit.say("Llaves", "Keys"))
        .with(table);
    page.blocks.extend(forms(visit, id, &tenant["settings"]));
    if !may(visit, Role::Admin) {
        let settings = serde_json::to_string_pretty(&tenant["settings"]).unwrap_or_default();
        page = page.with(visit.code("settings", ["Ajustes", "Settings"], settings));
    }
    Ok(page)
}

/// What becomes of a key that is replaced or revoked, and of those who use it.
pub async fn key(visit: &Here<'_>) -> Made {
    key_of(visit, visit.query.text("tenantId")).await
}

async fn key_of(visit: &Here<'_>, tenant: &str) -> Made {
    visit.who.must_be(Role::Admin)?;
    let key = visit.id();
    let keys = visit.inside.get(&path("/admin/tenants", tenant, "keys")).await?;
    let found =
        items(&keys).iter().find(|item| str_of(item, "keyId") == key).ok_or_else(Problem::not_found)?;
    let to = |act: &str| path("/console/keys", key, act);
    let say = |spanish, english| visit.say(spanish, english);
    let mut facts = show::facts(
        visit.language,
        found,
        &["name", "prefix", "mode", "scopes", "createdAt", "lastUsedAt", "expiresAt", "revokedAt"],
    );
    facts.insert(0, view::Fact::new("tenantId", words(visit.language, "tenantId"), visit.tenant(tenant)));
    let agent = Some(str_of(&found["mandate"], "agent")).filter(|agent| !agent.is_empty());
    facts.extend(agent.map(|agent| view::Fact::new("agent", say("Agente", "Agent"), Cell::text(agent))));
    let title = format!("{} {}…", say("Llave", "Key"), str_of(found, "prefix"));
    let page = Page::new("tenant", title).maybe(visit.done()).with(facts);
    if !found["revokedAt"].is_null() {
        return Ok(page.text(say("Ya no sirve: fue revocada.", "It works no more: it was revoked.")));
    }
    let rotate = view::Form::new(to("rotate"), "rotate-key", say("Cambiar la llave", "Replace the key"))
        .title(say("Cambiarla por otra", "Replace it"))
        .about(say(
            "Se crea otra con el mismo modo y los mismos permisos, que se muestra una sola vez. Las dos sirven \
             hasta el momento que elijas; desde entonces cada llamada con la actual se rechaza con 401, y se \
             cierran las sesiones del portal que abrió.",
            "Another one is made with the same mode and scopes, which is shown once. Both work until the moment \
             that you choose; from then on each call with the current one is refused with 401, and the portal's \
             sessions that it opened end.",
        ))
        .input(Input::choice(
            "overlapSeconds",
            say("La actual deja de servir", "The current one stops working"),
            overlaps(visit.language),
            "3600",
        ))
        .hidden("tenant", tenant);
    let successors = say("También las que la reemplazaron", "Also those that replaced it");
    let revoke = view::Form::new(to("revoke"), "revoke-key", say("Revocar de inmediato", "Revoke at once"))
        .title(say("Revocarla", "Revoke it"))
        .about(say(
            "Desde ese instante cada llamada con ella se rechaza con 401, y se cierran sus sesiones del portal. Lo \
             que ya se pidió sigue su curso. No se puede deshacer.",
            "From that instant each call with it is refused with 401, and its sessions of the portal end. What was \
             asked for already goes on. It cannot be undone.",
        ))
        .input(Input::boxes("successors", say("Qué llaves", "Which keys"), [("true", successors)]).optional())
        .hidden("tenant", tenant)
        .tone(Tone::Bad);
    Ok(page.with(rotate).with(revoke))
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

fn forms(visit: &Here<'_>, id: &str, settings: &Value) -> Vec<Block> {
    let say = |spanish, english| visit.say(spanish, english);
    let to = |act: &str| path("/console/tenants", id, act);
    let input = |act: &str, name, label: &str| Input::new(name, label).value(visit.typed(&to(act), name));
    // Nothing is chosen before somebody chooses.
    let modes =
        [("", say("Elige…", "Choose…")), ("live", say("Real", "Live")), ("test", say("Prueba", "Test"))];
    let modes = |act: &str| Input::choice("mode", say("Modo", "Mode"), modes, visit.typed(&to(act), "mode"));
    let mut forms = Vec::new();
    if may(visit, Role::Treasury) {
        let of = |name, label| input("adjustments", name, label);
        let currencies = ["VES", "COP", "USDT"].map(|code| (code, code));
        forms.push(
            view::Form::new(to("adjustments"), "create-adjustment", say("Ajustar", "Adjust"))
                .title(say("Corregir un saldo", "Correct a balance"))
                .input(modes("adjustments"))
                .input(Input::choice(
                    "currency",
                    say("Moneda", "Currency"),
                    currencies,
                    visit.typed(&to("adjustments"), "currency"),
                ))
                .input(
                    of("amount", say("Monto, con signo", "Amount, with its sign"))
                        .hint(say("Por ejemplo, -1.250,00", "Such as -1,250.00")),
                )
                .input(of("description", say("Motivo", "Reason")))
                .input(of("externalRef", say("Referencia", "Reference"))),
        );
    }
    if may(visit, Role::Admin) {
        let states = ["active", "suspended", "inactive"].map(|state| (state, words(visit.language, state)));
        let scopes = Scope::ALL.map(Scope::name).map(|name| (name, scope(visit.language, name)));
        forms.extend([
            view::Form::new(to("live-status"), "set-live-status", say("Cambiar", "Change"))
                .title(say("Modo real", "Live mode"))
                .input(Input::choice("status", say("Estado", "State"), states, ""))
                .input(input("live-status", "note", say("Motivo", "Reason"))),
            view::Form::new(to("keys"), "create-key", say("Crear la llave", "Create the key"))
                .title(say("Nueva llave", "New key"))
                .input(modes("keys"))
                .input(Input::boxes("scopes", say("Permisos", "Scopes"), scopes).value("read")),
            super::settings::form(visit, to("settings"), settings),
        ]);
    }
    forms.into_iter().map(Block::Form).collect()
}

pub async fn act(visit: &Here<'_>) -> Result<Shown, Problem> {
    let (form, id) = (&visit.form, visit.id());
    let body = match visit.part(2) {
        "live-status" => json!({ "status": form.text("status"), "reason": form.text("note") }),
        "adjustments" => {
            let mut body = form.members(&["mode", "currency", "description", "externalRef"]);
            let decimals = if form.text("currency") == "COP" { 0 } else { 2 };
            body["amount"] = visit.language.typed(form.text("amount"), decimals).into();
            body
        }
        "keys" => json!({ "mode": form.text("mode"), "scopes": form.all("scopes").collect::<Vec<_>>() }),
        _ => match super::settings::changes(visit) {
            Ok(changed) => changed,
            Err(refused) => return visit.failed(of(visit, id).await, &refused),
        },
    };
    let to = path("/admin/tenants", id, visit.part(2));
    if !visit.is_confirmed()
        && let Some(confirm) = confirm(visit, id)
    {
        return super::asked(visit, (Method::POST, &to, Some(&body)), confirm, of(visit, id)).await;
    }
    let outcome = match visit.part(2) {
        "settings" if body == json!({}) => Ok(body),
        "settings" => visit.inside.change(Method::PATCH, &to, Some(&body)).await,
        _ => visit.post(&to, &body).await,
    };
    shown(visit, id, outcome).await
}

/// Of what moves money or cuts off; the other acts are done at once.
fn confirm(visit: &Here<'_>, id: &str) -> Option<Confirm> {
    let form = &visit.form;
    let tenant = view::Fact::new("tenantId", words(visit.language, "tenantId"), visit.tenant(id));
    let fact = |name: &'static str| {
        let text = words(visit.language, form.text(name)).to_owned();
        view::Fact::new(name, words(visit.language, name), Cell::text(text))
    };
    let (title, label, consequence, facts) = match (visit.part(2), form.text("status")) {
        ("adjustments", _) => {
            let decimals = if form.text("currency") == "COP" { 0 } else { 2 };
            let amount = visit.language.figure(&visit.language.typed(form.text("amount"), decimals));
            let amount = format!("{amount} {}", form.text("currency"));
            let consequence = visit.say(
                "El saldo del comercio cambia por este monto, con una línea en sus movimientos. Se deshace solo con \
                 otra corrección.",
                "The tenant's balance changes by this amount, with a line in its movements. Only another correction \
                 undoes it.",
            );
            let amount_fact =
                view::Fact::new("amount", words(visit.language, "amount"), Cell::text(amount.clone()));
            let said = |name: &'static str, label: &str| view::Fact { label: label.to_owned(), ..fact(name) };
            let reason = said("description", visit.say("Motivo", "Reason"));
            let reference = said("externalRef", visit.say("Referencia", "Reference"));
            let facts = vec![tenant, fact("mode"), amount_fact, reason, reference];
            let title = visit.say("Corregir un saldo", "Correct a balance");
            (title, format!("{} {amount}", visit.say("Ajustar", "Adjust")), consequence, facts)
        }
        ("live-status", status) => {
            let consequence = match status {
                "active" => visit.say(
                    "Desde ese instante el comercio cobra y paga dinero real.",
                    "From that instant the tenant collects and pays real money.",
                ),
                _ => visit.say(
                    "Desde ese instante se rechaza cada llamada real del comercio: no cobra ni paga. Lo que ya está \
                     en un banco sigue su curso.",
                    "From that instant each live call of the tenant is refused: it neither collects nor pays. What \
                     is at a bank already goes on.",
                ),
            };
            let title = visit.say("Cambiar el modo real", "Change live mode");
            let label = visit.say("Cambiar a", "Change to");
            let label = format!("{label} «{}»", words(visit.language, status));
            (title, label, consequence, vec![tenant, fact("status"), fact("note")])
        }
        _ => return None,
    };
    Some(Confirm {
        page: ("tenant", title.to_owned()),
        facts,
        consequence: consequence.to_owned(),
        figures: Vec::new(),
        label,
        back: path("/console/tenants", id, ""),
    })
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
