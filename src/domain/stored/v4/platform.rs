//! Version 4 of the operator's book: it has operators in it, and tenants that came from elsewhere.

use crate::platform;
use crate::stored::layout::layout;
use crate::stored::v1::banks::BankBook;
use crate::stored::v1::platform::{ApiKey, BackedUp};
use crate::stored::v1::values::{Id, Timestamp};
use crate::stored::v4::operators::OperatorAccount;
use crate::stored::versions;
use persistent::SortedMap;
use std::sync::Arc;

layout! {
    struct Tenant of platform::Tenant {
        id: Id,
        number: u32,
        first_number: u32,
        name: Box<str>,
        tenant_settings: versions::TenantSettings,
        pushed: u64,
        created_at: Timestamp,
    }
}

layout! {
    struct PlatformBook of platform::PlatformBook {
        last: Timestamp,
        tenants: SortedMap<u32, Arc<versions::Tenant>>,
        keys: SortedMap<Id, Arc<ApiKey>>,
        banks: BankBook,
        last_backup: Option<BackedUp>,
        operators: SortedMap<Id, Arc<OperatorAccount>>,
    }
}
