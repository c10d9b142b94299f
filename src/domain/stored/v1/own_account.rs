//! Version 1 of the tenant's own account.

use crate::resources::own_account;
use crate::stored::layout::layout;
use crate::stored::v1::banks::BankCode;
use crate::stored::v1::values::{IdentityDocument, MobilePhone, Timestamp};
use crate::stored::v1::verification::MethodStatus;

layout! {
    struct Held of own_account::OwnPhone {
        bank: BankCode,
        phone: MobilePhone,
        identification: IdentityDocument,
    }
}

layout! {
    struct OwnAccount of own_account::OwnAccount {
        held: Held,
        status: MethodStatus,
        livemode: bool,
        created_at: Timestamp,
        updated_at: Timestamp,
    }
}
