//! Books that are halted: which they are, and their way back.

use super::call::{Call, CallResult, Done};
use super::tenant_settings::push_tenant_settings;
use crate::gateway::ask;
use crate::gateway::ask::failure;
use crate::gateway::services::Services;
use crate::recovery::rederive::{Rederived, rederive};
use api::problem::Problem;
use api::writer::Object;
use domain::platform::{Mode, PlatformAsk, is_live, tenant_key};
use domain::values::time::Timestamp;

/// The halted books, as the state of the server shows them.
pub fn show(services: &Services) -> Vec<Vec<u8>> {
    let show = |book: actors::Halted| {
        let tenant = services
            .callers
            .directory
            .tenants()
            .into_iter()
            .find(|tenant| u64::from(tenant.number) == book.tenant / 2);
        Object::new()
            .number("tenantKey", book.tenant)
            .maybe_plain("tenantId", tenant.map(|tenant| tenant.id))
            .plain("mode", if is_live(book.tenant) { Mode::Live.name() } else { Mode::Test.name() })
            .plain("since", Timestamp::from_unix_ms(book.since_ms))
            .text("why", book.why)
            .end()
    };
    services.engine.halted().into_iter().map(show).collect()
}

/// POST /admin/tenants/:id/resume
pub async fn resume(call: Call) -> CallResult {
    call.body.optional_fields()?.finish()?;
    let tenant = call.tenant().ok_or_else(Problem::not_found)?;
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
    ask::platform(&call.services, PlatformAsk::Acted, None, call.sign()).await?;
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
        let shown = Object::new()
            .plain("mode", mode.name())
            .number("tenantKey", key)
            .number("records", derived.records);
        resumed.push(shown.number("snapshotsRemoved", derived.wrong.len()).end());
    }
    // The tenant's settings may have changed while its books were halted.
    push_tenant_settings(&call.services, tenant.number).await?;
    Ok(Done::ok(Object::new().plain("tenantId", tenant.id).list("resumed", resumed).end()))
}

/// Has a halted book go on as what its records lead to, if they prove right.
async fn go_on(services: &Services, key: u64) -> Result<Rederived, Problem> {
    let engine = &services.engine;
    engine.halted_fence(key).await.map_err(failure)?;
    let reader = engine.reader().clone();
    let seq = reader.last_seq();
    let derived = tokio::task::spawn_blocking(move || rederive(&reader, key, seq)).await;
    let derived =
        derived.map_err(|_| ask::defect("a panic while a book was derived"))?.map_err(|failed| {
            let public =
                format!("the records of tenant key {key} do not prove right, so it stays halted: {failed}");
            Problem::conflict("book_not_proved", public)
                .because(format!("the book of tenant key {key} cannot be resumed: {failed}"))
        })?;
    engine
        .resume(key, seq, derived.book.clone(), derived.settled_ms, &derived.wrong)
        .await
        .map_err(failure)?;
    Ok(derived)
}
