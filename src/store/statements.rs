//! The lines of a statement (`docs/contract.md, 20.5`): a row of the index for each day that is
//! over, and the present day of the book.

use crate::store::read_budget::{Stopped, Unreadable};
use domain::codec;
use domain::index;
use domain::ledger::Ledger;
use domain::ledger::days::{ClosedDay, Line, Present, lines};
use domain::values::money::Currency;
use domain::values::time::Date;
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
) -> Result<Vec<Line>, Stopped> {
    let net = i128::from(present.net);
    let (mut days, mut opening) = (BTreeMap::new(), net);
    if let Some(newest) = &present.day {
        for closed in over(reader, account, from, newest.date.min(to.plus_days(1)), false) {
            let day = closed?.day;
            days.insert(day.date, day);
        }
        if newest.date >= from {
            let before = over(reader, account, Date::from_days(i32::MIN), from, true).next();
            opening = before.transpose()?.map_or(0, |last| i128::from(last.net));
            days.insert(newest.date, newest.clone());
        }
    }
    Ok(lines(from, to, opening, days))
}

/// The days of an account that are over, from `from` on and before `to`.
fn over(
    reader: &Reader,
    Account { tenant, ledger, currency }: Account,
    from: Date,
    to: Date,
    newest_first: bool,
) -> impl Iterator<Item = Result<ClosedDay, Stopped>> {
    let days = index::days(tenant, ledger, currency);
    let [from, to] = [from, to].map(|date| [days.as_slice(), &index::day_bytes(date)].concat());
    let range = (from < to).then(|| reader.index_scan(&from, &to, newest_first));
    range.into_iter().flatten().map(|entry| {
        let (_, value) = entry.map_err(Unreadable::from)?;
        let closed = codec::decode(&value);
        closed.map_err(|error| Unreadable(format!("a day that is over cannot be decoded: {error}")).into())
    })
}
