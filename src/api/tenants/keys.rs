//! API keys: what is said of them to whom they belong and to operators, and the calls with which an account rules
//! over its own (`docs/contract.md, 3.3`). Those of operators are in `admin/keys.rs`.

use super::{mandates, show_key};
use crate::endpoint::{Context, Handler, KnownKey, chapter, run};
use crate::fields::{Fields, Invalid, Kind, body, kind, read};
use crate::openapi::schema::Schema;
use crate::openapi::{kinds, schema, values};
use crate::page::list_json;
use crate::problem::Problem;
use crate::query::Query;
use crate::respond::Reply;
use crate::value::{Bad, Value};
use crate::writer::Object;
use domain::ledger::spending;
use domain::platform::{Scope, Scopes};
use domain::resources::tenants::keys::{KeyChange, NewKey, successors};
use domain::values::ids::{Id, Mode};
use domain::values::time::Timestamp;
use std::sync::Arc;

const NAME_MAX: usize = 64;

chapter! { "Keys", "The account's own API keys, in the mode of the key that asks. A key is shown once, in the answer \
    that makes it; what is kept is its SHA-256.", {
        "NewKey" = body(|fields| read_new(fields, Timestamp::EPOCH));
        "KeyChange" = body(|fields| read_change(fields, Timestamp::EPOCH));
        "MadeKey" = made_schema();
        "Key" = key_schema();
        "Mandate" = mandates::schema();
        "KeyWithRemaining" = key_schema().optional("remaining", mandates::remaining_schema());
        "RevokedKey" = revoked_schema();
        "KeyList" = items("Key");
    }
    CREATE = run!(create), "Make a key" => {
        about "It may do what its maker may, and nothing else. Without `scopes` it may all of that but `keys`. With a \
            `mandate` it takes out no more than that says.";
        body_optional "NewKey";
        example "one that only reads", r#"{"name":"reports","scopes":["read"]}"#;
        example "an agent that pays two sellers", r#"{"name":"payer","scopes":["read","payout"],"mandate":{
            "agent":"Claude","perCall":{"VES":"500.00"},"perDay":{"VES":"5000.00"},
            "payees":["01975a2e-7c00-7000-8000-000000000020","0414-123-4567"]}}"#;
        answers 201, "MadeKey", "The key: the only time it is shown";
        refuses 409, &["too_many_keys"];
        refuses 429, &["too_many_attempts"];
    } shows super::show_made;
    LIST = run!(list), "List keys" => {
        about "Newest first, without their secrets; also those that work no more.";
        answers 200, "KeyList", "Those of the key's mode";
    };
    READ = run!(read_one), "Read a key" => {
        about "Every key reads itself; another needs the scope `keys`.";
        answers 200, "KeyWithRemaining", "The key, with what is left of its mandate";
    };
    UPDATE = run!(update), "Change a key" => {
        about "Only what is sent changes: null takes a name away, and an end. A mandate replaces the one before whole, \
            keeps what was spent, and is not taken off. One that works no more is not found.";
        body "KeyChange";
        example "to read alone", r#"{"scopes":["read"]}"#;
        answers 200, "Key", "The key";
    };
    REVOKE = run!(revoke), "Revoke a key at once" => {
        about "Keys that came in its place work on, unless they are revoked too.";
        query asked_revocation;
        answers 200, "RevokedKey", "The key, revoked, with those that came in its place";
    };
}

fn read_new(mut fields: Fields<'_>, now: Timestamp) -> Result<NewKey, Invalid> {
    Ok(read!(fields {
        optional name = "name", name();
        optional scopes = "scopes", scopes();
        optional expires_at = "expiresAt", expiry(now);
        optional mandate = "mandate", mandates::mandate();
    } => NewKey { name, scopes, expires_at, mandate }))
}

pub fn read_change(mut fields: Fields<'_>, now: Timestamp) -> Result<KeyChange, Invalid> {
    fields.changes();
    Ok(read!(fields {
        nullable name = "name", name();
        optional scopes = "scopes", scopes();
        nullable expires_at = "expiresAt", expiry(now);
        optional mandate = "mandate", mandates::mandate();
    } => KeyChange { name, scopes, expires_at, mandate }))
}

pub fn name<'a>() -> impl Kind<'a, Box<str>> {
    let read = |value: Value<'a>| Ok(kinds::trimmed(1..=NAME_MAX).read(value)?.into_owned().into_boxed_str());
    kind(read, || kinds::trimmed(1..=NAME_MAX).schema().about("What people call it."))
}

pub fn scopes<'a>() -> impl Kind<'a, Scopes> {
    let read = |value: Value<'a>| {
        let scopes = value.list(1..=Scope::ALL.len(), |value| {
            value.text_known("one of read, collect, payout, convert, manage, keys", Scope::from_name)
        })?;
        let repeated = scopes.iter().enumerate().any(|(n, scope)| scopes[..n].contains(scope));
        if repeated { Err(Bad::from("must name each one once")) } else { Ok(scopes.into_iter().collect()) }
    };
    kind(read, || {
        let scopes = schema::list(schema::one_of(Scope::ALL.map(Scope::name)));
        scopes.about("What it may do.").count(1..=Scope::ALL.len()).distinct()
    })
}

pub fn expiry<'a>(now: Timestamp) -> impl Kind<'a, Timestamp> {
    let read = move |value: Value<'a>| {
        let at = Timestamp::from_unix_ms(value.timestamp()?.timestamp_millis());
        if at > now { Ok(at) } else { Err(Bad::from("must be in the future")) }
    };
    kind(read, || values::instant().about("In the future; never if missing."))
}

pub fn asked_revocation(mut query: Query<'_>) -> Result<bool, Invalid> {
    let successors = kinds::boolean().about("Whether all keys that came in its place are revoked too.");
    Ok(read!(query { optional successors = "successors", successors; } => successors.unwrap_or(false)))
}

pub fn made_schema() -> Schema {
    known(schema::object().member("keyId", values::uuid()).member("key", schema::text()))
}

fn known(at: Schema) -> Schema {
    at.member("mode", schema::one_of(Mode::ALL.map(Mode::name)))
        .member("prefix", schema::text().about("Its first characters."))
        .member("scopes", schema::list(schema::one_of(Scope::ALL.map(Scope::name))).about("What it may do."))
        .member("createdAt", values::instant())
        .member("expiresAt", values::instant().or_null())
        .member("name", schema::text().or_null().about("What people call it."))
        .member("mandate", schema::named("Mandate").or_null())
}

pub fn key_schema() -> Schema {
    known(schema::object().member("keyId", values::uuid()))
        .member("lastUsedAt", values::instant().or_null())
        .member("revokedAt", values::instant().or_null())
        .member("replaces", values::uuid().or_null().about("The key whose place it took."))
}

pub fn revoked_schema() -> Schema {
    let followed = schema::list(schema::named("Key"));
    key_schema()
        .member("successors", followed.about("The keys that came in its place, and in theirs; oldest first."))
}

/// A key that was revoked, with the keys that came in its place, of all that the account has.
pub fn show_revoked(id: Id, keys: &[KnownKey]) -> Option<Vec<u8>> {
    let shown = |id: Id| {
        let known = keys.iter().find(|(known, _)| known.id == id);
        known.map(|(key, last_used_at)| show_key(key, *last_used_at))
    };
    let followed = successors(id, keys.iter().map(|(key, _)| key));
    let followed = followed.iter().filter_map(|key| shown(key.id));
    Some(Object::reopened(shown(id)?).list("successors", followed).end())
}

async fn create(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let now = cx.env.now();
    let new = read_new(Fields::parse_optional(&cx.body)?, now)?;
    let scopes = new.scopes.unwrap_or_else(|| cx.caller.key.scopes.without(Scope::Keys));
    if scopes == Scopes(0) {
        return Err(Problem::invalid_field("scopes", "is required of a key that may only make keys"));
    }
    if let Some(scope) = cx.caller.key.scopes.lacking(scopes) {
        return Err(Problem::scope_missing(scope.name()));
    }
    cx.server()?.make_key(NewKey { scopes: Some(scopes), ..new }).await
}

async fn list(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let mode = cx.caller.key.mode;
    let keys = cx.server()?.keys().await?;
    let of_mode = keys.iter().filter(|(key, _)| key.mode == mode);
    Ok(Reply::json(200, list_json(of_mode.map(|(key, last_used_at)| show_key(key, *last_used_at)))))
}

async fn read_one(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let own = Arc::clone(&cx.caller.key);
    let id = cx.id("id").ok();
    if id != Some(own.id) && !own.scopes.allow(Scope::Keys) {
        return Err(Problem::scope_missing(Scope::Keys.name()));
    }
    let id = id.ok_or_else(Problem::not_found)?;
    let known = cx.server()?.key(id).await?.filter(|(key, _)| key.mode == own.mode);
    let (key, last_used_at) = known.ok_or_else(Problem::not_found)?;
    let mut shown = show_key(&key, last_used_at);
    if let Some(mandate) = &key.details.mandate {
        let (book, now) = cx.server()?.book().await?;
        let remaining = mandates::show_remaining(&spending::remaining(&book.spent, mandate, now));
        shown = Object::reopened(shown).json("remaining", remaining).end();
    }
    Ok(Reply::json(200, shown))
}

async fn update(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    let change = read_change(Fields::parse(&cx.body)?, cx.env.now())?;
    cx.server()?.change_key(id, change).await
}

async fn revoke(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    let with_successors = cx.asked(asked_revocation)?;
    cx.no_body()?;
    cx.server()?.revoke_key(id, with_successors).await
}
