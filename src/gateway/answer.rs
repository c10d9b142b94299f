//! The answer to a tenant's command, of what the engine replied.

use crate::gateway::ask::{failure, timing};
use crate::gateway::secrets::TenantSecrets;
use crate::gateway::services::Services;
use crate::http::respond::{Reply, RequestId, Trace};
use actors::{CommandReply, Settled};
use api::answer::{Facts, Show};
use api::problem::Problem;
use api::refusals::problem;
use domain::machine::Domain;
use domain::record::Kept;
use domain::refusal::Refusal;
use domain::values::ids::Id;
use domain::values::mode::is_live;
use domain::values::time::Timestamp;
use hyper::header::RETRY_AFTER;

/// How an operation answers: the function that shows what was decided, and the last id in the path.
#[derive(Clone, Copy, Default)]
pub struct Shows {
    pub show: Option<Show>,
    pub about: Option<Id>,
}

impl Shows {
    /// What a row shows, with the parameters of a path to it.
    pub fn of<'p>(show: Option<Show>, parameters: impl Iterator<Item = &'p str>) -> Shows {
        Shows { show, about: parameters.filter_map(Id::parse).last() }
    }

    /// An operation whose answer needs nothing of the path.
    pub fn by(show: Show) -> Shows {
        Shows { show: Some(show), about: None }
    }
}

/// The answer to a tenant's command.
pub fn reply(
    services: &Services,
    tenant: u64,
    shows: Shows,
    outcome: CommandReply<Domain>,
    request_id: &RequestId,
) -> Result<Reply, Problem> {
    let settled: Box<Settled<Domain>> = outcome.map_err(failure)?;
    if settled.record.is_none() && settled.refusal == Some(Refusal::NotFound) {
        // Nothing is kept of it, and what was not found is named where the request is known.
        return Err(Problem::not_found());
    }
    let written = settled.record.as_ref().and_then(|record| record.entities.first());
    let written = written.map(|written| &*written.state);
    // Another command may have changed it since, such as the word of an event: that is how it stands.
    let now = settled.entity.as_deref();
    let entity = match (written, now) {
        (Some(written), Some(now)) if written.id() == now.id() => Some(now),
        (written, now) => written.or(now),
    };
    // What an operator said meanwhile is in the record of it, for the request that waits.
    let kept = settled.record.as_ref().and_then(|record| record.kept.as_ref());
    let said = kept.filter(|kept| kept.of.request_id == request_id.as_str()).and_then(Kept::refusal);
    let refusal = settled.refusal.as_ref().or(said);
    let facts = Facts {
        livemode: is_live(tenant),
        record: settled.record.as_deref().filter(|record| !record.only_keeps()),
        time: Timestamp::from_unix_ms(settled.time_ms),
        entity,
        refusal,
        request_id: request_id.as_str(),
        related: &[],
        about: shows.about,
        secrets: &TenantSecrets { services, tenant, sent: None },
    };
    let (status, body) = facts.shown_by(shows.show)?;
    let reply =
        Reply::json(status, body).trace(Trace { seq: settled.seq, timing: Some(timing(settled.timing)) });
    Ok(match refusal.and_then(|refusal| problem(refusal).retry_after) {
        Some(seconds) => reply.header(RETRY_AFTER, seconds.get().into()),
        None => reply,
    })
}
