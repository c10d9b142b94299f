//! The accepting of what a statement's lines answer: operations without an outcome get the bank's, as if
//! it had said so, each in a record of its own.

use super::{ACCEPTED_MAX, PAGE, RESULTS, amount, named, read_items};
use crate::admin::call::{Body, Call, Done, Outcome};
use crate::admin::operations::{self, Word};
use crate::gateway::services::Services;
use crate::reconciliation::entries::{self, Entry};
use crate::reconciliation::shelf::Status;
use crate::store::history;
use api::fields::Fields;
use api::problem::Problem;
use api::writer::Object;
use domain::platform::audit::AuditEntry;
use domain::rail::RailAnswer;
use domain::resources::operations::unanswered;
use domain::resources::verification::references_of_two;
use domain::values::ids::{EntityId, Id};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The proposals that are to be accepted.
enum Chosen {
    All,
    These(Vec<Id>),
}

/// POST /admin/reconciliations/:id/accept
pub async fn accept(call: Call) -> Outcome {
    let chosen = chosen(&call.body)?;
    let (id, summary) = named(&call)?;
    if let Some(waiting) = call.waits_for_approval().await? {
        return Ok(waiting);
    }
    let mut refused: Vec<(Id, &'static str)> = Vec::new();
    let mut accepted = 0u64;
    if summary.status == Status::Done {
        let (proposals, others) = proposals(&call.services, id, chosen).await?;
        refused.extend(others.into_iter().map(|item| (item, "not_found")));
        for (operation, lines) in by_operation(proposals) {
            match resolve(&call, id, operation, &lines).await {
                Ok(()) => accepted += lines.len() as u64,
                Err(problem) => refused.extend(lines.iter().map(|line| (line.item, problem.code))),
            }
        }
    } else if let Chosen::These(items) = chosen {
        refused.extend(items.into_iter().map(|item| (item, "not_found")));
    }
    if accepted == 0 && !call.signature.has_consent() {
        // Nothing changed, so nobody is named for it.
        drop(call.signature.take());
    }
    let shown =
        refused.iter().map(|(item, error)| Object::new().plain("id", item).text("error", error).end());
    Ok(Done::ok(Object::new().number("accepted", accepted).list("refused", shown).end()))
}

fn chosen(body: &Body) -> Result<Chosen, Problem> {
    let mut fields: Fields<'_> = body.fields()?;
    let all = fields.optional("all", |value| value.boolean());
    let items =
        fields.optional("items", |value| value.list(1..=ACCEPTED_MAX, |item| item.uuid().map(Id::from)));
    match (fields.has("all"), fields.has("items")) {
        (true, true) => fields.bad("items", "does not go with `all`"),
        (false, false) => {
            fields.bad("items", "is required without `all`");
        }
        _ => {}
    }
    if all.peek_some() == Some(&false) {
        fields.bad("all", "must be true");
    }
    let sound = fields.finish()?;
    let _ = all.get(&sound);
    Ok(items.get(&sound).map_or(Chosen::All, Chosen::These))
}

/// A line that answers an operation.
struct Proposal {
    item: Id,
    operation: Id,
    reference: String,
    amount: String,
}

/// The proposals of each operation: two of micro-deposits, if the bank booked both.
fn by_operation(proposals: Vec<Proposal>) -> BTreeMap<Id, Vec<Proposal>> {
    let mut answered: BTreeMap<Id, Vec<Proposal>> = BTreeMap::new();
    for proposal in proposals {
        answered.entry(proposal.operation).or_default().push(proposal);
    }
    answered
}

/// The chosen proposals, and the ids that are none.
async fn proposals(
    services: &Arc<Services>,
    id: Id,
    chosen: Chosen,
) -> Result<(Vec<Proposal>, Vec<Id>), Problem> {
    let mut all = Vec::new();
    let mut from = Some(0);
    while let Some(place) = from {
        let page = read_items(services, id, place, PAGE, Some(RESULTS[4])).await?;
        for item in &page.items {
            let read: Value = serde_json::from_slice(item).map_err(Problem::internal_error)?;
            let known = |value: &Value| value.as_str().and_then(Id::parse);
            let of_line = |name: &str| read["line"][name].as_str().map(str::to_owned);
            if let (Some(item), Some(operation), Some(reference), Some(amount)) =
                (known(&read["id"]), known(&read["ours"]["id"]), of_line("reference"), of_line("amount"))
            {
                all.push(Proposal { item, operation, reference, amount });
            }
        }
        from = page.next;
    }
    let Chosen::These(mut items) = chosen else { return Ok((all, Vec::new())) };
    items.sort_unstable();
    items.dedup();
    all.retain(|proposal| items.binary_search(&proposal.item).is_ok());
    items.retain(|item| !all.iter().any(|proposal| proposal.item == *item));
    Ok((all, items))
}

/// Resolves one operation by the lines that answer it, in a record of its own.
async fn resolve(call: &Call, id: Id, operation: Id, lines: &[Proposal]) -> Result<(), Problem> {
    let items: Vec<String> = lines.iter().map(|line| line.item.to_string()).collect();
    let note = format!("reconciliation {id}, item {}", items.join(" and "));
    let (tenant_key, entity) =
        operations::find(&call.services, operation).await?.ok_or_else(Problem::not_found)?;
    call.services.may_decide(tenant_key)?;
    let reference = reference(&call.services, (tenant_key, entity), operation, lines)?;
    let word = Word { operation, answer: RailAnswer::Done { reference }, note: &note };
    let entry = call.signature.copy().map(|entry| {
        // The consent stays with the call: its approval is settled when all of it is done.
        Box::new(AuditEntry {
            action: "operation.resolve".to_owned(),
            tenant: call.tenant_of(tenant_key),
            target: Some(operation.to_string()),
            consent: None,
            ..entry
        })
    });
    operations::say(&call.services, (tenant_key, entity), word, entry).await.map(|_| ())
}

/// The bank's reference of what it did: that of its line, or those of two in the order of the deposits.
/// Of two deposits the bank has to have booked both: one alone is no outcome.
fn reference(
    services: &Services,
    (tenant_key, entity): (u64, EntityId),
    operation: Id,
    lines: &[Proposal],
) -> Result<Option<String>, Problem> {
    let entity = history::entity(services.engine.reader(), tenant_key, entity)?;
    let open = entity.and_then(|entity| {
        let open = unanswered(&entity).into_iter().find(|open| open.id == operation)?;
        Some(entries::open(tenant_key, &entity, &open))
    });
    let open = open.unwrap_or_default();
    let [first, second] = open.as_slice() else {
        return Ok(lines.first().map(|line| line.reference.clone()));
    };
    let mut left: Vec<&Proposal> = lines.iter().collect();
    let mut of = |entry: &Entry| {
        let place = left.iter().position(|line| line.amount == amount(entry.cents, 2))?;
        Some(left.remove(place).reference.clone())
    };
    match (of(first), of(second)) {
        (Some(first), Some(second)) => Ok(references_of_two(Some(first), Some(second))),
        _ => Err(Problem::conflict(
            "deposit_incomplete",
            "only one of the two micro-deposits is among the lines; accept the lines of both together",
        )),
    }
}
