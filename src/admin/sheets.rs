//! Takes a tenant's sheet, its settings and live status, from the platform's book to the two books that decide by it.
//!
//! The sheet is durable first and pushed then; the platform's book remembers which version both books have. What a crash leaves unpushed is pushed at the next start.

use super::ask;
use crate::api::problem::Problem;
use crate::domain::machine::Ask;
use crate::domain::platform::{Mode, PlatformAsk, tenant_key};
use crate::server::services::Services;

/// Gives the newest sheet of a tenant to both of its books; they have it, durably, when this returns.
pub async fn push_sheet(services: &Services, number: u32) -> Result<(), Problem> {
    let Some(tenant) = services.directory.tenant_numbered(number) else { return Err(Problem::not_found()) };
    if tenant.pushed >= tenant.sheet.version {
        return Ok(());
    }
    let to = |mode| ask::book_patiently(services, tenant_key(number, mode), || Ask::Sheet(tenant.sheet.clone()));
    let pushed = async {
        let (live, test) = tokio::join!(to(Mode::Live), to(Mode::Test));
        live.and(test)?;
        ask::platform_patiently(services, || PlatformAsk::Pushed { number, version: tenant.sheet.version }).await
    };
    match pushed.await {
        Ok(_) => Ok(()),
        Err(problem) => {
            tracing::error!(tenant = %tenant.id, version = tenant.sheet.version, %problem, "a sheet is durable and not in force yet");
            Err(Problem { message: "the change is kept but not in force everywhere yet; send it again".into(), ..problem })
        }
    }
}

/// At a start: pushes what the last run left unpushed.
pub async fn push_pending(services: &Services) -> Result<(), Problem> {
    for tenant in services.directory.tenants() {
        push_sheet(services, tenant.number).await?;
    }
    Ok(())
}
