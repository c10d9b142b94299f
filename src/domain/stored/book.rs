//! The snapshot of a tenant's book.

use crate::ledger::book;
use crate::stored::banks::BankCode;
use crate::stored::conversions::Totals;
use crate::stored::days::Day;
use crate::stored::layout::layout;
use crate::stored::ledger::Account;
use crate::stored::ledger::Ledger;
use crate::stored::own_account::Held;
use crate::stored::settings::TenantSettings;
use crate::stored::values::Currency;
use crate::stored::values::EntityId;
use crate::stored::values::Id;
use crate::stored::values::IdentityDocument;
use crate::stored::values::MobilePhone;
use crate::stored::values::Timestamp;
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
        deposit_starts: SortedMap<Timestamp, u32>,
        begun_at: u64,
        kept_changes: u64,
    }
}
