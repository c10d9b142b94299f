//! The audit as it is read: who changed what, newest first (`docs/contract.md, 20.3`).

use super::call::{Call, CallResult, Handler, run};
use crate::gateway::services::Services;
use crate::store::history;
use api::endpoint::chapter;
use api::fields::{Invalid, Kind as _, kind, read};
use api::openapi::{kinds, schema, values};
use api::operators::{entry_schema, show_entry};
use api::page::{ListOf, Page};
use api::query::Query;
use api::value::Bad;
use domain::index::{AuditList, audit, time_bytes};
use domain::platform::audit::{AuditEntry, Who};
use domain::values::ids::Id;
use domain::values::time::Timestamp;

const TIME_BYTES: usize = 8;

struct Wanted {
    /// `None` for everybody, `Some(None)` for `root`.
    operator: Option<Option<Id>>,
    action: Option<String>,
    tenant: Option<Id>,
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
    let action = kinds::sought(1..=64).described(|_| schema::text().example(r#""adjustment.create""#));
    Ok(read!(query {
        optional operator = "operatorId", operator;
        optional action = "action", action;
        optional tenant = "tenantId", kinds::id();
        optional from = "from", kinds::instant() => from.map(position);
        optional to = "to", kinds::instant().about("Exclusive.") => to.map(position);
        got page = query.page(list);
    } => (Wanted { operator, action, tenant, from, to }, page)))
}

chapter! { "Audit", "One entry for every call that changed something, and for every look at unmasked personal \
    data, in the record of the change itself. Refused calls and repeats leave none, and secrets are never in \
    one.", {
        "AuditEntry" = entry_schema();
        "AuditPage" = values::page("AuditEntry");
    }
    LIST = run!(list), "List who changed what" => {
        command "audit list", "List who changed what, newest first", "--action adjustment.create";
        command "adjustment list", "List who corrected which balance, newest first",
            "--tenant-id 01930a4b-5c6d-7e8f-9012-3456789a0000";
        fixed "action", "adjustment.create";
        list asked;
        answers 200, "AuditPage", "Newest first";
    };
}

async fn list(call: Call) -> CallResult {
    let (mut wanted, page) = call.listed("audit", asked)?;
    let (parts, bounds) = (vec![audit(wanted.list())], (wanted.to.take(), wanted.from.take()));
    let show = move |services: &Services, position: &[u8]| {
        let seq = history::seq(position.get(TIME_BYTES..).unwrap_or_default())?;
        let read = history::record(services.engine.reader(), seq)?;
        // With an account its records go, and their entries: they are listed where it is.
        if services.callers.is_elsewhere(read.tenant) {
            return Ok(None);
        }
        let entry = read.record.audit.as_deref().filter(|entry| wanted.is_meant(entry));
        Ok(entry.map(|entry| show_entry(entry, &read.record)))
    };
    call.walk(parts, bounds, (page, usize::MAX), show).await
}
