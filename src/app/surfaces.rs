//! What answers on the two listeners, put together.

use super::{StartupError, guard};
use crate::admin::AdminApi;
use crate::checkout::{self, Checkout};
use crate::config::Config;
use crate::console;
use crate::gateway::dispatch::Gateway;
use crate::gateway::public::Public;
use crate::gateway::rail_calls::{self, R4Settings, RailCalls};
use crate::gateway::services::Services;
use crate::http::documents;
use crate::metrics::Metrics;
use crate::network::TrustedProxies;
use crate::pages::front::Pages;
use crate::portal;
use crate::server::{Audiences, Server};
use std::sync::Arc;

pub(super) fn servers(
    config: &Config,
    services: &Arc<Services>,
    metrics: Metrics,
) -> Result<[Server; 2], StartupError> {
    let (server, limits) = (&config.server, &config.limits);
    let proxies = TrustedProxies(server.trusted_proxies.clone());
    let withdrawals = config.withdraw.clone();
    let policy = withdrawals
        .policy(&config.tenant_defaults.withdraw_fee_policy)
        .cloned()
        .ok_or(StartupError::NoPolicy)?;
    let shared = || Arc::clone(services);
    let is_secure = server.tls.is_some() || services.site.base_url.starts_with("https://");
    let buyers = checkout::Limits::new(proxies.clone(), limits.misses_per_minute, limits.misses_burst);
    let rails = &config.rails;
    let callers = rail_calls::Settings {
        r4: rails.r4.as_ref().map(|r4| R4Settings {
            callback_uuid: r4.callback_uuid.clone(),
            callback_sources: r4.callback_sources.clone(),
            commerce_phone: r4.commerce_phone,
        }),
        wompi_events_secret: rails.wompi.as_ref().map(|wompi| wompi.events_secret.clone()),
    };
    let audiences = Arc::new(Audiences {
        tenants: Gateway::new(shared()),
        visitors: Public::new(shared(), &config.public_allowed_origins, withdrawals, policy),
        banks: RailCalls::new(shared(), callers),
        buyers: Checkout::new(shared(), buyers),
        portal: Pages::new(shared(), &portal::SITE, proxies.clone(), is_secure),
        operators: AdminApi::new(shared()),
        console: Pages::new(shared(), &console::SITE, TrustedProxies::default(), config.admin.tls.is_some()),
    });
    let home = documents::home(&services.site.base_url, config.demo_key())
        .map_err(StartupError::of("the page at /"))?;
    Ok([
        Server::public(
            shared(),
            Arc::clone(&audiences),
            proxies,
            home,
            config.demo_key(),
            config.test.open_accounts,
        ),
        Server::of_operators(shared(), audiences, guard(config), metrics),
    ])
}
