//! The accepting of what a statement's lines answer: operations without an outcome get the bank's, as if
//! it had said so, each in a record of its own.

use super::{ACCEPTED_MAX, PAGE, RESULTS, amount, named, read_items};
use crate::admin::call::{Call, CallResult, Done};
use crate::admin::operations::{self, Word};
use crate::gateway::services::Services;
use crate::reconciliation::shelf::Status;
use crate::store::history;
use api::fields::{Fields, Invalid, Kind as _};
use api::openapi::kinds;
use api::problem::Problem;
use api::writer::Object;
use domain::entities::verification::{Booked, Deposits};
use domain::platform::audit::AuditEntry;
use domain::rail::RailAnswer;
use domain::resources::verification::booked::{self, open_deposits};
use domain::values::ids::{EntityId, Id};
use domain::values::money::Ves;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

pub enum Chosen {
    /// All that there are.
    All,
    These(Vec<Id>),
}

pub async fn accept(call: Call) -> CallResult {
    let chosen = read_chosen(call.body.fields()?)?;
    let (id, summary) = named(&call)?;
    if let Some(waiting) = call.waits_for_approval().await? {
        return Ok(waiting);
    }
    let mut refused = Refused::new();
    let mut accepted = 0u64;
    if summary.status == Status::Done {
        let (proposals, others) = proposals(&call.services, id, chosen).await?;
        refused.extend(others.into_iter().map(|item| (item, "not_found")));
        for (operation, lines) in by_operation(proposals) {
            let refusals = answered(&call, id, operation, &lines).await;
            let all = |code| lines.iter().map(|line| (line.item, code)).collect();
            let refusals = refusals.unwrap_or_else(|problem| all(problem.code));
            accepted += (lines.len() - refusals.len()) as u64;
            refused.extend(refusals);
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

pub fn read_chosen(mut fields: Fields<'_>) -> Result<Chosen, Invalid> {
    let items = kinds::list(1..=ACCEPTED_MAX, kinds::uuid()).about("Ids of items; or else `all`.");
    let items = fields.optional("items", items);
    let all = fields.optional("all", kinds::boolean().about("Only true."));
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
    let these = |items: Vec<Uuid>| Chosen::These(items.into_iter().map(Id::from).collect());
    Ok(items.get(&sound).map_or(Chosen::All, these))
}

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

type Refused = Vec<(Id, &'static str)>;

/// Says what the lines that answer one operation say of it, in a record of its own.
async fn answered(call: &Call, id: Id, operation: Id, lines: &[Proposal]) -> Result<Refused, Problem> {
    let (tenant_key, entity) =
        operations::find(&call.services, operation).await?.ok_or_else(Problem::not_found)?;
    call.services.may_decide(tenant_key)?;
    let known = history::entity(call.services.engine.reader(), tenant_key, entity)?;
    let deposits = known.and_then(|known| open_deposits(&known, operation));
    let place = (tenant_key, entity);
    match (deposits, lines) {
        (Some((deposits, known)), lines) => {
            let booking = booking(&deposits, &known, lines);
            if !booking.lines.is_empty() {
                book(call, id, place, (operation, &known), &booking).await?;
            }
            Ok(booking.known.into_iter().map(|item| (item, "deposit_booked")).collect())
        }
        (None, [line, ..]) => {
            let note = note(id, lines.iter().map(|line| line.item));
            let word = Word { operation, answer: RailAnswer::done(&line.reference), note: &note };
            operations::say(&call.services, place, word, entry(call, "operation.resolve", place, operation))
                .await?;
            Ok(Vec::new())
        }
        (None, []) => Ok(Vec::new()),
    }
}

struct Booking {
    lines: Booked,
    /// The items of the lines that say something new, and of those that do not.
    items: Vec<Id>,
    known: Vec<Id>,
}

fn booking(deposits: &Deposits, known: &Booked, lines: &[Proposal]) -> Booking {
    let (first, second) = deposits.amounts;
    let mut booking = Booking { lines: Booked::default(), items: Vec::new(), known: Vec::new() };
    for line in lines {
        let is_open = |deposit: Ves, known: &Option<String>, new: &Option<String>| {
            known.is_none() && new.is_none() && line.amount == amount(deposit.minor(), 2)
        };
        let reference = Some(line.reference.clone()).filter(|reference| !known.has(reference));
        if reference.is_some() && is_open(first, &known.first, &booking.lines.first) {
            booking.lines.first = reference;
        } else if reference.is_some() && is_open(second, &known.second, &booking.lines.second) {
            booking.lines.second = reference;
        } else {
            booking.known.push(line.item);
            continue;
        }
        booking.items.push(line.item);
    }
    booking
}

/// Books deposits. The operation is done when both are booked.
async fn book(
    call: &Call,
    id: Id,
    place: (u64, EntityId),
    (operation, known): (Id, &Booked),
    booking: &Booking,
) -> Result<(), Problem> {
    let Booked { first, second } = &booking.lines;
    // The state is read again where it is decided; here it is only what the audit calls the act.
    let (action, said) = match (known.with(&booking.lines).both(), first.as_ref().or(second.as_ref())) {
        (None, Some(reference)) => ("operation.book", Object::new().text("reference", reference)),
        _ => ("operation.resolve", Object::new().plain("outcome", "done")),
    };
    let note = note(id, booking.items.iter().copied());
    let after = String::from_utf8(said.text("note", &note).end()).ok();
    let audit = entry(call, action, place, operation).map(|entry| Box::new(AuditEntry { after, ..*entry }));
    let lines = booking.lines.clone();
    operations::book(&call.services, place, booked::Booking { operation, lines }, audit).await
}

fn note(id: Id, items: impl Iterator<Item = Id>) -> String {
    let items: Vec<String> = items.map(|item| item.to_string()).collect();
    format!("reconciliation {id}, item {}", items.join(" and "))
}

/// The entry of the audit for one operation. The consent stays with the call: its approval is settled when
/// all of it is done.
fn entry(
    call: &Call,
    action: &str,
    (tenant_key, _): (u64, EntityId),
    operation: Id,
) -> Option<Box<AuditEntry>> {
    call.signature.copy().map(|entry| {
        Box::new(AuditEntry {
            action: action.to_owned(),
            tenant: call.tenant_of(tenant_key),
            target: Some(operation.to_string()),
            consent: None,
            ..entry
        })
    })
}
