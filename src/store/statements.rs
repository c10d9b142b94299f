//! The lines of a statement (`docs/contract.md, 20.5`): a row of the index for each day that is
//! over, and the present day of the book. Movements of records before version 4 are in no row: they
//! are added up from the records, and are all older than the first row.

use crate::store::history::{Unreadable, record};
use crate::store::merge_cursor::MergeCursor;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::balance::movements::Position;
use domain::codec;
use domain::index::{self, LedgerKey, OTHER};
use domain::indexing;
use domain::ledger::days::{ClosedDay, Counted, Day, Line, Present, counted, lines, zone};
use domain::ledger::{Ledger, MovementKind};
use domain::values::money::Currency;
use domain::values::time::{Date, Timestamp};
use std::collections::BTreeMap;
use wal::Reader;

#[derive(Clone, Copy)]
pub struct Account {
    pub tenant: u64,
    pub ledger: Ledger,
    pub currency: Currency,
}

/// From `from` to `to`, both included. Days that are written down later than `present` do not count.
pub fn read(
    reader: &Reader,
    account: Account,
    present: &Present,
    (from, to): (Date, Date),
    budget: &ReadBudget,
) -> Result<Vec<Line>, Stopped> {
    if from > to {
        return Ok(Vec::new());
    }
    let rows = Rows { reader, account, before: present.day.as_ref().map(|day| day.date) };
    let mut days = rows.between(from, to)?;
    if let Some(day) = present.day.as_ref().filter(|day| (from..=to).contains(&day.date)) {
        days.insert(day.date, day.clone());
    }
    let uncounted = uncounted(reader, account, present, from, budget)?;
    let missing: i128 = uncounted.values().map(Day::total).sum();
    let opening = match &present.day {
        // The movements that are not counted are older than the newest day that is.
        Some(newest) if newest.date < from => i128::from(present.net),
        Some(newest) => match rows.last_before(from)? {
            Some(last) => i128::from(last.net),
            // Nothing before is counted: what was there is what the first counted day began with, less
            // what is not counted since.
            None => match rows.first_from(from)? {
                Some(first) => i128::from(first.net) - first.day.total() - missing,
                None => i128::from(present.net) - newest.total() - missing,
            },
        },
        None => i128::from(present.net) - missing,
    };
    for (date, day) in uncounted.range(..=to) {
        days.entry(*date).or_insert(Day::new(*date)).join(day);
    }
    Ok(lines(from, to, opening, days))
}

struct Rows<'a> {
    reader: &'a Reader,
    account: Account,
    before: Option<Date>,
}

impl Rows<'_> {
    fn key(&self, date: Date) -> Vec<u8> {
        let Account { tenant, ledger, currency } = self.account;
        let mut key = index::days(tenant, ledger, currency);
        key.extend_from_slice(&index::day_bytes(date));
        key
    }

    fn scan(
        &self,
        from: Date,
        before: Date,
        newest_first: bool,
    ) -> impl Iterator<Item = Result<ClosedDay, Stopped>> {
        let before = self.before.map_or(from, |end| end.min(before));
        let (from, to) = (self.key(from), self.key(before));
        let range = (from < to).then(|| self.reader.index_scan(&from, &to, newest_first));
        range.into_iter().flatten().map(|entry| {
            let (_, value) = entry.map_err(Unreadable::from)?;
            let closed = codec::decode(&value)
                .map_err(|error| Unreadable(format!("a day that is over cannot be decoded: {error}")))?;
            Ok(closed)
        })
    }

    fn between(&self, from: Date, to: Date) -> Result<BTreeMap<Date, Day>, Stopped> {
        self.scan(from, to.plus_days(1), false)
            .map(|closed| closed.map(|closed| (closed.day.date, closed.day)))
            .collect()
    }

    fn last_before(&self, date: Date) -> Result<Option<ClosedDay>, Stopped> {
        self.scan(Date::from_days(i32::MIN), date, true).next().transpose()
    }

    fn first_from(&self, date: Date) -> Result<Option<ClosedDay>, Stopped> {
        self.scan(date, Date::from_days(i32::MAX), false).next().transpose()
    }
}

/// From the day `from` on, those that no row and no present day has.
fn uncounted(
    reader: &Reader,
    account: Account,
    present: &Present,
    from: Date,
    budget: &ReadBudget,
) -> Result<BTreeMap<Date, Day>, Stopped> {
    let Account { tenant, ledger, currency } = account;
    let (mut days, zone) = (BTreeMap::new(), zone(currency));
    let last = present.counted_from.unwrap_or(present.now);
    if last == Timestamp::EPOCH || last.date_in(zone) < from {
        return Ok(days);
    }
    // The platform's side has no entries: every record that moves money has one among these.
    let key = match ledger {
        Ledger::Seller(merchant) => LedgerKey::Seller(merchant),
        Ledger::Tenant => LedgerKey::Tenant(currency),
        Ledger::Fees | Ledger::Rail | Ledger::Operator | Ledger::Exchange => LedgerKey::Tenant(Currency::Ves),
    };
    let kinds = MovementKind::ALL.into_iter().map(|kind| kind as u8).chain([OTHER]);
    let parts = kinds.flat_map(|kind| indexing::movement_lists(tenant, key, kind)).collect();
    let (begin, end) = (index::time_bytes(from.start_in(zone)), index::time_bytes(last.plus_ms(1)));
    let moment = reader.index_moment();
    let mut newest = MergeCursor::new(&moment, parts, Some(&end), Some(begin.to_vec()), Some(budget))?;
    while let Some(suffix) = newest.take()? {
        budget.spend()?;
        let read = record(reader, Position::of_record(&suffix)?.seq)?;
        if read.record.closed.is_some() {
            continue;
        }
        let date = read.time.date_in(zone);
        for movement in counted(&read.record.postings) {
            let Counted { column, minor, .. } = movement;
            if (movement.ledger, movement.currency) == (ledger, currency) {
                days.entry(date).or_insert(Day::new(date)).add(column, minor);
            }
        }
    }
    Ok(days)
}
