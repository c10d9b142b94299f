//! Events of the tenant, newest first: what webhooks were told of.

use super::{Here, lists};
use crate::gateway::services::Services;
use crate::pages::inside::segment;
use crate::pages::logs::{self, Log, Newest, Span};
use crate::pages::show::{self, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{Cell, Row};
use crate::store::history;
use crate::store::read_budget::{ReadBudget, Stopped, Unreadable};
use api::events::TenantMode;
use api::problem::Problem;
use domain::entities::webhook::EVENT_NAMES;
use domain::index;
use domain::platform::Scope;
use serde_json::{Value, json};

const COLUMNS: &[&str] = &["createdAt", "event", "subject", "id"];
const IN_FILE: &[&str] = &["createdAt", "event", "id", "subject", "subjectId"];

pub async fn answer(visit: &Here<'_>) -> Result<Shown, Problem> {
    if !super::may(visit, Scope::Read) {
        return visit.shown(Err(Problem::scope_missing(Scope::Read.name()).into()));
    }
    let (tenant, mode) =
        (visit.who.tenant_key, TenantMode { tenant: visit.who.tenant.id, livemode: visit.who.livemode() });
    let wanted = visit.query.text("event").to_owned();
    let read = move |services: &Services, budget: &ReadBudget, span: &Span| {
        newest(services, (tenant, mode), &wanted, span, budget)
    };
    let log = Log {
        name: "events",
        title: ["Eventos", "Events"],
        path: "/portal/events",
        lists: lists::links(visit, "events"),
        kept: Vec::new(),
        filters: vec![logs::choice(visit, "event", ["Evento", "Event"], &EVENT_NAMES)],
        picked: None,
        columns: COLUMNS,
        in_file: IN_FILE,
        counted: "event",
        now: crate::pages::statement::present(visit.services, tenant).await,
    };
    logs::answer(visit, (log, tenant), read, |event| row(visit, event)).await
}

/// POST /portal/events/:id/resend, from the page of what the event is about.
pub async fn resend(visit: &Here<'_>) -> Result<Shown, Problem> {
    let outcome = visit.post(&format!("/v1/events/{}/resend", segment(visit.id())), &json!({})).await;
    let page = if visit.form.text("page") == "payouts" { "payouts" } else { "payments" };
    let to = format!("/portal/{page}/{}?done=resent", segment(visit.form.text("id")));
    match outcome {
        Ok(_) => Ok(Shown::See(to)),
        Err(refused) => visit.failed(Err(refused.clone()), &refused),
    }
}

/// The newest events, and the number of the last that was looked at if older ones follow.
fn newest(
    services: &Services,
    (tenant, mode): (u64, TenantMode),
    wanted: &str,
    span: &Span,
    budget: &ReadBudget,
) -> Result<Newest, Stopped> {
    let reader = services.engine.reader();
    let before: Option<u64> = span.before.as_deref().and_then(|text| text.parse().ok());
    let end = before.map_or_else(|| index::events_end(tenant), |before| index::event(tenant, before));
    let going_on = |last: Option<u64>| last.map(|number| number.to_string());
    let (mut found, mut last) = (Vec::new(), None);
    for (looks, entry) in reader.index_scan(&index::event(tenant, 0), &end, true).enumerate() {
        if looks == span.looks {
            return Ok((found, going_on(last)));
        }
        budget.spend()?;
        let (_, value) = entry.map_err(Unreadable::from)?;
        let read = history::record(reader, history::seq(&value)?)?;
        if span.from.is_some_and(|from| read.time < from) {
            return Ok((found, None));
        }
        for n in (0..read.record.events.len()).rev() {
            let number = read.record.event_number(n);
            if before.is_some_and(|before| number >= before) {
                continue;
            }
            let is_wanted = span.to.is_none_or(|to| read.time < to)
                && (wanted.is_empty() || read.record.events[n].kind.name() == wanted);
            if is_wanted {
                if found.len() == span.most {
                    return Ok((found, going_on(last)));
                }
                let shown = api::events::show(&read.record, read.time, n, mode);
                found.extend(shown.and_then(|shown| serde_json::from_slice(&shown).ok()).map(with_subject));
            }
            last = Some(number);
        }
    }
    Ok((found, None))
}

/// With what the event is about: its reference and its id.
fn with_subject(mut event: Value) -> Value {
    let data = &event["data"];
    let id = ["paymentId", "payoutId", "merchantId", "id"].into_iter().find_map(|name| data[name].as_str());
    let id = Value::from(id);
    let name = ["externalRef", "reference"].into_iter().find_map(|name| data[name].as_str());
    let name = name.map_or_else(|| id.clone(), Value::from);
    (event["subject"], event["subjectId"]) = (name, id);
    event
}

fn row(visit: &Here<'_>, event: &Value) -> Row {
    let pages = [("payments", "paymentId"), ("payouts", "payoutId"), ("merchants", "merchantId")];
    let page = pages.into_iter().find(|(_, name)| event["data"][*name].is_string());
    let subject = Cell::text(str_of(event, "subject")).copying(str_of(event, "subjectId"));
    let subject = match page {
        Some((page, _)) => subject.to(format!("/portal/{page}/{}", str_of(event, "subjectId"))),
        None => subject,
    };
    Row::new([
        show::cell(visit.language, "createdAt", &event["createdAt"]),
        Cell::text(str_of(event, "event")),
        subject,
        Cell::id(str_of(event, "id")),
    ])
}
