//! From what was decided to what is answered. The same function makes the answer that is sent and
//! the one that is kept for an Idempotency-Key.

use crate::checkout::sessions;
use crate::cop_payments::payouts as cop_payouts;
use crate::payments::debits;
use crate::payouts::{batches, own_account};
use crate::products::links;
use crate::{
    balance, chargebacks, conversions, cop_payments, crypto, merchants, payments, payouts, products,
    refusals, tenants, testing, webhooks,
};
use domain::kept::Shape;
use domain::machine::{Facts, Rendered};
use domain::record::Entity;
use domain::resources::checkout::Status;

/// Status and body of the answer.
pub fn render(shape: Shape, facts: &Facts<'_>) -> Rendered {
    if let Some(refusal) = facts.refusal {
        let problem = refusals::problem(refusal);
        return (problem.status, problem.to_json(facts.request_id));
    }
    match (shape, facts.entity) {
        (Shape::Intent, _) => payments::intent(facts),
        (Shape::Executed | Shape::Reversed, Some(Entity::Payment(payment))) => payments::settled(payment),
        (Shape::PayoutCreated, Some(Entity::Payout(payout))) => {
            payouts::created(payout, facts.record.is_some())
        }
        (Shape::MerchantCreated, Some(Entity::Merchant(merchant))) => {
            merchants::registered(merchant, facts.record)
        }
        (Shape::MerchantUpdated, Some(Entity::Merchant(merchant))) => (200, merchants::show(merchant)),
        (Shape::VerificationStarted(method), Some(Entity::Merchant(merchant))) => {
            merchants::verification_started(merchant, method)
        }
        (Shape::PayoutMethod(method), Some(Entity::Merchant(merchant))) => {
            merchants::one_method(merchant, method)
        }
        (Shape::NewPayoutMethod, Some(Entity::Merchant(merchant))) => {
            merchants::newest_method(merchant, facts.record)
        }
        (Shape::MerchantDeleted, Some(Entity::Merchant(merchant))) => merchants::deleted(merchant),
        (Shape::Batch, Some(Entity::Batch(batch))) => batches::created(batch, facts),
        (Shape::OwnAccount, Some(Entity::OwnAccount(account))) => own_account::changed(account, facts),
        (Shape::OwnVerificationStarted, Some(Entity::OwnAccount(account))) => {
            own_account::verification_started(account, facts)
        }
        (Shape::Movement, _) => balance::new_movement(facts),
        (Shape::Clock, _) => testing::clock(facts.time),
        (Shape::Charged, Some(Entity::Payment(payment))) => {
            payments::charged(payment, facts.record.is_some())
        }
        (Shape::ChargebackOpened(id), Some(Entity::Payment(payment))) => {
            chargebacks::one_of(payment, id, 201)
        }
        (Shape::Chargeback(id), Some(Entity::Payment(payment))) => chargebacks::one_of(payment, id, 200),
        (Shape::OtpRequested, Some(Entity::Otp(otp))) => debits::otp_requested(otp),
        (Shape::ProductCreated, Some(Entity::Product(product))) => (201, products::show(product)),
        (Shape::Product, Some(Entity::Product(product))) => (200, products::show(product)),
        (Shape::ProductDeleted, Some(Entity::Product(product))) => products::deleted(product.id),
        (Shape::LinkCreated, Some(Entity::Product(product))) => links::newest_of(product),
        (Shape::Link(id), Some(Entity::Product(product))) => links::one_of(product, id),
        (Shape::LinkDeleted(id), Some(_)) => products::deleted(id),
        (Shape::SessionOpened, Some(Entity::Session(session))) => {
            (201, sessions::show(session, Status::Open))
        }
        (Shape::Quote, Some(Entity::Conversion(quote))) => conversions::quoted(quote),
        (Shape::ConversionAccepted, Some(Entity::Conversion(conversion))) => {
            conversions::answered(conversion, 201)
        }
        (Shape::Conversion, Some(Entity::Conversion(conversion))) => conversions::answered(conversion, 200),
        (Shape::CryptoPayoutCreated, Some(Entity::CryptoPayout(payout))) => {
            crypto::created(payout, facts.record.is_some())
        }
        (Shape::CryptoPayout, Some(Entity::CryptoPayout(payout))) => crypto::reviewed(payout),
        (Shape::DepositAddress, Some(Entity::DepositAddress(address))) => {
            crypto::opened(address, facts.record.is_some())
        }
        (Shape::Deposit, _) => crypto::deposited(facts),
        (Shape::CopPaymentCreated, Some(Entity::CopPayment(payment))) => cop_payments::created(payment),
        (Shape::CopPayment, Some(Entity::CopPayment(payment))) => cop_payments::settled(payment),
        (Shape::CopPayoutCreated, Some(Entity::CopPayout(payout))) => {
            cop_payouts::created(payout, facts.record.is_some())
        }
        (Shape::CopPayout, Some(Entity::CopPayout(payout))) => (200, cop_payouts::show(payout)),
        (Shape::WebhookCreated, Some(Entity::Webhook(webhook))) => (201, webhooks::show(webhook)),
        (Shape::Webhook | Shape::SecretRotated, Some(Entity::Webhook(webhook))) => {
            (200, webhooks::show(webhook))
        }
        (Shape::WebhookDeleted, Some(Entity::Webhook(webhook))) => webhooks::deleted(webhook),
        (Shape::TenantOpened, _) => {
            (201, facts.record.and_then(|record| tenants::opened(record, &|_| None)).unwrap_or_default())
        }
        (Shape::KeyMade(id), _) => {
            (201, facts.record.and_then(|record| tenants::made(record, id, &|_| None)).unwrap_or_default())
        }
        (Shape::Tenant, _) => (200, facts.record.and_then(tenants::changed).unwrap_or_default()),
        // No command asks for these of another entity; an answer without words is still an answer.
        (
            Shape::Executed
            | Shape::Reversed
            | Shape::PayoutCreated
            | Shape::MerchantCreated
            | Shape::MerchantUpdated
            | Shape::MerchantDeleted
            | Shape::VerificationStarted(_)
            | Shape::PayoutMethod(_)
            | Shape::NewPayoutMethod
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
            | Shape::SessionOpened
            | Shape::Quote
            | Shape::ConversionAccepted
            | Shape::Conversion
            | Shape::CryptoPayoutCreated
            | Shape::CryptoPayout
            | Shape::DepositAddress
            | Shape::CopPaymentCreated
            | Shape::CopPayment
            | Shape::CopPayoutCreated
            | Shape::CopPayout
            | Shape::WebhookCreated
            | Shape::Webhook
            | Shape::WebhookDeleted
            | Shape::SecretRotated
            | Shape::Resent,
            _,
        ) => (200, b"{}".to_vec()),
    }
}
