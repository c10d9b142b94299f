//! Reconciliation with a bank's statement (`docs/contract.md, 20.7`): upload, how far it is, its items, and
//! the resolving of what its lines answer. Matching and files are in `reconciliation/`.
//!
//! The statement is read before the answer, so that a bad one is refused; gathering our side and matching
//! go on in a task. Nothing of that is in the log of money: only an accepted proposal is, by the very
//! record that an operator's own word on the operation would make.

use super::call::{Call, CallResult, Done, Handler, approved, page_of, run, tenant_of};
use super::due;
use super::gathering::gathered;
use super::operations::{self, Word};
use crate::gateway::live_asks;
use crate::gateway::services::Services;
use crate::reconciliation::entries::Entry;
use crate::reconciliation::matching::{Met, matched};
use crate::reconciliation::shelf::{
    self, Asked, BAD_LINES_SHOWN, Counts, NotReconciled, ShelfError, Status, Summary,
};
use crate::reconciliation::statement::{self, BadLine, Line, Statement};
use crate::store::history;
use api::endpoint::chapter;
use api::fields::{Fields, Invalid, Kind as _, body, kind, read};
use api::openapi::operation::Fills;
use api::openapi::schema::{self, Schema};
use api::openapi::{kinds, values};
use api::operators::masked;
use api::page::{ListOf, Page, page_json};
use api::problem::Problem;
use api::query::{self, Query};
use api::shown;
use api::writer::Object;
use domain::entities::verification::Booked;
use domain::entities::verification::Deposits;
use domain::platform::audit::AuditEntry;
use domain::platform::live_asks::{AcceptedLine, LiveAsk};
use domain::rail::RailAnswer;
use domain::resources::verification::booked::{self, open_deposits};
use domain::values::ids::{EntityId, Id, PLATFORM};
use domain::values::money::{Currency, Ves, write_minor};
use domain::values::time::Date;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;

const RAILS: [&str; 2] = ["r4", "wompi"];
const ACCOUNT_DIGITS: usize = 20;
const RESULTS: [&str; 6] = ["matched", "missingHere", "missingThere", "amountDiffers", "proposal", "bad"];
const ACCEPTED_MAX: usize = 100_000;
const PAGE: usize = 500;
const NOT_FOUND: &str = "not_found";

struct Task {
    rail: &'static str,
    from: Date,
    to: Date,
    statement: Statement,
}

chapter! { "Reconciliation", "A bank's statement beside what went over its rail in live mode, of all tenants: \
    what is on both sides, on one alone, and what answers an operation without an outcome.", {
        "ReconciliationBegun" = object()
            .member("id", uuid())
            .member("status", one_of(Status::ALL.map(Status::name)));
        "Reconciliation" = reconciliation_schema();
        "ReconciliationPage" = page("Reconciliation");
        "ReconciliationItem" = item_schema();
        "ReconciliationItemPage" = page("ReconciliationItem");
        "ReconciliationAcceptance" = body(read_chosen).members_min(1);
        "ReconciliationAccepted" = object().member("accepted", count()).member("refused", list(refused()));
    }
    CREATE = run!(create), "Upload a bank's statement" => {
        command "reconciliation create", "Upload a bank's statement", "statement.csv --rail r4 --account \
            01690001001234567890 --from 2026-11-01 --to 2026-11-30";
        operand "FILE", Fills::File, "The statement as CSV, with the names of its columns";
        about "At most 100,000 lines and 32 MiB. The header names the columns `date` (YYYY-MM-DD), `reference` \
            (digits), `amount` (`0.00`), `kind` (`credit` or `debit`), and may name `phone` and `bank`, in any \
            order, divided by commas or semicolons. The same statement of the same rail, account and days \
            again is the first one, with 200, unless that failed.";
        query asked;
        body_in "text/csv", schema::text();
        answers 202, "ReconciliationBegun", "It runs";
        answers 200, "ReconciliationBegun", "The same statement was uploaded before";
    };
    LIST = run!(list), "List reconciliations" => {
        command "reconciliation list", "List reconciliations, newest first", "--status failed";
        list asked_all;
        answers 200, "ReconciliationPage", "Newest first";
    };
    READ = run!(read), "Read how far a reconciliation is" => {
        answers 200, "Reconciliation", "The reconciliation";
        command "reconciliation show", "Show the progress and the figures of a reconciliation", "";
    };
    ITEMS = run!(items), "List what came of each line" => {
        command "reconciliation items", "List the result of each line", "--result missingHere";
        about "In the order of the statement, then what is missing there. None before it is done.";
        list asked_items;
        answers 200, "ReconciliationItemPage", "Items";
    };
    ACCEPT = run!(accept), "Resolve the operations that lines answer" => {
        command "reconciliation accept", "Accept proposals: resolve the operations that lines answer",
            "--all true";
        about "Each in a record of its own, as an operator's own word would: done, with the line's reference. \
            The line of one of two micro-deposits books that one alone: their operation is resolved when both \
            are. What is resolved already is not accepted again.";
        body "ReconciliationAcceptance";
        example "all proposals", r#"{"all":true}"#;
        answers 200, "ReconciliationAccepted", "How many, and which not";
        waits;
    };
}

async fn create(call: Call) -> CallResult {
    // A large file takes a while, in which others are to be answered.
    let read = move || {
        let (statement, digest) =
            (call.body.read(statement::read), hex::encode(Sha256::digest(&call.body.bytes)));
        (call, statement, digest)
    };
    let (call, statement, digest) =
        tokio::task::spawn_blocking(read).await.map_err(Problem::internal_error)?;
    let (mut asked, rail, from, to) = call.asked(asked)?;
    let statement = statement?;
    asked.digest = digest;
    let services = &call.services;
    for said in live_asks::ask_others::<Vec<String>>(services, &LiveAsk::Unserved).await {
        said.map_err(|problem| {
            let message =
                "a partition does not answer, and what it has would look like money of nobody".into();
            Problem { message, ..problem }
        })?;
    }
    // The items of a statement take about as much as it, and are written when it was answered.
    if !services.site.disk.has_room_for(call.body.bytes.len() as u64) {
        return Err(Problem::disk_nearly_full());
    }
    let id = services.fresh_id(PLATFORM);
    let counts = Counts {
        lines: (statement.lines.len() + statement.bad.len()) as u64,
        bad: statement.bad.len() as u64,
        ..Counts::default()
    };
    let summary = Summary {
        id: id.to_string(),
        asked,
        status: Status::Running,
        message: None,
        created_at: services.now().to_string(),
        ended_at: None,
        counts,
        bad_lines: statement.bad.iter().take(BAD_LINES_SHOWN).cloned().collect(),
        percent: 0,
    };
    let (shelf, is_rehearsal) = (&services.files.reconciliations, services.is_rehearsal());
    let begun = if is_rehearsal {
        shelf.same(&summary)
    } else {
        shelf.begin(id, summary).map_err(Problem::internal_error)?
    };
    if let Some((known, summary)) = begun {
        // Nothing changed, so nobody is named for it.
        drop(call.signature.take());
        return Ok(Done::ok(show_begun(known, summary.status)));
    }
    call.signature.amend(|entry| entry.target = Some(id.to_string()));
    let services = Arc::clone(services);
    let task = Task { rail, from, to, statement };
    if !is_rehearsal {
        tokio::spawn(async move { run(&services, id, task).await });
    }
    Ok(Done { status: 202, ..Done::ok(show_begun(id, Status::Running)) })
}

fn asked(mut query: Query<'_>) -> Result<(Asked, &'static str, Date, Date), Invalid> {
    let account = kind(|value| value.text_as(account), described_account);
    let written = |date: Date| String::from_utf8_lossy(&date.ascii()).into_owned();
    Ok(read!(query {
        required rail = "rail", kinds::named_one(RAILS, |rail| rail);
        required account = "account", account;
        required from = "from", kinds::day().about("The first day of the statement.");
        required to = "to", kinds::day().about("The last one.");
    } check {
        if let (Some(first), Some(last)) = (from.peek(), to.peek())
            && first > last
        {
            query.bad("from", "must not be after `to`");
        }
    } => {
        let (rail_name, digest) = (rail.to_owned(), String::new());
        (Asked { rail: rail_name, account, from: written(from), to: written(to), digest }, rail, from, to)
    }))
}

fn described_account() -> Schema {
    let text = schema::text().pattern("^[0-9]{20}$");
    text.about("A label: the account that the statement is of.").example(r#""01690001001234567890""#)
}

fn account(text: &str) -> Result<String, &'static str> {
    let is_account = text.len() == ACCOUNT_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
    is_account.then(|| text.to_owned()).ok_or("must have 20 digits")
}

fn show_begun(id: Id, status: Status) -> Vec<u8> {
    Object::new().plain("id", id).plain("status", status.name()).end()
}

async fn run(services: &Arc<Services>, id: Id, task: Task) {
    let unread = |message: String| (NotReconciled::OurSideUnread, message);
    let outcome = match gathered(services, id, task.rail, (task.from, task.to)).await {
        Err(problem) => Err(unread(problem.private_message().unwrap_or_else(|| problem.message.to_string()))),
        Ok((done, open)) => {
            let services = Arc::clone(services);
            let work = move || written(&services, id, &task, &done, &open);
            match tokio::task::spawn_blocking(work).await {
                Ok(Ok(counts)) => Ok(counts),
                Ok(Err(error)) if error.is_for_room() => Err((NotReconciled::NoRoom, error.to_string())),
                Ok(Err(error)) => Err(unread(error.to_string())),
                Err(error) => Err(unread(error.to_string())),
            }
        }
    };
    if let Err((_, message)) = &outcome {
        tracing::warn!(reconciliation = %id, message, "a reconciliation failed");
    }
    let outcome = outcome.map_err(|(why, _)| why);
    if let Err(error) = services.files.reconciliations.end(id, &services.now().to_string(), outcome) {
        tracing::error!(reconciliation = %id, %error, "the outcome of a reconciliation could not be written");
    }
}

/// Matches, and writes the items: lines in the order of the file, then what is missing there.
fn written(
    services: &Services,
    id: Id,
    task: &Task,
    done: &[Entry],
    open: &[Entry],
) -> Result<Counts, ShelfError> {
    let Statement { lines, bad } = &task.statement;
    let found = matched(lines, done, open, (task.from, task.to));
    let mut counts = Counts {
        lines: (lines.len() + bad.len()) as u64,
        bad: bad.len() as u64,
        missing_there: found.missing_there.len() as u64,
        ..Counts::default()
    };
    let bad_ones = bad.iter();
    let mut items: Vec<_> = bad_ones
        .map(|bad| (bad.line, RESULTS[5], Some(show_bad(bad)), None, Some(bad.message.as_str())))
        .collect();
    for (line, met) in lines.iter().zip(&found.lines) {
        let (count, result, ours, message) = match met {
            Met::Matched(at) => (&mut counts.matched, RESULTS[0], Some(&done[*at]), None),
            Met::AmountDiffers(at) => {
                (&mut counts.amount_differs, RESULTS[3], Some(&done[*at]), Some("the amounts differ"))
            }
            Met::Proposal(at) => {
                let message = "the line answers an operation without an outcome";
                (&mut counts.proposals, RESULTS[4], Some(&open[*at]), Some(message))
            }
            Met::MissingHere => (&mut counts.missing_here, RESULTS[1], None, None),
            Met::Ambiguous => {
                let message = "several operations without an outcome are like the line";
                (&mut counts.missing_here, RESULTS[1], None, Some(message))
            }
        };
        *count += 1;
        items.push((line.number, result, Some(show_line(line)), ours, message));
    }
    items.sort_by_key(|(number, ..)| *number);
    items.extend(found.missing_there.iter().map(|at| (0, RESULTS[2], None, Some(&done[*at]), None)));
    let items = items.into_iter().zip(0u32..).map(|((_, result, line, ours, message), n)| {
        show_item(item_id(id, n), result, line, ours.map(|entry| show_entry(services, entry)), message)
    });
    services.files.reconciliations.write_items(id, items)?;
    Ok(counts)
}

fn item_id(id: Id, n: u32) -> Id {
    let mut bytes = *id.as_bytes();
    bytes[12..].copy_from_slice(&n.to_be_bytes());
    Id::from_bytes(bytes)
}

fn amount(minor: i64, decimals: u32) -> String {
    let mut text = String::new();
    let _ = write_minor(&mut text, minor, decimals);
    text
}

shown! {
    fn show_line(line: &Line), line_schema, 512 {
        number "number" = line.number, integer();
        plain "date" = String::from_utf8_lossy(&line.date.ascii()), day().or_null();
        plain "reference" = &line.reference, text().or_null();
        plain "amount" = amount(line.cents, 2), amount().or_null();
        plain "kind" = line.side.name(), one_of(["credit", "debit"]).or_null();
        maybe text "phone" = line.phone.as_deref(), text().about("Masked.");
        maybe text "bank" = line.bank.as_deref(), text();
    }
}

fn show_bad(bad: &BadLine) -> Vec<u8> {
    let line = Object::new().number("number", bad.line);
    ["date", "reference", "amount", "kind", "phone", "bank"].into_iter().fold(line, Object::null).end()
}

shown! {
    fn show_entry(services: &Services, entry: &Entry), entry_schema, 512 [
        let minor = if entry.currency == Currency::Cop { entry.cents / 100 } else { entry.cents };
    ] {
        plain "kind" = entry.kind, one_of(["payment", "payout", "reversal", "micro_deposit", "operation"]);
        plain "id" = entry.id, uuid().about("Of the payment or payout; of an operation its own.");
        maybe plain "tenantId" = tenant_of(&services.callers, entry.tenant_key), uuid();
        plain "amount" = amount(minor, entry.currency.decimals()),
            text().pattern(r"^(0|[1-9][0-9]*)(\.[0-9]{2})?$").example(r#""10.00""#);
        maybe text "reference" = entry.reference.as_deref(), text();
        plain "createdAt" = entry.created_at, instant();
    }
}

shown! {
    fn show_item(id: Id, result: &str, line: Option<Vec<u8>>, ours: Option<Vec<u8>>, message: Option<&str>), item_schema, 512 {
        plain "id" = id, uuid();
        plain "result" = result, one_of(RESULTS);
        maybe json "line" = line, line_schema();
        maybe json "ours" = ours, entry_schema();
        maybe text "message" = message, text();
    }
}

fn asked_all(query: Query<'_>, list: ListOf<'_>) -> Result<(Option<Status>, Page), Invalid> {
    query::filtered(query, list, "status", kinds::named_one(Status::ALL, Status::name))
}

async fn list(call: Call) -> CallResult {
    let (status, page) = call.listed("reconciliations", asked_all)?;
    let after = page.after.as_deref().and_then(|bytes| bytes.try_into().ok()).map(Id::from_bytes);
    let all = call.services.files.reconciliations.list(status);
    let rest = all.iter().filter(|(id, _)| after.is_none_or(|after| *id < after));
    let position = |(id, _): &&(Id, Summary)| id.as_bytes().to_vec();
    Ok(Done::ok(page_of(&page, rest, position, |(id, summary)| Some(show(*id, summary)))))
}

async fn read(call: Call) -> CallResult {
    let (id, summary) = named(&call)?;
    Ok(Done::ok(show(id, &summary)))
}

fn named(call: &Call) -> Result<(Id, Summary), Problem> {
    let id = call.id()?;
    Ok((id, call.services.files.reconciliations.find(id).ok_or_else(Problem::not_found)?))
}

shown! {
    fn show(id: Id, summary: &Summary), reconciliation_schema, 512 [
        let Summary { asked, counts, .. } = summary;
        let progress = if summary.status == Status::Done { 100 } else { summary.percent };
        let bad = |bad: &BadLine| Object::new().number("line", bad.line).text("message", &bad.message).end();
    ] {
        plain "id" = id, uuid();
        plain "status" = summary.status.name(), one_of(Status::ALL.map(Status::name));
        plain "rail" = &asked.rail, one_of(RAILS);
        plain "account" = &asked.account, described_account();
        plain "from" = &asked.from, day();
        plain "to" = &asked.to, day();
        number "progress" = progress, integer().range("0", "100").about("Percent.");
        number "lines" = counts.lines, count();
        number "matched" = counts.matched, count();
        number "missingHere" = counts.missing_here, count();
        number "missingThere" = counts.missing_there,
            count().about("Ours between the days, of which no line is.");
        number "amountDiffers" = counts.amount_differs, count();
        number "proposals" = counts.proposals, count();
        number "bad" = counts.bad, count();
        list "badLines" = summary.bad_lines.iter().map(bad),
            list(object().member("line", integer().about("The header is 1.")).member("message", text())).about("The first 100.");
        maybe text "message" = summary.message.as_deref(), text().about("Why it failed.");
        plain "createdAt" = &summary.created_at, instant();
        maybe plain "endedAt" = summary.ended_at.as_deref(), instant();
    }
}

fn asked_items(query: Query<'_>, list: ListOf<'_>) -> Result<(Option<&'static str>, Page), Invalid> {
    query::filtered(query, list, "result", kinds::named_one(RESULTS, |result| result))
}

async fn items(call: Call) -> CallResult {
    let id = call.id()?;
    let (result, page) = call.listed(&format!("items of {id}"), asked_items)?;
    let (id, summary) = named(&call)?;
    if summary.status != Status::Done {
        return Ok(Done::ok(page_json(Vec::<Vec<u8>>::new(), None)));
    }
    let from = page.after.as_deref().and_then(|place| place.try_into().ok()).map_or(0, u64::from_be_bytes);
    let found = read_items(&call.services, id, from, page.limit, result).await?;
    let next = found.next.map(|place| page.next(&place.to_be_bytes()));
    // The phone's owner stays with the bank's file.
    let shown = found.items.iter().map(|item| masked(&String::from_utf8_lossy(item)).into_bytes());
    Ok(Done::ok(page_json(shown, next.as_deref())))
}

async fn read_items(
    services: &Arc<Services>,
    id: Id,
    from: u64,
    limit: usize,
    result: Option<&'static str>,
) -> Result<shelf::ItemPage, Problem> {
    let services = Arc::clone(services);
    let read = move || services.files.reconciliations.items(id, from, limit, result);
    let read = tokio::task::spawn_blocking(read).await.map_err(Problem::internal_error)?;
    read.map_err(Problem::internal_error)
}

fn refused() -> Schema {
    let words = "A code: `operation_resolved`, `not_found`, or `deposit_booked`, where a line has booked this one of \
        two micro-deposits before.";
    schema::object().member("id", values::uuid()).member("error", schema::text().about(words))
}

pub enum Chosen {
    All,
    These(Vec<Id>),
}

async fn accept(call: Call) -> CallResult {
    let chosen = read_chosen(call.body.fields()?)?;
    let (id, summary) = named(&call)?;
    approved!(call.waits_for_approval());
    let mut refused = Refused::new();
    let mut accepted = 0u64;
    if summary.status == Status::Done {
        let (proposals, others) = proposals(&call.services, id, chosen).await?;
        refused.extend(others.into_iter().map(|item| (item, NOT_FOUND.to_owned())));
        // Two are of one operation where the bank booked both micro-deposits.
        let mut by_operation: BTreeMap<Id, (Option<Id>, Vec<AcceptedLine>)> = BTreeMap::new();
        for Proposal { operation, tenant, line } in proposals {
            by_operation.entry(operation).or_insert((tenant, Vec::new())).1.push(line);
        }
        let callers = &call.services.callers;
        for (operation, (tenant, lines)) in by_operation {
            let tenant = tenant.and_then(|tenant| callers.directory.tenant(tenant));
            let partition = tenant.and_then(|tenant| callers.elsewhere(&tenant));
            let by = Answering { id, operation, lines: &lines, audit: call.signature.copy() };
            let refusals = answered_by(&call, partition, by).await;
            accepted += (lines.len() - refusals.len()) as u64;
            refused.extend(refusals);
        }
    } else if let Chosen::These(items) = chosen {
        refused.extend(items.into_iter().map(|item| (item, NOT_FOUND.to_owned())));
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
    let items = kinds::list(1..=ACCEPTED_MAX, kinds::id).about("Ids of items; or else `all`.");
    Ok(read!(fields {
        optional items = "items", items;
        optional all = "all", kinds::boolean().about("Only true.");
    } check {
        match (fields.has("all"), fields.has("items")) {
            (true, true) => fields.bad("items", "does not go with `all`"),
            (false, false) => fields.bad("items", "is required without `all`"),
            _ => {}
        }
        if all.peek_some() == Some(&false) {
            fields.bad("all", "must be true");
        }
    } => items.map_or(Chosen::All, Chosen::These)))
}

struct Proposal {
    operation: Id,
    tenant: Option<Id>,
    line: AcceptedLine,
}

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
                let (tenant, line) =
                    (known(&read["ours"]["tenantId"]), AcceptedLine { item, reference, amount });
                all.push(Proposal { operation, tenant, line });
            }
        }
        from = page.next;
    }
    let Chosen::These(mut items) = chosen else { return Ok((all, Vec::new())) };
    items.sort_unstable();
    items.dedup();
    all.retain(|proposal| items.binary_search(&proposal.line.item).is_ok());
    items.retain(|item| !all.iter().any(|proposal| proposal.line.item == *item));
    Ok((all, items))
}

/// Items, with the codes.
pub(super) type Refused = Vec<(Id, String)>;

fn refused_all(lines: &[AcceptedLine], code: &str) -> Refused {
    lines.iter().map(|line| (line.item, code.to_owned())).collect()
}

/// The same where the operation is of an account of another partition.
async fn answered_by(call: &Call, partition: Option<u8>, by: Answering<'_>) -> Refused {
    let lines = by.lines;
    let Some(partition) = partition else { return answered(&call.services, by).await };
    if call.services.is_rehearsal() {
        return Refused::new();
    }
    let (reconciliation, operation) = (by.id, by.operation);
    let (lines_there, audit) = (lines.to_vec(), by.audit);
    let ask = LiveAsk::Accept { reconciliation, operation, lines: lines_there, audit: audit.map(Box::new) };
    let said = live_asks::ask(&call.services, partition, &ask).await;
    said.unwrap_or_else(|problem| refused_all(lines, problem.code))
}

/// The lines of a reconciliation that answer one operation.
pub(super) struct Answering<'a> {
    pub id: Id,
    pub operation: Id,
    pub lines: &'a [AcceptedLine],
    /// The entry of the audit for the call.
    pub audit: Option<AuditEntry>,
}

/// Says what the lines that answer one operation say of it, in a record of its own; which of them were not accepted.
pub(super) async fn answered(services: &Arc<Services>, by: Answering<'_>) -> Refused {
    let lines = by.lines;
    answering(services, by).await.unwrap_or_else(|problem| refused_all(lines, problem.code))
}

async fn answering(services: &Arc<Services>, by: Answering<'_>) -> Result<Refused, Problem> {
    let Answering { id, operation, lines, audit } = by;
    let (tenant_key, entity) = due::find(services, operation).await?.ok_or_else(Problem::not_found)?;
    services.may_decide(tenant_key)?;
    let known = history::entity(services.engine.reader(), tenant_key, entity)?;
    let deposits = known.and_then(|known| open_deposits(&known, operation));
    let place = (tenant_key, entity);
    match (deposits, lines) {
        (Some((deposits, known)), lines) => {
            let booking = booking(&deposits, &known, lines);
            if !booking.lines.is_empty() {
                book((services, audit), id, place, (operation, &known), &booking).await?;
            }
            Ok(booking.known.into_iter().map(|item| (item, "deposit_booked".to_owned())).collect())
        }
        (None, [line, ..]) => {
            let note = note(id, lines.iter().map(|line| line.item));
            let word = Word { operation, answer: RailAnswer::done(&line.reference), note: &note };
            let audit = entry(services, audit, "operation.resolve", place, operation);
            operations::say(services, place, word, audit).await?;
            Ok(Vec::new())
        }
        (None, []) => Ok(Vec::new()),
    }
}

struct Booking {
    lines: Booked,
    items: Vec<Id>,
    known: Vec<Id>,
}

fn booking(deposits: &Deposits, known: &Booked, lines: &[AcceptedLine]) -> Booking {
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
    (services, audit): (&Services, Option<AuditEntry>),
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
    let audit = entry(services, audit, action, place, operation);
    let audit = audit.map(|entry| Box::new(AuditEntry { after, ..*entry }));
    let lines = booking.lines.clone();
    operations::book(services, place, booked::Booking { operation, lines }, audit).await
}

fn note(id: Id, items: impl Iterator<Item = Id>) -> String {
    let items: Vec<String> = items.map(|item| item.to_string()).collect();
    format!("reconciliation {id}, item {}", items.join(" and "))
}

/// The entry of the audit for one operation. The consent stays with the call: its approval is settled when
/// all of it is done.
fn entry(
    services: &Services,
    audit: Option<AuditEntry>,
    action: &str,
    (tenant_key, _): (u64, EntityId),
    operation: Id,
) -> Option<Box<AuditEntry>> {
    audit.map(|entry| {
        Box::new(AuditEntry {
            action: action.to_owned(),
            tenant: tenant_of(&services.callers, tenant_key),
            target: Some(operation.to_string()),
            consent: None,
            ..entry
        })
    })
}
