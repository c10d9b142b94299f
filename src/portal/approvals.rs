//! Calls of keys with a mandate that wait for an approval: with forms for whoever has a key that decides.

use super::{Here, Made, may};
use crate::language::Language;
use crate::pages::inside::{segment, with_query};
use crate::pages::lists::money;
use crate::pages::show::{self, items, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{Block, Cell, Fact, Form, Link, Page, Row, Table, Tone};
use crate::store::history;
use api::problem::Problem;
use domain::entities::Entity;
use domain::platform::Scope;
use domain::values::ids::{EntityId, Id};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use serde_json::{Value, json};

const HERE: &str = "/portal/approvals";
const API: &str = "/v1/approvals";
/// What of a call's body says who is paid.
const PAYEES: [&str; 4] = ["merchantId", "telefono", "cuenta", "address"];
/// Who the payee is, beside the phone, account or address.
const PAID: [&str; 4] = ["banco", "cedula", "nombre", "network"];
/// Lines of a batch that a page shows; all of them are on the pages of its own.
const LINES_MAX: usize = 100;
/// Calls on a page, those that wait and all of them.
const LIMIT: &str = "25";

pub async fn page(visit: &Here<'_>) -> Made {
    let page = Page::new("approvals", visit.say("Aprobaciones", "Approvals")).maybe(visit.done());
    if !may(visit, Scope::Keys) {
        return Ok(page.text(visit.say(
            "Aquí decide quien entra con una llave que tiene el permiso Llaves (keys).",
            "Whoever logs in with a key that has the scope keys decides here.",
        )));
    }
    let asked = [("status", "awaiting_approval"), ("limit", LIMIT), ("cursor", visit.query.text("waiting"))];
    let waiting = visit.inside.get(&with_query(API, &asked)).await?;
    let more = waiting["nextCursor"].as_str().map(|cursor| with_query(HERE, &[("waiting", cursor)]));
    let (all, next) = visit.list(API, HERE, &[], LIMIT).await?;
    let mut page = page;
    if items(&waiting).is_empty() && more.is_none() {
        page = page.text(visit.say("Nada espera una aprobación.", "Nothing waits for an approval."));
    }
    for item in items(&waiting) {
        // The list leaves long bodies out, and nobody approves what is not shown.
        let whole = match item["body"].is_null() {
            true => Some(visit.inside.get(&format!("{API}/{}", segment(str_of(item, "approvalId")))).await?),
            false => None,
        };
        page.blocks.extend(call(visit, whole.as_ref().unwrap_or(item), None));
    }
    let label = visit.say("Ver más que esperan", "See more that wait");
    page = page.maybe(more.map(|more| vec![Link::new(label, more)]));
    let table = visit.table(
        ["Aprobaciones, primero las más recientes", "Approvals, newest first"],
        "Pedida, Agente, Monto, Referencia, Estado, Decidida",
        "Requested, Agent, Amount, Reference, State, Decided",
    );
    let row = |item: &Value| {
        Row::new([
            show::cell(visit.language, "createdAt", &item["createdAt"]),
            Cell::text(agent(item)),
            Cell::figure(amount(visit, item)),
            Cell::code(str_of(&item["body"], "externalRef")).with_sub(what(visit, str_of(item, "path"))),
            of_her(visit, show::cell(visit.language, "status", &item["status"])),
            show::cell(visit.language, "decidedAt", &item["decidedAt"]),
        ])
        .link(0, own_page(item))
        .status(str_of(item, "status"))
    };
    let table = table.rows(items(&all).iter().map(row)).next(next);
    Ok(page.heading(visit.say("Todas", "All")).with(table))
}

/// GET /portal/approvals/:id: a call by itself, with its lines from `from` on.
pub async fn one(visit: &Here<'_>) -> Made {
    let item = visit.inside.get(&format!("{API}/{}", segment(visit.id()))).await?;
    let page = Page::new("approvals", visit.say("Aprobación", "Approval"));
    let status = of_her(visit, show::cell(visit.language, "status", &item["status"]));
    let page = page.with(vec![Fact::new("status", visit.say("Estado", "State"), status)]);
    let mut page = page.maybe(visit.done());
    let from = visit.query.filled("from").and_then(|from| from.parse().ok()).unwrap_or(0);
    page.blocks.extend(call(visit, &item, Some(from)));
    Ok(page)
}

/// On its own page from a line on; in the list its first lines.
fn call(visit: &Here<'_>, item: &Value, from: Option<usize>) -> Vec<Block> {
    let (id, body) = (str_of(item, "approvalId"), &item["body"]);
    let say = |spanish, english| visit.say(spanish, english);
    let heading = in_parts(visit, item).map_or_else(|| amount(visit, item), |[paid, _]| paid);
    let mut facts = vec![
        Fact::new("agent", say("Agente", "Agent"), Cell::text(agent(item))),
        Fact::new("payee", say("A quién", "Payee"), payee(visit, body).with_sub(leads_to(item, 0))),
    ];
    facts.extend(visit.facts(body, &PAID));
    if let Some([paid, fee]) = in_parts(visit, item) {
        facts.push(Fact::new("monto", say("Monto", "Amount"), Cell::text(paid)));
        facts.push(Fact::new("feeVes", say("Comisión", "Fee"), Cell::text(fee)));
    }
    facts.push(Fact::new("amount", leaves(visit, item), Cell::text(amount(visit, item))));
    facts.extend(show::facts(visit.language, body, &["externalRef", "concepto"]));
    facts.push(Fact::new("path", say("Llamada", "Call"), {
        Cell::text(what(visit, str_of(item, "path"))).with_sub(str_of(item, "path"))
    }));
    facts.extend(show::facts(visit.language, item, &["createdAt", "expiresAt"]));
    let form = |act: &'static str, label: &str| {
        Form::new(format!("{HERE}/{}/{act}", segment(id)), act, label).id(format!("{act}-{id}")).inline()
    };
    let mut blocks = vec![Block::Heading(heading), Block::Facts(facts)];
    if let Some(lines) = body["items"].as_array() {
        let (count, table) = (lines.len(), lines_of(visit, item, lines, from.unwrap_or(0)));
        if from.is_some() && count > LINES_MAX {
            blocks.push(Block::Text(place(visit, from.unwrap_or(0), table.rows.len(), count)));
        }
        blocks.push(table.next(from.and_then(|from| further(item, from, count))).into());
        if from.is_none() && count > LINES_MAX {
            let label = format!("{} {count} {}", say("Ver los", "See all"), say("renglones", "lines"));
            blocks.push(vec![Link::new(label, own_page(item))].into());
        }
    }
    if str_of(item, "status") == "awaiting_approval" && may(visit, Scope::Keys) {
        blocks.push(Block::Form(form("approve", say("Aprobar", "Approve"))));
        blocks.push(Block::Form(form("reject", say("Rechazar", "Reject")).tone(Tone::Bad)));
    }
    blocks
}

fn own_page(item: &Value) -> String {
    format!("{HERE}/{}", segment(str_of(item, "approvalId")))
}

/// Which lines of how many a page shows.
fn place(visit: &Here<'_>, from: usize, shown: usize, count: usize) -> String {
    let from = from.min(count);
    let [first, last, count] = [from + 1, from + shown, count].map(|n| visit.language.figure(&n.to_string()));
    match visit.language {
        Language::Spanish => format!("Renglones {first} a {last} de {count}"),
        Language::English => format!("Lines {first} to {last} of {count}"),
    }
}

fn further(item: &Value, from: usize, count: usize) -> Option<String> {
    let next = from.saturating_add(LINES_MAX);
    (next < count).then(|| with_query(&own_page(item), &[("from", &next.to_string())]))
}

/// Whom each line of a batch would pay, and how much.
fn lines_of(visit: &Here<'_>, item: &Value, lines: &[Value], from: usize) -> Table {
    let table = visit.table(
        ["Renglones del lote", "Lines of the batch"],
        "Vendedor, Referencia, Monto, Concepto",
        "Seller, Reference, Amount, Description",
    );
    let row = |(at, line): (usize, &Value)| {
        Row::new([
            payee(visit, line).with_sub(leads_to(item, at)),
            Cell::code(str_of(line, "externalRef")),
            Cell::figure(visit.language.figure(&show::text(&line["monto"]))),
            Cell::text(str_of(line, "concepto")),
        ])
    };
    let rows = lines.iter().enumerate().skip(from).take(LINES_MAX).map(row);
    let next_label = visit.say("Los siguientes", "The next ones").to_owned();
    Table { next_label, ..table.rows(rows).field("items") }
}

/// An approval, in Spanish, is a she.
fn of_her(visit: &Here<'_>, cell: Cell) -> Cell {
    Cell { text: show::agreeing(visit.language, show::Gender::Feminine, cell.text.clone()), ..cell }
}

/// What a call does, in words.
fn what<'p>(visit: &Here<'_>, path: &'p str) -> &'p str {
    let (spanish, english) = match path.strip_prefix("/v1/").unwrap_or(path) {
        "payouts" => ("Pagar a un vendedor", "Pay a seller"),
        "payouts/batch" => ("Pagar un lote", "Pay a batch"),
        "payouts/instant" => ("Pagar a la cuenta propia", "Pay to the own account"),
        "payments/credit" => ("Pagar a un teléfono o una cuenta", "Pay to a phone or an account"),
        "crypto/payouts" => ("Pagar en USDT", "Pay in USDT"),
        "conversions" => ("Convertir", "Convert"),
        path if path.ends_with("/reverse") => ("Reversar un cobro", "Reverse a payment"),
        path if path.ends_with("/refund") => ("Reintegrar un cobro", "Refund a payment"),
        _ => return path,
    };
    visit.say(spanish, english)
}

/// Whose money goes: what a payment given back takes from the seller and what from the account is not said here.
fn leaves<'p>(visit: &Here<'_>, item: &Value) -> &'p str {
    let path = str_of(item, "path");
    if path.ends_with("/reverse") || path.ends_with("/refund") {
        visit.say("Sale en total", "Leaves in all")
    } else if item["body"]["fromMerchantBalance"] == true {
        visit.say("Sale del saldo del vendedor", "Leaves the seller's balance")
    } else {
        visit.say("Sale de tu saldo", "Leaves your balance")
    }
}

fn agent(item: &Value) -> String {
    [str_of(item, "agent"), str_of(item, "keyId")]
        .into_iter()
        .find(|text| !text.is_empty())
        .unwrap_or("")
        .into()
}

fn amount(visit: &Here<'_>, item: &Value) -> String {
    let amounts = item["amount"].as_object().into_iter().flatten();
    let written = amounts
        .map(|(currency, amount)| format!("{} {currency}", visit.language.figure(&show::text(amount))));
    written.collect::<Vec<_>>().join(" · ")
}

/// What the payee gets of a call in bolívares, and its fee.
fn in_parts(visit: &Here<'_>, item: &Value) -> Option<[String; 2]> {
    let body = &item["body"];
    let minor =
        |of: &Value| show::text(of).parse::<Decimal>().ok()?.checked_mul(Decimal::ONE_HUNDRED)?.to_i64();
    let paid = match body["items"].as_array() {
        Some(lines) => lines.iter().map(|line| minor(&line["monto"])).sum::<Option<i64>>()?,
        None => minor(&body["monto"])?,
    };
    let fee = minor(&item["amount"]["VES"])?.checked_sub(paid)?;
    Some([paid, fee].map(|minor| money(visit.language, minor, "VES")))
}

/// Who would be paid: a seller by name, of a batch how many.
fn payee(visit: &Here<'_>, body: &Value) -> Cell {
    if let Some(items) = body["items"].as_array() {
        return Cell::text(format!("{} {}", items.len(), visit.say("renglones", "lines")));
    }
    let named = PAYEES.into_iter().find(|name| body[*name].is_string());
    let Some(named) = named else { return Cell::text("—") };
    let text = str_of(body, named);
    match seller(visit, text).filter(|_| named == "merchantId") {
        Some(name) => Cell::text(name).copying(text),
        None => Cell::text(text),
    }
}

/// Where the account's own data lead a payout: the bank and the end of the phone or account.
fn leads_to(item: &Value, at: usize) -> &str {
    item["destinations"][at].as_str().unwrap_or_default()
}

/// The name of a seller, for whoever may read it. From the log, as a page has one for each line of its batches.
fn seller(visit: &Here<'_>, id: &str) -> Option<String> {
    let id = Id::parse(id).filter(|_| may(visit, Scope::Read))?;
    let (reader, tenant) = (visit.services.engine.reader(), visit.who.tenant_key);
    match history::entity(reader, tenant, EntityId::merchant(id)).ok().flatten().as_deref() {
        Some(Entity::Merchant(merchant)) => Some(merchant.name.to_string()),
        _ => None,
    }
}

/// POST /portal/approvals/:id/approve and …/reject.
pub async fn decide(visit: &Here<'_>) -> Result<Shown, Problem> {
    let act = visit.part(2);
    let outcome = visit.post(&format!("{API}/{}/{act}", segment(visit.id())), &json!({})).await;
    let done = if act == "approve" { "approved" } else { "rejected" };
    visit.acted(outcome, |_| Shown::See(format!("{HERE}?done={done}")), page(visit)).await
}
