//! Rates: what the feeds say, what is held by hand and until when, and how prices went.

use super::{Here, Made, after, may};
use crate::gateway::services::Services;
use crate::pages::inside::{ApiResult, with_query};
use crate::pages::show::{self, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{self, Block, Cell, Input, Kind, Page, Plot, Row, Table, Tone};
use crate::pages::words::words;
use crate::rates::{Filter, Pair};
use api::problem::Problem;
use chrono::NaiveDateTime;
use domain::platform::operators::Role;
use domain::resources::rates::buckets::{Aggregation, Kept, Step, Window};
use domain::values::time::{DAY_MS, SECOND_MS, Timestamp, Zone};
use hyper::Method;
use serde_json::Value;

const FEEDS: [&str; 7] = ["pair", "source", "side", "method", "ageSeconds", "failuresInARow", "lastError"];
const PINS: [&str; 6] = ["pair", "source", "side", "price", "pinnedUntil", "reason"];
const PRESENT: [&str; 8] = ["pair", "source", "side", "method", "price", "asOf", "pinnedUntil", SUSPECT];
const SUSPECT: &str = "suspect";
/// Those of every hour, of twenty series.
const POINTS_MAX: usize = 24 * 7 * 20;
const DAYS: i64 = 7;
const MEMBERS: [&str; 7] = ["pair", "source", "side", "method", "price", "pinnedUntil", "reason"];

pub async fn page(visit: &Here<'_>) -> Made {
    let language = visit.language;
    let status = visit.inside.get("/admin/status").await?;
    let rates = &status["rates"];
    let list = |of: &str| rates[of].as_array().cloned().unwrap_or_default();
    let pins = visit
        .table(
            ["Fijadas", "Pinned"],
            "Par, Fuente, Lado, Precio, Hasta, Motivo, Quién, ",
            "Pair, Source, Side, Price, Until, Reason, Who, ",
        )
        .rows(list("pins").iter().map(|pin| pinned(visit, pin)))
        .field("pins");
    let present = visit.inside.get("/admin/rates").await?;
    let prices = show::table(language, visit.say("Precios de ahora", "Present prices"), &PRESENT)
        .rows(show::items(&present).iter().map(|item| price(visit, item)))
        .field("prices");
    let mut page = Page::new("rates", visit.say("Tasas", "Rates"))
        .maybe(visit.done())
        .heading(visit.say("Fijadas a mano", "Pinned by hand"))
        .with(pins)
        .heading(visit.say("Ahora", "Now"))
        .with(prices);
    page.blocks.extend(plots(visit.services, language).into_iter().map(Block::Plot));
    page = page.heading(visit.say("Fuentes", "Feeds")).with(feeds(visit, &list("feeds")));
    Ok(if may(visit, Role::Treasury) { page.with(form(visit)) } else { page })
}

/// One that is suspect says so, and that it decides nothing.
fn price(visit: &Here<'_>, item: &Value) -> Row {
    let is_suspect = item[SUSPECT] == Value::Bool(true);
    let cell = |name| match (name == SUSPECT, is_suspect) {
        (false, _) => show::cell(visit.language, name, &item[name]),
        (true, true) => Cell::state(SUSPECT, words(visit.language, SUSPECT)),
        (true, false) => Cell::text(""),
    };
    let row = Row::new(PRESENT.map(cell));
    if is_suspect { row.status(SUSPECT) } else { row }
}

fn feeds(visit: &Here<'_>, items: &[Value]) -> Table {
    let row = |item: &Value| Row::new(FEEDS.map(|name| show::cell(visit.language, name, &item[name])));
    let table = visit.table(
        ["Fuentes", "Feeds"],
        "Par, Fuente, Lado, Método, Edad (s), Fallos seguidos, Último error",
        "Pair, Source, Side, Method, Age (s), Failures in a row, Last error",
    );
    table.rows(items.iter().map(row))
}

fn pinned(visit: &Here<'_>, item: &Value) -> Row {
    let mut cells: Vec<Cell> = PINS.map(|name| show::cell(visit.language, name, &item[name])).into();
    cells.push(Cell::text(str_of(&item["operator"], "name")));
    cells.push(Cell::state("pinned", words(visit.language, "pinned")));
    let mut row = Row::new(cells).status("pinned");
    if may(visit, Role::Treasury) {
        let id =
            format!("unpin-{}-{}-{}", str_of(item, "pair"), str_of(item, "source"), str_of(item, "side"));
        let id: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let mut form = view::Form::new("/console/rates/unpin", "unpin", visit.say("Soltar", "Unpin"))
            .id(id)
            .inline()
            .tone(Tone::Bad);
        for name in ["pair", "source", "side"] {
            form = form.hidden(name, str_of(item, name));
        }
        row.forms.push(form);
    }
    row
}

fn form(visit: &Here<'_>) -> view::Form {
    let say = |spanish, english| visit.say(spanish, english);
    let input = |name, label: &str| Input::new(name, label).value(visit.form.text(name));
    view::Form::new("/console/rates", "pin", say("Guardar", "Save"))
        .title(say("Una tasa a mano", "A rate by hand"))
        .about(say(
            "Con «Fija hasta», ninguna fuente la cambia hasta ese momento.",
            "With \"Pinned until\", no feed changes it before then.",
        ))
        .input(input("pair", say("Par", "Pair")).hint("USDT/VES"))
        .input(input("source", say("Fuente", "Source")))
        .input(input("side", say("Lado", "Side")).optional())
        .input(input("method", say("Método", "Method")).optional())
        .input(input("price", say("Precio", "Price")).hint("245.00000000"))
        .input(
            input("pinnedUntil", say("Fija hasta", "Pinned until"))
                .kind(Kind::Moment)
                .hint(say(
                    "Hora de Caracas (UTC−4), a 30 días como máximo.",
                    "Caracas time (UTC−4), within 30 days.",
                ))
                .optional(),
        )
        .input(input("reason", say("Motivo", "Reason")).optional())
}

fn last(kept: &Kept) -> String {
    match kept {
        Kept::One { price, .. } => price.0.normalize().to_string(),
        Kept::Many(bucket) => bucket.price(Aggregation::Last).0.normalize().to_string(),
    }
}

fn plots(services: &Services, language: crate::language::Language) -> Vec<Plot> {
    let (store, now) = (&services.prices.history, services.now());
    let window = Window { from: now.plus_ms(-DAYS * DAY_MS), to: now.plus_ms(1) };
    let plot = |pair: Pair| {
        let lines = store.lines(pair, Filter::default());
        let points = store.history(&lines, Some(Step::Hour), window, true, POINTS_MAX).unwrap_or_default();
        let samples: Vec<_> = points
            .iter()
            .rev()
            .map(|point| (point.at, point.series.source.to_string(), last(&point.kept)))
            .collect();
        let mut sources: Vec<String> = samples.iter().map(|(_, source, _)| source.clone()).collect();
        sources.sort_unstable();
        sources.dedup();
        let figures = |source: &String| {
            samples
                .iter()
                .map(|(_, of, price)| if of == source { price.clone() } else { String::new() })
                .collect()
        };
        let series = sources.iter().map(figures).collect();
        let heads = [language.say("Cuándo", "When").to_owned()].into_iter().chain(sources.clone()).collect();
        let at = samples
            .iter()
            .map(|(at, ..)| (at.unix_ms() / SECOND_MS, show::in_caracas(at.unix_ms())))
            .collect();
        Plot {
            label: pair.as_str().to_owned(),
            heads,
            at,
            series,
            is_bars: false,
            table: language.say("Ver como tabla", "Show as a table"),
        }
    };
    [Pair::USD_VES, Pair::USDT_VES, Pair::USDT_COP]
        .map(plot)
        .into_iter()
        .filter(|plot| !plot.at.is_empty())
        .collect()
}

/// In Caracas' time; what is no instant stays as it was typed.
fn of_caracas(typed: &str) -> String {
    let forms = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"];
    let local = forms.iter().find_map(|form| NaiveDateTime::parse_from_str(typed, form).ok());
    let at = local.map(|local| local.and_utc().timestamp_millis() - Zone::Caracas.offset_ms());
    at.map_or_else(|| typed.to_owned(), |at| Timestamp::from_unix_ms(at).to_string())
}

pub async fn pin(visit: &Here<'_>) -> Result<Shown, Problem> {
    let mut body = visit.form.filled_members(&MEMBERS);
    if let Some(until) = visit.form.filled("pinnedUntil") {
        body["pinnedUntil"] = of_caracas(until).into();
    }
    end(visit, visit.post("/admin/rates", &body).await).await
}

pub async fn unpin(visit: &Here<'_>) -> Result<Shown, Problem> {
    let parameters = ["pair", "source", "side"].map(|name| (name, visit.form.text(name)));
    let mut asked = with_query("/admin/rates/pin", &parameters);
    if visit.form.text("side").is_empty() {
        // Required, and empty where a series has no side.
        asked.push_str("&side=");
    }
    end(visit, visit.inside.change(Method::DELETE, &asked, None).await).await
}

async fn end(visit: &Here<'_>, outcome: ApiResult) -> Result<Shown, Problem> {
    visit.acted(outcome, |answer| after("/console/rates", answer), page(visit)).await
}
