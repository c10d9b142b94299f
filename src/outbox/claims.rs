//! The names under which a bank speaks of an order, taken for it before its word counts: a name
//! that is another operation's already decides nothing about either (`docs/contract.md, 18.3`).

use crate::gateway::names::Held;
use crate::gateway::services::Services;
use crate::store::history::{self, Unreadable};
use actors::Failure;
use domain::bank_names::{self, AMBIGUOUS, Owner};
use domain::index::{self, Space};
use domain::machine::Command;
use domain::rail::{How, RailAnswer, RailReply};
use domain::trace::{BankWord, RailId, Said};
use domain::values::ids::{EntityId, Kind, PLATFORM};
use std::sync::Arc;
use tokio::sync::oneshot;

pub async fn claimed(
    services: Arc<Services>,
    (tenant, entity): (u64, EntityId),
    rail_id: Option<RailId>,
    reply: RailReply,
) -> Command {
    match claim(&services, (tenant, entity), rail_id.as_ref(), &reply).await {
        Ok(Claim::Nameless) => Command::RailReply(reply),
        Ok(Claim::Own(names)) => Command::Found(reply, Box::new(until_durable(services, tenant, names))),
        Ok(Claim::Anothers(word)) => {
            let word = Some(Box::new(word));
            Command::RailReply(undecided(&reply, Said { word, is_ambiguous: true, ..Said::default() }))
        }
        Err(error) => {
            let operation = reply.operation;
            tracing::error!(%error, %operation, "nobody can tell whose the names in a bank's answer are: it decides nothing");
            Command::RailReply(undecided(&reply, Said { word: reply.said.word.clone(), ..Said::default() }))
        }
    }
}

enum Claim {
    Nameless,
    /// Nobody else may take the names until the answer is durable.
    Own(Vec<Held>),
    /// One of the names is another's, or was: in the bank's word, with the reason.
    Anothers(BankWord),
}

async fn claim(
    services: &Services,
    (tenant, id): (u64, EntityId),
    rail_id: Option<&RailId>,
    reply: &RailReply,
) -> Result<Claim, Unreadable> {
    let RailReply { operation, how, answer, said } = reply;
    let says = matches!(answer, RailAnswer::Done { .. } | RailAnswer::Refused { .. } | RailAnswer::Waiting);
    if !says || !matches!(id.kind, Kind::Payment | Kind::Payout) {
        return Ok(Claim::Nameless);
    }
    let reader = services.engine.reader();
    let Some(entity) = history::entity(reader, tenant, id)? else { return Ok(Claim::Nameless) };
    let mut names =
        bank_names::in_answer(&entity.named_orders(), *operation, said.id.as_ref().or(rail_id), answer);
    // Whoever holds one waits for none that comes before it.
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return Ok(Claim::Nameless);
    }
    let mut held = Vec::with_capacity(names.len());
    for name in &names {
        held.push(services.names.reservations.hold_name(PLATFORM, Space::BankName, name).await);
    }
    // The answer to a question that was asked before another operation had the name.
    let entity = history::entity(reader, tenant, id)?;
    if *how == How::Ask
        && entity.is_some_and(|entity| bank_names::is_given_up(&entity.named_orders(), *operation))
    {
        return Ok(Claim::Anothers(word(reply, "its name is another operation's too")));
    }
    for name in &names {
        let Some(value) = reader.index_get(&index::name(PLATFORM, Space::BankName, name))? else { continue };
        let owner =
            Owner::read(&value).ok_or_else(|| Unreadable("a bank's name of no operation".to_owned()))?;
        if owner.operation == *operation {
            continue;
        }
        let other = owner.operation;
        tracing::error!(name, %operation, %other, "a bank gave one name to two operations: it decides about neither, and \
            GET /admin/operations lists both");
        give_up(services, owner, word(reply, &format!("{name} also names {operation}"))).await;
        return Ok(Claim::Anothers(word(reply, &format!("{name} also names {other}"))));
    }
    Ok(Claim::Own(held))
}

/// Puts the operation that had the name first before an operator: as one that no bank can be asked
/// about if it is open, as contradicted if it is done.
async fn give_up(services: &Services, owner: Owner, word: BankWord) {
    let said = Said { word: Some(Box::new(word)), is_ambiguous: true, ..Said::default() };
    for answer in [RailAnswer::Unaskable, RailAnswer::refused(AMBIGUOUS)] {
        let reply = RailReply { operation: owner.operation, how: How::Send, answer, said: said.clone() };
        let told =
            services.engine.continue_entity(owner.tenant, owner.entity, Command::RailReply(reply).into());
        match told.await {
            Ok(told) => {
                let open =
                    told.entity.as_deref().map(|entity| entity.rules().unanswered()).unwrap_or_default();
                if open.iter().any(|open| open.id == owner.operation) {
                    return;
                }
            }
            // It is started again with what is durable, and the other operation says what is wrong.
            Err(Failure::ShuttingDown) => return,
            Err(failure) => {
                let operation = owner.operation;
                tracing::error!(?failure, %operation, "an operation whose name is another's too was not put before \
                    an operator");
                return;
            }
        }
    }
}

fn undecided(reply: &RailReply, said: Said) -> RailReply {
    RailReply { answer: RailAnswer::Unaskable, said, ..reply.clone() }
}

fn word(reply: &RailReply, why: &str) -> BankWord {
    let said = reply.said.word.as_deref().cloned().unwrap_or_default();
    BankWord::new(&said.code, &format!("{why}; the bank: {}", said.text))
}

/// Only when the decision is durable does the index tell of the names.
fn until_durable(services: Arc<Services>, tenant: u64, names: Vec<Held>) -> oneshot::Sender<()> {
    let (decided, until_decided) = oneshot::channel();
    tokio::spawn(async move {
        let _ = until_decided.await;
        let _ = services.engine.continue_view(tenant).await;
        drop(names);
    });
    decided
}
