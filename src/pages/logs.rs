//! Lists of what is no entity and is kept in the order of its time: events and requests. As `lists.rs` shows its own:
//! filters and days in the address, how many there are, and the file of exactly that.

use crate::gateway::services::Services;
use crate::http::respond::{CSV, Reply, Rest};
use crate::pages::inside::{Refused, with_query};
use crate::pages::lists::{self, FOUND, FOUND_MORE};
use crate::pages::show::{self, str_of};
use crate::pages::site::{Shown, Visit};
use crate::pages::view::{Form, Input, Kind, Link, Listed, Note, Page, Row, Table, Tone};
use crate::store::read_budget::{ReadBudget, Stopped};
use api::csv::{Column, ITEMS, RowsAt, Separator};
use api::problem::Problem;
use domain::values::time::{Timestamp, Zone};
use hyper::header::{CONTENT_DISPOSITION, HeaderValue};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const LIMIT: usize = 50;
/// That a page looks at, and that a file does.
const LOOKS: usize = 2_000;
const FILE_LOOKS: usize = 20_000;
/// Of the kinds that are counted, those that are said.
const KINDS: usize = 5;

pub struct Log {
    /// Of its page, and of its file.
    pub name: &'static str,
    pub title: [&'static str; 2],
    pub path: &'static str,
    pub lists: Vec<Link>,
    /// What else its address says: whose it is.
    pub kept: Vec<(&'static str, String)>,
    /// What is read, as filters; the days are added.
    pub filters: Vec<Input>,
    /// A filter that has a link for each of its choices.
    pub picked: Option<(&'static str, Vec<(&'static str, &'static str)>)>,
    pub columns: &'static [&'static str],
    /// The members that its file has.
    pub in_file: &'static [&'static str],
    /// The member whose values are counted.
    pub counted: &'static str,
    pub now: Timestamp,
}

#[derive(Clone, Debug, Default)]
pub struct Span {
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// Where the page before ended.
    pub before: Option<String>,
    pub most: usize,
    pub looks: usize,
}

/// The newest first, and where it goes on.
pub type Newest = (Vec<Value>, Option<String>);

impl Log {
    /// The names that the address may have beside the days.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.filters.iter().map(|input| &*input.name).chain(self.picked.iter().map(|(name, _)| *name))
    }

    fn here<W>(&self, visit: &Visit<'_, W>, changes: &[(&str, &str)]) -> String {
        let kept = self.names().chain(["from", "to"]);
        let kept = kept.filter(|name| !changes.iter().any(|(changed, _)| changed == name));
        let kept: Vec<_> = kept.map(|name| (name, visit.query.text(name))).collect();
        let whose: Vec<_> = self.kept.iter().map(|(name, value)| (*name, value.as_str())).collect();
        with_query(self.path, &[&whose[..], &kept[..], changes].concat())
    }

    fn is_filtered<W>(&self, visit: &Visit<'_, W>) -> bool {
        self.names().chain(["from", "to"]).any(|name| visit.query.filled(name).is_some())
    }

    fn view<W>(&mut self, visit: &Visit<'_, W>, bad: &[&str]) -> Listed {
        let say = |spanish, english| visit.say(spanish, english);
        let is_narrowed = self
            .filters
            .iter()
            .map(|input| &*input.name)
            .chain(["from", "to"])
            .any(|name| visit.query.filled(name).is_some());
        let all: Vec<_> = self.kept.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let clear = self.is_filtered(visit).then(|| with_query(self.path, &all));
        let days = lists::days(visit, self.now.date_in(Zone::Caracas), &|changes| self.here(visit, changes));
        let of = |(name, choices): &(&'static str, Vec<(&'static str, &'static str)>)| {
            let link = |(value, label): &(&'static str, &'static str)| Link {
                is_current: visit.query.text(name) == *value,
                ..Link::new(*label, self.here(visit, &[(name, value)]))
            };
            choices.iter().map(link).collect()
        };
        let states = self.picked.as_ref().map(of).unwrap_or_default();
        let day = |name: &'static str, label| {
            let input = Input::new(name, label).kind(Kind::Date).value(visit.query.text(name)).needed("");
            let error = if bad.contains(&name) { say("No es un día", "It is no day") } else { "" };
            Input { error: error.to_owned(), ..input }
        };
        let mut form = Form::query(self.path, "filter", say("Filtrar", "Filter"));
        if let Some((name, _)) = self.picked.as_ref().filter(|(name, _)| visit.query.filled(name).is_some()) {
            form = form.hidden(*name, visit.query.text(name));
        }
        form = self.kept.iter().fold(form, |form, (name, value)| form.hidden(*name, value));
        form = std::mem::take(&mut self.filters).into_iter().fold(form, Form::input);
        Listed {
            lists: std::mem::take(&mut self.lists),
            states,
            days,
            form: form.input(day("from", say("Desde", "From"))).input(day("to", say("Hasta", "To"))),
            is_open: is_narrowed || !bad.is_empty(),
            clear,
            table: Table {
                none: say("No se buscó.", "Nothing was looked for.").to_owned(),
                ..Table::default()
            },
            ..Listed::default()
        }
    }
}

/// The page of a log, or its file. `read` reads it on a thread that may wait for the disk.
pub async fn answer<W>(
    visit: &Visit<'_, W>,
    (mut log, reader): (Log, u64),
    read: impl Fn(&Services, &ReadBudget, &Span) -> Result<Newest, Stopped> + Clone + Send + Sync + 'static,
    row: impl Fn(&Value) -> Row,
) -> Result<Shown, Problem> {
    let day = |name: &'static str, is_end| {
        visit.query.filled(name).map(|text| lists::instant(text, Zone::Caracas, is_end).ok_or(name))
    };
    let (from, to) = (day("from", false), day("to", true));
    let bad: Vec<&str> =
        [&from, &to].into_iter().filter_map(|day| day.as_ref()?.as_ref().err().copied()).collect();
    let [spanish, english] = log.title;
    let page = Page::new(log.name, visit.say(spanish, english));
    if !bad.is_empty() {
        let text = visit.say(
            "Escribe el día con año, mes y día, por ejemplo 2026-11-30.",
            "Write the day as year, month and day, such as 2026-11-30.",
        );
        let list = log.view(visit, &bad);
        return Ok(Shown::Page(page.with(list).failed(400, Note::new(Tone::Bad, text))));
    }
    let all = Span { from: from.and_then(Result::ok), to: to.and_then(Result::ok), ..Span::default() };
    let look = |span: Span| {
        let read = read.clone();
        let read = move |services: &Services, budget: &ReadBudget| read(services, budget, &span);
        visit.services.read_pool.read_long(visit.services, reader, read)
    };
    if visit.query.get("format") == Some("csv") {
        let (items, _) = look(Span { most: FILE_LOOKS, looks: FILE_LOOKS, ..all }).await?;
        return file(visit, &log, &items);
    }
    let before = visit.query.filled("before").map(str::to_owned);
    let (items, next) = match look(Span { before, most: LIMIT, looks: LOOKS, ..all.clone() }).await {
        Ok(found) => found,
        Err(problem) => return visit.shown(Err(Refused::from(problem))),
    };
    let is_filtered = log.is_filtered(visit);
    let next = next.map(|before| log.here(visit, &[("before", &before)]));
    let mut totals = None;
    let mut files = Vec::new();
    if !items.is_empty() {
        let is_more = visit.query.get("sums") == Some("more");
        let most = if is_more { FOUND_MORE } else { FOUND };
        if let Ok((items, rest)) = look(Span { most, looks: most, ..all }).await {
            let more = (!is_more).then(|| log.here(visit, &[("sums", "more")]));
            let mut said = vec![(lists::counted(visit.language, items.len(), rest.is_none()), None)];
            said.extend(kinds(visit, log.counted, &items).into_iter().map(|text| (text, None)));
            said.extend(rest.map(|_| (lists::among(visit.language, most), more)));
            totals = Some(said);
        }
        let file = |label, separator| {
            Link::new(label, log.here(visit, &[("format", "csv"), ("separator", separator)]))
        };
        files = vec![
            file(visit.say("Descargar CSV", "Download CSV"), ""),
            file(visit.say("CSV con punto y coma", "CSV with semicolons"), "semicolon"),
        ];
    }
    let mut table = show::table(visit.language, page.title.clone(), log.columns).rows(items.iter().map(row));
    let none = match (next.is_some(), is_filtered) {
        (true, _) => visit.say(
            "Entre los más recientes nada coincide con estos filtros.",
            "Nothing among the newest matches these filters.",
        ),
        (_, true) => visit.say("Nada coincide con estos filtros.", "Nothing matches these filters."),
        (_, false) => visit.say("Todavía no hay nada aquí.", "There is nothing here yet."),
    };
    table.none = none.to_owned();
    if items.is_empty() {
        table.next_label = visit.say("Buscar entre los anteriores", "Look among older ones").to_owned();
    }
    let list = Listed { totals, files, table: table.next(next), ..log.view(visit, &[]) };
    Ok(Shown::Page(page.with(list)))
}

/// How often each value of a member is there, the most frequent first.
fn kinds<W>(visit: &Visit<'_, W>, member: &str, items: &[Value]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for item in items {
        *counts.entry(show::text(&item[member])).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let said =
        |(kind, count): (String, usize)| format!("{kind}: {}", visit.language.figure(&count.to_string()));
    counts.into_iter().take(KINDS).map(said).collect()
}

fn file<W>(visit: &Visit<'_, W>, log: &Log, items: &[Value]) -> Result<Shown, Problem> {
    let separator =
        if visit.query.text("separator") == "semicolon" { Separator::Semicolon } else { Separator::Comma };
    let column =
        |name: &&str| Column { name: (*name).to_owned(), is_number: matches!(*name, "status" | "ms") };
    let columns = log.in_file.iter().map(column).collect();
    let table = api::csv::Table::new(columns, RowsAt::Member(ITEMS), false);
    let page = json!({ ITEMS: items }).to_string();
    let rows = table.rows(page.as_bytes(), separator).map_err(Problem::internal_error)?;
    let reply = Reply::pieces(CSV, table.header(separator) + rows.text.as_str(), Rest::nothing());
    let name = HeaderValue::from_str(&format!("attachment; filename=\"{}.csv\"", log.name));
    Ok(Shown::Raw(match name {
        Ok(name) => reply.header(CONTENT_DISPOSITION, name),
        Err(_) => reply,
    }))
}

/// A filter of one of these texts, or of any.
pub fn choice<W>(
    visit: &Visit<'_, W>,
    name: &'static str,
    label: [&'static str; 2],
    texts: &[&str],
) -> Input {
    let all = [("", visit.say("Todos", "All"))];
    let each = all.into_iter().chain(texts.iter().map(|text| (*text, *text)));
    Input::choice(name, visit.say(label[0], label[1]), each, visit.query.text(name)).needed("")
}

/// The requests of a tenant key.
pub mod requests {
    use super::*;
    use crate::pages::view::Cell;
    use crate::pages::words::words;
    use crate::requests;

    pub const COLUMNS: &[&str] = &["at", "method", "route", "status", "error", "ms", "keyId", "requestId"];
    const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

    pub fn log<W>(visit: &Visit<'_, W>, path: &'static str, now: Timestamp) -> Log {
        let say = |spanish, english| visit.say(spanish, english);
        let route = Input::new("route", say("Ruta", "Route")).value(visit.query.text("route")).needed("");
        Log {
            name: "requests",
            title: ["Solicitudes", "Requests"],
            path,
            lists: Vec::new(),
            kept: Vec::new(),
            filters: vec![
                choice(visit, "method", ["Método", "Method"], &METHODS),
                route.hint("/v1/payouts"),
                Input::new("error", words(visit.language, "error"))
                    .value(visit.query.text("error"))
                    .needed(""),
            ],
            picked: Some((
                "answered",
                vec![
                    ("", say("Todas", "All")),
                    ("done", say("Hechas", "Done")),
                    ("refused", say("Rechazadas", "Refused")),
                    ("failed", say("Con falla del servidor", "Failed on the server")),
                ],
            )),
            columns: COLUMNS,
            in_file: COLUMNS,
            counted: "status",
            now,
        }
    }

    pub fn read<W>(
        visit: &Visit<'_, W>,
        tenant: u64,
        now: Timestamp,
    ) -> impl Fn(&Services, &ReadBudget, &Span) -> Result<Newest, Stopped> + Clone + Send + Sync + 'static + use<W>
    {
        let asked = ["method", "route", "error", "answered"].map(|name| visit.query.text(name).to_owned());
        move |services, budget, span| {
            let span = requests::Span {
                from: span.from,
                to: span.to,
                before: span.before.as_deref().and_then(requests::Place::parse),
                most: span.most,
                looks: span.looks,
            };
            let [method, route, error, answered] = &asked;
            let wanted = |found: requests::Found| {
                let of: Value = serde_json::from_slice(&found.body).ok()?;
                let is = |name: &str, asked: &str| asked.is_empty() || str_of(&of, name) == asked;
                let fits = match (answered.as_str(), of["status"].as_u64().unwrap_or_default()) {
                    ("done", status) => status < 400,
                    ("refused", status) => (400..500).contains(&status),
                    ("failed", status) => status >= 500,
                    _ => true,
                };
                let has_route = str_of(&of, "route").contains(route.as_str());
                (fits && has_route && is("method", method) && is("error", error)).then_some(of)
            };
            let newest = services.files.requests.newest(tenant, span, (now, budget), wanted)?;
            Ok((newest.0, newest.1.map(|place| place.to_string())))
        }
    }

    /// With the name of its key, where that is known.
    pub fn row<W>(visit: &Visit<'_, W>, item: &Value, key: Option<String>, to: Option<String>) -> Row {
        let mut row = show::row(visit.language, item, COLUMNS);
        let status = item["status"].as_u64().unwrap_or_default();
        let state = if status < 400 { "ok" } else { "bad" };
        row.cells[2] = Cell::code(str_of(item, "route"));
        row.cells[3] = Cell::state(state, status.to_string());
        row.cells[4] = Cell::text(str_of(item, "error"));
        row.cells[6] = key.map_or_else(|| Cell::id(str_of(item, "keyId")), Cell::text);
        row.cells[7] = Cell::id(str_of(item, "requestId"));
        let row = row.status(state);
        match to {
            Some(to) => row.link(7, to),
            None => row,
        }
    }
}
