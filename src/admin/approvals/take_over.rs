//! A restored copy that becomes the active server: asked for by a start, done at once or, where that is
//! configured, when a second person approves.

use super::doing;
use crate::admin::call::{Call, CallResult, Done};
use crate::gateway::ask;
use crate::gateway::ask::failure;
use crate::gateway::services::Services;
use crate::recovery::restored_copy::RestoredCopy;
use crate::store::history;
use crate::store::merge_cursor::MergeCursor;
use api::problem::Problem;
use api::writer::Object;
use domain::commands::{Command, KeyedCommand};
use domain::index::{self, AuditList};
use domain::platform::acts::{Act, Deed};
use domain::platform::audit::{AuditEntry, Who};
use domain::platform::{PLATFORM, PlatformAsk};
use domain::resources::approvals::{self, Approvable, Approval, AskedCall, Status};
use domain::values::ids::{EntityId, Id};
use domain::values::time::Timestamp;

/// The name of the act, and of the call that waits.
pub const ACTION: &str = "take-over";
/// The command that asks for it.
const COMMAND: &str = "serve --take-over";

/// The outcome of a take-over that a start asked for.
pub enum Begun {
    /// The take-over is written down; the copy may open.
    Recorded,
    /// The take-over waits for a second person.
    Waits(Id),
}

/// Whoever has the machine, in whose name a start asks.
fn machine() -> Who {
    Who { id: None, name: COMMAND.into() }
}

/// Begins the take-over of a copy that `made_by` made with the records up to `seq`.
pub async fn begin(services: &Services, made_by: &str, seq: u64) -> Result<Begun, Problem> {
    // The last run may have ended before the marker went.
    if recorded_after(services, seq)? {
        return Ok(Begun::Recorded);
    }
    if !services.callers.approvals.of.contains(&Approvable::TakeOver) {
        let entry = AuditEntry {
            at: services.now(),
            operator: machine(),
            peer: None,
            action: ACTION.to_owned(),
            tenant: None,
            target: None,
            before: None,
            after: None,
            approval: None,
            consent: None,
            request_id: None,
        };
        record(services, (made_by, seq), entry).await?;
        return Ok(Begun::Recorded);
    }
    for id in doing::pending(services)? {
        let known = super::find(services, id)?.filter(|known| known.action == Approvable::TakeOver);
        if known.is_some_and(|known| known.status(services.now()) == Status::Pending) {
            return Ok(Begun::Waits(id));
        }
    }
    asked(services, made_by, seq).await.map(Begun::Waits)
}

async fn asked(services: &Services, made_by: &str, seq: u64) -> Result<Id, Problem> {
    let id = services.fresh_id(PLATFORM);
    let call = AskedCall {
        by: machine(),
        peer: None,
        request_id: None,
        operation: ACTION.to_owned(),
        path: COMMAND.to_owned(),
        query: None,
        body: shown(made_by, seq),
        tenant: None,
        target: None,
    };
    let approval = Approval {
        id,
        action: Approvable::TakeOver,
        call,
        created_at: Timestamp::EPOCH,
        expires_at: Timestamp::EPOCH,
        decision: None,
    };
    let valid_ms = services.callers.approvals.valid_ms;
    let ask = approvals::Command::Ask { approval: Box::new(approval), valid_ms };
    let command = KeyedCommand::from(Command::from(ask));
    let asked = services.engine.ask_entity(PLATFORM, EntityId::approval(id), true, command, None, None);
    asked.await.map_err(failure)?;
    Ok(id)
}

/// Does what was approved: the record first, then the marker goes, then the outbound opens.
pub async fn go_on(call: &Call, entry: AuditEntry) -> CallResult {
    let services = &call.services;
    let data = services.site.disk.data();
    let Some(copy) = RestoredCopy::must_be_whole(data).map_err(Problem::internal_error)? else {
        return Ok(Done::ok(Object::new().plain("outbound", "open").end()));
    };
    let (made_by, seq) = (copy.made_by, copy.tip.map_or(0, |tip| tip.seq));
    record(services, (&made_by, seq), entry).await?;
    RestoredCopy::remove(data).map_err(Problem::internal_error)?;
    services.site.outbound.take_over();
    tracing::info!(made_by, seq, "took over: live banks and webhooks are open");
    Ok(Done::ok(Object::reopened(shown(&made_by, seq)).plain("outbound", "open").end()))
}

async fn record(services: &Services, (made_by, seq): (&str, u64), entry: AuditEntry) -> Result<(), Problem> {
    let act = Act {
        who: entry.operator.name.to_string(),
        from: entry.peer.clone(),
        request_id: entry.request_id.clone(),
        deed: Deed::TookOver { made_by: made_by.to_owned(), seq },
    };
    let after = String::from_utf8(shown(made_by, seq)).ok();
    let entry = Box::new(AuditEntry { after, ..entry });
    ask::platform(services, PlatformAsk::Note(act), None, Some(entry)).await.map(drop)
}

fn shown(made_by: &str, seq: u64) -> Vec<u8> {
    Object::new().text("madeBy", made_by).number("walSeq", seq).end()
}

/// Whether the log says that the copy took over, after what it was made with.
fn recorded_after(services: &Services, seq: u64) -> Result<bool, Problem> {
    let part = index::audit(AuditList::Action(ACTION));
    let moment = services.engine.reader().index_moment();
    let mut newest = MergeCursor::new(&moment, vec![part], None, None, None)?;
    let Some(position) = newest.take()? else { return Ok(false) };
    Ok(history::seq(position.get(8..).unwrap_or_default())? > seq)
}
