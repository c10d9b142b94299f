//! The answer to a tenant's command, of what the engine replied.

use crate::gateway::ask::failure;
use crate::http::respond::{Reply, RequestId, Trace};
use actors::{CommandReply, Settled};
use api::problem::Problem;
use api::refusals::problem;
use api::render::render;
use domain::kept::Shape;
use domain::machine::{Domain, Facts};
use domain::platform::is_live;
use domain::refusal::Refusal;
use domain::values::time::Timestamp;
use hyper::header::RETRY_AFTER;

/// The answer to a tenant's command.
pub fn reply(
    tenant: u64,
    shape: Shape,
    outcome: CommandReply<Domain>,
    request_id: &RequestId,
) -> Result<Reply, Problem> {
    let settled: Box<Settled<Domain>> = outcome.map_err(failure)?;
    if settled.record.is_none() && settled.refusal == Some(Refusal::NotFound) {
        // Nothing is kept of it, and what was not found is named where the request is known.
        return Err(Problem::not_found());
    }
    let first =
        settled.record.as_ref().and_then(|record| record.entities.first()).map(|written| &written.state);
    // Another command may have changed it since, such as the word of an event: that is how it stands.
    let changed = first.zip(settled.entity.as_ref()).map(|(then, now)| (&**then, &**now));
    let changed = changed.filter(|(then, now)| then.id() == now.id() && then != now).map(|(_, now)| now);
    let entity = changed.or(first.map(|state| &**state)).or(settled.entity.as_deref());
    let facts = Facts {
        livemode: is_live(tenant),
        record: settled.record.as_deref().filter(|record| !record.only_keeps()),
        time: Timestamp::from_unix_ms(settled.time_ms),
        entity,
        refusal: settled.refusal.as_ref(),
        request_id: request_id.as_str(),
        related: &[],
    };
    let (status, body) = match settled.record.as_ref().and_then(|record| record.kept.as_ref()) {
        // Rendered already: what is kept is what is sent.
        Some(kept) if changed.is_none() && kept.of.request_id == request_id.as_str() => {
            (kept.status, kept.body.clone())
        }
        _ => render(shape, &facts)?,
    };
    let reply =
        Reply::json(status, body).trace(Trace { seq: settled.seq, timing: Some(settled.timing.into()) });
    Ok(match settled.refusal.as_ref().and_then(|refusal| problem(refusal).retry_after) {
        Some(seconds) => reply.header(RETRY_AFTER, seconds.get().into()),
        None => reply,
    })
}
