//! Version 4 of the snapshot of a tenant's book: with the days of its accounts.

use crate::ledger::book;
use crate::stored::layout::layout;
use crate::stored::v1::book::Seller;
use crate::stored::v1::conversions::Totals;
use crate::stored::v1::ledger::{Account, Ledger};
use crate::stored::v1::own_account::Held;
use crate::stored::v1::values::{Currency, EntityId, Id, Timestamp};
use crate::stored::v4::days::Day;
use crate::stored::versions::TenantSettings;
use persistent::{SortedMap, SortedSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

layout! {
    struct Book of book::Book {
        last: Timestamp,
        offset_ms: i64,
        tenant_settings: TenantSettings,
        accounts: BTreeMap<Currency, Account>,
        counter: BTreeMap<(Ledger, Currency), i64>,
        sellers: SortedMap<Id, Arc<Seller>>,
        seller_releases: SortedSet<(Timestamp, Id)>,
        own: Option<(Held, bool)>,
        events: u64,
        agenda: SortedSet<(Timestamp, EntityId)>,
        sold: SortedSet<Id>,
        converted: Totals,
        pending_payouts_usdt: i64,
        releases: SortedSet<(Timestamp, EntityId)>,
        webhooks: BTreeSet<Id>,
        counted_from: Option<Timestamp>,
        days: SortedMap<(Ledger, Currency), Day>,
    }
}
