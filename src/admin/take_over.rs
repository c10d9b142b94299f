//! A restored copy that becomes the active server, and the record of it. Who has to approve that is in
//! `approvals.rs`.

use crate::gateway::ask;
use crate::gateway::services::Services;
use crate::recovery::restored_copy::RestoredCopy;
use crate::store::history;
use crate::store::merge_cursor::MergeCursor;
use api::problem::Problem;
use api::writer::Object;
use domain::entities::approval::AskedCall;
use domain::index::{self, AuditList};
use domain::platform::Act;
use domain::platform::audit::{AuditEntry, Who};
use domain::resources::tenants::PlatformAsk;

pub const ACTION: &str = "take-over";
const COMMAND: &str = "serve --take-over";

fn machine() -> Who {
    Who { id: None, name: COMMAND.into() }
}

pub fn call(made_by: &str, seq: u64) -> AskedCall {
    AskedCall {
        by: machine(),
        peer: None,
        request_id: None,
        operation: ACTION.to_owned(),
        path: COMMAND.to_owned(),
        query: None,
        body: shown(made_by, seq),
        tenant: None,
        target: None,
    }
}

pub async fn record_of_start(services: &Services, copy: (&str, u64)) -> Result<(), Problem> {
    record(services, copy, AuditEntry::by(machine(), services.now(), ACTION)).await
}

/// Does what was approved: the record first, then the marker goes, then the outbound opens.
pub async fn go_on(services: &Services, entry: AuditEntry) -> Result<Vec<u8>, Problem> {
    let data = &services.site.disk.data;
    let Some(copy) = RestoredCopy::must_be_whole(data).map_err(Problem::internal_error)? else {
        return Ok(Object::new().plain("outbound", "open").end());
    };
    let (made_by, seq) = (copy.made_by, copy.tip.map_or(0, |tip| tip.seq));
    record(services, (&made_by, seq), entry).await?;
    if services.is_rehearsal() {
        return Ok(Object::reopened(shown(&made_by, seq)).plain("outbound", "open").end());
    }
    RestoredCopy::remove(data).map_err(Problem::internal_error)?;
    services.site.outbound.take_over();
    tracing::info!(made_by, seq, "took over: live banks and webhooks are open");
    Ok(Object::reopened(shown(&made_by, seq)).plain("outbound", "open").end())
}

async fn record(services: &Services, (made_by, seq): (&str, u64), entry: AuditEntry) -> Result<(), Problem> {
    let act = Act::TookOver { made_by: made_by.to_owned(), seq };
    let after = String::from_utf8(shown(made_by, seq)).ok();
    let entry = Box::new(AuditEntry { after, ..entry });
    ask::platform(services, PlatformAsk::Note(act), None, Some(entry)).await.map(drop)
}

fn shown(made_by: &str, seq: u64) -> Vec<u8> {
    Object::new().text("madeBy", made_by).number("walSeq", seq).end()
}

pub fn recorded_after(services: &Services, seq: u64) -> Result<bool, Problem> {
    let part = index::audit(AuditList::Action(ACTION));
    let moment = services.engine.reader().index_moment();
    let mut newest = MergeCursor::new(&moment, vec![part], None, None, None)?;
    let Some(position) = newest.take()? else { return Ok(false) };
    Ok(history::seq(position.get(8..).unwrap_or_default())? > seq)
}
