//! Orders at banks that may need an operator (`docs/contract.md, 5.13, 18.7`): those that no bank has
//! answered, those about which a bank contradicted itself, and what an operator says of one.
//!
//! Contradictions are in the index, as they stay for ever. What waits for a bank is in the agendas
//! of books: an order that has no answer is one that is looked at again.

mod count;
mod list;
mod lookup;

pub use count::keep_counted;
use domain::entities::Entity;
use domain::values::mode::PLATFORM;
pub use list::list;
pub use lookup::find;

use super::call::{Call, CallResult, Done};
use crate::gateway::ask;
use crate::gateway::ask::failure;
use crate::gateway::services::Services;
use crate::store::history::{self, Unreadable};
use crate::store::read_budget::ReadBudget;
use actors::{Failure, Settled};
use api::fields::{Fields, Got, Invalid, Kind as _, body, kind};
use api::openapi::document::Chapter;
use api::openapi::{kinds, schema};
use api::payouts::own_account;
use api::problem::Problem;
use api::value::{Bad, Value};
use api::writer::Object;
use api::{crypto, merchants, payments, payouts, refusals};
use domain::commands::{Command, KeyedCommand};
use domain::machine::Domain;
use domain::platform::audit::AuditEntry;
use domain::rail::RailAnswer;
use domain::resources::operations::{self, Operation, Resolution, Subject};
use domain::resources::verification::booked::Booking;
use domain::trace::NEVER;
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::time::Timestamp;
use domain::view::{self, View};
use std::sync::Arc;
use wal::Reader;

/// Entities that are read for one page, or for one count: a page of few orders among many is short.
const READS_MAX: usize = 10_000;
/// Characters of a bank's reference and of an operator's note.
const REFERENCE_CHARACTERS: std::ops::RangeInclusive<usize> = 1..=64;
const NOTE_CHARACTERS: std::ops::RangeInclusive<usize> = 1..=500;
const CODE_CHARACTERS_MAX: usize = 32;

/// A deadline of an entity, which may be a look at a bank.
struct Due {
    id: EntityId,
    tenant_key: u64,
    now: Timestamp,
    /// Whether the look never comes: nobody can be asked.
    is_never_asked: bool,
}

impl Due {
    /// The operation's place in a list: newest entities first.
    fn position(&self) -> Vec<u8> {
        let (id, kind) = (self.id.id, [self.id.kind as u8]);
        [id.as_bytes().as_slice(), &kind, &self.tenant_key.to_be_bytes()].concat()
    }

    /// Whether it may be an order that has been at a bank for so long, or that is an operator's from its
    /// beginning. An entity is no younger than its id, and a tenant's clock no slower than the server's.
    fn may_be_older_than(&self, ms: i64) -> bool {
        matches!(self.id.kind, Kind::Merchant | Kind::OwnAccount | Kind::CopPayment)
            || self.is_never_asked
            || self.now.since_ms(Timestamp::from_unix_ms(self.id.id.unix_ms())) >= ms
    }
}

/// Collects the entities that are due in the books in memory: a book with something due stays
/// there.
async fn due(services: &Services) -> Result<Vec<Due>, Problem> {
    let engine = &services.engine;
    let mut found = Vec::new();
    for tenant_key in engine.books_in_memory().into_iter().filter(|key| *key != PLATFORM) {
        match engine.glance(tenant_key, view::Query::Agenda).await {
            Ok(Some(View::Agenda { now, due })) => {
                let at_banks = due.iter().filter(|(_, id)| may_be_at_bank(id.kind));
                found.extend(at_banks.map(|(at, id)| Due {
                    id: *id,
                    tenant_key,
                    now,
                    is_never_asked: *at >= NEVER,
                }));
            }
            // The book left memory meanwhile, or is halted: its orders come back with it.
            Ok(_) | Err(Failure::Halted) => {}
            Err(failed) => return Err(failure(failed)),
        }
    }
    Ok(found)
}

const fn may_be_at_bank(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Payment
            | Kind::Payout
            | Kind::CryptoPayout
            | Kind::CopPayment
            | Kind::Merchant
            | Kind::OwnAccount
    )
}

fn unanswered(reader: &Reader, due: &Due) -> Result<Vec<Operation>, Unreadable> {
    let found = history::entity(reader, due.tenant_key, due.id)?;
    Ok(found.map(|entity| entity.rules().unanswered()).unwrap_or_default())
}

/// The operations that nobody can tell the outcome of, each with its tenant key and entity.
pub(super) async fn unresolved(
    services: &Arc<Services>,
) -> Result<Vec<(u64, Arc<Entity>, Operation)>, Problem> {
    let due = due(services).await?;
    let read = move |services: &Services, budget: &ReadBudget| {
        let mut found = Vec::new();
        for one in due.iter().filter(|due| due.may_be_older_than(services.waits.unresolved.after_ms)) {
            budget.spend()?;
            let Some(entity) = history::entity(services.engine.reader(), one.tenant_key, one.id)? else {
                continue;
            };
            let open = entity.rules().unanswered().into_iter();
            let old = open.filter(|operation| services.waits.unresolved.has(operation, one.now));
            found.extend(old.map(|operation| (one.tenant_key, Arc::clone(&entity), operation)));
        }
        Ok(found)
    };
    services.read_pool.read_long(services, PLATFORM, read).await
}

pub async fn resolve(call: Call) -> CallResult {
    let (answer, note) = call.body.read(|body| Ok(read(Fields::parse(body)?)?))?;
    let services = &call.services;
    let operation = call.id()?;
    let (tenant_key, entity) = find(services, operation).await?.ok_or_else(Problem::not_found)?;
    if let Some(waiting) = call.waits_about(call.tenant_of(tenant_key)).await? {
        return Ok(waiting);
    }
    services.may_decide(tenant_key)?;
    let audit = call.sign_about(call.tenant_of(tenant_key), Some(operation.to_string()));
    let settled = say(services, (tenant_key, entity), Word { operation, answer, note: &note }, audit).await?;
    // A payout method that was rejected is gone from its merchant, and an own account altogether.
    let body = settled.entity.as_deref().and_then(show_entity).unwrap_or_else(|| Object::new().end());
    let mut done = Done::ok(body);
    done.trace.seq = settled.seq;
    // The record of the outcome has the place of one kept answer, which is the tenant's; a repeat
    // that finds neither is told that the operation is resolved.
    if let (Some(keep), _held) = call.keep() {
        ask::done_and_answered(services, ask::Done::default(), Some(keep), (done.status, &done.body)).await?;
    }
    Ok(done)
}

pub(super) struct Word<'a> {
    pub operation: Id,
    pub answer: RailAnswer,
    pub note: &'a str,
}

/// Says what became of an operation of an entity, in one record, with the entry of the audit.
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

/// Books micro-deposits that a bank's statement shows, in one record, with the entry of the audit.
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
    let settled = asked.map_err(failure)?;
    match &settled.refusal {
        Some(refusal) => Err(refusals::problem(refusal)),
        None => Ok(settled),
    }
}

fn read(mut fields: Fields<'_>) -> Result<(RailAnswer, String), Invalid> {
    let outcomes = [("done", true), ("refused", false)];
    let is_done = fields.required("outcome", kinds::one_of(outcomes));
    let reference = kinds::trimmed(REFERENCE_CHARACTERS)
        .about("The bank's, of what was done: required then, and only then allowed.");
    let reference = fields.optional("reference", reference);
    let code = kind(
        |value: Value<'_>| value.text_as(failure_code),
        || {
            let code = schema::text().pattern("^[A-Za-z0-9_]{1,32}$");
            code.about("The bank's, of what was refused: required then, and only then allowed.")
        },
    );
    let code: Got<Option<String>> = fields.optional("failureCode", code);
    let note =
        kinds::prose(NOTE_CHARACTERS).about("Why it is believed. It is in the record, with who said it.");
    let note = fields.required("note", note);
    if let Some(is_done) = is_done.peek().copied() {
        let (has_reference, has_code) = (fields.has("reference"), fields.has("failureCode"));
        let of = |is_due, has| match (is_due, has) {
            (true, false) => Some("is required with this outcome"),
            (false, true) => Some("does not go with this outcome"),
            _ => None,
        };
        for (name, wrong) in
            [("reference", of(is_done, has_reference)), ("failureCode", of(!is_done, has_code))]
        {
            if let Some(wrong) = wrong {
                fields.bad(name, wrong);
            }
        }
    }
    let sound = fields.finish()?;
    let (reference, code) = (reference.get(&sound), code.get(&sound));
    let answer = match (is_done.get(&sound), reference, code) {
        (true, Some(reference), _) => RailAnswer::done(reference.into_owned()),
        (_, _, code) => RailAnswer::Refused { code: code.unwrap_or_default() },
    };
    Ok((answer, note.get(&sound).into_owned()))
}

fn failure_code(text: &str) -> Result<String, Bad> {
    let is_code = !text.is_empty()
        && text.len() <= CODE_CHARACTERS_MAX
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_code { Ok(text.to_owned()) } else { Err("must have 1 to 32 letters, digits or underscores".into()) }
}

fn show_entity(entity: &Entity) -> Option<Vec<u8>> {
    Some(match entity {
        Entity::Payment(_) | Entity::CopPayment(_) => return payments::show_entity(entity),
        Entity::Payout(payout) => payouts::show(payout),
        Entity::CryptoPayout(payout) => crypto::show(payout),
        Entity::Merchant(merchant) => merchants::show(merchant),
        Entity::OwnAccount(account) => own_account::show(account),
        _ => return None,
    })
}

pub fn chapter() -> Chapter {
    use api::openapi::operation::operation;
    use api::openapi::schema::{any_of, integer, object, one_of, text};
    use api::openapi::values::{currency, instant, page, uuid};
    let entity = || {
        object()
            .member("type", one_of(Subject::TYPES))
            .member("id", uuid().or_null().about("The account's own payout account has none."))
    };
    Chapter {
        tag: "Operations",
        about: "Orders to banks that may need an operator. A pending one has no answer; an unresolved one has had none for longer than `[rails] unresolved_after_seconds`. A contradicted one was done and not done, as the bank says: what it said first counts, and its second word moved no money.",
        operations: vec![
            operation("listOperations", "List the orders to banks that may need an operator")
                .about("All of them, each with its status, unless `status` names one. A rail that there is not is refused with the names of those that there are.")
                .list(|query, list| list::asked(query, list, &[]))
                .answers(200, "OperationPage", "Newest first"),
            operation("resolveOperation", "Say what became of an order that no bank has answered")
                .about("Ask the bank first. The payment, payout or refund goes on as if the bank had said so; the bank is asked on for seven days, and if it says the opposite that is a contradiction, which moves no money.")
                .body("OperationResolution")
                .example("the bank's reference", r#"{"outcome":"done","reference":"81234567","note":"confirmed by the bank's help desk, ticket 4711"}"#)
                .example("refused", r#"{"outcome":"refused","failureCode":"AC01","note":"not on the statement of the day"}"#)
                .answers(202, "AskedApproval", "It waits for a second person")
                .answers(200, "ResolvedOperation", "The payment, payout or payout method, as its account reads it")
                .refuses(409, &["operation_resolved"])
                .refuses(503, &["clock_stepped"]),
        ],
        schemas: vec![
            (
                "BankOperation",
                object()
                    .member("operationId", uuid())
                    .member("kind", one_of(operations::Kind::ALL.map(operations::Kind::name)))
                    .member("rail", text())
                    .member("tenantId", uuid().or_null())
                    .member("mode", one_of(["live", "test"]))
                    .member("entity", entity())
                    .member("amount", text())
                    .member("currency", currency())
                    .member("sentAt", instant().or_null().about("None while it waits for its turn: nothing of it has left the gateway."))
                    .member("askedAt", instant().or_null())
                    .member("asks", integer().at_least("0"))
                    .member("bankCode", text().or_null().about("With which the bank refused it."))
                    .member("bankText", text().or_null())
                    .member("bankReference", text().or_null().about("Under which the bank did it."))
                    .member("contradictedAt", instant().or_null())
                    .member("otherAttemptId", uuid().or_null().about("Of a payment that failed and was paid all the same, as its bank says later: another attempt under its `externalRef` that was paid too. An operator decides which goes back."))
                    .member("status", one_of(list::STATUSES)),
            ),
            ("OperationPage", page("BankOperation")),
            ("OperationResolution", body(read)),
            ("Payout", payouts::description::payout()),
            ("Merchant", merchants::description::merchant()),
            ("PayoutAccount", payouts::description::account()),
            (
                "ResolvedOperation",
                any_of(["Payment", "CopPayment", "Payout", "CryptoPayout", "Merchant", "PayoutAccount"].map(schema::named))
                .about("A payment in bolívares or pesos, a payout, a USDT payout, or the merchant or own account whose payout method was proved or not; as the tenants' API has them."),
            ),
        ],
        ..Chapter::default()
    }
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
}
