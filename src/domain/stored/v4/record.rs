//! Version 4 of records: with the days that are over, and the entry of the audit.

use crate::record;
use crate::stored::layout::layout;
use crate::stored::v1::events::Event;
use crate::stored::v1::kept::Kept;
use crate::stored::v1::ledger::{HoldChange, Posting};
use crate::stored::v1::platform::PlatformChange;
use crate::stored::v1::record::{Cause, IndexedState, Written};
use crate::stored::v1::values::EntityId;
use crate::stored::v4::days::ClosedDay;
use crate::stored::v4::operators::AuditEntry;
use crate::stored::versions::TenantSettings;

layout! {
    struct Record of record::Record {
        cause: Cause,
        seed: u64,
        postings: Vec<Posting>,
        holds: Vec<HoldChange>,
        entities: Vec<Written>,
        removed: Vec<(EntityId, IndexedState)>,
        freed: Vec<String>,
        first_event: u64,
        events: Vec<Event>,
        tenant_settings: Option<TenantSettings>,
        clock_advance_ms: i64,
        platform: Option<Box<PlatformChange>>,
        kept: Option<Kept>,
        closed: Option<Vec<ClosedDay>>,
        audit: Option<Box<AuditEntry>>,
    }
}
