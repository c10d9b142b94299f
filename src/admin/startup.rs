//! What a start needs: who may call, and the first tenants.

use super::{ask, secret, sheets, tenants};
use crate::api::problem::Problem;
use crate::config::BootstrapTenant;
use crate::domain::platform::{Mode, PLATFORM};
use crate::domain::view::{Query, View};
use crate::server::dispatch::failure;
use crate::server::services::Services;

/// Fills the directory of callers from the platform's book.
pub async fn load_directory(services: &Services) -> Result<(), Problem> {
    match services.engine.view(PLATFORM, Query::Platform).await.map_err(failure)? {
        View::Platform { tenants, keys } => {
            tenants.iter().for_each(|tenant| services.directory.learn_tenant(tenant));
            keys.iter().for_each(|key| services.directory.learn_key(key));
            Ok(())
        }
        View::Balance(_) | View::Clock(_) => Err(ask::defect("the platform's book is none")),
    }
}

/// On a first start, when the loaded directory knows no tenant, opens these with the keys that are fixed. A random key that nobody is ever shown is not made; an operator makes one when it
/// is needed.
pub async fn bootstrap(services: &Services, entries: &[BootstrapTenant]) -> Result<(), Problem> {
    if !services.directory.tenants().is_empty() {
        return Ok(());
    }
    for entry in entries {
        let fixed = [(Mode::Test, &entry.test_key), (Mode::Live, &entry.live_key)];
        let keys = fixed.into_iter().filter_map(|(mode, key)| key.as_ref().map(|key| secret::kept_of(key, mode, services.now())));
        let (tenant, seq) = tenants::open(services, entry.name.clone(), services.tenant_defaults.clone(), keys.collect()).await?;
        sheets::push_sheet(services, tenant.number).await?;
        tracing::info!(tenant = %tenant.id, name = tenant.name, wal_seq = seq, "a tenant of the configuration was opened");
    }
    Ok(())
}
