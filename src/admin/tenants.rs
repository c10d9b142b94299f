//! Tenants, their settings and live status, and their halted books: which they are, and their way back.

use super::call::{Call, CallResult, Done, Handler, approved, page_of, run, tenant_of};
use crate::gateway::ask::{self, Changed, failure};
use crate::gateway::keys::{Secret, stem};
use crate::gateway::live_asks;
use crate::gateway::moving;
use crate::gateway::services::Services;
use crate::gateway::tenant_settings::{push_tenant_settings, set_tenant_settings};
use crate::rails::registry::Registry;
use crate::recovery::rederive::{Rederived, rederive};
use api::endpoint::chapter;
use api::fields::{Fields, Invalid, Kind as _, body, kind, only, read};
use api::openapi::kinds;
use api::openapi::operation::Fills;
use api::page::{ListOf, Page};
use api::problem::Problem;
use api::query::{self, Query};
use api::reference;
use api::shown;
use api::tenants::{self, settings};
use api::value::Value;
use api::writer::Object;
use domain::entities::means::Method;
use domain::kept::KeepRef;
use domain::machine::AnyBook;
use domain::platform::audit::AuditEntry;
use domain::platform::live_asks::LiveAsk;
use domain::platform::settings::{LiveStatus, Settings};
use domain::platform::{ApiKey, PlatformChange, Tenant};
use domain::resources::tenants::PlatformAsk;
use domain::resources::tenants::partition_moves::MoveStep;
use domain::values::ids::{Id, Mode, PLATFORM, tenant_key};
use domain::values::time::Timestamp;
use std::borrow::Cow;
use std::sync::Arc;

chapter! { "Tenants", "The accounts of this server.", {
        "NewTenant" = body(|fields| read_new(fields, &Settings::default()));
        "OpenedTenant" = tenants::opened_schema();
        "Tenant" = tenants::tenant_schema();
        "TenantWithWarnings" = tenants::tenant_schema()
            .optional("warnings",
                list(text()).about("Only of a change to `active`; empty when nothing is missing."));
        "TenantPage" = page("Tenant");
        "ResumedTenant" = object().member("tenantId", uuid()).member("resumed", list(resumed_schema()));
        "TenantMove" = body(read_move);
        "MovedTenant" = object().member("tenantId", uuid()).member("partition", tenants::partition());
        "LiveStatusChange" = body(read_live_status);
        "Settings" = settings::settings_schema();
        "SettingsPart" = body(|fields| settings::read(&Settings::default(), fields));
        "SettingsChange" = body(|fields| settings::change(&Settings::default(), fields));
        "Error" = reference::error();
    }
    CREATE = run!(create), "Open an account" => {
        command "tenant create", "Create a tenant; its first two keys are shown only now",
            "--name \"Tienda Sol\" --settings '{\"reserveVes\": \"100.00\"}'";
        body "NewTenant";
        example "a shop", r#"{"name":"mi tienda"}"#;
        example "with a fee of its own",
            r#"{"name":"mi tienda","settings":{"fees":{"c2p":{"percent":"1.2500","fixedVes":"0.00"}}}}"#;
        answers 201, "OpenedTenant", "The account with both its keys: the only time they are shown";
    } shows tenants::show_opened;
    LIST = run!(list), "List accounts" => {
        command "tenant list", "List tenants, newest first", "--limit 100";
        list asked;
        answers 200, "TenantPage", "Newest first";
    };
    READ = run!(read), "Read an account" => {
        command "tenant get", "Show a tenant", "";
        answers 200, "Tenant", "The account";
    };
    SET_SETTINGS = run!(set_settings), "Change settings" => {
        command "tenant settings", "Change settings; what is not named stays",
            "'{\"fees\": {\"c2p\": {\"percent\": \"1.2500\"}}}'";
        operand "JSON", Fills::Body, "The settings to change";
        about "What is not named stays as it is; objects are merged, lists replaced.";
        body "SettingsChange";
        example "a reserve", r#"{"reserveVes":"1000.00"}"#;
        answers 200, "Settings", "All settings as they are now";
        refuses 409, &["settings_changed"];
    };
    SET_LIVE_STATUS = run!(set_live_status), "Allow or forbid live mode" => {
        command "tenant live-status", "Set whether a tenant may use live mode",
            "active --reason \"contract signed\"";
        operand "STATUS", Fills::Member("status"), "active, suspended or inactive";
        about "A change sends `tenant.live_status_changed` in both modes. With `active` the answer has \
            `warnings`: a text for each method that no rail serves, so that live calls of it are refused with \
            `rail_not_configured`, and for each price that live mode needs and nothing gives \
            (`rate_unavailable`); none of them keeps the status from being set.";
        body "LiveStatusChange";
        example "approve", r#"{"status":"active","reason":"documents checked"}"#;
        waits;
        answers 200, "TenantWithWarnings", "The account";
        refuses 409, &["settings_changed"];
    } shows tenants::show_changed;
    MOVE = run!(move_to), "Move an account to another partition" => {
        command "tenant move", "Move a tenant to another partition, while it is served", "--to 1";
        about "Its books are copied while it is served; then its calls are refused with `tenant_moving` for less than a \
            second, and it is served there. A move that cannot be finished is undone. An account with live mode stays \
            where it is.";
        body "TenantMove";
        example "to partition 0", r#"{"to":0}"#;
        answers 200, "MovedTenant", "The account is served there";
        refuses 409, &["move_under_way"];
    };
    RESUME = run!(resume), "Resume halted books" => {
        command "tenant resume", "Resume a tenant's halted books, if their records verify", "";
        about "A book is halted when its state is in doubt, or set aside by `serve --set-aside`. Its state is \
            derived from all of its records, which are proved on the way; snapshots that say something else \
            are removed. What does not prove right stays halted.";
        answers 200, "ResumedTenant", "The account goes on in these modes";
        refuses 409, &["tenant_not_halted", "book_not_proved"];
    };
}

async fn create(call: Call) -> CallResult {
    let services = &*call.services;
    let (name, settings) = read_new(call.body.fields()?, &services.callers.tenant_defaults)?;
    let (mut keys, mut secrets) = (Vec::new(), Vec::new());
    for mode in [Mode::Test, Mode::Live] {
        let id = services.fresh_id(PLATFORM);
        let secret = Secret::new(&services.keys, id, stem(mode), call.idempotency_key.as_deref())?;
        keys.push(secret.key(id, mode));
        secrets.push((id, secret));
    }
    let (keep, _held) = call.pending_key.take();
    let id = services.fresh_id(PLATFORM);
    let audit = call.sign_about(Some(id), Some(id.to_string()));
    let (changed, tenant) = open(services, (id, name), settings, keys, (keep, audit)).await?;
    let _turn = call.turns.of(tenant.number).await;
    push_tenant_settings(services, tenant.number).await?;
    let reveal = |key: &ApiKey| {
        secrets.iter().find(|(id, _)| *id == key.id).map(|(_, secret)| secret.reveal().to_owned())
    };
    let shown = changed.record.as_deref().and_then(|record| tenants::opened(record, &reveal));
    Ok(Done::created(shown.unwrap_or_default()).traced(changed.trace))
}

fn read_new(mut fields: Fields<'_>, defaults: &Settings) -> Result<(String, Settings), Invalid> {
    let part = kinds::named("SettingsPart", |fields| settings::read(defaults, fields));
    Ok(read!(fields {
        required name = "name", kinds::trimmed(1..=120);
        optional given = "settings", part;
    } => (name.into_owned(), given.unwrap_or_else(|| defaults.clone()))))
}

/// Opens a tenant. Its settings are not pushed to its books yet.
pub(super) async fn open(
    services: &Services,
    (id, name): (Id, String),
    settings: Settings,
    keys: Vec<ApiKey>,
    (keep, audit): (Option<KeepRef>, Option<Box<AuditEntry>>),
) -> Result<(Changed, Arc<Tenant>), Problem> {
    let ask = PlatformAsk::Open {
        id,
        name,
        settings: Settings::shared(Arc::new(settings)),
        keys,
        opener: None,
        // None is born where it could not be served.
        partitions: match &services.callers.sending {
            Some(sending) => sending.answering().await,
            None => vec![0],
        },
    };
    let opened = ask::platform(services, ask, keep, audit).await?;
    let tenant = match opened.change() {
        Some(PlatformChange::Opened { tenant, .. }) => Arc::clone(tenant),
        _ => return Err(ask::defect("a tenant was opened and its record does not say so")),
    };
    Ok((opened, tenant))
}

fn asked(query: Query<'_>, list: ListOf<'_>) -> Result<(Option<bool>, Page), Invalid> {
    let asked = kinds::boolean().about("Only those that asked for live mode and were not answered.");
    query::filtered(query, list, "liveAsked", asked)
}

async fn list(call: Call) -> CallResult {
    let (only_asked, page) = call.listed("tenants", asked)?;
    let after = page.position()?.map_or(u32::MAX, u32::from_be_bytes);
    let directory = &call.services.callers.directory;
    let asked_at = |tenant: &Tenant| directory.live_asked_at(tenant.number);
    let tenants = directory.tenants().into_iter();
    let tenants = tenants
        .filter(|tenant| tenant.number < after && (only_asked != Some(true) || asked_at(tenant).is_some()));
    let show = |tenant: &Arc<Tenant>| Some(tenants::show_asking(tenant, asked_at(tenant)));
    Ok(Done::ok(page_of(&page, tenants, |last| last.number.to_be_bytes().to_vec(), show)))
}

async fn read(call: Call) -> CallResult {
    let tenant = call.tenant()?;
    let live_asked_at = call.services.callers.directory.live_asked_at(tenant.number);
    Ok(Done::ok(tenants::show_asking(&tenant, live_asked_at)))
}

async fn set_settings(call: Call) -> CallResult {
    let services = &*call.services;
    let known = call.tenant();
    let _turn = call.turns.of(known.map_or(0, |tenant| tenant.number)).await;
    // Read again in turn: the settings that the change is merged into are those in force.
    let tenant = call.tenant();
    let base =
        tenant.as_ref().map_or(&services.callers.tenant_defaults, |tenant| &*tenant.tenant_settings.settings);
    let merged = settings::change(base, call.body.fields()?)?;
    let tenant = &tenant?;
    let tenant_settings = &tenant.tenant_settings;
    let (tenant, trace) = set_tenant_settings(
        services,
        tenant,
        merged.into(),
        tenant_settings.live_status,
        tenant_settings.reason.as_deref().map(str::to_owned),
        None,
        call.signature.take(),
    )
    .await?;
    Ok(Done::ok(settings::show(&tenant.tenant_settings.settings)).traced(trace))
}

async fn set_live_status(call: Call) -> CallResult {
    let (status, reason) = read_live_status(call.body.fields()?)?;
    let known = call.tenant()?;
    approved!(call.waits_for_approval());
    let _turn = call.turns.of(known.number).await;
    let tenant = call.tenant()?;
    let is_activated = status == LiveStatus::Active;
    let services = &call.services;
    let (keep, _held) = call.pending_key.take();
    // The list of missing rails is no part of the tenant, so that answer is kept by itself; a
    // repeat that comes before it is kept finds nothing more to change.
    let (keep, keep_with_warnings) = if is_activated { (None, keep) } else { (keep, None) };
    let settings = Arc::clone(&tenant.tenant_settings.settings);
    let (tenant, trace) =
        set_tenant_settings(services, &tenant, settings, status, reason, keep, call.signature.take()).await?;
    if !is_activated {
        return Ok(Done::ok(tenants::show(&tenant)).traced(trace));
    }
    let unpriced = services.prices.missing_in_live(services.now()).map(|need| need.to_string());
    let unserved = match services.callers.elsewhere(&tenant) {
        None => unserved(&services.rails),
        Some(partition) => {
            live_asks::ask(services, partition, &LiveAsk::Unserved).await.unwrap_or_else(|_| {
                vec![
                    "the account's partition does not answer: what live mode lacks there is not known".into(),
                ]
            })
        }
    };
    let body = tenants::show_activated(&tenant, unserved.into_iter().chain(unpriced));
    let trace = match keep_with_warnings {
        Some(keep) => {
            ask::done_and_answered(services, ask::Done::default(), Some(keep), (200, &body)).await?
        }
        None => trace,
    };
    Ok(Done::ok(body).traced(trace))
}

fn read_live_status(mut fields: Fields<'_>) -> Result<(LiveStatus, Option<String>), Invalid> {
    let status = kind(
        |value: Value<'_>| value.text_known("active, suspended or inactive", LiveStatus::from_name),
        tenants::live_status,
    );
    Ok(read!(fields {
        required status = "status", status;
        optional reason = "reason", kinds::prose(0..=500);
    } => (status, reason.map(Cow::into_owned).filter(|reason| !reason.is_empty()))))
}

pub(super) fn unserved(rails: &Registry) -> Vec<String> {
    let is_served = |method: &Method| match method {
        Method::Usdt => rails.serves_live_usdt(),
        method => rails.serves_live(method.service()),
    };
    let missing = Method::ALL.into_iter().filter(|method| !is_served(method));
    let warning = |method: Method| {
        format!(
            "{}: no rail is configured for it; in live mode it is refused with rail_not_configured",
            method.name()
        )
    };
    missing.map(warning).collect()
}

fn read_move(fields: Fields<'_>) -> Result<i64, Invalid> {
    only(fields, "to", kinds::integer(0..=63).about("The partition that the account moves to."))
}

async fn move_to(call: Call) -> CallResult {
    let to = read_move(call.body.fields()?)?;
    let tenant = call.tenant()?;
    let services = &call.services;
    let partitions = services.callers.followers.as_ref().map_or(1, |followers| followers.count());
    let to = u8::try_from(to).ok().filter(|to| *to < partitions);
    let to = to.ok_or_else(|| Problem::invalid_field("to", "must be a partition of this cluster"))?;
    if tenant.partition != to {
        must_have_no_live_money(services, &tenant).await?;
        let number = tenant.number;
        let turn = call.turns.of(number).await;
        let ask = PlatformAsk::MoveWithin { number, step: MoveStep::Begin(to) };
        ask::platform(services, ask, None, call.signature.take()).await?;
        drop(turn);
        // A rehearsal moves nothing.
        if !services.is_rehearsal() && moving::finish(services, number).await?.partition != to {
            return Err(Problem::no_leader());
        }
    }
    let shown = Object::new().plain("tenantId", tenant.id).number("partition", u64::from(to));
    Ok(Done::ok(shown.end()))
}

/// Live mode that was on once: what is at a bank does not move.
async fn must_have_no_live_money(services: &Services, tenant: &Tenant) -> Result<(), Problem> {
    let number = tenant.number;
    let has_any = match services.callers.elsewhere(tenant) {
        None => has_live_money(services, number).await?,
        Some(partition) => live_asks::ask(services, partition, &LiveAsk::HasLiveMoney(number)).await?,
    };
    if has_any {
        const STAYS: &str = "must be the partition that it is in: an account with live mode does not move";
        return Err(Problem::invalid_field("to", STAYS));
    }
    Ok(())
}

/// Whether a tenant of this partition has anything in live mode.
pub(super) async fn has_live_money(services: &Services, number: u32) -> Result<bool, Problem> {
    let (book, _) = services.engine.view(tenant_key(number, Mode::Live)).await.map_err(failure)?;
    Ok(matches!(book, AnyBook::Tenant(book) if !book.accounts.is_empty() || !book.agenda.is_empty()))
}

pub fn show_halted(services: &Services) -> Vec<Vec<u8>> {
    services.engine.halted().iter().map(|book| show_book(services, book)).collect()
}

shown! {
    pub fn show_book(services: &Services, book: &actors::Halted), halted_schema, 512 {
        number "tenantKey" = book.tenant, count().about("As `serve --set-aside` takes it.");
        maybe plain "tenantId" = tenant_of(&services.callers, book.tenant), uuid();
        plain "mode" = Mode::of(book.tenant).name(), one_of(Mode::ALL.map(Mode::name));
        plain "since" = Timestamp::from_unix_ms(book.since_ms), instant();
        text "why" = &book.why, text();
    }
}

shown! {
    fn show_resumed(mode: Mode, tenant_key: u64, derived: &Rederived), resumed_schema, 512 {
        plain "mode" = mode.name(), one_of(Mode::ALL.map(Mode::name));
        number "tenantKey" = tenant_key, count();
        number "records" = derived.records, count().about("That lead to the book.");
        number "snapshotsRemoved" = derived.wrong.len(),
            count().about("That were not what the records lead to.");
    }
}

async fn resume(call: Call) -> CallResult {
    call.body.nothing()?;
    let tenant = call.tenant()?;
    let _turn = call.turns.of(tenant.number).await;
    let halted: Vec<Mode> = Mode::ALL
        .into_iter()
        .filter(|mode| call.services.engine.is_halted(tenant_key(tenant.number, *mode)))
        .collect();
    if halted.is_empty() {
        return Err(Problem::conflict("tenant_not_halted", "no book of this tenant is halted"));
    }
    // The resumption may stop half-way, so it is written down before. That also gives the next
    // snapshot another sequence than every snapshot before it.
    ask::platform(&call.services, PlatformAsk::Acted, None, call.signature.take()).await?;
    let mut resumed = Vec::new();
    for mode in halted {
        let key = tenant_key(tenant.number, mode);
        let derived = match go_on(&call.services, key).await {
            Ok(derived) => derived,
            Err(problem) => {
                // A book that went on already must not do so under old settings; that this one
                // cannot take them is known.
                if !resumed.is_empty() {
                    let _ = push_tenant_settings(&call.services, tenant.number).await;
                }
                return Err(problem);
            }
        };
        tracing::info!(
            tenant_key = key,
            records = derived.records,
            snapshots_removed = derived.wrong.len(),
            "an operator resumed a book"
        );
        resumed.push(show_resumed(mode, key, &derived));
    }
    // The tenant's settings may have changed while its books were halted.
    push_tenant_settings(&call.services, tenant.number).await?;
    Ok(Done::ok(Object::new().plain("tenantId", tenant.id).list("resumed", resumed).end()))
}

async fn go_on(services: &Services, key: u64) -> Result<Rederived, Problem> {
    let engine = &services.engine;
    if !services.is_rehearsal() {
        engine.halted_fence(key).await.map_err(failure)?;
    }
    let reader = engine.reader().clone();
    let seq = engine.real_seq();
    let derived = tokio::task::spawn_blocking(move || rederive(&reader, key, seq)).await;
    let derived =
        derived.map_err(|_| ask::defect("a panic while a book was derived"))?.map_err(|failed| {
            let public =
                format!("the records of tenant key {key} do not prove right, so it stays halted: {failed}");
            Problem::conflict("book_not_proved", public)
                .because(format!("the book of tenant key {key} cannot be resumed: {failed}"))
        })?;
    if services.is_rehearsal() {
        return Ok(derived);
    }
    engine
        .resume(key, seq, derived.book.clone(), derived.settled_ms, &derived.wrong)
        .await
        .map_err(failure)?;
    Ok(derived)
}
