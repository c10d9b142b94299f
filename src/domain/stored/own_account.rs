//! The tenant's own account.

use crate::resources::own_account;
use crate::stored::banks::BankCode;
use crate::stored::layout::layout;
use crate::stored::values::IdentityDocument;
use crate::stored::values::MobilePhone;
use crate::stored::values::Timestamp;
use crate::stored::verification::{Attempts, MethodStatus};

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
        attempts: Attempts,
    }
}
