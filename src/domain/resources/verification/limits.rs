//! Limits of verifications: each start sends money of the platform's, and each try is a guess
//! (`docs/contract.md, 7.5`).

use crate::decision::{Draft, Turn};
use crate::entities::verification::{Attempts, KnownPhone, STARTS_MAX};
use crate::entities::verification::{Deposits, MethodStatus};
use crate::ledger::Ledger;
use crate::ledger::book::Book;
use crate::refusal::{Refusal, VerificationRefusal};
use crate::values::money::{Currency, Ves};
use crate::values::time::{DAY_MS, Timestamp};

/// Starts of a phone at a bank in 24 hours, of all tenants together. In test mode, where nothing is sent,
/// of one account.
pub const PHONE_STARTS_MAX: usize = 5;

impl Attempts {
    /// The refusal of another start, if there were too many: of the method, of its phone, or of the tenant.
    pub fn may_start(&self, phone: &KnownPhone, book: &Book, turn: &Turn<'_>) -> Result<(), Refusal> {
        if self.locked_at.is_some_and(|at| turn.now < at.plus_ms(DAY_MS)) {
            return Err(VerificationRefusal::Locked.into());
        }
        let daily_max = book.tenant_settings.settings.micro_deposits_daily_max;
        let by_tenant = book.deposit_starts.iter().flat_map(|(at, count)| (0..*count).map(|_| *at));
        room(&self.starts, STARTS_MAX, turn.now)?;
        room(&phone.starts, PHONE_STARTS_MAX, turn.now)?;
        room(&by_tenant.collect::<Vec<_>>(), usize::try_from(daily_max).unwrap_or(usize::MAX), turn.now)
    }
}

/// Refuses one more where there were as many in 24 hours as there may be.
fn room(starts: &[Timestamp], max: usize, now: Timestamp) -> Result<(), Refusal> {
    let mut lately: Vec<Timestamp> = starts.iter().copied().filter(|at| now < at.plus_ms(DAY_MS)).collect();
    if lately.len() < max {
        return Ok(());
    }
    lately.sort_unstable();
    // With the end of this one there are fewer than the most.
    let ends = lately.len().checked_sub(max).and_then(|n| lately.get(n)).unwrap_or(&now).plus_ms(DAY_MS);
    let seconds = u32::try_from(ends.since_ms(now) / 1000 + 1).unwrap_or(u32::MAX);
    Err(VerificationRefusal::TooManyStarts { retry_after_seconds: seconds }.into())
}

/// Posts deposits: `sign` −1 where they are sent, and the platform pays them, 1 for those that the bank did not make.
pub fn post(draft: &mut Draft, amounts: [Ves; 2], sign: i64) {
    for amount in amounts {
        draft.post((Currency::Ves, sign * amount.minor()), (Ledger::Fees, None), (Ledger::Rail, None));
    }
}

/// Whether deposits that were under way are under way no more, and were not made.
pub fn came_back(before: &MethodStatus, after: &MethodStatus) -> Option<Deposits> {
    let (deposits, ..) = before.open()?;
    let is_over = after.open().is_none() && after.made() != Some(deposits.operation);
    is_over.then_some(deposits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_unix_ms(1_795_226_000_000 + hours * 3_600_000)
    }

    #[test]
    fn as_many_as_may_be_in_a_day() {
        let too_many =
            |seconds| Err(Refusal::from(VerificationRefusal::TooManyStarts { retry_after_seconds: seconds }));
        for (starts, max, now, expected) in [
            (vec![], 3, 0, Ok(())),
            (vec![0, 1], 3, 2, Ok(())),
            (vec![0, 1, 2], 3, 3, too_many(21 * 3600 + 1)),
            (vec![2, 0, 1], 3, 3, too_many(21 * 3600 + 1)),
            (vec![0, 1, 2], 3, 24, Ok(())),
            (vec![0, 1, 2, 3], 2, 4, too_many(22 * 3600 + 1)),
            (vec![], 0, 4, too_many(24 * 3600 + 1)),
        ] {
            let starts: Vec<Timestamp> = starts.into_iter().map(at).collect();
            assert_eq!(room(&starts, max, at(now)), expected, "{starts:?} {max} {now}");
        }
    }

    #[test]
    fn the_newest_starts_are_kept() {
        let attempts = (0..5).fold(Attempts::default(), |attempts, hour| attempts.started(at(hour)));
        assert_eq!(attempts.starts, [at(2), at(3), at(4)]);
        assert_eq!(attempts.unsent().starts, [at(2), at(3)]);
        let locked = Attempts { locked_at: Some(at(5)), ..attempts };
        assert_eq!(locked.started(at(30)).locked_at, None);
    }
}
