//! Kept answers.

use crate::kept;
use crate::stored::layout::layout;
use crate::stored::parts::Bytes;
use crate::stored::values::Id;
use crate::stored::values::Timestamp;
use std::sync::Arc;

layout! {
    enum Shape of kept::Shape {
        0 Intent,
        1 Executed,
        2 Reversed,
        3 PayoutCreated,
        4 MerchantCreated,
        5 MerchantUpdated,
        6 MerchantDeleted,
        7 VerificationStarted(it: Id),
        8 PayoutMethod(it: Id),
        9 NewPayoutMethod,
        10 Movement,
        11 Clock,
        12 Batch,
        13 Platform,
        14 Charged,
        15 ChargebackOpened(it: Id),
        16 Chargeback(it: Id),
        17 OtpRequested,
        18 OwnAccount,
        19 OwnVerificationStarted,
        20 ProductCreated,
        21 Product,
        22 ProductDeleted,
        23 LinkCreated,
        24 Link(it: Id),
        25 LinkDeleted(it: Id),
        26 SessionOpened,
        27 Quote,
        28 ConversionAccepted,
        29 Conversion,
        30 CryptoPayoutCreated,
        31 CryptoPayout,
        32 DepositAddress,
        33 Deposit,
        34 CopPaymentCreated,
        35 CopPayment,
        36 CopPayoutCreated,
        37 CopPayout,
        38 WebhookCreated,
        39 Webhook,
        40 WebhookDeleted,
        41 SecretRotated,
        42 Resent,
        43 TenantOpened,
        44 Tenant,
        45 KeyMade(it: Id),
        46 OperatorMade,
        47 Operator,
        48 ApprovalAsked,
        49 TestReset,
    }
}

layout! {
    struct KeepRef of kept::KeepRef {
        key: String,
        path: String,
        body_hash: [u8; 16],
        first_seen: Timestamp,
        shape: Shape,
        request_id: String,
    }
}

layout! {
    struct Kept of kept::Kept {
        of: Arc<KeepRef>,
        status: u16,
        body: Bytes,
        void: bool,
    }
}
