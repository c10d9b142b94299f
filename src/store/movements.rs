//! A page of movements (GET /v1/movements), and where a movement is in the order of all of them.

use crate::store::history::{Unreadable, entity, payment, payout, record};
use crate::store::merge_cursor::MergeCursor;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::balance::show_movement;
use api::page::page_json;
use api::plan::Movements;
use domain::index::{self, LedgerKey};
use domain::ledger::Ledger;
use domain::platform::is_live;
use domain::record::{Entity, Record};
use domain::values::ids::{EntityId, Kind};
use domain::values::time::Timestamp;
use wal::{Reader, Seq};

/// A page of movements, those after a position.
pub fn movements(
    reader: &Reader,
    tenant: u64,
    ask: &Movements,
    after: Option<Position>,
    now: Timestamp,
    budget: &ReadBudget,
) -> Result<Vec<u8>, Stopped> {
    let mut items = Vec::with_capacity(ask.page.limit);
    let mut last = Vec::new();
    let subjects = subjects(reader, tenant, &ask.subjects)?;
    for (from, to) in spans(reader, tenant, ask, &subjects)? {
        let before = after
            .as_ref()
            .map(|after| after.just_after())
            .into_iter()
            .chain([index::time_bytes(to).to_vec()])
            .min();
        let parts =
            ask.kinds.iter().flat_map(|kind| index::movement_lists(tenant, ask.ledger, *kind)).collect();
        let mut newest =
            MergeCursor::new(reader, parts, before.as_deref(), Some(index::time_bytes(from).to_vec()))?;
        while let Some(suffix) = newest.take()? {
            let at = Position::of_record(&suffix)?;
            budget.spend()?;
            let read = record(reader, at.seq)?;
            for n in (0..read.record.postings.len()).rev() {
                let position = Position { row: u16::try_from(n).unwrap_or(u16::MAX), ..at };
                if after.as_ref().is_some_and(|after| position >= *after)
                    || !wanted(&read.record, n, ask, &subjects)
                {
                    continue;
                }
                if items.len() == ask.page.limit {
                    return Ok(page_json(items, Some(&ask.page.next(&last))));
                }
                items.extend(show_movement(is_live(tenant), &read.record, read.time, n, now));
                last = position.bytes();
            }
        }
    }
    Ok(page_json(items, None))
}

/// The payments and payouts that are asked for, each as what it is; one that is not there stays as
/// it was named.
fn subjects(reader: &Reader, tenant: u64, asked: &[EntityId]) -> Result<Vec<EntityId>, Unreadable> {
    let known = |subject: &EntityId| match subject.kind {
        Kind::Payment => payment(reader, tenant, subject.id),
        Kind::Payout => payout(reader, tenant, subject.id),
        _ => Ok(None),
    };
    asked.iter().map(|subject| Ok(known(subject)?.unwrap_or(*subject))).collect()
}

/// The stretches of time to look at, newest first, each with its start and the instant after its
/// end.
fn spans(
    reader: &Reader,
    tenant: u64,
    ask: &Movements,
    subjects: &[EntityId],
) -> Result<Vec<(Timestamp, Timestamp)>, Unreadable> {
    let from = ask.from.unwrap_or(Timestamp::from_unix_ms(0));
    let to = ask.to.unwrap_or(Timestamp::from_unix_ms(i64::MAX));
    let mut spans = match subjects {
        [] => vec![(from, to)],
        // A payment or payout knows when it moved money.
        [subject] => match entity(reader, tenant, *subject)?.as_deref() {
            Some(Entity::Payment(payment)) => payment.moved_at(),
            Some(Entity::Payout(payout)) => payout.moved_at(),
            Some(Entity::CryptoPayout(payout)) => payout.moved_at(),
            Some(Entity::CopPayment(payment)) => payment.moved_at(),
            Some(Entity::CopPayout(payout)) => payout.moved_at(),
            Some(_) | None => Vec::new(),
        }
        .into_iter()
        .map(|at| (at, at.plus_ms(1)))
        .collect(),
        // No movement belongs to a payment and a payout.
        _ => Vec::new(),
    };
    spans.retain_mut(|(start, end)| {
        *start = (*start).max(from);
        *end = (*end).min(to);
        *start < *end
    });
    spans.sort_unstable_by(|a, b| b.cmp(a));
    spans.dedup();
    Ok(spans)
}

fn wanted(record: &Record, n: usize, ask: &Movements, subjects: &[EntityId]) -> bool {
    let posting = &record.postings[n];
    let Some(row) = &posting.row else { return false };
    let ledger = match posting.ledger {
        Ledger::Tenant => LedgerKey::Tenant(posting.currency),
        Ledger::Seller(merchant) => LedgerKey::Seller(merchant),
        Ledger::Fees | Ledger::Rail | Ledger::Operator | Ledger::Exchange => return false,
    };
    ledger == ask.ledger
        && ask.kinds.contains(&(row.kind as u8))
        && subjects.iter().all(|subject| row.subject == Some(*subject))
}

/// Where a movement is in the order of all of them: time, sequence and row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    time: u64,
    /// The record.
    pub seq: Seq,
    row: u16,
}

impl Position {
    /// From an entry of the index, as the first row of its record.
    pub fn of_record(suffix: &[u8]) -> Result<Position, Unreadable> {
        let (time, seq) = suffix.split_first_chunk().ok_or_else(Position::unreadable)?;
        let seq: [u8; 8] = seq.try_into().map_err(|_| Position::unreadable())?;
        Ok(Position { time: u64::from_be_bytes(*time), seq: u64::from_be_bytes(seq), row: 0 })
    }

    /// From a cursor; `None` for what cannot be the position of a movement.
    pub fn read(bytes: &[u8]) -> Option<Position> {
        let (record, row) = bytes.split_last_chunk()?;
        let record = Position::of_record(record).ok()?;
        (record.seq < Seq::MAX).then_some(Position { row: u16::from_be_bytes(*row), ..record })
    }

    fn bytes(self) -> Vec<u8> {
        let mut bytes = self.time.to_be_bytes().to_vec();
        bytes.extend_from_slice(&self.seq.to_be_bytes());
        bytes.extend_from_slice(&self.row.to_be_bytes());
        bytes
    }

    /// A suffix just after this record's, so that its other rows are seen again.
    fn just_after(&self) -> Vec<u8> {
        let mut bytes = self.time.to_be_bytes().to_vec();
        bytes.extend_from_slice(&self.seq.saturating_add(1).to_be_bytes());
        bytes
    }

    fn unreadable() -> Unreadable {
        Unreadable("a movement entry of another length".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_back_and_no_other_bytes_are_one() {
        let at = Position { time: 7, seq: u64::MAX - 1, row: 3 };
        assert!(Position::read(&at.bytes()) == Some(at));
        assert_eq!(at.just_after()[8..], u64::MAX.to_be_bytes());
        for bad in [vec![0xFF; 18], vec![0; 17], vec![0; 19], Vec::new()] {
            assert!(Position::read(&bad).is_none(), "{bad:?}");
        }
    }
}
