//! Version 1 of merchants.

use crate::resources::merchants;
use crate::stored::layout::layout;
use crate::stored::v1::banks::BankCode;
use crate::stored::v1::values::{ExternalRef, Id, IdentityDocument, MobilePhone, Timestamp};
use crate::stored::v1::verification::MethodStatus;

layout! {
    struct PayoutMethod of merchants::PayoutMethod {
        id: Id,
        bank: BankCode,
        phone: MobilePhone,
        status: MethodStatus,
        created_at: Timestamp,
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
