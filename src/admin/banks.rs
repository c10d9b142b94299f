//! The catalogue of banks with what tenants do not see of it; the operator's changes, and the
//! refresh from a feed, weekly and at once (`docs/contract.md, 14.5`).

use super::call::{Call, CallResult, Done, Handler, run};
use crate::gateway::ask::{self, Changed};
use crate::gateway::services::Services;
use api::endpoint::chapter;
use api::fields::{Fields, Invalid, body, kind, read};
use api::openapi::{kinds, schema};
use api::problem::Problem;
use api::reference::{self, show_whole_bank};
use api::value::Value;
use domain::platform::audit::AuditEntry;
use domain::resources::banks::{self, Catalogue, Edit, Service};
use domain::resources::tenants::PlatformAsk;
use domain::values::time::DAY_MS;
use domain::values::venezuela::BankCode;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

const REFRESH_EVERY_MS: i64 = 7 * DAY_MS;
/// The interval at which the catalogue's age is checked; a feed that failed is asked again as
/// often.
const LOOK_EVERY: Duration = Duration::from_secs(3_600);

chapter! { "Rates and banks", "", {
        "BankEntry" = reference::bank_schema()
            .member("hidden", boolean().about("Whether tenants do not see it."));
        "BankChange" = body(read_change);
    }
    LIST = run!(|call| Ok(Done::ok(show_all(&call.services.banks.now())))), "List the banks, hidden ones too" => {
        command "bank list", "List banks, hidden ones too", "";
        answers_with 200, schema::list(schema::named("BankEntry")), "Sorted by code; a bare array";
    };
    REFRESH_NOW = run!(refresh_now), "Refresh the banks from their feed now" => {
        command "bank refresh", "Fetch the catalogue from its feed now", "";
        answers_with 200, schema::list(schema::named("BankEntry")), "The banks as they are now";
        refuses 503, &["bank_feed_unavailable"];
    };
    UPDATE = run!(update), "Change the facts about a bank" => {
        command "bank update", "Change a bank's entry in the catalogue", "--hidden true";
        about "A change outlives every refresh.";
        body "BankChange";
        example "hide it", r#"{"hidden":true}"#;
        answers 200, "BankEntry", "The bank";
    };
}

async fn refresh_now(call: Call) -> CallResult {
    call.body.nothing()?;
    let changed = refresh(&call.services, call.signature.take()).await?;
    let shown = show_all(&call.services.banks.now());
    // The record holds what the feed lists, and not what the operator changed about it: the answer
    // has one of its own.
    let (keep, _held) = call.pending_key.take();
    let trace = match keep {
        None => changed.trace,
        keep => ask::done_and_answered(&call.services, ask::Done::default(), keep, (200, &shown)).await?,
    };
    Ok(Done::ok(shown).traced(trace))
}

async fn update(call: Call) -> CallResult {
    let edit = read_change(call.body.fields()?)?;
    let code = call.parameter("code").and_then(|text| BankCode::parse(text).ok());
    let code = code.ok_or_else(Problem::not_found)?;
    let changed = change(&call.services, PlatformAsk::EditBank(code, edit), call.signature.take()).await?;
    let banks = call.services.banks.now();
    let bank = banks.get(code).ok_or_else(Problem::not_found)?;
    Ok(Done::ok(show_whole_bank(bank)).traced(changed.trace))
}

fn read_change(mut fields: Fields<'_>) -> Result<Edit, Invalid> {
    fields.changes();
    let service =
        |value: Value<'_>| value.text_known("one of C2P, PAGO_MOVIL, DEBIT, CREDIT", Service::from_name);
    let services = kind(
        move |value: Value<'_>| value.list(0..=Service::ALL.len(), service),
        || schema::list(schema::one_of(Service::ALL.map(Service::name))),
    );
    let logo = kind(|value: Value<'_>| value.text_as(banks::logo_url), schema::text);
    Ok(read!(fields {
        optional hidden = "hidden", kinds::boolean();
        optional name = "name", kinds::trimmed(banks::NAME_CHARACTERS) => name.map(Cow::into_owned);
        optional services = "services", services => services.map(|all: Vec<Service>| all.into_iter().collect());
        nullable logo_url = "logoUrl", logo;
    } => Edit { hidden, name, services, logo_url }))
}

pub async fn load(services: &Services) -> Result<(), Problem> {
    let _turn = services.banks.turn.lock().await;
    learn(services).await
}

pub async fn keep_fresh(services: Arc<Services>) {
    if services.banks.feed.as_ref().is_none() {
        return;
    }
    loop {
        let age_ms = services.banks.refreshed_at().map(|at| services.now().since_ms(at));
        if age_ms.is_none_or(|age| age >= REFRESH_EVERY_MS) {
            match refresh(&services, None).await {
                Ok(_) => tracing::info!(
                    banks = services.banks.now().all().len(),
                    "the catalogue of banks was refreshed"
                ),
                Err(problem) => {
                    tracing::warn!(%problem, error = problem.private_message(), "the catalogue of banks was not refreshed; the old one stays")
                }
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn refresh(services: &Services, audit: Option<Box<AuditEntry>>) -> Result<Changed, Problem> {
    let unavailable = |why: String| {
        Problem::refused(503, "bank_feed_unavailable", format!("{why}; the catalogue stays as it is"))
    };
    let Some(feed) = services.banks.feed.as_ref() else {
        return Err(unavailable("banks.feed_url is not configured".to_owned()));
    };
    let listed = feed.ask().await.map_err(|why| unavailable(format!("the bank feed: {why}")))?;
    change(services, PlatformAsk::RefreshBanks(listed), audit).await
}

async fn change(
    services: &Services,
    ask: PlatformAsk,
    audit: Option<Box<AuditEntry>>,
) -> Result<Changed, Problem> {
    let _turn = services.banks.turn.lock().await;
    let changed = ask::platform(services, ask, None, audit).await?;
    learn(services).await?;
    Ok(changed)
}

async fn learn(services: &Services) -> Result<(), Problem> {
    services.banks.learn(&services.platform_book().await?.banks);
    Ok(())
}

fn show_all(banks: &Catalogue) -> Vec<u8> {
    let shown: Vec<Vec<u8>> = banks.all().iter().map(show_whole_bank).collect();
    [b"[".as_slice(), &shown.join(&b','), b"]"].concat()
}
