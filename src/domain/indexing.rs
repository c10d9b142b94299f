//! The index entries of a record: those of its entities, as each kind says them, and those of its movements,
//! events and kept answer.

use crate::cause::{Cause, SideEffect};
use crate::codec;
use crate::entities::conversion::Source;
use crate::entities::resource::{Change, Listing};
use crate::events::Extra;
use crate::index::{
    AuditList, DAYS, Entries, LedgerKey, OPERATORS, OTHER, PersonMarks, Space, Trait, audit, begun_at,
    contradicted, day_bytes, days, entity, event, found_by, kept_of_operator, kept_on, left, list, movements,
    name, of_deposit, sampled_at, searched_hash, time_bytes, webhook,
};
use crate::ledger::days::ClosedDay;
use crate::ledger::{Ledger, MovementKind};
use crate::platform::PlatformChange;
use crate::platform::audit::AuditEntry;
use crate::platform::beside::{Beside, pin_name};
use crate::record::Record;
use crate::values::ids::{Id, Kind, PLATFORM};
use crate::values::money::Currency;
use crate::values::time::Timestamp;
use std::borrow::Cow;
use wal::IndexOps;

pub fn entries(tenant: u64, time: Timestamp, record: &Record, marks: &PersonMarks, ops: &mut IndexOps) {
    let begins = record.cause == Cause::TestReset;
    if begins {
        for (from, to) in left(tenant) {
            ops.delete_range(&from, &to);
        }
        ops.put(&begun_at(tenant), &record.first_event.to_be_bytes());
    }
    for written in &record.entities {
        let (state, id) = (written.state.resource(), written.state.id());
        ops.put_seq(&entity(tenant, id));
        let before = written.indexed.filter(|_| !begins).map(|indexed| indexed.facet);
        let now = state.facet();
        let is_moved = before != Some(now);
        let lists = if is_moved { [before, Some(now)] } else { [None, None] };
        for facet in lists.into_iter().flatten() {
            let listing = state.listing(facet);
            let (order, owners): (&[u8], &[u64]) = match &listing {
                Listing::Nowhere => continue,
                Listing::ById => (&[], &[tenant]),
                Listing::After(order) => (order, &[tenant]),
                Listing::ForOperatorsToo => (&[], &[tenant, PLATFORM]),
            };
            for owner in owners {
                let key = [&list(*owner, id.kind, facet), order, id.id.as_bytes()].concat();
                if facet == now { ops.put(&key, &[]) } else { ops.delete(&key) }
            }
        }
        let change = Change { cause: record.cause, is_new: before.is_none(), is_moved };
        state.entries(change, &mut Entries { tenant, id, marks, ops });
    }
    for (id, indexed) in &record.removed {
        ops.delete(&entity(tenant, *id));
        ops.delete(&[list(tenant, id.kind, indexed.facet).as_slice(), id.id.as_bytes()].concat());
        if id.kind == Kind::Webhook {
            ops.delete(&webhook(tenant, id.id));
        }
        if record.cause == Cause::CopPaymentUnsent {
            ops.delete(&name(PLATFORM, Space::CopPayment, &id.id.to_string()));
        }
    }
    // A record whose cause frees no names has none (`ledger/invariants.rs`).
    if let SideEffect::Free(space) = record.cause.side_effect() {
        for freed in &record.freed {
            let key = name(space.owner(tenant), space, freed);
            match record.freed_to {
                Some(before) => ops.put(&key, before.as_bytes()),
                None => ops.delete(&key),
            }
        }
    }
    index_movements(tenant, time, record, ops);
    for closed in &record.closed {
        let days = days(tenant, closed.ledger, closed.currency);
        ops.put(&[days.as_slice(), &day_bytes(closed.day.date)].concat(), &codec::encode(closed));
    }
    index_events(tenant, record, marks, ops);
    if let Some(PlatformChange::Searched(searched)) = record.platform.as_deref() {
        ops.put_seq(&name(PLATFORM, Space::SearchedBlocks, &searched.name()));
    }
    if let Some(PlatformChange::SearchEnded { payment, .. }) = record.platform.as_deref() {
        ops.put(&name(PLATFORM, Space::EndedSearch, &payment.to_string()), payment.as_bytes());
    }
    if let Some(PlatformChange::Beside(entries)) = record.platform.as_deref() {
        index_besides(entries, ops);
    }
    if let Some(PlatformChange::Followed(followed)) = record.platform.as_deref() {
        index_besides(&followed.besides, ops);
    }
    if record.cause == Cause::OperationContradicted {
        ops.put_at_seq(&contradicted(), &[]);
    }
    if let Some(entry) = &record.audit {
        index_audit(entry, ops);
    }
    if let Some(kept) = &record.kept {
        let place = if kept.of.path.starts_with(OPERATORS) { kept_of_operator } else { kept_on };
        ops.put_seq(&place(tenant, &kept.of.key, &kept.of.path));
    }
}

/// Writes the place of a record's events, and what deposits are found by, which are no entities.
fn index_events(tenant: u64, record: &Record, marks: &PersonMarks, ops: &mut IndexOps) {
    if !record.events.is_empty() {
        ops.put_seq(&event(tenant, record.first_event));
    }
    for event in &record.events {
        let Extra::Deposit(deposit) = &event.extra else { continue };
        if let Some(entry) = &deposit.entry {
            let mut named =
                |text: String, id: Id| ops.put(&name(tenant, Space::Deposit, &text), id.as_bytes());
            named(entry.name(&deposit.tx_hash), deposit.id);
            named(entry.transaction_name(&deposit.tx_hash), entry.block_id());
        }
        let texts =
            [(Trait::PartId, deposit.id.to_string()), (Trait::TxHash, searched_hash(&deposit.tx_hash))];
        for (by, text) in texts {
            if let Some(prefix) = found_by(marks, by, &text) {
                ops.put_seq(&of_deposit(&prefix, tenant, deposit.id));
            }
        }
    }
}

/// The entries of a record with what is kept beside the log.
fn index_besides(entries: &[Beside], ops: &mut IndexOps) {
    let mut newest = None;
    for entry in entries {
        match entry {
            Beside::Fate { operation, kind, refusal } => {
                let text = operation.to_string().replace('-', "");
                ops.put(&name(PLATFORM, Space::Fate, &text), &[*kind, *refusal]);
            }
            Beside::Sample(sample) => newest = newest.max(Some(sample.fetched_at)),
            Beside::Pinned(_) | Beside::Unpinned(_) => {}
        }
        if let Some(place) = entry.place() {
            ops.put_seq(&name(PLATFORM, Space::Pinned, &pin_name(&place)));
        }
    }
    if let Some(at) = newest {
        ops.put_at_seq(&name(PLATFORM, Space::Sampled, &sampled_at(at.unix_ms())), &[]);
    }
}

fn index_audit(entry: &AuditEntry, ops: &mut IndexOps) {
    let lists = [
        Some(AuditList::All),
        Some(AuditList::Operator(entry.operator.id)),
        entry.tenant.map(AuditList::Tenant),
        Some(AuditList::Action(&entry.action)),
    ];
    for list in lists.into_iter().flatten() {
        ops.put_at_seq(&[audit(list).as_slice(), &time_bytes(entry.at)].concat(), &[]);
    }
    // An approval under which something was done is never used again.
    if let (Some(approval), Some(_)) = (entry.approval, &entry.consent) {
        ops.put_seq(&name(PLATFORM, Space::Approved, &approval.to_string()));
    }
}

fn index_movements(tenant: u64, time: Timestamp, record: &Record, ops: &mut IndexOps) {
    if record.postings.is_empty() && record.tenant_settings.is_none() && record.holds.is_empty() {
        return;
    }
    let mut kinds: Vec<(LedgerKey, u8)> = Vec::with_capacity(record.postings.len() + 1);
    // Of a conversion that is paid here, the USDT are found by what was paid for them.
    let (mut has_ves, mut is_paid) = (false, false);
    for posting in &record.postings {
        let Some(row) = &posting.row else { continue };
        let ledger = match posting.ledger {
            Ledger::Tenant => LedgerKey::Tenant(posting.currency),
            Ledger::Seller(merchant) => LedgerKey::Seller(merchant),
            Ledger::Fees | Ledger::Rail | Ledger::Operator | Ledger::Exchange => continue,
        };
        has_ves |= ledger == LedgerKey::Tenant(Currency::Ves);
        is_paid |= posting.ledger == Ledger::Tenant
            && posting.currency != Currency::Usdt
            && row.kind == MovementKind::Conversion;
        kinds.push((ledger, row.kind as u8));
        if let (Some(external_ref), Cause::Adjusted) = (&row.external_ref, record.cause) {
            ops.put_seq(&name(tenant, Space::Adjustment, external_ref));
        }
    }
    if !has_ves {
        kinds.push((LedgerKey::Tenant(Currency::Ves), OTHER));
    }
    // A record has few kinds of movements, however many rows.
    kinds.sort_unstable();
    kinds.dedup();
    let usdt = (LedgerKey::Tenant(Currency::Usdt), MovementKind::Conversion as u8);
    for (ledger, kind) in kinds {
        if !is_paid || (ledger, kind) != usdt {
            ops.put_at_seq(&[movements(tenant, ledger, kind).as_slice(), &time_bytes(time)].concat(), &[]);
        }
    }
}

/// The prefixes of the lists that together hold the movements of a ledger of a type, and others
/// too: the USDT of a conversion are in the record of what was paid for them, unless they came
/// later.
pub fn movement_lists(tenant: u64, ledger: LedgerKey, kind: u8) -> Vec<Vec<u8>> {
    let mut lists = vec![movements(tenant, ledger, kind)];
    if ledger == LedgerKey::Tenant(Currency::Usdt) && kind == MovementKind::Conversion as u8 {
        let paid = Source::ALL.map(|source| movements(tenant, LedgerKey::Tenant(source.currency()), kind));
        lists.extend(paid);
    }
    lists
}

/// The value of an entry, the same however the format that it was written in says it.
pub fn comparable<'v>(key: &[u8], value: &'v [u8]) -> Cow<'v, [u8]> {
    let day = || codec::decode::<ClosedDay>(value).ok();
    match key.get(4) == Some(&DAYS) {
        true => day().map_or(value.into(), |day| codec::encode_comparably(&day).into()),
        false => value.into(),
    }
}

/// Whether two values of an index entry say the same: a release of before wrote one with its own version in front.
pub fn says_same(key: &[u8], one: &[u8], other: &[u8]) -> bool {
    comparable(key, one) == comparable(key, other)
}
