//! The surfaces behind the listeners, put together: who answers tenants, merchants and buyers, and
//! who answers operators.

use super::{StartupError, guard, live_rails, translate};
use crate::admin::AdminApi;
use crate::checkout::{self, Front};
use crate::config::Config;
use crate::console::Console;
use crate::gateway::dispatch::Gateway;
use crate::gateway::public::Public;
use crate::gateway::rail_calls::RailCalls;
use crate::gateway::services::Services;
use crate::http::documents;
use crate::metrics::Metrics;
use crate::pages::front;
use crate::portal::Portal;
use std::sync::Arc;

/// The answers to merchants, buyers, tenants and the public.
pub(super) type ApiSurface = front::Front<Portal<Front<Gateway>>>;
/// The answers to operators.
pub(super) type AdminSurface = front::Front<Console<AdminApi>>;

/// The surface of tenants, behind the pages of merchants and buyers.
pub(super) fn api(config: &Config, services: &Arc<Services>) -> Result<ApiSurface, StartupError> {
    let home = documents::home(&services.site.base_url, config.demo_key()).map_err(StartupError::Page)?;
    let public = public(config, services)?;
    let rail_calls = RailCalls::new(Arc::clone(services), live_rails::callers(config)?)?;
    let gateway = Gateway::new(
        Arc::clone(services),
        config.limits.requests_per_second,
        config.limits.burst,
        public,
        rail_calls,
        home,
        config.demo_key(),
    )?;
    let buyers = checkout::Limits::new(
        config.server.trusted_proxies.clone(),
        config.limits.misses_per_minute,
        config.limits.misses_burst,
    );
    portal(config, services, Front::new(Arc::clone(services), gateway, buyers)?)
}

/// The surface of operators, behind their console.
pub(super) fn admin(
    config: &Config,
    services: &Arc<Services>,
    metrics: Metrics,
) -> Result<AdminSurface, StartupError> {
    let api = AdminApi::new(Arc::clone(services), metrics, guard(config))?;
    console(config, services, api)
}

/// The public API and what it needs.
fn public(config: &Config, services: &Arc<Services>) -> Result<Public, StartupError> {
    let withdrawals = translate::withdrawals(&config.withdraw)?;
    let policy = withdrawals
        .policy(config.tenant_defaults.withdraw_fee_policy)
        .cloned()
        .ok_or(StartupError::NoPolicy)?;
    Ok(Public::new(Arc::clone(services), &config.public_allowed_origins, withdrawals, policy)?)
}

/// The console of operators, in front of their API.
fn console(
    config: &Config,
    services: &Arc<Services>,
    api: AdminApi,
) -> Result<front::Front<Console<AdminApi>>, StartupError> {
    let site = Console::new(Arc::clone(services), guard(config), api);
    Ok(front::Front::new(Arc::clone(services), site, Vec::new(), config.admin.tls.is_some())?)
}

/// The portal of merchants, in front of what buyers and tenants are answered by.
fn portal(
    config: &Config,
    services: &Arc<Services>,
    api: Front<Gateway>,
) -> Result<front::Front<Portal<Front<Gateway>>>, StartupError> {
    let site = Portal::new(Arc::clone(services), api);
    let is_secure = config.server.tls.is_some() || services.site.base_url.starts_with("https://");
    let proxies = config.server.trusted_proxies.clone();
    Ok(front::Front::new(Arc::clone(services), site, proxies, is_secure)?)
}
