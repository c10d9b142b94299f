//! Takes what an operator set for a tenant, its settings and its live status, from the platform's book to
//! the two books that decide by it.
//!
//! A change is durable first and pushed then; the platform's book remembers which version both books
//! have. What a crash leaves unpushed is pushed at the next start.

use super::ask;
use crate::gateway::services::Services;
use crate::http::respond::Trace;
use actors::Engine;
use api::problem::Problem;
use domain::kept::KeepRef;
use domain::machine::Command;
use domain::machine::Domain;
use domain::platform::Tenant;
use domain::platform::audit::AuditEntry;
use domain::platform::settings::{LiveStatus, Settings};
use domain::resources::tenants::PlatformAsk;
use domain::values::ids::{Mode, tenant_key};
use std::sync::Arc;

/// Writes new settings of a tenant and takes them to both of its books. Called in the tenant's turn.
pub async fn set_tenant_settings(
    services: &Services,
    tenant: &Tenant,
    settings: Arc<Settings>,
    live_status: LiveStatus,
    reason: Option<String>,
    keep: Option<KeepRef>,
    audit: Option<Box<AuditEntry>>,
) -> Result<(Arc<Tenant>, Trace), Problem> {
    let number = tenant.number;
    let ask = PlatformAsk::SetTenantSettings {
        number,
        base: tenant.tenant_settings.version,
        settings,
        live_status,
        reason,
    };
    let changed = ask::platform(services, ask, keep, audit).await?;
    // Pushed also when nothing changed: the same call makes up for a push that failed before.
    push_tenant_settings(services, number).await?;
    let tenant = services.callers.directory.tenant_numbered(number).ok_or_else(Problem::not_found)?;
    Ok((tenant, changed.trace))
}

pub async fn change_settings(
    services: &Services,
    number: u32,
    change: impl FnOnce(&mut Settings) + Send,
) -> Result<(Arc<Tenant>, Trace), Problem> {
    let _turn = services.callers.turns.of(number).await;
    let tenant = services.callers.directory.tenant_numbered(number).ok_or_else(Problem::not_found)?;
    let mut settings = (*tenant.tenant_settings.settings).clone();
    change(&mut settings);
    set_tenant_settings(
        services,
        &tenant,
        Settings::shared(Arc::new(settings)),
        tenant.tenant_settings.live_status,
        tenant.tenant_settings.reason.as_deref().map(str::to_owned),
        None,
        None,
    )
    .await
}

/// Gives the newest settings of a tenant to both of its books, which have them durably when this returns.
pub async fn push_tenant_settings(services: &Services, number: u32) -> Result<(), Problem> {
    let Some(tenant) = services.callers.directory.tenant_numbered(number) else {
        return Err(Problem::not_found());
    };
    // Another partition's books have them once it has followed.
    if tenant.partition != services.callers.partition || tenant.pushed >= tenant.tenant_settings.version {
        return Ok(());
    }
    let pushed = async {
        let (live, test) = tokio::join!(
            push_to(&services.engine, &tenant, Mode::Live),
            push_to(&services.engine, &tenant, Mode::Test)
        );
        live.and(test)?;
        ask::platform_patiently(services, || PlatformAsk::Pushed {
            number,
            version: tenant.tenant_settings.version,
        })
        .await
    };
    match pushed.await {
        Ok(_) => Ok(()),
        Err(problem) => {
            tracing::error!(tenant = %tenant.id, version = tenant.tenant_settings.version, %problem, error = problem.private_message(), "tenant settings are durable and not in force yet");
            Err(Problem {
                message: "the change is kept but not in force everywhere yet; send it again".into(),
                ..problem
            })
        }
    }
}

async fn push_to(engine: &Engine<Domain>, tenant: &Tenant, mode: Mode) -> Result<(), Problem> {
    let tenant_settings = || Command::TenantSettings(tenant.tenant_settings.clone()).into();
    ask::book_patiently(engine, tenant_key(tenant.number, mode), tenant_settings).await.map(drop)
}

pub async fn push_pending(services: &Services) -> Result<(), Problem> {
    let own = |tenant: &Arc<Tenant>| tenant.partition == services.callers.partition;
    for tenant in services.callers.directory.tenants().into_iter().filter(own) {
        let goes_on = |mode: &Mode| !services.engine.is_halted(tenant_key(tenant.number, *mode));
        let going_on: Vec<Mode> = Mode::ALL.into_iter().filter(goes_on).collect();
        if going_on.len() == Mode::ALL.len() {
            push_tenant_settings(services, tenant.number).await?;
            continue;
        }
        // A book that is set aside gets it when it is resumed, and only then both are known to have
        // it; the other must not decide by old settings until then.
        for mode in going_on.into_iter().filter(|_| tenant.pushed < tenant.tenant_settings.version) {
            push_to(&services.engine, &tenant, mode).await?;
        }
    }
    Ok(())
}
