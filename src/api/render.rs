//! From what was decided to what is answered. The same function makes the answer that is sent and the one that is kept for an Idempotency-Key.

use crate::api::{balance, merchants, payments, payouts, refusals, testing};
use crate::domain::kept::Shape;
use crate::domain::machine::{Facts, Rendered};
use crate::domain::record::Entity;

/// Status and body of the answer.
pub fn render(shape: Shape, facts: &Facts<'_>) -> Rendered {
    if let Some(refusal) = facts.refusal {
        let problem = refusals::problem(refusal);
        return (problem.status, problem.to_json(facts.request_id));
    }
    match (shape, facts.entity) {
        (Shape::Intent, _) => payments::intent(facts),
        (Shape::Executed | Shape::Reversed, Some(Entity::Payment(payment))) => payments::settled(payment),
        (Shape::PayoutCreated, Some(Entity::Payout(payout))) => payouts::created(payout, facts.record.is_some()),
        (Shape::MerchantCreated, Some(Entity::Merchant(merchant))) => merchants::registered(merchant, facts.record),
        (Shape::MerchantUpdated, Some(Entity::Merchant(merchant))) => (200, merchants::show(merchant)),
        (Shape::VerificationStarted(method), Some(Entity::Merchant(merchant))) => merchants::verification_started(merchant, method),
        (Shape::PayoutMethod(method), Some(Entity::Merchant(merchant))) => merchants::one_method(merchant, method),
        (Shape::NewPayoutMethod, Some(Entity::Merchant(merchant))) => merchants::newest_method(merchant, facts.record),
        (Shape::MerchantDeleted, Some(Entity::Merchant(merchant))) => merchants::deleted(merchant),
        (Shape::Movement, _) => balance::new_movement(facts),
        (Shape::Clock, _) => testing::clock(facts.time),
        (Shape::Charged, Some(Entity::Payment(payment))) => payments::charged(payment, facts.record.is_some()),
        // Nothing else is asked for; an answer without words is still an answer.
        (_, _) => (200, b"{}".to_vec()),
    }
}
