//! Version 1 of the snapshot of a tenant's book.

use crate::ledger::book;
use crate::stored::layout::layout;
use crate::stored::v1::banks::BankCode;
use crate::stored::v1::conversions::Totals;
use crate::stored::v1::ledger::{Account, Ledger};
use crate::stored::v1::own_account::Held;
use crate::stored::v1::values::{Currency, EntityId, Id, IdentityDocument, MobilePhone, Timestamp};
use crate::stored::versions::TenantSettings;
use persistent::SortedMap;
use persistent::SortedSet;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;

layout! {
    struct Seller of book::Seller {
        accounts: BTreeMap<Currency, Account>,
        external_ref: String,
        active: bool,
        name: String,
        identification: Option<IdentityDocument>,
        methods: Vec<SellerMethod>,
        default_method: Option<Id>,
        payouts: u64,
    }
}

layout! {
    struct SellerMethod of book::SellerMethod {
        id: Id,
        bank: BankCode,
        phone: MobilePhone,
        verified: bool,
    }
}

layout! {
    past struct Book of book::Book {
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
    } then {
        counted_from: None,
        days: SortedMap::new(),
    }
}
