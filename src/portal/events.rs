//! Events of the tenant, newest first: what webhooks were told of.

use super::{Here, lists};
use crate::gateway::services::Services;
use crate::pages::inside::segment;
use crate::pages::logs::{self, Each, GoesOn, Log, Span};
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
use domain::values::time::Timestamp;
use serde_json::{Value, json};
use wal::Reader;

const COLUMNS: &[&str] = &["createdAt", "event", "subject", "id"];
const IN_FILE: &[&str] = &["createdAt", "event", "id", "subject", "subjectId"];

pub async fn answer(visit: &Here<'_>) -> Result<Shown, Problem> {
    if !super::may(visit, Scope::Read) {
        return visit.shown(Err(Problem::scope_missing(Scope::Read.name()).into()));
    }
    let (tenant, mode) =
        (visit.who.tenant_key, TenantMode { tenant: visit.who.tenant.id, livemode: visit.who.livemode() });
    let wanted = visit.query.text("event").to_owned();
    let read = move |services: &Services, budget: &ReadBudget, span: &Span, each: &mut Each<'_>| {
        newest(services.engine.reader(), (tenant, mode), &wanted, (span, budget), each)
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
    reader: &Reader,
    (tenant, mode): (u64, TenantMode),
    wanted: &str,
    (span, budget): (&Span, &ReadBudget),
    each: &mut Each<'_>,
) -> GoesOn {
    let before: Option<u64> = span.before.as_deref().and_then(|text| text.parse().ok());
    let end = match (before, span.to) {
        (Some(before), _) => index::event(tenant, before),
        (None, Some(to)) => end_before(reader, tenant, to, budget)?,
        (None, None) => index::events_end(tenant),
    };
    let (mut found, mut last) = (0, None);
    for (looks, entry) in reader.index_scan(&index::event(tenant, 0), &end, true).enumerate() {
        if looks == span.looks {
            return Ok(last);
        }
        budget.spend()?;
        let (_, value) = entry.map_err(Unreadable::from)?;
        let read = history::record(reader, history::seq(&value)?)?;
        if span.from.is_some_and(|from| read.time < from) {
            return Ok(None);
        }
        for n in (0..read.record.events.len()).rev() {
            // One record may have a thousand.
            budget.rest();
            let number = read.record.event_number(n);
            if before.is_some_and(|before| number >= before) {
                continue;
            }
            let kind = read.record.events[n].kind.name();
            if span.to.is_none_or(|to| read.time < to) && (wanted.is_empty() || kind == wanted) {
                if found == span.most {
                    return Ok(last);
                }
                found += 1;
                each(kind, &|| {
                    let shown = api::events::show(&read.record, read.time, n, mode)?;
                    serde_json::from_slice(&shown).ok().map(with_subject)
                });
            }
            last = Some(number.to_string());
        }
    }
    Ok(None)
}

/// The end of the events before an instant.
fn end_before(reader: &Reader, tenant: u64, to: Timestamp, budget: &ReadBudget) -> Result<Vec<u8>, Stopped> {
    let start = index::event(tenant, 0);
    let too_late = |end: Option<u64>| -> Result<Option<u64>, Stopped> {
        budget.spend()?;
        let end = end.map_or_else(|| index::events_end(tenant), |end| index::event(tenant, end));
        let last = reader.index_scan(&start, &end, true).next().transpose().map_err(Unreadable::from)?;
        let Some((key, value)) = last else { return Ok(None) };
        let is_late = history::record(reader, history::seq(&value)?)?.time >= to;
        let first = history::seq(key.last_chunk::<8>().map_or(&[][..], |number| number))?;
        Ok(is_late.then_some(first))
    };
    let end = first_too_late(too_late)?;
    Ok(end.map_or_else(|| index::events_end(tenant), |end| index::event(tenant, end)))
}

/// The number of the first event that is too late, found by halves: as numbers grow, instants do not run backwards.
/// `too_late` tells of the last record that begins before a number, or of the last of all, its first event if that is
/// too late.
fn first_too_late<E>(
    mut too_late: impl FnMut(Option<u64>) -> Result<Option<u64>, E>,
) -> Result<Option<u64>, E> {
    let Some(last) = too_late(None)? else { return Ok(None) };
    // Nothing that begins before the one is too late; something that begins before the other is.
    let (mut early, mut late) = (0, last.saturating_add(1));
    while late - early > 1 {
        let middle = early + (late - early) / 2;
        match too_late(Some(middle))? {
            Some(first) => late = first.saturating_add(1),
            None => early = middle,
        }
    }
    Ok(Some(early))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn the_place_of_an_instant_is_found_by_halves() {
        // Records that begin at these numbers, and the instants of each.
        let long: Vec<(u64, i64)> = (0..1_000_000).map(|n| (3 * n + 1, n as i64 / 7)).collect();
        for records in [&[][..], &[(1, 10)], &[(1, 10), (1_001, 10), (1_002, 20)], &long] {
            for to in [0, 10, 11, 20, 21, 70_000, i64::MAX] {
                let mut looks = 0;
                let found = first_too_late(|end| {
                    looks += 1;
                    let end = records.partition_point(|(first, _)| end.is_none_or(|end| *first < end));
                    let last = end.checked_sub(1).map(|at| records[at]);
                    Ok::<_, Infallible>(last.filter(|(_, at)| *at >= to).map(|(first, _)| first))
                });
                let expected = records.iter().find(|(_, at)| *at >= to).map(|(first, _)| *first);
                assert_eq!(found, Ok(expected), "{to} among {}", records.len());
                assert!(looks <= 24, "{looks} looks");
            }
        }
    }
}
