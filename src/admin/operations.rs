//! Orders at banks that may need an operator (`docs/contract.md, 5.13, 18.7`): those that no bank has
//! answered, those about which a bank contradicted itself, and what an operator says of one.
//!
//! Two sources make the list, each in an order of its own: contradictions, which are in the index as they stay for
//! ever, in that of their records, and what waits for a bank in that of its entities. A page takes from both whatever
//! is newer, and its cursor has the place in each.

use super::call::{Call, CallResult, Done, Handler, approved, run, tenant_of};
use super::due::{Due, READS_MAX, due, find, unanswered};
use crate::gateway::ask::{self, accepted, failure};
use crate::gateway::services::Services;
use crate::store::history::{self, Read, Stored};
use crate::store::merge_cursor::MergeCursor;
use crate::store::read_budget::{ReadBudget, Stopped};
use actors::Settled;
use api::endpoint::chapter;
use api::entity;
use api::fields::{Fields, Invalid, Kind as _, body, kind, read};
use api::openapi::{kinds, schema};
use api::page::{ListOf, Page, bad_cursor, page_json};
use api::payments::attempts::paid_beside;
use api::payouts::own_account;
use api::problem::Problem;
use api::query::Query;
use api::shown;
use api::value::{Bad, Value};
use api::writer::Object;
use api::{merchants, payouts};
use domain::entities::Entity;
use domain::entities::payment::Status;
use domain::index;
use domain::machine::Domain;
use domain::machine::{Command, KeyedCommand};
use domain::platform::audit::AuditEntry;
use domain::rail::RailAnswer;
use domain::record::Record;
use domain::resources::operations::{self, Operation, Resolution, Subject};
use domain::resources::verification::booked::Booking;
use domain::trace;
use domain::values::ids::{EntityId, Id, Mode};
use domain::values::time::Timestamp;
use std::collections::VecDeque;

const REFERENCE_CHARACTERS: std::ops::RangeInclusive<usize> = 1..=64;
const CODE_CHARACTERS_MAX: usize = 32;
const STATUSES: [&str; 3] = ["contradicted", "pending", "unresolved"];
const CONTRADICTED: &str = STATUSES[0];
const PENDING: &str = STATUSES[1];
const UNRESOLVED: &str = STATUSES[2];

pub struct Wanted {
    status: Option<&'static str>,
    rail: Option<&'static str>,
    tenant: Option<Id>,
}

impl Wanted {
    fn is_in(&self, status: &str) -> bool {
        self.status.is_none_or(|wanted| wanted == status)
    }

    fn is_at(&self, rail: &str) -> bool {
        self.rail.is_none_or(|wanted| wanted == rail)
    }

    fn is_of(&self, tenant: Option<Id>) -> bool {
        self.tenant.is_none_or(|wanted| tenant == Some(wanted))
    }
}

/// The places up to which contradictions, and what waits, were read.
type Places = [Option<Vec<u8>>; 2];

fn to_bytes(places: &Places) -> Vec<u8> {
    let [one, other] = places.each_ref().map(|place| place.as_deref().unwrap_or(&[]));
    [&[u8::try_from(one.len()).unwrap_or(u8::MAX)], one, other].concat()
}

fn of_bytes(bytes: &[u8]) -> Option<Places> {
    let (length, rest) = bytes.split_first()?;
    let (one, other) = rest.split_at_checked(usize::from(*length))?;
    Some([one, other].map(|place| Some(place.to_vec()).filter(|place| !place.is_empty())))
}

fn asked(mut query: Query<'_>, list: ListOf<'_>, rails: &[&'static str]) -> Result<(Wanted, Page), Invalid> {
    let rails = rails.iter().map(|name| (*name, *name)).collect::<Vec<_>>();
    let rail = kinds::one_of(rails).described(|_| schema::text());
    Ok(read!(query {
        optional status = "status", kinds::named_one(STATUSES, |status| status);
        optional rail = "rail", rail;
        optional tenant = "tenantId", kinds::id();
        got page = query.page(list);
    } => (Wanted { status, rail, tenant }, page)))
}

chapter! { "Operations", "Orders to banks that may need an operator. A pending one has no answer; an \
    unresolved one has had none for longer than `[rails] unresolved_after_seconds`. A contradicted one was \
    done and not done, as the bank says: what it said first counts, and its second word moved no money.", {
        "BankOperation" = operation_schema();
        "OperationPage" = page("BankOperation");
        "OperationResolution" = body(read);
        "Payout" = payouts::payout();
        "Merchant" = merchants::merchant();
        "PayoutAccount" = own_account::schema();
        "ResolvedOperation" = any_of(["Payment", "CopPayment", "Payout", "CryptoPayout", "Merchant",
            "PayoutAccount"].map(named))
            .about("A payment in bolívares or pesos, a payout, a USDT payout, or the merchant or own account \
                whose payout method was proved or not; as the tenants' API has them.");
    }
    LIST = run!(list), "List the orders to banks that may need an operator" => {
        command "operation list", "List orders to banks that are pending, unresolved or contradicted",
            "--status contradicted";
        about "All of them, each with its status, unless `status` names one. A rail that there is not is \
            refused with the names of those that there are.";
        list |query, list| asked(query, list, &[]);
        answers 200, "OperationPage", "Newest first";
    };
    RESOLVE = run!(resolve), "Say what became of an order that no bank has answered" => {
        command "operation resolve", "Record what became of an order whose outcome no bank has confirmed",
            "--outcome done --reference 81234567 --note \"on the statement\"";
        about "Ask the bank first. The payment, payout or refund goes on as if the bank had said so; the bank \
            is asked on for seven days, and if it says the opposite that is a contradiction, which moves no \
            money.";
        body "OperationResolution";
        example "the bank's reference",
            r#"{"outcome":"done","reference":"81234567","note":"confirmed by the bank's help desk, ticket 4711"}"#;
        example "refused",
            r#"{"outcome":"refused","failureCode":"AC01","note":"not on the statement of the day"}"#;
        waits;
        answers 200, "ResolvedOperation", "The payment, payout or payout method, as its account reads it";
        refuses 409, &["operation_resolved"];
        refuses 503, &["clock_stepped"];
    };
}

async fn list(call: Call) -> CallResult {
    let services = &call.services;
    let rails = services.rails.names();
    let (wanted, page) = call.listed("operations", |query, list| asked(query, list, &rails))?;
    let places = match &page.after {
        Some(after) => of_bytes(after).ok_or_else(bad_cursor)?,
        None => Places::default(),
    };
    let limit = page.limit;
    let due = if wanted.status == Some(CONTRADICTED) { Vec::new() } else { due(services).await? };
    let read = move |services: &Services, budget: &ReadBudget| {
        let mut one = Source::default();
        if wanted.is_in(CONTRADICTED) {
            one = contradictions(services, &wanted, places[0].as_deref(), limit, budget)?;
        }
        let other = waiting(services, &due, &wanted, places[1].as_deref(), limit, budget)?;
        Ok(merged([one, other], places.clone(), limit))
    };
    let (items, next) = call.read(read).await?;
    let next = next.map(|places| page.next(&to_bytes(&places)));
    Ok(Done::ok(page_json(items, next.as_deref())))
}

/// The operations of one record or entity, which stay on one page.
struct Group {
    place: Vec<u8>,
    at: Timestamp,
    items: Vec<Vec<u8>>,
}

#[derive(Default)]
struct Source {
    groups: VecDeque<Group>,
    /// The place up to which it was read, if there may be more after it.
    read_to: Option<Vec<u8>>,
}

/// A page of both sources: the newer group of both each time, and where the next page begins, if there
/// may be one. Where a source was not read on, the page ends, as its next group may be the newer.
fn merged(mut sources: [Source; 2], mut places: Places, limit: usize) -> (Vec<Vec<u8>>, Option<Places>) {
    let mut items = Vec::with_capacity(limit);
    while items.len() < limit {
        let newer = match sources.each_ref().map(|source| source.groups.front()) {
            [Some(first), Some(second)] => usize::from(first.at < second.at),
            [Some(_), None] if sources[1].read_to.is_none() => 0,
            [None, Some(_)] if sources[0].read_to.is_none() => 1,
            _ => break,
        };
        let Some(group) = sources[newer].groups.pop_front() else { break };
        places[newer] = Some(group.place);
        items.extend(group.items);
    }
    // Places that were read in vain are not read again.
    for (source, place) in sources.iter().zip(&mut places) {
        if source.groups.is_empty() && source.read_to.is_some() {
            place.clone_from(&source.read_to);
        }
    }
    let is_more = sources.iter().any(|source| !source.groups.is_empty() || source.read_to.is_some());
    (items, is_more.then_some(places))
}

fn contradictions(
    services: &Services,
    wanted: &Wanted,
    after: Option<&[u8]>,
    limit: usize,
    budget: &ReadBudget,
) -> Result<Source, Stopped> {
    let reader = services.engine.reader();
    let moment = reader.index_moment();
    let mut newest = MergeCursor::new(&moment, vec![index::contradicted()], after, None, Some(budget))?;
    let mut source = Source::default();
    let mut last = None;
    while let Some(place) = newest.take()? {
        if source.groups.len() == limit {
            source.read_to = last;
            break;
        }
        budget.spend()?;
        let Read { record, tenant: tenant_key, time, .. } = history::record(reader, history::seq(&place)?)?;
        if services.callers.is_elsewhere(tenant_key) {
            last = Some(place);
            continue;
        }
        let whose = tenant_of(&services.callers, tenant_key);
        let contradicted =
            record.entities.first().and_then(|written| written.state.rules().contradiction(time));
        if let Some(operation) = contradicted {
            let rail = services.rails.name_for(tenant_key, operation.service);
            if wanted.is_at(rail) && wanted.is_of(whose) {
                let other = other_attempt(services, tenant_key, &record, budget)?;
                let contradicted = Some((time, other));
                let item = show(&operation, rail, tenant_key, whose, contradicted, CONTRADICTED);
                source.groups.push_back(Group { place: place.clone(), at: time, items: vec![item] });
            }
        }
        last = Some(place);
    }
    Ok(source)
}

fn other_attempt(
    services: &Services,
    tenant_key: u64,
    record: &Record,
    budget: &ReadBudget,
) -> Result<Option<Id>, Stopped> {
    match record.entities.first().map(|written| &*written.state) {
        Some(Entity::Payment(payment)) if payment.status == Status::Failed => {
            let records = Stored::of(services.engine.reader(), tenant_key).within(budget);
            Ok(paid_beside(&records, payment)?)
        }
        _ => Ok(None),
    }
}

fn waiting(
    services: &Services,
    due: &[Due],
    wanted: &Wanted,
    after: Option<&[u8]>,
    limit: usize,
    budget: &ReadBudget,
) -> Result<Source, Stopped> {
    let older_ms = if wanted.is_in(PENDING) { 0 } else { services.waits.unresolved_after_ms };
    let is_meant = |due: &&Due| {
        due.may_be_older_than(older_ms)
            && after.is_none_or(|after| due.position().as_slice() < after)
            && wanted.is_of(tenant_of(&services.callers, due.tenant_key))
    };
    let mut due: Vec<&Due> = due.iter().filter(is_meant).collect();
    due.sort_unstable_by_key(|due| std::cmp::Reverse(due.position()));
    let mut source = Source::default();
    let mut last = None;
    for (read, one) in due.iter().enumerate() {
        if read == READS_MAX || source.groups.len() == limit {
            source.read_to = last;
            break;
        }
        budget.spend()?;
        last = Some(one.position());
        let whose = tenant_of(&services.callers, one.tenant_key);
        let of_it = unanswered(services.engine.reader(), one)?;
        let items = of_it.iter().filter_map(|operation| {
            let rail = services.rails.name_for(one.tenant_key, operation.service);
            let status = if services.waits.is_unresolved(operation, one.now) { UNRESOLVED } else { PENDING };
            let is_meant = wanted.is_at(rail) && wanted.is_in(status);
            is_meant.then(|| show(operation, rail, one.tenant_key, whose, None, status))
        });
        let items: Vec<Vec<u8>> = items.collect();
        if !items.is_empty() {
            // The instant is one of the tenant's clock, as the records of contradictions are.
            let sent_at = of_it.iter().map(|operation| operation.sent_at).max();
            let at = sent_at.unwrap_or(one.now);
            source.groups.push_back(Group { place: one.position(), at, items });
        }
    }
    Ok(source)
}

shown! {
    fn show(operation: &Operation, rail: &str, tenant_key: u64, tenant: Option<Id>, contradicted: Option<(Timestamp, Option<Id>)>, status: &str), operation_schema, 512 [
        let id = operation.subject.id().or(tenant);
        // The bank's own words, where it has any; the simulator's codes are ours.
        let word = operation.word.as_ref();
        let not_empty = |text: &&str| !text.is_empty();
        let text = word.map(|word| word.text.as_str()).filter(not_empty);
        let code = word.map(|word| word.code.as_str()).filter(not_empty).or(operation.code.as_deref());
    ] {
        plain "operationId" = operation.id, uuid();
        plain "kind" = operation.kind.name(), one_of(operations::Kind::ALL.map(operations::Kind::name));
        plain "rail" = rail, text();
        maybe plain "tenantId" = tenant, uuid();
        plain "mode" = Mode::of(tenant_key).name(), one_of(["live", "test"]);
        json "entity" = &Object::new().plain("type", operation.subject.name()).maybe_plain("id", id).end(),
            object().member("type", one_of(Subject::TYPES)).member("id", uuid().or_null().about("The account's own payout account has none."));
        plain "amount" = operation.amount(), text();
        plain "currency" = operation.currency.code(), currency();
        maybe plain "sentAt" = Some(operation.sent_at).filter(|_| !operation.is_queued),
            instant().about("None while it waits for its turn: nothing of it has left the gateway.");
        maybe plain "askedAt" = operation.asked_at, instant();
        number "asks" = operation.asks, count();
        maybe text "bankCode" = code, text().about("With which the bank refused it.");
        maybe text "bankText" = text, text();
        maybe text "bankReference" = trace::shown(&operation.reference),
            text().about("Under which the bank did it.");
        maybe plain "contradictedAt" = contradicted.map(|(at, _)| at), instant();
        maybe plain "otherAttemptId" = contradicted.and_then(|(_, other)| other),
            uuid().about("Of a payment that failed and was paid all the same, as its bank says later: another attempt under its `externalRef` that was paid too. An operator decides which goes back.");
        plain "status" = status, one_of(STATUSES);
    }
}

async fn resolve(call: Call) -> CallResult {
    let (answer, note) = call.body.read(|body| Ok(read(Fields::parse(body)?)?))?;
    let services = &call.services;
    let operation = call.id()?;
    let (tenant_key, entity) = find(services, operation).await?.ok_or_else(Problem::not_found)?;
    approved!(call.waits_about(call.tenant_of(tenant_key)));
    services.may_decide(tenant_key)?;
    let audit = call.sign_about(call.tenant_of(tenant_key), Some(operation.to_string()));
    let settled = say(services, (tenant_key, entity), Word { operation, answer, note: &note }, audit).await?;
    // A payout method that was rejected is gone from its merchant, and an own account altogether.
    let body = settled.entity.as_deref().and_then(entity::show).unwrap_or_else(|| Object::new().end());
    let mut done = Done::ok(body);
    done.trace.seq = settled.seq;
    // The record of the outcome has the place of one kept answer, which is the tenant's; a repeat
    // that finds neither is told that the operation is resolved.
    if let (Some(keep), _held) = call.pending_key.take() {
        ask::done_and_answered(services, ask::Done::default(), Some(keep), (done.status, &done.body)).await?;
    }
    Ok(done)
}

pub(super) struct Word<'a> {
    pub operation: Id,
    pub answer: RailAnswer,
    pub note: &'a str,
}

pub(super) async fn say(
    services: &Services,
    (tenant_key, entity): (u64, EntityId),
    word: Word<'_>,
    audit: Option<Box<AuditEntry>>,
) -> Result<Box<Settled<Domain>>, Problem> {
    let Word { operation, answer, note } = word;
    let outcome = if matches!(answer, RailAnswer::Done { .. }) { "done" } else { "refused" };
    let audit = audit.map(|entry| {
        let said = Object::new().plain("outcome", outcome).text("note", note).end();
        Box::new(AuditEntry { after: String::from_utf8(said).ok(), ..*entry })
    });
    let command =
        KeyedCommand::from(Command::Resolve(Box::new(Resolution { operation, answer }))).audited(audit);
    command_entity(services, (tenant_key, entity), command).await
}

pub(super) async fn book(
    services: &Services,
    place: (u64, EntityId),
    booking: Booking,
    audit: Option<Box<AuditEntry>>,
) -> Result<(), Problem> {
    let command = KeyedCommand::from(Command::BookDeposits(Box::new(booking))).audited(audit);
    command_entity(services, place, command).await.map(drop)
}

async fn command_entity(
    services: &Services,
    (tenant_key, entity): (u64, EntityId),
    command: KeyedCommand,
) -> Result<Box<Settled<Domain>>, Problem> {
    let asked = services.engine.ask_entity(tenant_key, entity, false, command, None, None).await;
    accepted(asked.map_err(failure)?)
}

fn read(mut fields: Fields<'_>) -> Result<(RailAnswer, String), Invalid> {
    let reference = kinds::trimmed(REFERENCE_CHARACTERS)
        .about("The bank's, of what was done: required then, and only then allowed.");
    let code = kind(
        |value: Value<'_>| value.text_as(failure_code),
        || {
            let code = schema::text().pattern("^[A-Za-z0-9_]{1,32}$");
            code.about("The bank's, of what was refused: required then, and only then allowed.")
        },
    );
    let note = kinds::prose(1..=500).about("Why it is believed. It is in the record, with who said it.");
    Ok(read!(fields {
        required is_done = "outcome", kinds::one_of([("done", true), ("refused", false)]);
        optional reference = "reference", reference;
        optional code = "failureCode", code;
        required note = "note", note;
    } check {
        if let Some(is_done) = is_done.peek().copied() {
            for (name, is_due) in [("reference", is_done), ("failureCode", !is_done)] {
                match (is_due, fields.has(name)) {
                    (true, false) => fields.bad(name, "is required with this outcome"),
                    (false, true) => fields.bad(name, "does not go with this outcome"),
                    _ => {}
                }
            }
        }
    } => {
        let answer = match (is_done, reference) {
            (true, Some(reference)) => RailAnswer::done(reference.into_owned()),
            _ => RailAnswer::Refused { code: code.unwrap_or_default() },
        };
        (answer, note.into_owned())
    }))
}

fn failure_code(text: &str) -> Result<String, Bad> {
    let is_code = !text.is_empty()
        && text.len() <= CODE_CHARACTERS_MAX
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_code { Ok(text.to_owned()) } else { Err("must have 1 to 32 letters, digits or underscores".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(body: &str) -> Vec<String> {
        let fields = Fields::parse(body.as_bytes()).expect("JSON");
        let bad = read(fields).err().map(|invalid| invalid.fields().to_vec()).unwrap_or_default();
        bad.into_iter().map(|bad| bad.field).collect()
    }

    #[test]
    fn an_outcome_comes_with_what_the_bank_would_say() {
        let sound = |body: &str| read(Fields::parse(body.as_bytes()).expect("JSON")).expect("sound");
        let done = sound(r#"{"outcome":"done","reference":" 81 ","note":"n"}"#);
        assert_eq!(done, (RailAnswer::done("81"), "n".to_owned()));
        let refused = sound(r#"{"outcome":"refused","failureCode":"AC_01","note":"n"}"#);
        assert_eq!(refused.0, RailAnswer::Refused { code: "AC_01".to_owned() });
        assert_eq!(named("{}"), ["outcome", "note"]);
        assert_eq!(named(r#"{"outcome":"done","note":"n"}"#), ["reference"]);
        assert_eq!(
            named(r#"{"outcome":"refused","reference":"81","note":"n"}"#),
            ["reference", "failureCode"]
        );
        for code in ["", "A-1", "a b", &"A".repeat(33)] {
            let body = format!(r#"{{"outcome":"refused","failureCode":"{code}","note":"n"}}"#);
            assert_eq!(named(&body), ["failureCode"], "{code}");
        }
    }

    fn source(groups: &[(u8, i64)], read_to: Option<u8>) -> Source {
        let group = |(place, at): &(u8, i64)| Group {
            place: vec![*place],
            at: Timestamp::from_unix_ms(*at),
            items: vec![vec![*place]],
        };
        Source { groups: groups.iter().map(group).collect(), read_to: read_to.map(|place| vec![place]) }
    }

    fn page(one: Source, other: Source, limit: usize) -> (Vec<u8>, Option<(u8, u8)>) {
        let (items, next) = merged([one, other], Places::default(), limit);
        let number = |place: Option<Vec<u8>>| place.map_or(0, |place| place[0]);
        let next = next.map(|[one, other]| (number(one), number(other)));
        (items.concat(), next)
    }

    #[test]
    fn a_page_takes_the_newer_of_both_and_goes_on_from_where_it_was_in_each() {
        let one = || source(&[(9, 90), (5, 50)], None);
        let other = || source(&[(7, 70), (6, 60), (1, 10)], None);
        assert_eq!(page(one(), other(), 9), (vec![9, 7, 6, 5, 1], None));
        assert_eq!(page(one(), other(), 3), (vec![9, 7, 6], Some((9, 6))));
        assert_eq!(page(one(), other(), 1), (vec![9], Some((9, 0))));
        // A source of which not all was read may have something newer than what the other has left.
        assert_eq!(page(one(), source(&[(7, 70)], Some(3)), 9), (vec![9, 7], Some((9, 3))));
        assert_eq!(page(source(&[], Some(4)), other(), 9), (vec![], Some((4, 0))));
    }

    #[test]
    fn places_come_back_from_a_cursor() {
        for (one, other) in [
            (None, None),
            (Some(vec![1; 8]), None),
            (None, Some(vec![2; 25])),
            (Some(vec![3]), Some(vec![4])),
        ] {
            let places = [one, other];
            assert_eq!(of_bytes(&to_bytes(&places)), Some(places));
        }
        assert_eq!((of_bytes(&[]), of_bytes(&[9, 1])), (None, None));
    }
}
