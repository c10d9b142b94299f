//! Payments and sellers one at a time, with the people in them masked or, for support, unmasked; each
//! look at those is in the audit (`docs/contract.md, 20.1, 20.3`). And what support may do of a tenant's:
//! cancel a payment, send an event again.

use super::call::{Call, CallResult, Done};
use super::chargebacks::tell;
use crate::gateway::services::Services;
use crate::gateway::{ask, webhooks};
use crate::store::read_budget::{ReadBudget, Stopped};
use crate::store::{history, story};
use crate::webhooks::backlog;
use api::answer::{Facts, Rendered};
use api::cop_payments::payouts::show_to_operator;
use api::kind::Kind as _;
use api::merchants;
use api::openapi::kinds;
use api::operators::{masked, unmasked_payment};
use api::payments::show_entity;
use api::problem::Problem;
use api::query::Query;
use api::writer::Object;
use domain::platform::audit::AuditEntry;
use domain::platform::operators::Role;
use domain::platform::{Mode, PLATFORM, PlatformAsk, tenant_key};
use domain::record::Entity;
use domain::resources::cop_payments::Channel;
use domain::resources::cop_payments::codes::WrongCodes;
use domain::resources::payments::{Method, Status};
use domain::resources::{cop_payments, payments};
use domain::values::ids::{EntityId, Id};
use std::sync::Arc;

/// An entity, and the tenant key that it belongs to.
type Found = (u64, Arc<Entity>);

/// Looks for an entity of any of these kinds among those of all tenants, in both modes.
async fn find(call: &Call, ids: Vec<EntityId>) -> Result<Found, Problem> {
    let read = move |services: &Services, budget: &ReadBudget| search(services, &ids, budget);
    call.services.read_pool.read(&call.services, PLATFORM, read).await?.ok_or_else(Problem::not_found)
}

fn search(services: &Services, ids: &[EntityId], budget: &ReadBudget) -> Result<Option<Found>, Stopped> {
    for tenant in services.callers.directory.tenants() {
        for mode in [Mode::Live, Mode::Test] {
            let key = tenant_key(tenant.number, mode);
            budget.spend()?;
            for id in ids {
                if let Some(found) = history::entity(services.engine.reader(), key, *id)? {
                    return Ok(Some((key, found)));
                }
            }
        }
    }
    Ok(None)
}

async fn find_payment(call: &Call) -> Result<Found, Problem> {
    let id = call.id("id").ok_or_else(Problem::not_found)?;
    find(call, vec![EntityId::payment(id), EntityId::cop_payment(id)]).await
}

/// Whether personal data are asked for unmasked; 403 for who may not see them.
fn reads_unmasked(call: &Call) -> Result<bool, Problem> {
    call.asked(|query| asked(query, || call.operator.must_be(Role::Support)))
}

/// Reads whether personal data are asked for unmasked, if whoever calls may see them.
pub(super) fn asked(
    mut query: Query<'_>,
    must_see: impl FnOnce() -> Result<(), Problem>,
) -> Result<bool, Problem> {
    let unmask = kinds::boolean().about("People unmasked; takes the role `support`, and is in the audit.");
    let unmask = query.optional("unmask", unmask);
    if unmask.peek_some() == Some(&true) {
        must_see()?;
    }
    let sound = query.finish()?;
    Ok(unmask.get(&sound).unwrap_or(false))
}

/// The members that operators see of anything: whose it is, and in which mode.
fn with_tenant(call: &Call, tenant_key: u64, shown: Vec<u8>) -> Vec<u8> {
    let mode = if domain::platform::is_live(tenant_key) { Mode::Live } else { Mode::Test };
    let shown = Object::reopened(shown).maybe_plain("tenantId", call.tenant_of(tenant_key));
    shown.plain("mode", mode.name()).end()
}

/// Writes down that somebody sees personal data, before they are shown.
async fn note_look(call: &Call, action: &str, tenant_key: u64) -> Result<(), Problem> {
    note_read(call, call.entry(action, call.tenant_of(tenant_key))).await
}

/// Writes down what a read uncovers, before it is shown: it needs what a write needs.
pub(super) async fn note_read(call: &Call, entry: Box<AuditEntry>) -> Result<(), Problem> {
    call.services.admit(None, true)?;
    ask::platform(&call.services, PlatformAsk::Acted, None, Some(entry)).await.map(drop)
}

/// GET /admin/payments/:id
pub async fn read_payment(call: Call) -> CallResult {
    let is_unmasked = reads_unmasked(&call)?;
    let (tenant_key, payment) = find_payment(&call).await?;
    let shown = show_entity(&payment).ok_or_else(Problem::not_found)?;
    let shown = match &*payment {
        Entity::Payment(payment) if is_unmasked => unmasked_payment(shown, payment),
        Entity::CopPayment(payment) if payment.channel == Channel::Sms => {
            let wrong_codes = wrong_codes(&call, tenant_key, payment.id).await?;
            Object::reopened(shown).maybe_number("wrongCodes", wrong_codes).end()
        }
        _ => shown,
    };
    if is_unmasked {
        note_look(&call, "payment.unmask", tenant_key).await?;
    }
    Ok(Done::ok(with_tenant(&call, tenant_key, shown)))
}

/// The number of wrong SMS codes that were typed for a payment in pesos; none if its first records are
/// too old to be looked at.
async fn wrong_codes(call: &Call, tenant_key: u64, id: Id) -> Result<Option<usize>, Problem> {
    let entity = EntityId::cop_payment(id);
    let read = move |services: &Services, budget: &ReadBudget| {
        story::read(services.engine.reader(), tenant_key, entity, budget)
    };
    let story = call.services.read_pool.read(&call.services, PLATFORM, read).await?;
    let mut codes = WrongCodes::default();
    let wrong = story.moments.iter().filter(|moment| {
        let state = moment.record.entity(entity).map(|state| &**state);
        matches!(state, Some(Entity::CopPayment(payment)) if codes.next(moment.record.cause, payment).is_some())
    });
    let wrong = wrong.count();
    Ok(story.is_whole.then_some(wrong))
}

/// GET /admin/merchants/:id
pub async fn read_merchant(call: Call) -> CallResult {
    let is_unmasked = reads_unmasked(&call)?;
    let id = call.id("id").ok_or_else(Problem::not_found)?;
    let (tenant_key, merchant) = find(&call, vec![EntityId::merchant(id)]).await?;
    let Entity::Merchant(merchant) = &*merchant else { return Err(Problem::not_found()) };
    let clear = merchants::show(merchant);
    let shown = if is_unmasked {
        note_look(&call, "merchant.unmask", tenant_key).await?;
        clear
    } else {
        masked(&String::from_utf8_lossy(&clear)).into_bytes()
    };
    Ok(Done::ok(with_tenant(&call, tenant_key, shown)))
}

/// GET /admin/cop-payouts/:id: whoever pays it sees to whom, and that is in the audit.
pub async fn read_cop_payout(call: Call) -> CallResult {
    let id = call.id("id").ok_or_else(Problem::not_found)?;
    let (tenant_key, payout) = find(&call, vec![EntityId::cop_payout(id)]).await?;
    let Entity::CopPayout(payout) = &*payout else { return Err(Problem::not_found()) };
    let in_clear = call.operator.must_be(Role::Treasury).is_ok();
    if in_clear {
        note_look(&call, "cop-payout.unmask", tenant_key).await?;
    }
    Ok(Done::ok(with_tenant(&call, tenant_key, show_to_operator(payout, in_clear))))
}

/// POST /admin/payments/:id/cancel: an intent, or a payment in pesos, that waits for its payer.
pub async fn cancel_payment(call: Call) -> CallResult {
    call.body.optional_fields()?.finish()?;
    let (tenant_key, payment) = find_payment(&call).await?;
    let not_pending = || {
        Problem::conflict(
            "payment_not_pending",
            "only a C2P intent or a payment in pesos that waits for its payer can be canceled, so nothing \
             was changed; read this payment for its status",
        )
    };
    let id = payment.id();
    match &*payment {
        Entity::Payment(payment) if payment.method() == Method::C2p && payment.status == Status::Pending => {
            let command = payments::Command::CancelIntent.into();
            tell(&call, tenant_key, id, command, id.id).await
        }
        Entity::CopPayment(_) => {
            // The processor has a say: the entry goes into the record of its word.
            let by = call.sign_about(call.tenant_of(tenant_key), Some(id.id.to_string()));
            let command = cop_payments::Command::Cancel(by).into();
            tell(&call, tenant_key, id, command, id.id).await
        }
        _ => Err(not_pending()),
    }
}

/// The payment that was canceled, of either kind.
pub fn show_canceled(facts: &Facts<'_>) -> Option<Rendered> {
    match facts.entity? {
        Entity::CopPayment(_) => api::cop_payments::settled(facts),
        _ => api::payments::settled(facts),
    }
}

/// POST /admin/events/:id/resend: to whoever listens now, as the tenant's own call does.
pub async fn resend_event(call: Call) -> CallResult {
    call.body.optional_fields()?.finish()?;
    let id = call.id("id").ok_or_else(Problem::not_found)?;
    let tenant_key = tenant_of_event(&call, id).await?.ok_or_else(Problem::not_found)?;
    let (body, seq) = webhooks::resend_to_all(&call.services, tenant_key, id, None).await?;
    call.signature.about(call.tenant_of(tenant_key));
    let mut done = Done { status: 202, ..Done::ok(body) };
    done.trace.seq = seq;
    Ok(done)
}

/// The tenant key whose event this is: an event's id carries its number, not its tenant.
async fn tenant_of_event(call: &Call, id: Id) -> Result<Option<u64>, Problem> {
    let read = move |services: &Services, budget: &ReadBudget| {
        for tenant in services.callers.directory.tenants() {
            for mode in [Mode::Live, Mode::Test] {
                let key = tenant_key(tenant.number, mode);
                budget.spend()?;
                let happened = backlog::numbered(services.engine.reader(), key, id.number())?;
                if happened.is_some_and(|happened| happened.event().id == id) {
                    return Ok(Some(key));
                }
            }
        }
        Ok(None)
    };
    call.services.read_pool.read(&call.services, PLATFORM, read).await
}
