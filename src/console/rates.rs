//! Rates: what the feeds say, what is held by hand and until when, and how prices went.

use super::{Here, Made, after, asked, asked_with, may};
use crate::gateway::services::Services;
use crate::language::Language;
use crate::pages::confirm::{AGAIN, Confirm};
use crate::pages::inside::{ApiResult, with_query};
use crate::pages::show;
use crate::pages::site::Shown;
use crate::pages::view::{self, Block, Cell, Fact, Input, Kind, Page, Plot, Row, Table, Tone};
use crate::pages::words::words;
use crate::rates::{Filter, Pair, Pin, PinPlace, RateBoard, Sample, Series};
use api::problem::Problem;
use chrono::NaiveDateTime;
use domain::platform::operators::Role;
use domain::resources::rates::buckets::{Aggregation, Kept, Step, Window};
use domain::resources::rates::samples::PRICE_DECIMALS;
use domain::values::ids::Mode;
use domain::values::time::{DAY_MS, MINUTE_MS, SECOND_MS, Timestamp, Zone};
use hyper::Method;
use rust_decimal::Decimal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

const FEEDS: [&str; 7] = ["pair", "source", "side", "method", "ageSeconds", "failuresInARow", "lastError"];
const SAID: [&str; 7] = ["pair", "source", "side", "method", "price", "asOf", SUSPECT];
const SUSPECT: &str = "suspect";
/// A price this much higher or lower than the one in force is asked for twice.
const FAR_PERCENT: i64 = 10;
/// Those of every hour, of twenty series.
const POINTS_MAX: usize = 24 * 7 * 20;
const DAYS: i64 = 7;
const PLACE: [&str; 3] = ["pair", "source", "side"];
const MEMBERS: [&str; 7] = ["pair", "source", "side", "method", "price", "pinnedUntil", "reason"];

pub async fn page(visit: &Here<'_>) -> Made {
    let language = visit.language;
    let status = visit.inside.get("/admin/status").await?;
    let feeds_of = status["rates"]["feeds"].as_array().map_or(&[][..], Vec::as_slice);
    let board = &visit.services.prices.board;
    let said = visit.inside.get("/admin/rates").await?;
    let pins = board.pins(visit.services.now());
    let table = show::table(language, visit.say("Lo que dicen las fuentes", "What the feeds say"), &SAID)
        .rows(show::items(&said).iter().map(|item| sample(visit, &pins, item)))
        .field("samples");
    let mut page = Page::new("rates", visit.say("Tasas", "Rates"))
        .maybe(visit.done())
        .heading(visit.say("En vigor", "In force"))
        .with(in_force(visit, board));
    page.blocks.extend(plots(visit.services, language).into_iter().map(Block::Plot));
    if may(visit, Role::Treasury) {
        page = page.with(form(visit, board));
    }
    page = page.heading(visit.say("Lo que dicen las fuentes", "What the feeds say"));
    let about = visit.say(
        "El último precio de cada fuente. Si la tasa está fijada, o el precio es sospechoso, no decide nada.",
        "The last price of each feed. While the rate is pinned, or the price is suspect, it decides nothing.",
    );
    page = page.text(about).with(table);
    Ok(page.heading(visit.say("Fuentes", "Feeds")).with(feeds(visit, feeds_of)))
}

/// The price by which money is moved now, of each source and side, those that are pinned first.
fn in_force(visit: &Here<'_>, board: &RateBoard) -> Table {
    let now = visit.services.now();
    let mut series: Vec<Series> = board.all().iter().map(|sample| sample.series.clone()).collect();
    let pins = board.pins(now);
    series.extend(pins.iter().map(|pin| pin.sample.series.clone()));
    series.sort();
    series.dedup();
    let mut rows = Vec::new();
    for pin in &pins {
        rows.push(pinned(visit, pin, now));
    }
    for of in series.iter().filter(|of| !pins.iter().any(|pin| pin.is_in_force(now) && pin.stands_for(of))) {
        let found = |mode| board.latest_of(of.pair, |series| series == of, mode, now);
        if let Some(found) = found(Mode::Live).or_else(|| found(Mode::Test)) {
            rows.push(by_feed(visit, &found.sample, now));
        }
    }
    let table = visit.table(
        ["Precios en vigor, primero los fijados", "Prices in force, pinned ones first"],
        "Par, Lado, Fuente, Precio, Por qué",
        "Pair, Side, Source, Price, Why",
    );
    table.rows(rows).field("prices")
}

fn cells(visit: &Here<'_>, sample: &Sample) -> Vec<Cell> {
    let Series { pair, source, side, method, .. } = &sample.series;
    let test = if sample.test_only { words(visit.language, Mode::Test.name()) } else { "" };
    vec![
        Cell::whole(pair.as_str()),
        Cell::text(side.as_deref().map_or("—", |side| words(visit.language, side))),
        Cell::text(&**source).with_sub(method.as_deref().unwrap_or_default()).marked(test),
        Cell::figure(visit.language.figure(&sample.price.0.normalize().to_string())),
    ]
}

fn by_feed(visit: &Here<'_>, sample: &Sample, now: Timestamp) -> Row {
    let minutes = sample.age_ms(now).max(0) / MINUTE_MS;
    let age = match (visit.language, minutes) {
        (Language::Spanish, 0) => "De la fuente, hace menos de un minuto".to_owned(),
        (Language::English, 0) => "From its feed, less than a minute ago".to_owned(),
        (Language::Spanish, 1..120) => format!("De la fuente, hace {minutes} min"),
        (Language::English, 1..120) => format!("From its feed, {minutes} min ago"),
        (Language::Spanish, _) => format!("De la fuente, hace {} h", minutes / 60),
        (Language::English, _) => format!("From its feed, {} h ago", minutes / 60),
    };
    let mut cells = cells(visit, sample);
    let as_of = show::in_caracas(sample.as_of.unix_ms());
    let why = Cell::text(age).with_sub(as_of);
    cells.push(why);
    let mut row = Row::new(cells);
    if may(visit, Role::Treasury) {
        row.forms.push(of_place(
            view::Form::query("/console/rates#form-pin", "choose", visit.say("Fijar", "Pin")),
            &PinPlace::of(&sample.series),
        ));
    }
    row
}

/// With the price of its feed, which it hides.
fn pinned(visit: &Here<'_>, pin: &Pin, now: Timestamp) -> Row {
    let mut cells = cells(visit, &pin.sample);
    let state = Cell::state("pinned", words(visit.language, "pinned"));
    let until = show::in_caracas(pin.until.unix_ms());
    let who = format!("{} {until} · {} · {}", visit.say("Hasta el", "Until"), pin.operator_name, pin.reason);
    let later =
        visit.say("Todavía no rige: es de un día que viene.", "Not in force yet: it is of a day to come.");
    let who = if pin.is_in_force(now) { who } else { format!("{who} · {later}") };
    cells.push(state.with_sub(who));
    let mut row = Row::new(cells).status("pinned");
    if may(visit, Role::Treasury) {
        let form = view::Form::new("/console/rates/unpin", "unpin", visit.say("Soltar", "Unpin"));
        row.forms.push(of_place(form.inline().tone(Tone::Bad), &pin.place()));
    }
    row
}

fn of_place(form: view::Form, place: &PinPlace) -> view::Form {
    let place = [place.pair.as_str(), &place.source, place.side.as_deref().unwrap_or_default()];
    let id = format!("{}-{}", form.id, place.join("-"));
    let id: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let form = form.id(id);
    PLACE.into_iter().zip(place).fold(form, |form, (name, value)| form.hidden(name, value))
}

/// One that is suspect says so, and that it decides nothing.
fn sample(visit: &Here<'_>, pins: &[Arc<Pin>], item: &Value) -> Row {
    let is_suspect = item[SUSPECT] == Value::Bool(true);
    let is_pinned = pins.iter().any(|pin| {
        let Sample { series, as_of, .. } = &*pin.sample;
        series.pair.as_str() == show::str_of(item, "pair")
            && *series.source == *show::str_of(item, "source")
            && series.side.as_deref() == item["side"].as_str()
            && as_of.to_string() == show::str_of(item, "asOf")
    });
    let cell = |name| match (name == SUSPECT, is_suspect) {
        (false, _) if name == "price" && is_pinned => {
            let own =
                visit.say("fijada a mano: no la dijo la fuente", "pinned by hand: its feed did not say it");
            show::cell(visit.language, name, &item[name]).with_sub(own)
        }
        (false, _) => show::cell(visit.language, name, &item[name]),
        (true, true) => Cell::state(SUSPECT, words(visit.language, SUSPECT)),
        (true, false) => Cell::text(""),
    };
    let row = Row::new(SAID.map(cell));
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

fn form(visit: &Here<'_>, board: &RateBoard) -> view::Form {
    let say = |spanish, english| visit.say(spanish, english);
    // A link chooses the place alone: a price that an address brings would be nobody's.
    let chosen = |name: &'static str| if PLACE.contains(&name) { visit.query.text(name) } else { "" };
    let typed = |name: &'static str| visit.form.filled(name).unwrap_or_else(|| chosen(name));
    let input = |name, label: &str| Input::new(name, label).value(typed(name));
    let known = |of: fn(&Series) -> Option<String>| {
        let mut found: Vec<String> = board.all().iter().filter_map(|sample| of(&sample.series)).collect();
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|name| (name.clone(), name)).collect::<Vec<_>>()
    };
    let mut sides = vec![("", say("Ninguno", "None"))];
    sides.extend(["BUY", "SELL", "OFFICIAL"].map(|side| (side, words(visit.language, side))));
    let others = known(|of| of.side.as_deref().map(str::to_owned));
    let others = others.iter().map(|(side, _)| (side.as_str(), words(visit.language, side)));
    let others: Vec<_> = others.filter(|(side, _)| sides.iter().all(|(known, _)| known != side)).collect();
    sides.extend(others);
    view::Form::new("/console/rates", "pin", say("Guardar", "Save"))
        .title(say("Fijar una tasa, o anotar un precio", "Pin a rate, or enter a price"))
        .about(say(
            "Con «Fija hasta», ninguna fuente la cambia hasta ese momento. Sin ella, es un precio más de su fuente.",
            "With \"Pinned until\", no feed changes it before then. Without, it is one more price of its feed.",
        ))
        .input(input("pair", say("Par", "Pair")).hint("USDT/VES").options(known(|of| Some(of.pair.as_str().to_owned()))))
        .input(input("source", say("Fuente", "Source")).options(known(|of| Some(of.source.to_string()))))
        .input(Input::choice("side", say("Lado", "Side"), sides, typed("side")).optional())
        .input(input("method", say("Método", "Method")).options(known(|of| of.method.as_deref().map(str::to_owned))).optional())
        .input(input("price", say("Precio", "Price")).hint(say("245,50", "245.50")))
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

/// A line for each source and side, and the time of each pin as a band.
fn plots(services: &Services, language: Language) -> Vec<Plot> {
    let (store, now) = (&services.prices.history, services.now());
    let window = Window { from: now.plus_ms(-DAYS * DAY_MS), to: now.plus_ms(1) };
    let pins = services.prices.board.pins(now);
    let plot = |pair: Pair| {
        let lines = store.lines(pair, Filter::default());
        let points = store.history(&lines, Some(Step::Hour), window, true, POINTS_MAX).unwrap_or_default();
        let name = |series: &Series| match &series.side {
            Some(side) => format!("{} · {}", series.source, words(language, side)),
            None => series.source.to_string(),
        };
        let mut names: Vec<String> = points.iter().map(|point| name(&point.series)).collect();
        names.sort_unstable();
        names.dedup();
        // All lines have their prices at the same hours, of which some have none.
        let mut rows: BTreeMap<i64, Vec<String>> = BTreeMap::new();
        for point in &points {
            let row = rows.entry(point.at.unix_ms()).or_insert_with(|| vec![String::new(); names.len()]);
            if let Ok(line) = names.binary_search(&name(&point.series)) {
                row[line] = last(&point.kept);
            }
        }
        let series =
            (0..names.len()).map(|line| rows.values().map(|row| row[line].clone()).collect()).collect();
        let of_pair = pins.iter().filter(|pin| pin.sample.series.pair == pair);
        let band = |pin: &Arc<Pin>| {
            let (from, until) = (pin.sample.fetched_at.unix_ms(), pin.until.unix_ms());
            let what = format!(
                "{} {}: {}",
                language.say("Fijada hasta el", "Pinned until"),
                show::in_caracas(until),
                name(&pin.sample.series)
            );
            (from / SECOND_MS, until / SECOND_MS, what)
        };
        Plot {
            label: pair.as_str().to_owned(),
            heads: [language.say("Cuándo", "When").to_owned()].into_iter().chain(names).collect(),
            at: rows.keys().map(|at| (at / SECOND_MS, show::in_caracas(*at))).collect(),
            series,
            is_bars: false,
            bands: of_pair.map(band).collect(),
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
    if let Some(typed) = visit.form.filled("price") {
        let Some(price) = visit.language.read(typed, PRICE_DECIMALS as usize) else {
            return visit.failed(page(visit).await, &unclear().into());
        };
        body["price"] = price.into();
    }
    if let Some(until) = visit.form.filled("pinnedUntil") {
        body["pinnedUntil"] = of_caracas(until).into();
    }
    let typed_again = is_far(visit, &body).then(|| again(visit, &body));
    if visit.is_confirmed() && typed_again.as_ref().is_none_or(|input| input.error.is_empty()) {
        return end(visit, visit.post("/admin/rates", &body).await).await;
    }
    asked_with(
        visit,
        (Method::POST, "/admin/rates", Some(&body)),
        confirm(visit, &body),
        typed_again,
        page(visit),
    )
    .await
}

/// By how much the price in force would change, in percent.
fn change(visit: &Here<'_>, body: &Value) -> Option<Decimal> {
    let new = show::str_of(body, "price").parse::<Decimal>().ok()?;
    let before = before(visit)?.price.0;
    new.checked_sub(before)?.checked_mul(Decimal::ONE_HUNDRED)?.checked_div(before)
}

fn is_far(visit: &Here<'_>, body: &Value) -> bool {
    change(visit, body).is_some_and(|percent| percent.abs() > Decimal::from(FAR_PERCENT))
}

/// The price once more: a point in the wrong place is not typed twice.
fn again(visit: &Here<'_>, body: &Value) -> Input {
    let typed = visit.form.text(AGAIN);
    let read = visit.language.read(typed, PRICE_DECIMALS as usize);
    let is_same =
        read.and_then(|read| read.parse::<Decimal>().ok()) == show::str_of(body, "price").parse().ok();
    let label = visit.say("Escribe otra vez el precio nuevo", "Type the new price once more");
    let mut input = Input::new(AGAIN, label).value(typed);
    if !is_same && visit.is_confirmed() {
        input.error = visit.say("No es el mismo precio.", "It is not the same price.").to_owned();
    } else if !is_same {
        input.value = String::new();
    }
    input
}

/// Not left to the API, which reads what is typed as a program's: `4.100` would be taken, as 4.1.
fn unclear() -> Problem {
    Problem::invalid_field(
        "price",
        "is not clear: write it without a sign for thousands, such as 4100, and three decimals with a zero more",
    )
}

/// The price in force beside the new one: a point in the wrong place shows.
fn confirm(visit: &Here<'_>, body: &Value) -> Confirm {
    let say = |spanish, english| visit.say(spanish, english);
    let price = visit.language.figure(show::str_of(body, "price"));
    let before = before(visit).map_or_else(
        || say("Ninguno", "None").to_owned(),
        |sample| visit.language.figure(&sample.price.0.normalize().to_string()),
    );
    let mut facts = show::facts(visit.language, body, &["pair", "source", "side", "method"]);
    facts.push(Fact::new("before", say("Precio en vigor", "Price in force"), Cell::figure(before)));
    facts.push(Fact::new("price", say("Precio nuevo", "New price"), Cell::figure(price.clone())));
    let changed = change(visit, body).map(|percent| {
        let sign = if percent.is_sign_positive() { "+" } else { "" };
        format!("{sign}{} %", visit.language.figure(&percent.round_dp(1).normalize().to_string()))
    });
    facts.extend(
        changed.clone().map(|changed| Fact::new("change", say("Cambio", "Change"), Cell::text(changed))),
    );
    let whose = say("Dinero real y de prueba", "Live and test money");
    facts.push(Fact::new("mode", say("Vale para", "Holds for"), Cell::text(whose)));
    facts.extend(show::facts(visit.language, body, &["pinnedUntil", "reason"]));
    let is_pin = visit.form.filled("pinnedUntil").is_some();
    let (title, label, consequence) = if is_pin {
        let consequence = say(
            "Este precio mueve el dinero desde ahora, y hasta ese momento ninguna fuente lo cambia. Se puede soltar antes.",
            "Money is moved by this price from now on, and no feed changes it before then. It can be unpinned earlier.",
        );
        (say("Fijar una tasa", "Pin a rate"), say("Fijar en", "Pin at"), consequence)
    } else {
        let consequence = say(
            "Es un precio más de su fuente, y rige hasta el próximo de ella.",
            "It is one more price of its feed, in force until the feed's next.",
        );
        (say("Anotar un precio", "Enter a price"), say("Anotar", "Enter"), consequence)
    };
    let far = changed.filter(|_| is_far(visit, body)).map(|changed| match visit.language {
        Language::Spanish => format!("El precio cambia {changed}. ¿Están bien los decimales? "),
        Language::English => format!("The price changes by {changed}. Are its decimals right? "),
    });
    Confirm {
        page: ("rates", title.to_owned()),
        facts,
        consequence: format!("{}{consequence}", far.unwrap_or_default()),
        figures: Vec::new(),
        label: format!("{label} {price}"),
        back: "/console/rates".to_owned(),
    }
}

/// What the price of a form would replace: whatever has its place has its method too.
fn before(visit: &Here<'_>) -> Option<Arc<Sample>> {
    let (board, now) = (&visit.services.prices.board, visit.services.now());
    let pair = Pair::parse(visit.form.text("pair")).ok()?;
    let is_of = |typed: &str, of: Option<&str>| of.unwrap_or_default() == typed;
    let has = |series: &Series| {
        *series.source == *visit.form.text("source") && is_of(visit.form.text("side"), series.side.as_deref())
    };
    let found = |mode| board.latest_of(pair, has, mode, now);
    found(Mode::Live).or_else(|| found(Mode::Test)).map(|found| found.sample)
}

pub async fn unpin(visit: &Here<'_>) -> Result<Shown, Problem> {
    let parameters = ["pair", "source", "side"].map(|name| (name, visit.form.text(name)));
    let mut path = with_query("/admin/rates/pin", &parameters);
    if visit.form.text("side").is_empty() {
        // Required, and empty where a series has no side.
        path.push_str("&side=");
    }
    if visit.is_confirmed() {
        return end(visit, visit.inside.change(Method::DELETE, &path, None).await).await;
    }
    asked(visit, (Method::DELETE, &path, None), let_go(visit), page(visit)).await
}

/// The pinned price beside the one that is in force without it.
fn let_go(visit: &Here<'_>) -> Confirm {
    let say = |spanish, english| visit.say(spanish, english);
    let (board, now) = (&visit.services.prices.board, visit.services.now());
    let typed = |name: &str| visit.form.text(name);
    let is_of = |series: &Series| {
        series.pair.as_str() == typed("pair")
            && *series.source == *typed("source")
            && series.side.as_deref().unwrap_or_default() == typed("side")
    };
    let priced = |sample: Option<&Sample>| match sample {
        Some(sample) => visit.language.figure(&sample.price.0.normalize().to_string()),
        None => say("Ninguno", "None").to_owned(),
    };
    let (pins, all) = (board.pins(now), board.all());
    let pinned = pins.iter().find(|pin| is_of(&pin.sample.series)).map(|pin| &*pin.sample);
    // What prices test mode alone moves nobody's money.
    let may = |sample: &Sample| sample.has_begun(now) && sample.prices(Mode::Live);
    let next = all.iter().filter(|sample| is_of(&sample.series) && may(sample));
    let next = next.max_by_key(|sample| sample.freshness()).map(|sample| &**sample);
    let fact = |name, label: &str, text: String| Fact::new(name, label, Cell::text(text));
    let mut facts = show::facts(visit.language, &visit.form.members(&PLACE), &PLACE);
    facts.push(fact("price", say("Precio fijado", "Pinned price"), priced(pinned)));
    facts.push(fact("after", say("El que rige después", "The one in force after"), priced(next)));
    Confirm {
        page: ("rates", say("Soltar una tasa", "Unpin a rate").to_owned()),
        facts,
        consequence: say(
            "La tasa vuelve a ser de su fuente: el próximo precio que ella dé mueve el dinero en cuanto llega, y hasta \
             entonces rige el último que se conoce.",
            "The rate is its feed's again: the feed's next price moves money as soon as it comes, and until then the last \
             known one is in force.",
        )
        .to_owned(),
        figures: Vec::new(),
        label: say("Soltar", "Unpin").to_owned(),
        back: "/console/rates".to_owned(),
    }
}

async fn end(visit: &Here<'_>, outcome: ApiResult) -> Result<Shown, Problem> {
    visit.acted(outcome, |answer| after("/console/rates", answer), page(visit)).await
}
