//! Reconciliation with the bank: the upload of its statement, how far it is, and what did not fit.

use super::{Here, Made, after, may, path};
use crate::language::Language;
use crate::pages::confirm::Confirm;
use crate::pages::inside::{segment, with_query};
use crate::pages::show::{self, Gender, items, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{self, Block, Cell, Fact, Input, Kind, Link, Note, Page, Row, Table, Tone};
use crate::pages::words::words;
use api::problem::Problem;
use domain::platform::operators::Role;
use serde_json::{Value, json};

const RESULTS: [&str; 6] = ["proposal", "missingHere", "missingThere", "amountDiffers", "bad", "matched"];
const WHOSE: [&str; 4] = ["rail", "account", "from", "to"];
const COUNTS: [&str; 8] =
    ["status", "lines", "matched", "missingHere", "missingThere", "amountDiffers", "proposals", "bad"];
#[rustfmt::skip]
const SHOWN: [&str; 11] = [
    "createdAt", "rail", "from", "to", "status", "lines", "matched", "missingHere", "missingThere", "amountDiffers",
    "proposals",
];
const RAILS: [&str; 2] = ["r4", "wompi"];
const REFUSED_SHOWN: usize = 50;
const FIELDS: [&str; 4] = ["rail", "account", "from", "to"];

pub async fn page(visit: &Here<'_>) -> Made {
    let say = |spanish, english| visit.say(spanish, english);
    let typed = |name: &str| visit.form.text(name);
    let mut page =
        Page::new("reconciliations", say("Conciliación con el banco", "Reconciliation with the bank"))
            .maybe(visit.done());
    if may(visit, Role::Treasury) {
        let rails = RAILS.map(|rail| (rail, words(visit.language, rail)));
        let account = say("Cuenta (20 dígitos)", "Account (20 digits)");
        let form = view::Form::new("/console/reconciliations", "upload", say("Conciliar", "Reconcile"))
            .title(say("Subir el extracto del banco", "Upload the bank's statement"))
            .about(say(
                "CSV con date, reference, amount, kind (credit o debit) y, si los hay, phone y bank.",
                "CSV with date, reference, amount, kind (credit or debit) and, where known, phone and bank.",
            ))
            .input(Input::choice("rail", say("Banco o red", "Rail"), rails, typed("rail")))
            .input(Input::new("account", account).value(typed("account")))
            .input(Input::new("from", say("Desde", "From")).kind(Kind::Date).value(typed("from")))
            .input(Input::new("to", say("Hasta", "To")).kind(Kind::Date).value(typed("to")))
            .input(Input::new("file", say("Archivo", "File")).kind(Kind::File));
        page = page.with(form);
    }
    let here = "/console/reconciliations";
    let (known, next) = visit.list("/admin/reconciliations", here, &[], "25").await?;
    let row = |item: &Value| {
        let row = show::agreed(visit.language, Gender::Feminine, show::row(visit.language, item, &SHOWN));
        row.link(0, path(here, str_of(item, "id"), ""))
    };
    let caption = say("Conciliaciones, primero las más recientes", "Reconciliations, newest first");
    let table = show::table(visit.language, caption, &SHOWN);
    Ok(page.with(table.rows(items(&known).iter().map(row)).next(next)))
}

pub async fn upload(visit: &Here<'_>) -> Result<Shown, Problem> {
    let parameters = FIELDS.map(|name| (name, visit.form.text(name)));
    let asked = with_query("/admin/reconciliations", &parameters);
    let body = visit.file.clone().unwrap_or_default();
    let outcome = visit.inside.upload(&asked, "text/csv", body, visit.form.text("once")).await;
    let to = |answer: &Value| Shown::See(path("/console/reconciliations", str_of(answer, "id"), ""));
    visit.acted(outcome, to, page(visit)).await
}

pub async fn one(visit: &Here<'_>) -> Made {
    let (language, id) = (visit.language, visit.id());
    let found = visit.inside.get(&path("/admin/reconciliations", id, "")).await?;
    let status = str_of(&found, "status");
    let result = visit.query.filled("result").unwrap_or(RESULTS[0]);
    let here = format!("/console/reconciliations/{}", segment(id));
    let list = with_query(
        &path("/admin/reconciliations", id, "items"),
        &[("result", result), ("limit", "50"), ("cursor", visit.query.text("cursor"))],
    );
    let lines = visit.inside.find(&list).await?.unwrap_or_default();
    let facts = show::facts(language, &found, &[&WHOSE[..], &COUNTS].concat());
    let mut facts = show::agreed_facts(language, Gender::Feminine, facts);
    for fact in facts.iter_mut().filter(|fact| matches!(&*fact.field, "from" | "to")) {
        fact.cell.text = show::day(&fact.cell.text);
    }
    for fact in facts.iter_mut().filter(|fact| fact.field == "account") {
        fact.label = visit.say("Cuenta", "Account").to_owned();
    }
    let percent = Cell::text(format!("{} %", show::text(&found["progress"])));
    facts.push(Fact::new("progress", words(language, "progress"), percent));
    let why = found["message"].as_str().map(|why| failure(visit, why).into());
    let blocks: Vec<Block> = why.into_iter().chain([Block::Facts(facts)]).collect();
    let mut page = Page::new("reconciliations", visit.say("Conciliación", "Reconciliation"))
        .at(&*here)
        .status(status)
        .maybe(visit.done())
        .live(&blocks, &visit.writing())?;
    let links = RESULTS.map(|name| Link {
        is_current: name == result,
        ..Link::new(words(language, name), with_query(&here, &[("result", name)]))
    });
    let next = lines["nextCursor"]
        .as_str()
        .map(|cursor| with_query(&here, &[("result", result), ("cursor", cursor)]));
    page = page.with(Block::Links(links.into())).with(table(visit, &here, &lines).next(next));
    if may(visit, Role::Treasury) && result == "proposal" && !items(&lines).is_empty() {
        let label = visit.say("Aceptar todas las propuestas", "Accept all proposals");
        let form = view::Form::new(format!("{here}/accept"), "accept", label).about(visit.say(
            "Resuelve las operaciones que el banco nunca respondió.",
            "Resolves the operations that the bank never answered.",
        ));
        page = page.with(form);
    }
    Ok(page)
}

/// The reason is for whoever reads the server's log.
fn failure(visit: &Here<'_>, why: &str) -> Note {
    match visit.language {
        Language::English => Note::new(Tone::Bad, why),
        Language::Spanish => {
            Note::new(Tone::Bad, "La conciliación falló; el registro del servidor dice por qué. Repítela.")
        }
    }
}

fn message(visit: &Here<'_>, item: &Value) -> String {
    let said = item["message"].as_str();
    said.map(|said| show::fault(visit.language, said)).unwrap_or_default()
}

fn table(visit: &Here<'_>, here: &str, lines: &Value) -> Table {
    let row = |item: &Value| {
        let (line, ours) = (&item["line"], &item["ours"]);
        let id = str_of(ours, "id");
        let own = match str_of(ours, "kind") {
            "payment" => super::money::cell_to("payments", id),
            "payout" => super::money::cell_to("payouts", id),
            _ => Cell::code(id),
        };
        // What the bank does not have is known by what we know of it.
        let place = if ours.is_null() {
            Cell::text("—")
        } else {
            visit.tenant(str_of(ours, "tenantId")).with_sub(show::instant(str_of(ours, "createdAt")))
        };
        let reference = str_of(ours, "reference");
        let figure =
            |of: &Value| Cell { is_figure: true, ..show::cell(visit.language, "amount", &of["amount"]) };
        let mut row = Row::new([
            show::cell(visit.language, "result", &item["result"]),
            Cell::figure(show::text(&line["number"])),
            Cell::whole(show::day(&show::text(&line["date"]))),
            Cell::code(show::text(&line["reference"])),
            figure(line),
            place,
            own.with_sub(reference),
            figure(ours),
            Cell::text(message(visit, item)),
        ])
        .status(str_of(item, "result"));
        if str_of(item, "result") == "proposal" && may(visit, Role::Treasury) {
            let accept = visit.say("Aceptar", "Accept");
            let form = view::Form::new(format!("{here}/accept"), "accept-one", accept).inline();
            let id = str_of(item, "id");
            row.forms.push(form.id(format!("accept-{id}")).hidden("item", id));
        }
        row
    };
    let table = visit.table(
        ["Renglones", "Lines"],
        "Resultado, Renglón, Día en el banco, Referencia del banco, Monto en el banco, Comercio, Nuestro, Monto nuestro, ",
        "Result, Line, Day at the bank, Bank's reference, Bank's amount, Tenant, Ours, Our amount, ",
    );
    table.rows(items(lines).iter().map(row))
}

/// POST /console/reconciliations/:id/accept: the items that the form names, or all.
pub async fn accept(visit: &Here<'_>) -> Result<Shown, Problem> {
    let named: Vec<&str> = visit.form.all("item").collect();
    let asked = if named.is_empty() { json!({ "all": true }) } else { json!({ "items": named }) };
    let to = path("/admin/reconciliations", visit.id(), "accept");
    if !visit.is_confirmed() {
        let found = match visit.inside.get(&path("/admin/reconciliations", visit.id(), "")).await {
            Ok(found) => found,
            Err(refused) => return visit.failed(one(visit).await, &refused),
        };
        let count = if named.is_empty() { show::text(&found["proposals"]) } else { named.len().to_string() };
        let consequence = visit.say(
            "Cada operación queda como dice el extracto: el dinero se mueve en el saldo de su comercio, y el comercio \
             recibe el evento. No se puede deshacer.",
            "Each operation becomes what the statement says: money moves in its tenant's balance, and the tenant gets \
             the event. It cannot be undone.",
        );
        let mut facts = show::facts(visit.language, &found, &["rail", "from", "to"]);
        facts.push(Fact::new("proposals", words(visit.language, "proposals"), Cell::text(count.clone())));
        let confirm = Confirm {
            page: ("reconciliations", visit.say("Aceptar propuestas", "Accept proposals").to_owned()),
            facts,
            consequence: consequence.to_owned(),
            figures: Vec::new(),
            label: format!("{} {count}", visit.say("Aceptar", "Accept")),
            back: path("/console/reconciliations", visit.id(), ""),
        };
        visit.who.must_be(Role::Treasury)?;
        return Ok(visit.confirmation(confirm));
    }
    let answer = match visit.post(&to, &asked).await {
        Ok(answer) => answer,
        Err(refused) => return visit.failed(one(visit).await, &refused),
    };
    let refused = answer["refused"].as_array().map_or(&[][..], Vec::as_slice);
    if refused.is_empty() {
        return Ok(after(&path("/console/reconciliations", visit.id(), ""), &answer));
    }
    match one(visit).await {
        Ok(page) => Ok(Shown::Page(page.failed(409, not_all(visit, &answer, refused)))),
        Err(refused) => visit.failed(Err(refused.clone()), &refused),
    }
}

fn not_all(visit: &Here<'_>, answer: &Value, refused: &[Value]) -> Note {
    let text = format!(
        "{} {} · {} {}",
        visit.say("Aceptadas:", "Accepted:"),
        show::text(&answer["accepted"]),
        visit.say("no aceptadas:", "not accepted:"),
        refused.len()
    );
    let line = |item: &Value| format!("{}: {}", str_of(item, "id"), str_of(item, "error"));
    Note { tone: Tone::Bad, text, more: refused.iter().take(REFUSED_SHOWN).map(line).collect() }
}
