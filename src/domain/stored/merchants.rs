//! Merchants.

use crate::resources::merchants;
use crate::stored::banks::BankCode;
use crate::stored::layout::layout;
use crate::stored::values::ExternalRef;
use crate::stored::values::Id;
use crate::stored::values::IdentityDocument;
use crate::stored::values::MobilePhone;
use crate::stored::values::Timestamp;
use crate::stored::verification::{Attempts, MethodStatus};

layout! {
    struct PayoutMethod of merchants::PayoutMethod {
        id: Id,
        bank: BankCode,
        phone: MobilePhone,
        status: MethodStatus,
        created_at: Timestamp,
        attempts: Attempts,
    }
}

layout! {
    struct Merchant of merchants::Merchant {
        id: Id,
        external_ref: ExternalRef,
        name: String,
        identification: Option<IdentityDocument>,
        contact_email: Option<String>,
        contact_phone: Option<MobilePhone>,
        active: bool,
        rejected: bool,
        methods: Vec<PayoutMethod>,
        default_method: Option<Id>,
        livemode: bool,
        created_at: Timestamp,
        updated_at: Timestamp,
    }
}
