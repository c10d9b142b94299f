//! The server as operators watch it: rails, health, the audit, and the platform's statements.

use super::{Here, Made, after, may, parts};
use crate::language::Language;
use crate::pages::inside::{segment, with_query};
use crate::pages::show::{self, items, str_of};
use crate::pages::site::Shown;
use crate::pages::statement::{self, Whose};
use crate::pages::view::{Block, Cell, Fact, Form, Input, Note, Page, Row, Table, Tone};
use crate::pages::words::words;
use api::problem::Problem;
use domain::platform::operators::Role;
use domain::values::ids::{Id, Mode, tenant_key};
use domain::values::time::MINUTE_MS;
use serde_json::{Value, json};

pub async fn rails(visit: &Here<'_>) -> Made {
    let status = visit.inside.get("/admin/status").await?;
    let rails = &status["rails"];
    const LIVE: [&str; 9] =
        ["name", "serves", "circuit", "calls", "errors", "p50Ms", "p99Ms", "lastOkAt", "unresolved"];
    let row = |item: &Value| {
        let circuit = str_of(item, "circuit");
        let words = if circuit == "open" {
            visit.say("Abierto: no se le envía nada", "Open: nothing is sent")
        } else {
            visit.say("Cerrado: funciona", "Closed: it works")
        };
        let mut row = show::row(visit.language, item, &LIVE).status(circuit);
        row.cells[2] = Cell::state(circuit, words);
        row
    };
    let table = visit.table(
        ["Bancos y redes", "Rails"],
        "Banco o red, Sirve, Circuito, Llamadas, Errores, p50 ms, p99 ms, Última respuesta buena, Sin respuesta",
        "Rail, Serves, Circuit, Calls, Errors, p50 ms, p99 ms, Last good answer, Unresolved",
    );
    let none = visit.say(
        "No hay bancos ni redes reales configurados; en prueba responde el simulador.",
        "No live rails are configured; in test mode the simulator answers.",
    );
    let live = rails["live"].as_array().map_or(&[][..], Vec::as_slice);
    let table = Table { none: none.to_owned(), ..table.rows(live.iter().map(row)) };
    let mut blocks = vec![Block::Table(table)];
    for network in rails["networks"].as_array().into_iter().flatten() {
        blocks.push(Block::Heading(str_of(network, "network").to_owned()));
        blocks.push(Block::Facts(every_member(visit.language, "", network)));
    }
    let page = Page::new("rails", visit.say("Bancos y redes", "Rails"));
    Ok(page.live(&blocks, &visit.writing())?)
}

fn every_member(language: Language, prefix: &str, of: &Value) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (name, value) in of.as_object().into_iter().flatten() {
        let dotted = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Object(_) => facts.extend(every_member(language, &dotted, value)),
            Value::Array(items) if items.iter().any(Value::is_object) => {
                for (n, item) in (1..).zip(items) {
                    facts.extend(every_member(language, &format!("{dotted}.{n}"), item));
                }
            }
            value => {
                let mut cell = show::cell(language, name, value);
                cell.is_figure = false;
                let label = label_of(language, &dotted);
                facts.push(Fact::new(dotted, label, cell));
            }
        }
    }
    facts
}

/// Of a member of a member that has no words of its own, those of the outer one and its name: `Máximo por día VES`.
fn label_of(language: Language, dotted: &str) -> String {
    // An account's settings have their words without it.
    let dotted = dotted.strip_prefix("settings.").unwrap_or(dotted);
    let known = words(language, dotted);
    match dotted.rsplit_once('.') {
        Some((outer, inner)) if known == dotted && words(language, outer) != outer => {
            format!("{} {}", words(language, outer), words(language, inner))
        }
        _ => known.to_owned(),
    }
}

pub async fn health(visit: &Here<'_>) -> Made {
    let mut status = visit.inside.get("/admin/status").await?;
    let copies =
        visit.inside.get(&with_query("/admin/audit", &[("action", "backup"), ("limit", "1")])).await?;
    if let Some(members) = status.as_object_mut() {
        members.remove("rates");
        members.remove("rails");
        for bytes in members.get_mut("disk").and_then(Value::as_object_mut).into_iter().flatten() {
            *bytes.1 = format!("{} MiB", bytes.1.as_u64().unwrap_or_default() >> 20).into();
        }
        let copy = items(&copies).first().cloned().unwrap_or_default();
        let age = show::instant_ms(str_of(&copy, "at")).map(|at| age(visit, at));
        let copy = json!({ "age": age, "at": copy["at"], "path": copy["after"]["path"], "walSeq": copy["after"]["walSeq"] });
        members.insert("backup".to_owned(), copy);
    }
    let halted = status["haltedBooks"].as_array().cloned().unwrap_or_default();
    // Each has a note of its own.
    status["haltedBooks"] = halted.len().into();
    let heading = visit.say("Libro detenido", "Halted book");
    let note = |book| Block::Note(Note::new(Tone::Bad, format!("{heading}: {}", show::text(book))));
    let mut blocks: Vec<Block> = halted.iter().map(note).collect();
    blocks.push(Block::Facts(every_member(visit.language, "", &status)));
    if let Some(cluster) = visit.inside.find("/admin/cluster").await? {
        blocks.push(Block::Heading(visit.say("El clúster", "The cluster").to_owned()));
        blocks.push(Block::Facts(every_member(visit.language, "cluster", &cluster)));
    }
    let state = if halted.is_empty() { "ok" } else { "error" };
    let page = Page::new("health", visit.say("Salud", "Health"))
        .at("/console/health")
        .status(state)
        .maybe(visit.done());
    let page = page.live(&blocks, &visit.writing())?;
    Ok(if may(visit, Role::Admin) { page.with(new_backup(visit)) } else { page })
}

fn age(visit: &Here<'_>, at_ms: i64) -> String {
    let minutes = (visit.services.now().unix_ms() - at_ms).max(0) / MINUTE_MS;
    let (count, unit) = match minutes {
        0..120 => (minutes, "min"),
        120..2_880 => (minutes / 60, "h"),
        _ => (minutes / 1_440, visit.say("días", "days")),
    };
    format!("{count} {unit}")
}

fn new_backup(visit: &Here<'_>) -> Form {
    let say = |spanish, english| visit.say(spanish, english);
    let to = "/console/health/backup";
    Form::new(to, "backup", say("Copiar ahora", "Back up now"))
        .title(say("Hacer una copia", "Make a backup"))
        .about(say(
            "Copia todo a una carpeta nueva del servidor, sin detenerlo. Para ensayar que se puede restaurar: \
             «pasarela restore --drill».",
            "Copies everything to a new directory of the server, without stopping it. To practise that it can be \
             restored: \"pasarela restore --drill\".",
        ))
        .input(Input::new("path", say("Carpeta nueva", "New directory")).value(visit.typed(to, "path")).hint("/var/backups/pasarela/2026-11-21"))
}

/// POST /console/health/backup.
pub async fn back_up(visit: &Here<'_>) -> Result<Shown, Problem> {
    let outcome = visit.post("/admin/backup", &visit.form.members(&["path"])).await;
    visit.acted(outcome, |answer| after("/console/health", answer), health(visit)).await
}

pub async fn audit(visit: &Here<'_>) -> Made {
    const FILTERS: [&str; 5] = ["operatorId", "action", "tenantId", "from", "to"];
    let (found, next) = visit.list("/admin/audit", "/console/audit", &FILTERS, "50").await?;
    let labels = [
        ("operatorId", visit.say("Operador", "Operator")),
        ("action", visit.say("Acción", "Action")),
        ("tenantId", visit.say("Comercio", "Tenant")),
    ];
    let filter = |(name, label): (&'static str, &str)| {
        let input = visit.sought(name, label);
        if name == "tenantId" { input.options(visit.tenants()) } else { input }
    };
    let form = visit.filter("/console/audit", labels.map(filter));
    let approved = parts::second_persons(visit, items(&found)).await?;
    let row = |item: &Value| {
        let change = |name: &str| {
            // What an object is called says nothing that the act does not say.
            let facts = every_member(visit.language, "", &item[name]).into_iter();
            let facts = facts.filter(|fact| fact.field != "object" && fact.cell.text != "—");
            let label = |fact: &Fact| match &*fact.field {
                "externalRef" => visit.label("externalRef").to_owned(),
                _ => fact.label.clone(),
            };
            let said = facts.map(|fact| format!("{}: {}", label(&fact), fact.cell.text));
            let said = said.collect::<Vec<_>>().join(" · ");
            Cell::text(if said.is_empty() { "—".to_owned() } else { said })
        };
        let with: Vec<&str> = ["agent", "keyId", "peer"]
            .map(|name| str_of(item, name))
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect();
        // The entry of a call that waited for a second person is of whoever asked for it.
        let second = approved.get(str_of(item, "approvalId"));
        let who = match second.filter(|_| !str_of(item, "action").starts_with("approval.")) {
            Some(second) => {
                let (asked, approved) = (visit.say("pidió", "asked by"), visit.say("aprobó", "approved by"));
                Cell::text(format!("{asked} {}, {approved} {second}", str_of(&item["operator"], "name")))
            }
            None => Cell::text(str_of(&item["operator"], "name")),
        };
        let who = who.with_sub(with.join(" · "));
        let target = Cell::code(str_of(item, "target")).with_sub(str_of(item, "approvalId"));
        Row::new([
            show::cell(visit.language, "at", &item["at"]),
            who,
            Cell::text(words(visit.language, str_of(item, "action"))).with_sub(str_of(item, "action")),
            target,
            change("before"),
            change("after"),
        ])
    };
    let table = visit.table(
        ["Auditoría, primero lo más reciente", "Audit, newest first"],
        "Cuándo, Quién, Qué, Objeto, Antes, Después",
        "When, Who, What, Object, Before, After",
    );
    let table = table.rows(items(&found).iter().map(row)).next(next);
    Ok(Page::new("audit", visit.say("Auditoría", "Audit")).with(form).with(table))
}

pub async fn statements(visit: &Here<'_>) -> Result<Shown, Problem> {
    let (services, id) = (visit.services, &*visit.tenant_id(visit.query.text("tenantId")));
    let tenant = Id::parse(id).and_then(|id| services.callers.directory.tenant(id));
    let now = match (tenant, visit.query.text("mode")) {
        (Some(tenant), "test") => statement::present(services, tenant_key(tenant.number, Mode::Test)).await,
        _ => services.now(),
    };
    let api = match id {
        "" => "/admin/statements".to_owned(),
        id => format!("/admin/tenants/{}/statements", segment(id)),
    };
    let modes = [("live", visit.say("Real", "Live")), ("test", visit.say("Prueba", "Test"))];
    let tenant = visit.say("Comercio (vacío: la plataforma)", "Tenant (empty: the platform)");
    let more = |form: Form| {
        form.input(Input::choice("mode", visit.say("Modo", "Mode"), modes, visit.query.text("mode")))
            .input(visit.sought("tenantId", tenant).options(visit.tenants()))
    };
    let (here, title) = ("/console/statements", ["Estados de cuenta", "Statements"]);
    statement::answer(visit, Whose { now, api, here, title, kept: ("tenantId", id) }, more).await
}
