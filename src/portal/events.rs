//! Events of the tenant, newest first: what webhooks were told of.

use super::{Here, Made, lists};
use crate::gateway::services::Services;
use crate::pages::inside::with_query;
use crate::pages::show::{self, str_of};
use crate::pages::view::{Cell, Form, Input, Kind, Listed, Note, Page, Row, Table, Tone};
use crate::store::history;
use crate::store::read_budget::{ReadBudget, Stopped, Unreadable};
use api::events::TenantMode;
use api::problem::Problem;
use domain::entities::webhook::EVENT_NAMES;
use domain::index;
use domain::platform::Scope;
use domain::values::time::{Date, Timestamp, Zone};
use serde_json::Value;

const HERE: &str = "/portal/events";
const COLUMNS: [&str; 4] = ["createdAt", "event", "subject", "id"];
const LIMIT: usize = 50;
/// Records that a page looks at.
const LOOKS_MAX: usize = 2_000;

#[derive(Clone)]
struct Asked {
    event: String,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    before: Option<u64>,
}

pub async fn page(visit: &Here<'_>) -> Made {
    if !super::may(visit, Scope::Read) {
        return Err(Problem::scope_missing(Scope::Read.name()).into());
    }
    let day = |name: &str, more: i32| {
        let text = visit.query.filled(name)?;
        Some(Date::parse(text).map(|day| day.plus_days(more).start_in(Zone::Caracas)))
    };
    let (from, to) = (day("from", 0), day("to", 1));
    let bad: Vec<&str> = [("from", &from), ("to", &to)]
        .iter()
        .filter(|(_, day)| matches!(day, Some(Err(_))))
        .map(|(name, _)| *name)
        .collect();
    let asked = Asked {
        event: visit.query.text("event").to_owned(),
        from: from.and_then(Result::ok),
        to: to.and_then(Result::ok),
        before: visit.query.filled("before").and_then(|text| text.parse().ok()),
    };
    let page = Page::new("events", visit.say("Eventos", "Events"));
    let mut list = view(visit, &bad);
    if !bad.is_empty() {
        let text = visit.say(
            "Escribe el día con año, mes y día, por ejemplo 2026-11-30.",
            "Write the day as year, month and day, such as 2026-11-30.",
        );
        return Ok(page.with(list).failed(400, Note::new(Tone::Bad, text)));
    }
    let (tenant, mode) =
        (visit.who.tenant_key, TenantMode { tenant: visit.who.tenant.id, livemode: visit.who.livemode() });
    let is_filtered = list.clear.is_some();
    let read = move |services: &Services, budget: &ReadBudget| newest(services, tenant, mode, &asked, budget);
    let (events, next) = visit.services.read_pool.read_long(visit.services, tenant, read).await?;
    let rows = events.iter().map(|event| row(visit, event));
    list.table = show::table(visit.language, page.title.clone(), &COLUMNS).rows(rows);
    list.table.next = next.map(|before| here(visit, &[("before", &before.to_string())]));
    list.table.none = match is_filtered {
        true => visit.say("Nada coincide con estos filtros.", "Nothing matches these filters."),
        false => visit.say("Todavía no hay nada aquí.", "There is nothing here yet."),
    }
    .to_owned();
    Ok(page.with(list))
}

fn here(visit: &Here<'_>, changes: &[(&str, &str)]) -> String {
    let kept = ["event", "from", "to"]
        .into_iter()
        .filter(|name| !changes.iter().any(|(changed, _)| changed == name));
    let kept: Vec<_> = kept.map(|name| (name, visit.query.text(name))).collect();
    with_query(HERE, &[&kept[..], changes].concat())
}

fn view(visit: &Here<'_>, bad: &[&str]) -> Listed {
    let say = |spanish, english| visit.say(spanish, english);
    let day = |name, label| {
        let input = Input::new(name, label).kind(Kind::Date).value(visit.query.text(name)).needed("");
        let error = if bad.contains(&name) { say("No es un día", "It is no day") } else { "" };
        Input { error: error.to_owned(), ..input }
    };
    let events = EVENT_NAMES.into_iter().map(|name| (name, name));
    let events = [("", say("Todos", "All"))].into_iter().chain(events);
    let event = Input::choice("event", say("Evento", "Event"), events, visit.query.text("event")).needed("");
    let is_filtered = ["event", "from", "to"].iter().any(|name| visit.query.filled(name).is_some());
    let form = Form::query(HERE, "filter", say("Filtrar", "Filter"))
        .input(event)
        .input(day("from", say("Desde", "From")))
        .input(day("to", say("Hasta", "To")));
    Listed {
        lists: lists::links(visit, "events"),
        form,
        is_open: is_filtered,
        clear: is_filtered.then(|| HERE.to_owned()),
        table: Table { none: say("No se buscó.", "Nothing was looked for.").to_owned(), ..Table::default() },
        ..Listed::default()
    }
}

/// The events before a number, newest first, and the number of the last that was looked at if older ones follow.
fn newest(
    services: &Services,
    tenant: u64,
    mode: TenantMode,
    asked: &Asked,
    budget: &ReadBudget,
) -> Result<(Vec<Value>, Option<u64>), Stopped> {
    let reader = services.engine.reader();
    let end = asked.before.map_or_else(|| index::events_end(tenant), |before| index::event(tenant, before));
    let (mut found, mut last) = (Vec::new(), None);
    for (looks, entry) in reader.index_scan(&index::event(tenant, 0), &end, true).enumerate() {
        if looks == LOOKS_MAX {
            return Ok((found, last));
        }
        budget.spend()?;
        let (_, value) = entry.map_err(Unreadable::from)?;
        let read = history::record(reader, history::seq(&value)?)?;
        if asked.from.is_some_and(|from| read.time < from) {
            return Ok((found, None));
        }
        for n in (0..read.record.events.len()).rev() {
            let number = read.record.event_number(n);
            if asked.before.is_some_and(|before| number >= before) {
                continue;
            }
            let is_wanted = asked.to.is_none_or(|to| read.time < to)
                && (asked.event.is_empty() || read.record.events[n].kind.name() == asked.event);
            if is_wanted {
                if found.len() == LIMIT {
                    return Ok((found, last));
                }
                let shown = api::events::show(&read.record, read.time, n, mode);
                found.extend(shown.and_then(|shown| serde_json::from_slice(&shown).ok()));
            }
            last = Some(number);
        }
    }
    Ok((found, None))
}

fn row(visit: &Here<'_>, event: &Value) -> Row {
    let data = &event["data"];
    let (page, id) = [("payments", "paymentId"), ("payouts", "payoutId"), ("merchants", "merchantId")]
        .into_iter()
        .find_map(|(page, name)| Some((page, data[name].as_str()?)))
        .unwrap_or(("", str_of(data, "id")));
    let name = data["externalRef"].as_str().or(data["reference"].as_str()).unwrap_or(id);
    let subject = Cell::text(name).copying(id);
    let subject = if page.is_empty() { subject } else { subject.to(format!("/portal/{page}/{id}")) };
    Row::new([
        show::cell(visit.language, "createdAt", &event["createdAt"]),
        Cell::text(str_of(event, "event")),
        subject,
        Cell::id(str_of(event, "id")),
    ])
}
