//! The problem that a caller sees for each refusal: status, code, message, members.

use crate::conversions::{amount, invalid_amount};
use crate::problem::Problem;
use domain::platform::PlatformRefusal;
use domain::refusal::Refusal;
use domain::resources::approvals::ApprovalRefusal;
use domain::resources::chargebacks::ChargebackRefusal;
use domain::resources::checkout::CheckoutRefusal;
use domain::resources::conversions::ConversionRefusal;
use domain::resources::cop_payments::CopPaymentRefusal;
use domain::resources::cop_payouts::CopPayoutRefusal;
use domain::resources::crypto::CryptoRefusal;
use domain::resources::merchants::MerchantRefusal;
use domain::resources::operations::OperationRefusal;
use domain::resources::payments::PaymentRefusal;
use domain::resources::payouts::PayoutRefusal;
use domain::resources::products::ProductRefusal;
use domain::resources::verification::VerificationRefusal;
use domain::resources::webhooks::WebhookRefusal;
use domain::values::money::Currency;

/// The problem that a refusal is to a caller.
pub fn problem(refusal: &Refusal) -> Problem {
    match refusal {
        Refusal::NotFound => Problem::not_found(),
        Refusal::Invalid { field, message } => Problem::invalid_field(*field, *message),
        Refusal::TenantMoved => Problem::tenant_moved(),
        Refusal::AmountOverflow => Problem::invalid_field("amount", "is more than a balance can hold"),
        Refusal::RailNotConfigured => Problem::rail_not_configured("bank"),
        Refusal::RailUnavailable { retry_after_seconds } => Problem::refused(
            503,
            "rail_unavailable",
            "the bank cannot be reached now; nothing was charged or paid, try again later",
        )
        .after(*retry_after_seconds),
        // A request for an intent begins something new, so it is refused for what is paid, however
        // alike.
        Refusal::ExternalRefConflict { existing, differs } if differs.is_empty() => Problem::conflict(
            "external_ref_conflict",
            "the payment on the externalRef is paid; read it by existingId, or use a new externalRef",
        )
        .with("existingId", existing.to_string()),
        Refusal::ExternalRefConflict { existing, differs } => {
            let named = differs.join(", ");
            let differs: Vec<serde_json::Value> =
                differs.iter().map(|name| serde_json::Value::from(*name)).collect();
            Problem::conflict(
                "external_ref_conflict",
                format!(
                    "the externalRef was used before with another {named}; use a new one for something new"
                ),
            )
            .with("existingId", existing.to_string())
            .with("differs", differs)
        }
        Refusal::InsufficientBalance { available } => Problem::refused(
            422,
            "insufficient_balance",
            "the available balance does not cover the amount; nothing was debited",
        )
        .with("availableVes", available.to_string()),
        Refusal::RateUnavailable => {
            Problem::refused(503, "rate_unavailable", "there is no BCV rate in force; try again later")
                .after(60)
        }
        Refusal::Payments(refusal) => of_payments(refusal),
        Refusal::Payouts(refusal) => of_payouts(refusal),
        Refusal::Merchants(refusal) => of_merchants(refusal),
        Refusal::Verification(refusal) => of_verification(refusal),
        Refusal::Chargebacks(refusal) => of_chargebacks(refusal),
        Refusal::Products(refusal) => of_products(refusal),
        Refusal::Checkout(refusal) => of_checkout(refusal),
        Refusal::Conversions(refusal) => of_conversions(refusal),
        Refusal::Crypto(refusal) => of_crypto(refusal),
        Refusal::Operations(refusal) => of_operations(refusal),
        Refusal::CopPayments(refusal) => of_cop_payments(refusal),
        Refusal::CopPayouts(refusal) => of_cop_payouts(refusal),
        Refusal::Webhooks(refusal) => of_webhooks(refusal),
        Refusal::Platform(refusal) => of_platform(refusal),
        Refusal::Approvals(refusal) => of_approvals(refusal),
    }
}

fn of_payments(refusal: &PaymentRefusal) -> Problem {
    match refusal {
        PaymentRefusal::ChargeInProgress => Problem::conflict(
            "charge_in_progress",
            "the charge is on its way to the bank; read the payment until it is settled",
        ),
        PaymentRefusal::IntentMismatch => Problem::conflict(
            "intent_mismatch",
            "the details are not those that the intent was requested with; nothing was charged, send the same ones",
        ),
        PaymentRefusal::IntentCanceled => Problem::conflict(
            "intent_canceled",
            "the intent was superseded or has expired; request a new one",
        ),
        PaymentRefusal::IntentFailed => {
            Problem::conflict("intent_failed", "the charge of this intent failed; request a new one")
        }
        PaymentRefusal::IntentCompleted => Problem::conflict(
            "intent_completed",
            "the intent was paid with another token; nothing was charged, read the payment by its id",
        ),
        PaymentRefusal::NotReversible => Problem::conflict(
            "not_reversible",
            "only C2P payments can be reversed; pay the buyer back in another way",
        ),
        PaymentRefusal::NotCompleted => Problem::conflict(
            "payment_not_completed",
            "the payment is not completed; its status says what it is",
        ),
        PaymentRefusal::ReversalWindowExpired => Problem::conflict(
            "reversal_window_expired",
            "a payment can be reversed for 24 hours after its completion",
        ),
        PaymentRefusal::ReversalInProgress => Problem::conflict(
            "reversal_in_progress",
            "the bank is deciding about the reversal; read the payment until it is settled",
        ),
        PaymentRefusal::ReversalRefused => Problem::conflict(
            "reversal_refused",
            "the bank refused the reversal; the payment stays completed, pay the buyer back in another way",
        ),
        PaymentRefusal::ReferenceAlreadyUsed => Problem::conflict(
            "reference_already_used",
            "this transfer pays for something already; ask the payer for the reference of another one",
        ),
        PaymentRefusal::OtpRefused { failure_code } => {
            Problem::conflict("otp_refused", "the payer's bank refused to send a code; failureCode says why")
                .with("failureCode", failure_code.clone())
        }
    }
}

fn of_payouts(refusal: &PayoutRefusal) -> Problem {
    match refusal {
        PayoutRefusal::MethodNotVerified => Problem::refused(
            400,
            "payout_method_not_verified",
            "the merchant has no verified payout method of this name; verify one first",
        ),
        PayoutRefusal::AccountNotVerified => Problem::conflict(
            "payout_account_not_verified",
            "the payout account is not verified; set it and verify it first",
        ),
    }
}

fn of_merchants(refusal: &MerchantRefusal) -> Problem {
    match refusal {
        MerchantRefusal::Inactive => Problem::conflict(
            "merchant_inactive",
            "the merchant is not active; set isActive of it to true first",
        ),
        MerchantRefusal::HasPayouts { count } => {
            Problem::conflict("merchant_has_payouts", "the merchant received payouts; deactivate it instead")
                .with("payoutCount", *count)
        }
        MerchantRefusal::HasBalance => {
            Problem::conflict("merchant_has_balance", "the merchant is owed money; pay it out first")
        }
        MerchantRefusal::TooManyPayoutMethods => Problem::conflict(
            "too_many_payout_methods",
            "a merchant has at most 100 payout methods; delete one first",
        ),
    }
}

fn of_verification(refusal: &VerificationRefusal) -> Problem {
    match refusal {
        VerificationRefusal::InProgress => Problem::conflict(
            "verification_in_progress",
            "the micro-deposits were sent and tries are left; send the amounts that the seller sees",
        ),
        VerificationRefusal::NotStarted => Problem::conflict(
            "verification_not_started",
            "no micro-deposits were sent; start the verification first",
        ),
        VerificationRefusal::Locked => {
            Problem::conflict("verification_locked", "three wrong tries; start the verification again")
        }
        VerificationRefusal::AlreadyVerified => {
            Problem::conflict("already_verified", "the payout method is verified; pay to it")
        }
        VerificationRefusal::AmountsMismatch { attempts_left } => {
            Problem::refused(400, "amounts_mismatch", "these are not the amounts of the micro-deposits; attemptsLeft says how often they may be tried again")
                .with("attemptsLeft", *attempts_left)
        }
    }
}

fn of_chargebacks(refusal: &ChargebackRefusal) -> Problem {
    match refusal {
        ChargebackRefusal::NotAllowed => {
            Problem::conflict("chargeback_not_allowed", "only completed card payments can be charged back")
        }
        ChargebackRefusal::ExceedsPayment => Problem::conflict(
            "chargeback_exceeds_payment",
            "the chargebacks of a payment never exceed its amount; read the payment for those that it has",
        ),
        ChargebackRefusal::Closed => Problem::conflict(
            "chargeback_closed",
            "the dispute is decided; read the chargeback for its outcome",
        ),
        ChargebackRefusal::TooMany => Problem::conflict(
            "too_many_chargebacks",
            "a payment has at most 100 chargebacks, whatever became of them",
        ),
    }
}

fn of_products(refusal: &ProductRefusal) -> Problem {
    match refusal {
        ProductRefusal::SlugTaken => Problem::conflict(
            "slug_taken",
            "the slug belongs to another payment link; choose another one, or leave it out",
        ),
        ProductRefusal::TooManyLinks => Problem::conflict(
            "too_many_links",
            "a product has at most 100 payment links; delete one that nothing was sold through",
        ),
        ProductRefusal::HasSales => Problem::conflict(
            "product_has_sales",
            "a checkout of it was paid; deactivate the product or disable the link instead",
        ),
    }
}

fn of_checkout(refusal: &CheckoutRefusal) -> Problem {
    match refusal {
        CheckoutRefusal::SessionPaid => {
            Problem::conflict("session_paid", "the checkout was paid; nothing was charged")
        }
        CheckoutRefusal::SessionExpired => Problem::conflict(
            "session_expired",
            "the checkout has expired; nothing was charged, open a new one",
        ),
    }
}

fn of_conversions(refusal: &ConversionRefusal) -> Problem {
    match refusal {
        ConversionRefusal::NotEnabled => Problem::refused(
            403,
            "conversions_not_enabled",
            "conversions of this currency are not enabled for this account; the operator switches them on",
        ),
        ConversionRefusal::MarketRateUnavailable => {
            Problem::refused(503, "rate_unavailable", "there is no current market rate; try again later")
                .after(60)
        }
        ConversionRefusal::InvalidAmount => invalid_amount(),
        ConversionRefusal::BelowMinimum { minimum } => {
            Problem::refused(422, "amount_below_minimum", "the conversion yields less USDT than minimumUsdt; convert more at once")
                .with("minimumUsdt", minimum.to_string())
        }
        ConversionRefusal::DailyLimitExceeded { currency, limit } => Problem::refused(
            422,
            "daily_limit_exceeded",
            "the conversion would exceed what may be converted on one day; nothing was debited, go on tomorrow",
        )
        .with("currency", currency.code())
        .with("dailyLimit", amount(*currency, *limit)),
        ConversionRefusal::InsufficientBalance { currency, available, spendable } => {
            let (available_name, spendable_name) = match currency {
                Currency::Cop => ("availableCop", "spendableCop"),
                Currency::Ves | Currency::Usdt => ("availableVes", "spendableVes"),
            };
            Problem::refused(
                422,
                "insufficient_balance",
                "the balance does not cover the conversion; nothing was debited",
            )
            .with(available_name, amount(*currency, *available))
            .with(spendable_name, amount(*currency, *spendable))
        }
        ConversionRefusal::QuoteUsed => {
            Problem::conflict("quote_used", "the quote was accepted before; ask for a new one")
        }
        ConversionRefusal::QuoteExpired => {
            Problem::refused(410, "quote_expired", "the quote is older than 60 seconds; ask for a new one")
        }
        ConversionRefusal::NotCancelable => {
            Problem::conflict("conversion_not_cancelable", "only a pending conversion can be canceled")
        }
        ConversionRefusal::NotPending => {
            Problem::conflict("conversion_not_pending", "the conversion is not pending")
        }
    }
}

fn of_crypto(refusal: &CryptoRefusal) -> Problem {
    match refusal {
        CryptoRefusal::NotEnabled => {
            Problem::refused(403, "usdt_not_enabled", "USDT is not enabled for this account; the operator switches it on")
        }
        CryptoRefusal::InsufficientBalance { available } => Problem::refused(
            422,
            "insufficient_balance",
            "the available USDT does not cover the amount and the network fee; nothing was debited, availableUsdt says what there is",
        )
        .with("availableUsdt", available.to_string()),
        CryptoRefusal::NotPendingReview => {
            Problem::conflict("payout_not_pending_review", "the payout is not under review")
        }
        CryptoRefusal::NetworkNotConfigured => Problem::rail_not_configured("a network for USDT"),
    }
}

fn of_operations(refusal: &OperationRefusal) -> Problem {
    match refusal {
        OperationRefusal::Resolved => Problem::conflict(
            "operation_resolved",
            "the bank, or an operator, has decided about the operation; read it",
        ),
    }
}

fn of_cop_payments(refusal: &CopPaymentRefusal) -> Problem {
    match refusal {
        CopPaymentRefusal::NotEnabled => Problem::refused(
            403,
            "cop_not_enabled",
            "pesos are not enabled for this account; the operator switches them on",
        ),
        CopPaymentRefusal::NotPending => {
            Problem::conflict("payment_not_pending", "the payment is not pending any more; read it")
        }
        CopPaymentRefusal::ChannelMismatch => Problem::conflict(
            "channel_mismatch",
            "the payment is not paid with an SMS code; only channel sms takes one",
        ),
        CopPaymentRefusal::InvalidOtp => Problem::refused(
            400,
            "invalid_otp",
            "this is not the SMS code; the payment stays pending until it ends, or too many codes were wrong",
        ),
        CopPaymentRefusal::OtpAttemptsExhausted => Problem::conflict(
            "otp_attempts_exhausted",
            "too many codes were wrong; the payment takes no more, and has failed or will",
        ),
        CopPaymentRefusal::RefundWindowExpired => Problem::conflict(
            "refund_window_expired",
            "a payment in pesos can be refunded for 96 hours after its completion",
        ),
        CopPaymentRefusal::RefundInProgress => Problem::conflict(
            "refund_in_progress",
            "the processor is deciding about the refund; read the payment until it is settled",
        ),
        CopPaymentRefusal::RefundNotCovered { available, spendable } => Problem::conflict(
            "insufficient_balance",
            "what is available and held in pesos does not cover the refund; nothing was debited",
        )
        .with("availableCop", available.to_string())
        .with("spendableCop", spendable.to_string()),
        CopPaymentRefusal::ProcessorUnavailable => Problem::refused(
            503,
            "processor_unavailable",
            "the processor cannot refund this payment now; nothing was debited, try again later",
        )
        .after(60),
    }
}

fn of_cop_payouts(refusal: &CopPayoutRefusal) -> Problem {
    match refusal {
        CopPayoutRefusal::InsufficientBalance { available } => Problem::refused(
            422,
            "insufficient_balance",
            "the available pesos do not cover the amount; nothing was debited, availableCop says what there is",
        )
        .with("availableCop", available.to_string()),
        CopPayoutRefusal::NotPending => {
            Problem::conflict("payout_not_pending", "it is known already what became of the payout; read it")
        }
    }
}

fn of_webhooks(refusal: &WebhookRefusal) -> Problem {
    match refusal {
        WebhookRefusal::TooMany => Problem::conflict(
            "too_many_webhooks",
            "there are 20 webhook endpoints in this mode; delete one first",
        ),
        WebhookRefusal::Busy => Problem::conflict(
            "webhook_busy",
            "the endpoint was changed many times while its deliveries wait; let them be sent, or delete it",
        ),
        WebhookRefusal::ResendsWaiting => Problem::overloaded(10),
    }
}

fn of_platform(refusal: &PlatformRefusal) -> Problem {
    match refusal {
        PlatformRefusal::StaleSettings => Problem::conflict(
            "settings_changed",
            "the settings were changed by somebody else in between; read them and try again",
        ),
        PlatformRefusal::OperatorExists => Problem::conflict(
            "operator_exists",
            "another operator has this e-mail address; use another one, or that operator",
        ),
    }
}

fn of_approvals(refusal: &ApprovalRefusal) -> Problem {
    match refusal {
        ApprovalRefusal::Decided => Problem::conflict(
            "approval_decided",
            "somebody decided about it before; read the approval for who",
        ),
        ApprovalRefusal::Expired => {
            Problem::conflict("approval_expired", "nobody decided about it in time; ask for it again")
        }
    }
}
