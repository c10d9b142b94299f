//! Lists of what is no entity and is kept in the order of its time: events and requests. As `lists.rs` shows its own:
//! filters and days in the address, how many there are, and the file of exactly that.

use crate::gateway::exports::{Export, Pages};
use crate::gateway::services::Services;
use crate::pages::form;
use crate::pages::inside::{Refused, with_query};
use crate::pages::lists::{self, FOUND_MORE};
use crate::pages::show::{self, str_of};
use crate::pages::site::{Shown, Visit};
use crate::pages::view::{Form, Input, Kind, Link, Listed, Page, Row, Table};
use crate::store::read_budget::{ReadBudget, Stopped};
use api::csv::{Column, ITEMS, RowsAt, Separator};
use api::problem::Problem;
use bytes::Bytes;
use domain::values::time::{Timestamp, Zone};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const LIMIT: usize = 50;
/// Of a page of the file.
const FILE_LIMIT: usize = 1_000;
/// That a page looks at, and that it counts.
const LOOKS: usize = 2_000;
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

/// Gets the newest first: of each its kind, by which it is counted, and itself.
pub type Each<'e> = dyn FnMut(&str, &dyn Fn() -> Option<Value>) + 'e;

/// Where a log goes on.
pub type GoesOn = Result<Option<String>, Stopped>;

/// What a log comes to, as far as it was counted.
#[derive(Default)]
struct Counted {
    count: usize,
    kinds: BTreeMap<String, usize>,
}

impl Counted {
    fn add(&mut self, kind: &str) {
        self.count += 1;
        match self.kinds.get_mut(kind) {
            Some(count) => *count += 1,
            None => drop(self.kinds.insert(kind.to_owned(), 1)),
        }
    }
}

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

    fn view<W>(&mut self, visit: &Visit<'_, W>, bad: &[(&str, String)]) -> Listed {
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
            let error = bad.iter().find(|(named, _)| *named == name).map(|(_, why)| why.clone());
            Input { error: error.unwrap_or_default(), ..input }
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
    read: impl Fn(&Services, &ReadBudget, &Span, &mut Each<'_>) -> GoesOn + Clone + Send + Sync + 'static,
    row: impl Fn(&Value) -> Row,
) -> Result<Shown, Problem> {
    let mut bad = Vec::new();
    let [from, to] = lists::days_asked(visit, Zone::Caracas, &mut |name, why| bad.push((name, why)));
    let [spanish, english] = log.title;
    let page = Page::new(log.name, visit.say(spanish, english));
    if !bad.is_empty() {
        let list = log.view(visit, &bad);
        return Ok(Shown::Page(page.with(list).failed(400, lists::bad_filters(visit.language, &bad))));
    }
    let all = Span { from, to, ..Span::default() };
    if visit.query.get("format") == Some("csv") {
        return file(visit, &log, (reader, all), read).await;
    }
    let first =
        Span { before: visit.query.filled("before").map(str::to_owned), most: LIMIT, looks: LOOKS, ..all };
    let is_more = visit.query.get("sums") == Some("more");
    let most = if is_more { FOUND_MORE } else { LOOKS };
    let whole = Span { most, looks: most, before: None, ..first.clone() };
    // In one turn, with the rests of one read.
    let read = move |services: &Services, budget: &ReadBudget| {
        let (mut items, mut counted) = (Vec::new(), Counted::default());
        let next = read(services, budget, &first, &mut |_, item| items.extend(item()))?;
        let rest = match items.is_empty() {
            true => None,
            false => read(services, budget, &whole, &mut |kind, _| counted.add(kind))?,
        };
        Ok((items, next, counted, rest.is_none()))
    };
    let (items, next, counted, is_whole) =
        match visit.services.read_pool.read_long(visit.services, reader, read).await {
            Ok(found) => found,
            Err(problem) => return visit.shown(Err(Refused::from(problem))),
        };
    let next = next.map(|before| log.here(visit, &[("before", &before)]));
    let none = lists::nothing(visit.language, log.is_filtered(visit), next.is_some());
    let table = show::table(visit.language, page.title.clone(), log.columns).rows(items.iter().map(row));
    let mut table = Table { none, ..table }.next(next);
    let (mut totals, mut files) = (None, Vec::new());
    if items.is_empty() {
        table.next_label = lists::look_on(visit.language);
    } else {
        let mut said = vec![(lists::counted(visit.language, counted.count, is_whole), None)];
        said.extend(kinds(visit, counted.kinds).into_iter().map(|text| (text, None)));
        if !is_whole {
            let more = (!is_more).then(|| log.here(visit, &[("sums", "more")]));
            said.push((lists::among(visit.language, most), more));
        }
        totals = Some(said);
        files = lists::files(visit.language, |separator| {
            log.here(visit, &[("format", "csv"), ("separator", separator)])
        });
    }
    Ok(Shown::Page(page.with(Listed { totals, files, table, ..log.view(visit, &[]) })))
}

/// How often each kind is there, the most frequent first.
fn kinds<W>(visit: &Visit<'_, W>, counts: BTreeMap<String, usize>) -> Vec<String> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let said =
        |(kind, count): (String, usize)| format!("{kind}: {}", visit.language.figure(&count.to_string()));
    counts.into_iter().take(KINDS).map(said).collect()
}

/// All of it, page by page, as the API's lists are written.
async fn file<W>(
    visit: &Visit<'_, W>,
    log: &Log,
    (reader, all): (u64, Span),
    read: impl Fn(&Services, &ReadBudget, &Span, &mut Each<'_>) -> GoesOn + Clone + Send + Sync + 'static,
) -> Result<Shown, Problem> {
    let semicolon = visit.query.text("separator") == "semicolon";
    let separator = if semicolon { Separator::Semicolon } else { Separator::Comma };
    let column =
        |name: &&str| Column { name: (*name).to_owned(), is_number: matches!(*name, "status" | "ms") };
    let columns = log.in_file.iter().map(column).collect();
    let export = Export::of(api::csv::Table::new(columns, RowsAt::Member(ITEMS), true), separator, log.name);
    let services = Arc::clone(visit.services);
    let pages: Pages = Arc::new(move |query| {
        let before = form::Form::query(Some(&query)).filled("cursor").map(str::to_owned);
        let span = Span { before, most: FILE_LIMIT, looks: LOOKS, ..all.clone() };
        let (services, read) = (Arc::clone(&services), read.clone());
        Box::pin(async move {
            let page = move |services: &Services, budget: &ReadBudget| {
                let mut items = Vec::new();
                let next = read(services, budget, &span, &mut |_, item| items.extend(item()))?;
                Ok(Bytes::from(json!({ ITEMS: items, "nextCursor": next }).to_string()))
            };
            services.read_pool.read_long(&services, reader, page).await
        })
    });
    match pages(export.query(None)).await {
        Ok(first) => Ok(Shown::Raw(export.reply(&first, pages, visit.arrival.request_id.clone())?)),
        Err(problem) => visit.shown(Err(Refused::from(problem))),
    }
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
            now,
        }
    }

    pub fn read<W>(
        visit: &Visit<'_, W>,
        tenant: u64,
        now: Timestamp,
    ) -> impl Fn(&Services, &ReadBudget, &Span, &mut Each<'_>) -> GoesOn + Clone + Send + Sync + 'static + use<W>
    {
        let asked = ["method", "route", "error", "answered"].map(|name| visit.query.text(name).to_owned());
        move |services, budget, span, each| {
            let span = requests::Span {
                from: span.from,
                to: span.to,
                before: span.before.as_deref().and_then(requests::Place::parse),
                most: span.most,
                looks: span.looks,
            };
            let [method, route, error, answered] = &asked;
            let mut take = |found: requests::Found| {
                let Ok(of) = serde_json::from_slice::<Value>(&found.body) else { return false };
                let is = |name: &str, asked: &str| asked.is_empty() || str_of(&of, name) == asked;
                let status = of["status"].as_u64().unwrap_or_default();
                let fits = match answered.as_str() {
                    "done" => status < 400,
                    "refused" => (400..500).contains(&status),
                    "failed" => status >= 500,
                    _ => true,
                };
                let has_route = str_of(&of, "route").contains(route.as_str());
                let is_wanted = fits && has_route && is("method", method) && is("error", error);
                if is_wanted {
                    each(&status.to_string(), &|| Some(of.clone()));
                }
                is_wanted
            };
            let place = services.files.requests.newest(tenant, span, (now, budget), &mut take)?;
            Ok(place.map(|place| place.to_string()))
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
