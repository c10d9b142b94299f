//! Operators: made, listed, changed, given another token (`docs/contract.md, 20.1`). A token is shown in
//! the answer that makes it, and to who repeats that very call.

use super::approvals::end_all;
use super::call::{Call, CallResult, Done, Handler, approved, page_of, run, token_salt};
use crate::gateway::ask;
use crate::gateway::keys::Secret;
use crate::operators::STEM;
use api::endpoint::chapter;
use api::fields::{Fields, Invalid, Kind, body, kind, read};
use api::openapi::kinds::email;
use api::openapi::{kinds, schema};
use api::operators::{begin_schema, made, of, operator_id, show, show_root};
use api::problem::Problem;
use api::query;
use api::value::Value;
use domain::platform::operators::{OperatorAccount, OperatorStatus, Role};
use domain::resources::tenants::PlatformAsk;
use domain::values::ids::{Id, PLATFORM};
use domain::values::time::Timestamp;
use std::sync::Arc;

const NAME_CHARACTERS: std::ops::RangeInclusive<usize> = 1..=120;

chapter! { "Operators", "People with a token and a role of their own. `viewer` reads everything, with personal \
    data masked; `support` also sees payers one at a time, sends events again and cancels payments; `treasury` \
    also does everything that moves or prices money; `admin` does everything. The token of the configuration \
    is the operator `root`.", {
        "Me" = object()
            .member("operatorId", operator_id())
            .member("name", text())
            .member("email", text().or_null())
            .member("role", one_of(Role::ALL.map(Role::name)))
            .member("status", one_of(OperatorStatus::ALL.map(OperatorStatus::name)))
            .optional("createdAt", instant());
        "Operator" = begin_schema().member("createdAt", instant());
        "OperatorPage" = page("Operator");
        "OperatorWithToken" = begin_schema()
            .member("token", text().about("Begins with `op_`. Shown here, and again only to a repeat with the \
                same Idempotency-Key.").example(r#""op_3f1Zk0""#))
            .member("createdAt", instant());
        "NewOperator" = body(read_new);
        "OperatorChange" = body(read_change);
    }
    ME = run!(|call| Ok(Done::ok(call.operator.account().map_or_else(show_root, show)))), "Read who you are" => {
        command "me", "Show who the token is", "";
        answers 200, "Me", "The operator whose token was sent";
    };
    CREATE = run!(create), "Make an operator" => {
        command "operator create", "Make an operator; the token is shown only now",
            "--name Ana --email ana@example.com --role support";
        body "NewOperator";
        example "for the help desk", r#"{"name":"Ana","email":"ana@example.com","role":"support"}"#;
        answers 201, "OperatorWithToken", "The operator with the token: the only time it is shown";
        waits;
        refuses 409, &["operator_exists"];
    } shows api::operators::show_made;
    LIST = run!(list), "List operators" => {
        command "operator list", "List operators, newest first", "";
        list query::page;
        answers 200, "OperatorPage", "Newest first";
    };
    READ = run!(read), "Read an operator" => {
        command "operator get", "Show an operator", "";
        answers 200, "Operator", "The operator";
    };
    CHANGE = run!(change), "Change an operator's role, or whether the token is taken" => {
        command "operator update", "Change the role, or disable", "--status disabled";
        about "Who is disabled is refused at once, and what that one asked for and nobody approved yet has \
            ended.";
        body "OperatorChange";
        example "disable", r#"{"status":"disabled"}"#;
        answers 200, "Operator", "The operator";
        answers 202, "AskedApproval", "A higher role, or an end of being disabled, waits for a second person";
    };
    ROTATE = run!(rotate), "Give an operator a new token" => {
        command "operator rotate", "Give a new token, shown only now; the old one ends at once", "";
        about "The old one ends at once.";
        waits;
        answers 201, "OperatorWithToken", "The operator with the new token: the only time it is shown";
    } shows api::operators::show_made;
}

async fn create(call: Call) -> CallResult {
    let (name, email, role) = read_new(call.body.fields()?)?;
    approved!(call.waits_about(None));
    let id = call.services.fresh_id(PLATFORM);
    let token = Secret::new(&call.services.keys, id, STEM, salt(&call).as_deref())?;
    let account = OperatorAccount {
        id,
        name: name.into(),
        email: email.into(),
        role,
        status: OperatorStatus::Active,
        token_hash: token.hash(),
        created_at: Timestamp::EPOCH,
        makers: Vec::new(),
    };
    give(&call, id, &token, PlatformAsk::AddOperator(account, call.people())).await
}

fn read_new(mut fields: Fields<'_>) -> Result<(String, String, Role), Invalid> {
    let name = kinds::trimmed(NAME_CHARACTERS).about("Several operators may have the same.");
    let words = "Nobody else's, however its letters are written.";
    let email = email().described(|_| schema::text().about(words).example(r#""ana@example.com""#));
    Ok(read!(fields {
        required name = "name", name;
        required email = "email", email;
        required role = "role", role();
    } => (name.into_owned(), email, role)))
}

/// Has an operator made or given another token, and shows it. Only a repeat of the call shows it again.
async fn give(call: &Call, id: Id, token: &Secret, ask: PlatformAsk) -> CallResult {
    let (keep, _held) = call.pending_key.take();
    let audit = call.sign_about(None, Some(id.to_string()));
    let changed = ask::platform(&call.services, ask, keep, audit).await?;
    let shown = |token| changed.record.as_deref().and_then(|record| made(record, token));
    let (without_secret, shown) = (shown(None), shown(Some(token.reveal())));
    let shown = shown.ok_or_else(|| ask::defect("an operator was made and the record does not say so"))?;
    Ok(Done { without_secret, ..Done::created(shown) }.traced(changed.trace))
}

fn salt(call: &Call) -> Option<String> {
    call.idempotency_key.as_deref().map(|key| token_salt(&call.path, key))
}

fn role<'a>() -> impl Kind<'a, Role> {
    kind(
        |value: Value<'a>| value.text_known("viewer, support, treasury or admin", Role::from_name),
        || schema::one_of(Role::ALL.map(Role::name)),
    )
}

fn named(call: &Call) -> Result<Arc<OperatorAccount>, Problem> {
    call.services.callers.operators.named(call.id()?).ok_or_else(Problem::not_found)
}

async fn list(call: Call) -> CallResult {
    let page = call.listed("operators", query::page)?;
    let after = page.position()?.map(Id::from_bytes);
    let operators = call.services.callers.operators.all().into_iter();
    let operators = operators.filter(|operator| after.is_none_or(|after| operator.id < after));
    let shown = page_of(&page, operators, |last| last.id.as_bytes().to_vec(), |one| Some(show(one)));
    Ok(Done::ok(shown))
}

async fn read(call: Call) -> CallResult {
    Ok(Done::ok(show(&*named(&call)?)))
}

async fn change(call: Call) -> CallResult {
    let (role, status) = read_change(call.body.fields()?)?;
    let known = named(&call)?;
    // Who may do less waits for nobody: a stolen token has to end at once.
    if known.gains(role, status) {
        approved!(call.waits_about(None));
    }
    // What an asker asked for ends with the right to ask for it: before that comes back, too.
    end_all(&call.services, call.rows).await?;
    let ask = PlatformAsk::ChangeOperator { id: known.id, role, status, by: call.people() };
    let changed = ask::platform(&call.services, ask, None, call.signature.take()).await?;
    end_all(&call.services, call.rows).await?;
    let now = changed.record.as_deref().and_then(of);
    Ok(Done::ok(show(now.unwrap_or(&*known))).traced(changed.trace))
}

fn read_change(mut fields: Fields<'_>) -> Result<(Option<Role>, Option<OperatorStatus>), Invalid> {
    fields.changes();
    let status = kind(
        |value: Value<'_>| value.text_known("active or disabled", OperatorStatus::from_name),
        || schema::one_of(OperatorStatus::ALL.map(OperatorStatus::name)),
    );
    Ok(
        read!(fields { optional role = "role", role(); optional status = "status", status; } => (role, status)),
    )
}

async fn rotate(call: Call) -> CallResult {
    call.body.nothing()?;
    let OperatorAccount { id, token_hash, .. } = *named(&call)?;
    approved!(call.waits_about(None));
    let mut token = Secret::new(&call.services.keys, id, STEM, salt(&call).as_deref())?;
    if token.hash() == token_hash {
        // The Idempotency-Key of an earlier rotation, used anew: the old token must end.
        token = Secret::new(&call.services.keys, id, STEM, None)?;
    }
    let ask = PlatformAsk::RotateOperator { id, token_hash: token.hash(), by: call.people() };
    give(&call, id, &token, ask).await
}
