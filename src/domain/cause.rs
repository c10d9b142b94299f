//! The causes of records: what each says happened, whether it takes money, and which names it frees.

use crate::codec::stored;
use crate::index::Space;

stored! {
    /// The cause of a record, with the name that `pasarela wal inspect` prints. New causes are added at the end.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Cause {
        0 PaymentRequested "payment.requested",
        1 PaymentCharging "payment.charging",
        2 PaymentCompleted "payment.completed",
        3 PaymentFailed "payment.failed",
        4 PaymentCanceled "payment.canceled",
        5 ReversalBegun "payment.reversal_begun",
        6 ReversalRefused "payment.reversal_refused",
        7 PaymentReversed "payment.reversed",
        /// A bank was asked about an operation and does not know its outcome yet.
        8 BankAsked "bank.asked",
        9 PayoutCreated "payout.created",
        10 PayoutCompleted "payout.completed",
        11 PayoutFailed "payout.failed",
        12 MerchantCreated "merchant.created",
        13 MerchantChanged "merchant.changed",
        14 MerchantDeleted "merchant.deleted",
        15 Funded "balance.funded",
        16 Adjusted "balance.adjusted",
        17 ClockMoved "clock.moved",
        18 TenantSettingsChanged "tenant.settings_changed",
        19 PlatformChanged "platform.changed",
        20 RefusalKept "refusal.kept",
        21 BatchCreated "batch.created",
        22 BatchAnswered "batch.answered",
        23 ChargebackOpened "chargeback.opened",
        24 ChargebackClosed "chargeback.closed",
        /// A bank is about to be told to send a code.
        25 OtpRequested "otp.requested",
        26 OtpSettled "otp.settled",
        27 SellerReleased "merchant.released",
        28 OwnAccountChanged "own_account.changed",
        29 ProductCreated "product.created",
        30 ProductChanged "product.changed",
        31 ProductDeleted "product.deleted",
        32 LinkCreated "payment_link.created",
        33 LinkDeleted "payment_link.deleted",
        34 SessionOpened "checkout.opened",
        35 ConversionQuoted "conversion.quoted",
        /// A conversion was debited, and its USDT credited unless it waits.
        36 ConversionAccepted "conversion.accepted",
        37 ConversionCompleted "conversion.completed",
        38 ConversionCanceled "conversion.canceled",
        39 ConversionTried "conversion.tried",
        40 ConversionDropped "conversion.dropped",
        41 CryptoPayoutCreated "crypto_payout.created",
        42 CryptoPayoutApproved "crypto_payout.approved",
        43 CryptoPayoutCompleted "crypto_payout.completed",
        44 CryptoPayoutFailed "crypto_payout.failed",
        45 DepositAddressMade "deposit_address.made",
        46 CryptoDeposited "crypto_deposit.completed",
        47 CopPaymentRequested "cop_payment.requested",
        /// The processor is about to be instructed about a payment in pesos, or the code was wrong.
        48 CopPaymentInstructed "cop_payment.instructed",
        49 CopPaymentCompleted "cop_payment.completed",
        50 CopPaymentFailed "cop_payment.failed",
        51 CopPaymentCanceled "cop_payment.canceled",
        52 CopRefundBegun "cop_payment.refund_begun",
        53 CopRefundRefused "cop_payment.refund_refused",
        54 CopPaymentRefunded "cop_payment.refunded",
        55 CopPayoutCreated "cop_payout.created",
        56 CopPayoutCompleted "cop_payout.completed",
        57 CopPayoutFailed "cop_payout.failed",
        58 WebhookCreated "webhook.created",
        59 WebhookChanged "webhook.changed",
        60 WebhookDeleted "webhook.deleted",
        61 WebhookProgress "webhook.progress",
        62 EventResent "event.resent",
        63 OperatorActed "operator.acted",
        /// A bank contradicted what it had said of an operation; no money moves by this record.
        64 OperationContradicted "operation.contradicted",
        65 NoticeReceived "notice.received",
        66 NoticeClaimed "notice.claimed",
        67 OrderBegun "order.begun",
        /// A charge found no connection: it was not sent.
        68 PaymentUnsent "payment.unsent",
        /// A collection of pesos found no connection: nothing is left of it.
        69 CopPaymentUnsent "cop_payment.unsent",
        /// A transaction of a USDT payout was signed, and is about to be broadcast.
        70 CryptoPayoutSigned "crypto_payout.signed",
        71 ApprovalAsked "approval.asked",
        72 ApprovalDecided "approval.decided",
        /// An answer that changed nothing is kept for its Idempotency-Key.
        73 AnswerKept "answer.kept",
        /// A line of a bank's statement showed one of two micro-deposits.
        74 DepositBooked "deposit.booked",
        75 VerificationStarted "verification.started",
        /// Micro-deposits found no connection: nothing of them was sent.
        76 VerificationUnsent "verification.unsent",
        77 NoticeGiven "notice.given",
        78 WebhookDue "webhook.due",
        79 TestReset "test.reset",
    }
}

impl Cause {
    /// Whether records of this cause take money at a caller's request, for which the balance must
    /// suffice. Banks' and operators' debits may leave a balance below zero.
    pub const fn debits(self) -> bool {
        use Cause::{BatchCreated, ConversionAccepted, CopPayoutCreated, CryptoPayoutCreated, PayoutCreated};
        matches!(
            self,
            PayoutCreated | BatchCreated | ConversionAccepted | CryptoPayoutCreated | CopPayoutCreated
        )
    }

    /// The space of the names that records of this cause free; `None` if they free none.
    pub const fn freed_space(self) -> Option<Space> {
        Some(match self {
            Cause::MerchantDeleted => Space::Merchant,
            Cause::ProductDeleted | Cause::LinkDeleted => Space::Slug,
            Cause::PaymentUnsent => Space::Payment,
            Cause::CopPaymentUnsent => Space::CheckoutCop,
            Cause::VerificationUnsent => Space::DepositStart,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_money_at_a_callers_request_must_not_overdraw() {
        let debits: Vec<_> = Cause::ALL.into_iter().filter(|cause| cause.debits()).map(Cause::name).collect();
        let known = [
            "payout.created",
            "batch.created",
            "conversion.accepted",
            "crypto_payout.created",
            "cop_payout.created",
        ];
        assert_eq!(debits, known);
    }
}
