//! The catalogue of banks.

use crate::resources::banks;
use crate::stored::layout::layout;
use crate::stored::values::Timestamp;
use crate::values::bank;
use std::collections::BTreeMap;

layout! {
    value BankCode(u16) of bank::BankCode;
}

layout! {
    value Services(u8) of banks::Services;
}

layout! {
    struct Bank of banks::Bank {
        code: BankCode,
        name: String,
        services: Services,
        logo_url: Option<String>,
        hidden: bool,
    }
}

layout! {
    struct Catalogue of banks::Catalogue {
        banks: Vec<Bank>,
    }
}

layout! {
    struct Edit of banks::Edit {
        hidden: Option<bool>,
        name: Option<String>,
        services: Option<Services>,
        logo_url: Option<Option<String>>,
    }
}

layout! {
    struct BankBook of banks::BankBook {
        listed: Option<Catalogue>,
        refreshed_at: Option<Timestamp>,
        edits: BTreeMap<BankCode, Edit>,
    }
}
