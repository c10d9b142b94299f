//! Tenants, their settings and their live status.

use super::ask;
use super::call::{Call, CallResult, Done};
use super::tenant_settings::{push_tenant_settings, set_tenant_settings};
use crate::gateway::ask::Changed;
use crate::gateway::key_secrets::{Secret, stem};
use crate::gateway::services::Services;
use crate::rails::registry::Registry;
use api::fields::{Fields, Got, Invalid};
use api::kind::{Kind as _, kind};
use api::openapi::kinds;
use api::openapi::schema::{self, Schema};
use api::page::{ListOf, Page, bad_cursor, page_json};
use api::problem::Problem;
use api::query::Query;
use api::tenants::{self, settings};
use api::value::Value;
use domain::kept::KeepRef;
use domain::platform::audit::AuditEntry;
use domain::platform::settings::{LiveStatus, Settings};
use domain::platform::{ApiKey, Mode, PLATFORM, PlatformAsk, PlatformChange, Tenant};
use domain::resources::payments::Method;
use domain::values::ids::Id;
use std::sync::Arc;

/// Characters of a tenant's name.
const NAME_CHARACTERS: std::ops::RangeInclusive<usize> = 1..=120;
const REASON_CHARACTERS: std::ops::RangeInclusive<usize> = 0..=500;

/// POST /admin/tenants
pub async fn create(call: Call) -> CallResult {
    let services = &*call.services;
    let (name, settings) = read_new(call.body.fields()?, &services.callers.tenant_defaults)?;
    let (mut keys, mut secrets) = (Vec::new(), Vec::new());
    for mode in [Mode::Test, Mode::Live] {
        let id = services.fresh_id(PLATFORM);
        let secret = Secret::new(&services.keys, id, stem(mode), call.idempotency_key.as_deref())?;
        keys.push(secret.key(id, mode));
        secrets.push((id, secret));
    }
    let (keep, _held) = call.keep();
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

/// Reads the body of a new tenant: its name, and its settings, which are the defaults with what is said.
pub(super) fn read_new(mut fields: Fields<'_>, defaults: &Settings) -> Result<(String, Settings), Invalid> {
    let name = fields.required("name", kinds::trimmed(NAME_CHARACTERS));
    let part = kinds::named("SettingsPart", |fields| settings::read(defaults, fields));
    let given: Got<Option<Settings>> = fields.optional("settings", part);
    let sound = fields.finish()?;
    Ok((name.get(&sound).into_owned(), given.get(&sound).unwrap_or_else(|| defaults.clone())))
}

/// Opens a tenant. Its settings are not pushed to its books yet.
pub(super) async fn open(
    services: &Services,
    (id, name): (Id, String),
    settings: Settings,
    keys: Vec<ApiKey>,
    (keep, audit): (Option<KeepRef>, Option<Box<AuditEntry>>),
) -> Result<(Changed, Arc<Tenant>), Problem> {
    let ask = PlatformAsk::Open { id, name, settings: Settings::shared(Arc::new(settings)), keys };
    let opened = ask::platform(services, ask, keep, audit).await?;
    let tenant = match opened.change() {
        Some(PlatformChange::Opened { tenant, .. }) => Arc::clone(tenant),
        _ => return Err(ask::defect("a tenant was opened and its record does not say so")),
    };
    Ok((opened, tenant))
}

/// Reads which accounts are asked for: all, or those that wait for live mode.
pub(super) fn asked(mut query: Query<'_>, list: ListOf<'_>) -> Result<(bool, Page), Invalid> {
    let asked = kinds::boolean().about("Only those that asked for live mode and were not answered.");
    let asked = query.optional("liveAsked", asked);
    let page = query.page(list);
    let sound = query.finish()?;
    Ok((asked.get(&sound).unwrap_or(false), page.get(&sound)))
}

/// GET /admin/tenants
pub async fn list(call: Call) -> CallResult {
    let (only_asked, page) = call.listed("tenants", asked)?;
    let after = match &page.after {
        None => u32::MAX,
        Some(position) => {
            let number = <[u8; 4]>::try_from(position.as_slice());
            number.map(u32::from_be_bytes).map_err(|_| bad_cursor())?
        }
    };
    let directory = &call.services.callers.directory;
    let asked_at = |tenant: &Tenant| directory.live_asked_at(tenant.number);
    let tenants: Vec<_> = directory
        .tenants()
        .into_iter()
        .filter(|tenant| tenant.number < after && (!only_asked || asked_at(tenant).is_some()))
        .take(page.limit + 1)
        .collect();
    let shown = &tenants[..tenants.len().min(page.limit)];
    let next =
        shown.last().filter(|_| tenants.len() > page.limit).map(|last| page.next(&last.number.to_be_bytes()));
    let shown = shown.iter().map(|tenant| tenants::show_asking(tenant, asked_at(tenant)));
    Ok(Done::ok(page_json(shown, next.as_deref())))
}

/// GET /admin/tenants/:id
pub async fn read(call: Call) -> CallResult {
    let tenant = call.tenant().ok_or_else(Problem::not_found)?;
    let live_asked_at = call.services.callers.directory.live_asked_at(tenant.number);
    Ok(Done::ok(tenants::show_asking(&tenant, live_asked_at)))
}

/// PATCH /admin/tenants/:id/settings
pub async fn set_settings(call: Call) -> CallResult {
    let services = &*call.services;
    let known = call.tenant();
    let _turn = call.turns.of(known.as_ref().map_or(0, |tenant| tenant.number)).await;
    // Read again in turn: the settings that the change is merged into are those in force.
    let tenant = call.tenant();
    let base =
        tenant.as_ref().map_or(&services.callers.tenant_defaults, |tenant| &*tenant.tenant_settings.settings);
    let merged = settings::change(base, call.body.fields()?)?;
    let tenant = tenant.as_ref().ok_or_else(Problem::not_found)?;
    let tenant_settings = &tenant.tenant_settings;
    let (tenant, trace) = set_tenant_settings(
        services,
        tenant,
        merged.into(),
        tenant_settings.live_status,
        tenant_settings.reason.clone(),
        None,
        call.sign(),
    )
    .await?;
    Ok(Done::ok(settings::show(&tenant.tenant_settings.settings)).traced(trace))
}

/// POST /admin/tenants/:id/live-status
pub async fn set_live_status(call: Call) -> CallResult {
    let (status, reason) = read_live_status(call.body.fields()?)?;
    let known = call.tenant().ok_or_else(Problem::not_found)?;
    if let Some(waiting) = call.waits_for_approval().await? {
        return Ok(waiting);
    }
    let _turn = call.turns.of(known.number).await;
    let tenant = call.tenant().ok_or_else(Problem::not_found)?;
    let is_activated = status == LiveStatus::Active;
    let services = &call.services;
    let (keep, _held) = call.keep();
    // The list of missing rails is no part of the tenant, so that answer is kept by itself; a
    // repeat that comes before it is kept finds nothing more to change.
    let (keep, keep_with_warnings) = if is_activated { (None, keep) } else { (keep, None) };
    let settings = Arc::clone(&tenant.tenant_settings.settings);
    let (tenant, trace) =
        set_tenant_settings(services, &tenant, settings, status, reason, keep, call.sign()).await?;
    if !is_activated {
        return Ok(Done::ok(tenants::show(&tenant)).traced(trace));
    }
    let unpriced = services.prices.missing_in_live(services.now()).map(|need| need.to_string());
    let body = tenants::show_activated(&tenant, unserved(&services.rails).into_iter().chain(unpriced));
    let trace = match keep_with_warnings {
        Some(keep) => {
            ask::done_and_answered(services, ask::Done::default(), Some(keep), (200, &body)).await?
        }
        None => trace,
    };
    Ok(Done::ok(body).traced(trace))
}

/// Reads a live status, and why it is to be so.
pub(super) fn read_live_status(mut fields: Fields<'_>) -> Result<(LiveStatus, Option<String>), Invalid> {
    let status = kind(
        |value: Value<'_>| value.text_known("active, suspended or inactive", LiveStatus::from_name),
        live_status,
    );
    let status: Got<LiveStatus> = fields.required("status", status);
    let reason = fields.optional("reason", kinds::prose(REASON_CHARACTERS));
    let sound = fields.finish()?;
    let reason = reason.get(&sound).map(|reason| reason.into_owned()).filter(|reason| !reason.is_empty());
    Ok((status.get(&sound), reason))
}

pub(super) fn live_status() -> Schema {
    schema::one_of([LiveStatus::Inactive, LiveStatus::Active, LiveStatus::Suspended].map(LiveStatus::name))
}

/// A warning for each method of collecting that no rail of live mode serves.
fn unserved(rails: &Registry) -> Vec<String> {
    let is_served = |method: &Method| match method {
        // Over whichever network.
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
