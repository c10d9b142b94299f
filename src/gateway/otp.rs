//! The codes that a bank sends its customers, in live mode: the bank is told before anything is
//! written, so that its silence leaves nothing behind (`docs/contract.md, 18.3`). Nothing is owed for a
//! code, and one that is sent in vain does no harm.
//!
//! In test mode the simulator is told by the effect of a record, like of any other order.

use crate::gateway::services::Services;
use crate::store::history;
use api::problem::Problem;
use api::refusals::problem;
use domain::entities::Entity;
use domain::entities::means::Debtor;
use domain::entities::payment::{Payment, Phase, Status};
use domain::rail::{Order, RailAnswer, Rails, Service, UNSENT_RETRY_SECONDS};
use domain::refusal::Refusal;
use domain::resources::payments::c2p::NewIntent;
use domain::resources::payments::otp::NewOtp;
use domain::values::ids::{EntityId, Id, is_live};
use domain::values::money::Ves;

/// Has the payer's bank send a key, if it does so at our word and the intent is one that will be made.
/// `previous` is the newest attempt on its reference.
pub async fn before_intent(
    services: &Services,
    tenant: u64,
    new: &mut NewIntent,
    previous: Option<&Payment>,
) -> Result<(), Problem> {
    if !is_live(tenant) {
        return Ok(());
    }
    new.bank_sends_otp = false;
    let begins = previous.is_none_or(|old| match (old.status, &old.phase) {
        (Status::Failed | Status::Canceled, _) | (Status::Pending, Phase::Idle) => true,
        (Status::Pending | Status::Completed | Status::Reversed, _) => false,
    });
    if begins && services.rails.sends_code(new.debtor.bank) {
        let answer = send(services, tenant, Service::C2p, new.id, &new.debtor, new.figured.ves).await?;
        new.bank_sends_otp = matches!(answer, Some(RailAnswer::Done { .. }));
    }
    Ok(())
}

pub async fn before_next_intent(
    services: &Services,
    tenant: u64,
    new: &mut NewIntent,
    newest: Option<Id>,
) -> Result<(), Problem> {
    let entity = |id| history::entity(services.engine.reader(), tenant, EntityId::payment(id));
    let previous = newest.map(entity).transpose()?.flatten();
    let previous = match previous.as_deref() {
        Some(Entity::Payment(payment)) => Some(payment),
        Some(_) | None => None,
    };
    before_intent(services, tenant, new, previous).await
}

pub async fn before_debit(services: &Services, tenant: u64, new: &mut NewOtp) -> Result<(), Problem> {
    if is_live(tenant) {
        new.answer = send(services, tenant, Service::Debit, new.id, &new.debtor, new.amount).await?;
    }
    Ok(())
}

/// The bank's answer; none where the rules refuse what is asked for anyway.
async fn send(
    services: &Services,
    tenant: u64,
    service: Service,
    of: Id,
    debtor: &Debtor,
    amount: Ves,
) -> Result<Option<RailAnswer>, Problem> {
    let Some(lane) = services.rails.serving(service) else { return Ok(None) };
    if services.rails.terms(true, service, None).amount_max.is_some_and(|max| amount > max) {
        return Ok(None);
    }
    services.may_decide(tenant)?;
    let order = Order::RequestOtp { bank: debtor.bank, debtor: debtor.id, phone: debtor.phone, amount };
    let call = crate::rails::Call { operation_id: of.into(), at: services.now(), tenant, order };
    if services.is_rehearsal() {
        // A code for a debit is asked for by the effect of its record, as long as the bank has not spoken.
        if service == Service::C2p {
            services.rails.note(tenant, &call.order);
        }
        return Ok(None);
    }
    match lane.send(&call).await.0 {
        answer @ (RailAnswer::Done { .. } | RailAnswer::Refused { .. }) => Ok(Some(answer)),
        RailAnswer::Waiting
        | RailAnswer::Silent
        | RailAnswer::Unaskable
        | RailAnswer::NeverReceived
        | RailAnswer::NotSent
        | RailAnswer::NotAsked => {
            let retry_after_seconds =
                lane.retry_after_seconds(Some(call.order.bank_call())).unwrap_or(UNSENT_RETRY_SECONDS);
            Err(problem(&Refusal::RailUnavailable { retry_after_seconds }))
        }
    }
}
