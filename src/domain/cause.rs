//! The causes of records: what each says happened, whether it takes money, and which names it frees.

use crate::codec::stored;
use crate::index::Space;

/// What the records of a cause do besides what they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideEffect {
    /// They take no money at a caller's request, and free no names. Banks' and operators' debits may leave a
    /// balance below zero.
    None,
    /// They take money at a caller's request, for which the balance must suffice.
    Debit,
    /// They set money aside at a caller's request, to go back to who paid it.
    SetAside,
    /// Names of this space are free again.
    Free(Space),
}

impl SideEffect {
    /// Whether the mandate of whoever asks is drawn from.
    pub const fn draws(self) -> bool {
        matches!(self, SideEffect::Debit | SideEffect::SetAside)
    }
}

macro_rules! causes {
    ($($(#[$about:meta])* $number:literal $Cause:ident $name:literal $effect:ident $(($space:ident))?,)+) => {
        stored! {
            /// The cause of a record, with the name that `pasarela wal inspect` prints. New causes are added at the end.
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum Cause {
                $($(#[$about])* $number $Cause $name),+
            }
        }

        impl Cause {
            pub const fn side_effect(self) -> SideEffect {
                match self {
                    $(Cause::$Cause => SideEffect::$effect $((Space::$space))?),+
                }
            }
        }
    };
}

causes! {
    0 PaymentRequested "payment.requested" None,
    1 PaymentCharging "payment.charging" None,
    2 PaymentCompleted "payment.completed" None,
    3 PaymentFailed "payment.failed" None,
    4 PaymentCanceled "payment.canceled" None,
    5 ReversalBegun "payment.reversal_begun" SetAside,
    6 ReversalRefused "payment.reversal_refused" None,
    7 PaymentReversed "payment.reversed" None,
    /// A bank was asked about an operation and does not know its outcome yet.
    8 BankAsked "bank.asked" None,
    9 PayoutCreated "payout.created" Debit,
    10 PayoutCompleted "payout.completed" None,
    11 PayoutFailed "payout.failed" None,
    12 MerchantCreated "merchant.created" None,
    13 MerchantChanged "merchant.changed" None,
    14 MerchantDeleted "merchant.deleted" Free(Merchant),
    15 Funded "balance.funded" None,
    16 Adjusted "balance.adjusted" None,
    17 ClockMoved "clock.moved" None,
    18 TenantSettingsChanged "tenant.settings_changed" None,
    19 PlatformChanged "platform.changed" None,
    20 RefusalKept "refusal.kept" None,
    21 BatchCreated "batch.created" Debit,
    22 BatchAnswered "batch.answered" None,
    23 ChargebackOpened "chargeback.opened" None,
    24 ChargebackClosed "chargeback.closed" None,
    /// A bank is about to be told to send a code.
    25 OtpRequested "otp.requested" None,
    26 OtpSettled "otp.settled" None,
    27 SellerReleased "merchant.released" None,
    28 OwnAccountChanged "own_account.changed" None,
    29 ProductCreated "product.created" None,
    30 ProductChanged "product.changed" None,
    31 ProductDeleted "product.deleted" Free(Slug),
    32 LinkCreated "payment_link.created" None,
    33 LinkDeleted "payment_link.deleted" Free(Slug),
    34 SessionOpened "checkout.opened" None,
    35 ConversionQuoted "conversion.quoted" None,
    /// A conversion was debited, and its USDT credited unless it waits.
    36 ConversionAccepted "conversion.accepted" Debit,
    37 ConversionCompleted "conversion.completed" None,
    38 ConversionCanceled "conversion.canceled" None,
    39 ConversionTried "conversion.tried" None,
    40 ConversionDropped "conversion.dropped" None,
    41 CryptoPayoutCreated "crypto_payout.created" Debit,
    42 CryptoPayoutApproved "crypto_payout.approved" None,
    43 CryptoPayoutCompleted "crypto_payout.completed" None,
    44 CryptoPayoutFailed "crypto_payout.failed" None,
    45 DepositAddressMade "deposit_address.made" None,
    46 CryptoDeposited "crypto_deposit.completed" None,
    47 CopPaymentRequested "cop_payment.requested" None,
    /// The processor is about to be instructed about a payment in pesos, or the code was wrong.
    48 CopPaymentInstructed "cop_payment.instructed" None,
    49 CopPaymentCompleted "cop_payment.completed" None,
    50 CopPaymentFailed "cop_payment.failed" None,
    51 CopPaymentCanceled "cop_payment.canceled" None,
    52 CopRefundBegun "cop_payment.refund_begun" SetAside,
    53 CopRefundRefused "cop_payment.refund_refused" None,
    54 CopPaymentRefunded "cop_payment.refunded" None,
    55 CopPayoutCreated "cop_payout.created" Debit,
    56 CopPayoutCompleted "cop_payout.completed" None,
    57 CopPayoutFailed "cop_payout.failed" None,
    58 WebhookCreated "webhook.created" None,
    59 WebhookChanged "webhook.changed" None,
    60 WebhookDeleted "webhook.deleted" None,
    61 WebhookProgress "webhook.progress" None,
    62 EventResent "event.resent" None,
    63 OperatorActed "operator.acted" None,
    /// A bank contradicted what it had said of an operation; no money moves by this record.
    64 OperationContradicted "operation.contradicted" None,
    65 NoticeReceived "notice.received" None,
    66 NoticeClaimed "notice.claimed" None,
    67 OrderBegun "order.begun" None,
    /// A charge found no connection: it was not sent.
    68 PaymentUnsent "payment.unsent" Free(Payment),
    /// A collection of pesos found no connection: nothing is left of it.
    69 CopPaymentUnsent "cop_payment.unsent" Free(CheckoutCop),
    /// A transaction of a USDT payout was signed, and is about to be broadcast.
    70 CryptoPayoutSigned "crypto_payout.signed" None,
    71 ApprovalAsked "approval.asked" None,
    72 ApprovalDecided "approval.decided" None,
    /// An answer that changed nothing is kept for its Idempotency-Key.
    73 AnswerKept "answer.kept" None,
    /// A line of a bank's statement showed one of two micro-deposits.
    74 DepositBooked "deposit.booked" None,
    75 VerificationStarted "verification.started" None,
    /// Micro-deposits found no connection: nothing of them was sent.
    76 VerificationUnsent "verification.unsent" Free(DepositStart),
    77 NoticeGiven "notice.given" None,
    78 WebhookDue "webhook.due" None,
    79 TestReset "test.reset" None,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_name_is_of_the_space_of_its_cause() {
        let frees = |cause: Cause| match cause.side_effect() {
            SideEffect::Free(space) => Some((cause.name(), space)),
            SideEffect::None | SideEffect::Debit | SideEffect::SetAside => None,
        };
        let known = [
            ("merchant.deleted", Space::Merchant),
            ("product.deleted", Space::Slug),
            ("payment_link.deleted", Space::Slug),
            ("payment.unsent", Space::Payment),
            ("cop_payment.unsent", Space::CheckoutCop),
            ("verification.unsent", Space::DepositStart),
        ];
        assert_eq!(Cause::ALL.into_iter().filter_map(frees).collect::<Vec<_>>(), known);
    }

    #[test]
    fn what_takes_money_at_a_callers_request_must_not_overdraw() {
        let debits: Vec<_> = Cause::ALL
            .into_iter()
            .filter(|cause| cause.side_effect() == SideEffect::Debit)
            .map(Cause::name)
            .collect();
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
