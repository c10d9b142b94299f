//! The operator's book: tenants, keys, what operators did.

use crate::platform;
use crate::platform::acts;
use crate::stored::banks::BankBook;
use crate::stored::banks::BankCode;
use crate::stored::banks::Catalogue;
use crate::stored::banks::Edit;
use crate::stored::beside::Beside;
use crate::stored::crypto::SearchedBlocks;
use crate::stored::layout::layout;
use crate::stored::operators::OperatorAccount;
use crate::stored::values::Id;
use crate::stored::values::Timestamp;
use persistent::SortedMap;
use std::sync::Arc;

layout! {
    enum Mode of platform::Mode {
        0 Live,
        1 Test,
    }
}

layout! {
    value Scopes(u8) of platform::Scopes;
}

layout! {
    struct ApiKey of platform::ApiKey {
        id: Id,
        tenant: u32,
        mode: Mode,
        hash: [u8; 32],
        prefix: Box<str>,
        scopes: Scopes,
        created_at: Timestamp,
        expires_at: Option<Timestamp>,
        revoked_at: Option<Timestamp>,
        retires_at: Option<Timestamp>,
        replaces: Option<Box<Id>>,
    }
}

layout! {
    enum PlatformChange of platform::PlatformChange {
        0 Tenant(it: Arc<Tenant>),
        1 Key(it: Arc<ApiKey>),
        2 Opened { tenant: Arc<Tenant>, keys: Vec<Arc<ApiKey>> },
        3 Bank(code: BankCode, edit: Edit),
        4 Banks(it: Catalogue),
        5 Acted(it: Act),
        7 Searched(it: SearchedBlocks),
        8 Operator(it: Arc<OperatorAccount>),
        9 Beside(it: Vec<Beside>),
        10 LiveAsked(it: u32),
    }
}

layout! {
    struct Act of acts::Act {
        who: String,
        from: Option<String>,
        request_id: Option<String>,
        deed: Deed,
    }
}

layout! {
    enum Deed of acts::Deed {
        0 Called { operation: String, path: String },
        1 BackedUp { directory: String, seq: u64 },
        2 TookOver { made_by: String, seq: u64 },
        3 Resolved { operation: Id, done: bool, note: String },
    }
}

layout! {
    struct BackedUp of acts::BackedUp {
        at: Timestamp,
        directory: String,
        seq: u64,
    }
}

layout! {
    struct Tenant of platform::Tenant {
        id: Id,
        number: u32,
        first_number: u32,
        name: Box<str>,
        tenant_settings: crate::stored::settings::TenantSettings,
        pushed: u64,
        created_at: Timestamp,
    }
}

layout! {
    struct PlatformBook of platform::PlatformBook {
        last: Timestamp,
        tenants: SortedMap<u32, Arc<Tenant>>,
        keys: SortedMap<Id, Arc<ApiKey>>,
        banks: BankBook,
        last_backup: Option<BackedUp>,
        operators: SortedMap<Id, Arc<OperatorAccount>>,
        live_asked: SortedMap<u32, Timestamp>,
    }
}
