//! A statement on a page: which currency and days are asked for, the days as a table, and a plot of
//! the closing balance.

use crate::gateway::services::Services;
use crate::language::Language;
use crate::pages::inside::with_query;
use crate::pages::show::{self, str_of};
use crate::pages::site::{Shown, Visit};
use crate::pages::view::{self, Block, Cell, Input, Kind, Link, Note, Page, Plot, Row, Table, Tone};
use api::problem::Problem;
use chrono::NaiveDate;
use domain::values::time::{DAY_MS, SECOND_MS, Timestamp};
use serde_json::Value;

/// Those that are zero on every day are left out.
#[rustfmt::skip]
const COLUMNS: [&str; 15] = [
    "date", "opening", "payments", "fees", "platformFees", "sellerTransfers", "reversals", "chargebacks", "payouts",
    "payoutReversals", "conversions", "deposits", "adjustments", "movements", "closing",
];
const DAYS: i64 = 30;

/// A test clock may be ahead. Of a book that is halted the server's time.
pub async fn present(services: &Services, tenant_key: u64) -> Timestamp {
    services.clock(tenant_key).await.unwrap_or_else(|_| services.now())
}

pub struct Whose<'a> {
    pub now: Timestamp,
    pub api: String,
    pub here: &'static str,
    pub title: [&'static str; 2],
    /// A parameter of the address that the file is asked for by, too.
    pub kept: (&'static str, &'a str),
}

/// The page of a statement, or with `format=csv` the file: of the last thirty days in bolívares, unless the
/// address says otherwise. `more` adds what the site's own form has.
pub async fn answer<W>(
    visit: &Visit<'_, W>,
    whose: Whose<'_>,
    more: impl FnOnce(view::Form) -> view::Form,
) -> Result<Shown, Problem> {
    let (query, language) = (&visit.query, visit.language);
    let day = |before: i64| show::day_in_caracas(whose.now.unix_ms() - before * DAY_MS);
    let or = |name: &str, other: String| query.filled(name).map_or(other, str::to_owned);
    let (currency, from, to) =
        (or("currency", "VES".to_owned()), or("from", day(DAYS - 1)), or("to", day(0)));
    let asked = [("currency", &*currency), ("from", &from), ("to", &to), ("mode", query.text("mode"))];
    let api = with_query(&whose.api, &asked);
    if query.get("format") == Some("csv") {
        return match visit.inside.download(&api, "text/csv").await {
            Ok(file) => Ok(Shown::Raw(file)),
            Err(refused) => visit.shown(Err(refused)),
        };
    }
    let say = |spanish, english| visit.say(spanish, english);
    let currencies = [("VES", "Bolívares"), ("COP", "Pesos"), ("USDT", "USDT")];
    let form = view::Form::query(whose.here, "show-statement", say("Ver", "Show"))
        .input(Input::choice("currency", say("Moneda", "Currency"), currencies, &*currency))
        .input(Input::new("from", say("Desde", "From")).kind(Kind::Date).value(&*from))
        .input(Input::new("to", say("Hasta", "To")).kind(Kind::Date).value(&*to));
    let page = Page::new("statements", say(whose.title[0], whose.title[1])).with(more(form));
    // Days as the API writes them are in the order of their texts.
    if from > to {
        let fault = say(
            "El día «Desde» es posterior a «Hasta». Cámbialos.",
            "The day \"From\" is after the day \"To\". Change them.",
        );
        return Ok(Shown::Page(page.failed(400, Note::new(Tone::Bad, fault))));
    }
    Ok(Shown::Page(match visit.inside.get(&api).await {
        Ok(found) => {
            let file = with_query(whose.here, &[&[("format", "csv"), whose.kept][..], &asked].concat());
            let links = vec![Link::new(say("Descargar CSV", "Download CSV"), file)];
            blocks(language, &found).into_iter().fold(page, Page::with).with(links)
        }
        Err(refused) => page.failed(refused.status, show::refusal(language, &refused)),
    }))
}

/// Of all days: what moved in them, between the first opening balance and the last closing one.
fn total(language: Language, days: &[Value], name: &str) -> Cell {
    let of = |day: Option<&Value>| day.map(|day| show::text(&day[name])).unwrap_or_default();
    let plain = match name {
        "date" => return Cell::text(language.say("Total", "Total")),
        "opening" => of(days.first()),
        "closing" => of(days.last()),
        _ => {
            let decimals = of(days.first()).split_once('.').map_or(0, |(_, fraction)| fraction.len());
            let minor = days.iter().filter_map(|day| of(Some(day)).replacen('.', "", 1).parse::<i64>().ok());
            let Some(sum) = minor.into_iter().try_fold(0_i64, i64::checked_add) else {
                return Cell::text("—");
            };
            return Cell::figure(language.amount(sum, u32::try_from(decimals).unwrap_or(0)));
        }
    };
    Cell::figure(language.figure(&plain))
}

fn blocks(language: Language, statement: &Value) -> Vec<Block> {
    let days = statement["days"].as_array().map_or(&[][..], Vec::as_slice);
    let is_zero = |value: &Value| show::text(value).bytes().all(|byte| matches!(byte, b'0' | b'.' | b'-'));
    let is_shown = |name: &&str| {
        matches!(*name, "date" | "opening" | "closing") || days.iter().any(|day| !is_zero(&day[*name]))
    };
    let names: Vec<&str> = COLUMNS.into_iter().filter(is_shown).collect();
    let row = |day: &Value| {
        let cells = names.iter().map(|name| {
            let cell = show::cell(language, name, &day[*name]);
            let plain = show::text(&day[*name]);
            if *name == "date" { cell } else { Cell::figure(language.figure(&plain)) }
        });
        Row::new(cells.collect::<Vec<_>>())
    };
    let caption = format!("{} · {}", str_of(statement, "currency"), str_of(statement, "timezone"));
    let totals = names.iter().map(|name| total(language, days, name)).collect();
    let table = show::table(language, caption, &names).rows(days.iter().rev().map(row));
    let table = Table { totals, keeps_last: true, ..table };
    let at = |day: &Value| {
        let date = str_of(day, "date");
        let start = NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?.and_hms_opt(12, 0, 0)?.and_utc();
        Some((start.timestamp_millis() / SECOND_MS, show::day(date)))
    };
    let plot = Plot {
        label: language.say("Saldo al final de cada día", "Balance at the end of each day").to_owned(),
        heads: vec![language.say("Día", "Day").to_owned(), language.say("Saldo", "Balance").to_owned()],
        at: days.iter().filter_map(at).collect(),
        series: vec![days.iter().map(|day| str_of(day, "closing").to_owned()).collect()],
        is_bars: false,
        bands: Vec::new(),
        table: language.say("Ver como tabla", "Show as a table"),
    };
    let zone = if str_of(statement, "timezone") == "America/Bogota" {
        language.say(
            "Cada día va de medianoche a medianoche en Bogotá (UTC−5).",
            "Each day goes from midnight to midnight in Bogotá (UTC−5).",
        )
    } else {
        language.say(
            "Cada día va de medianoche a medianoche en Caracas (UTC−4).",
            "Each day goes from midnight to midnight in Caracas (UTC−4).",
        )
    };
    vec![plot.into(), Block::Text(zone.to_owned()), table.into()]
}
