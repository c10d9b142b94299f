//! Chargebacks as operators record them: what the bank took back of a card payment, and how the
//! dispute about it ended.

use super::ask;
use super::call::{Call, CallResult};
use crate::gateway::ask::failure;
use crate::store::history::Unreadable;
use crate::store::read_budget::Stopped;
use crate::store::stored::{self, Stored};
use api::chargebacks::{payment_of, read_new, read_verdict};
use api::payments::find;
use api::problem::Problem;
use domain::commands::{Command, KeyedCommand};
use domain::index::{self, Space};
use domain::platform::{Mode, PLATFORM, tenant_key};
use domain::resources::chargebacks;
use domain::values::ids::{EntityId, Id};

/// POST /admin/tenants/:id/chargebacks
pub async fn open(call: Call) -> CallResult {
    let tenant = call.tenant();
    let number = tenant.as_ref().map_or(0, |tenant| tenant.number);
    let id = call.services.fresh_id(tenant_key(number, Mode::Live));
    let (payment, new) = read_new(call.body.fields()?, id)?;
    let tenant = tenant.ok_or_else(Problem::not_found)?;
    // The body names no mode: the payment is in one of them.
    for mode in [Mode::Live, Mode::Test] {
        let tenant_key = tenant_key(tenant.number, mode);
        let found = find(&Stored::of(call.services.engine.reader(), tenant_key), payment);
        if let Some(payment) = found.map_err(Stopped::from)? {
            // The fee goes to the platform whatever it is: a greater one is a correction of a balance.
            let fee_max = tenant.tenant_settings.settings.chargeback_fee_max();
            if new.fee.is_some_and(|fee| fee > fee_max) && !call.signature.has_consent() {
                let too_much = || {
                    let message =
                        format!("is at most {fee_max}, the setting chargebackFeeMax, without an approval");
                    Problem::invalid_field("feeVes", message)
                };
                return call.waits_for_approval().await?.ok_or_else(too_much);
            }
            return tell(&call, tenant_key, payment, chargebacks::Command::Open(Box::new(new)).into(), id)
                .await;
        }
    }
    Err(Problem::not_found())
}

/// POST /admin/chargebacks/:id/close
pub async fn close(call: Call) -> CallResult {
    let verdict = read_verdict(call.body.fields()?)?;
    let id = call.id("id").ok_or_else(Problem::not_found)?;
    let reader = call.services.engine.reader();
    let whose = reader
        .index_get(&index::name(PLATFORM, Space::Chargeback, &id.to_string()))
        .map_err(Unreadable::from)?;
    let whose = whose.ok_or_else(Problem::not_found)?;
    let tenant_key = <[u8; 8]>::try_from(whose.as_slice())
        .map(u64::from_be_bytes)
        .map_err(|_| ask::defect("a chargeback of no tenant"))?;
    let payment = payment_of(&Stored::of(reader, tenant_key), id).map_err(stored::problem)?;
    tell(&call, tenant_key, payment, chargebacks::Command::Close(id, verdict).into(), id).await
}

/// Asks the entity for a decision, once per Idempotency-Key.
pub(super) async fn tell(
    call: &Call,
    tenant_key: u64,
    entity: EntityId,
    ask: Command,
    about: Id,
) -> CallResult {
    call.services.may_decide(tenant_key)?;
    let (keep, held) = call.keep();
    let audit = call.sign_about(call.tenant_of(tenant_key), Some(about.to_string()));
    let command = KeyedCommand::from(ask).keeping(keep).audited(audit);
    let settled = call
        .services
        .engine
        .ask_entity(tenant_key, entity, false, command, None, held)
        .await
        .map_err(failure)?;
    call.answer(tenant_key, &settled)
}
