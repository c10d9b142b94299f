//! A page of movements of one ledger, newest first: `GET /v1/balance/transactions` and its kin.

use crate::endpoint::shown;
use crate::openapi::{schema, values};
use crate::page::{Page, bad_cursor, page_json};
use crate::payments::find;
use crate::records::{Answered, Records, Stopped, first_known};
use crate::value::shown_amount;
use domain::entities::Entity;
use domain::index::{self, LedgerKey};
use domain::indexing;
use domain::ledger::{Ledger, Row};
use domain::ledger::{MovementKind, Posting};
use domain::record::Record;
use domain::values::ids::{EntityId, Id, Kind, is_live};
use domain::values::money::Currency;
use domain::values::time::Timestamp;
use std::ops::ControlFlow;

/// The filters of a list of movements.
pub struct Movements {
    pub ledger: LedgerKey,
    pub kinds: Vec<u8>,
    pub from: Option<Timestamp>,
    /// The instant before which movements are listed.
    pub to: Option<Timestamp>,
    pub subjects: Vec<EntityId>,
}

pub fn read(records: &dyn Records, ask: &Movements, page: &Page, now: Timestamp) -> Answered {
    let after =
        page.after.as_deref().map(|bytes| Position::read(bytes).ok_or_else(bad_cursor)).transpose()?;
    let livemode = is_live(records.tenant_key());
    let mut items = Vec::with_capacity(page.limit);
    let (mut last, mut next) = (Vec::new(), None);
    let subjects = subjects(records, &ask.subjects)?;
    for (from, to) in spans(records, ask, &subjects)? {
        let before = after
            .as_ref()
            .map(|after| after.just_after())
            .into_iter()
            .chain([index::time_bytes(to).to_vec()])
            .min();
        let tenant = records.tenant_key();
        let parts =
            ask.kinds.iter().flat_map(|kind| indexing::movement_lists(tenant, ask.ledger, *kind)).collect();
        let from = Some(index::time_bytes(from).to_vec());
        records.newest_entries(parts, before.as_deref(), from, &mut |suffix, _| {
            let at = Position::of_record(suffix)?;
            records.spend()?;
            let (record, time) = records.record(at.seq)?;
            for n in (0..record.postings.len()).rev() {
                let position = Position { row: u16::try_from(n).unwrap_or(u16::MAX), ..at };
                if after.as_ref().is_some_and(|after| position >= *after)
                    || !wanted(&record, n, ask, &subjects)
                {
                    continue;
                }
                if items.len() == page.limit {
                    next = Some(page.next(&last));
                    return Ok(ControlFlow::Break(()));
                }
                items.extend(show_movement(livemode, &record, time, n, now));
                last = position.bytes();
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if next.is_some() {
            break;
        }
    }
    Ok(page_json(items, next.as_deref()))
}

/// The payments and payouts that are asked for, each as what it is; one that is not there stays as
/// it was named.
fn subjects(records: &dyn Records, asked: &[EntityId]) -> Result<Vec<EntityId>, Stopped> {
    let known = |subject: &EntityId| match subject.kind {
        Kind::Payment => find(records, subject.id),
        Kind::Payout => {
            let id = subject.id;
            first_known(
                records,
                [EntityId::payout(id), EntityId::cop_payout(id), EntityId::crypto_payout(id)],
            )
        }
        _ => Ok(None),
    };
    asked.iter().map(|subject| Ok(known(subject)?.unwrap_or(*subject))).collect()
}

/// The stretches of time to look at, newest first, each with its start and the instant after its
/// end.
fn spans(
    records: &dyn Records,
    ask: &Movements,
    subjects: &[EntityId],
) -> Result<Vec<(Timestamp, Timestamp)>, Stopped> {
    let from = ask.from.unwrap_or(Timestamp::from_unix_ms(0));
    let to = ask.to.unwrap_or(Timestamp::from_unix_ms(i64::MAX));
    let mut spans = match subjects {
        [] => vec![(from, to)],
        // A payment or payout has the time at which it moved money.
        [subject] => match records.entity(*subject)?.as_deref() {
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
        // The list is empty: no movement belongs to a payment and to a payout at once.
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

/// The place of a movement in the order of all of them: time, sequence and row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    time: u64,
    pub seq: u64,
    row: u16,
}

impl Position {
    /// The position of a record's first row, from an entry of the index.
    pub fn of_record(suffix: &[u8]) -> Result<Position, Stopped> {
        let (time, seq) = suffix.split_first_chunk().ok_or_else(Position::unreadable)?;
        let seq: [u8; 8] = seq.try_into().map_err(|_| Position::unreadable())?;
        Ok(Position { time: u64::from_be_bytes(*time), seq: u64::from_be_bytes(seq), row: 0 })
    }

    /// The position in a cursor; `None` for bytes that cannot be one.
    pub fn read(bytes: &[u8]) -> Option<Position> {
        let (record, row) = bytes.split_last_chunk()?;
        let record = Position::of_record(record).ok()?;
        (record.seq < u64::MAX).then_some(Position { row: u16::from_be_bytes(*row), ..record })
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

    fn unreadable() -> Stopped {
        Stopped::Unreadable("a movement entry of another length".to_owned())
    }
}

/// The `n`-th posting of a record as a movement; `None` when nobody sees it. `now` decides whether
/// its hold still lasts.
pub fn show_movement(
    livemode: bool,
    record: &Record,
    time: Timestamp,
    n: usize,
    now: Timestamp,
) -> Option<Vec<u8>> {
    let posting = record.postings.get(n)?;
    let row: &Row = posting.row.as_deref()?;
    Some(show_row(record.movement_id(time, n), livemode, posting, row, time, now))
}

/// The subject of a movement, if it is of one of these kinds.
fn subject(row: &Row, kinds: &[Kind]) -> Option<Id> {
    row.subject.filter(|subject| kinds.contains(&subject.kind)).map(|subject| subject.id)
}

/// The amount of a posting, if it is in this currency.
fn amount_in(currency: Currency, posting: &Posting) -> Option<String> {
    (posting.currency == currency).then(|| shown_amount(currency, posting.minor))
}

shown! {
    fn show_row(id: Id, livemode: bool, posting: &Posting, row: &Row, time: Timestamp, now: Timestamp), schema, 512 {
        plain "id" = id, values::uuid();
        plain "type" = row.kind.name(), schema::one_of(MovementKind::ALL.map(MovementKind::name));
        optional plain "amountVes" = amount_in(Currency::Ves, posting),
            values::signed_ves().about("Signed; negative is money out. In bolívares.");
        optional plain "amountCop" = amount_in(Currency::Cop, posting), values::signed_pesos().about("In pesos.");
        optional plain "amountUsdt" = amount_in(Currency::Usdt, posting), values::signed_ves().about("In USDT.");
        plain "currency" = posting.currency.code(), values::currency();
        maybe plain "paymentId" = subject(row, &[Kind::Payment, Kind::CopPayment]), values::uuid();
        maybe plain "payoutId" = subject(row, &[Kind::Payout, Kind::CopPayout, Kind::CryptoPayout]), values::uuid();
        maybe plain "chargebackId" = row.chargeback, values::uuid();
        maybe text "externalRef" = row.external_ref.as_deref(), values::shown_ref();
        text "description" = &row.description, schema::text();
        boolean "livemode" = livemode, values::livemode();
        plain "createdAt" = time, values::instant();
        optional plain "conversionId" = subject(row, &[Kind::Conversion]), values::uuid();
        optional plain "merchantId" = if let Ledger::Seller(merchant) = posting.ledger { Some(merchant) } else { None },
            values::uuid().about("On a seller's balance: whose.");
        optional plain "availableAt" = row.available_at.filter(|at| *at > now),
            values::instant().about("The end of the hold, while it lasts.");
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
