//! Version 4 of the operator's book: it has operators in it.

use crate::platform;
use crate::stored::layout::layout;
use crate::stored::v1::banks::BankBook;
use crate::stored::v1::platform::{ApiKey, BackedUp, Tenant};
use crate::stored::v1::values::{Id, Timestamp};
use crate::stored::v4::operators::OperatorAccount;
use persistent::SortedMap;
use std::sync::Arc;

layout! {
    struct PlatformBook of platform::PlatformBook {
        last: Timestamp,
        tenants: SortedMap<u32, Arc<Tenant>>,
        keys: SortedMap<Id, Arc<ApiKey>>,
        banks: BankBook,
        last_backup: Option<BackedUp>,
        operators: SortedMap<Id, Arc<OperatorAccount>>,
    }
}
