//! The causes of records: what each says happened, whether it takes money, and which names it frees.

use crate::codec::stored;
use crate::index::Space;

stored! {
    /// The cause of a record, for people who read the log. New causes are added at the end.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Cause {
        /// A C2P intent.
        0 PaymentRequested,
        1 PaymentCharging,
        2 PaymentCompleted,
        3 PaymentFailed,
        4 PaymentCanceled,
        5 ReversalBegun,
        6 ReversalRefused,
        7 PaymentReversed,
        /// A bank was asked about an operation and does not know its outcome yet.
        8 BankAsked,
        9 PayoutCreated,
        10 PayoutCompleted,
        11 PayoutFailed,
        12 MerchantCreated,
        13 MerchantChanged,
        /// A merchant is gone.
        14 MerchantDeleted,
        15 Funded,
        16 Adjusted,
        17 ClockMoved,
        /// The settings or the live status of the tenant changed.
        18 TenantSettingsChanged,
        19 PlatformChanged,
        20 RefusalKept,
        21 BatchCreated,
        22 BatchAnswered,
        23 ChargebackOpened,
        24 ChargebackClosed,
        /// A bank is about to be told to send a code.
        25 OtpRequested,
        26 OtpSettled,
        27 SellerReleased,
        /// The tenant's own payout account was set, proved or taken away.
        28 OwnAccountChanged,
        29 ProductCreated,
        30 ProductChanged,
        /// A product is gone, with its links.
        31 ProductDeleted,
        32 LinkCreated,
        /// A payment link is gone.
        33 LinkDeleted,
        34 SessionOpened,
        35 ConversionQuoted,
        /// A conversion was debited, and its USDT credited unless it waits.
        36 ConversionAccepted,
        37 ConversionCompleted,
        /// A conversion was canceled, and the money is back.
        38 ConversionCanceled,
        /// A conversion that the gateway makes by itself asks for a rate.
        39 ConversionTried,
        /// An automatic conversion came to nothing: the pesos stay pesos.
        40 ConversionDropped,
        41 CryptoPayoutCreated,
        42 CryptoPayoutApproved,
        43 CryptoPayoutCompleted,
        /// The network or an operator refused a USDT payout, and the money is back.
        44 CryptoPayoutFailed,
        45 DepositAddressMade,
        46 CryptoDeposited,
        /// A payment in pesos is about to be collected.
        47 CopPaymentRequested,
        /// The processor is about to be instructed about a payment in pesos, or the code was wrong.
        48 CopPaymentInstructed,
        49 CopPaymentCompleted,
        50 CopPaymentFailed,
        51 CopPaymentCanceled,
        52 CopRefundBegun,
        /// The processor did not make a refund.
        53 CopRefundRefused,
        54 CopPaymentRefunded,
        55 CopPayoutCreated,
        56 CopPayoutCompleted,
        /// A payout in pesos failed, and the pesos are back.
        57 CopPayoutFailed,
        58 WebhookCreated,
        /// A webhook endpoint changed, or got its next secret.
        59 WebhookChanged,
        /// A webhook endpoint is gone.
        60 WebhookDeleted,
        61 WebhookProgress,
        62 EventResent,
        /// An operator did something that no record of another cause says.
        63 OperatorActed,
        /// A bank contradicted what it had said of an operation; no money moves by this record.
        64 OperationContradicted,
        65 NoticeReceived,
        66 NoticeClaimed,
        /// An order that waited for its turn is being sent.
        67 OrderBegun,
        /// A charge found no connection: it was not sent.
        68 PaymentUnsent,
        /// A collection of pesos found no connection: nothing is left of it.
        69 CopPaymentUnsent,
        /// A transaction of a USDT payout was signed, and is about to be broadcast.
        70 CryptoPayoutSigned,
        71 ApprovalAsked,
        72 ApprovalDecided,
        /// An answer that changed nothing is kept for its Idempotency-Key.
        73 AnswerKept,
        /// A line of a bank's statement showed one of two micro-deposits.
        74 DepositBooked,
        /// Two micro-deposits are about to be sent, at the platform's cost.
        75 VerificationStarted,
        /// Micro-deposits found no connection: nothing of them was sent.
        76 VerificationUnsent,
        /// An operator said to whom a transfer belongs whose reference was guessed at.
        77 NoticeGiven,
        /// Tries of deliveries are due, or an older secret of an endpoint ended.
        78 WebhookDue,
        79 TestReset,
    }
}

/// The properties of every record that has a cause.
struct Properties {
    name: &'static str,
    debits: bool,
    frees: Option<Space>,
}

/// Properties of records that neither debit a balance at a caller's request nor free names.
const fn plain(name: &'static str) -> Properties {
    Properties { name, debits: false, frees: None }
}

/// Properties of records that take money at a caller's request.
const fn debit(name: &'static str) -> Properties {
    Properties { name, debits: true, frees: None }
}

/// Properties of records that free names of this space.
const fn freeing(name: &'static str, space: Space) -> Properties {
    Properties { name, debits: false, frees: Some(space) }
}

impl Cause {
    /// The name of the cause as `pasarela wal inspect` prints it.
    pub const fn name(self) -> &'static str {
        self.properties().name
    }

    /// Whether records of this cause take money at a caller's request, for which the balance must
    /// suffice. Banks' and operators' debits may leave a balance below zero.
    pub const fn debits(self) -> bool {
        self.properties().debits
    }

    /// The space of the names that records of this cause free; `None` if they free none.
    pub const fn freed_space(self) -> Option<Space> {
        self.properties().frees
    }

    const fn properties(self) -> Properties {
        match self {
            Cause::PaymentRequested => plain("payment.requested"),
            Cause::PaymentCharging => plain("payment.charging"),
            Cause::PaymentCompleted => plain("payment.completed"),
            Cause::PaymentFailed => plain("payment.failed"),
            Cause::PaymentCanceled => plain("payment.canceled"),
            Cause::ReversalBegun => plain("payment.reversal_begun"),
            Cause::ReversalRefused => plain("payment.reversal_refused"),
            Cause::PaymentReversed => plain("payment.reversed"),
            Cause::BankAsked => plain("bank.asked"),
            Cause::PayoutCreated => debit("payout.created"),
            Cause::PayoutCompleted => plain("payout.completed"),
            Cause::PayoutFailed => plain("payout.failed"),
            Cause::MerchantCreated => plain("merchant.created"),
            Cause::MerchantChanged => plain("merchant.changed"),
            Cause::MerchantDeleted => freeing("merchant.deleted", Space::Merchant),
            Cause::Funded => plain("balance.funded"),
            Cause::Adjusted => plain("balance.adjusted"),
            Cause::ClockMoved => plain("clock.moved"),
            Cause::TenantSettingsChanged => plain("tenant.settings_changed"),
            Cause::PlatformChanged => plain("platform.changed"),
            Cause::RefusalKept => plain("refusal.kept"),
            Cause::AnswerKept => plain("answer.kept"),
            Cause::BatchCreated => debit("batch.created"),
            Cause::BatchAnswered => plain("batch.answered"),
            Cause::ChargebackOpened => plain("chargeback.opened"),
            Cause::ChargebackClosed => plain("chargeback.closed"),
            Cause::OtpRequested => plain("otp.requested"),
            Cause::OtpSettled => plain("otp.settled"),
            Cause::SellerReleased => plain("merchant.released"),
            Cause::OwnAccountChanged => plain("own_account.changed"),
            Cause::ProductCreated => plain("product.created"),
            Cause::ProductChanged => plain("product.changed"),
            Cause::ProductDeleted => freeing("product.deleted", Space::Slug),
            Cause::LinkCreated => plain("payment_link.created"),
            Cause::LinkDeleted => freeing("payment_link.deleted", Space::Slug),
            Cause::SessionOpened => plain("checkout.opened"),
            Cause::ConversionQuoted => plain("conversion.quoted"),
            Cause::ConversionAccepted => debit("conversion.accepted"),
            Cause::ConversionCompleted => plain("conversion.completed"),
            Cause::ConversionCanceled => plain("conversion.canceled"),
            Cause::ConversionTried => plain("conversion.tried"),
            Cause::ConversionDropped => plain("conversion.dropped"),
            Cause::CryptoPayoutCreated => debit("crypto_payout.created"),
            Cause::CryptoPayoutApproved => plain("crypto_payout.approved"),
            Cause::CryptoPayoutCompleted => plain("crypto_payout.completed"),
            Cause::CryptoPayoutFailed => plain("crypto_payout.failed"),
            Cause::DepositAddressMade => plain("deposit_address.made"),
            Cause::CryptoDeposited => plain("crypto_deposit.completed"),
            Cause::CopPaymentRequested => plain("cop_payment.requested"),
            Cause::CopPaymentInstructed => plain("cop_payment.instructed"),
            Cause::CopPaymentCompleted => plain("cop_payment.completed"),
            Cause::CopPaymentFailed => plain("cop_payment.failed"),
            Cause::CopPaymentCanceled => plain("cop_payment.canceled"),
            Cause::CopRefundBegun => plain("cop_payment.refund_begun"),
            Cause::CopRefundRefused => plain("cop_payment.refund_refused"),
            Cause::CopPaymentRefunded => plain("cop_payment.refunded"),
            Cause::CopPayoutCreated => debit("cop_payout.created"),
            Cause::CopPayoutCompleted => plain("cop_payout.completed"),
            Cause::CopPayoutFailed => plain("cop_payout.failed"),
            Cause::WebhookCreated => plain("webhook.created"),
            Cause::WebhookChanged => plain("webhook.changed"),
            Cause::WebhookDeleted => plain("webhook.deleted"),
            Cause::WebhookProgress => plain("webhook.progress"),
            Cause::WebhookDue => plain("webhook.due"),
            Cause::EventResent => plain("event.resent"),
            Cause::TestReset => plain("test.reset"),
            Cause::OperatorActed => plain("operator.acted"),
            Cause::OperationContradicted => plain("operation.contradicted"),
            Cause::CryptoPayoutSigned => plain("crypto_payout.signed"),
            Cause::NoticeReceived => plain("notice.received"),
            Cause::NoticeClaimed => plain("notice.claimed"),
            Cause::OrderBegun => plain("order.begun"),
            Cause::PaymentUnsent => freeing("payment.unsent", Space::Payment),
            Cause::CopPaymentUnsent => freeing("cop_payment.unsent", Space::CheckoutCop),
            Cause::ApprovalAsked => plain("approval.asked"),
            Cause::ApprovalDecided => plain("approval.decided"),
            Cause::DepositBooked => plain("deposit.booked"),
            Cause::VerificationStarted => plain("verification.started"),
            Cause::NoticeGiven => plain("notice.given"),
            Cause::VerificationUnsent => freeing("verification.unsent", Space::DepositStart),
        }
    }
}
