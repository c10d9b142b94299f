//! Asks the engine for the operator, and for what must go on once it has begun: failures become
//! problems, and the directory of callers learns what is durable before anybody is answered.

use crate::gateway::services::{Callers, Services};
pub use crate::gateway::services::{defect, failure, timing};
use crate::http::respond::Trace;
use crate::store::history;
use actors::{CommandReply, Engine, Failure, Settled};
use api::problem::Problem;
use api::refusals;
use domain::index::Space;
use domain::kept::KeepRef;
use domain::machine::Domain;
use domain::machine::{Command, KeyedCommand};
use domain::platform::Act;
use domain::platform::PlatformChange;
use domain::platform::audit::AuditEntry;
use domain::record::Record;
use domain::resources::tenants::PlatformAsk;
use domain::values::ids::{EntityId, Id, PLATFORM};
use domain::values::time::Timestamp;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest time that a change which is already decided is retried while the engine is full.
const PATIENCE: Duration = Duration::from_secs(10);
const REST: Duration = Duration::from_millis(20);

pub async fn book(
    engine: &Engine<Domain>,
    tenant_key: u64,
    command: KeyedCommand,
) -> Result<Box<Settled<Domain>>, Problem> {
    accepted(engine.ask_book(tenant_key, command, None).await.map_err(failure)?)
}

pub fn accepted(settled: Box<Settled<Domain>>) -> Result<Box<Settled<Domain>>, Problem> {
    match &settled.refusal {
        Some(refusal) => Err(refusals::problem(refusal)),
        None => Ok(settled),
    }
}

/// The id that a reference names when everything is durable that the tenant's book has decided by
/// now. The outcome of something durable takes nothing of the tenant's share.
pub async fn named_now(
    services: &Services,
    tenant_key: u64,
    space: Space,
    name: &str,
    is_outcome: bool,
) -> Result<Option<Id>, Problem> {
    let engine = &services.engine;
    let seen = match is_outcome {
        true => engine.continue_view(tenant_key).await,
        false => engine.view(tenant_key).await,
    };
    seen.map_err(failure)?;
    Ok(history::named(engine.reader(), tenant_key, space, name)?)
}

pub async fn book_patiently(
    engine: &Engine<Domain>,
    tenant_key: u64,
    ask: impl Fn() -> KeyedCommand,
) -> Result<Box<Settled<Domain>>, Problem> {
    let asked = patiently(Instant::now(), || engine.ask_book(tenant_key, ask(), None)).await;
    accepted(asked.map_err(failure)?)
}

/// Asks an entity for a change that must go on, because a part of it is already written elsewhere:
/// while the engine is full it tries again, for some seconds from `since` on.
pub async fn entity_patiently(
    engine: &Engine<Domain>,
    tenant_key: u64,
    id: EntityId,
    since: Instant,
    ask: impl Fn() -> KeyedCommand,
) -> CommandReply<Domain> {
    patiently(since, || engine.ask_entity(tenant_key, id, false, ask(), None, None)).await
}

async fn patiently<F: Future<Output = CommandReply<Domain>>>(
    since: Instant,
    ask: impl Fn() -> F,
) -> CommandReply<Domain> {
    loop {
        match ask().await {
            Err(Failure::Overloaded | Failure::ShareFull) if since.elapsed() < PATIENCE => {
                tokio::time::sleep(REST).await
            }
            outcome => return outcome,
        }
    }
}

/// Has the bank asked now about an entity's pending operation, in a task of its own. Nothing happens
/// when it is not at a bank; if nobody can ask now, its next look comes all the same.
pub fn look_now(services: &Arc<Services>, tenant_key: u64, id: EntityId) {
    let services = Arc::clone(services);
    tokio::spawn(async move {
        let ask = || Command::Look.into();
        let looked = entity_patiently(&services.engine, tenant_key, id, Instant::now(), ask).await;
        if let Err(failure) = looked {
            tracing::warn!(?id, ?failure, "the bank could not be asked about an operation before its time");
        }
    });
}

pub struct Changed {
    pub record: Option<Arc<Record>>,
    pub trace: Trace,
}

impl Changed {
    pub fn change(&self) -> Option<&PlatformChange> {
        self.record.as_ref().and_then(|record| record.platform.as_deref())
    }
}

/// Asks the platform's book, and tells the directory of callers. The record keeps an answer for a key,
/// and has the entry of the audit of whoever asks.
pub async fn platform(
    services: &Services,
    ask: PlatformAsk,
    keep: Option<KeepRef>,
    audit: Option<Box<AuditEntry>>,
) -> Result<Changed, Problem> {
    must_be_decided_here(services, &ask)?;
    let command = KeyedCommand::from(Command::Platform(Box::new(ask))).keeping(keep).audited(audit);
    let settled = book(&services.engine, PLATFORM, command).await?;
    Ok(learned(&services.callers, *settled).await)
}

pub async fn platform_patiently(
    services: &Services,
    ask: impl Fn() -> PlatformAsk,
) -> Result<Changed, Problem> {
    must_be_decided_here(services, &ask())?;
    let settled =
        book_patiently(&services.engine, PLATFORM, || Command::Platform(Box::new(ask())).into()).await?;
    Ok(learned(&services.callers, *settled).await)
}

/// Another partition than the first only follows what that decides.
fn must_be_decided_here(services: &Services, ask: &PlatformAsk) -> Result<(), Problem> {
    if services.callers.partition != 0 && ask.is_first_partitions() {
        return Err(Problem::no_leader());
    }
    Ok(())
}

#[derive(Default)]
pub struct Done {
    pub act: Option<Act>,
    pub audit: Option<Box<AuditEntry>>,
}

/// Records an operator's act and its answer, also when that was a refusal, for the Idempotency-Key
/// under which it was asked. It tries again while the engine is full, because the act has already
/// happened.
pub async fn answered(
    services: &Services,
    done: Done,
    keep: Option<KeepRef>,
    (status, body): (u16, &[u8]),
) -> Result<Trace, Problem> {
    let Done { act, audit } = done;
    let ask = || {
        Command::Platform(Box::new(PlatformAsk::Answered { act: act.clone(), status, body: body.to_vec() }))
    };
    let settled = book_patiently(&services.engine, PLATFORM, || {
        KeyedCommand::from(ask()).keeping(keep.clone()).audited(audit.clone())
    })
    .await?;
    Ok(learned(&services.callers, *settled).await.trace)
}

/// Records, like [`answered`], the answer to what has been done already. A failure then says neither
/// that nothing was done nor that it was written down.
pub async fn done_and_answered(
    services: &Services,
    done: Done,
    keep: Option<KeepRef>,
    shown: (u16, &[u8]),
) -> Result<Trace, Problem> {
    answered(services, done, keep, shown).await.map_err(done_not_written)
}

pub(super) fn done_not_written(problem: Problem) -> Problem {
    let why = match problem.private_message() {
        Some(why) => format!("{}: {why}", problem.code),
        None => problem.code.to_owned(),
    };
    let message = "it was done, and could not be written down; look before you do it again".into();
    Problem { message, ..Problem::storage_unavailable() }.because(why)
}

async fn learned(callers: &Callers, settled: Settled<Domain>) -> Changed {
    let at = Timestamp::from_unix_ms(settled.time_ms);
    let changed = Changed {
        record: settled.record,
        trace: Trace { seq: settled.seq, timing: Some(timing(settled.timing)) },
    };
    if let Some(change) = changed.change() {
        callers.directory.learn(change, at);
        match change {
            PlatformChange::Operator(operator) => callers.operators.learn(operator),
            PlatformChange::Followed(followed) => {
                followed.operators.iter().for_each(|operator| callers.operators.learn(operator));
            }
            _ => {}
        }
        if let (Some(followers), Some(seq)) = (&callers.followers, changed.trace.seq) {
            followers.until_followed(seq, change, &callers.directory).await;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_is_not_said_to_be_undone() {
        for problem in [
            Problem::shutting_down(),
            Problem::overloaded(1),
            Problem::account_halted(),
            Problem::storage_unavailable().because("the disk is gone"),
        ] {
            let (code, why) = (problem.code, problem.private_message());
            let told = done_not_written(problem);
            assert_eq!((told.status, told.code), (503, "storage_unavailable"));
            assert!(told.message.starts_with("it was done"), "{}", told.message);
            let private = told.private_message().expect("the failure behind it");
            assert!(private.contains(code) && private.contains(&why.unwrap_or_default()), "{private}");
        }
    }
}
