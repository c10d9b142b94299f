//! The way from a decision to its answer. The same function makes the answer that is sent and the
//! one that is kept for an Idempotency-Key.

use crate::checkout::sessions;
use crate::cop_payments::payouts as cop_payouts;
use crate::entities::OfKind;
use crate::operators::approvals;
use crate::payments::debits;
use crate::payouts::{batches, own_account};
use crate::problem::Problem;
use crate::products::links;
use crate::{
    balance, chargebacks, conversions, cop_payments, crypto, merchants, operators, payments, payouts,
    products, refusals, tenants, testing, webhooks,
};
use domain::kept::Shape;
use domain::machine::{Facts, Misshapen, Rendered};
use domain::refusal::Refusal;
use domain::resources::checkout::Status;
use domain::resources::products::Product;

/// Status and body of the answer; none in a shape that does not show what was decided.
pub fn render(shape: Shape, facts: &Facts<'_>) -> Result<Rendered, Misshapen> {
    match facts.refusal {
        Some(refusal) => Ok(refused(refusal, facts)),
        None => shown(shape, facts).ok_or(Misshapen(shape)),
    }
}

fn refused(refusal: &Refusal, facts: &Facts<'_>) -> Rendered {
    let problem = refusals::problem(refusal);
    (problem.status, problem.to_json(facts.request_id))
}

impl From<Misshapen> for Problem {
    fn from(Misshapen(shape): Misshapen) -> Problem {
        Problem::internal_error(format!("a defect: what was decided is not what {shape:?} shows"))
    }
}

/// The answer in a shape, from what was decided; `None`, a defect, when that is about something
/// else.
fn shown(shape: Shape, facts: &Facts<'_>) -> Option<Rendered> {
    Some(match shape {
        Shape::Intent => payments::intent(facts)?,
        Shape::Executed => payments::settled(the(facts)?),
        Shape::Reversed => {
            payments::reversed(the(facts)?).unwrap_or_else(|refusal| refused(&refusal.into(), facts))
        }
        Shape::PayoutCreated => payouts::created(the(facts)?, facts.record.is_some()),
        Shape::MerchantCreated => merchants::registered(the(facts)?, facts.record),
        Shape::MerchantUpdated => (200, merchants::show(the(facts)?)),
        Shape::VerificationStarted(method) => merchants::verification_started(the(facts)?, method),
        Shape::PayoutMethod(method) => merchants::one_method(the(facts)?, method),
        Shape::NewPayoutMethod => merchants::newest_method(the(facts)?, facts.record),
        Shape::MerchantDeleted => merchants::deleted(the(facts)?),
        // The payouts of a batch that is known are in no record that is at hand: whoever answers reads them.
        Shape::Batch => (201, batches::created(the(facts)?, facts.record?, facts)),
        Shape::OwnAccount => own_account::changed(the(facts)?, facts),
        Shape::OwnVerificationStarted => own_account::verification_started(the(facts)?, facts),
        Shape::Movement => balance::new_movement(facts)?,
        Shape::Clock => testing::clock(facts.time),
        Shape::TestReset => testing::begun_anew(facts.time),
        Shape::Charged => payments::charged(the(facts)?, facts.record.is_some()),
        Shape::ChargebackOpened(id) => chargebacks::one_of(the(facts)?, id, 201)?,
        Shape::Chargeback(id) => chargebacks::one_of(the(facts)?, id, 200)?,
        Shape::OtpRequested => debits::otp_requested(the(facts)?),
        Shape::ProductCreated => (201, products::show(the(facts)?)),
        Shape::Product => (200, products::show(the(facts)?)),
        Shape::ProductDeleted => products::deleted(the::<Product>(facts)?.id),
        Shape::LinkCreated => links::newest_of(the(facts)?)?,
        Shape::Link(id) => links::one_of(the(facts)?, id)?,
        Shape::LinkDeleted(id) => products::deleted(id),
        Shape::SessionOpened => (201, sessions::show(the(facts)?, Status::Open)),
        Shape::Quote => conversions::quoted(the(facts)?)?,
        Shape::ConversionAccepted => conversions::answered(the(facts)?, 201)?,
        Shape::Conversion => conversions::answered(the(facts)?, 200)?,
        Shape::CryptoPayoutCreated => crypto::created(the(facts)?, facts.record.is_some()),
        Shape::CryptoPayout => crypto::reviewed(the(facts)?),
        Shape::DepositAddress => crypto::opened(the(facts)?, facts.record.is_some()),
        Shape::Deposit => crypto::deposited(facts)?,
        Shape::CopPaymentCreated => cop_payments::created(the(facts)?),
        Shape::CopPayment => cop_payments::settled(the(facts)?),
        Shape::CopPayoutCreated => cop_payouts::created(the(facts)?, facts.record.is_some()),
        Shape::CopPayout => (200, cop_payouts::show(the(facts)?)),
        Shape::WebhookCreated => (201, webhooks::show(the(facts)?)),
        Shape::Webhook | Shape::SecretRotated => (200, webhooks::show(the(facts)?)),
        Shape::WebhookDeleted => webhooks::deleted(the(facts)?),
        Shape::TenantOpened => (201, facts.record.and_then(|record| tenants::opened(record, &|_| None))?),
        Shape::KeyMade(id) => (201, facts.record.and_then(|record| tenants::made(record, id, &|_| None))?),
        Shape::OperatorMade => (201, facts.record.and_then(|record| operators::made(record, None))?),
        Shape::ApprovalAsked => (202, approvals::asked(the(facts)?)),
        Shape::Operator => (200, facts.record.and_then(operators::changed)?),
        Shape::Tenant => (200, facts.record.and_then(tenants::changed)?),
        // Nobody reads this body: what was done beside the book or for an operator is not in a
        // record as its caller sees it, so the gateway replaces the answer, the sent one and the
        // kept one.
        Shape::Platform | Shape::Resent => facts.record.map(|_| (200, b"{}".to_vec()))?,
    })
}

/// The entity that was decided on, if it is of the kind that is shown.
fn the<'a, T: OfKind>(facts: &Facts<'a>) -> Option<&'a T> {
    facts.entity.and_then(T::of)
}

/// Whether the answer that is sent shows a secret, which the answer that is kept leaves out.
pub fn shows_secret(shape: Shape) -> bool {
    match shape {
        Shape::WebhookCreated | Shape::SecretRotated | Shape::SessionOpened => true,
        // API keys and tokens join the answers to operators, who have a way of their own.
        Shape::TenantOpened | Shape::KeyMade(_) | Shape::OperatorMade => false,
        Shape::Intent
        | Shape::Executed
        | Shape::Reversed
        | Shape::PayoutCreated
        | Shape::MerchantCreated
        | Shape::MerchantUpdated
        | Shape::MerchantDeleted
        | Shape::VerificationStarted(_)
        | Shape::PayoutMethod(_)
        | Shape::NewPayoutMethod
        | Shape::Movement
        | Shape::Clock
        | Shape::Batch
        | Shape::Platform
        | Shape::Charged
        | Shape::ChargebackOpened(_)
        | Shape::Chargeback(_)
        | Shape::OtpRequested
        | Shape::OwnAccount
        | Shape::OwnVerificationStarted
        | Shape::ProductCreated
        | Shape::Product
        | Shape::ProductDeleted
        | Shape::LinkCreated
        | Shape::Link(_)
        | Shape::LinkDeleted(_)
        | Shape::Quote
        | Shape::ConversionAccepted
        | Shape::Conversion
        | Shape::CryptoPayoutCreated
        | Shape::CryptoPayout
        | Shape::DepositAddress
        | Shape::Deposit
        | Shape::CopPaymentCreated
        | Shape::CopPayment
        | Shape::CopPayoutCreated
        | Shape::CopPayout
        | Shape::Webhook
        | Shape::WebhookDeleted
        | Shape::Resent
        | Shape::Tenant
        | Shape::Operator
        | Shape::ApprovalAsked
        | Shape::TestReset => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::values::time::Timestamp;

    #[test]
    fn a_shape_that_does_not_fit_is_a_failure_for_the_log() {
        let facts = Facts {
            livemode: false,
            record: None,
            time: Timestamp::EPOCH,
            entity: None,
            refusal: None,
            request_id: "r",
            related: &[],
        };
        let misshapen = render(Shape::PayoutCreated, &facts).expect_err("nothing is there to show");
        let problem = Problem::from(misshapen);
        assert_eq!((problem.status, problem.code), (500, "internal_error"));
        let why = problem.private_message().expect("a private message");
        assert!(why.contains("PayoutCreated"), "{why}");
    }
}
