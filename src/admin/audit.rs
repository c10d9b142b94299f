//! The audit as it is read: who changed what, newest first (`docs/contract.md, 20.3`).

use super::call::{Call, CallResult, Done, Handler, run, walk};
use crate::gateway::services::Services;
use crate::store::history;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::endpoint::{Endpoint, endpoint};
use api::fields::{Invalid, Kind as _, kind};
use api::openapi::document::Chapter;
use api::openapi::operation::summary;
use api::openapi::schema::Schema;
use api::openapi::{kinds, schema};
use api::operators::show_entry;
use api::page::{ListOf, Page};
use api::query::Query;
use api::value::Bad;
use domain::index::{AuditList, audit, time_bytes};
use domain::platform::audit::{AuditEntry, Who};
use domain::values::ids::{Id, PLATFORM};
use domain::values::time::Timestamp;

const CHAPTER: &str = "Audit";

const TIME_BYTES: usize = 8;

struct Wanted {
    /// `None` for everybody, `Some(None)` for `root`.
    operator: Option<Option<Id>>,
    action: Option<String>,
    tenant: Option<Id>,
    /// The first instant that is asked for, as the positions have it.
    from: Option<Vec<u8>>,
    to: Option<Vec<u8>>,
}

impl Wanted {
    fn list(&self) -> AuditList<'_> {
        match (self.tenant, self.operator, &self.action) {
            (Some(tenant), ..) => AuditList::Tenant(tenant),
            (None, Some(operator), _) => AuditList::Operator(operator),
            (None, None, Some(action)) => AuditList::Action(action),
            (None, None, None) => AuditList::All,
        }
    }

    fn is_meant(&self, entry: &AuditEntry) -> bool {
        self.operator.is_none_or(|wanted| entry.operator.id == wanted)
            && self.action.as_ref().is_none_or(|wanted| entry.action == *wanted)
            && self.tenant.is_none_or(|wanted| entry.tenant == Some(wanted))
    }
}

fn position(time: Timestamp) -> Vec<u8> {
    time_bytes(time).to_vec()
}

fn read_operator(text: &str) -> Result<Option<Id>, Bad> {
    match text {
        Who::ROOT => Ok(None),
        text => Id::parse(text).map(Some).ok_or_else(|| Bad::from("must be root or an operator's id")),
    }
}

fn asked(mut query: Query<'_>, list: ListOf<'_>) -> Result<(Wanted, Page), Invalid> {
    let operator = kind(
        |value| value.text_as(read_operator),
        || {
            let root = format!("\"{}\"", Who::ROOT);
            schema::text().about("An operator's id, or `root`.").example(&root)
        },
    );
    let operator = query.optional("operatorId", operator);
    let action = kinds::sought(1..=64).described(|_| schema::text().example(r#""adjustment.create""#));
    let action = query.optional("action", action);
    let tenant = query.optional("tenantId", kinds::uuid());
    let from = query.optional("from", kinds::instant());
    let to = query.optional("to", kinds::instant().about("Exclusive."));
    let page = query.page(list);
    let sound = query.finish()?;
    let wanted = Wanted {
        operator: operator.get(&sound),
        action: action.get(&sound),
        tenant: tenant.get(&sound).map(Id::from),
        from: from.get(&sound).map(position),
        to: to.get(&sound).map(position),
    };
    Ok((wanted, page.get(&sound)))
}

pub const LIST: Endpoint<Handler> = endpoint(CHAPTER, run!(list), || {
    summary("List who changed what")
        .list(asked)
        .answers(200, "AuditPage", "Newest first")
        .command("audit list", "List who changed what, newest first", "--action adjustment.create")
        .command(
            "adjustment list",
            "List who corrected which balance, newest first",
            "--tenant-id 01930a4b-5c6d-7e8f-9012-3456789a0000",
        )
        .fixed("action", "adjustment.create")
});

async fn list(call: Call) -> CallResult {
    let (wanted, page) = call.listed("audit", asked)?;
    let read = move |services: &Services, budget: &ReadBudget| items(services, &wanted, &page, budget);
    Ok(Done::ok(call.services.read_pool.read(&call.services, PLATFORM, read).await?))
}

fn items(services: &Services, wanted: &Wanted, page: &Page, budget: &ReadBudget) -> Result<Vec<u8>, Stopped> {
    let reader = services.engine.reader();
    // Both are bounds from above: the lower one counts.
    let before = [page.after.as_deref(), wanted.to.as_deref()].into_iter().flatten().min();
    let (parts, bounds) = (vec![audit(wanted.list())], (before, wanted.from.clone()));
    walk(reader, parts, bounds, (page, usize::MAX), budget, |position| {
        let seq = history::seq(position.get(TIME_BYTES..).unwrap_or_default())?;
        let read = history::record(reader, seq)?;
        let entry = read.record.audit.as_deref().filter(|entry| wanted.is_meant(entry));
        Ok(entry.map(|entry| show_entry(entry, &read.record)))
    })
}
pub fn chapter() -> Chapter {
    use api::openapi::schema::{anything, object, text};
    use api::openapi::values::{instant, page, uuid};
    let members = || anything().about("The changed members; null where there is none.");
    Chapter {
        tag: CHAPTER,
        about: "One entry for every call that changed something, and for every look at unmasked \
             personal data, in the record of the change itself. Refused calls and repeats leave \
             none, and secrets are never in one.",
        schemas: vec![
            (
                "AuditEntry",
                object()
                    .member("id", uuid())
                    .member("at", instant())
                    .member("operator", who_schema())
                    .member("peer", text().or_null().about("The address that the call came from."))
                    .member(
                        "action",
                        text()
                            .about("Noun and verb, as on the command line.")
                            .example(r#""tenant.settings""#),
                    )
                    .member("tenantId", uuid().or_null())
                    .member("target", text().or_null().about("The id of what it is about."))
                    .member("before", members())
                    .member("after", members())
                    .member("approvalId", uuid().or_null())
                    .member("requestId", text().or_null()),
            ),
            ("AuditPage", page("AuditEntry")),
        ],
        ..Chapter::default()
    }
}

pub fn operator_id() -> Schema {
    schema::text().pattern("^(root|[0-9a-f-]{36})$").example(r#""root""#)
}

pub fn who_schema() -> Schema {
    schema::object().member("operatorId", operator_id()).member("name", schema::text())
}
