//! Records: what one command writes.

use crate::kept;
use crate::record;
use crate::stored::approvals::Approval;
use crate::stored::chargebacks::Chargeback;
use crate::stored::checkout::Session;
use crate::stored::conversions::Conversion;
use crate::stored::cop_payments::CopPayment;
use crate::stored::cop_payouts::CopPayout;
use crate::stored::crypto::CryptoPayout;
use crate::stored::crypto::DepositAddress;
use crate::stored::days::ClosedDay;
use crate::stored::events::Event;
use crate::stored::kept::KeepRef;
use crate::stored::layout::layout;
use crate::stored::ledger::HoldChange;
use crate::stored::ledger::Posting;
use crate::stored::merchants::Merchant;
use crate::stored::notices::Notice;
use crate::stored::operators::AuditEntry;
use crate::stored::otp::Otp;
use crate::stored::own_account::OwnAccount;
use crate::stored::parts::Bytes;
use crate::stored::payments::Payment;
use crate::stored::payouts::Batch;
use crate::stored::payouts::Payout;
use crate::stored::platform::PlatformChange;
use crate::stored::products::Product;
use crate::stored::refusals::Refusal;
use crate::stored::settings::TenantSettings;
use crate::stored::values::Timestamp;
use crate::stored::values::{EntityId, Id};
use crate::stored::webhooks::Webhook;
use std::sync::Arc;

layout! {
    enum Cause of record::Cause {
        0 PaymentRequested,
        1 PaymentCharging,
        2 PaymentCompleted,
        3 PaymentFailed,
        4 PaymentCanceled,
        5 ReversalBegun,
        6 ReversalRefused,
        7 PaymentReversed,
        8 BankAsked,
        9 PayoutCreated,
        10 PayoutCompleted,
        11 PayoutFailed,
        12 MerchantCreated,
        13 MerchantChanged,
        14 MerchantDeleted,
        15 Funded,
        16 Adjusted,
        17 ClockMoved,
        18 TenantSettingsChanged,
        19 PlatformChanged,
        20 RefusalKept,
        21 BatchCreated,
        22 BatchAnswered,
        23 ChargebackOpened,
        24 ChargebackClosed,
        25 OtpRequested,
        26 OtpSettled,
        27 SellerReleased,
        28 OwnAccountChanged,
        29 ProductCreated,
        30 ProductChanged,
        31 ProductDeleted,
        32 LinkCreated,
        33 LinkDeleted,
        34 SessionOpened,
        35 ConversionQuoted,
        36 ConversionAccepted,
        37 ConversionCompleted,
        38 ConversionCanceled,
        39 ConversionTried,
        40 ConversionDropped,
        41 CryptoPayoutCreated,
        42 CryptoPayoutApproved,
        43 CryptoPayoutCompleted,
        44 CryptoPayoutFailed,
        45 DepositAddressMade,
        46 CryptoDeposited,
        47 CopPaymentRequested,
        48 CopPaymentInstructed,
        49 CopPaymentCompleted,
        50 CopPaymentFailed,
        51 CopPaymentCanceled,
        52 CopRefundBegun,
        53 CopRefundRefused,
        54 CopPaymentRefunded,
        55 CopPayoutCreated,
        56 CopPayoutCompleted,
        57 CopPayoutFailed,
        58 WebhookCreated,
        59 WebhookChanged,
        60 WebhookDeleted,
        61 WebhookProgress,
        62 EventResent,
        63 OperatorActed,
        64 OperationContradicted,
        65 NoticeReceived,
        66 NoticeClaimed,
        67 OrderBegun,
        68 PaymentUnsent,
        69 CopPaymentUnsent,
        70 CryptoPayoutSigned,
        71 ApprovalAsked,
        72 ApprovalDecided,
        73 AnswerKept,
        74 DepositBooked,
        75 VerificationStarted,
        76 VerificationUnsent,
        77 NoticeGiven,
        78 WebhookDue,
        79 TestReset,
    }
}

layout! {
    enum Entity of record::Entity {
        0 Payment(it: Payment),
        1 Payout(it: Payout),
        2 Merchant(it: Merchant),
        3 Batch(it: Batch),
        4 Chargeback(it: Chargeback),
        5 Otp(it: Otp),
        6 OwnAccount(it: OwnAccount),
        7 Product(it: Product),
        8 Session(it: Session),
        9 Conversion(it: Conversion),
        10 CryptoPayout(it: CryptoPayout),
        11 DepositAddress(it: DepositAddress),
        12 CopPayment(it: CopPayment),
        13 CopPayout(it: CopPayout),
        14 Webhook(it: Webhook),
        15 Notice(it: Notice),
        16 Approval(it: Approval),
    }
}

layout! {
    struct IndexedState of record::IndexedState {
        facet: u8,
        deadline: Option<Timestamp>,
    }
}

layout! {
    struct Written of record::Written {
        state: Arc<Entity>,
        indexed: Option<IndexedState>,
    }
}

layout! {
    struct Record of record::Record {
        cause: Cause,
        seed: u64,
        postings: Vec<Posting>,
        holds: Vec<HoldChange>,
        entities: Vec<Written>,
        removed: Vec<(EntityId, IndexedState)>,
        freed: Vec<String>,
        first_event: u64,
        events: Vec<Event>,
        tenant_settings: Option<TenantSettings>,
        clock_advance_ms: i64,
        platform: Option<Box<PlatformChange>>,
        kept: Option<Kept>,
        closed: Option<Vec<ClosedDay>>,
        audit: Option<Box<AuditEntry>>,
        freed_to: Option<Id>,
    }
}

layout! {
    struct Kept of kept::Kept {
        of: Arc<KeepRef>,
        answer: Answer,
    }
}

layout! {
    enum Answer of kept::Answer {
        0 Record { shown: Vec<Arc<Entity>> },
        1 Refused(it: Refusal),
        2 Bytes(status: u16, body: Bytes),
        3 Void,
    }
}
