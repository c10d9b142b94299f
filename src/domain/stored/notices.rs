//! Notices, which came with it.

use crate::resources::notices;
use crate::stored::banks::BankCode;
use crate::stored::layout::layout;
use crate::stored::values::Id;
use crate::stored::values::MobilePhone;
use crate::stored::values::Timestamp;
use crate::stored::values::Ves;

layout! {
    struct Notice of notices::Notice {
        id: Id,
        about: About,
        received_at: Timestamp,
        claim: Option<Claim>,
        given_to: Option<u64>,
    }
}

layout! {
    enum About of notices::About {
        0 Transfer(it: Transfer),
        1 Transaction { id: String, reference: Option<String> },
    }
}

layout! {
    struct Transfer of notices::Transfer {
        reference: String,
        bank: BankCode,
        phone: MobilePhone,
        amount: Ves,
        paid_at: Timestamp,
        document: Option<NoticedDocument>,
    }
}

layout! {
    struct NoticedDocument of notices::NoticedDocument {
        letter: Option<u8>,
        number: u32,
    }
}

layout! {
    struct Claim of notices::Claim {
        tenant: u64,
        payment: Id,
        at: Timestamp,
    }
}
