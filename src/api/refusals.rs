//! The problem that a caller sees for each refusal: status, code, message, members.

use crate::problem::Problem;
use crate::value::shown_amount;
use domain::refusal::{
    ApprovalRefusal, ChargebackRefusal, CheckoutRefusal, ConversionRefusal, CopPaymentRefusal,
    CopPayoutRefusal, CryptoRefusal, MandateRefusal, MerchantRefusal, OperationRefusal, PaymentRefusal,
    PayoutRefusal, PlatformRefusal, ProductRefusal, Refusal, VerificationRefusal, WebhookRefusal,
};
use domain::values::money::Currency;
use serde_json::json;

/// The time in which a bank mostly answers, after which what was at it is asked for again.
const IN_PROGRESS_RETRY_SECONDS: u32 = 5;

/// `REFUSAL => STATUS, CODE, MESSAGE[.with(MEMBER, VALUE)…];`, after the arms of those that need more than a row.
macro_rules! refusals {
    (
        { $($arms:tt)* }
        $($refusal:pat => $status:literal, $code:literal, $message:literal $(.$how:ident($($with:expr),+))*;)*
    ) => {
        pub fn problem(refusal: &Refusal) -> Problem {
            match refusal {
                $($arms)*
                $($refusal => Problem::refused($status, $code, $message)$(.$how($($with),+))*,)*
            }
        }
    };
}

refusals! {
    {
        Refusal::NotFound => Problem::not_found(),
        Refusal::Invalid { field, message } => Problem::invalid_field(*field, *message),
        Refusal::TenantMoved => Problem::tenant_moved(),
        Refusal::TenantMoving => Problem::tenant_moving(),
        Refusal::UpgradeUnderWay => Problem::upgrade_under_way(),
        // Whoever asks reads again and repeats it, so that hardly anybody sees this.
        Refusal::ChangedMeanwhile => Problem::overloaded(1),
        Refusal::AmountOverflow => Problem::invalid_field("amount", "is more than a balance can hold"),
        Refusal::RailNotConfigured => Problem::rail_not_configured("a bank or processor for this"),
        Refusal::Crypto(CryptoRefusal::NetworkNotConfigured) => Problem::rail_not_configured("a network for USDT"),
        Refusal::Webhooks(WebhookRefusal::ResendsWaiting) => Problem::overloaded(10),
        Refusal::Platform(PlatformRefusal::KeyLacks { scope }) => Problem::scope_missing(scope),
        Refusal::Mandate(MandateRefusal::Exceeded { limit, currency, remaining, resets_at }) => {
            let amount = shown_amount(*currency, *remaining);
            let amount = match currency {
                // Whole, and far below 2^63.
                Currency::Cop => json!(remaining),
                Currency::Ves | Currency::Usdt => json!(amount),
            };
            Problem::refused(
                403,
                "mandate_exceeded",
                "the key's mandate lets no more out than remaining says, so nothing was debited; ask for less, wait \
                 until resetsAt, or ask who gave you the key",
            )
            .with("limit", limit.name())
            .with("remaining", json!({ currency.code(): amount }))
            .with("resetsAt", resets_at.map(|at| at.to_string()))
        }
        Refusal::Conversions(ConversionRefusal::InvalidAmount) => invalid_amount(),
        // What went back is not collected again, however alike.
        Refusal::ExternalRefConflict { existing, differs } if differs.is_empty() => Problem::conflict(
            "external_ref_conflict",
            "the payment on the externalRef was paid and went back; read it by existingId, or use a new externalRef",
        )
        .with("existingId", existing.to_string()),
        Refusal::ExternalRefConflict { existing, differs } => Problem::conflict(
            "external_ref_conflict",
            format!(
                "the externalRef was used before with another {}; use a new one for something new",
                differs.join(", ")
            ),
        )
        .with("existingId", existing.to_string())
        .with("differs", differs.as_slice()),
        Refusal::Conversions(ConversionRefusal::InsufficientBalance { currency, available, spendable }) => {
            let (available_name, spendable_name) = match currency {
                Currency::Cop => ("availableCop", "spendableCop"),
                Currency::Ves | Currency::Usdt => ("availableVes", "spendableVes"),
            };
            Problem::refused(
                422,
                "insufficient_balance",
                "the balance does not cover the conversion, so nothing was debited; convert less than what the body \
                 says can be spent",
            )
            .with(available_name, shown_amount(*currency, *available))
            .with(spendable_name, shown_amount(*currency, *spendable))
        }
    }
    Refusal::RailUnavailable { retry_after_seconds } => 503, "rail_unavailable",
        "the bank can't be reached now, so nothing was charged or paid; ask again after Retry-After"
        .after(*retry_after_seconds);
    Refusal::InsufficientBalance { available } => 422, "insufficient_balance",
        "the available balance does not cover the amount, so nothing was debited; pay at most availableVes or wait \
         for what is held: GET /v1/balance says when".with("availableVes", available.to_string());
    Refusal::RateUnavailable => 503, "rate_unavailable",
        "there is no BCV rate in force, so nothing was charged or paid; ask again after Retry-After".after(60);
    Refusal::NoticeClaimed => 409, "notice_claimed",
        "this notice has verified a payment, or is of no transfer, so it was given to nobody; read paymentId";
    Refusal::Payments(PaymentRefusal::ChargeInProgress) => 409, "charge_in_progress",
        "the charge of this payment is on its way to the bank, so do not charge again; read GET /v1/payments/:id \
         until its status is no longer PENDING";
    Refusal::Payments(PaymentRefusal::PaymentInProgress { existing }) => 409, "payment_in_progress",
        "the newest payment on the externalRef is at its bank, and this is another one, so nothing was charged; \
         read it by existingId until its status is no longer PENDING, then ask again"
        .with("existingId", existing.to_string()).after(IN_PROGRESS_RETRY_SECONDS);
    Refusal::Payments(PaymentRefusal::IntentMismatch) => 409, "intent_mismatch",
        "amount, externalRef, payer or merchant is not what this intent was requested with, so nothing was charged; \
         send the same ones or request a new intent";
    Refusal::Payments(PaymentRefusal::IntentCanceled) => 409, "intent_canceled",
        "this intent was canceled, because a newer one took its place or 15 minutes passed, so nothing was charged; \
         request a new one";
    Refusal::Payments(PaymentRefusal::IntentFailed) => 409, "intent_failed",
        "the charge of this intent failed and it can't be charged again; read the payment for its failureCode, and \
         request a new intent";
    Refusal::Payments(PaymentRefusal::IntentCompleted) => 409, "intent_completed",
        "this intent is paid already, with another token, so nothing was charged again; read the payment by its id";
    Refusal::Payments(PaymentRefusal::NotReversible) => 409, "not_reversible",
        "only a C2P payment can be reversed, and this is not one; refund a payment in pesos by POST \
         /v1/cop/payments/:id/refund, and pay any other back in another way";
    Refusal::Payments(PaymentRefusal::NotCompleted) => 409, "payment_not_completed",
        "only a COMPLETED payment can be given back, and this one is not completed or was given back already, so \
         nothing was done; read its status";
    Refusal::Payments(PaymentRefusal::ReversalWindowExpired) => 409, "reversal_window_expired",
        "more than 24 hours have passed since this payment was completed, so it can't be reversed any more; pay the \
         buyer back in another way";
    Refusal::Payments(PaymentRefusal::ReversalInProgress) => 409, "reversal_in_progress",
        "the bank is deciding about a reversal of this payment, so do not ask again; read the payment until that is \
         settled";
    Refusal::Payments(PaymentRefusal::ReversalRefused) => 409, "reversal_refused",
        "the bank refuses to reverse this payment, or has no reference of its charge to find it by, so it stays \
         completed; pay the buyer back in another way";
    Refusal::Payments(PaymentRefusal::ReferenceAlreadyUsed) => 409, "reference_already_used",
        "the transfer with this reference has paid for something already, so nothing was recorded; ask the payer \
         for the reference of another one";
    Refusal::Payments(PaymentRefusal::OtpRefused { failure_code }) => 409, "otp_refused",
        "the payer's bank refused to send a code, so nothing was charged; failureCode says why: check the bank, the \
         document and the phone with the payer".with("failureCode", failure_code.clone());
    Refusal::Payouts(PayoutRefusal::MethodNotVerified) => 400, "payout_method_not_verified",
        "the merchant's payout method in payoutMethodId, or the default one, is not there or not verified, so \
         nothing was paid; verify it with two micro-deposits first";
    Refusal::Payouts(PayoutRefusal::AccountNotVerified) => 409, "payout_account_not_verified",
        "the account's own payout account is not set or not verified, so nothing was paid; set it by PUT \
         /v1/payouts/account and verify it first";
    Refusal::Merchants(MerchantRefusal::Inactive) => 409, "merchant_inactive",
        "the merchant is not active, so nothing was done; set its isActive to true by PATCH /v1/merchants/:id first";
    Refusal::Merchants(MerchantRefusal::HasPayouts { count }) => 409, "merchant_has_payouts",
        "the merchant has received payouts, as many as payoutCount says, and can't be deleted; set its isActive to \
         false instead".with("payoutCount", *count);
    Refusal::Merchants(MerchantRefusal::HasBalance) => 409, "merchant_has_balance",
        "the merchant is still owed money, which GET /v1/merchants/:id/balance shows, and can't be deleted; pay it \
         out first";
    Refusal::Merchants(MerchantRefusal::TooManyPayoutMethods) => 409, "too_many_payout_methods",
        "the merchant has 100 payout methods, which is the most, so none was added; delete one first";
    Refusal::Verification(VerificationRefusal::InProgress) => 409, "verification_in_progress",
        "a verification is under way already: its micro-deposits were sent and tries are left; verify with both \
         amounts as the bank shows them";
    Refusal::Verification(VerificationRefusal::NotStarted) => 409, "verification_not_started",
        "no verification is under way, as no micro-deposits were sent; start one first, then send the amounts";
    Refusal::Verification(VerificationRefusal::Locked) => 409, "verification_locked",
        "this verification is locked for 24 hours after three wrong tries; start it again then, which sends two new \
         micro-deposits";
    Refusal::Verification(VerificationRefusal::PhoneChanged) => 409, "settings_changed",
        "the account was changed at the same moment, so nothing was sent; read it, and start again";
    Refusal::Verification(VerificationRefusal::AlreadyVerified) => 409, "already_verified",
        "this is verified already, so there is nothing to verify; pay to it";
    Refusal::Verification(VerificationRefusal::DepositBooked) => 409, "deposit_booked",
        "another line of a statement has booked this micro-deposit, so nothing was changed; accept the line of the \
         other one";
    Refusal::Verification(VerificationRefusal::AmountsMismatch { attempts_left }) => 400, "amounts_mismatch",
        "amounts are not those of the micro-deposits: read both again as the bank shows them; attemptsLeft says how \
         often they may be tried".with("attemptsLeft", *attempts_left);
    Refusal::Verification(VerificationRefusal::TooManyStarts { retry_after_seconds }) => 429, "too_many_attempts",
        "too many micro-deposits were sent in 24 hours to this payout method, to its phone or by this account, so \
         none were sent; start again after Retry-After".after(*retry_after_seconds);
    Refusal::Chargebacks(ChargebackRefusal::NotAllowed) => 409, "chargeback_not_allowed",
        "only a COMPLETED card payment can be charged back, and this is not one, so nothing was recorded; name \
         another paymentId";
    Refusal::Chargebacks(ChargebackRefusal::ExceedsPayment) => 409, "chargeback_exceeds_payment",
        "amountVes with the open and lost chargebacks of this payment exceeds its amount, so nothing was recorded; \
         read them by GET /v1/chargebacks and send what is left at most";
    Refusal::Chargebacks(ChargebackRefusal::Closed) => 409, "chargeback_closed",
        "the dispute of this chargeback is decided already, so nothing was changed; read the chargeback for its \
         outcome";
    Refusal::Chargebacks(ChargebackRefusal::TooMany) => 409, "too_many_chargebacks",
        "this payment has had 100 chargebacks, which is the most, whatever became of them; none was recorded, and \
         none can be added";
    Refusal::Products(ProductRefusal::SlugTaken) => 409, "slug_taken",
        "slug belongs to another payment link already, so nothing was made; choose another one or leave it out";
    Refusal::Products(ProductRefusal::TooManyLinks) => 409, "too_many_links",
        "the product has 100 payment links, which is the most, so none was made; delete one that nothing was sold \
         through";
    Refusal::Products(ProductRefusal::HasSales) => 409, "product_has_sales",
        "a checkout of this product or link was paid, so it can't be deleted; set active of the product to false, \
         or status of the link to disabled";
    Refusal::Checkout(CheckoutRefusal::SessionPaid) => 409, "session_paid",
        "this checkout session is paid already, so nothing was charged; read the session for its paymentId";
    Refusal::Checkout(CheckoutRefusal::SessionExpired) => 409, "session_expired",
        "this checkout session has expired, so nothing was charged; open a new one";
    Refusal::Conversions(ConversionRefusal::NotEnabled) => 403, "conversions_not_enabled",
        "conversions of this currency are not enabled for this account; the operator switches them on";
    Refusal::Conversions(ConversionRefusal::MarketRateUnavailable) => 503, "rate_unavailable",
        "there is no current market rate for this currency, so no quote was made; ask again after Retry-After"
        .after(60);
    Refusal::Conversions(ConversionRefusal::BelowMinimum { minimum }) => 422, "amount_below_minimum",
        "sourceAmount yields less USDT than minimumUsdt, so no quote was made; convert more at once"
        .with("minimumUsdt", minimum.to_string());
    Refusal::Conversions(ConversionRefusal::DailyLimitExceeded { currency, limit }) => 422, "daily_limit_exceeded",
        "this conversion would exceed dailyLimit, which is all that may be converted in currency on one day, so \
         nothing was debited; convert the rest tomorrow"
        .with("currency", currency.code()).with("dailyLimit", shown_amount(*currency, *limit));
    Refusal::Conversions(ConversionRefusal::QuoteUsed) => 409, "quote_used",
        "quoteId was accepted before, so nothing was debited; read the conversion that came of it or ask for a new \
         quote";
    Refusal::Conversions(ConversionRefusal::QuoteExpired) => 410, "quote_expired",
        "the quote in quoteId is older than 60 seconds, so nothing was debited; ask for a new one";
    Refusal::Conversions(ConversionRefusal::NotCancelable) => 409, "conversion_not_cancelable",
        "only a PENDING conversion can be canceled, and this one is COMPLETED or CANCELED already, so nothing was \
         changed; read it for its status";
    Refusal::Conversions(ConversionRefusal::NotPending) => 409, "conversion_not_pending",
        "only a PENDING conversion can be fulfilled or rejected, and this one is COMPLETED or CANCELED already, so \
         nothing was changed; read it for its status";
    Refusal::Crypto(CryptoRefusal::NotEnabled) => 403, "usdt_not_enabled",
        "USDT is not enabled for this account; the operator switches it on";
    Refusal::Crypto(CryptoRefusal::InsufficientBalance { available }) => 422, "insufficient_balance",
        "the available USDT does not cover the amount and the network fee, so nothing was debited; send at most \
         what availableUsdt leaves after the fee".with("availableUsdt", available.to_string());
    Refusal::Crypto(CryptoRefusal::NotPendingReview) => 409, "payout_not_pending_review",
        "only a payout that waits for review can be approved or rejected, and this one was decided already or \
         needed none, so nothing was changed; read it for its status";
    Refusal::Operations(OperationRefusal::Resolved) => 409, "operation_resolved",
        "the bank or an operator has decided about this operation already, so nothing was changed; read its payment \
         or payout for how it ended";
    Refusal::CopPayments(CopPaymentRefusal::NotEnabled) => 403, "cop_not_enabled",
        "pesos are not enabled for this account; the operator switches them on";
    Refusal::CopPayments(CopPaymentRefusal::NotPending) => 409, "payment_not_pending",
        "this payment is over already (completed, failed, canceled or refunded), so nothing was changed; read it \
         for its status";
    Refusal::CopPayments(CopPaymentRefusal::ChannelMismatch) => 409, "channel_mismatch",
        "this payment takes no code, as only channel sms does; follow next of the payment, or begin a new one by \
         sms";
    Refusal::CopPayments(CopPaymentRefusal::InvalidOtp) => 400, "invalid_otp",
        "otp is not the code that the buyer got by SMS; while the payment is pending, ask the buyer for it again";
    Refusal::CopPayments(CopPaymentRefusal::OtpAttemptsExhausted) => 409, "otp_attempts_exhausted",
        "this payment takes no more codes, as so many were tried as may be; read the payment for what became of it, \
         and make a new one if it has failed";
    Refusal::CopPayments(CopPaymentRefusal::RefundWindowExpired) => 409, "refund_window_expired",
        "more than 96 hours have passed since this payment was completed, so it can't be refunded any more; pay the \
         buyer back in another way";
    Refusal::CopPayments(CopPaymentRefusal::RefundInProgress) => 409, "refund_in_progress",
        "the processor is deciding about a refund of this payment, so do not ask again; read the payment until that \
         is settled";
    Refusal::CopPayments(CopPaymentRefusal::RefundNotCovered { available, spendable }) => 409, "insufficient_balance",
        "what is available and held in pesos, which is spendableCop, does not cover the refund, so nothing was \
         debited; ask again when it does"
        .with("availableCop", available.to_string()).with("spendableCop", spendable.to_string());
    Refusal::CopPayments(CopPaymentRefusal::ProcessorUnavailable) => 503, "processor_unavailable",
        "the processor can't refund this payment yet, so nothing was debited; ask again after Retry-After".after(60);
    Refusal::CopPayouts(CopPayoutRefusal::InsufficientBalance { available }) => 422, "insufficient_balance",
        "the available pesos do not cover the amount, so nothing was debited; availableCop says what there is"
        .with("availableCop", available.to_string());
    Refusal::CopPayouts(CopPayoutRefusal::NotPending) => 409, "payout_not_pending",
        "this payout is completed or failed already, so nothing was changed; read it for how it ended";
    Refusal::Webhooks(WebhookRefusal::TooMany) => 409, "too_many_webhooks",
        "the account has 20 webhook endpoints in this mode, which is the most, so none was made; delete one first";
    Refusal::Webhooks(WebhookRefusal::Busy) => 409, "webhook_busy",
        "this endpoint was changed too often while its deliveries wait, so nothing was changed; change it again \
         when they are sent, or delete it";
    Refusal::Platform(PlatformRefusal::StaleSettings) => 409, "settings_changed",
        "somebody else changed these settings in between, so nothing was changed; read them and send the change \
         again";
    Refusal::Platform(PlatformRefusal::MoveUnderWay) => 409, "move_under_way",
        "this account moves to another partition already, so nothing was changed; read it for where it is served";
    Refusal::Platform(PlatformRefusal::OperatorExists) => 409, "operator_exists",
        "email belongs to another operator already, so none was made; use another address or that operator";
    Refusal::Platform(PlatformRefusal::TooManyKeys) => 409, "too_many_keys",
        "the account has 20 keys of this mode that work, the most there may be, so none was made; revoke one first";
    Refusal::Platform(PlatformRefusal::KeyRetiring) => 409, "key_retiring",
        "this key was rotated before and has a successor, so nothing was changed; rotate the successor";
    Refusal::Platform(PlatformRefusal::TooManyRotations { retry_after_seconds }) => 429, "too_many_attempts",
        "the account made or replaced 50 keys of this mode in 24 hours, so none was made; do it after Retry-After"
        .after(*retry_after_seconds);
    Refusal::Mandate(MandateRefusal::Payee) => 403, "mandate_payee",
        "the key's mandate names whom it may pay, and not this one, so nothing was done; pay one of them, or ask who \
         gave you the key";
    Refusal::Mandate(MandateRefusal::TooManyWaiting { retry_after_seconds }) => 429, "too_many_attempts",
        "100 calls of this key wait for an approval, the most there may be, so nothing was done; ask again when some were \
         decided".after(*retry_after_seconds);
    // Whoever asks is answered 202.
    Refusal::Mandate(MandateRefusal::NeedsApproval { .. } | MandateRefusal::Awaits { .. }) => 403, "mandate_exceeded",
        "the key's mandate lets no more out without an approval, so nothing was debited; ask who gave you the key";
    Refusal::Approvals(ApprovalRefusal::Decided) => 409, "approval_decided",
        "this approval was decided before, so nothing was changed; read it for who decided and how";
    Refusal::Approvals(ApprovalRefusal::Expired) => 409, "approval_expired",
        "nobody decided about this approval in time, or while who asked could ask for it, so nothing was done; ask \
         for the change again";
}

pub fn invalid_amount() -> Problem {
    Problem::refused(
        400,
        "invalid_amount",
        "send exactly one positive amount: sourceAmountVes or targetAmountUsdt, as a string with at most \
         two decimals; for pesos sourceCurrency COP with sourceAmount in whole pesos, or targetAmountUsdt",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_was_wrong_and_what_to_do_next() {
        let refusals: [Refusal; 14] = [
            ConversionRefusal::NotPending.into(),
            ConversionRefusal::NotCancelable.into(),
            CryptoRefusal::NotPendingReview.into(),
            CopPaymentRefusal::NotPending.into(),
            CopPaymentRefusal::OtpAttemptsExhausted.into(),
            CopPayoutRefusal::NotPending.into(),
            PaymentRefusal::NotCompleted.into(),
            PaymentRefusal::ReversalWindowExpired.into(),
            ChargebackRefusal::TooMany.into(),
            ChargebackRefusal::NotAllowed.into(),
            CheckoutRefusal::SessionPaid.into(),
            MerchantRefusal::HasBalance.into(),
            OperationRefusal::Resolved.into(),
            ApprovalRefusal::Decided.into(),
        ];
        for refusal in refusals {
            let message = problem(&refusal).message;
            let (wrong, next) = message.split_once("; ").unwrap_or((&message, ""));
            assert!(wrong.len() >= 30 && next.len() >= 10, "{message}");
            assert!(
                message.starts_with(|c: char| c.is_ascii_lowercase()) && !message.ends_with('.'),
                "{message}"
            );
        }
    }
}
